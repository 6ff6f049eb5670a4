//! Two products that have factors in common, over the complex numbers, as [trees](crate::trees) have them: `a d + b c` and `c d`
//! up, and limbs of `f d` and `f c` down. The points of `c` and `d` serve all of these
//! ([`bigint_core::transform::grid`]), and are kept where products should keep them.

use crate::Error;
use crate::common::device::{Buffer, Device};
use crate::common::job::Job;
use crate::device::grid::{launch, put_together, tables, terms};
use crate::device::middle::Middle;
use crate::device::part::Part;
use crate::device::sum_of_products::limbs_of_sums;
use crate::device::transform::{grid_point_bytes, in_rounds, kept};
use crate::engine::inner::Inner;
use crate::host;
use crate::values::made::{Computed, Made};
use crate::values::node::{Node, Operands, Transformed};
use bigint_core::kernel::MatrixArgument;
use bigint_core::transform::grid::{GridArguments, GridPlan, SumArguments, Way};
use bigint_core::{Arguments, Limb, Operation, Shape};
use std::ops::Range;
use std::sync::Arc;

/// Two products, by a plan that holds them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub of: Products,
    pub plan: GridPlan,
}

/// What is computed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Products {
    /// `a d + b c` and `c d` of operands `a`, `b`, `c` and `d`: the jobs of either product of the sum, as wide as that, and of the
    /// other.
    Sum([Job; 2]),
    /// Limbs of `f d` and of `f c`, of operands `f`, `c` and `d`, which are [middles](Middle) by the plan.
    Middles([Middle; 2]),
}

/// The factors that all products have in common.
#[derive(Clone, Copy)]
enum Factors<'a> {
    Given([Part<'a>; 2]),
    /// By their points.
    Kept([&'a Buffer; 2]),
}

impl Pair {
    /// The shapes of the results.
    pub fn shapes(self) -> [Shape; 2] {
        match self.of {
            Products::Sum(jobs) => jobs.map(|job| job.shapes()[0]),
            Products::Middles(middles) => middles.map(Middle::shape),
        }
    }

    /// What is multiplied.
    pub fn operation(self) -> Operation {
        match self.of {
            Products::Sum([job, _]) => job.operation,
            Products::Middles([middle, _]) => middle.job.operation,
        }
    }

    /// The results for numbers `numbers` on a device.
    pub fn on_device(
        self,
        device: &Arc<dyn Device>,
        operands: Operands<'_>,
        numbers: Range<usize>,
    ) -> Result<Made, Error> {
        let count = numbers.len();
        let plan = self.plan;
        let (own, factors) = operands.split_at(operands.len() - 2);
        let keep = factors.iter().all(|node| node.kept().is_some());
        let transforms = factors.iter().filter(|_| keep);
        let transforms = transforms.map(|node| transform_of(device, node, &numbers, plan));
        let transforms = transforms.collect::<Result<Vec<_>, _>>()?;
        // Factors whose transforms are kept are not brought there.
        let forth: Vec<&Arc<Node>> = own.iter().chain(factors.iter().filter(|_| !keep)).collect();
        let given = forth.iter();
        let given = given.map(|node| node.resident(device, numbers.clone()));
        let given = given.collect::<Result<Vec<_>, _>>()?;
        let parts = forth.iter().zip(&given);
        let parts = parts.map(|(node, buffer)| Part::of_operand(node, buffer, count));
        let parts: Vec<Part<'_>> = parts.collect();
        let shapes = self.shapes().map(|shape| Shape { count, ..shape });
        let [first, second] = shapes.map(|shape| device.allocate(shape.limbs()));
        let results = [first?, second?];
        let [x, y] = [0, 1].map(|which: usize| Part::of_shape(&results[which], shapes[which]));
        let (own, factors) = parts.split_at(own.len());
        let factors = match factors {
            &[c, d] => Factors::Given([c, d]),
            _ => Factors::Kept([&*transforms[0], &*transforms[1]]),
        };
        self.run(device, count, own, factors, [x, y])?;
        Ok(Made {
            buffers: shapes.into_iter().zip(results).collect(),
            first: None,
        })
    }

    /// Computes both products of `count` numbers, round by round.
    fn run(
        self,
        device: &Arc<dyn Device>,
        count: usize,
        own: &[Part<'_>],
        factors: Factors<'_>,
        results: [Part<'_>; 2],
    ) -> Result<(), Error> {
        let plan = self.plan;
        let (from, wraps) = match self.of {
            Products::Sum(_) => ([0; 2], 0),
            Products::Middles(middles) => (middles.map(|middle| middle.from), 1),
        };
        // Two of both products, and those of factors that are not kept.
        let (slots, of_factors) = match factors {
            Factors::Given(given) => (4, given.map(|part| part.buffer)),
            Factors::Kept(kept) => (2, kept),
        };
        let bytes = grid_point_bytes(&plan, slots);
        let widths = [plan.chunk_limbs(), plan.carry_limbs()];
        let (at_once, [points, chunks, carries]) = in_rounds(bytes, count, |numbers| {
            Ok([
                device.allocate(bytes / size_of::<Limb>() * numbers)?,
                device.allocate(2 * widths[0] * numbers)?,
                device.allocate(2 * widths[1] * numbers)?,
            ])
        })?;
        let parts = own.iter().chain(&results).map(|part| part.buffer);
        let buffers = parts.chain(of_factors).chain([&points, &chunks, &carries]);
        let buffers: Vec<&Buffer> = buffers.collect();
        let tables = tables(device, plan)?;
        let bytes = grid_point_bytes(&plan, 1);
        let mut first = 0;
        while first < count {
            let here = at_once.min(count - first);
            let given = GridArguments {
                count: here as u32,
                operands: 1,
                ..tables
            };
            let slot = |slot: usize| points.address() + (slot * here * bytes) as u64;
            let forth = |part: Part<'_>, points: u64, wraps: u32| {
                let arguments = GridArguments {
                    a: part.numbers_from(first).limbs,
                    points,
                    wraps,
                    ..given
                };
                let of_launch = plan.column_launch(Way::Forth, arguments.count);
                launch(device, of_launch, &arguments, &buffers)
            };
            for (at, part) in own.iter().enumerate() {
                forth(*part, slot(at), wraps)?;
            }
            let kept = match factors {
                Factors::Kept(kept) => kept.map(|kept| kept.address() + (first * bytes) as u64),
                Factors::Given([c, d]) => {
                    forth(c, slot(2), 0)?;
                    forth(d, slot(3), 0)?;
                    [slot(2), slot(3)]
                }
            };
            let rows = GridArguments {
                points: slot(0),
                kept,
                operands: own.len() as u32,
                ..given
            };
            launch(device, plan.pair_launch(rows.count), &rows, &buffers)?;
            let terms = terms([&chunks, &carries], widths, 2 * here);
            let back = GridArguments {
                chunks: terms[0],
                carries: terms[1],
                points: slot(0),
                count: 2 * rows.count,
                wraps,
                ..given
            };
            let of_launch = plan.column_launch(Way::Back, back.count);
            launch(device, of_launch, &back, &buffers)?;
            for (which, result) in results.iter().enumerate() {
                let own = terms.map(|matrix| MatrixArgument {
                    limbs: matrix.limbs
                        + size_of::<Limb>() as u64 * matrix.width * (here * which) as u64,
                    ..matrix
                });
                let arguments = SumArguments {
                    sum: Arguments::of(&[result.numbers_from(first).limbs], &own),
                    cuts: [plan.cut(); 2],
                    marks: 0,
                    from: from[which] as u32,
                };
                put_together(device, here, arguments, &buffers)?;
            }
            first += here;
        }
        Ok(())
    }

    /// The results for so many numbers by the CPU.
    pub fn on_host(
        self,
        engine: &Arc<Inner>,
        operands: Operands<'_>,
        count: usize,
    ) -> Result<Computed, Error> {
        let of = |index: usize| Arc::clone(&operands[index]);
        let limbs = match self.of {
            Products::Sum([sum, product]) => {
                let sums = [of(0), of(2), of(1), of(3)];
                let product = product.with_count(count);
                let made = host::job::compute(engine, product, &[of(2), of(3)])?;
                let product = crate::common::limbs::copy(made.results[0].limbs()?)?;
                [limbs_of_sums(engine, sum, &sums, count)?, product]
            }
            Products::Middles([x, y]) => [
                x.limbs(engine, &[of(0), of(2)], count)?,
                y.limbs(engine, &[of(0), of(1)], count)?,
            ],
        };
        let nodes = self.shapes().into_iter().zip(limbs);
        let nodes =
            nodes.map(|(shape, limbs)| Node::on_host(engine, Shape { count, ..shape }, limbs));
        Ok(Computed {
            results: nodes.collect(),
            flags: None,
            first: None,
        })
    }
}

/// The points of these of a batch's numbers, as [`kept`] has them.
fn transform_of(
    device: &Arc<dyn Device>,
    node: &Node,
    numbers: &Range<usize>,
    plan: GridPlan,
) -> Result<Arc<Buffer>, Error> {
    kept(
        device,
        node,
        numbers,
        Transformed::ByColumns(plan),
        |numbers| {
            let given = node.resident(device, numbers.clone())?;
            let limbs = grid_point_bytes(&plan, 1) / size_of::<Limb>() * numbers.len();
            let buffer = device.allocate(limbs)?;
            let arguments = GridArguments {
                a: Part::of_operand(node, &given, numbers.len()).limbs,
                points: buffer.address(),
                count: numbers.len() as u32,
                operands: 1,
                ..tables(device, plan)?
            };
            let of_launch = plan.column_launch(Way::Forth, arguments.count);
            launch(device, of_launch, &arguments, &[&buffer, &given])?;
            Ok(buffer)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::transform::Transform;
    use crate::{Batch, BigUint, Engine, Layout};

    #[test]
    fn pairs_by_the_cpu_are_those_of_num_bigint() {
        let engine = Engine::cpu();
        let one = BigUint::from(1u8);
        let numbers = |k: u32, limbs: usize| {
            let ones = (&one << (32 * limbs)) - 1u8;
            [ones.clone(), ones / k, BigUint::from(k)]
        };
        let batch = |numbers: &[BigUint], width: usize| {
            let batch = engine.batch_from_biguints_in(numbers, width, Layout::Contiguous);
            batch.expect("memory")
        };
        let computed = |pair: Pair, operands: &[&Batch]| {
            let operands: Vec<_> = operands.iter().map(|x| Arc::clone(x.node())).collect();
            let computed = pair.on_host(&engine.inner, &operands, 3).expect("memory");
            let results = computed.results.into_iter().map(Batch::new);
            let results = results.map(|made| made.to_biguints().expect("memory"));
            results.collect::<Vec<_>>()
        };
        let given = [3, 5, 7, 11].map(|k| numbers(k, 4));
        let [a, b, c, d] = given.each_ref().map(|numbers| batch(numbers, 4));
        let plan = GridPlan::of_pairs(4, 9).expect("they are short");
        let job = |width, x, y| engine.job_of_product(width, x, y).expect("they fit");
        let of = Products::Sum([job(8, &a, &d), job(8, &c, &d)]);
        let found = computed(Pair { of, plan }, &[&a, &b, &c, &d]);
        for i in 0..3 {
            let [a, b, c, d] = given.each_ref().map(|numbers| &numbers[i]);
            assert_eq!(found[0][i], (a * d + b * c) % (&one << 256), "number {i}");
            assert_eq!(found[1][i], c * d, "number {i}");
        }
        let fractions = numbers(13, 8);
        let f = batch(&fractions, 8);
        let middle = |factor| Middle {
            job: job(8, &f, factor),
            from: 4,
            plan: Transform::Fft(plan),
        };
        let of = Products::Middles([middle(&d), middle(&c)]);
        let found = computed(Pair { of, plan }, &[&f, &c, &d]);
        let limbs = |product: BigUint| (product % (&one << 256)) >> 128;
        for (i, f) in fractions.iter().enumerate() {
            assert_eq!(found[0][i], limbs(f * &given[3][i]), "number {i}");
            assert_eq!(found[1][i], limbs(f * &given[2][i]), "number {i}");
        }
    }
}
