//! The first 128 multiples of the generator of secp256k1, by the kernel of `kernels/src/lib.rs` on the GPUs of the machine
//! or, where there is none, by the function beside it on its cores: each launch doubles how many there are. `cpu` or `cuda` as an
//! argument forces one of them.

use bigint_host::advanced::Work;
use bigint_host::{BigUint, Engine};

const PTX: &str = include_str!("../kernels.ptx");

/// The generator's `y` and `x`.
const GENERATOR: &str = "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8\
    79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";

/// `r = a + b` of points, as the kernel computes it: `x` in the lower half of 16 limbs, `y` in the upper.
fn add_points(work: Work<'_>) {
    let p: BigUint = (BigUint::from(1u8) << 256u32) - (BigUint::from(1u8) << 32u32) - 977u32;
    let point = |limbs: &[u32]| [&limbs[..8], &limbs[8..]].map(BigUint::from_slice);
    let ([x, y], [u, v]) = (point(work.a), point(work.b));
    // The slope of the chord, or of the tangent.
    let (rise, run) = match x == u {
        true => (&x * &x * 3u8, &y * 2u8),
        false => (v + &p - &y, &u + &p - &x),
    };
    let slope = rise * (run % &p).modinv(&p).expect("points that are not opposite") % &p;
    let sum = (&slope * &slope + &p + &p - &x - u) % &p;
    let height = (slope * (x + &p - &sum) + &p - y) % &p;
    for (half, number) in work.r.chunks_mut(8).zip([sum, height]) {
        let limbs = number.to_u32_digits();
        half[..limbs.len()].copy_from_slice(&limbs);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = match std::env::args().nth(1).as_deref() {
        Some("cpu") => Engine::cpu(),
        Some("cuda") => Engine::cuda(0)?,
        _ => Engine::auto(),
    };
    let kernel = engine.kernel(PTX, "add_points", add_points)?;
    let generator = BigUint::parse_bytes(GENERATOR.as_bytes(), 16).ok_or("no number")?;
    let mut points = vec![generator];
    for _ in 0..7 {
        let all = engine.batch_from_biguints(&points)?;
        // One number stands for all.
        let last = engine.batch_from_biguints(&points[points.len() - 1..])?;
        let sums = kernel.launch(&[&all, &last], &[16], &[])?;
        points.extend(sums[0].to_biguints()?);
    }
    let two_256 = BigUint::from(1u8) << 256;
    for (k, point) in (1..).zip(&points) {
        println!("{k} {:x} {:x}", point % &two_256, point / &two_256);
    }
    Ok(())
}
