//! PTX as rustc emits it: jump tables, calls, local memory, inline assembly.

use crate::common::{device_with, words_of};
use cuda_sim::ptx::Module;
use cuda_sim::{Checks, Device, FaultKind, Grid, LoadedModule};

const SOURCE: &str = include_str!("ptx/rustc.ptx");

fn loaded() -> (Device, LoadedModule) {
    let device = device_with(Checks::ALL);
    let module = Module::parse(SOURCE).unwrap();
    let loaded = device.load(&module).unwrap();
    (device, loaded)
}

fn upload(device: &Device, bytes: &[u8]) -> u64 {
    let address = device.alloc(bytes.len() as u64).unwrap();
    device.write(address, bytes).unwrap();
    address
}

fn one_block(threads: u32) -> Grid {
    Grid {
        grid: [1, 1, 1],
        block: [threads, 1, 1],
        shared_bytes: 0,
    }
}

/// The kernel multiplies 128-bit numbers modulo 2^128, then mixes in a carry, a
/// shuffle, a ballot and a table.
fn mul4(device: &Device, loaded: &LoadedModule, n: u32, threads: u32) -> Result<(), FaultKind> {
    let numbers = |factor: u128| -> Vec<u128> {
        (0..u128::from(n))
            .map(|i| (i + 1).wrapping_mul(factor))
            .collect()
    };
    let a = numbers(0x1234_5678_9abc_def0_1122_3344_5566_7788);
    let b = numbers(0xfedc_ba98_7654_3210_0f0f_1234_ffff_ffff);
    let bytes = |x: &[u128]| x.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let out = device.alloc(16 * u64::from(n)).unwrap();
    let mut params = Vec::new();
    for address in [upload(device, &bytes(&a)), upload(device, &bytes(&b)), out] {
        params.extend(address.to_le_bytes());
    }
    params.extend(n.to_le_bytes());
    let report = device
        .launch(loaded, "mul4", one_block(threads), &params)
        .map_err(|fault| fault.kind)?;

    let mut bytes = vec![0; 16 * n as usize];
    device.read(out, &mut bytes).unwrap();
    let products: Vec<Vec<u32>> = (0..n as usize)
        .map(|i| words_of(&a[i].wrapping_mul(b[i]).to_le_bytes()))
        .collect();
    for (i, got) in words_of(&bytes).chunks(4).enumerate() {
        let first = i / 32 * 32;
        let next = &products[first + (i + 1) % 32];
        let mut want = products[i].clone();
        let (_, carry) = want[0].overflowing_add(want[1]);
        let top = want[0].wrapping_add(want[1]).wrapping_add(u32::from(carry));
        want[3] ^= next[0] ^ next[0].wrapping_add(next[1]) ^ top;
        for (lane, other) in products[first..first + 32].iter().enumerate() {
            want[2] ^= u32::from(other[1] > 5) << lane;
        }
        want[1] = want[1].wrapping_add([1, 2, 3, 5, 7, 11, 13][i % 7]);
        assert_eq!(got, want, "number {i}");
    }
    // Ten wide products of which the last column needs only low halves.
    assert_eq!(report.counts.barriers, 1);
    assert!(report.counts.multiply_adds >= 9 * u64::from(n));
    Ok(())
}

#[test]
fn products_of_four_limbs_come_out_right() {
    let (device, loaded) = loaded();
    mul4(&device, &loaded, 128, 128).unwrap();
}

#[test]
fn a_thread_that_leaves_before_the_barrier_is_found() {
    let (device, loaded) = loaded();
    assert_eq!(
        mul4(&device, &loaded, 96, 128),
        Err(FaultKind::BarrierDivergence)
    );
}

#[test]
fn calls_pass_arguments_results_and_local_memory() {
    let (device, loaded) = loaded();
    let q = device.alloc(8).unwrap();
    let k = 0x1_2345_6789u64;
    let mut params = vec![0; 8];
    params[..8].copy_from_slice(&q.to_le_bytes());
    params.resize(16, 0);
    for word in [1u32, 2, 3, 4] {
        params.extend(word.to_le_bytes());
    }
    params.extend(k.to_le_bytes());
    device
        .launch(&loaded, "call", one_block(1), &params)
        .unwrap();
    let mut bytes = [0; 8];
    device.read(q, &mut bytes).unwrap();
    // callee(a, b) writes b[3] = a and gives [a, 7 a, b[1]].
    let mut b = [0u32; 9];
    b[3] = k as u32;
    let r = [k, k.wrapping_mul(7), 0];
    b[3] = r[1] as u32;
    let want = r[0] ^ r[1] ^ r[2] ^ (3 + u64::from(b[(k % 9) as usize]));
    assert_eq!(u64::from_le_bytes(bytes), want);
}

#[test]
fn jump_tables_loops_and_wide_division_run() {
    let (device, loaded) = loaded();
    for n in 0..7u32 {
        let counter = upload(&device, &[0; 4]);
        let q = upload(&device, &[0; 8]);
        let d = upload(&device, &[7; 32]);
        let mut params = Vec::new();
        params.extend(counter.to_le_bytes());
        params.extend(q.to_le_bytes());
        params.extend(u64::from(n).to_le_bytes());
        params.extend(d.to_le_bytes());
        device
            .launch(&loaded, "at", one_block(1), &params)
            .unwrap_or_else(|fault| panic!("{fault}"));
        let mut bytes = [0; 8];
        device.read(q, &mut bytes).unwrap();
        let got = u64::from_le_bytes(bytes);
        match n {
            0 | 3 | 5 => assert_eq!(got, [3, 0, 0, 7, 0, 77][n as usize]),
            1 => assert_eq!(got, 0),
            _ => {}
        }
    }
}
