//! From counts to the finished table: scores, pruning, orientation probabilities.
//!
//! In: `Counts`, and the corpus when pairs are tested for significance. Out: a table file.
//! How: source phrases go by once, in order, each with all its pairs and their target phrases
//! (`targets`), so both relative frequencies are at hand. With a discount the pairs go by once
//! more before, to be counted by their counts.
//! Cost: one pass, within the memory of the options; beyond it stay the words of both sides and the
//! different orientation scores, some 20 bytes each. A test for significance needs 4 bytes an
//! occurrence of a phrase beside.

use super::discount::{CountsOfCounts, Discount, Discounter, Evidence};
use super::format::{Contents, NewOption, NewWords, RowScores, TableWriter};
use super::lexical::{Lexicon, best_links};
use super::options::{Condition, TableOptions};
use super::significance::{Phrases, Significance, Threshold};
use super::targets::{Targets, Walk};
use crate::Job;
use crate::corpus::{Bitext, Text, WordId};
use crate::error::{Error, Result};
use crate::extract::{Counts, Entry, EntryReader, ListReader, Row, Words, damaged};
use crate::narrow::{to_f32, to_u32, to_usize};
use crate::orientation::ROWS;
use crate::storage::{Blob, left_of};
use rustc_hash::FxHashMap;
use std::path::Path;

/// Source phrases between two looks at the job.
const BLOCK: u64 = 1 << 12;

/// Counts whose orientation scores are kept at hand.
const MOST_SETS: usize = 1 << 15;

/// What became of the counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Sentence pairs counted.
    pub sentences: u64,
    /// Occurrences of phrase pairs.
    pub occurrences: u64,
    /// Different phrase pairs.
    pub extracted: u64,
    /// Pairs in the table.
    pub pairs: u64,
    /// Pairs dropped for their count, for their rank, and for lack of significance.
    pub dropped: [u64; 3],
    /// Bytes of the table.
    pub bytes: u64,
    /// How often each model saw each orientation, over all occurrences.
    pub orientations: [Row; ROWS],
}

/// Makes the table. A test for significance needs the corpus.
pub fn build(
    counts: &Counts,
    corpus: Option<&Bitext>,
    options: &TableOptions,
    path: &Path,
    recipe: &str,
    job: &Job,
) -> Result<Summary> {
    options.check()?;
    let significance = match (options.significance, corpus) {
        (Some(threshold), Some(corpus)) => Some(significance(counts, corpus, threshold, job)?),
        (Some(_), None) => return Err(no_corpus()),
        (None, _) => None,
    };
    let memory = left_of(options.memory);
    let targets = Targets::new(counts, memory / 2, options.discount == Discount::KneserNey, job)?;
    Builder::new(counts, options, significance, targets.walk(), path)?.run(recipe, job)
}

fn significance<'c>(
    counts: &'c Counts,
    corpus: &'c Bitext,
    threshold: Threshold,
    job: &Job,
) -> Result<Significance> {
    let side = |list: &'c Blob, text: &'c Text, words: &Words| Phrases {
        list,
        text,
        codes: codes_in(corpus, words),
    };
    let src = side(&counts.run.src, corpus.src(), &counts.src_words);
    let tgt = side(&counts.run.tgt, corpus.tgt(), &counts.tgt_words);
    Significance::new(&src, &tgt, counts.max_length, threshold, job)
}

/// The code that each word of a corpus has in the counts.
fn codes_in(corpus: &Bitext, words: &Words) -> Vec<Option<u32>> {
    let mut codes = vec![None; corpus.vocab().len()];
    for place in 0..words.len() {
        if let Some(id) = corpus.vocab().id(words.word(place)) {
            codes[id as usize] = Some(words.code(place));
        }
    }
    codes
}

fn no_corpus() -> Error {
    Error::Argument {
        name: "significance".into(),
        found: "no corpus".into(),
        expected: "the source and target text that the counts were made from".into(),
    }
}

/// A pair that may go into the table.
#[derive(Debug, Clone, Default)]
struct Candidate {
    option: NewOption,
    tgt: u32,
    probabilities: [f64; 4],
    is_kept: bool,
}

struct Builder<'a> {
    counts: &'a Counts,
    options: &'a TableOptions,
    significance: Option<Significance>,
    targets: Walk<'a>,
    discounter: Discounter,
    lexicon: Lexicon,
    words: (NewWords, NewWords),
    ids: (Vec<WordId>, Vec<WordId>),
    writer: TableWriter,
    summary: Summary,
    /// Numbers of the orientation scores that some counts give.
    sets: FxHashMap<[Row; ROWS], u32>,
    /// Scratch memory for one source phrase.
    group: Vec<Entry>,
    candidates: Vec<Candidate>,
    tgt: Vec<u32>,
}

impl<'a> Builder<'a> {
    fn new(
        counts: &'a Counts,
        options: &'a TableOptions,
        significance: Option<Significance>,
        targets: Walk<'a>,
        path: &Path,
    ) -> Result<Self> {
        let of_counts = match options.discount {
            Discount::None => CountsOfCounts::default(),
            _ => count_counts(counts).ok_or_else(|| damaged(&counts.place))?,
        };
        let memory = left_of(options.memory);
        let numbered = |words: &Words| {
            NewWords::new((0..words.len()).map(|at| (words.word(at), words.frequency(at))))
        };
        let (src_words, src_ids) = numbered(&counts.src_words);
        let (tgt_words, tgt_ids) = numbered(&counts.tgt_words);
        let has_models = options.models.contains(&true);
        let contents = Contents {
            packed: options.packed,
            counts: options.counts,
            models: options.models,
            msd: has_models,
            mslr: has_models,
        };
        Ok(Builder {
            counts,
            options,
            significance,
            targets,
            discounter: Discounter::new(options.discount, &of_counts),
            lexicon: Lexicon::new(counts, memory / 4)?,
            words: (src_words, tgt_words),
            ids: (src_ids, tgt_ids),
            writer: TableWriter::create(
                path,
                contents,
                (counts.max_length, counts.sentences),
                memory / 4,
                counts.folder(),
            )?,
            summary: Summary { sentences: counts.sentences, ..Summary::default() },
            sets: FxHashMap::default(),
            group: Vec::new(),
            candidates: Vec::new(),
            tgt: Vec::new(),
        })
    }

    fn run(mut self, recipe: &str, job: &Job) -> Result<Summary> {
        let counts = self.counts;
        let broken = || damaged(&counts.place);
        let mut phrases = ListReader::new(&counts.run.src);
        let mut entries = EntryReader::new(&counts.run);
        let mut src = Vec::new();
        let mut ids = Vec::new();
        job.begin(counts.run.src_phrases);
        for number in 0..counts.run.src_phrases {
            phrases.advance().ok_or_else(broken)?;
            src.clear();
            ids.clear();
            for &code in &phrases.phrase {
                let place = counts.src_words.place(code).ok_or_else(broken)?;
                src.push(to_u32(place) + 1);
                ids.push(self.ids.0[place]);
            }
            let used = self.read_group(&mut entries, src.len()).ok_or_else(broken)?;
            self.score(used, &src, phrases.count).ok_or_else(broken)?;
            self.prune(used, number);
            for candidate in &self.candidates[..used] {
                if candidate.is_kept {
                    self.writer.push(&candidate.option);
                }
            }
            self.writer.end_block(&ids, phrases.count)?;
            if number % BLOCK == BLOCK - 1 {
                job.check()?;
                job.advance(BLOCK);
            }
        }
        (self.summary.bytes, self.summary.pairs) =
            self.writer.finish(&self.words.0, &self.words.1, recipe)?;
        Ok(self.summary)
    }

    /// Reads the entries of the next source phrase; how many there are.
    fn read_group(&mut self, entries: &mut EntryReader<'_>, src_len: usize) -> Option<usize> {
        (src_len <= self.counts.max_length).then_some(())?;
        let used = to_usize(entries.begin()?);
        for at in 0..used {
            if at == self.group.len() {
                self.group.push(Entry::default());
                self.candidates.push(Candidate::default());
            }
            let entry = &mut self.group[at];
            entries.read(entry)?;
            self.summary.occurrences += entry.count;
            let all = self.summary.orientations.iter_mut().flatten();
            all.zip(entry.rows.iter().flatten()).for_each(|(sum, count)| *sum += count);
        }
        self.summary.extracted += used as u64;
        Some(used)
    }

    /// Fills in the candidates of a source phrase.
    fn score(&mut self, used: usize, src: &[u32], src_count: u64) -> Option<()> {
        let by_source =
            (self.options.condition == Condition::Source).then(|| sum_rows(&self.group[..used]));
        for at in 0..used {
            let entry = &self.group[at];
            let target = self.targets.next(entry.tgt, &mut self.tgt)?;
            let rows = by_source.as_ref().unwrap_or(&entry.rows);
            let set = match self.sets.get(rows) {
                Some(&set) => set,
                None => {
                    if self.sets.len() >= MOST_SETS {
                        self.sets.clear();
                    }
                    let scores = row_set(rows, self.options);
                    *self.sets.entry(*rows).or_insert(self.writer.set(&scores))
                }
            };
            let links = best_links(entry, self.counts.strictness);
            let candidate = &mut self.candidates[at];
            candidate.tgt = entry.tgt;
            candidate.option.tgt.clear();
            for place in &mut self.tgt {
                candidate.option.tgt.push(self.ids.1[*place as usize]);
                *place += 1;
            }
            let inside = |link: &[u8]| {
                usize::from(link[0]) < src.len() && usize::from(link[1]) < self.tgt.len()
            };
            let all = links.forth.chunks_exact(2).chain(links.back.chunks_exact(2));
            all.clone().all(inside).then_some(())?;
            let (forth, mut back) = self.lexicon.weights(src, &self.tgt, links.forth);
            if links.forth != links.back {
                back = self.lexicon.weights(src, &self.tgt, links.back).1;
            }
            candidate.option.links.clear();
            candidate.option.links.extend_from_slice(links.forth);
            let evidence = Evidence {
                pair: entry.count,
                given: src_count,
                given_partners: used as u64,
                other_partners: target.partners,
                pairs: self.counts.run.pairs,
            };
            let reverse = Evidence {
                given: target.count,
                given_partners: evidence.other_partners,
                other_partners: used as u64,
                ..evidence
            };
            let phi = |evidence| self.discounter.probability(evidence);
            candidate.probabilities = [phi(reverse), back, phi(evidence), forth];
            candidate.option.scores = candidate.probabilities.map(|p| to_f32(p.ln()));
            candidate.option.counts = (entry.count, target.count);
            candidate.option.set = Some(set);
            candidate.is_kept = true;
        }
        Some(())
    }

    /// Unmarks the candidates that are pruned.
    fn prune(&mut self, used: usize, src: u64) {
        let TableOptions { min_count, top, .. } = *self.options;
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
        if let Some(significance) = &mut self.significance {
            for candidate in candidates.iter_mut().filter(|candidate| candidate.is_kept) {
                candidate.is_kept = significance.keeps(to_u32(src), candidate.tgt);
                self.summary.dropped[2] += u64::from(!candidate.is_kept);
            }
        }
    }
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

/// Smoothed ln p of M, S, DL, DR and of M, S, D.
pub fn row_scores(counts: &Row, smoothing: f64) -> RowScores {
    let [m, s, dl, dr] = counts.map(|count| count as f64);
    let total = m + s + dl + dr;
    let ln = |count: f64, classes: f64| {
        to_f32(((count + smoothing) / (total + smoothing * classes)).ln())
    };
    [ln(m, 4.0), ln(s, 4.0), ln(dl, 4.0), ln(dr, 4.0), ln(m, 3.0), ln(s, 3.0), ln(dl + dr, 3.0)]
}

fn sum_rows(group: &[Entry]) -> [Row; ROWS] {
    let mut sum = [[0; 4]; ROWS];
    for entry in group {
        let all = sum.iter_mut().flatten().zip(entry.rows.iter().flatten());
        all.for_each(|(sum, count)| *sum += count);
    }
    sum
}

/// How many pairs were seen how often.
fn count_counts(counts: &Counts) -> Option<CountsOfCounts> {
    let mut of_counts = CountsOfCounts::default();
    let mut entries = EntryReader::new(&counts.run);
    let mut entry = Entry::default();
    for _ in 0..counts.run.src_phrases {
        for _ in 0..entries.begin()? {
            entries.read(&mut entry)?;
            if let Some(slot) = of_counts.get_mut(to_usize(entry.count)) {
                *slot += 1;
            }
        }
    }
    Some(of_counts)
}
