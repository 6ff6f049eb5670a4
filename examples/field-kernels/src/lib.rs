//! Kernels that compute in a prime field, which a thread has in its registers:
//! [`double_points`] in one that the compiler knows, [`rational_values`] in those of a batch; [`values`] has every function
//! of each kind of field.

#![no_std]
#![feature(abi_ptx)]

pub mod values;

use bigint_core::{Arguments, Limb};
use bigint_kernels::field::Field;
use bigint_kernels::gpu::memory::Unit;
use bigint_kernels::montgomery::{load, store};
use bigint_kernels::thread::Batches;

/// The field of secp256k1: modulo `2^256 - 2^32 - 977`.
const FIELD: Field<8> = Field::constant([
    0xffff_fc2f,
    0xffff_fffe,
    0xffff_ffff,
    0xffff_ffff,
    0xffff_ffff,
    0xffff_ffff,
    0xffff_ffff,
    0xffff_ffff,
]);

/// Points of the elliptic curve secp256k1, `y^2 = x^3 + 7`, doubled as often as is asked:
/// `2^k P` for each point `P` of a batch. `a` and `b` are its coordinates, the one limb of `c`
/// is `k`; `r` and `s` are the coordinates of the result. No point doubles to infinity: their
/// number is an odd prime.
///
/// They are doubled in Jacobian coordinates, where `(X : Y : Z)` stands for `x = X / Z^2`,
/// `y = Y / Z^3`, without a division (Lange and Bernstein's dbl-2009-l, of curves without a
/// term in `x`):
///
/// ```text
/// A = X^2, B = Y^2, C = B^2, S = 2 ((X + B)^2 - A - C), M = 3 A
/// X' = M^2 - 2 S,  Y' = M (S - X') - 8 C,  Z' = 2 Y Z
/// ```
///
/// Five squares and two products each; one inverse in the end.
///
/// # Safety
/// As for [`Batches::new`]: a launch of whole warps, one thread to a worker, with batches
/// that are allocated and contiguous and results that overlap none of them.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn double_points(arguments: Arguments) {
    // SAFETY: by this function's own contract.
    for work in unsafe { Batches::<Unit>::new(&arguments) }.numbers() {
        let mut x = FIELD.element(load(work.a, 0));
        let mut y = FIELD.element(load(work.b, 0));
        let mut z = FIELD.one();
        let mut left = work.c.limb(0);
        while left > 0 {
            let (a, b) = (FIELD.square(x), FIELD.square(y));
            let c = FIELD.square(b);
            let sum = FIELD.square(FIELD.add(x, b));
            let s = FIELD.double(FIELD.sub(FIELD.sub(sum, a), c));
            let m = FIELD.add(FIELD.double(a), a);
            z = FIELD.double(FIELD.mul(y, z));
            x = FIELD.sub(FIELD.square(m), FIELD.double(s));
            let c8 = FIELD.double(FIELD.double(FIELD.double(c)));
            y = FIELD.sub(FIELD.mul(m, FIELD.sub(s, x)), c8);
            left -= 1;
        }
        let inverse = FIELD.invert(z);
        let square = FIELD.square(inverse);
        let cube = FIELD.mul(square, inverse);
        store(work.r, 0, FIELD.limbs(FIELD.mul(x, square)));
        store(work.s, 0, FIELD.limbs(FIELD.mul(y, cube)));
    }
}

/// `r = (a / b - (a - b)^3) / 2` modulo `c`, an odd prime of up to 128 bits for each, and for
/// each number whether `b` is 0 modulo `c`, where `a / b` counts as 0.
///
/// # Safety
/// As for [`double_points`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn rational_values(arguments: Arguments) {
    // SAFETY: by this function's own contract.
    for work in unsafe { Batches::<Unit>::new(&arguments) }.numbers() {
        let field = Field::<4>::new(load(work.c, 0));
        let a = field.element(load(work.a, 0));
        let b = field.element(load(work.b, 0));
        let quotient = field.mul(a, field.invert(b));
        let cube = field.pow(field.sub(a, b), [3, 0, 0, 0]);
        let value = field.halve(field.add(quotient, field.neg(cube)));
        store(work.r, 0, field.limbs(value));
        work.carry.set(Limb::from(field.equal(b, field.zero())));
    }
}
