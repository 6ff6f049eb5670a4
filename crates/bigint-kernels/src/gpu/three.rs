//! Numbers of three limbs in registers, modulo an odd `q` of at most 95 bits, in Montgomery's form
//! with `R = B^3` and `B = 2^32`. All threads have the same exponent, and each has a modulus of
//! its own.
//!
//! The square of `a` is six products: twice `a0 a1`, `a0 a2` and `a1 a2`, and the squares of the
//! limbs. Then, three times, adding a multiple `m q` makes the lowest limb that is left zero.
//! Hardware adds a product to a pair of limbs: those at even weights are in `t`, the others in
//! `u`.
//!
//! ```text
//! weight       0    1    2    3    4    5
//! t         | a0^2    | a1^2    | a2^2    |
//! u              |  a0 a1  |  a1 a2  |               a0 a2 at weight 2, all twice
//! m0        t: q0, q2 at 0, 2     u: q1 at 1
//! m1        t: q1 at 2            u: q0, q2 at 1, 3
//! m2        t: q0, q2 at 2, 4     u: q1 at 3
//! ```
//!
//! Bounds: `(a a + (R - 1) q) / R < 2 q` if `a < 4 q` and `q < R / 16`, and also if `a < q` and
//! `q < R / 2`. No sum reaches weight 6, as it is below `2 q R`. Cost: 18 multiply-adds, three
//! products of a limb, 21 additions. No scratch.

// `asm!`: Rust has no word for the carry flag.
#![allow(unsafe_code)]

use bigint_core::Limb;
use core::arch::asm;

/// A number, lowest limb first.
pub type Three = [Limb; 3];

/// `a a / R` modulo `q`, as a number below `2 q`; `inverse` is `-1 / q mod B`.
#[inline(always)]
pub fn square([a0, a1, a2]: Three, [q0, q1, q2]: Three, inverse: Limb) -> Three {
    let (t3, t4, t5): (Limb, Limb, Limb);
    // SAFETY: register arithmetic only; each chain begins with a line that does not read the
    // carry flag, and ends with one that does not set it.
    unsafe {
        asm!(
            // The products of two different limbs, at weights 1 to 4. Their sum is below half of
            // B^5.
            "mul.lo.u32 {u1}, {a0}, {a1};",
            "mul.hi.u32 {u2}, {a0}, {a1};",
            "mul.lo.u32 {u3}, {a1}, {a2};",
            "mul.hi.u32 {u4}, {a1}, {a2};",
            "mul.lo.u32 {t2}, {a0}, {a2};",
            "mul.hi.u32 {t3}, {a0}, {a2};",
            "add.cc.u32 {u2}, {u2}, {t2};",
            "addc.cc.u32 {u3}, {u3}, {t3};",
            "addc.u32 {u4}, {u4}, 0;",
            // The sum is doubled.
            "add.cc.u32 {u1}, {u1}, {u1};",
            "addc.cc.u32 {u2}, {u2}, {u2};",
            "addc.cc.u32 {u3}, {u3}, {u3};",
            "addc.cc.u32 {u4}, {u4}, {u4};",
            "addc.u32 {t5}, 0, 0;",
            // The squares of limbs.
            "mad.lo.cc.u32 {t0}, {a0}, {a0}, 0;",
            "madc.hi.cc.u32 {t1}, {a0}, {a0}, {u1};",
            "madc.lo.cc.u32 {t2}, {a1}, {a1}, {u2};",
            "madc.hi.cc.u32 {t3}, {a1}, {a1}, {u3};",
            "madc.lo.cc.u32 {t4}, {a2}, {a2}, {u4};",
            "madc.hi.u32 {t5}, {a2}, {a2}, {t5};",
            // Weight 0.
            "mul.lo.u32 {m}, {t0}, {inverse};",
            "mul.lo.u32 {u1}, {m}, {q1};",
            "mul.hi.u32 {u2}, {m}, {q1};",
            "mad.lo.cc.u32 {t0}, {m}, {q0}, {t0};",
            "madc.hi.cc.u32 {t1}, {m}, {q0}, {t1};",
            "madc.lo.cc.u32 {t2}, {m}, {q2}, {t2};",
            "madc.hi.cc.u32 {t3}, {m}, {q2}, {t3};",
            "addc.cc.u32 {t4}, {t4}, 0;",
            "addc.u32 {t5}, {t5}, 0;",
            // Weight 1.
            "add.u32 {m}, {t1}, {u1};",
            "mul.lo.u32 {m}, {m}, {inverse};",
            "mad.lo.cc.u32 {u1}, {m}, {q0}, {u1};",
            "madc.hi.cc.u32 {u2}, {m}, {q0}, {u2};",
            "madc.lo.cc.u32 {u3}, {m}, {q2}, 0;",
            "madc.hi.u32 {u4}, {m}, {q2}, 0;",
            "mad.lo.cc.u32 {t2}, {m}, {q1}, {t2};",
            "madc.hi.cc.u32 {t3}, {m}, {q1}, {t3};",
            "addc.cc.u32 {t4}, {t4}, 0;",
            "addc.u32 {t5}, {t5}, 0;",
            "add.cc.u32 {t1}, {t1}, {u1};",
            "addc.cc.u32 {t2}, {t2}, {u2};",
            "addc.cc.u32 {t3}, {t3}, {u3};",
            "addc.cc.u32 {t4}, {t4}, {u4};",
            "addc.u32 {t5}, {t5}, 0;",
            // Weight 2.
            "mul.lo.u32 {m}, {t2}, {inverse};",
            "mul.lo.u32 {u3}, {m}, {q1};",
            "mul.hi.u32 {u4}, {m}, {q1};",
            "mad.lo.cc.u32 {t2}, {m}, {q0}, {t2};",
            "madc.hi.cc.u32 {t3}, {m}, {q0}, {t3};",
            "madc.lo.cc.u32 {t4}, {m}, {q2}, {t4};",
            "madc.hi.u32 {t5}, {m}, {q2}, {t5};",
            "add.cc.u32 {t3}, {t3}, {u3};",
            "addc.cc.u32 {t4}, {t4}, {u4};",
            "addc.u32 {t5}, {t5}, 0;",
            a0 = in(reg32) a0, a1 = in(reg32) a1, a2 = in(reg32) a2,
            q0 = in(reg32) q0, q1 = in(reg32) q1, q2 = in(reg32) q2,
            inverse = in(reg32) inverse,
            u1 = out(reg32) _, u2 = out(reg32) _, u3 = out(reg32) _, u4 = out(reg32) _,
            m = out(reg32) _, t0 = out(reg32) _, t1 = out(reg32) _, t2 = out(reg32) _,
            t3 = out(reg32) t3, t4 = out(reg32) t4, t5 = out(reg32) t5,
            options(pure, nomem, nostack),
        );
    }
    [t3, t4, t5]
}

/// `2 a`, which must be below `R`.
#[inline(always)]
pub fn double([mut a0, mut a1, mut a2]: Three) -> Three {
    // SAFETY: as in `square`.
    unsafe {
        asm!(
            "add.cc.u32 {a0}, {a0}, {a0};",
            "addc.cc.u32 {a1}, {a1}, {a1};",
            "addc.u32 {a2}, {a2}, {a2};",
            a0 = inout(reg32) a0, a1 = inout(reg32) a1, a2 = inout(reg32) a2,
            options(pure, nomem, nostack),
        );
    }
    [a0, a1, a2]
}

/// `a - b`, or `a` if `a` is less than `b`.
#[inline(always)]
pub fn reduce(a: Three, [b0, b1, b2]: Three) -> Three {
    let [mut r0, mut r1, mut r2] = a;
    let borrow: Limb;
    // SAFETY: as in `square`.
    unsafe {
        asm!(
            "sub.cc.u32 {r0}, {r0}, {b0};",
            "subc.cc.u32 {r1}, {r1}, {b1};",
            "subc.cc.u32 {r2}, {r2}, {b2};",
            "subc.u32 {borrow}, 0, 0;",
            r0 = inout(reg32) r0, r1 = inout(reg32) r1, r2 = inout(reg32) r2,
            b0 = in(reg32) b0, b1 = in(reg32) b1, b2 = in(reg32) b2,
            borrow = out(reg32) borrow,
            options(pure, nomem, nostack),
        );
    }
    if borrow == 0 { [r0, r1, r2] } else { a }
}
