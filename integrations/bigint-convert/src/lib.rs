#![doc = include_str!("../README.md")]

use bigint_host::{Error, Integers, Limb};

/// A number of another library.
pub trait Foreign: Sized {
    /// Appends the limbs of the magnitude, and tells whether it is negative.
    fn write(&self, limbs: &mut Vec<Limb>) -> bool;

    /// The number of this magnitude and sign, if the type has it. Zero is not negative, and no limb
    /// on top is zero.
    fn read(negative: bool, limbs: &[Limb]) -> Option<Self>;
}

/// These numbers as a column.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn integers<'a, T: Foreign + 'a>(
    numbers: impl IntoIterator<Item = &'a T>,
) -> Result<Integers, Error> {
    let mut column = Integers::new();
    let mut limbs = Vec::new();
    for number in numbers {
        limbs.clear();
        let negative = number.write(&mut limbs);
        column.push(negative, &limbs)?;
    }
    Ok(column)
}

/// The numbers of a column.
///
/// # Errors
/// [`Error::NoCast`] names the first number that the type does not have.
pub fn numbers<T: Foreign>(column: &Integers) -> Result<Vec<T>, Error> {
    let into = std::any::type_name::<T>();
    let number = |index| {
        let number = T::read(column.is_negative(index), column.magnitude(index));
        number.ok_or(Error::NoCast { index, into })
    };
    (0..column.len()).map(number).collect()
}

/// Words of 64 bits as limbs.
#[cfg(any(feature = "crypto-bigint", feature = "dashu", feature = "malachite"))]
fn split(words: impl IntoIterator<Item = u64>, limbs: &mut Vec<Limb>) {
    let words = words.into_iter();
    limbs.extend(words.flat_map(|word| [word as Limb, (word >> Limb::BITS) as Limb]));
}

/// Limbs as words of 64 bits.
#[cfg(any(feature = "crypto-bigint", feature = "dashu", feature = "malachite"))]
fn joined(limbs: &[Limb]) -> impl ExactSizeIterator<Item = u64> + '_ {
    let high = |pair: &[Limb]| pair.get(1).map_or(0, |&high| u64::from(high) << Limb::BITS);
    limbs.chunks(2).map(move |pair| high(pair) | u64::from(pair[0]))
}

#[cfg(feature = "crypto-bigint")]
impl<const LIMBS: usize> Foreign for crypto_bigint::Uint<LIMBS> {
    fn write(&self, limbs: &mut Vec<Limb>) -> bool {
        split(self.as_words().iter().map(|&word| word as u64), limbs);
        false
    }

    fn read(negative: bool, limbs: &[Limb]) -> Option<Self> {
        if negative || limbs.len().div_ceil(2) > LIMBS {
            return None;
        }
        let mut words = [0; LIMBS];
        for (word, joined) in words.iter_mut().zip(joined(limbs)) {
            *word = joined;
        }
        Some(Self::from_words(words))
    }
}

#[cfg(feature = "dashu")]
mod dashu {
    use super::{Foreign, Limb, joined, split};
    use dashu_int::{IBig, Sign, UBig};

    impl Foreign for UBig {
        fn write(&self, limbs: &mut Vec<Limb>) -> bool {
            split(self.as_words().iter().copied(), limbs);
            false
        }

        fn read(negative: bool, limbs: &[Limb]) -> Option<Self> {
            let words: Vec<_> = joined(limbs).collect();
            (!negative).then(|| UBig::from_words(&words))
        }
    }

    impl Foreign for IBig {
        fn write(&self, limbs: &mut Vec<Limb>) -> bool {
            let (sign, words) = self.as_sign_words();
            split(words.iter().copied(), limbs);
            sign == Sign::Negative
        }

        fn read(negative: bool, limbs: &[Limb]) -> Option<Self> {
            let sign = if negative { Sign::Negative } else { Sign::Positive };
            Some(IBig::from_parts(sign, UBig::read(false, limbs)?))
        }
    }
}

#[cfg(feature = "malachite")]
mod malachite {
    use super::{Foreign, Limb, joined, split};
    use malachite_nz::integer::Integer;
    use malachite_nz::natural::Natural;

    impl Foreign for Natural {
        fn write(&self, limbs: &mut Vec<Limb>) -> bool {
            split(self.limbs(), limbs);
            false
        }

        fn read(negative: bool, limbs: &[Limb]) -> Option<Self> {
            (!negative).then(|| Natural::from_owned_limbs_asc(joined(limbs).collect()))
        }
    }

    impl Foreign for Integer {
        fn write(&self, limbs: &mut Vec<Limb>) -> bool {
            self.unsigned_abs_ref().write(limbs);
            *self < 0
        }

        fn read(negative: bool, limbs: &[Limb]) -> Option<Self> {
            let magnitude = Natural::read(false, limbs)?;
            Some(Integer::from_sign_and_abs(!negative, magnitude))
        }
    }
}

#[cfg(feature = "rug")]
impl Foreign for rug::Integer {
    fn write(&self, limbs: &mut Vec<Limb>) -> bool {
        limbs.extend(self.to_digits::<Limb>(rug::integer::Order::Lsf));
        self.is_negative()
    }

    fn read(negative: bool, limbs: &[Limb]) -> Option<Self> {
        let magnitude = rug::Integer::from_digits(limbs, rug::integer::Order::Lsf);
        Some(if negative { -magnitude } else { magnitude })
    }
}
