//! Kernels of one's own: PTX that a user built, launched with batches.

use crate::common::device::{Buffer, Device, OwnModule};
use crate::common::threads::each;
use crate::device::part::operand;
use crate::engine::inner::Inner;
use crate::values::node::{Node, Recipe, Share};
use crate::{Batch, Engine, Error};
use bigint_core::kernel::{BLOCK, MatrixArgument};
use bigint_core::operation::{MOST_OPERANDS, MOST_RESULTS};
use bigint_core::{Arguments, Launch, Layout, Limb, Shape};
use std::ops::Range;
use std::sync::Arc;

/// What a launch does that finds no device.
const LAUNCHING: &str = "launching a kernel of one's own";

/// A module of kernels that a user wrote, on every device of an engine.
///
/// A kernel is an exported `extern "ptx-kernel" fn(arguments: Arguments)`, or one with a second parameter, plain
/// numbers of 32 bits that are the same for all threads; `bigint_kernels` has what one is made of, and
/// `cargo xtask build-ptx --device-crate` builds it.
#[derive(Clone)]
pub struct Module {
    engine: Arc<Inner>,
    loaded: Vec<(Arc<dyn Device>, OwnModule)>,
    shared_bytes: u32,
    lanes: u32,
    layout: Layout,
}

impl Engine {
    /// Has the driver compile a module of PTX on every device of this engine; `None` where it has none. The
    /// driver takes some 4 ms for a kilobyte that it does not have in its cache:
    /// [`kernel_alone`](crate::advanced::kernel_alone) leaves it what is launched.
    ///
    /// # Errors
    /// [`Error::Device`], with the compiler's words where it refuses the PTX.
    pub fn module(&self, ptx: &str) -> Result<Option<Module>, Error> {
        self.inner.open_now();
        let devices = self.inner.devices();
        let loaded = devices.map(|device| Ok((Arc::clone(device), device.load_own(ptx)?)));
        let loaded = loaded.collect::<Result<Vec<_>, Error>>()?;
        Ok((!loaded.is_empty()).then(|| Module {
            engine: Arc::clone(&self.inner),
            loaded,
            shared_bytes: 0,
            lanes: 1,
            layout: Layout::Contiguous,
        }))
    }
}

impl Module {
    /// The module, for launches whose blocks have so many bytes of dynamic shared memory.
    pub fn with_shared_bytes(mut self, bytes: u32) -> Self {
        self.shared_bytes = bytes;
        self
    }

    /// The module, for launches in which so many neighbouring lanes of a warp share a number, as
    /// `bigint_kernels::warp::Batches` gives it to them.
    ///
    /// # Panics
    /// If `lanes` is not 1, 2, 4, 8, 16 or 32.
    pub fn with_lanes(mut self, lanes: u32) -> Self {
        assert!(
            lanes.is_power_of_two() && lanes <= 32,
            "1, 2, 4, 8, 16 or 32 lanes share a number"
        );
        self.lanes = lanes;
        self
    }

    /// The module, for launches whose results are of this layout. In the interleaved one a warp that reads limb
    /// `i` of its threads' numbers, stored by an earlier launch, reads whole lines.
    pub fn with_layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }

    /// The layout of results.
    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// The most bytes of shared memory that a block can have on every one of the devices.
    pub fn most_shared_bytes(&self) -> u32 {
        let bytes = self.loaded.iter().map(|(device, _)| device.shared_bytes());
        bytes.min().unwrap_or(0)
    }

    /// How many numbers a launch of this kernel computes at once, on all devices: a launch of a multiple of that leaves no
    /// part of a device without work at its end. `None` where a driver does not tell.
    ///
    /// # Errors
    /// [`Error::Device`], where there is no such kernel.
    pub fn numbers_at_once(&self, kernel: &str) -> Result<Option<usize>, Error> {
        let mut least = usize::MAX;
        for (device, module) in &self.loaded {
            match device.threads_at_once(module, kernel, self.shared_bytes)? {
                Some(threads) => least = least.min(threads / self.lanes as usize),
                None => return Ok(None),
            }
        }
        Ok(Some(least * self.loaded.len()))
    }

    /// Waits for all that was launched on the devices, and tells of what failed.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn wait(&self) -> Result<(), Error> {
        for (device, _) in &self.loaded {
            device.wait()?;
        }
        Ok(())
    }

    /// Launches a kernel, a thread (or [lanes](Self::with_lanes)) for each number, in blocks of 128: batches of these widths, contiguous
    /// but for [`with_layout`](Self::with_layout), of as many numbers as the longest operand has; one number stands for all. What the devices of the
    /// engine have of the numbers they share as they do for any operation, and results stay there.
    ///
    /// The kernel gets operands as `a`, `b`, `c` of [`Arguments`] and results as `r`, `s`; `scalars` are its
    /// second parameter, if there are any. A launch is not waited for: the host may make the next batch meanwhile, whose copy to
    /// the device goes on beside kernels, and bringing a result to the host waits for the launch that makes it, not for later ones.
    ///
    /// A kernel must touch nothing but what its arguments name: one that writes elsewhere makes other
    /// batches' numbers others.
    ///
    /// # Errors
    /// [`Error::CountMismatch`] where an operand has neither one number nor as many as the others;
    /// [`Error::Device`], where there is no such kernel or the launch fails: a later call may be the one
    /// that tells. Nothing is computed again elsewhere, as nobody else can.
    ///
    /// # Panics
    /// If there are no operands, or more operands or results than [`Arguments`] has room for.
    pub fn launch(
        &self,
        kernel: &str,
        operands: &[&Batch],
        widths: &[usize],
        scalars: &[Limb],
    ) -> Result<Vec<Batch>, Error> {
        self.launched(kernel, operands, widths, scalars, |_| None)
    }

    /// [`launch`](Self::launch), with recipes of the results.
    pub(crate) fn launched(
        &self,
        kernel: &str,
        operands: &[&Batch],
        widths: &[usize],
        scalars: &[Limb],
        recipe: impl Fn(usize) -> Option<Recipe>,
    ) -> Result<Vec<Batch>, Error> {
        let count = count(operands, widths)?;
        let shares = self.engine.shares(count, f64::INFINITY);
        if shares.is_empty() && count > 0 {
            return Err(self.engine.lost(LAUNCHING));
        }
        let shares: Vec<_> = shares
            .into_iter()
            .filter(|(_, numbers)| !numbers.is_empty())
            .collect();
        let made = each(shares, |(device, numbers)| {
            let made = self.on_device(device, kernel, operands, &numbers, widths, scalars);
            made.map(|buffers| (numbers, buffers))
        });
        let mut all: Vec<Vec<Share>> = widths.iter().map(|_| Vec::new()).collect();
        for made in made {
            let (numbers, buffers) = made?;
            for (shares, buffer) in all.iter_mut().zip(buffers) {
                shares.push(Share {
                    numbers: numbers.clone(),
                    buffer: Arc::new(buffer),
                });
            }
        }
        let shapes = widths
            .iter()
            .map(|&width| Shape::new(count, width, self.layout));
        let batches = shapes.zip(all).enumerate().map(|(index, (shape, shares))| {
            Batch::new(match shares.is_empty() {
                true => Node::on_host(&self.engine, shape, Vec::new()),
                false => Node::on_devices(&self.engine, shape, shares, recipe(index)),
            })
        });
        Ok(batches.collect())
    }

    /// Launches on a device, for some of the numbers.
    fn on_device(
        &self,
        device: &Arc<dyn Device>,
        kernel: &str,
        operands: &[&Batch],
        numbers: &Range<usize>,
        widths: &[usize],
        scalars: &[Limb],
    ) -> Result<Vec<Buffer>, Error> {
        let loaded = self
            .loaded
            .iter()
            .find(|(other, _)| Arc::ptr_eq(other, device));
        let Some((_, module)) = loaded else {
            return Err(self.engine.lost(LAUNCHING));
        };
        let count = numbers.len();
        let given = operands
            .iter()
            .map(|operand| operand.node().resident(device, numbers.clone()));
        let given = given.collect::<Result<Vec<_>, _>>()?;
        let shapes = widths
            .iter()
            .map(|&width| Shape::new(count, width, self.layout));
        let made = shapes.clone().map(|shape| {
            let buffer = device.allocate(shape.limbs())?;
            device.clear_padding(&buffer, shape)?;
            Ok::<_, Error>(buffer)
        });
        let mut made = made.collect::<Result<Vec<_>, _>>()?;
        let pairs = operands.iter().zip(&given);
        let matrices: Vec<_> = pairs
            .map(|(batch, buffer)| operand(batch.node(), buffer.address(), count))
            .collect();
        let results: Vec<_> = shapes
            .zip(&made)
            .map(|(shape, buffer)| {
                MatrixArgument::new(buffer.address(), shape.width, shape.strides())
            })
            .collect();
        // Numbers of a block.
        let each = (BLOCK / self.lanes) as usize;
        let grid = u32::try_from(count.div_ceil(each)).unwrap_or(u32::MAX);
        let workers = grid as usize * each;
        let launch = Launch {
            grid,
            block: BLOCK,
            shared_bytes: self.shared_bytes,
            workers,
            scratch_width: 0,
        };
        let arguments = Arguments {
            count: count as u64,
            workers: workers as u64,
            ..Arguments::of(&results, &matrices)
        };
        let buffers: Vec<_> = made
            .iter()
            .chain(given.iter().map(|buffer| &**buffer))
            .collect();
        device.launch_own(module, kernel, launch, &arguments, scalars, &buffers)?;
        for buffer in &mut made {
            device.seal(buffer)?;
        }
        Ok(made)
    }
}

/// How many numbers results have.
///
/// # Errors
/// [`Error::CountMismatch`].
///
/// # Panics
/// If there are no operands, or more operands or results than [`Arguments`] has room for.
pub(crate) fn count(operands: &[&Batch], widths: &[usize]) -> Result<usize, Error> {
    assert!(
        (1..=MOST_OPERANDS).contains(&operands.len()) && widths.len() <= MOST_RESULTS,
        "operands and results that a kernel's arguments have room for"
    );
    let count = operands.iter().map(|operand| operand.len());
    let count = count.max().unwrap_or(0);
    match operands
        .iter()
        .find(|of| of.len() != count && of.len() != 1)
    {
        Some(other) => Err(Error::CountMismatch {
            a: count,
            b: other.len(),
        }),
        None => Ok(count),
    }
}

#[cfg(all(test, feature = "cuda"))]
mod tests {
    use super::*;

    #[test]
    fn an_engine_without_devices_has_no_module() {
        assert!(Engine::cpu().module("no PTX").unwrap().is_none());
    }
}
