//! Input of a search. The files in the order of the data flow:
//!
//! * `markup`: sentences with translations, walls and zones in tags
//! * `request`: a sentence to translate, and the requested output

pub mod markup;
pub mod request;
