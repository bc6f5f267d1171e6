//! Factored tokens: `word|POS|chunk`.
//!
//! A bar inside a factor is written `&#124;`, as Moses does, and what looks like that with one
//! more `amp;`.

use std::borrow::Cow;

/// What a bar inside a factor is written with, after `&`.
const BAR: &str = "#124;";

/// A factor as it is meant.
pub fn unescape_bars(factor: &str) -> Cow<'_, str> {
    if !factor.contains(BAR) {
        return Cow::Borrowed(factor);
    }
    let mut text = String::with_capacity(factor.len());
    let mut rest = factor;
    while let Some((before, after)) = rest.split_once('&') {
        text.push_str(before);
        rest = after;
        match after.trim_start_matches("amp;").strip_prefix(BAR) {
            Some(left) if after.len() == left.len() + BAR.len() => {
                text.push('|');
                rest = left;
            }
            Some(left) => {
                // One `amp;` less.
                text.push('&');
                text.push_str(&after["amp;".len()..after.len() - left.len()]);
                rest = left;
            }
            None => text.push('&'),
        }
    }
    text.push_str(rest);
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_come_back() {
        let cases = [
            ("plain", "plain"),
            ("&#124;", "|"),
            ("a&#124;b&#124;", "a|b|"),
            ("&amp;#124;", "&#124;"),
            ("&amp;amp;#124;x", "&amp;#124;x"),
            ("&amp;", "&amp;"),
            ("&&#124;#124;", "&|#124;"),
        ];
        for (written, meant) in cases {
            assert_eq!(unescape_bars(written), meant);
        }
    }
}
