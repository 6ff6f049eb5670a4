//! Who owns which addresses: device memory, managed memory, page-locked host
//! memory. Every pointer that a program passes is looked up here before a byte
//! moves, so a wrong one is an error code.

use crate::error::{Code, Result, invalid};
use crate::state::gpu::Gpu;
use crate::state::handle::Handle;
use crate::state::host::{HostSpan, PageLocked};
use crate::state::pool::Pool;
use crate::sync::locked;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// What a block of device addresses is.
pub enum Kind {
    /// Memory of the device.
    Device,
    /// Memory of the device, out of a pool.
    Pooled(Arc<Pool>),
    /// Memory with the same addresses on host and device. The host's copy is the truth but while a
    /// kernel runs.
    Managed(PageLocked),
    /// A variable of a module: freed with it, not by the program.
    Variable(Handle),
}

/// A block of device addresses.
pub struct Block {
    /// The block's first address.
    pub base: u64,
    /// The block's length, as the program asked for it.
    pub bytes: u64,
    /// The device it is on.
    pub gpu: &'static Gpu,
    /// The context that allocated it.
    pub context: Handle,
    /// The kind of the block.
    pub kind: Kind,
    /// The function that made it, and which of all allocations it is, from one.
    pub made_by: (&'static str, u64),
}

/// A block of host addresses that the driver knows.
pub struct HostBlock {
    /// The block's first address.
    pub base: u64,
    /// The block's length in bytes.
    pub bytes: u64,
    /// The context that allocated or registered it.
    pub context: Handle,
    /// `CU_MEMHOSTALLOC_*`, or `CU_MEMHOSTREGISTER_*` if registered.
    pub flags: u32,
    /// The memory, if the driver allocated it; else the program registered its own.
    pub owned: Option<PageLocked>,
    /// The function that made it, and which of all allocations it is, from one.
    pub made_by: (&'static str, u64),
}

/// The location of a range of addresses.
#[derive(Clone, Copy)]
pub enum Location {
    /// On a device.
    Device {
        /// The device.
        gpu: &'static Gpu,
        /// The first address.
        address: u64,
    },
    /// On the host.
    Host(HostSpan),
}

#[derive(Default)]
struct Blocks {
    device: BTreeMap<u64, Arc<Block>>,
    host: BTreeMap<u64, Arc<HostBlock>>,
    made: u64,
}

/// All blocks of the process.
#[derive(Default)]
pub struct Memory(Mutex<Blocks>);

impl Memory {
    fn lock(&self) -> MutexGuard<'_, Blocks> {
        locked(&self.0)
    }

    /// Notes a block of device addresses.
    pub fn add(
        &self,
        base: u64,
        bytes: u64,
        owner: (&'static Gpu, Handle),
        kind: Kind,
        function: &'static str,
    ) {
        let mut blocks = self.lock();
        let made_by = blocks.number(function);
        let block = Block {
            base,
            bytes,
            gpu: owner.0,
            context: owner.1,
            kind,
            made_by,
        };
        blocks.device.insert(base, Arc::new(block));
    }

    /// Notes a block of host addresses; an error if a part of it is known already.
    pub fn add_host(
        &self,
        span: HostSpan,
        context: Handle,
        flags: u32,
        owned: Option<PageLocked>,
        function: &'static str,
    ) -> Result {
        let (base, bytes) = (span.address(), span.bytes() as u64);
        let mut blocks = self.lock();
        let below = blocks.host.range(..base + bytes).next_back();
        if below.is_some_and(|(_, block)| block.base + block.bytes > base) {
            let why = format!("{base:#x} lies in host memory that the driver knows already");
            return Err(Code::HOST_MEMORY_ALREADY_REGISTERED.because(why));
        }
        let made_by = blocks.number(function);
        let block = HostBlock {
            base,
            bytes,
            context,
            flags,
            owned,
            made_by,
        };
        blocks.host.insert(base, Arc::new(block));
        Ok(())
    }

    /// The block of device addresses that `address` lies in.
    pub fn block(&self, address: u64) -> Option<Arc<Block>> {
        let blocks = self.lock();
        let (_, block) = blocks.device.range(..=address).next_back()?;
        (address - block.base < block.bytes).then(|| Arc::clone(block))
    }

    /// The block of host addresses that `address` lies in.
    pub fn host_block(&self, address: u64) -> Option<Arc<HostBlock>> {
        let blocks = self.lock();
        let (_, block) = blocks.host.range(..=address).next_back()?;
        (address - block.base < block.bytes).then(|| Arc::clone(block))
    }

    /// Takes out the block of device memory that starts at `base`.
    pub fn remove(&self, base: u64) -> Result<Arc<Block>> {
        let mut blocks = self.lock();
        match blocks.device.get(&base) {
            Some(block) if !matches!(block.kind, Kind::Variable(_)) => {}
            _ => return Err(no_allocation(base)),
        }
        blocks
            .device
            .remove(&base)
            .ok_or_else(|| no_allocation(base))
    }

    /// Takes out the host block that starts at `base`, if `registered` says how it
    /// came to be.
    pub fn remove_host(&self, base: u64, registered: bool) -> Option<Arc<HostBlock>> {
        let mut blocks = self.lock();
        let block = blocks.host.get(&base)?;
        if block.owned.is_none() == registered {
            blocks.host.remove(&base)
        } else {
            None
        }
    }

    /// Forgets the variables of a module.
    pub fn remove_variables(&self, module: Handle) {
        self.lock()
            .device
            .retain(|_, block| !matches!(block.kind, Kind::Variable(owner) if owner == module));
    }

    /// The managed blocks of a device.
    pub fn managed(&self, gpu: &Gpu) -> Vec<Arc<Block>> {
        let blocks = self.lock();
        let of_device = |block: &&Arc<Block>| std::ptr::eq(block.gpu, gpu);
        let all = blocks.device.values().filter(of_device);
        all.filter(|block| matches!(block.kind, Kind::Managed(_)))
            .cloned()
            .collect()
    }

    /// The location of a device pointer's range; an error unless all of it is within one block.
    pub fn locate(&self, address: u64, bytes: u64) -> Result<Location> {
        let Some(block) = self.block(address) else {
            return self.locate_on_host(address, bytes).ok_or_else(|| {
                invalid(format!(
                    "no device memory or page-locked memory is at {address:#x}"
                ))
            });
        };
        if bytes > block.bytes - (address - block.base) {
            return Err(invalid(format!(
                "{bytes} bytes from {address:#x} on are more than the {} of the allocation at {:#x}",
                block.bytes, block.base
            )));
        }
        Ok(match &block.kind {
            Kind::Managed(memory) => {
                Location::Host(memory.span().part(address - block.base, bytes))
            }
            _ => Location::Device {
                gpu: block.gpu,
                address,
            },
        })
    }

    /// The location of a range of page-locked memory, which a program may pass as a device pointer:
    /// unified addressing.
    fn locate_on_host(&self, address: u64, bytes: u64) -> Option<Location> {
        let block = self.host_block(address)?;
        let memory = block.owned.as_ref()?;
        let offset = address - block.base;
        (bytes <= block.bytes - offset).then(|| Location::Host(memory.span().part(offset, bytes)))
    }

    /// Takes out and frees everything of a context's; returns descriptions of what the
    /// program should have freed.
    pub fn drain(&self, context: Handle) -> Vec<String> {
        let mut blocks = self.lock();
        let mut left = Vec::new();
        for (_, block) in blocks.device.extract_if(.., |_, b| b.context == context) {
            block.release();
            left.extend(block.describe());
        }
        for (_, block) in blocks.host.extract_if(.., |_, b| b.context == context) {
            left.push(block.describe());
        }
        left
    }

    /// Descriptions of what is not freed of contexts that `counts` chooses, in the order of
    /// allocation.
    pub fn unfreed(&self, counts: impl Fn(Handle) -> bool) -> Vec<String> {
        let blocks = self.lock();
        let device = blocks.device.values().filter(|b| counts(b.context));
        let device = device.filter_map(|block| {
            let description = block.describe()?;
            Some((block.made_by.1, description))
        });
        let host = blocks.host.values().filter(|b| counts(b.context));
        let host = host.map(|block| (block.made_by.1, block.describe()));
        let mut all: Vec<_> = device.chain(host).collect();
        all.sort();
        all.into_iter()
            .map(|(_, description)| description)
            .collect()
    }
}

fn no_allocation(address: u64) -> Code {
    invalid(format!(
        "no allocation begins at {address:#x}, or it is freed"
    ))
}

impl Blocks {
    fn number(&mut self, function: &'static str) -> (&'static str, u64) {
        self.made += 1;
        (function, self.made)
    }
}

impl Block {
    /// Gives the device memory back to the simulator. Variables go with their module.
    pub fn release(&self) {
        if let Kind::Pooled(pool) = &self.kind {
            pool.give_back(self.bytes);
        }
        if !matches!(self.kind, Kind::Variable(_)) {
            self.gpu.free(self.base);
        }
    }

    /// The line on the block in the report of leaks; none for a variable, which nobody frees.
    fn describe(&self) -> Option<String> {
        let kind = match self.kind {
            Kind::Device | Kind::Pooled(_) => "device memory",
            Kind::Managed(_) => "managed memory",
            Kind::Variable(_) => return None,
        };
        Some(describe(kind, self.base, self.bytes, self.made_by))
    }
}

impl HostBlock {
    /// The line on the block in the report of leaks.
    fn describe(&self) -> String {
        let kind = match self.owned {
            Some(_) => "page-locked memory",
            None => "registered memory",
        };
        describe(kind, self.base, self.bytes, self.made_by)
    }
}

fn describe(kind: &str, base: u64, bytes: u64, (function, number): (&str, u64)) -> String {
    format!("{kind} {base:#x}, {bytes} bytes, allocation {number}, by {function}")
}
