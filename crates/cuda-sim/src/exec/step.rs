//! Instructions that concern each lane alone and touch no memory.

use super::frame::Frame;
use super::mask::{put, put_long};
use super::mistake::{Mistake, Step};
use crate::check::FaultKind;
use crate::ir::{Cond, Op, Outcome, Reg, Words};
use crate::memory::{
    LOCAL_WINDOW, PARAM_WINDOW, RANK_SHIFT, SHARED_WINDOW, WINDOW_BYTES, in_window,
};
use crate::syntax::types::Space;

impl Frame {
    /// The lanes where a predicate operand holds.
    #[inline(always)]
    pub(super) fn holds(&self, cond: Cond) -> u32 {
        let bits = self.preds[cond.p.0 as usize];
        if cond.negated { !bits } else { bits }
    }

    /// Writes a predicate in the lanes of `mask`.
    #[inline(always)]
    fn put_pred(&mut self, p: usize, bits: u32, mask: u32) {
        let pred = &mut self.preds[p];
        *pred = *pred & !mask | bits & mask;
    }

    /// Writes the outcome of a test.
    fn put_outcome(&mut self, outcome: &Outcome, bits: u32, mask: u32) {
        let (mut p, mut q) = (bits, !bits);
        if let Some((combine, with)) = outcome.with {
            let with = self.holds(with);
            (p, q) = (combine(p, with), combine(q, with));
        }
        if let Some(d) = outcome.p {
            self.put_pred(d.0 as usize, p, mask);
        }
        if let Some(d) = outcome.q {
            self.put_pred(d.0 as usize, q, mask);
        }
    }

    /// The carry flags to read: those of the frame, or zeros.
    #[inline(always)]
    fn flags(&self, reads: bool, mask: u32, check: bool) -> Step<Words> {
        if !reads {
            return Ok([0; 32]);
        }
        if check && self.carry_set & mask != mask {
            let lane = (mask & !self.carry_set).trailing_zeros();
            return Err(Mistake::new(
                FaultKind::CarryNotSet,
                lane,
                "no instruction of the function has set it before",
            ));
        }
        Ok(self.carry)
    }

    /// Writes the carry flags, where the operation sets them.
    #[inline(always)]
    fn set_flags(&mut self, sets: bool, flags: &Words, mask: u32) {
        if sets {
            put(&mut self.carry, flags, mask);
            self.carry_set |= mask;
        }
    }

    /// Runs an instruction on the lanes of `mask`; whether it was one of these.
    #[inline(always)]
    pub(super) fn step(&mut self, op: &Op, mask: u32, check_carry: bool) -> Step<bool> {
        macro_rules! w {
            ($r:expr) => {
                self.words[$r.0 as usize]
            };
        }
        macro_rules! l {
            ($r:expr) => {
                self.longs[$r.0 as usize]
            };
        }
        macro_rules! to_word {
            ($d:expr, $value:expr) => {{
                let value = $value;
                put(&mut w!($d), &value, mask);
            }};
        }
        macro_rules! to_long {
            ($d:expr, $value:expr) => {{
                let value = $value;
                put_long(&mut l!($d), &value, mask);
            }};
        }
        match op {
            Op::W1(f, d, a) => to_word!(d, f(&w!(a))),
            Op::W2(f, d, a, b) => to_word!(d, f(&w!(a), &w!(b))),
            Op::W3(f, d, a, b, c) => to_word!(d, f(&w!(a), &w!(b), &w!(c))),
            Op::W4(f, d, a, b, c, e) => to_word!(d, f(&w!(a), &w!(b), &w!(c), &w!(e))),
            Op::L1(f, d, a) => to_long!(d, f(&l!(a))),
            Op::L2(f, d, a, b) => to_long!(d, f(&l!(a), &l!(b))),
            Op::L3(f, d, a, b, c) => to_long!(d, f(&l!(a), &l!(b), &l!(c))),
            Op::Widen1(f, d, a) => to_long!(d, f(&w!(a))),
            Op::Widen2(f, d, a, b) => to_long!(d, f(&w!(a), &w!(b))),
            Op::Widen3(f, d, a, b, c) => to_long!(d, f(&w!(a), &w!(b), &l!(c))),
            Op::Narrow1(f, d, a) => to_word!(d, f(&l!(a))),
            Op::Shift2(f, d, a, b) => to_long!(d, f(&l!(a), &w!(b))),
            Op::Field3(f, d, a, b, c) => to_long!(d, f(&l!(a), &w!(b), &w!(c))),
            Op::Field4(f, d, a, b, c, e) => to_long!(d, f(&l!(a), &l!(b), &w!(c), &w!(e))),
            Op::Choose3(f, d, a, b, c) => to_long!(d, f(&l!(a), &l!(b), &w!(c))),
            Op::Lop3(table, d, a, b, c) => to_word!(d, lop3(*table, &w!(a), &w!(b), &w!(c))),
            Op::Carry2(f, d, a, b, reads, sets) => {
                let mut flags = self.flags(*reads, mask, check_carry)?;
                to_word!(d, f(&w!(a), &w!(b), &mut flags));
                self.set_flags(*sets, &flags, mask);
            }
            Op::Carry3(f, d, a, b, c, reads, sets) => {
                let mut flags = self.flags(*reads, mask, check_carry)?;
                to_word!(d, f(&w!(a), &w!(b), &w!(c), &mut flags));
                self.set_flags(*sets, &flags, mask);
            }
            Op::LongCarry2(f, d, a, b, reads, sets) => {
                let mut flags = self.flags(*reads, mask, check_carry)?;
                to_long!(d, f(&l!(a), &l!(b), &mut flags));
                self.set_flags(*sets, &flags, mask);
            }
            Op::LongCarry3(f, d, a, b, c, reads, sets) => {
                let mut flags = self.flags(*reads, mask, check_carry)?;
                to_long!(d, f(&l!(a), &l!(b), &l!(c), &mut flags));
                self.set_flags(*sets, &flags, mask);
            }
            Op::MovW(d, a) => to_word!(d, w!(a)),
            Op::MovL(d, a) => to_long!(d, l!(a)),
            Op::MovP(d, a) => self.put_pred(d.0 as usize, self.holds(*a), mask),
            Op::Pack(d, lo, hi) => {
                let (lo, hi) = (&w!(lo), &w!(hi));
                let mut out = [0; 32];
                for i in 0..32 {
                    out[i] = u64::from(hi[i]) << 32 | u64::from(lo[i]);
                }
                put_long(&mut l!(d), &out, mask);
            }
            Op::Unpack(lo, hi, a) => {
                let long = l!(a);
                if let Some(lo) = lo {
                    put(&mut w!(lo), &long.map(|x| x as u32), mask);
                }
                if let Some(hi) = hi {
                    put(&mut w!(hi), &long.map(|x| (x >> 32) as u32), mask);
                }
            }
            _ => return self.step_of_predicates(op, mask),
        }
        Ok(true)
    }

    /// The same for tests, selections and what is left.
    #[inline(always)]
    fn step_of_predicates(&mut self, op: &Op, mask: u32) -> Step<bool> {
        match op {
            Op::Select(d, a, b, c) => {
                let holds = self.holds(*c);
                let mut value = self.words[b.0 as usize];
                put(&mut value, &self.words[a.0 as usize], holds);
                put(&mut self.words[d.0 as usize], &value, mask);
            }
            Op::LongSelect(d, a, b, c) => {
                let holds = self.holds(*c);
                let mut value = self.longs[b.0 as usize];
                put_long(&mut value, &self.longs[a.0 as usize], holds);
                put_long(&mut self.longs[d.0 as usize], &value, mask);
            }
            Op::Test(f, a, b, outcome) => {
                let bits = f(&self.words[a.0 as usize], &self.words[b.0 as usize]);
                self.put_outcome(outcome, bits, mask);
            }
            Op::LongTest(f, a, b, outcome) => {
                let bits = f(&self.longs[a.0 as usize], &self.longs[b.0 as usize]);
                self.put_outcome(outcome, bits, mask);
            }
            Op::Logic(f, d, a, b) => {
                let bits = f(self.holds(*a), self.holds(*b));
                self.put_pred(d.0 as usize, bits, mask);
            }
            Op::IsSpace(d, a, space) => {
                let mut bits = 0;
                for (i, &address) in self.longs[a.0 as usize].iter().enumerate() {
                    bits |= u32::from(is_in(*space, address)) << i;
                }
                self.put_pred(d.0 as usize, bits, mask);
            }
            Op::ActiveMask(d) => put(&mut self.words[d.0 as usize], &[mask; 32], mask),
            Op::Clock(d) => {
                // Time stands for nothing here, but it passes.
                self.ticks += 1;
                match d {
                    Reg::Word(d) => put(
                        &mut self.words[d.0 as usize],
                        &[self.ticks as u32; 32],
                        mask,
                    ),
                    Reg::Long(d) => {
                        put_long(&mut self.longs[d.0 as usize], &[self.ticks; 32], mask)
                    }
                    Reg::Pred(_) => {}
                }
            }
            Op::Fence => {}
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The logical function of three operands with this table.
fn lop3(table: u8, a: &Words, b: &Words, c: &Words) -> Words {
    let mut out = [0; 32];
    // One term per entry of the table that is one.
    for entry in (0..8).filter(|entry| table >> entry & 1 != 0) {
        let flip = |bit: u32| {
            if entry >> bit & 1 != 0 { 0 } else { u32::MAX }
        };
        let (fa, fb, fc) = (flip(2), flip(1), flip(0));
        for i in 0..32 {
            out[i] |= (a[i] ^ fa) & (b[i] ^ fb) & (c[i] ^ fc);
        }
    }
    out
}

/// Whether a generic address lies in a space.
fn is_in(space: Space, address: u64) -> bool {
    match space {
        Space::Shared => address.wrapping_sub(SHARED_WINDOW) >> RANK_SHIFT == 0,
        Space::Cluster => in_window(address, SHARED_WINDOW),
        Space::Local => in_window(address, LOCAL_WINDOW),
        Space::Param => in_window(address, PARAM_WINDOW),
        _ => address.wrapping_sub(SHARED_WINDOW) >= 4 * WINDOW_BYTES.max(SHARED_WINDOW),
    }
}
