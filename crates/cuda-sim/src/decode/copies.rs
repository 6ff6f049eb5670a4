//! Asynchronous copies from global to shared memory, and the barriers in memory that
//! count arrivals and bytes (`cp.async`, `cp.async.bulk`, `mbarrier`).

use super::decoder::{Decoder, Result};
use super::opcode::Opcode;
use super::operands::{AddressOperand, B64, U32};
use crate::count::Class;
use crate::ir::{
    Address, AtomicOp, CopyOp, Element, L, LongTest2, Narrow1, Op, Order, Outcome, Reg, Transit,
    Wait, Widen1,
};
use crate::lanes::{lanes, test};
use crate::syntax::tree::Operand;
use crate::syntax::types::Space;

/// Threads that a barrier in memory may wait for.
const MOST_ARRIVALS: u32 = (1 << 20) - 1;

impl<'m, 's> Decoder<'m, 's> {
    /// `cp.async...`
    pub(super) fn copy(
        &mut self,
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
    ) -> Result<()> {
        self.half(opcode, &["async"])?;
        let bulk = opcode.take("bulk");
        if opcode.take("commit_group") {
            self.operands::<0>(operands)?;
            // Bulk copies are done when they are issued.
            let op = if bulk {
                Op::Fence
            } else {
                Op::Copy(CopyOp::Commit)
            };
            self.emit(op, Some(Class::Barrier));
        } else if opcode.take("wait_all") {
            self.operands::<0>(operands)?;
            self.emit(Op::Copy(CopyOp::Wait(Wait::All)), Some(Class::Barrier));
        } else if opcode.take("wait_group") {
            opcode.take("read");
            let [Operand::Integer(groups)] = self.operands(operands)? else {
                return self.fail("a number of groups is wanted");
            };
            let op = if bulk {
                Op::Fence
            } else {
                let groups = u32::try_from(*groups).unwrap_or(u32::MAX);
                Op::Copy(CopyOp::Wait(Wait::ButLast(groups)))
            };
            self.emit(op, Some(Class::Barrier));
        } else if opcode.take("mbarrier") {
            // Arrives once everything that the thread copied has: it is waited for here.
            self.half(opcode, &["arrive"])?;
            let counted = opcode.take("noinc");
            self.shared_space(opcode)?;
            opcode.take_type()?;
            let [barrier] = self.operands(operands)?;
            self.emit(Op::Copy(CopyOp::Wait(Wait::All)), Some(Class::Barrier));
            // Without `.noinc` the arrival was not counted in before.
            if counted {
                let one = self.constant_long(1);
                self.barrier_step(AtomicOp::Arrive, None, barrier, one)?;
            }
        } else if bulk {
            self.bulk_copy(opcode, operands)?;
        } else {
            self.small_copy(opcode, operands)?;
        }
        Ok(())
    }

    /// `cp.async.ca.shared.global [d], [a], bytes{, from | ignore}{, policy}`
    fn small_copy(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        let whole = self.half(opcode, &["ca", "cg"])? == "cg";
        let [to, from] = self.copy_spaces(opcode)?;
        let hinted = opcode.take("L2::cache_hint");
        opcode.take_of(&["L2::64B", "L2::128B", "L2::256B"]);
        if (to, from) != (Space::Shared, Space::Global) {
            return opcode.fail("a copy between these spaces");
        }
        let operands = match operands.split_last() {
            Some((_, rest)) if hinted => rest,
            _ => operands,
        };
        let ([d, a, Operand::Integer(bytes)], rest) = (match operands.split_first_chunk::<3>() {
            Some(split) => split,
            None => return self.fail("operands are missing"),
        }) else {
            return self.fail("a number of bytes is wanted");
        };
        let bytes = *bytes as u32;
        if !matches!((whole, bytes), (false, 4 | 8) | (_, 16)) {
            return self.fail("4, 8 or 16 bytes are copied, with .cg 16");
        }
        // How many bytes come from there; the rest are zeros.
        let given = match rest {
            [] => self.constant_word(bytes),
            [Operand::Name(name)] if self.is_predicate(name) => {
                let ignore = self.predicate(&rest[0])?;
                let (none, all) = (self.constant_word(0), self.constant_word(bytes));
                let given = self.new_word();
                self.emit(Op::Select(given, none, all, ignore), Some(Class::Shared));
                given
            }
            [given] => self.word(given, U32)?,
            _ => return self.fail("another number of operands is wanted"),
        };
        let (to, from) = (self.plain_address(d)?, self.plain_address(a)?);
        let copy = CopyOp::Start {
            to,
            from,
            bytes,
            given,
        };
        self.emit(Op::Copy(copy), Some(Class::Shared));
        Ok(())
    }

    /// `cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [d], [a], n, [m]`
    /// and `cp.async.bulk.global.shared::cta.bulk_group [d], [a], n`
    fn bulk_copy(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        let [to, from] = self.copy_spaces(opcode)?;
        let counted = opcode.take("mbarrier::complete_tx::bytes");
        let hinted = opcode.take("L2::cache_hint");
        let grouped = opcode.take("bulk_group");
        let operands = match operands.split_last() {
            Some((_, rest)) if hinted => rest,
            _ => operands,
        };
        let (d, a, bytes, barrier) = match (operands, counted) {
            ([d, a, bytes, barrier], true) => (d, a, bytes, Some(barrier)),
            ([d, a, bytes], false) => (d, a, bytes, None),
            _ => return self.fail("another number of operands is wanted"),
        };
        let transit = match (to, from, counted, grouped) {
            (Space::Shared | Space::Cluster, Space::Global, true, false) => Transit::ToShared,
            (Space::Cluster, Space::Shared, true, false) => Transit::Across,
            (Space::Global, Space::Shared, false, true) => Transit::ToGlobal,
            _ => return opcode.fail("a bulk copy between these spaces"),
        };
        let bytes = self.word(bytes, U32)?;
        let (to, from) = (self.plain_address(d)?, self.plain_address(a)?);
        let bulk = CopyOp::Bulk {
            transit,
            to,
            from,
            bytes,
        };
        self.emit(Op::Copy(bulk), Some(Class::Shared));
        if let Some(barrier) = barrier {
            let done = self.new_long();
            self.emit(Op::Widen1(lanes!(|n| u64::from(n)), done, bytes), None);
            self.barrier_step_in(Space::Cluster, AtomicOp::Landed, None, barrier, done)?;
        }
        Ok(())
    }

    /// Target and source, in this order.
    fn copy_spaces(&self, opcode: &mut Opcode<'s>) -> Result<[Space; 2]> {
        let known = |word: &str| {
            let wanted = [Space::Shared, Space::Cluster, Space::Global];
            Space::named(word).filter(|space| wanted.contains(space))
        };
        match (opcode.take_with(known), opcode.take_with(known)) {
            (Some(to), Some(from)) => Ok([to, from]),
            _ => opcode.fail("two state spaces are wanted"),
        }
    }

    fn shared_space(&self, opcode: &mut Opcode<'s>) -> Result<Space> {
        match opcode.take_space() {
            space @ (Space::Shared | Space::Cluster | Space::Generic) => Ok(space),
            _ => opcode.fail("another space than shared memory"),
        }
    }

    fn is_predicate(&mut self, name: &'s str) -> bool {
        use super::symbols::Symbol;
        matches!(self.lookup(name), Some(Symbol::Register(Reg::Pred(_), _)))
    }

    fn plain_address(&mut self, operand: &Operand<'s>) -> Result<Address> {
        match self.address(operand)? {
            AddressOperand::Register(base, offset) => Ok(Address { base, offset }),
            AddressOperand::Param(_) => self.fail("an address of a parameter"),
        }
    }

    /// A step of the barrier at an address; what it was before goes to `d`.
    fn barrier_step(
        &mut self,
        op: AtomicOp,
        d: Option<L>,
        barrier: &'m Operand<'s>,
        a: L,
    ) -> Result<()> {
        self.barrier_step_in(Space::Shared, op, d, barrier, a)
    }

    pub(super) fn barrier_step_in(
        &mut self,
        space: Space,
        op: AtomicOp,
        d: Option<L>,
        barrier: &'m Operand<'s>,
        a: L,
    ) -> Result<()> {
        let address = self.plain_address(barrier)?;
        let op = Op::Atomic {
            space,
            op,
            bytes: 8,
            d: d.map(Reg::Long),
            address,
            a: Reg::Long(a),
            b: None,
        };
        self.emit(op, Some(Class::Barrier));
        Ok(())
    }

    /// `mbarrier.*`: see `AtomicOp::Arrive` for what the 64 bits hold.
    pub(super) fn memory_barrier(
        &mut self,
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
    ) -> Result<()> {
        let verb = self.half(
            opcode,
            &[
                "init",
                "inval",
                "expect_tx",
                "complete_tx",
                "arrive",
                "arrive_drop",
                "test_wait",
                "try_wait",
                "pending_count",
            ],
        )?;
        while opcode
            .take_of(&["relaxed", "release", "acquire", "cta", "cluster"])
            .is_some()
        {}
        let expects = opcode.take("expect_tx");
        let parity = opcode.take("parity");
        opcode.take("noComplete");
        let space = self.shared_space(opcode)?;
        if opcode.take_type()? != B64 {
            return opcode.fail("another type than .b64");
        }
        match verb {
            "init" => {
                let [barrier, count] = self.operands(operands)?;
                let count = self.word(count, U32)?;
                let state = self.new_long();
                let start: Widen1 = lanes!(|n| u64::from(n & MOST_ARRIVALS) * (1 | 1 << 20));
                self.emit(Op::Widen1(start, state, count), Some(Class::Barrier));
                self.store_state(space, barrier, state)?;
            }
            "inval" => {
                let [barrier] = self.operands(operands)?;
                let none = self.constant_long(0);
                self.store_state(space, barrier, none)?;
            }
            "expect_tx" | "complete_tx" => {
                let [barrier, bytes] = self.operands(operands)?;
                let bytes = self.widened(bytes)?;
                let op = if verb == "expect_tx" {
                    AtomicOp::Expect
                } else {
                    AtomicOp::Landed
                };
                self.barrier_step_in(space, op, None, barrier, bytes)?;
            }
            "arrive" | "arrive_drop" => self.arrive(operands, verb, expects, space)?,
            "pending_count" => {
                let [d, state] = self.operands(operands)?;
                let state = self.long(state, B64)?;
                let d = self.target_word(d, U32)?;
                let pending: Narrow1 = lanes!(|state| state as u32 & MOST_ARRIVALS);
                self.emit(Op::Narrow1(pending, d, state), Some(Class::Barrier));
            }
            _ => self.test_phase(operands, verb, parity, space)?,
        }
        Ok(())
    }

    /// `mbarrier.arrive` and `mbarrier.arrive_drop`.
    fn arrive(
        &mut self,
        operands: &'m [Operand<'s>],
        verb: &str,
        expects: bool,
        space: Space,
    ) -> Result<()> {
        let Some((d, [barrier, rest @ ..])) = operands.split_first() else {
            return self.fail("operands are missing");
        };
        if let ([bytes], true) = (rest, expects) {
            let bytes = self.widened(bytes)?;
            self.barrier_step_in(space, AtomicOp::Expect, None, barrier, bytes)?;
        }
        let count = match rest {
            [count] if !expects => self.widened(count)?,
            [] | [_] => self.constant_long(1),
            _ => return self.fail("another number of operands is wanted"),
        };
        let d = self.target_long(d, B64)?;
        let op = match verb {
            "arrive" => AtomicOp::Arrive,
            _ => AtomicOp::ArriveAndDrop,
        };
        self.barrier_step_in(space, op, Some(d), barrier, count)
    }

    /// `mbarrier.test_wait` and `mbarrier.try_wait`: a test that may wait is one that need not. A hint
    /// says how long it might.
    fn test_phase(
        &mut self,
        operands: &'m [Operand<'s>],
        verb: &str,
        parity: bool,
        space: Space,
    ) -> Result<()> {
        let Some((Operand::Name(p), [barrier, phase, hint @ ..])) = operands.split_first() else {
            return self.fail("a predicate, an address and a phase are wanted");
        };
        if hint.len() > usize::from(verb == "try_wait") {
            return self.fail("another number of operands is wanted");
        }
        let (now, none) = (self.new_long(), self.constant_long(0));
        self.barrier_step_in(space, AtomicOp::Expect, Some(now), barrier, none)?;
        let phase = if parity {
            let parity = self.word(phase, U32)?;
            let phase = self.new_long();
            let top: Widen1 = lanes!(|n| u64::from(n) << 63);
            self.emit(Op::Widen1(top, phase, parity), None);
            phase
        } else {
            self.long(phase, B64)?
        };
        let outcome = Outcome {
            p: self.target_predicate(p)?,
            q: None,
            with: None,
        };
        let over: LongTest2 = test!(|now, phase| (now ^ phase) >> 63 != 0);
        self.emit(Op::LongTest(over, now, phase, outcome), None);
        Ok(())
    }

    fn widened(&mut self, operand: &Operand<'s>) -> Result<L> {
        let a = self.word(operand, U32)?;
        let d = self.new_long();
        self.emit(
            Op::Widen1(lanes!(|n| u64::from(n)), d, a),
            Some(Class::Barrier),
        );
        Ok(d)
    }

    fn store_state(&mut self, space: Space, barrier: &Operand<'s>, state: L) -> Result<()> {
        let address = self.plain_address(barrier)?;
        let element = Element {
            bytes: 8,
            signed: false,
        };
        let op = Op::Store {
            space,
            element,
            a: Box::new([Reg::Long(state)]),
            address,
            order: Order::Weak,
        };
        self.emit(op, Some(Class::Barrier));
        Ok(())
    }
}
