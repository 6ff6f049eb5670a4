//! Integer, logical and floating-point instructions.

use super::decoder::{Decoder, Result};
use super::opcode::Opcode;
use super::operands::U32;
use super::products::Multiply;
use crate::count::Class;
use crate::ir::{Op, Outcome, Reg};
use crate::lanes::{carry, float, integer, wide};
use crate::syntax::error::ParseError;
use crate::syntax::tree::Operand;
use crate::syntax::types::{Kind, Type};

const S32: Type = Type {
    kind: Kind::Signed,
    bits: 32,
};

impl<'m, 's> Decoder<'m, 's> {
    /// Whether the opcode was one of these.
    pub(super) fn arithmetic(
        &mut self,
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
    ) -> Result<bool> {
        match opcode.base {
            "add" | "sub" | "addc" | "subc" => self.sum(opcode, operands)?,
            "mul" => self.mul(opcode, operands)?,
            "mad" | "madc" => self.mad(opcode, operands)?,
            "mul24" | "mad24" => {
                let half = self.half(opcode, &["lo", "hi"])?;
                let ty = opcode.take_type()?;
                let name = format!("{}.{half}", opcode.base);
                match opcode.base {
                    "mul24" => self.integer2(&name, ty, ty, operands, Class::Multiply)?,
                    _ => self.integer3(&name, ty, operands, Class::Multiply)?,
                }
                self.multiply(Multiply::LowAlone);
            }
            "div" | "rem" | "min" | "max" => {
                let divides = matches!(opcode.base, "div" | "rem");
                let ty = self.peeked_type(opcode)?;
                if ty.is_float() {
                    self.float2(opcode, operands, divides)?;
                } else {
                    opcode.take_type()?;
                    let class = if divides {
                        Class::Divide
                    } else {
                        Class::Integer
                    };
                    self.integer2(opcode.base, ty, ty, operands, class)?;
                }
            }
            "neg" | "abs" => {
                let ty = self.peeked_type(opcode)?;
                if ty.is_float() {
                    self.float_sign(opcode, operands)?;
                } else {
                    opcode.take_type()?;
                    self.integer1(opcode.base, ty, operands)?;
                }
            }
            "not" | "cnot" | "brev" | "and" | "or" | "xor" => self.bitwise(opcode, operands)?,
            "popc" | "clz" | "bfind" => {
                let is_shift = opcode.base == "bfind" && opcode.take("shiftamt");
                let name = if is_shift {
                    "bfind.shiftamt"
                } else {
                    opcode.base
                };
                let ty = opcode.take_type()?;
                self.counting(name, ty, operands)?;
            }
            "shl" | "shr" => self.shift(opcode, operands)?,
            "shf" => {
                let side = self.half(opcode, &["l", "r"])?;
                let mode = self.half(opcode, &["clamp", "wrap"])?;
                let ty = opcode.take_type()?;
                self.integer3(&format!("shf.{side}.{mode}"), ty, operands, Class::Integer)?;
            }
            "bmsk" | "szext" => {
                let mode = self.half(opcode, &["clamp", "wrap"])?;
                let ty = opcode.take_type()?;
                let name = format!("{}.{mode}", opcode.base);
                self.integer2(&name, ty, U32, operands, Class::Integer)?;
            }
            "prmt" => {
                let ty = opcode.take_type()?;
                let name = match opcode.take_of(&["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]) {
                    Some(mode) => format!("prmt.{mode}"),
                    None => "prmt".to_owned(),
                };
                self.integer3(&name, ty, operands, Class::Integer)?;
            }
            "lop3" => self.lop3(opcode, operands)?,
            "bfe" => self.bfe(opcode, operands)?,
            "bfi" => self.bfi(opcode, operands)?,
            "sad" | "fns" => {
                let ty = opcode.take_type()?;
                self.integer3(opcode.base, ty, operands, Class::Integer)?;
            }
            "dp4a" | "dp2a" => self.dot(opcode, operands)?,
            "slct" => self.slct(opcode, operands)?,
            "fma" => {
                let ty = self.peeked_type(opcode)?;
                self.fused(opcode, operands, ty)?;
            }
            "sqrt" | "rcp" if !opcode.has("approx") => self.float_root(opcode, operands)?,
            "sqrt" | "rcp" | "rsqrt" | "ex2" | "lg2" | "sin" | "cos" | "tanh" => {
                self.approximate(opcode, operands)?;
            }
            "copysign" => self.float2(opcode, operands, false)?,
            "testp" => self.test_number(opcode, operands)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn bitwise(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        let name = opcode.base;
        let is_unary = matches!(name, "not" | "cnot" | "brev");
        let ty = opcode.take_type()?;
        match (ty.kind == Kind::Predicate, is_unary) {
            (true, true) => {
                let [d, a] = self.operands(operands)?;
                self.logic("not", d, a, a)
            }
            (true, false) => {
                let [d, a, b] = self.operands(operands)?;
                self.logic(name, d, a, b)
            }
            (false, true) => self.integer1(name, ty, operands),
            (false, false) => self.integer2(name, ty, ty, operands, Class::Integer),
        }
    }

    fn shift(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        let ty = opcode.take_type()?;
        if ty.bits != 64 {
            return self.integer2(opcode.base, ty, U32, operands, Class::Integer);
        }
        let [d, a, b] = self.operands(operands)?;
        let (a, b) = (self.long(a, ty)?, self.word(b, U32)?);
        let d = self.target_long(d, ty)?;
        let Some(f) = wide::shift(opcode.base, ty) else {
            return opcode.fail("a type that shifts do not have");
        };
        self.emit(Op::Shift2(f, d, a, b), Some(Class::Integer));
        Ok(())
    }

    /// `testp`: of what kind a number is.
    fn test_number(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        let tests = [
            "finite",
            "infinite",
            "number",
            "notanumber",
            "normal",
            "subnormal",
        ];
        let test = self.half(opcode, &tests)?;
        let ty = opcode.take_type()?;
        let [Operand::Name(p), a] = self.operands(operands)? else {
            return self.fail("a predicate is wanted as destination");
        };
        let outcome = Outcome {
            p: self.target_predicate(p)?,
            q: None,
            with: None,
        };
        self.test(test, ty, a, a, outcome)
    }

    /// Takes one of several modifiers of which one must be there.
    pub(super) fn half(&self, opcode: &mut Opcode<'s>, known: &[&str]) -> Result<&'s str> {
        match opcode.take_of(known) {
            Some(found) => Ok(found),
            None => opcode.fail(&format!("one of .{} is missing", known.join(" ."))),
        }
    }

    /// The type, left in place for who comes next.
    fn peeked_type(&self, opcode: &mut Opcode<'s>) -> Result<Type> {
        match opcode.type_ahead() {
            Some(ty) => Ok(ty),
            None => opcode.fail("a type that is missing or not supported"),
        }
    }

    pub(super) fn unsupported<T>(&self, name: &str) -> Result<T> {
        Err(ParseError::unknown(
            self.at,
            format!("`{name}` does not exist for this type"),
        ))
    }

    fn integer1(&mut self, name: &str, ty: Type, operands: &'m [Operand<'s>]) -> Result<()> {
        let [d, a] = self.operands(operands)?;
        let op = if ty.bits == 64 {
            let Some(f) = wide::unary(name) else {
                return self.unsupported(name);
            };
            let a = self.long(a, ty)?;
            Op::L1(f, self.target_long(d, ty)?, a)
        } else {
            let Some(f) = integer::unary(name, ty) else {
                return self.unsupported(name);
            };
            let a = self.word(a, ty)?;
            Op::W1(f, self.target_word(d, ty)?, a)
        };
        self.emit(op, Some(Class::Integer));
        Ok(())
    }

    fn integer2(
        &mut self,
        name: &str,
        ty: Type,
        second: Type,
        operands: &'m [Operand<'s>],
        class: Class,
    ) -> Result<()> {
        let [d, a, b] = self.operands(operands)?;
        let op = if ty.bits == 64 {
            let Some(f) = wide::binary(name, ty) else {
                return self.unsupported(name);
            };
            let (a, b) = (self.long(a, ty)?, self.long(b, second)?);
            Op::L2(f, self.target_long(d, ty)?, a, b)
        } else {
            let Some(f) = integer::binary(name, ty) else {
                return self.unsupported(name);
            };
            let (a, b) = (self.word(a, ty)?, self.word(b, second)?);
            Op::W2(f, self.target_word(d, ty)?, a, b)
        };
        self.emit(op, Some(class));
        Ok(())
    }

    fn integer3(
        &mut self,
        name: &str,
        ty: Type,
        operands: &'m [Operand<'s>],
        class: Class,
    ) -> Result<()> {
        let [d, a, b, c] = self.operands(operands)?;
        let op = if ty.bits == 64 {
            let Some(f) = wide::ternary(name, ty) else {
                return self.unsupported(name);
            };
            let (a, b, c) = (self.long(a, ty)?, self.long(b, ty)?, self.long(c, ty)?);
            Op::L3(f, self.target_long(d, ty)?, a, b, c)
        } else {
            let Some(f) = integer::ternary(name, ty) else {
                return self.unsupported(name);
            };
            let (a, b, c) = (self.word(a, ty)?, self.word(b, ty)?, self.word(c, ty)?);
            Op::W3(f, self.target_word(d, ty)?, a, b, c)
        };
        self.emit(op, Some(class));
        Ok(())
    }

    fn counting(&mut self, name: &str, ty: Type, operands: &'m [Operand<'s>]) -> Result<()> {
        let [d, a] = self.operands(operands)?;
        let op = if ty.bits == 64 {
            let Some(f) = wide::counting(name, ty) else {
                return self.unsupported(name);
            };
            let a = self.long(a, ty)?;
            Op::Narrow1(f, self.target_word(d, U32)?, a)
        } else {
            let f = match name.strip_prefix("bfind") {
                Some(shift) => integer::find_leading(ty, !shift.is_empty()),
                None => integer::unary(name, ty),
            };
            let Some(f) = f else {
                return self.unsupported(name);
            };
            let a = self.word(a, ty)?;
            Op::W1(f, self.target_word(d, U32)?, a)
        };
        self.emit(op, Some(Class::Integer));
        Ok(())
    }

    fn logic(
        &mut self,
        name: &str,
        d: &Operand<'s>,
        a: &Operand<'s>,
        b: &Operand<'s>,
    ) -> Result<()> {
        let (a, b) = (self.predicate(a)?, self.predicate(b)?);
        let Operand::Name(d) = *d else {
            return self.fail("a predicate is wanted as destination");
        };
        let Some(d) = self.target_predicate(d)? else {
            return Ok(());
        };
        let op = match name {
            "not" => Op::Logic(|a, _| !a, d, a, b),
            "and" => Op::Logic(|a, b| a & b, d, a, b),
            "or" => Op::Logic(|a, b| a | b, d, a, b),
            _ => Op::Logic(|a, b| a ^ b, d, a, b),
        };
        self.emit(op, Some(Class::Integer));
        Ok(())
    }

    fn sum(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        let subtract = opcode.base.starts_with("sub");
        let reads = opcode.base.len() == 4;
        let sets = opcode.take("cc");
        if !reads && !sets {
            let ty = self.peeked_type(opcode)?;
            if ty.is_float() {
                return self.float2(opcode, operands, true);
            }
            opcode.take_type()?;
            let name = if opcode.take("sat") {
                format!("{}.sat", opcode.base)
            } else {
                opcode.base.to_owned()
            };
            return self.integer2(&name, ty, ty, operands, Class::Integer);
        }
        let ty = opcode.take_type()?;
        let [d, a, b] = self.operands(operands)?;
        let op = match ty.bits {
            64 => {
                let (a, b) = (self.long(a, ty)?, self.long(b, ty)?);
                let d = self.target_long(d, ty)?;
                Op::LongCarry2(carry::long_binary(subtract, reads), d, a, b, reads, sets)
            }
            32 => {
                let (a, b) = (self.word(a, ty)?, self.word(b, ty)?);
                let d = self.target_word(d, ty)?;
                Op::Carry2(carry::binary(subtract, reads), d, a, b, reads, sets)
            }
            _ => return self.unsupported(opcode.base),
        };
        self.emit(op, Some(Class::Integer));
        Ok(())
    }

    fn mul(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        let ty = self.peeked_type(opcode)?;
        if ty.is_float() {
            return self.float2(opcode, operands, true);
        }
        opcode.take_type()?;
        let half = self.half(opcode, &["lo", "hi", "wide"])?;
        if half == "wide" {
            let [d, a, b] = self.operands(operands)?;
            match ty.bits {
                32 => {
                    let (a, b) = (self.word(a, ty)?, self.word(b, ty)?);
                    let d = self.target_long(d, Type { bits: 64, ..ty })?;
                    let op = Op::Widen2(wide::product(ty), d, a, b);
                    self.emit(op, Some(Class::Multiply));
                    self.multiply(Multiply::Wide);
                }
                16 => {
                    let Some(f) = integer::binary("mul.wide", ty) else {
                        return self.unsupported("mul.wide");
                    };
                    let (a, b) = (self.word(a, ty)?, self.word(b, ty)?);
                    let d = self.target_word(d, Type { bits: 32, ..ty })?;
                    self.emit(Op::W2(f, d, a, b), Some(Class::Multiply));
                    self.multiply(Multiply::LowAlone);
                }
                _ => return self.unsupported("mul.wide"),
            }
            return Ok(());
        }
        self.integer2(&format!("mul.{half}"), ty, ty, operands, Class::Multiply)?;
        self.tag_multiply(half, ty);
        Ok(())
    }

    fn mad(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        let reads = opcode.base == "madc";
        let sets = opcode.take("cc");
        let ty = self.peeked_type(opcode)?;
        if ty.is_float() {
            return self.fused(opcode, operands, ty);
        }
        opcode.take_type()?;
        let half = self.half(opcode, &["lo", "hi", "wide"])?;
        let [d, a, b, c] = self.operands(operands)?;
        if half == "wide" {
            if reads || sets || ty.bits > 32 {
                return self.unsupported("mad.wide");
            }
            let (a, b) = (self.word(a, ty)?, self.word(b, ty)?);
            if ty.bits == 32 {
                let double = Type { bits: 64, ..ty };
                let c = self.long(c, double)?;
                let d = self.target_long(d, double)?;
                let op = Op::Widen3(wide::product_sum(ty), d, a, b, c);
                self.emit(op, Some(Class::Multiply));
                self.multiply(Multiply::Wide);
            } else {
                let Some(f) = integer::ternary("mad.wide", ty) else {
                    return self.unsupported("mad.wide");
                };
                let double = Type { bits: 32, ..ty };
                let c = self.word(c, double)?;
                let d = self.target_word(d, double)?;
                self.emit(Op::W3(f, d, a, b, c), Some(Class::Multiply));
                self.multiply(Multiply::LowAlone);
            }
            return Ok(());
        }
        if reads || sets {
            let (high, signed) = (half == "hi", ty.is_signed());
            let op = match ty.bits {
                64 => {
                    let (a, b, c) = (self.long(a, ty)?, self.long(b, ty)?, self.long(c, ty)?);
                    let d = self.target_long(d, ty)?;
                    Op::LongCarry3(carry::long_ternary(high, signed), d, a, b, c, reads, sets)
                }
                32 => {
                    let (a, b, c) = (self.word(a, ty)?, self.word(b, ty)?, self.word(c, ty)?);
                    let d = self.target_word(d, ty)?;
                    Op::Carry3(carry::ternary(high, signed), d, a, b, c, reads, sets)
                }
                _ => return self.unsupported(opcode.base),
            };
            self.emit(op, Some(Class::Multiply));
        } else {
            let sat = if opcode.take("sat") { ".sat" } else { "" };
            self.integer3(&format!("mad.{half}{sat}"), ty, operands, Class::Multiply)?;
        }
        self.tag_multiply(half, ty);
        Ok(())
    }

    /// Notes which half of which product the last instruction is.
    fn tag_multiply(&mut self, half: &str, ty: Type) {
        let Some(last) = self.insts.last() else {
            return;
        };
        let factors = match last.op {
            Op::W2(_, _, a, b) | Op::W3(_, _, a, b, _) | Op::Carry3(_, _, a, b, ..) => {
                Some((Reg::Word(a), Reg::Word(b)))
            }
            Op::L2(_, _, a, b) | Op::L3(_, _, a, b, _) | Op::LongCarry3(_, _, a, b, ..) => {
                Some((Reg::Long(a), Reg::Long(b)))
            }
            _ => None,
        };
        let multiply = match factors {
            Some((a, b)) if ty.bits >= 32 => Multiply::Half {
                high: half == "hi",
                a,
                b,
            },
            _ => Multiply::LowAlone,
        };
        self.multiply(multiply);
    }

    fn lop3(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        opcode.take_type()?;
        let [d, a, b, c, Operand::Integer(table)] = self.operands(operands)? else {
            return self.fail("an immediate truth table is wanted");
        };
        let (a, b, c) = (self.word(a, U32)?, self.word(b, U32)?, self.word(c, U32)?);
        let d = self.target_word(d, U32)?;
        self.emit(Op::Lop3(*table as u8, d, a, b, c), Some(Class::Integer));
        Ok(())
    }

    fn bfe(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        let ty = opcode.take_type()?;
        let [d, a, b, c] = self.operands(operands)?;
        let (b, c) = (self.word(b, U32)?, self.word(c, U32)?);
        let op = match (ty.bits, integer::ternary("bfe", ty)) {
            (64, _) => {
                let a = self.long(a, ty)?;
                Op::Field3(wide::extract(ty), self.target_long(d, ty)?, a, b, c)
            }
            (32, Some(f)) => {
                let a = self.word(a, ty)?;
                Op::W3(f, self.target_word(d, ty)?, a, b, c)
            }
            _ => return self.unsupported("bfe"),
        };
        self.emit(op, Some(Class::Integer));
        Ok(())
    }

    fn bfi(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        let ty = opcode.take_type()?;
        let [d, a, b, at, len] = self.operands(operands)?;
        let (at, len) = (self.word(at, U32)?, self.word(len, U32)?);
        let op = match ty.bits {
            64 => {
                let (a, b) = (self.long(a, ty)?, self.long(b, ty)?);
                Op::Field4(wide::INSERT, self.target_long(d, ty)?, a, b, at, len)
            }
            32 => {
                let (a, b) = (self.word(a, ty)?, self.word(b, ty)?);
                Op::W4(integer::INSERT, self.target_word(d, ty)?, a, b, at, len)
            }
            _ => return self.unsupported("bfi"),
        };
        self.emit(op, Some(Class::Integer));
        Ok(())
    }

    fn dot(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        let half = if opcode.base == "dp2a" {
            format!(".{}", self.half(opcode, &["lo", "hi"])?)
        } else {
            String::new()
        };
        let (a, b) = (opcode.take_type()?, opcode.take_type()?);
        let letter = |ty: Type| if ty.is_signed() { 's' } else { 'u' };
        let name = format!("{}{half}.{}32.{}32", opcode.base, letter(a), letter(b));
        self.integer3(&name, U32, operands, Class::Multiply)?;
        self.multiply(Multiply::LowAlone);
        Ok(())
    }

    fn slct(&mut self, opcode: &mut Opcode<'s>, operands: &'m [Operand<'s>]) -> Result<()> {
        opcode.take("ftz");
        let (ty, by) = (opcode.take_type()?, opcode.take_type()?);
        let [d, a, b, c] = self.operands(operands)?;
        let c = self.word(c, by)?;
        let op = if ty.bits == 64 {
            let (a, b) = (self.long(a, ty)?, self.long(b, ty)?);
            Op::Choose3(
                wide::choose(by.is_float()),
                self.target_long(d, ty)?,
                a,
                b,
                c,
            )
        } else {
            let name = if by.is_float() { "slct.f32" } else { "slct" };
            let Some(f) = integer::ternary(
                name,
                Type {
                    bits: ty.bits,
                    ..S32
                },
            ) else {
                return self.unsupported("slct");
            };
            let (a, b) = (self.word(a, ty)?, self.word(b, ty)?);
            Op::W3(f, self.target_word(d, ty)?, a, b, c)
        };
        self.emit(op, Some(Class::Move));
        Ok(())
    }

    /// Compares two operands of a type.
    pub(super) fn test(
        &mut self,
        name: &str,
        ty: Type,
        a: &Operand<'s>,
        b: &Operand<'s>,
        outcome: Outcome,
    ) -> Result<()> {
        let class = if ty.is_float() {
            Class::Float
        } else {
            Class::Integer
        };
        let op = if ty.bits == 64 {
            let f = if ty.is_float() {
                float::long_compare(name)
            } else {
                wide::compare(name, ty)
            };
            let Some(f) = f else {
                return self.unsupported(name);
            };
            Op::LongTest(f, self.long(a, ty)?, self.long(b, ty)?, outcome)
        } else {
            let f = if ty.is_float() {
                float::compare(name)
            } else {
                integer::compare(name, ty)
            };
            let Some(f) = f else {
                return self.unsupported(name);
            };
            Op::Test(f, self.word(a, ty)?, self.word(b, ty)?, outcome)
        };
        self.emit(op, Some(class));
        Ok(())
    }
}
