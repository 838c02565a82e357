//! What is asked over a port, and how that ends.

use fabdeck_mad::access::Parcel;
use fabdeck_mad::{Mad, Status};

/// A question, and what its answer is for.
#[derive(Debug)]
pub struct Question<T> {
    pub parcel: Parcel,
    /// Who is asked: a number that the asker gives, for the limit per node.
    pub target: u32,
    /// How often it is sent again; the policy's count unless a wrong key must not be tried often.
    pub retries: u32,
    pub tag: T,
}

/// How a question ended.
#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "nearly every reply is an answer, which a box would only copy twice"
)]
pub enum Reply {
    Answer(Mad),
    /// An answer that says no.
    Refused(Status),
    Silence,
}

/// Questions that are made when there is room to send them: all of a full subnet at once would take gigabytes.
pub struct Feed<'f, T>(pub Option<Box<dyn Iterator<Item = Question<T>> + 'f>>);

impl<T> std::fmt::Debug for Feed<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Feed").field(&self.0.is_some()).finish()
    }
}
