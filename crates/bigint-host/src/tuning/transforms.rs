//! What transforms were measured to take, by blocks and by the whole device.

use serde::Deserialize;

/// A transform by a block, of up to `8 lanes` limbs ([`Plan::lanes`](bigint_core::transform::Plan::lanes)), takes so many
/// `nanoseconds` of a batch that fills the device, and `alone_nanoseconds` where it is alone.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FftTuning {
    /// 16, 32, 64, 128, 256, 512 or 1024.
    pub lanes: u32,
    /// For one product.
    pub nanoseconds: f64,
    /// For one square.
    pub square_nanoseconds: f64,
    /// For one product by itself, launch and all.
    pub alone_nanoseconds: f64,
    /// For one square by itself.
    pub square_alone_nanoseconds: f64,
}

/// A round of launches on the whole device takes `launch_nanoseconds`, and so many
/// `digit_nanoseconds` more for each digit of a transform's length and each number.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GridTuning {
    /// For all launches of a round.
    pub launch_nanoseconds: f64,
    /// For one digit of a product.
    pub digit_nanoseconds: f64,
    /// For one digit of a square.
    pub square_digit_nanoseconds: f64,
    /// For one digit of a product whose points leave the cache between launches.
    pub far_digit_nanoseconds: f64,
    /// The same of a square.
    pub far_square_digit_nanoseconds: f64,
}

/// What transforms modulo primes take in the same way, for each limb of their length.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NttTuning {
    /// For all launches of a round.
    pub launch_nanoseconds: f64,
    /// For one limb of the length of a product.
    pub limb_nanoseconds: f64,
    /// For one limb of the length of a square.
    pub square_limb_nanoseconds: f64,
    /// Limbs of the shortest that is taken where there is one over the complex numbers too.
    pub shortest: usize,
    /// Limbs of the longest: longer products are made of several, of pieces of their operands.
    /// 512 at least.
    pub longest: usize,
}
