//! The entry points, by subject. Each is a C function of the CUDA driver API,
//! or in [`runtime`] of the CUDA runtime API, with that API's contract; what they share is in [`call`], how they read and write
//! the caller's memory in [`raw`].

// An exported C symbol is an unsafe attribute; the bodies are safe code.
#![allow(unsafe_code)]
// The names are NVIDIA's.
#![allow(non_snake_case)]

pub mod call;
pub mod raw;

mod contexts;
mod copies;
mod devices;
mod graphs;
mod launches;
mod libraries;
mod linkers;
mod memories;
mod modules;
mod pools;
pub mod runtime;
mod streams;
mod symbols;
mod unsupported;

/// Declares entry points. One expansion:
///
/// ```text
/// context fn cuCtxSynchronize() |context| { context.synchronize() }
/// // becomes
/// pub unsafe extern "C" fn cuCtxSynchronize() -> Code {
///     call::context("cuCtxSynchronize", |context| { context.synchronize() })
/// }
/// ```
///
/// The first word names the function of [`call`] that the body goes through;
/// `device(dev)` passes the parameter `dev` to it first.
macro_rules! entries {
    ($(
        $(#[$note:meta])*
        $kind:ident $(($first:ident))? fn $name:ident($($arg:ident: $type:ty),* $(,)?)
        |$($state:ident),*| $body:block
    )*) => {
        $(
            $(#[$note])*
            ///
            /// # Safety
            /// The contract of the CUDA driver or runtime API's function of this name.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($arg: $type),*) -> $crate::error::Code {
                $crate::ffi::call::$kind(
                    stringify!($name),
                    $($first,)?
                    move |$($state),*| -> $crate::error::Result { $body },
                )
            }
        )*
        /// The entry points of this module, and where they are.
        pub const SYMBOLS: &[$crate::ffi::Symbol] =
            &[$((stringify!($name), $name as *const ())),*];
    };
}
pub(crate) use entries;

/// An entry point's name and address.
pub type Symbol = (&'static str, *const ());

/// The address of the function that the library exports under this name.
pub fn address(name: &str) -> Option<*const ()> {
    [
        contexts::SYMBOLS,
        copies::SYMBOLS,
        devices::SYMBOLS,
        graphs::SYMBOLS,
        launches::SYMBOLS,
        libraries::SYMBOLS,
        linkers::SYMBOLS,
        memories::SYMBOLS,
        modules::SYMBOLS,
        pools::SYMBOLS,
        runtime::copies::SYMBOLS,
        runtime::devices::SYMBOLS,
        runtime::errors::SYMBOLS,
        runtime::launches::SYMBOLS,
        runtime::same::SYMBOLS,
        streams::SYMBOLS,
        symbols::SYMBOLS,
        unsupported::SYMBOLS,
    ]
    .iter()
    .find_map(|symbols| symbols.iter().find(|(known, _)| *known == name))
    .map(|(_, address)| *address)
}

/// Whether the library exports a function of this name.
pub fn exists(name: &str) -> bool {
    address(name).is_some()
}
