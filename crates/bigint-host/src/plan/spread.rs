//! One task over every device of an engine.
//!
//! 1. [`shares`]: each device has its share of the numbers, as large as its rate says, and
//!    makes of it a share of the results, which stays in its memory. As many devices share
//!    them as the work is worth ([`work`](crate::plan::work)), or as have shares of the operands already.
//! 2. What a device cannot do, because it fails or has not the memory, is done
//!    [in pieces](in_pieces), by whoever is ready for the next one: a piece that does not
//!    fit is halved, a device that fails is left out. The results are on the host then.
//! 3. What no device can do, the CPU does, where the engine may use it.
//!
//! For the engine `auto` the CPU also computes what devices are not ready for yet, in pieces until
//! they are ([`choose`](crate::plan::readiness)).

use crate::Error;
use crate::common::device::Device;
use crate::common::limbs;
use crate::common::threads::{each, lock};
use crate::engine::inner::Inner;
use crate::engine::start::{self, ended, in_background};
use crate::plan::readiness::Choice;
use crate::plan::task::Task;
use crate::values::made::{Computed, Made};
use crate::values::node::{Node, Operands, Share};
use bigint_core::{Layout, Limb, Shape};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Computes a task on the engine's devices, and on the CPU where none can be used.
pub(crate) fn compute(
    engine: &Arc<Inner>,
    task: &Task,
    operands: Operands<'_>,
) -> Result<Computed, Error> {
    match engine.choice(task, operands) {
        Choice::Cpu => {
            return engine.timed(|| task.on_host(engine, operands, 0..task.count()));
        }
        Choice::Both if becomes_ready(engine, task, operands, Duration::ZERO) => {}
        Choice::Wait(patience) if becomes_ready(engine, task, operands, patience) => {}
        Choice::Both | Choice::Wait(_) if engine.cpu_ms(task, operands) < 2.0 * PIECE_MS => {
            return engine.timed(|| task.on_host(engine, operands, 0..task.count()));
        }
        Choice::Both | Choice::Wait(_) => {
            let parts = vec![(0..task.count(), Of::Nobody)];
            return in_pieces(engine, task, operands, parts, true);
        }
        Choice::Devices => {}
    }
    let shares = shares(engine, task, operands);
    if shares.is_empty() {
        return task.on_host(engine, operands, 0..task.count());
    }
    let on_device = |(device, numbers): (&Arc<dyn Device>, Range<usize>)| {
        task.on_device(engine, device, operands, numbers)
    };
    let is_there = |(device, numbers): &(&Arc<dyn Device>, Range<usize>)| {
        let mut operands = operands.iter();
        operands.all(|operand| operand.resident_on(device, numbers).is_some())
    };
    // A launch that waits for nobody takes less than a thread.
    let made = match shares.len() == 1 || !task.waits() && shares.iter().all(is_there) {
        true => shares.iter().cloned().map(on_device).collect(),
        false => each(shares.clone(), on_device),
    };
    let mut parts = Vec::with_capacity(shares.len());
    for ((device, numbers), made) in shares.into_iter().zip(made) {
        let of = match made {
            Ok(Some(made)) => Of::Device(Arc::clone(device), made),
            Ok(None) => Of::Cpu,
            Err(error) => {
                match error.is_of_device_memory() {
                    true => engine.warn(format!("{error}; computing in smaller pieces")),
                    false => engine.hand_over(error)?,
                }
                Of::Nobody
            }
        };
        parts.push((numbers, of));
    }
    if !parts.iter().all(|(_, of)| matches!(of, Of::Device(..))) {
        return in_pieces(engine, task, operands, parts, false);
    }
    let computed = resident(engine, task, operands, parts);
    computed.nodes().try_for_each(Node::save)?;
    Ok(computed)
}

/// The least time in milliseconds that the CPU computes piece by piece.
const PIECE_MS: f64 = 40.0;

/// The time in milliseconds for which a core computes before it looks whether devices are ready.
const ROUND_MS: f64 = 4.0;

/// The numbers that a core computes at a time in SIMD lanes: a part of them takes as long as all.
const ROUND_OF_CORE: usize = 16;

/// The cores that are left to the driver while it starts.
const CORES_OF_DRIVER: usize = 1;

/// Whether devices can begin with a task, now or before so much time has passed. Has them made ready
/// in the background.
fn becomes_ready(
    engine: &Arc<Inner>,
    task: &Task,
    operands: Operands<'_>,
    patience: Duration,
) -> bool {
    let begun = Instant::now();
    let all = Arc::new(AtomicUsize::new(task.count()));
    loop {
        let ended = ended();
        if make_ready(engine, task, operands, &all) {
            return true;
        }
        while start::ended() == ended {
            if begun.elapsed() >= patience {
                return false;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Whether devices can begin with the numbers of a task that are left; if not, has them made ready
/// in the background.
fn make_ready(
    engine: &Arc<Inner>,
    task: &Task,
    operands: Operands<'_>,
    left: &Arc<AtomicUsize>,
) -> bool {
    engine.devices.look();
    if engine.devices.are_asleep() {
        let (task, operands, left) = (task.clone(), operands.to_vec(), Arc::clone(left));
        engine.open_in_background(move |engine, devices| {
            // As many as are left when they are open: of few the kernel may be another.
            let count = left.load(Ordering::Relaxed).max(1);
            let count = count.div_ceil(devices.len().max(1));
            each(devices.to_vec(), |device| {
                for (entry, known) in task.modules(engine, device.kind(), &operands, count) {
                    if device.begins_module(entry, known) {
                        device.load(entry, known);
                    }
                }
            });
        });
        return false;
    }
    let left = left.load(Ordering::Relaxed);
    let shares: Vec<_> = match left == task.count() {
        true => shares(engine, task, operands)
            .into_iter()
            .map(|(device, numbers)| (device, numbers.len()))
            .collect(),
        // All of them take part, as in pieces.
        false => {
            let most = left.div_ceil(engine.devices().count().max(1));
            engine.devices().map(|device| (device, most)).collect()
        }
    };
    let is_ready = |&(device, count): &(&Arc<dyn Device>, usize)| {
        if device.is_loading() {
            return false;
        }
        let mut is_ready = true;
        for (entry, known) in task.modules(engine, device.kind(), operands, count) {
            if device.begins_module(entry, known) {
                let device = Arc::clone(device);
                in_background(move || device.load(entry, known));
            }
            is_ready &= device.has_module(entry, known);
        }
        is_ready
    };
    // Each of them is to begin.
    shares.iter().filter(|share| !is_ready(share)).count() == 0
}

/// The range of a task's numbers for each device: the numbers of the longest operand that it has,
/// unless more devices would save more time than moving the operands takes.
pub(crate) fn shares<'a>(
    engine: &'a Inner,
    task: &Task,
    operands: Operands<'_>,
) -> Vec<(&'a Arc<dyn Device>, Range<usize>)> {
    let (start, count) = (&engine.tuning().start, task.count());
    let work = task.work(&start.device, operands);
    if let Task::Gather(gather) = task {
        return gather.shares(engine, operands, work);
    }
    let by_work = engine.shares(count, work);
    let columns = || operands.iter().filter(|node| node.shape.count == count);
    let Some(longest) = columns().max_by_key(|node| node.shape.width) else {
        return by_work;
    };
    let mut there = Vec::new();
    for share in longest.shares() {
        let mut devices = engine.devices();
        if let Some(device) = devices.find(|device| share.buffer.is_of(device)) {
            there.push((device, share.numbers));
        }
    }
    there.sort_by_key(|(_, numbers)| numbers.start);
    let mut next = 0;
    let is_whole = there.iter().all(|(_, numbers)| {
        let follows = numbers.start == next && !numbers.is_empty();
        next = numbers.end;
        follows
    });
    let limbs = columns().map(|node| count.saturating_mul(node.shape.width));
    match is_whole && next == count {
        true if by_work.len() <= there.len() => there,
        true if !start.repays_moving(work, by_work.len(), limbs.sum()) => there,
        _ => by_work,
    }
}

/// The results of some numbers of a task.
enum Of {
    Device(Arc<dyn Device>, Made),
    /// None yet: the CPU will compute them.
    Cpu,
    Nobody,
}

/// Results that are in the memory of devices.
fn resident(
    engine: &Arc<Inner>,
    task: &Task,
    operands: Operands<'_>,
    parts: Vec<(Range<usize>, Of)>,
) -> Computed {
    let shapes = task.shapes();
    let mut shares: Vec<Vec<Share>> = shapes.iter().map(|_| Vec::new()).collect();
    let mut first = None;
    for (numbers, of) in parts {
        if let Of::Device(_, made) = of {
            first = first.or(made.first);
            for (shares, (_, buffer)) in shares.iter_mut().zip(made.buffers) {
                shares.push(Share {
                    numbers: numbers.clone(),
                    buffer: Arc::new(buffer),
                });
            }
        }
    }
    let nodes = shapes.into_iter().zip(shares).enumerate();
    let nodes = nodes.map(|(index, (shape, shares))| {
        let recipe = engine.remembers().then(|| task.recipe(index, operands));
        Node::on_devices(engine, shape, shares, recipe)
    });
    task.computed(nodes.collect(), first)
}

/// The room on the host for the results of some numbers, number after number.
struct Rows<'a> {
    numbers: Range<usize>,
    /// The room in each batch of results.
    limbs: Vec<&'a mut [Limb]>,
}

impl<'a> Rows<'a> {
    /// Splits the room for the first `count` numbers off.
    fn split(&mut self, count: usize) -> Rows<'a> {
        let (start, total) = (self.numbers.start, self.numbers.len());
        let first = self.limbs.iter_mut().map(|limbs| {
            let width = limbs.len() / total.max(1);
            let (first, rest) = std::mem::take(limbs).split_at_mut(count * width);
            *limbs = rest;
            first
        });
        let limbs = first.collect();
        self.numbers.start += count;
        Rows {
            numbers: start..start + count,
            limbs,
        }
    }

    /// Brings a device's results here.
    fn bring(
        &mut self,
        engine: &Inner,
        device: &Arc<dyn Device>,
        made: &Made,
    ) -> Result<(), Error> {
        for (to, (shape, buffer)) in self.limbs.iter_mut().zip(&made.buffers) {
            if shape.layout == Layout::Contiguous {
                device.download(buffer, to)?;
                continue;
            }
            let mut limbs = engine.pool.take(buffer.limbs())?;
            device.clear_padding(buffer, *shape)?;
            device.download(buffer, &mut limbs)?;
            let mut limbs = limbs::to_layout(&engine.pool, limbs, *shape, Layout::Contiguous)?;
            to.copy_from_slice(&limbs);
            engine.pool.wipe(&mut limbs);
        }
        Ok(())
    }

    /// Copies the CPU's results here.
    fn copy(&mut self, made: &Computed) -> Result<(), Error> {
        for (to, node) in self.limbs.iter_mut().zip(made.nodes()) {
            let limbs = node.limbs()?;
            if node.shape.layout == Layout::Contiguous {
                to.copy_from_slice(limbs);
                continue;
            }
            let (pool, layout) = (&node.engine.pool, Layout::Contiguous);
            let mut limbs = limbs::to_layout(pool, limbs::copy(limbs)?, node.shape, layout)?;
            to.copy_from_slice(&limbs);
            pool.wipe(&mut limbs);
        }
        Ok(())
    }
}

/// Finishes a task of which parts are computed: the rest piece by piece, by the CPU until devices
/// are ready if it `begins`. All results are on the host then.
fn in_pieces(
    engine: &Arc<Inner>,
    task: &Task,
    operands: Operands<'_>,
    parts: Vec<(Range<usize>, Of)>,
    begins: bool,
) -> Result<Computed, Error> {
    for operand in operands {
        operand.limbs()?;
        if !begins {
            // The operands' own device memory is the first to go.
            operand.take_shares();
        }
    }
    let shapes = task.shapes();
    let rows_of = |shape: &Shape| Shape {
        layout: Layout::Contiguous,
        ..*shape
    };
    let contiguous: Vec<Shape> = shapes.iter().map(rows_of).collect();
    let mut made = engine.memory(&contiguous)?;
    let mut rest = Rows {
        numbers: 0..task.count(),
        limbs: made.iter_mut().map(Vec::as_mut_slice).collect(),
    };
    let (mut left, mut for_cpu, mut firsts) = (Vec::new(), Vec::new(), Vec::new());
    for (numbers, of) in parts {
        let mut rows = rest.split(numbers.len());
        match of {
            Of::Nobody => left.push(rows),
            Of::Cpu => for_cpu.push(rows),
            Of::Device(device, made) => match rows.bring(engine, &device, &made) {
                Ok(()) => firsts.extend(made.first),
                Err(error) => {
                    engine.hand_over(error)?;
                    left.push(rows);
                }
            },
        }
    }
    let queue = Queue {
        engine,
        task,
        operands,
        left: Mutex::new(left),
        for_cpu: Mutex::new(for_cpu),
        firsts: Mutex::new(firsts),
    };
    if begins {
        queue.begin()?;
    }
    let mut devices: Vec<&Arc<dyn Device>> = engine.devices().collect();
    let pieces = devices.len().max(1) * if begins { 1 } else { 2 };
    let most = queue.numbers().div_ceil(pieces).max(1);
    while !devices.is_empty() && queue.numbers() > 0 {
        let ended = each(devices.clone(), |device| queue.work(device, most));
        let mut failed = Vec::new();
        let mut ready = Vec::new();
        for (device, ended) in devices.into_iter().zip(ended) {
            match ended {
                Ok(()) => ready.push(device),
                Err(error) => failed.push(error),
            }
        }
        devices = ready;
        for error in failed {
            engine.hand_over(error)?;
        }
    }
    let Queue {
        left,
        for_cpu,
        firsts,
        ..
    } = queue;
    let of_all =
        [left, for_cpu].map(|rows| rows.into_inner().unwrap_or_else(PoisonError::into_inner));
    let mut firsts = firsts.into_inner().unwrap_or_else(PoisonError::into_inner);
    for mut rows in of_all.into_iter().flatten() {
        let computed = task.on_host(engine, operands, rows.numbers.clone())?;
        firsts.extend(computed.first);
        rows.copy(&computed)?;
    }
    let nodes = made.into_iter().zip(contiguous).zip(&shapes);
    let nodes = nodes.map(|((limbs, from), shape)| {
        let limbs = limbs::to_layout(&engine.pool, limbs, from, shape.layout)?;
        Ok(Node::on_host(engine, *shape, limbs))
    });
    let nodes = nodes.collect::<Result<Vec<_>, Error>>()?;
    Ok(task.computed(nodes, firsts.into_iter().min()))
}

/// The numbers that wait for a device; each takes as many as it can hold.
struct Queue<'a, 'o> {
    engine: &'a Arc<Inner>,
    task: &'o Task,
    operands: Operands<'o>,
    left: Mutex<Vec<Rows<'a>>>,
    for_cpu: Mutex<Vec<Rows<'a>>>,
    firsts: Mutex<Vec<usize>>,
}

impl<'a> Queue<'a, '_> {
    /// The number of numbers that wait.
    fn numbers(&self) -> usize {
        lock(&self.left).iter().map(|rows| rows.numbers.len()).sum()
    }

    /// Takes the next numbers, at most `most`.
    fn take(&self, most: usize) -> Option<Rows<'a>> {
        let mut left = lock(&self.left);
        let last = left.last_mut()?;
        match last.numbers.len() > most {
            true => Some(last.split(most)),
            false => left.pop(),
        }
    }

    /// Has the CPU compute until the devices are ready for the rest.
    fn begin(&self) -> Result<(), Error> {
        let Queue {
            engine,
            task,
            operands,
            ..
        } = *self;
        let left = Arc::new(AtomicUsize::new(task.count()));
        let of_core = task.count() as f64
            / engine.cpu_ms(task, operands).max(PIECE_MS)
            / bigint_cpu::threads() as f64;
        let round = whole_rounds(of_core * ROUND_MS, ROUND_OF_CORE);
        loop {
            let ended = ended();
            if self.numbers() == 0 || make_ready(engine, task, operands, &left) {
                return Ok(());
            }
            engine.timed(|| self.on_cores(round, &left, ended))?;
        }
    }

    /// Has cores compute, each `round` numbers at a time, until nothing waits or more than `ended`
    /// threads of the background have ended.
    fn on_cores(&self, round: usize, left: &AtomicUsize, ended: usize) -> Result<(), Error> {
        // Numbers are taken in order: of several errors the first number's is known at the end.
        let failed: Mutex<Option<(usize, Error)>> = Mutex::new(None);
        let cores = bigint_cpu::threads().saturating_sub(CORES_OF_DRIVER).max(1);
        bigint_cpu::share(0..cores, cores, |_| {
            while start::ended() == ended
                && lock(&failed).is_none()
                && let Some(rows) = self.take(round)
            {
                left.store(self.numbers(), Ordering::Relaxed);
                let first = rows.numbers.start;
                if let Err(error) = self.on_core(rows) {
                    let mut failed = lock(&failed);
                    if failed.as_ref().is_none_or(|&(other, _)| first < other) {
                        *failed = Some((first, error));
                    }
                }
            }
        });
        let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed.map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Computes some of the numbers on the CPU.
    fn on_core(&self, mut rows: Rows<'_>) -> Result<(), Error> {
        let numbers = rows.numbers.clone();
        let computed = self.task.on_host(self.engine, self.operands, numbers)?;
        lock(&self.firsts).extend(computed.first);
        rows.copy(&computed)
    }

    /// Has a device compute until no number waits, in pieces of at most `most` numbers; puts back
    /// what it fails to compute.
    fn work(&self, device: &Arc<dyn Device>, mut most: usize) -> Result<(), Error> {
        let mut has_waited = false;
        while let Some(mut rows) = self.take(most) {
            let numbers = rows.numbers.clone();
            let made = self
                .task
                .on_device(self.engine, device, self.operands, numbers);
            let made = made.and_then(|made| {
                made.map(|made| rows.bring(self.engine, device, &made).map(|()| made.first))
                    .transpose()
            });
            match made {
                Ok(Some(first)) => lock(&self.firsts).extend(first),
                Ok(None) => lock(&self.for_cpu).push(rows),
                Err(error) => {
                    let count = rows.numbers.len();
                    lock(&self.left).push(rows);
                    if !error.is_of_device_memory() || has_waited && count == 1 {
                        return Err(error);
                    }
                    if !has_waited {
                        // What was freed is there when all before it is done.
                        device.wait()?;
                        has_waited = true;
                        continue;
                    }
                    most = count.div_ceil(2);
                }
            }
            has_waited = false;
        }
        Ok(())
    }
}

/// The number of whole rounds that is nearest to so many numbers, at least one round.
fn whole_rounds(numbers: f64, round: usize) -> usize {
    let rounds = (numbers / round as f64).round().max(1.0);
    rounds as usize * round
}

#[cfg(test)]
mod tests {
    use super::whole_rounds;

    #[test]
    fn a_core_takes_whole_rounds_at_a_time() {
        for (numbers, taken) in [(3.0, 256), (280.0, 256), (400.0, 512), (5000.0, 5120)] {
            assert_eq!(whole_rounds(numbers, 256), taken);
        }
    }
}
