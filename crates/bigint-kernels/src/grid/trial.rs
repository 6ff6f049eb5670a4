//! Trial factoring of `2^p - 1`. [`bigint_core::trial`] explains the maths.
//!
//! **Who holds what.** A block has a segment, with a bit for each of its candidates in shared memory. A prime below
//! [`bigint_core::trial::WIDE`] is taken by a warp, whose lanes strike neighbouring multiples; a greater one is taken
//! by a thread. Then threads take words of 32 bits until none is left, and test the candidates that were not struck
//! one after another. All lanes of a warp test at the same time.
//!
//! **Preconditions**: `p` is an odd prime, and candidates have at most 95 bits. **Cost**: a stroke for each multiple
//! of each prime, which is 1.6 for each candidate with the primes below 2^19; for each candidate that is left, six
//! squares fewer than `p` has bits, of 18 multiply-adds each ([`three`]). **Scratch**:
//! [`bigint_core::trial::SHARED_BYTES`].

use crate::gpu::block::Team;
use crate::gpu::flat::Row;
use crate::gpu::sieve::{List, Sieve};
use crate::gpu::thread;
use crate::gpu::three::{self, Three};
use crate::montgomery::inverse;
use bigint_core::Limb;
use bigint_core::kernel::MatrixArgument;
use bigint_core::trial::{MODULUS, SEGMENT, THREADS, TrialArguments, first_stroke};

/// A launch's arguments, and the block's threads and segment.
#[derive(Clone, Copy)]
pub struct Block<'a> {
    team: Team<THREADS>,
    arguments: &'a TrialArguments,
    sieve: Sieve,
    primes: Row,
    found: List,
    /// The first candidate of the segment.
    q: u128,
    /// The number of candidates.
    count: u32,
}

impl<'a> Block<'a> {
    /// The calling thread's block.
    ///
    /// # Safety
    /// `arguments` are those of a launch that [`bigint_core::trial`] describes, with the memory, the blocks and the
    /// shared memory that it states.
    #[allow(unsafe_code)] // The kernel's boundary: what comes in is taken on trust.
    #[inline(always)]
    pub unsafe fn new(arguments: &'a TrialArguments) -> Self {
        let table = |limbs| MatrixArgument {
            limbs,
            ..MatrixArgument::default()
        };
        // SAFETY: by this function's own contract.
        let (team, primes, classes, found) = unsafe {
            (
                Team::new(),
                Row::new(&table(arguments.primes), 0),
                Row::new(&table(arguments.classes), 0),
                List::new(arguments.found, arguments.room),
            )
        };
        let of_class = arguments.first + thread::block_index();
        let classes_of = arguments.class_count.max(1);
        let class = classes.limb(of_class % classes_of, classes_of - 1);
        let before = u64::from(SEGMENT) * u64::from(of_class / classes_of);
        let k = u64::from(class) + u64::from(MODULUS) * before;
        let [b0, b1, b2, b3] = arguments.base.map(u128::from);
        let base = b0 | b1 << 32 | b2 << 64 | b3 << 96;
        let count = (arguments.candidates - before).min(SEGMENT.into()) as u32;
        Block {
            team,
            arguments,
            // SAFETY: the launch has the shared memory of a whole segment.
            sieve: unsafe { Sieve::new(count.div_ceil(32)) },
            primes,
            found,
            q: base.wrapping_add(u128::from(arguments.twice) * u128::from(k)),
            count,
        }
    }

    /// Sieves the segment, and tests the candidates that are left.
    #[inline(always)]
    pub fn factors(self) {
        let words = self.count.div_ceil(32);
        let mut word = self.team.thread();
        while word <= words {
            self.sieve.clear(word);
            word += THREADS;
        }
        self.team.sync();
        self.strike();
        self.team.sync();
        self.test();
    }

    /// Strikes the multiples of all primes.
    #[inline(always)]
    fn strike(self) {
        let TrialArguments {
            wide_count,
            prime_count,
            ..
        } = *self.arguments;
        let (thread, lane) = (self.team.thread(), thread::lane());
        let mut i = thread / 32;
        while i < wide_count {
            self.strike_by(i, lane, 32);
            i += THREADS / 32;
        }
        i = wide_count + thread;
        while i < prime_count {
            self.strike_by(i, 0, 1);
            i += THREADS;
        }
    }

    /// Strikes multiple `from` of prime `i`, and every `apart`-th after it.
    #[inline(always)]
    fn strike_by(self, i: u32, from: u32, apart: u32) {
        let stroke = self.primes.four(i, i);
        let r = stroke[0];
        let mut at = first_stroke(limbs(self.q), stroke) + from * r;
        while at < self.count {
            self.sieve.strike(at);
            at += apart * r;
        }
    }

    /// Tests the candidates that were not struck.
    #[inline(always)]
    fn test(self) {
        let words = self.count.div_ceil(32);
        // Bits of the last word that are past the last candidate count as struck.
        let last = !0 >> (self.count.wrapping_neg() % 32);
        let step = self.arguments.twice * u64::from(MODULUS);
        let (mut at, mut left) = (0, 0);
        loop {
            while left == 0 && at < words {
                at = self.sieve.next();
                if at < words {
                    left = !self.sieve.word(at) & if at == words - 1 { last } else { !0 };
                }
            }
            // All lanes go on together. Alone, each would take as much time as all do.
            if self.team.warp().all(left == 0) {
                return;
            }
            // A lane that has no candidate left tests some number and ignores the result.
            let bit = (32 * at).wrapping_add(left.trailing_zeros());
            let q = limbs(self.q.wrapping_add((step * u64::from(bit)).into()));
            if self.divides(q) && left != 0 {
                self.found.push([thread::block_index(), bit]);
            }
            left &= left.wrapping_sub(1);
        }
    }

    /// Whether `2^-p mod q` is 1.
    #[inline(always)]
    fn divides(self, q: Three) -> bool {
        let TrialArguments {
            powers, is_strict, ..
        } = *self.arguments;
        let inverse = inverse(q[0]).wrapping_neg();
        // This is at most 2^48.
        let start = 1u64 << powers.start;
        let mut x = [start as Limb, (start >> 32) as Limb, 0];
        let mut left = powers.squares;
        while left > 0 {
            left -= 1;
            x = three::square(x, q, inverse);
            if is_strict != 0 {
                x = three::reduce(x, q);
            }
            if powers.is_doubled(left) {
                x = three::double(x);
                if is_strict != 0 {
                    x = three::reduce(x, q);
                }
            }
        }
        x = three::reduce(x, three::double(q));
        x = three::reduce(x, q);
        x[0] == 1 && x[1] == 0 && x[2] == 0
    }
}

/// The three lower limbs of a candidate.
#[inline(always)]
fn limbs(q: u128) -> Three {
    [q as Limb, (q >> 32) as Limb, (q >> 64) as Limb]
}
