//! Lines of progress, and the time between two looks at the clock.

use std::time::{Duration, Instant};

use crate::Runner;

use super::output::note;

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

/// Lines of progress.
pub struct Report {
    pub last: Instant,
    /// An iteration and its time, since when the test has not gone back.
    from: (u32, Instant),
}

impl Report {
    pub fn new(iteration: u32) -> Self {
        let now = Instant::now();
        Report {
            last: now,
            from: (iteration, now),
        }
    }

    /// A check failed, and the test has gone back to this iteration.
    pub fn back_to(&mut self, iteration: u32) {
        self.from = (iteration, Instant::now());
    }

    /// The seconds of an iteration.
    fn each(&self, iteration: u32, now: Instant) -> Option<f64> {
        let (from, since) = self.from;
        let done = iteration.checked_sub(from).filter(|&done| done > 0)?;
        Some(now.duration_since(since).as_secs_f64() / f64::from(done))
    }

    pub fn line(
        &mut self,
        name: &str,
        (iteration, total): (u32, u32),
        runner: &Runner<'_>,
        backend: &str,
    ) {
        let now = Instant::now();
        let speed = match self.each(iteration, now) {
            Some(each) => {
                let left = Duration::from_secs((each * f64::from(total - iteration)) as u64);
                let left = humantime::format_duration(left);
                format!("{:.4} ms/iteration, ETA {left}", 1e3 * each)
            }
            None => "no iteration yet".to_owned(),
        };
        let (words, error) = match runner.words() {
            Some(words) => (
                format!("{words} words"),
                format!("error {:.3}", runner.greatest_error()),
            ),
            None => ("exact".to_owned(), "no error".to_owned()),
        };
        let part = 100.0 * f64::from(iteration) / f64::from(total);
        note!("{name} {part:.2}% {iteration}/{total}, {speed}, {error}, {words}, {backend}");
        (self.last, self.from) = (now, (iteration, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_that_failed_does_not_count_as_time_of_the_iterations_after_it() {
        let mut report = Report::new(1000);
        let later = |report: &Report| report.from.1 + Duration::from_secs(10);
        let now = later(&report);
        assert_eq!(report.each(6000, now), Some(0.002));
        assert_eq!(report.each(1000, now), None);
        report.back_to(500);
        let now = later(&report);
        assert_eq!(report.each(500, now), None);
        assert_eq!(report.each(600, now), Some(0.1));
    }
}
