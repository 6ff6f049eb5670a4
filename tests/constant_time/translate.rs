//! Reads the blocks of this process's code and translates them.
//!
//! A translation is a copy of each instruction behind stores to the log of the registers that make up
//! its addresses, of the masks by which it passes over memory, and of what it divides. In the place of
//! the branch at a block's end stands what sets [`Own::target`] and leaves for [`Own::exit`].
//!
//! Translated code finds [`Own`] at `gs`, which nothing else on Linux uses, so that it needs no
//! register and no stack.

use iced_x86::{
    Code, Decoder, DecoderOptions, Encoder, EncodingKind, FlowControl, IcedError, Instruction,
    InstructionInfoFactory, MemoryOperand, Mnemonic, OpKind, Register,
};
use std::fs::{self, File};
use std::mem::offset_of;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// An instruction, and the registers that are logged before it.
pub type Step = (Instruction, Vec<Register>);

/// The most instructions of a block, and the most bytes that are read for them.
const LONGEST: usize = 32;
const BYTES: usize = 15 * LONGEST;

/// The words that a register takes in the log.
pub fn words(register: Register) -> usize {
    (register.size() / 8).max(1)
}

/// The code of this process, read from its memory.
pub struct Program {
    memory: File,
    information: InstructionInfoFactory,
    /// Where the kernel's own code is, which reads the clock.
    pub clock: Range<u64>,
}

impl Program {
    pub fn new() -> Self {
        let maps = fs::read_to_string("/proc/self/maps").expect("what is mapped");
        let of_clock = maps.lines().find(|line| line.ends_with("[vdso]"));
        Program {
            memory: File::open("/proc/self/mem").expect("this process's memory"),
            information: InstructionInfoFactory::new(),
            clock: of_clock.and_then(range).unwrap_or(0..0),
        }
    }

    /// The instructions from `at` on, to the first that may go elsewhere.
    pub fn block(&mut self, at: u64) -> Vec<Step> {
        let mut bytes = [0; BYTES];
        // At the end of what is mapped there may be fewer.
        let length = self.memory.read_at(&mut bytes, at).expect("instructions");
        let mut decoder = Decoder::with_ip(64, &bytes[..length], at, DecoderOptions::NONE);
        let mut block = Vec::new();
        while block.len() < LONGEST {
            let instruction = decoder.decode();
            assert!(
                !instruction.is_invalid(),
                "no instruction at {:#x}",
                decoder.ip()
            );
            let registers = self.logged(&instruction);
            block.push((instruction, registers));
            if ends_block(&instruction) {
                break;
            }
        }
        block
    }

    /// The registers that make up the addresses of an instruction, the mask by which it passes over
    /// some, and how often it is repeated; of a division those that are divided as well.
    fn logged(&mut self, instruction: &Instruction) -> Vec<Register> {
        let information = self.information.info(instruction);
        let of_memory = information.used_memory().iter();
        let mut registers: Vec<Register> = of_memory
            .flat_map(|memory| [memory.base(), memory.index(), instruction.op_mask()])
            .collect();
        let divides = matches!(instruction.mnemonic(), Mnemonic::Div | Mnemonic::Idiv);
        if divides {
            let used = information.used_registers().iter();
            registers.extend(used.map(|used| used.register()));
        }
        let is_repeated = instruction.has_rep_prefix() || instruction.has_repne_prefix();
        if is_repeated && !registers.is_empty() {
            registers.push(Register::RCX);
        }
        let is_wide = instruction.encoding() == EncodingKind::EVEX;
        let mut whole: Vec<Register> = registers
            .into_iter()
            .filter(|register| ![Register::None, Register::RIP].contains(register))
            .map(|register| match register.is_vector_register() && !is_wide {
                true => Register::YMM0 + register.number() as u32,
                false => register.full_register(),
            })
            .collect();
        whole.sort();
        whole.dedup();
        whole
    }
}

fn ends_block(instruction: &Instruction) -> bool {
    let is_syscall = instruction.code() == Code::Syscall;
    instruction.flow_control() != FlowControl::Next && !is_syscall
}

/// The addresses of a line of `/proc/self/maps`.
pub fn range(line: &str) -> Option<Range<u64>> {
    let (addresses, _) = line.split_once(' ')?;
    let (start, end) = addresses.split_once('-')?;
    let address = |hex| u64::from_str_radix(hex, 16).ok();
    Some(address(start)?..address(end)?)
}

/// The words that translated code finds at `gs`.
#[repr(C)]
pub struct Own {
    /// Where the code goes next.
    pub target: u64,
    /// Where the next word of the log goes.
    pub log: u64,
    /// A register that is needed for a moment.
    pub saved: u64,
    /// The stack of the code, while what translates has its own.
    pub stack: u64,
    pub own_stack: u64,
    /// The translation of `target`.
    pub next: u64,
    /// The address of [`exit`].
    pub exit: u64,
}

/// The translation of a block that is to stand at `start`.
pub fn translation(block: &[Step], start: u64) -> Vec<u8> {
    let mut emitter = Emitter {
        encoder: Encoder::new(64),
        at: start,
    };
    for (instruction, registers) in block {
        emitter.log(registers);
        emitter.copy(instruction);
    }
    let (last, _) = block.last().expect("an instruction");
    if !ends_block(last) {
        emitter.go_to(last.next_ip());
    }
    emitter.emit(Instruction::with1(
        Code::Jmp_rm64,
        gs(offset_of!(Own, exit)),
    ));
    emitter.encoder.take_buffer()
}

/// One of the words at `gs`.
fn gs(offset: usize) -> MemoryOperand {
    let none = Register::None;
    MemoryOperand::new(none, none, 1, offset as i64, 8, false, Register::GS)
}

/// Writes translated code. None of what it adds touches flags or the stack.
struct Emitter {
    encoder: Encoder,
    at: u64,
}

impl Emitter {
    fn emit(&mut self, instruction: Result<Instruction, IcedError>) {
        let instruction = instruction.expect("operands that fit");
        let encoded = self.encoder.encode(&instruction, self.at);
        self.at += encoded.unwrap_or_else(|error| panic!("{instruction:?}: {error}")) as u64;
    }

    fn load(&mut self, register: Register, offset: usize) {
        self.emit(Instruction::with2(Code::Mov_r64_rm64, register, gs(offset)));
    }

    fn store(&mut self, offset: usize, register: Register) {
        self.emit(Instruction::with2(Code::Mov_rm64_r64, gs(offset), register));
    }

    /// Appends registers to the log.
    fn log(&mut self, registers: &[Register]) {
        if registers.is_empty() {
            return;
        }
        let log = [Register::RAX, Register::RCX, Register::RDX, Register::RBX];
        let mut log = log.into_iter().chain([Register::RSI, Register::RDI]);
        let log = log.find(|log| !registers.contains(log));
        let log = log.expect("an instruction has fewer registers");
        self.store(offset_of!(Own, saved), log);
        self.load(log, offset_of!(Own, log));
        let mut length = 0;
        for &register in registers {
            let store = match register {
                register if register.is_gpr64() => Code::Mov_rm64_r64,
                register if register.is_k() => Code::VEX_Kmovq_m64_kr,
                register if register.is_ymm() => Code::VEX_Vmovdqu_ymmm256_ymm,
                _ => Code::EVEX_Vmovdqu64_zmmm512_k1z_zmm,
            };
            let to = MemoryOperand::with_base_displ(log, length as i64);
            self.emit(Instruction::with2(store, to, register));
            length += words(register) * size_of::<u64>();
        }
        let end = MemoryOperand::with_base_displ(log, length as i64);
        self.emit(Instruction::with2(Code::Lea_r64_m, log, end));
        self.store(offset_of!(Own, log), log);
        self.load(log, offset_of!(Own, saved));
    }

    /// The instruction itself, or what sets the place to which it goes.
    fn copy(&mut self, instruction: &Instruction) {
        match instruction.flow_control() {
            FlowControl::UnconditionalBranch => self.go_to(instruction.near_branch_target()),
            FlowControl::ConditionalBranch if instruction.is_jcc_short_or_near() => {
                /// The bytes of a branch, and of setting a place.
                const OVER: u64 = 6 + 2 * 12;
                self.go_to(instruction.next_ip());
                let over = self.at + OVER;
                let mut branch = *instruction;
                branch.negate_condition_code();
                branch.as_near_branch();
                branch.set_near_branch64(over);
                self.emit(Ok(branch));
                self.go_to(instruction.near_branch_target());
                assert_eq!(self.at, over, "another length");
            }
            FlowControl::IndirectBranch => self.go_where(instruction),
            FlowControl::Call if instruction.is_call_near() => {
                self.go_to(instruction.near_branch_target());
                self.push(instruction.next_ip());
            }
            FlowControl::IndirectCall => {
                self.go_where(instruction);
                self.push(instruction.next_ip());
            }
            FlowControl::Return => {
                let mut read =
                    Instruction::with1(Code::Jmp_rm64, MemoryOperand::with_base(Register::RSP));
                self.go_where(read.as_mut().expect("an address"));
                let popped = match instruction.op_count() {
                    0 => 8,
                    _ => 8 + i64::from(instruction.immediate16()),
                };
                self.move_stack(popped);
            }
            FlowControl::Next | FlowControl::Exception | FlowControl::Interrupt => {
                self.emit(Ok(*instruction));
            }
            _ if instruction.code() == Code::Syscall => self.emit(Ok(*instruction)),
            _ => panic!("{instruction:?} is not translated"),
        }
    }

    /// Writes a constant of 64 bits.
    fn set(&mut self, to: impl Fn(i64) -> MemoryOperand, value: u64) {
        for (offset, half) in [(0, value as u32), (4, (value >> 32) as u32)] {
            self.emit(Instruction::with2(Code::Mov_rm32_imm32, to(offset), half));
        }
    }

    fn go_to(&mut self, target: u64) {
        let slot = offset_of!(Own, target);
        self.set(|offset| gs(slot + offset as usize), target);
    }

    /// Sets the place to that which an instruction names by a register or in memory.
    fn go_where(&mut self, instruction: &Instruction) {
        let target = offset_of!(Own, target);
        if instruction.op0_kind() == OpKind::Register {
            return self.store(target, instruction.op0_register());
        }
        let mut read = *instruction;
        read.set_code(Code::Mov_r64_rm64);
        read.set_op1_kind(OpKind::Memory);
        read.set_op0_kind(OpKind::Register);
        read.set_op0_register(Register::RAX);
        self.store(offset_of!(Own, saved), Register::RAX);
        self.emit(Ok(read));
        self.store(target, Register::RAX);
        self.load(Register::RAX, offset_of!(Own, saved));
    }

    fn push(&mut self, value: u64) {
        self.move_stack(-8);
        self.set(
            |offset| MemoryOperand::with_base_displ(Register::RSP, offset),
            value,
        );
    }

    fn move_stack(&mut self, bytes: i64) {
        let moved = MemoryOperand::with_base_displ(Register::RSP, bytes);
        self.emit(Instruction::with2(Code::Lea_r64_m, Register::RSP, moved));
    }
}
