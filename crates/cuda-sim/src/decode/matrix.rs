//! Products of small matrices that a warp holds together (`mma.sync`, `wgmma`), and how they
//! come from memory and go there (`ldmatrix`, `stmatrix`).

use super::decoder::{Decoder, Result};
use super::opcode::Opcode;
use super::operands::{AddressOperand, B64, U32};
use crate::count::Class;
use crate::ir::{Address, Element, Factors, L, Matrix, Op, Order, Reg, Rows, W, WarpOp, Widen3};
use crate::lanes::float;
use crate::lanes::lanes;
use crate::lanes::rounding::Rounding;
use crate::syntax::tree::Operand;
use crate::syntax::types::{Kind, Space, Type};

fn as_word(reg: Reg) -> Option<W> {
    match reg {
        Reg::Word(word) => Some(word),
        _ => None,
    }
}

impl<'m, 's> Decoder<'m, 's> {
    /// `ldmatrix.sync.aligned.m8n8.x4{.trans}{.shared}.b16 {r, ...}, [p]`
    pub(super) fn rows(
        &mut self,
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
    ) -> Result<()> {
        let stores = opcode.base == "stmatrix";
        for word in ["aligned", "m8n8"] {
            if !opcode.take(word) {
                return opcode.fail(&format!(".{word} is missing"));
            }
        }
        let count = match self.half(opcode, &["x1", "x2", "x4"])? {
            "x1" => 1,
            "x2" => 2,
            _ => 4,
        };
        let transposed = opcode.take("trans");
        let space = opcode.take_space();
        if opcode.take_type()?.bits != 16 {
            return opcode.fail("another type than .b16");
        }
        if !matches!(space, Space::Generic | Space::Shared) {
            return opcode.fail("another space than shared memory");
        }
        let [first, second] = self.operands(operands)?;
        let (place, list) = if stores {
            (first, second)
        } else {
            (second, first)
        };
        let mut words: Vec<W> = Vec::with_capacity(count);
        if stores {
            for source in self.sources(list, U32, count)? {
                words.extend(as_word(source));
            }
        } else {
            for target in self.targets(list, U32, count)? {
                words.push(match target.and_then(as_word) {
                    Some(word) => word,
                    None => self.new_word(),
                });
            }
        }
        let AddressOperand::Register(base, offset) = self.address(place)? else {
            return self.fail("an address of a parameter");
        };
        let rows = Rows {
            space,
            stores,
            transposed,
            words: words.into(),
            address: Address { base, offset },
        };
        let all = self.constant_word(u32::MAX);
        self.whole(|this| {
            this.emit(Op::Warp(WarpOp::Meet, all), Some(Class::Matrix));
            this.emit(Op::Rows(Box::new(rows)), None);
        });
        Ok(())
    }

    /// `wgmma.mma_async.sync.aligned.m64nNk32.s32.A.B {d, ...}, {a, b, c, d}, descriptor, p`, and `wgmma.fence`,
    /// `commit_group` and `wait_group`.
    ///
    /// A warp of the four has sixteen rows in its registers, as of `mma.sync`, and needs nothing of the others: it
    /// loads what a lane has of eight columns at a time, and multiplies. It is done when it is issued.
    pub(super) fn warpgroup(
        &mut self,
        opcode: &mut Opcode<'s>,
        operands: &'m [Operand<'s>],
    ) -> Result<()> {
        let verb = self.half(
            opcode,
            &["mma_async", "fence", "commit_group", "wait_group"],
        )?;
        if !opcode.take("aligned") {
            return opcode.fail(".aligned is missing");
        }
        let all = self.constant_word(u32::MAX);
        if verb != "mma_async" {
            self.whole(|this| this.emit(Op::Warp(WarpOp::Meet, all), Some(Class::Matrix)));
            return Ok(());
        }
        let shape = opcode.take_with(|word| word.strip_prefix("m64n")?.strip_suffix("k32"));
        let columns: usize = match shape.map(str::parse) {
            Some(Ok(columns @ 8..=256)) if columns % 8 == 0 => columns,
            _ => return opcode.fail("a shape that bytes do not have"),
        };
        let [dt, at, bt] = [
            opcode.take_type()?,
            opcode.take_type()?,
            opcode.take_type()?,
        ];
        let integers = |ty: Type| ty.bits == 8 && matches!(ty.kind, Kind::Signed | Kind::Unsigned);
        let sum = Type {
            kind: Kind::Signed,
            bits: 32,
        };
        if !integers(at) || !integers(bt) || dt != sum {
            return opcode.fail("matrices of these types");
        }
        let [d, a, descriptor, adds] = self.operands(operands)?;
        let a = self.sources(a, U32, 4)?;
        let before = self.sources(d, dt, columns / 2)?;
        let mut sums: Vec<Reg> = Vec::with_capacity(columns / 2);
        for target in self.targets(d, dt, columns / 2)? {
            sums.push(match target {
                Some(target) => target,
                None => self.new_register(dt),
            });
        }
        let descriptor = self.long(descriptor, B64)?;
        let adds = self.predicate(adds)?;
        let lane = self.lane();
        let zero = self.constant_word(0);
        let factors = Factors::Bytes {
            a_signed: at.is_signed(),
            b_signed: bt.is_signed(),
            saturate: false,
        };
        self.whole(|this| {
            this.emit(Op::Warp(WarpOp::Meet, all), Some(Class::Matrix));
            for (eight, (sums, before)) in sums.chunks(4).zip(before.chunks(4)).enumerate() {
                let b = [0, 1].map(|half| this.columns_of_lane(2 * eight + half, lane, descriptor));
                let before = before.iter().map(|&before| {
                    let sum = this.new_word();
                    let before = as_word(before).unwrap_or(zero);
                    this.emit(Op::Select(sum, before, zero, adds), None);
                    Reg::Word(sum)
                });
                let matrix = Matrix {
                    rows: 16,
                    factors,
                    c: before.collect(),
                    d: sums.into(),
                    a: a.clone().into(),
                    b: b.into(),
                };
                this.emit(Op::Warp(WarpOp::Matrix(Box::new(matrix)), all), None);
            }
        });
        Ok(())
    }

    /// Loads what the lane has, of `mma.sync`, of the right bytes that a descriptor tells of: of half `place % 2` of
    /// the 32 bytes of the eight columns `place / 2`.
    fn columns_of_lane(&mut self, place: usize, lane: W, descriptor: L) -> Reg {
        let address = self.new_long();
        let place = self.constant_word(place as u32);
        // Units of 16 bytes in 14 bits each: the start, and the strides of halves and of eights. An odd address, which
        // is a fault, where the rest asks for other orders.
        let of_lane: Widen3 = lanes!(|lane, place, descriptor| {
            let field = |at: u32| (descriptor >> at & 0x3fff) << 4;
            let (eight, half) = (u64::from(place / 2), u64::from(place % 2));
            let first = field(0) + eight * field(32) + half * field(16);
            first + 4 * u64::from(lane) + u64::from(descriptor >> 46 != 0)
        });
        self.emit(Op::Widen3(of_lane, address, lane, place, descriptor), None);
        let word = Reg::Word(self.new_word());
        let load = Op::Load {
            space: Space::Shared,
            element: Element {
                bytes: 4,
                signed: false,
            },
            d: Box::new([Some(word)]),
            address: Address {
                base: Reg::Long(address),
                offset: 0,
            },
            order: Order::Weak,
        };
        self.emit(load, None);
        word
    }

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
