//! What is computed of arrays: each function once, for operators, calls and expressions.

use crate::bits;
use bigint_host::advanced::Algorithm;
use bigint_host::expression::Expression;
use bigint_host::{BigUint, Engine, Error, Integers, Operation, SignedBatch};
use pyo3::prelude::*;

/// Results, first columns, then masks.
#[derive(Default)]
pub struct Made<C = Integers> {
    pub columns: Vec<C>,
    pub masks: Vec<Vec<bool>>,
}

impl<C> Made<C> {
    fn columns<const N: usize>(columns: [C; N]) -> Result<Self, Error> {
        Ok(Made {
            columns: columns.into(),
            masks: Vec::new(),
        })
    }

    fn mask(mask: Vec<bool>) -> Result<Self, Error> {
        Ok(Made {
            columns: Vec::new(),
            masks: vec![mask],
        })
    }
}

/// The engine's operations on columns.
type On<'a> = &'a Engine;

/// What computes with columns of a kind.
type Compute<C> = fn(On<'_>, &[&C]) -> Result<Made<C>, Error>;

/// A lazy column.
type Lazy = Expression<Integers>;

/// A function of columns of as many numbers each; a column of one number stands for all rows.
pub struct Function {
    /// What Python calls it.
    pub name: &'static str,
    /// Its results.
    compute: Compute<Integers>,
    /// Its results of columns in the memory of a device, which stay there; `None` where it needs the
    /// host.
    pub on_device: Option<Compute<SignedBatch>>,
    /// Whether it takes much longer than its operands take to copy.
    pub is_long: bool,
    /// What it is in an expression; `None` where expressions do not have it.
    pub lazy: Option<fn(&[Lazy]) -> Lazy>,
}

impl Function {
    /// Its results.
    pub fn of(&self, engine: &Engine, operands: &[&Integers]) -> Result<Made, Error> {
        (self.compute)(engine, operands)
    }
}

/// A declaration
///
/// ```text
/// /// The greatest common divisor of `a` and `b`.
/// gcd GCD(a, b) long: |on, x| Made::columns([on.gcd(x[0], x[1])?]), of(Operation::Gcd);
/// ```
///
/// becomes the constant `GCD` and Python's function `gcd(a, b)`, and a line of `add_to`. With
/// `long and device` it is computed in the same words of columns that a device has.
macro_rules! functions {
    ($(
        $(#[$doc:meta])*
        $name:ident $constant:ident($($operand:ident),*) $length:ident $(and $device:ident)?:
            $compute:expr $(, lazy $lazy:expr)? $(, device $on_device:expr)?;
    )*) => {
        $(
            $(#[$doc])*
            pub const $constant: &Function = &Function {
                name: stringify!($name),
                compute: $compute,
                is_long: is!($length),
                lazy: optional!($($lazy)?),
                on_device: optional!($(of!($device $compute))? $($on_device)?),
            };

            $(#[$doc])*
            #[pyfunction]
            fn $name<'py>(
                py: Python<'py>,
                $($operand: Bound<'py, PyAny>),*
            ) -> PyResult<Bound<'py, PyAny>> {
                crate::call::called(py, $constant, &[$(&$operand),*])
            }
        )*

        /// Adds every function to the module.
        pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

macro_rules! is {
    (long) => {
        true
    };
    (short) => {
        false
    };
}

macro_rules! of {
    (device $compute:expr) => {
        $compute
    };
}

macro_rules! optional {
    () => {
        None
    };
    ($lazy:expr) => {
        Some($lazy)
    };
}

functions! {
    /// `a + b`.
    add ADD(a, b) short and device: |on, x| Made::columns([on.add(x[0], x[1])?]),
        lazy |x| &x[0] + &x[1];
    /// `a - b`.
    sub SUB(a, b) short and device: |on, x| Made::columns([on.sub(x[0], x[1])?]),
        lazy |x| &x[0] - &x[1];
    /// `a * b`.
    mul MUL(a, b) short and device: |on, x| Made::columns([on.mul(x[0], x[1])?]),
        lazy |x| &x[0] * &x[1];
    /// `a * a`.
    square SQUARE(a) short and device: |on, x| Made::columns([on.square(x[0])?]),
        lazy |x| &x[0] * &x[0];
    /// `a * b + c`.
    fma FMA(a, b, c) short and device: |on, x| Made::columns([on.mul_add(x[0], x[1], x[2])?]),
        lazy |x| &x[0] * &x[1] + &x[2];
    /// `-a`.
    neg NEG(a) short and device: |on, x| Made::columns([on.neg(x[0])?]),
        lazy |x| -&x[0];
    /// The absolute value of `a`.
    abs ABS(a) short and device: |on, x| Made::columns([on.abs(x[0])?]),
        lazy |x| x[0].clone().max(-&x[0]);
    /// `a // b`, rounded down.
    f_div F_DIV(a, b) short and device: |on, x| Made::columns([on.div(x[0], x[1])?]),
        lazy |x| apply::<2>(Operation::Div, x);
    /// `a % b`, with the sign of `b`.
    f_mod F_MOD(a, b) short and device: |on, x| Made::columns([on.rem(x[0], x[1])?]),
        lazy |x| apply::<2>(Operation::Rem, x);
    /// `divmod(a, b)`: the quotients are rounded down.
    f_divmod F_DIVMOD(a, b) short and device: |on, x| Made::columns(<[_; 2]>::from(on.div_rem_floor(x[0], x[1])?));
    /// The quotient of `a` and `b`, rounded towards zero.
    t_div T_DIV(a, b) short and device: |on, x| Made::columns([on.div_rem_truncated(x[0], x[1])?.0]);
    /// What `t_div(a, b)` leaves, with the sign of `a`.
    t_mod T_MOD(a, b) short and device: |on, x| Made::columns([on.div_rem_truncated(x[0], x[1])?.1]);
    /// `t_div(a, b)` and `t_mod(a, b)`.
    t_divmod T_DIVMOD(a, b) short and device: |on, x| Made::columns(<[_; 2]>::from(on.div_rem_truncated(x[0], x[1])?));
    /// Quotients whose remainders are not negative, and these.
    e_divmod E_DIVMOD(a, b) short and device: |on, x| Made::columns(<[_; 2]>::from(on.div_rem_euclid(x[0], x[1])?));
    /// The quotient of `a` and `b`, where `a` is a multiple of `b`.
    divexact DIVEXACT(a, b) short and device: |on, x| Made::columns([on.div_exact(x[0], x[1])?]);
    /// `a ** e`.
    pow POW(a, e) long: |on, x| Made::columns([on.pow(x[0], x[1])?]),
        lazy |x| x[0].clone().pow(&x[1]);
    /// `pow(a, e, m)`; of a negative `e` a power of the inverse.
    powmod POWMOD(a, e, m) long: |on, x| Made::columns([powers(on, x[0], x[1], x[2])?]),
        lazy |x| apply::<3>(Operation::PowMod, x),
        device |on, x| Made::columns([on.using(Algorithm::AutoVartime).pow_mod(x[0], x[1], x[2])?]);
    /// `a + b` modulo `m`, of `a` and `b` below `m`.
    mod_add MOD_ADD(a, b, m) short and device: |on, x| Made::columns([on.mod_add(x[0], x[1], x[2])?]);
    /// `a - b` modulo `m`, of `a` and `b` below `m`.
    mod_sub MOD_SUB(a, b, m) short and device: |on, x| Made::columns([on.mod_sub(x[0], x[1], x[2])?]);
    /// The inverse of `a` modulo `m`.
    invert INVERT(a, m) long and device: |on, x| Made::columns([on.inv_mod(x[0], x[1])?]),
        lazy |x| apply::<2>(Operation::InvMod, x);
    /// The greatest common divisor of `a` and `b`.
    gcd GCD(a, b) long and device: |on, x| Made::columns([on.gcd(x[0], x[1])?]),
        lazy |x| apply::<2>(Operation::Gcd, x);
    /// The least common multiple of `a` and `b`.
    lcm LCM(a, b) long and device: |on, x| Made::columns([on.lcm(x[0], x[1])?]),
        lazy |x| apply::<2>(Operation::Lcm, x);
    /// The Jacobi symbol of `a` over an odd `n`: -1, 0 or 1.
    jacobi JACOBI(a, n) long and device: |on, x| Made::columns([on.jacobi(x[0], x[1])?]),
        lazy |x| apply::<2>(Operation::Jacobi, x);
    /// The square root of `a`, rounded down.
    isqrt ISQRT(a) long and device: |on, x| Made::columns([on.isqrt(x[0])?.0]),
        lazy |x| apply::<1>(Operation::Isqrt, x);
    /// The square root of `a`, rounded down, and `a - root * root`.
    isqrt_rem ISQRT_REM(a) long and device: |on, x| Made::columns(<[_; 2]>::from(on.isqrt(x[0])?));
    /// The `n`-th root of `a`, rounded down, and whether it is exact.
    iroot IROOT(a, n) long: |on, x| {
        let (root, remainder) = on.iroot(x[0], x[1])?;
        Ok(Made {
            columns: vec![root],
            masks: vec![are(&remainder, |limbs| limbs.is_empty())?],
        })
    }, lazy |x| apply::<2>(Operation::Iroot, x);
    /// The `n`-th root of `a`, rounded down, and `a - root ** n`.
    iroot_rem IROOT_REM(a, n) long and device: |on, x| Made::columns(<[_; 2]>::from(on.iroot(x[0], x[1])?));
    /// Whether `a` is a square.
    is_square IS_SQUARE(a) long: |on, x| {
        let negative: Vec<bool> = (0..x[0].len()).map(|i| x[0].is_negative(i)).collect();
        let (_, remainder) = on.isqrt(&on.abs(x[0])?)?;
        let mut squares = are(&remainder, |limbs| limbs.is_empty())?;
        squares.iter_mut().zip(negative).for_each(|(is, negative)| *is &= !negative);
        Made::mask(squares)
    };
    /// Whether `a` is a perfect power.
    is_power IS_POWER(a) long: |on, x| Made::mask(on.is_perfect_power(x[0])?);
    /// Whether `a` is a prime.
    is_prime IS_PRIME(a) long: |on, x| Made::mask(on.is_prime(x[0])?);
    /// The least prime above `a`.
    next_prime NEXT_PRIME(a) long: |on, x| Made::columns([on.next_prime(x[0])?]);
    /// The greatest prime below `a`.
    prev_prime PREV_PRIME(a) long: |on, x| Made::columns([on.prev_prime(x[0])?]);
    /// Whether `a` is a prime, and `(a - 1) / 2` too.
    is_safe_prime IS_SAFE_PRIME(a) long: |on, x| Made::mask(on.is_safe_prime(x[0])?);
    /// Whether `n` is a strong probable prime to one base `a`.
    is_strong_prp IS_STRONG_PRP(n, a) long: |on, x| {
        if x[1].len() != 1 {
            return Err(Error::CountMismatch { a: 1, b: x[1].len() });
        }
        let base = BigUint::from_slice(x[1].magnitude(0));
        Made::mask(on.is_strong_probable_prime(x[0], &[base])?)
    };
    /// The length of `a` in bits, without its sign.
    bit_length BIT_LENGTH(a) short and device: |on, x| Made::columns([on.bit_length(x[0])?]),
        lazy |x| apply::<1>(Operation::BitLength, x);
    /// How many bits of a natural number `a` are 1.
    popcount POPCOUNT(a) short: |on, x| Made::columns([on.count_ones(x[0])?]);
    /// The place of the lowest 1 among the bits of `a`, which is how often 2 divides it; -1 of zero.
    bit_scan1 BIT_SCAN1(a) short: |_, x| Made::columns([lowest_ones(x[0])?]);
    /// Whether bit `n` of a natural number `a` is 1.
    bit_test BIT_TEST(a, n) short: |on, x| {
        let bits = on.test_bit(x[0], x[1])?;
        Made::mask(are(&bits, |limbs| !limbs.is_empty())?)
    };
    /// `a` with bit `n` set; negative numbers are infinite two's complements.
    bit_set BIT_SET(a, n) short: |on, x| {
        let bit = on.shl(&Integers::from([1]), x[1])?;
        Made::columns([bits::combined(x[0], &bit, |a, b| a | b)?])
    };
    /// `a << n`.
    mul_2exp MUL_2EXP(a, n) short and device: |on, x| Made::columns([on.shl(x[0], x[1])?]),
        lazy |x| &x[0] << &x[1];
    /// `a >> n`, rounded down.
    f_div_2exp F_DIV_2EXP(a, n) short and device: |on, x| Made::columns([on.shr(x[0], x[1])?]),
        lazy |x| &x[0] >> &x[1];
    /// `a & b`; negative numbers are infinite two's complements.
    bit_and BIT_AND(a, b) short: |_, x| Made::columns([bits::combined(x[0], x[1], |a, b| a & b)?]),
        lazy |x| apply::<2>(Operation::And, x);
    /// `a | b`; negative numbers are infinite two's complements.
    bit_or BIT_OR(a, b) short: |_, x| Made::columns([bits::combined(x[0], x[1], |a, b| a | b)?]),
        lazy |x| apply::<2>(Operation::Or, x);
    /// `a ^ b`; negative numbers are infinite two's complements.
    bit_xor BIT_XOR(a, b) short: |_, x| Made::columns([bits::combined(x[0], x[1], |a, b| a ^ b)?]),
        lazy |x| apply::<2>(Operation::Xor, x);
    /// `~a`, which is `-a - 1`.
    bit_not BIT_NOT(a) short: |on, x| {
        let one = Integers::from_biguints(&[1_u32.into()])?;
        Made::columns([on.sub(&on.neg(x[0])?, &one)?])
    }, lazy |x| -&x[0] - 1;
    /// The lesser of `a` and `b`, row by row.
    minimum MINIMUM(a, b) short and device: |on, x| Made::columns([on.min(x[0], x[1])?]),
        lazy |x| x[0].clone().min(&x[1]);
    /// The greater of `a` and `b`, row by row.
    maximum MAXIMUM(a, b) short and device: |on, x| Made::columns([on.max(x[0], x[1])?]),
        lazy |x| x[0].clone().max(&x[1]);
    /// `abs(a - b)`.
    abs_diff ABS_DIFF(a, b) short: |on, x| Made::columns([on.abs(&on.sub(x[0], x[1])?)?]);
    /// -1, 0 or 1 as `a` is less than, equal to or greater than `b`.
    cmp CMP(a, b) short and device: |on, x| Made::columns([on.order(x[0], x[1])?]),
        lazy |x| apply::<2>(Operation::Compare, x);
    /// -1, 0 or 1 as `a` is negative, zero or positive.
    sign SIGN(a) short: |on, x| Made::columns([on.order(x[0], &Integers::from_biguints(&[0_u32.into()])?)?]);
    /// Whether `a` is even.
    is_even IS_EVEN(a) short: |_, x| Made::mask(are(x[0], |limbs| limbs.first().is_none_or(|low| low % 2 == 0))?);
    /// Whether `a` is odd.
    is_odd IS_ODD(a) short: |_, x| Made::mask(are(x[0], |limbs| limbs.first().is_some_and(|low| low % 2 == 1))?);
}

/// An operation of `N` operands in an expression.
fn apply<const N: usize>(operation: Operation, x: &[Lazy]) -> Lazy {
    Expression::apply(operation, std::array::from_fn::<_, N, _>(|i| x[i].clone()))
}

/// What holds of each magnitude.
fn are(numbers: &Integers, is: impl Fn(&[u32]) -> bool) -> Result<Vec<bool>, Error> {
    let rows = (0..numbers.len()).map(|i| is(numbers.magnitude(i)));
    Ok(bigint_cpu::collect(rows)?)
}

/// The place of each number's lowest 1, and -1 where there is none.
fn lowest_ones(numbers: &Integers) -> Result<Integers, Error> {
    let mut places = Integers::new();
    for i in 0..numbers.len() {
        let limbs = numbers.magnitude(i);
        match limbs.iter().position(|&limb| limb != 0) {
            Some(at) => {
                let place = 32 * at as u64 + u64::from(limbs[at].trailing_zeros());
                places.push(false, &[place as u32, (place >> 32) as u32])?;
            }
            None => places.push(true, &[1])?,
        }
    }
    Ok(places)
}

/// The rows of `a` where the mask is set, and those of `b` elsewhere; one number stands for all rows.
pub fn chosen(mask: &[bool], a: &Integers, b: &Integers) -> Result<Integers, Error> {
    let row = |x: &Integers, i: usize| if x.len() == 1 { 0 } else { i };
    let indices = mask
        .iter()
        .enumerate()
        .map(|(i, &is_first)| match is_first {
            true => row(a, i),
            false => a.len() + row(b, i),
        });
    Integers::concatenate(&[a, b])?.gather(&bigint_cpu::collect(indices)?)
}

/// Powers modulo numbers. Nothing here is secret, so the time may depend on the exponent.
fn powers(on: On<'_>, a: &Integers, e: &Integers, m: &Integers) -> Result<Integers, Error> {
    let on = &on.using(Algorithm::AutoVartime);
    if e.signs().iter().all(|&signs| signs == 0) {
        return on.pow_mod(a, e, m);
    }
    let rows = [a, e, m]
        .into_iter()
        .map(Integers::len)
        .find(|&count| count != 1);
    let sign = |i: usize| e.is_negative(if e.len() == 1 { 0 } else { i });
    let negative = bigint_cpu::collect((0..rows.unwrap_or(1)).map(sign))?;
    let one = Integers::from_biguints(&[1_u32.into()])?;
    let inverses = on.inv_mod(&chosen(&negative, a, &one)?, m)?;
    on.pow_mod(&chosen(&negative, &inverses, a)?, &on.abs(e)?, m)
}
