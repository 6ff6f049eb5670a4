//! Queries over columns of integers, compared with num-bigint.

mod frames;
mod sets;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bigint_arrow::{Any, Column, Fixed, Order, Sign};
use bigint_datafusion::{columns_of, register, shown};
use bigint_host::{BigInt, Engine, Integers};
use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::datasource::MemTable;
use datafusion::execution::context::SessionContext;
use datafusion::prelude::SessionConfig;

type Number = Option<BigInt>;
type Answer = Vec<Vec<Option<String>>>;

fn big(number: i64) -> BigInt {
    BigInt::from(number)
}

/// Numbers that are awkward, and others; some are null.
fn numbers(count: usize, seed: u64) -> Vec<Number> {
    let mut state = seed;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let number = |_| {
        let bits = [
            0, 1, 8, 31, 32, 33, 63, 64, 65, 127, 128, 256, 511, 2040, 2048,
        ];
        let power = BigInt::from(1) << bits[next() as usize % bits.len()];
        let number = match next() % 6 {
            0 => return None,
            1 => power,
            2 => power - 1,
            3 => power + 1,
            4 => (0..next() % 9).fold(BigInt::ZERO, |n, _| (n << 64) + next()),
            _ => BigInt::from(next() % 4),
        };
        Some(if next() % 2 == 0 { number } else { -number })
    };
    (0..count).map(number).collect()
}

fn column(numbers: &[Number]) -> Column {
    let nulls: NullBuffer = numbers.iter().map(Option::is_some).collect();
    let plain: Vec<BigInt> = numbers
        .iter()
        .map(|n| n.clone().unwrap_or_default())
        .collect();
    Column::new(Integers::from_bigints(&plain).unwrap(), Some(nulls)).unwrap()
}

fn any(numbers: &[Number]) -> ArrayRef {
    Arc::new(bigint_arrow::any(&column(numbers)))
}

/// `bigint.fixed` of 264 bytes.
fn fixed_field(name: &str) -> Field {
    let fixed = Fixed {
        order: Order::Big,
        sign: Sign::TwosComplement,
    };
    fixed.field(name, 264, true)
}

fn fixed(numbers: &[Number]) -> ArrayRef {
    column(numbers).to_array(&fixed_field("f")).unwrap()
}

/// A session with the table `t`: `a` and `b` of `bigint.any`, `f` of `bigint.fixed` with the
/// numbers of `a`, `g` a group and `i` the row. Batches are small, and slices of larger ones.
fn session(a: &[Number], b: &[Number]) -> SessionContext {
    let config = SessionConfig::new()
        .with_batch_size(16)
        .with_target_partitions(3);
    let session = SessionContext::new_with_config(config);
    register(&session, &Engine::cpu()).unwrap();
    let schema = Arc::new(Schema::new(vec![
        Any::field("a", true),
        Any::field("b", true),
        fixed_field("f"),
        Field::new("g", DataType::Int64, true),
        Field::new("i", DataType::Int64, false),
    ]));
    let groups = (0..a.len() as i64).map(|i| (i % 7 != 3).then_some(i % 7));
    let columns: Vec<ArrayRef> = vec![
        any(a),
        any(b),
        fixed(a),
        Arc::new(Int64Array::from_iter(groups)),
        Arc::new(Int64Array::from_iter_values(0..a.len() as i64)),
    ];
    let whole = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
    let mut parts = vec![Vec::new(); 3];
    for start in (0..a.len()).step_by(11) {
        let slice = whole.slice(start, 11.min(a.len() - start));
        parts[start / 11 % 3].push(slice);
    }
    session
        .register_table("t", Arc::new(MemTable::try_new(schema, parts).unwrap()))
        .unwrap();
    session
}

async fn answer(session: &SessionContext, query: &str) -> Result<Answer, String> {
    let told = |error: datafusion::error::DataFusionError| error.strip_backtrace();
    let query = bigint_datafusion::sql(session, query).await.map_err(told)?;
    let schema = columns_of(&query).map_err(told)?;
    let mut rows = Vec::new();
    for batch in query.collect().await.map_err(told)? {
        let batch = shown(&batch, &schema).map_err(told)?;
        let options = FormatOptions::default();
        let format = |column| ArrayFormatter::try_new(column, &options).unwrap();
        let columns: Vec<_> = batch.columns().iter().map(|c| (c, format(c))).collect();
        rows.extend((0..batch.num_rows()).map(|row| {
            let cell = |(column, text): &(&ArrayRef, ArrayFormatter<'_>)| {
                column.is_valid(row).then(|| text.value(row).to_string())
            };
            columns.iter().map(cell).collect::<Vec<_>>()
        }));
    }
    Ok(rows)
}

async fn query(session: &SessionContext, query: &str) -> Answer {
    answer(session, query)
        .await
        .unwrap_or_else(|error| panic!("{query}: {error}"))
}

/// One column of an answer.
async fn only(session: &SessionContext, sql: &str) -> Vec<Option<String>> {
    let answer = query(session, sql).await;
    answer.into_iter().map(|row| row[0].clone()).collect()
}

fn texts<T: ToString>(values: impl IntoIterator<Item = Option<T>>) -> Vec<Option<String>> {
    values
        .into_iter()
        .map(|value| value.map(|value| value.to_string()))
        .collect()
}

fn floor_div(a: &BigInt, b: &BigInt) -> BigInt {
    let (q, r) = (a / b, a % b);
    match r != BigInt::ZERO && (r < BigInt::ZERO) != (*b < BigInt::ZERO) {
        true => q - 1,
        false => q,
    }
}

fn gcd(a: &BigInt, b: &BigInt) -> BigInt {
    let (mut a, mut b) = (
        BigInt::from(a.magnitude().clone()),
        BigInt::from(b.magnitude().clone()),
    );
    while b != BigInt::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

#[tokio::test]
async fn operators_and_functions_are_num_bigints() {
    let (a, b) = (numbers(300, 1), numbers(300, 2));
    let session = session(&a, &b);
    type Binary = fn(&BigInt, &BigInt) -> String;
    let cases: &[(&str, Binary)] = &[
        ("a + b", |a, b| (a + b).to_string()),
        ("f + b", |a, b| (a + b).to_string()),
        ("a - b", |a, b| (a - b).to_string()),
        ("a * b", |a, b| (a * b).to_string()),
        ("big_mul(f, b)", |a, b| (a * b).to_string()),
        ("a * b + a - 5", |a, b| (a * b + a - big(5)).to_string()),
        ("7 - a * (0 - b)", |a, b| (a * b + big(7)).to_string()),
        ("big_gcd(a, b)", |a, b| gcd(a, b).to_string()),
        ("big_cmp(a, b)", |a, b| (a.cmp(b) as i8).to_string()),
        ("a < b", |a, b| (a < b).to_string()),
        ("f <= b", |a, b| (a <= b).to_string()),
        ("a > b", |a, b| (a > b).to_string()),
        ("a >= f", |_, _| true.to_string()),
        ("a = b", |a, b| (a == b).to_string()),
        ("a <> b", |a, b| (a != b).to_string()),
        ("f = b", |a, b| (a == b).to_string()),
        ("f = a", |_, _| true.to_string()),
        ("big_least(a, b)", |a, b| a.min(b).to_string()),
        ("big_greatest(f, b)", |a, b| a.max(b).to_string()),
        ("a BETWEEN b AND 100", |a, b| {
            (b <= a && *a <= big(100)).to_string()
        }),
        ("a NOT BETWEEN 0 AND b", |a, b| {
            (!(big(0) <= *a && a <= b)).to_string()
        }),
        ("CASE WHEN a < b THEN a ELSE f + 1 END", |a, b| {
            match a < b {
                true => a.to_string(),
                false => (a + big(1)).to_string(),
            }
        }),
        ("big_key(a) < big_key(b)", |a, b| (a < b).to_string()),
        ("CASE f WHEN b THEN 1 ELSE 0 END", |a, b| {
            u8::from(a == b).to_string()
        }),
        ("coalesce(f, f) + big(1)", |a, _| (a + big(1)).to_string()),
        ("nullif(a, a - 1) - a", |_, _| 0.to_string()),
    ];
    for (sql, expected) in cases {
        let both = a.iter().zip(&b).map(|both| match both {
            (Some(a), Some(b)) => Some(expected(a, b)),
            _ => None,
        });
        // These are told apart where one is null, too.
        let filter = match ["BETWEEN", "CASE", "coalesce", "nullif"]
            .iter()
            .any(|of| sql.contains(of))
        {
            true => "WHERE a IS NOT NULL AND b IS NOT NULL",
            false => "",
        };
        let expected: Vec<_> = both.filter(|x| filter.is_empty() || x.is_some()).collect();
        let found = only(
            &session,
            &format!("SELECT {sql} FROM t {filter} ORDER BY i"),
        )
        .await;
        if sql.contains("f = a") || sql.contains(">= f") {
            assert_eq!(
                found,
                texts(a.iter().map(|a| a.as_ref().map(|_| true))),
                "{sql}"
            );
        } else {
            assert_eq!(found, expected, "{sql}");
        }
    }
}

#[tokio::test]
async fn functions_of_one_number_are_num_bigints() {
    let (a, b) = (numbers(200, 3), numbers(200, 4));
    let session = session(&a, &b);
    type Unary = fn(&BigInt) -> String;
    let cases: &[(&str, Unary)] = &[
        ("big_neg(a)", |a| (-a).to_string()),
        ("-a", |a| (-a).to_string()),
        ("3 - -(-f) * -2", |a| (a * big(2) + big(3)).to_string()),
        ("-a + CASE WHEN -a < 5 THEN -(5) ELSE -big(5) END", |a| {
            (-a - big(5)).to_string()
        }),
        ("big_abs(a)", |a| a.magnitude().to_string()),
        ("big_isqrt(big_abs(a))", |a| {
            a.magnitude().sqrt().to_string()
        }),
        ("big_pow(a, 3)", |a| a.pow(3).to_string()),
        ("a * a", |a| (a * a).to_string()),
        ("big_bits(a)", |a| a.bits().to_string()),
        ("a / 7", |a| floor_div(a, &big(7)).to_string()),
        ("a % -7", |a| {
            (a - floor_div(a, &big(-7)) * big(-7)).to_string()
        }),
        ("f / '-18446744073709551616'", |a| {
            floor_div(a, &-(big(1) << 64u32)).to_string()
        }),
        ("big_powmod(a, 65537, 1000003)", |a| {
            a.modpow(&big(65537), &big(1_000_003)).to_string()
        }),
        ("big_to_dec(a)", |a| a.to_string()),
        ("big_from_dec(big_to_dec(a))", |a| a.to_string()),
        ("big_from_hex(big_to_hex(f))", |a| a.to_string()),
        ("big(CAST(a AS VARCHAR))", |a| a.to_string()),
        ("a IN (0, 1, '-1', 3)", |a| {
            (big(-1) <= *a && *a <= big(1) || *a == big(3)).to_string()
        }),
        ("big_is_prime(a % 100)", |a| {
            let r = a - floor_div(a, &big(100)) * big(100);
            let r = u32::try_from(&r).unwrap();
            (r > 1 && (2..r).all(|d| r % d != 0)).to_string()
        }),
        ("CAST(a % 1000 AS BIGINT) + 1", |a| {
            (a - floor_div(a, &big(1000)) * big(1000) + big(1)).to_string()
        }),
        ("CAST(a % 1000 AS DECIMAL(38, 0))", |a| {
            (a - floor_div(a, &big(1000)) * big(1000)).to_string()
        }),
    ];
    for (sql, expected) in cases {
        let found = only(&session, &format!("SELECT {sql} FROM t ORDER BY i")).await;
        assert_eq!(
            found,
            texts(a.iter().map(|a| a.as_ref().map(expected))),
            "{sql}"
        );
    }
    let inverse = "SELECT big_invmod(a, 1000003) FROM t WHERE big_gcd(a, 1000003) = 1 ORDER BY i";
    let p = big(1_000_003);
    let invertible = a.iter().flatten().filter(|a| gcd(a, &p) == big(1));
    let inverses = invertible.map(|a| Some(a.modpow(&(&p - big(2)), &p)));
    assert_eq!(only(&session, inverse).await, texts(inverses));
}

/// What is expected of each aggregate.
fn totals(numbers: &[BigInt]) -> Vec<Option<String>> {
    let of =
        |total: fn(&[BigInt]) -> BigInt| (!numbers.is_empty()).then(|| total(numbers).to_string());
    vec![
        of(|n| n.iter().sum()),
        of(|n| n.iter().product()),
        of(|n| n.iter().fold(BigInt::ZERO, |g, n| gcd(&g, n))),
        of(|n| n.iter().min().unwrap().clone()),
        of(|n| n.iter().max().unwrap().clone()),
        of(|n| floor_div(&n.iter().sum(), &BigInt::from(n.len()))),
    ]
}

const TOTALS: &str = "big_sum(a), big_product(a), big_gcd_all(a), min(a), max(f), big_avg(a)";

#[tokio::test]
async fn aggregates_of_groups_and_of_all_rows() {
    for count in [0, 1, 2, 30, 400] {
        let (a, b) = (numbers(count, 5 + count as u64), numbers(count, 6));
        let session = session(&a, &b);
        let present: Vec<BigInt> = a.iter().flatten().cloned().collect();
        let all = query(&session, &format!("SELECT {TOTALS} FROM t")).await;
        assert_eq!(all, [totals(&present)], "{count}");
        let mut groups: BTreeMap<i64, Vec<BigInt>> = BTreeMap::new();
        for (i, a) in a.iter().enumerate() {
            let group = groups.entry((i % 7) as i64).or_default();
            group.extend(a.clone());
        }
        // The group 3 is null there, and comes last.
        let mut expected: Vec<_> = groups.iter().filter(|(g, _)| **g != 3).collect();
        expected.extend(groups.get_key_value(&3));
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(_, numbers)| totals(numbers))
            .collect();
        let found = query(
            &session,
            &format!("SELECT {TOTALS} FROM t GROUP BY g ORDER BY g"),
        )
        .await;
        assert_eq!(found, expected, "{count}");
        let filtered =
            "SELECT big_sum(a) FILTER (WHERE a > 0), big_avg(a) FILTER (WHERE a > b) FROM t";
        let positive: Vec<_> = present
            .iter()
            .filter(|a| **a > BigInt::ZERO)
            .cloned()
            .collect();
        let greater = a.iter().zip(&b).filter_map(|(a, b)| match (a, b) {
            (Some(a), Some(b)) if a > b => Some(a.clone()),
            _ => None,
        });
        let greater: Vec<_> = greater.collect();
        let expected = vec![totals(&positive)[0].clone(), totals(&greater)[5].clone()];
        assert_eq!(query(&session, filtered).await, [expected]);
    }
}

#[tokio::test]
async fn sum_and_avg_are_of_integers_and_datafusions_of_all_else() {
    let a = numbers(300, 21);
    let session = session(&a, &a);
    let mut groups: BTreeMap<usize, Vec<BigInt>> = BTreeMap::new();
    for (i, a) in a.iter().enumerate() {
        groups.entry(i % 7).or_default().extend(a.clone());
    }
    groups.remove(&3);
    let mut expected: Vec<_> = groups
        .into_values()
        .map(|numbers| {
            let sum: BigInt = numbers.iter().sum();
            let mean = floor_div(&sum, &big(numbers.len() as i64));
            (sum.clone(), mean, sum + 1)
        })
        .collect();
    expected.retain(|(sum, ..)| *sum > big(0));
    expected.sort();
    let expected: Vec<_> = expected
        .into_iter()
        .map(|(sum, mean, more)| texts([Some(sum), Some(mean), Some(more)]))
        .collect();
    let grouped = "SELECT sum(a), avg(f), sum(a) + 1 FROM t WHERE g IS NOT NULL \
                   GROUP BY g HAVING sum(f) > 0 ORDER BY sum(a)";
    assert_eq!(query(&session, grouped).await, expected);

    let so_far = "SELECT sum(a) OVER (ORDER BY i) FROM t ORDER BY i";
    let mut sum: Number = None;
    let sums = a.iter().map(|a| {
        if let Some(a) = a {
            sum = Some(sum.take().unwrap_or_default() + a);
        }
        sum.clone()
    });
    assert_eq!(only(&session, so_far).await, texts(sums));
    let distinct: BTreeSet<BigInt> = a.iter().flatten().cloned().collect();
    let found = only(&session, "SELECT sum(DISTINCT a) FROM t").await;
    assert_eq!(found, texts([Some(distinct.iter().sum::<BigInt>())]));
    let decimals = "SELECT sum(big(CAST(i AS DECIMAL(38, 0)))), avg(big(-i)) FROM t";
    let found = query(&session, decimals).await;
    assert_eq!(found, [texts([Some(44850), Some(-150)])]);
    let none = "SELECT sum(a), avg(a), sum(-a) FROM t WHERE a IS NULL";
    assert_eq!(query(&session, none).await, [vec![None, None, None]]);

    // Of other types the plan is the one that DataFusion makes alone.
    let plain = SessionContext::new();
    let others = "SELECT sum(x), avg(x), mean(x), sum(CAST(x AS DECIMAL(20, 2)) * 2), -sum(x), -(x), \
                  - INTERVAL '1' DAY, sum(x) OVER () FROM (VALUES (1), (5), (NULL)) AS u (x) \
                  GROUP BY x";
    let plan = async |session: &SessionContext| {
        let query = bigint_datafusion::sql(session, others).await.unwrap();
        query.into_optimized_plan().unwrap().to_string()
    };
    let with_big = SessionContext::new();
    register(&with_big, &Engine::cpu()).unwrap();
    let alone = plain.sql(others).await.unwrap();
    let alone = alone.into_optimized_plan().unwrap().to_string();
    assert_eq!(plan(&with_big).await, alone);
}

#[tokio::test]
async fn distinct_numbers_are_totalled_once() {
    let a = numbers(300, 11);
    let session = session(&a, &a);
    let distinct: BTreeSet<BigInt> = a.iter().flatten().cloned().collect();
    let found = query(
        &session,
        "SELECT big_sum(DISTINCT a), count(DISTINCT a) FROM t",
    )
    .await;
    let sum: BigInt = distinct.iter().sum();
    assert_eq!(
        found,
        [texts([
            Some(sum.to_string()),
            Some(distinct.len().to_string())
        ])]
    );
}

#[tokio::test]
async fn orders_are_those_of_numbers() {
    let (a, b) = (numbers(300, 7), numbers(300, 8));
    let session = session(&a, &b);
    let by = |x: &Number, y: &Number| match (x, y) {
        (Some(x), Some(y)) => x.cmp(y),
        // Nulls are last.
        (x, y) => y.is_some().cmp(&x.is_some()),
    };
    let mut ascending = a.clone();
    ascending.sort_by(by);
    for sql in [
        "SELECT a FROM t ORDER BY a",
        "SELECT f FROM t ORDER BY f",
        "SELECT a FROM t ORDER BY f",
    ] {
        assert_eq!(only(&session, sql).await, texts(ascending.clone()), "{sql}");
    }
    let found = only(
        &session,
        "SELECT a FROM t ORDER BY a DESC NULLS LAST, i LIMIT 20",
    )
    .await;
    let mut descending: Vec<Number> = a.iter().filter(|a| a.is_some()).cloned().collect();
    descending.sort_by(|x, y| by(y, x));
    assert_eq!(found, texts(descending[..20].to_vec()));
    let found = query(&session, "SELECT a, i, row_number() OVER (ORDER BY a, i) AS n, max(a) OVER (ORDER BY i) FROM t ORDER BY n").await;
    let mut rows: Vec<(usize, &Number)> = a.iter().enumerate().collect();
    rows.sort_by(|x, y| by(x.1, y.1).then(x.0.cmp(&y.0)));
    for (n, (found, (i, a_of_row))) in found.iter().zip(rows).enumerate() {
        let so_far = a[..=i].iter().flatten().max();
        let expected = [
            a_of_row.as_ref().map(ToString::to_string),
            Some(i.to_string()),
            Some((n + 1).to_string()),
            so_far.map(ToString::to_string),
        ];
        assert_eq!(found[..], expected);
    }
    let most = "SELECT m FROM (SELECT max(a) AS m FROM t GROUP BY i) AS u ORDER BY m";
    assert_eq!(only(&session, most).await, texts(ascending.clone()));
    let found = only(
        &session,
        "SELECT DISTINCT ON (g) a FROM t WHERE g IS NOT NULL ORDER BY g, a",
    )
    .await;
    let least = |g: usize| {
        let of_group = a.iter().enumerate().filter(|(i, _)| i % 7 == g);
        of_group.map(|(_, a)| a.clone()).min_by(by).flatten()
    };
    let least = [0, 1, 2, 4, 5, 6].map(least);
    assert_eq!(found, texts(least));
    let found = only(&session, "SELECT array_to_string(array_agg(big_to_dec(a) ORDER BY a), ' ') FROM t WHERE a IS NOT NULL").await;
    let all: Vec<String> = ascending
        .iter()
        .flatten()
        .map(ToString::to_string)
        .collect();
    assert_eq!(found, [Some(all.join(" "))]);
}

#[tokio::test]
async fn groups_and_joins_are_of_equal_numbers_of_any_type() {
    let (a, b) = (numbers(150, 9), numbers(150, 10));
    let session = session(&a, &b);
    let count = |is: fn(Ordering) -> bool| {
        let right = b.iter().flatten();
        let pairs = a
            .iter()
            .flatten()
            .flat_map(|a| right.clone().map(move |b| a.cmp(b)));
        Some(pairs.filter(|&order| is(order)).count().to_string())
    };
    for (on, is) in [
        ("t.a = u.b", Ordering::is_eq as fn(Ordering) -> bool),
        ("t.f = u.b", Ordering::is_eq),
        ("t.a < u.b", Ordering::is_lt),
        ("t.a + 1 = u.b + 1", Ordering::is_eq),
    ] {
        let sql = format!("SELECT count(*) FROM t JOIN t AS u ON {on}");
        assert_eq!(only(&session, &sql).await, [count(is)], "{on}");
    }
    let using = "SELECT count(*) FROM (SELECT f AS x FROM t) AS p JOIN (SELECT b AS x FROM t) AS q USING (x)";
    assert_eq!(only(&session, using).await, [count(Ordering::is_eq)]);
    let inside = "SELECT count(*) FROM t WHERE a IN (SELECT b FROM t WHERE b IS NOT NULL)";
    let other: BTreeSet<_> = b.iter().flatten().collect();
    let both = a.iter().flatten().filter(|a| other.contains(a)).count();
    assert_eq!(only(&session, inside).await, [Some(both.to_string())]);
    let mut groups: BTreeMap<&Number, usize> = BTreeMap::new();
    a.iter().for_each(|a| *groups.entry(a).or_default() += 1);
    let null = groups.remove(&None);
    let mut expected: Vec<_> = groups
        .iter()
        .map(|(a, n)| texts([a.as_ref().map(ToString::to_string), Some(n.to_string())]))
        .collect();
    expected.extend(null.map(|n| vec![None, Some(n.to_string())]));
    for of in ["a", "f"] {
        let sql = format!("SELECT {of}, count(*) FROM t GROUP BY {of} ORDER BY {of}");
        assert_eq!(query(&session, &sql).await, expected, "{of}");
    }
}

#[tokio::test]
async fn literals_and_columns_of_other_types_are_read() {
    let session = session(&numbers(3, 12), &numbers(3, 13));
    for (sql, expected) in [
        ("big(5) * big('0xff')", "1275"),
        (
            "big('123456789012345678901234567890') + 1",
            "123456789012345678901234567891",
        ),
        ("big_from_hex('ff')", "255"),
        ("big_from_hex('-0xFf')", "-255"),
        ("big_from_bytes(X'0100')", "256"),
        ("arrow_cast(X'0100', 'FixedSizeBinary(2)') * 3 + 1", "769"),
        ("arrow_cast(X'0100', 'FixedSizeBinary(2)') > 255", "true"),
        ("big(CAST(7 AS DECIMAL(30, 0)))", "7"),
        ("big(CAST(200 AS SMALLINT UNSIGNED))", "200"),
        ("big_pow(2, 100)", "1267650600228229401496703205376"),
        ("big_to_hex(big_pow(2, 64))", "0x10000000000000000"),
        ("big_next_prime(100)", "101"),
        ("big_lcm(4, 6)", "12"),
        ("big_pow_mod(3, 65537, 1009)", "271"),
        ("big_inv_mod(3, 1009)", "673"),
        ("big_iroot(1000, 3)", "10"),
        ("big_jacobi(2, 7)", "1"),
        ("big_shl(3, 100) = big_pow(2, 100) * 3", "true"),
        ("big('5') / -2", "-3"),
        ("big('-7') % 2", "1"),
    ] {
        let found = only(&session, &format!("SELECT {sql}")).await;
        assert_eq!(found, [Some(expected.to_owned())], "{sql}");
    }
    for null in [
        "a + NULL",
        "big_add(NULL, 1)",
        "big_gcd(NULL, NULL)",
        "big_is_prime(NULL)",
    ] {
        let found = only(&session, &format!("SELECT {null} FROM t LIMIT 1")).await;
        assert_eq!(found, [None], "{null}");
    }
}

#[tokio::test]
async fn errors_say_what_is_wrong() {
    let a: Vec<Number> = vec![Some(big(1)), Some(big(0)), None];
    let session = session(&a, &a);
    let bytes: ArrayRef = any(&a);
    let schema = Arc::new(Schema::new(vec![Field::new(
        "x",
        DataType::LargeBinary,
        true,
    )]));
    let raw = RecordBatch::try_new(schema, vec![bytes]).unwrap();
    session.register_batch("raw", raw).unwrap();
    let text: ArrayRef = Arc::new(StringArray::from(vec!["12", "1o"]));
    session
        .register_batch("text", RecordBatch::try_from_iter([("s", text)]).unwrap())
        .unwrap();
    for (sql, part) in [
        ("SELECT 5 / a FROM t", "zero"),
        ("SELECT a % 0 FROM t", "zero"),
        ("SELECT a + 1.5 FROM t", "floating-point"),
        (
            "SELECT a + 123456789012345678901234567890 FROM t",
            "in quotes",
        ),
        ("SELECT big_add(a, now()) FROM t", "holds no integers"),
        ("SELECT big(s) FROM text", "row 1"),
        ("SELECT big_from_dec('0x1f')", "no decimal number"),
        ("SELECT big_invmod(a, 6) FROM t WHERE a = 0", "inver"),
        ("SELECT CAST(big_pow(2, 64) AS BIGINT)", "Int64 cannot hold"),
        ("SELECT big(x) FROM raw", "big_from_bytes(x)"),
        ("SELECT a FROM t UNION ALL SELECT 1.5", "floating-point"),
        (
            "SELECT a FROM t UNION ALL SELECT x FROM raw",
            "big_from_bytes(x)",
        ),
        (
            "SELECT a + 1 FROM t UNION ALL SELECT 'x'",
            "a digit must stand",
        ),
        ("SELECT x + 1 FROM raw", "big_from_bytes(x)"),
        (
            "SELECT sum(x) FROM (VALUES (big(1)), (2)) AS v (x)",
            "Inconsistent",
        ),
        (
            "SELECT sum(a) OVER (ORDER BY a RANGE 2 PRECEDING) FROM t",
            "ROWS or GROUPS",
        ),
        ("SELECT lag(a, 1, 0.5) OVER (ORDER BY i) FROM t", "lag"),
        ("SELECT big_isqrt(-1)", "negative"),
        ("SELECT sum(x) FROM raw", "sum"),
        ("SELECT -s FROM text", "a minus before text.s"),
        ("SELECT coalesce(a, 0.5) FROM t", "floating-point"),
        ("SELECT greatest(x, x + 1) FROM raw", "big_from_bytes(x)"),
    ] {
        let error = answer(&session, sql).await.expect_err(sql);
        assert!(error.contains(part), "{sql}: {error}");
    }
}
