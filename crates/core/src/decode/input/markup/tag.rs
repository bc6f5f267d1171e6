//! Tags of a marked-up line, and character entities.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TagKind {
    Open,
    Close,
    SelfClosing,
}

/// A tag with its position in the line.
#[derive(Debug, Clone)]
pub struct MarkupTag<'a> {
    pub name: &'a str,
    pub attributes: Vec<(&'a str, &'a str)>,
    pub kind: TagKind,
    pub start: usize,
    pub end: usize,
    /// Number of words before the tag.
    pub first_word: usize,
}

/// A syntax error in a tag.
pub struct TagError {
    pub at: usize,
    pub what: &'static str,
    pub expected: &'static str,
}

impl<'a> MarkupTag<'a> {
    /// Parse the tag whose `<` is at byte `start` of the line.
    pub fn read(line: &'a str, start: usize) -> std::result::Result<MarkupTag<'a>, TagError> {
        let is_name = |c: char| c.is_alphanumeric() || "_-.:".contains(c);
        let take = |at: usize| {
            let name = &line[at..];
            &name[..name.find(|c: char| !is_name(c)).unwrap_or(name.len())]
        };
        let skip = |at: usize| line.len() - line[at..].trim_start().len();
        let closes = line[start + 1..].starts_with('/');
        let mut at = start + 1 + usize::from(closes);
        let name = take(at);
        if name.is_empty() {
            let (what, expected) = ("`<` without a name", "`<name …>`, `</name>` or `<wall/>`");
            return Err(TagError { at: start, what, expected });
        }
        at += name.len();
        let mut attributes = Vec::new();
        loop {
            at = skip(at);
            let rest = &line[at..];
            let (kind, width) = match rest.as_bytes() {
                [b'>', ..] => (if closes { TagKind::Close } else { TagKind::Open }, 1),
                [b'/', b'>', ..] if !closes => (TagKind::SelfClosing, 2),
                _ => {
                    let (attribute, after) = read_attribute(line, at, take(at), skip)?;
                    if closes {
                        let expected = "`>` after the name of a closing tag";
                        return Err(TagError { at, what: "an attribute", expected });
                    }
                    attributes.push(attribute);
                    at = after;
                    continue;
                }
            };
            return Ok(MarkupTag { name, attributes, kind, start, end: at + width, first_word: 0 });
        }
    }

    /// Return the text of the tag.
    pub fn shown(&self, line: &'a str) -> &'a str {
        &line[self.start..self.end]
    }
}

/// Parse `key="value"`; return the pair and its end.
fn read_attribute<'a>(
    line: &'a str,
    at: usize,
    key: &'a str,
    skip: impl Fn(usize) -> usize,
) -> std::result::Result<((&'a str, &'a str), usize), TagError> {
    let fault = |at, what| Err(TagError { at, what, expected: "`>` or name=\"value\" in a tag" });
    if key.is_empty() {
        let what = if at == line.len() { "the line's end" } else { "a sign out of place" };
        return fault(at, what);
    }
    let equals = skip(at + key.len());
    if !line[equals..].starts_with('=') {
        return fault(at, "an attribute without a value");
    }
    let open = skip(equals + 1);
    let quote = match line[open..].chars().next() {
        Some(quote @ ('"' | '\'')) => quote,
        _ => return fault(at, "a value without quotes"),
    };
    match line[open + 1..].find(quote) {
        Some(length) => Ok(((key, &line[open + 1..open + 1 + length]), open + length + 2)),
        None => fault(open, "a quote that never ends"),
    }
}

/// Replace the entities of a word; other uses of `&` stay.
pub fn unescape(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(at) = rest.find('&') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.find(';');
        match end.and_then(|end| Some((end, entity(&rest[1..end])?))) {
            Some((end, sign)) => {
                text.push(sign);
                rest = &rest[end + 1..];
            }
            None => {
                text.push('&');
                rest = &rest[1..];
            }
        }
    }
    text.push_str(rest);
    text
}

fn entity(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            // A word contains no blanks, not even as entities.
            let sign = char::from_u32(code.ok()?)?;
            (!sign.is_whitespace() && !sign.is_control()).then_some(sign)
        }
    }
}
