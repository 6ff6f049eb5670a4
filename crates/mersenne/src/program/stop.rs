//! Ctrl-C and its like: the test that runs is saved first. A second one ends at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Whether to stop.
#[derive(Clone, Default)]
pub struct Stop(Arc<AtomicUsize>);

impl Stop {
    /// Heeds signals from here on.
    pub fn on_signals() -> Self {
        let stop = Stop::default();
        for signal in [SIGINT, SIGTERM] {
            let asked = Arc::new(AtomicBool::new(false));
            // The order counts: the first signal finds `asked` unset. Where a signal
            // cannot be heeded it ends the program, as it would anyway.
            let _ = flag::register_conditional_shutdown(signal, 128 + signal, asked.clone());
            let _ = flag::register(signal, asked);
            let _ = flag::register_usize(signal, stop.0.clone(), signal as usize);
        }
        stop
    }

    /// The signal that asked for it.
    pub fn signal(&self) -> Option<i32> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            signal => i32::try_from(signal).ok(),
        }
    }
}
