//! Handles: what a program holds is a number that stands for an object in a
//! table here, never an address. A stale, forged or mixed-up handle is therefore
//! an error code, and no handle is ever given out twice.

use crate::error::Code;
use crate::sync::locked;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// An opaque `CUcontext`, `CUmodule`, `CUfunction`, `CUstream` or `CUevent`.
/// Zero is C's null.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Handle(pub usize);

impl Handle {
    /// C's null.
    pub const NULL: Handle = Handle(0);

    /// A handle that was never given out before, of any kind of object.
    pub fn fresh() -> Handle {
        // Far from small numbers and from any address a program might mix up.
        static NEXT: AtomicU64 = AtomicU64::new(0x5100_0000);
        Handle(NEXT.fetch_add(0x10, Ordering::Relaxed) as usize)
    }

    /// An object of a kind, as the report of leaks names it.
    pub fn named(self, kind: &str) -> String {
        format!("{kind} {:#x}", self.0)
    }

    /// The error for a handle that names nothing, or something of another kind.
    pub fn is_no(self, code: Code, kind: &str) -> Code {
        let why = match self {
            Handle::NULL => format!("null is no {kind}"),
            Handle(number) => format!("{number:#x} is no {kind}, or one that is gone"),
        };
        code.because(why)
    }
}

/// The live objects of one kind.
pub struct Table<T>(Mutex<HashMap<Handle, Arc<T>>>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table(Mutex::default())
    }
}

impl<T> Table<T> {
    fn lock(&self) -> MutexGuard<'_, HashMap<Handle, Arc<T>>> {
        locked(&self.0)
    }

    /// Adds an object under a handle of its own.
    pub fn insert(&self, handle: Handle, object: Arc<T>) {
        self.lock().insert(handle, object);
    }

    /// The object a handle stands for.
    pub fn get(&self, handle: Handle) -> Option<Arc<T>> {
        self.lock().get(&handle).cloned()
    }

    /// The handle of an object that `is` the one.
    pub fn find(&self, is: impl Fn(&T) -> bool) -> Option<Handle> {
        let objects = self.lock();
        let found = objects.iter().find(|(_, object)| is(object));
        found.map(|(handle, _)| *handle)
    }

    /// Every object.
    pub fn all(&self) -> Vec<Arc<T>> {
        self.lock().values().cloned().collect()
    }

    /// Takes an object out.
    pub fn remove(&self, handle: Handle) -> Option<Arc<T>> {
        self.lock().remove(&handle)
    }

    /// Takes out every object that `of` chooses, in the order they were made.
    pub fn drain(&self, of: impl Fn(&T) -> bool) -> Vec<(Handle, Arc<T>)> {
        let mut found: Vec<_> = self.lock().extract_if(|_, object| of(object)).collect();
        found.sort_by_key(|(handle, _)| *handle);
        found
    }
}
