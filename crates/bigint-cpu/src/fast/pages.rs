//! Pages of fresh memory.
//!
//! A system hands out memory one page of 4 KiB at a time, when it is first written, and zeroes it
//! then. So a result that is written once takes longer for its pages than for its limbs. A page of
//! 2 MiB takes one fault instead of 512.

// System calls decide what pages memory has.
#![allow(unsafe_code)]

#[cfg(target_os = "linux")]
use std::{
    fs::File,
    io::Read,
    sync::{Mutex, PoisonError},
};

/// The bytes from which on memory should have large pages, so that there are several of them.
const LARGE: usize = 8 << 20;

/// Puts large pages under untouched memory, if the system has them. A refusal is no error: without
/// large pages memory works as well, but is slower the first time.
pub(crate) fn enlarge<T>(memory: &mut [T]) {
    let bytes = size_of_val(memory);
    if bytes < LARGE {
        return;
    }
    #[cfg(target_os = "linux")]
    {
        /// The size of a page on every machine, or a multiple of it.
        const PAGE: usize = 64 << 10;
        let start = memory.as_mut_ptr().addr().next_multiple_of(PAGE);
        let end = (memory.as_mut_ptr().addr() + bytes) / PAGE * PAGE;
        // SAFETY: the pages are whole and within memory that is lent to this function, and the
        // advice changes no byte of them.
        unsafe {
            libc::madvise(
                std::ptr::without_provenance_mut(start),
                end - start,
                libc::MADV_HUGEPAGE,
            );
        }
    }
}

/// Whether the system has so many more bytes. The allocator might answer from memory that one
/// thread has freed. Other threads cannot have that memory if there is no room for heaps of their
/// own.
///
/// If addresses are limited, they are counted. To take them and give them back would leave other
/// threads without addresses for that time.
#[cfg(target_os = "linux")]
pub(crate) fn can_be_had(bytes: usize) -> bool {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    if let Some(left) = addresses_left() {
        return bytes <= left;
    }
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the system chooses a place where nothing else is, and nothing is left there.
    unsafe {
        let pages = libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        pages != libc::MAP_FAILED && libc::munmap(pages, bytes) == 0
    }
}

/// The bytes of addresses that the process may still take, or `None` if they are not limited, or if
/// the system does not say how many the process has.
#[cfg(target_os = "linux")]
fn addresses_left() -> Option<usize> {
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the limit is written to a variable of this function.
    let is_known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } == 0;
    if !is_known || limit.rlim_cur == libc::RLIM_INFINITY {
        return None;
    }
    // The first number is the number of pages. It is at most the number of addresses, so it fits
    // the buffer.
    let mut text = [0; 24];
    let length = File::open("/proc/self/statm").and_then(|mut file| file.read(&mut text));
    let digits = text[..length.ok()?].split(|byte| *byte == b' ').next()?;
    let pages: usize = str::from_utf8(digits).ok()?.parse().ok()?;
    // SAFETY: the call only asks a question.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
    let limit = usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX);
    Some(limit.saturating_sub(pages.checked_mul(page)?))
}

/// Whether there are so many more bytes.
#[cfg(not(target_os = "linux"))]
pub(crate) fn can_be_had(bytes: usize) -> bool {
    let mut more = Vec::<u8>::new();
    let reserved = crate::program::fallible(|| more.try_reserve_exact(bytes));
    // Without this the compiler leaves out an allocation that nobody uses.
    std::hint::black_box(&mut more);
    reserved.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_system_has_cannot_be_had() {
        assert!(can_be_had(1 << 22));
        assert!(!can_be_had(isize::MAX as usize));
    }

    #[test]
    fn advised_memory_holds_what_it_held() {
        for bytes in [0, 1, LARGE - 1, LARGE, LARGE + 12_345] {
            let mut memory: Vec<u8> = (0..bytes).map(|i| (i % 251) as u8).collect();
            enlarge(&mut memory);
            let same = |(i, byte): (usize, &u8)| usize::from(*byte) == i % 251;
            assert!(memory.iter().enumerate().all(same));
        }
    }
}
