//! Integer arithmetic against a direct model, on a quarter of a million operands each opcode.

use crate::operands::{M16, M32, cases, check, low16, low32, low64, s16, s32, s64, u16, u32, u64};

#[test]
fn sums_and_differences() {
    check(cases! {
        |a, b, c|
        "add.u32 %r3, %r0, %r1;" => low32(u32(a) + u32(b)),
        "add.s32 %r3, %r0, %r1;" => low32(s32(a) + s32(b)),
        "add.u16 %h3, %h0, %h1;" => low16(u16(a) + u16(b)),
        "add.s64 %d3, %d0, %d1;" => low64(s64(a) + s64(b)),
        "add.sat.s32 %r3, %r0, %r1;" => low32((s32(a) + s32(b)).clamp(-(1 << 31), (1 << 31) - 1)),
        "sub.u32 %r3, %r0, %r1;" => low32(u32(a) - u32(b)),
        "sub.s16 %h3, %h0, %h1;" => low16(s16(a) - s16(b)),
        "sub.u64 %d3, %d0, %d1;" => low64(u64(a) - u64(b)),
        "sub.sat.s32 %r3, %r0, %r1;" => low32((s32(a) - s32(b)).clamp(-(1 << 31), (1 << 31) - 1)),
        "neg.s32 %r3, %r0;" => low32(-s32(a)),
        "neg.s16 %h3, %h0;" => low16(-s16(a)),
        "neg.s64 %d3, %d0;" => low64(-s64(a)),
        "abs.s32 %r3, %r0;" => low32(s32(a).abs()),
        "abs.s16 %h3, %h0;" => low16(s16(a).abs()),
        "abs.s64 %d3, %d0;" => low64(s64(a).abs()),
        "min.u32 %r3, %r0, %r1;" => low32(u32(a).min(u32(b))),
        "min.s32 %r3, %r0, %r1;" => low32(s32(a).min(s32(b))),
        "min.u16 %h3, %h0, %h1;" => low16(u16(a).min(u16(b))),
        "min.s16 %h3, %h0, %h1;" => low16(s16(a).min(s16(b))),
        "min.u64 %d3, %d0, %d1;" => low64(u64(a).min(u64(b))),
        "min.s64 %d3, %d0, %d1;" => low64(s64(a).min(s64(b))),
        "max.u32 %r3, %r0, %r1;" => low32(u32(a).max(u32(b))),
        "max.s32 %r3, %r0, %r1;" => low32(s32(a).max(s32(b))),
        "max.u16 %h3, %h0, %h1;" => low16(u16(a).max(u16(b))),
        "max.s16 %h3, %h0, %h1;" => low16(s16(a).max(s16(b))),
        "max.u64 %d3, %d0, %d1;" => low64(u64(a).max(u64(b))),
        "max.s64 %d3, %d0, %d1;" => low64(s64(a).max(s64(b))),
        "sad.u32 %r3, %r0, %r1, %r2;" => low32((u32(a) - u32(b)).abs() + u32(c)),
        "sad.s32 %r3, %r0, %r1, %r2;" => low32((s32(a) - s32(b)).abs() + s32(c)),
        "sad.u16 %h3, %h0, %h1, %h2;" => low16((u16(a) - u16(b)).abs() + u16(c)),
        "sad.s16 %h3, %h0, %h1, %h2;" => low16((s16(a) - s16(b)).abs() + s16(c)),
        "sad.u64 %d3, %d0, %d1, %d2;" => low64((u64(a) - u64(b)).abs() + u64(c)),
        "sad.s64 %d3, %d0, %d1, %d2;" => low64((s64(a) - s64(b)).abs() + s64(c)),
    });
}

#[test]
fn products() {
    check(cases! {
        |a, b, c|
        "mul.lo.u32 %r3, %r0, %r1;" => low32(u32(a) * u32(b)),
        "mul.hi.u32 %r3, %r0, %r1;" => low32((u32(a) * u32(b)) >> 32),
        "mul.hi.s32 %r3, %r0, %r1;" => low32((s32(a) * s32(b)) >> 32),
        "mul.lo.s16 %h3, %h0, %h1;" => low16(s16(a) * s16(b)),
        "mul.hi.u16 %h3, %h0, %h1;" => low16((u16(a) * u16(b)) >> 16),
        "mul.hi.s16 %h3, %h0, %h1;" => low16((s16(a) * s16(b)) >> 16),
        "mul.wide.u16 %r3, %h0, %h1;" => low32(u16(a) * u16(b)),
        "mul.wide.s16 %r3, %h0, %h1;" => low32(s16(a) * s16(b)),
        "mul.wide.u32 %d3, %r0, %r1;" => low64(u32(a) * u32(b)),
        "mul.wide.s32 %d3, %r0, %r1;" => low64(s32(a) * s32(b)),
        "mul.lo.u64 %d3, %d0, %d1;" => a.wrapping_mul(b),
        "mul.hi.u64 %d3, %d0, %d1;" => ((u128::from(a) * u128::from(b)) >> 64) as u64,
        "mul.hi.s64 %d3, %d0, %d1;" => low64((s64(a) * s64(b)) >> 64),
        "mul24.lo.u32 %r3, %r0, %r1;" => low32((u32(a) & 0xff_ffff) * (u32(b) & 0xff_ffff)),
        "mul24.hi.u32 %r3, %r0, %r1;" => low32(((u32(a) & 0xff_ffff) * (u32(b) & 0xff_ffff)) >> 16),
        "mul24.lo.s32 %r3, %r0, %r1;" => low32(s24(a) * s24(b)),
        "mul24.hi.s32 %r3, %r0, %r1;" => low32((s24(a) * s24(b)) >> 16),
        "mad24.lo.u32 %r3, %r0, %r1, %r2;" =>
            low32((u32(a) & 0xff_ffff) * (u32(b) & 0xff_ffff) + u32(c)),
        "mad24.hi.u32 %r3, %r0, %r1, %r2;" =>
            low32((((u32(a) & 0xff_ffff) * (u32(b) & 0xff_ffff)) >> 16) + u32(c)),
        "mad24.lo.s32 %r3, %r0, %r1, %r2;" => low32(s24(a) * s24(b) + s32(c)),
        "mad24.hi.s32 %r3, %r0, %r1, %r2;" => low32(((s24(a) * s24(b)) >> 16) + s32(c)),
        "mad.lo.u32 %r3, %r0, %r1, %r2;" => low32(u32(a) * u32(b) + u32(c)),
        "mad.hi.u32 %r3, %r0, %r1, %r2;" => low32(((u32(a) * u32(b)) >> 32) + u32(c)),
        "mad.hi.s32 %r3, %r0, %r1, %r2;" => low32(((s32(a) * s32(b)) >> 32) + s32(c)),
        "mad.hi.sat.s32 %r3, %r0, %r1, %r2;" =>
            low32((((s32(a) * s32(b)) >> 32) + s32(c)).clamp(-(1 << 31), (1 << 31) - 1)),
        "mad.lo.u16 %h3, %h0, %h1, %h2;" => low16(u16(a) * u16(b) + u16(c)),
        "mad.hi.u16 %h3, %h0, %h1, %h2;" => low16(((u16(a) * u16(b)) >> 16) + u16(c)),
        "mad.hi.s16 %h3, %h0, %h1, %h2;" => low16(((s16(a) * s16(b)) >> 16) + s16(c)),
        "mad.wide.u16 %r3, %h0, %h1, %r2;" => low32(u16(a) * u16(b) + u32(c)),
        "mad.wide.s16 %r3, %h0, %h1, %r2;" => low32(s16(a) * s16(b) + s32(c)),
        "mad.wide.u32 %d3, %r0, %r1, %d2;" => low64(u32(a) * u32(b) + u64(c)),
        "mad.wide.s32 %d3, %r0, %r1, %d2;" => low64(s32(a) * s32(b) + s64(c)),
        "mad.lo.s64 %d3, %d0, %d1, %d2;" => a.wrapping_mul(b).wrapping_add(c),
        "mad.hi.u64 %d3, %d0, %d1, %d2;" =>
            (((u128::from(a) * u128::from(b)) >> 64) as u64).wrapping_add(c),
        "mad.hi.s64 %d3, %d0, %d1, %d2;" => low64(((s64(a) * s64(b)) >> 64) + s64(c)),
        "dp4a.u32.u32 %r3, %r0, %r1, %r2;" => dot(a, b, c, 4, [false; 2]),
        "dp4a.s32.u32 %r3, %r0, %r1, %r2;" => dot(a, b, c, 4, [true, false]),
        "dp4a.u32.s32 %r3, %r0, %r1, %r2;" => dot(a, b, c, 4, [false, true]),
        "dp4a.s32.s32 %r3, %r0, %r1, %r2;" => dot(a, b, c, 4, [true; 2]),
        "dp2a.lo.u32.u32 %r3, %r0, %r1, %r2;" => dot(a, b, c, 2, [false; 2]),
        "dp2a.lo.s32.u32 %r3, %r0, %r1, %r2;" => dot(a, b, c, 2, [true, false]),
        "dp2a.lo.u32.s32 %r3, %r0, %r1, %r2;" => dot(a, b, c, 2, [false, true]),
        "dp2a.hi.s32.s32 %r3, %r0, %r1, %r2;" => dot(a, b >> 16, c, 2, [true; 2]),
        "dp2a.hi.u32.u32 %r3, %r0, %r1, %r2;" => dot(a, b >> 16, c, 2, [false; 2]),
        "dp2a.lo.s32.s32 %r3, %r0, %r1, %r2;" => dot(a, b, c, 2, [true; 2]),
        "dp2a.hi.s32.u32 %r3, %r0, %r1, %r2;" => dot(a, b >> 16, c, 2, [true, false]),
        "dp2a.hi.u32.s32 %r3, %r0, %r1, %r2;" => dot(a, b >> 16, c, 2, [false, true]),
    });
}

/// The low 24 bits, signed.
fn s24(x: u64) -> i128 {
    let low = i128::from(x & 0xff_ffff);
    if low >= 1 << 23 { low - (1 << 24) } else { low }
}

/// `dp4a` with four parts, `dp2a` with two: parts of `a` times bytes of `b`.
fn dot(a: u64, b: u64, c: u64, parts: u32, signed: [bool; 2]) -> u64 {
    let part = |x: u64, bits: u32, i: u32, signed: bool| {
        let part = i128::from(x >> (bits * i) & ((1 << bits) - 1));
        if signed && part >= 1 << (bits - 1) {
            part - (1 << bits)
        } else {
            part
        }
    };
    let sum: i128 = (0..parts)
        .map(|i| part(a, 32 / parts, i, signed[0]) * part(b, 8, i, signed[1]))
        .sum();
    low32(sum + u32(c))
}

#[test]
fn carry_chains() {
    check(cases! {
        |a, b, c|
        // The sum of two longs, word by word, and the carry out of it.
        "mov.b64 {%r10, %r11}, %d0; mov.b64 {%r12, %r13}, %d1; add.cc.u32 %r14, %r10, %r12; \
         addc.u32 %r15, %r11, %r13; mov.b64 %d3, {%r14, %r15};" =>
            a.wrapping_add(b),
        "mov.b64 {%r10, %r11}, %d0; mov.b64 {%r12, %r13}, %d1; add.cc.s32 %r14, %r10, %r12; \
         addc.cc.s32 %r15, %r11, %r13; addc.u32 %r3, 0, 0;" =>
            u64::from(a.checked_add(b).is_none()),
        "mov.b64 {%r10, %r11}, %d0; mov.b64 {%r12, %r13}, %d1; sub.cc.u32 %r14, %r10, %r12; \
         subc.u32 %r15, %r11, %r13; mov.b64 %d3, {%r14, %r15};" =>
            a.wrapping_sub(b),
        "mov.b64 {%r10, %r11}, %d0; mov.b64 {%r12, %r13}, %d1; sub.cc.s32 %r14, %r10, %r12; \
         subc.cc.s32 %r15, %r11, %r13; subc.u32 %r3, 0, 0;" =>
            if a < b { M32 } else { 0 },
        "add.cc.u64 %d4, %d0, %d1; addc.cc.u64 %d5, %d2, %d0; addc.u64 %d3, 0, 0;" =>
            low64((u64(c) + u64(a) + ((u64(a) + u64(b)) >> 64)) >> 64),
        "sub.cc.u64 %d4, %d0, %d1; subc.u64 %d3, %d2, %d0;" =>
            low64(u64(c) - u64(a) - i128::from(a < b)),
        "sub.cc.u64 %d4, %d0, %d1; subc.cc.u64 %d5, %d2, %d0; subc.u64 %d3, 0, 0;" =>
            low64((u64(c) - u64(a) - i128::from(a < b)).min(0).signum()),
        // A pair of halves: the product plus a long.
        "mov.b64 {%r10, %r11}, %d2; mad.lo.cc.u32 %r14, %r0, %r1, %r10; madc.hi.u32 %r15, %r0, \
         %r1, %r11; mov.b64 %d3, {%r14, %r15};" =>
            low64(u32(a) * u32(b) + u64(c)),
        "mov.b64 {%r10, %r11}, %d2; mad.lo.cc.u32 %r14, %r0, %r1, %r10; madc.hi.cc.u32 %r15, \
         %r0, %r1, %r11; addc.u32 %r3, 0, 0;" =>
            low64((u32(a) * u32(b) + u64(c)) >> 64),
        "mov.b64 {%r10, %r11}, %d2; mad.lo.cc.s32 %r14, %r0, %r1, %r10; madc.hi.s32 %r15, %r0, \
         %r1, %r11; mov.b64 %d3, {%r14, %r15};" =>
            low64(s32(a) * s32(b) + s64(c)),
        // High half first: its carry goes into a low half.
        "mad.hi.cc.u32 %r14, %r0, %r1, %r2; madc.lo.cc.u32 %r3, %r0, %r2, %r1;" =>
            low32(u32(a) * u32(c) + u32(b) + ((((u32(a) * u32(b)) >> 32) + u32(c)) >> 32)),
        "mad.lo.cc.u64 %d4, %d0, %d1, %d2; madc.hi.u64 %d3, %d0, %d1, 0;" =>
            ((u128::from(a) * u128::from(b) + u128::from(c)) >> 64) as u64,
        "mad.hi.cc.s64 %d4, %d0, %d1, %d2; madc.lo.cc.s64 %d5, %d0, %d1, 0; \
         addc.u64 %d3, 0, 0;" => {
            let high = ((s64(a) * s64(b)) >> 64) as u64;
            let carry = high.checked_add(c).is_none();
            u64::from(carry && a.wrapping_mul(b) == u64::MAX)
        },
    });
}

#[test]
fn quotients_and_remainders() {
    // Division by zero gives what the hardware gives: all ones, and the dividend.
    check(cases! {
        |a, b, c|
        "div.u32 %r3, %r0, %r1;" => if u32(b) == 0 { M32 } else { low32(u32(a) / u32(b)) },
        "div.s32 %r3, %r0, %r1;" => if u32(b) == 0 { M32 } else { low32(s32(a) / s32(b)) },
        "div.u16 %h3, %h0, %h1;" => if u16(b) == 0 { M16 } else { low16(u16(a) / u16(b)) },
        "div.s16 %h3, %h0, %h1;" => if u16(b) == 0 { M16 } else { low16(s16(a) / s16(b)) },
        "div.u64 %d3, %d0, %d1;" => if b == 0 { u64::MAX } else { low64(u64(a) / u64(b)) },
        "div.s64 %d3, %d0, %d1;" => if b == 0 { u64::MAX } else { low64(s64(a) / s64(b)) },
        "rem.u32 %r3, %r0, %r1;" =>
            if u32(b) == 0 { low32(u32(a)) } else { low32(u32(a) % u32(b)) },
        "rem.s32 %r3, %r0, %r1;" =>
            if u32(b) == 0 { low32(u32(a)) } else { low32(s32(a) % s32(b)) },
        "rem.u16 %h3, %h0, %h1;" =>
            if u16(b) == 0 { low16(u16(a)) } else { low16(u16(a) % u16(b)) },
        "rem.s16 %h3, %h0, %h1;" =>
            if u16(b) == 0 { low16(u16(a)) } else { low16(s16(a) % s16(b)) },
        "rem.u64 %d3, %d0, %d1;" => if b == 0 { a } else { low64(u64(a) % u64(b)) },
        "rem.s64 %d3, %d0, %d1;" => if b == 0 { a } else { low64(s64(a) % s64(b)) },
    });
}
