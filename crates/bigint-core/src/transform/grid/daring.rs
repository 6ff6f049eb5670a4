//! Plans whose digits have a bit more than is proved exact for all operands.

use super::GridPlan;

impl GridPlan {
    /// The shortest daring plan for operands of up to `limbs` limbs, if that is shorter than the one that is exact for all operands.
    ///
    /// ```
    /// use bigint_core::transform::grid::GridPlan;
    /// let plan = GridPlan::daring(1 << 15).unwrap();
    /// assert_eq!((plan.length(), plan.digit_bits), (1 << 16, 16));
    /// ```
    pub fn daring(limbs: usize) -> Option<GridPlan> {
        let plan =
            GridPlan::every(GridPlan::is_usually_exact).find(|plan| limbs <= plan.limbs())?;
        let safe = GridPlan::of(limbs);
        safe.is_none_or(|safe| plan.length() < safe.length())
            .then_some(plan)
            .filter(|_| safe.is_some())
    }

    /// Whether products are exact for all operands.
    pub fn is_exact(&self) -> bool {
        self.error_bound() < 0.5
    }

    /// Whether products are exact for operands that are made of any digits, as likely as each other: the mean of their squares is a
    /// third of the greatest one. The sums of so many are off by less than a hundredth.
    pub(super) fn is_usually_exact(&self) -> bool {
        self.greatest_norms() > self.usual_norms()
    }

    /// What the product of both operands' sums of squared digits is mostly not above.
    pub fn usual_norms(&self) -> f64 {
        let usual = 1.05 / 3.0 * self.greatest(1);
        usual * usual
    }
}
