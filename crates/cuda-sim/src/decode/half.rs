//! Arithmetic, comparisons and conversions of the 16-bit formats `.f16` and `.bf16`.

use super::convert::Combination;
use super::decoder::{Decoder, Result};
use super::opcode::Opcode;
use super::operands::U32;
use crate::count::Class;
use crate::ir::{Cond, Narrow1, Op, Outcome, P, Reg, W, W1, W2, Widen1};
use crate::lanes::half::{self, Half};
use crate::lanes::rounding::Rounding;
use crate::lanes::{float, lanes};
use crate::syntax::tree::Operand;
use crate::syntax::types::{Kind, Type};

const B16: Type = Type {
    kind: Kind::Bits,
    bits: 16,
};
const F32: Type = Type {
    kind: Kind::Float,
    bits: 32,
};

/// The type of registers that hold such numbers.
fn held(half: Half) -> Type {
    if half.packed { U32 } else { B16 }
}

/// One side of a conversion.
#[derive(Clone, Copy)]
enum Side {
    Half(Half),
    Other(Type),
}

impl<'m, 's> Decoder<'m, 's> {
    /// Whether the opcode was one of these in a 16-bit format.
    pub(super) fn half_arithmetic(
        &mut self,
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
    ) -> Result<bool> {
        let known = ["add", "sub", "mul", "fma", "neg", "abs", "min", "max"];
        if !known.contains(&opcode.base) {
            return Ok(false);
        }
        let Some(half) = opcode.take_with(Half::named) else {
            return Ok(false);
        };
        let rounded = opcode.take("rn");
        if opcode.base == "fma" && !rounded {
            return opcode.fail("a rounding mode is missing");
        }
        let flush = !half.brain && opcode.take("ftz");
        // What is done to the result; bf16 is rectified by `fma` alone.
        let mut after: Vec<&str> = Vec::new();
        if flush {
            after.push("ftz");
        }
        let sums = matches!(opcode.base, "add" | "sub" | "mul" | "fma");
        if sums && !half.brain && opcode.take("sat") {
            after.push("sat");
        }
        if opcode.base == "fma" && opcode.take("relu") {
            after.push("relu");
        }
        let name = if opcode.take("NaN") {
            format!("{}.NaN", opcode.base)
        } else {
            opcode.base.to_owned()
        };
        let Some((d, sources)) = operands.split_first() else {
            return self.fail("operands are missing");
        };
        let mut read = Vec::with_capacity(sources.len());
        for source in sources {
            read.push(self.half_source(source, half, flush)?);
        }
        let d = self.target_word(d, held(half))?;
        let at = if after.is_empty() { d } else { self.new_word() };
        let op = match (
            read[..].as_ref(),
            half::unary(&name, half),
            half::binary(&name, half),
        ) {
            (&[a], Some(f), _) => Op::W1(f, at, a),
            (&[a, b], _, Some(f)) => Op::W2(f, at, a, b),
            (&[a, b, c], ..) if name == "fma" => Op::W3(half::fma(half), at, a, b, c),
            _ => return self.fail("another number of operands is wanted"),
        };
        self.emit(op, Some(Class::Float));
        self.half_steps(&after, half, d, at);
        Ok(true)
    }

    fn half_source(&mut self, operand: &Operand<'s>, half: Half, flush: bool) -> Result<W> {
        let a = self.word(operand, held(half))?;
        let Some(f) = half::unary("ftz", half).filter(|_| flush) else {
            return Ok(a);
        };
        let flushed = self.new_word();
        self.emit(Op::W1(f, flushed, a), None);
        Ok(flushed)
    }

    /// Leads a result through `.ftz`, `.sat` and `.relu` to its destination.
    fn half_steps(&mut self, steps: &[&str], half: Half, d: W, mut at: W) {
        for (i, name) in steps.iter().enumerate() {
            let next = if i + 1 == steps.len() {
                d
            } else {
                self.new_word()
            };
            if let Some(f) = half::unary(name, half) {
                self.emit(Op::W1(f, next, at), None);
            }
            at = next;
        }
    }

    /// The number in the low or the high half of a word as a single.
    fn half_as_single(&mut self, a: W, half: Half, high: bool) -> W {
        let mut at = a;
        if high {
            at = self.new_word();
            self.emit(Op::W1(lanes!(|a| a >> 16), at, a), None);
        }
        let single = self.new_word();
        self.emit(
            Op::W1(half::widen(half.brain), single, at),
            Some(Class::Convert),
        );
        single
    }

    /// Tests two operands, or the halves of both: where the outcomes go is given for
    /// the low half and the high one.
    fn half_tests(
        &mut self,
        comparison: &str,
        half: Half,
        (a, b): (W, W),
        outcomes: [Option<Outcome>; 2],
    ) -> Result<()> {
        let Some(f) = float::compare(comparison) else {
            return self.fail(format!("`{comparison}` does not exist for this type"));
        };
        // Both are read before a predicate is written that the other may combine with.
        let mut tests = Vec::new();
        for (high, outcome) in outcomes.into_iter().enumerate() {
            if let Some(outcome) = outcome {
                let (x, y) = (
                    self.half_as_single(a, half, high == 1),
                    self.half_as_single(b, half, high == 1),
                );
                tests.push(Op::Test(f, x, y, outcome));
            }
        }
        for test in tests {
            self.emit(test, Some(Class::Float));
        }
        Ok(())
    }

    /// `setp` in a 16-bit format; of two side by side, `p|q` are the low and the high.
    pub(super) fn half_setp(
        &mut self,
        (comparison, with): (&str, Combination),
        half: Half,
        flush: bool,
        operands: &'m [Operand<'s>],
    ) -> Result<()> {
        let [d, a, b] = self.operands(operands)?;
        let (p, q) = self.predicate_pair(d)?;
        let a = self.half_source(a, half, flush)?;
        let b = self.half_source(b, half, flush)?;
        let outcomes = if half.packed {
            let of = |p| Outcome { p, q: None, with };
            // The predicate that both combine with may be the first result.
            let (first, second) = (self.new_pred(), self.new_pred());
            self.half_tests(
                comparison,
                half,
                (a, b),
                [Some(of(Some(first))), Some(of(Some(second)))],
            )?;
            for (d, result) in [(p, first), (q, second)] {
                if let Some(d) = d {
                    let cond = Cond {
                        p: result,
                        negated: false,
                    };
                    self.emit(Op::MovP(d, cond), None);
                }
            }
            return Ok(());
        } else {
            [Some(Outcome { p, q, with }), None]
        };
        self.half_tests(comparison, half, (a, b), outcomes)
    }

    /// `set` of numbers in a 16-bit format.
    pub(super) fn half_set(
        &mut self,
        (comparison, with): (&str, Combination),
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
    ) -> Result<()> {
        let flush = opcode.take("ftz");
        let (to, from) = (self.side(opcode)?, self.side(opcode)?);
        let Side::Half(half) = from else {
            return opcode.fail("another type to compare");
        };
        let (yes, ty) = match to {
            Side::Half(to) if to == half => (half.one(), held(half)),
            Side::Other(ty) if half.packed && ty.bits == 32 && !ty.is_float() => (u32::MAX, ty),
            Side::Other(ty) if !half.packed && ty.is_float() && ty.bits == 32 => {
                (1f32.to_bits(), ty)
            }
            Side::Other(ty) if !half.packed && !ty.is_float() && matches!(ty.bits, 16 | 32) => {
                (u32::MAX >> (32 - ty.bits), ty)
            }
            _ => return opcode.fail("a destination type that `set` does not have"),
        };
        let [d, a, b] = self.operands(operands)?;
        let a = self.half_source(a, half, flush)?;
        let b = self.half_source(b, half, flush)?;
        let preds: [P; 2] = [self.new_pred(), self.new_pred()];
        let outcome = |p| {
            Some(Outcome {
                p: Some(p),
                q: None,
                with,
            })
        };
        let high = if half.packed { outcome(preds[1]) } else { None };
        self.half_tests(comparison, half, (a, b), [outcome(preds[0]), high])?;
        let d = self.target_word(d, ty)?;
        let none = self.constant_word(0);
        let cond = |p| Cond { p, negated: false };
        if !half.packed {
            let yes = self.constant_word(yes);
            self.emit(Op::Select(d, yes, none, cond(preds[0])), None);
            return Ok(());
        }
        let (low, high) = (self.new_word(), self.new_word());
        let ones = [yes & 0xffff, yes & !0xffff].map(|ones| self.constant_word(ones));
        self.emit(Op::Select(low, ones[0], none, cond(preds[0])), None);
        self.emit(Op::Select(high, ones[1], none, cond(preds[1])), None);
        self.emit(Op::W2(lanes!(|a, b| a | b), d, low, high), None);
        Ok(())
    }

    fn side(&self, opcode: &mut Opcode<'s>) -> Result<Side> {
        let side = opcode.take_with(|name| {
            let half = Half::named(name).map(Side::Half);
            half.or_else(|| Type::named(name).map(Side::Other))
        });
        match side {
            Some(side) => Ok(side),
            None => opcode.fail("a type that is missing or not supported"),
        }
    }

    /// `cvt` from or to a 16-bit format.
    pub(super) fn half_cvt(
        &mut self,
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
        (integral, mode): (Option<Rounding>, Option<Rounding>),
        (flush, saturate): (bool, bool),
    ) -> Result<()> {
        let rectify = opcode.take("relu");
        let sides = (self.side(opcode)?, self.side(opcode)?);
        let impossible = "a conversion that 16-bit floats do not have";
        let to = match sides {
            (Side::Half(to), _) => to,
            (Side::Other(to), Side::Half(from)) if !from.packed && !rectify && mode.is_none() => {
                return self.half_cvt_from(
                    opcode,
                    operands,
                    (to, from),
                    integral,
                    (flush, saturate),
                );
            }
            _ => return opcode.fail(impossible),
        };
        let mut after: Vec<&str> = Vec::new();
        if saturate {
            after.push("sat");
        }
        if rectify {
            after.push("relu");
        }
        if to.packed {
            let (Side::Other(F32), None, false, Some(mode)) = (sides.1, integral, saturate, mode)
            else {
                return opcode.fail(impossible);
            };
            // The first of the two goes above.
            let [d, high, low] = self.operands(operands)?;
            let narrow = half::narrowing(to.brain, mode);
            let (high, low) = (self.double_of(high, flush)?, self.double_of(low, flush)?);
            let d = self.target_word(d, U32)?;
            let at = if after.is_empty() { d } else { self.new_word() };
            let (above, below) = (self.new_word(), self.new_word());
            self.emit(Op::Narrow1(narrow, above, high), Some(Class::Convert));
            self.emit(Op::Narrow1(narrow, below, low), None);
            let join: W2 = lanes!(|high, low| high << 16 | low);
            self.emit(Op::W2(join, at, above, below), None);
            self.half_steps(&after, to, d, at);
            return Ok(());
        }
        let [d, a] = self.operands(operands)?;
        let (double, mode) = match (sides.1, integral, mode) {
            (Side::Other(F32), None, Some(mode)) => (self.double_of(a, flush)?, mode),
            (Side::Other(ty), None, Some(mode)) if ty.is_float() => (self.long(a, ty)?, mode),
            (Side::Other(ty), None, Some(mode)) if ty.kind != Kind::Predicate => {
                let source = self.source_with(a, ty, true)?;
                let long = self.extended(source, ty);
                let double = self.new_long();
                let odd = half::integer_to_odd(ty.is_signed());
                self.emit(Op::L1(odd, double, long), Some(Class::Convert));
                (double, mode)
            }
            // To the same format, rounded to an integral value or not.
            (Side::Half(from), integral, mode)
                if !from.packed && (from == to) == mode.is_none() =>
            {
                let a = self.word(a, B16)?;
                let mut single = self.half_as_single(a, from, false);
                if let Some(integral) = integral {
                    let whole = self.new_word();
                    self.emit(Op::W1(float::integral(integral), whole, single), None);
                    single = whole;
                }
                let double = self.new_long();
                self.emit(Op::Widen1(float::TO_DOUBLE, double, single), None);
                (double, mode.unwrap_or(Rounding::Nearest))
            }
            _ => return opcode.fail(impossible),
        };
        let d = self.target_word(d, B16)?;
        let at = if after.is_empty() { d } else { self.new_word() };
        let narrow: Narrow1 = half::narrowing(to.brain, mode);
        self.emit(Op::Narrow1(narrow, at, double), Some(Class::Convert));
        self.half_steps(&after, to, d, at);
        Ok(())
    }

    /// A single as a double.
    fn double_of(&mut self, operand: &Operand<'s>, flush: bool) -> Result<crate::ir::L> {
        let single = self.single(operand, F32, flush)?;
        let double = self.new_long();
        let exact: Widen1 = float::TO_DOUBLE;
        self.emit(Op::Widen1(exact, double, single), Some(Class::Convert));
        Ok(double)
    }

    /// Converts a 16-bit format to another kind of number.
    fn half_cvt_from(
        &mut self,
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
        (to, from): (Type, Half),
        integral: Option<Rounding>,
        (flush, saturate): (bool, bool),
    ) -> Result<()> {
        let [d, a] = self.operands(operands)?;
        let a = self.word(a, B16)?;
        let single = self.half_as_single(a, from, false);
        match (integral, to.is_float()) {
            (Some(mode), false) => {
                let Some(target) = self.target(d, to, true)? else {
                    return Ok(());
                };
                self.cvt_to_integer(target, to, Reg::Word(single), F32, mode, false)
            }
            (None, true) if to.bits == 32 => {
                let mut steps: Vec<W1> = Vec::new();
                steps.extend(flush.then_some(float::FLUSH));
                steps.extend(saturate.then_some(float::SATURATE));
                let d = self.target_word(d, to)?;
                let mut at = single;
                for f in steps {
                    let next = self.new_word();
                    self.emit(Op::W1(f, next, at), None);
                    at = next;
                }
                self.emit(Op::MovW(d, at), None);
                Ok(())
            }
            (None, true) => {
                let d = self.target_long(d, to)?;
                self.emit(Op::Widen1(float::TO_DOUBLE, d, single), None);
                if saturate {
                    self.emit(Op::L1(float::LONG_SATURATE, d, d), None);
                }
                Ok(())
            }
            _ => opcode.fail("a conversion that 16-bit floats do not have"),
        }
    }
}
