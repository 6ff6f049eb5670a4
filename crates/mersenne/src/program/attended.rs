//! Work of minutes on the CPU, beside which signals are heeded and progress is shown.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use super::output::show;
use super::stop::Stop;
use super::{Common, Failure};

/// The time between two looks at signals.
const LOOK: Duration = Duration::from_millis(100);

/// The result of `work`, which runs on a thread of its own while `progress` says how far it is.
/// If a signal asks the program to stop, that thread is abandoned, so it must write nothing.
pub fn attended<T: Send + 'static>(
    progress: impl Fn() -> String,
    common: &Common,
    stop: &Stop,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    let (sender, receiver) = sync_channel(1);
    let thread = Builder::new().spawn(move || {
        // Nobody receives it where a signal asked the program to stop.
        let _ = sender.send(work());
    });
    let thread =
        thread.map_err(|error| Failure::Running(format!("no thread can be had: {error}")))?;
    let (started, mut shown) = (Instant::now(), Instant::now());
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(answer) => return Ok(answer),
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => unreachable!("it sends before it ends"),
            },
            Err(RecvTimeoutError::Timeout) => {}
        }
        stop.check()?;
        if shown.elapsed() >= common.report_every {
            show!("{}, since {} s", progress(), started.elapsed().as_secs());
            shown = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        common: Common,
    }

    #[test]
    fn work_that_never_ends_is_left_when_a_signal_comes() {
        let Line { common } = Line::parse_from(["mersenne", "--report-every", "1ms"]);
        let stop = Stop::default();
        let shown = AtomicU32::new(0);
        let progress = || {
            // It is shown again and again, and then asked to stop.
            if shown.fetch_add(1, Ordering::Relaxed) == 1 {
                stop.ask(15);
            }
            "work".to_owned()
        };
        let (_open, never) = sync_channel::<()>(0);
        let answer = attended(progress, &common, &stop, move || never.recv());
        assert!(matches!(answer, Err(Failure::Interrupted(15))));
        assert_eq!(shown.into_inner(), 2);
        let answer = attended(String::new, &common, &Stop::default(), || 7);
        assert!(matches!(answer, Ok(7)));
    }
}
