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
//! Everything is one chain of products in a loop, in stages, so that the product's code
//! stands there once, and a thread's code of squares beside it:
//!
//! 1. `R^2 mod m`, the form of `R`: from the form of 2, squared and doubled by the bits of
//!    the exponent `32 k` that `R` = `B^k` has.
//! 2. The form of `a`, which may be wider than `m`: `k` limbs at a time from the top,
//!    `x = (x + a[i]) R^2 / R`, for the form of what has come is that number times `R`.
//! 3. The table.
//! 4. Windows: `w` squares, and a product with an entry of the table.
//! 5. A product with 1, which leaves Montgomery's form.
//!
//! Where `scan`, an entry is read by reading them all: no branch and no address depends on
//! `a` or `e`, but for their widths. Else windows that are zero in all numbers of the warp
//! cost no product, and at the top of the exponent no squares.
//!
//! Cost: `32 n + 32 n / w + 2^w` products for an exponent of `n` limbs, and `log2 32 k` and
//! five for the rest. Scratch: `2^w + 1` numbers of `X LANES` limbs.

use crate::gpu::memory::{Number, Stride};
use crate::gpu::thread;
use crate::gpu::warp::Group;
use crate::gpu::window::{Slide, Window};
use crate::montgomery::{Modulus, load, store};
use bigint_core::kernel::{power_window, widest_window};
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
/// whether it is.
#[inline(always)]
pub fn power<const LANES: u32, const X: usize>(
    group: Group<LANES>,
    scan: bool,
    r: Number<impl Stride>,
    [a, e, m]: [Number<impl Stride>; 3],
    scratch: Number<impl Stride>,
) -> bool
where
    Window<X>: Slide<Digit = [Limb; X]>,
{
    let modulus = Modulus::<LANES, X>::new(group, m);
    let widest = widest_window(m.width() as usize, scan);
    let window = power_window(e.width() as usize, widest) as u32;
    let table = Table {
        scratch,
        own: modulus.own(),
        entry: X as u32 * group.lanes(),
    };
    let entries = 1 << window;
    let radix = entries;
    let limbs_of_r = modulus.limbs_of_r();

    let one = modulus.one();
    table.set(0, one);
    let mut x = modulus.sum(one, one);
    let mut stage = Stage::Radix;
    // Bits of the exponent of `R`, chunks of `a`, entries or windows that are left.
    let mut left = BITS - 1 - (BITS * limbs_of_r).leading_zeros();
    // Squares before the next product, or before the next bit of the exponent of `R`.
    let mut squares = 1;
    loop {
        let is_square = squares > 0;
        let mut is_one = false;
        let mut factor = x;
        if is_square {
            squares -= 1;
        } else {
            left = left.wrapping_sub(1);
            factor = match stage {
                Stage::Base => {
                    let chunk = a.part(limbs_of_r * left, limbs_of_r * (left + 1));
                    x = modulus.sum(x, load(chunk, thread::here(modulus.own())));
                    table.get(radix)
                }
                Stage::Table => table.get(1),
                Stage::Windows => {
                    let digit = digit(e, left, window);
                    is_one = !scan && group.all(digit == 0);
                    table.entry(scan, digit, entries)
                }
                _ => {
                    let mut plain = [0; X];
                    plain[0] = Limb::from(group.lane() == 0);
                    plain
                }
            };
        }
        // Lanes square by the product, whose code stands here once.
        if LANES == 1 && is_square {
            x = modulus.square(x);
        } else if !is_one {
            x = modulus.product(x, factor);
        }
        if is_square {
            if stage == Stage::Radix {
                left -= 1;
                if (BITS * limbs_of_r) >> left & 1 == 1 {
                    x = modulus.sum(x, x);
                }
                if left == 0 {
                    table.set(radix, x);
                    x = [0; X];
                    (stage, left) = (Stage::Base, a.width().div_ceil(limbs_of_r));
                } else {
                    squares = 1;
                }
            }
            continue;
        }
        match stage {
            Stage::Base if left == 0 => {
                table.set(1, x);
                (stage, left) = (Stage::Table, entries - 2);
            }
            Stage::Table => {
                table.set(entries - 1 - left, x);
                if left == 0 {
                    (stage, left) = (Stage::Windows, (BITS * e.width()).div_ceil(window) - 1);
                    if !scan {
                        while left > 0 && group.all(digit(e, left, window) == 0) {
                            left -= 1;
                        }
                    }
                    x = table.entry(scan, digit(e, left, window), entries);
                }
            }
            Stage::Plain => break,
            _ => {}
        }
        if stage == Stage::Windows {
            match left {
                0 => stage = Stage::Plain,
                _ => squares = window,
            }
        }
    }
    modulus.store(r, x);
    modulus.is_odd()
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
struct Table<S> {
    scratch: Number<S>,
    own: u32,
    /// Limbs of a number.
    entry: u32,
}

impl<S: Stride> Table<S> {
    #[inline(always)]
    fn get<const X: usize>(self, i: u32) -> [Limb; X] {
        load(self.scratch, thread::here(self.entry * i + self.own))
    }

    #[inline(always)]
    fn set<const X: usize>(self, i: u32, limbs: [Limb; X]) {
        store(self.scratch, thread::here(self.entry * i + self.own), limbs);
    }

    /// Number `i` of the first `entries`; where `scan`, by reading them all.
    #[inline(always)]
    fn entry<const X: usize>(self, scan: bool, i: u32, entries: u32) -> [Limb; X]
    where
        Window<X>: Slide<Digit = [Limb; X]>,
    {
        if !scan {
            return self.get(i);
        }
        let mut chosen = [0; X];
        let mut k = 0;
        while k < entries {
            let mask = Limb::from(k == i).wrapping_neg();
            chosen = Window::<X>::select(mask, self.get(k), chosen);
            k += 1;
        }
        chosen
    }
}
