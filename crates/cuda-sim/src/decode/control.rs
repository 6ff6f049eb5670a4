//! Branches, calls, barriers and what the lanes of a warp do together.

use super::decoder::{Decoder, Result};
use super::opcode::Opcode;
use super::operands::{B64, U32};
use super::symbols::Symbol;
use crate::count::Class;
use crate::ir::{
    BarrierKind, Call, Callee, Cond, Op, P, Reduce, Reg, Shuffle, Slot, System, SystemCall, Vote,
    WarpOp,
};
use crate::syntax::error::ParseError;
use crate::syntax::tree::Operand;
use crate::syntax::types::{Kind, Type};

const B32: Type = Type {
    kind: Kind::Bits,
    bits: 32,
};

impl<'m, 's> Decoder<'m, 's> {
    /// Whether the opcode was one of these.
    pub(super) fn control(
        &mut self,
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
    ) -> Result<bool> {
        let sync = opcode.take("sync");
        match (opcode.base, sync) {
            ("bra", false) => {
                opcode.take("uni");
                let [Operand::Name(name)] = self.operands(operands)? else {
                    return self.fail("a label is wanted");
                };
                let label = self.label(name)?;
                self.emit(Op::Branch(label), Some(Class::Control));
            }
            ("brx", false) => {
                self.half(opcode, &["idx"])?;
                opcode.take("uni");
                let [index, Operand::Name(table)] = self.operands(operands)? else {
                    return self.fail("a label of .branchtargets is wanted");
                };
                let index = self.word(index, U32)?;
                let Some(Symbol::Targets(targets)) = self.lookup(table) else {
                    return self.fail(format!("`{table}` is no list of branch targets"));
                };
                let mut labels = Vec::with_capacity(targets.len());
                for target in targets {
                    labels.push(self.label(target)?);
                }
                let op = Op::BranchTable(index, labels.into_boxed_slice());
                self.emit_whole(op, Class::Control);
            }
            ("call", false) => self.call(opcode, operands)?,
            ("ret", false) => {
                opcode.take("uni");
                let op = if self.source.entry {
                    Op::Exit
                } else {
                    Op::Return
                };
                self.emit(op, Some(Class::Control));
            }
            ("exit", false) => self.emit(Op::Exit, Some(Class::Control)),
            ("trap", false) => self.emit_whole(Op::Trap, Class::Control),
            ("barrier", false) if opcode.take("cluster") => {
                self.cluster_barrier(opcode, operands)?;
            }
            ("mapa" | "getctarank", false) => self.cluster_address(opcode, operands)?,
            ("bar" | "barrier", _) => self.barrier(opcode, operands, sync)?,
            ("shfl", true) => self.shuffle(opcode, operands)?,
            ("vote", true) => self.vote(opcode, operands)?,
            ("match", true) => self.matching(opcode, operands)?,
            ("redux", true) => self.reduce(opcode, operands)?,
            ("mma", true) => self.matrix(opcode, operands)?,
            ("wgmma", true) => self.warpgroup(opcode, operands)?,
            ("ldmatrix" | "stmatrix", true) => self.rows(opcode, operands)?,
            ("setmaxnreg", true) => self.registers(opcode, operands)?,
            ("elect", true) => self.elect(operands)?,
            ("activemask", false) => {
                opcode.take_type()?;
                let [d] = self.operands(operands)?;
                let d = self.target_word(d, B32)?;
                self.emit(Op::ActiveMask(d), Some(Class::Warp));
            }
            ("membar" | "fence", false) => self.fence(opcode),
            ("griddepcontrol", false) => {
                // Launches run one after the other: there is nothing to wait for.
                self.half(opcode, &["wait", "launch_dependents"])?;
                self.emit(Op::Fence, Some(Class::Barrier));
            }
            ("nanosleep", false) => {
                opcode.take_type()?;
                self.emit(Op::Fence, Some(Class::Control));
            }
            ("pmevent" | "brkpt", false) => {
                opcode.take("mask");
                self.emit(Op::Fence, Some(Class::Control));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `setmaxnreg`: here threads have all the registers that they name.
    fn registers(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        self.half(opcode, &["inc", "dec"])?;
        if !opcode.take("aligned") {
            return opcode.fail(".aligned is missing");
        }
        opcode.take_type()?;
        let [Operand::Integer(24..=256)] = self.operands(operands)? else {
            return self.fail("a number of registers is wanted");
        };
        let all = self.constant_word(u32::MAX);
        self.emit_whole(Op::Warp(WarpOp::Meet, all), Class::Control);
        Ok(())
    }

    /// `elect.sync`: one of the lanes.
    fn elect(&mut self, operands: &'m [Operand<'s>]) -> Result<()> {
        let [Operand::Pair(d, p), mask] = self.operands(operands)? else {
            return self.fail("a register and a predicate are wanted");
        };
        let mask = self.word_or_constant(mask)?;
        let d = match *d {
            "_" => None,
            name => Some(self.target_word(&Operand::Name(name), U32)?),
        };
        let p = self.predicate_or_new(p)?;
        self.emit_whole(Op::Warp(WarpOp::Elect { d, p }, mask), Class::Warp);
        Ok(())
    }

    /// `membar` and `fence`, of which those that only acquire, or that concern one block or a proxy,
    /// release nothing.
    fn fence(&mut self, opcode: &mut Opcode<'s>) {
        let words = [
            "cta",
            "gl",
            "sys",
            "gpu",
            "cluster",
            "sc",
            "acq_rel",
            "acquire",
            "release",
            "proxy",
            "alias",
            "async",
            "global",
            "shared::cta",
            "shared::cluster",
            "mbarrier_init",
        ];
        let mut releases = true;
        while let Some(word) = opcode.take_of(&words) {
            releases &= !matches!(word, "cta" | "acquire" | "proxy");
        }
        let op = if releases { Op::Release } else { Op::Fence };
        self.emit(op, Some(Class::Barrier));
    }

    /// The label with this name.
    fn label(&mut self, name: &'s str) -> Result<u32> {
        match self.lookup(name) {
            Some(Symbol::Label(label)) => Ok(label as u32),
            _ => self.fail(format!("`{name}` is no label")),
        }
    }

    /// Emits an operation that has no guard of its own.
    pub(super) fn emit_whole(&mut self, op: Op, class: Class) {
        self.whole(|this| this.emit(op, Some(class)));
    }

    /// Emits operations that have no guard of their own: with a guard, a branch
    /// leads the other lanes around them.
    pub(super) fn whole(&mut self, emit: impl FnOnce(&mut Self)) {
        let Some(guard) = self.guard.take() else {
            return emit(self);
        };
        let after = self.labels.len();
        let around = Cond {
            negated: !guard.negated,
            ..guard
        };
        self.emit_guarded(Op::Branch(after as u32), None, Some(around));
        emit(self);
        self.labels.push(Some(self.insts.len()));
    }

    fn predicate_or_new(&mut self, name: &'s str) -> Result<P> {
        match self.target_predicate(name)? {
            Some(p) => Ok(p),
            None => Ok(self.new_pred()),
        }
    }

    /// `call`
    fn call(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        opcode.take("uni");
        let (results, operands) = match operands.split_first() {
            Some((Operand::List(results), rest)) => (results.as_slice(), rest),
            _ => (&[][..], operands),
        };
        let Some((Operand::Name(callee), rest)) = operands.split_first() else {
            return self.fail("a function is wanted");
        };
        let arguments = match rest.first() {
            Some(Operand::List(arguments)) => arguments.as_slice(),
            _ => &[],
        };
        let system = match *callee {
            "vprintf" => Some(SystemCall::Print),
            "__assertfail" => Some(SystemCall::Assert),
            _ => None,
        };
        let known = self.lookup(callee);
        if let (Some(function), None) = (system, &known) {
            let system = System {
                function,
                arguments: self.places(arguments)?,
                results: self.places(results)?,
            };
            // Threads print in their order.
            self.uses.ordered = true;
            self.emit(Op::System(Box::new(system)), Some(Class::Control));
            return Ok(());
        }
        let callee = match known {
            Some(Symbol::Function(index)) => {
                self.uses.functions.insert(index);
                Callee::Function(index)
            }
            Some(Symbol::Register(Reg::Long(pointer), _)) => {
                self.uses.pointers = true;
                Callee::Pointer(pointer)
            }
            _ if self.common.declared.contains(callee) => {
                let message = format!("a call to `{callee}`, which the module only declares");
                return Err(ParseError::unknown(self.at, message));
            }
            _ => return self.fail(format!("`{callee}` is no function of this module")),
        };
        let call = Call {
            callee,
            arguments: self.places(arguments)?,
            results: self.places(results)?,
        };
        self.emit_whole(Op::Call(Box::new(call)), Class::Control);
        Ok(())
    }

    fn places(&mut self, operands: &[Operand<'s>]) -> Result<Vec<Slot>> {
        operands.iter().map(|operand| self.place(operand)).collect()
    }

    fn place(&mut self, operand: &Operand<'s>) -> Result<Slot> {
        match *operand {
            Operand::Name(name) => match self.lookup(name) {
                Some(Symbol::Param { offset, bytes }) => Ok(Slot::Memory { offset, bytes }),
                Some(Symbol::Register(reg, _)) => Ok(Slot::Register(reg)),
                _ => self.fail(format!("`{name}` cannot be passed")),
            },
            Operand::Integer(_) | Operand::Single(_) => {
                Ok(Slot::Register(self.source(operand, B32)?))
            }
            Operand::Double(_) => Ok(Slot::Register(self.source(operand, B64)?)),
            _ => self.fail("an operand that cannot be passed"),
        }
    }

    /// `bar` and `barrier`
    fn barrier(
        &mut self,
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
        sync: bool,
    ) -> Result<()> {
        if opcode.take("warp") {
            let [mask] = self.operands(operands)?;
            let mask = self.word_or_constant(mask)?;
            self.emit_whole(Op::Warp(WarpOp::Sync, mask), Class::Barrier);
            return Ok(());
        }
        opcode.take("cta");
        // `bar` is `barrier.aligned`.
        let aligned = opcode.take("aligned") || opcode.base == "bar";
        let (kind, operands) = if opcode.take("red") {
            let which = self.half(opcode, &["popc", "and", "or"])?;
            opcode.take_type()?;
            let Some((d, rest)) = operands.split_first() else {
                return self.fail("operands are missing");
            };
            let Some((a, rest)) = rest.split_last() else {
                return self.fail("operands are missing");
            };
            let a = self.predicate(a)?;
            let kind = if which == "popc" {
                BarrierKind::Count(self.target_word(d, U32)?, a)
            } else {
                let Operand::Name(d) = *d else {
                    return self.fail("a predicate is wanted as destination");
                };
                let d = self.predicate_or_new(d)?;
                if which == "and" {
                    BarrierKind::All(d, a)
                } else {
                    BarrierKind::Any(d, a)
                }
            };
            (kind, rest)
        } else if opcode.take("arrive") {
            (BarrierKind::Arrive, operands)
        } else if sync {
            (BarrierKind::Sync, operands)
        } else {
            return opcode.fail("one of .sync .arrive .red is missing");
        };
        let (id, count) = match operands {
            [id] => (id, None),
            [id, count] => (id, Some(self.word_or_constant(count)?)),
            _ => return self.fail("another number of operands is wanted"),
        };
        let id = self.word_or_constant(id)?;
        let op = Op::Barrier {
            kind,
            id,
            count,
            aligned,
        };
        self.emit_whole(op, Class::Barrier);
        Ok(())
    }

    /// `shfl.sync`
    fn shuffle(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        let mode = match self.half(opcode, &["up", "down", "bfly", "idx"])? {
            "up" => Shuffle::Up,
            "down" => Shuffle::Down,
            "bfly" => Shuffle::Butterfly,
            _ => Shuffle::Index,
        };
        opcode.take_type()?;
        let [d, a, b, c, mask] = self.operands(operands)?;
        let (d, p) = match *d {
            Operand::Pair(d, p) => (Operand::Name(d), self.target_predicate(p)?),
            ref single => (single.clone(), None),
        };
        let a = self.word(a, B32)?;
        let b = self.word(b, B32)?;
        let c = self.word(c, B32)?;
        let mask = self.word_or_constant(mask)?;
        let d = self.target_word(&d, B32)?;
        let op = WarpOp::Shuffle {
            mode,
            d,
            p,
            a,
            b,
            c,
        };
        self.emit_whole(Op::Warp(op, mask), Class::Warp);
        Ok(())
    }

    /// `vote.sync`
    fn vote(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        let which = self.half(opcode, &["all", "any", "uni", "ballot"])?;
        opcode.take_type()?;
        let [d, a, mask] = self.operands(operands)?;
        let a = self.predicate(a)?;
        let mask = self.word_or_constant(mask)?;
        let op = if which == "ballot" {
            WarpOp::VoteBallot {
                d: self.target_word(d, B32)?,
                a,
            }
        } else {
            let Operand::Name(p) = *d else {
                return self.fail("a predicate is wanted as destination");
            };
            let vote = match which {
                "all" => Vote::All,
                "any" => Vote::Any,
                _ => Vote::Uniform,
            };
            WarpOp::Vote {
                vote,
                p: self.predicate_or_new(p)?,
                a,
            }
        };
        self.emit_whole(Op::Warp(op, mask), Class::Warp);
        Ok(())
    }

    /// `match.sync`
    fn matching(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        let all = self.half(opcode, &["any", "all"])? == "all";
        let ty = opcode.take_type()?;
        let [d, a, mask] = self.operands(operands)?;
        let (d, p) = match *d {
            Operand::Pair(d, p) => (Operand::Name(d), self.target_predicate(p)?),
            ref single => (single.clone(), None),
        };
        let a = self.source(a, ty)?;
        let mask = self.word_or_constant(mask)?;
        let d = self.target_word(&d, B32)?;
        self.emit_whole(Op::Warp(WarpOp::Match { all, d, p, a }, mask), Class::Warp);
        Ok(())
    }

    /// `redux.sync`
    fn reduce(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        let name = self.half(opcode, &["add", "min", "max", "and", "or", "xor"])?;
        let ty = opcode.take_type()?;
        if ty.bits != 32 || ty.is_float() {
            return opcode.fail("a type that the operation does not have");
        }
        let op = match (name, ty.is_signed()) {
            ("add", _) => Reduce::Add,
            ("min", false) => Reduce::MinU,
            ("min", true) => Reduce::MinS,
            ("max", false) => Reduce::MaxU,
            ("max", true) => Reduce::MaxS,
            ("and", _) => Reduce::And,
            ("or", _) => Reduce::Or,
            _ => Reduce::Xor,
        };
        let [d, a, mask] = self.operands(operands)?;
        let a = self.word(a, ty)?;
        let mask = self.word_or_constant(mask)?;
        let d = self.target_word(d, ty)?;
        self.emit_whole(Op::Warp(WarpOp::Reduce { op, d, a }, mask), Class::Warp);
        Ok(())
    }
}
