//! Trial factors of `2^p - 1` on a device: [`bigint_core::trial`] has the maths and the kernel,
//! [`bigint_cpu::fast::trial`] the same for all cores.

use crate::common::device::{Buffer, Device};
use crate::{Engine, Error};
use bigint_core::specialization::Specialization;
use bigint_core::trial::{
    DEVICE_BITS, LAZY_BITS, MOST_SEGMENTS, Powers, SEGMENT, SHARED_BYTES, THREADS, TRIAL,
    TrialArguments, WIDE,
};
use bigint_core::{LIMB_BITS, Launch, Limb};
use bigint_cpu::fast::trial::Trial;
use std::ops::Range;
use std::sync::Arc;

/// The most factors that a launch can report.
const ROOM: u32 = 1 << 9;

/// The candidates for factors of `2^p - 1` in a range, which a device sieves and tests.
pub struct TrialFactors {
    device: Arc<dyn Device>,
    trial: Trial,
    arguments: TrialArguments,
    primes: Buffer,
    classes: Buffer,
}

impl Engine {
    /// Prepares the trial of these candidates on the engine's device; `None` on the CPU.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn trial_factors(&self, trial: Trial) -> Result<Option<TrialFactors>, Error> {
        self.inner.open_now();
        let Some(device) = self.inner.device() else {
            return Ok(None);
        };
        let [_, to] = trial.candidates().bits();
        let strokes = trial.strokes();
        // A four of limbs is there even if it is not used.
        let fours = strokes.iter().copied().chain([[0; 4]]);
        let primes = device.upload(&fours.flatten().collect::<Vec<Limb>>())?;
        let classes = device.upload(trial.classes())?;
        let arguments = TrialArguments {
            primes: primes.address(),
            classes: classes.address(),
            twice: 2 * u64::from(trial.candidates().p()),
            class_count: trial.classes().len() as u32,
            prime_count: strokes.len() as u32,
            wide_count: strokes.partition_point(|stroke| stroke[0] < WIDE) as u32,
            powers: Powers::new(trial.candidates().p(), DEVICE_BITS),
            is_strict: (to > LAZY_BITS).into(),
            room: ROOM,
            ..TrialArguments::default()
        };
        Ok(Some(TrialFactors {
            device: Arc::clone(device),
            trial,
            arguments,
            primes,
            classes,
        }))
    }
}

impl TrialFactors {
    /// The candidates.
    pub fn trial(&self) -> &Trial {
        &self.trial
    }

    /// The factors among the candidates of these segments, as [`Trial::divisors`] finds them on the
    /// CPU.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn divisors(&self, segments: Range<u64>) -> Result<Vec<u128>, Error> {
        let mut divisors = Vec::new();
        let mut first = segments.start;
        while first < segments.end {
            let end = segments.end.min(first + u64::from(MOST_SEGMENTS));
            divisors.extend(self.of_launch(first..end)?);
            first = end;
        }
        divisors.sort_unstable();
        Ok(divisors)
    }

    fn of_launch(&self, segments: Range<u64>) -> Result<Vec<u128>, Error> {
        let (candidates, classes) = (self.trial.candidates(), self.trial.classes().len() as u64);
        let before = segments.start / classes;
        let (base, _) = candidates.segment(0, before);
        let left = candidates.each() - u128::from(before) * u128::from(SEGMENT);
        let mut list = vec![0; 2 + 2 * ROOM as usize];
        let found = self.device.upload(&list)?;
        let grid = (segments.end - segments.start) as u32;
        let arguments = TrialArguments {
            found: found.address(),
            base: [0, 1, 2, 3].map(|i| (base >> (i * LIMB_BITS)) as Limb),
            // A launch has not so many.
            candidates: u64::try_from(left).unwrap_or(u64::MAX),
            first: (segments.start % classes) as u32,
            segments: grid,
            ..self.arguments
        };
        let launch = Launch {
            grid,
            block: THREADS,
            shared_bytes: SHARED_BYTES,
            workers: grid as usize,
            scratch_width: 0,
        };
        let buffers = [&self.primes, &self.classes, &found];
        self.device
            .launch(TRIAL, Specialization::None, launch, &arguments, &buffers)?;
        self.device.download(&found, &mut list)?;
        let [count, _, pairs @ ..] = &list[..] else {
            unreachable!("the list has a count");
        };
        if *count > ROOM {
            // There are not so many divisors but of small numbers.
            return Ok(self.trial.divisors(segments));
        }
        let pairs = pairs.as_chunks::<2>().0.iter().take(*count as usize);
        Ok(pairs
            .map(|&[segment, bit]| {
                self.trial
                    .candidate(segments.start + u64::from(segment), bit)
            })
            .filter(|&q| candidates.contains(q))
            .collect())
    }
}
