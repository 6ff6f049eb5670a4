//! Counting, cheaply: how often each basic block ran says how often each of its
//! instructions did. Only guarded instructions are counted one by one.

use super::block::Block;
use super::launch::Launch;
use crate::count::{Class, Counts};
use crate::ir::{Op, WarpOp};

#[derive(Default)]
pub(crate) struct Tally {
    /// For each function and each block: the times run, and the lanes over all of them.
    blocks: Vec<Vec<(u64, u64)>>,
    /// For each function and each instruction: the lanes that its guard let through.
    guarded: Vec<Vec<u64>>,
    /// The counts that are not kept for each instruction.
    pub counts: Counts,
}

impl Tally {
    /// Nothing counted yet.
    pub fn new(launch: &Launch<'_>) -> Self {
        let functions = &launch.program.functions;
        let mut blocks = vec![Vec::new(); functions.len()];
        let mut guarded = vec![Vec::new(); functions.len()];
        for &reached in &launch.entry.reached {
            let function = &functions[reached as usize];
            blocks[reached as usize] = vec![(0, 0); function.blocks.len()];
            guarded[reached as usize] = vec![0; function.insts.len()];
        }
        Tally {
            blocks,
            guarded,
            counts: Counts::default(),
        }
    }

    /// Counts a run of a basic block by these lanes.
    #[inline(always)]
    pub fn block(&mut self, function: u32, block: u32, mask: u32) {
        let tally = &mut self.blocks[function as usize][block as usize];
        tally.0 += 1;
        tally.1 += u64::from(mask.count_ones());
    }

    /// Counts the lanes that a guard lets through.
    #[inline(always)]
    pub fn guarded(&mut self, function: u32, inst: usize, mask: u32) {
        self.guarded[function as usize][inst] += u64::from(mask.count_ones());
    }

    /// Adds the digests of a block's warps, so that their order does not matter.
    pub fn traced(&mut self, block: &Block<'_>) {
        for warp in &block.warps {
            let place = block.number << 32 | warp.index as u64;
            let trace = digest(warp.trace, place);
            self.counts.trace = self.counts.trace.wrapping_add(trace);
        }
    }

    /// The counts of instructions, from those of blocks and guards.
    pub fn finish(mut self, launch: &Launch<'_>) -> Counts {
        for f in launch.entry.reached.iter().map(|&f| f as usize) {
            let function = &launch.program.functions[f];
            for (b, block) in function.blocks.iter().enumerate() {
                let (warps, lanes) = self.blocks[f][b];
                if warps == 0 {
                    continue;
                }
                for i in block.start as usize..block.end as usize {
                    let inst = &function.insts[i];
                    if let Op::Warp(WarpOp::Matrix(matrix), _) = &inst.op {
                        self.counts.matrix_multiply_adds += warps * matrix.multiply_adds();
                    }
                    let Some(class) = inst.class else { continue };
                    let lanes = if inst.guard.is_some() {
                        self.guarded[f][i]
                    } else {
                        lanes
                    };
                    let issued = &mut self.counts.classes[class as usize];
                    issued.warps += warps;
                    issued.lanes += lanes;
                    if class == Class::Multiply {
                        self.counts.multiply_adds += lanes * u64::from(inst.products.0);
                        self.counts.multiply_lows += lanes * u64::from(inst.products.1);
                    }
                }
            }
        }
        self.counts
    }
}

/// The digest of something after what `before` is the digest of.
#[inline(always)]
pub(super) fn digest(before: u64, x: u64) -> u64 {
    // 2^64 over the golden ratio, an odd number: no two `x` go to the same.
    let mixed = (before ^ x).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 32).rotate_left(23)
}
