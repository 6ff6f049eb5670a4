//! Which registers an instruction reads, copies and writes.

use super::{BarrierKind, Callee, CopyOp, L, Op, Outcome, P, Reg, Registers, Slot, Use, W, WarpOp};

impl Registers {
    /// The registers that an operation uses.
    pub fn of(op: &Op) -> Self {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        op.clone().registers(&mut |reg, access| match access {
            Use::Write => writes.push(*reg),
            Use::Read => reads.push(*reg),
        });
        Registers {
            reads: reads.into(),
            writes: writes.into(),
        }
    }
}

impl Op {
    /// Shows every register to `visit`, with how it is used.
    pub fn registers(&mut self, visit: &mut dyn FnMut(&mut Reg, Use)) {
        use Use::{Read, Write};
        let mut word = |r: &mut W, how| {
            let mut reg = Reg::Word(*r);
            visit(&mut reg, how);
            if let Reg::Word(renamed) = reg {
                *r = renamed;
            }
        };
        match self {
            Op::W1(_, d, a) => {
                word(a, Read);
                word(d, Write);
            }
            Op::W2(_, d, a, b) | Op::Carry2(_, d, a, b, ..) => {
                word(a, Read);
                word(b, Read);
                word(d, Write);
            }
            Op::W3(_, d, a, b, c) | Op::Carry3(_, d, a, b, c, ..) | Op::Lop3(_, d, a, b, c) => {
                word(a, Read);
                word(b, Read);
                word(c, Read);
                word(d, Write);
            }
            Op::W4(_, d, a, b, c, e) => {
                for r in [a, b, c, e] {
                    word(r, Read);
                }
                word(d, Write);
            }
            Op::MovW(d, a) => {
                word(a, Read);
                word(d, Write);
            }
            Op::ActiveMask(d) => word(d, Write),
            Op::Warp(op, mask) => {
                word(mask, Read);
                op.registers(visit);
            }
            Op::Barrier {
                kind, id, count, ..
            } => {
                word(id, Read);
                if let Some(count) = count {
                    word(count, Read);
                }
                kind.registers(visit);
            }
            Op::BranchTable(a, _) => word(a, Read),
            _ => self.long_registers(visit),
        }
    }

    fn long_registers(&mut self, visit: &mut dyn FnMut(&mut Reg, Use)) {
        use Use::{Read, Write};
        match self {
            Op::L1(_, d, a) => {
                long(visit, a, Read);
                long(visit, d, Write);
            }
            Op::L2(_, d, a, b) | Op::LongCarry2(_, d, a, b, ..) => {
                long(visit, a, Read);
                long(visit, b, Read);
                long(visit, d, Write);
            }
            Op::L3(_, d, a, b, c) | Op::LongCarry3(_, d, a, b, c, ..) => {
                long(visit, a, Read);
                long(visit, b, Read);
                long(visit, c, Read);
                long(visit, d, Write);
            }
            Op::Widen1(_, d, a) => {
                word(visit, a, Read);
                long(visit, d, Write);
            }
            Op::Widen2(_, d, a, b) => {
                word(visit, a, Read);
                word(visit, b, Read);
                long(visit, d, Write);
            }
            Op::Widen3(_, d, a, b, c) => {
                word(visit, a, Read);
                word(visit, b, Read);
                long(visit, c, Read);
                long(visit, d, Write);
            }
            Op::Narrow1(_, d, a) => {
                long(visit, a, Read);
                word(visit, d, Write);
            }
            Op::Shift2(_, d, a, b) => {
                long(visit, a, Read);
                word(visit, b, Read);
                long(visit, d, Write);
            }
            Op::Field3(_, d, a, b, c) => {
                long(visit, a, Read);
                word(visit, b, Read);
                word(visit, c, Read);
                long(visit, d, Write);
            }
            Op::Field4(_, d, a, b, c, e) => {
                long(visit, a, Read);
                long(visit, b, Read);
                word(visit, c, Read);
                word(visit, e, Read);
                long(visit, d, Write);
            }
            Op::Choose3(_, d, a, b, c) => {
                long(visit, a, Read);
                long(visit, b, Read);
                word(visit, c, Read);
                long(visit, d, Write);
            }
            Op::MovL(d, a) => {
                long(visit, a, Read);
                long(visit, d, Write);
            }
            Op::Pack(d, a, b) => {
                word(visit, a, Read);
                word(visit, b, Read);
                long(visit, d, Write);
            }
            Op::Unpack(lo, hi, a) => {
                long(visit, a, Read);
                for d in [lo, hi].into_iter().flatten() {
                    word(visit, d, Write);
                }
            }
            _ => self.other_registers(visit),
        }
    }

    fn other_registers(&mut self, visit: &mut dyn FnMut(&mut Reg, Use)) {
        use Use::{Read, Write};
        match self {
            Op::MovP(d, a) => {
                pred(visit, &mut a.p, Read);
                pred(visit, d, Write);
            }
            Op::Select(d, a, b, c) => {
                pred(visit, &mut c.p, Read);
                word(visit, a, Read);
                word(visit, b, Read);
                word(visit, d, Write);
            }
            Op::LongSelect(d, a, b, c) => {
                pred(visit, &mut c.p, Read);
                long(visit, a, Read);
                long(visit, b, Read);
                long(visit, d, Write);
            }
            Op::Test(_, a, b, outcome) => {
                word(visit, a, Read);
                word(visit, b, Read);
                outcome.registers(visit);
            }
            Op::LongTest(_, a, b, outcome) => {
                long(visit, a, Read);
                long(visit, b, Read);
                outcome.registers(visit);
            }
            Op::Logic(_, d, a, b) => {
                pred(visit, &mut a.p, Read);
                pred(visit, &mut b.p, Read);
                pred(visit, d, Write);
            }
            Op::IsSpace(d, a, _) => {
                long(visit, a, Read);
                pred(visit, d, Write);
            }
            Op::Clock(d) => visit(d, Write),
            Op::System(call) => {
                slots(visit, &mut call.arguments, Read);
                slots(visit, &mut call.results, Write);
            }
            Op::Call(call) => {
                if let Callee::Pointer(a) = &mut call.callee {
                    long(visit, a, Read);
                }
                slots(visit, &mut call.arguments, Read);
                slots(visit, &mut call.results, Write);
            }
            _ => self.memory_registers(visit),
        }
    }

    fn memory_registers(&mut self, visit: &mut dyn FnMut(&mut Reg, Use)) {
        use Use::{Read, Write};
        match self {
            Op::Load { d, address, .. } => {
                visit(&mut address.base, Read);
                for d in d.iter_mut().flatten() {
                    visit(d, Write);
                }
            }
            Op::LoadParam { d, .. } => {
                for d in d.iter_mut().flatten() {
                    visit(d, Write);
                }
            }
            Op::StoreParam { a, .. } => {
                for a in a.iter_mut() {
                    visit(a, Read);
                }
            }
            Op::Store { a, address, .. } => {
                visit(&mut address.base, Read);
                for a in a.iter_mut() {
                    visit(a, Read);
                }
            }
            Op::Atomic {
                d, address, a, b, ..
            } => {
                visit(&mut address.base, Read);
                visit(a, Read);
                if let Some(b) = b {
                    visit(b, Read);
                }
                if let Some(d) = d {
                    visit(d, Write);
                }
            }
            Op::Exchange {
                d,
                address,
                new,
                compared,
                ..
            } => {
                visit(&mut address.base, Read);
                for a in new.iter_mut().chain(compared.iter_mut().flatten()) {
                    visit(a, Read);
                }
                for d in d.iter_mut().flatten() {
                    visit(d, Write);
                }
            }
            Op::Rows(rows) => {
                visit(&mut rows.address.base, Read);
                let how = if rows.stores { Read } else { Write };
                for r in &mut rows.words {
                    word(visit, r, how);
                }
            }
            Op::Copy(
                CopyOp::Start {
                    to, from, given: n, ..
                }
                | CopyOp::Bulk {
                    to, from, bytes: n, ..
                },
            ) => {
                visit(&mut to.base, Read);
                visit(&mut from.base, Read);
                word(visit, n, Read);
            }
            _ => {}
        }
    }
}

/// Visits those of a call's arguments or results that are registers.
fn slots(visit: &mut dyn FnMut(&mut Reg, Use), slots: &mut [Slot], how: Use) {
    for slot in slots {
        if let Slot::Register(reg) = slot {
            visit(reg, how);
        }
    }
}

fn word(visit: &mut dyn FnMut(&mut Reg, Use), r: &mut W, how: Use) {
    let mut reg = Reg::Word(*r);
    visit(&mut reg, how);
    if let Reg::Word(renamed) = reg {
        *r = renamed;
    }
}

fn long(visit: &mut dyn FnMut(&mut Reg, Use), r: &mut L, how: Use) {
    let mut reg = Reg::Long(*r);
    visit(&mut reg, how);
    if let Reg::Long(renamed) = reg {
        *r = renamed;
    }
}

pub(crate) fn pred(visit: &mut dyn FnMut(&mut Reg, Use), r: &mut P, how: Use) {
    let mut reg = Reg::Pred(*r);
    visit(&mut reg, how);
    if let Reg::Pred(renamed) = reg {
        *r = renamed;
    }
}

impl Outcome {
    fn registers(&mut self, visit: &mut dyn FnMut(&mut Reg, Use)) {
        if let Some((_, with)) = &mut self.with {
            pred(visit, &mut with.p, Use::Read);
        }
        for d in [&mut self.p, &mut self.q].into_iter().flatten() {
            pred(visit, d, Use::Write);
        }
    }
}

impl WarpOp {
    fn registers(&mut self, visit: &mut dyn FnMut(&mut Reg, Use)) {
        use Use::{Read, Write};
        match self {
            WarpOp::Shuffle { d, p, a, b, c, .. } => {
                for r in [a, b, c] {
                    word(visit, r, Read);
                }
                word(visit, d, Write);
                if let Some(p) = p {
                    pred(visit, p, Write);
                }
            }
            WarpOp::VoteBallot { d, a } => {
                pred(visit, &mut a.p, Read);
                word(visit, d, Write);
            }
            WarpOp::Vote { p, a, .. } => {
                pred(visit, &mut a.p, Read);
                pred(visit, p, Write);
            }
            WarpOp::Match { d, p, a, .. } => {
                visit(a, Read);
                word(visit, d, Write);
                if let Some(p) = p {
                    pred(visit, p, Write);
                }
            }
            WarpOp::Reduce { d, a, .. } => {
                word(visit, a, Read);
                word(visit, d, Write);
            }
            WarpOp::Elect { d, p } => {
                if let Some(d) = d {
                    word(visit, d, Write);
                }
                pred(visit, p, Write);
            }
            WarpOp::Matrix(matrix) => {
                for r in [&mut matrix.a, &mut matrix.b, &mut matrix.c] {
                    r.iter_mut().for_each(|r| visit(r, Read));
                }
                matrix.d.iter_mut().for_each(|r| visit(r, Write));
            }
            WarpOp::Meet | WarpOp::Sync => {}
        }
    }
}

impl BarrierKind {
    fn registers(&mut self, visit: &mut dyn FnMut(&mut Reg, Use)) {
        match self {
            BarrierKind::Sync | BarrierKind::Arrive => {}
            BarrierKind::Count(d, a) => {
                pred(visit, &mut a.p, Use::Read);
                word(visit, d, Use::Write);
            }
            BarrierKind::All(d, a) | BarrierKind::Any(d, a) => {
                pred(visit, &mut a.p, Use::Read);
                pred(visit, d, Use::Write);
            }
        }
    }
}
