//! Numbers in device memory: loads and stores of limbs that stay inside a number.

#![allow(unsafe_code)] // The compiler cannot see which device memory numbers access.

use super::access::*;
pub use super::access::{Walk, multiply_add};
use super::flat::Row;
use super::known::Known as _;
use super::row;
use bigint_core::kernel::PIECE;
use bigint_core::specialization::NEIGHBOURS;
use bigint_core::{Arguments, Limb, MatrixArgument};
use core::arch::asm;

/// Bytes in a limb.
const LIMB_BYTES: u64 = 4;

/// The distance between a number's limbs.
pub trait Stride: Copy {
    /// Whether limbs are known to be neighbours when Rust is compiled, so that four of them may be moved at once.
    const UNIT: bool;

    /// The stride of a launch's argument.
    fn of(argument: &MatrixArgument) -> Self;

    /// The distance, in limbs.
    fn limbs(self) -> u64;

    /// The distance of limb `at` from the lowest, in limbs.
    #[inline(always)]
    fn to(self, at: u32) -> u64 {
        u64::from(at) * self.limbs()
    }

    /// Whether limbs are neighbours.
    #[inline(always)]
    fn is_unit(self) -> bool {
        Self::UNIT
    }
}

/// The stride of the contiguous layout, in which limbs are neighbours.
#[derive(Clone, Copy)]
pub struct Unit;

impl Stride for Unit {
    const UNIT: bool = true;

    #[inline(always)]
    fn of(_: &MatrixArgument) -> Self {
        Unit
    }

    #[inline(always)]
    fn limbs(self) -> u64 {
        1
    }
}

/// Any stride, for the interleaved layout and for operands of different layouts.
#[derive(Clone, Copy)]
pub struct Any(u64);

impl Stride for Any {
    const UNIT: bool = false;

    #[inline(always)]
    fn of(argument: &MatrixArgument) -> Self {
        Any(argument.limb_stride)
    }

    #[inline(always)]
    fn limbs(self) -> u64 {
        self.0
    }
}

/// Any stride, where the host may know that limbs are neighbours. It makes one text serve both layouts.
#[derive(Clone, Copy)]
pub struct Known {
    limbs: u64,
    is_unit: bool,
}

impl Stride for Known {
    const UNIT: bool = false;

    #[inline(always)]
    fn of(argument: &MatrixArgument) -> Self {
        let limbs = argument.limb_stride;
        let is_unit = NEIGHBOURS.or(limbs == 1);
        Known { limbs, is_unit }
    }

    #[inline(always)]
    fn limbs(self) -> u64 {
        self.limbs
    }

    #[inline(always)]
    fn to(self, at: u32) -> u64 {
        // `limbs` is not set to 1 once and for all: the Rust compiler, which does not know it as
        // the driver's compiler does, would keep multiples of it in registers.
        let at = u64::from(at);
        if self.is_unit { at } else { at * self.limbs }
    }

    #[inline(always)]
    fn is_unit(self) -> bool {
        self.is_unit
    }
}

/// A number in device memory, little-endian, or a part of one.
///
/// Loads above its width give zero and stores there do nothing, so a `Number` is its own zero-extension and
/// truncation. Widths and indices fit 32 bits: the widest product has 2^29 limbs. Copies name the same memory; Rust
/// holds no reference to it, so they may overlap as the algorithm likes.
#[derive(Clone, Copy)]
pub struct Number<S> {
    address: u64,
    stride: S,
    width: u32,
    /// The limbs that may be touched: `width`, or 0 if the number is switched off.
    reach: u32,
    /// Whether limbs are neighbours, every fourth is aligned to 16 bytes, and `reach` is a multiple
    /// of 4. This holds for all numbers of a batch or for none.
    in_fours: bool,
}

impl<S: Stride> Number<S> {
    /// Number `index` of a batch.
    ///
    /// # Safety
    /// The argument describes device memory that holds number `index` and stays allocated while the
    /// kernel runs. What other threads write to it is ordered with this thread's loads and stores
    /// by barriers, or is never accessed by this thread.
    #[inline(always)]
    pub unsafe fn new(argument: &MatrixArgument, index: u64) -> Self {
        let width = argument.width as u32;
        Number {
            address: argument.limbs + LIMB_BYTES * index * argument.number_stride,
            stride: S::of(argument),
            width,
            reach: width,
            in_fours: S::UNIT && argument.in_fours(),
        }
    }

    /// Numbers `first .. first + numbers` of a batch without gaps, as one number.
    ///
    /// # Safety
    /// The contract of [`new`](Self::new) holds for all of these numbers.
    #[inline(always)]
    pub unsafe fn run(argument: &MatrixArgument, first: u64, numbers: u32) -> Number<Unit> {
        let width = numbers * argument.width as u32;
        Number {
            address: argument.limbs + LIMB_BYTES * first * argument.width,
            stride: Unit,
            width,
            reach: width,
            in_fours: false,
        }
    }

    /// Limbs in the number.
    #[inline(always)]
    pub fn width(self) -> u32 {
        self.width
    }

    /// The number, switched off if `on` is false: it then reads as zero, and stores do nothing.
    #[inline(always)]
    pub fn switched(self, on: bool) -> Self {
        let reach = if on { self.reach } else { 0 };
        Number { reach, ..self }
    }

    /// Limbs `from .. to`, cut to the number's own width.
    #[inline(always)]
    pub fn part(self, from: u32, to: u32) -> Self {
        Number {
            address: self.address_of(from),
            stride: self.stride,
            width: self.width.min(to).saturating_sub(from),
            reach: self.reach.min(to).saturating_sub(from),
            in_fours: self.in_fours && from % 4 == 0 && (to % 4 == 0 || to >= self.width),
        }
    }

    /// The same number, hiding from the compiler how its address was computed. Limbs at constant
    /// places then lie at constant distances from it, and their addresses take no registers.
    #[inline(always)]
    pub fn settled(self) -> Self {
        let (mut address, mut reach) = (self.address, self.reach);
        // SAFETY: there is no instruction.
        unsafe {
            asm!("/* {address} {reach} */", address = inout(reg64) address,
                reach = inout(reg32) reach, options(nostack, preserves_flags));
        }
        Number {
            address,
            reach,
            ..self
        }
    }

    /// The number from limb 4 on. A loop that goes up by it needs no multiplication for an address.
    #[inline(always)]
    pub fn four_up(self) -> Self {
        Number {
            address: self.address + 4 * LIMB_BYTES * self.stride.limbs(),
            width: self.width.saturating_sub(4),
            reach: self.reach.saturating_sub(4),
            ..self
        }
    }

    /// The number of which this one is [`four_up`](Self::four_up), if this one has limbs. Otherwise
    /// no limb of the result may be accessed.
    #[inline(always)]
    pub fn four_down(self) -> Self {
        Number {
            address: self
                .address
                .wrapping_sub(4 * LIMB_BYTES * self.stride.limbs()),
            width: self.width + 4,
            reach: self.reach + 4,
            ..self
        }
    }

    /// The same number, with a stride that is known only at run time.
    #[inline(always)]
    pub fn strided(self) -> Number<Any> {
        Number {
            address: self.address,
            stride: Any(self.stride.limbs()),
            width: self.width,
            reach: self.reach,
            in_fours: false,
        }
    }

    #[inline(always)]
    fn address_of(self, at: u32) -> u64 {
        self.address + LIMB_BYTES * self.stride.to(at)
    }

    /// Whether limbs are neighbours, and every fourth is aligned to 16 bytes.
    #[inline(always)]
    pub fn is_in_fours(self) -> bool {
        self.stride.is_unit() && self.address.is_multiple_of(16)
    }

    /// Limbs `at` and `at + 1`. Places below limb 0 wrap around, and read as zero.
    #[inline(always)]
    pub fn two(self, at: u32) -> [Limb; 2] {
        let stride = LIMB_BYTES * self.stride.limbs();
        let (address, above) = if self.stride.is_unit() {
            let address = multiply_add(at as i32, LIMB_BYTES as i32, self.address);
            (address, address.wrapping_add(LIMB_BYTES))
        } else {
            let limbs = i64::from(at as i32);
            let address = (self.address).wrapping_add(stride.wrapping_mul(limbs as u64));
            (address, address.wrapping_add(stride))
        };
        // SAFETY: where the limbs are inside the number, they are allocated.
        unsafe {
            [
                load_below(at, self.reach, address),
                load_below(at.wrapping_add(1), self.reach, above),
            ]
        }
    }

    /// Limb `at`.
    #[inline(always)]
    pub fn limb(self, at: u32) -> Limb {
        // SAFETY: where `at` is inside the number, it is allocated.
        unsafe { load_below(at, self.reach, self.address_of(at)) }
    }

    /// Limbs `at .. at + N` of a number whose limbs are neighbours. Places below limb 0 wrap around
    /// to places above every number, and read as zero.
    #[inline(always)]
    pub fn near<const N: usize>(self, at: u32) -> [Limb; N] {
        let address = (self.address).wrapping_add_signed(LIMB_BYTES as i64 * i64::from(at as i32));
        let mut limbs = [0; N];
        for (i, limb) in (0..).zip(&mut limbs) {
            let address = address.wrapping_add(LIMB_BYTES * u64::from(i));
            // SAFETY: where the place is inside the number, it is allocated.
            *limb = unsafe { load_below(at.wrapping_add(i), self.reach, address) };
        }
        limbs
    }

    /// Limbs `at .. at + N`; `N` is a multiple of 4.
    #[inline(always)]
    pub fn limbs<const N: usize>(self, at: u32) -> [Limb; N] {
        let mut limbs = [0; N];
        if at + N as u32 <= self.reach {
            let address = self.address_of(at);
            if self.stride.is_unit() && address % 16 == 0 {
                for (i, four) in limbs.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                    // SAFETY: all N limbs are inside the number, which is
                    // allocated; they are neighbours and aligned to 16 bytes.
                    *four = unsafe { load_four(address + 16 * i as u64) };
                }
            } else {
                for (i, limb) in limbs.iter_mut().enumerate() {
                    // SAFETY: all N limbs are inside the number.
                    *limb = unsafe { load(self.address_of(at + i as u32)) };
                }
            }
        } else {
            for (i, limb) in limbs.iter_mut().enumerate() {
                *limb = self.limb(at + i as u32);
            }
        }
        limbs
    }

    /// The limbs from limb `from` on, as many as `R` has, with zeros where the number has none. Four are loaded at a
    /// time if limbs are neighbours, the number has all of them, and their address is a multiple of 16.
    #[inline(always)]
    pub fn registers<R: row::Row>(self, from: u32) -> R {
        let is_inside = from < self.reach && R::LIMBS <= self.reach - from;
        let address = self.address_of(from);
        if R::LIMBS % 4 == 0 && self.stride.is_unit() && is_inside && address % 16 == 0 {
            let mut four = [0; 4];
            R::of(|i| {
                if i % 4 == 0 {
                    // SAFETY: all limbs are inside the number, which is allocated; they are
                    // neighbours and aligned to 16 bytes.
                    four = unsafe { load_four(address + LIMB_BYTES * u64::from(i)) };
                }
                four[i as usize % 4]
            })
        } else {
            R::of(|i| self.limb(from.wrapping_add(i)))
        }
    }

    /// Sets the limbs from limb `from` on, as [`registers`](Self::registers) loads them.
    #[inline(always)]
    pub fn set_registers<R: row::Row>(self, from: u32, limbs: R) {
        let is_inside = from < self.reach && R::LIMBS <= self.reach - from;
        let address = self.address_of(from);
        if R::LIMBS % 4 == 0 && self.stride.is_unit() && is_inside && address % 16 == 0 {
            let mut four = [0; 4];
            limbs.each(|i, limb| {
                four[i as usize % 4] = limb;
                if i % 4 == 3 {
                    // SAFETY: as in `registers`.
                    unsafe { store_four(address + LIMB_BYTES * u64::from(i - 3), four) }
                }
            });
        } else {
            limbs.each(|i, limb| self.set(from.wrapping_add(i), limb));
        }
    }

    /// Whether four limbs can be moved at once, at places that are multiples of 4. The answer is
    /// the same for all numbers of a batch.
    #[inline(always)]
    pub fn in_fours(self) -> bool {
        self.in_fours
    }

    /// Limbs `at .. at + N`, without a branch; `at` and `N` are multiples of 4. `FOURS`
    /// says that [`in_fours`](Self::in_fours) holds.
    #[inline(always)]
    pub fn fours<const N: usize, const FOURS: bool>(self, at: u32) -> [Limb; N] {
        let mut limbs = [0; N];
        if FOURS {
            for (i, four) in limbs.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                let at = at + 4 * i as u32;
                // SAFETY: by `in_fours`, where `at` is inside the number, so are the
                // three limbs above; they are neighbours and aligned.
                *four = unsafe { load_four_below(at, self.reach, self.address_of(at)) };
            }
        } else {
            for (i, limb) in limbs.iter_mut().enumerate() {
                *limb = self.limb(at + i as u32);
            }
        }
        limbs
    }

    /// Sets limbs `at .. at + N`, as [`fours`](Self::fours) loads them.
    #[inline(always)]
    pub fn set_fours<const N: usize, const FOURS: bool>(self, at: u32, limbs: [Limb; N]) {
        if FOURS {
            for (i, four) in limbs.as_chunks::<4>().0.iter().enumerate() {
                let at = at + 4 * i as u32;
                // SAFETY: as in `fours`.
                unsafe { store_four_below(at, self.reach, self.address_of(at), *four) };
            }
        } else {
            for (i, limb) in limbs.iter().enumerate() {
                self.set(at + i as u32, *limb);
            }
        }
    }

    /// Sets limb `at`.
    #[inline(always)]
    pub fn set(self, at: u32, limb: Limb) {
        // SAFETY: where `at` is inside the number, it is allocated.
        unsafe { store_below(at, self.reach, self.address_of(at), limb) }
    }

    /// Sets limbs `at .. at + N`; `N` is a multiple of 4.
    #[inline(always)]
    pub fn set_limbs<const N: usize>(self, at: u32, limbs: [Limb; N]) {
        let address = self.address_of(at);
        if self.stride.is_unit() && at + N as u32 <= self.reach && address % 16 == 0 {
            for (i, four) in limbs.as_chunks::<4>().0.iter().enumerate() {
                // SAFETY: all N limbs are inside the number, which is allocated;
                // they are neighbours and aligned to 16 bytes.
                unsafe { store_four(address + 16 * i as u64, *four) };
            }
        } else {
            for (i, limb) in limbs.iter().enumerate() {
                self.set(at + i as u32, *limb);
            }
        }
    }
}

/// A thread's own column of pairs of limbs in scratch. The columns of all workers stand side by
/// side: pair `i` of worker `w` is pair `i * workers + w`.
#[derive(Clone, Copy)]
pub struct Column {
    address: u64,
    /// The bytes from a pair to the next.
    stride: u32,
}

impl Column {
    /// The column of a worker.
    ///
    /// # Safety
    /// The argument describes interleaved scratch that has two rows of limbs for each pair that is read or set.
    /// Nothing else uses it, and it stays allocated while the kernel runs. What is read has been set before.
    #[inline(always)]
    pub unsafe fn new(scratch: &MatrixArgument, worker: u64) -> Self {
        Column {
            address: scratch.limbs + 2 * LIMB_BYTES * worker,
            stride: 2 * LIMB_BYTES as u32 * scratch.limb_stride as u32,
        }
    }

    #[inline(always)]
    fn address_of(self, i: u32) -> u64 {
        self.address + u64::from(i) * u64::from(self.stride)
    }

    /// Pair `i`.
    #[inline(always)]
    pub fn two(self, i: u32) -> [Limb; 2] {
        // SAFETY: by the contract of `new`; pairs are aligned to 8 bytes.
        unsafe { load_two(self.address_of(i)) }
    }

    /// Sets pair `i`.
    #[inline(always)]
    pub fn set_two(self, i: u32, pair: [Limb; 2]) {
        // SAFETY: as in `two`.
        unsafe { store_two(self.address_of(i), pair) }
    }
}

/// The numbers of a batch, counted from one of them.
#[derive(Clone, Copy)]
pub struct Batch<S> {
    address: u64,
    /// The distance between numbers, in bytes.
    number_stride: i32,
    stride: S,
    width: u32,
}

impl<S: Stride> Batch<S> {
    /// A batch, with number `first` as its number 0.
    ///
    /// # Safety
    /// The contract of [`Number::new`] holds for every number that is accessed.
    #[inline(always)]
    pub unsafe fn new(argument: &MatrixArgument, first: u64) -> Self {
        Batch {
            address: argument.limbs + LIMB_BYTES * first * argument.number_stride,
            // A batch's number stride is 1, the width, or 0, so it fits 32 bits.
            number_stride: (LIMB_BYTES * argument.number_stride) as i32,
            stride: S::of(argument),
            width: argument.width as u32,
        }
    }

    #[inline(always)]
    fn address_of(self, number: i32, limb: u32) -> u64 {
        let number = multiply_add(number, self.number_stride, self.address);
        number.wrapping_add(LIMB_BYTES * self.stride.to(limb))
    }

    /// Whether limbs are neighbours.
    #[inline(always)]
    pub fn is_unit(self) -> bool {
        self.stride.is_unit()
    }

    /// The limbs that a lane moves of the pieces of `numbers` numbers. A piece is eight limbs of a
    /// number from limb `from` on. If limbs are neighbours, the lane moves one limb of each of
    /// eight numbers, else the eight limbs of its own number.
    #[inline(always)]
    pub fn walk(self, lane: u32, from: u32, numbers: u32) -> Walk {
        let (number, limb) = if self.is_unit() {
            (lane - lane % PIECE, lane % PIECE)
        } else {
            (lane, 0)
        };
        let limb = from.wrapping_add(limb);
        let numbers = numbers.saturating_sub(number);
        let limbs = self.width.saturating_sub(limb);
        let apart = LIMB_BYTES * self.stride.limbs();
        let (step, steps) = match self.is_unit() {
            true if limbs == 0 => (0, 0),
            true => (self.number_stride as u64, numbers),
            false if numbers == 0 => (0, 0),
            false => (apart, limbs),
        };
        let address = self.address_of(number as i32, limb);
        // SAFETY: by the contract of `new`, as no limb is above its number.
        unsafe { Walk::new(address, step, steps) }
    }

    /// Limbs in each number.
    #[inline(always)]
    pub fn width(self) -> u32 {
        self.width
    }

    /// The limbs of number `number`, which are neighbours.
    #[inline(always)]
    pub fn row(self, number: i32) -> Row {
        // SAFETY: by the contract of `new`.
        unsafe { Row::of(self.address_of(number, 0)) }
    }

    /// Number `number`. Its limbs are not moved four at a time.
    #[inline(always)]
    pub fn number(self, number: i32) -> Number<S> {
        Number {
            address: self.address_of(number, 0),
            stride: self.stride,
            width: self.width,
            reach: self.width,
            in_fours: false,
        }
    }

    /// Limb `limb` of number `number` if `number < end`, else zero. If `number < end`, the limb
    /// must be below the width.
    #[inline(always)]
    pub fn limb_before(self, number: u32, limb: u32, end: u32) -> Limb {
        // SAFETY: where the number is asked for, it is allocated, and the limb inside it.
        unsafe { load_below(number, end, self.address_of(number as i32, limb)) }
    }

    /// Sets limb `limb` of number `number` if `number < end`. The limb must then be below the width.
    #[inline(always)]
    pub fn set_before(self, number: u32, limb: u32, end: u32, value: Limb) {
        // SAFETY: as in `limb_before`.
        unsafe { store_below(number, end, self.address_of(number as i32, limb), value) }
    }

    /// Limbs `4 at .. 4 at + 4` of the batch taken as one row, if `at < end`, else zeros. Numbers
    /// follow each other without a gap.
    #[inline(always)]
    pub fn four_before(self, at: u32, end: u32) -> [Limb; 4] {
        // SAFETY: where the four is asked for, it is inside the batch; its address is a
        // multiple of 16, as the batch's is.
        unsafe { load_four_below(at, end, self.address + 4 * LIMB_BYTES * u64::from(at)) }
    }

    /// Sets limbs `4 at .. 4 at + 4` of the batch taken as one row.
    #[inline(always)]
    pub fn set_four(self, at: u32, limbs: [Limb; 4]) {
        // SAFETY: as in `four_before`.
        unsafe { store_four(self.address + 4 * LIMB_BYTES * u64::from(at), limbs) }
    }

    /// Limb `limb` of number `number` if `at < end` and the limb is below the width, else zero.
    #[inline(always)]
    pub fn limb(self, number: i32, limb: u32, at: u32, end: u32) -> Limb {
        // SAFETY: where the limb is inside the number, it is allocated.
        unsafe { load_below_both((limb, self.width), (at, end), self.address_of(number, limb)) }
    }

    /// Limb `limb` of number `number`; or limbs `4 limb .. 4 limb + 4` if `UNIT` is 4, for which numbers are [in
    /// fours](MatrixArgument::in_fours). They are zero unless `at < end` and they are below the width.
    #[inline(always)]
    pub fn unit<const UNIT: usize>(
        self,
        number: i32,
        limb: u32,
        at: u32,
        end: u32,
    ) -> [Limb; UNIT] {
        let mut limbs = [0; UNIT];
        if UNIT == 4 {
            let at = if 4 * limb < self.width { at } else { end };
            // SAFETY: where the four is inside the number, it is allocated; by `in_fours` its
            // limbs are neighbours and aligned.
            let four = unsafe { load_four_below(at, end, self.address_of(number, 4 * limb)) };
            limbs.copy_from_slice(&four);
        } else {
            limbs[0] = self.limb(number, limb, at, end);
        }
        limbs
    }

    /// Sets limbs `4 four .. 4 four + 4` of number `number` if `at < end` and they are below the
    /// width. Numbers are [in fours](MatrixArgument::in_fours).
    #[inline(always)]
    pub fn set_unit(self, number: i32, four: u32, at: u32, end: u32, limbs: [Limb; 4]) {
        let at = if 4 * four < self.width { at } else { end };
        // SAFETY: as in `unit`.
        unsafe { store_four_below(at, end, self.address_of(number, 4 * four), limbs) };
    }

    /// Sets limb `limb`, which is below the width, of number `number` if `at < end`.
    #[inline(always)]
    pub fn set(self, number: i32, limb: u32, at: u32, end: u32, value: Limb) {
        // SAFETY: the limb is inside the number, which is allocated.
        unsafe { store_below(at, end, self.address_of(number, limb), value) }
    }
}

/// The words for the carry or borrow out of a number: its own word, and the word for the first
/// number that carries. A launch may lack either.
#[derive(Clone, Copy)]
pub struct CarryOut {
    /// The address of the number's word, or zero if the launch has none.
    word: u64,
    /// The address of the word for the first number that carries, or zero if the launch has none.
    first: u64,
    number: u64,
}

impl CarryOut {
    /// The words for the carry out of number `number`.
    ///
    /// # Safety
    /// The launch's words for carries are allocated, and no other thread reports the carry of this number.
    #[inline(always)]
    pub unsafe fn new(arguments: &Arguments, number: u64) -> Self {
        let words = arguments.carry;
        CarryOut {
            word: if words == 0 {
                0
            } else {
                words + LIMB_BYTES * number
            },
            first: arguments.first_carry,
            number,
        }
    }

    /// The words, or none if `on` is false.
    #[inline(always)]
    pub fn switched(self, on: bool) -> Self {
        let if_on = |word| if on { word } else { 0 };
        CarryOut {
            word: if_on(self.word),
            first: if_on(self.first),
            ..self
        }
    }

    /// Whether a launch wants carries.
    #[inline(always)]
    pub fn is_wanted(arguments: &Arguments) -> bool {
        arguments.carry != 0 || arguments.first_carry != 0
    }

    /// Reports `carry`.
    #[inline(always)]
    pub fn set(self, carry: Limb) {
        if self.word != 0 {
            // SAFETY: the word is allocated by the contract of `new`.
            unsafe { store_below(0, 1, self.word, carry) }
        }
        if self.first != 0 && carry != 0 {
            // SAFETY: the word is allocated by the contract of `new`.
            unsafe { least(self.first, self.number) }
        }
    }
}
