//! The inputs of formulas: which are columns of files, and which are numbers for all lines.

use bigint_host::expression::Formula;
use bigint_host::plan::Extent;
use bigint_host::{Engine, Error, LIMB_BITS, SignedBatch};

use crate::column::Column;
use crate::failure::Place;

/// What an input is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// One number that stands for all, and where it is written.
    Constant(Column, Place),
    /// One number for each line: file number `.0`.
    Column(usize),
}

/// Formulas and their inputs.
#[derive(Debug)]
pub struct Operands {
    /// What is computed.
    pub formulas: Vec<Formula>,
    /// What each of their inputs is.
    pub origins: Vec<Origin>,
}

impl Operands {
    /// What is known of each input before any line is read.
    pub fn extents(&self) -> Vec<Extent> {
        let extent = |origin: &Origin| match origin {
            Origin::Constant(number, _) => Extent {
                bits: number.width * LIMB_BITS,
                most: (number.width == 1).then(|| u64::from(number.limbs[0])),
                is_column: false,
            },
            Origin::Column(_) => Extent {
                bits: LIMB_BITS,
                most: None,
                is_column: true,
            },
        };
        self.origins.iter().map(extent).collect()
    }

    /// The constants as batches, in the places of their inputs; empty batches for columns.
    ///
    /// # Errors
    /// As [`Engine::batch_from_limbs`].
    pub fn constants(&self, engine: &Engine) -> Result<Vec<SignedBatch>, Error> {
        let batch = |origin: &Origin| match origin {
            Origin::Constant(number, _) => number.clone().batch(engine),
            Origin::Column(_) => engine.signed_from_bigints(&[]),
        };
        self.origins.iter().map(batch).collect()
    }

    /// Every input, from the constants and the columns of a group.
    pub fn inputs<'a>(
        &self,
        constants: &'a [SignedBatch],
        columns: &'a [SignedBatch],
    ) -> Vec<&'a SignedBatch> {
        let pairs = self.origins.iter().zip(constants);
        let input = |(origin, constant): (&Origin, &'a SignedBatch)| match origin {
            Origin::Constant(..) => constant,
            Origin::Column(index) => &columns[*index],
        };
        pairs.map(input).collect()
    }
}
