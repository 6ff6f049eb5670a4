#![no_std]
#![doc = include_str!("../README.md")]

pub mod algorithm;
mod capacity;
pub mod fused;
pub mod gather;
pub mod kernel;
pub mod modules;
pub mod operation;
pub mod rns;
pub mod shape;
pub mod specialization;
pub mod transform;
pub mod trial;
pub mod weighted;

pub use algorithm::{Algorithm, Level};
pub use capacity::karatsuba;
pub use kernel::{Arguments, Kernel, Launch, MatrixArgument};
pub use operation::Operation;
pub use shape::{LIMB_BITS, Layout, Limb, MAX_WIDTH, Shape, Strides, WIDEST_COUNTED};
