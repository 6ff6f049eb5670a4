//! Thresholds of the GPU back end: data with provenance, read from a file.

use crate::Error;
use crate::tuning::{parse, read_file, refused};
use bigint_core::operation::Cost;
use bigint_core::{Level, Limb, Operation};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Where one kernel takes over from another.
///
/// The table that ships with the crate is `tuning/nvidia-h200.toml`; its form is the
/// form of a user's own file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    /// On which machine, when and how the thresholds were found.
    pub provenance: Provenance,
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
    /// The file that they were read from.
    #[serde(skip)]
    pub(crate) file: String,
}

/// Where a table of thresholds comes from.
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
#[derive(Clone, Debug, Deserialize)]
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
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimbwiseTuning {
    /// The narrowest interleaved result that one thread computes, where there are as many
    /// numbers as for a sum; whole warps take neighbouring words of any other.
    pub interleaved_thread_min_width: usize,
    /// The same where an operand [guides](bigint_core::operation::Property::Guided) all limbs of a
    /// number: a thread looks at that operand once.
    pub interleaved_thread_min_told_width: usize,
}

/// Thresholds of comparisons, counts of bits and the like, widths in limbs. Of interleaved
/// numbers there must be as many as for a sum before threads take one each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScanTuning {
    /// The widest contiguous operand that one thread has to itself.
    pub thread_max_width: usize,
}

/// Thresholds of multiplication, widths in limbs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MulTuning {
    /// The widest operand whose product one thread computes.
    pub thread_max_width: usize,
    /// The widest operand whose product one thread computes as well, where operands are
    /// about as wide as each other: a tile of neighbouring numbers then goes by way of
    /// shared memory ([`placed_width`](bigint_core::kernel::placed_width)).
    pub thread_placed_max_width: usize,
    /// The widest operand of [many](Self::thread_many_min_count) products that one thread
    /// computes in the same way, of numbers whose limbs lanes move four at a time.
    pub thread_many_fours_max_width: usize,
    /// The same of any other numbers.
    pub thread_many_max_width: usize,
    /// So many products are enough threads, where lanes could share each.
    pub thread_many_min_count: usize,
    /// The widest operand that a thread multiplies by columns.
    pub comba_max_width_thread: usize,
    /// The widest operand whose high half of a product, or product with a sum, is made by
    /// columns: where operands are wider, it is made of the whole product.
    pub columns_max_width: usize,
    /// Lanes per number by the wider operand's width, narrowest first.
    pub lanes: Vec<LanesTuning>,
    /// The narrower operand from which a thread uses Karatsuba.
    pub karatsuba_min_width_thread: usize,
    /// The narrower operand from which a warp uses Karatsuba.
    pub karatsuba_min_width_warp: usize,
    /// The narrowest operand whose product by itself a device computes as a square.
    pub square_min_width: usize,
    /// The same of [many](Self::thread_many_min_count) products.
    pub square_many_min_width: usize,
    /// The widest number that lanes square in less time than they multiply two.
    pub square_lanes_max_width: usize,
    /// What a product by rows takes for each limb of one operand and each of the other, in
    /// nanoseconds of a batch that fills the device.
    pub school_nanoseconds: f64,
    /// What a transform takes, by the lanes of its block, fewest first.
    pub fft: Vec<FftTuning>,
    /// Products of a step of a tree, at most, that are by one kernel for all such steps: they take
    /// as long as one does.
    pub tree_few: usize,
    /// Threads of a block, at most, that this kernel has.
    pub tree_max_lanes: u32,
    /// What transforms on the whole device take.
    pub grid: GridTuning,
    /// What those modulo primes take.
    pub ntt: NttTuning,
    /// The widest narrower operand for which `auto` uses a device.
    pub device_max_width: usize,
}

/// Thresholds of division, widths in limbs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DivTuning {
    /// The widest operand of common divisors and inverses for which `auto` uses a device.
    pub gcd_device_max_width: usize,
    /// The same of square roots.
    pub root_device_max_width: usize,
    /// The widest number whose square root a thread finds by itself.
    pub root_thread_max_width: usize,
    /// The widest divisor for which `auto` uses a device.
    pub device_max_width: usize,
    /// Limbs of a batch of wider numbers from which on `auto` has a device divide them, and find their
    /// roots, by steps of Newton's.
    #[serde(default = "newton_min_limbs")]
    pub newton_min_limbs: usize,
    /// Lanes per number by the width of the divisor, narrowest first; 1 for a thread, which
    /// also has interleaved numbers whose divisor its registers hold, and any divisor that no
    /// lanes hold. Where registers of so many do not hold it, the next number of lanes that do.
    pub lanes: Vec<LanesTuning>,
}

/// For files that do not say.
fn newton_min_limbs() -> usize {
    1 << 18
}

/// Thresholds of programs that are one launch, widths in limbs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FusedTuning {
    /// The widest value of a program that multiplies.
    pub product_max_width: usize,
}

/// Thresholds of what several devices share, and of what goes to and fro.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DevicesTuning {
    /// Nanoseconds that each device costs an operation.
    pub launch_ns: f64,
    /// Limbs of a list's results from which on a thread of its own fetches them.
    pub fetched_apart_limbs: usize,
    /// Limbs of each operand from which on a list's sums are segments.
    pub segments_limbs: usize,
}

/// Up to `max_width` limbs, `lanes` lanes share a number.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LanesTuning {
    /// The widest operand, in limbs.
    pub max_width: usize,
    /// 4, 8, 16 or 32; or 1, where threads have numbers to themselves.
    pub lanes: u32,
}

/// Thresholds of products and powers modulo numbers, widths in limbs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModularTuning {
    /// Lanes per number by the width of the modulus, narrowest first; 1 for a thread. Where
    /// registers of so many do not hold it, the next number of lanes that do.
    pub lanes: Vec<LanesTuning>,
    /// The same of powers in constant time, which read their whole table again and again:
    /// more warps wait for it together.
    pub scan_lanes: Vec<LanesTuning>,
    /// The same of powers of a base by its table, in constant time: products alone.
    pub table_lanes: Vec<LanesTuning>,
    /// When numbers have more lanes than that.
    pub few: FewTuning,
}

/// When batches of powers are too small to fill the device, and each has more lanes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FewTuning {
    /// Limbs of the modulus from which on they have.
    pub min_width: usize,
    /// Lanes of all numbers together, up to which each may have twice as many.
    pub most_lanes: usize,
    /// Limbs of the modulus that each lane keeps at least.
    pub limbs_of_lane: usize,
}

/// A transform by a block, of up to `8 lanes` limbs ([`Plan::lanes`](bigint_core::transform::Plan::lanes)), takes so many
/// `nanoseconds` of a batch that fills the device, and `alone_nanoseconds` where it is alone.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FftTuning {
    /// 16, 32, 64, 128, 256, 512 or 1024.
    pub lanes: u32,
    /// For one product.
    pub nanoseconds: f64,
    /// For one square.
    pub square_nanoseconds: f64,
    /// For one product by itself, launch and all.
    pub alone_nanoseconds: f64,
    /// For one square by itself.
    pub square_alone_nanoseconds: f64,
}

/// A round of launches on the whole device takes `launch_nanoseconds`, and so many
/// `digit_nanoseconds` more for each digit of a transform's length and each number.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GridTuning {
    /// For all launches of a round.
    pub launch_nanoseconds: f64,
    /// For one digit of a product.
    pub digit_nanoseconds: f64,
    /// For one digit of a square.
    pub square_digit_nanoseconds: f64,
    /// For one digit of a product whose points leave the cache between launches.
    pub far_digit_nanoseconds: f64,
    /// The same of a square.
    pub far_square_digit_nanoseconds: f64,
}

/// What transforms modulo primes take in the same way, for each limb of their length.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NttTuning {
    /// For all launches of a round.
    pub launch_nanoseconds: f64,
    /// For one limb of the length of a product.
    pub limb_nanoseconds: f64,
    /// For one limb of the length of a square.
    pub square_limb_nanoseconds: f64,
    /// Limbs of the shortest that is taken where there is one over the complex numbers too.
    pub shortest: usize,
    /// Limbs of the longest: longer products are made of several, of pieces of their operands.
    /// 512 at least.
    pub longest: usize,
}

/// Thresholds of squares modulo `2^p - 1`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MersenneTuning {
    /// The exponent from which on the CPU squares by a transform in doubles.
    pub doubles_min_exponent: u32,
    /// Bits of a word that a device's transforms in two launches hold beyond what the CPU's do.
    pub more_bits: f64,
    /// Words from which on a longer transform in two launches takes less time than one in three.
    pub two_launches_min_words: usize,
    /// Bits that a word of that longer transform has at least: with fewer a carry is more than a
    /// word.
    pub min_bits: usize,
}

/// What it takes to use a device, and the CPU's time for what it would do.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartTuning {
    /// Milliseconds that the driver takes to start and to open a device. With none, devices are
    /// opened when first of use, and waited for.
    pub driver_ms: f64,
    /// Milliseconds that it takes for a kernel that its cache has. With none, kernels are waited
    /// for.
    pub module_ms: f64,
    /// Gigabytes per second between host and device.
    pub link_gigabytes_per_second: f64,
    /// Picoseconds for a limb of an operand that comes from another device, by way of the host.
    #[serde(default = "shipped_sent")]
    pub sent_limb_ps: f64,
    /// What one core takes.
    pub core: CoreTuning,
    /// What one device takes, of work that fills it.
    #[serde(default = "shipped_device")]
    pub device: CoreTuning,
}

/// Picoseconds that one core takes, or one device.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoreTuning {
    /// For a limb that is read or written.
    pub limb_ps: f64,
    /// For a limb times a limb in a product by rows.
    pub product_ps: f64,
    /// For a limb of the operands of a product by transforms.
    pub transformed_ps: f64,
    /// For a limb of a divisor times one of the dividend.
    pub quotient_ps: f64,
    /// For a limb squared of operands of common divisors, inverses and roots.
    pub euclid_ps: f64,
    /// For a limb squared of a product modulo a number; of a power for each bit of the exponent.
    pub residue_ps: f64,
    /// Products modulo a number for each limb of the exponents of a product of two powers.
    #[serde(default = "shipped_pair_products")]
    pub pair_products: f64,
    /// Transforms of a product's length that a division takes at most; infinite where divisions
    /// use none.
    #[serde(default = "shipped_quotient_transforms")]
    pub quotient_transforms: f64,
}

// What a user's file does not say, the shipped one does.
fn shipped_mersenne() -> MersenneTuning {
    Tuning::default().mersenne
}

fn shipped_sent() -> f64 {
    Tuning::default().start.sent_limb_ps
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
    /// Milliseconds that so many limbs take between host and device.
    pub(crate) fn link_ms(&self, limbs: f64) -> f64 {
        limbs * size_of::<Limb>() as f64 / (1e6 * self.link_gigabytes_per_second)
    }
}

/// The first operation that is declared to cost so much: it has all numbers of lanes.
fn first(cost: Cost) -> Operation {
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
    /// Reads a tuning file.
    ///
    /// # Errors
    /// [`Error::Tuning`] where the file cannot be read or says what no kernel can do.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Tuning::parse(&read_file(path)?, &path.display().to_string())
    }

    fn parse(text: &str, path: &str) -> Result<Self, Error> {
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
        let added = ["sent_limb_ps", "pair_products", "quotient_transforms"];
        let lines = older.lines();
        let older: Vec<_> = lines
            .filter(|line| !added.iter().any(|key| line.starts_with(key)))
            .collect();
        let older = Tuning::parse(&older.join("\n"), "mine.toml").unwrap();
        let shipped = Tuning::default();
        assert_eq!(older.start.sent_limb_ps, shipped.start.sent_limb_ps);
        assert_eq!(
            older.start.device.residue_ps,
            shipped.start.device.residue_ps
        );
        assert_eq!(older.mersenne.min_bits, shipped.mersenne.min_bits);
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
