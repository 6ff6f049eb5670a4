//! `cargo xtask build-ptx`: the kernels, as PTX that the library carries with it.

use crate::device_toolchain::{self, DeviceToolchain, EXAMPLES_ROOM, LIBRARY_ROOM};
use crate::manifest::{self, Manifest};
use crate::workspace;
use anyhow::{Context, Result, ensure};
use bigint_core::Kernel;
use bigint_core::kernel::{EntryPoint, TENSOR_MODULE, TENSOR_PTX};
use bigint_core::modules::{MODULES, OTHERS};
use bigint_core::rns::{RNS_MODULE, WARPGROUPS, WARPGROUPS_PTX, WARPS};
use bigint_core::transform::grid;
use bigint_core::transform::ntt;
use bigint_core::transform::rings::{self, RING_LANES, RingPlan};
use bigint_core::weighted::long;
use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

/// Build the kernels to PTX, with a manifest of what they were built from
#[derive(Args)]
pub struct Options {
    /// Build nothing: fail where the committed PTX is not that of the sources
    #[arg(long)]
    check: bool,
    /// Build a device crate of one's own instead: a folder with a Cargo.toml that depends
    /// on bigint-kernels
    #[arg(
        long,
        value_name = "FOLDER",
        requires = "out",
        conflicts_with = "check"
    )]
    device_crate: Option<PathBuf>,
    /// Where the PTX of the device crate goes
    #[arg(long, value_name = "FILE", requires = "device_crate")]
    out: Option<PathBuf>,
}

/// Runs the task.
pub fn run(options: &Options) -> Result<()> {
    match (&options.device_crate, &options.out) {
        (Some(folder), Some(out)) => build_device_crate(folder, out),
        _ if options.check => check(),
        _ => build(),
    }
}

/// Where a module is committed.
pub fn path_of(module: &str) -> PathBuf {
    workspace::ptx_folder().join(module).with_extension("ptx")
}

/// The device crates that stand on the library, as users' do, and where their PTX is committed: what
/// kernels are given is laid out there as here.
fn examples() -> [[PathBuf; 2]; 5] {
    [
        [
            "examples/field-kernels",
            "examples/field-kernels/field_kernels.ptx",
        ],
        [
            "examples/fused-kernel",
            "examples/fused-kernel/multiply_subtract.ptx",
        ],
        [
            "crates/bigint-curves/kernels",
            "crates/bigint-curves/curves.ptx",
        ],
        ["crates/ecm/kernels", "crates/ecm/ecm.ptx"],
        [
            "examples/discrete-logarithm/kernels",
            "examples/discrete-logarithm/discrete_logarithm.ptx",
        ],
    ]
    .map(|paths| paths.map(|path| workspace::root().join(path)))
}

/// Every committed module and its PTX.
pub fn committed() -> Result<BTreeMap<&'static str, String>> {
    MODULES
        .into_iter()
        .map(|module| {
            let path = path_of(module);
            let ptx = fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
            Ok((module, ptx))
        })
        .collect()
}

fn build() -> Result<()> {
    let toolchain = DeviceToolchain::find(None)?;
    // Sources first: what is edited during the build must not pass for built.
    let sources = manifest::hash_of_sources()?;
    let mut hashes = BTreeMap::new();
    fs::create_dir_all(workspace::ptx_folder())?;
    let (library, others) = everything(&toolchain)?;
    for ([_, out], ptx) in examples().iter().zip(others) {
        fs::write(out, ptx)?;
    }
    for (module, ptx) in modules(&library)? {
        fs::write(path_of(module), &ptx)?;
        eprintln!("{module}.ptx: {} entry points", entry_points(&ptx).len());
        hashes.insert(module.to_string(), manifest::hash(ptx.as_bytes()));
    }
    Manifest {
        compiler: toolchain.version,
        flags: device_toolchain::flags(),
        sources,
        modules: hashes,
    }
    .write()
}

/// How many of [`examples`] are built behind the library: with them it takes as long as the others.
const BEHIND_THE_LIBRARY: usize = 1;

/// The PTX of the library's kernels, and that of the examples. Two crates are built at the same time, as each
/// is compiled on one core.
fn everything(toolchain: &DeviceToolchain) -> Result<(String, Vec<String>)> {
    let examples = examples();
    let (behind, others) = examples.split_at(BEHIND_THE_LIBRARY);
    let built = |examples: &[[PathBuf; 2]], room| {
        let built = examples
            .iter()
            .map(|[folder, _]| device_crate(toolchain, folder, room));
        built.collect::<Result<Vec<_>>>()
    };
    thread::scope(|scope| {
        let first = scope.spawn(|| Ok((toolchain.build()?, built(behind, LIBRARY_ROOM)?)));
        let others = built(others, EXAMPLES_ROOM);
        let first: Result<_> = first.join().unwrap_or_else(|panic| resume_unwind(panic));
        let (library, mut examples) = first?;
        examples.extend(others?);
        Ok((library, examples))
    })
}

fn build_device_crate(folder: &Path, out: &Path) -> Result<()> {
    let ptx = device_crate(&DeviceToolchain::find(None)?, folder, EXAMPLES_ROOM)?;
    fs::write(out, &ptx).with_context(|| format!("{}", out.display()))?;
    for entry in entry_points(&ptx) {
        eprintln!("{}: {}", out.display(), entry.name);
    }
    Ok(())
}

fn device_crate(toolchain: &DeviceToolchain, folder: &Path, room: &str) -> Result<String> {
    let ptx = toolchain.build_crate(folder, room, &[])?;
    ensure!(
        !entry_points(&ptx).is_empty(),
        "{} has no entry point: a kernel is an exported `extern \"ptx-kernel\" fn`",
        folder.display()
    );
    Ok(match ptx.contains("cp.async") {
        true => headed(&ptx, TENSOR_PTX),
        false => ptx,
    })
}

fn check() -> Result<()> {
    let manifest = Manifest::read()?;
    compare_with_sources(&manifest)?;
    match DeviceToolchain::find(Some(&manifest.compiler)) {
        Ok(toolchain) if toolchain.version == manifest.compiler => {
            let (library, others) = everything(&toolchain)?;
            for (module, ptx) in modules(&library)? {
                ensure!(
                    manifest::hash(ptx.as_bytes()) == manifest.modules[module],
                    "{module}.ptx is not what {} makes of the sources",
                    toolchain.version
                );
            }
            for ([_, committed], ptx) in examples().iter().zip(others) {
                ensure!(
                    ptx == fs::read_to_string(committed)?,
                    "{} is not what {} makes of its sources: run `cargo xtask build-ptx`",
                    committed.display(),
                    toolchain.version
                );
            }
            println!("the PTX is that of the sources: built again, it is the same");
        }
        Err(error) if device_toolchain::is_chosen() => return Err(error),
        _ => println!(
            "the PTX is that of the sources by its manifest; it was not built again, \
             as its compiler is not here: {}",
            manifest.compiler
        ),
    }
    Ok(())
}

/// Whether the committed PTX, its manifest and the sources belong together, by
/// their hashes alone.
pub fn check_hashes() -> Result<()> {
    compare_with_sources(&Manifest::read()?)
}

fn compare_with_sources(manifest: &Manifest) -> Result<()> {
    ensure!(
        manifest.sources == manifest::hash_of_sources()?,
        "the kernels' sources have changed since the PTX was built: run `cargo xtask build-ptx`"
    );
    ensure!(
        manifest.flags == device_toolchain::flags(),
        "the compiler's flags have changed since the PTX was built: run `cargo xtask build-ptx`"
    );
    let committed: BTreeMap<String, String> = committed()?
        .iter()
        .map(|(module, ptx)| (module.to_string(), manifest::hash(ptx.as_bytes())))
        .collect();
    ensure!(
        manifest.modules == committed,
        "a module is not the one in the manifest: run `cargo xtask build-ptx`"
    );
    Ok(())
}

/// How an entry point begins, up to its name.
const ENTRY: &str = ".visible .entry ";

/// How names begin that differ with what else is compiled: those of labels, before the number of
/// their entry point, of a thread's own memory, likewise, and of constants, before a hash; and how
/// they begin without.
const PLACED: [(&str, &str); 3] = [
    ("$L__BB", "$L"),
    ("__local_depot", "depot"),
    ("anon_$_", "anon"),
];

/// Cuts the PTX of all kernels into modules: what stands before the first entry point
/// holds for all and goes into each; the entry points follow in the order of the table.
fn modules(ptx: &str) -> Result<BTreeMap<&'static str, String>> {
    let ptx = without_places(ptx);
    let mut parts = ptx.split(ENTRY);
    let shared = parts.next().unwrap_or_default();
    let own: BTreeMap<&str, &str> = parts
        .map(|part| (part.split('(').next().unwrap_or_default(), part))
        .collect();
    let kernels = Kernel::ALL.iter();
    let entries = kernels.map(|kernel| (kernel.entry_point(), kernel.bounds()));
    let entries = entries.chain(OTHERS.map(|entry| (entry, bounds_of_other(entry))));
    let begun = MODULES.map(|module| match module {
        TENSOR_MODULE | RNS_MODULE => (module, headed(shared, TENSOR_PTX)),
        _ if is_of_warpgroups(module) => (module, headed(shared, WARPGROUPS_PTX)),
        _ => (module, shared.to_owned()),
    });
    let mut modules: BTreeMap<_, _> = begun.into();
    let mut done = BTreeSet::new();
    for (EntryPoint { name, module }, bounds) in entries {
        // One text for all numbers of lanes.
        if !done.insert(name) {
            continue;
        }
        let part = own
            .get(name)
            .with_context(|| format!("no entry point {name}"))?;
        let text = modules
            .get_mut(module)
            .expect("every kernel's module is listed");
        match bounds {
            None => text.extend([ENTRY, part]),
            Some(bounds) => text.extend([ENTRY, &bounded(part, bounds)]),
        }
    }
    Ok(modules)
}

/// Whether a module is that of a kernel for warpgroups.
fn is_of_warpgroups(module: &str) -> bool {
    WARPGROUPS.iter().any(|form| form.entry.module == module)
}

/// What stands before the entry points of kernels with instructions of which the compiler knows nothing, as it
/// has the oldest target of all.
fn headed(shared: &str, [version, target]: [&str; 2]) -> String {
    let lines = shared.lines().map(|line| match line.split(' ').next() {
        Some(".version") => version,
        Some(".target") => target,
        _ => line,
    });
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// The kernel that does for all numbers what one of [`grid::AGAIN`] does for some.
fn first_of(entry: EntryPoint) -> EntryPoint {
    let all = [grid::FORTH, grid::ROWS[0], grid::ROWS[1], grid::BACK];
    let which = grid::AGAIN.iter().position(|again| *again == entry);
    which.map_or(entry, |which| all[which])
}

/// Threads of a block, and blocks that a multiprocessor should have room for, of an entry point
/// that is no operation's.
fn bounds_of_other(entry: EntryPoint) -> Option<[u32; 2]> {
    match entry {
        _ if entry.module == long::LONG_MODULE => Some([long::THREADS, 1]),
        _ if [grid::FORTH, grid::BACK].contains(&first_of(entry)) => {
            Some([grid::THREADS, grid::COLUMN_BLOCKS])
        }
        _ if grid::ROWS.contains(&first_of(entry)) => {
            let threads = if first_of(entry) == grid::ROWS[0] {
                128
            } else {
                256
            };
            Some([threads, grid::ROW_THREADS / threads])
        }
        _ if [grid::SUMS, grid::SUMS_AGAIN].concat().contains(&entry) => Some(grid::SUM_BOUNDS),
        _ if grid::PAIRS.contains(&entry) => {
            let threads = if entry == grid::PAIRS[0] { 256 } else { 512 };
            Some([threads, grid::ROW_THREADS / threads])
        }
        _ if entry.module == ntt::MODULE && entry != ntt::LIMBS => {
            let which = |kernels: &[EntryPoint]| kernels.iter().position(|kernel| *kernel == entry);
            let (at, threads) = match which(&ntt::FORTH) {
                Some(at) => (at, ntt::FORTH_THREADS),
                None => (which(&ntt::ROWS).or(which(&ntt::BACK))?, ntt::ROW_THREADS),
            };
            let of_block = ntt::THREADS[at];
            Some([of_block, threads / of_block])
        }
        _ if entry.module == rings::MODULE => {
            let is_it = |plan: &RingPlan| plan.kernels().contains(&entry);
            let plan = RING_LANES.map(RingPlan::of_lanes).into_iter().find(is_it)?;
            Some(plan.bounds())
        }
        _ => {
            let form = WARPS
                .iter()
                .chain(&WARPGROUPS)
                .find(|form| form.entry == entry)?;
            Some([form.most_threads(), 1])
        }
    }
}

/// An entry point with the bounds of its launch, for which the compiler has no word: they
/// stand between the parameters and the body.
fn bounded(part: &str, [threads, blocks]: [u32; 2]) -> String {
    let directives = format!(")\n.maxntid {threads}, 1, 1\n.minnctapersm {blocks}\n{{");
    part.replacen(")\n{", &directives, 1)
}

/// The PTX without comments and blanks, which are a seventh of it, with names as short as
/// they can be told apart, which are a sixth, and without what depends on an entry point's
/// place among the others ([`PLACED`]), so that a new operation leaves the modules of the old ones
/// as they are.
fn without_places(ptx: &str) -> String {
    let lines = ptx.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    let mut text = String::with_capacity(ptx.len());
    let mut parameter = String::new();
    let mut scopes = Scopes::default();
    for line in lines {
        if let Some((name, _)) = line
            .strip_prefix(ENTRY)
            .and_then(|rest| rest.split_once('('))
        {
            parameter = format!("{name}_param_");
        }
        let mut line = line
            .replace(" \t", " ")
            .replace(", ", ",")
            .replace("%rd", "%d");
        if !parameter.is_empty() {
            line = line.replace(&parameter, "q");
        }
        if let Some(count) = count_of_registers(&line) {
            text.push_str(&declarations(count));
            continue;
        }
        let line = PLACED
            .into_iter()
            .fold(scopes.shortened(&line), |line, of| unplaced(&line, of));
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// How many registers of 32 bits, of which there are most, a line of the compiler's declares.
fn count_of_registers(line: &str) -> Option<usize> {
    let count = line.strip_prefix(".reg .b32 %r<")?.strip_suffix(">;")?;
    count.parse().ok()
}

/// The declarations of so many of them by their [names](name_of_hundred).
fn declarations(count: usize) -> String {
    let hundreds = (0..count.div_ceil(100)).map(|which| {
        let own = (count - 100 * which).min(100);
        format!(".reg .b32 {}<{own}>;\n", name_of_hundred(which))
    });
    hundreds.collect()
}

/// With what the names of a hundred registers of 32 bits begin: a letter, or two. None is a letter with which another name
/// begins, or a type such as `b32`.
fn name_of_hundred(which: usize) -> String {
    const LETTERS: &[u8; 44] = b"acghijklmnortvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let letter = |i: usize| char::from(LETTERS[i % LETTERS.len()]);
    match which.checked_sub(LETTERS.len()) {
        None => letter(which).to_string(),
        Some(above) => String::from_iter([letter(above / LETTERS.len()), letter(above)]),
    }
}

/// A line whose names that begin with `begin` begin with `short` instead, without the place that
/// follows.
fn unplaced(line: &str, (begin, short): (&str, &str)) -> String {
    let mut parts = line.split(begin);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let name = part.trim_start_matches(|digit: char| digit.is_ascii_hexdigit());
        text + short + name.trim_start_matches('_')
    })
}

/// The names that blocks of assembly have for themselves, each of which begins with `{`.
#[derive(Default)]
struct Scopes(Vec<BTreeMap<String, char>>);

impl Scopes {
    /// A line with letters in place of such names, and without the percent sign of registers.
    fn shortened(&mut self, line: &str) -> String {
        match line {
            "{" => self.0.push(BTreeMap::new()),
            "}" => drop(self.0.pop()),
            _ => self.declare(line),
        }
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || "_$%.".contains(c);
        let mut text = String::with_capacity(line.len());
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            let is_name = is_of_name(first);
            let end = rest.find(|c| is_of_name(c) != is_name);
            let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
            match self.0.iter().rev().find_map(|names| names.get(part)) {
                Some(&letter) => text.push(letter),
                None if is_register(part, after) => text.push_str(&register(part)),
                None => text.push_str(part),
            }
            rest = after;
        }
        text
    }

    /// Takes in what a line declares; the compiler's own names begin with a percent sign.
    fn declare(&mut self, line: &str) {
        let taken: usize = self.0.iter().map(BTreeMap::len).sum();
        let letters = ('a'..='z').skip(taken);
        let declared = line
            .strip_prefix(".reg ")
            .and_then(|rest| rest.split_once(' '));
        if let (Some((_, names)), Some(scope)) = (declared, self.0.last_mut()) {
            let names = names.trim_end_matches(';').split(',');
            let own = names.filter(|name| !name.starts_with('%'));
            scope.extend(own.map(str::to_owned).zip(letters));
        }
    }
}

/// The name of a register that the compiler has named.
fn register(name: &str) -> String {
    let number = name
        .strip_prefix("%r")
        .and_then(|rest| rest.parse::<usize>().ok());
    match number {
        Some(number) => format!("{}{}", name_of_hundred(number / 100), number % 100),
        None => name[1..].to_owned(),
    }
}

/// Whether a name is that of a register which the compiler has named, or of all of a kind where
/// they are declared.
fn is_register(name: &str, after: &str) -> bool {
    let kind = name.trim_end_matches(|digit: char| digit.is_ascii_digit());
    let is_of_one = kind.len() < name.len() || after.starts_with('<');
    is_of_one && ["%p", "%r", "%d", "%rs", "%f", "%fd"].contains(&kind)
}

/// An entry point of a module.
#[derive(Debug, PartialEq, Eq)]
struct Declared<'a> {
    name: &'a str,
    /// Each parameter's bytes.
    parameters: Vec<usize>,
}

/// The entry points of a module, as its PTX declares them.
fn entry_points(ptx: &str) -> Vec<Declared<'_>> {
    ptx.split(".entry ")
        .skip(1)
        .filter_map(|rest| {
            let (name, rest) = rest.split_once('(')?;
            let (parameters, _) = rest.split_once(')')?;
            let bytes = |parameter: &str| {
                let (_, size) = parameter.rsplit_once('[')?;
                size.trim_end().strip_suffix(']')?.parse().ok()
            };
            Some(Declared {
                name,
                parameters: parameters.split(',').filter_map(bytes).collect(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bigint_core::Arguments;
    use bigint_core::fused::{FUSED_MODULE, FusedArguments};
    use bigint_core::gather::{GATHER_MODULE, GATHER_SCANNED, GatherArguments, ScanArguments};
    use bigint_core::rns::RnsArguments;
    use bigint_core::transform::grid::{GridArguments, SumArguments};
    use bigint_core::transform::ntt::NttArguments;
    use bigint_core::transform::rings::RingArguments;
    use bigint_core::trial::{TRIAL_MODULE, TrialArguments};
    use bigint_core::weighted::{
        self, WeightedArguments,
        long::{LONG_MODULE, LongArguments},
    };

    #[test]
    fn a_module_does_not_depend_on_the_place_of_its_kernels() {
        let line = "\t@%p1 bra \t$L__BB17_4;\n\t// .globl\tmul_school\n$L__BB17_4:\n\
            \t// begin inline asm\n//\n";
        let text = "@p1 bra $L4;\n$L4:\n";
        assert_eq!(without_places(line), text);
        let line = "\t.local .b8 \t__local_depot161[144];\n\tmov.b64 \t%rd1, anon_$_a39_$_1;\n";
        let text = ".local .b8 depot[144];\nmov.b64 d1,anon$_1;\n";
        assert_eq!(without_places(line), text);
    }

    #[test]
    fn names_are_short() {
        let ptx = ".visible .entry mul(\n\t.param .b64 mul_param_0\n)\n\
            \tld.param.b64 \t%rd1, [mul_param_0+8];\n";
        let text = ".visible .entry mul(\n.param .b64 q0\n)\nld.param.b64 d1,[q0+8];\n";
        assert_eq!(without_places(ptx), text);
        let ptx = "{\n.reg .pred %p<3>;\n{\n.reg .pred inside, min;\nsetp.lt.u32 inside, %r1, %tid.x;\n\
            @!inside min.u32 %r1, %r1, %r2;\n{\n.reg .b32 low;\nmov.b64 {low, %r1}, %rd1;\n}\n}\n\
            @%p1 bra $inside;\n}\n";
        let text = "{\n.reg .pred p<3>;\n{\n.reg .pred a,b;\nsetp.lt.u32 a,a1,%tid.x;\n\
            @!a min.u32 a1,a1,a2;\n{\n.reg .b32 c;\nmov.b64 {c,a1},d1;\n}\n}\n\
            @p1 bra $inside;\n}\n";
        assert_eq!(without_places(ptx), text);
    }

    #[test]
    fn registers_have_a_letter_for_each_hundred() {
        let ptx = ".reg .b32 \t%r<203>;\nadd.s32 \t%r202, %r99, %r100;\nmov.b16 \t%rs7, %rs100;\n";
        let text = ".reg .b32 a<100>;\n.reg .b32 c<100>;\n.reg .b32 g<3>;\nadd.s32 g2,a99,c0;\n\
            mov.b16 rs7,rs100;\n";
        assert_eq!(without_places(ptx), text);
        let names = (0..1980).map(name_of_hundred);
        assert_eq!(names.collect::<BTreeSet<_>>().len(), 1980);
        assert_eq!(register("%r4400"), "aa0");
    }

    #[test]
    fn bounds_stand_before_the_body() {
        let part = "mul(\n\t.param .b8 x[8]\n)\n{\n\tret;\n}\n";
        let text = "mul(\n\t.param .b8 x[8]\n)\n.maxntid 64, 1, 1\n.minnctapersm 6\n{\n\tret;\n}\n";
        assert_eq!(bounded(part, [64, 6]), text);
    }

    #[test]
    fn committed_ptx_bounds_the_launches_that_ask_for_it() {
        let ptx: String = committed().unwrap().into_values().collect();
        let bounded = Kernel::ALL
            .iter()
            .filter(|kernel| kernel.bounds().is_some());
        let bounded: BTreeSet<_> = bounded.map(|kernel| kernel.name).collect();
        let others = OTHERS.into_iter().filter_map(bounds_of_other).count();
        assert_eq!(ptx.matches(".maxntid").count(), bounded.len() + others);
    }

    /// What is proved of FP64 counts every rounding: nothing may be contracted later.
    #[test]
    fn committed_ptx_says_how_every_operation_in_fp64_rounds() {
        for (module, ptx) in committed().unwrap() {
            let mut lines = ptx.lines().map(str::trim);
            let free = lines.find(|line| {
                ["add.f64", "sub.f64", "mul.f64", "div.f64"]
                    .iter()
                    .any(|name| line.starts_with(name))
            });
            assert_eq!(free, None, "{module}.ptx");
        }
    }

    #[test]
    fn committed_ptx_is_below_16_megabytes() {
        let bytes: usize = committed().unwrap().values().map(String::len).sum();
        assert!(bytes < 16_000_000, "{bytes}");
    }

    #[test]
    fn committed_ptx_is_that_of_the_sources() {
        check_hashes().unwrap();
    }

    #[test]
    fn committed_ptx_has_exactly_the_kernels_of_the_table() {
        for (module, ptx) in committed().unwrap() {
            let mut found: Vec<_> = entry_points(&ptx).iter().map(|entry| entry.name).collect();
            let entries = Kernel::ALL.iter().map(Kernel::entry_point).chain(OTHERS);
            let mut expected: Vec<_> = entries
                .filter(|entry| entry.module == module)
                .map(|entry| entry.name)
                .collect();
            found.sort_unstable();
            expected.sort_unstable();
            expected.dedup();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn every_kernel_takes_the_arguments_by_value() {
        for (module, ptx) in committed().unwrap() {
            let bytes = match module {
                FUSED_MODULE => size_of::<FusedArguments>(),
                GATHER_MODULE => size_of::<GatherArguments>(),
                weighted::MODULE => size_of::<WeightedArguments>(),
                LONG_MODULE => size_of::<LongArguments>(),
                grid::MODULE | grid::AGAIN_MODULE => size_of::<GridArguments>(),
                RNS_MODULE => size_of::<RnsArguments>(),
                _ if is_of_warpgroups(module) => size_of::<RnsArguments>(),
                TRIAL_MODULE => size_of::<TrialArguments>(),
                ntt::MODULE => size_of::<NttArguments>(),
                rings::MODULE => size_of::<RingArguments>(),
                _ => size_of::<Arguments>(),
            };
            for entry in entry_points(&ptx) {
                let bytes = match () {
                    _ if entry.name == GATHER_SCANNED.name => size_of::<ScanArguments>(),
                    _ if entry.name.starts_with("mul_fft_grid_sums_") => size_of::<SumArguments>(),
                    _ => bytes,
                };
                assert_eq!(entry.parameters, [bytes], "{}", entry.name);
            }
        }
    }
}
