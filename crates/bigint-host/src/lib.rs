#![doc = include_str!("../README.md")]

mod back_end;
mod batch;
mod bins;
mod ceilings;
mod collection;
mod column;
mod compute;
mod cpu_tuning;
#[cfg_attr(not(feature = "cuda"), path = "no_cuda.rs")]
mod cuda;
mod cyclic;
mod division;
mod divisor;
mod elementary;
mod engine;
mod error;
pub mod expression;
mod fixed_base;
mod gather;
mod grid;
mod inner;
mod integers;
mod into;
mod job;
mod keys;
mod lanes_tuning;
mod limbs;
mod list;
mod made;
mod members;
mod modular_tuning;
mod narrow;
mod node;
mod ntt;
mod on_device;
mod on_host;
mod on_integers;
mod operations;
mod options;
mod passing;
mod pieces;
pub mod plan;
mod pool;
mod power;
mod preconditions;
mod primes;
mod ptx;
mod rationals;
mod reduce;
mod residues;
mod rows;
mod schedule;
mod segments;
mod shifts;
mod short;
mod signed;
mod spread;
mod start;
mod task;
mod total;
mod transform;
mod transform_tuning;
mod trial;
mod tuning;
mod weighted;
mod whole_product;

pub use back_end::{BackEnd, DeviceDescription, DeviceSet};
pub use batch::Batch;
pub use bigint_core::operation::{Flag, MOST_OPERANDS, Signs, Syntax, Width};
pub use bigint_core::shape::INTERLEAVE;
pub use bigint_core::{
    Algorithm, LIMB_BITS, Layout, Level, Limb, MAX_WIDTH, Operation, Shape, Strides, WIDEST_COUNTED,
};
pub use ceilings::Ceilings;
pub use cpu_tuning::CpuTuning;
pub use divisor::Divisor;
pub use engine::{Engine, devices};
pub use error::{DeviceError, DeviceErrorKind, Error};
pub use fixed_base::FixedBase;
pub use integers::Integers;
pub use lanes_tuning::LanesTuning;
pub use list::Computation;
pub use modular_tuning::{FewTuning, ModularTuning};
pub use num_bigint::{BigInt, BigUint};
pub use on_integers::OnIntegers;
pub use operations::{Form, Outcome};
pub use options::Options;
pub use plan::choose::{CoreTuning, StartTuning};
pub use ptx::ptx_hashes;
pub use rationals::Rationals;
pub use residues::{MontgomeryParams, Residues};
pub use schedule::Prepared;
pub use signed::SignedBatch;
pub use start::exit_if_busy;
pub use trial::TrialFactors;
pub use tuning::{
    AddTuning, DevicesTuning, FusedTuning, LimbwiseTuning, MulTuning, Provenance, ScanTuning,
    Tuning,
};
pub use weighted::MersenneSquares;

#[doc = include_str!("../RECIPES.md")]
pub mod recipes {}
