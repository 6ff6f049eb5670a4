//! Running blocks: the turns of warps, and the control flow within one.

use super::banks::Banks;
use super::block::Block;
use super::global::{Global, Undo};
use super::launch::Launch;
use super::mistake::Mistake;
use super::schedule::Dice;
use super::tally::{Tally, digest};
use super::warp::{Part, State, Warp};
use crate::check::{Fault, FaultKind};
use crate::count::Counts;

/// Warp instructions after which the next warp has its turn, and within a warp
/// the next part: what one waits for in a loop may be another's to do.
const TURN: u64 = 1 << 16;

/// Accesses in a row that look at memory which nobody changes, after which the
/// next part of the warp has its turn.
const POLLS: u32 = 16;

/// Runs blocks and keeps what can be used again.
pub(crate) struct Worker<'l> {
    pub launch: &'l Launch<'l>,
    pub global: Global<'l>,
    pub(super) tally: Tally,
    /// The digest of what the running warp has executed.
    pub(super) trace: u64,
    /// The block that is running.
    pub block: Box<Block<'l>>,
    pub(super) banks: Banks,
    pub dice: Dice,
    /// The effects of the current basic block on which others may wait, or with which they may conflict.
    pub seen: Effect,
    /// Accesses in a row that looked at memory which nobody changed.
    pub idle: u64,
    /// The last of them.
    pub looked: Looked,
    /// Blocks that are resident, where they take turns; in the place of the running
    /// one stands another.
    #[expect(clippy::vec_box, reason = "they are swapped and removed all the time")]
    pub resident: Vec<Box<Block<'l>>>,
    /// The place of the running block.
    pub cursor: usize,
}

/// The places of memory that a warp looked at.
#[derive(Clone, Copy, Default)]
pub(super) struct Looked {
    pub warp: usize,
    pub lane: u32,
    pub line: u32,
}

/// Whether others should have their turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Nothing,
    /// The warp did something that others may wait for.
    Acted,
    /// The warp looked for what others do, or tried in vain.
    Polled,
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
    /// A worker that has run nothing; with `log` it can be undone what it writes.
    pub fn new(launch: &'l Launch<'l>, log: bool) -> Self {
        Worker {
            launch,
            global: Global::new(launch, log),
            tally: Tally::new(launch),
            trace: 0,
            block: Box::new(Block::new(launch)),
            banks: Banks::default(),
            dice: Dice::new(launch.schedule),
            seen: Effect::Nothing,
            idle: 0,
            looked: Looked::default(),
            resident: Vec::new(),
            cursor: 0,
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

    /// Runs one block from its beginning to its end.
    pub fn run(&mut self, number: u64) -> Result<(), Fault> {
        self.dice.block(number);
        self.block.begin(number)?;
        self.global.enter(number, false);
        while !self.sweep()? {}
        Ok(())
    }

    /// Gives every warp of the block a turn; whether the block has ended.
    pub fn sweep(&mut self) -> Result<bool, Fault> {
        let warps = self.block.warps.len();
        let mut running = 0;
        let mut blocked = 0;
        let order = self.dice.order(warps);
        for i in 0..warps {
            let index = order.at(i);
            let mut warp = std::mem::take(&mut self.block.warps[index]);
            self.trace = warp.trace;
            let pause = self.run_warp(&mut warp);
            warp.trace = self.trace;
            self.block.warps[index] = warp;
            match pause.map_err(|(mistake, line)| self.block.fault(*mistake, index, line))? {
                Pause::Done => {}
                Pause::Blocked => blocked += 1,
                Pause::Turn => running += 1,
            }
        }
        if running + blocked == 0 {
            if self.launch.trace {
                self.tally.traced(&self.block);
            }
            return Ok(true);
        }
        let opened = self.block.open_barriers()?;
        self.tally.counts.barriers += opened;
        if opened > 0 {
            self.idle = 0;
        } else if running == 0 {
            self.block.waits = self.block.awaits_cluster();
            if !self.block.waits {
                return Err(self.block.deadlock());
            }
        }
        self.hopeless().map_or(Ok(false), Err)
    }

    /// Runs a warp until it has ended, waits, or has had its turn.
    fn run_warp(&mut self, warp: &mut Warp) -> Result<Pause, (Box<Mistake>, u32)> {
        let launch = self.launch;
        let turn = self.dice.turn(TURN);
        let mut turn_ends = self.block.spent + turn;
        let mut turns = 0;
        loop {
            let Some(chosen) = warp.choose() else {
                if warp.parts.is_empty() {
                    return Ok(Pause::Done);
                }
                if self.meet_apart(warp)? {
                    continue;
                }
                return Ok(Pause::Blocked);
            };
            let mut part = warp.parts.swap_remove(chosen);
            part.ran = self.block.spent;
            loop {
                let function = warp.frames[part.frame as usize].function;
                let code = &launch.program.functions[function as usize];
                let block = &code.blocks[part.block as usize];
                self.block.spent += u64::from(block.end - block.start);
                if let Some(budget) = launch.budget
                    && self.block.spent > budget
                {
                    let lane = part.mask.trailing_zeros();
                    let detail = format!("more than {budget} warp instructions in one block");
                    let mistake = Mistake::new(FaultKind::InstructionBudget, lane, detail);
                    return Err((mistake, code.insts[block.start as usize].line));
                }
                let next = self.run_block(warp, &part, function)?;
                let seen = std::mem::replace(&mut self.seen, Effect::Nothing);
                let goes_on = proceed(warp, &mut part, next);
                if seen != Effect::Nothing && self.dice.yields(seen == Effect::Polled) {
                    if goes_on {
                        warp.join(part);
                    }
                    if seen == Effect::Polled {
                        warp.polls += 1;
                        if warp.polls >= POLLS {
                            // What it waits for may be another part's to do.
                            warp.polls = 0;
                            warp.oldest_next = true;
                        }
                    }
                    return Ok(Pause::Turn);
                }
                if self.block.spent >= turn_ends {
                    // Another part of the warp gets its turn, and in the end
                    // another warp. Whoever computes for so long may yet change
                    // what others wait for.
                    self.idle = 0;
                    turns += 1;
                    turn_ends = self.block.spent + turn;
                    warp.oldest_next = true;
                    if goes_on {
                        warp.join(part);
                    }
                    if turns > warp.parts.len() {
                        return Ok(Pause::Turn);
                    }
                    break;
                }
                if !goes_on {
                    break;
                }
                if !warp.parts.is_empty() {
                    warp.join(part);
                    break;
                }
            }
        }
    }

    /// Notes an access that others may have waited for.
    pub(super) fn acted(&mut self, warp: &mut Warp) {
        self.seen = Effect::Acted;
        self.changed(warp);
    }

    /// Notes an access that looked for what others do, or tried in vain.
    pub(super) fn polled(&mut self, warp: &mut Warp, address: u64, mask: u32, line: u32) {
        if self.seen == Effect::Nothing {
            self.seen = Effect::Polled;
        }
        if warp.looked_at.contains(&address) {
            self.idle += 1;
        } else {
            // Who looks at one place after another does not wait.
            self.idle = 0;
            warp.looked_at.rotate_right(1);
            warp.looked_at[0] = address;
        }
        self.looked = Looked {
            warp: warp.index,
            lane: mask.trailing_zeros(),
            line,
        };
    }

    /// Notes a change of memory.
    #[inline(always)]
    pub(super) fn changed(&mut self, warp: &mut Warp) {
        self.idle = 0;
        warp.polls = 0;
    }

    /// Runs the instructions of a basic block.
    fn run_block(
        &mut self,
        warp: &mut Warp,
        part: &Part,
        function: u32,
    ) -> Result<Next, (Box<Mistake>, u32)> {
        let launch = self.launch;
        let functions = &launch.program.functions;
        let code = &functions[function as usize];
        let block = &code.blocks[part.block as usize];
        let (frame, mask) = (part.frame as usize, part.mask);
        let mut first = block.start as usize;
        let end = block.end as usize;
        let head = &code.insts[first];
        if head.op.is_meeting() {
            let located = |mistake| (mistake, head.line);
            if warp.frames[frame].undefined.lanes & mask != 0 {
                let frame = &mut warp.frames[frame];
                frame.settle(&block.live, mask);
                frame
                    .check_defined((head, code.uses(first)), (mask, mask), functions)
                    .map_err(located)?;
            }
            if let Some(wait) = self.meeting(warp, part, head).map_err(located)? {
                return Ok(Next::Wait(wait));
            }
            first += 1;
        }
        self.tally.block(function, part.block, mask);
        let traces = launch.trace;
        if traces {
            let place = u64::from(function) << 32 | u64::from(part.block);
            self.trace = digest(digest(self.trace, place), u64::from(mask));
        }
        let check_carry = launch.checks.carry;
        if warp.frames[frame].undefined.lanes & mask != 0 {
            warp.frames[frame].settle(&block.live, mask);
        }
        for i in first..end {
            let inst = &code.insts[i];
            let active = match inst.guard {
                None => mask,
                Some(guard) => {
                    let active = mask & warp.frames[frame].holds(guard);
                    self.tally.guarded(function, i, active);
                    if traces {
                        self.trace = digest(self.trace, u64::from(active));
                    }
                    active
                }
            };
            let located = |mistake| (mistake, inst.line);
            if warp.frames[frame].undefined.lanes & mask != 0 {
                let (frame, uses) = (&mut warp.frames[frame], code.uses(i));
                frame
                    .check_defined((inst, uses), (mask, active), functions)
                    .map_err(located)?;
                frame.follow(inst, uses, active);
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
}

/// Puts the lanes of a part where they go on after a basic block; whether they all go on in the
/// part itself.
fn proceed(warp: &mut Warp, part: &mut Part, next: Next) -> bool {
    part.state = State::Ready;
    if let Next::Go(next) = next {
        part.block = next;
        return true;
    }
    let part = *part;
    match next {
        Next::Go(_) => {}
        Next::Split(ways) => {
            for (block, mask) in ways {
                warp.join(Part {
                    block,
                    mask,
                    ..part
                });
            }
        }
        Next::Call(calls) => {
            for (frame, mask) in calls {
                warp.join(Part {
                    frame,
                    depth: part.depth + 1,
                    block: 0,
                    mask,
                    ..part
                });
            }
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
                ..part
            });
            join_rest(warp, part, rest);
        }
        Next::Exit { mask, rest } => {
            warp.exit(part.frame, mask);
            join_rest(warp, part, rest);
        }
        Next::Wait(state) => warp.join(Part { state, ..part }),
    }
    false
}

/// Puts the lanes that a guard held back where they go on.
fn join_rest(warp: &mut Warp, part: Part, (block, mask): (u32, u32)) {
    warp.join(Part {
        block,
        mask,
        ..part
    });
}
