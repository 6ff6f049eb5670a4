//! Conversions for other libraries, each behind the feature of its name: `serde`, `num-traits`.

/// Integers are a sequence of decimal texts in formats for people, such as JSON; otherwise they are
/// limbs, offsets and signs, which are checked when they are read.
#[cfg(feature = "serde")]
mod with_serde {
    use crate::Integers;
    use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};
    use serde::ser::{Serialize, Serializer};
    use std::fmt;

    impl Serialize for Integers {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match serializer.is_human_readable() {
                true => serializer.collect_seq(self.decimals()),
                false => (self.limbs(), self.offsets(), self.signs()).serialize(serializer),
            }
        }
    }

    impl<'de> Deserialize<'de> for Integers {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            if deserializer.is_human_readable() {
                return deserializer.deserialize_seq(Texts);
            }
            let (limbs, offsets, signs) = Deserialize::deserialize(deserializer)?;
            Integers::from_parts(limbs, offsets, signs).map_err(D::Error::custom)
        }
    }

    struct Texts;

    impl<'de> Visitor<'de> for Texts {
        type Value = Integers;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a sequence of integers as texts")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut texts: A) -> Result<Integers, A::Error> {
            let mut integers = Integers::new();
            while let Some(text) = texts.next_element::<std::borrow::Cow<'de, str>>()? {
                integers
                    .push_text(text.as_bytes())
                    .map_err(A::Error::custom)?;
            }
            Ok(integers)
        }
    }
}

#[cfg(feature = "num-traits")]
mod with_num_traits {
    use crate::{Error, Integers};
    use num_traits::NumCast;

    impl Integers {
        /// The numbers as machine integers, or as any type that is cast from integers.
        ///
        /// ```
        /// use bigint_host::{Error, Integers};
        /// let a = Integers::from([-7, 300]);
        /// assert_eq!(a.cast::<i64>()?, [-7, 300]);
        /// assert!(matches!(a.cast::<i8>(), Err(Error::NoCast { index: 1, .. })));
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// [`Error::NoCast`] names the first number that the type does not have;
        /// [`Error::OutOfMemory`].
        pub fn cast<T: NumCast>(&self) -> Result<Vec<T>, Error> {
            let mut numbers = bigint_cpu::with_capacity(self.len())?;
            for (index, number) in self.iter().enumerate() {
                let into = std::any::type_name::<T>();
                numbers.push(T::from(number).ok_or(Error::NoCast { index, into })?);
            }
            Ok(numbers)
        }
    }
}
