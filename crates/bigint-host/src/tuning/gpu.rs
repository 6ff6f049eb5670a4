//! Thresholds of the GPU back end: data with provenance, read from a file.

use crate::Error;
use crate::common::facts::Facts;
use crate::tuning::decimals::DecimalsTuning;
use crate::tuning::{parse, read_file, refused};
use bigint_core::operation::Cost;
use bigint_core::{Level, Limb, Operation};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The thresholds between kernels.
///
/// The table that ships with the crate is `tuning/nvidia-h200.toml`; its form is the
/// form of a user's own file.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    /// The origin of the thresholds: machine, date and method.
    pub provenance: Provenance,
    /// The device on which times were measured. On another they become what a model says
    /// ([`Tuning::on`]); without this, they count as they are on every device.
    #[serde(default)]
    pub device: Option<Facts>,
    /// Addition and subtraction.
    pub add: AddTuning,
    /// Bits and masks, limb by limb.
    pub limbwise: LimbwiseTuning,
    /// Comparisons, counts of bits and the like: passes over numbers.
    pub scan: ScanTuning,
    /// Multiplication.
    pub mul: MulTuning,
    /// Division.
    pub div: DivTuning,
    /// Euclid's algorithm on long numbers.
    #[serde(default = "shipped_euclid")]
    pub euclid: EuclidTuning,
    /// Decimal digits.
    #[serde(default = "shipped_decimals")]
    pub decimals: DecimalsTuning,
    /// Products and powers modulo numbers.
    pub modular: ModularTuning,
    /// Expressions of several operations.
    pub fused: FusedTuning,
    /// Several devices.
    pub devices: DevicesTuning,
    /// When the engine `auto` uses devices at all.
    pub start: StartTuning,
    /// Squares modulo Mersenne numbers.
    #[serde(default = "shipped_mersenne")]
    pub mersenne: MersenneTuning,
    /// The path of the file that they were read from.
    #[serde(skip)]
    pub(crate) file: String,
    /// Whether the times are those of a model.
    #[serde(skip)]
    pub(crate) is_modelled: bool,
}

/// The origin of a table of thresholds.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The processor or GPU.
    pub machine: String,
    /// The day of the measurement.
    pub date: String,
    /// The command or the reasoning.
    pub how: String,
}

/// Thresholds of addition and subtraction, widths in limbs.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AddTuning {
    /// The widest result that one thread computes, where operands and result are
    /// contiguous; wider ones are shared by the lanes of warps.
    pub thread_max_width: usize,
    /// The fewest interleaved numbers that threads compute, one each. Fewer are not
    /// enough threads, and lanes share them, far apart as their limbs are.
    pub interleaved_thread_min_count: usize,
}

/// Thresholds of operations limb by limb, widths in limbs.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LimbwiseTuning {
    /// The narrowest interleaved result that one thread computes, where there are as many
    /// numbers as for a sum; whole warps take neighbouring words of any other.
    pub interleaved_thread_min_width: usize,
    /// The narrowest interleaved result that one thread computes where an operand
    /// [guides](bigint_core::operation::Property::Guided) all limbs of a number: a thread looks at
    /// that operand once.
    pub interleaved_thread_min_told_width: usize,
}

/// Thresholds of comparisons, counts of bits and the like, widths in limbs. Of interleaved
/// numbers there must be as many as for a sum before threads take one each.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ScanTuning {
    /// The widest contiguous operand that one thread has to itself.
    pub thread_max_width: usize,
    /// The widest contiguous operand that a whole warp holds in registers, where eight lanes cannot.
    pub held_max_width: usize,
}

/// Thresholds of multiplication, widths in limbs.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MulTuning {
    /// The widest operand whose product one thread computes.
    pub thread_max_width: usize,
    /// The widest operand whose product one thread computes by way of shared memory, where both
    /// operands are about equally wide ([`placed_width`](bigint_core::kernel::placed_width)).
    pub thread_placed_max_width: usize,
    /// The widest operand that one thread multiplies in that way where there are
    /// [many](Self::thread_many_min_count) products, of numbers whose limbs lanes move four at a
    /// time.
    pub thread_many_fours_max_width: usize,
    /// The widest operand that one thread multiplies in that way where there are many products, of
    /// any other numbers.
    pub thread_many_max_width: usize,
    /// The number of products that gives a device enough threads, where lanes could share each.
    pub thread_many_min_count: usize,
    /// The widest operand that a thread multiplies by columns.
    pub comba_max_width_thread: usize,
    /// The widest operand for which the high half of a product, or a product with a sum, is
    /// computed by columns; above, it is made of the whole product.
    pub columns_max_width: usize,
    /// The limbs of a product's operands, of all numbers together, from which on its kernel is
    /// compiled for their widths alone.
    #[serde(default = "shipped_own_kernel")]
    pub own_kernel_min_limbs: usize,
    /// The lanes for each number by the wider operand's width, narrowest first.
    pub lanes: Vec<LanesTuning>,
    /// The narrower operand from which a thread uses Karatsuba.
    pub karatsuba_min_width_thread: usize,
    /// The narrower operand from which a warp uses Karatsuba.
    pub karatsuba_min_width_warp: usize,
    /// The narrowest operand whose product by itself a device computes as a square.
    pub square_min_width: usize,
    /// The narrowest operand whose product by itself is a square where there are
    /// [many](Self::thread_many_min_count) products.
    pub square_many_min_width: usize,
    /// The widest number that lanes square in less time than they multiply two.
    pub square_lanes_max_width: usize,
    /// The nanoseconds that a product by rows takes for each limb of one operand and each of the
    /// other, in a batch that fills the device.
    pub school_nanoseconds: f64,
    /// The times of products by Toeplitz matrices, by the width of the wider operand, the narrowest first.
    /// Wider products are never computed by them.
    #[serde(default)]
    pub toeplitz: Vec<ToeplitzTuning>,
    /// The times of transforms by blocks, by the lanes of a block, fewest first.
    pub fft: Vec<FftTuning>,
    /// The most products of a step of a tree for which all such steps use one kernel: they take as
    /// long as one product.
    pub tree_few: usize,
    /// The most threads of a block of that kernel.
    pub tree_max_lanes: u32,
    /// The times of transforms over the complex numbers on the whole device.
    pub grid: GridTuning,
    /// The times of transforms modulo primes on the whole device.
    pub ntt: NttTuning,
    /// The widest narrower operand for which `auto` uses a device.
    pub device_max_width: usize,
}

/// Thresholds of division, widths in limbs.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DivTuning {
    /// The widest operand of common divisors and inverses for which `auto` uses a device.
    pub gcd_device_max_width: usize,
    /// The widest operand of common divisors, common multiples and inverses whose steps are in integers
    /// ([`Algorithm::LehmerWords`](bigint_core::Algorithm::LehmerWords)), not in doubles; a model raises it
    /// where a device is slow with doubles.
    #[serde(default)]
    pub words_max_width: usize,
    /// The widest operand of square roots for which `auto` uses a device.
    pub root_device_max_width: usize,
    /// The widest number whose square root a thread finds by itself.
    pub root_thread_max_width: usize,
    /// The widest number whose inverse a thread finds by itself by [division
    /// steps](bigint_core::Algorithm::Divsteps).
    #[serde(default = "steps_thread_max_width")]
    pub steps_thread_max_width: usize,
    /// The widest divisor for which `auto` uses a device.
    pub device_max_width: usize,
    /// Limbs of a batch of wider numbers from which on `auto` has a device divide them, and find their
    /// roots, by steps of Newton's.
    #[serde(default = "newton_min_limbs")]
    pub newton_min_limbs: usize,
    /// Limbs of a batch up to which the host finds the reciprocals and inverse roots that Newton's steps begin with.
    #[serde(default)]
    pub newton_host_limbs: usize,
    /// The lanes for each number by the width of the divisor, narrowest first; 1 for a thread,
    /// which also takes interleaved numbers whose divisor its registers hold, and any divisor that
    /// no lanes hold. Where the registers of so many lanes do not hold it, the next number of lanes
    /// does.
    pub lanes: Vec<LanesTuning>,
}

/// For files that do not say.
fn steps_thread_max_width() -> usize {
    16
}

/// For files that do not say.
fn newton_min_limbs() -> usize {
    1 << 18
}

/// Thresholds of common divisors, common multiples, inverses and Jacobi symbols of long numbers, which devices find
/// by halves, in limbs. Shorter numbers are for kernels or the CPU.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct EuclidTuning {
    /// The narrowest operands.
    pub min_width: usize,
    /// The least limbs of an operand's numbers together for which the engine `auto` has a device find them so.
    pub min_limbs: usize,
    /// The most limbs of the upper parts of all numbers together that the CPU reduces. Longer parts are cut in
    /// two.
    pub cores_limbs: usize,
    /// The least width of such parts, whatever the number of numbers; at least 32.
    pub cores_min_width: usize,
}

/// Thresholds of programs that one launch computes, widths in limbs.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FusedTuning {
    /// The widest value of a program that multiplies.
    pub product_max_width: usize,
}

/// Thresholds of work that several devices share, and of transfers.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DevicesTuning {
    /// The nanoseconds that an operation takes longer for each device.
    pub launch_ns: f64,
    /// The limbs of a list's results from which on a thread of its own fetches them.
    pub fetched_apart_limbs: usize,
    /// The limbs of each operand from which on a list's sums are segments.
    pub segments_limbs: usize,
}

/// A row of a table: up to `max_width` limbs, `lanes` lanes share a number.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LanesTuning {
    /// The widest operand, in limbs.
    pub max_width: usize,
    /// The number of lanes: 4, 8, 16 or 32; or 1, where each thread has a number.
    pub lanes: u32,
}

/// Thresholds of products and powers modulo numbers, widths in limbs.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ModularTuning {
    /// The lanes for each number by the width of the modulus, narrowest first; 1 for a thread.
    /// Where the registers of so many lanes do not hold it, the next number of lanes does.
    pub lanes: Vec<LanesTuning>,
    /// The lanes for powers in constant time, which read their whole table again and again: more
    /// warps wait for it together.
    pub scan_lanes: Vec<LanesTuning>,
    /// The lanes for powers of a base by its table in constant time, which are products alone.
    pub table_lanes: Vec<LanesTuning>,
    /// Batches of powers for which each number has more lanes.
    pub few: FewTuning,
    /// What powers in residue number systems take, by the width of the modulus, narrowest first. Powers of other
    /// widths, as a file without this table has them, go by windows.
    #[serde(default)]
    pub rns: Vec<RnsTuning>,
    /// The narrowest moduli, in limbs, of Montgomery products that are made of products.
    #[serde(default = "shipped_products_min_width")]
    pub products_min_width: usize,
    /// The narrowest moduli, in limbs, of powers by Montgomery products in two rings.
    #[serde(default = "shipped_rings_min_width")]
    pub rings_min_width: usize,
    /// The fewest limbs of all moduli wider than kernels hold for which the engine `auto` takes devices.
    #[serde(default = "shipped_products_min_limbs")]
    pub products_min_limbs: usize,
    /// The widest numbers, in limbs, that such products subtract modulo others in one pass of a few lanes each.
    #[serde(default = "shipped_differences_scan_max_width")]
    pub differences_scan_max_width: usize,
}

/// The time of a power by residue number systems and by windows, modulo `width` limbs with an exponent as wide, or of
/// the product of two with exponents half as wide, in batches that fill the device: in constant time, and in time that
/// depends on exponents.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RnsTuning {
    /// Limbs of modulus and exponents. The row is for all moduli that have as many primes.
    pub width: usize,
    /// 1, 2 of products of two powers, 3 of powers by a table, or 4 of chains of as many products as moduli have bits.
    #[serde(default = "one")]
    pub bases: u32,
    /// By residue number systems, but for the conversions.
    pub nanoseconds: f64,
    /// The same without warpgroups, of which devices are modelled that have none.
    pub warps_nanoseconds: f64,
    /// The conversions, whatever the exponent.
    pub conversion_nanoseconds: f64,
    /// By windows.
    pub windows_nanoseconds: f64,
    /// By residue number systems, but for the conversions, in time that depends on the exponent.
    pub vartime_nanoseconds: f64,
    /// By windows in time that depends on the exponent.
    pub windows_vartime_nanoseconds: f64,
}

fn one() -> u32 {
    1
}

/// Batches of powers too small to fill the device, in which each number has more lanes.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FewTuning {
    /// The least width of the modulus, in limbs.
    pub min_width: usize,
    /// The most lanes of all numbers together for which each number may have twice as many.
    pub most_lanes: usize,
    /// The least limbs of the modulus that a lane keeps.
    pub limbs_of_lane: usize,
}

/// The times of a transform by a block for up to `8 lanes` limbs
/// ([`Plan::lanes`](bigint_core::transform::Plan::lanes)), in a batch that fills the device and
/// alone.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FftTuning {
    /// The number of lanes: one of [`LANES`](bigint_core::transform::LANES).
    pub lanes: u32,
    /// The time of one product.
    pub nanoseconds: f64,
    /// The time of one square.
    pub square_nanoseconds: f64,
    /// The time of a single product, launch included.
    pub alone_nanoseconds: f64,
    /// The time of a single square, launch included.
    pub square_alone_nanoseconds: f64,
}

/// A product by Toeplitz matrices of operands of up to `max_width` limbs, in a batch that fills the
/// device, takes so many `nanoseconds`, and `limb_nanoseconds` more for each limb of the narrower one.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ToeplitzTuning {
    /// The wider operand's limbs, at most.
    pub max_width: usize,
    /// The fewest products: a warp takes longer for one than a block does.
    #[serde(default)]
    pub min_count: usize,
    /// Whatever the narrower operand.
    pub nanoseconds: f64,
    /// For each of its limbs.
    pub limb_nanoseconds: f64,
}

/// The times of transforms over the complex numbers on the whole device: a round of launches takes
/// `launch_nanoseconds`, and more for each digit of the transform's length and each number.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct GridTuning {
    /// The time of all launches of a round.
    pub launch_nanoseconds: f64,
    /// The time for a digit of a product.
    pub digit_nanoseconds: f64,
    /// The time for a digit of a square.
    pub square_digit_nanoseconds: f64,
    /// The time for a digit of a product that has more than 10 MB of points.
    pub far_digit_nanoseconds: f64,
    /// The time for a digit of a square that has more than 10 MB of points.
    pub far_square_digit_nanoseconds: f64,
}

/// The times of transforms modulo primes on the whole device, in the same way, for each limb of the
/// length.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct NttTuning {
    /// The time of all launches of a round.
    pub launch_nanoseconds: f64,
    /// The time for a limb of the length of a product.
    pub limb_nanoseconds: f64,
    /// The time for a limb of the length of a square.
    pub square_limb_nanoseconds: f64,
    /// The length in limbs of the shortest transform that is used where one over the complex
    /// numbers would do.
    pub shortest: usize,
    /// The length in limbs of the longest transform, at least 512; longer products are made of
    /// several, of pieces of their operands.
    pub longest: usize,
}

/// Thresholds of squares modulo `2^p - 1`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MersenneTuning {
    /// The exponent from which on the CPU squares by a transform in doubles.
    pub doubles_min_exponent: u32,
    /// The bits of a word that transforms in two launches on a device hold beyond the CPU's.
    pub more_bits: f64,
    /// The length in words from which on a longer transform in two launches takes less time than
    /// one in three.
    pub two_launches_min_words: usize,
    /// The least bits of a word of that longer transform: with fewer, a carry is more than a word.
    pub min_bits: usize,
}

/// The times of starting and feeding devices, and of computing on the CPU and on devices.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StartTuning {
    /// The milliseconds in which the driver starts and opens a device. With 0, devices are opened
    /// when first needed, and waited for.
    pub driver_ms: f64,
    /// The milliseconds in which the driver loads a kernel from its cache. With 0, kernels are
    /// waited for.
    pub module_ms: f64,
    /// The milliseconds in which the driver compiles a kilobyte of a kernel's PTX.
    #[serde(default = "shipped_compile")]
    pub compile_kilobyte_ms: f64,
    /// The rate of the link between host and device, in gigabytes per second.
    pub link_gigabytes_per_second: f64,
    /// The picoseconds for a limb of an operand that comes from another device by way of the host.
    #[serde(default = "shipped_sent")]
    pub sent_limb_ps: f64,
    /// The times of one core.
    pub core: CoreTuning,
    /// The times of one device, on work that fills it.
    #[serde(default = "shipped_device")]
    pub device: CoreTuning,
}

/// The times of one core or one device, in picoseconds.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CoreTuning {
    /// The time for a limb that is read or written.
    pub limb_ps: f64,
    /// The time for a limb times a limb in a product by rows.
    pub product_ps: f64,
    /// The time for a limb of the operands of a product by transforms.
    pub transformed_ps: f64,
    /// The time for a limb of a divisor times a limb of the dividend.
    pub quotient_ps: f64,
    /// The time for a squared limb of operands of common divisors, inverses and roots.
    pub euclid_ps: f64,
    /// The time for a squared limb of a product modulo a number, which a power takes for each bit
    /// of its exponent.
    pub residue_ps: f64,
    /// The products modulo a number for each limb of the exponents in a product of two powers.
    #[serde(default = "shipped_pair_products")]
    pub pair_products: f64,
    /// The most transforms, in those of a product's length, that a division takes; infinite where
    /// divisions use none.
    #[serde(default = "shipped_quotient_transforms")]
    pub quotient_transforms: f64,
}

// What a user's file does not say, the shipped one does.
fn shipped_mersenne() -> MersenneTuning {
    Tuning::default().mersenne
}

fn shipped_euclid() -> EuclidTuning {
    Tuning::default().euclid
}

fn shipped_decimals() -> DecimalsTuning {
    Tuning::default().decimals
}

fn shipped_own_kernel() -> usize {
    Tuning::default().mul.own_kernel_min_limbs
}

fn shipped_products_min_width() -> usize {
    Tuning::default().modular.products_min_width
}

fn shipped_rings_min_width() -> usize {
    Tuning::default().modular.rings_min_width
}

fn shipped_products_min_limbs() -> usize {
    Tuning::default().modular.products_min_limbs
}

fn shipped_differences_scan_max_width() -> usize {
    Tuning::default().modular.differences_scan_max_width
}

fn shipped_sent() -> f64 {
    Tuning::default().start.sent_limb_ps
}

fn shipped_compile() -> f64 {
    Tuning::default().start.compile_kilobyte_ms
}

fn shipped_device() -> CoreTuning {
    Tuning::default().start.device
}

fn shipped_pair_products() -> f64 {
    Tuning::default().start.core.pair_products
}

fn shipped_quotient_transforms() -> f64 {
    Tuning::default().start.core.quotient_transforms
}

impl StartTuning {
    /// The milliseconds in which the driver compiles a kernel of so many bytes of PTX.
    pub(crate) fn compile_ms(&self, bytes: usize) -> f64 {
        bytes as f64 / 1e3 * self.compile_kilobyte_ms
    }

    /// Milliseconds that so many limbs take between host and device.
    pub(crate) fn link_ms(&self, limbs: f64) -> f64 {
        limbs * size_of::<Limb>() as f64 / (1e6 * self.link_gigabytes_per_second)
    }
}

/// The first operation that is declared to cost so much: it has all numbers of lanes.
pub(crate) fn first(cost: Cost) -> Operation {
    let mut operations = Operation::ALL.into_iter();
    let found = operations.find(|operation| operation.cost() == cost);
    found.expect("each cost is an operation's")
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning::parse(
            include_str!("../../tuning/nvidia-h200.toml"),
            "tuning/nvidia-h200.toml",
        )
        .expect("the shipped tuning table is read by a test")
    }
}

impl Tuning {
    /// Where the thresholds come from, in words.
    #[must_use]
    pub fn origin(&self) -> String {
        let Provenance { machine, date, how } = &self.provenance;
        match self.is_modelled {
            true => format!("{how}, {date} ({})", self.file),
            false => format!("{machine}, {date} ({})", self.file),
        }
    }

    /// Reads a tuning file.
    ///
    /// # Errors
    /// [`Error::Tuning`] where the file cannot be read or says what no kernel can do.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Tuning::parse(&read_file(path)?, &path.display().to_string())
    }

    /// The text of a file with these thresholds.
    ///
    /// # Errors
    /// [`Error::Tuning`] where they cannot be written down.
    pub fn text(&self) -> Result<String, Error> {
        toml::to_string(self).map_err(|error| refused("thresholds", error))
    }

    pub(crate) fn parse(text: &str, path: &str) -> Result<Self, Error> {
        let refuse = |message: String| refused(path, message);
        let mut tuning: Tuning = parse(text, path)?;
        path.clone_into(&mut tuning.file);
        let tables = [
            ("mul", &tuning.mul.lanes, first(Cost::Product)),
            ("modular", &tuning.modular.lanes, first(Cost::Power)),
            ("modular", &tuning.modular.scan_lanes, first(Cost::Power)),
            (
                "modular",
                &tuning.modular.table_lanes,
                first(Cost::PowerByTable),
            ),
            ("div", &tuning.div.lanes, first(Cost::Quotient)),
        ];
        for (name, rows, operation) in tables {
            if rows.is_empty() {
                return Err(refuse(format!("{name}.lanes must have at least one row")));
            }
            let mut known = operation.lanes(Level::Warp).to_vec();
            if operation.multiplies_modulo() || operation.divides() {
                known.insert(0, 1);
            }
            if let Some(row) = rows.iter().find(|row| !known.contains(&row.lanes)) {
                let lanes = row.lanes;
                return Err(refuse(format!(
                    "{name}.lanes: {lanes} lanes cannot share a number: {known:?} can"
                )));
            }
        }
        let known = first(Cost::Product).lanes(Level::Block);
        let rows = &tuning.mul.fft;
        if rows.is_empty() || rows.iter().any(|row| !known.contains(&row.lanes)) {
            return Err(refuse(format!(
                "mul.fft must have at least one row, and blocks of {known:?} lanes"
            )));
        }
        if !known.contains(&tuning.mul.tree_max_lanes) {
            return Err(refuse(format!(
                "mul.tree_max_lanes must be one of {known:?}"
            )));
        }
        if tuning.mul.ntt.longest < 512 {
            return Err(refuse("mul.ntt.longest must be at least 512".to_owned()));
        }
        Ok(tuning)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_users_file_does_not_say_the_shipped_one_does() {
        let shipped = include_str!("../../tuning/nvidia-h200.toml");
        let (older, _) = shipped.split_once("[start.device]").unwrap();
        let added = [
            "sent_limb_ps",
            "pair_products",
            "quotient_transforms",
            "products_min",
            "differences_scan",
        ];
        let (mut lines, mut table) = (Vec::new(), "");
        for line in older.lines() {
            table = if line.starts_with('[') { line } else { table };
            if !["[decimals]", "[euclid]"].contains(&table)
                && !added.iter().any(|key| line.starts_with(key))
            {
                lines.push(line);
            }
        }
        let older = Tuning::parse(&lines.join("\n"), "mine.toml").unwrap();
        let shipped = Tuning::default();
        assert_eq!(older.start.sent_limb_ps, shipped.start.sent_limb_ps);
        assert_eq!(
            older.start.device.residue_ps,
            shipped.start.device.residue_ps
        );
        assert_eq!(older.mersenne.min_bits, shipped.mersenne.min_bits);
        assert_eq!(older.decimals.min_limbs, shipped.decimals.min_limbs);
        assert_eq!(older.euclid.min_limbs, shipped.euclid.min_limbs);
        let wrong = "[provenance]\nmachine = 3";
        let error = Tuning::parse(wrong, "mine.toml").unwrap_err().to_string();
        assert!(
            error.contains("mine.toml") && error.contains("line 2"),
            "{error}"
        );
    }

    #[test]
    fn a_table_with_five_lanes_or_an_unknown_key_is_refused() {
        let shipped = include_str!("../../tuning/nvidia-h200.toml");
        let five = shipped.replace("lanes = 8", "lanes = 5");
        let error = Tuning::parse(&five, "mine.toml").unwrap_err().to_string();
        assert!(error.contains("mine.toml") && error.contains("5 lanes"));
        let unknown = shipped.replace("thread_max_width", "thread_width");
        let error = Tuning::parse(&unknown, "mine.toml").unwrap_err();
        assert!(error.to_string().contains("thread_width"));
        let odd = shipped.replace("tree_max_lanes = 512", "tree_max_lanes = 500");
        let error = Tuning::parse(&odd, "mine.toml").unwrap_err().to_string();
        assert!(error.contains("tree_max_lanes must be one of"));
        let short = shipped.replace("longest = 67108864", "longest = 511");
        let error = Tuning::parse(&short, "mine.toml").unwrap_err();
        assert!(error.to_string().contains("at least 512"));
    }
}
