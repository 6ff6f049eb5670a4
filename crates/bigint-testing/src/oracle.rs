//! What num-bigint says: one line for each operation.

use bigint_host::{BigUint, Operation};
use num_bigint::BigInt;
use num_integer::Integer;

/// Bits that a count of them is cut to: more than any result of the suite has.
const MOST_BITS: u64 = 1 << 17;

/// The exact value of each result, from as many operands as the operation has, of these
/// widths in limbs; where that is too long to write down, what equals it modulo
/// `2^MOST_BITS`; none where there is no value.
pub fn values(operation: Operation, operands: &[&BigUint], widths: &[usize]) -> Vec<BigInt> {
    let x = |i: usize| BigInt::from(operands[i].clone());
    let bits = |i: usize| u64::try_from(operands[i]).map_or(MOST_BITS, |n| n.min(MOST_BITS));
    let one = || BigInt::from(1);
    match operation {
        Operation::Add => vec![x(0) + x(1)],
        Operation::Sub => vec![x(0) - x(1)],
        Operation::Mul => vec![x(0) * x(1)],
        Operation::Square => vec![x(0) * x(0)],
        Operation::MulHigh => vec![(x(0) * x(1)) >> (32 * widths[0].max(widths[1]))],
        Operation::MulAdd => vec![x(0) * x(1) + x(2)],
        Operation::DivRem | Operation::Div | Operation::Rem if x(1) == BigInt::ZERO => vec![],
        Operation::DivRem => vec![x(0) / x(1), x(0) % x(1)],
        Operation::Div => vec![x(0) / x(1)],
        Operation::Rem => vec![x(0) % x(1)],
        Operation::Gcd => vec![x(0).gcd(&x(1))],
        Operation::Lcm if x(0) == BigInt::ZERO || x(1) == BigInt::ZERO => vec![BigInt::ZERO],
        Operation::Lcm => vec![x(0) / x(0).gcd(&x(1)) * x(1)],
        Operation::InvMod if x(1) == BigInt::ZERO => vec![],
        Operation::InvOddMod if !operands[1].bit(0) => vec![],
        Operation::InvMod | Operation::InvOddMod => x(0).modinv(&x(1)).into_iter().collect(),
        Operation::Isqrt => {
            let root = x(0).sqrt();
            let rest = x(0) - &root * &root;
            vec![root, rest]
        }
        Operation::Iroot if x(1) == BigInt::ZERO => vec![],
        Operation::Iroot => {
            // From the number's length on all degrees are alike.
            let bits = operands[0].bits().max(1);
            let degree = u64::try_from(operands[1]).map_or(bits, |k| k.min(bits)) as u32;
            let root = x(0).nth_root(degree);
            let rest = x(0) - root.pow(degree);
            vec![root, rest]
        }
        Operation::Jacobi if !operands[1].bit(0) => vec![],
        Operation::Jacobi => vec![one() + jacobi(operands[0], operands[1])],
        Operation::ToDecimal => vec![nines(operands[0]).into()],
        Operation::FromDecimal => vec![of_nines(operands[0]).into()],
        Operation::And => vec![x(0) & x(1)],
        Operation::Or => vec![x(0) | x(1)],
        Operation::Xor => vec![x(0) ^ x(1)],
        Operation::Not => vec![!x(0)],
        Operation::Shl => vec![x(0) << bits(1)],
        Operation::Shr => vec![x(0) >> bits(1)],
        Operation::TestBit => vec![operands[0].bit(bits(1)).into()],
        Operation::SetBit => vec![x(0) | one() << bits(1)],
        Operation::Select => vec![if x(2) == BigInt::ZERO { x(1) } else { x(0) }],
        Operation::Compare => vec![one() + x(0).cmp(&x(1)) as i8],
        Operation::Equal => vec![(x(0) == x(1)).into()],
        Operation::Min => vec![x(0).min(x(1))],
        Operation::Max => vec![x(0).max(x(1))],
        Operation::MinMax => vec![x(0).min(x(1)), x(0).max(x(1))],
        Operation::AbsDiff => vec![BigInt::from((x(0) - x(1)).magnitude().clone())],
        Operation::AddSigned => {
            let signs = [0, 1].map(|bit| operands[2].bit(bit));
            let signed = |i: usize| if signs[i] { -x(i) } else { x(i) };
            let sum = signed(0) + signed(1);
            let negative = sum < BigInt::ZERO || sum == BigInt::ZERO && signs == [true; 2];
            vec![sum.magnitude().clone().into(), negative.into()]
        }
        Operation::AddSegments => {
            let limbs = widths[0].max(widths[1]).max(11 * widths[2]) + 32;
            vec![segments(operands, limbs).into()]
        }
        Operation::BitLength => vec![operands[0].bits().into()],
        Operation::TrailingZeros => {
            let zeros = operands[0].trailing_zeros();
            vec![zeros.unwrap_or(32 * widths[0] as u64).into()]
        }
        Operation::ModAdd => vec![(x(0) + x(1)) % x(2)],
        Operation::ModSub => vec![(x(0) + x(2) - x(1)) % x(2)],
        Operation::MontMul => {
            let radix = one() << (32 * widths[2]);
            let inverse = radix.modinv(&x(2)).unwrap_or_default();
            vec![x(0) * x(1) * inverse % x(2)]
        }
        Operation::PowMod if x(2) == BigInt::ZERO => vec![],
        Operation::PowMod if *operands[1] == BigUint::ZERO => vec![one() % x(2)],
        Operation::PowMod => vec![x(0).modpow(&x(1), &x(2))],
        Operation::PowPair => {
            let half = |i: usize, half: usize| {
                let lower = 32 * widths[i].div_ceil(2);
                let upper = operands[i] >> lower;
                match half {
                    0 => operands[i] - (&upper << lower),
                    _ => upper,
                }
            };
            let power = |i| half(0, i).modpow(&half(1, i), operands[2]) % operands[2];
            vec![(power(0) * power(1) % operands[2]).into()]
        }
        Operation::PowFixed => vec![fixed(operands, widths).into()],
        Operation::CountOnes => vec![operands[0].count_ones().into()],
    }
}

/// Every nine decimal digits as a limb.
fn nines(a: &BigUint) -> BigUint {
    let text = a.to_string();
    let nine = |nine| str::from_utf8(nine).ok()?.parse().ok();
    let nines = text.as_bytes().rchunks(9).map(nine);
    BigUint::new(nines.map(Option::unwrap_or_default).collect())
}

/// The number whose digits to base `10^9` are limbs.
fn of_nines(a: &BigUint) -> BigUint {
    let sum = |sum: BigUint, &nine: &u32| sum * 1_000_000_000u32 + nine;
    a.to_u32_digits().iter().rev().fold(BigUint::ZERO, sum)
}

/// The product of an entry of the table for each window of six bits of the exponent, all of them in
/// Montgomery's form.
fn fixed(operands: &[&BigUint], widths: &[usize]) -> BigUint {
    let [t, e, m] = [operands[0], operands[1], operands[2]];
    let bits = 32 * widths[2] as u64;
    let form = BigUint::from(1u32) << bits;
    let inverse = form.modinv(m).unwrap_or_default();
    let windows = widths[0] / (64 * widths[2]);
    let entry = |i: u64, digit: u64| (t >> (bits * (64 * i + digit))) % &form;
    let digit = |i: u64| (0..6).fold(0, |sum, bit| sum | u64::from(e.bit(6 * i + bit)) << bit);
    (0..windows as u64).fold(BigUint::from(1u32) % m, |power, i| {
        power * entry(i, digit(i)) * &inverse % m
    })
}

/// The sums and differences of so many limbs, segment by segment.
fn segments(operands: &[&BigUint], limbs: usize) -> BigUint {
    let digits: Vec<Vec<u32>> = operands.iter().map(|x| x.to_u32_digits()).collect();
    let digit = |i: usize, at: usize| digits[i].get(at).copied().unwrap_or(0);
    let mark = |which, at: usize| digit(2, at / 32 * 3 + which) >> (at % 32) & 1;
    let mut all = Vec::with_capacity(limbs);
    while all.len() < limbs {
        let start = all.len();
        let end = (start + 1..limbs).find(|&at| mark(0, at) == 1);
        let end = end.unwrap_or(limbs);
        let a = BigUint::new((start..end).map(|at| digit(0, at)).collect());
        // Of random marks some change within a segment: there a complement is added.
        let b = (start..end).map(|at| {
            let digit = if mark(2, at) == 1 { 0 } else { digit(1, at) };
            if mark(1, at) == 1 { !digit } else { digit }
        });
        let sum = a + BigUint::new(b.collect()) + mark(1, start);
        let sum = sum.to_u32_digits().into_iter().chain(std::iter::repeat(0));
        all.extend(sum.take(end - start));
    }
    BigUint::new(all)
}

/// The Jacobi symbol over an odd number, from remainders and the law of reciprocity.
fn jacobi(a: &BigUint, n: &BigUint) -> i32 {
    let (mut a, mut n, mut symbol) = (a % n, n.clone(), 1);
    let low = |x: &BigUint, bits: u64| (0..bits).fold(0, |low, i| low | u32::from(x.bit(i)) << i);
    while let Some(twos) = a.trailing_zeros() {
        a >>= twos;
        let turns = twos % 2 == 1 && matches!(low(&n, 3), 3 | 5);
        let meets = low(&a, 2) == 3 && low(&n, 2) == 3;
        if turns != meets {
            symbol = -symbol;
        }
        (a, n) = (n % &a, a);
    }
    if n == BigUint::from(1u32) { symbol } else { 0 }
}
