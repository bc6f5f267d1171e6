//! What was counted of one phrase pair.
//!
//! In: occurrences. Out: how often the pair was extracted, with which links inside, and in which
//! orientations. Entries of the same pair add up, so that shards and runs can be merged.
//! Most pairs occur once; such an entry takes its links and five bytes.

use super::orientation::Orientations;
use crate::narrow::{to_u16, to_u32};
use crate::orientation::ROWS;
use crate::storage::{Cursor, write_number};

/// Counts of the four orientations.
pub type Row = [u64; 4];

/// The counts of one phrase pair.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// Number of the target phrase.
    pub tgt: u32,
    /// How often the pair was extracted.
    pub count: u64,
    /// Orientations by model and direction; each row sums to `count`.
    pub rows: [Row; ROWS],
    /// Links of all patterns: source and target position inside the phrases, two bytes a link.
    links: Vec<u8>,
    /// Where each pattern ends in `links`, and how often it was seen; sorted by links.
    patterns: Vec<(u32, u64)>,
}

impl Entry {
    /// An empty entry for a target phrase; keeps the memory.
    pub fn reset(&mut self, tgt: u32) {
        self.tgt = tgt;
        self.count = 0;
        self.rows = [[0; 4]; ROWS];
        self.links.clear();
        self.patterns.clear();
    }

    /// Counts one occurrence's orientations.
    pub fn add_orientations(&mut self, orientations: Orientations) {
        for (row, counts) in self.rows.iter_mut().enumerate() {
            counts[orientations.get(row) as usize] += 1;
        }
    }

    /// Adds a pattern of links that sorts behind the ones there.
    pub fn push_pattern(&mut self, links: &[u8], count: u64) {
        self.links.extend_from_slice(links);
        self.patterns.push((to_u32(self.links.len()), count));
        self.count += count;
    }

    /// The patterns of links and how often each was seen, sorted.
    pub fn patterns(&self) -> impl Iterator<Item = (&[u8], u64)> {
        let mut start = 0;
        self.patterns.iter().map(move |&(end, count)| {
            let links = &self.links[start..end as usize];
            start = end as usize;
            (links, count)
        })
    }

    /// Adds the counts of another entry of the same pair.
    pub fn merge(&mut self, other: &Entry) {
        for (count, others) in self.rows.iter_mut().flatten().zip(other.rows.iter().flatten()) {
            *count += others;
        }
        let mut merged = Entry::default();
        let (mut left, mut right) = (self.patterns().peekable(), other.patterns().peekable());
        loop {
            let both = match (left.peek(), right.peek()) {
                (None, None) => break,
                (Some(_), None) => (true, false),
                (None, Some(_)) => (false, true),
                (Some(left), Some(right)) => (left.0 <= right.0, left.0 >= right.0),
            };
            let first = both.0.then(|| left.next()).flatten();
            let second = both.1.then(|| right.next()).flatten();
            let count = first.map_or(0, |one| one.1) + second.map_or(0, |one| one.1);
            if let Some((links, _)) = first.or(second) {
                merged.push_pattern(links, count);
            }
        }
        drop((left, right));
        self.count = merged.count;
        self.links = merged.links;
        self.patterns = merged.patterns;
    }

    /// Writes all but the target phrase's number to the end of `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        write_number(out, self.count);
        if self.count != 1 {
            write_number(out, self.patterns.len() as u64);
        }
        for (links, count) in self.patterns() {
            write_number(out, links.len() as u64 / 2);
            out.extend_from_slice(links);
            if self.patterns.len() > 1 {
                write_number(out, count);
            }
        }
        if self.count == 1 {
            let mut classes = 0u16;
            for (row, counts) in self.rows.iter().enumerate() {
                let class = counts.iter().position(|&count| count == 1).unwrap_or_default();
                classes |= to_u16(class) << (2 * row);
            }
            out.extend_from_slice(&classes.to_le_bytes());
        } else {
            self.rows.iter().flatten().for_each(|&count| write_number(out, count));
        }
    }

    /// Reads what `write` wrote; none when it is damaged.
    pub fn read(&mut self, cursor: &mut Cursor<'_>, tgt: u32) -> Option<()> {
        self.reset(tgt);
        let total = cursor.number()?;
        let patterns = if total == 1 { 1 } else { cursor.number()? };
        if total == 0 || patterns == 0 {
            return None;
        }
        for _ in 0..patterns {
            let links = cursor.small()? as usize;
            let links = cursor.bytes(links.checked_mul(2)?)?;
            let count = if patterns == 1 { total } else { cursor.number()? };
            self.links.extend_from_slice(links);
            self.patterns.push((to_u32(self.links.len()), count));
            self.count = self.count.checked_add(count)?;
        }
        if total == 1 {
            self.add_orientations(Orientations(u16::from_le_bytes(cursor.array()?)));
            return Some(());
        }
        for count in self.rows.iter_mut().flatten() {
            *count = cursor.number()?;
        }
        let whole = |row: &Row| row.iter().try_fold(0u64, |sum, &count| sum.checked_add(count));
        let sound = self.rows.iter().all(|row| whole(row) == Some(total));
        (sound && self.count == total).then_some(())
    }

    /// Goes past what `write` wrote; none when it is cut.
    pub fn skip(cursor: &mut Cursor<'_>) -> Option<()> {
        let total = cursor.number()?;
        let patterns = if total == 1 { 1 } else { cursor.number()? };
        for _ in 0..patterns {
            let links = cursor.small()? as usize;
            cursor.bytes(links.checked_mul(2)?)?;
            if patterns > 1 {
                cursor.number()?;
            }
        }
        if total == 1 {
            return cursor.bytes(2).map(|_| ());
        }
        (0..ROWS * 4).try_for_each(|_| cursor.number().map(|_| ()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(patterns: &[(&[u8], u64)], classes: u16) -> Entry {
        let mut entry = Entry::default();
        for (links, count) in patterns {
            entry.push_pattern(links, *count);
            (0..*count).for_each(|_| entry.add_orientations(Orientations(classes)));
        }
        entry
    }

    #[test]
    fn entries_of_one_pair_add_up_and_come_back() {
        let mut sum = entry(&[(&[0, 0], 2), (&[0, 1, 1, 0], 1)], 0b01_10_11_00_01_10);
        sum.merge(&entry(&[(&[0, 0, 1, 1], 4), (&[0, 1, 1, 0], 5)], 0));
        sum.merge(&entry(&[(&[1, 1], 1)], 0xfff));
        let patterns: Vec<_> = sum.patterns().collect();
        let expected: [(&[u8], u64); 4] =
            [(&[0, 0], 2), (&[0, 0, 1, 1], 4), (&[0, 1, 1, 0], 6), (&[1, 1], 1)];
        assert_eq!(patterns, expected);
        assert_eq!(sum.count, 13);
        assert_eq!(sum.rows[0], [9, 0, 3, 1]); // 9 of the second, class 2 three times, 3 once
        for entry in [sum, entry(&[(&[0, 0], 1)], 0b11_01)] {
            let mut bytes = Vec::new();
            entry.write(&mut bytes);
            let (mut again, mut cursor) = (Entry::default(), Cursor::new(&bytes));
            again.read(&mut cursor, 0).unwrap();
            assert_eq!(again, entry);
            assert!(cursor.is_at_end());
            let mut cursor = Cursor::new(&bytes);
            Entry::skip(&mut cursor).unwrap();
            assert!(cursor.is_at_end());
        }
    }
}
