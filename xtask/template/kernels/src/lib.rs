//! Sums of points of the elliptic curve secp256k1, `y^2 = x^3 + 7`: a thread for each sum.

#![no_std]
#![feature(abi_ptx)]

use bigint_core::Arguments;
use bigint_kernels::field::Field;
use bigint_kernels::gpu::memory::Unit;
use bigint_kernels::montgomery::{load, store};
use bigint_kernels::thread::Batches;

/// The field of secp256k1: modulo `2^256 - 2^32 - 977`, eight limbs, the lowest first.
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

/// `r = a + b`: a point is a number of 16 limbs, `x` in the lower half, `y` in the upper. Points may be equal,
/// not opposite.
///
/// # Safety
/// As for [`Batches::new`]; a launch by `Kernel::launch` is one.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn add_points(arguments: Arguments) {
    // SAFETY: by this function's own contract.
    for work in unsafe { Batches::<Unit>::new(&arguments) }.numbers() {
        let (x, y) = (FIELD.element(load(work.a, 0)), FIELD.element(load(work.a, 8)));
        let (u, v) = (FIELD.element(load(work.b, 0)), FIELD.element(load(work.b, 8)));
        // The slope of the chord, or of the tangent.
        let (rise, run) = if FIELD.equal(x, u) {
            let square = FIELD.square(x);
            (FIELD.add(FIELD.double(square), square), FIELD.double(y))
        } else {
            (FIELD.sub(v, y), FIELD.sub(u, x))
        };
        let slope = FIELD.mul(rise, FIELD.invert(run));
        let sum = FIELD.sub(FIELD.sub(FIELD.square(slope), x), u);
        let height = FIELD.sub(FIELD.mul(slope, FIELD.sub(x, sum)), y);
        store(work.r, 0, FIELD.limbs(sum));
        store(work.r, 8, FIELD.limbs(height));
    }
}
