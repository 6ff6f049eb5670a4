//! The levels of a tree, which leave the device for the host, or the host for files, where there is no room for all of them.
//!
//! On the way down the highest levels are wanted first; so the lowest leave first, once, and are brought again each time that they
//! are wanted. A file has the limbs of half a level, in little-endian words, and goes with its tree.

use crate::trees::folder::failed;
use crate::{Batch, Engine, Error};
use bigint_core::{Limb, Shape};
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Where levels are.
#[derive(Clone, Debug)]
pub(super) struct Store {
    /// The bytes that levels may have which stay where they were computed.
    pub room: usize,
    /// Where the files of others are; without it they are kept by the host.
    pub folder: Option<PathBuf>,
}

impl Store {
    /// All stay.
    pub const ALL: Store = Store {
        room: usize::MAX,
        folder: None,
    };

    /// Has levels leave, those that come first before others, until there is room for those that stay.
    pub fn put_away<'a>(&self, levels: impl Iterator<Item = &'a mut Level>) -> Result<(), Error> {
        let mut here: Vec<&mut Level> = levels.filter(|level| level.is_here()).collect();
        let mut bytes: usize = here.iter().map(|level| level.bytes()).sum();
        for level in &mut here {
            if bytes <= self.room {
                break;
            }
            bytes -= level.bytes();
            level.leave(self.folder.as_deref())?;
        }
        Ok(())
    }
}

/// Two halves that are multiplied.
#[derive(Debug)]
pub(super) enum Level {
    /// Where they were computed.
    Here([Batch; 2]),
    /// The host has them; a device, while they are used.
    OnHost([Batch; 2]),
    OnDisk([OnDisk; 2]),
}

/// The halves of a level in use.
pub(super) struct InUse {
    halves: [Batch; 2],
    goes: bool,
}

impl Deref for InUse {
    type Target = [Batch; 2];

    fn deref(&self) -> &[Batch; 2] {
        &self.halves
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        if self.goes {
            self.halves.iter().for_each(leave_device);
        }
    }
}

impl Level {
    fn is_here(&self) -> bool {
        matches!(self, Level::Here(_))
    }

    fn shapes(&self) -> [Shape; 2] {
        match self {
            Level::Here(halves) | Level::OnHost(halves) => halves.each_ref().map(Batch::shape),
            Level::OnDisk(halves) => halves.each_ref().map(|half| half.shape),
        }
    }

    /// The limbs of a number.
    pub fn width(&self) -> usize {
        self.shapes()[0].width
    }

    fn bytes(&self) -> usize {
        self.shapes()
            .map(|shape| size_of::<Limb>() * shape.limbs())
            .into_iter()
            .sum()
    }

    fn leave(&mut self, folder: Option<&Path>) -> Result<(), Error> {
        let Level::Here(halves) = self else {
            return Ok(());
        };
        *self = match folder {
            None => {
                for half in &*halves {
                    half.node().limbs()?;
                    leave_device(half);
                }
                Level::OnHost(halves.clone())
            }
            Some(folder) => {
                let [low, high] = halves;
                Level::OnDisk([OnDisk::write(folder, low)?, OnDisk::write(folder, high)?])
            }
        };
        Ok(())
    }

    /// The halves. Where they do not stay, they go again with this.
    pub fn halves(&self, engine: &Engine) -> Result<InUse, Error> {
        let (halves, goes) = match self {
            Level::Here(halves) => (halves.clone(), false),
            Level::OnHost(halves) => (halves.clone(), true),
            Level::OnDisk([low, high]) => ([low.read(engine)?, high.read(engine)?], true),
        };
        Ok(InUse { halves, goes })
    }
}

/// Frees the memory that devices have of numbers that the host has.
pub(super) fn leave_device(batch: &Batch) {
    drop(batch.node().take_shares());
}

/// A batch in a file.
#[derive(Debug)]
pub(super) struct OnDisk {
    path: PathBuf,
    shape: Shape,
}

impl OnDisk {
    fn write(folder: &Path, batch: &Batch) -> Result<Self, Error> {
        static WRITTEN: AtomicU64 = AtomicU64::new(0);
        let (process, number) = (std::process::id(), WRITTEN.fetch_add(1, Relaxed));
        let shape = batch.shape();
        let path = folder.join(format!("tree-{process}-{number}.level"));
        // From here on the file is removed, whatever happens.
        let file = OnDisk { path, shape };
        let limbs = batch.node().limbs()?;
        let write = || -> std::io::Result<()> {
            fs::create_dir_all(folder)?;
            let mut to = BufWriter::with_capacity(1 << 20, File::create(&file.path)?);
            for limbs in limbs.chunks(1 << 14) {
                let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
                to.write_all(&bytes)?;
            }
            to.flush()
        };
        write().map_err(|error| failed(&file.path, &error))?;
        Ok(file)
    }

    fn read(&self, engine: &Engine) -> Result<Batch, Error> {
        let mut limbs: Vec<Limb> = bigint_cpu::zeroed(self.shape.limbs())?;
        let mut read = || -> std::io::Result<()> {
            let mut from = BufReader::with_capacity(1 << 20, File::open(&self.path)?);
            let mut bytes = vec![0; 1 << 16];
            for limbs in limbs.chunks_mut(1 << 14) {
                let bytes = &mut bytes[..size_of_val(limbs)];
                from.read_exact(bytes)?;
                for (limb, bytes) in limbs.iter_mut().zip(bytes.as_chunks().0) {
                    *limb = Limb::from_le_bytes(*bytes);
                }
            }
            Ok(())
        };
        read().map_err(|error| failed(&self.path, &error))?;
        engine.batch_from_limbs(limbs, self.shape)
    }
}

impl Drop for OnDisk {
    fn drop(&mut self) {
        // What stays takes room alone.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use crate::{BigUint, Engine, Error, Integers, ProductTree};
    use bigint_testing::simulator::on_simulator;

    /// 512 leaves of 32 limbs: a level has 64 KiB.
    fn leaves() -> Vec<BigUint> {
        let ones = (BigUint::from(1u8) << 1024u32) - 1u8;
        (0..512u32).map(|i| &ones - 2 * i * i).collect()
    }

    fn check(tree: &ProductTree, leaves: &[BigUint]) {
        let product: BigUint = leaves.iter().product();
        let x = (&product >> 7u32) + 5u8;
        let given = Integers::from_biguints(std::slice::from_ref(&x)).unwrap();
        let expected: Vec<_> = leaves.iter().map(|leaf| &x % leaf).collect();
        let expected = Integers::from_biguints(&expected).unwrap();
        // Levels that have gone are brought again each time.
        for _ in 0..2 {
            assert_eq!(tree.remainders(&given).unwrap(), expected);
        }
        let others: Vec<_> = leaves.iter().map(|leaf| &product / leaf % leaf).collect();
        let others = Integers::from_biguints(&others).unwrap();
        assert_eq!(tree.cofactors().unwrap(), others);
    }

    #[test]
    fn levels_that_leave_are_found_again() {
        let path = std::env::temp_dir().join(format!("bigint-levels-{}", std::process::id()));
        let (engine, numbers) = (Engine::cpu(), leaves());
        let leaves = Integers::from_biguints(&numbers).unwrap();
        let files = || std::fs::read_dir(&path).map_or(0, |files| files.count());
        // All, some and none of nine levels leave.
        for (memory, on_disk) in [(0, 18), (200 << 10, 12), (usize::MAX, 0)] {
            let tree = ProductTree::within(&engine, &leaves, memory, Some(&path)).unwrap();
            assert_eq!(files(), on_disk);
            check(&tree, &numbers);
            check(
                &ProductTree::within(&engine, &leaves, memory, None).unwrap(),
                &numbers,
            );
            assert_eq!(files(), on_disk);
            drop(tree);
            assert_eq!(files(), 0);
        }
        // A file that somebody cuts off is named.
        let tree = ProductTree::within(&engine, &leaves, 0, Some(&path)).unwrap();
        for file in std::fs::read_dir(&path).unwrap() {
            std::fs::write(file.unwrap().path(), [0; 5]).unwrap();
        }
        let refused = tree.cofactors().unwrap_err();
        assert!(matches!(&refused, Error::File { path, .. } if path.ends_with(".level")));
        drop(tree);
        std::fs::remove_dir(&path).unwrap();
        // A folder that cannot be.
        std::fs::write(&path, "").unwrap();
        let refused = ProductTree::within(&engine, &leaves, 0, Some(&path)).unwrap_err();
        assert!(matches!(refused, Error::File { .. }));
        std::fs::remove_file(&path).unwrap();
    }

    /// All levels and what is computed of one do not fit.
    #[test]
    fn a_device_without_room_for_all_levels_has_those_that_are_used() {
        let name =
            "trees::levels::tests::a_device_without_room_for_all_levels_has_those_that_are_used";
        let small = [
            ("CUDA_SIM_DEVICES", "sm_90:1500KiB"),
            ("CUDA_SIM_CHECKS", "none"),
        ];
        if !on_simulator(name, &small) {
            return;
        }
        // Blocks multiply, which need no memory beside the numbers.
        let engine = Engine::cuda(0).unwrap();
        let mut tuning = engine.tuning().clone();
        tuning.mul.grid.launch_nanoseconds = 1e12;
        tuning.mul.ntt.launch_nanoseconds = 1e12;
        let (engine, numbers) = (engine.with_tuning(tuning), leaves());
        let leaves = Integers::from_biguints(&numbers).unwrap();
        let whole = || {
            let tree = ProductTree::new(&engine, &leaves)?;
            tree.cofactors()
        };
        assert!(matches!(whole(), Err(Error::Device(error)) if error.is_out_of_memory()));
        check(
            &ProductTree::within(&engine, &leaves, 0, None).unwrap(),
            &numbers,
        );
    }
}
