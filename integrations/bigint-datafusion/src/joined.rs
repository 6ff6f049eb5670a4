//! Calls that partitions make of an engine, joined: a device pays for large batches only. While one
//! call is computed, others of its kind wait, and whoever is next computes all that wait at once.
//! Nobody waits for calls that have not been made.

use std::cmp::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use bigint_host::expression::{Expression, Function};
use bigint_host::{Engine, Error, Integers, Operation};

/// Limbs of the operands of calls that are joined: 256 MiB.
const MOST_LIMBS: usize = 1 << 26;

/// An engine whose calls are joined where it has devices. On the CPU each partition computes by
/// itself: the engine shares the cores among them, and joining would copy for nothing.
pub(crate) struct Joined {
    engine: Engine,
    calls: Mutex<Calls>,
    /// Told whenever a call is computed.
    freed: Condvar,
}

#[derive(Default)]
struct Calls {
    running: Vec<Arc<Call>>,
    /// In the order in which they were made.
    waiting: Vec<Arc<Call>>,
}

struct Call {
    function: Function,
    /// Columns, and single numbers for all rows.
    operands: Vec<Integers>,
    /// What others have computed for it: nothing where it must be computed alone.
    made: OnceLock<Option<Integers>>,
}

impl Call {
    fn rows(&self) -> usize {
        self.operands.iter().map(Integers::len).max().unwrap_or(0)
    }

    fn limbs(&self) -> usize {
        let limbs = self.operands.iter().map(|operand| operand.limbs().len());
        limbs.sum()
    }

    /// Whether both are of one function, and their numbers for all rows the same.
    fn is_like(&self, other: &Call) -> bool {
        let mut pairs = self.operands.iter().zip(&other.operands);
        self.function == other.function
            && pairs.all(|(a, b)| match (a.len(), b.len()) {
                (1, 1) => a == b,
                (a, b) => a != 1 && b != 1,
            })
    }
}

impl Calls {
    /// Takes out this call and those like it, the oldest first, with so many limbs at most.
    fn take_like(&mut self, call: &Arc<Call>, most: usize) -> Vec<Arc<Call>> {
        let mut taken = vec![Arc::clone(call)];
        let mut limbs = call.limbs();
        self.waiting.retain(|other| {
            let is_taken =
                !Arc::ptr_eq(other, call) && other.is_like(call) && limbs + other.limbs() <= most;
            if is_taken {
                limbs += other.limbs();
                taken.push(Arc::clone(other));
            }
            !is_taken && !Arc::ptr_eq(other, call)
        });
        taken
    }
}

impl Joined {
    pub fn new(engine: &Engine) -> Self {
        Joined {
            engine: engine.clone(),
            calls: Mutex::default(),
            freed: Condvar::new(),
        }
    }

    /// Whether each number is a prime.
    pub fn is_prime(&self, numbers: &[Integers]) -> Result<Vec<bool>, Error> {
        let told = self.eval(Function::IsPrime, numbers)?;
        Ok((0..told.len())
            .map(|row| !told.magnitude(row).is_empty())
            .collect())
    }

    /// [`Engine::compare`] of two columns.
    pub fn compare(&self, numbers: &[Integers]) -> Result<Vec<Ordering>, Error> {
        if !self.engine.has_open_devices() {
            return self.engine.compare(&numbers[0], &numbers[1]);
        }
        let order = self.eval(Function::Operation(Operation::Compare), numbers)?;
        let told = (0..order.len()).map(|row| match order.magnitude(row) {
            [] => Ordering::Equal,
            _ if order.is_negative(row) => Ordering::Less,
            _ => Ordering::Greater,
        });
        Ok(told.collect())
    }

    /// The engine, for what is not joined.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// [`Engine::eval`] of a function.
    pub fn eval(&self, function: Function, operands: &[Integers]) -> Result<Integers, Error> {
        let compute = |operands: &[Integers]| {
            let operands = operands.iter().map(Expression::from);
            self.engine.eval(&Expression::call(function, operands))
        };
        match self.engine.has_open_devices() {
            true => self.joined(function, operands, compute),
            false => compute(operands),
        }
    }

    /// What `compute` makes of the operands, perhaps together with those of other callers. An error
    /// is about the caller's own rows.
    fn joined(
        &self,
        function: Function,
        operands: &[Integers],
        compute: impl Fn(&[Integers]) -> Result<Integers, Error>,
    ) -> Result<Integers, Error> {
        let call = Arc::new(Call {
            function,
            operands: operands.to_vec(),
            made: OnceLock::new(),
        });
        if call.rows() <= 1 {
            return compute(operands);
        }
        let mut calls = self.lock();
        calls.waiting.push(Arc::clone(&call));
        while call.made.get().is_none() && calls.running.iter().any(|other| other.is_like(&call)) {
            calls = self
                .freed
                .wait(calls)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if call.made.get().is_none() {
            let together = calls.take_like(&call, MOST_LIMBS);
            calls.running.push(Arc::clone(&call));
            drop(calls);
            let made = catch_unwind(AssertUnwindSafe(|| computed(&together, &compute)));
            let mut calls = self.lock();
            calls.running.retain(|other| !Arc::ptr_eq(other, &call));
            self.freed.notify_all();
            if together.len() == 1 {
                drop(calls);
                let made = made.unwrap_or_else(|panic| resume_unwind(panic));
                return Ok(made?.swap_remove(0));
            }
            // Whose rows have no value, or who panics, shows when each computes its own.
            let parts = made.ok().and_then(Result::ok);
            let mut parts = parts.into_iter().flatten();
            for call in &together {
                let _ = call.made.set(parts.next());
            }
        } else {
            drop(calls);
        }
        match call.made.get() {
            Some(Some(made)) => Ok(made.clone()),
            _ => compute(operands),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The results of calls that are alike, computed at once.
fn computed(
    calls: &[Arc<Call>],
    compute: impl Fn(&[Integers]) -> Result<Integers, Error>,
) -> Result<Vec<Integers>, Error> {
    let [first, others @ ..] = calls else {
        return Ok(Vec::new());
    };
    if others.is_empty() {
        return Ok(vec![compute(&first.operands)?]);
    }
    let operands = first.operands.iter().enumerate();
    let operands = operands.map(|(at, operand)| match operand.len() {
        1 => Ok(operand.clone()),
        _ => {
            let parts = calls.iter().map(|call| &call.operands[at]);
            Integers::concatenate(&parts.collect::<Vec<_>>())
        }
    });
    let made = compute(&operands.collect::<Result<Vec<_>, _>>()?)?;
    let mut start = 0;
    let parts = calls.iter().map(|call| {
        let rows = start..start + call.rows();
        start = rows.end;
        made.slice(rows)
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::thread;
    use std::time::Duration;

    const DIV: Function = Function::Operation(Operation::Div);
    const CALLERS: usize = 8;

    /// Rows that no other caller has.
    fn numbers(caller: usize) -> Integers {
        (0..5 + caller as u64)
            .map(|row| 1000 * caller as u64 + row)
            .collect()
    }

    fn divided(operands: &[Integers]) -> Result<Integers, Error> {
        Engine::cpu().div(&operands[0], &operands[1])
    }

    /// What each caller's division by `divisors` answers, and how many calls were computed. The
    /// first is not done before all others wait for it.
    fn at_once(
        divisors: impl Fn(usize) -> Integers + Sync,
        compute: impl Fn(&[Integers]) -> Result<Integers, Error> + Sync,
    ) -> (Vec<thread::Result<Result<Integers, Error>>>, usize) {
        let (joined, computed) = (Joined::new(&Engine::cpu()), AtomicUsize::new(0));
        let after_all = |operands: &[Integers]| {
            if computed.fetch_add(1, SeqCst) == 0 {
                while joined.lock().waiting.len() < CALLERS - 1 {
                    thread::sleep(Duration::from_millis(1));
                }
            }
            compute(operands)
        };
        let call = |caller| joined.joined(DIV, &[numbers(caller), divisors(caller)], after_all);
        let answers = thread::scope(|scope| {
            let callers: Vec<_> = (0..CALLERS).map(|i| scope.spawn(move || call(i))).collect();
            callers.into_iter().map(|caller| caller.join()).collect()
        });
        let calls = joined.lock();
        assert!(calls.running.is_empty() && calls.waiting.is_empty());
        (answers, computed.into_inner())
    }

    fn fours(caller: usize) -> Integers {
        numbers(caller).iter().map(|_| 4_u32).collect()
    }

    fn is_quarter(caller: usize, answer: &thread::Result<Result<Integers, Error>>) {
        let Ok(Ok(answer)) = answer else {
            panic!("{caller}: {answer:?}");
        };
        let expected = (0..5 + caller as u64).map(|row| (1000 * caller as u64 + row) / 4);
        assert_eq!(*answer, expected.collect::<Integers>());
    }

    #[test]
    fn calls_that_wait_are_computed_at_once() {
        for divisors in [fours, |_| [4_u32].into_iter().collect()] {
            let (answers, computed) = at_once(divisors, divided);
            (0..CALLERS).for_each(|caller| is_quarter(caller, &answers[caller]));
            assert_eq!(computed, 2);
        }
    }

    #[test]
    fn an_error_names_the_row_of_its_own_caller_alone() {
        let divisors = |caller: usize| match caller {
            3 => [4_u32, 4, 0, 4, 4, 0, 4, 4].into_iter().collect(),
            _ => fours(caller),
        };
        let (answers, _) = at_once(divisors, divided);
        for (caller, answer) in answers.iter().enumerate() {
            match caller {
                3 => assert!(matches!(answer, Ok(Err(Error::ZeroDivisor { index: 2 })))),
                _ => is_quarter(caller, answer),
            }
        }
    }

    #[test]
    fn a_panic_is_its_own_callers_alone() {
        let bad: Integers = [3000_u32].into_iter().collect();
        let (answers, _) = at_once(fours, |operands| {
            let mut rows = 0..operands[0].len();
            let has_bad = rows.any(|row| operands[0].magnitude(row) == bad.magnitude(0));
            assert!(!has_bad, "as wanted");
            divided(operands)
        });
        for (caller, answer) in answers.iter().enumerate() {
            match caller {
                3 => assert!(answer.is_err()),
                _ => is_quarter(caller, answer),
            }
        }
    }

    #[test]
    fn others_do_not_wait() {
        let joined = Joined::new(&Engine::cpu());
        let two: Integers = [2_u32].into_iter().collect();
        let within = |of: Function, operands: &[Integers]| {
            joined.joined(DIV, &[numbers(1), two.clone()], |first| {
                joined.joined(of, operands, divided)?;
                divided(first)
            })
        };
        let three: Integers = [3_u32].into_iter().collect();
        for (function, operands) in [
            (
                Function::Operation(Operation::Mul),
                [numbers(2), two.clone()],
            ),
            (DIV, [numbers(2), three]),
            (DIV, [numbers(2), fours(2)]),
            (DIV, [two.clone(), two.clone()]),
        ] {
            assert_eq!(within(function, &operands).unwrap().len(), 6);
        }
    }

    #[test]
    fn no_more_are_joined_than_memory_should_hold() {
        let call = |caller| {
            Arc::new(Call {
                function: DIV,
                operands: vec![numbers(caller), fours(caller)],
                made: OnceLock::new(),
            })
        };
        let all: Vec<_> = (1..5).map(call).collect();
        let mut calls = Calls {
            waiting: all.clone(),
            ..Calls::default()
        };
        let most = all[..3].iter().map(|call| call.limbs()).sum();
        let taken = calls.take_like(&all[1], most);
        for (taken, expected) in taken.iter().zip([1, 0, 2]) {
            assert!(Arc::ptr_eq(taken, &all[expected]));
        }
        assert!(taken.len() == 3 && calls.waiting.len() == 1);
    }
}
