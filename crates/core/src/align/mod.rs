//! Word alignment: links between the words of a sentence pair that translate each other.
//!
//! In: a bitext. Out: a trained `Aligner`, which can be saved, and alignment links with posteriors
//! for any sentence pair.
//! How: IBM Model 1, then an HMM in both directions, trained to agree (Liang, Taskar and Klein,
//! 2006); or, faster, IBM Model 2 with a diagonal prior (Dyer et al., 2013). Links are selected by
//! posterior or by a symmetrization heuristic.
//! Cost: linear in the number of sentence pairs; memory for the distinct co-occurring word pairs,
//! within `AlignerOptions::memory`.
//! Not: phrases, which `extract` handles.
//!
//! Files in the order of the data flow:
//!
//! * `options`: options of training and their validation
//! * `word_numbering`: dense word numbers per side, with stems for rare words
//! * `text_shard`: the training text in these numbers
//! * `memory_budget`: division of the memory limit
//! * `fixed_point`: expected counts as integers
//! * `cooccurrence`: co-occurrence counts of word pairs
//! * `lexicon`, `lexicon_builder`: lexical translation probabilities and their initial values
//! * `sentence_pair`: a sentence pair with its lexicon entries; emission probabilities and
//!   posteriors
//! * `diagonal`: zero-order models (IBM Model 1, diagonal Model 2)
//! * `jump`, `lane_ops`, `hmm`: the HMM, forward-backward on padded rows
//! * `e_step`, `train`: expectation and maximization
//! * `aligner`, `fit`: the trained aligner, and its training on a bitext or files
//! * `sharded_training`: the same as tasks over shards of the text
//! * `symmetrize`, `text_aligner`: selection of links, alignment of texts
//! * `word_alignments`: links of a text and the Pharaoh format
//! * `pair_features`: features of translation quality of a sentence pair
//! * `link_rates`: share of linked occurrences of each word
//! * `model_file`: the file format of a trained aligner

mod aligner;
mod cooccurrence;
mod diagonal;
mod e_step;
mod fit;
mod fixed_point;
mod hmm;
mod jump;
mod lane_ops;
mod lexicon;
mod lexicon_builder;
mod link_rates;
mod memory_budget;
mod model_file;
mod options;
mod pair_features;
mod sentence_pair;
pub mod sharded_training;
mod symmetrize;
mod text_aligner;
mod text_shard;
mod train;
mod word_alignments;
mod word_numbering;

#[cfg(test)]
mod tests;

pub use aligner::{Aligner, AlignerSummary, MAX_CALIBRATION};
pub(crate) use model_file::SEAL;
pub use options::{AlignerOptions, AlignmentModel};
pub use pair_features::{FEATURES, FeatureRow};
pub use symmetrize::{SymmetrizationHeuristic, symmetrize, symmetrize_all};
pub use text_aligner::{AlignedText, LinkSelection, TextAligner};
pub use word_alignments::{Link, WordAlignments};
pub use word_numbering::MAX_WORDS;
