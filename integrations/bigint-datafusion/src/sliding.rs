//! Totals of window frames that slide: rows come in at one end and leave at the other.
//!
//! A difference would undo a sum, but nothing undoes a minimum. So the rows of a frame lie on two stacks. Those that
//! come are put on `behind`, whose total is known. Those that leave are taken off `before`, which keeps the total of
//! each row and of all below it there. When `before` is empty, all of `behind` are turned over onto it.
//!
//! The least of three rows in turn, of 5 2 8 1:
//!
//! ```text
//! 5 2 8 have come   before                      behind 5 2 8, least 2      frame: 2
//! 5 leaves          before 8, 2 of 2 8          behind empty               turned over; the top was 2 of 5 2 8
//! 1 has come        before 8, 2 of 2 8          behind 1, least 1          frame: the least of 2 and 1
//! ```
//!
//! Cost: a row is combined at most twice, and a frame once, however long it is.

use std::sync::Arc;

use bigint_arrow::Column;
use bigint_host::Integers;
use bigint_host::expression::Function;
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::FieldRef;
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::Accumulator;

use crate::joined::Joined;
use crate::totals::Total;
use crate::value::{failed, read};

/// The total of a frame. Rows that are null are in no frame.
pub(crate) struct Sliding {
    /// The column.
    field: FieldRef,
    total: Total,
    engine: Arc<Joined>,
    before: Vec<Integers>,
    behind: Vec<Integers>,
    /// The total of `behind`, unless it is empty.
    of_behind: Option<Integers>,
}

impl std::fmt::Debug for Sliding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} of {} rows", self.total, self.count())
    }
}

impl Sliding {
    pub fn new(field: FieldRef, total: Total, engine: &Arc<Joined>) -> Self {
        Sliding {
            field,
            total,
            engine: Arc::clone(engine),
            before: Vec::new(),
            behind: Vec::new(),
            of_behind: None,
        }
    }

    fn count(&self) -> usize {
        self.before.len() + self.behind.len()
    }

    /// The total of a number and of what there is of others.
    fn combined(&self, others: Option<&Integers>, number: &Integers) -> Result<Integers> {
        let Some(others) = others else {
            return Ok(number.clone());
        };
        let function = Function::Operation(self.total.operation());
        let both = [others.clone(), number.clone()];
        self.engine.eval(function, &both).map_err(failed)
    }

    fn turn_over(&mut self) -> Result<()> {
        self.of_behind = None;
        while let Some(number) = self.behind.pop() {
            self.before
                .push(self.combined(self.before.last(), &number)?);
        }
        Ok(())
    }

    fn column(&self, values: &[ArrayRef]) -> Result<Column> {
        read(Arc::clone(&values[0]), &self.field)
    }
}

impl Accumulator for Sliding {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let column = self.column(values)?;
        for row in (0..column.len()).filter(|&row| !column.is_null(row)) {
            let number = column.numbers().slice(row..row + 1).map_err(failed)?;
            self.of_behind = Some(self.combined(self.of_behind.as_ref(), &number)?);
            self.behind.push(number);
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let nulls = values[0].logical_nulls();
        let leave = values[0].len() - nulls.as_ref().map_or(0, NullBuffer::null_count);
        for _ in 0..leave {
            if self.before.is_empty() {
                self.turn_over()?;
            }
            self.before.pop();
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let total = match (self.before.last(), &self.of_behind) {
            (before, Some(behind)) => Some(self.combined(before, behind)?),
            (before, None) => before.cloned(),
        };
        let nulls = NullBuffer::from(vec![total.is_some()]);
        let total = total.unwrap_or_else(|| [0_u32].into_iter().collect());
        let column = Column::new(total, Some(nulls)).map_err(failed)?;
        let counts = vec![self.count() as u64];
        let column = self.total.told(&self.engine, column, counts)?;
        ScalarValue::try_from_array(&bigint_arrow::any(&column), 0)
    }

    fn size(&self) -> usize {
        let numbers = self.before.iter().chain(&self.behind);
        let limbs: usize = numbers.map(|number| number.limbs().len()).sum();
        size_of_val(self) + 4 * limbs + size_of::<Integers>() * self.count()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        internal_err!("frames are not totalled in parts")
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        internal_err!("frames are not totalled in parts")
    }
}
