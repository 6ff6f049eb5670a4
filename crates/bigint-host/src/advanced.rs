//! What few users need: forcing back ends and algorithms, operations as data, devices, kernels, and
//! special computations.

pub use crate::common::back_end::{BackEnd, DeviceDescription, DeviceSet};
pub use crate::common::error::{DeviceError, DeviceErrorKind};
pub use crate::common::options::Options;
pub use crate::device::module::Module;
pub use crate::device::trial::TrialFactors;
pub use crate::device::weighted::MersenneSquares;
pub use crate::engine::ceilings::Ceilings;
pub use crate::engine::handle::devices;
pub use crate::engine::start::{exit_if_busy, is_busy};
pub use crate::integers::list::Computation;
pub use crate::integers::rows::Evaluation;
pub use crate::integers::schedule::Prepared;
pub use crate::kernels::alone::kernel_alone;
pub use crate::kernels::ptx::{ptx, ptx_hashes};
pub use crate::kernels::specialize::specialize;
pub use crate::operations::divisor::Divisor;
pub use crate::operations::fixed_base::FixedBase;
pub use crate::operations::forms::{Form, Outcome};
pub use crate::operations::kernel::{Kernel, Work};
pub use crate::values::collection::{Numbers, Scalar};
pub use crate::values::lent::DeviceLimbs;
pub use crate::values::number::{BadNumber, Number, Unread};
pub use bigint_core::operation::{Cost, Flag, MOST_OPERANDS, Property, Signs, Syntax, Width};
pub use bigint_core::shape::INTERLEAVE;
pub use bigint_core::{Algorithm, LIMB_BITS, Level, MAX_WIDTH, Strides, WIDEST_COUNTED};
pub use bigint_cpu::chain::{Chain, Step};
pub use bigint_cpu::radix::Decimals;
