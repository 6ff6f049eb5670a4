//! The kernel of trial factoring: whether numbers of every length divide `2^p - 1`.

use crate::bench::Bench;
use bigint_core::Limb;
use bigint_core::trial::{
    DEVICE_BITS, LAZY_BITS, MOST_BITS, Powers, SHARED_BYTES, THREADS, TRIAL, TRIAL_MODULE,
    TrialArguments,
};
use num_bigint::BigUint;

/// A device with the kernel.
struct Trial(Bench);

impl Trial {
    fn new() -> Self {
        Trial(Bench::new(TRIAL_MODULE))
    }

    /// Which of the numbers `base + more` divide `2^p - 1`: each is the one candidate of a class,
    /// and no primes sieve them. How many are told, where there is room for fewer.
    fn divisors(&self, base: u128, more: &[Limb], p: u32, room: usize) -> (Vec<u128>, usize) {
        let count = more.len() as u32;
        let list = self.0.upload_limbs(&vec![0; 2 + 2 * room]);
        let greatest = base + u128::from(*more.last().unwrap());
        let arguments = TrialArguments {
            primes: self.0.upload_limbs(&[0; 4]),
            classes: self.0.upload_limbs(more),
            found: list,
            base: [0, 32, 64, 96].map(|at| (base >> at) as Limb),
            twice: 1,
            candidates: 1,
            class_count: count,
            powers: Powers::new(p, DEVICE_BITS),
            is_strict: (greatest >> LAZY_BITS > 0).into(),
            room: room as u32,
            segments: count,
            ..TrialArguments::default()
        };
        let grid = [count, THREADS, SHARED_BYTES];
        let (module, bytes) = (self.0.module(), bytes_of(&arguments));
        self.0.launch_in(module, TRIAL.name, grid, &bytes, p);
        let limbs = self.0.read(list, 2 + 2 * room);
        let told = limbs[0] as usize;
        let pairs = limbs[2..].as_chunks::<2>().0.iter().take(told);
        let mut found: Vec<u128> = pairs
            .map(|&[class, bit]| {
                assert_eq!(bit, 0);
                base + u128::from(more[class as usize])
            })
            .collect();
        found.sort_unstable();
        (found, told)
    }
}

/// The arguments as a launch copies them.
fn bytes_of(arguments: &TrialArguments) -> Vec<u8> {
    let TrialArguments {
        primes,
        classes,
        found,
        base,
        twice,
        candidates,
        first,
        class_count,
        prime_count,
        wide_count,
        powers,
        is_strict,
        room,
        segments,
    } = *arguments;
    let longs = [primes, classes, found].map(u64::to_le_bytes).concat();
    let base = base.map(u32::to_le_bytes).concat();
    let more = [twice, candidates].map(u64::to_le_bytes).concat();
    let words = [
        first,
        class_count,
        prime_count,
        wide_count,
        powers.start,
        powers.squares,
        powers.pattern,
        is_strict,
        room,
        segments,
    ];
    let bytes = [longs, base, more, words.map(u32::to_le_bytes).concat()].concat();
    assert_eq!(bytes.len(), size_of::<TrialArguments>());
    bytes
}

#[test]
fn numbers_of_every_length_divide_what_they_divide() {
    let trial = Trial::new();
    let mut state = 1u64;
    for bits in 3..=MOST_BITS {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let times = (state >> 40) as u32 | 1;
        // `2^bits - 1` divides `2^p - 1` where `bits` divides `p`; others near it, and near the least
        // number so long, seldom do.
        let greatest = (1u128 << bits) - 1;
        let least = 1u128 << (bits - 1);
        for p in [bits * times, bits * times + 1, 118_845_473] {
            for base in [greatest.saturating_sub(12).max(least) | 1, least | 1] {
                let is_short = |&more: &Limb| (base + u128::from(more)) >> MOST_BITS == 0;
                let more: Vec<Limb> = (0..7).map(|i| 2 * i).filter(is_short).collect();
                let numbers = more.iter().map(|&more| base + u128::from(more));
                let divides = |q: &u128| {
                    let power = BigUint::from(2u8).modpow(&p.into(), &BigUint::from(*q));
                    power == BigUint::from(1u8)
                };
                let right: Vec<u128> = numbers.filter(divides).collect();
                assert_eq!(
                    trial.divisors(base, &more, p, 8).0,
                    right,
                    "{bits} bits, {p}"
                );
            }
        }
    }
}

#[test]
fn what_there_is_no_room_for_is_counted() {
    let trial = Trial::new();
    // 2^60 - 1 has them all.
    let more = [0, 2, 4, 6, 8, 10, 12, 58];
    let (found, told) = trial.divisors(3, &more, 60, 8);
    assert_eq!((found, told), (vec![3, 5, 7, 9, 11, 13, 15, 61], 8));
    let (found, told) = trial.divisors(3, &more, 60, 2);
    assert_eq!((found.len(), told), (2, 8));
}
