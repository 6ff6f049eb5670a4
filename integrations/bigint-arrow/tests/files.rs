//! Files: what is written is read, part by part; names, kinds and rows that are wrong are told.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field, Schema};
use bigint_arrow::files::{Kind, Reader, Writer, columns};
use bigint_arrow::{Any, Column, Error, Fixed};
use bigint_host::{BigInt, Integers};

fn column(numbers: impl Iterator<Item = BigInt>, with_nulls: bool) -> Column {
    let numbers: Integers = numbers.collect();
    let nulls = with_nulls.then(|| (0..numbers.len()).map(|row| row % 7 != 3).collect());
    Column::new(numbers, nulls).unwrap()
}

#[test]
fn columns_of_a_file_come_back_by_name_and_in_parts() {
    let power = |row: u32| BigInt::from(-3).pow(row % 300);
    for kind in [Kind::Parquet, Kind::Arrow] {
        let file = tempfile::tempfile().unwrap();
        let fields = vec![
            Any::field("powers", true),
            Fixed::default().field("words", 32, true),
            Field::new("texts", DataType::LargeUtf8, true),
        ];
        let mut writer = Writer::new(file.try_clone().unwrap(), kind, fields).unwrap();
        let part = |part: u32| {
            let rows = part * 1000..(part + 1) * 1000;
            let word = |row: u32| (BigInt::from(1) << (row % 256)) - 1;
            [
                column(rows.clone().map(power), false),
                column(rows.clone().map(word), true),
                column(rows.map(power), true),
            ]
        };
        for number in 0..5 {
            writer.write(&part(number)).unwrap();
        }
        writer
            .write(&[0; 3].map(|_| column([].into_iter(), false)))
            .unwrap();
        writer.finish().unwrap();
        assert_eq!(columns(&file).unwrap(), ["powers", "words", "texts"]);
        let reader = Reader::new(file, &["texts", "powers", "texts"], 1 << 15).unwrap();
        assert_eq!(reader.rows(), (kind == Kind::Parquet).then_some(5000));
        let parts = reader.collect::<Result<Vec<_>, _>>().unwrap();
        assert!(parts.len() >= 5, "{}", parts.len());
        let all = |index: usize| {
            let shown = parts.iter().map(|part| part.columns[index].to_string());
            let shown = shown.filter(|shown| shown != "[]").collect::<Vec<_>>();
            shown.join("").replace("][", ", ")
        };
        let given = |index: usize| {
            let shown = (0..5).map(|number| part(number)[index].to_string());
            shown.collect::<String>().replace("][", ", ")
        };
        assert_eq!(all(0), given(2));
        assert_eq!(all(1), given(0));
        assert_eq!(all(2), given(2));
    }
}

#[test]
fn a_stream_of_arrow_is_read_as_a_file_is_and_bad_rows_are_told() {
    let mut file = tempfile::tempfile().unwrap();
    let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Utf8, true)]));
    let mut writer = StreamWriter::try_new(file.try_clone().unwrap(), &schema).unwrap();
    let texts = StringArray::from(vec![Some("0x10"), Some("1.5"), None]);
    let batch = RecordBatch::try_new(schema, vec![Arc::new(texts) as ArrayRef]).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let parts: Vec<_> = Reader::new(file.try_clone().unwrap(), &["n"], 10)
        .unwrap()
        .collect();
    let part = parts[0].as_ref().unwrap();
    assert_eq!(part.columns[0].to_string(), "[16, null, null]");
    let [(0, 1, what)] = &part.wrong[..] else {
        panic!("one row is wrong")
    };
    assert!(what.contains("byte 1 of \"1.5\""), "{what}");
    let error = Reader::new(file.try_clone().unwrap(), &["m"], 10)
        .err()
        .unwrap();
    assert!(matches!(&error, Error::NoColumn { column, has } if column == "m" && *has == ["n"]));
    file.set_len(0).unwrap();
    file.write_all(b"12\n34\n").unwrap();
    assert!(columns(&file).is_err());
    let other: File = tempfile::tempfile().unwrap();
    assert!(columns(&other).is_err());
}
