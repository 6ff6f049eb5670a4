//! Squares of eight limbs, and numbers of eight limbs modulo `2^256 - C` with `C = 2^32 + s`, as secp256k1's prime is.
//!
//! What is above eight limbs, times `C`, is added to the rest ([`crate::field::special`]). Of a product `lower + upper B^8` that is
//!
//! ```text
//! even:   lower + s (upper[0] + upper[2] B^2 + ...)
//! odd:    upper B + s (upper[1] B + upper[3] B^3 + ...)
//! ```
//!
//! two chains of multiply-adds, of which the second begins with `upper` itself: `2^32` costs nothing. Their sum, [`Folded`], is nine
//! limbs and a bit. Other numbers may be subtracted from it before the ninth limb is folded in turn, by [`Folded::limbs`]: this saves
//! the carries of each difference for itself.
//!
//! Bounds: `(B^8 - 1) (1 + C)` is less than `(C + 1) B^8`, so that what is above eight limbs is at most `C`. Three numbers may be
//! subtracted: it is at least -3 then. With `h + k B` for what is above, `k` being -1, 0 or 1, `h + s k` is a limb: for `k` = 1 `h` is
//! at most `s`, and for `k` = -1 at least `B - 3`.

// `asm!`: Rust has no word for the carry flag.
#![allow(unsafe_code)]

use bigint_core::Limb;
use core::arch::asm;

/// The lines that add `m`, 0 or -1, and the carry flag to the upper four limbs, and then the multiple `k` of `C` to the lower three, `k` being
/// what leaves the upper ones, -1, 0 or 1. `C k` is `t = s k`, and `k` one limb up, with its sign in `m`. Unless `k` is 0, the number is close to
/// 2^256, or to 0, so that no fourth limb changes.
macro_rules! around {
    () => {
        concat!(
            "addc.cc.u32 {l4}, {l4}, m;\n",
            "addc.cc.u32 {l5}, {l5}, m;\n",
            "addc.cc.u32 {l6}, {l6}, m;\n",
            "addc.cc.u32 {l7}, {l7}, m;\n",
            "addc.u32 k, m, 0;\n",
            "mul.lo.u32 t, k, {s};\n",
            "shr.s32 m, k, 31;\n",
            "add.u32 k, k, m;\n",
            "add.cc.u32 {l0}, {l0}, t;\n",
            "addc.cc.u32 {l1}, {l1}, k;\n",
            "addc.u32 {l2}, {l2}, m;"
        )
    };
}

/// `a a`, the lower and the upper half.
///
/// The products of two different limbs are added as in a [triangle](super::triangle), and their sum is doubled; one chain adds the
/// squares of limbs.
///
/// Cost: 36 multiply-adds and 33 additions and shifts.
#[inline(always)]
pub fn square(a: [Limb; 8]) -> [[Limb; 8]; 2] {
    let [a0, a1, a2, a3, a4, a5, a6, a7] = a;
    let [t1, t2, t3, t4, t5, t6, t7]: [Limb; 7];
    let [t8, t9, t10, t11, t12, t13, t14]: [Limb; 7];
    // SAFETY: register arithmetic only. The first line of each chain does not read the carry flag, and the last does not set it.
    unsafe {
        asm!(
            "{{",
            ".reg .b32 e2, e3, e4, e5, e6, e7, e8, e9, e10, e11, e12, e13;",
            ".reg .b64 w;",
            "mul.wide.u32 w, {a0}, {a1};", "mov.b64 {{{t1}, {t2}}}, w;",
            "mul.wide.u32 w, {a0}, {a3};", "mov.b64 {{{t3}, {t4}}}, w;",
            "mul.wide.u32 w, {a0}, {a5};", "mov.b64 {{{t5}, {t6}}}, w;",
            "mul.wide.u32 w, {a0}, {a7};", "mov.b64 {{{t7}, {t8}}}, w;",
            "mul.wide.u32 w, {a0}, {a2};", "mov.b64 {{e2, e3}}, w;",
            "mul.wide.u32 w, {a0}, {a4};", "mov.b64 {{e4, e5}}, w;",
            "mul.wide.u32 w, {a0}, {a6};", "mov.b64 {{e6, e7}}, w;",
            // Times `a1`.
            "mad.lo.cc.u32 {t3}, {a1}, {a2}, {t3};", "madc.hi.cc.u32 {t4}, {a1}, {a2}, {t4};",
            "madc.lo.cc.u32 {t5}, {a1}, {a4}, {t5};", "madc.hi.cc.u32 {t6}, {a1}, {a4}, {t6};",
            "madc.lo.cc.u32 {t7}, {a1}, {a6}, {t7};", "madc.hi.cc.u32 {t8}, {a1}, {a6}, {t8};",
            "addc.u32 {t9}, 0, 0;",
            "mad.lo.cc.u32 e4, {a1}, {a3}, e4;", "madc.hi.cc.u32 e5, {a1}, {a3}, e5;",
            "madc.lo.cc.u32 e6, {a1}, {a5}, e6;", "madc.hi.cc.u32 e7, {a1}, {a5}, e7;",
            "madc.lo.cc.u32 e8, {a1}, {a7}, 0;", "madc.hi.u32 e9, {a1}, {a7}, 0;",
            // Times `a2`.
            "mad.lo.cc.u32 {t5}, {a2}, {a3}, {t5};", "madc.hi.cc.u32 {t6}, {a2}, {a3}, {t6};",
            "madc.lo.cc.u32 {t7}, {a2}, {a5}, {t7};", "madc.hi.cc.u32 {t8}, {a2}, {a5}, {t8};",
            "madc.lo.cc.u32 {t9}, {a2}, {a7}, {t9};", "madc.hi.u32 {t10}, {a2}, {a7}, 0;",
            "mad.lo.cc.u32 e6, {a2}, {a4}, e6;", "madc.hi.cc.u32 e7, {a2}, {a4}, e7;",
            "madc.lo.cc.u32 e8, {a2}, {a6}, e8;", "madc.hi.cc.u32 e9, {a2}, {a6}, e9;",
            "addc.u32 e10, 0, 0;",
            // Times `a3`.
            "mad.lo.cc.u32 {t7}, {a3}, {a4}, {t7};", "madc.hi.cc.u32 {t8}, {a3}, {a4}, {t8};",
            "madc.lo.cc.u32 {t9}, {a3}, {a6}, {t9};", "madc.hi.cc.u32 {t10}, {a3}, {a6}, {t10};",
            "addc.u32 {t11}, 0, 0;",
            "mad.lo.cc.u32 e8, {a3}, {a5}, e8;", "madc.hi.cc.u32 e9, {a3}, {a5}, e9;",
            "madc.lo.cc.u32 e10, {a3}, {a7}, e10;", "madc.hi.u32 e11, {a3}, {a7}, 0;",
            // Times `a4`, `a5` and `a6`.
            "mad.lo.cc.u32 {t9}, {a4}, {a5}, {t9};", "madc.hi.cc.u32 {t10}, {a4}, {a5}, {t10};",
            "madc.lo.cc.u32 {t11}, {a4}, {a7}, {t11};", "madc.hi.u32 {t12}, {a4}, {a7}, 0;",
            "mad.lo.cc.u32 e10, {a4}, {a6}, e10;", "madc.hi.cc.u32 e11, {a4}, {a6}, e11;",
            "addc.u32 e12, 0, 0;",
            "mad.lo.cc.u32 {t11}, {a5}, {a6}, {t11};", "madc.hi.cc.u32 {t12}, {a5}, {a6}, {t12};",
            "addc.u32 {t13}, 0, 0;",
            "mad.lo.cc.u32 e12, {a5}, {a7}, e12;", "madc.hi.u32 e13, {a5}, {a7}, 0;",
            "mad.lo.cc.u32 {t13}, {a6}, {a7}, {t13};", "madc.hi.u32 {t14}, {a6}, {a7}, 0;",
            "add.cc.u32 {t2}, {t2}, e2;", "addc.cc.u32 {t3}, {t3}, e3;",
            "addc.cc.u32 {t4}, {t4}, e4;", "addc.cc.u32 {t5}, {t5}, e5;",
            "addc.cc.u32 {t6}, {t6}, e6;", "addc.cc.u32 {t7}, {t7}, e7;",
            "addc.cc.u32 {t8}, {t8}, e8;", "addc.cc.u32 {t9}, {t9}, e9;",
            "addc.cc.u32 {t10}, {t10}, e10;", "addc.cc.u32 {t11}, {t11}, e11;",
            "addc.cc.u32 {t12}, {t12}, e12;", "addc.cc.u32 {t13}, {t13}, e13;",
            "addc.u32 {t14}, {t14}, 0;",
            "}}",
            a0 = in(reg32) a0, a1 = in(reg32) a1, a2 = in(reg32) a2, a3 = in(reg32) a3,
            a4 = in(reg32) a4, a5 = in(reg32) a5, a6 = in(reg32) a6, a7 = in(reg32) a7,
            t1 = out(reg32) t1, t2 = out(reg32) t2, t3 = out(reg32) t3, t4 = out(reg32) t4,
            t5 = out(reg32) t5, t6 = out(reg32) t6, t7 = out(reg32) t7, t8 = out(reg32) t8,
            t9 = out(reg32) t9, t10 = out(reg32) t10, t11 = out(reg32) t11,
            t12 = out(reg32) t12, t13 = out(reg32) t13, t14 = out(reg32) t14,
            options(pure, nomem, nostack),
        );
    }
    doubled_with_squares(
        [t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14],
        a,
    )
}

/// Twice the limbs `t` of weights 1 to 14, and the squares of the limbs of `a`.
#[inline(always)]
fn doubled_with_squares(t: [Limb; 14], a: [Limb; 8]) -> [[Limb; 8]; 2] {
    let [a0, a1, a2, a3, a4, a5, a6, a7] = a;
    let [t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14] = t;
    let up = |below: Limb, limb: Limb| limb << 1 | below >> 31;
    let mut r = [
        0,
        t1 << 1,
        up(t1, t2),
        up(t2, t3),
        up(t3, t4),
        up(t4, t5),
        up(t5, t6),
        up(t6, t7),
        up(t7, t8),
        up(t8, t9),
        up(t9, t10),
        up(t10, t11),
        up(t11, t12),
        up(t12, t13),
        up(t13, t14),
        t14 >> 31,
    ];
    let [
        r0,
        r1,
        r2,
        r3,
        r4,
        r5,
        r6,
        r7,
        r8,
        r9,
        r10,
        r11,
        r12,
        r13,
        r14,
        r15,
    ] = &mut r;
    // SAFETY: as in `square`.
    unsafe {
        asm!(
            "mad.lo.cc.u32 {r0}, {a0}, {a0}, {r0};", "madc.hi.cc.u32 {r1}, {a0}, {a0}, {r1};",
            "madc.lo.cc.u32 {r2}, {a1}, {a1}, {r2};", "madc.hi.cc.u32 {r3}, {a1}, {a1}, {r3};",
            "madc.lo.cc.u32 {r4}, {a2}, {a2}, {r4};", "madc.hi.cc.u32 {r5}, {a2}, {a2}, {r5};",
            "madc.lo.cc.u32 {r6}, {a3}, {a3}, {r6};", "madc.hi.cc.u32 {r7}, {a3}, {a3}, {r7};",
            "madc.lo.cc.u32 {r8}, {a4}, {a4}, {r8};", "madc.hi.cc.u32 {r9}, {a4}, {a4}, {r9};",
            "madc.lo.cc.u32 {r10}, {a5}, {a5}, {r10};", "madc.hi.cc.u32 {r11}, {a5}, {a5}, {r11};",
            "madc.lo.cc.u32 {r12}, {a6}, {a6}, {r12};", "madc.hi.cc.u32 {r13}, {a6}, {a6}, {r13};",
            "madc.lo.cc.u32 {r14}, {a7}, {a7}, {r14};", "madc.hi.u32 {r15}, {a7}, {a7}, {r15};",
            a0 = in(reg32) a0, a1 = in(reg32) a1, a2 = in(reg32) a2, a3 = in(reg32) a3,
            a4 = in(reg32) a4, a5 = in(reg32) a5, a6 = in(reg32) a6, a7 = in(reg32) a7,
            r0 = inout(reg32) *r0, r1 = inout(reg32) *r1, r2 = inout(reg32) *r2,
            r3 = inout(reg32) *r3, r4 = inout(reg32) *r4, r5 = inout(reg32) *r5,
            r6 = inout(reg32) *r6, r7 = inout(reg32) *r7, r8 = inout(reg32) *r8,
            r9 = inout(reg32) *r9, r10 = inout(reg32) *r10, r11 = inout(reg32) *r11,
            r12 = inout(reg32) *r12, r13 = inout(reg32) *r13, r14 = inout(reg32) *r14,
            r15 = inout(reg32) *r15,
            options(pure, nomem, nostack),
        );
    }
    let [lower, upper] = [0, 8].map(|first| core::array::from_fn(|i| r[first + i]));
    [lower, upper]
}

/// Eight limbs, and what is above them, a signed number of two limbs from -3 to `C`.
#[derive(Clone, Copy)]
pub struct Folded {
    limbs: [Limb; 8],
    above: [Limb; 2],
}

impl Folded {
    /// `lower + C upper`. Cost: 8 multiply-adds and 11 additions.
    #[inline(always)]
    pub fn new([lower, upper]: [[Limb; 8]; 2], s: Limb) -> Self {
        let [
            mut l0,
            mut l1,
            mut l2,
            mut l3,
            mut l4,
            mut l5,
            mut l6,
            mut l7,
        ] = lower;
        let [h0, h1, h2, h3, h4, h5, h6, h7] = upper;
        let [low, high]: [Limb; 2];
        // SAFETY: as in `square`.
        unsafe {
            asm!(
                "{{",
                ".reg .b32 o1, o2, o3, o4, o5, o6, o7, o8;",
                "mad.lo.cc.u32 {l0}, {h0}, {s}, {l0};", "madc.hi.cc.u32 {l1}, {h0}, {s}, {l1};",
                "madc.lo.cc.u32 {l2}, {h2}, {s}, {l2};", "madc.hi.cc.u32 {l3}, {h2}, {s}, {l3};",
                "madc.lo.cc.u32 {l4}, {h4}, {s}, {l4};", "madc.hi.cc.u32 {l5}, {h4}, {s}, {l5};",
                "madc.lo.cc.u32 {l6}, {h6}, {s}, {l6};", "madc.hi.cc.u32 {l7}, {h6}, {s}, {l7};",
                "addc.u32 {low}, 0, 0;",
                "mad.lo.cc.u32 o1, {h1}, {s}, {h0};", "madc.hi.cc.u32 o2, {h1}, {s}, {h1};",
                "madc.lo.cc.u32 o3, {h3}, {s}, {h2};", "madc.hi.cc.u32 o4, {h3}, {s}, {h3};",
                "madc.lo.cc.u32 o5, {h5}, {s}, {h4};", "madc.hi.cc.u32 o6, {h5}, {s}, {h5};",
                "madc.lo.cc.u32 o7, {h7}, {s}, {h6};", "madc.hi.cc.u32 o8, {h7}, {s}, {h7};",
                "addc.u32 {high}, 0, 0;",
                "add.cc.u32 {l1}, {l1}, o1;", "addc.cc.u32 {l2}, {l2}, o2;",
                "addc.cc.u32 {l3}, {l3}, o3;", "addc.cc.u32 {l4}, {l4}, o4;",
                "addc.cc.u32 {l5}, {l5}, o5;", "addc.cc.u32 {l6}, {l6}, o6;",
                "addc.cc.u32 {l7}, {l7}, o7;", "addc.cc.u32 {low}, {low}, o8;",
                "addc.u32 {high}, {high}, 0;",
                "}}",
                l0 = inout(reg32) l0, l1 = inout(reg32) l1, l2 = inout(reg32) l2,
                l3 = inout(reg32) l3, l4 = inout(reg32) l4, l5 = inout(reg32) l5,
                l6 = inout(reg32) l6, l7 = inout(reg32) l7,
                h0 = in(reg32) h0, h1 = in(reg32) h1, h2 = in(reg32) h2, h3 = in(reg32) h3,
                h4 = in(reg32) h4, h5 = in(reg32) h5, h6 = in(reg32) h6, h7 = in(reg32) h7,
                s = in(reg32) s, low = out(reg32) low, high = out(reg32) high,
                options(pure, nomem, nostack),
            );
        }
        Folded {
            limbs: [l0, l1, l2, l3, l4, l5, l6, l7],
            above: [low, high],
        }
    }

    /// The number less another; of a product at most three are subtracted. Cost: 10 subtractions.
    #[inline(always)]
    pub fn less(self, b: [Limb; 8]) -> Self {
        let [
            mut l0,
            mut l1,
            mut l2,
            mut l3,
            mut l4,
            mut l5,
            mut l6,
            mut l7,
        ] = self.limbs;
        let [mut low, mut high] = self.above;
        // SAFETY: as in `square`.
        unsafe {
            asm!(
                "sub.cc.u32 {l0}, {l0}, {b0};", "subc.cc.u32 {l1}, {l1}, {b1};",
                "subc.cc.u32 {l2}, {l2}, {b2};", "subc.cc.u32 {l3}, {l3}, {b3};",
                "subc.cc.u32 {l4}, {l4}, {b4};", "subc.cc.u32 {l5}, {l5}, {b5};",
                "subc.cc.u32 {l6}, {l6}, {b6};", "subc.cc.u32 {l7}, {l7}, {b7};",
                "subc.cc.u32 {low}, {low}, 0;", "subc.u32 {high}, {high}, 0;",
                l0 = inout(reg32) l0, l1 = inout(reg32) l1, l2 = inout(reg32) l2,
                l3 = inout(reg32) l3, l4 = inout(reg32) l4, l5 = inout(reg32) l5,
                l6 = inout(reg32) l6, l7 = inout(reg32) l7,
                b0 = in(reg32) b[0], b1 = in(reg32) b[1], b2 = in(reg32) b[2],
                b3 = in(reg32) b[3], b4 = in(reg32) b[4], b5 = in(reg32) b[5],
                b6 = in(reg32) b[6], b7 = in(reg32) b[7],
                low = inout(reg32) low, high = inout(reg32) high,
                options(pure, nomem, nostack),
            );
        }
        Folded {
            limbs: [l0, l1, l2, l3, l4, l5, l6, l7],
            above: [low, high],
        }
    }

    /// [`limbs`](Self::limbs) of a product that nothing was subtracted from if `IS_PLAIN`, and with a branch: what is above is at most two limbs
    /// times `C`, so that but for one in some 2^29 numbers no carry leaves the third limb.
    ///
    /// Cost: one multiply-add, a product of limbs and 4 additions; two more if numbers were subtracted.
    #[inline(always)]
    pub fn public_limbs<const IS_PLAIN: bool>(self, s: Limb) -> [Limb; 8] {
        let [mut l0, mut l1, mut l2, l3, l4, l5, l6, l7] = self.limbs;
        let [low, high] = self.above;
        let (k, over): (Limb, Limb);
        // SAFETY: as in `square`.
        unsafe {
            asm!(
                "mad.lo.cc.u32 {l0}, {low}, {s}, {l0};", "madc.hi.cc.u32 {l1}, {low}, {s}, {l1};",
                "addc.u32 {k}, {high}, 0;",
                l0 = inout(reg32) l0, l1 = inout(reg32) l1, s = in(reg32) s, low = in(reg32) low,
                high = in(reg32) high, k = out(reg32) k,
                options(pure, nomem, nostack),
            );
        }
        let t = high.wrapping_mul(s).wrapping_add(low);
        let sign = match IS_PLAIN {
            true => 0,
            false => (k.cast_signed() >> 31).cast_unsigned(),
        };
        // SAFETY: as above.
        unsafe {
            asm!(
                "add.cc.u32 {l1}, {l1}, {t};", "addc.cc.u32 {l2}, {l2}, {k};",
                "addc.u32 {over}, {sign}, 0;",
                l1 = inout(reg32) l1, l2 = inout(reg32) l2, t = in(reg32) t, k = in(reg32) k,
                sign = in(reg32) sign, over = out(reg32) over,
                options(pure, nomem, nostack),
            );
        }
        carried([l0, l1, l2, l3, l4, l5, l6, l7], over, s)
    }

    /// The number modulo `2^256 - C`, below `2^256`.
    ///
    /// Cost: one multiply-add, two products of limbs and 16 additions.
    #[inline(always)]
    pub fn limbs(self, s: Limb) -> [Limb; 8] {
        let [
            mut l0,
            mut l1,
            mut l2,
            mut l3,
            mut l4,
            mut l5,
            mut l6,
            mut l7,
        ] = self.limbs;
        let [low, high] = self.above;
        // SAFETY: as in `square`.
        unsafe {
            asm!(
                "{{",
                ".reg .b32 t, k, m;",
                "mad.lo.u32 t, {high}, {s}, {low};",
                "mad.lo.cc.u32 {l0}, {low}, {s}, {l0};", "madc.hi.cc.u32 {l1}, {low}, {s}, {l1};",
                "addc.u32 k, {high}, 0;",
                "shr.s32 m, k, 31;",
                "add.cc.u32 {l1}, {l1}, t;", "addc.cc.u32 {l2}, {l2}, k;",
                "addc.cc.u32 {l3}, {l3}, m;",
                around!(),
                "}}",
                l0 = inout(reg32) l0, l1 = inout(reg32) l1, l2 = inout(reg32) l2,
                l3 = inout(reg32) l3, l4 = inout(reg32) l4, l5 = inout(reg32) l5,
                l6 = inout(reg32) l6, l7 = inout(reg32) l7,
                s = in(reg32) s, low = in(reg32) low, high = in(reg32) high,
                options(pure, nomem, nostack),
            );
        }
        [l0, l1, l2, l3, l4, l5, l6, l7]
    }
}

/// `a - b` modulo `2^256 - C`, below `2^256`, with a branch: but for one in some 2^31 differences no borrow leaves the third limb.
///
/// Cost: 14 additions.
#[inline(always)]
pub fn public_difference(a: [Limb; 8], b: [Limb; 8], s: Limb) -> [Limb; 8] {
    let [
        mut l0,
        mut l1,
        mut l2,
        mut l3,
        mut l4,
        mut l5,
        mut l6,
        mut l7,
    ] = a;
    let over: Limb;
    // SAFETY: as in `square`.
    unsafe {
        asm!(
            "{{",
            ".reg .b32 m, t;",
            "sub.cc.u32 {l0}, {l0}, {b0};", "subc.cc.u32 {l1}, {l1}, {b1};",
            "subc.cc.u32 {l2}, {l2}, {b2};", "subc.cc.u32 {l3}, {l3}, {b3};",
            "subc.cc.u32 {l4}, {l4}, {b4};", "subc.cc.u32 {l5}, {l5}, {b5};",
            "subc.cc.u32 {l6}, {l6}, {b6};", "subc.cc.u32 {l7}, {l7}, {b7};",
            "subc.u32 m, 0, 0;",
            "and.b32 t, m, {s};", "and.b32 m, m, 1;",
            "sub.cc.u32 {l0}, {l0}, t;", "subc.cc.u32 {l1}, {l1}, m;",
            "subc.cc.u32 {l2}, {l2}, 0;", "subc.u32 {over}, 0, 0;",
            "}}",
            l0 = inout(reg32) l0, l1 = inout(reg32) l1, l2 = inout(reg32) l2,
            l3 = inout(reg32) l3, l4 = inout(reg32) l4, l5 = inout(reg32) l5,
            l6 = inout(reg32) l6, l7 = inout(reg32) l7,
            b0 = in(reg32) b[0], b1 = in(reg32) b[1], b2 = in(reg32) b[2],
            b3 = in(reg32) b[3], b4 = in(reg32) b[4], b5 = in(reg32) b[5],
            b6 = in(reg32) b[6], b7 = in(reg32) b[7],
            s = in(reg32) s, over = out(reg32) over,
            options(pure, nomem, nostack),
        );
    }
    carried([l0, l1, l2, l3, l4, l5, l6, l7], over, s)
}

/// `limbs + over B^3` modulo `2^256 - C`, where `over` is -1, 0 or 1, and the three lowest limbs are close to 0 or to `B^3` unless it is 0. It is
/// nearly always 0.
#[inline(always)]
fn carried(limbs: [Limb; 8], over: Limb, s: Limb) -> [Limb; 8] {
    if over == 0 {
        return limbs;
    }
    let [
        mut l0,
        mut l1,
        mut l2,
        mut l3,
        mut l4,
        mut l5,
        mut l6,
        mut l7,
    ] = limbs;
    // SAFETY: as in `square`.
    unsafe {
        asm!(
            "{{",
            ".reg .b32 t, k, m;",
            "shr.s32 m, {over}, 31;",
            "add.cc.u32 {l3}, {l3}, {over};",
            around!(),
            "}}",
            l0 = inout(reg32) l0, l1 = inout(reg32) l1, l2 = inout(reg32) l2,
            l3 = inout(reg32) l3, l4 = inout(reg32) l4, l5 = inout(reg32) l5,
            l6 = inout(reg32) l6, l7 = inout(reg32) l7,
            over = in(reg32) over, s = in(reg32) s,
            options(pure, nomem, nostack),
        );
    }
    [l0, l1, l2, l3, l4, l5, l6, l7]
}
