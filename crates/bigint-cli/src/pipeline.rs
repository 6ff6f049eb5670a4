//! The stages of `calc`.
//!
//! Five stages, each on a thread of its own where those can be had, hand on one piece of
//! work at a time: read, parse, compute, format, write. While one chunk is computed the
//! next is parsed and the one after is read. Parsing, computing on the CPU and
//! formatting use all cores besides. No stage holds more than one piece, and a
//! piece is bounded, so memory is too.
//!
//! A source that pauses holds nothing back: lines that have come by then are computed and written,
//! so that the command answers line by line behind a pipe.
//!
//! Errors travel with the pieces, in order: the first wrong line is the one
//! that is reported, whichever stage met it.

use std::sync::Arc;
use std::sync::atomic::{self, AtomicU64};
use std::time::Instant;
use std::{iter, thread};

use bigint_host::Engine;

use crate::computation::Computation;
use crate::failure::Failure;
use crate::number::Format;
use crate::on_error::OnError;
use crate::operands::Operands;
use crate::pool::Pool;
use crate::profile::{Profile, Stage};
use crate::progress::Progress;
use crate::rows::{Reader, Rows, next_rows};
use crate::sink::{self, Sink};
use crate::source::Stop;
use crate::threads::{Pieces, ahead};
use crate::window::{self, Results, Wanted, Window};

/// What all stages share.
#[derive(Clone, Copy)]
pub struct Pipeline<'a> {
    /// The formulas and their inputs.
    pub operands: &'a Operands,
    /// The base of the results.
    pub format: Format,
    /// The most limbs of a window.
    pub window_limbs: usize,
    /// What becomes of rows without a value.
    pub on_error: OnError,
    /// The times of the stages.
    pub profile: &'a Profile,
    /// The engine that computes.
    pub engine: &'a Engine,
    /// The size of all files in bytes, where it is known.
    pub total_bytes: u64,
}

type Piece<T> = Result<T, Failure>;

impl Pipeline<'_> {
    /// Runs all stages to their end, writing on this thread. `read` counts the bytes that readers
    /// read.
    ///
    /// # Errors
    /// The first [`Failure`] of any stage.
    pub fn run(
        self,
        readers: Vec<Box<dyn Reader>>,
        read: Arc<AtomicU64>,
        computation: &mut Computation<'_>,
        sink: Sink,
    ) -> Result<(), Failure> {
        let shape = sink.shape();
        let paths = computation.paths.clone();
        let stops: Vec<_> = readers.iter().filter_map(|reader| reader.stop()).collect();
        thread::scope(|scope| {
            let chunks = ahead(scope, self.read(readers, read));
            let windows = ahead(scope, self.parse(&paths, chunks));
            let results = ahead(scope, self.compute(computation, windows));
            let pieces = ahead(scope, self.format(results, &shape));
            let outcome = self.write(pieces, sink);
            // Whoever writes into a pipe may wait for our answer, and not end it.
            stops.iter().for_each(Stop::end);
            outcome
        })
    }

    fn read(
        self,
        mut readers: Vec<Box<dyn Reader>>,
        read: Arc<AtomicU64>,
    ) -> impl Iterator<Item = Piece<Vec<Rows>>> {
        // Without files there is a single line without text: see `parse`.
        let mut no_chunks = readers.is_empty().then(|| Ok(Vec::new()));
        let mut progress = Progress::new(self.total_bytes);
        iter::from_fn(move || {
            if readers.is_empty() {
                return no_chunks.take();
            }
            let next = || next_rows(&mut readers);
            let chunks = self.profile.time(Stage::Read, next);
            let read = read.load(atomic::Ordering::Relaxed);
            progress.set(read);
            self.profile.set_bytes(Stage::Read, read);
            let in_order = |chunks| self.operands.in_order(chunks);
            chunks.map(|chunks| chunks.map(in_order)).transpose()
        })
    }

    fn parse(
        self,
        paths: &[String],
        mut chunks: Pieces<'_, Vec<Rows>>,
    ) -> impl Iterator<Item = Piece<Window>> {
        let pool = Pool::default();
        let (mut windows, mut bytes, mut largest) = (None, 0, Largest::default());
        iter::from_fn(move || {
            loop {
                let next = || windows.as_mut().and_then(Iterator::next);
                let window = self.profile.time(Stage::Parse, || pool.run(bytes, next));
                if window.is_some() {
                    return window;
                }
                windows = match chunks.next()? {
                    Ok(chunks) if chunks.is_empty() => return Some(Ok(Window::constant())),
                    Ok(chunks) => {
                        bytes = chunks.iter().map(Rows::bytes).sum();
                        self.engine
                            .expect(largest.fit_into(self.total_bytes, bytes));
                        let wanted = Wanted {
                            formulas: &self.operands.formulas,
                            paths,
                            format: self.format,
                            limbs: self.window_limbs,
                            on_error: self.on_error,
                            engine: self.engine,
                        };
                        let read = || window::read(chunks, wanted);
                        Some(self.profile.time(Stage::Parse, || pool.run(bytes, read)))
                    }
                    Err(failure) => return Some(Err(failure)),
                };
            }
        })
    }

    fn compute(
        self,
        computation: &mut Computation<'_>,
        windows: Pieces<'_, Window>,
    ) -> impl Iterator<Item = Piece<Vec<(usize, Results)>>> {
        // A total is computed when there are no more windows.
        let windows = windows.map(Some).chain(iter::once(None));
        windows.flat_map(move |window| {
            let computed = self.profile.time(Stage::Compute, || match window {
                Some(window) => window.and_then(|window| computation.window(window)),
                None => computation.totals(),
            });
            let (results, failure) = match computed {
                Ok(computed) => (Some(computed.results), computed.failure),
                Err(failure) => (None, Some(failure)),
            };
            let pieces = [results.map(Ok), failure.map(Err)];
            pieces.into_iter().flatten()
        })
    }

    fn format(
        self,
        results: Pieces<'_, Vec<(usize, Results)>>,
        shape: &sink::Shape,
    ) -> impl Iterator<Item = Piece<sink::Piece>> {
        let pool = Pool::default();
        results.map(move |results| {
            let text = |results: &Results| {
                let bytes = results.text_bytes(self.format);
                pool.run(bytes, || results.write(self.format, self.engine))
            };
            let results = results?;
            self.profile
                .time(Stage::Format, || shape.piece(results, text))
        })
    }

    fn write(self, pieces: Pieces<'_, sink::Piece>, mut sink: Sink) -> Result<(), Failure> {
        for piece in pieces {
            let piece = piece?;
            let started = Instant::now();
            let bytes = sink.write(piece)?;
            self.profile.add_bytes(Stage::Write, bytes);
            self.profile.add(Stage::Write, started.elapsed());
        }
        self.profile.time(Stage::Write, || sink.finish())
    }
}

/// The largest chunk that has been read, by which the engine is told how many there are.
#[derive(Default)]
struct Largest {
    bytes: usize,
}

impl Largest {
    /// How many chunks as large as the largest fit into `total` bytes, after one of `bytes`. The last
    /// chunk of a file may be short, and is read before the first is computed: it would make the
    /// whole file look like much more work than it is.
    fn fit_into(&mut self, total: u64, bytes: usize) -> f64 {
        self.bytes = self.bytes.max(bytes).max(1);
        total as f64 / self.bytes as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_last_chunk_does_not_make_a_file_look_longer() {
        let mut largest = Largest::default();
        let fit = [1_000_000, 1_000_000, 100].map(|bytes| largest.fit_into(2_000_100, bytes));
        assert_eq!(fit, [2.0001; 3]);
        // A file whose first chunk is short, and one of no bytes.
        let mut largest = Largest::default();
        assert_eq!(
            [10, 100].map(|bytes| largest.fit_into(110, bytes)),
            [11.0, 1.1]
        );
        assert_eq!(Largest::default().fit_into(0, 0), 0.0);
    }
}
