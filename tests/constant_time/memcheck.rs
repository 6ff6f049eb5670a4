//! Secrets marked as undefined, under valgrind: it reports each branch and each address that depends
//! on what is undefined, wherever it has been copied and whatever has been computed of it.
#![allow(unsafe_code)] // valgrind's requests are instructions

use std::arch::asm;
use std::process::{Command, Stdio};

/// valgrind with what is told on purpose, if it is there.
pub fn wrapper() -> Option<Vec<String>> {
    let mut valgrind = Command::new("valgrind");
    let valgrind = valgrind.arg("--version").stdout(Stdio::null()).status();
    let told = concat!(env!("CARGO_MANIFEST_DIR"), "/told.supp");
    let words = ["valgrind", "--quiet", "--error-limit=no"].map(String::from);
    let is_there = valgrind.is_ok_and(|status| status.success());
    is_there.then(|| [&words[..], &[format!("--suppressions={told}")]].concat())
}

/// A request to valgrind (`valgrind.h`): rotations of a register by 128 bits and an exchange of one
/// with itself, which do nothing elsewhere: the answer is 0 then.
fn request(code: usize, a: usize, b: usize) -> usize {
    let arguments = [code, a, b, 0, 0, 0];
    let mut answer = 0_usize;
    // SAFETY: the registers end as they began, but for rdx, where valgrind puts its answer; it reads
    // the six words that rax points to.
    unsafe {
        asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") answer,
        );
    }
    answer
}

/// Whether valgrind runs this program.
pub fn is_running() -> bool {
    request(0x1001, 0, 0) > 0
}

/// Marks memory as undefined.
pub fn hide<T>(memory: &mut [T]) {
    request(
        0x4d43_0001,
        memory.as_mut_ptr() as usize,
        size_of_val(memory),
    );
}

/// What valgrind has reported of this work on secrets.
pub fn leaks(work: &dyn Fn(bool)) -> Option<String> {
    let reported = || request(0x1201, 0, 0);
    let before = reported();
    work(false);
    let found = reported() - before;
    (found > 0).then(|| format!("{found} branches or addresses, as valgrind says"))
}
