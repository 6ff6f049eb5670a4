//! Powers of one base modulo one odd number, from a table of the base ([`reference::pow_fixed`]).
//! Each lane has one exponent.
//!
//! The table's entries are `g^k R mod m` with `R` = 2^(32 n), and a product in lanes divides by `S`
//! = 2^(52 D) ([`montgomery`]). After a product for each of `W` windows, `x` has become
//! `x g^e (R / S)^W`. So `x` begins as `(S / R)^W`, which is a power of two, and is `g^e` at the
//! end.
//!
//! A window's table is laid out by digits: digit `j` of its 64 entries stands in eight vectors,
//! side by side, and each lane chooses its word among them in registers. So no branch and no
//! address depends on exponents. A window costs a product, and for the choice as much as four of
//! the `D` rows of a product.
//!
//! Cost: `4 D^2` multiply-adds for each window of each group of lanes, and once for a batch the
//! digits of the table. Scratch: the table.
//!
//! [`reference::pow_fixed`]: crate::reference::pow_fixed

use core::arch::x86_64::__m512i;

use bigint_core::kernel::TABLE_WINDOW;
use bigint_core::{LIMB_BITS, Limb};

use super::digits::digits_of_blocks;
use super::montgomery::{self, Odd, digits};
use super::transfer::store;
use super::vector::{BLOCK, BLOCK_WORDS, DIGIT_BITS, Vector};
use super::{Avx512, have_multipliers};
use crate::fast::Cpu;
use crate::piece::{Piece, for_each_piece};
use crate::reference::pow_mod::digit;
use crate::{Error, Numbers, NumbersMut, memory, share};

const BITS: usize = DIGIT_BITS as usize;

/// The vectors that have one digit of all entries of a window.
const VECTORS: usize = (1 << TABLE_WINDOW) / Avx512::LANES;

/// The machine's instructions, if lanes can compute with this table and modulus, and `count`
/// exponents fill the lanes.
pub(in crate::fast) fn suits(cpu: &Cpu, count: usize, [t, m]: [Numbers<'_>; 2]) -> Option<Avx512> {
    let is_one_base = t.is_broadcast() && m.is_broadcast();
    let are_enough = count >= Avx512::LANES && montgomery::suits(m.shape().width);
    (is_one_base && are_enough && have_multipliers(cpu.path())).then(Avx512::detect)?
}

/// The exponent of `(S / R)^W` for moduli of `width` limbs.
pub(in crate::fast) fn start(width: usize, windows: usize) -> usize {
    (BITS * digits(width) - LIMB_BITS * width) * windows
}

/// `r = g^e mod m` for every number, where `e` is the lowest `windows` windows of the exponent.
/// Products begin with `2^start mod m`.
pub(in crate::fast) fn pow_fixed(
    isa: Avx512,
    cpu: &Cpu,
    r: NumbersMut<'_>,
    start: &[Limb],
    windows: usize,
    [t, e, m]: [Numbers<'_>; 3],
) -> Result<(), Error> {
    let (count, width) = (r.shape().count, m.shape().width);
    let d = digits(width);
    let mut buffers = [const { Vec::new() }; 2];
    let [of_t, of_m] = &mut buffers;
    let (t, modulus) = (t.gather(0, of_t), m.gather(0, of_m));
    let mut table: Vec<__m512i> = memory::zeroed(windows * d * VECTORS)?;
    let sharing = cpu.tuning().sharing;
    let cut = sharing.cut(windows, width << (TABLE_WINDOW + 4), usize::MAX, 1);
    let windows_of_t = t.chunks_exact(width << TABLE_WINDOW);
    share(
        table.chunks_mut(d * VECTORS).zip(windows_of_t),
        cut.threads,
        |(window, entries)| transpose(bytemuck::cast_slice_mut(window), entries, width),
    );
    let (table, _) = table.as_chunks::<VECTORS>();
    let cut = sharing.cut(count, 2 * windows * width * width, usize::MAX, 16);
    for_each_piece(r, None, cut, |mut piece| {
        for i in (0..piece.count).step_by(Avx512::LANES) {
            group(isa, &mut piece, i, [modulus, start], table, e);
        }
    })
}

/// Stores digit `j` of entry `k` of a window at word `64 j + k`.
fn transpose(window: &mut [u64], entries: &[Limb], width: usize) {
    for (k, entry) in entries.chunks_exact(width).enumerate() {
        for (j, words) in window.chunks_mut(1 << TABLE_WINDOW).enumerate() {
            words[k] = digit_of(entry, j);
        }
    }
}

/// Digit `j` of a number.
fn digit_of(number: &[Limb], j: usize) -> u64 {
    digit(number, BITS * j, 26) as u64 | (digit(number, BITS * j + 26, 26) as u64) << 26
}

/// Computes the powers of the group from number `i` on.
fn group(
    isa: Avx512,
    piece: &mut Piece<'_>,
    i: usize,
    [modulus, start]: [&[Limb]; 2],
    table: &[[__m512i; VECTORS]],
    e: Numbers<'_>,
) {
    let d = digits(modulus.len());
    let blocks = modulus.len().max(piece.width).div_ceil(BLOCK);
    // Storing needs whole blocks of digits.
    let long = digits_of_blocks(blocks).max(d) + 1;
    let mut buffer = Vec::new();
    let exponents: Vec<Vec<Limb>> = (0..Avx512::LANES)
        .map(|l| (piece.first + i + l).min(e.shape().count - 1))
        .map(|number| e.gather(number, &mut buffer).to_vec())
        .collect();
    isa.with_scratch(4 * long + BLOCK_WORDS * blocks, |memory| {
        memory.fill(isa.splat(0));
        // The memory is split by hand, as in `montgomery`.
        let (m, memory) = memory.split_at_mut(long);
        let (x, memory) = memory.split_at_mut(long);
        let (y, memory) = memory.split_at_mut(long);
        let (t, words) = memory.split_at_mut(long);
        isa.vectorize(
            #[inline(always)]
            || {
                for (j, (m, x)) in m.iter_mut().zip(&mut *x).take(d).enumerate() {
                    *m = isa.splat(digit_of(modulus, j));
                    *x = isa.splat(digit_of(start, j));
                }
                let odd = Odd::new(isa, &m[..d]);
                for (k, window) in table.chunks(d).enumerate() {
                    let mut indices = isa.splat(0);
                    let lanes: &mut [u64] =
                        bytemuck::cast_slice_mut(std::slice::from_mut(&mut indices));
                    for (index, e) in lanes.iter_mut().zip(&exponents) {
                        *index = digit(e, k * TABLE_WINDOW, TABLE_WINDOW) as u64;
                    }
                    for (y, entries) in y.iter_mut().zip(window) {
                        *y = isa.chosen(entries, indices);
                    }
                    odd.product(t, &x[..d], &y[..d]);
                    x[..d].copy_from_slice(&t[..d]);
                }
                odd.reduce(x, t);
                store(isa, x, piece, i, words);
            },
        );
    });
}
