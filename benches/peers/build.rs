//! Tells the program which GMP and which commit of the engine it was built with,
//! for its records.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=CONFIG_SITE");
    println!("cargo::rerun-if-changed=gmp.site");
    let native = std::env::var("CONFIG_SITE").is_ok_and(|site| site.ends_with("gmp.site"));
    let build = if native { "built for this CPU" } else { "fat" };
    println!("cargo::rustc-env=PEERS_GMP_BUILD={build}");

    println!("cargo::rerun-if-changed=../../crates/bigint-cpu/src");
    println!("cargo::rerun-if-changed=src");
    let engine = Command::new("git")
        .args(["describe", "--always", "--dirty", "--abbrev=12"])
        .output()
        .ok()
        .filter(|output| output.status.success())
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .unwrap_or_else(|| "unknown".to_string());
    println!("cargo::rustc-env=PEERS_ENGINE={}", engine.trim());
}
