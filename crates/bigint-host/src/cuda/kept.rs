//! Memory that was freed, for the next that needs as much: the driver takes 1 to 2 us for a piece of memory, and one long quotient takes some 150.

use std::collections::HashMap;

/// The largest piece that is kept, in limbs.
const LARGEST: usize = 1 << 24;

/// Limbs of which the lengths of pieces are multiples.
const LEAST: usize = 64;

/// Pieces of memory by their lengths.
pub(super) struct Kept<M> {
    pieces: HashMap<usize, Vec<M>>,
    /// The limbs of all.
    limbs: usize,
    /// The most that they may have.
    most: usize,
}

impl<M> Kept<M> {
    pub fn new(most: usize) -> Self {
        Kept {
            pieces: HashMap::new(),
            limbs: 0,
            most,
        }
    }

    /// The length of a piece that is taken for so many limbs: up to an eighth more, so that neighbours take the same.
    pub fn length(limbs: usize) -> usize {
        match limbs {
            0 | LARGEST.. => limbs,
            _ => limbs.next_multiple_of(LEAST.max(1 << limbs.ilog2().saturating_sub(3))),
        }
    }

    /// A piece of this length.
    pub fn take(&mut self, length: usize) -> Option<M> {
        let piece = self.pieces.get_mut(&length)?.pop()?;
        self.limbs -= length;
        Some(piece)
    }

    /// Keeps a piece of so many limbs, if that is a length of pieces; answers what is to be freed instead: where
    /// there would be too much, all that is there.
    pub fn give(&mut self, limbs: usize, piece: M) -> Vec<M> {
        let is_kept = limbs > 0 && limbs <= LARGEST.min(self.most) && Self::length(limbs) == limbs;
        if !is_kept {
            return vec![piece];
        }
        let gone = match self.limbs + limbs > self.most {
            true => self.clear(),
            false => Vec::new(),
        };
        self.limbs += limbs;
        self.pieces.entry(limbs).or_default().push(piece);
        gone
    }

    /// Takes all.
    pub fn clear(&mut self) -> Vec<M> {
        self.limbs = 0;
        self.pieces.drain().flat_map(|(_, pieces)| pieces).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_little_more_and_their_own() {
        for limbs in (0..5000).chain([1 << 20, (1 << 22) + 1, LARGEST - 1, LARGEST, LARGEST + 1]) {
            let length = Kept::<()>::length(limbs);
            let most = limbs + LEAST.max(limbs / 8 + 1);
            assert!((limbs..most).contains(&length), "{limbs}");
            assert_eq!(Kept::<()>::length(length), length);
        }
    }

    #[test]
    fn a_piece_is_what_the_next_of_its_length_gets_and_nobody_else() {
        let mut kept = Kept::new(1000);
        assert_eq!(kept.take(128), None);
        assert!(kept.give(128, 'a').is_empty());
        assert_eq!(kept.take(64), None);
        assert_eq!((kept.take(128), kept.take(128)), (Some('a'), None));
        // Of a length that nobody asks for, of none, or of more than all.
        assert_eq!(kept.give(129, 'b'), ['b']);
        assert_eq!(kept.give(0, 'b'), ['b']);
        assert_eq!(kept.give(1024, 'b'), ['b']);
    }

    #[test]
    fn what_is_kept_has_an_end() {
        let mut kept = Kept::new(1000);
        assert!(kept.give(512, 'a').is_empty());
        assert!(kept.give(448, 'b').is_empty());
        let mut gone = kept.give(64, 'c');
        gone.sort();
        assert_eq!(gone, ['a', 'b']);
        assert_eq!(kept.clear(), ['c']);
        assert_eq!((kept.clear(), kept.limbs), (vec![], 0));
    }
}
