//! Blocks of neighbouring source phrases as bytes, ready but for what depends on those before them.
//!
//! In: options, one source phrase after the other. Out: their bytes, to which `TableWriter` adds
//! the numbers of orientation sets, checksums and places: so threads make them in any order.
//! Cost: one copy of the bytes.

use super::format::{Contents, FLOOR, NewOption, RowScores, SHORT, hash, pack};
use crate::corpus::WordId;
use crate::narrow::to_u32;
use crate::orientation::ROWS;
use crate::storage::write_number;

/// An option without orientation scores.
const NO_SET: u32 = u32::MAX;

/// Blocks of some source phrases.
#[derive(Debug, Default)]
pub struct NewBlocks {
    contents: Contents,
    max_length: usize,
    /// Of each block what comes before its options, without checksum and length.
    heads: Vec<u8>,
    /// Options without the numbers of their sets.
    options: Vec<u8>,
    /// Where each option ends, and the place of its set in `sets`.
    ends: Vec<(u32, u32)>,
    blocks: Vec<Block>,
    /// Orientation scores, in the order in which they were added.
    pub(super) sets: Vec<[RowScores; ROWS]>,
}

#[derive(Debug)]
struct Block {
    hash: u64,
    /// Where its head and its options end.
    head: u32,
    options: u32,
}

impl NewBlocks {
    /// No blocks yet, for a table with such contents and phrases of such a length.
    pub fn new(contents: Contents, max_length: usize) -> Self {
        NewBlocks { contents, max_length, ..NewBlocks::default() }
    }

    /// Forgets all blocks, keeps the memory.
    pub fn clear(&mut self) {
        self.heads.clear();
        self.options.clear();
        self.ends.clear();
        self.blocks.clear();
        self.sets.clear();
    }

    /// Number of options so far.
    pub fn pairs(&self) -> usize {
        self.ends.len()
    }

    /// Adds orientation scores for `NewOption::set`: the `prev` and the `next` row of each model the
    /// table has, then whatever.
    pub fn add_set(&mut self, rows: &[RowScores; ROWS]) -> u32 {
        self.sets.push(*rows);
        to_u32(self.sets.len() - 1)
    }

    /// Adds a translation of the source phrase that `end_block` will name.
    pub fn push(&mut self, option: &NewOption) {
        let out = &mut self.options;
        write_number(out, option.tgt.len() as u64);
        option.tgt.iter().for_each(|&word| write_number(out, u64::from(word)));
        write_number(out, option.links.len() as u64 / 2);
        if self.max_length <= SHORT {
            out.extend(option.links.chunks_exact(2).map(|link| link[0] << 4 | link[1]));
        } else {
            out.extend_from_slice(&option.links);
        }
        for score in option.scores {
            if self.contents.packed {
                out.extend_from_slice(&pack(score).to_le_bytes());
            } else {
                out.extend_from_slice(&score.max(FLOOR).to_le_bytes());
            }
        }
        if self.contents.counts {
            write_number(out, option.counts.0);
            write_number(out, option.counts.1);
        }
        self.ends.push((to_u32(out.len()), option.set.unwrap_or(NO_SET)));
    }

    /// Ends the block of a source phrase with the options pushed since the last one; there is no
    /// block when there are none.
    pub fn end_block(&mut self, src: &[WordId], count: u64) {
        let before = self.blocks.last().map_or(0, |block| block.options as usize);
        let options = self.ends.len() - before;
        if options == 0 {
            return;
        }
        let out = &mut self.heads;
        write_number(out, src.len() as u64);
        src.iter().for_each(|&word| write_number(out, u64::from(word)));
        if self.contents.counts {
            write_number(out, count);
        }
        write_number(out, options as u64);
        let hash = hash(src.iter().copied());
        let (head, options) = (to_u32(out.len()), to_u32(self.ends.len()));
        self.blocks.push(Block { hash, head, options });
    }

    /// Hands the hash of the source phrase and the bytes of each block to `take`, without checksum
    /// and length; `numbers` are those of `sets`.
    pub(super) fn each(&self, numbers: &[u32], mut take: impl FnMut(u64, &[u8])) {
        let has_sets = self.contents.rows() > 0;
        let mut body = Vec::new();
        let (mut head, mut option, mut start) = (0, 0, 0);
        for block in &self.blocks {
            body.clear();
            body.extend_from_slice(&self.heads[head..block.head as usize]);
            for &(end, set) in &self.ends[option..block.options as usize] {
                body.extend_from_slice(&self.options[start..end as usize]);
                if has_sets {
                    let number = numbers.get(set as usize);
                    write_number(&mut body, number.map_or(0, |&number| u64::from(number) + 1));
                }
                start = end as usize;
            }
            (head, option) = (block.head as usize, block.options as usize);
            take(block.hash, &body);
        }
    }
}
