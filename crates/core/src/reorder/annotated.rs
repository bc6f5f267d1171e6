//! A sentence to translate with the layers that a model of word order looks at.
//!
//! In: a source sentence, and what the model needs. Out: its annotated form, or a sentence that
//! says what is missing.

use crate::corpus::annotated::{Annotation, Sentence};
use crate::error::{Error, Place, Result};
use crate::feature::SourceSentence;
use std::borrow::Cow;

/// The sentence with the layers that the model of a feature needs.
pub fn annotated<'a>(
    source: &SourceSentence<'a>,
    needs: Annotation,
    feature: &str,
) -> Result<Sentence<'a>> {
    let texts = |layer: &'a [&'a str]| layer.iter().copied().map(Cow::Borrowed).collect();
    let words = texts(source.words);
    let (mut tags, mut types) = (Vec::new(), Vec::new());
    let (mut heads, mut starts) = (Vec::new(), Vec::new());
    if needs.tags {
        tags = texts(source.tags.ok_or_else(|| lacks(source, "tags", feature))?);
    }
    if needs.chunks {
        let chunks = source.chunks.ok_or_else(|| lacks(source, "chunks", feature))?;
        types = texts(chunks.types);
        (heads, starts) = (chunks.heads.to_vec(), chunks.starts.to_vec());
    }
    Sentence::of_layers(words, tags, types, heads, starts).ok_or_else(|| Error::Mismatch {
        place: place(source),
        found: format!("layers that do not fit {} words", source.words.len()),
        advice: "give a tag, a chunk type, a head and a start for each word".into(),
    })
}

fn lacks(source: &SourceSentence<'_>, layer: &str, feature: &str) -> Error {
    Error::Format {
        place: place(source),
        found: format!("words without {layer}"),
        expected: format!("{layer}, which the model of feature `{feature}` looks at"),
        advice: "annotate the text as the training text was".into(),
    }
}

fn place(source: &SourceSentence<'_>) -> Place {
    Place { file: "sentence".into(), line: Some(source.number as u64 + 1) }
}
