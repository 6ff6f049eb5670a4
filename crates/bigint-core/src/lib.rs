#![no_std]
#![doc = include_str!("../README.md")]

pub mod algorithm;
mod arguments;
mod declaration;
mod divsteps;
mod entry_point;
pub mod facts;
pub mod fused;
pub mod gather;
pub mod karatsuba;
pub mod kernel;
mod lehmer;
pub mod modules;
mod modulus;
pub mod operation;
mod properties;
mod root;
mod scanned;
pub mod shape;
pub mod transform;
pub mod trial;
pub mod weighted;

pub use algorithm::{Algorithm, Level};
pub use kernel::{Arguments, Kernel, Launch, MatrixArgument};
pub use operation::Operation;
pub use shape::{LIMB_BITS, Layout, Limb, MAX_WIDTH, Shape, Strides, WIDEST_COUNTED};
