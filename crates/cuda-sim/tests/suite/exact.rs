//! Rounding by its definition, on integers: the oracle for floating-point results.

use num_bigint::{BigInt, Sign};

/// A binary interchange format: bits of the fraction and of the exponent.
#[derive(Clone, Copy)]
pub struct Format {
    pub fraction: i64,
    pub exponent: i64,
}

pub const F16: Format = Format {
    fraction: 10,
    exponent: 5,
};
pub const BF16: Format = Format {
    fraction: 7,
    exponent: 8,
};
pub const F32: Format = Format {
    fraction: 23,
    exponent: 8,
};
pub const F64: Format = Format {
    fraction: 52,
    exponent: 11,
};

/// The suffixes of roundings: to nearest even, to zero, down, up.
pub const MODES: [&str; 4] = ["rn", "rz", "rm", "rp"];

/// `mantissa * 2^exponent`
#[derive(Clone)]
pub struct Exact {
    pub mantissa: BigInt,
    pub exponent: i64,
}

impl Exact {
    pub fn integer(n: impl Into<BigInt>) -> Exact {
        Exact {
            mantissa: n.into(),
            exponent: 0,
        }
    }

    pub fn times(&self, other: &Exact) -> Exact {
        Exact {
            mantissa: &self.mantissa * &other.mantissa,
            exponent: self.exponent + other.exponent,
        }
    }

    pub fn plus(&self, other: &Exact) -> Exact {
        let exponent = self.exponent.min(other.exponent);
        let shifted = |x: &Exact| &x.mantissa << (x.exponent - exponent);
        Exact {
            mantissa: shifted(self) + shifted(other),
            exponent,
        }
    }

    pub fn is_zero(&self) -> bool {
        self.mantissa.sign() == Sign::NoSign
    }
}

impl Format {
    fn bias(self) -> i64 {
        (1 << (self.exponent - 1)) - 1
    }

    pub fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    pub fn sign(self) -> u64 {
        1 << (self.fraction + self.exponent)
    }

    /// What is not a number, as PTX writes it.
    pub fn is_nan(self, bits: u64) -> bool {
        bits & (self.sign() - 1) > self.infinity()
    }

    pub fn is_infinite(self, bits: u64) -> bool {
        bits & (self.sign() - 1) == self.infinity()
    }

    /// A finite value, exactly.
    pub fn exact(self, bits: u64) -> Exact {
        let field = (bits & (self.sign() - 1)) >> self.fraction;
        let fraction = bits & ((1 << self.fraction) - 1);
        let whole = if field == 0 {
            fraction
        } else {
            fraction | 1 << self.fraction
        };
        let mantissa = BigInt::from(whole);
        Exact {
            mantissa: if bits & self.sign() != 0 {
                -mantissa
            } else {
                mantissa
            },
            exponent: (field as i64).max(1) - self.bias() - self.fraction,
        }
    }

    /// The bits of a value other than zero, rounded.
    pub fn round(self, x: &Exact, mode: &str) -> u64 {
        let negative = x.mantissa.sign() == Sign::Minus;
        let size = x.mantissa.magnitude();
        let least = 1 - self.bias() - self.fraction;
        let top = size.bits() as i64 - 1 + x.exponent;
        let ulp = (top - self.fraction).max(least);
        let shift = ulp - x.exponent;
        let mut kept = if shift <= 0 {
            size << -shift
        } else {
            size >> shift
        };
        let left = size
            - if shift <= 0 {
                size.clone()
            } else {
                &kept << shift
            };
        if left.bits() != 0 {
            let twice: num_bigint::BigUint = left << 1u32;
            let one = num_bigint::BigUint::from(1u32) << shift;
            let odd = kept.bit(0);
            let up = match mode {
                "rn" => twice > one || twice == one && odd,
                "rz" => false,
                "rm" => negative,
                _ => !negative,
            };
            kept += u32::from(up);
        }
        let sign = if negative { self.sign() } else { 0 };
        let kept: u64 = kept.try_into().unwrap();
        let bits = ((ulp - least) as u64).checked_shl(self.fraction as u32);
        let bits = bits.map_or(u64::MAX >> 1, |bits| bits.saturating_add(kept));
        if bits < self.infinity() {
            return sign | bits;
        }
        let stays = match mode {
            "rn" => false,
            "rz" => true,
            "rm" => !negative,
            _ => negative,
        };
        sign | (self.infinity() - u64::from(stays))
    }
}
