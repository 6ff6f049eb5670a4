//! The launches by which a device computes a job, as `plan` chose them.

use crate::device::transform::Transform;
use bigint_core::kernel::EntryPoint;
use bigint_core::rns::RnsPlan;
use bigint_core::specialization::{PowerInResidues, Specialization};
use bigint_core::transform::rings::RingPlan;
use bigint_core::{Kernel, Launch, Operation};

/// The launches of a job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launches {
    /// The operation whose kernels compute the job. It is not the job's where a square is computed
    /// as a product, or a product as a square.
    pub operation: Operation,
    /// The indices of the job's operands that these kernels take; empty for all in their order.
    pub operands: &'static [usize],
    pub by: By,
    /// Whether a kernel is compiled for the operands' widths alone.
    pub is_for_widths: bool,
}

/// The kinds of launches: one kernel, or several launches on the whole device.
#[derive(Clone, Copy, Debug)]
pub(crate) enum By {
    Kernel(&'static Kernel, Launch),
    Transform(Transform),
    /// Powers in residue number systems. The kernel computes what both bases refuse.
    Residues(Residues, &'static Kernel, Launch),
    /// Montgomery products, and powers, modulo numbers wider than kernels hold.
    Montgomery(Montgomery),
}

/// What computes products or squares of some width: a kernel, compiled for their widths alone or not, or a
/// transform.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Multiplier {
    Kernel(&'static Kernel, bool),
    Transform(Transform),
}

/// Montgomery products made of products.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Montgomery {
    pub square: Multiplier,
    pub product: Multiplier,
    /// For the lower halves of products.
    pub low: Multiplier,
    /// Whether entries of tables are picked by masks, else by the digits of exponents.
    pub scans: bool,
    /// Whether a few lanes each subtract modulo numbers in one pass, else whole warps in three.
    pub is_scanned: bool,
    /// What computes powers instead where moduli allow it.
    pub rings: Option<RingPlan>,
}

/// Powers in residue number systems.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Residues {
    /// For moduli of their width.
    pub plan: RnsPlan,
    /// Powers of which a product is computed, 1 or 2, or [`TABLE`](bigint_core::rns::TABLE).
    pub bases: u32,
    /// Whether tables are read whole.
    pub scans: bool,
    /// The numbers that fill the device, of which there is a block for each multiprocessor.
    pub wave: Option<usize>,
}

impl Residues {
    /// What is known of the launch of one of the kernels.
    pub fn specialization(self, entry: EntryPoint) -> Specialization {
        let Residues { bases, scans, .. } = self;
        match entry == self.plan.form().entry {
            true => Specialization::PowerInResidues(PowerInResidues { bases, scans }),
            false => Specialization::None,
        }
    }
}
