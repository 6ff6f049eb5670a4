//! How an error crosses to C: as a status, and as words that the thread keeps.

use crate::bigint_status;
use bigint_host::Error;
use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static WORDS: RefCell<CString> = RefCell::default();
}

/// Why a function does not do what is asked.
pub enum Refused {
    /// An argument that is none: what is wrong with it.
    Argument(String),
    /// What the engine says.
    Engine(Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Refused::Engine(error)
    }
}

/// A refused argument.
pub fn argument(words: impl Into<String>) -> Refused {
    Refused::Argument(words.into())
}

/// Does `work`; what goes wrong, a panic too, becomes a status and words.
pub fn answer(work: impl FnOnce() -> Result<(), Refused>) -> bigint_status {
    // What a call that panics leaves half done is its own results alone, which nobody gets.
    let (status, words) = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return bigint_status::OK,
        Ok(Err(Refused::Argument(words))) => (bigint_status::ARGUMENT, words),
        Ok(Err(Refused::Engine(error))) => (status(&error), error.to_string()),
        Err(panic) => of_panic(panic.as_ref()),
    };
    let words = CString::new(words.replace('\0', " ")).unwrap_or_default();
    WORDS.with(|kept| kept.replace(words));
    status
}

/// The words of the last call on this thread that was refused.
pub fn last_words() -> *const c_char {
    WORDS.with(|kept| kept.borrow().as_ptr())
}

fn status(error: &Error) -> bigint_status {
    match error {
        Error::OutOfMemory { .. } => bigint_status::OUT_OF_MEMORY,
        Error::Device(_) => bigint_status::DEVICE,
        Error::ZeroDivisor { .. }
        | Error::NotInvertible { .. }
        | Error::EvenModulus { .. }
        | Error::Negative { .. }
        | Error::NegativeExponent { .. }
        | Error::NotReduced { .. }
        | Error::NoPrimeBelow { .. }
        | Error::NoSuchPrime
        | Error::NotDivisible { .. } => bigint_status::NO_VALUE,
        _ => bigint_status::ARGUMENT,
    }
}

fn of_panic(panic: &(dyn Any + Send)) -> (bigint_status, String) {
    // A thread that has not the memory for its scratch unwinds with the error.
    if let Some(error) = Error::of_panic(panic) {
        return (bigint_status::OUT_OF_MEMORY, error.to_string());
    }
    let words = panic.downcast_ref::<&str>().copied();
    let words = words.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let words = words.unwrap_or("a panic without words");
    (
        bigint_status::PANIC,
        format!("a defect of the library: {words}"),
    )
}
