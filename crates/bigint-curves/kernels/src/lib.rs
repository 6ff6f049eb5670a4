//! Signatures, a thread for each.
//!
//! The arithmetic of curves is the library's own source, `src/shared`. A number of a batch is a group of signatures, and each lane of a
//! launch has one of them. `a` has their rows (`src/shared/rows.rs`), `b` the table of the generator, one number for all, `c` what
//! [`factors`] has made of ECDSA's rows, and `r` gets a limb for each: the verdict.
//!
//! All threads double and add at the same places: numbers have windows of four bits, of which one in sixteen is 0. They wait for one
//! another before each, as warps that drift apart would fetch the code again and again.

#![no_std]
#![feature(abi_ptx)]

#[path = "../../src/shared/mod.rs"]
#[allow(dead_code)]
mod shared;

mod factors;
mod field;

use bigint_core::kernel::BLOCK;
use bigint_core::{Arguments, Limb};
use bigint_kernels::gpu::block::Team;
use bigint_kernels::gpu::memory::{Number, Unit};
use bigint_kernels::gpu::thread;
use bigint_kernels::montgomery::{load, store};
use bigint_kernels::thread::Batches;
use field::{Fold, Of25519, OfP256, OfSecp256k1};
use shared::combination::{Digit, Digits, digit_of};
use shared::curves::{P256, Secp256k1};
use shared::edwards::{self, Fixed};
use shared::field::{Field, Limbs, power};
use shared::rows;
use shared::weierstrass::{self, Affine, Curve, Ordinate, Verdict};

/// A thread's signature.
struct Signature {
    team: Team<BLOCK>,
    row: Number<Unit>,
    table: Number<Unit>,
    factors: Number<Unit>,
    /// The verdicts of the group, and which one is the signature's.
    verdicts: Number<Unit>,
    lane: u32,
}

impl Signature {
    /// The calling thread's, of rows of so many limbs. Threads behind the last group repeat its signatures, without a verdict.
    ///
    /// # Safety
    /// As for [`Batches::new`], in a launch in which [`GROUP`](rows::GROUP) lanes share a number.
    #[inline(always)]
    unsafe fn new(arguments: &Arguments, width: u32) -> Self {
        let thread = thread::index_1d();
        let (group, lane) = (
            thread / u64::from(rows::GROUP),
            thread as u32 % rows::GROUP,
        );
        let is_on = group < arguments.count;
        let group = group.min(arguments.count - 1);
        let own = |number: Number<Unit>, width| number.part(lane * width, (lane + 1) * width);
        // SAFETY: by this function's own contract; `group` is in the batch, each of its threads writes a limb of its own, and those
        // behind the last group write none.
        unsafe {
            Signature {
                team: Batches::<Unit>::new(arguments).team(),
                row: own(Number::new(&arguments.a, group), width),
                table: Number::new(&arguments.b, group),
                factors: own(Number::new(&arguments.c, group), rows::FACTORS),
                verdicts: Number::new(&arguments.r, group).switched(is_on),
                lane,
            }
        }
    }

    #[inline(always)]
    fn set(&self, verdict: Verdict) {
        self.verdicts.set(self.lane, verdict as Limb);
    }
}

/// The digits of terms.
struct Windows<const TERMS: usize, const WINDOWS: u32> {
    team: Team<BLOCK>,
    /// The terms, one behind the other.
    numbers: Number<Unit>,
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
    const IS_IN_STEP: bool = true;

    #[inline(always)]
    fn digit(&self, term: usize, window: u32) -> Option<Digit> {
        let at = self.first + rows::TERM * term as u32 + window * Self::BITS / 32;
        let (entry, is_negative) = digit_of(self.numbers.limb(at), Self::BITS, window)?;
        Some((entry, is_negative != (self.signs >> term & 1 == 1)))
    }

    #[inline(always)]
    fn meet(&self) {
        self.team.sync();
    }
}

/// The place in the table of a digit of the number at limb `first`, and whether it is negative.
#[inline(always)]
fn entry(numbers: Number<Unit>, first: u32, place: u32) -> Option<(u32, bool)> {
    let limb = numbers.limb(first + place * rows::PLACE_BITS / 32);
    let (entry, is_negative) = digit_of(limb, rows::PLACE_BITS, place)?;
    Some((
        place * rows::PLACE_ENTRIES as u32 + entry as u32,
        is_negative,
    ))
}

/// The `y` of a row.
#[inline(always)]
fn ordinate(y: Limbs) -> Ordinate {
    match (1..8).all(|i| y[i] == !0) {
        true => Ordinate::IsOdd(y[0] & 1 == 0),
        false => Ordinate::Is(y),
    }
}

/// Verdicts of ECDSA.
///
/// # Safety
/// As for [`Signature::new`].
#[inline(always)]
unsafe fn ecdsa<C, P, const TERMS: usize, const WINDOWS: u32>(arguments: &Arguments)
where
    C: Curve<Field: Field<Element = Limbs>>,
    P: factors::Points,
{
    // SAFETY: by this function's own contract.
    let signature = unsafe { Signature::new(arguments, rows::ECDSA) };
    let Signature {
        team,
        row,
        table,
        factors,
        ..
    } = signature;
    let signs = factors.limb(rows::SIGNS);
    let digits = Windows::<TERMS, WINDOWS> {
        team,
        numbers: factors,
        first: rows::V,
        signs: signs >> 1,
    };
    let fixed = |place| {
        let (at, is_negative) = entry(factors, 0, place)?;
        let (x, y) = (load(table, 16 * at), load(table, 16 * at + 8));
        Some((Affine { x, y }, is_negative != (signs & 1 == 1)))
    };
    let key = (load(row, 0), ordinate(load(row, rows::Y)));
    let candidates = || factors::candidates::<P>(load(row, rows::R));
    let verdict = weierstrass::verdict::<C, _>(key, &digits, rows::PLACES, fixed, candidates);
    signature.set(verdict);
}

/// Verdicts of ECDSA on secp256k1.
///
/// # Safety
/// As for [`Batches::new`]: a launch of blocks of [`BLOCK`] threads in which [`GROUP`](rows::GROUP) lanes share a number, with batches
/// that are allocated and contiguous and results that overlap none of them.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn secp256k1(arguments: Arguments) {
    // SAFETY: by this function's own contract.
    unsafe { ecdsa::<Secp256k1<Fold<OfSecp256k1>>, factors::OfSecp256k1, 2, 33>(&arguments) }
}

/// Verdicts of ECDSA on P-256.
///
/// # Safety
/// As for [`secp256k1`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn p256(arguments: Arguments) {
    // SAFETY: by this function's own contract.
    unsafe { ecdsa::<P256<OfP256>, factors::OfP256, 1, 64>(&arguments) }
}

/// The factors of ECDSA on secp256k1: `a` has the rows of a group, `r` gets [`FACTORS`](rows::FACTORS) limbs for each.
///
/// # Safety
/// As for [`Batches::new`]: a launch of blocks of [`BLOCK`] threads, with batches that are allocated and contiguous and results that
/// overlap none of them.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn secp256k1_factors(arguments: Arguments) {
    // SAFETY: by this function's own contract.
    unsafe { factors::factors::<factors::OfSecp256k1>(&arguments) }
}

/// The factors of ECDSA on P-256.
///
/// # Safety
/// As for [`secp256k1_factors`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn p256_factors(arguments: Arguments) {
    // SAFETY: by this function's own contract.
    unsafe { factors::factors::<factors::OfP256>(&arguments) }
}

/// Verdicts of Ed25519.
///
/// # Safety
/// As for [`secp256k1`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn ed25519(arguments: Arguments) {
    type F = Fold<Of25519>;
    // SAFETY: by this function's own contract.
    let signature = unsafe { Signature::new(&arguments, rows::ED25519) };
    let Signature {
        team, row, table, ..
    } = signature;
    let digits = Windows::<1, 64> {
        team,
        numbers: row,
        first: rows::K,
        signs: 0,
    };
    let fixed = |place| {
        let (at, is_negative) = entry(row, rows::FACTOR, place)?;
        let [plus, minus, product] = [0, 8, 16].map(|limb| load(table, 24 * at + limb));
        let fixed = Fixed {
            plus,
            minus,
            product,
        };
        Some((fixed, is_negative))
    };
    let (sum, is_point) = edwards::combined::<F, _>(load(row, 0), &digits, rows::PLACES, fixed);
    // 1 / Z = Z^(p - 2), p - 2 = 2^255 - 21.
    let inverse = power::<F, 3>(sum[2], [[250, 1], [1, 1], [2, 0]]);
    let encoding = edwards::encoded::<F>(sum, inverse);
    let r: Limbs = load(row, rows::ENCODING);
    signature.set(match (is_point, (0..8).all(|i| encoding[i] == r[i])) {
        (false, _) => Verdict::NoPoint,
        (true, true) => Verdict::Valid,
        (true, false) => Verdict::Mismatch,
    });
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
