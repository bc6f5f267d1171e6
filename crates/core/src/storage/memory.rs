//! How much of a budget of memory is left.
//!
//! In: a budget in bytes for the whole process. Out: what new work may take of it.
//! How: the system says how much the process holds; where it does not, nothing is taken off.
//! Results never depend on it: with less memory, more goes to disk.

/// What is left of a budget beside what the process holds now; at least a quarter of it, so that
/// work goes on where the rest of a program is large.
pub fn left_of(memory: usize) -> usize {
    memory.saturating_sub(resident()).max(memory / 4)
}

/// Bytes of memory that the process holds.
#[cfg(target_os = "linux")]
fn resident() -> usize {
    const PAGE: usize = 4096;
    let known = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = known.and_then(|text| text.split(' ').nth(1)?.parse::<usize>().ok());
    pages.unwrap_or_default() * PAGE
}

#[cfg(not(target_os = "linux"))]
fn resident() -> usize {
    0
}

/// Hands memory that was freed back to the system, which the allocator may not do by itself.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: the function takes no pointers and may be called at any time, by any thread.
        #[expect(unsafe_code, reason = "only the C library knows what it keeps")]
        unsafe {
            libc::malloc_trim(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_process_holds_is_taken_off() {
        assert_eq!(left_of(1 << 10), 1 << 8);
        let before = left_of(1 << 40);
        let block = vec![1u8; 64 << 20];
        if cfg!(target_os = "linux") {
            assert!(left_of(1 << 40) < before - (32 << 20));
        }
        drop(block);
        give_back();
    }
}
