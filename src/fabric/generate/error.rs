//! Why a fabric cannot be made, in words that lead to one that can.

use crate::meant;

/// Each variant names what was asked, what is allowed, and where there is one the next thing to try. The text goes
/// without its code: the error of a source puts that in front.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GenerateError {
    #[error("no fabric is called '{name}'{}; known names: {}", meant(.like), .known.join(", "))]
    UnknownName { name: String, like: Vec<&'static str>, known: Vec<&'static str> },
    #[error("'{text}' is not key=value; write {fabric},KEY=VALUE,...")]
    NotAPair { fabric: &'static str, text: String },
    #[error("{fabric} has no key '{key}'{}; its keys: {}", meant(.like), .known.join(", "))]
    UnknownKey { fabric: &'static str, key: String, like: Vec<&'static str>, known: Vec<&'static str> },
    #[error("key '{key}' stands twice")]
    RepeatedKey { key: &'static str },
    #[error("{key}={value} is not possible for {fabric}: {allowed}")]
    BadValue { fabric: &'static str, key: &'static str, value: String, allowed: String },
    #[error("{a}= and {b}= exclude each other: {why}")]
    Conflict { a: &'static str, b: &'static str, why: &'static str },
    #[error(
        "{fabric} with these values would have {asked} {what}, but one subnet has {limit} unicast LIDs for \
         everything; choose smaller values"
    )]
    TooLarge { fabric: &'static str, what: &'static str, asked: u64, limit: u64 },
    #[error(
        "a switch of {fabric} would need {asked} ports, but InfiniBand numbers ports up to {limit}; choose \
         fewer links (redundancy=) or hosts (terminals=)"
    )]
    TooManyPorts { fabric: &'static str, asked: u64, limit: u64 },
    #[error(
        "mport,m={m},n={n} needs LMC {lmc} for its paths, but a port has at most LMC 7 (128 LIDs); choose a \
         smaller m or n, or kary,k={k},n={n}, which has one LID each"
    )]
    LmcTooLarge { m: u32, n: u32, lmc: u32, k: u32 },
    #[error(
        "{key}={asked} cannot be: only {possible} of {total} {what} can fail without cutting something off; \
         ask for fewer, or add disconnect=yes"
    )]
    WouldDisconnect { key: &'static str, what: &'static str, asked: String, possible: usize, total: usize },
    #[error("{key}={asked} cannot be: there are only {total} {what}")]
    TooManyFaults { key: &'static str, what: &'static str, asked: String, total: usize },
}

impl GenerateError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownName { .. } => "FD-3001",
            Self::NotAPair { .. } => "FD-3002",
            Self::UnknownKey { .. } => "FD-3003",
            Self::RepeatedKey { .. } => "FD-3004",
            Self::BadValue { .. } => "FD-3005",
            Self::Conflict { .. } => "FD-3006",
            Self::TooLarge { .. } => "FD-3007",
            Self::TooManyPorts { .. } => "FD-3008",
            Self::LmcTooLarge { .. } => "FD-3009",
            Self::WouldDisconnect { .. } => "FD-3010",
            Self::TooManyFaults { .. } => "FD-3011",
        }
    }
}
