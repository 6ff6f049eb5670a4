//! Decoded programs: what the executor runs.
//!
//! Registers are dense indices into three files: 32-bit words (narrower values
//! zero-extended), 64-bit longs, and predicates. Constants, special registers
//! and addresses of symbols are registers too, filled when a frame begins, so
//! that an instruction finds every operand in the same way.
//!
//! Arithmetic is a pointer to a function on all 32 lanes, chosen once when the
//! instruction is decoded.

pub(crate) mod registers;

use crate::count::Class;
use crate::memory::CODE_WINDOW;
use crate::syntax::tree::Locations;
use crate::syntax::types::Space;
use std::sync::OnceLock;

/// One 32-bit value per lane.
pub(crate) type Words = [u32; 32];
/// One 64-bit value per lane.
pub(crate) type Longs = [u64; 32];

pub(crate) type W1 = fn(&Words) -> Words;
pub(crate) type W2 = fn(&Words, &Words) -> Words;
pub(crate) type W3 = fn(&Words, &Words, &Words) -> Words;
pub(crate) type W4 = fn(&Words, &Words, &Words, &Words) -> Words;
pub(crate) type L1 = fn(&Longs) -> Longs;
pub(crate) type L2 = fn(&Longs, &Longs) -> Longs;
pub(crate) type L3 = fn(&Longs, &Longs, &Longs) -> Longs;
/// Words in, longs out: widening.
pub(crate) type Widen1 = fn(&Words) -> Longs;
pub(crate) type Widen2 = fn(&Words, &Words) -> Longs;
pub(crate) type Widen3 = fn(&Words, &Words, &Longs) -> Longs;
/// Longs in, words out.
pub(crate) type Narrow1 = fn(&Longs) -> Words;
/// A long and a shift amount; a long, a position and a length; and so on.
pub(crate) type Shift2 = fn(&Longs, &Words) -> Longs;
pub(crate) type Field3 = fn(&Longs, &Words, &Words) -> Longs;
pub(crate) type Field4 = fn(&Longs, &Longs, &Words, &Words) -> Longs;
pub(crate) type Choose3 = fn(&Longs, &Longs, &Words) -> Longs;
/// Comparisons: a bit per lane.
pub(crate) type Test2 = fn(&Words, &Words) -> u32;
pub(crate) type LongTest2 = fn(&Longs, &Longs) -> u32;
/// Arithmetic with a carry flag: 0 or 1 per lane, read and rewritten.
pub(crate) type Carry2 = fn(&Words, &Words, &mut Words) -> Words;
pub(crate) type Carry3 = fn(&Words, &Words, &Words, &mut Words) -> Words;
pub(crate) type LongCarry2 = fn(&Longs, &Longs, &mut Words) -> Longs;
pub(crate) type LongCarry3 = fn(&Longs, &Longs, &Longs, &mut Words) -> Longs;
/// Predicate logic on a bit per lane.
pub(crate) type Logic2 = fn(u32, u32) -> u32;

/// A register of the word file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct W(pub u32);
/// A register of the long file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct L(pub u32);
/// A predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct P(pub u32);

/// A register of any file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Reg {
    Word(W),
    Long(L),
    Pred(P),
}

/// How an instruction uses a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Read,
    Write,
}

/// The registers that an operation reads and those that it writes, in the order of its operands.
#[derive(Clone, Debug)]
pub(crate) struct Registers {
    pub reads: Box<[Reg]>,
    pub writes: Box<[Reg]>,
}

/// How undefined bits of what an operation reads reach what it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// One bit makes the whole result undefined.
    Whole,
    /// Each bit of the result depends on the same bit of the operands.
    Bitwise,
    /// Each bit of the result is a constant or a bit of one of these operands (a bit each, in
    /// the order in which they are read); the others say which.
    Moves(u8),
}

/// A predicate operand, possibly negated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cond {
    pub p: P,
    pub negated: bool,
}

/// The address of a memory instruction: a register plus a constant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub base: Reg,
    pub offset: i64,
}

/// How an access is ordered with those of other threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Weak,
    /// Through the cache for memory that the launch does not change (`ld.global.nc`).
    ReadOnly,
    /// A plain read whose value a compare-and-swap at the same place confirms.
    Guess,
    Volatile,
    /// Relaxed, acquiring or releasing, or of an atomic operation.
    Strong,
}

impl Order {
    /// Whether others may wait for it, or are looked for.
    pub fn is_strong(self) -> bool {
        matches!(self, Order::Volatile | Order::Strong)
    }
}

/// One element of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Element {
    pub bytes: u32,
    pub signed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomicOp {
    Add,
    And,
    Or,
    Xor,
    MinU,
    MinS,
    MaxU,
    MaxS,
    Inc,
    Dec,
    Exch,
    Cas,
    AddF32,
    AddF64,
    /// Steps of a barrier in memory: arrivals, bytes that are expected, bytes that
    /// have been copied.
    Arrive,
    ArriveAndDrop,
    Expect,
    Landed,
}

/// Asynchronous copies.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CopyOp {
    /// A copy from global to shared memory: 4, 8 or 16 bytes, of which `given` are read and the
    /// others zero.
    Start {
        to: Address,
        from: Address,
        bytes: u32,
        given: W,
    },
    /// Everything that the thread started since the last one becomes a group.
    Commit,
    Wait(Wait),
    Bulk {
        transit: Transit,
        to: Address,
        from: Address,
        bytes: W,
    },
}

/// Which copies to wait for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wait {
    All,
    /// All groups but the last so many.
    ButLast(u32),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Transit {
    /// To shared memory of any block of the cluster.
    ToShared,
    ToGlobal,
    /// A copy from the block's shared memory to that of any block of the cluster.
    Across,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    All,
    Any,
    Uniform,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduce {
    Add,
    MinU,
    MinS,
    MaxU,
    MaxS,
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum BarrierKind {
    Sync,
    Arrive,
    /// Reduction of a predicate: population count into a word, or a predicate.
    Count(W, Cond),
    All(P, Cond),
    Any(P, Cond),
}

/// Operations that the lanes of a warp do together.
#[derive(Clone, Debug)]
pub(crate) enum WarpOp {
    Shuffle {
        mode: Shuffle,
        d: W,
        /// Whether the source lane was in range.
        p: Option<P>,
        a: W,
        b: W,
        c: W,
    },
    VoteBallot {
        d: W,
        a: Cond,
    },
    Vote {
        vote: Vote,
        p: P,
        a: Cond,
    },
    /// `match.any` and, with `all`, `match.all`.
    Match {
        all: bool,
        d: W,
        p: Option<P>,
        a: Reg,
    },
    Reduce {
        op: Reduce,
        d: W,
        a: W,
    },
    Elect {
        d: Option<W>,
        p: P,
    },
    Matrix(Box<Matrix>),
    /// The lanes meet, and nothing else.
    Meet,
    Sync,
}

/// `D = A B + C`, each a matrix spread over registers of the warp.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    /// Rows of A, C and D: 8 or 16. There are 8 columns.
    pub rows: usize,
    pub factors: Factors,
    pub d: Box<[Reg]>,
    pub a: Box<[Reg]>,
    pub b: Box<[Reg]>,
    pub c: Box<[Reg]>,
}

impl Matrix {
    /// Multiply-adds of a warp: those of each entry of A with eight columns.
    pub fn multiply_adds(&self) -> u64 {
        let of_register = match self.factors {
            Factors::Bytes { .. } => 4,
            Factors::Doubles(_) => 1,
        };
        32 * 8 * of_register * self.a.len() as u64
    }
}

/// `ldmatrix` and `stmatrix`: lane `8 m + r` has the address of row `r` of matrix `m`.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    pub space: Space,
    pub stores: bool,
    pub transposed: bool,
    /// The words of the matrices, one each.
    pub words: Box<[W]>,
    pub address: Address,
}

/// The type of the elements of A and B.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Factors {
    /// Bytes, four to a word; sums of 32 bits, clamped or wrapping.
    Bytes {
        a_signed: bool,
        b_signed: bool,
        saturate: bool,
    },
    /// Doubles, and how to fuse a product into a sum.
    Doubles(L3),
}

/// The place of an argument or a result of a call: in memory of the parameter area, or in a
/// register.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Slot {
    Memory { offset: u32, bytes: u32 },
    Register(Reg),
}

#[derive(Clone, Debug)]
pub(crate) enum Callee {
    Function(u32),
    Pointer(L),
}

#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub callee: Callee,
    pub arguments: Vec<Slot>,
    pub results: Vec<Slot>,
}

/// Functions that the driver gives to every kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SystemCall {
    /// `vprintf(format, arguments)`
    Print,
    /// `__assertfail(message, file, line, function, character size)`
    Assert,
}

#[derive(Clone, Debug)]
pub(crate) struct System {
    pub function: SystemCall,
    pub arguments: Vec<Slot>,
    pub results: Vec<Slot>,
}

#[derive(Clone, Debug)]
pub(crate) enum Op {
    W1(W1, W, W),
    W2(W2, W, W, W),
    W3(W3, W, W, W, W),
    W4(W4, W, W, W, W, W),
    L1(L1, L, L),
    L2(L2, L, L, L),
    L3(L3, L, L, L, L),
    Widen1(Widen1, L, W),
    Widen2(Widen2, L, W, W),
    Widen3(Widen3, L, W, W, L),
    Narrow1(Narrow1, W, L),
    Shift2(Shift2, L, L, W),
    Field3(Field3, L, L, W, W),
    Field4(Field4, L, L, L, W, W),
    Choose3(Choose3, L, L, L, W),
    Lop3(u8, W, W, W, W),
    /// Carry flag: read, set.
    Carry2(Carry2, W, W, W, bool, bool),
    Carry3(Carry3, W, W, W, W, bool, bool),
    LongCarry2(LongCarry2, L, L, L, bool, bool),
    LongCarry3(LongCarry3, L, L, L, L, bool, bool),
    MovW(W, W),
    MovL(L, L),
    MovP(P, Cond),
    /// `{lo, hi}` to a long and back.
    Pack(L, W, W),
    Unpack(Option<W>, Option<W>, L),
    /// `set`: all ones (or 1.0) where the test holds.
    Select(W, W, W, Cond),
    LongSelect(L, L, L, Cond),
    Test(Test2, W, W, Outcome),
    LongTest(LongTest2, L, L, Outcome),
    Logic(Logic2, P, Cond, Cond),
    IsSpace(P, L, Space),
    Load {
        space: Space,
        element: Element,
        /// The registers for the elements of the vector; nothing where a value is dropped.
        d: Box<[Option<Reg>]>,
        address: Address,
        order: Order,
    },
    Store {
        space: Space,
        element: Element,
        a: Box<[Reg]>,
        address: Address,
        order: Order,
    },
    Atomic {
        space: Space,
        op: AtomicOp,
        /// 4 or 8 bytes.
        bytes: u32,
        d: Option<Reg>,
        address: Address,
        a: Reg,
        b: Option<Reg>,
    },
    /// An exchange of 16 bytes, where `compared` stands there if that is given; pairs
    /// of longs, the lower first.
    Exchange {
        space: Space,
        d: [Option<Reg>; 2],
        address: Address,
        new: [Reg; 2],
        compared: Option<[Reg; 2]>,
    },
    /// Rows of 8x8 matrices of 16-bit values, between memory and the whole warp.
    Rows(Box<Rows>),
    /// A kernel's own parameter, or a function's parameter area, at a fixed place.
    LoadParam {
        element: Element,
        d: Box<[Option<Reg>]>,
        offset: u32,
    },
    StoreParam {
        element: Element,
        a: Box<[Reg]>,
        offset: u32,
    },
    Copy(CopyOp),
    System(Box<System>),
    ActiveMask(W),
    Clock(Reg),
    /// An instruction that changes no value.
    Fence,
    /// A release: what the block's threads did before, other blocks may see (`membar.gl`).
    Release,
    Warp(WarpOp, W),
    Barrier {
        kind: BarrierKind,
        id: W,
        count: Option<W>,
        aligned: bool,
    },
    /// `barrier.cluster.arrive` and `barrier.cluster.wait`.
    ClusterArrive,
    ClusterWait,
    Branch(u32),
    /// Through a table of blocks.
    BranchTable(W, Box<[u32]>),
    Call(Box<Call>),
    Return,
    Exit,
    Trap,
    /// An instruction that the simulator does not know, and why.
    Unknown(Box<str>),
}

/// The destinations of a test: `p`, its opposite to `q`, each combined with another predicate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub p: Option<P>,
    pub q: Option<P>,
    pub with: Option<(Logic2, Cond)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Inst {
    pub op: Op,
    pub guard: Option<Cond>,
    pub line: u32,
    /// Nothing for a step that shares its PTX instruction with another.
    pub class: Option<Class>,
    /// 32x32->64 and 32x32->32 products per lane.
    pub products: (u8, u8),
    pub flow: Flow,
}

/// What a register holds when a frame begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Preset {
    Value(u64),
    Special(Special),
    /// Address of a variable in global or constant memory, plus an offset.
    Global(u32, u64),
    /// Offset of a variable in shared memory: an index into `Program::shared`.
    Shared(u32, u64),
    /// Offset within the frame's local memory.
    Local(u64),
    /// Address of a function.
    Code(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Special {
    Thread(u8),
    ThreadCount(u8),
    Block(u8),
    BlockCount(u8),
    Lane,
    Warp,
    WarpCount,
    MaskEq,
    MaskLe,
    MaskLt,
    MaskGe,
    MaskGt,
    Multiprocessor,
    MultiprocessorCount,
    GridId,
    DynamicShared,
    TotalShared,
    /// The block's place in its cluster, and its cluster's in the grid.
    ClusterBlock(u8),
    Cluster(u8),
    ClusterRank,
    /// Blocks along an axis of a cluster, clusters along one of the grid, blocks of a
    /// cluster, and whether the launch asked for clusters.
    ClusterBlockCount(u8),
    ClusterCount(u8),
    ClusterSize,
    IsCluster,
    /// The address of a cooperative launch's workspace, in halves; zero without one.
    WorkspaceHigh,
    WorkspaceLow,
    Zero,
}

impl Special {
    /// Whether the value differs from block to block.
    pub fn is_of_block(self) -> bool {
        matches!(
            self,
            Special::Block(_)
                | Special::ClusterBlock(_)
                | Special::Cluster(_)
                | Special::ClusterRank
                | Special::Multiprocessor
        )
    }
}

/// Straight-line code: instructions `start..end`, then block `next` unless the
/// last instruction says otherwise.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    pub start: u32,
    pub end: u32,
    /// The block to which control falls through; `u32::MAX` where it cannot.
    pub next: u32,
    /// Registers that may still be read when the block begins, constants left out.
    pub live: Box<[Reg]>,
}

/// Counts of one register file each.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Files {
    pub words: u32,
    pub longs: u32,
    pub preds: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub name: String,
    pub insts: Vec<Inst>,
    /// The registers that each instruction uses, computed when they are first asked for.
    pub uses: OnceLock<Box<[Registers]>>,
    /// The blocks in the order of scheduling: of several parts of a warp, the one in the lowest
    /// block runs first. Block 0 is the entry.
    pub blocks: Vec<Block>,
    pub files: Files,
    pub presets: Vec<(Reg, Preset)>,
    /// Registers that may be read before they are written: they begin as zero.
    pub undefined: Vec<Reg>,
    pub undefined_names: Vec<String>,
    pub formals: Vec<Slot>,
    pub returns: Vec<Slot>,
    /// Bytes of the parameter area: formals, returns and arguments of calls.
    pub param_bytes: u32,
    /// Bytes of local memory of one frame, a multiple of 16.
    pub local_bytes: u32,
    /// Most 32-bit registers live at once.
    pub registers: u32,
}

impl Function {
    /// The registers that an instruction uses, but for its guard.
    pub fn uses(&self, inst: usize) -> &Registers {
        let all = || {
            self.insts
                .iter()
                .map(|inst| Registers::of(&inst.op))
                .collect()
        };
        &self.uses.get_or_init(all)[inst]
    }
}

/// A variable in shared memory.
#[derive(Clone, Debug)]
pub(crate) struct SharedVariable {
    pub bytes: u32,
    pub align: u32,
    /// The dynamic array, behind everything static.
    pub dynamic: bool,
}

/// What a kernel reaches.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub function: u32,
    /// All functions that may run, the kernel itself among them, ascending.
    pub reached: Vec<u32>,
    /// Offset of each shared variable of the program; unreached ones have none.
    pub shared: Vec<u32>,
    /// Index and bytes of every shared variable that is reached, as they lie;
    /// dynamic ones have none.
    pub shared_sizes: Vec<(u32, Option<u32>)>,
    /// Static bytes of shared memory; dynamic memory begins here, aligned to 16.
    pub shared_bytes: u32,
    /// Local memory of everything reached, each function once.
    pub local_bytes: u32,
    /// Blocks must run one after the other: what they do to each other depends
    /// on the order.
    pub ordered: bool,
}

/// All functions of a module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub functions: Vec<Function>,
    pub locations: Locations,
}

/// The address of the function with this index.
pub(crate) fn code_address(index: u32) -> u64 {
    CODE_WINDOW + 16 * (u64::from(index) + 1)
}

impl Program {
    /// The address of a function, for variables that begin with it.
    pub fn address_of(&self, function: &str) -> Option<u64> {
        let mut named = (0..).zip(&self.functions);
        named
            .find(|(_, known)| known.name == function)
            .map(|(index, _)| code_address(index))
    }
}

impl Op {
    /// Whether lanes meet here: such an instruction begins a block, so that
    /// parts of a warp which arrive one by one are merged.
    pub fn is_meeting(&self) -> bool {
        matches!(self, Op::Warp(..) | Op::Barrier { .. } | Op::ClusterWait)
    }

    /// Whether control may go elsewhere than to the next instruction.
    pub fn ends_block(&self) -> bool {
        matches!(
            self,
            Op::Branch(_)
                | Op::BranchTable(..)
                | Op::Call(_)
                | Op::Return
                | Op::Exit
                | Op::Trap
                | Op::Unknown(_)
        )
    }
}
