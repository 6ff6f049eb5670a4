//! A scheduler and two executors, as programs on the loopback: their answers are DataFusion's, a slow
//! oracle's and plain Python's, also where one executor is killed meanwhile, and on GPUs.
//!
//! BIGINT_CLUSTER_ROWS says how many rows the 64 files have: 100,000 if it is not set. Python computes
//! with all of these, and of more with those of as many files as hold so many.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::path::Path;
use std::process::{Child, Command, Stdio};
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

const DEFAULT_ROWS: usize = 100_000;

/// Projection, filter, aggregates in two stages, and an order of integers.
const QUERY: &str = "SELECT k, sum(a * b - k) AS s, max(a) AS m, avg(f) AS v, \
                     big_gcd_all(a * b * 6) AS g, max(-b) AS n, count(*) AS c \
                     FROM t WHERE a > b GROUP BY k ORDER BY m DESC";

fn rows() -> usize {
    let rows = std::env::var("BIGINT_CLUSTER_ROWS").ok();
    rows.map_or(DEFAULT_ROWS, |rows| rows.parse().expect("a number of rows"))
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

/// The rows of one of the files.
fn rows_of(file: usize, rows: usize) -> Range<usize> {
    file * rows / FILES..(file + 1) * rows / FILES
}

/// What becomes of each file, computed by all cores.
fn of_files<T: Send>(of: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let files: Vec<usize> = (0..FILES).collect();
    let of = &of;
    std::thread::scope(|scope| {
        let parts = files.chunks(FILES.div_ceil(cores));
        let threads: Vec<_> = parts
            .map(|files| scope.spawn(move || files.iter().map(|&file| of(file)).collect()))
            .collect();
        let done = threads.into_iter().map(|thread| thread.join().unwrap());
        done.collect::<Vec<Vec<T>>>()
            .into_iter()
            .flatten()
            .collect()
    })
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
    of_files(|file| {
        let rows: Vec<_> = rows_of(file, rows).map(row).collect();
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
    });
}

/// What the query asks of a group.
#[derive(Default)]
struct Group {
    sum: BigInt,
    most: BigUint,
    total: BigUint,
    gcd: BigUint,
    negative: Option<BigInt>,
    count: u64,
}

impl Group {
    fn of(a: BigUint, b: BigInt, k: i64) -> Self {
        let product = BigInt::from(a.clone()) * &b;
        Group {
            gcd: product.magnitude() * 6u32,
            sum: product - k,
            most: a.clone(),
            total: a,
            negative: Some(-b),
            count: 1,
        }
    }

    fn add(&mut self, other: Group) {
        let (mut x, mut y) = (other.gcd, std::mem::take(&mut self.gcd));
        while y != BigUint::ZERO {
            (x, y) = (y.clone(), x % y);
        }
        self.gcd = x;
        self.sum += other.sum;
        self.most = other.most.max(std::mem::take(&mut self.most));
        self.total += other.total;
        self.negative = other.negative.max(self.negative.take());
        self.count += other.count;
    }
}

/// The answer by num-bigint, row by row.
fn slow_oracle(rows: usize) -> String {
    let parts = of_files(|file| {
        let mut groups: BTreeMap<i64, Group> = BTreeMap::new();
        for (a, b, k) in rows_of(file, rows).map(row) {
            if BigInt::from(a.clone()) > b {
                groups.entry(k).or_default().add(Group::of(a, b, k));
            }
        }
        groups
    });
    let mut groups: BTreeMap<i64, Group> = BTreeMap::new();
    for (k, group) in parts.into_iter().flatten() {
        groups.entry(k).or_default().add(group);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by(|x, y| y.1.most.cmp(&x.1.most));
    let line = |(k, of): (i64, Group)| {
        let mean = &of.total / of.count;
        let negative = of.negative.unwrap();
        format!(
            "{k} {} {} {mean} {} {negative} {}\n",
            of.sum, of.most, of.gcd, of.count
        )
    };
    groups.into_iter().map(line).collect()
}

/// The answer of the first rows by plain Python.
fn python(rows: usize) -> String {
    let mut lines = String::new();
    for (a, b, k) in (0..rows).map(row) {
        writeln!(lines, "{a} {b} {k}").unwrap();
    }
    let mut program = Command::new("python3")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is installed");
    // It reads all before it writes.
    let mut input = program.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, lines.as_bytes()).unwrap();
    drop(input);
    let output = program.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

async fn answer(session: &SessionContext, query: &str) -> Result<String, String> {
    let told = |error: datafusion::error::DataFusionError| error.strip_backtrace();
    let query = bigint_datafusion::sql(session, query).await.map_err(told)?;
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
    /// A scheduler and executors, of which each is made ready further, with a folder of its own.
    fn start(ready: impl Fn(&mut Command, &Path)) -> Self {
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
        let start = Instant::now();
        while let Err(error) = TcpStream::connect(&address) {
            let ended = cluster.programs[0].try_wait().unwrap();
            assert!(ended.is_none(), "the scheduler ended: {ended:?}");
            let waited = start.elapsed() < Duration::from_secs(120);
            assert!(waited, "no scheduler at {address}: {error}");
            std::thread::sleep(Duration::from_millis(20));
        }
        for _ in 0..2 {
            let folder = tempfile::tempdir().unwrap();
            let mut executor = Command::new(env!("CARGO_BIN_EXE_bigint-executor"));
            executor.args(["--scheduler", &address, "--heartbeat", "1", "--tasks", "1"]);
            executor.arg("--folder").arg(folder.path());
            ready(&mut executor, folder.path());
            cluster.programs.push(executor.spawn().unwrap());
            cluster.folders.push(folder);
        }
        cluster
    }

    async fn session(&self, files: &Path, rows: usize) -> SessionContext {
        let session = bigint_ballista::connect(&self.url, &Engine::cpu())
            .await
            .unwrap();
        tables(&session, files, rows).await;
        session
    }

    /// Whether an executor has written something that another stage reads.
    fn has_worked(&self, executor: usize) -> bool {
        jobs(self.folders[executor].path()) > 0
    }
}

/// How many queries have left something in an executor's folder that another stage reads.
fn jobs(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap();
    entries
        .filter(|entry| entry.as_ref().unwrap().path().is_dir())
        .count()
}

/// The tables `t` of all files, and `sample` of the first.
async fn tables(session: &SessionContext, folder: &Path, rows: usize) {
    let file = |i| {
        folder
            .join(format!("{i}.parquet"))
            .to_str()
            .unwrap()
            .to_owned()
    };
    let files: Vec<_> = (0..FILES).map(file).collect();
    register_files(session, "t", &files).await.unwrap();
    register_files(session, "sample", &files[..sampled(rows)])
        .await
        .unwrap();
}

/// How many of the files Python's sample has.
fn sampled(rows: usize) -> usize {
    (FILES * DEFAULT_ROWS / rows).clamp(1, FILES)
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
async fn a_cluster_answers_as_datafusion_and_oracles_do_while_an_executor_is_killed() {
    let (rows, files) = (rows(), tempfile::tempdir().unwrap());
    write_files(files.path(), rows);
    let alone = SessionContext::new();
    register(&alone, &Engine::cpu()).unwrap();
    tables(&alone, files.path(), rows).await;
    let expected = slow_oracle(rows);
    let start = Instant::now();
    assert_eq!(answer(&alone, QUERY).await.unwrap(), expected);
    println!("{rows} rows alone: {:?}", start.elapsed());
    let of_sample = QUERY.replace("FROM t", "FROM sample");
    let expected_of_sample = python(sampled(rows) * rows / FILES);
    let found = answer(&alone, &of_sample).await.unwrap();
    assert_eq!(found, expected_of_sample);

    let mut cluster = Cluster::start(|_, _| ());
    let session = cluster.session(files.path(), rows).await;
    until_ready(&cluster, &session).await;
    let start = Instant::now();
    assert_eq!(answer(&session, QUERY).await.unwrap(), expected);
    println!("{rows} rows on two executors: {:?}", start.elapsed());
    let found = answer(&session, &of_sample).await.unwrap();
    assert_eq!(found, expected_of_sample);

    let first = Instant::now();
    let (start, asked) = loop {
        // What queries before have left tells nothing of the next one.
        let before = jobs(cluster.folders[0].path());
        let start = Instant::now();
        let asked = tokio::spawn({
            let session = session.clone();
            async move { answer(&session, QUERY).await }
        });
        while jobs(cluster.folders[0].path()) == before && !asked.is_finished() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        if !asked.is_finished() {
            break (start, asked);
        }
        // Over before this machine let the test look: once more.
        let waited = first.elapsed() < Duration::from_secs(120);
        assert!(waited, "queries are over before the kill");
        assert_eq!(asked.await.unwrap().unwrap(), expected);
    };
    cluster.programs[1].kill().unwrap();
    cluster.programs[1].wait().unwrap();
    // What it has made is gone with it.
    std::fs::remove_dir_all(cluster.folders[0].path()).unwrap();
    assert!(!asked.is_finished(), "the query was over before the kill");
    println!("killed after {:?}", start.elapsed());
    assert_eq!(asked.await.unwrap().unwrap(), expected);
    println!("{rows} rows and a kill: {:?}", start.elapsed());
    // The one that is left goes on.
    let found = answer(&session, &of_sample).await.unwrap();
    assert_eq!(found, expected_of_sample);
}

#[tokio::test(flavor = "multi_thread")]
async fn executors_compute_on_the_gpus_of_their_machine() {
    let (rows, files) = (20 * FILES, tempfile::tempdir().unwrap());
    write_files(files.path(), rows);
    let expected = python(rows);
    assert_eq!(slow_oracle(rows), expected);
    let cluster = Cluster::start(|executor, folder| {
        executor
            .args(["--backend", "cuda"])
            .env("BIGINT_CUDA_DRIVER", cuda_sim::driver::library())
            .env("CUDA_SIM_COUNTS", folder.join("launches"));
    });
    let session = cluster.session(files.path(), rows).await;
    until_ready(&cluster, &session).await;
    assert_eq!(answer(&session, QUERY).await.unwrap(), expected);
    for folder in &cluster.folders {
        let launches = std::fs::read_to_string(folder.path().join("launches")).unwrap();
        for kernel in ["mul_", "add_signed_", "gcd_"] {
            let name = format!("\"kernel\":\"{kernel}");
            assert!(launches.contains(&name), "no launch of {kernel}");
        }
    }
}
