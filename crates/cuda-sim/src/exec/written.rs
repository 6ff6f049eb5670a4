//! Which bytes of a block's shared memory are written.

/// A bit for each byte, in two parts: words are mostly written as a whole, and by a warp at a
/// time.
#[derive(Default)]
pub(super) struct Written {
    /// For each row of 32 words, a bit for each word of which every byte is written.
    whole: Vec<u32>,
    /// For each other word, a bit for each byte.
    part: Vec<u8>,
}

impl Written {
    /// Nothing written yet of so many words.
    pub fn new(words: usize) -> Self {
        Written {
            whole: vec![0; words.div_ceil(32)],
            part: vec![0; words],
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.whole.fill(0);
        self.part.fill(0);
    }

    /// The bytes of a word that are written; a bit each.
    pub fn of(&self, word: usize) -> u8 {
        if self.whole[word / 32] >> (word % 32) & 1 != 0 {
            0xf
        } else {
            self.part[word]
        }
    }

    /// Notes which bytes of a word are written.
    pub fn set(&mut self, word: usize, bytes: u8) {
        let bit = 1 << (word % 32);
        if bytes == 0xf {
            self.whole[word / 32] |= bit;
        } else {
            self.whole[word / 32] &= !bit;
            self.part[word] = bytes;
        }
    }

    /// Notes that so many words from one on are written.
    #[inline(always)]
    pub fn add(&mut self, first: usize, count: usize) {
        for word in first..first + count {
            self.whole[word / 32] |= 1 << (word % 32);
        }
    }

    /// Whether the words of a mask in a row are all written as a whole.
    pub fn has_row(&self, row: usize, mask: u32) -> bool {
        mask & !self.whole[row] == 0
    }

    /// Notes that the words of a mask in a row are written.
    pub fn add_row(&mut self, row: usize, mask: u32) {
        self.whole[row] |= mask;
    }
}
