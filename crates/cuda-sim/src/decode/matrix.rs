//! Products of small matrices that a warp holds together: `mma.sync`.

use super::opcode::Opcode;
use super::symbols::U32;
use super::{Decoder, Result};
use crate::count::Class;
use crate::ir::{Factors, Matrix, Op, Reg, WarpOp};
use crate::lanes::float;
use crate::lanes::rounding::Rounding;
use crate::ptx::syntax::Operand;
use crate::ptx::types::{Kind, Type};

impl<'m, 's> Decoder<'m, 's> {
    /// `mma.sync.aligned.SHAPE.row.col[.satfinite].D.A.B.C d, a, b, c`
    pub(super) fn matrix(
        &mut self,
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
    ) -> Result<()> {
        let shape = self.half(
            opcode,
            &[
                "m8n8k4", "m8n8k16", "m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32",
            ],
        )?;
        for word in ["aligned", "row", "col"] {
            if !opcode.take(word) {
                return opcode.fail(&format!(".{word} is missing"));
            }
        }
        let saturate = opcode.take("satfinite");
        let mode = opcode.take_with(Rounding::named);
        let types = [
            opcode.take_type()?,
            opcode.take_type()?,
            opcode.take_type()?,
            opcode.take_type()?,
        ];
        let [dt, at, bt, ct] = types;
        let integers = |ty: Type| ty.bits == 8 && matches!(ty.kind, Kind::Signed | Kind::Unsigned);
        let double = |ty: Type| ty.is_float() && ty.bits == 64;
        let sum = Type {
            kind: Kind::Signed,
            bits: 32,
        };
        // Registers of A, of B, and of C and D.
        let (factors, counts) = if types.into_iter().all(double) && !saturate {
            let mode = mode.unwrap_or(Rounding::Nearest);
            let counts = match shape {
                "m8n8k4" => (1, 1, 2),
                "m16n8k4" => (2, 1, 4),
                "m16n8k8" => (4, 2, 4),
                "m16n8k16" => (8, 4, 4),
                _ => return opcode.fail("a shape that doubles do not have"),
            };
            (Factors::Doubles(float::long_fused(mode)), counts)
        } else if integers(at) && integers(bt) && [dt, ct] == [sum, sum] && mode.is_none() {
            let counts = match shape {
                "m8n8k16" => (1, 1, 2),
                "m16n8k16" => (2, 1, 4),
                "m16n8k32" => (4, 2, 4),
                _ => return opcode.fail("a shape that bytes do not have"),
            };
            let bytes = Factors::Bytes {
                a_signed: at.is_signed(),
                b_signed: bt.is_signed(),
                saturate,
            };
            (bytes, counts)
        } else {
            return opcode.fail("matrices of these types");
        };
        // Bytes come four to a register.
        let held = |ty: Type| if ty.bits == 8 { U32 } else { ty };
        let [d, a, b, c] = self.operands(operands)?;
        let a = self.sources(a, held(at), counts.0)?;
        let b = self.sources(b, held(bt), counts.1)?;
        let c = self.sources(c, ct, counts.2)?;
        let mut targets: Vec<Reg> = Vec::with_capacity(counts.2);
        for target in self.targets(d, dt, counts.2)? {
            targets.push(match target {
                Some(target) => target,
                None => self.new_register(dt),
            });
        }
        let matrix = Matrix {
            rows: if shape.starts_with("m8") { 8 } else { 16 },
            factors,
            d: targets.into(),
            a: a.into(),
            b: b.into(),
            c: c.into(),
        };
        let all = self.constant_word(u32::MAX);
        let op = Op::Warp(WarpOp::Matrix(Box::new(matrix)), all);
        self.emit_whole(op, Class::Matrix);
        Ok(())
    }
}
