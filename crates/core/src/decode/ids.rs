//! Ids: 32-bit indices, one type per kind of object.
//!
//! Separate types prevent mixing up hypotheses, coverages, option lists and target phrases.
//! `OptionId` is defined in `feature`, because path features use it too.

/// Id of a language model context.
pub type LmContextId = u32;

/// Define id types.
macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// Return the id as an index.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

numbers! {
    /// Id of a hypothesis; 0 is the empty one.
    HypId
    /// Id of a coverage; 0 is the empty one.
    CoverageId
    /// Id of an option list.
    OptionListId
    /// Id of a target phrase in the option cache.
    TargetPhraseId
}

impl HypId {
    /// No hypothesis.
    pub const NONE: Self = HypId(u32::MAX);
}

impl CoverageId {
    /// A coverage that is not computed yet.
    pub const NONE: Self = CoverageId(u32::MAX);
}
