//! Digits of constants beside those that mpmath computes.

use bigint_host::{Constant, Engine, Error};

#[test]
fn digits_are_those_of_mpmath_at_chosen_places() {
    let engine = Engine::cpu();
    // The last ten of 1000, 10,000 and 100,000 digits behind the point.
    for (constant, start, expected) in [
        (
            Constant::Pi,
            "3.1415926535",
            ["2164201989", "5256375678", "5493624646"],
        ),
        (
            Constant::E,
            "2.7182818284",
            ["9570350354", "9465536788", "1004271658"],
        ),
        (
            Constant::Sqrt2,
            "1.4142135623",
            ["9518488472", "5873258351", "5610147523"],
        ),
        (
            Constant::Sqrt3,
            "1.7320508075",
            ["3954959381", "7012304019", "8906880857"],
        ),
        (
            Constant::Phi,
            "1.6180339887",
            ["3536139362", "7977113803", "9559326106"],
        ),
        (
            Constant::Ln2,
            "0.6931471805",
            ["2344535347", "1359655560", "7696859273"],
        ),
        (
            Constant::Zeta3,
            "1.2020569031",
            ["7661810922", "1895042350", "5937250931"],
        ),
    ] {
        let most = engine.constant(constant, 100_000).unwrap();
        assert!(most.starts_with(start), "{constant}");
        for (digits, expected) in [1000, 10_000, 100_000].into_iter().zip(expected) {
            assert_eq!(
                &most[2 + digits - 10..2 + digits],
                expected,
                "{constant} {digits}"
            );
        }
        for digits in (0..40).chain([99, 100, 761, 762, 763, 1000]) {
            let end = if digits == 0 { 1 } else { 2 + digits };
            assert_eq!(
                engine.constant(constant, digits).unwrap(),
                most[..end],
                "{constant} {digits}"
            );
        }
    }
}

/// The millionth digit, which is published wherever pi is.
#[test]
fn a_million_digits_of_pi_end_as_published() {
    let pi = Engine::cpu().constant(Constant::Pi, 1_000_000).unwrap();
    assert!(pi.ends_with("5779458151"));
    assert_eq!(pi.len(), 1_000_002);
}

#[test]
fn more_digits_than_numbers_may_have_are_refused_at_once() {
    for constant in Constant::ALL {
        for digits in [1_400_000_000, 99_999_999_999, usize::MAX] {
            let refused = Engine::cpu().constant(constant, digits);
            assert!(
                matches!(refused, Err(Error::Width { .. })),
                "{constant} {digits}"
            );
        }
    }
}
