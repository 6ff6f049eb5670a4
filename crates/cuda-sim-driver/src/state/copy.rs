//! Copies and fills of memory, wherever it lies.

use crate::error::Result;
use crate::state::memory::Location;

/// The source of bytes.
pub enum Source {
    /// Memory that is read when the copy runs.
    Memory(Location),
    /// Bytes that were read at the call, as CUDA does with memory that is not page-locked.
    Staged(Vec<u8>),
}

/// Copies `bytes` bytes. An error is the simulator's, and kills the context.
pub fn copy(to: Location, from: &Source, bytes: usize) -> Result {
    let from = match from {
        Source::Memory(location) => *location,
        Source::Staged(staged) => return store(to, staged),
    };
    match (to, from) {
        (to @ Location::Device { .. }, Location::Host(span)) => {
            span.with_bytes(|source| store(to, source))
        }
        (Location::Host(span), Location::Device { gpu, address }) => {
            gpu.check_written(address, bytes as u64)?;
            span.with_bytes_mut(|target| gpu.read(address, target))
        }
        (Location::Host(to), Location::Host(from)) => {
            to.copy_from(from);
            Ok(())
        }
        (
            Location::Device { gpu, address },
            Location::Device {
                gpu: other,
                address: source,
            },
        ) => {
            if std::ptr::eq(gpu, other) {
                return gpu.copy(address, source, bytes);
            }
            let mut staged = vec![0; bytes];
            other.read(source, &mut staged)?;
            gpu.write(address, &staged)
        }
    }
}

fn store(to: Location, bytes: &[u8]) -> Result {
    match to {
        Location::Device { gpu, address } => gpu.write(address, bytes),
        Location::Host(span) => {
            span.with_bytes_mut(|target| target.copy_from_slice(bytes));
            Ok(())
        }
    }
}

/// Repeats `unit` over `bytes` bytes, which are a whole number of units.
pub fn fill(to: Location, unit: &[u8], bytes: usize) -> Result {
    match to {
        Location::Device { gpu, address } => gpu.fill(address, unit, bytes),
        Location::Host(span) => {
            span.with_bytes_mut(|target| {
                for chunk in target.chunks_exact_mut(unit.len()) {
                    chunk.copy_from_slice(unit);
                }
            });
            Ok(())
        }
    }
}
