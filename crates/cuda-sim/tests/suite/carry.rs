//! The carry flag between every pair of instructions that set and read it, against
//! a model of the hardware: one flag, the carry of `a + b + flag` for sums and
//! products and of `a + !b + flag` for differences.

use crate::common::{bytes_of, kernel, run, words_of};
use crate::operands::{Bench, operands};

/// What an H200 answers.
#[test]
fn sums_behind_differences_and_differences_behind_sums() {
    let pairs = [
        ("sub.cc.u32 %r0, 5, 3; addc.u32 %r1, 1000, 0;", 1001),
        ("sub.cc.u32 %r0, 3, 5; addc.u32 %r1, 1000, 0;", 1000),
        ("add.cc.u32 %r0, 5, 3; subc.u32 %r1, 1000, 0;", 999),
        (
            "add.cc.u32 %r0, 0xffffffff, 3; subc.u32 %r1, 1000, 0;",
            1000,
        ),
    ];
    for (text, want) in pairs {
        let source = kernel(1, &format!("{text} st.global.u32 [%a0], %r1;"));
        let mut out = [bytes_of(&[0])];
        run(&source, (1, 1), &mut out);
        assert_eq!(words_of(&out[0]), [want], "{text}");
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Sum,
    Difference,
    ProductLow,
    ProductHigh,
}

/// An instruction on three operands; the last is for products only.
#[derive(Clone, Copy)]
struct Link {
    kind: Kind,
    reads: bool,
    bits: u32,
    /// Which of the three operands stands in each place.
    places: [usize; 3],
}

impl Link {
    fn text(&self) -> String {
        let name = match (self.kind, self.reads) {
            (Kind::Sum, false) => "add",
            (Kind::Sum, true) => "addc",
            (Kind::Difference, false) => "sub",
            (Kind::Difference, true) => "subc",
            (Kind::ProductLow, false) => "mad.lo",
            (Kind::ProductLow, true) => "madc.lo",
            (Kind::ProductHigh, false) => "mad.hi",
            (Kind::ProductHigh, true) => "madc.hi",
        };
        let bank = if self.bits == 64 { "%d" } else { "%r" };
        let [a, b, c] = self.places.map(|place| format!("{bank}{place}"));
        let c = match self.kind {
            Kind::Sum | Kind::Difference => String::new(),
            Kind::ProductLow | Kind::ProductHigh => format!(", {c}"),
        };
        let widen = if self.bits == 64 {
            ""
        } else {
            "cvt.u64.u32 %d20, %r20;"
        };
        // What is gathered does not touch the flag.
        format!(
            "{name}.cc.u{} {bank}20, {a}, {b}{c}; {widen}
             mul.lo.u64 %d21, %d21, 3; xor.b64 %d21, %d21, %d20;\n",
            self.bits
        )
    }

    /// Result and flag.
    fn model(&self, operands: [u64; 3], flag: u128) -> (u64, u128) {
        let ones = u128::from(u64::MAX >> (64 - self.bits));
        let [a, b, c] = self.places.map(|place| u128::from(operands[place]) & ones);
        let total = match (self.kind, self.reads) {
            (Kind::Sum, false) => a + b,
            (Kind::Sum, true) => a + b + flag,
            (Kind::Difference, false) => a + (!b & ones) + 1,
            (Kind::Difference, true) => a + (!b & ones) + flag,
            (Kind::ProductLow, reads) => ((a * b) & ones) + c + if reads { flag } else { 0 },
            (Kind::ProductHigh, reads) => ((a * b) >> self.bits) + c + if reads { flag } else { 0 },
        };
        ((total & ones) as u64, total >> self.bits)
    }
}

fn check(bench: &Bench, chain: &[Link]) {
    let count = 2048;
    let links: String = chain.iter().map(Link::text).collect();
    let results = bench.results(&format!("mov.u64 %d21, 0;\n{links}"), "%d21", count);
    for (i, &got) in results.iter().enumerate() {
        let values = [0, 1, 2].map(|place: usize| operands()[place][i]);
        let (mut want, mut flag) = (0u64, 0);
        for link in chain {
            let (result, next) = link.model(values, flag);
            want = want.wrapping_mul(3) ^ result;
            flag = next;
        }
        assert_eq!(got, want, "{links} on {values:x?}");
    }
}

const KINDS: [Kind; 4] = [
    Kind::Sum,
    Kind::Difference,
    Kind::ProductLow,
    Kind::ProductHigh,
];

#[test]
fn every_instruction_takes_the_flag_that_every_other_leaves() {
    let bench = Bench::new(operands());
    for bits in [32, 64] {
        for first in KINDS {
            for second in KINDS {
                let link = |kind, reads, places| Link {
                    kind,
                    reads,
                    bits,
                    places,
                };
                let chain = [
                    link(first, false, [0, 1, 2]),
                    link(second, true, [1, 2, 0]),
                    link(Kind::Sum, true, [2, 2, 2]),
                ];
                check(&bench, &chain);
            }
        }
    }
}

#[test]
fn long_chains_of_any_instructions_and_widths() {
    let bench = Bench::new(operands());
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) % below
    };
    for _ in 0..40 {
        let chain: Vec<Link> = (0..12)
            .map(|i| Link {
                kind: KINDS[random(4) as usize],
                reads: i > 0 && random(8) > 0,
                bits: [32, 64][random(2) as usize],
                places: [0; 3].map(|_| random(3) as usize),
            })
            .collect();
        check(&bench, &chain);
    }
}
