//! Signatures, a thread for each.
//!
//! The arithmetic of curves is the library's own source, `src/shared`. `a` has the signatures' rows (`src/shared/rows.rs`), `b` the
//! table of the generator, one number for all, and `r` gets a limb for each: the verdict. The threads of a block invert together
//! ([`inverse`]), for which launches have shared memory.
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
mod inverse;

use bigint_core::kernel::BLOCK;
use bigint_core::{Arguments, Limb};
use bigint_kernels::gpu::block::Team;
use bigint_kernels::gpu::memory::{Number, Unit};
use bigint_kernels::gpu::shared::OfThreads;
use bigint_kernels::gpu::thread;
use bigint_kernels::montgomery::{load, store};
use bigint_kernels::thread::{Batches, Work};
use factors::Factors;
use field::{Fold, Of25519, OfP256, OfSecp256k1};
use inverse::Modulo;
use shared::combination::{Digit, Digits, digit_of};
use shared::curves::{P256, Secp256k1};
use shared::edwards::{self, Fixed};
use shared::field::{Field, Limbs};
use shared::rows;
use shared::weierstrass::{self, Affine, Curve, Ordinate, Verdict};

/// A thread's signature, and its block. A launch has a thread for each signature; those behind the last repeat it, without a verdict.
///
/// # Safety
/// As for [`Batches::new`], in a launch whose blocks have [`BLOCK`] threads and the shared memory of [`OfThreads`].
#[inline(always)]
unsafe fn signature(arguments: &Arguments) -> Option<(Work<Unit>, Block)> {
    // SAFETY: by this function's own contract.
    let (batches, room) = unsafe { (Batches::<Unit>::new(arguments), OfThreads::new(0)) };
    let team = batches.team();
    let work = batches.numbers_in_step().next()?;
    Some((work, Block { team, room }))
}

/// A thread's block.
#[derive(Clone, Copy)]
struct Block {
    team: Team<BLOCK>,
    room: OfThreads<8>,
}

impl Block {
    /// The inverse of the thread's number.
    #[inline(always)]
    fn inverse<M: Modulo>(self, x: Limbs) -> Limbs {
        inverse::of_block::<M>(self.team, self.room, thread::block_index(), x)
    }
}

/// Where digits are.
trait Source {
    /// Limb `at`.
    fn limb(&self, at: u32) -> Limb;
}

impl Source for Factors {
    #[inline(always)]
    fn limb(&self, at: u32) -> Limb {
        Factors::limb(self, at)
    }
}

impl Source for Number<Unit> {
    #[inline(always)]
    fn limb(&self, at: u32) -> Limb {
        Number::limb(*self, at)
    }
}

/// The digits of terms.
struct Windows<'a, S, const TERMS: usize, const WINDOWS: u32> {
    team: Team<BLOCK>,
    /// The terms, one behind the other.
    numbers: &'a S,
    /// Where the first term is.
    first: u32,
    /// The terms' signs.
    signs: u32,
}

impl<S: Source, const TERMS: usize, const WINDOWS: u32> Digits for Windows<'_, S, TERMS, WINDOWS> {
    const TERMS: usize = TERMS;
    const WINDOWS: u32 = WINDOWS;
    const BITS: u32 = rows::WINDOW_BITS;
    const ARE_ODD: bool = false;
    const IS_IN_STEP: bool = true;

    #[inline(always)]
    fn digit(&self, term: usize, window: u32) -> Option<Digit> {
        let at = self.first + factors::TERM * term as u32 + window * Self::BITS / 32;
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
fn entry(numbers: &impl Source, first: u32, place: u32) -> Option<(u32, bool)> {
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
/// As for [`signature`].
#[inline(always)]
unsafe fn ecdsa<C, P, const TERMS: usize, const WINDOWS: u32>(arguments: &Arguments)
where
    C: Curve<Field: Field<Element = Limbs>>,
    P: factors::Points,
{
    // SAFETY: by this function's own contract.
    let Some((work, block)) = (unsafe { signature(arguments) }) else {
        return;
    };
    let (row, table) = (work.a, work.b);
    let factors = factors::factors::<P>(row, block.inverse::<P>(load(row, rows::S)));
    let digits = Windows::<_, TERMS, WINDOWS> {
        team: block.team,
        numbers: &factors,
        first: factors::V,
        signs: factors.signs >> 1,
    };
    let fixed = |place| {
        let (at, is_negative) = entry(&factors, 0, place)?;
        let (x, y) = (load(table, 16 * at), load(table, 16 * at + 8));
        Some((Affine { x, y }, is_negative != (factors.signs & 1 == 1)))
    };
    let key = (load(row, 0), ordinate(load(row, rows::Y)));
    let candidates = || factors::candidates::<P>(load(row, rows::R));
    let verdict = weierstrass::verdict::<C, _>(key, &digits, rows::PLACES, fixed, candidates);
    work.r.set(0, verdict as Limb);
}

/// Verdicts of ECDSA on secp256k1.
///
/// # Safety
/// As for [`Batches::new`]: a launch of blocks of [`BLOCK`] threads, a thread for each signature, with the shared memory of
/// [`OfThreads`], batches that are allocated and contiguous and results that overlap none of them.
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

/// Verdicts of Ed25519.
///
/// # Safety
/// As for [`secp256k1`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn ed25519(arguments: Arguments) {
    type F = Fold<Of25519>;
    // SAFETY: by this function's own contract.
    let Some((work, block)) = (unsafe { signature(&arguments) }) else {
        return;
    };
    let (row, table) = (work.a, work.b);
    let digits = Windows::<_, 1, 64> {
        team: block.team,
        numbers: &row,
        first: rows::K,
        signs: 0,
    };
    let fixed = |place| {
        let (at, is_negative) = entry(&row, rows::FACTOR, place)?;
        let [plus, minus, product] = [0, 8, 16].map(|limb| load(table, 24 * at + limb));
        let fixed = Fixed {
            plus,
            minus,
            product,
        };
        Some((fixed, is_negative))
    };
    let (sum, is_point) = edwards::combined::<F, _>(load(row, 0), &digits, rows::PLACES, fixed);
    // Of what is no point `Z` may be 0, which would be four signatures' end.
    let z = if is_point { sum[2] } else { F::one() };
    let encoding = edwards::encoded::<F>(sum, block.inverse::<Of25519>(z));
    let r: Limbs = load(row, rows::ENCODING);
    let verdict = match (is_point, (0..8).all(|i| encoding[i] == r[i])) {
        (false, _) => Verdict::NoPoint,
        (true, true) => Verdict::Valid,
        (true, false) => Verdict::Mismatch,
    };
    work.r.set(0, verdict as Limb);
}

/// Sums, differences, products, squares and their differences in the three fields, secp256k1's, P-256's and edwards25519's, for tests: `a`
/// has two numbers of eight limbs, `r` gets 18.
///
/// # Safety
/// As for [`secp256k1`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn arithmetic(arguments: Arguments) {
    // SAFETY: by this function's own contract.
    for work in unsafe { Batches::<Unit>::new(&arguments) }.numbers() {
        let (x, y) = (load(work.a, 0), load(work.a, 8));
        results::<Fold<OfSecp256k1>>(work.r, 0, x, y);
        results::<OfP256>(work.r, 48, x, y);
        results::<Fold<Of25519>>(work.r, 96, x, y);
    }
}

/// Stores `x + y`, `x - y`, `x y`, `x x`, `x x - y y` and `x y - x x`.
#[inline(always)]
fn results<F: Field<Element = Limbs>>(r: Number<Unit>, at: u32, x: Limbs, y: Limbs) {
    let (x, y) = (F::element(x), F::element(y));
    store(r, at, F::number(F::add(x, y)));
    store(r, at + 8, F::number(F::sub(x, y)));
    store(r, at + 16, F::number(F::mul(x, y)));
    store(r, at + 24, F::number(F::square(x)));
    store(r, at + 32, F::number(F::mul_less_mul(x, x, y, y)));
    store(r, at + 40, F::number(F::mul_less_square(x, y, x)));
}
