//! Stages of work on threads of their own, where threads can be had.

use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Scope};
use std::{io, iter};

use crate::failure::Failure;

/// The work of a thread.
pub type Work<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Gives `owned` to `work` on a new thread.
///
/// # Errors
/// Gives it back where `spawn` has no thread.
pub fn hand_over<'a, T: Send + 'a>(
    owned: T,
    work: impl FnOnce(T) + Send + 'a,
    spawn: impl FnOnce(Work<'a>) -> io::Result<()>,
) -> Result<(), T> {
    // A thread that cannot be had takes with it what it was to do.
    let shared = Arc::new(Mutex::new(Some(owned)));
    let take = |shared: &Mutex<Option<T>>| {
        let mut owned = shared.lock().unwrap_or_else(PoisonError::into_inner);
        owned.take().expect("one of two takes it")
    };
    let given = Arc::clone(&shared);
    match spawn(Box::new(move || work(take(&given)))) {
        Ok(()) => Ok(()),
        Err(_) => Err(take(&shared)),
    }
}

/// Pieces of work, one after another, up to the first failure.
pub type Pieces<'a, T> = Box<dyn Iterator<Item = Result<T, Failure>> + Send + 'a>;

/// Makes pieces on a new thread, one ahead of the consumer; where no thread can be had, as they are
/// wanted.
pub fn ahead<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    pieces: impl Iterator<Item = Result<T, Failure>> + Send + 'scope,
) -> Pieces<'scope, T> {
    let (out, made) = sync_channel(0);
    let make = move |mut pieces: Pieces<'scope, T>| {
        // Memory that ends in the middle of a piece is its failure: a thread that unwinds
        // would end the scope with a panic.
        let next = || {
            let next = bigint_cpu::or_out_of_memory(|| pieces.next());
            next.unwrap_or_else(|error| Some(Err(error.into())))
        };
        for piece in iter::from_fn(next) {
            let is_last = piece.is_err();
            if out.send(Some(piece)).is_err() || is_last {
                return;
            }
        }
        let _ = out.send(None);
    };
    let spawn = |work| thread::Builder::new().spawn_scoped(scope, work).map(drop);
    match hand_over(Box::new(pieces) as Pieces<'scope, T>, make, spawn) {
        // The end is told. A thread that panics tells none, and what there is until
        // then must not be taken for all.
        Ok(()) => Box::new(iter::from_fn(move || {
            let cut = || Some(Err(Failure::Running("the work was cut short".to_owned())));
            made.recv().unwrap_or_else(|_| cut())
        })),
        Err(pieces) => pieces,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_thread_takes_comes_back() {
        let (out, taken) = sync_channel(1);
        let work = move |number: u32| out.send(number).unwrap();
        let spawn = |work| thread::Builder::new().spawn(work).map(drop);
        assert_eq!(hand_over(7, work.clone(), spawn), Ok(()));
        assert_eq!(taken.recv(), Ok(7));
        let refused = |_: Work<'_>| Err(io::ErrorKind::WouldBlock.into());
        assert_eq!(hand_over(8, work, refused), Err(8));
        assert!(taken.recv().is_err());
    }

    #[test]
    fn pieces_made_ahead_come_in_order_to_their_end_or_to_the_first_failure() {
        let piece = |i| match i {
            1000 => Err(Failure::Usage("the last".to_owned())),
            _ => Ok(i),
        };
        thread::scope(|scope| {
            let pieces: Vec<_> = ahead(scope, (0..1000).map(piece)).collect();
            let numbers: Vec<u32> = pieces.into_iter().map(Result::unwrap).collect();
            assert_eq!(numbers, Vec::from_iter(0..1000));
            let pieces: Result<Vec<u32>, _> = ahead(scope, (500..).map(piece)).collect();
            assert!(matches!(pieces, Err(Failure::Usage(_))));
        });
    }

    #[test]
    fn pieces_that_a_panic_ends_end_in_a_failure() {
        let pieces = iter::from_fn(|| -> Option<Result<u32, Failure>> { panic!("on purpose") });
        let mut outcome = None;
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            thread::scope(|scope| outcome = ahead(scope, pieces).next());
        }));
        assert!(matches!(outcome, Some(Err(Failure::Running(_)))));
        assert!(panicked.is_err());
    }
}
