//! Choices that a user may force, which otherwise follow from the tuned thresholds.

use bigint_core::{Algorithm, Level, Operation};

/// A choice of algorithm and level; by default thresholds choose.
///
/// ```
/// use bigint_host::{Algorithm, Engine};
/// let engine = Engine::cpu().using(Algorithm::Comba);
/// let a = engine.batch_from_biguints(&[7u32.into()])?;
/// assert_eq!(engine.mul(&a, &a)?.to_biguints()?, [49u32.into()]);
/// # Ok::<(), bigint_host::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The algorithm. It binds the operations that have it; to the others (an
    /// addition beside [`Algorithm::Comba`], say) it leaves the choice.
    pub algorithm: Algorithm,
    /// Who works on one number, on a GPU: binds operations that have kernels at that level; the
    /// whole device multiplies and squares what [transforms] hold.
    ///
    /// [transforms]: bigint_core::transform::grid
    ///
    /// The CPU back end has no such choice.
    pub level: Option<Level>,
    /// Threads that share one number: 4, 8, 16 or 32 lanes at warp level, of square roots and powers
    /// modulo numbers 2 as well, 16 to 1024 at block level, a sixteenth of the digits that it takes. Binds operations whose
    /// kernels come in so many; sums and differences at warp level take whole warps.
    pub lanes: Option<u32>,
}

impl From<Algorithm> for Options {
    fn from(algorithm: Algorithm) -> Self {
        Options {
            algorithm,
            ..Options::default()
        }
    }
}

impl Options {
    /// The algorithm these options name for `operation`, or `Auto`. Where the time of powers may depend on exponents, it
    /// is [`Algorithm::WindowVartime`], in whose place a device may take [`Algorithm::RnsVartime`].
    pub(crate) fn algorithm_for(self, operation: Operation) -> Algorithm {
        match self.algorithm {
            named if operation.has(named) => named,
            Algorithm::AutoVartime if operation.has(Algorithm::WindowVartime) => {
                Algorithm::WindowVartime
            }
            _ => Algorithm::Auto,
        }
    }
}
