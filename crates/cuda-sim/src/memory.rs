//! Global memory: allocations, each with its own backing store and shadow.
//!
//! Every allocation is backed on its own, so an address belongs to exactly one
//! allocation or to none, and an overrun by a single byte is seen. Addresses are
//! never used again, so an access after a free is seen too. Backing store comes
//! zeroed from the system and is only committed where it is touched: a device of
//! 80 GB costs nothing until a kernel uses it.
//!
//! Blocks run in parallel, so the store is an array of relaxed atomic words: a
//! race in a simulated kernel stays a wrong (and, if asked for, reported) result
//! and never becomes undefined behaviour of the simulator.

use crate::check::{Checks, Fault, FaultKind};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// Generic addresses of shared memory begin here.
pub(crate) const SHARED_WINDOW: u64 = 0x0100_0000_0000;
/// Generic addresses of local memory begin here.
pub(crate) const LOCAL_WINDOW: u64 = 0x0200_0000_0000;
/// Generic addresses of the kernel's parameters begin here.
pub(crate) const PARAM_WINDOW: u64 = 0x0300_0000_0000;
/// Values of function pointers begin here.
pub(crate) const CODE_WINDOW: u64 = 0x0400_0000_0000;
/// In addresses of a cluster's shared memory, from this bit on: zero for the block
/// itself, or one more than the rank of the block whose memory it is.
pub(crate) const RANK_SHIFT: u32 = 26;
/// Bytes that each window spans.
pub(crate) const WINDOW_BYTES: u64 = 1 << 32;
/// Addresses of global memory begin here.
const GLOBAL_BASE: u64 = 0x1000_0000_0000;
/// Addresses from one device's base to the next one's.
const DEVICE_SPAN: u64 = 1 << 42;
/// Whether an address is meant for global memory.
pub(crate) const fn is_global(address: u64) -> bool {
    address >= GLOBAL_BASE || address < SHARED_WINDOW
}

/// Every allocation begins at a multiple of this, as `cuMemAlloc` promises.
pub(crate) const ALLOCATION_ALIGN: u64 = 256;

/// Whether the address lies in the window of generic addresses that begins at `window`.
pub(crate) const fn in_window(address: u64, window: u64) -> bool {
    address.wrapping_sub(window) < WINDOW_BYTES
}

/// Shadow bits of a word: one "initialised" bit per byte, in bits 0 to 3. The
/// rest belongs to the race check (see `exec::global`).
pub(crate) const INITIALISED: u64 = 0xf;

/// The checks' notes on a word, side by side: whoever needs one needs the other.
pub(crate) type Shadow = [AtomicU64; 2];

/// A piece of global memory.
pub(crate) struct Allocation {
    pub start: u64,
    pub len: u64,
    /// Whether kernels may write it.
    pub writable: bool,
    words: Box<[AtomicU32]>,
    /// For each word of the store, its shadow and the threads of a block that touched it last (see
    /// `exec::threads`); empty where no check wants it.
    shadow: Box<[Shadow]>,
    /// Held while several words change as one.
    several: Mutex<()>,
}

impl Allocation {
    /// Zeroed memory from the system; nothing where it has no more.
    fn new(start: u64, len: u64, writable: bool, shadowed: bool) -> Option<Self> {
        let words = usize::try_from(granules(len)?).ok()? / 4;
        let shadows = if shadowed { words } else { 0 };
        Some(Allocation {
            start,
            len,
            writable,
            words: bytemuck::allocation::try_zeroed_slice_box(words).ok()?,
            shadow: bytemuck::allocation::try_zeroed_slice_box(shadows).ok()?,
            several: Mutex::new(()),
        })
    }

    /// Bytes that may be touched from `start` on: the exact length, or with
    /// `exact` off, whole granules.
    pub fn extent(&self, exact: bool) -> u64 {
        if exact {
            self.len
        } else {
            4 * self.words.len() as u64
        }
    }

    /// The word that holds the byte at `offset`.
    #[inline(always)]
    pub fn word(&self, offset: u64) -> &AtomicU32 {
        &self.words[(offset / 4) as usize]
    }

    /// `count` words from the one that holds the byte at `offset` on.
    #[inline(always)]
    pub fn words_from(&self, offset: u64, count: usize) -> &[AtomicU32] {
        let first = (offset / 4) as usize;
        &self.words[first..first + count]
    }

    /// The shadows of `count` words, or nothing where there are no shadows.
    #[inline(always)]
    pub fn shadows_from(&self, offset: u64, count: usize) -> &[Shadow] {
        let first = (offset / 4) as usize;
        self.shadow.get(first..first + count).unwrap_or_default()
    }

    /// What the threads of a block did to the word that holds the byte at `offset`.
    pub fn threads(&self, offset: u64) -> Option<&AtomicU64> {
        let [_, threads] = self.shadow.get((offset / 4) as usize)?;
        Some(threads)
    }

    /// Changes up to four words from `offset` on as one and returns what they were.
    pub fn update_words(&self, offset: u64, count: usize, change: impl Fn(u128) -> u128) -> u128 {
        let _held = self.several.lock().unwrap_or_else(PoisonError::into_inner);
        let words = self.words_from(offset, count);
        let joined = |value, word: &AtomicU32| value << 32 | u128::from(word.load(Relaxed));
        let old = words.iter().rev().fold(0, joined);
        let new = change(old);
        for (k, word) in words.iter().enumerate() {
            word.store((new >> (32 * k)) as u32, Relaxed);
        }
        old
    }

    /// The shadow of the word that holds the byte at `offset`, if there is one.
    #[inline(always)]
    pub fn shadow(&self, offset: u64) -> Option<&AtomicU64> {
        let [shadow, _] = self.shadow.get((offset / 4) as usize)?;
        Some(shadow)
    }

    /// Forgets which launch last touched each word.
    pub fn clear_races(&self) {
        for [shadow, _] in &self.shadow {
            shadow.fetch_and(INITIALISED, Relaxed);
        }
    }

    /// Copies bytes out.
    fn read(&self, offset: u64, bytes: &mut [u8]) {
        for (at, part) in pieces(offset, bytes.len()) {
            let word = self.word(at).load(Relaxed).to_le_bytes();
            let first = (at % 4) as usize;
            bytes[part.clone()].copy_from_slice(&word[first..first + part.len()]);
        }
    }

    /// Copies bytes in, which are initialised then.
    fn write(&self, offset: u64, bytes: &[u8]) {
        for (at, part) in pieces(offset, bytes.len()) {
            let first = (at % 4) as usize;
            let word = self.word(at);
            if part.len() == 4 {
                let mut whole = [0; 4];
                whole.copy_from_slice(&bytes[part]);
                word.store(u32::from_le_bytes(whole), Relaxed);
            } else {
                let mut whole = word.load(Relaxed).to_le_bytes();
                whole[first..first + part.len()].copy_from_slice(&bytes[part.clone()]);
                word.store(u32::from_le_bytes(whole), Relaxed);
            }
        }
        self.mark_initialised(offset, bytes.len() as u64);
    }

    /// Notes that bytes are initialised.
    fn mark_initialised(&self, offset: u64, len: u64) {
        if self.shadow.is_empty() {
            return;
        }
        for (at, part) in pieces(offset, len as usize) {
            let bits = ((1 << part.len()) - 1) << (at % 4);
            if let Some(shadow) = self.shadow(at) {
                shadow.fetch_or(bits, Relaxed);
            }
        }
    }
}

/// Cuts `len` bytes from `offset` on into parts that lie within one word each:
/// the offset of each part, and its place among the bytes.
fn pieces(offset: u64, len: usize) -> impl Iterator<Item = (u64, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u64;
        let part = (4 - (at % 4) as usize).min(len - done);
        let range = done..done + part;
        done += part;
        (part > 0).then_some((at, range))
    })
}

/// The bytes that an allocation of so many takes up.
fn granules(len: u64) -> Option<u64> {
    len.checked_next_multiple_of(ALLOCATION_ALIGN)
}

/// There is not that much memory left on the simulated device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("out of device memory: {wanted} bytes wanted, {free} free")]
pub struct OutOfMemory {
    /// Bytes that were asked for.
    pub wanted: u64,
    /// Bytes that are left.
    pub free: u64,
}

/// The allocations of a device.
pub(crate) struct Memory {
    total: u64,
    used: u64,
    next: u64,
    shadowed: bool,
    /// Whether what nothing has written is watched.
    uninitialised: bool,
    live: BTreeMap<u64, Arc<Allocation>>,
    /// Length by start of what was freed, to say so when it is used again.
    freed: BTreeMap<u64, u64>,
}

impl Memory {
    /// The memory of a device: so many bytes, none of them allocated.
    pub fn new(total: u64, checks: Checks, ordinal: u32) -> Self {
        let shadowed = checks.uninitialised || checks.races;
        Memory {
            total,
            used: 0,
            next: GLOBAL_BASE + u64::from(ordinal) * DEVICE_SPAN,
            shadowed,
            uninitialised: checks.uninitialised,
            live: BTreeMap::new(),
            freed: BTreeMap::new(),
        }
    }

    /// Bytes that are free, and bytes in all.
    pub fn info(&self) -> (u64, u64) {
        (self.total - self.used, self.total)
    }

    /// An allocation at an address of its own.
    pub fn alloc(&mut self, len: u64, writable: bool) -> Result<Arc<Allocation>, OutOfMemory> {
        let allocation = self.alloc_at(self.next, len, writable)?;
        // One granule stays free between neighbours, so that an end is never
        // another allocation's start.
        self.next += allocation.extent(false) + ALLOCATION_ALIGN;
        Ok(allocation)
    }

    /// An allocation at an address of the caller's, which nothing else lies at.
    pub fn alloc_at(
        &mut self,
        start: u64,
        len: u64,
        writable: bool,
    ) -> Result<Arc<Allocation>, OutOfMemory> {
        let free = self.total - self.used;
        let failure = OutOfMemory { wanted: len, free };
        let taken = granules(len).ok_or(failure)?;
        let end = start.checked_add(taken).ok_or(failure)?;
        let below = self.live.range(..end).next_back();
        if taken > free || below.is_some_and(|(_, a)| a.start + a.extent(false) > start) {
            return Err(failure);
        }
        let allocation = Allocation::new(start, len, writable, self.shadowed).ok_or(failure)?;
        let allocation = Arc::new(allocation);
        self.live.insert(start, Arc::clone(&allocation));
        self.used += taken;
        Ok(allocation)
    }

    /// Frees the allocation that begins at an address.
    pub fn free(&mut self, start: u64) -> Result<(), Fault> {
        let Some(allocation) = self.live.remove(&start) else {
            return Err(Fault::of_host(
                FaultKind::OutOfBounds,
                Some(start),
                format!(
                    "free of an address that no allocation begins at{}",
                    self.near(start)
                ),
            ));
        };
        self.used -= granules(allocation.len).unwrap_or(0);
        self.freed.insert(start, allocation.len);
        Ok(())
    }

    /// All allocations, by ascending address.
    pub fn live(&self) -> impl Iterator<Item = &Arc<Allocation>> {
        self.live.values()
    }

    /// A description of the surroundings of an address that belongs to nothing, as the end of a
    /// sentence.
    pub fn near(&self, address: u64) -> String {
        let before = |map: &BTreeMap<u64, u64>| {
            map.range(..=address)
                .next_back()
                .filter(|(start, len)| address - *start < **len)
                .map(|(start, len)| format!(" ({len} bytes at {start:#x} were freed)"))
        };
        if let Some(freed) = before(&self.freed) {
            return freed;
        }
        match self.live.range(..=address).next_back() {
            Some((start, allocation)) if address - start < allocation.len + (1 << 20) => format!(
                " ({} bytes past the end of the {}-byte allocation at {start:#x})",
                address - start - allocation.len.min(address - start),
                allocation.len
            ),
            _ => " (no allocation is near)".to_owned(),
        }
    }

    /// The allocation that holds a whole range, and the range's offset there.
    fn span(&self, address: u64, len: u64, what: &str) -> Result<(&Allocation, u64), Fault> {
        let allocation = self.live.range(..=address).next_back().map(|(_, a)| a);
        if let Some(allocation) = allocation {
            let offset = address - allocation.start;
            if offset <= allocation.len && len <= allocation.len - offset {
                return Ok((allocation, offset));
            }
        }
        let past = allocation.map_or(address, |allocation| {
            address.max(allocation.start + allocation.len)
        });
        Err(Fault::of_host(
            FaultKind::OutOfBounds,
            Some(address),
            format!("{what} of {len} bytes{}", self.near(past)),
        ))
    }

    /// Copies bytes to the host.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Fault> {
        let (allocation, offset) = self.span(address, bytes.len() as u64, "read")?;
        allocation.read(offset, bytes);
        Ok(())
    }

    /// Copies bytes from the host.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Fault> {
        let (allocation, offset) = self.span(address, bytes.len() as u64, "write")?;
        allocation.write(offset, bytes);
        Ok(())
    }

    /// Repeats a pattern over a range.
    pub fn fill(&self, address: u64, pattern: &[u8], len: u64) -> Result<(), Fault> {
        let (allocation, mut offset) = self.span(address, len, "fill")?;
        if pattern.is_empty() {
            return Ok(());
        }
        // A whole number of patterns per step, so that each step starts anew.
        let step = pattern.repeat((1_usize << 16).div_ceil(pattern.len()));
        let mut left = len;
        while left > 0 {
            let part = left.min(step.len() as u64);
            allocation.write(offset, &step[..part as usize]);
            offset += part;
            left -= part;
        }
        Ok(())
    }

    /// The first byte of a range that nothing has written; nothing where that is not watched.
    pub fn first_unwritten(&self, address: u64, len: u64) -> Result<Option<u64>, Fault> {
        let (allocation, offset) = self.span(address, len, "look")?;
        if allocation.shadow.is_empty() || !self.uninitialised {
            return Ok(None);
        }
        let found = pieces(offset, len as usize).find_map(|(at, part)| {
            let bits = ((1 << part.len()) - 1) << (at % 4);
            let missing = bits & !allocation.shadow(at)?.load(Relaxed);
            (missing != 0).then(|| at - at % 4 + u64::from(missing.trailing_zeros()))
        });
        Ok(found.map(|at| allocation.start + at))
    }

    /// Copies between ranges, which may overlap.
    pub fn copy(&self, to: u64, from: u64, len: u64) -> Result<(), Fault> {
        let (source, source_offset) = self.span(from, len, "copy")?;
        let (target, target_offset) = self.span(to, len, "copy")?;
        // Through a buffer: source and target may overlap.
        let mut bytes = vec![0; len as usize];
        source.read(source_offset, &mut bytes);
        let initialised = !source.shadow.is_empty();
        let undefined: Vec<usize> = if initialised {
            (0..bytes.len())
                .filter(|&i| {
                    let at = source_offset + i as u64;
                    source
                        .shadow(at)
                        .is_some_and(|shadow| shadow.load(Relaxed) >> (at % 4) & 1 == 0)
                })
                .collect()
        } else {
            Vec::new()
        };
        target.write(target_offset, &bytes);
        // A copy carries "nothing was written here" along.
        for i in undefined {
            let at = target_offset + i as u64;
            if let Some(shadow) = target.shadow(at) {
                shadow.fetch_and(!(1 << (at % 4)), Relaxed);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_written_at_any_offset_read_back() {
        let mut memory = Memory::new(1 << 20, Checks::ALL, 0);
        let start = memory.alloc(100, true).unwrap().start;
        for offset in 0..9 {
            for len in 0..20 {
                let bytes: Vec<u8> = (0..len).map(|i| (17 * i + offset) as u8).collect();
                memory.write(start + offset, &bytes).unwrap();
                let mut back = vec![0; len as usize];
                memory.read(start + offset, &mut back).unwrap();
                assert_eq!(back, bytes);
            }
        }
    }

    #[test]
    fn overlapping_copies_are_as_if_through_a_buffer() {
        let mut memory = Memory::new(1 << 20, Checks::ALL, 0);
        let start = memory.alloc(64, true).unwrap().start;
        let bytes: Vec<u8> = (0..64).collect();
        memory.write(start, &bytes).unwrap();
        memory.copy(start + 5, start + 1, 40).unwrap();
        let mut back = vec![0; 40];
        memory.read(start + 5, &mut back).unwrap();
        assert_eq!(back, bytes[1..41]);
    }

    #[test]
    fn patterns_fill_from_their_start() {
        let mut memory = Memory::new(1 << 20, Checks::NONE, 0);
        let start = memory.alloc(200_000, true).unwrap().start;
        memory.fill(start, &[1, 2, 3], 199_998).unwrap();
        let mut back = vec![0; 199_998];
        memory.read(start, &mut back).unwrap();
        assert!(
            back.iter()
                .enumerate()
                .all(|(i, &b)| b == 1 + (i % 3) as u8)
        );
    }

    #[test]
    fn ends_and_freed_addresses_are_known() {
        let mut memory = Memory::new(1 << 20, Checks::NONE, 0);
        let start = memory.alloc(10, true).unwrap().start;
        assert_eq!(start % ALLOCATION_ALIGN, 0);
        assert_eq!(memory.info(), ((1 << 20) - 256, 1 << 20));
        let fault = memory.write(start + 8, &[0; 4]).unwrap_err();
        assert_eq!(fault.kind, FaultKind::OutOfBounds);
        assert!(
            fault
                .to_string()
                .contains("0 bytes past the end of the 10-byte")
        );
        memory.free(start).unwrap();
        assert!(memory.free(start).is_err());
        let fault = memory.read(start, &mut [0; 1]).unwrap_err();
        assert!(fault.to_string().contains("were freed"));
        assert_eq!(memory.info(), (1 << 20, 1 << 20));
        assert!(memory.alloc((1 << 20) + 1, true).is_err());
        assert!(memory.alloc(u64::MAX, true).is_err());
    }

    #[test]
    fn devices_and_chosen_addresses_do_not_overlap() {
        let mut memories = [0, 1, 15].map(|ordinal| Memory::new(1 << 20, Checks::NONE, ordinal));
        let starts = memories
            .each_mut()
            .map(|m| m.alloc(100, true).unwrap().start);
        assert!(starts[0] < starts[1] && starts[1] < starts[2]);
        let memory = &mut memories[0];
        let chosen = 0x7000_0000_0000;
        memory.alloc_at(chosen, 512, true).unwrap();
        memory.write(chosen + 508, &[1; 4]).unwrap();
        for taken in [chosen - 256, chosen, chosen + 256] {
            assert!(memory.alloc_at(taken, 512, true).is_err());
        }
        memory.alloc_at(chosen + 512, 512, true).unwrap();
        memory.free(chosen).unwrap();
        memory.alloc_at(chosen - 256, 512, true).unwrap();
        assert!(memory.alloc_at(u64::MAX, 1, true).is_err());
        assert_eq!(memory.alloc(1, true).unwrap().start, starts[0] + 512);
    }
}
