//! One operation, one name, everywhere; and few files for each.

use super::{Findings, Tree};
use bigint_core::Operation;
use bigint_core::operation::Row;

/// Files that may name an operation beside its declaration, its leaves, its oracle and tests: the two
/// lists of the CPU's leaves, `reference/mod.rs` and `fast/cpu.rs`, and one more. With at most four
/// leaves an operation then is nine files.
const MOST_NAMES: usize = 3;

/// Operations by which others are computed, with how many files may name them. A file that tells
/// operations apart by name belongs into the declarations; one that computes something by them counts
/// here. The numbers may go down, not up.
const PARTS_OF_OTHERS: [(Operation, usize); 20] = [
    (Operation::Add, 20),
    (Operation::Sub, 13),
    (Operation::Mul, 20),
    (Operation::Square, 14),
    (Operation::MulHigh, 4),
    (Operation::MulAdd, 9),
    (Operation::DivRem, 4),
    (Operation::Div, 7),
    (Operation::Rem, 8),
    (Operation::And, 7),
    (Operation::Or, 7),
    (Operation::Shl, 8),
    (Operation::Shr, 6),
    (Operation::Select, 6),
    (Operation::Min, 4),
    (Operation::AddSigned, 4),
    (Operation::AddSegments, 4),
    (Operation::ModSub, 6),
    (Operation::PowMod, 4),
    (Operation::PowFixed, 4),
];

/// What a declaration asks for and the compiler does not miss, and how many files name an operation.
pub(super) fn operations(tree: &Tree) -> Findings {
    let mut findings = Findings::new();
    for operation in Operation::ALL {
        findings.extend(missing(tree, operation));
        let files = naming(tree, operation);
        let part = PARTS_OF_OTHERS.iter().find(|(part, _)| *part == operation);
        let most = part.map_or(MOST_NAMES, |(_, most)| *most);
        if files.len() > most {
            findings.push(format!(
                "{} files name Operation::{operation:?}, {most} may: what tells operations apart \
                 belongs into their declarations ({})",
                files.len(),
                files.join(", ")
            ));
        }
    }
    findings
}

/// Files and words that an operation lacks.
fn missing(tree: &Tree, operation: Operation) -> Findings {
    let mut findings = Findings::new();
    let declared = operation.declaration();
    let name = declared.name;
    let mut folders = vec!["crates/bigint-cpu/src/reference".to_owned()];
    let is_own = |row: &&Row| row.text.is_none();
    for row in declared.rows.iter().filter(is_own) {
        let folder = format!("crates/bigint-kernels/src/{}", row.level.name());
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    for folder in folders {
        let file = format!("{folder}/{name}.rs");
        if !tree.has(&file) && !tree.has(&format!("{folder}/{name}/mod.rs")) {
            findings.push(format!("{file} is missing: see CONTRIBUTING.md"));
        }
    }
    let variant = format!("Operation::{operation:?} ");
    let said_in = [
        ("crates/bigint-testing/src/oracle.rs", variant),
        ("CHANGELOG.md", format!("`{name}`")),
    ];
    for (file, word) in said_in {
        if !tree.text(file).contains(&word) {
            findings.push(format!("{file} has no {word}: see CONTRIBUTING.md"));
        }
    }
    findings
}

/// The source files that name an operation, but its declaration, its leaves, its oracle, and what
/// tests and measures.
fn naming(tree: &Tree, operation: Operation) -> Vec<&str> {
    let name = operation.name();
    let leaf = [format!("/{name}.rs"), format!("/{name}/")];
    let is_leaf = |file: &str| {
        let has_leaves = ["crates/bigint-cpu/", "crates/bigint-kernels/"];
        has_leaves.iter().any(|folder| file.starts_with(folder))
            && leaf.iter().any(|leaf| file.contains(leaf))
    };
    let apart = [
        "crates/bigint-core/src/operation.rs",
        "crates/bigint-testing/",
        "crates/bigint-cli/src/bench",
    ];
    let is_apart = |file: &str| {
        let is_below = apart.iter().any(|folder| file.starts_with(folder));
        is_below || is_leaf(file) || file.contains("/tests")
    };
    let files = tree.sources().filter(|(file, _)| !is_apart(file));
    let files = files.filter(|(_, text)| names(text, &format!("{operation:?}")));
    files.map(|(file, _)| file).collect()
}

/// Whether code, not comments or unit tests, names a variant: as `Operation::Add`, or in a list
/// `Operation::{Add, Sub}`.
fn names(text: &str, variant: &str) -> bool {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let code: Vec<&str> = lines.collect();
    let code = code.join("\n");
    let mut after = code.split("Operation::").skip(1);
    after.any(|after| {
        let list = after
            .strip_prefix('{')
            .and_then(|list| list.split_once('}'));
        let end = |text: &str| {
            text.find(|c: char| !c.is_alphanumeric())
                .unwrap_or(text.len())
        };
        match list {
            Some((list, _)) => list.split(',').any(|one| one.trim() == variant),
            None => &after[..end(after)] == variant,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::tree;

    #[test]
    fn code_names_an_operation_by_itself_or_in_a_list() {
        assert!(names("match x { Operation::Xor => 1, _ => 2 }", "Xor"));
        assert!(names("use Operation::{And,\n    Xor};", "Xor"));
        for text in [
            "Operation::Xorshift",
            "// Operation::Xor",
            "    /// [`Operation::Xor`]",
            "use Operation::{And, Or};\nlet x = Xor;",
            "fn f() {}\n#[cfg(test)]\nmod tests {\n    const X: Operation = Operation::Xor;\n}",
        ] {
            assert!(!names(text, "Xor"), "{text}");
        }
    }

    #[test]
    fn an_operation_that_a_fourth_list_names_is_found() {
        let list = "match operation { Operation::Xor => 1, _ => 2 }";
        let lists = [
            ("crates/bigint-cpu/src/reference/mod.rs", list),
            ("crates/bigint-cpu/src/fast/cpu.rs", list),
            ("crates/bigint-host/src/plan/work.rs", list),
            ("crates/bigint-host/src/plan/choose.rs", list),
        ];
        let apart = [
            ("crates/bigint-core/src/operation.rs", list),
            ("crates/bigint-testing/src/oracle.rs", list),
            ("crates/bigint-kernels/src/warp/xor.rs", list),
            ("crates/bigint-host/tests/some.rs", list),
        ];
        let files = |count: usize| [&lists[..count], &apart].concat();
        let is_named = |tree: &Tree| {
            let findings = operations(tree);
            findings
                .iter()
                .any(|finding| finding.contains("Operation::Xor, 3 may"))
        };
        assert!(!is_named(&tree(&files(3))));
        assert!(is_named(&tree(&files(4))));
    }
}
