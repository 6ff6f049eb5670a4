//! Functions over window frames.

use super::*;

/// The rows of a frame, of so many rows behind row `i` and so many before it, as window functions see them.
fn frame(numbers: &[Number], i: usize, behind: usize, ahead: usize) -> Vec<BigInt> {
    let end = numbers.len().min(i.saturating_add(ahead).saturating_add(1));
    let rows = &numbers[i.saturating_sub(behind).min(end)..end];
    rows.iter().flatten().cloned().collect()
}

#[tokio::test]
async fn totals_of_frames_that_slide() {
    let a: Vec<Number> = numbers(90, 41);
    // Small, so that products and common divisors say something.
    let b: Vec<Number> = (0..90)
        .map(|i| (i % 5 != 2).then(|| big(12 * (i % 7 - 2))))
        .collect();
    let session = session(&a, &b);
    for (rows, behind, ahead) in [
        ("2 PRECEDING AND CURRENT ROW", 2, 0),
        ("2 PRECEDING AND 3 FOLLOWING", 2, 3),
        ("CURRENT ROW AND CURRENT ROW", 0, 0),
        ("CURRENT ROW AND UNBOUNDED FOLLOWING", 0, 90),
        ("UNBOUNDED PRECEDING AND 1 FOLLOWING", 90, 1),
        ("40 PRECEDING AND 40 FOLLOWING", 40, 40),
    ] {
        for (column, numbers) in [("a", &a), ("b", &b)] {
            let over = format!("OVER (ORDER BY i ROWS BETWEEN {rows})");
            let names = ["sum", "big_product", "big_gcd_all", "min", "max", "avg"];
            let calls = names
                .map(|name| format!("{name}({column}) {over}"))
                .join(", ");
            let found = query(&session, &format!("SELECT {calls} FROM t ORDER BY i")).await;
            for (i, found) in found.iter().enumerate() {
                let expected = totals(&frame(numbers, i, behind, ahead));
                assert_eq!(found[..], expected, "{column}, {rows}, row {i}");
            }
        }
    }
    let gone = "sum(a) OVER (ORDER BY i ROWS BETWEEN 5 PRECEDING AND 3 PRECEDING)";
    let found = only(&session, &format!("SELECT {gone} FROM t ORDER BY i")).await;
    for (i, found) in found.iter().enumerate() {
        let rows =
            a[i.saturating_sub(5)..(i + 1).saturating_sub(3).max(i.saturating_sub(5))].iter();
        let rows: Vec<BigInt> = rows.flatten().cloned().collect();
        assert_eq!(*found, totals(&rows)[0], "row {i}");
    }
}

#[tokio::test]
async fn frames_of_parts_groups_and_filters() {
    let a = numbers(90, 42);
    let session = session(&a, &a);
    let sql = "SELECT i, sum(f) OVER (PARTITION BY g ORDER BY i ROWS 2 PRECEDING), \
               sum(a) FILTER (WHERE a > 0) OVER (ORDER BY i ROWS 4 PRECEDING) FROM t ORDER BY i";
    for (i, found) in query(&session, sql).await.iter().enumerate() {
        let of_part = (0..=i).filter(|j| j % 7 == i % 7).map(|j| a[j].clone());
        let mut of_part: Vec<Number> = of_part.collect();
        let of_part = of_part.split_off(of_part.len().saturating_sub(3));
        let of_part: Vec<BigInt> = of_part.into_iter().flatten().collect();
        let positive = frame(&a, i, 4, 0).into_iter().filter(|a| *a > big(0));
        let expected = [
            Some(i.to_string()),
            totals(&of_part)[0].clone(),
            totals(&positive.collect::<Vec<_>>())[0].clone(),
        ];
        assert_eq!(found[..], expected, "row {i}");
    }
    let peers = "SELECT a, sum(a) OVER (ORDER BY a GROUPS 1 PRECEDING), \
                 count(a) OVER (ORDER BY a RANGE UNBOUNDED PRECEDING) FROM t WHERE a IS NOT NULL ORDER BY a";
    let mut ordered: Vec<BigInt> = a.iter().flatten().cloned().collect();
    ordered.sort();
    let mut distinct = ordered.clone();
    distinct.dedup();
    for (a, found) in ordered.iter().zip(query(&session, peers).await) {
        let at = distinct.binary_search(a).unwrap();
        let near = &distinct[at.saturating_sub(1)..=at];
        let near = ordered.iter().filter(|a| near.contains(a)).cloned();
        let expected = [
            Some(a.to_string()),
            totals(&near.collect::<Vec<_>>())[0].clone(),
            Some(
                ordered
                    .iter()
                    .filter(|other| *other <= a)
                    .count()
                    .to_string(),
            ),
        ];
        assert_eq!(found[..], expected, "{a}");
    }
}

#[tokio::test]
async fn rows_before_and_behind_are_integers() {
    let a = numbers(50, 43);
    let session = session(&a, &a);
    let at = |i: usize, by: isize| i.checked_add_signed(by).and_then(|i| a.get(i)).cloned();
    type Expected<'a> = &'a dyn Fn(usize) -> Number;
    let cases: &[(&str, Expected<'_>)] = &[
        ("lag(a) OVER w", &|i| at(i, -1).flatten()),
        ("lag(a, 2) OVER w + 1", &|i| {
            at(i, -2).flatten().map(|a| a + 1)
        }),
        ("lead(f, 1) OVER w * 2", &|i| {
            at(i, 1).flatten().map(|a| a * 2)
        }),
        ("lag(a, 1, -5) OVER w", &|i| {
            at(i, -1).unwrap_or(Some(big(-5)))
        }),
        ("lead(f, 3, '123456789012345678901') OVER w", &|i| {
            at(i, 3).unwrap_or_else(|| "123456789012345678901".parse().ok())
        }),
        ("a - lag(a, 1, NULL) OVER w", &|i| {
            Some(a[i].clone()? - at(i, -1)??)
        }),
        ("first_value(a) OVER w + 1", &|_| {
            a[0].clone().map(|a| a + 1)
        }),
        ("last_value(f) OVER w + 1", &|i| a[i].clone().map(|a| a + 1)),
        ("nth_value(a, 2) OVER w + 1", &|i| {
            (i > 0).then(|| a[1].clone()).flatten().map(|a| a + 1)
        }),
        (
            "CASE WHEN lag(a) OVER w < a THEN lag(a) OVER w ELSE a END",
            &|i| {
                let before = at(i, -1).flatten();
                if before.is_some() && before < a[i] {
                    before
                } else {
                    a[i].clone()
                }
            },
        ),
    ];
    for (sql, expected) in cases {
        let sql = format!("SELECT {sql} FROM t WINDOW w AS (ORDER BY i) ORDER BY i");
        let expected = texts((0..a.len()).map(expected));
        assert_eq!(only(&session, &sql).await, expected, "{sql}");
    }
    let ranks = "SELECT rank() OVER (ORDER BY a), dense_rank() OVER (ORDER BY f DESC), \
                 ntile(4) OVER (ORDER BY a, i) FROM t WHERE a IS NOT NULL ORDER BY i";
    let present: Vec<(usize, &BigInt)> = a.iter().flatten().enumerate().collect();
    for (&(i, a), found) in present.iter().zip(query(&session, ranks).await) {
        let less = present.iter().filter(|other| other.1 < a).count();
        let mut greater: Vec<_> = present
            .iter()
            .map(|other| other.1)
            .filter(|n| *n > a)
            .collect();
        greater.sort();
        greater.dedup();
        let place = present
            .iter()
            .filter(|other| (other.1, other.0) < (a, i))
            .count();
        let (size, larger) = (present.len() / 4, present.len() % 4);
        let tile = (1..=4)
            .find(|tile| place < tile * size + (*tile).min(larger))
            .unwrap();
        let expected = [less + 1, greater.len() + 1, tile];
        assert_eq!(found, texts(expected.map(Some)), "{a}");
    }
    let groups = "SELECT first_value(a ORDER BY i) + 1, last_value(a ORDER BY a, i) + 1, \
                  array_length(array_agg(a)) FROM t WHERE a IS NOT NULL";
    let most = present.iter().map(|a| a.1).max().unwrap();
    let expected = [present[0].1 + 1, most + 1, big(present.len() as i64)];
    assert_eq!(query(&session, groups).await, [texts(expected.map(Some))]);
}
