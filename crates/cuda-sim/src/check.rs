//! Which mistakes the simulator looks for, and what it says when it finds one.

use std::fmt;
use std::str::FromStr;

/// The checks of a device. Those that cannot be switched off (misaligned
/// accesses, addresses that belong to no allocation, launch limits, traps) have
/// no field here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Accesses are held to the exact end of an allocation or variable. When off,
    /// global accesses are held to the 256-byte granule that it ends in, as on a GPU.
    pub bounds: bool,
    /// Using a register, or a byte of global, shared or local memory, that nothing has
    /// written: for a branch or a predicate, an address, an atomic operation, or what
    /// other lanes see. Loads, stores, copies and arithmetic carry the property along
    /// instead of faulting, since compilers copy padding and undefined values.
    pub uninitialised: bool,
    /// Unordered accesses by different threads to the same bytes of shared or
    /// global memory, of which at least one writes and not both are atomic;
    /// `ld.global.nc` of what the launch wrote.
    pub races: bool,
    /// Barriers that part of a warp or block does not reach.
    pub barriers: bool,
    /// Shuffles that read from lanes that do not take part, and warp-wide
    /// operations that their own lane is not a member of.
    pub shuffles: bool,
    /// `addc`, `subc` and `madc` where nothing in the function has set the carry flag.
    pub carry: bool,
}

impl Checks {
    /// Every check.
    pub const ALL: Checks = Checks {
        bounds: true,
        uninitialised: true,
        races: true,
        barriers: true,
        shuffles: true,
        carry: true,
    };
    /// No check that can be switched off.
    pub const NONE: Checks = Checks {
        bounds: false,
        uninitialised: false,
        races: false,
        barriers: false,
        shuffles: false,
        carry: false,
    };
}

impl FromStr for Checks {
    type Err = String;

    /// `all`, `none`, or names of fields with commas between.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => return Ok(Checks::ALL),
            "none" => return Ok(Checks::NONE),
            _ => {}
        }
        let mut checks = Checks::NONE;
        for name in text.split(',').map(str::trim) {
            let check = match name {
                "bounds" => &mut checks.bounds,
                "uninitialised" => &mut checks.uninitialised,
                "races" => &mut checks.races,
                "barriers" => &mut checks.barriers,
                "shuffles" => &mut checks.shuffles,
                "carry" => &mut checks.carry,
                _ => {
                    return Err(format!(
                        "`{name}` is not a check; there are all, none, or of bounds, \
                         uninitialised, races, barriers, shuffles, carry those wanted"
                    ));
                }
            };
            *check = true;
        }
        Ok(checks)
    }
}

impl Default for Checks {
    fn default() -> Self {
        Checks::ALL
    }
}

/// What kind of mistake a [`Fault`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// An access outside every allocation or variable of its space.
    OutOfBounds,
    /// An address that is not a multiple of the access's size.
    Misaligned,
    /// A write to constant memory or to a kernel's parameters.
    ReadOnly,
    /// A register used that nothing had written.
    UninitialisedRegister,
    /// A byte of memory used that nothing had written.
    UninitialisedMemory,
    /// Two threads of a block, unordered, on the same bytes of shared memory.
    SharedRace,
    /// Two blocks, or two threads of a block, unordered, on the same bytes of
    /// global memory.
    GlobalRace,
    /// A read through the cache for memory that the launch does not change, of what
    /// the launch has changed.
    StaleRead,
    /// A barrier that some threads of the warp or block do not reach.
    BarrierDivergence,
    /// Every remaining thread waits for one that never comes.
    Deadlock,
    /// A shuffle that reads from a lane which does not take part, or a warp-wide
    /// operation whose member mask does not fit the lanes that execute it.
    InactiveLane,
    /// A carry consumed that nothing set.
    CarryNotSet,
    /// The kernel executed `trap` (in Rust kernels: a failed check or a panic).
    Trap,
    /// A launch larger than the architecture allows.
    LaunchTooLarge,
    /// A launch of a kernel that does not exist, or with parameters of the wrong size.
    InvalidLaunch,
    /// An instruction that the simulator does not know was to be executed.
    Unknown,
    /// A block executed more instructions than the device's budget.
    InstructionBudget,
    /// Calls nest deeper than local memory allows.
    StackOverflow,
    /// A jump table or a function pointer was given a value it does not have.
    InvalidTarget,
    /// An operand outside the range that PTX defines.
    InvalidOperand,
}

impl FaultKind {
    /// The mistake in a few words.
    pub const fn describe(self) -> &'static str {
        match self {
            FaultKind::OutOfBounds => "access out of bounds",
            FaultKind::Misaligned => "misaligned access",
            FaultKind::ReadOnly => "write to read-only memory",
            FaultKind::UninitialisedRegister => "use of an uninitialised register",
            FaultKind::UninitialisedMemory => "use of uninitialised memory",
            FaultKind::SharedRace => "race in shared memory",
            FaultKind::GlobalRace => "race in global memory",
            FaultKind::StaleRead => "read-only load of what the launch wrote",
            FaultKind::BarrierDivergence => "barrier not reached by every thread",
            FaultKind::Deadlock => "deadlock",
            FaultKind::InactiveLane => "warp-wide operation with inactive lanes",
            FaultKind::CarryNotSet => "carry flag consumed that nothing set",
            FaultKind::Trap => "trap",
            FaultKind::LaunchTooLarge => "launch larger than the architecture allows",
            FaultKind::InvalidLaunch => "invalid launch",
            FaultKind::Unknown => "the simulator does not know what the kernel does",
            FaultKind::InstructionBudget => "instruction budget spent",
            FaultKind::StackOverflow => "call stack overflow",
            FaultKind::InvalidTarget => "invalid jump or call target",
            FaultKind::InvalidOperand => "operand out of range",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.describe())
    }
}

/// A line of the program that PTX was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The file, as `.file` names it.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line)
    }
}

/// A mistake in a kernel, a launch or a host access: what, where, who.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What kind of mistake.
    pub kind: FaultKind,
    /// The kernel that was running; empty for an access of the host.
    pub kernel: String,
    /// Line of the instruction in the PTX source, counted from 1; 0 where no
    /// instruction is at fault.
    pub line: u32,
    /// The line of the program that it was made from, where `.loc` says so.
    pub source: Option<Box<SourceLine>>,
    /// The block, as `%ctaid`.
    pub block: [u32; 3],
    /// The thread within the block, as `%tid`: the lowest one at fault.
    pub thread: [u32; 3],
    /// The address, where memory is concerned: a device address, or an offset
    /// into shared or local memory as the detail says.
    pub address: Option<u64>,
    /// The particulars, as part of a sentence.
    pub detail: String,
}

impl Fault {
    pub(crate) fn of_host(kind: FaultKind, address: Option<u64>, detail: String) -> Self {
        Fault {
            kind,
            kernel: String::new(),
            line: 0,
            source: None,
            block: [0; 3],
            thread: [0; 3],
            address,
            detail,
        }
    }

    pub(crate) fn of_launch(kind: FaultKind, kernel: &str, detail: String) -> Self {
        Fault {
            kernel: kernel.to_owned(),
            ..Fault::of_host(kind, None, detail)
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.kind)?;
        if !self.detail.is_empty() {
            write!(formatter, ": {}", self.detail)?;
        }
        if let Some(address) = self.address {
            write!(formatter, ", address {address:#x}")?;
        }
        if self.kernel.is_empty() {
            return write!(formatter, ", by the host");
        }
        write!(formatter, ", in kernel {}", self.kernel)?;
        if self.line != 0 {
            let [bx, by, bz] = self.block;
            let [tx, ty, tz] = self.thread;
            match &self.source {
                Some(source) => write!(formatter, " at {source} (PTX line {})", self.line)?,
                None => write!(formatter, " at PTX line {}", self.line)?,
            }
            write!(
                formatter,
                ", block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz})"
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}
