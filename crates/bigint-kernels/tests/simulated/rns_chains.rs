//! Chains of products that instructions tell, in residue number systems.

use crate::bench::{Bench, LARGE, Operand, committed};
use crate::rns::{Powers, without_zeros};
use bigint_core::rns::{CHAIN, Instruction, RNS_MODULE, RnsArguments, RnsPlan, Window};
use bigint_core::{Layout, MatrixArgument, Shape};
use bigint_testing::{sweep, sweep_all};
use cuda_sim::{Checks, DeviceConfig};
use num_bigint::BigUint;

impl Powers {
    /// What stands at some places at the end of a chain, whose first places behind the form of 1 have inputs, and the traces of
    /// the launches.
    fn run_chain(
        &self,
        plan: RnsPlan,
        inputs: &[Operand],
        [e, m]: [&Operand; 2],
        layout: Layout,
        (instructions, places): (&[Instruction], u32),
        outputs: &[u32],
    ) -> (Vec<Vec<BigUint>>, Vec<u64>) {
        let bench = &self.0;
        let (count, moduli) = (e.1.len(), m.1.len());
        let mut table = vec![0; plan.words()];
        plan.fill(&mut table);
        let window = Window {
            bits: places,
            bases: CHAIN,
            scans: 0,
        };
        let limbs = plan.scratch(count, moduli, window);
        let scratch = limbs.map(|limbs| bench.device.alloc(4 * limbs as u64).unwrap());
        let words: Vec<u32> = instructions.iter().flat_map(|i| i.0).collect();
        let shape = Shape::new(count, m.0, layout);
        let of_place = |place: u32| scratch[3] + 4 * (limbs[0] * place as usize) as u64;
        let at = |place: u32| {
            [
                of_place(place),
                scratch[1],
                scratch[2],
                scratch[3],
                scratch[4],
            ]
        };
        let arguments = RnsArguments {
            r: bench.room(shape),
            a: MatrixArgument::default(),
            e: bench.matrix(e, layout),
            m: MatrixArgument {
                number_stride: if moduli == 1 {
                    0
                } else {
                    bench.matrix(m, layout).number_stride
                },
                ..bench.matrix(m, layout)
            },
            table: bench.upload_limbs(&table),
            scratch: at(0),
            refused: bench.upload_limbs(&vec![0; moduli]),
            base: bench.upload_limbs(&words),
            windows: instructions.len() as u64,
            plan,
            count: count as u32,
            moduli: moduli as u32,
            window,
        };
        let [radix, residues, chain, to_limbs] = arguments.launches();
        let mut traces = self.launch(&arguments, &[radix]);
        for (i, input) in (1..).zip(inputs) {
            let of_input = RnsArguments {
                a: bench.matrix(input, layout),
                scratch: at(i),
                ..arguments
            };
            traces.extend(self.launch(&of_input, &[residues]));
        }
        assert_eq!(bench.read(arguments.refused, moduli).iter().sum::<u32>(), 0);
        traces.extend(self.launch(&arguments, &[chain]));
        let found = outputs.iter().map(|place| {
            let of_output = RnsArguments {
                scratch: at(*place),
                ..arguments
            };
            traces.extend(self.launch(&of_output, &[to_limbs]));
            bench.numbers(arguments.r, shape)
        });
        (found.collect(), traces)
    }
}

/// A chain beside what it means.
struct Model {
    moduli: Vec<BigUint>,
    exponents: Vec<BigUint>,
    /// What stands at places, and the last product.
    places: Vec<Vec<BigUint>>,
    last: Vec<BigUint>,
}

impl Model {
    /// What an instruction makes of numbers in Montgomery's form, which is not seen here: by `M^2` nothing is changed, nor by
    /// place 0.
    fn run(&mut self, instruction: Instruction) {
        let made = (0..self.exponents.len()).map(|i| {
            let m = self.moduli.get(i).unwrap_or(&self.moduli[0]);
            let [first, second] = instruction.sources();
            let x = match (instruction.loads(), instruction.bit()) {
                (false, _) => &self.last[i],
                (_, Some(bit)) if self.exponents[i].bit(bit.into()) => {
                    &self.places[second as usize][i]
                }
                _ => &self.places[first as usize][i],
            };
            let product = match instruction {
                _ if instruction.squares() => x * x,
                _ if instruction.is_by_radix() || instruction.factor() == 0 => x.clone(),
                _ => x * &self.places[instruction.factor() as usize][i],
            };
            let term = instruction
                .term()
                .map(|term| &self.places[term as usize][i] % m);
            match (term, instruction.subtracts()) {
                (Some(term), true) => (product % m + m - term) % m,
                (Some(term), false) => (product + term) % m,
                _ => product % m,
            }
        });
        let made = made.collect();
        self.last = made;
        for place in [instruction.place(), Some(instruction.place_of_form())] {
            let place = place.and_then(|place| self.places.get_mut(place as usize));
            if let Some(place) = place {
                place.clone_from(&self.last);
            }
        }
    }
}

/// Steps of a Lucas sequence, differences and sums of products by the last one and by what stands at places, with exponents that
/// choose; and all results beside num-bigint's.
fn chains_of_width(width: usize, layout: Layout, count: usize, moduli: usize) {
    let mut powers = Powers::new();
    let m = without_zeros(powers.moduli(moduli, width));
    let inputs = [powers.bases(count, &m), powers.bases(count, &m)];
    let e = powers.0.batch(count, 1);
    let (square, product) = (Instruction::SQUARE, |by| Instruction::SQUARE.by(by));
    let mut instructions = vec![
        // The inputs and their forms.
        Instruction::SQUARE.by_radix().of(1).kept(3).form(4),
        Instruction::SQUARE.by_radix().of(2).kept(5).form(6),
        // 3 5 + 3 - 5, squared without a load, and again less 5.
        product(4).of(5).plus(3).kept(7).form(8),
        square.minus(5).kept(9).form(10),
        square.minus(3),
        product(4).minus(5).kept(11),
    ];
    for bit in [0, 31, 7] {
        instructions.extend([
            product(10).of_chosen(bit, [9, 7]).minus(5).kept(12),
            square
                .of_chosen(bit + 1, [11, 12])
                .minus(3)
                .kept(13)
                .form(10),
            product(8).plus(5).kept(7).form(8),
        ]);
        instructions.push(square.of(13).kept(9));
    }
    let outputs = [14, 15, 16, 17];
    let of_outputs = [7, 9, 11, 12].into_iter().zip(outputs);
    instructions.extend(of_outputs.map(|(of, place)| product(0).of(of).kept(place)));
    for plan in chains(width) {
        let given = [&e, &m];
        let (found, _) =
            powers.run_chain(plan, &inputs, given, layout, (&instructions, 18), &outputs);
        let mut model = Model {
            moduli: m.1.clone(),
            exponents: e.1.clone(),
            places: vec![Vec::new(); 18],
            last: Vec::new(),
        };
        for (place, input) in (1..).zip(&inputs) {
            model.places[place] = input.1.clone();
        }
        instructions.iter().for_each(|i| model.run(*i));
        for (found, place) in found.iter().zip(outputs) {
            assert_eq!(
                *found, model.places[place as usize],
                "place {place} of {plan:?}"
            );
        }
    }
}

/// The plans for moduli of so many limbs: by warps, and by warpgroups.
fn chains(width: usize) -> Vec<RnsPlan> {
    let plan = RnsPlan::of(width).unwrap();
    [false, true].map(|has| plan.by_warpgroups(has)).into()
}

#[test]
fn chains_of_few_limbs_are_those_of_num_bigint() {
    chains_of_width(1, Layout::Contiguous, 5, 1);
    chains_of_width(7, Layout::Interleaved, 33, 33);
    chains_of_width(32, Layout::Contiguous, sweep_all(18, 18, 1000), 1);
    chains_of_width(
        32,
        Layout::Contiguous,
        sweep_all(18, 18, 1000),
        sweep_all(18, 18, 1000),
    );
}

#[test]
fn chains_of_any_width_are_those_of_num_bigint() {
    for width in sweep_all(
        &[48, 96, 129][..],
        &[48, 96, 129],
        &[48, 64, 96, 128, 192, 256],
    ) {
        chains_of_width(*width, Layout::Contiguous, 17, 17);
    }
}

/// The traces of the launches of a chain by each plan, of numbers, exponents and moduli that are all zero (but for moduli), all
/// ones, or any, by the round. Exponents may choose what is squared.
fn traces(width: usize, round: usize, exponents_choose: bool) -> Vec<Vec<u64>> {
    let config = DeviceConfig {
        arch: LARGE,
        trace: true,
        checks: Checks::NONE,
        ..DeviceConfig::default()
    };
    let mut powers = Powers::new_of(Bench::of(committed(RNS_MODULE), config));
    let one = BigUint::from(1u8);
    (0..round).for_each(|_| {
        powers.0.next();
    });
    let mut operand = |width: usize, is_modulus: bool| -> Operand {
        let mut number = || match round {
            0 => BigUint::ZERO,
            1 => (&one << (32 * width)) - 1u8,
            _ => powers.0.number(width),
        };
        let top = &one << (32 * width - 1);
        let numbers = (0..18).map(|_| match is_modulus {
            true => number() | &top | &one,
            false => number(),
        });
        (width, numbers.collect())
    };
    let inputs = [operand(width, false), operand(width, false)];
    let (e, m) = (operand(1, false), operand(width, true));
    let (square, product) = (Instruction::SQUARE, |by| Instruction::SQUARE.by(by));
    let instructions = [
        square.by_radix().of(1).kept(3).form(4),
        square.by_radix().of(2).kept(5).form(6),
        product(4).of(5).plus(3).kept(7).form(8),
        square.minus(5).kept(9),
        product(8),
        match exponents_choose {
            true => square.of_chosen(3, [7, 9]),
            false => square.of(7),
        },
        product(0).kept(10),
    ];
    let plans = chains(width).into_iter();
    let traces = plans.map(|plan| {
        let chain = (&instructions[..], 11);
        let (_, traces) =
            powers.run_chain(plan, &inputs, [&e, &m], Layout::Contiguous, chain, &[10]);
        traces
    });
    traces.collect()
}

/// Numbers and moduli are secret, and exponents as long as they choose nothing: those that do are read off what is executed.
#[test]
fn chains_execute_the_same_for_all_numbers() {
    for &width in sweep_all(&[9, 65][..], &[9, 65, 129], &[9, 40, 65, 129, 201]) {
        let rounds = if width > 40 { 2 } else { sweep(3, 4) };
        let of_round = |round| traces(width, round, false);
        let first = of_round(0);
        assert!(first.iter().flatten().all(|trace| *trace != 0));
        for round in 1..rounds {
            assert_eq!(of_round(round), first, "{width}");
        }
    }
    let [zero, ones] = [0, 1].map(|round| traces(9, round, true));
    for (zero, ones) in zero.iter().zip(&ones) {
        assert_ne!(zero, ones);
    }
}
