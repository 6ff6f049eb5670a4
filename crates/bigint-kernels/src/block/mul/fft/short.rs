//! The shortest transforms: a warp has two numbers, each shared by 16 threads.
//!
//! Operands have 128 limbs, which are `L` = 256 digits. A thread has 16 complex values. Threads
//! exchange values once on the way down and once on the way up. For thread `t` let
//! `c = 2 (t mod 8) + t div 8`, so that threads `t` and `t + 8` have the digits of the same limbs.
//! The values of a thread in each pass are:
//!
//! ```text
//! first        digits c + 16 k, k < 16: radix 16                  written
//! last         16 t .. 16 t + 15: two levels; of the second       read
//!              operand products modulo x^4 - z, two levels up     the product's written
//! first        as above, up: coefficients                         read; written side by side
//! carries      coefficients 32 t .. 32 t + 31                     read
//! ```

use super::super::super::Work;
use super::{by_pieces, set_side_by_side};
use crate::gpu::block::Team;
use crate::gpu::float::Roots;
use crate::gpu::memory::{Number, Stride};
use crate::gpu::stretch::Stretch;
use crate::gpu::warp::Group;
use crate::transform::butterflies::{
    down_from_the_root, down_to_fours, multiply_and_up, up_to_the_root,
};
use crate::transform::carries::{self, CHUNK};
use crate::transform::complex::Complex;
use crate::transform::digits;
use crate::transform::exchange::Exchange;
use bigint_core::Limb;
use bigint_core::transform::Plan;

const PLAN: Plan = Plan::of(LANES);
const LANES: u32 = 16;
const LIMBS: u32 = PLAN.limbs();
/// The bytes of shared memory for a number.
const BYTES: u32 = PLAN.shared_bytes(false) / PLAN.numbers();

/// `r = a * b`, cut or zero-extended to the width of `r`, for the two numbers of a warp.
#[inline(always)]
pub fn product<S: Stride>(work: Work<32, S>) {
    let (team, roots, is_square) = (work.team, work.roots, work.is_square);
    let group = team.group::<LANES>();
    let from = team.thread() / LANES * BYTES;
    let stretch = |at| Stretch::new(team, from + at);
    let pair = Pair {
        team,
        group,
        roots,
        is_square,
        x: Exchange::new(stretch(0), const { PLAN.run() }),
        kept_carry: stretch(BYTES - 16),
    };
    by_pieces(
        work,
        LIMBS,
        (group.lane(), LANES),
        #[inline(always)]
        |window, earlier, a, b, has_carry| {
            pair.piece(window, earlier, a, b, has_carry);
        },
    );
}

/// The threads, roots and shared memory for the transforms of a thread's number.
#[derive(Clone, Copy)]
struct Pair {
    team: Team<32>,
    group: Group<LANES>,
    roots: Roots,
    is_square: bool,
    /// Shared memory for one operand, then in its place for the other, for the product, and for its
    /// coefficients.
    x: Exchange,
    /// The carry from one piece's product to the next.
    kept_carry: Stretch,
}

impl Pair {
    /// Adds the product of pieces to the window, as [`by_pieces`] demands.
    #[inline(always)]
    fn piece<S: Stride>(
        self,
        window: Number<S>,
        earlier: Number<S>,
        a: Number<S>,
        b: Number<S>,
        has_carry: bool,
    ) {
        let Pair {
            group,
            x,
            is_square,
            ..
        } = self;
        let lane = group.lane();
        let roots = [0, 1, 2].map(
            #[inline(always)]
            |j| {
                let [re, im] = (self.roots.up(lane)).at(const { PLAN.forward_at(2) } + LANES * j);
                Complex::new(re, im)
            },
        );
        let mut first = [Complex::ZERO; 16];
        let mut is_last = is_square;
        // One text serves both operands. The first one's values stay in registers.
        let mut product = loop {
            self.spread(if is_last { b } else { a });
            group.sync();
            let mut values = x.get::<16>(16 * lane, 1);
            down_to_fours(&mut values, &roots);
            if is_last {
                break values;
            }
            group.sync();
            first = values;
            is_last = true;
        };
        if is_square {
            first = product;
        }
        multiply_and_up(&first, &mut product, &roots, is_square);
        x.set(16 * lane, 1, &product);
        group.sync();
        let coefficients = up_to_the_root(x.get::<16>(self.column(), LANES));
        group.sync();
        // (There are two loops, as one that is not unrolled would keep values in memory.)
        let own = |k: u32| self.column() + coefficient_at(16 * k);
        for (k, value) in (0..).zip(&coefficients) {
            x.memory().set_word(own(k), value.re.to_bits());
        }
        for (k, value) in (16..).zip(&coefficients) {
            x.memory().set_word(own(k), value.im.to_bits());
        }
        group.sync();
        self.release(window, earlier, has_carry);
    }

    /// The index of the thread's first digit. Its digits are 16 apart.
    #[inline(always)]
    fn column(self) -> u32 {
        let lane = self.group.lane();
        2 * (lane % 8) + lane / 8
    }

    /// The first pass down: cuts limbs `t + 16 k` into digits, and leaves values in shared memory.
    #[inline(always)]
    fn spread(self, a: Number<impl Stride>) {
        let lane = self.group.lane();
        let own = a.part(lane, u32::MAX).settled();
        let limbs = [0, 1, 2, 3, 4, 5, 6, 7].map(
            #[inline(always)]
            |k| own.limb(k * LANES),
        );
        let two = |k: usize| {
            let own = limbs[k];
            // The partner has the limb eight below or above. The thread takes the lower digits of
            // both limbs, or the upper ones.
            let other = self.group.shuffle(own, lane ^ 8);
            digits::plain(match lane < 8 {
                true => own & 0xffff | other << 16,
                false => other >> 16 | own & 0xffff_0000,
            })
        };
        let [[d0, d1], [d2, d3]] = [two(0), two(1)];
        let [[d4, d5], [d6, d7]] = [two(2), two(3)];
        let [[d8, d9], [d10, d11]] = [two(4), two(5)];
        let [[d12, d13], [d14, d15]] = [two(6), two(7)];
        let digits = [
            d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11, d12, d13, d14, d15,
        ];
        self.x
            .set(self.column(), LANES, &down_from_the_root(digits));
    }

    /// Turns coefficients into limbs of the result.
    #[inline(always)]
    fn release(self, window: Number<impl Stride>, earlier: Number<impl Stride>, has_carry: bool) {
        let Pair { team, group, .. } = self;
        // 2^-l, for the l levels down to `x^4 - z`.
        let scale = const { 4.0 / PLAN.length() as f64 };
        let lane = group.lane();
        let at = CHUNK as u32 * lane;
        let own = self.x.memory();
        // The thread that has the limb to which the product before carries adds its carry.
        let mut more = match has_carry && at == LIMBS {
            true => u64::from(self.kept_carry.limb(0)),
            false => 0,
        };
        if lane == 0 {
            more += digits::TELESCOPED;
        }
        let before: [Limb; CHUNK] = match earlier.width() {
            0 => [0; CHUNK],
            _ => earlier.limbs(at),
        };
        let sums = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15].map(
            #[inline(always)]
            |i| {
                let [lower, upper] = own.pair(coefficient_at(2 * at) / 2 + i);
                digits::lower(lower, scale).wrapping_add(digits::upper(upper, scale))
            },
        );
        let (limbs, over) = carries::release(team, group, own, |i| {
            let more = if i == 0 { more } else { 0 };
            sums[i as usize] + u64::from(before[i as usize]) + more
        });
        set_side_by_side(group, own, window, limbs);
        if lane == LANES - 1 {
            let carry = over.wrapping_sub(digits::TELESCOPED as Limb);
            self.kept_carry.set_limb(0, carry);
        }
    }
}

/// The place of coefficient `at` of the product. Behind every 32 coefficients two words are left
/// free, so that threads that go through 32 each meet in no bank.
#[inline(always)]
fn coefficient_at(at: u32) -> u32 {
    at + at / 32 * 2
}
