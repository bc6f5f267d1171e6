//! Word classes from plain text: words that stand between the same classes share a class.
//!
//! In: a text. Out: a class for every word, and for every look of a rare or new word.
//! How: p(w | v) = p(w | class of w) · p(class of w | class of v); words move one at a time to the
//! class that makes the text most likely (exchange; Kneser and Ney, 1993). Words are visited by
//! falling frequency, a batch at a time: threads look for the best class of each word of a batch
//! while nothing moves, then the moves are made one after the other, each only if it still gains.
//! So the likelihood never falls and the number of threads changes nothing.
//! Cost: words · classes · neighbouring classes a round; two tables of classes² counts.
//! Not: a tree of classes.

use super::bigram::{self, Bigrams, stand_in};
use super::learn::Chance;
use crate::corpus::{Text, Vocab};
use crate::error::{Error, Result};
use crate::job::Job;
use crate::narrow::{to_u32, to_usize};
use crate::parallel::map;
use std::path::Path;

/// More classes than this need tables of gigabytes.
const MAX_CLASSES: usize = 10_000;
const MAX_ROUNDS: usize = 1000;
/// Words whose best class is looked for while nothing moves.
const BATCH: usize = 256;
/// Clustering ends when fewer than one word in so many has moved.
const MOVED_AT_LEAST: usize = 1000;
/// n · ln n is looked up below this and computed above.
const TABLE: usize = 1 << 16;
/// A move must gain more than rounding can feign.
const LEAST_GAIN: f64 = 1e-6;

/// How to cluster.
#[derive(Debug, Clone, Copy)]
pub struct ClassOptions {
    /// Number of classes.
    pub classes: usize,
    /// A rarer word is clustered by its looks.
    pub min_count: u64,
    /// Most rounds through all words.
    pub rounds: usize,
    /// Only for the random assignment that the summary compares with.
    pub seed: u64,
}

/// What came of it; likelihoods are natural logarithms of the text's probability, per word.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassSummary {
    /// Words and sentence ends of the text.
    pub words: u64,
    /// Different words and looks that were clustered.
    pub units: usize,
    /// Words that moved in each round.
    pub moved: Vec<usize>,
    /// Log likelihood per word of the classes found.
    pub likelihood: f64,
    /// The same when words are put into classes by chance.
    pub random: f64,
    /// The same when words of like frequency share a class, all classes of the same weight.
    pub by_frequency: f64,
}

/// A class for every word.
#[derive(Debug, Clone, Default)]
pub struct Classes {
    names: Vocab,
    class_of: Vec<u32>,
    /// The class of a word that looks like nothing seen: that of the rarest unit.
    fallback: u32,
}

impl Classes {
    /// Clusters the words of a file.
    pub fn fit(path: &Path, options: ClassOptions, job: &Job) -> Result<(Classes, ClassSummary)> {
        check(options)?;
        let (text, vocab) = bigram::read(path, job)?;
        Classes::fit_text(&text, &vocab, options, job)
    }

    /// Clusters the words of a text.
    pub fn fit_text(
        text: &Text,
        vocab: &Vocab,
        options: ClassOptions,
        job: &Job,
    ) -> Result<(Classes, ClassSummary)> {
        check(options)?;
        let bigrams = bigram::count(text, vocab, options.min_count, job)?;
        let units = bigrams.units.counts.len();
        let log = LogTable::new();
        let mut chance = Chance(options.seed);
        let random: Vec<u32> =
            (0..units).map(|_| to_u32(chance.next() % options.classes as u64)).collect();
        let random = Clustering::new(&bigrams, options.classes, random).likelihood(&log);
        let by_frequency = by_frequency(&bigrams.units.counts, options.classes);
        let by_frequency =
            Clustering::new(&bigrams, options.classes, by_frequency).likelihood(&log);
        let start = (0..units).map(|unit| to_u32(unit % options.classes)).collect();
        let mut clustering = Clustering::new(&bigrams, options.classes, start);
        let moved = clustering.run(options.rounds, &log, job)?;
        let likelihood = clustering.likelihood(&log);
        let class_of = renumbered(&clustering.class_of, options.classes);
        let words = bigrams.units.counts.iter().sum::<u64>() + bigrams.sentences;
        let summary = ClassSummary { words, units, moved, likelihood, random, by_frequency };
        let fallback = class_of.last().copied().unwrap_or_default();
        Ok((Classes { names: bigrams.units.names, class_of, fallback }, summary))
    }

    /// The class of any word.
    pub fn class_of(&self, word: &str) -> u32 {
        let known = |name: &str| self.names.id(name).map(|id| self.class_of[id as usize]);
        known(word)
            .or_else(|| known(&stand_in(word, true)))
            .or_else(|| known(&stand_in(word, false)))
            .unwrap_or(self.fallback)
    }

    /// Words and looks with their classes, most frequent first.
    pub fn entries(&self) -> impl Iterator<Item = (&str, u32)> {
        (0..).zip(&self.class_of).map(|(id, &class)| (self.names.word(id), class))
    }

    /// Classes as `entries` gives them; a repeated name is an error of the caller's file.
    pub fn from_entries<'a>(
        entries: impl Iterator<Item = (&'a str, u32)>,
    ) -> std::result::Result<Classes, usize> {
        let mut classes = Classes::default();
        for (number, (name, class)) in entries.enumerate() {
            if classes.names.intern(name) as usize != number {
                return Err(number);
            }
            classes.class_of.push(class);
            classes.fallback = class;
        }
        Ok(classes)
    }
}

fn check(options: ClassOptions) -> Result<()> {
    let wrong = |name: &str, found: u64, expected: String| {
        Err(Error::Argument { name: name.into(), found: found.to_string(), expected })
    };
    if !(2..=MAX_CLASSES).contains(&options.classes) {
        return wrong("classes", options.classes as u64, format!("2 to {MAX_CLASSES}"));
    }
    if options.min_count == 0 {
        return wrong("min_count", 0, "at least 1".into());
    }
    if !(1..=MAX_ROUNDS).contains(&options.rounds) {
        return wrong("rounds", options.rounds as u64, format!("1 to {MAX_ROUNDS}"));
    }
    Ok(())
}

/// Words of like frequency share a class, and every class has about the same weight.
fn by_frequency(counts: &[u64], classes: usize) -> Vec<u32> {
    let total: u64 = counts.iter().sum::<u64>().max(1);
    let mut before = 0;
    let share = |&count: &u64| {
        let class = u128::from(before) * classes as u128 / u128::from(total);
        before += count;
        to_u32(class.min(classes as u128 - 1))
    };
    counts.iter().map(share).collect()
}

/// Classes numbered by first appearance, that is, by their most frequent word.
fn renumbered(class_of: &[u32], classes: usize) -> Vec<u32> {
    let mut numbers = vec![u32::MAX; classes];
    let mut next = 0;
    class_of
        .iter()
        .map(|&class| {
            let number = &mut numbers[class as usize];
            if *number == u32::MAX {
                *number = next;
                next += 1;
            }
            *number
        })
        .collect()
}

/// n · ln n for whole numbers.
struct LogTable(Vec<f64>);

impl LogTable {
    fn new() -> Self {
        LogTable((0..TABLE).map(|count| n_log_n(count as u64)).collect())
    }

    fn of(&self, count: u64) -> f64 {
        self.0.get(to_usize(count)).copied().unwrap_or_else(|| n_log_n(count))
    }

    /// How much n · ln n grows when `count` is added to n.
    fn rise(&self, known: u64, count: u64) -> f64 {
        self.of(known + count) - self.of(known)
    }

    /// The same for counts of pairs.
    fn more(&self, known: u32, count: u32) -> f64 {
        self.rise(u64::from(known), u64::from(count))
    }
}

pub(super) fn n_log_n(count: u64) -> f64 {
    if count == 0 { 0.0 } else { count as f64 * (count as f64).ln() }
}

/// Classes and the counts of their pairs; the class after the last is the edge of a sentence.
struct Clustering<'b> {
    bigrams: &'b Bigrams,
    class_of: Vec<u32>,
    classes: usize,
    /// Counts of a class followed by another, by rows of the first.
    pairs: Vec<u32>,
    /// The same by rows of the second, so that both directions are read in order.
    turned: Vec<u32>,
    /// How often each class stands before something, and after something.
    firsts: Vec<u64>,
    seconds: Vec<u64>,
}

/// A unit's neighbours as classes, and how often it follows itself.
#[derive(Default)]
struct Around {
    before: Side,
    after: Side,
    itself: u32,
    gains: Vec<f64>,
    row: Vec<u32>,
}

/// Counts of the classes on one side of a unit, without the unit itself.
#[derive(Default)]
struct Side {
    /// By class; zero where a class is not among `found`.
    counts: Vec<u32>,
    found: Vec<u32>,
}

impl Side {
    fn clear(&mut self, width: usize) {
        for class in self.found.drain(..) {
            self.counts[class as usize] = 0;
        }
        self.counts.resize(width, 0);
    }

    fn add(&mut self, class: usize, count: u32) {
        if self.counts[class] == 0 {
            self.found.push(to_u32(class));
        }
        self.counts[class] += count;
    }

    /// Classes with their counts.
    fn pairs(&self) -> impl Iterator<Item = (usize, u32)> {
        self.found.iter().map(|&class| (class as usize, self.counts[class as usize]))
    }
}

impl<'b> Clustering<'b> {
    fn new(bigrams: &'b Bigrams, classes: usize, class_of: Vec<u32>) -> Self {
        let width = classes + 1;
        let mut clustering = Clustering {
            bigrams,
            class_of,
            classes,
            pairs: vec![0; width * width],
            turned: vec![0; width * width],
            firsts: vec![0; width],
            seconds: vec![0; width],
        };
        for unit in 0..clustering.class_of.len() {
            let class = clustering.class_of[unit] as usize;
            for &(neighbour, count) in bigrams.after.of(unit) {
                clustering.add(class, clustering.class(neighbour), i64::from(count));
            }
            for &(neighbour, count) in bigrams.before.of(unit) {
                if clustering.is_edge(neighbour) {
                    clustering.add(classes, class, i64::from(count));
                }
            }
        }
        clustering
    }

    fn is_edge(&self, unit: u32) -> bool {
        unit as usize == self.class_of.len()
    }

    fn class(&self, unit: u32) -> usize {
        self.class_of.get(unit as usize).map_or(self.classes, |&class| class as usize)
    }

    fn add(&mut self, first: usize, second: usize, count: i64) {
        let width = self.classes + 1;
        let pair = &mut self.pairs[first * width + second];
        *pair = to_u32(i64::from(*pair) + count);
        let pair = &mut self.turned[second * width + first];
        *pair = to_u32(i64::from(*pair) + count);
        self.firsts[first] = self.firsts[first].wrapping_add_signed(count);
        self.seconds[second] = self.seconds[second].wrapping_add_signed(count);
    }

    /// Log likelihood of the text under these classes, per word.
    fn likelihood(&self, log: &LogTable) -> f64 {
        let sum = |counts: &[u64]| counts.iter().map(|&count| log.of(count)).sum::<f64>();
        let pairs: f64 = self.pairs.iter().map(|&count| log.of(u64::from(count))).sum();
        let words = sum(&self.bigrams.units.counts) + log.of(self.bigrams.sentences);
        let total = pairs - sum(&self.firsts) - sum(&self.seconds) + words;
        total / (self.seconds.iter().sum::<u64>().max(1)) as f64
    }

    /// Rounds until hardly anything moves; how many words moved in each.
    fn run(&mut self, rounds: usize, log: &LogTable, job: &Job) -> Result<Vec<usize>> {
        let units = self.class_of.len();
        job.begin((units * rounds) as u64);
        let mut moved = Vec::new();
        for _ in 0..rounds {
            let mut moves = 0;
            for start in (0..units).step_by(BATCH) {
                let end = (start + BATCH).min(units);
                let best = |around: &mut Around, at| Ok(self.best(start + at, around, log));
                let (wanted, _) = map(end - start, 1, job, Around::default, best)?;
                let mut around = Around::default();
                for (unit, class) in (start..end).zip(wanted) {
                    moves += usize::from(self.try_move(unit, class, &mut around, log));
                }
                job.advance((end - start) as u64);
            }
            moved.push(moves);
            if moves * MOVED_AT_LEAST < units {
                break;
            }
        }
        Ok(moved)
    }

    /// What stands around a unit, by class.
    fn look(&self, unit: usize, around: &mut Around) {
        let Around { before, after, itself, .. } = around;
        *itself = 0;
        for (neighbours, side) in [(&self.bigrams.before, before), (&self.bigrams.after, after)] {
            side.clear(self.classes + 1);
            for &(neighbour, count) in neighbours.of(unit) {
                if neighbour as usize == unit {
                    *itself = count;
                } else {
                    side.add(self.class(neighbour), count);
                }
            }
        }
    }

    /// The class where a unit makes the text most likely; its own among equals.
    ///
    /// Everything is counted as if the unit had been taken out first: that changes the pairs of its
    /// own class, and so the rows of that class are corrected before they are used.
    fn best(&self, unit: usize, around: &mut Around, log: &LogTable) -> u32 {
        self.look(unit, around);
        let home = self.class_of[unit] as usize;
        let Around { before, after, itself, gains, row } = around;
        gains.clear();
        gains.resize(self.classes, 0.0);
        let width = self.classes + 1;
        let sides = [(&*after, &self.turned, &*before), (&*before, &self.pairs, &*after)];
        for (side, table, other) in sides {
            for (class, count) in side.pairs() {
                let counts = &table[class * width..][..self.classes];
                if class != home {
                    add_gains(gains, counts, count, log);
                    continue;
                }
                row.clear();
                row.extend(counts.iter().zip(&other.counts).map(|(&all, &gone)| all - gone));
                row[home] = 0; // the class it has is judged apart
                add_gains(gains, row, count, log);
            }
        }
        for (class, gain) in gains.iter_mut().enumerate() {
            let (left, right) = (before.counts[class], after.counts[class]);
            if left + right + *itself > 0 {
                let inside = self.pairs[class * width + class];
                *gain += log.more(inside, left + right + *itself);
                *gain -= log.more(inside, left) + log.more(inside, right);
            }
            let total = self.bigrams.units.counts[unit];
            *gain -= log.rise(self.firsts[class], total) + log.rise(self.seconds[class], total);
        }
        let here = self.gain_at(unit, home, around, log) + LEAST_GAIN;
        let mut best = (home, here);
        for (class, &gain) in around.gains.iter().enumerate() {
            if gain > best.1 && class != home {
                best = (class, gain);
            }
        }
        to_u32(best.0)
    }

    /// What a unit adds to the likelihood in a class, once it is taken out of its own.
    fn gain_at(&self, unit: usize, class: usize, around: &Around, log: &LogTable) -> f64 {
        let home = self.class_of[unit] as usize;
        let Around { before, after, itself, .. } = around;
        let cell = |first: usize, second: usize| {
            let mut count = self.pairs[first * (self.classes + 1) + second];
            if first == home {
                count -= after.counts[second];
            }
            if second == home {
                count -= before.counts[first];
            }
            if first == home && second == home { count - *itself } else { count }
        };
        let right = after.pairs().filter(|(other, _)| *other != class);
        let left = before.pairs().filter(|(other, _)| *other != class);
        let both = after.counts[class] + before.counts[class] + *itself;
        let total = self.bigrams.units.counts[unit];
        let taken = if class == home { total } else { 0 };
        right.map(|(other, count)| log.more(cell(class, other), count)).sum::<f64>()
            + left.map(|(other, count)| log.more(cell(other, class), count)).sum::<f64>()
            + log.more(cell(class, class), both)
            - log.rise(self.firsts[class] - taken, total)
            - log.rise(self.seconds[class] - taken, total)
    }

    /// Moves a unit if that still gains; whether it did.
    fn try_move(&mut self, unit: usize, class: u32, around: &mut Around, log: &LogTable) -> bool {
        if class == self.class_of[unit] {
            return false;
        }
        self.look(unit, around);
        let (from, to) = (self.class_of[unit] as usize, class as usize);
        let there = self.gain_at(unit, to, around, log);
        if there <= self.gain_at(unit, from, around, log) + LEAST_GAIN {
            return false;
        }
        for (class, sign) in [(from, -1), (to, 1)] {
            for (other, count) in around.after.pairs() {
                self.add(class, other, sign * i64::from(count));
            }
            for (other, count) in around.before.pairs() {
                self.add(other, class, sign * i64::from(count));
            }
            self.add(class, class, sign * i64::from(around.itself));
        }
        self.class_of[unit] = class;
        true
    }
}

/// Adds to each class what `count` more pairs with it bring.
fn add_gains(gains: &mut [f64], row: &[u32], count: u32, log: &LogTable) {
    let from_nothing = log.of(u64::from(count));
    for (gain, &known) in gains.iter_mut().zip(row) {
        *gain += if known == 0 { from_nothing } else { log.more(known, count) };
    }
}
