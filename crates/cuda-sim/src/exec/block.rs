//! A block: its warps in turns, its barriers, and the control flow of its warps.

use super::global::{Global, Undo};
use super::shared::Shared;
use super::tally::Tally;
use super::warp::{Part, Reduced, State, Warp};
use super::{Launch, Mistake, Step};
use crate::check::{Fault, FaultKind};
use crate::count::Counts;
use crate::ir::{Access, Inst, Watched};

/// Warp instructions after which the next warp has its turn, and within a warp
/// the next part: what one waits for in a loop may be another's to do.
const TURN: u64 = 1 << 16;

/// A barrier that has been reached by some.
#[derive(Clone, Copy, Default)]
struct Barrier {
    /// Lanes that have arrived.
    lanes: u32,
    /// Threads that they count for: whole warps.
    threads: u32,
    /// Threads to wait for; all of the block where nothing is said.
    expected: Option<u32>,
    reached: bool,
    line: u32,
    reduced: Reduced,
}

/// Runs blocks, one after the other, and keeps what can be used again.
pub(crate) struct Worker<'l> {
    pub launch: &'l Launch<'l>,
    pub global: Global<'l>,
    pub shared: Shared,
    pub(super) tally: Tally,
    warps: Vec<Warp>,
    barriers: [Barrier; 16],
    pub(super) block: [u32; 3],
    spent: u64,
}

/// What a part of a warp does after a basic block.
pub(super) enum Next {
    Go(u32),
    /// Some lanes go to one block and some to another.
    Split(Vec<(u32, u32)>),
    /// New frames, and the lanes that enter each.
    Call(Vec<(u32, u32)>),
    Return {
        frame: u32,
        block: u32,
        mask: u32,
        /// Lanes whose guard did not let them return, and where they go on.
        rest: (u32, u32),
    },
    Exit {
        mask: u32,
        rest: (u32, u32),
    },
    Wait(State),
}

/// Why a warp stops running.
enum Pause {
    Done,
    Blocked,
    Turn,
}

impl<'l> Worker<'l> {
    pub fn new(launch: &'l Launch<'l>, log: bool) -> Self {
        let bytes = dynamic_start(launch.entry.shared_bytes, launch.grid.shared_bytes)
            + launch.grid.shared_bytes;
        Worker {
            launch,
            global: Global::new(launch, log),
            shared: Shared::new(bytes, launch.checks.races, launch.checks.uninitialised),
            tally: Tally::new(launch),
            warps: Vec::new(),
            barriers: [Barrier::default(); 16],
            block: [0; 3],
            spent: 0,
        }
    }

    /// What was counted, and how to undo what was written.
    pub fn finish(mut self) -> (Counts, Vec<Undo>) {
        let mut counts = Counts::default();
        if self.launch.count {
            self.tally.counts += &self.global.counts;
            counts = self.tally.finish(self.launch);
        }
        (counts, self.global.into_undo())
    }

    /// Runs one block to its end.
    pub fn run(&mut self, block: u64) -> Result<(), Fault> {
        let launch = self.launch;
        let [x, y, _] = launch.grid.grid.map(u64::from);
        self.block = [
            (block % x) as u32,
            (block / x % y) as u32,
            (block / (x * y)) as u32,
        ];
        let threads = launch.grid.threads() as u32;
        let warps = threads.div_ceil(32) as usize;
        self.global.begin(block);
        self.shared.begin(warps);
        self.barriers = [Barrier::default(); 16];
        self.spent = 0;
        self.warps.resize_with(warps, Warp::default);
        for index in 0..warps {
            let lanes = (threads - 32 * index as u32).min(32);
            let warp = &mut self.warps[index];
            warp.index = index;
            let begun = warp.begin(launch, self.block, u32::MAX >> (32 - lanes));
            begun.map_err(|mistake| self.fault(*mistake, index, 0))?;
        }
        loop {
            let mut running = 0;
            let mut blocked = 0;
            for index in 0..warps {
                let mut warp = std::mem::take(&mut self.warps[index]);
                let pause = self.run_warp(&mut warp);
                self.warps[index] = warp;
                match pause.map_err(|(mistake, line)| self.fault(*mistake, index, line))? {
                    Pause::Done => {}
                    Pause::Blocked => blocked += 1,
                    Pause::Turn => running += 1,
                }
            }
            if running + blocked == 0 {
                return Ok(());
            }
            let opened = self.open_barriers()?;
            if running == 0 && !opened {
                return Err(self.deadlock());
            }
        }
    }

    /// Says where a mistake was made.
    fn fault(&self, mistake: Mistake, warp: usize, line: u32) -> Fault {
        let [x, y, _] = self.launch.grid.block;
        let thread = 32 * warp as u32 + mistake.lane.min(31);
        Fault {
            kind: mistake.kind,
            kernel: self.launch.kernel.to_owned(),
            line,
            block: self.block,
            thread: [thread % x, thread / x % y, thread / (x * y)],
            address: mistake.address,
            detail: mistake.detail,
        }
    }

    fn deadlock(&self) -> Fault {
        let waiting = self.warps.iter().find_map(|warp| {
            let part = warp.parts.first()?;
            Some((warp, part))
        });
        let (warp, lane, line) = match waiting {
            Some((warp, part)) => (
                warp.index,
                part.mask.trailing_zeros(),
                self.first_line(warp, part),
            ),
            None => (0, 0, 0),
        };
        let mistake = Mistake::new(
            FaultKind::Deadlock,
            lane,
            "every thread that is left waits at a barrier which the others do not reach",
        );
        self.fault(*mistake, warp, line)
    }

    /// Notes that lanes have reached a barrier; `whole` when no lane of their warp
    /// is still to come.
    pub(super) fn reach(
        &mut self,
        id: u32,
        mask: u32,
        whole: bool,
        expected: Option<u32>,
        line: u32,
        votes: u32,
    ) {
        let barrier = &mut self.barriers[id as usize];
        if !barrier.reached {
            *barrier = Barrier {
                reached: true,
                reduced: Reduced {
                    all: true,
                    ..Reduced::default()
                },
                ..Barrier::default()
            };
        }
        barrier.lanes += mask.count_ones();
        barrier.threads += if whole { 32 } else { 0 };
        barrier.expected = expected;
        barrier.line = line;
        barrier.reduced.count += votes.count_ones();
        barrier.reduced.all &= votes == mask;
        barrier.reduced.any |= votes != 0;
    }

    /// The line that a part is about to execute.
    fn first_line(&self, warp: &Warp, part: &Part) -> u32 {
        let frame = &warp.frames[part.frame as usize];
        let function = &self.launch.program.functions[frame.function as usize];
        function.insts[function.blocks[part.block as usize].start as usize].line
    }

    /// Lets through everybody whom a complete barrier held up; whether there was one.
    fn open_barriers(&mut self) -> Result<bool, Fault> {
        let mut opened = false;
        let live: u32 = self.warps.iter().map(|warp| warp.live.count_ones()).sum();
        for id in 0..16 {
            let barrier = self.barriers[id as usize];
            let complete = barrier.reached
                && match barrier.expected {
                    None => barrier.lanes >= live,
                    Some(threads) => barrier.threads >= threads,
                };
            if !complete {
                continue;
            }
            let threads = self.launch.grid.threads() as u32;
            if self.launch.checks.barriers && barrier.expected.is_none() && live < threads {
                return Err(self.exited_before(barrier, threads - live));
            }
            opened = true;
            self.barriers[id as usize] = Barrier::default();
            self.tally.counts.barriers += 1;
            self.shared.clock += 1;
            for warp in &mut self.warps {
                for part in &mut warp.parts {
                    if part.state == State::Barrier(id) {
                        part.state = State::Released(barrier.reduced);
                        self.shared.barriers[warp.index] = self.shared.clock;
                    }
                }
            }
        }
        Ok(opened)
    }

    fn exited_before(&self, barrier: Barrier, missing: u32) -> Fault {
        let threads = self.launch.grid.threads() as u32;
        let gone = (0..threads)
            .find(|thread| {
                let warp = &self.warps[*thread as usize / 32];
                warp.live >> (thread % 32) & 1 == 0
            })
            .unwrap_or(0);
        let mistake = Mistake::new(
            FaultKind::BarrierDivergence,
            gone % 32,
            format!(
                "{missing} threads of the block have exited, this one first, before the barrier"
            ),
        );
        self.fault(*mistake, gone as usize / 32, barrier.line)
    }

    fn run_warp(&mut self, warp: &mut Warp) -> Result<Pause, (Box<Mistake>, u32)> {
        let launch = self.launch;
        let mut turn_ends = self.spent + TURN;
        let mut turns = 0;
        let mut avoid = None;
        loop {
            let Some(chosen) = warp.choose(avoid) else {
                if warp.parts.is_empty() {
                    return Ok(Pause::Done);
                }
                if self.meet_apart(warp)? {
                    continue;
                }
                return Ok(Pause::Blocked);
            };
            avoid = None;
            let mut part = warp.parts.swap_remove(chosen);
            loop {
                let function = warp.frames[part.frame as usize].function;
                let code = &launch.program.functions[function as usize];
                let block = &code.blocks[part.block as usize];
                self.spent += u64::from(block.end - block.start);
                if let Some(budget) = launch.budget
                    && self.spent > budget
                {
                    let lane = part.mask.trailing_zeros();
                    let detail = format!("more than {budget} warp instructions in one block");
                    let mistake = Mistake::new(FaultKind::InstructionBudget, lane, detail);
                    return Err((mistake, code.insts[block.start as usize].line));
                }
                match self.run_block(warp, &part, function)? {
                    Next::Go(next) => {
                        part.block = next;
                        part.state = State::Ready;
                    }
                    Next::Split(ways) => {
                        for (block, mask) in ways {
                            warp.join(Part {
                                block,
                                mask,
                                state: State::Ready,
                                ..part
                            });
                        }
                        break;
                    }
                    Next::Call(calls) => {
                        for (frame, mask) in calls {
                            warp.join(Part {
                                frame,
                                depth: part.depth + 1,
                                block: 0,
                                mask,
                                state: State::Ready,
                            });
                        }
                        break;
                    }
                    Next::Return {
                        frame,
                        block,
                        mask,
                        rest,
                    } => {
                        warp.join(Part {
                            frame,
                            depth: part.depth - 1,
                            block,
                            mask,
                            state: State::Ready,
                        });
                        self.join_rest(warp, part, rest);
                        break;
                    }
                    Next::Exit { mask, rest } => {
                        warp.exit(part.frame, mask);
                        self.join_rest(warp, part, rest);
                        break;
                    }
                    Next::Wait(state) => {
                        warp.join(Part { state, ..part });
                        break;
                    }
                }
                if self.spent >= turn_ends {
                    // Another part of the warp gets its turn, and in the end
                    // another warp.
                    turns += 1;
                    turn_ends = self.spent + TURN;
                    avoid = Some((part.frame, part.block));
                    warp.join(part);
                    if turns > warp.parts.len() {
                        return Ok(Pause::Turn);
                    }
                    break;
                }
                if !warp.parts.is_empty() {
                    warp.join(part);
                    break;
                }
            }
        }
    }

    fn join_rest(&self, warp: &mut Warp, part: Part, (block, mask): (u32, u32)) {
        warp.join(Part {
            block,
            mask,
            state: State::Ready,
            ..part
        });
    }

    /// Runs the instructions of a basic block.
    fn run_block(
        &mut self,
        warp: &mut Warp,
        part: &Part,
        function: u32,
    ) -> Result<Next, (Box<Mistake>, u32)> {
        let launch = self.launch;
        let code = &launch.program.functions[function as usize];
        let block = &code.blocks[part.block as usize];
        let (frame, mask) = (part.frame as usize, part.mask);
        let mut first = block.start as usize;
        let end = block.end as usize;
        let head = &code.insts[first];
        if head.op.is_meeting() {
            let located = |mistake| (mistake, head.line);
            let reduced = match part.state {
                State::Released(reduced) => Some(reduced),
                _ => None,
            };
            let watched = &code.watched[head.watched.0 as usize..head.watched.1 as usize];
            if !watched.is_empty() && launch.checks.uninitialised {
                self.watch(warp, frame, (head, watched), mask, mask, code)
                    .map_err(located)?;
            }
            if let Some(wait) = self.meeting(warp, part, head, reduced).map_err(located)? {
                return Ok(Next::Wait(wait));
            }
            first += 1;
        }
        self.tally.block(function, part.block, mask);
        let check_carry = launch.checks.carry;
        for i in first..end {
            let inst = &code.insts[i];
            let active = match inst.guard {
                None => mask,
                Some(guard) => {
                    let active = mask & warp.frames[frame].holds(guard);
                    self.tally.guarded(function, i, active);
                    active
                }
            };
            let located = |mistake| (mistake, inst.line);
            let watched = &code.watched[inst.watched.0 as usize..inst.watched.1 as usize];
            if !watched.is_empty() && launch.checks.uninitialised {
                self.watch(warp, frame, (inst, watched), mask, active, code)
                    .map_err(located)?;
            }
            if inst.op.ends_block() {
                return self
                    .control(warp, part, (inst, i), active, block.next)
                    .map_err(located);
            }
            if active == 0 {
                continue;
            }
            let done = warp.frames[frame]
                .step(&inst.op, active, check_carry)
                .map_err(located)?;
            if !done {
                self.memory(warp, frame, &inst.op, active, inst.line)
                    .map_err(located)?;
            }
        }
        Ok(Next::Go(block.next))
    }

    /// Follows registers that may be undefined.
    fn watch(
        &self,
        warp: &mut Warp,
        frame: usize,
        (inst, watched): (&Inst, &[Watched]),
        mask: u32,
        active: u32,
        code: &crate::ir::Function,
    ) -> Step {
        let chosen = inst
            .op
            .selects_by()
            .map_or(0, |cond| warp.frames[frame].holds(cond));
        let valid = &mut warp.frames[frame].valid;
        let mut copied = u32::MAX;
        for watch in watched {
            let slot = watch.slot as usize;
            match watch.access {
                Access::Read => {
                    let readers = if watch.guard { mask } else { active };
                    let missing = readers & !valid[slot];
                    if missing != 0 {
                        return Err(Mistake::new(
                            FaultKind::UninitialisedRegister,
                            missing.trailing_zeros(),
                            format!("`{}`", code.watched_names[slot]),
                        ));
                    }
                }
                Access::Carry => {
                    let elsewhere = match watch.taken_if {
                        Some(true) => !chosen,
                        Some(false) => chosen,
                        None => 0,
                    };
                    copied &= valid[slot] | elsewhere;
                }
                Access::Write => valid[slot] = valid[slot] & !active | copied & active,
            }
        }
        Ok(())
    }
}

/// Where dynamic shared memory begins: behind what is static, if there is any of it.
fn dynamic_start(fixed: u32, dynamic: u32) -> u32 {
    if dynamic == 0 {
        fixed
    } else {
        fixed.next_multiple_of(16)
    }
}
