//! Files with one integer per line, read in chunks of bounded size.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use memchr::memchr;

use crate::failure::{Failure, SourcePlace};
use crate::number::{MAX_TEXT, Number};
use crate::rows::{Reader, Rows};
use crate::source::{Input, Stop};

/// The most numbers in a chunk, however short they are.
const MAX_LINES: usize = 1 << 20;

/// The least number of bytes of the buffer for each number that is remembered: remembering a short
/// number takes more room than its text.
const BYTES_PER_NUMBER: usize = 16;

/// Consecutive lines of one file, or records of one column of it.
#[derive(Debug)]
pub struct Chunk {
    /// The lines, blank ones and comments included.
    pub text: Arc<Vec<u8>>,
    /// The places of the numbers in `text`, without the white space around them. In a table a place
    /// may be empty: null.
    pub numbers: Vec<Range<u32>>,
    /// The indices, in order, of numbers that are known to be invalid, whatever their digits.
    pub refused: Vec<usize>,
    first_line: u64,
}

impl Chunk {
    /// A column of a table whose records are in `text`, beginning at this line.
    pub fn of_table(
        text: Arc<Vec<u8>>,
        numbers: Vec<Range<u32>>,
        refused: Vec<usize>,
        first_line: u64,
    ) -> Self {
        Chunk {
            text,
            numbers,
            refused,
            first_line,
        }
    }

    /// The chunk of some of the numbers.
    pub fn slice(&self, range: Range<usize>) -> Self {
        let refused = self.refused.iter().filter(|index| range.contains(index));
        Chunk {
            text: Arc::clone(&self.text),
            refused: refused.map(|index| index - range.start).collect(),
            numbers: self.numbers[range].to_vec(),
            first_line: self.first_line,
        }
    }

    /// The text of number `index`, or `0` where it is null.
    pub fn number_or_zero(&self, index: usize) -> &[u8] {
        match self.number(index) {
            b"" => b"0",
            text => text,
        }
    }

    /// The indices of the numbers that are null.
    pub fn nulls(&self) -> Vec<usize> {
        let numbers = self.numbers.iter().enumerate();
        let nulls = numbers.filter(|(_, number)| number.is_empty());
        nulls.map(|(index, _)| index).collect()
    }

    /// The text of number `index` of this chunk.
    pub fn number(&self, index: usize) -> &[u8] {
        let Range { start, end } = self.numbers[index];
        &self.text[start as usize..end as usize]
    }

    /// The line, and the column at which its number starts, both from 1.
    pub fn position(&self, index: usize) -> (u64, u64) {
        let before = &self.text[..self.numbers[index].start as usize];
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |feed| feed + 1);
        (
            self.first_line + line_feeds(before),
            (before.len() - line_start) as u64 + 1,
        )
    }
}

fn line_feeds(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

/// A number in the buffer.
struct Found {
    number: Range<usize>,
    /// Where in the buffer the next line starts, and its number.
    next: usize,
    next_line: u64,
}

/// Reads numbers from one file.
pub struct LineReader {
    path: String,
    input: Input,
    /// How many bytes `buffer` should hold; more while a line is longer.
    capacity: usize,
    buffer: Vec<u8>,
    /// How many bytes of `buffer` earlier chunks took.
    taken: usize,
    /// Where in `buffer` the line starts that is not yet complete or not yet parsed.
    pending: usize,
    /// Where in `buffer` the search for the end of that line continues.
    searched: usize,
    /// The numbers not yet taken.
    numbers: VecDeque<Found>,
    /// The number of the line that starts at `pending`.
    pending_line: u64,
    /// The number of the line that `buffer[taken]` belongs to.
    line: u64,
    /// Where in `buffer` the line at `pending` was cut because a comment began.
    comment: Option<usize>,
    ended: bool,
    /// Why reading ended early; reported when all numbers before it are taken.
    failed: Option<Failure>,
    /// Whether a line that cannot be a number is passed on nonetheless, cut short.
    goes_on: bool,
    total: u64,
}

impl LineReader {
    /// Reads `input`, which errors call `path`; about `capacity` bytes are kept in memory.
    pub fn new(path: String, input: Input, capacity: usize) -> Self {
        LineReader {
            path,
            input,
            capacity,
            buffer: Vec::new(),
            taken: 0,
            pending: 0,
            searched: 0,
            numbers: VecDeque::new(),
            pending_line: 1,
            line: 1,
            comment: None,
            ended: false,
            failed: None,
            goes_on: false,
            total: 0,
        }
    }

    /// Passes on lines that cannot be numbers, too; long ones are cut short.
    pub fn go_on(&mut self) {
        self.goes_on = true;
    }

    /// The name by which errors call this file.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether reading may have to wait for somebody.
    pub fn pauses(&self) -> bool {
        self.input.pauses()
    }

    /// Changes how many bytes are kept in memory.
    pub fn set_capacity(&mut self, capacity: usize) {
        self.capacity = capacity;
    }

    /// Takes the only number of a file that has no other, if `is_taken` agrees to its text.
    ///
    /// # Errors
    /// As reading.
    pub fn take_single(
        &mut self,
        is_taken: impl Fn(&[u8]) -> bool,
    ) -> Result<Option<Chunk>, Failure> {
        self.fill(1)?;
        if self.numbers.len() == 1 {
            self.fill(2)?;
        }
        if let Some(failure) = self.failed.take() {
            return Err(failure);
        }
        match self.numbers.front() {
            Some(only)
                if self.numbers.len() == 1 && is_taken(&self.buffer[only.number.clone()]) =>
            {
                self.take(1).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Where the file ends, if it ends before its first number.
    ///
    /// # Errors
    /// As reading.
    pub fn end_of_nothing(&mut self) -> Result<Option<SourcePlace>, Failure> {
        self.fill(1)?;
        Ok(self.numbers.is_empty().then(|| self.end()))
    }

    /// Reads until `wanted` numbers are at hand, or the file has ended. Reads ahead, without
    /// waiting, while less than half the capacity is in use.
    fn fill(&mut self, wanted: usize) -> Result<(), Failure> {
        match self.failed {
            None => self.failed = self.read_ahead(wanted).err(),
            Some(_) => self.find_numbers(),
        }
        match self.numbers.is_empty() {
            true => self.failed.take().map_or(Ok(()), Err),
            false => Ok(()),
        }
    }

    fn read_ahead(&mut self, wanted: usize) -> Result<(), Failure> {
        self.find_numbers();
        while !self.ended
            && self.numbers.len() < self.most_numbers()
            && (self.numbers.len() < wanted || self.buffer.len() - self.taken < self.capacity / 2)
        {
            self.compact();
            if self.buffer.len() >= self.capacity {
                self.make_room()?;
            }
            if !self.read_more(self.numbers.len() < wanted)? {
                break;
            }
            self.find_numbers();
        }
        Ok(())
    }

    /// How many numbers are searched for before some are taken.
    fn most_numbers(&self) -> usize {
        // Two tell whether there is one alone.
        (self.capacity / BYTES_PER_NUMBER).clamp(2, MAX_LINES)
    }

    /// Drops the bytes that earlier chunks took.
    fn compact(&mut self) {
        let taken = std::mem::take(&mut self.taken);
        if taken > 0 {
            self.buffer.drain(..taken);
            self.pending -= taken;
            self.searched -= taken;
            self.comment = self.comment.map(|comment| comment - taken);
            for found in &mut self.numbers {
                found.number.start -= taken;
                found.number.end -= taken;
                found.next -= taken;
            }
        }
    }

    /// Makes room for a longer line, or gives up one that cannot be a number; called when the
    /// buffer is full and holds no complete line.
    fn make_room(&mut self) -> Result<(), Failure> {
        let hash = memchr(b'#', &self.buffer[self.pending..]).map(|hash| self.pending + hash);
        if let Some(comment) = self.comment.or(hash) {
            self.comment = Some(comment);
            self.buffer.truncate(comment);
            self.searched = comment;
        }
        let line = &self.buffer[self.pending..];
        if line.len() < self.capacity / 2 {
            self.capacity = self.capacity.max(self.buffer.len() + self.capacity / 2);
            return Ok(());
        }
        let number = line.trim_ascii();
        let blank = line.len() - line.trim_ascii_start().len();
        let wrong = match Number::scan(number).and_then(|number| number.check()) {
            // A sign or a prefix alone may still get its digits, and so may `_`.
            Err(error) if number.len() > 3 && error.offset + 1 < number.len() => {
                Some((blank + error.offset, error.to_string()))
            }
            _ if line.len() > MAX_TEXT => {
                Some((MAX_TEXT, format!("a line of more than {MAX_TEXT} bytes")))
            }
            _ => None,
        };
        match wrong {
            Some(_) if self.goes_on => {
                // The rest of it makes no difference.
                self.comment = Some(self.buffer.len());
            }
            Some((offset, what)) => {
                let place = SourcePlace {
                    source: self.path.clone(),
                    line: self.pending_line,
                    column: offset as u64 + 1,
                };
                return Err(Failure::Input(place, what));
            }
            None => {}
        }
        self.capacity = self.capacity.max(2 * self.buffer.len());
        Ok(())
    }

    /// Reads more; answers whether there was something, or the end.
    fn read_more(&mut self, waits: bool) -> Result<bool, Failure> {
        let wanted = self.capacity - self.buffer.len();
        bigint_cpu::reserve(&mut self.buffer, wanted)?;
        match self.input.read(&mut self.buffer, wanted, waits) {
            Ok(bytes) => {
                self.ended = bytes == Some(0);
                Ok(bytes.is_some())
            }
            Err(error) => Err(cannot_read(&self.path, &error)),
        }
    }

    /// Finds the numbers in the lines that are complete.
    fn find_numbers(&mut self) {
        // Most files have no comment: one look at all of what is new finds none.
        let next_hash = |buffer: &[u8], from: usize| {
            memchr(b'#', &buffer[from..]).map_or(buffer.len(), |hash| from + hash)
        };
        let mut hash = next_hash(&self.buffer, self.pending);
        while self.numbers.len() < self.most_numbers() && self.pending < self.buffer.len() {
            let (end, next) = match memchr(b'\n', &self.buffer[self.searched..]) {
                Some(feed) => {
                    self.pending_line += 1;
                    (self.searched + feed, self.searched + feed + 1)
                }
                None if self.ended => (self.buffer.len(), self.buffer.len()),
                None => {
                    self.searched = self.buffer.len();
                    return;
                }
            };
            let mut number_end = self.comment.take().unwrap_or(end);
            if hash < end {
                number_end = number_end.min(hash);
                hash = next_hash(&self.buffer, end);
            }
            let line = &self.buffer[self.pending..number_end];
            let start = self.pending + (line.len() - line.trim_ascii_start().len());
            let number = line.trim_ascii();
            if !number.is_empty() {
                self.numbers.push_back(Found {
                    number: start..start + number.len(),
                    next,
                    next_line: self.pending_line,
                });
            } else if self.numbers.is_empty() {
                // Nothing before the next line is wanted any more.
                (self.taken, self.line) = (next, self.pending_line);
            }
            (self.pending, self.searched) = (next, next);
        }
    }

    /// Takes the first `count` numbers.
    fn take(&mut self, count: usize) -> Result<Chunk, Failure> {
        let (start, first_line) = (self.taken, self.line);
        let (mut text, mut numbers) = (Vec::new(), Vec::new());
        let (end, line) = match count.checked_sub(1).map(|last| &self.numbers[last]) {
            Some(found) => (found.next, found.next_line),
            None => (start, first_line),
        };
        bigint_cpu::reserve(&mut text, end - start)?;
        bigint_cpu::reserve(&mut numbers, count)?;
        (self.taken, self.line) = (end, line);
        text.extend_from_slice(&self.buffer[start..end]);
        let offset = |position: usize| u32::try_from(position - start).unwrap_or(u32::MAX);
        let taken = self.numbers.drain(..count).map(|found| found.number);
        numbers.extend(taken.map(|n| offset(n.start)..offset(n.end)));
        self.total += count as u64;
        Ok(Chunk {
            text: Arc::new(text),
            numbers,
            refused: Vec::new(),
            first_line,
        })
    }
}

impl Reader for LineReader {
    fn paths(&self) -> Vec<String> {
        vec![self.path.clone()]
    }

    fn fill(&mut self) -> Result<(), Failure> {
        LineReader::fill(self, 1)
    }

    fn at_hand(&self) -> usize {
        self.numbers.len()
    }

    fn take(&mut self, count: usize) -> Result<Vec<Rows>, Failure> {
        Ok(vec![Rows::Text(LineReader::take(self, count)?)])
    }

    fn taken(&self) -> u64 {
        self.total
    }

    fn stop(&self) -> Option<Stop> {
        self.input.stop()
    }

    fn end(&self) -> SourcePlace {
        let text = &self.buffer[..self.taken];
        let last = memchr::memrchr(b'\n', text).map_or(text, |feed| &text[feed + 1..]);
        SourcePlace {
            source: self.path.clone(),
            line: self.line,
            column: last.len() as u64 + 1,
        }
    }
}

/// The error for a file that cannot be read.
pub fn cannot_read(path: &str, error: &std::io::Error) -> Failure {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::IsADirectory
        | ErrorKind::InvalidInput
        | ErrorKind::InvalidData
        | ErrorKind::UnexpectedEof => {
            let source = path.to_owned();
            let place = SourcePlace {
                source,
                line: 1,
                column: 1,
            };
            Failure::Input(place, format!("cannot read: {error}"))
        }
        _ => Failure::Running(format!("{path}: cannot read: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::rows::next_rows;

    /// The next chunk of each file.
    fn next_chunks(readers: &mut [Box<dyn Reader>]) -> Result<Option<Vec<Chunk>>, Failure> {
        let chunk = |rows| match rows {
            Rows::Text(chunk) => chunk,
            Rows::Numbers(_) => panic!("lines are text"),
        };
        let rows = next_rows(readers)?;
        Ok(rows.map(|rows| rows.into_iter().map(chunk).collect()))
    }

    /// A reader that hands out a few bytes at a time, as a pipe may.
    struct Trickle(Vec<u8>, usize);

    impl Read for Trickle {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0.drain(..count);
            Ok(count)
        }
    }

    fn reader(text: &str, step: usize, capacity: usize) -> LineReader {
        let input = Trickle(text.as_bytes().to_vec(), step);
        LineReader::new("file".into(), Input::file(input, Arc::default()), capacity)
    }

    /// Line, column and text of each number, and how many chunks there were.
    fn numbers(reader: LineReader) -> (Vec<(u64, u64, String)>, usize) {
        let mut readers: [Box<dyn Reader>; 1] = [Box::new(reader)];
        let (mut found, mut chunks) = (Vec::new(), 0);
        while let Some(chunk) = next_chunks(&mut readers).unwrap() {
            chunks += 1;
            for index in 0..chunk[0].numbers.len() {
                let (line, column) = chunk[0].position(index);
                let text = String::from_utf8(chunk[0].number(index).to_vec()).unwrap();
                found.push((line, column, text));
            }
        }
        (found, chunks)
    }

    const TEXT: &str =
        "1\n\n# two\n  22 # and\r\n\t# three\n333\n-4444444444444444444444444\n   \n5";

    #[test]
    fn numbers_stand_where_they_stand_whatever_the_buffers_are() {
        let expected: Vec<(u64, u64, String)> = [
            (1, 1, "1"),
            (4, 3, "22"),
            (6, 1, "333"),
            (7, 1, "-4444444444444444444444444"),
            (9, 1, "5"),
        ]
        .map(|(line, column, text)| (line, column, text.to_owned()))
        .to_vec();
        for step in [1, 2, 3, 7, 1000] {
            for capacity in [1, 2, 3, 5, 8, 13, 30, 1000] {
                let (found, chunks) = numbers(reader(TEXT, step, capacity));
                assert_eq!(found, expected, "step {step}, capacity {capacity}");
                assert!(chunks > 1 || capacity > 8);
            }
        }
    }

    #[test]
    fn a_long_number_with_underscores_is_read_whatever_the_buffer_ends_with() {
        let text = "1_".repeat(50) + "2";
        for capacity in 1..40 {
            let (found, _) = numbers(reader(&text, 1, capacity));
            assert_eq!(found, [(1, 1, text.clone())], "capacity {capacity}");
        }
    }

    #[test]
    fn a_line_that_is_no_number_is_cut_short_where_reading_goes_on() {
        let text = format!("7\n12x{}\n8\n", "0".repeat(1000));
        for capacity in [4, 16, 64] {
            let mut reader = reader(&text, 1000, capacity);
            reader.go_on();
            let (found, _) = numbers(reader);
            assert_eq!(
                (&found[0], &found[2]),
                (&(1, 1, "7".to_owned()), &(3, 1, "8".to_owned()))
            );
            let (line, column, cut) = &found[1];
            assert_eq!((*line, *column), (2, 1));
            assert!(cut.starts_with("12x") && cut.len() < 200, "{}", cut.len());
        }
    }

    #[test]
    fn numbers_before_a_line_that_is_none_are_handed_on_first() {
        let text = format!("7\n8\n{}", "z".repeat(1000));
        for step in [1, 10, 1000] {
            let mut readers: [Box<dyn Reader>; 1] = [Box::new(reader(&text, step, 16))];
            let (mut found, mut next) = (0, next_chunks(&mut readers));
            while let Ok(Some(chunks)) = &next {
                found += chunks[0].numbers.len();
                next = next_chunks(&mut readers);
            }
            assert_eq!(found, 2, "step {step}");
            assert!(matches!(next, Err(Failure::Input(place, _)) if place.line == 3));
        }
    }

    #[test]
    fn a_comment_longer_than_the_buffer_is_skipped_and_counted() {
        let text = format!("# {}\n7\n #{}\n8\n#", "x".repeat(100), "y1".repeat(100));
        for capacity in [4, 16, 64, 1000] {
            let (found, _) = numbers(reader(&text, 1000, capacity));
            let expected = [(2, 1, "7".to_owned()), (4, 1, "8".to_owned())];
            assert_eq!(found, expected, "capacity {capacity}");
        }
        let text = format!("7# {}\n8 #{}\n", "#".repeat(100), " 9".repeat(100));
        for (step, capacity) in [(1000, 4), (3, 16), (7, 64), (1000, 1000)] {
            let (found, _) = numbers(reader(&text, step, capacity));
            let expected = [(1, 1, "7".to_owned()), (2, 1, "8".to_owned())];
            assert_eq!(found, expected, "capacity {capacity}");
        }
    }

    #[test]
    fn files_advance_in_step_and_the_shorter_is_named() {
        let a = reader("1\n2\n3\n4\n5\n", 100, 4);
        let b = reader("100000000\n200000000\n300000000\n\n# end\n", 100, 4);
        let mut readers: [Box<dyn Reader>; 2] = [Box::new(a), Box::new(b)];
        let mut total = 0;
        let failure = loop {
            match next_chunks(&mut readers) {
                Ok(Some(chunks)) => {
                    assert_eq!(chunks[0].numbers.len(), chunks[1].numbers.len());
                    total += chunks[0].numbers.len();
                }
                Ok(None) => panic!("the end was not noticed"),
                Err(failure) => break failure,
            }
        };
        assert_eq!(total, 3);
        match failure {
            Failure::Input(place, _) => assert_eq!((place.line, place.column), (6, 1)),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn junk_without_line_feeds_is_refused_before_it_fills_the_memory() {
        let zeros = Input::file(std::io::repeat(0), Arc::default());
        let mut endless = LineReader::new("zero".into(), zeros, 100);
        match endless.take_single(|_| true) {
            Err(Failure::Input(place, what)) => {
                assert_eq!((place.line, place.column), (1, 1));
                assert!(what.contains("0x00"), "{what}");
            }
            other => panic!("{other:?}"),
        }
        assert!(endless.buffer.capacity() <= 200);
    }

    #[test]
    fn lines_without_numbers_take_no_memory() {
        let text = format!("{}7\n", "# nothing\n\n".repeat(1000));
        let mut reader = reader(&text, 100, 32);
        let chunk = reader.take_single(|_| true).unwrap().unwrap();
        assert_eq!(chunk.position(0), (2001, 1));
        assert!(reader.buffer.capacity() <= 64);
    }

    #[test]
    fn a_file_with_one_number_is_single() {
        for text in ["5", "5\n", "# x\n\n5\n# y\n\n"] {
            for capacity in [1, 4, 100] {
                let single = reader(text, 100, capacity).take_single(|_| true).unwrap();
                assert_eq!(single.expect("single").number(0), b"5");
            }
        }
        for text in ["", "# 5", "5\n6"] {
            assert!(
                reader(text, 100, 4)
                    .take_single(|_| true)
                    .unwrap()
                    .is_none()
            );
        }
    }
}
