#![doc = include_str!("../README.md")]

// The rooms, in the order in which a call walks: each uses those below it, and none above.

// Columns and lists of integers of any lengths, computed as batches.
mod integers;

// What is to be computed, before it is.
pub mod expression;

// The engine's methods on batches.
mod operations;

// Who computes, by which kernels, and how much of it.
pub mod plan;

// Launches on one device.
mod device;

// The CPU.
mod host;

// Batches and integers, and where their limbs are.
mod values;

// Devices, thresholds and memory that batches share.
mod engine;

// Measured thresholds, and their reader.
mod tuning;

// The driver of CUDA devices, which implements the trait of a device.
#[cfg(feature = "cuda")]
mod cuda;

// The kernels as PTX, and their specialisation.
mod kernels;

// Errors, options, jobs and limbs.
mod common;

pub use bigint_core::operation::{Cost, Flag, MOST_OPERANDS, Property, Signs, Syntax, Width};
pub use bigint_core::shape::INTERLEAVE;
pub use bigint_core::{
    Algorithm, LIMB_BITS, Layout, Level, Limb, MAX_WIDTH, Operation, Shape, Strides, WIDEST_COUNTED,
};
pub use common::back_end::{BackEnd, DeviceDescription, DeviceSet};
pub use common::error::{DeviceError, DeviceErrorKind, Error};
pub use common::options::Options;
pub use device::trial::TrialFactors;
pub use device::weighted::MersenneSquares;
pub use engine::ceilings::Ceilings;
pub use engine::handle::{Engine, devices};
pub use engine::start::exit_if_busy;
pub use integers::list::Computation;
pub use integers::on_integers::OnIntegers;
pub use integers::rationals::Rationals;
pub use integers::rows::Evaluation;
pub use integers::schedule::Prepared;
pub use kernels::ptx::{ptx, ptx_hashes};
pub use kernels::specialize::specialize;
pub use num_bigint::{BigInt, BigUint};
pub use operations::divisor::Divisor;
pub use operations::fixed_base::FixedBase;
pub use operations::forms::{Form, Outcome};
pub use operations::residues::{MontgomeryParams, Residues};
pub use tuning::cpu::CpuTuning;
pub use tuning::gpu::{
    AddTuning, CoreTuning, DevicesTuning, FewTuning, FusedTuning, LanesTuning, LimbwiseTuning,
    MersenneTuning, ModularTuning, MulTuning, Provenance, ScanTuning, StartTuning, Tuning,
};
pub use values::batch::Batch;
pub use values::integers::Integers;
pub use values::signed::SignedBatch;

#[doc = include_str!("../RECIPES.md")]
pub mod recipes {}
