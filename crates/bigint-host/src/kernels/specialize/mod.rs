//! The PTX of one kernel as the driver gets it: specialised to what is known of its launches.
//!
//! [`bigint_core::specialization`] says what can be known and how a kernel reads it. This module writes into
//! the text:
//!
//! * the word of the specialisation, wherever the kernel reads it, after which [`cases`] leaves out
//!   the branches that are never taken;
//! * how many threads and blocks are to share a multiprocessor's registers, for products by Toeplitz
//!   matrices, squares by transforms, long transforms and powers in residue systems;
//! * numbers in place of loads of parameters, for products by transforms on the whole device;
//! * for long transforms that begin before the last kernel has ended, the instructions that do so.

mod cases;

use crate::kernels::alone::ENTRY;
use bigint_core::kernel::{EntryPoint, toeplitz_blocks};
use bigint_core::rns::{WARPGROUPS, Window};
use bigint_core::specialization::{BLOCKS, LongTransform, Specialization, THREADS, UNKNOWN};
use bigint_core::transform::squares;
use bigint_core::weighted::long;
use std::collections::BTreeMap;

/// The PTX of the kernel `entry` alone, out of that of its module, specialised to launches of which
/// this is known.
///
/// The text before the first kernel of the module holds for all kernels, and is kept. For a kernel that the
/// module does not have there is no text.
///
/// ```
/// use bigint_core::specialization::{Column, Specialization};
/// use bigint_core::Kernel;
///
/// let kernel = Kernel::ALL.iter().find(|kernel| kernel.name == "gcd_lehmer_thread_interleaved");
/// let entry = kernel.unwrap().entry_point();
/// let module = bigint_host::ptx(entry.module).unwrap();
/// let known = Column { are_neighbours: true, is_shared: true };
/// let any = bigint_host::specialize(module, entry, &Specialization::None);
/// let specialised = bigint_host::specialize(module, entry, &Specialization::Column(known));
/// assert!(specialised.len() < any.len());
/// ```
pub fn specialize(ptx: &str, entry: EntryPoint, specialization: &Specialization) -> String {
    let mut kernels = ptx.split(ENTRY);
    let shared = kernels.next().unwrap_or_default();
    let own = kernels.find(|kernel| kernel.split('(').next() == Some(entry.name));
    let own = own.unwrap_or_default();
    let is_read = own.contains(UNKNOWN);
    let own = own.replace(UNKNOWN, &specialization.word().to_string());
    let own = match specialization {
        Specialization::LongTransform(known) if known.warps > 0 => {
            with_number(own, THREADS, |_| 32 * known.warps)
        }
        Specialization::Toeplitz(known) => {
            with_number(own, BLOCKS, |_| toeplitz_blocks(known.groups))
        }
        // Who knows exponents has no readers beside.
        Specialization::PowerInResidues(known) => {
            let form = WARPGROUPS.iter().find(|form| form.entry == entry);
            let window = Window {
                bits: 0,
                bases: known.bases,
                scans: known.scans.into(),
            };
            match form {
                Some(form) => with_number(own, THREADS, |_| form.all_threads(window)),
                None => own,
            }
        }
        // Squares take fewer registers, so that more blocks have room.
        Specialization::BlockTransform(known) if known.is_square => {
            with_number(own, BLOCKS, squares)
        }
        Specialization::LongProduct(known) => {
            let own = with_number(own, BLOCKS, |blocks| known.blocks(entry, blocks));
            with_parameters(&own, &known.parameters().collect())
        }
        _ => own,
    };
    let own = match is_read {
        true => cases::occurring(&own),
        false => own,
    };
    match specialization {
        Specialization::LongTransform(known) if known.is_early => early(shared, &own, known),
        _ => [shared, ENTRY, &own].concat(),
    }
}

/// The PTX with numbers in place of loads of those words of its parameter that are known, by their places in bytes.
fn with_parameters(ptx: &str, known: &BTreeMap<usize, u32>) -> String {
    let constant = |line: &str| {
        let (bits, load) = line.strip_prefix("ld.param.b")?.split_once(' ')?;
        let (register, parameter) = load.strip_suffix("];")?.split_once(",[")?;
        let (parameter, place) = parameter.split_once('+')?;
        let place: usize = place.parse().ok()?;
        let [low, high] = [place, place + 4].map(|place| known.get(&place));
        let word = |name: &str, place: usize, known: Option<&u32>| match known {
            Some(known) => format!("mov.b32 {name},{known};\n"),
            None => format!("ld.param.b32 {name},[{parameter}+{place}];\n"),
        };
        match (bits, low, high) {
            ("32", Some(low), _) => Some(format!("mov.b32 {register},{low};")),
            ("64", None, None) | ("32", None, _) => None,
            ("64", ..) => {
                let [low, high] = [word("low", place, low), word("high", place + 4, high)];
                let both = format!("mov.b64 {register},{{low,high}};\n");
                Some(["{\n.reg .b32 low,high;\n", &low, &high, &both, "}"].concat())
            }
            _ => None,
        }
    };
    let lines = ptx.split_inclusive('\n').map(|line| {
        let known = constant(line.trim_end());
        known.map_or(line.to_owned(), |known| known + "\n")
    });
    lines.collect()
}

/// The PTX with another number where it first says `key`, if it does.
fn with_number(ptx: String, key: &str, other: impl Fn(u32) -> u32) -> String {
    let Some((head, rest)) = ptx.split_once(key) else {
        return ptx;
    };
    let end = rest.find(|digit: char| !digit.is_ascii_digit());
    let (number, rest) = rest.split_at(end.unwrap_or(rest.len()));
    let number = other(number.parse().unwrap_or_default()).to_string();
    [head, key, &number, rest].concat()
}

/// The PTX of a long transform that begins before the last kernel has ended.
fn early(shared: &str, own: &str, known: &LongTransform) -> String {
    let places: &[_] = match (known.row, known.factor) {
        (2, 1..) => &[long::BY_LINES],
        _ => &long::UNCACHED,
    };
    let own = places.iter().fold(own.to_owned(), |own, [cached, other]| {
        own.replace(cached, other)
    });
    let [version, target, begins, waits] = long::WAITS;
    let shared = shared.lines().map(|line| match line.split(' ').next() {
        Some(".version") => version,
        Some(".target") => target,
        _ => line,
    });
    let shared: Vec<&str> = shared.collect();
    // Behind the declarations of registers.
    let is_declared = |line: &&str| line.starts_with(".reg") || line.starts_with(".local");
    let own = own.replace(long::WAITS_HERE, waits);
    let (head, body) = own.split_once("\n{\n").unwrap_or_default();
    let declared = body.lines().take_while(is_declared);
    let (declared, body) = body.split_at(declared.map(|line| line.len() + 1).sum());
    let shared = shared.join("\n");
    [&shared, "\n", ENTRY, head, "\n{\n", declared, begins, body].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::ptx::ptx;
    use bigint_core::modules::OTHERS;
    use bigint_core::rns::{RNS_MODULE, TABLE};
    use bigint_core::specialization::{BlockTransform, Family, PowerInResidues};
    use bigint_core::transform::grid::{self, GridArguments, GridPlan};
    use bigint_core::{Arguments, Kernel, MatrixArgument};

    fn specialized(entry: EntryPoint, specialization: Specialization) -> String {
        specialize(ptx(entry.module).unwrap(), entry, &specialization)
    }

    /// All entry points, with what each can be specialised to.
    fn entries() -> impl Iterator<Item = (EntryPoint, Family)> {
        let kernels = Kernel::ALL.iter();
        let kernels = kernels.map(|kernel| (kernel.entry_point(), kernel.family));
        let others = OTHERS.into_iter().map(|entry| match entry.module {
            long::LONG_MODULE => (entry, Family::LongTransform),
            module if module.starts_with(RNS_MODULE) => (entry, Family::PowerInResidues),
            _ => (entry, Family::None),
        });
        kernels.chain(others)
    }

    #[test]
    fn every_kernel_stands_alone_in_its_module() {
        for (entry, _) in entries() {
            let ptx = specialized(entry, Specialization::None);
            assert!(ptx.contains(".version") && ptx.contains(".target"));
            assert_eq!(ptx.matches(".entry").count(), 1, "{entry:?}");
            assert!(ptx.contains(&format!(".entry {}(", entry.name)));
            assert_eq!(ptx.matches('{').count(), ptx.matches('}').count());
        }
    }

    /// The places of the fields that a kernel reads, the lowest bit of each and how many, and the
    /// word that it reads them of.
    fn fields_read(ptx: &str) -> Vec<(u32, u32, &str)> {
        let lines: Vec<&str> = ptx.lines().collect();
        // The compiler sets a register that it has for a constant before it is used.
        let constant = |before: usize, register: &str| -> u32 {
            let set = format!("mov.b32 {register},");
            let mut earlier = lines[..before].iter().rev();
            let constant = earlier.find_map(|line| line.strip_prefix(&set));
            constant.unwrap().trim_end_matches(';').parse().unwrap()
        };
        let reads = lines.windows(2).enumerate().filter_map(|(at, lines)| {
            let (register, word) = lines[0].strip_prefix("mov.b32 ")?.split_once(',')?;
            let read = format!("bfe.u32 {register},{register},");
            let (first, bits) = lines[1].strip_prefix(&read)?.split_once(',')?;
            let bits = constant(at, bits.trim_end_matches(';'));
            Some((constant(at, first), bits, word.trim_end_matches(';')))
        });
        reads.collect()
    }

    #[test]
    fn kernels_read_fields_of_their_own_families_alone() {
        let mut families = std::collections::HashSet::new();
        for (entry, family) in entries() {
            let ptx = ptx(entry.module).unwrap();
            let mut kernels = ptx.split(ENTRY);
            let own = kernels
                .find(|own| own.split('(').next() == Some(entry.name))
                .unwrap();
            let read = fields_read(own);
            assert_eq!(read.len(), own.matches(UNKNOWN).count());
            for (at, bits, word) in &read {
                let is_own = family.places().contains(&(*at, *bits));
                assert!(is_own && *word == UNKNOWN, "{}: {at}, {bits}", entry.name);
            }
            if !read.is_empty() {
                families.insert(family);
            }
        }
        // All that are declared, but for that of which parameters are written.
        assert_eq!(families.len(), 18);
    }

    #[test]
    fn what_is_known_stands_where_it_is_read() {
        let matrix = MatrixArgument::new(
            0x1000,
            40,
            bigint_core::Strides {
                number: 40,
                limb: 1,
            },
        );
        let arguments = Arguments::of(&[matrix; 2], &[matrix; 3]);
        for kernel in Kernel::ALL {
            let known = kernel.specialization(&arguments);
            let ptx = specialized(kernel.entry_point(), known);
            assert!(!ptx.contains(UNKNOWN), "{}", kernel.name);
            let word = known.word().to_string();
            let mut read = fields_read(&ptx).into_iter();
            assert!(read.all(|(.., read)| read == word), "{}", kernel.name);
        }
    }

    #[test]
    fn long_products_load_no_parameter_that_is_known() {
        let arguments = GridArguments {
            plan: GridPlan::of(1 << 19).unwrap(),
            operands: 2,
            ..GridArguments::default()
        };
        let known = arguments.specialization();
        let Specialization::LongProduct(facts) = known else {
            unreachable!("it is one");
        };
        let [rows, other_rows] = grid::ROWS;
        for entry in [grid::FORTH, rows, other_rows, grid::BACK] {
            let any = specialized(entry, Specialization::None);
            let ptx = specialized(entry, known);
            let loads = |ptx: &str, place: usize| {
                let of = |bits: u32, place: usize| {
                    let loads = ptx.lines().filter(|line| {
                        line.starts_with(&format!("ld.param.b{bits} "))
                            && line.ends_with(&format!("+{place}];"))
                    });
                    loads.count()
                };
                of(32, place) + of(64, place / 8 * 8)
            };
            let places: Vec<usize> = facts.parameters().map(|(place, _)| place).collect();
            let loaded: usize = places.iter().map(|&place| loads(&any, place)).sum();
            assert!(loaded >= 4, "{}", entry.name);
            for place in places {
                assert_eq!(loads(&ptx, place), 0, "{}: {place}", entry.name);
            }
            let is_of_columns = [grid::FORTH, grid::BACK].contains(&entry);
            assert_eq!(
                ptx.contains(&format!("{BLOCKS}2\n")),
                is_of_columns || entry == other_rows
            );
            // What is not known is loaded still.
            assert!(ptx.contains("ld.param.b64") && !ptx.contains(".param.v"));
        }
    }

    #[test]
    fn scopes_of_powers_in_residues_stay_whole() {
        for form in WARPGROUPS {
            for (bases, scans) in [1, 2, TABLE]
                .into_iter()
                .flat_map(|b| [(b, false), (b, true)])
            {
                let known = PowerInResidues { bases, scans };
                let ptx = specialized(form.entry, Specialization::PowerInResidues(known));
                let (_, own) = ptx.split_once(ENTRY).unwrap();
                let mut depth = 0;
                for line in own.trim_end().lines().skip_while(|line| *line != "{") {
                    depth += line.matches('{').count() as i32 - line.matches('}').count() as i32;
                    assert!(
                        depth > 0 || line == "}",
                        "{}: {known:?}: {line}",
                        form.entry.name
                    );
                }
                assert_eq!(depth, 0, "{}: {known:?}", form.entry.name);
            }
        }
    }

    /// The specialization of a long transform of short or long rows.
    fn long_transform(row: u32, is_early: bool) -> Specialization {
        Specialization::LongTransform(LongTransform {
            is_negacyclic: false,
            reach: 0,
            factor: 0,
            stage: 0,
            row,
            warps: 0,
            radix_below: 15,
            is_early,
        })
    }

    #[test]
    fn early_kernels_wait_once_before_they_touch_points() {
        for entry in OTHERS
            .into_iter()
            .filter(|entry| entry.module == long::LONG_MODULE)
        {
            let [ptx, late] =
                [true, false].map(|is_early| specialized(entry, long_transform(2, is_early)));
            let [version, target, begins, waits] = long::WAITS;
            assert!(ptx.contains(version) && ptx.contains(target));
            let (before, after) = ptx.split_once(begins).unwrap();
            assert!(before.ends_with(";\n") && !after.trim_start().starts_with('.'));
            let (before, after) = after.split_once(waits).unwrap();
            for written in [
                "ld.global.L1",
                "ld.global.v2.f64",
                "ld.relaxed",
                "st.",
                "red.",
            ] {
                assert!(!before.contains(written), "{}: {written}", entry.name);
            }
            assert!(!after.contains(waits));
            let is_late = |text: &str| !late.contains(text);
            assert!(is_late(begins) && is_late(waits) && is_late(target));
            assert_eq!(ptx.matches('{').count(), late.matches('{').count());
        }
    }

    #[test]
    fn points_go_past_the_first_cache_but_for_columns_of_long_rows() {
        for entry in [
            long::LONG_ROWS,
            long::LONG_COLUMNS,
            long::LONG_COLUMNS_MODULO,
            long::LONG_COLUMNS_FAR,
            long::LONG_COLUMNS_REACH,
        ] {
            let factor = if entry == long::LONG_ROWS { 0 } else { 8 };
            for row in [1, 2] {
                let [early, late] = [true, false].map(|is_early| {
                    let Specialization::LongTransform(known) = long_transform(row, is_early) else {
                        unreachable!("it is one");
                    };
                    let known = LongTransform { factor, ..known };
                    specialized(entry, Specialization::LongTransform(known))
                });
                let [of_cached, of_other] = match row == 2 && factor > 0 {
                    true => [long::BY_LINES; 2],
                    false => long::UNCACHED,
                };
                for [from, to] in [of_cached, of_other] {
                    let moved = early.matches(to).count();
                    assert!(moved >= 16 && !early.contains(from) && !late.contains(to));
                    assert_eq!(late.matches(from).count(), moved, "{from}");
                }
                assert!(early.contains("ld.global.nc.v2.f64"));
            }
        }
    }

    #[test]
    fn more_blocks_that_square_share_a_multiprocessor() {
        let transforms = Kernel::ALL.iter().filter(|kernel| kernel.takes_roots());
        for kernel in transforms {
            let blocks = kernel.bounds().unwrap()[1];
            for (is_square, blocks) in [(true, squares(blocks)), (false, blocks)] {
                let known = BlockTransform {
                    are_neighbours: true,
                    is_square,
                    is_one_piece: true,
                };
                let known = Specialization::BlockTransform(known);
                let ptx = specialized(kernel.entry_point(), known);
                let bound = format!("{BLOCKS}{blocks}\n");
                assert!(ptx.contains(&bound), "{}", kernel.name);
            }
        }
    }
}
