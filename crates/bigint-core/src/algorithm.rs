//! How operations are computed, and by whom: the names of algorithms and levels.

/// The one of `$all` that has this name, at compile time: none ends the compilation.
macro_rules! named {
    ($all:expr, $name:expr) => {{
        let mut i = 0;
        while i < $all.len() && !$crate::algorithm::same($all[i].name(), $name) {
            i += 1;
        }
        assert!(i < $all.len(), "a declaration names what there is not");
        $all[i]
    }};
}
pub(crate) use named;

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
    /// propagate a carry decides every carry in one step [Langer 2015], [Bringgaard 2024].
    CarryLookahead,
    /// Every limb of the result by itself, from few limbs of the operands: what no carry
    /// runs through.
    Limbwise,
    /// What one pass over numbers finds out: limb after limb, or lanes at a time whose findings
    /// meet at the end.
    Scan,
    /// Multiplication by rows: one limb of `b` times all of `a`, added to the
    /// result [Langer 2015], [Carlessi and Kashani 2013]. Division by rows: one limb of the quotient
    /// times all of `b`, taken from what is left of `a` (Knuth).
    School,
    /// Multiplication by columns: all products of one weight summed before the
    /// column is written, once [Honda 2015].
    Comba,
    /// Euclid's algorithm with the quotients of the numbers' top digits, many at a time.
    Lehmer,
    /// The same with steps in integers, for devices that are slow with doubles.
    LehmerWords,
    /// Inverses by division steps, in constant time [Bernstein and Yang 2019].
    Divsteps,
    /// Multiplication by three products of half the width [Honda 2015], [Carlessi and Kashani 2013].
    Karatsuba,
    /// Multiplication by Toeplitz matrices of the one number's bytes, on tensor cores of a GPU.
    Toeplitz,
    /// Montgomery's product: a limb of `a` times `b` and a multiple of the modulus, in turns
    /// (coarsely integrated operand scanning, [Koç 1996]).
    Cios,
    /// Powers by windows of the exponent, in constant time: every window costs the same
    /// squares and a product with an entry of a table, all of which is read.
    Window,
    /// Powers by windows of the exponent, in time that depends on it.
    WindowVartime,
    /// Multiplication by a transform over the complex numbers in FP64, of digits so narrow
    /// that the rounded result is proved exact [Thall 2011].
    Fft,
    /// Multiplication by a transform over integers modulo three primes, of whole limbs.
    Ntt,
}

impl Algorithm {
    /// Every algorithm but [`Algorithm::Auto`].
    pub const NAMED: [Algorithm; 16] = [
        Algorithm::Ripple,
        Algorithm::CarryLookahead,
        Algorithm::Limbwise,
        Algorithm::Scan,
        Algorithm::School,
        Algorithm::Comba,
        Algorithm::Karatsuba,
        Algorithm::Toeplitz,
        Algorithm::Cios,
        Algorithm::Window,
        Algorithm::WindowVartime,
        Algorithm::Fft,
        Algorithm::Ntt,
        Algorithm::Lehmer,
        Algorithm::LehmerWords,
        Algorithm::Divsteps,
    ];

    /// The algorithm's name, as it stands in kernel names and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Auto => "auto",
            Algorithm::Ripple => "ripple",
            Algorithm::CarryLookahead => "carry_lookahead",
            Algorithm::Limbwise => "limbwise",
            Algorithm::Scan => "scan",
            Algorithm::School => "school",
            Algorithm::Comba => "comba",
            Algorithm::Karatsuba => "karatsuba",
            Algorithm::Toeplitz => "toeplitz",
            Algorithm::Cios => "cios",
            Algorithm::Window => "window",
            Algorithm::WindowVartime => "window_vartime",
            Algorithm::Fft => "fft",
            Algorithm::Ntt => "ntt",
            Algorithm::Lehmer => "lehmer",
            Algorithm::LehmerWords => "lehmer_words",
            Algorithm::Divsteps => "divsteps",
        }
    }

    /// The algorithm of this name in a declaration, which is read at compile time.
    pub(crate) const fn named(name: &str) -> Self {
        named!(Self::NAMED, name)
    }
}

/// Who works on one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Level {
    /// One GPU thread.
    Thread,
    /// 2, 4, 8, 16 or 32 lanes of a warp.
    Warp,
    /// A thread block.
    Block,
    /// The whole device, in several launches ([`transform::grid`](crate::transform::grid),
    /// [`transform::ntt`](crate::transform::ntt)).
    Grid,
}

impl Level {
    /// Every level.
    pub const ALL: [Level; 4] = [Level::Thread, Level::Warp, Level::Block, Level::Grid];

    /// The level's name.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Thread => "thread",
            Level::Warp => "warp",
            Level::Block => "block",
            Level::Grid => "grid",
        }
    }

    /// The level of this name in a declaration.
    pub(crate) const fn named(name: &str) -> Self {
        named!(Self::ALL, name)
    }
}

/// Threads in a block of every kernel, at most; but those at block level have as many as
/// work on a number.
pub const BLOCK: u32 = 128;

/// Whether two names are the same, at compile time.
pub(crate) const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}
