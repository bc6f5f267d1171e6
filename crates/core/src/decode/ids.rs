//! Numbers of things the decoder keeps in rows, one type for each kind of thing.
//!
//! A hypothesis, a coverage, a list and a translation are all found by a number of 32 bits; as
//! types of their own none of them can be taken for another. OptionCollection have theirs in `feature`,
//! as path features know them by it too.

/// Number of a context.
pub type LmContextId = u32;

/// Declares types of numbers.
macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The place of what has this number.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

numbers! {
    /// Number of a hypothesis; 0 is the empty one.
    HypId
    /// Number of a coverage; 0 is the empty one.
    CoverageId
    /// Number of a list: the options of a span, or those of them that enter it at one word.
    OptionListId
    /// Number of a translation in the option_cache.
    TargetPhraseId
}

impl HypId {
    /// Stands for no hypothesis.
    pub const NONE: Self = HypId(u32::MAX);
}

impl CoverageId {
    /// Stands for a coverage that nobody has asked for yet.
    pub const NONE: Self = CoverageId(u32::MAX);
}
