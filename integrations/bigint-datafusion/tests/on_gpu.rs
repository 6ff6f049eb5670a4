//! Queries of many partitions on simulated GPUs: what the partitions compute at one time goes to the
//! device together.

use std::sync::Arc;

use bigint_arrow::{Any, Column};
use bigint_datafusion::{columns_of, register, shown};
use bigint_host::{BigInt, Engine, Integers};
use bigint_testing::simulator::on_simulator;
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::datatypes::Schema;
use datafusion::arrow::util::display::array_value_to_string;
use datafusion::datasource::MemTable;
use datafusion::execution::context::SessionContext;
use datafusion::prelude::SessionConfig;

const PARTITIONS: usize = 16;
const BATCHES: usize = 4;
const ROWS: usize = 50;

/// The numbers of a row: of 256 bits, and of up to 96 bits and either sign, but never zero.
fn row(i: usize) -> [BigInt; 2] {
    let a = BigInt::from(i).pow(3) + (BigInt::from(1) << 255);
    let b = (BigInt::from(7 * i % 1000) - 500) << (i % 80);
    [
        a,
        if b == BigInt::ZERO {
            BigInt::from(1)
        } else {
            b
        },
    ]
}

/// The table `t` in partitions of several batches each; one number of `b` may be zero.
fn session(zero: Option<usize>) -> SessionContext {
    let config = SessionConfig::new().with_target_partitions(PARTITIONS);
    let session = SessionContext::new_with_config(config);
    register(&session, &Engine::cuda(0).unwrap()).unwrap();
    let schema = Arc::new(Schema::new(vec![
        Any::field("a", false),
        Any::field("b", false),
    ]));
    let batch = |first: usize| {
        let column = |of: usize| -> ArrayRef {
            let number = |i| match of == 1 && zero == Some(i) {
                true => BigInt::ZERO,
                false => row(i)[of].clone(),
            };
            let numbers: Vec<_> = (first..first + ROWS).map(number).collect();
            let numbers = Integers::from_bigints(&numbers).unwrap();
            Arc::new(bigint_arrow::any(&Column::from(numbers)))
        };
        RecordBatch::try_new(Arc::clone(&schema), vec![column(0), column(1)]).unwrap()
    };
    let partition = |at| {
        let batches = (0..BATCHES).map(|i| batch((at * BATCHES + i) * ROWS));
        batches.collect()
    };
    let partitions = (0..PARTITIONS).map(partition).collect();
    let table = MemTable::try_new(Arc::clone(&schema), partitions).unwrap();
    session.register_table("t", Arc::new(table)).unwrap();
    session
}

/// The rows of an answer, in order as texts.
async fn answer(session: &SessionContext, query: &str) -> Result<Vec<String>, String> {
    let told = |error: datafusion::error::DataFusionError| error.strip_backtrace();
    let query = session.sql(query).await.map_err(told)?;
    let schema = columns_of(&query).map_err(told)?;
    let mut rows = Vec::new();
    for batch in query.collect().await.map_err(told)? {
        let batch = shown(&batch, &schema).map_err(told)?;
        let text = |row| array_value_to_string(batch.column(0), row).unwrap();
        rows.extend((0..batch.num_rows()).map(text));
    }
    rows.sort();
    Ok(rows)
}

fn launches(counts: &str, kernel: &str) -> usize {
    let text = std::fs::read_to_string(counts).unwrap();
    text.matches(&format!("\"kernel\":\"{kernel}")).count()
}

#[test]
fn partitions_share_launches() {
    let folder = tempfile::tempdir().unwrap();
    let counts = folder.path().join("counts").to_str().unwrap().to_owned();
    let settings = [("CUDA_SIM_COUNTS", &counts[..])];
    if !on_simulator("partitions_share_launches", &settings) {
        return;
    }
    // Each partition has a thread, as on a machine with so many cores.
    let threads = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(PARTITIONS)
        .enable_all()
        .build()
        .unwrap();
    let counts = std::env::var("CUDA_SIM_COUNTS").unwrap();
    let rows: Vec<_> = (0..PARTITIONS * BATCHES * ROWS).map(row).collect();
    let session_of = session(None);
    let told = |query| threads.block_on(answer(&session_of, query)).unwrap();

    let mut products: Vec<_> = rows.iter().map(|[a, b]| (a * b).to_string()).collect();
    products.sort();
    assert_eq!(told("SELECT a * b FROM t"), products);
    let of_products = launches(&counts, "mul_");
    assert!(
        0 < of_products && 2 * of_products <= PARTITIONS * BATCHES,
        "{of_products} launches"
    );

    let less = rows.iter().filter(|[_, b]| *b < BigInt::from(0)).count();
    assert_eq!(
        told("SELECT count(*) FROM t WHERE b < 0"),
        [less.to_string()]
    );
    let sum: BigInt = rows.iter().map(|[a, b]| a * b).sum();
    assert_eq!(told("SELECT sum(a * b) FROM t"), [sum.to_string()]);
    assert!(told("SELECT count(*) FROM t WHERE big_is_prime(a * 2)") == ["0"]);

    // The one row without a value is named as in its own batch, and no partition hangs.
    let session = session(Some(5 * BATCHES * ROWS + 2 * ROWS + 17));
    let error = threads.block_on(answer(&session, "SELECT a / b FROM t"));
    let error = error.unwrap_err();
    assert!(error.contains("number 17 is divided by zero"), "{error}");
}
