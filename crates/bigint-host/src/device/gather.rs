//! Numbers of batches in another order: each by its index, or in runs of neighbours, as slices and
//! concatenations have them.
//!
//! Where devices have all of them, they stay there: runs go by copies where limbs lie the same in
//! both batches, and all else by a kernel ([`bigint_core::gather`]). A batch that is gathered from
//! by indices has to be on one device as a whole, or goes to each of several, where so many
//! numbers are gathered that it is [little beside them](REPEATED); of runs, each device copies
//! those that it has. Else the host puts them in order.

use crate::Error;
use crate::common::device::{Buffer, Device};
use crate::common::limbs;
use crate::device::part::Part;
use crate::engine::inner::Inner;
use crate::values::made::Made;
use crate::values::node::{Node, Operands};
use bigint_core::gather::GatherArguments;
use bigint_core::specialization::Specialization;
use bigint_core::{Layout, Limb, MatrixArgument, Shape};
use bigint_cpu::zeroed;
use std::ops::Range;
use std::sync::Arc;

/// A batch from which each number is gathered so often, on average, is sent to every device that
/// shares the work: otherwise as many limbs would come from there as operands.
pub(crate) const REPEATED: usize = 2;

/// Limbs of which buffers begin at multiples.
const ALIGNED: usize = 64;

/// A batch made of numbers of other batches.
#[derive(Clone, Debug)]
pub(crate) struct Gather {
    /// The result's shape.
    pub shape: Shape,
    pub order: Order,
    /// Which limbs of numbers are meant, and where they go.
    pub window: Window,
}

impl Gather {
    /// All numbers of one batch, in their order.
    pub fn all(shape: Shape, window: Window) -> Self {
        let numbers = 0..shape.count;
        let run = Run {
            operand: 0,
            numbers,
        };
        let order = Order::Runs(vec![run]);
        Gather {
            shape,
            order,
            window,
        }
    }
}

/// Limb `to + i` of a number of the result is limb `from + i` of the operand's; those below `to`,
/// and those that the operand does not have, are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Window {
    pub from: usize,
    pub to: usize,
}

/// The order in which numbers are taken.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    /// Numbers of the one operand, by indices that are all in it.
    Indices(Vec<Limb>),
    /// Runs, one after another.
    Runs(Vec<Run>),
}

/// Consecutive numbers of an operand.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub operand: usize,
    pub numbers: Range<usize>,
}

/// A part of a run that a device has.
struct Piece {
    device: Arc<dyn Device>,
    buffer: Arc<Buffer>,
    operand: usize,
    /// The first of the wanted numbers in the buffer.
    first: usize,
    /// The number of numbers in the buffer.
    of: usize,
    /// The places of these numbers in the result.
    to: Range<usize>,
}

impl Gather {
    /// The range of numbers that each device can gather. None where some numbers are not on
    /// devices, or where they are so scattered that the result would have more parts than there are
    /// devices. The whole takes one device `work` picoseconds.
    pub fn shares<'a>(
        &self,
        engine: &'a Inner,
        operands: Operands<'_>,
        work: f64,
    ) -> Vec<(&'a Arc<dyn Device>, Range<usize>)> {
        let count = self.shape.count;
        let usable = |device: &Arc<dyn Device>| {
            let mut devices = engine.devices();
            devices.find(|usable| Arc::ptr_eq(usable, device))
        };
        let mut shares: Vec<(&Arc<dyn Device>, Range<usize>)> = Vec::new();
        if let (Order::Indices(_), true) = (&self.order, count > 0) {
            let from = &operands[0];
            let by_work = engine.shares(count, work);
            let is_little = count >= from.shape.count.saturating_mul(REPEATED);
            if by_work.len() > 1 && is_little && from.host.get().is_some() {
                return by_work;
            }
            let mut devices = engine.devices();
            let device = devices.find(|device| whole(from, device).is_some());
            shares.extend(device.map(|device| (device, 0..count)));
            return shares;
        }
        for piece in self.pieces(operands, 0..count, |device| usable(device).is_some()) {
            let device = usable(&piece.device).expect("only such were asked for");
            match shares.last_mut() {
                Some((last, numbers)) if Arc::ptr_eq(last, device) => numbers.end = piece.to.end,
                _ => shares.push((device, piece.to)),
            }
        }
        match shares.len() <= engine.devices().count() {
            true => shares,
            false => Vec::new(),
        }
    }

    /// The runs that make these numbers of the result, cut where devices `asked` have them, in the
    /// longest such pieces; none where some number is on none of these devices.
    fn pieces(
        &self,
        operands: Operands<'_>,
        numbers: Range<usize>,
        asked: impl Fn(&Arc<dyn Device>) -> bool,
    ) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::new();
        for (run, mut to) in self.runs(numbers) {
            let shares = operands[run.operand].shares();
            let mut at = run.numbers.start;
            while at < run.numbers.end {
                let has = shares
                    .iter()
                    .filter(|share| share.numbers.contains(&at) && asked(share.buffer.device()));
                // A device goes on where it can.
                let last = pieces.last().map(|piece| &piece.device);
                let Some(share) = has.max_by_key(|share| {
                    let goes_on = last.is_some_and(|last| share.buffer.is_of(last));
                    (goes_on, share.numbers.end)
                }) else {
                    return Vec::new();
                };
                let count = share.numbers.end.min(run.numbers.end) - at;
                pieces.push(Piece {
                    device: Arc::clone(share.buffer.device()),
                    buffer: Arc::clone(&share.buffer),
                    operand: run.operand,
                    first: at - share.numbers.start,
                    of: share.numbers.len(),
                    to: to.start..to.start + count,
                });
                at += count;
                to.start += count;
            }
        }
        pieces
    }

    /// The parts of runs that make these numbers of the result, each with its range there.
    fn runs(&self, numbers: Range<usize>) -> Vec<(Run, Range<usize>)> {
        let Order::Runs(runs) = &self.order else {
            return Vec::new();
        };
        let (mut parts, mut start) = (Vec::new(), 0);
        for run in runs {
            let end = start + run.numbers.len();
            let to = numbers.start.max(start)..numbers.end.min(end);
            if to.start < to.end {
                let first = run.numbers.start + (to.start - start);
                let part = Run {
                    operand: run.operand,
                    numbers: first..first + to.len(),
                };
                parts.push((part, to));
            }
            start = end;
        }
        parts
    }

    /// Neighbours that are half of a device's buffer or more, where they are.
    fn view(
        &self,
        device: &Arc<dyn Device>,
        operands: Operands<'_>,
        numbers: Range<usize>,
    ) -> Option<Buffer> {
        let pieces = self.pieces(operands, numbers, |of| Arc::ptr_eq(of, device));
        let ([piece], true) = (&pieces[..], self.window == Window::default()) else {
            return None;
        };
        let of = operands[piece.operand].shape;
        let is_contiguous = |shape: Shape| shape.layout == Layout::Contiguous;
        let are_rows =
            is_contiguous(of) && is_contiguous(self.shape) && of.width == self.shape.width;
        let limbs = piece.first * of.width..(piece.first + piece.to.len()) * of.width;
        let is_much = 2 * limbs.len() >= piece.buffer.limbs() && piece.buffer.viewed().is_none();
        let is_aligned = limbs.start.is_multiple_of(ALIGNED);
        (are_rows && is_much && is_aligned).then(|| Buffer::view(&piece.buffer, limbs))
    }

    /// Gathers numbers `numbers` of the result on a device that has the operands; otherwise
    /// nothing.
    pub fn on_device(
        &self,
        device: &Arc<dyn Device>,
        operands: Operands<'_>,
        numbers: Range<usize>,
    ) -> Result<Option<Made>, Error> {
        let shape = Shape {
            count: numbers.len(),
            ..self.shape
        };
        if let Some(view) = self.view(device, operands, numbers.clone()) {
            return Ok(Some(Made::of(shape, view)));
        }
        let strides = shape.strides();
        let mut made = device.allocate(shape.limbs())?;
        let launch = |made: &Buffer, given: &[&Buffer], mut arguments: GatherArguments| {
            let launch = arguments.launch();
            let buffers: Vec<&Buffer> = given.iter().copied().chain([made]).collect();
            let entry = arguments.entry_point();
            device.launch(entry, Specialization::None, launch, &arguments, &buffers)
        };
        if let Order::Indices(indices) = &self.order {
            let (from, of) = (&operands[0], operands[0].shape);
            let table = match from.host.get() {
                Some(_) => Some(from.resident(device, 0..of.count)?),
                None => whole(from, device),
            };
            let Some(table) = table else {
                return Ok(None);
            };
            let indices = device.upload(&indices[numbers])?;
            let arguments = GatherArguments {
                r: MatrixArgument::new(made.address(), shape.width, strides),
                a: MatrixArgument::new(table.address(), of.width, of.strides()),
                indices: indices.address(),
                numbers: of.count as u64,
                count: shape.count as u64,
                workers: 0,
            };
            launch(&made, &[&*table, &indices], arguments)?;
            return Ok(Some(Made::of(shape, made)));
        }
        let pieces = self.pieces(operands, numbers.clone(), |of| Arc::ptr_eq(of, device));
        if pieces.is_empty() {
            return Ok(None);
        }
        for piece in pieces {
            let to = piece.to.start - numbers.start;
            let of = Shape {
                count: piece.of,
                ..operands[piece.operand].shape
            };
            let is_contiguous = |shape: Shape| shape.layout == Layout::Contiguous;
            let is_whole = of.width == shape.width && self.window == Window::default();
            if is_contiguous(of) && is_contiguous(shape) && is_whole {
                let limbs = piece.first * of.width..(piece.first + piece.to.len()) * of.width;
                device.copy_part((&mut made, to * of.width), (&piece.buffer, limbs))?;
                continue;
            }
            // Limbs of numbers from the first on; no limbs where there are none.
            let matrix = |buffer: &Buffer, shape: Shape, first: usize, limbs: Range<usize>| {
                let at = match limbs.is_empty() {
                    true => 0,
                    false => (size_of::<Limb>() * shape.index(first, limbs.start)) as u64,
                };
                MatrixArgument::new(buffer.address() + at, limbs.len(), shape.strides())
            };
            let Window { from, to: lift } = self.window;
            let parts = [(lift..shape.width, from..of.width), (0..lift, 0..0)];
            for (r, a) in parts.into_iter().filter(|(r, _)| !r.is_empty()) {
                let arguments = GatherArguments {
                    r: matrix(&made, shape, to, r),
                    a: matrix(&piece.buffer, of, piece.first, a),
                    indices: 0,
                    numbers: piece.to.len() as u64,
                    count: piece.to.len() as u64,
                    workers: 0,
                };
                launch(&made, &[&*piece.buffer], arguments)?;
            }
        }
        Ok(Some(Made::of(shape, made)))
    }

    /// The limbs of numbers `numbers` of the result, put in order on the host.
    pub fn limbs(
        &self,
        engine: &Inner,
        operands: Operands<'_>,
        numbers: Range<usize>,
    ) -> Result<Vec<Limb>, Error> {
        if numbers.is_empty() {
            return Ok(Vec::new());
        }
        let given = operands.iter().map(|operand| operand.limbs());
        let given = given.collect::<Result<Vec<_>, _>>()?;
        let runs = self.runs(numbers.clone());
        let shape = Shape {
            count: numbers.len(),
            ..self.shape
        };
        limbs::build(&engine.pool, shape, |i, row| {
            let number = numbers.start + i;
            let (operand, index) = match &self.order {
                Order::Indices(indices) => (0, indices[number] as usize),
                Order::Runs(_) => {
                    let (run, to) = &runs[runs.partition_point(|(_, to)| to.end <= number)];
                    (run.operand, run.numbers.start + (number - to.start))
                }
            };
            let of = operands[operand].shape;
            let Window { from, to } = self.window;
            let (below, row) = row.split_at_mut(to.min(row.len()));
            let width = of.width.saturating_sub(from).min(row.len());
            let (number, above) = row.split_at_mut(width);
            match of.layout {
                Layout::Contiguous if width > 0 => {
                    let limbs = &given[operand][of.index(index, from)..][..width];
                    match numbers.len() {
                        1 => bigint_cpu::copy(number, limbs),
                        _ => number.copy_from_slice(limbs),
                    }
                }
                _ => {
                    for (at, limb) in number.iter_mut().enumerate() {
                        *limb = given[operand][of.index(index, from + at)];
                    }
                }
            }
            below.fill(0);
            above.fill(0);
        })
    }
}

/// Copies those of a device's `numbers` numbers that have these indices, or each number, with zeros above them where
/// results are wider.
pub(super) fn copy(
    device: &Arc<dyn Device>,
    r: Part<'_>,
    (x, numbers): (Part<'_>, usize),
    count: usize,
    indices: Option<&Buffer>,
) -> Result<(), Error> {
    let mut arguments = GatherArguments {
        r: r.limbs,
        a: x.limbs,
        indices: indices.map_or(0, Buffer::address),
        numbers: numbers as u64,
        count: count as u64,
        workers: 0,
    };
    let launch = arguments.launch();
    let buffers: Vec<&Buffer> = [r.buffer, x.buffer].into_iter().chain(indices).collect();
    let entry = arguments.entry_point();
    Ok(device.launch(entry, Specialization::None, launch, &arguments, &buffers)?)
}

/// These limbs of all numbers of contiguous batches, brought to the host by one copy, where the device has all of them.
pub(crate) fn brought(
    device: &Arc<dyn Device>,
    windows: &[(&Node, Range<usize>)],
) -> Result<Option<Vec<Vec<Limb>>>, Error> {
    let there = windows.iter().map(|(node, _)| whole(node, device));
    let Some(there) = there.collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let shape = |(node, window): &(&Node, Range<usize>)| Shape {
        width: window.len(),
        ..node.shape
    };
    let all = windows.iter().map(|window| shape(window).limbs()).sum();
    let together = device.allocate(all)?;
    let mut start = 0;
    for (window, buffer) in windows.iter().zip(&there) {
        let (node, count) = (window.0, window.0.shape.count);
        let limbs = Part::of_operand(node, buffer, count).at(window.1.clone());
        let place = Part::of_shape_at(&together, start, shape(window));
        copy(device, place, (limbs, count), count, None)?;
        start += shape(window).limbs();
    }
    let mut brought: Vec<Limb> = zeroed(all)?;
    device.download(&together, &mut brought)?;
    let mut rest = &brought[..];
    let parts = windows.iter().map(|window| {
        let (part, others) = rest.split_at(shape(window).limbs());
        rest = others;
        part.to_vec()
    });
    Ok(Some(parts.collect()))
}

/// All numbers of a batch, if a device has them in one buffer.
fn whole(node: &Node, device: &Arc<dyn Device>) -> Option<Arc<Buffer>> {
    node.resident_on(device, &(0..node.shape.count))
}
