//! Arithmetic on all 32 lanes at once: plain loops over arrays, which compile to
//! vector instructions.

pub(crate) mod approximate;
pub(crate) mod carry;
pub(crate) mod float;
pub(crate) mod fused;
pub(crate) mod half;
pub(crate) mod integer;
pub(crate) mod rounding;
pub(crate) mod wide;
pub(crate) mod words;

/// `lanes!(|a, b| e)`: a function from arrays of lanes to an array of lanes,
/// with no captures, so that it is a plain function pointer.
macro_rules! lanes {
    (|$a:ident| $e:expr) => {
        |xs| {
            let mut out = [Default::default(); 32];
            for i in 0..32 {
                let $a = xs[i];
                out[i] = $e;
            }
            out
        }
    };
    (|$a:ident, $b:ident| $e:expr) => {
        |xs, ys| {
            let mut out = [Default::default(); 32];
            for i in 0..32 {
                let ($a, $b) = (xs[i], ys[i]);
                out[i] = $e;
            }
            out
        }
    };
    (|$a:ident, $b:ident, $c:ident| $e:expr) => {
        |xs, ys, zs| {
            let mut out = [Default::default(); 32];
            for i in 0..32 {
                let ($a, $b, $c) = (xs[i], ys[i], zs[i]);
                out[i] = $e;
            }
            out
        }
    };
    (|$a:ident, $b:ident, $c:ident, $d:ident| $e:expr) => {
        |xs, ys, zs, ws| {
            let mut out = [Default::default(); 32];
            for i in 0..32 {
                let ($a, $b, $c, $d) = (xs[i], ys[i], zs[i], ws[i]);
                out[i] = $e;
            }
            out
        }
    };
}
pub(crate) use lanes;

/// `test!(|a, b| e)`: a bit per lane where `e` holds.
macro_rules! test {
    (|$a:ident, $b:ident| $e:expr) => {
        |xs, ys| {
            let mut bits = 0u32;
            for i in 0..32 {
                let ($a, $b) = (xs[i], ys[i]);
                bits |= u32::from($e) << i;
            }
            bits
        }
    };
}
pub(crate) use test;
