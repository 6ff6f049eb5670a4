//! An expression whose operands are bound to sources, and its run on an engine.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bigint_core::{LIMB_BITS, Layout, MAX_WIDTH, Shape};
use bigint_host::{Engine, Error, SignedBatch};

use crate::expression::Step;
use crate::window::Column;

/// Where an operand's numbers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// One number that stands for all: constant number `.0`.
    Constant(usize),
    /// One number per line: file number `.0`.
    Column(usize),
}

/// A stack machine's program and the origins of its operands.
#[derive(Clone, Debug)]
pub struct Program {
    steps: Vec<Step>,
    operands: Vec<Origin>,
    /// Bits of each constant.
    constants: Vec<usize>,
}

/// Limbs that a run keeps for each row of the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Operands and intermediate results at the worst moment.
    pub peak: usize,
    /// The result.
    pub result: usize,
    /// The widest intermediate result, or the result.
    pub widest: usize,
}

impl Program {
    /// A program over constants of the given lengths in bits.
    pub fn new(steps: Vec<Step>, operands: Vec<Origin>, constants: Vec<usize>) -> Self {
        Program {
            steps,
            operands,
            constants,
        }
    }

    /// What a row costs whose columns have `widths` limbs. Cost: one pass over
    /// the program.
    pub fn cost(&self, widths: &[usize]) -> Cost {
        let columns: usize = widths.iter().sum();
        // Bits of each value on the stack, and the limbs it owns.
        let mut stack: Vec<(usize, usize)> = Vec::new();
        let (mut owned, mut peak, mut widest) = (0, 0, 0);
        for step in &self.steps {
            let bits = match *step {
                Step::Push(operand) => {
                    let bits = match self.operands[operand] {
                        Origin::Constant(index) => self.constants[index],
                        Origin::Column(index) => widths[index] * LIMB_BITS,
                    };
                    stack.push((bits, 0));
                    continue;
                }
                Step::Negate => continue,
                Step::Add | Step::Sub | Step::Mul => {
                    let (b, a) = (stack.pop(), stack.pop());
                    let (b, a) = (b.unwrap_or_default(), a.unwrap_or_default());
                    owned -= a.1 + b.1;
                    let bits = result_bits(*step, a.0, b.0);
                    // While a step runs, its operands are still there.
                    peak = peak.max(owned + a.1 + b.1 + limbs(bits));
                    bits
                }
            };
            widest = widest.max(limbs(bits));
            owned += limbs(bits);
            stack.push((bits, limbs(bits)));
        }
        Cost {
            peak: columns + peak,
            result: stack.pop().map_or(1, |(bits, _)| limbs(bits)),
            widest,
        }
    }
}

/// An upper bound of the result's length, in bits, from the operands'.
fn result_bits(step: Step, a: usize, b: usize) -> usize {
    match step {
        Step::Mul => a + b,
        _ => a.max(b) + 1,
    }
}

fn limbs(bits: usize) -> usize {
    bits.div_ceil(LIMB_BITS).max(1)
}

/// Calls, numbers and time of one operation on one back end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Batches computed.
    pub batches: u64,
    /// Results in them.
    pub numbers: u64,
    /// Limbs in those.
    pub limbs: u64,
    /// Time until the engine had answered.
    pub elapsed: Duration,
}

/// Runs a program on batches.
pub struct Machine<'a> {
    engine: &'a Engine,
    program: &'a Program,
    constants: Vec<SignedBatch>,
    /// What was done, by back end and operation.
    pub tallies: BTreeMap<(String, &'static str), Tally>,
}

impl<'a> Machine<'a> {
    /// A machine for `program`, with its constants in order.
    ///
    /// # Errors
    /// As [`Engine::batch_from_limbs`].
    pub fn new(
        engine: &'a Engine,
        program: &'a Program,
        constants: Vec<Column>,
    ) -> Result<Self, Error> {
        let constants = constants.into_iter().map(|column| batch(engine, column));
        Ok(Machine {
            engine,
            program,
            constants: constants.collect::<Result<_, _>>()?,
            tallies: BTreeMap::new(),
        })
    }

    /// Runs the program on equally long columns. The result is on the host.
    ///
    /// # Errors
    /// As the engine's operations; before any of them where one would be refused for
    /// its width.
    pub fn run(&mut self, columns: Vec<Column>) -> Result<SignedBatch, Error> {
        let widths: Vec<usize> = columns.iter().map(|column| column.width).collect();
        let width = self.program.cost(&widths).widest;
        if width > MAX_WIDTH {
            return Err(Error::Width { width });
        }
        let columns = columns.into_iter().map(|column| batch(self.engine, column));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let mut stack: Vec<(Cow<'_, SignedBatch>, usize)> = Vec::new();
        for step in &self.program.steps {
            let value = match *step {
                Step::Push(operand) => match self.program.operands[operand] {
                    Origin::Constant(index) => {
                        let bits = self.program.constants[index];
                        (Cow::Borrowed(&self.constants[index]), bits)
                    }
                    Origin::Column(index) => {
                        let column = &columns[index];
                        let bits = column.magnitude().width() * LIMB_BITS;
                        (Cow::Borrowed(column), bits)
                    }
                },
                Step::Negate => {
                    let Some((value, bits)) = stack.pop() else {
                        continue;
                    };
                    (Cow::Owned(value.into_owned().negated()), bits)
                }
                Step::Add | Step::Sub | Step::Mul => {
                    let (Some((b, b_bits)), Some((a, a_bits))) = (stack.pop(), stack.pop()) else {
                        continue;
                    };
                    let started = Instant::now();
                    let (name, result) = match step {
                        Step::Add => ("add", self.engine.signed_add(&a, &b)?),
                        Step::Sub => ("sub", self.engine.signed_sub(&a, &b)?),
                        _ => ("mul", self.engine.signed_mul(&a, &b)?),
                    };
                    let bits = result_bits(*step, a_bits, b_bits);
                    let result = self.narrow(result, limbs(bits))?;
                    let back_end = result.magnitude().location().to_string();
                    let tally = self.tallies.entry((back_end, name)).or_default();
                    tally.batches += 1;
                    tally.numbers += result.magnitude().len() as u64;
                    tally.limbs += result.magnitude().shape().limbs() as u64;
                    tally.elapsed += started.elapsed();
                    (Cow::Owned(result), bits)
                }
            };
            stack.push(value);
        }
        let (result, _) = stack.pop().expect("a parsed expression leaves one value");
        let result = result.into_owned();
        // Brings the limbs here, where an error can still be told.
        result.magnitude().rows()?;
        Ok(result)
    }

    /// Each exact sum is a limb wider than its terms. A long chain of them
    /// would carry as many zero limbs along: they are cut off now and then.
    fn narrow(&self, value: SignedBatch, width: usize) -> Result<SignedBatch, Error> {
        let magnitude = value.magnitude();
        if magnitude.width() <= width + (width / 4).max(4) {
            return Ok(value);
        }
        let rows = magnitude.rows()?;
        let rows = rows.chunks_exact(magnitude.width());
        let limbs = rows.flat_map(|row| &row[..width]).copied().collect();
        let shape = Shape::new(magnitude.len(), width, Layout::Contiguous);
        let narrow = self.engine.batch_from_limbs(limbs, shape)?;
        SignedBatch::new(narrow, value.negative().to_vec())
    }
}

fn batch(engine: &Engine, column: Column) -> Result<SignedBatch, Error> {
    let shape = Shape::new(column.negative.len(), column.width, Layout::Contiguous);
    SignedBatch::new(
        engine.batch_from_limbs(column.limbs, shape)?,
        column.negative,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::Expression;

    fn program(text: &str) -> Program {
        let expression = Expression::parse(text).unwrap();
        let operands = (0..expression.operands.len()).map(Origin::Column).collect();
        Program::new(expression.steps, operands, Vec::new())
    }

    fn ones(width: usize) -> Column {
        Column {
            width,
            limbs: vec![u32::MAX; width],
            negative: vec![false],
        }
    }

    #[test]
    fn widths_follow_the_operations() {
        let cost = |text, widths: &[usize]| program(text).cost(widths);
        let expected = |peak, result, widest| Cost {
            peak,
            result,
            widest,
        };
        assert_eq!(cost("a", &[7]), expected(7, 7, 0));
        assert_eq!(cost("a*b", &[3, 4]), expected(14, 7, 7));
        assert_eq!(cost("a+b", &[3, 4]), expected(12, 5, 5));
        // a, b and both products are alive while the sum is made.
        assert_eq!(cost("a*a-b*b", &[1, 1]), expected(2 + 2 + 2 + 3, 3, 3));
        assert_eq!(cost("a*b*b-a", &[1, 4]).widest, 10);
    }

    #[test]
    fn a_long_sum_stays_as_narrow_as_its_value() {
        let text = ["a"; 200].join("+");
        let program = program(&text);
        let engine = Engine::cpu();
        let mut machine = Machine::new(&engine, &program, Vec::new()).unwrap();
        let result = machine.run(vec![ones(1)]).unwrap();
        assert!(result.magnitude().width() <= 6 + 7);
        let sum = 200 * u64::from(u32::MAX);
        assert_eq!(result.to_bigints().unwrap(), [sum.into()]);
    }
}
