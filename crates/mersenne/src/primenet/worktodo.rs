//! The lines of `worktodo.txt`.

use std::fs;
use std::io;
use std::path::Path;

use bigint_host::BigUint;

use crate::folder::replace;
use crate::lock::{Lock, Wait};
use crate::{Cofactor, Curves, Ecm, PMinus1, Stage2, TrialFactoring, is_prime};

/// What is wrong with a range that is too long for [`TrialFactoring`].
pub const TOO_LONG: &str = "to try all candidates up to there would take for ever";

/// The work that a line of `worktodo.txt` asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// A test, `LL` or `PRP-3`.
    Test(&'static str),
    /// A PRP test of what is left without known factors.
    Cofactor(Cofactor),
    /// P-1 to the bound `B1`, and with a second stage where there is a `B2`.
    PMinus1(u32, Option<u64>),
    /// P-1 to the bounds that pay where there is no factor below so many bits, and one saves so many
    /// tests.
    PFactor(u32, f64),
    /// Elliptic curves.
    Ecm(Curves),
    /// Trial factoring, between powers of two with these exponents.
    Factor(u32, u32),
    /// A certification: the residue of `M{p}.cert` squared so many times.
    Certification(u32),
}

/// A line of `worktodo.txt` that asks for work.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The work.
    pub asked: Asked,
    /// The exponent.
    pub p: u32,
    /// PrimeNet's name for the assignment: 32 hexadecimal digits.
    pub id: Option<String>,
    /// The line as it stands in the file.
    pub line: String,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// The byte of the line, counted from 1, at which the wrong part begins.
    pub column: usize,
    /// What is wrong.
    pub what: String,
}

impl Assignment {
    /// The assignment of a line; `None` for a blank line or a comment.
    ///
    /// ```
    /// use mersenne::primenet::{Asked, Assignment};
    /// let line = "DoubleCheck=0123456789ABCDEF0123456789ABCDEF,82589933,76,1";
    /// let assignment = Assignment::parse(line).unwrap().unwrap();
    /// assert_eq!((assignment.asked, assignment.p), (Asked::Test("LL"), 82_589_933));
    /// let assignment = Assignment::parse("PRP=N/A,1,2,127,-1").unwrap().unwrap();
    /// assert_eq!((assignment.asked, assignment.id), (Asked::Test("PRP-3"), None));
    /// let assignment = Assignment::parse("Pminus1=N/A,1,2,1277,-1,5000000,0").unwrap().unwrap();
    /// assert_eq!(assignment.asked, Asked::PMinus1(5_000_000, None));
    /// let assignment = Assignment::parse("Pfactor=N/A,1,2,1277,-1,60,1.3").unwrap().unwrap();
    /// assert_eq!(assignment.asked, Asked::PFactor(60, 1.3));
    /// let assignment = Assignment::parse("Factor=N/A,1277,60,61").unwrap().unwrap();
    /// assert_eq!(assignment.asked, Asked::Factor(60, 61));
    /// let assignment = Assignment::parse("PRP=,1,2,127,-1").unwrap().unwrap();
    /// assert_eq!(assignment.id, None);
    /// let assignment = Assignment::parse("ECM2=N/A,1,2,1277,-1,1000,100000,3").unwrap().unwrap();
    /// let Asked::Ecm(curves) = assignment.asked else { panic!() };
    /// assert_eq!((curves.first, curves.second, curves.count), (1000, Some(100_000), 3));
    /// assert!(Assignment::parse("PRP=N/A,1,10,1277,-1").is_err());
    /// ```
    ///
    /// # Errors
    /// [`BadLine`] for a line that is no assignment, or asks for work that this program does not do.
    pub fn parse(text: &str) -> Result<Option<Self>, BadLine> {
        // The mark that some editors put before a file's first line.
        let line = text.trim_start_matches('\u{feff}').trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        let (kind, rest) = line.split_once('=').ok_or_else(|| {
            let what = "a line is KIND=ASSIGNMENT,..., such as PRP=N/A,1,2,127,-1";
            bad(text, line, what)
        })?;
        let kind = Kind::named(kind.trim()).map_err(|what| bad(text, line, what))?;
        let (id, fields) = Fields::new(text, rest);
        let p = match kind {
            Kind::Test | Kind::Factor => fields.exponent(0)?,
            Kind::Prp => fields.tested()?,
            Kind::Certification | Kind::PMinus1 | Kind::PFactor | Kind::Ecm => fields.mersenne()?,
        };
        let asked = match kind {
            Kind::Test => Asked::Test("LL"),
            Kind::Prp => match fields.cofactor(p)? {
                Some(cofactor) => Asked::Cofactor(cofactor),
                None => Asked::Test("PRP-3"),
            },
            Kind::Factor => fields.range(p)?,
            Kind::Certification => {
                Asked::Certification(fields.number(4, "the number of squarings", 1, p)?)
            }
            Kind::PMinus1 => fields.bounds()?,
            Kind::PFactor => fields.saved()?,
            Kind::Ecm => Asked::Ecm(fields.curves(p)?),
        };
        let line = text.to_owned();
        Ok(Some(Assignment { asked, p, id, line }))
    }
}

/// What is wrong with `part` of a line.
fn bad(line: &str, part: &str, what: impl Into<String>) -> BadLine {
    BadLine {
        column: part.as_ptr() as usize - line.as_ptr() as usize + 1,
        what: what.into(),
    }
}

/// Kinds of lines, by the fields that they have.
#[derive(Clone, Copy)]
enum Kind {
    Test,
    Prp,
    Certification,
    Factor,
    PMinus1,
    PFactor,
    Ecm,
}

impl Kind {
    /// The kind of lines that begin with `name` and `=`, or why there is none.
    fn named(name: &str) -> Result<Self, &'static str> {
        match name {
            "Test" | "DoubleCheck" => Ok(Kind::Test),
            "PRP" | "PRPDC" => Ok(Kind::Prp),
            "Cert" | "CERT" => Ok(Kind::Certification),
            "Factor" => Ok(Kind::Factor),
            "PMinus1" | "Pminus1" => Ok(Kind::PMinus1),
            "PFactor" | "Pfactor" => Ok(Kind::PFactor),
            "B1" | "B2" => Err("there is no P-1 here before a test"),
            "ECM2" => Ok(Kind::Ecm),
            _ => Err(
                "it is none of PRP, PRPDC, Test, DoubleCheck, Cert, Factor, Pminus1, Pfactor, ECM2",
            ),
        }
    }
}

/// The fields of a line behind its assignment's name.
struct Fields<'a> {
    line: &'a str,
    /// The text after `=`.
    rest: &'a str,
    fields: Vec<&'a str>,
    /// The known factors, between quotes at the end.
    known: Option<&'a str>,
}

impl<'a> Fields<'a> {
    /// The fields in `rest`, and the assignment's name before them, if it has one.
    fn new(line: &'a str, rest: &'a str) -> (Option<String>, Self) {
        let (plain, known) = match rest.trim_end().strip_suffix('"') {
            Some(quoted) => quoted.split_once('"').unzip(),
            None => (None, None),
        };
        let plain = plain.map_or(rest, |plain| plain.trim_end().trim_end_matches(','));
        let mut fields: Vec<&str> = plain.split(',').map(str::trim).collect();
        let first = fields[0];
        let is_id = first.len() == 32 && first.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_empty = ["", "0"].contains(&first) && fields.len() > 1;
        if is_id || is_empty || first.eq_ignore_ascii_case("n/a") {
            fields.remove(0);
        }
        let id = is_id.then(|| first.to_owned());
        let fields = Fields {
            line,
            rest,
            fields,
            known,
        };
        (id, fields)
    }

    fn bad(&self, part: &str, what: impl Into<String>) -> BadLine {
        bad(self.line, part, what)
    }

    /// Field `i`, which must be there; a message names it so.
    fn get(&self, i: usize, name: &str) -> Result<&'a str, BadLine> {
        let field = self.fields.get(i).filter(|field| !field.is_empty());
        let missing = || self.bad(self.rest, format!("{name} is missing"));
        field.copied().ok_or_else(missing)
    }

    /// Field `i`, a number between bounds.
    fn number(&self, i: usize, name: &str, least: u32, most: u32) -> Result<u32, BadLine> {
        let field = self.get(i, name)?;
        let number = field.parse().ok();
        let number = number.filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| self.bad(field, format!("{name} is one from {least} to {most}")))
    }

    /// Field `i`, an odd prime.
    fn exponent(&self, i: usize) -> Result<u32, BadLine> {
        let field = self.get(i, "the exponent")?;
        let what = match field.parse() {
            Ok(p) if p >= 3 && is_prime(p) => return Ok(p),
            Ok(_) => "the exponent is not an odd prime: 2^p - 1 is composite",
            Err(_) => "the exponent is a number below 2^32",
        };
        Err(self.bad(field, what))
    }

    /// The exponent `p` of `1,2,p,-1`: the first fields are `k`, `b`, `n` and `c` of `k b^n + c`.
    fn mersenne(&self) -> Result<u32, BadLine> {
        for (i, name, value) in [(0, "k", "1"), (1, "b", "2"), (3, "c", "-1")] {
            let field = self.get(i, name)?;
            if field != value {
                let what = format!("{name} must be {value}: only 2^p - 1 is tested");
                return Err(self.bad(field, what));
            }
        }
        self.exponent(2)
    }

    /// The exponent of a PRP test to the base 3. Fields 6 and 7, where they are there, are the base and the
    /// residue's type: 5 for cofactors, else 1.
    fn tested(&self) -> Result<u32, BadLine> {
        let more = self.fields.get(4..).unwrap_or_default();
        let type_of_residue = match self.known {
            Some(_) => ("5", "of cofactors the residue must be of type 5"),
            None => ("1", "the residue must be of type 1"),
        };
        let wanted = [("3", "the base must be 3"), type_of_residue];
        for (field, (value, what)) in more.iter().skip(2).zip(wanted) {
            if *field != value {
                return Err(self.bad(field, what));
            }
        }
        self.mersenne()
    }

    /// The cofactor of `2^p - 1` after division by the factors between quotes, if there are any.
    fn cofactor(&self, p: u32) -> Result<Option<Cofactor>, BadLine> {
        let Some(known) = self.known else {
            return Ok(None);
        };
        let factors = known.split(',').map(|factor| factor.trim().parse().ok());
        let factors: Option<Vec<BigUint>> = factors.collect();
        let missing = || self.bad(known, "known factors are numbers between quotes");
        let cofactor = Cofactor::new(p, factors.ok_or_else(missing)?);
        cofactor.map(Some).map_err(|what| self.bad(known, what))
    }

    /// The bounds of P-1: fields 4 and 5 are `B1` and `B2`, which is 0 or `B1` where there is no second
    /// stage.
    fn bounds(&self) -> Result<Asked, BadLine> {
        let (first, second) = self.two_bounds()?;
        Ok(Asked::PMinus1(first, second))
    }

    /// The curves: fields 4 to 6 are `B1`, `B2` and their number, and field 7, where it is there and not 0, is
    /// the parameter of the first.
    fn curves(&self, p: u32) -> Result<Curves, BadLine> {
        let (first, second) = self.two_bounds()?;
        let count = self.number(6, "the number of curves", 1, u32::MAX)?;
        let field = self.fields.get(7).copied().unwrap_or("0");
        let sigma = match field {
            "" | "0" => None,
            _ => {
                let (least, most) = (Ecm::LEAST_SIGMA, Ecm::MOST_SIGMA);
                let sigma = field.parse().ok();
                let sigma = sigma.filter(|sigma| (least..=most).contains(sigma));
                let what = || self.bad(field, format!("a curve is one from {least} to {most}"));
                Some(sigma.ok_or_else(what)?)
            }
        };
        Ok(Curves {
            first,
            second,
            count,
            sigma,
            left: self.cofactor(p)?,
        })
    }

    fn two_bounds(&self) -> Result<(u32, Option<u64>), BadLine> {
        let first = self.number(4, "B1", 2, PMinus1::GREATEST_BOUND)?;
        let field = self.fields.get(5).copied().unwrap_or("0");
        if ["", "0", self.fields[4]].contains(&field) {
            return Ok((first, None));
        }
        let most = Stage2::GREATEST_BOUND;
        let second = field.parse().ok();
        let second = second.filter(|second| (u64::from(first)..=most).contains(second));
        let what = || self.bad(field, format!("B2 is 0, or a number from B1 to {most}"));
        Ok((first, Some(second.ok_or_else(what)?)))
    }

    /// The bounds that P-1 is worth: field 4 is the number of bits up to which there is no factor, and field 5
    /// the number of tests that a factor saves.
    fn saved(&self) -> Result<Asked, BadLine> {
        let bits = self.number(4, "the bits without a factor", 1, 200)?;
        let field = self.get(5, "the number of tests saved")?;
        let tests = field.parse().ok();
        let tests = tests.filter(|&tests: &f64| 0.0 < tests && tests <= 100.0);
        let what = || self.bad(field, "the tests saved are a number above 0, up to 100");
        Ok(Asked::PFactor(bits, tests.ok_or_else(what)?))
    }

    /// The range of trial factoring of `2^p - 1`, in fields 1 and 2.
    fn range(&self, p: u32) -> Result<Asked, BadLine> {
        let most = TrialFactoring::MOST_BITS;
        let from = self.number(1, "the exponent of the beginning", 1, most - 1)?;
        let to = self.number(2, "the exponent of the end", from + 1, most)?;
        match TrialFactoring::new(p, from, to) {
            Some(_) => Ok(Asked::Factor(from, to)),
            None => Err(self.bad(self.fields[2], TOO_LONG)),
        }
    }
}

/// Takes an assignment's line out of `worktodo.txt`; every other byte stays. `wait` is called while
/// another program holds the file, and says whether to go on waiting.
///
/// # Errors
/// As reading and writing; of the kind `Interrupted` where `wait` says no.
pub fn remove_line(path: &Path, line: &str, wait: Wait<'_>) -> io::Result<()> {
    let _lock = Lock::of(path, wait)?;
    remove(path, line)
}

/// Moves a line from the `worktodo.txt` that workers share to that of one of them, if it is there. A
/// kill on the way may leave it in both: then nobody takes it a second time, and [`finish_take`] is to
/// be called before its work is done.
///
/// # Errors
/// As for [`remove_line`].
pub fn take_line(shared: &Path, own: &Path, line: &str, wait: Wait<'_>) -> io::Result<()> {
    let _locks = [Lock::of(shared, wait)?, Lock::of(own, wait)?];
    if !has(shared, line)? {
        return Ok(());
    }
    let mut is_taken = false;
    for file in fs::read_dir(shared.parent().unwrap_or(Path::new(".")))? {
        let name = file?.file_name().into_string().unwrap_or_default();
        if name.starts_with("worktodo-") && name.ends_with(".txt") {
            is_taken |= has(&shared.with_file_name(name), line)?;
        }
    }
    if !is_taken {
        append(own, line.as_bytes())?;
    }
    remove(shared, line)
}

/// Takes lines that are a worker's out of the `worktodo.txt` that workers share: a kill while they
/// were moved may have left them in both.
///
/// # Errors
/// As for [`remove_line`].
pub fn finish_take(shared: &Path, own: &Path, wait: Wait<'_>) -> io::Result<()> {
    let own = read(own)?;
    for line in String::from_utf8_lossy(&own).lines() {
        if matches!(Assignment::parse(line), Ok(Some(_))) && has(shared, line)? {
            remove_line(shared, line, wait)?;
        }
    }
    Ok(())
}

/// Moves all lines of `worktodo.add` that are not there already to the end of `worktodo.txt`.
///
/// # Errors
/// As for [`remove_line`].
pub fn add_lines(path: &Path, wait: Wait<'_>) -> io::Result<()> {
    let add = path.with_extension("add");
    if !add.exists() {
        return Ok(());
    }
    // In AutoPrimeNet's order.
    let _locks = [Lock::of(path, wait)?, Lock::of(&add, wait)?];
    // Another worker may have been faster.
    if add.exists() {
        append(path, &read(&add)?)?;
        fs::remove_file(add)?;
    }
    Ok(())
}

/// The bytes of a file; none where it is not there.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        text => text,
    }
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|&byte| byte == b'\n')
}

fn has(path: &Path, line: &str) -> io::Result<bool> {
    let line = line.as_bytes().trim_ascii();
    Ok(lines(&read(path)?).any(|other| other.trim_ascii() == line))
}

fn remove(path: &Path, line: &str) -> io::Result<()> {
    let (text, line) = (read(path)?, line.as_bytes().trim_ascii());
    let mut lines: Vec<&[u8]> = lines(&text).collect();
    let Some(found) = lines.iter().position(|other| other.trim_ascii() == line) else {
        return Ok(());
    };
    lines.remove(found);
    replace(path, &lines.concat())
}

/// Appends the lines of `added` that the file has not.
fn append(path: &Path, added: &[u8]) -> io::Result<()> {
    let old = read(path)?;
    let mut text = old.clone();
    for line in lines(added) {
        if lines(&old).any(|other| other.trim_ascii() == line.trim_ascii()) {
            continue;
        }
        if text.last().is_some_and(|&byte| byte != b'\n') {
            text.push(b'\n');
        }
        text.extend(line.trim_ascii());
        text.push(b'\n');
    }
    replace(path, &text)
}
