#![no_std]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(abi_ptx, stdarch_nvptx, asm_experimental_arch, link_llvm_intrinsics)
)]
// The intrinsics of LLVM have no other name in Rust yet.
#![cfg_attr(target_arch = "nvptx64", allow(internal_features))]
#![doc = include_str!("../README.md")]

#[cfg(target_arch = "nvptx64")]
pub mod block;
#[cfg(target_arch = "nvptx64")]
pub mod ceiling;
#[cfg(target_arch = "nvptx64")]
pub mod columns;
#[cfg(all(target_arch = "nvptx64", feature = "entry-points"))]
mod entry;
#[cfg(target_arch = "nvptx64")]
pub mod field;
#[cfg(target_arch = "nvptx64")]
pub mod gpu;
#[cfg(target_arch = "nvptx64")]
pub mod grid;
#[cfg(target_arch = "nvptx64")]
pub mod montgomery;
#[cfg(target_arch = "nvptx64")]
pub mod power;
#[cfg(target_arch = "nvptx64")]
pub mod squares;
#[cfg(target_arch = "nvptx64")]
pub mod thread;
#[cfg(target_arch = "nvptx64")]
pub mod transform;
#[cfg(target_arch = "nvptx64")]
pub mod warp;
