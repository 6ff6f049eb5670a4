//! The search: walks, the distinguished points that they have told, and what a meeting of two tells.
//!
//! Of a distinguished point only a key and the start of its walk are kept. Where a second walk tells the same point, both are walked again
//! from their starts, which says how often each jump was taken: so a device need not carry multiples along
//! ([Bernstein, Lange and Schwabe 2011] do the same).

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};
use std::thread;

use bigint_host::Engine;
use num_bigint::BigUint;

use crate::Error;
use crate::curve::Problem;
use crate::device::Device;
use crate::field::Field;
use crate::plan::{Combination, Method, Plan};
use crate::starts::{Forms, Starts, forms, jumps, point};
use crate::walk::is_distinguished;
use crate::walkers::{Alone, Cores, Shape, Table, Told, Walkers};

/// Who walks.
#[derive(Clone, Copy, Debug)]
pub enum Machine<'a> {
    /// All cores.
    Cores,
    /// The device of an engine, so many blocks at once on each of its multiprocessors.
    Device(&'a Engine, u32),
}

/// Keys are as good as random, so that they hash themselves.
#[derive(Clone, Debug, Default)]
pub struct Itself(u64);

impl Hasher for Itself {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are words")
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

/// The starts of the walks that told points, by the points' keys.
pub type Known = HashMap<u64, u32, BuildHasherDefault<Itself>>;

/// How far a search is, without its walks and points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// Steps of each walk, at most.
    pub steps: u64,
    /// Steps of all walks.
    pub all: u64,
    /// The first start that no walk has had.
    pub next: u32,
    /// Meetings that told nothing.
    pub useless: u64,
}

/// A search on its way.
pub struct Search<'a, F, const LIMBS: usize> {
    problem: &'a Problem,
    plan: Plan,
    field: F,
    table: Table<LIMBS>,
    shape: Shape,
    walkers: Box<dyn Walkers<LIMBS>>,
    /// The steps of the round that has begun.
    begun: Option<u32>,
    /// The start of each walk.
    starts: Vec<u32>,
    known: Known,
    count: Count,
}

/// Where a search begins, or goes on: the start of each walk, where it is, the known points, and the count.
pub type State<const LIMBS: usize> = (Vec<u32>, Vec<Forms<LIMBS>>, Known, Count);

/// A point's key: 64 bits of its `x` and the others mixed into them, as some bits of `x` are zeros in all that are kept.
fn key<const LIMBS: usize>(x: [u32; LIMBS]) -> u64 {
    x.into_iter().fold(0, |key: u64, limb| {
        (key.rotate_left(29) ^ u64::from(limb)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

impl<'a, F: Field<LIMBS>, const LIMBS: usize> Search<'a, F, LIMBS> {
    /// A search from a seed's starts, or from where another one was.
    ///
    /// # Errors
    /// [`Error::Walks`] and [`Error::Engine`], as for [`Device::new`].
    pub fn new(
        problem: &'a Problem,
        method: &Method,
        field: &F,
        shape: Shape,
        seed: u64,
        machine: Machine<'a>,
        state: Option<State<LIMBS>>,
    ) -> Result<Self, Error> {
        let plan = Plan::new(problem, method, shape.count(), seed);
        let table = Table(jumps(problem, &plan, field));
        let (starts, points, known, count) = state.unwrap_or_else(|| {
            let (starts, next) =
                Starts::new(problem, &plan, field, shape.count()).first(0, shape.count());
            let (starts, points) = starts.into_iter().unzip();
            let count = Count {
                next,
                ..Count::default()
            };
            (starts, points, Known::default(), count)
        });
        let walkers: Box<dyn Walkers<LIMBS>> = match machine {
            Machine::Cores => Box::new(Cores::new(field, table.clone(), shape, points)),
            Machine::Device(engine, blocks) => {
                match Device::new(engine, field, &table, shape, points, blocks)? {
                    Some(device) => Box::new(device),
                    None => return Err(Error::Walks("this engine has no device".into())),
                }
            }
        };
        Ok(Search {
            problem,
            plan,
            field: field.clone(),
            table,
            shape,
            walkers,
            begun: None,
            starts,
            known,
            count,
        })
    }

    /// How far it is.
    pub fn count(&self) -> Count {
        self.count
    }

    /// The distinguished points that are known.
    pub fn known(&self) -> &Known {
        &self.known
    }

    /// The starts of the walks.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// Where all walks are, after [`settle`](Search::settle).
    ///
    /// # Errors
    /// [`Error::Engine`].
    pub fn points(&self) -> Result<Vec<Forms<LIMBS>>, Error> {
        self.walkers.points()
    }

    /// Ends the round that has begun, if one has.
    fn end(&mut self) -> Result<Vec<Told<LIMBS>>, Error> {
        let Some(steps) = self.begun.take() else {
            return Ok(Vec::new());
        };
        self.count.steps += u64::from(steps);
        self.count.all += u64::from(steps) * self.shape.count() as u64;
        self.walkers.end()
    }

    /// Ends a round and begins the next: what the walks told in the first, which is not looked at.
    ///
    /// # Errors
    /// [`Error::Engine`].
    pub fn walk(&mut self, steps: u32) -> Result<Vec<Told<LIMBS>>, Error> {
        if self.begun.is_none() {
            self.walkers.begin(steps)?;
            self.begun = Some(steps);
        }
        let told = self.end()?;
        // A device walks on while the host looks at what was told.
        self.walkers.begin(steps)?;
        self.begun = Some(steps);
        Ok(told)
    }

    /// Takes a round of steps, begins the next, and gives the logarithm if a meeting tells it.
    ///
    /// # Errors
    /// [`Error::Engine`]; [`Error::Wrong`] where a walk was not where it said.
    pub fn round(&mut self, steps: u32) -> Result<Option<BigUint>, Error> {
        let told = self.walk(steps)?;
        let (found, lost) = self.look_at(told)?;
        match found {
            None if !lost.is_empty() => self.settle_and_begin_anew(lost),
            found => Ok(found),
        }
    }

    /// Ends the round that has begun, and gives the logarithm if a meeting in it tells it.
    ///
    /// # Errors
    /// As for [`round`](Search::round).
    pub fn settle(&mut self) -> Result<Option<BigUint>, Error> {
        self.settle_and_begin_anew(Vec::new())
    }

    /// [`settle`](Search::settle), after which some walks begin anew.
    fn settle_and_begin_anew(&mut self, mut lost: Vec<usize>) -> Result<Option<BigUint>, Error> {
        let told = self.end()?;
        let (found, more) = self.look_at(told)?;
        lost.extend(more);
        if found.is_none() && !lost.is_empty() {
            self.begin_anew(lost)?;
        }
        Ok(found)
    }

    /// The logarithm that walks tell, and the walks that met one that tells nothing.
    fn look_at(&mut self, told: Vec<Told<LIMBS>>) -> Result<(Option<BigUint>, Vec<usize>), Error> {
        let mut lost = Vec::new();
        for told in told {
            let start = self.starts[told.walk];
            match self.known.entry(key(told.x)) {
                Entry::Vacant(entry) => {
                    entry.insert(start);
                }
                Entry::Occupied(entry) => {
                    let other = *entry.get();
                    // A walk that meets itself goes in a circle.
                    if other != start && self.plan.can_tell(start, other) {
                        if let Some(k) = self.meeting([start, other], key(told.x))? {
                            return Ok((Some(k), lost));
                        }
                    } else {
                        self.count.useless += 1;
                        lost.push(told.walk);
                    }
                }
            }
        }
        Ok((None, lost))
    }

    /// Puts walks at starts that no walk has had.
    fn begin_anew(&mut self, mut lost: Vec<usize>) -> Result<(), Error> {
        lost.sort_unstable();
        lost.dedup();
        let mut points = self.walkers.points()?;
        let starts = Starts::new(self.problem, &self.plan, &self.field, lost.len());
        let (starts, next) = starts.first(self.count.next, lost.len());
        self.count.next = next;
        for (walk, (start, point)) in lost.into_iter().zip(starts) {
            self.starts[walk] = start;
            points[walk] = point;
        }
        self.walkers.put(points)
    }

    /// The logarithm that walks of two starts tell, which both told the point of a key; `None` if they told two
    /// points with one key.
    fn meeting(&self, starts: [u32; 2], key: u64) -> Result<Option<BigUint>, Error> {
        let again = |start| move || self.again(start, key);
        let [one, other] = thread::scope(|scope| {
            starts
                .map(|start| scope.spawn(again(start)))
                .map(|walk| walk.join().expect("a walk does not panic"))
        });
        let ((one, p), (other, q)) = (one?, other?);
        if p[0] != q[0] {
            return Ok(None);
        }
        let found = self.plan.logarithm(&one, &other, p[1] != q[1]);
        match found {
            Some(k) if !self.problem.is_answer(&k) => Err(Error::Wrong(format!(
                "two walks that met tell {k}, which is no answer"
            ))),
            found => Ok(found),
        }
    }

    /// The walk of a start up to the distinguished point of a key.
    fn again(&self, start: u32, wanted: u64) -> Result<(Combination, Forms<LIMBS>), Error> {
        let starts = Starts::new(self.problem, &self.plan, &self.field, 1);
        let begin = starts.one(start);
        let begin = begin.ok_or_else(|| Error::Wrong(format!("start {start} is no point")))?;
        let begin = forms(&self.field, &begin);
        let mut walk = Alone::new(&self.field, &self.table, begin);
        for _ in 0..=self.count.steps {
            let [x, _] = walk.point;
            if is_distinguished(x, self.shape.mask()) && key(x) == wanted {
                let there = self.plan.after(start, &walk.taken);
                // A check of the walk itself, by other arithmetic.
                let expected = self.problem.combination(&there.a, &there.b);
                if expected != Some(point(&self.field, walk.point)) {
                    break;
                }
                return Ok((there, walk.point));
            }
            walk.step();
        }
        Err(Error::Wrong(format!(
            "the walk of start {start} does not come to the point that it told"
        )))
    }
}
