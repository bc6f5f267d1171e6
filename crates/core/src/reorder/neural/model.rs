//! A trained network: its file, and its work on a sentence.
//!
//! In: sizes, words, tags and parameters; or a file. Out: a model of the next word (`Judge`).
//! How: one sealed file: sizes in the header; the lengths of both lists, words and tags with a line
//! end each, filled up to four bytes; then all parameters as 32-bit floats. It is read into memory
//! and checked whole.
//! Cost: 4 bytes a parameter; a sentence costs what `net` says, each of its jumps a look-up.
//! Safety: every length is checked before anything is made of it; numbers must be finite.

use super::net::{Input, Net, Said};
use super::shape::{Shape, Sizes};
use super::vocabulary::Vocabulary;
use crate::corpus::annotated::{Annotation, Sentence};
use crate::error::{Place, Result};
use crate::narrow::{to_u32, to_usize};
use crate::reorder::jump::{BITS, Judge, Link, Matrix, Rater, Window};
use crate::storage::{Body, Checked, Flaw, NewFile, Seal};
use std::path::{Path, PathBuf};

/// The header: window, flags, sizes, recipe.
pub(crate) const SEAL: Seal = Seal {
    magic: *b"wwneural",
    version: 1,
    numbers: 10,
    what: "a network of word order",
    advice: "make it again with `wayword neural train`",
};
/// Version of the format.
pub const VERSION: u32 = SEAL.version;
/// Sizes beyond this are no sizes.
const MOST: u64 = 1 << 12;

/// What a network says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Head {
    /// Which word comes next.
    Next,
    /// Which of two words comes first; with the number of the reference that it learned from.
    Pairs(u32),
}

/// How a network was trained, for people to read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recipe {
    /// How far away wrong answers were.
    pub window: u32,
    /// Passes over the text.
    pub epochs: u32,
    /// Sentences it saw in each.
    pub sentences: u64,
    /// What its random numbers began with.
    pub seed: u64,
    /// What it says.
    pub head: Head,
}

/// A network; shared by threads, never changed.
#[derive(Debug)]
pub struct Model {
    shape: Shape,
    vocabulary: Vocabulary,
    recipe: Recipe,
    values: Vec<f32>,
    bytes: Vec<u8>,
    digest: u64,
    path: Option<PathBuf>,
}

impl Model {
    /// Makes a model; there is a value for each parameter of the shape.
    pub fn build(
        sizes: Sizes,
        vocabulary: &Vocabulary,
        recipe: Recipe,
        values: &[f32],
    ) -> Result<Self> {
        let tags = vocabulary.tags();
        let [words, tag_text] = [Some(vocabulary.words()), tags].map(|texts| {
            let lines = texts.unwrap_or_default().iter().flat_map(|text| [text.as_str(), "\n"]);
            lines.collect::<String>()
        });
        let mut body = Vec::new();
        for text in [&words, &tag_text] {
            body.extend(to_u32(text.len()).to_le_bytes());
        }
        body.extend(words.as_bytes());
        body.extend(tag_text.as_bytes());
        body.resize(body.len().next_multiple_of(4), 0);
        body.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        let reference = match recipe.head {
            Head::Next => None,
            Head::Pairs(reference) => Some(u64::from(reference)),
        };
        let flags = u64::from(sizes.coverage)
            | u64::from(tags.is_some()) << 1
            | u64::from(reference.is_some()) << 2;
        let numbers = [
            u64::from(recipe.window),
            flags,
            sizes.rows as u64,
            sizes.embedding as u64,
            sizes.hidden as u64,
            sizes.key as u64,
            u64::from(recipe.epochs),
            recipe.sentences,
            recipe.seed,
            reference.unwrap_or_default(),
        ];
        let bytes = SEAL.seal(&numbers, &body);
        Model::read(bytes, None).map_err(|flaw| SEAL.error(nameless(), flaw))
    }

    /// Reads the file of a network of the next word and checks it.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = crate::storage::map(path)?;
        Model::read_next(bytes.to_vec(), Some(path))
            .map_err(|flaw| SEAL.error(Place::file(path), flaw))
    }

    /// A network of the next word from what `bytes` gave.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Model::read_next(bytes, None).map_err(|flaw| SEAL.error(nameless(), flaw))
    }

    /// Whether these are the first bytes of a network's file.
    pub fn is_network(bytes: &[u8]) -> bool {
        bytes.starts_with(&SEAL.magic)
    }

    /// A network of pairs from the bytes of its file.
    pub fn read_pairs(bytes: Vec<u8>, path: Option<&Path>) -> Checked<Self> {
        Model::read(bytes, path).and_then(|model| match model.recipe.head {
            Head::Pairs(_) => Ok(model),
            Head::Next => Err(Flaw::new("a network of the next word")),
        })
    }

    fn read_next(bytes: Vec<u8>, path: Option<&Path>) -> Checked<Self> {
        Model::read(bytes, path).and_then(|model| match model.recipe.head {
            Head::Next => Ok(model),
            Head::Pairs(_) => Err(Flaw::new("a network that orders pairs, for `preorder`")),
        })
    }

    /// What a file of these numbers and this body would be, for tests.
    #[cfg(test)]
    pub fn from_sealed(numbers: &[u64], body: &[u8]) -> Result<Self> {
        Model::from_bytes(SEAL.seal(numbers, body))
    }

    fn read(bytes: Vec<u8>, path: Option<&Path>) -> Checked<Self> {
        let sealed = SEAL.open(&bytes)?;
        let (sizes, has_tags, recipe) =
            parse(&sealed.numbers).ok_or(Flaw::new("a header with impossible numbers"))?;
        let mut body = sealed.read()?;
        let vocabulary = read_lists(&mut body, has_tags)?;
        if vocabulary.rows() != sizes.rows {
            return Err(Flaw::new("lists that do not fit its sizes"));
        }
        let shape = Shape::new(sizes);
        let values: Vec<f32> =
            body.groups::<4>(shape.parameters())?.map(f32::from_le_bytes).collect();
        body.end()?;
        if values.iter().any(|value| !value.is_finite()) {
            return Err(Flaw::new("no numbers"));
        }
        let (digest, path) = (sealed.digest, path.map(Path::to_path_buf));
        Ok(Model { shape, vocabulary, recipe, values, bytes, digest, path })
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

    /// Where its parameters stand.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Its words and tags.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// How it was trained.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// All parameters.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// What it says of a sentence.
    pub fn said(&self, src: &Sentence<'_>) -> Said {
        let mut rows = Vec::with_capacity(src.len() * self.vocabulary.layers());
        self.vocabulary.push_rows(src, &mut rows);
        let input = Input { rows: &rows, layers: self.vocabulary.layers() };
        Net::default().run(&self.shape, &self.values, &[input]).pop().unwrap_or_default()
    }
}

impl Judge for Model {
    fn needs(&self) -> Annotation {
        Annotation { tags: self.vocabulary.tags().is_some(), chunks: false }
    }

    fn window(&self) -> Window {
        Window { width: self.recipe.window, inclusive: true }
    }

    fn rater<'a>(&'a self, src: &Sentence<'_>) -> Rater<'a> {
        let Said { jumps, around } = self.said(src);
        let matrix = Matrix::given(src.len(), &jumps);
        Rater::new(matrix, around.as_chunks::<BITS>().0, Link::Choice(self.window()))
    }
}

fn nameless() -> Place {
    Place::file(Path::new("model"))
}

/// What a header says: sizes, whether there are tags, and the recipe.
fn parse(numbers: &[u64]) -> Option<(Sizes, bool, Recipe)> {
    let &[window, flags, rows, embedding, hidden, key, epochs, sentences, seed, last] = numbers
    else {
        return None;
    };
    let is_size = |size: u64| (1..=MOST).contains(&size);
    if flags > 7 || !(is_size(embedding) && is_size(hidden) && is_size(key)) {
        return None;
    }
    let window = u32::try_from(window).ok().filter(|window| (1..=1000).contains(window))?;
    let rows = u32::try_from(rows).ok().filter(|&rows| rows > 0)? as usize;
    let [embedding, hidden, key] = [embedding, hidden, key].map(to_usize);
    let sizes = Sizes { rows, embedding, hidden, key, coverage: flags & 1 == 1 };
    let head = if flags & 4 == 4 { Head::Pairs(u32::try_from(last).ok()?) } else { Head::Next };
    let recipe = Recipe { window, epochs: u32::try_from(epochs).ok()?, sentences, seed, head };
    Some((sizes, flags & 2 == 2, recipe))
}

fn read_lists(body: &mut Body<'_>, has_tags: bool) -> Checked<Vocabulary> {
    let [words, tags] = [body.u32()? as usize, body.u32()? as usize];
    let mut list = |length: usize, what: &str| -> Checked<Vec<String>> {
        Ok(body.text(length, what)?.split_terminator('\n').map(str::to_owned).collect())
    };
    let lists = (list(words, "the list of words")?, list(tags, "the list of tags")?);
    let length = words.checked_add(tags).ok_or(Flaw::new("a length is impossible"))?;
    body.take(length.next_multiple_of(4) - length)?;
    let tags = has_tags.then_some(lists.1);
    Vocabulary::new(lists.0, tags).ok_or(Flaw::new("a word twice"))
}
