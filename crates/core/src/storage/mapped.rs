//! Files and memory as one run of bytes that threads and processes share.
//!
//! In: a path, or bytes. Out: a map that is only read.
//! Cost: mapping takes no time whatever the size; pages come from the disk as they are read.

use crate::error::{Error, Result};
use memmap2::{Mmap, MmapMut};
use std::fs::File;
use std::ops::Range;
use std::path::Path;

/// What memory without a file is called in messages.
const NAMELESS: &str = "model";

/// Maps a file.
pub fn map(path: &Path) -> Result<Mmap> {
    map_open(path).map(|(_, map)| map)
}

/// Maps a file that stays open, to be read in another way as well.
pub fn map_open(path: &Path) -> Result<(File, Mmap)> {
    let file = File::open(path).map_err(|source| Error::io(path, source))?;
    // SAFETY: the map is only read, through bounds-checked slices of plain bytes, for which every
    // value is valid. A file that another program cuts short while it is mapped ends this one;
    // our files are replaced by renaming (`NewFile`), which leaves old maps alone.
    #[expect(unsafe_code, reason = "only a map opens gigabytes at once and shares them")]
    let map = unsafe { Mmap::map(&file) };
    map.map(|map| (file, map)).map_err(|source| Error::io(path, source))
}

/// Memory of so many bytes, at least one, all zero.
pub fn in_memory(size: usize) -> Result<MmapMut> {
    MmapMut::map_anon(size.max(1)).map_err(|source| Error::io(Path::new(NAMELESS), source))
}

/// Memory that is no longer written.
pub fn read_only(bytes: MmapMut) -> Result<Mmap> {
    bytes.make_read_only().map_err(|source| Error::io(Path::new(NAMELESS), source))
}

/// Gives the pages of some bytes of a mapped file back; the next look reads them again.
pub fn release(map: &Mmap, bytes: Range<usize>) {
    #[cfg(unix)]
    {
        // The page that the range ends in is still being read; the one it begins in was read.
        let start = bytes.start - bytes.start % PAGE;
        let end = bytes.end - bytes.end % PAGE;
        if start < end {
            // SAFETY: the map is shared with its file and never written, so that a page which is
            // dropped comes back from the file with the same bytes.
            #[expect(unsafe_code, reason = "only the system can take pages from a map")]
            let _ = unsafe {
                map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, start, end - start)
            };
        }
    }
    #[cfg(not(unix))]
    let _ = (map, bytes);
}

/// A multiple of every common size of a page.
#[cfg(unix)]
const PAGE: usize = 1 << 16;

/// Asks the system for larger pages, which make random reads quicker. It may refuse.
pub fn prefer_large_pages(bytes: &MmapMut) {
    #[cfg(target_os = "linux")]
    let _ = bytes.advise(memmap2::Advice::HugePage);
    #[cfg(not(target_os = "linux"))]
    let _ = bytes;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::NewFile;

    #[test]
    fn a_map_keeps_what_it_had_when_its_file_is_replaced() {
        let path = std::env::temp_dir().join(format!("wayword-map.{}", std::process::id()));
        NewFile::save(&path, b"before").unwrap();
        let before = map(&path).unwrap();
        NewFile::save(&path, b"after that").unwrap();
        assert_eq!(&before[..], b"before");
        assert_eq!(&map(&path).unwrap()[..], b"after that");
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(map(&path), Err(Error::Io { .. })));
    }

    #[test]
    fn an_empty_file_is_mapped_or_refused() {
        let path = std::env::temp_dir().join(format!("wayword-empty.{}", std::process::id()));
        std::fs::write(&path, b"").unwrap();
        assert!(map(&path).is_ok_and(|map| map.is_empty()) || map(&path).is_err());
        std::fs::remove_file(&path).unwrap();
    }
}
