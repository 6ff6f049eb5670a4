//! Thresholds: measured data in files, and their reader.
//!
//! Every table names its machine, its date and how it was measured. [`gpu`] is the table of the
//! kernels, of which one ships in `tuning/` and users may read another; [`cpu`] is the table of the
//! CPU's algorithms, which `bigint tune` writes.

pub(crate) mod cpu;
pub(crate) mod gpu;
pub(crate) mod lanes;
pub(crate) mod modular;
pub(crate) mod start;
pub(crate) mod transforms;
