//! Squares and products by a transform of any length, in the three launches of [`bigint_core::weighted`].

use super::squares::{
    Digits, Sides, Squares, around, doubles, greatest, upload_doubles, upload_pairs, with_inverse,
};
use crate::Error;
use crate::common::device::{Buffer, Device};
use bigint_core::Launch;
use bigint_core::kernel::EntryPoint;
use bigint_core::specialization::Specialization;
use bigint_core::weighted::{
    BACK, FORTH, KEEP, MULTIPLY, NEAR, PRODUCT, ROWS, THREADS, WeightedArguments, shared_bytes,
};
use bigint_cpu::fast::number::weighted::{Layout, Modulus, root, twists};
use std::sync::Arc;

pub(super) struct General {
    device: Arc<dyn Device>,
    layout: Layout,
    arguments: WeightedArguments,
    points: Buffer,
    carries: Buffer,
    errors: Buffer,
    tables: Vec<Buffer>,
}

/// The number of rows and of points in a row, as near to each other as possible.
pub(super) fn shape(words: usize, device: &Arc<dyn Device>) -> Option<(usize, usize)> {
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

impl General {
    pub fn new(device: &Arc<dyn Device>, layout: Layout, words: usize) -> Result<Self, Error> {
        let (slow, fast) = shape(words, device).expect("a length of `transform_modulo`");
        let roots = |count: usize, step: usize, n: usize| {
            let roots = (0..count).map(|k| root((k * step) as u64, n as u64));
            upload_pairs(device, roots)
        };
        let weights = |count: usize, step: usize| {
            let weights = (0..count).flat_map(|j| {
                let g = layout.exponent(j * step);
                let weight = layout.weight(j * step, g);
                [[weight, 1.0 / weight], [g as f64, 0.0]]
            });
            upload_pairs(device, weights)
        };
        let Modulus { k, base, c, .. } = layout.modulus;
        let (points, near) = (slow * fast, NEAR as usize);
        let order = if c > 0 { 2 * points } else { points };
        let mut tables = vec![
            roots(slow, 1, slow)?,
            roots(fast, 1, fast)?,
            roots(near, 1, order)?,
            roots(order.div_ceil(near), near, order)?,
            weights(slow, 2 * fast)?,
            weights(2 * fast, 1)?,
        ];
        if c > 0 {
            tables.push(upload_pairs(device, twists(slow).into_iter())?);
        }
        let zeros = |doubles: usize| device.upload(&vec![0; 2 * doubles]);
        let (points, carries) = (zeros(words)?, zeros(words / 4)?);
        let errors = zeros(fast / 2 * THREADS as usize)?;
        let address = |i: usize| tables.get(i).map_or(0, Buffer::address);
        let (short, long) = layout.short();
        let base = f64::from(base);
        let arguments = WeightedArguments {
            points: points.address(),
            digits: points.address(),
            carries: carries.address(),
            errors: errors.address(),
            slow_roots: address(0),
            fast_roots: address(1),
            near_roots: address(2),
            far_roots: address(3),
            twists: address(6),
            row_weights: address(4),
            column_weights: address(5),
            factor: 0,
            less: 0,
            other: [0; 2],
            signs: [1.0; 2],
            scale: k as f64 / (2.0 * words as f64),
            by: 1.0,
            unit: layout.unit as f64,
            long: long as f64,
            base: with_inverse(base),
            short: with_inverse(base.powi(short as i32)),
            around: around(&layout),
            more: 0.0,
            group: (layout.word / 4) as u32,
            word: (layout.word % 4) as u32,
            minus: 0.0,
            slow: slow as u32,
            fast: fast as u32,
        };
        Ok(General {
            device: Arc::clone(device),
            layout,
            arguments,
            points,
            carries,
            errors,
            tables,
        })
    }

    /// The arguments of a launch that subtracts `minus 2^bit`; `bit` is 0 unless the modulus is `2^p - 1`.
    fn less(&self, minus: u32, bit: u32) -> WeightedArguments {
        let (mut arguments, minus) = (self.arguments, f64::from(minus));
        if self.layout.modulus.exponent().is_some() {
            let (word, value) = self.layout.bit(bit);
            arguments.more = -minus * value;
            arguments.group = (word / 4) as u32;
            arguments.word = (word % 4) as u32;
        } else {
            arguments.minus = minus;
        }
        arguments
    }

    fn launch(
        &self,
        entry: EntryPoint,
        arguments: WeightedArguments,
        more: &[&Buffer],
    ) -> Result<(), Error> {
        let WeightedArguments { slow, fast, .. } = arguments;
        let (grid, n) = if entry == BACK || entry == FORTH {
            (fast / 2, slow)
        } else {
            (arguments.pairs(), fast)
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
            .launch(entry, Specialization::None, launch, &arguments, &buffers)?)
    }
}

impl Squares for General {
    fn words(&self) -> usize {
        2 * (self.arguments.slow * self.arguments.fast) as usize
    }

    fn set(&mut self, digits: &[f64]) -> Result<(), Error> {
        self.points = upload_doubles(&self.device, digits)?;
        self.carries = self.device.upload(&vec![0; self.words() / 2])?;
        self.arguments.points = self.points.address();
        self.arguments.digits = self.points.address();
        self.arguments.carries = self.carries.address();
        self.launch(FORTH, self.arguments, &[])
    }

    fn digits(&self) -> Result<Digits, Error> {
        let n = self.words();
        let (digits, carries) = (self.device.allocate(2 * n)?, self.device.allocate(n / 2)?);
        let arguments = WeightedArguments {
            digits: digits.address(),
            carries: carries.address(),
            scale: 1.0 / f64::from(self.arguments.slow),
            ..self.arguments
        };
        self.launch(BACK, arguments, &[&digits, &carries])?;
        Ok(Digits {
            digits,
            carries: Some(carries),
        })
    }

    fn square(&mut self, times: u32, by: u32, minus: u32, bit: u32) -> Result<(), Error> {
        let arguments = WeightedArguments {
            by: by.into(),
            ..self.less(minus, bit)
        };
        for _ in 0..times {
            for entry in [ROWS, BACK, FORTH] {
                self.launch(entry, arguments, &[])?;
            }
        }
        Ok(())
    }

    fn keep(&self) -> Result<Buffer, Error> {
        let limbs = usize::try_from(self.arguments.factor_limbs()).expect("it is in memory");
        let factor = self.device.allocate(limbs)?;
        let arguments = WeightedArguments {
            factor: factor.address(),
            ..self.arguments
        };
        self.launch(KEEP, arguments, &[&factor])?;
        Ok(factor)
    }

    fn multiply(&mut self, sides: Sides<'_>, minus: u32) -> Result<(), Error> {
        let [other, [factor, less]] = sides.addresses;
        let arguments = WeightedArguments {
            factor,
            less,
            other,
            signs: sides.signs,
            ..self.less(minus, 0)
        };
        let first = match sides.are_of_residue() {
            true => MULTIPLY,
            false => PRODUCT,
        };
        for entry in [first, BACK, FORTH] {
            self.launch(entry, arguments, &sides.buffers)?;
        }
        Ok(())
    }

    fn error(&self) -> Result<f64, Error> {
        Ok(greatest(doubles(&self.device, &self.errors)?.into_iter()))
    }
}
