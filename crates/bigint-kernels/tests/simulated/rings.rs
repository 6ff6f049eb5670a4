//! Montgomery products by a block in two rings.

use crate::bench::{Bench, Operand};
use bigint_core::transform::rings::{MODULE, RING_LANES, RING_ROOTS, RingArguments, RingPlan};
use bigint_core::{Layout, MatrixArgument, Shape};
use num_bigint::BigUint;

/// A device with the kernels and their table of roots.
struct Rings {
    bench: Bench,
    roots: u64,
}

fn power(bits: u32) -> BigUint {
    BigUint::from(1u8) << bits
}

impl Rings {
    fn new() -> Self {
        let bench = Bench::large(MODULE);
        let mut table = vec![[0.0; 2]; RING_ROOTS];
        RingPlan::fill(&mut table);
        let words = table.iter().flatten();
        let roots = bench.upload(words.flat_map(|x: &f64| x.to_le_bytes()));
        Rings { bench, roots }
    }

    /// Of each number `x` its Montgomery squares, so many one of the other, times `y` if there is one; modulo a number each,
    /// or one for all, whose inverses modulo `R` are `n`.
    fn check(&self, plan: RingPlan, [x, y]: [&Operand; 2], [m, n]: [&Operand; 2], squares: u32) {
        let bench = &self.bench;
        let (count, moduli) = (x.1.len(), m.1.len());
        let limbs = plan.limbs();
        let shape = Shape::new(count, limbs as usize, Layout::Contiguous);
        let kept = bench.device.alloc(4 * (moduli * plan.kept_limbs()) as u64);
        let of = |operand: &Operand| {
            let matrix = bench.matrix(operand, Layout::Contiguous);
            let number_stride = if operand.1.len() == 1 {
                0
            } else {
                matrix.number_stride
            };
            MatrixArgument {
                number_stride,
                ..matrix
            }
        };
        let mut keeping = RingArguments {
            x: of(n),
            m: of(m),
            kept: kept.unwrap(),
            kept_stride: if moduli == 1 {
                0
            } else {
                plan.kept_limbs() as u64
            },
            roots: self.roots,
            count: moduli as u64,
            ..RingArguments::default()
        };
        let [powers, keep] = plan.kernels();
        let launch = |name, arguments: &mut RingArguments| {
            let launch = arguments.launch(plan);
            let grid = [launch.grid, launch.block, launch.shared_bytes];
            bench.launch(name, grid, arguments.words(), plan)
        };
        launch(keep.name, &mut keeping);
        let mut arguments = RingArguments {
            r: bench.room(shape),
            x: of(x),
            y: of(y),
            squares: squares.into(),
            count: count as u64,
            ..keeping
        };
        launch(powers.name, &mut arguments);
        let found = bench.numbers(arguments.r, shape);
        for (i, found) in found.iter().enumerate() {
            let [m, n] = [m, n].map(|all| all.1.get(i).unwrap_or(&all.1[0]));
            // Each product has a factor `1/R`: `m n` is 1 more than a multiple of `R`.
            let inverse = m - (m * n / (power(32 * limbs) + 1u8)) % m;
            let mut value = &x.1[i] % m;
            for _ in 0..squares {
                value = &value * &value * &inverse % m;
            }
            if y.0 > 0 {
                value = value * y.1.get(i).unwrap_or(&y.1[0]) * &inverse % m;
            }
            assert_eq!(
                found % m,
                value,
                "number {i} of {plan:?}, {squares} squares modulo {m:#x}"
            );
            // What is far from full has room for more.
            let is_full = m.bits() > u64::from(32 * limbs - 2);
            assert!(
                *found < if is_full { m.clone() } else { m + m },
                "number {i} of {plan:?}"
            );
        }
        for address in [keeping.x, keeping.m, arguments.r, arguments.x].map(|x| x.limbs) {
            bench.device.free(address).unwrap();
        }
        bench.device.free(keeping.kept).unwrap();
    }

    /// Odd moduli of up to so many limbs, coprime to `R`: all ones, next to powers of two, digits that are greatest in
    /// either sense, short ones, and any.
    fn moduli(&mut self, limbs: u32) -> Vec<BigUint> {
        let top = 32 * limbs;
        let repeated = |limb: u32| BigUint::new(vec![limb; limbs as usize]) | power(0);
        let mut all = vec![
            power(top) - 1u8,
            power(top - 1) + 1u8,
            repeated(0x8000_8000),
            repeated(0x7fff_7fff),
            power(top) - power(top / 2) + 3u8,
            power(top - 2) - 1u8,
            power(top - 2) + 1u8,
            power(top / 2) + 1u8,
            power(33) + 1u8,
            BigUint::from(3u8),
            power(0),
        ];
        all.extend(
            [0, 1, 2, 700].map(|bits| (self.bench.number(limbs as usize) >> bits) | power(0)),
        );
        all
    }
}

#[test]
fn montgomery_products_and_squares_are_those_of_num_bigint() {
    let mut rings = Rings::new();
    // Oracles of longer numbers take longer.
    for (lanes, step) in RING_LANES.into_iter().zip([1, 4]) {
        let plan = RingPlan::of_lanes(lanes);
        let limbs = plan.limbs();
        let width = limbs as usize;
        let r = power(32 * limbs) + 1u8;
        let (mut below, mut any, mut m, mut n) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let moduli = rings.moduli(limbs).into_iter().step_by(step);
        for (i, modulus) in moduli.enumerate() {
            let inverse = modulus.modinv(&r).expect("no common factor");
            let random = rings.bench.number(width);
            for below_it in [
                match i % 4 {
                    0 => &modulus - 1u8,
                    1 => &modulus >> 1u8,
                    2 => BigUint::ZERO,
                    _ => modulus.clone(),
                },
                &random % &modulus,
            ] {
                below.push(below_it);
                any.push(random.clone());
                m.push(modulus.clone());
                n.push(inverse.clone());
            }
        }
        let [below, any, m, n] = [below, any, m, n].map(|numbers| (width, numbers));
        let none = (0, Vec::new());
        // The first may be wider than the modulus.
        rings.check(plan, [&any, &below], [&m, &n], 0);
        rings.check(plan, [&below, &none], [&m, &n], 1);
        rings.check(plan, [&below, &below], [&m, &n], 3);
        let one = |all: &Operand| (width, vec![all.1[0].clone()]);
        let [y, m, n] = [&below, &m, &n].map(one);
        let few = (width, below.1[..2].to_vec());
        rings.check(plan, [&few, &y], [&m, &n], 2);
    }
}
