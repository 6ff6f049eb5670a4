//! Montgomery products and powers modulo numbers, in 64-bit words and in lanes.
//!
//! With IFMA each number of a batch has a lane ([`lanes::montgomery`]). Without it each is computed
//! by itself, with `R` = 2^(64 k) for `k` words.

use bigint_core::kernel::TABLE_WINDOW;
use bigint_core::{LIMB_BITS, Layout, Limb, Shape};

use super::limbwise::numberwise;
use super::number::limbs::{self, add_row, pack, unpack};
use super::{Cpu, lanes};
use crate::mask;
use crate::memory::{self, scratch};
use crate::piece::{Piece, for_each_piece};
use crate::reference::pow_mod::{self, by_windows, digit, of_any};
use crate::{Error, LIMB_WORK, Numbers, NumbersMut, Results, reference};

const WORD_BITS: usize = u64::BITS as usize;

/// The numbers from which on lanes take products. They take as long for one number as for all that
/// they hold.
const WORTH_LANES: usize = 3;

/// The numbers whose products a thread takes at a time, which are whole lines of an interleaved
/// batch.
const PRODUCTS: usize = 256;

/// Computes `r = a b / 2^(32 n) mod m` for every number, where `n` is the number of limbs of `m`.
pub(super) fn mont_mul(
    cpu: &Cpu,
    r: NumbersMut<'_>,
    a: Numbers<'_>,
    b: Numbers<'_>,
    m: Numbers<'_>,
) -> Result<(), Error> {
    let (count, width) = (r.shape().count, m.shape().width);
    if count >= WORTH_LANES
        && lanes::montgomery::suits(width)
        && lanes::have_multipliers(cpu.path())
    {
        reference::check(&r, &[a, b, m], None)?;
        let work = (2 * width * width).max(4 * LIMB_WORK * width);
        let cut = cpu.tuning().sharing.cut(count, work, PRODUCTS, 16);
        return for_each_piece(r, None, cut, |mut piece| {
            lanes::montgomery::mont_mul(&mut piece, [a, b, m]);
        });
    }
    numberwise(cpu, r, [a, b, m], |r, [a, b, m]| {
        let odd = Odd::new(m);
        // If the number of limbs is odd, the radix is half a word short, so `a` is shifted up by
        // half a word.
        let up = m.len() % 2;
        let mut moved = scratch(up);
        moved.extend_from_slice(&a[..a.len().min(m.len())]);
        unpack(r, &odd.product(&odd.words(&moved), &odd.words(b)));
    })
}

/// Computes `r = a^e mod m` for every number, in constant time for odd `m` if `SCAN`. The flag says
/// that `m` is zero.
pub(super) fn pow_mod<const SCAN: bool>(
    cpu: &Cpu,
    results: Results<'_>,
    [a, e, m]: [Numbers<'_>; 3],
) -> Result<(), Error> {
    let Results { r, flags, .. } = results;
    reference::check(&r, &[a, e, m], flags.as_deref())?;
    let shape = r.shape();
    let width = m.shape().width;
    let products = LIMB_BITS * e.shape().width * 5 / 4 + 2 * LIMB_BITS;
    let work = products.saturating_mul(2 * width * width);
    let in_lanes = shape.count > 1 && lanes::montgomery::suits(width);
    let is_in_lanes = in_lanes && lanes::have_multipliers(cpu.path());
    // Rows of an interleaved result are cut between lines.
    let granule = if is_in_lanes { 16 } else { 1 };
    let cut = cpu
        .tuning()
        .sharing
        .cut(shape.count, work, granule, granule);
    for_each_piece(r, flags, cut, |mut piece| {
        let is_done = is_in_lanes && lanes::montgomery::pow_mod(&mut piece, [a, e, m]);
        powers::<SCAN>(&mut piece, [a, e, m], is_done);
    })
}

/// Computes `r = a0^e0 a1^e1 mod m` for every number, with two bases in `a`, two exponents in `e`
/// and an odd `m`. The two powers are computed as lanes or words do, and multiplied.
pub(super) fn pow_pair<const SCAN: bool>(
    cpu: &Cpu,
    r: NumbersMut<'_>,
    [a, e, m]: [Numbers<'_>; 3],
) -> Result<(), Error> {
    let power = |half| {
        let shape = Shape::new(r.shape().count, m.shape().width, Layout::Contiguous);
        let mut power = memory::zeroed(shape.limbs())?;
        let ((a, of_a), (e, of_e)) = (half_of(a, half)?, half_of(e, half)?);
        let results = Results {
            r: NumbersMut::new(&mut power, shape)?,
            s: None,
            flags: None,
        };
        let operands = [Numbers::new(&a, of_a)?, Numbers::new(&e, of_e)?, m];
        pow_mod::<SCAN>(cpu, results, operands)?;
        Ok::<_, Error>((power, shape))
    };
    let ((x, of_x), (y, of_y)) = (power(0)?, power(1)?);
    let operands = [Numbers::new(&x, of_x)?, Numbers::new(&y, of_y)?, m];
    numberwise(cpu, r, operands, |r, [x, y, m]| {
        let odd = Odd::new(m);
        let product = odd.product(&odd.words(x), &odd.words(y));
        unpack(r, &odd.product(&product, &odd.square_of_radix(&odd.one())));
    })
}

/// The lower or the upper half of every number, one after another.
fn half_of(numbers: Numbers<'_>, half: usize) -> Result<(Vec<Limb>, Shape), Error> {
    let Shape { count, width, .. } = numbers.shape();
    let lower = width.div_ceil(2);
    let shape = Shape::new(count, lower, Layout::Contiguous);
    let mut limbs = memory::zeroed(shape.limbs())?;
    let mut buffer = Vec::new();
    for (i, to) in limbs.chunks_mut(lower.max(1)).enumerate() {
        let from = &numbers.gather(i, &mut buffer)[lower * half..];
        let most = from.len().min(lower);
        to[..most].copy_from_slice(&from[..most]);
    }
    Ok((limbs, shape))
}

/// Computes `r = g^e mod m` for every number and odd `m`, from the table of `g`, with one product
/// for each window of the exponents. It uses lanes if there is one table, and words if not. It
/// takes constant time if `SCAN`.
pub(super) fn pow_fixed<const SCAN: bool>(
    cpu: &Cpu,
    r: NumbersMut<'_>,
    [t, e, m]: [Numbers<'_>; 3],
) -> Result<(), Error> {
    reference::check(&r, &[t, e, m], None)?;
    let width = m.shape().width;
    let of_table = t.shape().width / (width << TABLE_WINDOW).max(1);
    let of_exponents = (LIMB_BITS * e.shape().width).div_ceil(TABLE_WINDOW);
    let windows = of_table.min(of_exponents);
    #[cfg(target_arch = "x86_64")]
    if let Some(isa) = lanes::fixed_base::suits(cpu, r.shape().count, [t, m]) {
        let mut start = memory::zeroed(width)?;
        let mut buffer = Vec::new();
        let odd = Odd::new(m.gather(0, &mut buffer));
        let exponent = lanes::fixed_base::start(width, windows);
        odd.retrieve(&mut start, &odd.power_of_two(&odd.one(), exponent));
        return lanes::fixed_base::pow_fixed(isa, cpu, r, &start, windows, [t, e, m]);
    }
    numberwise(cpu, r, [t, e, m], |r, [t, e, m]| {
        let odd = Odd::new(m);
        // The shift is that of `mont_mul`.
        let up = m.len() % 2;
        let mut power = odd.one();
        let table = t.chunks_exact(m.len() << TABLE_WINDOW).take(windows);
        for (i, window) in table.enumerate().rev() {
            let mut moved = scratch(up);
            let digit = digit(e, i * TABLE_WINDOW, TABLE_WINDOW);
            let entries = window.chunks_exact(m.len());
            moved.extend(pow_mod::entry::<SCAN, _>(entries, m.len(), digit));
            power = odd.product(&odd.words(&moved), &power);
        }
        odd.retrieve(r, &power);
    })
}

/// Computes the powers of a piece, number by number. `but_odd` says that those modulo odd numbers
/// have been computed.
fn powers<const SCAN: bool>(piece: &mut Piece<'_>, operands: [Numbers<'_>; 3], but_odd: bool) {
    let mut gathered = [const { Vec::new() }; 3];
    let mut r = scratch(piece.width);
    for i in 0..piece.count {
        let [of_a, of_e, of_m] = &mut gathered;
        let m = operands[2].gather(piece.first + i, of_m);
        if but_odd && m[0] % 2 == 1 {
            piece.store_carry(i, 0);
            continue;
        }
        let a = operands[0].gather(piece.first + i, of_a);
        let e = operands[1].gather(piece.first + i, of_e);
        let flag = of_any(&mut r, a, e, m, |m| power::<SCAN>(a, e, m));
        piece.store(i, &r);
        piece.store_carry(i, flag);
    }
}

/// An odd modulus in words.
struct Odd {
    m: Vec<u64>,
    /// The word `-1/m mod 2^64`.
    inverse: u64,
}

impl Odd {
    fn new(m: &[Limb]) -> Self {
        let m = words(m, m.len().div_ceil(2));
        let inverse = limbs::inverse(m[0]).wrapping_neg();
        Odd { m, inverse }
    }

    /// The words of a number, cut or extended to the length of the modulus.
    fn words(&self, limbs: &[Limb]) -> Vec<u64> {
        words(limbs, self.m.len())
    }

    /// Sets `r` to the number whose Montgomery form is `x`.
    fn retrieve(&self, r: &mut [Limb], x: &[u64]) {
        let mut one = scratch(self.m.len());
        one[0] = 1;
        unpack(r, &self.product(x, &one));
    }

    /// The product `a b / R mod m`, for `a b < R m`.
    fn product(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let n = self.m.len();
        let mut t = scratch(n + 1);
        let mut above = 0;
        for &x in a {
            let carry = add_row(&mut t[..n], b, x);
            let over;
            (t[n], over) = t[n].overflowing_add(carry);
            above += u64::from(over);
            let q = t[0].wrapping_mul(self.inverse);
            let carry = add_row(&mut t[..n], &self.m, q);
            let over;
            (t[n], over) = t[n].overflowing_add(carry);
            above += u64::from(over);
            t.copy_within(1.., 0);
            (t[n], above) = (above, 0);
        }
        self.subtracted(t)
    }

    /// Returns `t`, or `t - m` if `t` is not below `m`, without a branch. `t` is a word longer than
    /// `m`, and less than `2 m`.
    fn subtracted(&self, mut t: Vec<u64>) -> Vec<u64> {
        let n = self.m.len();
        let mut borrow = false;
        for (t, m) in t.iter().zip(&self.m) {
            (_, borrow) = t.borrowing_sub(*m, borrow);
        }
        let mask = !mask::of_bit(u64::from(borrow) & (1 ^ t[n]));
        borrow = false;
        for (t, m) in t.iter_mut().zip(&self.m) {
            (*t, borrow) = t.borrowing_sub(m & mask, borrow);
        }
        t.truncate(n);
        t
    }

    /// The residue `2 x mod m`.
    fn doubled(&self, x: &[u64]) -> Vec<u64> {
        let mut twice = scratch(x.len() + 1);
        let mut below = 0;
        for (twice, x) in twice.iter_mut().zip(x) {
            *twice = x << 1 | below;
            below = x >> (WORD_BITS - 1);
        }
        twice[x.len()] = below;
        self.subtracted(twice)
    }

    /// The residue `R mod m`, the form of 1 (but 1 if `m` is 1). It is the highest power of two
    /// below `m`, doubled again and again.
    fn one(&self) -> Vec<u64> {
        let n = self.m.len();
        let top = self.m.iter().rposition(|&word| word != 0).unwrap_or(0);
        let bits = WORD_BITS * (top + 1) - self.m[top].leading_zeros().min(63) as usize;
        let mut power = scratch(n);
        power[(bits - 1) / WORD_BITS] = 1 << ((bits - 1) % WORD_BITS);
        for _ in 0..WORD_BITS * n + 1 - bits {
            power = self.doubled(&power);
        }
        power
    }

    /// The residue `R^2 mod m`, the form of `R`.
    fn square_of_radix(&self, one: &[u64]) -> Vec<u64> {
        self.power_of_two(one, WORD_BITS * self.m.len())
    }

    /// The form of `2^exponent`, which is that of 2, squared and doubled as the bits of the
    /// exponent say.
    fn power_of_two(&self, one: &[u64], exponent: usize) -> Vec<u64> {
        let Some(highest) = exponent.checked_ilog2() else {
            return one.to_vec();
        };
        let mut power = self.doubled(one);
        for bit in (0..highest).rev() {
            power = self.product(&power, &power);
            if exponent >> bit & 1 == 1 {
                power = self.doubled(&power);
            }
        }
        power
    }
}

/// The words of a number, cut or extended to `count` of them.
fn words(limbs: &[Limb], count: usize) -> Vec<u64> {
    let mut words = scratch(count);
    pack(&mut words, limbs);
    words
}

/// The power `a^e` modulo an odd number by windows, in constant time if `SCAN`.
fn power<const SCAN: bool>(a: &[Limb], e: &[Limb], m: &[Limb]) -> Vec<Limb> {
    let odd = Odd::new(m);
    let one = odd.one();
    let square_of_radix = odd.square_of_radix(&one);
    let n = odd.m.len();
    // This takes in `a` from the top, as many words at a time as `m` has, in Montgomery's form.
    // With the next words added it is a number below `2 R`, from which `m` may have to be
    // subtracted.
    let mut base = scratch(n);
    for chunk in a.chunks(2 * n).rev() {
        let mut sum = odd.words(chunk);
        sum.push(0);
        let mut carry = false;
        for (sum, x) in sum.iter_mut().zip(&base) {
            (*sum, carry) = sum.carrying_add(*x, carry);
        }
        sum[n] = u64::from(carry);
        base = odd.product(&odd.subtracted(sum), &square_of_radix);
    }
    let power = by_windows::<SCAN, _>(e, one, &base, |x, y| odd.product(x, y));
    let mut r = scratch(m.len());
    odd.retrieve(&mut r, &power);
    r
}
