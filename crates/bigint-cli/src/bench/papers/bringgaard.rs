//! Bringgaard: one addition and ten, of 2^32 bits in all (tables 1 to 4), in his unit: two
//! operands and a result over the time, however many additions there are.
//!
//! His tables are of digits of 64 and of 32 bits; limbs here have 32. His ten additions are
//! `10 (a + b)`, and so are these.

use super::benchmark::{Benchmark, Case, Work, published};
use bigint_core::Operation;
use bigint_host::Form;

pub const BENCHMARK: Benchmark = Benchmark {
    name: "bringgaard",
    authors: "Bringgaard",
    title: "Efficient Big Integer Arithmetic Using GPGPU",
    published_on: "GTX 1650 SUPER",
    widths: &WIDTHS,
    count: |bits| (BITS_IN_ALL / bits).max(1),
    unit: "GB/s",
    figure: |bits, each| 3.0 * bits as f64 / 8.0 / each,
    samples: 10,
    is_mean: false,
    cases,
    drawn: &[
        (
            "1, 2",
            &[
                &["one sum"],
                &["one sum, u64 CGBN"],
                &["one sum, u64 C-V2"],
                &["one sum, u64 C-V3"],
                &["one sum, u64 F-V3"],
            ],
        ),
        (
            "3, 4",
            &[
                &["ten sums in one pass"],
                &["ten sums in one pass, u64 CGBN"],
                &["ten sums in one pass, u64 C-V2"],
                &["ten sums in one pass, u64 C-V3"],
                &["ten sums in one pass, u64 F-V3"],
                &["ten sums, each to memory"],
            ],
        ),
    ],
};

const BITS_IN_ALL: usize = 1 << 32;
const WIDTHS: [usize; 10] = [
    1 << 9,
    1 << 10,
    1 << 11,
    1 << 12,
    1 << 13,
    1 << 14,
    1 << 15,
    1 << 16,
    1 << 17,
    1 << 18,
];
const NONE: f64 = f64::NAN;

/// The published figures of one column, by width.
type Published = [f64; WIDTHS.len()];

/// The names of the tables' columns. Those that end in `-V`n are Bringgaard's own versions, in CUDA
/// (C) and Futhark (F).
const COLUMNS: [&str; 16] = [
    "u64 CGBN", "u64 C-V1", "u64 C-V2", "u64 C-V3", "u64 F-V0", "u64 F-V1", "u64 F-V2", "u64 F-V3",
    "u32 CGBN", "u32 C-V1", "u32 C-V2", "u32 C-V3", "u32 F-V0", "u32 F-V1", "u32 F-V2", "u32 F-V3",
];

/// The figures of tables 1 and 2, a row for each of their columns.
const ONE: [Published; COLUMNS.len()] = [
    [118., 156., 164., 165., 164., 84., 19., 19., 67., 62.],
    [55., 107., 169., 168., 168., 168., 168., 168., NONE, NONE],
    [47., 92., 162., 168., 168., 168., 167., 166., 161., 147.],
    [167., 166., 166., 166., 165., 166., 166., 166., 163., 161.],
    [36., 72., 134., 157., 158., 150., 146., 116., NONE, NONE],
    [47., 91., 165., 168., 168., 168., 168., 155., NONE, NONE],
    [20., 38., 75., 142., 168., 168., 168., 158., NONE, NONE],
    [168., 168., 168., 168., 168., 168., 168., 146., NONE, NONE],
    [118., 156., 164., 165., 164., 84., 19., 19., 67., 62.],
    [54., 105., 155., 169., 169., 163., 136., NONE, NONE, NONE],
    [47., 92., 159., 168., 168., 168., 168., 168., 168., 104.],
    [168., 168., 168., 168., 168., 168., 168., 168., 168., 100.],
    [37., 72., 83., 84., 79., 76., 61., NONE, NONE, NONE],
    [47., 91., 121., 122., 115., 112., 83., NONE, NONE, NONE],
    [20., 39., 77., 145., 169., 169., 165., 124., NONE, NONE],
    [158., 158., 157., 157., 158., 157., 153., 115., NONE, NONE],
];

/// The figures of tables 3 and 4, a row for each of their columns.
const TEN: [Published; COLUMNS.len()] = [
    [113., 152., 161., 164., 162., 97., 45., 73., 60., 25.],
    [6., 12., 24., 35., 45., 50., 47., 40., NONE, NONE],
    [6., 12., 23., 44., 82., 113., 137., 142., 120., 108.],
    [124., 124., 124., 123., 123., 124., 124., 124., 109., 92.],
    [4., 8., 15., 17., 19., 19., 15., NONE, NONE, NONE],
    [7., 13., 25., 29., 31., 27., 24., NONE, NONE, NONE],
    [3., 5., 11., 20., 30., 32., 34., 27., NONE, NONE],
    [29., 29., 29., 29., 29., 29., 29., 24., NONE, NONE],
    [113., 152., 161., 164., 162., 97., 45., 73., 60., 25.],
    [6., 12., 17., 23., 25., 24., 21., NONE, NONE, NONE],
    [6., 11., 23., 44., 62., 79., 88., 81., 66., 75.],
    [77., 77., 77., 77., 77., 77., 77., 68., 55., 76.],
    [4., 8., 9., 10., 10., 9., 9., NONE, NONE, NONE],
    [7., 13., 16., 17., 18., 17., 14., NONE, NONE, NONE],
    [3., 6., 11., 20., 23., 26., 25., 23., NONE, NONE],
    [24., 24., 24., 24., 24., 24., 23., 21., NONE, NONE],
];

fn cases(bits: usize, _on_device: bool) -> Vec<Case> {
    let beside = |mut case: Case, table: &[Published; COLUMNS.len()]| {
        for (name, column) in COLUMNS.iter().zip(table) {
            case = case.beside(name, published(&WIDTHS, column, bits));
        }
        case
    };
    let one = Work::Of(Operation::Add, Form::Wrapping);
    let (tables_1_2, tables_3_4) = ("1, 2: one addition", "3, 4: ten additions");
    vec![
        beside(Case::new(tables_1_2, "one sum", one), &ONE),
        beside(
            Case::new(tables_3_4, "ten sums in one pass", Work::TenSumsAtOnce),
            &TEN,
        ),
        Case::new(tables_3_4, "ten sums, each to memory", Work::TenSums),
    ]
}
