//! What a launch did, counted exactly: the same numbers on every machine.
//!
//! **Instructions** are PTX instructions, counted once per warp that issues them
//! (`warp_instructions`) and once per lane that takes part (`lane_instructions`).
//! An instruction whose guard is false in every lane is issued and has no lanes.
//!
//! **Multiply-adds** are 32x32->64-bit products, the scarce unit of integer
//! kernels, per lane. `mul.wide` and `mad.wide` of 32-bit factors are one. A
//! `lo` and a `hi` instruction on the same two registers (neither rewritten in
//! between, in the same basic block) are the two halves of one. A `hi` alone is
//! one. A `lo` alone needs no high half and is counted apart, in
//! `multiply_lows`. 64-bit multiplications count as they lower to 32-bit ones:
//! `mul.lo` and `mad.lo` one wide and two low products, `mul.hi` four wide
//! ones, and a `lo`/`hi` pair on the same registers four.
//!
//! **Matrix multiply-adds** are those of `mma.sync` and `wgmma`, of bytes or of doubles: rows times columns times what
//! is summed, for each warp that issues one.
//!
//! **Sectors** are the aligned 32-byte pieces of global memory that each warp
//! instruction touches, and beside them the fewest that could hold the distinct
//! bytes it asked for. Those that move are counted as well: of loads what is not in the
//! first-level cache, of stores what the second does not have from one before, in as
//! much of both as a warp has on every chip of the architecture (`exec/sectors.rs` has
//! the rule).
//!
//! **Wavefronts** are the passes that shared memory needs for a warp
//! instruction: 32 banks of 4 bytes, one word per bank and pass, the same word
//! to any number of lanes; 8- and 16-byte accesses go by half and quarter warps.

use std::ops::AddAssign;

/// Classes of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Class {
    /// Integer addition, subtraction, comparison, minimum, bit operations.
    Integer,
    /// Integer multiplication, with or without addition.
    Multiply,
    /// Integer division and remainder.
    Divide,
    /// Floating-point arithmetic and comparison.
    Float,
    /// Conversions between types and between address spaces.
    Convert,
    /// Moves and selections.
    Move,
    /// Loads and stores of global and constant memory, and generic ones.
    Global,
    /// Loads and stores of shared memory.
    Shared,
    /// Loads and stores of local memory.
    Local,
    /// Loads and stores of parameters.
    Param,
    /// Atomic operations in any space.
    Atomic,
    /// Products of matrices that a warp holds.
    Matrix,
    /// Shuffles, votes, matches and reductions across a warp.
    Warp,
    /// Barriers and fences.
    Barrier,
    /// Branches, calls, returns and exits.
    Control,
}

impl Class {
    /// Every class, in the order of [`Counts::classes`].
    pub const ALL: [Class; 15] = [
        Class::Integer,
        Class::Multiply,
        Class::Divide,
        Class::Float,
        Class::Convert,
        Class::Move,
        Class::Global,
        Class::Shared,
        Class::Local,
        Class::Param,
        Class::Atomic,
        Class::Matrix,
        Class::Warp,
        Class::Barrier,
        Class::Control,
    ];

    /// The class in one word.
    pub const fn name(self) -> &'static str {
        match self {
            Class::Integer => "integer",
            Class::Multiply => "multiply",
            Class::Divide => "divide",
            Class::Float => "float",
            Class::Convert => "convert",
            Class::Move => "move",
            Class::Global => "global",
            Class::Shared => "shared",
            Class::Local => "local",
            Class::Param => "param",
            Class::Atomic => "atomic",
            Class::Matrix => "matrix",
            Class::Warp => "warp",
            Class::Barrier => "barrier",
            Class::Control => "control",
        }
    }
}

/// Instructions of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Issued {
    /// Times that a warp issued one.
    pub warps: u64,
    /// Lanes that took part, over all of them.
    pub lanes: u64,
}

/// What a launch did. See the [module documentation](self) for the rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instructions by class, in the order of [`Class::ALL`].
    pub classes: [Issued; Class::ALL.len()],
    /// 32x32->64-bit multiply-adds.
    pub multiply_adds: u64,
    /// 32x32->32-bit multiply-adds: only the low half was asked for.
    pub multiply_lows: u64,
    /// Multiply-adds of `mma.sync` and `wgmma`.
    pub matrix_multiply_adds: u64,
    /// 32-byte sectors of global memory touched by loads and atomics.
    pub load_sectors: u64,
    /// Load sectors that the first-level cache does not have.
    pub load_sectors_moved: u64,
    /// The fewest sectors that could have held the bytes loaded.
    pub load_sectors_fewest: u64,
    /// 32-byte sectors of global memory touched by stores.
    pub store_sectors: u64,
    /// Store sectors that the second-level cache does not have from earlier stores.
    pub store_sectors_moved: u64,
    /// The fewest sectors that could have held the bytes stored.
    pub store_sectors_fewest: u64,
    /// Passes of shared memory.
    pub shared_wavefronts: u64,
    /// The fewest passes that the same accesses need without bank conflicts.
    pub shared_wavefronts_fewest: u64,
    /// Conditional branches issued by warps.
    pub branches: u64,
    /// Branches at which the lanes of the warp parted.
    pub divergent_branches: u64,
    /// Block-wide barriers completed.
    pub barriers: u64,
    /// A digest of what every warp executed: its instructions one after the other, the lanes
    /// that took part in each, and the addresses of each access; 0 where the device does
    /// not trace. Launches that differ in one of these differ in it, but for one chance in
    /// 2^64. It does not depend on the order of warps and blocks.
    pub trace: u64,
}

impl Counts {
    /// The instructions of one class.
    pub fn class(&self, class: Class) -> Issued {
        self.classes[class as usize]
    }

    /// Instructions issued by warps.
    pub fn warp_instructions(&self) -> u64 {
        self.classes.iter().map(|issued| issued.warps).sum()
    }

    /// Instructions times the lanes that took part.
    pub fn lane_instructions(&self) -> u64 {
        self.classes.iter().map(|issued| issued.lanes).sum()
    }

    /// The mean share of active lanes, from 1/32 to 1; 1 where nothing ran.
    pub fn active_lanes(&self) -> f64 {
        match self.warp_instructions() {
            0 => 1.0,
            warps => self.lane_instructions() as f64 / (32 * warps) as f64,
        }
    }

    /// 32-byte sectors of global memory that moved.
    pub fn sectors_moved(&self) -> u64 {
        self.load_sectors_moved + self.store_sectors_moved
    }

    /// Passes of shared memory beyond the fewest possible.
    pub fn bank_conflicts(&self) -> u64 {
        self.shared_wavefronts - self.shared_wavefronts_fewest
    }

    /// What is counted apart from instruction classes, by name.
    pub fn totals(&self) -> [(&'static str, u64); 16] {
        [
            ("warp_instructions", self.warp_instructions()),
            ("lane_instructions", self.lane_instructions()),
            ("multiply_adds", self.multiply_adds),
            ("multiply_lows", self.multiply_lows),
            ("matrix_multiply_adds", self.matrix_multiply_adds),
            ("load_sectors", self.load_sectors),
            ("load_sectors_moved", self.load_sectors_moved),
            ("load_sectors_fewest", self.load_sectors_fewest),
            ("store_sectors", self.store_sectors),
            ("store_sectors_moved", self.store_sectors_moved),
            ("store_sectors_fewest", self.store_sectors_fewest),
            ("shared_wavefronts", self.shared_wavefronts),
            ("shared_wavefronts_fewest", self.shared_wavefronts_fewest),
            ("branches", self.branches),
            ("divergent_branches", self.divergent_branches),
            ("barriers", self.barriers),
        ]
    }
}

impl AddAssign<&Counts> for Counts {
    fn add_assign(&mut self, other: &Counts) {
        for (sum, issued) in self.classes.iter_mut().zip(&other.classes) {
            sum.warps += issued.warps;
            sum.lanes += issued.lanes;
        }
        self.multiply_adds += other.multiply_adds;
        self.multiply_lows += other.multiply_lows;
        self.matrix_multiply_adds += other.matrix_multiply_adds;
        self.load_sectors += other.load_sectors;
        self.load_sectors_moved += other.load_sectors_moved;
        self.load_sectors_fewest += other.load_sectors_fewest;
        self.store_sectors += other.store_sectors;
        self.store_sectors_moved += other.store_sectors_moved;
        self.store_sectors_fewest += other.store_sectors_fewest;
        self.shared_wavefronts += other.shared_wavefronts;
        self.shared_wavefronts_fewest += other.shared_wavefronts_fewest;
        self.branches += other.branches;
        self.divergent_branches += other.divergent_branches;
        self.barriers += other.barriers;
        self.trace = self.trace.wrapping_add(other.trace);
    }
}
