//! Operators, orders and casts of integers become functions.
//!
//! DataFusion knows of an extension type what its storage is: it would compare integers as bytes.
//! SQL's operators are planned here before DataFusion looks at their types ([`Operators`]), and what
//! has no hook of its own, in a rule that goes before all others ([`Rule`]):
//!
//! | SQL | becomes |
//! |---|---|
//! | `a + b`, `a < b` | `big_add(a, b)`, `big_lt(a, b)` |
//! | `a = b`, joins `USING`, `IN` | the same of `big(a)` and `big(b)` where their types differ |
//! | `a BETWEEN b AND c` | `big_ge(a, b) AND big_le(a, c)` |
//! | `ORDER BY a`, also in aggregates | `ORDER BY big_key(a)` |
//! | `OVER (ORDER BY a)` | `OVER (ORDER BY big_key_hex(a))`: a frame has no order of bytes |
//! | `-a` | `big_neg(a)` |
//! | `min(a)`, `max(a)`, `sum(a)`, `avg(a)` | `big_min(a)`, ... |
//! | `CAST(a AS t)` | `big_cast(a, 't')` |
//! | `coalesce(a, 0)` | `big(coalesce(big(a), big(0)))` |
//! | `greatest(a, b)` | `big_greatest(a, b)`, but of nulls |
//! | `CASE ... THEN a ... END` | `big(CASE ... THEN big(a) ... END)` |
//!
//! Equality, `GROUP BY`, `DISTINCT` and joins need nothing: of one type, equal integers have equal
//! bytes.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::extension::{EXTENSION_TYPE_NAME_KEY, ExtensionType};
use bigint_arrow::Any;
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, Result, ScalarValue, plan_err};
use datafusion::functions;
use datafusion::logical_expr::expr::{
    AggregateFunction, Between, Case, Cast, InList, InSubquery, ScalarFunction, SetComparison,
    Sort as SortExpr, WindowFunction,
};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::type_coercion::{is_interval, is_signed_numeric, is_timestamp};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    Aggregate, AggregateUDF, BinaryExpr, Distinct, Expr, ExprSchemable, LogicalPlan, Operator,
    Projection, ScalarUDF, Subquery, Union, WindowFrame, WindowFrameBound, WindowFrameUnits,
    WindowFunctionDefinition, lit,
};
use datafusion::optimizer::analyzer::AnalyzerRule;
use datafusion::sql::sqlparser::ast::BinaryOperator;

use crate::sql::{NEGATIVE, Undecided};
use crate::value::{failed, is_big, may_be_big, read, refuse_others};

/// The functions that operators become, by their names.
#[derive(Debug)]
struct Functions {
    scalars: HashMap<String, Arc<ScalarUDF>>,
    aggregates: HashMap<String, Arc<AggregateUDF>>,
}

/// Plans operators of SQL.
#[derive(Clone, Debug)]
pub(crate) struct Operators(Arc<Functions>);

/// Rewrites what else is of integers.
#[derive(Clone, Debug)]
pub(crate) struct Rule(Arc<Functions>);

/// Both, with these functions.
pub(crate) fn planners(
    scalars: &[Arc<ScalarUDF>],
    aggregates: &[Arc<AggregateUDF>],
) -> (Operators, Rule) {
    let (scalars, aggregates) = (scalars.iter().cloned(), aggregates.iter().cloned());
    let functions = Arc::new(Functions {
        scalars: scalars.map(|f| (f.name().to_owned(), f)).collect(),
        aggregates: aggregates.map(|f| (f.name().to_owned(), f)).collect(),
    });
    (Operators(Arc::clone(&functions)), Rule(functions))
}

impl ExprPlanner for Operators {
    fn plan_binary_op(
        &self,
        written: RawBinaryExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>> {
        if matches!(&written.op, BinaryOperator::Custom(name) if name == NEGATIVE) {
            let negated = self.0.negated(written.right, schema)?;
            return Ok(PlannerResult::Planned(negated));
        }
        let Some(operator) = operator(&written.op) else {
            return Ok(PlannerResult::Original(written));
        };
        let RawBinaryExpr { op, left, right } = written;
        Ok(match self.0.operated(operator, left, right, schema)? {
            Ok(planned) => PlannerResult::Planned(planned),
            Err((left, right)) => PlannerResult::Original(RawBinaryExpr { op, left, right }),
        })
    }
}

/// What SQL's operator is to DataFusion, of those that are of integers.
fn operator(written: &BinaryOperator) -> Option<Operator> {
    Some(match written {
        BinaryOperator::Plus => Operator::Plus,
        BinaryOperator::Minus => Operator::Minus,
        BinaryOperator::Multiply => Operator::Multiply,
        BinaryOperator::Divide => Operator::Divide,
        BinaryOperator::Modulo => Operator::Modulo,
        BinaryOperator::PGBitwiseShiftLeft => Operator::BitwiseShiftLeft,
        BinaryOperator::PGBitwiseShiftRight => Operator::BitwiseShiftRight,
        BinaryOperator::Eq => Operator::Eq,
        BinaryOperator::NotEq => Operator::NotEq,
        BinaryOperator::Lt => Operator::Lt,
        BinaryOperator::LtEq => Operator::LtEq,
        BinaryOperator::Gt => Operator::Gt,
        BinaryOperator::GtEq => Operator::GtEq,
        _ => return None,
    })
}

/// Whether two columns have the same type, so that equal integers have equal bytes.
fn are_alike(a: &Field, b: &Field) -> bool {
    let is_any = |field: &Field| {
        let name = field.metadata().get(EXTENSION_TYPE_NAME_KEY);
        name.is_some_and(|name| name == Any::NAME)
    };
    let is_same = a.data_type() == b.data_type() && a.metadata() == b.metadata();
    is_any(a) && is_any(b) || is_same
}

/// Whether DataFusion itself has no such operator of columns that may be of integers.
fn has_no_other_meaning(operator: Operator, a: &Field, b: &Field) -> bool {
    let one_may_be = may_be_big(a) || may_be_big(b);
    let (a, b) = (a.data_type(), b.data_type());
    match operator {
        Operator::Eq | Operator::NotEq => false,
        Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq => {
            one_may_be && (a.is_numeric() || b.is_numeric())
        }
        _ => one_may_be,
    }
}

impl Functions {
    fn call(&self, name: &str, operands: Vec<Expr>) -> Expr {
        self.scalars[name].call(operands)
    }

    /// An expression as `bigint.any`.
    fn big(&self, expr: Expr) -> Expr {
        self.call("big", vec![expr])
    }

    /// What an operator is of integers; the operands where neither is of an extension type, or
    /// where DataFusion's own operator is right.
    fn operated(
        &self,
        operator: Operator,
        left: Expr,
        right: Expr,
        schema: &DFSchema,
    ) -> Result<std::result::Result<Expr, (Expr, Expr)>> {
        let (a, b) = (left.to_field(schema)?.1, right.to_field(schema)?.1);
        if !is_big(&a) && !is_big(&b) && !has_no_other_meaning(operator, &a, &b) {
            return Ok(Err((left, right)));
        }
        let name = match operator {
            Operator::Plus => "big_add",
            Operator::Minus => "big_sub",
            Operator::Multiply => "big_mul",
            Operator::Divide => "big_div",
            Operator::Modulo => "big_mod",
            Operator::BitwiseShiftLeft => "big_shl",
            Operator::BitwiseShiftRight => "big_shr",
            Operator::Lt => "big_lt",
            Operator::LtEq => "big_le",
            Operator::Gt => "big_gt",
            Operator::GtEq => "big_ge",
            Operator::Eq
            | Operator::NotEq
            | Operator::IsDistinctFrom
            | Operator::IsNotDistinctFrom
                if !are_alike(&a, &b) =>
            {
                let operands = [(left, a), (right, b)].map(|(operand, field)| {
                    Box::new(match is_any_already(&field) {
                        true => operand,
                        false => self.big(operand),
                    })
                });
                let [left, right] = operands;
                return Ok(Ok(Expr::BinaryExpr(BinaryExpr::new(left, operator, right))));
            }
            _ => return Ok(Err((left, right))),
        };
        Ok(Ok(self.call(name, vec![left, right])))
    }

    /// `-a`; DataFusion's own of machine numbers, and of what else it takes.
    fn negated(&self, operand: Expr, schema: &DFSchema) -> Result<Expr> {
        let field = operand.to_field(schema)?.1;
        match field.data_type() {
            _ if may_be_big(&field) => Ok(self.call("big_neg", vec![operand])),
            of if of.is_null() || is_signed_numeric(of) || is_interval(of) || is_timestamp(of) => {
                Ok(Expr::Negative(Box::new(operand)))
            }
            other => plan_err!("a minus before {operand}, which is of type {other}"),
        }
    }

    /// Orders by keys where an order is of integers.
    fn ordered(&self, order: Vec<SortExpr>, key: &str, schema: &DFSchema) -> Result<Vec<SortExpr>> {
        let keyed = order.into_iter().map(|sort| {
            Ok(match is_big(&sort.expr.to_field(schema)?.1) {
                true => sort.with_expr(self.call(key, vec![sort.expr.clone()])),
                false => sort,
            })
        });
        keyed.collect()
    }

    /// The aggregate that takes another one's place.
    fn aggregate(
        &self,
        of: &AggregateUDF,
        operands: &[Expr],
        schema: &DFSchema,
    ) -> Option<Arc<AggregateUDF>> {
        let name = match of.name() {
            "min" => "big_min",
            "max" => "big_max",
            "sum" => "big_sum",
            "avg" => "big_avg",
            _ => return None,
        };
        let field = operands.first()?.to_field(schema).ok()?.1;
        match is_big(&field) {
            true => Some(Arc::clone(&self.aggregates[name])),
            false => {
                let undecided = of.inner().downcast_ref::<Undecided<AggregateUDF>>();
                undecided.map(|undecided| Arc::clone(&undecided.own))
            }
        }
    }

    /// An expression whose operands are rewritten already.
    fn rewritten(&self, expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
        let is_of_integers = |expr: &Expr| Ok(is_big(&expr.to_field(schema)?.1)) as Result<bool>;
        Ok(match expr {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
                match self.operated(op, *left, *right, schema)? {
                    Ok(planned) => Transformed::yes(planned),
                    Err((left, right)) => {
                        let (left, right) = (Box::new(left), Box::new(right));
                        Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right }))
                    }
                }
            }
            Expr::Negative(of) if is_of_integers(&of)? => {
                Transformed::yes(self.call("big_neg", vec![*of]))
            }
            Expr::Between(Between {
                expr,
                negated,
                low,
                high,
            }) if is_of_integers(&expr)? || is_of_integers(&low)? || is_of_integers(&high)? => {
                let is_least = self.call("big_ge", vec![*expr.clone(), *low]);
                let within = is_least.and(self.call("big_le", vec![*expr, *high]));
                Transformed::yes(if negated { !within } else { within })
            }
            Expr::InList(list) => self.in_list(list, schema)?,
            Expr::Cast(Cast { expr, field }) if is_of_integers(&expr)? => match field.data_type() {
                DataType::LargeBinary | DataType::Binary | DataType::BinaryView => {
                    Transformed::no(Expr::Cast(Cast { expr, field }))
                }
                other => {
                    let name = lit(other.to_string());
                    Transformed::yes(self.call("big_cast", vec![*expr, name]))
                }
            },
            Expr::Case(case) => self.case(case, schema)?,
            Expr::AggregateFunction(AggregateFunction { func, mut params }) => {
                params.order_by = self.ordered(params.order_by, "big_key", schema)?;
                let other = self.aggregate(&func, &params.args, schema);
                let func = other.unwrap_or(func);
                Transformed::yes(Expr::AggregateFunction(AggregateFunction { func, params }))
            }
            Expr::WindowFunction(of) => {
                let WindowFunction {
                    mut fun,
                    mut params,
                } = *of;
                let plain = params.order_by.clone();
                params.order_by = self.ordered(params.order_by, "big_key_hex", schema)?;
                if plain != params.order_by {
                    refuse_distances(&params.window_frame)?;
                }
                if let (true, [of, _, default]) =
                    (matches!(fun.name(), "lag" | "lead"), &mut params.args[..])
                {
                    let of = of.to_field(schema)?.1;
                    if is_big(&of) {
                        *default = constant_of(&of, default)?;
                    }
                }
                if let WindowFunctionDefinition::AggregateUDF(of) = &mut fun
                    && let Some(other) = self.aggregate(of, &params.args, schema)
                {
                    *of = other;
                }
                let of = WindowFunction { fun, params };
                Transformed::yes(Expr::WindowFunction(Box::new(of)))
            }
            Expr::ScalarFunction(call) => self.called(call, schema)?,
            Expr::InSubquery(InSubquery {
                mut expr,
                mut subquery,
                negated,
            }) => {
                let is = self.compared(&mut expr, &mut subquery, Operator::Eq, schema)?;
                let among = InSubquery::new(expr, subquery, negated);
                Transformed::new_transformed(Expr::InSubquery(among), is)
            }
            Expr::SetComparison(mut among) => {
                let SetComparison {
                    expr, subquery, op, ..
                } = &mut among;
                let is = self.compared(expr, subquery, *op, schema)?;
                Transformed::new_transformed(Expr::SetComparison(among), is)
            }
            other => Transformed::no(other),
        })
    }

    /// Has an integer compared with all that a subquery has: of one type, or in an order by their keys. Whether
    /// they were not so before.
    fn compared(
        &self,
        of: &mut Expr,
        among: &mut Subquery,
        operator: Operator,
        schema: &DFSchema,
    ) -> Result<bool> {
        let (field, plan) = (of.to_field(schema)?.1, &among.subquery);
        let theirs = plan.schema().field(0);
        let is_equality = matches!(operator, Operator::Eq | Operator::NotEq);
        let is_right = is_equality && are_alike(&field, theirs);
        if is_right || !is_big(&field) && !is_big(theirs) {
            return Ok(false);
        }
        let name = if is_equality { "big" } else { "big_key" };
        let column = Expr::Column(plan.schema().columns().swap_remove(0));
        refuse_bytes(name, &column, plan.schema())?;
        let all = vec![self.call(name, vec![column])];
        let projection = Projection::try_new(all, Arc::clone(plan))?;
        among.subquery = Arc::new(LogicalPlan::Projection(projection));
        *of = self.call(name, vec![std::mem::take(of)]);
        Ok(true)
    }

    /// A choice from a list, of one type where it is of integers.
    fn in_list(&self, choice: InList, schema: &DFSchema) -> Result<Transformed<Expr>> {
        let of = choice.expr.to_field(schema)?.1;
        let (mut are_same, mut are_integers) = (true, is_big(&of));
        for each in &choice.list {
            let field = each.to_field(schema)?.1;
            are_same &= are_alike(&of, &field);
            are_integers |= is_big(&field);
        }
        if !are_integers || are_same {
            return Ok(Transformed::no(Expr::InList(choice)));
        }
        let list = choice.list.into_iter().map(|each| self.big(each)).collect();
        let of = self.big(*choice.expr);
        Ok(Transformed::yes(of.in_list(list, choice.negated)))
    }

    /// A choice between integers, of which DataFusion would forget the type.
    fn case(&self, mut case: Case, schema: &DFSchema) -> Result<Transformed<Expr>> {
        let mut compared = case
            .expr
            .iter()
            .chain(case.when_then_expr.iter().map(|(when, _)| when));
        let is_of_integers = compared.try_fold(false, |is, of| {
            Ok(is | is_big(&of.to_field(schema)?.1)) as Result<bool>
        })?;
        if let Some(of) = case.expr.take_if(|_| is_of_integers) {
            // `CASE a WHEN b` is `CASE WHEN a = b`.
            for (when, _) in &mut case.when_then_expr {
                let (left, right) = ((*of).clone(), std::mem::take(&mut **when));
                **when = match self.operated(Operator::Eq, left, right, schema)? {
                    Ok(planned) => planned,
                    Err((left, right)) => left.eq(right),
                };
            }
        }
        let branches = case.when_then_expr.iter().map(|(_, then)| then);
        let fields = branches
            .chain(&case.else_expr)
            .map(|of| of.to_field(schema));
        let fields = fields.collect::<Result<Vec<_>>>()?;
        if !fields.iter().any(|(_, field)| is_big(field)) {
            return Ok(Transformed::no(Expr::Case(case)));
        }
        for (_, then) in &mut case.when_then_expr {
            **then = self.big(std::mem::take(&mut **then));
        }
        case.else_expr = case.else_expr.map(|or| Box::new(self.big(*or)));
        Ok(Transformed::yes(self.big(Expr::Case(case))))
    }

    /// A call of any function.
    fn called(&self, mut call: ScalarFunction, schema: &DFSchema) -> Result<Transformed<Expr>> {
        let undecided = call.func.inner().downcast_ref::<Undecided<ScalarUDF>>();
        if let Some(own) = undecided.map(|undecided| Arc::clone(&undecided.own)) {
            call.func = own;
        }
        let name = call.func.name();
        if self.scalars.contains_key(name) {
            if !matches!(name, "big_from_bytes" | "big_any") {
                call.args
                    .iter()
                    .try_for_each(|of| refuse_bytes(name, of, schema))?;
            }
            return Ok(Transformed::no(Expr::ScalarFunction(call)));
        }
        let fields = call.args.iter().map(|of| of.to_field(schema));
        let fields = fields.collect::<Result<Vec<_>>>()?;
        if !fields.iter().any(|(_, field)| is_big(field)) {
            return Ok(Transformed::yes(Expr::ScalarFunction(call)));
        }
        call.args
            .iter()
            .try_for_each(|of| refuse_bytes(name, of, schema))?;
        match name {
            "greatest" | "least" => {
                let (name, coalesce) = (format!("big_{name}"), functions::core::coalesce());
                let mut operands = call.args.into_iter().map(|of| self.big(of));
                let first = operands.next().unwrap_or_default();
                // Nulls are left out.
                let most = operands.fold(first, |most, of| {
                    let both = self.call(&name, vec![most.clone(), of.clone()]);
                    self.big(coalesce.call(vec![both, most, of]))
                });
                Ok(Transformed::yes(most))
            }
            "coalesce" | "nullif" | "nvl" | "nvl2" => {
                let tested = usize::from(name == "nvl2");
                if name == "nvl" {
                    // DataFusion's takes no bytes.
                    call.func = functions::core::coalesce();
                }
                for of in &mut call.args[tested..] {
                    *of = self.big(std::mem::take(of));
                }
                Ok(Transformed::yes(self.big(Expr::ScalarFunction(call))))
            }
            _ => Ok(Transformed::no(Expr::ScalarFunction(call))),
        }
    }

    /// One node of a plan, of whose inputs all are rewritten already.
    fn node(&self, plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
        let mut schema = merge_schema(&plan.inputs());
        if let LogicalPlan::TableScan(scan) = &plan {
            let name = scan.table_name.clone();
            let table = DFSchema::try_from_qualified_schema(name, &scan.source.schema())?;
            schema.merge(&table);
        }
        let names = NamePreserver::new(&plan);
        let rewritten = plan.map_expressions(|expr| {
            let name = names.save(&expr);
            let expr = expr.transform_up(|expr| self.rewritten(expr, &schema))?;
            Ok(expr.update_data(|expr| name.restore(expr)))
        })?;
        let rewritten = rewritten.transform_data(|plan| self.outside(plan, &schema))?;
        // An input's columns may have got their types, whether or not this node is rewritten.
        rewritten.map_data(LogicalPlan::recompute_schema)
    }

    /// What of a node is no expression.
    fn outside(&self, plan: LogicalPlan, schema: &DFSchema) -> Result<Transformed<LogicalPlan>> {
        Ok(match plan {
            LogicalPlan::Sort(mut sort) => {
                sort.expr = self.ordered(sort.expr, "big_key", schema)?;
                Transformed::yes(LogicalPlan::Sort(sort))
            }
            LogicalPlan::Distinct(Distinct::On(mut on)) => {
                let order = on.sort_expr.take();
                on.sort_expr = order
                    .map(|order| self.ordered(order, "big_key", schema))
                    .transpose()?;
                Transformed::yes(LogicalPlan::Distinct(Distinct::On(on)))
            }
            LogicalPlan::Aggregate(aggregate)
                if aggregate.aggr_expr.iter().any(is_renamed_distinct) =>
            {
                Transformed::yes(renamed_above(&aggregate)?)
            }
            LogicalPlan::Join(mut join) => {
                for (left, right) in &mut join.on {
                    let a = left.to_field(join.left.schema())?.1;
                    let b = right.to_field(join.right.schema())?.1;
                    if (is_big(&a) || is_big(&b)) && !are_alike(&a, &b) {
                        for side in [left, right] {
                            *side = self.big(std::mem::take(side));
                        }
                    }
                }
                Transformed::yes(LogicalPlan::Join(join))
            }
            LogicalPlan::Union(union) => Transformed::yes(self.union(union)?),
            other => Transformed::no(other),
        })
    }

    /// A union in which a column of integers is of one type, `bigint.any` where its inputs' are several.
    fn union(&self, union: Union) -> Result<LogicalPlan> {
        let is_of_several = |at| {
            let fields = union.inputs.iter().map(|input| input.schema().field(at));
            let fields: Vec<_> = fields.collect();
            let are_integers = fields.iter().any(|field| is_big(field));
            are_integers && !fields.iter().all(|other| are_alike(fields[0], other))
        };
        let count = union.schema.fields().len();
        let of_several: Vec<bool> = (0..count).map(is_of_several).collect();
        let mut inputs = union.inputs;
        for input in &mut inputs {
            let schema = input.schema();
            let columns = schema.columns().into_iter().zip(schema.fields());
            let columns = columns.zip(&of_several).map(|((column, field), several)| {
                let (name, column) = (column.name.clone(), Expr::Column(column));
                if !several || is_any_already(field) {
                    return Ok(column);
                }
                refuse_bytes("UNION", &column, schema)?;
                Ok(self.big(column).alias(name))
            });
            let columns = columns.collect::<Result<Vec<_>>>()?;
            if columns
                .iter()
                .any(|column| matches!(column, Expr::Alias(_)))
            {
                let projection = Projection::try_new(columns, Arc::clone(input))?;
                *input = Arc::new(LogicalPlan::Projection(projection));
            }
        }
        Union::try_new_with_loose_types(inputs).map(LogicalPlan::Union)
    }
}

/// Whether an aggregate of distinct numbers has the name of the one whose place it takes.
fn is_renamed_distinct(expr: &Expr) -> bool {
    let is_distinct = |of: &Expr| matches!(of, Expr::AggregateFunction(of) if of.params.distinct);
    matches!(expr, Expr::Alias(alias) if is_distinct(&alias.expr))
}

/// Aggregates without names of their own, which a projection above them gives: DataFusion makes groups
/// of distinct numbers only of aggregates that stand by themselves.
fn renamed_above(aggregate: &Aggregate) -> Result<LogicalPlan> {
    let bare = aggregate.aggr_expr.iter().cloned().map(Expr::unalias);
    let input = Arc::clone(&aggregate.input);
    let inner = Aggregate::try_new(input, aggregate.group_expr.clone(), bare.collect())?;
    let columns = inner.schema.columns().into_iter();
    let named = columns
        .zip(aggregate.schema.columns())
        .map(|(column, known)| match column == known {
            true => Expr::Column(column),
            false => Expr::Column(column).alias(known.name),
        });
    let named = named.collect();
    let projection = Projection::try_new(named, Arc::new(LogicalPlan::Aggregate(inner)))?;
    Ok(LogicalPlan::Projection(projection))
}

/// Refuses a frame that reaches by a difference of integers, of whose order DataFusion knows only keys.
fn refuse_distances(frame: &WindowFrame) -> Result<()> {
    let is_distance = |bound: &WindowFrameBound| match bound {
        WindowFrameBound::Preceding(by) | WindowFrameBound::Following(by) => !by.is_null(),
        WindowFrameBound::CurrentRow => false,
    };
    let has_distance = [&frame.start_bound, &frame.end_bound]
        .into_iter()
        .any(is_distance);
    match frame.units == WindowFrameUnits::Range && has_distance {
        true => plan_err!(
            "RANGE ... PRECEDING and FOLLOWING are not planned by an order of big integers: write \
             ROWS or GROUPS, or order by CAST(... AS BIGINT)"
        ),
        false => Ok(()),
    }
}

/// A constant in the type of a column of integers.
fn constant_of(of: &Field, constant: &Expr) -> Result<Expr> {
    let Expr::Literal(value, _) = constant else {
        return plan_err!("the default of lag and lead must be a constant, not {constant}");
    };
    if value.is_null() {
        return Ok(constant.clone());
    }
    let field = Field::new("default", value.data_type(), true);
    refuse_others("the default of lag and lead", &field)?;
    let column = read(value.to_array()?, &field)?;
    let array = column.to_array(of).map_err(failed)?;
    Ok(lit(ScalarValue::try_from_array(&array, 0)?))
}

fn is_any_already(field: &Field) -> bool {
    is_big(field) && !matches!(field.data_type(), DataType::FixedSizeBinary(_))
}

/// Refuses a column of bytes without a type that would be taken for `bigint.any`.
fn refuse_bytes(function: &str, operand: &Expr, schema: &DFSchema) -> Result<()> {
    let Expr::Column(Column { name, .. }) = operand else {
        return Ok(());
    };
    let field = operand.to_field(schema)?.1;
    match *field.data_type() == DataType::LargeBinary && !is_big(&field) {
        true => plan_err!(
            "{function}: {name} is of type LargeBinary and of no extension type: write \
             big_from_bytes({name}) where its bytes are integers, most significant byte first"
        ),
        false => Ok(()),
    }
}

impl AnalyzerRule for Rule {
    fn name(&self) -> &str {
        "bigint"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let rewritten = plan.transform_up_with_subqueries(|plan| self.0.node(plan))?;
        Ok(rewritten.data)
    }
}
