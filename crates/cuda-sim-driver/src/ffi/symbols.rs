//! Entry points by name: what programs that link nothing look everything up with.

use super::call;
use super::entries::{Symbol, entries};
use super::raw::{Out, Text};
use super::{captures, contexts, copies, devices, fills, first, graphs, launches, libraries};
use super::{linkers, memories, modules, pools, streams, unsupported};
use crate::environment::environment;
use crate::environment::version::DriverVersion;
use crate::error::{Code, Result};

entries! {
    bare fn cuGetProcAddress(symbol: Text, function: Out<*const ()>, version: i32, flags: u64) | | {
        look_up(symbol, &function, version, flags).map_err(|_| Code::NOT_FOUND)
    }

    bare fn cuGetProcAddress_v2(
        symbol: Text,
        function: Out<*const ()>,
        version: i32,
        flags: u64,
        status: Out<u32>,
    ) | | {
        function.check()?;
        let found = look_up(symbol, &function, version, flags);
        status.set_if_asked(match found {
            Ok(()) => 0,
            Err(missing) => missing as u32,
        });
        found.map_err(|_| Code::NOT_FOUND)
    }
}

/// The entry points of the driver API, by file.
const ALL: &[&[Symbol]] = &[
    SYMBOLS,
    captures::SYMBOLS,
    contexts::SYMBOLS,
    copies::SYMBOLS,
    devices::SYMBOLS,
    fills::SYMBOLS,
    first::SYMBOLS,
    graphs::SYMBOLS,
    launches::SYMBOLS,
    libraries::SYMBOLS,
    linkers::SYMBOLS,
    memories::SYMBOLS,
    modules::SYMBOLS,
    pools::SYMBOLS,
    streams::SYMBOLS,
    unsupported::SYMBOLS,
];

/// A `CUdriverProcAddressQueryResult` other than success.
#[derive(Clone, Copy)]
enum Missing {
    Symbol = 1,
    Version = 2,
}

/// The driver's functions, each with the CUDA version that brought it and, where it has
/// one, the suffix of its form for programs whose default stream is each thread's own.
const FUNCTIONS: &str = include_str!("driver_functions.txt");
/// `CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM`.
pub const PER_THREAD: u64 = 2;

/// The newest form of a function that a program of a CUDA version knows.
fn look_up(
    symbol: Text,
    function: &Out<*const ()>,
    version: i32,
    flags: u64,
) -> Result<(), Missing> {
    function.set_if_asked(std::ptr::null());
    let name = symbol.string().map_err(|_| Missing::Symbol)?;
    let newest = environment().map_or(version, |environment| environment.version.0);
    let newest = newest.min(version);
    let mut forms: Vec<(i32, &str)> = FUNCTIONS
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            let form = words.next().filter(|form| is_form(form, &name))?;
            Some((words.next()?.parse().ok()?, form))
        })
        .collect();
    forms.sort_unstable();
    let fits = forms.iter().rfind(|(since, _)| *since <= newest);
    let Some((_, form)) = fits else {
        let why = format!("CUDA {} has no function '{name}'", DriverVersion(newest));
        let _ = Code::NOT_FOUND.because(why);
        return Err(if forms.is_empty() {
            Missing::Symbol
        } else {
            Missing::Version
        });
    };
    // The name passed on to another function.
    let form = match *form {
        "cuGraphInstantiate_v2" if newest >= 12000 => "cuGraphInstantiateWithFlags",
        form => form,
    };
    let mut all = ALL.iter().copied().flatten();
    let found = all
        .find(|symbol| symbol.name == form)
        .ok_or(Missing::Symbol)?;
    let per_thread = found.per_thread.filter(|_| flags & PER_THREAD != 0);
    function.set_if_asked(per_thread.unwrap_or(found.address));
    Ok(())
}

/// Whether a function's name is another's, or that with a version.
fn is_form(form: &str, name: &str) -> bool {
    form.strip_prefix(name).is_some_and(|rest| {
        let number = rest.strip_prefix("_v").map(str::parse::<u32>);
        rest.is_empty() || matches!(number, Some(Ok(_)))
    })
}
