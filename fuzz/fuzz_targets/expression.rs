//! Expressions: any text is refused or computed, and random ones are what num-bigint computes.
#![no_main]

use std::fs;

use bigint_fuzz::command::{Ast, calc};
use num_bigint::BigInt;

/// Any text, or an expression that is one.
#[derive(arbitrary::Arbitrary, Debug)]
enum Input<'a> {
    Text(&'a str),
    Ast(Ast, [i64; 2]),
}

libfuzzer_sys::fuzz_target!(|input: Input<'_>| {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let (from, to) = (folder.path().join("a.txt"), folder.path().join("out.txt"));
    match input {
        // What is long to compute is no fault of the reader.
        Input::Text(text)
            if text.contains(['^', '\0']) || text.contains("<<") || text.len() > 200 => {}
        Input::Text(text) => {
            fs::write(&from, "3\n-5\n0\n").expect("the folder takes files");
            calc(text, &from, &to);
        }
        Input::Ast(ast, values) => {
            fs::write(&from, format!("{}\n{}\n", values[0], values[1]))
                .expect("the folder takes files");
            // Without a variable there is one result.
            let has_variable = format!("{ast:?}").contains("Variable");
            let rows = if has_variable { 2 } else { 1 };
            let wanted: Option<Vec<BigInt>> = values[..rows]
                .iter()
                .map(|&a| ast.value(&a.into()))
                .collect();
            let wanted =
                wanted.map(|values| values.iter().map(|value| format!("{value}\n")).collect());
            assert_eq!(calc(&ast.to_string(), &from, &to), wanted, "{ast}");
        }
    }
});
