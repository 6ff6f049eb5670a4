//! Addition and subtraction in 64-bit words, carry by carry.
//!
//! This is the path of a machine without AVX-512, in safe Rust. Numbers of common widths are added
//! without a loop: their carries are independent, and the machine works on several at once. Vectors
//! would not help: compiled for AVX2, the carries of a sum come out of comparisons, which takes
//! three times as long.

use bigint_core::{LIMB_BITS, Limb};

use super::packed::{Linear, Stretch};
use super::prefetch::{self, LINE};
use super::stream;

/// The limbs of a number from which on most of it is whole lines.
const WIDE: usize = 64;

/// Computes `r = a op b` for every number of a stretch, and the carries. It writes past the caches
/// if `is_streamed` and the numbers are wide.
pub(super) fn stretch<O: Linear>(stretch: Stretch<'_>, is_streamed: bool) {
    if is_streamed && stretch.width >= WIDE {
        each(stretch, past_caches::<O>);
        stream::fence();
    } else {
        numbers::<O>(stretch);
    }
}

fn numbers<O: Linear>(stretch: Stretch<'_>) {
    let [a, b] = stretch.operands;
    if a.width == b.width {
        match (stretch.width, a.width) {
            (1, 1) => return fixed::<O, 1, 1>(stretch),
            (2, 1) => return fixed::<O, 2, 1>(stretch),
            (2, 2) => return fixed::<O, 2, 2>(stretch),
            (3, 2) => return fixed::<O, 3, 2>(stretch),
            (4, 4) => return fixed::<O, 4, 4>(stretch),
            (5, 4) => return fixed::<O, 5, 4>(stretch),
            (8, 8) => return fixed::<O, 8, 8>(stretch),
            (9, 8) => return fixed::<O, 9, 8>(stretch),
            (16, 16) => return fixed::<O, 16, 16>(stretch),
            (17, 16) => return fixed::<O, 17, 16>(stretch),
            _ => {}
        }
    }
    each(stretch, number::<O>);
}

/// Computes every number by `number`, which returns the carry.
#[inline(always)]
fn each(stretch: Stretch<'_>, number: impl Fn(&mut [Limb], &[Limb], &[Limb]) -> bool) {
    let [a, b] = stretch.operands;
    let mut carries = stretch.carries;
    for (i, r) in stretch.r.chunks_exact_mut(stretch.width).enumerate() {
        let carry = number(r, a.number(i), b.number(i));
        if let Some(carries) = &mut carries {
            carries[i] = carry.into();
        }
    }
}

/// Computes numbers of `R` limbs from operands of `N`.
fn fixed<O: Linear, const R: usize, const N: usize>(stretch: Stretch<'_>) {
    let [(a, _), (b, _)] = stretch.operands.map(|x| x.limbs.as_chunks::<N>());
    let (r, _) = stretch.r.as_chunks_mut::<R>();
    let mut carries = stretch.carries;
    for (i, ((r, a), b)) in r.iter_mut().zip(a).zip(b).enumerate() {
        let mut carry = both::<O, N>(r, a, b, false);
        for r in &mut r[N..] {
            (*r, carry) = O::limbs(0, 0, carry);
        }
        if let Some(carries) = &mut carries {
            carries[i] = carry.into();
        }
    }
}

/// Computes one number, `r = a op b`. Returns the carry out. `r` is no narrower than an operand.
#[inline(always)]
pub(super) fn number<O: Linear>(r: &mut [Limb], a: &[Limb], b: &[Limb]) -> bool {
    let (a, a_rest) = a.split_at(a.len().min(b.len()));
    let (b, b_rest) = b.split_at(a.len());
    let (r, r_rest) = r.split_at_mut(a.len());
    let (r, r_tail) = r.as_chunks_mut::<16>();
    let (a, a_tail) = a.as_chunks::<16>();
    let (b, b_tail) = b.as_chunks::<16>();
    let mut carry = false;
    for ((r, a), b) in r.iter_mut().zip(a).zip(b) {
        carry = both::<O, 16>(r, a, b, carry);
    }
    for ((r, a), b) in r_tail.iter_mut().zip(a_tail).zip(b_tail) {
        (*r, carry) = O::limbs(*a, *b, carry);
    }
    limbs::<O>(r_rest, a_rest, b_rest, carry)
}

/// Computes one number and writes its whole lines past the caches.
#[inline(always)]
fn past_caches<O: Linear>(r: &mut [Limb], a: &[Limb], b: &[Limb]) -> bool {
    let (head, lines, tail) = stream::lines(r);
    let mut carry = limbs::<O>(head, a, b, false);
    let (mut a, mut b) = (after(a, head.len()), after(b, head.len()));
    for line in lines {
        if let (Some(x), Some(y)) = (a.first_chunk::<LINE>(), b.first_chunk::<LINE>()) {
            prefetch::ahead::<true>(x);
            prefetch::ahead::<true>(y);
            for k in 0..LINE / 2 {
                let sum;
                (sum, carry) = O::words(word(x, k), word(y, k), carry);
                line.stream(k, sum);
            }
        } else {
            carry = limbs::<O>(&mut line.0, a, b, carry);
        }
        (a, b) = (after(a, LINE), after(b, LINE));
    }
    limbs::<O>(tail, a, b, carry)
}

/// Computes as many limbs as `r` has, one at a time. Operands may end before.
#[inline(always)]
fn limbs<O: Linear>(r: &mut [Limb], a: &[Limb], b: &[Limb], mut carry: bool) -> bool {
    for (i, r) in r.iter_mut().enumerate() {
        let limb = |x: &[Limb]| x.get(i).copied().unwrap_or(0);
        (*r, carry) = O::limbs(limb(a), limb(b), carry);
    }
    carry
}

/// The limbs of `x` from `at` on.
#[inline(always)]
fn after(x: &[Limb], at: usize) -> &[Limb] {
    &x[at.min(x.len())..]
}

/// The limbs `2 k` and `2 k + 1` as a word.
#[inline(always)]
fn word<const N: usize>(x: &[Limb; N], k: usize) -> u64 {
    u64::from(x[2 * k]) | u64::from(x[2 * k + 1]) << LIMB_BITS
}

/// Computes the first `N` limbs of `r` from as many of `a` and `b`, two at a time. Returns the
/// carry out.
#[inline(always)]
fn both<O: Linear, const N: usize>(
    r: &mut [Limb],
    a: &[Limb; N],
    b: &[Limb; N],
    mut carry: bool,
) -> bool {
    let r = &mut r[..N];
    if N >= LINE {
        prefetch::ahead::<false>(a);
        prefetch::ahead::<false>(b);
    }
    for k in 0..N / 2 {
        let sum;
        (sum, carry) = O::words(word(a, k), word(b, k), carry);
        r[2 * k] = sum as Limb;
        r[2 * k + 1] = (sum >> LIMB_BITS) as Limb;
    }
    if N % 2 == 1 {
        (r[N - 1], carry) = O::limbs(a[N - 1], b[N - 1], carry);
    }
    carry
}
