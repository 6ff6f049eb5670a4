//! Integers of which some may be null.

use arrow_buffer::NullBuffer;
use bigint_host::{Batch, Engine, Integers, Layout, Shape, SignedBatch};

use crate::Error;

/// Integers of any lengths, of which some may be null.
///
/// The engine knows no nulls. What it computes of several columns it computes of
/// [`Column::prepared`] ones, in which every row with a null has the number 1 in all columns: no
/// operation refuses that, and the results of those rows are null.
///
/// ```
/// use arrow_array::{ArrayRef, Int64Array};
/// use arrow_schema::{DataType, Field};
/// use bigint_arrow::Column;
/// use bigint_host::expression::Expression;
/// use bigint_host::{Engine, Operation};
///
/// let column = |name: &str, numbers: Vec<Option<i64>>| {
///     let field = Field::new(name, DataType::Int64, true);
///     bigint_arrow::read(std::sync::Arc::new(Int64Array::from(numbers)) as ArrayRef, &field)
/// };
/// let a = column("a", vec![Some(7), Some(8), None])?;
/// let b = column("b", vec![Some(2), None, Some(0)])?;
/// let (numbers, nulls) = Column::prepared(&[&a, &b])?;
/// let quotient = Expression::apply(Operation::Div, [0, 1].map(|i| (&numbers[i]).into()));
/// let quotients = Engine::cpu().eval(&quotient)?;
/// let quotients = Column::new(quotients, nulls)?;
/// assert_eq!(quotients.to_string(), "[3, null, null]");
/// # Ok::<(), bigint_arrow::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    numbers: Integers,
    nulls: Option<NullBuffer>,
}

impl From<Integers> for Column {
    fn from(numbers: Integers) -> Self {
        Column {
            numbers,
            nulls: None,
        }
    }
}

impl Column {
    /// Numbers, and which of them are null.
    ///
    /// # Errors
    /// [`Error::Lengths`] where there are not as many of both.
    pub fn new(numbers: Integers, nulls: Option<NullBuffer>) -> Result<Self, Error> {
        match &nulls {
            Some(nulls) if nulls.len() != numbers.len() => Err(Error::Lengths {
                a: numbers.len(),
                b: nulls.len(),
            }),
            _ => Ok(Column {
                numbers,
                nulls: nulls.filter(|nulls| nulls.null_count() > 0),
            }),
        }
    }

    /// The numbers; any number where a row is null.
    pub fn numbers(&self) -> &Integers {
        &self.numbers
    }

    /// Which rows are null, if some are.
    pub fn nulls(&self) -> Option<&NullBuffer> {
        self.nulls.as_ref()
    }

    /// Both.
    pub fn into_parts(self) -> (Integers, Option<NullBuffer>) {
        (self.numbers, self.nulls)
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a row is null.
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// The numbers of the rows that are not null: what a total is of.
    ///
    /// # Errors
    /// As [`Integers::gather`].
    pub fn present(&self) -> Result<Integers, Error> {
        Ok(match &self.nulls {
            None => self.numbers.clone(),
            Some(nulls) => {
                let rows: Vec<usize> = nulls.valid_indices().collect();
                self.numbers.gather(&rows)?
            }
        })
    }

    /// The numbers of columns of one length, with 1 in all of them where a row is null in any;
    /// and which rows are. Without nulls nothing is copied.
    ///
    /// # Errors
    /// [`Error::Lengths`]; as [`Integers::gather`].
    pub fn prepared(columns: &[&Column]) -> Result<(Vec<Integers>, Option<NullBuffer>), Error> {
        let mut nulls = None;
        for column in columns {
            let (a, b) = (columns[0].len(), column.len());
            if a != b {
                return Err(Error::Lengths { a, b });
            }
            nulls = NullBuffer::union(nulls.as_ref(), column.nulls());
        }
        let numbers = columns.iter().map(|column| match &nulls {
            None => Ok(column.numbers.clone()),
            Some(nulls) => column.with_ones(nulls),
        });
        Ok((numbers.collect::<Result<_, Error>>()?, nulls))
    }

    fn with_ones(&self, nulls: &NullBuffer) -> Result<Integers, Error> {
        let one = Integers::from_parts(vec![1], vec![0, 4], vec![0])?;
        let row = |row| match nulls.is_null(row) {
            true => self.len(),
            false => row,
        };
        let rows: Vec<usize> = (0..self.len()).map(row).collect();
        Ok(Integers::concatenate(&[&self.numbers, &one])?.gather(&rows)?)
    }

    /// The numbers as a batch of an engine, as wide as the longest; any number where a row is
    /// null.
    ///
    /// # Errors
    /// As [`Engine::batch_from_limbs`].
    pub fn batch(&self, engine: &Engine) -> Result<SignedBatch, Error> {
        let magnitudes = (0..self.len()).map(|row| self.numbers.magnitude(row));
        let width = magnitudes.clone().map(<[_]>::len).max();
        let width = width.unwrap_or(0).max(1);
        let mut limbs = vec![0; self.len() * width];
        for (place, magnitude) in limbs.chunks_exact_mut(width).zip(magnitudes) {
            place[..magnitude.len()].copy_from_slice(magnitude);
        }
        let shape = Shape::new(self.len(), width, Layout::Contiguous);
        let batch: Batch = engine.batch_from_limbs(limbs, shape)?;
        let negative: Vec<bool> = (0..self.len())
            .map(|row| self.numbers.is_negative(row))
            .collect();
        Ok(SignedBatch::new(batch, &negative)?)
    }
}

/// All rows in decimal digits.
impl std::fmt::Display for Column {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rows = self.numbers.decimals().enumerate();
        let rows = rows.map(|(row, number)| match self.is_null(row) {
            true => "null".to_owned(),
            false => number,
        });
        write!(f, "[{}]", rows.collect::<Vec<_>>().join(", "))
    }
}
