//! The decoder of a function: what it knows so far, the instructions that it appends, and the
//! registers that it hands out.

use super::products::Multiply;
use super::symbols::Scope;
use crate::count::Class;
use crate::ir::{Cond, Flow, Inst, L, Op, P, Preset, Reg, SharedVariable, Slot, W};
use crate::syntax::error::{ParseError, Position};
use crate::syntax::tree::Function as Written;
use crate::syntax::tree::Operand;
use crate::syntax::types::{Kind, Type};
use std::collections::{BTreeSet, HashMap, HashSet};

pub(super) type Result<T> = std::result::Result<T, ParseError>;

pub(super) const WORD: u8 = 0;
pub(super) const LONG: u8 = 1;
pub(super) const PRED: u8 = 2;

/// The names that every function of a module can use.
pub(super) struct Shared<'s> {
    /// `.version`, and the number of `.target`.
    pub version: (u32, u32),
    pub sm: u32,
    pub functions: HashMap<&'s str, u32>,
    /// The names of functions, those without bodies included.
    pub declared: HashSet<&'s str>,
    /// Variables in global and constant memory, in the order of `Module::globals`.
    pub globals: HashMap<&'s str, u32>,
    /// Shared variables of the module, then those of functions as they come.
    pub shared: Vec<SharedVariable>,
    pub module_shared: HashMap<&'s str, u32>,
}

/// What a function uses, to find what a kernel reaches.
#[derive(Clone, Debug, Default)]
pub(super) struct Uses {
    pub functions: BTreeSet<u32>,
    pub shared: BTreeSet<u32>,
    pub ordered: bool,
    pub pointers: bool,
    /// The first instruction that the simulator does not know.
    pub unknown: Option<ParseError>,
}

/// Decodes one function.
pub(super) struct Decoder<'m, 's> {
    pub common: &'m mut Shared<'s>,
    pub source: &'m Written<'s>,
    pub scopes: Vec<Scope<'s>>,
    pub counts: [u32; 3],
    pub presets: HashMap<(u8, Preset), Reg>,
    pub insts: Vec<Inst>,
    /// For each instruction, which multiplication it is.
    pub multiplies: Vec<Multiply>,
    /// The instruction that each label stands before.
    pub labels: Vec<Option<usize>>,
    pub names: HashMap<Reg, &'s str>,
    /// Registers declared with 16 bits or fewer, whose upper half stays zero.
    pub narrow: HashSet<Reg>,
    pub formals: Vec<Slot>,
    pub returns: Vec<Slot>,
    pub param_end: u32,
    pub param_most: u32,
    pub local_end: u32,
    pub uses: Uses,
    /// The instruction being decoded.
    pub at: Position,
    pub guard: Option<Cond>,
    pub counted: bool,
}

impl<'m, 's> Decoder<'m, 's> {
    /// A decoder of one function of a module.
    pub(super) fn new(common: &'m mut Shared<'s>, source: &'m Written<'s>) -> Self {
        Decoder {
            common,
            source,
            scopes: vec![Scope::default()],
            counts: [0; 3],
            presets: HashMap::new(),
            insts: Vec::new(),
            multiplies: Vec::new(),
            labels: Vec::new(),
            names: HashMap::new(),
            narrow: HashSet::new(),
            formals: Vec::new(),
            returns: Vec::new(),
            param_end: 0,
            param_most: 0,
            local_end: 0,
            uses: Uses::default(),
            at: source.at,
            guard: None,
            counted: false,
        }
    }

    pub(super) fn fail<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(ParseError::at(self.at, message))
    }

    /// Holds an instruction to its number of operands.
    pub(super) fn operands<const N: usize>(
        &self,
        operands: &'m [Operand<'s>],
    ) -> Result<&'m [Operand<'s>; N]>
    where
        's: 'm,
    {
        match operands.try_into() {
            Ok(operands) => Ok(operands),
            Err(_) => self.fail(format!("{} operands, expected {N}", operands.len())),
        }
    }

    /// Appends an operation under the current guard. Of the steps of one PTX
    /// instruction the first is counted.
    pub(super) fn emit(&mut self, op: Op, class: Option<Class>) {
        self.emit_guarded(op, class, self.guard);
    }

    pub(super) fn emit_guarded(&mut self, op: Op, class: Option<Class>, guard: Option<Cond>) {
        let class = class.filter(|_| !self.counted);
        self.counted |= class.is_some();
        self.insts.push(Inst {
            op,
            guard,
            line: self.at.line,
            class,
            products: (0, 0),
            flow: Flow::Whole,
        });
        self.multiplies.push(Multiply::None);
    }

    pub(super) fn multiply(&mut self, multiply: Multiply) {
        if let Some(last) = self.multiplies.last_mut() {
            *last = multiply;
        }
    }

    /// A register of its own for values of a type.
    pub(super) fn new_register(&mut self, ty: Type) -> Reg {
        let class = class_of(ty);
        let index = self.counts[class as usize];
        self.counts[class as usize] += 1;
        let reg = register(class, index);
        if ty.bits <= 16 && class == WORD {
            self.narrow.insert(reg);
        }
        reg
    }

    pub(super) fn new_word(&mut self) -> W {
        self.counts[WORD as usize] += 1;
        W(self.counts[WORD as usize] - 1)
    }

    pub(super) fn new_long(&mut self) -> L {
        self.counts[LONG as usize] += 1;
        L(self.counts[LONG as usize] - 1)
    }

    pub(super) fn new_pred(&mut self) -> P {
        self.counts[PRED as usize] += 1;
        P(self.counts[PRED as usize] - 1)
    }

    /// The register that holds this value from the beginning.
    pub(super) fn preset(&mut self, class: u8, preset: Preset) -> Reg {
        if let Some(&reg) = self.presets.get(&(class, preset)) {
            return reg;
        }
        let index = self.counts[class as usize];
        self.counts[class as usize] += 1;
        let reg = register(class, index);
        self.presets.insert((class, preset), reg);
        reg
    }
}

pub(super) fn class_of(ty: Type) -> u8 {
    match (ty.kind, ty.bits) {
        (Kind::Predicate, _) => PRED,
        (_, 64) => LONG,
        _ => WORD,
    }
}

pub(super) fn register(class: u8, index: u32) -> Reg {
    match class {
        WORD => Reg::Word(W(index)),
        LONG => Reg::Long(L(index)),
        _ => Reg::Pred(P(index)),
    }
}
