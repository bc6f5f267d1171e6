//! Python's view of `wayword::oracle`.

use crate::align::Links;
use crate::border::{call, enter};
use crate::decode::Decoder;
use crate::extract::PhraseTable;
use crate::source::{Source, held, with_requests};
use crate::view::View;
use pyo3::prelude::*;
use std::sync::Arc;
use wayword::decode::{SearchAlgorithm, SearchSettings};
use wayword::error::Error;
use wayword::narrow::to_i64;
use wayword::oracle::{self, Lattice, Monotone, Nearest, Oracle, Orders, Problem, Pruning};
use wayword::parallel::{self, BLOCK};
use wayword::phrase_table::TableSeat;
use wayword::reorder::Space;
use wayword::reorder::order::{Heuristic, order_from_links};

/// The type of distances, as numpy names it.
const DISTANCES: &str = if cfg!(target_endian = "little") { "<i8" } else { ">i8" };

/// From, item, to.
type LatticeArc = (u32, u32, u32);
/// Candidate, order, approximate BLEU, matches, whether exact.
type BestOrder = (usize, Vec<u32>, f64, [u32; 4], bool);
/// First and after the last source word, target words.
type SpanWords = (u32, u32, Vec<String>);
type Texts = Vec<Vec<String>>;

/// The name of a set of orders as it is shown; fails on an unknown one.
#[pyfunction]
pub fn oracle_space(py: Python<'_>, space: &str) -> PyResult<String> {
    call(py, || Ok(Orders::named(space)?.to_string()))
}

/// Whether an order is in a set.
#[pyfunction]
pub fn oracle_contains(py: Python<'_>, space: &str, order: Vec<u32>) -> PyResult<bool> {
    call(py, || Orders::named(space)?.contain(&order))
}

/// The states of each layer of a lattice, and its arcs.
#[pyfunction]
pub fn oracle_lattice(
    py: Python<'_>,
    space: &str,
    length: usize,
    most: usize,
) -> PyResult<(Vec<u32>, Vec<LatticeArc>)> {
    enter(py, 1, None, |_| {
        let lattice = Lattice::of(Orders::named(space)?, length, most)?;
        let arcs = lattice.arcs.iter().map(|arc| (arc.from, arc.word, arc.to)).collect();
        Ok((lattice.layers, arcs))
    })
}

/// The nearest orders of a set; none for one that takes too long.
#[pyfunction]
#[pyo3(signature = (space, orders, *, most, threads, progress))]
pub fn oracle_nearest(
    py: Python<'_>,
    space: &str,
    orders: Vec<Vec<u32>>,
    most: usize,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<Option<Vec<u32>>>> {
    enter(py, threads, progress, |job| {
        let set = Orders::named(space)?;
        job.begin(orders.len() as u64);
        let find = |nearest: &mut Nearest, number: usize| {
            job.advance(1);
            nearest.find(set, &orders[number], most)
        };
        Ok(parallel::map(orders.len(), BLOCK, job, Nearest::default, find)?.0)
    })
}

/// For each sentence its length, pairs that its gold order reverses, that the nearest order
/// reverses, and that the two put differently; -1 for the last two where it takes too long.
#[pyfunction]
#[pyo3(signature = (space, links, lengths, heuristic, *, most, threads, progress))]
#[expect(clippy::too_many_arguments, reason = "keyword-only; Python has the options")]
pub fn oracle_distances(
    py: Python<'_>,
    space: &str,
    links: &Links,
    lengths: Vec<usize>,
    heuristic: &str,
    most: usize,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<View> {
    let links = Arc::clone(&links.inner);
    let rows = enter(py, threads, progress, |job| {
        check_count(links.len(), lengths.len())?;
        let (set, heuristic) = (Orders::named(space)?, Heuristic::named(heuristic)?);
        job.begin(lengths.len() as u64);
        let measure = |nearest: &mut Nearest, number: usize| {
            let gold = order_from_links(lengths[number], links.sentence(number), heuristic)?;
            let found = nearest.find(set, &gold, most)?;
            job.advance(1);
            let found = found.and_then(|found| Nearest::distance(&gold, &found));
            Ok(match found {
                Some(far) => [u64::from(far.length), far.gold, far.nearest, far.wrong].map(to_i64),
                None => {
                    let gold = wayword::reorder::order::inversions(&gold);
                    [to_i64(lengths[number]), to_i64(gold), -1, -1]
                }
            })
        };
        Ok(parallel::map(lengths.len(), BLOCK, job, Nearest::default, measure)?.0)
    })?;
    Ok(View::of(Arc::new(rows), DISTANCES, |own: &Vec<[i64; 4]>| own).in_columns(4))
}

/// Sentences with references and monotone candidates; see `wayword.oracle.bleu`.
#[pyclass(frozen, module = "wayword._core")]
pub struct OracleProblems {
    inner: Arc<Vec<Problem>>,
    /// The source span of each phrase of each candidate, where it is known.
    spans: Vec<Vec<Vec<(u32, u32)>>>,
}

#[pymethods]
impl OracleProblems {
    /// Candidates from a phrase table.
    #[staticmethod]
    #[pyo3(signature = (table, sources, refs, *, longest, options_per_span, mixture, phrase_bonus,
        paths, keep, threads, progress))]
    #[expect(clippy::too_many_arguments, reason = "keyword-only; Python has the options")]
    fn of_table(
        py: Python<'_>,
        table: &PhraseTable,
        sources: Texts,
        refs: Vec<Texts>,
        longest: usize,
        options_per_span: usize,
        mixture: f64,
        phrase_bonus: f64,
        paths: usize,
        keep: usize,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let table = Arc::clone(&table.inner);
        let wanted = Monotone { longest, options_per_span, mixture, phrase_bonus, paths, keep };
        enter(py, threads, progress, |job| {
            check_count(refs.len(), sources.len())?;
            job.begin(sources.len() as u64);
            let seat = TableSeat { table: &table, orientation: None };
            let find = |(): &mut (), number: usize| {
                let of_sentence: Vec<Vec<&str>> =
                    refs[number].iter().map(|ref_| texts(ref_)).collect();
                let found =
                    oracle::candidates(&seat, &texts(&sources[number]), &of_sentence, &wanted)?;
                job.advance(1);
                Ok(found)
            };
            let (found, _) = parallel::map(sources.len(), 1, job, || (), find)?;
            let span = |piece: &oracle::Piece| (piece.span.start, piece.span.end);
            let spans = found
                .iter()
                .map(|all| all.iter().map(|pieces| pieces.iter().map(span).collect()).collect())
                .collect();
            let problem = |(refs, all): (Vec<Vec<String>>, Vec<Vec<oracle::Piece>>)| Problem {
                refs,
                candidates: all
                    .into_iter()
                    .map(|pieces| pieces.into_iter().map(|piece| piece.words).collect())
                    .collect(),
            };
            let problems = refs.into_iter().zip(found).map(problem).collect();
            Ok(OracleProblems { inner: Arc::new(problems), spans })
        })
    }

    /// Candidates as they are given.
    #[staticmethod]
    fn of_lists(py: Python<'_>, refs: Vec<Texts>, candidates: Vec<Vec<Texts>>) -> PyResult<Self> {
        call(py, || {
            check_count(refs.len(), candidates.len())?;
            let of_pair = |(refs, candidates)| Problem { refs, candidates };
            let problems: Vec<Problem> = refs.into_iter().zip(candidates).map(of_pair).collect();
            Ok(OracleProblems { inner: Arc::new(problems), spans: Vec::new() })
        })
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    /// The candidates of a sentence: source span (0, 0 where it is not known) and words of each
    /// phrase.
    fn candidates(&self, py: Python<'_>, number: usize) -> PyResult<Vec<Vec<SpanWords>>> {
        call(py, || {
            let problem = self.inner.get(number).ok_or_else(|| Error::Argument {
                name: "sentence".into(),
                found: number.to_string(),
                expected: format!("a number below {}", self.inner.len()),
            })?;
            let spans = self.spans.get(number);
            let phrase = |candidate: usize, at: usize, words: &Vec<String>| {
                let (start, end) = spans.map_or((0, 0), |spans| spans[candidate][at]);
                (start, end, words.clone())
            };
            let all = problem.candidates.iter().enumerate().map(|(candidate, phrases)| {
                let phrases = phrases.iter().enumerate();
                phrases.map(|(at, words)| phrase(candidate, at, words)).collect()
            });
            Ok(all.collect())
        })
    }

    /// The best candidate of each sentence and its best order.
    #[pyo3(signature = (space, *, beam, keep, most, threads, progress))]
    #[expect(clippy::too_many_arguments, reason = "keyword-only; Python has the options")]
    fn best(
        &self,
        py: Python<'_>,
        space: &str,
        beam: f64,
        keep: usize,
        most: usize,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<Option<BestOrder>>> {
        let problems = Arc::clone(&self.inner);
        let best = enter(py, threads, progress, |job| {
            Oracle::new(Orders::named(space)?, Pruning { beam, keep }, most)?.all(&problems, job)
        })?;
        let told = |best: oracle::Best| {
            (best.candidate, best.order, best.score, best.matched, best.is_exact)
        };
        Ok(best.into_iter().map(|best| best.map(told)).collect())
    }
}

/// The best translation of each sentence within reach, and its BLEU by itself.
#[pyfunction]
#[pyo3(signature = (decoder, sources, refs, known, space, *, pop_limit, options_per_span, nbest,
    threads, progress))]
#[expect(clippy::too_many_arguments, reason = "keyword-only; Python has the options")]
pub fn oracle_reach(
    py: Python<'_>,
    decoder: &Decoder,
    sources: Vec<PyRef<'_, Source>>,
    refs: Vec<Texts>,
    known: Vec<Texts>,
    space: &str,
    pop_limit: usize,
    options_per_span: usize,
    nbest: usize,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<(Vec<String>, f64)>> {
    let held = held(&sources);
    enter(py, threads, progress, |job| {
        check_count(refs.len(), held.len())?;
        check_count(known.len(), held.len())?;
        let settings = SearchSettings {
            space: Space::named(space)?,
            pruning: None,
            search: SearchAlgorithm::Cube,
            pop_limit,
            options_per_span,
            threshold: 0.0,
            ..decoder.settings().clone()
        };
        job.begin(held.len() as u64);
        let seat = TableSeat { table: decoder.table(), orientation: None };
        let found = with_requests(&held, |requests| {
            let reach = |(): &mut (), number: usize| {
                let refs: Vec<Vec<&str>> = refs[number].iter().map(|ref_| texts(ref_)).collect();
                let known: Vec<Vec<&str>> = known[number].iter().map(|own| texts(own)).collect();
                let request = &requests[number];
                let found = oracle::reach(&seat, request, &refs, &known, &settings, nbest, job)?;
                job.advance(1);
                Ok((found.words, found.score))
            };
            parallel::map(requests.len(), 1, job, || (), reach)
        })?;
        Ok(found.0)
    })
}

/// For each sentence and reference the places of words that no phrase offers.
#[pyfunction]
pub fn oracle_missing(
    py: Python<'_>,
    table: &PhraseTable,
    sources: Texts,
    refs: Vec<Texts>,
) -> PyResult<Vec<Vec<Vec<u32>>>> {
    let table = Arc::clone(&table.inner);
    enter(py, 0, None, |job| {
        check_count(refs.len(), sources.len())?;
        let seat = TableSeat { table: &table, orientation: None };
        let look = |(): &mut (), number: usize| {
            let refs: Vec<Vec<&str>> = refs[number].iter().map(|ref_| texts(ref_)).collect();
            oracle::missing(&seat, &texts(&sources[number]), &refs)
        };
        Ok(parallel::map(sources.len(), 16, job, || (), look)?.0)
    })
}

fn texts(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

pub(crate) fn check_count(found: usize, expected: usize) -> wayword::Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::Argument {
        name: "sentences".into(),
        found: format!("{found} of one kind and {expected} of another"),
        expected: "as many of each".into(),
    })
}
