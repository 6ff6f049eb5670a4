//! Host memory, by address: the program's, and what the driver allocates for it.

#![allow(unsafe_code)] // Reads and writes memory of the program's; see `HostSpan::new`.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// Bytes of a page. Page-locked and managed memory comes in whole pages.
pub const PAGE: u64 = 4096;

/// Host memory that a copy reads or writes.
#[derive(Clone, Copy)]
pub struct HostSpan {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the memory belongs to nobody here; what `HostSpan::new` requires of it holds
// on every thread.
unsafe impl Send for HostSpan {}
// SAFETY: as above; a shared reference reads and writes nothing by itself.
unsafe impl Sync for HostSpan {}

impl HostSpan {
    /// The memory of `bytes` bytes from `start` on.
    ///
    /// # Safety
    /// Until the work is done that the span is an operand of, the memory is the program's
    /// to have read or written, as that work does, and the program does neither meanwhile.
    pub unsafe fn new(start: NonNull<u8>, bytes: usize) -> HostSpan {
        HostSpan { start, bytes }
    }

    /// The first address.
    pub fn address(&self) -> u64 {
        self.start.as_ptr().expose_provenance() as u64
    }

    /// The length in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// `bytes` bytes from `offset` on.
    ///
    /// # Panics
    /// If they are not all within.
    pub fn part(&self, offset: u64, bytes: u64) -> HostSpan {
        let (offset, bytes) = (offset as usize, bytes as usize);
        assert!(offset <= self.bytes && bytes <= self.bytes - offset);
        // SAFETY: `offset` is within the span, as was just made sure.
        let start = unsafe { self.start.add(offset) };
        HostSpan { start, bytes }
    }

    /// Gives `f` the bytes to read.
    pub fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
        // SAFETY: whoever made the span has answered for that: see `new`.
        f(unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.bytes) })
    }

    /// Gives `f` the bytes to write.
    pub fn with_bytes_mut<R>(&self, f: impl FnOnce(&mut [u8]) -> R) -> R {
        // SAFETY: whoever made the span has answered for that: see `new`. Byte slices may
        // be of uninitialised memory only here, where `f` is a copy or a fill, which write
        // and do not read.
        f(unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) })
    }

    /// Copies from another span of the same length; they may overlap.
    pub fn copy_from(&self, from: HostSpan) {
        let bytes = self.bytes.min(from.bytes);
        // SAFETY: both spans are as long at least, and good for it: see `new`; `copy`
        // allows overlap.
        unsafe {
            self.start
                .as_ptr()
                .copy_from(from.start.as_ptr().cast_const(), bytes);
        }
    }
}

/// What a copy does with host memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Reads it.
    Read,
    /// Writes it.
    Write,
}

impl HostSpan {
    /// Whether every page of the span is there to be read or written, as far as the
    /// operating system says: it has to move a byte of each. A program's mistake is then
    /// an error code and not its end.
    pub fn allows(&self, access: Access) -> bool {
        let first = self.address() as usize;
        let last = first + (self.bytes - 1);
        let page = PAGE as usize;
        let pages = (first / page + 1..=last / page).map(|number| number * page);
        let starts: Vec<_> = std::iter::once(first).chain(pages).collect();
        // The most that the system takes at a time.
        starts.chunks(libc::UIO_MAXIOV as usize).all(|starts| {
            let byte_at = |address: &usize| libc::iovec {
                iov_base: std::ptr::with_exposed_provenance_mut(*address),
                iov_len: 1,
            };
            let theirs: Vec<_> = starts.iter().map(byte_at).collect();
            let mut bytes = vec![0_u8; starts.len()];
            let ours = libc::iovec {
                iov_base: bytes.as_mut_ptr().cast(),
                iov_len: bytes.len(),
            };
            let count = theirs.len() as libc::c_ulong;
            // SAFETY: the system writes `bytes` alone, whose length `ours` has, and
            // says which of the other addresses it cannot read.
            let moved = unsafe {
                let own = libc::getpid();
                libc::process_vm_readv(own, &ours, 1, theirs.as_ptr(), count, 0)
            };
            if moved < 0 && !matches!(errno(), libc::EFAULT) {
                // It does not answer such questions here.
                return true;
            }
            if moved != starts.len() as isize || access == Access::Read {
                return moved == starts.len() as isize;
            }
            // SAFETY: each byte of the program's is overwritten with itself, in memory
            // that is the call's to write: see `new`.
            let moved = unsafe {
                let own = libc::getpid();
                libc::process_vm_writev(own, &ours, 1, theirs.as_ptr(), count, 0)
            };
            moved == starts.len() as isize
        })
    }
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Host memory that the driver allocated: zeroed, whole pages.
pub struct PageLocked {
    start: NonNull<u8>,
    layout: Layout,
    bytes: usize,
}

// SAFETY: the block is owned, and only ever reached through spans, which see to
// their own synchronisation.
unsafe impl Send for PageLocked {}
// SAFETY: as above; a shared reference gives nothing but spans.
unsafe impl Sync for PageLocked {}

impl PageLocked {
    /// Allocates `bytes` bytes; `None` if the system has no more.
    pub fn new(bytes: usize) -> Option<PageLocked> {
        let layout = Layout::from_size_align(bytes.max(1), PAGE as usize)
            .ok()?
            .pad_to_align();
        // SAFETY: the layout's size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(PageLocked {
            start,
            layout,
            bytes,
        })
    }

    /// All of it. Those who keep a span wait for their work before the block is
    /// dropped.
    pub fn span(&self) -> HostSpan {
        HostSpan {
            start: self.start,
            bytes: self.bytes,
        }
    }
}

impl Drop for PageLocked {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout, and freed here only.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}
