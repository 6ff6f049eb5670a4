//! Floating-point opcodes against the processor's own arithmetic, bit for bit,
//! and directed roundings against their definition.

use crate::operands::{Bench, COUNT, Model, cases, destination, operands};
use std::sync::OnceLock;

const FEW: usize = 1 << 14;

/// Bit patterns of doubles: random ones, and specials among them; the low words
/// are bit patterns of singles in the same way.
fn patterns() -> &'static [Vec<u64>; 3] {
    static PATTERNS: OnceLock<[Vec<u64>; 3]> = OnceLock::new();
    PATTERNS.get_or_init(|| {
        let specials = [
            0.0f64,
            -0.0,
            1.0,
            -1.0,
            0.5,
            1.5,
            2.5,
            -2.5,
            f64::MAX,
            f64::MIN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            f64::MIN_POSITIVE,
            f64::EPSILON,
            9007199254740993.0,
            4294967295.5,
            -2147483648.5,
            255.5,
            1e-310,
            3.402823669209385e38,
        ];
        let singles = [
            0.0f32,
            -0.0,
            1.0,
            -1.0,
            0.5,
            1.5,
            2.5,
            f32::MAX,
            f32::MIN,
            f32::INFINITY,
            f32::NAN,
            f32::MIN_POSITIVE,
            f32::EPSILON,
            16777217.0,
            2147483648.0,
            -3.5,
            1e-40,
            -1e-42,
        ];
        let random = operands();
        std::array::from_fn(|k| {
            (0..COUNT)
                .map(|i| {
                    let x = random[k][i];
                    let y = random[(k + 1) % 3][(7 * i + 1) % COUNT];
                    match y % 8 {
                        0 => specials[(x % specials.len() as u64) as usize].to_bits(),
                        1 => {
                            let single = singles[(x % singles.len() as u64) as usize];
                            (y >> 32) << 32 | u64::from(single.to_bits())
                        }
                        // Exponents close to each other, so that sums are of interest.
                        2 | 3 => {
                            let low = (x as u32 & 0x80ff_ffff) | 0x3f00_0000;
                            (y & 0x800f_ffff_0000_0000) | 0x3ff0_0000_0000_0000 | u64::from(low)
                        }
                        _ => x ^ y.rotate_left(17),
                    }
                })
                .collect()
        })
    })
}

fn f(x: u64) -> f32 {
    f32::from_bits(x as u32)
}

fn d(x: u64) -> f64 {
    f64::from_bits(x)
}

/// A single as the simulator leaves it: one NaN only.
fn single(x: f32) -> u64 {
    if x.is_nan() {
        0x7fff_ffff
    } else {
        u64::from(x.to_bits())
    }
}

/// Doubles compare by bits, but any NaN is as good as another.
fn same(got: u64, want: u64, out: &str) -> bool {
    got == want || out.starts_with("%g") && d(got).is_nan() && d(want).is_nan()
}

fn check(count: usize, cases: &[(&str, Model)]) {
    let patterns = patterns();
    let bench = Bench::new(patterns);
    for (text, model) in cases {
        let out = destination(text);
        let results = bench.results(text, out, count);
        for (i, &got) in results.iter().enumerate() {
            let [a, b, c] = [patterns[0][i], patterns[1][i], patterns[2][i]];
            let want = model(a, b, c);
            assert!(
                same(got, want, out),
                "{text} on {a:#x}, {b:#x}, {c:#x}: {got:#x}, not {want:#x}"
            );
        }
    }
}

#[test]
fn doubles_are_the_processors_own() {
    check(
        COUNT,
        cases! {
            |a, b, c|
            "add.f64 %g3, %g0, %g1;" => (d(a) + d(b)).to_bits(),
            "sub.rn.f64 %g3, %g0, %g1;" => (d(a) - d(b)).to_bits(),
            "mul.rn.f64 %g3, %g0, %g1;" => (d(a) * d(b)).to_bits(),
            "fma.rn.f64 %g3, %g0, %g1, %g2;" => d(a).mul_add(d(b), d(c)).to_bits(),
            "mad.rn.f64 %g3, %g0, %g1, %g2;" => d(a).mul_add(d(b), d(c)).to_bits(),
            "div.rn.f64 %g3, %g0, %g1;" => (d(a) / d(b)).to_bits(),
            "sqrt.rn.f64 %g3, %g0;" => d(a).sqrt().to_bits(),
            "rcp.rn.f64 %g3, %g0;" => (1.0 / d(a)).to_bits(),
            "neg.f64 %g3, %g0;" => (-d(a)).to_bits(),
            "abs.f64 %g3, %g0;" => d(a).abs().to_bits(),
            "copysign.f64 %g3, %g0, %g1;" => d(b).copysign(d(a)).to_bits(),
            "cvt.rn.f32.f64 %f3, %g0;" => single(d(a) as f32),
            "cvt.f64.f32 %g3, %f0;" => f64::from(f(a)).to_bits(),
            "cvt.rn.f64.s64 %g3, %d0;" => (a as i64 as f64).to_bits(),
            "cvt.rn.f64.u64 %g3, %d0;" => (a as f64).to_bits(),
            "cvt.rn.f64.u32 %g3, %r0;" => f64::from(a as u32).to_bits(),
            "cvt.rn.f64.s32 %g3, %r0;" => f64::from(a as i32).to_bits(),
            "cvt.rzi.s64.f64 %d3, %g0;" => if d(a).is_nan() { 1 << 63 } else { d(a) as i64 as u64 },
            "cvt.rzi.u64.f64 %d3, %g0;" => if d(a).is_nan() { 1 << 63 } else { d(a) as u64 },
            "cvt.rni.s32.f64 %r3, %g0;" =>
                if d(a).is_nan() {
                    1 << 31
                } else {
                    u64::from(d(a).round_ties_even() as i32 as u32)
                },
            "cvt.rmi.f64.f64 %g3, %g0;" => d(a).floor().to_bits(),
            "cvt.rpi.f64.f64 %g3, %g0;" => d(a).ceil().to_bits(),
            "cvt.rni.f64.f64 %g3, %g0;" => d(a).round_ties_even().to_bits(),
            "cvt.rzi.f64.f64 %g3, %g0;" => d(a).trunc().to_bits(),
            "cvt.sat.f64.f64 %g3, %g0;" => if d(a) > 0.0 { d(a).min(1.0).to_bits() } else { 0 },
        },
    );
}

#[test]
fn singles_are_the_processors_own() {
    check(
        COUNT,
        cases! {
            |a, b, c|
            "add.f32 %f3, %f0, %f1;" => single(f(a) + f(b)),
            "sub.f32 %f3, %f0, %f1;" => single(f(a) - f(b)),
            "mul.rn.f32 %f3, %f0, %f1;" => single(f(a) * f(b)),
            "fma.rn.f32 %f3, %f0, %f1, %f2;" => single(f(a).mul_add(f(b), f(c))),
            "div.rn.f32 %f3, %f0, %f1;" => single(f(a) / f(b)),
            "sqrt.rn.f32 %f3, %f0;" => single(f(a).sqrt()),
            "rcp.rn.f32 %f3, %f0;" => single(1.0 / f(a)),
            "add.sat.f32 %f3, %f0, %f1;" => {
                let sum = f(a) + f(b);
                if sum > 0.0 { single(sum.min(1.0)) } else { 0 }
            },
            "mul.ftz.f32 %f3, %f0, %f1;" => single(flushed(flushed(f(a)) * flushed(f(b)))),
            "fma.rn.ftz.sat.f32 %f3, %f0, %f1, %f2;" => {
                let x = flushed(flushed(f(a)).mul_add(flushed(f(b)), flushed(f(c))));
                if x > 0.0 { single(x.min(1.0)) } else { 0 }
            },
            "neg.f32 %f3, %f0;" => u64::from((a as u32) ^ 1 << 31),
            "abs.f32 %f3, %f0;" => a & 0x7fff_ffff,
            "copysign.f32 %f3, %f0, %f1;" => u64::from(f(b).copysign(f(a)).to_bits()),
            "cvt.rn.f32.u64 %f3, %d0;" => single(a as f32),
            "cvt.rn.f32.s64 %f3, %d0;" => single(a as i64 as f32),
            "cvt.rn.f32.s32 %f3, %r0;" => single(a as i32 as f32),
            "cvt.rn.f32.u16 %f3, %h0;" => single(f32::from(a as u16)),
            "cvt.rzi.s32.f32 %r3, %f0;" => u64::from(f(a) as i32 as u32),
            "cvt.rzi.u32.f32 %r3, %f0;" => u64::from(f(a) as u32),
            "cvt.rni.u8.f32 %r3, %f0;" => u64::from(f(a).round_ties_even() as u8),
            "cvt.rmi.s16.f32 %h3, %f0;" => u64::from(f(a).floor() as i16 as u16),
            "cvt.rzi.ftz.s64.f32 %d3, %f0;" =>
                if f(a).is_nan() { 1 << 63 } else { f(a) as i64 as u64 },
            "cvt.rpi.f32.f32 %f3, %f0;" => single(f(a).ceil()),
            "cvt.rni.f32.f32 %f3, %f0;" => single(f(a).round_ties_even()),
        },
    );
}

fn flushed(x: f32) -> f32 {
    if x.is_subnormal() {
        0f32.copysign(x)
    } else {
        x
    }
}

#[test]
fn least_and_greatest_know_nan_and_minus_zero() {
    fn less(a: f64, b: f64) -> f64 {
        match (a.is_nan(), b.is_nan()) {
            (true, _) => b,
            (_, true) => a,
            _ if a == b && !a.is_sign_negative() => b,
            _ if a <= b => a,
            _ => b,
        }
    }
    check(
        FEW,
        cases! {
            |a, b, c|
            "min.f64 %g3, %g0, %g1;" => less(d(a), d(b)).to_bits(),
            "max.f64 %g3, %g0, %g1;" => (-less(-d(a), -d(b))).to_bits(),
            "min.f32 %f3, %f0, %f1;" => single(less(f64::from(f(a)), f64::from(f(b))) as f32),
            "max.f32 %f3, %f0, %f1;" => single(-less(-f64::from(f(a)), -f64::from(f(b))) as f32),
            "min.NaN.f32 %f3, %f0, %f1;" => if f(a).is_nan() || f(b).is_nan() {
                        0x7fff_ffff
                    } else {
                        single(less(f64::from(f(a)), f64::from(f(b))) as f32)
                    },
            "max.NaN.f32 %f3, %f0, %f1;" => if f(a).is_nan() || f(b).is_nan() {
                        0x7fff_ffff
                    } else {
                        single(-less(-f64::from(f(a)), -f64::from(f(b))) as f32)
                    },
        },
    );
}

#[test]
fn comparisons_are_ordered_or_not() {
    macro_rules! comparisons {
        ($($name:literal => |$x:ident, $y:ident| $e:expr),* $(,)?) => {
            check(FEW, &[$(
                (concat!("setp.", $name, ".f32 %p0, %f0, %f1;"), |a, b, _| {
                    let ($x, $y) = (f(a), f(b));
                    u64::from($e)
                }),
                (concat!("setp.", $name, ".f64 %p0, %g0, %g1;"), |a, b, _| {
                    let ($x, $y) = (d(a), d(b));
                    u64::from($e)
                }),
            )*]);
        };
    }
    comparisons!(
        "eq" => |x, y| x == y,
        "ne" => |x, y| x != y && !x.is_nan() && !y.is_nan(),
        "lt" => |x, y| x < y,
        "le" => |x, y| x <= y,
        "gt" => |x, y| x > y,
        "ge" => |x, y| x >= y,
        "equ" => |x, y| x == y || x.is_nan() || y.is_nan(),
        "neu" => |x, y| x != y,
        "ltu" => |x, y| x < y || x.is_nan() || y.is_nan(),
        "leu" => |x, y| x <= y || x.is_nan() || y.is_nan(),
        "gtu" => |x, y| x > y || x.is_nan() || y.is_nan(),
        "geu" => |x, y| x >= y || x.is_nan() || y.is_nan(),
        "num" => |x, y| !x.is_nan() && !y.is_nan(),
        "nan" => |x, y| x.is_nan() || y.is_nan(),
    );
    check(
        FEW,
        cases! {
            |a, b, c|
            "testp.finite.f64 %p0, %g0;" => u64::from(d(a).is_finite()),
            "testp.infinite.f32 %p0, %f0;" => u64::from(f(a).is_infinite()),
            "testp.number.f32 %p0, %f0;" => u64::from(!f(a).is_nan()),
            "testp.notanumber.f64 %p0, %g0;" => u64::from(d(a).is_nan()),
            "testp.normal.f32 %p0, %f0;" => u64::from(f(a).is_normal()),
            "testp.subnormal.f32 %p0, %f0;" => u64::from(f(a).is_subnormal()),
            "setp.eq.ftz.f32 %p0, %f0, %f1;" => u64::from(flushed(f(a)) == flushed(f(b))),
        },
    );
}

#[test]
fn directed_roundings_enclose_the_exact_value() {
    let patterns = patterns();
    let bench = Bench::new(patterns);
    for (text, out) in [
        ("add.%.f64 %g3, %g0, %g1;", "%g3"),
        ("sub.%.f64 %g3, %g0, %g1;", "%g3"),
        ("mul.%.f64 %g3, %g0, %g1;", "%g3"),
        ("div.%.f64 %g3, %g0, %g1;", "%g3"),
        ("fma.%.f64 %g3, %g0, %g1, %g2;", "%g3"),
        ("sqrt.%.f64 %g3, %g0;", "%g3"),
        ("rcp.%.f64 %g3, %g0;", "%g3"),
        ("cvt.%.f64.s64 %g3, %d0;", "%g3"),
        ("cvt.%.f64.u64 %g3, %d0;", "%g3"),
        ("add.%.f32 %f3, %f0, %f1;", "%f3"),
        ("sub.%.f32 %f3, %f0, %f1;", "%f3"),
        ("mul.%.f32 %f3, %f0, %f1;", "%f3"),
        ("div.%.f32 %f3, %f0, %f1;", "%f3"),
        ("fma.%.f32 %f3, %f0, %f1, %f2;", "%f3"),
        ("sqrt.%.f32 %f3, %f0;", "%f3"),
        ("rcp.%.f32 %f3, %f0;", "%f3"),
        ("cvt.%.f32.f64 %f3, %g0;", "%f3"),
        ("cvt.%.f32.s64 %f3, %d0;", "%f3"),
        ("cvt.%.f32.u64 %f3, %d0;", "%f3"),
    ] {
        let value = |x: u64| if out == "%g3" { d(x) } else { f64::from(f(x)) };
        let above = |x: u64| {
            if out == "%g3" {
                d(x).next_up()
            } else {
                f64::from(f(x).next_up())
            }
        };
        let [near, zero, down, up] = ["rn", "rz", "rm", "rp"]
            .map(|mode| bench.results(&text.replacen('%', mode, 1), out, FEW));
        for i in 0..FEW {
            let (n, z, l, h) = (value(near[i]), value(zero[i]), value(down[i]), value(up[i]));
            let context = format!("{text} number {i}: {n:e} {z:e} {l:e} {h:e}");
            if n.is_nan() {
                assert!(z.is_nan() && l.is_nan() && h.is_nan(), "{context}");
                continue;
            }
            // The nearest is one of two neighbours, or all are the same.
            assert!(n == l || n == h, "{context}");
            assert!(l == h || h == above(down[i]), "{context}");
            let inner = if n.is_sign_negative() { h } else { l };
            assert_eq!(z, inner, "{context}");
        }
    }
}
