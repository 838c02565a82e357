//! Why a fabric cannot be generated, with the next thing to try.

use crate::suggest;

/// Why a fabric cannot be generated: what was asked, what is allowed, and the next thing to try. The text is
/// without its code, which [`GenerateError::code`] returns.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GenerateError {
    /// No family has the name.
    #[error("no fabric is called '{name}'{}; known names: {}", suggest(.like), .known.join(", "))]
    UnknownName {
        /// The name.
        name: String,
        /// Names that resemble it.
        like: Vec<&'static str>,
        /// All names.
        known: Vec<&'static str>,
    },
    /// A part of the text is not `key=value`.
    #[error("'{text}' is not key=value; write {fabric},KEY=VALUE,...")]
    NotAPair {
        /// The family.
        fabric: &'static str,
        /// The part.
        text: String,
    },
    /// The family does not have the key.
    #[error("{fabric} has no key '{key}'{}; its keys: {}", suggest(.like), .known.join(", "))]
    UnknownKey {
        /// The family.
        fabric: &'static str,
        /// The key.
        key: String,
        /// Keys that resemble it.
        like: Vec<&'static str>,
        /// All keys of the family.
        known: Vec<&'static str>,
    },
    /// A key has two values.
    #[error("key '{key}' is given twice")]
    RepeatedKey {
        /// The key.
        key: &'static str,
    },
    /// A value is outside the range of its key.
    #[error("{key}={value} is not possible for {fabric}: {allowed}")]
    BadValue {
        /// The family.
        fabric: &'static str,
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
        /// The values that the key allows.
        allowed: String,
    },
    /// Two values exclude each other.
    #[error("{a}= and {b}= exclude each other: {why}")]
    Conflict {
        /// The first key.
        a: &'static str,
        /// The second key.
        b: &'static str,
        /// Why they exclude each other.
        why: &'static str,
    },
    /// The fabric is larger than the limit.
    #[error(
        "{fabric} with these values would have {asked} {what}, but one subnet has {limit} unicast LIDs for \
         everything; choose smaller values"
    )]
    TooLarge {
        /// The family.
        fabric: &'static str,
        /// What there are too many of.
        what: &'static str,
        /// How many the specification asks for.
        asked: u64,
        /// How many are possible.
        limit: u64,
    },
    /// A switch has more ports than InfiniBand allows.
    #[error(
        "a switch of {fabric} would need {asked} ports, but InfiniBand numbers ports up to {limit}; choose \
         fewer links (redundancy=) or hosts (terminals=)"
    )]
    TooManyPorts {
        /// The family.
        fabric: &'static str,
        /// How many ports the specification asks for.
        asked: u64,
        /// How many are possible.
        limit: u64,
    },
    /// An m-port n-tree cannot have this LMC.
    #[error(
        "mport,m={m},n={n} needs LMC {lmc} for its paths, but a port has at most LMC 7 (128 LIDs); choose a \
         smaller m or n, or kary,k={k},n={n}, whose ports need one LID each"
    )]
    LmcTooLarge {
        /// The ports of a switch.
        m: u32,
        /// The levels of the tree.
        n: u32,
        /// The LMC that the tree needs.
        lmc: u32,
        /// The `k` of a k-ary n-tree with the same switches, which needs one LID per port.
        k: u32,
    },
    /// More parts are to fail than can fail without cutting a part of the fabric off.
    #[error(
        "{key}={asked} is not possible: only {possible} of {total} {what} can fail without cutting something off; \
         ask for fewer, or add disconnect=yes"
    )]
    WouldDisconnect {
        /// The key that asks for faults.
        key: &'static str,
        /// What fails: switches or links.
        what: &'static str,
        /// How many the specification asks for.
        asked: String,
        /// How many can fail.
        possible: usize,
        /// How many there are.
        total: usize,
    },
    /// More parts are to fail than there are.
    #[error("{key}={asked} is not possible: there are only {total} {what}")]
    TooManyFaults {
        /// The key that asks for faults.
        key: &'static str,
        /// What fails: switches or links.
        what: &'static str,
        /// How many the specification asks for.
        asked: String,
        /// How many there are.
        total: usize,
    },
}

impl GenerateError {
    /// The stable code of the error, such as `FD-3001`.
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
