//! Measures the cases of a paper's benchmark.

use std::collections::BTreeMap;
use std::time::Duration;

use bigint_core::fused::FUSED_MODULE;
use bigint_core::{Layout, Level, Operation};
use bigint_host::expression::Expression;
use bigint_host::{BackEnd, Batch, Engine, Error};
use serde::{Deserialize, Serialize};

use super::benchmark::{Benchmark, Case, Who, Work};
use crate::bench::rows::Rows;
use crate::bench::sample::{Times, arranged, operand, time};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::team::Team;

/// One figure. Times are in nanoseconds for one number of the batch, or for the whole of a list;
/// `ours` and what was `published` are in the benchmark's unit. A row that is not measured here has
/// no times.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    pub table: String,
    pub method: String,
    pub bits: usize,
    pub count: usize,
    /// The size in bytes of a list's operands and results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    pub layout: String,
    /// The name of the operation, or `fused`: the module of its kernels.
    pub operation: Option<String>,
    /// The operation, algorithm, level and lanes, as far as they were forced.
    pub by: Option<String>,
    pub back_end: Option<String>,
    pub samples: usize,
    pub mean_ns: Option<f64>,
    pub median_ns: Option<f64>,
    pub least_ns: Option<f64>,
    pub greatest_ns: Option<f64>,
    pub ours: Option<f64>,
    #[serde(skip)]
    pub least: Option<f64>,
    #[serde(skip)]
    pub greatest: Option<f64>,
    pub published: BTreeMap<String, f64>,
}

/// Measures every case at these widths.
///
/// # Errors
/// [`Failure::Running`] where the engine fails.
pub fn all(
    benchmark: &Benchmark,
    engine: &Engine,
    widths: &[usize],
    count: &dyn Fn(usize) -> usize,
    samples: u32,
    rows: &mut Rows<Row>,
) -> Result<(), Failure> {
    let on_device = engine.back_end() != BackEnd::Cpu;
    let cpu = Engine::cpu();
    let cases = |bits: usize| (benchmark.cases)(bits, on_device);
    let all: usize = widths.iter().map(|&bits| cases(bits).len()).sum();
    let mut progress = Progress::of_cases(all as u64);
    progress.message(benchmark.name);
    for &bits in widths {
        let count = count(bits);
        let mut made: Option<Operands> = None;
        for case in cases(bits) {
            let engine = match case.who {
                Who::Engine => engine,
                Who::Cpu(_) => &cpu,
            };
            let mut bytes = None;
            let (count, measured) = match case.work {
                Work::Nothing => (count, None),
                Work::List(list) => {
                    let (times, moved) =
                        case.on_its_threads(|| list.times(engine, bits, samples))?;
                    bytes = Some(moved);
                    (list.count, Some((engine.back_end(), times)))
                }
                _ => {
                    // What was made for the case before may do.
                    let kept = made.take().filter(|made| made.serve(engine, &case));
                    let operands = match kept {
                        Some(operands) => operands,
                        None => Operands::new(engine, &case, bits, count)?,
                    };
                    let times = case.times(engine, &operands, samples)?;
                    made = Some(operands);
                    (count, Some((engine.back_end(), times.each(count))))
                }
            };
            let row = row(benchmark, case, bits, count, measured);
            rows.push(Row { bytes, ..row })?;
            progress.set(rows.len() as u64);
        }
    }
    Ok(())
}

fn row(
    benchmark: &Benchmark,
    case: Case,
    bits: usize,
    count: usize,
    measured: Option<(BackEnd, Times)>,
) -> Row {
    let figure = |each: f64| (benchmark.figure)(bits, each);
    let of = |time: fn(Times) -> f64| measured.map(|(_, times)| time(times));
    let (least, greatest) = (of(|times| times.least), of(|times| times.greatest));
    let ends = least.map(figure).zip(greatest.map(figure));
    Row {
        operation: case.work.module().map(str::to_owned),
        by: measured.map(|_| case.choice()),
        table: case.table,
        back_end: measured.map(|(back_end, _)| back_end.to_string()),
        method: case.method,
        bits,
        count,
        bytes: None,
        layout: case.layout.name().to_owned(),
        samples: measured.map_or(0, |(_, times)| times.samples),
        mean_ns: of(|times| times.mean),
        median_ns: of(|times| times.median),
        least_ns: least,
        greatest_ns: greatest,
        ours: match benchmark.is_mean {
            true => of(|times| times.mean).map(figure),
            false => of(|times| times.median).map(figure),
        },
        // Of a rate, the least is that of the greatest time.
        least: ends.map(|(one, other)| one.min(other)),
        greatest: ends.map(|(one, other)| one.max(other)),
        published: {
            let published = case.published.into_iter();
            published
                .map(|(name, figure)| (name.to_owned(), figure))
                .collect()
        },
    }
}

/// Operands of one width on one engine; the first is the greatest.
struct Operands {
    back_end: BackEnd,
    layout: Layout,
    batches: Vec<Batch>,
}

impl Operands {
    fn new(engine: &Engine, case: &Case, bits: usize, count: usize) -> Result<Self, Error> {
        let batch = |seed: usize| {
            let batch = operand(engine, bits, count, seed as u64, seed == 0)?;
            engine.to_layout(&batch, case.layout)
        };
        let batches = (0..case.operands()).map(batch);
        Ok(Operands {
            back_end: engine.back_end(),
            layout: case.layout,
            batches: batches.collect::<Result<_, _>>()?,
        })
    }

    fn serve(&self, engine: &Engine, case: &Case) -> bool {
        (self.back_end, self.layout) == (engine.back_end(), case.layout)
            && self.batches.len() >= case.operands()
    }
}

impl Case {
    fn operands(&self) -> usize {
        match self.work {
            Work::Of(operation, _) => operation.declaration().operands.len(),
            _ => 2,
        }
    }

    /// The algorithm, level and lanes that were forced, or `auto`.
    fn choice(&self) -> String {
        let options = self.options;
        let threads = match self.who {
            Who::Cpu(Some(threads)) => Some(format!("{threads} thread")),
            _ => None,
        };
        let lanes = options.lanes.filter(|&lanes| lanes > 1);
        let parts = [
            self.work.module().map(str::to_owned),
            Some(options.algorithm.name().to_owned()),
            options.level.map(Level::name).map(str::to_owned),
            lanes.map(|lanes| lanes.to_string()),
            threads,
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    fn times(&self, engine: &Engine, operands: &Operands, samples: u32) -> Result<Times, Failure> {
        let engine = engine.using(self.options);
        self.on_its_threads(|| {
            let once = || self.work.once(&engine, &operands.batches);
            Times::of(samples, Duration::MAX, |repeats| {
                time(&engine, repeats, once)
            })
        })
    }

    /// Runs `measure` on the threads that the case is for.
    fn on_its_threads<T: Send>(
        &self,
        measure: impl FnOnce() -> Result<T, Error> + Send,
    ) -> Result<T, Failure> {
        let measured = match self.who {
            Who::Cpu(Some(threads)) => Team::of(usize::from(threads))?.install(measure),
            Who::Cpu(None) | Who::Engine => measure(),
        };
        Ok(measured?)
    }
}

impl Work {
    /// The module that the kernels of this work are in.
    fn module(self) -> Option<&'static str> {
        match self {
            Work::Of(operation, _) => Some(operation.name()),
            Work::TenSumsAtOnce => Some(FUSED_MODULE),
            Work::TenSums => Some(Operation::Add.name()),
            Work::List(list) => Some(list.operation.name()),
            Work::Nothing => None,
        }
    }

    /// Does the work once, on operands as [`Operands`] has them.
    fn once(self, engine: &Engine, batches: &[Batch]) -> Result<Batch, Error> {
        let (a, b) = (&batches[0], &batches[1]);
        match self {
            Work::Of(operation, form) => {
                let operands = arranged(operation, a, [b, batches.get(2).unwrap_or(b)]);
                let mut outcome = engine.compute(operation, form, &operands)?;
                Ok(outcome.results.swap_remove(0))
            }
            Work::TenSumsAtOnce => {
                let mut sum: Expression<Batch> = a.into();
                for at in 1..20 {
                    sum += if at % 2 == 0 { a } else { b };
                }
                engine.eval_wrapping(&sum, a.width())
            }
            Work::TenSums => {
                let once = engine.wrapping_add(a, b)?;
                let mut sum = engine.wrapping_add(&once, &once)?;
                for _ in 2..10 {
                    sum = engine.wrapping_add(&sum, &once)?;
                }
                Ok(sum)
            }
            // Lists are of no batches.
            Work::List(_) | Work::Nothing => Ok(a.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bigint_host::{BigUint, Form};

    #[test]
    fn ten_sums_are_ten_times_the_sum_either_way() {
        let engine = Engine::cpu();
        let batches = [0, 1].map(|seed| operand(&engine, 200, 9, seed, seed == 0).unwrap());
        let [a, b] = [0, 1].map(|at: usize| batches[at].to_biguints().unwrap());
        let modulus = BigUint::from(1u32) << (32 * batches[0].width());
        let sums = a.iter().zip(&b).map(|(a, b)| (a + b) * 10u32 % &modulus);
        let sums: Vec<BigUint> = sums.collect();
        for work in [Work::TenSums, Work::TenSumsAtOnce] {
            let made = work.once(&engine, &batches).unwrap();
            assert_eq!(made.to_biguints().unwrap(), sums, "{work:?}");
        }
    }

    #[test]
    fn sums_modulo_a_number_are_of_operands_below_it() {
        let engine = Engine::cpu();
        let batches = [0, 1, 2].map(|seed| operand(&engine, 131, 50, seed, seed == 0).unwrap());
        let work = Work::Of(Operation::ModAdd, Form::Exact);
        let made = work.once(&engine, &batches).unwrap().to_biguints().unwrap();
        let [m, a, b] = [0, 1, 2].map(|at: usize| batches[at].to_biguints().unwrap());
        for at in 0..50 {
            assert!(a[at] < m[at] && b[at] < m[at]);
            assert_eq!(made[at], (&a[at] + &b[at]) % &m[at]);
        }
    }
}
