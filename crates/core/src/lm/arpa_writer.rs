//! Writes ARPA files, the common text format of n-gram models (definitions l.2).
//!
//! In: any `NgramSource`. Out: a section per order; unigrams by word id, longer n-grams in suffix
//! order.
//! How: threads format blocks of n-grams, which are written in order.
//! Cost: one pass; a few blocks of text in memory.

use super::ngram::ScoredNgram;
use super::ngram_source::NgramSource;
use crate::Job;
use crate::error::Result;
use crate::narrow::{to_u32, to_usize, whole};
use crate::ordered::in_order;
use crate::storage::NewFile;
use std::f64::consts::LN_10;
use std::path::Path;

/// Number of decimal places: more than `f32` can hold.
const DECIMALS: usize = 8;
const SCALE: u64 = 10_u64.pow(8);
/// Decimal digits of the integers from 00 to 99.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let mut number = 0_u8;
    while number < 100 {
        pairs[number as usize] = [b'0' + number / 10, b'0' + number % 10];
        number += 1;
    }
    pairs
};

/// Number of bytes of text to buffer before writing.
const BUFFER_BYTES: usize = 1 << 18;

/// Write a model in ARPA format.
pub fn write_arpa(ngrams: &dyn NgramSource, path: &Path, job: &Job) -> Result<()> {
    let mut file = NewFile::create(path)?;
    let mut front = String::from("\\data\\\n");
    for order in 1..=ngrams.order() {
        front.push_str(&format!("ngram {order}={}\n", ngrams.count(order)));
    }
    file.write(front.as_bytes())?;
    let words: Vec<&[u8]> = (0..to_u32(ngrams.count(1))).map(|id| ngrams.word(id)).collect();
    for order in 1..=ngrams.order() {
        file.write(format!("\n\\{order}-grams:\n").as_bytes())?;
        write_order(ngrams, order, &words, &mut file, job)?;
    }
    file.write(b"\n\\end\\\n")?;
    file.finish()
}

/// Write the section of one order, in parallel blocks if the source supports them.
fn write_order(
    ngrams: &dyn NgramSource,
    order: usize,
    words: &[&[u8]],
    file: &mut NewFile,
    job: &Job,
) -> Result<()> {
    let (count, size) = (ngrams.count(order), ngrams.block());
    let has_backoff = order < ngrams.order();
    let format = |ngram: &ScoredNgram, text: &mut Vec<u8>| {
        format_ngram(ngram, (order, has_backoff), words, text)
    };
    if size >= count {
        let mut text = Vec::new();
        ngrams.visit(order, 0..count, &mut |ngram| {
            format(ngram, &mut text);
            if text.len() < BUFFER_BYTES {
                return Ok(());
            }
            job.check()?;
            file.write(&text)?;
            text.clear();
            Ok(())
        })?;
        return file.write(&text);
    }
    let work = |(): &mut (), block: usize| {
        let (mut text, start) = (Vec::new(), block as u64 * size);
        ngrams.visit(order, start..count.min(start + size), &mut |ngram| {
            format(ngram, &mut text);
            Ok(())
        })?;
        Ok(text)
    };
    in_order(to_usize(count.div_ceil(size)), job, || (), work, |text| file.write(&text))?;
    Ok(())
}

/// Format the line of an n-gram.
fn format_ngram(
    ngram: &ScoredNgram,
    (order, has_backoff): (usize, bool),
    words: &[&[u8]],
    text: &mut Vec<u8>,
) {
    format_score(-ngram.prob.abs(), text);
    let mut before = b'\t';
    for &word in ngram.words[..order].iter().rev() {
        text.push(before);
        text.extend_from_slice(words[word as usize]);
        before = b' ';
    }
    if has_backoff {
        text.push(b'\t');
        format_score(ngram.backoff, text);
    }
    text.push(b'\n');
}

/// Format a natural logarithm as a base-10 logarithm, without trailing zeros.
fn format_score(score: f32, out: &mut Vec<u8>) {
    let scaled = f64::from(score) / LN_10 * SCALE as f64;
    let rounded = round_half_up(scaled.abs());
    if scaled < 0.0 && rounded > 0 {
        out.push(b'-');
    }
    format_integer(rounded / SCALE, out);
    let mut decimals = rounded % SCALE;
    if decimals == 0 {
        return;
    }
    let mut digits = [b'.'; 1 + DECIMALS];
    for pair in digits[1..].rchunks_exact_mut(2) {
        pair.copy_from_slice(&PAIRS[to_usize(decimals % 100)]);
        decimals /= 100;
    }
    let zeros = digits.iter().rev().take_while(|&&digit| digit == b'0').count();
    out.extend_from_slice(&digits[..digits.len() - zeros]);
}

/// Round to the nearest integer, a half upwards, with saturation.
fn round_half_up(number: f64) -> u64 {
    let whole = whole(number);
    let is_upper = number - whole as f64 >= 0.5;
    whole.saturating_add(u64::from(is_upper)).min(i64::MAX.unsigned_abs())
}

fn format_integer(number: u64, out: &mut Vec<u8>) {
    if number >= 10 {
        format_integer(number / 10, out);
    }
    out.push(b'0' + (number % 10) as u8);
}

#[cfg(test)]
mod tests {
    use super::super::ngram::NO_EXTENSION;
    use super::*;
    use proptest::prelude::*;

    fn written(score: f32) -> String {
        let mut out = Vec::new();
        format_score(score, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_are_written_without_zeros_that_say_nothing() {
        assert_eq!(written(0.0), "0");
        assert_eq!(written(NO_EXTENSION), "0");
        assert_eq!(written((-100.0 * LN_10) as f32), "-100.00000222"); // as near as f32 gets
        assert_eq!(written(-1e-7), "-0.00000004");
        assert_eq!(written(-1e-9), "0");
        assert_eq!(written(0.5), "0.21714724");
        assert_eq!(written(f32::MIN), "-92233720368.54775807"); // the largest there is
    }

    proptest! {
        #[test]
        fn a_number_that_is_read_again_is_the_same(score in -300_f32..3.0) {
            let again = (written(score).parse::<f64>().unwrap() * LN_10) as f32;
            prop_assert!((again - score).abs() <= 2e-8 + score.abs() * f32::EPSILON / 8.0);
        }

        #[test]
        fn the_nearest_number_is_that_of_the_library(number in 0.0..1e17_f64) {
            prop_assert_eq!(round_half_up(number), number.round() as u64);
            prop_assert_eq!(round_half_up(number.floor() + 0.5), (number.floor() + 0.5).round() as u64);
        }
    }
}
