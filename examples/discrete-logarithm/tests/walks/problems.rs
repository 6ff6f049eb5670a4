//! Problems: those that are published, and those that are none.

use discrete_logarithm::{Curve, Error, NAMES, Named, Problem, named};
use num_bigint::BigUint;

/// What R. J. Harley and W. Baisley told Certicom on 6 December 1997.
pub const ANSWER: &str = "92221507219705345685350";

/// Certicom's exercise.
pub fn eccp_79() -> Problem {
    let Named {
        curve,
        order,
        base,
        target,
    } = named("eccp-79").unwrap();
    Problem::new(curve, order, base, target.unwrap()).unwrap()
}

#[test]
fn the_published_answer_of_eccp_79_is_right_and_its_neighbours_are_not() {
    let problem = eccp_79();
    let answer: BigUint = ANSWER.parse().unwrap();
    assert!(problem.is_answer(&answer));
    assert!(!problem.is_answer(&(&answer + 1u8)));
    assert!(!problem.is_answer(&(&answer - 1u8)));
    let order: BigUint = "466597814831947642887217".parse().unwrap();
    assert_eq!(*problem.order(), order);
}

#[test]
fn every_named_curve_has_a_point_of_its_order() {
    for name in NAMES {
        let Named {
            curve, order, base, ..
        } = named(name).unwrap();
        Problem::new(curve, order, base.clone(), base).unwrap();
    }
    assert!(named("p-521").is_none());
}

#[test]
fn what_is_no_problem_is_said() {
    let Named {
        curve, order, base, ..
    } = named("toy-32").unwrap();
    let one = BigUint::from(1u8);
    let beside = [base[0].clone(), &base[1] + &one];
    let not_below = [&base[0] + &curve.p, base[1].clone()];
    let with = |p: &BigUint, a: &BigUint, b: &BigUint| Curve {
        p: p.clone(),
        a: a.clone(),
        b: b.clone(),
    };
    let Curve { p, a, b } = &curve;
    let cases = [
        (
            curve.clone(),
            &order,
            &base,
            &beside,
            "Q = (2, 2174915434) is not on the curve",
        ),
        (
            curve.clone(),
            &order,
            &beside,
            &base,
            "P = (2, 2174915434) is not on the curve",
        ),
        (
            curve.clone(),
            &order,
            &base,
            &not_below,
            "is not on the curve",
        ),
        (
            curve.clone(),
            &(&order + 2u8),
            &base,
            &base,
            "the order is no prime",
        ),
        // A prime, but another one's.
        (curve.clone(), p, &base, &base, "is not the order of P"),
        (with(&(p - 1u8), a, b), &order, &base, &base, "is no prime"),
        (
            with(p, p, b),
            &order,
            &base,
            &base,
            "a and b are less than p",
        ),
        (
            with(p, &BigUint::ZERO, &BigUint::ZERO),
            &order,
            &base,
            &base,
            "singular",
        ),
        (
            with(&BigUint::from(127u8), &one, &one),
            &order,
            &base,
            &base,
            "7 bits",
        ),
        (
            with(&(p << 240), a, b),
            &order,
            &base,
            &base,
            "not 8 to 256",
        ),
    ];
    for (curve, order, base, target, said) in cases {
        let error = Problem::new(curve, order.clone(), base.clone(), target.clone()).unwrap_err();
        assert!(matches!(error, Error::Problem(_)), "{error:?}");
        assert!(error.to_string().contains(said), "{error}");
    }
}
