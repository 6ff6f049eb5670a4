//! Tuning files of any text: refused, or every kernel that they choose is one.
#![no_main]

use bigint_fuzz::damage::{Damage, damaged};
use bigint_host::{Layout, Operation, Options, Shape, Tuning};

const SHIPPED: &str = include_str!("../../crates/bigint-host/tuning/nvidia-h200.toml");

libfuzzer_sys::fuzz_target!(|damages: Vec<Damage<'_>>| {
    let file = tempfile::NamedTempFile::new().expect("there is a folder for temporary files");
    std::fs::write(file.path(), damaged(SHIPPED.as_bytes(), &damages)).expect("the file is there");
    let Ok(tuning) = Tuning::read(file.path()) else {
        return;
    };
    for operation in Operation::ALL {
        for width in [1, 8, 33, 64, 300] {
            for layout in [Layout::Contiguous, Layout::Interleaved] {
                let shape = Shape::new(1000, 2 * width, layout);
                // An error or a kernel: either is an answer.
                let _ = tuning.kernel(operation, &[width, width], shape, Options::default());
            }
        }
    }
});
