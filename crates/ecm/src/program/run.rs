//! A run: curves on numbers, until they have come apart or the curves are done.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bigint_host::Engine;
use num_bigint::BigUint;

use super::output::{Teller, say};
use super::stop::Stop;
use super::{Cli, Failure, MOST_BITS_OF_EDWARDS};
use crate::checkpoint::Stage;
use crate::{
    Bounds, Checkpoint, Error, Family, Outcome, Parts, Point, Saved, Stage1, Stage2, chance,
    scalar, write_line,
};

/// The time between two looks at the clock and at signals.
const LOOK: Duration = Duration::from_millis(250);

/// Curves that devices take together where it is not known how many suit them: enough to fill one.
const ON_DEVICE: u64 = 1 << 16;

/// Factors numbers, one after another. Returns the exit code.
pub fn run(cli: &Cli, numbers: &[BigUint], stop: &Stop) -> Result<u8, Failure> {
    let engine = cli.engine()?;
    let curves = cli.levels(None).iter().map(|level| level.curves).max();
    let is_on_device = cli.wants_device(&engine, curves.unwrap_or(0));
    let bits = numbers.iter().map(BigUint::bits).max().unwrap_or(0);
    let family = cli.family(is_on_device, bits);
    // Curves that no device takes are few at a time.
    let is_on_device = is_on_device && (family == Family::Param3 || bits <= MOST_BITS_OF_EDWARDS);
    let levels = cli.levels(is_on_device.then_some(family));
    let job = job(cli, (family, is_on_device), numbers);
    let found = earlier(cli, &job)?;
    let mut run = Run {
        cli,
        stop,
        engine,
        family,
        is_on_device,
        save: save_file(cli)?,
        at: Checkpoint {
            job,
            sigma: cli.sigma.unwrap_or_else(any_sigma),
            ..Checkpoint::default()
        },
        saved: Instant::now(),
        shown: Instant::now(),
        started: Instant::now(),
        curves: 0,
        teller: Teller::new(cli.format()),
    };
    if let Some(found) = found {
        say!(
            "going on after {} numbers and {} curves",
            found.numbers,
            found.curves
        );
        run.at = found;
    }
    for n in &numbers[run.at.numbers.min(numbers.len())..] {
        run.number(n, &levels)?;
        run.at = Checkpoint {
            job: run.at.job.clone(),
            numbers: run.at.numbers + 1,
            sigma: cli.sigma.unwrap_or(run.at.sigma),
            ..Checkpoint::default()
        };
        run.write()?;
    }
    if let Some(path) = &cli.checkpoint {
        Checkpoint::remove(path)?;
    }
    Ok(run.teller.code())
}

/// The checkpoint of an earlier run of this job, where there is one; a place where none can be written is an error.
pub fn earlier(cli: &Cli, job: &str) -> Result<Option<Checkpoint>, Failure> {
    let Some(path) = &cli.checkpoint else {
        return Ok(None);
    };
    let found = Checkpoint::read(path, job)?;
    let place = Checkpoint::check_place(path);
    place.map_err(|error| Failure::Usage(format!("--checkpoint: {error}")))?;
    Ok(found)
}

/// The file of `--save`. A line that a kill has cut short is ended, so that the next one begins a line.
pub fn save_file(cli: &Cli) -> Result<Option<File>, Failure> {
    let open = |path: &PathBuf| {
        let file = File::options().append(true).create(true).open(path);
        file.and_then(|mut file| {
            if ends_within_a_line(path)? {
                file.write_all(b"\n")?;
            }
            Ok(file)
        })
        .map_err(|error| Failure::Usage(format!("--save {}: {error}", path.display())))
    };
    cli.save.as_ref().map(open).transpose()
}

/// Whether a file's last line has no end; pipes have none to look at.
fn ends_within_a_line(path: &Path) -> io::Result<bool> {
    let about = fs::metadata(path)?;
    if !about.is_file() || about.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    let mut file = File::open(path)?;
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// Appends lines to the file of `--save`, if there is one, and has the disk keep them.
pub fn save(file: Option<&mut File>, cli: &Cli, lines: &str) -> Result<(), Failure> {
    if let (Some(file), Some(path)) = (file, &cli.save) {
        let written = file.write_all(lines.as_bytes());
        let written = written.and_then(|()| file.sync_data());
        written.map_err(|source| Error::File {
            path: path.clone(),
            source,
        })?;
    }
    Ok(())
}

/// The description of a run. A run goes on only from a checkpoint with the same description.
fn job(cli: &Cli, (family, is_on_device): (Family, bool), numbers: &[BigUint]) -> String {
    // Digits that are done mean other bits where windows are others.
    let digits = match family == Family::Edwards && is_on_device {
        true => " in a device's digits of up to 11 bits",
        false => "",
    };
    format!(
        "{} family {family:?}{digits} b1 {:?} b2 {:?} curves {:?} digits {:?} sigma {:?}",
        described(numbers),
        cli.b1,
        cli.b2,
        cli.curves,
        cli.digits,
        cli.sigma
    )
}

/// What tells these numbers from others.
pub fn described(numbers: &[BigUint]) -> String {
    // FNV-1a: numbers may be long and many.
    let bytes = numbers
        .iter()
        .flat_map(|n| n.to_bytes_le().into_iter().chain([0, 255]));
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("{} numbers ({hash:016x})", numbers.len())
}

/// Stage 2 of these points: on devices, where it is for them and they can, or on the CPU.
pub fn stage2(
    (engine, is_on_device): (&Engine, bool),
    n: &BigUint,
    points: &[Point],
    Bounds { b1, b2, .. }: Bounds,
) -> Result<Stage2, Failure> {
    if is_on_device && let Some(stage) = Stage2::on_device(engine, n, points, b1, b2)? {
        return Ok(stage);
    }
    Ok(Stage2::new(n, points, b1, b2)?)
}

/// A sigma that nobody has chosen.
fn any_sigma() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    // Room for a hundred million curves below 2^32.
    2 + RandomState::new().hash_one(Instant::now()) % 4_190_000_000
}

/// A run, and how far it is.
struct Run<'a> {
    cli: &'a Cli,
    stop: &'a Stop,
    engine: Engine,
    family: Family,
    is_on_device: bool,
    save: Option<File>,
    at: Checkpoint,
    saved: Instant,
    shown: Instant,
    started: Instant,
    /// Curves of this process, for the rate.
    curves: u64,
    teller: Teller,
}

impl Run<'_> {
    /// Factors a number.
    fn number(&mut self, n: &BigUint, levels: &[Bounds]) -> Result<(), Failure> {
        let earlier = self.at.parts.iter().map(|part| part.parse().ok());
        let mut parts = match earlier.collect::<Option<Vec<_>>>() {
            Some(all) if all.iter().product::<BigUint>() == *n => Parts::of(&self.engine, &all)?,
            _ => Parts::new(&self.engine, n)?,
        };
        self.teller.begin(n, &parts)?;
        self.found(&parts);
        if self.at.first == 0 {
            self.at.first = self.at.sigma;
        }
        let mut bounds = levels[0];
        for (level, &of_level) in levels.iter().enumerate().skip(self.at.levels) {
            bounds = of_level;
            if parts.composites().is_empty() {
                break;
            }
            self.level(&mut parts, bounds)?;
            self.at.before += self.at.curves;
            (self.at.levels, self.at.curves) = (level + 1, 0);
        }
        self.told(n, &parts, bounds, self.at.before, self.at.first)
    }

    /// Runs the curves of a level.
    fn level(&mut self, parts: &mut Parts, bounds: Bounds) -> Result<(), Failure> {
        let scalar = scalar(bounds.b1);
        while self.at.curves < bounds.curves && !parts.composites().is_empty() {
            let left = bounds.curves - self.at.curves;
            // Those whose stage 1 a checkpoint has go on together.
            let earlier = self.at.stage.as_ref().and_then(Stage::numbers);
            let together = match earlier {
                Some(state) => state[0].len() as u64,
                None => self.together(parts, &scalar)?,
            };
            let count = left.min(together) as usize;
            for composite in parts.composites().to_vec() {
                self.curves_of(parts, &composite, bounds, &scalar, count)?;
            }
            self.at.curves += count as u64;
            self.at.sigma += count as u64;
            self.at.stage = None;
            self.curves += count as u64;
        }
        Ok(())
    }

    /// Curves of a batch: those that suit devices, which have room for them.
    fn together(&self, parts: &Parts, scalar: &BigUint) -> Result<u64, Failure> {
        if !self.is_on_device {
            return Ok(8 * bigint_cpu::threads() as u64);
        }
        let mut together = u64::MAX;
        for n in parts.composites() {
            let curves = Stage1::curves_on_device(&self.engine, n, self.family)?;
            let room = Stage1::room_on_device(&self.engine, n, self.family, scalar)?;
            let curves = curves.map_or(ON_DEVICE, |curves| curves as u64);
            together = together.min(curves).min(room as u64);
        }
        Ok(together)
    }

    /// Runs some curves on a part.
    fn curves_of(
        &mut self,
        parts: &mut Parts,
        n: &BigUint,
        bounds: Bounds,
        scalar: &BigUint,
        count: usize,
    ) -> Result<(), Failure> {
        let first = self.at.sigma;
        self.teller
            .curves(bounds, self.param(), first, count as u64)?;
        let mut stage = self.stage1(n, count, scalar)?;
        if let Some(earlier) = self.at.stage.take()
            && earlier.n == n.to_string()
            && earlier.first == self.at.sigma
            && let Some(state) = earlier.numbers()
        {
            stage.resume(earlier.done, &state)?;
        }
        let mut times = 64;
        while !stage.is_done() {
            let began = Instant::now();
            stage.advance(times)?;
            times = next(times, began.elapsed());
            let (done, total) = stage.progress();
            let wants_save = self.stop.failure().is_some() || self.is_time();
            if wants_save && self.cli.checkpoint.is_some() {
                self.keep(parts, n, &stage, done)?;
            }
            self.look(bounds, &format!("stage 1 {} %", 100 * done / total))?;
        }
        let points = self.after_stage1(parts, n, bounds, stage.finish()?)?;
        if bounds.b2 > bounds.b1 && !points.is_empty() {
            let mut stage = stage2((&self.engine, self.is_on_device), n, &points, bounds)?;
            while !stage.is_done() {
                stage.advance()?;
                let (done, total) = stage.progress();
                self.look(bounds, &format!("stage 2 {} %", 100 * done / total))?;
            }
            for divisor in stage.finish().into_iter().flatten() {
                self.split(parts, 2, &divisor)?;
            }
        }
        Ok(())
    }

    /// Stage 1 of the next curves: on devices, or on the CPU.
    fn stage1(&self, n: &BigUint, count: usize, scalar: &BigUint) -> Result<Stage1, Failure> {
        if self.is_on_device {
            let stage =
                Stage1::on_device(&self.engine, n, self.family, self.at.sigma, count, scalar)?;
            if let Some(stage) = stage {
                return Ok(stage);
            }
        }
        Ok(Stage1::new(n, self.family, self.at.sigma, count, scalar)?)
    }

    /// Takes factors, and saves points.
    fn after_stage1(
        &mut self,
        parts: &mut Parts,
        n: &BigUint,
        bounds: Bounds,
        outcomes: Vec<Outcome>,
    ) -> Result<Vec<Point>, Failure> {
        let mut points = Vec::new();
        let mut lines = String::new();
        for outcome in outcomes {
            match outcome {
                Outcome::Factor(divisor) => self.split(parts, 1, &divisor)?,
                Outcome::Point(point) => {
                    lines += &write_line(n, bounds.b1, &Saved::Point(point.clone()));
                    lines.push('\n');
                    points.push(point);
                }
            }
        }
        save(self.save.as_mut(), self.cli, &lines)?;
        Ok(points)
    }

    /// Makes use of a divisor that a stage, 1 or 2, found.
    fn split(&mut self, parts: &mut Parts, step: u8, divisor: &BigUint) -> Result<(), Failure> {
        if self.teller.split(&self.engine, parts, step, divisor)? {
            self.found(parts);
        }
        Ok(())
    }

    /// Notes the parts for the checkpoint.
    fn found(&mut self, parts: &Parts) {
        self.at.parts = parts.all().iter().map(ToString::to_string).collect();
    }

    /// Tells of a number that is done with.
    fn told(
        &self,
        n: &BigUint,
        parts: &Parts,
        bounds: Bounds,
        curves: u64,
        sigma: u64,
    ) -> Result<(), Failure> {
        let param = self.param();
        let run = serde_json::json!({
            "param": param, "b1": bounds.b1, "b2": bounds.b2, "curves": curves, "sigma": sigma,
        });
        let s = if curves == 1 { "" } else { "s" };
        let effort = format!("{curves} curve{s}; ");
        self.teller.end(n, parts, Some(run), &effort)
    }

    /// The name of the curves' family.
    fn param(&self) -> &'static str {
        match self.family {
            Family::Param3 => "3",
            Family::Edwards => "edwards",
        }
    }

    /// Whether a checkpoint is due.
    fn is_time(&self) -> bool {
        self.saved.elapsed() >= self.cli.report_every
    }

    /// Keeps how far stage 1 is.
    fn keep(
        &mut self,
        parts: &Parts,
        n: &BigUint,
        stage: &Stage1,
        done: usize,
    ) -> Result<(), Failure> {
        self.found(parts);
        self.at.stage = Some(Stage::new(n, self.at.sigma, done, &stage.state()?));
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

    /// Looks at signals and the clock: a checkpoint, a line of progress.
    fn look(&mut self, bounds: Bounds, stage: &str) -> Result<(), Failure> {
        let stopped = self.stop.failure();
        if stopped.is_some() || self.is_time() {
            self.write()?;
        }
        if let Some(failure) = stopped {
            return Err(failure);
        }
        if self.shown.elapsed() >= self.cli.report_every {
            self.shown = Instant::now();
            let (done, of) = (self.at.curves, bounds.curves);
            let rate = self.curves as f64 / self.started.elapsed().as_secs_f64();
            let chances = [20u32, 25, 30, 35, 40].into_iter().map(|digits| {
                let one = chance(self.family, digits.into(), bounds.b1, bounds.b2);
                let all = 100.0 * (1.0 - (1.0 - one).powf(done as f64));
                format!("{digits} digits {all:.0} %")
            });
            let chances: Vec<_> = chances.collect();
            say!(
                "B1 {} B2 {}: curves {done}/{of}, {stage}, {rate:.2} curves/s; found so far with a \
                 chance of: {}",
                bounds.b1,
                bounds.b2,
                chances.join(", ")
            );
        }
        Ok(())
    }
}

/// The bits to do at once, after `times` took this long.
pub fn next(times: usize, took: Duration) -> usize {
    match took {
        took if took < LOOK / 2 => (2 * times).min(1 << 24),
        took if took > LOOK => (times / 2).max(1),
        _ => times,
    }
}
