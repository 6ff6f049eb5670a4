//! How many blocks of a kernel a multiprocessor holds: the scarcest of threads,
//! blocks, registers and shared memory decides, each given out in units.

use crate::arch::Arch;

/// Registers are given to a warp in units of this many.
const REGISTER_UNIT: u32 = 256;
/// Shared memory is given to a block in units of this many bytes.
const SHARED_UNIT: u64 = 128;

/// What one thread block of a kernel takes.
#[derive(Clone, Copy, Debug)]
pub struct BlockNeeds {
    /// Threads.
    pub threads: u32,
    /// Registers of each thread.
    pub registers: u32,
    /// Static and dynamic shared memory together, in bytes.
    pub shared: u64,
}

/// Most threads a block may have if each takes `registers`.
pub fn block_limit(arch: &Arch, registers: u32) -> u32 {
    let warps = arch.registers_per_block / warp_registers(registers);
    (warps * Arch::WARP).min(arch.max_threads_per_block)
}

/// Blocks of this kind that one multiprocessor holds at once; zero if one block
/// is too large already.
pub fn resident_blocks(arch: &Arch, needs: BlockNeeds) -> u32 {
    if needs.threads == 0
        || needs.threads > block_limit(arch, needs.registers)
        || needs.shared > u64::from(arch.shared_per_block_optin)
    {
        return 0;
    }
    let warps = needs.threads.div_ceil(Arch::WARP);
    let by_threads = arch.max_threads_per_multiprocessor / (warps * Arch::WARP);
    let by_registers =
        arch.registers_per_multiprocessor / (warps * warp_registers(needs.registers));
    let used = needs.shared + u64::from(arch.reserved_shared_per_block);
    let by_shared = u64::from(arch.shared_per_multiprocessor)
        .checked_div(used.next_multiple_of(SHARED_UNIT))
        .and_then(|blocks| u32::try_from(blocks).ok())
        .unwrap_or(u32::MAX);
    arch.max_blocks_per_multiprocessor
        .min(by_threads)
        .min(by_registers)
        .min(by_shared)
}

/// Dynamic shared memory that each of `blocks` blocks may have if all are to fit
/// one multiprocessor, in bytes; `fixed` is the kernel's static part.
pub fn spare_shared(arch: &Arch, blocks: u32, fixed: u64) -> u64 {
    let share = u64::from(arch.shared_per_multiprocessor / blocks.max(1));
    (share / SHARED_UNIT * SHARED_UNIT)
        .saturating_sub(u64::from(arch.reserved_shared_per_block))
        .min(u64::from(arch.shared_per_block_optin))
        .saturating_sub(fixed)
}

/// The block size that keeps most threads resident, the largest of equals, and
/// the fewest blocks that fill the device. `dynamic` gives the dynamic shared
/// memory of a block of so many threads. `None` if no block fits.
pub fn best_block(
    arch: &Arch,
    registers: u32,
    fixed_shared: u64,
    limit: u32,
    dynamic: impl Fn(u32) -> u64,
) -> Option<(u32, u32)> {
    let largest = block_limit(arch, registers).min(limit);
    // Whole warps; and a limit that is none counts as it is.
    let sizes = (1..=largest).filter(|n| n % Arch::WARP == 0 || *n == largest);
    sizes
        .map(|threads| {
            let needs = BlockNeeds {
                threads,
                registers,
                shared: fixed_shared.saturating_add(dynamic(threads)),
            };
            (resident_blocks(arch, needs), threads)
        })
        .filter(|(blocks, _)| *blocks > 0)
        .max_by_key(|(blocks, threads)| (blocks * threads, *threads))
        .map(|(blocks, threads)| (blocks * arch.multiprocessors, threads))
}

/// Registers that a warp is given when each thread uses `registers`.
fn warp_registers(registers: u32) -> u32 {
    (registers.max(1) * Arch::WARP).next_multiple_of(REGISTER_UNIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(threads: u32, registers: u32, shared: u64) -> BlockNeeds {
        BlockNeeds {
            threads,
            registers,
            shared,
        }
    }

    #[test]
    fn residency_is_what_the_scarcest_resource_allows() {
        let a100 = Arch::SM_80;
        let resident = |n| resident_blocks(&a100, n);
        // 128 threads: 2048 / 128 = 16; 32 registers leave that as it is.
        assert_eq!(resident(needs(128, 32, 0)), 16);
        // 64 registers: 65536 / (64 * 128) = 8.
        assert_eq!(resident(needs(128, 64, 0)), 8);
        // 255 round up to 256: 65536 / (256 * 128) = 2.
        assert_eq!(resident(needs(128, 255, 0)), 2);
        // 1024 threads of 255 registers do not fit at all.
        assert_eq!(resident(needs(1024, 255, 0)), 0);
        // 48 KiB and the reserved KiB: 164 / 49 = 3.
        assert_eq!(resident(needs(128, 32, 48 << 10)), 3);
        assert_eq!(resident(needs(128, 32, 164 << 10)), 0);
        // One thread: the limit of blocks.
        assert_eq!(resident(needs(1, 16, 0)), 32);
        assert_eq!(resident(needs(0, 16, 0)), 0);
    }

    #[test]
    fn spare_shared_memory_fits_as_often_as_asked() {
        for arch in Arch::ALL {
            for blocks in 1..=arch.max_blocks_per_multiprocessor {
                let spare = spare_shared(&arch, blocks, 0);
                assert!(resident_blocks(&arch, needs(32, 16, spare)) >= blocks);
            }
        }
    }

    #[test]
    fn the_best_block_fills_the_device() {
        let arch = Arch::SM_80;
        assert_eq!(best_block(&arch, 32, 0, 1024, |_| 0), Some((2 * 108, 1024)));
        // 21 blocks of 96 are 2016 threads, 32 of 64 are all 2048.
        assert_eq!(best_block(&arch, 32, 0, 96, |_| 0), Some((32 * 108, 64)));
        // 1 KiB for each thread: one block of 160 beats four of 32 and two of 64.
        let of_threads = |threads| u64::from(threads) << 10;
        assert_eq!(best_block(&arch, 32, 0, 1024, of_threads), Some((108, 160)));
        assert_eq!(best_block(&arch, 32, 1 << 20, 1024, |_| 0), None);
    }
}
