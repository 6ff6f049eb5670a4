//! All tests of the crate from outside: one binary is linked once, and the tests of all files share the cores.

mod division;
mod elementary;
mod fast;
mod fractions;
mod modular;
mod numbers;
mod oracle;
mod reference;
mod sums;
