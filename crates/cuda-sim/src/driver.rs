//! Where the simulator's `libcuda` is, for tests of whole programs.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The path of `libcuda_sim_driver.so`, for a test to hand to the program under test in place of
/// `libcuda.so.1`. Cargo builds it beside the test where the test's package has `cuda-sim-driver`
/// among its dev-dependencies.
///
/// # Panics
/// If there is no such library beside the running test.
pub fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let test = std::env::current_exe().expect("the test's own path");
        let library = test.with_file_name("libcuda_sim_driver.so");
        assert!(
            library.exists(),
            "no {}: is cuda-sim-driver a dev-dependency?",
            library.display()
        );
        library
    })
}
