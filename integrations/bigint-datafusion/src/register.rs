//! One call that registers all.

use std::sync::Arc;

use bigint_host::Engine;
use datafusion::common::Result;
use datafusion::common::config::ConfigNonZeroUsize;
use datafusion::execution::context::SessionContext;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::registry::FunctionRegistry;
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};
use datafusion::optimizer::analyzer::AnalyzerRule;
use datafusion::prelude::SessionConfig;

use crate::aggregate::{AGGREGATES, Aggregate};
use crate::joined::Joined;
use crate::plan::planners;
use crate::scalar::{FUNCTIONS, Scalar};
use crate::sql::{OF_GROUPS, OF_ROWS, Undecided};

/// Rows of a batch where DataFusion's default is in force, which is a quarter of it: a device pays
/// for large batches only.
const BATCH_ROWS: usize = 1 << 15;

/// The functions of rows. All clones of an engine share its devices and memory, and all clones of
/// these functions join what they have devices compute.
pub fn functions(engine: &Engine) -> Vec<Arc<ScalarUDF>> {
    let engine = Arc::new(Joined::new(engine));
    let functions = FUNCTIONS.iter().map(|row| Scalar::new(row, &engine));
    functions
        .map(|function| Arc::new(function.into()))
        .collect()
}

/// The functions of groups of rows, which join calls as [`functions`] do.
pub fn aggregates(engine: &Engine) -> Vec<Arc<AggregateUDF>> {
    let engine = Arc::new(Joined::new(engine));
    let aggregates = AGGREGATES.iter().map(|row| Aggregate::new(row, &engine));
    aggregates
        .map(|aggregate| Arc::new(aggregate.into()))
        .collect()
}

/// Registers functions, operators and orders of big integers, all computed by one engine.
///
/// Tables of Parquet that are registered afterwards keep their columns' extension types, and a
/// batch has 32768 rows unless the session says otherwise.
///
/// # Errors
/// As DataFusion's.
pub fn register(session: &SessionContext, engine: &Engine) -> Result<()> {
    let shared = session.state_ref();
    let mut shared = shared.write();
    *shared = state(shared.clone(), engine)?;
    Ok(())
}

/// [`register`], of a state.
///
/// # Errors
/// As DataFusion's.
pub fn state(state: SessionState, engine: &Engine) -> Result<SessionState> {
    let (functions, aggregates) = (functions(engine), aggregates(engine));
    let (operators, rule) = planners(&functions, &aggregates);
    let mut rules: Vec<Arc<dyn AnalyzerRule + Send + Sync>> = vec![Arc::new(rule)];
    rules.extend(state.analyzer().rules.iter().cloned());
    let session = state.session_id().to_owned();
    let mut state = SessionStateBuilder::new_from_existing(state)
        .with_analyzer_rules(rules)
        .with_session_id(session)
        .build();
    let options = state.config_mut().options_mut();
    options.execution.parquet.skip_metadata = false;
    if options.execution.batch_size.get() == SessionConfig::new().batch_size() {
        options.execution.batch_size = ConfigNonZeroUsize::try_new(BATCH_ROWS)?;
    }
    for function in functions {
        state.register_udf(function)?;
    }
    for aggregate in aggregates {
        state.register_udaf(aggregate)?;
    }
    for name in OF_GROUPS {
        if let Ok(own) = state.udaf(name) {
            state.register_udaf(Arc::new(Undecided::of_groups(own).into()))?;
        }
    }
    for name in OF_ROWS {
        if let Ok(own) = state.udf(name) {
            state.register_udf(Arc::new(Undecided::of_rows(own).into()))?;
        }
    }
    state.register_expr_planner(Arc::new(operators))?;
    Ok(state)
}
