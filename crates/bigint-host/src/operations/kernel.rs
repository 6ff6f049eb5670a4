//! Kernels of one's own that run everywhere: beside each stands a closure that computes the same of one number on the CPU.
//!
//! A launch goes to the engine's devices. Where it has none, or goes on without those that fail, the closure computes, on all
//! cores; and results on devices remember how they were made, as those of any operation.

use crate::common::limbs;
use crate::device::module::{Module, count};
use crate::engine::inner::Inner;
use crate::kernels::alone::kernel_alone;
use crate::values::node::{Node, Recipe};
use crate::{Batch, Engine, Error, Layout, Limb, Shape};
use bigint_core::operation::{MOST_OPERANDS, MOST_RESULTS};
use bigint_cpu::{map, threads, zeroed};
use std::ops::Range;
use std::sync::Arc;

/// Parts of the numbers for each thread: some take longer than others.
const PARTS_OF_THREAD: usize = 8;

/// One number of a launch as a closure has it: limbs, the lowest first, under the names that they have in kernels.
pub struct Work<'a> {
    /// The first operand.
    pub a: &'a [Limb],
    /// The second one; no limbs where there is none.
    pub b: &'a [Limb],
    /// The third one.
    pub c: &'a [Limb],
    /// The first result: as many zeros as it is wide, to be overwritten.
    pub r: &'a mut [Limb],
    /// The second one.
    pub s: &'a mut [Limb],
    /// What is the same for all numbers.
    pub scalars: &'a [Limb],
}

type OnCpu = dyn Fn(Work<'_>) + Send + Sync;

/// A kernel that a user wrote, and what computes the same on the CPU ([`Engine::kernel`]).
#[derive(Clone)]
pub struct Kernel {
    engine: Arc<Inner>,
    name: String,
    /// `None` where there is no device.
    module: Option<Module>,
    on_cpu: Arc<OnCpu>,
}

impl Engine {
    /// One kernel of a module of PTX ([`Engine::module`]), and a closure that computes one number of its results on the CPU:
    /// for engines without devices, and where devices fail. So a program is the same on every machine.
    ///
    /// ```
    /// use bigint_host::{BigUint, Engine};
    ///
    /// // r = a b - c
    /// let ptx = include_str!("../../../../examples/fused-kernel/multiply_subtract.ptx");
    /// let engine = Engine::auto();
    /// let kernel = engine.kernel(ptx, "multiply_subtract", |work| {
    ///     let [a, b, c] = [work.a, work.b, work.c].map(BigUint::from_slice);
    ///     let limbs = (a * b - c).to_u32_digits();
    ///     work.r[..limbs.len()].copy_from_slice(&limbs);
    /// })?;
    /// let [a, b, c] = [[5u32, 7], [11, 13], [1, 2]].map(|numbers| engine.batch(numbers));
    /// let made = kernel.launch(&[&a?, &b?, &c?], &[2], &[])?;
    /// assert_eq!(made[0].to_biguints()?, [54u32, 89].map(BigUint::from));
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Device`], with the compiler's words, where a driver refuses the PTX, unless the engine goes on without its
    /// devices, with a [warning](Engine::warnings).
    ///
    /// # Panics
    /// If there is no such kernel in the PTX.
    pub fn kernel(
        &self,
        ptx: &str,
        name: &str,
        on_cpu: impl Fn(Work<'_>) + Send + Sync + 'static,
    ) -> Result<Kernel, Error> {
        let alone = kernel_alone(ptx, name).expect("the PTX has the kernel");
        let module = match self.module(&alone) {
            Ok(module) => module,
            Err(error) => {
                self.inner.make_good(error, ON_CPU)?;
                None
            }
        };
        Ok(Kernel {
            engine: Arc::clone(&self.inner),
            name: name.to_owned(),
            module,
            on_cpu: Arc::new(on_cpu),
        })
    }
}

/// What is done where a device fails.
const ON_CPU: &str = "computing on the CPU";

impl Kernel {
    /// The kernel, for launches by a module that is so set: its lanes, shared memory and layout.
    ///
    /// ```
    /// # use bigint_host::advanced::Kernel;
    /// # fn by_lanes(kernel: Kernel) -> Kernel {
    /// kernel.with(|module| module.with_lanes(8).with_shared_bytes(1 << 14))
    /// # }
    /// ```
    pub fn with(self, set: impl FnOnce(Module) -> Module) -> Self {
        let module = self.module.map(set);
        Kernel { module, ..self }
    }

    /// Computes on all numbers, as [`Module::launch`] does: operands of one number stand for as many as the others have, and
    /// there is a result of each of these widths. On the CPU all numbers are computed when this returns.
    ///
    /// # Errors
    /// As for [`Module::launch`]; those of devices only where the engine does not go on without them.
    ///
    /// # Panics
    /// As [`Module::launch`]; and if the closure does.
    pub fn launch(
        &self,
        operands: &[&Batch],
        widths: &[usize],
        scalars: &[Limb],
    ) -> Result<Vec<Batch>, Error> {
        let count = count(operands, widths)?;
        let layout = self.module.as_ref().map(Module::layout);
        let shape = |&width| Shape::new(count, width, layout.unwrap_or(Layout::Contiguous));
        let launch = Arc::new(Launch {
            on_cpu: Arc::clone(&self.on_cpu),
            operands: operands.iter().map(|of| Arc::clone(of.node())).collect(),
            shapes: widths.iter().map(shape).collect(),
            scalars: scalars.to_vec(),
        });
        if let Some(module) = &self.module {
            let recipe = |index: usize| {
                let again = Arc::clone(&launch);
                let made = move |engine: &Arc<Inner>, numbers| {
                    Ok(again.on_host(engine, numbers)?.swap_remove(index))
                };
                let remembers = self.engine.remembers();
                remembers.then(|| Recipe::new(&launch.operands, made))
            };
            match module.launched(&self.name, operands, widths, scalars, recipe) {
                Ok(made) => {
                    made.iter().try_for_each(|batch| batch.node().save())?;
                    return Ok(made);
                }
                Err(error) => self.engine.make_good(error, ON_CPU)?,
            }
        }
        let made = launch.on_host(&self.engine, 0..count)?;
        Ok(made.into_iter().map(Batch::new).collect())
    }
}

/// What a launch computes.
struct Launch {
    on_cpu: Arc<OnCpu>,
    operands: Vec<Arc<Node>>,
    /// Those of all results.
    shapes: Vec<Shape>,
    scalars: Vec<Limb>,
}

impl Launch {
    /// Some of the numbers of all results.
    fn on_host(&self, engine: &Arc<Inner>, numbers: Range<usize>) -> Result<Vec<Node>, Error> {
        let count = numbers.len();
        let rows = self.operands.iter().map(|operand| operand.rows());
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        let row = |operand: usize, number: usize| -> &[Limb] {
            let Some(node) = self.operands.get(operand) else {
                return &[];
            };
            let number = if node.shape.count == 1 { 0 } else { number };
            &rows[operand][number * node.shape.width..][..node.shape.width]
        };
        let widths = [0, 1].map(|result: usize| self.shapes.get(result).map_or(0, |of| of.width));
        let mut made = [zeroed(count * widths[0])?, zeroed(count * widths[1])?];
        let size = count.div_ceil(PARTS_OF_THREAD * threads()).max(1);
        let [r, s] = &mut made;
        let results = parts(r, size * widths[0]).zip(parts(s, size * widths[1]));
        let of_parts = numbers.clone().step_by(size).zip(results);
        map(of_parts, threads(), |(first, (r, s))| {
            let results = parts(r, widths[0]).zip(parts(s, widths[1]));
            for (number, (r, s)) in (first..numbers.end.min(first + size)).zip(results) {
                let [a, b, c] = [0, 1, 2].map(|operand| row(operand, number));
                let scalars = &self.scalars;
                (self.on_cpu)(Work {
                    a,
                    b,
                    c,
                    r,
                    s,
                    scalars,
                });
            }
        });
        let nodes = self.shapes.iter().zip(made).map(|(of, limbs)| {
            let rows = Shape::new(count, of.width, Layout::Contiguous);
            let limbs = limbs::to_layout(&engine.pool, limbs, rows, of.layout)?;
            let shape = Shape { count, ..*of };
            Ok(Node::on_host(engine, shape, limbs))
        });
        nodes.collect()
    }
}

/// Parts of so many limbs one after another, without end: empty ones where there are no more.
fn parts(mut rest: &mut [Limb], size: usize) -> impl Iterator<Item = &mut [Limb]> {
    std::iter::repeat_with(move || {
        let all = std::mem::take(&mut rest);
        let (part, others) = all.split_at_mut(size.min(all.len()));
        rest = others;
        part
    })
}

/// The operands and results that [`Work`] has names for.
const _: () = assert!(MOST_OPERANDS == 3 && MOST_RESULTS == 2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_numbers_are_made_again_in_the_layout_that_a_device_left_them_in() {
        let engine = Engine::cpu();
        let a = engine.batch(0..200u32).unwrap();
        for layout in Layout::ALL {
            let launch = Launch {
                on_cpu: Arc::new(|work: Work<'_>| work.r.copy_from_slice(&[work.a[0], 7])),
                operands: vec![Arc::clone(a.node())],
                shapes: vec![Shape::new(200, 2, layout)],
                scalars: Vec::new(),
            };
            let made = launch
                .on_host(&engine.inner, 30..170)
                .unwrap()
                .swap_remove(0);
            assert_eq!(made.shape, Shape::new(140, 2, layout));
            let expected: Vec<Limb> = (30..170).flat_map(|i| [i, 7]).collect();
            assert_eq!(*made.rows().unwrap(), expected);
        }
    }
}
