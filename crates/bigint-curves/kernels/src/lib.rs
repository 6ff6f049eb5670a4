//! Signatures, a thread for each.
//!
//! The arithmetic of curves is the library's own source, `src/shared`. `a` has a row for each signature (`src/shared/rows.rs`), `b`
//! the table of the generator, one number for all, and `r` gets a limb: the verdict.
//!
//! All threads double and add at the same places: numbers have windows of four bits, of which one in sixteen is 0.

#![no_std]
#![feature(abi_ptx)]

#[path = "../../src/shared/mod.rs"]
#[allow(dead_code)]
mod shared;

mod field;

use bigint_core::{Arguments, Limb};
use bigint_kernels::gpu::memory::{Number, Unit};
use bigint_kernels::montgomery::{load, store};
use bigint_kernels::thread::Batches;
use field::{Fold, Of25519, OfP256, OfSecp256k1};
use shared::combination::{Digit, Digits, PLACE_BITS, PLACE_ENTRIES, digit_of};
use shared::curves::{P256, Secp256k1};
use shared::edwards::{self, Fixed};
use shared::field::{Field, Limbs, power};
use shared::rows;
use shared::weierstrass::{self, Affine, Curve, Ordinate, Verdict};

/// The digits of a row's terms.
struct Windows<const TERMS: usize, const WINDOWS: u32> {
    row: Number<Unit>,
    /// Where the first term is.
    first: u32,
    /// The terms' signs.
    signs: u32,
}

impl<const TERMS: usize, const WINDOWS: u32> Digits for Windows<TERMS, WINDOWS> {
    const TERMS: usize = TERMS;
    const WINDOWS: u32 = WINDOWS;
    const BITS: u32 = rows::WINDOW_BITS;
    const ARE_ODD: bool = false;

    #[inline(always)]
    fn digit(&self, term: usize, window: u32) -> Option<Digit> {
        let at = self.first + rows::NUMBER * term as u32 + window * Self::BITS / 32;
        let (entry, is_negative) = digit_of(self.row.limb(at), Self::BITS, window)?;
        Some((entry, is_negative != (self.signs >> term & 1 == 1)))
    }
}

/// The place in the table of a digit of the number at limb `first` of a row, and whether it is negative.
#[inline(always)]
fn entry(row: Number<Unit>, first: u32, place: u32) -> Option<(u32, bool)> {
    let limb = row.limb(first + place * PLACE_BITS / 32);
    let (entry, is_negative) = digit_of(limb, PLACE_BITS, place)?;
    Some((place * PLACE_ENTRIES as u32 + entry as u32, is_negative))
}

/// Verdicts of ECDSA.
///
/// # Safety
/// As for [`Batches::new`].
#[inline(always)]
unsafe fn ecdsa<C, const TERMS: usize, const WINDOWS: u32>(arguments: &Arguments)
where
    C: Curve<Field: Field<Element = Limbs>>,
{
    // SAFETY: by this function's own contract.
    for work in unsafe { Batches::<Unit>::new(arguments) }.numbers() {
        let (row, table) = (work.a, work.b);
        let kind = row.limb(rows::KIND);
        let y = match kind & 3 {
            rows::IS_Y => Ordinate::Is(load(row, 8)),
            parity => Ordinate::IsOdd(parity == 1),
        };
        let signs = kind >> rows::SIGNS;
        let digits = Windows::<TERMS, WINDOWS> {
            row,
            first: rows::V,
            signs,
        };
        let fixed = |place| {
            let (at, is_negative) = entry(row, rows::U, place)?;
            let (x, y) = (load(table, 16 * at), load(table, 16 * at + 8));
            Some((Affine { x, y }, is_negative))
        };
        let candidates = [load(row, rows::CANDIDATES), load(row, rows::CANDIDATES + 8)];
        let key = (load(row, 0), y);
        let verdict = weierstrass::verdict::<C, _>(key, &digits, fixed, candidates);
        work.r.set(0, verdict as Limb);
    }
}

/// Verdicts of ECDSA on secp256k1.
///
/// # Safety
/// As for [`Batches::new`]: a launch of blocks of whole warps, with batches that are allocated and contiguous and results
/// that overlap none of them.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn secp256k1(arguments: Arguments) {
    // SAFETY: by this function's own contract.
    unsafe { ecdsa::<Secp256k1<Fold<OfSecp256k1>>, 2, 33>(&arguments) }
}

/// Verdicts of ECDSA on P-256.
///
/// # Safety
/// As for [`secp256k1`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn p256(arguments: Arguments) {
    // SAFETY: by this function's own contract.
    unsafe { ecdsa::<P256<OfP256>, 1, 65>(&arguments) }
}

/// Verdicts of Ed25519.
///
/// # Safety
/// As for [`secp256k1`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn ed25519(arguments: Arguments) {
    type F = Fold<Of25519>;
    // SAFETY: by this function's own contract.
    for work in unsafe { Batches::<Unit>::new(&arguments) }.numbers() {
        let (row, table) = (work.a, work.b);
        let digits = Windows::<1, 64> {
            row,
            first: rows::K,
            signs: 0,
        };
        let fixed = |place| {
            let (at, is_negative) = entry(row, rows::S, place)?;
            let [plus, minus, product] = [0, 8, 16].map(|limb| load(table, 24 * at + limb));
            Some((
                Fixed {
                    plus,
                    minus,
                    product,
                },
                is_negative,
            ))
        };
        let verdict = match edwards::combined::<F, _>(load(row, 0), &digits, fixed) {
            None => Verdict::NoPoint,
            Some(sum) => {
                // 1 / Z = Z^(p - 2), p - 2 = 2^255 - 21.
                let inverse = power::<F, 3>(sum[2], [[250, 1], [1, 1], [2, 0]]);
                let encoding = edwards::encoded::<F>(sum, inverse);
                let r: Limbs = load(row, rows::R);
                match (0..8).all(|i| encoding[i] == r[i]) {
                    true => Verdict::Valid,
                    false => Verdict::Mismatch,
                }
            }
        };
        work.r.set(0, verdict as Limb);
    }
}

/// Sums, differences, products and squares in the three fields, secp256k1's, P-256's and edwards25519's, for tests: `a` has
/// two numbers of eight limbs, `r` gets twelve.
///
/// # Safety
/// As for [`secp256k1`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn arithmetic(arguments: Arguments) {
    // SAFETY: by this function's own contract.
    for work in unsafe { Batches::<Unit>::new(&arguments) }.numbers() {
        let (x, y) = (load(work.a, 0), load(work.a, 8));
        results::<Fold<OfSecp256k1>>(work.r, 0, x, y);
        results::<OfP256>(work.r, 32, x, y);
        results::<Fold<Of25519>>(work.r, 64, x, y);
    }
}

/// Stores `x + y`, `x - y`, `x y` and `x x`.
#[inline(always)]
fn results<F: Field<Element = Limbs>>(r: Number<Unit>, at: u32, x: Limbs, y: Limbs) {
    let (x, y) = (F::element(x), F::element(y));
    store(r, at, F::number(F::add(x, y)));
    store(r, at + 8, F::number(F::sub(x, y)));
    store(r, at + 16, F::number(F::mul(x, y)));
    store(r, at + 24, F::number(F::square(x)));
}
