//! What a task made: batches, or some numbers of them on one device.

use crate::common::device::Buffer;
use crate::values::node::Node;
use bigint_core::Shape;

/// What was made of all numbers.
pub(crate) struct Computed {
    pub results: Vec<Node>,
    /// One limb for each number, where flags were wanted.
    pub flags: Option<Node>,
    pub first: Option<usize>,
}

/// What a device made of some numbers.
pub(crate) struct Made {
    /// The results in declared order, and flags where they were wanted.
    pub buffers: Vec<(Shape, Buffer)>,
    /// The first number whose flag is 1, counted from the task's first.
    pub first: Option<usize>,
}

impl Computed {
    /// One result.
    pub fn of(result: Node) -> Self {
        Computed {
            results: vec![result],
            flags: None,
            first: None,
        }
    }

    /// Everything that was made, flags last.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.results.iter().chain(&self.flags)
    }

    /// The same, one by one.
    pub fn into_nodes(self) -> impl Iterator<Item = Node> {
        self.results.into_iter().chain(self.flags)
    }
}

impl Made {
    /// One batch.
    pub fn of(shape: Shape, buffer: Buffer) -> Self {
        Made {
            buffers: vec![(shape, buffer)],
            first: None,
        }
    }
}
