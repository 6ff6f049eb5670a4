//! Every integer opcode against a direct model, on a million operands each.

use crate::common::{device_with, kernel};
use cuda_sim::ptx::Module;
use cuda_sim::{Checks, Device, Grid};
use std::sync::OnceLock;

const COUNT: usize = 1 << 20;

/// Operands: random ones, and among them those where arithmetic goes wrong.
pub fn operands() -> &'static [Vec<u64>; 3] {
    static OPERANDS: OnceLock<[Vec<u64>; 3]> = OnceLock::new();
    OPERANDS.get_or_init(|| {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        std::array::from_fn(|_| {
            (0..COUNT)
                .map(|_| {
                    let value = random();
                    match random() % 16 {
                        0 => 0,
                        1 => 1,
                        2 => u64::MAX,
                        3 => 1 << (value % 64),
                        4 => (1 << (value % 64)) - 1,
                        5 => !(1 << (value % 64)),
                        6 => value % 70,
                        7 => 0x7fff_ffff_7fff_ffff,
                        8 => 0x8000_0000_8000_0000,
                        9 => value & 0xffff_ffff_0000_0000,
                        10 => value % 0x1_0000,
                        _ => value,
                    }
                })
                .collect()
        })
    })
}

pub struct Bench {
    device: Device,
    addresses: [u64; 4],
}

impl Bench {
    pub fn new(operands: &[Vec<u64>; 3]) -> Self {
        let device = device_with(Checks::NONE);
        let mut addresses = [0; 4];
        for (address, values) in addresses.iter_mut().zip(operands) {
            let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
            *address = device.alloc(bytes.len() as u64).unwrap();
            device.write(*address, &bytes).unwrap();
        }
        addresses[3] = device.alloc(8 * operands[0].len() as u64).unwrap();
        Bench { device, addresses }
    }

    /// Runs instructions on every triple of operands. They find them in `%d0`,
    /// `%d1`, `%d2`, the low words in `%r0`, `%r1`, `%r2` and the low halves in
    /// `%h0`, `%h1`, `%h2`, and leave the result in `out`.
    pub fn results(&self, text: &str, out: &str, count: usize) -> Vec<u64> {
        let widen = match &out[..2] {
            "%d" => format!("mov.b64 %d9, {out};"),
            "%g" => format!("mov.b64 %d9, {out};"),
            "%f" => format!("mov.b32 %r9, {out}; cvt.u64.u32 %d9, %r9;"),
            "%r" => format!("cvt.u64.u32 %d9, {out};"),
            "%h" => format!("cvt.u64.u16 %d9, {out};"),
            _ => format!("selp.u64 %d9, 1, 0, {out};"),
        };
        let source = kernel(
            4,
            &format!(
                "mov.u32 %r50, %ctaid.x; mov.u32 %r51, %ntid.x; mov.u32 %r52, %tid.x;
                 mad.lo.u32 %r53, %r50, %r51, %r52; mul.wide.u32 %d50, %r53, 8;
                 add.u64 %a5, %a0, %d50; add.u64 %a6, %a1, %d50; add.u64 %a7, %a2, %d50;
                 add.u64 %a8, %a3, %d50;
                 ld.global.u64 %d0, [%a5]; ld.global.u64 %d1, [%a6]; ld.global.u64 %d2, [%a7];
                 cvt.u32.u64 %r0, %d0; cvt.u32.u64 %r1, %d1; cvt.u32.u64 %r2, %d2;
                 cvt.u16.u64 %h0, %d0; cvt.u16.u64 %h1, %d1; cvt.u16.u64 %h2, %d2;
                 mov.b32 %f0, %r0; mov.b32 %f1, %r1; mov.b32 %f2, %r2;
                 mov.b64 %g0, %d0; mov.b64 %g1, %d1; mov.b64 %g2, %d2;
                 {text}
                 {widen}
                 st.global.u64 [%a8], %d9;"
            ),
        );
        let module = Module::parse(&source).unwrap_or_else(|error| panic!("{text}: {error}"));
        let loaded = self.device.load(&module).unwrap();
        let params: Vec<u8> = self
            .addresses
            .iter()
            .flat_map(|a| a.to_le_bytes())
            .collect();
        let grid = Grid {
            grid: [count as u32 / 256, 1, 1],
            block: [256, 1, 1],
            shared_bytes: 0,
        };
        self.device
            .launch(&loaded, "k", grid, &params)
            .unwrap_or_else(|fault| panic!("{text}: {fault}"));
        self.device.unload(loaded);
        let mut bytes = vec![0; 8 * count];
        self.device.read(self.addresses[3], &mut bytes).unwrap();
        bytes
            .chunks_exact(8)
            .map(|chunk| u64::from_le_bytes(chunk.try_into().unwrap()))
            .collect()
    }
}

type Model = fn(u64, u64, u64) -> u64;

fn check(cases: &[(&str, &str, Model)]) {
    let operands = operands();
    let bench = Bench::new(operands);
    for (text, out, model) in cases {
        let results = bench.results(text, out, COUNT);
        for (i, &got) in results.iter().enumerate() {
            let [a, b, c] = [operands[0][i], operands[1][i], operands[2][i]];
            let want = model(a, b, c);
            assert_eq!(got, want, "{text} on {a:#x}, {b:#x}, {c:#x}");
        }
    }
}

const M16: u64 = 0xffff;
const M32: u64 = 0xffff_ffff;

// Values of the low bits, as integers that nothing overflows.
fn u16(x: u64) -> i128 {
    i128::from(x as u16)
}
fn s16(x: u64) -> i128 {
    i128::from(x as i16)
}
fn u32(x: u64) -> i128 {
    i128::from(x as u32)
}
fn s32(x: u64) -> i128 {
    i128::from(x as i32)
}
fn u64(x: u64) -> i128 {
    i128::from(x)
}
fn s64(x: u64) -> i128 {
    i128::from(x as i64)
}
fn low16(x: i128) -> u64 {
    x as u64 & M16
}
fn low32(x: i128) -> u64 {
    x as u64 & M32
}
fn low64(x: i128) -> u64 {
    x as u64
}

#[test]
fn sums_and_differences() {
    check(&[
        ("add.u32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            low32(u32(a) + u32(b))
        }),
        ("add.s32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            low32(s32(a) + s32(b))
        }),
        ("add.u16 %h3, %h0, %h1;", "%h3", |a, b, _| {
            low16(u16(a) + u16(b))
        }),
        ("add.s64 %d3, %d0, %d1;", "%d3", |a, b, _| {
            low64(s64(a) + s64(b))
        }),
        ("add.sat.s32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            low32((s32(a) + s32(b)).clamp(-(1 << 31), (1 << 31) - 1))
        }),
        ("sub.u32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            low32(u32(a) - u32(b))
        }),
        ("sub.s16 %h3, %h0, %h1;", "%h3", |a, b, _| {
            low16(s16(a) - s16(b))
        }),
        ("sub.u64 %d3, %d0, %d1;", "%d3", |a, b, _| {
            low64(u64(a) - u64(b))
        }),
        ("sub.sat.s32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            low32((s32(a) - s32(b)).clamp(-(1 << 31), (1 << 31) - 1))
        }),
        ("neg.s32 %r3, %r0;", "%r3", |a, _, _| low32(-s32(a))),
        ("neg.s16 %h3, %h0;", "%h3", |a, _, _| low16(-s16(a))),
        ("neg.s64 %d3, %d0;", "%d3", |a, _, _| low64(-s64(a))),
        ("abs.s32 %r3, %r0;", "%r3", |a, _, _| low32(s32(a).abs())),
        ("abs.s16 %h3, %h0;", "%h3", |a, _, _| low16(s16(a).abs())),
        ("abs.s64 %d3, %d0;", "%d3", |a, _, _| low64(s64(a).abs())),
        ("min.u32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            low32(u32(a).min(u32(b)))
        }),
        ("min.s32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            low32(s32(a).min(s32(b)))
        }),
        ("min.u16 %h3, %h0, %h1;", "%h3", |a, b, _| {
            low16(u16(a).min(u16(b)))
        }),
        ("min.s16 %h3, %h0, %h1;", "%h3", |a, b, _| {
            low16(s16(a).min(s16(b)))
        }),
        ("min.u64 %d3, %d0, %d1;", "%d3", |a, b, _| {
            low64(u64(a).min(u64(b)))
        }),
        ("min.s64 %d3, %d0, %d1;", "%d3", |a, b, _| {
            low64(s64(a).min(s64(b)))
        }),
        ("max.u32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            low32(u32(a).max(u32(b)))
        }),
        ("max.s32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            low32(s32(a).max(s32(b)))
        }),
        ("max.u16 %h3, %h0, %h1;", "%h3", |a, b, _| {
            low16(u16(a).max(u16(b)))
        }),
        ("max.s16 %h3, %h0, %h1;", "%h3", |a, b, _| {
            low16(s16(a).max(s16(b)))
        }),
        ("max.u64 %d3, %d0, %d1;", "%d3", |a, b, _| {
            low64(u64(a).max(u64(b)))
        }),
        ("max.s64 %d3, %d0, %d1;", "%d3", |a, b, _| {
            low64(s64(a).max(s64(b)))
        }),
        ("sad.u32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            low32((u32(a) - u32(b)).abs() + u32(c))
        }),
        ("sad.s32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            low32((s32(a) - s32(b)).abs() + s32(c))
        }),
        ("sad.u16 %h3, %h0, %h1, %h2;", "%h3", |a, b, c| {
            low16((u16(a) - u16(b)).abs() + u16(c))
        }),
        ("sad.s16 %h3, %h0, %h1, %h2;", "%h3", |a, b, c| {
            low16((s16(a) - s16(b)).abs() + s16(c))
        }),
        ("sad.u64 %d3, %d0, %d1, %d2;", "%d3", |a, b, c| {
            low64((u64(a) - u64(b)).abs() + u64(c))
        }),
        ("sad.s64 %d3, %d0, %d1, %d2;", "%d3", |a, b, c| {
            low64((s64(a) - s64(b)).abs() + s64(c))
        }),
    ]);
}

#[test]
fn products() {
    check(&[
        ("mul.lo.u32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            low32(u32(a) * u32(b))
        }),
        ("mul.hi.u32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            low32((u32(a) * u32(b)) >> 32)
        }),
        ("mul.hi.s32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            low32((s32(a) * s32(b)) >> 32)
        }),
        ("mul.lo.s16 %h3, %h0, %h1;", "%h3", |a, b, _| {
            low16(s16(a) * s16(b))
        }),
        ("mul.hi.u16 %h3, %h0, %h1;", "%h3", |a, b, _| {
            low16((u16(a) * u16(b)) >> 16)
        }),
        ("mul.hi.s16 %h3, %h0, %h1;", "%h3", |a, b, _| {
            low16((s16(a) * s16(b)) >> 16)
        }),
        ("mul.wide.u16 %r3, %h0, %h1;", "%r3", |a, b, _| {
            low32(u16(a) * u16(b))
        }),
        ("mul.wide.s16 %r3, %h0, %h1;", "%r3", |a, b, _| {
            low32(s16(a) * s16(b))
        }),
        ("mul.wide.u32 %d3, %r0, %r1;", "%d3", |a, b, _| {
            low64(u32(a) * u32(b))
        }),
        ("mul.wide.s32 %d3, %r0, %r1;", "%d3", |a, b, _| {
            low64(s32(a) * s32(b))
        }),
        ("mul.lo.u64 %d3, %d0, %d1;", "%d3", |a, b, _| {
            a.wrapping_mul(b)
        }),
        ("mul.hi.u64 %d3, %d0, %d1;", "%d3", |a, b, _| {
            ((u128::from(a) * u128::from(b)) >> 64) as u64
        }),
        ("mul.hi.s64 %d3, %d0, %d1;", "%d3", |a, b, _| {
            low64((s64(a) * s64(b)) >> 64)
        }),
        ("mul24.lo.u32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            low32((u32(a) & 0xff_ffff) * (u32(b) & 0xff_ffff))
        }),
        ("mul24.hi.u32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            low32(((u32(a) & 0xff_ffff) * (u32(b) & 0xff_ffff)) >> 16)
        }),
        ("mul24.lo.s32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            low32(s24(a) * s24(b))
        }),
        ("mul24.hi.s32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            low32((s24(a) * s24(b)) >> 16)
        }),
        ("mad24.lo.u32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            low32((u32(a) & 0xff_ffff) * (u32(b) & 0xff_ffff) + u32(c))
        }),
        ("mad24.hi.u32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            low32((((u32(a) & 0xff_ffff) * (u32(b) & 0xff_ffff)) >> 16) + u32(c))
        }),
        ("mad24.lo.s32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            low32(s24(a) * s24(b) + s32(c))
        }),
        ("mad24.hi.s32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            low32(((s24(a) * s24(b)) >> 16) + s32(c))
        }),
        ("mad.lo.u32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            low32(u32(a) * u32(b) + u32(c))
        }),
        ("mad.hi.u32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            low32(((u32(a) * u32(b)) >> 32) + u32(c))
        }),
        ("mad.hi.s32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            low32(((s32(a) * s32(b)) >> 32) + s32(c))
        }),
        ("mad.hi.sat.s32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            low32((((s32(a) * s32(b)) >> 32) + s32(c)).clamp(-(1 << 31), (1 << 31) - 1))
        }),
        ("mad.lo.u16 %h3, %h0, %h1, %h2;", "%h3", |a, b, c| {
            low16(u16(a) * u16(b) + u16(c))
        }),
        ("mad.hi.u16 %h3, %h0, %h1, %h2;", "%h3", |a, b, c| {
            low16(((u16(a) * u16(b)) >> 16) + u16(c))
        }),
        ("mad.hi.s16 %h3, %h0, %h1, %h2;", "%h3", |a, b, c| {
            low16(((s16(a) * s16(b)) >> 16) + s16(c))
        }),
        ("mad.wide.u16 %r3, %h0, %h1, %r2;", "%r3", |a, b, c| {
            low32(u16(a) * u16(b) + u32(c))
        }),
        ("mad.wide.s16 %r3, %h0, %h1, %r2;", "%r3", |a, b, c| {
            low32(s16(a) * s16(b) + s32(c))
        }),
        ("mad.wide.u32 %d3, %r0, %r1, %d2;", "%d3", |a, b, c| {
            low64(u32(a) * u32(b) + u64(c))
        }),
        ("mad.wide.s32 %d3, %r0, %r1, %d2;", "%d3", |a, b, c| {
            low64(s32(a) * s32(b) + s64(c))
        }),
        ("mad.lo.s64 %d3, %d0, %d1, %d2;", "%d3", |a, b, c| {
            a.wrapping_mul(b).wrapping_add(c)
        }),
        ("mad.hi.u64 %d3, %d0, %d1, %d2;", "%d3", |a, b, c| {
            (((u128::from(a) * u128::from(b)) >> 64) as u64).wrapping_add(c)
        }),
        ("mad.hi.s64 %d3, %d0, %d1, %d2;", "%d3", |a, b, c| {
            low64(((s64(a) * s64(b)) >> 64) + s64(c))
        }),
        ("dp4a.u32.u32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            dot(a, b, c, 4, [false; 2])
        }),
        ("dp4a.s32.u32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            dot(a, b, c, 4, [true, false])
        }),
        ("dp4a.u32.s32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            dot(a, b, c, 4, [false, true])
        }),
        ("dp4a.s32.s32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            dot(a, b, c, 4, [true; 2])
        }),
        ("dp2a.lo.u32.u32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            dot(a, b, c, 2, [false; 2])
        }),
        ("dp2a.lo.s32.u32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            dot(a, b, c, 2, [true, false])
        }),
        ("dp2a.lo.u32.s32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            dot(a, b, c, 2, [false, true])
        }),
        ("dp2a.hi.s32.s32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            dot(a, b >> 16, c, 2, [true; 2])
        }),
        ("dp2a.hi.u32.u32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            dot(a, b >> 16, c, 2, [false; 2])
        }),
        ("dp2a.lo.s32.s32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            dot(a, b, c, 2, [true; 2])
        }),
        ("dp2a.hi.s32.u32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            dot(a, b >> 16, c, 2, [true, false])
        }),
        ("dp2a.hi.u32.s32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            dot(a, b >> 16, c, 2, [false, true])
        }),
    ]);
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
    check(&[
        // The sum of two longs, word by word, and the carry out of it.
        (
            "mov.b64 {%r10, %r11}, %d0; mov.b64 {%r12, %r13}, %d1;
             add.cc.u32 %r14, %r10, %r12; addc.u32 %r15, %r11, %r13; mov.b64 %d3, {%r14, %r15};",
            "%d3",
            |a, b, _| a.wrapping_add(b),
        ),
        (
            "mov.b64 {%r10, %r11}, %d0; mov.b64 {%r12, %r13}, %d1;
             add.cc.s32 %r14, %r10, %r12; addc.cc.s32 %r15, %r11, %r13; addc.u32 %r3, 0, 0;",
            "%r3",
            |a, b, _| u64::from(a.checked_add(b).is_none()),
        ),
        (
            "mov.b64 {%r10, %r11}, %d0; mov.b64 {%r12, %r13}, %d1;
             sub.cc.u32 %r14, %r10, %r12; subc.u32 %r15, %r11, %r13; mov.b64 %d3, {%r14, %r15};",
            "%d3",
            |a, b, _| a.wrapping_sub(b),
        ),
        (
            "mov.b64 {%r10, %r11}, %d0; mov.b64 {%r12, %r13}, %d1;
             sub.cc.s32 %r14, %r10, %r12; subc.cc.s32 %r15, %r11, %r13; subc.u32 %r3, 0, 0;",
            "%r3",
            |a, b, _| if a < b { M32 } else { 0 },
        ),
        (
            "add.cc.u64 %d4, %d0, %d1; addc.cc.u64 %d5, %d2, %d0; addc.u64 %d3, 0, 0;",
            "%d3",
            |a, b, c| {
                let low = u64(a) + u64(b);
                low64((u64(c) + u64(a) + (low >> 64)) >> 64)
            },
        ),
        (
            "sub.cc.u64 %d4, %d0, %d1; subc.u64 %d3, %d2, %d0;",
            "%d3",
            |a, b, c| low64(u64(c) - u64(a) - i128::from(a < b)),
        ),
        (
            "sub.cc.u64 %d4, %d0, %d1; subc.cc.u64 %d5, %d2, %d0; subc.u64 %d3, 0, 0;",
            "%d3",
            |a, b, c| low64((u64(c) - u64(a) - i128::from(a < b)).min(0).signum()),
        ),
        // A pair of halves: the product plus a long.
        (
            "mov.b64 {%r10, %r11}, %d2;
             mad.lo.cc.u32 %r14, %r0, %r1, %r10; madc.hi.u32 %r15, %r0, %r1, %r11;
             mov.b64 %d3, {%r14, %r15};",
            "%d3",
            |a, b, c| low64(u32(a) * u32(b) + u64(c)),
        ),
        (
            "mov.b64 {%r10, %r11}, %d2;
             mad.lo.cc.u32 %r14, %r0, %r1, %r10; madc.hi.cc.u32 %r15, %r0, %r1, %r11;
             addc.u32 %r3, 0, 0;",
            "%r3",
            |a, b, c| low64((u32(a) * u32(b) + u64(c)) >> 64),
        ),
        (
            "mov.b64 {%r10, %r11}, %d2;
             mad.lo.cc.s32 %r14, %r0, %r1, %r10; madc.hi.s32 %r15, %r0, %r1, %r11;
             mov.b64 %d3, {%r14, %r15};",
            "%d3",
            |a, b, c| low64(s32(a) * s32(b) + s64(c)),
        ),
        // High half first: its carry goes into a low half.
        (
            "mad.hi.cc.u32 %r14, %r0, %r1, %r2; madc.lo.cc.u32 %r3, %r0, %r2, %r1;",
            "%r3",
            |a, b, c| {
                let high = ((u32(a) * u32(b)) >> 32) + u32(c);
                low32(u32(a) * u32(c) + u32(b) + (high >> 32))
            },
        ),
        (
            "mad.lo.cc.u64 %d4, %d0, %d1, %d2; madc.hi.u64 %d3, %d0, %d1, 0;",
            "%d3",
            |a, b, c| ((u128::from(a) * u128::from(b) + u128::from(c)) >> 64) as u64,
        ),
        (
            "mad.hi.cc.s64 %d4, %d0, %d1, %d2; madc.lo.cc.s64 %d5, %d0, %d1, 0; addc.u64 %d3, 0, 0;",
            "%d3",
            |a, b, c| {
                let high = ((s64(a) * s64(b)) >> 64) as u64;
                let carry = high.checked_add(c).is_none();
                u64::from(carry && a.wrapping_mul(b) == u64::MAX)
            },
        ),
    ]);
}

#[test]
fn quotients_and_remainders() {
    // Division by zero gives what the hardware gives: all ones, and the dividend.
    check(&[
        ("div.u32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            if u32(b) == 0 {
                M32
            } else {
                low32(u32(a) / u32(b))
            }
        }),
        ("div.s32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            if u32(b) == 0 {
                M32
            } else {
                low32(s32(a) / s32(b))
            }
        }),
        ("div.u16 %h3, %h0, %h1;", "%h3", |a, b, _| {
            if u16(b) == 0 {
                M16
            } else {
                low16(u16(a) / u16(b))
            }
        }),
        ("div.s16 %h3, %h0, %h1;", "%h3", |a, b, _| {
            if u16(b) == 0 {
                M16
            } else {
                low16(s16(a) / s16(b))
            }
        }),
        ("div.u64 %d3, %d0, %d1;", "%d3", |a, b, _| {
            if b == 0 {
                u64::MAX
            } else {
                low64(u64(a) / u64(b))
            }
        }),
        ("div.s64 %d3, %d0, %d1;", "%d3", |a, b, _| {
            if b == 0 {
                u64::MAX
            } else {
                low64(s64(a) / s64(b))
            }
        }),
        ("rem.u32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            if u32(b) == 0 {
                low32(u32(a))
            } else {
                low32(u32(a) % u32(b))
            }
        }),
        ("rem.s32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            if u32(b) == 0 {
                low32(u32(a))
            } else {
                low32(s32(a) % s32(b))
            }
        }),
        ("rem.u16 %h3, %h0, %h1;", "%h3", |a, b, _| {
            if u16(b) == 0 {
                low16(u16(a))
            } else {
                low16(u16(a) % u16(b))
            }
        }),
        ("rem.s16 %h3, %h0, %h1;", "%h3", |a, b, _| {
            if u16(b) == 0 {
                low16(u16(a))
            } else {
                low16(s16(a) % s16(b))
            }
        }),
        ("rem.u64 %d3, %d0, %d1;", "%d3", |a, b, _| {
            if b == 0 { a } else { low64(u64(a) % u64(b)) }
        }),
        ("rem.s64 %d3, %d0, %d1;", "%d3", |a, b, _| {
            if b == 0 { a } else { low64(s64(a) % s64(b)) }
        }),
    ]);
}

#[test]
fn bits() {
    check(&[
        ("and.b32 %r3, %r0, %r1;", "%r3", |a, b, _| a & b & M32),
        ("or.b16 %h3, %h0, %h1;", "%h3", |a, b, _| (a | b) & M16),
        ("xor.b64 %d3, %d0, %d1;", "%d3", |a, b, _| a ^ b),
        ("and.b64 %d3, %d0, %d1;", "%d3", |a, b, _| a & b),
        ("or.b64 %d3, %d0, %d1;", "%d3", |a, b, _| a | b),
        ("xor.b32 %r3, %r0, %r1;", "%r3", |a, b, _| (a ^ b) & M32),
        ("or.b32 %r3, %r0, %r1;", "%r3", |a, b, _| (a | b) & M32),
        ("not.b32 %r3, %r0;", "%r3", |a, _, _| !a & M32),
        ("not.b16 %h3, %h0;", "%h3", |a, _, _| !a & M16),
        ("not.b64 %d3, %d0;", "%d3", |a, _, _| !a),
        ("cnot.b32 %r3, %r0;", "%r3", |a, _, _| {
            u64::from(a & M32 == 0)
        }),
        ("cnot.b16 %h3, %h0;", "%h3", |a, _, _| {
            u64::from(a & M16 == 0)
        }),
        ("cnot.b64 %d3, %d0;", "%d3", |a, _, _| u64::from(a == 0)),
        ("shl.b32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            low32(u32(a) << u32(b).min(32))
        }),
        ("shl.b16 %h3, %h0, %r1;", "%h3", |a, b, _| {
            low16(u16(a) << u32(b).min(16))
        }),
        ("shl.b64 %d3, %d0, %r1;", "%d3", |a, b, _| {
            low64(u64(a) << u32(b).min(64))
        }),
        ("shr.u32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            low32(u32(a) >> u32(b).min(32))
        }),
        ("shr.s32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            low32(s32(a) >> u32(b).min(32))
        }),
        ("shr.u16 %h3, %h0, %r1;", "%h3", |a, b, _| {
            low16(u16(a) >> u32(b).min(16))
        }),
        ("shr.s16 %h3, %h0, %r1;", "%h3", |a, b, _| {
            low16(s16(a) >> u32(b).min(16))
        }),
        ("shr.u64 %d3, %d0, %r1;", "%d3", |a, b, _| {
            low64(u64(a) >> u32(b).min(64))
        }),
        ("shr.s64 %d3, %d0, %r1;", "%d3", |a, b, _| {
            low64(s64(a) >> u32(b).min(64))
        }),
        ("shf.l.wrap.b32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            (0..32).fold(0, |d, i| d | funnel(a, b, i + 32 - c % 32) << i)
        }),
        ("shf.l.clamp.b32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            (0..32).fold(0, |d, i| d | funnel(a, b, i + 32 - (c & M32).min(32)) << i)
        }),
        ("shf.r.wrap.b32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            (0..32).fold(0, |d, i| d | funnel(a, b, i + c % 32) << i)
        }),
        ("shf.r.clamp.b32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            (0..32).fold(0, |d, i| d | funnel(a, b, i + (c & M32).min(32)) << i)
        }),
        ("popc.b32 %r3, %r0;", "%r3", |a, _, _| {
            (0..32).map(|i| a >> i & 1).sum()
        }),
        ("popc.b64 %r3, %d0;", "%r3", |a, _, _| {
            (0..64).map(|i| a >> i & 1).sum()
        }),
        ("clz.b32 %r3, %r0;", "%r3", |a, _, _| {
            (0..32).position(|i| a >> (31 - i) & 1 != 0).unwrap_or(32) as u64
        }),
        ("clz.b64 %r3, %d0;", "%r3", |a, _, _| {
            (0..64).position(|i| a >> (63 - i) & 1 != 0).unwrap_or(64) as u64
        }),
        ("bfind.u32 %r3, %r0;", "%r3", |a, _, _| {
            find(a & M32, 32, false)
        }),
        ("bfind.u64 %r3, %d0;", "%r3", |a, _, _| find(a, 64, false)),
        ("bfind.s32 %r3, %r0;", "%r3", |a, _, _| {
            find(if s32(a) < 0 { !a & M32 } else { a & M32 }, 32, false)
        }),
        ("bfind.s64 %r3, %d0;", "%r3", |a, _, _| {
            find(if s64(a) < 0 { !a } else { a }, 64, false)
        }),
        ("bfind.shiftamt.u32 %r3, %r0;", "%r3", |a, _, _| {
            find(a & M32, 32, true)
        }),
        ("bfind.shiftamt.u64 %r3, %d0;", "%r3", |a, _, _| {
            find(a, 64, true)
        }),
        ("bfind.shiftamt.s32 %r3, %r0;", "%r3", |a, _, _| {
            find(if s32(a) < 0 { !a & M32 } else { a & M32 }, 32, true)
        }),
        ("bfind.shiftamt.s64 %r3, %d0;", "%r3", |a, _, _| {
            find(if s64(a) < 0 { !a } else { a }, 64, true)
        }),
        ("brev.b32 %r3, %r0;", "%r3", |a, _, _| {
            (0..32).fold(0, |d, i| d | (a >> i & 1) << (31 - i))
        }),
        ("brev.b64 %d3, %d0;", "%d3", |a, _, _| {
            (0..64).fold(0, |d, i| d | (a >> i & 1) << (63 - i))
        }),
        ("bfe.u32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            extract(a, b, c, 32, false)
        }),
        ("bfe.s32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            extract(a, b, c, 32, true)
        }),
        ("bfe.u64 %d3, %d0, %r1, %r2;", "%d3", |a, b, c| {
            extract(a, b, c, 64, false)
        }),
        ("bfe.s64 %d3, %d0, %r1, %r2;", "%d3", |a, b, c| {
            extract(a, b, c, 64, true)
        }),
        ("bfi.b32 %r3, %r0, %r1, %r2, %r0;", "%r3", |a, b, c| {
            insert(a, b, c, a, 32)
        }),
        ("bfi.b32 %r3, %r0, %r1, %r2, 7;", "%r3", |a, b, c| {
            insert(a, b, c, 7, 32)
        }),
        ("bfi.b64 %d3, %d0, %d1, %r2, %r1;", "%d3", |a, b, c| {
            insert(a, b, c, b, 64)
        }),
        ("bmsk.clamp.b32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            let (a, b) = ((a & M32).min(32), (b & M32).min(32));
            (0..32)
                .filter(|i| (a..a + b).contains(i))
                .fold(0, |d, i| d | 1 << i)
        }),
        ("bmsk.wrap.b32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            let (a, b) = (a % 32, b % 32);
            (0..32)
                .filter(|i| (a..a + b).contains(i))
                .fold(0, |d, i| d | 1 << i)
        }),
        ("szext.clamp.u32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            extend(a, (b & M32).min(32), false)
        }),
        ("szext.clamp.s32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            extend(a, (b & M32).min(32), true)
        }),
        ("szext.wrap.u32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            extend(a, b % 32, false)
        }),
        ("szext.wrap.s32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            extend(a, b % 32, true)
        }),
        ("prmt.b32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            let pair = (a & M32) | b << 32;
            (0..4).fold(0, |d, i| {
                let selector = c >> (4 * i) & 0xf;
                let byte = pair >> (8 * (selector & 7)) & 0xff;
                let sign = if byte & 0x80 != 0 { 0xff } else { 0 };
                d | (if selector & 8 != 0 { sign } else { byte }) << (8 * i)
            })
        }),
        ("prmt.b32.f4e %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            bytes(a, b, |i| i + c % 4)
        }),
        ("prmt.b32.b4e %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            bytes(a, b, |i| (8 + c % 4 - i) % 8)
        }),
        ("prmt.b32.rc8 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            bytes(a, b, |_| c % 4)
        }),
        ("prmt.b32.ecl %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            bytes(a, b, |i| i.max(c % 4))
        }),
        ("prmt.b32.ecr %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            bytes(a, b, |i| i.min(c % 4))
        }),
        ("prmt.b32.rc16 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            bytes(a, b, |i| i % 2 + 2 * (c % 2))
        }),
        ("lop3.b32 %r3, %r0, %r1, %r2, 0x96;", "%r3", |a, b, c| {
            (a ^ b ^ c) & M32
        }),
        ("lop3.b32 %r3, %r0, %r1, %r2, 0xe8;", "%r3", |a, b, c| {
            (a & b | b & c | a & c) & M32
        }),
        ("lop3.b32 %r3, %r0, %r1, %r2, 0xca;", "%r3", |a, b, c| {
            (a & b | !a & c) & M32
        }),
        ("lop3.b32 %r3, %r0, %r1, %r2, 0x01;", "%r3", |a, b, c| {
            !(a | b | c) & M32
        }),
    ]);
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
    check(&[
        ("setp.eq.u32 %p0, %r0, %r1;", "%p0", |a, b, _| {
            u64::from(u32(a) == u32(b))
        }),
        ("setp.ne.b32 %p0, %r0, %r1;", "%p0", |a, b, _| {
            u64::from(u32(a) != u32(b))
        }),
        ("setp.lt.u32 %p0, %r0, %r1;", "%p0", |a, b, _| {
            u64::from(u32(a) < u32(b))
        }),
        ("setp.le.s32 %p0, %r0, %r1;", "%p0", |a, b, _| {
            u64::from(s32(a) <= s32(b))
        }),
        ("setp.gt.s32 %p0, %r0, %r1;", "%p0", |a, b, _| {
            u64::from(s32(a) > s32(b))
        }),
        ("setp.ge.u32 %p0, %r0, %r1;", "%p0", |a, b, _| {
            u64::from(u32(a) >= u32(b))
        }),
        ("setp.lo.u32 %p0, %r0, %r1;", "%p0", |a, b, _| {
            u64::from(u32(a) < u32(b))
        }),
        ("setp.ls.u32 %p0, %r0, %r1;", "%p0", |a, b, _| {
            u64::from(u32(a) <= u32(b))
        }),
        ("setp.hi.u32 %p0, %r0, %r1;", "%p0", |a, b, _| {
            u64::from(u32(a) > u32(b))
        }),
        ("setp.hs.u32 %p0, %r0, %r1;", "%p0", |a, b, _| {
            u64::from(u32(a) >= u32(b))
        }),
        ("setp.lt.s32 %p0, %r0, %r1;", "%p0", |a, b, _| {
            u64::from(s32(a) < s32(b))
        }),
        ("setp.ge.s32 %p0, %r0, %r1;", "%p0", |a, b, _| {
            u64::from(s32(a) >= s32(b))
        }),
        ("setp.lt.s16 %p0, %h0, %h1;", "%p0", |a, b, _| {
            u64::from(s16(a) < s16(b))
        }),
        ("setp.le.s16 %p0, %h0, %h1;", "%p0", |a, b, _| {
            u64::from(s16(a) <= s16(b))
        }),
        ("setp.gt.s16 %p0, %h0, %h1;", "%p0", |a, b, _| {
            u64::from(s16(a) > s16(b))
        }),
        ("setp.ge.s16 %p0, %h0, %h1;", "%p0", |a, b, _| {
            u64::from(s16(a) >= s16(b))
        }),
        ("setp.gt.u16 %p0, %h0, %h1;", "%p0", |a, b, _| {
            u64::from(u16(a) > u16(b))
        }),
        ("setp.eq.b64 %p0, %d0, %d1;", "%p0", |a, b, _| {
            u64::from(a == b)
        }),
        ("setp.ne.u64 %p0, %d0, %d1;", "%p0", |a, b, _| {
            u64::from(a != b)
        }),
        ("setp.lt.u64 %p0, %d0, %d1;", "%p0", |a, b, _| {
            u64::from(a < b)
        }),
        ("setp.le.u64 %p0, %d0, %d1;", "%p0", |a, b, _| {
            u64::from(a <= b)
        }),
        ("setp.gt.u64 %p0, %d0, %d1;", "%p0", |a, b, _| {
            u64::from(a > b)
        }),
        ("setp.ge.u64 %p0, %d0, %d1;", "%p0", |a, b, _| {
            u64::from(a >= b)
        }),
        ("setp.lt.s64 %p0, %d0, %d1;", "%p0", |a, b, _| {
            u64::from(s64(a) < s64(b))
        }),
        ("setp.le.s64 %p0, %d0, %d1;", "%p0", |a, b, _| {
            u64::from(s64(a) <= s64(b))
        }),
        ("setp.gt.s64 %p0, %d0, %d1;", "%p0", |a, b, _| {
            u64::from(s64(a) > s64(b))
        }),
        ("setp.ge.s64 %p0, %d0, %d1;", "%p0", |a, b, _| {
            u64::from(s64(a) >= s64(b))
        }),
        // Both outcomes, combined with a third predicate.
        (
            "setp.lt.u32 %p1, %r2, %r0; setp.eq.and.u32 %p2|%p3, %r0, %r1, %p1;
             selp.u32 %r4, 1, 0, %p2; selp.u32 %r5, 2, 0, %p3; or.b32 %r3, %r4, %r5;",
            "%r3",
            |a, b, c| match (u32(a) == u32(b), u32(c) < u32(a)) {
                (_, false) => 0,
                (true, true) => 1,
                (false, true) => 2,
            },
        ),
        (
            "setp.lt.u32 %p1, %r2, %r0; setp.lt.or.s32 %p2, %r0, %r1, !%p1;",
            "%p2",
            |a, b, c| u64::from(s32(a) < s32(b) || u32(c) >= u32(a)),
        ),
        (
            "setp.lt.u32 %p1, %r2, %r0; setp.lt.xor.s32 %p2, %r0, %r1, %p1;",
            "%p2",
            |a, b, c| u64::from((s32(a) < s32(b)) != (u32(c) < u32(a))),
        ),
        (
            "setp.lt.u32 %p1, %r0, %r1; setp.lt.u32 %p2, %r1, %r2;
             and.pred %p3, %p1, %p2; or.pred %p4, %p1, %p2; xor.pred %p5, %p3, %p4;
             not.pred %p6, %p5; mov.pred %p7, %p6;",
            "%p7",
            |a, b, c| u64::from((u32(a) < u32(b)) == (u32(b) < u32(c))),
        ),
        ("set.lt.u32.s32 %r3, %r0, %r1;", "%r3", |a, b, _| {
            if s32(a) < s32(b) { M32 } else { 0 }
        }),
        ("set.ge.f32.u32 %f3, %r0, %r1;", "%f3", |a, b, _| {
            if u32(a) >= u32(b) {
                u64::from(1f32.to_bits())
            } else {
                0
            }
        }),
        (
            "setp.lt.u32 %p1, %r2, %r1; selp.b32 %r3, %r0, %r1, %p1;",
            "%r3",
            |a, b, c| {
                if u32(c) < u32(b) { a & M32 } else { b & M32 }
            },
        ),
        (
            "setp.lt.u32 %p1, %r2, %r1; selp.b64 %d3, %d0, %d1, %p1;",
            "%d3",
            |a, b, c| {
                if u32(c) < u32(b) { a } else { b }
            },
        ),
        ("slct.u32.s32 %r3, %r0, %r1, %r2;", "%r3", |a, b, c| {
            if s32(c) >= 0 { a & M32 } else { b & M32 }
        }),
        ("slct.u64.s32 %d3, %d0, %d1, %r2;", "%d3", |a, b, c| {
            if s32(c) >= 0 { a } else { b }
        }),
        ("slct.b16.s32 %h3, %h0, %h1, %r2;", "%h3", |a, b, c| {
            if s32(c) >= 0 { a & M16 } else { b & M16 }
        }),
        ("slct.u32.f32 %r3, %r0, %r1, %f2;", "%r3", |a, b, c| {
            if f32::from_bits(c as u32) >= 0.0 {
                a & M32
            } else {
                b & M32
            }
        }),
        ("slct.b64.f32 %d3, %d0, %d1, %f2;", "%d3", |a, b, c| {
            if f32::from_bits(c as u32) >= 0.0 {
                a
            } else {
                b
            }
        }),
    ]);
}

#[test]
fn moves_and_integer_conversions() {
    check(&[
        ("mov.u32 %r3, %r0;", "%r3", |a, _, _| a & M32),
        ("mov.b64 %d3, {%r1, %r0};", "%d3", |a, b, _| {
            (b & M32) | a << 32
        }),
        ("mov.b64 {%r3, %r4}, %d0;", "%r4", |a, _, _| a >> 32),
        ("mov.b64 {_, %r3}, %d0;", "%r3", |a, _, _| a >> 32),
        ("mov.b32 %r3, {%h1, %h0};", "%r3", |a, b, _| {
            (b & M16) | (a & M16) << 16
        }),
        ("mov.b32 {%h3, %h4}, %r0;", "%h4", |a, _, _| a >> 16 & M16),
        ("mov.b64 %d3, {%h0, %h1, %h2, %h0};", "%d3", |a, b, c| {
            (a & M16) | (b & M16) << 16 | (c & M16) << 32 | a << 48
        }),
        ("mov.b64 {%h3, %h4, %h5, %h6}, %d0;", "%h5", |a, _, _| {
            a >> 32 & M16
        }),
        ("cvt.u64.u32 %d3, %r0;", "%d3", |a, _, _| a & M32),
        ("cvt.s64.s32 %d3, %r0;", "%d3", |a, _, _| low64(s32(a))),
        ("cvt.u32.u64 %r3, %d0;", "%r3", |a, _, _| a & M32),
        ("cvt.u16.u32 %h3, %r0;", "%h3", |a, _, _| a & M16),
        ("cvt.s32.s16 %r3, %h0;", "%r3", |a, _, _| low32(s16(a))),
        ("cvt.u32.u16 %r3, %h0;", "%r3", |a, _, _| a & M16),
        ("cvt.s32.s8 %r3, %r0;", "%r3", |a, _, _| {
            low32(i128::from(a as i8))
        }),
        ("cvt.u32.u8 %r3, %r0;", "%r3", |a, _, _| a & 0xff),
        ("cvt.s16.s8 %h3, %h0;", "%h3", |a, _, _| {
            low16(i128::from(a as i8))
        }),
        ("cvt.s64.s16 %d3, %h0;", "%d3", |a, _, _| low64(s16(a))),
        ("cvt.s64.s8 %d3, %d0;", "%d3", |a, _, _| {
            low64(i128::from(a as i8))
        }),
        ("cvt.s8.s32 %r3, %r0;", "%r3", |a, _, _| {
            low32(i128::from(a as i8))
        }),
        ("cvt.s8.s64 %h3, %d0;", "%h3", |a, _, _| {
            low16(i128::from(a as i8))
        }),
        ("cvt.u8.u64 %d3, %d0;", "%d3", |a, _, _| a & 0xff),
        ("cvt.sat.s32.s64 %r3, %d0;", "%r3", |a, _, _| {
            low32(s64(a).clamp(-(1 << 31), (1 << 31) - 1))
        }),
        ("cvt.sat.u32.s64 %r3, %d0;", "%r3", |a, _, _| {
            low32(s64(a).clamp(0, i128::from(M32)))
        }),
        ("cvt.sat.u32.s32 %r3, %r0;", "%r3", |a, _, _| {
            low32(s32(a).max(0))
        }),
        ("cvt.sat.s32.u32 %r3, %r0;", "%r3", |a, _, _| {
            low32(u32(a).min((1 << 31) - 1))
        }),
        ("cvt.sat.u8.s32 %r3, %r0;", "%r3", |a, _, _| {
            low32(s32(a).clamp(0, 255))
        }),
        ("cvt.sat.s16.s32 %h3, %r0;", "%h3", |a, _, _| {
            low16(s32(a).clamp(-(1 << 15), (1 << 15) - 1))
        }),
        ("cvt.sat.u64.s64 %d3, %d0;", "%d3", |a, _, _| {
            low64(s64(a).max(0))
        }),
        // Addition under a guard leaves the other lanes alone.
        (
            "setp.lt.u32 %p1, %r0, %r1; mov.u32 %r3, %r2; @%p1 add.u32 %r3, %r3, 1; @!%p1 xor.b32 %r3, %r3, %r0;",
            "%r3",
            |a, b, c| {
                if u32(a) < u32(b) {
                    low32(u32(c) + 1)
                } else {
                    (a ^ c) & M32
                }
            },
        ),
    ]);
}
