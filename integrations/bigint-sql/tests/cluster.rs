//! A cluster by the commands that users type: `examples/cluster/start.sh`, and the queries that it
//! suggests. The scheduler and the executor are those beside this program, as they are where the
//! whole workspace is tested.
//!
//! `BIGINT_COMMAND` is the command `bigint`, whose `sql` is asked then; without it the program is.
#![cfg(all(unix, feature = "cluster"))]

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_bigint-sql");

/// What the second query answers, by Python's ints.
const ORACLE: &str = "
print('k,bits,p')
groups = [range(k or 7, 2001, 7) for k in range(7)]
for group in sorted(groups, key=max):
    print(max(group) % 7, (3 ** sum(group)).bit_length(), 3 ** max(group), sep=',')
";

/// A cluster that ends with the test.
struct Cluster {
    script: Child,
    url: String,
    /// The commands that it suggests.
    suggested: Vec<String>,
}

impl Cluster {
    fn start() -> Self {
        let programs = Path::new(PROGRAM).parent().unwrap();
        for program in ["bigint-scheduler", "bigint-executor"] {
            let path = programs.join(program);
            assert!(path.exists(), "first: cargo build -p bigint-ballista");
        }
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port().to_string();
        drop(free);
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/cluster/start.sh");
        let mut script = Command::new(script)
            .env("PROGRAMS", programs)
            .env("PORT", &port)
            .env("TASKS", "1")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(script.stdout.take().unwrap()).lines();
        let said: Vec<_> = lines
            .map(Result::unwrap)
            .take_while(|line| !line.ends_with("Ctrl-C ends the cluster."))
            .collect();
        let text = said.join("\n").replace("\\\n", "");
        let suggested = text.lines().filter_map(|line| line.strip_prefix("  "));
        Cluster {
            script,
            url: format!("df://127.0.0.1:{port}"),
            suggested: suggested.map(str::to_owned).collect(),
        }
    }

    /// Ends it as a terminal would, and waits.
    fn end(&mut self) {
        if self.script.try_wait().is_ok_and(|ended| ended.is_some()) {
            return;
        }
        let process = self.script.id().to_string();
        let _ = Command::new("kill").arg(process).status();
        let _ = self.script.wait();
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.end();
    }
}

/// Types a command in a folder, and waits for two minutes at most.
fn typed(folder: &Path, command: &str) -> Output {
    let mut typed = Command::new("timeout");
    typed.current_dir(folder).args(["120", "bash"]);
    match std::env::var("BIGINT_COMMAND") {
        Ok(bigint) => {
            let programs = Path::new(PROGRAM).parent().unwrap().display();
            let command = command.replace(PROGRAM, &format!("{bigint} sql"));
            typed.args(["-c", &format!("PATH={programs}:$PATH; {command}")]);
        }
        Err(_) => {
            typed.args(["-c", command]);
        }
    }
    typed.output().unwrap()
}

fn must(folder: &Path, command: &str) {
    let output = typed(folder, command);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {stderr}");
}

#[test]
fn the_cluster_of_one_command_gives_the_bits_that_datafusion_and_python_do() {
    let folder = tempfile::tempdir().unwrap();
    let mut cluster = Cluster::start();
    let [table, query] = &cluster.suggested[..] else {
        panic!("{:?}", cluster.suggested);
    };
    must(folder.path(), table);
    must(folder.path(), query);
    let on_cluster = std::fs::read_to_string(folder.path().join("products.csv")).unwrap();
    let there = format!(" --cluster {}", cluster.url);
    assert!(query.contains(&there), "{query}");
    must(
        folder.path(),
        &query
            .replace(&there, "")
            .replace("products.csv", "alone.csv"),
    );
    let alone = std::fs::read_to_string(folder.path().join("alone.csv")).unwrap();
    assert_eq!(on_cluster, alone);
    let python = Command::new("python3").args(["-c", ORACLE]).output();
    let python = python.expect("python3 is installed").stdout;
    assert_eq!(on_cluster.as_bytes(), python);

    // A query that is wrong, and one that fails on an executor.
    for (wrong, code, part) in [
        ("SELECT x FROM t", 2, "x"),
        ("SELECT p / (n - 1) FROM t", 1, "ZeroDivisor"),
    ] {
        let arguments = format!("--table t=powers.parquet{there}");
        let output = typed(folder.path(), &format!("{PROGRAM} '{wrong}' {arguments}"));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(stderr.contains(part), "{stderr}");
    }

    cluster.end();
    let arguments = format!("--table t=powers.parquet{there}");
    let output = typed(folder.path(), &format!("{PROGRAM} 'SELECT 1' {arguments}"));
    assert_eq!(
        output.status.code(),
        Some(1),
        "a program outlives the script"
    );
}

#[test]
fn a_url_without_a_cluster_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = format!("df://{}", free.local_addr().unwrap());
    drop(free);
    for (url, code, part) in [
        (&nobody[..], 1, "refused"),
        ("nonsense", 2, "relative URL"),
        ("df://", 2, "hostname"),
    ] {
        let output = typed(
            folder.path(),
            &format!("{PROGRAM} 'SELECT 1' --cluster {url}"),
        );
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(stderr.contains(part), "{stderr}");
        assert!(stderr.contains(&format!("no cluster at {url}")), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}
