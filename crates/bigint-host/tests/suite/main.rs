//! All tests of the library but those of `limits`: one binary is linked once, and the
//! tests of all files share the cores.

mod as_dependency;
mod batches;
mod checks;
mod conformance;
mod constants;
mod cyclic;
mod expressions;
mod integers;
mod product_trees;
mod reductions;
mod residues;
mod simulated_gpu;
