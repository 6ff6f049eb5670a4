//! Carlessi and Kashani: sums, sums modulo a number and products of fixed widths, one thread
//! for each number (chapter 4): School against Karatsuba, registers against memory, and both
//! layouts. They published drawings, and so there is no figure beside these.
//!
//! Karatsuba here does not split operands of fewer than 16 limbs: at their widths it is its
//! base, Comba, with the way to it; from 512 bits on it splits. School keeps a product of 5 to
//! 32 limbs in registers, Comba reads limbs from memory for each four columns.

use super::benchmark::{Benchmark, Case, Work};
use bigint_core::{Algorithm, Layout, Level, Operation};
use bigint_host::Form;

pub const BENCHMARK: Benchmark = Benchmark {
    name: "carlessi",
    authors: "Carlessi and Kashani",
    title: "Implementing generic multiple-precision arithmetic on CUDA GPUs",
    published_on: "GPUs of the generations Fermi and Kepler",
    widths: &[109, 131, 163, 191, 239, 512, 1024],
    count: |_| 1024 * 1024,
    unit: "ns each",
    figure: |_, each| each,
    samples: 10,
    is_mean: false,
    cases,
    drawn: &[
        (
            "sums",
            &[
                &["add, contiguous"],
                &["add, interleaved"],
                &["mod_add, contiguous"],
                &["mod_add, interleaved"],
            ],
        ),
        (
            "School against Karatsuba",
            &[
                &["school, contiguous"],
                &["school, interleaved"],
                &["karatsuba, contiguous"],
                &["karatsuba, interleaved"],
                &["comba, interleaved"],
            ],
        ),
        (
            "registers against memory",
            &[&["ten sums in registers"], &["ten sums, each to memory"]],
        ),
    ],
};

fn cases(_bits: usize, on_device: bool) -> Vec<Case> {
    let thread = on_device.then_some((Level::Thread, 1));
    let mut cases = Vec::new();
    for layout in Layout::ALL {
        let mut case = |table, name: &str, work, algorithm| {
            let method = format!("{name}, {}", layout.name());
            let case = Case::new(table, &method, work).by(algorithm, thread);
            cases.push(Case { layout, ..case });
        };
        for operation in [
            Operation::Add,
            Operation::Sub,
            Operation::ModAdd,
            Operation::ModSub,
        ] {
            let form = match operation.declaration().wraps {
                true => Form::Wrapping,
                false => Form::Exact,
            };
            let work = Work::Of(operation, form);
            case("sums", operation.name(), work, Algorithm::Auto);
        }
        let product = Work::Of(Operation::Mul, Form::Exact);
        for algorithm in [Algorithm::School, Algorithm::Karatsuba, Algorithm::Comba] {
            case(
                "School against Karatsuba",
                algorithm.name(),
                product,
                algorithm,
            );
        }
    }
    let registers = "registers against memory";
    cases.push(Case::new(
        registers,
        "ten sums in registers",
        Work::TenSumsAtOnce,
    ));
    cases.push(Case::new(
        registers,
        "ten sums, each to memory",
        Work::TenSums,
    ));
    cases
}
