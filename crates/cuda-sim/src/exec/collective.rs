//! Where lanes meet: shuffles, votes and their like within a warp, and barriers
//! of the block.

use super::frame::Frame;
use super::mask::{lanes_of, put};
use super::matrix;
use super::mistake::{Mistake, Step};
use super::run::Worker;
use super::warp::{Part, Reduced, State, Warp, absent};
use crate::check::FaultKind;
use crate::ir::{
    BarrierKind, Inst, Longs, Op, Reduce, Reg, Registers, Shuffle, Vote, W, WarpOp, Words,
};

impl Worker<'_> {
    /// Runs the meeting that a block begins with, or says what the part waits for.
    pub(super) fn meeting(
        &mut self,
        warp: &mut Warp,
        part: &Part,
        inst: &Inst,
    ) -> Step<Option<State>> {
        match &inst.op {
            Op::Warp(op, members) => {
                let masks = warp.frames[part.frame as usize].words[members.0 as usize];
                let (missing, strangers) = absent(&masks, part.mask, warp.live);
                if part.state != State::Alone {
                    if missing != 0 {
                        return Ok(Some(State::Meeting));
                    }
                    if strangers != 0 && self.launch.checks.shuffles {
                        return Err(Mistake::new(
                            FaultKind::InactiveLane,
                            strangers.trailing_zeros(),
                            "a lane executes the operation that its member mask does not name, \
                             or with another mask than its partners",
                        ));
                    }
                }
                if let WarpOp::Sync = op {
                    self.block.clocks.sync(warp.index, part.mask);
                    return Ok(None);
                }
                let check = self.launch.checks.shuffles;
                let frame = &mut warp.frames[part.frame as usize];
                if frame.undefined.lanes & part.mask != 0 {
                    frame.follow_warp(op, part.mask, |frame| {
                        // What is wrong here is found below.
                        let _ = collective(frame, op, &masks, part.mask, false);
                    });
                }
                collective(frame, op, &masks, part.mask, check)?;
                Ok(None)
            }
            Op::Barrier {
                kind,
                id,
                count,
                aligned,
            } => {
                if let State::Released(reduced) = part.state {
                    let frame = &mut warp.frames[part.frame as usize];
                    if frame.undefined.lanes & part.mask != 0 {
                        frame.follow(inst, &Registers::of(&inst.op), part.mask);
                    }
                    deliver(frame, kind, reduced, part.mask);
                    return Ok(None);
                }
                self.arrive(warp, part, inst, (kind, *id, *count, *aligned))
            }
            Op::ClusterWait => self.wait_for_cluster(warp, part.mask),
            _ => Ok(None),
        }
    }

    /// Makes lanes arrive at a barrier of the block; answers where they wait, if they do.
    fn arrive(
        &mut self,
        warp: &mut Warp,
        part: &Part,
        inst: &Inst,
        (kind, id, count, aligned): (&BarrierKind, W, Option<W>, bool),
    ) -> Step<Option<State>> {
        let frame = &warp.frames[part.frame as usize];
        let lane = part.mask.trailing_zeros();
        let same = |operand: W| {
            let words = &frame.words[operand.0 as usize];
            let first = words[lane as usize & 31];
            lanes_of(part.mask)
                .all(|lane| words[lane] == first)
                .then_some(first)
        };
        let invalid = |detail| Err(Mistake::new(FaultKind::InvalidOperand, lane, detail));
        let Some(id) = same(id).filter(|&id| id < 16) else {
            return invalid("a barrier that is not one of 0 to 15, or not the same for the warp");
        };
        let expected = match count.map(same) {
            None => None,
            Some(Some(threads)) if threads > 0 && threads % 32 == 0 => Some(threads),
            Some(_) => return invalid("a thread count that is no multiple of the warp size"),
        };
        if aligned && part.mask != warp.live && part.state != State::Alone {
            // The rest of the warp may still come.
            return Ok(Some(State::Meeting));
        }
        let votes = match kind {
            BarrierKind::Count(_, a) | BarrierKind::All(_, a) | BarrierKind::Any(_, a) => {
                frame.holds(*a) & part.mask
            }
            BarrierKind::Sync | BarrierKind::Arrive => 0,
        };
        let here = warp
            .parts
            .iter()
            .filter(|other| other.state == State::Barrier(id))
            .fold(part.mask, |mask, other| mask | other.mask);
        let whole = here == warp.live;
        self.block
            .reach(id, part.mask, whole, expected, inst.line, votes);
        if let BarrierKind::Arrive = kind {
            // What came before is ordered before whatever waits here.
            self.block.clocks.arrive(warp.index);
            return Ok(None);
        }
        Ok(Some(State::Barrier(id)))
    }

    /// When no part of a warp can go on: lets those through that wait for each
    /// other at different places, or says what is wrong.
    pub(super) fn meet_apart(&mut self, warp: &mut Warp) -> Result<bool, (Box<Mistake>, u32)> {
        let block = &self.block;
        let waits = |part: &Part| part.state == State::Meeting;
        let sync = |warp: &Warp, part: &Part| match block.head(warp, part).op {
            Op::Warp(WarpOp::Sync, members) if waits(part) => Some(members),
            _ => None,
        };
        let arrived = warp
            .parts
            .iter()
            .filter(|part| sync(warp, part).is_some())
            .fold(0, |mask, part| mask | part.mask);
        let together: Vec<usize> = (0..warp.parts.len())
            .filter(|&i| {
                let part = &warp.parts[i];
                sync(warp, part).is_some_and(|members| warp.missing(part, members) & !arrived == 0)
            })
            .collect();
        if !together.is_empty() {
            for i in together {
                warp.parts[i].state = State::Alone;
            }
            return Ok(true);
        }
        // Somebody at a barrier of the block may still come from there.
        if !warp.parts.iter().all(waits) {
            return Ok(false);
        }
        let Some(first) = (0..warp.parts.len()).min_by_key(|&i| warp.parts[i].block) else {
            return Ok(false);
        };
        if let Some(missed) = block.missed(warp, &warp.parts[first]) {
            return Err(missed);
        }
        if let Op::Warp(..) = block.head(warp, &warp.parts[first]).op {
            warp.parts[first].state = State::Alone;
            return Ok(true);
        }
        // Barriers of the block count lanes, wherever in the code they wait.
        for i in 0..warp.parts.len() {
            if let Op::Barrier { .. } = block.head(warp, &warp.parts[i]).op {
                warp.parts[i].state = State::Alone;
            }
        }
        Ok(true)
    }
}

/// Gives the result of a reduction over a barrier to the lanes that waited.
fn deliver(frame: &mut Frame, kind: &BarrierKind, reduced: Reduced, mask: u32) {
    let mut put_pred = |p: crate::ir::P, value: bool| {
        let d = &mut frame.preds[p.0 as usize];
        *d = if value { *d | mask } else { *d & !mask };
    };
    match *kind {
        BarrierKind::Sync | BarrierKind::Arrive => {}
        BarrierKind::All(p, _) => put_pred(p, reduced.all),
        BarrierKind::Any(p, _) => put_pred(p, reduced.any),
        BarrierKind::Count(d, _) => {
            put(&mut frame.words[d.0 as usize], &[reduced.count; 32], mask);
        }
    }
}

/// Does an operation of a warp for the lanes that are here.
fn collective(frame: &mut Frame, op: &WarpOp, masks: &Words, here: u32, check: bool) -> Step {
    let put_pred = |frame: &mut Frame, p: crate::ir::P, bits: u32| {
        let d = &mut frame.preds[p.0 as usize];
        *d = *d & !here | bits & here;
    };
    match *op {
        WarpOp::Matrix(ref product) => matrix::multiply(frame, product, here)?,
        WarpOp::Shuffle {
            mode,
            d,
            p,
            a,
            b,
            c,
        } => {
            let [a, b, c] = [a, b, c].map(|r| frame.words[r.0 as usize]);
            let (out, in_range) = shuffle(mode, [&a, &b, &c], masks, here, check)?;
            put(&mut frame.words[d.0 as usize], &out, here);
            if let Some(p) = p {
                put_pred(frame, p, in_range);
            }
        }
        WarpOp::VoteBallot { d, a } => {
            let votes = frame.holds(a) & here;
            let out = masks.map(|mask| votes & mask);
            put(&mut frame.words[d.0 as usize], &out, here);
        }
        WarpOp::Vote { vote, p, a } => {
            let votes = frame.holds(a);
            let mut bits = 0;
            for lane in lanes_of(here) {
                let members = masks[lane] & here;
                let yes = votes & members;
                let holds = match vote {
                    Vote::All => yes == members,
                    Vote::Any => yes != 0,
                    Vote::Uniform => yes == members || yes == 0,
                };
                bits |= u32::from(holds) << lane;
            }
            put_pred(frame, p, bits);
        }
        WarpOp::Match { all, d, p, a } => {
            let values: Longs = match a {
                Reg::Word(a) => frame.words[a.0 as usize].map(u64::from),
                Reg::Long(a) => frame.longs[a.0 as usize],
                Reg::Pred(_) => [0; 32],
            };
            let mut out = [0; 32];
            let mut bits = 0;
            for lane in lanes_of(here) {
                let members = masks[lane] & here;
                let equal = lanes_of(members)
                    .filter(|&other| values[other] == values[lane])
                    .fold(0, |mask, other| mask | 1 << other);
                let whole = equal == members;
                out[lane] = if all && !whole { 0 } else { equal };
                bits |= u32::from(whole) << lane;
            }
            put(&mut frame.words[d.0 as usize], &out, here);
            if let Some(p) = p {
                put_pred(frame, p, bits);
            }
        }
        WarpOp::Reduce { op, d, a } => {
            let a = frame.words[a.0 as usize];
            let mut out = [0; 32];
            for lane in lanes_of(here) {
                out[lane] = lanes_of(masks[lane] & here)
                    .map(|other| a[other])
                    .reduce(|x, y| reduce(op, x, y))
                    .unwrap_or(0);
            }
            put(&mut frame.words[d.0 as usize], &out, here);
        }
        WarpOp::Elect { d, p } => {
            let leaders = masks.map(|mask| (mask & here).trailing_zeros());
            if let Some(d) = d {
                put(&mut frame.words[d.0 as usize], &leaders, here);
            }
            let bits = lanes_of(here)
                .filter(|&lane| leaders[lane] == lane as u32)
                .fold(0, |mask, lane| mask | 1 << lane);
            put_pred(frame, p, bits);
        }
        WarpOp::Meet | WarpOp::Sync => {}
    }
    Ok(())
}

/// What each lane reads from another, and the lanes for which that one is in range.
fn shuffle(
    mode: Shuffle,
    [a, b, c]: [&Words; 3],
    masks: &Words,
    here: u32,
    check: bool,
) -> Step<(Words, u32)> {
    let mut out = [0; 32];
    let mut in_range = 0;
    for lane in lanes_of(here) {
        let (from, inside) = source_lane(mode, lane as u32, b[lane], c[lane]);
        if check && here & masks[lane] & 1 << from == 0 {
            return Err(Mistake::new(
                FaultKind::InactiveLane,
                lane as u32,
                format!("it reads from lane {from}, which does not take part"),
            ));
        }
        out[lane] = a[from as usize];
        in_range |= u32::from(inside) << lane;
    }
    Ok((out, in_range))
}

/// The lane that a shuffle reads, and whether it lies within the segment, as the
/// PTX manual computes them.
fn source_lane(mode: Shuffle, lane: u32, b: u32, c: u32) -> (u32, bool) {
    let (b, clamp, segment) = (b & 31, c & 31, c >> 8 & 31);
    let least = lane & segment;
    let most = least | clamp & !segment;
    let (from, inside) = match mode {
        Shuffle::Up => {
            let from = lane.wrapping_sub(b);
            (from, from as i32 >= most as i32)
        }
        Shuffle::Down => (lane + b, lane + b <= most),
        Shuffle::Butterfly => (lane ^ b, lane ^ b <= most),
        Shuffle::Index => {
            let from = least | b & !segment;
            (from, from <= most)
        }
    };
    (if inside { from & 31 } else { lane }, inside)
}

/// Joins two values.
fn reduce(op: Reduce, x: u32, y: u32) -> u32 {
    match op {
        Reduce::Add => x.wrapping_add(y),
        Reduce::MinU => x.min(y),
        Reduce::MinS => (x as i32).min(y as i32) as u32,
        Reduce::MaxU => x.max(y),
        Reduce::MaxS => (x as i32).max(y as i32) as u32,
        Reduce::And => x & y,
        Reduce::Or => x | y,
        Reduce::Xor => x ^ y,
    }
}
