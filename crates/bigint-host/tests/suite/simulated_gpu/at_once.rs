//! The engine `auto` where devices are to compute whatever there is.

use bigint_host::{Engine, Tuning};

/// The engine `auto`, which takes devices for the least work, and waits for them.
pub fn auto() -> Engine {
    Engine::auto().with_tuning(at_once(Tuning::default()))
}

/// Thresholds by which it does so.
pub fn at_once(mut tuning: Tuning) -> Tuning {
    tuning.start.driver_ms = 0.0;
    tuning.start.module_ms = 0.0;
    tuning
}
