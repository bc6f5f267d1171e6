//! Python's view of `wayword::reorder`.

use crate::border::call;
use pyo3::prelude::*;
use wayword::align::Link;
use wayword::error::Error;
use wayword::reorder::order::{self, Heuristic};

/// The order that links imply; see `wayword.reorder.order`.
#[pyfunction]
pub fn order_from_links(
    py: Python<'_>,
    length: usize,
    links: Vec<(u32, u32)>,
    heuristic: &str,
) -> PyResult<Vec<u32>> {
    call(py, || {
        let links: Vec<Link> = links.into_iter().map(|(src, tgt)| Link::new(src, tgt)).collect();
        order::order_from_links(length, &links, Heuristic::named(heuristic)?)
    })
}

/// The inverse of a permutation.
#[pyfunction]
pub fn inverse(py: Python<'_>, permutation: Vec<u32>) -> PyResult<Vec<u32>> {
    call(py, || order::inverse(&permutation).ok_or_else(|| no_permutation(permutation.len())))
}

/// Kendall's distance of two orders.
#[pyfunction]
pub fn kendall_distance(py: Python<'_>, first: Vec<u32>, second: Vec<u32>) -> PyResult<f64> {
    call(py, || order::kendall_distance(&first, &second).ok_or_else(|| no_permutation(first.len())))
}

fn no_permutation(length: usize) -> Error {
    Error::Argument {
        name: "order".into(),
        found: format!("{length} numbers that are not a permutation"),
        expected: "each number from 0 up exactly once, both orders of one length".into(),
    }
}
