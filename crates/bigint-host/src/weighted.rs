//! Squares modulo `2^p - 1` on a device: [`bigint_core::weighted`] has the kernels.

use crate::cuda::{Buffer, Device};
use crate::{Engine, Error};
use bigint_core::Launch;
use bigint_core::facts::Facts;
use bigint_core::kernel::EntryPoint;
use bigint_core::weighted::{BACK, FORTH, NEAR, ROWS, THREADS, WeightedArguments, shared_bytes};
use bigint_cpu::fast::number::weighted::{digits, limbs, root};
use std::sync::Arc;

/// A residue modulo `2^p - 1` on a device, squared again and again by a weighted transform
/// in doubles, in three launches each. Rounding errors are measured as on the CPU
/// ([`bigint_cpu::fast::number::weighted`]), by the same limits.
pub struct MersenneSquares {
    p: u32,
    device: Arc<Device>,
    arguments: WeightedArguments,
    points: Buffer,
    carries: Buffer,
    errors: Buffer,
    tables: [Buffer; 6],
}

impl Engine {
    /// Zero modulo `2^p - 1` on the engine's device, to be squared by a transform of `words`
    /// words, one of [`Engine::mersenne_words`]. `None` on the CPU.
    ///
    /// # Errors
    /// [`Error::Device`] where the device has not the memory.
    ///
    /// # Panics
    /// For other numbers of words, and for `p` below them.
    pub fn mersenne_squares(&self, p: u32, words: usize) -> Result<Option<MersenneSquares>, Error> {
        let device = self.inner.device();
        device
            .map(|device| MersenneSquares::new(device, p, words))
            .transpose()
    }

    /// The lengths in words that the engine's device can transform for [`MersenneSquares`],
    /// shortest first: powers of two, and 3, 5 and 7 times those. None on the CPU.
    pub fn mersenne_words(&self) -> Vec<usize> {
        let mut words: Vec<usize> = (7..=23)
            .flat_map(|log| [1, 3, 5, 7].map(|odd| odd << log))
            .collect();
        words.sort_unstable();
        match self.inner.device() {
            Some(device) => words.retain(|&words| shape(words, device).is_some()),
            None => words.clear(),
        }
        words
    }
}

/// Rows and points of a row, as near to a square as it gets.
fn shape(words: usize, device: &Device) -> Option<(usize, usize)> {
    let points = words / 2;
    let fits = |n: usize| {
        n.trailing_zeros() >= 3 && n <= 2048 && shared_bytes(n as u32) <= device.shared_bytes()
    };
    let odd = words.checked_shr(words.trailing_zeros())?;
    let shapes = (3..=11).map(|log| (points >> log, 1usize << log));
    shapes
        .filter(|&(slow, fast)| slow * fast == points && [1, 3, 5, 7].contains(&odd))
        .filter(|&(slow, fast)| fits(slow) && fits(fast))
        .min_by_key(|&(slow, fast)| (slow.max(fast), fast))
}

impl MersenneSquares {
    fn new(device: &Arc<Device>, p: u32, words: usize) -> Result<Self, Error> {
        let (slow, fast) = shape(words, device).expect("a length of `mersenne_words`");
        assert!(words <= p as usize, "a word has at least one bit");
        let upload = |pairs: &mut dyn Iterator<Item = [f64; 2]>| {
            let pairs: Vec<[f64; 2]> = pairs.collect();
            device.upload(bytemuck::cast_slice(&pairs))
        };
        let roots = |count: usize, step: usize, n: usize| {
            upload(&mut (0..count).map(|k| root((k * step) as u64, n as u64)))
        };
        // Weights have the exponents g / n.
        let weights = |count: usize, step: usize| {
            upload(&mut (0..count).flat_map(|j| {
                let g = u64::from(p) * (j * step) as u64 % words as u64;
                let g = ((words as u64 - g) % words as u64) as f64;
                let weight = (g / words as f64).exp2();
                [[weight, 1.0 / weight], [g, 0.0]]
            }))
        };
        let (points, near) = (slow * fast, NEAR as usize);
        let tables = [
            roots(slow, 1, slow)?,
            roots(fast, 1, fast)?,
            roots(near, 1, points)?,
            roots(points.div_ceil(near), near, points)?,
            weights(slow, 2 * fast)?,
            weights(2 * fast, 1)?,
        ];
        let zeros = |doubles: usize| device.upload(&vec![0; 2 * doubles]);
        let (points, carries) = (zeros(words)?, zeros(words / 4)?);
        let errors = zeros(fast / 2 * THREADS as usize)?;
        let address = |i: usize| -> u64 { Buffer::address(&tables[i]) };
        let arguments = WeightedArguments {
            points: points.address(),
            digits: points.address(),
            carries: carries.address(),
            errors: errors.address(),
            slow_roots: address(0),
            fast_roots: address(1),
            near_roots: address(2),
            far_roots: address(3),
            row_weights: address(4),
            column_weights: address(5),
            scale: 1.0 / (2.0 * words as f64),
            words: words as f64,
            long: (p as usize % words) as f64,
            short: p / words as u32,
            minus: 0,
            slow: slow as u32,
            fast: fast as u32,
        };
        Ok(MersenneSquares {
            p,
            device: Arc::clone(device),
            arguments,
            points,
            carries,
            errors,
            tables,
        })
    }

    /// Words of the transform.
    pub fn words(&self) -> usize {
        2 * (self.arguments.slow * self.arguments.fast) as usize
    }

    /// Takes the number with these limbs for the residue.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Panics
    /// Where it has more than `p` bits.
    pub fn set(&mut self, limbs: &[u64]) -> Result<(), Error> {
        let digits: Vec<f64> = digits(limbs, self.p, self.words())
            .map(|digit| digit as f64)
            .collect();
        self.points = self.device.upload(bytemuck::cast_slice(&digits))?;
        self.carries = self.device.upload(&vec![0; self.words() / 2])?;
        self.arguments.points = self.points.address();
        self.arguments.digits = self.points.address();
        self.arguments.carries = self.carries.address();
        self.launch(FORTH, self.arguments, &[])
    }

    /// The residue, below `2^p - 1`, in as many limbs as `p` bits need.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn residue(&self) -> Result<Vec<u64>, Error> {
        let n = self.words();
        let (digits, carries) = (self.device.allocate(2 * n)?, self.device.allocate(n / 2)?);
        let arguments = WeightedArguments {
            digits: digits.address(),
            carries: carries.address(),
            scale: 1.0 / f64::from(self.arguments.slow),
            minus: 0,
            ..self.arguments
        };
        self.launch(BACK, arguments, &[&digits, &carries])?;
        let (digits, carries) = (self.doubles(&digits)?, self.doubles(&carries)?);
        // Each four words carry into the next four.
        let carried = |j: usize| match j % 4 {
            0 => carries[(j / 4 + carries.len() - 1) % carries.len()] as i64,
            _ => 0,
        };
        let sums = (0..n).map(|j| digits[j] as i64 + carried(j));
        Ok(limbs(sums, self.p, n))
    }

    /// Replaces the residue `x` by `x^2 - minus`, so many times. Answers with the greatest
    /// distance of a word from an integer before it was rounded, since the beginning.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn square(&mut self, times: u32, minus: u32) -> Result<f64, Error> {
        let arguments = WeightedArguments {
            minus,
            ..self.arguments
        };
        for _ in 0..times {
            for entry in [ROWS, BACK, FORTH] {
                self.launch(entry, arguments, &[])?;
            }
        }
        Ok(self
            .doubles(&self.errors)?
            .into_iter()
            .fold(0.0, |greatest, error| {
                if error > greatest || error.is_nan() {
                    error
                } else {
                    greatest
                }
            }))
    }

    /// Waits for all work, and copies a buffer's doubles to the host.
    fn doubles(&self, buffer: &Buffer) -> Result<Vec<f64>, Error> {
        let mut doubles = bigint_cpu::zeroed(buffer.limbs() / 2)?;
        self.device
            .download(buffer, bytemuck::cast_slice_mut(&mut doubles))?;
        Ok(doubles)
    }

    fn launch(
        &self,
        entry: EntryPoint,
        arguments: WeightedArguments,
        more: &[&Buffer],
    ) -> Result<(), Error> {
        let WeightedArguments { slow, fast, .. } = arguments;
        let (grid, n) = if entry == ROWS {
            (slow / 2 + 1, fast)
        } else {
            (fast / 2, slow)
        };
        let launch = Launch {
            grid,
            block: THREADS,
            shared_bytes: shared_bytes(n),
            workers: grid as usize,
            scratch_width: 0,
        };
        let mut buffers = vec![&self.points, &self.carries, &self.errors];
        buffers.extend(&self.tables);
        buffers.extend(more);
        Ok(self
            .device
            .launch(entry, Facts::default(), launch, arguments, &buffers)?)
    }
}
