//! N-gram language models: how likely a word is after the words before it.
//!
//! In: text, an ARPA file, or a file written here before. Out: a `Model` that scores words.
//! How: interpolated modified Kneser-Ney (Chen and Goodman, 1998), estimated by sorting
//! (Heafield et al., 2013); queries in hash tables that lie in a mapped file.
//! Scores are natural logarithms; ARPA's are base 10 and are converted when read or written.
//!
//! `count` and `estimate` (or `smooth`, in memory) make n-grams from text, `parts` from text that was counted elsewhere,
//! `mix` from other models, `arpa` reads and `print` writes them, `image` lays them out for look-ups,
//! `model` answers and `sentence` sums up.

mod arpa;
mod complete;
mod count;
mod discount;
mod estimate;
mod grams;
mod image;
mod key;
mod layout;
mod lists;
mod mix;
mod model;
mod open;
mod parts;
mod print;
mod seat;
mod sentence;
mod share;
mod smooth;
mod state;
#[cfg(test)]
pub(crate) mod tests;
mod train;
mod trie;

pub use arpa::read_arpa;
pub use count::Corpus;
pub use discount::Discount;
pub use grams::{Gram, Grams};
pub use image::{write_image, write_image_in_memory};
pub(crate) use layout::SEAL;
pub use lists::GramLists;
pub use mix::mix;
pub use model::{Match, Model};
pub use open::{LoadOptions, load};
pub use parts::{Parts, write_part};
pub use print::write_arpa;
pub use sentence::{SentenceScore, WordScore};
pub use state::State;
pub use train::{Estimate, Summary, TrainOptions, estimate, estimate_parts};

use crate::corpus::WordId;

/// The highest order of a model.
pub const MAX_ORDER: usize = 8;

/// Number of the word that stands for all unknown ones.
pub const UNK: WordId = 0;
/// Number of the word before a sentence.
pub const BOS: WordId = 1;
/// Number of the word after a sentence.
pub const EOS: WordId = 2;
/// The words with fixed numbers, in that order.
pub const RESERVED: [&str; 3] = ["<unk>", "<s>", "</s>"];
