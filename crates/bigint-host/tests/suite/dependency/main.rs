//! A program of somebody who depends on bigint-host. Prints the product of its two
//! arguments, who computed it, and what opening a GPU answers.

use bigint_host::{BigUint, Engine};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let factors: Vec<BigUint> = std::env::args()
        .skip(1)
        .map(|text| text.parse())
        .collect::<Result<_, _>>()?;
    let engine = Engine::auto();
    let a = engine.batch_from_biguints(&factors[..1])?;
    let b = engine.batch_from_biguints(&factors[1..])?;
    println!("product {}", engine.mul(&a, &b)?.to_biguints()?[0]);
    println!("back end {}", engine.back_end());
    match Engine::cuda(0) {
        Ok(engine) => println!("gpu {}", engine.back_end()),
        Err(error) => println!("gpu {error}"),
    }
    Ok(())
}
