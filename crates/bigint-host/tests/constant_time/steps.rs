//! Two runs of the same work with different secrets, instruction by instruction: both must be at the
//! same place after each, and name the same memory.
//!
//! Two children of this process begin with the same memory, as `fork` leaves it, choose their
//! secrets, and go on as the parent allows by `ptrace`. It reads each instruction from its own memory,
//! where the children's are the same, and compares the registers that make its addresses up; and the
//! operands of divisions, whose time depends on them on many machines. The kernel's code that reads
//! the clock is passed over.
#![allow(unsafe_code)] // fork, ptrace and waitpid

use iced_x86::{Decoder, DecoderOptions, InstructionInfoFactory, Mnemonic, Register};
use libc::user_regs_struct;
use std::collections::HashMap;
use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

/// Where two runs of `work` part or address other memory, or that one of them fails.
pub fn leaks(work: &dyn Fn(bool)) -> Option<String> {
    // What is made once, at the first call, is there before the children are.
    work(false);
    let mut code = Code::new();
    let mut children = [false, true].map(|other| Child::start(work, other));
    loop {
        let [x, y] = match [children[0].registers(), children[1].registers()] {
            [Some(x), Some(y)] => [x, y],
            [None, None] => return children.iter().find_map(Child::failure),
            _ => return Some("one run is longer than the other".into()),
        };
        if x.rip != y.rip {
            let [x, y] = [x.rip, y.rip].map(|at| code.place(at));
            return Some(format!("a branch to {x} or to {y}"));
        }
        for register in code.compared(x.rip) {
            if value(&x, *register) != value(&y, *register) {
                let (register, place) = (*register, code.place(x.rip));
                return Some(format!(
                    "an address or a division by {register:?} at {place}"
                ));
            }
        }
        children.iter_mut().for_each(|child| child.step(&code));
    }
}

/// A run, stopped between two instructions, or at its end.
struct Child {
    id: libc::pid_t,
    status: i32,
}

impl Child {
    fn start(work: &dyn Fn(bool), other: bool) -> Self {
        // SAFETY: the child goes on with this thread alone, and other threads have no lock of what
        // the work needs: the tests of this process come one after another.
        let id = unsafe { libc::fork() };
        assert!(id >= 0, "no child: {}", std::io::Error::last_os_error());
        if id == 0 {
            // SAFETY: the child asks to be traced by its parent, and stops.
            unsafe {
                libc::ptrace(libc::PTRACE_TRACEME, 0, null_mut::<u8>(), null_mut::<u8>());
                libc::raise(libc::SIGSTOP);
            }
            let worked = catch_unwind(AssertUnwindSafe(|| work(other)));
            // SAFETY: ends the child, without what its parent does at its own end.
            unsafe { libc::_exit(i32::from(worked.is_err())) }
        }
        let mut child = Child { id, status: 0 };
        child.wait();
        child
    }

    fn wait(&mut self) {
        // SAFETY: there is room for the status.
        let found = unsafe { libc::waitpid(self.id, &mut self.status, libc::__WALL) };
        assert_eq!(found, self.id, "{}", std::io::Error::last_os_error());
    }

    /// The registers, unless it has ended, or stopped for another reason than a step.
    fn registers(&self) -> Option<user_regs_struct> {
        let signal = libc::WSTOPSIG(self.status);
        if !libc::WIFSTOPPED(self.status) || ![libc::SIGSTOP, libc::SIGTRAP].contains(&signal) {
            return None;
        }
        // SAFETY: a structure of integers, for which there is room.
        unsafe {
            let mut registers: user_regs_struct = std::mem::zeroed();
            let request = libc::PTRACE_GETREGS;
            let result = libc::ptrace(request, self.id, null_mut::<u8>(), &mut registers);
            (result == 0).then_some(registers)
        }
    }

    /// One instruction, and those of the kernel's clock behind it.
    fn step(&mut self, code: &Code) {
        loop {
            // SAFETY: the child is stopped; the request takes no memory.
            unsafe {
                let request = libc::PTRACE_SINGLESTEP;
                libc::ptrace(request, self.id, null_mut::<u8>(), null_mut::<u8>());
            }
            self.wait();
            let at = self.registers().map(|registers| registers.rip);
            if !at.is_some_and(|at| code.clock.contains(&at)) {
                return;
            }
        }
    }

    /// How it failed, if it did.
    fn failure(&self) -> Option<String> {
        let is_good = libc::WIFEXITED(self.status) && libc::WEXITSTATUS(self.status) == 0;
        (!is_good).then(|| format!("the work failed: status {:#x}", self.status))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if libc::WIFSTOPPED(self.status) {
            // SAFETY: a child of this process that nobody has waited for.
            unsafe {
                libc::kill(self.id, libc::SIGKILL);
                libc::waitpid(self.id, null_mut(), libc::__WALL);
            }
        }
    }
}

/// The instructions that the children run.
struct Code {
    memory: File,
    /// Of instructions that were met, the registers to be compared.
    known: HashMap<u64, Vec<Register>>,
    information: InstructionInfoFactory,
    /// Where the kernel's own code is.
    clock: Range<u64>,
    maps: String,
}

impl Code {
    fn new() -> Self {
        let maps = fs::read_to_string("/proc/self/maps").expect("what is mapped");
        let of_clock = maps.lines().find(|line| line.ends_with("[vdso]"));
        Code {
            memory: File::open("/proc/self/mem").expect("this process's memory"),
            known: HashMap::new(),
            information: InstructionInfoFactory::new(),
            clock: of_clock.map_or(0..0, |line| range(line).unwrap_or(0..0)),
            maps,
        }
    }

    /// The registers that make up the addresses of the instruction at `at`; of a division those
    /// that are divided as well.
    fn compared(&mut self, at: u64) -> &[Register] {
        self.known.entry(at).or_insert_with(|| {
            let mut bytes = [0; 15];
            // At the end of what is mapped there may be fewer.
            let length = self.memory.read_at(&mut bytes, at).expect("an instruction");
            let mut decoder = Decoder::with_ip(64, &bytes[..length], at, DecoderOptions::NONE);
            let instruction = decoder.decode();
            assert!(!instruction.is_invalid(), "no instruction: {bytes:x?}");
            let information = self.information.info(&instruction);
            let of_memory = information.used_memory().iter();
            let mut registers: Vec<Register> = of_memory
                .flat_map(|memory| [memory.base(), memory.index()])
                .collect();
            if let Mnemonic::Div | Mnemonic::Idiv = instruction.mnemonic() {
                let used = information.used_registers().iter();
                registers.extend(used.map(|used| used.register()));
            }
            registers.retain(|register| *register != Register::None);
            registers
        })
    }

    /// Where an instruction is, for people: a line of source where `addr2line` finds one.
    fn place(&self, at: u64) -> String {
        let this = std::env::current_exe().expect("this executable's path");
        let of_this = |line: &&str| line.ends_with(&*this.to_string_lossy());
        let start = self.maps.lines().find(of_this).and_then(range);
        let offset = at.wrapping_sub(start.map_or(0, |range| range.start));
        let mut command = std::process::Command::new("addr2line");
        let command = command
            .args(["-Cfpie"])
            .arg(&this)
            .arg(format!("{offset:#x}"));
        let found = command.output().ok().map(|output| output.stdout);
        let found = String::from_utf8_lossy(&found.unwrap_or_default()).replace('\n', " ");
        format!("{offset:#x} {found}")
    }
}

/// The addresses of a line of `/proc/self/maps`.
fn range(line: &str) -> Option<Range<u64>> {
    let (addresses, _) = line.split_once(' ')?;
    let (start, end) = addresses.split_once('-')?;
    let address = |hex| u64::from_str_radix(hex, 16).ok();
    Some(address(start)?..address(end)?)
}

/// What a register holds.
fn value(registers: &user_regs_struct, register: Register) -> u64 {
    match register.full_register() {
        Register::RAX => registers.rax,
        Register::RBX => registers.rbx,
        Register::RCX => registers.rcx,
        Register::RDX => registers.rdx,
        Register::RSI => registers.rsi,
        Register::RDI => registers.rdi,
        Register::RBP => registers.rbp,
        Register::RSP => registers.rsp,
        Register::R8 => registers.r8,
        Register::R9 => registers.r9,
        Register::R10 => registers.r10,
        Register::R11 => registers.r11,
        Register::R12 => registers.r12,
        Register::R13 => registers.r13,
        Register::R14 => registers.r14,
        Register::R15 => registers.r15,
        Register::RIP => registers.rip,
        other => panic!("{other:?} in an address: gathers are not followed"),
    }
}
