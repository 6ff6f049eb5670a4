//! What a block of warpgroups has in shared memory.

use super::{Form, MOST_RESIDENT, READERS};

/// Bytes of shared memory of a block, at most, of compute capability 9.0.
const SHARED: u32 = 227 << 10;

/// The most stages of a ring.
const MOST_STAGES: u32 = 12;

/// The fewest stages of a ring: a few are read while others are filled.
const FEWEST_STAGES: u32 = 6;

/// The most pairs of which registers hold the residues of both bases.
const MOST_IN_REGISTERS: usize = 17;

/// Entries of tables that threads read for themselves.
pub const SCANNED: usize = 8;

/// The most pairs of which sums of two digits, one of them 2^8 times, fit 32 bits.
pub const MOST_JOINED: usize = 27;

/// Matrices in shared memory, and behind them fours of tables on their way to readers; or, where residues of one base at a time
/// are in registers, a unit of each entry and those of the other base for each thread; the primes, and the barriers of copies
/// and of chosen entries.
///
/// Pairs go by a few, a *chunk*, whose columns are multiplied at once. Both matrices' chunks stand there, or
/// they pass through a ring of stages, by parts. Where registers do not hold the residues of both bases, those of the
/// one that is not multiplied stand there too. A chunk has the bytes of each 32 rows of its columns together, in groups
/// of eight columns: sixteen bytes of each column, then the other sixteen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stages {
    /// Pairs of groups of primes.
    pub pairs: u32,
    /// The most pairs of a chunk.
    pub columns: u32,
    /// Threads of the block that compute; where others read tables for them, fewer than without.
    pub threads: u32,
    /// Parts in which a chunk passes through the ring: the finer, the further ahead it is fetched.
    parts: u32,
}

impl Stages {
    /// Those of a kernel for warpgroups.
    pub const fn of(form: Form) -> Self {
        let threads = match form.beside_readers {
            0 => form.threads,
            beside_readers => beside_readers,
        };
        Stages::new(form.pairs, form.columns, threads)
    }

    /// Those of so many pairs, of chunks of at most so many, and threads.
    pub const fn new(pairs: u32, columns: u32, threads: u32) -> Self {
        let mut stages = Stages {
            pairs,
            columns,
            threads,
            parts: 1,
        };
        if !stages.are_resident() {
            stages.parts = 2;
            while stages.room() / stages.stage() < FEWEST_STAGES {
                stages.parts += 1;
            }
        }
        stages
    }

    /// Bytes that there are for matrices.
    #[inline(always)]
    const fn room(self) -> u32 {
        SHARED
            - self.bytes_of_entries()
            - 16 * self.units() * self.threads
            - self.bytes_of_primes()
            - 8 * (2 * MOST_STAGES + 1)
            - self.threads
    }

    /// Fours of entries that are on their way to each reader at a time, where there are readers.
    #[inline(always)]
    pub const fn ahead(self) -> u32 {
        match self.pairs {
            0..8 => 12,
            8..=MOST_RESIDENT => 6,
            _ => 4,
        }
    }

    /// Bytes of entries that are on their way, or that threads read for themselves.
    #[inline(always)]
    const fn bytes_of_entries(self) -> u32 {
        match self.is_wide() {
            true => 16 * self.threads * SCANNED as u32,
            false => 64 * READERS * self.ahead(),
        }
    }

    /// Whether residues of one base at a time are in registers.
    #[inline(always)]
    pub const fn is_wide(self) -> bool {
        self.pairs as usize > MOST_IN_REGISTERS
    }

    /// Units of a base that each thread has in shared memory.
    #[inline(always)]
    const fn units(self) -> u32 {
        match self.is_wide() {
            true => self.pairs,
            false => 0,
        }
    }

    /// Chunks of a matrix.
    #[inline(always)]
    pub const fn chunks(self) -> u32 {
        self.pairs.div_ceil(self.columns)
    }

    /// The first pair of a chunk; chunks are as equal as can be.
    #[inline(always)]
    pub const fn first(self, chunk: u32) -> u32 {
        match self.pairs.is_multiple_of(self.columns) {
            true => chunk * self.columns,
            false => chunk * self.pairs / self.chunks(),
        }
    }

    /// Pairs of a chunk.
    #[inline(always)]
    pub const fn pairs_of(self, chunk: u32) -> u32 {
        self.first(chunk + 1) - self.first(chunk)
    }

    /// Bytes that a matrix has for a pair.
    #[inline(always)]
    pub const fn bytes_of_pair(self) -> u32 {
        1024 * self.pairs
    }

    /// Parts in which a chunk passes through the ring, or 1.
    #[inline(always)]
    pub const fn parts(self) -> u32 {
        self.parts
    }

    /// Stages that are given back at once: those of a chunk, or one where the ring has no room for two chunks.
    #[inline(always)]
    pub const fn released(self) -> u32 {
        match self.count() < 2 * self.parts() {
            true => 1,
            false => self.parts(),
        }
    }

    /// The first unit of pairs that a part of a chunk's columns is multiplied by.
    #[inline(always)]
    pub const fn first_of_part(self, part: u32) -> u32 {
        part * self.pairs / self.parts()
    }

    /// Whether a part begins with a unit of pairs.
    #[inline(always)]
    pub const fn begins_part(self, unit: u32) -> bool {
        let mut part = 0;
        while part < self.parts() {
            if self.first_of_part(part) == unit {
                return true;
            }
            part += 1;
        }
        false
    }

    /// Bytes of a stage.
    #[inline(always)]
    pub const fn stage(self) -> u32 {
        1024 * self.columns * self.pairs.div_ceil(self.parts())
    }

    /// Whether both matrices stand in shared memory.
    #[inline(always)]
    pub const fn are_resident(self) -> bool {
        2 * self.pairs * self.bytes_of_pair() <= self.room()
    }

    /// Stages of the ring; one, of both matrices, where they are resident.
    #[inline(always)]
    pub const fn count(self) -> u32 {
        self.stages_in(self.room())
    }

    /// The same where no table is read whole: the ring has the place of entries, too, if a base at a time is in registers.
    #[inline(always)]
    pub const fn count_without_entries(self) -> u32 {
        match self.is_wide() {
            true => self.stages_in(self.bytes_of_matrices() + self.bytes_of_entries()),
            false => self.count(),
        }
    }

    /// Stages that so many bytes have room for.
    #[inline(always)]
    const fn stages_in(self, bytes: u32) -> u32 {
        let count = bytes / self.stage();
        match self.are_resident() {
            true => 1,
            false if count < MOST_STAGES => count,
            false => MOST_STAGES,
        }
    }

    /// Bytes of matrices.
    #[inline(always)]
    pub const fn bytes_of_matrices(self) -> u32 {
        match self.are_resident() {
            true => 2 * self.pairs * self.bytes_of_pair(),
            false => self.count() * self.stage(),
        }
    }

    /// Where fours of entries begin, in bytes: four for each reader and stage, or one of each entry for each thread.
    #[inline(always)]
    pub const fn entries_at(self) -> u32 {
        self.bytes_of_matrices()
    }

    /// Where the fours of a unit of the other base begin, in the same order, in bytes.
    #[inline(always)]
    pub const fn unit_at(self, unit: u32) -> u32 {
        self.entries_at() + self.bytes_of_entries() + 16 * self.threads * unit
    }

    /// Where the primes begin, as they are in the table.
    #[inline(always)]
    pub const fn primes_at(self) -> u32 {
        self.unit_at(self.units())
    }

    /// Bytes of the primes of both bases.
    #[inline(always)]
    pub const fn bytes_of_primes(self) -> u32 {
        256 * self.pairs
    }

    /// Where the barriers begin: of each stage one that it is full, and one that it has been read, and one of the primes.
    #[inline(always)]
    pub const fn barriers_at(self) -> u32 {
        self.primes_at() + self.bytes_of_primes()
    }

    /// Where the barriers of chosen entries begin, four for each warp.
    #[inline(always)]
    pub const fn choices_at(self) -> u32 {
        self.barriers_at() + 8 * (2 * self.count_without_entries() + 1)
    }

    /// Bytes of all.
    #[inline(always)]
    pub const fn bytes(self) -> u32 {
        self.choices_at() + self.threads
    }
}
