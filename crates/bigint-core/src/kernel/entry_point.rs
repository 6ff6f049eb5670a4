//! What a launch names.

/// Something that can be launched: its name and the PTX module it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EntryPoint {
    /// The name in the PTX.
    pub name: &'static str,
    /// The module, one of [`MODULES`](crate::modules::MODULES).
    pub module: &'static str,
}
