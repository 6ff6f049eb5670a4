//! Save files: a test at rest.
//!
//! ```text
//! mersenne save 1
//! {"exponent":118845473,"worktype":"PRP-3","iteration":123000, ...}
//! residues, one after another, ceil(p / 8) little-endian bytes each
//! CRC-32 of all that, four little-endian bytes
//! ```
//!
//! Residues are numbers, not words of some transform: any back end takes them up. Trial
//! factoring has none, and another second line ([`TrialFactoring`](crate::TrialFactoring)).

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::or_out_of_memory;
use crate::prp::Point;
use crate::{Certification, Error, LucasLehmer, Number, PMinus1, Prp, Residue, Runner, Step};

const MAGIC: &[u8] = b"mersenne save 1\n";

const NO_SAVE: &str = "it is no save file of this program";

/// A file of this second line, and these bytes behind it.
pub(crate) fn sealed(header: &impl Serialize, rest: impl IntoIterator<Item = u8>) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(serde_json::to_vec(header).expect("numbers and words are JSON"));
    bytes.push(b'\n');
    bytes.extend(rest);
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

/// The second line of a file, and the bytes behind it.
pub(crate) fn opened<H: DeserializeOwned>(bytes: &[u8]) -> Result<(H, &[u8]), String> {
    let broken = || NO_SAVE.to_owned();
    let (bytes, sum) = bytes.split_last_chunk::<4>().ok_or_else(broken)?;
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(broken)?;
    if crc32fast::hash(bytes).to_le_bytes() != *sum {
        return Err("its checksum is wrong: it is damaged".to_owned());
    }
    let line = rest.iter().position(|&byte| byte == b'\n');
    let (header, rest) = rest.split_at(line.ok_or_else(broken)?);
    let header = serde_json::from_slice(header).map_err(|error| error.to_string())?;
    Ok((header, &rest[1..]))
}

/// A test of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saved {
    /// Lucas-Lehmer.
    LucasLehmer(LucasLehmer),
    /// PRP with Gerbicz' check.
    Prp(Prp),
    /// P-1.
    PMinus1(PMinus1),
}

/// The second line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    #[serde(default = "one", skip_serializing_if = "is_one")]
    k: u32,
    exponent: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_plus: bool,
    worktype: String,
    iteration: u32,
    /// Of P-1: `B1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bound: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prp: Option<PrpHeader>,
}

fn one() -> u32 {
    1
}

fn is_one(k: &u32) -> bool {
    *k == 1
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PrpHeader {
    block: u32,
    verified: u32,
    errors: u32,
    has_last: bool,
    /// Of a certification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    squarings: Option<u32>,
}

impl PrpHeader {
    /// Whether a test that begins as `start` can have come to this, after so many squarings.
    fn can_be(&self, iteration: u32, start: &Prp) -> bool {
        let squarings = self.squarings.unwrap_or(start.squarings());
        let has_block = (1..=Prp::MOST_BLOCK).contains(&self.block);
        let end = squarings.max(1).checked_next_multiple_of(self.block.max(1));
        let Some(end) = end.filter(|_| has_block && squarings > 0) else {
            return false;
        };
        let verified = self.verified;
        verified.is_multiple_of(self.block)
            && verified <= iteration
            && iteration <= end
            // The check at the end is made at once.
            && (iteration < end || verified == end)
            && self.has_last == (iteration >= squarings)
    }
}

impl Saved {
    /// A test of this kind, `LL`, `LLR`, `PRP-3` or `Proth` ([`Saved::worktype`]), at its
    /// beginning.
    ///
    /// # Panics
    /// As [`LucasLehmer::new`] and [`Prp::new`].
    pub fn new(number: impl Into<Number>, worktype: &str) -> Self {
        match worktype {
            "LL" | "LLR" => Saved::LucasLehmer(LucasLehmer::new(number)),
            _ => Saved::Prp(Prp::new(number)),
        }
    }

    /// The kind of test: `LL` and `PRP-3`, as PrimeNet calls them, of `2^p - 1`; `LLR` of
    /// `k 2^n - 1`, `Proth` of `k 2^n + 1`; `Cert`, a certification, and `PM1`, P-1.
    pub fn worktype(&self) -> &'static str {
        match (self, self.number().exponent()) {
            (Saved::LucasLehmer(_), Some(_)) => "LL",
            (Saved::LucasLehmer(_), None) => "LLR",
            (Saved::Prp(test), _) if test.certification.is_some() => "Cert",
            (Saved::Prp(_), Some(_)) => "PRP-3",
            (Saved::Prp(_), None) => "Proth",
            (Saved::PMinus1(_), _) => "PM1",
        }
    }

    /// The number that is tested.
    pub fn number(&self) -> Number {
        match self {
            Saved::LucasLehmer(test) => test.residue.number(),
            Saved::Prp(test) => test.now.x.number(),
            Saved::PMinus1(test) => test.number(),
        }
    }

    /// Iterations done, and how many the test takes.
    pub fn progress(&self) -> (u32, u32) {
        match self {
            Saved::LucasLehmer(test) => (test.iteration, test.iterations()),
            Saved::Prp(test) => (test.iteration(), test.iterations()),
            Saved::PMinus1(test) => (test.iteration(), test.iterations()),
        }
    }

    /// Of P-1: `B1`.
    pub(crate) fn bound(&self) -> Option<u32> {
        match self {
            Saved::PMinus1(test) => Some(test.bound()),
            _ => None,
        }
    }

    /// The certification that this is, if it is one.
    pub fn certification(&self) -> Option<&Certification> {
        match self {
            Saved::Prp(test) => test.certification(),
            _ => None,
        }
    }

    /// [`Prp::hash`].
    pub fn hash(&self) -> Option<String> {
        match self {
            Saved::Prp(test) => test.hash(),
            _ => None,
        }
    }

    /// Errors that were caught and undone.
    pub fn errors(&self) -> u32 {
        match self {
            Saved::Prp(test) => test.errors(),
            _ => 0,
        }
    }

    /// A machine set to where the test is.
    ///
    /// # Errors
    /// As [`Runner::new`].
    pub fn runner<'a>(&self, backend: &'a dyn crate::Backend) -> Result<Runner<'a>, Error> {
        let (minus, x) = match self {
            Saved::LucasLehmer(test) => (LucasLehmer::MINUS, &test.residue),
            Saved::Prp(test) => (Prp::MINUS, test.residue()),
            Saved::PMinus1(test) => (0, &test.residue),
        };
        or_out_of_memory(|| {
            let mut runner = Runner::new(self.number(), minus, backend)?;
            runner.set(x)?;
            Ok(runner)
        })
    }

    /// Up to so many iterations.
    ///
    /// # Errors
    /// As [`LucasLehmer::advance`] and [`Prp::advance`]; [`Error::Memory`].
    pub fn advance(&mut self, runner: &mut Runner<'_>, times: u32) -> Result<Step, Error> {
        or_out_of_memory(|| match self {
            Saved::LucasLehmer(test) => test.advance(runner, times),
            Saved::Prp(test) => test.advance(runner, times),
            Saved::PMinus1(test) => test.advance(runner, times),
        })
    }

    /// Has the residue brought here, to be saved.
    ///
    /// # Errors
    /// As [`Runner::residue`]; [`Error::Memory`].
    pub fn rest(&mut self, runner: &mut Runner<'_>) -> Result<(), Error> {
        or_out_of_memory(|| match self {
            Saved::LucasLehmer(test) => test.rest(runner),
            Saved::Prp(test) => test.rest(runner),
            Saved::PMinus1(test) => test.rest(runner),
        })
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut residues = Vec::new();
        let prp = match self {
            Saved::LucasLehmer(LucasLehmer { residue, .. })
            | Saved::PMinus1(PMinus1 { residue, .. }) => {
                residues.push(residue);
                None
            }
            Saved::Prp(test) => {
                residues.extend([&test.now.x, &test.now.d]);
                if test.verified.iteration != test.now.iteration {
                    residues.extend([&test.verified.x, &test.verified.d]);
                }
                residues.extend(&test.last);
                residues.extend(test.certification.as_ref().map(|asked| &asked.start));
                Some(PrpHeader {
                    block: test.block,
                    verified: test.verified.iteration,
                    errors: test.errors,
                    has_last: test.last.is_some(),
                    squarings: test.certification.as_ref().map(|asked| asked.squarings),
                })
            }
        };
        let number = self.number();
        let header = Header {
            k: number.k(),
            exponent: number.n(),
            is_plus: number.c() > 0,
            worktype: self.worktype().to_owned(),
            iteration: self.progress().0,
            bound: self.bound(),
            prp,
        };
        sealed(&header, residues.into_iter().flat_map(Residue::to_bytes))
    }

    /// What these bytes say of how far a test is that begins as `start`.
    pub(crate) fn from_bytes(bytes: &[u8], start: &Saved) -> Result<Self, String> {
        let broken = || NO_SAVE.to_owned();
        let (header, mut rest): (Header, _) = opened(bytes)?;
        let number = Number::new(header.k, header.exponent, header.is_plus).ok_or_else(broken)?;
        let worktype = header.worktype.as_str();
        if (number, worktype, header.bound) != (start.number(), start.worktype(), start.bound()) {
            return Err(format!("it is of another test: {number} {worktype}"));
        }
        let mut residue = || -> Result<Residue, String> {
            let (bytes, others) = rest.split_at_checked(number.bytes()).ok_or_else(broken)?;
            rest = others;
            Ok(Residue::from_bytes(number, bytes))
        };
        let saved = match (start, header.prp) {
            (Saved::LucasLehmer(start), None) if header.iteration <= start.iterations() => {
                Ok(Saved::LucasLehmer(LucasLehmer {
                    iteration: header.iteration,
                    residue: residue()?,
                }))
            }
            (Saved::PMinus1(start), None) if header.iteration <= start.iterations() => {
                let mut test = start.clone();
                (test.iteration, test.residue) = (header.iteration, residue()?);
                Ok(Saved::PMinus1(test))
            }
            (Saved::Prp(start), Some(prp))
                if prp.squarings.is_some() == start.certification.is_some()
                    && prp.can_be(header.iteration, start) =>
            {
                let mut point = |iteration| -> Result<Point, String> {
                    Ok(Point {
                        iteration,
                        x: residue()?,
                        d: residue()?,
                    })
                };
                let now = point(header.iteration)?;
                let verified = if prp.verified == header.iteration {
                    now.clone()
                } else {
                    point(prp.verified)?
                };
                let last = prp.has_last.then(&mut residue).transpose()?;
                let certification = |squarings| -> Result<Box<Certification>, String> {
                    let start = residue()?;
                    Ok(Box::new(Certification { start, squarings }))
                };
                let certification = prp.squarings.map(certification).transpose()?;
                Ok(Saved::Prp(Prp::at(
                    certification,
                    prp.block,
                    now,
                    verified,
                    last,
                    prp.errors,
                )))
            }
            _ => Err(broken()),
        };
        saved.and_then(|saved: Saved| rest.is_empty().then_some(saved).ok_or_else(broken))
    }
}
