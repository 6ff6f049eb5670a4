//! Lines of progress, and the time between two looks at the clock.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::output::show;
use super::status::Status;
use crate::{Backend, Runner};

/// The time that the machine works between two looks at the clock and at signals.
const STRETCH: Duration = Duration::from_millis(250);

/// The number of iterations to run at once, after `times` took this long.
pub fn next_stretch(times: u32, took: Duration) -> u32 {
    match took {
        took if took < STRETCH / 2 => (2 * times).min(1 << 20),
        took if took > STRETCH => (times / 2).max(1),
        _ => times,
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
