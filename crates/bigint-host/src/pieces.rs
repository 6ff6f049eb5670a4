//! Work that does not fit the device's memory, done in pieces that do.

use crate::batch::Node;
use crate::compute::{Carries, Inner, Job};
use crate::cuda::Device;
use crate::{Error, limbs};
use bigint_core::Shape;
use std::sync::Arc;

/// Computes a job piece by piece; the result is on the host.
///
/// A piece that does not fit is halved; a single number that does not fit, and all
/// after any other device error, is left to the CPU.
pub(crate) fn compute(
    engine: &Arc<Inner>,
    device: &Arc<Device>,
    job: Job,
    a: &Node,
    b: &Node,
) -> Result<(Node, Carries), Error> {
    let shape = job.shape;
    // The operands' own device memory is the first to go.
    for operand in [a, b] {
        operand.limbs()?;
        operand.take_buffer();
    }
    let mut r = engine.pool.take(shape.limbs())?;
    limbs::clear_padding(&mut r, shape);
    let mut carries = Carries::default();
    let mut size = shape.count.div_ceil(2);
    let mut on_device = true;
    let mut start = 0;
    while start < shape.count {
        let range = start..shape.count.min(start + size);
        let piece = Job {
            shape: Shape {
                count: range.len(),
                ..shape
            },
            ..job
        };
        let operand = |node: &Node| -> Result<Arc<Node>, Error> {
            let (limbs, of) = (node.limbs()?, node.shape);
            let range = if of.count == 1 { 0..1 } else { range.clone() };
            let count = range.len();
            let limbs = limbs::slice(limbs, of, range)?;
            Ok(Arc::new(Node::on_host(
                engine,
                Shape { count, ..of },
                limbs,
            )))
        };
        let (a, b) = (operand(a)?, operand(b)?);
        let computed = if on_device {
            let on_device = engine.compute_on_device(device, piece, &a, &b);
            on_device.and_then(|(node, carries)| {
                let limbs = device.download(&node.buffer().expect("a result is on its device"))?;
                Ok((limbs, carries))
            })
        } else {
            let (mut node, carries) = engine.compute_on_host(piece, &a, &b)?;
            Ok((node.host.take().unwrap_or_default(), carries))
        };
        match computed {
            Ok((limbs, piece_carries)) => {
                limbs::splice(&mut r, shape, start, &limbs, piece.shape);
                carries.each.extend(piece_carries.each);
                let first = piece_carries.first.map(|index| start + index);
                carries.first = carries.first.or(first);
                start = range.end;
            }
            Err(Error::Device(error)) if error.is_out_of_memory() && range.len() > 1 => {
                size = range.len().div_ceil(2);
            }
            Err(error) => {
                engine.make_good(error, "computing the rest on the CPU")?;
                on_device = false;
            }
        }
    }
    Ok((Node::on_host(engine, shape, r), carries))
}
