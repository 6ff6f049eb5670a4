//! The command reads a file of any bytes, plain or packed, and writes what it read.
#![no_main]

use std::fs;
use std::io::Write;

use bigint_fuzz::command::calc;

/// How a file comes about.
#[derive(arbitrary::Arbitrary, Debug)]
enum Packing {
    None,
    /// These bytes as they are, in a file of this ending.
    Gz,
    Zst,
    /// The bytes packed, and one byte of the file changed.
    Packed {
        place: u16,
        change: u8,
    },
}

libfuzzer_sys::fuzz_target!(|input: (Packing, &[u8])| {
    let (packing, bytes) = input;
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let (name, bytes) = match packing {
        Packing::None => ("a.txt", bytes.to_vec()),
        Packing::Gz => ("a.gz", [&b"\x1f\x8b\x08"[..], bytes].concat()),
        Packing::Zst => ("a.zst", [&b"\x28\xb5\x2f\xfd"[..], bytes].concat()),
        Packing::Packed { place, change } => {
            let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packer.write_all(bytes).expect("memory suffices");
            let mut packed = packer.finish().expect("memory suffices");
            let place = usize::from(place) % packed.len();
            packed[place] ^= change;
            ("a.gz", packed)
        }
    };
    let (from, to) = (folder.path().join(name), folder.path().join("out.txt"));
    fs::write(&from, bytes).expect("the folder takes files");
    let Some(first) = calc("a", &from, &to) else {
        return;
    };
    // What was written is read as the same numbers.
    assert_eq!(
        calc("a", &to, &folder.path().join("again.txt")),
        Some(first)
    );
});
