//! A query over a port, and its outcome.

use fabdeck_mad::access::AddressedMad;
use fabdeck_mad::{Mad, MadStatus};

/// A query, and the tag of its answer.
#[derive(Debug)]
pub struct Question<T> {
    pub parcel: AddressedMad,
    /// The node, as a number from the caller, for the limit per node.
    pub target: u32,
    /// How often the query is sent again: the policy's number, or fewer to avoid M_Key violations.
    pub retries: u32,
    pub tag: T,
}

/// The outcome of a query.
#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "nearly every reply is an answer, which a box would only copy twice"
)]
pub enum Reply {
    Answer(Mad),
    /// An answer with an error status.
    Refused(MadStatus),
    Silence,
}

/// Queries that are made when there is room to send them. All queries of a full subnet at once would take gigabytes.
pub struct QuestionFeed<'f, T>(pub Option<Box<dyn Iterator<Item = Question<T>> + 'f>>);

impl<T> std::fmt::Debug for QuestionFeed<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Feed").field(&self.0.is_some()).finish()
    }
}
