//! All walks of a run, on the processor or on a device.
//!
//! Walks come in *groups*: on a device a group is a thread's. In a round each walk takes some steps. A group has
//! room for a few distinguished points; a walk that finds none left stays at its distinguished point until the
//! round ends. The processor does the same, so that walks are at the same points after each round on every machine.

use bigint_cpu::threads;

use crate::Error;
use crate::field::{Field, invert, sum};
use crate::starts::Forms;
use crate::walk::{self, JUMPS, Jumps};

/// How many walks there are, and what they tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Groups of walks: threads of a device, a multiple of 128 there.
    pub groups: usize,
    /// Walks of a group.
    pub walks: usize,
    /// One of `2^bits` points is distinguished, where `bits` is at most 26.
    pub bits: u32,
    /// Distinguished points that a group has room for in a round.
    pub records: usize,
}

impl Shape {
    /// All walks.
    pub fn count(&self) -> usize {
        self.groups * self.walks
    }

    /// The bits that distinguish points.
    pub fn mask(&self) -> u32 {
        (1 << self.bits) - 1
    }

    /// The steps of a round after which half of a group's room is taken on the mean, within bounds.
    pub fn steps(&self, most: u32) -> u32 {
        let steps = (1u64 << self.bits) * self.records as u64 / (2 * self.walks as u64);
        u32::try_from(steps)
            .unwrap_or(u32::MAX)
            .clamp(8, most.max(8))
    }
}

/// A walk and the `x` of a distinguished point that it has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Told<const LIMBS: usize> {
    /// The walk's place among all.
    pub walk: usize,
    /// The form of `x`.
    pub x: [u32; LIMBS],
}

/// All walks.
pub trait Walkers<const LIMBS: usize>: Send + Sync {
    /// Begins a round of steps, for which a device does not let the caller wait.
    ///
    /// # Errors
    /// [`Error::Engine`] where a device fails.
    fn begin(&mut self, steps: u32) -> Result<(), Error>;

    /// Ends the round, and gives what the walks told in it.
    ///
    /// # Errors
    /// As for [`begin`](Walkers::begin).
    fn end(&mut self) -> Result<Vec<Told<LIMBS>>, Error>;

    /// Where all walks are between two rounds.
    ///
    /// # Errors
    /// As for [`begin`](Walkers::begin).
    fn points(&self) -> Result<Vec<Forms<LIMBS>>, Error>;

    /// Puts all walks somewhere between two rounds.
    ///
    /// # Errors
    /// As for [`begin`](Walkers::begin).
    fn put(&mut self, points: Vec<Forms<LIMBS>>) -> Result<(), Error>;
}

/// The jumps' forms.
#[derive(Clone, Debug)]
pub struct Table<const LIMBS: usize>(pub Vec<Forms<LIMBS>>);

impl<const LIMBS: usize> Jumps<LIMBS> for Table<LIMBS> {
    fn x(&self, jump: u32) -> [u32; LIMBS] {
        self.0[jump as usize][0]
    }
}

impl<const LIMBS: usize> Table<LIMBS> {
    /// The `y` of a jump.
    fn y(&self, jump: u32) -> [u32; LIMBS] {
        self.0[jump as usize][1]
    }
}

/// Walks on all cores.
#[derive(Clone, Debug)]
pub struct Cores<F, const LIMBS: usize> {
    field: F,
    jumps: Table<LIMBS>,
    shape: Shape,
    points: Vec<Forms<LIMBS>>,
    /// The steps of the round that has begun.
    steps: u32,
}

impl<F: Field<LIMBS>, const LIMBS: usize> Cores<F, LIMBS> {
    /// Walks at these points.
    pub fn new(field: &F, jumps: Table<LIMBS>, shape: Shape, points: Vec<Forms<LIMBS>>) -> Self {
        assert_eq!(points.len(), shape.count());
        Cores {
            field: field.clone(),
            jumps,
            shape,
            points,
            steps: 0,
        }
    }

    /// A round of one group.
    fn group(&self, points: &mut [Forms<LIMBS>], steps: u32) -> Vec<(usize, [u32; LIMBS])> {
        let mut told = Vec::new();
        // The walks that jump, and where; and all walks' `u - x`.
        let mut jumps = vec![None; points.len()];
        let mut runs = Vec::with_capacity(points.len());
        for step in 0..steps {
            runs.clear();
            for (at, jump) in jumps.iter_mut().enumerate() {
                // As the kernel does it, which takes the last walk first in every other step.
                let k = match step % 2 {
                    0 => points.len() - 1 - at,
                    _ => at,
                };
                let [x, _] = points[k];
                let is_told = walk::is_distinguished(x, self.shape.mask());
                let stays = is_told && told.len() == self.shape.records;
                if is_told && !stays {
                    told.push((k, x));
                }
                let (taken, u) = walk::chosen(&self.jumps, x);
                *jump = (!stays).then_some((k, [u, self.jumps.y(taken)]));
                runs.push(self.field.difference(u, x));
            }
            invert(&self.field, &mut runs);
            for (jump, &run) in jumps.iter().zip(&runs) {
                if let Some((k, jump)) = *jump {
                    points[k] = sum(&self.field, points[k], jump, run);
                }
            }
        }
        told
    }
}

impl<F: Field<LIMBS>, const LIMBS: usize> Walkers<LIMBS> for Cores<F, LIMBS> {
    fn begin(&mut self, steps: u32) -> Result<(), Error> {
        self.steps = steps;
        Ok(())
    }

    fn end(&mut self) -> Result<Vec<Told<LIMBS>>, Error> {
        let steps = std::mem::take(&mut self.steps);
        let mut points = std::mem::take(&mut self.points);
        let groups = points.chunks_mut(self.shape.walks).enumerate();
        let this = &*self;
        let told = bigint_cpu::map(groups, threads(), |(group, points)| {
            let first = group * this.shape.walks;
            let told = this.group(points, steps).into_iter();
            let told = told.map(|(k, x)| Told { walk: first + k, x });
            told.collect::<Vec<_>>()
        });
        self.points = points;
        Ok(told.concat())
    }

    fn points(&self) -> Result<Vec<Forms<LIMBS>>, Error> {
        Ok(self.points.clone())
    }

    fn put(&mut self, points: Vec<Forms<LIMBS>>) -> Result<(), Error> {
        self.points = points;
        Ok(())
    }
}

/// One walk alone, from its start: how often it takes each jump.
#[derive(Clone, Debug)]
pub struct Alone<'a, F, const LIMBS: usize> {
    field: &'a F,
    jumps: &'a Table<LIMBS>,
    /// Where it is.
    pub point: Forms<LIMBS>,
    /// How often it took each jump.
    pub taken: [u64; JUMPS as usize],
}

impl<'a, F: Field<LIMBS>, const LIMBS: usize> Alone<'a, F, LIMBS> {
    /// A walk at its start.
    pub fn new(field: &'a F, jumps: &'a Table<LIMBS>, start: Forms<LIMBS>) -> Self {
        Alone {
            field,
            jumps,
            point: start,
            taken: [0; JUMPS as usize],
        }
    }

    /// Takes a step.
    pub fn step(&mut self) {
        let [x, _] = self.point;
        let (jump, u) = walk::chosen(self.jumps, x);
        let run = self.field.inverse(self.field.difference(u, x));
        let jump_to = [u, self.jumps.y(jump)];
        self.point = sum(self.field, self.point, jump_to, run);
        self.taken[jump as usize] += 1;
    }
}
