//! The launch ABI, declared once: which kernels exist, what they are called,
//! what they take and how they are launched. The device crate generates its entry
//! points from [`for_each_operation!`](crate::for_each_operation), the host looks
//! kernels up in [`Kernel::ALL`], which is made of the same declarations.

pub use crate::algorithm::BLOCK;
use crate::algorithm::{Algorithm, Level};
pub use crate::arguments::{Arguments, MatrixArgument};
pub use crate::divsteps::{DIGIT_BITS, divstep_digits, divstep_pairs, divstep_rounds, divsteps};
pub use crate::entry_point::EntryPoint;
use crate::karatsuba;
use crate::lehmer::{COLUMN_BYTES, PAIR, columns_of_warp};
pub use crate::lehmer::{ZEROS_BELOW, gcd_digits, inverse_digits};
pub use crate::modulus::{
    TABLE_WINDOW, WIDEST_MODULUS, divisor_digit, montgomery_digit, power_digit, power_window,
    widest_window,
};
use crate::operation::Operation;
pub use crate::root::{ROOT_DIGIT, root_limbs, root_room};
use crate::scanned::scanned_bytes;
pub use crate::scanned::{Scanned, is_in_strips, numbers_scanned, scanned, strip};
use crate::shape::{Layout, Strides};
use crate::transform::Plan;

/// A kernel: what it computes, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// The entry point's name in the PTX: one for all numbers of lanes where these
    /// [are told](lanes_are_told), and one for powers in constant and in variable time.
    pub name: &'static str,
    /// What it computes.
    pub operation: Operation,
    /// By which algorithm.
    pub algorithm: Algorithm,
    /// Who works on one number.
    pub level: Level,
    /// Threads that share one number: 1 at thread level, lanes of a warp, or all threads of
    /// a block, times the parts that fewer threads take one after the other ([`Plan::parts`]).
    pub lanes: u32,
    /// The layout of operands and result. A kernel of the interleaved layout takes
    /// any strides, so it serves operands of different layouts too.
    pub layout: Layout,
}

/// The longest name of a kernel, in bytes.
const LONGEST_NAME: usize = 64;

/// Kernels of all declarations.
const COUNT: usize = {
    let (mut count, mut i) = (0, 0);
    while i < Operation::ALL.len() {
        let rows = Operation::ALL[i].declaration().rows;
        let mut j = 0;
        while j < rows.len() {
            count += rows[j].lanes.len() * rows[j].layouts.len();
            j += 1;
        }
        i += 1;
    }
    count
};

/// A kernel but for its name.
#[derive(Clone, Copy)]
struct Place(Operation, Algorithm, Level, u32, Layout);

/// Every row with lanes and layouts multiplied out.
const PLACES: [Place; COUNT] = {
    let first = Place(
        Operation::ALL[0],
        Algorithm::Auto,
        Level::Thread,
        0,
        Layout::Contiguous,
    );
    let (mut places, mut count) = ([first; COUNT], 0);
    let mut i = 0;
    while i < Operation::ALL.len() {
        let rows = Operation::ALL[i].declaration().rows;
        let mut j = 0;
        while j < rows.len() {
            let row = &rows[j];
            let mut k = 0;
            while k < row.lanes.len() * row.layouts.len() {
                let lanes = row.lanes[k / row.layouts.len()];
                let layout = row.layouts[k % row.layouts.len()];
                places[count] = Place(Operation::ALL[i], row.algorithm, row.level, lanes, layout);
                (count, k) = (count + 1, k + 1);
            }
            j += 1;
        }
        i += 1;
    }
    places
};

/// Whether one text serves all numbers of lanes, which the host writes into it
/// ([`Facts`](crate::facts::Facts)): it is long, and does not depend on them.
pub const fn lanes_are_told(operation: Operation, algorithm: Algorithm, level: Level) -> bool {
    use Algorithm::{Cios, School, Window, WindowVartime};
    match (level, algorithm) {
        (Level::Warp, Cios | Window | WindowVartime) => true,
        (Level::Warp, School) => {
            matches!(
                operation,
                Operation::Mul | Operation::Square | Operation::Isqrt
            ) || operation.divides()
        }
        _ => false,
    }
}

/// The algorithm by whose name the text of another goes, which is told
/// [`SCAN`](crate::facts::SCAN).
const fn text_of(algorithm: Algorithm) -> Algorithm {
    match algorithm {
        Algorithm::WindowVartime => Algorithm::Window,
        _ => algorithm,
    }
}

/// Each kernel's name, `mul_comba_warp4_contiguous`, and its length.
static NAMES: [([u8; LONGEST_NAME], usize); COUNT] = {
    const fn append(
        (mut name, mut length): ([u8; LONGEST_NAME], usize),
        part: &str,
    ) -> ([u8; LONGEST_NAME], usize) {
        let part = part.as_bytes();
        let mut i = 0;
        while i < part.len() {
            name[length] = part[i];
            (i, length) = (i + 1, length + 1);
        }
        (name, length)
    }
    let mut names = [([0; LONGEST_NAME], 0); COUNT];
    let mut i = 0;
    while i < COUNT {
        let Place(operation, algorithm, level, lanes, layout) = PLACES[i];
        let mut name = append(names[i], operation.kernels_by(algorithm).name());
        name = append(append(name, "_"), text_of(algorithm).name());
        name = append(append(name, "_"), level.name());
        name = append(
            name,
            match (level, lanes) {
                (Level::Thread, _) => "",
                _ if lanes_are_told(operation, algorithm, level) => "",
                (_, 4) => "4",
                (_, 8) => "8",
                (_, 16) => "16",
                (_, 32) => "32",
                (Level::Block, 64) => "64",
                (Level::Block, 128) => "128",
                (Level::Block, 256) => "256",
                (Level::Block, 512) => "512",
                (Level::Block, 1024) => "1024",
                _ => panic!(
                    "lanes are 4, 8, 16 or 32 where none are told, those of a block up to 1024"
                ),
            },
        );
        names[i] = append(append(name, "_"), layout.name());
        i += 1;
    }
    names
};

static KERNELS: [Kernel; COUNT] = {
    const fn kernel(i: usize) -> Kernel {
        let Place(operation, algorithm, level, lanes, layout) = PLACES[i];
        let (name, _) = NAMES[i].0.split_at(NAMES[i].1);
        Kernel {
            name: match core::str::from_utf8(name) {
                Ok(name) => name,
                Err(_) => panic!("names are made of names"),
            },
            operation,
            algorithm,
            level,
            lanes,
            layout,
        }
    }
    let mut kernels = [kernel(0); COUNT];
    let mut i = 0;
    while i < COUNT {
        kernels[i] = kernel(i);
        i += 1;
    }
    kernels
};

/// Limbs of the widest divisor that a thread keeps in registers.
pub const DIVISOR_IN_REGISTERS: usize = 32;

/// Workers a launch may have at most where each needs scratch of its own: the
/// scratch of all of them stays below this many bytes (or one block's worth).
pub const SCRATCH_BUDGET: usize = 256 << 20;

/// The same of powers, whose tables are as much of their work as the numbers that they fill a device
/// with: those of an H200 with windows of seven bits.
pub const TABLE_BUDGET: usize = 576 << 20;

/// Limbs of the results that a warp computes at once by a kernel that
/// [`takes_stretches`](Kernel::takes_stretches): its stretch is made of whole tiles.
pub const TILE: u64 = 256;

/// Limbs of marks, of [segments](Operation::AddSegments), to as many limbs as a limb has bits.
pub const MARKS: usize = 3;

/// Tiles of a stretch in a launch that fills the device.
const TILES: u64 = 4;

/// Stretches from which on a launch fills any device: several warps for each place
/// that one has.
const MANY_STRETCHES: u64 = 1 << 15;

/// Stretches of one number in a launch, at most: so many have their hands full with any
/// device, and where each must look through those below for its carry, no more do.
const MOST_STRETCHES: u64 = 1 << 10;

/// Limbs of numbers of which lanes that scan have [several](NUMBERS_SCANNED) one after the other.
const SCANNED: usize = 32;

/// How many. (On an H200 counts and absolute differences of 1024 bits then take a tenth less
/// time; wider ones take longer.)
const NUMBERS_SCANNED: usize = 4;

/// Numbers of a launch from which on groups of lanes fill any device all the same.
const MANY_NUMBERS: usize = 1 << 17;

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Blocks in the grid.
    pub grid: u32,
    /// Threads in a block.
    pub block: u32,
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// Workers of the whole launch: `grid * block / lanes`.
    pub workers: usize,
    /// Limbs of scratch for each worker.
    pub scratch_width: usize,
}

impl Launch {
    /// Where the scratch of each worker lies: interleaved at thread level, so
    /// that neighbouring threads touch neighbouring words, else contiguous.
    pub const fn scratch_strides(&self, level: Level) -> Strides {
        match level {
            Level::Thread => Strides {
                number: 1,
                limb: self.workers,
            },
            Level::Warp | Level::Block | Level::Grid => Strides {
                number: self.scratch_width,
                limb: 1,
            },
        }
    }
}

/// Into how many stretches the limbs of `count` results of `width` are cut.
const fn stretches(count: u64, width: u64) -> u64 {
    const fn least(x: u64, y: u64) -> u64 {
        if x < y { x } else { y }
    }
    let tiles = (count * width).div_ceil(TILE);
    let long = tiles.div_ceil(TILES);
    // Few stretches are cut finer, so that more warps have one.
    let short = least(tiles, MANY_STRETCHES);
    least(
        if long > short { long } else { short },
        count * MOST_STRETCHES,
    )
}

/// Fours of limbs in a slot of shared memory, for each thread that has a product of `n` by
/// `m` limbs to itself, of which `width` are wanted; zero where numbers do not go by way of
/// slots. The number is odd, so that neighbouring threads meet in no bank.
///
/// A slot takes both operands and then the product, for 32 limbs also half of the first
/// row's; of operands of 1, 2 or 4 limbs only products come here, of 3 limbs four numbers.
pub const fn slot_fours(algorithm: Algorithm, n: usize, m: usize, width: usize) -> usize {
    match (algorithm, n) {
        _ if n != m || width != n + m => 0,
        (Algorithm::School, 8) => 5,
        (Algorithm::School, 16) => 9,
        (Algorithm::School, 32) => 21,
        (Algorithm::Comba, 1 | 2 | 4) => 3,
        (Algorithm::Comba, 3) => 7,
        (Algorithm::Comba, 8) => 5,
        _ => 0,
    }
}

/// The widest operand, in limbs, of a product by rows of a thread that goes by way of places.
pub const WIDEST_PLACED: usize = 48;

/// Limbs that a thread which multiplies by rows extends operands of `n` and `m` limbs to,
/// of whose product `width` are wanted, where they go by way of places in shared memory;
/// zero where they do not. Not more than half of an operand is zeros.
#[inline]
pub const fn placed_width(n: usize, m: usize, width: usize) -> usize {
    let (narrower, wider) = if n < m { (n, m) } else { (m, n) };
    if wider < 5 || wider > WIDEST_PLACED {
        return 0;
    }
    let placed = wider.next_power_of_two();
    if 2 * narrower > placed && width <= 2 * placed {
        placed
    } else {
        0
    }
}

/// Limbs from a thread's place to its neighbour's, for numbers of `width` limbs: not a
/// multiple of 4, so that no more than two threads of a warp meet in a bank.
#[inline]
pub const fn place(width: usize) -> usize {
    if width.is_multiple_of(4) {
        width + 1
    } else {
        width
    }
}

/// Bytes of shared memory for each thread whose numbers go by way of places: one for the
/// first operand, one for the second, and one for the product, which is the second's if the
/// product is whole.
#[inline]
pub const fn place_bytes(n: usize, m: usize, width: usize) -> usize {
    let second = if n + m > width { place(m) } else { 0 };
    4 * (place(n) + second + place(width))
}

/// Limbs of each of a warp's numbers that are on their way between device and shared memory
/// together.
pub const PIECE: u32 = 8;

/// Bytes of shared memory for each thread that divides in registers: a piece of the dividend, and
/// one of the quotient or the remainder.
#[inline]
pub const fn piece_bytes() -> usize {
    2 * 4 * place(PIECE as usize)
}

/// Limbs of a number that a thread squares, and each of the lanes has which square it together.
pub const SQUARE_DIGIT: usize = 32;

/// Fours of limbs of shared memory for each such digit: an odd number, so that lanes meet in no bank.
pub const SQUARE_FOURS: usize = SQUARE_DIGIT / 4 + 1;

/// Bytes of shared memory for each number of `n` limbs that so many lanes square by digits; zero
/// where they do not.
#[inline]
pub const fn square_bytes(n: usize, lanes: u32) -> usize {
    match n <= SQUARE_DIGIT * lanes as usize {
        true => 16 * SQUARE_FOURS * lanes as usize,
        false => 0,
    }
}

/// Fours of limbs of shared memory for each number that lanes of a warp multiply by rows, where
/// limbs of contiguous operands and result, of these widths in this order, cannot be moved four
/// at a time in device memory; zero where they can, and where a number is too narrow or there
/// is no room. The number is odd, so that groups of lanes meet in fewer banks.
#[inline]
pub const fn staged_fours([n, m, width]: [u64; 3], lanes: u32) -> usize {
    let fours = (n.div_ceil(4) + m.div_ceil(4) + width.div_ceil(4)) | 1;
    let is_narrow = n < 32 || m < 32 || width < 32;
    let has_room = fours * 16 * (BLOCK / 2 / lanes) as u64 <= SHARED_BYTES as u64;
    match (n | m | width).is_multiple_of(4) || is_narrow || width > n + m || !has_room {
        true => 0,
        false => fours as usize,
    }
}

/// Threads of a warp.
const WARP: u32 = 32;

/// Shared memory that a block may have without the driver's leave, in bytes.
const SHARED_BYTES: u32 = 48 << 10;

/// Numbers that a thread of such a kernel takes at a time: as many as fill fours of limbs, which
/// are moved at once.
#[inline]
pub const fn numbers_at_a_time(algorithm: Algorithm, n: usize, m: usize) -> usize {
    match (algorithm, n) {
        _ if n != m => 1,
        // Reckoned: a table of the four would stand in memory.
        (Algorithm::Comba, 1..=4) => 4 >> n.trailing_zeros(),
        _ => 1,
    }
}

impl Kernel {
    /// Every kernel there is, in the order of the declarations.
    pub const ALL: &'static [Kernel] = &KERNELS;

    /// The kernel for these properties, if the table has it. One of the interleaved layout
    /// takes any strides, and serves where there is no other.
    pub fn find(
        operation: Operation,
        algorithm: Algorithm,
        level: Level,
        lanes: u32,
        layout: Layout,
    ) -> Option<&'static Kernel> {
        let own = |layout| {
            Kernel::ALL.iter().find(|kernel| {
                kernel.operation == operation
                    && kernel.algorithm == algorithm
                    && kernel.level == level
                    && kernel.lanes == lanes
                    && kernel.layout == layout
            })
        };
        own(layout).or_else(|| own(Layout::Interleaved))
    }

    /// Whether this is the kernel that is [found](Kernel::find) for batches of a layout.
    pub fn serves(&self, layout: Layout) -> bool {
        let &Kernel {
            operation,
            algorithm,
            level,
            lanes,
            ..
        } = self;
        Kernel::find(operation, algorithm, level, lanes, layout) == Some(self)
    }

    /// What is launched.
    pub const fn entry_point(&self) -> EntryPoint {
        EntryPoint {
            name: self.name,
            module: self.operation.kernels_by(self.algorithm).name(),
        }
    }

    /// The arguments of these results and operands, in their declared order.
    pub fn arguments(&self, results: &[MatrixArgument], operands: &[MatrixArgument]) -> Arguments {
        match (self.operation, results) {
            // The kernels' first result is the quotient.
            (Operation::Rem, &[remainder]) => {
                Arguments::of(&[MatrixArgument::default(), remainder], operands)
            }
            // Those of products.
            (Operation::Square, _) if self.takes_roots() => {
                Arguments::of(results, &[operands[0], operands[0]])
            }
            _ => Arguments::of(results, operands),
        }
    }

    /// Whether a worker is a warp that computes a stretch of the limbs of all results, in
    /// place of whole numbers: the batch then is one row of limbs, in the order of memory.
    pub const fn takes_stretches(&self) -> bool {
        matches!(
            (self.algorithm, self.level),
            (Algorithm::CarryLookahead | Algorithm::Limbwise, Level::Warp)
        )
    }

    /// Whether it needs the table of roots of unity.
    pub const fn takes_roots(&self) -> bool {
        matches!(self.algorithm, Algorithm::Fft)
    }

    /// What the PTX tells of a kernel whose launch would else depend on how the driver's
    /// compiler gives out registers: the threads of a block, and how many blocks a
    /// multiprocessor should have room for.
    pub const fn bounds(&self) -> Option<[u32; 2]> {
        match self.takes_roots() {
            true => Some(Plan::of(self.lanes).bounds()),
            false => None,
        }
    }

    /// Whether the kernel computes with operands of these widths: those modulo a number have
    /// it in registers, and so have lanes their divisor.
    pub const fn takes(&self, widths: &[usize]) -> bool {
        let divides_by_lanes = self.operation.divides() && self.lanes > 1;
        match widths {
            [.., modulus] if self.operation.is_power() => power_digit(*modulus, self.lanes) > 0,
            [.., divisor] if divides_by_lanes => divisor_digit(*divisor, self.lanes) > 0,
            [number] if matches!(self.operation, Operation::Isqrt) && self.lanes > 1 => {
                number.div_ceil(2) <= ROOT_DIGIT * self.lanes as usize
            }
            [.., modulus] if self.operation.multiplies_modulo() => {
                montgomery_digit(*modulus, self.lanes) > 0
            }
            _ => true,
        }
    }

    /// The pairs of digits in a column of Euclid's algorithm, or of division steps; none where a
    /// kernel has another.
    const fn digit_pairs(&self, n: usize, m: usize) -> usize {
        match (self.algorithm, self.operation) {
            (Algorithm::Lehmer, Operation::InvMod) => inverse_digits(n, m),
            (Algorithm::Lehmer, _) => gcd_digits(n, m),
            (Algorithm::Divsteps, _) => divstep_pairs(if n > m { n } else { m }),
            _ => 0,
        }
    }

    /// Limbs of scratch one worker needs for operands of these widths, where a column of digits
    /// stands in shared memory or not.
    const fn scratch_width(&self, widths: &[usize], are_shared: bool) -> usize {
        let (n, m) = first_two(widths);
        match self.algorithm {
            // What is left of the dividend, a limb longer when shifted, and the divisor.
            _ if self.operation.divides() && self.lanes == 1 && m > DIVISOR_IN_REGISTERS => {
                n + 1 + m
            }
            _ if matches!(self.operation, Operation::PowFixed) => 0,
            // Powers of each base, and the square of the radix.
            Algorithm::Window | Algorithm::WindowVartime => {
                let modulus = widths[widths.len() - 1];
                let scan = matches!(self.algorithm, Algorithm::Window);
                let pair = matches!(self.operation, Operation::PowPair);
                let (bases, exponent) = if pair { (2, m.div_ceil(2)) } else { (1, m) };
                let window = power_window(exponent, widest_window(modulus, scan, pair));
                let digit = power_digit(modulus, self.lanes);
                ((bases << window) + 1) * self.lanes as usize * digit
            }
            Algorithm::Lehmer | Algorithm::Divsteps => match are_shared {
                true => 0,
                false => 2 * self.digit_pairs(n, m),
            },
            _ if matches!(self.operation, Operation::Isqrt) && self.lanes == 1 => {
                match root_limbs(n) {
                    0 => root_room(n),
                    _ => 0,
                }
            }
            // The whole product stands in scratch until it is cut to the
            // result's width; the recursion's own scratch lies behind it.
            Algorithm::Karatsuba => n + m + karatsuba::scratch(if n > m { n } else { m }),
            _ => 0,
        }
    }

    /// Bytes that the scratch of all workers takes at most, unless that of one block is more.
    const fn scratch_budget(&self) -> usize {
        match self.algorithm {
            Algorithm::Window | Algorithm::WindowVartime => TABLE_BUDGET,
            _ => SCRATCH_BUDGET,
        }
    }

    /// Blocks that a processor of the device must be able to hold at once, which bounds the
    /// registers of a thread: without it, the widest numbers that a kernel has code for take
    /// so many that too few warps are left to wait for one another.
    pub const fn resident_blocks(&self) -> Option<u32> {
        match (self.operation, self.level, self.layout) {
            (Operation::MontMul, Level::Warp, Layout::Contiguous) => Some(4),
            (operation, Level::Thread, _) if operation.divides() => Some(3),
            // Passes are compiled for as few registers as ptxas thinks right otherwise, and wait for
            // what they load.
            (Operation::Gcd, Level::Thread, _) => Some(8),
            (Operation::Lcm, Level::Thread, _) => Some(7),
            (Operation::InvMod, Level::Thread, _) => Some(6),
            // Addresses of limbs that lie apart would not be in registers then.
            _ => None,
        }
    }

    /// Bytes of shared memory for each thread, or each group of lanes of a warp, and numbers
    /// that it takes at a time.
    const fn staged(&self, widths: &[usize], width: usize) -> (usize, usize) {
        let (n, m) = first_two(widths);
        let slot = 16 * slot_fours(self.algorithm, n, m, width);
        match (self.operation, self.level, self.layout, self.algorithm) {
            (Operation::Mul, Level::Warp, Layout::Contiguous, Algorithm::School) => {
                let widths = [n as u64, m as u64, width as u64];
                (16 * staged_fours(widths, self.lanes), 1)
            }
            (Operation::Mul, Level::Thread, Layout::Contiguous, _) if slot > 0 => {
                (slot, numbers_at_a_time(self.algorithm, n, m))
            }
            (Operation::Mul, Level::Thread, Layout::Interleaved, Algorithm::School)
                if placed_width(n, m, width) > 0 =>
            {
                (place_bytes(n, m, width), 1)
            }
            (Operation::Square, Level::Thread | Level::Warp, ..) => {
                (square_bytes(n, self.lanes), 1)
            }
            (Operation::Isqrt, Level::Thread, ..) => (4 * root_limbs(n), 1),
            (operation, Level::Thread, ..) if operation.divides() && m <= DIVISOR_IN_REGISTERS => {
                (piece_bytes(), 1)
            }
            (operation, Level::Thread, layout, Algorithm::Scan) => {
                scanned_bytes(operation, layout, widths, width)
            }
            (.., Algorithm::Lehmer | Algorithm::Divsteps) => (PAIR * self.digit_pairs(n, m), 1),
            _ => (0, 1),
        }
    }

    /// Grid, block and workers for `count` numbers: operands of these widths in limbs,
    /// and results of `width`.
    ///
    /// `count` must not be zero: there is nothing to launch for an empty batch.
    pub const fn launch(&self, count: usize, widths: &[usize], width: usize) -> Launch {
        self.launch_within(count, widths, width, COLUMN_BYTES)
    }

    /// The same on a device that leaves a block so many bytes of shared memory at most: columns
    /// of digits for which it has no room stand in scratch.
    pub const fn launch_within(
        &self,
        count: usize,
        widths: &[usize],
        width: usize,
        most_shared: u32,
    ) -> Launch {
        let (n, m) = first_two(widths);
        let (staged_bytes, at_a_time) = self.staged(widths, width);
        let columns = columns_of_warp(self.digit_pairs(n, m));
        let most_columns = if most_shared < COLUMN_BYTES {
            most_shared
        } else {
            COLUMN_BYTES
        };
        let are_shared = columns > 0 && columns <= most_columns as usize;
        let staged_bytes = match columns == 0 || are_shared {
            true => staged_bytes as u32,
            false => 0,
        };
        let block = match self.level {
            Level::Block => Plan::of(self.lanes).threads(),
            _ => {
                let mut block = BLOCK;
                while block > WARP && block / self.lanes * staged_bytes > SHARED_BYTES {
                    block /= 2;
                }
                block
            }
        };
        let workers_per_block = block.div_ceil(self.lanes) as usize;
        let scratch_width = self.scratch_width(widths, are_shared);
        let most_blocks = if scratch_width == 0 {
            i32::MAX as usize
        } else {
            let by_budget = self.scratch_budget() / (4 * scratch_width * workers_per_block);
            if by_budget == 0 { 1 } else { by_budget }
        };
        let shared_bytes = match self.takes_roots() {
            true => {
                let plan = Plan::of(self.lanes);
                let is_square = matches!(self.operation, Operation::Square);
                plan.shared_bytes(is_square && n <= plan.limbs() as usize)
            }
            false => block / self.lanes * staged_bytes,
        };
        let workers = if self.takes_stretches() {
            stretches(count as u64, width as u64) as usize
        } else if matches!((self.algorithm, self.level), (Algorithm::Scan, Level::Warp))
            && (n <= SCANNED && m <= SCANNED && count >= MANY_NUMBERS)
        {
            // Each has so little to do that blocks are over before the next ones begin.
            count.div_ceil(NUMBERS_SCANNED)
        } else {
            count.div_ceil(at_a_time)
        };
        let wanted = workers.div_ceil(workers_per_block);
        // Where a worker has several numbers, all have as many.
        let grid = wanted.div_ceil(wanted.div_ceil(most_blocks));
        Launch {
            grid: grid as u32,
            block,
            shared_bytes,
            workers: grid * workers_per_block,
            scratch_width,
        }
    }
}

/// The widths of the first two operands, where there is one that of both.
const fn first_two(widths: &[usize]) -> (usize, usize) {
    match widths {
        [n, m, ..] => (*n, *m),
        [n] => (*n, *n),
        [] => (0, 0),
    }
}

/// The numbers of threads that may share one number: lanes of a warp, and threads of a
/// block, times their parts.
pub const LANES: [u32; 10] = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

#[cfg(test)]
mod tests;
