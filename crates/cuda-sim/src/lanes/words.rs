//! Registers as numbers of single and double precision, and back.

/// A word from a single.
#[inline(always)]
pub(super) fn bits(x: f32) -> u32 {
    if x.is_nan() { 0x7fff_ffff } else { x.to_bits() }
}

#[inline(always)]
pub(super) fn s(a: u32) -> f32 {
    f32::from_bits(a)
}

#[inline(always)]
pub(super) fn d(a: u64) -> f64 {
    f64::from_bits(a)
}
