//! The results of a task: batches, or some numbers of them on one device.

use crate::common::device::Buffer;
use crate::values::node::Node;
use bigint_core::Shape;

/// The results for all numbers of a task.
pub(crate) struct Computed {
    pub results: Vec<Node>,
    /// The flags, one limb for each number, where they were wanted.
    pub flags: Option<Node>,
    pub first: Option<usize>,
}

/// The results that a device made for some numbers.
pub(crate) struct Made {
    /// The results in declared order, and the flags where they were wanted.
    pub buffers: Vec<(Shape, Buffer)>,
    /// The index, from the task's first number, of the first one whose flag is 1.
    pub first: Option<usize>,
}

impl Computed {
    /// A single result.
    pub fn of(result: Node) -> Self {
        Computed {
            results: vec![result],
            flags: None,
            first: None,
        }
    }

    /// All results, and then the flags.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.results.iter().chain(&self.flags)
    }

    /// All results, and then the flags, one by one.
    pub fn into_nodes(self) -> impl Iterator<Item = Node> {
        self.results.into_iter().chain(self.flags)
    }
}

impl Made {
    /// A single batch.
    pub fn of(shape: Shape, buffer: Buffer) -> Self {
        Made {
            buffers: vec![(shape, buffer)],
            first: None,
        }
    }
}
