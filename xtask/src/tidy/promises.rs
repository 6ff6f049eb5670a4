//! The tests that docs/reliability.md names are there.

use super::{Findings, Tree};

const PAGE: &str = "docs/reliability.md";

/// Every file that the page names is in the tree, and every function in one of those files.
pub(super) fn promises(tree: &Tree) -> Findings {
    let page = tree.text(PAGE);
    // What stands between two backquotes.
    let spans = page.split('`').skip(1).step_by(2);
    let tests = spans.filter_map(|span| match span.split_once(": ") {
        Some((file, function)) => Some((file, Some(function))),
        None => span.ends_with(".rs").then_some((span, None)),
    });
    let missing = tests.filter(|&(file, function)| !has(tree, file, function));
    missing
        .map(|(file, function)| match function {
            Some(function) => format!("{PAGE} names `{function}`, which is not in {file}"),
            None => format!("{PAGE} names {file}, which is not there"),
        })
        .collect()
}

/// Whether a file whose path ends so is there, and has the function. A function's name may be
/// given up to an ellipsis.
fn has(tree: &Tree, file: &str, function: Option<&str>) -> bool {
    let end = format!("/{file}");
    let mut texts = tree.rust().filter(|(name, _)| name.ends_with(&end));
    match function {
        None => texts.next().is_some(),
        Some(function) => {
            let call = match function.strip_suffix('…') {
                Some(beginning) => format!("fn {beginning}"),
                None => format!("fn {function}("),
            };
            texts.any(|(_, text)| text.contains(&call))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::*;

    #[test]
    fn a_test_that_is_not_there_is_found() {
        let page = "`cli/a.rs: sums_are_right` `a.rs: sums_…` `a.rs` `b.rs` `a.rs: sums` `x: 1`";
        let files = [
            ("docs/reliability.md", page),
            ("tests/cli/a.rs", "fn sums_are_right() {}"),
        ];
        let expected = [
            "docs/reliability.md names b.rs, which is not there",
            "docs/reliability.md names `sums`, which is not in a.rs",
            "docs/reliability.md names `1`, which is not in x",
        ];
        assert_eq!(promises(&tree(&files)), expected);
    }
}
