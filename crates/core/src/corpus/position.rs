//! Places of words in a sentence, counted from 0.
//!
//! Source and target positions are different types, so that no call can swap them unseen.

/// Position of a word in its source sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct SrcPos(pub u32);

/// Position of a word in its target sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct TgtPos(pub u32);

impl SrcPos {
    /// As an index into the sentence.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl TgtPos {
    /// As an index into the sentence.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
