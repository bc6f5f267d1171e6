//! The arithmetic of the network: products of matrices, and the functions of a gate.
//!
//! In and out: slices of `f32`, matrices row by row.
//! How: a product is worked out in tiles that fit the registers, with wider registers where the
//! processor has them. Every number is summed in the same order and rounded after each step,
//! whatever the width of the registers, the tile or the number of rows: the same parameters give
//! the same bits on any machine. That is why there are no fused operations here, and why the
//! exponential is our own.
//! Cost: some 10 multiplications a nanosecond with 256-bit registers.

/// Rows and columns of a tile.
const ROWS: usize = 4;
const COLUMNS: usize = 16;
/// Columns of a tile of one row, which takes as many registers.
const WIDE: usize = ROWS * COLUMNS;

/// Adds the product of an n×k and a k×m matrix to an n×m matrix.
pub fn add_product(a: &[f32], b: &[f32], c: &mut [f32], k: usize, m: usize) {
    debug_assert_eq!(a.len() / k.max(1) * m, c.len());
    debug_assert_eq!(b.len(), k * m);
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "the processor was just asked whether it can")]
        unsafe {
            return wide(a, b, c, k, m);
        }
    }
    tiles(a, b, c, k, m);
}

/// `tiles`, compiled for wider registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn wide(a: &[f32], b: &[f32], c: &mut [f32], k: usize, m: usize) {
    tiles(a, b, c, k, m);
}

#[inline(always)]
fn tiles(a: &[f32], b: &[f32], c: &mut [f32], k: usize, m: usize) {
    if k == 0 || m == 0 {
        return;
    }
    let mut a_rows = a.chunks_exact(ROWS * k);
    let mut c_rows = c.chunks_exact_mut(ROWS * m);
    for (a, c) in a_rows.by_ref().zip(c_rows.by_ref()) {
        columns::<ROWS>(a, b, c, k, m);
    }
    let rest = c_rows.into_remainder().chunks_exact_mut(m);
    for (a, c) in a_rows.remainder().chunks_exact(k).zip(rest) {
        columns::<1>(a, b, c, k, m);
    }
}

#[inline(always)]
fn columns<const R: usize>(a: &[f32], b: &[f32], c: &mut [f32], k: usize, m: usize) {
    let mut from = 0;
    while R == 1 && from + WIDE <= m {
        tile::<R, WIDE>(a, b, c, k, m, from);
        from += WIDE;
    }
    while from + COLUMNS <= m {
        tile::<R, COLUMNS>(a, b, c, k, m, from);
        from += COLUMNS;
    }
    while from + 8 <= m {
        tile::<R, 8>(a, b, c, k, m, from);
        from += 8;
    }
    while from < m {
        tile::<R, 1>(a, b, c, k, m, from);
        from += 1;
    }
}

#[inline(always)]
fn tile<const R: usize, const W: usize>(
    a: &[f32],
    b: &[f32],
    c: &mut [f32],
    k: usize,
    m: usize,
    from: usize,
) {
    let mut sums = [[0.0_f32; W]; R];
    let rows: [&[f32]; R] = std::array::from_fn(|row| &a[row * k..][..k]);
    for (p, b_row) in b.chunks_exact(m).take(k).enumerate() {
        let Some(part) = b_row[from..].first_chunk::<W>() else { return };
        for (sum, row) in sums.iter_mut().zip(&rows) {
            let factor = row[p];
            for (sum, &value) in sum.iter_mut().zip(part) {
                *sum += factor * value;
            }
        }
    }
    for (row, sum) in sums.iter().enumerate() {
        let cells = &mut c[row * m + from..][..W];
        cells.iter_mut().zip(sum).for_each(|(cell, sum)| *cell += sum);
    }
}

/// Writes an n×m matrix with rows and columns exchanged.
pub fn transpose(a: &[f32], m: usize, out: &mut Vec<f32>) {
    out.clear();
    out.resize(a.len(), 0.0);
    let n = a.len() / m.max(1);
    for (row, cells) in a.chunks_exact(m.max(1)).enumerate() {
        for (column, &cell) in cells.iter().enumerate() {
            out[column * n + row] = cell;
        }
    }
}

/// Adds the rows of a matrix to a row.
pub fn add_rows(a: &[f32], sum: &mut [f32]) {
    for row in a.chunks_exact(sum.len().max(1)) {
        sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
}

/// 1.5 · 2^23: beside it, numbers have no room for a fraction.
const SHIFT: f32 = 12_582_912.0;

/// e^x, to within a few units of the last place; 0 far below and very large far above.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    // x = n ln 2 + r with |r| <= ln 2 / 2; e^r by its series, 2^n by the bits of the exponent.
    let x = x.clamp(-87.0, 88.0);
    let scaled = x * std::f32::consts::LOG2_E;
    // Adding 1.5 · 2^23 rounds to a whole number, which then stands in the lowest bits.
    let shifted = scaled + SHIFT;
    let n = shifted - SHIFT;
    let r = (x - n * 0.693_359_4) + n * 2.121_944_4e-4;
    let mut sum = 1.987_569_2e-4;
    for factor in [1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        sum = sum * r + factor;
    }
    let power = f32::from_bits(shifted.to_bits().wrapping_sub(SHIFT.to_bits() - 127) << 23);
    (sum * r * r + r + 1.0) * power
}

/// The logistic function.
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// The hyperbolic tangent.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    2.0 * sigmoid(2.0 * x) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_functions_are_near_those_of_the_library() {
        for step in -4000..4000 {
            let x = step as f32 / 47.0;
            let expected = f64::from(x).exp();
            assert!((f64::from(exp(x)) - expected).abs() <= 3e-7 * expected, "{x}");
            assert!((f64::from(tanh(x)) - f64::from(x).tanh()).abs() < 3e-7, "{x}");
        }
        assert_eq!(sigmoid(f32::NEG_INFINITY), sigmoid(-200.0));
        assert!(sigmoid(-200.0) < 1e-37);
    }

    proptest! {
        #[test]
        fn tiles_and_registers_change_no_bit_of_a_product(
            n in 1usize..9, k in 1usize..7, m in 1usize..100, seed in any::<u32>(),
        ) {
            let number = |at: usize| {
                ((at as u32).wrapping_mul(2_654_435_761) ^ seed) as f32 / 3e9 - 0.7
            };
            let a: Vec<f32> = (0..n * k).map(number).collect();
            let b: Vec<f32> = (n * k..n * k + k * m).map(number).collect();
            let mut c = vec![0.25; n * m];
            add_product(&a, &b, &mut c, k, m);
            let mut narrow = vec![0.25; n * m];
            tiles(&a, &b, &mut narrow, k, m);
            prop_assert_eq!(&c, &narrow);
            for row in 0..n {
                for column in 0..m {
                    let sum = (0..k).fold(0.0, |sum, p| sum + a[row * k + p] * b[p * m + column]);
                    prop_assert_eq!(c[row * m + column], 0.25 + sum);
                }
            }
        }
    }
}
