//! Features as text: template number and fields with `|` between, special letters escaped.
//!
//! In: a field. Out: the field as it stands in the text of a feature, and back (definitions b.3).

use std::borrow::Cow;

const ESCAPES: [(char, &str); 4] = [('%', "%25"), ('|', "%7C"), ('_', "%5F"), (' ', "%20")];

/// Adds a field to the text of a feature.
pub fn escape(field: &str, text: &mut String) {
    for letter in field.chars() {
        match ESCAPES.iter().find(|(special, _)| *special == letter) {
            Some((_, escaped)) => text.push_str(escaped),
            None => text.push(letter),
        }
    }
}

/// A field without its escapes; what is none is left alone.
pub fn plain(field: &str) -> Cow<'_, str> {
    if !field.contains('%') {
        return field.into();
    }
    let mut text = String::with_capacity(field.len());
    let mut rest = field;
    while let Some(at) = rest.find('%') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let known = ESCAPES.iter().find(|(_, escaped)| rest.starts_with(escaped));
        text.push(known.map_or('%', |(special, _)| *special));
        rest = &rest[known.map_or(1, |(_, escaped)| escaped.len())..];
    }
    text.push_str(rest);
    text.into()
}
