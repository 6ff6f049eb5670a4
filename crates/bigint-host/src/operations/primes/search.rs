//! The first primes of arithmetic progressions, those of many progressions at once.
//!
//! Each progression is sieved by itself, on all cores. Then go rounds: of every progression that has no
//! prime yet the next survivors go into one batch of strong tests to base 2, a few of each, and
//! more the longer it has none. In the end one batch of Lucas tests is of the first that passed of each;
//! whoever fails, which nobody has seen a number of this size do, is looked through further.
//!
//! With `E` survivors for a prime in the mean and a sixteenth of them, or of those tested already, in a
//! round, `E (1 + 1/16 + 1/32)` are tested, at most, and after some 50 rounds one progression in 3000
//! is left, where one candidate in a round would take `8 E` rounds.

use crate::operations::primes::sieve::{self, Sieve};
use crate::{Batch, BigUint, Engine, Error, Layout, Limb, Options, Shape};
use bigint_cpu::{map, threads};
use std::ops::Range;

/// Progressions that are looked through together, for the memory that their survivors take.
const GROUP: usize = 1 << 14;

/// The shortest and the longest stretch that is sieved.
const LENGTHS: Range<usize> = 256..1 << 18;

/// A progression is taken in so many rounds where all of its survivors are needed: a mean one
/// needs a twelfth of them.
const ROUNDS: usize = 192;

/// A round has one for so many that were tested already.
const OF_TOLD: usize = 16;

/// Numbers that a thread has in its lanes, and a device in flight: fewer would take as long.
const OF_THREAD: usize = 8;
const OF_DEVICE: usize = 1 << 14;

/// Which numbers of progressions are looked for: `start + step i` for `i < length`, or
/// `start - step i`, all odd and above 2^32.
#[derive(Clone, Debug)]
pub(super) struct Scan {
    pub step: BigUint,
    pub descends: bool,
    /// Whether `(p - 1) / 2` is to be a prime too.
    pub safe: bool,
    /// The number with which `p - 1` is to have no divisor in common.
    pub coprime: u64,
    pub length: usize,
}

/// A progression that has no prime yet.
struct Open {
    index: usize,
    /// Places that no small prime strikes.
    survivors: Vec<u32>,
    /// How many of them are told.
    told: usize,
}

impl Scan {
    /// All odd numbers from starts of up to so many bits on: eleven mean gaps or more, so that one
    /// stretch in 100,000 has no prime. A second stretch takes rounds of its own.
    pub fn of_odd(bits: u64, descends: bool) -> Self {
        Scan {
            step: 2u8.into(),
            descends,
            safe: false,
            coprime: 1,
            length: length(4 * bits),
        }
    }

    /// The number at a place.
    pub fn number(&self, start: &BigUint, place: u32) -> BigUint {
        match self.descends {
            false => start + &self.step * place,
            true => start - &self.step * place,
        }
    }

    /// The places of each progression that are worth a test.
    fn survivors(&self, starts: &[BigUint], width: usize) -> Vec<Vec<u32>> {
        let step = self.step.to_u32_digits();
        let of = (width, starts.len(), self.length);
        let sieve = Sieve::new(of, &step, self.descends, self.safe);
        map(starts, threads(), |start| {
            let mut row = start.to_u32_digits();
            row.resize(width, 0);
            let mut places = sieve.survivors(&row);
            if self.coprime > 1 {
                places.retain(|&place| is_coprime(&self.number(start, place), self.coprime));
            }
            places
        })
    }

    /// Limbs that hold all numbers.
    fn width(&self, starts: &[BigUint]) -> usize {
        let greatest = starts.iter().max().cloned().unwrap_or_default();
        let last = match self.descends {
            true => greatest,
            false => greatest + &self.step * self.length,
        };
        last.bits().div_ceil(u64::from(Limb::BITS)).max(1) as usize
    }

    /// Numbers at places, as rows.
    fn rows<'a>(
        &self,
        width: usize,
        of: impl Iterator<Item = (&'a BigUint, &'a [u32])>,
    ) -> Vec<Limb> {
        let rows = map(of, threads(), |(start, places)| {
            let mut rows = Vec::with_capacity(width * places.len());
            for &place in places {
                let number = self.number(start, place);
                rows.extend(number.iter_u32_digits());
                rows.resize(rows.len().next_multiple_of(width), 0);
            }
            rows
        });
        rows.concat()
    }
}

/// A length of a stretch within the limits.
pub(super) fn length(wanted: u64) -> usize {
    usize::try_from(wanted)
        .unwrap_or(usize::MAX)
        .clamp(LENGTHS.start, LENGTHS.end)
}

/// Whether `n - 1` and `e` have no common divisor.
pub(super) fn is_coprime(n: &BigUint, e: u64) -> bool {
    let rest = (n - 1u8) % e;
    let (mut a, mut b) = (e, rest.iter_u64_digits().next().unwrap_or(0));
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a == 1
}

impl Engine {
    /// The first prime of each progression, if it has one.
    pub(super) fn first_primes(
        &self,
        scan: &Scan,
        starts: &[BigUint],
    ) -> Result<Vec<Option<BigUint>>, Error> {
        let mut primes = Vec::with_capacity(starts.len());
        for starts in starts.chunks(GROUP) {
            let width = scan.width(starts);
            let places = self.first_places(scan, starts, width)?;
            let found = starts.iter().zip(places);
            primes.extend(found.map(|(start, place)| Some(scan.number(start, place?))));
        }
        Ok(primes)
    }

    /// The place of the first prime of each progression.
    fn first_places(
        &self,
        scan: &Scan,
        starts: &[BigUint],
        width: usize,
    ) -> Result<Vec<Option<u32>>, Error> {
        let batch = |rows: Vec<Limb>| {
            let shape = Shape::new(rows.len() / width, width, Layout::Contiguous);
            self.batch_from_limbs(rows, shape)
        };
        let survivors = scan.survivors(starts, width).into_iter().enumerate();
        let mut open: Vec<Open> = survivors
            .map(|(index, survivors)| Open {
                index,
                survivors,
                told: 0,
            })
            .collect();
        let mut found = vec![None; starts.len()];
        let mut presumed: Vec<Open> = Vec::new();
        loop {
            open.retain(|open| open.told < open.survivors.len());
            if open.is_empty() && presumed.is_empty() {
                return Ok(found);
            }
            if open.is_empty() {
                let last = |open: &Open| open.told - 1;
                let of = presumed.iter().map(|open| {
                    (
                        &starts[open.index],
                        std::slice::from_ref(&open.survivors[last(open)]),
                    )
                });
                let rows = batch(scan.rows(width, of))?;
                let passes = self.pass_all(&rows, scan.safe, Engine::pass_after_symbol)?;
                for (of, passes) in presumed.drain(..).zip(passes) {
                    match passes {
                        true => found[of.index] = Some(of.survivors[last(&of)]),
                        false => open.push(of),
                    }
                }
                continue;
            }
            let least = self.together().div_ceil(open.len());
            let nexts: Vec<Range<usize>> = open.iter().map(|open| open.next(least)).collect();
            let of = open.iter().zip(&nexts);
            let of = of.map(|(open, next)| (&starts[open.index], &open.survivors[next.clone()]));
            let passes = self.pass_all(
                &batch(scan.rows(width, of))?,
                scan.safe,
                Engine::pass_symbol,
            )?;
            let mut passes = &passes[..];
            let mut left = Vec::new();
            for (mut open, next) in open.drain(..).zip(nexts) {
                let (own, others) = passes.split_at(next.len());
                passes = others;
                let first = own.iter().position(|&passes| passes);
                open.told = first.map_or(next.end, |first| next.start + first + 1);
                match first {
                    Some(_) => presumed.push(open),
                    None => left.push(open),
                }
            }
            open = left;
        }
    }

    /// The primes among `start + 2 i` for `i < length`, of all starts.
    pub(super) fn all_primes(
        &self,
        scan: &Scan,
        starts: &[BigUint],
    ) -> Result<Vec<Vec<u32>>, Error> {
        let width = scan.width(starts);
        let mut places = scan.survivors(starts, width);
        let of = starts
            .iter()
            .zip(&places)
            .map(|(start, places)| (start, &places[..]));
        let rows = scan.rows(width, of);
        let shape = Shape::new(rows.len() / width, width, Layout::Contiguous);
        let numbers = self.batch_from_limbs(rows, shape)?;
        let passes = self.pass_all(&numbers, scan.safe, Engine::pass_both)?;
        let mut passes = passes.into_iter();
        for places in &mut places {
            places.retain(|_| passes.next() == Some(true));
        }
        Ok(places)
    }

    /// Which odd numbers above 2^32 pass both tests.
    pub(super) fn pass_both(&self, numbers: &Batch) -> Result<Vec<bool>, Error> {
        self.pass_one_after_other(numbers, Engine::pass_symbol, Engine::pass_after_symbol)
    }

    /// Which of those that have passed [`pass_symbol`](Self::pass_symbol) pass both tests.
    fn pass_after_symbol(&self, numbers: &Batch) -> Result<Vec<bool>, Error> {
        self.pass_one_after_other(numbers, Engine::pass_two_after_symbol, Engine::pass_lucas)
    }

    /// Which numbers pass a test and, of safe primes, whose halves do too.
    pub(super) fn pass_all(
        &self,
        numbers: &Batch,
        safe: bool,
        test: impl Fn(&Engine, &Batch) -> Result<Vec<bool>, Error>,
    ) -> Result<Vec<bool>, Error> {
        if !safe {
            return test(self, numbers);
        }
        let of_half = |engine: &Engine, numbers: &Batch| {
            let plain = engine.using(Options::default());
            let one = plain.mask(&[true])?;
            test(engine, &plain.shr(numbers, &one)?)
        };
        self.pass_one_after_other(numbers, of_half, &test)
    }

    /// Which numbers pass a first test, and a second one, that of those alone.
    pub(super) fn pass_one_after_other(
        &self,
        numbers: &Batch,
        first: impl Fn(&Engine, &Batch) -> Result<Vec<bool>, Error>,
        second: impl Fn(&Engine, &Batch) -> Result<Vec<bool>, Error>,
    ) -> Result<Vec<bool>, Error> {
        let mut passes = first(self, numbers)?;
        let left: Vec<usize> = (0..passes.len()).filter(|&i| passes[i]).collect();
        if !left.is_empty() {
            let plain = self.using(Options::default());
            let told = second(self, &plain.gather(numbers, &left)?)?;
            for (i, told) in left.into_iter().zip(told) {
                passes[i] = told;
            }
        }
        Ok(passes)
    }

    /// Numbers that one batch of powers should have, at least.
    fn together(&self) -> usize {
        match self.inner.device() {
            Some(_) => OF_DEVICE,
            None => OF_THREAD * threads(),
        }
    }
}

impl Open {
    /// The survivors that are tested next: at least so many, if there are.
    fn next(&self, least: usize) -> Range<usize> {
        let all = self.survivors.len();
        let wanted = least.max(self.told / OF_TOLD).max(all / ROUNDS).max(1);
        self.told..(self.told + wanted).min(all)
    }
}

/// The primes that numbers of a row's width are divided by, before they are tested.
pub(super) fn divisors(width: usize, count: usize) -> sieve::SmallPrimes {
    sieve::SmallPrimes::new(sieve::bound_of_one(width), width, count, Vec::new())
}
