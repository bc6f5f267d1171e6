//! A trained model: weights by fingerprint in a mapped file, and its text form.
//!
//! In: features with weights. Out: ln P(R = 1 | from, to) for any two words of a sentence.
//! How: one table of slots (fingerprint, weight), sorted, each entry at its home or right after
//! the one before it, so that a search ends at the first larger one. The names of the features
//! stand behind the table and are only read for the text form.
//! Cost: one probe a feature; 18 bytes a feature and its name. Opening reads and checks all of it.
//! Safety: every read is bounds-checked, and a file that does not fit its checksums is refused.

use super::options::{Anchor, Objective, Options, Templates};
use super::template::Shapes;
use crate::corpus::LineReader;
use crate::error::{Error, Place, Result};
use crate::narrow::{to_f32, to_usize};
use crate::reorder::jump::Window;
use crate::storage::{Checked, Flaw, NewFile, Seal, in_memory, long_at, map, read_only};
use memmap2::Mmap;
use std::path::{Path, PathBuf};

/// The header: the recipe, then the numbers of features, homes and slots.
pub(crate) const SEAL: Seal = Seal {
    magic: *b"wwafterw",
    version: 3,
    numbers: 9,
    what: "a word-after-word model",
    advice: "make it again with `wayword waw train`",
};
/// Version of the format.
pub const VERSION: u32 = SEAL.version;
/// Bytes of the header.
const HEADER: usize = SEAL.size();
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
    digest: u64,
    path: Option<PathBuf>,
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
        let table = to_usize(slots) * SLOT;
        let mut body = vec![0xff; table];
        let mut next = 0;
        for (fingerprint, weight) in entries {
            next = next.max(home(fingerprint, homes));
            if next == slots {
                let found = "more entries with one home than ever happen".into();
                let limit = format!("{OVERRUN}");
                return Err(Error::Limit { place: place(None), found, limit });
            }
            let at = to_usize(next) * SLOT;
            body[at..at + 8].copy_from_slice(&fingerprint.to_le_bytes());
            body[at + 8..at + SLOT].copy_from_slice(&weight.to_le_bytes());
            next += 1;
        }
        body.extend_from_slice(names.as_bytes());
        let numbers = header(recipe, [features, homes, slots]);
        Model::from_copy(&SEAL.seal(&numbers, &body))
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
        Model::read(bytes, path).map_err(|flaw| SEAL.error(place(path), flaw))
    }

    fn read(bytes: Mmap, path: Option<&Path>) -> Checked<Self> {
        let sealed = SEAL.open(&bytes)?;
        let (recipe, [features, homes, slots]) =
            parse_header(&sealed.numbers).ok_or(Flaw::new("a header with impossible numbers"))?;
        let table = slots.checked_mul(SLOT as u64);
        if table.is_none_or(|table| table > sealed.body.len() as u64) || homes > slots {
            return Err(Flaw::new("a header with impossible numbers"));
        }
        sealed.verify()?;
        let (shapes, digest) = (Shapes::new(&recipe.options), sealed.digest);
        let path = path.map(Path::to_path_buf);
        let model = Model { bytes, recipe, shapes, features, homes, slots, digest, path };
        let is_finite = |at| model.weight_at(at).is_none_or(f32::is_finite);
        if !(0..slots).all(is_finite) || model.names().is_none() {
            return Err(Flaw::new("no numbers"));
        }
        Ok(model)
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
        self.digest
    }

    fn names(&self) -> Option<&str> {
        let start = HEADER + to_usize(self.slots) * SLOT;
        str::from_utf8(self.bytes.get(start..)?).ok()
    }

    fn weight_at(&self, slot: u64) -> Option<f32> {
        let slot = self.bytes.get(HEADER + to_usize(slot) * SLOT..)?.first_chunk::<SLOT>()?;
        let (_, weight) = slot.split_last_chunk::<4>()?;
        (long_at(slot, 0) != Some(FREE)).then(|| f32::from_le_bytes(*weight))
    }

    /// The weight of a feature, 0 when it has none.
    #[inline]
    pub fn weight(&self, fingerprint: u64) -> f32 {
        let first = HEADER + to_usize(home(fingerprint, self.homes)) * SLOT;
        let end = HEADER + to_usize(self.slots) * SLOT;
        let Some(slots) = self.bytes.get(first..end) else { return 0.0 };
        for slot in slots.chunks_exact(SLOT) {
            let held = long_at(slot, 0).unwrap_or(FREE);
            if held >= fingerprint {
                let weight = [slot[8], slot[9], slot[10], slot[11]];
                return if held == fingerprint { f32::from_le_bytes(weight) } else { 0.0 };
            }
        }
        0.0
    }

    /// Looks once at where features stand: those that are looked up together should wait for
    /// memory together.
    pub(super) fn touch(&self, features: &[u64]) {
        let touched = features.iter().fold(0, |sum, &fingerprint| {
            let first = HEADER + to_usize(home(fingerprint, self.homes)) * SLOT;
            sum ^ self.bytes.get(first).copied().unwrap_or_default()
        });
        // The sum means nothing; without a use the loads would be left out.
        std::hint::black_box(touched);
    }

    /// Its templates.
    pub(super) fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    /// Writes the text form: a line that says how it was made, then features and weights (definitions
    /// b.4).
    pub fn write_text(&self, path: &Path) -> Result<()> {
        let mut file = NewFile::create(path)?;
        let Recipe { options, prior, bias, samples } = &self.recipe;
        let Options { templates, anchor, window, min_count, objective, coverage } = options;
        let inclusive = if window.inclusive { "inclusive" } else { "strict" };
        file.write(
            format!(
                "{TEXT} templates={templates} delta={} lambda={prior} cutoff={min_count} \
                 between_anchor={} window={inclusive} objective={} coverage={coverage} \
                 samples={samples}\n{BIAS}\t{bias}\n",
                window.width,
                anchor.name(),
                objective.name(),
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
            entries.push((shapes.fingerprint_of(name).ok_or_else(wrong)?, to_f32(weight)));
            names.push(format!("{name}\n"));
        }
        names.sort_unstable();
        Model::build(&recipe, entries, &names.concat())
    }
}

fn header(recipe: &Recipe, sizes: [u64; 3]) -> [u64; 9] {
    let Options { templates, anchor, window, min_count, objective, coverage } = recipe.options;
    let flags = [window.inclusive, objective == Objective::Choice, coverage];
    let flags = flags.iter().rev().fold(0, |bits, &flag| bits << 1 | u64::from(flag));
    let [features, homes, slots] = sizes;
    [
        u64::from(templates.bits()),
        u64::from(anchor as u8) | flags << 8 | u64::from(window.width) << 32,
        u64::from(min_count),
        recipe.prior.to_bits(),
        recipe.bias.to_bits(),
        recipe.samples,
        features,
        homes,
        slots,
    ]
}

/// What a header says: the recipe, and the numbers of features, homes and slots.
fn parse_header(numbers: &[u64]) -> Option<(Recipe, [u64; 3])> {
    let &[templates, shape, min_count, prior, bias, samples, features, homes, slots] = numbers
    else {
        return None;
    };
    let (_, anchor) = *Anchor::ALL.get((shape & 0xff) as usize)?;
    let [inclusive, choice, coverage] = [8, 9, 10].map(|bit| shape >> bit & 1 == 1);
    let window = Window { width: (shape >> 32) as u32, inclusive };
    let objective = if choice { Objective::Choice } else { Objective::Each };
    let templates = Templates::from_bits(u32::try_from(templates).ok()?)?;
    let min_count = u32::try_from(min_count).ok()?;
    let options = Options { templates, anchor, window, min_count, objective, coverage };
    let [prior, bias] = [prior, bias].map(f64::from_bits);
    let recipe = Recipe { options, prior, bias, samples };
    (bias.is_finite() && homes > 0).then_some((recipe, [features, homes, slots]))
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
        objective: Objective::named(fields.get("objective").unwrap_or(&"each")).ok()?,
        coverage: fields.get("coverage").map_or(Some(false), |is| is.parse().ok())?,
    };
    let samples = fields.get("samples").map_or(Some(0), |count| count.parse().ok())?;
    Some(Recipe { options, prior: fields.get("lambda")?.parse().ok()?, bias: 0.0, samples })
}

fn bad_line(path: &Path, line: u64, found: String, expected: String) -> Error {
    let advice = "is this the text form of a word-after-word model?".into();
    Error::Format { place: Place::line(path, line), found, expected, advice }
}

fn place(path: Option<&Path>) -> Place {
    Place::file(path.unwrap_or(Path::new("model")))
}
