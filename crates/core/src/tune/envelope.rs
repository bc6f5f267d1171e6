//! The upper envelope of straight lines.
//!
//! In: lines by rising slope. Out: which of them is highest, from left to right.
//! How: one scan with a stack: a line leaves when the new one overtakes it before it has taken
//! the lead. Cost: O(lines), no allocation once the stack has grown.

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
    /// Lines in the lead, each with the step where its lead begins.
    stack: Vec<(Line, f64)>,
}

impl Envelope {
    /// Starts over, for another sentence.
    pub fn clear(&mut self) {
        self.stack.clear();
    }

    /// Adds a line whose slope is no smaller than those before. Of equal lines the first stays.
    pub fn push(&mut self, line: Line) {
        if let Some(&(top, _)) = self.stack.last()
            && top.slope == line.slope
        {
            if top.intercept >= line.intercept {
                return;
            }
            self.stack.pop();
        }
        let mut begin = f64::NEG_INFINITY;
        while let Some(&(top, lead)) = self.stack.last() {
            let (rise, climb) = (top.intercept - line.intercept, line.slope - top.slope);
            // The same as `rise / climb > lead` but for rounding, and quicker.
            if rise > lead * climb {
                begin = rise / climb;
                if begin > lead {
                    break;
                }
            }
            self.stack.pop();
            begin = f64::NEG_INFINITY;
        }
        if begin < f64::INFINITY {
            self.stack.push((line, begin));
        }
    }

    /// The candidate that leads far to the left.
    pub fn first(&self) -> Option<u32> {
        self.stack.first().map(|(line, _)| line.candidate)
    }

    /// The changes of the lead from left to right. Those closer than `gap` to the one before are
    /// merged with it: the shortest leads are skipped.
    pub fn crossings(&self, gap: f64, out: &mut Vec<Crossing>) {
        let start = out.len();
        for pair in self.stack.windows(2) {
            let [(from, _), (to, step)] = [pair[0], pair[1]];
            match out[start..].last_mut() {
                Some(last) if step - last.step < gap => last.to = to.candidate,
                _ => out.push(Crossing { step, from: from.candidate, to: to.candidate }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn envelope(lines: &[(f64, f64)], gap: f64) -> (Option<u32>, Vec<Crossing>) {
        let mut numbered: Vec<Line> = lines
            .iter()
            .zip(0..)
            .map(|(&(slope, intercept), candidate)| Line { candidate, slope, intercept })
            .collect();
        numbered.sort_by(|a, b| a.slope.total_cmp(&b.slope));
        let mut envelope = Envelope::default();
        numbered.into_iter().for_each(|line| envelope.push(line));
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
            lines in prop::collection::vec((-3i32..4, -9i32..10), 1..12)
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
