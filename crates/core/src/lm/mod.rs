//! N-gram language models: the probability of a word after the words before it.
//!
//! In: text, an ARPA file, or a binary model. Out: a `Model` that scores words.
//! How: interpolated modified Kneser-Ney smoothing (Chen and Goodman, 1998), estimated by sorting
//! (Heafield et al., 2013); queries in hash tables of a mapped file, as in KenLM.
//! Scores are natural logarithms; those of ARPA files are base 10 and are converted on reading and
//! writing.
//!
//! Files in the order of the data flow:
//!
//! * `options`: options of estimation and their validation
//! * `corpus`: the training text as word ids
//! * `ngram_key`: n-grams packed into integers that sort in suffix order
//! * `vocab_partition`: ranges of the vocabulary, one per thread
//! * `count`: adjusted counts of all n-grams
//! * `count_shards`: counts of parts of a text, written to files and joined
//! * `discount`: discounts of modified Kneser-Ney smoothing
//! * `sorted_estimation`: probabilities and backoffs by external sorting
//! * `suffix_trie`, `trie_estimation`: the same in memory
//! * `train`: the passes from text to an estimated model
//! * `ngram`, `ngram_source`, `ngram_lists`: scored n-grams, the interface of their sources, sorted
//!   lists
//! * `arpa_reader`, `arpa_completion`, `arpa_writer`: ARPA files
//! * `mixture`: static interpolation of several models
//! * `binary_layout`, `binary_writer`: the binary file format
//! * `model`, `ngram_state`: the mapped model and its queries
//! * `load`: opening of a model file of any format
//! * `sentence_score`: scores of sentences and texts
//! * `decoder_adapter`: the decoder's language-model interface

mod arpa_completion;
mod arpa_reader;
mod arpa_writer;
mod binary_layout;
mod binary_writer;
mod corpus;
mod count;
mod count_shards;
mod decoder_adapter;
mod discount;
mod load;
mod mixture;
mod model;
mod ngram;
mod ngram_key;
mod ngram_lists;
mod ngram_source;
mod ngram_state;
mod options;
mod sentence_score;
mod sorted_estimation;
mod suffix_trie;
#[cfg(test)]
pub(crate) mod tests;
mod train;
mod trie_estimation;
mod vocab_partition;

pub use arpa_reader::read_arpa;
pub use arpa_writer::write_arpa;
pub(crate) use binary_layout::SEAL;
pub use binary_writer::{build_model, write_binary};
pub use corpus::LmCorpus;
pub use count_shards::{CountShards, write_count_shard};
pub use discount::CountDiscount;
pub use load::{LmLoadOptions, load};
pub use mixture::mix_models;
pub use model::{Model, NgramMatch};
pub use ngram::ScoredNgram;
pub use ngram_lists::NgramLists;
pub use ngram_source::NgramSource;
pub use ngram_state::NgramState;
pub use options::LmTrainOptions;
pub use sentence_score::{SentenceScore, WordScore};
pub use train::{EstimatedModel, LmTrainSummary, estimate, estimate_from_shards};

use crate::corpus::WordId;

/// Maximal order of a model.
pub const MAX_ORDER: usize = 8;

/// Id of the unknown word.
pub const UNK: WordId = 0;
/// Id of the start of a sentence.
pub const BOS: WordId = 1;
/// Id of the end of a sentence.
pub const EOS: WordId = 2;
/// The reserved words, by id.
pub const RESERVED: [&str; 3] = ["<unk>", "<s>", "</s>"];
