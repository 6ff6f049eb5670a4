//! Extended-precision arithmetic: `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`
//! and `madc`. The flag stands as 0 or 1 in a word per lane, so that a chain
//! stays in vector registers. As in hardware there is one flag, the carry of a
//! sum, and a difference is the sum `a + !b + 1`: `sub.cc` leaves 1 where nothing
//! was borrowed, and `subc` adds `!b` and the flag. So `addc` behind `sub.cc` adds
//! 1 where there was no borrow. Sums that do not read the flag are given zeros.

use crate::ir::{Carry2, Carry3, LongCarry2, LongCarry3};

macro_rules! carry {
    (|$a:ident, $b:ident, $c:ident| $e:expr) => {
        |xs, ys, flags| {
            let mut out = [0; 32];
            for i in 0..32 {
                let ($a, $b, $c) = (xs[i], ys[i], flags[i]);
                (out[i], flags[i]) = $e;
            }
            out
        }
    };
    (|$a:ident, $b:ident, $d:ident, $c:ident| $e:expr) => {
        |xs, ys, zs, flags| {
            let mut out = [0; 32];
            for i in 0..32 {
                let ($a, $b, $d, $c) = (xs[i], ys[i], zs[i], flags[i]);
                (out[i], flags[i]) = $e;
            }
            out
        }
    };
}

#[inline(always)]
fn sum(a: u32, b: u32, c: u32) -> (u32, u32) {
    let total = u64::from(a) + u64::from(b) + u64::from(c);
    (total as u32, (total >> 32) as u32)
}

#[inline(always)]
fn long_sum(a: u64, b: u64, c: u32) -> (u64, u32) {
    let (first, over) = a.overflowing_add(b);
    let (total, again) = first.overflowing_add(u64::from(c));
    (total, u32::from(over | again))
}

/// `add` and `sub`; `reads` says whether the flag is added.
pub(crate) fn binary(subtract: bool, reads: bool) -> Carry2 {
    match (subtract, reads) {
        (false, _) => carry!(|a, b, c| sum(a, b, c)),
        (true, true) => carry!(|a, b, c| sum(a, !b, c)),
        (true, false) => carry!(|a, b, _c| sum(a, !b, 1)),
    }
}

/// `add` and `sub`; `reads` says whether the flag is added.
pub(crate) fn long_binary(subtract: bool, reads: bool) -> LongCarry2 {
    match (subtract, reads) {
        (false, _) => carry!(|a, b, c| long_sum(a, b, c)),
        (true, true) => carry!(|a, b, c| long_sum(a, !b, c)),
        (true, false) => carry!(|a, b, _c| long_sum(a, !b, 1)),
    }
}

pub(crate) fn ternary(high: bool, signed: bool) -> Carry3 {
    match (high, signed) {
        (false, _) => carry!(|a, b, d, c| sum(a.wrapping_mul(b), d, c)),
        (true, false) => {
            carry!(|a, b, d, c| sum(((u64::from(a) * u64::from(b)) >> 32) as u32, d, c))
        }
        (true, true) => carry!(|a, b, d, c| {
            let product = i64::from(a as i32) * i64::from(b as i32);
            sum((product >> 32) as u32, d, c)
        }),
    }
}

pub(crate) fn long_ternary(high: bool, signed: bool) -> LongCarry3 {
    match (high, signed) {
        (false, _) => carry!(|a, b, d, c| long_sum(a.wrapping_mul(b), d, c)),
        (true, false) => carry!(|a, b, d, c| {
            let product = u128::from(a) * u128::from(b);
            long_sum((product >> 64) as u64, d, c)
        }),
        (true, true) => carry!(|a, b, d, c| {
            let product = i128::from(a as i64) * i128::from(b as i64);
            long_sum((product >> 64) as u64, d, c)
        }),
    }
}
