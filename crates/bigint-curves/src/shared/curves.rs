//! The constants of the curves.

use super::field::{Field, Limbs};
use super::weierstrass::{Curve, OverOneZ, Points};
use core::marker::PhantomData;

/// The curve secp256k1 ([SEC 2]) over a field that computes modulo its prime.
pub struct Secp256k1<F>(PhantomData<F>);

impl<F: Field> Curve for Secp256k1<F> {
    type Field = F;
    const A_IS_MINUS_3: bool = false;
    const B: Limbs = [7, 0, 0, 0, 0, 0, 0, 0];
    const GENERATOR: [Limbs; 2] = [
        [
            0x16f81798, 0x59f2815b, 0x2dce28d9, 0x029bfcdb, 0xce870b07, 0x55a06295, 0xf9dcbbac,
            0x79be667e,
        ],
        [
            0xfb10d4b8, 0x9c47d08f, 0xa6855419, 0xfd17b448, 0x0e1108a8, 0x5da4fbfc, 0x26a3c465,
            0x483ada77,
        ],
    ];
    const ROOT: [[u32; 2]; 3] = [[223, 1], [22, 4], [2, 2]];
    const BETA: Option<Limbs> = Some([
        0x719501ee, 0xc1396c28, 0x12f58995, 0x9cf04975, 0xac3434e9, 0x6e64479e, 0x657c0710,
        0x7ae96a2b,
    ]);
    type Sums = OverOneZ<Self>;
}

/// The curve P-256 ([FIPS 186-5]) over a field that computes modulo its prime.
pub struct P256<F>(PhantomData<F>);

impl<F: Field> Curve for P256<F> {
    type Field = F;
    const A_IS_MINUS_3: bool = true;
    const B: Limbs = [
        0x27d2604b, 0x3bce3c3e, 0xcc53b0f6, 0x651d06b0, 0x769886bc, 0xb3ebbd55, 0xaa3a93e7,
        0x5ac635d8,
    ];
    const GENERATOR: [Limbs; 2] = [
        [
            0xd898c296, 0xf4a13945, 0x2deb33a0, 0x77037d81, 0x63a440f2, 0xf8bce6e5, 0xe12c4247,
            0x6b17d1f2,
        ],
        [
            0x37bf51f5, 0xcbb64068, 0x6b315ece, 0x2bce3357, 0x7c0f9e16, 0x8ee7eb4a, 0xfe1a7f9b,
            0x4fe342e2,
        ],
    ];
    const ROOT: [[u32; 2]; 3] = [[32, 31], [1, 95], [1, 94]];
    const BETA: Option<Limbs> = None;
    type Sums = Points<Self>;
}

/// The number `d` of edwards25519 ([RFC 8032]).
pub const D: Limbs = [
    0x135978a3, 0x75eb4dca, 0x4141d8ab, 0x00700a4d, 0x7779e898, 0x8cc74079, 0x2b6ffe73, 0x52036cee,
];

/// `2 d`.
pub const D2: Limbs = [
    0x26b2f159, 0xebd69b94, 0x8283b156, 0x00e0149a, 0xeef3d130, 0x198e80f2, 0x56dffce7, 0x2406d9dc,
];

/// A square root of -1 modulo `2^255 - 19`.
pub const ROOT_OF_MINUS_1: Limbs = [
    0x4a0ea0b0, 0xc4ee1b27, 0xad2fe478, 0x2f431806, 0x3dfbd7a7, 0x2b4d0099, 0x4fc1df0b, 0x2b832480,
];

/// The `x` and `y` of edwards25519's generator.
pub const GENERATOR: [Limbs; 2] = [
    [
        0x8f25d51a, 0xc9562d60, 0x9525a7b2, 0x692cc760, 0xfdd6dc5c, 0xc0a4e231, 0xcd6e53fe,
        0x216936d3,
    ],
    [
        0x66666658, 0x66666666, 0x66666666, 0x66666666, 0x66666666, 0x66666666, 0x66666666,
        0x66666666,
    ],
];
