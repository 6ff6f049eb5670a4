//! A block that is resident: its warps, its shared memory and its barriers.

use super::clocks::Clocks;
use super::launch::Launch;
use super::mistake::Mistake;
use super::shared::Shared;
use super::warp::{Part, Reduced, State, Warp};
use crate::check::{Fault, FaultKind};
use crate::ir::{Inst, Op};

/// A barrier that has been reached by some.
#[derive(Clone, Copy, Default)]
struct Barrier {
    /// Lanes that have arrived.
    lanes: u32,
    /// Threads that they count for: whole warps.
    threads: u32,
    /// Threads to wait for; all of the block where nothing is said.
    expected: Option<u32>,
    reached: bool,
    line: u32,
    reduced: Reduced,
}

/// A block from its beginning to its end; then it is made ready for another.
pub(crate) struct Block<'l> {
    launch: &'l Launch<'l>,
    pub number: u64,
    /// The block's index in the grid, `%ctaid`.
    pub at: [u32; 3],
    pub warps: Vec<Warp>,
    pub shared: Shared,
    pub clocks: Clocks,
    barriers: [Barrier; 16],
    /// Warp instructions so far.
    pub spent: u64,
    /// Whether it has synchronised with other blocks.
    pub synchronised: bool,
    /// Whether none of it can go on before its cluster has arrived at a barrier.
    pub waits: bool,
}

impl<'l> Block<'l> {
    /// A block that has not begun.
    pub fn new(launch: &'l Launch<'l>) -> Self {
        Block {
            launch,
            number: 0,
            at: [0; 3],
            warps: Vec::new(),
            shared: Shared::new(&launch.shared, launch.checks),
            clocks: Clocks::default(),
            barriers: [Barrier::default(); 16],
            spent: 0,
            synchronised: false,
            waits: false,
        }
    }

    /// Makes ready: all threads at the kernel's entry.
    pub fn begin(&mut self, number: u64) -> Result<(), Fault> {
        let launch = self.launch;
        let [x, y, _] = launch.grid.grid.map(u64::from);
        self.number = number;
        self.at = [
            (number % x) as u32,
            (number / x % y) as u32,
            (number / (x * y)) as u32,
        ];
        let threads = launch.grid.threads() as u32;
        let warps = threads.div_ceil(32) as usize;
        let restarted = self.clocks.begin(warps);
        self.shared.begin(restarted);
        self.barriers = [Barrier::default(); 16];
        self.spent = 0;
        self.synchronised = false;
        self.waits = false;
        self.warps.resize_with(warps, Warp::default);
        for index in 0..warps {
            let lanes = (threads - 32 * index as u32).min(32);
            let warp = &mut self.warps[index];
            warp.index = index;
            let begun = warp.begin(launch, self.at, u32::MAX >> (32 - lanes));
            begun.map_err(|mistake| self.fault(*mistake, index, 0))?;
        }
        Ok(())
    }

    /// Says where a mistake was made.
    pub fn fault(&self, mistake: Mistake, warp: usize, line: u32) -> Fault {
        let [x, y, _] = self.launch.grid.block;
        let thread = 32 * warp as u32 + mistake.lane.min(31);
        let locations = &self.launch.program.locations;
        let mut detail = mistake.detail;
        if let Some(earlier) = mistake.earlier {
            detail.push_str(&match locations.of(earlier) {
                Some(source) => format!(" at {source} (PTX line {earlier})"),
                None => format!(" at line {earlier}"),
            });
        }
        Fault {
            kind: mistake.kind,
            kernel: self.launch.kernel.to_owned(),
            line,
            source: locations.of(line).map(Box::new),
            block: self.at,
            thread: [thread % x, thread / x % y, thread / (x * y)],
            address: mistake.address,
            detail,
        }
    }

    /// The fault of a block in which no part of a warp can go on.
    pub fn deadlock(&self) -> Fault {
        let parts = || {
            let of_warp = |warp: &'_ Warp| warp.parts.len();
            self.warps
                .iter()
                .flat_map(move |warp| (0..of_warp(warp)).map(move |i| (warp, &warp.parts[i])))
        };
        // Who waits for lanes of its own warp says best what is wrong.
        let missed = parts()
            .filter(|(_, part)| part.state == State::Meeting)
            .find_map(|(warp, part)| Some((warp.index, self.missed(warp, part)?)));
        if let Some((index, (mistake, line))) = missed {
            return self.fault(*mistake, index, line);
        }
        let (warp, lane, line) = match parts().next() {
            Some((warp, part)) => (
                warp.index,
                part.mask.trailing_zeros(),
                self.head(warp, part).line,
            ),
            None => (0, 0, 0),
        };
        let mistake = Mistake::new(
            FaultKind::Deadlock,
            lane,
            "every thread that is left waits at a barrier which the others do not reach",
        );
        self.fault(*mistake, warp, line)
    }

    /// The fault of a part that waits for lanes of its warp which do not come, or none if that check is off.
    pub fn missed(&self, warp: &Warp, part: &Part) -> Option<(Box<Mistake>, u32)> {
        let head = self.head(warp, part);
        let checks = self.launch.checks;
        let mistake = match &head.op {
            Op::Warp(_, members) if checks.shuffles => {
                let missing = warp.missing(part, *members);
                Mistake::new(
                    FaultKind::InactiveLane,
                    part.mask.trailing_zeros(),
                    format!(
                        "lanes {:#010x} wait for lanes {missing:#010x}, which are elsewhere",
                        part.mask
                    ),
                )
            }
            Op::Barrier { .. } if checks.barriers => Mistake::new(
                FaultKind::BarrierDivergence,
                (warp.live & !part.mask).trailing_zeros(),
                format!(
                    "of the warp's lanes {:#010x} only {:#010x} reach it, this one waits elsewhere",
                    warp.live, part.mask
                ),
            ),
            _ => return None,
        };
        Some((mistake, head.line))
    }

    /// The instruction that a part is about to execute.
    pub fn head(&self, warp: &Warp, part: &Part) -> &'l Inst {
        let frame = &warp.frames[part.frame as usize];
        let function = &self.launch.program.functions[frame.function as usize];
        &function.insts[function.blocks[part.block as usize].start as usize]
    }

    /// Notes that lanes have reached a barrier; `whole` when no lane of their warp
    /// is still to come.
    pub fn reach(
        &mut self,
        id: u32,
        mask: u32,
        whole: bool,
        expected: Option<u32>,
        line: u32,
        votes: u32,
    ) {
        let barrier = &mut self.barriers[id as usize];
        if !barrier.reached {
            *barrier = Barrier {
                reached: true,
                reduced: Reduced {
                    all: true,
                    ..Reduced::default()
                },
                ..Barrier::default()
            };
        }
        barrier.lanes += mask.count_ones();
        barrier.threads += if whole { 32 } else { 0 };
        barrier.expected = expected;
        barrier.line = line;
        barrier.reduced.count += votes.count_ones();
        barrier.reduced.all &= votes == mask;
        barrier.reduced.any |= votes != 0;
    }

    /// Lets through everybody whom a complete barrier held up; how many were complete.
    pub fn open_barriers(&mut self) -> Result<u64, Fault> {
        let mut opened = 0;
        let live: u32 = self.warps.iter().map(|warp| warp.live.count_ones()).sum();
        for id in 0..16 {
            let barrier = self.barriers[id as usize];
            let complete = barrier.reached
                && match barrier.expected {
                    None => barrier.lanes >= live,
                    Some(threads) => barrier.threads >= threads,
                };
            if !complete {
                continue;
            }
            let threads = self.launch.grid.threads() as u32;
            if self.launch.checks.barriers && barrier.expected.is_none() && live < threads {
                return Err(self.exited_before(barrier, threads - live));
            }
            opened += 1;
            self.barriers[id as usize] = Barrier::default();
            let mut through: Vec<(usize, u32)> = Vec::new();
            for warp in &mut self.warps {
                for part in &mut warp.parts {
                    if part.state == State::Barrier(id) {
                        part.state = State::Released(barrier.reduced);
                        through.push((warp.index, part.mask));
                    }
                }
            }
            self.clocks.barrier(&through);
        }
        Ok(opened)
    }

    fn exited_before(&self, barrier: Barrier, missing: u32) -> Fault {
        let threads = self.launch.grid.threads() as u32;
        let gone = (0..threads)
            .find(|thread| {
                let warp = &self.warps[*thread as usize / 32];
                warp.live >> (thread % 32) & 1 == 0
            })
            .unwrap_or(0);
        let mistake = Mistake::new(
            FaultKind::BarrierDivergence,
            gone % 32,
            format!(
                "{missing} threads of the block have exited, this one first, before the barrier"
            ),
        );
        self.fault(*mistake, gone as usize / 32, barrier.line)
    }
}
