//! What orders the accesses of a block's threads: barriers, and what one thread
//! sees of another's release.
//!
//! A block has one clock, which counts synchronisations. An access is ordered before
//! one of another thread if after it both took part in a barrier, of the block or,
//! within a warp, `bar.warp.sync`; or if after it something was released (an atomic
//! operation, a volatile, relaxed or releasing store) and the other thread then looked
//! (an atomic operation, a volatile, relaxed or acquiring load). What a thread has seen,
//! all have seen with whom it meets at a barrier.

use super::mask::lanes_of;

#[derive(Default)]
pub(crate) struct Clocks {
    /// Goes on from block to block, so that all that an earlier block did is past.
    pub now: u32,
    /// When this block began.
    pub begun: u32,
    /// For each warp, its last barrier of the block.
    barriers: Vec<u32>,
    /// The earliest of these: what was done before is ordered before all that is done now.
    pub floor: u32,
    /// For each thread, its last `bar.warp.sync`.
    syncs: Vec<u32>,
    /// For each thread, the time up to which it has seen what others released.
    seen: Vec<u32>,
}

impl Clocks {
    /// Begins a block of so many warps; whether the clock begins anew.
    pub fn begin(&mut self, warps: usize) -> bool {
        let restarts = self.now > u32::MAX / 2;
        if restarts {
            self.now = 0;
        }
        self.now += 1;
        self.begun = self.now;
        self.barriers.clear();
        self.barriers.resize(warps, self.now);
        self.floor = self.now;
        self.syncs.clear();
        self.syncs.resize(32 * warps, self.now);
        self.seen.clear();
        self.seen.resize(32 * warps, 0);
        restarts
    }

    /// Whether what `earlier` did at `then` is ordered before what `thread` does now.
    pub fn ordered(&self, earlier: usize, then: u32, thread: usize) -> bool {
        if earlier == thread || self.seen[thread] > then {
            return true;
        }
        let barrier = |thread: usize| self.barriers[thread / 32];
        if earlier / 32 == thread / 32 {
            let latest = |thread: usize| barrier(thread).max(self.syncs[thread]);
            latest(earlier) > then && latest(thread) > then
        } else {
            barrier(earlier) > then && barrier(thread) > then
        }
    }

    /// When a thread was last ordered with any other.
    pub fn latest(&self, thread: usize) -> u32 {
        self.barriers[thread / 32]
            .max(self.syncs[thread])
            .max(self.seen[thread])
    }

    /// Others may see what was done before.
    pub fn release(&mut self) {
        self.now += 1;
    }

    /// A thread sees what was released before.
    pub fn look(&mut self, thread: usize) {
        self.seen[thread] = self.now;
    }

    /// Lanes of a warp meet at `bar.warp.sync`.
    pub fn sync(&mut self, warp: usize, mask: u32) {
        self.now += 1;
        let seen = lanes_of(mask)
            .map(|lane| self.seen[32 * warp + lane])
            .max()
            .unwrap_or(0);
        for lane in lanes_of(mask) {
            self.syncs[32 * warp + lane] = self.now;
            self.seen[32 * warp + lane] = seen;
        }
    }

    /// Lanes of a warp arrive at a barrier of the block and do not wait.
    pub fn arrive(&mut self, warp: usize) {
        self.now += 1;
        self.barriers[warp] = self.now;
        self.raise_floor();
    }

    /// Takes the earliest of the warps' barriers anew.
    fn raise_floor(&mut self) {
        self.floor = self.barriers.iter().copied().min().unwrap_or(self.now);
    }

    /// Lanes of warps meet at a barrier of the block.
    pub fn barrier(&mut self, through: &[(usize, u32)]) {
        self.now += 1;
        let threads = || {
            through
                .iter()
                .flat_map(|&(warp, mask)| lanes_of(mask).map(move |lane| 32 * warp + lane))
        };
        let seen = threads().map(|thread| self.seen[thread]).max().unwrap_or(0);
        for &(warp, _) in through {
            self.barriers[warp] = self.now;
        }
        for thread in threads() {
            self.seen[thread] = seen;
        }
        self.raise_floor();
    }
}
