//! Features of what is translated around the word jumped to (definitions b.7).
//!
//! In: a prepared sentence, a word, and the bits of its surroundings. Out: the features that fire,
//! as fingerprints and as text: `22|bit`, `23|bit|p(j)` with tags, `24|bit|w(j)`; bits count from 1.
//! How: they depend on the word and its surroundings alone, so that a sentence needs one table of
//! a number for each word and bit.
//! Cost: two or three look-ups a word and bit, once a sentence.

use super::model::Model;
use super::options::Options;
use super::prepared::Prepared;
use super::template::{first, fold, spread};
use crate::corpus::annotated::{Layer, Sentence, hash_of};
use crate::narrow::to_u32;
use crate::reorder::jump::{Around, BITS};
use crate::reorder::names::{escape, plain};

/// Templates, and what each looks at besides a bit.
const TEMPLATES: [(u8, Option<Layer>); 3] =
    [(22, None), (23, Some(Layer::Tag)), (24, Some(Layer::Word))];

/// The templates of a model that look around; none when it does not.
#[derive(Debug, Clone)]
pub struct Looks {
    chosen: Vec<(u8, Option<Layer>)>,
    /// Hashes of the bits' numbers.
    bits: [u64; BITS],
}

/// A feature that fires: the place of its template, and its bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    template: usize,
    bit: usize,
}

impl Looks {
    /// The templates that these options choose.
    pub fn new(options: &Options) -> Self {
        let needs = options.templates.needs();
        let has = |layer: Option<Layer>| match layer {
            Some(Layer::Tag) => needs.tags,
            // Sets with words hold the template of two words.
            Some(_) => options.templates.has(1),
            None => true,
        };
        let chosen = TEMPLATES.into_iter().filter(|&(_, layer)| options.coverage && has(layer));
        Looks {
            chosen: chosen.collect(),
            bits: std::array::from_fn(|bit| hash_of(&(bit + 1).to_string())),
        }
    }

    /// Calls `each` for every feature of a word with these surroundings.
    pub fn firings(&self, around: Around, mut each: impl FnMut(Look)) {
        for template in 0..self.chosen.len() {
            around.bits().for_each(|bit| each(Look { template, bit }));
        }
    }

    /// What a feature is looked up by; the word counts from 1.
    pub fn fingerprint(&self, src: &Prepared, word: u32, look: Look) -> u64 {
        let (id, layer) = self.chosen[look.template];
        let sum = fold(first(id), self.bits[look.bit]);
        spread(layer.map_or(sum, |layer| fold(sum, src.at(layer, word, 0))))
    }

    /// A feature as text; the word counts from 1.
    pub fn text(&self, src: &Sentence<'_>, word: u32, look: Look) -> String {
        let (id, layer) = self.chosen[look.template];
        let mut text = format!("{id}|{}", look.bit + 1);
        if let Some(layer) = layer {
            text.push('|');
            escape(src.at(layer, i64::from(word)), &mut text);
        }
        text
    }

    /// The fingerprint of a feature given as text; none when no template has such a text.
    pub fn fingerprint_of(&self, text: &str) -> Option<u64> {
        let mut fields = text.split('|');
        let id: u8 = fields.next()?.parse().ok()?;
        let &(_, layer) = self.chosen.iter().find(|(known, _)| *known == id)?;
        let bit = fields.next()?.parse::<usize>().ok()?.checked_sub(1)?;
        let mut sum = fold(first(id), *self.bits.get(bit)?);
        if layer.is_some() {
            sum = fold(sum, hash_of(&plain(fields.next()?)));
        }
        fields.next().is_none().then(|| spread(sum))
    }

    /// What each bit brings each word of a sentence.
    pub fn table(&self, model: &Model, src: &Prepared) -> Vec<[f32; BITS]> {
        let of = |word: u32, bit: usize| -> f32 {
            let looks = (0..self.chosen.len()).map(|template| Look { template, bit });
            looks.map(|look| model.weight(self.fingerprint(src, word, look))).sum()
        };
        let words = 1..=to_u32(src.len());
        words.map(|word| std::array::from_fn(|bit| of(word, bit))).collect()
    }
}
