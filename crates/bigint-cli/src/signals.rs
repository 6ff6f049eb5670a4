//! Signals that end the command, and the files that they must not leave behind.

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The unfinished files that a signal must remove. No signal ends the program while
/// the guard is held.
pub fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn remove(unfinished: &[PathBuf]) {
    for path in unfinished {
        let _ = fs::remove_file(path);
    }
}

/// Removes the unfinished files, unless one of them is being finished.
fn remove_unfinished() {
    if let Ok(unfinished) = UNFINISHED.try_lock() {
        remove(&unfinished);
    }
}

/// Has SIGINT, SIGTERM and SIGHUP, and the end of memory, remove the unfinished files and end the
/// program. The exit code is the one by which shells report a signal, 128 + its number. A signal
/// that was ignored at the start, as by `nohup`, stays ignored.
///
/// A file that reaches the limit on files' sizes becomes an error of the write.
#[cfg(unix)]
pub fn watch() {
    use std::sync::atomic::AtomicBool;
    use std::sync::{Arc, Once, mpsc};
    use std::thread;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;

    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        bigint_cpu::program::at_end(remove_unfinished);
        // It cannot fail but where the system knows no such limit.
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
        let (ready, watching) = mpsc::channel::<()>();
        let watch = move || {
            let heeded = [SIGINT, SIGTERM, SIGHUP].into_iter();
            let heeded = heeded.filter(|&signal| !is_ignored(signal));
            let Ok(mut signals) = Signals::new(heeded) else {
                return;
            };
            drop(ready);
            if let Some(signal) = signals.forever().next() {
                let unfinished = unfinished();
                remove(&unfinished);
                std::process::exit(128 + signal);
            }
        };
        // Without a thread, signals do what they do to any program: where the file
        // system has no unnamed files, that leaves the unfinished one behind, under
        // a name that says so. No reason to refuse the work.
        if thread::Builder::new().spawn(watch).is_ok() {
            let _ = watching.recv();
        }
    });
}

/// Does nothing where there are no such signals: they end the program.
#[cfg(not(unix))]
pub fn watch() {}

/// Whether the program was started with this signal ignored. Where the system does
/// not say, what `nohup` sends is taken for ignored.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    match mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()) {
        Some(mask) => mask >> (signal - 1) & 1 == 1,
        None => signal == signal_hook::consts::SIGHUP,
    }
}
