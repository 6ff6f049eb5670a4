//! Save lines: what stage 1 left, as GMP-ECM reads and writes it.
//!
//! ```text
//! METHOD=ECM; PARAM=3; SIGMA=10; B1=2000; N=2535301200456458802993406410751; X=0x1b05...; CHECKSUM=...;
//! METHOD=ECM; A=1234; B1=2000; N=...; X=0x...; CHECKSUM=...;
//! METHOD=P-1; B1=2000; N=...; X=0x...; CHECKSUM=...;
//! METHOD=P+1; B1=2000; N=...; X=0x...; CHECKSUM=...;
//! ```
//!
//! The checksum is the product of `B1`, `SIGMA` (or `A`), `N`, `X` and `PARAM + 1`, of those that a line has,
//! modulo 4294967291, the greatest prime of 32 bits.

use num_bigint::BigUint;

use crate::{Curve, Error, Method, Point, evaluate};

/// The modulus of checksums.
const CHECKSUM: u32 = 4_294_967_291;

/// What stage 1 left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saved {
    /// A point of a curve.
    Point(Point),
    /// A residue of P-1 or P+1.
    Residue(Method, BigUint),
}

/// The line of what a stage 1 up to `b1` modulo `n` has left, without its end.
pub fn write_line(n: &BigUint, b1: u64, saved: &Saved) -> String {
    let (method, x) = match saved {
        Saved::Residue(Method::PMinus1, x) => ("P-1".to_owned(), x),
        Saved::Residue(Method::PPlus1, x) => ("P+1".to_owned(), x),
        Saved::Point(Point { curve, x }) => {
            let named = match curve {
                Curve::Sigma { param: 0, sigma } => format!("SIGMA={sigma}"),
                Curve::Sigma { param, sigma } => format!("PARAM={param}; SIGMA={sigma}"),
                Curve::A(a) => format!("A={a}"),
            };
            (format!("ECM; {named}"), x)
        }
    };
    let checksum = checksum(n, b1, saved);
    format!(
        "METHOD={method}; B1={b1}; N={n}; X=0x{x:x}; CHECKSUM={checksum}; \
         PROGRAM=ecm {};",
        env!("CARGO_PKG_VERSION")
    )
}

/// The number and the bound of a line, and what stage 1 left.
///
/// # Errors
/// [`Error::Line`] where it is of another method, or not as it was written.
pub fn read_line(line: &str) -> Result<(BigUint, u64, Saved), Error> {
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
    let method = match field("METHOD") {
        Some("ECM") => None,
        Some("P-1") => Some(Method::PMinus1),
        Some("P+1") => Some(Method::PPlus1),
        _ => return Err(wrong("it is no line of METHOD=ECM, P-1 or P+1")),
    };
    let b1 = field("B1").and_then(|text| text.parse::<f64>().ok());
    let b1 = b1.filter(|b1| (1.0..9e15).contains(b1)).map(|b1| b1 as u64);
    let b1 = b1.ok_or_else(|| wrong("there is no B1= that is a number"))?;
    let (n, x) = (number("N")?, number("X")?);
    let saved = match method {
        Some(method) => Saved::Residue(method, x),
        None if field("A").is_some() => {
            let curve = Curve::A(number("A")?);
            Saved::Point(Point { curve, x })
        }
        None => {
            let param = match field("PARAM") {
                None | Some("0") => 0,
                Some("1") => 1,
                Some("3") => 3,
                Some(param) => return Err(wrong(&format!("PARAM={param} is none of 0, 1 and 3"))),
            };
            let sigma = number("SIGMA")?;
            let curve = Curve::Sigma { param, sigma };
            Saved::Point(Point { curve, x })
        }
    };
    match field("CHECKSUM") {
        Some(found) if found != checksum(&n, b1, &saved).to_string() => {
            return Err(wrong("its CHECKSUM is another: it is damaged"));
        }
        // The last digits of X may be missing.
        None if !line.trim_end().ends_with(';') => {
            return Err(wrong(
                "it has no CHECKSUM and does not end with ';': it was cut off",
            ));
        }
        _ => {}
    }
    Ok((n, b1, saved))
}

fn checksum(n: &BigUint, b1: u64, saved: &Saved) -> BigUint {
    let one = BigUint::from(1u8);
    let (of_curve, param, x) = match saved {
        Saved::Residue(_, x) => (&one, 0, x),
        Saved::Point(Point { curve, x }) => match curve {
            Curve::Sigma { param, sigma } => (sigma, *param, x),
            Curve::A(a) => (a, 0, x),
        },
    };
    let product = of_curve * n % CHECKSUM * b1 * x % CHECKSUM;
    product * (param + 1) % CHECKSUM
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by GMP-ECM 7.0.5.
    const LINE: &str = "METHOD=ECM; PARAM=3; SIGMA=10; B1=2000; N=2^101-1; \
        X=0x1b05ea1b32124d2ca0e5af71d8; CHECKSUM=2363273555; PROGRAM=GMP-ECM 7.0.5; Y=0x0; X0=0x0; \
        Y0=0x0; WHO=@vm; TIME=Thu Nov 26 03:17:05 2026;";

    /// Of P+1, likewise.
    const RESIDUE: &str = "METHOD=P+1; B1=1000; N=(10^71+273)*(10^90+289); \
        X=0x216090ff1c05df6d88aea176bd8445b49d94389d286d5be8883d9636e49a9bb87861fd7d00a07fd73676c246c98230ad29\
        1f421b91d25a2a1e97c730767f1f061d0345; CHECKSUM=1653253115; PROGRAM=GMP-ECM 7.0.5; Y=0x0; X0=0x5; \
        Y0=0x0; WHO=@vm; TIME=Thu Nov 26 20:25:35 2026;";

    #[test]
    fn a_line_of_gmp_ecm_is_read_and_written_again() {
        for (line, number, bound, checksum) in [
            (LINE, "2^101-1", 2000, "2363273555"),
            (RESIDUE, "(10^71+273)*(10^90+289)", 1000, "1653253115"),
        ] {
            let (n, b1, saved) = read_line(line).unwrap();
            assert_eq!((&n, b1), (&evaluate(number).unwrap(), bound));
            let again = write_line(&n, b1, &saved);
            assert!(
                again.contains(&format!("; CHECKSUM={checksum};")),
                "{again}"
            );
            assert_eq!(read_line(&again).unwrap(), (n, b1, saved));
        }
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
        // Without its end a line has an X, but perhaps not all of its digits.
        let whole = LINE.find(" CHECKSUM").unwrap();
        assert!(read_line(&LINE[..whole]).is_ok());
        for cut in [whole - 1, whole - 5] {
            assert!(read_line(&LINE[..cut]).is_err(), "{}", &LINE[..cut]);
        }
        for (from, to) in [("CHECKSUM=2", "CHECKSUM=-2"), ("CHECKSUM=2", "CHECKSUM=")] {
            assert!(read_line(&LINE.replace(from, to)).is_err(), "{to}");
        }
        for (from, to) in [("X=0x2", "X=0x3"), ("B1=1000", "B1=1001"), ("71", "72")] {
            assert!(read_line(&RESIDUE.replace(from, to)).is_err(), "{to}");
        }
    }
}
