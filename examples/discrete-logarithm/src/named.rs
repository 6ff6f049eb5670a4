//! Curves that have a name.
//!
//! * `eccp-79` is an exercise of Certicom's challenge of 1997, with its points `P` and `Q`. R. J. Harley and W. Baisley
//!   found the logarithm on 6 December 1997.
//! * `secp256k1` and `p-256` are those of SEC 2 and FIPS 186, with their generators.
//! * `p-192`, of FIPS 186, is one whose prime leaves six bits of eight limbs free.
//! * `toy-32`, `toy-40`, `toy-48`, `toy-56`: `a` = -3, the greatest prime of so many bits that is 3 modulo 4, and the
//!   least `b` for which the number of points is another prime. The numbers of points, here and of `eccp-79`, are those that
//!   PARI's `ellcard` counts.

use num_bigint::BigUint;

use crate::curve::{Affine, Curve};

/// A curve with a name.
#[derive(Clone, Debug)]
pub struct Named {
    /// The curve.
    pub curve: Curve,
    /// The order of `base`.
    pub order: BigUint,
    /// The point `P`.
    pub base: Affine,
    /// The point `Q` of a published problem.
    pub target: Option<Affine>,
}

/// What names there are.
pub const NAMES: [&str; 8] = [
    "eccp-79",
    "secp256k1",
    "p-256",
    "p-192",
    "toy-32",
    "toy-40",
    "toy-48",
    "toy-56",
];

/// `p a b n`, the coordinates of `P` and, where there is one, of `Q`, in hexadecimal digits.
const CURVES: [&[&str]; 8] = [
    &[
        "62ce5177412aca899cf5",
        "39c95e6dddb1bc45733c",
        "1f16d880e89d5a1c0ed1",
        "62ce5177407b7258dc31",
        "315d4b201c208475057d",
        "035f3df5ab370252450a",
        "0679834cefb7215dc365",
        "4084bc50388c4e6fdfab",
    ],
    &[
        "fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f",
        "0",
        "7",
        "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141",
        "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
        "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8",
    ],
    &[
        "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff",
        "ffffffff00000001000000000000000000000000fffffffffffffffffffffffc",
        "5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b",
        "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
        "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
        "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
    ],
    &[
        "fffffffffffffffffffffffffffffffeffffffffffffffff",
        "fffffffffffffffffffffffffffffffefffffffffffffffc",
        "64210519e59c80e70fa7e9ab72243049feb8deecc146b9b1",
        "ffffffffffffffffffffffff99def836146bc9b1b4d22831",
        "188da80eb03090f67cbf20eb43a18800f4ff0afd82ff1012",
        "07192b95ffc8da78631011ed6b24cdd573f977a11e794811",
    ],
    &["fffffffb", "fffffff8", "1f", "ffffe365", "2", "81a29369"],
    &[
        "ffffffff2b",
        "ffffffff28",
        "38",
        "100000e1915",
        "2",
        "abc5e6052e",
    ],
    &[
        "ffffffffffbf",
        "ffffffffffbc",
        "9",
        "1000000e7b9eb",
        "3",
        "d3ca746e7a1b",
    ],
    &[
        "fffffffffffffb",
        "fffffffffffff8",
        "3c",
        "100000009cdb88b",
        "2",
        "2d3e2bd31e5fd",
    ],
];

/// The curve of a name.
pub fn named(name: &str) -> Option<Named> {
    let at = NAMES.iter().position(|&known| known == name)?;
    let numbers = CURVES[at].iter();
    let mut numbers = numbers.map(|hex| {
        BigUint::parse_bytes(hex.as_bytes(), 16).expect("the table has hexadecimal digits")
    });
    let mut next = || numbers.next();
    Some(Named {
        curve: Curve {
            p: next()?,
            a: next()?,
            b: next()?,
        },
        order: next()?,
        base: [next()?, next()?],
        target: next().zip(next()).map(|(x, y)| [x, y]),
    })
}
