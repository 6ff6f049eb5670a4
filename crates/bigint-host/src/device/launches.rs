//! How a device computes a job: what `plan` chose, as this room carries it out.

use crate::device::transform::Transform;
use bigint_core::{Kernel, Launch, Operation};

/// By which launches a device computes a job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launches {
    /// The operation whose kernels compute the job: another than the job's where a square is
    /// computed as a product, or a product as a square.
    pub operation: Operation,
    /// The indices of the job's operands that these kernels take; all in their order where there
    /// are none.
    pub operands: &'static [usize],
    pub by: By,
}

/// How kernels compute a job: by one launch, or by several of the whole device.
#[derive(Clone, Copy, Debug)]
pub(crate) enum By {
    Kernel(&'static Kernel, Launch),
    Transform(Transform),
}
