//! The highest rates of a device, measured and not read off a data sheet.

use crate::Error;
use crate::common::device::{Device, STAGED};
use bigint_core::kernel::{BLOCK, MatrixArgument};
use bigint_core::modules::{CEILING, CEILING_MULTIPLY_ADDS};
use bigint_core::specialization::Specialization;
use bigint_core::{Arguments, Launch, Layout, Limb, Shape};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The least time of a sample, so that neither the clock nor a launch shows.
const SAMPLE: Duration = Duration::from_millis(10);

/// The number of samples, of which the median counts.
const SAMPLES: usize = 9;

/// The most blocks that a sample of multiply-adds launches: many times what any
/// device runs at once.
const MOST_BLOCKS: usize = 1 << 16;

/// A device's greatest rates, to which those of its kernels are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ceilings {
    /// Bytes read and bytes written in a second by a copy within device memory.
    pub copy_bytes_per_second: f64,
    /// 32x32+64->64-bit multiply-adds in a second.
    pub multiply_adds_per_second: f64,
    /// Multiply-adds of bytes in a second by tensor cores. They are not measured: it is what NVIDIA's table of
    /// throughputs and the device's clock say. 0 where there are none.
    pub byte_multiply_adds_per_second: f64,
    /// Bytes in a second from the host's pinned memory to the device.
    pub to_device_bytes_per_second: f64,
    /// Bytes in a second from the device to the host's pinned memory.
    pub to_host_bytes_per_second: f64,
}

impl Ceilings {
    /// Measures a device, by copies of `bytes` bytes of its memory.
    pub(crate) fn of(device: &Arc<dyn Device>, bytes: usize) -> Result<Self, Error> {
        Ok(Ceilings {
            copy_bytes_per_second: copies(device, bytes)?,
            multiply_adds_per_second: multiply_adds(device)?,
            byte_multiply_adds_per_second: device
                .facts()
                .map_or(0.0, |facts| facts.byte_multiply_adds_per_second()),
            to_device_bytes_per_second: link(device, true)?,
            to_host_bytes_per_second: link(device, false)?,
        })
    }

    /// The rates of two devices together.
    pub(crate) fn and(self, other: Self) -> Self {
        Ceilings {
            copy_bytes_per_second: self.copy_bytes_per_second + other.copy_bytes_per_second,
            multiply_adds_per_second: self.multiply_adds_per_second
                + other.multiply_adds_per_second,
            byte_multiply_adds_per_second: self.byte_multiply_adds_per_second
                + other.byte_multiply_adds_per_second,
            to_device_bytes_per_second: self.to_device_bytes_per_second
                + other.to_device_bytes_per_second,
            to_host_bytes_per_second: self.to_host_bytes_per_second
                + other.to_host_bytes_per_second,
        }
    }
}

/// Devices are compared by copies of their memory's size over this.
const COMPARED_PART: usize = 64;

/// The speed of a device with `memory_bytes` bytes of memory, to compare it with others: sums
/// depend on its copies, products on its multiply-adds, and batches of both stay on it.
pub(crate) fn rate(device: &Arc<dyn Device>, memory_bytes: usize) -> Result<f64, Error> {
    let copied = copies(device, memory_bytes / COMPARED_PART)?;
    Ok((copied * multiply_adds(device)?).sqrt())
}

fn copies(device: &Arc<dyn Device>, bytes: usize) -> Result<f64, Error> {
    let limbs = (bytes / (2 * size_of::<Limb>())).max(1);
    let (mut to, from) = (device.allocate(limbs)?, device.upload(&vec![!0; limbs])?);
    let seconds = median(&mut |times| {
        for _ in 0..times {
            device.copy(&mut to, &from)?;
        }
        Ok(device.wait()?)
    })?;
    Ok((2 * limbs * size_of::<Limb>()) as f64 / seconds)
}

fn multiply_adds(device: &Arc<dyn Device>) -> Result<f64, Error> {
    let block = BLOCK as usize;
    let r = device.allocate(MOST_BLOCKS * block)?;
    let seconds = median(&mut |times| {
        let blocks = (times as usize).min(MOST_BLOCKS);
        let shape = Shape::new(blocks * block, 1, Layout::Contiguous);
        let launch = Launch {
            grid: blocks as u32,
            block: BLOCK,
            shared_bytes: 0,
            workers: shape.count,
            scratch_width: 0,
        };
        let arguments = Arguments {
            r: MatrixArgument::new(r.address(), 1, shape.strides()),
            count: shape.count as u64,
            workers: shape.count as u64,
            ..Arguments::default()
        };
        device.launch(CEILING, Specialization::None, launch, &arguments, &[&r])?;
        Ok(device.wait()?)
    })?;
    Ok(block as f64 * CEILING_MULTIPLY_ADDS as f64 / seconds)
}

fn link(device: &Arc<dyn Device>, to_device: bool) -> Result<f64, Error> {
    let seconds = median(&mut |times| Ok(device.exercise_link(to_device, times)?))?;
    Ok((STAGED * size_of::<Limb>()) as f64 / seconds)
}

/// The seconds that one of `work`'s repetitions takes, as the median of samples.
fn median(work: &mut dyn FnMut(u32) -> Result<(), Error>) -> Result<f64, Error> {
    let mut sample = |times| {
        let started = Instant::now();
        work(times)?;
        Ok::<_, Error>(started.elapsed())
    };
    // The first launch waits for the kernel to be compiled.
    sample(1)?;
    let mut times = 1;
    while sample(times)? < SAMPLE && times < MOST_BLOCKS as u32 {
        times *= 2;
    }
    let mut samples = (0..SAMPLES)
        .map(|_| sample(times))
        .collect::<Result<Vec<_>, _>>()?;
    samples.sort_unstable();
    Ok(samples[SAMPLES / 2].as_secs_f64() / f64::from(times))
}
