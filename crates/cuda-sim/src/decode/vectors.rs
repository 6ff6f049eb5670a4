//! Operands of several registers: `{a, b}`, a `.reg .v4`, and 128-bit registers,
//! which are two of 64 bits.

use super::decoder::{Decoder, Result};
use super::operands::B64;
use super::symbols::Symbol;
use crate::count::Class;
use crate::ir::{Op, Reg};
use crate::syntax::tree::Operand;
use crate::syntax::types::{Kind, Type};

/// The type and number of the registers that hold `lanes` values of a type.
pub(super) fn registers_of(ty: Type, lanes: usize) -> (Type, usize) {
    if ty.bits == 128 {
        (B64, 2 * lanes)
    } else {
        (ty, lanes)
    }
}

impl<'m, 's> Decoder<'m, 's> {
    /// The symbol that a declaration of a register of this type makes.
    pub(super) fn new_symbol(&mut self, name: &'s str, ty: Type, lanes: u32) -> Symbol<'s> {
        let (one, count) = registers_of(ty, lanes as usize);
        let registers: Vec<Reg> = (0..count)
            .map(|_| {
                let reg = self.new_register(one);
                self.names.insert(reg, name);
                reg
            })
            .collect();
        match registers[..] {
            [reg] => Symbol::Register(reg, ty),
            _ => Symbol::Vector(registers, ty),
        }
    }

    /// The single values that an operand of `lanes` values consists of.
    fn elements(&mut self, operand: &'m Operand<'s>, lanes: usize) -> Result<Vec<Element<'m, 's>>> {
        let parts = match operand {
            Operand::Vector(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        };
        let mut elements = Vec::with_capacity(lanes);
        for part in parts {
            match part {
                Operand::Name(name) => match self.lookup(name) {
                    Some(Symbol::Vector(registers, ty)) => {
                        elements.extend(registers.into_iter().map(|r| Element::Of(r, ty, name)));
                    }
                    _ => elements.push(Element::Single(part)),
                },
                _ => elements.push(Element::Single(part)),
            }
        }
        Ok(elements)
    }

    fn counted_elements(
        &mut self,
        operand: &'m Operand<'s>,
        ty: Type,
        lanes: usize,
    ) -> Result<Vec<Element<'m, 's>>> {
        let elements = self.elements(operand, lanes)?;
        let wanted = registers_of(ty, lanes).1;
        if elements.len() != wanted {
            return self.fail(format!(
                "{} registers where {wanted} are wanted",
                elements.len()
            ));
        }
        for element in &elements {
            if let Element::Of(_, declared, name) = element
                && declared.bits != ty.bits
            {
                return self.fail(format!(
                    "`{name}` has {} bits where {} are wanted",
                    declared.bits, ty.bits
                ));
            }
        }
        Ok(elements)
    }

    /// The registers to write `lanes` values to; nothing for values that are dropped.
    pub(super) fn targets(
        &mut self,
        operand: &'m Operand<'s>,
        ty: Type,
        lanes: usize,
    ) -> Result<Vec<Option<Reg>>> {
        // A dropped value of 128 bits is two dropped ones.
        if ty.bits == 128 && *operand == Operand::Name("_") {
            return Ok(vec![None; 2 * lanes]);
        }
        let one = registers_of(ty, lanes).0;
        let mut targets = Vec::with_capacity(lanes);
        for element in self.counted_elements(operand, ty, lanes)? {
            targets.push(match element {
                Element::Of(reg, ..) => Some(reg),
                Element::Single(operand) => self.target(operand, one, true)?,
            });
        }
        Ok(targets)
    }

    /// The registers to read `lanes` values from.
    pub(super) fn sources(
        &mut self,
        operand: &'m Operand<'s>,
        ty: Type,
        lanes: usize,
    ) -> Result<Vec<Reg>> {
        let one = registers_of(ty, lanes).0;
        let mut sources = Vec::with_capacity(lanes);
        for element in self.counted_elements(operand, ty, lanes)? {
            sources.push(match element {
                Element::Of(reg, ..) => reg,
                Element::Single(operand) => self.source_with(operand, one, true)?,
            });
        }
        Ok(sources)
    }

    /// `mov.v4.b32 {a, b, c, d}, %v` and `mov.b128`.
    pub(super) fn move_all(
        &mut self,
        d: &'m Operand<'s>,
        a: &'m Operand<'s>,
        ty: Type,
        lanes: usize,
    ) -> Result<()> {
        if ty.kind == Kind::Predicate {
            return self.fail("a vector of predicates");
        }
        let sources = self.sources(a, ty, lanes)?;
        let targets = self.targets(d, ty, lanes)?;
        // Through copies: a target may be a source that comes later.
        let mut copies = Vec::with_capacity(sources.len());
        for source in sources {
            copies.push(match source {
                Reg::Long(a) => {
                    let copy = self.new_long();
                    self.emit(Op::MovL(copy, a), Some(Class::Move));
                    Reg::Long(copy)
                }
                Reg::Word(a) => {
                    let copy = self.new_word();
                    self.emit(Op::MovW(copy, a), Some(Class::Move));
                    Reg::Word(copy)
                }
                Reg::Pred(_) => return self.fail("a vector of predicates"),
            });
        }
        for (target, copy) in targets.into_iter().zip(copies) {
            match (target, copy) {
                (Some(Reg::Long(d)), Reg::Long(a)) => self.emit(Op::MovL(d, a), None),
                (Some(Reg::Word(d)), Reg::Word(a)) => self.emit(Op::MovW(d, a), None),
                (None, _) => {}
                _ => return self.fail("registers of different widths"),
            }
        }
        Ok(())
    }
}

/// One value of an operand: an operand of its own, or a register of a vector.
enum Element<'m, 's> {
    Single(&'m Operand<'s>),
    Of(Reg, Type, &'s str),
}
