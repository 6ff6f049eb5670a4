//! Powers modulo an odd `m` by windows of the exponent, in the registers of the lanes that share a
//! number, be it a thread by itself or a group ([`Modulus`]).
//!
//! With windows of `w` bits the exponent is `e = sum of e[i] 2^(w i)`, and
//!
//! ```text
//! a^e = (...((a^e[k])^(2^w) a^e[k-1])^(2^w) ...) a^e[0]
//! ```
//!
//! By hand, 3^11 with `w` = 2: 11 is 10 11 in binary, so (3^2)^4 3^3 = 6561 * 27 = 177147.
//! The powers `a^0 .. a^(2^w - 1)` are a table in scratch, in Montgomery's form.
//!
//! The whole computation is one loop of products, in stages, so that the kernel has the code of a product
//! once. Threads, and lanes [with wide digits](Modulus::lanes_square), have code for squares, in an
//! inner loop that decides nothing; other lanes square by the product.
//!
//! 1. `R^2 mod m`, which is the form of `R` = `2^(d 2^s)`. The form of `2^d` comes from the form of 1 by
//!    doubling, which costs less than squares while `d` is small. Then `s` squares follow.
//! 2. The form of `a`, which may be wider than `m`. It is taken in chunks `a[i]` of `k` limbs from the
//!    top: `x = (x + a[i]) R^2 / R`. Before each step `x` is the form of the chunks so far, which is
//!    their number times `R`.
//! 3. The table of the powers of `a`.
//! 4. For each window, `w` squares and a product with an entry of the table.
//! 5. A product with 1, which leaves Montgomery's form.
//!
//! For two bases ([Straus 1964], Shamir's trick), stages 2 and 3 are run twice, and the squares of a
//! window are followed by a product for each base. So `a^x b^y` takes the squares of one power. If the
//! operand is a table for all windows of a base, with entries `g^(d 2^(w i))`, only products are left,
//! beginning with 1. The entries are forms for `B^n`, where `m` has `n` limbs, and are moved up if `R` is
//! greater. Where whole tables are read, a window is taken in two halves: two products that read 8
//! entries each, in place of one that reads 64.
//!
//! If `scan`, an entry is picked by reading all of them: no branch and no address depends on `a` or `e`,
//! only on their widths. Otherwise a window that is zero in all numbers of the warp costs no product, and
//! at the top of the exponent no squares. (If the warps of a block go in step, it must be zero in all
//! numbers of the block.)
//!
//! Cost: `32 n` squares and `32 n / w + 2^w` products for an exponent of `n` limbs, and some ten for the
//! rest. Scratch: `2^w + 1` numbers of `X LANES` limbs, in groups of four limbs. Group `i` of
//! neighbouring threads lies side by side ([`Fours`]), so that a warp reads whole lines.

use crate::gpu::block::Team;
use crate::gpu::fours::Fours;
use crate::gpu::known::bases;
use crate::gpu::memory::{Number, Stride};
use crate::gpu::thread;
use crate::gpu::warp::Group;
use crate::gpu::window::{Slide, Window};
use crate::montgomery::{Modulus, load, load_up};
use bigint_core::kernel::{BLOCK, TABLE_WINDOW, power_window, widest_window};
use bigint_core::specialization::Bases;
use bigint_core::{LIMB_BITS, Limb};

const BITS: u32 = LIMB_BITS as u32;

/// The stages of the chain of products, as the head of this file numbers them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Radix,
    Base,
    Table,
    Windows,
    Plain,
}

/// The state of a chain of products.
struct Chain<const X: usize> {
    x: [Limb; X],
    stage: Stage,
    /// The index of the base, and of its exponent, that is next.
    base: u32,
    /// The chunks of a base, the entries of a table or the windows that are left.
    left: u32,
    /// The squares before the next product.
    squares: u32,
}

/// A power to compute: the values that stay the same along the chain.
#[derive(Clone, Copy)]
struct Power<const LANES: u32, const X: usize, S> {
    group: Group<LANES>,
    team: Team<BLOCK>,
    modulus: Modulus<LANES, X>,
    scan: bool,
    is_pair: bool,
    is_fixed: bool,
    /// The base, a pair of bases, or a base's table.
    a: Number<S>,
    /// The exponent, or a pair of exponents.
    e: Number<S>,
    /// The number of limbs of the modulus.
    limbs: u32,
    /// The bits of a window. For a base's table that is read whole, they are those of half a window.
    window: u32,
    table: Table,
}

/// The bits of a window of a base's table.
const WHOLE: u32 = TABLE_WINDOW as u32;

/// Computes `r = a^e mod m`, cut or zero-extended to the width of `r`, if `m` is odd, and returns whether
/// it is odd. If the kernel is specialised so, `a` and `e` hold two bases and two exponents, or `a` is
/// the table of a base.
#[inline(always)]
pub fn power<const LANES: u32, const X: usize, S: Stride>(
    group: Group<LANES>,
    team: Team<BLOCK>,
    scan: bool,
    r: Number<impl Stride>,
    [a, e, m]: [Number<S>; 3],
    scratch: Fours,
) -> bool
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    let modulus = Modulus::<LANES, X>::new(group, m);
    let (is_pair, is_fixed) = (bases() == Bases::Two, bases() == Bases::Table);
    // Two tables must take no more memory than one.
    let widest = widest_window(m.width() as usize, scan, is_pair);
    let power = Power {
        group,
        team,
        modulus,
        scan,
        is_pair,
        is_fixed,
        a,
        e,
        limbs: m.width(),
        window: match is_fixed {
            true if scan => WHOLE / 2,
            true => WHOLE,
            false => power_window(half(is_pair, e, 0).width() as usize, widest) as u32,
        },
        table: Table(scratch),
    };
    let mut chain = power.begin();
    loop {
        if LANES == 1 {
            while chain.squares > 0 {
                chain.squares -= 1;
                chain.x = modulus.square(chain.x);
            }
        } else if modulus.lanes_square() {
            while chain.squares > 0 {
                chain.squares -= 1;
                chain.x = modulus.square_by_lanes(chain.x);
            }
        }
        if chain.stage == Stage::Radix && chain.squares == 0 {
            power.begin_bases(&mut chain);
        }
        let is_square = chain.squares > 0;
        let mut is_one = false;
        let mut factor = chain.x;
        if is_square {
            chain.squares -= 1;
        } else {
            (factor, is_one) = power.factor(&mut chain);
        }
        if !is_one {
            chain.x = modulus.product(chain.x, factor);
        }
        if is_square {
            continue;
        }
        if !power.goes_on(&mut chain) {
            break;
        }
    }
    modulus.store(r, chain.x);
    modulus.is_odd()
}

impl<const LANES: u32, const X: usize, S: Stride> Power<LANES, X, S>
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    /// The chain before its first product. For a base's table it begins with 1, else with the form of
    /// `2^d`, from which `s` squares lead to the form of `R` = `2^(d 2^s)`.
    #[inline(always)]
    fn begin(self) -> Chain<X> {
        let one = self.modulus.one();
        if self.is_fixed {
            let left = (self.a.width() / self.limbs.max(1)) >> WHOLE << u32::from(self.scan);
            return Chain {
                x: one,
                stage: match left {
                    0 => Stage::Plain,
                    _ => Stage::Windows,
                },
                base: 0,
                left,
                squares: 0,
            };
        }
        self.table.set(0, one);
        if self.is_pair {
            self.table.set(self.entries(), one);
        }
        let limbs = self.modulus.limbs_of_r();
        let bits = BITS * limbs;
        let squares = bits.trailing_zeros().min(limbs.ilog2() + 1);
        let mut x = one;
        let mut times = bits >> squares;
        while times > 0 {
            x = self.modulus.sum(x, x);
            times -= 1;
        }
        Chain {
            x,
            stage: Stage::Radix,
            base: 0,
            left: 0,
            squares,
        }
    }

    /// Stores the form of `R`, and goes on to the first base.
    #[inline(always)]
    fn begin_bases(self, chain: &mut Chain<X>) {
        self.table.set(self.radix(), chain.x);
        chain.x = [0; X];
        let width = half(self.is_pair, self.a, 0).width();
        chain.stage = Stage::Base;
        chain.left = width.div_ceil(self.modulus.limbs_of_r());
    }

    /// The factor by which the chain is multiplied next, and whether it is known to be 1.
    #[inline(always)]
    fn factor(self, chain: &mut Chain<X>) -> ([Limb; X], bool) {
        let (entries, base) = (self.entries(), chain.base);
        // Both bases have the same window.
        if chain.stage != Stage::Windows || base == 0 {
            chain.left = chain.left.wrapping_sub(1);
        }
        let left = chain.left;
        let mut is_one = false;
        let factor = match chain.stage {
            Stage::Base => {
                let limbs = self.modulus.limbs_of_r();
                let chunk = half(self.is_pair, self.a, base).part(limbs * left, limbs * (left + 1));
                let chunk = load(chunk, thread::here(self.modulus.own()));
                chain.x = self.modulus.sum(chain.x, chunk);
                self.table.get(self.radix())
            }
            Stage::Table => self.table.get(entries * base + 1),
            Stage::Windows => {
                if self.scan && self.in_step() {
                    self.team.sync();
                }
                let digit = self.digit(base, left);
                is_one = !self.scan && self.all(digit == 0);
                match self.is_fixed {
                    true => chosen(self.scan, digit, entries, |k| self.fixed(left, k)),
                    false => chosen(self.scan, digit, entries, |k| {
                        self.table.get(entries * base + k)
                    }),
                }
            }
            _ => {
                let mut plain = [0; X];
                plain[0] = Limb::from(self.group.lane() == 0);
                plain
            }
        };
        (factor, is_one)
    }

    /// Goes on to the next step after a product, and returns whether there is one.
    #[inline(always)]
    fn goes_on(self, chain: &mut Chain<X>) -> bool {
        let (entries, base) = (self.entries(), chain.base);
        match chain.stage {
            Stage::Base if chain.left == 0 => {
                self.table.set(entries * base + 1, chain.x);
                (chain.stage, chain.left) = (Stage::Table, entries - 2);
            }
            Stage::Table => {
                self.table
                    .set(entries * (base + 1) - 1 - chain.left, chain.x);
                if chain.left == 0 && self.is_pair && base == 0 {
                    chain.x = [0; X];
                    (chain.stage, chain.base) = (Stage::Base, 1);
                    let width = half(self.is_pair, self.a, 1).width();
                    chain.left = width.div_ceil(self.modulus.limbs_of_r()).max(1);
                } else if chain.left == 0 {
                    self.begin_windows(chain);
                    return true;
                }
            }
            Stage::Plain => return false,
            _ => {}
        }
        if chain.stage == Stage::Windows {
            chain.base = Limb::from(self.is_pair) - base;
            if chain.base == 0 {
                match chain.left {
                    0 => chain.stage = Stage::Plain,
                    _ if self.is_fixed => {}
                    _ => chain.squares = self.window,
                }
            }
        }
        true
    }

    /// Goes on from the tables to the windows of the exponent.
    #[inline(always)]
    fn begin_windows(self, chain: &mut Chain<X>) {
        // The highest window takes a product like the others, here with 1.
        chain.x = self.table.get(0);
        let mut left = (BITS * half(self.is_pair, self.e, 0).width()).div_ceil(self.window);
        // Blocks that begin together would all read their tables at the same times, and leave memory idle
        // in between. So they first square 1 different numbers of times.
        if self.scan && self.in_step() {
            chain.squares = scattered(thread::block_index()) % self.window;
        }
        let is_zero = |i| self.all(self.digit(0, i) | self.digit(1, i) == 0);
        while !self.scan && left > 1 && is_zero(left - 1) {
            left -= 1;
        }
        (chain.stage, chain.base, chain.left) = (Stage::Windows, 0, left);
    }

    /// Whether the warps of a block go in step. Warps that run long code independently need all parts of
    /// it at all times, for which the instruction cache has no room. So they wait for one another before
    /// each window.
    #[inline(always)]
    fn in_step(self) -> bool {
        X >= 24 && !self.is_fixed
    }

    /// Whether `is_so` holds for all numbers whose lanes must branch together.
    #[inline(always)]
    fn all(self, is_so: bool) -> bool {
        match self.in_step() {
            true => self.team.all(is_so),
            false => self.group.all(is_so),
        }
    }

    /// The number of entries of a table.
    #[inline(always)]
    fn entries(self) -> u32 {
        1 << self.window
    }

    /// The index of the form of `R`, which stands behind the tables.
    #[inline(always)]
    fn radix(self) -> u32 {
        self.entries() << u32::from(self.is_pair)
    }

    /// Window `i` of an exponent.
    #[inline(always)]
    fn digit(self, base: u32, i: u32) -> u32 {
        digit(half(self.is_pair, self.e, base), i, self.window)
    }

    /// Entry `digit` of window `i` of the table that is an operand.
    #[inline(always)]
    fn fixed(self, i: u32, digit: u32) -> [Limb; X] {
        let at = i * self.window;
        let entry = (at / WHOLE << WHOLE) + (digit << (at % WHOLE));
        let entry = self.a.part(self.limbs * entry, self.limbs * (entry + 1));
        let own = thread::here(self.modulus.own());
        match self.modulus.limbs_of_r() - self.limbs {
            0 if entry.in_fours() => entry.fours::<X, true>(own),
            missing => load_up(entry, own, missing),
        }
    }
}

/// A hash of `i` in 16 bits, which differs much from those of neighbouring `i`.
#[inline(always)]
fn scattered(i: u32) -> u32 {
    i.wrapping_mul(0x9e37_79b9) >> 16
}

/// Half `i` of an operand that holds a pair; the whole operand if it does not.
#[inline(always)]
pub fn half<S: Stride>(is_pair: bool, x: Number<S>, i: u32) -> Number<S> {
    let lower = x.width().div_ceil(2);
    match (is_pair, i) {
        (false, _) => x,
        (true, 0) => x.part(0, lower),
        (true, _) => x.part(lower, x.width()),
    }
}

/// Window `i` of the exponent.
#[inline(always)]
pub fn digit(e: Number<impl Stride>, i: u32, window: u32) -> u32 {
    let (limb, bit) = (i * window / BITS, i * window % BITS);
    let pair = u64::from(e.limb(limb + 1)) << BITS | u64::from(e.limb(limb));
    (pair >> bit) as u32 & ((1 << window) - 1)
}

/// A table in scratch, of which the calling lane accesses its own limbs.
#[derive(Clone, Copy)]
struct Table(Fours);

impl Table {
    #[inline(always)]
    fn get<const X: usize>(self, i: u32) -> [Limb; X] {
        self.0.limbs(thread::here(X as u32 / 4 * i))
    }

    #[inline(always)]
    fn set<const X: usize>(self, i: u32, limbs: [Limb; X]) {
        self.0.set_limbs(thread::here(X as u32 / 4 * i), limbs);
    }
}

/// Entry `i` of `entries`. If `scan`, it is picked by reading all of them.
#[inline(always)]
fn chosen<const X: usize>(
    scan: bool,
    i: u32,
    entries: u32,
    entry: impl Fn(u32) -> [Limb; X],
) -> [Limb; X]
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    if !scan {
        return entry(i);
    }
    let mut chosen = [0; X];
    let mut k = 0;
    while k < entries {
        let mask = Limb::from(k == i).wrapping_neg();
        chosen = Window::<X>::select(mask, entry(k), chosen);
        k += 1;
    }
    chosen
}
