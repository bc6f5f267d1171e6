//! Scores of the phrase pairs of neighbouring source phrases.
//!
//! In: `Counts`, target phrases, what links and counts tell of words. Out: `NewBlocks`, pruned.
//! How: what all threads read is in `Scorer`; a `Worker` has a thread's scratch memory, the scores
//! that were asked for last, and its part of the summary.
//! Cost: one look-up a target phrase and a link; 15 MB a thread.

use super::blocks::NewBlocks;
use super::build::{Summary, row_scores};
use super::discount::{Discounter, Evidence};
use super::format::{Contents, NewOption, RowScores};
use super::lexical::{Lexicon, Weigher, best_links};
use super::options::{Condition, TableOptions};
use super::significance::{Known, Significance};
use super::targets::{Targets, Walk};
use crate::corpus::WordId;
use crate::extract::{Counts, Entry, EntryReader, Row, Stretch};
use crate::narrow::{to_f32, to_u32, to_usize};
use crate::orientation::ROWS;
use rustc_hash::FxHashMap;

/// Counts whose orientation scores are kept at hand.
const MOST_SETS: usize = 1 << 14;
/// Orientations that a pair seen once can have: four for each row.
const SINGLES: usize = 1 << (2 * ROWS);

/// What all threads read.
pub(super) struct Scorer<'a> {
    pub counts: &'a Counts,
    pub options: &'a TableOptions,
    pub contents: Contents,
    pub significance: Option<Significance>,
    pub targets: Targets,
    pub discounter: Discounter,
    pub lexicon: Lexicon,
    /// By place of a word of each side: its id in the table.
    pub ids: (Vec<WordId>, Vec<WordId>),
    /// Bytes of the counts that a thread may have resident.
    pub window: usize,
}

/// A pair that may go into the table.
#[derive(Debug, Clone, Default)]
struct Candidate {
    option: NewOption,
    tgt: u32,
    probabilities: [f64; 4],
    is_kept: bool,
}

/// Where orientation scores are: among all that are kept, and among those of a stretch.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    kept: u32,
    /// The stretch, plus one.
    stretch: usize,
    set: u32,
}

/// One thread's memory.
pub(super) struct Worker<'a> {
    scorer: &'a Scorer<'a>,
    weigher: Weigher<'a>,
    known: Known,
    /// Orientation scores, and where those of some counts are: of pairs seen once by their
    /// orientations, of others by their counts.
    scores: Vec<[RowScores; ROWS]>,
    of_singles: Vec<Option<Place>>,
    of_counts: FxHashMap<[Row; ROWS], Place>,
    /// What became of the pairs so far, but for the orientations of those seen once.
    summary: Summary,
    singles: Vec<u64>,
    /// Scratch memory for one source phrase.
    group: Vec<Entry>,
    candidates: Vec<Candidate>,
    src: Vec<u32>,
    tgt: Vec<u32>,
    src_ids: Vec<WordId>,
}

impl<'a> Worker<'a> {
    pub fn new(scorer: &'a Scorer<'a>) -> Self {
        Worker {
            scorer,
            weigher: Weigher::new(&scorer.lexicon),
            known: Known::default(),
            scores: Vec::new(),
            of_singles: vec![None; SINGLES],
            of_counts: FxHashMap::default(),
            summary: Summary::default(),
            singles: vec![0; SINGLES],
            group: Vec::new(),
            candidates: Vec::new(),
            src: Vec::new(),
            tgt: Vec::new(),
            src_ids: Vec::new(),
        }
    }

    /// The blocks of a stretch, which has this number; none when the counts are damaged.
    pub fn score(&mut self, number: usize, stretch: &Stretch) -> Option<NewBlocks> {
        let Scorer { counts, contents, window, .. } = *self.scorer;
        if self.scores.len() >= MOST_SETS {
            self.scores.clear();
            self.of_singles.fill(None);
            self.of_counts.clear();
        }
        let mut blocks = NewBlocks::new(contents, counts.max_length);
        let (mut phrases, mut entries) = counts.run.read(stretch, window);
        let mut targets = self.scorer.targets.walk(number);
        for src in stretch.phrases.clone() {
            phrases.advance()?;
            self.src.clear();
            self.src_ids.clear();
            for &code in &phrases.phrase {
                let place = counts.src_words.place(code)?;
                self.src.push(to_u32(place) + 1);
                self.src_ids.push(self.scorer.ids.0[place]);
            }
            let used = self.read_group(&mut entries)?;
            self.score_group(used, phrases.count, number, &mut targets, &mut blocks)?;
            self.prune(used, src);
            for candidate in &self.candidates[..used] {
                if candidate.is_kept {
                    blocks.push(&candidate.option);
                }
            }
            blocks.end_block(&self.src_ids, phrases.count);
        }
        Some(blocks)
    }

    /// Reads the entries of the next source phrase; how many there are.
    fn read_group(&mut self, entries: &mut EntryReader<'_>) -> Option<usize> {
        (self.src.len() <= self.scorer.counts.max_length).then_some(())?;
        let used = to_usize(entries.begin()?);
        for at in 0..used {
            if at == self.group.len() {
                self.group.push(Entry::default());
                self.candidates.push(Candidate::default());
            }
            let entry = &mut self.group[at];
            entries.read(entry)?;
            self.summary.occurrences += entry.count;
            if entry.count == 1 {
                self.singles[single(&entry.rows)] += 1;
            } else {
                add_rows(&mut self.summary.orientations, &entry.rows);
            }
        }
        self.summary.extracted += used as u64;
        Some(used)
    }

    /// Fills in the candidates of a source phrase.
    fn score_group(
        &mut self,
        used: usize,
        src_count: u64,
        stretch: usize,
        targets: &mut Walk<'_>,
        blocks: &mut NewBlocks,
    ) -> Option<()> {
        let Scorer { counts, options, discounter, ids, .. } = self.scorer;
        let by_source = (options.condition == Condition::Source).then(|| {
            let mut sum = [[0; 4]; ROWS];
            self.group[..used].iter().for_each(|entry| add_rows(&mut sum, &entry.rows));
            sum
        });
        for at in 0..used {
            let target = targets.next(self.group[at].tgt, &mut self.tgt)?;
            let set = match &by_source {
                Some(rows) => self.set(rows, false, stretch, blocks),
                None => {
                    let Entry { rows, count, .. } = self.group[at];
                    self.set(&rows, count == 1, stretch, blocks)
                }
            };
            let entry = &self.group[at];
            let links = best_links(entry, counts.strictness);
            let candidate = &mut self.candidates[at];
            candidate.tgt = entry.tgt;
            candidate.option.tgt.clear();
            for place in &mut self.tgt {
                candidate.option.tgt.push(ids.1[*place as usize]);
                *place += 1;
            }
            let inside = |link: &[u8]| {
                usize::from(link[0]) < self.src.len() && usize::from(link[1]) < self.tgt.len()
            };
            let all = links.forth.chunks_exact(2).chain(links.back.chunks_exact(2));
            all.clone().all(inside).then_some(())?;
            let (forth, mut back) = self.weigher.weights(&self.src, &self.tgt, links.forth);
            if links.forth != links.back {
                back = self.weigher.weights(&self.src, &self.tgt, links.back).1;
            }
            candidate.option.links.clear();
            candidate.option.links.extend_from_slice(links.forth);
            let evidence = Evidence {
                pair: entry.count,
                given: src_count,
                given_partners: used as u64,
                other_partners: target.partners,
                pairs: counts.run.pairs,
            };
            let reverse = Evidence {
                given: target.count,
                given_partners: evidence.other_partners,
                other_partners: used as u64,
                ..evidence
            };
            let phi = |evidence| discounter.probability(evidence);
            candidate.probabilities = [phi(reverse), back, phi(evidence), forth];
            candidate.option.scores = candidate.probabilities.map(|p| to_f32(ln(p)));
            candidate.option.counts = (entry.count, target.count);
            candidate.option.set = Some(set);
            candidate.is_kept = true;
        }
        Some(())
    }

    /// The place among the blocks of the orientation scores that counts give.
    fn set(
        &mut self,
        rows: &[Row; ROWS],
        is_single: bool,
        stretch: usize,
        blocks: &mut NewBlocks,
    ) -> u32 {
        let scores = &mut self.scores;
        let options = self.scorer.options;
        let new = || {
            scores.push(row_set(rows, options));
            Place { kept: to_u32(scores.len() - 1), ..Place::default() }
        };
        let place = if is_single {
            self.of_singles[single(rows)].get_or_insert_with(new)
        } else {
            self.of_counts.entry(*rows).or_insert_with(new)
        };
        if place.stretch != stretch + 1 {
            place.stretch = stretch + 1;
            place.set = blocks.add_set(&self.scores[place.kept as usize]);
        }
        place.set
    }

    /// Unmarks the candidates that are pruned.
    fn prune(&mut self, used: usize, src: u64) {
        let TableOptions { min_count, top, .. } = *self.scorer.options;
        let candidates = &mut self.candidates[..used];
        for candidate in &mut *candidates {
            if candidate.option.counts.0 < min_count {
                candidate.is_kept = false;
                self.summary.dropped[0] += 1;
            }
        }
        if let Some(top) = top.filter(|&top| top < used) {
            // φ(e|f), then φ(f|e), lex(e|f), lex(f|e); equal ones in order of spelling.
            let rank = |candidate: &Candidate| {
                let p = candidate.probabilities;
                [p[2], p[0], p[3], p[1]].map(f64::to_bits) // they are not negative
            };
            let mut order: Vec<usize> = (0..used).filter(|&at| candidates[at].is_kept).collect();
            order.sort_by_key(|&at| std::cmp::Reverse(rank(&candidates[at])));
            for &at in order.iter().skip(top) {
                candidates[at].is_kept = false;
                self.summary.dropped[1] += 1;
            }
        }
        if let Some(significance) = &self.scorer.significance {
            for candidate in candidates.iter_mut().filter(|candidate| candidate.is_kept) {
                candidate.is_kept = significance.keeps(to_u32(src), candidate.tgt, &mut self.known);
                self.summary.dropped[2] += u64::from(!candidate.is_kept);
            }
        }
    }

    /// What became of the pairs that it saw.
    pub fn finish(mut self) -> Summary {
        for (single, &count) in self.singles.iter().enumerate() {
            for (row, counts) in self.summary.orientations.iter_mut().enumerate() {
                counts[single >> (2 * row) & 3] += count;
            }
        }
        self.summary
    }
}

/// The orientations of a pair seen once as one number, two bits a row.
fn single(rows: &[Row; ROWS]) -> usize {
    let number = |(row, counts): (usize, &Row)| {
        to_usize(counts[1] + 2 * counts[2] + 3 * counts[3]) << (2 * row)
    };
    rows.iter().enumerate().map(number).sum()
}

fn add_rows(sum: &mut [Row; ROWS], rows: &[Row; ROWS]) {
    let all = sum.iter_mut().flatten().zip(rows.iter().flatten());
    all.for_each(|(sum, count)| *sum += count);
}

/// The logarithm, which is often that of 1.
fn ln(probability: f64) -> f64 {
    if probability == 1.0 { 0.0 } else { probability.ln() }
}

/// Scores of the rows of the models that are kept, theirs first.
fn row_set(counts: &[Row; ROWS], options: &TableOptions) -> [RowScores; ROWS] {
    let mut rows = [[0.0; 7]; ROWS];
    let kept = (0..ROWS).filter(|row| options.models[row / 2]);
    for (slot, row) in rows.iter_mut().zip(kept) {
        *slot = row_scores(&counts[row], options.smoothing);
    }
    rows
}
