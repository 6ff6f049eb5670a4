//! Honda, Ito and Nakano: products by one thread and by one warp (tables II and III).
//!
//! Their 1024-bit product is "sum-rotate": lane `i` has `a[i]`, all multiply by one limb of
//! `b`, and sums rotate from lane to lane. Their wider products are Comba's and Karatsuba's
//! over it. School at warp level is the same with many limbs in a lane; Comba here sums a
//! column in each lane. Karatsuba here splits twice wherever it can, so that there is
//! nothing beside their single split, nor beside what goes by way of shared memory.

use super::benchmark::{Benchmark, Case, Who, Work, published};
use bigint_core::{Algorithm, Level, Operation};
use bigint_host::Form;

pub const BENCHMARK: Benchmark = Benchmark {
    name: "honda",
    authors: "Honda, Ito and Nakano",
    title: "A Warp-synchronous Implementation for Multiple-length Multiplication on the GPU",
    published_on: "GeForce GTX 980 and Xeon X7460",
    widths: &WIDTHS,
    count: |_| NUMBERS,
    unit: "ms for 100,000",
    figure: |_, each| each * NUMBERS as f64 / 1e6,
    samples: 10,
    is_mean: false,
    cases,
    drawn: &[
        (
            "III",
            &[
                &["CPU, one thread", "CPU, one thread, Xeon X7460, GMP 4.1.4"],
                &["CPU, all threads"],
                &["GPU, best", "GPU, best, GTX 980, best"],
            ],
        ),
        (
            "II",
            &[
                &["thread, Comba", "thread, Comba, GTX 980"],
                &[
                    "thread, Karatsuba twice",
                    "thread, Karatsuba twice, GTX 980",
                ],
                &["warp, Comba", "warp, Comba, GTX 980"],
                &["warp, sum-rotate (School)"],
                &["CPU, school"],
                &["CPU, comba"],
                &["CPU, karatsuba"],
            ],
        ),
    ],
};

const NUMBERS: usize = 100_000;
const WIDTHS: [usize; 6] = [1024, 2048, 4096, 8192, 16384, 32768];
const NONE: f64 = f64::NAN;

const TABLE_II: &str = "II";
const TABLE_III: &str = "III";

type Column = [f64; WIDTHS.len()];

/// The figures of one thread: by Comba, Karatsuba, and Karatsuba twice.
const THREAD: [Column; 3] = [
    [5.06, 38.96, 165.56, 684.61, 2806.77, 11411.26],
    [6.59, 21.62, 80.22, 320.46, 1288.00, 5333.75],
    [5.62, 16.54, 58.02, 219.59, 867.14, 3896.67],
];
const WARP_BY_MEMORY: [Column; 3] = [
    [1.99, 8.28, 32.16, 125.84, 501.04, 2078.12],
    [NONE, 15.64, 45.56, 150.34, 560.37, 2057.02],
    [NONE, NONE, 60.24, 164.61, 589.34, 2331.08],
];
const WARP_BY_SHUFFLES: [Column; 3] = [
    [1.52, 7.50, 26.16, 103.00, 440.38, 1729.08],
    [NONE, 12.08, 35.48, 118.73, 435.23, 1653.45],
    [NONE, NONE, 53.38, 144.79, 490.27, 1819.33],
];
const BEST_ON_GPU: Column = [1.52, 7.50, 26.16, 103.00, 435.23, 1653.45];
const CPU: Column = [95.34, 315.65, 1031.40, 3254.28, 10505.87, 30928.49];

fn cases(bits: usize, on_device: bool) -> Vec<Case> {
    let product = Work::Of(Operation::Mul, Form::Exact);
    let of = |column: &Column| published(&WIDTHS, column, bits);
    let mut cases = Vec::new();
    let mut case = |method: &str, work, algorithm, lanes, column| {
        let case = Case::new(TABLE_II, method, work).by(algorithm, lanes);
        cases.push(case.beside("GTX 980", of(column)));
    };
    if on_device {
        let thread = Some((Level::Thread, 1));
        let warp = Some((Level::Warp, 32));
        let [comba, karatsuba, twice] = &THREAD;
        case("thread, Comba", product, Algorithm::Comba, thread, comba);
        case(
            "thread, Karatsuba",
            Work::Nothing,
            Algorithm::Auto,
            None,
            karatsuba,
        );
        case(
            "thread, Karatsuba twice",
            product,
            Algorithm::Karatsuba,
            thread,
            twice,
        );
        let [comba, karatsuba, twice] = &WARP_BY_MEMORY;
        for (method, column) in [
            ("warp, sum-rotate and Comba by shared memory", comba),
            ("warp, Karatsuba by shared memory", karatsuba),
            ("warp, Karatsuba twice by shared memory", twice),
        ] {
            case(method, Work::Nothing, Algorithm::Auto, None, column);
        }
        let [comba, karatsuba, twice] = &WARP_BY_SHUFFLES;
        case(
            "warp, sum-rotate (School)",
            product,
            Algorithm::School,
            warp,
            comba,
        );
        case("warp, Comba", product, Algorithm::Comba, warp, comba);
        case(
            "warp, Karatsuba",
            Work::Nothing,
            Algorithm::Auto,
            None,
            karatsuba,
        );
        case(
            "warp, Karatsuba twice",
            product,
            Algorithm::Karatsuba,
            warp,
            twice,
        );
    } else {
        for algorithm in [Algorithm::School, Algorithm::Comba, Algorithm::Karatsuba] {
            let method = format!("CPU, {}", algorithm.name());
            cases.push(Case::new(TABLE_II, &method, product).by(algorithm, None));
        }
    }
    let best = match on_device {
        true => product,
        false => Work::Nothing,
    };
    let best = Case::new(TABLE_III, "GPU, best", best);
    cases.push(best.beside("GTX 980, best", of(&BEST_ON_GPU)));
    for (method, threads) in [("CPU, one thread", Some(1)), ("CPU, all threads", None)] {
        let case = Case::new(TABLE_III, method, product).beside("Xeon X7460, GMP 4.1.4", of(&CPU));
        cases.push(Case {
            who: Who::Cpu(threads),
            ..case
        });
    }
    cases
}
