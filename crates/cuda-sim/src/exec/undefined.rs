//! Values that nobody defined: read from memory or a register that nothing had written.
//! They may be copied and computed with, as compilers do with padding and with what a
//! selection drops, and what comes out is undefined too. A mistake is where one decides
//! something: whether an instruction runs, where an access goes, what other lanes see.
//!
//! A frame has a bit for each bit of its registers, which is one where nobody defined the
//! register's. While no lane has any, nothing here runs.
//!
//! Here is what is kept of a frame; [`follow`](super::follow) has the rules.

use super::mask::{FULL, hand_over_bytes, lanes_of, put, put_long};
use crate::ir::{Longs, Reg, Slot, Words};
use crate::syntax::types::Space;
use std::collections::HashMap;

/// The origin of an undefined value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Origin {
    /// A register of a function, by its place in `Function::undefined`.
    Register { function: u32, index: u32 },
    Loaded {
        space: Space,
        address: u64,
        line: u32,
    },
}

/// The origins of each lane's value.
pub(super) type Origins = [Option<Origin>; 32];

/// The bits of a frame that nothing defined.
#[derive(Default)]
pub(crate) struct Undefined {
    /// Lanes of which some register may have undefined bits; of all others all are zero.
    pub lanes: u32,
    pub words: Vec<Words>,
    pub longs: Vec<Longs>,
    /// For each word, the lanes in which it has undefined bits.
    words_lanes: Vec<u32>,
    /// For each long, the lanes in which it has undefined bits.
    longs_lanes: Vec<u32>,
    preds: Vec<u32>,
    /// Lanes whose carry flag is undefined.
    pub carry: u32,
    pub carry_origins: Origins,
    pub origins: HashMap<Reg, Origins>,
    /// The undefined bits of the parameter area; empty where all of it is defined.
    pub params: Vec<Words>,
}

impl Undefined {
    /// Forgets everything for another call.
    pub fn begin(&mut self) {
        self.forget(FULL);
        self.params.clear();
    }

    /// Forgets what is undefined in these lanes.
    pub fn forget(&mut self, lanes: u32) {
        if self.lanes & lanes == 0 {
            return;
        }
        self.lanes &= !lanes;
        self.carry &= !lanes;
        for (words, held) in self.words.iter_mut().zip(&mut self.words_lanes) {
            if *held & lanes != 0 {
                *held &= !lanes;
                put(words, &[0; 32], lanes);
            }
        }
        for (longs, held) in self.longs.iter_mut().zip(&mut self.longs_lanes) {
            if *held & lanes != 0 {
                *held &= !lanes;
                put_long(longs, &[0; 32], lanes);
            }
        }
        for pred in &mut self.preds {
            *pred &= !lanes;
        }
    }

    /// Notes a register that nothing has written, the `index`th such of its function.
    pub fn never_written(&mut self, reg: Reg, (function, index): (u32, u32), lanes: u32) {
        let origin = Some(Origin::Register { function, index });
        self.set(reg, &[u64::MAX; 32], &[origin; 32], lanes);
    }

    /// The undefined bits of a register; of a predicate, the lowest.
    pub fn of(&self, reg: Reg) -> Longs {
        match reg {
            Reg::Word(r) => {
                let words = self.words.get(r.0 as usize);
                words.map_or([0; 32], |words| words.map(u64::from))
            }
            Reg::Long(r) => self.longs.get(r.0 as usize).copied().unwrap_or([0; 32]),
            Reg::Pred(r) => {
                let bits = self.preds.get(r.0 as usize).copied().unwrap_or(0);
                std::array::from_fn(|lane| u64::from(bits >> lane & 1))
            }
        }
    }

    /// The lanes in which a register has undefined bits.
    pub fn lanes_of(&self, reg: Reg) -> u32 {
        let (file, r) = match reg {
            Reg::Word(r) => (&self.words_lanes, r.0),
            Reg::Long(r) => (&self.longs_lanes, r.0),
            Reg::Pred(r) => (&self.preds, r.0),
        };
        file.get(r as usize).copied().unwrap_or(0)
    }

    /// Notes the undefined bits of a register in the lanes of `mask`, and where they come from.
    pub fn set(&mut self, reg: Reg, bits: &Longs, origins: &Origins, mask: u32) {
        let lanes = some(bits) & mask;
        if lanes == 0 && self.lanes & mask == 0 {
            return;
        }
        self.lanes |= lanes;
        let (file, r) = match reg {
            Reg::Word(r) => {
                let words = room(&mut self.words, r.0, [0; 32]);
                put(words, &bits.map(|bits| bits as u32), mask);
                (&mut self.words_lanes, r.0)
            }
            Reg::Long(r) => {
                put_long(room(&mut self.longs, r.0, [0; 32]), bits, mask);
                (&mut self.longs_lanes, r.0)
            }
            Reg::Pred(r) => (&mut self.preds, r.0),
        };
        let held = room(file, r, 0);
        *held = *held & !mask | lanes;
        if lanes != 0 {
            let known = self.origins.entry(reg).or_insert([None; 32]);
            for lane in lanes_of(lanes) {
                known[lane] = origins[lane];
            }
        }
    }

    /// Notes what a load brought; `origin` is where each lane's first byte comes from.
    pub fn loaded(&mut self, reg: Reg, bits: &Longs, origin: impl Fn(usize, u32) -> Origin) {
        let origins = std::array::from_fn(|lane| {
            (bits[lane] != 0).then(|| origin(lane, bits[lane].trailing_zeros() / 8))
        });
        self.set(reg, bits, &origins, some(bits));
    }

    /// Follows an argument or a result from one frame to another.
    pub fn hand_over(
        &mut self,
        from: &Undefined,
        source: Slot,
        target: Slot,
        words: usize,
        mask: u32,
    ) {
        match (source, target) {
            (Slot::Register(a), Slot::Register(d)) => {
                let origins = from.origins.get(&a).copied().unwrap_or([None; 32]);
                self.set(d, &from.of(a), &origins, mask);
            }
            (Slot::Memory { offset, bytes }, Slot::Memory { offset: start, .. }) => {
                if from.params.is_empty() && self.params.is_empty() {
                    return;
                }
                self.params.resize(words, [0; 32]);
                let none = vec![[0; 32]; (offset + bytes).div_ceil(4) as usize];
                let from = if from.params.is_empty() {
                    &none
                } else {
                    &from.params
                };
                hand_over_bytes(from, offset, &mut self.params, start, bytes, mask);
            }
            _ => {}
        }
    }
}

/// The lanes with a bit.
pub(super) fn some(bits: &Longs) -> u32 {
    (0..32).fold(0, |lanes, lane| lanes | u32::from(bits[lane] != 0) << lane)
}

/// The place of a register in its file, which grows to have it.
fn room<T: Clone>(file: &mut Vec<T>, at: u32, zero: T) -> &mut T {
    let at = at as usize;
    if file.len() <= at {
        file.resize(at + 1, zero);
    }
    &mut file[at]
}
