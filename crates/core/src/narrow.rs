//! Numbers made smaller, so that none is cut in silence.
//!
//! In: a number. Out: the same in fewer bits. How: positions in a sentence and numbers of words
//! and phrases are bounded long before they get here; should a bound be missing, `to_…` ends the
//! work with a message instead of going on with another number. `low_…` are for hashes and packed
//! numbers, of which the low bits are wanted. Numbers that come from a file are not for here:
//! they are compared with `try_from`, and a wrong one is an error of that file.
//! Cost: one comparison.

#[cold]
#[inline(never)]
#[expect(clippy::panic, reason = "a bound of ours is missing")]
fn too_large(bits: u32) -> ! {
    panic!("a number does not fit into {bits} bits");
}

macro_rules! narrow {
    ($name:ident, $small:ty) => {
        #[doc = concat!("The number as `", stringify!($small), "`.")]
        #[inline(always)]
        pub fn $name(number: impl TryInto<$small>) -> $small {
            number.try_into().unwrap_or_else(|_| too_large(<$small>::BITS))
        }
    };
}

narrow!(to_u8, u8);
narrow!(to_u16, u16);
narrow!(to_u32, u32);
narrow!(to_usize, usize);
narrow!(to_i32, i32);
narrow!(to_i64, i64);
narrow!(to_isize, isize);

/// A score with seven digits; what is too large becomes infinite.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "digits are given up on purpose")]
pub fn to_f32(number: f64) -> f32 {
    number as f32
}

/// A number without its fraction; none below 0, and what is too large becomes the largest.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
pub fn whole(number: f64) -> u64 {
    number as u64
}

/// The nearest whole number; what is too large becomes the largest.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "casts saturate")]
pub fn rounded(number: f64) -> i64 {
    number.round() as i64
}

/// The low eight bits.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the low bits are wanted")]
pub fn low_u8(number: u64) -> u8 {
    number as u8
}

/// The low 32 bits.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the low bits are wanted")]
pub fn low_u32(number: u64) -> u32 {
    number as u32
}

/// The low 64 bits.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the low bits are wanted")]
pub fn low_u64(number: u128) -> u64 {
    number as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_stays_the_same() {
        assert_eq!((to_u32(7usize), to_u8(255u32), to_i64(9usize)), (7, 255, 9));
        assert_eq!((low_u8(0x1ff), low_u32(u64::MAX), low_u64(1 << 64)), (0xff, u32::MAX, 0));
        assert_eq!(to_f32(1e300), f32::INFINITY);
        assert_eq!((whole(2.9), whole(-1.0), whole(f64::NAN), rounded(-2.6)), (2, 0, 0, -3));
    }

    #[test]
    #[should_panic(expected = "a number does not fit into 32 bits")]
    fn what_does_not_fit_is_not_cut() {
        to_u32(1u64 << 32);
    }
}
