//! Who is measured: each runner holds one batch in its own form.

use std::ops::Range;

use anyhow::{Result, ensure};
use bigint_core::{Algorithm, Layout, Limb, Shape};
use bigint_cpu::{Cpu, Numbers, NumbersMut};
use bigint_host::{BigUint, Engine};
use rayon::prelude::*;

use crate::library::{Gmp, Library};
use crate::operands::{Op, Operands, equal, words};

/// One batch, ready to be computed with again and again.
pub trait Runner: Send {
    /// The name in records.
    fn name(&self) -> &'static str;
    /// Whether a call computes the whole batch, whatever range it is given.
    fn is_whole(&self) -> bool;
    /// Whether it can spread one number, or else only a batch, over threads.
    fn splits_a_number(&self) -> bool;
    /// Computes the numbers of `range`, on `threads` threads of the current pool.
    fn run(&mut self, op: Op, range: Range<usize>, threads: usize);
    /// The result for number 0 as 64-bit words, where there is one to check.
    fn first(&mut self, op: Op) -> Option<Vec<u64>>;
}

/// A batch of some library's numbers.
pub struct Batch<L: Library> {
    a: Vec<L::Number>,
    b: Vec<L::Number>,
    slots: Vec<L::Slot>,
}

impl<L: Library> Batch<L> {
    /// The operands as the library's numbers.
    pub fn new(operands: &Operands) -> Self {
        let width = operands.shape.width;
        let numbers = |limbs: &[Limb]| {
            limbs
                .chunks_exact(width)
                .map(|number| L::number(&words(number)))
                .collect()
        };
        Batch {
            a: numbers(&operands.a),
            b: numbers(&operands.b),
            slots: (0..operands.shape.count)
                .map(|_| L::slot(64 * width))
                .collect(),
        }
    }
}

impl<L: Library> Runner for Batch<L> {
    fn name(&self) -> &'static str {
        L::NAME
    }

    fn is_whole(&self) -> bool {
        false
    }

    fn splits_a_number(&self) -> bool {
        false
    }

    fn run(&mut self, op: Op, range: Range<usize>, threads: usize) {
        let piece = range.len().div_ceil(threads);
        let (a, b) = (&self.a[range.clone()], &self.b[range.clone()]);
        let slots = &mut self.slots[range];
        let compute = |((a, b), slot): ((&L::Number, &L::Number), &mut L::Slot)| {
            L::apply(op, a, b, slot);
        };
        if threads == 1 {
            a.iter().zip(b).zip(slots).for_each(compute);
        } else {
            a.par_iter()
                .zip(b)
                .zip(slots)
                .with_min_len(piece)
                .for_each(compute);
        }
    }

    fn first(&mut self, op: Op) -> Option<Vec<u64>> {
        Some(L::result(op, &self.a[0], &self.b[0]))
    }
}

impl Batch<Gmp> {
    /// Compares every number of `result` with GMP's.
    pub fn check(&self, op: Op, result: &[Limb], width: usize) -> Result<()> {
        let wrong = result
            .par_chunks_exact(width)
            .zip(&self.a)
            .zip(&self.b)
            .enumerate()
            .map_init(rug::Integer::new, |slot, (i, ((found, a), b))| {
                Gmp::apply(op, a, b, slot);
                (!equal(found, slot.as_limbs())).then_some(i)
            })
            .find_map_any(|wrong| wrong);
        ensure!(
            wrong.is_none(),
            "{} of number {} in {}: the engine and GMP disagree",
            op.name(),
            wrong.unwrap_or(0),
            result.len() / width
        );
        Ok(())
    }
}

/// The engine, through its public functions: conversions to and from whatever
/// digits it computes with are part of its time.
pub struct Ours {
    /// The path to take, with its thresholds.
    pub cpu: Cpu,
    operands: Operands,
    result: Vec<Limb>,
}

impl Ours {
    /// Takes the operands over.
    pub fn new(operands: Operands) -> Self {
        let widest = operands.shape.with_width(2 * operands.shape.width + 1);
        Ours {
            cpu: *Cpu::current(),
            result: vec![0; widest.limbs()],
            operands,
        }
    }

    /// The last result and its width.
    pub fn result(&self, op: Op) -> (&[Limb], usize) {
        let width = op.result_width(self.operands.shape.width);
        (&self.result[..self.operands.shape.count * width], width)
    }
}

impl Runner for Ours {
    fn name(&self) -> &'static str {
        "ours"
    }

    fn is_whole(&self) -> bool {
        true
    }

    fn splits_a_number(&self) -> bool {
        true
    }

    fn run(&mut self, op: Op, _range: Range<usize>, _threads: usize) {
        let Operands { shape, a, b } = &self.operands;
        let out = shape.with_width(op.result_width(shape.width));
        let computed = (|| {
            let a = Numbers::new(a, *shape)?;
            let b = Numbers::new(b, *shape)?;
            let r = NumbersMut::new(&mut self.result[..out.limbs()], out)?;
            match op {
                Op::Mul => self.cpu.mul(r, a, b, Algorithm::Auto),
                Op::Sqr => self.cpu.mul(r, a, a, Algorithm::Auto),
                Op::Add => self.cpu.add(r, a, b, None, Algorithm::Auto),
                Op::Sub => self.cpu.sub(r, a, b, None, Algorithm::Auto),
            }
        })();
        computed.expect("the shapes were made to fit");
    }

    fn first(&mut self, _op: Op) -> Option<Vec<u64>> {
        None
    }
}

/// The door that users take: from `BigUint`s to a batch, the operation, and back to
/// `BigUint`s, which exist already, as GMP's results do; all of it is timed.
pub struct Host {
    engine: Engine,
    a: Vec<BigUint>,
    b: Vec<BigUint>,
    r: Vec<BigUint>,
}

impl Host {
    /// The operands as users have them.
    pub fn new(operands: &Operands) -> Self {
        let numbers = |limbs: &[Limb]| {
            let numbers = limbs.chunks_exact(operands.shape.width);
            numbers.map(BigUint::from_slice).collect()
        };
        Host {
            engine: Engine::cpu(),
            a: numbers(&operands.a),
            b: numbers(&operands.b),
            r: Vec::new(),
        }
    }

    fn compute(&mut self, op: Op) -> Result<(), bigint_host::Error> {
        let engine = &self.engine;
        let a = engine.batch_from_biguints(&self.a)?;
        let r = if op == Op::Sqr {
            engine.mul(&a, &a)?
        } else {
            let b = engine.batch_from_biguints(&self.b)?;
            match op {
                Op::Mul | Op::Sqr => engine.mul(&a, &b)?,
                Op::Add => engine.add(&a, &b)?,
                Op::Sub => engine.sub(&a, &b)?,
            }
        };
        r.to_biguints_into(&mut self.r)
    }
}

impl Runner for Host {
    fn name(&self) -> &'static str {
        "host"
    }

    fn is_whole(&self) -> bool {
        true
    }

    fn splits_a_number(&self) -> bool {
        true
    }

    fn run(&mut self, op: Op, _range: Range<usize>, _threads: usize) {
        self.compute(op).expect("the operands go together");
        std::hint::black_box(&mut self.r);
    }

    fn first(&mut self, op: Op) -> Option<Vec<u64>> {
        self.compute(op).ok()?;
        Some(self.r.first()?.to_u64_digits())
    }
}

/// A copy that moves as many bytes as a linear operation on the batch: two
/// operands read, one result written. What it takes is what the memory takes.
pub struct Copy {
    from: Vec<Limb>,
    to: Vec<Limb>,
    width: usize,
    count: usize,
}

impl Copy {
    /// Buffers for batches of `shape`.
    pub fn new(shape: Shape) -> Self {
        debug_assert_eq!(shape.layout, Layout::Contiguous);
        let limbs = shape.count * (3 * shape.width + 1).div_ceil(2);
        Copy {
            from: vec![1; limbs],
            to: vec![0; limbs],
            width: shape.width,
            count: shape.count,
        }
    }
}

impl Runner for Copy {
    fn name(&self) -> &'static str {
        "copy"
    }

    fn is_whole(&self) -> bool {
        true
    }

    fn splits_a_number(&self) -> bool {
        true
    }

    fn run(&mut self, op: Op, _range: Range<usize>, threads: usize) {
        let moved = self.count * (2 * self.width + op.result_width(self.width));
        let limbs = moved.div_ceil(2).min(self.from.len());
        let (from, to) = (&self.from[..limbs], &mut self.to[..limbs]);
        if threads == 1 {
            to.copy_from_slice(from);
        } else {
            let piece = limbs.div_ceil(threads);
            to.par_chunks_mut(piece)
                .zip(from.par_chunks(piece))
                .for_each(|(to, from)| to.copy_from_slice(from));
        }
        std::hint::black_box(&mut self.to);
    }

    fn first(&mut self, _op: Op) -> Option<Vec<u64>> {
        None
    }
}
