//! Work that does not fit the device's memory, done in pieces that do.

use crate::batch::Node;
use crate::compute::Inner;
use crate::cuda::Device;
use crate::job::{Computed, Job, Operands, Wanted};
use crate::{Error, limbs};
use bigint_core::Shape;
use std::sync::Arc;

/// Computes a job piece by piece; the results are on the host.
///
/// A piece that does not fit is halved; a single number that does not fit, and all
/// after any other device error, is left to the CPU.
pub(crate) fn compute(
    engine: &Arc<Inner>,
    device: &Arc<Device>,
    job: Job,
    operands: Operands<'_>,
) -> Result<Computed, Error> {
    // The operands' own device memory is the first to go.
    for operand in operands {
        operand.limbs()?;
        operand.take_buffer();
    }
    let count = job.count();
    let mut made = engine.memory(job.shapes())?;
    let mut flags = Vec::new();
    let mut first = None;
    let mut size = count.div_ceil(2);
    let mut on_device = true;
    let mut start = 0;
    while start < count {
        let range = start..count.min(start + size);
        let piece = job.with_count(range.len());
        let operand = |node: &Arc<Node>| -> Result<Arc<Node>, Error> {
            let (limbs, of) = (node.limbs()?, node.shape);
            let range = if of.count == 1 { 0..1 } else { range.clone() };
            let count = range.len();
            let limbs = limbs::slice(limbs, of, range)?;
            let shape = Shape { count, ..of };
            Ok(Arc::new(Node::on_host(engine, shape, limbs)))
        };
        let operands = operands
            .iter()
            .map(operand)
            .collect::<Result<Vec<_>, _>>()?;
        let computed = if on_device {
            engine.compute_on_device(device, piece, &operands)
        } else {
            engine.compute_on_host(piece, &operands)
        };
        let brought = computed.and_then(|computed| {
            let limbs = |node: &Node| match node.buffer() {
                Some(buffer) => {
                    let mut limbs = engine.pool.take(buffer.limbs())?;
                    device.download(&buffer, &mut limbs)?;
                    Ok(limbs)
                }
                None => limbs::copy(node.limbs()?),
            };
            let results = computed.results.iter().map(limbs);
            let results = results.collect::<Result<Vec<_>, Error>>()?;
            let flags = computed.flags.as_ref().map(limbs).transpose()?;
            Ok((results, flags, computed.first))
        });
        match brought {
            Ok((results, piece_flags, piece_first)) => {
                let shapes = job.shapes().iter().zip(piece.shapes());
                for ((whole, part), (shape, piece)) in made.iter_mut().zip(&results).zip(shapes) {
                    limbs::splice(whole, *shape, start, part, *piece);
                }
                flags.extend(piece_flags.into_iter().flatten());
                first = first.or(piece_first.map(|index| start + index));
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
    let nodes = job.shapes().iter().zip(made);
    let nodes = nodes.map(|(shape, limbs)| Node::on_host(engine, *shape, limbs));
    Ok(Computed {
        results: nodes.collect(),
        flags: (job.wanted == Wanted::Flags)
            .then(|| Node::on_host(engine, job.flags_shape(), flags)),
        first,
    })
}
