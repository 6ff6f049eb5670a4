//! The measurement of thresholds on the machine at hand.
//!
//! Each threshold is found by running both sides of it in turn on the same numbers, size by size.
//! The shortest of many times stands for a side, as it is the time of the code when nothing else
//! runs.

use std::ops::Range;
use std::time::{Duration, Instant};

use bigint_core::{Algorithm, LIMB_BITS, Layout, Limb, Shape};

use super::number::Thresholds;
use super::{Cpu, LaneTuning, NEVER, Path, Tuning, lanes};
use crate::{Error, Numbers, NumbersMut};

/// The thresholds of `path` on this machine, with the defaults for other paths. The measurement
/// takes a few seconds and 200 MB, on an otherwise idle machine.
///
/// # Errors
///
/// [`Error::Path`] if the machine cannot run the path.
///
/// ```no_run
/// use bigint_cpu::{Cpu, Path, tune};
/// let path = Path::best();
/// let cpu = Cpu::new(path)?.with_tuning(tune(path)?);
/// # Ok::<(), bigint_cpu::Error>(())
/// ```
pub fn tune(path: Path) -> Result<Tuning, Error> {
    let mut cpu = Cpu::new(path)?;
    let mut tuning = *cpu.tuning();
    // This comes first, because the lanes' limits are the lengths at which one number at a time is
    // faster.
    for is_square in [false, true] {
        *of_number(&mut tuning, path, is_square) = number(&cpu, is_square)?;
    }
    cpu = cpu.with_tuning(tuning);
    if path != Path::Portable {
        let mut lanes = of_path(&mut tuning, path);
        lanes.karatsuba = karatsuba(&cpu, false)?;
        lanes.karatsuba_square = karatsuba(&cpu, true)?;
        *of_path_mut(&mut tuning, path) = lanes;
        cpu = cpu.with_tuning(tuning);
        lanes.narrowest = narrowest(&cpu)?;
        lanes.widest = widest(&cpu)?;
        lanes.fewest = fewest(&cpu)?;
        *of_path_mut(&mut tuning, path) = lanes;
        let bytes = stream_bytes(&cpu, Layout::Contiguous)?;
        match path {
            Path::Avx512Ifma => tuning.stream_bytes = bytes,
            Path::Avx2 | Path::Portable => tuning.stream_words_bytes = bytes,
        }
        tuning.stream_rows_bytes = stream_bytes(&cpu, Layout::Interleaved)?;
    }
    Ok(tuning)
}

fn of_path(tuning: &mut Tuning, path: Path) -> LaneTuning {
    *of_path_mut(tuning, path)
}

fn of_path_mut(tuning: &mut Tuning, path: Path) -> &mut LaneTuning {
    match path {
        Path::Avx512Ifma => &mut tuning.avx512ifma,
        Path::Avx2 | Path::Portable => &mut tuning.avx2,
    }
}

fn of_number(tuning: &mut Tuning, path: Path, is_square: bool) -> &mut Thresholds {
    let of_path = tuning.number.of_mut(path);
    if is_square {
        &mut of_path.square
    } else {
        &mut of_path.product
    }
}

/// The thresholds for one number. Each is measured with those below it as found.
fn number(cpu: &Cpu, is_square: bool) -> Result<Thresholds, Error> {
    let mut found = Thresholds {
        karatsuba: NEVER,
        toom3: NEVER,
        toom4: NEVER,
        transform: NEVER,
    };
    found.karatsuba = threshold(cpu, is_square, 10..250, |limbs| Thresholds {
        karatsuba: limbs,
        ..found
    })?;
    // Below Karatsuba's threshold nothing is split into more parts either.
    let from = found.karatsuba.max(48);
    found.toom3 = threshold(cpu, is_square, from..1000, |limbs| Thresholds {
        toom3: limbs,
        ..found
    })?;
    found.toom4 = threshold(cpu, is_square, from.max(128)..2000, |limbs| Thresholds {
        toom4: limbs,
        ..found
    })?;
    found.transform = threshold(cpu, is_square, 128..4000, |limbs| Thresholds {
        transform: limbs,
        ..found
    })?;
    Ok(found)
}

/// The limbs in `range` from which on the algorithm wins whose threshold `from` sets.
fn threshold(
    cpu: &Cpu,
    is_square: bool,
    range: Range<usize>,
    from: impl Fn(usize) -> Thresholds,
) -> Result<usize, Error> {
    let with = |thresholds| {
        let mut tuning = *cpu.tuning();
        *of_number(&mut tuning, cpu.path(), is_square) = thresholds;
        cpu.with_tuning(tuning)
    };
    let sizes: Vec<usize> = geometric(range).chain([NEVER]).collect();
    first_win(&sizes, |limbs| {
        if limbs == NEVER {
            return Ok(true);
        }
        // The algorithm is taken once, as the parts are shorter, or not at all.
        let (once, not) = (with(from(limbs)), with(from(limbs + 1)));
        let mut sample = Sample::new(Layout::Contiguous, 1, 64 / LIMB_BITS * limbs);
        is_faster(&once, &not, |cpu| sample.mul(cpu, is_square))
    })
}

/// The even sizes of the range, each a sixteenth above the one before.
fn geometric(range: Range<usize>) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(range.start), |size| {
        Some((size + size / 16 + 1).next_multiple_of(2))
    })
    .take_while(move |size| range.contains(size))
}

/// The engine with other thresholds for its lanes.
fn with_lanes(cpu: &Cpu, change: impl FnOnce(&mut LaneTuning)) -> Cpu {
    let mut tuning = *cpu.tuning();
    change(of_path_mut(&mut tuning, cpu.path()));
    cpu.with_tuning(tuning)
}

/// The engine that puts every number in lanes, or none.
fn forced(cpu: &Cpu, in_lanes: bool) -> Cpu {
    with_lanes(cpu, |lanes| {
        lanes.fewest = if in_lanes { 1 } else { NEVER };
        lanes.narrowest = 0;
        lanes.widest = NEVER;
    })
}

/// A batch to multiply or add, and room for the result.
struct Sample {
    operands: [Vec<Limb>; 2],
    result: Vec<Limb>,
    shape: Shape,
}

impl Sample {
    fn new(layout: Layout, count: usize, width: usize) -> Self {
        let shape = Shape::new(count, width, layout);
        let operand = |factor: Limb| {
            let limb = |i: usize| (i as Limb).wrapping_add(1).wrapping_mul(factor);
            (0..shape.limbs()).map(limb).collect()
        };
        Sample {
            operands: [operand(0x9e37_79b9), operand(0x85eb_ca6b)],
            result: vec![0; 2 * shape.limbs()],
            shape,
        }
    }

    fn mul(&mut self, cpu: &Cpu, is_square: bool) -> Result<Duration, Error> {
        let [a, b] = &self.operands;
        let b = if is_square { a } else { b };
        let r_shape = self.shape.with_width(2 * self.shape.width);
        let begin = Instant::now();
        cpu.mul(
            NumbersMut::new(&mut self.result, r_shape)?,
            Numbers::new(a, self.shape)?,
            Numbers::new(b, self.shape)?,
            Algorithm::Auto,
        )?;
        Ok(begin.elapsed())
    }

    /// Computes a sum and, to include the time of reading it, a sum of that.
    fn add(&mut self, cpu: &Cpu) -> Result<Duration, Error> {
        let shape = self.shape;
        let [a, b] = &self.operands;
        let b = Numbers::new(b, shape)?;
        let (sum, second) = self.result.split_at_mut(shape.limbs());
        let begin = Instant::now();
        let r = NumbersMut::new(sum, shape)?;
        cpu.add(r, Numbers::new(a, shape)?, b, None, Algorithm::Auto)?;
        let r = NumbersMut::new(second, shape)?;
        cpu.add(r, Numbers::new(sum, shape)?, b, None, Algorithm::Auto)?;
        Ok(begin.elapsed())
    }
}

/// The least and the greatest number of times that two sides are measured in turn.
const ROUNDS: (u32, u32) = (5, 200);

/// The time after which a comparison ends.
const COMPARISON: Duration = Duration::from_millis(10);

/// Whether the first engine takes less time than the second.
fn is_faster(
    first: &Cpu,
    second: &Cpu,
    mut run: impl FnMut(&Cpu) -> Result<Duration, Error>,
) -> Result<bool, Error> {
    let mut least = [Duration::MAX; 2];
    let begin = Instant::now();
    for round in 0..ROUNDS.1 {
        for (least, cpu) in least.iter_mut().zip([first, second]) {
            *least = run(cpu)?.min(*least);
        }
        if round >= ROUNDS.0 && begin.elapsed() > COMPARISON {
            break;
        }
    }
    Ok(least[0] < least[1])
}

/// The first of the sizes at which `wins` holds, and holds at the next size too, or the last size
/// if there is none.
fn first_win(
    sizes: &[usize],
    mut wins: impl FnMut(usize) -> Result<bool, Error>,
) -> Result<usize, Error> {
    let mut since = None;
    for &size in sizes {
        since = match (wins(size)?, since) {
            (true, Some(size)) => return Ok(size),
            (true, None) => Some(size),
            (false, _) => None,
        };
    }
    Ok(since.or(sizes.last().copied()).unwrap_or(0))
}

fn karatsuba(cpu: &Cpu, is_square: bool) -> Result<usize, Error> {
    let digit_bits = lanes::DIGIT_BITS as usize;
    let sizes: Vec<usize> = (24..=120).step_by(8).collect();
    let cpu = forced(cpu, true);
    first_win(&sizes, |digits| {
        let mut sample = Sample::new(Layout::Contiguous, 16, digits * digit_bits / LIMB_BITS);
        // The number is split once, as the halves are shorter, or not at all.
        let split_from = |digits| {
            with_lanes(&cpu, |lanes| {
                (lanes.karatsuba, lanes.karatsuba_square) = (digits, digits);
            })
        };
        is_faster(&split_from(digits), &split_from(digits + 1), |cpu| {
            sample.mul(cpu, is_square)
        })
    })
}

fn narrowest(cpu: &Cpu) -> Result<usize, Error> {
    let (in_lanes, one_by_one) = (forced(cpu, true), forced(cpu, false));
    first_win(&[1, 4, 8, 16, 24, 32, 48, 64, 96], |width| {
        let mut sample = Sample::new(Layout::Contiguous, 64, width);
        is_faster(&in_lanes, &one_by_one, |cpu| sample.mul(cpu, false))
    })
}

fn widest(cpu: &Cpu) -> Result<usize, Error> {
    let (in_lanes, one_by_one) = (forced(cpu, true), forced(cpu, false));
    let sizes = [512, 768, 1024, 1536, 2048, 3072, 4096, 6144];
    first_win(&sizes, |width| {
        let mut sample = Sample::new(Layout::Contiguous, 16, width);
        is_faster(&one_by_one, &in_lanes, |cpu| sample.mul(cpu, false))
    })
}

fn fewest(cpu: &Cpu) -> Result<usize, Error> {
    let (in_lanes, one_by_one) = (forced(cpu, true), forced(cpu, false));
    let counts: Vec<usize> = (1..=lanes::of(cpu.path())).collect();
    first_win(&counts, |count| {
        let mut sample = Sample::new(Layout::Contiguous, count, 96);
        is_faster(&in_lanes, &one_by_one, |cpu| sample.mul(cpu, false))
    })
}

fn stream_bytes(cpu: &Cpu, layout: Layout) -> Result<usize, Error> {
    let with = |bytes| {
        cpu.with_tuning(Tuning {
            stream_bytes: bytes,
            stream_words_bytes: bytes,
            stream_rows_bytes: bytes,
            ..*cpu.tuning()
        })
    };
    let (streamed, cached) = (with(0), with(NEVER));
    let sizes: Vec<usize> = (20..27).map(|bits| 1 << bits).chain([NEVER]).collect();
    first_win(&sizes, |bytes| {
        if bytes == NEVER {
            return Ok(true);
        }
        let width = 128;
        let mut sample = Sample::new(layout, bytes / (size_of::<Limb>() * width), width);
        is_faster(&streamed, &cached, |cpu| sample.add(cpu))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_where_two_sizes_in_a_row_win() {
        let sizes = [1, 2, 3, 4, 5];
        let from = |least: usize| first_win(&sizes, |size| Ok(size == 1 || size >= least));
        assert_eq!(from(3), Ok(3));
        assert_eq!(from(5), Ok(5));
        assert_eq!(from(9), Ok(5));
        assert_eq!(from(0), Ok(1));
    }
}
