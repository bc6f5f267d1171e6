//! Makes the checksums of a changed file fit again.
//!
//! In: the bytes of a file with our header (see `wayword::storage::Seal`). Out: the same with
//! length and checksums of header and body as they should be; for a phrase table also those of its
//! parts and blocks. Bytes that are too short stay as they are.

use xxhash_rust::xxh3::xxh3_64;

/// Bytes of the header without numbers.
const FIXED: usize = 40;
/// Where the numbers begin.
const NUMBERS: usize = 32;
/// Numbers of a phrase table before those of its parts.
const TABLE_NUMBERS: usize = 4;

fn long(bytes: &[u8], at: usize) -> Option<usize> {
    let chunk: [u8; 8] = bytes.get(at..at.checked_add(8)?)?.try_into().ok()?;
    usize::try_from(u64::from_le_bytes(chunk)).ok()
}

fn put(bytes: &mut [u8], at: usize, number: u64) {
    if let Some(slot) = bytes.get_mut(at..at + 8) {
        slot.copy_from_slice(&number.to_le_bytes());
    }
}

/// Seals a file again.
pub fn reseal(bytes: &mut [u8], is_table: bool) {
    let Some(count) = bytes.get(12..16).and_then(|four| four.try_into().ok()) else { return };
    let count = u32::from_le_bytes(count) as usize;
    let Some(size) = count.checked_mul(8).and_then(|numbers| numbers.checked_add(FIXED)) else {
        return;
    };
    if size > bytes.len() {
        return;
    }
    if is_table {
        reseal_parts(bytes, count);
    }
    let body = xxh3_64(&bytes[size..]);
    put(bytes, 16, (bytes.len() - size) as u64);
    put(bytes, 24, body);
    let header = xxh3_64(&bytes[..size - 8]);
    put(bytes, size - 8, header);
}

/// The checksums of the parts of a phrase table, and of the blocks in the first of them.
fn reseal_parts(bytes: &mut [u8], count: usize) {
    for (number, part) in (TABLE_NUMBERS..count.saturating_sub(2)).step_by(3).enumerate() {
        let at = NUMBERS + 8 * part;
        let (Some(start), Some(length)) = (long(bytes, at), long(bytes, at + 8)) else { return };
        let Some(end) = start.checked_add(length).filter(|&end| end <= bytes.len()) else {
            continue;
        };
        if number == 0 {
            reseal_blocks(&mut bytes[start..end]);
        }
        let sum = xxh3_64(&bytes[start..end]);
        put(bytes, at + 16, sum);
    }
}

/// Blocks one after the other: checksum (4 bytes), length (seven bits a byte), the rest.
fn reseal_blocks(mut blocks: &mut [u8]) {
    while blocks.len() > 5 {
        let mut length = 0;
        let mut head = 4;
        for shift in (0..28).step_by(7) {
            let Some(&byte) = blocks.get(head) else { return };
            head += 1;
            length |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        let Some(block) = blocks.get(head..head + length) else { return };
        let sum = xxh3_64(block) as u32;
        blocks[..4].copy_from_slice(&sum.to_le_bytes());
        blocks = &mut blocks[head + length..];
    }
}
