//! Python's view of `wayword::reorder`.

use crate::align::Links;
use crate::border::{call, enter};
use crate::corpus::IDS;
use crate::oracle::check_count;
use crate::view::View;
use pyo3::prelude::*;
use std::sync::Arc;
use wayword::align::Link;
use wayword::error::Error;
use wayword::orientation;
use wayword::parallel::{self, BLOCK};
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

/// The orders that the links of many sentences imply, one after the other.
#[pyfunction]
#[pyo3(signature = (links, lengths, heuristic, *, threads))]
pub fn orders_from_links(
    py: Python<'_>,
    links: &Links,
    lengths: Vec<usize>,
    heuristic: &str,
    threads: usize,
) -> PyResult<View> {
    let links = Arc::clone(&links.inner);
    let orders = enter(py, threads, None, |job| {
        check_count(links.len(), lengths.len())?;
        let heuristic = Heuristic::named(heuristic)?;
        let order = |(): &mut (), number: usize| {
            order::order_from_links(lengths[number], links.sentence(number), heuristic)
        };
        let (orders, _) = parallel::map(lengths.len(), BLOCK, job, || (), order)?;
        Ok(orders.concat())
    })?;
    Ok(View::of(Arc::new(orders), IDS, |orders: &Vec<u32>| orders))
}

/// The name of an orientation model, taken apart; see `wayword.extract`.
#[pyclass(frozen, eq, module = "wayword._core")]
#[derive(PartialEq)]
pub struct Orientation {
    inner: orientation::Orientation,
}

#[pymethods]
impl Orientation {
    #[new]
    fn new(py: Python<'_>, name: &str) -> PyResult<Self> {
        let inner = call(py, || orientation::Orientation::named(name))?;
        Ok(Orientation { inner })
    }

    fn __str__(&self) -> String {
        self.inner.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Orientation('{}')", self.inner)
    }

    /// The name of what our tables hold for it, which has no coarser classes.
    #[getter]
    fn stored(&self) -> String {
        self.inner.stored().to_string()
    }

    /// The name in Moses' words.
    #[getter]
    fn moses(&self) -> String {
        self.inner.moses_name()
    }

    /// The word for its model in tables.
    #[getter]
    fn model(&self) -> &'static str {
        self.inner.model.name()
    }

    /// For each of Moses' weights the features it is for.
    #[getter]
    fn moses_weights(&self) -> Vec<Vec<String>> {
        self.inner.moses_weights()
    }
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
