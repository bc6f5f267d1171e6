//! Input of a search: requests and marked-up text.

pub mod markup;
pub mod request;
