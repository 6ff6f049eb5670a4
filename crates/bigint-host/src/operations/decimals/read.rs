//! Long numbers of decimal digits, by products with powers of ten on devices.
//!
//! With `D_j` as in [`super`], a number of height `j` is `high 10^(D_(j-1)) + low`, both of height `j - 1`. All of a
//! height are one batch, in the order in which halving leaves them, so that the lower half of a batch is `low`
//! and the upper one `high`. The CPU reads the leaves. Digits in front of the highest tree are a number by
//! themselves. For 123456 with leaves of two digits: 12, then 34 and 56, which make `34 100 + 56`, and
//! `12 10^4 + 3456`.
//!
//! **Cost**: the powers, and a product and a sum of `16 2^j` limbs a number for each height.

use super::{LEAF_DIGITS, LEAF_LIMBS, LEAST_HEIGHT, LEAVES_OF_TASK, reversed};
use crate::plan::choose::Converter;
use crate::values::integers::Integers;
use crate::{Batch, BigUint, Engine, Error, Options};
use bigint_core::{Layout, Shape};
use bigint_cpu::radix::{Decimals, limbs_of_digits, parse_decimal};
use bigint_cpu::{map, threads};
use std::iter::zip;

impl Engine {
    /// Integers of texts, each as [`Integers::push_text`] reads it. Decimal digits of long numbers, and of many
    /// shorter ones, are read on devices where there are any.
    ///
    /// ```
    /// use bigint_host::{Engine, Integers};
    /// let a = Engine::auto().integers_from_texts(["-7", "0xff"])?;
    /// assert_eq!(a, Integers::from([-7, 255]));
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Integers::push_text`]; [`Error::Device`] on a device.
    pub fn integers_from_texts<T: AsRef<[u8]>>(
        &self,
        texts: impl IntoIterator<Item = T>,
    ) -> Result<Integers, Error> {
        let texts: Vec<T> = texts.into_iter().collect();
        // The place of each text's number among those of its class.
        let mut places: Vec<Option<(usize, usize)>> = vec![None; texts.len()];
        let mut numbers: Vec<Batch> = Vec::new();
        let digits = texts.iter().map(|text| self.long_digits(text.as_ref()));
        let digits: Vec<Option<&[u8]>> = digits.collect();
        let height = |&i: &usize| digits[i].map(|digits| height_of_digits(digits.len()));
        let mut order: Vec<usize> = (0..texts.len()).filter(|&i| digits[i].is_some()).collect();
        order.sort_by_key(height);
        for class in order.chunk_by(|i, j| height(i) == height(j)) {
            let of_class: Vec<&[u8]> = class.iter().filter_map(|&i| digits[i]).collect();
            let longest = of_class.iter().map(|digits| digits.len()).max();
            let width = limbs_of_digits(longest.unwrap_or(0));
            let converter = self.converter(width, class.len());
            if converter == Converter::Cpu {
                continue;
            }
            let engine = self.using(Options::default());
            let read = || match converter {
                Converter::Products => engine.numbers_of_digits(of_class),
                _ => engine.numbers_by_threads(&of_class),
            };
            for (at, &i) in class.iter().enumerate() {
                places[i] = Some((numbers.len(), at));
            }
            numbers.push(self.inner.choices.as_steps(read)?);
        }
        let rows = numbers.iter().map(Batch::rows);
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        let (mut integers, mut decimals) = (Integers::new(), Decimals::default());
        for (text, place) in zip(&texts, places) {
            let text = text.as_ref();
            match place {
                Some((class, at)) => {
                    let width = numbers[class].width();
                    let number = &rows[class][at * width..][..width];
                    integers.push(text.starts_with(b"-"), number)?;
                }
                None => integers.push_text_by(text, &mut decimals)?,
            }
        }
        Ok(integers)
    }

    /// The digits of a text that is a number in decimal, without its sign, of a length that devices may convert.
    fn long_digits<'a>(&self, text: &'a [u8]) -> Option<&'a [u8]> {
        let digits = match text {
            [b'-' | b'+', digits @ ..] => digits,
            digits => digits,
        };
        let tuning = self.tuning().decimals;
        let least = tuning.min_width.min(tuning.thread_min_width);
        let is_long = limbs_of_digits(digits.len()) >= least;
        (is_long && !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)).then_some(digits)
    }

    /// The numbers of these digits, by products.
    pub(super) fn numbers_of_digits(&self, digits: Vec<&[u8]>) -> Result<Batch, Error> {
        let (mut tops, mut trees) = (digits, Vec::new());
        let longest = |texts: &[&[u8]]| texts.iter().map(|text| text.len()).max().unwrap_or(0);
        loop {
            let height = height_of_digits(longest(&tops));
            let width = limbs_of_digits(longest(&tops));
            if height < LEAST_HEIGHT || !self.is_for_products(width, tops.len()) {
                break;
            }
            let cut = |top: &&'_ [u8]| top.len().saturating_sub(LEAF_DIGITS << height);
            let lower: Vec<&[u8]> = tops.iter().map(|top| &top[cut(top)..]).collect();
            tops.iter_mut().for_each(|top| *top = &top[..cut(top)]);
            trees.push((height, lower));
        }
        let highest = trees.first().map_or(0, |&(height, _)| height);
        let powers = self.powers(highest)?;
        let mut read = longest(&tops);
        let tops = map(tops, threads(), |top| Ok(BigUint::new(parse_decimal(top)?)));
        let tops = tops.into_iter().collect::<Result<Vec<_>, Error>>()?;
        let mut numbers = self.batch_from_biguints(&tops)?;
        for (height, lower) in trees.into_iter().rev() {
            let below = self.joined(self.leaves(&lower, height)?, lower.len(), &powers)?;
            let product = self.mul(&numbers, &powers[height as usize])?;
            read += LEAF_DIGITS << height;
            // The sum is below `(number + 1) 10^D`, which the limbs of the product hold.
            let sum = self.wrapping_add(&product, &below)?;
            numbers = self.limbs_from(&sum, 0, limbs_of_digits(read))?;
        }
        Ok(numbers)
    }

    /// The leaves of trees of this height, in the order of [`Leaves`](super::Leaves).
    fn leaves(&self, texts: &[&[u8]], height: u32) -> Result<Batch, Error> {
        let shape = Shape::new(texts.len() << height, LEAF_LIMBS, Layout::Contiguous);
        let mut limbs = bigint_cpu::zeroed(shape.limbs())?;
        let tasks = limbs.chunks_mut(LEAVES_OF_TASK * LEAF_LIMBS).enumerate();
        let read = map(tasks, threads(), |(task, limbs)| {
            let mut decimals = Decimals::default();
            for (at, leaf) in limbs.chunks_mut(LEAF_LIMBS).enumerate() {
                let row = task * LEAVES_OF_TASK + at;
                let digits = texts[row % texts.len()];
                let from_below = reversed(row / texts.len(), height);
                let end = digits.len().saturating_sub(from_below * LEAF_DIGITS);
                decimals.read(&digits[end.saturating_sub(LEAF_DIGITS)..end], leaf)?;
            }
            Ok::<_, Error>(())
        });
        read.into_iter().collect::<Result<(), _>>()?;
        self.batch_from_limbs(limbs, shape)
    }

    /// The numbers, so many, that leaves make.
    fn joined(&self, leaves: Batch, count: usize, powers: &[Batch]) -> Result<Batch, Error> {
        let (mut all, mut powers) = (leaves, powers.iter());
        while let (true, Some(power)) = (all.len() > count, powers.next()) {
            let half = all.len() / 2;
            let [low, high] = [0..half, half..2 * half].map(|part| self.slice(&all, part));
            self.keep_transform(power);
            // The sum is below `(high + 1) 10^D`, which the limbs of the product hold.
            all = self.wrapping_add(&self.mul(&high?, power)?, &low?)?;
        }
        Ok(all)
    }
}

/// The greatest height whose numbers have no more digits than this.
fn height_of_digits(digits: usize) -> u32 {
    (digits / LEAF_DIGITS).max(1).ilog2()
}
