//! Functions of groups of rows.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use bigint_arrow::{Any, Column};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, UInt64Array};
use datafusion::arrow::compute::prep_null_mask_filter;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, UInt64Type};
use datafusion::common::{Result, ScalarValue, internal_err, not_impl_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{
    Accumulator, AggregateUDFImpl, EmitTo, GroupsAccumulator, ReversedUDAF, Signature, Volatility,
};

use crate::joined::Joined;
use crate::sliding::Sliding;
use crate::totals::{Total, Totals};
use crate::value::{read, refuse_others};

/// All functions of groups.
pub(crate) const AGGREGATES: &[(&str, Total)] = &[
    ("big_sum", Total::Sum),
    ("big_product", Total::Product),
    ("big_gcd_all", Total::Gcd),
    ("big_min", Total::Min),
    ("big_max", Total::Max),
    ("big_avg", Total::Mean),
];

/// A function of groups, which an engine computes. Partial states are `bigint.any`, and of a mean
/// the number of rows.
#[derive(Clone)]
pub(crate) struct Aggregate {
    name: &'static str,
    total: Total,
    signature: Signature,
    engine: Arc<Joined>,
}

impl Aggregate {
    pub fn new(&(name, total): &(&'static str, Total), engine: &Arc<Joined>) -> Self {
        Aggregate {
            name,
            total,
            signature: Signature::any(1, Volatility::Immutable),
            engine: Arc::clone(engine),
        }
    }

    fn refuse_distinct(&self, arguments: &AccumulatorArgs<'_>) -> Result<()> {
        let repeats_count = matches!(self.total, Total::Sum | Total::Product | Total::Mean);
        if arguments.is_distinct && repeats_count {
            return not_impl_err!(
                "{}(DISTINCT ...) beside other aggregates: take it of a SELECT DISTINCT",
                self.name
            );
        }
        Ok(())
    }

    fn accumulated(&self, arguments: &AccumulatorArgs<'_>) -> Result<Accumulated> {
        self.refuse_distinct(arguments)?;
        Ok(Accumulated {
            field: Arc::clone(&arguments.expr_fields[0]),
            total: self.total,
            totals: Totals::new(self.total, &self.engine),
        })
    }
}

// A name is one function, whoever computes it.
impl PartialEq for Aggregate {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Aggregate {}

impl Hash for Aggregate {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl std::fmt::Debug for Aggregate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl AggregateUDFImpl for Aggregate {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::LargeBinary)
    }

    fn return_field(&self, fields: &[FieldRef]) -> Result<FieldRef> {
        match fields {
            [field] => refuse_others(self.name, field)?,
            _ => return internal_err!("{} is of one column", self.name),
        }
        Ok(Arc::new(Any::field(self.name, true)))
    }

    fn state_fields(&self, arguments: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let name = |part| format_state_name(arguments.name, part);
        let mut fields = vec![Arc::new(Any::field(name("total"), true))];
        if self.total == Total::Mean {
            fields.push(Arc::new(Field::new(name("count"), DataType::UInt64, true)));
        }
        Ok(fields)
    }

    fn accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let mut accumulated = self.accumulated(&arguments)?;
        accumulated.totals.grow(1);
        Ok(Box::new(accumulated))
    }

    fn create_sliding_accumulator(
        &self,
        arguments: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        self.refuse_distinct(&arguments)?;
        let field = Arc::clone(&arguments.expr_fields[0]);
        Ok(Box::new(Sliding::new(field, self.total, &self.engine)))
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs<'_>) -> bool {
        true
    }

    fn create_groups_accumulator(
        &self,
        arguments: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(self.accumulated(&arguments)?))
    }
}

/// Totals on the way: of groups, or of all rows as group 0.
#[derive(Debug)]
struct Accumulated {
    /// The column.
    field: FieldRef,
    total: Total,
    totals: Totals,
}

impl Accumulated {
    fn update(
        &mut self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
        group: impl Fn(usize) -> usize,
    ) -> Result<()> {
        let column = read(Arc::clone(&values[0]), &self.field)?;
        let filter = filter.map(true_and_known);
        let is_chosen = |row| filter.as_ref().is_none_or(|filter| filter.value(row));
        self.totals.add(&column, is_chosen, group, |_| 1)
    }

    fn merge(&mut self, states: &[ArrayRef], group: impl Fn(usize) -> usize) -> Result<()> {
        let column = read(Arc::clone(&states[0]), &Any::field("state", true))?;
        let counts = states
            .get(1)
            .map(|counts| counts.as_primitive::<UInt64Type>());
        let count = |row| counts.map_or(1, |counts| counts.value(row));
        self.totals.add(&column, |_| true, group, count)
    }

    /// A column and, of a mean, the numbers of rows.
    fn states(&self, column: &Column, counts: Vec<u64>) -> Vec<ArrayRef> {
        let mut states: Vec<ArrayRef> = vec![Arc::new(bigint_arrow::any(column))];
        if self.total == Total::Mean {
            states.push(Arc::new(UInt64Array::from(counts)));
        }
        states
    }
}

/// A filter that is true nowhere where it is null.
fn true_and_known(filter: &BooleanArray) -> BooleanArray {
    match filter.null_count() {
        0 => filter.clone(),
        _ => prep_null_mask_filter(filter),
    }
}

impl Accumulator for Accumulated {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.update(values, None, |_| 0)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.merge(states, |_| 0)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let (column, counts) = self.totals.settled(0..1)?;
        let column = self.total.told(self.totals.engine(), column, counts)?;
        ScalarValue::try_from_array(&bigint_arrow::any(&column), 0)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let (column, counts) = self.totals.settled(0..1)?;
        let states = self.states(&column, counts);
        let states = states
            .iter()
            .map(|state| ScalarValue::try_from_array(state, 0));
        states.collect()
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.totals.size()
    }
}

impl GroupsAccumulator for Accumulated {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        count: usize,
    ) -> Result<()> {
        self.totals.grow(count);
        self.update(values, filter, |row| groups[row])
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], count: usize) -> Result<()> {
        self.totals.grow(count);
        self.merge(states, |row| groups[row])
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let (column, counts) = self.emitted(emit)?;
        let column = self.total.told(self.totals.engine(), column, counts)?;
        Ok(Arc::new(bigint_arrow::any(&column)))
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        let (column, counts) = self.emitted(emit)?;
        Ok(self.states(&column, counts))
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        // Each row is a group.
        let mut totals = Totals::new(self.total, self.totals.engine());
        let column = read(Arc::clone(&values[0]), &self.field)?;
        let filter = filter.map(true_and_known);
        let is_chosen = |row| filter.as_ref().is_none_or(|filter| filter.value(row));
        totals.grow(column.len());
        totals.add(&column, is_chosen, |row| row, |_| 1)?;
        let (column, counts) = totals.settled(0..totals.len())?;
        Ok(self.states(&column, counts))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.totals.size()
    }
}

impl Accumulated {
    /// The totals of the groups that are asked for, which are forgotten.
    fn emitted(&mut self, emit: EmitTo) -> Result<(Column, Vec<u64>)> {
        let groups = match emit {
            EmitTo::All => self.totals.len(),
            EmitTo::First(groups) => groups,
        };
        let emitted = self.totals.settled(0..groups)?;
        self.totals.forget(groups)?;
        Ok(emitted)
    }
}
