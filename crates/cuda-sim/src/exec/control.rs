//! Where a part of a warp goes next: branches, calls, returns, exits and traps.

use super::mask::lanes_of;
use super::mistake::{Mistake, Step};
use super::run::{Next, Worker};
use super::warp::{Part, Warp};
use crate::check::FaultKind;
use crate::ir::{Callee, Inst, Op};
use crate::memory::CODE_WINDOW;

impl Worker<'_> {
    /// Executes the last instruction of a basic block.
    pub(super) fn control(
        &mut self,
        warp: &mut Warp,
        part: &Part,
        (inst, index): (&Inst, usize),
        active: u32,
        next: u32,
    ) -> Step<Next> {
        let mask = part.mask;
        let rest = (next, mask & !active);
        let lane = active.trailing_zeros();
        if active == 0 && !matches!(inst.op, Op::Branch(_)) {
            return Ok(Next::Go(next));
        }
        match &inst.op {
            Op::Branch(target) => {
                if inst.guard.is_some() && inst.class.is_some() {
                    self.tally.counts.branches += 1;
                    self.tally.counts.divergent_branches +=
                        u64::from(active != 0 && active != mask);
                }
                if active == mask {
                    return Ok(Next::Go(*target));
                }
                if active == 0 {
                    return Ok(Next::Go(next));
                }
                Ok(Next::Split(vec![(*target, active), rest]))
            }
            Op::BranchTable(chosen, table) => {
                let index = &warp.frames[part.frame as usize].words[chosen.0 as usize];
                let mut ways: Vec<(u32, u32)> = Vec::new();
                for lane in lanes_of(active) {
                    let Some(&target) = table.get(index[lane] as usize) else {
                        return Err(Mistake::new(
                            FaultKind::InvalidTarget,
                            lane as u32,
                            format!("entry {} of a table of {}", index[lane], table.len()),
                        ));
                    };
                    match ways.iter_mut().find(|(block, _)| *block == target) {
                        Some((_, lanes)) => *lanes |= 1 << lane,
                        None => ways.push((target, 1 << lane)),
                    }
                }
                self.tally.counts.branches += 1;
                self.tally.counts.divergent_branches += u64::from(ways.len() > 1);
                Ok(Next::Split(ways))
            }
            Op::Call(call) => {
                let place = (part.frame, next, index as u32);
                let mut calls = Vec::with_capacity(1);
                for (callee, lanes) in self.callees(warp, part, &call.callee, active)? {
                    let (launch, block) = (self.launch, self.block.at);
                    let frame = warp.call(launch, block, place, callee, &call.arguments, lanes)?;
                    calls.push((frame, lanes));
                }
                Ok(Next::Call(calls))
            }
            Op::Return => self.give_back(warp, part, active, rest),
            Op::Exit => Ok(Next::Exit { mask: active, rest }),
            Op::Unknown(why) => Err(Mistake::new(FaultKind::Unknown, lane, &**why)),
            _ => Err(Mistake::new(
                FaultKind::Trap,
                lane,
                "the kernel gave up, as failed checks of Rust kernels do",
            )),
        }
    }

    /// The functions that a call goes to, and the lanes that go there.
    fn callees(
        &self,
        warp: &Warp,
        part: &Part,
        callee: &Callee,
        active: u32,
    ) -> Step<Vec<(u32, u32)>> {
        let pointer = match *callee {
            Callee::Function(index) => return Ok(vec![(index, active)]),
            Callee::Pointer(pointer) => pointer,
        };
        let pointers = &warp.frames[part.frame as usize].longs[pointer.0 as usize];
        let known = self.launch.program.functions.len() as u64;
        let mut groups: Vec<(u32, u32)> = Vec::new();
        for lane in lanes_of(active) {
            let place = pointers[lane].wrapping_sub(CODE_WINDOW);
            let index = (place / 16).wrapping_sub(1);
            if !place.is_multiple_of(16) || index >= known {
                return Err(Mistake::at(
                    FaultKind::InvalidTarget,
                    lane as u32,
                    pointers[lane],
                    "a call to what is no function",
                ));
            }
            match groups
                .iter_mut()
                .find(|(other, _)| u64::from(*other) == index)
            {
                Some((_, lanes)) => *lanes |= 1 << lane,
                None => groups.push((index as u32, 1 << lane)),
            }
        }
        Ok(groups)
    }

    /// Returns from a call, or ends lanes that return from the kernel.
    fn give_back(
        &mut self,
        warp: &mut Warp,
        part: &Part,
        active: u32,
        rest: (u32, u32),
    ) -> Step<Next> {
        let functions = &self.launch.program.functions;
        let frame = &warp.frames[part.frame as usize];
        let Some((caller, _, call)) = frame.caller else {
            return Ok(Next::Exit { mask: active, rest });
        };
        let returns = &functions[frame.function as usize].returns;
        let calling = &functions[warp.frames[caller as usize].function as usize];
        let results = match &calling.insts[call as usize].op {
            Op::Call(call) => call.results.as_slice(),
            _ => &[],
        };
        let (frame, block) = warp.give_back(part.frame, results, returns, active)?;
        Ok(Next::Return {
            frame,
            block,
            mask: active,
            rest,
        })
    }
}
