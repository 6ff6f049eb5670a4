//! Tiles of neighbouring products that a warp brings to shared memory and back, in whole
//! lines whatever the width: a thread that fetched a number by itself would take a small
//! piece of a line from each of many lines. Where numbers are there: [`staging`].
//!
//! [`staging`]: bigint_core::staging

use crate::gpu::memory::Run;
use crate::gpu::shared::{Place, Shelf};
use crate::gpu::thread;
use crate::gpu::warp::Group;
use bigint_core::staging::{Region, Staging};
use bigint_core::{Algorithm, Arguments, MatrixArgument};

/// Threads in a warp.
const WARP: u32 = 32;

/// A tile of products, each by `LANES` lanes, seen from one of the warp's threads.
///
/// What is needed of the launch is read again wherever it is: registers are for limbs.
#[derive(Clone, Copy)]
pub struct Tile<'a, const LANES: u32> {
    arguments: &'a Arguments,
    /// Whether the second operand stands for the first, and the first for the second.
    is_exchanged: bool,
    staging: Staging,
    group: Group<32>,
    first: u64,
}

impl<'a, const LANES: u32> Tile<'a, LANES> {
    /// The first tile of the calling warp, if there is one; `None` where the batches have
    /// gaps, or `algorithm` takes such widths from device memory. `exchanges` says of the
    /// operands' widths whether to exchange them.
    ///
    /// # Safety
    /// `arguments` are those of a launch of a kernel of this algorithm in the contiguous
    /// layout, as `Batches::new` of its level asks; the calling warp is here as a whole.
    #[allow(unsafe_code)] // The kernel's boundary: what comes in is taken on trust.
    #[inline(always)]
    pub unsafe fn new(
        arguments: &'a Arguments,
        algorithm: Algorithm,
        exchanges: impl Fn(u32, u32) -> bool,
    ) -> Option<Self> {
        let Arguments { r, a, b, .. } = arguments;
        let is_exchanged = exchanges(a.width as u32, b.width as u32);
        let (n, m) = match is_exchanged {
            true => (b.width, a.width),
            false => (a.width, b.width),
        };
        let widths = (n as usize, m as usize);
        let staging = Staging::of(algorithm, LANES, widths, r.width as usize)?;
        let has_no_gaps = |x: &MatrixArgument| x.number_stride == x.width;
        let is_one = |x: &MatrixArgument| x.number_stride == 0;
        let is_aligned = |x: &MatrixArgument| has_no_gaps(x) && x.limbs % 16 == 0;
        // Operands and results that have places in common are each as the place is.
        let are_staged = if staging.is_shared() {
            is_aligned(a) && is_aligned(b) && is_aligned(r)
        } else {
            has_no_gaps(r) && (has_no_gaps(a) || is_one(a)) && (has_no_gaps(b) || is_one(b))
        };
        if !are_staged {
            return None;
        }
        Some(Tile {
            arguments,
            is_exchanged,
            staging,
            // SAFETY: by this function's own contract.
            group: unsafe { Group::new() },
            first: (thread::index_1d() - u64::from(thread::lane())) / u64::from(LANES),
        })
    }

    /// Whether there are numbers in the tile.
    #[inline(always)]
    pub fn is_some(&self) -> bool {
        self.first < self.arguments.count
    }

    /// Goes on to the warp's next tile.
    #[inline(always)]
    pub fn advance(&mut self) {
        self.first += self.arguments.workers;
    }

    /// Numbers in the tile: fewer at the batch's end.
    #[inline(always)]
    fn numbers(&self) -> u32 {
        (self.arguments.count - self.first).min(u64::from(WARP / LANES)) as u32
    }

    #[inline(always)]
    fn first_operand(&self) -> MatrixArgument {
        choose(self.is_exchanged, &self.arguments.b, &self.arguments.a)
    }

    #[inline(always)]
    fn second_operand(&self) -> MatrixArgument {
        choose(self.is_exchanged, &self.arguments.a, &self.arguments.b)
    }

    /// The numbers of a batch, in device memory and in shared memory.
    #[allow(unsafe_code)]
    #[inline(always)]
    fn of(&self, argument: MatrixArgument, region: Region, gap: u32) -> (Run, Shelf) {
        let is_one = argument.number_stride == 0;
        let (first, numbers) = match is_one {
            true => (0, 1),
            false => (self.first, self.numbers()),
        };
        let width = argument.width as u32;
        // SAFETY: by the contract of `new`: the tile is in the batch, no other warp has it,
        // and its regions have room for as many numbers as this.
        unsafe {
            let run = Run::new(&argument, first, numbers);
            let shelf = Shelf::new(&self.staging, region, gap, run, width, is_one);
            (run, shelf)
        }
    }

    /// Limbs of each first operand.
    #[inline(always)]
    pub fn n(&self) -> u32 {
        self.first_operand().width as u32
    }

    /// Limbs of each second operand.
    #[inline(always)]
    pub fn m(&self) -> u32 {
        self.second_operand().width as u32
    }

    /// Limbs of each result.
    #[inline(always)]
    pub fn width(&self) -> u32 {
        self.arguments.r.width as u32
    }

    /// Limbs left out in the middle of each second operand.
    #[inline(always)]
    pub fn gap(&self) -> u32 {
        self.staging.gap
    }

    /// Limbs from a result's begin to those that one row of a product hands to the next.
    #[inline(always)]
    pub fn handed(&self) -> u32 {
        self.staging.handed
    }
}

/// The first of two where `is_first`, else the other.
#[inline(always)]
fn choose(is_first: bool, x: &MatrixArgument, y: &MatrixArgument) -> MatrixArgument {
    let either = |x, y| if is_first { x } else { y };
    MatrixArgument {
        limbs: either(x.limbs, y.limbs),
        number_stride: either(x.number_stride, y.number_stride),
        limb_stride: 1,
        width: either(x.width, y.width),
    }
}

impl<const LANES: u32> Tile<'_, LANES> {
    /// The thread's lane in its warp.
    #[inline(always)]
    pub fn lane(&self) -> u32 {
        self.group.lane()
    }

    /// The whole warp.
    #[inline(always)]
    pub fn sync(&self) {
        self.group.sync();
    }

    /// A first operand; past the batch's end a number without limbs.
    #[inline(always)]
    pub fn a(&self, number: u32) -> Place {
        let (_, shelf) = self.of(self.first_operand(), self.staging.a, 0);
        shelf.number(number).switched(number < self.numbers())
    }

    /// A second operand, likewise.
    #[inline(always)]
    pub fn b(&self, number: u32) -> Place {
        let (_, shelf) = self.of(self.second_operand(), self.staging.b, self.staging.gap);
        shelf.number(number).switched(number < self.numbers())
    }

    /// A result, likewise.
    #[inline(always)]
    pub fn r(&self, number: u32) -> Place {
        let (_, shelf) = self.of(self.arguments.r, self.staging.r, 0);
        shelf.number(number).switched(number < self.numbers())
    }

    /// Brings both operands in, and waits for the warp. A thread has `UNDER_WAY` fours of each
    /// on their way at a time, 1 or 4.
    #[inline(always)]
    pub fn bring_in<const UNDER_WAY: u32>(&self) {
        let (a, a_shelf) = self.of(self.first_operand(), self.staging.a, 0);
        let (b, b_shelf) = self.of(self.second_operand(), self.staging.b, self.staging.gap);
        let fours = a.fours().max(b.fours());
        let mut f = self.lane();
        while f - self.lane() < fours {
            if UNDER_WAY == 1 {
                let (of_a, of_b) = (a.four(f), b.four(f));
                a_shelf.set_four(f, of_a);
                b_shelf.set_four(f, of_b);
            } else {
                let get = |run: Run| {
                    let (first, second) = (run.four(f), run.four(f + WARP));
                    (
                        first,
                        second,
                        run.four(f + 2 * WARP),
                        run.four(f + 3 * WARP),
                    )
                };
                let put = |shelf: Shelf, (first, second, third, fourth): ([_; 4], _, _, _)| {
                    shelf.set_four(f, first);
                    shelf.set_four(f + WARP, second);
                    shelf.set_four(f + 2 * WARP, third);
                    shelf.set_four(f + 3 * WARP, fourth);
                };
                let (of_a, of_b) = (get(a), get(b));
                put(a_shelf, of_a);
                put(b_shelf, of_b);
            }
            f += UNDER_WAY * WARP;
        }
        self.sync();
    }

    /// Takes the results out, once the warp has written all of them.
    #[inline(always)]
    pub fn bring_out(&self) {
        self.sync();
        let (run, shelf) = self.of(self.arguments.r, self.staging.r, 0);
        let mut f = self.lane();
        while f - self.lane() < run.fours() {
            let (first, second) = (shelf.four(f), shelf.four(f + WARP));
            run.set_four(f, first);
            run.set_four(f + WARP, second);
            f += 2 * WARP;
        }
        // The next tile takes the place of this one.
        self.sync();
    }
}
