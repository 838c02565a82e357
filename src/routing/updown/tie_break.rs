//! Which of several hops is taken that are equally good. Each engine has a choice of its own, so that engines that see a
//! fabric alike do not end at the same tables.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TieBreak {
    First,
    Last,
}

/// The choices for paths to adapters and for paths to switches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TieBreaks {
    pub adapters: TieBreak,
    pub switches: TieBreak,
}

impl TieBreak {
    /// The first or the last of the items with the lowest key.
    pub fn min_by_key<T, K: Ord>(
        self,
        items: impl DoubleEndedIterator<Item = T>,
        key: impl Fn(&T) -> K,
    ) -> Option<T> {
        match self {
            Self::First => items.min_by_key(key),
            Self::Last => items.rev().min_by_key(key),
        }
    }
}
