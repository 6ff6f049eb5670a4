//! The conversion of hexadecimal digits to limbs and back.
//!
//! Eight digits fill one limb. They are read as one 64-bit word, and all of them are processed at
//! once: a sum of bytes that stays below 256 separates digits from other bytes, and three shifts
//! gather the eight nibbles. **Cost**: linear. **Scratch**: none.

use bigint_core::Limb;

const ONES: u64 = 0x0101_0101_0101_0101;

/// The limb that eight digits spell, the first one being the most significant. In the second value
/// the top bit of each byte is set if the byte is a digit.
fn limb(digits: [u8; 8]) -> (Limb, u64) {
    let text = u64::from_be_bytes(digits);
    let ascii = text & (0x7f * ONES);
    let lower = ascii | (0x20 * ONES);
    // A sum reaches 0x80 exactly if the byte reaches the bound.
    let decimal = (ascii + (0x80 - 0x30) * ONES) & !(ascii + (0x80 - 0x3a) * ONES);
    let letter = (lower + (0x80 - 0x61) * ONES) & !(lower + (0x80 - 0x67) * ONES);
    let valid = (decimal | letter) & !text;
    // The low nibble of '0'..'9' is their value, and that of a letter its value less 9.
    let nibbles = (text & (0x0f * ONES)) + 9 * ((text >> 6) & ONES);
    let bytes = (nibbles | nibbles >> 4) & 0x00ff_00ff_00ff_00ff;
    let halves = (bytes | bytes >> 8) & 0x0000_ffff_0000_ffff;
    ((halves | halves >> 16) as Limb, valid)
}

/// Writes the value of `digits` into `limbs`, with zeros above it. If a byte is no digit, returns
/// false and leaves `limbs` unspecified.
///
/// ```
/// use bigint_cpu::radix::hex;
/// let mut limbs = [0; 2];
/// assert!(hex::parse(b"100000002", &mut limbs));
/// assert_eq!(limbs, [2, 1]);
/// assert!(!hex::parse(b"1g", &mut limbs));
/// ```
///
/// # Panics If there are fewer `limbs` than an eighth of the digits, rounded up.
pub fn parse(digits: &[u8], limbs: &mut [Limb]) -> bool {
    let (top, body) = digits.as_rchunks::<8>();
    let mut valid = 0x80 * ONES;
    let (low, high) = limbs.split_at_mut(body.len());
    for (limb_out, chunk) in low.iter_mut().rev().zip(body) {
        let (value, good) = limb(*chunk);
        *limb_out = value;
        valid &= good;
    }
    high.fill(0);
    if !top.is_empty() {
        let mut padded = [b'0'; 8];
        padded[8 - top.len()..].copy_from_slice(top);
        let (value, good) = limb(padded);
        high[0] = value;
        valid &= good;
    }
    valid == 0x80 * ONES
}

/// The eight digits of a limb in lower case, the most significant first.
fn digits(limb: Limb) -> [u8; 8] {
    let halves = u64::from(limb);
    let bytes = (halves | halves << 16) & 0x0000_ffff_0000_ffff;
    let pairs = (bytes | bytes << 8) & 0x00ff_00ff_00ff_00ff;
    let nibbles = (pairs | pairs << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    // The sum with 6 carries into bit 4 exactly if the nibble is a letter.
    let letters = ((nibbles + 6 * ONES) >> 4) & ONES;
    let text = nibbles + 0x30 * ONES + letters * (b'a' - b'0' - 10) as u64;
    text.to_be_bytes()
}

/// Appends `0x` and the digits of a number to `text`, without leading zero limbs.
///
/// ```
/// let mut text = Vec::new();
/// bigint_cpu::radix::hex::write(&[2, 1], &mut text);
/// assert_eq!(text, b"0x100000002");
/// ```
pub fn write(limbs: &[Limb], text: &mut Vec<u8>) {
    text.extend_from_slice(b"0x");
    let Some((&top, rest)) = limbs.split_last() else {
        text.push(b'0');
        return;
    };
    let zeros = (top.leading_zeros() / 4).min(7) as usize;
    text.extend_from_slice(&digits(top)[zeros..]);
    let start = text.len();
    text.resize(start + 8 * rest.len(), 0);
    let (out, _) = text[start..].as_chunks_mut::<8>();
    for (chunk, &limb) in out.iter_mut().zip(rest.iter().rev()) {
        *chunk = digits(limb);
    }
}
