#![doc = include_str!("../README.md")]

pub mod checkpoint;
mod curve;
mod device;
mod error;
pub mod field;
mod named;
mod plan;
pub mod program;
mod search;
mod starts;
pub mod walk;
mod walkers;

pub use curve::{Affine, Curve, Point, Problem};
pub use device::Device;
pub use error::Error;
pub use named::{NAMES, Named, named};
pub use plan::{Combination, Method, Plan};
pub use search::{Count, Known, Machine, Search, State};
pub use starts::{Forms, Starts, forms, jumps, point};
pub use walkers::{Alone, Cores, Shape, Table, Told, Walkers};
