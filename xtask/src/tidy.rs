//! `cargo xtask tidy`: what people forget.
//!
//! Each check is a function from the tree to findings; a finding names a place and
//! says what to do. The checks are the starred invariants of ARCHITECTURE.md and the
//! checklist of CONTRIBUTING.md, as far as they can be seen in the text of the tree.

mod lengths;
mod locks;
mod operations;
mod promises;

use crate::manifest::Manifest;
use crate::{rooms, workspace};
use anyhow::{Context, Result, bail, ensure};
use bigint_core::Operation;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The tree, as tidy sees it: every file that git would take, with its text.
struct Tree {
    root: PathBuf,
    files: Vec<(String, String)>,
}

type Findings = Vec<String>;
type Check = fn(&Tree) -> Findings;

/// Runs every check; the error has all findings.
pub fn run() -> Result<()> {
    let tree = Tree::read(&workspace::root())?;
    let checks: [(&str, Check); 15] = [
        ("operations", operations::operations),
        ("headers", headers),
        ("dependencies", dependencies),
        ("locks", locks::locks),
        ("rooms", rooms),
        ("circles", circles),
        ("unsafe code", unsafe_code),
        ("leftovers", leftovers),
        ("lengths", lengths::lengths),
        ("lines that stand twice", lengths::twice),
        ("documents", documents),
        ("pages", pages),
        ("promises", promises::promises),
        ("records", records),
        ("PTX and records", ptx),
    ];
    let mut message = String::new();
    for (name, check) in checks {
        let findings = check(&tree);
        eprintln!(
            "{name}: {}",
            if findings.is_empty() {
                "good"
            } else {
                "not good"
            }
        );
        for finding in findings {
            let _ = writeln!(message, "{name}: {finding}");
        }
    }
    for record in older_records(&tree, &Manifest::read()?.modules) {
        eprintln!("note: {record} measured kernels that have changed since");
    }
    if !message.is_empty() {
        bail!("{}", message.trim_end());
    }
    Ok(())
}

impl Tree {
    fn read(root: &Path) -> Result<Self> {
        let listed = Command::new("git")
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .current_dir(root)
            .output()
            .context("tidy asks git which files there are")?;
        ensure!(
            listed.status.success(),
            "git: {}",
            String::from_utf8_lossy(&listed.stderr)
        );
        let names = String::from_utf8(listed.stdout)?;
        let mut files = Vec::new();
        for name in names.split_terminator('\0') {
            // What is deleted but not yet committed is still listed.
            if root.join(name).is_file() {
                let bytes =
                    std::fs::read(root.join(name)).with_context(|| format!("reading {name}"))?;
                // Binary files say nothing to these checks.
                files.push((
                    name.to_owned(),
                    String::from_utf8(bytes).unwrap_or_default(),
                ));
            }
        }
        files.sort();
        Ok(Tree {
            root: root.to_owned(),
            files,
        })
    }

    fn text(&self, name: &str) -> &str {
        let found = self.files.iter().find(|(file, _)| file == name);
        found.map_or("", |(_, text)| text)
    }

    fn has(&self, name: &str) -> bool {
        self.files.iter().any(|(file, _)| file == name)
    }

    fn has_below(&self, folder: &str) -> bool {
        self.files.iter().any(|(file, _)| file.starts_with(folder))
    }

    fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.files.iter().filter(|(name, _)| name.ends_with(".rs"));
        files.map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// Rust files of the shipped crates, without their tests.
    fn sources(&self) -> impl Iterator<Item = (&str, &str)> {
        self.rust()
            .filter(|(name, _)| name.starts_with("crates/") && name.contains("/src/"))
    }
}

/// Every source file opens by saying what it is.
fn headers(tree: &Tree) -> Findings {
    let silent = tree.sources().filter(|(_, text)| {
        let first = text.lines().find(|line| !line.is_empty());
        !first.is_some_and(|line| line.starts_with("//!") || line.starts_with("#!["))
    });
    silent
        .map(|(name, _)| format!("{name} does not open with `//!`"))
        .collect()
}

/// Who may know whom.
fn dependencies(tree: &Tree) -> Findings {
    // A crate that is not in this table may depend on any but the CLI.
    const MAY_KNOW: [(&str, &[&str]); 11] = [
        ("bigint-core", &[]),
        ("bigint-kernels", &["bigint-core"]),
        ("bigint-cpu", &["bigint-core"]),
        ("bigint-host", &["bigint-core", "bigint-cpu", "cuda-loader"]),
        ("bigint-c", &["bigint-host"]),
        ("cuda-loader", &[]),
        ("cuda-sim", &[]),
        ("cuda-sim-driver", &["cuda-sim"]),
        ("bigint-curves", &["bigint-cpu", "bigint-host"]),
        ("ecm", &["bigint-cpu", "bigint-host"]),
        ("mersenne", &["bigint-cpu", "bigint-host"]),
    ];
    const OURS: [&str; 13] = [
        "bigint-core",
        "bigint-kernels",
        "bigint-cpu",
        "bigint-host",
        "bigint-testing",
        "bigint-cli",
        "bigint-c",
        "cuda-loader",
        "cuda-sim",
        "cuda-sim-driver",
        "bigint-curves",
        "ecm",
        "mersenne",
    ];
    let mut findings = Findings::new();
    for krate in OURS {
        let file = format!("crates/{krate}/Cargo.toml");
        let Ok(manifest) = tree.text(&file).parse::<toml::Table>() else {
            findings.push(format!("{file} is missing or not TOML"));
            continue;
        };
        let table = manifest.get("dependencies").and_then(toml::Value::as_table);
        let names: Vec<&str> = table.map_or(vec![], |t| t.keys().map(String::as_str).collect());
        let row = MAY_KNOW.iter().find(|(name, _)| *name == krate);
        for name in names.iter().filter(|name| OURS.contains(name)) {
            if *name == "bigint-cli" || row.is_some_and(|(_, known)| !known.contains(name)) {
                findings.push(format!("{file}: {krate} must not know {name}"));
            }
        }
        if krate == "bigint-core" && !names.is_empty() {
            findings.push(format!(
                "{file}: the core has no dependencies, found {names:?}"
            ));
        }
        if manifest.get("lints").is_none() {
            findings.push(format!("{file} does not take the workspace's lints"));
        }
    }
    findings
}

/// Crates whose files know one another in no circle.
fn circles(tree: &Tree) -> Findings {
    const WITHOUT: [&str; 2] = ["cuda-sim", "cuda-sim-driver"];
    let mut findings = Findings::new();
    for krate in WITHOUT {
        let folder = format!("crates/{krate}/src/");
        let files: Vec<_> = tree
            .rust()
            .filter_map(|(name, text)| Some((name.strip_prefix(&folder)?, text)))
            .collect();
        let circles = crate::circles::find(&files);
        findings.extend(circles.iter().map(|circle| format!("{folder}: {circle}")));
    }
    findings
}

/// Folders of the host's sources use those below them alone.
fn rooms(tree: &Tree) -> Findings {
    const SOURCES: &str = "crates/bigint-host/src/";
    let files = tree.rust();
    let files = files.filter_map(|(name, text)| Some((name.strip_prefix(SOURCES)?, text)));
    rooms::arrows_up(tree.text(&format!("{SOURCES}lib.rs")), files)
}

/// Where unsafe code and its kinds may stand.
fn unsafe_code(tree: &Tree) -> Findings {
    const ALLOWED: [(&str, &[&str]); 4] = [
        (
            "asm!(",
            &[
                "crates/bigint-kernels/src/gpu/",
                "crates/bigint-cpu/src/fast/",
                "crates/bigint-cpu/src/mask.rs",
                "crates/cuda-loader/src/",
            ],
        ),
        ("link_name = \"llvm.", &["crates/bigint-kernels/src/gpu/"]),
        ("use cust", &["crates/bigint-host/src/cuda/"]),
        (
            "allow(unsafe_code)",
            &[
                "crates/bigint-kernels/src/",
                "crates/bigint-host/src/cuda/",
                "crates/bigint-cpu/src/fast/",
                "crates/bigint-cpu/src/program.rs",
                "crates/bigint-cpu/src/mask.rs",
                "crates/bigint-c/src/lib.rs",
                "crates/bigint-testing/src/failing.rs",
                "crates/cuda-loader/",
                "crates/cuda-sim/src/lanes/fused.rs",
                "crates/cuda-sim-driver/",
            ],
        ),
    ];
    let mut findings = Findings::new();
    for (name, text) in tree.sources() {
        for (word, places) in ALLOWED {
            let here = text
                .lines()
                .position(|line| line.contains(word) && !line.trim_start().starts_with("//"));
            if let Some(line) = here
                && !places.iter().any(|place| name.starts_with(place))
            {
                findings.push(format!(
                    "{name}:{}: `{word}` does not belong here",
                    line + 1
                ));
            }
        }
    }
    findings
}

/// Nothing half done.
fn leftovers(tree: &Tree) -> Findings {
    // Put together so that this file does not find itself.
    let words = ["to", "unimplemen", "db"].map(|word| match word {
        "to" => format!("{word}do!("),
        "db" => format!("{word}g!("),
        word => format!("{word}ted!("),
    });
    let marks = ["TO", "FIX"].map(|mark| match mark {
        "TO" => format!("{mark}DO"),
        mark => format!("{mark}ME"),
    });
    let ignored = format!("#[{}", "ignore");
    let mut findings = Findings::new();
    for (name, text) in tree.rust() {
        for (number, line) in text.lines().enumerate() {
            let all = words.iter().chain(&marks).chain(std::iter::once(&ignored));
            for word in all.filter(|word| line.contains(word.as_str())) {
                findings.push(format!("{name}:{}: {word}", number + 1));
            }
        }
    }
    findings
}

/// The documents speak of what is there.
fn documents(tree: &Tree) -> Findings {
    let mut findings = Findings::new();
    let architecture = tree.text("ARCHITECTURE.md");
    for (name, _) in &tree.files {
        let Some(krate) = name
            .strip_prefix("crates/")
            .and_then(|rest| rest.strip_suffix("/Cargo.toml"))
        else {
            continue;
        };
        if !architecture.contains(&format!("`{krate}`")) {
            findings.push(format!("ARCHITECTURE.md does not mention `{krate}`"));
        }
    }
    let documents = tree.files.iter().filter(|(name, _)| name.ends_with(".md"));
    for (name, text) in documents {
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        for link in links(text) {
            if !tree.root.join(folder).join(link).exists() {
                findings.push(format!("{name}: the link to {link} leads nowhere"));
            }
        }
        for (page, heading) in fragments(text) {
            let headings = match page {
                "" => anchors(text),
                page => match std::fs::read_to_string(tree.root.join(folder).join(page)) {
                    Ok(text) => anchors(&text),
                    Err(_) => continue,
                },
            };
            if !headings.iter().any(|anchor| anchor == heading) {
                findings.push(format!("{name}: {page} has no heading #{heading}"));
            }
        }
    }
    findings
}

/// Links to headings of pages in the tree: the page, nothing for the same one, and the heading.
fn fragments(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let targets = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    targets
        .filter_map(|target| target.split_once('#'))
        .filter(|(page, _)| !page.contains(':') && (page.is_empty() || page.ends_with(".md")))
}

/// How links name a page's headings: small letters, digits and hyphens in the place of spaces.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = heading
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

/// Pages that a stranger has the time to read. Decisions are a log: each is short, and there is no end to them.
fn pages(tree: &Tree) -> Findings {
    /// Words of one page, and of all but decisions, as `wc -w` counts.
    const MOST_OF_ONE: usize = 3000;
    const MOST_OF_ALL: usize = 16_000;
    let pages = tree.files.iter();
    let pages = pages.filter(|(name, _)| name.starts_with("docs/") && name.ends_with(".md"));
    let words = |text: &str| text.split_whitespace().count();
    let mut findings = Findings::new();
    let mut all = 0;
    for (name, text) in pages {
        if !name.starts_with("docs/decisions/") {
            all += words(text);
        }
        if words(text) > MOST_OF_ONE {
            findings.push(format!(
                "{name} has {} words, {MOST_OF_ONE} are the most: what can a reader do without?",
                words(text)
            ));
        }
    }
    if all > MOST_OF_ALL {
        findings.push(format!(
            "the pages in docs/ have {all} words, {MOST_OF_ALL} are the most"
        ));
    }
    findings
}

/// Every record is in the index.
fn records(tree: &Tree) -> Findings {
    const INDEX: &str = "benches/record/README.md";
    let listed: Vec<&str> = links(tree.text(INDEX)).collect();
    let records = tree.files.iter();
    let records = records.filter_map(|(name, _)| name.strip_prefix("benches/record/"));
    records
        .filter(|name| *name != "README.md" && !listed.contains(name))
        .map(|name| format!("{INDEX} does not list {name}"))
        .collect()
}

/// Relative targets of a document's links, without their fragments.
pub fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    targets
        .filter_map(|target| target.split(['#', ' ']).next())
        .filter(|target| !target.is_empty() && !target.contains(':') && !target.contains('\n'))
}

/// The committed PTX is what its sources say, and records say which PTX they measured.
fn ptx(tree: &Tree) -> Findings {
    let mut findings = Findings::new();
    if let Err(error) = crate::build_ptx::check_hashes() {
        findings.push(format!("{error:#}"));
    }
    let readme = tree.text("README.md");
    for record in links(readme).filter(|link| link.starts_with("benches/record/")) {
        // A folder is there when a file in it is.
        let is_there = if record.ends_with('/') {
            tree.has_below(record)
        } else {
            tree.has(record)
        };
        if !is_there {
            findings.push(format!("README.md names {record}, which is not there"));
        }
    }
    findings
}

/// Records of a GPU's whose kernels are not those of today's PTX.
fn older_records<'a>(
    tree: &'a Tree,
    modules: &BTreeMap<String, String>,
) -> impl Iterator<Item = &'a str> {
    #[derive(Deserialize)]
    struct Record {
        ptx: BTreeMap<String, String>,
        rows: Vec<Row>,
    }
    #[derive(Deserialize)]
    struct Row {
        // None of what only a paper measured.
        operation: Option<String>,
    }
    let is_older = |text: &str| {
        // Records of a CPU's name no PTX.
        serde_json::from_str(text).is_ok_and(|record: Record| {
            let mut measured = record
                .rows
                .iter()
                .filter_map(|row| row.operation.as_deref());
            measured.any(|name| {
                let mut operations = Operation::ALL.iter();
                let operation = operations.find(|operation| operation.name() == name);
                let module = operation
                    .and_then(|operation| operation.module())
                    .unwrap_or(name);
                record.ptx.get(module) != modules.get(module)
            })
        })
    };
    let records = tree.files.iter();
    let records = records.filter(|(name, _)| name.starts_with("benches/record/"));
    records
        .filter(move |(_, text)| is_older(text))
        .map(|(name, _)| name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn tree(files: &[(&str, &str)]) -> Tree {
        Tree {
            root: PathBuf::new(),
            files: files
                .iter()
                .map(|(n, t)| (n.to_string(), t.to_string()))
                .collect(),
        }
    }

    #[test]
    fn a_planted_fault_of_each_kind_is_found() {
        let unsafe_there = tree(&[("crates/bigint-cpu/src/lib.rs", "#![allow(unsafe_code)]")]);
        assert_eq!(unsafe_code(&unsafe_there).len(), 1);
        let cust = tree(&[(
            "crates/bigint-host/src/engine/handle.rs",
            "use cust::stream::Stream;",
        )]);
        assert_eq!(unsafe_code(&cust).len(), 1);
        let silent = tree(&[
            ("crates/x/src/a.rs", "fn main() {}"),
            ("crates/x/src/b.rs", "//! B"),
        ]);
        assert_eq!(
            headers(&silent),
            ["crates/x/src/a.rs does not open with `//!`"]
        );
        let half_done = tree(&[("a.rs", concat!("to", "do!()\n", "#[", "ignore]"))]);
        assert_eq!(leftovers(&half_done).len(), 2);
        let unmentioned = tree(&[("crates/x/Cargo.toml", ""), ("ARCHITECTURE.md", "`y`")]);
        assert_eq!(documents(&unmentioned).len(), 1);
    }

    #[test]
    fn long_pages_and_records_that_nobody_lists_are_found() {
        let long = tree(&[
            ("docs/a.md", &"word ".repeat(3001)),
            ("crates/a/README.md", &"word ".repeat(3001)),
        ]);
        assert_eq!(pages(&long).len(), 1);
        let page = "word ".repeat(2900);
        let names: Vec<String> = (0..6).map(|at| format!("docs/{at}.md")).collect();
        let many: Vec<_> = names
            .iter()
            .map(|name| (name.as_str(), page.as_str()))
            .collect();
        let findings = pages(&tree(&many));
        let found = "the pages in docs/ have 17400 words, 16000 are the most";
        assert_eq!(findings, [found]);
        let unlisted = tree(&[
            ("benches/record/README.md", "- [a](gpu/a.json): sums"),
            ("benches/record/gpu/a.json", ""),
            ("benches/record/gpu/b.txt", ""),
        ]);
        let findings = records(&unlisted);
        assert_eq!(
            findings,
            ["benches/record/README.md does not list gpu/b.txt"]
        );
    }

    #[test]
    fn links_to_headings_that_are_not_there_are_found() {
        let text = "# One page\n## What it's for\n[a](#what-its-for) [b](#where) [c](x.rs#L3)";
        let page = tree(&[("a.md", text)]);
        assert_eq!(documents(&page).len(), 2, "{:?}", documents(&page));
        assert_eq!(fragments(text).count(), 2);
    }

    #[test]
    fn a_crate_that_knows_too_much_is_found() {
        let manifest = "[dependencies]\nbigint-cpu.workspace = true\n[lints]\nworkspace = true";
        let knowing = tree(&[("crates/bigint-core/Cargo.toml", manifest)]);
        let findings = dependencies(&knowing);
        assert!(
            findings
                .iter()
                .any(|f| f.contains("must not know bigint-cpu"))
        );
        assert!(findings.iter().any(|f| f.contains("has no dependencies")));
    }

    #[test]
    fn a_record_of_older_kernels_is_found() {
        let record = r#"{"ptx": {"add": "1", "mul": "2"}, "rows": [{"operation": null}, {"operation": "mul"}]}"#;
        let records = tree(&[
            ("benches/record/gpu/a.json", record),
            ("benches/record/cpu/b.json", r#"{"rows": []}"#),
        ]);
        let modules = |add: &str, mul: &str| {
            let modules = [("add", add), ("mul", mul)];
            modules
                .map(|(name, hash)| (name.to_owned(), hash.to_owned()))
                .into()
        };
        assert_eq!(older_records(&records, &modules("3", "2")).count(), 0);
        let older: Vec<_> = older_records(&records, &modules("1", "3")).collect();
        assert_eq!(older, ["benches/record/gpu/a.json"]);
        // Remainders are of the kernels of quotients and remainders.
        let record = r#"{"ptx": {"div_rem": "1"}, "rows": [{"operation": "rem"}]}"#;
        let records = tree(&[("benches/record/gpu/c.json", record)]);
        let modules = BTreeMap::from([("div_rem".to_owned(), "2".to_owned())]);
        assert_eq!(older_records(&records, &modules).count(), 1);
    }

    #[test]
    fn links_are_relative_targets_without_fragments() {
        let text = "[a](b.md#c) [d](https://e) [f](#g) [h](i/j.md)";
        assert_eq!(links(text).collect::<Vec<_>>(), ["b.md", "i/j.md"]);
    }
}
