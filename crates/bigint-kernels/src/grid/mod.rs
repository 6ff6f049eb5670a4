//! Algorithms that the whole device works on, in several launches.

pub mod mul;
pub mod ntt;
pub mod weighted;
