#![no_std]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(abi_ptx, stdarch_nvptx, asm_experimental_arch, link_llvm_intrinsics)
)]
// Without entry points, as another device crate has it, some of them stand unused.
#![cfg_attr(not(feature = "entry-points"), allow(unused_features))]
// The intrinsics of LLVM have no other name in Rust yet.
#![cfg_attr(target_arch = "nvptx64", allow(internal_features))]
#![doc = include_str!("../README.md")]
// Many a leaf is called as the module with its maths, which a link has to tell apart.
#![allow(rustdoc::redundant_explicit_links)]
// The documentation is made on any machine: rustdoc looks at no function's body.

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
