//! Following undefined bits through instructions, and finding those that decide something.
//!
//! Which bits of a result are undefined is exact for moves, selections, shifts, permutations
//! and bitwise logic ([`Flow`]); of any other operation with an undefined bit all are.

use super::frame::Frame;
use super::mask::{FULL, lanes_of};
use super::mistake::{Mistake, Step};
use super::undefined::{Origin, Origins, some};
use crate::check::FaultKind;
use crate::ir::{Callee, Flow, Function, Inst, Longs, Op, Reg, Registers, WarpOp};
use crate::memory::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, in_window};
use crate::syntax::types::Space;

/// Which of the registers that an operation reads, by their order, decide something, and
/// what: of all others the value is only passed on.
fn decides(op: &Op) -> (u64, &'static str) {
    const ALL: u64 = u64::MAX;
    match op {
        Op::Load { .. } | Op::Store { .. } | Op::Rows(_) => (1, "it is an address here"),
        Op::Copy(_) => (ALL, "it is an address or a size here"),
        Op::Atomic { .. } | Op::Exchange { .. } => (ALL, "an atomic operation uses it"),
        Op::BranchTable(..) => (ALL, "it chooses a jump's target"),
        Op::Call(call) if matches!(call.callee, Callee::Pointer(_)) => (1, "it is called"),
        // The members of the warp come first.
        Op::Warp(WarpOp::Shuffle { .. }, _) => (!2, "it chooses a lane"),
        Op::Warp(WarpOp::Matrix(_), _) => (1, "it chooses lanes"),
        Op::Warp(..) => (ALL, "other lanes see what comes of it"),
        Op::Barrier { .. } => (ALL, "a barrier uses it"),
        Op::System(_) => (ALL, "it is printed"),
        _ => (0, ""),
    }
}

impl Frame {
    /// Forgets what is undefined in these lanes, where none of the registers in `live` is.
    pub(super) fn settle(&mut self, live: &[Reg], mask: u32) {
        let undefined = &self.undefined;
        let reached = |lanes: u32, &reg: &Reg| lanes | undefined.lanes_of(reg);
        let lanes = live.iter().fold(undefined.carry, reached) & mask;
        self.undefined.forget(mask & !lanes);
    }

    /// Finds undefined values that decide what an instruction does: whether it runs in the
    /// lanes of `mask`, and where it goes in those of `active`.
    pub(super) fn check_defined(
        &self,
        (inst, uses): (&Inst, &Registers),
        (mask, active): (u32, u32),
        functions: &[Function],
    ) -> Step {
        if let Some(guard) = inst.guard {
            let what = if matches!(inst.op, Op::Branch(_)) {
                "it decides a branch"
            } else {
                "it decides whether the instruction runs"
            };
            self.check_register(Reg::Pred(guard.p), mask, what, functions)?;
        }
        let (reads, what) = decides(&inst.op);
        if reads == 0 {
            return Ok(());
        }
        for (i, &reg) in uses.reads.iter().enumerate() {
            if reads >> i.min(63) & 1 != 0 {
                self.check_register(reg, active, what, functions)?;
            }
        }
        Ok(())
    }

    /// An error if a register is undefined in one of these lanes; `what` says what it decides.
    fn check_register(&self, reg: Reg, mask: u32, what: &str, functions: &[Function]) -> Step {
        let lanes = self.undefined.lanes_of(reg) & mask;
        if lanes == 0 {
            return Ok(());
        }
        let lane = lanes.trailing_zeros();
        let origins = self.undefined.origins.get(&reg);
        let origin = origins.and_then(|origins| origins[lane as usize & 31]);
        Err(match origin {
            Some(Origin::Loaded {
                space,
                address,
                line,
            }) => {
                let (space, address) = place(space, address);
                let name = space.name();
                Mistake::at(
                    FaultKind::UninitialisedMemory,
                    lane,
                    address,
                    format!("{what}, and was loaded from {name} memory"),
                )
                .after(line)
            }
            Some(Origin::Register { function, index }) => {
                let names = &functions[function as usize].undefined_names;
                let name = names.get(index as usize).map_or("", String::as_str);
                Mistake::new(
                    FaultKind::UninitialisedRegister,
                    lane,
                    format!("{what}, and comes from `{name}`"),
                )
            }
            None => Mistake::new(FaultKind::UninitialisedRegister, lane, what),
        })
    }

    /// Follows undefined bits through an instruction of single lanes that is about to run.
    /// The registers that a load writes count as defined until the load says otherwise.
    pub(super) fn follow(&mut self, inst: &Inst, uses: &Registers, active: u32) {
        let (sources, targets) = (&uses.reads, &uses.writes);
        let (reads_carry, sets_carry) = match inst.op {
            Op::Carry2(.., reads, sets)
            | Op::Carry3(.., reads, sets)
            | Op::LongCarry2(.., reads, sets)
            | Op::LongCarry3(.., reads, sets) => (reads, sets),
            _ => (false, false),
        };
        let undefined = &self.undefined;
        let reached = |lanes: u32, &reg: &Reg| lanes | undefined.lanes_of(reg);
        // An undefined flag may stand for long between instructions that know nothing of it.
        let carry = if reads_carry || sets_carry {
            undefined.carry
        } else {
            0
        };
        if sources.iter().chain(targets).fold(carry, reached) & active == 0 {
            return;
        }
        let flows = match inst.op {
            Op::Load { .. }
            | Op::LoadParam { .. }
            | Op::Store { .. }
            | Op::StoreParam { .. }
            | Op::Atomic { .. }
            | Op::Exchange { .. }
            | Op::Rows(_)
            | Op::Copy(_)
            | Op::System(_)
            | Op::Call(_)
            | Op::Barrier { .. } => None,
            _ => Some(inst.flow),
        };
        let bits: Vec<Longs> = sources.iter().map(|&r| self.undefined.of(r)).collect();
        let carried = if reads_carry { self.undefined.carry } else { 0 };
        let any = bits.iter().fold(carried, |lanes, bits| lanes | some(bits)) & active;
        let results: Vec<Longs> = match flows {
            None => vec![[0; 32]; targets.len()],
            Some(_) if any == 0 => vec![[0; 32]; targets.len()],
            Some(Flow::Whole) => vec![whole(any); targets.len()],
            Some(Flow::Bitwise) => self.bitwise(&inst.op, (sources, &bits), targets),
            Some(Flow::Moves(data)) => self.moves(&inst.op, (sources, &bits, data), targets),
        };
        let mut origins = match any {
            0 => [None; 32],
            _ => self.origins_of(sources, &bits),
        };
        for lane in lanes_of(carried) {
            origins[lane] = origins[lane].or(self.undefined.carry_origins[lane]);
        }
        if sets_carry {
            let undefined = &mut self.undefined;
            undefined.carry = undefined.carry & !active | any;
            for lane in lanes_of(any) {
                undefined.carry_origins[lane] = origins[lane];
            }
        }
        for (reg, bits) in targets.iter().zip(&results) {
            self.undefined.set(*reg, bits, &origins, active);
        }
        self.undefined.lanes |= self.undefined.carry;
    }

    /// For each lane, the origin of its first undefined value.
    fn origins_of(&self, sources: &[Reg], bits: &[Longs]) -> Origins {
        std::array::from_fn(|lane| {
            let mut sources = sources.iter().zip(bits).filter(|(_, bits)| bits[lane] != 0);
            sources.find_map(|(reg, _)| self.undefined.origins.get(reg)?[lane])
        })
    }

    /// Follows undefined bits through a shuffle or a product of matrices that is about to
    /// be done by `run`, of the lanes in `here`.
    pub(super) fn follow_warp(&mut self, op: &WarpOp, here: u32, run: impl FnOnce(&mut Frame)) {
        let uses = Registers::of(&Op::Warp(op.clone(), crate::ir::W(0)));
        let (sources, targets) = (&uses.reads, &uses.writes);
        let bits: Vec<Longs> = sources.iter().map(|&r| self.undefined.of(r)).collect();
        let mut results = vec![[0; 32]; targets.len()];
        let mut origins = self.origins_of(sources, &bits);
        match op {
            WarpOp::Shuffle { d, a, .. } => {
                // The bits go where the values go.
                let (target, source) = (Reg::Word(*d), Reg::Word(*a));
                let saved = [target, source].map(|reg| (reg, self.raw(reg)));
                let lost = targets.iter().find_map(|&reg| match reg {
                    Reg::Pred(_) => Some((reg, self.raw(reg))),
                    _ => None,
                });
                self.put_raw(source, &self.undefined.of(source));
                run(self);
                results[0] = self.raw(target);
                for (reg, value) in saved.into_iter().chain(lost) {
                    self.put_raw(reg, &value);
                }
                let first = origins.iter().flatten().next().copied();
                origins = origins.map(|origin| origin.or(first));
            }
            WarpOp::Matrix(_) if bits.iter().any(|bits| some(bits) & here != 0) => {
                results.fill([u64::MAX; 32]);
                let first = origins.iter().flatten().next().copied();
                origins = [first; 32];
            }
            _ => {}
        }
        for (reg, bits) in targets.iter().zip(&results) {
            self.undefined.set(*reg, bits, &origins, here);
        }
    }

    /// The bits that vary with the undefined ones, of an operation on each bit by itself.
    fn bitwise(
        &mut self,
        op: &Op,
        (sources, bits): (&[Reg], &[Longs]),
        targets: &[Reg],
    ) -> Vec<Longs> {
        let mut varied: Vec<(Reg, Longs)> = Vec::new();
        for (&reg, bits) in sources.iter().zip(bits) {
            if some(bits) != 0 && varied.iter().all(|(other, _)| *other != reg) {
                varied.push((reg, *bits));
            }
        }
        let first = self.evaluate(op, &[], targets);
        let mut differs = vec![[0; 32]; targets.len()];
        for chosen in 1..1usize << varied.len() {
            let flips: Vec<(Reg, Longs)> = varied
                .iter()
                .enumerate()
                .filter(|(i, _)| chosen >> i & 1 != 0)
                .map(|(_, flip)| *flip)
                .collect();
            let values = self.evaluate(op, &flips, targets);
            for (differs, (value, first)) in differs.iter_mut().zip(values.iter().zip(&first)) {
                for lane in 0..32 {
                    differs[lane] |= value[lane] ^ first[lane];
                }
            }
        }
        differs
    }

    /// The bits that an operation copies from undefined ones; all, where an operand that says
    /// from where is undefined. `data` has a bit for each operand of which bits are copied.
    fn moves(
        &mut self,
        op: &Op,
        (sources, bits, data): (&[Reg], &[Longs], u8),
        targets: &[Reg],
    ) -> Vec<Longs> {
        let mut flips: Vec<(Reg, Longs)> = Vec::new();
        let mut lost = 0;
        for (i, (&reg, bits)) in sources.iter().zip(bits).enumerate() {
            if data >> i & 1 == 0 {
                lost |= some(bits);
            } else if flips.iter().all(|(other, _)| *other != reg) {
                flips.push((reg, *bits));
            }
        }
        let before = self.evaluate(op, &[], targets);
        let after = self.evaluate(op, &flips, targets);
        let lost = whole(lost);
        let differ = |(a, b): (Longs, Longs)| std::array::from_fn(|i| a[i] ^ b[i] | lost[i]);
        before.into_iter().zip(after).map(differ).collect()
    }

    /// The result of an operation with some bits of its registers inverted. The registers keep their values.
    fn evaluate(&mut self, op: &Op, flips: &[(Reg, Longs)], targets: &[Reg]) -> Vec<Longs> {
        let touched = flips.iter().map(|(reg, _)| reg).chain(targets);
        let saved: Vec<(Reg, Longs)> = touched.map(|&reg| (reg, self.raw(reg))).collect();
        for (reg, flip) in flips {
            let value = self.raw(*reg);
            self.put_raw(*reg, &std::array::from_fn(|lane| value[lane] ^ flip[lane]));
        }
        // Without the check of carries nothing fails.
        let done = self.step(op, FULL, false);
        debug_assert!(done.is_ok());
        let values = targets.iter().map(|&reg| self.raw(reg)).collect();
        for (reg, value) in saved {
            self.put_raw(reg, &value);
        }
        values
    }

    /// The bits of a register; of a predicate, the lowest.
    fn raw(&self, reg: Reg) -> Longs {
        match reg {
            Reg::Word(r) => self.words[r.0 as usize].map(u64::from),
            Reg::Long(r) => self.longs[r.0 as usize],
            Reg::Pred(r) => {
                let bits = self.preds[r.0 as usize];
                std::array::from_fn(|lane| u64::from(bits >> lane & 1))
            }
        }
    }

    /// Overwrites a register in all lanes.
    fn put_raw(&mut self, reg: Reg, value: &Longs) {
        match reg {
            Reg::Word(r) => self.words[r.0 as usize] = value.map(|value| value as u32),
            Reg::Long(r) => self.longs[r.0 as usize] = *value,
            Reg::Pred(r) => {
                let bit = |bits, lane: usize| bits | ((value[lane] & 1) as u32) << lane;
                self.preds[r.0 as usize] = (0..32).fold(0, bit);
            }
        }
    }
}

/// All bits of these lanes.
fn whole(lanes: u32) -> Longs {
    std::array::from_fn(|lane| if lanes >> lane & 1 != 0 { u64::MAX } else { 0 })
}

/// The space that a generic address lies in, and the address there.
fn place(space: Space, address: u64) -> (Space, u64) {
    if space != Space::Generic {
        return (space, address);
    }
    let windows = [
        (Space::Shared, SHARED_WINDOW),
        (Space::Local, LOCAL_WINDOW),
        (Space::Param, PARAM_WINDOW),
    ];
    let found = windows
        .into_iter()
        .find(|&(_, window)| in_window(address, window));
    found.map_or((Space::Global, address), |(space, window)| {
        (space, address - window)
    })
}
