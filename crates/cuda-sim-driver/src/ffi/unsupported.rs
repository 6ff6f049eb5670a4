//! Entry points of CUDA that the simulator has nothing behind: textures, surfaces,
//! other processes, memory of other APIs and more. They are exported, so that programs
//! which look everything up start, and answer that they are not supported.
//!
//! `build.rs` lists them: what `driver_functions.txt` and `runtime_functions.txt` name
//! and no other file of this folder defines.

use super::call;
use super::entries::Symbol;
use super::runtime::call::runtime_wide;
use crate::error::{Code, Result};

/// Declares them, by the name of their API's function of [`call`], each with its form
/// for programs whose default stream is each thread's own. The parameters are not
/// named: in the C calling convention of every platform with a CUDA driver, the caller
/// puts them away.
macro_rules! unsupported {
    ($($kind:ident $name:ident $($per_thread:ident)?;)*) => {
        $(
            /// Answers `CUDA_ERROR_NOT_SUPPORTED`.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> Code {
                $kind(stringify!($name))
            }
            $(
                /// Answers `CUDA_ERROR_NOT_SUPPORTED`.
                #[unsafe(no_mangle)]
                pub extern "C" fn $per_thread() -> Code {
                    $kind(stringify!($name))
                }
            )?
        )*
        /// The entry points of this module, and where they are.
        pub const SYMBOLS: &[Symbol] = &[$(Symbol {
            name: stringify!($name),
            address: $name as *const (),
            per_thread: [$($per_thread as *const ())?].as_slice().first().copied(),
        }),*];
    };
}

include!(concat!(env!("OUT_DIR"), "/unsupported.rs"));

fn driver(name: &'static str) -> Code {
    call::driver_wide(name, |_| refuse())
}

fn runtime(name: &'static str) -> Code {
    runtime_wide(name, refuse)
}

fn refuse() -> Result {
    Err(Code::NOT_SUPPORTED.because("the simulator has nothing behind it"))
}
