//! Euclid's algorithm on the pairs of a batch in step, by halves, with products on a device.
//!
//! Let `B` = 2^32. From `a` and `b`, in whatever order, an even number of Euclid's steps reaches
//!
//! ```text
//! x = u a - v b,    y = z b - w a,    u z - v w = 1,    a = z x + v y,    b = w x + u y
//! ```
//!
//! with rows `(u, v)` and `(w, z)` that are not negative. If both numbers are below `B^k` and reach `B^t` or more, each of the
//! four entries is below `B^(k - t)`. Let now `a` and `b` be the upper `k` limbs of longer numbers, which have `p` limbs
//! more, and let `2 t >= k + 2`. The same rows take the whole numbers to
//!
//! ```text
//! x B^p + (u a_low - v b_low)    between    (x - v) B^p > B^(p + t - 1)    and    (x + u) B^p < 2 x B^p
//! ```
//!
//! and the other one likewise. So both stay positive, whatever the limbs below are, and their lengths are known to a bit.
//! Parts are reduced in the same way: first the upper half of their limbs, then as many as leave `t` limbs. Parts of few limbs
//! go to the host, where each core reduces one ([`Cpu::reduce`]), and their rows come back. (After [Möller 2008], as the CPU
//! does for one number.)
//!
//! By hand, with `B` = 10: 31,415 and 27,182 have the upper parts 314 and 271. The quotients 1 and 6 take these to 43 and 13,
//! `43 = 314 - 271`, `13 = 7 271 - 6 314`. With the same rows `31,415 - 27,182 = 4233`, `7 27,182 - 6 31,415 = 1784`.
//!
//! **In step.** All pairs of a batch have their parts cut at the same limbs, so that each level is one batch of products, also
//! of one pair: `4 c` to apply the rows to `c` pairs, `8 c` to multiply rows by rows. A pair that is shorter
//! waits until parts begin below its top. A pair is *stopped* where a quotient of `2^64` or more stands at the
//! end of a part, or where it has reached its divisor: it is longer then than all others can be. It takes no
//! step from there on, and in the end it leaves the batch, and the host finishes it.
//!
//! The numbers stay on the device. The recursion of the CPU with a device for its long products would be less code, but the
//! operands of each product would cross the link: some ten times the numbers' length a level, which takes about as long as the
//! products on all cores. So what crosses it here are the short parts and their rows, as many limbs a level as the numbers have.
//!
//! **Cost.** For each doubling of the length beyond the short parts' some 3 products of the numbers' length, and 8 for
//! inverses; and on the host what divisors of the short parts take.

use crate::{Batch, Engine, Error};
use bigint_core::{LIMB_BITS, Layout, Limb, Shape};
use bigint_cpu::{Cpu, Reduced, Symbol};

/// The bits of a limb.
const BITS: u64 = LIMB_BITS as u64;

/// The least limbs of parts that the host reduces. It leaves them 5 limbs longer than asked for, and each level adds 2.
const LEAST_BASE: usize = 32;

/// Pairs of numbers in step.
pub(super) struct Pairs {
    /// The first numbers of all pairs, and then the second ones.
    numbers: Batch,
    /// For each pair, bits that neither of its numbers exceeds.
    bits: Vec<u64>,
    /// For each pair, whether quotients are taken. The others stay as they are.
    are_live: Vec<bool>,
}

/// Factors of the numbers of pairs, as many limbs as which they never exceed: `-x` times something is the first number of
/// the pair modulo another number, and `y` times it the second.
pub(super) struct Cofactors {
    /// `x` of all pairs, and then `y`.
    pub numbers: Batch,
    pub widest: usize,
}

/// Pairs that are at the end of Euclid's algorithm.
pub(super) struct Ended {
    /// Their places among all.
    pub indices: Vec<usize>,
    /// One of both is the divisor, the other nothing.
    pub numbers: Vec<[Vec<u64>; 2]>,
    pub cofactors: Option<Batch>,
    pub symbols: Vec<Symbol>,
}

/// What the upper parts of pairs are reduced to.
struct Halved {
    numbers: Batch,
    bits: Vec<u64>,
    /// Entries `u`, `z`, `v`, `w` of all pairs, entry by entry; nothing where no pair takes a step.
    rows: Option<Batch>,
    /// Bits that live pairs do not exceed, unless a quotient has stopped them.
    most: u64,
}

/// The algorithm on a batch.
pub(super) struct Halving<'a> {
    engine: &'a Engine,
    /// The widest parts that the host reduces, in limbs.
    base: usize,
    /// The symbols of all pairs, if they are wanted.
    symbols: Option<Vec<Symbol>>,
}

impl Pairs {
    /// Pairs of a batch's numbers, the second ones behind the first, which are no longer than these bits.
    pub fn new(numbers: Batch, bits: Vec<u64>) -> Self {
        let are_live = vec![true; bits.len()];
        Pairs {
            numbers,
            bits,
            are_live,
        }
    }

    fn count(&self) -> usize {
        self.bits.len()
    }

    /// The limbs of the longest number in which quotients are taken.
    fn widest(&self) -> usize {
        let bits = self.bits.iter().zip(&self.are_live);
        limbs_of(bits.filter(|(_, live)| **live).map(|(bits, _)| *bits))
    }

    /// The limbs `p .. w` of all numbers, `w` those of the longest live one.
    fn upper(&self, engine: &Engine, p: usize, w: usize) -> Result<Pairs, Error> {
        let low = BITS * p as u64;
        let all = BITS * (w - p) as u64;
        let bits = self.bits.iter().zip(&self.are_live);
        let bits = bits.map(|(bits, live)| match live {
            true => bits.saturating_sub(low),
            false => all,
        });
        Ok(Pairs {
            numbers: engine.limbs_from(&self.numbers, p, w - p)?,
            bits: bits.collect(),
            are_live: self.are_live.clone(),
        })
    }

    /// Takes the steps that the upper limbs `p .. w` have taken.
    fn apply(&mut self, engine: &Engine, p: usize, w: usize, upper: &Halved) -> Result<(), Error> {
        let low = BITS * p as u64;
        let live = self.bits.iter_mut().zip(&upper.bits).zip(&self.are_live);
        for ((bits, upper), _) in live.filter(|(_, live)| **live) {
            *bits = (low + upper + 1).min(*bits);
        }
        let Some(rows) = &upper.rows else {
            return Ok(());
        };
        let width = limbs_of(self.bits.iter().copied()).max(1);
        let mut numbers = engine.lifted(&upper.numbers, p, width)?;
        if self.numbers.width() > w && self.are_live.contains(&false) {
            // Of those that take no steps.
            let above = engine.limbs_from(&self.numbers, w, self.numbers.width() - w)?;
            let above = engine.lifted(&above, w, width)?;
            numbers = engine.add_in(width, &numbers, &above)?;
        }
        let [plus, minus] = products(engine, rows, (&self.numbers, p), p + rows.width())?;
        let sum = engine.add_in(width, &numbers, &plus)?;
        self.numbers = engine.sub_in(width, &sum, &minus)?;
        Ok(())
    }
}

impl<'a> Halving<'a> {
    /// The algorithm on `count` pairs.
    pub fn new(engine: &'a Engine, count: usize, symbols: Option<Vec<Symbol>>) -> Self {
        let tuning = &engine.tuning().euclid;
        let base = tuning.cores_limbs / count.max(1);
        Halving {
            engine,
            base: base.max(tuning.cores_min_width).max(LEAST_BASE),
            symbols,
        }
    }

    /// Reduces pairs to the end, and tells how in groups of those that end together.
    pub fn run(
        mut self,
        mut pairs: Pairs,
        mut cofactors: Option<Cofactors>,
    ) -> Result<Vec<Ended>, Error> {
        let engine = self.engine;
        let mut ended = Vec::new();
        loop {
            let w = pairs.widest();
            if w <= 2 * self.base {
                break;
            }
            let width = pairs.numbers.width().min(w);
            pairs.numbers = engine.limbs_from(&pairs.numbers, 0, width)?;
            // Rows that nobody else wants are best short.
            let p = match cofactors {
                None => w / 3 * 2,
                Some(_) => w / 2,
            };
            let keep = (w - p).div_ceil(2) + 1;
            let upper = self.halve(pairs.upper(engine, p, w)?, keep)?;
            pairs.apply(engine, p, w, &upper)?;
            if let (Some(cofactors), Some(rows)) = (&mut cofactors, &upper.rows) {
                cofactors.apply(engine, rows)?;
            }
            let most = (BITS * p as u64 + upper.most + 1).min(BITS * (w as u64 - 1));
            let stopped = |&i: &usize| pairs.are_live[i] && pairs.bits[i] > most;
            let stopped: Vec<usize> = (0..pairs.count()).filter(stopped).collect();
            if !stopped.is_empty() {
                ended.push(self.end(&pairs, cofactors.as_ref(), &stopped)?);
            }
            for i in stopped {
                pairs.are_live[i] = false;
                pairs.bits[i] = 0;
            }
        }
        let live: Vec<usize> = (0..pairs.count()).filter(|&i| pairs.are_live[i]).collect();
        if !live.is_empty() {
            ended.push(self.end(&pairs, cofactors.as_ref(), &live)?);
        }
        Ok(ended)
    }

    /// Reduces some of the pairs to the end on the host.
    fn end(
        &self,
        pairs: &Pairs,
        cofactors: Option<&Cofactors>,
        indices: &[usize],
    ) -> Result<Ended, Error> {
        let engine = self.engine;
        let width = limbs_of(indices.iter().map(|&i| pairs.bits[i])).max(1);
        let numbers = some_of(engine, &pairs.numbers, indices)?;
        let numbers = engine.limbs_from(&numbers, 0, width)?;
        let of_these = Pairs::new(numbers, vec![BITS * width as u64; indices.len()]);
        let mut symbols = self.symbols.as_ref().map_or_else(Vec::new, |symbols| {
            indices.iter().map(|&i| symbols[i]).collect()
        });
        let made = on_cores(&of_these, None, cofactors.is_some(), &mut symbols)?;
        let cofactors = cofactors.map(|cofactors| {
            let mut ended = Cofactors {
                numbers: some_of(engine, &cofactors.numbers, indices)?,
                widest: cofactors.widest,
            };
            if let Some(rows) = rows_of(engine, &of_these, &made)? {
                ended.apply(engine, &rows)?;
            }
            Ok::<_, Error>(ended.numbers)
        });
        Ok(Ended {
            indices: indices.to_vec(),
            cofactors: cofactors.transpose()?,
            numbers: made.into_iter().map(|(_, made)| made.numbers).collect(),
            symbols,
        })
    }

    /// Reduces pairs as far as both numbers stay at least `B^keep`, more than half of their width.
    fn halve(&mut self, mut pairs: Pairs, keep: usize) -> Result<Halved, Error> {
        let width = pairs.numbers.width();
        if width <= self.base {
            return self.halve_on_cores(&pairs, keep);
        }
        let engine = self.engine;
        let (mut rows, mut most) = (None, BITS * (keep as u64 + 2));
        for _ in 0..2 {
            let w = pairs.widest();
            if w <= keep + 2 {
                break;
            }
            // No fewer limbs are enough; if that is too much, this is the first of two steps.
            let p = match 2 * keep - w {
                p if w - p <= width / 2 + width / 8 => p,
                _ => w / 2,
            };
            let least = ((w - p).div_ceil(2) + 1).max((keep + 1).saturating_sub(p));
            let upper = self.halve(pairs.upper(engine, p, w)?, least)?;
            pairs.apply(engine, p, w, &upper)?;
            most = BITS * p as u64 + upper.most + 1;
            for (is_live, &bits) in pairs.are_live.iter_mut().zip(&pairs.bits) {
                *is_live &= bits <= most;
            }
            rows = match (upper.rows, rows) {
                (Some(second), Some(first)) => {
                    Some(composed(engine, &second, &first, width - keep)?)
                }
                (second, first) => second.or(first),
            };
        }
        Ok(Halved {
            numbers: pairs.numbers,
            bits: pairs.bits,
            rows,
            most,
        })
    }

    fn halve_on_cores(&mut self, pairs: &Pairs, keep: usize) -> Result<Halved, Error> {
        let mut none = Vec::new();
        let symbols = self.symbols.as_mut().unwrap_or(&mut none);
        let made = on_cores(pairs, Some(keep), true, symbols)?;
        let (width, count) = (pairs.numbers.width(), pairs.count());
        let mut bits = pairs.bits.clone();
        for (i, made) in &made {
            bits[*i] = made.numbers.iter().map(|x| bits_of(x)).fold(0, u64::max);
        }
        let rows = rows_of(self.engine, pairs, &made)?;
        let numbers = match rows {
            None => pairs.numbers.clone(),
            Some(_) => {
                let widest = limbs_of(bits.iter().copied()).max(1);
                let given = pairs.numbers.rows()?;
                let mut limbs = vec![0; 2 * count * widest];
                let mut places: Vec<&mut [Limb]> = limbs.chunks_mut(widest).collect();
                for (i, place) in places.iter_mut().enumerate() {
                    let given = &given[i * width..][..width];
                    if !pairs.are_live[i % count] {
                        place[..width].copy_from_slice(given);
                    }
                }
                for (i, made) in &made {
                    for (half, words) in made.numbers.iter().enumerate() {
                        fill(places[half * count + i], words);
                    }
                }
                batch(self.engine, limbs, 2 * count)?
            }
        };
        Ok(Halved {
            numbers,
            bits,
            rows,
            // As far as the CPU promises.
            most: BITS * (keep as u64 + 5),
        })
    }
}

impl Cofactors {
    /// Those of the numbers that these rows reach.
    fn apply(&mut self, engine: &Engine, rows: &Batch) -> Result<(), Error> {
        let width = (rows.width() + self.numbers.width() + 1).min(self.widest);
        let numbers = (&self.numbers, self.numbers.width());
        let [first, second] = products(engine, rows, numbers, width)?;
        self.numbers = engine.add_in(width, &first, &second)?;
        Ok(())
    }
}

/// The products of rows by the lowest limbs of pairs, in `width` limbs: `u a` and `z b`, and apart from these `v b` and
/// `w a`.
fn products(
    engine: &Engine,
    rows: &Batch,
    (pairs, limbs): (&Batch, usize),
    width: usize,
) -> Result<[Batch; 2], Error> {
    let pairs = engine.blocks(pairs, pairs.len() / 2, &[0, 1, 1, 0], limbs)?;
    both_halves(engine, &engine.mul_in(width, rows, &pairs)?)
}

/// The rows of numbers that `second` reaches from those that `first` does, with entries of `width` limbs at most.
fn composed(engine: &Engine, second: &Batch, first: &Batch, width: usize) -> Result<Batch, Error> {
    let count = first.len() / 4;
    let width = width.min(first.width() + second.width() + 1);
    // u' u, z' z, u' v, z' w, and v' w, w' v, v' z, w' u.
    let [n, m] = [second.width(), first.width()];
    let second = engine.blocks(second, count, &[0, 1, 0, 1, 2, 3, 2, 3], n)?;
    let first = engine.blocks(first, count, &[0, 1, 2, 3, 3, 2, 1, 0], m)?;
    let [x, y] = both_halves(engine, &engine.mul_in(width, &second, &first)?)?;
    engine.add_in(width, &x, &y)
}

/// The first half of a batch's numbers, and the second.
pub(super) fn both_halves(engine: &Engine, all: &Batch) -> Result<[Batch; 2], Error> {
    let half = all.len() / 2;
    Ok([
        engine.slice(all, 0..half)?,
        engine.slice(all, half..2 * half)?,
    ])
}

/// Reduces the live pairs on all cores, a pair on each. Symbols take the same steps; there may be none.
fn on_cores(
    pairs: &Pairs,
    keep: Option<usize>,
    has_rows: bool,
    symbols: &mut [Symbol],
) -> Result<Vec<(usize, Reduced)>, Error> {
    let (width, count) = (pairs.numbers.width(), pairs.count());
    let limbs = pairs.numbers.rows()?;
    let number = |i: usize| &limbs[i * width..][..width];
    let live = (0..count).filter(|&i| pairs.are_live[i]);
    let parts: Vec<_> = live.map(|i| (i, symbols.get(i).copied())).collect();
    let made = bigint_cpu::or_out_of_memory(|| {
        bigint_cpu::map(parts, bigint_cpu::threads(), |(i, mut symbol)| {
            let numbers = [number(i), number(count + i)];
            let made = Cpu::current().reduce(numbers, keep, has_rows, symbol.as_mut());
            (i, made, symbol)
        })
    })?;
    let made = made.into_iter().map(|(i, made, symbol)| {
        if let Some(symbol) = symbol {
            symbols[i] = symbol;
        }
        (i, made)
    });
    Ok(made.collect())
}

/// The rows that live pairs have; nothing where none of them has taken a step.
fn rows_of(
    engine: &Engine,
    pairs: &Pairs,
    made: &[(usize, Reduced)],
) -> Result<Option<Batch>, Error> {
    let has_steps = |rows: &[[Vec<u64>; 2]; 2]| !rows[0][1].is_empty() || !rows[1][0].is_empty();
    if !made.iter().any(|(_, made)| has_steps(&made.rows)) {
        return Ok(None);
    }
    let entries = made.iter().flat_map(|(_, made)| made.rows.as_flattened());
    let width = limbs_of(entries.map(|entry| bits_of(entry)));
    let count = pairs.count();
    let mut limbs = vec![0; 4 * count * width];
    let mut places: Vec<&mut [Limb]> = limbs.chunks_mut(width).collect();
    for i in (0..count).filter(|&i| !pairs.are_live[i]) {
        places[i][0] = 1;
        places[count + i][0] = 1;
    }
    for (i, made) in made {
        let [[u, v], [w, z]] = &made.rows;
        for (block, entry) in [u, z, v, w].into_iter().enumerate() {
            fill(places[block * count + i], entry);
        }
    }
    batch(engine, limbs, 4 * count).map(Some)
}

/// The pairs of these places.
fn some_of(engine: &Engine, pairs: &Batch, indices: &[usize]) -> Result<Batch, Error> {
    let count = pairs.len() / 2;
    if indices.len() == count {
        return Ok(pairs.clone());
    }
    let second = indices.iter().map(|i| count + i);
    let all: Vec<usize> = indices.iter().copied().chain(second).collect();
    engine.gather(pairs, &all)
}

fn batch(engine: &Engine, limbs: Vec<Limb>, count: usize) -> Result<Batch, Error> {
    let width = limbs.len() / count;
    engine.batch_from_limbs(limbs, Shape::new(count, width, Layout::Contiguous))
}

/// Limbs that hold numbers of so many bits.
fn limbs_of(bits: impl Iterator<Item = u64>) -> usize {
    bits.fold(0, u64::max).div_ceil(BITS) as usize
}

/// The length of a number without zeros at its end, in bits.
fn bits_of(words: &[u64]) -> u64 {
    let top = words.last().map_or(0, |top| top.leading_zeros());
    64 * words.len() as u64 - u64::from(top)
}

/// Writes words as limbs, which are zero so far and as many as the number has or more.
pub(super) fn fill(limbs: &mut [Limb], words: &[u64]) {
    for (limbs, word) in limbs.chunks_mut(2).zip(words) {
        for (i, limb) in limbs.iter_mut().enumerate() {
            *limb = (word >> (LIMB_BITS * i)) as Limb;
        }
    }
}
