//! The step from limbs to digits of two lengths on both sides of zero, and back.

/// The bit at which word `j` of `n` begins.
fn start(p: u32, n: usize, j: usize) -> u64 {
    (u64::from(p) * j as u64).div_ceil(n as u64)
}

/// The digits of a number of at most `p` bits in `n` words of at most 62 bits.
///
/// If the last digit carries, the first is one larger: digits on both sides of zero have the right
/// sum only modulo `2^p - 1`.
pub fn digits(limbs: &[u64], p: u32, n: usize) -> impl Iterator<Item = i64> {
    let bits = move |from: u64, to: u64| {
        let limb = |i: u64| limbs.get(i as usize).copied().unwrap_or(0);
        let pair = u128::from(limb(from / 64)) | u128::from(limb(from / 64 + 1)) << 64;
        ((pair >> (from % 64)) as u64 & ((1 << (to - from)) - 1)) as i64
    };
    let top = limbs.len() as u64 * 64;
    assert!(
        top <= p.into() || (u64::from(p)..top).all(|i| limbs[i as usize / 64] >> (i % 64) & 1 == 0),
        "a residue has at most p bits"
    );
    // Digits from -2^(b - 1) to 2^(b - 1) - 1 carry exactly if their top bit is set, or has been
    // set by a carry.
    let balance = move |carry: &mut i64, j: usize| {
        let (from, to) = (start(p, n, j), start(p, n, j + 1));
        let digit = bits(from, to) + *carry;
        *carry = i64::from(digit >> (to - from - 1) != 0);
        digit - (*carry << (to - from))
    };
    let mut carry = 0;
    let mut digits = (0..n).map(move |j| balance(&mut carry, j));
    let mut last = 0;
    for j in 0..n {
        balance(&mut last, j);
    }
    let first = digits.next().map(|first| first + last);
    first.into_iter().chain(digits)
}

/// The residue below `2^p - 1` with these digits, which may be twice as large as their words hold.
pub fn limbs(digits: impl Iterator<Item = i64>, p: u32, n: usize) -> Vec<u64> {
    let mut limbs = vec![0u64; (p as usize).div_ceil(64)];
    let mut carry = 0;
    for (j, digit) in digits.enumerate() {
        let (from, to) = (start(p, n, j), start(p, n, j + 1));
        let sum = digit + carry;
        carry = sum >> (to - from);
        let bits = u128::from((sum - (carry << (to - from))) as u64) << (from % 64);
        let i = from as usize / 64;
        limbs[i] |= bits as u64;
        if bits >> 64 != 0 {
            limbs[i + 1] |= (bits >> 64) as u64;
        }
    }
    // As 2^p = 1, what goes below zero or above 2^p is added at the other end.
    while carry != 0 {
        let mut sum = i128::from(carry);
        for limb in &mut limbs {
            sum += i128::from(*limb);
            *limb = sum as u64;
            sum >>= 64;
            if sum == 0 {
                break;
            }
        }
        let top = limbs.last_mut().expect("p is not 0");
        carry = match p % 64 {
            0 => sum as i64,
            bits => {
                let above = (sum << 64 | i128::from(*top)) >> bits;
                *top &= (1 << bits) - 1;
                above as i64
            }
        };
    }
    let top = u64::MAX >> (limbs.len() as u64 * 64 - u64::from(p));
    let (last, others) = limbs.split_last().expect("p is not 0");
    if *last == top && others.iter().all(|&limb| limb == u64::MAX) {
        limbs.fill(0);
    }
    limbs
}
