//! How an executable is linked that uses the driver API: this one.
#![allow(unsafe_code)] // Calls the driver API itself.

use std::collections::BTreeSet;
use std::process::Command;
use std::{env, fs};

use object::{Object, ObjectSymbol};

#[test]
fn the_executable_neither_needs_nor_exports_the_driver() {
    // SAFETY: any argument is valid.
    let _ = unsafe { cust_raw::cuInit(0) };
    let _ = cuda_loader::driver();

    let bytes = fs::read(env::current_exe().expect("this executable's path")).expect("readable");
    let file = object::read::elf::ElfFile64::<object::Endianness>::parse(&*bytes).expect("ELF");
    assert!(
        file.symbols().any(|symbol| symbol.name() == Ok("cuInit")),
        "nothing to test"
    );

    let needed = needed_libraries(&file);
    assert!(
        needed.iter().any(|library| library.starts_with("libc.so")),
        "{needed:?}"
    );
    assert!(
        !needed.iter().any(|library| library.contains("cuda")),
        "{needed:?}"
    );
    let dynamic: Vec<_> = file
        .dynamic_symbols()
        .filter_map(|symbol| symbol.name().ok())
        .collect();
    assert!(dynamic.len() > 10);
    assert!(
        !dynamic.iter().any(|name| is_driver_function(name)),
        "{dynamic:?}"
    );
}

fn is_driver_function(name: &str) -> bool {
    name.strip_prefix("cu")
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// The names of the dynamic section's DT_NEEDED entries.
fn needed_libraries(file: &object::read::elf::ElfFile64<'_>) -> Vec<String> {
    use object::read::elf::Dyn;
    let endian = file.endian();
    let sections = file.elf_section_table();
    let (entries, link) = sections
        .dynamic(endian, file.data())
        .expect("a dynamic section")
        .expect("dynamically linked");
    let strings = sections
        .strings(endian, file.data(), link)
        .expect("the section's strings");
    entries
        .iter()
        .filter(|entry| entry.tag(endian) == object::elf::DT_NEEDED)
        .map(|entry| entry.string(endian, strings).expect("a name"))
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect()
}

#[test]
fn the_table_has_every_function_that_cust_raw_declares() {
    let declared = declared_functions();
    assert!(declared.len() > 300, "{declared:?}");
    let table: BTreeSet<_> = include_str!("../src/functions.rs")
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| is_driver_function(word))
        .map(str::to_owned)
        .collect();
    let missing: Vec<_> = declared.difference(&table).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The functions declared by the sources of `cust_raw` that this was built with.
fn declared_functions() -> BTreeSet<String> {
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        // For this machine alone: what only others need may not be at hand.
        .args([
            "metadata",
            "--filter-platform=host-tuple",
            "--format-version=1",
        ])
        .arg("--manifest-path")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .expect("cargo starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let metadata = String::from_utf8_lossy(&output.stdout);
    let manifest = metadata
        .split('"')
        .find(|word| word.contains("/cust_raw-") && word.ends_with("/Cargo.toml"))
        .expect("cust_raw is a dependency");
    let source = manifest.replace("Cargo.toml", "src/cuda.rs");
    fs::read_to_string(source)
        .expect("cust_raw's declarations")
        .split("pub fn ")
        .skip(1)
        .filter_map(|text| text.split('(').next())
        .filter(|name| is_driver_function(name))
        .map(str::to_owned)
        .collect()
}
