//! A simulated GPU with all of its checks on, the kernels of one module as they stand in the
//! committed PTX, and numbers to try them with.

use bigint_core::{Layout, Limb, MatrixArgument, Shape};
use cuda_sim::{Arch, Device, DeviceConfig, Grid, LoadedModule, ptx::Module};
use std::fmt::Debug;

/// A simulated device with kernels.
pub struct Bench {
    pub device: Device,
    module: LoadedModule,
    state: u64,
}

impl Bench {
    /// With the kernels of this PTX.
    pub fn new(ptx: &str) -> Self {
        let device = Device::new(DeviceConfig {
            arch: Arch::SM_90,
            ..DeviceConfig::default()
        });
        let module = device.load(&Module::parse(ptx).unwrap()).unwrap();
        Bench {
            device,
            module,
            state: 1,
        }
    }

    /// The next limb of a sequence that looks random.
    pub fn next(&mut self) -> Limb {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005);
        self.state = self.state.wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 32) as Limb
    }

    /// The address of these bytes on the device.
    pub fn upload(&self, bytes: impl Iterator<Item = u8>) -> u64 {
        let bytes: Vec<u8> = bytes.collect();
        let address = self.device.alloc(bytes.len() as u64).unwrap();
        self.device.write(address, &bytes).unwrap();
        address
    }

    /// Numbers of one width on the device.
    pub fn matrix(&self, numbers: &[Vec<Limb>], layout: Layout) -> MatrixArgument {
        let Some(first) = numbers.first() else {
            return MatrixArgument::default();
        };
        let shape = Shape::new(numbers.len(), first.len(), layout);
        let strides = shape.strides();
        let mut limbs = vec![0; shape.limbs()];
        for (i, number) in numbers.iter().enumerate() {
            for (j, limb) in number.iter().enumerate() {
                limbs[i * strides.number + j * strides.limb] = *limb;
            }
        }
        let address = self.upload(limbs.iter().flat_map(|limb: &Limb| limb.to_le_bytes()));
        MatrixArgument::new(address, first.len(), strides)
    }

    /// Launches the kernel of this name; `what` is told where it fails.
    pub fn launch(
        &self,
        name: &str,
        [blocks, threads, shared_bytes]: [u32; 3],
        words: impl Iterator<Item = u64>,
        what: impl Debug,
    ) {
        let grid = Grid {
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            shared_bytes,
        };
        let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        self.device
            .launch(&self.module, name, grid, &bytes)
            .unwrap_or_else(|fault| panic!("{name} {what:?}: {fault}"));
    }

    /// Limbs from an address on.
    pub fn read(&self, address: u64, limbs: usize) -> Vec<Limb> {
        let mut bytes = vec![0; 4 * limbs];
        self.device.read(address, &mut bytes).unwrap();
        let fours = bytes.as_chunks::<4>().0.iter();
        fours.map(|four| Limb::from_le_bytes(*four)).collect()
    }
}
