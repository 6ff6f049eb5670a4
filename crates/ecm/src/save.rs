//! Save lines: what stage 1 left of a curve, as GMP-ECM reads and writes it.
//!
//! ```text
//! METHOD=ECM; PARAM=3; SIGMA=10; B1=2000; N=2535301200456458802993406410751; X=0x1b05...; CHECKSUM=...;
//! METHOD=ECM; A=1234; B1=2000; N=...; X=0x...; CHECKSUM=...;
//! ```
//!
//! The checksum is the product of `B1`, `SIGMA` (or `A`), `N`, `X` and `PARAM + 1` modulo 4294967291, the
//! greatest prime of 32 bits.

use num_bigint::BigUint;

use crate::{Curve, Error, Point, evaluate};

/// The modulus of checksums.
const CHECKSUM: u32 = 4_294_967_291;

/// The line of a point after a stage 1 up to `b1` modulo `n`, without its end.
pub fn write_line(n: &BigUint, b1: u64, point: &Point) -> String {
    let (curve, x) = (&point.curve, &point.x);
    let named = match curve {
        Curve::Sigma { param: 0, sigma } => format!("SIGMA={sigma}"),
        Curve::Sigma { param, sigma } => format!("PARAM={param}; SIGMA={sigma}"),
        Curve::A(a) => format!("A={a}"),
    };
    let checksum = checksum(n, b1, point);
    format!(
        "METHOD=ECM; {named}; B1={b1}; N={n}; X=0x{x:x}; CHECKSUM={checksum}; \
         PROGRAM=ecm {};",
        env!("CARGO_PKG_VERSION")
    )
}

/// The number, the bound and the point of a line.
///
/// # Errors
/// [`Error::Line`] where it is none of ECM's, or not as it was written.
pub fn read_line(line: &str) -> Result<(BigUint, u64, Point), Error> {
    let wrong = |what: &str| Error::Line(what.to_owned());
    let field = |name: &str| {
        let fields = line.split(';').map(str::trim);
        let mut values = fields.filter_map(|field| field.strip_prefix(name)?.strip_prefix('='));
        values.next()
    };
    let number = |name: &str| {
        let text = field(name).ok_or_else(|| wrong(&format!("there is no {name}=")))?;
        evaluate(text).map_err(|error| Error::Line(format!("{name}={text}: {error}")))
    };
    if field("METHOD") != Some("ECM") {
        return Err(wrong("it is no line of METHOD=ECM"));
    }
    let b1 = field("B1").and_then(|text| text.parse::<f64>().ok());
    let b1 = b1.filter(|b1| (1.0..9e15).contains(b1)).map(|b1| b1 as u64);
    let b1 = b1.ok_or_else(|| wrong("there is no B1= that is a number"))?;
    let curve = match field("A") {
        Some(_) => Curve::A(number("A")?),
        None => Curve::Sigma {
            param: match field("PARAM") {
                None | Some("0") => 0,
                Some("1") => 1,
                Some("3") => 3,
                Some(param) => return Err(wrong(&format!("PARAM={param} is none of 0, 1 and 3"))),
            },
            sigma: number("SIGMA")?,
        },
    };
    let (n, x) = (number("N")?, number("X")?);
    let point = Point { curve, x };
    let found = field("CHECKSUM").and_then(|text| text.parse().ok());
    if found.is_some_and(|found: u32| BigUint::from(found) != checksum(&n, b1, &point)) {
        return Err(wrong("its CHECKSUM is another: it is damaged"));
    }
    Ok((n, b1, point))
}

fn checksum(n: &BigUint, b1: u64, point: &Point) -> BigUint {
    let (of_curve, param) = match &point.curve {
        Curve::Sigma { param, sigma } => (sigma, *param),
        Curve::A(a) => (a, 0),
    };
    let product = of_curve * n % CHECKSUM * b1 * &point.x % CHECKSUM;
    product * (param + 1) % CHECKSUM
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by GMP-ECM 7.0.5.
    const LINE: &str = "METHOD=ECM; PARAM=3; SIGMA=10; B1=2000; N=2^101-1; \
        X=0x1b05ea1b32124d2ca0e5af71d8; CHECKSUM=2363273555; PROGRAM=GMP-ECM 7.0.5; Y=0x0; X0=0x0; \
        Y0=0x0; WHO=@vm; TIME=Thu Nov 26 03:17:05 2026;";

    #[test]
    fn a_line_of_gmp_ecm_is_read_and_written_again() {
        let (n, b1, point) = read_line(LINE).unwrap();
        assert_eq!((&n, b1), (&((BigUint::from(1u8) << 101u8) - 1u8), 2000));
        let again = write_line(&n, b1, &point);
        assert!(again.contains("; CHECKSUM=2363273555;"), "{again}");
        assert_eq!(read_line(&again).unwrap(), (n, b1, point));
    }

    #[test]
    fn a_line_that_was_changed_is_refused() {
        for (from, to) in [
            ("SIGMA=10", "SIGMA=11"),
            ("B1=2000", "B1=2001"),
            ("2^101", "2^103"),
            ("0x1b", "0x1c"),
            ("PARAM=3", "PARAM=1"),
            ("PARAM=3", "PARAM=2"),
            ("METHOD=ECM", "METHOD=PM1"),
            ("X=", "U="),
        ] {
            assert!(read_line(&LINE.replace(from, to)).is_err(), "{to}");
        }
    }
}
