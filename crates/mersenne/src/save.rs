//! Save files of tests.
//!
//! ```text
//! mersenne save 1
//! {"exponent":118845473,"worktype":"PRP-3","iteration":123000, ...}
//! residues, one after another, ceil(p / 8) little-endian bytes each
//! CRC-32 of all that, four little-endian bytes
//! ```
//!
//! Residues are numbers, not words of a transform, so any back end takes them up. Trial factoring
//! has no residues, and another second line ([`TrialFactoring`](crate::TrialFactoring)).

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::or_out_of_memory;
use crate::prp::{Goal, Point, Witness};
use crate::{
    Certification, Error, LucasLehmer, NPlus1, Number, PMinus1, Prp, Residue, Runner, Save, Step,
};

const MAGIC: &[u8] = b"mersenne save 1\n";

pub(crate) const NO_SAVE: &str = "it is no save file of this program";

/// The file with this second line and these bytes behind it.
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
    /// The Lucas-Lehmer test, or Riesel's.
    LucasLehmer(LucasLehmer),
    /// The PRP test with Gerbicz' check, Proth's, Pocklington's, or a certification.
    Prp(Prp),
    /// Morrison's test.
    NPlus1(NPlus1),
    /// The first stage of P-1.
    PMinus1(PMinus1),
}

/// The second line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    #[serde(default = "one", skip_serializing_if = "is_one")]
    k: u32,
    /// The `b` and the `c` of `k b^n + c`, where it is not `k 2^n - 1` or `k 2^n + 1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    form: Option<(u32, i32)>,
    exponent: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_plus: bool,
    worktype: String,
    iteration: u32,
    /// The bound `B1` of P-1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bound: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prp: Option<PrpHeader>,
    /// The check of a Lucas-Lehmer test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ll: Option<LucasLehmerHeader>,
    /// Of Pocklington's or Morrison's test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    witness: Option<Witness>,
    #[serde(default)]
    shift: u32,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LucasLehmerHeader {
    verified: u32,
    errors: u32,
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
    /// The squarings of a certification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    squarings: Option<u32>,
}

impl PrpHeader {
    /// Whether a test that begins as `start` can have come to this after `iteration` squarings.
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
            // At the end the check follows at once.
            && (iteration < end || verified == end)
            && self.has_last == (iteration >= squarings)
    }
}

impl Saved {
    /// A test at its beginning, by its [`worktype`](Saved::worktype): `LL`, `LLR`, `PRP-3`, `Proth`,
    /// `PRP`, `N-1` or `N+1`.
    ///
    /// # Panics
    /// As for [`LucasLehmer::new`], [`Prp::new`], [`Prp::pocklington`] and [`NPlus1::new`].
    pub fn new(number: impl Into<Number>, worktype: &str) -> Self {
        match worktype {
            "LL" | "LLR" => Saved::LucasLehmer(LucasLehmer::new(number)),
            "PRP" => Saved::Prp(Prp::fermat(number)),
            "N-1" => Saved::Prp(Prp::pocklington(number.into())),
            "N+1" => Saved::NPlus1(NPlus1::new(number.into())),
            _ => Saved::Prp(Prp::new(number)),
        }
    }

    /// The name of the kind of work, PrimeNet's for `2^p - 1`: `LL`, `PRP-3`, `Cert` for a
    /// certification, `P-1`; `LLR` for `k 2^n - 1`, `Proth` for `k 2^n + 1`; `PRP` for Fermat's test of
    /// other numbers, `N-1` and `N+1` for the proofs by Pocklington's and Morrison's.
    pub fn worktype(&self) -> &'static str {
        if let Saved::Prp(test) = self {
            match &test.goal {
                Goal::Squares => {}
                Goal::Fermat(_) => return "PRP",
                Goal::Pocklington(..) => return "N-1",
            }
        }
        match (self, self.number().exponent()) {
            (Saved::LucasLehmer(_), Some(_)) => "LL",
            (Saved::LucasLehmer(_), None) => "LLR",
            (Saved::Prp(test), _) if test.certification.is_some() => "Cert",
            (Saved::Prp(_), Some(_)) => "PRP-3",
            (Saved::Prp(_), None) => "Proth",
            (Saved::PMinus1(_), _) => "P-1",
            (Saved::NPlus1(_), _) => "N+1",
        }
    }

    /// The worktypes of the tests that a number asks for: the first, and where it finds the number a
    /// probable prime, the second.
    pub fn worktypes(number: Number) -> &'static [&'static str] {
        match (number.is_binary(), number.has_proof(), number.c()) {
            (true, true, -1) if number.exponent().is_some() => &["LL"],
            (true, true, -1) => &["PRP", "LLR"],
            (true, true, _) => &["Proth"],
            (false, true, -1) => &["PRP", "N+1"],
            (false, true, _) => &["PRP", "N-1"],
            (_, false, _) => &["PRP"],
        }
    }

    /// The number that is tested.
    pub fn number(&self) -> Number {
        self.residue().number()
    }

    /// The residue when it was last read.
    pub fn residue(&self) -> &Residue {
        match self {
            Saved::LucasLehmer(test) => &test.residue,
            Saved::Prp(test) => test.residue(),
            Saved::PMinus1(test) => &test.residue,
            Saved::NPlus1(test) => &test.terms[0],
        }
    }

    /// The iterations that are done, and those of the whole test.
    pub fn progress(&self) -> (u32, u32) {
        match self {
            Saved::LucasLehmer(test) => (test.iteration, test.iterations()),
            Saved::Prp(test) => (test.iteration(), test.iterations()),
            Saved::PMinus1(test) => (test.iteration(), test.iterations()),
            Saved::NPlus1(test) => (test.iteration(), test.iterations()),
        }
    }

    /// The bound `B1` of P-1.
    pub(crate) fn bound(&self) -> Option<u32> {
        match self {
            Saved::PMinus1(test) => Some(test.bound()),
            _ => None,
        }
    }

    /// The squarings to the last residue of a test of which there are proofs.
    pub(crate) fn proved(&self) -> Option<u32> {
        match (self, self.worktype()) {
            (Saved::Prp(test), "PRP-3" | "Proth" | "PRP") => Some(test.squarings()),
            _ => None,
        }
    }

    /// The certification, if it is one.
    pub fn certification(&self) -> Option<&Certification> {
        match self {
            Saved::Prp(test) => test.certification(),
            _ => None,
        }
    }

    /// The low 2048 bits of a PRP test's residue: [`Prp::res2048`].
    pub fn res2048(&self) -> Option<String> {
        match self {
            Saved::Prp(test) => test.res2048(),
            _ => None,
        }
    }

    /// The residue of a test of kind `PRP` in the form of older programs: [`Prp::old64`].
    pub fn old64(&self) -> Option<u64> {
        match self {
            Saved::Prp(test) => test.old64(),
            _ => None,
        }
    }

    /// The base, or `P`, of a proof, and the primes for which none is known.
    fn witness(&self) -> Option<&Witness> {
        match self {
            Saved::Prp(Prp {
                goal: Goal::Pocklington(_, witness),
                ..
            }) => Some(witness),
            Saved::NPlus1(test) => Some(&test.witness),
            _ => None,
        }
    }

    /// The test at its beginning with another witness; `None` for another kind of test, and where it can
    /// have no such witness.
    fn with_witness(&self, witness: Option<Witness>) -> Option<Self> {
        let (Some(own), Some(witness)) = (self.witness(), &witness) else {
            return (self.witness().is_some() == witness.is_some()).then(|| self.clone());
        };
        let number = self.number();
        let is_known = witness.left.iter().all(|q| own.left.contains(q));
        if !is_known || witness.left.is_empty() || witness.a < 3 {
            return None;
        }
        let witness = witness.clone();
        match self {
            Saved::Prp(Prp {
                goal: Goal::Pocklington(ladder, _),
                ..
            }) => {
                let goal = Goal::Pocklington(ladder.clone(), witness);
                Some(Saved::Prp(Prp::with_goal(number, goal)))
            }
            Saved::NPlus1(test) => {
                let ladder = test.ladder.clone();
                Some(Saved::NPlus1(NPlus1::with(number, ladder, witness)))
            }
            _ => None,
        }
    }

    /// The hash that answers a certification: [`Prp::hash`].
    pub fn hash(&self) -> Option<String> {
        match self {
            Saved::Prp(test) => test.hash(),
            _ => None,
        }
    }

    /// The errors that were caught and undone.
    pub fn errors(&self) -> u32 {
        match self {
            Saved::Prp(test) => test.errors(),
            Saved::LucasLehmer(test) => test.errors,
            Saved::PMinus1(_) | Saved::NPlus1(_) => 0,
        }
    }

    /// The power of two by which a machine multiplies each residue that it is given, so that no two tests
    /// of a number need compute the same. Results are without it.
    pub fn shift(&self) -> u32 {
        match self {
            Saved::Prp(test) => test.shift,
            Saved::LucasLehmer(test) => test.shift,
            Saved::PMinus1(_) | Saved::NPlus1(_) => 0,
        }
    }

    /// The test with this shift, where it can have one: of `2^p - 1`, `p` above the shift.
    #[must_use]
    pub fn with_shift(mut self, shift: u32) -> Self {
        let fits = self.number().exponent().is_some_and(|p| shift < p);
        match &mut self {
            Saved::Prp(test) if fits => test.shift = shift,
            Saved::LucasLehmer(test) if fits => test.shift = shift,
            _ => {}
        }
        self
    }

    /// A machine at the iteration where the test is.
    ///
    /// # Errors
    /// As for [`Runner::new`].
    pub fn runner<'a>(&self, backend: &'a dyn crate::Backend) -> Result<Runner<'a>, Error> {
        let minus = match self {
            Saved::LucasLehmer(_) => LucasLehmer::MINUS,
            Saved::Prp(_) => Prp::MINUS,
            Saved::PMinus1(_) | Saved::NPlus1(_) => 0,
        };
        or_out_of_memory(|| {
            let mut runner = Runner::new(self.number(), minus, backend)?.with_shift(self.shift());
            runner.set(self.residue())?;
            Ok(runner)
        })
    }

    /// Runs up to `times` iterations.
    ///
    /// # Errors
    /// As for [`LucasLehmer::advance`] and [`Prp::advance`]; [`Error::Memory`].
    pub fn advance(&mut self, runner: &mut Runner<'_>, times: u32) -> Result<Step, Error> {
        or_out_of_memory(|| match self {
            Saved::LucasLehmer(test) => test.advance(runner, times),
            Saved::Prp(test) => test.advance(runner, times),
            Saved::PMinus1(test) => test.advance(runner, times),
            Saved::NPlus1(test) => test.advance(runner, times),
        })
    }

    /// Reads the residue, so that the test can be saved.
    ///
    /// # Errors
    /// As for [`Runner::residue`]; [`Error::Memory`].
    pub fn rest(&mut self, runner: &mut Runner<'_>) -> Result<(), Error> {
        or_out_of_memory(|| match self {
            Saved::LucasLehmer(test) => test.rest(runner),
            Saved::Prp(test) => test.rest(runner),
            Saved::PMinus1(test) => test.rest(runner),
            Saved::NPlus1(_) => Ok(()),
        })
    }
}

impl Save for Saved {
    const UNIT: &'static str = "iteration";

    fn name(&self) -> String {
        let number = self.number();
        let worktype = self.worktype();
        if let "PRP" | "N-1" | "N+1" = worktype {
            return format!("{}.{}", number.stem(), worktype.to_lowercase());
        }
        match (worktype, self.bound(), number.exponent()) {
            ("LL", _, Some(p)) => format!("m{p}.ll"),
            ("Cert", ..) => format!("{}.certification", number.stem()),
            (_, Some(bound), Some(p)) => format!("m{p}.{bound}.pm1"),
            (_, _, Some(p)) => format!("m{p}.prp"),
            (_, _, None) => number.stem(),
        }
    }

    fn done(&self) -> u64 {
        self.progress().0.into()
    }

    fn res64(&self) -> Option<u64> {
        Some(self.residue().res64())
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut residues = Vec::new();
        let mut ll = None;
        let prp = match self {
            Saved::PMinus1(PMinus1 { residue, .. }) => {
                residues.push(residue);
                None
            }
            Saved::NPlus1(test) => {
                residues.extend(&test.terms);
                None
            }
            Saved::LucasLehmer(test) => {
                let (verified, last) = &*test.verified;
                residues.extend([&test.residue, last]);
                ll = Some(LucasLehmerHeader {
                    verified: *verified,
                    errors: test.errors,
                });
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
            form: (!number.is_binary()).then(|| (number.base(), number.c())),
            exponent: number.n(),
            is_plus: number.is_binary() && number.c() > 0,
            worktype: self.worktype().to_owned(),
            iteration: self.progress().0,
            bound: self.bound(),
            prp,
            ll,
            witness: self.witness().cloned(),
            shift: self.shift(),
        };
        sealed(&header, residues.into_iter().flat_map(Residue::to_bytes))
    }

    fn from_bytes(bytes: &[u8], start: &Self) -> Result<Option<Self>, String> {
        let broken = || NO_SAVE.to_owned();
        let (header, mut rest): (Header, _) = opened(bytes)?;
        let number = match header.form {
            None => Number::new(header.k, header.exponent, header.is_plus),
            Some((base, c)) => Number::of(header.k.into(), base, header.exponent, c).ok(),
        };
        let number = number.ok_or_else(broken)?;
        let worktype = header.worktype.as_str();
        if (number, worktype, header.bound) != (start.number(), start.worktype(), start.bound()) {
            return Err(format!("it is of another test: {number} {worktype}"));
        }
        let mut residue = || -> Result<Residue, String> {
            let (bytes, others) = rest.split_at_checked(number.bytes()).ok_or_else(broken)?;
            rest = others;
            Ok(Residue::from_bytes(number, bytes))
        };
        let begun = start.with_witness(header.witness).ok_or_else(broken)?;
        let saved: Result<Saved, String> = match (&begun, header.prp) {
            (Saved::LucasLehmer(start), None) if header.iteration <= start.iterations() => {
                let mut test = start.clone();
                (test.iteration, test.residue) = (header.iteration, residue()?);
                // Saves without it are of tests that were not checked.
                if let Some(ll) = header.ll {
                    if ll.verified > header.iteration {
                        return Err(broken());
                    }
                    *test.verified = (ll.verified, residue()?);
                    test.errors = ll.errors;
                }
                Ok(Saved::LucasLehmer(test))
            }
            (Saved::PMinus1(start), None) if header.iteration <= start.iterations() => {
                let mut test = start.clone();
                (test.iteration, test.residue) = (header.iteration, residue()?);
                Ok(Saved::PMinus1(test))
            }
            (Saved::NPlus1(start), None) if header.iteration <= start.iterations() => {
                let mut test = start.clone();
                test.iteration = header.iteration;
                test.terms = [residue()?, residue()?];
                Ok(Saved::NPlus1(test))
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
                let block = prp.block;
                let mut test = Prp::at(certification, block, now, verified, last, prp.errors);
                test.goal.clone_from(&start.goal);
                Ok(Saved::Prp(test))
            }
            _ => Err(broken()),
        };
        let saved = saved?.with_shift(header.shift);
        // A certification may start from another residue, in an older file.
        let is_same = saved.certification() == start.certification();
        match rest.is_empty() {
            true => Ok(is_same.then_some(saved)),
            false => Err(broken()),
        }
    }
}
