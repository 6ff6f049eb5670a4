//! Loads and stores of whole warps whose lanes go to shared memory by a [`Stride`]: straight
//! between registers and memory, as most accesses are these.

use super::block::Block;
use super::frame::Frame;
use super::mistake::Step;
use super::races::Access;
use super::run::Worker;
use super::stride::Stride;
use super::warp::Warp;
use crate::ir::{Address, Element, Op, Order, Reg};
use crate::syntax::types::Space;

/// Whether elements are as wide as the register.
fn fits(element: Element, reg: Reg) -> bool {
    match reg {
        Reg::Word(_) => element.bytes == 4,
        Reg::Long(_) => element.bytes == 8,
        Reg::Pred(_) => false,
    }
}

/// Words of memory, by lanes.
type Held<const WORDS: usize> = [[u32; WORDS]; 32];

// Of slices, and not inlined: compilers make vector instructions of loops whose length they do
// not know, over slices that do not overlap.

/// Fills a register with one word of each lane.
#[inline(never)]
fn load_words<const WORDS: usize, const FIRST: usize>(d: &mut [u32], held: &[[u32; WORDS]]) {
    for (d, held) in d.iter_mut().zip(held) {
        *d = held[FIRST % WORDS];
    }
}

/// Fills a long register with two words of each lane.
#[inline(never)]
fn load_longs<const WORDS: usize, const FIRST: usize>(d: &mut [u64], held: &[[u32; WORDS]]) {
    for (d, held) in d.iter_mut().zip(held) {
        let [low, high] = [held[FIRST % WORDS], held[(FIRST + 1) % WORDS]];
        *d = u64::from(high) << 32 | u64::from(low);
    }
}

/// Writes a register to one word of each lane.
#[inline(never)]
fn store_words<const WORDS: usize, const FIRST: usize>(a: &[u32], held: &mut [[u32; WORDS]]) {
    for (a, held) in a.iter().zip(held) {
        held[FIRST % WORDS] = *a;
    }
}

/// Writes a long register to two words of each lane.
#[inline(never)]
fn store_longs<const WORDS: usize, const FIRST: usize>(a: &[u64], held: &mut [[u32; WORDS]]) {
    for (a, held) in a.iter().zip(held) {
        held[FIRST % WORDS] = *a as u32;
        held[(FIRST + 1) % WORDS] = (*a >> 32) as u32;
    }
}

/// Puts the lanes' words into registers.
#[inline(always)]
fn put_words<const WORDS: usize>(frame: &mut Frame, d: &[Option<Reg>], held: &Held<WORDS>) {
    let mut first = 0;
    for d in d {
        match *d {
            Some(Reg::Word(d)) => {
                let d = &mut frame.words[d.0 as usize];
                match first {
                    0 => load_words::<WORDS, 0>(d, held),
                    1 => load_words::<WORDS, 1>(d, held),
                    2 => load_words::<WORDS, 2>(d, held),
                    _ => load_words::<WORDS, 3>(d, held),
                }
                first += 1;
            }
            Some(Reg::Long(d)) => {
                let d = &mut frame.longs[d.0 as usize];
                match first {
                    0 => load_longs::<WORDS, 0>(d, held),
                    _ => load_longs::<WORDS, 2>(d, held),
                }
                first += 2;
            }
            _ => {}
        }
    }
}

/// Takes the lanes' words out of registers.
#[inline(always)]
fn take_words<const WORDS: usize>(frame: &Frame, a: &[Reg], held: &mut Held<WORDS>) {
    let mut first = 0;
    for a in a {
        match *a {
            Reg::Word(a) => {
                let a = &frame.words[a.0 as usize];
                match first {
                    0 => store_words::<WORDS, 0>(a, held),
                    1 => store_words::<WORDS, 1>(a, held),
                    2 => store_words::<WORDS, 2>(a, held),
                    _ => store_words::<WORDS, 3>(a, held),
                }
                first += 1;
            }
            Reg::Long(a) => {
                let a = &frame.longs[a.0 as usize];
                match first {
                    0 => store_longs::<WORDS, 0>(a, held),
                    _ => store_longs::<WORDS, 2>(a, held),
                }
                first += 2;
            }
            Reg::Pred(_) => {}
        }
    }
}

/// The words of lanes that lie `step` apart.
#[inline(never)]
fn gather<const WORDS: usize>(all: &[u32], step: usize) -> Held<WORDS> {
    let mut held = [[0; WORDS]; 32];
    let mut at = 0_usize;
    for held in &mut held {
        for k in 0..WORDS {
            held[k] = all[at.wrapping_add(k)];
        }
        at = at.wrapping_add(step);
    }
    held
}

/// Writes the words of lanes `step` apart.
#[inline(never)]
fn scatter<const WORDS: usize>(held: &Held<WORDS>, all: &mut [u32], step: usize) {
    let mut at = 0_usize;
    for held in held {
        for k in 0..WORDS {
            all[at.wrapping_add(k)] = held[k];
        }
        at = at.wrapping_add(step);
    }
}

impl Worker<'_> {
    /// Runs such an access of all lanes; nothing, and nothing done, where it is none.
    pub(super) fn shared_by_stride(
        &mut self,
        warp: &mut Warp,
        frame: usize,
        op: &Op,
        line: u32,
    ) -> Step<bool> {
        let first = Access {
            thread: 32 * warp.index,
            bytes: 0xf,
            line,
            strong: false,
        };
        let frame = &mut warp.frames[frame];
        let passes = match op {
            Op::Load {
                space: space @ (Space::Shared | Space::Generic),
                order: Order::Weak,
                element,
                d,
                address,
            } if d.iter().all(|d| d.is_some_and(|d| fits(*element, d))) => {
                let to = (*space, address);
                match element.bytes as usize / 4 * d.len() {
                    1 => self.load_by_stride::<1>(frame, d, to, first)?,
                    2 => self.load_by_stride::<2>(frame, d, to, first)?,
                    4 => self.load_by_stride::<4>(frame, d, to, first)?,
                    _ => None,
                }
            }
            Op::Store {
                space: space @ (Space::Shared | Space::Generic),
                order: Order::Weak,
                element,
                a,
                address,
            } if frame.undefined.lanes == 0 && a.iter().all(|&a| fits(*element, a)) => {
                let to = (*space, address);
                let passes = match element.bytes as usize / 4 * a.len() {
                    1 => self.store_by_stride::<1>(frame, a, to, first),
                    2 => self.store_by_stride::<2>(frame, a, to, first),
                    4 => self.store_by_stride::<4>(frame, a, to, first),
                    _ => None,
                };
                if passes.is_some() {
                    self.changed(warp);
                }
                passes
            }
            _ => None,
        };
        let Some((passes, fewest)) = passes else {
            return Ok(false);
        };
        if self.launch.count {
            let counts = &mut self.global.counts;
            counts.shared_wavefronts += passes;
            counts.shared_wavefronts_fewest += fewest;
        }
        Ok(true)
    }

    /// Loads so many words for each lane; answers the passes of banks, and the fewest possible.
    #[inline(always)]
    fn load_by_stride<const WORDS: usize>(
        &mut self,
        frame: &mut Frame,
        d: &[Option<Reg>],
        (space, address): (Space, &Address),
        first: Access,
    ) -> Step<Option<(u64, u64)>> {
        let Some(stride) = Stride::<WORDS>::of(frame, space, address) else {
            return Ok(None);
        };
        let Block { shared, clocks, .. } = &mut *self.block;
        let Some(held) = shared.read_by_stride(clocks, &stride, first)? else {
            return Ok(None);
        };
        match held.as_chunks().0.first_chunk() {
            Some(held) if stride.is_dense() => put_words::<WORDS>(frame, d, held),
            _ => match held.first_chunk() {
                Some(one) if stride.step == 0 => put_words::<WORDS>(frame, d, &[*one; 32]),
                _ => put_words::<WORDS>(frame, d, &gather(held, stride.in_words().1)),
            },
        }
        Ok(Some((stride.passes(), WORDS as u64)))
    }

    /// The same of stores.
    #[inline(always)]
    fn store_by_stride<const WORDS: usize>(
        &mut self,
        frame: &Frame,
        a: &[Reg],
        (space, address): (Space, &Address),
        first: Access,
    ) -> Option<(u64, u64)> {
        let stride = Stride::<WORDS>::of(frame, space, address)?;
        let Block { shared, clocks, .. } = &mut *self.block;
        let held = shared.write_by_stride(clocks, &stride, first)?;
        if stride.is_dense()
            && let Some(held) = held.as_chunks_mut().0.first_chunk_mut()
        {
            take_words::<WORDS>(frame, a, held);
        } else {
            let mut words = [[0; WORDS]; 32];
            take_words(frame, a, &mut words);
            scatter(&words, held, stride.in_words().1);
        }
        Some((stride.passes(), WORDS as u64))
    }
}
