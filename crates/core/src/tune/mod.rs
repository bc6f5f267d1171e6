//! Weights from data: how the best candidates change when the weights move along a line.
//!
//! In: feature values of candidate translations, sentence by sentence. Out: for a point and a
//! direction, every place on the line where the best candidate of a sentence changes, and the
//! statistics of the metric between two such places.
//! How: along a line the score of a candidate is a straight line itself, so the best ones of a
//! sentence are the upper envelope of its lines (Och, 2003).
//! Cost: some passes over the candidates a search, along an axis or any other direction.
//! Not: metrics, restarts, stopping rules; those are Python (`wayword.tune`).

mod envelope;
mod pool;
mod sieve;
mod statistics;

pub use envelope::{Crossing, Envelope, Line};
pub use pool::{Crossings, Point, Pool};
pub use sieve::{Known, Lines};
pub use statistics::{Rows, Statistics};
