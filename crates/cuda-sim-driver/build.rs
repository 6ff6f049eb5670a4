//! Links the library so that it is never unmapped: worker threads and the leak
//! report at exit run code of it after a program has closed its handle.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-link-arg-cdylib=-Wl,-z,nodelete");
    }
}
