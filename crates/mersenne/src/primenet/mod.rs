//! PrimeNet's files: `worktodo.txt` and `results.json.txt`.
//!
//! Both are shared with the program that carries them to the server and back, by
//! [locks](crate::Lock) as AutoPrimeNet makes them (`worktodo.txt.lck`).

mod results;
mod worktodo;

pub use results::{Reporter, ResultLine, is_reported};
pub use worktodo::{Asked, Assignment, BadLine, TOO_LONG, remove_line};
