#![doc = include_str!("../README.md")]

// The rooms, in the order in which a call walks: each uses those below it, and none above.

// Names of other rooms that few users need.
pub mod advanced;

// Product and remainder trees, and what they are for.
mod trees;

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
pub mod tuning;

// The driver of CUDA devices, which implements the trait of a device.
#[cfg(feature = "cuda")]
mod cuda;

// The kernels as PTX, and their specialisation.
mod kernels;

// Errors, options, jobs and limbs.
mod common;

// What users need first stands here; `advanced`, `plan` and `tuning` show the rest, which keeps its
// path here for code that has it.
pub use bigint_core::{Layout, Limb, Operation, Shape};
pub use common::error::Error;
pub use engine::handle::Engine;
pub use expression::Expression;
pub use integers::rationals::Rationals;
pub use num_bigint::{BigInt, BigUint};
pub use operations::column::Column;
pub use operations::primes::random::RandomPrimes;
pub use operations::residues::{MontgomeryParams, Residues};
pub use trees::batch_gcd::{BatchGcd, Common, Progress};
pub use trees::constants::Constant;
pub use trees::product_tree::ProductTree;
pub use values::batch::Batch;
pub use values::integers::Integers;
pub use values::signed::SignedBatch;

#[doc(hidden)]
pub use bigint_core::operation::{Cost, Flag, MOST_OPERANDS, Property, Signs, Syntax, Width};
#[doc(hidden)]
pub use bigint_core::shape::INTERLEAVE;
#[doc(hidden)]
pub use bigint_core::{Algorithm, LIMB_BITS, Level, MAX_WIDTH, Strides, WIDEST_COUNTED};
#[doc(hidden)]
pub use common::back_end::{BackEnd, DeviceDescription, DeviceSet};
#[doc(hidden)]
pub use common::error::{DeviceError, DeviceErrorKind};
pub use common::facts::Facts;
#[doc(hidden)]
pub use common::options::Options;
#[doc(hidden)]
pub use device::trial::TrialFactors;
#[doc(hidden)]
pub use device::weighted::{MersenneFactor, MersenneResidue, MersenneSquares};
#[doc(hidden)]
pub use engine::ceilings::Ceilings;
#[doc(hidden)]
pub use engine::handle::devices;
#[doc(hidden)]
pub use engine::start::{exit_if_busy, is_busy};
#[doc(hidden)]
pub use integers::list::Computation;
#[doc(hidden)]
pub use integers::rows::Evaluation;
#[doc(hidden)]
pub use integers::schedule::Prepared;
#[doc(hidden)]
pub use kernels::ptx::{ptx, ptx_hashes};
#[doc(hidden)]
pub use kernels::specialize::specialize;
#[doc(hidden)]
pub use operations::divisor::Divisor;
#[doc(hidden)]
pub use operations::fixed_base::FixedBase;
#[doc(hidden)]
pub use operations::forms::{Form, Outcome};
#[doc(hidden)]
pub use plan::cases::{Case, Extent};
#[doc(hidden)]
pub use tuning::cpu::CpuTuning;
#[doc(hidden)]
pub use tuning::decimals::DecimalsTuning;
#[doc(hidden)]
pub use tuning::gpu::{
    AddTuning, CoreTuning, DevicesTuning, EuclidTuning, FewTuning, FusedTuning, LanesTuning,
    LimbwiseTuning, MersenneTuning, ModularTuning, MulTuning, Provenance, RnsTuning, ScanTuning,
    StartTuning, Tuning,
};
#[doc(hidden)]
pub use values::collection::{Numbers, Scalar};

#[doc = include_str!("../RECIPES.md")]
pub mod recipes {}
