//! Mistakes of lanes, before the report says where the lane is.

use crate::check::FaultKind;

/// A mistake of one lane, before it is known where the lane is.
#[derive(Debug)]
pub(crate) struct Mistake {
    pub kind: FaultKind,
    pub lane: u32,
    pub address: Option<u64>,
    pub detail: String,
    /// The PTX line of an earlier instruction that the detail speaks of.
    pub earlier: Option<u32>,
}

impl Mistake {
    /// A mistake that concerns no address.
    pub fn new(kind: FaultKind, lane: u32, detail: impl Into<String>) -> Box<Self> {
        Box::new(Mistake {
            kind,
            lane,
            address: None,
            detail: detail.into(),
            earlier: None,
        })
    }

    /// Says at which line the instruction is that the detail ends with.
    pub fn after(mut self: Box<Self>, line: u32) -> Box<Self> {
        self.earlier = Some(line);
        self
    }

    /// A mistake at an address.
    pub fn at(kind: FaultKind, lane: u32, address: u64, detail: impl Into<String>) -> Box<Self> {
        Box::new(Mistake {
            kind,
            lane,
            address: Some(address),
            detail: detail.into(),
            earlier: None,
        })
    }
}

pub(crate) type Step<T = ()> = Result<T, Box<Mistake>>;
