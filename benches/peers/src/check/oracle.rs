//! The same results by GMP and by num-bigint.

use anyhow::{Result, ensure};
use bigint_core::Limb;
use num_bigint::BigInt;
use rug::integer::Order;

use super::case::{Case, Outcome};
use crate::operands::Op;

/// Bits from which num-bigint multiplies all-ones operands by shifts.
const LONG: u64 = 1 << 17;

/// Every number of a case by GMP, after num-bigint has agreed.
pub fn results(case: &Case) -> Result<Vec<Outcome>> {
    (0..case.count())
        .map(|i| {
            let (a, b) = case.operands(i);
            let gmp = by_gmp(case, &a, &b);
            ensure!(
                gmp == by_num_bigint(case, &a, &b),
                "GMP and num-bigint disagree about {}",
                case.describe()
            );
            Ok(gmp)
        })
        .collect()
}

/// The carry out of, or the borrow into, the top limb of a result of `width`
/// limbs: what is left of operands cut to that width.
fn by_gmp(case: &Case, a: &[Limb], b: &[Limb]) -> Outcome {
    let width = case.width();
    let modulus = rug::Integer::from(1) << (32 * width as u32);
    let cut =
        |limbs: &[Limb]| rug::Integer::from_digits(&limbs[..limbs.len().min(width)], Order::Lsf);
    let (a, b) = (cut(a), cut(b));
    let exact = match case.op {
        Op::Mul | Op::Sqr => a * b,
        Op::Add => a + b,
        Op::Sub => a - b,
    };
    let carry = case.wants_carry() && (exact < 0 || exact >= modulus);
    let mut limbs = exact.keep_bits(32 * width as u32).to_digits(Order::Lsf);
    limbs.resize(width, 0);
    Outcome {
        limbs,
        carry: Limb::from(carry),
    }
}

fn by_num_bigint(case: &Case, a: &[Limb], b: &[Limb]) -> Outcome {
    let width = case.width();
    let modulus = BigInt::from(1) << (32 * width);
    let cut = |limbs: &[Limb]| {
        BigInt::from(num_bigint::BigUint::from_slice(
            &limbs[..limbs.len().min(width)],
        ))
    };
    let (a, b) = (cut(a), cut(b));
    let exact = match case.op {
        Op::Mul | Op::Sqr => product(a, b),
        Op::Add => a + b,
        Op::Sub => a - b,
    };
    let carry = case.wants_carry() && (exact < BigInt::ZERO || exact >= modulus);
    // From the sum's own digits: a remainder by division would take longer than
    // all the rest.
    let wrapped = if exact < BigInt::ZERO {
        exact + &modulus
    } else {
        exact
    };
    let mut limbs = wrapped.magnitude().to_u32_digits();
    limbs.resize(width, 0);
    Outcome {
        limbs,
        carry: Limb::from(carry),
    }
}

/// `a b`, by shifts where both are long and nothing but ones:
/// `(2^n - 1)(2^m - 1) = 2^(n + m) - 2^n - 2^m + 1`. By num-bigint's own product
/// the longest would take minutes each.
fn product(a: BigInt, b: BigInt) -> BigInt {
    let (n, m) = (a.bits(), b.bits());
    let is_ones = |x: &BigInt, bits| x + 1 == BigInt::from(1) << bits;
    if n.min(m) > LONG && is_ones(&a, n) && is_ones(&b, m) {
        let power = |bits| BigInt::from(1) << bits;
        return power(n + m) - power(n) - power(m) + 1;
    }
    a * b
}
