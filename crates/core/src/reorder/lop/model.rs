//! A trained model of word order: a mapped table of weights, and what orders sentences by it.
//!
//! In: a sentence. Out: its pair matrix, the order the model likes best, the k best orders.
//! How: the pair model takes one step from source order over its neighbourhood; the joint model
//! takes the best bracketing, or the bracketing order that is expected to turn round the right
//! pairs (minimum Bayes risk). A network gives a pair matrix, and goes on like the pair model. Very
//! long sentences are ordered piece by piece.
//! Cost: opening reads and checks all of the file; see `chart` and `tree` for ordering.
//! Safety: every read is bounds-checked, and a file that does not fit its checksums is refused.

use super::chart::Chart;
use super::gold::Reference;
use super::hashed::Hashed;
use super::inside::{Free, Inside, Turned, Which};
use super::nbest::{Nbest, Ranked};
use super::pair_features::PairParts;
use super::pairs::Pairs;
use super::slots::{Mapped, Slots, Weights};
use super::tree::{BestTree, Corners, Nodes, Nothing};
use crate::corpus::annotated::Sentence;
use crate::error::{Place, Result, named};
use crate::narrow::to_u32;
use crate::reorder::neural;
use crate::storage::{Checked, Flaw, NewFile, Seal, in_memory, map, read_only};
use memmap2::Mmap;
use std::path::{Path, PathBuf};

/// The header: kind, size, layers, reference, passes, sentences, strictness.
pub(crate) const SEAL: Seal = Seal {
    magic: *b"wwlinord",
    version: 1,
    numbers: 7,
    what: "a linear-ordering model",
    advice: "make it again with `wayword preorder fit`",
};
/// Version of the format.
pub const VERSION: u32 = SEAL.version;
/// Bytes of the header.
const HEADER: usize = SEAL.size();
/// Probabilities nearer to 0 and 1 are taken for this.
const SURE: f64 = 1e-4;

/// What a model scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Pairs of words.
    Lop,
    /// Pairs of words and nodes of bracketings.
    Joint,
    /// Pairs of words, by a network that reads the whole sentence.
    Neural,
}

impl Kind {
    /// All kinds by name.
    pub const ALL: [(&'static str, Kind); 3] =
        [("lop", Kind::Lop), ("joint", Kind::Joint), ("neural", Kind::Neural)];

    /// The kind of this name.
    pub fn named(name: &str) -> Result<Self> {
        named("model", name, &Kind::ALL)
    }

    /// Sentences with more words are ordered in pieces: memory and time grow with the cube.
    pub fn longest(self) -> usize {
        match self {
            Kind::Lop | Kind::Neural => 1000,
            Kind::Joint => 200,
        }
    }
}

/// How the joint model chooses an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// That of the best bracketing.
    Best,
    /// The one that is expected to have most pairs of words right.
    Expected,
}

impl Choice {
    /// All of them by name.
    pub const ALL: [(&'static str, Choice); 2] =
        [("best", Choice::Best), ("expected", Choice::Expected)];

    /// The one of this name.
    pub fn named(name: &str) -> Result<Self> {
        named("choice", name, &Choice::ALL)
    }
}

/// How a model was made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recipe {
    /// What it scores.
    pub kind: Kind,
    /// The size of its table; of a network the smallest there is.
    pub slots: Slots,
    /// Whether it looks at tags.
    pub tags: bool,
    /// Where reference orders came from.
    pub reference: Reference,
    /// Passes over the text; 0: log-odds alone.
    pub passes: u64,
    /// Sentences it was trained on.
    pub sentences: u64,
    /// What a contradicted pair cost; 0 for a pair model.
    pub strictness: f64,
}

/// A linear-ordering model; shared by threads, never changed.
#[derive(Debug)]
pub struct Model {
    bytes: Mmap,
    recipe: Recipe,
    /// What stands in the place of weights, where it is a network.
    network: Option<neural::Model>,
    digest: u64,
    path: Option<PathBuf>,
}

impl Model {
    /// Makes a model of weights.
    pub fn build(recipe: &Recipe, weights: &[f32]) -> Result<Self> {
        debug_assert_eq!(weights.len(), recipe.slots.len());
        let body: Vec<u8> = weights.iter().flat_map(|weight| weight.to_le_bytes()).collect();
        Model::from_copy(&SEAL.seal(&header(recipe), &body))
    }

    /// Maps a file and checks it.
    pub fn open(path: &Path) -> Result<Self> {
        Model::from_map(map(path)?, Some(path))
    }

    /// A model from what `bytes` gave.
    pub fn from_copy(bytes: &[u8]) -> Result<Self> {
        let mut copy = in_memory(bytes.len())?;
        copy[..bytes.len()].copy_from_slice(bytes);
        Model::from_map(read_only(copy)?, None)
    }

    fn from_map(bytes: Mmap, path: Option<&Path>) -> Result<Self> {
        let place = || match path {
            Some(path) => Place::file(path),
            None => Place { file: "linear-ordering model".into(), line: None },
        };
        Model::read(bytes, path).map_err(|flaw| SEAL.error(place(), flaw))
    }

    fn read(bytes: Mmap, path: Option<&Path>) -> Checked<Self> {
        if neural::Model::is_network(&bytes) {
            let network = neural::Model::read_pairs(bytes.to_vec(), path)?;
            return Model::of_network(bytes, network, path);
        }
        let sealed = SEAL.open(&bytes)?;
        let recipe =
            parse_header(&sealed.numbers).ok_or(Flaw::new("a header with impossible numbers"))?;
        if sealed.body.len() != recipe.slots.len() * 4 {
            return Err(Flaw::new("a header with impossible numbers"));
        }
        sealed.verify()?;
        let numbers = sealed.body.as_chunks::<4>().0.iter();
        if !numbers.into_iter().all(|&bytes| f32::from_le_bytes(bytes).is_finite()) {
            return Err(Flaw::new("no numbers"));
        }
        let digest = sealed.digest;
        Ok(Model { bytes, recipe, network: None, digest, path: path.map(Path::to_path_buf) })
    }

    fn of_network(bytes: Mmap, network: neural::Model, path: Option<&Path>) -> Checked<Self> {
        let impossible = || Flaw::new("a header with impossible numbers");
        let made = network.recipe();
        let neural::Head::Pairs(reference) = made.head else { return Err(impossible()) };
        let recipe = Recipe {
            kind: Kind::Neural,
            slots: Slots::new(Slots::FEWEST).map_err(|_| impossible())?,
            tags: network.vocabulary().tags().is_some(),
            reference: Reference::ALL.get(reference as usize).ok_or_else(impossible)?.1,
            passes: made.epochs.into(),
            sentences: made.sentences,
            strictness: 0.0,
        };
        let (digest, path) = (network.digest(), path.map(Path::to_path_buf));
        Ok(Model { bytes, recipe, network: Some(network), digest, path })
    }

    /// Writes the model to a file.
    pub fn save(&self, path: &Path) -> Result<()> {
        NewFile::save(path, &self.bytes)
    }

    /// All bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The file it was opened from.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Number that tells models apart.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// How it was made.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Its weights; a network has none that stand in a table.
    pub fn weights(&self) -> Mapped<'_> {
        Mapped(if self.network.is_some() { &[] } else { &self.bytes[HEADER..] })
    }

    /// How many places of the table have a weight, or parameters the network.
    pub fn used(&self) -> usize {
        if let Some(network) = &self.network {
            return network.values().len();
        }
        (0..self.recipe.slots.len()).filter(|&place| self.weights().at(place) != 0.0).count()
    }

    fn table(&self) -> (Slots, Mapped<'_>) {
        (self.recipe.slots, self.weights())
    }
}

fn header(recipe: &Recipe) -> [u64; 7] {
    let Recipe { kind, slots, tags, reference, passes, sentences, strictness } = *recipe;
    let reference = Reference::ALL.iter().position(|(_, known)| *known == reference);
    [
        u64::from(kind == Kind::Joint),
        slots.bits().into(),
        tags.into(),
        reference.unwrap_or_default() as u64,
        passes,
        sentences,
        strictness.to_bits(),
    ]
}

fn parse_header(numbers: &[u64]) -> Option<Recipe> {
    let &[kind, bits, tags, reference, passes, sentences, strictness] = numbers else {
        return None;
    };
    Some(Recipe {
        kind: Kind::ALL[..2].get(usize::try_from(kind).ok()?)?.1,
        slots: Slots::new(u32::try_from(bits).ok()?).ok()?,
        tags: (tags < 2).then_some(tags == 1)?,
        reference: Reference::ALL.get(usize::try_from(reference).ok()?)?.1,
        passes,
        sentences,
        strictness: Some(f64::from_bits(strictness)).filter(|number| number.is_finite())?,
    })
}

/// Orders sentences by a model; one thread's memory.
#[derive(Debug, Default)]
pub struct Orderer {
    src: Hashed,
    parts: PairParts,
    pairs: Pairs,
    chart: Chart,
    nodes: Nodes,
    tree: BestTree,
    inside: Inside,
    turned: Turned,
    nbest: Nbest,
}

impl Orderer {
    /// The order a model likes best.
    pub fn order(&mut self, model: &Model, src: &Sentence<'_>, choice: Choice) -> Vec<u32> {
        self.in_pieces(model, src, |orderer, piece| {
            orderer.fill(model, piece);
            match (model.recipe.kind, choice) {
                (Kind::Joint, Choice::Best) => {
                    let (slots, weights) = model.table();
                    let corners = Corners::new(&orderer.src, (slots, &weights));
                    orderer.tree.order(&orderer.nodes, &corners).1
                }
                (kind, _) => {
                    if kind == Kind::Joint {
                        orderer.expect(model, |turned| 1.0 - 2.0 * turned);
                    }
                    let mut order: Vec<u32> = (0..to_u32(piece.len())).collect();
                    orderer.chart.step(&orderer.pairs, &mut order, piece.len());
                    order
                }
            }
        })
    }

    /// The best orders, all different, with their scores over source order; a very long sentence
    /// has only one.
    pub fn nbest(&mut self, model: &Model, src: &Sentence<'_>, most: usize) -> Vec<Ranked> {
        if src.len() > model.recipe.kind.longest() {
            return vec![Ranked { score: 0.0, order: self.order(model, src, Choice::Best) }];
        }
        self.fill(model, src);
        let Orderer { src, pairs, nodes, nbest, .. } = self;
        match model.recipe.kind {
            Kind::Lop | Kind::Neural => nbest.orders(&Nodes::of_pairs(pairs), &Nothing, most),
            Kind::Joint => {
                let (slots, weights) = model.table();
                nbest.orders(nodes, &Corners::new(src, (slots, &weights)), most)
            }
        }
    }

    /// What it is worth to keep each pair of words: the pair matrix; of a joint model the log-odds
    /// of keeping it, which hold all that the model knows. Pairs of different pieces of a very long
    /// sentence are worth nothing.
    pub fn pairs(&mut self, model: &Model, src: &Sentence<'_>) -> Pairs {
        let mut whole = Pairs::new(src.len());
        let mut start = 0;
        self.in_pieces(model, src, |orderer, piece| {
            orderer.fill(model, piece);
            if model.recipe.kind == Kind::Joint {
                orderer.expect(model, |turned| {
                    let turned = turned.clamp(SURE, 1.0 - SURE);
                    ((1.0 - turned) / turned).ln()
                });
            }
            let length = piece.len();
            for left in 0..length {
                for right in left + 1..length {
                    whole.set(start + left, start + right, orderer.pairs.get(left, right));
                }
            }
            start += length;
            (0..to_u32(length)).collect()
        });
        whole
    }

    /// How likely each pair of words is to be turned round, as the pair matrix.
    fn expect(&mut self, model: &Model, worth: impl Fn(f64) -> f64) {
        let Orderer { src, nodes, inside, turned, pairs, .. } = self;
        let (slots, weights) = model.table();
        inside.fill(nodes, &Corners::new(src, (slots, &weights)), &Free, 0.0);
        turned.clear(src.len());
        inside.expect(Which::All, nodes, &Free, 0.0, turned);
        pairs.clear(src.len());
        turned.pairs(|left, right, share| pairs.set(left, right, worth(share)));
    }

    fn fill(&mut self, model: &Model, src: &Sentence<'_>) {
        if let Some(network) = &model.network {
            let (said, length) = (network.said(src).jumps, src.len());
            self.pairs.clear(length);
            for left in 0..length {
                for right in left + 1..length {
                    let worth = said[(left + 1) * length + right];
                    self.pairs.set(left, right, f64::from(worth));
                }
            }
            return;
        }
        self.src.fill(src, model.recipe.tags);
        let (slots, weights) = model.table();
        match model.recipe.kind {
            Kind::Joint => self.nodes.fill(&self.src, (slots, &weights)),
            Kind::Lop | Kind::Neural => {
                let Orderer { src, parts, pairs, .. } = self;
                parts.fill(src);
                pairs.clear(src.len());
                parts.scores(src, (slots, &weights), |left, right, score| {
                    pairs.set(left - 1, right - 1, score);
                });
            }
        }
    }

    /// Orders a sentence, a very long one piece by piece.
    fn in_pieces(
        &mut self,
        model: &Model,
        src: &Sentence<'_>,
        mut order: impl FnMut(&mut Self, &Sentence<'_>) -> Vec<u32>,
    ) -> Vec<u32> {
        let longest = model.recipe.kind.longest();
        if src.len() <= longest {
            return order(self, src);
        }
        let mut whole = Vec::with_capacity(src.len());
        for start in (0..src.len()).step_by(longest) {
            let piece = src.slice(start..src.len().min(start + longest));
            whole.extend(order(self, &piece).into_iter().map(|word| word + to_u32(start)));
        }
        whole
    }
}
