//! A progress bar for people who wait.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The time after which a bar appears.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar on standard error, where that is a terminal and the work is long.
#[derive(Debug)]
pub struct Progress {
    started: Instant,
    total: u64,
    template: &'static str,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Counts bytes; a total of zero is an unknown total.
    pub fn new(total: u64) -> Self {
        let template = "{bytes} of {total_bytes} {bar:40} {bytes_per_sec}, {eta} left";
        Progress::with_template(total, template)
    }

    /// Counts cases.
    pub fn of_cases(total: u64) -> Self {
        Progress::with_template(total, "{msg} {pos} of {len} {bar:40} {eta} left")
    }

    /// Progress in levels of trees.
    pub fn of_levels(total: u64) -> Self {
        Progress::with_template(total, "level {pos} of {len} {bar:40} {eta} left")
    }

    fn with_template(total: u64, template: &'static str) -> Self {
        Progress {
            started: Instant::now(),
            total,
            template,
            bar: None,
        }
    }

    /// Sets how much is done.
    pub fn set(&mut self, done: u64) {
        if self.bar.is_none() && self.started.elapsed() > PATIENCE {
            // Hides itself where standard error is no terminal.
            let target = ProgressDrawTarget::stderr();
            let total = (self.total > 0).then_some(self.total);
            let bar = ProgressBar::with_draw_target(total, target);
            let style = ProgressStyle::with_template(self.template);
            self.bar = Some(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(done);
        }
    }

    /// Names the part of the work that is being done.
    pub fn message(&mut self, message: &'static str) {
        if let Some(bar) = &self.bar {
            bar.set_message(message);
        }
    }

    /// Does what prints, with the bar out of its way.
    pub fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
