//! Carry-lookahead addition and subtraction, 16 limbs at a time.
//!
//! This is `reference::add::carry_lookahead` [Langer 2015], [Bringgaard 2024] with the lanes of an
//! AVX-512 vector in place of those of a warp. A mask `g` has the limbs that generate a carry, and
//! a mask `p` those that propagate one. No limb is in both, so one scalar addition resolves all
//! carries: the limbs that a carry enters are `(2 g + c + p) ^ p`, where `c` is the carry from
//! below, and bit 16 of the sum is the carry to the next vector.
//!
//! A batch is one stretch of limbs, and its vectors need not begin where numbers do. The top limb
//! of each number is cleared in `g` and `p`, so no carry leaves a number. A vector holds, for
//! example, eight numbers of two limbs or a part of a longer number. Vectors begin at the lines of
//! the result's memory, so that a result larger than the caches can be written past them in whole
//! lines. Operands narrower than the result are spread out as they are loaded. If the result is one
//! limb wider than both operands, the sums are computed without that limb and spread out
//! afterwards.
//!
//! Cost: 8 to 10 clocks for a vector if the result is as wide as the operands, else 15 to 25.
//! Memory takes 20 or more.

#![allow(unsafe_code)] // entering AVX-512 code, its loads and stores

use core::arch::x86_64::*;

use bigint_core::Limb;

use super::lanes::Avx512;
use super::packed::{Packed, Stretch};
use super::stream::Line;
use super::{prefetch, stream};

/// The limbs of a vector.
const LANES: usize = 16;

/// The number of lines inside a number from which on [`run`] computes them.
const RUN: usize = 2;

/// The number of limbs of a result from which on finding where numbers end is worth its time.
const SHORT: usize = 256;

/// `r = a + b`, or `a - b` if `is_sub`, for every number of a stretch, and the carries or borrows.
/// The result is written past the caches if `is_streamed`.
pub(super) fn stretch(_: Avx512, is_sub: bool, stretch: Stretch<'_>, is_streamed: bool) {
    // SAFETY: the token proves that the machine has the instructions.
    unsafe {
        match (is_sub, is_streamed) {
            (false, false) => compiled::<false, false>(stretch),
            (false, true) => compiled::<false, true>(stretch),
            (true, false) => compiled::<true, false>(stretch),
            (true, true) => compiled::<true, true>(stretch),
        }
    }
}

#[target_feature(enable = "avx512f,avx512dq,bmi2")]
fn compiled<const SUB: bool, const STREAMED: bool>(stretch: Stretch<'_>) {
    let Stretch {
        r,
        width,
        operands: [a, b],
        carries,
    } = stretch;
    let widths = [a.width, b.width];
    let is_packed = widths == [width; 2];
    let is_appended = widths == [width - 1; 2] && LANES.is_multiple_of(width - 1);
    if r.len() < SHORT || !(STREAMED || is_packed || is_appended || width <= LANES) {
        return one_by_one::<SUB>(r, width, [a, b], carries);
    }
    if is_appended && !STREAMED {
        return appended::<SUB>(r, width, [a, b], carries);
    }
    let mut sums = Sums::<SUB, STREAMED> {
        width,
        widths,
        a: a.limbs,
        b: b.limbs,
        limb: 0,
        carry: 0,
        carries: carries.unwrap_or_default(),
    };
    let (head, lines, tail) = stream::lines(r);
    sums.rest(head);
    let lines = match (is_packed, width <= LANES) {
        (true, true) => sums.packed::<true>(lines),
        (true, false) if width <= SHORT => sums.packed::<false>(lines),
        (false, true) => sums.spread(lines),
        (_, false) => sums.wide(lines),
    };
    for line in lines {
        sums.rest(&mut line.0);
    }
    sums.rest(tail);
    if STREAMED {
        stream::fence();
    }
}

/// Adds or subtracts numbers of any widths, one after another.
#[target_feature(enable = "avx512f,avx512dq,bmi2")]
fn one_by_one<const SUB: bool>(
    r: &mut [Limb],
    width: usize,
    [a, b]: [Packed<'_>; 2],
    mut carries: Option<&mut [Limb]>,
) {
    for (i, r) in r.chunks_exact_mut(width).enumerate() {
        let carry = number::<SUB>(r, a.number(i), b.number(i));
        if let Some(carries) = &mut carries {
            carries[i] = carry;
        }
    }
}

/// Adds or subtracts numbers if one or more operands fill a vector and the result is one limb
/// wider. The sums are spread out, and the carries are put in between.
#[target_feature(enable = "avx512f,avx512dq,bmi2")]
fn appended<const SUB: bool>(
    r: &mut [Limb],
    width: usize,
    [a, b]: [Packed<'_>; 2],
    carries: Option<&mut [Limb]>,
) {
    let count = LANES / (width - 1);
    // The source of each limb of the result: `i` below 16 is lane `i` of the sums, and `i` from 16
    // on is lane `i - 16` of the carries.
    let mut sources = [Sources::default(); 2];
    let mut top = 0;
    for number in 0..count {
        let first = number * (width - 1);
        let last = first + width - 2;
        for (limb, lane) in (first..=last).chain([LANES + last]).enumerate() {
            let at = number * width + limb;
            sources[at / LANES].0[at % LANES] = lane as u32;
        }
        top |= 1 << last;
    }
    let vectors = [a, b].map(|x| x.limbs.as_chunks::<LANES>().0);
    let done = vectors[0].len() * count;
    let (now, rest) = r.split_at_mut(done * width);
    let vectors = vectors[0].iter().zip(vectors[1]);
    for (r, (a, b)) in now.chunks_exact_mut(count * width).zip(vectors) {
        prefetch::ahead::<false>(a);
        prefetch::ahead::<false>(b);
        let halves = Halves::new::<SUB>(load(a), load(b));
        let (entering, _) = halves.carries(first(LANES) & !top, 0, LANES);
        let leaving = (halves.leaving(entering) & top) as __mmask16;
        let beyond = _mm512_maskz_set1_epi32(leaving, if SUB { -1 } else { 1 });
        let sums = halves.settle::<SUB>(entering);
        let (low, high) = r.split_at_mut(LANES);
        store(
            low,
            _mm512_permutex2var_epi32(sums, sources[0].load(), beyond),
        );
        store(
            high,
            _mm512_permutex2var_epi32(sums, sources[1].load(), beyond),
        );
    }
    let count = rest.len() / width;
    one_by_one::<SUB>(
        rest,
        width,
        [a.numbers(done, count), b.numbers(done, count)],
        None,
    );
    // A sum has a limb for its carry, so no carry leaves it. A borrow also leaves the result.
    for (i, carry) in carries.into_iter().flatten().enumerate() {
        *carry = if SUB { r[i * width + width - 1] & 1 } else { 0 };
    }
}

/// The state of a stretch that has been computed in part.
struct Sums<'a, const SUB: bool, const STREAMED: bool> {
    /// The limbs of a number of the result. Operands are at most as wide.
    width: usize,
    widths: [usize; 2],
    /// The parts of the operands that are still to be added.
    a: &'a [Limb],
    b: &'a [Limb],
    /// The index of the next limb in its number.
    limb: usize,
    /// The carry into the next limb.
    carry: u32,
    /// The carry words of the numbers that have not ended; empty if the caller wants none.
    carries: &'a mut [Limb],
}

// The functions for different kinds of numbers are not inlined into a common caller, as together
// they have more variables than the machine has registers.
impl<const SUB: bool, const STREAMED: bool> Sums<'_, SUB, STREAMED> {
    /// Computes lines of numbers that are as wide as both operands: at most as wide as a line if
    /// `NARROW`, else wider. Leaves no line.
    #[target_feature(enable = "avx512f,avx512dq,bmi2")]
    #[inline(never)]
    fn packed<'r, const NARROW: bool>(&mut self, lines: &'r mut [Line]) -> &'r mut [Line] {
        let width = self.width;
        // The lanes of top limbs, in a vector and 16 lanes more, if a number begins in lane 0.
        let mut tops = 0;
        for lane in (width - 1..2 * LANES).step_by(width) {
            tops |= 1_u32 << lane;
        }
        let step = LANES % width;
        let (mut limb, mut carry) = (self.limb, self.carry);
        let limbs = LANES * lines.len();
        let (a, a_rest) = self.a.split_at(limbs);
        let (b, b_rest) = self.b.split_at(limbs);
        let (a, b) = (a.as_chunks::<LANES>().0, b.as_chunks::<LANES>().0);
        for ((line, a), b) in lines.iter_mut().zip(a).zip(b) {
            prefetch::ahead::<STREAMED>(a);
            prefetch::ahead::<STREAMED>(b);
            let top = if NARROW {
                tops >> limb & first(LANES)
            } else {
                u32::from(width - limb <= LANES) << ((width - limb - 1) % LANES)
            };
            limb += step;
            limb = limb.min(limb.wrapping_sub(width));
            let halves = Halves::new::<SUB>(load(a), load(b));
            let entering;
            (entering, carry) = halves.carries(first(LANES) & !top, carry, LANES);
            self.hand_out(&halves, entering, top);
            write::<STREAMED>(line, halves.settle::<SUB>(entering));
        }
        (self.a, self.b) = (a_rest, b_rest);
        (self.limb, self.carry) = (limb, carry);
        &mut []
    }

    /// Computes lines of numbers that are at most as wide as a line. Operands may be narrower.
    /// Leaves the lines for which an operand has less than 16 limbs left.
    #[target_feature(enable = "avx512f,avx512dq,bmi2")]
    #[inline(never)]
    fn spread<'r>(&mut self, mut lines: &'r mut [Line]) -> &'r mut [Line] {
        let mut spreads = [Spread::default(); LANES];
        for (limb, spread) in spreads[..self.width].iter_mut().enumerate() {
            *spread = Spread::new(Cut::new(self.width, self.widths, limb, LANES));
        }
        let step = LANES % self.width;
        let (mut a, mut b) = (self.a, self.b);
        let (mut limb, mut carry) = (self.limb, self.carry);
        while let Some(a_limbs) = a.first_chunk::<LANES>()
            && let Some(b_limbs) = b.first_chunk::<LANES>()
            && let Some((line, later)) = std::mem::take(&mut lines).split_first_mut()
        {
            let Spread { cut, sources } = &spreads[limb % LANES];
            limb += step;
            limb = limb.min(limb.wrapping_sub(self.width));
            prefetch::ahead::<STREAMED>(a);
            prefetch::ahead::<STREAMED>(b);
            let halves = Halves::new::<SUB>(sources[0].pick(a_limbs), sources[1].pick(b_limbs));
            let entering;
            (entering, carry) = halves.carries(first(LANES) & !cut.top, carry, LANES);
            self.hand_out(&halves, entering, cut.top);
            write::<STREAMED>(line, halves.settle::<SUB>(entering));
            (a, b) = (after(a, cut.taken[0]), after(b, cut.taken[1]));
            lines = later;
        }
        (self.a, self.b) = (a, b);
        (self.limb, self.carry) = (limb, carry);
        lines
    }

    /// Computes lines of numbers that are wider than a line. Leaves no line.
    #[target_feature(enable = "avx512f,avx512dq,bmi2")]
    #[inline(never)]
    fn wide<'r>(&mut self, mut lines: &'r mut [Line]) -> &'r mut [Line] {
        let (width, widths) = (self.width, self.widths);
        let (mut a, mut b) = (self.a, self.b);
        let (mut limb, mut carry) = (self.limb, self.carry);
        // Limbs that both operands have and that are not the top one.
        let inner = widths[0].min(widths[1]).min(width - 1);
        while !lines.is_empty() {
            let inside = inner.saturating_sub(limb) / LANES;
            if inside >= RUN {
                let now = inside.min(lines.len());
                let (lines_now, lines_later) = std::mem::take(&mut lines).split_at_mut(now);
                let (a_now, a_later) = a.split_at(now * LANES);
                let (b_now, b_later) = b.split_at(now * LANES);
                carry = run::<SUB, STREAMED>(lines_now, a_now, b_now, carry);
                limb += now * LANES;
                (lines, a, b) = (lines_later, a_later, b_later);
            } else if let Some((line, later)) = std::mem::take(&mut lines).split_first_mut() {
                let cut = Cut::wide(width, widths, limb);
                prefetch::ahead::<STREAMED>(a);
                prefetch::ahead::<STREAMED>(b);
                let halves = Halves::new::<SUB>(expand(cut.lanes[0], a), expand(cut.lanes[1], b));
                let entering;
                (entering, carry) = halves.carries(first(LANES) & !cut.top, carry, LANES);
                self.hand_out(&halves, entering, cut.top);
                write::<STREAMED>(line, halves.settle::<SUB>(entering));
                (a, b) = (after(a, cut.taken[0]), after(b, cut.taken[1]));
                limb = cut.next;
                lines = later;
            }
        }
        (self.a, self.b) = (a, b);
        (self.limb, self.carry) = (limb, carry);
        lines
    }

    /// Computes the limbs before or after the lines, or those of a line that was left.
    #[target_feature(enable = "avx512f,avx512dq,bmi2")]
    #[inline(never)]
    fn rest(&mut self, r: &mut [Limb]) {
        for r in r.chunks_mut(LANES) {
            let cut = Cut::new(self.width, self.widths, self.limb, r.len());
            let (a, b) = (expand(cut.lanes[0], self.a), expand(cut.lanes[1], self.b));
            (self.a, self.b) = (after(self.a, cut.taken[0]), after(self.b, cut.taken[1]));
            self.limb = cut.next;
            let halves = Halves::new::<SUB>(a, b);
            let inner = first(r.len()) & !cut.top;
            let (entering, carry) = halves.carries(inner, self.carry, r.len());
            self.carry = carry;
            self.hand_out(&halves, entering, cut.top);
            store(r, halves.settle::<SUB>(entering));
        }
    }

    /// Writes the carries out of the lanes `top`, if the caller wants carries.
    #[target_feature(enable = "avx512f,avx512dq,bmi2")]
    #[inline]
    fn hand_out(&mut self, halves: &Halves, entering: u32, top: u32) {
        if top == 0 || self.carries.is_empty() {
            return;
        }
        let leaving = halves.leaving(entering) & top;
        let words = _mm512_maskz_set1_epi32(leaving as __mmask16, 1);
        let words = _mm512_maskz_compress_epi32(top as __mmask16, words);
        let ended = top.count_ones() as usize;
        let (ended, later) = std::mem::take(&mut self.carries).split_at_mut(ended);
        store(ended, words);
        self.carries = later;
    }
}

/// The limbs of numbers that stand in the lanes of a result's vector.
#[derive(Clone, Copy, Default)]
struct Cut {
    /// The lanes that take a limb of an operand, for each operand, and their count.
    lanes: [u32; 2],
    taken: [usize; 2],
    /// The lanes with the top limb of a number.
    top: u32,
    /// The index in its number of the limb with which the next vector begins.
    next: usize,
}

impl Cut {
    /// The cut of the first `count` lanes of a vector that begins with limb `limb` of a number.
    fn new(width: usize, widths: [usize; 2], limb: usize, count: usize) -> Cut {
        let mut cut = Cut {
            next: limb,
            ..Cut::default()
        };
        for lane in 0..count {
            for (i, &width) in widths.iter().enumerate() {
                cut.lanes[i] |= u32::from(cut.next < width) << lane;
                cut.taken[i] += usize::from(cut.next < width);
            }
            cut.next += 1;
            if cut.next == width {
                cut.top |= 1 << lane;
                cut.next = 0;
            }
        }
        cut
    }

    /// The cut of a whole vector of numbers that are wider than a vector, so that at most one ends
    /// in it. It is computed without a branch.
    #[inline(always)]
    fn wide(width: usize, widths: [usize; 2], limb: usize) -> Cut {
        let left = width - limb;
        let is_end = left <= LANES;
        // The limbs of this number and of the next one.
        let this = left.min(LANES);
        let next = LANES - this;
        let this_taken = widths.map(
            #[inline(always)]
            |width| width.saturating_sub(limb).min(this),
        );
        let next_taken = widths.map(
            #[inline(always)]
            |width| width.min(next),
        );
        let lanes = |i: usize| first(this_taken[i]) | first(next_taken[i]) << this;
        Cut {
            lanes: [lanes(0), lanes(1)],
            taken: [this_taken[0] + next_taken[0], this_taken[1] + next_taken[1]],
            top: u32::from(is_end) << (this - 1),
            next: if is_end { next } else { limb + LANES },
        }
    }
}

/// A [`Cut`], and which limbs of the operands its lanes take.
#[derive(Clone, Copy, Default)]
struct Spread {
    cut: Cut,
    sources: [Sources; 2],
}

/// The index of the limb that each lane takes from a vector's limbs, or 16 for a lane that takes
/// zero.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
struct Sources([u32; LANES]);

impl Spread {
    fn new(cut: Cut) -> Self {
        let sources = cut.lanes.map(|lanes| {
            let mut sources = Sources([LANES as u32; LANES]);
            let mut taken = 0;
            for (lane, source) in sources.0.iter_mut().enumerate() {
                if lanes >> lane & 1 == 1 {
                    *source = taken;
                    taken += 1;
                }
            }
            sources
        });
        Spread { cut, sources }
    }
}

impl Sources {
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn load(&self) -> __m512i {
        // SAFETY: the array has the 64 bytes that are read, and is aligned to as many.
        unsafe { _mm512_load_si512(core::ptr::from_ref(self).cast()) }
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn pick(&self, limbs: &[Limb; LANES]) -> __m512i {
        _mm512_permutex2var_epi32(load(limbs), self.load(), _mm512_setzero_si512())
    }
}

/// The mask of the first `count` of 16 lanes.
#[inline(always)]
fn first(count: usize) -> u32 {
    (1 << count) - 1
}

/// Adds or subtracts the lines of one number that lie inside both operands. Returns the carry out.
#[target_feature(enable = "avx512f,avx512dq,bmi2")]
#[inline]
fn run<const SUB: bool, const STREAMED: bool>(
    lines: &mut [Line],
    a: &[Limb],
    b: &[Limb],
    mut carry: u32,
) -> u32 {
    let vectors = a.as_chunks().0.iter().zip(b.as_chunks().0);
    for (line, (a, b)) in lines.iter_mut().zip(vectors) {
        prefetch::ahead::<STREAMED>(a);
        prefetch::ahead::<STREAMED>(b);
        let halves = Halves::new::<SUB>(load(a), load(b));
        let entering;
        (entering, carry) = halves.carries(first(LANES), carry, LANES);
        write::<STREAMED>(line, halves.settle::<SUB>(entering));
    }
    carry
}

/// Adds or subtracts one number whose operands have any lengths. Returns the carry or borrow out.
#[target_feature(enable = "avx512f,avx512dq,bmi2")]
#[inline]
fn number<const SUB: bool>(r: &mut [Limb], a: &[Limb], b: &[Limb]) -> Limb {
    let mut carry = 0;
    let whole = r.len().min(a.len()).min(b.len()) / LANES * LANES;
    let (r, r_rest) = r.split_at_mut(whole);
    let (a, a_rest) = a.split_at(whole);
    let (b, b_rest) = b.split_at(whole);
    let vectors = a.as_chunks().0.iter().zip(b.as_chunks().0);
    for (r, (a, b)) in r.as_chunks_mut::<LANES>().0.iter_mut().zip(vectors) {
        prefetch::ahead::<false>(a);
        prefetch::ahead::<false>(b);
        let halves = Halves::new::<SUB>(load(a), load(b));
        let entering;
        (entering, carry) = halves.carries(first(LANES), carry, LANES);
        store(r, halves.settle::<SUB>(entering));
    }
    if a_rest.is_empty() && b_rest.is_empty() {
        return beyond::<SUB>(r_rest, carry);
    }
    for (i, r) in r_rest.chunks_mut(LANES).enumerate() {
        let (a, b) = (after(a_rest, i * LANES), after(b_rest, i * LANES));
        let halves = Halves::new::<SUB>(load_first(a), load_first(b));
        let entering;
        (entering, carry) = halves.carries(first(r.len()), carry, r.len());
        store(r, halves.settle::<SUB>(entering));
    }
    carry
}

/// Sets the limbs above both operands by the carry that enters them. Returns the carry out.
#[inline(always)]
fn beyond<const SUB: bool>(r: &mut [Limb], carry: Limb) -> Limb {
    if SUB {
        r.fill(carry.wrapping_neg());
        return carry;
    }
    r.fill(0);
    r.first_mut().map_or(carry, |first| {
        *first = carry;
        0
    })
}

/// The limbs of `x` from `at` on.
#[inline(always)]
fn after(x: &[Limb], at: usize) -> &[Limb] {
    &x[at.min(x.len())..]
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(x: &[Limb; LANES]) -> __m512i {
    // SAFETY: the array has the 64 bytes that are read.
    unsafe { _mm512_loadu_epi32(x.as_ptr().cast()) }
}

/// The first 16 limbs of `x`, or zeros beyond its end.
#[target_feature(enable = "avx512f")]
#[inline]
fn load_first(x: &[Limb]) -> __m512i {
    match x.first_chunk() {
        Some(x) => load(x),
        // SAFETY: no more limbs are read than `x` has.
        None => unsafe { _mm512_maskz_loadu_epi32(first(x.len()) as __mmask16, x.as_ptr().cast()) },
    }
}

/// The first limbs of `x`, in order, in the lanes of the mask `lanes`, and zeros in the others.
#[target_feature(enable = "avx512f")]
#[inline]
fn expand(lanes: u32, x: &[Limb]) -> __m512i {
    _mm512_maskz_expand_epi32(lanes as __mmask16, load_first(x))
}

/// Stores as many lanes as `r` has limbs, at most 16.
#[target_feature(enable = "avx512f")]
#[inline]
fn store(r: &mut [Limb], x: __m512i) {
    let lanes = first(r.len().min(LANES)) as __mmask16;
    // SAFETY: no more limbs are written than `r` has.
    unsafe { _mm512_mask_storeu_epi32(r.as_mut_ptr().cast(), lanes, x) };
}

#[target_feature(enable = "avx512f")]
#[inline]
fn write<const STREAMED: bool>(line: &mut Line, x: __m512i) {
    let line = core::ptr::from_mut(line).cast();
    // SAFETY: a line is 64 bytes, aligned to as many.
    unsafe {
        if STREAMED {
            _mm512_stream_si512(line, x);
        } else {
            _mm512_store_si512(line, x);
        }
    }
}

/// Sums or differences of limbs before carries are added.
struct Halves {
    limbs: __m512i,
    /// The lanes that a carry leaves whatever enters them.
    generate: u32,
    /// The lanes that a carry leaves if one enters them. None of them is in `generate`.
    propagate: u32,
}

impl Halves {
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn new<const SUB: bool>(a: __m512i, b: __m512i) -> Self {
        let (limbs, generate, propagate) = if SUB {
            let equal = _mm512_cmpeq_epi32_mask(a, b);
            let borrow = _mm512_cmplt_epu32_mask(a, b);
            (_mm512_sub_epi32(a, b), borrow, equal)
        } else {
            let sum = _mm512_add_epi32(a, b);
            let full = _mm512_cmpeq_epi32_mask(sum, _mm512_set1_epi32(-1));
            (sum, _mm512_cmplt_epu32_mask(sum, a), full)
        };
        Halves {
            limbs,
            generate: generate.into(),
            propagate: propagate.into(),
        }
    }

    /// The lanes that a carry enters, and the carry out of lane `count - 1`. `carry` enters the
    /// first lane, and no carry leaves a lane outside of `inner`, which has no lane above
    /// `count - 1`.
    #[inline(always)]
    fn carries(&self, inner: u32, carry: u32, count: usize) -> (u32, u32) {
        let (generate, propagate) = (self.generate & inner, self.propagate & inner);
        let sum = (2 * generate + propagate) + carry;
        (sum ^ propagate, sum >> count)
    }

    /// The lanes that a carry leaves.
    #[inline(always)]
    fn leaving(&self, entering: u32) -> u32 {
        self.generate | self.propagate & entering
    }

    /// The limbs with the carries added.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn settle<const SUB: bool>(&self, entering: u32) -> __m512i {
        let lanes = entering as __mmask16;
        let one = _mm512_set1_epi32(1);
        if SUB {
            _mm512_mask_sub_epi32(self.limbs, lanes, self.limbs, one)
        } else {
            _mm512_mask_add_epi32(self.limbs, lanes, self.limbs, one)
        }
    }
}
