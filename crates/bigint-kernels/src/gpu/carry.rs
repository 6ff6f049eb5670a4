//! Carry chains. Each is one `asm!` block, as the carry flag does not survive from one block to
//! the next.

// `asm!`: Rust has no word for the carry flag.
#![allow(unsafe_code)]

use bigint_core::{LIMB_BITS, Limb};
use core::arch::asm;

/// `a + b + carry` of four limbs, and the carry out; `carry` is 0 or 1.
#[inline(always)]
pub fn add(a: [Limb; 4], b: [Limb; 4], carry: Limb) -> ([Limb; 4], Limb) {
    let [mut r0, mut r1, mut r2, mut r3] = a;
    let mut carry = carry;
    // SAFETY: register arithmetic only. The first line sets the carry flag where
    // `carry` is 1; the last reads it, so no flag enters or leaves the block.
    unsafe {
        asm!(
            "add.cc.u32 {carry}, {carry}, 0xffffffff;",
            "addc.cc.u32 {r0}, {r0}, {b0};",
            "addc.cc.u32 {r1}, {r1}, {b1};",
            "addc.cc.u32 {r2}, {r2}, {b2};",
            "addc.cc.u32 {r3}, {r3}, {b3};",
            "addc.u32 {carry}, 0, 0;",
            carry = inout(reg32) carry,
            r0 = inout(reg32) r0, r1 = inout(reg32) r1, r2 = inout(reg32) r2,
            r3 = inout(reg32) r3, b0 = in(reg32) b[0], b1 = in(reg32) b[1],
            b2 = in(reg32) b[2], b3 = in(reg32) b[3],
            options(pure, nomem, nostack),
        );
    }
    ([r0, r1, r2, r3], carry)
}

/// `a - b - borrow` of four limbs, and the borrow out; `borrow` is 0 or 1.
#[inline(always)]
pub fn sub(a: [Limb; 4], b: [Limb; 4], borrow: Limb) -> ([Limb; 4], Limb) {
    let [mut r0, mut r1, mut r2, mut r3] = a;
    let mut borrow = borrow;
    // SAFETY: as in `add`. The first line borrows where `borrow` is 1, and the
    // last leaves 0 or -1.
    unsafe {
        asm!(
            "sub.cc.u32 {borrow}, 0, {borrow};",
            "subc.cc.u32 {r0}, {r0}, {b0};",
            "subc.cc.u32 {r1}, {r1}, {b1};",
            "subc.cc.u32 {r2}, {r2}, {b2};",
            "subc.cc.u32 {r3}, {r3}, {b3};",
            "subc.u32 {borrow}, 0, 0;",
            borrow = inout(reg32) borrow,
            r0 = inout(reg32) r0, r1 = inout(reg32) r1, r2 = inout(reg32) r2,
            r3 = inout(reg32) r3, b0 = in(reg32) b[0], b1 = in(reg32) b[1],
            b2 = in(reg32) b[2], b3 = in(reg32) b[3],
            options(pure, nomem, nostack),
        );
    }
    ([r0, r1, r2, r3], borrow.wrapping_neg())
}

/// One step of a row: `sum + a * b + low`, where `sum` and `b` have eight limbs.
///
/// Returns the lowest limb of the result and the eight above it. Nothing is cut
/// off: `(B^8 - 1) + (B - 1)(B^8 - 1) + (B - 1) = B^9 - 1`.
///
/// The products with even limbs of `b` are one chain, and those with odd limbs another. Within
/// a chain, the low half of a product lies just above the high half of the one before, so that
/// hardware multiplies and adds 64 bits at a time.
#[inline(always)]
pub fn multiply_row(sum: [Limb; 8], a: Limb, b: [Limb; 8], low: Limb) -> (Limb, [Limb; 8]) {
    let [
        mut s0,
        mut s1,
        mut s2,
        mut s3,
        mut s4,
        mut s5,
        mut s6,
        mut s7,
    ] = sum;
    let s8: Limb;
    // SAFETY: register arithmetic only; each chain begins with an instruction
    // that sets the carry flag without reading it.
    unsafe {
        asm!(
            "mad.lo.cc.u32 {s0}, {a}, {b0}, {s0};",
            "madc.hi.cc.u32 {s1}, {a}, {b0}, {s1};",
            "madc.lo.cc.u32 {s2}, {a}, {b2}, {s2};",
            "madc.hi.cc.u32 {s3}, {a}, {b2}, {s3};",
            "madc.lo.cc.u32 {s4}, {a}, {b4}, {s4};",
            "madc.hi.cc.u32 {s5}, {a}, {b4}, {s5};",
            "madc.lo.cc.u32 {s6}, {a}, {b6}, {s6};",
            "madc.hi.cc.u32 {s7}, {a}, {b6}, {s7};",
            "addc.u32 {s8}, 0, 0;",
            "add.cc.u32 {s0}, {s0}, {low};",
            "madc.lo.cc.u32 {s1}, {a}, {b1}, {s1};",
            "madc.hi.cc.u32 {s2}, {a}, {b1}, {s2};",
            "madc.lo.cc.u32 {s3}, {a}, {b3}, {s3};",
            "madc.hi.cc.u32 {s4}, {a}, {b3}, {s4};",
            "madc.lo.cc.u32 {s5}, {a}, {b5}, {s5};",
            "madc.hi.cc.u32 {s6}, {a}, {b5}, {s6};",
            "madc.lo.cc.u32 {s7}, {a}, {b7}, {s7};",
            "madc.hi.u32 {s8}, {a}, {b7}, {s8};",
            s0 = inout(reg32) s0, s1 = inout(reg32) s1, s2 = inout(reg32) s2,
            s3 = inout(reg32) s3, s4 = inout(reg32) s4, s5 = inout(reg32) s5,
            s6 = inout(reg32) s6, s7 = inout(reg32) s7, s8 = out(reg32) s8,
            a = in(reg32) a, low = in(reg32) low,
            b0 = in(reg32) b[0], b1 = in(reg32) b[1], b2 = in(reg32) b[2],
            b3 = in(reg32) b[3], b4 = in(reg32) b[4], b5 = in(reg32) b[5],
            b6 = in(reg32) b[6], b7 = in(reg32) b[7],
            options(pure, nomem, nostack),
        );
    }
    (s0, [s1, s2, s3, s4, s5, s6, s7, s8])
}

/// The sum of a column's products, in 96 bits. It has room for `2^32` products, which is more
/// than the limbs of the widest operand.
#[derive(Clone, Copy, Default)]
pub struct Accumulator {
    low: Limb,
    middle: Limb,
    high: Limb,
}

impl Accumulator {
    /// Adds `a * b`.
    #[inline(always)]
    pub fn add_product(&mut self, a: Limb, b: Limb) {
        // SAFETY: register arithmetic only; the chain sets the carry flag before
        // it reads it.
        unsafe {
            asm!(
                "mad.lo.cc.u32 {low}, {a}, {b}, {low};",
                "madc.hi.cc.u32 {middle}, {a}, {b}, {middle};",
                "addc.u32 {high}, {high}, 0;",
                low = inout(reg32) self.low, middle = inout(reg32) self.middle,
                high = inout(reg32) self.high, a = in(reg32) a, b = in(reg32) b,
                options(pure, nomem, nostack),
            );
        }
    }

    /// Adds `x`.
    #[inline(always)]
    pub fn add(&mut self, x: u64) {
        let (sum, carry) =
            (u64::from(self.middle) << LIMB_BITS | u64::from(self.low)).overflowing_add(x);
        self.low = sum as Limb;
        self.middle = (sum >> LIMB_BITS) as Limb;
        self.high += Limb::from(carry);
    }

    /// Takes the lowest limb out, and moves the others down.
    #[inline(always)]
    pub fn shift(&mut self) -> Limb {
        let low = self.low;
        (self.low, self.middle, self.high) = (self.middle, self.high, 0);
        low
    }

    /// The limbs of the sum, lowest first.
    #[inline(always)]
    pub fn limbs(self) -> [Limb; 3] {
        [self.low, self.middle, self.high]
    }
}

/// `low high + low + high B` modulo `B^2`: the product of the limbs of a pair is added to the
/// pair, by one instruction. (From an expression of 64 bits the driver's compiler makes
/// separate multiplications and additions.)
#[inline(always)]
pub fn multiply_halves([low, high]: [Limb; 2]) -> [Limb; 2] {
    let (lower, upper);
    // SAFETY: register arithmetic only. The first line reads no flag, and the last
    // sets none.
    unsafe {
        asm!(
            "mad.lo.cc.u32 {lower}, {low}, {high}, {low};",
            "madc.hi.u32 {upper}, {low}, {high}, {high};",
            lower = out(reg32) lower, upper = out(reg32) upper,
            low = in(reg32) low, high = in(reg32) high,
            options(pure, nomem, nostack),
        );
    }
    [lower, upper]
}
