//! Keys whose bytes are ordered as the integers are.
//!
//! A key of `x` says the number of bytes of `|x|` first, and then these bytes, most significant
//! first. Let `n` be that number and `k` the number of bytes of `n` itself, both without zeros on
//! top. Then
//!
//! ```text
//! x >= 0:  0x80 + k | n in k bytes | |x| in n bytes
//! x < 0:   the same of |x|, every bit turned over
//! ```
//!
//! `0` is `80`, `5` is `81 01 05`, `-5` is `7e fe fa`, and `256` is `81 02 01 00`. A longer number is
//! greater and has a greater head; of two of one length the bytes decide. No key is the beginning
//! of another one, so that turning all bits over turns the order over.
//!
//! Cost: linear. A key has at most 9 bytes more than its number, and 2 below 2^2040.

/// Writes the key of a number behind `key`.
pub(crate) fn write(magnitude: &[u32], negative: bool, key: &mut Vec<u8>) {
    let start = key.len();
    let top = magnitude.last().map_or(0, |top| top.leading_zeros() / 8);
    let length = 4 * magnitude.len() - top as usize;
    let of_length = &length.to_be_bytes()[length.leading_zeros() as usize / 8..];
    key.push(0x80 + of_length.len() as u8);
    key.extend_from_slice(of_length);
    let bytes = magnitude.iter().rev().flat_map(|limb| limb.to_be_bytes());
    key.extend(bytes.skip(top as usize));
    if negative {
        key[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

#[cfg(test)]
mod tests {
    use bigint_host::{BigInt, Integers};

    fn key(number: &BigInt) -> Vec<u8> {
        let column = Integers::from_bigints(std::slice::from_ref(number)).unwrap();
        let mut key = Vec::new();
        super::write(column.magnitude(0), column.is_negative(0), &mut key);
        key
    }

    #[test]
    fn examples_of_the_head_are_as_written_there() {
        for (number, bytes) in [
            (0, &[0x80][..]),
            (5, &[0x81, 1, 5]),
            (-5, &[0x7e, 0xfe, 0xfa]),
            (256, &[0x81, 2, 1, 0]),
        ] {
            assert_eq!(key(&BigInt::from(number)), bytes, "{number}");
        }
    }

    #[test]
    fn keys_are_ordered_as_numbers_are() {
        let one = BigInt::from(1);
        let mut numbers = vec![BigInt::ZERO];
        for bits in (0..70).chain([2031, 2032, 2033, 2039, 2040, 2041, 4096]) {
            let power = BigInt::from(2).pow(bits);
            for near in [&power - &one, power.clone(), &power + &one] {
                numbers.extend([-&near, near]);
            }
        }
        for a in &numbers {
            for b in &numbers {
                assert_eq!(key(a).cmp(&key(b)), a.cmp(b), "{a} and {b}");
            }
        }
    }
}
