//! Kinds of numbers by what they have in common.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// What is known of each key.
pub(crate) type Keys = HashMap<u64, usize, BuildHasherDefault<KeyHasher>>;

/// Spreads keys by a product, in a tenth of the time of the standard library's hash: every
/// number of a list is looked up. Nobody chooses them to be alike: there are as many as
/// there are operations and lengths, four to each doubling.
#[derive(Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, key: u64) {
        let product = u128::from(self.0 ^ key) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
}
