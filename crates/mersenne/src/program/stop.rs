//! Signals that ask for an end. The first one has the test saved; the second ends the program at
//! once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::flag;

use super::Failure;

/// The signal that asked for an end, if one did.
#[derive(Clone, Default)]
pub struct Stop(Arc<AtomicUsize>);

impl Stop {
    /// Heeds signals from here on: those that ask a program to end, or say that the terminal was
    /// closed. Those that are ignored, as under `nohup`, stay ignored.
    ///
    /// A file that reaches the limit on files' sizes becomes an error of the write.
    pub fn on_signals() -> Self {
        let stop = Stop::default();
        for signal in heeded() {
            let asked = Arc::new(AtomicBool::new(false));
            // In this order the first signal finds `asked` unset. A signal that cannot be heeded
            // ends the program, as it would anyway.
            let _ = flag::register_conditional_shutdown(signal, 128 + signal, asked.clone());
            let _ = flag::register(signal, asked);
            let _ = flag::register_usize(signal, stop.0.clone(), signal as usize);
        }
        #[cfg(unix)]
        let _ = flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
        stop
    }

    /// Acts as if this signal had come.
    #[cfg(test)]
    pub fn ask(&self, signal: usize) {
        self.0.store(signal, Ordering::Relaxed);
    }

    /// The signal.
    pub fn signal(&self) -> Option<i32> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            signal => i32::try_from(signal).ok(),
        }
    }

    /// Returns [`Failure::Interrupted`] if a signal came.
    pub fn check(&self) -> Result<(), Failure> {
        self.signal()
            .map_or(Ok(()), |signal| Err(Failure::Interrupted(signal)))
    }
}

#[cfg(not(unix))]
fn heeded() -> impl Iterator<Item = i32> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    [SIGINT, SIGTERM].into_iter()
}

#[cfg(unix)]
fn heeded() -> impl Iterator<Item = i32> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    // Where the system does not say which are ignored, the signal of `nohup` counts as ignored.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let mask = mask.unwrap_or(1 << (SIGHUP - 1));
    let is_heeded = move |signal: &i32| mask >> (signal - 1) & 1 == 0;
    [SIGHUP, SIGINT, SIGTERM].into_iter().filter(is_heeded)
}
