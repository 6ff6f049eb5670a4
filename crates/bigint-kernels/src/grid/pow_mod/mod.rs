//! Powers in residue number systems: [`bigint_core::rns`] has the maths, the units and the launches.
//!
//! [`powers`] stands apart; here is what converts. A thread of [`residues`] makes words of units: with
//! `F = 2^32` limbs go from the lowest up through Montgomery's `(y + limb) / F`, which is `x / F^w` in
//! the end, and a constant brings it where it is wanted. A thread of [`radix`] or of [`limbs`] has a
//! number, in scratch, limb `i` of all numbers side by side, and takes multiples of `n 2^s` from it,
//! whose top bit is set.
//!
//! **Quotients.** With `r < 2^17 n 2^s` and `v = floor(2^63 / (top + 1))`, where `top` is the
//! highest limb of `n 2^s`, `q = floor(floor(r / 2^17) v / 2^46)` of the limbs from that one on is the
//! quotient, or one too low: `r - q n 2^s < 2 n 2^s`. No comparison, no correction.
//!
//! **Cost**: [`radix`] `8 C` passes over a modulus, [`residues`] `n` products for each prime and each
//! of three numbers, [`limbs`] `C` for each limb. Nothing depends on numbers but on the length of moduli.

mod places;
mod powers;
mod warpgroups;

pub use powers::powers;
pub use warpgroups::warpgroups;

use self::powers::each;

use crate::gpu::flat::Row;
use crate::gpu::memory::{Any, Number};
use crate::gpu::thread;
use crate::gpu::wide::{multiply, multiply_add};
use crate::power::half;
use bigint_core::kernel::{MatrixArgument, TABLE_WINDOW};
use bigint_core::rns::{NUMBERS_OF_BLOCK, PRIME_BITS, RnsArguments, RnsPlan, THREADS, TILE};
use bigint_core::{LIMB_BITS, Limb};

const BITS: u32 = LIMB_BITS as u32;

/// Limbs that are loaded at once where a number passes by.
const AT_ONCE: usize = 8;

/// A prime and its constants in the table.
#[derive(Clone, Copy)]
struct Prime {
    p: u32,
    /// `-1/p mod F`.
    negative: u32,
    /// What the lower word of a square of `rho` is multiplied by, and the upper one.
    square: [u32; 2],
}

impl Prime {
    /// The one of a base at a place, of a plan's table.
    #[inline(always)]
    fn of(table: Row, plan: RnsPlan, base: u32, channel: u32) -> Self {
        let at = 8 * plan.pairs * base + channel;
        Prime::from(table.four(at, at))
    }

    /// The residue of 1, of the prime of a base at a place.
    #[inline(always)]
    fn unity(table: Row, plan: RnsPlan, base: u32, channel: u32) -> u32 {
        let at = plan.conversions_at() / 4 + 8 * plan.pairs * base + channel;
        let [.., unity] = table.four(at, at);
        unity
    }

    /// `x / F`, below `x / F + p`.
    #[inline(always)]
    fn reduced(self, x: u64) -> u32 {
        let q = (x as u32).wrapping_mul(self.negative);
        (multiply_add(q, self.p, x) >> BITS) as u32
    }

    /// `a b / F`.
    #[inline(always)]
    fn times(self, a: u32, b: u32) -> u32 {
        self.reduced(multiply(a, b))
    }

    /// `F` times what the square of `rho` makes, and `q n`: below `3 F^2 / 4`.
    #[inline(always)]
    fn squared(self, rho: u32, [q, n]: [u32; 2]) -> u64 {
        let square = multiply(rho, rho);
        let [low, high] = self.square;
        let sum = multiply_add(square as u32, low, multiply(q, n));
        multiply_add((square >> BITS) as u32, high, sum)
    }

    /// A residue of 32 bits and another, or less that: below `3 p`.
    #[inline(always)]
    fn with_term(self, x: u32, term: u32, is_subtracted: bool) -> u32 {
        let below_twice = |x: u32| x.min(x.wrapping_sub(2 * self.p));
        let term = self.least(below_twice(term));
        let term = match is_subtracted {
            true => self.p - term,
            false => term,
        };
        below_twice(x).wrapping_add(term)
    }

    /// Another number's `rho`, as products take it: below `2 p`.
    #[inline(always)]
    fn in_form(self, rho: u32) -> u32 {
        self.times(rho, self.square[1])
    }

    /// The residue, below `3 F / 4`, that four digits' sums make, `S - floor(S / 2^30) p`. Whether 2^8 times the second
    /// and the first make no more than 32 bits.
    #[inline(always)]
    fn of_digits(self, [a, b, c, d]: [u32; 4], are_joined: bool) -> u32 {
        let (low, high) = (a.wrapping_add(b << 8), c.wrapping_add(d << 8));
        let over = match are_joined {
            true => low as i32 >> 16,
            false => (a as i32 >> 8).wrapping_add(b as i32) >> 8,
        };
        let quotient = high.wrapping_add(over as u32) >> (PRIME_BITS - 16);
        let sum = low.wrapping_add(high << 16);
        sum.wrapping_sub(quotient.wrapping_mul(self.p))
    }

    /// A residue below `2 p`, below `p`.
    #[inline(always)]
    fn least(self, x: u32) -> u32 {
        x.min(x.wrapping_sub(self.p))
    }

    /// `1 / a`, both times `F`.
    #[inline(always)]
    fn inverse(self, a: u32) -> u32 {
        let (mut inverse, mut bit) = (a, 1 << 29);
        // `p - 2` has the top bit of 30 and is odd.
        while bit > 1 {
            bit >>= 1;
            inverse = self.times(inverse, inverse);
            let times = self.times(inverse, a);
            inverse = if (self.p - 2) & bit == 0 {
                inverse
            } else {
                times
            };
        }
        inverse
    }
}

impl From<[u32; 4]> for Prime {
    /// The prime of a four of the table.
    #[inline(always)]
    fn from([p, negative, low, high]: [u32; 4]) -> Self {
        Prime {
            p,
            negative,
            square: [low, high],
        }
    }
}

/// Memory that begins at an address.
///
/// # Safety
/// As for [`Row::new`], of all limbs that are asked for or set.
#[allow(unsafe_code)]
#[inline(always)]
unsafe fn row(limbs: u64) -> Row {
    let all = MatrixArgument {
        limbs,
        ..MatrixArgument::default()
    };
    // SAFETY: by this function's own contract.
    unsafe { Row::new(&all, 0) }
}

/// The number of a batch with this index, or the last one.
///
/// # Safety
/// As for [`Number::new`].
#[allow(unsafe_code)]
#[inline(always)]
unsafe fn number(batch: &MatrixArgument, index: u32, count: u32) -> Number<Any> {
    // SAFETY: by this function's own contract.
    unsafe { Number::new(batch, u64::from(index.min(count - 1))) }
}

/// A number in scratch, and behind it the modulus with its top bit set.
#[derive(Clone, Copy)]
struct Rest {
    row: Row,
    index: u32,
    count: u32,
    /// Limbs of a modulus; the number has one more.
    width: u32,
    /// `s`.
    shift: u32,
    /// `v`.
    reciprocal: u32,
}

impl Rest {
    /// The scratch of number `index`, with its modulus.
    #[inline(always)]
    fn new(row: Row, arguments: &RnsArguments, index: u32, n: Number<Any>) -> Self {
        let width = arguments.plan.width;
        let (mut length, mut i) = (0, 0);
        while i < width {
            let limb = n.limb(i);
            let end = BITS * (i + 1) - limb.leading_zeros();
            length = if limb == 0 { length } else { end };
            i += 1;
        }
        let mut rest = Rest {
            row,
            index,
            count: arguments.count,
            width,
            shift: BITS * width - length.max(1),
            reciprocal: 0,
        };
        let (limbs, bits) = (rest.shift / BITS, rest.shift % BITS);
        let mut top = 0;
        i = 0;
        while i < width {
            // Below the number as above it there are zeros.
            let at = i.wrapping_sub(limbs);
            let pair = joined(n.limb(at), n.limb(at.wrapping_sub(1)));
            top = (pair << bits >> BITS) as Limb;
            rest.set(width + 1 + i, top);
            i += 1;
        }
        rest.reciprocal = ((1_u64 << 63) / (u64::from(top) + 1)) as u32;
        rest
    }

    #[inline(always)]
    fn limb(self, i: u32) -> Limb {
        let at = i * self.count + self.index;
        self.row.limb(at, at)
    }

    #[inline(always)]
    fn set(self, i: u32, limb: Limb) {
        let at = i * self.count + self.index;
        self.row.set(at, u32::MAX, limb);
    }

    /// `r = r 2^bits + part` less a multiple of the modulus, for at most 16 bits: from below twice the
    /// modulus to below that, or without bits from `2^17` times.
    #[inline(always)]
    fn step(self, bits: u32, part: u32) {
        let n = self.width;
        let [high, middle, low] = [0, 1, 2].map(|i| self.limb(n - i));
        let top = joined(high, middle) << bits | u64::from(low) << bits >> BITS;
        let q = (top >> 17) * u64::from(self.reciprocal) >> 46;
        let mut below = (u64::from(part) << (BITS - bits)) as Limb;
        let (mut carry, mut borrow) = (0_u64, false);
        let mut i = 0;
        while i <= n {
            // Several at once, as each load waits for memory.
            let (mut limbs, mut modulus) = ([0; AT_ONCE], [0; AT_ONCE]);
            each::<AT_ONCE>(
                #[inline(always)]
                |k| {
                    let at = i + k as u32;
                    limbs[k] = self.limb(at.min(n));
                    modulus[k] = self.limb(n + 1 + at.min(n - 1));
                },
            );
            each::<AT_ONCE>(
                #[inline(always)]
                |k| {
                    let at = i + k as u32;
                    let pair = joined(limbs[k], below) << bits;
                    below = limbs[k];
                    if at < n {
                        carry += q * u64::from(modulus[k]);
                    }
                    let (less, under) = ((pair >> BITS) as Limb).overflowing_sub(carry as Limb);
                    let (less, again) = less.overflowing_sub(Limb::from(borrow));
                    borrow = under | again;
                    carry >>= BITS;
                    if at <= n {
                        self.set(at, less);
                    }
                },
            );
            i += AT_ONCE as u32;
        }
    }

    /// Limb `i` of the number over `2^s`.
    #[inline(always)]
    fn limb_of_rest(self, i: u32) -> Limb {
        let at = i + self.shift / BITS;
        let limb = |at: u32| if at <= self.width { self.limb(at) } else { 0 };
        (joined(limb(at + 1), limb(at)) >> (self.shift % BITS)) as Limb
    }
}

/// `M^2` modulo the calling thread's modulus, or that and once the modulus more, into scratch.
///
/// # Safety
/// The launch is that of [`RnsArguments::launches`], of arguments with all the memory that they say.
#[allow(unsafe_code)] // The kernel's boundary: what comes in is taken on trust.
#[inline(always)]
pub unsafe fn radix(arguments: &RnsArguments) {
    let index = thread::block_index() * NUMBERS_OF_BLOCK + thread::index_in_block();
    if index >= arguments.moduli {
        return;
    }
    // SAFETY: by this function's own contract.
    let (scratch, table, n) = unsafe {
        (
            row(arguments.scratch[4]),
            row(arguments.table),
            number(&arguments.m, index, arguments.moduli),
        )
    };
    let plan = arguments.plan;
    let rest = Rest::new(scratch, arguments, index, n);
    let mut i = 0;
    while i <= plan.width {
        rest.set(i, 0);
        i += 1;
    }
    i = plan.square_limbs();
    while i > 0 {
        i -= 1;
        let at = plan.square_at() + i;
        let limb = table.limb(at, at);
        rest.step(16, limb >> 16);
        rest.step(16, limb & 0xffff);
    }
    let mut left = rest.shift;
    while left > 0 {
        let bits = left.min(16);
        rest.step(bits, 0);
        left -= bits;
    }
    i = 0;
    while i <= plan.width {
        rest.set(i, rest.limb_of_rest(i));
        i += 1;
    }
}

/// The units of the block's tile, of one base of its numbers, and of their moduli where these are not another's.
///
/// # Safety
/// As for [`radix`].
#[allow(unsafe_code)] // The kernel's boundary: what comes in is taken on trust.
#[inline(always)]
pub unsafe fn residues(arguments: &RnsArguments) {
    let RnsArguments { plan, moduli, .. } = *arguments;
    let bases = arguments.window.numbers();
    let of_base = thread::block_index();
    let (tile, which) = (of_base >> (bases - 1), of_base & (bases - 1));
    // SAFETY: by this function's own contract.
    let (table, refused, [units, own, radix, _, scratch]) = unsafe {
        (
            row(arguments.table),
            row(arguments.refused),
            arguments.scratch.map(|address| row(address)),
        )
    };
    let has_moduli = which == 0 && (moduli > 1 || tile == 0);
    let mut word = thread::index_in_block();
    while word < 2 * plan.tile() {
        let at = 2 * plan.tile() * tile + word;
        let base = u32::from(word >= plan.tile());
        let within = word - plan.tile() * base;
        let (s, lane, k) = (within / 128, within / 4 % 32, within % 4);
        let channel = 8 * s + 4 * (k / 2) + lane % 4;
        let index = TILE * tile + lane / 4 + 8 * (k % 2);
        let prime = Prime::of(table, plan, base, channel);
        let place = plan.conversions_at() / 4 + 8 * plan.pairs * base + channel;
        let [plain, form, last, _] = table.four(place, place);
        // SAFETY: as before.
        let a = half(
            bases == 2,
            unsafe { number(&arguments.a, index, arguments.count) },
            which,
        );
        let times = |x, y| prime.least(prime.times(x, y));
        let residue = folded(prime, plan.width, |i| a.limb(i));
        units.set(
            2 * plan.tile() * of_base + word,
            u32::MAX,
            times(residue, plain),
        );
        if has_moduli {
            // SAFETY: as before.
            let n = unsafe { number(&arguments.m, index, moduli) };
            let modulus = times(folded(prime, plan.width, |i| n.limb(i)), form);
            let of = index.min(moduli - 1);
            let limb = |i: u32| {
                let at = i * arguments.count + of;
                scratch.limb(at, at)
            };
            let square = folded(prime, plan.width, limb) + limb(plan.width);
            let (own_word, radix_word) = if base == 0 {
                if modulus == 0 && channel < plan.channels() {
                    refused.set(index, moduli, 1);
                }
                let k = times(prime.inverse(modulus), last);
                (k, times(prime.times(square, plain), k))
            } else {
                (modulus, times(square, last))
            };
            own.set(at, u32::MAX, own_word);
            radix.set(at, u32::MAX, radix_word);
        }
        word += THREADS;
    }
}

/// The calling thread's word of the table of a base, of its entries in limbs and the units of the modulus.
///
/// # Safety
/// The launch is the second of [`RnsArguments::launches_of_base`], behind the first, of arguments with all the memory that
/// they say.
#[allow(unsafe_code)] // The kernel's boundary: what comes in is taken on trust.
#[inline(always)]
pub unsafe fn base(arguments: &RnsArguments) {
    let RnsArguments { plan, windows, .. } = *arguments;
    let word = thread::block_index() * THREADS + thread::index_in_block();
    // There are pairs: the compiler does not know it.
    let (units, bits) = ((2 * plan.pairs).max(1), arguments.window.bits);
    // SAFETY: by this function's own contract.
    let (table, own, made, t) = unsafe {
        (
            row(arguments.table),
            row(arguments.scratch[1]),
            row(arguments.base),
            number(&arguments.a, 0, 1),
        )
    };
    let (window, unit, q, digit, group) = if arguments.window.scans == 1 {
        let (digit, q) = (word >> 1 & ((1 << bits) - 1), word >> (bits + 1) & 3);
        let unit = word >> (bits + 3);
        (unit / units, unit % units, q, digit, word & 1)
    } else {
        let unit = word >> 3;
        let entry = unit / units;
        let digit = entry & ((1 << bits) - 1);
        (entry >> bits, unit % units, word >> 1 & 3, digit, word & 1)
    };
    if window >= windows as u32 {
        return;
    }
    let at = window * bits;
    let whole = TABLE_WINDOW as u32;
    let entry = (at / whole << whole) + (digit << (at % whole));
    let limbs = arguments.m.width as u32;
    let entry = t.part(limbs * entry, limbs * (entry + 1));
    let second = u32::from(unit >= plan.pairs);
    let pair = unit - plan.pairs * second;
    let channel = 8 * pair + 4 * group + q;
    let prime = Prime::of(table, plan, second, channel);
    let place = plan.conversions_at() / 4 + 8 * plan.pairs * second + channel;
    let [plain, ..] = table.four(place, place);
    let residue = prime.times(folded(prime, plan.width, |i| entry.limb(i)), plain);
    // The word of `k` of the first of a tile's numbers, which are all alike.
    let k_of = 128 * pair + 4 * q + 2 * group;
    let by = match second {
        0 => own.limb(k_of, k_of),
        _ => prime.square[1],
    };
    made.set(word, u32::MAX, prime.least(prime.times(residue, by)));
}

/// Two neighbouring limbs.
#[inline(always)]
fn joined(high: Limb, low: Limb) -> u64 {
    u64::from(high) << BITS | u64::from(low)
}

/// So many limbs from the lowest on, over as many times `F`: not above `p`.
#[inline(always)]
fn folded(prime: Prime, width: u32, limb: impl Fn(u32) -> Limb) -> u32 {
    let (mut y, mut i) = (0, 0);
    while i < width {
        y = prime.reduced(u64::from(y) + u64::from(limb(i)));
        i += 1;
    }
    y
}

/// The limbs of the calling thread's power, below its modulus.
///
/// # Safety
/// As for [`radix`].
#[allow(unsafe_code)] // The kernel's boundary: what comes in is taken on trust.
#[inline(always)]
pub unsafe fn limbs(arguments: &RnsArguments) {
    let RnsArguments { plan, count, .. } = *arguments;
    let index = thread::block_index() * NUMBERS_OF_BLOCK + thread::index_in_block();
    if index >= count {
        return;
    }
    // SAFETY: by this function's own contract.
    let (table, units, scratch, n, r) = unsafe {
        (
            row(arguments.table),
            row(arguments.scratch[0]),
            row(arguments.scratch[4]),
            number(&arguments.m, index, count),
            number(&arguments.r, index, count),
        )
    };
    let rest = Rest::new(scratch, arguments, index, n);
    // `rho` of the second base.
    let (tile, row) = (index / TILE, index % TILE);
    let first = 2 * arguments.window.numbers() * tile;
    let own = units.up(plan.tile() * (first + 1) + 16 * (row % 8) + row / 8);
    let weights = table.up(plan.weights_at());
    let (mut i, mut carry) = (0, 0_u64);
    while i <= plan.width {
        let (mut low, mut high) = (carry, 0_u64);
        let mut j = 0;
        while j < 8 * plan.pairs {
            let at = j / 8 * 128 + j / 4 % 2 * 2 + j % 4 * 4;
            let mut rho = own.limb(at, at);
            // The last place has `alpha`, and a byte on top.
            rho = if j == plan.channels() {
                rho & 0xffff
            } else {
                rho
            };
            let at = j * (plan.width + 1) + i;
            let product = u64::from(rho) * u64::from(weights.limb(at, at));
            low += product & u64::from(Limb::MAX);
            high += product >> BITS;
            j += 1;
        }
        rest.set(i, low as Limb);
        carry = (low >> BITS) + high;
        i += 1;
    }
    // Up by `s`, from the top down.
    let (limbs, bits) = (rest.shift / BITS, rest.shift % BITS);
    i = plan.width + 1;
    while i > 0 {
        i -= 1;
        let limb = |at: u32| if at <= plan.width { rest.limb(at) } else { 0 };
        let at = i.wrapping_sub(limbs);
        let pair = joined(limb(at), limb(at.wrapping_sub(1)));
        rest.set(i, (pair << bits >> BITS) as Limb);
    }
    rest.step(0, 0);
    // Once the modulus less, where it is not above.
    let mut borrow = false;
    i = 0;
    while i <= plan.width {
        let modulus = |i: u32| {
            if i < plan.width {
                rest.limb(plan.width + 1 + i)
            } else {
                0
            }
        };
        let (less, under) = rest.limb(i).overflowing_sub(modulus(i));
        borrow = under | less.overflowing_sub(Limb::from(borrow)).1;
        i += 1;
    }
    let keep = Limb::from(!borrow).wrapping_neg();
    (i, borrow) = (0, false);
    while i <= plan.width {
        let modulus = if i < plan.width {
            rest.limb(plan.width + 1 + i) & keep
        } else {
            0
        };
        let (less, under) = rest.limb(i).overflowing_sub(modulus);
        let (less, again) = less.overflowing_sub(Limb::from(borrow));
        borrow = under | again;
        rest.set(i, less);
        i += 1;
    }
    i = 0;
    while i < r.width() {
        r.set(i, rest.limb_of_rest(i));
        i += 1;
    }
}
