//! Files of a crate that know one another in a circle, by the paths in their text.

use crate::paths::{code, paths};
use std::collections::{BTreeMap, BTreeSet};

/// For each file the files that it names.
type Arrows<'t> = BTreeMap<&'t str, BTreeSet<&'t str>>;

/// The circles among the files of a crate's `src` folder, given by their paths in it and
/// their texts; one for each group of files that know one another. Every branch of a `use`
/// counts; declarations such as `mod x;`, comments and unit tests do not.
pub fn find(files: &[(&str, &str)]) -> Vec<String> {
    let mut arrows = arrows(files);
    let mut circles = Vec::new();
    loop {
        peel(&mut arrows);
        let Some(mut file) = arrows.keys().next().copied() else {
            return circles;
        };
        // Whoever is left knows somebody who is left, so the walk comes back to itself.
        let mut walk = Vec::new();
        while !walk.contains(&file) {
            walk.push(file);
            file = arrows[file].iter().next().copied().unwrap_or(file);
        }
        let start = walk.iter().position(|known| *known == file).unwrap_or(0);
        circles.push(format!("{} -> {file}", walk[start..].join(" -> ")));
        arrows.retain(|file, _| !walk[start..].contains(file));
    }
}

/// Drops the files that are in no circle, nor between two: those that know none of the others,
/// or that none of the others knows, until there are no more.
fn peel(arrows: &mut Arrows<'_>) {
    loop {
        let left: BTreeSet<&str> = arrows.keys().copied().collect();
        arrows
            .values_mut()
            .for_each(|named| *named = &*named & &left);
        let known: BTreeSet<&str> = arrows.values().flatten().copied().collect();
        arrows.retain(|file, named| !named.is_empty() && known.contains(file));
        if arrows.len() == left.len() {
            return;
        }
    }
}

/// The folder of the crate's root that a file belongs to, and its module's path there.
type Module = (String, Vec<String>);

fn arrows<'t>(files: &[(&'t str, &'t str)]) -> Arrows<'t> {
    let roots: Vec<&str> = files
        .iter()
        .filter_map(|(path, _)| {
            let name = path.rsplit('/').next()?;
            matches!(name, "lib.rs" | "main.rs").then(|| &path[..path.len() - name.len()])
        })
        .collect();
    let modules: BTreeMap<Module, &str> = files
        .iter()
        .map(|(path, _)| (module(path, &roots), *path))
        .collect();
    let mut arrows = Arrows::new();
    for (path, text) in files {
        let (root, own) = module(path, &roots);
        if own.iter().any(|segment| segment == "tests") {
            continue;
        }
        let is_start = |word: &str| {
            let child = own.iter().cloned().chain([word.to_owned()]).collect();
            matches!(word, "crate" | "self" | "super")
                || modules.contains_key(&(root.clone(), child))
        };
        let named = paths(&code(text), is_start)
            .into_iter()
            .filter_map(|(_, path)| {
                let mut at = if path[0] == "crate" {
                    vec![]
                } else {
                    own.clone()
                };
                for segment in path {
                    match segment.as_str() {
                        "crate" | "self" => {}
                        "super" => drop(at.pop()),
                        _ => {
                            at.push(segment);
                            if !modules.contains_key(&(root.clone(), at.clone())) {
                                // An item of the module before it.
                                at.pop();
                                break;
                            }
                        }
                    }
                }
                modules.get(&(root.clone(), at)).copied()
            });
        arrows.insert(path, named.filter(|named| named != path).collect());
    }
    arrows
}

fn module(path: &str, roots: &[&str]) -> Module {
    let within = roots.iter().filter(|root| path.starts_with(**root));
    let root = within.max_by_key(|root| root.len()).copied().unwrap_or("");
    let path = path[root.len()..].trim_end_matches(".rs");
    let mut segments: Vec<String> = path.split('/').map(str::to_owned).collect();
    segments.pop_if(|last| matches!(last.as_str(), "lib" | "main" | "mod"));
    (root.to_owned(), segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_through_a_tree_of_paths_is_found() {
        let circle = [
            ("lib.rs", "mod a;\nmod b;\nmod c;\npub use a::A;"),
            ("a/mod.rs", "mod inner;\nuse crate::{b::{B as C, D}, c};"),
            ("a/inner.rs", "use crate::c;"),
            ("b.rs", "fn f() { crate::c::g(1) }"),
            ("c.rs", "fn g(a: super::a::inner::I) {}"),
        ];
        assert_eq!(find(&circle), ["a/inner.rs -> c.rs -> a/inner.rs"]);
    }

    #[test]
    fn a_folder_and_its_files_are_a_circle_where_both_name_the_other() {
        let both = [
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod inner;\nfn f() { inner::g() }"),
            ("a/inner.rs", "use super::T;"),
        ];
        assert_eq!(find(&both), ["a/inner.rs -> a/mod.rs -> a/inner.rs"]);
    }

    #[test]
    fn declarations_comments_tests_and_other_crates_are_no_arrows() {
        let none = [
            ("lib.rs", "pub mod a;\nmod b;\npub use a::A;"),
            (
                "a.rs",
                "//! See [`crate::b`].\nuse std::b::C;\n#[cfg(test)]\nmod tests { use super::b; }",
            ),
            ("b.rs", "use crate::a::A;\nfn f() { other::crate_::b() }"),
            ("cli/main.rs", "mod b;\nuse b::X;"),
            ("cli/b.rs", "use crate_name::main;"),
            ("tests/mod.rs", "use crate::a;"),
        ];
        assert_eq!(find(&none), Vec::<String>::new());
    }
}
