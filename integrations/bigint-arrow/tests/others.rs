//! Files that pyarrow, polars, pandas and DuckDB write are read, and ours by them. The packages
//! take some 600 MB, in the target folder and once, so this runs where `BIGINT_OTHERS=fetch` asks
//! for it, or names a folder that has them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use arrow_schema::{DataType, Field};
use bigint_arrow::files::{Kind, Reader, Writer};
use bigint_arrow::{Any, Column, Fixed, Order, Sign};
use bigint_host::{BigInt, Integers};

const PACKAGES: [&str; 5] = [
    "duckdb==2.0.0",
    "numpy==2.4.6",
    "pandas==3.1.1",
    "polars==2.1.0",
    "pyarrow==26.0.1",
];

/// The numbers of a column, or null.
type Texts = Vec<Option<String>>;

#[test]
fn what_others_write_is_read_and_what_we_write_is_read_by_them() {
    let Some(packages) = fetched() else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    python(&packages, "write", folder);
    let expected = std::fs::read(folder.join("expected.json")).unwrap();
    let expected: BTreeMap<String, BTreeMap<String, Texts>> =
        serde_json::from_slice(&expected).unwrap();
    assert!(expected.len() > 100);
    for (file, columns) in &expected {
        let names: Vec<&str> = columns.keys().map(String::as_str).collect();
        for bytes in [1, 1 << 20] {
            let open = File::open(folder.join(file)).unwrap();
            let reader = Reader::new(open, &names, bytes).unwrap_or_else(|e| panic!("{file}: {e}"));
            let mut found = vec![Texts::new(); names.len()];
            for part in reader {
                let part = part.unwrap_or_else(|error| panic!("{file}: {error}"));
                assert_eq!(part.wrong, [], "{file}");
                for (found, column) in found.iter_mut().zip(&part.columns) {
                    found.extend(texts(column));
                }
            }
            for (name, found) in names.iter().zip(found) {
                assert_eq!(found, columns[*name], "{name} of {file}");
            }
        }
    }
    let ours = write_ours(folder);
    std::fs::write(folder.join("ours.json"), serde_json::to_vec(&ours).unwrap()).unwrap();
    python(&packages, "check", folder);
}

fn texts(column: &Column) -> Texts {
    let numbers = column.numbers().decimals().enumerate();
    let text = |(row, number)| (!column.is_null(row)).then_some(number);
    numbers.map(text).collect()
}

/// Writes one file of each kind, of every type that we choose to write.
fn write_ours(folder: &Path) -> BTreeMap<String, Texts> {
    let (little, big) = (
        Fixed::default(),
        Fixed {
            order: Order::Big,
            sign: Sign::TwosComplement,
        },
    );
    // The type, bits of numbers, and whether they have signs.
    let columns = [
        (Any::field("any", true), 5000, true),
        (little.field("little", 32, true), 256, false),
        (big.field("big", 20, true), 159, true),
        (Field::new("text", DataType::LargeUtf8, true), 5000, true),
        (
            Field::new("decimal", DataType::Decimal256(76, 0), true),
            252,
            true,
        ),
    ];
    let column = |&(_, bits, signed): &(Field, u32, bool)| {
        let number = |row: u32| {
            let power = BigInt::from(1) << (row * 37 % bits);
            match (row % 4, signed) {
                (0, _) => power - 1,
                (1, true) => -power,
                (2, true) => 1 - power,
                _ => power,
            }
        };
        let numbers: Integers = (0..200).map(number).collect();
        let nulls = (0..200).map(|row| row % 9 != 4).collect();
        Column::new(numbers, Some(nulls)).unwrap()
    };
    let values: Vec<Column> = columns.iter().map(column).collect();
    for (kind, name) in [(Kind::Parquet, "ours.parquet"), (Kind::Arrow, "ours.arrow")] {
        let fields = columns.iter().map(|(field, ..)| field.clone()).collect();
        let file = File::create(folder.join(name)).unwrap();
        let mut writer = Writer::new(file, kind, fields).unwrap();
        writer.write(&values).unwrap();
        writer.finish().unwrap();
    }
    let named = columns.iter().zip(&values);
    named
        .map(|((field, ..), column)| (field.name().clone(), texts(column)))
        .collect()
}

/// A folder with the packages, if the environment asks for it.
fn fetched() -> Option<PathBuf> {
    let asked = std::env::var_os("BIGINT_OTHERS");
    if let Some(folder) = asked.as_ref().filter(|asked| *asked != "fetch") {
        return Some(folder.into());
    }
    if asked.is_none() {
        // Past the harness, which keeps what passing tests say to itself.
        let note =
            "SKIPPED: files of pyarrow, polars, pandas and DuckDB, without BIGINT_OTHERS=fetch";
        let _ = writeln!(std::io::stderr(), "{note}");
        return None;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("others");
    let whole = folder.join("whole");
    if !whole.exists() {
        // What an earlier run did not finish is begun again.
        let _ = std::fs::remove_dir_all(&folder);
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--target"]);
        run(pip.arg(&folder).args(PACKAGES));
        std::fs::write(whole, "").unwrap();
    }
    Some(folder)
}

fn python(packages: &Path, task: &str, folder: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/others.py");
    let mut python = Command::new("python3");
    run(python
        .env("PYTHONPATH", packages)
        .arg(script)
        .arg(task)
        .arg(folder));
}

fn run(command: &mut Command) {
    let output = command.output().expect("python3");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
}
