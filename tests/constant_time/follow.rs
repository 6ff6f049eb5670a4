//! Runs code and logs where it goes and what memory it names.
//!
//! The code is [translated](crate::translate) block by block, as it is reached. The translation of a
//! block leaves for [`next_block`], which logs where the code goes on. Whatever has been computed is as
//! it would have been, but for the clock, which stands still.
//!
//! What translates may run in the middle of `malloc`: it has memory of its own ([`Apart`]).
#![allow(unsafe_code)] // machine code, and an allocator

use crate::translate::{Own, Program, translation};
use std::alloc::{GlobalAlloc, Layout, System};
use std::arch::naked_asm;
use std::collections::BTreeMap;
use std::mem::offset_of;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// Room that is enough for a block: in the log, and for its translation.
const SLACK: u64 = 1 << 16;

/// How much translated code there is room for at a time, and memory for what translates.
const CACHE: u64 = 1 << 22;
const APART: u64 = 1 << 28;

/// Places for blocks that were reached last.
const RECENT: usize = 1 << 13;

/// From where on large memory is to be, so that there is room for translations near all code.
pub const FAR: u64 = 1 << 44;

/// What follows a run.
struct Follower {
    own: Own,
    program: Program,
    /// Where the translations of blocks are.
    known: BTreeMap<u64, u64>,
    /// Of the blocks last reached some, each with its translation in a place of its own: what is found there is found at once.
    recent: Vec<[u64; 2]>,
    /// Memory for translations that is still free, near the code that each is of.
    caches: Vec<Range<u64>>,
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
    // Two runs differ in what is mapped when they begin: the system's allocator is not to see how long
    // the list of it is.
    IS_APART.store(true, Ordering::Relaxed);
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
        recent: vec![[0; 2]; RECENT],
        caches: Vec::new(),
        log,
    }));
    let start = follower.log.start;
    FOLLOWER.store(follower, Ordering::Relaxed);
    IS_APART.store(false, Ordering::Relaxed);
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
        let place = at as usize % RECENT;
        if self.recent[place][0] != at {
            let known = self.known.get(&at).copied();
            let translated = known.unwrap_or_else(|| {
                let translated = self.translated(at);
                self.known.insert(at, translated);
                translated
            });
            self.recent[place] = [at, translated];
        }
        self.recent[place][1]
    }

    /// Translates the block at `at`.
    fn translated(&mut self, at: u64) -> u64 {
        let block = self.program.block(at);
        let cache = self.cache_near(at);
        let start = self.caches[cache].start;
        let code = translation(&block, start);
        self.caches[cache].start += code.len() as u64;
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
