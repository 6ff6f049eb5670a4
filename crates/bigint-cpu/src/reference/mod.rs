//! The algorithms of the papers, plain to read, under the names of the GPU's kernels.
//!
//! Every function in the files here takes one number, as a slice of limbs, the least significant
//! first. [`compute()`] applies them to a batch. The kernels and the fast engine are checked
//! against these functions, which are slower, so that they are easy to believe.

pub mod abs_diff;
pub mod add;
pub mod add_segments;
pub mod add_signed;
pub mod and;
pub mod bit_length;
pub mod compare;
pub mod count_ones;
pub mod div;
pub mod div_rem;
pub mod equal;
pub mod from_decimal;
pub mod gcd;
pub mod inv_mod;
pub mod inv_odd_mod;
pub mod iroot;
pub mod isqrt;
pub mod jacobi;
pub mod lcm;
pub mod max;
pub mod min;
pub mod min_max;
pub mod mod_add;
pub mod mod_sub;
pub mod mont_mul;
pub mod montgomery;
pub mod mul;
pub mod mul_add;
pub mod mul_high;
pub mod not;
pub mod or;
pub mod pow_fixed;
pub mod pow_mod;
pub mod pow_pair;
pub mod rem;
mod residue_systems;
pub mod select;
pub mod set_bit;
pub mod shl;
pub mod shr;
pub mod square;
pub mod sub;
pub mod test_bit;
pub mod to_decimal;
pub mod trailing_zeros;
pub mod xor;

use bigint_core::{Algorithm, LIMB_BITS, Limb, Operation};

use crate::piece::Piece;
use crate::{Error, Numbers, NumbersMut, Results, memory, share, threads};

/// The limbs that a worker writes before it takes the next piece. They fit an L2 cache.
const PIECE_LIMBS: usize = 1 << 15;

/// One number of a batch: its results, its operands, scratch, and the flag.
struct Work<'a> {
    r: &'a mut [Limb],
    s: &'a mut [Limb],
    a: &'a [Limb],
    b: &'a [Limb],
    c: &'a [Limb],
    scratch: &'a mut Vec<Limb>,
    flag: Limb,
}

type Leaf = fn(&mut Work<'_>);

/// The leaf of every algorithm. That of `Auto` is the plainest. A test finds a row of a declaration
/// without a leaf.
fn leaf(operation: Operation, algorithm: Algorithm) -> Option<Leaf> {
    use Algorithm::{
        Auto, CarryLookahead, Cios, Comba, Divsteps, Fft, Karatsuba, Lehmer, LehmerWords, Limbwise,
        Ntt, Ripple, Rns, RnsVartime, Scan, School, Toeplitz, Window, WindowVartime,
    };
    Some(match (operation, algorithm) {
        (Operation::Add, Auto | Ripple) => |w| w.flag = add::ripple(w.r, w.a, w.b),
        (Operation::Add, CarryLookahead) => |w| w.flag = add::carry_lookahead(w.r, w.a, w.b),
        (Operation::Sub, Auto | Ripple) => |w| w.flag = sub::ripple(w.r, w.a, w.b),
        (Operation::Sub, CarryLookahead) => |w| w.flag = sub::carry_lookahead(w.r, w.a, w.b),
        (Operation::Mul, School) => |w| mul::school(w.r, w.a, w.b),
        (Operation::Mul, Auto | Comba) => |w| mul::comba(w.r, w.a, w.b),
        (Operation::Square, Fft) => |w| mul::fft(w.r, w.a, w.a),
        (Operation::Square, Ntt) => |w| mul::ntt(w.r, w.a, w.a),
        (Operation::Mul, Ntt) => |w| mul::ntt(w.r, w.a, w.b),
        (Operation::Mul, Fft) => |w| mul::fft(w.r, w.a, w.b),
        (Operation::Square, Toeplitz) => |w| mul::toeplitz(w.r, w.a, w.a),
        (Operation::Mul, Toeplitz) => |w| mul::toeplitz(w.r, w.a, w.b),
        (Operation::Mul, Karatsuba) => |w| mul::karatsuba(w.r, w.a, w.b, w.scratch),
        (Operation::Square, Auto | School) => |w| square::school(w.r, w.a),
        (Operation::MulHigh, Auto | Comba) => |w| mul_high::comba(w.r, w.a, w.b),
        (Operation::MulAdd, Auto | Comba) => |w| mul_add::comba(w.r, w.a, w.b, w.c),
        (Operation::DivRem, Auto | School) => |w| w.flag = div_rem::school(w.r, w.s, w.a, w.b),
        (Operation::Div, Auto | School) => |w| w.flag = div::school(w.r, w.a, w.b),
        (Operation::Rem, Auto | School) => |w| w.flag = rem::school(w.r, w.a, w.b),
        (Operation::Gcd, Auto | Lehmer | LehmerWords) => |w| gcd::lehmer(w.r, w.a, w.b),
        (Operation::Lcm, Auto | Lehmer | LehmerWords) => |w| lcm::lehmer(w.r, w.a, w.b),
        (Operation::InvMod, Auto | Lehmer | LehmerWords) => {
            |w| w.flag = inv_mod::lehmer(w.r, w.a, w.b)
        }
        (Operation::InvOddMod, Auto | Divsteps) => {
            |w| w.flag = inv_odd_mod::divsteps(w.r, w.a, w.b)
        }
        (Operation::Isqrt, Auto | School) => |w| isqrt::school(w.r, w.s, w.a),
        (Operation::Iroot, Auto) => |w| w.flag = iroot::bitwise(w.r, w.s, w.a, w.b),
        (Operation::Jacobi, Auto) => |w| w.flag = jacobi::euclid(w.r, w.a, w.b),
        (Operation::ToDecimal, Auto | School) => |w| to_decimal::school(w.r, w.a),
        (Operation::FromDecimal, Auto | School) => |w| from_decimal::school(w.r, w.a),
        (Operation::And, Auto | Limbwise) => |w| and::limbwise(w.r, w.a, w.b),
        (Operation::Or, Auto | Limbwise) => |w| or::limbwise(w.r, w.a, w.b),
        (Operation::Xor, Auto | Limbwise) => |w| xor::limbwise(w.r, w.a, w.b),
        (Operation::Not, Auto | Limbwise) => |w| not::limbwise(w.r, w.a),
        (Operation::Shl, Auto | Limbwise) => |w| shl::limbwise(w.r, w.a, w.b),
        (Operation::Shr, Auto | Limbwise) => |w| shr::limbwise(w.r, w.a, w.b),
        (Operation::TestBit, Auto | Limbwise) => |w| test_bit::limbwise(w.r, w.a, w.b),
        (Operation::SetBit, Auto | Limbwise) => |w| set_bit::limbwise(w.r, w.a, w.b),
        (Operation::Select, Auto | Limbwise) => |w| select::limbwise(w.r, w.a, w.b, w.c),
        (Operation::Compare, Auto | Scan) => |w| compare::scan(w.r, w.a, w.b),
        (Operation::Equal, Auto | Scan) => |w| equal::scan(w.r, w.a, w.b),
        (Operation::Min, Auto | Scan) => |w| min::scan(w.r, w.a, w.b),
        (Operation::Max, Auto | Scan) => |w| max::scan(w.r, w.a, w.b),
        (Operation::MinMax, Auto | Scan) => |w| min_max::scan(w.r, w.s, w.a, w.b),
        (Operation::AbsDiff, Auto | Scan) => |w| abs_diff::scan(w.r, w.a, w.b),
        (Operation::AddSegments, Auto | CarryLookahead) => {
            |w| add_segments::ripple(w.r, w.a, w.b, w.c)
        }
        (Operation::AddSigned, Auto | Scan) => |w| add_signed::scan(w.r, w.s, w.a, w.b, w.c),
        (Operation::BitLength, Auto | Scan) => |w| bit_length::scan(w.r, w.a),
        (Operation::TrailingZeros, Auto | Scan) => |w| trailing_zeros::scan(w.r, w.a),
        (Operation::CountOnes, Auto | Scan) => |w| count_ones::scan(w.r, w.a),
        (Operation::ModAdd, Auto | Scan) => |w| mod_add::scan(w.r, w.a, w.b, w.c),
        (Operation::ModSub, Auto | Scan) => |w| mod_sub::scan(w.r, w.a, w.b, w.c),
        (Operation::MontMul, Auto | Cios) => |w| mont_mul::cios(w.r, w.a, w.b, w.c),
        (Operation::PowMod, Auto | Window) => |w| w.flag = pow_mod::window(w.r, w.a, w.b, w.c),
        (Operation::PowMod, WindowVartime) => {
            |w| w.flag = pow_mod::window_vartime(w.r, w.a, w.b, w.c)
        }
        (Operation::PowMod, Rns | RnsVartime) => |w| w.flag = pow_mod::rns(w.r, w.a, w.b, w.c),
        (Operation::PowPair, Auto | Window) => |w| pow_pair::window(w.r, w.a, w.b, w.c),
        (Operation::PowPair, WindowVartime) => |w| pow_pair::window_vartime(w.r, w.a, w.b, w.c),
        (Operation::PowPair, Rns | RnsVartime) => |w| pow_pair::rns(w.r, w.a, w.b, w.c),
        (Operation::PowFixed, Auto | Window) => |w| pow_fixed::window(w.r, w.a, w.b, w.c),
        (Operation::PowFixed, WindowVartime) => |w| pow_fixed::window_vartime(w.r, w.a, w.b, w.c),
        (Operation::PowFixed, Rns | RnsVartime) => |w| pow_fixed::rns(w.r, w.a, w.b, w.c),
        _ => return None,
    })
}

/// Computes a batch by a reference algorithm.
///
/// # Errors
///
/// As for [`crate::compute`].
pub fn compute(
    operation: Operation,
    results: Results<'_>,
    operands: &[Numbers<'_>],
    algorithm: Algorithm,
) -> Result<(), Error> {
    let leaf = leaf(operation, algorithm).ok_or(refused(operation, algorithm))?;
    let declared = operation.declaration();
    let Results { r, s, flags } = results;
    let found = (operands.len(), 1 + usize::from(s.is_some()));
    if found != (declared.operands.len(), declared.results.len()) {
        return Err(Error::Operands { operation });
    }
    check(&r, operands, flags.as_deref())?;
    let count = r.shape().count;
    if let Some(s) = s.as_ref().filter(|s| s.shape().count != count) {
        return Err(Error::Count {
            operand: s.shape().count,
            result: count,
        });
    }
    let size = (PIECE_LIMBS / r.shape().width.max(1)).max(1);
    let one_piece = |(mut piece, mut second): (Piece<'_>, Option<Piece<'_>>)| {
        let mut gathered: [Vec<Limb>; 3] = Default::default();
        let (mut r, mut scratch) = (memory::scratch(piece.width), Vec::new());
        let mut s = memory::scratch(second.as_ref().map_or(0, |second| second.width));
        for i in 0..piece.count {
            let [a, b, c] = &mut gathered;
            let operand = |at: usize, buffer| match operands.get(at) {
                Some(numbers) => numbers.gather(piece.first + i, buffer),
                None => &[],
            };
            let mut work = Work {
                r: &mut r,
                s: &mut s,
                a: operand(0, a),
                b: operand(1, b),
                c: operand(2, c),
                scratch: &mut scratch,
                flag: 0,
            };
            leaf(&mut work);
            let flag = work.flag;
            piece.store(i, &r);
            piece.store_carry(i, flag);
            if let Some(second) = &mut second {
                second.store(i, &s);
            }
        }
    };
    memory::or_out_of_memory(|| {
        let mut seconds = s
            .map_or_else(Vec::new, |s| Piece::cut(s, None, size))
            .into_iter();
        let pieces = Piece::cut(r, flags, size).into_iter();
        share(
            pieces.map(|piece| (piece, seconds.next())),
            threads(),
            one_piece,
        );
    })
}

pub(crate) fn refused(operation: Operation, algorithm: Algorithm) -> Error {
    Error::Algorithm {
        operation,
        algorithm,
    }
}

/// Refuses operands and words of flags that do not fit the result.
pub(crate) fn check(
    r: &NumbersMut<'_>,
    operands: &[Numbers<'_>],
    flags: Option<&[Limb]>,
) -> Result<(), Error> {
    let count = r.shape().count;
    for operand in operands {
        operand.check_count(count)?;
    }
    match flags {
        Some(words) if words.len() != count => Err(Error::CarryLength {
            count,
            found: words.len(),
        }),
        _ => Ok(()),
    }
}

/// Limb `i` of a number, which is extended by zeros.
fn limb(number: &[Limb], i: usize) -> Limb {
    number.get(i).copied().unwrap_or(0)
}

/// Sets `r` to `a`, cut or extended to the length of `r`.
fn copy(r: &mut [Limb], a: &[Limb]) {
    let (below, above) = r.split_at_mut(a.len().min(r.len()));
    below.copy_from_slice(&a[..below.len()]);
    above.fill(0);
}

/// Sets `r` to `value`.
pub(crate) fn set(r: &mut [Limb], value: Limb) {
    copy(r, &[value]);
}

/// Sets `r` to a `count` of bits, which may need two limbs.
fn set_count(r: &mut [Limb], count: usize) {
    copy(r, &[count as Limb, (count as u64 >> LIMB_BITS) as Limb]);
}

/// Splits a number of bits into whole limbs and the bits beyond them. For 2^64 bits and more the
/// number of limbs is greater than that of any number.
pub(crate) fn place(count: &[Limb]) -> (usize, u32) {
    if count.iter().skip(2).any(|&limb| limb != 0) {
        return (usize::MAX, 0);
    }
    let bits = word(limb(count, 1), limb(count, 0));
    let limbs = usize::try_from(bits / LIMB_BITS as u64).unwrap_or(usize::MAX);
    (limbs, (bits % LIMB_BITS as u64) as u32)
}

/// Joins two neighbouring limbs into one word.
fn word(high: Limb, low: Limb) -> u64 {
    u64::from(high) << LIMB_BITS | u64::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_declared_algorithm_has_its_reference() {
        for operation in Operation::ALL {
            assert!(leaf(operation, Algorithm::Auto).is_some(), "{operation:?}");
            for row in operation.declaration().rows {
                assert!(
                    leaf(operation, row.algorithm).is_some(),
                    "{operation:?} {row:?}"
                );
            }
        }
    }
}
