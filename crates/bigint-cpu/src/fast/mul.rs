//! Multiplication of a batch: which engine takes which piece.

use bigint_core::Algorithm;

use super::{Cpu, Path, lanes};
use crate::piece::{Piece, for_each_piece};
use crate::{Error, Numbers, NumbersMut, reference};

/// Limbs of operands and result that a worker goes through before it takes the next
/// piece: they stay in its L2 cache.
const PIECE_LIMBS: usize = 1 << 15;

/// Pieces hold a multiple of this many numbers, so that groups of lanes are whole and
/// rows of an interleaved result are cut between cache lines.
const PIECE_NUMBERS: usize = 32;

pub(crate) fn mul(
    cpu: &Cpu,
    r: NumbersMut<'_>,
    a: Numbers<'_>,
    b: Numbers<'_>,
) -> Result<(), Error> {
    reference::check(&r, a, b, None)?;
    let limbs = r.shape().width + a.shape().width + b.shape().width;
    let size = (PIECE_LIMBS / limbs.max(1)).next_multiple_of(PIECE_NUMBERS);
    match cpu.path() {
        #[cfg(target_arch = "x86_64")]
        Path::Avx512Ifma | Path::Avx2 => {
            for_each_piece(r, None, size.max(PIECE_NUMBERS), |piece| {
                lanes_piece(cpu, piece, a, b);
            });
            Ok(())
        }
        _ => reference::mul(r, a, b, Algorithm::Auto),
    }
}

#[cfg(target_arch = "x86_64")]
fn lanes_piece(cpu: &Cpu, piece: Piece<'_>, a: Numbers<'_>, b: Numbers<'_>) {
    let tuning = cpu.tuning();
    if cpu.path() == Path::Avx512Ifma
        && let Some(isa) = lanes::Avx512::detect()
    {
        let thresholds = tuning.avx512ifma;
        lanes::mul(
            isa,
            (thresholds.karatsuba, thresholds.karatsuba_square),
            piece,
            a,
            b,
        );
    } else if let Some(isa) = lanes::Avx2::detect() {
        let thresholds = tuning.avx2;
        lanes::mul(
            isa,
            (thresholds.karatsuba, thresholds.karatsuba_square),
            piece,
            a,
            b,
        );
    }
}
