//! Squares and products by a long transform, in the two launches of [`bigint_core::weighted::long`].

use super::squares::{
    Digits, Sides, Squares, around, greatest, upload_doubles, upload_pairs, with_inverse,
};
use crate::Error;
use crate::common::device::{Buffer, Device};
use bigint_core::Launch;
use bigint_core::kernel::EntryPoint;
use bigint_core::specialization::{LongTransform, Specialization};
use bigint_core::weighted::long::{
    LONG_COLUMNS, LONG_COLUMNS_FAR, LONG_COLUMNS_MODULO, LONG_COLUMNS_REACH, LONG_KEEP,
    LONG_MULTIPLY, LONG_PRODUCT, LONG_ROWS, Less, LongArguments, NO_CARRY, Nodes, POINTS, ROW_BACK,
    ROW_HALVES, ROW_MIDDLE_BACK, ROW_ROOTS, Radices, Stage, THREADS, Tables, WARPS, WordBits,
    last_roots, log_width, long_columns_bytes, long_rows_bytes, reciprocal,
};
use bigint_cpu::fast::number::weighted::{Layout, Modulus, root};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

pub(super) struct Long {
    device: Arc<dyn Device>,
    layout: Layout,
    arguments: LongArguments,
    columns: EntryPoint,
    points: Buffer,
    carries: Buffer,
    flag: Buffer,
    errors: Buffer,
    tables: Vec<Buffer>,
    /// The number of launches so far.
    launches: AtomicU32,
}

/// The number of warps in all blocks of columns that a multiprocessor runs at once: they share its
/// registers.
fn resident_warps(factor: u32) -> u32 {
    let of_block = ((16 * factor) << log_width(factor)) / 32;
    // Two blocks of nine warps, with 96 registers a thread, take less time than one with 168.
    let least = if factor == 9 { 2 } else { 1 };
    (THREADS / 32 / of_block).max(least) * of_block
}

/// The roots that each row of so many has of its own.
fn own_roots(nodes: Nodes, rows: u64) -> impl Iterator<Item = [f64; 2]> {
    (0..=rows / 2).flat_map(move |k| match nodes.is_negacyclic {
        true => row_roots(2 * k + 1, 2 * rows),
        false => row_roots(k, rows),
    })
}

/// The radices by which so many words are transformed, if the device has room for the blocks.
pub(super) fn shape(words: usize, device: &Arc<dyn Device>) -> Option<Radices> {
    Radices::of(words).filter(|&Radices { factor, row, .. }| {
        long_rows_bytes(row).max(long_columns_bytes(factor)) <= device.shared_bytes()
    })
}

/// The kernel of columns for a modulus in so many words, if there is one, and over how many points a carry reaches there. It
/// has to die out in them, also where a square is multiplied by 3: else digits grow from square to square. Over one point it
/// has 32 bits at most, and in the base 2 what is beyond a point has. No block has more than four columns.
pub(super) fn columns(modulus: Modulus, words: usize) -> Option<(EntryPoint, u32)> {
    if modulus.exponent().is_some() {
        return Some((LONG_COLUMNS, 1));
    }
    let layout = Layout::new(modulus, words).filter(|_| modulus.c.abs() == 1)?;
    let bits = modulus.bits() / words as f64;
    let carry = bits + (modulus.k as f64).log2() + 0.5 * (words as f64).log2();
    let dies_out =
        |reach: usize| layout.word + 2 * reach >= words && carry + 0.5 <= (2 * reach) as f64 * bits;
    let is_short = modulus.base == 2 && carry - 2.0 * bits.floor() <= 30.0;
    let has_four = || Radices::of(words).is_some_and(|radices| log_width(radices.factor) == 2);
    match () {
        () if dies_out(1) && carry <= 30.4 => Some((LONG_COLUMNS_MODULO, 1)),
        () if dies_out(2) && is_short => Some((LONG_COLUMNS_REACH, 2)),
        () if dies_out(2) && carry <= 48.0 => Some((LONG_COLUMNS_FAR, 2)),
        () if dies_out(4) && is_short && has_four() => Some((LONG_COLUMNS_REACH, 4)),
        () => None,
    }
}

/// `exp(2 pi i k / n)`.
fn turn(k: u64, n: u64) -> [f64; 2] {
    let [re, im] = root(k, n);
    [re, -im]
}

/// Node root `j` of `k / n`, as [`Tables`] has it.
fn node_root(k: u64, n: u64, j: u64) -> [f64; 2] {
    match j {
        0 => turn(k, 2 * n),
        1 => turn(k, 4 * n),
        2 | 3 => turn(k + (j - 2) * n, 8 * n),
        _ => turn(k + [0, 2, 1, 3][j as usize - 4] * n, 16 * n),
    }
}

/// The roots that all rows and all columns share.
fn shared_roots(nodes: Nodes, m: u32) -> Vec<[f64; 2]> {
    let (radix, mut roots) = (nodes.radix, Vec::new());
    let mut fill = |kinds: u64, count: u64, root: &dyn Fn(u64, u64) -> [f64; 2]| {
        roots.extend((0..kinds).flat_map(|j| (0..count).map(move |i| root(j, i))));
    };
    let (radix64, m64) = (u64::from(radix), u64::from(m));
    // Twice a frequency.
    let twice = |k: u64| 2 * k + u64::from(nodes.is_negacyclic);
    // Of node 16 h + i, that is h + 16 i.
    let angle = |node: u64| node / 16 + node % 16 * 16;
    fill(8, 16, &|j, h| node_root(h, 16, j));
    fill(15, 16, &|j, h| root(h * (j + 1), 256));
    fill(3, 256, &|j, node| node_root(angle(node), 256, j));
    fill(4, 512, &|j, i| {
        node_root(angle(i / 2) + 256 * (i % 2), 256, [0, 1, 2, 4][j as usize])
    });
    fill(8, 16, &|j, h| node_root(twice(h), 2 * radix64, j));
    fill(u64::from(last_roots(m)), 256, &|j, at| {
        let (place, i) = nodes.of_pair(at as u32 / 2, at as u32 % 2);
        let angle = u64::from(nodes.at(place).wrapping_add(radix * i));
        match m.is_power_of_two() {
            true => node_root(twice(angle), 32 * radix64, j),
            false => turn((j + 1) * twice(angle), 32 * radix64 * m64),
        }
    });
    fill(8, m64, &|j, i| node_root(i, m64, j));
    match radix {
        16 => fill(8, 16 * m64, &|j, i| node_root(i, 16 * m64, j)),
        _ => fill(radix64, 16 * m64, &|h, i| {
            root(twice(h) * i, 32 * radix64 * m64)
        }),
    }
    debug_assert_eq!(roots.len(), Tables::of(radix, m).end as usize);
    roots
}

/// The roots of a pair of rows, of frequency `k / rows`.
fn row_roots(k: u64, rows: u64) -> [[f64; 2]; ROW_ROOTS as usize] {
    let mut roots = [[0.0; 2]; ROW_ROOTS as usize];
    for j in 0..8 {
        roots[j as usize] = node_root(k, rows, j);
    }
    for j in 1..16 {
        roots[(ROW_BACK - 1) as usize + j as usize] = root(j * k, 16 * rows);
        roots[(ROW_MIDDLE_BACK - 1) as usize + j as usize] = root(j * k, 256 * rows);
    }
    for j in 0..8 {
        roots[ROW_HALVES as usize + j as usize] = turn(k, rows << (j + 5));
    }
    roots
}

/// The [`WordBits`] of all threads of the columns' blocks, of even and odd words in turn.
fn word_bits(layout: &Layout, Radices { radix, factor, row }: Radices) -> Vec<u32> {
    let first_rows = 16 * factor as usize;
    let row_words = 2 * (row * POINTS) as usize;
    let exponents = |count: usize, apart: usize| -> Vec<u64> {
        (0..count).map(|i| layout.exponent(i * apart)).collect()
    };
    let rows = exponents(first_rows, row_words);
    let columns = exponents(row_words, 1);
    let steps = exponents(radix as usize, first_rows * row_words);
    let (_, long) = layout.short();
    let wrapped = |sum: u64| match sum.checked_sub(layout.unit) {
        Some(less) => (true, less),
        None => (false, sum),
    };
    let word = |row: usize, column: usize| {
        let (wraps, g) = wrapped(rows[row] + columns[column]);
        let mut bits = if wraps { WordBits::FIRST } else { 0 };
        for (k, step) in steps.iter().enumerate() {
            let (wraps, g) = wrapped(g + step);
            bits |= if wraps { WordBits::wraps(k) } else { 0 };
            bits |= if g < long { WordBits::is_long(k) } else { 0 };
        }
        bits
    };
    let group = 2 << log_width(factor);
    let groups = (0..row_words).step_by(group);
    groups
        .flat_map(|first| {
            (0..first_rows)
                .flat_map(move |row| (first..first + group).map(move |column| (row, column)))
        })
        .map(|(row, column)| word(row, column))
        .collect()
}

impl Long {
    pub fn new(device: &Arc<dyn Device>, layout: Layout, radices: Radices) -> Result<Self, Error> {
        let Radices { radix, factor, row } = radices;
        let (rows, first_rows) = (16 * (radix * factor) as usize, 16 * factor as usize);
        let row_words = 2 * (row * POINTS) as usize;
        let words = rows * row_words;
        let weight = |j: usize| {
            let g = layout.exponent(j);
            (g, layout.weight(j, g))
        };
        let weights = |count: usize, apart: usize| {
            let weights = (0..count).flat_map(|i| {
                let (g, weight) = weight(i * apart);
                [[weight, 1.0 / weight], [f64::from_bits(g), 0.0]]
            });
            upload_pairs(device, weights)
        };
        let modulus = layout.modulus;
        let nodes = Nodes::new(radix, modulus.is_negacyclic());
        let mut tables = vec![
            upload_pairs(device, own_roots(nodes, rows as u64))?,
            upload_pairs(device, shared_roots(nodes, factor).into_iter())?,
            weights(first_rows, row_words)?,
            weights(row_words, 1)?,
        ];
        let twist = |row: usize| turn(row as u64, 2 * rows as u64);
        if nodes.is_negacyclic {
            tables.push(upload_pairs(device, (0..first_rows).map(twist))?);
        }
        let (columns, reach) = columns(modulus, words).expect("a length of `transform_modulo`");
        let has_bits = columns == LONG_COLUMNS || columns == LONG_COLUMNS_REACH;
        if has_bits {
            tables.push(device.upload(&word_bits(&layout, radices))?);
        }
        let regions = if reach > 1 { 2 } else { 1 };
        let blocks = ((row * POINTS) >> log_width(factor)) as usize + 1;
        let filled = |limb: u32, limbs: usize| device.upload(&vec![limb; limbs]);
        let (points, carries) = (
            filled(0, 2 * words)?,
            filled(NO_CARRY, 16 * first_rows * blocks * regions)?,
        );
        let (flag, errors) = (filled(0, 1)?, filled(0, WARPS as usize * blocks)?);
        // There are no more than `radix`.
        let step_row = |k: usize| k % radix as usize * first_rows;
        let step = |k: usize| weight(step_row(k) * row_words);
        let scale = modulus.k as f64 / (2.0 * words as f64);
        let address = |i: usize| tables[i].address();
        let twists = if nodes.is_negacyclic { address(4) } else { 0 };
        let bits = tables.last().filter(|_| has_bits);
        let (short, long) = layout.short();
        let base = f64::from(modulus.base);
        let arguments = LongArguments {
            points: points.address(),
            sides: [[0; 2]; 2],
            signs: [1.0; 2],
            digits: points.address(),
            carries: carries.address(),
            flag: flag.address(),
            errors: errors.address(),
            row_roots: address(0),
            roots: address(1),
            row_weights: address(2),
            column_weights: address(3),
            steps: std::array::from_fn(|k| [step(k).1, scale / step(k).1]),
            by: 1.0,
            less: Less::NOTHING,
            around: around(&layout),
            minus: 0.0,
            behind: (words - 1 - layout.word) as u32,
            reach,
            twists,
            step_twists: std::array::from_fn(|k| twist(step_row(k))),
            base: with_inverse(base),
            powers: [0, 1].map(|more| with_inverse(base.powi(short as i32 + more))),
            step_g: std::array::from_fn(|k| step(k).0 as u32),
            unit: layout.unit as u32,
            long: long as u32,
            short: short as u32,
            launch: 0,
            radix,
            factor,
            stage: 0,
            row,
            reciprocals: [radix, factor].map(reciprocal),
            word_bits: bits.map_or(0, Buffer::address),
        };
        Ok(Long {
            device: Arc::clone(device),
            layout,
            arguments,
            columns,
            points,
            carries,
            flag,
            errors,
            tables,
            launches: AtomicU32::new(0),
        })
    }

    fn columns(
        &self,
        stage: Stage,
        arguments: LongArguments,
        more: &[&Buffer],
    ) -> Result<(), Error> {
        let LongArguments { factor, row, .. } = arguments;
        let arguments = LongArguments {
            stage: stage as u32,
            // Never that of memory which no launch has written.
            launch: self.launches.fetch_add(1, Relaxed).wrapping_add(1),
            ..arguments
        };
        let launch = Launch {
            grid: ((row * POINTS) >> log_width(factor)) + u32::from(stage != Stage::Begin),
            block: (16 * factor) << log_width(factor),
            shared_bytes: long_columns_bytes(factor),
            workers: 0,
            scratch_width: 0,
        };
        let known = LongTransform {
            reach: arguments.reach,
            factor,
            stage: stage as u32,
            warps: resident_warps(factor),
            ..self.known(arguments)
        };
        self.launch(self.columns, known, launch, arguments, more)
    }

    /// The specialization of a launch of either kernel.
    fn known(&self, LongArguments { radix, row, .. }: LongArguments) -> LongTransform {
        LongTransform {
            is_negacyclic: self.layout.modulus.is_negacyclic(),
            reach: 0,
            factor: 0,
            stage: 0,
            row,
            warps: 0,
            radix_below: radix - 1,
            is_early: self.device.is_early(),
        }
    }

    /// The arguments of a launch that subtracts `minus 2^bit`; `bit` is 0 unless the modulus is `2^p - 1`.
    fn less(&self, minus: u32, bit: u32) -> LongArguments {
        let mut arguments = self.arguments;
        if self.layout.modulus.exponent().is_none() {
            arguments.minus = minus.into();
        } else if minus > 0 {
            let (word, value) = self.layout.bit(bit);
            let LongArguments { factor, row, .. } = arguments;
            let (word, row_words, first_rows) = (word as u32, 2 * row * POINTS, 16 * factor);
            let (row, at) = (word / row_words, word % row_words);
            arguments.less = Less {
                amount: f64::from(minus) * value,
                column: at / 2,
                first: row % first_rows,
                word: 2 * (row / first_rows) + at % 2,
            };
        }
        arguments
    }

    fn rows(
        &self,
        entry: EntryPoint,
        arguments: LongArguments,
        more: &[&Buffer],
    ) -> Result<(), Error> {
        let LongArguments {
            radix, factor, row, ..
        } = arguments;
        let launch = Launch {
            // A row of frequency 0 has no other for its mirror.
            grid: 8 * radix * factor + u32::from(!arguments.is_negacyclic()),
            block: row * POINTS / 8,
            shared_bytes: long_rows_bytes(row),
            workers: 0,
            scratch_width: 0,
        };
        self.launch(entry, self.known(arguments), launch, arguments, more)
    }

    fn launch(
        &self,
        entry: EntryPoint,
        known: LongTransform,
        launch: Launch,
        arguments: LongArguments,
        more: &[&Buffer],
    ) -> Result<(), Error> {
        let mut buffers = vec![&self.points, &self.carries, &self.flag, &self.errors];
        buffers.extend(&self.tables);
        buffers.extend(more);
        Ok(self.device.launch(
            entry,
            Specialization::LongTransform(known),
            launch,
            &arguments,
            &buffers,
        )?)
    }
}

impl Squares for Long {
    fn words(&self) -> usize {
        let LongArguments {
            radix, factor, row, ..
        } = self.arguments;
        (32 * radix * factor * row * POINTS) as usize
    }

    fn set(&mut self, digits: &[f64]) -> Result<(), Error> {
        let digits = upload_doubles(&self.device, digits)?;
        let arguments = LongArguments {
            digits: digits.address(),
            ..self.arguments
        };
        self.columns(Stage::Begin, arguments, &[&digits])
    }

    fn digits(&self) -> Result<Digits, Error> {
        let n = self.words();
        let digits = self.device.allocate(2 * n)?;
        let mut arguments = LongArguments {
            digits: digits.address(),
            ..self.arguments
        };
        // Nothing was squared since the columns were transformed.
        let rows = f64::from(16 * arguments.radix * arguments.factor);
        for step in &mut arguments.steps {
            step[1] *= 2.0 * n as f64 / (rows * self.layout.modulus.k as f64);
        }
        self.columns(Stage::End, arguments, &[&digits])?;
        Ok(Digits {
            digits,
            carries: None,
        })
    }

    fn square(&mut self, times: u32, by: u32, minus: u32, bit: u32) -> Result<(), Error> {
        let arguments = LongArguments {
            by: by.into(),
            ..self.less(minus, bit)
        };
        for _ in 0..times {
            self.rows(LONG_ROWS, arguments, &[])?;
            self.columns(Stage::Whole, arguments, &[])?;
        }
        Ok(())
    }

    fn keep(&self) -> Result<Buffer, Error> {
        let limbs = usize::try_from(self.arguments.factor_limbs()).expect("it is in memory");
        let factor = self.device.allocate(limbs)?;
        let arguments = LongArguments {
            sides: [[0; 2], [factor.address(), 0]],
            ..self.arguments
        };
        self.rows(LONG_KEEP, arguments, &[&factor])?;
        Ok(factor)
    }

    fn multiply(&mut self, sides: Sides<'_>, minus: u32) -> Result<(), Error> {
        let arguments = LongArguments {
            sides: sides.addresses,
            signs: sides.signs,
            ..self.arguments
        };
        let entry = match sides.are_of_residue() {
            true => LONG_MULTIPLY,
            false => LONG_PRODUCT,
        };
        self.rows(entry, arguments, &sides.buffers)?;
        self.columns(Stage::Whole, self.less(minus, 0), &[])
    }

    fn error(&self) -> Result<f64, Error> {
        let mut errors = vec![0; self.errors.limbs()];
        self.device.download(&self.errors, &mut errors)?;
        let errors = errors.into_iter();
        Ok(greatest(
            errors.map(|upper| f64::from_bits(u64::from(upper) << 32)),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_room_for_carries() {
        let columns = |words: usize, k, base: u32, bits: f64| {
            let n = (bits * words as f64 / f64::from(base).log2()) as u32;
            super::columns(Modulus { k, base, n, c: 1 }, words)
        };
        let [near, far, reach] = [
            (LONG_COLUMNS_MODULO, 1),
            (LONG_COLUMNS_FAR, 2),
            (LONG_COLUMNS_REACH, 2),
        ];
        let farther = (LONG_COLUMNS_REACH, 4);
        for (k, bits, expected) in [
            (3, 12.5, Some(near)),
            // Digits would grow.
            (3, 11.4, Some(reach)),
            (27, 15.3, Some(near)),
            (27, 14.0, Some(reach)),
            // Carries have more than 32 bits.
            (121, 15.3, Some(reach)),
            (100_001, 10.0, Some(reach)),
            (100_001, 9.0, Some(farther)),
            (1 << 25, 6.0, Some(farther)),
            (1 << 25, 5.0, None),
            // `k 2^s` has more than 51 bits.
            (1 << 26, 7.0, None),
        ] {
            assert_eq!(columns(1 << 20, k, 2, bits), expected, "{k} {bits}");
        }
        assert_eq!(columns(1 << 20, 100_001, 3, 10.0), Some(far));
        assert_eq!(columns(1 << 20, 100_001, 3, 9.0), None);
        // Blocks have two columns.
        assert_eq!(columns(9 << 19, 100_001, 2, 10.0), Some(reach));
        assert_eq!(columns(9 << 19, 1_000_001, 2, 9.0), None);
        let mersenne = Modulus::mersenne(12 << 20);
        assert_eq!(super::columns(mersenne, 1 << 20), Some((LONG_COLUMNS, 1)));
    }
}
