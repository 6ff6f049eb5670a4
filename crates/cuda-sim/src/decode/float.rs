//! Floating-point instructions.

use super::decoder::{Decoder, Result};
use super::opcode::Opcode;
use crate::count::Class;
use crate::ir::{L1, Op, W, W1};
use crate::lanes::rounding::Rounding;
use crate::lanes::{approximate, float};
use crate::syntax::tree::Operand;
use crate::syntax::types::Type;

impl<'m, 's> Decoder<'m, 's> {
    fn rounding(&self, opcode: &mut Opcode<'s>) -> Option<Rounding> {
        opcode.take_with(Rounding::named)
    }

    /// A single to read, its subnormals flushed if the instruction says so.
    pub(super) fn single(&mut self, operand: &Operand<'s>, ty: Type, flush: bool) -> Result<W> {
        let a = self.word(operand, ty)?;
        if !flush {
            return Ok(a);
        }
        let flushed = self.new_word();
        self.emit(Op::W1(float::FLUSH, flushed, a), None);
        Ok(flushed)
    }

    /// Emits the operation that `op` makes for a destination, and behind it what
    /// `.ftz` and `.sat` ask for.
    fn single_result(&mut self, d: W, flush: bool, saturate: bool, op: impl FnOnce(W) -> Op) {
        let after: [Option<W1>; 2] = [
            flush.then_some(float::FLUSH),
            saturate.then_some(float::SATURATE),
        ];
        let mut at = if flush || saturate {
            self.new_word()
        } else {
            d
        };
        self.emit(op(at), Some(Class::Float));
        let steps: Vec<W1> = after.into_iter().flatten().collect();
        for (i, &f) in steps.iter().enumerate() {
            let next = if i + 1 == steps.len() {
                d
            } else {
                self.new_word()
            };
            self.emit(Op::W1(f, next, at), None);
            at = next;
        }
    }

    pub(super) fn float2(
        &mut self,
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
        rounded: bool,
    ) -> Result<()> {
        let ty = opcode.take_type()?;
        let mode = if rounded { self.rounding(opcode) } else { None };
        let approximate = opcode.base == "div" && mode.is_none();
        let reciprocal = approximate && opcode.take("approx");
        if approximate && !reciprocal && !opcode.take("full") || approximate && ty.bits != 32 {
            return opcode.fail("a rounding mode is missing");
        }
        let mode = mode.unwrap_or(Rounding::Nearest);
        let flush = opcode.take("ftz");
        let saturate = opcode.take("sat");
        let name = if opcode.take("NaN") {
            format!("{}.NaN", opcode.base)
        } else {
            opcode.base.to_owned()
        };
        let [d, a, b] = self.operands(operands)?;
        if ty.bits == 32 {
            // `div.full` has no such gap for large divisors.
            let f = if reciprocal {
                Some(approximate::QUOTIENT)
            } else {
                float::binary(&name, mode)
            };
            let Some(f) = f else {
                return self.unsupported(&name);
            };
            let a = self.single(a, ty, flush)?;
            let b = self.single(b, ty, flush)?;
            let d = self.target_word(d, ty)?;
            self.single_result(d, flush, saturate, |d| Op::W2(f, d, a, b));
        } else {
            let Some(f) = float::long_binary(&name, mode) else {
                return self.unsupported(&name);
            };
            if flush || saturate {
                return self.unsupported(&name);
            }
            let (a, b) = (self.long(a, ty)?, self.long(b, ty)?);
            let d = self.target_long(d, ty)?;
            self.emit(Op::L2(f, d, a, b), Some(Class::Float));
        }
        Ok(())
    }

    pub(super) fn float_sign(
        &mut self,
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
    ) -> Result<()> {
        let ty = opcode.take_type()?;
        let flush = opcode.take("ftz");
        let [d, a] = self.operands(operands)?;
        match (
            ty.bits,
            float::unary(opcode.base),
            float::long_unary(opcode.base),
        ) {
            (32, Some(f), _) => {
                let a = self.single(a, ty, flush)?;
                let d = self.target_word(d, ty)?;
                self.emit(Op::W1(f, d, a), Some(Class::Float));
            }
            (64, _, Some(f)) if !flush => {
                let a = self.long(a, ty)?;
                let d = self.target_long(d, ty)?;
                self.emit(Op::L1(f, d, a), Some(Class::Float));
            }
            _ => return self.unsupported(opcode.base),
        }
        Ok(())
    }

    pub(super) fn float_root(
        &mut self,
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
    ) -> Result<()> {
        let ty = opcode.take_type()?;
        let Some(mode) = self.rounding(opcode) else {
            return opcode.fail("a result that IEEE 754 does not define");
        };
        let flush = opcode.take("ftz");
        let [d, a] = self.operands(operands)?;
        let is_root = opcode.base == "sqrt";
        if ty.bits == 32 {
            let f: W1 = if is_root {
                float::root(mode)
            } else {
                float::reciprocal(mode)
            };
            let a = self.single(a, ty, flush)?;
            let d = self.target_word(d, ty)?;
            self.single_result(d, flush, false, |d| Op::W1(f, d, a));
        } else {
            let f: L1 = if is_root {
                float::long_root(mode)
            } else {
                float::long_reciprocal(mode)
            };
            let a = self.long(a, ty)?;
            let d = self.target_long(d, ty)?;
            self.emit(Op::L1(f, d, a), Some(Class::Float));
        }
        Ok(())
    }

    /// Functions whose results PTX bounds but does not fix.
    pub(super) fn approximate(
        &mut self,
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
    ) -> Result<()> {
        self.half(opcode, &["approx"])?;
        let ty = opcode.take_type()?;
        let flush = opcode.take("ftz");
        let [d, a] = self.operands(operands)?;
        if ty.bits == 32 && ty.is_float() {
            let Some(f) = approximate::unary(opcode.base) else {
                return self.unsupported(opcode.base);
            };
            let a = self.single(a, ty, flush)?;
            let d = self.target_word(d, ty)?;
            self.single_result(d, flush, false, |d| Op::W1(f, d, a));
        } else {
            let f = approximate::long_unary(opcode.base, flush);
            let Some(f) = f.filter(|_| ty.is_float()) else {
                return self.unsupported(opcode.base);
            };
            let a = self.long(a, ty)?;
            let d = self.target_long(d, ty)?;
            self.emit(Op::L1(f, d, a), Some(Class::Float));
        }
        Ok(())
    }

    pub(super) fn fused(
        &mut self,
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
        ty: Type,
    ) -> Result<()> {
        opcode.take_type()?;
        let Some(mode) = self.rounding(opcode) else {
            return opcode.fail("a rounding mode is missing");
        };
        let flush = opcode.take("ftz");
        let saturate = opcode.take("sat");
        let [d, a, b, c] = self.operands(operands)?;
        if ty.bits == 32 {
            let a = self.single(a, ty, flush)?;
            let b = self.single(b, ty, flush)?;
            let c = self.single(c, ty, flush)?;
            let d = self.target_word(d, ty)?;
            let f = float::fused(mode);
            self.single_result(d, flush, saturate, |d| Op::W3(f, d, a, b, c));
        } else if flush || saturate {
            return self.unsupported("fma");
        } else {
            let (a, b, c) = (self.long(a, ty)?, self.long(b, ty)?, self.long(c, ty)?);
            let d = self.target_long(d, ty)?;
            let op = Op::L3(float::long_fused(mode), d, a, b, c);
            self.emit(op, Some(Class::Float));
        }
        Ok(())
    }
}
