//! A scheduler and two executors, as programs on the loopback: their answers are DataFusion's and a
//! slow oracle's, also where one executor is killed meanwhile.
//!
//! BIGINT_CLUSTER_ROWS says how many rows the 64 files have: 100,000 if it is not set.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bigint_arrow::{Any, Column, Fixed, any};
use bigint_datafusion::{columns_of, register, register_files, shown};
use bigint_host::{BigInt, BigUint, Engine, Integers};
use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::execution::context::SessionContext;
use datafusion::parquet::arrow::ArrowWriter;

const FILES: usize = 64;

const GROUPS: usize = 10;

/// Projection, filter, aggregates in two stages, and an order of integers.
const QUERY: &str = "SELECT k, big_sum(a * b - k) AS s, max(a) AS m, big_avg(f) AS v, \
                     big_gcd_all(a * b * 6) AS g, count(*) AS c \
                     FROM t WHERE a > b GROUP BY k ORDER BY m DESC";

fn rows() -> usize {
    let rows = std::env::var("BIGINT_CLUSTER_ROWS").ok();
    rows.map_or(100_000, |rows| rows.parse().expect("a number of rows"))
}

/// Row by row: a number of up to 256 bits, one of either sign, and a group.
fn row(i: usize) -> (BigUint, BigInt, i64) {
    let mut state = i as u64 + 1;
    let mut word = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ mixed >> 27) as u32
    };
    let mut number = |words| BigUint::new((0..words).map(|_| word()).collect());
    let (a, b) = (number(i % 9), BigInt::from(number(i % 8)));
    let b = if i.is_multiple_of(3) { -b } else { b };
    (a, b, (i % GROUPS) as i64)
}

/// Columns `a` of `bigint.any`, `f` of `bigint.fixed` with the same numbers, `b` and `k`.
fn write_files(folder: &Path, rows: usize) {
    let fixed = Fixed::default().field("f", 32, false);
    let schema = Arc::new(Schema::new(vec![
        Any::field("a", false),
        fixed.clone(),
        Any::field("b", false),
        Field::new("k", DataType::Int64, false),
    ]));
    for file in 0..FILES {
        let rows: Vec<_> = (file * rows / FILES..(file + 1) * rows / FILES)
            .map(row)
            .collect();
        let a: Vec<_> = rows.iter().map(|row| row.0.clone()).collect();
        let a = Column::from(Integers::from_biguints(&a).unwrap());
        let b: Vec<_> = rows.iter().map(|row| row.1.clone()).collect();
        let b = Column::from(Integers::from_bigints(&b).unwrap());
        let columns: Vec<ArrayRef> = vec![
            Arc::new(any(&a)),
            a.to_array(&fixed).unwrap(),
            Arc::new(any(&b)),
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.2))),
        ];
        let file = std::fs::File::create(folder.join(format!("{file}.parquet"))).unwrap();
        let mut writer = ArrowWriter::try_new(file, Arc::clone(&schema), None).unwrap();
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }
}

/// The answer by num-bigint, row by row.
fn slow_oracle(rows: usize) -> String {
    struct Group {
        sum: BigInt,
        most: BigUint,
        total: BigUint,
        gcd: BigUint,
        count: u64,
    }
    let mut groups: BTreeMap<i64, Group> = BTreeMap::new();
    for (a, b, k) in (0..rows)
        .map(row)
        .filter(|(a, b, _)| BigInt::from(a.clone()) > *b)
    {
        let product = BigInt::from(a.clone()) * &b;
        let zero = BigUint::ZERO;
        let group = groups.entry(k).or_insert_with(|| Group {
            sum: BigInt::ZERO,
            most: zero.clone(),
            total: zero.clone(),
            gcd: zero.clone(),
            count: 0,
        });
        group.sum += &product - k;
        let (mut x, mut y) = (product.magnitude() * 6u32, group.gcd.clone());
        while y != zero {
            (x, y) = (y.clone(), x % y);
        }
        group.gcd = x;
        group.total += &a;
        group.most = a.max(std::mem::take(&mut group.most));
        group.count += 1;
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by(|x, y| y.1.most.cmp(&x.1.most));
    let line = |(k, of): (i64, Group)| {
        let mean = &of.total / of.count;
        format!(
            "{k} {} {} {mean} {} {}\n",
            of.sum, of.most, of.gcd, of.count
        )
    };
    groups.into_iter().map(line).collect()
}

async fn answer(session: &SessionContext, query: &str) -> Result<String, String> {
    let told = |error: datafusion::error::DataFusionError| error.strip_backtrace();
    let query = session.sql(query).await.map_err(told)?;
    let schema = columns_of(&query).map_err(told)?;
    let batches = query.collect().await.map_err(told)?;
    let batches = batches.iter().map(|batch| shown(batch, &schema));
    let batches = batches.collect::<Result<Vec<_>, _>>().map_err(told)?;
    let table = pretty_format_batches(&batches).unwrap().to_string();
    // Rows without rules and header.
    let rows = table.lines().filter(|line| line.starts_with('|')).skip(1);
    let line = |row: &str| row.split('|').map(str::trim).collect::<Vec<_>>().join(" ");
    Ok(rows.map(|row| line(row).trim().to_owned() + "\n").collect())
}

/// Programs that end with the test.
struct Cluster {
    url: String,
    programs: Vec<Child>,
    folders: Vec<tempfile::TempDir>,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for program in &mut self.programs {
            let _ = program.kill();
            let _ = program.wait();
        }
    }
}

impl Cluster {
    fn start() -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap().to_string();
        drop(free);
        let mut scheduler = Command::new(env!("CARGO_BIN_EXE_bigint-scheduler"));
        scheduler.args(["--listen", &address, "--patience", "4"]);
        let mut cluster = Cluster {
            url: format!("df://{address}"),
            programs: vec![scheduler.spawn().unwrap()],
            folders: Vec::new(),
        };
        for _ in 0..2 {
            let folder = tempfile::tempdir().unwrap();
            let mut executor = Command::new(env!("CARGO_BIN_EXE_bigint-executor"));
            executor.args(["--scheduler", &address, "--heartbeat", "1", "--tasks", "1"]);
            executor.arg("--folder").arg(folder.path());
            cluster.programs.push(executor.spawn().unwrap());
            cluster.folders.push(folder);
        }
        cluster
    }

    async fn session(&self, files: &Path) -> SessionContext {
        let session = bigint_ballista::connect(&self.url, &Engine::cpu())
            .await
            .unwrap();
        table(&session, files).await;
        session
    }

    /// Whether an executor has written something that another stage reads.
    fn has_worked(&self, executor: usize) -> bool {
        let mut folder = std::fs::read_dir(self.folders[executor].path()).unwrap();
        folder.next().is_some()
    }
}

async fn table(session: &SessionContext, files: &Path) {
    let files = files.to_str().unwrap().to_owned();
    register_files(session, "t", &[files]).await.unwrap();
}

/// Asks until the scheduler is there and both executors are.
async fn until_ready(cluster: &Cluster, session: &SessionContext) {
    let start = Instant::now();
    while !(cluster.has_worked(0) && cluster.has_worked(1)) {
        let asked = answer(session, "SELECT k, count(*) FROM t GROUP BY k").await;
        let waited = start.elapsed() < Duration::from_secs(120);
        assert!(waited, "no cluster: {asked:?}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_answers_as_datafusion_and_a_slow_oracle_do_while_an_executor_is_killed() {
    let (rows, files) = (rows(), tempfile::tempdir().unwrap());
    write_files(files.path(), rows);
    let alone = SessionContext::new();
    register(&alone, &Engine::cpu()).unwrap();
    table(&alone, files.path()).await;
    let expected = slow_oracle(rows);
    let start = Instant::now();
    assert_eq!(answer(&alone, QUERY).await.unwrap(), expected);
    println!("{rows} rows alone: {:?}", start.elapsed());

    let mut cluster = Cluster::start();
    let session = cluster.session(files.path()).await;
    until_ready(&cluster, &session).await;
    let start = Instant::now();
    assert_eq!(answer(&session, QUERY).await.unwrap(), expected);
    println!("{rows} rows on two executors: {:?}", start.elapsed());

    // What queries before have left tells nothing of the next one.
    let jobs = |executor: usize| {
        std::fs::read_dir(cluster.folders[executor].path())
            .unwrap()
            .count()
    };
    let before = jobs(0);
    let start = Instant::now();
    let asked = tokio::spawn({
        let session = session.clone();
        async move { answer(&session, QUERY).await }
    });
    while jobs(0) == before {
        assert!(!asked.is_finished(), "the query was over before the kill");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    cluster.programs[1].kill().unwrap();
    cluster.programs[1].wait().unwrap();
    // What it has made is gone with it.
    std::fs::remove_dir_all(cluster.folders[0].path()).unwrap();
    assert!(!asked.is_finished(), "the query was over before the kill");
    println!("killed after {:?}", start.elapsed());
    assert_eq!(asked.await.unwrap().unwrap(), expected);
    println!("{rows} rows and a kill: {:?}", start.elapsed());
    // The one that is left goes on.
    assert_eq!(answer(&session, QUERY).await.unwrap(), expected);
}
