//! What DataFusion's planner of SQL refuses of integers before it asks anyone: `-a`, `sum(a)`, `avg(a)` and
//! functions like `coalesce(a, 0)`, whose operands must be of one type.
//!
//! The planner accepts `-a` of machine numbers only. [`sql`] writes it as an operator between two
//! operands, for which there is a hook ([`NEGATIVE`]). Of functions the planner asks the one that has the
//! name in the session. That is an [`Undecided`], which takes integers and what DataFusion's own function takes;
//! once types are known, [`crate::plan`] puts DataFusion's, or what is right of integers, in its place.

use std::ops::ControlFlow;
use std::sync::Arc;

use bigint_arrow::Any;
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::Result;
use datafusion::dataframe::DataFrame;
use datafusion::execution::context::SessionContext;
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, ColumnarValue, ReturnFieldArgs,
    ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::sql::parser::{CopyToSource, Statement};
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, UnaryOperator, Value, VisitMut, visit_expressions_mut,
};

use crate::value::may_be_big;

/// The operator that stands for a minus before its right operand. Its left operand is null.
pub(crate) const NEGATIVE: &str = "negative";

/// Plans a query, as [`SessionContext::sql`] does, and also `-a` of integers.
///
/// # Errors
/// As [`SessionContext::sql`].
pub async fn sql(session: &SessionContext, query: &str) -> Result<DataFrame> {
    let state = session.state();
    let dialect = state.config_options().sql_parser.dialect;
    let mut statement = state.sql_to_statement(query, &dialect)?;
    write_negatives(&mut statement);
    let plan = state.statement_to_plan(statement).await?;
    session.execute_logical_plan(plan).await
}

fn write_negatives(statement: &mut Statement) {
    match statement {
        Statement::Statement(statement) => write_negatives_of(statement),
        Statement::Explain(explain) => write_negatives(&mut explain.statement),
        Statement::CopyTo(copy) => {
            if let CopyToSource::Query(query) = &mut copy.source {
                write_negatives_of(query);
            }
        }
        Statement::CreateExternalTable(_) | Statement::Reset(_) => (),
    }
}

fn write_negatives_of(part: &mut impl VisitMut) {
    let _ = visit_expressions_mut(part, |expr| {
        if let Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr: operand,
        } = expr
            // These have a sign of their own.
            && !matches!(**operand, Expr::Value(_) | Expr::Interval(_))
        {
            let null = || Box::new(Expr::Value(Value::Null.with_empty_span()));
            let right = std::mem::replace(operand, null());
            *expr = Expr::BinaryOp {
                left: null(),
                op: BinaryOperator::Custom(NEGATIVE.to_owned()),
                right,
            };
        }
        ControlFlow::<()>::Continue(())
    });
}

/// The functions of rows and of groups of which the planner asks an [`Undecided`].
pub(crate) const OF_ROWS: [&str; 6] = ["coalesce", "greatest", "least", "nullif", "nvl", "nvl2"];
pub(crate) const OF_GROUPS: [&str; 2] = ["sum", "avg"];

/// A function by DataFusion's name for it, until the types of its operands are known.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Undecided<F> {
    /// DataFusion's own function.
    pub own: Arc<F>,
    signature: Signature,
}

impl Undecided<AggregateUDF> {
    pub fn of_groups(own: Arc<AggregateUDF>) -> Self {
        let signature = Signature::any(1, Volatility::Immutable);
        Undecided { own, signature }
    }
}

impl Undecided<ScalarUDF> {
    pub fn of_rows(own: Arc<ScalarUDF>) -> Self {
        let signature = Signature::variadic_any(Volatility::Immutable);
        Undecided { own, signature }
    }
}

impl ScalarUDFImpl for Undecided<ScalarUDF> {
    fn name(&self) -> &str {
        self.own.name()
    }

    fn aliases(&self) -> &[String] {
        self.own.aliases()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.own.return_type(types)
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let fields = arguments.arg_fields;
        if fields.iter().any(|field| may_be_big(field)) {
            return Ok(Arc::new(Any::field(self.name(), true)));
        }
        let coerced = fields_with_udf(fields, &*self.own)?;
        self.own.return_field_from_args(ReturnFieldArgs {
            arg_fields: &coerced,
            ..arguments
        })
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        self.own.invoke_with_args(arguments)
    }
}

impl AggregateUDFImpl for Undecided<AggregateUDF> {
    fn name(&self) -> &str {
        self.own.name()
    }

    fn aliases(&self) -> &[String] {
        self.own.aliases()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.own.return_type(types)
    }

    fn return_field(&self, fields: &[FieldRef]) -> Result<FieldRef> {
        match fields {
            [field] if may_be_big(field) => Ok(Arc::new(Any::field(self.name(), true))),
            _ => self.own.return_field(&fields_with_udf(fields, &*self.own)?),
        }
    }

    fn accumulator(&self, arguments: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        self.own.accumulator(arguments)
    }
}
