//! Integer arithmetic on 32-bit words and on narrower values held in words.
//!
//! Values of 8 and 16 bits stand zero-extended in their words.

use super::{lanes, test};
use crate::ir::{Test2, W1, W2, W3, W4};
use crate::syntax::types::{Kind, Type};

fn signed(ty: Type) -> bool {
    ty.kind == Kind::Signed
}

/// Division as the hardware does it: by zero it gives all ones, and the one
/// overflow of signed division wraps.
fn divide(a: u32, b: u32) -> u32 {
    a.checked_div(b).unwrap_or(u32::MAX)
}

fn divide_signed(a: i32, b: i32) -> i32 {
    if b == 0 { -1 } else { a.wrapping_div(b) }
}

fn remainder(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { a % b }
}

fn remainder_signed(a: i32, b: i32) -> i32 {
    if b == 0 { a } else { a.wrapping_rem(b) }
}

pub(crate) fn unary(name: &str, ty: Type) -> Option<W1> {
    Some(match (name, ty.bits) {
        ("neg", 32) => lanes!(|a| a.wrapping_neg()),
        ("neg", 16) => lanes!(|a| a.wrapping_neg() & 0xffff),
        ("not", 32) => lanes!(|a| !a),
        ("not", 16) => lanes!(|a| !a & 0xffff),
        ("cnot", 32 | 16) => lanes!(|a| u32::from(a == 0)),
        ("abs", 32) => lanes!(|a| (a as i32).unsigned_abs()),
        ("abs", 16) => lanes!(|a| u32::from((a as i16).unsigned_abs())),
        ("popc", 32) => lanes!(|a| a.count_ones()),
        ("clz", 32) => lanes!(|a| a.leading_zeros()),
        ("brev", 32) => lanes!(|a| a.reverse_bits()),
        _ => return None,
    })
}

/// `bfind`: position of the highest bit that differs from the sign, or with
/// `shift` how far to shift it to the top; all ones where there is none.
pub(crate) fn find_leading(ty: Type, shift: bool) -> Option<W1> {
    Some(match (ty.bits, signed(ty), shift) {
        (32, false, false) => lanes!(|a| 31u32.wrapping_sub(a.leading_zeros())),
        (32, false, true) => lanes!(|a| if a == 0 { u32::MAX } else { a.leading_zeros() }),
        (32, true, false) => {
            lanes!(|a| 31u32.wrapping_sub((a ^ (a as i32 >> 31) as u32).leading_zeros()))
        }
        (32, true, true) => lanes!(|a| {
            let magnitude = a ^ (a as i32 >> 31) as u32;
            if magnitude == 0 {
                u32::MAX
            } else {
                magnitude.leading_zeros()
            }
        }),
        _ => return None,
    })
}

pub(crate) fn binary(name: &str, ty: Type) -> Option<W2> {
    Some(match (name, ty.bits, signed(ty)) {
        ("add", 32, _) => lanes!(|a, b| a.wrapping_add(b)),
        ("add", 16, _) => lanes!(|a, b| a.wrapping_add(b) & 0xffff),
        ("add.sat", 32, true) => lanes!(|a, b| (a as i32).saturating_add(b as i32) as u32),
        ("sub", 32, _) => lanes!(|a, b| a.wrapping_sub(b)),
        ("sub", 16, _) => lanes!(|a, b| a.wrapping_sub(b) & 0xffff),
        ("sub.sat", 32, true) => lanes!(|a, b| (a as i32).saturating_sub(b as i32) as u32),
        ("mul.lo", 32, _) => lanes!(|a, b| a.wrapping_mul(b)),
        ("mul.lo", 16, _) => lanes!(|a, b| a.wrapping_mul(b) & 0xffff),
        ("mul.hi", 32, false) => lanes!(|a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32),
        ("mul.hi", 32, true) => {
            lanes!(|a, b| ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32)
        }
        ("mul.hi", 16, false) => lanes!(|a, b| a.wrapping_mul(b) >> 16),
        ("mul.hi", 16, true) => {
            lanes!(|a, b| (i32::from(a as i16) * i32::from(b as i16)) as u32 >> 16)
        }
        ("mul.wide", 16, false) => lanes!(|a, b| a.wrapping_mul(b)),
        ("mul.wide", 16, true) => {
            lanes!(|a, b| (i32::from(a as i16) * i32::from(b as i16)) as u32)
        }
        ("mul24.lo", 32, false) => {
            lanes!(|a, b| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff))
        }
        ("mul24.lo", 32, true) => {
            lanes!(|a, b| ((a << 8) as i32 >> 8).wrapping_mul((b << 8) as i32 >> 8) as u32)
        }
        ("mul24.hi", 32, false) => {
            lanes!(|a, b| ((u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)) >> 16) as u32)
        }
        ("mul24.hi", 32, true) => lanes!(|a, b| {
            let (a, b) = ((a << 8) as i32 >> 8, (b << 8) as i32 >> 8);
            ((i64::from(a) * i64::from(b)) >> 16) as u32
        }),
        ("div", 32, false) => lanes!(|a, b| divide(a, b)),
        ("div", 32, true) => lanes!(|a, b| divide_signed(a as i32, b as i32) as u32),
        ("div", 16, false) => lanes!(|a, b| divide(a, b) & 0xffff),
        ("div", 16, true) => lanes!(|a, b| {
            divide_signed(i32::from(a as i16), i32::from(b as i16)) as u32 & 0xffff
        }),
        ("rem", 32, false) => lanes!(|a, b| remainder(a, b)),
        ("rem", 32, true) => lanes!(|a, b| remainder_signed(a as i32, b as i32) as u32),
        ("rem", 16, false) => lanes!(|a, b| remainder(a, b)),
        ("rem", 16, true) => lanes!(|a, b| {
            remainder_signed(i32::from(a as i16), i32::from(b as i16)) as u32 & 0xffff
        }),
        ("min", 32 | 16, false) => lanes!(|a, b| a.min(b)),
        ("min", 32, true) => lanes!(|a, b| (a as i32).min(b as i32) as u32),
        ("min", 16, true) => lanes!(|a, b| (a as i16).min(b as i16) as u32 & 0xffff),
        ("max", 32 | 16, false) => lanes!(|a, b| a.max(b)),
        ("max", 32, true) => lanes!(|a, b| (a as i32).max(b as i32) as u32),
        ("max", 16, true) => lanes!(|a, b| (a as i16).max(b as i16) as u32 & 0xffff),
        ("and", 32 | 16, _) => lanes!(|a, b| a & b),
        ("or", 32 | 16, _) => lanes!(|a, b| a | b),
        ("xor", 32 | 16, _) => lanes!(|a, b| a ^ b),
        ("shl", 32, _) => lanes!(|a, b| if b > 31 { 0 } else { a << b }),
        ("shl", 16, _) => lanes!(|a, b| if b > 15 { 0 } else { a << b & 0xffff }),
        ("shr", 32, false) => lanes!(|a, b| if b > 31 { 0 } else { a >> b }),
        ("shr", 32, true) => lanes!(|a, b| (a as i32 >> b.min(31)) as u32),
        ("shr", 16, false) => lanes!(|a, b| if b > 15 { 0 } else { a >> b }),
        ("shr", 16, true) => {
            lanes!(|a, b| (i32::from(a as i16) >> b.min(15)) as u32 & 0xffff)
        }
        ("bmsk.clamp", 32, _) => lanes!(|a, b| mask(a, b, false)),
        ("bmsk.wrap", 32, _) => lanes!(|a, b| mask(a, b, true)),
        ("szext.clamp", 32, false) => lanes!(|a, b| extend(a, b, false, false)),
        ("szext.clamp", 32, true) => lanes!(|a, b| extend(a, b, true, false)),
        ("szext.wrap", 32, false) => lanes!(|a, b| extend(a, b, false, true)),
        ("szext.wrap", 32, true) => lanes!(|a, b| extend(a, b, true, true)),
        ("pack.halves", ..) => lanes!(|a, b| a & 0xffff | b << 16),
        _ => return None,
    })
}

/// `bmsk`: `b` ones from bit `a` on.
fn mask(a: u32, b: u32, wrap: bool) -> u32 {
    let (a, b) = if wrap {
        (a & 31, b & 31)
    } else {
        (a.min(32), b.min(32))
    };
    ((((1u64 << b) - 1) << a) & 0xffff_ffff) as u32
}

/// `szext`: the lowest `n` bits of `a`, extended.
fn extend(a: u32, n: u32, signed: bool, wrap: bool) -> u32 {
    let n = if wrap { n & 31 } else { n.min(32) };
    match (n, signed) {
        (0, _) => 0,
        (n, true) => ((a << (32 - n)) as i32 >> (32 - n)) as u32,
        (n, false) => a << (32 - n) >> (32 - n),
    }
}

pub(crate) fn ternary(name: &str, ty: Type) -> Option<W3> {
    Some(match (name, ty.bits, signed(ty)) {
        ("mad.lo", 32, _) => lanes!(|a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        ("mad.lo", 16, _) => lanes!(|a, b, c| a.wrapping_mul(b).wrapping_add(c) & 0xffff),
        ("mad.hi", 32, false) => {
            lanes!(|a, b, c| (((u64::from(a) * u64::from(b)) >> 32) as u32).wrapping_add(c))
        }
        ("mad.hi", 32, true) => lanes!(|a, b, c| {
            (((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32).wrapping_add(c)
        }),
        ("mad.hi.sat", 32, true) => lanes!(|a, b, c| {
            (((i64::from(a as i32) * i64::from(b as i32)) >> 32) as i32).saturating_add(c as i32)
                as u32
        }),
        ("mad.hi", 16, false) => {
            lanes!(|a, b, c| (a.wrapping_mul(b) >> 16).wrapping_add(c) & 0xffff)
        }
        ("mad.hi", 16, true) => lanes!(|a, b, c| {
            ((i32::from(a as i16) * i32::from(b as i16)) as u32 >> 16).wrapping_add(c) & 0xffff
        }),
        ("mad.wide", 16, false) => lanes!(|a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        ("mad.wide", 16, true) => lanes!(|a, b, c| {
            ((i32::from(a as i16) * i32::from(b as i16)) as u32).wrapping_add(c)
        }),
        ("mad24.lo", 32, false) => {
            lanes!(|a, b, c| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff).wrapping_add(c))
        }
        ("mad24.lo", 32, true) => lanes!(|a, b, c| {
            (((a << 8) as i32 >> 8).wrapping_mul((b << 8) as i32 >> 8) as u32).wrapping_add(c)
        }),
        ("mad24.hi", 32, false) => lanes!(|a, b, c| {
            (((u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)) >> 16) as u32).wrapping_add(c)
        }),
        ("mad24.hi", 32, true) => lanes!(|a, b, c| {
            let (a, b) = ((a << 8) as i32 >> 8, (b << 8) as i32 >> 8);
            (((i64::from(a) * i64::from(b)) >> 16) as u32).wrapping_add(c)
        }),
        ("sad", 32, false) => lanes!(|a, b, c| a.abs_diff(b).wrapping_add(c)),
        ("sad", 32, true) => {
            lanes!(|a, b, c| (a as i32).abs_diff(b as i32).wrapping_add(c))
        }
        ("sad", 16, false) => lanes!(|a, b, c| a.abs_diff(b).wrapping_add(c) & 0xffff),
        ("sad", 16, true) => {
            lanes!(|a, b, c| u32::from((a as i16).abs_diff(b as i16)).wrapping_add(c) & 0xffff)
        }
        ("fns", 32, _) => lanes!(|a, b, c| find_nth_set(a, b, c as i32)),
        ("slct", 32 | 16, _) => lanes!(|a, b, c| if c as i32 >= 0 { a } else { b }),
        // In single precision a negative zero counts as zero, and NaN as negative.
        ("slct.f32", 32 | 16, _) => {
            lanes!(|a, b, c| if f32::from_bits(c) >= 0.0 { a } else { b })
        }
        ("bfe", 32, false) => lanes!(|a, b, c| {
            let (at, len) = (b & 0xff, c & 0xff);
            if at > 31 || len == 0 {
                0
            } else {
                (u64::from(a >> at) & ((1u64 << len.min(32)) - 1)) as u32
            }
        }),
        ("bfe", 32, true) => lanes!(|a, b, c| {
            let (at, len) = (b & 0xff, c & 0xff);
            if len == 0 {
                0
            } else {
                // Bits beyond the top are copies of the sign.
                let shifted = i64::from(a as i32) >> at.min(63);
                (shifted << (64 - len.min(64)) >> (64 - len.min(64))) as u32
            }
        }),
        ("shf.l.wrap", 32, _) => {
            lanes!(|a, b, c| funnel_left(a, b, c & 31))
        }
        ("shf.l.clamp", 32, _) => lanes!(|a, b, c| funnel_left(a, b, c.min(32))),
        ("shf.r.wrap", 32, _) => lanes!(|a, b, c| funnel_right(a, b, c & 31)),
        ("shf.r.clamp", 32, _) => lanes!(|a, b, c| funnel_right(a, b, c.min(32))),
        _ => return ternary_of_bytes(name, ty),
    })
}

/// Permutations of bytes, and products of bytes and half words.
fn ternary_of_bytes(name: &str, ty: Type) -> Option<W3> {
    Some(match (name, ty.bits) {
        ("prmt", 32) => lanes!(|a, b, c| permute(a, b, c)),
        ("prmt.f4e", 32) => {
            lanes!(|a, b, c| permute(a, b, pick(c, [0x3210, 0x4321, 0x5432, 0x6543])))
        }
        ("prmt.b4e", 32) => {
            lanes!(|a, b, c| permute(a, b, pick(c, [0x5670, 0x6701, 0x7012, 0x0123])))
        }
        ("prmt.rc8", 32) => {
            lanes!(|a, b, c| permute(a, b, pick(c, [0x0000, 0x1111, 0x2222, 0x3333])))
        }
        ("prmt.ecl", 32) => {
            lanes!(|a, b, c| permute(a, b, pick(c, [0x3210, 0x3211, 0x3222, 0x3333])))
        }
        ("prmt.ecr", 32) => {
            lanes!(|a, b, c| permute(a, b, pick(c, [0x0000, 0x1110, 0x2210, 0x3210])))
        }
        ("prmt.rc16", 32) => {
            lanes!(|a, b, c| permute(a, b, pick(c, [0x1010, 0x3232, 0x1010, 0x3232])))
        }
        ("dp4a.u32.u32", ..) => lanes!(|a, b, c| dot4(a, b, c, false, false)),
        ("dp4a.u32.s32", ..) => lanes!(|a, b, c| dot4(a, b, c, false, true)),
        ("dp4a.s32.u32", ..) => lanes!(|a, b, c| dot4(a, b, c, true, false)),
        ("dp4a.s32.s32", ..) => lanes!(|a, b, c| dot4(a, b, c, true, true)),
        ("dp2a.lo.u32.u32", ..) => lanes!(|a, b, c| dot2(a, b, c, false, false)),
        ("dp2a.lo.u32.s32", ..) => lanes!(|a, b, c| dot2(a, b, c, false, true)),
        ("dp2a.lo.s32.u32", ..) => lanes!(|a, b, c| dot2(a, b, c, true, false)),
        ("dp2a.lo.s32.s32", ..) => lanes!(|a, b, c| dot2(a, b, c, true, true)),
        ("dp2a.hi.u32.u32", ..) => lanes!(|a, b, c| dot2(a, b >> 16, c, false, false)),
        ("dp2a.hi.u32.s32", ..) => lanes!(|a, b, c| dot2(a, b >> 16, c, false, true)),
        ("dp2a.hi.s32.u32", ..) => lanes!(|a, b, c| dot2(a, b >> 16, c, true, false)),
        ("dp2a.hi.s32.s32", ..) => lanes!(|a, b, c| dot2(a, b >> 16, c, true, true)),
        _ => return None,
    })
}

/// The high word of `b:a` shifted left.
fn funnel_left(a: u32, b: u32, n: u32) -> u32 {
    let pair = u64::from(b) << 32 | u64::from(a);
    (pair << n >> 32) as u32
}

/// The low word of `b:a` shifted right.
fn funnel_right(a: u32, b: u32, n: u32) -> u32 {
    let pair = u64::from(b) << 32 | u64::from(a);
    (pair >> n) as u32
}

/// Four bytes of `b:a`, each named by a nibble of `c`, whose top bit asks for
/// the byte's sign instead.
fn permute(a: u32, b: u32, c: u32) -> u32 {
    let bytes = (u64::from(b) << 32 | u64::from(a)).to_le_bytes();
    let mut out = 0;
    for i in 0..4 {
        let selector = c >> (4 * i) & 0xf;
        let byte = bytes[(selector & 7) as usize];
        let byte = if selector & 8 != 0 {
            (byte as i8 >> 7) as u8
        } else {
            byte
        };
        out |= u32::from(byte) << (8 * i);
    }
    out
}

fn pick(c: u32, selectors: [u32; 4]) -> u32 {
    selectors[(c & 3) as usize]
}

fn dot4(a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool) -> u32 {
    let part = |x: u32, i: usize, signed: bool| {
        let byte = x.to_le_bytes()[i];
        if signed {
            i32::from(byte as i8)
        } else {
            i32::from(byte)
        }
    };
    (0..4).fold(c, |sum, i| {
        sum.wrapping_add((part(a, i, a_signed) * part(b, i, b_signed)) as u32)
    })
}

/// Halves of `a` times the two low bytes of `b`.
fn dot2(a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool) -> u32 {
    (0..2).fold(c, |sum, i| {
        let half = (a >> (16 * i)) as u16;
        let byte = (b >> (8 * i)) as u8;
        let half = if a_signed {
            i32::from(half as i16)
        } else {
            i32::from(half)
        };
        let byte = if b_signed {
            i32::from(byte as i8)
        } else {
            i32::from(byte)
        };
        sum.wrapping_add((half * byte) as u32)
    })
}

/// `bfi`: the lowest `d` bits of `a` put into `b` at bit `c`.
pub(crate) const INSERT: W4 = lanes!(|a, b, c, d| {
    let (at, len) = (c & 0xff, d & 0xff);
    if at > 31 || len == 0 {
        b
    } else {
        let ones = (((1u64 << len.min(32)) - 1) << at) as u32;
        b & !ones | a << at & ones
    }
});

pub(crate) fn compare(name: &str, ty: Type) -> Option<Test2> {
    Some(match (name, ty.bits, signed(ty)) {
        ("eq", 32 | 16, _) => test!(|a, b| a == b),
        ("ne", 32 | 16, _) => test!(|a, b| a != b),
        ("lt" | "lo", 32 | 16, false) => test!(|a, b| a < b),
        ("le" | "ls", 32 | 16, false) => test!(|a, b| a <= b),
        ("gt" | "hi", 32 | 16, false) => test!(|a, b| a > b),
        ("ge" | "hs", 32 | 16, false) => test!(|a, b| a >= b),
        ("lt", 32, true) => test!(|a, b| (a as i32) < b as i32),
        ("le", 32, true) => test!(|a, b| a as i32 <= b as i32),
        ("gt", 32, true) => test!(|a, b| a as i32 > b as i32),
        ("ge", 32, true) => test!(|a, b| a as i32 >= b as i32),
        ("lt", 16, true) => test!(|a, b| (a as i16) < b as i16),
        ("le", 16, true) => test!(|a, b| a as i16 <= b as i16),
        ("gt", 16, true) => test!(|a, b| a as i16 > b as i16),
        ("ge", 16, true) => test!(|a, b| a as i16 >= b as i16),
        _ => return None,
    })
}

/// `fns`: the place of the `offset`-th one of `mask` from `base` on, upwards or, where
/// the offset is negative, downwards; all ones where there is none.
fn find_nth_set(mask: u32, base: u32, offset: i32) -> u32 {
    let is_one = |at: &u32| mask >> at & 1 != 0;
    let (base, nth) = (base & 31, offset.unsigned_abs() as usize);
    let found = match offset {
        0 => Some(base).filter(is_one),
        1.. => (base..32).filter(is_one).nth(nth - 1),
        _ => (0..=base).rev().filter(is_one).nth(nth - 1),
    };
    found.unwrap_or(u32::MAX)
}
