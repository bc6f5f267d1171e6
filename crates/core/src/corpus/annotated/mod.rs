//! Annotated text: sentences whose words have tags, chunks and heads of chunks.
//!
//! In: factored tokens (`word|POS|chunk`) or ready layers. Out: `Sentence`, the text of one
//! sentence by layer and position; `AnnotatedText`, many sentences as numbers.
//! Not: orders and links, which `reorder::Corpus` adds; finding the annotation, which `annotate`
//! does.

mod sentence;
mod text;

pub use sentence::{Annotation, BadToken, END, FACTORS, Layer, OUTSIDE, START, Sentence, hash_of};
pub use text::AnnotatedText;
