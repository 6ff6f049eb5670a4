//! Stage 1 of GMP-ECM's parametrization 3 by Montgomery's ladder, a thread or some lanes for each curve; [`edwards`] has that of Edwards curves.
//!
//! The steps are those of `ladder.rs` of the crate `ecm`, which has the maths. All threads walk them
//! together: the scalar's bits are the same for all curves, and so is the modulus, a parameter
//! ([`bigint_kernels::field::lazy`]). Up to 16 limbs a thread has both points in registers. Above, they are
//! in shared memory ([`slots`]); above 32 limbs two to sixteen lanes share a curve.
//!
//! `a` has a curve's state, `q u w v` of `LIMBS` limbs each, and `r` gets the new one; `b` is `sigma`, one
//! limb; `c` is the scalar, one number for all. The bits `from - 1`, `from - 2`, ... `to` are walked.
//!
//! Cost of a bit: four products, four squares and a scale:
//! `4 (2 n^2 + n) + 4 * 1.5 (n^2 + n) + 2 n + 1` multiply-adds.

#![no_std]
#![feature(abi_ptx)]

mod arithmetic;
mod edwards;
#[path = "../../src/operations.rs"]
mod operations;
mod registers;
mod slots;

use bigint_core::kernel::BLOCK;
use bigint_core::{Arguments, Limb};
use bigint_kernels::field::lazy::{Element, Field};
use bigint_kernels::gpu::memory::{Number, Unit};
use bigint_kernels::gpu::window::{Slide, Window};
use bigint_kernels::montgomery::{load, store};
use bigint_kernels::thread::Batches;
use slots::ladder_in_slots;

/// What a launch tells beside its batches.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Scalars<const LIMBS: usize> {
    field: Field<LIMBS>,
    /// The bit above the first one that is walked.
    from: u32,
    /// The last bit.
    to: u32,
    /// 2: what the compiler does not know it does not unroll.
    two: u32,
}

/// The points on the way: `q u w v`.
type Points<const LIMBS: usize> = (
    Element<LIMBS, 2>,
    Element<LIMBS, 4>,
    Element<LIMBS, 2>,
    Element<LIMBS, 4>,
);

/// Walks the bits `from - 1` to `to`.
#[inline(always)]
fn walk<const LIMBS: usize>(
    field: &Field<LIMBS>,
    (mut q, mut u, mut w, mut v): Points<LIMBS>,
    sigma: Limb,
    scalar: Number<Unit>,
    (from, to): (u32, u32),
    batches: &Batches<Unit>,
) -> Points<LIMBS>
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    let (mut at, mut is_swapped, mut bits) = (from, 0, scalar.limb(from / 32));
    while at > to {
        at -= 1;
        if at % 32 == 31 {
            bits = scalar.limb(at / 32);
        }
        let bit = bits >> (at % 32) & 1;
        if bit != is_swapped {
            (q, w, u, v) = (w, q, v, u);
            is_swapped = bit;
        }
        // From 12 limbs on warps that drift apart would fetch the code again and again.
        if LIMBS >= 12 {
            batches.team().sync();
        }
        let s: Element<LIMBS, 6> = field.add(v, w);
        let f: Element<LIMBS, 6> = field.sub(v, w);
        let a: Element<LIMBS, 6> = field.add(u, q);
        let e: Element<LIMBS, 6> = field.sub(u, q);
        let (cb, da) = (field.mul(s, e), field.mul(f, a));
        let (aa, bb) = (field.square(a), field.square(e));
        q = field.mul(aa, bb);
        let k: Element<LIMBS, 4> = field.sub(aa, bb);
        let scaled: Element<LIMBS, 5> = field.scale(k, sigma);
        let sum: Element<LIMBS, 7> = field.add(scaled, bb);
        let product = field.mul(k, sum);
        u = Element::of_limbs(product.limbs());
        let sum: Element<LIMBS, 4> = field.add(da, cb);
        let difference: Element<LIMBS, 4> = field.sub(da, cb);
        w = field.square(sum);
        let square = field.square(difference);
        v = field.add(square, square);
    }
    if is_swapped == 1 {
        (q, w, u, v) = (w, q, v, u);
    }
    (q, u, w, v)
}

/// Walks the bits.
///
/// # Safety
/// As for [`Batches::new`].
#[inline(always)]
unsafe fn ladder<const LIMBS: usize>(arguments: &Arguments, scalars: &Scalars<LIMBS>)
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    let Scalars {
        field, from, to, ..
    } = scalars;
    // SAFETY: by this function's own contract.
    let batches = unsafe { Batches::<Unit>::new(arguments) };
    for work in batches.numbers_in_step() {
        let n = LIMBS as u32;
        let points = (
            Element::of_limbs(load(work.a, 0)),
            Element::of_limbs(load(work.a, n)),
            Element::of_limbs(load(work.a, 2 * n)),
            Element::of_limbs(load(work.a, 3 * n)),
        );
        let bits = (*from, *to);
        let (q, u, w, v) = walk(field, points, work.b.limb(0), work.c, bits, &batches);
        store(work.r, 0, q.limbs());
        store(work.r, n, u.limbs());
        store(work.r, 2 * n, w.limbs());
        store(work.r, 3 * n, v.limbs());
    }
}

/// Stage 1 modulo each thread's own number: `a` has it, `b` is `sigma` and `c` the scalar, both one for all;
/// `from` is the scalar's bits less one. `r` gets what stage 2 begins with: the number, 1, `(A + 2) / 4`, and
/// the point `x z`.
///
/// # Safety
/// As for [`Batches::new`].
#[inline(always)]
unsafe fn own_ladder<const LIMBS: usize>(arguments: &Arguments, from: u32)
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    // SAFETY: by this function's own contract.
    let batches = unsafe { Batches::<Unit>::new(arguments) };
    for work in batches.numbers_in_step() {
        let (n, sigma) = (LIMBS as u32, work.b.limb(0));
        let modulus = load(work.a, 0);
        let field = Field::<LIMBS>::of_modulus(modulus);
        let one = field.one();
        let double = |x: Element<LIMBS, 1>| field.reduce::<2>(field.add(x, x));
        let eight = double(double(double(one)));
        let nine: Element<LIMBS, 2> = field.add(eight, one);
        let d64: Element<LIMBS, 2> = field.scale(double(double(double(eight))), sigma);
        store(work.r, 0, modulus);
        store(work.r, n, one.limbs());
        store(work.r, 2 * n, field.scale::<1, 2>(one, sigma).limbs());
        // P, and 2 P = (9 : 64 d + 8).
        let points = (
            Element::of_limbs(double(one).limbs()),
            Element::of_limbs(one.limbs()),
            nine,
            field.add(d64, eight),
        );
        let (q, u, ..) = walk(&field, points, sigma, work.c, (from, 0), &batches);
        store(work.r, 3 * n, q.limbs());
        store(work.r, 4 * n, field.reduce(u).limbs());
    }
}

macro_rules! ladders {
    ($($leaf:ident: $($name:ident $limbs:literal)*;)*) => {$($(
        /// The ladder of a modulus of so many limbs, of which six bits are zero.
        ///
        /// # Safety
        /// As for [`Batches::new`]: a launch of blocks of [`BLOCK`] threads, with batches that are
        /// allocated and contiguous and results that overlap none of them.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name(arguments: Arguments, scalars: Scalars<$limbs>) {
            // SAFETY: by this function's own contract.
            unsafe { $leaf::<$limbs>(&arguments, &scalars) }
        }
    )*)*};
}

ladders! {
    ladder: ladder_4 4 ladder_8 8 ladder_12 12 ladder_16 16;
    ladder_in_slots: ladder_20 20 ladder_24 24 ladder_32 32;
}

macro_rules! walks {
    ($($leaf:ident: $($name:ident $limbs:literal)*;)*) => {$($(
        /// Stage 1 on Edwards curves, modulo a number of so many limbs, of which six bits are zero.
        ///
        /// # Safety
        /// As for [`Batches::new`]: a launch of blocks of [`BLOCK`] threads, with batches that are
        /// allocated and results that overlap none of them; above 16 limbs with shared memory for six numbers
        /// of each thread.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name(
            arguments: Arguments,
            scalars: edwards::Scalars<$limbs>,
        ) {
            // SAFETY: by this function's own contract.
            unsafe { edwards::$leaf::<$limbs>(&arguments, &scalars) }
        }
    )*)*};
}

walks! {
    edwards: edwards_4 4 edwards_8 8;
    edwards_in_one_loop: edwards_12 12 edwards_16 16;
    edwards_in_slots: edwards_20 20 edwards_24 24 edwards_32 32;
}

macro_rules! programs {
    ($($name:ident $limbs:literal)*) => {$(
        /// Steps over registers, modulo a number of so many limbs, of which six bits are zero.
        ///
        /// # Safety
        /// As for [`Batches::new`]: a launch of blocks of [`BLOCK`] threads, with batches that are
        /// allocated and results that overlap none of them.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name(
            arguments: Arguments,
            scalars: registers::Scalars<$limbs>,
        ) {
            // SAFETY: by this function's own contract.
            unsafe { registers::registers::<$limbs>(&arguments, &scalars) }
        }
    )*};
}

programs! {
    registers_4 4
    registers_8 8
    registers_12 12
    registers_16 16
    registers_20 20
    registers_24 24
    registers_32 32
}

macro_rules! by_lanes {
    ($($ladder:ident $walk:ident $program:ident $all:literal $lanes:literal $limbs:literal)*) => {$(
        /// The ladder of a modulus of so many limbs, of which six bits are zero, by lanes with so many limbs each.
        ///
        /// # Safety
        /// As for [`bigint_kernels::warp::Batches::new`]: a launch of blocks of [`BLOCK`] threads, of which so many share a
        /// number, with shared memory for six parts of numbers of each, batches that are allocated and contiguous, and
        /// results that overlap none of them.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $ladder(arguments: Arguments, scalars: Scalars<$all>) {
            // SAFETY: by this function's own contract.
            unsafe { slots::ladder_by_lanes::<$all, $lanes, $limbs>(&arguments, &scalars) }
        }

        /// Stage 1 on Edwards curves by the same lanes.
        ///
        /// # Safety
        /// As for the ladder; batches need not be contiguous.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $walk(
            arguments: Arguments,
            scalars: edwards::Scalars<$all>,
        ) {
            // SAFETY: by this function's own contract.
            unsafe { edwards::edwards_by_lanes::<$all, $lanes, $limbs>(&arguments, &scalars) }
        }

        /// Steps over registers by the same lanes.
        ///
        /// # Safety
        /// As for the ladder; no shared memory is needed, and batches need not be contiguous.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $program(
            arguments: Arguments,
            scalars: registers::Scalars<$all>,
        ) {
            // SAFETY: by this function's own contract.
            unsafe { registers::registers_by_lanes::<$all, $lanes, $limbs>(&arguments, &scalars) }
        }
    )*};
}

by_lanes! {
    ladder_48 edwards_48 registers_48 48 2 24
    ladder_64 edwards_64 registers_64 64 2 32
    ladder_72 edwards_72 registers_72 72 4 18
    ladder_96 edwards_96 registers_96 96 4 24
    ladder_144 edwards_144 registers_144 144 8 18
    ladder_192 edwards_192 registers_192 192 8 24
    ladder_288 edwards_288 registers_288 288 16 18
}

macro_rules! own {
    ($($ladder:ident $program:ident $limbs:literal)*) => {$(
        /// Stage 1 modulo each thread's own number of so many limbs, of which six bits are zero.
        ///
        /// # Safety
        /// As for [`Batches::new`]: a launch of blocks of [`BLOCK`] threads, with batches that are
        /// allocated and contiguous and results that overlap none of them.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $ladder(arguments: Arguments, from: u32) {
            // SAFETY: by this function's own contract.
            unsafe { own_ladder::<$limbs>(&arguments, from) }
        }

        /// Steps over registers modulo each thread's own number, the first register of `a`.
        ///
        /// # Safety
        /// As for [`Batches::new`]: a launch of blocks of [`BLOCK`] threads, with batches that are
        /// allocated and contiguous and results that overlap none of them.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $program(arguments: Arguments, launch: registers::Run) {
            // SAFETY: by this function's own contract.
            unsafe { registers::own_registers::<$limbs>(&arguments, &launch) }
        }
    )*};
}

own! {
    own_ladder_4 own_registers_4 4
    own_ladder_8 own_registers_8 8
    own_ladder_12 own_registers_12 12
    own_ladder_16 own_registers_16 16
    own_ladder_20 own_registers_20 20
}

/// The threads of a block.
const _: () = assert!(BLOCK == 128);
