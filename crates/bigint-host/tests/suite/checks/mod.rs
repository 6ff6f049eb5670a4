//! What is checked on the CPU and on the simulated GPU.

pub mod lists;
pub mod rows;
pub mod signs;
pub mod trees;
