//! Powers of a base whose table is there: `r = g^e mod m` for odd `m` of `n` limbs, cut or extended to
//! the length of `r`. Entry `64 i + d` of the table `t` is `g^(d 64^i)` in Montgomery's form, of `n`
//! limbs.
//!
//! By hand, with windows of one bit, `g` = 3 and `e` = 5 = 101: of the table 1, 3; 1, 9; 1, 81 the
//! entries 3, 1 and 81, whose product is 243.

use bigint_core::Limb;
use bigint_core::kernel::TABLE_WINDOW;

use super::copy;
use super::montgomery::Odd;
use super::pow_mod::digit;
use crate::memory;

/// By a product for each window of the table, in constant time: of each all entries are read.
pub fn window(r: &mut [Limb], t: &[Limb], e: &[Limb], m: &[Limb]) {
    of::<true>(r, t, e, m);
}

/// By a product for each window of the table, of which one entry is read.
pub fn window_vartime(r: &mut [Limb], t: &[Limb], e: &[Limb], m: &[Limb]) {
    of::<false>(r, t, e, m);
}

fn of<const SCAN: bool>(r: &mut [Limb], t: &[Limb], e: &[Limb], m: &[Limb]) {
    let odd = Odd::new(m);
    let mut power = odd.one();
    for (i, window) in t.chunks_exact(m.len() << TABLE_WINDOW).enumerate().rev() {
        let digit = digit(e, i * TABLE_WINDOW, TABLE_WINDOW);
        power = odd.product(&power, &entry::<SCAN>(window, m.len(), digit));
    }
    let mut plain = memory::scratch(m.len());
    plain[0] = 1;
    copy(r, &odd.product(&power, &plain));
}

/// Entry `i` of a window's, of `n` limbs each; where `SCAN`, by reading them all.
pub(crate) fn entry<const SCAN: bool>(window: &[Limb], n: usize, i: usize) -> Vec<Limb> {
    if !SCAN {
        return window[n * i..n * (i + 1)].to_vec();
    }
    let mut chosen = memory::scratch(n);
    for (k, entry) in window.chunks(n).enumerate() {
        let mask = Limb::from(k == i).wrapping_neg();
        for (chosen, limb) in chosen.iter_mut().zip(entry) {
            *chosen |= limb & mask;
        }
    }
    chosen
}
