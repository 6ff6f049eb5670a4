//! One kernel out of a module of PTX: the driver compiles what it is given, and takes milliseconds for each
//! kilobyte.

/// How the PTX of a kernel begins, up to its name.
pub(super) const ENTRY: &str = ".visible .entry ";

/// The module of PTX without its other kernels: what is not part of a kernel stays. `None` where it has no
/// kernel of this name.
///
/// ```
/// use bigint_host::advanced::kernel_alone;
///
/// let module = ".version 8.0\n.visible .entry a() { ret; }\n.visible .entry b() { { ret; } }\n";
/// let alone = kernel_alone(module, "b").unwrap();
/// assert_eq!(alone, ".version 8.0\n\n.visible .entry b() { { ret; } }\n");
/// assert_eq!(kernel_alone(module, "c"), None);
/// ```
pub fn kernel_alone(ptx: &str, name: &str) -> Option<String> {
    let (mut kept, mut rest) = (String::new(), ptx);
    let mut is_found = false;
    while let Some(at) = rest.find(ENTRY) {
        let (before, kernel) = rest.split_at(at);
        let (kernel, behind) = kernel.split_at(length(kernel));
        kept.push_str(before);
        if kernel[ENTRY.len()..].split('(').next() == Some(name) {
            kept.push_str(kernel);
            is_found = true;
        }
        rest = behind;
    }
    kept.push_str(rest);
    is_found.then_some(kept)
}

/// The length of the kernel that a text begins with: up to the brace that closes its first, or all of it.
fn length(kernel: &str) -> usize {
    let (mut depth, mut length) = (0_usize, 0);
    // The standard library's searches are fast in every build.
    for part in kernel.split_inclusive('}') {
        length += part.len();
        depth += part.matches('{').count();
        if depth == 1 {
            break;
        }
        depth = depth.saturating_sub(1);
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::ptx::{ptx, ptx_hashes};

    #[test]
    fn every_kernel_is_found_alone_and_all_else_stays() {
        for module in ptx_hashes().keys() {
            let text = ptx(module).expect("a module of this name");
            let names = text.split(ENTRY).skip(1);
            let names: Vec<_> = names
                .filter_map(|kernel| kernel.split('(').next())
                .collect();
            // The least text of all: with none of the kernels.
            let mut shared = text.len();
            for name in &names {
                let alone = kernel_alone(text, name).expect("it is there");
                assert_eq!(alone.matches(ENTRY).count(), 1, "{module}: {name}");
                assert!(alone.contains(&format!("{ENTRY}{name}(")));
                assert_eq!(alone.matches('{').count(), alone.matches('}').count());
                shared = shared.min(alone.len());
            }
            assert!(names.len() < 3 || shared < text.len() / 2, "{module}");
        }
    }

    #[test]
    fn text_that_is_cut_off_is_kept_as_it_is() {
        let text = ".visible .entry a() { mov {x, y}";
        assert_eq!(kernel_alone(text, "a").as_deref(), Some(text));
        assert_eq!(kernel_alone("", "a"), None);
        // What stands between kernels is for all of them.
        let text = "\n.visible .entry a() { }\n.func f { }\n.visible .entry b() { }\n";
        let alone = kernel_alone(text, "b").unwrap();
        assert!(alone.contains(".func f { }") && !alone.contains("entry a"));
    }
}
