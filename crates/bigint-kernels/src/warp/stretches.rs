//! A row of limbs in stretches, one or more for each warp, and the carries from one to the next.
//!
//! A stretch may begin inside a number. Its carry in is that out of the chunk below: one more chunk
//! is loaded, and not stored. Random limbs propagate one time in 2^32; where each lane of that chunk
//! propagates, the carry comes from further below.
//!
//! **Results of up to a tile** begin, or end, in the tile below: the warp then begins with that, and
//! stores nothing of it.
//!
//! **Wider results** take two launches, between which there is a word for each stretch. In the first
//! launch a stretch whose carry in is not known *holds back* the chunks at its begin all of whose
//! lanes propagate: it stores nothing of them. The chunk behind them sends up the same whatever
//! comes in, and is computed as if nothing did. In the second launch the stretch asks the words
//! below for the carry, 512 of them at a time, up to that of a stretch which does not hold back all
//! it has. What it held back is the same limb everywhere, and the chunk behind it is computed again
//! where a carry comes in. By hand, with `B` = 10 and stretches of two chunks of two limbs, limbs
//! from below:
//!
//! ```text
//! a + b    5 9  9 9 | 9 9  9 9 | 9 9  3 9 |       + 5 in the lowest limb
//! first    0 0  0 0 | . .  . . | . .  3 9 |       . is held back
//! word     out: 1   | passes   | out: 0   |
//! second            | 0 0  0 0 | 0 0  4 9 |
//! ```
//!
//! So all limbs are loaded once and stored once, whatever they are.

use super::LANES;
use super::lookahead::{LimbPlace, Step, carries};
use crate::gpu::flat::Row;
use crate::gpu::thread;
use crate::gpu::warp::Group;
use bigint_core::kernel::TILE;
use bigint_core::{Arguments, Limb};
use core::num::NonZero;

/// Of a stretch's word: the carry out, where that does not depend on the carry in.
const OUT: u32 = 1;

/// The carry out is the carry in: all chunks are held back.
const PASSES: u32 = 2;

/// Chunks are held back, and from here on the number of them.
const HOLDS: u32 = 4;

/// Times as many words as a warp has lanes that are asked at once.
const ASKED: usize = 16;

/// The operands of a row, whose lanes have one limb or more at a place.
pub trait Chunks: Copy {
    /// What a lane loads.
    type Digits: Copy;

    /// The lane's digits at `place`, or zeros where `at` is not below `end`.
    fn load(self, place: LimbPlace, at: u32, end: u32) -> Self::Digits;

    /// The words of lanes that generate and of lanes that propagate a carry within their numbers.
    fn votes(self, place: LimbPlace, digits: Self::Digits) -> (u64, u64);
}

/// The carry into a stretch.
#[derive(Clone, Copy)]
pub enum Into {
    Known(Limb),
    /// That out of the tile below, in which a number begins.
    FromTile,
    /// A second launch will find it.
    FromAfar,
}

/// Whether all lanes propagate.
#[inline(always)]
pub fn all(propagate: u64) -> bool {
    propagate == u64::from(u32::MAX)
}

/// A stretch of the row.
#[derive(Clone, Copy)]
pub struct Stretch<'a> {
    arguments: &'a Arguments,
    group: Group<LANES>,
    index: u64,
    /// Its first limb's place in the row.
    pub start: u64,
    /// Its limbs.
    pub limbs: u32,
    /// In the second launch the word that the first has left.
    word: u32,
}

impl<'a> Stretch<'a> {
    /// Calls `compute` with each stretch of the calling warp: in a first launch the one that it has,
    /// in a second those of its `scratch` words that hold chunks back.
    ///
    /// `arguments` and `group` are those of [`Batches`](super::Batches); a first launch of two has as
    /// many words as workers in `s`, a second the same in `scratch`, whose width is how many of them
    /// each warp has.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub fn each(
        arguments: &'a Arguments,
        group: Group<LANES>,
        width: NonZero<u32>,
        mut compute: impl FnMut(Self),
    ) {
        let row = arguments.count * u64::from(width.get());
        // As many tiles to a stretch, a power of two, as let the warps cover the row.
        let (mut stretch, mut covered) = (TILE, TILE * arguments.workers);
        while covered < row {
            stretch *= 2;
            covered *= 2;
        }
        let warp = thread::index_1d() / u64::from(LANES);
        let (mut which, mut first, mut word) = (1, warp, 0);
        let words = &arguments.scratch;
        if words.limbs != 0 {
            first = warp * words.width;
            let own = first + u64::from(group.lane());
            let is_there = group.lane() < words.width as u32 && own * stretch < row;
            // SAFETY: there is a word for each stretch of the row.
            word = unsafe { Row::new(words, own) }.first_below(0, u32::from(is_there));
            which = group.ballot(word >= HOLDS) as u32;
        }
        while which != 0 {
            let lane = which.trailing_zeros();
            which &= which - 1;
            let index = first + u64::from(lane);
            let start = index * stretch;
            if start < row {
                compute(Stretch {
                    arguments,
                    group,
                    index,
                    start,
                    limbs: (row - start).min(stretch) as u32,
                    word: group.shuffle(word, lane),
                });
            }
        }
    }

    /// In a second launch, how many chunks the first has held back, and the carry into them.
    #[inline(always)]
    pub fn held(self) -> Option<(u32, Limb)> {
        match self.word {
            0 => None,
            word => Some((word / HOLDS - 1, self.carry())),
        }
    }

    /// The carry out of the stretch below, by the words of the first launch.
    #[allow(unsafe_code)]
    #[inline(always)]
    fn carry(self) -> Limb {
        let Stretch { group, index, .. } = self;
        // SAFETY: as in `each`; none is asked for but those of stretches below.
        let words = unsafe { Row::new(&self.arguments.scratch, 0) };
        let mut below = index as u32;
        while below > 0 {
            let mut asked = [0; ASKED];
            for (i, word) in asked.iter_mut().enumerate() {
                let back = group.lane() + LANES * i as u32;
                let at = below.wrapping_sub(back + 1);
                *word = words.up(at).first_below(back, below);
            }
            for i in 0..ASKED {
                let ends = group.ballot(asked[i] & PASSES == 0) as u32;
                if ends != 0 {
                    let outs = group.ballot(asked[i] & OUT != 0) as u32;
                    return outs >> ends.trailing_zeros() & 1;
                }
            }
            below = below.saturating_sub(LANES * ASKED as u32);
        }
        0
    }

    /// What comes into the stretch, which begins inside a number with the chunk at `place`.
    #[inline(always)]
    pub fn into(self, step: Step, place: LimbPlace, operands: impl Chunks) -> Into {
        let place = step.down(place);
        let (generate, propagate) = operands.votes(place, operands.load(place, 0, 1));
        // A vote is the same in every lane, so the warp stays together.
        match all(propagate) {
            false => Into::Known((carries(generate, propagate, 0) >> LANES) as Limb),
            true if self.arguments.s.limbs == 0 => Into::FromTile,
            true => Into::FromAfar,
        }
    }

    /// Leaves the word for a second launch, if there will be one: how many chunks are held back, and
    /// one more, or 0 where the carry in was known; whether those are all; and the carry out.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub fn leave(self, held: u32, is_all: bool, carry: Limb) {
        if self.arguments.s.limbs != 0 {
            let word = held * HOLDS | if is_all { PASSES } else { carry * OUT };
            // SAFETY: as in `each`; the word is the calling warp's, and one lane sets it.
            let own = unsafe { Row::new(&self.arguments.s, self.index) };
            own.set(self.group.lane(), 1, word);
        }
    }
}
