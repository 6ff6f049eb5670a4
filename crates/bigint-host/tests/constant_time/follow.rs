//! Runs code and logs where it goes and what memory it names.
//!
//! The code is translated block by block, as it is reached: a copy of each instruction runs in its
//! place, behind stores to the log of the registers that make up its addresses, of the masks by which it
//! passes over memory, and of what it divides. A branch at the end of a block leaves for [`next_block`],
//! which logs where it leads. Whatever has been computed is as it would have been, but for the clock,
//! which stands still.
//!
//! Translated code finds its own words at `gs`, which nothing else on Linux uses, so that it needs no
//! register and no stack. What translates may run in the middle of `malloc`: it has memory of its own
//! ([`Apart`]).
#![allow(unsafe_code)] // machine code, and an allocator

use iced_x86::{
    Code, Decoder, DecoderOptions, Encoder, EncodingKind, FlowControl, IcedError, Instruction,
    InstructionInfoFactory, MemoryOperand, Mnemonic, OpKind, Register,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::arch::naked_asm;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::mem::offset_of;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// An instruction, and the registers that are logged before it.
pub type Step = (Instruction, Vec<Register>);

/// The most instructions of a block, and the most bytes that are read for them.
const LONGEST: usize = 32;
const BYTES: usize = 15 * LONGEST;

/// Room that is enough for a block: in the log, and for its translation.
const SLACK: u64 = 1 << 16;

/// How much translated code there is room for at a time, and memory for what translates.
const CACHE: u64 = 1 << 22;
const APART: u64 = 1 << 28;

/// From where on large memory is to be, so that there is room for translations near all code.
pub const FAR: u64 = 1 << 44;

/// The words that a register takes in the log.
pub fn words(register: Register) -> usize {
    (register.size() / 8).max(1)
}

/// The code of this process, read from its memory.
pub struct Program {
    memory: File,
    information: InstructionInfoFactory,
    /// Where the kernel's own code is, which reads the clock.
    clock: Range<u64>,
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
struct Own {
    /// Where the code goes next.
    target: u64,
    /// Where the next word of the log goes.
    log: u64,
    /// A register that is needed for a moment.
    saved: u64,
    /// The stack of the code, while what translates has its own.
    stack: u64,
    own_stack: u64,
    /// The translation of `target`.
    next: u64,
    /// The address of [`exit`].
    exit: u64,
}

/// What follows a run.
struct Follower {
    own: Own,
    program: Program,
    /// Where the translations of blocks are.
    known: BTreeMap<u64, u64>,
    /// Memory for translations that is still free, near the code that each is of.
    caches: Vec<Range<u64>>,
    encoder: Encoder,
    log: Range<u64>,
}

static FOLLOWER: AtomicPtr<Follower> = AtomicPtr::new(null_mut());

/// Runs `work`, on this thread alone and once in a process; logs addresses of blocks, each before the
/// registers of its instructions, and says how many words. A log that is full ends the process.
pub fn follow(work: impl FnOnce(), log: &mut [u64]) -> usize {
    let log = log.as_mut_ptr_range();
    let log = log.start as u64..log.end as u64;
    let stack = mapped(FAR / 2, SLACK) + SLACK;
    APART_FREE.store(mapped(FAR / 2, APART) as usize, Ordering::Relaxed);
    let own = Own {
        target: 0,
        log: log.start,
        saved: 0,
        stack: 0,
        own_stack: stack,
        next: 0,
        exit: exit as *const () as u64,
    };
    let follower = Box::leak(Box::new(Follower {
        own,
        program: Program::new(),
        known: BTreeMap::new(),
        caches: Vec::new(),
        encoder: Encoder::new(64),
        log,
    }));
    let start = follower.log.start;
    FOLLOWER.store(follower, Ordering::Relaxed);
    const SET_GS: i32 = 0x1001;
    // SAFETY: nothing else uses gs; the follower lives for ever, and is seen by `next_block` alone
    // while the code is followed, which no other thread is.
    unsafe {
        libc::syscall(
            libc::SYS_arch_prctl,
            SET_GS,
            &raw mut (*FOLLOWER.load(Ordering::Relaxed)).own,
        );
        enter();
        work();
        leave();
        ((*FOLLOWER.load(Ordering::Relaxed)).own.log - start) as usize / size_of::<u64>()
    }
}

/// Goes on behind the call as followed code.
#[unsafe(naked)]
unsafe extern "C" fn enter() {
    naked_asm!(
        "pop rax",
        "mov gs:[{target}], rax",
        "jmp {exit}",
        target = const offset_of!(Own, target),
        exit = sym exit,
    )
}

/// Where the following ends: this is not translated.
#[unsafe(naked)]
unsafe extern "C" fn leave() {
    naked_asm!("ret")
}

/// Where a block ends, with `target` set: all registers go to another stack, and come back from there
/// when it is known where the code goes on. 0xe7 are x87, SSE, AVX and AVX-512.
#[unsafe(naked)]
unsafe extern "C" fn exit() {
    naked_asm!(
        "mov gs:[{stack}], rsp",
        "mov rsp, gs:[{own_stack}]",
        "pushfq",
        "push rax",
        "push rcx",
        "push rdx",
        "push rbx",
        "push rbp",
        "push rsi",
        "push rdi",
        "push r8",
        "push r9",
        "push r10",
        "push r11",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov rbp, rsp",
        "sub rsp, 4096",
        "mov eax, 0xe7",
        "xor edx, edx",
        "xsave64 [rsp]",
        "call {next_block}",
        "mov gs:[{next}], rax",
        "mov eax, 0xe7",
        "xor edx, edx",
        "xrstor64 [rsp]",
        "mov rsp, rbp",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop r11",
        "pop r10",
        "pop r9",
        "pop r8",
        "pop rdi",
        "pop rsi",
        "pop rbp",
        "pop rbx",
        "pop rdx",
        "pop rcx",
        "pop rax",
        "popfq",
        "mov rsp, gs:[{stack}]",
        "jmp gs:[{next}]",
        stack = const offset_of!(Own, stack),
        own_stack = const offset_of!(Own, own_stack),
        next = const offset_of!(Own, next),
        next_block = sym next_block,
    )
}

/// The translation of the block at `target`.
extern "C" fn next_block() -> u64 {
    IS_APART.store(true, Ordering::Relaxed);
    // SAFETY: `follow` has set it, and the code that is followed does not know it.
    let next = unsafe { (*FOLLOWER.load(Ordering::Relaxed)).next() };
    IS_APART.store(false, Ordering::Relaxed);
    next
}

/// What the kernel's clocks are replaced by.
unsafe extern "C" fn frozen(_clock: i32, time: *mut [i64; 2]) -> i32 {
    // SAFETY: `clock_gettime` is called with room for a time.
    unsafe { *time = [1, 0] };
    0
}

impl Follower {
    fn next(&mut self) -> u64 {
        let mut at = self.own.target;
        if at == leave as *const () as u64 {
            return at;
        }
        if self.program.clock.contains(&at) {
            at = frozen as *const () as u64;
        }
        if self.own.log + SLACK > self.log.end {
            // SAFETY: ends the process.
            unsafe { libc::_exit(2) }
        }
        // SAFETY: there is room, as has been looked at.
        unsafe { *(self.own.log as *mut u64) = at };
        self.own.log += size_of::<u64>() as u64;
        if let Some(&known) = self.known.get(&at) {
            return known;
        }
        let translated = self.translated(at);
        self.known.insert(at, translated);
        translated
    }

    /// Translates the block at `at`.
    fn translated(&mut self, at: u64) -> u64 {
        let block = self.program.block(at);
        let cache = self.cache_near(at);
        let start = self.caches[cache].start;
        let mut emitter = Emitter {
            encoder: &mut self.encoder,
            at: start,
        };
        for (instruction, registers) in &block {
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
        self.caches[cache].start = emitter.at;
        let code = self.encoder.take_buffer();
        // SAFETY: this part of the cache is free, and has room for a block.
        unsafe { std::ptr::copy_nonoverlapping(code.as_ptr(), start as *mut u8, code.len()) };
        start
    }

    /// A cache with room that is near enough for addresses relative to the instruction.
    fn cache_near(&mut self, at: u64) -> usize {
        let is_near = |cache: &Range<u64>| {
            cache.end - cache.start > SLACK && cache.start.abs_diff(at) < 1 << 30
        };
        if let Some(known) = self.caches.iter().position(is_near) {
            return known;
        }
        let wanted = (1..).map(|steps| (at & !(CACHE - 1)) - steps * CACHE);
        let made = wanted.take(200).map(|wanted| mapped(wanted, CACHE));
        let made = made.map(|start| start..start + CACHE).find(is_near);
        self.caches.push(made.expect("memory near the code"));
        self.caches.len() - 1
    }
}

/// Fresh memory for code and data, at the address that is wanted if it is free there.
fn mapped(wanted: u64, length: u64) -> u64 {
    let rights = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: memory where there is none yet.
    let start = unsafe { libc::mmap(wanted as *mut _, length as usize, rights, kind, -1, 0) };
    assert!(start != libc::MAP_FAILED, "no memory for translated code");
    start as u64
}

/// One of the words at `gs`.
fn gs(offset: usize) -> MemoryOperand {
    let none = Register::None;
    MemoryOperand::new(none, none, 1, offset as i64, 8, false, Register::GS)
}

/// Writes translated code. None of what it adds touches flags or the stack.
struct Emitter<'e> {
    encoder: &'e mut Encoder,
    at: u64,
}

impl Emitter<'_> {
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

/// The system's allocator, but for what translates: that has memory of its own, which it does not give
/// back.
pub struct Apart;

static IS_APART: AtomicBool = AtomicBool::new(false);
static APART_FREE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every request is the system's, or gets the next bytes of memory that nobody else has.
unsafe impl GlobalAlloc for Apart {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if IS_APART.load(Ordering::Relaxed) {
            let start = APART_FREE.load(Ordering::Relaxed);
            let start = start.next_multiple_of(layout.align());
            APART_FREE.store(start + layout.size(), Ordering::Relaxed);
            return start as *mut u8;
        }
        // SAFETY: the caller keeps `alloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        if !IS_APART.load(Ordering::Relaxed) {
            // SAFETY: the caller keeps `dealloc`'s contract.
            unsafe { System.dealloc(old, layout) }
        }
    }
}
