//! The quarantine file: one line for each line taken out, with nothing lost.
//!
//! `line<TAB>reasons<TAB>source<TAB>target`, where the reasons are names joined by commas and
//! the text keeps its bytes: a backslash is `\\`, a tab `\t`, a carriage return `\r`, any other
//! control character or byte that is not UTF-8 `\xNN`. So the file itself is always UTF-8.

use super::Problem;

/// Writes the quarantine line of a pair to the end of `out`.
pub fn write_entry(out: &mut Vec<u8>, line: u64, problems: &[Problem], src: &[u8], tgt: &[u8]) {
    out.extend_from_slice(line.to_string().as_bytes());
    out.push(b'\t');
    let names: Vec<_> = problems.iter().map(|problem| problem.name()).collect();
    out.extend_from_slice(names.join(",").as_bytes());
    for side in [src, tgt] {
        out.push(b'\t');
        escape(out, side);
    }
    out.push(b'\n');
}

fn escape(out: &mut Vec<u8>, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        for &byte in chunk.valid().as_bytes() {
            match byte {
                b'\\' => out.extend_from_slice(b"\\\\"),
                b'\t' => out.extend_from_slice(b"\\t"),
                b'\r' => out.extend_from_slice(b"\\r"),
                0..0x20 | 0x7f => push_hex(out, byte),
                _ => out.push(byte),
            }
        }
        for &byte in chunk.invalid() {
            push_hex(out, byte);
        }
    }
}

fn push_hex(out: &mut Vec<u8>, byte: u8) {
    out.extend_from_slice(format!("\\x{byte:02x}").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Undoes `escape`, written the slow and obvious way.
    fn unescape(text: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            rest = &rest[letter.len_utf8()..];
            if letter != '\\' {
                bytes.extend(letter.to_string().bytes());
                continue;
            }
            let (code, length) = match &rest[..1] {
                "t" => (b'\t', 1),
                "r" => (b'\r', 1),
                "x" => (u8::from_str_radix(&rest[1..3], 16).unwrap(), 3),
                _ => (b'\\', 1),
            };
            bytes.push(code);
            rest = &rest[length..];
        }
        bytes
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let mut out = Vec::new();
            escape(&mut out, &bytes);
            let text = String::from_utf8(out).unwrap();
            prop_assert!(!text.contains(['\t', '\n', '\r', '\0']) );
            prop_assert_eq!(unescape(&text), bytes);
        }
    }
}
