//! From the thousands of registers of PTX, each written in one place, to as many
//! as are live at once: the register files of a warp then fit a cache.
//!
//! Linear scan over live intervals. Registers that may be read before they are
//! written, and those that copies of them reach, are kept apart: they begin as
//! zero, they share their place with nothing, and their uses are watched.

use crate::ir::registers::pred;
use crate::ir::{Block, Files, Inst, L, Op, P, Preset, Reg, Slot, Use, W};
use std::collections::HashMap;

pub(super) struct Allocated {
    pub insts: Vec<Inst>,
    pub files: Files,
    pub presets: Vec<(Reg, Preset)>,
    pub undefined: Vec<Reg>,
    pub undefined_names: Vec<String>,
    pub registers: u32,
}

/// Sees every register of an instruction, its guard included.
fn each(inst: &mut Inst, visit: &mut dyn FnMut(&mut Reg, Use)) {
    if let Some(guard) = &mut inst.guard {
        pred(visit, &mut guard.p, Use::Read);
    }
    inst.op.registers(visit);
}

/// Virtual registers, numbered through: so many words, longs and predicates, in this order.
#[derive(Clone, Copy)]
struct Numbers([usize; 3]);

impl Numbers {
    /// How many there are.
    fn len(self) -> usize {
        self.0.iter().sum()
    }

    /// The number of a register.
    fn of(self, reg: Reg) -> usize {
        let [words, longs, _] = self.0;
        match reg {
            Reg::Word(reg) => reg.0 as usize,
            Reg::Long(reg) => words + reg.0 as usize,
            Reg::Pred(reg) => words + longs + reg.0 as usize,
        }
    }

    /// The register of a number.
    fn reg(self, i: usize) -> Reg {
        let [words, longs, _] = self.0;
        if i < words {
            Reg::Word(W(i as u32))
        } else if i < words + longs {
            Reg::Long(L((i - words) as u32))
        } else {
            Reg::Pred(P((i - words - longs) as u32))
        }
    }
}

/// A set of numbers of registers.
struct Set(Vec<u64>);

impl Set {
    fn new(n: usize) -> Self {
        Set(vec![0; n.div_ceil(64)])
    }

    fn insert(&mut self, i: usize) {
        self.0[i / 64] |= 1 << (i % 64);
    }

    fn remove(&mut self, i: usize) {
        self.0[i / 64] &= !(1 << (i % 64));
    }

    fn has(&self, i: usize) -> bool {
        self.0[i / 64] >> (i % 64) & 1 != 0
    }

    /// Whether anything was new.
    fn extend(&mut self, other: &Set) -> bool {
        let mut grew = false;
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            grew |= *theirs & !*mine != 0;
            *mine |= theirs;
        }
        grew
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(i, &word)| {
            let rest = |word: &u64| Some(word & (word - 1)).filter(|rest| *rest != 0);
            let rests = std::iter::successors(Some(word).filter(|word| *word != 0), rest);
            rests.map(move |rest| 64 * i + rest.trailing_zeros() as usize)
        })
    }
}

/// Gives registers that are never live at once the same index. There are so many words, longs
/// and predicates.
pub(super) fn allocate(
    mut insts: Vec<Inst>,
    blocks: &mut [Block],
    presets: Vec<(Reg, Preset)>,
    (formals, returns): (&mut [Slot], &mut [Slot]),
    names: &HashMap<Reg, &str>,
    counts: [u32; 3],
) -> Allocated {
    let numbers = Numbers(counts.map(|count| count as usize));
    let n = numbers.len();
    let registers = |places: &[Slot]| -> Vec<usize> {
        let registers = places.iter().filter_map(|place| match place {
            Slot::Register(reg) => Some(numbers.of(*reg)),
            Slot::Memory { .. } => None,
        });
        registers.collect()
    };
    let (arguments, results) = (registers(formals), registers(returns));
    // What is set before the first instruction.
    let mut constants = Set::new(n);
    for &(reg, _) in &presets {
        constants.insert(numbers.of(reg));
    }
    let mut fixed = Set(constants.0.clone());
    for &i in arguments.iter().chain(&results) {
        fixed.insert(i);
    }
    let live_in = liveness(&mut insts, blocks, numbers, &results);

    drop_unused(&mut insts, blocks, numbers, &live_in, &results);

    // Registers that may be read unwritten, ascending. Results may leave unset.
    let arrives = |i: &usize| constants.has(*i) || arguments.contains(i);
    let undefined: Vec<usize> = live_in[0].iter().filter(|i| !arrives(i)).collect();

    let (intervals, registers) = intervals(&mut insts, blocks, numbers, &live_in, &fixed);
    let mut files = Files::default();
    let mut places: Vec<Option<Reg>> = vec![None; n];
    let mut alone = Set(fixed.0.clone());
    for &i in &undefined {
        alone.insert(i);
    }
    for i in alone.iter() {
        places[i] = Some(fresh(&mut files, numbers.reg(i)));
    }
    scan(&intervals, numbers, &mut places, &mut files);

    let renamed = |reg: Reg| places[numbers.of(reg)].unwrap_or(reg);
    for inst in &mut insts {
        each(inst, &mut |reg, _| *reg = renamed(*reg));
    }
    for (block, live) in blocks.iter_mut().zip(&live_in) {
        let live = live.iter().filter(|i| !constants.has(*i));
        block.live = live.map(|i| renamed(numbers.reg(i))).collect();
    }
    for place in formals.iter_mut().chain(returns) {
        if let Slot::Register(reg) = place {
            *reg = renamed(*reg);
        }
    }
    Allocated {
        insts,
        files,
        presets: presets
            .into_iter()
            .map(|(reg, preset)| (renamed(reg), preset))
            .collect(),
        undefined: undefined.iter().map(|&i| renamed(numbers.reg(i))).collect(),
        undefined_names: undefined
            .iter()
            .map(|&i| names.get(&numbers.reg(i)).unwrap_or(&"a temporary"))
            .map(ToString::to_string)
            .collect(),
        registers,
    }
}

/// Blocks that may come after a block.
fn successors(insts: &[Inst], block: &Block) -> Vec<u32> {
    let last = &insts[block.end as usize - 1];
    let mut next = Vec::new();
    let falls = !last.op.ends_block() || last.guard.is_some() || matches!(last.op, Op::Call(_));
    if falls && block.next != u32::MAX {
        next.push(block.next);
    }
    match &last.op {
        Op::Branch(target) => next.push(*target),
        Op::BranchTable(_, table) => next.extend(table.iter()),
        _ => {}
    }
    next
}

/// The registers live at the start of each block.
fn liveness(insts: &mut [Inst], blocks: &[Block], numbers: Numbers, results: &[usize]) -> Vec<Set> {
    let sets = || -> Vec<Set> { blocks.iter().map(|_| Set::new(numbers.len())).collect() };
    let (mut uses, mut defines) = (sets(), sets());
    for (b, block) in blocks.iter().enumerate() {
        for inst in &mut insts[block.start as usize..block.end as usize] {
            let guarded = inst.guard.is_some();
            let returns = matches!(inst.op, Op::Return);
            if returns {
                for &i in results.iter().filter(|&&i| !defines[b].has(i)) {
                    uses[b].insert(i);
                }
            }
            each(inst, &mut |reg, access| {
                let i = numbers.of(*reg);
                if access != Use::Write && !defines[b].has(i) {
                    uses[b].insert(i);
                }
            });
            each(inst, &mut |reg, access| {
                // A guarded write leaves the lanes without the guard as they were.
                if access == Use::Write && !guarded {
                    defines[b].insert(numbers.of(*reg));
                }
            });
        }
    }
    let mut live = uses;
    let next: Vec<Vec<u32>> = blocks.iter().map(|b| successors(insts, b)).collect();
    let mut through = Set::new(numbers.len());
    loop {
        let mut grew = false;
        for b in (0..blocks.len()).rev() {
            for &s in &next[b] {
                through.0.copy_from_slice(&live[s as usize].0);
                for (word, defined) in through.0.iter_mut().zip(&defines[b].0) {
                    *word &= !defined;
                }
                grew |= live[b].extend(&through);
            }
        }
        if !grew {
            return live;
        }
    }
}

/// Forgets the elements of vector loads that nothing reads, so that nobody asks
/// whether they were ever written.
fn drop_unused(
    insts: &mut [Inst],
    blocks: &[Block],
    numbers: Numbers,
    live_in: &[Set],
    results: &[usize],
) {
    for block in blocks {
        let range = block.start as usize..block.end as usize;
        let is_vector = |inst: &Inst| matches!(&inst.op, Op::Load { d, .. } if d.len() > 1);
        if !insts[range.clone()].iter().any(is_vector) {
            continue;
        }
        let mut live = Set::new(numbers.len());
        for s in successors(insts, block) {
            live.extend(&live_in[s as usize]);
        }
        for inst in insts[range].iter_mut().rev() {
            if let Op::Return = inst.op {
                results.iter().for_each(|&i| live.insert(i));
            }
            if let Op::Load { d, .. } = &mut inst.op
                && d.len() > 1
            {
                for d in d.iter_mut() {
                    *d = d.filter(|d| live.has(numbers.of(*d)));
                }
            }
            let guarded = inst.guard.is_some();
            each(inst, &mut |reg, access| {
                if access == Use::Write && !guarded {
                    live.remove(numbers.of(*reg));
                }
            });
            each(inst, &mut |reg, access| {
                if access != Use::Write {
                    live.insert(numbers.of(*reg));
                }
            });
        }
    }
}

/// The first and last point at which each register is live, in the order of
/// blocks, and the most 32-bit registers live at once. An instruction reads at
/// twice its place and writes one later.
fn intervals(
    insts: &mut [Inst],
    blocks: &[Block],
    numbers: Numbers,
    live_in: &[Set],
    fixed: &Set,
) -> (Vec<Option<(u32, u32)>>, u32) {
    let mut intervals: Vec<Option<(u32, u32)>> = vec![None; numbers.len()];
    let next: Vec<Vec<u32>> = blocks.iter().map(|b| successors(insts, b)).collect();
    let size = |i: usize| match numbers.reg(i) {
        // Constants are immediates or come from constant memory.
        _ if fixed.has(i) => 0,
        Reg::Word(_) => 1,
        Reg::Long(_) => 2,
        Reg::Pred(_) => 0,
    };
    let mut most = 0;
    let mut at = 0;
    for (b, block) in blocks.iter().enumerate() {
        let mut touch = |i: usize, point: u32| {
            let interval = intervals[i].get_or_insert((point, point));
            interval.0 = interval.0.min(point);
            interval.1 = interval.1.max(point);
        };
        let end = at + 2 * (block.end - block.start);
        let mut live = Set::new(numbers.len());
        for &s in &next[b] {
            live.extend(&live_in[s as usize]);
        }
        for i in live_in[b].iter() {
            touch(i, at);
        }
        for i in live.iter() {
            touch(i, end);
        }
        let mut held: u32 = live.iter().map(size).sum();
        most = most.max(held);
        let range = block.start as usize..block.end as usize;
        for (k, inst) in insts[range].iter_mut().enumerate().rev() {
            let point = at + 2 * k as u32;
            let guarded = inst.guard.is_some();
            each(inst, &mut |reg, access| {
                let i = numbers.of(*reg);
                if access == Use::Write {
                    touch(i, point + 1);
                    if !guarded && live.has(i) {
                        live.remove(i);
                        held -= size(i);
                    }
                }
            });
            each(inst, &mut |reg, access| {
                let i = numbers.of(*reg);
                if access != Use::Write {
                    touch(i, point);
                    if !live.has(i) {
                        live.insert(i);
                        held += size(i);
                    }
                }
            });
            most = most.max(held);
        }
        at = end + 1;
    }
    (intervals, most)
}

fn fresh(files: &mut Files, like: Reg) -> Reg {
    match like {
        Reg::Word(_) => {
            files.words += 1;
            Reg::Word(W(files.words - 1))
        }
        Reg::Long(_) => {
            files.longs += 1;
            Reg::Long(L(files.longs - 1))
        }
        Reg::Pred(_) => {
            files.preds += 1;
            Reg::Pred(P(files.preds - 1))
        }
    }
}

/// Gives each remaining register a place that is free over its whole interval.
fn scan(
    intervals: &[Option<(u32, u32)>],
    numbers: Numbers,
    places: &mut [Option<Reg>],
    files: &mut Files,
) {
    let mut waiting: Vec<(u32, u32, usize)> = intervals
        .iter()
        .enumerate()
        .filter(|(i, _)| places[*i].is_none())
        .filter_map(|(i, interval)| interval.map(|(start, end)| (start, end, i)))
        .collect();
    waiting.sort_unstable();
    let mut free: [Vec<Reg>; 3] = Default::default();
    let mut active: std::collections::BTreeSet<(u32, usize)> = Default::default();
    let file = |reg: Reg| match reg {
        Reg::Word(_) => 0,
        Reg::Long(_) => 1,
        Reg::Pred(_) => 2,
    };
    for (start, end, i) in waiting {
        while let Some(&(over, j)) = active.first() {
            if over >= start {
                break;
            }
            active.remove(&(over, j));
            if let Some(place) = places[j] {
                free[file(place)].push(place);
            }
        }
        let reg = numbers.reg(i);
        let place = free[file(reg)].pop();
        let place = place.unwrap_or_else(|| fresh(files, reg));
        places[i] = Some(place);
        active.insert((end, i));
    }
}
