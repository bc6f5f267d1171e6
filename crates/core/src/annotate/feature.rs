//! The features of a word in its sentence, as 64-bit keys.
//!
//! In: the forms of all words, what is known of them (labels of an earlier pass, the tags a word
//! had in training), a position. Out: keys; those that depend on the labels just given come apart,
//! so that training makes the others once.
//! How: every template has a number, mixed with the hashes of what it looks at. Two features of a
//! model share a key with a probability of n²/2⁶⁵, about one in ten million for a million keys.
//! Cost: some forty multiplications a word.

use super::form::Form;

/// No label: before the sentence begins and after it ends.
pub(super) const EDGE: u64 = 0x5bd1_e995_7b7d_159d;

/// A sentence as the templates see it; all slices are as long as the sentence.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    /// The words.
    pub forms: &'a [Form],
    /// What tags each word had in training, as a hash; 0 for a word hardly seen.
    pub lexical: &'a [u64],
    /// Labels that an earlier pass gave, plus 1; empty when there was none.
    pub known: &'a [u64],
}

/// Collects the keys of one word.
struct Keys<'k> {
    out: &'k mut Vec<u64>,
    template: u64,
}

fn mix(left: u64, right: u64) -> u64 {
    let mixed = (left.rotate_left(23) ^ right).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

impl Keys<'_> {
    /// Adds the key of the next template; its number keeps equal parts apart.
    fn push(&mut self, parts: &[u64]) {
        self.template += 1;
        self.out.push(parts.iter().fold(self.template, |key, &part| mix(key, part)));
    }
}

fn at(values: &[u64], place: usize, offset: isize) -> u64 {
    place.checked_add_signed(offset).and_then(|place| values.get(place)).copied().unwrap_or(EDGE)
}

fn form_at(view: &View<'_>, place: usize, offset: isize) -> Form {
    let edge = Form { word: EDGE, lower: EDGE, shape: EDGE, ..Form::default() };
    let form = place.checked_add_signed(offset).and_then(|place| view.forms.get(place));
    form.copied().unwrap_or(edge)
}

/// Adds the keys that do not depend on the labels of the words before.
pub(super) fn push_fixed(view: &View<'_>, place: usize, out: &mut Vec<u64>) {
    let mut keys = Keys { out, template: 0 };
    let [before2, before, form, after, after2] =
        [-2, -1, 0, 1, 2].map(|offset| form_at(view, place, offset));
    keys.push(&[]);
    keys.push(&[form.word]);
    keys.push(&[form.lower]);
    keys.push(&[form.shape]);
    keys.push(&[form.shape, u64::from(place == 0)]);
    for (length, &prefix) in form.prefixes.iter().enumerate().filter(|(_, prefix)| **prefix != 0) {
        keys.push(&[length as u64, prefix]);
    }
    keys.template = 20;
    for (length, &suffix) in form.suffixes.iter().enumerate().filter(|(_, suffix)| **suffix != 0) {
        keys.push(&[length as u64, suffix]);
    }
    keys.template = 40;
    keys.push(&[before2.lower]);
    keys.push(&[before.lower]);
    keys.push(&[after.lower]);
    keys.push(&[after2.lower]);
    keys.push(&[before.lower, form.lower]);
    keys.push(&[form.lower, after.lower]);
    keys.push(&[before.lower, after.lower]);
    keys.push(&[before.suffixes[2]]);
    keys.push(&[after.suffixes[2]]);
    keys.push(&[form.suffixes[1], after.suffixes[1]]);
    keys.push(&[before.shape, form.shape, after.shape]);
    keys.push(&[form.suffixes[2], form.shape]);
    let [left2, left, own, right, right2] =
        [-2, -1, 0, 1, 2].map(|offset| at(view.lexical, place, offset));
    keys.push(&[own]);
    keys.push(&[left, own]);
    keys.push(&[own, right]);
    keys.push(&[left, own, right]);
    keys.push(&[right, right2]);
    keys.push(&[left2, left, own]);
    keys.push(&[form.lower, right]);
    if !view.known.is_empty() {
        push_known(view, place, form, &mut keys);
    }
}

/// Adds what the labels of an earlier pass tell, on both sides.
fn push_known(view: &View<'_>, place: usize, form: Form, keys: &mut Keys<'_>) {
    keys.template = 80;
    let [left2, left, own, right, right2] =
        [-2, -1, 0, 1, 2].map(|offset| at(view.known, place, offset));
    keys.push(&[own]);
    keys.push(&[left]);
    keys.push(&[right]);
    keys.push(&[left2]);
    keys.push(&[right2]);
    keys.push(&[left, own]);
    keys.push(&[own, right]);
    keys.push(&[left2, left]);
    keys.push(&[right, right2]);
    keys.push(&[left, right]);
    keys.push(&[left, own, right]);
    keys.push(&[left2, left, own]);
    keys.push(&[own, right, right2]);
    keys.push(&[own, form.lower]);
    keys.push(&[left, form.lower]);
    keys.push(&[form.lower, right]);
    keys.push(&[form.lower, right, right2]);
    keys.push(&[left, form.lower, right]);
    keys.push(&[left, form.suffixes[2], right]);
}

/// Adds the keys that look at the two labels given last.
pub(super) fn push_history(view: &View<'_>, place: usize, last: [u64; 2], out: &mut Vec<u64>) {
    let mut keys = Keys { out, template: 120 };
    let [before, before2] = last;
    let form = view.forms[place];
    let after = form_at(view, place, 1);
    keys.push(&[before]);
    keys.push(&[before2, before]);
    keys.push(&[before, form.lower]);
    keys.push(&[before2, before, form.lower]);
    keys.push(&[before, form.suffixes[2]]);
    keys.push(&[before, form.shape]);
    keys.push(&[before, after.lower]);
    keys.push(&[before, at(view.lexical, place, 0), at(view.lexical, place, 1)]);
    keys.push(&[before2, before, at(view.lexical, place, 0)]);
    if !view.known.is_empty() {
        let [own, right] = [0, 1].map(|offset| at(view.known, place, offset));
        keys.push(&[before, own]);
        keys.push(&[before, own, right]);
        keys.push(&[before2, before, own]);
        keys.push(&[before, own, form.lower]);
    }
}
