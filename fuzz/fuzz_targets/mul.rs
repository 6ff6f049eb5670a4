//! `mul` on every path and layout against num-bigint.
#![no_main]

use bigint_core::Operation;
use bigint_fuzz::Input;

libfuzzer_sys::fuzz_target!(|input: Input| input.check(Operation::Mul));
