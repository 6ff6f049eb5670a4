#![doc = include_str!("../README.md")]

mod batch;
mod chance;
mod checkpoint;
mod device;
mod edwards;
mod error;
mod expression;
mod factors;
mod giants;
mod ladder;
mod lucas;
mod machine;
mod modular;
mod multiples;
mod operations;
mod own;
mod pairing;
mod point;
mod points;
mod polynomials;
mod primes;
pub mod program;
mod registers;
mod resultant;
mod save;
mod scalar;
mod stage1;
mod stage2;
mod suyama;
mod waves;

pub use batch::Ecm;
pub use chance::{Bounds, bounds_for_digits, bounds_for_digits_on_device, chance};
pub use checkpoint::Checkpoint;
pub use error::Error;
pub use expression::evaluate;
pub use factors::Parts;
pub use lucas::{LucasStage1, LucasStage2, Method};
pub use point::{Curve, Family, Point};
pub use primes::primes;
pub use save::{Saved, read_line, write_line};
pub use scalar::scalar;
pub use stage1::{Outcome, Stage1};
pub use stage2::{Continuation, Stage2};
#[doc(hidden)]
pub use suyama::{Start, start as edwards_start};
