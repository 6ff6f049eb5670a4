//! How entry points are declared.

/// An entry point.
pub struct Symbol {
    /// The exported name of the function.
    pub name: &'static str,
    /// The address of the function.
    pub address: *const (),
    /// The address of its form for programs whose default stream is each thread's own.
    pub per_thread: Option<*const ()>,
}

/// Declares entry points. One expansion:
///
/// ```text
/// context fn cuStreamQuery + _ptsz(stream: Handle) |context| { ... }
/// // becomes
/// pub unsafe extern "C" fn cuStreamQuery(stream: Handle) -> Code {
///     call::context("cuStreamQuery", |context| { ... })
/// }
/// pub unsafe extern "C" fn cuStreamQuery_ptsz(stream: Handle) -> Code {
///     call::per_thread(|| cuStreamQuery(stream))
/// }
/// ```
///
/// The first word names the function that the body goes through, of the module `call` that
/// is in scope: the driver's or the runtime's;
/// `device(dev)` passes the parameter `dev` to it first.
macro_rules! entries {
    ($(
        $(#[$note:meta])*
        $kind:ident $(($first:ident))? fn $name:ident $(+ $suffix:ident)?
        ($($arg:ident: $type:ty),* $(,)?)
        |$($state:ident),*| $body:block
    )*) => {
        $(
            $(#[$note])*
            ///
            /// # Safety
            /// The contract of the CUDA driver or runtime API's function of this name.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($arg: $type),*) -> $crate::error::Code {
                call::$kind(
                    stringify!($name),
                    $($first,)?
                    move |$($state),*| -> $crate::error::Result { $body },
                )
            }
        )*
        /// The entry points of this module, and where they are.
        #[allow(dead_code, reason = "those of the runtime are not looked up by name")]
        pub const SYMBOLS: &[$crate::ffi::entries::Symbol] = &[$($crate::ffi::entries::Symbol {
            name: stringify!($name),
            address: $name as *const (),
            per_thread: $crate::ffi::entries::per_thread!(
                ($($arg: $type),*) $name $($suffix)?
            ),
        }),*];
    };
}
pub(crate) use entries;

/// The address of a function's form for programs whose default stream is each thread's
/// own, which it declares too; none if the function has no suffix for it.
macro_rules! per_thread {
    (($($arg:tt)*) $name:ident) => {
        None
    };
    (($($arg:ident: $type:ty),*) $name:ident $suffix:ident) => {{
        #[unsafe(export_name = concat!(stringify!($name), stringify!($suffix)))]
        unsafe extern "C" fn per_thread($($arg: $type),*) -> $crate::error::Code {
            // SAFETY: both forms have the same contract.
            $crate::ffi::call::per_thread(|| unsafe { $name($($arg),*) })
        }
        Some(per_thread as *const ())
    }};
}
pub(crate) use per_thread;
