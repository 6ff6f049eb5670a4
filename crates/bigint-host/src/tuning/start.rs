//! What it takes to use a device at all, and what the CPU takes instead.

use crate::Tuning;
use bigint_core::Limb;
use serde::Deserialize;

/// What it takes to use a device, and the CPU's time for what it would do.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartTuning {
    /// Milliseconds that the driver takes to start and to open a device. With none, devices are
    /// opened when first of use, and waited for.
    pub driver_ms: f64,
    /// Milliseconds that it takes for a kernel that its cache has. With none, kernels are waited
    /// for.
    pub module_ms: f64,
    /// Gigabytes per second between host and device.
    pub link_gigabytes_per_second: f64,
    /// Picoseconds for a limb of an operand that comes from another device, by way of the host.
    #[serde(default = "shipped_sent")]
    pub sent_limb_ps: f64,
    /// What one core takes.
    pub core: CoreTuning,
    /// What one device takes, of work that fills it.
    #[serde(default = "shipped_device")]
    pub device: CoreTuning,
}

/// Picoseconds that one core takes, or one device.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoreTuning {
    /// For a limb that is read or written.
    pub limb_ps: f64,
    /// For a limb times a limb in a product by rows.
    pub product_ps: f64,
    /// For a limb of the operands of a product by transforms.
    pub transformed_ps: f64,
    /// For a limb of a divisor times one of the dividend.
    pub quotient_ps: f64,
    /// For a limb squared of operands of common divisors, inverses and roots.
    pub euclid_ps: f64,
    /// For a limb squared of a product modulo a number; of a power for each bit of the exponent.
    pub residue_ps: f64,
    /// Products modulo a number for each limb of the exponents of a product of two powers.
    #[serde(default = "shipped_pair_products")]
    pub pair_products: f64,
    /// Transforms of a product's length that a division takes at most; infinite where divisions
    /// use none.
    #[serde(default = "shipped_quotient_transforms")]
    pub quotient_transforms: f64,
}

// What a user's file does not say, the shipped one does.
fn shipped_sent() -> f64 {
    Tuning::default().start.sent_limb_ps
}

fn shipped_device() -> CoreTuning {
    Tuning::default().start.device
}

fn shipped_pair_products() -> f64 {
    Tuning::default().start.core.pair_products
}

fn shipped_quotient_transforms() -> f64 {
    Tuning::default().start.core.quotient_transforms
}

impl StartTuning {
    /// Milliseconds that so many limbs take between host and device.
    pub(crate) fn link_ms(&self, limbs: f64) -> f64 {
        limbs * size_of::<Limb>() as f64 / (1e6 * self.link_gigabytes_per_second)
    }
}
