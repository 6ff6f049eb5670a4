//! Exponents: those of the known Mersenne primes, and those that are worth a test.

/// The exponents of the known Mersenne primes.
pub const KNOWN_PRIMES: [u32; 52] = [
    2,
    3,
    5,
    7,
    13,
    17,
    19,
    31,
    61,
    89,
    107,
    127,
    521,
    607,
    1279,
    2203,
    2281,
    3217,
    4253,
    4423,
    9689,
    9941,
    11_213,
    19_937,
    21_701,
    23_209,
    44_497,
    86_243,
    110_503,
    132_049,
    216_091,
    756_839,
    859_433,
    1_257_787,
    1_398_269,
    2_976_221,
    3_021_377,
    6_972_593,
    13_466_917,
    20_996_011,
    24_036_583,
    25_964_951,
    30_402_457,
    32_582_657,
    37_156_667,
    42_643_801,
    43_112_609,
    57_885_161,
    74_207_281,
    77_232_917,
    82_589_933,
    136_279_841,
];

/// Whether `n` is prime, by trial division. If it is not, `2^n - 1` is composite.
///
/// ```
/// assert!(mersenne::is_prime(136_279_841) && !mersenne::is_prime(136_279_843));
/// ```
pub fn is_prime(n: u32) -> bool {
    let mut divisors = (2..).take_while(|&d| u64::from(d) * u64::from(d) <= n.into());
    n > 1 && divisors.all(|d: u32| !n.is_multiple_of(d))
}
