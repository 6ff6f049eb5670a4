//! The 16-bit formats against exact arithmetic on integers, and doubles with them.

use crate::common::{module, not_known};
use crate::exact::{BF16, Exact, F16, F32, F64, Format, MODES};
use crate::operands::{Bench, operands};

const COUNT: usize = 1 << 13;

/// Numbers in the lowest 16 bits and in the 16 above them, and doubles: every exponent,
/// specials, and operands whose sums nearly cancel.
fn patterns() -> [Vec<u64>; 3] {
    let random = operands();
    let specials = [
        0, 1, 0x3ff, 0x400, 0x3c00, 0x7bff, 0x7c00, 0x7c01, 0x7fff, 0x3f80, 0x7f80, 0x7f7f,
    ];
    std::array::from_fn(|k| {
        (0..COUNT)
            .map(|i| {
                let x = random[k][i].wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let half = |x: u64| match x >> 17 & 7 {
                    0 => specials[(x >> 20) as usize % specials.len()] | x & 0x8000,
                    // Near one, and near each other.
                    1 => x & 0x83ff | 0x3c00,
                    _ => x & 0xffff,
                };
                x & 0xffff_ffff_0000_0000 | half(x >> 8) << 16 | half(x)
            })
            .collect()
    })
}

/// The value of a number in 16 bits, infinities and the like too.
fn value(format: Format, bits: u64) -> f64 {
    if format.is_nan(bits) {
        return f64::NAN;
    }
    let sign = if bits & 0x8000 != 0 { -1.0 } else { 1.0 };
    if format.is_infinite(bits) {
        return sign * f64::INFINITY;
    }
    let exact = format.exact(bits & 0x7fff);
    let mantissa: u32 = exact.mantissa.try_into().unwrap();
    sign * f64::from(mantissa) * 2f64.powi(exact.exponent as i32)
}

/// What an operation gives, where `host` has it in double precision and `exact` on
/// integers. Zeros, infinities and the like are the host's.
fn rounded(format: Format, host: f64, finite: bool, exact: impl Fn() -> Exact, mode: &str) -> u64 {
    if host.is_nan() {
        return 0x7fff;
    }
    let sign = if host.is_sign_negative() { 0x8000 } else { 0 };
    if !finite {
        return sign | format.infinity();
    }
    let exact = exact();
    if exact.is_zero() {
        return sign;
    }
    format.round(&exact, mode)
}

const NAMES: [(&str, Format); 2] = [("f16", F16), ("bf16", BF16)];

fn expected(name: &str, format: Format, [a, b, c]: [u64; 3]) -> u64 {
    let (x, y, z) = (value(format, a), value(format, b), value(format, c));
    let of = |bits| format.exact(bits);
    let nan = |bits| format.is_nan(bits);
    match name {
        "add" => rounded(
            format,
            x + y,
            (x + y).is_finite(),
            || of(a).plus(&of(b)),
            "rn",
        ),
        "sub" => rounded(
            format,
            x - y,
            (x - y).is_finite(),
            || of(a).plus(&of(b ^ 0x8000)),
            "rn",
        ),
        "mul" => rounded(
            format,
            x * y,
            (x * y).is_finite(),
            || of(a).times(&of(b)),
            "rn",
        ),
        "fma" => {
            let host = x * y + z;
            rounded(
                format,
                host,
                host.is_finite(),
                || of(a).times(&of(b)).plus(&of(c)),
                "rn",
            )
        }
        "neg" => a ^ 0x8000,
        "abs" => a & 0x7fff,
        "min" | "max" => match (nan(a), nan(b)) {
            (true, true) => 0x7fff,
            (true, false) => b,
            (false, true) => a,
            _ => {
                let lesser = x < y || x == y && x.is_sign_negative();
                if lesser == (name == "min") { a } else { b }
            }
        },
        _ => unreachable!("{name}"),
    }
}

#[test]
fn arithmetic_of_16_bits_is_rounded_once() {
    let patterns = patterns();
    let bench = Bench::new(&patterns);
    for (ty, format) in NAMES {
        for name in ["add", "sub", "mul", "fma", "neg", "abs", "min", "max"] {
            let sources = match name {
                "neg" | "abs" => 1,
                "fma" => 3,
                _ => 2,
            };
            let mode = if name == "fma" { ".rn" } else { "" };
            let list = |file: &str| -> String {
                let names: Vec<String> = (0..sources).map(|i| format!("{file}{i}")).collect();
                names.join(", ")
            };
            let alone = format!("{name}{mode}.{ty} %h3, {};", list("%h"));
            let paired = format!("{name}{mode}.{ty}x2 %r3, {};", list("%r"));
            let got = bench.results(&alone, "%h3", COUNT);
            let pairs = bench.results(&paired, "%r3", COUNT);
            for i in 0..COUNT {
                let abc = [0, 1, 2].map(|k| patterns[k][i]);
                let low = expected(name, format, abc.map(|x| x & 0xffff));
                let high = expected(name, format, abc.map(|x| x >> 16 & 0xffff));
                assert_eq!(got[i], low, "{alone} on {abc:x?}");
                assert_eq!(pairs[i], high << 16 | low, "{paired} on {abc:x?}");
            }
        }
    }
}

#[test]
fn results_of_16_bits_are_flushed_clamped_and_rectified() {
    let patterns = patterns();
    let bench = Bench::new(&patterns);
    let flush = |x: u64| if x & 0x7fff < 0x400 { x & 0x8000 } else { x };
    let clamp = |x: u64| match value(F16, x) {
        v if v > 1.0 => 0x3c00,
        v if v > 0.0 => x,
        _ => 0,
    };
    let rectify = |x: u64| if x & 0x8000 != 0 { 0 } else { x };
    let ftz = bench.results("mul.ftz.f16 %h3, %h0, %h1;", "%h3", COUNT);
    let sat = bench.results("fma.rn.sat.f16 %h3, %h0, %h1, %h2;", "%h3", COUNT);
    let relu = bench.results("fma.rn.relu.bf16 %h3, %h0, %h1, %h2;", "%h3", COUNT);
    let nan = bench.results("min.NaN.f16 %h3, %h0, %h1;", "%h3", COUNT);
    for i in 0..COUNT {
        let abc = [0, 1, 2].map(|k| patterns[k][i] & 0xffff);
        let [a, b, c] = abc;
        let of_flushed = expected("mul", F16, [flush(a), flush(b), c]);
        assert_eq!(ftz[i], flush(of_flushed), "{abc:x?}");
        assert_eq!(sat[i], clamp(expected("fma", F16, abc)), "{abc:x?}");
        assert_eq!(relu[i], rectify(expected("fma", BF16, abc)), "{abc:x?}");
        let none = F16.is_nan(a) || F16.is_nan(b);
        let want = if none {
            0x7fff
        } else {
            expected("min", F16, abc)
        };
        assert_eq!(nan[i], want, "{abc:x?}");
    }
}

#[test]
fn comparisons_of_16_bits_are_those_of_their_values() {
    let patterns = patterns();
    let bench = Bench::new(&patterns);
    type Comparison = fn(f64, f64) -> bool;
    let cases: [(&str, Comparison); 6] = [
        ("eq", |x, y| x == y),
        ("ne", |x, y| !x.is_nan() && !y.is_nan() && x != y),
        ("lt", |x, y| x < y),
        ("ge", |x, y| x >= y),
        ("ltu", |x, y| x.is_nan() || y.is_nan() || x < y),
        ("nan", |x, y| x.is_nan() || y.is_nan()),
    ];
    for (ty, format) in NAMES {
        for (name, holds) in cases {
            let text = format!("setp.{name}.{ty} %p3, %h0, %h1;");
            let one = bench.results(&text, "%p3", COUNT);
            // The predicates of both halves, and all ones or 1.0 in their place.
            let text = format!(
                "setp.{name}.{ty}x2 %p3|%p4, %r0, %r1;
                 selp.u32 %r3, 1, 0, %p3; selp.u32 %r4, 2, 0, %p4; or.b32 %r3, %r3, %r4;"
            );
            let two = bench.results(&text, "%r3", COUNT);
            let text = format!("set.{name}.{ty}x2.{ty}x2 %r3, %r0, %r1;");
            let ones = bench.results(&text, "%r3", COUNT);
            let unit: u64 = if ty == "f16" { 0x3c00 } else { 0x3f80 };
            for i in 0..COUNT {
                let (a, b) = (patterns[0][i], patterns[1][i]);
                let of = |shift: u32| {
                    let half = |x: u64| value(format, x >> shift & 0xffff);
                    u64::from(holds(half(a), half(b)))
                };
                assert_eq!(one[i], of(0), "{name}.{ty} on {a:x}, {b:x}");
                assert_eq!(two[i], of(0) | of(16) << 1, "{name}.{ty}x2 on {a:x}, {b:x}");
                assert_eq!(
                    ones[i],
                    unit * (of(0) + (of(16) << 16)),
                    "{text} on {a:x}, {b:x}"
                );
            }
        }
    }
}

#[test]
fn conversions_to_16_bits_are_rounded_once() {
    let patterns = patterns();
    // Exponents that the formats have, in doubles and singles.
    let near = |x: u64, y: u64| {
        let double = (x & 0x800f_ffff_ffff_ffff) | (1023 - 30 + y % 60) << 52;
        let single = (x as u32 & 0x807f_ffff) | ((127 - 30 + y as u32 % 60) << 23);
        double & !0xffff_ffff | u64::from(single)
    };
    let values: Vec<u64> = (0..COUNT)
        .map(|i| match i % 4 {
            0 => patterns[0][i],
            // A tie, and its neighbour.
            1 => near(patterns[0][i], patterns[1][i]) & !0xf_ffff_0000_0fff | 0x1000,
            _ => near(patterns[0][i], patterns[1][i]),
        })
        .collect();
    let bench = Bench::new(&[values.clone(), values.clone(), values.clone()]);
    for (ty, format) in NAMES {
        for mode in MODES {
            let text = format!("cvt.{mode}.{ty}.f64 %h3, %g0;");
            let doubles = bench.results(&text, "%h3", COUNT);
            let text = format!("cvt.{mode}.{ty}.f32 %h3, %f0;");
            let singles = bench.results(&text, "%h3", COUNT);
            let text = format!("cvt.{mode}.{ty}.s64 %h3, %d0;");
            let integers = bench.results(&text, "%h3", COUNT);
            let text = format!("cvt.{mode}.{ty}.u16 %h3, %h0;");
            let shorts = bench.results(&text, "%h3", COUNT);
            for (i, &x) in values.iter().enumerate() {
                let (double, single) = (f64::from_bits(x), f32::from_bits(x as u32));
                let of = |source: Format, bits: u64, host: f64| {
                    let finite = host.is_finite();
                    rounded(format, host, finite, || source.exact(bits), mode)
                };
                assert_eq!(doubles[i], of(F64, x, double), "{mode} {ty} {x:x}");
                let low = x & 0xffff_ffff;
                assert_eq!(
                    singles[i],
                    of(F32, low, f64::from(single)),
                    "{mode} {ty} {low:x}"
                );
                let of_integer =
                    |n: i64| rounded(format, n as f64, true, || Exact::integer(n), mode);
                assert_eq!(integers[i], of_integer(x as i64), "{mode} {ty} {x}");
                assert_eq!(
                    shorts[i],
                    of_integer((x & 0xffff) as i64),
                    "{mode} {ty} {x}"
                );
            }
        }
        // Back, and to integers.
        let text = format!("cvt.f64.{ty} %g3, %h0;");
        let doubles = bench.results(&text, "%g3", COUNT);
        let text = format!("cvt.rni.s32.{ty} %r3, %h0;");
        let integers = bench.results(&text, "%r3", COUNT);
        let text = format!("cvt.rzi.{ty}.{ty} %h3, %h0;");
        let integral = bench.results(&text, "%h3", COUNT);
        for (i, &x) in values.iter().enumerate() {
            let want = value(format, x & 0xffff);
            let got = f64::from_bits(doubles[i]);
            assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan());
            if !want.is_nan() {
                let whole = want.round_ties_even() as i32 as u32;
                assert_eq!(integers[i], u64::from(whole), "{ty} {x:x}");
                assert_eq!(value(format, integral[i]), want.trunc(), "{ty} {x:x}");
            }
        }
    }
    // Two at once, the first above, and between the formats.
    let pairs = bench.results("cvt.rn.relu.bf16x2.f32 %r3, %f0, %f1;", "%r3", COUNT);
    let across = bench.results("cvt.rn.f16.bf16 %h3, %h0;", "%h3", COUNT);
    for (i, &x) in values.iter().enumerate() {
        let single = f64::from(f32::from_bits(x as u32));
        let bits = x & 0xffff_ffff;
        let one = rounded(BF16, single, single.is_finite(), || F32.exact(bits), "rn");
        let one = if one & 0x8000 != 0 { 0 } else { one };
        assert_eq!(pairs[i], one << 16 | one, "{x:x}");
        let source = value(BF16, x & 0xffff);
        let want = rounded(
            F16,
            source,
            source.is_finite(),
            || BF16.exact(x & 0xffff),
            "rn",
        );
        assert_eq!(across[i], want, "{x:x}");
    }
}

#[test]
fn sums_and_products_of_doubles_are_exact_but_for_one_rounding() {
    let random = operands();
    const COUNT: usize = 1 << 11;
    // Exponents so close that every bit of a product and a sum counts, and the edges.
    let patterns: [Vec<u64>; 3] = std::array::from_fn(|k| {
        (0..COUNT)
            .map(|i| {
                let (x, y) = (random[k][i], random[k][i + COUNT]);
                let exponent = match i % 8 {
                    0 => 1 + y % 4,
                    1 => 2046 - y % 4,
                    2 => 0,
                    3 => 512 + y % 8,
                    _ => 1023 - 27 + y % 54,
                };
                // Few bits and many.
                let fraction = if y >> 32 & 1 == 0 { x } else { x << 27 };
                x & 1 << 63 | exponent << 52 | fraction & ((1 << 52) - 1)
            })
            .collect()
    });
    let bench = Bench::new(&patterns);
    for mode in MODES {
        let run = |text: String| bench.results(&text, "%g3", COUNT);
        let sums = run(format!("add.{mode}.f64 %g3, %g0, %g1;"));
        let differences = run(format!("sub.{mode}.f64 %g3, %g0, %g1;"));
        let products = run(format!("mul.{mode}.f64 %g3, %g0, %g1;"));
        let fused = run(format!("fma.{mode}.f64 %g3, %g0, %g1, %g2;"));
        for i in 0..COUNT {
            let [a, b, c] = [0, 1, 2].map(|k| F64.exact(patterns[k][i]));
            let minus_b = F64.exact(patterns[1][i] ^ 1 << 63);
            for (got, exact) in [
                (sums[i], a.plus(&b)),
                (differences[i], a.plus(&minus_b)),
                (products[i], a.times(&b)),
                (fused[i], a.times(&b).plus(&c)),
            ] {
                if exact.is_zero() {
                    assert_eq!(got << 1, 0);
                } else {
                    assert_eq!(got, F64.round(&exact, mode), "{mode} {i}");
                }
            }
        }
    }
}

#[test]
fn what_16_bits_do_not_have_is_refused() {
    let kernel = |line: &str, version: &str, target: &str| {
        module(&format!(
            ".visible .entry k() {{ .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .pred %p; {line} ret; }}"
        ))
        .replace("8.7", version)
        .replace("sm_90", target)
    };
    for (line, version, target) in [
        ("add.f16 %h0, %h1, %h2;", "7.0", "sm_75"),
        ("fma.rn.bf16 %h0, %h1, %h2, %h3;", "7.0", "sm_80"),
        ("add.bf16 %h0, %h1, %h2;", "7.8", "sm_90"),
        ("max.f16x2 %r0, %r1, %r2;", "7.0", "sm_80"),
        ("setp.lt.f16 %p, %h1, %h2;", "7.0", "sm_75"),
    ] {
        cuda_sim::ptx::Module::parse(&kernel(line, version, target)).unwrap();
    }
    for (line, version, target) in [
        ("add.bf16 %h0, %h1, %h2;", "8.7", "sm_89"),
        ("setp.lt.bf16 %p, %h1, %h2;", "8.7", "sm_80"),
        ("max.f16 %h0, %h1, %h2;", "8.7", "sm_75"),
        ("fma.rn.relu.f16 %h0, %h1, %h2, %h3;", "8.7", "sm_75"),
        ("fma.rn.bf16 %h0, %h1, %h2, %h3;", "6.5", "sm_80"),
        ("fma.rz.f16 %h0, %h1, %h2, %h3;", "8.7", "sm_90"),
        ("add.sat.bf16 %h0, %h1, %h2;", "8.7", "sm_90"),
        ("div.rn.f16 %h0, %h1, %h2;", "8.7", "sm_90"),
    ] {
        not_known(&kernel(line, version, target));
    }
}
