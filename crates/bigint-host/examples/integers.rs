//! What operations on `Integers` take beside num-bigint's, on this machine's CPU.
//!
//! ```sh
//! cargo run --release -p bigint-host --example integers            # or RAYON_NUM_THREADS=1 ...
//! ```
//!
//! Columns of about a megabyte; nanoseconds for each number, the least of several runs. On a machine
//! that is not quiet, count instructions instead: after "once" each operation runs once to warm up
//! and once in `one_run`, on shorter columns, and the "summary" line of every second file that
//! callgrind writes counts a run. It counts each byte of a copy by `rep movsb` as an instruction, so
//! the C library is told to copy by vectors:
//!
//! ```sh
//! export GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=100000000
//! GLIBC_TUNABLES=$GLIBC_TUNABLES:glibc.cpu.x86_rep_stosb_threshold=100000000
//! RAYON_NUM_THREADS=1 valgrind --tool=callgrind --callgrind-out-file=counted \
//!     --dump-before='*one_run*' --dump-before='*after_run*' \
//!     target/release/examples/integers once 64
//! ```

use bigint_host::{BigInt, Engine, Error, Integers};
use num_bigint::Sign;
use std::hint::black_box;
use std::time::Instant;

/// Bits of the numbers in each column, together, and runs of which the least time counts.
#[derive(Clone, Copy)]
struct Extent {
    bits: usize,
    runs: usize,
}

const TIMED: Extent = Extent {
    bits: 1 << 23,
    runs: 7,
};

const ONCE: Extent = Extent {
    bits: 1 << 20,
    runs: 1,
};

fn main() -> Result<(), Error> {
    let mut words = std::env::args().skip(1).peekable();
    let extent = match words.next_if_eq("once") {
        Some(_) => ONCE,
        None => TIMED,
    };
    let mut widths: Vec<usize> = words
        .map(|width| width.parse().expect("widths are numbers of bits"))
        .collect();
    if widths.is_empty() {
        widths = vec![64, 128, 512, 640, 2048, 16_384];
    }
    println!("bits operation num-bigint Integers ratio");
    for bits in widths {
        table(bits, extent, &Engine::cpu())?;
    }
    Ok(())
}

/// Prints what one width takes.
fn table(bits: usize, extent: Extent, engine: &Engine) -> Result<(), Error> {
    let count = (extent.bits / bits).max(4);
    let (x, y) = (numbers(bits, count, 1), numbers(bits, count, 2));
    let texts: Vec<String> = x.iter().map(BigInt::to_string).collect();
    let (a, b) = (Integers::from_bigints(&x)?, Integers::from_bigints(&y)?);
    let wide = Integers::from_bigints(&each(&x, &y, |x, y| x * y))?;
    let product = wide.to_bigints()?;
    let row = |operation: &str, theirs: &dyn Fn(), ours: &dyn Fn()| {
        let [theirs, ours] = [theirs, ours].map(|work| least(work, extent.runs));
        let (theirs, ours) = (theirs / count as f64, ours / count as f64);
        println!(
            "{bits} {operation} {theirs:.1} {ours:.1} {:.2}",
            ours / theirs
        );
    };
    row("copy", &|| drop(black_box(x.clone())), &|| {
        drop(black_box(a.slice(0..count)))
    });
    // Nobody has to convert theirs: beside it stands the way through a batch of one width.
    let magnitudes: Vec<_> = x.iter().map(|x| x.magnitude().clone()).collect();
    row(
        "round-trip",
        &|| {
            let batch = engine.batch_from_biguints(&magnitudes).unwrap();
            black_box(batch.to_biguints().unwrap());
        },
        &|| {
            black_box(Integers::from_bigints(&x).and_then(|a| a.to_bigints())).unwrap();
        },
    );
    row(
        "write-decimal",
        &|| {
            drop(black_box(
                x.iter().map(BigInt::to_string).collect::<Vec<_>>(),
            ))
        },
        &|| drop(black_box(a.decimals().collect::<Vec<_>>())),
    );
    row(
        "read-decimal",
        &|| {
            let numbers = texts.iter().map(|text| text.parse::<BigInt>().unwrap());
            black_box(numbers.collect::<Vec<_>>());
        },
        &|| drop(black_box(Integers::from_texts(&texts))),
    );
    row(
        "a+b",
        &|| drop(black_box(each(&x, &y, |x, y| x + y))),
        &|| drop(black_box(engine.eval(&(&a + &b)).unwrap())),
    );
    row(
        "x-1",
        &|| drop(black_box(each(&x, &y, |x, _| x - 1))),
        &|| drop(black_box(engine.eval(&(&a - 1)).unwrap())),
    );
    row(
        "a*b+a",
        &|| drop(black_box(each(&x, &y, |x, y| x * y + x))),
        &|| drop(black_box(engine.eval(&(&a * &b + &a)).unwrap())),
    );
    row(
        "compare",
        &|| drop(black_box(each(&x, &y, |x, y| x.cmp(y)))),
        &|| drop(black_box(engine.compare(&a, &b).unwrap())),
    );
    row(
        "min",
        &|| drop(black_box(each(&x, &y, |x, y| x.min(y).clone()))),
        &|| drop(black_box(engine.min(&a, &b).unwrap())),
    );
    row(
        "sum",
        &|| drop(black_box(x.iter().sum::<BigInt>())),
        &|| drop(black_box(engine.sum(&a).unwrap())),
    );
    row(
        "a*b",
        &|| drop(black_box(each(&x, &y, |x, y| x * y))),
        &|| drop(black_box(engine.eval(&(&a * &b)).unwrap())),
    );
    row(
        "ab/a",
        &|| drop(black_box(each(&product, &x, |x, y| x / y))),
        &|| drop(black_box(engine.div_rem_truncated(&wide, &a).unwrap())),
    );
    row(
        "a<<7",
        &|| drop(black_box(each(&x, &y, |x, _| x << 7))),
        &|| drop(black_box(engine.shl(&a, &one(7)).unwrap())),
    );
    row(
        "a>>7",
        &|| drop(black_box(each(&x, &y, |x, _| x >> 7))),
        &|| drop(black_box(engine.shr(&a, &one(7)).unwrap())),
    );
    Ok(())
}

fn one(number: i32) -> Integers {
    [BigInt::from(number)].into_iter().collect()
}

/// What `operation` makes of each pair.
fn each<R>(x: &[BigInt], y: &[BigInt], operation: impl Fn(&BigInt, &BigInt) -> R) -> Vec<R> {
    x.iter().zip(y).map(|(x, y)| operation(x, y)).collect()
}

/// Nanoseconds of the quickest of so many runs after a first.
fn least(work: &dyn Fn(), runs: usize) -> f64 {
    work();
    let run = |_| {
        let started = Instant::now();
        one_run(work);
        let elapsed = started.elapsed().as_nanos() as f64;
        after_run();
        elapsed
    };
    (0..runs).map(run).fold(f64::INFINITY, f64::min)
}

/// A function of its own, so that a profiler can tell where a counted run begins.
#[inline(never)]
fn one_run(work: &dyn Fn()) {
    work();
}

/// Where a counted run has ended.
#[inline(never)]
fn after_run() {
    black_box(());
}

/// Numbers of so many bits, of either sign.
fn numbers(bits: usize, count: usize, seed: u64) -> Vec<BigInt> {
    let mut state = seed;
    let mut word = || {
        state = state
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 32) as u32
    };
    let number = |i| {
        let mut limbs: Vec<u32> = (0..bits.div_ceil(32)).map(|_| word()).collect();
        if let Some(top) = limbs.last_mut() {
            *top |= 1 << 31;
        }
        let sign = if i % 3 == 0 { Sign::Minus } else { Sign::Plus };
        BigInt::from_slice(sign, &limbs)
    };
    (0..count).map(number).collect()
}
