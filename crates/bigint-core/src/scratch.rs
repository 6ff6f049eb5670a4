//! How much scratch each algorithm needs, in limbs per number.

/// Scratch of Karatsuba's recursion for operands of at most `n` limbs.
///
/// With `h = ceil(n / 2)`, one level keeps the middle product's `2h + 1` limbs
/// while it calls the next level on operands of `h` limbs:
/// `S(n) = 2h + 1 + S(h)`, which stays below `2n + 3 ceil(log2 n)`.
///
/// ```
/// use bigint_core::scratch::karatsuba;
/// assert_eq!(karatsuba(1), 0);
/// assert_eq!(karatsuba(4), (4 + 1) + (2 + 1));
/// ```
pub const fn karatsuba(n: usize) -> usize {
    let mut scratch = 0;
    let mut length = n;
    while length > 1 {
        length = length.div_ceil(2);
        scratch += 2 * length + 1;
    }
    scratch
}
