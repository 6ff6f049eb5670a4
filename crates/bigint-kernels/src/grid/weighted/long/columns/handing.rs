//! How the carries of a block's last column come to the next block.

use super::super::{Block, sixteen};
use super::ThreadPlace;
use crate::gpu::float::signed;
use bigint_core::weighted::long::{NO_CARRY, log_width};

impl Block<'_> {
    /// Hands the carries of the last column on to the next block, and those of other columns to
    /// the next lane, and takes those of the block before; what `GOES_AROUND` may be other than the carry. Returns whether
    /// these arrived in time.
    #[inline(always)]
    pub(super) fn hand_on<const GOES_AROUND: bool>(
        self,
        place: ThreadPlace,
        block: u32,
        carries: &mut [u32; 16],
    ) -> bool {
        let warp = self.team.warp();
        let mut arrived = true;
        sixteen!(i => {
            if i < 4 {
                if place.is_last {
                    let handed = self.handed(self.arguments.carries);
                    let at = place.of_four(block, [0, i as u32], place.row);
                    handed.set_four(at, [0, 1, 2, 3].map(|j| carries[4 * i + j]));
                }
            }
        });
        if self.has_read(block) {
            return true;
        }
        sixteen!(k => {
            carries[k] = warp.shuffle(carries[k], warp.lane().wrapping_sub(1));
        });
        if place.lane == 0 {
            (*carries, arrived) = self.take(place, block);
            if GOES_AROUND && place.is_first(block) {
                let [low, _] = self.around(signed(carries[0] as i32));
                carries[0] = low as i32 as u32;
                // It may be greater than the carry by less than a base.
                arrived &= signed(carries[0] as i32) == low;
            }
        }
        arrived & self.may_write(place, block)
    }

    /// Takes the carries that the block before has handed on for the thread's rows. Returns whether they arrived in time.
    #[inline(always)]
    fn take(self, place: ThreadPlace, block: u32) -> ([u32; 16], bool) {
        let handed = self.handed(self.arguments.carries);
        let rows = 16 * place.factor;
        // In block 1 a carry goes to the next row: that of the last of the first `16 m` rows
        // goes to the first of the next `16 m`, and so on.
        let around = place.is_first(block);
        let row = match (block, place.row) {
            (1, 0) => rows - 1,
            (1, row) => row - 1,
            (_, row) => row,
        };
        let at = place.of_four(block - 1, [0, 0], row);
        let (fours, came) = handed.take::<4>(at, rows, NO_CARRY);
        let mut c = [0; 16];
        sixteen!(k => {
            c[k] = fours[k / 4][k % 4];
        });
        let mut last = 0;
        sixteen!(k => {
            if k as u32 + 1 == place.radix {
                last = c[k];
            }
        });
        let mut carries = [0; 16];
        sixteen!(k => {
            let before = if k == 0 { last } else { c[(k + 15) % 16] };
            carries[k] = if around { before } else { c[k] };
        });
        (carries, came)
    }

    /// Whether this is block 0, which only hands carries on, and tells here that it has read its points.
    #[inline(always)]
    pub(super) fn has_read(self, block: u32) -> bool {
        self.team.warp().sync();
        // There has been a barrier since all threads loaded their points.
        if block == 0 && self.team.thread() == 0 {
            let were_read = self.handed(self.arguments.flag);
            were_read.raise(0, self.arguments.launch);
        }
        block == 0
    }

    /// Lets the last block wait, which writes the columns that block 0 has read. Returns whether it was told in
    /// time.
    #[inline(always)]
    pub(super) fn may_write(self, place: ThreadPlace, block: u32) -> bool {
        let warp = self.team.warp();
        let mut may = true;
        if block == place.row_points >> log_width(place.factor) && warp.lane() == 0 {
            let were_read = self.handed(self.arguments.flag);
            may = were_read.wait(0, self.arguments.launch);
        }
        warp.sync();
        may
    }
}
