//! PrimeNet's files: `worktodo.txt` and `results.json.txt`.
//!
//! The program that carries both to the server and back, such as AutoPrimeNet, takes the same
//! [locks](crate::Lock) (`worktodo.txt.lck`).

mod progress;
mod results;
mod worktodo;

pub use progress::{progress_folder, show_progress};
pub use results::{Reporter, ResultLine, append_result, is_reported, verdict};
pub use worktodo::{
    Asked, Assignment, BadLine, TOO_LONG, add_lines, finish_take, remove_line, take_line,
};
