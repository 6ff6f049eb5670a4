//! Files of candidates `k b^n + c`, as sieves write them: ABC and NewPGen.
//!
//! An ABC file's first line has the form of all numbers, and each further line the values of its
//! variables:
//!
//! ```text
//! ABC $a*2^$b-1 // sieved to 10^12
//! 3 391
//! ```
//!
//! A NewPGen file's first line is `limit:letter:chain:b:mask`, and the others are pairs `k n`. Bit 0 of the
//! mask stands for `k b^n + 1`, bit 1 for `k b^n - 1`:
//!
//! ```text
//! 1000000000000:M:1:2:258
//! 3 391
//! ```
//!
//! Any `b` above 1 and any `c` that make an odd number will do.

use crate::Number;
use crate::primenet::BadLine;

/// The number that a line asks for, or what is wrong with it.
type Found = Result<Number, BadLine>;

/// The numbers of such a file: of each line behind the first its place, from 1 on, and its number, or what
/// is wrong with it. Blank lines and comments, which begin with `#` or `//`, are left out.
///
/// ```
/// let text = "ABC $a*2^$b$c\n3 391 -1\n9 2297 +1\n5 7 +3\n";
/// let found = mersenne::candidates(text).unwrap();
/// assert_eq!(found[0], (2, Ok(mersenne::Number::new(3, 391, false).unwrap())));
/// assert_eq!(found[1].1.as_ref().unwrap().to_string(), "9*2^2297+1");
/// assert_eq!(found[2].1.as_ref().unwrap().to_string(), "5*2^7+3");
/// assert_eq!(mersenne::number("2 * 3^99 - 1").unwrap(), mersenne::Number::of(2, 3, 99, -1).unwrap());
/// ```
///
/// # Errors
/// What is wrong with the first line.
pub fn candidates(text: &str) -> Result<Vec<(usize, Found)>, BadLine> {
    // Some editors begin a file with a mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().zip(1..);
    let (first, _) = lines.next().unwrap_or_default();
    let form = Form::of(first)?;
    let is_wanted =
        |line: &str| !(line.is_empty() || line.starts_with('#') || line.starts_with("//"));
    let lines = lines.filter(|(line, _)| is_wanted(line.trim()));
    Ok(lines.map(|(line, at)| (at, form.number(line))).collect())
}

fn bad(line: &str, part: &str, what: impl Into<String>) -> BadLine {
    BadLine {
        column: part.as_ptr() as usize - line.as_ptr() as usize + 1,
        what: what.into(),
    }
}

/// The form of the other lines, which the first line of a file gives.
struct Form {
    /// The expression, with `$a`, `$b` and so on for the columns.
    expression: String,
    columns: usize,
}

impl Form {
    fn of(line: &str) -> Result<Self, BadLine> {
        let whole = line.trim();
        if let Some(rest) = whole.strip_prefix("ABC ") {
            let expression = rest.split("//").next().unwrap_or_default();
            let expression: String = expression.split_whitespace().collect();
            let names = ('a'..='z').filter(|name| expression.contains(&format!("${name}")));
            let columns = names.clone().count();
            if !names.eq(('a'..='z').take(columns)) || columns == 0 {
                return Err(bad(line, rest, "its variables are $a, $b and so on"));
            }
            return Ok(Form {
                expression,
                columns,
            });
        }
        let fields: Vec<&str> = whole.split(':').collect();
        let [_, letter, chain, base, mask] = fields[..] else {
            let what =
                "the first line is `ABC EXPRESSION` or NewPGen's `LIMIT:LETTER:CHAIN:BASE:MASK`";
            return Err(bad(line, whole, what));
        };
        let mask_bits: u32 = mask.parse().unwrap_or(0);
        let sign = match (letter, mask_bits & 3) {
            ("P" | "M", 1) => "+1",
            ("P" | "M", 2) => "-1",
            _ => {
                return Err(bad(
                    line,
                    mask,
                    "only sieves for k b^n + 1 or k b^n - 1 are read",
                ));
            }
        };
        if chain != "1" && chain != "0" {
            return Err(bad(line, chain, "chains of numbers are not read"));
        }
        if !base.parse::<u64>().is_ok_and(|base| base > 1) {
            return Err(bad(line, base, "the base is a number above 1"));
        }
        Ok(Form {
            expression: format!("$a*{base}^$b{sign}"),
            columns: 2,
        })
    }

    /// The number of a line with values.
    fn number(&self, line: &str) -> Found {
        let values: Vec<&str> = line.split_whitespace().collect();
        if values.len() != self.columns {
            let s = if self.columns == 1 { "" } else { "s" };
            let what = format!("a line has {} value{s}", self.columns);
            return Err(bad(line, values.first().unwrap_or(&line), what));
        }
        let is_number = |value: &&str| value.trim_start_matches(['+', '-']).parse::<u64>().is_ok();
        if let Some(value) = values.iter().find(|value| !is_number(value)) {
            return Err(bad(line, value, "a value is a number"));
        }
        let mut expression = self.expression.clone();
        for (name, value) in ('a'..='z').zip(&values) {
            expression = expression.replace(&format!("${name}"), value);
        }
        number(&expression).map_err(|what| bad(line, values[0], format!("{expression}: {what}")))
    }
}

/// The number of an expression `k*b^n+c`; `k*` may be missing, all, `k*b^n` or a number be in parentheses, and
/// spaces stand between what is written.
///
/// # Errors
/// What is wrong with the expression, or with the number: see [`Number::of`].
pub fn number(expression: &str) -> Result<Number, String> {
    let unknown = || "it is not of the form k*b^n+c".to_owned();
    let text = plain(expression).ok_or_else(unknown)?;
    let (power, c) = match text.rfind(['+', '-']) {
        Some(at) if at > 0 => text.split_at(at),
        _ => return Err(unknown()),
    };
    // A sign of the form and one of the value: `+-1` is -1.
    let power = power.trim_end_matches('+');
    let c: i32 = c
        .parse()
        .map_err(|_| "c is a number with a sign, below 2^31")?;
    let (k, power) = power.split_once('*').unwrap_or(("1", power));
    let (base, n) = power.split_once('^').ok_or_else(unknown)?;
    let parsed = |text: &str| text.parse::<u64>().map_err(|_| unknown());
    let (k, base, n) = (parsed(k)?, parsed(base)?, parsed(n)?);
    let (Ok(base), Ok(n)) = (u32::try_from(base), u32::try_from(n)) else {
        return Err("b and n are below 2^32".to_owned());
    };
    let number = Number::of(k, base, n, c)?;
    match number.is_binary() && !number.has_proof() {
        true => Err("k is not below 2^n".to_owned()),
        false => Ok(number),
    }
}

/// An expression without its spaces and parentheses, where it means the same without them.
fn plain(expression: &str) -> Option<String> {
    let mut text = String::new();
    let mut after_space = false;
    for c in expression.chars() {
        if c == ' ' {
            after_space = true;
            continue;
        }
        // `39 1` is two numbers.
        if after_space && c.is_ascii_digit() && text.ends_with(|last: char| last.is_ascii_digit()) {
            return None;
        }
        after_space = false;
        text.push(c);
    }
    while let Some(close) = text.find(')') {
        let open = text[..close].rfind('(')?;
        let (before, inside, after) = (&text[..open], &text[open + 1..close], &text[close + 1..]);
        let is_number = inside.parse::<i64>().is_ok();
        let next = after.trim_start_matches(')');
        let is_first = before.chars().all(|c| c == '(');
        let is_term = is_first && (next.is_empty() || next.starts_with(['+', '-']));
        let touches = |c: char| c.is_ascii_digit() || c == '(';
        let is_product =
            before.ends_with(|c: char| c.is_ascii_digit()) || after.starts_with(touches);
        if is_product || !(is_number || is_term) {
            return None;
        }
        text = format!("{before}{inside}{after}");
    }
    (!text.contains('(')).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let found = candidates(text).unwrap();
        let name = |(at, found): (usize, Found)| match found {
            Ok(number) => format!("{at} {number}"),
            Err(BadLine { column, .. }) => format!("{at}:{column}"),
        };
        found.into_iter().map(name).collect()
    }

    #[test]
    fn numbers_of_every_form_are_read() {
        for (text, expected) in [
            (
                "ABC $a*2^$b+1\n9 2297\n\n# no\n7 12",
                &["2 9*2^2297+1", "5 7*2^12+1"][..],
            ),
            ("ABC ($a*2^$b-1) // sieved\r\n3 391\r\n", &["2 3*2^391-1"]),
            (
                "ABC $a*$b^$c$d\n6 4 5 +1\n5 2 9 -1\n5 3 9 -1\n6 3 9 -1\n1 10 9 +33",
                &["2 3*2^11+1", "3 5*2^9-1", "4:1", "5 6*3^9-1", "6 1*10^9+33"],
            ),
            (
                "ABC $a*2^$b+$c\n5 9 -1\n5 9 1\n5 9 2\n5 9 -3\n5 9 0\n5 9 2147483648",
                &["2 5*2^9-1", "3 5*2^9+1", "4:1", "5 5*2^9-3", "6:1", "7:1"],
            ),
            ("\u{feff}ABC 2^$a-1\n127\n2", &["2 M127", "3:1"]),
            (
                "ABC 5*2^$a-1 \n x\n3 4\n  18446744073709551616",
                &["2:2", "3:1", "4:3"],
            ),
            (
                "1000:P:1:2:257\n9 2297\n8 3",
                &["2 9*2^2297+1", "3 1*2^6+1"],
            ),
            ("1000:M:1:16:258\n3 100\n99 1", &["2 3*2^400-1", "3:1"]),
            (
                "ABC 22*17^$a+13\n100\n2",
                &["2 22*17^100+13", "3 22*17^2+13"],
            ),
            ("9:P:1:5:1\n2 1000\n3 9", &["2 2*5^1000+1", "3:1"]),
        ] {
            assert_eq!(names(text), expected, "{text}");
        }
    }

    #[test]
    fn parentheses_and_spaces_that_change_a_number_are_refused() {
        for text in [
            "3*2^391-1",
            " 3 * 2^391 - 1",
            "(3*2^391-1)",
            "((3*2^391)-1)",
            "((3*2^391))-1",
            "(3)*(2)^(391)+(-1)",
        ] {
            assert_eq!(
                number(text).map(|n| n.to_string()),
                Ok("3*2^391-1".to_owned())
            );
        }
        for text in [
            "3*2^(391-1)",
            "(3*2)^391-1",
            "3*(2^391-1)",
            "3(2)^391-1",
            "(3)(2)^391-1",
            "(3*2^391-1",
            "3*2^391)-1",
            ")3*2^391-1(",
            "3*2^391-(-1)",
            "3*2^39 1-1",
            "()3*2^391-1",
        ] {
            assert!(number(text).is_err(), "{text}");
        }
    }

    #[test]
    fn first_lines_that_say_something_else_are_refused() {
        for (line, column) in [
            ("", 1),
            ("hello", 1),
            ("ABC $b*2^$c-1", 5),
            ("ABC 3*2^7-1", 5),
            ("ABC2 $a*2^$b-1", 1),
            ("1000:T:1:2:3", 12),
            ("1000:P:1:2:3", 12),
            ("1000:P:2:2:1", 8),
            ("1000:P:1:x:1", 10),
            ("1000:P:1:2", 1),
        ] {
            let found = candidates(&format!("{line}\n3 7\n"));
            assert_eq!(found.err().map(|bad| bad.column), Some(column), "{line}");
        }
    }
}
