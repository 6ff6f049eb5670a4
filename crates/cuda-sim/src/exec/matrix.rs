//! `mma.sync`: D = A B + C for matrices spread over the registers of a warp; and
//! `ldmatrix` and `stmatrix`, which bring them from and to memory.
//!
//! Lane `l` belongs to group `g = l / 4` and is its thread `t = l % 4`. With `w`
//! values to a register (4 bytes or one double), register `r` of A holds row
//! `g + 8 (r mod h)` and columns `w t + 4 w (r div h) + 0..w`, where `h` is 2 for 16
//! rows and 1 for 8; of B rows `w t + 4 w r + 0..w` of column `g`; of C and D row
//! `g + 8 (r div 2)` and column `2 t + r mod 2` ("Matrix Fragments" in the PTX ISA).
//!
//! Sums of byte products are exact, then taken modulo 2^32 or clamped. For doubles
//! PTX does not say in what order terms are added; here it is C first and then the
//! products by ascending column of A, each fused into the sum with one rounding.

use super::access::addresses;
use super::frame::Frame;
use super::mask::FULL;
use super::mistake::{Mistake, Step};
use super::run::Worker;
use super::transfer::{ALL_WORDS, Buffer, Transfer};
use super::undefined::Origin;
use super::warp::Warp;
use crate::check::FaultKind;
use crate::ir::{Factors, L3, Longs, Matrix, Order, Reg, Rows, Words};

/// An error unless all lanes are here.
fn all_lanes(here: u32, what: &str) -> Step {
    if here == FULL {
        return Ok(());
    }
    Err(Mistake::new(
        FaultKind::InactiveLane,
        (!here).trailing_zeros(),
        format!("{what} takes all 32 lanes of the warp"),
    ))
}

impl Worker<'_> {
    /// Brings 8x8 matrices of 16-bit values from memory or there. A lane `l` holds row
    /// `l / 4` and columns `2 (l % 4)` and the next, or the other way round.
    pub(super) fn rows(
        &mut self,
        warp: &mut Warp,
        frame: usize,
        rows: &Rows,
        here: u32,
        line: u32,
    ) -> Step {
        all_lanes(here, "a row of a matrix")?;
        let addresses = addresses(&warp.frames[frame], &rows.address);
        let lanes = 8 * rows.words.len();
        let transfer = Transfer {
            addresses: &addresses,
            mask: FULL >> (32 - lanes),
            bytes: 16,
            line,
            order: Order::Weak,
            wanted: ALL_WORDS,
        };
        transfer.check_alignment()?;
        // Of matrix `m`, the half word of lane `l` that comes at place `i`: the lane
        // that has its row, and its column.
        let place = |m: usize, l: usize, i: usize| {
            let (row, column) = (l / 4, 2 * (l % 4) + i);
            if rows.transposed {
                (8 * m + column, row)
            } else {
                (8 * m + row, column)
            }
        };
        let mut buffer = Buffer::new();
        let undefined = warp.frames[frame].undefined.lanes != 0;
        if rows.stores {
            let registers = &warp.frames[frame];
            let scatter = |file: &[Words], to: &mut [Words; 8]| {
                for (m, words) in rows.words.iter().enumerate() {
                    let Some(words) = file.get(words.0 as usize) else {
                        continue;
                    };
                    for (l, word) in words.iter().enumerate() {
                        for i in 0..2 {
                            let (lane, column) = place(m, l, i);
                            let half = word >> (16 * i) & 0xffff;
                            to[column / 2][lane] |= half << (16 * (column % 2));
                        }
                    }
                }
            };
            scatter(&registers.words, &mut buffer.rows);
            if undefined {
                let bits = buffer.undefined.get_or_insert_default();
                scatter(&registers.undefined.words, bits);
            }
            self.store(rows.space, &transfer, warp, &buffer)?;
            self.changed(warp);
            return Ok(());
        }
        self.load(rows.space, &transfer, warp, frame, &mut buffer)?;
        let gather = |from: &[Words; 8], m: usize| -> Words {
            let half = |l: usize, i: usize| {
                let (lane, column) = place(m, l, i);
                from[column / 2][lane] >> (16 * (column % 2)) & 0xffff
            };
            std::array::from_fn(|l| half(l, 1) << 16 | half(l, 0))
        };
        let frame = &mut warp.frames[frame];
        for (m, d) in rows.words.iter().enumerate() {
            frame.words[d.0 as usize] = gather(&buffer.rows, m);
            if let Some(bits) = &buffer.undefined {
                let bits = gather(bits, m).map(u64::from);
                frame.undefined.loaded(Reg::Word(*d), &bits, |l, byte| {
                    let (lane, column) = place(m, l, byte as usize / 2);
                    Origin::Loaded {
                        space: rows.space,
                        address: addresses[lane] + 2 * column as u64,
                        line,
                    }
                });
            }
        }
        Ok(())
    }
}

/// Multiplies the matrices that the lanes in `here` hold, which are all lanes of a warp.
pub(super) fn multiply(frame: &mut Frame, matrix: &Matrix, here: u32) -> Step {
    all_lanes(here, "a product of matrices")?;
    match matrix.factors {
        Factors::Bytes {
            a_signed,
            b_signed,
            saturate,
        } => bytes(frame, matrix, (a_signed, b_signed), saturate),
        Factors::Doubles(fused) => doubles(frame, matrix, fused),
    }
    Ok(())
}

/// The word of lane `lane` of register `reg`.
fn words(frame: &Frame, regs: &[Reg]) -> Vec<Words> {
    regs.iter()
        .map(|reg| match reg {
            Reg::Word(word) => frame.words[word.0 as usize],
            _ => [0; 32],
        })
        .collect()
}

/// The values of longs.
fn longs(frame: &Frame, regs: &[Reg]) -> Vec<Longs> {
    regs.iter()
        .map(|reg| match reg {
            Reg::Long(long) => frame.longs[long.0 as usize],
            _ => [0; 32],
        })
        .collect()
}

/// The bytes of a row of A or of a column of B: up to 32, and zeros.
type Line = [i16; 32];

/// Row and column that a lane holds in register `r` of C and D.
fn place_in_c(lane: usize, r: usize) -> (usize, usize) {
    (lane / 4 + 8 * (r / 2), 2 * (lane % 4) + r % 2)
}

/// The bytes of each row of A or, as of one half, of each column of B.
fn lines(words: &[Words], halves: usize, signed: bool) -> [Line; 16] {
    let mut lines = [[0; 32]; 16];
    for (r, words) in words.iter().enumerate() {
        for (lane, word) in words.iter().enumerate() {
            let line = &mut lines[lane / 4 + 8 * (r % halves)];
            let first = 4 * (lane % 4) + 16 * (r / halves);
            for (value, byte) in line[first..].iter_mut().zip(word.to_le_bytes()) {
                *value = if signed {
                    (byte as i8).into()
                } else {
                    byte.into()
                };
            }
        }
    }
    lines
}

/// The sum of the products of bytes, which is far from overflow: compilers make vector
/// instructions of it if it may wrap.
fn dot(a: &Line, b: &Line) -> i32 {
    let products = a.iter().zip(b).map(|(&a, &b)| i32::from(a) * i32::from(b));
    products.fold(0, i32::wrapping_add)
}

/// Multiplies matrices of bytes.
fn bytes(frame: &mut Frame, matrix: &Matrix, signed: (bool, bool), saturate: bool) {
    let rows = lines(&words(frame, &matrix.a), matrix.rows / 8, signed.0);
    let columns = lines(&words(frame, &matrix.b), 1, signed.1);
    let c = words(frame, &matrix.c);
    for (r, d) in matrix.d.iter().enumerate() {
        let mut out = [0; 32];
        for lane in 0..32 {
            let (row, column) = place_in_c(lane, r);
            let sum = dot(&rows[row], &columns[column]);
            let before = c[r][lane] as i32;
            out[lane] = if saturate {
                before.saturating_add(sum) as u32
            } else {
                before.wrapping_add(sum) as u32
            };
        }
        if let Reg::Word(d) = d {
            frame.words[d.0 as usize] = out;
        }
    }
}

/// Multiplies matrices of doubles.
fn doubles(frame: &mut Frame, matrix: &Matrix, fused: L3) {
    let rows = matrix.rows;
    let (a, b) = (longs(frame, &matrix.a), longs(frame, &matrix.b));
    let c = longs(frame, &matrix.c);
    for (r, d) in matrix.d.iter().enumerate() {
        let mut sum = c[r];
        for k in 0..4 * b.len() {
            let left: Longs = std::array::from_fn(|lane| {
                let row = place_in_c(lane, r).0;
                a[row / 8 + k / 4 * (rows / 8)][4 * (row % 8) + k % 4]
            });
            let right: Longs = std::array::from_fn(|lane| {
                let column = place_in_c(lane, r).1;
                b[k / 4][4 * column + k % 4]
            });
            sum = fused(&left, &right, &sum);
        }
        if let Reg::Long(d) = d {
            frame.longs[d.0 as usize] = sum;
        }
    }
}
