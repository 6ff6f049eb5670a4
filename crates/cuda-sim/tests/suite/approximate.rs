//! Functions whose bits PTX leaves open, held to the bounds that it gives, and the
//! narrow formats, held to their definition.

use crate::common::{bytes_of, kernel, run, words_of};

/// Runs `body`, which turns `%f0` into `%f1`, on each single.
fn each(body: &str, inputs: &[f32]) -> Vec<f32> {
    let source = kernel(
        2,
        &format!(
            "mov.u32 %r0, %ctaid.x; mul.wide.u32 %d0, %r0, 4; add.u64 %d1, %a0, %d0; add.u64 %d2, %a1, %d0;
             ld.global.f32 %f0, [%d1]; {body} st.global.f32 [%d2], %f1;"
        ),
    );
    let bits: Vec<u32> = inputs.iter().map(|x| x.to_bits()).collect();
    let mut buffers = [bytes_of(&bits), vec![0; 4 * inputs.len()]];
    run(&source, (inputs.len() as u32, 1), &mut buffers);
    words_of(&buffers[1])
        .into_iter()
        .map(f32::from_bits)
        .collect()
}

const POINTS: [f32; 16] = [
    1.0, 2.0, 3.0, 0.5, 1e-3, 7.25, 1.7e9, 3.4e-30, 0.1, 1.99999, 65537.0, 1e-20, 12.0, 0.75,
    1e-40, 100.0,
];

#[test]
fn approximations_keep_their_bounds() {
    type Function = fn(f64) -> f64;
    let ulp = 2f64.powi(-23);
    let functions: [(&str, Function, f64); 6] = [
        ("rcp.approx.f32", |x| 1.0 / x, ulp),
        ("sqrt.approx.f32", f64::sqrt, ulp),
        ("rsqrt.approx.f32", |x| 1.0 / x.sqrt(), 2f64.powf(-22.9)),
        ("ex2.approx.f32", f64::exp2, 2.0 * ulp),
        ("lg2.approx.f32", f64::log2, 2f64.powi(-22)),
        ("tanh.approx.f32", f64::tanh, 2f64.powi(-11)),
    ];
    for (op, exact, bound) in functions {
        for (x, got) in POINTS.iter().zip(each(&format!("{op} %f1, %f0;"), &POINTS)) {
            let want = exact(f64::from(*x));
            let error = (f64::from(got) - want).abs();
            let overflows = want.abs() > f64::from(f32::MAX);
            let within = error <= bound * want.abs().max(1e-44) || overflows && got.is_infinite();
            assert!(within, "{op} of {x}: {got}, {want} is right");
        }
    }
    let angles: Vec<f32> = (-32..=32).map(|i| i as f32 * 0.097).collect();
    for (op, exact) in [
        ("sin.approx.f32", f64::sin as Function),
        ("cos.approx.f32", f64::cos),
    ] {
        for (x, got) in angles.iter().zip(each(&format!("{op} %f1, %f0;"), &angles)) {
            let error = (f64::from(got) - exact(f64::from(*x))).abs();
            assert!(error <= 2f64.powf(-20.5), "{op} of {x}: {got}");
        }
    }
    for op in ["div.approx.f32", "div.full.f32"] {
        for (x, got) in POINTS
            .iter()
            .zip(each(&format!("{op} %f1, 0f40400000, %f0;"), &POINTS))
        {
            let want = 3.0 / f64::from(*x);
            let error = (f64::from(got) - want).abs();
            let overflows = want > f64::from(f32::MAX) && got.is_infinite();
            assert!(overflows || error <= 2.0 * ulp * want, "{op} by {x}: {got}");
        }
    }
}

#[test]
fn approximations_have_the_special_values_that_ptx_lists() {
    let inf = f32::INFINITY;
    for (body, input, want) in [
        ("rcp.approx.f32 %f1, %f0;", -0.0, -inf),
        ("rcp.approx.f32 %f1, %f0;", -inf, -0.0),
        ("rcp.approx.ftz.f32 %f1, %f0;", 1e-40, inf),
        ("rcp.approx.ftz.f32 %f1, %f0;", 3e38, 0.0),
        ("sqrt.approx.f32 %f1, %f0;", -0.0, -0.0),
        ("sqrt.approx.f32 %f1, %f0;", -1.0, f32::NAN),
        ("rsqrt.approx.f32 %f1, %f0;", -0.0, -inf),
        ("rsqrt.approx.f32 %f1, %f0;", inf, 0.0),
        ("ex2.approx.ftz.f32 %f1, %f0;", -inf, 0.0),
        ("ex2.approx.f32 %f1, %f0;", 1e-40, 1.0),
        ("lg2.approx.f32 %f1, %f0;", 0.0, -inf),
        ("lg2.approx.f32 %f1, %f0;", -3.0, f32::NAN),
        ("sin.approx.f32 %f1, %f0;", -0.0, -0.0),
        ("sin.approx.f32 %f1, %f0;", inf, f32::NAN),
        ("cos.approx.f32 %f1, %f0;", 0.0, 1.0),
        // The reciprocal of a divisor beyond 2^126 counts as zero.
        ("div.approx.f32 %f1, 0f40400000, %f0;", 2e38, 0.0),
        ("div.approx.f32 %f1, 0f7f800000, %f0;", 2e38, f32::NAN),
        ("div.full.f32 %f1, 0f7e967699, %f0;", 1e38, 1.0),
    ] {
        let got = each(body, &[input])[0];
        let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
        assert!(same, "{body} of {input}: {got}, not {want}");
    }
}

#[test]
fn approximate_functions_of_doubles_know_their_upper_halves() {
    let source = kernel(
        1,
        "ld.global.f64 %g0, [%a0]; rcp.approx.ftz.f64 %g1, %g0; st.global.f64 [%a0], %g1;
         rsqrt.approx.ftz.f64 %g1, %g0; st.global.f64 [%a0+8], %g1;
         rsqrt.approx.f64 %g1, %g0; st.global.f64 [%a0+16], %g1;",
    );
    let mut buffer = [vec![0; 24]];
    buffer[0][..8].copy_from_slice(&7.3f64.to_le_bytes());
    run(&source, (1, 1), &mut buffer);
    let got: Vec<f64> = buffer[0]
        .chunks_exact(8)
        .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    for (got, want) in got
        .iter()
        .zip([1.0 / 7.3, 1.0 / 7.3f64.sqrt(), 1.0 / 7.3f64.sqrt()])
    {
        assert!((got / want - 1.0).abs() < 2f64.powi(-18), "{got}");
    }
    assert_eq!(got[0].to_bits() as u32, 0);
    assert_eq!(got[1].to_bits() as u32, 0);
}

#[test]
fn narrow_floats_are_rounded_to_the_nearest_neighbour() {
    // Every value of a format comes back, and what lies between goes to the nearest,
    // or to the even one of two: checked by the distances alone.
    for (ty, infinity) in [("f16", 0x7c00u32), ("bf16", 0x7f80)] {
        let widen = |halves: Vec<u32>| -> Vec<f32> {
            let inputs: Vec<f32> = halves.into_iter().map(f32::from_bits).collect();
            each(
                &format!("mov.b32 %r1, %f0; cvt.u16.u32 %h0, %r1; cvt.f32.{ty} %f1, %h0;"),
                &inputs,
            )
        };
        let narrow = |mode: &str, inputs: &[f32]| -> Vec<u32> {
            let body =
                format!("cvt.{mode}.{ty}.f32 %h0, %f0; cvt.u32.u16 %r1, %h0; mov.b32 %f1, %r1;");
            each(&body, inputs).into_iter().map(f32::to_bits).collect()
        };
        let finite: Vec<u32> = (0..infinity).step_by(7).chain([infinity - 1]).collect();
        let values = widen(finite.clone());
        assert_eq!(narrow("rn", &values), finite, "{ty}");
        let above = widen(finite.iter().map(|half| half + 1).collect());
        let between: Vec<f32> = values
            .iter()
            .zip(&above)
            .filter(|(_, above)| above.is_finite())
            .flat_map(|(&low, &high)| {
                let middle = ((f64::from(low) + f64::from(high)) / 2.0) as f32;
                [middle, middle.next_up(), middle.next_down(), -middle]
            })
            .collect();
        let nearest = narrow("rn", &between);
        let zero = narrow("rz", &between);
        let lower: Vec<u32> = finite
            .iter()
            .zip(&above)
            .filter(|(_, above)| above.is_finite())
            .map(|(&half, _)| half)
            .collect();
        for (i, half) in lower.into_iter().enumerate() {
            // Singles have no room for the middle of the least bfloat16 pair's like.
            let even = half + (half & 1);
            assert_eq!(
                nearest[4 * i..4 * i + 4],
                [even, half + 1, half, even | 0x8000],
                "{ty}"
            );
            assert_eq!(
                zero[4 * i..4 * i + 4],
                [half, half, half, half | 0x8000],
                "{ty}"
            );
        }
        let special = [f32::INFINITY, -f32::INFINITY, f32::NAN, f32::MAX, -0.0];
        let largest = [infinity, infinity | 0x8000, 0x7fff, infinity, 0x8000];
        assert_eq!(narrow("rn", &special), largest, "{ty}");
        assert_eq!(narrow("rz", &[f32::MAX]), [infinity - 1], "{ty}");
    }
}

#[test]
fn two_narrow_floats_share_a_word_the_first_above() {
    let source = kernel(
        1,
        "mov.f32 %f0, 0f3f800000; mov.f32 %f1, 0fc0000000;
         cvt.rn.f16x2.f32 %r0, %f0, %f1; st.global.u32 [%a0], %r0;
         cvt.rz.bf16x2.f32 %r0, %f0, %f1; st.global.u32 [%a0+4], %r0;
         .reg .f16x2 %y; .reg .bf16 %z; ld.global.b32 %y, [%a0]; mov.b32 {%h1, %h2}, %y;
         cvt.f32.f16 %f2, %h1; st.global.f32 [%a0+8], %f2; ld.global.b16 %z, [%a0+6]; st.global.b16 [%a0+12], %z;
         mov.b32 %r5, %envreg7; st.global.b16 [%a0+14], %r5;",
    );
    let mut out = [vec![9; 16]];
    run(&source, (1, 1), &mut out);
    let minus_two = (-2f32).to_bits();
    assert_eq!(
        words_of(&out[0]),
        [0x3c00_c000, 0x3f80_c000, minus_two, 0x3f80]
    );
}

#[test]
fn fns_finds_the_nth_one_in_either_direction() {
    // As the manual defines it, one bit at a time.
    fn find(mask: u32, base: i32, offset: i32) -> u32 {
        let (mut at, mut left) = (base, offset.abs());
        let step = if offset < 0 { -1 } else { 1 };
        if offset == 0 {
            return if mask >> base & 1 == 1 {
                base as u32
            } else {
                u32::MAX
            };
        }
        while (0..32).contains(&at) {
            left -= i32::from(mask >> at & 1 == 1);
            if left == 0 {
                return at as u32;
            }
            at += step;
        }
        u32::MAX
    }
    let offsets = [0, 1, -1, 2, -2, 7, -16, 32, -32];
    let mut body = "ld.global.u32 %r0, [%a0]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %d0, %r1, 36; add.u64 %d1, %a1, %d0;\n".to_owned();
    for (i, offset) in offsets.iter().enumerate() {
        body += &format!(
            "fns.b32 %r2, %r0, %r1, {offset}; st.global.u32 [%d1+{}], %r2;\n",
            4 * i
        );
    }
    let source = kernel(2, &body);
    for mask in [0, u32::MAX, 0x8000_0001, 0x0f30_5a81] {
        let mut buffers = [bytes_of(&[mask]), vec![0; 36 * 32]];
        run(&source, (32, 1), &mut buffers);
        let want: Vec<u32> = (0..32)
            .flat_map(|base| offsets.map(|offset| find(mask, base, offset)))
            .collect();
        assert_eq!(words_of(&buffers[1]), want, "{mask:#x}");
    }
}
