//! Loads and stores of whole warps whose lanes go to neighbouring words of shared memory, or
//! load all from one place: straight between registers and memory, as most accesses are these.

use super::block::Block;
use super::frame::Frame;
use super::run::Worker;
use super::shared::Access;
use super::warp::Warp;
use crate::ir::{Address, Element, Op, Order, Reg};
use crate::memory::SHARED_WINDOW;
use crate::syntax::types::Space;

/// Where lanes go that have so many words each.
#[derive(Clone, Copy)]
enum Row {
    /// Each to where the one before it ends; from there on.
    Neighbours(u64),
    /// All to one place.
    One(u64),
}

macro_rules! row_of {
    ($base:expr, $offset:expr, $number:ty) => {{
        let (base, first) = ($base, $base[0]);
        let mut differs = 0;
        for lane in 0..32 {
            differs |= base[lane] ^ first.wrapping_add((4 * WORDS * lane) as $number);
        }
        let at = u64::from(first.wrapping_add($offset as $number));
        if differs == 0 {
            Some(Row::Neighbours(at))
        } else {
            base.iter().all(|&at| at == first).then_some(Row::One(at))
        }
    }};
}

impl Row {
    #[inline(always)]
    fn of<const WORDS: usize>(frame: &Frame, space: Space, address: &Address) -> Option<Row> {
        let row = match address.base {
            Reg::Word(base) => row_of!(&frame.words[base.0 as usize], address.offset, u32),
            Reg::Long(base) => row_of!(&frame.longs[base.0 as usize], address.offset, u64),
            Reg::Pred(_) => None,
        };
        if space == Space::Shared {
            return row;
        }
        // What lies in no place of shared memory behind its window is not in the window.
        Some(match row? {
            Row::Neighbours(at) => Row::Neighbours(at.checked_sub(SHARED_WINDOW)?),
            Row::One(at) => Row::One(at.checked_sub(SHARED_WINDOW)?),
        })
    }
}

/// Whether elements are as wide as the register.
fn fits(element: Element, reg: Reg) -> bool {
    match reg {
        Reg::Word(_) => element.bytes == 4,
        Reg::Long(_) => element.bytes == 8,
        Reg::Pred(_) => false,
    }
}

/// Puts the lanes' words into registers, side by side.
#[inline(always)]
fn put_words<const WORDS: usize>(
    frame: &mut Frame,
    d: &[Option<Reg>],
    held: impl Fn(usize) -> [u32; WORDS],
) {
    let mut word = 0;
    for d in d {
        match *d {
            Some(Reg::Word(d)) => {
                let d = &mut frame.words[d.0 as usize];
                for lane in 0..32 {
                    d[lane] = held(lane)[word % WORDS];
                }
                word += 1;
            }
            Some(Reg::Long(d)) => {
                let d = &mut frame.longs[d.0 as usize];
                for lane in 0..32 {
                    let [low, high] = [0, 1].map(|k| held(lane)[(word + k) % WORDS]);
                    d[lane] = u64::from(high) << 32 | u64::from(low);
                }
                word += 2;
            }
            _ => {}
        }
    }
}

/// Takes the lanes' words out of registers.
#[inline(always)]
fn take_words<const WORDS: usize>(frame: &Frame, a: &[Reg], held: &mut [[u32; WORDS]]) {
    let mut word = 0;
    for a in a {
        match *a {
            Reg::Word(a) => {
                for (held, &a) in held.iter_mut().zip(&frame.words[a.0 as usize]) {
                    held[word % WORDS] = a;
                }
                word += 1;
            }
            Reg::Long(a) => {
                for (held, &a) in held.iter_mut().zip(&frame.longs[a.0 as usize]) {
                    held[word % WORDS] = a as u32;
                    held[(word + 1) % WORDS] = (a >> 32) as u32;
                }
                word += 2;
            }
            Reg::Pred(_) => {}
        }
    }
}

impl Worker<'_> {
    /// Runs such an access of all lanes; false, and nothing done, where it is none.
    pub(super) fn shared_row(&mut self, warp: &mut Warp, frame: usize, op: &Op, line: u32) -> bool {
        let first = Access {
            thread: 32 * warp.index,
            bytes: 0xf,
            line,
            strong: false,
        };
        let frame = &mut warp.frames[frame];
        let words = match op {
            Op::Load {
                space: space @ (Space::Shared | Space::Generic),
                order: Order::Weak,
                element,
                d,
                address,
            } if d.iter().all(|d| d.is_some_and(|d| fits(*element, d))) => {
                let words = element.bytes as usize / 4 * d.len();
                let done = match words {
                    1 => self.load_row::<1>(frame, d, (*space, address), first),
                    2 => self.load_row::<2>(frame, d, (*space, address), first),
                    4 => self.load_row::<4>(frame, d, (*space, address), first),
                    _ => None,
                };
                done.map(|()| words)
            }
            Op::Store {
                space: space @ (Space::Shared | Space::Generic),
                order: Order::Weak,
                element,
                a,
                address,
            } if frame.undefined.lanes == 0 && a.iter().all(|&a| fits(*element, a)) => {
                let words = element.bytes as usize / 4 * a.len();
                let done = match words {
                    1 => self.store_row::<1>(frame, a, (*space, address), first),
                    2 => self.store_row::<2>(frame, a, (*space, address), first),
                    4 => self.store_row::<4>(frame, a, (*space, address), first),
                    _ => None,
                };
                if done.is_some() {
                    self.changed(warp);
                }
                done.map(|()| words)
            }
            _ => None,
        };
        let Some(words) = words else {
            return false;
        };
        if self.launch.count {
            // 8- and 16-byte accesses go by half and quarter warps, which meet no bank twice.
            let counts = &mut self.global.counts;
            counts.shared_wavefronts += words as u64;
            counts.shared_wavefronts_fewest += words as u64;
        }
        true
    }

    #[inline(always)]
    fn load_row<const WORDS: usize>(
        &mut self,
        frame: &mut Frame,
        d: &[Option<Reg>],
        (space, address): (Space, &Address),
        first: Access,
    ) -> Option<()> {
        let Block { shared, clocks, .. } = &mut *self.block;
        match Row::of::<WORDS>(frame, space, address)? {
            Row::Neighbours(at) => {
                let held = shared.read_row::<WORDS>(clocks, at, first)?;
                put_words(frame, d, |lane| held[lane]);
            }
            Row::One(at) => {
                let held = *shared.read_one::<WORDS>(clocks, at, first)?;
                put_words(frame, d, |_| held);
            }
        }
        Some(())
    }

    #[inline(always)]
    fn store_row<const WORDS: usize>(
        &mut self,
        frame: &Frame,
        a: &[Reg],
        (space, address): (Space, &Address),
        first: Access,
    ) -> Option<()> {
        let Block { shared, clocks, .. } = &mut *self.block;
        let Row::Neighbours(at) = Row::of::<WORDS>(frame, space, address)? else {
            return None;
        };
        take_words(frame, a, shared.write_row::<WORDS>(clocks, at, first)?);
        Some(())
    }
}
