//! The pointers that C callers pass, as types that can be used safely.
//!
//! # The contract that every SAFETY comment here leans on
//! The types of this module are made by a C caller alone: as parameters of an
//! entry point, or read from memory that such a parameter points to. By the
//! contract of the CUDA driver or runtime API, which calling an entry point (an
//! `unsafe` act) accepts, a pointer is either null or good for what the API says is
//! read or written through it: for as long as the call lasts, and for the operands of
//! asynchronous work, until that work is done. What the API allows to be null is
//! tested here.

#![allow(unsafe_code)] // Reads and writes the memory of C callers; see above.

use crate::error::{Code, Result, invalid};
use crate::state::handle::Handle;
use crate::state::host::HostSpan;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::NonNull;

/// The error for a pointer that must not be null.
fn null() -> Code {
    invalid("a pointer is null")
}

/// A pointer to where one value is to be written.
#[repr(transparent)]
pub struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Writes the value; null is an invalid value.
    pub fn set(&self, value: T) -> Result {
        self.set_if_asked(value).then_some(()).ok_or_else(null)
    }

    /// Writes the value unless the pointer is null, and says whether it did.
    pub fn set_if_asked(&self, value: T) -> bool {
        if self.0.is_null() {
            return false;
        }
        // SAFETY: not null, so by the contract good for one write; the caller's
        // variable need not be aligned.
        unsafe { self.0.write_unaligned(value) };
        true
    }

    /// An invalid value if the pointer is null: asked before work is done that
    /// nobody would get the result of.
    pub fn check(&self) -> Result {
        (!self.0.is_null()).then_some(()).ok_or_else(null)
    }
}

/// A pointer to values to be read or written, as many as another parameter says.
#[repr(transparent)]
pub struct Values<T>(*mut T);

impl<T: Copy> Values<T> {
    /// No values at all.
    pub const NONE: Self = Values(std::ptr::null_mut());

    /// One value of the caller's, for a call that ends before it goes.
    pub fn of(value: &mut T) -> Self {
        Values(value)
    }

    /// Whether there are none.
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// The value at `index`, which the caller has said there is.
    pub fn get(&self, index: usize) -> Result<T> {
        if self.0.is_null() {
            return Err(null());
        }
        // SAFETY: not null, and by the contract there are as many values as the
        // caller said, which is more than `index`.
        Ok(unsafe { self.0.add(index).read_unaligned() })
    }

    /// Overwrites the value at `index`, which the caller has said there is.
    pub fn set(&self, index: usize, value: T) -> Result {
        if self.0.is_null() {
            return Err(null());
        }
        // SAFETY: as for `get`; the API documents these values as written to.
        unsafe { self.0.add(index).write_unaligned(value) };
        Ok(())
    }
}

/// A C string.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Text(*const c_char);

impl Text {
    /// The bytes before the terminating zero.
    ///
    /// They are copied: the caller's buffer is the caller's again after the call.
    pub fn bytes(self) -> Result<Vec<u8>> {
        if self.0.is_null() {
            return Err(null());
        }
        // SAFETY: not null, and by the contract ends in a zero byte.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_bytes().to_vec())
    }

    /// The address of the text: what is no text after all may be read as what it is.
    pub fn address(self) -> u64 {
        self.0.expose_provenance() as u64
    }

    /// The string, if it is UTF-8.
    pub fn string(self) -> Result<String> {
        let not_text = |_| invalid("a name is not UTF-8");
        String::from_utf8(self.bytes()?).map_err(not_text)
    }

    /// The first `N` bytes, fewer if the string ends before; the rest are zero.
    /// An image that is no text starts with a magic number of so many bytes.
    pub fn magic<const N: usize>(self) -> Result<[u8; N]> {
        if self.0.is_null() {
            return Err(null());
        }
        let mut magic = [0; N];
        for (index, byte) in magic.iter_mut().enumerate() {
            // SAFETY: not null; every byte before this one was not zero, so the
            // string, or the image, has not ended.
            *byte = unsafe { self.0.cast::<u8>().add(index).read() };
            if *byte == 0 {
                break;
            }
        }
        Ok(magic)
    }
}

/// A pointer to host memory of any kind.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostPointer(*mut c_void);

impl HostPointer {
    /// C's null.
    pub const NULL: HostPointer = HostPointer(std::ptr::null_mut());

    /// The address as a number.
    pub fn address(self) -> u64 {
        self.0.addr() as u64
    }

    /// The pointer to an address that a device pointer named: unified addressing.
    pub fn from_address(address: u64) -> HostPointer {
        HostPointer(std::ptr::with_exposed_provenance_mut(address as usize))
    }

    /// The string, or the image, that lies there.
    pub fn text(self) -> Text {
        Text(self.0.cast_const().cast())
    }

    /// Values that lie there, as many as another parameter says.
    pub fn values<T>(self) -> Values<T> {
        Values(self.0.cast())
    }

    /// `bytes` bytes from here on, which by the contract the caller has there.
    pub fn span(self, bytes: usize) -> Result<HostSpan> {
        let start = NonNull::new(self.0.cast()).ok_or_else(null)?;
        // SAFETY: the caller's by the contract, for as long as the work is under way.
        Ok(unsafe { HostSpan::new(start, bytes) })
    }
}

/// A kernel's parameters where a program can read them: their bytes, and a pointer to
/// each.
pub struct ParamBlock {
    /// Pointed into.
    _bytes: Box<[u8]>,
    pointers: Box<[HostPointer]>,
}

// SAFETY: never changed; the pointers lead into the block's own bytes.
unsafe impl Send for ParamBlock {}

impl ParamBlock {
    /// Keeps parameters for as long as the process lives, each at its offset, and returns
    /// what CUDA calls `kernelParams`.
    pub fn keep(bytes: &[u8], offsets: &[usize]) -> HostPointer {
        static KEPT: std::sync::Mutex<Vec<ParamBlock>> = std::sync::Mutex::new(Vec::new());
        let mut bytes: Box<[u8]> = bytes.into();
        let pointers = offsets
            .iter()
            .map(|&offset| HostPointer(bytes[offset..].as_mut_ptr().cast()))
            .collect();
        let mut block = ParamBlock {
            _bytes: bytes,
            pointers,
        };
        let start = HostPointer(block.pointers.as_mut_ptr().cast());
        if let Ok(mut kept) = KEPT.lock() {
            kept.push(block);
        }
        start
    }
}

/// A function that the program wants called: `CUhostFn`.
pub type HostFunction = Option<unsafe extern "C" fn(HostPointer)>;
/// A function that the program wants called with the state of its stream: `CUstreamCallback`.
pub type StreamCallback = Option<unsafe extern "C" fn(Handle, Code, HostPointer)>;
/// `CUoccupancyB2DSize`: the dynamic shared memory of a block of so many threads.
pub type SharedOfBlock = Option<unsafe extern "C" fn(i32) -> usize>;

/// An argument that goes to a program's function on another thread.
#[derive(Clone, Copy)]
pub struct UserData(HostPointer);

// SAFETY: never dereferenced here; the program asked that it be passed to a
// function that a thread of the driver calls.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

impl UserData {
    /// Wraps what the program passed.
    pub fn new(data: HostPointer) -> UserData {
        UserData(data)
    }

    /// Calls a host function with it.
    pub fn call(self, function: unsafe extern "C" fn(HostPointer)) {
        // SAFETY: the program asked for this very call.
        unsafe { function(self.0) }
    }

    /// Calls a stream callback with it.
    pub fn call_back(
        self,
        function: unsafe extern "C" fn(Handle, Code, HostPointer),
        stream: Handle,
        status: Code,
    ) {
        // SAFETY: the program asked for this very call.
        unsafe { function(stream, status, self.0) }
    }
}

/// Asks the program how much dynamic shared memory a block would have.
pub fn shared_of_block(function: unsafe extern "C" fn(i32) -> usize, threads: u32) -> u64 {
    // SAFETY: the program passed the function to be called with block sizes.
    unsafe { function(threads.cast_signed()) as u64 }
}
