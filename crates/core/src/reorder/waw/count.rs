//! Which features fire often enough to be kept.
//!
//! In: annotated sentences. Out: the fingerprints of the features that fire in at least so many
//! samples, the most frequent first.
//! How: most features fire once or twice, and there are far too many of them to be counted by
//! name. So a first pass counts hashes in a sketch of small cells, which can only overstate; a
//! second pass counts exactly what the sketch did not rule out.
//! Cost: two passes in threads; a byte for each two features met, 512 MB at most, and 16 bytes for
//! each that the sketch lets pass. Counts do not depend on the number of threads.

use super::options::Options;
use super::prepared::Prepared;
use super::template::{Ends, Shapes};
use crate::Job;
use crate::error::Result;
use crate::narrow::{low_u32, to_usize};
use crate::parallel::for_each_block;
use crate::reorder::Corpus;
use crate::reorder::jump::{Sample, Walk};
use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Sentences per block of work.
pub const BLOCK: usize = 64;
/// Cells of a sketch, least and most.
const LEAST_CELLS: usize = 1 << 16;
const MOST_CELLS: usize = 1 << 29;
/// Counts above it need not be told apart.
const FULL: u32 = 200;

/// Memory of one thread that walks through sentences.
#[derive(Debug, Default)]
pub struct Walker {
    walk: Walk,
    prepared: Prepared,
    ends: Ends,
    fingerprints: Vec<u64>,
}

impl Walker {
    /// Calls `each` for every sample of some sentences with the fingerprints of its features.
    pub fn samples(
        &mut self,
        corpus: &Corpus,
        shapes: &Shapes,
        options: &Options,
        sentences: Range<usize>,
        mut each: impl FnMut(Sample, &[u64]),
    ) {
        let Walker { walk, prepared, ends, fingerprints } = self;
        let looks = shapes.looks();
        for number in sentences {
            prepared.fill_from_text(corpus.text(), number);
            ends.fill(shapes, prepared);
            walk.samples(&corpus.order(number), options.window, |sample| {
                fingerprints.clear();
                shapes.firings(prepared, ends, sample.from, sample.to, |firing| {
                    fingerprints.push(firing.fingerprint);
                });
                looks.firings(sample.around, |look| {
                    fingerprints.push(looks.fingerprint(prepared, sample.to, look));
                });
                each(sample, fingerprints);
            });
        }
    }
}

/// Features by fingerprint, numbered from the most frequent.
#[derive(Debug, Default)]
pub struct Features {
    /// The fingerprint of each.
    pub fingerprints: Vec<u64>,
    /// In how many samples each fires.
    pub counts: Vec<u32>,
    table: Table,
}

/// A fingerprint, and in how many samples it fires.
pub type Tally = (u64, u32);

impl Features {
    /// These features, of which each is given once.
    pub fn of(tallies: &[Tally]) -> Self {
        let mut ordered: Vec<(u32, u64)> =
            tallies.iter().map(|&(fingerprint, count)| (!count, fingerprint)).collect();
        ordered.sort_unstable();
        let mut features = Features::default();
        for (number, (count, fingerprint)) in (0..).zip(ordered) {
            *features.table.slot(fingerprint) = number;
            features.fingerprints.push(fingerprint);
            features.counts.push(!count);
        }
        features
    }

    /// The number of a feature.
    #[inline]
    pub fn number(&self, fingerprint: u64) -> Option<u32> {
        self.table.get(fingerprint)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.fingerprints.len()
    }
}

/// Finds the features of a corpus that are kept.
pub fn count(corpus: &Corpus, shapes: &Shapes, options: &Options, job: &Job) -> Result<Features> {
    Ok(Features::of(&tally(corpus, shapes, options, options.min_count, job)?))
}

/// The features that fire in at least so many samples of a corpus, and in how many, in any order.
pub fn tally(
    corpus: &Corpus,
    shapes: &Shapes,
    options: &Options,
    least: u32,
    job: &Job,
) -> Result<Vec<Tally>> {
    job.begin(2 * corpus.len() as u64);
    let sketch = sketch(corpus, shapes, options, least, job)?;
    let make = <(Walker, Table)>::default;
    let workers = for_each_block(corpus.len(), BLOCK, job, make, |(walker, table), block| {
        Walker::samples(walker, corpus, shapes, options, block, |_, fingerprints| {
            for &fingerprint in fingerprints {
                if sketch.may_pass(fingerprint) {
                    *table.slot(fingerprint) += 1;
                }
            }
        });
        Ok(())
    })?;
    drop(sketch);
    let mut tables = workers.into_iter().map(|(_, table)| table);
    let mut all = tables.next().unwrap_or_default();
    for table in tables {
        table.entries().for_each(|(fingerprint, count)| *all.slot(fingerprint) += count);
    }
    Ok(all.entries().filter(|&(_, count)| count >= least).collect())
}

/// Counts of hashes that stop at a limit.
struct Sketch {
    cells: Vec<AtomicU8>,
    enough: u8,
}

impl Sketch {
    fn cell(&self, fingerprint: u64) -> &AtomicU8 {
        &self.cells[to_usize(fingerprint) & (self.cells.len() - 1)]
    }

    /// Whether a feature may fire often enough.
    fn may_pass(&self, fingerprint: u64) -> bool {
        self.cell(fingerprint).load(Relaxed) >= self.enough
    }
}

fn sketch(
    corpus: &Corpus,
    shapes: &Shapes,
    options: &Options,
    least: u32,
    job: &Job,
) -> Result<Sketch> {
    // About ten wrong answers a word, and some twenty features each; half of them are rare.
    let guess =
        corpus.text().words().saturating_mul(options.window.width as usize).saturating_mul(10);
    let size = guess.next_power_of_two().clamp(LEAST_CELLS, MOST_CELLS);
    let mut cells = Vec::new();
    cells.resize_with(size, || AtomicU8::new(0));
    let sketch = Sketch { cells, enough: least.min(FULL) as u8 };
    for_each_block(corpus.len(), BLOCK, job, Walker::default, |walker, block| {
        walker.samples(corpus, shapes, options, block, |_, fingerprints| {
            for &fingerprint in fingerprints {
                // A full cell may overshoot by one a thread, which changes no answer.
                let cell = sketch.cell(fingerprint);
                if cell.load(Relaxed) < sketch.enough {
                    cell.fetch_add(1, Relaxed);
                }
            }
        });
        Ok(())
    })?;
    Ok(sketch)
}

/// Numbers by fingerprint: open addressing, at most two thirds full.
#[derive(Debug, Default)]
struct Table {
    slots: Vec<Slot>,
    used: usize,
}

/// A fingerprint and its number, 12 bytes.
#[derive(Debug, Clone, Copy)]
struct Slot {
    high: u32,
    low: u32,
    number: u32,
}

const EMPTY: Slot = Slot { high: u32::MAX, low: u32::MAX, number: 0 };

impl Slot {
    fn fingerprint(&self) -> u64 {
        u64::from(self.high) << 32 | u64::from(self.low)
    }
}

impl Table {
    /// Where a fingerprint is or would be; the high bits choose, as the low ones chose the cell
    /// of the sketch.
    #[inline]
    fn place(&self, fingerprint: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (fingerprint >> 20) as usize & mask;
        loop {
            let held = self.slots[at].fingerprint();
            if held == fingerprint || held == u64::MAX {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    fn get(&self, fingerprint: u64) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let slot = &self.slots[self.place(fingerprint)];
        (slot.fingerprint() == fingerprint).then_some(slot.number)
    }

    /// The number of a fingerprint, 0 when new.
    fn slot(&mut self, fingerprint: u64) -> &mut u32 {
        if self.used * 3 >= self.slots.len() * 2 {
            self.grow();
        }
        let at = self.place(fingerprint);
        if self.slots[at].fingerprint() == u64::MAX {
            self.used += 1;
            let (high, low) = ((fingerprint >> 32) as u32, low_u32(fingerprint));
            self.slots[at] = Slot { high, low, number: 0 };
        }
        &mut self.slots[at].number
    }

    fn grow(&mut self) {
        let wider = vec![EMPTY; (self.slots.len() * 2).max(1 << 10)];
        let old = std::mem::replace(&mut self.slots, wider);
        for slot in old.into_iter().filter(|slot| slot.fingerprint() != u64::MAX) {
            let at = self.place(slot.fingerprint());
            self.slots[at] = slot;
        }
    }

    fn entries(&self) -> impl Iterator<Item = (u64, u32)> {
        let used = self.slots.iter().filter(|slot| slot.fingerprint() != u64::MAX);
        used.map(|slot| (slot.fingerprint(), slot.number))
    }
}
