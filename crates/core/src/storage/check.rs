//! Compares a file with its checksum while it is already in use.
//!
//! In: an open file, a range of its bytes, and their checksum (XXH3). Out: whether they fit, to
//! be asked before anything that was made of them goes out.
//! How: a thread reads the range from beginning to end; asking waits for it. So a mapped model of
//! any size opens at once, work begins at once, and no result of a damaged one is ever seen.
//! Cost: one read of the range beside the first work, through a buffer of its own, so that the
//! pages of the model stay as few as are needed. Dropped, it stops.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::thread;
use xxhash_rust::xxh3::Xxh3;

/// Bytes that are read at a time.
const CHUNK: usize = 1 << 20;

/// The part of a file that is compared.
#[derive(Debug)]
struct Task {
    file: File,
    range: Range<u64>,
    checksum: u64,
    stopped: AtomicBool,
    verdict: Mutex<Option<io::Result<bool>>>,
    done: Condvar,
}

/// A comparison under way.
#[derive(Debug)]
pub struct Check {
    task: Arc<Task>,
    /// The process whose thread it is: a child that was forked has no such thread.
    process: u32,
    /// What a process without the thread found.
    own: OnceLock<bool>,
}

impl Check {
    /// Begins to compare bytes of a file.
    pub fn begin(file: File, range: Range<u64>, checksum: u64) -> Self {
        let task = Arc::new(Task {
            file,
            range,
            checksum,
            stopped: AtomicBool::new(false),
            verdict: Mutex::new(None),
            done: Condvar::new(),
        });
        let shared = Arc::clone(&task);
        let begun = thread::Builder::new().name("check".into()).spawn(move || shared.run());
        // Without a thread whoever asks reads the bytes.
        let process = if begun.is_ok() { std::process::id() } else { 0 };
        Check { task, process, own: OnceLock::new() }
    }

    /// Whether the bytes fit their checksum; waits until that is known.
    pub fn is_sound(&self) -> io::Result<bool> {
        if self.process != std::process::id() {
            if let Some(&known) = self.own.get() {
                return Ok(known);
            }
            let found = self.task.compare()?;
            return Ok(*self.own.get_or_init(|| found));
        }
        let mut verdict = self.task.verdict.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        loop {
            match &*verdict {
                Some(Ok(known)) => return Ok(*known),
                Some(Err(error)) => return Err(error.kind().into()),
                None => {}
            }
            verdict = self.task.done.wait(verdict).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }
}

impl Drop for Check {
    fn drop(&mut self) {
        self.task.stopped.store(true, Relaxed);
    }
}

impl Task {
    fn run(&self) {
        let found = self.compare();
        *self.verdict.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(found);
        self.done.notify_all();
    }

    fn compare(&self) -> io::Result<bool> {
        let mut sum = Xxh3::new();
        let mut chunk = vec![0; CHUNK];
        let mut at = self.range.start;
        while at < self.range.end && !self.stopped.load(Relaxed) {
            let wanted = usize::try_from(self.range.end - at).unwrap_or(CHUNK).min(CHUNK);
            let count = read_at(&self.file, &mut chunk[..wanted], at)?;
            if count == 0 {
                return Ok(false); // cut short since it was opened
            }
            sum.update(&chunk[..count]);
            at += count as u64;
        }
        Ok(sum.digest() == self.checksum)
    }
}

/// Reads at a place without moving the file's own: other processes may share that.
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    loop {
        #[cfg(unix)]
        let count = std::os::unix::fs::FileExt::read_at(file, bytes, at);
        #[cfg(windows)]
        let count = std::os::windows::fs::FileExt::seek_read(file, bytes, at);
        match count {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            count => return count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{NewFile, TempFolder};
    use xxhash_rust::xxh3::xxh3_64;

    #[test]
    fn any_wrong_byte_is_found() {
        let room = TempFolder::new(None);
        let path = room.new_path().unwrap();
        let mut bytes: Vec<u8> = (0..3 * CHUNK + 17).map(|at| (at % 251) as u8).collect();
        let sum = xxh3_64(&bytes[10..]);
        let sound = |bytes: &[u8]| {
            NewFile::save(&path, bytes).unwrap();
            let range = 10..bytes.len() as u64;
            Check::begin(File::open(&path).unwrap(), range, sum).is_sound().unwrap()
        };
        assert!(sound(&bytes));
        for at in [0, 9] {
            bytes[at] ^= 1;
            assert!(sound(&bytes), "what is before the range does not count");
        }
        for at in [10, CHUNK, 3 * CHUNK + 16] {
            bytes[at] ^= 1;
            assert!(!sound(&bytes), "byte {at}");
            bytes[at] ^= 1;
        }
        assert!(!sound(&bytes[..CHUNK]));
    }
}
