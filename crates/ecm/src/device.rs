//! Stage 1 on the engine's devices: the kernels of `kernels/`, a thread for each curve.

use bigint_host::advanced::{Module, kernel_alone};
use bigint_host::{Batch, Engine, Layout, Limb, Shape};
use num_bigint::BigUint;
use rayon::prelude::*;

use crate::Error;

/// The kernels: what `cargo xtask build-ptx` makes of `kernels/`.
const PTX: &str = include_str!("../ecm.ptx");

/// The limbs of the numbers that there are kernels for.
const WIDTHS: [usize; 10] = [4, 8, 12, 16, 20, 24, 32, 48, 64, 72];

/// From so many limbs on the ladder has a thread's numbers in shared memory: six of them.
const IN_SHARED: usize = 20;

/// From so many limbs on numbers are computed with by digits, in shared memory: a program has four of them.
const IN_DIGITS: usize = 48;

/// Threads of a block.
const BLOCK: usize = 128;

/// Bits that a modulus leaves free.
const SPARE_BITS: u64 = 6;

/// The modulus's length in limbs as kernels take it, where one does.
pub fn width(n: &BigUint) -> Option<usize> {
    let fits = |&width: &usize| n.bits() + SPARE_BITS <= 32 * width as u64;
    WIDTHS.into_iter().find(fits)
}

/// The digits that a number of so many limbs has.
fn digits(width: usize) -> usize {
    match width {
        ..48 => 1,
        48..=64 => 2,
        _ => 3,
    }
}

/// What a kernel is told of the modulus, where it is one for all, and `words`; kernels by digits are told how many
/// digits there are beside.
pub fn scalars(n: &BigUint, width: usize, words: &[Limb]) -> Vec<Limb> {
    let mut scalars: Vec<Limb> = Vec::new();
    push(&mut scalars, n, width);
    push(&mut scalars, &(n << 1u8), width);
    scalars.extend(words);
    if width >= IN_DIGITS {
        scalars.push(digits(width) as Limb);
    }
    scalars
}

/// The layout of registers of so many limbs: kernels by digits fetch a digit of a thread at a time, others a limb
/// of each thread of a warp.
pub fn rows_layout(width: usize) -> Layout {
    match width {
        ..IN_DIGITS => Layout::Interleaved,
        _ => Layout::Contiguous,
    }
}

/// The kernel of programs over registers, of numbers of so many limbs modulo one number, and its name; `None` where
/// the engine has no device, or one whose blocks have too little shared memory.
pub fn program(engine: &Engine, width: usize) -> Result<Option<(Module, String)>, Error> {
    let numbers = if width >= IN_DIGITS { 4 } else { 0 };
    with_numbers(engine, format!("registers_{width}"), numbers * width)
}

/// One of the kernels, each of whose threads has so many limbs in shared memory.
fn with_numbers(
    engine: &Engine,
    kernel: String,
    limbs: usize,
) -> Result<Option<(Module, String)>, Error> {
    let bytes = (4 * limbs * BLOCK) as u32;
    let module = module(engine, &kernel)?;
    let module = module.filter(|module| bytes <= module.most_shared_bytes());
    Ok(module.map(|module| (module.with_shared_bytes(bytes), kernel)))
}

/// Ladders on the way.
#[derive(Clone)]
pub struct Ladders {
    engine: Engine,
    module: Module,
    kernel: String,
    n: BigUint,
    width: usize,
    /// `q u w v` of every curve, in Montgomery's form.
    state: Batch,
    sigma: Batch,
    scalar: Batch,
}

impl std::fmt::Debug for Ladders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ladders")
            .field("n", &self.n)
            .finish_non_exhaustive()
    }
}

impl Ladders {
    /// Begins with curves of these parameters; `None` where the engine has no device, or none that there is a
    /// kernel for so long a modulus for.
    pub fn new(
        engine: &Engine,
        n: &BigUint,
        sigmas: &[u32],
        scalar: &BigUint,
    ) -> Result<Option<Self>, Error> {
        let Some(width) = width(n) else {
            return Ok(None);
        };
        let numbers = if width >= IN_SHARED { 6 } else { 0 };
        let made = with_numbers(engine, format!("ladder_{width}"), numbers * width)?;
        let Some((module, kernel)) = made else {
            return Ok(None);
        };
        let form = |number: u64| (BigUint::from(number) << (32 * width)) % n;
        // 64 d R is 64 sigma R / 2^32.
        let (two, one, nine, eight) = (form(2), form(1), form(9), form(8));
        let d64 = (BigUint::from(64u8) << (32 * width - 32)) % n;
        let mut limbs = Vec::with_capacity(4 * width * sigmas.len());
        for &sigma in sigmas {
            let v = (&d64 * sigma + &eight) % n;
            for number in [&two, &one, &nine, &v] {
                push(&mut limbs, number, width);
            }
        }
        let state = rows(engine, limbs, 4 * width)?;
        let sigma = rows(engine, sigmas.to_vec(), 1)?;
        let bits = scalar.to_u32_digits();
        let length = bits.len();
        Ok(Some(Ladders {
            engine: engine.clone(),
            module,
            kernel,
            n: n.clone(),
            width,
            state,
            sigma,
            scalar: rows(engine, bits, length)?,
        }))
    }

    /// Walks the bits `from - 1` to `to`, and waits for it.
    pub fn walk(&mut self, from: usize, to: usize) -> Result<(), Error> {
        let scalars = scalars(&self.n, self.width, &[from as Limb, to as Limb, 2]);
        let operands = [&self.state, &self.sigma, &self.scalar];
        let made = self
            .module
            .launch(&self.kernel, &operands, &[4 * self.width], &scalars)?;
        self.state = made.into_iter().next().expect("one result");
        Ok(self.module.wait()?)
    }

    /// `q u w v` of every curve, multiplied by one number for all.
    pub fn state(&self) -> Result<Vec<Vec<BigUint>>, Error> {
        let rows = self.state.rows()?;
        let register = |i: usize| {
            let rows = rows.par_chunks_exact(4 * self.width);
            let of_row =
                |row: &[Limb]| BigUint::from_slice(&row[i * self.width..][..self.width]) % &self.n;
            rows.map(of_row).collect()
        };
        Ok((0..4).map(register).collect())
    }

    /// Goes on from a state.
    pub fn resume(&mut self, state: &[Vec<BigUint>]) -> Result<(), Error> {
        let count = self.sigma.len();
        let mut limbs = Vec::with_capacity(4 * self.width * count);
        for i in 0..count {
            for register in state {
                push(&mut limbs, &(&register[i] % &self.n), self.width);
            }
        }
        self.state = rows(&self.engine, limbs, 4 * self.width)?;
        Ok(())
    }
}

/// One of the kernels on every device of an engine; `None` where it has none. The driver is given
/// that kernel alone, as it would compile them all.
pub fn module(engine: &Engine, kernel: &str) -> Result<Option<Module>, Error> {
    let alone = kernel_alone(PTX, kernel).expect("there is a kernel for each width");
    Ok(engine.module(&alone)?)
}

/// A batch of numbers of one width.
pub fn rows(engine: &Engine, limbs: Vec<Limb>, width: usize) -> Result<Batch, Error> {
    let shape = Shape::new(limbs.len() / width, width, Layout::Contiguous);
    Ok(engine.batch_from_limbs(limbs, shape)?)
}

/// Appends a number's limbs, as many as are wanted.
pub fn push(limbs: &mut Vec<Limb>, number: &BigUint, width: usize) {
    let digits = number.to_u32_digits();
    let end = limbs.len() + width;
    limbs.extend(digits);
    limbs.resize(end, 0);
}
