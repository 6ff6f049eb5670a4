//! The library as a loader of the CUDA driver sees it.
#![allow(unsafe_code)] // Calls functions that it looks up by name.

use libloading::{Library, Symbol};
use sim::driver::library;

/// Every function that `cust` 0.3 refers to.
const NEEDED: &str = include_str!("cust_functions.txt");

/// The functions of CUDA's two APIs; the last word of some lines is the suffix of another
/// form.
const LISTS: [&str; 2] = [
    include_str!("../src/ffi/driver_functions.txt"),
    include_str!("../src/ffi/runtime_functions.txt"),
];

fn has(library: &Library, name: &str) -> bool {
    // SAFETY: the symbol is not called.
    let symbol: Result<Symbol<'_, *const ()>, _> = unsafe { library.get(name) };
    symbol.is_ok()
}

#[test]
fn the_library_has_every_function_of_cuda() {
    // SAFETY: the library runs no code when it is loaded.
    let library = unsafe { Library::new(library()) }.expect("it loads");
    for line in LISTS.iter().flat_map(|list| list.lines()) {
        let mut words = line.split(' ');
        let name = words.next().expect("a name");
        assert!(has(&library, name), "{name}");
        if let Some(suffix) = words.find(|word| word.starts_with('_')) {
            assert!(has(&library, &format!("{name}{suffix}")), "{name}{suffix}");
        }
    }
}

#[test]
fn the_library_has_what_cust_looks_up() {
    let path = library();
    // SAFETY: the library runs no code when it is loaded.
    let library = unsafe { Library::new(path) }.expect("it loads");
    assert_eq!(NEEDED.lines().count(), 105);
    for name in NEEDED.lines() {
        assert!(has(&library, name), "{name}");
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
