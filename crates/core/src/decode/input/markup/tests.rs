//! Tests of marked-up lines and of the messages about invalid ones.

use super::*;
use proptest::prelude::*;

fn parse(line: &str) -> Result<MarkedSentence> {
    MarkedSentence::parse(
        line,
        MarkupMode::Exclusive,
        &Place { file: "text".into(), line: Some(3) },
    )
}

fn message(line: &str) -> String {
    parse(line).unwrap_err().to_string()
}

#[test]
fn words_translations_walls_and_zones_are_read() {
    let line = "das<n translation=\"a dwelling||home\" prob=\"0.5||1\">haus da</n> , \
                <zone> ist <wall/> <x english='tiny'>klein</x></zone><wall/>!";
    let MarkedSentence { words, markup } = parse(line).unwrap();
    assert_eq!(words, ["das", "haus", "da", ",", "ist", "klein", "!"]);
    let given = |start, end, words: &[&str], log_prob| MarkupTranslation {
        span: Span::new(start, end),
        words: words.iter().map(|&word| word.into()).collect(),
        log_prob,
    };
    assert_eq!(
        markup.given,
        [
            given(1, 3, &["a", "dwelling"], 0.5f32.ln()),
            given(1, 3, &["home"], 0.0),
            given(5, 6, &["tiny"], 0.0),
        ]
    );
    assert!(markup.is_exclusive);
    assert_eq!(markup.constraints, ReorderingConstraints::new(7, &[Span::new(4, 6)], &[5, 6]));
}

#[test]
fn translations_without_a_probability_are_equally_likely_and_may_be_empty() {
    let marked = parse("<n translation='||such a'>ja</n>").unwrap();
    let given: Vec<(usize, f32)> =
        marked.markup.given.iter().map(|given| (given.words.len(), given.log_prob)).collect();
    assert_eq!(given, [(0, -(2f32.ln())), (2, -(2f32.ln()))]);
}

#[test]
fn entities_stand_for_signs_and_other_ampersands_for_themselves() {
    let line = "R&amp;D a&lt;b &#124; &#x41; &quot;&apos; &copy; & &#32; &#0; &; &#xd800; \
                <n translation='&lt;n&gt;'>x</n>";
    let marked = parse(line).unwrap();
    assert_eq!(
        marked.words,
        ["R&D", "a<b", "|", "A", "\"'", "&copy;", "&", "&#32;", "&#0;", "&;", "&#xd800;", "x"]
    );
    assert_eq!(marked.markup.given[0].words, ["<n>"]);
}

#[test]
fn what_is_ignored_still_leaves_walls_and_zones() {
    let place = Place { file: "text".into(), line: None };
    let line = "<n translation='a'>x</n> <wall/> y";
    let marked = MarkedSentence::parse(line, MarkupMode::Ignore, &place).unwrap();
    assert!(marked.markup.given.is_empty());
    assert!(!marked.markup.constraints.is_empty());
}

#[test]
fn broken_markup_is_told_in_one_sentence() {
    let cases = [
        (
            "das <zone> haus",
            "`<zone>` at character 5 is never closed; expected `</zone>` before the end of the line",
        ),
        ("haus </zone>", "`</zone>` at character 6 closes nothing; expected `<zone>` before it"),
        (
            "<zone> ä </n>",
            "`</n>` at character 10 stands inside `<zone>` of character 1; expected `</zone>` first",
        ),
        (
            "<b>haus</b>",
            "`<b>` at character 1 has no translation; expected `<zone>`, `<wall/>` or a tag with \
             translation=\"…\"",
        ),
        (
            "<n span='1-2' translation='a'>x</n>",
            "`<n span='1-2' translation='a'>` at character 1 has an attribute `span`; expected \
             `translation` and `prob`",
        ),
        (
            "<n translation='a' english='b'>x</n>",
            "`<n translation='a' english='b'>` at character 1 has two attributes `english`; \
             expected one of each",
        ),
        (
            "<n translation='a||b' prob='0.5'>x</n>",
            "`<n translation='a||b' prob='0.5'>` at character 1 has prob=\"0.5\" for 2 \
             translations; expected a number above 0 and up to 1 for each, with || between",
        ),
        (
            "<n translation='a' prob='high'>x</n>",
            "`<n translation='a' prob='high'>` at character 1 has prob=\"high\" for 1 \
             translations; expected a number above 0 and up to 1 for each, with || between",
        ),
        (
            "<n translation='a'></n>",
            "`<n translation='a'>` at character 1 has no word; expected the words to be translated",
        ),
        (
            "<n translation='a'>x<wall/>y</n>",
            "`<wall/>` at character 21 stands inside `<n translation='a'>`; expected only words \
             where a translation is given",
        ),
        ("<wall>", "`<wall>` at character 1 is not a wall; expected `<wall/>`"),
        ("<zone/>", "`<zone/>` at character 1 is not a zone; expected `<zone>` … `</zone>`"),
        ("3 < 4", "`<` without a name at character 3; expected `<name …>`, `</name>` or `<wall/>`"),
        (
            "<n translation=a>x</n>",
            "a value without quotes at character 4; expected `>` or name=\"value\" in a tag",
        ),
        (
            "<n translation='a",
            "a quote that never ends at character 16; expected `>` or name=\"value\" in a tag",
        ),
        ("<n", "the line's end at character 3; expected `>` or name=\"value\" in a tag"),
        (
            "<n b>",
            "an attribute without a value at character 4; expected `>` or name=\"value\" in a tag",
        ),
        (
            "<zone>x</zone a='b'>",
            "an attribute at character 15; expected `>` after the name of a closing tag",
        ),
    ];
    for (line, expected) in cases {
        let expected = format!("text:3: {expected}; write &lt; where no tag is meant");
        assert_eq!(message(line), expected, "{line}");
    }
    for prob in ["0", "-1", "1.5", "nan", "inf", "0.5||", ""] {
        assert!(message(&format!("<n translation='a' prob='{prob}'>x</n>")).contains("above 0"));
    }
}

#[test]
fn modes_have_moses_names() {
    assert_eq!(MarkupMode::named("exclusive").unwrap(), MarkupMode::Exclusive);
    assert_eq!(
        MarkupMode::named("constraint").unwrap_err().to_string(),
        "markup: found `constraint`; expected `exclusive`, `inclusive` or `ignore`; leave it away \
         for text without markup"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_line_gives_a_value_or_a_typed_error(line in any::<String>()) {
        let _ = parse(&line);
    }

    #[test]
    fn any_pieces_of_markup_give_a_value_or_a_typed_error(
        pieces in proptest::collection::vec(
            proptest::sample::select(vec![
                "<", ">", "/", "<zone>", "</zone>", "<wall/>", "<n translation='a||b'>", "</n>",
                " prob=\"0.5\"", "word", " ", "&lt;", "&#", ";", "\"", "'", "=", "<n", "é", "\0",
            ]),
            0..12,
        ),
    ) {
        let line = pieces.concat();
        if let Ok(marked) = parse(&line) {
            for given in marked.markup().given() {
                prop_assert!(given.span.start < given.span.end);
                prop_assert!(given.span.end as usize <= marked.words().len());
            }
        }
    }

    #[test]
    fn text_without_signs_of_markup_is_only_split(line in "[^<&]*") {
        let marked = parse(&line).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        prop_assert_eq!(marked.words(), &words[..]);
        prop_assert_eq!(marked.markup().given(), &[]);
    }
}
