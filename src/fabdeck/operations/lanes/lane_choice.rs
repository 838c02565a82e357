//! How the lanes of packets are determined.

/// How the lanes of packets are determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneChoice {
    /// All packets use service level 0.
    One,
    /// Several service levels may be in use, and those of single paths are unknown.
    Unknown,
    /// Service level 0, unless the source has others; no query to the subnet manager.
    Assumed,
    /// From path records of two sources of each switch, or of all sources if these differ.
    Sampled,
    /// From path records of every pair.
    Exact,
}
