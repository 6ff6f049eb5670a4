//! The kernels as they stand in the committed PTX, on the simulated GPU with all of its checks on,
//! beside num-bigint: what they compute, how many multiply-adds they take, and what they tell of
//! secrets.
//!
//! The simulator fails a launch that reads what nothing wrote, touches a byte outside an operand,
//! leaves a lane behind at a shuffle, or lets two blocks meet in memory; so each launch here also
//! proves that there is none of that.

mod bench;
mod carries;
mod euclid;
mod every_width;
mod examples;
mod fields;
mod fused;
mod grid_products;
mod limbwise;
mod modular;
mod ntt_products;
mod products;
mod rings;
mod rns;
mod rns_chains;
mod scanned;
mod sums;
mod toeplitz;
mod transforms;
mod trial;
