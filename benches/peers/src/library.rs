//! The libraries beside us, each through its own public types.

use std::hint::black_box;

use rug::Assign;

use crate::operands::Op;

/// A library whose numbers are objects, one allocation each.
pub trait Library: Send + Sync + 'static {
    /// The library's integer.
    type Number: Send + Sync;
    /// Where a result goes. GMP writes into integers that exist already, as its
    /// manual advises; the Rust libraries return a new number, which is dropped
    /// at once, so that their allocator finds warm memory for the next.
    type Slot: Send + Sync;
    /// The name in records.
    const NAME: &'static str;

    /// The number of these 64-bit words, lowest first.
    fn number(words: &[u64]) -> Self::Number;
    /// A place for results of up to `bits` bits.
    fn slot(bits: usize) -> Self::Slot;
    /// One operation, as it is timed.
    fn apply(op: Op, a: &Self::Number, b: &Self::Number, slot: &mut Self::Slot);
    /// The result of one operation as 64-bit words, lowest first.
    fn result(op: Op, a: &Self::Number, b: &Self::Number) -> Vec<u64>;
}

/// GMP, through `rug`.
pub struct Gmp;

impl Library for Gmp {
    type Number = rug::Integer;
    type Slot = rug::Integer;
    const NAME: &'static str = "gmp";

    fn number(words: &[u64]) -> rug::Integer {
        rug::Integer::from_digits(words, rug::integer::Order::Lsf)
    }

    fn slot(bits: usize) -> rug::Integer {
        rug::Integer::with_capacity(bits + 64)
    }

    fn apply(op: Op, a: &rug::Integer, b: &rug::Integer, slot: &mut rug::Integer) {
        match op {
            Op::Mul => slot.assign(a * b),
            Op::Sqr => slot.assign(a.square_ref()),
            Op::Add => slot.assign(a + b),
            Op::Sub => slot.assign(a - b),
        }
        black_box(slot);
    }

    fn result(op: Op, a: &rug::Integer, b: &rug::Integer) -> Vec<u64> {
        let mut slot = rug::Integer::new();
        Self::apply(op, a, b, &mut slot);
        slot.to_digits(rug::integer::Order::Lsf)
    }
}

/// Implements [`Library`] for a type with operators by reference. For `ibig`:
///
/// ```text
/// impl Library for Ibig {
///     type Number = ibig::UBig;
///     fn apply(op, a, b, _) { black_box(match op { Op::Mul => a * b, ... }); }
///     ...
/// }
/// ```
macro_rules! library {
    ($(#[$doc:meta])* $marker:ident, $name:literal, $number:ty,
     from: |$words:ident| $from:expr, to: |$value:ident| $to:expr, square: |$a:ident| $square:expr) => {
        $(#[$doc])*
        pub struct $marker;

        impl $marker {
            fn compute(op: Op, $a: &$number, b: &$number) -> $number {
                match op {
                    Op::Mul => $a * b,
                    Op::Sqr => $square,
                    Op::Add => $a + b,
                    Op::Sub => $a - b,
                }
            }
        }

        impl Library for $marker {
            type Number = $number;
            type Slot = ();
            const NAME: &'static str = $name;

            fn number($words: &[u64]) -> $number {
                $from
            }

            fn slot(_bits: usize) {}

            fn apply(op: Op, a: &$number, b: &$number, _slot: &mut ()) {
                black_box(Self::compute(op, a, b));
            }

            fn result(op: Op, a: &$number, b: &$number) -> Vec<u64> {
                let $value = Self::compute(op, a, b);
                $to
            }
        }
    };
}

library!(
    /// `num-bigint`.
    NumBigint,
    "num_bigint",
    num_bigint::BigUint,
    from: |words| num_bigint::BigUint::new(
        words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]).collect()
    ),
    to: |value| value.to_u64_digits(),
    square: |a| a * a
);

library!(
    /// `dashu-int`.
    Dashu,
    "dashu",
    dashu_int::UBig,
    from: |words| dashu_int::UBig::from_words(words),
    to: |value| value.as_words().to_vec(),
    square: |a| a.sqr()
);

library!(
    /// `malachite-nz`.
    Malachite,
    "malachite",
    malachite_nz::natural::Natural,
    from: |words| malachite_nz::natural::Natural::from_limbs_asc(words),
    to: |value| value.to_limbs_asc(),
    square: |a| malachite_base::num::arithmetic::traits::Square::square(a)
);

library!(
    /// `ibig`.
    Ibig,
    "ibig",
    ibig::UBig,
    from: |words| ibig::UBig::from_le_bytes(
        &words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>()
    ),
    to: |value| value
        .to_le_bytes()
        .chunks(8)
        .map(|chunk| chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)))
        .collect(),
    square: |a| a * a
);
