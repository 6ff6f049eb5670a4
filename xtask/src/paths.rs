//! The paths in Rust's text, such as `crate::a::B`, in `use` and elsewhere.

/// A file's text without its comments and unit tests; every line stays in its place.
pub fn code(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or(text);
    let is_comment = |line: &str| line.trim_start().starts_with("//");
    let lines = code
        .lines()
        .map(|line| if is_comment(line) { "" } else { line });
    lines.collect::<Vec<_>>().join("\n")
}

/// The paths in code whose first segment `is_start`, each branch of a tree by itself, and the
/// lines in which they begin.
pub fn paths(code: &str, is_start: impl Fn(&str) -> bool) -> Vec<(usize, Vec<String>)> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(start) = rest.find(is_word) {
        let (before, text) = rest.split_at(start);
        let (word, after) = text.split_at(text.find(|c| !is_word(c)).unwrap_or(text.len()));
        if !before.ends_with("::") && after.starts_with("::") && is_start(word) {
            let line = code[..code.len() - text.len()].matches('\n').count() + 1;
            let mut here = Vec::new();
            branches(&[], text, &mut here);
            found.extend(here.into_iter().map(|path| (line, path)));
        }
        rest = after;
    }
    found
}

/// Whether a character may stand in a name.
pub fn is_word(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric()
}

/// Reads the path or the tree that a text begins with, and returns the rest.
fn branches<'t>(prefix: &[String], text: &'t str, found: &mut Vec<Vec<String>>) -> &'t str {
    if let Some(mut rest) = text.strip_prefix('{') {
        while !rest.trim_start().starts_with('}') && !rest.is_empty() {
            // Behind a branch stand `as` and another name, perhaps, and a comma.
            let after = branches(prefix, rest.trim_start(), found);
            rest = after.trim_start_matches(|c| !matches!(c, ',' | '}'));
            rest = rest.strip_prefix(',').unwrap_or(rest);
        }
        return rest.trim_start().strip_prefix('}').unwrap_or("");
    }
    let (word, rest) = text.split_at(text.find(|c| !is_word(c)).unwrap_or(text.len()));
    let mut path = prefix.to_vec();
    path.push(word.to_owned());
    match rest.strip_prefix("::") {
        Some(rest) => branches(&path, rest, found),
        None => {
            found.push(path);
            rest
        }
    }
}
