//! The digest of what warps execute: it tells secrets that instructions or addresses depend
//! on, and nothing else.

use crate::common::{bytes_of, kernel, launch_on};
use cuda_sim::{Arch, Checks, Device, DeviceConfig, Schedule};

/// The digest of two blocks of three warps that run `body` with `%r1` a secret of each
/// thread, `%d2` the address of its own word of a buffer, and `%p0` whether the secret is odd.
fn trace_of(body: &str, secrets: &[u32], schedule: Schedule) -> u64 {
    let source = kernel(
        2,
        &format!(
            "mov.u32 %r0, %tid.x; mul.wide.u32 %d0, %r0, 4; add.u64 %d1, %a0, %d0;
             add.u64 %d2, %a1, %d0; ld.global.u32 %r1, [%d1]; and.b32 %r2, %r1, 1;
             setp.ne.u32 %p0, %r2, 0; mov.u32 %r3, 1;
             {body}"
        ),
    );
    let device = Device::new(DeviceConfig {
        arch: Arch::SM_90,
        trace: true,
        schedule,
        checks: Checks::NONE,
        ..DeviceConfig::default()
    });
    let mut buffers = [bytes_of(secrets), vec![0; 4 * 96 + 64]];
    let report = launch_on(&device, &source, (2, 96), &mut buffers);
    report
        .unwrap_or_else(|fault| panic!("{fault}"))
        .counts
        .trace
}

#[test]
fn a_trace_tells_secrets_by_which_a_kernel_branches_predicates_or_addresses() {
    let (secrets, mut others) = (vec![2; 96], vec![2; 96]);
    // One bit of one thread.
    others[70] = 3;
    let differ = |body: &str| {
        let trace = |secrets: &[u32]| trace_of(body, secrets, Schedule::default());
        assert_eq!(trace(&secrets), trace(&secrets), "{body}");
        trace(&secrets) != trace(&others)
    };
    assert!(differ("@%p0 bra $end; add.u32 %r3, %r3, 1; $end:"));
    assert!(differ("@%p0 st.global.u32 [%d2], %r3;"));
    assert!(differ(
        "mul.wide.u32 %d3, %r1, 4; add.u64 %d4, %d2, %d3; st.global.u32 [%d4], %r3;"
    ));
    assert!(differ(
        "mul.wide.u32 %d3, %r1, 4; add.u64 %d4, %a1, %d3; red.global.add.u32 [%d4], 1;"
    ));
    // What is computed, selected, stored and voted on is no part of it.
    assert!(!differ(
        "selp.u32 %r3, %r1, 7, %p0; st.global.u32 [%d2], %r3;"
    ));
    assert!(!differ(
        "mul.lo.u32 %r3, %r1, %r1; vote.sync.ballot.b32 %r4, %p0, -1;"
    ));
}

#[test]
fn a_trace_does_not_depend_on_the_order_of_warps_and_blocks() {
    let secrets: Vec<u32> = (0..96).collect();
    let body = "@%p0 bra $end; add.u32 %r3, %r3, 1; $end: bar.sync 0; st.global.u32 [%d2], %r3;";
    let trace = |schedule| trace_of(body, &secrets, schedule);
    let first = trace(Schedule::default());
    assert_ne!(first, 0);
    assert_eq!(first, trace(Schedule::Random(5)));
    assert_eq!(first, trace(Schedule::Adversarial));
}
