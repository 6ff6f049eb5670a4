//! Residues that wait until somebody asks for them, so that a chain of them is computed in one form and one launch.
//!
//! A product alone takes least in Montgomery's form of limbs. Where so many numbers take less time
//! [in residue number systems](crate::device::rns::chain) in a chain of [`MOST`] products, then products, sums and differences
//! of residues are not computed when they are made: a value remembers what it is of. Whoever asks for its limbs has all computed
//! that it is of and that was not, as a chain if that pays for conversions, else one by one. What others still hold comes out
//! with it, so that nothing is computed twice.

use crate::common::threads::lock;
use crate::device::rns::chain::{Chain, Source, Step, Term};
use crate::operations::residues::{Kind, MontgomeryParams};
use crate::plan::is_chain;
use crate::plan::task::Task;
use crate::{Batch, Engine, Error, Options};
use bigint_core::Algorithm;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock};

/// How many products wait for one another at most.
pub(super) const MOST: usize = 512;

/// How many values are computed as one chain at most.
const MOST_VALUES: usize = 4096;

/// Residues in Montgomery's form, or what they are of.
pub(super) struct Value {
    count: usize,
    form: OnceLock<Batch>,
    of: Mutex<Option<Of>>,
    /// The most products from one that is there to this.
    depth: usize,
}

/// A product, a sum or a difference.
#[derive(Clone)]
struct Of {
    kind: Kind,
    operands: [Arc<Value>; 2],
}

impl Value {
    /// One that is there.
    pub fn of_form(form: Batch) -> Arc<Self> {
        Arc::new(Value {
            count: form.len(),
            form: OnceLock::from(form),
            of: Mutex::default(),
            depth: 0,
        })
    }

    /// How many residues there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// One that waits, if residues of as many numbers do: they have to go together, also with the moduli.
    pub fn waiting(
        params: &MontgomeryParams,
        kind: Kind,
        [a, b]: [&Arc<Value>; 2],
    ) -> Result<Option<Arc<Self>>, Error> {
        let counts = [a.count, b.count, params.moduli().len()];
        let count = counts.into_iter().max().unwrap_or(1);
        let go_together = counts.into_iter().all(|of| of == 1 || of == count);
        if !go_together || !params.engine().waits(count, params.moduli().width()) {
            return Ok(None);
        }
        if a.depth.max(b.depth) >= MOST {
            for operand in [a, b] {
                operand.form(params)?;
            }
        }
        let depth = |x: &Value| x.form.get().map_or(x.depth, |_| 0);
        Ok(Some(Arc::new(Value {
            count,
            form: OnceLock::new(),
            of: Mutex::new(Some(Of {
                kind,
                operands: [Arc::clone(a), Arc::clone(b)],
            })),
            depth: 1 + depth(a).max(depth(b)),
        })))
    }

    /// The limbs, which are computed now if they are not there.
    pub fn form(self: &Arc<Self>, params: &MontgomeryParams) -> Result<&Batch, Error> {
        if self.form.get().is_none() {
            Waiting::of(self).compute(params)?;
        }
        Ok(self.form.get().expect("it was computed, or is an error"))
    }

    fn address(self: &Arc<Self>) -> *const Value {
        Arc::as_ptr(self)
    }
}

/// Values that wait, each behind those that it is of, and how often the others are of each.
struct Waiting {
    values: Vec<(Arc<Value>, Of)>,
    reads: HashMap<*const Value, usize>,
}

impl Waiting {
    /// A value, and all that it is of.
    fn of(last: &Arc<Value>) -> Self {
        let (mut values, mut reads) = (Vec::new(), HashMap::new());
        let mut seen = HashSet::new();
        let mut open = vec![(Arc::clone(last), None)];
        while let Some((value, of)) = open.pop() {
            if let Some(of) = of {
                values.push((value, of));
                continue;
            }
            let of = lock(&value.of).clone();
            let Some(of) = of.filter(|_| value.form.get().is_none()) else {
                continue;
            };
            if !seen.insert(value.address()) {
                continue;
            }
            for operand in &of.operands {
                *reads.entry(operand.address()).or_default() += 1;
            }
            let operands = of.operands.clone();
            open.push((value, Some(of)));
            // One for all is computed by itself.
            let of_all = operands.into_iter().filter(|x| x.count == last.count);
            open.extend(of_all.map(|operand| (operand, None)));
        }
        Waiting { values, reads }
    }

    /// Whether somebody else has the value: it is held here once, and twice by each that reads it.
    fn is_held(&self, value: &Arc<Value>) -> bool {
        let reads = self.reads.get(&value.address()).copied();
        Arc::strong_count(value) > 1 + 2 * reads.unwrap_or(0)
    }

    fn compute(self, params: &MontgomeryParams) -> Result<(), Error> {
        let values = self.values.iter();
        let outputs: Vec<_> = values.clone().map(|(value, _)| value).collect();
        let outputs: Vec<_> = outputs
            .into_iter()
            .filter(|value| self.is_held(value))
            .collect();
        let products = values.filter(|(_, of)| of.kind == Kind::Product).count();
        let mut inputs: Vec<&Arc<Value>> = Vec::new();
        for operand in self.values.iter().flat_map(|(_, of)| &of.operands) {
            let is_there = operand.form.get().is_some() || operand.count == 1;
            if is_there && !inputs.iter().any(|input| Arc::ptr_eq(input, operand)) {
                inputs.push(operand);
            }
        }
        let engine = params.engine();
        let count = self.values.last().map_or(0, |(last, _)| last.count);
        let ends = inputs.len() + outputs.len();
        let is_short = self.values.len() <= MOST_VALUES;
        if is_short && engine.is_chain(count, params.moduli().width(), [products, ends]) {
            let registers = Registers::of(&self, &inputs, &outputs);
            let chain = registers.chain(count, params.moduli().width(), &outputs);
            let mut operands = vec![params.moduli().clone()];
            for input in &inputs {
                operands.push(params.out_of_form(input.form(params)?)?);
            }
            operands.push(params.small(1)?);
            let results = engine.of_chain(chain, &operands)?;
            for (value, result) in outputs.iter().zip(results) {
                // Another thread may have been here.
                let _ = value.form.set(params.in_form(&result)?);
            }
        } else {
            for (value, of) in &self.values {
                let [a, b] = &of.operands;
                let form = params.computed(of.kind, [a.form(params)?, b.form(params)?])?;
                let _ = value.form.set(form);
            }
        }
        for (value, _) in &self.values {
            if value.form.get().is_some() {
                *lock(&value.of) = None;
            }
        }
        Ok(())
    }
}

/// The steps of a chain, and which registers have which values.
struct Registers {
    of: HashMap<*const Value, u16>,
    inputs: u16,
    /// The register of 1.
    one: u16,
    next: u16,
    steps: Vec<Step>,
    /// Those of sums that were multiplied by 1, as no sum is a term.
    made: HashMap<u16, u16>,
}

impl Registers {
    fn of(waiting: &Waiting, inputs: &[&Arc<Value>], outputs: &[&Arc<Value>]) -> Self {
        let one = inputs.len() as u16;
        let mut registers = Registers {
            of: (0..)
                .zip(inputs)
                .map(|(i, input)| (input.address(), i))
                .collect(),
            inputs: one + 1,
            one,
            next: one + 1,
            steps: Vec::new(),
            made: HashMap::new(),
        };
        let products = waiting.values.iter().filter(|(value, of)| {
            // What only one sum reads is computed with it.
            let is_read_once = waiting.reads.get(&value.address()) == Some(&1);
            let is_output = outputs.iter().any(|output| Arc::ptr_eq(output, value));
            of.kind == Kind::Product && is_read_once && !is_output
        });
        let mut products: HashMap<_, _> =
            products.map(|(value, of)| (value.address(), of)).collect();
        let sums: HashSet<_> = waiting
            .values
            .iter()
            .filter(|(_, of)| of.kind != Kind::Product)
            .flat_map(|(_, of)| of.operands.iter().map(Arc::as_ptr))
            .collect();
        products.retain(|value, _| sums.contains(value));
        for (value, of) in &waiting.values {
            let [a, b] = &of.operands;
            let same = Arc::ptr_eq(a, b);
            match of.kind {
                Kind::Product if products.contains_key(&value.address()) => {}
                Kind::Product => registers.product(value, [a, b], None),
                Kind::Sum | Kind::Difference => {
                    let is_subtracted = of.kind == Kind::Difference;
                    let factors =
                        |x: &Arc<Value>| products.get(&x.address()).map(|of| &of.operands);
                    let (factors, term) = match (factors(a), factors(b)) {
                        (Some([x, y]), _) if !same => (Some([x, y]), b),
                        (_, Some([x, y])) if !same && !is_subtracted => (Some([x, y]), a),
                        _ => (None, b),
                    };
                    // A product that is a term is needed by itself.
                    if let Some(of) = products.get(&term.address()) {
                        let [x, y] = &of.operands;
                        registers.product(term, [x, y], None);
                    }
                    let term = registers.term(term, waiting, is_subtracted);
                    match factors {
                        Some([x, y]) => registers.product(value, [x, y], Some(term)),
                        None => registers.by_one(value, a, term),
                    }
                }
            }
        }
        registers
    }

    fn register(&self, value: &Arc<Value>) -> u16 {
        self.of[&value.address()]
    }

    fn fresh(&mut self) -> u16 {
        self.next += 1;
        self.next - 1
    }

    fn step(&mut self, value: &Arc<Value>, [x, y]: [u16; 2], t: Option<Term>) {
        let r = self.fresh();
        self.of.insert(value.address(), r);
        self.steps.push(Step {
            r,
            x: Source::Register(x),
            y: (x != y).then_some(y),
            t,
        });
    }

    fn product(&mut self, value: &Arc<Value>, [x, y]: [&Arc<Value>; 2], t: Option<Term>) {
        let factors = [self.register(x), self.register(y)];
        self.step(value, factors, t);
    }

    fn by_one(&mut self, value: &Arc<Value>, x: &Arc<Value>, t: Term) {
        let factors = [self.register(x), self.one];
        self.step(value, factors, Some(t));
    }

    /// A term: of a sum its product by 1.
    fn term(&mut self, value: &Arc<Value>, waiting: &Waiting, is_subtracted: bool) -> Term {
        let mut register = self.register(value);
        let mut values = waiting.values.iter();
        if values.any(|(other, of)| Arc::ptr_eq(other, value) && of.kind != Kind::Product) {
            register = match self.made.get(&register) {
                Some(&made) => made,
                None => {
                    let r = self.fresh();
                    self.steps.push(Step {
                        r,
                        x: Source::Register(register),
                        y: Some(self.one),
                        t: None,
                    });
                    self.made.insert(register, r);
                    r
                }
            };
        }
        Term {
            register,
            is_subtracted,
        }
    }

    fn chain(self, count: usize, width: usize, outputs: &[&Arc<Value>]) -> Chain {
        Chain {
            count,
            width,
            registers: self.next,
            inputs: self.inputs,
            has_keys: false,
            outputs: outputs.iter().map(|value| self.register(value)).collect(),
            steps: self.steps,
        }
    }
}

impl Engine {
    /// Whether residues of so many numbers wait for one another: where a chain of as many products as may wait takes less time
    /// in residue number systems, and nobody wants it otherwise.
    fn waits(&self, count: usize, width: usize) -> bool {
        let Options {
            algorithm,
            level,
            lanes,
            ..
        } = self.options;
        let is_open = matches!(algorithm, Algorithm::Auto | Algorithm::AutoVartime)
            && level.is_none()
            && lanes.is_none();
        is_open && !self.is_for_secrets() && self.is_chain(count, width, [MOST, 3])
    }

    /// Whether a device takes less time for a [chain](is_chain) than product by product.
    pub(crate) fn is_chain(&self, count: usize, width: usize, lengths: [usize; 2]) -> bool {
        self.inner.device().is_some_and(|device| {
            let kind = device.kind();
            let tuning = self.inner.tuning_on(kind.facts);
            is_chain(&tuning, kind.abilities, count, width, lengths)
        })
    }

    /// The results of a chain.
    pub(crate) fn of_chain(&self, chain: Chain, operands: &[Batch]) -> Result<Vec<Batch>, Error> {
        let operands: Vec<_> = operands.iter().map(|x| Arc::clone(x.node())).collect();
        let computed = self
            .inner
            .compute(&Task::Chain(Arc::new(chain)), &operands)?;
        Ok(computed.results.into_iter().map(Batch::new).collect())
    }
}
