//! Copies that a warp's threads have not waited for.

/// A copy of one thread that it has not waited for.
pub(super) struct InFlight {
    pub lane: usize,
    /// Groups that the thread had committed before.
    pub group: u32,
    pub to: u64,
    pub words: [u32; 4],
    /// The bytes of each word that somebody defined; a bit each.
    pub defined: [u8; 4],
    pub bytes: u32,
    pub line: u32,
}

/// The copies of a warp's threads.
#[derive(Default)]
pub(crate) struct Copies {
    pub(super) open: Vec<InFlight>,
    /// For each thread, the number of groups it has committed.
    pub groups: [u32; 32],
}

impl Copies {
    /// Forgets everything for the next block.
    pub fn begin(&mut self) {
        self.open.clear();
        self.groups = [0; 32];
    }
}
