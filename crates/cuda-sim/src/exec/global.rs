//! Global memory as a block sees it: bounds, what is initialised, races between
//! blocks, and how many sectors an access touches.
//!
//! **Races.** The shadow of each word says who touched it in this launch: one
//! block or several, reading, writing or atomically. Two blocks on the same bytes
//! race unless both only read, both are atomic (or volatile, relaxed, acquiring,
//! releasing), or the later one has synchronised: after an atomic operation whose
//! result it used, or an ordered load, a block may rely on what others wrote
//! and then released, by a fence (`membar.gl`) or a releasing operation. The rule
//! lets some races pass; it lets no correct program fail. Threads of one block are
//! told apart by `threads`.
//! Accesses of different blocks to different bytes of one word are told apart
//! for the latest block only. Whether a word has a race does not depend on the
//! order in which blocks run.

use super::clocks::Clocks;
use super::launch::Launch;
use super::mask::lanes_of;
use super::mistake::{Mistake, Step};
use super::sectors::{Caches, Sectors};
use super::threads;
use super::touch::{
    ATOMIC_MANY, ATOMIC_ONE, READ_MANY, READ_ONE, Touch, VOLATILE_MANY, VOLATILE_ONE, WRITTEN,
    is_of_many, strongest,
};
use super::transfer::{Buffer, Transfer};
use crate::check::FaultKind;
use crate::count::Counts;
use crate::ir::Order;
use crate::memory::{Allocation, INITIALISED};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};

/// The number of epochs of launches that a shadow distinguishes; zero stands for none.
pub(crate) const EPOCHS: u32 = 1 << 20;

// Layout of a shadow word above the initialised bits.
const BYTES_SHIFT: u32 = 4;
const STATE_SHIFT: u32 = 8;
const EPOCH_SHIFT: u32 = 12;
const BLOCK_SHIFT: u32 = 32;

/// Epoch and block.
const OWNER: u64 = u64::MAX << EPOCH_SHIFT;

/// What a word was before its first write in a launch.
pub(crate) struct Undo {
    allocation: u32,
    word: u32,
    value: u32,
    initialised: u8,
}

impl Undo {
    /// Puts the word back.
    pub fn apply(&self, allocations: &[Arc<Allocation>]) {
        let allocation = &allocations[self.allocation as usize];
        let offset = 4 * u64::from(self.word);
        allocation.word(offset).store(self.value, Relaxed);
        if let Some(shadow) = allocation.shadow(offset) {
            shadow.store(u64::from(self.initialised), Relaxed);
        }
    }
}

pub(crate) struct Global<'l> {
    allocations: &'l [Arc<Allocation>],
    exact: bool,
    races: bool,
    uninitialised: bool,
    count: bool,
    epoch: u64,
    block: u64,
    /// Whether the block has synchronised with others.
    pub synchronised: bool,
    /// The allocation that the last access was in.
    last: usize,
    log: bool,
    undo: Vec<Undo>,
    /// For each block, its clock since it began at its last release to other blocks.
    releases: HashMap<u64, u32>,
    caches: Caches,
    pub counts: Counts,
}

impl<'l> Global<'l> {
    /// Global memory as a worker of a launch sees it; with `log` writes can be undone.
    pub fn new(launch: &Launch<'l>, log: bool) -> Self {
        Global {
            allocations: launch.allocations,
            exact: launch.checks.bounds,
            races: launch.checks.races,
            uninitialised: launch.checks.uninitialised,
            count: launch.count,
            epoch: u64::from(launch.epoch),
            block: 0,
            synchronised: false,
            last: 0,
            log,
            undo: Vec::new(),
            releases: HashMap::new(),
            caches: Caches::new(launch),
            counts: Counts::default(),
        }
    }

    /// Goes on with a block, which may have synchronised with others.
    pub fn enter(&mut self, block: u64, synchronised: bool) {
        let block = block & 0xffff_ffff;
        if self.block != block {
            self.caches.clear();
        }
        self.block = block;
        self.synchronised = synchronised;
    }

    /// Notes that other blocks may see what a block did before.
    pub fn released(&mut self, block: u64, clocks: &Clocks) {
        if self.races {
            let block = block & 0xffff_ffff;
            self.releases.insert(block, clocks.now - clocks.begun);
        }
    }

    /// How to undo what was written.
    pub fn into_undo(self) -> Vec<Undo> {
        self.undo
    }

    /// Whether an allocation holds `low..high`.
    fn contains(&self, index: usize, low: u64, high: u64) -> bool {
        self.allocations.get(index).is_some_and(|allocation| {
            low >= allocation.start && high <= allocation.start + allocation.extent(self.exact)
        })
    }

    /// The allocation that holds `low..high`.
    fn find(&mut self, low: u64, high: u64) -> Option<usize> {
        if self.contains(self.last, low, high) {
            return Some(self.last);
        }
        let after = self.allocations.partition_point(|a| a.start <= low);
        let index = after.checked_sub(1)?;
        self.contains(index, low, high).then(|| {
            self.last = index;
            index
        })
    }

    /// Runs `act` on every group of lanes that shares an allocation: mostly one.
    fn each_allocation(
        &mut self,
        transfer: &Transfer<'_>,
        mut act: impl FnMut(&mut Self, &'l Allocation, usize, u32) -> Step,
    ) -> Step {
        let bytes = u64::from(transfer.bytes);
        let (mut low, mut high) = (u64::MAX, 0);
        for lane in lanes_of(transfer.mask) {
            low = low.min(transfer.addresses[lane]);
            high = high.max(transfer.addresses[lane]);
        }
        let all = high.checked_add(bytes).and_then(|end| self.find(low, end));
        let allocations = self.allocations;
        if let Some(index) = all {
            return act(self, &allocations[index], index, transfer.mask);
        }
        for lane in lanes_of(transfer.mask) {
            let at = transfer.addresses[lane];
            let found = at.checked_add(bytes).and_then(|end| self.find(at, end));
            let Some(index) = found else {
                return Err(Mistake::at(
                    FaultKind::OutOfBounds,
                    lane as u32,
                    at,
                    format!("{bytes} bytes of global memory"),
                ));
            };
            act(self, &allocations[index], index, 1 << lane)?;
        }
        Ok(())
    }

    /// Counts the sectors of a load, or of an atomic operation.
    fn count_load(&mut self, warp: usize, transfer: &Transfer<'_>, order: Order) {
        if self.count {
            let sectors = Sectors::of(transfer);
            self.counts.load_sectors += sectors.count();
            self.counts.load_sectors_fewest += sectors.fewest;
            self.counts.load_sectors_moved += self.caches.load(warp, order, &sectors);
        }
    }

    /// Loads from global memory.
    pub fn read(
        &mut self,
        clocks: &mut Clocks,
        warp: usize,
        transfer: &Transfer<'_>,
        buffer: &mut Buffer,
    ) -> Step {
        self.count_load(warp, transfer, transfer.order);
        let touch = match transfer.order {
            Order::Strong | Order::Guess => Touch::OrderedRead,
            Order::Volatile => Touch::VolatileRead,
            Order::ReadOnly => Touch::ReadOnly,
            Order::Weak => Touch::Read,
        };
        let party = Party {
            clocks,
            warp,
            writes: false,
            buffer: None,
        };
        let words = transfer.bytes.div_ceil(4) as usize;
        self.each_allocation(transfer, |this, allocation, index, mask| {
            let found = Some(&mut *buffer);
            this.touch(allocation, index, (transfer, mask), touch, &party, found)?;
            for lane in lanes_of(mask) {
                let offset = transfer.addresses[lane] - allocation.start;
                for (k, word) in allocation.words_from(offset, words).iter().enumerate() {
                    buffer[k][lane] = word.load(Relaxed);
                }
                if transfer.bytes < 4 {
                    buffer[0][lane] >>= 8 * (offset % 4);
                }
            }
            Ok(())
        })?;
        if transfer.order.is_strong() {
            self.synchronised = true;
            for lane in lanes_of(transfer.mask) {
                clocks.look(32 * warp + lane);
            }
        }
        Ok(())
    }

    /// Stores to global memory.
    pub fn write(
        &mut self,
        clocks: &mut Clocks,
        warp: usize,
        transfer: &Transfer<'_>,
        buffer: &Buffer,
    ) -> Step {
        if self.count {
            let sectors = Sectors::of(transfer);
            self.counts.store_sectors += sectors.count();
            self.counts.store_sectors_fewest += sectors.fewest;
            self.counts.store_sectors_moved += self.caches.store(warp, &sectors);
        }
        let touch = match transfer.order {
            Order::Strong | Order::Guess => Touch::OrderedWrite,
            Order::Volatile => Touch::VolatileWrite,
            Order::Weak | Order::ReadOnly => Touch::Write,
        };
        let party = Party {
            clocks,
            warp,
            writes: true,
            buffer: Some(buffer),
        };
        let words = transfer.bytes.div_ceil(4) as usize;
        self.each_allocation(transfer, |this, allocation, index, mask| {
            this.check_writable(allocation, transfer, mask)?;
            this.touch(allocation, index, (transfer, mask), touch, &party, None)?;
            if buffer.undefined.is_some() && this.uninitialised {
                forget_undefined(allocation, transfer, mask, buffer);
            }
            for lane in lanes_of(mask) {
                let offset = transfer.addresses[lane] - allocation.start;
                if transfer.bytes < 4 {
                    let shift = 8 * (offset % 4) as u32;
                    let ones = ((1u32 << (8 * transfer.bytes)) - 1) << shift;
                    let value = buffer[0][lane] << shift & ones;
                    // Another block may write the other bytes of the word meanwhile.
                    let merge = |word| Some(word & !ones | value);
                    let merged = allocation
                        .word(offset)
                        .fetch_update(Relaxed, Relaxed, merge);
                    debug_assert!(merged.is_ok());
                    continue;
                }
                for (k, word) in allocation.words_from(offset, words).iter().enumerate() {
                    word.store(buffer[k][lane], Relaxed);
                }
            }
            Ok(())
        })?;
        if transfer.order.is_strong() {
            clocks.release();
        }
        Ok(())
    }

    /// Lanes go in ascending order, each on what the one before left.
    pub fn atomic(
        &mut self,
        clocks: &mut Clocks,
        warp: usize,
        transfer: &Transfer<'_>,
        (returns, change): (bool, &dyn Fn(usize, u128) -> u128),
        old: &mut [u128; 32],
    ) -> Step {
        self.count_load(warp, transfer, Order::Strong);
        let party = Party {
            clocks,
            warp,
            writes: true,
            buffer: None,
        };
        self.each_allocation(transfer, |this, allocation, index, mask| {
            this.check_writable(allocation, transfer, mask)?;
            let touch = Touch::Atomic;
            this.touch(allocation, index, (transfer, mask), touch, &party, None)?;
            for lane in lanes_of(mask) {
                let offset = transfer.addresses[lane] - allocation.start;
                old[lane] = if transfer.bytes == 4 {
                    let update = |word| Some(change(lane, u128::from(word)) as u32);
                    let word = allocation
                        .word(offset)
                        .fetch_update(Relaxed, Relaxed, update);
                    u128::from(word.unwrap_or_else(|word| word))
                } else {
                    let words = transfer.bytes as usize / 4;
                    allocation.update_words(offset, words, |value| change(lane, value))
                };
            }
            Ok(())
        })?;
        self.synchronised |= returns;
        for lane in lanes_of(transfer.mask) {
            clocks.look(32 * warp + lane);
        }
        clocks.release();
        Ok(())
    }

    /// An error unless kernels may write the allocation.
    fn check_writable(&self, allocation: &Allocation, transfer: &Transfer<'_>, mask: u32) -> Step {
        if allocation.writable {
            return Ok(());
        }
        let lane = mask.trailing_zeros();
        Err(Mistake::at(
            FaultKind::ReadOnly,
            lane,
            transfer.addresses[lane as usize & 31],
            format!("{} bytes to constant memory", transfer.bytes),
        ))
    }

    /// Checks and notes an access in the shadow of every word it touches. A load puts what
    /// nobody wrote into `found`; for an atomic operation, which has nothing there, that is
    /// a mistake.
    fn touch(
        &mut self,
        allocation: &'l Allocation,
        index: usize,
        (transfer, mask): (&Transfer<'_>, u32),
        touch: Touch,
        party: &Party<'_>,
        mut found: Option<&mut Buffer>,
    ) -> Step {
        if !(self.races || self.uninitialised) {
            return Ok(());
        }
        let words = transfer.bytes.div_ceil(4) as usize;
        let mine = self.epoch << EPOCH_SHIFT | self.block << BLOCK_SHIFT;
        let plain = !transfer.strong();
        // What is remembered of lane 0; the thread's number stands lowest.
        let first = threads::Access {
            thread: 32 * party.warp,
            plain,
            writes: party.writes,
        }
        .alone(party.clocks);
        for lane in lanes_of(mask) {
            let offset = transfer.addresses[lane] - allocation.start;
            let bytes = if transfer.bytes < 4 {
                ((1u64 << transfer.bytes) - 1) << (offset % 4)
            } else {
                INITIALISED
            };
            let shadows = allocation.shadows_from(offset, words);
            let access = threads::Access {
                thread: 32 * party.warp + lane,
                plain,
                writes: party.writes,
            };
            let alone = match first {
                0 => 0,
                first => first + ((lane as u64) << if party.writes { 32 } else { 0 }),
            };
            for (k, [shadow, thread]) in shadows.iter().enumerate() {
                if transfer.wanted >> k & 1 == 0 {
                    continue;
                }
                // Mostly this thread touched these bytes in this way before, and
                // nobody else did.
                let seen = shadow.load(Relaxed);
                let state = seen >> STATE_SHIFT & 0xf;
                let own = seen & OWNER == mine;
                let settled = own
                    && (state == touch.state() || state == WRITTEN)
                    && seen & seen >> BYTES_SHIFT & bytes == bytes
                    && touch != Touch::ReadOnly;
                if settled && (!self.races || thread.load(Relaxed) == alone) {
                    continue;
                }
                let touched = TouchedWord {
                    allocation,
                    index,
                    word: (offset / 4) as usize + k,
                    lane,
                };
                if !settled {
                    let missing = self.touch_word(&touched, shadow, bytes, touch)?;
                    if missing != 0 {
                        let Some(buffer) = &mut found else {
                            return Err(unwritten(&touched, missing));
                        };
                        buffer.mark(k, lane, missing >> (offset % 4));
                    }
                }
                if !self.races {
                    continue;
                }
                if !own || is_of_many(state) {
                    thread.store(alone, Relaxed);
                    continue;
                }
                let (next, conflict) = threads::follow(thread.load(Relaxed), access, party.clocks);
                thread.store(next, Relaxed);
                // Which bytes of a word each thread touched is not known.
                if bytes == INITIALISED
                    && let Some(conflict) = conflict
                    && !same_value(&touched, transfer, k, party)
                {
                    return Err(race_within(&touched, conflict, party.writes));
                }
            }
        }
        Ok(())
    }

    /// Which of the bytes nobody wrote, where they are read.
    fn touch_word(
        &mut self,
        touched: &TouchedWord<'_>,
        shadow: &AtomicU64,
        bytes: u64,
        touch: Touch,
    ) -> Step<u8> {
        let mut seen = shadow.load(Relaxed);
        loop {
            let here = seen >> EPOCH_SHIFT & u64::from(EPOCHS - 1) == self.epoch;
            let missing = if touch.reads() && self.uninitialised {
                (bytes & !seen & INITIALISED) as u8
            } else {
                0
            };
            if touch == Touch::ReadOnly && here && self.races {
                let state = seen >> STATE_SHIFT & 0xf;
                if state == WRITTEN && seen >> BYTES_SHIFT & bytes != 0 {
                    return Err(Mistake::at(
                        FaultKind::StaleRead,
                        touched.lane as u32,
                        touched.address(),
                        "by ld.global.nc",
                    ));
                }
            }
            let initialised = if missing != 0 || matches!(touch, Touch::Read | Touch::ReadOnly) {
                seen & INITIALISED
            } else {
                seen & INITIALISED | bytes
            };
            let (state, block, covered) = self.transition(seen, here, bytes, touch, touched)?;
            let next = initialised
                | covered << BYTES_SHIFT
                | state << STATE_SHIFT
                | self.epoch << EPOCH_SHIFT
                | block << BLOCK_SHIFT;
            if next == seen {
                return Ok(missing);
            }
            let wrote = here && seen >> STATE_SHIFT & 0xf >= WRITTEN;
            let first_write = !matches!(touch, Touch::Read | Touch::ReadOnly) && !wrote;
            // Read before the shadow is claimed: nobody has written the word by then.
            let value = touched
                .allocation
                .word(4 * touched.word as u64)
                .load(Relaxed);
            match shadow.compare_exchange(seen, next, AcqRel, Relaxed) {
                Ok(_) => {
                    if self.log && first_write {
                        self.undo.push(Undo {
                            allocation: touched.index as u32,
                            word: touched.word as u32,
                            value,
                            initialised: (seen & INITIALISED) as u8,
                        });
                    }
                    return Ok(missing);
                }
                Err(now) => seen = now,
            }
        }
    }

    /// Whether a block has released its last write to a word to others.
    fn is_released(&self, block: u64, touched: &TouchedWord<'_>) -> bool {
        let offset = 4 * touched.word as u64;
        let threads = touched.allocation.threads(offset);
        let wrote = threads.map_or(0, |word| threads::wrote(word.load(Relaxed)));
        wrote == 0 || self.releases.get(&block).is_some_and(|&at| at >= wrote)
    }

    /// The state of a word after an access: state, block, bytes covered.
    fn transition(
        &self,
        seen: u64,
        here: bool,
        bytes: u64,
        touch: Touch,
        touched: &TouchedWord<'_>,
    ) -> Step<(u64, u64, u64)> {
        let fresh = touch.state();
        if !here || !self.races {
            return Ok((fresh, self.block, bytes));
        }
        let state = seen >> STATE_SHIFT & 0xf;
        let block = seen >> BLOCK_SHIFT;
        let covered = seen >> BYTES_SHIFT & INITIALISED;
        let own = block == self.block && !is_of_many(state);
        if own {
            return Ok((strongest(state, fresh), block, covered | bytes));
        }
        match (state, touch) {
            (READ_ONE | READ_MANY, Touch::Read | Touch::ReadOnly) => {
                return Ok((READ_MANY, block, covered | bytes));
            }
            (VOLATILE_ONE | VOLATILE_MANY | ATOMIC_ONE | ATOMIC_MANY, _)
                if matches!(fresh, ATOMIC_ONE | VOLATILE_ONE) =>
            {
                let volatile = state >= VOLATILE_ONE || fresh == VOLATILE_ONE;
                let many = if volatile { VOLATILE_MANY } else { ATOMIC_MANY };
                return Ok((many, block, covered | bytes));
            }
            _ => {}
        }
        if covered & bytes == 0 {
            return Ok((fresh, self.block, bytes));
        }
        let mut unreleased = "";
        if self.synchronised {
            if state != WRITTEN || self.is_released(block, touched) {
                return Ok((fresh, self.block, bytes));
            }
            unreleased = ", which no fence (membar.gl) followed";
        }
        let before = match state {
            READ_ONE | READ_MANY => "read",
            WRITTEN => "written",
            ATOMIC_ONE | ATOMIC_MANY => "used atomically",
            _ => "used as volatile",
        };
        let others = if is_of_many(state) {
            "several blocks".to_owned()
        } else {
            format!("block number {block}")
        };
        Err(Mistake::at(
            FaultKind::GlobalRace,
            touched.lane as u32,
            touched.address() + u64::from((covered & bytes).trailing_zeros()),
            format!(
                "{} by block number {}, {before} by {others} in the same launch{unreleased}",
                touch.describe(),
                self.block
            ),
        ))
    }
}

/// Who touches memory, as a thread of its block.
struct Party<'a> {
    clocks: &'a Clocks,
    warp: usize,
    writes: bool,
    /// What is written.
    buffer: Option<&'a Buffer>,
}

/// A word that a lane touches.
struct TouchedWord<'a> {
    allocation: &'a Allocation,
    index: usize,
    word: usize,
    lane: usize,
}

impl TouchedWord<'_> {
    /// The address of the access.
    fn address(&self) -> u64 {
        self.allocation.start + 4 * self.word as u64
    }
}

/// Marks bytes that are written with an undefined value: they are as good as unwritten.
fn forget_undefined(allocation: &Allocation, transfer: &Transfer<'_>, mask: u32, buffer: &Buffer) {
    let words = transfer.bytes.div_ceil(4) as usize;
    let all = 0xf >> (4 - transfer.bytes.min(4));
    for lane in lanes_of(mask) {
        let offset = transfer.addresses[lane] - allocation.start;
        for (k, [shadow, _]) in allocation.shadows_from(offset, words).iter().enumerate() {
            let bytes = u64::from(all & !buffer.defined(k, lane)) << (offset % 4);
            shadow.fetch_and(!bytes, Relaxed);
        }
    }
}

/// The mistake of an atomic operation on what nothing has written.
fn unwritten(touched: &TouchedWord<'_>, missing: u8) -> Box<Mistake> {
    Mistake::at(
        FaultKind::UninitialisedMemory,
        touched.lane as u32,
        touched.address() + u64::from(missing.trailing_zeros()),
        "by an atomic operation on global memory",
    )
}

/// The mistake of a race between threads of one block.
fn race_within(
    touched: &TouchedWord<'_>,
    (other, did): threads::Conflict,
    writes: bool,
) -> Box<Mistake> {
    let now = if writes { "written" } else { "read" };
    Mistake::at(
        FaultKind::GlobalRace,
        touched.lane as u32,
        touched.address(),
        format!("{now} while unordered with thread number {other} of the block, which {did} it"),
    )
}

/// Whether a write leaves a word as it is, or as another lane of the same
/// instruction leaves it.
fn same_value(
    touched: &TouchedWord<'_>,
    transfer: &Transfer<'_>,
    k: usize,
    party: &Party<'_>,
) -> bool {
    let Some(buffer) = party.buffer else {
        return false;
    };
    let lane = touched.lane;
    let other = lanes_of(transfer.mask & ((1 << lane) - 1))
        .filter(|&other| transfer.addresses[other] == transfer.addresses[lane])
        .last();
    if let Some(other) = other {
        return buffer[k][other] == buffer[k][lane];
    }
    let word = touched
        .allocation
        .word(4 * touched.word as u64)
        .load(Relaxed);
    if transfer.bytes >= 4 {
        return word == buffer[k][lane];
    }
    let ones = (1u32 << (8 * transfer.bytes)) - 1;
    let shift = 8 * (transfer.addresses[lane] % 4);
    word >> shift & ones == buffer[k][lane] & ones
}
