//! Which lanes may follow a group when the search is pruned by a path feature.
//!
//! In: the lanes that the space allows. Out: those entered at words that the feature keeps, and
//! those that start where it spares all. Cost: two looks at each lane; no allocation.

use super::id::LaneId;
use super::options::{Lane, Options};
use crate::corpus::SrcPos;
use crate::feature::Span;

/// Memory of a choice, kept between sentences.
#[derive(Debug, Default)]
pub struct Choosing {
    /// Lanes that the space allows, by span; those of a span stand together.
    pub allowed: Vec<LaneId>,
    /// The words they are entered at, each once.
    entries: Vec<SrcPos>,
    /// The words that are kept.
    words: Vec<SrcPos>,
    /// What the feature says of each word.
    scores: Vec<f32>,
    /// By word: the round in which it was last seen or kept.
    marks: Vec<u64>,
    /// Never starts again: a worker may live long.
    round: u64,
    /// Lanes left out, by the number of words translated after them.
    left_out: Vec<u64>,
}

impl Choosing {
    /// Begins a sentence of so many words.
    pub fn restart(&mut self, length: u32) {
        self.left_out.clear();
        self.left_out.resize(length as usize + 1, 0);
    }

    /// How many lanes to the stack of so many translated words were left out.
    pub fn left_out(&self, covered: usize) -> u64 {
        self.left_out[covered]
    }

    /// Finds the words that the allowed lanes are entered at.
    pub fn find_entries(&mut self, options: &Options) {
        let Choosing { allowed, entries, marks, .. } = self;
        self.round += 1;
        entries.clear();
        for &lane in &*allowed {
            let Lane { entry, parts, .. } = *options.lane(lane);
            if parts > 0 {
                continue;
            }
            if marks.len() <= entry.index() {
                marks.resize(entry.index() + 1, 0);
            }
            if std::mem::replace(&mut marks[entry.index()], self.round) != self.round {
                entries.push(entry);
            }
        }
    }

    /// Writes the lanes worth trying after so many translated words to `lanes`; returns how many
    /// are not. `keep` takes words back, with room for their scores, and returns where lanes may
    /// start that stay anyway.
    pub fn choose(
        &mut self,
        options: &Options,
        covered: u32,
        keep: impl FnOnce(&mut Vec<SrcPos>, &mut Vec<f32>) -> Span,
        lanes: &mut Vec<LaneId>,
    ) -> u64 {
        let Choosing { allowed, entries, words, scores, marks, left_out, .. } = self;
        let mut count = 0;
        lanes.clear();
        scores.clear();
        words.clear();
        words.extend_from_slice(entries);
        let spared = keep(words, scores);
        self.round += 1;
        for &word in &*words {
            marks[word.index()] = self.round;
        }
        for &number in &*allowed {
            let Lane { span, entry, parts, .. } = *options.lane(number);
            if parts > 0 {
                // One row of options instead of several, if all of them are kept.
                let first = lanes.len().checked_sub(parts as usize);
                if let Some(at) = first.filter(|&at| lanes[at].0 == number.0 - parts) {
                    lanes.truncate(at);
                    lanes.push(number);
                }
            } else if spared.has(span.start) || marks[entry.index()] == self.round {
                lanes.push(number);
            } else {
                left_out[(covered + span.len()) as usize] += 1;
                count += 1;
            }
        }
        count
    }
}
