//! Blocks of a cluster: their barrier, and addresses of each other's shared memory.

use super::decoder::{Decoder, Result, WORD};
use super::opcode::Opcode;
use super::operands::U32;
use crate::count::Class;
use crate::ir::{AtomicOp, Field3, Narrow1, Op, Preset, Reg, Special, W, W2, W3};
use crate::lanes::lanes;
use crate::memory::RANK_SHIFT;
use crate::syntax::tree::Operand;
use crate::syntax::types::{Kind, Space, Type};

/// The bits that an address has above its place in a block's memory, for a block of that rank.
const fn mark(rank: u32, own: u32) -> u32 {
    if rank == own {
        0
    } else {
        // A rank that no cluster has stays one.
        let most = (u32::MAX >> RANK_SHIFT) - 1;
        ((if rank < most { rank } else { most }) + 1) << RANK_SHIFT
    }
}

/// The rank of the block in whose memory an address lies.
const fn rank(address: u32, own: u32) -> u32 {
    match address >> RANK_SHIFT {
        0 => own,
        above => above - 1,
    }
}

const PLACE: u32 = (1 << RANK_SHIFT) - 1;

impl<'m, 's> Decoder<'m, 's> {
    /// `barrier.cluster.arrive` and `.wait`
    pub(super) fn cluster_barrier(
        &mut self,
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
    ) -> Result<()> {
        self.operands::<0>(operands)?;
        let arrives = self.half(opcode, &["arrive", "wait"])? == "arrive";
        opcode.take("aligned");
        // Whose turn it is, is seen.
        self.uses.ordered = true;
        if !arrives {
            opcode.take("acquire");
            self.emit_whole(Op::ClusterWait, Class::Barrier);
            return Ok(());
        }
        if !opcode.take("relaxed") {
            opcode.take("release");
            self.emit(Op::Release, None);
        }
        self.emit(Op::ClusterArrive, Some(Class::Barrier));
        Ok(())
    }

    fn own_rank(&mut self) -> Result<W> {
        match self.preset(WORD, Preset::Special(Special::ClusterRank)) {
            Reg::Word(own) => Ok(own),
            _ => self.fail("a rank is a word"),
        }
    }

    /// `mapa{.shared::cluster}.type d, a, rank` and `getctarank{.shared::cluster}.type d, a`
    pub(super) fn cluster_address(
        &mut self,
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
    ) -> Result<()> {
        let class = Some(Class::Convert);
        let space = opcode.take_space();
        let ty = opcode.take_type()?;
        if !matches!(space, Space::Generic | Space::Cluster)
            || ty.kind != Kind::Unsigned
            || ty.bits < 32
        {
            return opcode.fail("another space or type than addresses have");
        }
        let own = self.own_rank()?;
        // A name of a variable is an address, too.
        if opcode.base == "mapa" {
            let [d, a, of] = self.operands(operands)?;
            let of = self.word(of, U32)?;
            if ty.bits == 32 {
                let f: W3 = lanes!(|a, of, own| a & PLACE | mark(of, own));
                let a = self.word(a, ty)?;
                let d = self.target_word(d, ty)?;
                self.emit(Op::W3(f, d, a, of, own), class);
            } else {
                let f: Field3 =
                    lanes!(|a, of, own| a & !u64::from(!PLACE) | u64::from(mark(of, own)));
                let a = self.long(a, ty)?;
                let d = self.target_long(d, ty)?;
                self.emit(Op::Field3(f, d, a, of, own), class);
            }
            return Ok(());
        }
        let [d, a] = self.operands(operands)?;
        let a = match self.source(a, ty)? {
            Reg::Word(a) => a,
            Reg::Long(a) => {
                let low = self.new_word();
                let f: Narrow1 = lanes!(|a| a as u32);
                self.emit(Op::Narrow1(f, low, a), None);
                low
            }
            Reg::Pred(_) => return self.fail("an address is wanted"),
        };
        let f: W2 = lanes!(|a, own| rank(a, own));
        let d = self.target_word(d, U32)?;
        self.emit(Op::W2(f, d, a, own), class);
        Ok(())
    }

    /// `st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.type [d], a, [barrier]`
    pub(super) fn store_and_complete(
        &mut self,
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
    ) -> Result<()> {
        if !opcode.take("mbarrier::complete_tx::bytes") {
            return opcode.fail("a store that completes at no barrier");
        }
        let (space, order, lanes, ty) = self.qualifiers(opcode)?;
        if !matches!(space, Space::Cluster | Space::Generic) {
            return opcode.fail("another space than a cluster's shared memory");
        }
        let Some((barrier, rest)) = operands.split_last() else {
            return self.fail("operands are missing");
        };
        let rest = self.operands(rest)?;
        self.store_to((Space::Cluster, order), (ty, lanes), rest)?;
        self.complete(barrier, ty.bytes() * lanes as u32)
    }

    /// `red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.op.type`
    pub(super) fn change_and_complete(
        &mut self,
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
    ) -> Result<()> {
        if !opcode.take("mbarrier::complete_tx::bytes") {
            return opcode.fail("a change that completes at no barrier");
        }
        let bytes = opcode.type_ahead().map_or(4, Type::bytes);
        let Some((barrier, rest)) = operands.split_last() else {
            return self.fail("operands are missing");
        };
        self.atomic(opcode, rest)?;
        self.complete(barrier, bytes)
    }

    /// Makes a barrier in a cluster's shared memory count bytes that have arrived.
    fn complete(&mut self, barrier: &'m Operand<'s>, bytes: u32) -> Result<()> {
        let bytes = self.constant_long(u64::from(bytes));
        self.barrier_step_in(Space::Cluster, AtomicOp::Landed, None, barrier, bytes)
    }
}
