//! P-1 and P+1: one number after another, with bounds that are given.

use std::time::Instant;

use bigint_host::Engine;
use bigint_host::advanced::BackEnd;
use num_bigint::BigUint;

use super::output::{Teller, say};
use super::run::{described, earlier, next, save, save_file};
use super::stop::Stop;
use super::{Backend, Cli, Failure};
use crate::checkpoint::Stage;
use crate::{Checkpoint, LucasStage1, LucasStage2, Method, Parts, Saved, scalar, write_line};

/// `B2` from which on a device is worth its start and its compiler's: 16 cores take .7 s for a tenth of it.
const WORTH_A_DEVICE: u64 = 100_000_000_000;

/// Runs both stages on each number. Returns the exit code.
pub fn run(cli: &Cli, method: Method, numbers: &[BigUint], stop: &Stop) -> Result<u8, Failure> {
    for (is_given, option) in [
        (cli.digits.is_some(), "--digits"),
        (cli.param.is_some(), "--param"),
        (cli.sigma.is_some(), "--sigma"),
    ] {
        if is_given {
            return Err(Failure::Usage(format!(
                "{option} is for curves: --method ecm"
            )));
        }
    }
    let b1 = cli
        .b1
        .ok_or_else(|| Failure::Usage("--method p-1 and p+1 need a bound: --b1 1e6".to_owned()))?;
    let starts = cli.curves.unwrap_or(1);
    let starts = u32::try_from(starts)
        .ok()
        .filter(|&starts| starts <= 1 << 20);
    let job = format!(
        "{} method {method:?} b1 {b1} b2 {:?} starts {:?}",
        described(numbers),
        cli.b2,
        cli.curves
    );
    let begun = || Checkpoint {
        job: job.clone(),
        ..Checkpoint::default()
    };
    let at = earlier(cli, &job)?;
    if let Some(at) = &at {
        say!("going on after {} numbers", at.numbers);
    }
    let mut run = Run {
        cli,
        stop,
        method,
        engine: cli.engine()?,
        starts: starts.ok_or_else(|| Failure::Usage("--curves is 2^20 at most".to_owned()))?,
        b1,
        b2: cli.b2.unwrap_or(100 * b1),
        scalar: scalar(b1),
        save: save_file(cli)?,
        at: at.unwrap_or_else(begun),
        saved: Instant::now(),
        shown: Instant::now(),
        teller: Teller::new(cli.format()),
    };
    for n in &numbers[run.at.numbers.min(numbers.len())..] {
        run.number(n)?;
        let numbers = run.at.numbers + 1;
        run.at = Checkpoint { numbers, ..begun() };
        run.write()?;
    }
    if let Some(path) = &cli.checkpoint {
        Checkpoint::remove(path)?;
    }
    Ok(run.teller.code())
}

/// Stage 2 of these values: on devices, where they are wanted or worth it and can, or on the CPU.
pub fn stage2(
    cli: &Cli,
    engine: &Engine,
    part: &BigUint,
    values: &[BigUint],
    (b1, b2): (u64, u64),
) -> Result<LucasStage2, Failure> {
    let is_on_device = match cli.backend {
        Backend::Cpu => false,
        Backend::Cuda => true,
        Backend::Auto => b2 >= WORTH_A_DEVICE && !matches!(engine.back_end(), BackEnd::Cpu),
    };
    if is_on_device && let Some(stage) = LucasStage2::on_device(engine, part, values, b1, b2)? {
        return Ok(stage);
    }
    Ok(LucasStage2::new(part, values, b1, b2)?)
}

struct Run<'a> {
    cli: &'a Cli,
    stop: &'a Stop,
    method: Method,
    engine: Engine,
    starts: u32,
    b1: u64,
    b2: u64,
    scalar: BigUint,
    save: Option<std::fs::File>,
    at: Checkpoint,
    saved: Instant,
    shown: Instant,
    teller: Teller,
}

impl Run<'_> {
    fn number(&mut self, n: &BigUint) -> Result<(), Failure> {
        let mut parts = Parts::new(&self.engine, n)?;
        self.teller.begin(n, &parts)?;
        for part in parts.composites().to_vec() {
            for (step, divisor) in self.divisors(&part)? {
                if divisor == part {
                    say!("all of {part} was found at once: a lower --b1 may take it apart");
                }
                self.teller
                    .split(&self.engine, &mut parts, step, &divisor)?;
            }
        }
        let method = match self.method {
            Method::PMinus1 => "p-1",
            Method::PPlus1 => "p+1",
        };
        let run = serde_json::json!({
            "method": method, "b1": self.b1, "b2": self.b2, "starts": self.starts,
        });
        self.teller.end(n, &parts, Some(run), "")
    }

    /// The divisors of a part that both stages find, each with the stage.
    fn divisors(&mut self, part: &BigUint) -> Result<Vec<(u8, BigUint)>, Failure> {
        let mut stage = LucasStage1::new(part, self.method, self.starts, &self.scalar)?;
        if let Some(earlier) = self.at.stage.take()
            && earlier.n == part.to_string()
            && let Some(state) = earlier.numbers()
        {
            stage.resume(earlier.done, &state)?;
        }
        let mut times = 64;
        while !stage.is_done() {
            let began = Instant::now();
            stage.advance(times);
            times = next(times, began.elapsed());
            let (done, of) = stage.progress();
            self.keep(part, &stage)?;
            self.look("stage 1", done as u64, of as u64)?;
        }
        let (mut divisors, mut values, mut lines) = (Vec::new(), Vec::new(), String::new());
        for residue in stage.finish() {
            match self.method.value(&residue, part) {
                Ok(value) => {
                    values.push(value);
                    lines += &write_line(part, self.b1, &Saved::Residue(self.method, residue));
                    lines.push('\n');
                }
                Err(divisor) => divisors.push((1, divisor)),
            }
        }
        save(self.save.as_mut(), self.cli, &lines)?;
        if self.b2 > self.b1 && !values.is_empty() {
            let (b1, b2) = (self.b1, self.b2);
            let mut stage = stage2(self.cli, &self.engine, part, &values, (b1, b2))?;
            while !stage.is_done() {
                stage.advance()?;
                let (done, of) = stage.progress();
                self.look("stage 2", done, of)?;
            }
            let found = stage.finish()?.into_iter().flatten();
            divisors.extend(found.map(|divisor| (2, divisor)));
        }
        Ok(divisors)
    }

    /// Writes a checkpoint where it is time for one, or the run is to stop.
    fn keep(&mut self, part: &BigUint, stage: &LucasStage1) -> Result<(), Failure> {
        let is_time = self.saved.elapsed() >= self.cli.report_every;
        if self.cli.checkpoint.is_some() && (is_time || self.stop.failure().is_some()) {
            let (done, _) = stage.progress();
            self.at.stage = Some(Stage::new(part, 0, done, &stage.state()));
            self.write()?;
        }
        Ok(())
    }

    /// Writes the checkpoint.
    fn write(&mut self) -> Result<(), Failure> {
        if let Some(path) = &self.cli.checkpoint {
            self.at.write(path)?;
        }
        self.saved = Instant::now();
        Ok(())
    }

    /// Looks at signals and the clock: a line of progress.
    fn look(&mut self, stage: &str, done: u64, of: u64) -> Result<(), Failure> {
        self.stop.failure().map_or(Ok(()), Err)?;
        if self.shown.elapsed() >= self.cli.report_every {
            self.shown = Instant::now();
            let (b1, b2) = (self.b1, self.b2);
            say!("B1 {b1} B2 {b2}: {stage} {} %", 100 * done / of.max(1));
        }
        Ok(())
    }
}
