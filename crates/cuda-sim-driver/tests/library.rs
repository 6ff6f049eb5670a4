//! The library as a loader of the CUDA driver sees it.
#![allow(unsafe_code)] // Calls functions that it looks up by name.

mod support;

use libloading::{Library, Symbol};

/// Every function that `cust` 0.3 refers to.
const NEEDED: &str = include_str!("cust_functions.txt");

#[test]
fn the_library_has_what_cust_looks_up() {
    let path = support::library();
    // SAFETY: the library runs no code when it is loaded.
    let library = unsafe { Library::new(path) }.expect("it loads");
    assert_eq!(NEEDED.lines().count(), 105);
    for name in NEEDED.lines() {
        // SAFETY: the symbol is not called.
        let symbol: Result<Symbol<'_, *const ()>, _> = unsafe { library.get(name) };
        assert!(symbol.is_ok(), "{name}");
    }
    // SAFETY: the declarations are the CUDA driver API's.
    let (version, init, count) = unsafe {
        let version: Symbol<'_, unsafe extern "C" fn(*mut i32) -> u32> =
            library.get("cuDriverGetVersion").expect("it is there");
        let init: Symbol<'_, unsafe extern "C" fn(u32) -> u32> =
            library.get("cuInit").expect("it is there");
        let count: Symbol<'_, unsafe extern "C" fn(*mut i32) -> u32> =
            library.get("cuDeviceGetCount").expect("it is there");
        (version, init, count)
    };
    let (mut driver, mut devices) = (0, 0);
    // SAFETY: both pointers are good for the write.
    unsafe {
        assert_eq!(version(&mut driver), 0);
        assert_eq!(init(0), 0);
        assert_eq!(count(&mut devices), 0);
    }
    assert!(driver >= 11000 && devices >= 1);
}
