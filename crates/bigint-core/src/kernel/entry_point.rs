//! Entry points: the names by which kernels are launched.

/// The entry point of a kernel: its name, and the PTX module that it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EntryPoint {
    /// The name in the PTX.
    pub name: &'static str,
    /// The module, one of [`MODULES`](crate::modules::MODULES).
    pub module: &'static str,
}
