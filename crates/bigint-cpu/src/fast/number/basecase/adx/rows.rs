//! Products and squares of any length, by rows in assembly, with the running sum in the result.
//!
//! **One row** is straight-line code for [`STEPS`] limbs. If fewer limbs are left, it is entered in
//! its middle, and if there are more, it is run again. A loop over fewer limbs would spend ports on
//! branches that the additions need. The two additions of each product bound the rate: about 1.1
//! cycles for a product of limbs on a Golden Cove core, where both chains share two ports.
//!
//! Rows are aligned at their last limb: whatever a row's length, the last step takes its last limb.
//! Every step has the same number of bytes, so that the entry for a length is found by a
//! multiplication. That is so because the bases are in `rbp` and `r13`: displacements from these
//! always take one byte in `[-128, 120]`.
#![allow(unsafe_code)]

use std::arch::naked_asm;

use super::super::super::isa::Avx2;

/// The most limbs that one pass through a row's code adds.
pub(in super::super) const STEPS: usize = 32;

/// Computes `r = a b`, for lengths as [`super::super::mul`] states them.
pub(super) fn mul(r: &mut [u64], a: &[u64], b: &[u64], _token: Avx2) {
    assert!(r.len() == a.len() + b.len() && !a.is_empty() && !b.is_empty());
    // SAFETY: the token proves BMI2 and ADX, and the lengths are as asserted.
    unsafe {
        mul_rows(r.as_mut_ptr(), a.as_ptr(), a.len(), b.as_ptr(), b.len());
    }
}

/// Computes `r = a^2` for at least two limbs.
pub(super) fn square(r: &mut [u64], a: &[u64], _token: Avx2) {
    assert!(r.len() == 2 * a.len() && a.len() >= 2);
    // SAFETY: the token proves BMI2 and ADX, and the lengths are as asserted. The triangle writes
    // limbs 1 to 2 n - 2, and the other two are written here.
    unsafe {
        let (r, n) = (r.as_mut_ptr(), a.len());
        if n <= STEPS + 1 {
            short_triangle(r, a.as_ptr(), n);
        } else {
            triangle(r, a.as_ptr(), n);
        }
        *r = 0;
        *r.add(2 * n - 1) = 0;
        double_and_add_squares(r, a.as_ptr(), n);
    }
}

/// Computes `r = a b` modulo the length of all three, from 1 to [`STEPS`] limbs.
pub(in super::super) fn mul_low(r: &mut [u64], a: &[u64], b: &[u64], _token: Avx2) {
    let n = r.len();
    assert!(a.len() == n && b.len() == n && (1..=STEPS).contains(&n));
    // SAFETY: the token proves BMI2 and ADX, and the lengths are as asserted.
    unsafe { low_rows(r.as_mut_ptr(), a.as_ptr(), n, b.as_ptr()) }
}

/// The steps of a first row `r = a y`, of 13 bytes each.
///
/// ```text
/// mulx h', l, [a]            adc l, h              mov [r], l
/// ```
macro_rules! first_steps {
    () => {
        concat!(
            ".irp d, -128,-112,-96,-80,-64,-48,-32,-16,0,16,32,48,64,80,96,112\n",
            "mulx r10, rax, [r13 + \\d]\n",
            "adc rax, r9\n",
            "mov [rbp + \\d], rax\n",
            "mulx r9, rax, [r13 + \\d + 8]\n",
            "adc rax, r10\n",
            "mov [rbp + \\d + 8], rax\n",
            ".endr"
        )
    };
}

/// The steps of a row `r += a y`, of 23 bytes each.
///
/// ```text
/// mulx h', l, [a]            adcx l, h             adox l, [r]     mov [r], l
/// ```
macro_rules! steps {
    () => {
        concat!(
            ".irp d, -128,-112,-96,-80,-64,-48,-32,-16,0,16,32,48,64,80,96,112\n",
            "mulx r10, rax, [r13 + \\d]\n",
            "adcx rax, r9\n",
            "adox rax, [rbp + \\d]\n",
            "mov [rbp + \\d], rax\n",
            "mulx r9, rax, [r13 + \\d + 8]\n",
            "adcx rax, r10\n",
            "adox rax, [rbp + \\d + 8]\n",
            "mov [rbp + \\d + 8], rax\n",
            ".endr"
        )
    };
}

/// Ends a row: both carries are added to the last high half, which is the top limb of the row.
/// `mov` keeps the carries, which `xor` would clear.
macro_rules! top_limb {
    () => {
        "mov eax, 0\n\
         adcx r9, rax\n\
         adox r9, rax\n\
         mov [rbp + 128], r9"
    };
}

/// Runs the steps again while `rcx`, the bytes of whole passes that are left, is not zero. No
/// instruction here changes a carry.
macro_rules! next_pass {
    ($steps:literal, $end:literal) => {
        concat!(
            "jrcxz ",
            $end,
            "f\n",
            "lea rcx, [rcx - 256]\n",
            "lea r13, [r13 + 256]\n",
            "lea rbp, [rbp + 256]\n",
            "jmp ",
            $steps,
            "b"
        )
    };
}

/// Enters the next row, if there is one. The code stands at both places where a row ends, so that
/// there is one branch for each row. Each row of a triangle ends a limb further up in `r`
/// (`add rbp, 8`). The rows of a low product all end at one limb, and the last limb of the other
/// operand moves down (`sub r13, 8`).
macro_rules! next_row {
    ($moves:literal) => {
        concat!(
            "inc r8\n",
            "jz 6f\n",
            $moves,
            "\n",
            "add rbx, 23\n",
            "mov rdx, [r11 + 8 * r8]\n",
            "xor r9d, r9d\n",
            "xor r10d, r10d\n", // clears CF and OF
            "jmp rbx"
        )
    };
}

/// Sets the bases and the bytes of whole passes at the start of a row of any length, and clears CF
/// and OF.
macro_rules! begin_row {
    () => {
        "mov r13, rsi\n\
         sub r13, r12\n\
         mov rbp, rdi\n\
         sub rbp, r12\n\
         mov rcx, r12\n\
         xor r9d, r9d\n\
         xor r10d, r10d"
    };
}

/// Computes the first of the rows of any length, which has `rdx + 1` limbs, and loads the factor of
/// the next row at label 5. `edx` becomes the number of steps that the first pass leaves out.
macro_rules! first_long_row {
    () => {
        concat!(
            "mov r12, rdx\n",
            "shr r12, 5\n",
            "shl r12, 8\n",
            "not edx\n",
            "and edx, 31\n", // steps left out: 31 - rdx % 32
            "imul eax, edx, 13\n",
            "lea r10, [rip + 2f]\n",
            "add rax, r10\n",
            "imul ebx, edx, 23\n",
            "lea r10, [rip + 4f]\n",
            "add rbx, r10\n",
            "mov rdx, [r11]\n",
            begin_row!(),
            "\njmp rax\n",
            "2:\n",
            first_steps!(),
            "\n",
            next_pass!("2", "3"),
            "\n3:\n",
            "adc r9, 0\n",
            "mov [rbp + 128], r9\n",
            "dec r8\n",
            "jz 6f\n",
            "5:\n",
            "add r11, 8\n",
            "add rdi, 8\n",
            "mov rdx, [r11]"
        )
    };
}

/// Ends a row of any length, and then all rows.
macro_rules! end_long_row {
    () => {
        concat!(
            next_pass!("4", "7"),
            "\n7:\n",
            top_limb!(),
            "\ndec r8\n",
            "jnz 5b\n",
            "6:\n",
            "pop r13\n",
            "pop r12\n",
            "pop rbx\n",
            "pop rbp\n",
            "ret"
        )
    };
}

/// Computes [`triangle`] for `2 <= n <= STEPS + 1`.
///
/// `rbp` and `r13` are the bases of the last steps in `r` and `a`. `r11` points at the last limb of
/// `a`, and `r8` is minus the number of limbs up to it. `rbx` is the entry, and `rcx` is zero.
///
/// # Safety
///
/// As for [`triangle`].
#[unsafe(naked)]
unsafe extern "sysv64" fn short_triangle(r: *mut u64, a: *const u64, n: usize) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r13",
        "lea r13, [rsi + 8 * rdx - 128]",
        "lea rbp, [rdi + 8 * rdx - 128]",
        "lea r11, [rsi + 8 * rdx - 8]",
        "lea r8, [rdx - 1]",
        "neg r8",
        "neg edx",
        "add edx, 33", // steps left out
        "imul eax, edx, 13",
        "lea r10, [rip + 2f]",
        "add rax, r10",
        "imul ebx, edx, 23",
        "lea r10, [rip + 4f]",
        "add rbx, r10",
        "mov rdx, [rsi]",
        "xor r9d, r9d",
        "xor r10d, r10d", // clears CF
        "jmp rax",
        "2:",
        first_steps!(),
        "adc r9, 0",
        "mov [rbp + 128], r9",
        "xor ecx, ecx",
        next_row!("add rbp, 8"),
        ".p2align 5",
        "4:",
        steps!(),
        "adcx r9, rcx",
        "adox r9, rcx",
        "mov [rbp + 128], r9",
        next_row!("add rbp, 8"),
        "6:",
        "pop r13",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// Computes `r[..n + m] = a b` for `n, m >= 1` limbs.
///
/// `rdi` and `rsi` are the bases of the row's last steps. `r11` points at the limbs of `b`, and
/// `r8` is their number. `rbx` is the entry, and `r12` the bytes of whole passes after the first.
///
/// # Safety
///
/// The machine has BMI2 and ADX. `a` and `b` can be read for `n` and `m` limbs. `r` can be written
/// for `n + m` limbs, and overlaps neither.
#[unsafe(naked)]
unsafe extern "sysv64" fn mul_rows(r: *mut u64, a: *const u64, n: usize, b: *const u64, m: usize) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "mov r11, rcx",
        "lea rsi, [rsi + 8 * rdx - 128]",
        "lea rdi, [rdi + 8 * rdx - 128]",
        "dec rdx",
        first_long_row!(),
        begin_row!(),
        "jmp rbx",
        "4:",
        steps!(),
        end_long_row!(),
    )
}

/// Computes `r[1..2 n - 1] = sum of a_i a_j 2^(64 (i + j - 1))` over `i < j`, for `n >= 2`.
///
/// Row `i` is `a_i` times `a[i + 1..]`. Every row ends at the last limb of `a`, and begins one step
/// later than the row before. The registers are those of [`mul_rows`], with `a_i` at `r11` and the
/// rows that are left in `r8`.
///
/// # Safety
///
/// The machine has BMI2 and ADX. `a` can be read for `n` limbs and `r` written for `2 n`, and they
/// do not overlap.
#[unsafe(naked)]
unsafe extern "sysv64" fn triangle(r: *mut u64, a: *const u64, n: usize) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "mov r11, rsi",
        "lea r8, [rdx - 1]",
        "lea rsi, [rsi + 8 * rdx - 128]",
        "lea rdi, [rdi + 8 * rdx - 128]",
        "sub rdx, 2",
        first_long_row!(),
        "add rbx, 23",
        "lea r10, [rip + 8f]",
        "cmp rbx, r10",
        "jne 9f",
        // This row has one pass less, and begins with a whole one.
        "sub rbx, 23 * 32",
        "sub r12, 256",
        "9:",
        begin_row!(),
        "jmp rbx",
        "4:",
        steps!(),
        "8:",
        end_long_row!(),
    )
}

/// Computes `r = a b mod 2^(64 n)` for `1 <= n <= STEPS` limbs each.
///
/// Row `j` is `b_j` times `a[..n - j]`. Every row ends at the last limb of `r`, where its carries
/// leave the result, and begins one step later than the row before. The registers are those of
/// [`short_triangle`], except that `r11` points at the end of `b`, and `r8` is minus the number of
/// limbs up to it.
///
/// # Safety
///
/// The machine has BMI2 and ADX. `a` and `b` can be read for `n` limbs. `r` can be written for as
/// many, and overlaps neither.
#[unsafe(naked)]
unsafe extern "sysv64" fn low_rows(r: *mut u64, a: *const u64, n: usize, b: *const u64) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r13",
        "lea r13, [rsi + 8 * rdx - 128]",
        "lea rbp, [rdi + 8 * rdx - 128]",
        "lea r11, [rcx + 8 * rdx]",
        "mov r8, rdx",
        "neg r8",
        "neg edx",
        "add edx, 32", // steps left out
        "imul eax, edx, 13",
        "lea r10, [rip + 2f]",
        "add rax, r10",
        "imul ebx, edx, 23",
        "lea r10, [rip + 4f]",
        "add rbx, r10",
        "mov rdx, [rcx]",
        "xor r9d, r9d",
        "xor r10d, r10d", // clears CF
        "jmp rax",
        "2:",
        first_steps!(),
        next_row!("sub r13, 8"),
        ".p2align 5",
        "4:",
        steps!(),
        next_row!("sub r13, 8"),
        "6:",
        "pop r13",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// Computes `r = 2 r + sum of a_i^2 2^(128 i)` with `2 n` limbs of `r`, which hold the result.
///
/// A pass takes eight limbs of `a`, of 49 bytes each. Passes are aligned at the last limb, as rows
/// are.
///
/// # Safety
///
/// The machine has BMI2 and ADX. `a` can be read for `n >= 1` limbs, `r` can be read and written
/// for `2 n`, and they do not overlap.
#[unsafe(naked)]
unsafe extern "sysv64" fn double_and_add_squares(r: *mut u64, a: *const u64, n: usize) {
    naked_asm!(
        "push rbp",
        "push r13",
        "lea rcx, [rdx - 1]",
        "shr rcx, 3", // passes after the first
        "neg edx",
        "and edx, 7", // steps left out of the first
        // The first step that is run is the one for limb 0.
        "mov eax, edx",
        "shl eax, 3",
        "mov r13, rsi",
        "sub r13, rax",
        "add eax, eax",
        "mov rbp, rdi",
        "sub rbp, rax",
        "imul eax, edx, 49",
        "lea r10, [rip + 2f]",
        "add rax, r10",
        "xor r8d, r8d", // clears CF and OF
        "jmp rax",
        "2:",
        ".irp i, 0,1,2,3,4,5,6,7",
        "mov rdx, [r13 + 8 * \\i]",
        "mulx r9, r8, rdx",
        "mov rax, [rbp + 16 * \\i]",
        "adcx rax, rax",
        "adox rax, r8",
        "mov [rbp + 16 * \\i], rax",
        "mov rax, [rbp + 16 * \\i + 8]",
        "adcx rax, rax",
        "adox rax, r9",
        "mov [rbp + 16 * \\i + 8], rax",
        ".endr",
        "jrcxz 3f",
        "lea rcx, [rcx - 1]",
        "lea r13, [r13 + 64]",
        "lea rbp, [rbp + 128]",
        "jmp 2b",
        "3:",
        "pop r13",
        "pop rbp",
        "ret",
    )
}
