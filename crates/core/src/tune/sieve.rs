//! Sifts out lines that lead nowhere.
//!
//! In: the lines of a sentence. Out: those that may lead at some step, in their order.
//! How: seen as points, slope to the right and intercept up, the lines that lead are the corners
//! of the upper hull. Three places of it are quickly known: the highest point, the one furthest to
//! the right and the one furthest to the left. What is below the two chords between them is inside.
//! Cost: one pass. It treats eight lines at a time and all alike, so that the compiler can use wide
//! instructions; of the candidates of a sentence about one in ten is left.

use super::envelope::Line;
use crate::narrow::to_u32;

/// Lines that are treated together.
const GROUP: usize = 8;
/// How far below a chord a line may be and still stay, in parts of the numbers involved: rounding
/// must not throw out a leader.
const SLACK: f64 = 1e-12;

/// The candidates of a sentence seen along a line of weights: `score(γ) = intercept + γ · slope`.
#[derive(Debug, Clone, Copy)]
pub struct Lines<'a, S> {
    /// How each score changes with a step of 1.
    pub slopes: &'a [S],
    /// Each score where the step is 0.
    pub intercepts: &'a [f64],
    /// What is known of them.
    pub known: Known,
}

/// Places of lines that stand out.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// A line with the largest intercept.
    pub highest: usize,
    /// One with the least slope.
    pub least: usize,
    /// One with the largest slope.
    pub most: usize,
}

/// Puts the places of the lines that may lead into `left`, and the lines into `out`, numbered from
/// `start` on.
pub fn sift<S: Copy + Into<f64>>(
    start: u32,
    lines: Lines<'_, S>,
    left: &mut Vec<u32>,
    out: &mut Vec<Line>,
) {
    let roof = Roof::of(&lines);
    left.resize(lines.intercepts.len(), 0);
    let mut count = 0;
    let (slopes, last_slopes) = lines.slopes.as_chunks::<GROUP>();
    let (intercepts, last_intercepts) = lines.intercepts.as_chunks::<GROUP>();
    for (number, (slopes, intercepts)) in slopes.iter().zip(intercepts).enumerate() {
        let mut above = [0.0; GROUP];
        for lane in 0..GROUP {
            above[lane] = roof.above(slopes[lane].into(), intercepts[lane]);
        }
        if is_any_positive(&above) {
            // Which ones cannot be foreseen, so every place is written, and the next one over it
            // when it is not wanted: no jumps for the processor to guess.
            for (lane, above) in above.into_iter().enumerate() {
                left[count] = to_u32(number * GROUP + lane);
                count += usize::from(above >= 0.0);
            }
        }
    }
    let done = slopes.len() * GROUP;
    for (at, (&slope, &intercept)) in last_slopes.iter().zip(last_intercepts).enumerate() {
        left[count] = to_u32(done + at);
        count += usize::from(roof.above(slope.into(), intercept) >= 0.0);
    }
    out.clear();
    out.extend(left[..count].iter().map(|&at| Line {
        candidate: start + at,
        slope: lines.slopes[at as usize].into(),
        intercept: lines.intercepts[at as usize],
    }));
}

/// The two chords between the highest point and the outermost ones.
#[derive(Debug)]
struct Roof {
    /// The highest point, less the slack.
    slope: f64,
    intercept: f64,
    /// How steep the chords are: the left one rises, the right one falls.
    rise: f64,
    fall: f64,
}

impl Roof {
    fn of<S: Copy + Into<f64>>(lines: &Lines<'_, S>) -> Self {
        let Known { highest, least, most } = lines.known;
        let point = |at: usize| (lines.slopes[at].into(), lines.intercepts[at]);
        let ((slope, intercept), left, right) = (point(highest), point(least), point(most));
        let chord = |climb: f64, way: f64| if way == 0.0 { 0.0 } else { climb / way };
        let depth = intercept - smaller(left.1, right.1);
        Roof {
            slope,
            intercept: intercept - SLACK * (1.0 + intercept.abs() + depth),
            rise: chord(intercept - left.1, slope - left.0),
            fall: chord(right.1 - intercept, right.0 - slope),
        }
    }

    /// How far a point is above the roof.
    fn above(&self, slope: f64, intercept: f64) -> f64 {
        let way = slope - self.slope;
        intercept - self.intercept - smaller(self.rise * way, self.fall * way)
    }
}

/// Whether any of the numbers is 0 or more.
fn is_any_positive(values: &[f64; GROUP]) -> bool {
    let mut half = [0.0; GROUP / 2];
    for lane in 0..GROUP / 2 {
        half[lane] = larger(values[lane], values[lane + GROUP / 2]);
    }
    larger(larger(half[0], half[2]), larger(half[1], half[3])) >= 0.0
}

/// The larger number; unlike `f64::max` it is one instruction, as all are numbers here.
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}
