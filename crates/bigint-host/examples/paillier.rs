//! Paillier's encryption: whoever has no key adds numbers that are encrypted, many at a time.
//!
//! ```text
//! cargo run --release -p bigint-host --example paillier
//! ```
//!
//! With `n = p q`, a random `h`, and a random `x` half as long as `n` for each number `m` below `n`
//!
//! ```text
//! c = (1 + m n) (h^n)^x mod n^2                  encrypts
//! c d mod n^2                                    encrypts the sum of what c and d encrypt
//! m = ((c^f mod n^2) - 1) / n  f^-1 mod n        decrypts, with f = (p - 1) (q - 1)
//! ```
//!
//! Powers modulo `n^2`, twice as long as the key, are the work. (Paillier has `r^n` with a random `r`; Damgard, Jurik and
//! Nielsen take `r = h^x`.) So whoever encrypts has one base, and a table of its powers. The powers by `x` and by `f` are
//! constant time; the generator of random numbers here is none for secrets, and the primes are any.

use bigint_host::{
    Batch, BigUint, Engine, Error, FixedBase, MontgomeryParams, RandomPrimes, Residues,
};

/// A key.
struct Key {
    n: Batch,
    square: MontgomeryParams,
    /// `h^n`.
    base: FixedBase,
    f: Batch,
    inverse: Batch,
}

impl Key {
    fn of_bits(engine: &Engine, bits: u64, mut fill: impl FnMut(&mut [u8])) -> Result<Self, Error> {
        let wanted = RandomPrimes::of_bits(bits / 2).with_two_top_bits();
        let primes = engine.random_primes(&wanted, 2, &mut fill)?.to_biguints()?;
        let one = BigUint::from(1u8);
        let number = |number: BigUint| engine.batch_from_biguints(&[number]);
        let n = number(&primes[0] * &primes[1])?;
        let f = number((&primes[0] - &one) * (&primes[1] - &one))?;
        let square = MontgomeryParams::new(engine, &engine.square(&n)?)?;
        let mut h = vec![0; bits as usize / 8 - 1];
        fill(&mut h);
        let h = Residues::new(&number(BigUint::from_bytes_be(&h))?, &square)?;
        Ok(Key {
            base: FixedBase::new(&h.pow_vartime(&n)?, bits as usize / 2)?,
            square,
            inverse: engine.inv_mod(&f, &n)?,
            n,
            f,
        })
    }

    /// Encrypts numbers, with a random number for each.
    fn encrypt(&self, engine: &Engine, m: &Batch, x: &Batch) -> Result<Residues, Error> {
        let one = engine.batch_from_biguints(&[1u8.into()])?;
        let of_m = engine.mul_add(m, &self.n, &one)?;
        Residues::new(&of_m, &self.square)?.mul(&self.base.pow(x)?)
    }

    fn decrypt(&self, engine: &Engine, c: &Residues) -> Result<Batch, Error> {
        let one = engine.batch_from_biguints(&[1u8.into()])?;
        let less = engine.wrapping_sub(&c.pow(&self.f)?.retrieve()?, &one)?;
        let quotient = engine.div_exact(&less, &self.n)?;
        engine.rem(&engine.mul(&quotient, &self.inverse)?, &self.n)
    }
}

/// Sums of numbers that were added while they were encrypted.
fn sums(bits: u64, pairs: &[[u32; 2]]) -> Result<Vec<BigUint>, Error> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut fill = |bytes: &mut [u8]| {
        for byte in bytes {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *byte = (state >> 32) as u8;
        }
    };
    let engine = Engine::auto();
    let key = Key::of_bits(&engine, bits, &mut fill)?;
    let mut encrypted = |which: usize| {
        let numbers: Vec<BigUint> = pairs.iter().map(|pair| pair[which].into()).collect();
        let mut random = || {
            let mut bytes = vec![0; bits as usize / 16];
            fill(&mut bytes);
            BigUint::from_bytes_be(&bytes)
        };
        let random: Vec<BigUint> = numbers.iter().map(|_| random()).collect();
        let [numbers, random] = [numbers, random].map(|all| engine.batch_from_biguints(&all));
        key.encrypt(&engine, &numbers?, &random?)
    };
    let sums = encrypted(0)?.mul(&encrypted(1)?)?;
    key.decrypt(&engine, &sums)?.to_biguints()
}

fn main() -> Result<(), Error> {
    let pairs = [[20, 22], [u32::MAX, 1], [0, 0]];
    for ([a, b], sum) in pairs.iter().zip(sums(2048, &pairs)?) {
        println!("{a} + {b} = {sum}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_decrypted_is_the_sums() {
        let pairs: Vec<[u32; 2]> = (0..9u32)
            .map(|i| [i.wrapping_mul(0x9e37_79b9), u32::MAX - i])
            .collect();
        let expected = pairs
            .iter()
            .map(|&[a, b]| BigUint::from(u64::from(a) + u64::from(b)));
        assert_eq!(sums(256, &pairs).unwrap(), expected.collect::<Vec<_>>());
    }
}
