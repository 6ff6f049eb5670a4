#![no_std]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(abi_ptx, stdarch_nvptx, asm_experimental_arch, link_llvm_intrinsics)
)]
// Some of these features are unused without entry points, as another device crate builds this
// one.
#![cfg_attr(not(feature = "entry-points"), allow(unused_features))]
// The intrinsics of LLVM have no other name in Rust yet.
#![cfg_attr(target_arch = "nvptx64", allow(internal_features))]
#![doc = include_str!("../README.md")]
// Many leaves have the name of the module with their maths, and a link must say which of the
// two it means.
#![allow(rustdoc::redundant_explicit_links)]
// The documentation builds for any target, as rustdoc does not compile the bodies of functions.

#[cfg(any(target_arch = "nvptx64", doc))]
pub mod block;
#[cfg(any(target_arch = "nvptx64", doc))]
pub mod ceiling;
#[cfg(any(target_arch = "nvptx64", doc))]
pub mod columns;
#[cfg(all(target_arch = "nvptx64", feature = "entry-points"))]
mod entry;
#[cfg(any(target_arch = "nvptx64", doc))]
pub mod field;
#[cfg(any(target_arch = "nvptx64", doc))]
pub mod gpu;
#[cfg(any(target_arch = "nvptx64", doc))]
pub mod grid;
#[cfg(any(target_arch = "nvptx64", doc))]
pub mod montgomery;
#[cfg(any(target_arch = "nvptx64", doc))]
pub mod power;
#[cfg(any(target_arch = "nvptx64", doc))]
pub mod squares;
#[cfg(any(target_arch = "nvptx64", doc))]
pub mod thread;
#[cfg(any(target_arch = "nvptx64", doc))]
pub mod transform;
#[cfg(any(target_arch = "nvptx64", doc))]
pub mod warp;
