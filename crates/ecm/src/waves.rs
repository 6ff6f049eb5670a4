//! How many curves devices compute together: a kernel has so many threads on a device at once, a *wave*, and a launch
//! takes as long as the waves that it is, the last one whole or not.

use bigint_host::Engine;
use num_bigint::BigUint;

use crate::device::{Kernel, program, width};
use crate::{Error, Family, Stage1};

/// Curves that all devices compute together, at most; a checkpoint has all their points.
const MOST: usize = 1 << 19;

/// The limbs of one coordinate of all curves together, at least: what curves cost together, some .07 s, is little then.
const LEAST_LIMBS: usize = 1 << 21;

/// The part of stage 2's last wave that may be without curves.
const EMPTY: f64 = 0.05;

impl Stage1 {
    /// How many curves suit the engine's devices best: whole waves of stage 1 that are, nearly, whole waves of stage 2. `None`
    /// where there is no kernel, or a driver does not tell.
    ///
    /// # Errors
    /// [`Error::Engine`].
    pub fn curves_on_device(
        engine: &Engine,
        n: &BigUint,
        family: Family,
    ) -> Result<Option<usize>, Error> {
        let Some(kernel) = Kernel::new(engine, n, family)? else {
            return Ok(None);
        };
        let waves = kernel.wave()?.zip(of_stage_2(engine, n)?).zip(width(n));
        Ok(waves.map(|((first, second), limbs)| curves(first, second, LEAST_LIMBS / limbs)))
    }
}

/// How many points stage 2 takes together, of those that memory has room for: one wave, as a point of more takes a twentieth to a tenth
/// longer. All that there is room for where that is less, or a driver does not tell.
pub fn slice(engine: &Engine, n: &BigUint, room: usize) -> Result<usize, Error> {
    let wave = of_stage_2(engine, n)?.filter(|&wave| wave <= room);
    Ok(wave.unwrap_or(room))
}

/// A wave of stage 2 modulo a number.
fn of_stage_2(engine: &Engine, n: &BigUint) -> Result<Option<usize>, Error> {
    let Some(width) = width(n) else {
        return Ok(None);
    };
    let Some((module, kernel)) = program(engine, width)? else {
        return Ok(None);
    };
    let wave = module.numbers_at_once(&kernel)?;
    Ok(wave.filter(|&wave| wave > 0))
}

/// The fewest waves of the first stage, of at least so many curves, whose last wave of the second one is full enough; where
/// there are none, those of which it is fullest.
fn curves(first: usize, second: usize, least: usize) -> usize {
    let filled = |curves: usize| curves as f64 / curves.next_multiple_of(second) as f64;
    let most = (MOST / first).max(1);
    let all = || (least.div_ceil(first).clamp(1, most)..=most).map(|waves| waves * first);
    let enough = all().find(|&curves| filled(curves) >= 1.0 - EMPTY);
    let fullest = || all().rev().max_by(|&a, &b| filled(a).total_cmp(&filled(b)));
    enough.or_else(fullest).expect("one wave at least")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_whole_waves_of_stage_1_and_nearly_of_stage_2() {
        let processors = 132 * 128;
        for (first, second, expected) in [
            (4, 4, 4),
            (4, 8, 8),
            (2, 3, 6),
            // 20 of 21.
            (4, 7, 20),
            (1, 30, 29),
            // No more than 31 blocks of a processor: 28 of 29, though none is enough.
            (28, 29, 28),
            (40, 41, 40),
        ] {
            let found = curves(first * processors, second * processors, 1);
            assert_eq!(found, expected * processors, "{first} {second}");
        }
        assert_eq!(curves(4, 7, 21), 28);
        assert_eq!(curves(4, 7, 2 * MOST), MOST);
        assert_eq!(curves(MOST + 1, 7, 1), MOST + 1);
    }

    #[cfg(feature = "cuda")]
    #[test]
    fn stage_2_takes_points_a_wave_at_a_time() {
        let name = "waves::tests::stage_2_takes_points_a_wave_at_a_time";
        if !bigint_testing::simulator::on_simulator(name, &[]) {
            return;
        }
        let engine = Engine::cuda(0).unwrap();
        let n = (BigUint::from(1u8) << 107u8) - 1u8;
        let wave = of_stage_2(&engine, &n).unwrap().unwrap();
        assert_eq!(slice(&engine, &n, usize::MAX).unwrap(), wave);
        assert_eq!(slice(&engine, &n, wave - 1).unwrap(), wave - 1);
        for (count, expected) in [(wave, 1), (wave + 1, 2)] {
            let point = |i: usize| crate::Point {
                curve: crate::Curve::A((i + 3).into()),
                x: (i + 2).into(),
            };
            let points: Vec<_> = (0..count).map(point).collect();
            let stage = crate::Stage2::on_device(&engine, &n, &points, 11, 20);
            let (mut stage, mut blocks) = (stage.unwrap().unwrap(), 0);
            while !stage.is_done() {
                stage.advance().unwrap();
                blocks += 1;
            }
            assert_eq!(blocks, expected, "{count} of {wave}");
            assert_eq!(stage.finish().len(), count);
        }
    }
}
