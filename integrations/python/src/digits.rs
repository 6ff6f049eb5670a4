//! Python's ints, digit by digit.
//!
//! CPython keeps an int as digits of 30 bits behind its header: a size, then the digits, the lowest
//! first. Up to 3.11 the size is the number of digits, negative where the int is; from 3.12 on it is
//! a tag, `digits * 8 + sign`, where the sign is 0, 1 of zero, and 2 of negative ints. Neither the
//! layout nor `_PyLong_New`, which makes an int to be filled in, is a part of the stable ABI.
//! So the layout is used only by versions known to have it, on 64 bits, and after a trial
//! ([`Digits::are_as_expected`]); every other Python converts by `int.to_bytes` and `int.from_bytes`,
//! which take ten times as long. `BIGINT_ENGINE_STABLE_INTS=1` asks for these.

#![expect(
    unsafe_code,
    reason = "ints are read and written as CPython lays them out"
)]

use pyo3::exceptions::PyMemoryError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::ffi::c_void;
use std::ptr::NonNull;

/// Bits of one of Python's digits.
const DIGIT_BITS: usize = 30;

/// Bits of a limb.
const LIMB_BITS: usize = 32;

/// Where an int's size stands.
const SIZE_AT: usize = 16;

/// Where an int's digits begin.
const DIGITS_AT: usize = 24;

/// The versions of CPython, `3.minor`, whose layout is known.
const KNOWN: std::ops::RangeInclusive<u8> = 10..=14;

/// Makes an int of so many digits, to be filled in.
type New = unsafe extern "C" fn(isize) -> *mut ffi::PyObject;

/// How ints lie in memory.
#[derive(Clone, Copy)]
pub struct Digits {
    is_tagged: bool,
    new: New,
}

/// An int that somebody keeps alive.
#[derive(Clone, Copy)]
pub struct Int(NonNull<ffi::PyObject>);

// SAFETY: an int never changes, and whoever makes an `Int` keeps it alive while it is used.
unsafe impl Send for Int {}
// SAFETY: as above.
unsafe impl Sync for Int {}

/// An object that somebody keeps alive, while no Python code runs.
#[derive(Clone, Copy)]
pub struct Object(NonNull<ffi::PyObject>);

// SAFETY: its class, which is all that is read, does not change unless Python code runs.
unsafe impl Send for Object {}
// SAFETY: as above.
unsafe impl Sync for Object {}

impl Object {
    /// This object.
    ///
    /// # Safety
    /// It lives, and no Python code runs, as long as the `Object` is used.
    #[inline]
    pub unsafe fn of(object: &Bound<'_, PyAny>) -> Self {
        Object(NonNull::new(object.as_ptr()).expect("no object is at address 0"))
    }

    /// The int, if it is one or of a class derived from it.
    #[inline]
    pub fn int(self) -> Option<Int> {
        let object = self.0.as_ptr();
        // SAFETY: it is an object.
        let is_int =
            unsafe { ffi::PyLong_CheckExact(object) != 0 || ffi::PyLong_Check(object) != 0 };
        is_int.then_some(Int(self.0))
    }

    /// Whether it is `None`.
    #[inline]
    pub fn is_none(self) -> bool {
        // SAFETY: this asks for an address.
        self.0.as_ptr() == unsafe { ffi::Py_None() }
    }
}

impl Digits {
    /// The layout of this Python's ints, if it is known.
    pub fn known(py: Python<'_>) -> Option<Self> {
        static KNOWN: PyOnceLock<Option<Digits>> = PyOnceLock::new();
        *KNOWN.get_or_init(py, || {
            let found = Digits::of_version(py).ok().flatten()?;
            found.are_as_expected(py).then_some(found)
        })
    }

    fn of_version(py: Python<'_>) -> PyResult<Option<Self>> {
        if std::env::var_os("BIGINT_ENGINE_STABLE_INTS").is_some() {
            return Ok(None);
        }
        let version = py.version_info();
        let sys = py.import("sys")?;
        let name: String = sys.getattr("implementation")?.getattr("name")?.extract()?;
        let info = sys.getattr("int_info")?;
        let digit: (usize, usize) = (
            info.getattr("bits_per_digit")?.extract()?,
            info.getattr("sizeof_digit")?.extract()?,
        );
        let is_known = name == "cpython"
            && version.major == 3
            && KNOWN.contains(&version.minor)
            && digit == (DIGIT_BITS, 4)
            && cfg!(all(target_endian = "little", target_pointer_width = "64"));
        // SAFETY: the name ends in a zero.
        let new = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_PyLong_New".as_ptr()) };
        Ok((is_known && !new.is_null()).then(|| Digits {
            is_tagged: version.minor >= 12,
            // SAFETY: in these versions the function of this name has this type.
            new: unsafe { std::mem::transmute::<*mut c_void, New>(new) },
        }))
    }

    /// Whether ints read and written so are what Python takes them for.
    fn are_as_expected(self, py: Python<'_>) -> bool {
        let number = 0x0123_4567_89AB_CDEF_0011_2233_4455_6677_u128;
        [0, 1, 1 << 30, (1 << 60) - 1, number]
            .iter()
            .all(|&magnitude| {
                [false, true].into_iter().all(|negative| {
                    let limbs: Vec<u32> = (0..4).map(|i| (magnitude >> (32 * i)) as u32).collect();
                    let width = limbs
                        .iter()
                        .rposition(|&limb| limb != 0)
                        .map_or(0, |at| at + 1);
                    self.reads(py, magnitude, negative, &limbs[..width])
                        .unwrap_or(false)
                })
            })
    }

    fn reads(
        self,
        py: Python<'_>,
        magnitude: u128,
        negative: bool,
        limbs: &[u32],
    ) -> PyResult<bool> {
        let theirs = magnitude.into_pyobject(py)?.into_any();
        let theirs = if negative { theirs.neg()? } else { theirs };
        // SAFETY: `theirs` lives.
        let Some(int) = unsafe { Object::of(&theirs) }.int() else {
            return Ok(false);
        };
        let (_, digits) = self.size(int);
        // Before anything is read that another layout would not have.
        let bits = magnitude.checked_ilog2().map_or(0, |log| log as usize + 1);
        if digits != bits.div_ceil(DIGIT_BITS) {
            return Ok(false);
        }
        let mut read = vec![0; limbs.len()];
        let is_of_length = self.length(int) == (limbs.len(), negative && magnitude != 0);
        self.read(int, &mut read);
        let ours = self.allocate(py, limbs)?;
        // SAFETY: it was made for these limbs, and nobody else has it.
        unsafe { self.write(ours.as_ptr(), limbs, negative) };
        Ok(is_of_length && read == limbs && ours.bind(py).eq(theirs)?)
    }

    /// Whether an int is negative, and how many digits it has.
    #[inline]
    fn size(self, int: Int) -> (bool, usize) {
        // SAFETY: an int of this layout has its size here.
        let size = unsafe { int.0.byte_add(SIZE_AT).cast::<isize>().read() };
        match self.is_tagged {
            true => (size & 3 == 2, (size as usize) >> 3),
            false => (size < 0, size.unsigned_abs()),
        }
    }

    /// How many limbs an int has, and whether it is negative.
    #[inline]
    pub fn length(self, int: Int) -> (usize, bool) {
        let (negative, digits) = self.size(int);
        let Some(below) = digits.checked_sub(1) else {
            return (0, false);
        };
        // SAFETY: an int of so many digits has this one.
        let top = unsafe { int.0.byte_add(DIGITS_AT).cast::<u32>().add(below).read() };
        let bits = DIGIT_BITS * below + (LIMB_BITS - top.leading_zeros() as usize);
        (bits.div_ceil(LIMB_BITS), negative)
    }

    /// Writes the limbs of an int, as many as [`length`](Self::length) says.
    #[inline]
    pub fn read(self, int: Int, limbs: &mut [u32]) {
        let (_, count) = self.size(int);
        // SAFETY: the digits of an int are as many as its size says, and never change.
        let digits = unsafe {
            std::slice::from_raw_parts(int.0.byte_add(DIGITS_AT).cast::<u32>().as_ptr(), count)
        };
        // 16 digits are 15 limbs: each of these has the rest of a digit, and the next one's low bits.
        let (whole, rest) = digits.as_chunks::<16>();
        let (places, last) = limbs.split_at_mut(15 * whole.len().min(limbs.len() / 15));
        let (places, _) = places.as_chunks_mut::<15>();
        for (place, digits) in places.iter_mut().zip(whole) {
            for (i, limb) in place.iter_mut().enumerate() {
                *limb = digits[i] >> (2 * i) | digits[i + 1] << (DIGIT_BITS - 2 * i);
            }
        }
        let rest = match places.len() < whole.len() {
            // The last limbs are fewer than its digits could have.
            true => &digits[16 * places.len()..],
            false => rest,
        };
        let (mut held, mut bits) = (0_u64, 0);
        let mut last = last.iter_mut();
        for &digit in rest {
            held |= u64::from(digit) << bits;
            bits += DIGIT_BITS;
            if bits >= LIMB_BITS {
                if let Some(limb) = last.next() {
                    *limb = held as u32;
                }
                held >>= LIMB_BITS;
                bits -= LIMB_BITS;
            }
        }
        if let Some(limb) = last.next() {
            *limb = held as u32;
        }
    }

    /// The digits that limbs, the last of which is not zero, take.
    #[inline]
    fn digits_of(limbs: &[u32]) -> usize {
        let top = limbs.last().map_or(0, |top| top.leading_zeros() as usize);
        (LIMB_BITS * limbs.len() - top).div_ceil(DIGIT_BITS)
    }

    /// An int with room for these limbs, which [`write`](Self::write) is to fill in.
    #[inline]
    pub fn allocate(self, py: Python<'_>, limbs: &[u32]) -> PyResult<Py<PyAny>> {
        // SAFETY: the interpreter is attached; the answer is null, or an int that is ours.
        let made = unsafe {
            let made = (self.new)(Digits::digits_of(limbs) as isize);
            Bound::from_owned_ptr_or_opt(py, made)
        };
        Ok(made.ok_or_else(|| PyMemoryError::new_err(()))?.unbind())
    }

    /// Writes limbs, the last of which is not zero, into an int.
    ///
    /// # Safety
    /// [`allocate`](Self::allocate) made the int for these limbs, and nobody else looks at it.
    #[inline]
    pub unsafe fn write(self, int: *mut ffi::PyObject, limbs: &[u32], negative: bool) {
        let count = Digits::digits_of(limbs);
        let size = match (self.is_tagged, negative && count > 0) {
            (true, _) if count == 0 => 1,
            (true, negative) => ((count as isize) << 3) | if negative { 2 } else { 0 },
            (false, true) => -(count as isize),
            (false, false) => count as isize,
        };
        // SAFETY: the int has a size and so many digits, and nobody else looks at it.
        let digits = unsafe {
            int.byte_add(SIZE_AT).cast::<isize>().write(size);
            std::slice::from_raw_parts_mut(int.byte_add(DIGITS_AT).cast::<u32>(), count)
        };
        const MASK: u32 = (1 << DIGIT_BITS) - 1;
        let (whole, rest) = limbs.as_chunks::<15>();
        let (places, last) = digits.split_at_mut(16 * whole.len().min(count / 16));
        let (places, _) = places.as_chunks_mut::<16>();
        for (place, limbs) in places.iter_mut().zip(whole) {
            place[0] = limbs[0] & MASK;
            for i in 1..15 {
                place[i] = (limbs[i - 1] >> (LIMB_BITS - 2 * i) | limbs[i] << (2 * i)) & MASK;
            }
            place[15] = limbs[14] >> 2;
        }
        let rest = match places.len() < whole.len() {
            true => &limbs[15 * places.len()..],
            false => rest,
        };
        let (mut held, mut bits) = (0_u64, 0);
        let mut rest = rest.iter();
        for digit in last {
            if bits < DIGIT_BITS {
                held |= rest.next().map_or(0, |&limb| u64::from(limb)) << bits;
                bits += LIMB_BITS;
            }
            *digit = held as u32 & MASK;
            held >>= DIGIT_BITS;
            bits -= DIGIT_BITS;
        }
    }
}

/// The memory that the ints to come will be in.
///
/// CPython takes small objects' memory from the system in pieces of a megabyte and hands it out from one end to the
/// other. The system provides each page of 4 KiB when it is first written, which takes longer than the ints in it do to
/// make. Pages asked for together take two thirds of that. Where the guess is wrong, there is memory that is
/// there already, or none, and nothing changes.
pub struct Ahead {
    last: usize,
    end: usize,
}

impl Ahead {
    /// Bytes that are asked for at a time.
    const BYTES: usize = 1 << 16;

    /// No int has been made yet.
    pub fn new() -> Self {
        Ahead { last: 0, end: 0 }
    }

    /// Takes note of an int that was made last, and asks for memory before the next one needs it.
    #[inline]
    pub fn follow(&mut self, int: *mut ffi::PyObject) {
        let (last, at) = (self.last, int.addr());
        self.last = at;
        let is_next = (1..Ahead::BYTES).contains(&at.wrapping_sub(last));
        let is_there = at + Ahead::BYTES / 16 < self.end && at + 2 * Ahead::BYTES > self.end;
        if is_next && !is_there {
            self.end = Ahead::asked_for(at);
        }
    }

    /// Asks for the memory behind an address; returns where it ends.
    #[cold]
    fn asked_for(at: usize) -> usize {
        const PAGE: usize = 1 << 12;
        let start = at.next_multiple_of(PAGE);
        // SAFETY: this writes nothing, and takes no memory from anyone; where none is, it is refused.
        #[cfg(target_os = "linux")]
        unsafe {
            let place = std::ptr::without_provenance_mut(start);
            libc::madvise(place, Ahead::BYTES, libc::MADV_POPULATE_WRITE);
        }
        start + Ahead::BYTES
    }
}
