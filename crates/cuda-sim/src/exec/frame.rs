//! The registers and parameters of a call, and how lanes write them.

use super::launch::Launch;
use super::mask::{hand_over_bytes, lanes_of, put, put_long};
use super::mistake::{Mistake, Step};
use super::transfer::{Buffer, Rows, Transfer};
use super::undefined::Undefined;
use crate::check::FaultKind;
use crate::ir::{Longs, Preset, Reg, Slot, Special, Words, code_address};
use std::hint::black_box;

/// Registers and parameters of one call.
#[derive(Default)]
pub(crate) struct Frame {
    pub function: u32,
    pub words: Vec<Words>,
    pub longs: Vec<Longs>,
    pub preds: Vec<u32>,
    /// The bits of the frame that nothing defined.
    pub undefined: Undefined,
    pub carry: Words,
    pub carry_set: u32,
    /// The parameter area, a word in 32 lanes side by side.
    pub params: Vec<Words>,
    pub local_base: u32,
    /// Bytes of local memory from there.
    pub local: u32,
    /// The calling frame, the block to return to, and the call's place.
    pub caller: Option<(u32, u32, u32)>,
    pub depth: u32,
    /// Lanes that have not returned from here.
    pub live: u32,
    pub ticks: u64,
    /// Whether everything that stays the same from block to block is in place.
    pub ready: bool,
}

/// The registers of a GPU are in no memory of the host's: what they held is not left in this one's.
impl Drop for Frame {
    fn drop(&mut self) {
        for words in [&mut self.words, &mut self.params] {
            words.fill([0; 32]);
            black_box(words);
        }
        self.longs.fill([0; 32]);
        black_box(&mut self.longs);
    }
}

/// Copies an argument or result between frames.
pub(super) fn hand_over(
    from: &Frame,
    source: Slot,
    to: &mut Frame,
    target: Slot,
    mask: u32,
) -> Step {
    let mismatch = || {
        Mistake::new(
            FaultKind::InvalidTarget,
            mask.trailing_zeros(),
            "an argument that does not fit its parameter",
        )
    };
    match (source, target) {
        (
            Slot::Memory { offset, bytes },
            Slot::Memory {
                offset: start,
                bytes: room,
            },
        ) => {
            if bytes != room {
                return Err(mismatch());
            }
            hand_over_bytes(&from.params, offset, &mut to.params, start, bytes, mask);
        }
        (Slot::Register(a), Slot::Register(d)) => match (a, d) {
            (Reg::Word(a), Reg::Word(d)) => {
                put(&mut to.words[d.0 as usize], &from.words[a.0 as usize], mask);
            }
            (Reg::Long(a), Reg::Long(d)) => {
                let value = &from.longs[a.0 as usize];
                put_long(&mut to.longs[d.0 as usize], value, mask);
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
    to.undefined
        .hand_over(&from.undefined, source, target, to.params.len(), mask);
    Ok(())
}

/// Writes bytes of a parameter area.
fn put_bytes(params: &mut [Words], offset: u32, bytes: u32, rows: &Rows, mask: u32) {
    let shift = 8 * (offset % 4);
    let ones = u32::MAX >> (32 - 8 * bytes.min(4));
    for k in 0..bytes.div_ceil(4) as usize {
        let row = &mut params[offset as usize / 4 + k];
        for lane in lanes_of(mask) {
            row[lane] = row[lane] & !(ones << shift) | (rows[k][lane] & ones) << shift;
        }
    }
}

impl Frame {
    /// Sets up registers for a function.
    pub(super) fn begin(
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
        for reg in &code.undefined {
            self.fill(*reg, &[0; 32]);
        }
        self.undefined.begin();
        if launch.checks.uninitialised {
            for (reg, at) in code.undefined.iter().zip(0..) {
                self.undefined.never_written(*reg, (function, at), lanes);
            }
        }
        for (reg, preset) in &code.presets {
            let changes = matches!(preset, Preset::Special(special) if special.is_of_block());
            if !self.ready || changes {
                let value = self.preset(launch, *preset, block, warp);
                self.fill(*reg, &value);
            }
        }
    }

    /// Sets a register in all lanes.
    fn fill(&mut self, reg: Reg, value: &Longs) {
        match reg {
            Reg::Word(d) => self.words[d.0 as usize] = value.map(|long| long as u32),
            Reg::Long(d) => self.longs[d.0 as usize] = *value,
            Reg::Pred(d) => self.preds[d.0 as usize] = value[0] as u32,
        }
    }

    /// The value of a register that is filled before the call.
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

    /// The value of a special register.
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
            Special::WorkspaceHigh => same(launch.workspace >> 32),
            Special::WorkspaceLow => same(launch.workspace & 0xffff_ffff),
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
        if !self.undefined.params.is_empty() {
            let rows = buffer.undefined.insert(Box::new([[0; 32]; 8]));
            let first = offset as usize / 4;
            let params = &self.undefined.params[first..first + words as usize];
            for (row, param) in rows.iter_mut().zip(params) {
                *row = param.map(|bits| bits >> shift);
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
                let (word, shift) = (at as usize / 4 + k, 8 * (at % 4));
                buffer[k][lane] = self.params[word][lane] >> shift;
                if let Some(param) = self.undefined.params.get(word) {
                    let rows = buffer.undefined.get_or_insert_default();
                    rows[k][lane] = param[lane] >> shift;
                }
            }
        }
        Ok(())
    }

    /// Writes parameters at a fixed offset.
    pub fn write_param(&mut self, offset: u32, bytes: u32, buffer: &Buffer, mask: u32) {
        put_bytes(&mut self.params, offset, bytes, &buffer.rows, mask);
        let undefined = &mut self.undefined.params;
        match &buffer.undefined {
            None if undefined.is_empty() => {}
            None => put_bytes(undefined, offset, bytes, &[[0; 32]; 8], mask),
            Some(rows) => {
                undefined.resize(self.params.len(), [0; 32]);
                put_bytes(undefined, offset, bytes, rows, mask);
            }
        }
    }
}
