//! Lag: how much of the source must be read before each target word can be written.
//!
//! In: links of a sentence pair and its lengths. Out: what each target word needs, average lagging,
//! average proportion, the least k at which a wait-k reader never has to guess, how many links lie
//! ahead at given k, and the sequence of reading and writing.
//! How: definitions p.1; a word needs the last source word it is linked to and whatever the words
//! before it need.
//! Cost: linear in words and links.

use crate::align::Link;
use crate::error::{Error, Result};
use crate::narrow::to_u32;

/// What a sentence pair asks of a simultaneous translator.
#[derive(Debug, Clone, PartialEq)]
pub struct Lag {
    /// Source words behind an ideal translator of even pace, on average.
    pub lagging: f64,
    /// Source words read when a target word is written, as a share, on average.
    pub proportion: f64,
    /// The least k at which no link lies ahead of a wait-k reader; at least 1.
    pub least_wait: u32,
    /// Number of links.
    pub links: u32,
}

/// How many source words each target word needs by itself; 0 for a word without links.
pub fn needs(src_len: usize, tgt_len: usize, links: &[Link]) -> Result<Vec<u32>> {
    let mut needs = vec![0; tgt_len];
    for link in links {
        let is_inside = link.src.index() < src_len;
        let need = needs.get_mut(link.tgt.index()).filter(|_| is_inside);
        let need = need.ok_or_else(|| Error::Argument {
            name: "links".into(),
            found: format!("{}-{}", link.src.0, link.tgt.0),
            expected: format!("source below {src_len} and target below {tgt_len}"),
        })?;
        *need = (*need).max(link.src.0 + 1);
    }
    Ok(needs)
}

/// How many source words must be read when each target word is written.
pub fn read_ahead(needs: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let most = |most: &mut u32, need: u32| {
        *most = need.max(*most);
        Some(*most)
    };
    needs.into_iter().scan(0, most).collect()
}

/// Average lagging of what is read when each word is written; 0 for an empty side.
pub fn average_lagging(read: &[u32], src_len: usize) -> f64 {
    if read.is_empty() || src_len == 0 {
        return 0.0;
    }
    let end = read.iter().position(|&words| words as usize == src_len);
    let counted = &read[..end.map_or(read.len(), |at| at + 1)];
    let pace = src_len as f64 / read.len() as f64;
    let behind = |(at, &words): (usize, &u32)| f64::from(words) - at as f64 * pace;
    counted.iter().enumerate().map(behind).sum::<f64>() / counted.len() as f64
}

impl Lag {
    /// The lag of a sentence pair.
    pub fn of(src_len: usize, tgt_len: usize, links: &[Link]) -> Result<Lag> {
        let read = read_ahead(needs(src_len, tgt_len, links)?);
        let all: u64 = read.iter().map(|&words| u64::from(words)).sum();
        let cells = (src_len * tgt_len).max(1) as f64;
        let waits = links.iter().map(|link| (link.src.0 + 1).saturating_sub(link.tgt.0));
        Ok(Lag {
            lagging: average_lagging(&read, src_len),
            proportion: all as f64 / cells,
            least_wait: waits.max().unwrap_or(1).max(1),
            links: to_u32(links.len()),
        })
    }
}

/// Links to source words that a wait-k reader has not read when the target word is due.
pub fn anticipated(links: &[Link], wait: u32) -> u32 {
    let ahead = |link: &&Link| link.src.0 >= link.tgt.0.saturating_add(wait);
    to_u32(links.iter().filter(ahead).count())
}

/// `R` for every source word and `W` for every target word, each `W` as early as it can be.
pub fn labels(src_len: usize, read: &[u32]) -> String {
    let mut signs = Vec::with_capacity(src_len + read.len());
    let mut known = 0;
    for &words in read {
        signs.extend((known..words).map(|_| "R"));
        signs.push("W");
        known = words;
    }
    signs.extend((known as usize..src_len).map(|_| "R"));
    signs.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// *er hat den Tee getrunken*: *he has drunk the tea*.
    fn tea() -> Vec<Link> {
        [(0, 0), (1, 1), (4, 2), (2, 3), (3, 4)].map(|(src, tgt)| Link::new(src, tgt)).to_vec()
    }

    #[test]
    fn the_verb_at_the_end_is_waited_for() {
        let lag = Lag::of(5, 5, &tea()).unwrap();
        assert!((lag.lagging - 5.0 / 3.0).abs() < 1e-12); // (1 + 1 + 3) / 3, all read at word 3
        assert!((lag.proportion - 0.72).abs() < 1e-12); // (1 + 2 + 5 + 5 + 5) / 25
        assert_eq!(lag.least_wait, 3);
        assert_eq!([1, 2, 3].map(|wait| anticipated(&tea(), wait)), [1, 1, 0]);
        let read = read_ahead(needs(5, 5, &tea()).unwrap());
        assert_eq!(read, [1, 2, 5, 5, 5]);
        assert_eq!(labels(5, &read), "R W R W R R R W W W");
    }

    #[test]
    fn words_that_nobody_needs_are_read_at_the_end() {
        assert_eq!(labels(3, &[0, 1]), "W R W R R");
        let lag = Lag::of(3, 2, &[Link::new(0, 1)]).unwrap();
        assert!((lag.lagging - (0.0 + 1.0 - 1.5) / 2.0).abs() < 1e-12); // never all read: both words
        assert_eq!(Lag::of(0, 0, &[]).unwrap().lagging, 0.0);
    }

    #[test]
    fn a_link_outside_is_refused() {
        let error = needs(2, 3, &[Link::new(2, 0)]).unwrap_err();
        let expected = "links: found 2-0; expected source below 2 and target below 3";
        assert_eq!(error.to_string(), expected);
    }
}
