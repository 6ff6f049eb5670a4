//! Numbers between products: limbs that have taken from the ones below them once, and may be a little more than a limb.

use bigint_core::Limb;

/// The limbs of a number that a thread has, in each half, from -2^31 - 2^28 to 2^31 + 2^28.
#[derive(Clone, Copy)]
pub(super) struct Limbs<const FIRST: usize> {
    pub limbs: [[Limb; FIRST]; 2],
    /// A bit for each limb that is 2^32 more, and for each that is 2^32 less, than it is as an `i32`.
    pub more: u32,
    less: u32,
}

impl<const FIRST: usize> Limbs<FIRST> {
    pub const ZERO: Self = Limbs {
        limbs: [[0; FIRST]; 2],
        more: 0,
        less: 0,
    };

    /// Sets limb `k` of a half to a limb and what it takes from the one below.
    #[inline(always)]
    pub fn set(&mut self, half: usize, k: usize, limb: i32, taken: i32) {
        let (sum, is_over) = limb.overflowing_add(taken);
        self.limbs[half][k] = sum as Limb;
        let at = half * FIRST + k;
        self.more |= u32::from(is_over && taken > 0) << at;
        self.less |= u32::from(is_over && taken < 0) << at;
    }

    /// How often 2^32 is added to a limb.
    #[inline(always)]
    pub fn over(&self, half: usize, k: usize) -> i32 {
        let at = half * FIRST + k;
        (self.more >> at & 1) as i32 - (self.less >> at & 1) as i32
    }

    /// The lower or the upper digit of a limb.
    #[inline(always)]
    pub fn digit(&self, half: usize, k: usize, is_upper: bool) -> i32 {
        let limb = self.limbs[half][k];
        match is_upper {
            false => i32::from(limb as i16),
            true => (limb as i32 >> 16) + (limb >> 15 & 1) as i32 + (self.over(half, k) << 16),
        }
    }
}

/// A number between products, `s + j Q`.
pub(super) struct State<const FIRST: usize> {
    /// The limbs of `s`.
    pub limbs: Limbs<FIRST>,
    /// `j` for thread 0, and 0 for others.
    pub over: i32,
    /// For thread 0: the number divided by `2^32L`, about.
    pub top: f32,
}

/// What a way back leaves: limbs, and for thread 0 the topmost limb before it took from the one below.
pub(super) struct Back<const FIRST: usize> {
    pub limbs: Limbs<FIRST>,
    pub top: f32,
}
