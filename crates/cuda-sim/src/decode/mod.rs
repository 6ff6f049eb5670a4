//! From the syntax tree to programs: names become registers and addresses,
//! opcodes become functions on lanes.

mod access;
mod arithmetic;
mod cluster;
mod control;
mod convert;
mod copies;
mod decoder;
mod float;
mod flow;
mod half;
mod matrix;
mod opcode;
mod operands;
mod products;
mod registers;
mod requirements;
mod symbols;
mod vectors;

use crate::ir::{Cond, Entry, Flow, Function, Op, Program, SharedVariable, Slot};
use crate::syntax::error::ParseError;
use crate::syntax::tree::{Formal, Instruction, Operand, Source, Statement, Variable};
use crate::syntax::types::{Space, Type};
use decoder::{Decoder, Result, Shared, Uses};
use opcode::Opcode;
use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;
use symbols::{Scope, Symbol};

/// A decoded module: all functions, and where each kernel begins.
#[derive(Clone, Debug, Default)]
pub(crate) struct Decoded {
    pub program: Program,
    pub entries: HashMap<String, Entry>,
    /// The first instruction of each function that the simulator does not know, where there
    /// is one; ascending.
    unknown: Vec<(u32, ParseError)>,
}

impl Decoded {
    /// The first instruction that a kernel may reach and the simulator does not know.
    pub fn unknown(&self, entry: &Entry) -> Option<&ParseError> {
        let mut unknown = self.unknown.iter();
        unknown
            .find(|(function, _)| entry.reached.contains(function))
            .map(|(_, why)| why)
    }
}

/// Decodes a module.
pub(crate) fn module(source: &Source<'_>) -> Result<Decoded> {
    let defined = || source.functions.iter().filter(|f| f.body.is_some());
    let mut common = Shared {
        version: source.version,
        sm: source.sm(),
        functions: HashMap::new(),
        declared: source.functions.iter().map(|f| f.name).collect(),
        globals: HashMap::new(),
        shared: Vec::new(),
        module_shared: HashMap::new(),
    };
    for (i, function) in defined().enumerate() {
        if common.functions.insert(function.name, i as u32).is_some() {
            let message = format!("function `{}` is defined twice", function.name);
            return Err(ParseError::at(function.at, message));
        }
    }
    let mut globals = 0;
    let mut names: HashMap<&str, bool> = HashMap::new();
    for variable in &source.variables {
        // Only declarations may come again.
        let defined = !variable.is_extern;
        let before = names.entry(variable.name).or_default();
        if *before && defined || common.functions.contains_key(variable.name) {
            let message = format!("`{}` is declared twice", variable.name);
            return Err(ParseError::at(variable.at, message));
        }
        *before |= defined;
        match variable.space {
            Space::Global | Space::Constant if !variable.is_extern => {
                common.globals.insert(variable.name, globals);
                globals += 1;
            }
            Space::Shared => {
                let index = common.shared.len() as u32;
                common.module_shared.insert(variable.name, index);
                common.shared.push(shared_variable(variable));
            }
            _ => {}
        }
    }
    let mut functions = Vec::new();
    let mut uses = Vec::new();
    let mut unknown = Vec::new();
    for function in defined() {
        let body = function.body.as_deref().unwrap_or_default();
        if function.cluster.is_some() && (source.sm() < 90 || source.version < (7, 8)) {
            let message = "`.reqnctapercluster` needs .version 7.8 and .target sm_90 or later";
            return Err(ParseError::at(function.at, message));
        }
        let (function, mut used) = Decoder::new(&mut common, function).function(body)?;
        if let Some(why) = used.unknown.take() {
            unknown.push((functions.len() as u32, why));
        }
        functions.push(function);
        uses.push(used);
    }
    let callable: Vec<u32> = (0..)
        .zip(defined())
        .filter(|(_, function)| !function.entry)
        .map(|(index, _)| index)
        .collect();
    let mut entries = HashMap::new();
    for function in defined().filter(|f| f.entry) {
        let index = common.functions[function.name];
        entries.insert(
            function.name.to_owned(),
            entry(index, &uses, &callable, &common.shared, &functions),
        );
    }
    Ok(Decoded {
        program: Program {
            functions,
            locations: source.locations.clone(),
        },
        entries,
        unknown,
    })
}

/// A variable in shared memory, as it is laid out.
fn shared_variable(variable: &Variable<'_>) -> SharedVariable {
    SharedVariable {
        bytes: variable.bytes as u32,
        align: variable.align as u32,
        dynamic: variable.unsized_array || variable.is_extern,
    }
}

/// Lays out the shared memory of everything that a kernel reaches.
fn entry(
    function: u32,
    uses: &[Uses],
    callable: &[u32],
    variables: &[SharedVariable],
    functions: &[Function],
) -> Entry {
    let mut reached = BTreeSet::from([function]);
    let mut open = vec![function];
    let mut shared: BTreeSet<u32> = BTreeSet::new();
    let mut ordered = false;
    while let Some(next) = open.pop() {
        let used = &uses[next as usize];
        shared.extend(&used.shared);
        ordered |= used.ordered;
        // A call through a pointer may go to any function that is no kernel.
        let pointed: &[u32] = if used.pointers { callable } else { &[] };
        let callees = used.functions.iter().chain(pointed);
        open.extend(callees.copied().filter(|&callee| reached.insert(callee)));
    }
    let mut offsets = vec![0; variables.len()];
    let mut end = 0u32;
    for &i in shared.iter().filter(|&&i| !variables[i as usize].dynamic) {
        let variable = &variables[i as usize];
        let start = end.next_multiple_of(variable.align.max(1));
        offsets[i as usize] = start;
        // A kernel with more is refused at launch, wherever its variables lie.
        end = (start + variable.bytes).min(MOST_BYTES);
    }
    let dynamic = end.next_multiple_of(16);
    for &i in shared.iter().filter(|&&i| variables[i as usize].dynamic) {
        offsets[i as usize] = dynamic.next_multiple_of(variables[i as usize].align.max(1));
    }
    Entry {
        function,
        reached: reached.iter().copied().collect(),
        shared: offsets,
        shared_sizes: shared
            .iter()
            .map(|&i| {
                let variable = &variables[i as usize];
                (i, (!variable.dynamic).then_some(variable.bytes))
            })
            .collect(),
        shared_bytes: end,
        local_bytes: reached
            .iter()
            .map(|&f| functions[f as usize].local_bytes)
            .sum(),
        ordered,
    }
}

/// Bytes that all variables of one space may have in a function.
const MOST_BYTES: u32 = 1 << 24;

impl<'m, 's> Decoder<'m, 's> {
    /// Decodes a function, and says what it uses of the module.
    fn function(mut self, body: &'m [Statement<'s>]) -> Result<(Function, Uses)> {
        let source = self.source;
        for formal in &source.returns {
            let place = self.formal(formal)?;
            self.returns.push(place);
        }
        for formal in &source.formals {
            let place = self.formal(formal)?;
            self.formals.push(place);
        }
        self.body(body)?;
        // Falling off the end of a function is a return.
        self.guard = None;
        self.counted = true;
        let end = if source.entry { Op::Exit } else { Op::Return };
        self.emit(end, None);
        let labels: Vec<usize> = self
            .labels
            .iter()
            .map(|label| label.unwrap_or(self.insts.len() - 1))
            .collect();
        products::count(&mut self.insts, &self.multiplies, &labels);
        access::mark_guesses(&mut self.insts);
        let (insts, mut blocks) = flow::blocks(self.insts, &labels);
        let allocated = registers::allocate(
            insts,
            &mut blocks,
            self.presets.into_iter().map(|((_, p), r)| (r, p)).collect(),
            (&mut self.formals, &mut self.returns),
            &self.names,
            self.counts,
        );
        let function = Function {
            name: source.name.to_owned(),
            insts: allocated.insts,
            uses: OnceLock::new(),
            blocks,
            files: allocated.files,
            presets: allocated.presets,
            undefined: allocated.undefined,
            undefined_names: allocated.undefined_names,
            formals: self.formals,
            returns: self.returns,
            param_bytes: self.param_most.next_multiple_of(4),
            local_bytes: self.local_end.next_multiple_of(16),
            registers: allocated.registers,
        };
        Ok((function, self.uses))
    }

    /// Declares a parameter or a result.
    fn formal(&mut self, formal: &Formal<'s>) -> Result<Slot> {
        match formal {
            Formal::Register(name, ty) => {
                let reg = self.new_register(*ty);
                self.names.insert(reg, name);
                self.declare(name, Symbol::Register(reg, *ty))?;
                Ok(Slot::Register(reg))
            }
            Formal::Memory(variable) => {
                // A kernel's parameters lie as the launch lays them out; all
                // others lie on whole words.
                let align = if self.source.entry { 1 } else { 4 };
                self.param_variable(variable, align)
            }
        }
    }

    /// Lays out a variable in the parameter area.
    fn param_variable(&mut self, variable: &Variable<'s>, align: u32) -> Result<Slot> {
        let align = align.max(variable.align as u32);
        let offset = self.param_end.next_multiple_of(align);
        let bytes = variable.bytes as u32;
        self.param_end = within_most(offset + bytes, variable)?;
        self.param_most = self.param_most.max(self.param_end);
        self.declare(variable.name, Symbol::Param { offset, bytes })?;
        Ok(Slot::Memory { offset, bytes })
    }

    /// Decodes the statements of a scope.
    fn body(&mut self, statements: &'m [Statement<'s>]) -> Result<()> {
        let param_end = self.param_end;
        // Labels may be used before they stand.
        for statement in statements {
            match statement {
                Statement::Label(name, at) => {
                    let label = self.labels.len();
                    self.labels.push(None);
                    self.at = *at;
                    self.declare(name, Symbol::Label(label))?;
                }
                Statement::Targets(name, targets) => {
                    self.declare(name, Symbol::Targets(targets.clone()))?;
                }
                _ => {}
            }
        }
        for statement in statements {
            match statement {
                Statement::Registers {
                    name,
                    count: Some(count),
                    ty,
                    lanes,
                    at,
                } => {
                    self.at = *at;
                    self.declare_range(symbols::Range {
                        prefix: name,
                        count: *count,
                        ty: *ty,
                        lanes: *lanes,
                        registers: HashMap::new(),
                    })?;
                }
                Statement::Registers {
                    name,
                    count: None,
                    ty,
                    lanes,
                    at,
                } => {
                    self.at = *at;
                    let symbol = self.new_symbol(name, *ty, *lanes);
                    self.declare(name, symbol)?;
                }
                Statement::Variable(variable) => self.variable(variable)?,
                Statement::Label(name, _) => {
                    if let Some(&Symbol::Label(label)) = self.scope().names.get(name) {
                        self.labels[label] = Some(self.insts.len());
                    }
                }
                Statement::Targets(..) | Statement::Prototype => {}
                Statement::Instruction(instruction) => {
                    let first = self.insts.len();
                    match self.instruction(instruction) {
                        Err(why) if why.unknown => self.unknown(first, why),
                        done => done?,
                    }
                }
                Statement::Scope(inner) => {
                    self.scopes.push(Scope::default());
                    self.body(inner)?;
                    self.scopes.pop();
                }
            }
        }
        self.param_end = param_end;
        Ok(())
    }

    /// Puts a mistake of its own in the place of an instruction, whose steps begin at `first`.
    fn unknown(&mut self, first: usize, why: ParseError) {
        self.insts.truncate(first);
        self.multiplies.truncate(first);
        self.emit(Op::Unknown(why.message.as_str().into()), None);
        self.uses.unknown.get_or_insert(why);
    }

    /// Declares a variable within a function.
    fn variable(&mut self, variable: &Variable<'s>) -> Result<()> {
        self.at = variable.at;
        match variable.space {
            Space::Param => {
                self.param_variable(variable, 4)?;
            }
            Space::Local => {
                let offset = self.local_end.next_multiple_of(variable.align as u32);
                self.local_end = within_most(offset + variable.bytes as u32, variable)?;
                self.declare(variable.name, Symbol::Local(offset))?;
            }
            Space::Shared => {
                let index = self.common.shared.len() as u32;
                self.common.shared.push(shared_variable(variable));
                self.declare(variable.name, Symbol::Shared(index))?;
            }
            _ => {
                return Err(ParseError::at(
                    variable.at,
                    format!("a {} variable within a function", variable.space.name()),
                ));
            }
        }
        Ok(())
    }

    /// Decodes an instruction.
    fn instruction(&mut self, instruction: &'m Instruction<'s>) -> Result<()> {
        self.at = instruction.at;
        self.counted = false;
        self.guard = match instruction.guard {
            Some((name, negated)) => {
                let p = self.predicate(&Operand::Name(name))?;
                Some(Cond {
                    p: p.p,
                    negated: p.negated != negated,
                })
            }
            None => None,
        };
        let first = self.insts.len();
        let mut opcode = Opcode::new(instruction.opcode, instruction.at);
        self.check_requirements(&opcode)?;
        let operands = &instruction.operands;
        if operands.contains(&Operand::Compound) {
            return opcode.fail("an address of several parts");
        }
        let known = self.half_arithmetic(&mut opcode, operands)?
            || self.arithmetic(&mut opcode, operands)?
            || self.conversion(&mut opcode, operands)?
            || self.memory_access(&mut opcode, operands)?
            || self.control(&mut opcode, operands)?;
        if !known {
            let message = format!("unknown opcode `{}`", instruction.opcode);
            return Err(ParseError::unknown(self.at, message));
        }
        opcode.finish()?;
        let flow = flow_of(instruction.opcode);
        for inst in &mut self.insts[first..] {
            inst.flow = flow;
        }
        Ok(())
    }
}

/// How undefined bits pass through the steps of an instruction.
fn flow_of(opcode: &str) -> Flow {
    let mut parts = opcode.split('.');
    match parts.next().unwrap_or_default() {
        "and" | "or" | "xor" | "not" | "lop3" => Flow::Bitwise,
        "mov" | "ld" | "ldu" => Flow::Moves(u8::MAX),
        // Behind the condition.
        "selp" | "wgmma" => Flow::Moves(0b110),
        "shl" | "shr" | "bfe" | "brev" | "szext" => Flow::Moves(0b1),
        "shf" | "prmt" | "bfi" => Flow::Moves(0b11),
        "cvt" if parts.all(|part| Type::named(part).is_some_and(|ty| !ty.is_float())) => {
            Flow::Moves(0b1)
        }
        _ => Flow::Whole,
    }
}

/// Holds the variables of one space to a size that offsets can count.
fn within_most(end: u32, variable: &Variable<'_>) -> Result<u32> {
    if end > MOST_BYTES {
        let message = format!(
            "more than {MOST_BYTES} bytes of {} memory",
            variable.space.name()
        );
        return Err(ParseError::at(variable.at, message));
    }
    Ok(end)
}
