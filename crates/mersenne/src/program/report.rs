//! Lines of progress, and the time between two looks at the clock.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::output::show;
use super::status::Status;
use crate::{Backend, Runner};

/// The time that the machine works between two looks at the clock and at signals,
const STRETCH: Duration = Duration::from_millis(250);

/// and the longest, where bringing the residues of very long numbers takes most of that.
const LONGEST_STRETCH: Duration = Duration::from_secs(3);

/// The greatest part of a stretch that its end takes, as a divisor.
const OF_ENDS: u32 = 10;

/// How many iterations are done at once.
pub struct Stretch {
    times: u32,
    /// The times of the stretch before, and how long it took.
    before: Option<(u32, Duration)>,
    /// What a stretch takes however short it is.
    end: Duration,
}

impl Stretch {
    pub fn new() -> Self {
        Stretch {
            times: 1,
            before: None,
            end: Duration::ZERO,
        }
    }

    /// The iterations of the next stretch.
    pub fn times(&self) -> u32 {
        self.times
    }

    /// Tells how long so many iterations took. Of fewer than [`times`](Self::times) nothing is learnt.
    pub fn took(&mut self, done: u32, took: Duration) {
        let times = self.times;
        if done < times {
            return;
        }
        match self.before.replace((times, took)) {
            Some((other, before)) if other != times => {
                let (few, many) = (
                    (other, before).min((times, took)),
                    (other, before).max((times, took)),
                );
                let each = many.1.saturating_sub(few.1) / (many.0 - few.0);
                self.end = took.saturating_sub(each * times);
            }
            Some(_) => {}
            // Two lengths tell what an end takes.
            None if took < LONGEST_STRETCH / 2 => {
                self.times = 2;
                return;
            }
            None => {}
        }
        let goal = (self.end * OF_ENDS).clamp(STRETCH, LONGEST_STRETCH);
        self.times = match took {
            took if took < goal / 2 => (2 * times).min(1 << 20),
            took if took > goal => (times / 2).max(1),
            _ => times,
        };
    }
}

/// The time that `left` iterations of `each` seconds take, in words.
pub fn time_left(each: f64, left: u64) -> String {
    let left = Duration::try_from_secs_f64((each * left as f64).floor());
    left.map_or("centuries".to_owned(), |left| {
        humantime::format_duration(left).to_string()
    })
}

/// Lines of progress.
pub struct Report {
    pub last: Instant,
    /// An iteration and its time, since when the test has not gone back.
    from: (u64, Instant),
    /// The file for `mersenne status`.
    status: Option<PathBuf>,
}

impl Report {
    pub fn new(done: u64, status: Option<PathBuf>) -> Self {
        let now = Instant::now();
        Report {
            last: now,
            from: (done, now),
            status,
        }
    }

    /// The time of iterations counts from this one on: a check failed, and the test has gone back to
    /// it, or it was saved.
    pub fn restart(&mut self, done: u64) {
        self.from = (done, Instant::now());
    }

    /// The seconds of an iteration.
    fn each(&self, done: u64, now: Instant) -> Option<f64> {
        let (from, since) = self.from;
        let done = done.checked_sub(from).filter(|&done| done > 0)?;
        Some(now.duration_since(since).as_secs_f64() / done as f64)
    }

    /// Shows how far a test is, and returns the seconds of an iteration. `speed` makes words of them.
    pub fn line(
        &mut self,
        name: &str,
        (done, total): (u64, u64),
        errors: u32,
        backend: &dyn Backend,
        speed: impl Fn(f64) -> String,
    ) -> Option<f64> {
        let now = Instant::now();
        let (each, celsius) = (self.each(done, now), backend.celsius());
        let backend = backend.name();
        let warmth = celsius.map_or_else(String::new, |celsius| format!(", {celsius} C"));
        let speed = match each {
            Some(each) => format!("{}, ETA {}", speed(each), time_left(each, total - done)),
            None => "no iteration yet".to_owned(),
        };
        let part = 100.0 * done as f64 / total as f64;
        show!("{name} {part:.2}% {done}/{total}, {speed}, {backend}{warmth}");
        if let Some(path) = &self.status {
            let (name, backend) = (name.to_owned(), backend.to_owned());
            let status = Status {
                name,
                done,
                total,
                each,
                errors,
                backend,
                celsius,
            };
            status.write(path);
        }
        (self.last, self.from) = (now, (done, now));
        each
    }

    /// Shows how far squarings are, and returns the seconds of one.
    pub fn squarings(
        &mut self,
        name: &str,
        (done, total): (u32, u32),
        errors: u32,
        runner: &Runner<'_>,
        backend: &dyn Backend,
    ) -> Option<f64> {
        let transform = match runner.words() {
            Some(words) => format!("error {:.3}, {words} words", runner.greatest_error()),
            None => "exact".to_owned(),
        };
        let speed = |each| format!("{:.4} ms/iteration, {transform}", 1e3 * each);
        self.line(name, (done.into(), total.into()), errors, backend, speed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The iterations of a stretch in the end, where an end and an iteration take so long.
    fn settled(end: Duration, each: Duration) -> u32 {
        let mut stretch = Stretch::new();
        for _ in 0..64 {
            let times = stretch.times();
            stretch.took(times, end + each * times);
            stretch.took(times / 2, end);
        }
        stretch.times()
    }

    #[test]
    fn stretches_are_short_but_for_what_their_ends_take() {
        let [ms, us] = [Duration::from_millis, Duration::from_micros].map(|of| move |n| of(n));
        for (end, each, least, most) in [
            (ms(0), us(50), 2500, 5000),
            (ms(0), ms(10), 12, 25),
            (ms(0), Duration::from_secs(9), 1, 1),
            (ms(300), ms(2), 600, 1350),
            (ms(20), us(100), 1000, 2300),
            (Duration::from_secs(5), ms(1), 1, 2),
        ] {
            let times = settled(end, each);
            assert!((least..=most).contains(&times), "{end:?} {each:?}: {times}");
        }
    }

    #[test]
    fn a_check_that_failed_does_not_count_as_time_of_the_iterations_after_it() {
        let mut report = Report::new(1000, None);
        let later = |report: &Report| report.from.1 + Duration::from_secs(10);
        let now = later(&report);
        assert_eq!(report.each(6000, now), Some(0.002));
        assert_eq!(report.each(1000, now), None);
        report.restart(500);
        let now = later(&report);
        assert_eq!(report.each(500, now), None);
        assert_eq!(report.each(600, now), Some(0.1));
    }
}
