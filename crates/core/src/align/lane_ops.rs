//! Vectorized loops over padded rows.
//!
//! In: rows whose length is a multiple of `LANES`. Out: sums with a fixed order of additions.
//! How: loops of fixed length, which the compiler vectorizes with the registers of the caller's
//! target.
//! Cost: one multiplication and one addition per value.
//! Not: fused multiply-add, which only some processors have and which rounds differently.

use std::array::from_fn;

/// Number of values per step; rows are padded to a multiple.
pub const LANES: usize = 8;

/// Clear a vector and fill it with `len` zeros.
#[inline(always)]
pub fn fill_zeros(vector: &mut Vec<f32>, len: usize) {
    vector.clear();
    vector.resize(len, 0.0);
}

/// Write `combine` of two rows element by element.
#[inline(always)]
pub fn combine_into(out: &mut [f32], a: &[f32], b: &[f32], combine: impl Fn(f32, f32) -> f32) {
    let (out, a, b) = (as_lanes_mut(out), as_lanes(a), as_lanes(b));
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        // A single assignment: the compiler cannot prove that the rows do not overlap.
        *out = from_fn(|lane| combine(a[lane], b[lane]));
    }
}

/// Replace each element of a row by `combine` of it and the element of another row.
#[inline(always)]
pub fn combine_in_place(row: &mut [f32], other: &[f32], combine: impl Fn(f32, f32) -> f32) {
    for (row, other) in as_lanes_mut(row).iter_mut().zip(as_lanes(other)) {
        let before = *row;
        *row = from_fn(|lane| combine(before[lane], other[lane]));
    }
}

#[inline(always)]
fn as_lanes(row: &[f32]) -> &[[f32; LANES]] {
    row.as_chunks().0
}

#[inline(always)]
fn as_lanes_mut(row: &mut [f32]) -> &mut [[f32; LANES]] {
    row.as_chunks_mut().0
}

/// Return the sum of a row.
#[inline(always)]
pub fn lane_sum(row: &[f32]) -> f32 {
    let mut sums = [0f32; LANES];
    for lanes in as_lanes(row) {
        sums = from_fn(|lane| sums[lane] + lanes[lane]);
    }
    total(sums)
}

/// Return the dot product of two rows.
#[inline(always)]
pub fn lane_dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0f32; LANES];
    for (a, b) in as_lanes(a).iter().zip(as_lanes(b)) {
        sums = from_fn(|lane| sums[lane] + a[lane] * b[lane]);
    }
    total(sums)
}

#[inline(always)]
fn total([a, b, c, d, e, f, g, h]: [f32; LANES]) -> f32 {
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

/// Return the maximum of a row of non-negative values.
#[inline(always)]
pub fn lane_max(row: &[f32]) -> f32 {
    let larger = |a: f32, b: f32| if a > b { a } else { b };
    let mut most = [0f32; LANES];
    for lanes in as_lanes(row) {
        for (most, &value) in most.iter_mut().zip(lanes) {
            *most = larger(*most, value);
        }
    }
    most.into_iter().fold(0.0, larger)
}

/// Number of values whose windows are added together.
const GROUP: usize = 4;

/// Add windows of `table` to `out`, each scaled by a value; `start` returns the offset of the
/// window by the index of the value. Groups whose values are all below `share` times the maximum
/// are skipped.
#[inline(always)]
pub fn add_scaled_windows(
    values: &[f32],
    share: f32,
    table: &[f32],
    start: impl Fn(usize) -> usize,
    out: &mut [f32],
) {
    let least = share * lane_max(values);
    for (number, group) in values.as_chunks::<GROUP>().0.iter().enumerate() {
        if has_more(group, least) {
            add_group(group, table, from_fn(|k| start(number * GROUP + k)), out);
        }
    }
}

/// Return whether a value exceeds `least`; without short circuit, for a single branch.
#[inline(always)]
fn has_more(group: &[f32; GROUP], least: f32) -> bool {
    group.iter().fold(false, |has_more, &value| has_more | (value > least))
}

#[inline(always)]
fn add_group(values: &[f32; GROUP], table: &[f32], starts: [usize; GROUP], out: &mut [f32]) {
    let out = as_lanes_mut(out);
    let rows = out.len();
    let [a, b, c, d] = starts.map(|start| &as_lanes(&table[start..][..rows * LANES])[..rows]);
    let [by_a, by_b, by_c, by_d] = *values;
    for (number, sums) in out.iter_mut().enumerate() {
        let (a, b, c, d) = (&a[number], &b[number], &c[number], &d[number]);
        let before = *sums;
        *sums = from_fn(|lane| {
            let sum = before[lane] + by_a * a[lane] + by_b * b[lane];
            sum + by_c * c[lane] + by_d * d[lane]
        });
    }
}

/// Add the cross-correlation of `values` with a row to `out`: index `row + d` gets the products at
/// distance `d`, where `row` is the length of both lists. Small values are skipped as in
/// `add_scaled_windows`. `padded` is the row between as many zeros on either side.
#[inline(always)]
pub fn add_cross_correlation(values: &[f32], share: f32, padded: &[f32], out: &mut [f32]) {
    let least = share * lane_max(values);
    let row = values.len();
    for (number, group) in values.as_chunks::<GROUP>().0.iter().enumerate() {
        if has_more(group, least) {
            let place = number * GROUP;
            // The products are 0 outside this range.
            let from = (row - place - GROUP) / LANES * LANES;
            let to = (2 * row - place).next_multiple_of(LANES);
            add_group(group, padded, from_fn(|k| place + k + from), &mut out[from..to]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_of_any_width_are_added() {
        let table: Vec<f32> = (0..400).map(|number| number as f32).collect();
        let mut values = [0.0; 16];
        (values[2], values[9], values[15]) = (2.0, 10.0, 0.001);
        for lanes in 0..20 {
            let mut out = vec![1.0; lanes * LANES];
            add_scaled_windows(&values, 0.01, &table, |place| place + 1, &mut out);
            for (column, sum) in out.iter().enumerate() {
                let column = column as f32;
                assert_eq!(*sum, 1.0 + 2.0 * (3.0 + column) + 10.0 * (10.0 + column));
            }
        }
    }

    #[test]
    fn products_are_added_by_distance() {
        for row in [8, 24, 40] {
            let values: Vec<f32> = (0..row).map(|place| (place % 5) as f32).collect();
            let mut padded = vec![0.0; 3 * row];
            (0..row).for_each(|place| padded[row + place] = (place % 7) as f32);
            let mut expected = vec![0.0; 2 * row];
            for (from, value) in values.iter().enumerate() {
                for to in 0..row {
                    expected[row + to - from] += value * padded[row + to];
                }
            }
            let mut out = vec![0.0; 2 * row];
            add_cross_correlation(&values, 0.0, &padded, &mut out);
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn a_row_has_its_sum_and_its_maximum() {
        assert_eq!(lane_sum(&(0..24).map(|number| number as f32).collect::<Vec<_>>()), 276.0);
        assert_eq!(lane_max(&(0..24).map(|number| number as f32).collect::<Vec<_>>()), 23.0);
        assert_eq!((lane_sum(&[]), lane_max(&[])), (0.0, 0.0));
    }
}
