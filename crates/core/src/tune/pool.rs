//! The candidates of all sentences, and points in the space of weights.
//!
//! In: feature values of new candidates, batch by batch. Out: the best candidates at a point, and
//! where they change along a line through it.
//! How: a list a feature, the candidates of a sentence side by side, older ones first. Lists never
//! change: a batch makes new ones, one after the other.
//! Cost: 4 bytes a value; a point keeps the score of each candidate, 8 bytes.

use super::envelope::{Crossing, Envelope};
use super::sieve::{Known, Lines};
use crate::error::{Error, Result};
use crate::job::Job;
use crate::narrow::to_u32;
use std::sync::Arc;

/// Sentences between two looks at the job.
const BLOCK: usize = 256;

/// Candidate translations of a text, as numbers.
#[derive(Debug, Clone)]
pub struct Pool {
    /// One list a feature, a value for each candidate.
    columns: Vec<Arc<Vec<f32>>>,
    /// For each feature the places of the least and the largest value of each sentence.
    ends: Vec<Arc<Vec<[u32; 2]>>>,
    /// Where the candidates of each sentence begin, and the end.
    offsets: Arc<Vec<u32>>,
}

impl Pool {
    /// A pool of so many features without any candidate.
    pub fn new(width: usize) -> Self {
        let (columns, ends) = (vec![Arc::default(); width], vec![Arc::default(); width]);
        Pool { columns, ends, offsets: Arc::default() }
    }

    /// Adds candidates: for each feature the values of all of them, sentence by sentence, and how
    /// many each sentence gets. Every number must be finite and every sentence have a candidate.
    pub fn add(&mut self, features: &[f32], counts: &[u32]) -> Result<()> {
        if features.iter().any(|value| !value.is_finite()) {
            return Err(argument("features", "a value that is no number", "finite values"));
        }
        let added = sums(counts)?;
        let count = added[counts.len()] as usize;
        if features.len() != count * self.width() {
            return Err(argument("features", "another size", "a value for each candidate"));
        }
        let before = if self.offsets.is_empty() {
            Arc::new(vec![0; added.len()])
        } else {
            Arc::clone(&self.offsets)
        };
        if before.len() != added.len() {
            return Err(argument("counts", "another size", "a number for each sentence"));
        }
        let both: Vec<u32> = before.windows(2).zip(counts).map(|(p, n)| p[1] - p[0] + n).collect();
        if both.contains(&0) {
            return Err(argument("counts", "a sentence without any", "a candidate a sentence"));
        }
        let offsets = sums(&both)?;
        let sentences = || before.windows(2).zip(added.windows(2));
        for (feature, column) in self.columns.iter_mut().enumerate() {
            let fresh = &features[feature * count..][..count];
            let mut merged = Vec::with_capacity(offsets[both.len()] as usize);
            for (old, new) in sentences() {
                merged.extend_from_slice(&column[old[0] as usize..old[1] as usize]);
                merged.extend_from_slice(&fresh[new[0] as usize..new[1] as usize]);
            }
            self.ends[feature] = Arc::new(ends(&merged, &offsets));
            *column = Arc::new(merged);
        }
        self.offsets = Arc::new(offsets);
        Ok(())
    }

    /// The values of a feature, for each candidate.
    pub fn column(&self, feature: usize) -> Option<Arc<Vec<f32>>> {
        self.columns.get(feature).map(Arc::clone)
    }

    /// Where the candidates of each sentence begin, and the end; nothing without any candidate.
    pub fn offsets(&self) -> Arc<Vec<u32>> {
        Arc::clone(&self.offsets)
    }

    /// How many candidates there are.
    pub fn len(&self) -> usize {
        self.offsets.last().map_or(0, |&end| end as usize)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many features there are.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    fn sentences(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        self.offsets.windows(2).map(|pair| pair[0] as usize..pair[1] as usize)
    }

    /// Adds `factor` times a feature to the scores.
    fn accumulate(&self, feature: usize, factor: f64, scores: &mut [f64]) {
        for (score, &value) in scores.iter_mut().zip(self.columns[feature].iter()) {
            *score += factor * f64::from(value);
        }
    }

    /// The scores of all candidates under weights.
    fn scores(&self, weights: &[f64]) -> Vec<f64> {
        let mut scores = vec![0.0; self.len()];
        for (feature, &weight) in weights.iter().enumerate() {
            if weight != 0.0 {
                self.accumulate(feature, weight, &mut scores);
            }
        }
        scores
    }

    fn check(&self, name: &str, values: &[f64]) -> Result<()> {
        if values.len() == self.width() && values.iter().all(|value| value.is_finite()) {
            return Ok(());
        }
        let found = format!("{values:?}");
        Err(argument(name, &found, &format!("{} finite numbers", self.width())))
    }
}

/// The places of the least and the largest value of each sentence, counted within it.
fn ends<S: Copy + PartialOrd>(values: &[S], offsets: &[u32]) -> Vec<[u32; 2]> {
    let of = |pair: &[u32]| {
        let values = &values[pair[0] as usize..pair[1] as usize];
        let (mut least, mut most) = (0, 0);
        for (at, value) in values.iter().enumerate() {
            least = if *value < values[least] { at } else { least };
            most = if *value > values[most] { at } else { most };
        }
        [to_u32(least), to_u32(most)]
    };
    offsets.windows(2).map(of).collect()
}

pub(super) fn argument(name: &str, found: &str, expected: &str) -> Error {
    Error::Argument { name: name.into(), found: found.into(), expected: expected.into() }
}

/// 0 and the sums of the first numbers, of the first two, and so on.
fn sums(counts: &[u32]) -> Result<Vec<u32>> {
    let mut sums = vec![0_u32];
    let mut total = 0_u32;
    for &count in counts {
        let too_many = || argument("counts", "more than 2^32", "fewer candidates");
        total = total.checked_add(count).ok_or_else(too_many)?;
        sums.push(total);
    }
    Ok(sums)
}

/// Where the best candidates change along a line.
#[derive(Debug, Default, PartialEq)]
pub struct Crossings {
    /// The best candidate of each sentence far to the left.
    pub first: Vec<u32>,
    /// The changes of all sentences, from left to right.
    pub changes: Vec<Crossing>,
}

/// A point in the space of weights, with the score of every candidate there.
#[derive(Debug, Clone)]
pub struct Point {
    pool: Arc<Pool>,
    weights: Vec<f64>,
    scores: Vec<f64>,
    /// The best candidate of each sentence; of equal ones the first.
    best: Vec<u32>,
}

impl Point {
    /// The point of these weights.
    pub fn new(pool: Arc<Pool>, weights: Vec<f64>) -> Result<Self> {
        pool.check("weights", &weights)?;
        let scores = pool.scores(&weights);
        check_scores(&scores)?;
        let best = best_of(&pool, &scores);
        Ok(Point { pool, weights, scores, best })
    }

    /// Where it lies.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The best candidate of each sentence; of equal ones the first.
    pub fn best(&self) -> &[u32] {
        &self.best
    }

    /// Moves by `step` times `direction`.
    pub fn step(&mut self, direction: &[f64], step: f64) -> Result<()> {
        self.pool.check("direction", direction)?;
        self.pool.check("step", &vec![step; self.weights.len()])?;
        for (feature, &part) in direction.iter().enumerate() {
            if part != 0.0 {
                self.weights[feature] += step * part;
                self.pool.accumulate(feature, step * part, &mut self.scores);
            }
        }
        check_scores(&self.scores)?;
        self.best = best_of(&self.pool, &self.scores);
        Ok(())
    }

    /// Every change of a best candidate along `direction`; changes of one sentence closer than
    /// `gap` are merged.
    pub fn search(&self, direction: &[f64], gap: f64, job: &Job) -> Result<Crossings> {
        self.pool.check("direction", direction)?;
        let mut parts = direction.iter().enumerate().filter(|(_, part)| **part != 0.0);
        if let (Some((feature, &1.0)), None) = (parts.next(), parts.next()) {
            return self.envelopes(&self.pool.columns[feature], &self.pool.ends[feature], gap, job);
        }
        let slopes = self.pool.scores(direction);
        self.envelopes(&slopes, &ends(&slopes, &self.pool.offsets), gap, job)
    }

    fn envelopes<S: Copy + Into<f64>>(
        &self,
        slopes: &[S],
        ends: &[[u32; 2]],
        gap: f64,
        job: &Job,
    ) -> Result<Crossings> {
        let mut crossings = Crossings::default();
        let mut envelope = Envelope::default();
        for (number, candidates) in self.pool.sentences().enumerate() {
            if number.is_multiple_of(BLOCK) {
                job.check()?;
            }
            let start = to_u32(candidates.start);
            let highest = (self.best[number] - start) as usize;
            let [least, most] = ends[number].map(|place| place as usize);
            let lines = Lines {
                slopes: &slopes[candidates.clone()],
                intercepts: &self.scores[candidates],
                known: Known { highest, least, most },
            };
            envelope.find(start, lines);
            crossings.first.extend(envelope.first());
            envelope.crossings(gap, &mut crossings.changes);
        }
        crossings.changes.sort_by(|a, b| a.step.total_cmp(&b.step));
        Ok(crossings)
    }
}

/// Refuses a total that is not finite.
fn check_scores(scores: &[f64]) -> Result<()> {
    if scores.iter().all(|score| score.is_finite()) {
        return Ok(());
    }
    Err(argument("weights", "a candidate whose score is not finite", "smaller weights"))
}

/// Where each sentence has its highest score; of equal ones the first.
fn best_of(pool: &Pool, scores: &[f64]) -> Vec<u32> {
    let best = |candidates: std::ops::Range<usize>| {
        let mut best = candidates.start;
        for at in candidates {
            if scores[at] > scores[best] {
                best = at;
            }
        }
        to_u32(best)
    };
    pool.sentences().map(best).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pool(columns: Vec<Vec<f32>>, counts: &[u32]) -> Arc<Pool> {
        let mut pool = Pool::new(columns.len());
        pool.add(&columns.concat(), counts).unwrap();
        Arc::new(pool)
    }

    #[test]
    fn new_candidates_stand_behind_the_older_ones_of_their_sentence() {
        let mut pool = Pool::new(2);
        pool.add(&[1.0, 2.0, 3.0, -1.0, -2.0, -3.0], &[2, 1]).unwrap();
        let before = pool.clone();
        pool.add(&[4.0, 5.0, -4.0, -5.0], &[1, 1]).unwrap();
        pool.add(&[6.0, -6.0], &[0, 1]).unwrap();
        assert_eq!(**pool.offsets(), [0, 3, 6]);
        assert_eq!(**pool.column(0).unwrap(), [1.0, 2.0, 4.0, 3.0, 5.0, 6.0]);
        assert_eq!(**pool.column(1).unwrap(), [-1.0, -2.0, -4.0, -3.0, -5.0, -6.0]);
        assert_eq!((before.len(), pool.len(), pool.column(2)), (3, 6, None));
    }

    #[test]
    fn the_changes_of_all_sentences_stand_in_one_row() {
        let slopes = vec![1.0, 0.0, -1.0, 2.0, 0.5, -0.5];
        let intercepts = vec![-1.0, 0.0, -1.5, -3.0, 0.0, 0.25];
        let pool = pool(vec![slopes, intercepts], &[3, 3]);
        let mut point = Point::new(pool, vec![0.0, 1.0]).unwrap();
        let found = point.search(&[1.0, 0.0], 0.0, &Job::default()).unwrap();
        assert_eq!(found.first, [2, 5]);
        let steps: Vec<f64> = found.changes.iter().map(|change| change.step).collect();
        assert_eq!(steps, [-1.5, 0.25, 1.0, 2.0]);
        assert_eq!(point.best(), [1, 5]);
        point.step(&[1.0, 0.0], 0.625).unwrap();
        assert_eq!(point.best(), [1, 4]);
        assert_eq!(point.weights(), [0.625, 1.0]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let wrong = |features: &[f32], counts: &[u32]| {
            let mut pool = Pool::new(1);
            pool.add(&[0.0, 0.0], &[1, 1]).unwrap();
            pool.add(features, counts).unwrap_err().to_string()
        };
        assert_eq!(
            wrong(&[f32::NAN], &[1, 0]),
            "features: found a value that is no number; expected finite values"
        );
        assert!(wrong(&[1.0], &[1, 1]).starts_with("features: found another size"));
        assert!(wrong(&[1.0], &[1]).starts_with("counts: found another size"));
        assert!(wrong(&[], &[u32::MAX, 1]).starts_with("counts: found more than 2^32"));
        let none = Pool::new(1).add(&[1.0], &[1, 0]).unwrap_err();
        assert!(none.to_string().starts_with("counts: found a sentence without any"));
        let wrong = Point::new(pool(vec![vec![1.0]], &[1]), vec![1.0, 2.0]).unwrap_err();
        assert_eq!(wrong.to_string(), "weights: found [1.0, 2.0]; expected 1 finite numbers");
        let too_large =
            "weights: found a candidate whose score is not finite; expected smaller weights";
        let wrong = Point::new(pool(vec![vec![3e38]], &[1]), vec![1e300]).unwrap_err();
        assert_eq!(wrong.to_string(), too_large);
        let mut point = Point::new(pool(vec![vec![3e38]], &[1]), vec![0.0]).unwrap();
        assert_eq!(point.step(&[1.0], 1e300).unwrap_err().to_string(), too_large);
    }

    proptest! {
        #[test]
        fn an_axis_and_the_same_direction_by_another_length_change_alike(
            rows in prop::collection::vec((-8i32..9, -8i32..9), 4..20),
            start in (-4i32..5, -4i32..5),
        ) {
            let column = |take: fn(&(i32, i32)) -> i32| -> Vec<f32> {
                rows.iter().map(|row| take(row) as f32).collect()
            };
            let counts = [2, rows.len() as u32 - 2];
            let pool = pool(vec![column(|row| row.0), column(|row| row.1)], &counts);
            let point =
                Point::new(pool, vec![f64::from(start.0), f64::from(start.1)]).unwrap();
            let axis = point.search(&[0.0, 1.0], 0.0, &Job::default()).unwrap();
            let twice = point.search(&[0.0, 2.0], 0.0, &Job::default()).unwrap();
            prop_assert_eq!(&axis.first, &twice.first);
            prop_assert_eq!(axis.changes.len(), twice.changes.len());
            for (one, two) in axis.changes.iter().zip(&twice.changes) {
                prop_assert_eq!((one.from, one.to), (two.from, two.to));
                prop_assert!((one.step - 2.0 * two.step).abs() < 1e-12);
            }
        }

        #[test]
        fn steps_leave_the_scores_of_the_place_they_lead_to(
            rows in prop::collection::vec((-8i32..9, -8i32..9), 1..20),
            steps in prop::collection::vec((-4i32..5, -4i32..5), 0..5),
        ) {
            let columns = vec![
                rows.iter().map(|row| row.0 as f32).collect(),
                rows.iter().map(|row| row.1 as f32).collect(),
            ];
            let pool = pool(columns, &[rows.len() as u32]);
            let mut walked = Point::new(Arc::clone(&pool), vec![1.0, 1.0]).unwrap();
            for (a, b) in steps {
                walked.step(&[f64::from(a), f64::from(b)], 0.5).unwrap();
            }
            let direct = Point::new(pool, walked.weights().to_vec()).unwrap();
            prop_assert_eq!(direct.best(), walked.best());
        }
    }
}
