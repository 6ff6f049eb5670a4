//! Thresholds of the conversion to decimal digits and back.

use crate::Tuning;
use serde::{Deserialize, Serialize};

/// Thresholds of the conversion of numbers to decimal digits and back, in limbs. Long ones are converted by products,
/// many shorter ones by a thread of a device each, and others by the CPU.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DecimalsTuning {
    /// The narrowest number that devices convert by products.
    pub min_width: usize,
    /// The least limbs of all numbers together that devices convert by products.
    pub min_limbs: usize,
    /// The narrowest number that a thread converts.
    #[serde(default = "shipped_thread_min_width")]
    pub thread_min_width: usize,
    /// The widest number that a thread converts.
    #[serde(default = "shipped_thread_max_width")]
    pub thread_max_width: usize,
    /// The least numbers that threads convert, one each.
    #[serde(default = "shipped_thread_min_count")]
    pub thread_min_count: usize,
}

// What a user's file does not say, the shipped one does.
fn shipped_thread_min_width() -> usize {
    Tuning::default().decimals.thread_min_width
}

fn shipped_thread_max_width() -> usize {
    Tuning::default().decimals.thread_max_width
}

fn shipped_thread_min_count() -> usize {
    Tuning::default().decimals.thread_min_count
}
