//! A warp: the frames of its calls, and the parts that its lanes have split into.

use super::frame::{Frame, hand_over};
use super::in_flight::Copies;
use super::launch::Launch;
use super::local::{BASE, Local};
use super::mask::lanes_of;
use super::mistake::{Mistake, Step};
use crate::check::FaultKind;
use crate::ir::{Slot, W, Words};

/// Results of a barrier that reduces a predicate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reduced {
    pub count: u32,
    pub all: bool,
    pub any: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Ready,
    /// Waits for other lanes of the warp.
    Meeting,
    /// Waits at a barrier of the block.
    Barrier(u32),
    /// The warp has passed the barrier that its block begins with.
    Released(Reduced),
    /// Goes on without the lanes that it should have met.
    Alone,
}

/// Lanes that run together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub frame: u32,
    pub depth: u32,
    pub block: u32,
    pub mask: u32,
    pub state: State,
    /// When it last had its turn, in instructions of the block.
    pub ran: u64,
}

#[derive(Default)]
pub(crate) struct Warp {
    pub index: usize,
    pub frames: Vec<Frame>,
    pub free: Vec<u32>,
    pub parts: Vec<Part>,
    /// Lanes that have not exited.
    pub live: u32,
    pub local: Local,
    pub copies: Copies,
    /// The digest of what it has executed in this block.
    pub trace: u64,
    /// Accesses in a row that looked at memory which nobody changed.
    pub polls: u32,
    /// The addresses that the warp looked at last.
    pub looked_at: [u64; 4],
    /// Lanes that have arrived at the barrier of their cluster and not waited yet, and
    /// those of them whose cluster has not arrived.
    pub arrived: u32,
    pub awaits: u32,
    /// Whether the part that waited longest has the next turn.
    pub oldest_next: bool,
}

impl Warp {
    /// Makes ready for a block: all lanes at the kernel's entry.
    pub fn begin(&mut self, launch: &Launch<'_>, block: [u32; 3], lanes: u32) -> Step {
        self.live = lanes;
        self.parts.clear();
        self.copies.begin();
        self.free.clear();
        self.free.extend((1..self.frames.len() as u32).rev());
        if self.frames.is_empty() {
            self.frames.push(Frame::default());
        }
        self.local.reset(launch.checks.uninitialised);
        let function = &launch.program.functions[launch.entry.function as usize];
        let base = self.local.push(function.local_bytes, 0)?;
        let frame = &mut self.frames[0];
        frame.local_base = base;
        frame.begin(launch, launch.entry.function, block, self.index, lanes);
        if !frame.ready {
            for (word, bytes) in frame.params.iter_mut().zip(launch.params.chunks(4)) {
                let mut value = [0; 4];
                value[..bytes.len()].copy_from_slice(bytes);
                *word = [u32::from_le_bytes(value); 32];
            }
            frame.ready = true;
        }
        self.parts.push(Part {
            frame: 0,
            depth: 0,
            block: 0,
            mask: lanes,
            state: State::Ready,
            ran: 0,
        });
        self.trace = 0;
        self.polls = 0;
        self.arrived = 0;
        self.awaits = 0;
        self.oldest_next = false;
        Ok(())
    }

    /// Adds a part, to one that stands at the same place if there is one.
    pub fn join(&mut self, part: Part) {
        if part.mask == 0 {
            return;
        }
        let mergeable = |state| matches!(state, State::Ready | State::Meeting);
        for other in &mut self.parts {
            if other.frame == part.frame
                && other.block == part.block
                && mergeable(other.state)
                && mergeable(part.state)
            {
                other.mask |= part.mask;
                other.state = State::Ready;
                return;
            }
        }
        self.parts.push(part);
    }

    /// The part to run next: of those that can, the one deepest in calls, then
    /// in the lowest block; now and then the one that has waited longest.
    pub fn choose(&mut self) -> Option<usize> {
        let oldest = std::mem::take(&mut self.oldest_next);
        let runnable = |part: &&Part| !matches!(part.state, State::Meeting | State::Barrier(_));
        let key = |part: &Part| {
            let ran = if oldest { part.ran } else { 0 };
            (ran, u32::MAX - part.depth, part.block, part.frame)
        };
        self.parts
            .iter()
            .enumerate()
            .filter(|(_, part)| runnable(part))
            .min_by_key(|(_, part)| key(part))
            .map(|(i, _)| i)
    }

    /// Lanes that a part waits for at an operation of its warp.
    pub fn missing(&self, part: &Part, members: W) -> u32 {
        let masks = &self.frames[part.frame as usize].words[members.0 as usize];
        absent(masks, part.mask, self.live).0
    }

    /// Removes lanes that have exited.
    pub fn exit(&mut self, frame: u32, mask: u32) {
        self.live &= !mask;
        // Nobody waits for them any more.
        for part in &mut self.parts {
            if part.state == State::Meeting {
                part.state = State::Ready;
            }
        }
        let mut next = Some(frame);
        while let Some(index) = next {
            let frame = &mut self.frames[index as usize];
            frame.live &= !mask;
            next = frame.caller.map(|(caller, ..)| caller);
            if frame.live == 0 && index != 0 {
                self.free.push(index);
            }
        }
        self.pop_local();
    }

    /// Gives back the local memory above the topmost frame in use.
    fn pop_local(&mut self) {
        let top = self
            .frames
            .iter()
            .enumerate()
            .filter(|(i, frame)| *i == 0 || frame.live != 0)
            .map(|(_, frame)| frame.local_base + frame.local)
            .max()
            .unwrap_or(BASE);
        if top < self.local.top() {
            self.local.pop(top);
        }
    }

    /// Opens a frame for a call and copies the arguments.
    pub fn call(
        &mut self,
        launch: &Launch<'_>,
        block: [u32; 3],
        caller: (u32, u32, u32),
        callee: u32,
        arguments: &[Slot],
        mask: u32,
    ) -> Step<u32> {
        let lane = mask.trailing_zeros();
        let function = &launch.program.functions[callee as usize];
        if function.formals.len() != arguments.len() {
            return Err(Mistake::new(
                FaultKind::InvalidTarget,
                lane,
                format!(
                    "`{}` takes {} arguments, {} given",
                    function.name,
                    function.formals.len(),
                    arguments.len()
                ),
            ));
        }
        let depth = self.frames[caller.0 as usize].depth + 1;
        if depth > 1024 {
            return Err(Mistake::new(
                FaultKind::StackOverflow,
                lane,
                "more than 1024 calls deep",
            ));
        }
        let base = self.local.push(function.local_bytes, lane)?;
        let index = match self.free.pop() {
            Some(index) => index,
            None => {
                self.frames.push(Frame::default());
                self.frames.len() as u32 - 1
            }
        };
        let mut frame = std::mem::take(&mut self.frames[index as usize]);
        frame.local_base = base;
        frame.local = function.local_bytes;
        // Frames are used again by other functions.
        frame.ready = false;
        frame.begin(launch, callee, block, self.index, mask);
        frame.caller = Some(caller);
        frame.depth = depth;
        let from = &self.frames[caller.0 as usize];
        for (formal, argument) in function.formals.iter().zip(arguments) {
            hand_over(from, *argument, &mut frame, *formal, mask)?;
        }
        self.frames[index as usize] = frame;
        Ok(index)
    }

    /// Copies the results of lanes that return and lets go of them.
    pub fn give_back(
        &mut self,
        callee: u32,
        results: &[Slot],
        returns: &[Slot],
        mask: u32,
    ) -> Step<(u32, u32)> {
        let Some((caller, block, _)) = self.frames[callee as usize].caller else {
            return Ok((0, 0));
        };
        if results.len() != returns.len() {
            return Err(Mistake::new(
                FaultKind::InvalidTarget,
                mask.trailing_zeros(),
                format!(
                    "a function with {} results called for {}",
                    returns.len(),
                    results.len()
                ),
            ));
        }
        let mut to = std::mem::take(&mut self.frames[caller as usize]);
        let from = &self.frames[callee as usize];
        for (result, returned) in results.iter().zip(returns) {
            hand_over(from, *returned, &mut to, *result, mask)?;
        }
        self.frames[caller as usize] = to;
        let frame = &mut self.frames[callee as usize];
        frame.live &= !mask;
        if frame.live == 0 {
            self.free.push(callee);
            self.pop_local();
        }
        Ok((caller, block))
    }
}

/// Lanes that are named but not here, and lanes here whose mask is not in order.
pub(super) fn absent(masks: &Words, here: u32, live: u32) -> (u32, u32) {
    let first = masks[here.trailing_zeros() as usize & 31];
    if lanes_of(here).all(|lane| masks[lane] == first) {
        return (first & live & !here, here & !first);
    }
    let (mut missing, mut strangers) = (0, 0);
    for lane in lanes_of(here) {
        missing |= masks[lane] & live & !here;
        let in_order = masks[lane] >> lane & 1 != 0
            && lanes_of(masks[lane] & here).all(|other| masks[other] == masks[lane]);
        strangers |= u32::from(!in_order) << lane;
    }
    (missing, strangers)
}
