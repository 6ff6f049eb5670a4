//! Stands in for `cuda` in a build without it: the same names, no values.

use crate::common::back_end::Found;
use crate::{DeviceError, DeviceErrorKind};
use bigint_core::facts::Facts;
use bigint_core::kernel::EntryPoint;
use bigint_core::transform::grid::GridPlan;
use bigint_core::{Launch, Limb, Shape};
use std::ops::Range;
use std::sync::Arc;

/// No device exists in this build.
pub(crate) enum Device {}

/// No device memory exists in this build.
pub(crate) enum Buffer {}

/// Whose table of roots.
#[expect(dead_code, reason = "no device asks which plan it is")]
pub(crate) enum Roots {
    Blocks,
    Grid(GridPlan),
    Ntt,
}

/// What becomes of memory that is let go.
#[derive(Clone, Copy)]
pub(crate) enum Memory {
    Plain,
    Wiped,
}

/// No copy is large here.
pub(crate) const STAGED: usize = 0;

fn not_built(ordinal: usize) -> DeviceError {
    DeviceError {
        ordinal,
        during: "opening the device".to_owned(),
        kind: DeviceErrorKind::NotBuilt,
    }
}

pub(crate) fn exit(code: u8) -> ! {
    std::process::exit(code.into())
}

pub(crate) fn devices() -> Result<Vec<Found>, DeviceError> {
    Err(not_built(0))
}

impl Device {
    pub fn open(ordinal: usize, _memory: Memory) -> Result<Arc<Self>, DeviceError> {
        Err(not_built(ordinal))
    }

    pub fn ordinal(&self) -> usize {
        match *self {}
    }

    pub fn shared_bytes(&self) -> u32 {
        match *self {}
    }

    pub fn is_early(&self) -> bool {
        match *self {}
    }

    pub fn has_module(&self, _entry: EntryPoint, _facts: Facts) -> bool {
        match *self {}
    }

    pub fn begins_module(&self, _entry: EntryPoint, _facts: Facts) -> bool {
        match *self {}
    }

    pub fn is_loading(&self) -> bool {
        match *self {}
    }

    pub fn load(&self, _entry: EntryPoint, _facts: Facts) {
        match *self {}
    }

    pub fn roots(&self, _of: Roots) -> Result<u64, DeviceError> {
        match *self {}
    }

    pub fn allocate(self: &Arc<Self>, _limbs: usize) -> Result<Buffer, DeviceError> {
        match **self {}
    }

    pub fn upload(self: &Arc<Self>, _limbs: &[Limb]) -> Result<Buffer, DeviceError> {
        match **self {}
    }

    pub fn allocate_ones(self: &Arc<Self>, _limbs: usize) -> Result<Buffer, DeviceError> {
        match **self {}
    }

    pub fn download(&self, _buffer: &Buffer, _limbs: &mut [Limb]) -> Result<(), DeviceError> {
        match *self {}
    }

    pub fn clear_padding(&self, _buffer: &Buffer, _shape: Shape) -> Result<(), DeviceError> {
        match *self {}
    }

    pub fn copy(&self, _to: &mut Buffer, _from: &Buffer) -> Result<(), DeviceError> {
        match *self {}
    }

    pub fn copy_part(
        &self,
        _to: (&mut Buffer, usize),
        _from: (&Buffer, Range<usize>),
    ) -> Result<(), DeviceError> {
        match *self {}
    }

    pub fn exercise_link(
        self: &Arc<Self>,
        _to_device: bool,
        _times: u32,
    ) -> Result<(), DeviceError> {
        match **self {}
    }

    pub fn wait(&self) -> Result<(), DeviceError> {
        match *self {}
    }

    pub fn launch<A>(
        &self,
        _entry: EntryPoint,
        _facts: Facts,
        _launch: Launch,
        _arguments: A,
        _buffers: &[&Buffer],
    ) -> Result<(), DeviceError> {
        match *self {}
    }
}

impl Buffer {
    pub fn is_of(&self, _device: &Device) -> bool {
        match *self {}
    }

    pub fn limbs(&self) -> usize {
        match *self {}
    }

    pub fn ordinal(&self) -> usize {
        match *self {}
    }

    pub fn device(&self) -> &Arc<Device> {
        match *self {}
    }

    pub fn address(&self) -> u64 {
        match *self {}
    }
}
