//! Moves, selections, comparisons and conversions.

use super::decoder::{Decoder, Result};
use super::opcode::Opcode;
use super::operands::{B64, U32};
use crate::count::Class;
use crate::ir::{Cond, L, Logic2, Op, Outcome, P, Reg, W};
use crate::lanes::half::Half;
use crate::lanes::rounding::Rounding;
use crate::lanes::{float, lanes, wide};
use crate::memory::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW};
use crate::syntax::tree::Operand;
use crate::syntax::types::{Kind, Space, Type};

/// How a test's outcome is combined with another predicate, if it is.
pub(super) type Combination = Option<(Logic2, Cond)>;

const B16: Type = Type {
    kind: Kind::Bits,
    bits: 16,
};

impl<'m, 's> Decoder<'m, 's> {
    /// Whether the opcode was one of these.
    pub(super) fn conversion(
        &mut self,
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
    ) -> Result<bool> {
        match opcode.base {
            "mov" => self.mov(opcode, operands)?,
            "selp" => {
                let ty = opcode.take_type()?;
                let [d, a, b, p] = self.operands(operands)?;
                let p = self.predicate(p)?;
                let op = if ty.bits == 64 {
                    let (a, b) = (self.long(a, ty)?, self.long(b, ty)?);
                    Op::LongSelect(self.target_long(d, ty)?, a, b, p)
                } else {
                    let (a, b) = (self.word(a, ty)?, self.word(b, ty)?);
                    Op::Select(self.target_word(d, ty)?, a, b, p)
                };
                self.emit(op, Some(Class::Move));
            }
            "setp" => self.setp(opcode, operands)?,
            "set" => self.set(opcode, operands)?,
            "cvt" => self.cvt(opcode, operands)?,
            "cvta" => self.cvta(opcode, operands)?,
            "isspacep" => {
                let space = opcode.take_space();
                let [Operand::Name(p), a] = self.operands(operands)? else {
                    return self.fail("a predicate is wanted as destination");
                };
                let a = self.long(a, B64)?;
                if let Some(p) = self.target_predicate(p)? {
                    self.emit(Op::IsSpace(p, a, space), Some(Class::Convert));
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn mov(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        let lanes = opcode.take_of(&["v2", "v4"]);
        let ty = opcode.take_type()?;
        let [d, a] = self.operands(operands)?;
        match lanes {
            Some("v2") => return self.move_all(d, a, ty, 2),
            Some(_) => return self.move_all(d, a, ty, 4),
            None if ty.bits == 128 => return self.move_all(d, a, ty, 1),
            None => {}
        }
        if let Operand::Name(name) = a
            && let Some(wide) = match *name {
                "%clock" | "%clock_hi" => Some(false),
                "%clock64" | "%globaltimer" => Some(true),
                _ => None,
            }
        {
            if wide != (ty.bits == 64) {
                return self.fail(format!("`{name}` has another width"));
            }
            if let Some(d) = self.target(d, ty, false)? {
                self.emit(Op::Clock(d), Some(Class::Move));
            }
            return Ok(());
        }
        match (d, a) {
            (Operand::Vector(parts), _) => self.unpack(parts, a, ty),
            (_, Operand::Vector(parts)) => self.pack(d, parts, ty),
            _ if ty.kind == Kind::Predicate => {
                let a = self.predicate(a)?;
                let Operand::Name(d) = *d else {
                    return self.fail("a predicate is wanted as destination");
                };
                if let Some(d) = self.target_predicate(d)? {
                    self.emit(Op::MovP(d, a), Some(Class::Move));
                }
                Ok(())
            }
            _ => {
                let op = if ty.bits == 64 {
                    let a = self.long(a, ty)?;
                    Op::MovL(self.target_long(d, ty)?, a)
                } else {
                    let a = self.word(a, ty)?;
                    Op::MovW(self.target_word(d, ty)?, a)
                };
                self.emit(op, Some(Class::Move));
                Ok(())
            }
        }
    }

    fn pack(&mut self, d: &Operand<'s>, parts: &'m [Operand<'s>], ty: Type) -> Result<()> {
        match (ty.bits, parts) {
            (64, [lo, hi]) => {
                let (lo, hi) = (self.word(lo, U32)?, self.word(hi, U32)?);
                let d = self.target_long(d, ty)?;
                self.emit(Op::Pack(d, lo, hi), Some(Class::Move));
            }
            (64, [a, b, c, e]) => {
                let lo = self.pack_halves(None, a, b)?;
                let hi = self.pack_halves(None, c, e)?;
                let d = self.target_long(d, ty)?;
                self.emit(Op::Pack(d, lo, hi), None);
            }
            (32, [lo, hi]) => {
                let d = self.target_word(d, ty)?;
                self.pack_halves(Some(d), lo, hi)?;
            }
            _ => return self.fail("parts that do not make up the type"),
        }
        Ok(())
    }

    fn pack_halves(&mut self, d: Option<W>, lo: &Operand<'s>, hi: &Operand<'s>) -> Result<W> {
        let (lo, hi) = (self.word(lo, B16)?, self.word(hi, B16)?);
        let d = match d {
            Some(d) => d,
            None => self.new_word(),
        };
        let op = Op::W2(lanes!(|a, b| a & 0xffff | b << 16), d, lo, hi);
        self.emit(op, Some(Class::Move));
        Ok(d)
    }

    fn unpack(&mut self, parts: &'m [Operand<'s>], a: &Operand<'s>, ty: Type) -> Result<()> {
        match (ty.bits, parts) {
            (64, [lo, hi]) => {
                let a = self.long(a, ty)?;
                let lo = self.optional_word(lo, U32)?;
                let hi = self.optional_word(hi, U32)?;
                self.emit(Op::Unpack(lo, hi, a), Some(Class::Move));
            }
            (64, [b, c, d, e]) => {
                let a = self.long(a, ty)?;
                let (lo, hi) = (self.new_word(), self.new_word());
                self.emit(Op::Unpack(Some(lo), Some(hi), a), Some(Class::Move));
                self.unpack_halves(b, c, lo)?;
                self.unpack_halves(d, e, hi)?;
            }
            (32, [lo, hi]) => {
                // Through a copy: a part may be the register that is taken apart.
                let a = self.word(a, ty)?;
                let copy = self.new_word();
                self.emit(Op::MovW(copy, a), Some(Class::Move));
                self.unpack_halves(lo, hi, copy)?;
            }
            _ => return self.fail("parts that do not make up the type"),
        }
        Ok(())
    }

    fn unpack_halves(&mut self, lo: &Operand<'s>, hi: &Operand<'s>, a: W) -> Result<()> {
        if let Some(lo) = self.optional_word(lo, B16)? {
            self.emit(Op::W1(lanes!(|a| a & 0xffff), lo, a), None);
        }
        if let Some(hi) = self.optional_word(hi, B16)? {
            self.emit(Op::W1(lanes!(|a| a >> 16), hi, a), None);
        }
        Ok(())
    }

    fn optional_word(&mut self, d: &Operand<'s>, ty: Type) -> Result<Option<W>> {
        match self.target(d, ty, false)? {
            Some(Reg::Word(word)) => Ok(Some(word)),
            None => Ok(None),
            _ => self.fail("a 32-bit destination is wanted"),
        }
    }

    /// `.and`, `.or` or `.xor` with another predicate, which is the last operand.
    fn combination(
        &mut self,
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
    ) -> Result<(&'m [Operand<'s>], Combination)> {
        let f: Option<Logic2> = match opcode.take_of(&["and", "or", "xor"]) {
            Some("and") => Some(|a, b| a & b),
            Some("or") => Some(|a, b| a | b),
            Some(_) => Some(|a, b| a ^ b),
            None => None,
        };
        match (f, operands.split_last()) {
            (Some(f), Some((last, rest))) => Ok((rest, Some((f, self.predicate(last)?)))),
            _ => Ok((operands, None)),
        }
    }

    fn comparison(&self, opcode: &mut Opcode<'s>) -> Result<&'s str> {
        self.half(
            opcode,
            &[
                "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu",
                "leu", "gtu", "geu", "num", "nan",
            ],
        )
    }

    fn setp(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        let comparison = self.comparison(opcode)?;
        let (operands, with) = self.combination(opcode, operands)?;
        let flush = opcode.take("ftz");
        if let Some(half) = opcode.take_with(Half::named) {
            return self.half_setp((comparison, with), half, flush, operands);
        }
        let ty = opcode.take_type()?;
        let [d, a, b] = self.operands(operands)?;
        let (p, q) = self.predicate_pair(d)?;
        let outcome = Outcome { p, q, with };
        if flush && ty.bits == 32 {
            return self.flushed_test(comparison, ty, a, b, outcome);
        }
        self.test(comparison, ty, a, b, outcome)
    }

    /// `p` or `p|q` to write.
    pub(super) fn predicate_pair(&mut self, d: &Operand<'s>) -> Result<(Option<P>, Option<P>)> {
        match *d {
            Operand::Name(p) => Ok((self.target_predicate(p)?, None)),
            Operand::Pair(p, q) => Ok((self.target_predicate(p)?, self.target_predicate(q)?)),
            _ => self.fail("a predicate is wanted as destination"),
        }
    }

    fn flushed_test(
        &mut self,
        comparison: &str,
        ty: Type,
        a: &Operand<'s>,
        b: &Operand<'s>,
        outcome: Outcome,
    ) -> Result<()> {
        let Some(f) = float::compare(comparison) else {
            return self.fail(format!("`{comparison}` does not exist for this type"));
        };
        let (a, b) = (self.word(a, ty)?, self.word(b, ty)?);
        let (x, y) = (self.new_word(), self.new_word());
        self.emit(Op::W1(float::FLUSH, x, a), None);
        self.emit(Op::W1(float::FLUSH, y, b), None);
        self.emit(Op::Test(f, x, y, outcome), Some(Class::Float));
        Ok(())
    }

    /// `set`: a test whose outcome is all ones, or 1.0.
    fn set(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        let comparison = self.comparison(opcode)?;
        let (operands, with) = self.combination(opcode, operands)?;
        if opcode.is_half() {
            return self.half_set((comparison, with), opcode, operands);
        }
        let flush = opcode.take("ftz");
        let (to, ty) = (opcode.take_type()?, opcode.take_type()?);
        if to.bits != 32 {
            return opcode.fail("a destination type that `set` does not have");
        }
        let [d, a, b] = self.operands(operands)?;
        let p = self.new_pred();
        let outcome = Outcome {
            p: Some(p),
            q: None,
            with,
        };
        if flush && ty.bits == 32 {
            self.flushed_test(comparison, ty, a, b, outcome)?;
        } else {
            self.test(comparison, ty, a, b, outcome)?;
        }
        let yes = self.constant_word(if to.is_float() {
            1f32.to_bits()
        } else {
            u32::MAX
        });
        let no = self.constant_word(0);
        let d = self.target_word(d, to)?;
        let cond = Cond { p, negated: false };
        self.emit(Op::Select(d, yes, no, cond), None);
        Ok(())
    }

    fn cvta(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        let to = opcode.take("to");
        let space = opcode.take_space();
        let ty = opcode.take_type()?;
        let [d, a] = self.operands(operands)?;
        if ty.bits != 64 {
            return opcode.fail("an address of another width than 64 bits");
        }
        let a = self.long(a, ty)?;
        let d = self.target_long(d, ty)?;
        let window = match space {
            Space::Generic => return opcode.fail("a state space is missing"),
            // Global and constant addresses are generic ones.
            Space::Global | Space::Constant => {
                self.emit(Op::MovL(d, a), Some(Class::Convert));
                return Ok(());
            }
            Space::Shared | Space::Cluster => SHARED_WINDOW,
            Space::Local => LOCAL_WINDOW,
            Space::Param => PARAM_WINDOW,
        };
        let window = self.constant_long(window);
        // A null pointer of one space is the null pointer of the other.
        let op = if to {
            Op::L2(
                lanes!(|a, w| if a == 0 { 0 } else { a.wrapping_sub(w) }),
                d,
                a,
                window,
            )
        } else {
            Op::L2(lanes!(|a, w| a.wrapping_add(w)), d, a, window)
        };
        self.emit(op, Some(Class::Convert));
        Ok(())
    }

    fn cvt(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        let integral = opcode.take_of(&["rni", "rzi", "rmi", "rpi"]);
        let integral = integral.and_then(|name| Rounding::named(&name[..2]));
        let mode = opcode.take_with(Rounding::named);
        let flush = opcode.take("ftz");
        let saturate = opcode.take("sat");
        if opcode.is_half() {
            let (modes, steps) = ((integral, mode), (flush, saturate));
            return self.half_cvt(opcode, operands, modes, steps);
        }
        let (to, from) = (opcode.take_type()?, opcode.take_type()?);
        let [d, a] = self.operands(operands)?;
        let source = self.source_with(a, from, true)?;
        let Some(target) = self.target(d, to, true)? else {
            return Ok(());
        };
        self.counted = false;
        match (to.is_float(), from.is_float()) {
            (false, false) => self.cvt_integers(target, to, source, from, saturate),
            (true, false) => {
                let Some(mode) = mode else {
                    return opcode.fail("a rounding mode is missing");
                };
                self.cvt_to_float(target, to, source, from, mode, saturate)
            }
            (false, true) => {
                let Some(mode) = integral else {
                    return opcode.fail("a rounding to integers is missing");
                };
                self.cvt_to_integer(target, to, source, from, mode, flush)
            }
            (true, true) => {
                let mode = mode.unwrap_or(Rounding::Nearest);
                self.cvt_floats(
                    target,
                    to,
                    source,
                    from,
                    (integral, mode),
                    (flush, saturate),
                )
            }
        }
    }

    /// A value of an integer type as a long.
    pub(super) fn extended(&mut self, source: Reg, from: Type) -> L {
        let d = self.new_long();
        let signed = from.is_signed();
        match source {
            Reg::Word(a) => {
                let op = Op::Widen1(wide::widen(from.bits, signed), d, a);
                self.emit(op, Some(Class::Convert));
            }
            Reg::Long(a) if from.bits == 64 => return a,
            Reg::Long(a) => {
                let low = self.new_word();
                self.emit(Op::Narrow1(wide::LOW, low, a), Some(Class::Convert));
                self.emit(Op::Widen1(wide::widen(from.bits, signed), d, low), None);
            }
            Reg::Pred(_) => {}
        }
        d
    }

    /// Puts a long that holds a value of type `to` into a register of its width
    /// or wider.
    fn store_integer(&mut self, target: Reg, to: Type, a: L) {
        match target {
            Reg::Word(d) => {
                let class = Some(Class::Convert);
                match (to.bits, to.is_signed()) {
                    (8, true) if self.is_narrow(target) => {
                        self.emit(Op::Narrow1(lanes!(|a| a as i8 as u16 as u32), d, a), class);
                    }
                    (8, true) => self.emit(Op::Narrow1(lanes!(|a| a as i8 as u32), d, a), class),
                    (8, false) => self.emit(Op::Narrow1(lanes!(|a| a as u8 as u32), d, a), class),
                    (16, true) if !self.is_narrow(target) => {
                        self.emit(Op::Narrow1(lanes!(|a| a as i16 as u32), d, a), class);
                    }
                    (16, _) => self.emit(Op::Narrow1(lanes!(|a| a as u16 as u32), d, a), class),
                    _ => self.emit(Op::Narrow1(wide::LOW, d, a), class),
                }
            }
            Reg::Long(d) if to.bits == 64 => self.emit(Op::MovL(d, a), Some(Class::Convert)),
            Reg::Long(d) => {
                let low = self.new_word();
                self.emit(Op::Narrow1(wide::LOW, low, a), Some(Class::Convert));
                let op = Op::Widen1(wide::widen(to.bits, to.is_signed()), d, low);
                self.emit(op, None);
            }
            Reg::Pred(_) => {}
        }
    }

    /// Whether a register of the word file was declared with 16 bits or fewer.
    fn is_narrow(&self, reg: Reg) -> bool {
        self.narrow.contains(&reg)
    }

    fn cvt_integers(
        &mut self,
        target: Reg,
        to: Type,
        source: Reg,
        from: Type,
        saturate: bool,
    ) -> Result<()> {
        // The common cases are one step.
        let class = Some(Class::Convert);
        match (target, source) {
            (Reg::Long(d), Reg::Word(a)) if to.bits == 64 && !saturate => {
                let op = Op::Widen1(wide::widen(from.bits, from.is_signed()), d, a);
                self.emit(op, class);
                return Ok(());
            }
            (Reg::Word(d), Reg::Long(a)) if to.bits == 32 && from.bits >= 32 && !saturate => {
                self.emit(Op::Narrow1(wide::LOW, d, a), class);
                return Ok(());
            }
            (Reg::Word(d), Reg::Word(a)) if to.bits == 32 && !saturate => {
                let op = match (from.bits, from.is_signed()) {
                    (8, false) => Op::W1(lanes!(|a| a & 0xff), d, a),
                    (8, true) => Op::W1(lanes!(|a| a as i8 as u32), d, a),
                    (16, false) => Op::W1(lanes!(|a| a & 0xffff), d, a),
                    (16, true) => Op::W1(lanes!(|a| a as i16 as u32), d, a),
                    _ => Op::MovW(d, a),
                };
                self.emit(op, class);
                return Ok(());
            }
            _ => {}
        }
        let mut long = self.extended(source, from);
        if saturate {
            let clamped = self.new_long();
            self.emit(
                Op::L1(float::clamp(from.is_signed(), to), clamped, long),
                class,
            );
            long = clamped;
        }
        self.store_integer(target, to, long);
        Ok(())
    }

    fn cvt_to_float(
        &mut self,
        target: Reg,
        to: Type,
        source: Reg,
        from: Type,
        mode: Rounding,
        saturate: bool,
    ) -> Result<()> {
        let long = self.extended(source, from);
        let signed = from.is_signed();
        match target {
            Reg::Word(d) if to.bits == 32 => {
                let op = Op::Narrow1(float::integer_to_single(signed, mode), d, long);
                self.emit(op, Some(Class::Convert));
                if saturate {
                    self.emit(Op::W1(float::SATURATE, d, d), None);
                }
            }
            Reg::Long(d) if to.bits == 64 => {
                let op = Op::L1(float::integer_to_double(signed, mode), d, long);
                self.emit(op, Some(Class::Convert));
                if saturate {
                    self.emit(Op::L1(float::LONG_SATURATE, d, d), None);
                }
            }
            _ => return self.fail("a destination of another width than the type"),
        }
        Ok(())
    }

    pub(super) fn cvt_to_integer(
        &mut self,
        target: Reg,
        to: Type,
        source: Reg,
        from: Type,
        mode: Rounding,
        flush: bool,
    ) -> Result<()> {
        let class = Some(Class::Convert);
        let result = self.new_long();
        match source {
            Reg::Word(a) if from.bits == 32 => {
                let mut at = a;
                if flush {
                    at = self.new_word();
                    self.emit(Op::W1(float::FLUSH, at, a), class);
                }
                let whole = self.new_word();
                self.emit(Op::W1(float::integral(mode), whole, at), class);
                let op = Op::Widen1(float::single_to_integer(to), result, whole);
                self.emit(op, None);
            }
            Reg::Long(a) if from.bits == 64 => {
                let whole = self.new_long();
                self.emit(Op::L1(float::long_integral(mode), whole, a), class);
                let convert = float::double_to_integer(to);
                if let (Reg::Long(d), 64) = (target, to.bits) {
                    self.emit(Op::L1(convert, d, whole), None);
                    return Ok(());
                }
                self.emit(Op::L1(convert, result, whole), None);
            }
            _ => return self.fail("a source of another width than the type"),
        }
        self.store_integer(target, to, result);
        Ok(())
    }

    fn cvt_floats(
        &mut self,
        target: Reg,
        to: Type,
        source: Reg,
        from: Type,
        (integral, mode): (Option<Rounding>, Rounding),
        (flush, saturate): (bool, bool),
    ) -> Result<()> {
        let class = Some(Class::Convert);
        match (target, source) {
            (Reg::Word(d), Reg::Word(a)) if to.bits == 32 && from.bits == 32 => {
                let mut at = a;
                if flush {
                    at = self.new_word();
                    self.emit(Op::W1(float::FLUSH, at, a), class);
                }
                let op = match integral {
                    Some(mode) => Op::W1(float::integral(mode), d, at),
                    None => Op::MovW(d, at),
                };
                self.emit(op, class);
            }
            (Reg::Long(d), Reg::Long(a)) if to.bits == 64 && from.bits == 64 => {
                let op = match integral {
                    Some(mode) => Op::L1(float::long_integral(mode), d, a),
                    None => Op::MovL(d, a),
                };
                self.emit(op, class);
            }
            (Reg::Long(d), Reg::Word(a)) if to.bits == 64 && from.bits == 32 => {
                let mut at = a;
                if flush {
                    at = self.new_word();
                    self.emit(Op::W1(float::FLUSH, at, a), class);
                }
                self.emit(Op::Widen1(float::TO_DOUBLE, d, at), class);
            }
            (Reg::Word(d), Reg::Long(a)) if to.bits == 32 && from.bits == 64 => {
                self.emit(Op::Narrow1(float::to_single(mode), d, a), class);
                if flush {
                    self.emit(Op::W1(float::FLUSH, d, d), None);
                }
            }
            _ => return self.fail("registers of another width than the types"),
        }
        if saturate {
            match target {
                Reg::Word(d) => self.emit(Op::W1(float::SATURATE, d, d), None),
                Reg::Long(d) => self.emit(Op::L1(float::LONG_SATURATE, d, d), None),
                Reg::Pred(_) => {}
            }
        }
        Ok(())
    }
}
