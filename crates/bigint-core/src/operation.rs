//! The names of operations, algorithms and levels. One name each, everywhere.

use crate::kernel::WARP_LANES;

/// An operation on two batches, number by number.
///
/// Every operation takes operands of any two widths and a result of any width
/// `w`: it computes the exact value modulo 2^(32 w). Exact forms are those whose
/// result is wide enough; wrapping forms choose a narrower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// `a + b`; reports the carry out of the result's top limb.
    Add,
    /// `a - b`; reports the borrow out of the result's top limb.
    Sub,
    /// `a * b`.
    Mul,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Operation; 3] = [Operation::Add, Operation::Sub, Operation::Mul];

    /// The operation's name: of its files, kernels, tests and benches.
    pub const fn name(self) -> &'static str {
        match self {
            Operation::Add => "add",
            Operation::Sub => "sub",
            Operation::Mul => "mul",
        }
    }

    /// Limbs that hold every result of operands of `n` and `m` limbs.
    ///
    /// A difference of unsigned numbers never needs more than the wider operand;
    /// where it is negative the operation reports a borrow.
    pub const fn exact_width(self, n: usize, m: usize) -> usize {
        let wider = if n > m { n } else { m };
        match self {
            Operation::Add => wider + 1,
            Operation::Sub => wider,
            Operation::Mul => n + m,
        }
    }

    /// Limbs of the wrapping form's result: as wide as the wider operand.
    pub const fn wrapping_width(self, n: usize, m: usize) -> usize {
        if n > m { n } else { m }
    }

    /// Whether `algorithm` computes this operation at some level.
    pub fn has(self, algorithm: Algorithm) -> bool {
        let mut levels = Level::ALL.iter();
        levels.any(|&level| self.algorithms(level).contains(&algorithm))
    }

    /// The algorithms that compute this operation at `level`.
    pub const fn algorithms(self, level: Level) -> &'static [Algorithm] {
        match (self, level) {
            (Operation::Add | Operation::Sub, Level::Thread) => &[Algorithm::Ripple],
            (Operation::Add | Operation::Sub, Level::Warp) => &[Algorithm::CarryLookahead],
            (Operation::Mul, _) => &[Algorithm::School, Algorithm::Comba, Algorithm::Karatsuba],
        }
    }

    /// The numbers of lanes that its kernels at `level` come in. Additions and
    /// subtractions at warp level take whole warps: their lanes share a stretch of
    /// limbs, whether that is of one number or of many.
    pub const fn lanes(self, level: Level) -> &'static [u32] {
        match (self, level) {
            (_, Level::Thread) => &[1],
            (Operation::Add | Operation::Sub, Level::Warp) => &[32],
            (Operation::Mul, Level::Warp) => &WARP_LANES,
        }
    }
}

/// How an operation is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// The fastest for these sizes on this machine, by the tuned thresholds.
    #[default]
    Auto,
    /// Addition, subtraction: limb after limb, the carry handed on.
    Ripple,
    /// Addition, subtraction: all limbs at once; which limbs generate and which
    /// propagate a carry decides every carry in one step (Langer, Bringgaard).
    CarryLookahead,
    /// Multiplication by rows: one limb of `b` times all of `a`, added to the
    /// result (Langer, Carlessi-Kashani).
    School,
    /// Multiplication by columns: all products of one weight summed before the
    /// column is written, once (Honda).
    Comba,
    /// Multiplication by three products of half the width (Honda,
    /// Carlessi-Kashani).
    Karatsuba,
}

impl Algorithm {
    /// Every algorithm but [`Algorithm::Auto`].
    pub const NAMED: [Algorithm; 5] = [
        Algorithm::Ripple,
        Algorithm::CarryLookahead,
        Algorithm::School,
        Algorithm::Comba,
        Algorithm::Karatsuba,
    ];

    /// Whether a worker computes a stretch of the limbs of all results, in place of
    /// whole numbers: the batch then is one row of limbs, a number's behind those of
    /// the number before.
    pub const fn takes_stretches(self) -> bool {
        matches!(self, Algorithm::CarryLookahead)
    }

    /// The algorithm's name, as it stands in kernel names and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Auto => "auto",
            Algorithm::Ripple => "ripple",
            Algorithm::CarryLookahead => "carry_lookahead",
            Algorithm::School => "school",
            Algorithm::Comba => "comba",
            Algorithm::Karatsuba => "karatsuba",
        }
    }
}

/// Who works on one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Level {
    /// One GPU thread.
    Thread,
    /// 4, 8, 16 or 32 lanes of a warp.
    Warp,
}

impl Level {
    /// Every level.
    pub const ALL: [Level; 2] = [Level::Thread, Level::Warp];

    /// The level's name.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Thread => "thread",
            Level::Warp => "warp",
        }
    }
}
