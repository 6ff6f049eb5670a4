//! A fused program that multiplies ([`bigint_core::fused`]). It has one value for each number,
//! which stays in shared memory from the first step to the last.
//!
//! `LANES` lanes, 1, 2 or 4, share a number. Each has every `LANES`th group of four limbs. The
//! lanes of a number have three regions of shared memory:
//!
//! ```text
//! value    what the steps so far have made
//! other    the input that it is multiplied by, brought in whole fours
//! next     the product; then it and `value` change places
//! ```
//!
//! So each input is read from device memory once, and the result is written once, however many
//! steps there are. Sums need no region for the input: a lane adds its own four limbs of the
//! input to its own four limbs of the value.
//!
//! A product is computed by columns (Comba; see [`columns`](super::columns)), but only by those
//! below the step's width: `n (n + 1) / 2` pairs of groups of four limbs, if the product and
//! both operands have `n` groups. The carries of a sum are found as in [`lookahead`], with a
//! group of four limbs in place of a limb. A difference is a sum with the complement,
//! `a - b = a + b' + 1` modulo `B^w`.
//!
//! Cost: that of the columns, and for each step a store to shared memory for each four limbs;
//! for a sum also a load. Shared memory: three values for each number.

use super::columns::each_four;
use super::lookahead;
use super::program::Program;
use crate::columns::{Columns, STEP};
use crate::gpu::carry;
use crate::gpu::memory::{Number, Unit};
use crate::gpu::shared::Region;
use crate::gpu::thread;
use crate::gpu::warp::Group;
use bigint_core::Limb;
use bigint_core::fused::{FusedArguments, StepKind};
use bigint_core::kernel::BLOCK;

const FOUR: u32 = STEP as u32;

/// A value in shared memory. It takes whole groups of four limbs, and limbs past its top are
/// zero.
#[derive(Clone, Copy)]
struct Value {
    region: Region,
    width: u32,
}

impl Value {
    #[inline(always)]
    fn fours(self) -> u32 {
        self.width.div_ceil(FOUR)
    }

    /// Limbs `4 at .. 4 at + 4`, with zeros above the top.
    #[allow(unsafe_code)]
    #[inline(always)]
    fn four(self, at: u32) -> [Limb; STEP] {
        if at < self.fours() {
            // SAFETY: a region has as many groups of four limbs as its value.
            unsafe { self.region.four(at) }
        } else {
            [0; STEP]
        }
    }

    /// Sets limbs `4 at .. 4 at + 4`, as far as the value has them.
    #[allow(unsafe_code)]
    #[inline(always)]
    fn set_four(self, at: u32, limbs: [Limb; STEP]) {
        if at < self.fours() {
            let mut limbs = limbs;
            for (i, limb) in limbs.iter_mut().enumerate() {
                if FOUR * at + i as u32 >= self.width {
                    *limb = 0;
                }
            }
            // SAFETY: as in `four`.
            unsafe { self.region.set_four(at, limbs) }
        }
    }
}

/// Computes the numbers of the calling lane's group.
///
/// # Safety
/// `arguments` are those of a launch of [`FusedKernel::Steps`] with `LANES` lanes. Inputs and
/// result are allocated and contiguous, and the result overlaps no input. The launch has the
/// shared memory of `FusedKernel::launch`, and no step is wider than `capacity`. Blocks are
/// made of whole warps, which come here as a whole.
///
/// [`FusedKernel::Steps`]: bigint_core::fused::FusedKernel::Steps
#[allow(unsafe_code)] // The kernel's boundary: what comes in is taken on trust.
#[inline(always)]
pub unsafe fn steps<const LANES: u32>(arguments: &FusedArguments) {
    // SAFETY: the whole warp is here; it branches on the launch, the steps and the widths.
    let (group, program) = unsafe { (Group::<LANES>::new(), Program::new(arguments)) };
    let worker = thread::index_1d() / u64::from(LANES);
    let in_block = worker as u32 % (BLOCK / LANES);
    let fours = arguments.capacity as u32 / FOUR;
    // SAFETY: each group has three regions of its own.
    let region = |index: u32| unsafe { Region::new(3 * in_block + index, fours) };
    let (mut region_of_value, other, mut next) = (region(0), region(1), region(2));
    let mut first = 0;
    while first < arguments.count {
        let index = (first + worker).min(arguments.count - 1);
        let on = first + worker < arguments.count;
        let mut value = Value {
            region: region_of_value,
            width: 0,
        };
        let mut step = 0;
        while step < program.steps {
            let (of, input) = program.step(step);
            // SAFETY: the input is allocated, and the number is in the batch.
            let input = unsafe { Number::<Unit>::new(&input, index) };
            let (kind, width) = (of.kind(), of.width());
            if kind <= StepKind::Sub as u32 {
                value = sum(group, value, input, kind, width);
            } else {
                let mut factor = value;
                if kind == StepKind::Mul as u32 {
                    factor = Value {
                        region: other,
                        width: input.width().min(width),
                    };
                    bring_in(group, factor, input);
                }
                let product = Value {
                    region: next,
                    width: width,
                };
                multiply(group, product, value, factor);
                next = value.region;
                value = product;
            }
            group.sync();
            step += 1;
        }
        // SAFETY: no other group has this number with its result switched on.
        let r = unsafe { Number::<Unit>::new(&arguments.r, index) }.switched(on);
        let mut at = group.lane();
        while FOUR * at < r.width() {
            r.set_limbs(FOUR * at, value.four(at));
            at += LANES;
        }
        region_of_value = value.region;
        group.sync();
        first += arguments.workers;
    }
}

/// Moves a number into shared memory, cut to the width of `to`.
#[inline(always)]
fn bring_in<const LANES: u32>(group: Group<LANES>, to: Value, number: Number<Unit>) {
    let mut at = group.lane();
    while at < to.fours() {
        to.set_four(at, number.limbs(FOUR * at));
        at += LANES;
    }
    group.sync();
}

/// Replaces `value` by `value + input`, or by `value - input` if `turn` is 1, cut to `width`
/// limbs.
#[inline(always)]
fn sum<const LANES: u32>(
    group: Group<LANES>,
    value: Value,
    input: Number<Unit>,
    turn: u32,
    width: u32,
) -> Value {
    let to = Value { width, ..value };
    let mask = turn.wrapping_neg();
    let mut carry = turn;
    let mut k = 0;
    while k < to.fours() {
        let at = k + group.lane();
        let [a, b, c, d] = input.limbs(FOUR * at);
        let added = [a ^ mask, b ^ mask, c ^ mask, d ^ mask];
        let (limbs, generated) = carry::add(value.four(at), added, 0);
        let [a, b, c, d] = limbs;
        let carries = lookahead::carries(
            group.ballot(generated != 0),
            group.ballot(a & b & c & d == Limb::MAX),
            carry,
        );
        carry = (carries >> LANES) as Limb & 1;
        let own = (carries >> group.lane()) as Limb & 1;
        let (limbs, _) = carry::add(limbs, [0; STEP], own);
        to.set_four(at, limbs);
        k += LANES;
    }
    to
}

/// `to = a b`, cut to the width of `to`.
#[inline(always)]
fn multiply<const LANES: u32>(group: Group<LANES>, to: Value, a: Value, b: Value) {
    if LANES == 1 {
        let mut columns = Columns::default();
        let mut k = 0;
        while k < to.fours() {
            add_pairs(&mut columns, k, a, b);
            to.set_four(k, columns.next());
            k += 1;
        }
        return;
    }
    each_four(
        group,
        to.width,
        |k| {
            let mut columns = Columns::default();
            add_pairs(&mut columns, k, a, b);
            columns.sum()
        },
        |at, limbs| to.set_four(at / FOUR, limbs),
    );
}

/// Adds the products of pairs of groups of four limbs whose lowest column is `4k`.
#[inline(always)]
fn add_pairs(columns: &mut Columns, k: u32, a: Value, b: Value) {
    let mut i = (k + 1).saturating_sub(b.fours());
    while i <= k && i < a.fours() {
        columns.add(a.four(i), b.four(k - i));
        i += 1;
    }
}
