//! Two runs of the same work with different secrets, instruction by instruction: both must be at the
//! same place after each, and name the same memory.
//!
//! Two children of this process begin with the same memory, as `fork` leaves it, and choose their
//! secrets. The processor traps after each of their instructions (the trap flag), and the handler
//! writes all registers down. The parent then reads each instruction where it met it, from its own
//! memory, which has the same code at the same addresses, and compares the registers that make its
//! addresses up, and the operands of divisions, whose time depends on them on many machines. The
//! kernel's code that reads the clock is passed over.
#![allow(unsafe_code)] // fork, the trap flag, a signal's handler and shared memory

use iced_x86::{Decoder, DecoderOptions, InstructionInfoFactory, Mnemonic, Register};
use std::arch::asm;
use std::collections::HashMap;
use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// What the kernel tells of the registers: r8 to r15, then [`NAMED`], then a digest of each of the
/// vectors zmm0 to zmm31, by which gathers take addresses, and of the masks k0 to k7, by which they
/// pass over some.
type Registers = [u64; 17 + 40];

/// The others, in the kernel's order.
const NAMED: [Register; 9] = [
    Register::RDI,
    Register::RSI,
    Register::RBP,
    Register::RBX,
    Register::RDX,
    Register::RAX,
    Register::RCX,
    Register::RSP,
    Register::RIP,
];

/// What `xsave` writes of vectors and masks: the part's number in the processor's list, the registers
/// as [`Registers`] has them behind the first 17, and how many words it writes of each.
const PARTS: [(usize, Range<usize>, usize); 5] = [
    (1, 0..16, 2),
    (2, 0..16, 2),
    (6, 0..16, 4),
    (7, 16..32, 8),
    (5, 32..40, 1),
];

/// The words before each of these parts, and before the word that says which parts there are.
static OFFSETS: OnceLock<[usize; 5]> = OnceLock::new();
const WHICH: usize = 512 / 8;

/// The most instructions of a run.
const MOST: usize = 1 << 22;

/// Where the handler writes, and how many it has written.
static RUN: AtomicPtr<Registers> = AtomicPtr::new(null_mut());
static WRITTEN: AtomicUsize = AtomicUsize::new(0);

/// Where two runs of `work` part or address other memory, or that one of them fails.
pub fn leaks(work: &dyn Fn(bool)) -> Option<String> {
    // What is made once, at the first call, is there before the children are.
    work(false);
    OFFSETS.get_or_init(|| {
        PARTS.map(|(part, ..)| match part {
            // The lower halves of xmm0 to xmm15, as `fxsave` puts them.
            1 => 160 / 8,
            _ => std::arch::x86_64::__cpuid_count(0xd, part as u32).ebx as usize / 8,
        })
    });
    let mut runs = [false, true].map(|other| Run::of(work, other));
    let mut code = Code::new();
    for run in &mut runs {
        if let Some(failure) = run.failure.take() {
            return Some(failure);
        }
    }
    let clock = &code.clock;
    let [xs, mut ys] = runs.each_ref().map(|run| {
        let all = run.registers().iter();
        all.filter(move |registers| !clock.contains(&registers[16]))
    });
    for x in xs {
        let Some(y) = ys.next() else {
            return Some("one run is longer than the other".into());
        };
        if x[16] != y[16] {
            let [x, y] = [x[16], y[16]].map(|at| place(at, &code.maps));
            return Some(format!("a branch to {x} or to {y}"));
        }
        for register in compared(&mut code.known, &mut code.information, &code.memory, x[16]) {
            let (in_x, in_y) = (value(x, *register), value(y, *register));
            if in_x.is_none() || in_x != in_y {
                let place = place(x[16], &code.maps);
                return Some(format!(
                    "an address or a division by {register:?} at {place}"
                ));
            }
        }
    }
    ys.next().map(|_| "one run is longer than the other".into())
}

/// The registers after each instruction of a run, in memory that is shared with it: their number
/// stands before them.
struct Run {
    memory: *mut Registers,
    failure: Option<String>,
}

impl Run {
    /// Runs the work in a child.
    fn of(work: &dyn Fn(bool), other: bool) -> Self {
        let (rights, kind) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
        );
        let length = (MOST + 1) * size_of::<Registers>();
        // SAFETY: fresh memory; the child goes on with this thread alone, and other threads have no
        // lock of what the work needs: the tests of this process come one after another.
        let (memory, id) = unsafe {
            let memory = libc::mmap(null_mut(), length, rights, kind, -1, 0);
            assert!(memory != libc::MAP_FAILED, "no memory for the steps");
            (memory.cast::<Registers>(), libc::fork())
        };
        assert!(id >= 0, "no child: {}", std::io::Error::last_os_error());
        if id == 0 {
            RUN.store(memory, Ordering::Relaxed);
            let worked = catch_unwind(AssertUnwindSafe(|| {
                trap_from_here();
                work(other);
                trap_no_more();
            }));
            trap_no_more();
            // SAFETY: the first place is there for the number; ends the child, without what its
            // parent does at its own end.
            unsafe {
                (*memory)[0] = WRITTEN.load(Ordering::Relaxed) as u64;
                libc::_exit(i32::from(worked.is_err()))
            }
        }
        let mut status = 0;
        // SAFETY: there is room for the status.
        let found = unsafe { libc::waitpid(id, &mut status, 0) };
        let is_good = found == id && libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0;
        Run {
            memory,
            failure: (!is_good).then(|| format!("the work failed, or is too long: {status:#x}")),
        }
    }

    fn registers(&self) -> &[Registers] {
        // SAFETY: the child has ended, and has written as many behind their number, at most `MOST`.
        unsafe {
            let count = (*self.memory)[0] as usize;
            std::slice::from_raw_parts(self.memory.add(1), count.min(MOST))
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // SAFETY: as it was mapped; nobody has a reference to it any more.
        unsafe {
            libc::munmap(self.memory.cast(), (MOST + 1) * size_of::<Registers>());
        }
    }
}

/// Writes the registers down; of a run that is too long, ends the process.
extern "C" fn on_trap(_: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let at = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let offsets = *OFFSETS.get().expect("found before the run");
    // SAFETY: the kernel gives a context, whose first registers are these 17, and what `xsave`
    // writes of a machine with AVX; there is memory for `MOST` of them behind the first place.
    unsafe {
        if at >= MOST {
            libc::_exit(2);
        }
        let context = &*context.cast::<libc::ucontext_t>();
        let to = RUN.load(Ordering::Relaxed).add(1 + at);
        let (general, vectors) = (*to).split_at_mut(17);
        for (to, from) in general.iter_mut().zip(&context.uc_mcontext.gregs) {
            *to = *from as u64;
        }
        let state = context.uc_mcontext.fpregs.cast::<u64>();
        for ((part, registers, words), offset) in PARTS.into_iter().zip(offsets) {
            // What is not there is zero.
            let is_there = *state.add(WHICH) >> part & 1 == 1;
            for (i, to) in vectors[registers].iter_mut().enumerate() {
                for at in offset + i * words..offset + (i + 1) * words {
                    let word = if is_there { *state.add(at) } else { 0 };
                    *to = (to.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                }
            }
        }
    }
}

/// Has the processor trap after each instruction.
#[inline(never)]
fn trap_from_here() {
    // SAFETY: the handler touches its own memory alone. The flag is set on this thread, whose stack
    // below what is in use the kernel and the handler may take.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_trap as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        libc::sigaction(libc::SIGTRAP, &action, null_mut());
        asm!("pushfq", "or qword ptr [rsp], 0x100", "popfq");
    }
}

#[inline(never)]
fn trap_no_more() {
    // SAFETY: as above.
    unsafe { asm!("pushfq", "and qword ptr [rsp], -0x101", "popfq") }
}

/// The instructions that the children have run.
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
            clock: of_clock.and_then(range).unwrap_or(0..0),
            maps,
        }
    }
}

/// The registers that make up the addresses of the instruction at `at`, and the mask by which it
/// passes over some; of a division those that are divided as well.
fn compared<'k>(
    known: &'k mut HashMap<u64, Vec<Register>>,
    information: &mut InstructionInfoFactory,
    memory: &File,
    at: u64,
) -> &'k [Register] {
    known.entry(at).or_insert_with(|| {
        let mut bytes = [0; 15];
        // At the end of what is mapped there may be fewer.
        let length = memory.read_at(&mut bytes, at).expect("an instruction");
        let mut decoder = Decoder::with_ip(64, &bytes[..length], at, DecoderOptions::NONE);
        let instruction = decoder.decode();
        assert!(!instruction.is_invalid(), "no instruction: {bytes:x?}");
        let information = information.info(&instruction);
        let of_memory = information.used_memory().iter();
        let mut registers: Vec<Register> = of_memory
            .filter(|memory| memory.base() != Register::RIP)
            .flat_map(|memory| [memory.base(), memory.index(), instruction.op_mask()])
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
fn place(at: u64, maps: &str) -> String {
    let this = std::env::current_exe().expect("this executable's path");
    let of_this = |line: &&str| line.ends_with(&*this.to_string_lossy());
    let start = maps.lines().find(of_this).and_then(range);
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

/// The addresses of a line of `/proc/self/maps`.
fn range(line: &str) -> Option<Range<u64>> {
    let (addresses, _) = line.split_once(' ')?;
    let (start, end) = addresses.split_once('-')?;
    let address = |hex| u64::from_str_radix(hex, 16).ok();
    Some(address(start)?..address(end)?)
}

/// What a register holds, or a digest of it.
fn value(registers: &Registers, register: Register) -> Option<u64> {
    let full = register.full_register();
    let named = NAMED.iter().position(|&named| named == full);
    let numbered = (full as usize).wrapping_sub(Register::R8 as usize);
    let vector = (full as usize).wrapping_sub(Register::ZMM0 as usize);
    let mask = (full as usize).wrapping_sub(Register::K0 as usize);
    let at = named.map(|at| 8 + at);
    let at = at.or((numbered < 8).then_some(numbered));
    let at = at.or((vector < 32).then_some(17 + vector));
    let at = at.or((mask < 8).then_some(17 + 32 + mask))?;
    Some(registers[at])
}
