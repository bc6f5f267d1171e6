//! A trained model: weights by fingerprint in a mapped file, and its text form.
//!
//! In: features with weights. Out: ln P(R = 1 | from, to) for any two words of a sentence.
//! How: one table of slots (fingerprint, weight), sorted, each entry at its home or right after
//! the one before it, so that a search ends at the first larger one. The names of the features
//! stand behind the table and are only read for the text form.
//! Cost: one probe a feature; 18 bytes a feature and its name. Opening reads and checks all of it.
//! Safety: every read is bounds-checked, and a file that does not fit its checksums is refused.

use super::options::{Anchor, Options, Templates, Window};
use super::template::Shapes;
use crate::corpus::{LineReader, NewFile};
use crate::error::{Error, Place, Result};
use memmap2::{Mmap, MmapMut};
use std::fs::File;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// The first bytes of a file; the line ends show when a program changed them.
const MAGIC: &[u8; 16] = b"wayword waw\r\n\x1a\n\0";
/// Version of the format.
pub const VERSION: u32 = 2;
/// Bytes of the header.
const HEADER: usize = 128;
/// Bytes of a slot: fingerprint and weight.
const SLOT: usize = 12;
/// The fingerprint of a slot that is not used.
const FREE: u64 = u64::MAX;
/// Slots after the last home for what runs over.
const OVERRUN: u64 = 512;
/// The name of the bias in the text form.
const BIAS: &str = "**BIAS**";
/// What the text form begins with.
const TEXT: &str = "# wayword waw";

/// How a model was made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recipe {
    /// Its features.
    pub options: Options,
    /// Precision of the prior on the weights.
    pub prior: f64,
    /// What every jump starts from.
    pub bias: f64,
    /// Samples it was trained on.
    pub samples: u64,
}

/// A word-after-word model; shared by threads, never changed.
#[derive(Debug)]
pub struct Model {
    bytes: Mmap,
    recipe: Recipe,
    shapes: Shapes,
    features: u64,
    homes: u64,
    slots: u64,
    path: Option<PathBuf>,
}

fn number(bytes: &[u8], at: usize) -> u64 {
    bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk())
        .map_or(0, |chunk| u64::from_le_bytes(*chunk))
}

fn home(fingerprint: u64, homes: u64) -> u64 {
    ((u128::from(fingerprint) * u128::from(homes)) >> 64) as u64
}

impl Model {
    /// Makes a model of features with weights; `names` are their texts, each with a line end.
    pub fn build(recipe: &Recipe, mut entries: Vec<(u64, f32)>, names: &str) -> Result<Self> {
        entries.sort_unstable_by_key(|&(fingerprint, _)| fingerprint);
        entries.dedup_by_key(|&mut (fingerprint, _)| fingerprint);
        let features = entries.len() as u64;
        let homes = features * 3 / 2 + 1;
        let slots = homes + OVERRUN.min(features);
        let table = slots as usize * SLOT;
        let size = HEADER + table + names.len() + 8;
        let name = Path::new("model");
        let mut bytes = MmapMut::map_anon(size).map_err(|source| Error::io(name, source))?;
        bytes[HEADER..HEADER + table].fill(0xff);
        let mut next = 0;
        for (fingerprint, weight) in entries {
            next = next.max(home(fingerprint, homes));
            if next == slots {
                let found = "more entries with one home than ever happen".into();
                let limit = format!("{OVERRUN}");
                return Err(Error::Limit { place: Place::file(name), found, limit });
            }
            let at = HEADER + next as usize * SLOT;
            bytes[at..at + 8].copy_from_slice(&fingerprint.to_le_bytes());
            bytes[at + 8..at + SLOT].copy_from_slice(&weight.to_le_bytes());
            next += 1;
        }
        bytes[HEADER + table..size - 8].copy_from_slice(names.as_bytes());
        let sum = xxh3_64(&bytes[HEADER..size - 8]);
        bytes[size - 8..].copy_from_slice(&sum.to_le_bytes());
        bytes[..HEADER].copy_from_slice(&header(recipe, features, [homes, slots, size as u64]));
        let bytes = bytes.make_read_only().map_err(|source| Error::io(name, source))?;
        Model::from_map(bytes, None)
    }

    /// Maps a file and checks it.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|source| Error::io(path, source))?;
        // SAFETY: the map is only read, through bounds-checked slices of plain bytes, for which
        // every value is valid. A file that another program cuts short while it is mapped ends
        // this one; models are replaced by renaming (`NewFile`), which leaves old maps alone.
        #[expect(unsafe_code, reason = "processes share a mapped model")]
        let bytes = unsafe { Mmap::map(&file) }.map_err(|source| Error::io(path, source))?;
        Model::from_map(bytes, Some(path))
    }

    /// A model from what `bytes` gave.
    pub fn from_copy(bytes: &[u8]) -> Result<Self> {
        let name = Path::new("model");
        let mut own = MmapMut::map_anon(bytes.len().max(1)).map_err(|e| Error::io(name, e))?;
        own[..bytes.len()].copy_from_slice(bytes);
        let bytes = own.make_read_only().map_err(|source| Error::io(name, source))?;
        Model::from_map(bytes, None)
    }

    fn from_map(bytes: Mmap, path: Option<&Path>) -> Result<Self> {
        let wrong = |found: &str| damaged(path.unwrap_or(Path::new("model")), found);
        if bytes.len() < HEADER + 8 || !bytes.starts_with(MAGIC) {
            return Err(wrong("something else"));
        }
        if number(&bytes, HEADER - 8) != xxh3_64(&bytes[..HEADER - 8]) {
            return Err(wrong("a header that does not fit its checksum"));
        }
        if number(&bytes, 16) as u32 != VERSION {
            return Err(wrong(&format!("version {} of the format", number(&bytes, 16) as u32)));
        }
        let (recipe, features, [homes, slots, size]) =
            parse_header(&bytes).ok_or_else(|| wrong("a header with impossible numbers"))?;
        let table = slots.checked_mul(SLOT as u64).and_then(|t| t.checked_add(HEADER as u64 + 8));
        if size != bytes.len() as u64 || table.is_none_or(|end| end > size) || homes > slots {
            return Err(wrong(&format!("{} bytes of {size}", bytes.len())));
        }
        let end = bytes.len() - 8;
        if number(&bytes, end) != xxh3_64(&bytes[HEADER..end]) {
            return Err(wrong("bytes that do not fit their checksum"));
        }
        let shapes = Shapes::new(&recipe.options);
        let path = path.map(Path::to_path_buf);
        let model = Model { bytes, recipe, shapes, features, homes, slots, path };
        let is_finite = |at| model.weight_at(at).is_none_or(f32::is_finite);
        if !(0..slots).all(is_finite) || model.names().is_none() {
            return Err(damaged(model.path.as_deref().unwrap_or(Path::new("model")), "no numbers"));
        }
        Ok(model)
    }

    /// Writes the model to a file.
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut file = NewFile::create(path)?;
        file.write(&self.bytes)?;
        file.finish()
    }

    /// All bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The file it was opened from.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// How it was made.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Number of features.
    pub fn features(&self) -> u64 {
        self.features
    }

    /// Number that tells models apart.
    pub fn digest(&self) -> u64 {
        number(&self.bytes, self.bytes.len() - 8) ^ number(&self.bytes, HEADER - 8)
    }

    fn names(&self) -> Option<&str> {
        let start = HEADER + self.slots as usize * SLOT;
        str::from_utf8(self.bytes.get(start..self.bytes.len() - 8)?).ok()
    }

    fn weight_at(&self, slot: u64) -> Option<f32> {
        let slot = self.bytes.get(HEADER + slot as usize * SLOT..)?.first_chunk::<SLOT>()?;
        let (_, weight) = slot.split_last_chunk::<4>()?;
        (number(slot, 0) != FREE).then(|| f32::from_le_bytes(*weight))
    }

    /// The weight of a feature, 0 when it has none.
    #[inline]
    pub fn weight(&self, fingerprint: u64) -> f32 {
        let first = HEADER + home(fingerprint, self.homes) as usize * SLOT;
        let end = HEADER + self.slots as usize * SLOT;
        let Some(slots) = self.bytes.get(first..end) else { return 0.0 };
        for slot in slots.chunks_exact(SLOT) {
            let found = number(slot, 0);
            if found >= fingerprint {
                let weight = [slot[8], slot[9], slot[10], slot[11]];
                return if found == fingerprint { f32::from_le_bytes(weight) } else { 0.0 };
            }
        }
        0.0
    }

    /// Looks once at where features stand: those that are looked up together should wait for
    /// memory together.
    pub(super) fn touch(&self, features: &[u64]) {
        let touched = features.iter().fold(0, |sum, &fingerprint| {
            let first = HEADER + home(fingerprint, self.homes) as usize * SLOT;
            sum ^ self.bytes.get(first).copied().unwrap_or_default()
        });
        // The sum means nothing; without a use the loads would be left out.
        std::hint::black_box(touched);
    }

    /// Its templates.
    pub(super) fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    /// Writes the text form: a line that says how it was made, then features and weights (SPEC
    /// b.4).
    pub fn write_text(&self, path: &Path) -> Result<()> {
        let mut file = NewFile::create(path)?;
        let Recipe { options, prior, bias, samples } = &self.recipe;
        let Options { templates, anchor, window, min_count } = options;
        let inclusive = if window.inclusive { "inclusive" } else { "strict" };
        file.write(
            format!(
                "{TEXT} templates={templates} delta={} lambda={prior} cutoff={min_count} \
                 between_anchor={} window={inclusive} samples={samples}\n{BIAS}\t{bias}\n",
                window.width,
                anchor.name(),
            )
            .as_bytes(),
        )?;
        for name in self.names().unwrap_or_default().lines() {
            let weight = self.shapes.fingerprint_of(name).map_or(0.0, |print| self.weight(print));
            file.write(format!("{name}\t{weight}\n").as_bytes())?;
        }
        file.finish()
    }

    /// Reads the text form.
    pub fn read_text(path: &Path) -> Result<Self> {
        let mut lines = LineReader::open(path)?;
        let mut line_number = 1;
        let first = lines.next_str()?.unwrap_or_default();
        let mut recipe = parse_first(first).ok_or_else(|| {
            let found: String = first.chars().take(60).collect();
            let expected = format!("`{TEXT} templates=… delta=… …`");
            bad_line(path, 1, format!("`{found}`"), expected)
        })?;
        let shapes = Shapes::new(&recipe.options);
        let mut entries = Vec::new();
        let mut names: Vec<String> = Vec::new();
        while let Some(line) = lines.next_str()? {
            line_number += 1;
            let wrong = || {
                let found: String = line.chars().take(60).collect();
                let expected = "a feature, a tab and a number".into();
                bad_line(path, line_number, format!("`{found}`"), expected)
            };
            let (name, weight) = line.rsplit_once('\t').ok_or_else(wrong)?;
            let finite = |weight: &f64| weight.is_finite();
            let weight: f64 = weight.parse().ok().filter(finite).ok_or_else(wrong)?;
            if name == BIAS {
                recipe.bias = weight;
                continue;
            }
            entries.push((shapes.fingerprint_of(name).ok_or_else(wrong)?, weight as f32));
            names.push(format!("{name}\n"));
        }
        names.sort_unstable();
        Model::build(&recipe, entries, &names.concat())
    }
}

fn header(recipe: &Recipe, features: u64, sizes: [u64; 3]) -> [u8; HEADER] {
    let Options { templates, anchor, window, min_count } = recipe.options;
    let numbers = [
        u64::from(VERSION) | u64::from(templates.bits()) << 32,
        u64::from(anchor as u8) | u64::from(window.inclusive) << 8 | u64::from(window.width) << 32,
        u64::from(min_count),
        recipe.prior.to_bits(),
        recipe.bias.to_bits(),
        recipe.samples,
        features,
        sizes[0],
        sizes[1],
        sizes[2],
    ];
    let mut bytes = [0; HEADER];
    bytes[..16].copy_from_slice(MAGIC);
    for (number, place) in numbers.into_iter().zip(bytes[16..].chunks_exact_mut(8)) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    let sum = xxh3_64(&bytes[..HEADER - 8]);
    bytes[HEADER - 8..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// What a header says: the recipe, the number of features, homes, slots and size.
fn parse_header(bytes: &[u8]) -> Option<(Recipe, u64, [u64; 3])> {
    let at = |index: usize| number(bytes, 16 + 8 * index);
    let (_, anchor) = *Anchor::ALL.get((at(1) & 0xff) as usize)?;
    let window = Window { width: (at(1) >> 32) as u32, inclusive: at(1) >> 8 & 1 == 1 };
    let templates = Templates::from_bits((at(0) >> 32) as u32)?;
    let options = Options { templates, anchor, window, min_count: at(2) as u32 };
    let [prior, bias] = [at(3), at(4)].map(f64::from_bits);
    let recipe = Recipe { options, prior, bias, samples: at(5) };
    (bias.is_finite() && at(7) > 0).then_some((recipe, at(6), [at(7), at(8), at(9)]))
}

/// The recipe in the first line of the text form.
fn parse_first(line: &str) -> Option<Recipe> {
    let mut fields = std::collections::BTreeMap::new();
    for field in line.strip_prefix(TEXT)?.split_whitespace() {
        let (name, value) = field.split_once('=')?;
        fields.insert(name, value);
    }
    let templates = fields.get("templates")?;
    let templates = match templates.strip_prefix("0x") {
        Some(bits) => Templates::from_bits(u32::from_str_radix(bits, 16).ok()?)?,
        None => Templates::named(templates).ok()?,
    };
    let inclusive = match *fields.get("window")? {
        "inclusive" => true,
        "strict" => false,
        _ => return None,
    };
    let width = fields.get("delta")?.parse().ok()?;
    let options = Options {
        templates,
        anchor: Anchor::named(fields.get("between_anchor")?).ok()?,
        window: Window { width, inclusive },
        min_count: fields.get("cutoff")?.parse().ok()?,
    };
    let samples = fields.get("samples").map_or(Some(0), |count| count.parse().ok())?;
    Some(Recipe { options, prior: fields.get("lambda")?.parse().ok()?, bias: 0.0, samples })
}

fn bad_line(path: &Path, line: u64, found: String, expected: String) -> Error {
    let advice = "is this the text form of a word-after-word model?".into();
    Error::Format { place: Place::line(path, line), found, expected, advice }
}

fn damaged(path: &Path, found: &str) -> Error {
    Error::Format {
        place: Place::file(path),
        found: found.into(),
        expected: format!("a word-after-word model of version {VERSION}"),
        advice: "make it again with `wayword waw train`".into(),
    }
}
