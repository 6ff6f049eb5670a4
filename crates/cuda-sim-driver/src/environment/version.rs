//! Driver versions, and the newest PTX that each understands.

use std::fmt;
use std::str::FromStr;

/// A driver's CUDA version, as `cuDriverGetVersion` encodes it: 12040 for 12.4.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct DriverVersion(pub i32);

impl Default for DriverVersion {
    fn default() -> Self {
        DriverVersion(12080)
    }
}

/// The first CUDA version that understands each PTX ISA (PTX ISA manual,
/// "release notes"), both as major * 1000 + minor * 10.
const FIRST_DRIVER: &[(i32, (u32, u32))] = &[
    (9000, (6, 0)),
    (9010, (6, 1)),
    (9020, (6, 2)),
    (10000, (6, 3)),
    (10010, (6, 4)),
    (10020, (6, 5)),
    (11000, (7, 0)),
    (11010, (7, 1)),
    (11020, (7, 2)),
    (11030, (7, 3)),
    (11040, (7, 4)),
    (11050, (7, 5)),
    (11060, (7, 6)),
    (11070, (7, 7)),
    (11080, (7, 8)),
    (12000, (8, 0)),
    (12010, (8, 1)),
    (12020, (8, 2)),
    (12030, (8, 3)),
    (12040, (8, 4)),
    (12050, (8, 5)),
    (12070, (8, 6)),
    (12080, (8, 7)),
    (12090, (8, 8)),
    (13000, (9, 0)),
    (13010, (9, 1)),
];

impl DriverVersion {
    /// The newest PTX ISA that this driver compiles.
    pub fn newest_ptx(self) -> (u32, u32) {
        FIRST_DRIVER
            .iter()
            .take_while(|(driver, _)| *driver <= self.0)
            .last()
            .map_or((5, 0), |(_, isa)| *isa)
    }
}

impl FromStr for DriverVersion {
    type Err = String;

    /// `12.4`, or CUDA's own 12040.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is not a CUDA version such as 12.4 or 12040");
        let version = match text.split_once('.') {
            Some((major, minor)) => {
                let major: i32 = major.parse().map_err(|_| wrong())?;
                let minor: i32 = minor.parse().map_err(|_| wrong())?;
                if !(0..100).contains(&minor) || !(1..1000).contains(&major) {
                    return Err(wrong());
                }
                major * 1000 + minor * 10
            }
            None => text.parse().map_err(|_| wrong())?,
        };
        if (1000..1_000_000).contains(&version) {
            Ok(DriverVersion(version))
        } else {
            Err(wrong())
        }
    }
}

impl fmt::Display for DriverVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0 / 1000, self.0 % 1000 / 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_are_the_same_version() {
        assert_eq!("12.4".parse(), Ok(DriverVersion(12040)));
        assert_eq!("12040".parse(), Ok(DriverVersion(12040)));
        assert_eq!(DriverVersion(12040).to_string(), "12.4");
        for wrong in ["", "12", "12.", ".4", "-1", "12.4.1", "twelve"] {
            assert!(wrong.parse::<DriverVersion>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_driver_understands_the_ptx_of_its_own_toolkit_and_older() {
        assert_eq!(DriverVersion(10020).newest_ptx(), (6, 5));
        assert_eq!(DriverVersion(12040).newest_ptx(), (8, 4));
        assert_eq!(DriverVersion(12060).newest_ptx(), (8, 5));
        assert_eq!(DriverVersion(8000).newest_ptx(), (5, 0));
        assert_eq!(DriverVersion(99000).newest_ptx(), (9, 1));
    }
}
