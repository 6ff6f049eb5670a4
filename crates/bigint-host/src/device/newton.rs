//! Newton's steps for reciprocals and for inverse roots ([`operations::newton`](crate::operations::newton)), one after the
//! other on one device: the host waits for none of them, and what a step cuts off or shifts by limbs is not copied.
//!
//! One number's `x` of `h + 1` limbs stands at the top of memory as wide as the last result, and there `x B^(k-h)` is what begins
//! at a lower limb. Of many numbers, whose results lie without gaps, `x` is copied there. A 4 in the lowest limb, and zeros up
//! to `x`, make `x B^(k-h) + 4` of it, from which a step takes `x e / B^h`.
//!
//! **Launches** of a step: those of two products and of a difference, and the 4; for roots those of a square and a shift, too.

use crate::Error;
use crate::common::device::{Buffer, Device};
use crate::device::gather::{self, Gather, Window};
use crate::device::grid;
use crate::device::job::{multiply, run};
use crate::device::launches::Multiplier;
use crate::device::ntt;
use crate::device::part::Part;
use crate::device::transform::Transform;
use crate::engine::inner::Inner;
use crate::host;
use crate::values::made::Made;
use crate::values::node::{Node, Operands};
use crate::{BackEnd, Options};
use bigint_core::transform::ntt::NttPlan;
use bigint_core::{Arguments, LIMB_BITS, Layout, Limb, Operation, Shape};
use bigint_cpu::zeroed;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// What a step adds, so that approximations are always too great.
const MORE: Limb = 4;

/// Reciprocals or inverse roots, `X` of `k + 1` limbs each, of numbers `d`, whose top bits are set. The operands are
/// approximations of the first length, and `d`.
#[derive(Clone, Debug)]
pub(crate) struct Newton {
    pub by: Operations,
    pub count: usize,
    /// The limbs that an approximation has behind the point: from those of the first, which is there, to `k`.
    pub lengths: Vec<usize>,
}

/// The operations that approximations are made by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operations {
    pub product: Operation,
    pub difference: Operation,
    pub shift: Operation,
    pub quotient: Operation,
    /// What makes `X` near `B^k / sqrt(D)`, else it is near `B^k / D`.
    pub root: Option<Operation>,
}

/// A step from `h` limbs to `k`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub h: usize,
    pub k: usize,
    /// What squares `y`, and what halves that which a step takes off.
    pub of_root: Option<[Multiplier; 2]>,
    pub excess: Excess,
    /// What multiplies by the excess.
    pub product: Multiplier,
}

/// How the excess is computed, `e` of `k - h + 1` limbs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Excess {
    /// As the [middle](crate::device::middle) of a product.
    Middle(Transform),
    Whole(Multiplier),
}

impl Newton {
    /// The shape of the result.
    pub fn shape(&self) -> Shape {
        Shape::new(self.count, self.k() + 1, Layout::Contiguous)
    }

    fn k(&self) -> usize {
        self.lengths.last().copied().unwrap_or_default()
    }

    /// The approximations of numbers `numbers` on a device, by these steps.
    pub fn on_device(
        &self,
        device: &Arc<dyn Device>,
        operands: Operands<'_>,
        numbers: Range<usize>,
        steps: &[Step],
    ) -> Result<Made, Error> {
        let started = Instant::now();
        let count = numbers.len();
        let shape = Shape {
            count,
            ..self.shape()
        };
        let given = operands.iter();
        let given = given.map(|node| node.resident(device, numbers.clone()));
        let given = given.collect::<Result<Vec<_>, _>>()?;
        let [first, d] =
            [0, 1].map(|index: usize| Part::of_operand(&operands[index], &given[index], count));
        let mut pair = [
            device.allocate(shape.limbs())?,
            device.allocate(shape.limbs())?,
        ];
        let constants = device.upload(&[MORE, 1])?;
        let constants = Part::of(&constants).for_all();
        let room = Room::of(device, steps, count)?;
        let x = room.standing(&pair[0], shape.width, first.width());
        gather::copy(device, x, (first, count), count, None)?;
        for step in steps {
            let [x, next] = &pair;
            let x = room.standing(x, shape.width, step.h + 1);
            let lifted = match count {
                1 => room.standing(&pair[0], shape.width, step.k + 1),
                _ => room.rows(&room.lifted, step.k + 1),
            };
            let next = room.standing(next, shape.width, step.k + 1);
            step.make([x, lifted, next], [d, constants], self.by.difference, &room)?;
            pair.reverse();
        }
        tracing::debug!(
            back_end = %BackEnd::Cuda(device.ordinal().into()),
            kernel = "newton",
            is_root = self.by.root.is_some(),
            steps = steps.len(),
            count,
            width = shape.width,
            elapsed = ?started.elapsed(),
            "launched"
        );
        let [made, _] = pair;
        Ok(Made::of(shape, made))
    }

    /// Approximations of so many numbers by the CPU: not the same, but as good.
    pub fn limbs(
        &self,
        engine: &Arc<Inner>,
        operands: Operands<'_>,
        count: usize,
    ) -> Result<Vec<Limb>, Error> {
        let k = self.k();
        let compute = |operation, operands: &[Arc<Node>], width| {
            host::job::first(engine, (operation, Options::default()), operands, width)
        };
        let mut d = Arc::clone(&operands[1]);
        let mut n = k + d.shape.width;
        if let Some(root) = self.by.root {
            // Two limbs more than the reciprocal has.
            let (width, of) = (2 * (k + 2), d.shape.width);
            let window = Window {
                from: of.saturating_sub(width),
                to: width.saturating_sub(of),
            };
            let shape = Shape { width, ..d.shape };
            let top = Gather::all(shape, window).limbs(engine, &[d], 0..shape.count)?;
            let top = Arc::new(Node::on_host(engine, shape, top));
            d = compute(root, &[top], k + 2)?;
            n = 2 * k + 2;
        }
        let mut power = zeroed(n + 1)?;
        power[n] = 1;
        let shape = Shape::new(1, n + 1, Layout::Contiguous);
        let power = Arc::new(Node::on_host(engine, shape, power));
        let quotient = compute(self.by.quotient, &[power, d], k + 1)?;
        let mut limbs = crate::common::limbs::copy(quotient.limbs()?)?;
        debug_assert_eq!(limbs.len(), count * (k + 1));
        for number in limbs.chunks_mut(k + 1) {
            let mut carry = 2;
            for limb in number {
                let sum = u64::from(*limb) + carry;
                (*limb, carry) = (sum as Limb, sum >> LIMB_BITS);
            }
        }
        Ok(limbs)
    }
}

/// The memory of what steps compute on their way: as much as the last takes.
struct Room<'a> {
    device: &'a Arc<dyn Device>,
    count: usize,
    square: Buffer,
    excess: Buffer,
    product: Buffer,
    half: Buffer,
    lifted: Buffer,
}

impl<'a> Room<'a> {
    fn of(device: &'a Arc<dyn Device>, steps: &[Step], count: usize) -> Result<Self, Error> {
        let most = |of: fn(&Step) -> usize| {
            let widths = steps.iter().map(of);
            device.allocate(count * widths.max().unwrap_or(0).max(1))
        };
        Ok(Room {
            device,
            count,
            square: most(|step| step.of_root.map_or(0, |_| 2 * step.h + 1))?,
            excess: most(|step| step.keep() + step.of_y() + step.k)?,
            product: most(|step| step.h + 1 + step.keep())?,
            half: most(|step| step.of_root.map_or(0, |_| step.keep() + 1))?,
            lifted: device.allocate(match count {
                1 => 1,
                _ => count * steps.last().map_or(0, |step| step.k + 1).max(1),
            })?,
        })
    }

    /// Numbers of `width` limbs in the memory, without gaps.
    fn rows<'b>(&self, buffer: &'b Buffer, width: usize) -> Part<'b> {
        Part::rows(buffer, self.count, width)
    }

    /// The same, one number at the top of what has room for `most` limbs.
    fn standing<'b>(&self, buffer: &'b Buffer, most: usize, width: usize) -> Part<'b> {
        match self.count {
            1 => Part::of(buffer).at(most - width..most),
            _ => self.rows(buffer, width),
        }
    }
}

impl Step {
    /// The limbs of the excess.
    fn keep(&self) -> usize {
        self.k - self.h + 1
    }

    /// The limbs of what is multiplied by `d`, above those behind the point that do not count.
    fn of_y(&self) -> usize {
        if self.of_root.is_some() {
            self.h + 1
        } else {
            1
        }
    }

    /// Makes `next` of `x`, which one number has at the top of `lifted`, `by` a difference.
    fn make(
        &self,
        [x, lifted, next]: [Part<'_>; 3],
        [d, constants]: [Part<'_>; 2],
        by: Operation,
        room: &Room<'_>,
    ) -> Result<(), Error> {
        let &Step { h, k, product, .. } = self;
        let Room { device, count, .. } = *room;
        let [more, one] = constants.halves(1);
        let [below, above] = lifted.halves(k - h);
        gather::copy(device, below, (more, count), count, None)?;
        if count > 1 {
            gather::copy(device, above, (x, count), count, None)?;
        }
        let products = room.rows(&room.product, h + 1 + self.keep());
        if let Some(plan) = self.shared() {
            let points = ntt::points(device, plan, count, x)?;
            let excess = room.rows(&room.excess, self.keep());
            let (t, from) = (self.top(d), self.end(d) - self.keep());
            ntt::by_points(device, plan, count, (excess, from), (t, &points))?;
            ntt::by_points(device, plan, count, (products, 0), (excess, &points))?;
        } else {
            let y = match self.of_root {
                Some([square, _]) => {
                    let squares = room.rows(&room.square, 2 * h + 1);
                    multiply(device, square, count, squares, [x, x])?;
                    squares
                }
                None => x,
            };
            let excess = self.excess(y, d, room)?;
            multiply(device, product, count, products, [x, excess])?;
        }
        let mut less = products.at(h..products.width());
        if let Some([_, Multiplier::Kernel(kernel, is_for_widths)]) = self.of_root {
            let half = room.rows(&room.half, less.width());
            let halve = (kernel, is_for_widths);
            run(device, halve, count, (half, None), &[less, one])?;
            less = half;
        }
        let arguments = Arguments::of(&[next.limbs], &[lifted.limbs, less.limbs]);
        let buffers = [next.buffer, lifted.buffer, less.buffer];
        grid::add(device, by, count, arguments, &buffers)
    }

    /// The plan modulo primes of both products by `x`, where they have one.
    fn shared(&self) -> Option<NttPlan> {
        let product = match (self.of_root, self.product) {
            (None, Multiplier::Transform(plan)) => plan,
            _ => return None,
        };
        match (self.excess, product) {
            (Excess::Middle(Transform::Ntt(plan)), Transform::Ntt(other)) => {
                (plan == other).then_some(plan)
            }
            _ => None,
        }
    }

    /// The top of `d`.
    fn top<'a>(&self, d: Part<'a>) -> Part<'a> {
        d.at(d.width() - self.k.min(d.width())..d.width())
    }

    /// The end of the excess, as limbs of what it is cut from.
    fn end(&self, d: Part<'_>) -> usize {
        self.of_y() + self.top(d).width()
    }

    /// The excess of what an approximation of `h` limbs, or its square, and the top of `d` make.
    fn excess<'a>(&self, y: Part<'_>, d: Part<'_>, room: &'a Room<'_>) -> Result<Part<'a>, Error> {
        let Room { device, count, .. } = *room;
        let (t, end, keep) = (self.top(d), self.end(d), self.keep());
        let whole = match self.excess {
            Excess::Middle(plan) => {
                let excess = room.rows(&room.excess, keep);
                let r = (excess, end - keep);
                match plan {
                    Transform::Fft(plan) => grid::wrapped(device, plan, count, r, [t, y])?,
                    Transform::Ntt(plan) => ntt::wrapped(device, plan, count, r, [t, y])?,
                    Transform::Pieces(_) => unreachable!("products in pieces do not wrap"),
                }
                return Ok(excess);
            }
            Excess::Whole(by) => by,
        };
        let Some(below) = keep.checked_sub(end).filter(|&below| below > 0) else {
            let product = room.rows(&room.excess, end);
            multiply(device, whole, count, product, [t, y])?;
            return Ok(product.at(end - keep..end));
        };
        // Where `d` is short, zeros stand below.
        let product = room.rows(&room.product, end);
        multiply(device, whole, count, product, [t, y])?;
        let [zeros, above] = room.rows(&room.excess, keep).halves(below);
        gather::copy(device, zeros, (t.at(0..0), count), count, None)?;
        gather::copy(device, above, (product, count), count, None)?;
        Ok(room.rows(&room.excess, keep))
    }
}
