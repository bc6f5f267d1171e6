//! The upper envelope of straight lines.
//!
//! In: lines in any order. Out: which of them is highest, from left to right.
//! How: the highest line where the step is 0 and the steepest line on either side lead somewhere,
//! and most lines are below one of these three wherever they are: they are sifted out first
//! (`sieve`). Among the others it starts at the highest line and walks to the right, from one line
//! to the steeper one that overtakes it first; lines no steeper than the one in the lead are left
//! behind for good. To the left it walks in the mirror.
//! Cost: a pass over all lines, and O(lines that are left) for each change of the lead.
//! No sorting, and no allocation once the lists have grown.

use super::sieve::{Lines, sift};

/// A candidate seen along a line of weights: `score(γ) = intercept + γ · slope`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// The candidate.
    pub candidate: u32,
    /// How its score changes with a step of 1.
    pub slope: f64,
    /// Its score where the step is 0.
    pub intercept: f64,
}

impl Line {
    /// The same line seen from the other side.
    fn mirrored(self) -> Self {
        Line { slope: -self.slope, ..self }
    }

    /// Whether it leads right of 0 when `other` is the best line so far; of equal lines the first.
    fn leads(&self, other: &Line) -> bool {
        self.intercept > other.intercept
            || (self.intercept == other.intercept && self.slope > other.slope)
    }
}

/// The best candidate of a sentence changes here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossing {
    /// How far along the direction.
    pub step: f64,
    /// The best candidate before.
    pub from: u32,
    /// The best candidate after.
    pub to: u32,
}

/// Builds envelopes one after the other in the same memory.
#[derive(Debug, Default)]
pub struct Envelope {
    /// Lines that may lead somewhere, and their places.
    lines: Vec<Line>,
    places: Vec<u32>,
    /// Lines that may still take the lead, on either side; those to the left are mirrored.
    rising: Vec<Line>,
    falling: Vec<Line>,
    /// The leaders left of 0, nearest first, then those right of it; each with the distance from 0
    /// where its lead begins.
    left: Vec<(u32, f64)>,
    right: Vec<(u32, f64)>,
}

impl Envelope {
    /// Finds the envelope of the lines of a sentence, which are numbered from `start` on; of equal
    /// ones the first leads.
    pub fn find<S: Copy + Into<f64>>(&mut self, start: u32, lines: Lines<'_, S>) {
        self.left.clear();
        self.right.clear();
        sift(start, lines, &mut self.places, &mut self.lines);
        let Some(mut right) = self.lines.first().copied() else { return };
        let mut left = right.mirrored();
        for line in &self.lines {
            if line.intercept >= right.intercept {
                right = if line.leads(&right) { *line } else { right };
                let mirrored = line.mirrored();
                left = if mirrored.leads(&left) { mirrored } else { left };
            }
        }
        self.rising.clear();
        self.rising.extend_from_slice(&self.lines);
        self.falling.clear();
        self.falling.extend(self.lines.iter().map(|line| line.mirrored()));
        keep_steeper(&mut self.rising, right.slope);
        keep_steeper(&mut self.falling, left.slope);
        walk(right, &mut self.rising, &mut self.right);
        walk(left, &mut self.falling, &mut self.left);
    }

    /// The candidate that leads far to the left.
    pub fn first(&self) -> Option<u32> {
        self.left.last().map(|&(candidate, _)| candidate)
    }

    /// The changes of the lead from left to right. Those closer than `gap` to the one before are
    /// merged with it: the shortest leads are skipped.
    pub fn crossings(&self, gap: f64, out: &mut Vec<Crossing>) {
        let (Some(&(left, _)), Some(&(right, _))) = (self.left.first(), self.right.first()) else {
            return;
        };
        let start = out.len();
        let mut add = |step: f64, from: u32, to: u32| match out[start..].last_mut() {
            Some(last) if step - last.step < gap => last.to = to,
            _ => out.push(Crossing { step, from, to }),
        };
        for pair in self.left.windows(2).rev() {
            let [(to, _), (from, distance)] = [pair[0], pair[1]];
            add(-distance, from, to);
        }
        if left != right {
            add(0.0, left, right); // equally high at 0
        }
        for pair in self.right.windows(2) {
            let [(from, _), (to, step)] = [pair[0], pair[1]];
            add(step, from, to);
        }
    }
}

/// Walks from 0 to the right, where `lead` leads and those `ahead` are steeper; the leaders, each
/// with the step where its lead begins.
fn walk(mut lead: Line, ahead: &mut Vec<Line>, leaders: &mut Vec<(u32, f64)>) {
    leaders.push((lead.candidate, 0.0));
    let mut step = 0.0_f64;
    while let Some((next, meeting)) = overtaking(&lead, ahead) {
        step = step.max(meeting); // not back by rounding
        leaders.push((next.candidate, step));
        lead = next;
        keep_steeper(ahead, lead.slope);
    }
}

/// Keeps the lines that are steeper, in their order. Which ones cannot be foreseen, so every line is
/// written, and the next one over it when it is not kept: no jumps for the processor to guess.
fn keep_steeper(lines: &mut Vec<Line>, slope: f64) {
    let mut kept = 0;
    for at in 0..lines.len() {
        let line = lines[at];
        lines[kept] = line;
        kept += usize::from(line.slope > slope);
    }
    lines.truncate(kept);
}

/// Which of the steeper lines overtakes the leader first, and where; the steepest of several.
fn overtaking(lead: &Line, steeper: &[Line]) -> Option<(Line, f64)> {
    let mut next = *steeper.first()?;
    let mut step = (lead.intercept - next.intercept) / (next.slope - lead.slope);
    for line in &steeper[1..] {
        let (fall, climb) = (lead.intercept - line.intercept, line.slope - lead.slope);
        // The same as `fall / climb <= step` but for rounding, and quicker.
        if fall <= step * climb {
            let meeting = fall / climb;
            if meeting < step || (meeting == step && line.slope > next.slope) {
                (next, step) = (*line, meeting);
            }
        }
    }
    Some((next, step))
}

#[cfg(test)]
mod tests {
    use super::super::sieve::Known;
    use super::*;
    use proptest::prelude::*;

    fn envelope(lines: &[(f64, f64)], gap: f64) -> (Option<u32>, Vec<Crossing>) {
        let (slopes, intercepts): (Vec<f64>, Vec<f64>) = lines.iter().copied().unzip();
        let mut envelope = Envelope::default();
        if !lines.is_empty() {
            let largest = |values: &[f64]| {
                let larger = |a: usize, b: usize| if values[b] > values[a] { b } else { a };
                (1..values.len()).fold(0, larger)
            };
            let mirrored: Vec<f64> = slopes.iter().map(|slope| -slope).collect();
            let (highest, most) = (largest(&intercepts), largest(&slopes));
            let known = Known { highest, least: largest(&mirrored), most };
            envelope.find(0, Lines { slopes: &slopes, intercepts: &intercepts, known });
        }
        let mut crossings = Vec::new();
        envelope.crossings(gap, &mut crossings);
        (envelope.first(), crossings)
    }

    #[test]
    fn the_example_of_two_sentences() {
        let (first, crossings) = envelope(&[(1.0, -1.0), (0.0, 0.0), (-1.0, -1.5)], 0.0);
        assert_eq!(first, Some(2));
        let [a, b] = crossings[..] else { panic!("two changes") };
        assert_eq!((a, b), (crossing(-1.5, 2, 1), crossing(1.0, 1, 0)));
        let (first, crossings) = envelope(&[(2.0, -3.0), (0.5, 0.0), (-0.5, 0.25)], 0.0);
        assert_eq!(first, Some(2));
        assert_eq!(crossings, [crossing(0.25, 2, 1), crossing(2.0, 1, 0)]);
    }

    fn crossing(step: f64, from: u32, to: u32) -> Crossing {
        Crossing { step, from, to }
    }

    #[test]
    fn of_equal_lines_the_first_leads_and_no_lines_have_no_leader() {
        assert_eq!(envelope(&[(1.0, 2.0), (1.0, 2.0), (1.0, 1.0)], 0.0), (Some(0), vec![]));
        assert_eq!(envelope(&[(1.0, 2.0), (1.0, 3.0)], 0.0), (Some(1), vec![]));
        assert_eq!(envelope(&[], 0.0), (None, vec![]));
    }

    #[test]
    fn a_lead_shorter_than_the_gap_is_skipped() {
        // 0 leads to -0.01, 1 to 0.01, then 2.
        let lines = [(-1.0, 0.0), (0.0, 0.01), (1.0, 0.0)];
        assert_eq!(envelope(&lines, 0.1).1, [crossing(-0.01, 0, 2)]);
        assert_eq!(envelope(&lines, 0.001).1.len(), 2);
    }

    proptest! {
        #[test]
        fn between_two_changes_the_leader_is_the_highest_line(
            lines in prop::collection::vec((-3i32..4, -9i32..10), 1..40)
        ) {
            let lines: Vec<(f64, f64)> =
                lines.into_iter().map(|(m, b)| (f64::from(m), f64::from(b) / 4.0)).collect();
            let (first, crossings) = envelope(&lines, 0.0);
            let mut leader = first.unwrap();
            let mut edges: Vec<f64> = crossings.iter().map(|change| change.step).collect();
            prop_assert!(edges.is_sorted_by(|a, b| a < b));
            edges.insert(0, edges.first().map_or(-1.0, |edge| edge - 2.0));
            edges.push(edges.last().map_or(1.0, |edge| edge + 2.0));
            for (at, pair) in edges.windows(2).enumerate() {
                let step = f64::midpoint(pair[0], pair[1]);
                let height = |(slope, intercept): (f64, f64)| intercept + step * slope;
                let top = lines.iter().copied().map(height).fold(f64::NEG_INFINITY, f64::max);
                prop_assert_eq!(height(lines[leader as usize]), top);
                if let Some(change) = crossings.get(at) {
                    prop_assert_eq!(change.from, leader);
                    leader = change.to;
                }
            }
        }
    }
}
