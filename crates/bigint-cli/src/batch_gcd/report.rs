//! What is wrong with keys, in words or as JSON.

use std::collections::HashMap;

use bigint_host::BigUint;
use serde_json::{Value, json};

use crate::batch_gcd::keys::{Keys, Place};
use crate::failure::Failure;

/// What is wrong with a key: the first of these that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// It has a factor in common with another modulus.
    Shared,
    /// Another key has its modulus.
    Duplicate,
    Even,
    /// It has a prime factor below 2^12.
    Small,
    Prime,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Shared => "shared",
            Kind::Duplicate => "duplicate",
            Kind::Even => "even",
            Kind::Small => "small",
            Kind::Prime => "prime",
        }
    }
}

/// What is wrong with one key.
pub struct Weakness {
    place: Place,
    pub modulus: usize,
    kind: Kind,
    /// In order of size; none where none is known.
    factors: Vec<BigUint>,
    with: Vec<Place>,
    /// Whether this run says it: it is of a new key, or is new itself.
    pub is_reported: bool,
}

impl Weakness {
    /// Whether it has a factor in common with another modulus.
    pub fn is_shared(&self) -> bool {
        self.kind == Kind::Shared
    }
}

/// What is known of moduli.
pub struct OfModuli<'a> {
    keys: &'a Keys,
    /// The keys, modulus by modulus, and where those of each begin.
    by_modulus: Vec<usize>,
    starts: Vec<usize>,
    shared: HashMap<usize, Vec<BigUint>>,
    /// The moduli that each factor is shared by.
    sharers: HashMap<BigUint, Vec<usize>>,
    other: HashMap<usize, (Kind, Vec<BigUint>)>,
}

impl<'a> OfModuli<'a> {
    pub fn new(keys: &'a Keys) -> Self {
        let places = keys.places();
        let mut starts = vec![0; keys.moduli().len() + 1];
        places
            .iter()
            .for_each(|place| starts[place.modulus + 1] += 1);
        for modulus in 1..starts.len() {
            starts[modulus] += starts[modulus - 1];
        }
        let mut next = starts.clone();
        let mut by_modulus = vec![0; places.len()];
        for (index, place) in places.iter().enumerate() {
            by_modulus[next[place.modulus]] = index;
            next[place.modulus] += 1;
        }
        OfModuli {
            keys,
            by_modulus,
            starts,
            shared: HashMap::new(),
            sharers: HashMap::new(),
            other: HashMap::new(),
        }
    }

    /// The keys of a modulus, in their order.
    fn keys_of(&self, modulus: usize) -> &[usize] {
        &self.by_modulus[self.starts[modulus]..self.starts[modulus + 1]]
    }

    /// A modulus shares some of its factors.
    pub fn share(&mut self, modulus: usize, factors: Vec<BigUint>) {
        let mut different = factors.clone();
        different.dedup();
        for factor in different {
            self.sharers.entry(factor).or_default().push(modulus);
        }
        self.shared.insert(modulus, factors);
    }

    /// A modulus has small factors.
    pub fn small(&mut self, modulus: usize, factors: Vec<BigUint>) {
        let is_even = factors
            .first()
            .is_some_and(|least| *least == BigUint::from(2u8));
        let kind = if is_even { Kind::Even } else { Kind::Small };
        self.other.insert(modulus, (kind, factors));
    }

    /// A modulus is prime.
    pub fn prime(&mut self, modulus: usize) {
        let factor = BigUint::from_slice(self.keys.moduli().magnitude(modulus));
        self.other.insert(modulus, (Kind::Prime, vec![factor]));
    }

    /// What is wrong, key by key in their order.
    pub fn weaknesses(&self) -> Vec<Weakness> {
        let places = self.keys.places().iter().enumerate();
        places
            .filter_map(|(index, place)| self.weakness(index, *place))
            .collect()
    }

    fn weakness(&self, index: usize, place: Place) -> Option<Weakness> {
        let modulus = place.modulus;
        let twins = self.keys_of(modulus);
        let (kind, factors) = match (self.shared.get(&modulus), self.other.get(&modulus)) {
            (Some(factors), _) => (Kind::Shared, factors.clone()),
            (None, other) if twins.len() > 1 => (
                Kind::Duplicate,
                other
                    .map(|(_, factors)| factors.clone())
                    .unwrap_or_default(),
            ),
            (None, Some((kind, factors))) => (*kind, factors.clone()),
            (None, None) => return None,
        };
        let mut moduli = vec![modulus];
        for sharers in factors.iter().filter_map(|factor| self.sharers.get(factor)) {
            moduli.extend(sharers);
        }
        moduli.sort_unstable();
        moduli.dedup();
        let mut with: Vec<usize> = moduli
            .iter()
            .flat_map(|&modulus| self.keys_of(modulus))
            .copied()
            .collect();
        with.retain(|&other| other != index);
        with.sort_unstable();
        // Of an old key only what a new one makes of it.
        let is_reported =
            self.keys.is_new(index) || with.iter().any(|&other| self.keys.is_new(other));
        let with = with
            .into_iter()
            .map(|other| self.keys.places()[other])
            .collect();
        Some(Weakness {
            place,
            modulus,
            kind,
            factors,
            with,
            is_reported,
        })
    }
}

/// The report: a line for each weak key.
///
/// # Errors
/// [`Failure::Running`] where a number is too long for memory.
pub fn write(keys: &Keys, weaknesses: &[Weakness], json: bool) -> Result<String, Failure> {
    let mut text = String::new();
    for weakness in weaknesses.iter().filter(|weakness| weakness.is_reported) {
        let Place { file, line, .. } = weakness.place;
        let name = &keys.files()[file];
        let factors = decimals(&weakness.factors)?;
        let kind = weakness.kind.name();
        if json {
            // A line of the same file is its number.
            let other = |place: &Place| match place.file == file {
                true => Value::from(place.line),
                false => Value::from(format!("{}:{}", keys.files()[place.file], place.line)),
            };
            let with: Vec<Value> = weakness.with.iter().map(other).collect();
            let object = json!({
                "file": name, "line": line, "kind": kind, "factors": factors, "with": with,
            });
            text += &object.to_string();
        } else {
            text += &format!("{name}:{line}: {kind}");
            if !factors.is_empty() {
                text += &format!(" = {}", factors.join(" * "));
            }
            let other = |place: &Place| format!("{}:{}", keys.files()[place.file], place.line);
            let with: Vec<String> = weakness.with.iter().map(other).collect();
            if !with.is_empty() {
                text += &format!(", with {}", with.join(", "));
            }
        }
        text.push('\n');
    }
    Ok(text)
}

fn decimals(factors: &[BigUint]) -> Result<Vec<String>, Failure> {
    let factors = bigint_host::Integers::from_biguints(factors)?;
    Ok(factors.decimals().collect())
}
