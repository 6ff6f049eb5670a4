//! Powers in residue number systems on tensor cores, as host and device agree on them
//! [Kawamura 2000].
//!
//! **Maths.** A number `x` is its residues modulo the `C` primes `m[i]` of one base and the `C` primes
//! `u[j]` of another, all just below 2^30; `M` and `U` are the bases' products. A product is one
//! modulo each prime. Montgomery's product modulo `n` is `(x y + q n) / M` with `q = -x y / n mod M`:
//!
//! ```text
//! first base    xi[i] = x[i] y[i] k[i] mod m[i],     k[i] = -1/n / (M/m[i])      q = sum of xi[i] M/m[i]
//! second base   z[j]  = x[j] y[j] / M + n (sum of xi[i] / m[i]) mod u[j]
//! first again   z[i]  = sum of rho[j] U/u[j] - alpha U mod m[i],   rho[j] = z[j] / (U/u[j]) mod u[j]
//! ```
//!
//! Both sums are products by matrices that depend on the primes alone: the same for all numbers and
//! all moduli. They are products of bytes: a residue has four, and each entry of a matrix stands there
//! four times, times 2^8 each time, as four digits, the lower three balanced. A residue of the second base is kept as
//! `rho`, so that what leaves one matrix enters the next.
//!
//! By hand, modulo 7 in bases {3, 5} and {2, 11}, `M` = 15: 4 times 5, both in Montgomery's form. `q` =
//! -20/7 mod 15 is 10, as 7 10 = 70 = -20 + 90; (20 + 70) / 15 = 6, and 6 15 = 90 = 20 mod 7.
//!
//! **Bounds.** Residues have 32 bits, `xi` is below twice its prime, and none is ever compared. `q` is not corrected: it is
//! below `2 C M`. So `x, y < b n` with `b = 2 C + 1` give `z < n (b^2 n / M + 2 C) < b n` where
//! `M > 2 n b^2`. `alpha` is the sum of `rho[j] / u[j]` but for `z / U < 2^-8`, and comes from the
//! bits of each `rho[j]` from the 14th on, rounded. What the four sums of a residue make, `S`, is never negative, as
//! two bytes add a multiple of the prime, and `S - floor(S / 2^30) p` is the residue, below `3 F / 4` with `F` = 2^32; a test
//! adds up every column. Then `rho' = (rho^2 c + q n) / F` is below `F`: no more than `(2 + 3/4) F^2 / 4` is divided, and less
//! than a prime is added.
//!
//! **Tiles.** Numbers go by sixteen, and primes by eight, a *pair* of groups of four. A unit is the
//! four words that a lane has of both: with `g = lane / 4`, `q = lane % 4`
//!
//! ```text
//! word    0                   1                       2                       3
//!         prime 8 p + q,      8 p + q,                8 p + 4 + q,            8 p + 4 + q,
//!         number g            number g + 8            number g                number g + 8
//! ```
//!
//! which is what a lane gives `mma.sync` of the left factor. Columns of a matrix are in such an order
//! that it gets the four digits' sums of its own primes back: nothing is shuffled. The last of the
//! `8 P` primes is none: its word carries `alpha` and two bytes 255.
//!
//! **Launches**: [`RADIX`] makes `M^2 mod n` of each modulus, [`RESIDUES`] units of numbers, moduli and
//! those squares, one of [`WARPS`] or [`WARPGROUPS`] the powers, by windows with a table that is read whole where time must tell
//! nothing, and [`LIMBS`] limbs below the modulus.
//!
//! **Pairs of powers** `a^x b^y` share their squares, and have one table of all `a^i b^j` [Straus 1964]: a window costs
//! one product, as that of a power does.
//!
//! **Fixed bases.** The powers `g^(d 2^(w i))` of one base for all windows `i` and digits `d` are a table for all numbers, and a
//! window costs one product, without squares. [`BASE`] makes it, once, of a table in Montgomery's form of limbs, for `R` = 2^(32 n).
//! Each product so is `R / M` times too much: of `W` windows, chains begin with `M^2 (M/R)^W` in the place of `M^2`.
//!
//! **Moduli without an inverse.** `1/n` takes an `n` that shares no factor with `M`. [`RESIDUES`] marks the others, whose
//! numbers are computed apart, by bases that have changed places ([`RnsPlan::spare`]).

mod chain;
mod fill;
mod stages;

pub use chain::{CHAIN, Instruction};
pub use stages::{MOST_JOINED, SCANNED, Stages};

use crate::kernel::{EntryPoint, Launch, MatrixArgument, TABLE_WINDOW, power_window};

/// The module that has the kernels, which need tensor cores.
pub const RNS_MODULE: &str = "rns";

/// `M^2` modulo each modulus.
pub const RADIX: EntryPoint = entry("rns_radix");

/// Limbs to residues.
pub const RESIDUES: EntryPoint = entry("rns_residues");

/// The table of a base.
pub const BASE: EntryPoint = entry("rns_base");

/// Residues to limbs.
pub const LIMBS: EntryPoint = entry("rns_limbs");

const fn entry(name: &'static str) -> EntryPoint {
    EntryPoint {
        name,
        module: RNS_MODULE,
    }
}

/// The only compute capability whose warpgroups have instructions of their own.
pub const WARPGROUPS_CAPABILITY: (u32, u32) = (9, 0);

/// The head of the PTX of kernels for them: version and target. Each is a module by itself, as a driver takes
/// long to compile one.
pub const WARPGROUPS_PTX: [&str; 2] = [".version 8.4", ".target sm_90a"];

/// A kernel that computes powers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// The kernel.
    pub entry: EntryPoint,
    /// Pairs of groups of primes.
    pub pairs: u32,
    /// Threads of a block that compute: as many as registers leave.
    pub threads: u32,
    /// The same where [`READERS`] read tables whole for them; 0 where they always do so themselves.
    pub beside_readers: u32,
    /// The most pairs whose columns of a matrix are multiplied at once, by a warpgroup; none where a warp does it.
    pub columns: u32,
    /// Bits of a window of the exponent where its table is read whole, which memory bounds.
    pub window: u32,
    /// Windows of which readers choose the entries in one reading.
    pub at_once: u32,
}

impl Form {
    /// That of [`WARPGROUPS`] for at least so many pairs.
    pub const fn of_warpgroups(pairs: u32) -> Form {
        Form::among(&WARPGROUPS, pairs)
    }

    /// The first of forms for at least so many pairs.
    const fn among(forms: &[Form], pairs: u32) -> Form {
        let mut form = 0;
        while forms[form].pairs < pairs {
            form += 1;
        }
        forms[form]
    }

    /// Whether readers read tables for the others.
    #[inline(always)]
    pub const fn reads_tables(self, window: Window) -> bool {
        self.beside_readers > 0 && window.scans_own()
    }

    /// Whether matrices pass through a ring, which readers fill for the others.
    #[inline(always)]
    pub const fn has_ring(self) -> bool {
        self.columns > 0 && !Stages::of(self).are_resident()
    }

    /// Whether a warpgroup of each block reads for the others.
    #[inline(always)]
    pub const fn has_readers(self, window: Window) -> bool {
        self.has_ring() || self.reads_tables(window)
    }

    /// Warps of it that read tables: all but the one that fills the ring.
    #[inline(always)]
    pub const fn warps_for_tables(self) -> u32 {
        READERS / 32 - self.has_ring() as u32
    }

    /// Threads of a block that compute.
    #[inline(always)]
    pub const fn computing_threads(self, window: Window) -> u32 {
        match self.reads_tables(window) {
            true => self.beside_readers,
            false => self.threads,
        }
    }

    /// Threads of a block, of which some may be readers.
    pub const fn all_threads(self, window: Window) -> u32 {
        match self.has_readers(window) {
            true => self.computing_threads(window) + READERS,
            false => self.threads,
        }
    }

    /// The most threads of a block, whatever windows are.
    pub const fn most_threads(self) -> u32 {
        let without_tables = match self.has_ring() {
            true => self.threads + READERS,
            false => self.threads,
        };
        match self.beside_readers > 0 && without_tables < self.beside_readers + READERS {
            true => self.beside_readers + READERS,
            false => without_tables,
        }
    }
}

/// The kernels for warps, for moduli of 1024, 1536, 2048, 3072, 4096, 6144 and 8192 bits.
pub const WARPS: [Form; 7] = {
    const fn form(name: &'static str, pairs: u32, threads: u32) -> Form {
        Form {
            entry: entry(name),
            pairs,
            threads,
            beside_readers: 0,
            columns: 0,
            window: 3,
            at_once: 1,
        }
    }
    [
        form("rns_powers_5", 5, 512),
        form("rns_powers_7", 7, 512),
        form("rns_powers_9", 9, 512),
        form("rns_powers_13", 13, 384),
        form("rns_powers_18", 18, 256),
        form("rns_powers_26", 26, 256),
        form("rns_powers_35", 35, 256),
    ]
};

/// The kernels for warpgroups, for the same moduli.
pub const WARPGROUPS: [Form; 7] = {
    const fn form(
        name: &'static str,
        [pairs, threads, beside_readers, columns, window, at_once]: [u32; 6],
    ) -> Form {
        Form {
            entry: EntryPoint { name, module: name },
            pairs,
            threads,
            beside_readers,
            columns,
            window,
            at_once,
        }
    }
    [
        form("rns_warpgroups_5", [5, 512, 384, 3, 3, 4]),
        form("rns_warpgroups_7", [7, 384, 256, 3, 3, 1]),
        form("rns_warpgroups_9", [9, 384, 256, 3, 3, 1]),
        form("rns_warpgroups_13", [13, 256, 256, 3, 4, 4]),
        form("rns_warpgroups_18", [18, 256, 0, 3, 3, 1]),
        form("rns_warpgroups_26", [26, 256, 0, 2, 3, 1]),
        form("rns_warpgroups_35", [35, 256, 0, 1, 3, 1]),
    ]
};

/// Bits of the widest window of a power by warps, and by warpgroups, whose devices have memory for a table of 64 entries.
const WIDEST_WINDOWS: [usize; 2] = [5, 6];

/// The fewest limbs of exponents that are worth windows of three bits of a pair, and 64 entries.
const LEAST_OF_WIDE_PAIRS: usize = 10;

/// The bases of a [`Window`] where a table for all numbers has the powers of one.
pub const TABLE: u32 = 3;

/// Threads of a block of [`RESIDUES`] and of [`BASE`].
pub const THREADS: u32 = 256;

/// Threads of a block of [`RADIX`] and of [`LIMBS`], each with a number.
pub const NUMBERS_OF_BLOCK: u32 = 128;

/// Threads of a block that read tables whole for the others, and fill the ring of matrices, by warpgroups.
pub const READERS: u32 = 128;

/// Numbers of a tile, which a warp has.
pub const TILE: u32 = 16;

/// The most pairs, of which both matrices stand in a block's shared memory.
const MOST_RESIDENT: u32 = 9;

/// The most pairs of groups of primes.
const MOST_PAIRS: u32 = WARPGROUPS[WARPGROUPS.len() - 1].pairs;

/// The most primes of a base, and the place behind them.
pub const MOST_CHANNELS: usize = 8 * MOST_PAIRS as usize;

/// Bits of a prime.
pub const PRIME_BITS: u32 = 30;

/// How many limbs moduli have, and how many primes their residues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct RnsPlan {
    /// Limbs of a modulus.
    pub width: u32,
    /// Pairs of groups of four primes, of each base.
    pub pairs: u32,
    /// 1 where warpgroups compute powers, else 0.
    pub warpgroups: u16,
    /// 1 where the bases have changed places, for moduli that the first refuses, else 0.
    pub spare: u16,
}

impl RnsPlan {
    /// The plan for moduli of so many limbs, and bases that are no wider, on devices without warpgroups; none where they are too wide.
    pub const fn of(width: usize) -> Option<RnsPlan> {
        let width = if width < 2 { 2 } else { width };
        let mut form = 0;
        while form < WARPGROUPS.len() {
            let pairs = WARPGROUPS[form].pairs;
            let plan = RnsPlan {
                width: width as u32,
                pairs,
                warpgroups: 0,
                spare: 0,
            };
            // Bits of `b`; all primes together miss less than a bit of 30 bits each.
            let b = (2 * plan.channels() + 1).ilog2() + 1;
            let spare = if 2 * b + 1 > b + 8 { 2 * b + 1 } else { b + 8 };
            if width < 1 << 16 && PRIME_BITS * plan.channels() > 32 * plan.width + spare {
                return Some(plan);
            }
            form += 1;
        }
        None
    }

    /// The plan for devices that have warpgroups or have none.
    pub const fn by_warpgroups(self, has_them: bool) -> RnsPlan {
        RnsPlan {
            warpgroups: has_them as u16,
            ..self
        }
    }

    /// The plan for moduli that share factors with the first base, and none with the second; none behind that one.
    pub const fn spare(self) -> Option<RnsPlan> {
        match self.spare {
            0 => Some(RnsPlan { spare: 1, ..self }),
            _ => None,
        }
    }

    /// Which of [`WARPS`] or [`WARPGROUPS`] it is.
    pub const fn form(self) -> Form {
        let forms: &[Form] = match self.warpgroups {
            0 => &WARPS,
            _ => &WARPGROUPS,
        };
        Form::among(forms, self.pairs)
    }

    /// Windows of exponents of so many limbs each, of a power, of the product of two, or of a table's base.
    pub const fn window(self, exponent: usize, scans: bool, bases: u32) -> Window {
        let bits = match (scans, bases) {
            (true, TABLE) => TABLE_WINDOW as u32 / 2,
            (false, TABLE) => TABLE_WINDOW as u32,
            (true, 1) => self.form().window,
            (true, _) => 1,
            (false, 1) => power_window(exponent, WIDEST_WINDOWS[self.warpgroups as usize]) as u32,
            (false, _) if exponent < LEAST_OF_WIDE_PAIRS => 2,
            (false, _) => 3,
        };
        Window {
            bits,
            bases,
            scans: scans as u32,
        }
    }

    /// Numbers of a block of powers.
    pub const fn numbers_of_block(self, window: Window) -> u32 {
        self.form().computing_threads(window) / 32 * TILE
    }

    /// Primes of a base.
    #[inline(always)]
    pub const fn channels(self) -> u32 {
        8 * self.pairs - 1
    }

    /// Words of the units of a tile, of one base.
    #[inline(always)]
    pub const fn tile(self) -> u32 {
        128 * self.pairs
    }

    /// Where what converts residues begins in the table, in words: a four for each prime, as before it.
    #[inline(always)]
    pub const fn conversions_at(self) -> u32 {
        64 * self.pairs
    }

    /// Where the matrices begin.
    #[inline(always)]
    pub const fn matrices_at(self) -> u32 {
        128 * self.pairs
    }

    /// Words of a matrix.
    #[inline(always)]
    pub const fn matrix(self) -> u32 {
        256 * self.pairs * self.pairs
    }

    /// Where the limbs of `U/u[j]` begin, and of `-U`, each a limb longer than a modulus.
    #[inline(always)]
    pub const fn weights_at(self) -> u32 {
        self.matrices_at() + 2 * self.matrix()
    }

    /// Where the limbs of `M^2` begin.
    #[inline(always)]
    pub const fn square_at(self) -> u32 {
        self.weights_at() + 8 * self.pairs * (self.width + 1)
    }

    /// Limbs of `M^2`.
    #[inline(always)]
    pub const fn square_limbs(self) -> u32 {
        (2 * PRIME_BITS * self.channels()).div_ceil(32)
    }

    /// Words of the table, an even number.
    pub const fn words(self) -> usize {
        (self.square_at() + self.square_limbs()).next_multiple_of(2) as usize
    }

    /// Whether both matrices stand in shared memory; else what they have for some pairs passes through it.
    #[inline(always)]
    pub const fn is_resident(self) -> bool {
        self.pairs <= MOST_RESIDENT
    }

    /// Bytes of shared memory of a block of powers: both matrices, or what they have for some pairs.
    pub const fn shared_bytes(self) -> u32 {
        let form = self.form();
        if form.columns > 0 {
            return Stages::of(form).bytes();
        }
        match self.is_resident() {
            true => 8 * self.matrix(),
            false => 8 * (self.matrix() / self.pairs),
        }
    }

    /// Limbs of scratch for so many numbers with so many moduli, one or as many: units of all bases, units of moduli
    /// twice, tables, and two numbers of some limbs more for each.
    pub const fn scratch(self, count: usize, moduli: usize, window: Window) -> [usize; 5] {
        let block = self.numbers_of_block(window) as usize;
        let tiles = (block / TILE as usize) * count.div_ceil(block);
        let units = 2 * self.tile() as usize;
        // Of warpgroups there are those that were chosen, and those that are chosen meanwhile.
        let chosen = 2 * self.warpgroups as u32 * self.form().at_once;
        let entries = (window.entries() + chosen) as usize;
        let of_moduli = if moduli == 1 { units } else { units * tiles };
        [
            units * tiles * window.numbers() as usize,
            of_moduli,
            of_moduli,
            units * tiles * entries,
            2 * (self.width as usize + 1) * count,
        ]
    }
}

/// The windows of exponents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Window {
    /// Bits of an exponent, after as many squares; of a [`CHAIN`] the places that it has for numbers.
    pub bits: u32,
    /// Bases, each with an exponent: 1, or 2; or [`TABLE`], or [`CHAIN`].
    pub bases: u32,
    /// 1 where tables are read whole, so that no address depends on exponents; else 0.
    pub scans: u32,
}

impl Window {
    /// Whether numbers' own tables are read whole.
    #[inline(always)]
    pub const fn scans_own(self) -> bool {
        self.scans == 1 && !self.is_of_table()
    }

    /// Entries of a row of a table: the powers of the first base by one of the second's.
    #[inline(always)]
    pub const fn row(self) -> u32 {
        1 << self.bits
    }

    /// Whether instructions say what is multiplied.
    #[inline(always)]
    pub const fn is_chain(self) -> bool {
        self.bases == CHAIN
    }

    /// Whether a table for all numbers has the powers of one base.
    #[inline(always)]
    pub const fn is_of_table(self) -> bool {
        self.bases == TABLE
    }

    /// Numbers that a base, or a pair, is made of; of a table's base there is one for powers.
    #[inline(always)]
    pub const fn numbers(self) -> u32 {
        match self.bases {
            2 => 2,
            _ => 1,
        }
    }

    /// Squares before the product by an entry.
    #[inline(always)]
    pub const fn squares(self) -> u32 {
        match self.is_of_table() {
            true => 0,
            false => self.bits,
        }
    }

    /// Entries of a number's own table, at least four: `a^i b^j` is entry `i + row() j`. Where all have one, it is 1 alone.
    #[inline(always)]
    pub const fn entries(self) -> u32 {
        match self.bases {
            TABLE => 1,
            CHAIN => self.bits,
            _ => 1 << (self.bits * self.bases),
        }
    }

    /// Products that make a table: one for each entry, and one more for each that begins a row behind the second.
    #[inline(always)]
    pub const fn products(self) -> u32 {
        self.entries() + (self.entries() >> self.bits).saturating_sub(2)
    }
}

/// The one parameter of the kernels, by value. Addresses are of device memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RnsArguments {
    /// The powers.
    pub r: MatrixArgument,
    /// The bases, no wider than moduli. Two are the lower half of a number and the upper. For [`BASE`], a table of limbs.
    pub a: MatrixArgument,
    /// The exponents, or pairs of them.
    pub e: MatrixArgument,
    /// The moduli.
    pub m: MatrixArgument,
    /// The table that [`RnsPlan::fill`] makes.
    pub table: u64,
    /// What [`RnsPlan::scratch`] tells of, one after the other.
    pub scratch: [u64; 5],
    /// A limb for each modulus, zero before, and then 1 where that is zero, or a multiple of a prime of the first base. Its
    /// numbers have no powers, and no other is the worse for it.
    pub refused: u64,
    /// The table of a base for all numbers, or the instructions of a chain, of [`RnsArguments::base_words`], or 0.
    pub base: u64,
    /// How many windows an exponent has, or how many instructions a chain.
    pub windows: u64,
    /// The plan for the moduli.
    pub plan: RnsPlan,
    /// Numbers.
    pub count: u32,
    /// Moduli: 1, or as many.
    pub moduli: u32,
    /// Where tables are read whole, that of [`RnsPlan::window`].
    pub window: Window,
}

impl RnsArguments {
    /// The arguments as a launch copies them, 64 bits at a time.
    pub fn words(&self) -> impl Iterator<Item = u64> {
        let matrix = |m: MatrixArgument| [m.limbs, m.number_stride, m.limb_stride, m.width];
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let RnsPlan {
            warpgroups, spare, ..
        } = self.plan;
        let kind = u32::from(warpgroups) | u32::from(spare) << 16;
        let rest = [
            self.refused,
            self.base,
            self.windows,
            pair(self.plan.width, self.plan.pairs),
            pair(kind, self.count),
            pair(self.moduli, self.window.bits),
            pair(self.window.bases, self.window.scans),
        ];
        let matrices = [self.r, self.a, self.e, self.m]
            .into_iter()
            .flat_map(matrix);
        let addresses = [self.table].into_iter().chain(self.scratch);
        matrices.chain(addresses).chain(rest)
    }

    /// The device memory that is touched but for matrices and the table: addresses and limbs.
    pub fn stretches(&self) -> impl Iterator<Item = (u64, u64)> {
        let (count, moduli) = (self.count as usize, self.moduli as usize);
        let limbs = self.plan.scratch(count, moduli, self.window);
        let scratch = limbs.map(|limbs| limbs as u64).into_iter();
        self.scratch
            .into_iter()
            .zip(scratch)
            .chain([
                (self.refused, u64::from(self.moduli)),
                (self.base, self.base_words()),
            ])
            .filter(|(_, limbs)| *limbs > 0)
    }

    /// Words of the table of a base, of eight for each unit of an entry: for `q`, primes `8 p + q` and `8 p + 4 + q`. Where tables are
    /// read whole, the entries of a window stand together, for each unit and `q`; else the units of an entry.
    pub const fn base_words(&self) -> u64 {
        match self.window.bases {
            TABLE => (self.windows << self.window.bits) * 16 * self.plan.pairs as u64,
            CHAIN => 4 * self.windows,
            _ => 0,
        }
    }

    /// Products of each number.
    #[inline(always)]
    pub const fn products(&self) -> u32 {
        let windows = self.windows as u32;
        match self.window.is_chain() {
            true => windows,
            false => self.window.products() + windows * (self.window.squares() + 1) + 1,
        }
    }

    /// The launches that make the table of a base, and the units of the modulus, of arguments for one number. There is
    /// `M^2 (M/R)^W` in the scratch of the number, and what [`RnsPlan::fill`] says of `M^2` is not read.
    pub const fn launches_of_base(&self) -> [(EntryPoint, Launch); 2] {
        let [_, residues, ..] = self.launches();
        let grid = self.base_words().div_ceil(THREADS as u64) as u32;
        let (_, launch) = residues;
        [
            residues,
            (
                BASE,
                Launch {
                    grid,
                    workers: grid as usize,
                    ..launch
                },
            ),
        ]
    }

    /// The launches, in their order. Powers of a table's base take the last two.
    pub const fn launches(&self) -> [(EntryPoint, Launch); 4] {
        const fn launch(grid: u32, block: u32, shared_bytes: u32) -> Launch {
            Launch {
                grid,
                block,
                shared_bytes,
                workers: grid as usize,
                scratch_width: 0,
            }
        }
        let blocks = self.count.div_ceil(NUMBERS_OF_BLOCK);
        let of_moduli = self.moduli.div_ceil(NUMBERS_OF_BLOCK);
        let of_block = self.plan.numbers_of_block(self.window);
        let of_powers = self.count.div_ceil(of_block);
        let tiles = of_powers * (of_block / TILE);
        let shared_bytes = self.plan.shared_bytes();
        let form = self.plan.form();
        let threads = form.all_threads(self.window);
        [
            (RADIX, launch(of_moduli, NUMBERS_OF_BLOCK, 0)),
            (RESIDUES, launch(tiles * self.window.numbers(), THREADS, 0)),
            (form.entry, launch(of_powers, threads, shared_bytes)),
            (LIMBS, launch(blocks, NUMBERS_OF_BLOCK, 0)),
        ]
    }
}
