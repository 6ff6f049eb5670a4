//! The first 128 multiples of the generator of secp256k1, by the kernel of `kernels/src/lib.rs` on the first
//! GPU: each launch doubles how many there are.

use bigint_host::{BigUint, Engine};

const PTX: &str = include_str!("../kernels.ptx");

/// The generator's `y` and `x`.
const GENERATOR: &str = "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8\
    79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::cuda(0)?;
    let module = engine.module(PTX)?.ok_or("this engine has no GPU")?;
    let generator = BigUint::parse_bytes(GENERATOR.as_bytes(), 16).ok_or("no number")?;
    let mut points = vec![generator];
    for _ in 0..7 {
        let all = engine.batch_from_biguints(&points)?;
        // One number stands for all.
        let last = engine.batch_from_biguints(&points[points.len() - 1..])?;
        let sums = module.launch("add_points", &[&all, &last], &[16], &[])?;
        points.extend(sums[0].to_biguints()?);
    }
    let two_256 = BigUint::from(1u8) << 256;
    for (k, point) in (1..).zip(&points) {
        println!("{k} {:x} {:x}", point % &two_256, point / &two_256);
    }
    Ok(())
}
