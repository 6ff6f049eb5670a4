//! Functions that the driver gives to every kernel: `vprintf` and `__assertfail`.

use super::frame::Frame;
use super::mask::lanes_of;
use super::mistake::{Mistake, Step};
use super::run::Worker;
use super::transfer::{ALL_WORDS, Buffer, Transfer};
use super::warp::Warp;
use crate::check::FaultKind;
use crate::ir::{Order, Reg, Slot, System, SystemCall};
use crate::syntax::types::Space;
use sprintf::{Printf, vsprintf};
use std::sync::PoisonError;

/// Bytes of a string at most; what has more lost its end.
const MOST: u64 = 1 << 16;

/// The thread that calls.
#[derive(Clone, Copy)]
struct Caller {
    frame: usize,
    lane: usize,
    line: u32,
}

impl Worker<'_> {
    /// Calls a function of the driver's, lane by lane; `mask` is not empty.
    pub(super) fn system(
        &mut self,
        warp: &mut Warp,
        frame: usize,
        call: &System,
        mask: u32,
        line: u32,
    ) -> Step {
        for lane in lanes_of(mask) {
            let caller = Caller { frame, lane, line };
            let argument = |at: usize| {
                let slot = call.arguments.get(at);
                slot.map_or(0, |slot| value(&warp.frames[frame], *slot, lane))
            };
            let [first, second, third] = [0, 1, 2].map(argument);
            match call.function {
                SystemCall::Print => {
                    let count = self.print(warp, caller, first, second)?;
                    if let Some(slot) = call.results.first() {
                        set(&mut warp.frames[frame], *slot, lane, count);
                    }
                }
                SystemCall::Assert => {
                    let what = self.text(warp, caller, first)?;
                    let file = self.text(warp, caller, second)?;
                    let line = third as u32;
                    let detail = format!("assertion `{what}` failed at {file}:{line}");
                    return Err(Mistake::new(FaultKind::Trap, lane as u32, detail));
                }
            }
        }
        Ok(())
    }

    /// Prints with a format at one address and arguments at another; how many of these
    /// there were.
    fn print(&mut self, warp: &mut Warp, caller: Caller, format: u64, mut next: u64) -> Step<u32> {
        let format = self.text(warp, caller, format)?;
        let mut arguments: Vec<Box<dyn Printf>> = Vec::new();
        for (kind, wide) in conversions(&format) {
            let bytes = if wide { 8 } else { 4 };
            // Arguments lie at multiples of their size.
            next = next.next_multiple_of(bytes);
            let bits = self.number(warp, caller, next, bytes as u32)?;
            next += bytes;
            arguments.push(match (kind, wide) {
                ('s', _) => Box::new(self.text(warp, caller, bits)?),
                ('f' | 'F' | 'e' | 'E' | 'g' | 'G', _) => Box::new(f64::from_bits(bits)),
                ('c', _) => Box::new(char::from(bits as u8)),
                ('d' | 'i', true) => Box::new(bits as i64),
                ('d' | 'i' | '*', false) => Box::new(bits as u32 as i32),
                (_, true) => Box::new(bits),
                (_, false) => Box::new(bits as u32),
            });
        }
        let borrowed: Vec<&dyn Printf> = arguments.iter().map(AsRef::as_ref).collect();
        // What no C library prints is shown as it is.
        let text = vsprintf(&format.replace("%p", "0x%llx"), &borrowed).unwrap_or(format);
        let printed = &self.launch.printed;
        printed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push_str(&text);
        Ok(arguments.len() as u32)
    }

    /// The string that begins at a generic address.
    fn text(&mut self, warp: &mut Warp, caller: Caller, start: u64) -> Step<String> {
        let mut text = Vec::new();
        for at in 0..MOST {
            match self.number(warp, caller, start.wrapping_add(at), 1)? as u8 {
                0 => break,
                byte => text.push(byte),
            }
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// The bytes at a generic address as a number.
    fn number(&mut self, warp: &mut Warp, caller: Caller, at: u64, bytes: u32) -> Step<u64> {
        let Caller { frame, lane, line } = caller;
        let mut buffer = Buffer::new();
        let transfer = Transfer {
            addresses: &[at; 32],
            mask: 1 << lane,
            bytes,
            line,
            order: Order::Weak,
            wanted: ALL_WORDS,
        };
        self.load(Space::Generic, &transfer, warp, frame, &mut buffer)?;
        if buffer.undefined.is_some() {
            let kind = FaultKind::UninitialisedMemory;
            return Err(Mistake::at(kind, lane as u32, at, "it is printed"));
        }
        let bits = u64::from(buffer[1][lane]) << 32 | u64::from(buffer[0][lane]);
        Ok(bits & u64::MAX >> (64 - 8 * bytes))
    }
}

/// The conversions of a format, and whether each takes 8 bytes: `%5.2f`, `%lld`, `%*d`.
fn conversions(format: &str) -> Vec<(char, bool)> {
    let mut found = Vec::new();
    let mut rest = format.chars();
    while rest.by_ref().any(|c| c == '%') {
        let mut wide = false;
        for c in rest.by_ref() {
            match c {
                '*' => found.push(('*', false)),
                'l' | 'j' | 'z' | 't' => wide = true,
                '-' | '+' | ' ' | '#' | '.' | 'h' | '0'..='9' => continue,
                '%' => break,
                _ => {
                    let double = matches!(c, 'f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A');
                    found.push((c, wide || double || matches!(c, 's' | 'p')));
                    break;
                }
            }
        }
    }
    found
}

/// The value of an argument, of 4 or 8 bytes.
fn value(frame: &Frame, slot: Slot, lane: usize) -> u64 {
    match slot {
        Slot::Memory { offset, bytes } => {
            let word = |at: u32| u64::from(frame.params[at as usize / 4][lane]);
            let high = if bytes > 4 { word(offset + 4) } else { 0 };
            high << 32 | word(offset)
        }
        Slot::Register(Reg::Word(a)) => u64::from(frame.words[a.0 as usize][lane]),
        Slot::Register(Reg::Long(a)) => frame.longs[a.0 as usize][lane],
        Slot::Register(Reg::Pred(_)) => 0,
    }
}

/// Sets a result in one lane.
fn set(frame: &mut Frame, slot: Slot, lane: usize, value: u32) {
    match slot {
        Slot::Memory { offset, .. } => frame.params[offset as usize / 4][lane] = value,
        Slot::Register(Reg::Word(d)) => frame.words[d.0 as usize][lane] = value,
        Slot::Register(_) => {}
    }
}
