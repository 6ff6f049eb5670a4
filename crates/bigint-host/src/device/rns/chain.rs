//! Chains of products, sums and differences modulo odd numbers, of which a device computes all in one launch:
//! [`bigint_core::rns::Instruction`] has how kernels are told them.
//!
//! A step makes one register of others. On a device what a register holds has a place for as long as somebody reads it, and
//! another one where it is read as a factor; what the next step goes on with has none. Inputs, and in the end outputs, cost a
//! product each.

use super::{Residues, marked, most_at_once};
use crate::common::device::{Abilities, Buffer, Device, Roots};
use crate::device::job::resident;
use crate::device::part::Part;
use crate::values::made::Made;
use crate::values::node::Operands;
use crate::{BackEnd, Error};
use bigint_core::kernel::{EntryPoint, MatrixArgument};
use bigint_core::rns::{CHAIN, Instruction, LIMBS, RADIX, RESIDUES, RnsArguments, RnsPlan, Window};
use bigint_core::specialization::Specialization;
use bigint_core::{Layout, Limb, Shape};
use bigint_cpu::chain::{self, Chain as OnHost};
use bigint_cpu::zeroed;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Numbers that the CPU computes at a time.
const ROWS: usize = 256;

/// Registers of the CPU's behind those of a chain.
const MORE: u16 = 2;

/// A chain of residues modulo odd numbers, of so many limbs, one for all or one for each. The operands are the moduli, what
/// registers begin with, and keys where steps choose.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    pub count: usize,
    pub width: usize,
    /// Registers, of which the first have operands.
    pub registers: u16,
    pub inputs: u16,
    pub has_keys: bool,
    pub steps: Vec<Step>,
    /// Registers that are results.
    pub outputs: Vec<u16>,
}

/// `r = x y + t`, `r = x y - t` or `r = x y`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub r: u16,
    pub x: Source,
    /// None for the square of `x`.
    pub y: Option<u16>,
    pub t: Option<Term>,
}

/// A register, or one of two.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    Register(u16),
    /// The second where the key has this bit.
    Chosen(u32, [u16; 2]),
}

/// What is added or subtracted: what a step without a term made, or an input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    pub register: u16,
    pub is_subtracted: bool,
}

impl Chain {
    /// The shape of each result.
    pub fn shape(&self) -> Shape {
        Shape::new(self.count, self.width, Layout::Contiguous)
    }

    /// Products of each number on a device.
    pub fn products(&self) -> usize {
        self.steps.len() + usize::from(self.inputs) + self.outputs.len()
    }

    /// The kernels of a device.
    pub fn modules(&self, device: Abilities) -> Vec<(EntryPoint, Specialization)> {
        let residues = Residues::of_chain(self.width, device).into_iter();
        let kernels = residues.flat_map(|residues| {
            let entries = [RADIX, RESIDUES, residues.plan.form().entry, LIMBS];
            entries.map(|entry| (entry, residues.specialization(entry)))
        });
        kernels.collect()
    }

    /// Computes numbers `numbers` on a device; none where a modulus shares factors with both bases, or is too wide for the
    /// device.
    pub fn on_device(
        &self,
        device: &Arc<dyn Device>,
        operands: Operands<'_>,
        numbers: Range<usize>,
    ) -> Result<Option<Made>, Error> {
        let Some(residues) = Residues::of_chain(self.width, device.kind().abilities) else {
            return Ok(None);
        };
        let plans = [Some(residues.plan), residues.plan.spare()];
        for plan in plans.into_iter().flatten() {
            let residues = Residues { plan, ..residues };
            let made = self.by_plan(device, operands, &numbers, residues, most_at_once)?;
            if made.is_some() {
                return Ok(made);
            }
        }
        Ok(None)
    }

    /// The same by one plan, so many numbers at once; none where it refuses a modulus.
    fn by_plan(
        &self,
        device: &Arc<dyn Device>,
        operands: Operands<'_>,
        numbers: &Range<usize>,
        residues: Residues,
        most_at_once: impl Fn(RnsPlan, Window, Option<usize>) -> usize,
    ) -> Result<Option<Made>, Error> {
        let (started, count, plan) = (Instant::now(), numbers.len(), residues.plan);
        let program = Program::of(self);
        let window = Window {
            bits: program.places,
            bases: CHAIN,
            scans: 0,
        };
        let at_once = count.min(most_at_once(plan, window, residues.wave));
        let moduli = if operands[0].shape.count == 1 {
            1
        } else {
            at_once
        };
        let marks = if moduli == 1 { 1 } else { count };
        let given = resident(device, operands, numbers)?;
        let shape = Shape {
            count,
            ..self.shape()
        };
        let results = self.outputs.iter().map(|_| device.allocate(shape.limbs()));
        let results = results.collect::<Result<Vec<_>, _>>()?;
        let limbs = plan.scratch(at_once, moduli, window);
        // What numbers are made of stands at places.
        let scratch = [1, 2, 3, 4].map(|i: usize| device.allocate(limbs[i]));
        let scratch = scratch.into_iter().collect::<Result<Vec<_>, _>>()?;
        let words: Vec<Limb> = program.instructions.iter().flat_map(|i| i.0).collect();
        let [words, refused] = [words, zeroed(marks)?].map(|x| device.upload(&x));
        let (words, refused) = (words?, refused?);
        let buffers: Vec<&Buffer> = given.iter().map(|buffer| &**buffer).collect();
        let buffers = buffers.into_iter().chain(&results).chain(&scratch);
        let buffers: Vec<&Buffer> = buffers.chain([&words, &refused]).collect();
        let operand = |index: usize| Part::of_operand(&operands[index], &given[index], count);
        let all = RnsArguments {
            r: MatrixArgument::default(),
            a: MatrixArgument::default(),
            e: match self.has_keys {
                true => operand(operands.len() - 1).limbs,
                false => MatrixArgument::default(),
            },
            m: operand(0).limbs,
            table: device.roots(Roots::Rns(plan))?,
            scratch: [0, 0, 1, 2, 3].map(|i: usize| scratch[i].address()),
            refused: refused.address(),
            base: words.address(),
            plan,
            count: count as u32,
            moduli: moduli as u32,
            windows: program.instructions.len() as u64,
            window,
        };
        let mut first = 0;
        while first < count {
            let here = at_once.min(count - first);
            let [of_place, ..] = plan.scratch(here, moduli.min(here), window);
            let run = Run {
                device,
                residues,
                buffers: &buffers,
                all: &all,
                numbers: first..first + here,
                place_bytes: (size_of::<Limb>() * of_place) as u64,
            };
            run.radix()?;
            for &(index, place) in &program.inputs {
                run.input(operand(index), place)?;
            }
            run.powers()?;
            for (result, place) in results.iter().zip(&program.outputs) {
                run.output(Part::of_shape(result, shape), *place)?;
            }
            first += at_once;
        }
        let is_refused = !marked(device, &refused)?.is_empty();
        tracing::debug!(
            back_end = %BackEnd::Cuda(device.ordinal().into()),
            kernel = plan.form().entry.name,
            products = self.products(),
            count,
            width = self.width,
            elapsed = ?started.elapsed(),
            is_refused,
            "launched"
        );
        let buffers = results.into_iter().map(|result| (shape, result));
        let made = Made {
            buffers: buffers.collect(),
            first: None,
        };
        Ok((!is_refused).then_some(made))
    }

    /// The results of so many numbers by the CPU.
    pub fn limbs(&self, operands: Operands<'_>, count: usize) -> Result<Vec<Vec<Limb>>, Error> {
        let rows_of = |index: usize| -> Result<Vec<Vec<Limb>>, Error> {
            let (limbs, shape) = (operands[index].limbs()?, operands[index].shape);
            let number = |i: usize| {
                let number = (0..shape.width).map(|j| limbs[shape.index(i, j)]);
                let mut number: Vec<Limb> = number.collect();
                let end = number.iter().rposition(|&limb| limb != 0);
                number.truncate(end.map_or(0, |top| top + 1));
                number
            };
            Ok((0..shape.count).map(number).collect())
        };
        let all = (0..operands.len()).map(rows_of);
        let all = all.collect::<Result<Vec<_>, _>>()?;
        let steps: Vec<chain::Step> = self
            .steps
            .iter()
            .flat_map(|step| self.on_host(*step))
            .collect();
        let mut results = vec![Vec::new(); self.outputs.len()];
        for first in (0..count).step_by(ROWS) {
            let rows = first..count.min(first + ROWS);
            let of = |index: usize| match all[index].len() {
                1 => all[index].clone(),
                _ => all[index][rows.clone()].to_vec(),
            };
            // Modulo 1 all is zero, and the CPU's chains do not know it.
            let modulus = |i: usize| &all[0][i.min(all[0].len() - 1)];
            let ones: Vec<bool> = rows.clone().map(|i| *modulus(i) == [1]).collect();
            let moduli = rows.clone().zip(&ones).map(|(i, is_one)| match is_one {
                true => vec![3],
                false => modulus(i).clone(),
            });
            let moduli: Vec<_> = moduli.collect();
            let mut on_host = OnHost::with_moduli(&moduli, self.registers + MORE)?;
            for register in 0..self.inputs {
                on_host.set(register, &of(1 + usize::from(register)))?;
            }
            if self.has_keys {
                on_host.set_keys(&of(operands.len() - 1))?;
            }
            on_host.run(&steps);
            for (result, register) in results.iter_mut().zip(&self.outputs) {
                for (mut number, is_one) in on_host.get(*register).into_iter().zip(&ones) {
                    number.resize(self.width, 0);
                    if *is_one {
                        number.fill(0);
                    }
                    result.extend(number);
                }
            }
        }
        Ok(results)
    }

    /// A step as the CPU takes it, by the registers behind the chain's.
    fn on_host(&self, step: Step) -> Vec<chain::Step> {
        let [chosen, r] = [0, 1].map(|i| self.registers + i);
        let (mut steps, a) = match step.x {
            Source::Register(x) => (Vec::new(), x),
            Source::Chosen(bit, [a, b]) => {
                let choose = chain::Step::Choose {
                    r: chosen,
                    a,
                    b,
                    bit,
                };
                (vec![choose], chosen)
            }
        };
        let b = step.y.unwrap_or(a);
        steps.push(chain::Step::Mul { r, a, b });
        let a = r;
        steps.push(match step.t {
            None => chain::Step::Copy { r: step.r, a },
            Some(Term {
                register: b,
                is_subtracted: true,
            }) => chain::Step::Sub { r: step.r, a, b },
            Some(Term { register: b, .. }) => chain::Step::Add { r: step.r, a, b },
        });
        steps
    }
}

/// The launches of some numbers of a chain.
struct Run<'a> {
    device: &'a Arc<dyn Device>,
    residues: Residues,
    buffers: &'a [&'a Buffer],
    /// The arguments of all numbers.
    all: &'a RnsArguments,
    numbers: Range<usize>,
    /// Bytes of a place, of the tiles of these numbers.
    place_bytes: u64,
}

impl Run<'_> {
    /// The arguments, with numbers at a place.
    fn arguments(&self, place: u32) -> RnsArguments {
        let (all, first) = (*self.all, self.numbers.start);
        let marks = if all.moduli == 1 { 0 } else { first };
        let [.., tables, _] = all.scratch;
        let mut scratch = all.scratch;
        scratch[0] = tables + self.place_bytes * u64::from(place);
        RnsArguments {
            e: from(all.e, first),
            m: from(all.m, first),
            scratch,
            refused: all.refused + (size_of::<Limb>() * marks) as u64,
            count: self.numbers.len() as u32,
            moduli: all.moduli.min(self.numbers.len() as u32),
            ..all
        }
    }

    fn launch(&self, which: usize, arguments: &RnsArguments) -> Result<(), Error> {
        let (entry, launch) = arguments.launches()[which];
        let known = self.residues.specialization(entry);
        self.device
            .launch(entry, known, launch, arguments, self.buffers)?;
        Ok(())
    }

    fn radix(&self) -> Result<(), Error> {
        self.launch(0, &self.arguments(0))
    }

    fn input(&self, numbers: Part<'_>, place: u32) -> Result<(), Error> {
        let a = from(numbers.limbs, self.numbers.start);
        self.launch(
            1,
            &RnsArguments {
                a,
                ..self.arguments(place)
            },
        )
    }

    fn powers(&self) -> Result<(), Error> {
        self.launch(2, &self.arguments(0))
    }

    fn output(&self, result: Part<'_>, place: u32) -> Result<(), Error> {
        let r = from(result.limbs, self.numbers.start);
        self.launch(
            3,
            &RnsArguments {
                r,
                ..self.arguments(place)
            },
        )
    }
}

/// The numbers from number `first` on.
fn from(numbers: MatrixArgument, first: usize) -> MatrixArgument {
    let before = (size_of::<Limb>() * first) as u64 * numbers.number_stride;
    MatrixArgument {
        limbs: numbers.limbs + before,
        ..numbers
    }
}

/// A chain as a kernel is told it.
#[derive(Debug, Default)]
struct Program {
    instructions: Vec<Instruction>,
    places: u32,
    /// The operands, and the places to which they are converted.
    inputs: Vec<(usize, u32)>,
    outputs: Vec<u32>,
}

/// A product, whose result is the value of its index.
#[derive(Clone, Copy)]
struct Product {
    x: OfProduct,
    y: Factor,
    t: Option<(usize, bool)>,
}

#[derive(Clone, Copy)]
enum OfProduct {
    /// A number before it is in Montgomery's form, at its place.
    Number(u32),
    Value(usize),
    Chosen(u32, [usize; 2]),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Factor {
    Itself,
    Radix,
    /// 1, which leaves Montgomery's form.
    One,
    Value(usize),
}

/// Until which product a value is read as it is, and as a factor: none where it is not.
#[derive(Clone, Copy, Default)]
struct Read {
    plain: Option<usize>,
    form: Option<usize>,
}

impl Program {
    fn of(chain: &Chain) -> Self {
        let mut program = Program::default();
        // Place 0 has the form of 1.
        let mut places = 1..;
        let mut products = Vec::new();
        let mut values = vec![0; usize::from(chain.registers)];
        for (register, value) in values.iter_mut().take(chain.inputs.into()).enumerate() {
            let place = places.next().unwrap_or_default();
            program.inputs.push((1 + register, place));
            *value = products.len();
            products.push(Product {
                x: OfProduct::Number(place),
                y: Factor::Radix,
                t: None,
            });
        }
        for step in &chain.steps {
            let of = |register: u16| values[usize::from(register)];
            let product = Product {
                x: match step.x {
                    Source::Register(x) => OfProduct::Value(of(x)),
                    Source::Chosen(bit, registers) => OfProduct::Chosen(bit, registers.map(of)),
                },
                y: step.y.map_or(Factor::Itself, |y| Factor::Value(of(y))),
                t: step.t.map(|t| (of(t.register), t.is_subtracted)),
            };
            values[usize::from(step.r)] = products.len();
            products.push(product);
        }
        let first_output = products.len();
        for output in &chain.outputs {
            products.push(Product {
                x: OfProduct::Value(values[usize::from(*output)]),
                y: Factor::One,
                t: None,
            });
        }
        goes_on(&mut products);
        let reads = reads(&products);
        let (mut free, mut end) = (Vec::new(), 1 + u32::from(chain.inputs));
        let mut kept: Vec<[Option<u32>; 2]> = Vec::with_capacity(products.len());
        for (i, product) in products.iter().enumerate() {
            program.instructions.push(instruction(i, *product, &kept));
            if let OfProduct::Number(place) = product.x {
                free.push(place);
            }
            let ended = |last: Option<usize>, place: Option<u32>| place.filter(|_| last == Some(i));
            for (read, places) in reads.iter().zip(&kept) {
                free.extend(ended(read.plain, places[0]));
                free.extend(ended(read.form, places[1]));
            }
            let mut place = || {
                free.pop().unwrap_or_else(|| {
                    end += 1;
                    end - 1
                })
            };
            let is_output = i >= first_output;
            let places = [
                (is_output || reads[i].plain.is_some()).then(&mut place),
                reads[i].form.map(|_| place()),
            ];
            let last = program.instructions.last_mut();
            let last = last.expect("it was put there");
            if let Some(place) = places[0] {
                *last = last.kept(place);
            }
            if let Some(place) = places[1] {
                *last = last.form(place);
            }
            if is_output {
                program.outputs.extend(places[0]);
            }
            kept.push(places);
        }
        program.places = end;
        program
    }
}

/// Has products go on with the last one where either factor is that.
fn goes_on(products: &mut [Product]) {
    for (i, product) in products.iter_mut().enumerate() {
        let last = i.wrapping_sub(1);
        if let (OfProduct::Value(x), Factor::Value(y)) = (product.x, product.y)
            && y == last
            && x != last
        {
            (product.x, product.y) = (OfProduct::Value(y), Factor::Value(x));
        }
        if let (OfProduct::Value(x), Factor::Value(y)) = (product.x, product.y)
            && x == y
        {
            product.y = Factor::Itself;
        }
    }
}

/// Until when values are read. What a product goes on with is not.
fn reads(products: &[Product]) -> Vec<Read> {
    let mut reads = vec![Read::default(); products.len()];
    for (i, product) in products.iter().enumerate() {
        match product.x {
            OfProduct::Value(x) if x + 1 == i => {}
            OfProduct::Value(x) => reads[x].plain = Some(i),
            OfProduct::Chosen(_, both) => both.into_iter().for_each(|x| reads[x].plain = Some(i)),
            OfProduct::Number(_) => {}
        }
        if let Factor::Value(y) = product.y {
            reads[y].form = Some(i);
        }
        if let Some((t, _)) = product.t {
            reads[t].plain = Some(i);
        }
    }
    reads
}

/// A product of what is kept at places.
fn instruction(i: usize, product: Product, kept: &[[Option<u32>; 2]]) -> Instruction {
    let at = |value: usize, form: usize| kept[value][form].expect("who reads it has it kept");
    let square = Instruction::SQUARE;
    let of = match product.x {
        OfProduct::Number(place) => square.of(place),
        OfProduct::Value(x) if x + 1 == i => square,
        OfProduct::Value(x) => square.of(at(x, 0)),
        OfProduct::Chosen(bit, both) => square.of_chosen(bit, both.map(|x| at(x, 0))),
    };
    let by = match product.y {
        Factor::Itself => of,
        Factor::Radix => of.by_radix(),
        Factor::One => of.by(0),
        Factor::Value(y) => of.by(at(y, 1)),
    };
    match product.t {
        Some((t, true)) => by.minus(at(t, 0)),
        Some((t, false)) => by.plus(at(t, 0)),
        None => by,
    }
}

impl Residues {
    /// Those of a chain modulo so many limbs; none where a device has no tensor cores, or too little shared memory.
    pub fn of_chain(width: usize, device: Abilities) -> Option<Residues> {
        let plan = RnsPlan::of(width)?.by_warpgroups(device.has_warpgroups);
        let fits = device.has_tensor_cores && plan.shared_bytes() <= device.shared_bytes;
        if !fits {
            return None;
        }
        let window = Window {
            bits: 0,
            bases: CHAIN,
            scans: 0,
        };
        let of_block = plan.numbers_of_block(window) as usize;
        Some(Residues {
            plan,
            bases: CHAIN,
            scans: false,
            wave: device.multiprocessors.map(|n| of_block * n as usize),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BigUint, Engine, Layout};
    use bigint_testing::simulator::on_simulator;

    /// A chain of 900 numbers, of which a launch takes three blocks, with a modulus each or one for all: the last launch has
    /// fewer.
    #[test]
    fn numbers_of_several_launches_are_those_of_num_bigint() {
        let name = "device::rns::chain::tests::numbers_of_several_launches_are_those_of_num_bigint";
        if !on_simulator(name, &[("CUDA_SIM_CHECKS", "none")]) {
            return;
        }
        let engine = Engine::cuda(0).unwrap();
        let device = engine.inner.device().unwrap();
        let count = 900;
        let batch = |numbers: &[BigUint]| {
            let batch = engine.batch_from_biguints_in(numbers, 4, Layout::Contiguous);
            batch.unwrap()
        };
        let ones = (BigUint::from(1u8) << 128usize) - 1u8;
        let [a, b] = [3u32, 5].map(|by| (0..count).map(|i| &ones / (by + i)).collect::<Vec<_>>());
        let step = |r, y, t: Option<u16>| Step {
            r,
            x: Source::Register(0),
            y,
            t: t.map(|register| Term {
                register,
                is_subtracted: false,
            }),
        };
        let chain = Chain {
            count: count as usize,
            width: 4,
            registers: 4,
            inputs: 2,
            has_keys: false,
            steps: vec![step(2, Some(1), None), step(3, None, Some(2))],
            outputs: vec![2, 3],
        };
        for moduli in [1, count] {
            let m: Vec<BigUint> = (0..moduli).map(|i| &ones - 2u32 * i).collect();
            let batches = [batch(&m), batch(&a), batch(&b)];
            let operands = batches.each_ref().map(|x| Arc::clone(x.node()));
            let residues = Residues::of_chain(4, device.kind().abilities).unwrap();
            let at_once = |plan: RnsPlan, window, _| 3 * plan.numbers_of_block(window) as usize;
            let all = 0..count as usize;
            let made = chain.by_plan(device, &operands, &all, residues, at_once);
            let found = made.unwrap().unwrap().buffers.into_iter();
            let found = found.map(|(shape, made)| {
                let mut limbs = vec![0; shape.limbs()];
                device.download(&made, &mut limbs).unwrap();
                let numbers = limbs.chunks(shape.width).map(BigUint::from_slice);
                numbers.collect::<Vec<_>>()
            });
            let found: Vec<_> = found.collect();
            for i in 0..count as usize {
                let m = &m[i % m.len()];
                assert_eq!(found[0][i], &a[i] * &b[i] % m, "{i}");
                assert_eq!(found[1][i], (&a[i] * &a[i] + &a[i] * &b[i]) % m, "{i}");
            }
        }
    }
}
