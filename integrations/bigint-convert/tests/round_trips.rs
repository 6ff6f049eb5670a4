//! Numbers of other libraries are those of their decimal digits, there and back.

use bigint_convert::{Foreign, integers, numbers};
use bigint_host::{BigInt, Error, Integers};
use crypto_bigint::{U64, U1024};
use dashu_int::{IBig, UBig};
use std::fmt::Display;

/// Numbers around the ends of limbs and words, of both signs.
fn column() -> Integers {
    let powers = (0..1024u32).step_by(31).map(|bits| BigInt::from(1) << bits);
    let near = |power: BigInt| [power.clone() - 1, -power.clone(), power + 5];
    powers.flat_map(near).collect()
}

fn check<T: Foreign + Display>(column: &Integers) {
    let theirs: Vec<T> = numbers(column).unwrap();
    let texts: Vec<String> = theirs.iter().map(T::to_string).collect();
    assert_eq!(texts, column.decimals().collect::<Vec<_>>());
    assert_eq!(integers(&theirs).unwrap(), *column);
}

#[test]
fn numbers_of_other_libraries_come_back_as_they_were() {
    let signed = column();
    let natural: Integers = signed.iter().map(|n| n.magnitude().clone()).collect();
    check::<IBig>(&signed);
    check::<UBig>(&natural);
    #[cfg(feature = "malachite")]
    {
        check::<malachite_nz::integer::Integer>(&signed);
        check::<malachite_nz::natural::Natural>(&natural);
    }
    #[cfg(feature = "rug")]
    check::<rug::Integer>(&signed);
    let of_1024: Vec<U1024> = numbers(&natural).unwrap();
    assert_eq!(integers(&of_1024).unwrap(), natural);
    let hexadecimals = natural.hexadecimals().map(|text| text[2..].to_owned());
    for (number, text) in of_1024.iter().zip(hexadecimals) {
        assert_eq!(format!("{number:x}").trim_start_matches('0'), text.trim_start_matches('0'));
    }
}

#[test]
fn a_number_that_the_type_does_not_have_is_named() {
    let wide = Integers::from([u128::from(u64::MAX), 1 << 64]);
    let refused = numbers::<U64>(&wide).unwrap_err();
    assert!(matches!(refused, Error::NoCast { index: 1, .. }), "{refused}");
    let refused = numbers::<UBig>(&Integers::from([1, -1])).unwrap_err();
    assert!(matches!(refused, Error::NoCast { index: 1, .. }), "{refused}");
}
