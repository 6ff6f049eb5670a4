//! Powers of a fixed base with a table: `r = g^e mod m` for an odd `m` of `n` limbs, cut or
//! extended to the length of `r`. Entry `64 i + d` of the table `t` is `g^(d 64^i)` in Montgomery's
//! form, of `n` limbs.
//!
//! An example with windows of one bit, `g` = 3 and `e` = 5 = 101 in binary: the table is 1, 3; 1,
//! 9; 1, 81. Its entries 3, 1 and 81 are taken, and their product is 243.

use bigint_core::Limb;
use bigint_core::kernel::TABLE_WINDOW;

use super::copy;
use super::montgomery::Odd;
use super::pow_mod::{digit, entry};
use super::residue_systems::ResidueSystems;

/// Multiplies one entry for each window of the table, in constant time: all entries of a window are
/// read.
pub fn window(r: &mut [Limb], t: &[Limb], e: &[Limb], m: &[Limb]) {
    of::<true>(r, t, e, m);
}

/// Multiplies one entry for each window of the table, and reads no other.
pub fn window_vartime(r: &mut [Limb], t: &[Limb], e: &[Limb], m: &[Limb]) {
    of::<false>(r, t, e, m);
}

/// Multiplies one entry for each window in residue number systems. If these do not take `m`, it multiplies by
/// windows alone. (A device keeps the entries as residues.)
pub fn rns(r: &mut [Limb], t: &[Limb], e: &[Limb], m: &[Limb]) {
    let Some(systems) = ResidueSystems::new(m) else {
        return window(r, t, e, m);
    };
    let odd = Odd::new(m);
    let radix = systems.radix();
    let form = |x: &[Limb]| systems.product(&systems.residues(x), &radix);
    let mut power = form(&[1]);
    for (i, window) in t.chunks_exact(m.len() << TABLE_WINDOW).enumerate().rev() {
        let digit = digit(e, i * TABLE_WINDOW, TABLE_WINDOW);
        let entries = window.chunks_exact(m.len());
        let entry = odd.retrieve(&entry::<true, _>(entries, m.len(), digit));
        power = systems.product(&power, &form(&entry));
    }
    systems.retrieve(r, &systems.product(&power, &systems.residues(&[1])));
}

fn of<const SCAN: bool>(r: &mut [Limb], t: &[Limb], e: &[Limb], m: &[Limb]) {
    let odd = Odd::new(m);
    let mut power = odd.one();
    for (i, window) in t.chunks_exact(m.len() << TABLE_WINDOW).enumerate().rev() {
        let digit = digit(e, i * TABLE_WINDOW, TABLE_WINDOW);
        let entries = window.chunks_exact(m.len());
        power = odd.product(&power, &entry::<SCAN, _>(entries, m.len(), digit));
    }
    copy(r, &odd.retrieve(&power));
}
