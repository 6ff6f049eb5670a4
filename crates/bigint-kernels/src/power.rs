//! Powers modulo an odd `m` by windows of the exponent, in the registers of the lanes that
//! share a number: of a thread by itself, or of a group ([`Modulus`]).
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
//! Everything is one loop of products, in stages, so that the product's code stands there once.
//! Squares are a loop of their own within, which chooses nothing, where there is code for them: of
//! threads, and of [two and four lanes](Modulus::lanes_square); other lanes square by the product.
//!
//! 1. `R^2 mod m`, the form of `R` = `2^(d 2^s)`: that of `2^d` by doubling 1, which costs less
//!    than squares do while `d` is small, and `s` squares.
//! 2. The form of `a`, which may be wider than `m`: `k` limbs at a time from the top,
//!    `x = (x + a[i]) R^2 / R`, for the form of what has come is that number times `R`.
//! 3. The table.
//! 4. Windows: `w` squares, and a product with an entry of the table.
//! 5. A product with 1, which leaves Montgomery's form.
//!
//! Of two bases ([Straus 1964], Shamir's trick), the second and the third stage come twice, and after the
//! squares of a window a product for each: `a^x b^y` takes the squares of one power. Of a base whose
//! table of all windows, `g^(d 2^(w i))`, is an operand, only products are left, from 1 on. Its
//! entries are in the form of `B^n`, `n` limbs in `m`, and are moved up where `R` is more. Where the
//! table is read whole, half of a window at a time is: 8 entries and 8 for two products, in place of
//! 64 for one.
//!
//! Where `scan`, an entry is read by reading them all: no branch and no address depends on
//! `a` or `e`, but for their widths. Else windows that are zero in all numbers of the warp, or of
//! the block where its warps go in step, cost no product, and at the top of the exponent no squares.
//!
//! Cost: `32 n` squares and `32 n / w + 2^w` products for an exponent of `n` limbs, and some ten for
//! the rest. Scratch: `2^w + 1` numbers of `X LANES` limbs, four by four: four `i` of all threads
//! lies side by side ([`Fours`]), so that a warp reads whole lines.

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

/// What the chain of products is at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Radix,
    Base,
    Table,
    Windows,
    Plain,
}

/// `r = a^e mod m`, cut or zero-extended to the width of `r`, where `m` is odd; returns
/// whether it is. Where the host knows so, it is of two bases and two exponents, or of a table in place
/// of a base.
#[inline(always)]
pub fn power<const LANES: u32, const X: usize>(
    group: Group<LANES>,
    team: Team<BLOCK>,
    scan: bool,
    r: Number<impl Stride>,
    [a, e, m]: [Number<impl Stride>; 3],
    scratch: Fours,
) -> bool
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    let modulus = Modulus::<LANES, X>::new(group, m);
    let (is_pair, is_fixed) = (bases() == Bases::Two, bases() == Bases::Table);
    // Warps that go through long code by themselves want all of it at all times, and there is no room
    // for it near the processor: before each window those of a block wait for one another.
    let in_step = X == 32 && !is_fixed;
    let all = |is_so| match in_step {
        true => team.all(is_so),
        false => group.all(is_so),
    };
    // Two tables are to take no more memory than one.
    let widest = widest_window(m.width() as usize, scan, is_pair);
    // A window of a base's table, or of what is read whole each half of one.
    let whole = TABLE_WINDOW as u32;
    let window = match is_fixed {
        true if scan => whole / 2,
        true => whole,
        false => power_window(half(is_pair, e, 0).width() as usize, widest) as u32,
    };
    let table = Table(scratch);
    let entries = 1 << window;
    let radix = if is_pair { 2 * entries } else { entries };
    let limbs_of_r = modulus.limbs_of_r();
    // Entry `digit` of window `i` of the table that is an operand.
    let fixed = |i: u32, digit: u32| {
        let at = i * window;
        let entry = (at / whole << whole) + (digit << (at % whole));
        let entry = a.part(m.width() * entry, m.width() * (entry + 1));
        let own = thread::here(modulus.own());
        match limbs_of_r - m.width() {
            0 if entry.in_fours() => entry.fours::<X, true>(own),
            missing => load_up(entry, own, missing),
        }
    };

    let one = modulus.one();
    let mut x = one;
    let mut stage = Stage::Windows;
    // The base, bits of the exponent of `R`, chunks of a base, entries or windows that are left.
    let mut base = 0;
    let mut left = (a.width() / m.width().max(1)) >> whole << u32::from(scan);
    // Squares before the next product, or before the next bit of the exponent of `R`.
    let mut squares = 0;
    if !is_fixed {
        table.set(0, one);
        if is_pair {
            table.set(entries, one);
        }
        // `R = 2^(times 2^squares)`: the form of `2^times` by sums, which cost less than squares.
        let bits = BITS * limbs_of_r;
        squares = bits.trailing_zeros().min(limbs_of_r.ilog2() + 1);
        let mut times = bits >> squares;
        while times > 0 {
            x = modulus.sum(x, x);
            times -= 1;
        }
        stage = Stage::Radix;
    } else if left == 0 {
        stage = Stage::Plain;
    }
    loop {
        if LANES == 1 {
            while squares > 0 {
                squares -= 1;
                x = modulus.square(x);
            }
        } else if modulus.lanes_square() {
            while squares > 0 {
                squares -= 1;
                x = modulus.square_by_lanes(x);
            }
        }
        if stage == Stage::Radix && squares == 0 {
            table.set(radix, x);
            x = [0; X];
            let width = half(is_pair, a, 0).width();
            (stage, left) = (Stage::Base, width.div_ceil(limbs_of_r));
        }
        let is_square = squares > 0;
        let mut is_one = false;
        let mut factor = x;
        if is_square {
            squares -= 1;
        } else {
            // Both bases have the same window.
            if stage != Stage::Windows || base == 0 {
                left = left.wrapping_sub(1);
            }
            factor = match stage {
                Stage::Base => {
                    let chunk =
                        half(is_pair, a, base).part(limbs_of_r * left, limbs_of_r * (left + 1));
                    x = modulus.sum(x, load(chunk, thread::here(modulus.own())));
                    table.get(radix)
                }
                Stage::Table => table.get(entries * base + 1),
                Stage::Windows => {
                    if scan && in_step {
                        team.sync();
                    }
                    let digit = digit(half(is_pair, e, base), left, window);
                    is_one = !scan && all(digit == 0);
                    match is_fixed {
                        true => chosen(scan, digit, entries, |k| fixed(left, k)),
                        false => chosen(scan, digit, entries, |k| table.get(entries * base + k)),
                    }
                }
                _ => {
                    let mut plain = [0; X];
                    plain[0] = Limb::from(group.lane() == 0);
                    plain
                }
            };
        }
        if !is_one {
            x = modulus.product(x, factor);
        }
        if is_square {
            continue;
        }
        match stage {
            Stage::Base if left == 0 => {
                table.set(entries * base + 1, x);
                (stage, left) = (Stage::Table, entries - 2);
            }
            Stage::Table => {
                table.set(entries * (base + 1) - 1 - left, x);
                if left == 0 && is_pair && base == 0 {
                    x = [0; X];
                    (stage, base) = (Stage::Base, 1);
                    left = half(is_pair, a, 1).width().div_ceil(limbs_of_r).max(1);
                } else if left == 0 {
                    // Of the highest window as of the others: a product, here with 1.
                    x = table.get(0);
                    left = (BITS * half(is_pair, e, 0).width()).div_ceil(window);
                    (stage, base) = (Stage::Windows, 0);
                    // Blocks that begin together would all read their tables at the same times, and
                    // nothing between: some square 1 before.
                    if scan && in_step {
                        squares = scattered(thread::block_index()) % window;
                    }
                    let is_zero = |left| {
                        let digit = |base| digit(half(is_pair, e, base), left, window);
                        all(digit(0) | digit(1) == 0)
                    };
                    while !scan && left > 1 && is_zero(left - 1) {
                        left -= 1;
                    }
                    continue;
                }
            }
            Stage::Plain => break,
            _ => {}
        }
        if stage == Stage::Windows {
            base = Limb::from(is_pair) - base;
            if base == 0 {
                match left {
                    0 => stage = Stage::Plain,
                    _ if is_fixed => {}
                    _ => squares = window,
                }
            }
        }
    }
    modulus.store(r, x);
    modulus.is_odd()
}

/// A number of 16 bits that has little to do with those of `i`'s neighbours.
#[inline(always)]
fn scattered(i: u32) -> u32 {
    i.wrapping_mul(0x9e37_79b9) >> 16
}

/// The lower or the upper half of an operand that holds a pair, else all of it.
#[inline(always)]
fn half<S: Stride>(is_pair: bool, x: Number<S>, i: u32) -> Number<S> {
    let lower = x.width().div_ceil(2);
    match (is_pair, i) {
        (false, _) => x,
        (true, 0) => x.part(0, lower),
        (true, _) => x.part(lower, x.width()),
    }
}

/// Window `i` of the exponent.
#[inline(always)]
fn digit(e: Number<impl Stride>, i: u32, window: u32) -> u32 {
    let (limb, bit) = (i * window / BITS, i * window % BITS);
    let pair = u64::from(e.limb(limb + 1)) << BITS | u64::from(e.limb(limb));
    (pair >> bit) as u32 & ((1 << window) - 1)
}

/// The calling lane's limbs of numbers in scratch.
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

/// Entry `i` of so many; where `scan`, by reading them all.
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
