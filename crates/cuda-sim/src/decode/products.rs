//! Which instructions are the two halves of one product, so that multiply-adds
//! are counted once.

use crate::ir::{Inst, Reg, Use};

/// Which multiplication an instruction is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Multiply {
    None,
    /// A 32x32->64 product in one instruction.
    Wide,
    /// Narrower than 32 bits, or the low half for certain.
    LowAlone,
    /// The low or high half of a product of two words or two longs.
    Half {
        high: bool,
        a: Reg,
        b: Reg,
    },
}

/// Writes into each instruction how many products it stands for. Halves are
/// matched between one label or branch and the next.
pub(super) fn count(insts: &mut [Inst], multiplies: &[Multiply], labels: &[usize]) {
    let mut leaders = vec![false; insts.len() + 1];
    for &label in labels {
        leaders[label] = true;
    }
    // Halves whose other half may still come: (place, high, a, b).
    let mut open: Vec<(usize, bool, Reg, Reg)> = Vec::new();
    for i in 0..insts.len() {
        if leaders[i] || i > 0 && insts[i - 1].op.ends_block() {
            open.clear();
        }
        match multiplies[i] {
            Multiply::None => {}
            Multiply::Wide => insts[i].products = (1, 0),
            Multiply::LowAlone => insts[i].products = (0, 1),
            Multiply::Half { high, a, b } => {
                let long = matches!(a, Reg::Long(_));
                let alone = match (high, long) {
                    (false, false) => (0, 1),
                    (true, false) => (1, 0),
                    (false, true) => (1, 2),
                    (true, true) => (4, 0),
                };
                insts[i].products = alone;
                let other = open.iter().position(|&(_, other_high, x, y)| {
                    other_high != high && ((x, y) == (a, b) || (x, y) == (b, a))
                });
                match other {
                    Some(place) => {
                        let (first, ..) = open.remove(place);
                        // The pair is as much as its high half alone.
                        let low = if high { first } else { i };
                        insts[low].products = (0, 0);
                    }
                    None => open.push((i, high, a, b)),
                }
            }
        }
        insts[i].op.registers(&mut |reg, access| {
            if access == Use::Write {
                open.retain(|&(_, _, a, b)| a != *reg && b != *reg);
            }
        });
    }
}
