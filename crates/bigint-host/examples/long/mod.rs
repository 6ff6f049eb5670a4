//! What the examples of long numbers share: their arguments, random numbers, and times.

use bigint_host::{Engine, Error, Limb};
use std::hash::{BuildHasher, RandomState};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How often something is timed, and how often where it takes no time at all.
const TIMES: [u32; 2] = [3, 20];

/// What takes longer is timed once; what takes shorter all together, more often.
const LONG: [Duration; 2] = [Duration::from_secs(5), Duration::from_millis(100)];

/// The engine of the command line, the CPU's where `cpu` comes first and the first GPU's where `gpu` does, and the
/// arguments behind it.
fn engine_and_arguments() -> (Engine, Vec<String>) {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let engine = match arguments.first().map_or("", String::as_str) {
        "cpu" => Engine::cpu(),
        "gpu" => Engine::cuda(0).unwrap_or_else(|error| {
            eprintln!("error: {error}");
            std::process::exit(1)
        }),
        _ => return (Engine::auto(), arguments),
    };
    arguments.remove(0);
    (engine, arguments)
}

/// Checks numbers of as many bits as each argument says, one and then as many as have `together` bits, up to the first
/// that are not right.
pub fn check_each(
    together: usize,
    check: impl Fn(&Engine, usize, usize) -> Result<bool, Error>,
) -> ExitCode {
    let (engine, arguments) = engine_and_arguments();
    let check = |bits: usize| {
        let many = together / bits.max(1);
        Ok(check(&engine, bits, 1)? && (many < 2 || check(&engine, bits, many)?))
    };
    for bits in &arguments {
        let checked = bits
            .parse()
            .map_err(|error| format!("{bits}: {error}"))
            .and_then(|bits| check(bits).map_err(|error: Error| error.to_string()));
        match checked {
            Ok(true) => {}
            Ok(false) => return ExitCode::FAILURE,
            Err(error) => {
                eprintln!("error: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

/// What is computed, and the least time that it took.
pub fn timed<T>(
    engine: &Engine,
    compute: impl Fn() -> Result<T, Error>,
) -> Result<(T, Duration), Error> {
    let (mut least, mut all) = (Duration::MAX, Duration::ZERO);
    let mut made = None;
    for times in 0..TIMES[1] {
        if times > 0 && all > LONG[0] || times >= TIMES[0] && all > LONG[1] {
            break;
        }
        // Its memory is free again for the next.
        drop(made.take());
        engine.wait()?;
        let started = Instant::now();
        made = Some(compute()?);
        engine.wait()?;
        let time = started.elapsed();
        (least, all) = (least.min(time), all + time);
    }
    Ok((made.expect("it was computed at least once"), least))
}

/// A number of any bits, other ones each time.
pub fn random(width: usize) -> Vec<Limb> {
    let mut state = RandomState::new().hash_one(width);
    let next = |_| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 32) as Limb
    };
    (0..width).map(next).collect()
}
