//! What `worktodo.txt` asks for.

use std::fs;
use std::io;
use std::path::Path;

use crate::folder::replace;
use crate::lock::{Lock, Wait};
use crate::{PMinus1, TrialFactoring, is_prime};

/// What is wrong with a range that is no [`TrialFactoring`].
pub const TOO_LONG: &str = "to try all candidates up to there would take for ever";

/// What a line of `worktodo.txt` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A test, `LL` or `PRP-3`.
    Test(&'static str),
    /// The first stage of P-1, to this bound.
    PMinus1(u32),
    /// Trial factoring, between powers of two with these exponents.
    Factor(u32, u32),
    /// A certification: the residue of `M{p}.cert` squared so many times.
    Certification(u32),
}

/// A line of `worktodo.txt` that asks for something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// What it asks for.
    pub asked: Asked,
    /// The exponent.
    pub p: u32,
    /// PrimeNet's name for the assignment: 32 hexadecimal digits.
    pub id: Option<String>,
    /// The line as it stands in the file.
    pub line: String,
}

/// What is wrong with a line, and where, in bytes from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// The column.
    pub column: usize,
    /// What is wrong.
    pub what: String,
}

impl Assignment {
    /// The assignment of a line; `None` for a blank one or a comment.
    ///
    /// ```
    /// use mersenne::primenet::{Asked, Assignment};
    /// let line = "DoubleCheck=0123456789ABCDEF0123456789ABCDEF,82589933,76,1";
    /// let assignment = Assignment::parse(line).unwrap().unwrap();
    /// assert_eq!((assignment.asked, assignment.p), (Asked::Test("LL"), 82_589_933));
    /// let assignment = Assignment::parse("PRP=N/A,1,2,127,-1").unwrap().unwrap();
    /// assert_eq!((assignment.asked, assignment.id), (Asked::Test("PRP-3"), None));
    /// let assignment = Assignment::parse("Pminus1=N/A,1,2,1277,-1,5000000,0").unwrap().unwrap();
    /// assert_eq!(assignment.asked, Asked::PMinus1(5_000_000));
    /// let assignment = Assignment::parse("Factor=N/A,1277,60,61").unwrap().unwrap();
    /// assert_eq!(assignment.asked, Asked::Factor(60, 61));
    /// let assignment = Assignment::parse("PRP=,1,2,127,-1").unwrap().unwrap();
    /// assert_eq!(assignment.id, None);
    /// assert!(Assignment::parse("ECM2=N/A,1,2,1277,-1,1000,0,1").is_err());
    /// ```
    ///
    /// # Errors
    /// [`BadLine`] for a line that is none, or asks for what this program does not do.
    pub fn parse(text: &str) -> Result<Option<Self>, BadLine> {
        // The mark that some editors put before a file's first line.
        let line = text.trim_start_matches('\u{feff}').trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        let offset = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize + 1;
        let bad = |part: &str, what: &str| BadLine {
            column: offset(part),
            what: what.to_owned(),
        };
        let (kind, rest) = line.split_once('=').ok_or_else(|| {
            bad(
                line,
                "a line is KIND=ASSIGNMENT,..., such as PRP=N/A,1,2,127,-1",
            )
        })?;
        let worktype = match kind.trim() {
            "B1" | "B2" => return Err(bad(line, "there is no P-1 here before a test")),
            "Test" | "DoubleCheck" => "LL",
            "PRP" | "PRPDC" => "PRP-3",
            "Cert" | "CERT" => "Cert",
            "Factor" => "TF",
            "PMinus1" | "Pminus1" => "PM1",
            "PFactor" | "Pfactor" => {
                let what = "P-1 takes its bound from a line Pminus1=N/A,1,2,P,-1,B1,0";
                return Err(bad(line, what));
            }
            "ECM" | "ECM2" => return Err(bad(line, "there is no ECM here")),
            _ => {
                return Err(bad(
                    line,
                    "it is none of PRP, PRPDC, Test, DoubleCheck, Cert, Factor, Pminus1",
                ));
            }
        };
        let mut fields: Vec<&str> = rest.split(',').map(str::trim).collect();
        let is_id = |field: &str| field.len() == 32 && field.bytes().all(|b| b.is_ascii_hexdigit());
        let nothing = |field: &str| field.eq_ignore_ascii_case("n/a");
        let id = fields
            .first()
            .filter(|field| is_id(field))
            .map(|&field| field.to_owned());
        let is_none = |field: &str| ["", "0"].contains(&field) && fields.len() > 1;
        let unnamed = |&field: &&str| nothing(field) || is_none(field);
        if id.is_some() || fields.first().is_some_and(unnamed) {
            fields.remove(0);
        }
        let field = |i: usize, name: &str| {
            let missing = || bad(rest, &format!("{name} is missing"));
            fields
                .get(i)
                .copied()
                .filter(|field| !field.is_empty())
                .ok_or_else(missing)
        };
        let exponent = if !matches!(worktype, "LL" | "TF") {
            for (i, (name, value)) in [("k", "1"), ("b", "2")].into_iter().enumerate() {
                if field(i, name)? != value {
                    return Err(bad(
                        fields[i],
                        &format!("{name} must be {value}: only 2^p - 1 is tested"),
                    ));
                }
            }
            if field(3, "c")? != "-1" {
                return Err(bad(fields[3], "c must be -1: only 2^p - 1 is tested"));
            }
            let none = &[][..];
            let more = if worktype == "PRP-3" {
                &fields[4..]
            } else {
                none
            };
            if let Some(factors) = more.iter().find(|field| field.starts_with('"')) {
                return Err(bad(factors, "cofactors are not tested here"));
            }
            if more.get(2).is_some_and(|&base| base != "3") {
                return Err(bad(more[2], "the base must be 3"));
            }
            if more.get(3).is_some_and(|&kind| kind != "1") {
                return Err(bad(more[3], "the residue must be of type 1"));
            }
            field(2, "the exponent")?
        } else {
            field(0, "the exponent")?
        };
        let p = exponent
            .parse()
            .map_err(|_| bad(exponent, "the exponent is a number below 2^32"))?;
        if p < 3 || !is_prime(p) {
            return Err(bad(
                exponent,
                "the exponent is not an odd prime: 2^p - 1 is composite",
            ));
        }
        let number_to = |i: usize, name: &str, least: u32, most: u32| {
            let text = field(i, name)?;
            let number = text.parse().ok();
            let number = number.filter(|number| (least..=most).contains(number));
            let wrong = || bad(text, &format!("{name} is one from {least} to {most}"));
            number.ok_or_else(wrong)
        };
        let asked = match worktype {
            "Cert" => Asked::Certification(number_to(4, "the number of squarings", 1, p)?),
            "PM1" => {
                let bound = number_to(4, "B1", 2, PMinus1::GREATEST_BOUND)?;
                let second = fields.get(5).copied().unwrap_or("0");
                if !["", "0", fields[4]].contains(&second) {
                    let what = "there is no second stage here: B2 is 0, or B1";
                    return Err(bad(second, what));
                }
                Asked::PMinus1(bound)
            }
            "TF" => {
                let most = TrialFactoring::MOST_BITS;
                let from = number_to(1, "the exponent of the beginning", 1, most - 1)?;
                let to = number_to(2, "the exponent of the end", from + 1, most)?;
                if TrialFactoring::new(p, from, to).is_none() {
                    return Err(bad(fields[2], TOO_LONG));
                }
                Asked::Factor(from, to)
            }
            _ => Asked::Test(worktype),
        };
        Ok(Some(Assignment {
            asked,
            p,
            id,
            line: text.to_owned(),
        }))
    }
}

/// Takes an assignment's line out of `worktodo.txt`; every other byte stays. `wait` is asked while
/// another program holds the file.
///
/// # Errors
/// As reading and writing; of the kind `Interrupted` where `wait` says so.
pub fn remove_line(path: &Path, line: &str, wait: Wait<'_>) -> io::Result<()> {
    let _lock = Lock::of(path, wait)?;
    let text = fs::read(path)?;
    let mut lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let is_it = |other: &&[u8]| other.trim_ascii() == line.as_bytes().trim_ascii();
    let Some(found) = lines.iter().position(is_it) else {
        return Ok(());
    };
    lines.remove(found);
    replace(path, &lines.concat())
}
