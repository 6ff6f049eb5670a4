//! Lines of progress, and how often the machine looks up from its work.

use std::time::{Duration, Instant};

use mersenne::Runner;

/// How long the machine works between two looks at the clock and at signals.
const STRETCH: Duration = Duration::from_millis(250);

/// How many iterations to do at once, after so many took so long.
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
    iteration: u32,
}

impl Report {
    pub fn new(iteration: u32) -> Self {
        Report {
            last: Instant::now(),
            iteration,
        }
    }

    pub fn line(
        &mut self,
        name: &str,
        (iteration, total): (u32, u32),
        runner: &Runner<'_>,
        backend: &str,
    ) {
        // A check that failed goes back.
        let done = iteration.saturating_sub(self.iteration);
        let each = self.last.elapsed().as_secs_f64() / f64::from(done.max(1));
        let left = Duration::from_secs((each * f64::from(total - iteration)) as u64);
        let (words, error) = match runner.words() {
            Some(words) => (
                format!("{words} words"),
                format!("error {:.3}", runner.greatest_error()),
            ),
            None => ("exact".to_owned(), "no error".to_owned()),
        };
        eprintln!(
            "{name} {:.2}% {iteration}/{total}, {:.4} ms/iteration, ETA {}, {error}, {words}, {backend}",
            100.0 * f64::from(iteration) / f64::from(total),
            1e3 * each,
            humantime::format_duration(left),
        );
        (self.last, self.iteration) = (Instant::now(), iteration);
    }
}
