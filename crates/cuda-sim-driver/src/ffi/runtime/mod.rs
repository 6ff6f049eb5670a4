//! The CUDA runtime API, as programs built with `nvcc --cudart shared` call it: the
//! driver API with a device, an error and a launch's shape that each thread has of its
//! own, and with kernels and variables named by addresses in the program.
//!
//! NVIDIA's own runtime has the driver prove that it is NVIDIA's. This one asks nothing.

pub mod call;
pub mod copies;
pub mod devices;
pub mod errors;
pub mod launches;
pub mod programs;
pub mod same;
pub mod symbols;
