//! The kernels' PTX, compiled by the driver when first needed, a kernel at a time, and of
//! that the cases that occur: all products together take it seconds, and a process needs
//! one or two of them.

use super::{cases, failure};
use crate::DeviceErrorKind;
use crate::common::threads::lock;
use bigint_core::facts::{BLOCKS, Facts, SAME, THREADS, UNTOLD, WARPS};
use bigint_core::for_each_operation;
use bigint_core::fused::FUSED_MODULE;
use bigint_core::gather::GATHER_MODULE;
use bigint_core::kernel::EntryPoint;
use bigint_core::modules::CEILING;
use bigint_core::transform::{grid, ntt, squares};
use bigint_core::trial::TRIAL_MODULE;
use bigint_core::weighted::{self, long};
use cust::module::Module;
use std::collections::HashMap;
use std::ffi::{CString, c_int, c_uint, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

macro_rules! ptx {
    ($(
        $(#[$doc:meta])*
        $variant:ident $operation:ident $operands:tt -> $results:tt {
            exact: $exact:tt,
            flag: $flag:ident,
            methods: $method:ident $wrapping:tt $overflowing:tt,
            syntax: $syntax:ident$(($symbol:literal))?,
            $(signs: $signs:ident,)?
            kernels: {$($row:tt)*}
        }
    )*) => {
        /// The PTX of every module, by name.
        const PTX: &[(&str, &[&str])] = &[
            $((stringify!($operation), module!($operation $($row)*)),)*
            (CEILING.module, &[include_str!("../../ptx/ceiling.ptx")]),
            (FUSED_MODULE, &[include_str!("../../ptx/fused.ptx")]),
            (GATHER_MODULE, &[include_str!("../../ptx/gather.ptx")]),
            (grid::MODULE, &[include_str!("../../ptx/mul_grid.ptx")]),
            (ntt::MODULE, &[include_str!("../../ptx/mul_ntt.ptx")]),
            (TRIAL_MODULE, &[include_str!("../../ptx/trial.ptx")]),
            (weighted::MODULE, &[include_str!("../../ptx/weighted.ptx")]),
            (long::LONG_MODULE, &[include_str!("../../ptx/weighted_long.ptx")]),
        ];
    };
}

/// An operation's module, if it [has one](bigint_core::Operation::has_module).
macro_rules! module {
    (div $($row:tt)*) => {
        &[]
    };
    (rem $($row:tt)*) => {
        &[]
    };
    (pow_pair $($row:tt)*) => {
        &[]
    };
    (pow_fixed $($row:tt)*) => {
        &[]
    };
    ($operation:ident) => {
        &[]
    };
    ($operation:ident $($row:tt)*) => {
        &[include_str!(concat!(
            "../../ptx/",
            stringify!($operation),
            ".ptx"
        ))]
    };
}
for_each_operation!(ptx);

/// The kernels loaded into one context so far, each a module of its own; one for every
/// choice of its cases.
#[derive(Default)]
pub(super) struct Modules {
    places: Mutex<HashMap<(&'static str, Facts), Arc<Place>>>,
}

/// A module's place, before it is loaded and then.
#[derive(Default)]
struct Place {
    /// Whoever loads it has the lock.
    module: Mutex<Option<Arc<Module>>>,
    /// Whether somebody has begun to load it.
    is_begun: AtomicBool,
    /// Whether it is loaded, or cannot be.
    is_done: AtomicBool,
}

impl Modules {
    /// The module that has `entry` for launches of which these facts hold, and nothing
    /// else. A kernel's first launch waits for the driver to compile it; the driver keeps
    /// the result in a cache on disk.
    ///
    /// The context that the modules are for must be current.
    pub fn of(&self, entry: EntryPoint, facts: Facts) -> Result<Arc<Module>, DeviceErrorKind> {
        let place = self.place(entry, facts);
        let mut module = lock(&place.module);
        if let Some(module) = &*module {
            return Ok(Arc::clone(module));
        }
        let loaded = load(entry.name, &alone(entry, facts)).map(Arc::new);
        place.is_done.store(true, Ordering::Release);
        Ok(Arc::clone(module.insert(loaded?)))
    }

    /// Whether nobody would wait for that module.
    pub fn has(&self, entry: EntryPoint, facts: Facts) -> bool {
        self.place(entry, facts).is_done.load(Ordering::Acquire)
    }

    /// Whether the caller is the first who sets out to load it in the background.
    pub fn begins(&self, entry: EntryPoint, facts: Facts) -> bool {
        let place = self.place(entry, facts);
        !place.is_begun.swap(true, Ordering::Relaxed)
    }

    fn place(&self, entry: EntryPoint, facts: Facts) -> Arc<Place> {
        let mut places = lock(&self.places);
        Arc::clone(places.entry((entry.name, facts)).or_default())
    }
}

/// How the PTX of a kernel begins, up to its name.
const ENTRY: &str = ".visible .entry ";

/// The PTX of the module that has `entry`.
fn module_of(entry: EntryPoint) -> &'static str {
    let named = PTX.iter().find(|(module, _)| *module == entry.module);
    let ptx = named.and_then(|(_, ptx)| ptx.first());
    ptx.copied().unwrap_or_default()
}

/// The PTX with another number where it first says `key`, if it does.
fn with_number(ptx: &str, key: &str, other: impl Fn(u32) -> u32) -> String {
    let Some((head, rest)) = ptx.split_once(key) else {
        return ptx.to_owned();
    };
    let end = rest.find(|digit: char| !digit.is_ascii_digit());
    let (number, rest) = rest.split_at(end.unwrap_or(rest.len()));
    let number = other(number.parse().unwrap_or_default()).to_string();
    [head, key, &number, rest].concat()
}

/// The PTX of one kernel: what stands before the first kernel of its module, which
/// holds for all of them, and its own, with what it is told of its launches.
fn alone(entry: EntryPoint, facts: Facts) -> String {
    let mut kernels = module_of(entry).split(ENTRY);
    let shared = kernels.next().unwrap_or_default();
    let own = kernels.find(|kernel| kernel.split('(').next() == Some(entry.name));
    let own = own.unwrap_or_default();
    let told = own.replace(UNTOLD, &facts.0.to_string());
    // Fields of transforms alone; others have the bits for something else.
    let told = match (entry.module, facts.field(WARPS), facts.field(SAME)) {
        (long::LONG_MODULE, warps @ 1.., _) => with_number(&told, THREADS, |_| 32 * warps),
        ("mul", _, 1) => with_number(&told, BLOCKS, squares),
        _ => told,
    };
    let own = match own.contains(UNTOLD) {
        true => cases::occurring(&told),
        false => told,
    };
    match (
        entry.module,
        facts.field(long::EARLY),
        facts.field(long::ROW),
    ) {
        (long::LONG_MODULE, 1, 1) => early(shared, &uncached(own)),
        (long::LONG_MODULE, 1, _) => early(shared, &own),
        _ => [shared, ENTRY, &own].concat(),
    }
}

/// The PTX of a kernel that begins before the last one has ended.
fn early(shared: &str, own: &str) -> String {
    let [version, target, waits] = long::WAITS;
    let shared = shared.lines().map(|line| match line.split(' ').next() {
        Some(".version") => version,
        Some(".target") => target,
        _ => line,
    });
    let shared: Vec<&str> = shared.collect();
    // Behind the declarations of registers.
    let is_declared = |line: &&str| line.starts_with(".reg") || line.starts_with(".local");
    let (head, body) = own.split_once("\n{\n").unwrap_or_default();
    let declared = body.lines().take_while(is_declared);
    let (declared, body) = body.split_at(declared.map(|line| line.len() + 1).sum());
    let shared = shared.join("\n");
    [&shared, "\n", ENTRY, head, "\n{\n", declared, waits, body].concat()
}

/// The PTX of a kernel whose points go past the first cache.
fn uncached(own: String) -> String {
    let replaced = |ptx: String, [cached, uncached]: [&str; 2]| ptx.replace(cached, uncached);
    long::UNCACHED.into_iter().fold(own, replaced)
}

fn load(name: &str, ptx: &str) -> Result<Module, DeviceErrorKind> {
    let unsupported = |why| DeviceErrorKind::Unsupported(format!("kernel {name}: {why}"));
    let ptx = CString::new(ptx).map_err(|error| unsupported(error.to_string()))?;
    Module::from_ptx_cstr(&ptx, &[]).map_err(|error| match refusal(&ptx) {
        Some(why) => unsupported(why),
        None => failure::kind(error, ptx.as_bytes().len()),
    })
}

unsafe extern "C" {
    // `cust_raw` declares it as well, with an enum for a result that lacks the
    // codes of later drivers; a value that is none of the enum's is undefined
    // behaviour there, and just a number here.
    fn cuModuleLoadDataEx(
        module: *mut *mut c_void,
        image: *const c_void,
        options: c_uint,
        names: *mut c_int,
        values: *mut *mut c_void,
    ) -> c_int;
    fn cuModuleUnload(module: *mut c_void) -> c_int;
}

const CU_JIT_ERROR_LOG_BUFFER: c_int = 5;
const CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: c_int = 6;

/// Why the driver does not take this PTX, if that is what ails it.
///
/// `cust` hands neither the newer codes on nor the compiler's words, so a module
/// that failed to load is loaded once more, for these alone.
fn refusal(ptx: &CString) -> Option<String> {
    let mut log = [0_u8; 4096];
    let mut module = ptr::null_mut();
    let mut names = [CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    // The driver takes a number as the pointer's own value.
    let mut values = [
        log.as_mut_ptr().cast(),
        ptr::without_provenance_mut(log.len()),
    ];
    // SAFETY: all four addresses are valid for what the driver reads and writes
    // there: one handle, a string that ends in a null, two options and their two
    // values, of which one is a buffer and the other its length.
    let code = unsafe {
        cuModuleLoadDataEx(
            &mut module,
            ptx.as_ptr().cast(),
            2,
            names.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    if code == 0 {
        // SAFETY: the handle is of a module that was just loaded, and nobody else
        // has it.
        unsafe { cuModuleUnload(module) };
    }
    let why = match code {
        200 | 218 => "the driver's compiler refuses it",
        209 => "the driver has no code for this device",
        221 => "the driver's compiler, libnvidia-ptxjitcompiler, is missing",
        222 => "the driver is older than the PTX",
        223 => "the environment has switched the driver's compiler off",
        _ => return None,
    };
    let words = String::from_utf8_lossy(&log);
    let first = words.split(['\0', '\n']).next().unwrap_or_default().trim();
    let separator = if first.is_empty() { "" } else { ": " };
    Some(format!(
        "{why} (CUDA error {code}{separator}{first}): update the driver"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bigint_core::modules::OTHERS;
    use bigint_core::{Kernel, Operation};

    #[test]
    fn every_kernel_stands_alone_in_its_module() {
        let kernels = Kernel::ALL.iter().map(Kernel::entry_point);
        for entry in kernels.chain(OTHERS) {
            let ptx = alone(entry, Facts::default());
            assert!(ptx.contains(".version") && ptx.contains(".target"));
            assert_eq!(ptx.matches(".entry").count(), 1, "{entry:?}");
            assert!(ptx.contains(&format!(".entry {}(", entry.name)));
            assert_eq!(ptx.matches('{').count(), ptx.matches('}').count());
        }
    }

    #[test]
    fn early_kernels_wait_behind_their_declarations() {
        let early = Facts(1 << long::EARLY.at);
        for entry in [long::LONG_ROWS, long::LONG_COLUMNS] {
            let [ptx, late] = [early, Facts::default()].map(|facts| alone(entry, facts));
            let [version, target, waits] = long::WAITS;
            assert!(ptx.contains(version) && ptx.contains(target));
            let (before, after) = ptx.split_once(waits).unwrap();
            assert!(before.ends_with(";\n") && !after.trim_start().starts_with('.'));
            assert!(!late.contains(waits) && !late.contains(target));
            assert_eq!(ptx.matches('{').count(), late.matches('{').count());
        }
    }

    #[test]
    fn points_of_short_rows_go_past_the_first_cache() {
        for entry in [long::LONG_ROWS, long::LONG_COLUMNS] {
            let ptx = |row: u32, early: u32| {
                let facts = Facts(row << long::ROW.at | early << long::EARLY.at);
                alone(entry, facts)
            };
            let (short, cached) = (ptx(1, 1), [ptx(1, 0), ptx(2, 1), ptx(2, 0)]);
            for [from, to] in long::UNCACHED {
                let count = short.matches(to).count();
                assert!(count >= 16 && !short.contains(from), "{from}");
                for cached in &cached {
                    assert_eq!(cached.matches(from).count(), count);
                    assert!(!cached.contains(to));
                }
            }
            assert!(short.contains("ld.global.nc.v2.f64"));
        }
    }

    #[test]
    fn more_blocks_that_square_share_a_multiprocessor() {
        let transforms = Kernel::ALL.iter().filter(|kernel| kernel.takes_roots());
        for kernel in transforms {
            let blocks = kernel.bounds().unwrap()[1];
            for (same, blocks) in [(1, squares(blocks)), (2, blocks)] {
                let ptx = alone(kernel.entry_point(), Facts(same << SAME.at));
                assert!(
                    ptx.contains(&format!("{BLOCKS}{blocks}\n")),
                    "{}",
                    kernel.name
                );
            }
        }
    }

    #[test]
    fn kernels_are_told_what_they_ask_for() {
        let is_asked = |kernel: &&Kernel| {
            let mut kernels = module_of(kernel.entry_point()).split(ENTRY);
            let own = kernels.find(|own| own.starts_with(kernel.name));
            own.is_some_and(|own| own.contains(UNTOLD))
        };
        let asking: Vec<_> = Kernel::ALL.iter().filter(is_asked).collect();
        let of = |operation| {
            asking
                .iter()
                .filter(move |asking| asking.operation == operation)
        };
        assert_eq!(of(Operation::Mul).count(), 18);
        assert_eq!(of(Operation::PowMod).count(), 12);
        assert_eq!(of(Operation::Rem).count(), 5);
        for kernel in asking {
            let ptx = alone(kernel.entry_point(), Facts(0x1234));
            assert!(!ptx.contains("told") && ptx.contains(",4660;"));
        }
    }
}
