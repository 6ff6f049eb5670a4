//! PTX modules: from source text to kernels that can be launched.

pub use crate::syntax::error::ParseError;

use crate::decode::{self, Decoded};
use crate::syntax::parser;
use crate::syntax::tree::{self, Formal, Initial};
use crate::syntax::types::Space;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

/// Parameters beyond this are not laid out: no launch takes as many bytes.
const MOST_PARAMS: u32 = 1 << 30;

/// One parameter of a kernel: its place in the parameter buffer of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// The name in the source.
    pub name: String,
    /// The parameter's offset in bytes.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// Alignment in bytes, a power of two.
    pub align: u32,
}

/// An entry point of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The name that a launch asks for.
    pub name: String,
    /// The parameters in order.
    pub params: Vec<Param>,
    /// Bytes of the whole parameter buffer.
    pub param_bytes: u32,
    /// Bytes of static shared memory that the kernel and what it calls declare.
    pub shared_bytes: u32,
    /// Bytes of local memory that one thread needs, calls included; recursion is
    /// counted once.
    pub local_bytes: u32,
    /// An estimate of the 32-bit registers that a thread needs: the most that are
    /// live at once in the kernel itself, or what `.maxntid` or `.reqntid` leave it. Only
    /// the assembler of a real GPU knows the true number.
    pub registers: u32,
    /// Threads of a block at most, from `.maxntid` or `.reqntid`; 1024 without them.
    pub max_threads: u32,
    /// The exact block that `.reqntid` asks for.
    pub required_threads: Option<[u32; 3]>,
    /// The exact cluster, in blocks, that `.reqnctapercluster` asks for.
    pub required_cluster: Option<[u32; 3]>,
    /// Line of the kernel's name in the source.
    pub line: u32,
    /// The first instruction, in its own body or in what it may call, that the simulator does
    /// not know: a launch goes well until some thread executes it.
    pub unknown: Option<ParseError>,
}

/// A variable in global or constant memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    /// The name in the source.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// Alignment in bytes, a power of two.
    pub align: u64,
    /// Whether the variable lies in constant memory, which kernels cannot write.
    pub constant: bool,
    /// The initial bytes, zero where the source gives none.
    pub initial: Vec<u8>,
    /// Addresses of other variables to be put over the initial bytes.
    pub(crate) relocations: Vec<Relocation>,
}

/// Bytes of an address within initial data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Relocation {
    pub offset: u64,
    pub bytes: u32,
    pub symbol: String,
    pub addend: u64,
    pub mask: u64,
}

/// A PTX module: kernels, and the variables that they share.
#[derive(Clone, Debug)]
pub struct Module {
    version: (u32, u32),
    target: String,
    target_sm: u32,
    kernels: BTreeMap<String, Kernel>,
    globals: Vec<Global>,
    decoded: Arc<Decoded>,
}

/// Modules that are kept with their source after they were read.
const MOST_KEPT: usize = 16;

/// The modules that were read last: many a program reads the same source again and again.
static KEPT: Mutex<VecDeque<(String, Module)>> = Mutex::new(VecDeque::new());

impl Module {
    /// Reads PTX.
    ///
    /// # Errors
    /// Names the line of what the simulator does not understand: a syntax error,
    /// an undeclared name, operands of the wrong type. An unknown opcode is no error
    /// here ([`Kernel::unknown`]), but a fault of the thread that executes it.
    pub fn parse(source: &str) -> Result<Module, ParseError> {
        let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, module)) = kept().iter().find(|(known, _)| known == source) {
            return Ok(module.clone());
        }
        let module = Module::read(source)?;
        let mut kept = kept();
        kept.truncate(MOST_KEPT - 1);
        kept.push_front((source.to_owned(), module.clone()));
        Ok(module)
    }

    /// Reads PTX that was not read lately.
    fn read(source: &str) -> Result<Module, ParseError> {
        let tree = parser::parse(source)?;
        let mut kernels = BTreeMap::new();
        for function in tree.functions.iter().filter(|f| f.entry) {
            let kernel = kernel(function)?;
            if kernels.insert(kernel.name.clone(), kernel).is_some() {
                return Err(ParseError::at(
                    function.at,
                    format!("kernel `{}` is defined twice", function.name),
                ));
            }
        }
        let globals = tree
            .variables
            .iter()
            .filter(|v| matches!(v.space, Space::Global | Space::Constant) && !v.is_extern)
            .map(global)
            .collect();
        let decoded = decode::module(&tree)?;
        for (name, kernel) in &mut kernels {
            let entry = &decoded.entries[name];
            let function = &decoded.program.functions[entry.function as usize];
            kernel.shared_bytes = entry.shared_bytes;
            kernel.local_bytes = entry.local_bytes;
            kernel.registers = kernel.registers.min(function.registers);
            kernel.unknown = decoded.unknown(entry).cloned();
        }
        Ok(Module {
            version: tree.version,
            target: tree.target.to_owned(),
            target_sm: tree.sm(),
            kernels,
            globals,
            decoded: Arc::new(decoded),
        })
    }

    /// The decoded module, which is what runs.
    pub(crate) fn decoded(&self) -> &Decoded {
        &self.decoded
    }

    /// The PTX version, major and minor.
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// The target, such as `sm_75`.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// The number of the target: 75 for `sm_75`, 90 for `sm_90a`; 0 where it has none.
    pub fn target_sm(&self) -> u32 {
        self.target_sm
    }

    /// The kernels, by name in ascending order.
    pub fn kernels(&self) -> impl Iterator<Item = &Kernel> {
        self.kernels.values()
    }

    /// The kernel with this name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.get(name)
    }

    /// The variables in global and constant memory, in the order of the source.
    pub fn globals(&self) -> &[Global] {
        &self.globals
    }
}

/// Lays out the parameters of a kernel; what it takes of memory is found when it is decoded.
fn kernel(function: &tree::Function<'_>) -> Result<Kernel, ParseError> {
    let mut params = Vec::new();
    let mut end = 0;
    for formal in &function.formals {
        let Formal::Memory(variable) = formal else {
            return Err(ParseError::at(
                function.at,
                "a kernel's parameters are in .param space",
            ));
        };
        let (size, align) = (variable.bytes as u32, variable.align as u32);
        let offset = u32::next_multiple_of(end, align);
        end = (offset + size).min(MOST_PARAMS);
        params.push(Param {
            name: variable.name.to_owned(),
            offset,
            size,
            align,
        });
    }
    let bound = function.required_threads.or(function.max_threads);
    let bound = bound.map(|sizes| {
        sizes
            .iter()
            .fold(1u32, |all, &size| all.saturating_mul(size))
    });
    Ok(Kernel {
        name: function.name.to_owned(),
        params,
        param_bytes: end,
        shared_bytes: 0,
        local_bytes: 0,
        registers: bound.map_or(u32::MAX, registers_within),
        max_threads: bound.unwrap_or(1024),
        required_threads: function.required_threads,
        required_cluster: function.cluster,
        line: function.at.line,
        unknown: None,
    })
}

/// The registers of a thread to which a bound of so many threads holds the assembler: a
/// block must fit the 2^16 that there are, which are given to warps by the 256.
fn registers_within(threads: u32) -> u32 {
    let warps = threads.div_ceil(32).max(1);
    ((1 << 16) / 256 / warps * 8).max(8)
}

/// The initial bytes of a variable, and where addresses go over them.
fn global(variable: &tree::Variable<'_>) -> Global {
    let mut initial = vec![0; variable.bytes as usize];
    let mut relocations = Vec::new();
    let element = variable.element as usize;
    for (i, value) in variable.initial.iter().enumerate() {
        let offset = i * element;
        match *value {
            Initial::Value(value) => {
                let bytes = element.min(8);
                initial[offset..offset + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
            }
            Initial::Address {
                symbol,
                addend,
                mask,
            } => relocations.push(Relocation {
                offset: offset as u64,
                bytes: variable.element.min(8),
                symbol: symbol.to_owned(),
                addend,
                mask,
            }),
        }
    }
    Global {
        name: variable.name.to_owned(),
        size: variable.bytes,
        align: variable.align,
        constant: variable.space == Space::Constant,
        initial,
        relocations,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = ".version 6.3\n.target sm_75\n.address_size 64\n";

    #[test]
    fn parameters_are_laid_out_by_size_and_alignment() {
        let source = format!(
            "{HEAD}.visible .entry k(.param .u64 .ptr .align 1 a, .param .u8 b, \
             .param .align 16 .b8 c[24], .param .f64 d)\n{{ ret; }}"
        );
        let module = Module::parse(&source).unwrap();
        let kernel = module.kernel("k").unwrap();
        let places: Vec<_> = kernel
            .params
            .iter()
            .map(|p| (p.name.as_str(), p.offset, p.size, p.align))
            .collect();
        assert_eq!(
            places,
            [
                ("a", 0, 8, 8),
                ("b", 8, 1, 1),
                ("c", 16, 24, 16),
                ("d", 40, 8, 8)
            ]
        );
        assert_eq!(kernel.param_bytes, 48);
        assert_eq!((module.version(), module.target_sm()), ((6, 3), 75));
    }

    #[test]
    fn initial_values_fill_their_elements_and_leave_zeros() {
        let source = format!(
            "{HEAD}.global .align 4 .u32 t[4] = {{1, -2, 0x10}};\n\
             .const .b64 p[2] = {{generic(t)+4, 3*(2+5)<<1}};\n\
             .global .f64 f = 0d3FF0000000000000;"
        );
        let module = Module::parse(&source).unwrap();
        let [t, p, f] = module.globals() else {
            panic!("three variables were declared")
        };
        let words: Vec<u32> = t
            .initial
            .chunks(4)
            .map(|c| u32::from_le_bytes(c.try_into().unwrap()))
            .collect();
        assert_eq!(words, [1, -2i32 as u32, 16, 0]);
        assert!(p.constant && !t.constant);
        assert_eq!(p.relocations[0].addend, 4);
        assert_eq!(p.initial[8..], 42u64.to_le_bytes());
        assert_eq!(f.initial, 1f64.to_le_bytes());
    }

    #[test]
    fn errors_name_the_line() {
        for (body, line) in [
            (".visible .entry k()\n{\n add.u32 %r1 %r2;\n}", 6),
            (".global .u99 x;", 4),
            ("\n\nnonsense", 6),
        ] {
            let error = Module::parse(&format!("{HEAD}{body}")).unwrap_err();
            assert_eq!(error.line, line, "{error}");
        }
        assert!(Module::parse("").unwrap_err().message.contains(".version"));
    }
}
