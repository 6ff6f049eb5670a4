//! What batch gcd asks of a tree: what its product is modulo others, and which leaves share divisors.

use crate::trees::leaves::trimmed;
use crate::trees::levels::Level;
use crate::trees::product_tree::{Node, Origin, ProductTree};
use crate::trees::workers::{Others, Tick};
use crate::{Batch, Error, Integers};
use bigint_core::WIDEST_COUNTED;

impl ProductTree {
    /// The product of all leaves modulo one number, which is not zero, from what is about as long as that.
    pub(crate) fn product_modulo(&self, modulus: &Batch) -> Result<Batch, Error> {
        let engine = &self.engine;
        let rem = |x: &Batch| engine.rem_by(x, modulus);
        let mut parts = Vec::new();
        for (index, class) in self.classes.iter().enumerate() {
            let is_long = |level: &Level| level.width() >= modulus.width();
            let (levels, last) = (&class.levels, class.levels.len().saturating_sub(1));
            let level = levels.iter().position(is_long).unwrap_or(last);
            if let Some(level) = levels.get(level) {
                for half in &*level.halves(engine)? {
                    parts.push(rem(half)?);
                }
            }
            // Halves of a level have all that does not stand by itself up to there.
            let is_apart = |node: &&Node| matches!(node.origin, Origin::Odd { class, level: at } if class == index && at <= level);
            for node in self.nodes.iter().filter(is_apart) {
                parts.push(rem(&node.product)?);
            }
        }
        if parts.is_empty() {
            parts.push(engine.batch_from_biguints(&[1u8.into()])?);
        }
        let mut all = engine.concatenate(&parts.iter().collect::<Vec<_>>())?;
        while all.len() > 1 {
            let (half, count) = (all.len() / 2, all.len());
            let low = engine.slice(&all, 0..half)?;
            let high = engine.slice(&all, half..2 * half)?;
            let product = rem(&engine.mul(&low, &high)?)?;
            all = match count % 2 {
                0 => product,
                _ => engine.concatenate(&[&product, &engine.slice(&all, 2 * half..count)?])?,
            };
        }
        Ok(all)
    }

    /// The greatest common divisor of each leaf with the product of all other leaves and of `others`, each
    /// of which is one number; `ones` is a one for each leaf.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Device`] on a device.
    pub(crate) fn common_divisors(
        &self,
        others: Others<'_>,
        ones: &Integers,
        tick: Tick<'_>,
    ) -> Result<Integers, Error> {
        let engine = &self.engine;
        let cofactors = self.cofactors_by_class(others, tick)?;
        // A copy of their own, made while a device computes.
        let mut found = ones.clone();
        found.column_mut();
        // Most are 1, and are not brought to the host.
        let (mut places, mut greater) = (Vec::new(), Vec::new());
        for (index, (class, cofactors)) in self.classes.iter().zip(&cofactors).enumerate() {
            let divisors = engine.gcd(cofactors, &class.numbers)?;
            let which: Vec<usize> = match divisors.width() > WIDEST_COUNTED {
                true => (0..divisors.len()).collect(),
                false => {
                    let bits = engine.bit_length(&divisors)?;
                    let bits = bits.rows()?;
                    (0..bits.len()).filter(|&row| bits[row] > 1).collect()
                }
            };
            for (at, &row) in which.iter().enumerate() {
                places.push((class.leaves.at(row), index, at));
            }
            greater.push(engine.gather(&divisors, &which)?);
        }
        let rows = greater.iter().map(Batch::rows);
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        places.sort_unstable();
        let number = |&(leaf, class, at): &(usize, usize, usize)| {
            let width = greater[class].width();
            (leaf, trimmed(&rows[class][at * width..][..width]))
        };
        let numbers: Vec<_> = places.iter().map(number).collect();
        found.column_mut().replace(&numbers)?;
        Ok(found)
    }
}
