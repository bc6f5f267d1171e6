//! The candidates of all sentences, and points in the space of weights.
//!
//! In: feature values, all candidates of the first feature, then of the second, and so on;
//! where the candidates of each sentence begin. Out: the best candidates at a point, and where
//! they change along a line through it.
//! Cost: 12 bytes a value; a point keeps the score of each candidate.

use super::envelope::{Crossing, Envelope, Line};
use crate::error::{Error, Result};
use crate::job::Job;
use crate::parallel::map;
use std::sync::Arc;

/// Sentences between two looks at the job.
const BLOCK: usize = 256;

/// Candidate translations of a text, as numbers.
#[derive(Debug)]
pub struct Pool {
    /// One list a feature, a value for each candidate.
    columns: Vec<Vec<f64>>,
    /// For each feature the candidates of each sentence, smallest value first.
    orders: Vec<Vec<u32>>,
    /// Where the candidates of each sentence begin, and the end.
    offsets: Vec<u32>,
}

impl Pool {
    /// A pool of candidates; every number must be finite and every sentence have a candidate.
    pub fn new(columns: Vec<Vec<f64>>, offsets: Vec<u32>, job: &Job) -> Result<Self> {
        let count = offsets.last().copied().unwrap_or_default();
        if offsets.first() != Some(&0) || !offsets.is_sorted_by(|a, b| a < b) {
            return Err(argument("offsets", "no rising numbers from 0", "a candidate a sentence"));
        }
        if columns.iter().any(|column| column.len() != count as usize) {
            return Err(argument("features", "another size", "a value for each candidate"));
        }
        if columns.iter().flatten().any(|value| !value.is_finite()) {
            return Err(argument("features", "a value that is no number", "finite values"));
        }
        let orders = sorted(&columns, &offsets, job)?;
        Ok(Pool { columns, orders, offsets })
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
    fn add(&self, feature: usize, factor: f64, scores: &mut [f64]) {
        for (score, value) in scores.iter_mut().zip(&self.columns[feature]) {
            *score += factor * value;
        }
    }

    /// The scores of all candidates under weights.
    fn scores(&self, weights: &[f64]) -> Vec<f64> {
        let mut scores = vec![0.0; self.len()];
        for (feature, &weight) in weights.iter().enumerate() {
            if weight != 0.0 {
                self.add(feature, weight, &mut scores);
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

fn argument(name: &str, found: &str, expected: &str) -> Error {
    Error::Argument { name: name.into(), found: found.into(), expected: expected.into() }
}

/// The candidates of each sentence by rising value, for each feature; equal ones as they stand.
fn sorted(columns: &[Vec<f64>], offsets: &[u32], job: &Job) -> Result<Vec<Vec<u32>>> {
    let count = offsets.last().copied().unwrap_or_default();
    let order = |(): &mut (), feature: usize| {
        let mut order: Vec<u32> = (0..count).collect();
        for pair in offsets.windows(2) {
            sort(&mut order[pair[0] as usize..pair[1] as usize], &columns[feature]);
        }
        Ok(order)
    };
    Ok(map(columns.len(), 1, job, || (), order)?.0)
}

fn sort(candidates: &mut [u32], values: &[f64]) {
    candidates.sort_unstable_by(|&a, &b| {
        values[a as usize].total_cmp(&values[b as usize]).then(a.cmp(&b))
    });
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
}

impl Point {
    /// The point of these weights.
    pub fn new(pool: Arc<Pool>, weights: Vec<f64>) -> Result<Self> {
        pool.check("weights", &weights)?;
        let scores = pool.scores(&weights);
        Ok(Point { pool, weights, scores })
    }

    /// Where it lies.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The best candidate of each sentence; of equal ones the first.
    pub fn best(&self) -> Vec<u32> {
        let best = |candidates: std::ops::Range<usize>| {
            let mut best = candidates.start;
            for at in candidates {
                if self.scores[at] > self.scores[best] {
                    best = at;
                }
            }
            best as u32
        };
        self.pool.sentences().map(best).collect()
    }

    /// Moves by `step` times `direction`.
    pub fn step(&mut self, direction: &[f64], step: f64) -> Result<()> {
        self.pool.check("direction", direction)?;
        self.pool.check("step", &vec![step; self.weights.len()])?;
        for (feature, &part) in direction.iter().enumerate() {
            if part != 0.0 {
                self.weights[feature] += step * part;
                self.pool.add(feature, step * part, &mut self.scores);
            }
        }
        Ok(())
    }

    /// Every change of a best candidate along `direction`; changes of one sentence closer than
    /// `gap` are merged.
    pub fn search(&self, direction: &[f64], gap: f64, job: &Job) -> Result<Crossings> {
        self.pool.check("direction", direction)?;
        let mut parts = direction.iter().enumerate().filter(|(_, part)| **part != 0.0);
        if let (Some((feature, &1.0)), None) = (parts.next(), parts.next()) {
            return self.envelopes(
                &self.pool.columns[feature],
                &self.pool.orders[feature],
                gap,
                job,
            );
        }
        let slopes = self.pool.scores(direction);
        let mut order: Vec<u32> = (0..self.pool.len() as u32).collect();
        for candidates in self.pool.sentences() {
            sort(&mut order[candidates], &slopes);
        }
        self.envelopes(&slopes, &order, gap, job)
    }

    fn envelopes(&self, slopes: &[f64], order: &[u32], gap: f64, job: &Job) -> Result<Crossings> {
        let mut crossings = Crossings::default();
        let mut envelope = Envelope::default();
        for (number, own) in self.pool.sentences().enumerate() {
            if number.is_multiple_of(BLOCK) {
                job.check()?;
            }
            envelope.clear();
            for &candidate in &order[own] {
                let at = candidate as usize;
                envelope.push(Line { candidate, slope: slopes[at], intercept: self.scores[at] });
            }
            crossings.first.extend(envelope.first());
            envelope.crossings(gap, &mut crossings.changes);
        }
        crossings.changes.sort_by(|a, b| a.step.total_cmp(&b.step));
        Ok(crossings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pool(columns: Vec<Vec<f64>>, offsets: Vec<u32>) -> Arc<Pool> {
        Arc::new(Pool::new(columns, offsets, &Job::new(2)).unwrap())
    }

    #[test]
    fn the_changes_of_all_sentences_stand_in_one_row() {
        let slopes = vec![1.0, 0.0, -1.0, 2.0, 0.5, -0.5];
        let intercepts = vec![-1.0, 0.0, -1.5, -3.0, 0.0, 0.25];
        let pool = pool(vec![slopes, intercepts], vec![0, 3, 6]);
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
        let job = Job::default();
        let wrong = Pool::new(vec![vec![f64::NAN]], vec![0, 1], &job).unwrap_err();
        assert_eq!(
            wrong.to_string(),
            "features: found a value that is no number; expected finite values"
        );
        assert!(Pool::new(vec![vec![1.0]], vec![0, 1, 1], &job).is_err());
        assert!(Pool::new(vec![vec![1.0]], vec![], &job).is_err());
        assert!(Pool::new(vec![vec![1.0, 2.0]], vec![0, 1], &job).is_err());
        let wrong = Point::new(pool(vec![vec![1.0]], vec![0, 1]), vec![1.0, 2.0]).unwrap_err();
        assert_eq!(wrong.to_string(), "weights: found [1.0, 2.0]; expected 1 finite numbers");
    }

    proptest! {
        #[test]
        fn an_axis_and_the_same_direction_by_another_length_change_alike(
            rows in prop::collection::vec((-8i32..9, -8i32..9), 4..20),
            start in (-4i32..5, -4i32..5),
        ) {
            let column = |take: fn(&(i32, i32)) -> i32| -> Vec<f64> {
                rows.iter().map(|row| f64::from(take(row))).collect()
            };
            let pool = pool(vec![column(|row| row.0), column(|row| row.1)], vec![0, 2, rows.len() as u32]);
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
                rows.iter().map(|row| f64::from(row.0)).collect(),
                rows.iter().map(|row| f64::from(row.1)).collect(),
            ];
            let pool = pool(columns, vec![0, rows.len() as u32]);
            let mut walked = Point::new(Arc::clone(&pool), vec![1.0, 1.0]).unwrap();
            for (a, b) in steps {
                walked.step(&[f64::from(a), f64::from(b)], 0.5).unwrap();
            }
            let direct = Point::new(pool, walked.weights().to_vec()).unwrap();
            prop_assert_eq!(direct.best(), walked.best());
        }
    }
}
