//! Signals that ask for an end: the first is heeded after the round that is on its way, the second at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown};

/// Whether a signal came.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Heeds signals from here on. One that cannot be heeded ends the program, as it would anyway.
    pub fn on_signals() -> Self {
        let stop = Stop::default();
        for signal in [SIGINT, SIGTERM] {
            // The first signal finds it unset.
            let _ = register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stop.0));
            let _ = register(signal, Arc::clone(&stop.0));
        }
        stop
    }

    /// Whether a signal came.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
