//! Learned phrase pairs, and the seat where they and the table answer together.
//!
//! Source words that the table does not know, and such target words, get the numbers behind its own.

use super::{Pair, WORTH};
use crate::align::Link;
use crate::corpus::{Vocab, WordId};
use crate::error::Result;
use crate::extract::{Grid, Strictness};
use crate::feature::{PhraseDetails, PhraseEntry, PhraseModel};
use crate::narrow::{to_u32, to_usize};
use crate::orientation::Orientation;
use crate::phrase_table::{PhraseTable, TableSeat};
use rustc_hash::FxHashMap;

/// The longest sentence that is a phrase as a whole.
const LONGEST: usize = 80;
/// What a table without counts is taken to have seen of a phrase.
const UNCOUNTED: f32 = 10.0;

/// A translation that was learned.
#[derive(Debug, Clone)]
struct Entry {
    tgt: Vec<WordId>,
    links: Vec<Link>,
    /// How often it was learned, times its worth.
    count: f32,
}

/// The phrases of learned pairs.
#[derive(Debug, Default)]
pub struct LearnedPhrases {
    /// By source phrase what it becomes, in the order in which that was learned.
    entries: FxHashMap<Vec<WordId>, Vec<Entry>>,
    /// How often each target phrase was learned, times its worth.
    targets: FxHashMap<Vec<WordId>, f32>,
    src: Vocab,
    tgt: Vocab,
    /// Words of the table on both sides.
    known: (usize, usize),
    longest: usize,
    len: usize,
}

impl LearnedPhrases {
    /// Extracts and counts the phrases of all pairs.
    pub fn new(table: &PhraseTable, pairs: &[Pair<'_>]) -> Result<Self> {
        let known = (table.src_words().len(), table.tgt_words().len());
        let mut learned =
            LearnedPhrases { known, longest: table.max_length(), ..Default::default() };
        let mut grid = Grid::default();
        for pair in pairs {
            let src: Vec<WordId> =
                pair.src.iter().map(|word| learned.src_id(table, word)).collect();
            let tgt: Vec<WordId> =
                pair.tgt.iter().map(|word| learned.tgt_id(table, word)).collect();
            let mut has_whole = false;
            let lengths = (src.len(), tgt.len());
            grid.extract(
                lengths,
                pair.links,
                table.max_length(),
                Strictness::Strict,
                |block, links, _| {
                    let (s, t) = (block.src, block.tgt);
                    let (from, to) =
                        (s.first.index()..s.last.index() + 1, t.first.index()..t.last.index() + 1);
                    has_whole |= (from.len(), to.len()) == lengths;
                    let inside = links
                        .iter()
                        .map(|link| Link::new(link.src.0 - s.first.0, link.tgt.0 - t.first.0))
                        .collect();
                    learned.add(&src[from], &tgt[to], inside);
                },
            );
            if !has_whole && !src.is_empty() && src.len() <= LONGEST && !tgt.is_empty() {
                learned.longest = learned.longest.max(src.len());
                learned.add(&src, &tgt, pair.links.to_vec());
            }
        }
        Ok(learned)
    }

    /// Number of phrase pairs.
    pub fn len(&self) -> usize {
        self.len
    }

    fn src_id(&mut self, table: &PhraseTable, word: &str) -> WordId {
        let id = table.src_words().id(word);
        id.unwrap_or_else(|| to_u32(self.known.0) + self.src.intern(word))
    }

    fn tgt_id(&mut self, table: &PhraseTable, word: &str) -> WordId {
        let id = table.tgt_words().id(word);
        id.unwrap_or_else(|| to_u32(self.known.1) + self.tgt.intern(word))
    }

    fn add(&mut self, src: &[WordId], tgt: &[WordId], links: Vec<Link>) {
        *self.targets.entry(tgt.to_vec()).or_default() += WORTH;
        let of_source = self.entries.entry(src.to_vec()).or_default();
        match of_source.iter_mut().find(|entry| entry.tgt == tgt) {
            Some(entry) => entry.count += WORTH,
            None => {
                self.len += 1;
                of_source.push(Entry { tgt: tgt.to_vec(), links, count: WORTH });
            }
        }
    }
}

/// Marks the place of a phrase that only the learned pairs have.
const LEARNED: u64 = 1 << 63;

/// A table and what was learned beside it.
pub struct MixedTable<'a> {
    pub table: &'a PhraseTable,
    pub orientation: Option<Orientation>,
    pub learned: &'a LearnedPhrases,
}

impl MixedTable<'_> {
    fn seat(&self) -> TableSeat<'_> {
        TableSeat { table: self.table, orientation: self.orientation }
    }

    /// Scores of a phrase that only the learned pairs have, given how often the table saw its
    /// source: both directions alike.
    fn new_scores(&self, entry: &Entry, total: f32, trained: f32) -> [f32; 4] {
        let of_target = self.learned.targets.get(&entry.tgt).copied().unwrap_or(entry.count);
        let forward = (entry.count / (total + trained)).ln();
        let backward = (entry.count / of_target).ln();
        [backward, backward, forward, forward]
    }

    /// Even scores for all classes of the orientation model.
    fn even(&self) -> Vec<f32> {
        let Some(orientation) = self.orientation else { return Vec::new() };
        let classes = orientation.classes.names().len();
        vec![-(classes as f32).ln(); classes * orientation.directions().count()]
    }
}

impl PhraseModel for MixedTable<'_> {
    fn source_id(&self, word: &str) -> Option<WordId> {
        let own = || self.learned.src.id(word).map(|id| to_u32(self.learned.known.0) + id);
        self.table.src_words().id(word).or_else(own)
    }

    fn target_word(&self, id: WordId) -> &str {
        match (id as usize).checked_sub(self.learned.known.1) {
            Some(own) => self.learned.tgt.word(to_u32(own)),
            None => self.table.tgt_words().word(id).unwrap_or_default(),
        }
    }

    fn longest(&self) -> usize {
        self.learned.longest
    }

    fn tm_scores(&self) -> usize {
        4
    }

    fn find(&self, src: &[WordId], each: &mut dyn FnMut(PhraseEntry<'_>)) -> Result<()> {
        let known = to_u32(self.learned.known.0);
        let is_trained = src.len() <= self.table.max_length() && src.iter().all(|&id| id < known);
        let Some(learned) = self.learned.entries.get(src) else {
            return if is_trained { self.seat().find(src, each) } else { Ok(()) };
        };
        let total: f32 = learned.iter().map(|entry| entry.count).sum();
        let mut is_found = vec![false; learned.len()];
        let mut trained = 0.0;
        if is_trained {
            let options = self.table.options(src)?;
            trained = if options.is_empty() { 0.0 } else { counted(options.src_count()) };
            let mut counts = Vec::new();
            for option in options {
                counts.push(option?.counts.map_or(UNCOUNTED, |(_, tgt)| counted(tgt)));
            }
            let mut counts = counts.into_iter();
            let mut each_mixed = |entry: PhraseEntry<'_>| {
                let of_target = counts.next().unwrap_or(UNCOUNTED);
                let at = learned.iter().position(|own| own.tgt == entry.tgt);
                let own = at.map_or(0.0, |at| learned[at].count);
                if let Some(at) = at {
                    is_found[at] = true;
                }
                let more = self.learned.targets.get(entry.tgt).copied().unwrap_or_default();
                let mut tm = [0.0; 4];
                tm.copy_from_slice(entry.tm);
                tm[0] = together(tm[0], of_target, own, more);
                tm[2] = together(tm[2], trained, own, total);
                each(PhraseEntry { tm: &tm, ..entry });
            };
            self.seat().find(src, &mut each_mixed)?;
        }
        for (at, entry) in learned.iter().enumerate().filter(|(at, _)| !is_found[*at]) {
            let tm = self.new_scores(entry, total, trained);
            each(PhraseEntry { tgt: &entry.tgt, tm: &tm, place: LEARNED | at as u64 });
        }
        Ok(())
    }

    fn details(&self, src: &[WordId], place: u64, details: &mut PhraseDetails) -> Result<()> {
        if place & LEARNED == 0 {
            return self.seat().details(src, place, details);
        }
        let at = to_usize(place & !LEARNED);
        let entry = self.learned.entries.get(src).and_then(|entries| entries.get(at));
        details.orientation = self.even();
        details.links.clear();
        details.links.extend(entry.into_iter().flat_map(|entry| &entry.links));
        Ok(())
    }
}

fn counted(count: u64) -> f32 {
    if count == 0 { UNCOUNTED } else { count as f32 }
}

/// The log of a probability estimated from trained and learned counts together.
fn together(trained: f32, count: f32, learned: f32, total: f32) -> f32 {
    ((trained.exp() * count + learned) / (count + total)).ln()
}
