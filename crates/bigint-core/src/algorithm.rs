//! The names of algorithms (how an operation is computed) and of levels (who computes it).

/// The element of `$all` whose name is `$name`, found at compile time. If there is none,
/// compilation fails.
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
    /// The fastest algorithm for the operands' sizes on this machine, chosen by the tuned
    /// thresholds.
    #[default]
    Auto,
    /// As [`Algorithm::Auto`], where anybody may know the exponents of powers: their time may depend on them.
    AutoVartime,
    /// Addition or subtraction limb after limb, each handing its carry to the next.
    Ripple,
    /// Addition or subtraction of all limbs at once: the limbs that generate a carry and those that
    /// propagate one decide every carry in one step [Langer 2015], [Bringgaard 2024].
    CarryLookahead,
    /// Each limb of the result computed by itself, from a few limbs of the operands. It serves
    /// operations without carries.
    Limbwise,
    /// One pass over the numbers: a thread goes limb after limb, or lanes go over parts of a number
    /// and combine what they found at the end.
    Scan,
    /// Multiplication by rows: one limb of `b` times all of `a` is added to the result [Langer
    /// 2015], [Carlessi and Kashani 2013]. Division by rows: one limb of the quotient times all of
    /// `b` is subtracted from what is left of `a` [Knuth 1997].
    School,
    /// Multiplication by columns: all products of one weight are summed, then the column is written
    /// once [Honda 2015].
    Comba,
    /// Lehmer's form of Euclid's algorithm: the numbers' top digits yield many quotients, which are
    /// applied to the whole numbers at once.
    Lehmer,
    /// Lehmer's algorithm with its steps computed in integers, for devices on which doubles are
    /// slow.
    LehmerWords,
    /// Modular inverses by division steps, in constant time [Bernstein and Yang 2019].
    Divsteps,
    /// Multiplication by three products of half the width [Honda 2015], [Carlessi and Kashani 2013].
    Karatsuba,
    /// Multiplication by Toeplitz matrices made of one number's bytes, on the tensor cores of a
    /// GPU.
    Toeplitz,
    /// Montgomery's product: adding a limb of `a` times `b` alternates with adding a multiple of
    /// the modulus (coarsely integrated operand scanning, [Koç 1996]).
    Cios,
    /// Powers by windows of the exponent, in constant time: every window costs the same number of
    /// squares and one product with an entry of a table, and the whole table is read to pick it.
    Window,
    /// Powers by windows of the exponent, in a time that depends on the exponent.
    WindowVartime,
    /// Multiplication by a transform over the complex numbers in FP64. Its digits are so narrow
    /// that the rounded result is proved exact [Thall 2011].
    Fft,
    /// Multiplication by a transform of whole limbs, over the integers modulo three primes.
    Ntt,
    /// Powers in residue number systems, on tensor cores of a GPU, in constant time
    /// [Kawamura 2000]; by windows where [these](crate::rns) do not take numbers.
    Rns,
    /// The same in time that depends on the exponent.
    RnsVartime,
}

impl Algorithm {
    /// Every algorithm but [`Algorithm::Auto`] and [`Algorithm::AutoVartime`], which choose one.
    pub const NAMED: [Algorithm; 18] = [
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
        Algorithm::Rns,
        Algorithm::RnsVartime,
        Algorithm::Lehmer,
        Algorithm::LehmerWords,
        Algorithm::Divsteps,
    ];

    /// The algorithm's name, as it stands in kernel names and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Auto => "auto",
            Algorithm::AutoVartime => "auto_vartime",
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
            Algorithm::Rns => "rns",
            Algorithm::RnsVartime => "rns_vartime",
            Algorithm::Lehmer => "lehmer",
            Algorithm::LehmerWords => "lehmer_words",
            Algorithm::Divsteps => "divsteps",
        }
    }

    /// The algorithm that a declaration calls `name`, looked up at compile time.
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
    /// [`transform::ntt`](crate::transform::ntt), [`rns`](crate::rns)).
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

    /// The level that a declaration calls `name`, looked up at compile time.
    pub(crate) const fn named(name: &str) -> Self {
        named!(Self::ALL, name)
    }
}

/// The most threads in a block of any kernel below block level. A block of a kernel at block level
/// has as many threads as work on its numbers.
pub const BLOCK: u32 = 128;

/// Whether two names are equal, decided at compile time.
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
