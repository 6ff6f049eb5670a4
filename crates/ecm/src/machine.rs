//! Steps over registers on the engine's devices, a thread for each row: what [`Chain`] does on the CPU, by
//! the kernel of `kernels/src/registers.rs`.
//!
//! A launch reads rows that earlier launches left and writes a new one: the rows that the first one left
//! stay, those of the last launch are what the next one goes on from.
//!
//! [`Chain`]: bigint_host::advanced::Chain

use bigint_host::advanced::{Module, Step};
use bigint_host::{Batch, Engine, Layout, Limb};
use num_bigint::BigUint;
use rayon::prelude::*;

use crate::Error;
use crate::device::{is_by_lanes, program, push, rows, scalars, width};
use crate::operations::{
    ADD, BEGIN, COPY, END, MUL, PAIRS, QUAD, ROUNDS, ROW, SUB, SUM, SUMS, WALK,
};
use crate::registers::{Column, Move};

/// The row that a launch writes, that which the first launch left, and that which the last one did: the
/// upper bits of a place.
const WRITTEN: Limb = 0;
const FIRST: Limb = 1 << ROW;
const LAST: Limb = 2 << ROW;

/// How a row's limbs lie on the devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// As a batch's layout says.
    Batch(Layout),
    /// In tiles, with as many limbs as a contiguous batch: the kernels alone read them.
    Tiles,
}

/// Rows that are on the devices.
#[derive(Clone)]
struct Rows {
    batch: Batch,
    is_tiled: bool,
}

impl From<Batch> for Rows {
    fn from(batch: Batch) -> Self {
        Rows {
            batch,
            is_tiled: false,
        }
    }
}

/// Rows of registers modulo one number, or each modulo its own.
#[derive(Clone)]
pub struct Machine {
    engine: Engine,
    module: Module,
    kernel: String,
    /// The number for all; where there is none, each row's own stands before its registers.
    n: Option<BigUint>,
    width: usize,
    registers: u16,
    first: Rows,
    last: Rows,
    /// How rows are written.
    form: Form,
    /// The row that has each register.
    homes: Vec<Option<Limb>>,
    is_begun: bool,
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine")
            .field("n", &self.n)
            .finish_non_exhaustive()
    }
}

impl Machine {
    /// Begins with `count` rows of so many registers, of which the first are set. `None` where the engine has
    /// no device, or there is no kernel for so long a modulus.
    pub fn new(
        engine: &Engine,
        n: &BigUint,
        registers: u16,
        count: usize,
        columns: &[Column<'_>],
    ) -> Result<Option<Self>, Error> {
        let Some(width) = width(n) else {
            return Ok(None);
        };
        let Some((module, kernel)) = program(engine, width)? else {
            return Ok(None);
        };
        let mut homes = vec![None; registers.into()];
        homes[..columns.len()].fill(Some(LAST));
        let forms: Vec<_> = columns
            .iter()
            .map(|column| forms(&column.values, n, width))
            .collect();
        let mut set = engine.memory(count * width * columns.len())?;
        let rows_of_set = set.par_chunks_exact_mut(width * columns.len()).enumerate();
        rows_of_set.for_each(|(row, limbs)| {
            let parts = limbs.chunks_exact_mut(width).zip(columns).zip(&forms);
            for ((part, column), forms) in parts {
                part.copy_from_slice(&forms[width * (column.of_row)(row)..][..width]);
            }
        });
        let set = rows(engine, set, width * columns.len())?;
        Ok(Some(Machine {
            engine: engine.clone(),
            module,
            kernel,
            n: Some(n.clone()),
            width,
            registers,
            first: set.clone().into(),
            last: set.into(),
            form: rows_form(width),
            homes,
            is_begun: false,
        }))
    }

    /// Begins with rows that are on the devices: each row's modulus of so many limbs, and its first registers,
    /// in Montgomery's form. The module has the kernel of rows with moduli of their own.
    pub fn own(engine: &Engine, module: Module, width: usize, registers: u16, set: Batch) -> Self {
        let given = set.width() / width - 1;
        let mut homes = vec![None; registers.into()];
        homes[..given].fill(Some(LAST));
        Machine {
            engine: engine.clone(),
            module,
            kernel: format!("own_registers_{width}"),
            n: None,
            width,
            registers,
            first: set.clone().into(),
            last: set.into(),
            form: Form::Tiles,
            homes,
            is_begun: false,
        }
    }

    /// Writes rows in tiles from now on, unless lanes share them.
    pub fn in_tiles(self) -> Self {
        let form = match is_by_lanes(self.width) {
            true => self.form,
            false => Form::Tiles,
        };
        Machine { form, ..self }
    }

    /// Numbers of a row before its registers.
    fn before(&self) -> u16 {
        u16::from(self.n.is_none())
    }

    /// Begins to do all moves, and then to multiply the register `product` by the difference of each pair of registers.
    ///
    /// # Panics
    /// If a register is read that none has set.
    pub fn start(
        &mut self,
        moves: impl Iterator<Item = Move>,
        product: u16,
        pairs: &[[u16; 2]],
    ) -> Result<(), Error> {
        let mut program = Program {
            width: self.width as Limb,
            before: self.before(),
            homes: &self.homes,
            is_written: vec![false; self.registers.into()],
            words: Vec::new(),
        };
        let mut steps = Vec::new();
        for of in moves {
            match of {
                _ if self.width > SUMS => of.steps(&mut steps),
                Move::Step(step) => steps.push(step),
                Move::Sum {
                    r,
                    p,
                    q,
                    difference,
                    ..
                } => program.sum(r, [p, q, difference]),
                Move::Walk {
                    product,
                    first,
                    top,
                    bottom,
                    count,
                    is_down,
                } => program.walk([product, first], [top, bottom], count, is_down),
            }
            steps.drain(..).for_each(|step| program.step(step));
        }
        program.pairs(product, pairs);
        if self.n.is_none() && !self.is_begun {
            program.words.extend([COPY, 0, LAST, 0]);
        }
        // What only the last row has would be gone with it.
        for register in 0..self.registers {
            let is_last = self.homes[usize::from(register)] == Some(LAST);
            if is_last && !program.is_written[usize::from(register)] {
                program.step(Step::Copy {
                    r: register,
                    a: register,
                });
            }
        }
        let Program {
            words, is_written, ..
        } = program;
        // Registers behind those that are written stay in the first row.
        let used = is_written.iter().rposition(|&is_written| is_written);
        let used = usize::from(self.before()) + used.map_or(0, |last| last + 1);
        self.last = self.launch(words, self.width * used, self.form)?;
        for (home, is_written) in self.homes.iter_mut().zip(is_written) {
            if is_written {
                *home = Some(if self.is_begun { LAST } else { FIRST });
            }
        }
        if !self.is_begun {
            self.first = self.last.clone();
            self.is_begun = true;
        }
        Ok(())
    }

    /// Waits for all that was started.
    pub fn wait(&self) -> Result<(), Error> {
        Ok(self.module.wait()?)
    }

    fn launch(&self, words: Vec<Limb>, width: usize, form: Form) -> Result<Rows, Error> {
        self.launch_on([&self.first, &self.last], words, width, form)
    }

    /// Does the steps of `words` over the rows that are the first and the last one for them.
    fn launch_on(
        &self,
        [first, last]: [&Rows; 2],
        words: Vec<Limb>,
        width: usize,
        form: Form,
    ) -> Result<Rows, Error> {
        let length = words.len();
        let steps = (length / 4) as Limb;
        let (layout, is_tiled) = match form {
            Form::Batch(layout) => (layout, false),
            Form::Tiles => (Layout::Contiguous, true),
        };
        let tiled = (0..).zip([is_tiled, first.is_tiled, last.is_tiled]);
        let tiled = tiled.fold(0, |tiled, (i, is_tiled)| tiled | Limb::from(is_tiled) << i);
        let scalars = match &self.n {
            Some(n) => scalars(n, self.width, &[steps, tiled]),
            None => vec![steps, tiled],
        };
        let program = rows(&self.engine, words, length)?;
        let operands = [&first.batch, &last.batch, &program];
        let module = self.module.clone().with_layout(layout);
        let made = module.launch(&self.kernel, &operands, &[width], &scalars)?;
        let batch = made.into_iter().next().expect("one result");
        Ok(Rows { batch, is_tiled })
    }

    /// All registers of every row, of each register as many limbs as the modulus has for the kernels.
    ///
    /// # Panics
    /// If they are in tiles.
    pub fn rows(&self) -> Batch {
        assert!(!self.last.is_tiled, "rows of a batch's layout");
        self.last.batch.clone()
    }

    /// A register of every row.
    ///
    /// # Panics
    /// If each row has a modulus of its own.
    pub fn get(&self, register: u16) -> Result<Vec<BigUint>, Error> {
        let n = self.modulus();
        let of_form = (BigUint::from(1u8) << (32 * self.width)).modinv(n);
        let of_form = of_form.expect("an odd modulus");
        let column = self.column(register)?;
        let limbs = column.rows()?;
        let numbers = limbs.par_chunks_exact(self.width);
        Ok(numbers
            .map(|row| BigUint::from_slice(row) * &of_form % n)
            .collect())
    }

    /// Inverts a register of every row. Where that cannot be, the row is told with the number that it has.
    ///
    /// # Panics
    /// If each row has a modulus of its own, or nothing has run.
    pub fn invert(&mut self, register: u16) -> Result<Vec<(usize, BigUint)>, Error> {
        let (engine, n, width) = (self.engine.clone(), self.modulus(), self.width);
        let one_for_all = |number: &BigUint| {
            let mut limbs = Vec::with_capacity(width);
            push(&mut limbs, number, width);
            rows(&engine, limbs, width)
        };
        let modulus = one_for_all(n)?;
        // The inverse of x R, times R^3 / R, is R / x.
        let cube = one_for_all(&((BigUint::from(1u8) << (3 * 32 * width)) % n))?;
        let (inverses, flags) = engine.masked_inv_mod(&self.column(register)?, &modulus)?;
        let mut none = Vec::new();
        if flags.contains(&true) {
            let numbers = self.get(register)?.into_iter().enumerate();
            none.extend(
                numbers
                    .zip(&flags)
                    .filter_map(|(row, &is_none)| is_none.then_some(row)),
            );
        }
        self.put(register, &engine.mont_mul(&inverses, &cube, &modulus)?)?;
        Ok(none)
    }

    /// Sets a register that the last row has.
    fn put(&mut self, register: u16, numbers: &Batch) -> Result<(), Error> {
        assert!(self.is_begun, "a row that a launch has written");
        let copies = (0..).zip(&self.homes).filter_map(|(other, &home)| {
            let at = Limb::from(other) * (self.width as Limb / QUAD);
            match home {
                _ if other == register => Some([COPY, at, LAST, 0]),
                Some(LAST) => Some([COPY, at, FIRST | at, 0]),
                _ => None,
            }
        });
        let words = copies.flatten().collect();
        let (width, numbers) = (self.last.batch.width(), Rows::from(numbers.clone()));
        self.last = self.launch_on([&self.last, &numbers], words, width, self.form)?;
        self.homes[usize::from(register)] = Some(LAST);
        Ok(())
    }

    /// Registers from 0 on become those of other rows, in Montgomery's form.
    pub fn set_last(&mut self, numbers: Batch) {
        let given = numbers.width() / self.width;
        self.homes[..given].fill(Some(LAST));
        self.last = numbers.into();
    }

    /// The number for all rows.
    fn modulus(&self) -> &BigUint {
        self.n.as_ref().expect("one modulus for all")
    }

    /// A register of every row as the devices have it: in Montgomery's form, and not reduced.
    pub fn column(&self, register: u16) -> Result<Batch, Error> {
        self.columns(&[register])
    }

    /// [`Machine::column`] of several registers, side by side in each row.
    pub fn columns(&self, registers: &[u16]) -> Result<Batch, Error> {
        let width = self.width as Limb / QUAD;
        let words = registers.iter().zip(0..).flat_map(|(&register, i)| {
            let home = self.homes[usize::from(register)].expect("a register that is set");
            let at = u32::from(self.before() + register) * width;
            [COPY, i * width, home | at, 0]
        });
        let limbs = self.width * registers.len();
        let form = Form::Batch(Layout::Contiguous);
        Ok(self.launch(words.collect(), limbs, form)?.batch)
    }

    /// Other rows modulo the same number, with so many registers, of which the first are these, as
    /// [`Machine::columns`] has them.
    ///
    /// # Panics
    /// If each row has a modulus of its own.
    pub fn with_rows(&self, set: Batch, registers: u16) -> Self {
        assert!(self.n.is_some(), "one modulus for all");
        let mut homes = vec![None; registers.into()];
        homes[..set.width() / self.width].fill(Some(LAST));
        Machine {
            engine: self.engine.clone(),
            module: self.module.clone(),
            kernel: self.kernel.clone(),
            n: self.n.clone(),
            width: self.width,
            registers,
            first: set.clone().into(),
            last: set.into(),
            form: self.form,
            homes,
            is_begun: false,
        }
    }
}

/// The limbs of numbers in Montgomery's form.
fn forms(values: &[BigUint], n: &BigUint, width: usize) -> Vec<Limb> {
    let mut limbs = vec![0; width * values.len()];
    let places = limbs.par_chunks_exact_mut(width).zip(values);
    places.for_each(|(place, value)| {
        let form = (value << (32 * width)) % n;
        for (limb, digit) in place.iter_mut().zip(form.iter_u32_digits()) {
            *limb = digit;
        }
    });
    limbs
}

/// How rows of numbers of so many limbs are written: of lanes each fetches its limbs of a number, of threads all of a warp fetch
/// a limb at a time, as kernels of stage 1 read them.
fn rows_form(width: usize) -> Form {
    Form::Batch(match is_by_lanes(width) {
        true => Layout::Contiguous,
        false => Layout::Interleaved,
    })
}

/// A program on the way.
struct Program<'a> {
    width: Limb,
    /// Numbers of a row before its registers.
    before: u16,
    homes: &'a [Option<Limb>],
    is_written: Vec<bool>,
    words: Vec<Limb>,
}

impl Program<'_> {
    /// Where a row has a register, in quads.
    fn at(&self, register: u16) -> Limb {
        u32::from(self.before + register) * (self.width / QUAD)
    }

    /// The place of a register.
    fn place(&self, register: u16) -> Limb {
        let row = match self.is_written[usize::from(register)] {
            true => WRITTEN,
            false => self.homes[usize::from(register)].expect("a register that is set"),
        };
        row | self.at(register)
    }

    fn push(&mut self, operation: Limb, r: u16, a: u16, b: u16) {
        let (a, b) = (self.place(a), self.place(b));
        let at = self.at(r);
        self.words.extend([operation, at, a, b]);
        self.write(r);
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Mul { r, a, b } => self.push(MUL, r, a, b),
            Step::Add { r, a, b } => self.push(ADD, r, a, b),
            Step::Sub { r, a, b } => self.push(SUB, r, a, b),
            Step::Copy { r, a } => self.push(COPY, r, a, a),
            Step::Scale { .. } | Step::Choose { .. } | Step::Shift { .. } => {
                unreachable!("rows have no scales and no keys")
            }
        }
    }

    /// `r = p + q`, of points whose difference is the third of them.
    fn sum(&mut self, r: [u16; 2], points: [[u16; 2]; 3]) {
        let [x, z] = r.map(|r| self.at(r));
        let places = points.map(|point| point.map(|register| self.place(register)));
        let words = [SUM, x, z].into_iter().chain(places.into_iter().flatten());
        self.words.extend(words.chain([ROUNDS, 0, 0]));
        r.into_iter().for_each(|r| self.write(r));
    }

    /// A [walk](Move::Walk), of registers that are written.
    fn walk(
        &mut self,
        [product, first]: [u16; 2],
        [top, bottom]: [u16; 2],
        count: u16,
        is_down: bool,
    ) {
        let begin = [BEGIN, 0, self.place(first), 0];
        self.words.extend(begin);
        if count > 0 {
            let up = self.width / QUAD;
            let up = if is_down { up.wrapping_neg() } else { up };
            let places = [self.place(top), self.place(bottom)];
            assert_eq!(places.map(|place| place >> ROW), [WRITTEN; 2]);
            let [top, bottom] = places;
            self.words
                .extend([WALK, count.into(), top, bottom, up, 0, 0, 0]);
        }
        self.end(product);
    }

    /// `r = product`.
    fn end(&mut self, r: u16) {
        let end = [END, self.at(r), 0, 0];
        self.words.extend(end);
        self.write(r);
    }

    fn write(&mut self, r: u16) {
        self.is_written[usize::from(r)] = true;
    }

    fn pairs(&mut self, product: u16, pairs: &[[u16; 2]]) {
        if pairs.is_empty() {
            return;
        }
        let begin = [BEGIN, 0, self.place(product), 0];
        self.words.extend(begin);
        let row_of = |place: Limb| place >> ROW;
        let is_alike = |[a, b]: &[u16; 2], [c, d]: &[u16; 2]| {
            a == c && row_of(self.place(*b)) == row_of(self.place(*d))
        };
        let mut words = Vec::new();
        for these in pairs.chunk_by(is_alike) {
            let [a, b] = these[0].map(|register| self.place(register));
            words.extend([PAIRS, these.len() as Limb, a, b]);
            words.extend(these.iter().map(|&[_, b]| self.at(b)));
            words.resize(words.len().next_multiple_of(4), 0);
        }
        self.words.append(&mut words);
        self.end(product);
    }
}
