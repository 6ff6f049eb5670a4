//! Kernels in which one thread computes a number.

pub mod abs_diff;
pub mod add;
pub mod add_signed;
pub mod and;
pub mod bit_length;
pub mod column;
pub mod compare;
pub mod count_ones;
pub mod div_rem;
pub mod division;
pub mod equal;
pub mod exact;
pub mod from_decimal;
pub mod gcd;
pub mod inv_mod;
pub mod inv_odd_mod;
pub mod isqrt;
pub mod lcm;
pub mod lehmer;
pub mod limbwise;
pub mod max;
pub mod min;
pub mod min_max;
pub mod mod_add;
pub mod mod_sub;
pub mod mont_mul;
pub mod mul;
pub mod mul_add;
pub mod mul_high;
pub mod not;
pub mod or;
pub mod own;
pub mod pieces;
pub mod place;
pub mod places;
pub mod pow_mod;
pub mod reciprocal;
pub mod scan;
pub mod select;
pub mod set_bit;
pub mod shl;
pub mod shr;
pub mod square;
pub mod sub;
pub mod test_bit;
pub mod tile;
pub mod to_decimal;
pub mod trailing_zeros;
pub mod xor;

use crate::gpu::block::Team;
use crate::gpu::fours::Fours;
use crate::gpu::memory::{self, Any, CarryOut, Number, Stride};
use crate::gpu::quads::Quads;
use crate::gpu::warp::Group;
use crate::gpu::{shared, thread};
use crate::squares::digits::Tiles;
use bigint_core::kernel::BLOCK;
use bigint_core::{Arguments, Limb, MatrixArgument};
use core::marker::PhantomData;

/// The limbs that addition and subtraction keep in registers at a time. With eight, the addresses
/// alone would take so many registers that half as many threads would fit.
const CHUNK: u32 = 4;

/// Limb `at` of a chunk. (An index, or a loop, would put the limbs in memory.)
#[inline(always)]
fn pick([a, b, c, d]: [Limb; CHUNK as usize], at: u32) -> Limb {
    let [first, second] = if at & 2 == 0 { [a, b] } else { [c, d] };
    if at & 1 == 0 { first } else { second }
}

/// The operands and the results of one number.
pub struct Work<S> {
    /// The result.
    pub r: Number<S>,
    /// The second result.
    pub s: Number<S>,
    /// The first operand.
    pub a: Number<S>,
    /// The second operand.
    pub b: Number<S>,
    /// The third operand.
    pub c: Number<S>,
    /// The thread's own scratch.
    pub scratch: Number<Any>,
    /// The words for the carry or borrow out.
    pub carry: CarryOut,
}

/// The batches of a launch at thread level. Leaves rely on the contract under which they were
/// made.
#[derive(Clone, Copy)]
pub struct Batches<'a, S> {
    arguments: &'a Arguments,
    stride: PhantomData<S>,
}

impl<'a, S: Stride> Batches<'a, S> {
    /// The batches that a kernel was launched with.
    ///
    /// # Safety
    /// `arguments` are those of a launch of a kernel at thread level. The operands are allocated,
    /// and the results and carry words overlap nothing else. `workers` is the number of threads.
    /// Blocks are made of whole warps, and have the shared memory of `Kernel::launch`. Each thread
    /// of the launch calls this once.
    #[allow(unsafe_code)] // The kernel's boundary: what comes in is taken on trust.
    #[inline(always)]
    pub unsafe fn new(arguments: &'a Arguments) -> Self {
        Batches {
            arguments,
            stride: PhantomData,
        }
    }

    /// The thread's own column of `pairs` pairs in shared memory, for a launch that has it.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub fn column(self, pairs: u32) -> shared::Column {
        // SAFETY: by the contract of `new`.
        unsafe { shared::Column::new(pairs) }
    }

    /// The thread's own column of pairs in scratch, for a launch that has it.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub fn column_in_scratch(self) -> memory::Column {
        // SAFETY: by the contract of `new`; scratch of threads is interleaved.
        unsafe { memory::Column::new(&self.arguments.scratch, thread::index_1d()) }
    }

    /// The thread's own column of groups of four limbs in scratch, for a launch that has it.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub fn fours_in_scratch(self) -> Fours {
        // SAFETY: by the contract of `new`.
        unsafe { Fours::new(&self.arguments.scratch, 1) }
    }

    /// The numbers that fall to the calling thread's warp, each held by its thread as one digit.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub fn digits(self) -> Tiles<'a, 1> {
        // SAFETY: by the contract of `new`.
        unsafe { Tiles::new(self.arguments, Group::thread()) }
    }

    /// The threads of the calling thread's block, if they take their [numbers in
    /// step](Self::numbers_in_step).
    #[allow(unsafe_code)]
    #[inline(always)]
    pub fn team(self) -> Team<BLOCK> {
        // SAFETY: by the contract of `new`; all threads of a block are given the same count of
        // numbers.
        unsafe { Team::new() }
    }

    /// The numbers that fall to the calling thread, as many as to every other thread. Threads past
    /// the end of the batch compute the last number again, with its results switched off.
    #[inline(always)]
    pub fn numbers_in_step(self) -> InStep<'a, S> {
        InStep {
            arguments: self.arguments,
            worker: thread::index_1d(),
            first: 0,
            stride: PhantomData,
        }
    }

    /// The result and the first two operands of [these numbers](Self::numbers_in_step) as rows of quads, in tiles where the bits
    /// of `tiled` say so, of the result the lowest one. The third operand, which is one number for all, has four limbs at least. Places
    /// that are read and written have to be in the rows.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub fn quads_in_step(self, tiled: u32) -> impl Iterator<Item = [Quads; 3]> {
        let arguments = self.arguments;
        let (worker, mut first) = (thread::index_1d(), 0);
        core::iter::from_fn(move || {
            if first >= arguments.count {
                return None;
            }
            let on = first + worker < arguments.count;
            let index = (first + worker).min(arguments.count - 1);
            first += arguments.workers;
            let row = |of: &MatrixArgument, i: u32| {
                // SAFETY: as in `InStep`.
                unsafe { Quads::new(of, (index, arguments.count), tiled >> i & 1 == 1) }
            };
            // SAFETY: by the contract of `new`, and the third operand has a quad. Another thread writes the last number's result.
            let idle = unsafe { Quads::idle(&arguments.c) };
            Some([
                if on { row(&arguments.r, 0) } else { idle },
                row(&arguments.a, 1),
                row(&arguments.b, 2),
            ])
        })
    }

    /// The numbers that fall to the calling thread.
    #[inline(always)]
    pub fn numbers(self) -> Numbers<'a, S> {
        let worker = thread::index_1d();
        Numbers {
            arguments: self.arguments,
            worker,
            next: worker,
            stride: PhantomData,
        }
    }
}

/// The calling thread's numbers, one after the other.
pub struct Numbers<'a, S> {
    arguments: &'a Arguments,
    worker: u64,
    next: u64,
    stride: PhantomData<S>,
}

impl<S: Stride> Iterator for Numbers<'_, S> {
    type Item = Work<S>;

    #[allow(unsafe_code)]
    #[inline(always)]
    fn next(&mut self) -> Option<Work<S>> {
        let Numbers {
            arguments,
            worker,
            next: index,
            ..
        } = *self;
        if index >= arguments.count {
            return None;
        }
        self.next += arguments.workers;
        // SAFETY: by the contract of `Batches::new`; `index` is in the batch, and no other
        // thread has this number or this worker's scratch.
        Some(unsafe {
            Work {
                r: Number::new(&arguments.r, index),
                s: Number::new(&arguments.s, index),
                a: Number::new(&arguments.a, index),
                b: Number::new(&arguments.b, index),
                c: Number::new(&arguments.c, index),
                scratch: Number::new(&arguments.scratch, worker),
                carry: CarryOut::new(arguments, index),
            }
        })
    }
}

/// The calling thread's numbers, one after the other, as many as every other thread has.
pub struct InStep<'a, S> {
    arguments: &'a Arguments,
    worker: u64,
    /// The number of thread 0.
    first: u64,
    stride: PhantomData<S>,
}

impl<S: Stride> Iterator for InStep<'_, S> {
    type Item = Work<S>;

    #[allow(unsafe_code)]
    #[inline(always)]
    fn next(&mut self) -> Option<Work<S>> {
        let InStep {
            arguments,
            worker,
            first,
            ..
        } = *self;
        if first >= arguments.count {
            return None;
        }
        self.first += arguments.workers;
        let on = first + worker < arguments.count;
        let index = (first + worker).min(arguments.count - 1);
        // SAFETY: by the contract of `Batches::new`; `index` is in the batch, no other thread
        // writes its result, which is switched off in those that repeat it, and none has this
        // worker's scratch.
        Some(unsafe {
            Work {
                r: Number::new(&arguments.r, index).switched(on),
                s: Number::new(&arguments.s, index).switched(on),
                a: Number::new(&arguments.a, index),
                b: Number::new(&arguments.b, index),
                c: Number::new(&arguments.c, index),
                scratch: Number::new(&arguments.scratch, worker),
                carry: CarryOut::new(arguments, index).switched(on),
            }
        })
    }
}
