//! Stage 1 on the engine's devices: the kernels of `kernels/`, a thread or some lanes for each curve.

use bigint_host::advanced::{BackEnd, Module, devices, kernel_alone};
use bigint_host::{Batch, Engine, Layout, Limb, Shape};
use num_bigint::BigUint;
use rayon::prelude::*;

use crate::machine::Machine;
use crate::registers::{Column, Registers};
use crate::{Error, Family, edwards};

/// The kernels: what `cargo xtask build-ptx` makes of `kernels/`.
const PTX: &str = include_str!("../ecm.ptx");

/// The limbs of the numbers that there are kernels for.
const WIDTHS: [usize; 14] = [4, 8, 12, 16, 20, 24, 32, 48, 64, 72, 96, 144, 192, 288];

/// From so many limbs on stage 1 has a thread's numbers in shared memory: six of them.
const IN_SHARED: usize = 20;

/// From so many limbs on lanes of a warp share a number.
const BY_LANES: usize = 48;

/// Threads of a block.
const BLOCK: usize = 128;

/// Bits that a modulus leaves free.
const SPARE_BITS: u64 = 6;

/// The modulus's length in limbs as kernels take it, where one does.
pub fn width(n: &BigUint) -> Option<usize> {
    let fits = |&width: &usize| n.bits() + SPARE_BITS <= 32 * width as u64;
    WIDTHS.into_iter().find(fits)
}

/// How many points on Edwards curves, with tables of so wide a window, half of the devices' memory has room for; any number
/// where there is no kernel for them.
pub fn room_for_edwards(engine: &Engine, n: &BigUint, window: u32) -> Result<usize, Error> {
    match width(n) {
        Some(width) => room(engine, 4 * width * usize::from(edwards::registers(window))),
        None => Ok(usize::MAX),
    }
}

/// The lanes that share a number of so many limbs.
fn lanes(width: usize) -> usize {
    match width {
        ..BY_LANES => 1,
        BY_LANES..=64 => 2,
        65..=96 => 4,
        97..=192 => 8,
        _ => 16,
    }
}

/// The blocks of a multiprocessor that a kernel of a family is to leave room for, where its compiler is not left to
/// choose. Lanes have as many in registers as in shared memory. Threads have four where it would be three: with three
/// warps, or five, for each of a multiprocessor's schedulers products take a tenth longer than with four.
fn blocks(family: &str, width: usize) -> Option<usize> {
    match (family, width) {
        _ if lanes(width) > 1 => Some(match width / lanes(width) {
            ..=18 => 4,
            19..=24 => 3,
            _ => 2,
        }),
        ("registers", 12 | 16 | 20) | ("edwards", 12) => Some(4),
        _ => None,
    }
}

/// What a kernel is told of the modulus, where it is one for all, and `words`.
pub fn scalars(n: &BigUint, width: usize, words: &[Limb]) -> Vec<Limb> {
    let mut scalars: Vec<Limb> = Vec::new();
    push(&mut scalars, n, width);
    push(&mut scalars, &(n << 1u8), width);
    scalars.extend(words);
    scalars
}

/// Whether lanes share a number of so many limbs.
pub fn is_by_lanes(width: usize) -> bool {
    lanes(width) > 1
}

/// The kernel of programs over registers, of numbers of so many limbs modulo one number, and its name; `None` where
/// the engine has no device.
pub fn program(engine: &Engine, width: usize) -> Result<Option<(Module, String)>, Error> {
    of_width(engine, "registers", width, 0)
}

/// The kernel of a family for numbers of so many limbs, which has some of them in shared memory; `None` where the engine has
/// no device, or one whose blocks have too little of that.
fn of_width(
    engine: &Engine,
    family: &str,
    width: usize,
    in_shared: usize,
) -> Result<Option<(Module, String)>, Error> {
    let (kernel, lanes) = (format!("{family}_{width}"), lanes(width));
    let bytes = (4 * in_shared * width / lanes * BLOCK) as u32;
    let mut ptx = alone(&kernel);
    if let Some(blocks) = blocks(family, width) {
        let bounds = format!(")\n.maxntid {BLOCK}, 1, 1\n.minnctapersm {blocks}\n{{");
        ptx = ptx.replacen(")\n{", &bounds, 1);
    }
    let module = engine.module(&ptx)?;
    let module = module.filter(|module| bytes <= module.most_shared_bytes());
    let module = module.map(|module| module.with_shared_bytes(bytes).with_lanes(lanes as u32));
    Ok(module.map(|module| (module, kernel)))
}

/// A kernel of stage 1 modulo a number.
pub struct Kernel {
    engine: Engine,
    module: Module,
    name: String,
    n: BigUint,
    width: usize,
}

impl Kernel {
    /// The kernel of a family; `None` where the engine has no device, or none that there is a kernel for so long a
    /// modulus for.
    pub fn new(engine: &Engine, n: &BigUint, family: Family) -> Result<Option<Self>, Error> {
        let Some(width) = width(n) else {
            return Ok(None);
        };
        let family = match family {
            Family::Param3 => "ladder",
            Family::Edwards => "edwards",
        };
        let numbers = if width >= IN_SHARED { 6 } else { 0 };
        let made = of_width(engine, family, width, numbers)?;
        Ok(made.map(|(module, name)| Kernel {
            engine: engine.clone(),
            module,
            name,
            n: n.clone(),
            width,
        }))
    }

    /// How many curves devices walk at once; `None` where a driver does not tell.
    pub fn wave(&self) -> Result<Option<usize>, Error> {
        let wave = self.module.numbers_at_once(&self.name)?;
        Ok(wave.filter(|&wave| wave > 0))
    }
}

/// Stage 1 of curves, on the way.
pub struct Walks {
    kernel: Kernel,
    /// The registers that points began with, and tables.
    registers: Machine,
    /// Four numbers of every curve, in Montgomery's form: `q u w v` of a ladder, `X Y Z T` of an Edwards curve.
    state: Batch,
    /// What each curve has to itself, its sigma or its table, and the steps of all.
    of_curve: Batch,
    steps: Batch,
}

impl std::fmt::Debug for Walks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Walks")
            .field("n", &self.kernel.n)
            .finish_non_exhaustive()
    }
}

impl Walks {
    /// Begins ladders with curves of these parameters. Their steps are the scalar's bits. `None` where there is no kernel for that.
    pub fn ladders(
        kernel: Kernel,
        sigmas: &[u32],
        scalar: &BigUint,
    ) -> Result<Option<Self>, Error> {
        let Kernel { engine, n, .. } = &kernel;
        // (2 : 1), and (9 : 64 d + 8) for d = sigma / 2^32.
        let of_scale = (BigUint::from(1u8) << 32u8)
            .modinv(n)
            .expect("an odd number");
        let d64 = of_scale * 64u8 % n;
        let of_sigma = |&sigma: &u32| (&d64 * sigma + 8u8) % n;
        let columns = [
            Column::all(2u8),
            Column::all(1u8),
            Column::all(9u8),
            Column::each(sigmas.par_iter().map(of_sigma).collect()),
        ];
        let Some(registers) = Machine::new(engine, n, 4, sigmas.len(), &columns)? else {
            return Ok(None);
        };
        let bits = scalar.to_u32_digits();
        let length = bits.len();
        Ok(Some(Walks {
            state: registers.rows(),
            registers,
            of_curve: rows(engine, sigmas.to_vec(), 1)?,
            steps: rows(engine, bits, length)?,
            kernel,
        }))
    }

    /// Begins with points on Edwards curves, of which there are tables for these digits.
    pub fn edwards(
        kernel: Kernel,
        registers: Registers,
        digits: &[(u32, i32)],
    ) -> Result<Self, Error> {
        let Registers::Device(registers) = registers else {
            unreachable!("registers of devices")
        };
        let limbs = digits.iter().flat_map(|&(doublings, digit)| {
            let code = match digit {
                0 => 0,
                _ => 2 * Limb::from(edwards::entry(digit)) + 1 + Limb::from(digit < 0),
            };
            [doublings, code]
        });
        Ok(Walks {
            state: registers.columns(&edwards::POINT)?,
            of_curve: registers.rows(),
            registers: *registers,
            steps: rows(&kernel.engine, limbs.collect(), 2 * digits.len())?,
            kernel,
        })
    }

    /// The registers, of which the first four are those of the points as they are now.
    pub fn into_registers(mut self) -> Registers {
        self.registers.set_last(self.state);
        Registers::Device(Box::new(self.registers))
    }

    /// Walks a ladder's bits `from - 1` down to `to`, or the digits `from` up to `to - 1`, and waits for it.
    pub fn walk(&mut self, from: usize, to: usize) -> Result<(), Error> {
        let Kernel {
            module,
            name,
            n,
            width,
            ..
        } = &self.kernel;
        let scalars = scalars(n, *width, &[from as Limb, to as Limb, 2]);
        let operands = [&self.state, &self.of_curve, &self.steps];
        let made = module.launch(name, &operands, &[4 * width], &scalars)?;
        self.state = made.into_iter().next().expect("one result");
        Ok(self.kernel.module.wait()?)
    }

    /// The four numbers of every curve.
    pub fn state(&self) -> Result<Vec<Vec<BigUint>>, Error> {
        let mut registers = self.registers.clone();
        registers.set_last(self.state.clone());
        (0..4).map(|register| registers.get(register)).collect()
    }

    /// Goes on from a state.
    pub fn resume(&mut self, state: &[Vec<BigUint>]) -> Result<(), Error> {
        let columns: Vec<_> = state.iter().cloned().map(Column::each).collect();
        let Kernel { engine, n, .. } = &self.kernel;
        let begun = Machine::new(engine, n, 4, self.state.len(), &columns)?;
        self.state = begun.expect("a kernel, as before").rows();
        Ok(())
    }
}

/// How many rows of so many bytes half of the memory of an engine's devices has room for, where each has as many.
pub fn room(engine: &Engine, bytes: usize) -> Result<usize, Error> {
    let BackEnd::Cuda(set) = engine.back_end() else {
        return Ok(0);
    };
    let described = devices().map_err(bigint_host::Error::from)?;
    let mine = described
        .into_iter()
        .flatten()
        .filter(|device| set.ordinals().any(|ordinal| ordinal == device.ordinal));
    let least = mine.map(|device| device.memory_bytes / 2).min();
    Ok(least.unwrap_or(0) / bytes * set.ordinals().count())
}

/// One of the kernels on every device of an engine; `None` where it has none. The driver is given
/// that kernel alone, as it would compile them all.
pub fn module(engine: &Engine, kernel: &str) -> Result<Option<Module>, Error> {
    Ok(engine.module(&alone(kernel))?)
}

/// The PTX of one of the kernels.
fn alone(kernel: &str) -> String {
    kernel_alone(PTX, kernel).expect("there is a kernel for each width")
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
