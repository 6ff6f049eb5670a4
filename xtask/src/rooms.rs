//! The rooms of a crate: folders of which each may use those declared below it in `lib.rs`, and
//! none above.
//!
//! The order is that of the `mod` lines. A path `crate::room::…` leads to its room, and
//! `crate::Name` to the room from which `lib.rs` exports the name. Tests may use any room, and a
//! `pub use` gives a public name to what another room has.

use crate::paths::{code, is_word, paths};
use std::collections::BTreeMap;

/// The arrows that lead up, as `file:line: …`. `lib` is the text of `lib.rs`; `files` are the
/// paths below `src/` with their texts.
pub fn arrows_up<'a>(lib: &str, files: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let modules = lib.lines().filter_map(|line| {
        let name = line.trim_start_matches("pub ").strip_prefix("mod ")?;
        name.strip_suffix(';')
    });
    let rooms: Vec<&str> = modules.collect();
    let place = |room: &str| rooms.iter().position(|&known| known == room);
    let exports = exports(lib);
    let mut found = Vec::new();
    for (file, text) in files {
        let Some(here) = file.split('/').next().and_then(place) else {
            continue;
        };
        let code = code(text);
        let lines: Vec<&str> = code.lines().collect();
        let mut named: Vec<(usize, String)> = paths(&code, |word| word == "crate")
            .into_iter()
            .filter(|(line, _)| !lines[line - 1].trim_start().starts_with("pub use "))
            .filter_map(|(line, path)| Some((line, path.into_iter().nth(1)?)))
            .collect();
        // Of a tree each branch is a path.
        named.dedup();
        for (line, name) in &named {
            let name = name.as_str();
            let room = exports.get(name).map_or(name, |room| *room);
            if place(room).is_some_and(|there| there < here) {
                found.push(format!(
                    "{file}:{line}: `{}` is below `{room}` and uses {name}: move what both need \
                     down, or hand a function or a trait over",
                    rooms[here]
                ));
            }
        }
    }
    found
}

/// The room of each name that `lib.rs` exports.
fn exports(lib: &str) -> BTreeMap<&str, &str> {
    let mut found = BTreeMap::new();
    for export in lib.split("pub use ").skip(1) {
        let export = export.split(';').next().unwrap_or_default();
        let room = export.split("::").next().unwrap_or_default();
        let names = export.rsplit("::").next().unwrap_or_default();
        let names = names.split(|c: char| !is_word(c));
        found.extend(names.filter(|name| !name.is_empty()).map(|n| (n, room)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIB: &str = "
        // Above.
mod upper;
pub mod lower;
pub use lower::a::{Limb, Word};
pub use upper::Engine;
";

    #[test]
    fn a_room_that_uses_one_above_it_is_found_by_path_and_by_exported_name() {
        let arrows = |text| arrows_up(LIB, [("lower/a.rs", text)].into_iter());
        assert_eq!(arrows("use crate::lower::b;\nuse crate::Limb;\n"), [""; 0]);
        let by_path = arrows("\nuse crate::{Limb, upper::{a, b}};\n");
        assert_eq!(by_path.len(), 1);
        assert!(by_path[0].starts_with("lower/a.rs:2: `lower` is below `upper`"));
        assert_eq!(arrows("fn f(e: &crate::Engine) {}").len(), 1);
        // Words about a room are no arrow, nor is what a test uses.
        assert_eq!(arrows("/// See [`crate::Engine`].\n"), [""; 0]);
        let test = "#[cfg(test)]\nmod tests {\n    use crate::Engine;\n}\n";
        assert_eq!(arrows(test), [""; 0]);
    }

    #[test]
    fn a_room_may_use_those_below_it() {
        let above = "use crate::lower::a::Word;\nuse crate::Word;\n";
        assert_eq!(arrows_up(LIB, [("upper/x.rs", above)].into_iter()), [""; 0]);
    }
}
