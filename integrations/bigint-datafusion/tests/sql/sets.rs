//! Unions and their kin of integers of several types, and tables and files that queries make and read.

use datafusion::parquet::arrow::ArrowWriter;

use super::*;

/// Columns of `t` with the number of the row, or with `a`, and the types of both in SQL's words.
const ROWS: &[&str] = &[
    "i",
    "CAST(i AS SMALLINT UNSIGNED)",
    "CAST(i AS DECIMAL(38, 0))",
    "CAST(i AS VARCHAR)",
];

fn sorted(mut numbers: Vec<Number>) -> Vec<Option<String>> {
    // Nulls are last.
    numbers.sort_by_key(|n| (n.is_none(), n.clone()));
    texts(numbers)
}

#[tokio::test]
async fn unions_are_of_integers_of_any_types() {
    let (a, b) = (numbers(60, 31), numbers(60, 32));
    let session = session(&a, &b);
    let rows: Vec<Number> = (0..60).map(|i| Some(big(i))).collect();
    for row in ROWS {
        for (x, y, first, second) in [
            ("a", *row, &a, &rows),
            ("f", *row, &a, &rows),
            (*row, "a", &rows, &a),
            (*row, "f", &rows, &a),
            ("f", "b", &a, &b),
        ] {
            let union = format!("(SELECT {x} AS n FROM t UNION ALL SELECT {y} FROM t)");
            let both = || first.iter().chain(second).cloned();
            let sql = format!("SELECT n FROM {union} ORDER BY n");
            assert_eq!(
                only(&session, &sql).await,
                sorted(both().collect()),
                "{sql}"
            );
            let sql = format!("SELECT n FROM {union} WHERE big(n) * 2 < 50 ORDER BY n");
            let few = both().filter(|n| n.as_ref().is_some_and(|n| n * 2 < big(50)));
            assert_eq!(only(&session, &sql).await, sorted(few.collect()), "{sql}");
            let sql = format!("SELECT sum(big(n)), max(n), count(DISTINCT n) FROM {union}");
            let present: Vec<BigInt> = both().flatten().collect();
            let distinct: BTreeSet<&BigInt> = present.iter().collect();
            let expected = vec![
                present.iter().sum::<BigInt>().to_string(),
                distinct.last().unwrap().to_string(),
                distinct.len().to_string(),
            ];
            let expected: Vec<_> = expected.into_iter().map(Some).collect();
            assert_eq!(query(&session, &sql).await, [expected], "{sql}");
        }
    }
}

#[tokio::test]
async fn what_is_written_above_a_union_is_of_integers() {
    let (a, b) = (numbers(40, 33), numbers(40, 34));
    let session = session(&a, &b);
    for union in [
        "(SELECT a AS n, b AS m FROM t UNION ALL SELECT f, i FROM t)",
        "(SELECT f AS n, b AS m FROM t UNION ALL SELECT a, i FROM t)",
    ] {
        let rows = (0..40).map(|i| Some(big(i)));
        let n = || a.iter().chain(&a).cloned();
        let m = || b.iter().cloned().chain(rows.clone());
        let both = || n().zip(m()).map(|(n, m)| Some((n?, m?)));
        let of = |of: fn(BigInt, BigInt) -> BigInt| {
            sorted(both().map(|both| both.map(|(n, m)| of(n, m))).collect())
        };
        for (sql, expected) in [
            ("n + 1 - m", of(|n, m| n + 1 - m)),
            ("-n * m", of(|n, m| -n * m)),
            (
                "n * 3 % 5 + (m - m)",
                of(|n, m| {
                    let n: BigInt = n * 3;
                    &n - floor_div(&n, &big(5)) * 5 + (&m - &m)
                }),
            ),
        ] {
            let sql = format!("SELECT {sql} AS x FROM {union} ORDER BY x");
            assert_eq!(only(&session, &sql).await, expected, "{sql}");
        }
        let sql = format!("SELECT count(*) FROM {union} WHERE n < 3 AND m >= 0");
        let few = both()
            .flatten()
            .filter(|(n, m)| *n < big(3) && *m >= big(0));
        let few = Some(few.count().to_string());
        assert_eq!(only(&session, &sql).await, [few], "{sql}");
        let sql = format!("SELECT sum(n), avg(m), min(n) FROM {union}");
        let (n, m): (Vec<_>, Vec<_>) = (n().flatten().collect(), m().flatten().collect());
        let expected = [
            n.iter().sum(),
            floor_div(&m.iter().sum(), &big(m.len() as i64)),
            n.iter().min().unwrap().clone(),
        ];
        let expected = texts(expected.map(Some));
        assert_eq!(query(&session, &sql).await, [expected], "{sql}");
    }
}

#[tokio::test]
async fn sets_are_of_equal_integers_whatever_their_types() {
    let (a, b) = (numbers(80, 35), numbers(80, 36));
    let session = session(&a, &b);
    let set = |numbers: &[Number]| numbers.iter().cloned().collect::<BTreeSet<Number>>();
    let (of_a, of_b) = (set(&a), set(&b));
    let rows: BTreeSet<Number> = (0..80).map(|i| Some(big(i))).collect();
    let three = of_a
        .union(&of_b)
        .chain(&rows)
        .cloned()
        .collect::<BTreeSet<_>>();
    for (sql, expected) in [
        (
            "SELECT a AS n FROM t UNION SELECT b FROM t",
            of_a.union(&of_b).cloned().collect(),
        ),
        (
            "SELECT f AS n FROM t UNION SELECT b FROM t",
            of_a.union(&of_b).cloned().collect(),
        ),
        (
            "SELECT i AS n FROM t UNION SELECT f FROM t UNION SELECT b FROM t",
            three.clone(),
        ),
        (
            "SELECT f AS n FROM t UNION (SELECT i FROM t UNION ALL SELECT b FROM t)",
            three,
        ),
        (
            "SELECT a AS n FROM t UNION BY NAME SELECT f AS n FROM t",
            of_a.clone(),
        ),
        (
            "SELECT a AS n FROM t INTERSECT SELECT b FROM t",
            of_a.intersection(&of_b).cloned().collect(),
        ),
        (
            "SELECT f AS n FROM t INTERSECT SELECT b FROM t",
            of_a.intersection(&of_b).cloned().collect(),
        ),
        (
            "SELECT a AS n FROM t INTERSECT SELECT i FROM t",
            of_a.intersection(&rows).cloned().collect(),
        ),
        (
            "SELECT i AS n FROM t INTERSECT SELECT f FROM t",
            of_a.intersection(&rows).cloned().collect(),
        ),
        (
            "SELECT a AS n FROM t EXCEPT SELECT b FROM t",
            of_a.difference(&of_b).cloned().collect(),
        ),
        (
            "SELECT f AS n FROM t EXCEPT SELECT b FROM t",
            of_a.difference(&of_b).cloned().collect(),
        ),
        (
            "SELECT a AS n FROM t EXCEPT SELECT i FROM t",
            of_a.difference(&rows).cloned().collect(),
        ),
    ] {
        let sql = format!("SELECT n FROM ({sql}) ORDER BY n");
        assert_eq!(
            only(&session, &sql).await,
            sorted(expected.into_iter().collect()),
            "{sql}"
        );
    }
}

#[tokio::test]
async fn tables_and_files_that_queries_make_keep_the_types() {
    let (a, b) = (numbers(50, 37), numbers(50, 38));
    let session = session(&a, &b);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("made.parquet").display().to_string();
    let made = "SELECT a, f, a * b AS p, max(b) OVER (ORDER BY i) AS m, i FROM t";
    for make in [
        format!("CREATE TABLE made AS {made}"),
        format!("CREATE VIEW made AS {made}"),
        format!("COPY ({made}) TO '{file}'"),
    ] {
        query(&session, &make).await;
        if make.starts_with("COPY") {
            let files = [file.clone()];
            bigint_datafusion::register_files(&session, "made", &files)
                .await
                .unwrap();
        }
        let found = query(
            &session,
            "SELECT a - f, p + 1, m FROM made WHERE p > 5 ORDER BY i",
        )
        .await;
        let mut most: Number = None;
        let rows = a.iter().zip(&b).filter_map(|(a, b)| {
            most = most.clone().max(b.clone());
            let product = a.as_ref()? * b.as_ref()?;
            let row = [Some(big(0)), Some(&product + 1), most.clone()];
            (product > big(5)).then(|| texts(row))
        });
        assert_eq!(found, rows.collect::<Vec<_>>(), "{make}");
        session.deregister_table("made").unwrap();
    }
}

#[tokio::test]
async fn queries_of_queries_know_their_integers() {
    let (a, b) = (numbers(60, 39), numbers(60, 40));
    let session = session(&a, &b);
    let present: BTreeSet<BigInt> = a.iter().flatten().cloned().collect();
    let most = present.last().unwrap();
    for (sql, expected) in [
        (
            "WITH u AS (SELECT a AS n FROM t) SELECT max(n) + 1 FROM u",
            most + big(1),
        ),
        ("SELECT (SELECT max(f) FROM t) + 1", most + big(1)),
        (
            "SELECT a + 1 FROM t WHERE a = (SELECT max(a) FROM t) LIMIT 1",
            most + big(1),
        ),
        (
            "SELECT n + 1 FROM (SELECT DISTINCT a AS n FROM t) WHERE n IS NOT NULL ORDER BY n DESC LIMIT 1",
            most + big(1),
        ),
        (
            "SELECT n + 1 FROM (SELECT a AS n FROM t ORDER BY a DESC NULLS LAST LIMIT 1)",
            most + big(1),
        ),
        ("SELECT coalesce(NULL, max(a), 5) + 1 FROM t", most + big(1)),
        (
            "SELECT CASE WHEN true THEN max(a) END + 1 FROM t",
            most + big(1),
        ),
        (
            "SELECT max(a) FILTER (WHERE a < 5 OR a >= 5) + 1 FROM t",
            most + big(1),
        ),
        ("SELECT nullif(max(a), 0) + 1 FROM t", most + big(1)),
        ("SELECT ifnull(max(a), 0) + 1 FROM t", most + big(1)),
        ("SELECT nvl2(max(a), max(a) + 1, 0) FROM t", most + big(1)),
        (
            "SELECT max(n) + 1 FROM (SELECT a AS n, row_number() OVER (PARTITION BY a ORDER BY i) AS r FROM t) WHERE r = 1",
            most + big(1),
        ),
        (
            "SELECT count(*) + big(0) FROM t WHERE EXISTS (SELECT 1 FROM t AS u WHERE u.a = t.a)",
            big(a.iter().flatten().count() as i64),
        ),
        (
            "SELECT sum(n) FROM (SELECT count(*) AS n FROM t WHERE a IS NOT NULL GROUP BY a)",
            big(a.iter().flatten().count() as i64),
        ),
        (
            "SELECT big_sum(n) FROM (SELECT a AS n FROM t GROUP BY a HAVING a IS NOT NULL)",
            present.iter().sum(),
        ),
        (
            "SELECT sum(n) FROM (SELECT a AS n FROM t GROUP BY GROUPING SETS ((a)))",
            present.iter().sum(),
        ),
        ("SELECT sum(big(x)) FROM (VALUES (1), (2)) AS v (x)", big(3)),
        (
            "SELECT sum(x) FROM (VALUES (big(1)), (big('2'))) AS v (x)",
            big(3),
        ),
    ] {
        assert_eq!(
            only(&session, sql).await,
            [Some(expected.to_string())],
            "{sql}"
        );
    }
}

#[tokio::test]
async fn numbers_are_compared_with_those_of_subqueries() {
    let (a, b) = (numbers(70, 44), numbers(70, 45));
    let session = session(&a, &b);
    let of_b: BTreeSet<BigInt> = b.iter().flatten().cloned().collect();
    let (least, most) = (of_b.first().unwrap(), of_b.last().unwrap());
    let small: BTreeSet<BigInt> = (0..5).map(big).collect();
    type Is<'a> = &'a dyn Fn(&BigInt) -> bool;
    let cases: &[(&str, Is<'_>)] = &[
        ("a IN (SELECT b FROM t WHERE b IS NOT NULL)", &|a| {
            of_b.contains(a)
        }),
        ("f IN (SELECT b FROM t WHERE b IS NOT NULL)", &|a| {
            of_b.contains(a)
        }),
        ("f NOT IN (SELECT b FROM t WHERE b IS NOT NULL)", &|a| {
            !of_b.contains(a)
        }),
        ("a IN (SELECT i FROM t WHERE i < 5)", &|a| small.contains(a)),
        ("a IN (SELECT u.f FROM t AS u WHERE u.i = t.i)", &|_| true),
        ("a < ANY (SELECT b FROM t)", &|a| a < most),
        ("f >= ALL (SELECT b FROM t WHERE b IS NOT NULL)", &|a| {
            a >= most
        }),
        ("a <= ALL (SELECT b FROM t WHERE b IS NOT NULL)", &|a| {
            a <= least
        }),
        ("a > ANY (SELECT b FROM t)", &|a| a > least),
        ("f = ANY (SELECT b FROM t)", &|a| of_b.contains(a)),
        ("a < (SELECT max(b) FROM t)", &|a| a < most),
    ];
    for (sql, is) in cases {
        let sql = format!("SELECT count(*) FROM t WHERE a IS NOT NULL AND {sql}");
        let expected = a.iter().flatten().filter(|a| is(a)).count();
        assert_eq!(
            only(&session, &sql).await,
            [Some(expected.to_string())],
            "{sql}"
        );
    }
}

#[tokio::test]
async fn functions_of_operands_of_one_type_take_integers_of_several() {
    let (a, b) = (numbers(80, 46), numbers(80, 47));
    let session = session(&a, &b);
    type Of = fn(&Number, &Number) -> Number;
    let cases: &[(&str, Of)] = &[
        ("coalesce(a, 0)", |a, _| Some(a.clone().unwrap_or_default())),
        ("coalesce(a, f, b, '-7') + 1", |a, b| {
            Some(a.clone().or(b.clone()).unwrap_or(big(-7)) + 1)
        }),
        ("coalesce(f, b)", |a, b| a.clone().or(b.clone())),
        ("ifnull(a, 5) * 2", |a, _| {
            Some(a.clone().unwrap_or(big(5)) * 2)
        }),
        ("nvl2(a, b, 3)", |a, b| {
            if a.is_some() { b.clone() } else { Some(big(3)) }
        }),
        ("nullif(a, 1)", |a, _| a.clone().filter(|a| *a != big(1))),
        ("nullif(f, b)", |a, b| a.clone().filter(|_| a != b)),
        ("greatest(a, b)", |a, b| a.clone().max(b.clone())),
        ("greatest(f, 3, b)", |a, b| {
            a.clone().max(b.clone()).max(Some(big(3)))
        }),
        ("least(a, b, '12')", |a, b| {
            [a.clone(), b.clone(), Some(big(12))]
                .into_iter()
                .flatten()
                .min()
        }),
        ("coalesce(NULL, i, 5) + big(0) - i", |_, _| Some(big(0))),
    ];
    for (sql, of) in cases {
        let found = only(&session, &format!("SELECT {sql} FROM t ORDER BY i")).await;
        let expected = a.iter().zip(&b).map(|(a, b)| of(a, b));
        assert_eq!(found, texts(expected), "{sql}");
    }
    // Of other types they are DataFusion's.
    let others = "SELECT coalesce(NULL, 2, 3), greatest(1, 2.5), least('b', 'a'), nullif(1, 1), nvl2(1, 'x', 'y')";
    let expected = ["2", "2.5", "a", "", "x"].map(|text| (!text.is_empty()).then_some(text));
    assert_eq!(query(&session, others).await, [texts(expected)]);
}

#[tokio::test]
async fn parquet_keeps_the_types_of_columns() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (numbers(100, 14), numbers(100, 15));
    for (file, range) in [("1.parquet", 0..60), ("2.parquet", 60..100)] {
        let schema = Arc::new(Schema::new(vec![
            Any::field("a", true),
            fixed_field("f"),
            Any::field("b", true),
        ]));
        let columns = vec![
            any(&a[range.clone()]),
            fixed(&a[range.clone()]),
            any(&b[range]),
        ];
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
        let file = std::fs::File::create(folder.path().join(file)).unwrap();
        let mut writer = ArrowWriter::try_new(file, schema, None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }
    let session = SessionContext::new();
    register(&session, &Engine::cpu()).unwrap();
    let path = folder.path().to_str().unwrap();
    for paths in [
        vec![path.to_owned()],
        vec![format!("{path}/*.parquet")],
        vec![format!("{path}/1.parquet"), format!("{path}/2.parquet")],
    ] {
        bigint_datafusion::register_files(&session, "t", &paths)
            .await
            .unwrap();
        let sum: BigInt = a
            .iter()
            .zip(&b)
            .filter_map(|(a, b)| Some(a.as_ref()? * b.as_ref()?))
            .sum();
        let found = only(&session, "SELECT big_sum(a * b) FROM t").await;
        assert_eq!(found, [Some(sum.to_string())]);
        let found = only(&session, "SELECT max(f - a) FROM t").await;
        assert_eq!(found, [Some("0".to_owned())]);
        let largest = a.iter().flatten().max().map(ToString::to_string);
        let found = only(
            &session,
            "SELECT a FROM t WHERE a IS NOT NULL ORDER BY a DESC LIMIT 1",
        )
        .await;
        assert_eq!(found, std::slice::from_ref(&largest));
        let found = only(
            &session,
            &format!(
                "SELECT count(*) > 0 FROM t WHERE a = '{}'",
                largest.unwrap()
            ),
        )
        .await;
        assert_eq!(found, [Some("true".to_owned())]);
        session.deregister_table("t").unwrap();
    }
    let missing =
        bigint_datafusion::register_files(&session, "t", &["gone.parquet".to_owned()]).await;
    assert!(missing.unwrap_err().to_string().contains("gone.parquet"));
}
