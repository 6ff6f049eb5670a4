//! Copies and fills between places.

use crate::driver::Driver;
use crate::error::Result;
use crate::memory::Place;

/// Where bytes come from.
pub enum Source {
    /// A place that is read when the copy runs.
    Place(Place),
    /// Bytes that were read when the copy was asked for, as CUDA does with memory
    /// that is not page-locked.
    Staged(Vec<u8>),
}

/// Copies `bytes` bytes. An error is the simulator's, and kills the context.
pub fn copy(driver: &Driver, to: Place, from: &Source, bytes: usize) -> Result {
    let gpu = |ordinal: usize| &driver.devices[ordinal].gpu;
    let from = match from {
        Source::Place(place) => *place,
        Source::Staged(staged) => return store(driver, to, staged),
    };
    match (to, from) {
        (Place::Device { ordinal, address }, Place::Host(span)) => {
            span.with_bytes(|source| gpu(ordinal).write(address, source))
        }
        (Place::Host(span), Place::Device { ordinal, address }) => {
            gpu(ordinal).check_written(address, bytes as u64)?;
            span.with_bytes_mut(|target| gpu(ordinal).read(address, target))
        }
        (Place::Host(to), Place::Host(from)) => {
            to.copy_from(from);
            Ok(())
        }
        (
            Place::Device { ordinal, address },
            Place::Device {
                ordinal: other,
                address: source,
            },
        ) => {
            if ordinal == other {
                return gpu(ordinal).copy(address, source, bytes);
            }
            let mut staged = vec![0; bytes];
            gpu(other).read(source, &mut staged)?;
            gpu(ordinal).write(address, &staged)
        }
    }
}

fn store(driver: &Driver, to: Place, bytes: &[u8]) -> Result {
    match to {
        Place::Device { ordinal, address } => driver.devices[ordinal].gpu.write(address, bytes),
        Place::Host(span) => {
            span.with_bytes_mut(|target| target.copy_from_slice(bytes));
            Ok(())
        }
    }
}

/// Repeats `unit` over `bytes` bytes, which are a whole number of units.
pub fn fill(driver: &Driver, to: Place, unit: &[u8], bytes: usize) -> Result {
    match to {
        Place::Device { ordinal, address } => {
            driver.devices[ordinal].gpu.fill(address, unit, bytes)
        }
        Place::Host(span) => {
            span.with_bytes_mut(|target| {
                for chunk in target.chunks_exact_mut(unit.len()) {
                    chunk.copy_from_slice(unit);
                }
            });
            Ok(())
        }
    }
}
