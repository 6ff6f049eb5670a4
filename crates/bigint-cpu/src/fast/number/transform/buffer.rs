//! Each thread's memory for transforms.
#![allow(unsafe_code)]

use std::cell::RefCell;

use super::field::Row;
use crate::memory::scratch;

/// Words that a thread keeps between products: 256 MiB, enough for operands of
/// `2^27` bits. Fresh pages would take half as long again as the product itself.
const RETAINED_WORDS: usize = 1 << 25;

thread_local! {
    static WORDS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Runs `f` with this thread's rows, at least so many, holding anything.
pub(super) fn with_rows<T>(rows: usize, f: impl FnOnce(&mut [Row]) -> T) -> T {
    // Taken out, so that a product that this thread starts meanwhile (while it
    // waits in a thread pool) finds an empty buffer and not a borrowed one.
    let mut words = WORDS.take();
    let needed = 8 * (rows + 1);
    if words.len() < needed {
        // Words and not rows: zeros then come from fresh pages, untouched.
        drop(words);
        words = scratch(needed);
    }
    // SAFETY: a row is eight words, and any words are a row.
    let (_, aligned, _) = unsafe { words.align_to_mut::<Row>() };
    let result = f(&mut aligned[..rows]);
    if words.len() <= RETAINED_WORDS {
        WORDS.set(words);
    }
    result
}
