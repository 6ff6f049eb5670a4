//! Signals. One that asks for an end has the test saved, and a second one ends the program at once;
//! Ctrl-Z has it saved, and stops the program until it is told to go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::Duration;

use signal_hook::flag;

use super::Failure;

/// The stop that signals ask for.
#[derive(Clone, Default)]
pub struct Stop {
    /// The signal that asked for an end, if one did.
    signal: Arc<AtomicUsize>,
    /// Whether Ctrl-Z asks for a pause.
    pauses: Arc<AtomicBool>,
    /// The workers that run, and those of them that wait for the pause.
    workers: Arc<AtomicUsize>,
    waiting: Arc<AtomicUsize>,
}

impl Stop {
    /// Heeds signals from here on: those that ask a program to end or to stop, or say that the terminal
    /// was closed. Those that are ignored, as under `nohup`, stay ignored.
    ///
    /// A file that reaches the limit on files' sizes becomes an error of the write.
    pub fn on_signals() -> Self {
        let stop = Stop::default();
        stop.workers.store(1, Ordering::Relaxed);
        for signal in heeded(&ENDS) {
            let asked = Arc::new(AtomicBool::new(false));
            // In this order the first signal finds `asked` unset. A signal that cannot be heeded
            // ends the program, as it would anyway.
            let _ = flag::register_conditional_shutdown(signal, 128 + signal, asked.clone());
            let _ = flag::register(signal, asked);
            let _ = flag::register_usize(signal, stop.signal.clone(), signal as usize);
        }
        #[cfg(unix)]
        {
            use signal_hook::consts::{SIGTSTP, SIGXFSZ};
            for signal in heeded(&[SIGTSTP]) {
                let _ = flag::register(signal, stop.pauses.clone());
            }
            let _ = flag::register(SIGXFSZ, Arc::default());
        }
        stop
    }

    /// Acts as if this signal had come.
    #[cfg(test)]
    pub fn ask(&self, signal: usize) {
        self.signal.store(signal, Ordering::Relaxed);
    }

    /// The signal that asked for an end.
    pub fn signal(&self) -> Option<i32> {
        match self.signal.load(Ordering::Relaxed) {
            0 => None,
            signal => i32::try_from(signal).ok(),
        }
    }

    /// Whether a signal asks for a save.
    pub fn wants_save(&self) -> bool {
        self.signal().is_some() || self.pauses.load(Ordering::Relaxed)
    }

    /// Returns [`Failure::Interrupted`] if a signal asked for an end; pauses if one asked for that.
    pub fn check(&self) -> Result<(), Failure> {
        self.pause();
        self.signal()
            .map_or(Ok(()), |signal| Err(Failure::Interrupted(signal)))
    }

    /// Another worker begins, or one ends.
    pub fn begins(&self) {
        self.workers.fetch_add(1, Ordering::Relaxed);
    }

    /// A worker ends.
    pub fn ends(&self) {
        self.workers.fetch_sub(1, Ordering::Relaxed);
    }

    /// Stops the program, if Ctrl-Z asks for that, once all workers have come here.
    pub fn pause(&self) {
        if !self.pauses.load(Ordering::Relaxed) {
            return;
        }
        self.waiting.fetch_add(1, Ordering::SeqCst);
        while self.pauses.load(Ordering::SeqCst) {
            let all = self.workers.load(Ordering::SeqCst);
            if self.waiting.load(Ordering::SeqCst) < all {
                sleep(Duration::from_millis(10));
            } else if self.pauses.swap(false, Ordering::SeqCst) {
                #[cfg(unix)]
                let _ = signal_hook::low_level::raise(signal_hook::consts::SIGSTOP);
            }
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The signals that ask for an end.
#[cfg(not(unix))]
const ENDS: [i32; 2] = [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM];

/// The signals that ask for an end.
#[cfg(unix)]
const ENDS: [i32; 3] = {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    [SIGHUP, SIGINT, SIGTERM]
};

#[cfg(not(unix))]
fn heeded(signals: &[i32]) -> impl Iterator<Item = i32> {
    signals.iter().copied()
}

/// The signals among these that are not ignored.
#[cfg(unix)]
fn heeded(signals: &[i32]) -> impl Iterator<Item = i32> {
    use signal_hook::consts::SIGHUP;

    // Where the system does not say which are ignored, the signal of `nohup` counts as ignored.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let mask = mask.unwrap_or(1 << (SIGHUP - 1));
    let is_heeded = move |signal: &i32| mask >> (signal - 1) & 1 == 0;
    signals.iter().copied().filter(is_heeded)
}
