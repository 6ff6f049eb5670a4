//! The places of a launch's shared variables. On a GPU they lie side by side; where bounds are
//! checked they lie apart, so that a step from one into the next is noticed. The distance is a
//! multiple of the banks' width: conflicts stay what they are.

use crate::ir::Entry;

/// Bytes that nothing lies in, between two variables.
const GAP: u32 = 1 << 10;

pub(crate) struct Layout {
    /// For each shared variable of the program, its offset; unreached variables have none.
    pub offsets: Vec<u32>,
    /// First byte and end of each range that may be touched, ascending.
    pub ranges: Vec<(u32, u32)>,
    /// The end of all.
    pub bytes: u32,
}

impl Layout {
    /// Lays the variables out, with `dynamic` bytes of dynamic memory; `apart` leaves gaps.
    pub fn new(entry: &Entry, dynamic: u32, apart: bool) -> Self {
        let start = dynamic_start(entry.shared_bytes, dynamic);
        let mut offsets = entry.shared.clone();
        if !apart {
            let bytes = start + dynamic;
            return Layout {
                offsets,
                ranges: vec![(0, bytes)],
                bytes,
            };
        }
        let mut ranges = Vec::new();
        let mut gaps = 0;
        for &(i, bytes) in &entry.shared_sizes {
            if let Some(bytes) = bytes {
                let offset = &mut offsets[i as usize];
                *offset += gaps;
                ranges.push((*offset, *offset + bytes));
                gaps += GAP;
            }
        }
        for &(i, bytes) in &entry.shared_sizes {
            if bytes.is_none() {
                offsets[i as usize] += gaps;
            }
        }
        let start = start + gaps;
        ranges.push((start, start + dynamic));
        Layout {
            offsets,
            ranges,
            bytes: start + dynamic,
        }
    }
}

/// The offset of dynamic shared memory: after what is static, if there is any dynamic memory.
fn dynamic_start(fixed: u32, dynamic: u32) -> u32 {
    if dynamic == 0 {
        fixed
    } else {
        fixed.next_multiple_of(16)
    }
}
