//! The memory of transforms, and what each thread keeps of it.
#![allow(unsafe_code)]

use std::cell::RefCell;

use super::field::Row;
use crate::memory::scratch;

/// The words that a thread keeps between products: 256 MiB, which are enough for operands of `2^27`
/// bits. Fresh pages would take half as long again as the product itself.
const RETAINED_WORDS: usize = 1 << 25;

thread_local! {
    static WORDS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Runs `f` with at least `rows` rows of this thread's memory, which may hold anything.
pub(super) fn with_rows<T>(rows: usize, f: impl FnOnce(&mut [Row]) -> T) -> T {
    // The buffer is taken out, so that a product that this thread starts while it waits in a thread
    // pool finds an empty buffer and not a borrowed one.
    let mut words = WORDS.take();
    let needed = 8 * (rows + 1);
    if words.len() < needed {
        // The vector is of words and not of rows, because zeroed words come from fresh pages that
        // nothing has touched.
        drop(words);
        words = scratch(needed);
    }
    let result = f(rows_of(&mut words, rows));
    if words.len() <= RETAINED_WORDS {
        WORDS.set(words);
    }
    result
}

/// So many rows of words, of which there are a row more.
fn rows_of(words: &mut [u64], rows: usize) -> &mut [Row] {
    // SAFETY: a row is eight words, and any eight words are a row.
    let (_, aligned, _) = unsafe { words.align_to_mut::<Row>() };
    &mut aligned[..rows]
}

/// Rows of their own. A vector of rows would be zeroed by one thread, as its alignment is that of rows.
pub(super) struct Rows {
    words: Vec<u64>,
    rows: usize,
}

impl Rows {
    /// So many rows of zeros.
    pub(super) fn zeros(rows: usize) -> Self {
        let words = scratch(8 * (rows + 1));
        Rows { words, rows }
    }

    pub(super) fn all(&self) -> &[Row] {
        // SAFETY: as in `rows_of`.
        let (_, aligned, _) = unsafe { self.words.align_to::<Row>() };
        &aligned[..self.rows]
    }

    pub(super) fn all_mut(&mut self) -> &mut [Row] {
        rows_of(&mut self.words, self.rows)
    }
}
