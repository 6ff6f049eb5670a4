//! Loads, stores and atomic operations.

use super::decoder::{Decoder, Result};
use super::opcode::Opcode;
use super::operands::{AddressOperand, B64, U32};
use super::vectors::registers_of;
use crate::count::Class;
use crate::ir::{Address, AtomicOp, Element, Inst, Op, Order, Reg};
use crate::lanes::lanes;
use crate::syntax::tree::Operand;
use crate::syntax::types::{Kind, Space, Type};

/// Modifiers that say how caches should behave, which changes no value.
fn is_cache_hint(modifier: &str) -> Option<()> {
    let plain = ["ca", "cg", "cs", "lu", "cv", "wb", "wt", "weak", "uni"];
    (plain.contains(&modifier) || modifier.starts_with("L1::") || modifier.starts_with("L2::"))
        .then_some(())
}

/// Scopes and orders of the memory model, and whether other blocks may then see what was
/// done before.
fn take_order(opcode: &mut Opcode<'_>) -> (Order, bool) {
    let (mut order, mut releases, mut wide) = (Order::Weak, false, true);
    let words = [
        "volatile", "relaxed", "acquire", "release", "acq_rel", "cta", "gpu", "sys", "cluster",
        "mmio",
    ];
    while let Some(word) = opcode.take_of(&words) {
        order = if word == "volatile" || order == Order::Volatile {
            Order::Volatile
        } else {
            Order::Strong
        };
        releases |= matches!(word, "release" | "acq_rel");
        wide &= word != "cta";
    }
    (order, releases && wide)
}

fn class(space: Space) -> Class {
    match space {
        Space::Generic | Space::Global | Space::Constant => Class::Global,
        Space::Shared | Space::Cluster => Class::Shared,
        Space::Local => Class::Local,
        Space::Param => Class::Param,
    }
}

/// The operation of an atomic instruction of this name on numbers of a type, if there is one.
fn atomic_op(name: &str, ty: Type) -> Option<AtomicOp> {
    Some(match (name, ty.kind, ty.bits) {
        ("add", Kind::Float, 32) => AtomicOp::AddF32,
        ("add", Kind::Float, 64) => AtomicOp::AddF64,
        (_, Kind::Float, _) | (_, _, 1 | 8 | 16) => return None,
        ("add", ..) => AtomicOp::Add,
        ("and", ..) => AtomicOp::And,
        ("or", ..) => AtomicOp::Or,
        ("xor", ..) => AtomicOp::Xor,
        ("min", Kind::Signed, _) => AtomicOp::MinS,
        ("min", ..) => AtomicOp::MinU,
        ("max", Kind::Signed, _) => AtomicOp::MaxS,
        ("max", ..) => AtomicOp::MaxU,
        ("inc", _, 32) => AtomicOp::Inc,
        ("dec", _, 32) => AtomicOp::Dec,
        ("exch", ..) => AtomicOp::Exch,
        ("cas", ..) => AtomicOp::Cas,
        _ => return None,
    })
}

/// Whether the order of several such operations makes no difference to what they leave.
fn commutes(op: AtomicOp) -> bool {
    use AtomicOp::{Add, And, MaxS, MaxU, MinS, MinU, Or, Xor};
    matches!(op, Add | And | Or | Xor | MinU | MinS | MaxU | MaxS)
}

impl<'m, 's> Decoder<'m, 's> {
    /// Whether the opcode was one of these.
    pub(super) fn memory_access(
        &mut self,
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
    ) -> Result<bool> {
        match opcode.base {
            "ld" | "ldu" => self.load(opcode, operands)?,
            "st" => self.store(opcode, operands)?,
            "cp" => self.copy(opcode, operands)?,
            "mbarrier" => self.memory_barrier(opcode, operands)?,
            "atom" | "red" => self.atomic(opcode, operands)?,
            "createpolicy" => self.cache_policy(opcode, operands)?,
            "prefetch" | "prefetchu" | "discard" | "applypriority" => {
                opcode.take_space();
                opcode.take_of(&["L1", "L2"]);
                while opcode.take_with(is_cache_hint).is_some() {}
                self.emit(Op::Fence, Some(Class::Global));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `createpolicy`: a policy is a number that nothing here looks at.
    fn cache_policy(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        let kind = self.half(opcode, &["fractional", "range", "cvt"])?;
        opcode.take_space();
        opcode.take("L2");
        while opcode.take_with(is_cache_hint).is_some() {}
        if opcode.take_type()? != B64 {
            return opcode.fail("another type than .b64");
        }
        let Some((d, rest)) = operands.split_first() else {
            return self.fail("operands are missing");
        };
        let wanted = match kind {
            "fractional" => 0..=1,
            "range" => 3..=3,
            _ => 1..=1,
        };
        if !wanted.contains(&rest.len()) {
            return self.fail("another number of operands is wanted");
        }
        let none = self.constant_long(0);
        let d = self.target_long(d, B64)?;
        self.emit(Op::MovL(d, none), Some(Class::Move));
        Ok(())
    }

    /// Space, order, width of the vector, and type.
    pub(super) fn qualifiers(
        &mut self,
        opcode: &mut Opcode<'s>,
    ) -> Result<(Space, Order, usize, Type)> {
        let (mut order, releases) = take_order(opcode);
        let space = opcode.take_space();
        let strong = order.is_strong();
        loop {
            if opcode.take("nc") {
                order = Order::ReadOnly;
            } else if opcode.take_with(is_cache_hint).is_none() {
                break;
            }
        }
        if releases {
            self.emit(Op::Release, None);
        }
        let lanes = match opcode.take_of(&["v2", "v4", "v8"]) {
            Some("v2") => 2,
            Some("v4") => 4,
            Some(_) => 8,
            None => 1,
        };
        let ty = opcode.take_type()?;
        if ty.kind == Kind::Predicate || lanes as u32 * ty.bytes() > 32 {
            return opcode.fail("a vector too wide");
        }
        // Order among blocks decides how they are run.
        self.uses.ordered |= strong && !matches!(space, Space::Shared | Space::Local);
        Ok((space, order, lanes, ty))
    }

    fn element(ty: Type) -> Element {
        Element {
            bytes: ty.bytes(),
            signed: ty.is_signed(),
        }
    }

    /// `ld` and `ldu`
    fn load(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        let hinted = opcode.has("L2::cache_hint");
        let (space, order, lanes, ty) = self.qualifiers(opcode)?;
        let [d, address] = self.without_cache_policy(operands, hinted)?;
        let targets = self.targets(d, ty, lanes)?;
        let (ty, lanes) = registers_of(ty, lanes);
        let element = Self::element(ty);
        let narrow: Vec<_> = targets
            .iter()
            .filter_map(|&d| match d {
                Some(Reg::Word(word))
                    if element.signed && self.narrow.contains(&Reg::Word(word)) =>
                {
                    Some(word)
                }
                _ => None,
            })
            .collect();
        let d = targets.into_boxed_slice();
        let op = match self.address(address)? {
            AddressOperand::Param(offset) => {
                let offset = self.param_offset(space, offset, ty, lanes)?;
                Op::LoadParam { element, d, offset }
            }
            AddressOperand::Register(base, offset) => Op::Load {
                space,
                element,
                d,
                address: Address { base, offset },
                order,
            },
        };
        self.emit(op, Some(class(space)));
        // The sign reaches no further than the register does.
        for d in narrow {
            self.emit(Op::W1(lanes!(|a| a & 0xffff), d, d), None);
        }
        Ok(())
    }

    /// `st`
    fn store(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        if opcode.take("async") {
            return self.store_and_complete(opcode, operands);
        }
        let hinted = opcode.has("L2::cache_hint");
        let (space, order, lanes, ty) = self.qualifiers(opcode)?;
        let operands = self.without_cache_policy(operands, hinted)?;
        self.store_to((space, order), (ty, lanes), operands)
    }

    pub(super) fn store_to(
        &mut self,
        (space, order): (Space, Order),
        (ty, lanes): (Type, usize),
        [address, a]: &'m [Operand<'s>; 2],
    ) -> Result<()> {
        let sources = self.sources(a, ty, lanes)?;
        let (ty, lanes) = registers_of(ty, lanes);
        let element = Self::element(ty);
        let a = sources.into_boxed_slice();
        let op = match self.address(address)? {
            AddressOperand::Param(offset) => {
                let offset = self.param_offset(space, offset, ty, lanes)?;
                if self.source.entry && offset < self.formal_bytes() {
                    return self.fail("a store to a kernel's parameter");
                }
                Op::StoreParam { element, a, offset }
            }
            AddressOperand::Register(base, offset) => Op::Store {
                space,
                element,
                a,
                address: Address { base, offset },
                order,
            },
        };
        self.emit(op, Some(class(space)));
        Ok(())
    }

    /// Two operands, and with `.L2::cache_hint` a policy, which changes no value.
    fn without_cache_policy(
        &mut self,
        operands: &'m [Operand<'s>],
        hinted: bool,
    ) -> Result<&'m [Operand<'s>; 2]> {
        match operands.split_last() {
            Some((policy, rest)) if hinted => {
                self.long(policy, B64)?;
                self.operands(rest)
            }
            _ => self.operands(operands),
        }
    }

    /// Bytes of the parameters that a kernel was launched with.
    fn formal_bytes(&self) -> u32 {
        self.formals
            .iter()
            .map(|place| match *place {
                crate::ir::Slot::Memory { offset, bytes } => offset + bytes,
                crate::ir::Slot::Register(_) => 0,
            })
            .max()
            .unwrap_or(0)
    }

    /// A place in the parameter area that is known now can be checked now.
    fn param_offset(&self, space: Space, offset: i64, ty: Type, lanes: usize) -> Result<u32> {
        if space != Space::Param {
            return self.fail("a parameter's name in another state space");
        }
        let bytes = i64::from(ty.bytes()) * lanes as i64;
        if offset < 0 || offset > i64::from(self.param_end) - bytes {
            return self.fail("an access outside the parameters");
        }
        if offset % bytes != 0 {
            return self.fail("a misaligned access to a parameter");
        }
        Ok(offset as u32)
    }

    pub(super) fn atomic(
        &mut self,
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
    ) -> Result<()> {
        if opcode.base == "red" && opcode.take("async") {
            return self.change_and_complete(opcode, operands);
        }
        if ["v2", "v4", "v8"].iter().any(|lanes| opcode.has(lanes)) {
            return opcode.fail("an atomic operation on a vector");
        }
        let (_, releases) = take_order(opcode);
        let space = opcode.take_space();
        let hinted = opcode.has("L2::cache_hint");
        while opcode.take_with(is_cache_hint).is_some() {}
        let operands = match operands.split_last() {
            Some((policy, rest)) if hinted => {
                self.long(policy, B64)?;
                rest
            }
            _ => operands,
        };
        let name = self.half(
            opcode,
            &[
                "add", "and", "or", "xor", "min", "max", "inc", "dec", "exch", "cas",
            ],
        )?;
        let ty = opcode.take_type()?;
        if ty.bits == 128 {
            return self.exchange(opcode, operands, name, space, releases);
        }
        let Some(op) = atomic_op(name, ty) else {
            return opcode.fail("a type that the operation does not have");
        };
        let (d, rest) = if opcode.base == "atom" {
            let Some((d, rest)) = operands.split_first() else {
                return self.fail("operands are missing");
            };
            (self.target(d, ty, false)?, rest)
        } else {
            (None, operands)
        };
        let (address, a, b) = match rest {
            [address, a] if op != AtomicOp::Cas => (address, a, None),
            [address, a, b] if op == AtomicOp::Cas => (address, a, Some(b)),
            _ => return self.fail("another number of operands is wanted"),
        };
        let AddressOperand::Register(base, offset) = self.address(address)? else {
            return self.fail("an atomic operation on a parameter");
        };
        // Whether blocks see each other's order: in what they get back, and in
        // what stays behind where the operations do not commute.
        if space != Space::Shared {
            self.uses.ordered |= d.is_some() || !commutes(op);
        }
        let a = self.source(a, ty)?;
        let b = match b {
            Some(b) => Some(self.source(b, ty)?),
            None => None,
        };
        if releases {
            self.emit(Op::Release, None);
        }
        let op = Op::Atomic {
            space,
            op,
            bytes: ty.bytes(),
            d,
            address: Address { base, offset },
            a,
            b,
        };
        self.emit(op, Some(Class::Atomic));
        Ok(())
    }

    /// `atom.exch.b128` and `atom.cas.b128`
    fn exchange(
        &mut self,
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
        name: &str,
        space: Space,
        releases: bool,
    ) -> Result<()> {
        let (d, address, compared, new) = match (opcode.base, name, operands) {
            ("atom", "exch", [d, address, new]) => (d, address, None, new),
            ("atom", "cas", [d, address, compared, new]) => (d, address, Some(compared), new),
            _ => return opcode.fail("an operation that 128 bits do not have"),
        };
        let wide = Type {
            kind: Kind::Bits,
            bits: 128,
        };
        let AddressOperand::Register(base, offset) = self.address(address)? else {
            return self.fail("an atomic operation on a parameter");
        };
        let compared = match compared {
            Some(compared) => Some(self.pair(compared, wide)?),
            None => None,
        };
        let new = self.pair(new, wide)?;
        let targets = self.targets(d, wide, 1)?;
        let [low, high] = targets[..] else {
            return self.fail("a register of 128 bits is wanted");
        };
        self.uses.ordered |= space != Space::Shared;
        if releases {
            self.emit(Op::Release, None);
        }
        let op = Op::Exchange {
            space,
            d: [low, high],
            address: Address { base, offset },
            new,
            compared,
        };
        self.emit(op, Some(Class::Atomic));
        Ok(())
    }

    fn pair(&mut self, operand: &'m Operand<'s>, wide: Type) -> Result<[Reg; 2]> {
        match self.sources(operand, wide, 1)?[..] {
            [low, high] => Ok([low, high]),
            _ => self.fail("a register of 128 bits is wanted"),
        }
    }

    /// A word operand of a warp-wide operation or barrier.
    pub(super) fn word_or_constant(&mut self, operand: &Operand<'s>) -> Result<crate::ir::W> {
        match self.source(operand, U32)? {
            Reg::Word(word) => Ok(word),
            _ => self.fail("a 32-bit operand is wanted"),
        }
    }
}

/// Marks plain loads from a place that a compare-and-swap of the same function goes
/// to: they guess the value that it is to find.
pub(super) fn mark_guesses(insts: &mut [Inst]) {
    let place = |space: Space, address: &Address| (space, address.base, address.offset);
    let swapped: Vec<_> = insts
        .iter()
        .filter_map(|inst| match &inst.op {
            Op::Atomic {
                op: AtomicOp::Cas,
                space,
                address,
                ..
            } => Some(place(*space, address)),
            _ => None,
        })
        .collect();
    for inst in insts {
        if let Op::Load {
            space,
            address,
            order: order @ Order::Weak,
            ..
        } = &mut inst.op
            && swapped.contains(&place(*space, address))
        {
            *order = Order::Guess;
        }
    }
}
