//! Walks on a device: the kernels of `kernels/`, a thread for each group.

use bigint_host::advanced::{Module, kernel_alone};
use bigint_host::{Batch, Engine, Layout, Limb, Shape as Rows};

use crate::Error;
use crate::field::Field;
use crate::starts::Forms;
use crate::walk::{HEAD, JUMPS};
use crate::walkers::{Shape, Table, Told, Walkers};

/// The kernels: what `cargo xtask build-ptx` makes of `kernels/`.
const PTX: &str = include_str!("../discrete_logarithm.ptx");

/// Threads of a block.
const BLOCK: usize = 128;

/// Walks on one device.
#[derive(Clone)]
pub struct Device<const LIMBS: usize> {
    engine: Engine,
    module: Module,
    kernel: &'static str,
    /// What the kernel is told of the field.
    scalars: Vec<Limb>,
    shape: Shape,
    /// The walks of each thread as the kernel has them.
    state: Batch,
    /// The jumps.
    table: Batch,
    /// What the walks tell in the round that has begun.
    told: Option<Batch>,
}

impl<const LIMBS: usize> Device<LIMBS> {
    /// Groups of four limbs of a walk: `x`, `y` and the kernel's own.
    const FOURS: usize = 3 * LIMBS / 4;

    /// Walks at these points; `None` where the engine has no device. The driver's compiler is asked to have so many blocks
    /// at once on a multiprocessor.
    ///
    /// # Errors
    /// [`Error::Walks`] where groups make no whole blocks; [`Error::Engine`].
    pub fn new<F: Field<LIMBS>>(
        engine: &Engine,
        field: &F,
        jumps: &Table<LIMBS>,
        shape: Shape,
        points: Vec<Forms<LIMBS>>,
        blocks: u32,
    ) -> Result<Option<Self>, Error> {
        if !shape.groups.is_multiple_of(BLOCK) {
            return Err(Error::Walks(format!(
                "{} groups of walks: a device takes a multiple of {BLOCK}",
                shape.groups
            )));
        }
        let kernel = field.kernel();
        let alone = kernel_alone(PTX, kernel).expect("there is a kernel for each field");
        // What stands before a kernel's body bounds its registers.
        let bound = format!(")\n.maxntid {BLOCK}, 1, 1\n.minnctapersm {blocks}\n{{");
        let Some(module) = engine.module(&alone.replacen(")\n{", &bound, 1))? else {
            return Ok(None);
        };
        let table: Vec<Limb> = jumps.0.iter().flatten().flatten().copied().collect();
        let fours_in_shared = (3 * JUMPS as usize + 4 * BLOCK) * LIMBS / 4;
        let mut device = Device {
            engine: engine.clone(),
            module: module.with_shared_bytes(16 * fours_in_shared as u32),
            kernel,
            scalars: field.scalars(),
            shape,
            state: rows(engine, Vec::new(), 4 * Self::FOURS * shape.walks)?,
            table: rows(engine, table.clone(), table.len())?,
            told: None,
        };
        device.put(points)?;
        Ok(Some(device))
    }

    /// Calls for each walk with the places of the groups of four limbs of its point.
    fn each(&self, mut call: impl FnMut(usize, [usize; 2])) {
        let of_thread = Self::FOURS * self.shape.walks;
        for walk in 0..self.shape.count() {
            let (thread, k) = (walk / self.shape.walks, walk % self.shape.walks);
            // The groups of a block's threads stand side by side.
            let block = thread / BLOCK * BLOCK * of_thread;
            let at = |group: usize| block + (Self::FOURS * k + group) * BLOCK + thread % BLOCK;
            call(walk, [at(0), at(LIMBS / 4)]);
        }
    }
}

/// A batch of numbers of one width.
fn rows(engine: &Engine, limbs: Vec<Limb>, width: usize) -> Result<Batch, Error> {
    let shape = Rows::new(limbs.len() / width, width, Layout::Contiguous);
    Ok(engine.batch_from_limbs(limbs, shape)?)
}

impl<const LIMBS: usize> Walkers<LIMBS> for Device<LIMBS> {
    fn begin(&mut self, steps: u32) -> Result<(), Error> {
        let Shape { walks, records, .. } = self.shape;
        let mut scalars = self.scalars.clone();
        scalars.extend([steps, walks as u32, self.shape.mask(), records as u32]);
        let record = HEAD as usize + LIMBS;
        let widths = [4 * Self::FOURS * walks, record * records];
        let operands = [&self.state, &self.table];
        let made = self
            .module
            .launch(self.kernel, &operands, &widths, &scalars)?;
        let [state, told] =
            <[Batch; 2]>::try_from(made).unwrap_or_else(|_| unreachable!("two results"));
        (self.state, self.told) = (state, Some(told));
        Ok(())
    }

    fn end(&mut self) -> Result<Vec<Told<LIMBS>>, Error> {
        let told = self.told.take().map(Batch::into_rows).transpose()?;
        let told = told.unwrap_or_default();
        let record = HEAD as usize + LIMBS;
        let Shape { walks, .. } = self.shape;
        let records = told.chunks_exact(record).enumerate();
        let records = records.filter(|(_, record)| record[0] != 0);
        Ok(records
            .map(|(at, record)| Told {
                walk: at / self.shape.records * walks + record[0] as usize - 1,
                x: std::array::from_fn(|i| record[HEAD as usize + i]),
            })
            .collect())
    }

    fn points(&self) -> Result<Vec<Forms<LIMBS>>, Error> {
        let limbs = self.state.rows()?;
        let mut points = Vec::with_capacity(self.shape.count());
        self.each(|_, places| {
            points.push(
                places.map(|place| {
                    std::array::from_fn(|i| limbs[4 * (place + i / 4 * BLOCK) + i % 4])
                }),
            );
        });
        Ok(points)
    }

    fn put(&mut self, points: Vec<Forms<LIMBS>>) -> Result<(), Error> {
        let width = 4 * Self::FOURS * self.shape.walks;
        let mut limbs = vec![0; width * self.shape.groups];
        self.each(|walk, places| {
            for (place, coordinate) in places.into_iter().zip(points[walk]) {
                for (i, limb) in coordinate.into_iter().enumerate() {
                    limbs[4 * (place + i / 4 * BLOCK) + i % 4] = limb;
                }
            }
        });
        self.state = rows(&self.engine, limbs, width)?;
        Ok(())
    }
}
