//! The table of kernels. It has the rows of all declarations, each multiplied out into one
//! kernel for each number of lanes and each layout.

use super::Kernel;
use crate::algorithm::{Algorithm, Level};
use crate::operation::{Operation, Row};
use crate::shape::Layout;

/// The longest name of a kernel, in bytes.
const LONGEST_NAME: usize = 64;

/// The number of kernels of all declarations.
const COUNT: usize = {
    let (mut count, mut i) = (0, 0);
    while i < Operation::ALL.len() {
        let rows = Operation::ALL[i].declaration().rows;
        let mut j = 0;
        while j < rows.len() {
            count += rows[j].lanes.len() * rows[j].layouts.len();
            j += 1;
        }
        i += 1;
    }
    count
};

/// A kernel without its name.
#[derive(Clone, Copy)]
struct Entry {
    operation: Operation,
    row: &'static Row,
    lanes: u32,
    layout: Layout,
}

/// All kernels in the order of the table, without their names.
const ENTRIES: [Entry; COUNT] = {
    let first = &Operation::ALL[0].declaration().rows[0];
    let mut entries = [Entry {
        operation: Operation::ALL[0],
        row: first,
        lanes: 0,
        layout: Layout::Contiguous,
    }; COUNT];
    let (mut count, mut i) = (0, 0);
    while i < Operation::ALL.len() {
        let rows = Operation::ALL[i].declaration().rows;
        let mut j = 0;
        while j < rows.len() {
            let row = &rows[j];
            let mut k = 0;
            while k < row.lanes.len() * row.layouts.len() {
                entries[count] = Entry {
                    operation: Operation::ALL[i],
                    row,
                    lanes: row.lanes[k / row.layouts.len()],
                    layout: row.layouts[k % row.layouts.len()],
                };
                (count, k) = (count + 1, k + 1);
            }
            j += 1;
        }
        i += 1;
    }
    entries
};

impl Entry {
    /// The operation and the algorithm after which the kernel's text is named.
    const fn text(self) -> (Operation, Algorithm) {
        match self.row.text {
            Some((operation, algorithm)) => (Operation::named(operation), algorithm),
            None => (self.operation, self.row.algorithm),
        }
    }
}

/// The kernels' names, such as `mul_comba_warp4_contiguous`.
static NAMES: [Name; COUNT] = {
    let mut names = [Name([0; LONGEST_NAME], 0); COUNT];
    let mut i = 0;
    while i < COUNT {
        let entry = ENTRIES[i];
        let (operation, algorithm) = entry.text();
        let name = names[i]
            .and(operation.name())
            .and("_")
            .and(algorithm.name());
        let name = name.and("_").and(entry.row.level.name());
        let name = match entry.row.level {
            Level::Thread => name,
            _ if entry.row.is_one_text => name,
            _ => name.and_number(entry.lanes),
        };
        names[i] = name.and("_").and(entry.layout.name());
        i += 1;
    }
    names
};

/// A name that is put together at compile time: its bytes, and its length.
#[derive(Clone, Copy)]
struct Name([u8; LONGEST_NAME], usize);

impl Name {
    const fn and(mut self, part: &str) -> Self {
        let part = part.as_bytes();
        let mut i = 0;
        while i < part.len() {
            self.0[self.1] = part[i];
            (i, self.1) = (i + 1, self.1 + 1);
        }
        self
    }

    /// Appends a number in decimal digits.
    const fn and_number(mut self, number: u32) -> Self {
        if number >= 10 {
            self = self.and_number(number / 10);
        }
        self.0[self.1] = b'0' + (number % 10) as u8;
        self.1 += 1;
        self
    }
}

pub(super) static KERNELS: [Kernel; COUNT] = {
    const fn kernel(i: usize) -> Kernel {
        let entry = ENTRIES[i];
        let (name, _) = NAMES[i].0.split_at(NAMES[i].1);
        Kernel {
            name: match core::str::from_utf8(name) {
                Ok(name) => name,
                Err(_) => panic!("names are made of names"),
            },
            text: entry.text().0,
            operation: entry.operation,
            algorithm: entry.row.algorithm,
            level: entry.row.level,
            lanes: entry.lanes,
            layout: entry.layout,
            family: entry.row.family,
            blocks: entry.row.blocks,
        }
    }
    let mut kernels = [kernel(0); COUNT];
    let mut i = 0;
    while i < COUNT {
        kernels[i] = kernel(i);
        i += 1;
    }
    kernels
};
