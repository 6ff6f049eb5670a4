//! Multiplication by rows (School; Langer, Carlessi-Kashani).
//!
//! `a b` is the sum over `j` of the rows `a b[j..j+8] B^j`, `B` = 2^32: eight
//! limbs of `b` are one digit of a row, held in registers. A window of eight
//! limbs slides over the row from its low end. At limb `i` of `a` it holds what
//! the limbs below have sent up, and one step
//!
//! ```text
//! window + a[i] b[j..j+8] + r[i+j]  =  r'[i+j] + window' B
//! ```
//!
//! gives a limb of the result, which earlier rows no longer change, and the next
//! window; both sides are below `B^9`. Limbs of `a` come in fours: past its end
//! they are zero, and a step shifts the window out. What then is left of it are
//! the row's top eight limbs, where no earlier row has been.
//!
//! Cost: `ceil4(n) ceil8(m)` products, each with half a chain instruction more
//! for carries; two loads and a store for every eight products. No scratch.
//! `r` is not an operand.

use crate::gpu::carry;
use crate::gpu::memory::{Number, Stride};

/// Limbs of `b` in a row.
const ROW: usize = 8;

/// Limbs of `a` that are loaded together.
const STEP: usize = 4;

/// `r = a * b`, cut or zero-extended to the width of `r`.
#[inline(always)]
pub fn product(r: Number<impl Stride>, a: Number<impl Stride>, b: Number<impl Stride>) {
    // Limbs of `r` from here on are zero.
    let width = r.width().min(a.width() + b.width());
    let product = r.part(0, width);
    let mut j = 0;
    while j < width && j < b.width() {
        let row = b.limbs(j);
        let mut window = [0; ROW];
        let mut i = 0;
        while i < a.width() && i + j < width {
            // The first row finds nothing in `r`.
            let mut limbs = if j == 0 {
                [0; STEP]
            } else {
                product.limbs(i + j)
            };
            let limbs_of_a = a.limbs::<STEP>(i);
            for step in 0..STEP {
                (limbs[step], window) =
                    carry::multiply_row(window, limbs_of_a[step], row, limbs[step]);
            }
            product.set_limbs(i + j, limbs);
            i += STEP as u32;
        }
        product.set_limbs(i + j, window);
        j += ROW as u32;
    }
    let mut at = width;
    while at < r.width() {
        r.set(at, 0);
        at += 1;
    }
}
