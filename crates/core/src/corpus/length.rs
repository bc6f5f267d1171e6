//! How long a line is, in a unit that can be compared between languages.
//!
//! Words where the writing has spaces, characters where it has none (Chinese, Japanese, Thai,
//! Lao, Khmer, Burmese): so `我喝茶` is 3 long, and so is `I drink tea`.

use super::family_of;

/// Number of words; each character of an unspaced writing counts as one.
pub fn length_of(line: &str) -> usize {
    line.split_whitespace().map(length_of_word).sum()
}

fn length_of_word(word: &str) -> usize {
    if word.is_ascii() {
        return 1;
    }
    let unspaced =
        word.chars().filter(|&c| family_of(c).is_some_and(|family| family.is_unspaced())).count();
    unspaced.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaced_words_and_unspaced_characters_count_alike() {
        assert_eq!(length_of("I drink tea"), 3);
        assert_eq!(length_of("我喝茶"), 3);
        assert_eq!(length_of("  größere Häuser \u{3000}"), 2);
        assert_eq!(length_of("100 % …"), 3);
        assert_eq!(length_of(""), 0);
    }
}
