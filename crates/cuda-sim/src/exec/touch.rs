//! How a block touches a word of global memory, and the state that the word is in then.

pub(super) const READ_ONE: u64 = 1;
pub(super) const READ_MANY: u64 = 2;
pub(super) const WRITTEN: u64 = 3;
pub(super) const ATOMIC_ONE: u64 = 4;
pub(super) const ATOMIC_MANY: u64 = 5;
pub(super) const VOLATILE_ONE: u64 = 6;
pub(super) const VOLATILE_MANY: u64 = 7;

/// Whether several blocks touched a word in this state.
pub(super) fn is_of_many(state: u64) -> bool {
    matches!(state, READ_MANY | ATOMIC_MANY | VOLATILE_MANY)
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Touch {
    Read,
    /// A read of memory that the launch promises not to change.
    ReadOnly,
    Write,
    Atomic,
    /// Ordered with other blocks.
    OrderedRead,
    OrderedWrite,
    VolatileRead,
    VolatileWrite,
}

impl Touch {
    /// The state of a word that one block touches so.
    pub(super) fn state(self) -> u64 {
        match self {
            Touch::Read | Touch::ReadOnly => READ_ONE,
            Touch::Write => WRITTEN,
            Touch::Atomic | Touch::OrderedRead | Touch::OrderedWrite => ATOMIC_ONE,
            Touch::VolatileRead | Touch::VolatileWrite => VOLATILE_ONE,
        }
    }

    /// Whether it looks at what is there.
    pub(super) fn reads(self) -> bool {
        let writes = matches!(
            self,
            Touch::Write | Touch::OrderedWrite | Touch::VolatileWrite
        );
        !writes
    }

    /// The words of a report for it.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Touch::Read | Touch::ReadOnly => "read",
            Touch::Write => "written",
            Touch::Atomic => "changed atomically",
            Touch::OrderedRead => "read with an order",
            Touch::OrderedWrite => "written with an order",
            Touch::VolatileRead => "read by a volatile load",
            Touch::VolatileWrite => "written by a volatile store",
        }
    }
}

/// What two accesses of one block to a word amount to: a plain write stays one,
/// whatever the block reads or changes atomically besides.
pub(super) fn strongest(a: u64, b: u64) -> u64 {
    if a == WRITTEN || b == WRITTEN {
        WRITTEN
    } else {
        a.max(b)
    }
}
