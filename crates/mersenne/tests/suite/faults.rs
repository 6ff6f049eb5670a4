//! What goes wrong on the way is caught, and the result is right.

use std::cell::Cell;
use std::rc::Rc;

use crate::common::outcome;
use bigint_cpu::Path;
use bigint_cpu::fast::number::weighted::{Length, Weighted};
use mersenne::{
    Arithmetic, Backend, Certification, Cpu, Error, Later, LucasLehmer, Number, PMinus1, Prp,
    Residue, Runner, Save, Saved, Squaring, Step,
};
use sha3::{Digest, Sha3_256};

/// A CPU that counts, on which bits flip, and whose rounding error is too great when it is told to be.
#[derive(Clone)]
struct Faulty {
    cpu: Cpu,
    /// Whether a bit flips in this call that squares, counted from 1 on.
    flips: fn(u32) -> bool,
    calls: Rc<Cell<u32>>,
    squarings: Rc<Cell<u32>>,
    errs: Rc<Cell<bool>>,
}

struct FaultySquares(Box<dyn Squaring>, Faulty);

impl Backend for Faulty {
    fn name(&self) -> &str {
        "faulty"
    }

    fn squaring(
        &self,
        number: Number,
        longer_than: Option<usize>,
    ) -> Result<Box<dyn Squaring>, Error> {
        let squaring = self.cpu.squaring(number, longer_than)?;
        Ok(Box::new(FaultySquares(squaring, self.clone())))
    }
}

impl Squaring for FaultySquares {
    fn set(&mut self, x: &Residue) -> Result<(), Error> {
        self.0.set(x)
    }

    fn residue(&self) -> Result<Residue, Error> {
        self.0.residue()
    }

    fn residue_later(&self) -> Result<Option<Later>, Error> {
        let residue = self.residue()?;
        Ok(Some(Box::new(|| Ok(residue))))
    }

    fn square(&mut self, times: u32, by: u32, minus: u32) -> Result<(), Error> {
        self.0.square(times, by, minus)?;
        self.called(times)
    }

    fn square_shifted(&mut self, by: u32, minus: u32, bit: u32) -> Result<(), Error> {
        self.0.square_shifted(by, minus, bit)?;
        self.called(1)
    }

    fn error(&self) -> Result<f64, Error> {
        match self.1.errs.take() {
            true => Ok(1.0),
            false => self.0.error(),
        }
    }

    fn words(&self) -> Option<usize> {
        self.0.words()
    }
}

impl FaultySquares {
    fn called(&mut self, times: u32) -> Result<(), Error> {
        let Faulty {
            flips,
            calls,
            squarings,
            ..
        } = &self.1;
        calls.set(calls.get() + 1);
        squarings.set(squarings.get() + times);
        if flips(calls.get()) {
            let flipped = self.residue()?.with_flipped_bit(1000);
            self.set(&flipped)?;
        }
        Ok(())
    }
}

fn flipping(arithmetic: Arithmetic, flips: fn(u32) -> bool) -> Faulty {
    Faulty {
        cpu: Cpu {
            arithmetic,
            ..Cpu::default()
        },
        flips,
        calls: Rc::default(),
        squarings: Rc::default(),
        errs: Rc::default(),
    }
}

#[test]
fn a_flipped_bit_is_caught_and_rolled_back() {
    // Early, late (a block has 35 squarings: 37 calls and a check's), and both.
    let turns: [fn(u32) -> bool; 3] = [|i| i == 3, |i| i == 37, |i| i == 5 || i == 45];
    let right = outcome(Saved::Prp(Prp::new(1277)), &Cpu::default());
    for arithmetic in [Arithmetic::Exact, Arithmetic::Fp64] {
        for turns in turns {
            let found = outcome(Saved::Prp(Prp::new(1277)), &flipping(arithmetic, turns));
            assert!(found.errors > 0);
            assert_eq!((found.is_prime, found.res64), (false, right.res64));
            let found = outcome(Saved::Prp(Prp::new(1279)), &flipping(arithmetic, turns));
            assert!(found.is_prime && found.errors > 0);
            // 9 2^2297 + 1, a prime, by Proth's test.
            let proth = Saved::Prp(Prp::new(Number::new(9, 2297, true).unwrap()));
            let found = outcome(proth, &flipping(arithmetic, turns));
            assert!(found.is_prime && found.errors > 0);
        }
    }
}

/// A Lucas-Lehmer test with a shift that is checked every 60 steps or so, and how often it went back.
fn checked(p: u32, shift: u32, backend: &dyn Backend) -> (LucasLehmer, u32) {
    let mut test = LucasLehmer::new(p);
    let start = Saved::LucasLehmer(test.clone()).with_shift(shift);
    let (mut runner, mut backs) = (start.runner(backend).unwrap(), 0);
    loop {
        let step = test.advance(&mut runner, 7).unwrap();
        test.rest(&mut runner).unwrap();
        let from = test.iteration;
        let is_due = from.is_multiple_of(9) || step != Step::Going;
        let check = is_due.then(|| test.begin_check()).flatten();
        if check.is_some_and(|check| !test.settle(check, &mut runner).unwrap()) {
            assert!(test.iteration < from);
            backs += 1;
        } else if let Step::Done(_) = step {
            return (test, backs);
        }
    }
}

/// Half of all errors turn the Jacobi symbol.
#[test]
fn a_bit_that_flips_in_a_lucas_lehmer_test_is_caught_as_often_as_not() {
    let right = outcome(Saved::LucasLehmer(LucasLehmer::new(1277)), &Cpu::default());
    let turns: [fn(u32) -> bool; 8] = [
        |i| i == 2,
        |i| i == 16,
        |i| i == 35,
        |i| i == 58,
        |i| i == 74,
        |i| i == 102,
        |i| i == 137,
        |i| i == 171,
    ];
    let mut caught = 0;
    for arithmetic in [Arithmetic::Exact, Arithmetic::Fp64] {
        for turns in turns {
            let (found, backs) = checked(1277, 0, &flipping(arithmetic, turns));
            assert_eq!(backs > 0, found.residue.res64() == right.res64);
            caught += backs;
        }
    }
    assert!((4..=12).contains(&caught), "{caught} of 16");
    // In a residue that is shifted another bit flips with each step.
    let mut caught = 0;
    for (shift, turn) in [1, 640, 1276]
        .into_iter()
        .flat_map(|s| (1..4).map(move |t| (s, t)))
    {
        let turns: fn(u32) -> bool = match turn {
            1 => |i| i == 11,
            2 => |i| i == 305,
            _ => |i| i == 1200,
        };
        let (found, backs) = checked(1277, shift, &flipping(Arithmetic::Fp64, turns));
        assert_eq!(backs > 0, found.residue.res64() == right.res64);
        caught += backs;
    }
    assert!((1..=8).contains(&caught), "{caught} of 9");
    // One that never errs is never sent back, and a prime's last residue holds.
    for p in [7, 13, 89, 127, 607, 1279, 1277, 1283, 2203, 2213] {
        let right = outcome(Saved::LucasLehmer(LucasLehmer::new(p)), &Cpu::default());
        for shift in [0, p - 1] {
            let (found, backs) = checked(p, shift, &Cpu::default());
            assert_eq!((found.residue.res64(), backs), (right.res64, 0), "M{p}");
        }
    }
}

/// A residue may be wrong where its check held, and the next step's show that.
#[test]
fn a_lucas_lehmer_test_that_fails_again_and_again_begins_anew() {
    let backend = Cpu::default();
    let mut test = LucasLehmer::new(1279);
    let start = Saved::LucasLehmer(test.clone());
    let mut runner = start.runner(&backend).unwrap();
    test.advance(&mut runner, 60).unwrap();
    test.rest(&mut runner).unwrap();
    let two = Residue::from_u64(1279, 2);
    let minus_two = Residue::from_u64(1279, 0).minus(&two);
    let hides = |wrong: &Residue| {
        [&two, &minus_two].map(|x| wrong.clone().minus(x).jacobi().unwrap()) == [-1, -1]
    };
    let mut wrong = (0..100).map(|bit| test.residue.with_flipped_bit(bit));
    test.residue = wrong.find(hides).unwrap();
    runner.set(&test.residue).unwrap();
    let check = test.begin_check().unwrap();
    assert!(test.settle(check, &mut runner).unwrap());
    for back_at in [60, 60, 0] {
        test.advance(&mut runner, 30).unwrap();
        test.rest(&mut runner).unwrap();
        let check = test.begin_check().unwrap();
        assert!(!test.settle(check, &mut runner).unwrap());
        assert_eq!(test.iteration, back_at);
    }
    while test.advance(&mut runner, 1000).unwrap() == Step::Going {}
    assert_eq!(test.residue, Residue::from_u64(1279, 0));
}

#[test]
fn a_lucas_lehmer_test_goes_back_to_where_its_save_says_the_check_held() {
    let backend = Cpu::default();
    let mut test = LucasLehmer::new(1279);
    let start = Saved::LucasLehmer(test.clone());
    let mut runner = start.runner(&backend).unwrap();
    for at in [60, 120] {
        test.advance(&mut runner, 60).unwrap();
        test.rest(&mut runner).unwrap();
        if at == 60 {
            let check = test.begin_check().unwrap();
            assert!(test.settle(check, &mut runner).unwrap());
        }
    }
    // An error that the symbol shows, in the residue that is saved.
    let wrong = (0..100).map(|bit| test.residue.with_flipped_bit(bit));
    let two = Residue::from_u64(1279, 2);
    let shows = |wrong: &Residue| wrong.clone().minus(&two).jacobi().unwrap() == 1;
    test.residue = wrong.into_iter().find(shows).unwrap();
    let bytes = Saved::LucasLehmer(test).to_bytes();
    let loaded = Saved::from_bytes(&bytes, &start).unwrap().unwrap();
    let mut runner = loaded.runner(&backend).unwrap();
    let Saved::LucasLehmer(mut test) = loaded else {
        panic!("it was a Lucas-Lehmer test");
    };
    assert_eq!(test.iteration, 120);
    let check = test.begin_check().unwrap();
    assert!(!test.settle(check, &mut runner).unwrap());
    assert_eq!(test.iteration, 60);
    let found = loop {
        if let Step::Done(outcome) = test.advance(&mut runner, 1000).unwrap() {
            break outcome;
        }
    };
    assert!(found.is_prime && found.errors == 1);
}

#[test]
fn a_bit_that_flips_in_a_certification_is_caught() {
    // 1000 squarings modulo 2^1277 - 1.
    let start = Residue::from_u64(1277, 5).pow(1 << 60);
    let mut right = start.clone();
    for _ in 0..1000 {
        right = right.square_minus(1, 0);
    }
    for arithmetic in [Arithmetic::Exact, Arithmetic::Fp64] {
        let backend = flipping(arithmetic, |i| i == 3 || i == 40);
        let mut test = Saved::Prp(Prp::certifying(Certification {
            start: start.clone(),
            squarings: 1000,
        }));
        let mut runner = test.runner(&backend).unwrap();
        let found = loop {
            if let Step::Done(outcome) = test.advance(&mut runner, 100).unwrap() {
                break outcome;
            }
        };
        assert!(found.errors > 0 && !found.is_prime);
        assert_eq!(found.res64, right.res64());
        let hash = Sha3_256::digest(right.to_bytes());
        let hash: String = hash
            .iter()
            .rev()
            .map(|byte| format!("{byte:02X}"))
            .collect();
        assert_eq!(test.hash(), Some(hash));
    }
}

#[test]
fn a_machine_that_never_computes_right_is_told() {
    let backend = flipping(Arithmetic::Exact, |_| true);
    let mut test = Saved::Prp(Prp::new(1277));
    let mut runner = test.runner(&backend).unwrap();
    let error = loop {
        match test.advance(&mut runner, 1000) {
            Ok(Step::Going) => {}
            Ok(Step::Done(outcome)) => panic!("{outcome:?}"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Unstable { from: 0, .. }), "{error}");
}

/// A machine that is lost when its residue is fetched for the time whose turn it is, and then a CPU.
struct Lost {
    turn: u32,
    fetched: Rc<Cell<u32>>,
    has_failed: Cell<bool>,
}

impl Lost {
    fn at(turn: u32) -> Self {
        Lost {
            turn,
            fetched: Rc::default(),
            has_failed: Cell::default(),
        }
    }
}

struct LostSquares {
    turn: u32,
    squaring: Box<dyn Squaring>,
    fetched: Rc<Cell<u32>>,
}

impl Backend for Lost {
    fn name(&self) -> &str {
        "lost"
    }

    fn squaring(
        &self,
        number: Number,
        longer_than: Option<usize>,
    ) -> Result<Box<dyn Squaring>, Error> {
        let squaring = Cpu::default().squaring(number, longer_than)?;
        Ok(match self.has_failed.get() {
            true => squaring,
            false => Box::new(LostSquares {
                turn: self.turn,
                squaring,
                fetched: self.fetched.clone(),
            }),
        })
    }

    fn falls_back(&self, _: &Error) -> bool {
        !self.has_failed.replace(true)
    }
}

fn lost() -> Error {
    Error::Save {
        path: "none".into(),
        what: "the machine is lost".to_owned(),
    }
}

impl Squaring for LostSquares {
    fn set(&mut self, x: &Residue) -> Result<(), Error> {
        self.squaring.set(x)
    }

    fn residue(&self) -> Result<Residue, Error> {
        match self.fetched.get() == self.turn {
            true => Err(lost()),
            false => self.squaring.residue(),
        }
    }

    fn residue_later(&self) -> Result<Option<Later>, Error> {
        self.fetched.set(self.fetched.get() + 1);
        let residue = self.residue();
        Ok(Some(Box::new(|| residue)))
    }

    fn square(&mut self, times: u32, by: u32, minus: u32) -> Result<(), Error> {
        self.squaring.square(times, by, minus)
    }

    fn error(&self) -> Result<f64, Error> {
        self.squaring.error()
    }

    fn words(&self) -> Option<usize> {
        self.squaring.words()
    }
}

#[test]
fn a_machine_that_is_lost_while_a_residue_is_fetched_costs_no_result() {
    let right = outcome(Saved::Prp(Prp::new(1277)), &Cpu::default());
    // Noticed at the next block's end; or at a rest on the way there; or while a check goes on, at block 35 and the
    // last one's.
    let turns = (1..=37).map(|turn| (turn, None));
    for (turn, resting) in turns.chain([(2, Some(75))]) {
        let backend = Lost::at(turn);
        let mut test = Saved::Prp(Prp::new(1277));
        let mut runner = test.runner(&backend).unwrap();
        let found = loop {
            match test.advance(&mut runner, 5).unwrap() {
                Step::Done(outcome) => break outcome,
                Step::Going if Some(test.progress().0) == resting => {
                    test.rest(&mut runner).unwrap();
                }
                Step::Going => {}
            }
        };
        assert!(matches!(runner.take_failure(), Some(Error::Save { .. })));
        assert_eq!((found.errors, found.res64), (0, right.res64));
    }
}

/// Two residues are fetched at once, and finished in either order.
#[test]
fn work_beside_the_squarings_has_the_residue_of_its_time() {
    let start = Residue::from_u64(1277, 3);
    let after = |squarings| (0..squarings).fold(start.clone(), |x, _| x.square_minus(1, 0));
    let flawless = flipping(Arithmetic::Fp64, |_| false);
    let backends: [&dyn Backend; 3] = [&flawless, &Lost::at(2), &Lost::at(2)];
    for (backend, is_first_first) in backends.into_iter().zip([false, false, true]) {
        let mut runner = Runner::new(1277, 0, backend).unwrap().with_shift(5);
        runner.set(&start).unwrap();
        runner.square(10).unwrap();
        let first = runner.beside(Residue::res64).unwrap().unwrap();
        runner.square(7).unwrap();
        let second = runner.beside(|x| x.res64() + 1).unwrap().unwrap();
        runner.square(5).unwrap();
        let work = match is_first_first {
            true => [(10, 0, first), (17, 1, second)],
            false => [(17, 1, second), (10, 0, first)],
        };
        for (at, more, work) in work {
            let (x, made) = runner.finish(work).unwrap();
            assert_eq!((&x, made), (&after(at), after(at).res64() + more));
        }
        runner.square(3).unwrap();
        assert_eq!(runner.residue().unwrap(), after(25));
        let is_lost = backend.name() == "lost";
        assert_eq!(runner.take_failure().is_some(), is_lost);
    }
}

#[test]
fn iterations_before_a_reading_that_has_ended_are_not_repeated() {
    let backend = flipping(Arithmetic::Fp64, |_| false);
    let mut runner = Runner::new(1277, 2, &backend).unwrap();
    let start = Residue::from_u64(1277, 4);
    runner.set(&start).unwrap();
    for times in [10, 7, 5] {
        runner.square(times).unwrap();
        assert!(runner.begin_reading().unwrap());
    }
    // The second reading has ended.
    backend.errs.set(true);
    runner.square(3).unwrap();
    assert_eq!(runner.lengthened(), 1);
    assert_eq!(backend.squarings.get(), 10 + 7 + 5 + 3 + (5 + 3));
    let right = (0..25).fold(start, |x, _| x.square_minus(1, 2));
    assert_eq!(runner.residue().unwrap(), right);
}

/// Transforms that are too short at first.
struct Short;

struct Transform(u32, Weighted, f64);

impl Backend for Short {
    fn name(&self) -> &str {
        "short"
    }

    fn squaring(
        &self,
        number: Number,
        longer_than: Option<usize>,
    ) -> Result<Box<dyn Squaring>, Error> {
        let length = match longer_than {
            None => Length::of_words(320),
            Some(words) => Length::of_words(words).and_then(Length::next),
        };
        let length = length.expect("there are longer ones");
        let p = number.exponent().expect("it is a Mersenne number");
        Ok(Box::new(Transform(
            p,
            Weighted::new(p, length, Path::best()),
            0.0,
        )))
    }
}

impl Squaring for Transform {
    fn set(&mut self, x: &Residue) -> Result<(), Error> {
        self.1.set(x.limbs());
        Ok(())
    }

    fn residue(&self) -> Result<Residue, Error> {
        Ok(Residue::reduce(self.0, &self.1.residue()))
    }

    fn square(&mut self, times: u32, by: u32, minus: u32) -> Result<(), Error> {
        for _ in 0..times {
            self.2 = self.2.max(self.1.square(by, minus));
        }
        Ok(())
    }

    fn error(&self) -> Result<f64, Error> {
        Ok(self.2)
    }

    fn words(&self) -> Option<usize> {
        Some(self.1.length().words())
    }
}

#[test]
fn too_short_a_transform_is_seen_and_a_longer_one_taken() {
    for start in [
        Saved::LucasLehmer(LucasLehmer::new(7549)),
        Saved::LucasLehmer(LucasLehmer::new(7547)),
        Saved::PMinus1(PMinus1::new(7549, 1000).unwrap()),
    ] {
        let right = outcome(start.clone(), &Cpu::default());
        let mut test = start.clone();
        let mut runner: Runner<'_> = test.runner(&Short).unwrap();
        assert_eq!(runner.words(), Some(320));
        let found = loop {
            if let Step::Done(outcome) = test.advance(&mut runner, 500).unwrap() {
                break outcome;
            }
        };
        assert!(runner.words() > Some(320) && runner.lengthened() > 0);
        assert!(runner.greatest_error() <= Runner::LIMIT);
        assert_eq!(
            (found.is_prime, found.res64),
            (right.is_prime, right.res64),
            "{}",
            start.worktype()
        );
    }
}
