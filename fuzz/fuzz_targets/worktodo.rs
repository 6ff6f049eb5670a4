//! Lines of `worktodo.txt`: understood the same way twice, or refused with a column of the line.
#![no_main]

use mersenne::primenet::Assignment;

libfuzzer_sys::fuzz_target!(|line: &str| {
    match Assignment::parse(line) {
        Ok(Some(assignment)) => {
            assert!(line.contains(&assignment.p.to_string()) || line.contains('0'));
            let again = Assignment::parse(&assignment.line).expect("it was understood");
            assert_eq!(again, Some(assignment));
        }
        Ok(None) => {}
        Err(bad) => assert!((1..=line.len() + 1).contains(&bad.column), "{bad:?}"),
    }
});
