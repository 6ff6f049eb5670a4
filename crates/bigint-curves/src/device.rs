//! Verdicts by the engine's devices: the kernels of `kernels/`, a thread for each signature.

use crate::ecdsa::{self, P256, Secp256k1};
use crate::shared::rows;
use crate::shared::weierstrass::Verdict;
use crate::{Curve, ed25519};
use bigint_host::advanced::{Module, kernel_alone};
use bigint_host::{BackEnd, Batch, Engine, Error, Layout, Limb, Shape};

/// The kernels: what `cargo xtask build-ptx` makes of `kernels/`.
const PTX: &str = include_str!("../curves.ptx");

/// Threads of a block.
const BLOCK: u32 = 128;

/// Shared memory of a block: a number for each thread.
const SHARED_BYTES: u32 = BLOCK * 32;

/// Blocks for which the driver's compiler is to leave room on a multiprocessor, by the registers that it takes. Left to itself it takes
/// 214 and more of them, and there is room for two blocks, too few to hide what a warp waits for.
const BLOCKS: u32 = 3;

/// The kernel of a curve on every device of an engine.
#[derive(Clone)]
pub struct Device {
    engine: Engine,
    module: Module,
    kernel: &'static str,
    /// Limbs of a signature's row.
    width: usize,
    /// The generator's table.
    table: Batch,
}

impl Device {
    /// The kernel of a curve; `None` if the engine has no device.
    pub fn new(engine: &Engine, curve: Curve) -> Result<Option<Self>, Error> {
        if engine.back_end() == BackEnd::Cpu {
            return Ok(None);
        }
        let (kernel, width, table): (_, _, fn() -> Vec<Limb>) = match curve {
            Curve::Secp256k1 => ("secp256k1", rows::ECDSA, ecdsa::device_table::<Secp256k1>),
            Curve::P256 => ("p256", rows::ECDSA, ecdsa::device_table::<P256>),
            Curve::Ed25519 => ("ed25519", rows::ED25519, ed25519::device_table),
        };
        let ptx = kernel_alone(PTX, kernel).expect("there is a kernel for each curve");
        let bounds = format!(")\n.maxntid {BLOCK}, 1, 1\n.minnctapersm {BLOCKS}\n{{");
        let Some(module) = engine.module(&ptx.replacen(")\n{", &bounds, 1))? else {
            return Ok(None);
        };
        let table = table();
        let shape = Shape::new(1, table.len(), Layout::Contiguous);
        let table = engine.batch_from_limbs(table, shape)?;
        Ok(Some(Device {
            engine: engine.clone(),
            module: module.with_shared_bytes(SHARED_BYTES),
            kernel,
            width: width as usize,
            table,
        }))
    }

    /// Limbs of a signature's row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Memory for so many rows, with any content.
    pub fn rows(&self, signatures: usize) -> Result<Vec<Limb>, Error> {
        self.engine.memory(signatures * self.width)
    }

    /// Begins with the verdicts of rows, a limb for each ([`verdict_of`]).
    pub fn launch(&self, rows: Vec<Limb>) -> Result<Batch, Error> {
        let shape = Shape::new(rows.len() / self.width, self.width, Layout::Contiguous);
        let rows = self.engine.batch_from_limbs(rows, shape)?;
        let made = self
            .module
            .launch(self.kernel, &[&rows, &self.table], &[1], &[])?;
        Ok(made.into_iter().next().expect("one result"))
    }
}

/// The verdict that a limb is.
pub fn verdict_of(limb: Limb) -> Verdict {
    match limb {
        0 => Verdict::NoPoint,
        1 => Verdict::Mismatch,
        2 => Verdict::Valid,
        _ => Verdict::Undecided,
    }
}
