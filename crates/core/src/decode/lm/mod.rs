//! Language model contexts and the caches of their scores.

pub mod caches;
pub mod contexts;
