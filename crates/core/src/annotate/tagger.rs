//! A tagger: passes over a sentence, each of which sees what the one before found.
//!
//! In: a `Treebank` to learn from; then sentences. Out: a `Tagger`; then tags and chunk labels.
//! How: the first pass tags from left to right; the second sees the tags on both sides and labels
//! chunks. It learns from tags as the first would have given them to text it has not seen: the
//! treebank is cut into parts, and each part is tagged by a pass trained on the others.
//! Cost: with chunks, training is (parts + 2) times that of one pass; threads share the parts.
//! Not: a second pass of tagging; it was tried and gained nothing on six treebanks.

use super::form::{Form, Scratch};
use super::labeller::{Buffers, Labeller};
use super::learn::{Example, Recipe, learn};
use crate::corpus::Vocab;
use crate::error::{Error, Result};
use crate::job::Job;
use crate::narrow::{to_u16, to_u32};
use crate::parallel::map;

/// Labels are numbered with 16 bits, and a few numbers are kept free.
pub(super) const MAX_LABELS: usize = 60_000;
/// Passes over a sentence: tags, chunks.
pub(super) const MAX_PASSES: usize = 2;
const MAX_EPOCHS: usize = 1000;
const MAX_PARTS: usize = 100;

/// Sentences with their tags and, in all of them or in none, chunk labels.
#[derive(Debug, Default)]
pub struct Treebank {
    vocab: Vocab,
    forms: Vec<Form>,
    sentences: Vec<Vec<Form>>,
    tags: Layer,
    chunks: Layer,
    scratch: Scratch,
}

/// Labels of all sentences, as numbers of their names.
#[derive(Debug, Default)]
struct Layer {
    names: Vocab,
    gold: Vec<Vec<u16>>,
}

impl Layer {
    fn push<'a>(&mut self, labels: impl Iterator<Item = &'a str>, kind: &str) -> Result<()> {
        let numbers: Vec<u16> = labels.map(|label| to_u16(self.names.intern(label))).collect();
        if self.names.len() > MAX_LABELS {
            return Err(Error::Argument {
                name: kind.into(),
                found: format!("more than {MAX_LABELS} different ones"),
                expected: "a tag set; are these words?".into(),
            });
        }
        self.gold.push(numbers);
        Ok(())
    }

    fn labels(&self) -> Vec<String> {
        (0..to_u32(self.names.len())).map(|name| self.names.word(name).to_owned()).collect()
    }
}

impl Treebank {
    /// Adds a sentence; `chunks` is empty when the treebank has none.
    pub fn push<'a>(
        &mut self,
        words: impl Iterator<Item = &'a str>,
        tags: impl Iterator<Item = &'a str>,
        chunks: Option<impl Iterator<Item = &'a str>>,
    ) -> Result<()> {
        let mut sentence = Vec::new();
        for word in words {
            let id = self.vocab.intern(word) as usize;
            if id == self.forms.len() {
                self.forms.push(Form::of(word, &mut self.scratch));
            }
            sentence.push(self.forms[id]);
        }
        self.tags.push(tags, "tags")?;
        if let Some(chunks) = chunks {
            self.chunks.push(chunks, "chunks")?;
        }
        let of_tags = self.tags.gold.last().map_or(0, Vec::len);
        let of_chunks = self.chunks.gold.last().map_or(of_tags, Vec::len);
        let is_whole = [0, self.sentences.len() + 1].contains(&self.chunks.gold.len());
        if sentence.len() != of_tags || sentence.len() != of_chunks || !is_whole {
            return Err(Error::Argument {
                name: "sentences".into(),
                found: format!(
                    "labels that do not fit the words of number {}",
                    self.sentences.len() + 1
                ),
                expected: "a tag for every word, and a chunk label for every word or for none"
                    .into(),
            });
        }
        self.sentences.push(sentence);
        Ok(())
    }

    /// Number of sentences.
    pub fn len(&self) -> usize {
        self.sentences.len()
    }

    /// Whether there is no sentence.
    pub fn is_empty(&self) -> bool {
        self.sentences.is_empty()
    }
}

/// How to train a tagger.
#[derive(Debug, Clone, Copy)]
pub struct FitOptions {
    /// Times that training goes through the treebank.
    pub epochs: usize,
    /// Parts the treebank is cut into to tag it as if it were new.
    pub parts: usize,
    /// Decides the order of sentences.
    pub seed: u64,
}

/// A trained tagger.
#[derive(Debug, Clone)]
pub struct Tagger {
    /// One pass that tags, and perhaps one that labels chunks.
    pub(super) passes: Vec<Labeller>,
}

/// What a tagger found in one sentence: numbers of labels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layers {
    /// One tag a word.
    pub tags: Vec<u16>,
    /// One chunk label a word; none when the tagger knows no chunks.
    pub chunks: Option<Vec<u16>>,
}

/// Memory of one thread.
#[derive(Debug, Default)]
pub struct Worker {
    scratch: Scratch,
    forms: Vec<Form>,
    known: Vec<u64>,
    labels: Vec<u16>,
    buffers: Buffers,
}

impl Tagger {
    /// Learns from a treebank.
    pub fn fit(treebank: &Treebank, options: FitOptions, job: &Job) -> Result<Tagger> {
        check(treebank, options)?;
        let has_chunks = !treebank.chunks.gold.is_empty();
        let layers = [&treebank.tags, &treebank.chunks];
        let layers = &layers[..if has_chunks { 2 } else { 1 }];
        let runs = (layers.len() - 1) * options.parts + 1;
        job.begin((treebank.len() * options.epochs * runs) as u64);
        let mut passes: Vec<Labeller> = Vec::new();
        let mut known: Vec<Vec<u64>> = vec![Vec::new(); treebank.len()];
        for (number, layer) in layers.iter().enumerate() {
            let examples: Vec<Example> = (treebank.sentences.iter().zip(&layer.gold).zip(known))
                .map(|((forms, gold), known)| Example {
                    forms: forms.clone(),
                    known,
                    gold: gold.clone(),
                })
                .collect();
            let labels = layer.labels();
            let is_last = number + 1 == layers.len();
            let mut learned = learn_parts(&examples, &labels, options, !is_last, job)?;
            passes.extend(learned.pop());
            known = if is_last { Vec::new() } else { tag_parts(&examples, &learned) };
        }
        Ok(Tagger { passes })
    }

    /// Tags a sentence.
    pub fn tag<'a>(&self, words: impl Iterator<Item = &'a str>, worker: &mut Worker) -> Layers {
        let Worker { scratch, forms, known, labels, buffers } = worker;
        forms.clear();
        forms.extend(words.map(|word| Form::of(word, scratch)));
        known.clear();
        let mut layers = Layers::default();
        for (number, pass) in self.passes.iter().enumerate() {
            pass.label(forms, known, buffers, labels);
            known.clear();
            known.extend(labels.iter().map(|&label| u64::from(label) + 1));
            match number {
                0 => layers.tags.clone_from(labels),
                _ => layers.chunks = Some(labels.clone()),
            }
        }
        layers
    }

    /// The names of the tags.
    pub fn tag_names(&self) -> &[String] {
        self.passes.first().map_or(&[], |pass| &pass.labels)
    }

    /// The names of the chunk labels, when it knows chunks.
    pub fn chunk_names(&self) -> Option<&[String]> {
        self.passes.get(1).map(|pass| pass.labels.as_slice())
    }

    /// Number of features with weights.
    pub fn features(&self) -> usize {
        self.passes.iter().map(|pass| pass.keys.len()).sum()
    }
}

fn check(treebank: &Treebank, options: FitOptions) -> Result<()> {
    let wrong = |name: &str, found: usize, expected: String| {
        Err(Error::Argument { name: name.into(), found: found.to_string(), expected })
    };
    if !(1..=MAX_EPOCHS).contains(&options.epochs) {
        return wrong("epochs", options.epochs, format!("1 to {MAX_EPOCHS}"));
    }
    if !(2..=MAX_PARTS).contains(&options.parts) {
        return wrong("parts", options.parts, format!("2 to {MAX_PARTS}"));
    }
    if treebank.len() < options.parts {
        return wrong("sentences", treebank.len(), format!("at least {}", options.parts));
    }
    Ok(())
}

/// Which part a sentence belongs to: neighbours, which are alike, stay together.
fn part_of(sentence: usize, sentences: usize, parts: usize) -> usize {
    sentence * parts / sentences
}

/// One labeller without each part, when asked for, and last one of everything.
fn learn_parts(
    examples: &[Example],
    labels: &[String],
    options: FitOptions,
    with_parts: bool,
    job: &Job,
) -> Result<Vec<Labeller>> {
    let parts = if with_parts { options.parts } else { 0 };
    let recipe = Recipe { epochs: options.epochs, seed: options.seed };
    let run = |number: usize| {
        let is_in =
            |sentence| number == parts || part_of(sentence, examples.len(), parts) != number;
        let chosen: Vec<&Example> = examples
            .iter()
            .enumerate()
            .filter(|(sentence, _)| is_in(*sentence))
            .map(|(_, example)| example)
            .collect();
        learn(&chosen, labels, recipe, job)
    };
    // The one of everything takes longest, so it goes first.
    let (mut learned, _) = map(parts + 1, 1, job, || (), |(), turn| run(parts - turn))?;
    learned.reverse();
    Ok(learned)
}

/// The labels of each sentence, given by the labeller that has not seen it, plus 1.
fn tag_parts(examples: &[Example], without: &[Labeller]) -> Vec<Vec<u64>> {
    let (mut buffers, mut labels) = (Buffers::default(), Vec::new());
    let tagged = examples.iter().enumerate().map(|(sentence, example)| {
        let labeller = &without[part_of(sentence, examples.len(), without.len())];
        labeller.label(&example.forms, &example.known, &mut buffers, &mut labels);
        labels.iter().map(|&label| u64::from(label) + 1).collect()
    });
    tagged.collect()
}
