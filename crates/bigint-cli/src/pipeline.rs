//! The stages of `calc`.
//!
//! Five stages, each on a thread of its own where those can be had, hand on one piece of
//! work at a time: read, parse, compute, format, write. While one chunk is computed the
//! next is parsed and the one after is read. Parsing, computing on the CPU and
//! formatting use all cores besides. No stage holds more than one piece, and a
//! piece is bounded, so memory is too.
//!
//! A source that pauses holds nothing back: what has come by then is computed and
//! written, so that the command answers line by line behind a pipe.
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
use crate::lines::{self, Chunk, LineReader};
use crate::number::Format;
use crate::on_error::OnError;
use crate::operands::Operands;
use crate::output::Output;
use crate::pool::Pool;
use crate::profile::{Profile, Stage};
use crate::progress::Progress;
use crate::source::Stop;
use crate::threads::{Pieces, ahead};
use crate::window::{self, Results, Wanted, Window};

/// What the stages share.
#[derive(Clone, Copy)]
pub struct Pipeline<'a> {
    /// What is computed, and of what.
    pub operands: &'a Operands,
    /// The base of the results.
    pub format: Format,
    /// Limbs of a window, at most.
    pub window_limbs: usize,
    /// What becomes of rows without a value.
    pub on_error: OnError,
    /// Where the time goes.
    pub profile: &'a Profile,
    /// Who computes.
    pub engine: &'a Engine,
    /// Bytes of the files, where they are known.
    pub total_bytes: u64,
}

type Piece<T> = Result<T, Failure>;

/// Text of results, with the number of the formula.
type Texts = Vec<(usize, Vec<Vec<u8>>)>;

impl Pipeline<'_> {
    /// Runs all stages to their end; this thread writes. `read` counts the readers' bytes.
    ///
    /// # Errors
    /// The first [`Failure`] of any stage.
    pub fn run(
        self,
        readers: Vec<LineReader>,
        read: Arc<AtomicU64>,
        computation: &mut Computation<'_>,
        outputs: Vec<Output>,
    ) -> Result<(), Failure> {
        let paths = computation.paths.clone();
        let stops: Vec<_> = readers.iter().filter_map(LineReader::stop).collect();
        thread::scope(|scope| {
            let chunks = ahead(scope, self.read(readers, read));
            let windows = ahead(scope, self.parse(&paths, chunks));
            let results = ahead(scope, self.compute(computation, windows));
            let text = ahead(scope, self.format(results));
            let outcome = self.write(text, outputs);
            // Whoever writes into a pipe may wait for our answer, and not end it.
            stops.iter().for_each(Stop::end);
            outcome
        })
    }

    fn read(
        self,
        mut readers: Vec<LineReader>,
        read: Arc<AtomicU64>,
    ) -> impl Iterator<Item = Piece<Vec<Chunk>>> {
        // Without files there is a single line without text: see `parse`.
        let mut no_chunks = readers.is_empty().then(|| Ok(Vec::new()));
        let mut progress = Progress::new(self.total_bytes);
        iter::from_fn(move || {
            if readers.is_empty() {
                return no_chunks.take();
            }
            let next = || lines::next_chunks(&mut readers);
            let chunks = self.profile.time(Stage::Read, next);
            let read = read.load(atomic::Ordering::Relaxed);
            progress.set(read);
            self.profile.set_bytes(Stage::Read, read);
            chunks.transpose()
        })
    }

    fn parse(
        self,
        paths: &[String],
        mut chunks: Pieces<'_, Vec<Chunk>>,
    ) -> impl Iterator<Item = Piece<Window>> {
        let pool = Pool::default();
        let (mut windows, mut bytes) = (None, 0);
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
                        bytes = chunks.iter().map(|chunk| chunk.text.len()).sum();
                        self.engine
                            .expect(self.total_bytes as f64 / bytes.max(1) as f64);
                        let wanted = Wanted {
                            formulas: &self.operands.formulas,
                            paths,
                            format: self.format,
                            limbs: self.window_limbs,
                            on_error: self.on_error,
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
    ) -> impl Iterator<Item = Piece<Texts>> {
        let pool = Pool::default();
        results.map(move |results| {
            let texts = results?.into_iter().map(|(formula, results)| {
                let text = self.profile.time(Stage::Format, || {
                    let bytes = results.text_bytes(self.format);
                    pool.run(bytes, || results.write(self.format))
                });
                Ok((formula, text?))
            });
            texts.collect()
        })
    }

    fn write(self, texts: Pieces<'_, Texts>, mut outputs: Vec<Output>) -> Result<(), Failure> {
        for texts in texts {
            for (formula, pieces) in texts? {
                let started = Instant::now();
                for piece in pieces {
                    outputs[formula].write(&piece)?;
                    self.profile.add_bytes(Stage::Write, piece.len() as u64);
                }
                self.profile.add(Stage::Write, started.elapsed());
            }
        }
        let mut outputs = outputs.into_iter();
        let finish = || outputs.try_for_each(Output::finish);
        self.profile.time(Stage::Write, finish)
    }
}
