//! Powers by Montgomery products, with a table of each base's lowest powers: of `x^e`, digit after digit of `e` from
//! the top, `w` bits each, as many squares and a product by an entry of the table.
//!
//! An entry is picked in one of three ways. In constant time a kernel reads all of them. Else it is found by an index; or,
//! where all numbers have one exponent, by the host, which also leaves out products by 1.
//!
//! **The radix**: `R mod m` is a power of two below `m`, doubled; `2^n R mod m`, `n` the bits of `R`, follows by squares
//! and doublings from the top bit of `n` down. A product by it brings a number into Montgomery's form, a product by 1
//! takes it out.

use super::{Moduli, Numbers, Passes, Products, rings};
use crate::Error;
use crate::common::device::Buffer;
use crate::common::job::Job;
use crate::device::gather::copy;
use crate::device::launches::Montgomery;
use crate::device::part::Part;
use crate::values::node::{Node, Operands};
use bigint_core::gather::{GATHER_SCANNED, ScanArguments};
use bigint_core::kernel::{MatrixArgument, TABLE_WINDOW};
use bigint_core::operation::Cost;
use bigint_core::specialization::Specialization;
use bigint_core::{LIMB_BITS, Limb};
use std::ops::Range;

/// The most limbs that the tables of powers computed together take, unless one number's take more.
const TABLE_LIMBS: usize = 1 << 30;

/// The widest windows.
const WIDEST: usize = 7;

/// What it takes to pick an entry from a table that is read whole, in products, for each entry of the table.
const PICKED: f64 = 0.02;

/// Computes powers, as many as the job has; `r` has room for them.
pub(super) fn compute(
    passes: Passes<'_>,
    by: Montgomery,
    job: Job,
    [a, e]: [&Numbers; 2],
    (moduli, operands): (Moduli<'_>, Operands<'_>),
    numbers: Range<usize>,
    r: Part<'_>,
) -> Result<(), Error> {
    let count = job.count();
    let (bases, exponents) = (a.part(), e.part());
    let pairs = match job.operation.cost() {
        Cost::PairOfPowers => 2,
        _ => 1,
    };
    let by_table = job.operation.cost() == Cost::PowerByTable;
    let lengths = lengths(&operands[2], &numbers)?;
    // A base's table has the radix of the moduli's width.
    let width = match by_table || moduli.rings.is_some() {
        true => moduli.m.width(),
        false => lengths.end.div_ceil(LIMB_BITS),
    };
    let limbs = exponents.width().div_ceil(pairs);
    let window = match by_table {
        true => TABLE_WINDOW,
        false => window(LIMB_BITS * limbs, by.scans),
    };
    let of_one = width * ((pairs << window) + 10);
    let at_once = (TABLE_LIMBS / of_one).clamp(1, count.max(1));
    let mut first = 0;
    while first < count {
        let here = at_once.min(count - first);
        let products = Products::new(passes, by, here, moduli.part(first, here, width))?;
        let powers = Powers {
            room: passes.device.allocate(here * width)?,
            known: if by.scans { None } else { Some(&operands[1]) },
            first: numbers.start + first,
            products,
            window,
        };
        let exponent = |from: usize| {
            let limbs = from..exponents.width().min(from + limbs);
            Exponent {
                part: exponents.numbers_from(first).at(limbs),
                from,
                is_one: e.count == 1,
            }
        };
        let bases = bases.numbers_from(first);
        let power = match by_table {
            true => powers.by_table(bases, &exponent(0))?,
            false => {
                let half = bases.width().div_ceil(pairs);
                let all = [
                    (bases.lowest(half), exponent(0)),
                    (bases.at(half..bases.width()), exponent(limbs)),
                ];
                let base_count = if a.count == 1 { 1 } else { here };
                powers.of(&all[..pairs], base_count, lengths.start)?
            }
        };
        passes.copy(r.numbers_from(first), powers.products.rows(&power), here)?;
        first += here;
    }
    Ok(())
}

/// The bits of the shortest and of the longest number, at least one.
fn lengths(node: &Node, numbers: &Range<usize>) -> Result<Range<usize>, Error> {
    let (limbs, shape) = (node.limbs()?, node.shape);
    let numbers = if shape.count == 1 {
        0..1
    } else {
        numbers.clone()
    };
    let of = |number| {
        let limb = |at: usize| limbs[shape.index(number, at)];
        let top = (0..shape.width).rev().find(|&at| limb(at) != 0);
        top.map_or(0, |top| {
            LIMB_BITS * (top + 1) - limb(top).leading_zeros() as usize
        })
    };
    let all = || numbers.clone().map(of);
    let (least, most) = (all().min().unwrap_or(1), all().max().unwrap_or(1));
    Ok(least.max(1)..most.max(1))
}

/// The bits of a window with which powers by exponents of so many bits take least.
fn window(bits: usize, scans: bool) -> usize {
    let picked = if scans { PICKED } else { 0.0 };
    let cost = |window: usize| {
        let entries = (1 << window) as f64;
        let windows = bits.div_ceil(window) as f64;
        windows * (window as f64 + 1.0 + picked * entries) + entries
    };
    let windows = 1..=WIDEST;
    windows
        .min_by(|&x, &y| cost(x).total_cmp(&cost(y)))
        .expect("there are some")
}

/// Exponents, or one for all: limbs of an operand, from limb `from` on.
struct Exponent<'a> {
    part: Part<'a>,
    from: usize,
    is_one: bool,
}

/// Powers of some numbers, computed together.
struct Powers<'a> {
    products: Products<'a>,
    /// The bits of a digit.
    window: usize,
    /// Memory for what is picked.
    room: Buffer,
    /// The exponents, where anybody may know them.
    known: Option<&'a Node>,
    /// The index of the first of the numbers.
    first: usize,
}

impl Powers<'_> {
    /// Products of the powers of one or two bases; the shortest modulus has `shortest` bits.
    fn of(
        &self,
        bases: &[(Part<'_>, Exponent<'_>)],
        base_count: usize,
        shortest: usize,
    ) -> Result<Buffer, Error> {
        let products = &self.products;
        let (one_for_all, of_moduli);
        let [one, square] = match products.moduli.rings {
            Some(plan) => rings::radix(plan, products.moduli.inverse),
            None => {
                of_moduli = match products.moduli.count == products.count {
                    true => radix(products, shortest)?,
                    false => {
                        one_for_all =
                            Products::new(products.passes, products.by, 1, products.moduli)?;
                        radix(&one_for_all, shortest)?
                    }
                };
                let (one, square) = &of_moduli;
                [one, square].map(|buffer| {
                    let part = Part::rows(buffer, products.moduli.count, products.width());
                    if products.moduli.count == 1 {
                        part.for_all()
                    } else {
                        part
                    }
                })
            }
        };
        let tables = bases.iter().map(|(base, _)| {
            let base = in_form(products, *base, base_count, square)?;
            self.table(one, products.rows(&base))
        });
        let tables = tables.collect::<Result<Vec<_>, Error>>()?;
        let limbs = bases
            .iter()
            .map(|(_, exponent)| exponent.part.width())
            .max();
        let windows = (LIMB_BITS * limbs.unwrap_or(0)).div_ceil(self.window);
        let power = products.allocate()?;
        let power_part = products.rows(&power);
        let mut is_begun = false;
        for digit in (0..windows).rev() {
            let mut squares = if is_begun { self.window } else { 0 };
            for (table, (_, exponent)) in tables.iter().zip(bases) {
                let rows = Part::rows(table, products.count, products.width() << self.window);
                let begun = (&mut is_begun, &mut squares);
                self.times(power_part, rows, exponent, digit, begun)?;
            }
            if squares > 0 {
                products.squares(power_part, squares, None)?;
            }
        }
        if !is_begun {
            products.passes.copy(power_part, one, products.count)?;
        }
        self.out_of_form(power_part)?;
        Ok(power)
    }

    /// Powers of bases of which there are tables for each digit.
    fn by_table(&self, tables: Part<'_>, exponent: &Exponent<'_>) -> Result<Buffer, Error> {
        let products = &self.products;
        let width = products.width() << self.window;
        let power = products.allocate()?;
        let power_part = products.rows(&power);
        let mut is_begun = false;
        let windows = (LIMB_BITS * exponent.part.width()).div_ceil(self.window);
        for digit in 0..windows.min(tables.width() / width) {
            let table = tables.at(digit * width..(digit + 1) * width);
            self.times(power_part, table, exponent, digit, (&mut is_begun, &mut 0))?;
        }
        if !is_begun {
            // The entry for digit 0, which is 1.
            products
                .passes
                .copy(power_part, tables.lowest(products.width()), products.count)?;
        }
        self.out_of_form(power_part)?;
        Ok(power)
    }

    /// The entries `x^0` to `x^(2^w - 1)` of each number, one behind the other.
    fn table(&self, one: Part<'_>, x: Part<'_>) -> Result<Buffer, Error> {
        let products = &self.products;
        let (count, width) = (products.count, products.width());
        let entries = 1 << self.window;
        let table = products.passes.device.allocate(count * width * entries)?;
        let rows = Part::rows(&table, count, width * entries);
        let entry = |d: usize| rows.at(d * width..(d + 1) * width);
        products.passes.copy(entry(0), one, count)?;
        products.passes.copy(entry(1), x, count)?;
        let power = products.allocate()?;
        let power = products.rows(&power);
        for d in 2..entries {
            let (x, y) = match d % 2 {
                0 => (d / 2, d / 2),
                _ => (d - 1, 1),
            };
            products.product(power, entry(x), entry(y))?;
            products.passes.copy(entry(d), power, count)?;
        }
        Ok(table)
    }

    /// Squares so many times and multiplies by the entries of the exponents' digits, or begins with them.
    fn times(
        &self,
        power: Part<'_>,
        table: Part<'_>,
        exponent: &Exponent<'_>,
        digit: usize,
        (is_begun, squares): (&mut bool, &mut usize),
    ) -> Result<(), Error> {
        let picked = match self.known {
            Some(known) => self.entry(table, known, exponent, digit)?,
            None => Some(self.scanned(table, exponent, digit)?),
        };
        let Some(picked) = picked else { return Ok(()) };
        match std::mem::replace(is_begun, true) {
            true => (self.products).squares(power, std::mem::take(squares), Some(picked)),
            false => self
                .products
                .passes
                .copy(power, picked, self.products.count),
        }
    }

    /// The entries of the exponents' digits, from tables that are read whole.
    fn scanned<'b>(
        &'b self,
        table: Part<'b>,
        exponent: &Exponent<'_>,
        digit: usize,
    ) -> Result<Part<'b>, Error> {
        let Products { passes, count, .. } = self.products;
        let picked = Part::rows(&self.room, count, self.products.width());
        let mut arguments = ScanArguments {
            r: picked.limbs,
            table: table.limbs,
            e: exponent.part.limbs,
            at: (digit * self.window) as u64,
            bits: self.window as u64,
            count: count as u64,
            workers: 0,
        };
        let launch = arguments.launch();
        let buffers = [picked.buffer, table.buffer, exponent.part.buffer];
        let none = Specialization::None;
        (passes.device).launch(GATHER_SCANNED, none, launch, &arguments, &buffers)?;
        Ok(picked)
    }

    /// The entries of the digits of known exponents; nothing where all are 1.
    fn entry<'b>(
        &'b self,
        table: Part<'b>,
        known: &Node,
        exponent: &Exponent<'_>,
        digit: usize,
    ) -> Result<Option<Part<'b>>, Error> {
        let Products { passes, count, .. } = self.products;
        let (limbs, shape, width) = (known.limbs()?, known.shape, self.products.width());
        let limb = |number, at| match at < exponent.part.width() {
            true => u64::from(limbs[shape.index(number, exponent.from + at)]),
            false => 0,
        };
        let (at, by) = (
            digit * self.window / LIMB_BITS,
            digit * self.window % LIMB_BITS,
        );
        let digit = |number| {
            let two = limb(number, at) | limb(number, at + 1) << LIMB_BITS;
            (two >> by) as usize & ((1 << self.window) - 1)
        };
        if exponent.is_one {
            let digit = digit(0);
            return Ok((digit > 0).then(|| table.at(digit * width..(digit + 1) * width)));
        }
        // Tables are as many entries apart as they have.
        let apart = table.limbs.number_stride as usize / width;
        let digits: Vec<usize> = (self.first..self.first + count).map(digit).collect();
        if digits.iter().all(|&digit| digit == 0) {
            return Ok(None);
        }
        let indices = digits.iter().enumerate();
        let indices: Vec<Limb> = indices
            .map(|(i, digit)| (i * apart + digit) as Limb)
            .collect();
        let indices = passes.device.upload(&indices)?;
        let picked = Part::rows(&self.room, count, width);
        let entries = (count - 1) * apart + (1 << self.window);
        let rows = Part {
            limbs: MatrixArgument {
                number_stride: width as u64,
                width: width as u64,
                ..table.limbs
            },
            ..table
        };
        copy(
            passes.device,
            picked,
            (rows, entries),
            count,
            Some(&indices),
        )?;
        Ok(Some(picked))
    }

    /// Takes numbers out of Montgomery's form.
    fn out_of_form(&self, x: Part<'_>) -> Result<(), Error> {
        let products = &self.products;
        let mut one = vec![0; products.width()];
        one[0] = 1;
        let one = products.passes.device.upload(&one)?;
        products.product(x, x, Part::of(&one).for_all())
    }
}

/// `R mod m` and `R^2 mod m`, up to `m` each; the shortest modulus has `shortest` bits.
fn radix(products: &Products<'_>, shortest: usize) -> Result<(Buffer, Buffer), Error> {
    let (width, passes) = (products.width(), products.passes);
    let bits = LIMB_BITS * width;
    let mut power = vec![0; width];
    let bit = shortest - 1;
    power[bit / LIMB_BITS] = 1 << (bit % LIMB_BITS);
    let power = passes.device.upload(&power)?;
    let (mut one, mut other) = (products.allocate()?, products.allocate()?);
    passes.copy(
        products.rows(&one),
        Part::of(&power).for_all(),
        products.count,
    )?;
    for _ in bit..bits {
        products.double(products.rows(&other), products.rows(&one))?;
        std::mem::swap(&mut one, &mut other);
    }
    let mut square = products.allocate()?;
    products.double(products.rows(&square), products.rows(&one))?;
    for bit in (0..bits.ilog2()).rev() {
        let part = products.rows(&square);
        products.product(part, part, part)?;
        if bits >> bit & 1 == 1 {
            products.double(products.rows(&other), part)?;
            std::mem::swap(&mut square, &mut other);
        }
    }
    Ok((one, square))
}

/// `x R mod m` for numbers of any width, one for all or one for each: with digits to the base `R`, the sum of the
/// products of digit `i` and `R^(i + 2) mod m`.
fn in_form(
    products: &Products<'_>,
    x: Part<'_>,
    x_count: usize,
    square: Part<'_>,
) -> Result<Buffer, Error> {
    let (width, passes) = (products.width(), products.passes);
    let power = products.allocate()?;
    let [mut form, mut sum, term] = [
        products.allocate()?,
        products.allocate()?,
        products.allocate()?,
    ];
    for from in (0..x.width()).step_by(width) {
        let mut own = None;
        let digit = x.at(from..x.width().min(from + width));
        let digit = passes.widened(digit, x_count, width, &mut own)?;
        if from == 0 {
            passes.copy(products.rows(&power), square, products.count)?;
            products.product(products.rows(&form), digit, square)?;
            continue;
        }
        products.product(products.rows(&power), products.rows(&power), square)?;
        products.product(products.rows(&term), digit, products.rows(&power))?;
        products.sum(
            products.rows(&sum),
            products.rows(&form),
            products.rows(&term),
        )?;
        std::mem::swap(&mut form, &mut sum);
    }
    Ok(form)
}
