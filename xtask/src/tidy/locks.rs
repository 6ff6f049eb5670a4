//! What both workspaces depend on is of one version, or cargo builds it and all that stands on it twice.

use super::{Findings, Tree};
use serde::Deserialize;
use std::collections::BTreeMap;

const OURS: &str = "Cargo.lock";
const INTEGRATIONS: &str = "integrations/Cargo.lock";

#[derive(Deserialize)]
struct Lock {
    package: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
}

/// Versions of one package that may stand for each other are the same in both lock files.
pub(super) fn locks(tree: &Tree) -> Findings {
    let [ours, theirs] = [OURS, INTEGRATIONS].map(|file| packages(tree.text(file)));
    let shared = theirs
        .iter()
        .filter_map(|(package, version)| Some((package, ours.get(package)?, version)));
    let unlike = shared.filter(|(_, version, theirs)| version != theirs);
    unlike
        .map(|((name, _), version, theirs)| {
            format!("{OURS} has {name} {version}, and {INTEGRATIONS} {theirs}: `cargo update {name} --precise`")
        })
        .collect()
}

/// The version of each package, by its name and by what no other version may change.
fn packages(lock: &str) -> BTreeMap<(String, String), String> {
    let lock = toml::from_str(lock).unwrap_or(Lock { package: vec![] });
    let packages = lock.package.into_iter();
    packages
        .map(|Package { name, version }| ((name, kept(&version)), version))
        .collect()
}

/// The first part of a version that is not zero, and what stands before it.
fn kept(version: &str) -> String {
    let end = version.find(|c| c != '0' && c != '.').unwrap_or(0);
    let rest = version[end..].split('.').next().unwrap_or_default();
    format!("{}{rest}", &version[..end])
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::*;

    #[test]
    fn versions_that_may_stand_for_each_other_and_differ_are_found() {
        let lock = |packages: &[[&str; 2]]| {
            let package = |[name, version]: &[&str; 2]| {
                format!("[[package]]\nname = {name:?}\nversion = {version:?}\n")
            };
            packages.iter().map(package).collect::<String>()
        };
        let ours = [
            ["a", "1.2.3"],
            ["a", "0.4.1"],
            ["b", "0.5.1"],
            ["c", "2.0.0"],
        ];
        let theirs = [
            ["a", "1.3.0"],
            ["a", "0.5.0"],
            ["b", "0.5.1"],
            ["d", "2.1.0"],
        ];
        let [ours, theirs] = [lock(&ours), lock(&theirs)];
        let expected = [
            "Cargo.lock has a 1.2.3, and integrations/Cargo.lock 1.3.0: `cargo update a --precise`",
        ];
        let tree = tree(&[(OURS, &ours), (INTEGRATIONS, &theirs)]);
        assert_eq!(locks(&tree), expected);
    }
}
