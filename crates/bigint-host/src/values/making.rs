//! The construction of batches from limbs, integers and bytes, in any layout, and of integers in memory
//! that is used again.

use crate::common::device::Device;
use crate::common::limbs;
use crate::common::threads::each;
use crate::engine::inner::{Inner, Resort};
use crate::values::batch::Batch;
use crate::values::node::{Node, Recipe, Share};
use crate::{DeviceError, Engine, Error, Integers};
use bigint_core::{Layout, Limb, Shape};
use num_bigint::BigUint;
use std::ops::Range;
use std::sync::Arc;

impl Inner {
    /// Takes a user's limbs: onto the devices where there are any. An engine that falls back to the
    /// CPU keeps them on the host as well.
    pub fn admit(self: &Arc<Self>, shape: Shape, limbs: Vec<Limb>) -> Result<Batch, Error> {
        let shares = self.shares_of_given(shape);
        let mut node = Node::on_host(self, shape, limbs);
        if shares.is_empty() {
            return Ok(Batch::new(node));
        }
        let brought = each(shares, |(device, numbers)| node.resident(device, numbers));
        let mut is_there = true;
        for error in brought.into_iter().filter_map(Result::err) {
            is_there = false;
            let instead = "keeping its numbers on the host";
            match error.is_of_device_memory() {
                true => self.warn(format!("{error}; {instead}")),
                false => self.make_good(error, instead)?,
            }
        }
        if is_there && !self.falls_back() {
            self.pool.give(node.host.take().unwrap_or_default());
        }
        Ok(Batch::new(node))
    }

    /// The devices to which a user's limbs are brought, each with its numbers; none where the host keeps them.
    fn shares_of_given(self: &Arc<Self>, shape: Shape) -> Vec<(&Arc<dyn Device>, Range<usize>)> {
        self.open_if_that_is_free();
        // A sum with as many is the least that they are for.
        let work = self
            .tuning()
            .start
            .device
            .moved(3 * shape.count.saturating_mul(shape.width));
        // A driver that compiles has no time for a copy, and the CPU computes meanwhile.
        let waits = self.resort == Resort::Always && self.devices().any(|d| d.is_loading());
        match waits {
            true => Vec::new(),
            false => self.shares(shape.count, work),
        }
    }

    /// The batch of a column whose numbers are all as wide as the shape, brought to the devices from where they are. None where
    /// the host keeps them, or where some cannot be brought there.
    pub fn admit_column(self: &Arc<Self>, column: &Integers, shape: Shape) -> Option<Batch> {
        let (width, shares) = (shape.width, self.shares_of_given(shape));
        if shares.is_empty() || self.pool.is_for_secrets() {
            return None;
        }
        let brought = each(shares, |(device, numbers)| {
            let limbs = &column.limbs()[numbers.start * width..numbers.end * width];
            let buffer = Arc::new(device.upload(limbs)?);
            Ok::<_, DeviceError>(Share { numbers, buffer })
        });
        let shares = brought.into_iter().collect::<Result<Vec<_>, _>>().ok()?;
        let column = column.clone();
        let again = move |engine: &Arc<Inner>, numbers: Range<usize>| {
            let limbs = limbs::copy(&column.limbs()[numbers.start * width..numbers.end * width])?;
            let count = numbers.len();
            Ok(Node::on_host(engine, Shape { count, ..shape }, limbs))
        };
        let recipe = self.remembers().then(|| Recipe::new(&[], again));
        Some(Batch::new(Node::on_devices(self, shape, shares, recipe)))
    }
}

impl Engine {
    /// A batch of `shape` from its limbs: `shape.limbs()` of them, in the shape's
    /// layout. Padding of an interleaved batch is ignored.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Width`]; [`Error::Device`] on a device.
    pub fn batch_from_limbs(&self, limbs: Vec<Limb>, shape: Shape) -> Result<Batch, Error> {
        let expected = limbs::checked_limbs(shape)?;
        if limbs.len() != expected {
            return Err(Error::Length {
                expected,
                found: limbs.len(),
                unit: "limbs",
            });
        }
        let mut limbs = limbs;
        limbs::clear_padding(&mut limbs, shape);
        self.inner.admit(shape, limbs)
    }

    /// A contiguous batch as wide as its widest number.
    ///
    /// # Errors
    /// [`Error::Device`] on a device.
    pub fn batch_from_biguints(&self, numbers: &[BigUint]) -> Result<Batch, Error> {
        self.batch_of(numbers.len(), |i| &numbers[i])
    }

    /// A contiguous batch of `count` numbers, as wide as the widest.
    pub(crate) fn batch_of<'a>(
        &self,
        count: usize,
        number: impl Fn(usize) -> &'a BigUint + Sync,
    ) -> Result<Batch, Error> {
        let bits = limbs::most_bits(count, &number);
        let width = bits.div_ceil(u64::from(Limb::BITS)).max(1);
        let width = usize::try_from(width).unwrap_or(usize::MAX);
        self.batch_of_width(Shape::new(count, width, Layout::Contiguous), number)
    }

    /// A batch of numbers that are no wider than its shape.
    fn batch_of_width<'a>(
        &self,
        shape: Shape,
        number: impl Fn(usize) -> &'a BigUint + Sync,
    ) -> Result<Batch, Error> {
        let limbs = limbs::build(&self.inner.pool, shape, |index, row| {
            limbs::fill_with(row, number(index));
        })?;
        self.inner.admit(shape, limbs)
    }

    /// A batch of numbers of `width` limbs in `layout`.
    ///
    /// # Errors
    /// [`Error::TooWide`] names the first number that does not fit;
    /// [`Error::Width`]; [`Error::Device`] on a device.
    pub fn batch_from_biguints_in(
        &self,
        numbers: &[BigUint],
        width: usize,
        layout: Layout,
    ) -> Result<Batch, Error> {
        let most = width as u64 * u64::from(Limb::BITS);
        let is_too_wide = |number: &BigUint| number.bits() > most;
        if limbs::most_bits(numbers.len(), |i| &numbers[i]) > most
            && let Some(index) = numbers.iter().position(is_too_wide)
        {
            return Err(Error::TooWide {
                index,
                bits: numbers[index].bits(),
                width,
            });
        }
        self.batch_of_width(Shape::new(numbers.len(), width, layout), |i| &numbers[i])
    }

    /// A batch from little-endian bytes, `bytes_per_number` to each number; the
    /// width is the fewest limbs that hold them.
    ///
    /// # Errors
    /// [`Error::Length`] where the bytes are not a whole number of numbers;
    /// [`Error::Width`]; [`Error::Device`] on a device.
    pub fn batch_from_bytes_le(
        &self,
        bytes: &[u8],
        bytes_per_number: usize,
        layout: Layout,
    ) -> Result<Batch, Error> {
        const LIMB_BYTES: usize = size_of::<Limb>();
        let width = bytes_per_number.div_ceil(LIMB_BYTES);
        let count = bytes.len().checked_div(bytes_per_number).unwrap_or(0);
        let shape = Shape::new(count, width, layout);
        limbs::checked_limbs(shape)?;
        if bytes.len() != count * bytes_per_number {
            return Err(Error::Length {
                expected: (count + 1) * bytes_per_number,
                found: bytes.len(),
                unit: "bytes",
            });
        }
        let limbs = limbs::build(&self.inner.pool, shape, |index, row| {
            let number = &bytes[index * bytes_per_number..][..bytes_per_number];
            let (whole, rest) = number.as_chunks::<LIMB_BYTES>();
            for (limb, bytes) in row.iter_mut().zip(whole) {
                *limb = Limb::from_le_bytes(*bytes);
            }
            if !rest.is_empty() {
                let mut bytes = [0; LIMB_BYTES];
                bytes[..rest.len()].copy_from_slice(rest);
                row[width - 1] = Limb::from_le_bytes(bytes);
            }
        })?;
        self.inner.admit(shape, limbs)
    }

    /// The numbers in another layout. They go through the host.
    ///
    /// # Errors
    /// [`Error::Device`] on a device.
    pub fn to_layout(&self, batch: &Batch, layout: Layout) -> Result<Batch, Error> {
        let shape = batch.shape();
        if shape.layout == layout {
            return Ok(batch.clone());
        }
        if batch.is_secret() && !self.is_for_secrets() {
            return Err(Error::Secret);
        }
        let limbs = limbs::to_layout(&self.inner.pool, batch.to_limbs()?, shape, layout)?;
        self.inner.admit(Shape { layout, ..shape }, limbs)
    }

    /// The batch itself, or a copy where another engine's device may hold it.
    pub(crate) fn adopt(&self, batch: &Batch) -> Result<Batch, Error> {
        if Arc::ptr_eq(&batch.node().engine, &self.inner) {
            return Ok(batch.clone());
        }
        if batch.is_secret() && !self.is_for_secrets() {
            return Err(Error::Secret);
        }
        self.inner.admit(batch.shape(), batch.to_limbs()?)
    }

    /// A batch from big-endian bytes, `bytes_per_number` to each number; otherwise as
    /// [`Engine::batch_from_bytes_le`].
    ///
    /// # Errors
    /// As for [`Engine::batch_from_bytes_le`].
    pub fn batch_from_bytes_be(
        &self,
        bytes: &[u8],
        bytes_per_number: usize,
        layout: Layout,
    ) -> Result<Batch, Error> {
        let mut bytes = limbs::copy(bytes)?;
        for number in bytes.chunks_mut(bytes_per_number.max(1)) {
            number.reverse();
        }
        self.batch_from_bytes_le(&bytes, bytes_per_number, layout)
    }

    /// Memory for so many limbs, with any content: what earlier results of this engine have given back, if some
    /// of it fits. Fresh memory takes longer to come than many an operation.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn memory(&self, limbs: usize) -> Result<Vec<Limb>, Error> {
        self.inner.pool.take(limbs)
    }

    /// [`Integers::from_parts`], whose memory this engine uses again in the end.
    ///
    /// ```
    /// use bigint_host::Engine;
    /// let engine = Engine::cpu();
    /// let mut limbs = engine.memory(2000)?;
    /// limbs.fill(7);
    /// let address = limbs.as_ptr();
    /// drop(engine.integers_from_parts(limbs, vec![0, 8000], vec![0])?);
    /// assert_eq!(engine.memory(2000)?.as_ptr(), address);
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Integers::from_parts`].
    pub fn integers_from_parts(
        &self,
        limbs: Vec<Limb>,
        offsets: Vec<i64>,
        signs: Vec<u8>,
    ) -> Result<Integers, Error> {
        let column = Integers::checked(limbs.into(), offsets, signs)?;
        Ok(column.kept_by(&self.inner.pool).into())
    }

    /// [`Integers::from_fn`] in [`memory`](Self::memory) of this engine: `fill` must write every limb.
    ///
    /// # Errors
    /// As for [`Integers::from_fn`].
    pub fn integers_from_fn(
        &self,
        count: usize,
        limbs: usize,
        length: impl Fn(usize) -> (usize, bool) + Sync,
        fill: impl Fn(usize, &mut [Limb]) + Sync,
    ) -> Result<Integers, Error> {
        Integers::from_fn_in(Some(&self.inner.pool), count, limbs, length, fill)
    }

    /// Keeps the transform of `b` for later products by it, so that each of many products by the
    /// same numbers takes one transform less: on a device, for numbers that one transform modulo
    /// primes multiplies. Results are the same.
    ///
    /// It takes 12 bytes of device memory for each limb of a product, and for each length of
    /// products there are, until the batch is dropped.
    ///
    /// ```
    /// use bigint_host::{BigUint, Engine};
    /// let engine = Engine::cpu();
    /// let [a, b] = [3u32, 5].map(|x| engine.batch_from_biguints(&[BigUint::from(x)]).unwrap());
    /// engine.keep_transform(&b);
    /// assert_eq!(engine.mul(&a, &b)?.to_biguints()?, [15u32.into()]);
    /// # Ok::<(), bigint_host::Error>(())
    /// ```
    pub fn keep_transform(&self, b: &Batch) {
        b.node().keep();
    }
}
