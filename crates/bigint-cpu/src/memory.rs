//! Memory whose size depends on the numbers, and errors if the machine does not have so much.
//!
//! Scratch is allocated deep inside recursions and on threads of the pool, where passing a
//! `Result` up through every level would slow down short products. So a thread that cannot
//! allocate its scratch unwinds instead, without a message, to the function that the user
//! called ([`or_out_of_memory`]), and that function returns an error.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use bytemuck::Zeroable;

use crate::Error;
use crate::fast::pages;
use crate::program::fallible;

/// The size of an allocation, in bytes, from which on [`LEFT`] bytes must be left behind it.
const LARGE: usize = 1 << 17;

/// The bytes that a large allocation must leave free. They are for the stacks of a few threads
/// that a program starts, and for the many small allocations of every thread, which end the
/// process if they fail.
pub(crate) const LEFT: usize = 1 << 24;

/// `length` zeros. Many zeros are fresh pages that nothing has touched yet, and large pages if
/// the system has them.
///
/// ```
/// assert_eq!(bigint_cpu::zeroed::<u32>(3)?, [0; 3]);
/// assert!(bigint_cpu::zeroed::<u64>(usize::MAX).is_err());
/// # Ok::<(), bigint_cpu::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::OutOfMemory`] if the machine does not have so much memory.
pub fn zeroed<T: Zeroable>(length: usize) -> Result<Vec<T>, Error> {
    let zeroed = fallible(|| bytemuck::allocation::try_zeroed_vec(length));
    let mut zeroed: Vec<T> = zeroed.map_err(|()| out_of_memory::<T>(length))?;
    pages::enlarge(&mut zeroed);
    leave_some::<T>(length)?;
    Ok(zeroed)
}

/// An empty vector with room for `capacity` elements.
///
/// # Errors
///
/// As [`zeroed`].
pub fn with_capacity<T>(capacity: usize) -> Result<Vec<T>, Error> {
    let mut vector = Vec::new();
    reserve(&mut vector, capacity)?;
    Ok(vector)
}

/// A vector of everything that `items` yields.
///
/// ```
/// assert_eq!(bigint_cpu::collect([1, 2].iter().map(|i| 3 * i))?, [3, 6]);
/// # Ok::<(), bigint_cpu::Error>(())
/// ```
///
/// # Errors
///
/// As [`zeroed`].
pub fn collect<T>(items: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>, Error> {
    let mut vector = with_capacity(items.len())?;
    vector.extend(items);
    Ok(vector)
}

/// Makes room for `more` elements, and no more. A long vector is on large pages, as in
/// [`zeroed`].
///
/// # Errors
///
/// As [`zeroed`].
pub fn reserve<T>(vector: &mut Vec<T>, more: usize) -> Result<(), Error> {
    if vector.capacity() - vector.len() >= more {
        return Ok(());
    }
    let reserved = fallible(|| vector.try_reserve_exact(more));
    reserved.map_err(|_| out_of_memory::<T>(more))?;
    pages::enlarge(vector.spare_capacity_mut());
    leave_some::<T>(more)
}

fn out_of_memory<T>(length: usize) -> Error {
    Error::OutOfMemory {
        bytes: length.saturating_mul(size_of::<T>()),
    }
}

/// Returns an error if `length` elements are a large allocation and less than [`LEFT`] bytes
/// can be had besides.
fn leave_some<T>(length: usize) -> Result<(), Error> {
    if length.saturating_mul(size_of::<T>()) >= LARGE && !pages::can_be_had(LEFT) {
        return Err(out_of_memory::<T>(length));
    }
    Ok(())
}

/// For use inside [`or_out_of_memory`]: unwinds in place of an error.
pub(crate) fn or_unwind<T>(result: Result<T, Error>) -> T {
    result.unwrap_or_else(|error| resume_unwind(Box::new(error)))
}

/// [`zeroed`] for use inside [`or_out_of_memory`]: unwinds in place of an error.
pub(crate) fn scratch<T: Zeroable>(length: usize) -> Vec<T> {
    or_unwind(zeroed(length))
}

/// [`with_capacity`] for use inside [`or_out_of_memory`]: unwinds in place of an error.
pub(crate) fn empty<T>(capacity: usize) -> Vec<T> {
    or_unwind(with_capacity(capacity))
}

/// [`reserve`] for use inside [`or_out_of_memory`]: unwinds in place of an error.
pub(crate) fn reserve_scratch<T>(vector: &mut Vec<T>, more: usize) {
    or_unwind(reserve(vector, more));
}

/// Gives a vector that is reused `length` elements, of any values. For use inside
/// [`or_out_of_memory`].
pub(crate) fn grow<T: Zeroable>(vector: &mut Vec<T>, length: usize) {
    if vector.capacity() < length {
        drop(std::mem::take(vector));
        *vector = scratch(length);
    } else {
        // The length is within the capacity, so nothing is allocated.
        vector.resize_with(length, T::zeroed);
    }
}

/// Runs `work` and returns its result. If `work`, or a thread that works for it, cannot
/// allocate scratch, it unwinds to here without a message.
///
/// # Errors
///
/// [`Error::OutOfMemory`] if scratch could not be allocated. Then the memory that `work` writes
/// to may hold anything.
pub fn or_out_of_memory<R>(work: impl FnOnce() -> R) -> Result<R, Error> {
    // Only the caller's result is left half done, as the error tells the caller. Thread-local
    // scratch is moved out of its place while it is in use.
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| match panic.downcast::<Error>() {
        Ok(error) => *error,
        Err(panic) => resume_unwind(panic),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads;

    #[test]
    fn scratch_that_cannot_be_had_on_any_thread_is_an_error() {
        // This is half of the address space, which no machine has as memory.
        let length = isize::MAX as usize / size_of::<u64>();
        let scratch_of = |length| or_out_of_memory(|| scratch::<u64>(length).len());
        assert_eq!(scratch_of(5), Ok(5));
        let error = Error::OutOfMemory {
            bytes: length * size_of::<u64>(),
        };
        assert_eq!(scratch_of(length), Err(error.clone()));
        let on_threads = or_out_of_memory(|| threads::join(|| empty::<u64>(length), || 7));
        assert_eq!(on_threads.err(), Some(error.clone()));
        let mut kept = vec![1_u64; 3];
        assert_eq!(or_out_of_memory(|| grow(&mut kept, length)), Err(error));
    }

    #[test]
    #[should_panic(expected = "a defect")]
    fn other_panics_go_on() {
        let _ = or_out_of_memory(|| panic!("a defect"));
    }
}
