//! A warp: the frames of its calls, and the parts that its lanes have split into.

use super::access::{Buffer, Transfer};
use super::collective::absent;
use super::copies::Copies;
use super::local::{BASE, Local};
use super::step::put;
use super::{Launch, Mistake, Step, lanes_of};
use crate::check::FaultKind;
use crate::ir::{Longs, Place, Preset, Reg, Special, W, Words, code_address};

/// Registers and parameters of one call.
#[derive(Default)]
pub(crate) struct Frame {
    pub function: u32,
    pub words: Vec<Words>,
    pub longs: Vec<Longs>,
    pub preds: Vec<u32>,
    /// Of each register that may be undefined, the lanes that have a value.
    pub valid: Vec<u32>,
    pub carry: Words,
    pub carry_set: u32,
    /// The parameter area, a word in 32 lanes side by side.
    pub params: Vec<Words>,
    pub local_base: u32,
    /// Bytes of local memory from there.
    local: u32,
    /// The calling frame, the block to return to, and the call's place.
    pub caller: Option<(u32, u32, u32)>,
    pub depth: u32,
    /// Lanes that have not returned from here.
    pub live: u32,
    pub ticks: u64,
    /// Whether everything that stays the same from block to block is in place.
    ready: bool,
}

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
    /// Has passed the barrier that its block begins with.
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
    /// Where it looked at memory lately.
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
        arguments: &[Place],
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
            transfer(from, *argument, &mut frame, *formal, mask)?;
        }
        self.frames[index as usize] = frame;
        Ok(index)
    }

    /// Copies the results of lanes that return and lets go of them.
    pub fn give_back(
        &mut self,
        callee: u32,
        results: &[Place],
        returns: &[Place],
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
        for (result, place) in results.iter().zip(returns) {
            transfer(from, *place, &mut to, *result, mask)?;
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

/// Copies an argument or result between frames.
fn transfer(from: &Frame, source: Place, to: &mut Frame, target: Place, mask: u32) -> Step {
    let mismatch = || {
        Mistake::new(
            FaultKind::InvalidTarget,
            mask.trailing_zeros(),
            "an argument that does not fit its parameter",
        )
    };
    match (source, target) {
        (
            Place::Memory { offset, bytes },
            Place::Memory {
                offset: start,
                bytes: room,
            },
        ) => {
            if bytes != room {
                return Err(mismatch());
            }
            for byte in (0..bytes).step_by(4) {
                let row = from.params[(offset + byte) as usize / 4];
                let shift = 8 * (offset % 4);
                let take = (bytes - byte).min(4);
                let ones = u32::MAX >> (32 - 8 * take);
                let place = 8 * (start % 4);
                let d = &mut to.params[(start + byte) as usize / 4];
                for lane in lanes_of(mask) {
                    d[lane] = d[lane] & !(ones << place) | (row[lane] >> shift & ones) << place;
                }
            }
        }
        (Place::Register(a), Place::Register(d)) => match (a, d) {
            (Reg::Word(a), Reg::Word(d)) => {
                put(&mut to.words[d.0 as usize], &from.words[a.0 as usize], mask);
            }
            (Reg::Long(a), Reg::Long(d)) => {
                let value = &from.longs[a.0 as usize];
                super::step::put_long(&mut to.longs[d.0 as usize], value, mask);
            }
            (Reg::Pred(a), Reg::Pred(d)) => {
                let bits = from.preds[a.0 as usize];
                let d = &mut to.preds[d.0 as usize];
                *d = *d & !mask | bits & mask;
            }
            _ => return Err(mismatch()),
        },
        _ => return Err(mismatch()),
    }
    Ok(())
}

impl Frame {
    /// Sets up registers for a function.
    fn begin(
        &mut self,
        launch: &Launch<'_>,
        function: u32,
        block: [u32; 3],
        warp: usize,
        lanes: u32,
    ) {
        let code = &launch.program.functions[function as usize];
        self.live = lanes;
        self.carry = [0; 32];
        self.carry_set = 0;
        self.caller = None;
        self.depth = 0;
        if !self.ready {
            self.function = function;
            self.local = code.local_bytes;
            self.words.clear();
            self.words.resize(code.files.words as usize, [0; 32]);
            self.longs.clear();
            self.longs.resize(code.files.longs as usize, [0; 32]);
            self.preds.clear();
            self.preds.resize(code.files.preds as usize, 0);
            self.params.clear();
            self.params.resize(code.param_bytes as usize / 4, [0; 32]);
        }
        self.valid.clear();
        self.valid.resize(code.undefined.len(), 0);
        for reg in &code.undefined {
            self.fill(*reg, &[0; 32]);
        }
        for (reg, preset) in &code.presets {
            let changes = matches!(preset, Preset::Special(special) if special.is_of_block());
            if !self.ready || changes {
                let value = self.preset(launch, *preset, block, warp);
                self.fill(*reg, &value);
            }
        }
    }

    fn fill(&mut self, reg: Reg, value: &Longs) {
        match reg {
            Reg::Word(d) => self.words[d.0 as usize] = value.map(|long| long as u32),
            Reg::Long(d) => self.longs[d.0 as usize] = *value,
            Reg::Pred(d) => self.preds[d.0 as usize] = value[0] as u32,
        }
    }

    fn preset(&self, launch: &Launch<'_>, preset: Preset, block: [u32; 3], warp: usize) -> Longs {
        let value = match preset {
            Preset::Value(value) => value,
            Preset::Global(index, offset) => launch.globals[index as usize].wrapping_add(offset),
            Preset::Shared(index, offset) => {
                u64::from(launch.shared.offsets[index as usize]).wrapping_add(offset)
            }
            Preset::Local(offset) => u64::from(self.local_base).wrapping_add(offset),
            Preset::Code(index) => code_address(index),
            Preset::Special(special) => {
                return self.special(launch, special, block, warp);
            }
        };
        [value; 32]
    }

    fn special(
        &self,
        launch: &Launch<'_>,
        special: Special,
        block: [u32; 3],
        warp: usize,
    ) -> Longs {
        let grid = launch.grid;
        let [x, y, _] = grid.block;
        let linear = (u64::from(block[2]) * u64::from(grid.grid[1]) + u64::from(block[1]))
            * u64::from(grid.grid[0])
            + u64::from(block[0]);
        let multiprocessors = u64::from(launch.arch.multiprocessors);
        let dynamic = u64::from(grid.shared_bytes);
        let lane = |f: &dyn Fn(u64) -> u64| std::array::from_fn(|i| f(i as u64));
        let same = |value: u64| [value; 32];
        match special {
            Special::Thread(axis) => lane(&|i| {
                let thread = 32 * warp as u64 + i;
                let (x, y) = (u64::from(x), u64::from(y));
                match axis {
                    0 => thread % x,
                    1 => thread / x % y,
                    _ => thread / (x * y),
                }
            }),
            Special::ThreadCount(axis) => same(u64::from(grid.block[axis as usize])),
            Special::Block(axis) => same(u64::from(block[axis as usize])),
            Special::BlockCount(axis) => same(u64::from(grid.grid[axis as usize])),
            Special::Lane => lane(&|i| i),
            Special::Warp => same(warp as u64),
            Special::WarpCount => same(grid.threads().div_ceil(32)),
            Special::MaskEq => lane(&|i| 1 << i),
            Special::MaskLe => lane(&|i| (2u64 << i) - 1),
            Special::MaskLt => lane(&|i| (1u64 << i) - 1),
            Special::MaskGe => lane(&|i| u64::from(u32::MAX) << i & u64::from(u32::MAX)),
            Special::MaskGt => lane(&|i| u64::from(u32::MAX) << i << 1 & u64::from(u32::MAX)),
            Special::Zero => same(0),
            Special::ClusterBlock(_)
            | Special::Cluster(_)
            | Special::ClusterRank
            | Special::ClusterBlockCount(_)
            | Special::ClusterCount(_)
            | Special::ClusterSize
            | Special::IsCluster => {
                let value = launch.clusters.special(special, grid.grid, block);
                same(value.unwrap_or(0))
            }
            Special::Multiprocessor => same(linear % multiprocessors),
            Special::MultiprocessorCount => same(multiprocessors),
            Special::GridId => same(u64::from(launch.epoch)),
            Special::DynamicShared => same(dynamic),
            Special::TotalShared => same(u64::from(launch.entry.shared_bytes) + dynamic),
        }
    }

    /// Parameters at a fixed offset.
    pub fn read_param(&self, offset: u32, words: u32, buffer: &mut Buffer) {
        let shift = 8 * (offset % 4);
        for k in 0..words as usize {
            let row = &self.params[offset as usize / 4 + k];
            for lane in 0..32 {
                buffer[k][lane] = row[lane] >> shift;
            }
        }
    }

    /// Parameters at computed offsets.
    pub fn read_param_at(&self, transfer: &Transfer<'_>, buffer: &mut Buffer) -> Step {
        let end = 4 * self.params.len() as u64;
        for lane in lanes_of(transfer.mask) {
            let at = transfer.addresses[lane];
            if at
                .checked_add(u64::from(transfer.bytes))
                .is_none_or(|last| last > end)
            {
                return Err(Mistake::at(
                    FaultKind::OutOfBounds,
                    lane as u32,
                    at,
                    format!("{} bytes of parameters, which are {end}", transfer.bytes),
                ));
            }
            for k in 0..transfer.bytes.div_ceil(4) as usize {
                buffer[k][lane] = self.params[at as usize / 4 + k][lane] >> (8 * (at % 4));
            }
        }
        Ok(())
    }

    pub fn write_param(&mut self, offset: u32, bytes: u32, buffer: &Buffer, mask: u32) {
        let shift = 8 * (offset % 4);
        let ones = u32::MAX >> (32 - 8 * bytes.min(4));
        for k in 0..bytes.div_ceil(4) as usize {
            let row = &mut self.params[offset as usize / 4 + k];
            for lane in lanes_of(mask) {
                row[lane] = row[lane] & !(ones << shift) | (buffer[k][lane] & ones) << shift;
            }
        }
    }
}
