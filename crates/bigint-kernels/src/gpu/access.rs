//! Loads and stores of limbs at addresses in device memory and in shared memory. Callers vouch for
//! the addresses.

// Device memory is reached through `ld.global` and `st.global`: addresses come from the launch as
// integers, which the compiler would take for generic addresses. Shared memory is reached through
// `ld.shared` and `st.shared`, with 32-bit addresses of its own.
#![allow(unsafe_code)]

use bigint_core::Limb;
use core::arch::asm;

/// Defines loads and stores in one space of memory, whose addresses have type `$address` and stand
/// in registers of class `$register`. The caller of a function vouches for the limb at its address,
/// or for two or four limbs that begin at a multiple of two or four. A caller of a function
/// `_below` vouches for them only where `at < reach`; elsewhere the function loads zeros, or stores
/// nothing, without a branch. `$operand` lists the operands `at`, `reach` and `address` of these in
/// the order in which they are given to `asm!`.
macro_rules! accesses {
    (
        $space:literal, $address:ty, $register:ident,
        $at:ident, $reach:ident, $of:ident: $($operand:tt)*
    ) => {
        use bigint_core::Limb;
        use core::arch::asm;

        #[inline(always)]
        pub unsafe fn load(address: $address) -> Limb {
            let limb;
            // SAFETY: the caller vouches for a limb at `address`.
            unsafe {
                asm!(concat!("ld.", $space, ".u32 {limb}, [{address}];"),
                    limb = out(reg32) limb, address = in($register) address,
                    options(pure, readonly, nostack, preserves_flags));
            }
            limb
        }

        #[inline(always)]
        pub unsafe fn load_below($at: u32, $reach: u32, $of: $address) -> Limb {
            let limb;
            // SAFETY: the caller vouches for a limb at `address` where `at < reach`.
            unsafe {
                asm!("{{",
                    ".reg .pred inside;",
                    "setp.lt.u32 inside, {at}, {reach};",
                    "mov.u32 {limb}, 0;",
                    concat!("@inside ld.", $space, ".u32 {limb}, [{address}];"),
                    "}}",
                    limb = out(reg32) limb, $($operand)*,
                    options(pure, readonly, nostack));
            }
            limb
        }

        #[inline(always)]
        pub unsafe fn load_four(address: $address) -> [Limb; 4] {
            let (a, b, c, d);
            // SAFETY: the caller vouches for four limbs at `address`, a multiple of 16.
            unsafe {
                asm!(concat!("ld.", $space, ".v4.u32 {{{a}, {b}, {c}, {d}}}, [{address}];"),
                    a = out(reg32) a, b = out(reg32) b, c = out(reg32) c, d = out(reg32) d,
                    address = in($register) address,
                    options(pure, readonly, nostack, preserves_flags));
            }
            [a, b, c, d]
        }

        #[inline(always)]
        pub unsafe fn load_four_below($at: u32, $reach: u32, $of: $address) -> [Limb; 4] {
            let (a, b, c, d);
            // SAFETY: the caller vouches for four limbs at `address`, a multiple of 16, where
            // `at < reach`.
            unsafe {
                asm!("{{",
                    ".reg .pred inside;",
                    "setp.lt.u32 inside, {at}, {reach};",
                    "mov.u32 {a}, 0;",
                    "mov.u32 {b}, 0;",
                    "mov.u32 {c}, 0;",
                    "mov.u32 {d}, 0;",
                    concat!("@inside ld.", $space, ".v4.u32 {{{a}, {b}, {c}, {d}}}, [{address}];"),
                    "}}",
                    a = out(reg32) a, b = out(reg32) b, c = out(reg32) c, d = out(reg32) d,
                    $($operand)*,
                    options(pure, readonly, nostack));
            }
            [a, b, c, d]
        }

        #[inline(always)]
        pub unsafe fn store_below($at: u32, $reach: u32, $of: $address, limb: Limb) {
            // SAFETY: as in `load_below`.
            unsafe {
                asm!("{{",
                    ".reg .pred inside;",
                    "setp.lt.u32 inside, {at}, {reach};",
                    concat!("@inside st.", $space, ".u32 [{address}], {limb};"),
                    "}}",
                    limb = in(reg32) limb, $($operand)*,
                    options(nostack));
            }
        }

        #[inline(always)]
        pub unsafe fn store_four(address: $address, [a, b, c, d]: [Limb; 4]) {
            // SAFETY: as in `load_four`.
            unsafe {
                asm!(concat!("st.", $space, ".v4.u32 [{address}], {{{a}, {b}, {c}, {d}}};"),
                    a = in(reg32) a, b = in(reg32) b, c = in(reg32) c, d = in(reg32) d,
                    address = in($register) address,
                    options(nostack, preserves_flags));
            }
        }

        #[inline(always)]
        pub unsafe fn store_four_below(
            $at: u32,
            $reach: u32,
            $of: $address,
            [a, b, c, d]: [Limb; 4],
        ) {
            // SAFETY: as in `load_four_below`.
            unsafe {
                asm!("{{",
                    ".reg .pred inside;",
                    "setp.lt.u32 inside, {at}, {reach};",
                    concat!("@inside st.", $space, ".v4.u32 [{address}], {{{a}, {b}, {c}, {d}}};"),
                    "}}",
                    a = in(reg32) a, b = in(reg32) b, c = in(reg32) c, d = in(reg32) d,
                    $($operand)*,
                    options(nostack));
            }
        }
    };
}

/// Loads and stores in device memory.
mod global {
    accesses! {
        "global", u64, reg64,
        at, reach, address: address = in(reg64) address, at = in(reg32) at, reach = in(reg32) reach
    }
    #[inline(always)]
    pub unsafe fn load_two(address: u64) -> [Limb; 2] {
        let (a, b);
        // SAFETY: the caller vouches for two limbs at `address`, a multiple of 8.
        unsafe {
            asm!("ld.global.v2.u32 {{{a}, {b}}}, [{address}];",
                a = out(reg32) a, b = out(reg32) b, address = in(reg64) address,
                options(pure, readonly, nostack, preserves_flags));
        }
        [a, b]
    }

    #[inline(always)]
    pub unsafe fn load_two_below(at: u32, reach: u32, address: u64) -> [Limb; 2] {
        let (a, b);
        // SAFETY: the caller vouches for two limbs at `address`, a multiple of 8, where `at < reach`.
        unsafe {
            asm!("{{",
                ".reg .pred inside;",
                "setp.lt.u32 inside, {at}, {reach};",
                "mov.u32 {a}, 0;",
                "mov.u32 {b}, 0;",
                "@inside ld.global.v2.u32 {{{a}, {b}}}, [{address}];",
                "}}",
                a = out(reg32) a, b = out(reg32) b, address = in(reg64) address,
                at = in(reg32) at, reach = in(reg32) reach,
                options(pure, readonly, nostack));
        }
        [a, b]
    }

    #[inline(always)]
    pub unsafe fn store_two(address: u64, [a, b]: [Limb; 2]) {
        // SAFETY: as in `load_two`.
        unsafe {
            asm!("st.global.v2.u32 [{address}], {{{a}, {b}}};",
                a = in(reg32) a, b = in(reg32) b, address = in(reg64) address,
                options(nostack, preserves_flags));
        }
    }
}

/// Loads and stores in shared memory.
pub(super) mod shared {
    accesses! {
        "shared", u32, reg32,
        at, reach, address: at = in(reg32) at, reach = in(reg32) reach, address = in(reg32) address
    }

    #[inline(always)]
    pub unsafe fn store(address: u32, limb: Limb) {
        // SAFETY: as in `load`.
        unsafe {
            asm!("st.shared.u32 [{address}], {limb};",
                limb = in(reg32) limb, address = in(reg32) address,
                options(nostack, preserves_flags));
        }
    }
}

pub(super) use global::*;

/// Atomically sets the 64 bits at `address` to the lesser of themselves and `x`.
#[inline(always)]
pub(super) unsafe fn least(address: u64, x: u64) {
    // SAFETY: the caller vouches for 64 bits at `address`, a multiple of 8.
    unsafe {
        asm!("red.global.min.u64 [{address}], {x};",
            address = in(reg64) address, x = in(reg64) x,
            options(nostack, preserves_flags));
    }
}

/// `x y + z` by one instruction. (Inside loops the compiler forgets that `y` has 32 bits.) Of sums of several products
/// [`multiply_add_signed`](super::wide::multiply_add_signed) takes fewer.
#[inline(always)]
pub fn multiply_add(x: i32, y: i32, z: u64) -> u64 {
    let sum;
    // SAFETY: register arithmetic only.
    unsafe {
        asm!("mad.wide.s32 {sum}, {x}, {y}, {z};",
            sum = out(reg64) sum, x = in(reg32) x, y = in(reg32) y, z = in(reg64) z,
            options(pure, nomem, nostack, preserves_flags));
    }
    sum
}

/// The limb at `address` if `at < reach` in both pairs, else zero, without a branch.
#[inline(always)]
pub(super) unsafe fn load_below_both(first: (u32, u32), second: (u32, u32), address: u64) -> Limb {
    let limb;
    // SAFETY: the caller vouches for a limb at `address` where both hold.
    unsafe {
        asm!("{{",
            ".reg .pred inside;",
            "setp.lt.u32 inside, {second_at}, {second_reach};",
            "setp.lt.and.u32 inside, {at}, {reach}, inside;",
            "mov.u32 {limb}, 0;",
            "@inside ld.global.u32 {limb}, [{address}];",
            "}}",
            limb = out(reg32) limb, address = in(reg64) address,
            at = in(reg32) first.0, reach = in(reg32) first.1,
            second_at = in(reg32) second.0, second_reach = in(reg32) second.1,
            options(pure, readonly, nostack));
    }
    limb
}

/// Loads four limbs at `address` that belong to many and are not needed again soon. Caches evict
/// them first.
#[inline(always)]
pub(super) unsafe fn load_four_of_many(address: u64) -> [Limb; 4] {
    let (a, b, c, d);
    // SAFETY: as in `load_four`.
    unsafe {
        asm!("ld.global.cs.v4.u32 {{{a}, {b}, {c}, {d}}}, [{address}];",
            a = out(reg32) a, b = out(reg32) b, c = out(reg32) c, d = out(reg32) d,
            address = in(reg64) address,
            options(pure, readonly, nostack, preserves_flags));
    }
    [a, b, c, d]
}

/// Limbs of a batch at equal distances.
#[derive(Clone, Copy)]
pub struct Walk {
    address: u64,
    /// The bytes from one limb to the next.
    step: u64,
    /// The number of limbs.
    steps: u32,
}

impl Walk {
    /// The `steps` limbs from `address` on that are `step` bytes apart.
    ///
    /// # Safety
    /// All the limbs are inside numbers, which stay allocated while the kernel runs. Barriers order
    /// what other threads write to them with this thread's loads and stores.
    #[inline(always)]
    pub(super) unsafe fn new(address: u64, step: u64, steps: u32) -> Self {
        Walk {
            address,
            step,
            steps,
        }
    }

    #[inline(always)]
    fn address_of(self, i: u32) -> u64 {
        self.address + u64::from(i) * self.step
    }

    /// Limb `i` of the walk; zero beyond its end.
    #[inline(always)]
    pub fn limb(self, i: u32) -> Limb {
        // SAFETY: where there is one, it is allocated by the contract of `new`.
        unsafe { load_below(i, self.steps, self.address_of(i)) }
    }

    /// Sets limb `i` of the walk; does nothing beyond its end.
    #[inline(always)]
    pub fn set(self, i: u32, limb: Limb) {
        // SAFETY: as in `limb`.
        unsafe { store_below(i, self.steps, self.address_of(i), limb) }
    }
}
