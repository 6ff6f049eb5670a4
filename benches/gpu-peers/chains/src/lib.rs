//! Montgomery products and squares in chains: what they take where nothing is read or written.

#![no_std]
#![feature(abi_ptx)]

use bigint_core::{Arguments, Limb};
use bigint_kernels::field::lazy::{Element, Field};
use bigint_kernels::gpu::known::power_digit;
use bigint_kernels::gpu::memory::{Number, Unit};
use bigint_kernels::gpu::warp::{Group, KNOWN};
use bigint_kernels::gpu::window::{Slide, Window};
use bigint_kernels::montgomery::{Modulus, load, store};
use bigint_kernels::{thread, warp};

/// `r = a (b / R)^k mod c`, or, where the second result has a limb stride, `a` squared `k` times;
/// `k` is the second result's width.
struct Chain {
    times: u64,
    squares: bool,
}

impl Chain {
    fn of(arguments: &Arguments) -> Self {
        Chain {
            times: arguments.s.width,
            squares: arguments.s.limb_stride > 0,
        }
    }

    #[inline(always)]
    fn run<const LANES: u32, const X: usize>(
        &self,
        group: Group<LANES>,
        r: Number<Unit>,
        [a, b, m]: [Number<Unit>; 3],
    ) where
        Window<X>: Slide<Digit = [Limb; X]>,
    {
        let modulus = Modulus::<LANES, X>::new(group, m);
        let (mut x, y) = (load(a, modulus.own()), load(b, modulus.own()));
        let mut left = self.times;
        while !self.squares && left > 0 {
            left -= 1;
            x = modulus.product(x, y);
        }
        while left > 0 {
            left -= 1;
            x = match LANES != 1 && modulus.lanes_square() {
                true => modulus.square_by_lanes(x),
                false => modulus.square(x),
            };
        }
        modulus.store(r, x);
    }
}

/// A thread's chains.
///
/// # Safety
/// As for [`thread::Batches::new`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn chain_thread(arguments: Arguments) {
    let chain = Chain::of(&arguments);
    // SAFETY: by this function's own contract.
    for work in unsafe { thread::Batches::<Unit>::new(&arguments) }.numbers() {
        let (group, operands) = (Group::thread(), [work.a, work.b, work.c]);
        match power_digit(work.c.width(), 1) {
            8 => chain.run::<1, 8>(group, work.r, operands),
            12 => chain.run::<1, 12>(group, work.r, operands),
            16 => chain.run::<1, 16>(group, work.r, operands),
            _ => chain.run::<1, 32>(group, work.r, operands),
        }
    }
}

/// Those of the lanes that share a number.
///
/// # Safety
/// As for [`warp::Batches::new`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn chain_warp(arguments: Arguments) {
    let chain = Chain::of(&arguments);
    // SAFETY: by this function's own contract.
    for work in unsafe { warp::Batches::<KNOWN, Unit>::new(&arguments) }.numbers() {
        let operands = [work.a, work.b, work.c];
        match power_digit(work.c.width(), work.group.lanes()) {
            8 => chain.run::<KNOWN, 8>(work.group, work.r, operands),
            12 => chain.run::<KNOWN, 12>(work.group, work.r, operands),
            24 => chain.run::<KNOWN, 24>(work.group, work.r, operands),
            16 => chain.run::<KNOWN, 16>(work.group, work.r, operands),
            _ => chain.run::<KNOWN, 32>(work.group, work.r, operands),
        }
    }
}

/// Chains by a lazy field, whose modulus is the launch's: `r = a (b / R)^k`, or `a` squared `k` times, below two moduli.
///
/// # Safety
/// As for [`thread::Batches::new`], in whole blocks.
#[inline(always)]
unsafe fn lazy<const LIMBS: usize>(arguments: &Arguments, field: &Field<LIMBS>)
where
    Window<LIMBS>: Slide<Digit = [Limb; LIMBS]>,
{
    let chain = Chain::of(arguments);
    // SAFETY: by this function's own contract.
    let batches = unsafe { thread::Batches::<Unit>::new(arguments) };
    for work in batches.numbers_in_step() {
        let mut x: Element<LIMBS, 2> = Element::of_limbs(load(work.a, 0));
        let y: Element<LIMBS, 1> = Element::of_limbs(load(work.b, 0));
        let mut left = chain.times as u32;
        while left > 0 {
            left -= 1;
            // Warps that drift apart would fetch the code again and again.
            if LIMBS >= 12 {
                batches.team().sync();
            }
            x = match chain.squares {
                true => field.square(x),
                false => field.mul_lean(x, y),
            };
        }
        store(work.r, 0, x.limbs());
    }
}

macro_rules! lazy {
    ($($name:ident $limbs:literal;)*) => {$(
        /// Chains by a lazy field of so many limbs.
        ///
        /// # Safety
        /// As for [`lazy`].
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name(arguments: Arguments, field: Field<$limbs>) {
            // SAFETY: by this function's own contract.
            unsafe { lazy::<$limbs>(&arguments, &field) }
        }
    )*};
}

lazy! {
    lazy_8 8;
    lazy_12 12;
    lazy_16 16;
}
