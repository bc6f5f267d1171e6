//! How often each orientation occurs in a text, without keeping any phrase pair.
//!
//! In: `Bitext`, `WordAlignments`. Out: by model and direction, how many occurrences of phrase pairs have
//! each class; the same numbers as adding up a whole table.
//! How: the blocks of each sentence pair are found as for a table, and only counted.
//! Cost: O(target²) a sentence for blocks; no memory beyond one sentence pair a thread.

use super::count::check_links;
use super::counts::MAX_LENGTH;
use super::entry::Row;
use super::grid::Grid;
use super::orientation::Strictness;
use crate::align::WordAlignments;
use crate::corpus::Bitext;
use crate::error::{Error, Result};
use crate::job::Job;
use crate::orientation::ROWS;
use crate::parallel::{self, BLOCK};

/// Counts the orientations of all occurrences of phrase pairs up to a length.
pub fn count_orientations(
    bitext: &Bitext,
    links: &WordAlignments,
    max_length: usize,
    strictness: Strictness,
    job: &Job,
) -> Result<[Row; ROWS]> {
    if !(1..=MAX_LENGTH).contains(&max_length) {
        return Err(Error::Argument {
            name: "max_length".into(),
            found: max_length.to_string(),
            expected: format!("1 to {MAX_LENGTH} words"),
        });
    }
    check_links(bitext, links)?;
    job.begin(bitext.len() as u64);
    let make = || (Grid::default(), [Row::default(); ROWS]);
    let work = |(grid, rows): &mut (Grid, [Row; ROWS]), number: usize| {
        let lengths = (bitext.src().sentence(number).len(), bitext.tgt().sentence(number).len());
        grid.extract(lengths, links.sentence(number), max_length, strictness, |_, _, seen| {
            for (row, counts) in rows.iter_mut().enumerate() {
                counts[seen.get(row) as usize] += 1;
            }
        });
        job.advance(1);
        Ok(())
    };
    let (_, workers) = parallel::map(bitext.len(), BLOCK, job, make, work)?;
    let mut total = [Row::default(); ROWS];
    for (_, rows) in workers {
        for (sum, row) in total.iter_mut().flatten().zip(rows.iter().flatten()) {
            *sum += row;
        }
    }
    Ok(total)
}
