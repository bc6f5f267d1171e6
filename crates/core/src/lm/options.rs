//! Options of estimation and their validation.

use super::MAX_ORDER;
use crate::error::{Error, Result};

/// Options of estimating a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LmTrainOptions {
    /// Length of the longest n-grams.
    pub order: usize,
    /// Pruning thresholds by order, from order 1 up: n-grams with at most this frequency are
    /// dropped. The last threshold applies to all further orders.
    pub prune: Vec<u64>,
    /// Memory limit of sorting in bytes.
    pub memory: usize,
}

/// Validate the options and return the pruning threshold of each order.
pub(super) fn validate_options(options: &LmTrainOptions) -> Result<Vec<u64>> {
    if !(1..=MAX_ORDER).contains(&options.order) {
        return Err(Error::Argument {
            name: "order".into(),
            found: options.order.to_string(),
            expected: format!("a number from 1 to {MAX_ORDER}"),
        });
    }
    let mut prune = options.prune.clone();
    let is_fine = prune.first().is_none_or(|&first| first == 0)
        && prune.len() <= options.order
        && prune.is_sorted();
    if !is_fine {
        let found: Vec<_> = prune.iter().map(u64::to_string).collect();
        return Err(Error::Argument {
            name: "prune".into(),
            found: found.join(" "),
            expected: "at most one number per order, the first 0, none below the one before".into(),
        });
    }
    prune.resize(options.order, prune.last().copied().unwrap_or(0));
    Ok(prune)
}
