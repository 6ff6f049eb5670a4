//! The choice between the CPU and devices while the devices of the engine `auto` are not open, or
//! lack the kernel. Devices take time to start and the driver takes time to compile; the CPU need
//! not wait for either.
//!
//! 1. Devices are started once the CPU would take longer for a task than they, the way to them
//!    and their start included; or once it has computed as long as that in their place, as
//!    nobody knows how much is still to come.
//!    The time of their start is that of earlier processes ([`crate::common::notes`]), where it is noted.
//! 2. Devices that are much faster than the CPU, and start sooner than it would be done, are waited
//!    for, as their start takes longer while all cores compute. After half as long again as they
//!    were expected to take, the wait is over.
//! 3. Else, and wherever the kernel is not there yet, the CPU computes round by round, and
//!    devices take the rest when they are ready.
//! 4. What only devices have is computed by them.

use crate::tuning::gpu::StartTuning;
use std::time::Duration;

/// The times that a task would take, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// The time of all cores of the CPU.
    pub cpu_ms: f64,
    /// The time of the devices.
    pub devices_ms: f64,
    /// The time to bring operands to the devices and results back.
    pub way_ms: f64,
    /// Whether the host has all operands.
    pub is_on_host: bool,
}

/// The state of the devices.
#[derive(Clone, Copy, Debug)]
pub(crate) enum State {
    /// Nothing has started them. The CPU has computed for `spent_ms` in their place, and `times` as
    /// much work as the task is expected.
    Asleep { spent_ms: f64, times: f64 },
    /// They are being opened.
    Starting,
    /// A device lacks the kernel.
    Loading,
}

/// The choice for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Cpu,
    /// The CPU computes until the devices are ready, which are started meanwhile.
    Both,
    Devices,
    /// Devices, if they are ready before so much time has passed; else both.
    Wait(Duration),
}

/// Devices are started for work that takes the CPU so many times their time.
const WORTH_STARTING: f64 = 1.1;

/// Devices are waited for if they take at most this part of the CPU's time for the work. What the CPU
/// would do meanwhile saves less than the start's delay by it.
const WORTH_WAITING: f64 = 0.3;

/// The wait lasts at most so many times what was expected, and so many milliseconds more.
const PATIENCE: (f64, f64) = (1.5, 50.0);

/// The choice of devices that are expected in so many milliseconds.
fn wait(ms: f64) -> Choice {
    let (times, more) = PATIENCE;
    Choice::Wait(Duration::from_secs_f64(
        (times * ms + more).clamp(0.0, 1e6) / 1e3,
    ))
}

impl StartTuning {
    /// Chooses for a task, for which devices that are asleep, or lack the kernel, are ready in
    /// `ready_ms`. Opening devices takes `driver_ms` of it. Each is asked only where it counts: the
    /// first takes a file, the second the text of a kernel.
    pub(crate) fn choose(
        &self,
        load: Load,
        state: State,
        driver_ms: impl FnOnce() -> f64,
        ready_ms: impl FnOnce() -> f64,
    ) -> Choice {
        let Load {
            cpu_ms,
            devices_ms,
            way_ms,
            is_on_host,
        } = load;
        // Whoever computes again and again may leave the numbers there.
        let is_faster = cpu_ms > devices_ms;
        match state {
            State::Loading if !is_on_host || self.module_ms <= 0.0 => Choice::Devices,
            State::Loading if cpu_ms > self.module_ms && devices_ms <= WORTH_WAITING * cpu_ms => {
                let load_ms = ready_ms();
                match cpu_ms > WORTH_STARTING * (load_ms + devices_ms) {
                    true => wait(load_ms),
                    false => Choice::Both,
                }
            }
            State::Starting | State::Loading if is_faster => Choice::Both,
            State::Starting | State::Loading => Choice::Cpu,
            State::Asleep { spent_ms, times } => {
                let (all_ms, devices_ms) = (times * cpu_ms, times * (devices_ms + way_ms));
                let spent_ms = if is_faster { spent_ms } else { 0.0 };
                let pays_after = |ms| all_ms > WORTH_STARTING * (ms + devices_ms);
                let is_due_after = |ms| pays_after(ms) || spent_ms > ms;
                let may_pay = all_ms - devices_ms > self.module_ms || spent_ms > self.module_ms;
                if !may_pay || !is_due_after(driver_ms()) {
                    return Choice::Cpu;
                }
                let start_ms = ready_ms();
                match is_due_after(start_ms) {
                    true if pays_after(start_ms) && devices_ms <= WORTH_WAITING * all_ms => {
                        wait(start_ms)
                    }
                    true => Choice::Both,
                    false => Choice::Cpu,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tuning;
    use bigint_core::Operation;

    const H200_CORES: usize = 16;

    /// The load of an operation on `count` numbers of these widths, with operands on the host.
    fn load(operation: Operation, count: usize, widths: &[usize]) -> Load {
        let tuning = Tuning::default();
        let results = operation.exact_width(widths);
        let limbs = widths.iter().sum::<usize>() + results;
        let count = count as f64;
        let device = tuning.start.device.of_number(operation, widths, results);
        let core = tuning.start.core.of_number(operation, widths, results);
        Load {
            cpu_ms: count * core / H200_CORES as f64 / 1e9,
            devices_ms: count * device / 1e9,
            way_ms: tuning.start.link_ms(count * limbs as f64),
            is_on_host: true,
        }
    }

    fn choice(load: Load, state: State) -> Choice {
        choice_after(load, state, 400.0)
    }

    fn choice_after(load: Load, state: State, start_ms: f64) -> Choice {
        Tuning::default()
            .start
            .choose(load, state, || 0.0, || start_ms)
    }

    const ASLEEP: State = State::Asleep {
        spent_ms: 0.0,
        times: 1.0,
    };

    #[test]
    fn devices_are_not_started_for_less_than_their_start() {
        // Beside 16 cores, on which these took .37, .09 and .15 s with their text.
        for few in [
            load(Operation::Mul, 1_000_000, &[32; 2]),
            load(Operation::PowMod, 4000, &[2, 2, 2]),
            load(Operation::DivRem, 100_000, &[64, 32]),
            load(Operation::PowMod, 1000, &[64; 3]),
        ] {
            assert_eq!(choice(few, ASLEEP), Choice::Cpu, "{few:?}");
        }
    }

    #[test]
    fn devices_are_started_for_work_that_takes_the_cpu_longer() {
        // 3.6 s and .61 s with the start.
        let powers = load(Operation::PowMod, 50_000, &[64; 3]);
        assert_eq!(choice(powers, ASLEEP), wait(400.0), "{powers:?}");
        assert!((2000.0..5000.0).contains(&powers.cpu_ms), "{powers:?}");
        let wide = load(Operation::PowMod, 2000, &[128; 3]);
        assert_eq!(choice(wide, ASLEEP), wait(400.0), "{wide:?}");
        // Half a second, and 2.3 more for the compiler.
        let few = load(Operation::PowMod, 10_000, &[64; 3]);
        assert_eq!(choice_after(few, ASLEEP, 400.0), wait(400.0), "{few:?}");
        assert_eq!(choice_after(few, ASLEEP, 2700.0), Choice::Cpu, "{few:?}");
        assert_eq!(choice_after(powers, ASLEEP, 2700.0), wait(2700.0));
        assert_eq!(choice_after(powers, ASLEEP, 4000.0), Choice::Cpu);
    }

    #[test]
    fn little_work_neither_reads_notes_nor_the_text_of_kernels() {
        let start = Tuning::default().start;
        let little = load(Operation::Mul, 1, &[2; 2]);
        let spent = |spent_ms| State::Asleep {
            spent_ms,
            times: 1.0,
        };
        let nobody = || panic!("nobody asks");
        let choice = start.choose(little, spent(0.0), nobody, nobody);
        assert_eq!(choice, Choice::Cpu);
        // The CPU has computed for long, and not yet as long as devices take to open.
        let choice = start.choose(little, spent(300.0), || 350.0, nobody);
        assert_eq!(choice, Choice::Cpu);
    }

    #[test]
    fn much_that_comes_little_by_little_starts_them_too_if_they_are_faster_at_it() {
        let powers = load(Operation::PowMod, 1000, &[64; 3]);
        let spent = |spent_ms| State::Asleep {
            spent_ms,
            times: 1.0,
        };
        assert_eq!(choice(powers, spent(100.0)), Choice::Cpu);
        assert_eq!(choice(powers, spent(1000.0)), Choice::Both);
        let sums = load(Operation::Add, 1_000_000, &[32; 2]);
        assert_eq!(choice(sums, spent(1000.0)), Choice::Both, "{sums:?}");
        let slower = Load {
            devices_ms: 2.0 * sums.cpu_ms,
            ..sums
        };
        assert_eq!(choice(slower, spent(1000.0)), Choice::Cpu);
    }

    #[test]
    fn parts_of_a_file_count_as_many_times_as_there_are() {
        let part = load(Operation::PowMod, 1000, &[64; 3]);
        let of = |times| State::Asleep {
            spent_ms: 0.0,
            times,
        };
        assert_eq!(choice(part, of(2.0)), Choice::Cpu);
        assert_eq!(choice(part, of(50.0)), wait(400.0));
        // However many there are, the way there takes longer.
        let products = load(Operation::Mul, 20_000, &[32; 2]);
        assert_eq!(choice(products, of(1e9)), Choice::Cpu, "{products:?}");
    }

    #[test]
    fn who_is_not_much_faster_is_not_waited_for() {
        let near = Load {
            cpu_ms: 2000.0,
            devices_ms: 1000.0,
            way_ms: 0.0,
            is_on_host: true,
        };
        assert_eq!(choice(near, ASLEEP), Choice::Both);
        assert_eq!(choice_after(near, State::Loading, 40.0), Choice::Both);
        let powers = load(Operation::PowMod, 1000, &[64; 3]);
        assert_eq!(choice_after(powers, State::Loading, 40.0), wait(40.0));
    }

    #[test]
    fn nobody_waits_for_a_kernel_but_for_what_only_devices_have() {
        let powers = load(Operation::PowMod, 1000, &[64; 3]);
        assert_eq!(choice(powers, State::Starting), Choice::Both);
        assert_eq!(choice(powers, State::Loading), Choice::Both);
        let sums = load(Operation::Add, 1_000_000, &[32; 2]);
        let there = Load {
            is_on_host: false,
            ..sums
        };
        assert_eq!(choice(there, State::Loading), Choice::Devices);
    }

    #[test]
    fn what_takes_no_time_is_waited_for() {
        let mut start = Tuning::default().start;
        start.module_ms = 0.0;
        let sums = load(Operation::Add, 10, &[32; 2]);
        assert_eq!(
            start.choose(sums, State::Loading, || 0.0, || 0.0),
            Choice::Devices
        );
    }
}
