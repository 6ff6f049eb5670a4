//! Names and operands: registers, constants, special registers and addresses.

use super::decoder::{Decoder, LONG, PRED, Result, WORD, class_of};
use super::symbols::{Range, Scope, Symbol};
use crate::ir::{Cond, L, P, Preset, Reg, Special, W};
use crate::syntax::tree::Operand;
use crate::syntax::types::{Kind, Type};

pub(super) const U32: Type = Type {
    kind: Kind::Unsigned,
    bits: 32,
};
pub(super) const B64: Type = Type {
    kind: Kind::Bits,
    bits: 64,
};
const PREDICATE: Type = Type {
    kind: Kind::Predicate,
    bits: 1,
};

/// The components of a vector register, by both of their names.
const COMPONENTS: [[&str; 4]; 2] = [["x", "y", "z", "w"], ["r", "g", "b", "a"]];

/// Which component `x` of `%v.x` is.
fn component(name: &str) -> Option<usize> {
    COMPONENTS
        .iter()
        .find_map(|names| names.iter().position(|&known| known == name))
}

impl<'s> Decoder<'_, 's> {
    pub(super) fn scope(&mut self) -> &mut Scope<'s> {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// Gives a name its meaning in the innermost scope, where it must be new.
    pub(super) fn declare(&mut self, name: &'s str, symbol: Symbol<'s>) -> Result<()> {
        if self.scope().names.insert(name, symbol).is_some() {
            return self.fail(format!("`{name}` is declared twice"));
        }
        Ok(())
    }

    pub(super) fn declare_range(&mut self, range: Range<'s>) -> Result<()> {
        let mut ranges = self.scope().ranges.iter();
        if ranges.any(|known| known.prefix == range.prefix) {
            let prefix = range.prefix;
            return self.fail(format!("`{prefix}<...>` is declared twice"));
        }
        self.scope().ranges.push(range);
        Ok(())
    }

    /// What the innermost declaration of a name says.
    pub(super) fn lookup(&mut self, name: &'s str) -> Option<Symbol<'s>> {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = name[stem.len()..].parse::<u32>().ok();
        for depth in (0..self.scopes.len()).rev() {
            if let Some(symbol) = self.scopes[depth].names.get(name) {
                return Some(symbol.clone());
            }
            let Some(number) = number else { continue };
            let ranges = &self.scopes[depth].ranges;
            // The stem of `%a1<9>` ends in a digit itself, so prefixes are tried in full.
            let found = ranges.iter().position(|range| {
                range.prefix == stem && number < range.count
                    || name
                        .strip_prefix(range.prefix)
                        .and_then(|digits| digits.parse::<u32>().ok())
                        .is_some_and(|number| number < range.count)
            });
            if let Some(i) = found {
                let range = &self.scopes[depth].ranges[i];
                let (ty, lanes, prefix) = (range.ty, range.lanes, range.prefix);
                let number = name[prefix.len()..].parse().unwrap_or(number);
                if let Some(symbol) = range.registers.get(&number) {
                    return Some(symbol.clone());
                }
                let symbol = self.new_symbol(name, ty, lanes);
                let registers = &mut self.scopes[depth].ranges[i].registers;
                registers.insert(number, symbol.clone());
                return Some(symbol);
            }
        }
        if let Some((vector, suffix)) = name.rsplit_once('.')
            && let Some(component) = component(suffix)
            && let Some(Symbol::Vector(registers, ty)) = self.lookup(vector)
            && ty.bits < 128
        {
            let reg = registers.get(component)?;
            return Some(Symbol::Register(*reg, ty));
        }
        if let Some(&index) = self.common.module_shared.get(name) {
            return Some(Symbol::Shared(index));
        }
        if let Some(&index) = self.common.globals.get(name) {
            return Some(Symbol::Global(index));
        }
        self.common
            .functions
            .get(name)
            .map(|&index| Symbol::Function(index))
    }

    /// The address of a symbol plus an offset, as a constant; nothing for
    /// symbols that have no address.
    fn address_preset(&mut self, symbol: &Symbol<'s>, offset: i64) -> Option<Preset> {
        let offset = offset as u64;
        Some(match *symbol {
            Symbol::Global(index) => Preset::Global(index, offset),
            Symbol::Shared(index) => {
                self.uses.shared.insert(index);
                Preset::Shared(index, offset)
            }
            Symbol::Local(at) => Preset::Local(u64::from(at).wrapping_add(offset)),
            Symbol::Param { offset: at, .. } => Preset::Value(u64::from(at).wrapping_add(offset)),
            Symbol::Function(index) => {
                self.uses.functions.insert(index);
                Preset::Code(index)
            }
            _ => return None,
        })
    }

    /// An operand to read, of exactly this type's width; with `relaxed` a
    /// register may be wider or narrower.
    pub(super) fn source_with(
        &mut self,
        operand: &Operand<'s>,
        ty: Type,
        relaxed: bool,
    ) -> Result<Reg> {
        let class = class_of(ty);
        let mask = if ty.bits >= 64 {
            u64::MAX
        } else {
            (1 << ty.bits) - 1
        };
        match *operand {
            Operand::Name(name) => match self.lookup(name) {
                Some(Symbol::Register(reg, declared)) => {
                    if declared.bits == ty.bits || relaxed && declared.bits > ty.bits && ty.bits > 1
                    {
                        return Ok(reg);
                    }
                    self.fail(format!(
                        "`{name}` has {} bits where {} are wanted",
                        declared.bits, ty.bits
                    ))
                }
                Some(symbol) => match self.address_preset(&symbol, 0) {
                    Some(preset) if class != PRED => Ok(self.preset(class, preset)),
                    _ => self.fail(format!("`{name}` cannot be an operand here")),
                },
                None => match special(name) {
                    Some(special) if (class == PRED) == (special == Special::IsCluster) => {
                        if self.common.sm < 90 && name.contains("cluster") {
                            return self.fail(format!("`{name}` needs .target sm_90 or later"));
                        }
                        Ok(self.preset(class, Preset::Special(special)))
                    }
                    _ => self.fail(format!("`{name}` is not declared")),
                },
            },
            Operand::Offset(name, offset) => {
                let symbol = self.lookup(name);
                let preset = symbol.and_then(|symbol| self.address_preset(&symbol, offset));
                match preset {
                    Some(preset) if class != PRED => Ok(self.preset(class, preset)),
                    _ => self.fail(format!("`{name}` has no address")),
                }
            }
            Operand::Integer(value) if class == PRED => {
                let all = if value == 0 { 0 } else { u64::MAX };
                Ok(self.preset(PRED, Preset::Value(all)))
            }
            Operand::Integer(value) if ty.kind != Kind::Float => {
                Ok(self.preset(class, Preset::Value(value & mask)))
            }
            Operand::Single(bits) if ty.bits == 32 => {
                Ok(self.preset(class, Preset::Value(u64::from(bits))))
            }
            Operand::Double(bits) if ty.bits == 64 => Ok(self.preset(class, Preset::Value(bits))),
            Operand::Double(bits) if ty.bits == 32 => {
                let single = f64::from_bits(bits) as f32;
                Ok(self.preset(class, Preset::Value(u64::from(single.to_bits()))))
            }
            _ => self.fail("an operand that does not fit the instruction's type"),
        }
    }

    /// The register that an operand is read from.
    pub(super) fn source(&mut self, operand: &Operand<'s>, ty: Type) -> Result<Reg> {
        self.source_with(operand, ty, false)
    }

    pub(super) fn word(&mut self, operand: &Operand<'s>, ty: Type) -> Result<W> {
        match self.source(operand, ty)? {
            Reg::Word(word) => Ok(word),
            _ => self.fail("a 32-bit operand is wanted"),
        }
    }

    pub(super) fn long(&mut self, operand: &Operand<'s>, ty: Type) -> Result<L> {
        match self.source(operand, ty)? {
            Reg::Long(long) => Ok(long),
            _ => self.fail("a 64-bit operand is wanted"),
        }
    }

    /// A predicate to read: a register, a negated one, or a constant.
    pub(super) fn predicate(&mut self, operand: &Operand<'s>) -> Result<Cond> {
        let (operand, negated) = match operand {
            Operand::Not(name) => (Operand::Name(name), true),
            other => (other.clone(), false),
        };
        match self.source(&operand, PREDICATE)? {
            Reg::Pred(p) => Ok(Cond { p, negated }),
            _ => self.fail("a predicate is wanted"),
        }
    }

    /// A register to write. `_` drops the value.
    pub(super) fn target(
        &mut self,
        operand: &Operand<'s>,
        ty: Type,
        relaxed: bool,
    ) -> Result<Option<Reg>> {
        let Operand::Name(name) = *operand else {
            return self.fail("a register is wanted as destination");
        };
        if name == "_" {
            return Ok(None);
        }
        match self.lookup(name) {
            Some(Symbol::Register(reg, declared)) => {
                let fits =
                    declared.bits == ty.bits || relaxed && declared.bits > ty.bits && ty.bits > 1;
                if fits {
                    Ok(Some(reg))
                } else {
                    self.fail(format!(
                        "`{name}` has {} bits where {} are written",
                        declared.bits, ty.bits
                    ))
                }
            }
            Some(_) => self.fail(format!("`{name}` is not a register")),
            None => self.fail(format!("`{name}` is not declared")),
        }
    }

    pub(super) fn target_word(&mut self, operand: &Operand<'s>, ty: Type) -> Result<W> {
        match self.target(operand, ty, false)? {
            Some(Reg::Word(word)) => Ok(word),
            None => Ok(self.new_word()),
            _ => self.fail("a 32-bit destination is wanted"),
        }
    }

    pub(super) fn target_long(&mut self, operand: &Operand<'s>, ty: Type) -> Result<L> {
        match self.target(operand, ty, false)? {
            Some(Reg::Long(long)) => Ok(long),
            None => Ok(self.new_long()),
            _ => self.fail("a 64-bit destination is wanted"),
        }
    }

    pub(super) fn target_predicate(&mut self, name: &'s str) -> Result<Option<P>> {
        match self.target(&Operand::Name(name), PREDICATE, false)? {
            Some(Reg::Pred(p)) => Ok(Some(p)),
            None => Ok(None),
            _ => self.fail("a predicate is wanted as destination"),
        }
    }

    /// The register that holds each lane's number.
    pub(super) fn lane(&mut self) -> W {
        match self.preset(WORD, Preset::Special(Special::Lane)) {
            Reg::Word(word) => word,
            _ => W(0),
        }
    }

    pub(super) fn constant_word(&mut self, value: u32) -> W {
        match self.preset(WORD, Preset::Value(u64::from(value))) {
            Reg::Word(word) => word,
            _ => W(0),
        }
    }

    pub(super) fn constant_long(&mut self, value: u64) -> L {
        match self.preset(LONG, Preset::Value(value)) {
            Reg::Long(long) => long,
            _ => L(0),
        }
    }

    /// The base and offset of a memory operand.
    pub(super) fn address(&mut self, operand: &Operand<'s>) -> Result<AddressOperand> {
        let Operand::Address(base, offset) = *operand else {
            return self.fail("an address in brackets is wanted");
        };
        let Some(name) = base else {
            let zero = self.constant_long(offset as u64);
            return Ok(AddressOperand::Register(Reg::Long(zero), 0));
        };
        match self.lookup(name) {
            Some(Symbol::Register(reg, declared)) => {
                if declared.bits == 32 || declared.bits == 64 {
                    Ok(AddressOperand::Register(reg, offset))
                } else {
                    self.fail(format!("`{name}` cannot hold an address"))
                }
            }
            Some(Symbol::Param { offset: at, .. }) => {
                Ok(AddressOperand::Param(offset.saturating_add(i64::from(at))))
            }
            Some(symbol) => match self.address_preset(&symbol, 0) {
                Some(preset) => {
                    let reg = self.preset(LONG, preset);
                    Ok(AddressOperand::Register(reg, offset))
                }
                None => self.fail(format!("`{name}` has no address")),
            },
            None => self.fail(format!("`{name}` is not declared")),
        }
    }
}

pub(super) enum AddressOperand {
    Register(Reg, i64),
    /// A fixed offset into the parameter area.
    Param(i64),
}

/// The special register with this name.
fn special(name: &str) -> Option<Special> {
    let axis = |suffix: &str| match suffix {
        "x" => Some(0),
        "y" => Some(1),
        "z" => Some(2),
        _ => None,
    };
    // The driver's to fill. CUDA's says where a cooperative launch has its barrier.
    match name.strip_prefix("%envreg").map(str::parse::<u32>) {
        Some(Ok(1)) => return Some(Special::WorkspaceHigh),
        Some(Ok(2)) => return Some(Special::WorkspaceLow),
        Some(Ok(0..32)) => return Some(Special::Zero),
        _ => {}
    }
    if let Some((stem, suffix)) = name.split_once('.') {
        let axis = axis(suffix)?;
        return Some(match stem {
            "%tid" => Special::Thread(axis),
            "%ntid" => Special::ThreadCount(axis),
            "%ctaid" => Special::Block(axis),
            "%nctaid" => Special::BlockCount(axis),
            "%cluster_ctaid" => Special::ClusterBlock(axis),
            "%cluster_nctaid" => Special::ClusterBlockCount(axis),
            "%clusterid" => Special::Cluster(axis),
            "%nclusterid" => Special::ClusterCount(axis),
            _ => return None,
        });
    }
    Some(match name {
        "%laneid" => Special::Lane,
        "%warpid" => Special::Warp,
        "%nwarpid" => Special::WarpCount,
        "%lanemask_eq" => Special::MaskEq,
        "%lanemask_le" => Special::MaskLe,
        "%lanemask_lt" => Special::MaskLt,
        "%lanemask_ge" => Special::MaskGe,
        "%lanemask_gt" => Special::MaskGt,
        "%smid" => Special::Multiprocessor,
        "%nsmid" => Special::MultiprocessorCount,
        "%gridid" => Special::GridId,
        "%dynamic_smem_size" => Special::DynamicShared,
        "%total_smem_size" | "%aggr_smem_size" => Special::TotalShared,
        "%cluster_ctarank" => Special::ClusterRank,
        "%cluster_nctarank" => Special::ClusterSize,
        "%is_explicit_cluster" => Special::IsCluster,
        "%current_graph_exec" => Special::Zero,
        _ => return None,
    })
}
