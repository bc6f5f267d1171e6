//! What the links of a sentence say about the order of its words.
//!
//! In: links, and how to treat words without any. Out: for each pair of words whether it should
//! be kept, turned round, or is nobody's business (definitions a and o).

use crate::align::Link;
use crate::error::{Result, named};
use crate::narrow::to_u32;
use crate::reorder::order::{Heuristic, inverse, order_of_links, ranks_of_links};

/// Where reference orders come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    /// A word takes its first target position, one without links goes to the front: the paper's.
    Leftmost,
    /// A word without links follows the linked word before it.
    Attach,
    /// Words without links, and words of one place, have no opinion.
    Linked,
}

impl Reference {
    /// All of them, by the names that options have.
    pub const ALL: [(&'static str, Reference); 3] = [
        ("leftmost", Reference::Leftmost),
        ("attach", Reference::Attach),
        ("linked", Reference::Linked),
    ];

    /// The one of this name.
    pub fn named(name: &str) -> Result<Self> {
        named("reference", name, &Reference::ALL)
    }

    /// The rank of each word that has one; words of equal rank have no opinion of each other.
    pub fn ranks(self, length: usize, links: &[Link]) -> Vec<Option<u32>> {
        let of_order = |heuristic| {
            let order = order_of_links(length, links, heuristic);
            inverse(&order).unwrap_or_default().into_iter().map(Some).collect()
        };
        match self {
            Reference::Leftmost => of_order(Heuristic::Leftmost),
            Reference::Attach => of_order(Heuristic::Attach),
            Reference::Linked => ranks_of_links(length, links),
        }
    }
}

/// What the links of a sentence want of each pair of words, and how much.
#[derive(Debug, Default)]
pub struct Wishes {
    linked: Vec<Option<u32>>,
    all: Vec<Option<u32>>,
    trust: Vec<f32>,
    unlinked: f64,
}

impl Wishes {
    /// The wishes of a sentence. By `attach` two linked words want what their links say, and pairs
    /// with a word that has no link want what that word's neighbour does, only `unlinked` times as
    /// much; by other references all pairs that want something do so alike. What two linked words
    /// want counts as much as both are to be trusted.
    pub fn new(reference: Reference, links: &[Link], trust: &[f32], unlinked: f64) -> Self {
        let length = trust.len();
        let all = reference.ranks(length, links);
        let linked = match reference {
            Reference::Attach => ranks_of_links(length, links),
            Reference::Leftmost | Reference::Linked => all.clone(),
        };
        Wishes { linked, all, trust: trust.to_vec(), unlinked }
    }

    /// Above 0 where a pair should be kept, below where it should be turned round.
    #[inline]
    pub fn weigh(&self, left: usize, right: usize) -> f64 {
        match (self.linked[left], self.linked[right]) {
            (Some(_), Some(_)) => {
                let trust = f64::from(self.trust[left]) * f64::from(self.trust[right]);
                trust * f64::from(opinion(self.linked[left], self.linked[right]))
            }
            _ => self.unlinked * f64::from(opinion(self.all[left], self.all[right])),
        }
    }

    /// All wishes, of pairs with the left word first.
    pub fn all(&self) -> impl Iterator<Item = ((u32, u32), f64)> + '_ {
        let length = to_u32(self.all.len());
        let pairs = (0..length).flat_map(move |left| (left + 1..length).map(move |r| (left, r)));
        let weighed = pairs.map(|pair| (pair, self.weigh(pair.0 as usize, pair.1 as usize)));
        weighed.filter(|(_, weight)| *weight != 0.0)
    }

    /// Whether no pair wants anything.
    pub fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }
}

/// What should become of a pair of words, by their ranks: more than 0 keep it, less turn it
/// round, 0 no opinion.
#[inline]
pub fn opinion(left: Option<u32>, right: Option<u32>) -> i8 {
    match (left, right) {
        (Some(left), Some(right)) => right.cmp(&left) as i8,
        _ => 0,
    }
}
