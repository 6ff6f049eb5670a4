//! Damage to a text that is right, so that most of what a fuzzer makes is nearly right.

use arbitrary::Arbitrary;

/// A change at a place, which counts from the start and wraps at the end.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Damage<'a> {
    /// Bytes put in.
    Insert {
        /// Before this byte.
        at: u32,
        /// What is put in.
        bytes: &'a [u8],
    },
    /// Bytes replaced.
    Replace {
        /// From this byte on.
        at: u32,
        /// What stands there then.
        bytes: &'a [u8],
    },
    /// Bytes taken out.
    Remove {
        /// From this byte on.
        at: u32,
        /// So many at most.
        count: u8,
    },
    /// Bytes written a second time.
    Repeat {
        /// From this byte on.
        at: u32,
        /// So many at most.
        count: u8,
        /// Before this byte.
        to: u32,
    },
}

/// `whole` after this damage, of at most 16 places.
pub fn damaged(whole: &[u8], damages: &[Damage<'_>]) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for &damage in damages.iter().take(16) {
        let place = |at: u32| at as usize % (bytes.len() + 1);
        let end = |at: usize, count: usize| bytes.len().min(at + count);
        let (range, new) = match damage {
            Damage::Insert { at, bytes } => (place(at)..place(at), bytes.to_vec()),
            Damage::Replace { at, bytes: new } => {
                let at = place(at);
                (at..end(at, new.len()), new.to_vec())
            }
            Damage::Remove { at, count } => {
                let at = place(at);
                (at..end(at, count.into()), Vec::new())
            }
            Damage::Repeat { at, count, to } => {
                let at = place(at);
                let again = bytes[at..end(at, count.into())].to_vec();
                (place(to)..place(to), again)
            }
        };
        bytes.splice(range, new);
    }
    bytes
}
