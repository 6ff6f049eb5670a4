//! Multiplication: `r = (a * b) mod 2^(32 w)`, `w = r.len()`.

mod comba;
mod fft;
mod karatsuba;
mod ntt;
mod school;
mod toeplitz;

pub use comba::comba;
pub use fft::fft;
pub use karatsuba::karatsuba;
pub use ntt::ntt;
pub use school::school;
pub use toeplitz::toeplitz;
