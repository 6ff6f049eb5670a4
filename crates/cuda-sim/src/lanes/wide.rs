//! Integer arithmetic on 64-bit longs, and between words and longs.

use super::{lanes, test};
use crate::ir::{
    Choose3, Field3, Field4, L1, L2, L3, LongTest2, Narrow1, Shift2, Widen1, Widen2, Widen3,
};
use crate::syntax::types::{Kind, Type};

fn signed(ty: Type) -> bool {
    ty.kind == Kind::Signed
}

pub(crate) fn unary(name: &str) -> Option<L1> {
    Some(match name {
        "neg" => lanes!(|a| a.wrapping_neg()),
        "not" => lanes!(|a| !a),
        "cnot" => lanes!(|a| u64::from(a == 0)),
        "abs" => lanes!(|a| (a as i64).unsigned_abs()),
        "brev" => lanes!(|a| a.reverse_bits()),
        _ => return None,
    })
}

/// Operations on a long that give a word.
pub(crate) fn counting(name: &str, ty: Type) -> Option<Narrow1> {
    Some(match (name, signed(ty)) {
        ("popc", _) => lanes!(|a| a.count_ones()),
        ("clz", _) => lanes!(|a| a.leading_zeros()),
        ("bfind", false) => lanes!(|a| 63u32.wrapping_sub(a.leading_zeros())),
        ("bfind", true) => {
            lanes!(|a| 63u32.wrapping_sub((a ^ (a as i64 >> 63) as u64).leading_zeros()))
        }
        ("bfind.shiftamt", false) => {
            lanes!(|a| if a == 0 { u32::MAX } else { a.leading_zeros() })
        }
        ("bfind.shiftamt", true) => lanes!(|a| {
            let magnitude = a ^ (a as i64 >> 63) as u64;
            if magnitude == 0 {
                u32::MAX
            } else {
                magnitude.leading_zeros()
            }
        }),
        _ => return None,
    })
}

fn high(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

fn high_signed(a: u64, b: u64) -> u64 {
    ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
}

pub(crate) fn binary(name: &str, ty: Type) -> Option<L2> {
    Some(match (name, signed(ty)) {
        ("add", _) => lanes!(|a, b| a.wrapping_add(b)),
        ("sub", _) => lanes!(|a, b| a.wrapping_sub(b)),
        ("mul.lo", _) => lanes!(|a, b| a.wrapping_mul(b)),
        ("mul.hi", false) => lanes!(|a, b| high(a, b)),
        ("mul.hi", true) => lanes!(|a, b| high_signed(a, b)),
        ("div", false) => lanes!(|a, b| a.checked_div(b).unwrap_or(u64::MAX)),
        ("div", true) => lanes!(|a, b| {
            if b == 0 {
                u64::MAX
            } else {
                (a as i64).wrapping_div(b as i64) as u64
            }
        }),
        ("rem", false) => lanes!(|a, b| if b == 0 { a } else { a % b }),
        ("rem", true) => lanes!(|a, b| {
            if b == 0 {
                a
            } else {
                (a as i64).wrapping_rem(b as i64) as u64
            }
        }),
        ("min", false) => lanes!(|a, b| a.min(b)),
        ("min", true) => lanes!(|a, b| (a as i64).min(b as i64) as u64),
        ("max", false) => lanes!(|a, b| a.max(b)),
        ("max", true) => lanes!(|a, b| (a as i64).max(b as i64) as u64),
        ("and", _) => lanes!(|a, b| a & b),
        ("or", _) => lanes!(|a, b| a | b),
        ("xor", _) => lanes!(|a, b| a ^ b),
        _ => return None,
    })
}

pub(crate) fn ternary(name: &str, ty: Type) -> Option<L3> {
    Some(match (name, signed(ty)) {
        ("mad.lo", _) => lanes!(|a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        ("mad.hi", false) => lanes!(|a, b, c| high(a, b).wrapping_add(c)),
        ("mad.hi", true) => lanes!(|a, b, c| high_signed(a, b).wrapping_add(c)),
        ("sad", false) => lanes!(|a, b, c| a.abs_diff(b).wrapping_add(c)),
        ("sad", true) => {
            lanes!(|a, b, c| (a as i64).abs_diff(b as i64).wrapping_add(c))
        }
        _ => return None,
    })
}

pub(crate) fn shift(name: &str, ty: Type) -> Option<Shift2> {
    Some(match (name, signed(ty)) {
        ("shl", _) => lanes!(|a, b| if b > 63 { 0 } else { a << b }),
        ("shr", false) => lanes!(|a, b| if b > 63 { 0 } else { a >> b }),
        ("shr", true) => lanes!(|a, b| (a as i64 >> b.min(63)) as u64),
        _ => return None,
    })
}

/// `mul.wide` of words.
pub(crate) fn product(ty: Type) -> Widen2 {
    if signed(ty) {
        lanes!(|a, b| (i64::from(a as i32) * i64::from(b as i32)) as u64)
    } else {
        lanes!(|a, b| u64::from(a) * u64::from(b))
    }
}

/// `mad.wide` of words.
pub(crate) fn product_sum(ty: Type) -> Widen3 {
    if signed(ty) {
        lanes!(|a, b, c| ((i64::from(a as i32) * i64::from(b as i32)) as u64).wrapping_add(c))
    } else {
        lanes!(|a, b, c| (u64::from(a) * u64::from(b)).wrapping_add(c))
    }
}

/// `bfe` of a long.
pub(crate) fn extract(ty: Type) -> Field3 {
    if signed(ty) {
        lanes!(|a, b, c| {
            let (at, len) = (b & 0xff, c & 0xff);
            if len == 0 {
                0
            } else {
                let shifted = a as i64 >> at.min(63);
                (shifted << (64 - len.min(64)) >> (64 - len.min(64))) as u64
            }
        })
    } else {
        lanes!(|a, b, c| {
            let (at, len) = (b & 0xff, c & 0xff);
            if at > 63 || len == 0 {
                0
            } else {
                a >> at & u64::MAX >> (64 - len.min(64))
            }
        })
    }
}

/// `bfi` of a long.
pub(crate) const INSERT: Field4 = lanes!(|a, b, c, d| {
    let (at, len) = (c & 0xff, d & 0xff);
    if at > 63 || len == 0 {
        b
    } else {
        let ones = u64::MAX >> (64 - len.min(64)) << at;
        b & !ones | a << at & ones
    }
});

/// `slct` of longs by a word: signed, or single precision.
pub(crate) fn choose(by_float: bool) -> Choose3 {
    if by_float {
        lanes!(|a, b, c| if f32::from_bits(c) >= 0.0 { a } else { b })
    } else {
        lanes!(|a, b, c| if c as i32 >= 0 { a } else { b })
    }
}

pub(crate) fn compare(name: &str, ty: Type) -> Option<LongTest2> {
    Some(match (name, signed(ty)) {
        ("eq", _) => test!(|a, b| a == b),
        ("ne", _) => test!(|a, b| a != b),
        ("lt" | "lo", false) => test!(|a, b| a < b),
        ("le" | "ls", false) => test!(|a, b| a <= b),
        ("gt" | "hi", false) => test!(|a, b| a > b),
        ("ge" | "hs", false) => test!(|a, b| a >= b),
        ("lt", true) => test!(|a, b| (a as i64) < b as i64),
        ("le", true) => test!(|a, b| a as i64 <= b as i64),
        ("gt", true) => test!(|a, b| a as i64 > b as i64),
        ("ge", true) => test!(|a, b| a as i64 >= b as i64),
        _ => return None,
    })
}

/// Extends the low `bits` bits of a word to a long.
pub(crate) fn widen(bits: u32, signed: bool) -> Widen1 {
    match (bits, signed) {
        (8, false) => lanes!(|a| u64::from(a as u8)),
        (8, true) => lanes!(|a| i64::from(a as i8) as u64),
        (16, false) => lanes!(|a| u64::from(a as u16)),
        (16, true) => lanes!(|a| i64::from(a as i16) as u64),
        (_, false) => lanes!(|a| u64::from(a)),
        (_, true) => lanes!(|a| i64::from(a as i32) as u64),
    }
}

/// The low half of a long, and the high half.
pub(crate) const LOW: Narrow1 = lanes!(|a| a as u32);
