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

/// Blocks for which the driver's compiler is to leave room on a multiprocessor, by the registers that it takes. Left to itself it takes
/// 214 and more of them, and there is room for two blocks, too few to hide what a warp waits for.
const BLOCKS: u32 = 3;

/// The kernel of a curve on every device of an engine.
#[derive(Clone)]
pub struct Device {
    engine: Engine,
    /// The kernel that makes factors of rows, for ECDSA.
    factors: Option<(Module, &'static str)>,
    module: Module,
    kernel: &'static str,
    /// Limbs of a signature's row.
    width: usize,
    /// The generator's table.
    table: Batch,
}

impl Device {
    /// The kernels of a curve; `None` if the engine has no device.
    pub fn new(engine: &Engine, curve: Curve) -> Result<Option<Self>, Error> {
        if engine.back_end() == BackEnd::Cpu {
            return Ok(None);
        }
        let (kernel, factors, width, table): (_, _, _, fn() -> Vec<Limb>) = match curve {
            Curve::Secp256k1 => (
                "secp256k1",
                Some("secp256k1_factors"),
                rows::ECDSA,
                ecdsa::device_table::<Secp256k1>,
            ),
            Curve::P256 => (
                "p256",
                Some("p256_factors"),
                rows::ECDSA,
                ecdsa::device_table::<P256>,
            ),
            Curve::Ed25519 => ("ed25519", None, rows::ED25519, ed25519::device_table),
        };
        let alone = |kernel| kernel_alone(PTX, kernel).expect("there are kernels for each curve");
        let bounds = format!(")\n.maxntid {BLOCK}, 1, 1\n.minnctapersm {BLOCKS}\n{{");
        let bounded = alone(kernel).replacen(")\n{", &bounds, 1);
        let Some(module) = engine.module(&bounded)? else {
            return Ok(None);
        };
        let factors = match factors {
            Some(kernel) => engine
                .module(&alone(kernel))?
                .map(|module| (module, kernel)),
            None => None,
        };
        let table = table();
        let shape = Shape::new(1, table.len(), Layout::Contiguous);
        let table = engine.batch_from_limbs(table, shape)?;
        Ok(Some(Device {
            engine: engine.clone(),
            factors,
            module: module.with_lanes(rows::GROUP),
            kernel,
            width: width as usize,
            table,
        }))
    }

    /// Limbs of a signature's row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Memory for so many rows and for those that are missing to whole groups, one behind the other, with any content.
    pub fn rows(&self, signatures: usize) -> Result<Vec<Limb>, Error> {
        let rows = signatures.next_multiple_of(rows::GROUP as usize);
        self.engine.memory(rows * self.width)
    }

    /// Begins with the verdicts of rows of whole groups, a limb for each ([`verdict_of`]).
    pub fn launch(&self, rows: Vec<Limb>) -> Result<Batch, Error> {
        let group = rows::GROUP as usize;
        let width = group * self.width;
        let shape = Shape::new(rows.len() / width, width, Layout::Contiguous);
        let batch = self.engine.batch_from_limbs(rows, shape)?;
        let only = |made: Vec<Batch>| made.into_iter().next().expect("one result");
        let mut operands = vec![&batch, &self.table];
        let factors;
        if let Some((module, kernel)) = &self.factors {
            let width = group * rows::FACTORS as usize;
            factors = only(module.launch(kernel, &[&batch], &[width], &[])?);
            operands.push(&factors);
        }
        Ok(only(self.module.launch(
            self.kernel,
            &operands,
            &[group],
            &[],
        )?))
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
