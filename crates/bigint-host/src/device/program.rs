//! A program on one device, as one launch.

use crate::common::device::{Buffer, Device};
use crate::common::program::Program;
use crate::values::made::Made;
use crate::values::node::Operands;
use crate::{BackEnd, Error};
use bigint_core::fused::{FusedInput, FusedKernel};
use bigint_core::specialization::Specialization;
use bigint_core::{MatrixArgument, Shape};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

impl Program {
    /// Computes a range of the rows on a device.
    pub fn run_on_device(
        &self,
        device: &Arc<dyn Device>,
        kernel: FusedKernel,
        inputs: Operands<'_>,
        rows: Range<usize>,
    ) -> Result<Made, Error> {
        let shape = Shape {
            count: rows.len(),
            ..self.shape()
        };
        let (launch, mut arguments) = kernel.launch(shape.count, shape.width, self.widest());
        let started = Instant::now();
        let given = inputs
            .iter()
            .map(|input| input.resident(device, rows.clone()));
        let given = given.collect::<Result<Vec<_>, _>>()?;
        let made = device.allocate(shape.limbs())?;
        for (slot, (node, buffer)) in arguments.inputs.iter_mut().zip(inputs.iter().zip(&given)) {
            let of = node.shape;
            *slot = FusedInput {
                limbs: buffer.address(),
                width: of.width as u32,
                number_stride: if of.count == 1 { 0 } else { of.width as u32 },
            };
        }
        let steps = self.steps.iter();
        let (steps, count) = kernel.steps(steps.map(|step| (step.kind, step.input, step.width)));
        (arguments.steps, arguments.step_count) = (steps, count as u64);
        arguments.r = MatrixArgument::new(made.address(), shape.width, shape.strides());
        let buffers: Vec<&Buffer> = given
            .iter()
            .map(|buffer| &**buffer)
            .chain([&made])
            .collect();
        device.launch(
            kernel.entry_point(),
            Specialization::None,
            launch,
            &arguments,
            &buffers,
        )?;
        tracing::debug!(
            back_end = %BackEnd::Cuda(device.ordinal().into()),
            kernel = kernel.entry_point().name,
            count = shape.count,
            width = shape.width,
            steps = self.steps.len(),
            elapsed = ?started.elapsed(),
            "launched"
        );
        Ok(Made::of(shape, made))
    }
}
