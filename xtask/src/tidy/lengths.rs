//! What is too long to be one idea, and what stands twice.

use super::{Findings, Tree};
use std::collections::HashMap;

/// Lines of a file, at most, but for the table of operations, which grows with every one.
const MOST_LINES: usize = 700;
const TABLE: &str = "crates/bigint-core/src/operation.rs";

/// Lines of a function, at most.
const MOST_LINES_OF_FUNCTION: usize = 100;

/// Lines that may be the same in two places.
const MOST_LINES_TWICE: usize = 20;

/// A file holds one idea, and a function fits on a screen.
pub(super) fn lengths(tree: &Tree) -> Findings {
    let mut findings = Findings::new();
    for (name, text) in tree.rust() {
        let lines = text.lines().count();
        if lines > MOST_LINES && name != TABLE {
            findings.push(format!("{name} has {lines} lines: does it hold two ideas?"));
        }
        for (function, at, lines) in functions(text) {
            if lines > MOST_LINES_OF_FUNCTION {
                findings.push(format!(
                    "{name}:{at}: `{function}` has {lines} lines, {MOST_LINES_OF_FUNCTION} are the most"
                ));
            }
        }
    }
    findings
}

/// The functions of a formatted text: name, first line, and number of lines.
fn functions(text: &str) -> Vec<(String, usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let Some(name) = name_of_function(code) else {
            continue;
        };
        // Its last line is as far to the right as its first: a brace, or the end of a declaration.
        let indent = &line[..line.len() - code.len()];
        let is_last = |line: &&str| {
            let rest = line.strip_prefix(indent).unwrap_or_default();
            rest.starts_with('}') || (rest.starts_with(')') && rest.ends_with(';'))
        };
        let is_one_line = code.ends_with([';', '}']);
        let mut more = lines[at + 1..].iter();
        let more = if is_one_line {
            None
        } else {
            more.position(is_last)
        };
        found.push((name.to_owned(), at + 1, more.map_or(1, |more| more + 2)));
    }
    found
}

/// The name of the function that begins with this line, if one does.
fn name_of_function(code: &str) -> Option<&str> {
    let (before, after) = code.split_once("fn ")?;
    let is_qualifier = |word: &str| {
        let words = ["pub", "const", "unsafe", "async", "extern"];
        words.iter().any(|start| word.starts_with(start)) || word.starts_with('"')
    };
    let end = after.find(['(', '<'])?;
    before
        .split_whitespace()
        .all(is_qualifier)
        .then(|| &after[..end])
}

/// What two places need is written once.
pub(super) fn twice(tree: &Tree) -> Findings {
    let mut first: HashMap<Vec<&str>, (&str, usize)> = HashMap::new();
    let mut findings = Findings::new();
    for (name, text) in tree.rust() {
        let code = text
            .lines()
            .enumerate()
            .map(|(at, line)| (at + 1, line.trim()));
        // Neither comments nor what opens or closes something says much.
        let code = code.filter(|(_, line)| line.len() > 2 && !line.starts_with("//"));
        let code: Vec<(usize, &str)> = code.collect();
        let mut reported = 0;
        for window in code.windows(MOST_LINES_TWICE + 1) {
            let at = window[0].0;
            let lines = window.iter().map(|(_, line)| *line).collect();
            let before = *first.entry(lines).or_insert((name, at));
            if before != (name, at) && at > reported {
                let (file, line) = before;
                findings.push(format!("{name}:{at} repeats {file}:{line}"));
                reported = window[MOST_LINES_TWICE].0;
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::tree;

    #[test]
    fn long_files_and_functions_are_found() {
        let long = tree(&[("a.rs", &"//\n".repeat(701))]);
        assert_eq!(lengths(&long).len(), 1);
        let body = "    x();\n".repeat(99);
        let most = format!(
            "fn f() {{}}\npub(crate) const fn g() {{\n{}}}\n",
            &body[9..]
        );
        assert!(lengths(&tree(&[("a.rs", &most)])).is_empty());
        let long = format!("impl A {{\n    unsafe fn g<T>() {{\n{body}    }}\n}}\n");
        assert_eq!(
            lengths(&tree(&[("a.rs", &long)])),
            ["a.rs:2: `g` has 101 lines, 100 are the most"]
        );
    }

    #[test]
    fn lines_that_stand_twice_are_found() {
        let lines =
            |count: usize| -> String { (0..count).map(|i| format!("line({i});\n")).collect() };
        let (most, more) = (lines(20), lines(30));
        assert!(twice(&tree(&[("a.rs", &most), ("b.rs", &more)])).is_empty());
        let found = twice(&tree(&[("a.rs", &more), ("b.rs", &more)]));
        assert_eq!(found, ["b.rs:1 repeats a.rs:1"]);
    }
}
