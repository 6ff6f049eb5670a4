//! Kernels with every function of each field of the library.
//!
//! `a` and `b` are numbers, and `r` gets a row of numbers of the modulus's width for each of them: `a + b`, `a - b`,
//! `-a`, `7 a`, `a b`, `a^2`, `a` (but 1 where `a` equals `b`), `a^b`, `1 / a` and `1 / b`, all as the field has them: in
//! Montgomery's form, and not always reduced.

use bigint_core::{Arguments, Limb};
use bigint_kernels::field::lazy::{self, Element};
use bigint_kernels::field::slots::Slots;
use bigint_kernels::field::{Field, special};
use bigint_kernels::gpu::memory::Unit;
use bigint_kernels::gpu::shared::OfThreads;
use bigint_kernels::gpu::window::{Slide, Window};
use bigint_kernels::montgomery::{load, store};
use bigint_kernels::{thread, warp};

/// The values by a field whose elements know no bounds. `$limbs` is what a number has of limbs.
macro_rules! values {
    ($field:ident, $r:expr, $limbs:expr, $own:expr, $a:expr, $b:expr) => {{
        let (field, r, at) = (&$field, $r, $own);
        let (a, b) = (field.element($a), field.element($b));
        let [over_a, over_b] = field.inverses([a, b]);
        let are_equal = field.equal(a, b);
        store(r, at, field.add(a, b).limbs());
        store(r, $limbs + at, field.sub(a, b).limbs());
        store(r, 2 * $limbs + at, field.neg(a).limbs());
        store(r, 3 * $limbs + at, field.mul_small::<7>(a).limbs());
        store(r, 4 * $limbs + at, field.mul(a, b).limbs());
        store(r, 5 * $limbs + at, field.square(a).limbs());
        store(
            r,
            6 * $limbs + at,
            field.select(are_equal, field.one(), a).limbs(),
        );
        store(r, 7 * $limbs + at, field.pow(a, $b).limbs());
        store(r, 8 * $limbs + at, over_a.limbs());
        store(r, 9 * $limbs + at, over_b.limbs());
    }};
}

/// The values in fields of the batch: `c` has the moduli.
///
/// # Safety
/// As for [`crate::double_points`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn own_values(arguments: Arguments) {
    // SAFETY: by this function's own contract.
    for work in unsafe { thread::Batches::<Unit>::new(&arguments) }.numbers() {
        let field = Field::<6>::new(load(work.c, 0));
        values!(field, work.r, 6, 0, load(work.a, 0), load(work.b, 0));
    }
}

/// The values in fields of the batch, by four lanes with two limbs each.
///
/// # Safety
/// As for [`warp::Batches::new`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn values_by_lanes(arguments: Arguments) {
    // SAFETY: by this function's own contract.
    for work in unsafe { warp::Batches::<4, Unit>::new(&arguments) }.numbers() {
        let field = Field::<2, 4>::by_lanes(work.group, work.c);
        let own = field.own();
        let (a, b) = (load(work.a, own), load(work.b, own));
        values!(field, work.r, 8, own, a, b);
    }
}

/// `r = (a b + a - b)^2 / 2` modulo `c`, odd numbers of up to 8192 bits, by the 32 lanes of a warp.
///
/// # Safety
/// As for [`warp::Batches::new`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn long_values(arguments: Arguments) {
    // SAFETY: by this function's own contract.
    for work in unsafe { warp::Batches::<32, Unit>::new(&arguments) }.numbers() {
        let field = Field::<8, 32>::by_lanes(work.group, work.c);
        let a = field.element(load(work.a, field.own()));
        let b = field.element(load(work.b, field.own()));
        let sum = field.add(field.mul(a, b), field.sub(a, b));
        let value = field.halve(field.square(sum));
        store(work.r, field.own(), field.limbs(value));
    }
}

/// The values by a special field. `s` gets the inverse of `a`, or of 1 where it is 0, by one inverse for four threads.
///
/// # Safety
/// As for [`crate::double_points`], in whole blocks, with shared memory for eight limbs of each thread.
#[inline(always)]
unsafe fn special_values<const LIMBS: usize>(arguments: &Arguments, field: special::Field<LIMBS>)
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    // SAFETY: by this function's own contract.
    let batches = unsafe { thread::Batches::<Unit>::new(arguments) };
    // SAFETY: as above.
    let room = unsafe { OfThreads::new(0) };
    for work in batches.numbers_in_step() {
        values!(
            field,
            work.r,
            LIMBS as u32,
            0,
            load(work.a, 0),
            load(work.b, 0)
        );
        let a = field.element(load(work.a, 0));
        let a = field.select(field.is_zero(a), field.one(), a);
        let inverse = field.inverses_of_block(batches.team(), room, 1, a);
        store(work.s, 0, field.limbs(inverse));
    }
}

macro_rules! special {
    ($($name:ident $limbs:literal $prime:expr;)*) => {$(
        /// The values modulo this prime.
        ///
        /// # Safety
        /// As for [`special_values`].
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name(arguments: Arguments) {
            const FIELD: special::Field<$limbs> = special::Field::constant($prime);
            // SAFETY: by this function's own contract.
            unsafe { special_values::<$limbs>(&arguments, FIELD) }
        }
    )*};
}

special! {
    // 2^256 - 2^32 - 977, 2^255 - 19, 2^192 - 237 and 2^107 - 1.
    special_values_secp256k1 8 [!976, !1, !0, !0, !0, !0, !0, !0];
    special_values_25519 8 [!18, !0, !0, !0, !0, !0, !0, !0 >> 1];
    special_values_192 6 [!236, !0, !0, !0, !0, !0];
    special_values_107 4 [!0, !0, !0, !0 >> 21];
}

/// `a - b`, `a b`, `a b + c`, `a a - b - c` and `a a`, and the number of `a`, modulo the prime of secp256k1 in the field of public numbers.
///
/// # Safety
/// As for [`crate::double_points`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn public_values(arguments: Arguments) {
    const FIELD: special::Field<8, true> =
        special::Field::constant([!976, !1, !0, !0, !0, !0, !0, !0]);
    // SAFETY: by this function's own contract.
    for work in unsafe { thread::Batches::<Unit>::new(&arguments) }.numbers() {
        let [a, b, c] = [work.a, work.b, work.c].map(|number| FIELD.element(load(number, 0)));
        store(work.r, 0, FIELD.sub(a, b).limbs());
        store(work.r, 8, FIELD.mul(a, b).limbs());
        store(work.r, 16, FIELD.mul_more(a, b, c).limbs());
        store(work.r, 24, FIELD.square_less(a, [b, c]).limbs());
        store(work.r, 32, FIELD.square(a).limbs());
        store(work.r, 40, FIELD.limbs(a));
    }
}

/// The values by a lazy field, of `a` and `b` below 32 moduli; the exponent is `b` or `b + 1`, whichever is odd. `s` gets `a b` as a number, whose way is by shared memory.
///
/// # Safety
/// As for [`crate::double_points`], with shared memory for two numbers of each thread.
#[inline(always)]
unsafe fn lazy_values<const LIMBS: usize>(arguments: &Arguments, field: &lazy::Field<LIMBS>)
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    // SAFETY: by this function's own contract.
    let batches = unsafe { thread::Batches::<Unit>::new(arguments) };
    let slots = Slots::<LIMBS>::new(batches.column(Slots::<LIMBS>::pairs(2)));
    let (n, one, radix) = (LIMBS as u32, field.one(), field.radix());
    for work in batches.numbers() {
        let mut i = 0;
        while i < 2 {
            let number = if i == 0 { work.a } else { work.b };
            let number: Element<LIMBS, 32> = Element::of_limbs(load(number, 0));
            slots.set(i, field.mul(number, radix).limbs());
            i += 1;
        }
        let a: Element<LIMBS, 2> = Element::of_limbs(slots.get(0));
        let b: Element<LIMBS, 2> = Element::of_limbs(slots.get(1));
        let sum: Element<LIMBS, 4> = field.add(a, b);
        let difference: Element<LIMBS, 4> = field.sub(a, b);
        let negative: Element<LIMBS, 4> = field.neg(a);
        let seven: Element<LIMBS, 14> = field.mul_small::<7, 2, 14>(a);
        let product = field.mul(a, b);
        let [over_a, over_b] = field.inverses([a, b]);
        let are_equal = Window::<LIMBS>::are_zero(field.reduce(difference).limbs());
        store(work.r, 0, sum.limbs());
        store(work.r, n, difference.limbs());
        store(work.r, 2 * n, negative.limbs());
        store(work.r, 3 * n, seven.limbs());
        store(work.r, 4 * n, product.limbs());
        store(work.r, 5 * n, field.square(a).limbs());
        store(
            work.r,
            6 * n,
            field.select(are_equal, one.widened(), a).limbs(),
        );
        let mut e = load(work.b, 0);
        e[0] |= 1;
        store(work.r, 7 * n, field.pow(a, e).limbs());
        store(work.r, 8 * n, over_a.limbs());
        store(work.r, 9 * n, over_b.limbs());
        store(work.s, 0, field.limbs(product));
    }
}

/// The values modulo a number that the launch tells.
///
/// # Safety
/// As for [`lazy_values`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn lazy_values_8(arguments: Arguments, field: lazy::Field<8>) {
    // SAFETY: by this function's own contract.
    unsafe { lazy_values::<8>(&arguments, &field) }
}

/// The values modulo `2^107 - 1`, which the compiler knows.
///
/// # Safety
/// As for [`lazy_values`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn lazy_values_4(arguments: Arguments) {
    const FIELD: lazy::Field<4> = lazy::Field::constant([!0, !0, !0, !0 >> 21]);
    // SAFETY: by this function's own contract.
    unsafe { lazy_values::<4>(&arguments, &FIELD) }
}

macro_rules! products {
    ($($name:ident $limbs:literal)*) => {$(
        /// `r = a b / R` and `s = a a / R` modulo `c`, which has six spare bits, for `a` and `b` below `8 c`. Results are
        /// below `2 c`.
        ///
        /// # Safety
        /// As for [`crate::double_points`].
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name(arguments: Arguments) {
            // SAFETY: by this function's own contract.
            for work in unsafe { thread::Batches::<Unit>::new(&arguments) }.numbers() {
                let field = lazy::Field::<$limbs>::of_modulus(load(work.c, 0));
                let a: Element<$limbs, 8> = Element::of_limbs(load(work.a, 0));
                let b: Element<$limbs, 8> = Element::of_limbs(load(work.b, 0));
                store(work.r, 0, field.mul(a, b).limbs());
                store(work.s, 0, field.square(a).limbs());
            }
        }
    )*};
}

products! {
    products_2 2 products_6 6 products_10 10 products_14 14 products_18 18
    products_22 22 products_26 26 products_30 30
}
