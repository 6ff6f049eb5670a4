//! Bits, comparisons, choices and conversions of integers against a direct model,
//! on a quarter of a million operands each opcode.

use crate::operands::{M16, M32, cases, check, low16, low32, low64, s16, s32, s64, u16, u32, u64};

#[test]
fn bits() {
    check(cases! {
        |a, b, c|
        "and.b32 %r3, %r0, %r1;" => a & b & M32,
        "or.b16 %h3, %h0, %h1;" => (a | b) & M16,
        "xor.b64 %d3, %d0, %d1;" => a ^ b,
        "and.b64 %d3, %d0, %d1;" => a & b,
        "or.b64 %d3, %d0, %d1;" => a | b,
        "xor.b32 %r3, %r0, %r1;" => (a ^ b) & M32,
        "or.b32 %r3, %r0, %r1;" => (a | b) & M32,
        "not.b32 %r3, %r0;" => !a & M32,
        "not.b16 %h3, %h0;" => !a & M16,
        "not.b64 %d3, %d0;" => !a,
        "cnot.b32 %r3, %r0;" => u64::from(a & M32 == 0),
        "cnot.b16 %h3, %h0;" => u64::from(a & M16 == 0),
        "cnot.b64 %d3, %d0;" => u64::from(a == 0),
        "shl.b32 %r3, %r0, %r1;" => low32(u32(a) << u32(b).min(32)),
        "shl.b16 %h3, %h0, %r1;" => low16(u16(a) << u32(b).min(16)),
        "shl.b64 %d3, %d0, %r1;" => low64(u64(a) << u32(b).min(64)),
        "shr.u32 %r3, %r0, %r1;" => low32(u32(a) >> u32(b).min(32)),
        "shr.s32 %r3, %r0, %r1;" => low32(s32(a) >> u32(b).min(32)),
        "shr.u16 %h3, %h0, %r1;" => low16(u16(a) >> u32(b).min(16)),
        "shr.s16 %h3, %h0, %r1;" => low16(s16(a) >> u32(b).min(16)),
        "shr.u64 %d3, %d0, %r1;" => low64(u64(a) >> u32(b).min(64)),
        "shr.s64 %d3, %d0, %r1;" => low64(s64(a) >> u32(b).min(64)),
        "shf.l.wrap.b32 %r3, %r0, %r1, %r2;" =>
            (0..32).fold(0, |d, i| d | funnel(a, b, i + 32 - c % 32) << i),
        "shf.l.clamp.b32 %r3, %r0, %r1, %r2;" =>
            (0..32).fold(0, |d, i| d | funnel(a, b, i + 32 - (c & M32).min(32)) << i),
        "shf.r.wrap.b32 %r3, %r0, %r1, %r2;" =>
            (0..32).fold(0, |d, i| d | funnel(a, b, i + c % 32) << i),
        "shf.r.clamp.b32 %r3, %r0, %r1, %r2;" =>
            (0..32).fold(0, |d, i| d | funnel(a, b, i + (c & M32).min(32)) << i),
        "popc.b32 %r3, %r0;" => (0..32).map(|i| a >> i & 1).sum(),
        "popc.b64 %r3, %d0;" => (0..64).map(|i| a >> i & 1).sum(),
        "clz.b32 %r3, %r0;" => (0..32).position(|i| a >> (31 - i) & 1 != 0).unwrap_or(32) as u64,
        "clz.b64 %r3, %d0;" => (0..64).position(|i| a >> (63 - i) & 1 != 0).unwrap_or(64) as u64,
        "bfind.u32 %r3, %r0;" => find(a & M32, 32, false),
        "bfind.u64 %r3, %d0;" => find(a, 64, false),
        "bfind.s32 %r3, %r0;" => find(if s32(a) < 0 { !a & M32 } else { a & M32 }, 32, false),
        "bfind.s64 %r3, %d0;" => find(if s64(a) < 0 { !a } else { a }, 64, false),
        "bfind.shiftamt.u32 %r3, %r0;" => find(a & M32, 32, true),
        "bfind.shiftamt.u64 %r3, %d0;" => find(a, 64, true),
        "bfind.shiftamt.s32 %r3, %r0;" =>
            find(if s32(a) < 0 { !a & M32 } else { a & M32 }, 32, true),
        "bfind.shiftamt.s64 %r3, %d0;" => find(if s64(a) < 0 { !a } else { a }, 64, true),
        "brev.b32 %r3, %r0;" => (0..32).fold(0, |d, i| d | (a >> i & 1) << (31 - i)),
        "brev.b64 %d3, %d0;" => (0..64).fold(0, |d, i| d | (a >> i & 1) << (63 - i)),
        "bfe.u32 %r3, %r0, %r1, %r2;" => extract(a, b, c, 32, false),
        "bfe.s32 %r3, %r0, %r1, %r2;" => extract(a, b, c, 32, true),
        "bfe.u64 %d3, %d0, %r1, %r2;" => extract(a, b, c, 64, false),
        "bfe.s64 %d3, %d0, %r1, %r2;" => extract(a, b, c, 64, true),
        "bfi.b32 %r3, %r0, %r1, %r2, %r0;" => insert(a, b, c, a, 32),
        "bfi.b32 %r3, %r0, %r1, %r2, 7;" => insert(a, b, c, 7, 32),
        "bfi.b64 %d3, %d0, %d1, %r2, %r1;" => insert(a, b, c, b, 64),
        "bmsk.clamp.b32 %r3, %r0, %r1;" => {
            let (a, b) = ((a & M32).min(32), (b & M32).min(32));
            (0..32).filter(|i| (a..a + b).contains(i)).fold(0, |d, i| d | 1 << i)
        },
        "bmsk.wrap.b32 %r3, %r0, %r1;" => {
            let (a, b) = (a % 32, b % 32);
            (0..32).filter(|i| (a..a + b).contains(i)).fold(0, |d, i| d | 1 << i)
        },
        "szext.clamp.u32 %r3, %r0, %r1;" => extend(a, (b & M32).min(32), false),
        "szext.clamp.s32 %r3, %r0, %r1;" => extend(a, (b & M32).min(32), true),
        "szext.wrap.u32 %r3, %r0, %r1;" => extend(a, b % 32, false),
        "szext.wrap.s32 %r3, %r0, %r1;" => extend(a, b % 32, true),
        "prmt.b32 %r3, %r0, %r1, %r2;" => {
            let pair = (a & M32) | b << 32;
            (0..4).fold(0, |d, i| {
                let selector = c >> (4 * i) & 0xf;
                let byte = pair >> (8 * (selector & 7)) & 0xff;
                let sign = if byte & 0x80 != 0 { 0xff } else { 0 };
                d | (if selector & 8 != 0 { sign } else { byte }) << (8 * i)
            })
        },
        "prmt.b32.f4e %r3, %r0, %r1, %r2;" => bytes(a, b, |i| i + c % 4),
        "prmt.b32.b4e %r3, %r0, %r1, %r2;" => bytes(a, b, |i| (8 + c % 4 - i) % 8),
        "prmt.b32.rc8 %r3, %r0, %r1, %r2;" => bytes(a, b, |_| c % 4),
        "prmt.b32.ecl %r3, %r0, %r1, %r2;" => bytes(a, b, |i| i.max(c % 4)),
        "prmt.b32.ecr %r3, %r0, %r1, %r2;" => bytes(a, b, |i| i.min(c % 4)),
        "prmt.b32.rc16 %r3, %r0, %r1, %r2;" => bytes(a, b, |i| i % 2 + 2 * (c % 2)),
        "lop3.b32 %r3, %r0, %r1, %r2, 0x96;" => (a ^ b ^ c) & M32,
        "lop3.b32 %r3, %r0, %r1, %r2, 0xe8;" => (a & b | b & c | a & c) & M32,
        "lop3.b32 %r3, %r0, %r1, %r2, 0xca;" => (a & b | !a & c) & M32,
        "lop3.b32 %r3, %r0, %r1, %r2, 0x01;" => !(a | b | c) & M32,
    });
}

/// Bit `i` of the pair `b:a`, zero beyond it.
fn funnel(a: u64, b: u64, i: u64) -> u64 {
    let pair = (a & M32) | b << 32;
    if i < 64 { pair >> i & 1 } else { 0 }
}

fn find(a: u64, bits: u64, shift: bool) -> u64 {
    match (0..bits).rev().find(|i| a >> i & 1 != 0) {
        Some(i) if shift => bits - 1 - i,
        Some(i) => i,
        None => M32,
    }
}

/// `bfe`, bit by bit as the manual has it.
fn extract(a: u64, b: u64, c: u64, bits: u64, signed: bool) -> u64 {
    let (at, len, top) = (b & 0xff, c & 0xff, bits - 1);
    let sign = if !signed || len == 0 {
        0
    } else {
        a >> (at + len - 1).min(top) & 1
    };
    (0..bits).fold(0, |d, i| {
        let bit = if i < len && at + i <= top {
            a >> (at + i) & 1
        } else {
            sign
        };
        d | bit << i
    })
}

/// `bfi`, bit by bit as the manual has it.
fn insert(a: u64, b: u64, c: u64, d: u64, bits: u64) -> u64 {
    let (at, len) = (c & 0xff, d & 0xff);
    let mut out = if bits == 32 { b & M32 } else { b };
    let mut i = 0;
    while i < len && at + i < bits {
        out = out & !(1 << (at + i)) | (a >> i & 1) << (at + i);
        i += 1;
    }
    out
}

fn extend(a: u64, n: u64, signed: bool) -> u64 {
    let low = a & ((1 << n) - 1);
    if signed && n > 0 && low >> (n - 1) & 1 != 0 {
        (low | u64::MAX << n) & M32
    } else {
        low
    }
}

/// Bytes of `b:a` chosen for each place.
fn bytes(a: u64, b: u64, choose: impl Fn(u64) -> u64) -> u64 {
    let pair = (a & M32) | b << 32;
    (0..4).fold(0, |d, i| d | (pair >> (8 * choose(i)) & 0xff) << (8 * i))
}

#[test]
fn comparisons_and_choices() {
    check(cases! {
        |a, b, c|
        "setp.eq.u32 %p0, %r0, %r1;" => u64::from(u32(a) == u32(b)),
        "setp.ne.b32 %p0, %r0, %r1;" => u64::from(u32(a) != u32(b)),
        "setp.lt.u32 %p0, %r0, %r1;" => u64::from(u32(a) < u32(b)),
        "setp.le.s32 %p0, %r0, %r1;" => u64::from(s32(a) <= s32(b)),
        "setp.gt.s32 %p0, %r0, %r1;" => u64::from(s32(a) > s32(b)),
        "setp.ge.u32 %p0, %r0, %r1;" => u64::from(u32(a) >= u32(b)),
        "setp.lo.u32 %p0, %r0, %r1;" => u64::from(u32(a) < u32(b)),
        "setp.ls.u32 %p0, %r0, %r1;" => u64::from(u32(a) <= u32(b)),
        "setp.hi.u32 %p0, %r0, %r1;" => u64::from(u32(a) > u32(b)),
        "setp.hs.u32 %p0, %r0, %r1;" => u64::from(u32(a) >= u32(b)),
        "setp.lt.s32 %p0, %r0, %r1;" => u64::from(s32(a) < s32(b)),
        "setp.ge.s32 %p0, %r0, %r1;" => u64::from(s32(a) >= s32(b)),
        "setp.lt.s16 %p0, %h0, %h1;" => u64::from(s16(a) < s16(b)),
        "setp.le.s16 %p0, %h0, %h1;" => u64::from(s16(a) <= s16(b)),
        "setp.gt.s16 %p0, %h0, %h1;" => u64::from(s16(a) > s16(b)),
        "setp.ge.s16 %p0, %h0, %h1;" => u64::from(s16(a) >= s16(b)),
        "setp.gt.u16 %p0, %h0, %h1;" => u64::from(u16(a) > u16(b)),
        "setp.eq.b64 %p0, %d0, %d1;" => u64::from(a == b),
        "setp.ne.u64 %p0, %d0, %d1;" => u64::from(a != b),
        "setp.lt.u64 %p0, %d0, %d1;" => u64::from(a < b),
        "setp.le.u64 %p0, %d0, %d1;" => u64::from(a <= b),
        "setp.gt.u64 %p0, %d0, %d1;" => u64::from(a > b),
        "setp.ge.u64 %p0, %d0, %d1;" => u64::from(a >= b),
        "setp.lt.s64 %p0, %d0, %d1;" => u64::from(s64(a) < s64(b)),
        "setp.le.s64 %p0, %d0, %d1;" => u64::from(s64(a) <= s64(b)),
        "setp.gt.s64 %p0, %d0, %d1;" => u64::from(s64(a) > s64(b)),
        "setp.ge.s64 %p0, %d0, %d1;" => u64::from(s64(a) >= s64(b)),
        // Both outcomes, combined with a third predicate.
        "setp.lt.u32 %p1, %r2, %r0; setp.eq.and.u32 %p2|%p3, %r0, %r1, %p1; selp.u32 %r4, 1, 0, \
         %p2; selp.u32 %r5, 2, 0, %p3; or.b32 %r3, %r4, %r5;" =>
            match (u32(a) == u32(b), u32(c) < u32(a)) {
                (_, false) => 0,
                (true, true) => 1,
                (false, true) => 2,
            },
        "setp.lt.u32 %p1, %r2, %r0; setp.lt.or.s32 %p2, %r0, %r1, !%p1;" =>
            u64::from(s32(a) < s32(b) || u32(c) >= u32(a)),
        "setp.lt.u32 %p1, %r2, %r0; setp.lt.xor.s32 %p2, %r0, %r1, %p1;" =>
            u64::from((s32(a) < s32(b)) != (u32(c) < u32(a))),
        "setp.lt.u32 %p1, %r0, %r1; setp.lt.u32 %p2, %r1, %r2; and.pred %p3, %p1, %p2; or.pred \
         %p4, %p1, %p2; xor.pred %p5, %p3, %p4; not.pred %p6, %p5; mov.pred %p7, %p6;" =>
            u64::from((u32(a) < u32(b)) == (u32(b) < u32(c))),
        "set.lt.u32.s32 %r3, %r0, %r1;" => if s32(a) < s32(b) { M32 } else { 0 },
        "set.ge.f32.u32 %f3, %r0, %r1;" =>
            if u32(a) >= u32(b) { u64::from(1f32.to_bits()) } else { 0 },
        "setp.lt.u32 %p1, %r2, %r1; selp.b32 %r3, %r0, %r1, %p1;" =>
            if u32(c) < u32(b) { a & M32 } else { b & M32 },
        "setp.lt.u32 %p1, %r2, %r1; selp.b64 %d3, %d0, %d1, %p1;" =>
            if u32(c) < u32(b) { a } else { b },
        "slct.u32.s32 %r3, %r0, %r1, %r2;" => if s32(c) >= 0 { a & M32 } else { b & M32 },
        "slct.u64.s32 %d3, %d0, %d1, %r2;" => if s32(c) >= 0 { a } else { b },
        "slct.b16.s32 %h3, %h0, %h1, %r2;" => if s32(c) >= 0 { a & M16 } else { b & M16 },
        "slct.u32.f32 %r3, %r0, %r1, %f2;" =>
            if f32::from_bits(c as u32) >= 0.0 { a & M32 } else { b & M32 },
        "slct.b64.f32 %d3, %d0, %d1, %f2;" => if f32::from_bits(c as u32) >= 0.0 { a } else { b },
    });
}

#[test]
fn moves_and_integer_conversions() {
    check(cases! {
        |a, b, c|
        "mov.u32 %r3, %r0;" => a & M32,
        "mov.b64 %d3, {%r1, %r0};" => (b & M32) | a << 32,
        "mov.b64 {%r3, %r4}, %d0; mov.b32 %r3, %r4;" => a >> 32,
        "mov.b64 {_, %r3}, %d0;" => a >> 32,
        "mov.b32 %r3, {%h1, %h0};" => (b & M16) | (a & M16) << 16,
        "mov.b32 {%h3, %h4}, %r0; mov.b16 %h3, %h4;" => a >> 16 & M16,
        "mov.b64 %d3, {%h0, %h1, %h2, %h0};" =>
            (a & M16) | (b & M16) << 16 | (c & M16) << 32 | a << 48,
        "mov.b64 {%h3, %h4, %h5, %h6}, %d0; mov.b16 %h3, %h5;" => a >> 32 & M16,
        "cvt.u64.u32 %d3, %r0;" => a & M32,
        "cvt.s64.s32 %d3, %r0;" => low64(s32(a)),
        "cvt.u32.u64 %r3, %d0;" => a & M32,
        "cvt.u16.u32 %h3, %r0;" => a & M16,
        "cvt.s32.s16 %r3, %h0;" => low32(s16(a)),
        "cvt.u32.u16 %r3, %h0;" => a & M16,
        "cvt.s32.s8 %r3, %r0;" => low32(i128::from(a as i8)),
        "cvt.u32.u8 %r3, %r0;" => a & 0xff,
        "cvt.s16.s8 %h3, %h0;" => low16(i128::from(a as i8)),
        "cvt.s64.s16 %d3, %h0;" => low64(s16(a)),
        "cvt.s64.s8 %d3, %d0;" => low64(i128::from(a as i8)),
        "cvt.s8.s32 %r3, %r0;" => low32(i128::from(a as i8)),
        "cvt.s8.s64 %h3, %d0;" => low16(i128::from(a as i8)),
        "cvt.u8.u64 %d3, %d0;" => a & 0xff,
        "cvt.sat.s32.s64 %r3, %d0;" => low32(s64(a).clamp(-(1 << 31), (1 << 31) - 1)),
        "cvt.sat.u32.s64 %r3, %d0;" => low32(s64(a).clamp(0, i128::from(M32))),
        "cvt.sat.u32.s32 %r3, %r0;" => low32(s32(a).max(0)),
        "cvt.sat.s32.u32 %r3, %r0;" => low32(u32(a).min((1 << 31) - 1)),
        "cvt.sat.u8.s32 %r3, %r0;" => low32(s32(a).clamp(0, 255)),
        "cvt.sat.s16.s32 %h3, %r0;" => low16(s32(a).clamp(-(1 << 15), (1 << 15) - 1)),
        "cvt.sat.u64.s64 %d3, %d0;" => low64(s64(a).max(0)),
        // Addition under a guard leaves the other lanes alone.
        "setp.lt.u32 %p1, %r0, %r1; mov.u32 %r3, %r2; @%p1 add.u32 %r3, %r3, 1; @!%p1 xor.b32 \
         %r3, %r3, %r0;" =>
            if u32(a) < u32(b) { low32(u32(c) + 1) } else { (a ^ c) & M32 },
    });
}
