//! The entry points, by subject. Each is a C function of the CUDA driver API with
//! that API's contract; what they share is in [`call`], how they read and write
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
mod launches;
mod memories;
mod modules;
mod streams;
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
            /// The contract of the CUDA driver API's function of this name.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($arg: $type),*) -> $crate::error::Code {
                $crate::ffi::call::$kind(
                    stringify!($name),
                    $($first,)?
                    move |$($state),*| -> $crate::error::Result { $body },
                )
            }
        )*
        /// The entry points of this module.
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}
pub(crate) use entries;

/// Whether the library exports a function of this name.
pub fn exists(name: &str) -> bool {
    [
        contexts::NAMES,
        copies::NAMES,
        devices::NAMES,
        launches::NAMES,
        memories::NAMES,
        modules::NAMES,
        streams::NAMES,
        unsupported::NAMES,
    ]
    .iter()
    .any(|names| names.contains(&name))
}
