//! The statistics of a metric along a line.
//!
//! In: a row of numbers for each text, the text of each candidate; then changes of best candidates.
//! Out: the sums of all sentences before the first change, after it, after the second and so on.
//! How: statistics add up, so a change takes one row off and puts another one on.
//! Cost: the rows as they are kept (2, 4 or 8 bytes a number) and 4 bytes a candidate.

use super::pool::{Crossings, argument};
use crate::error::Result;

/// Rows of the smallest kind of number that holds them.
#[derive(Debug)]
pub enum Rows {
    /// Whole numbers below 2^16.
    Short(Vec<u16>),
    /// Whole numbers below 2^32.
    Long(Vec<u32>),
    /// Any numbers.
    Real(Vec<f64>),
}

/// The statistics of all candidates.
#[derive(Debug)]
pub struct Statistics {
    rows: Rows,
    width: usize,
    /// For each candidate, which row is its own.
    places: Vec<u32>,
}

impl Statistics {
    /// Rows of `width` numbers, and which of them belongs to each candidate.
    pub fn new(rows: Rows, width: usize, places: Vec<u32>) -> Result<Self> {
        let numbers = match &rows {
            Rows::Short(numbers) => numbers.len(),
            Rows::Long(numbers) => numbers.len(),
            Rows::Real(numbers) => numbers.len(),
        };
        if width == 0 || !numbers.is_multiple_of(width) {
            return Err(argument("rows", "another size", "rows of the same width"));
        }
        if places.iter().any(|&place| place as usize >= numbers / width) {
            return Err(argument("places", "one without a row", "places of rows"));
        }
        Ok(Statistics { rows, width, places })
    }

    /// How many numbers a row has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The sums along a line: for each number of a row those of all intervals from left to right.
    pub fn sums(&self, crossings: &Crossings) -> Result<Vec<f64>> {
        let candidates = crossings.changes.iter().flat_map(|change| [change.from, change.to]);
        let count = self.places.len();
        if crossings.first.iter().copied().chain(candidates).any(|at| at as usize >= count) {
            return Err(argument("places", "fewer", "a place for each candidate"));
        }
        Ok(match &self.rows {
            Rows::Short(rows) => self.add_up(rows, crossings),
            Rows::Long(rows) => self.add_up(rows, crossings),
            Rows::Real(rows) => self.add_up(rows, crossings),
        })
    }

    fn add_up<N: Copy + Into<f64>>(&self, rows: &[N], crossings: &Crossings) -> Vec<f64> {
        let row = |candidate: u32| {
            let place = self.places[candidate as usize] as usize;
            &rows[place * self.width..][..self.width]
        };
        let mut sum = vec![0.0; self.width];
        for &candidate in &crossings.first {
            for (sum, &number) in sum.iter_mut().zip(row(candidate)) {
                *sum += number.into();
            }
        }
        let intervals = crossings.changes.len() + 1;
        let mut sums = vec![0.0; self.width * intervals];
        let mut put = |interval: usize, sum: &[f64]| {
            for (column, &number) in sums.chunks_exact_mut(intervals).zip(sum) {
                column[interval] = number;
            }
        };
        put(0, &sum);
        for (number, change) in crossings.changes.iter().enumerate() {
            let both = row(change.from).iter().zip(row(change.to));
            for (sum, (&before, &after)) in sum.iter_mut().zip(both) {
                *sum += after.into() - before.into();
            }
            put(number + 1, &sum);
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::super::envelope::Crossing;
    use super::*;

    fn crossings() -> Crossings {
        let change = |step, from, to| Crossing { step, from, to };
        Crossings { first: vec![0, 2], changes: vec![change(-1.0, 2, 3), change(2.0, 0, 1)] }
    }

    #[test]
    fn sums_follow_the_changes_whatever_the_kind_of_number() {
        let numbers = [1_u16, 5, 3, 0, 9, 1];
        let places = vec![0, 1, 2, 0];
        // 1 + 9 and 5 + 1; row 2 goes and row 0 comes; row 0 goes and row 1 comes.
        let expected = [10.0, 2.0, 4.0, 6.0, 10.0, 5.0];
        for rows in [
            Rows::Short(numbers.to_vec()),
            Rows::Long(numbers.map(u32::from).to_vec()),
            Rows::Real(numbers.map(f64::from).to_vec()),
        ] {
            let statistics = Statistics::new(rows, 2, places.clone()).unwrap();
            assert_eq!(statistics.sums(&crossings()).unwrap(), expected);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let wrong = |width, places: &[u32]| {
            let made = Statistics::new(Rows::Short(vec![1, 2]), width, places.to_vec());
            made.unwrap_err().to_string()
        };
        assert!(wrong(0, &[]).starts_with("rows: found another size"));
        assert!(wrong(3, &[]).starts_with("rows: found another size"));
        assert!(wrong(2, &[1]).starts_with("places: found one without a row"));
        let short = Statistics::new(Rows::Short(vec![1, 2]), 2, vec![0, 0]).unwrap();
        assert!(
            short.sums(&crossings()).unwrap_err().to_string().starts_with("places: found fewer")
        );
    }
}
