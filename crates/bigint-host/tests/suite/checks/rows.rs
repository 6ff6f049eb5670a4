//! Every operation on integers of any lengths beside num-bigint, on the CPU and on the simulated
//! GPU.

use crate::checks::lists::{Lengths, Random, numbers};
use bigint_host::{BigInt, BigUint, Engine, Integers, Operation, Signs};
use bigint_testing::oracle;

/// What depends on how wide numbers are, and not on the numbers alone.
pub const OF_A_WIDTH: [Operation; 8] = [
    Operation::AddSegments,
    Operation::MontMul,
    Operation::MulHigh,
    Operation::Not,
    Operation::PowFixed,
    Operation::PowPair,
    Operation::SetBit,
    Operation::TrailingZeros,
];

/// Natural operands of rows of any lengths that the operation takes.
fn operands(operation: Operation, count: usize, random: &mut Random) -> Vec<Vec<BigUint>> {
    let names = operation.declaration().operands;
    let mut column = |bits| {
        let all = numbers(Lengths::Any(bits), count, random).into_iter();
        all.map(|n| n.magnitude().clone()).collect::<Vec<_>>()
    };
    let mut columns: Vec<Vec<BigUint>> = names
        .iter()
        .map(|name| match *name {
            "bits" | "place" | "k" => column(8),
            "signs" => column(2),
            "e" => column(64),
            _ if operation == Operation::PowMod => column(700),
            _ => column(3000),
        })
        .collect();
    if let Operation::ModAdd | Operation::ModSub = operation {
        let moduli = columns[2].iter_mut();
        moduli.for_each(|m| *m += 1u32);
        let (residues, moduli) = columns.split_at_mut(2);
        for column in residues {
            for (a, m) in column.iter_mut().zip(&moduli[0]) {
                *a = &*a % m;
            }
        }
    }
    columns
}

/// Compares what an engine computes of every operation, of so many rows of any lengths.
pub fn check_operations(engine: &Engine, count: usize, seed: u64) {
    let mut random = Random(seed);
    for operation in Operation::ALL {
        if OF_A_WIDTH.contains(&operation) {
            continue;
        }
        let columns = operands(operation, count, &mut random);
        let signs = operation.declaration().signs;
        let results = operation.declaration().results.len();
        let values = |i: usize| -> Option<Vec<BigInt>> {
            let row: Vec<&BigUint> = columns.iter().map(|column| &column[i]).collect();
            let mut values = oracle::values(operation, &row, &[94; 3][..row.len()]);
            if let Signs::Order | Signs::Symbol = signs {
                values.iter_mut().for_each(|value| *value -= 1);
            }
            // A difference is a number here, whatever its sign.
            (!values.is_empty()).then_some(values)
        };
        let expected: Vec<Option<Vec<BigInt>>> = (0..count).map(values).collect();
        let made: Vec<Integers> = columns
            .iter()
            .map(|column| Integers::from_biguints(column).unwrap())
            .collect();
        let made: Vec<&Integers> = made.iter().collect();
        let (found, flags) = engine.masked_apply(operation, &made).unwrap();
        assert_eq!(
            (found.len(), flags.len()),
            (results, count),
            "{operation:?}"
        );
        for (i, expected) in expected.iter().enumerate() {
            let found: Vec<BigInt> = found.iter().map(|r| r.get(i).unwrap()).collect();
            let none = vec![BigInt::ZERO; results];
            assert_eq!(flags[i], expected.is_none(), "{operation:?}: row {i}");
            assert_eq!(&found, expected.as_ref().unwrap_or(&none), "{operation:?}");
        }
        let all_have_values = expected.iter().all(Option::is_some);
        let exact = engine.apply(operation, &made);
        assert_eq!(exact.is_ok(), all_have_values, "{operation:?}: {exact:?}");
        assert!(!all_have_values || exact.unwrap() == found);
    }
}
