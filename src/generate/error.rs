//! Why a fabric cannot be made, in words that lead to one that can.

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

fn meant(like: &[&str]) -> String {
    match like {
        [] => String::new(),
        like => format!(" (did you mean {}?)", like.join(" or ")),
    }
}

/// The beginning of a text that may be hostile, for a message.
pub(super) fn shown(text: &str) -> String {
    text.chars().take(60).collect()
}

/// The known words that a mistyped one may stand for, nearest first.
pub(super) fn resembling<'a>(text: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    const FAR: usize = 3;
    let text = shown(text).to_lowercase();
    let mut close: Vec<(usize, &str)> = known
        .filter_map(|word| {
            let starts = text.len() >= 3 && (word.starts_with(&text) || text.starts_with(word));
            let distance = if starts { 1 } else { edits(&text, word) };
            (distance < FAR && distance < word.len()).then_some((distance, word))
        })
        .collect();
    close.sort_unstable();
    close.truncate(2);
    close.into_iter().map(|(_, word)| word).collect()
}

/// How many letters have to be put in, taken out or replaced (Levenshtein).
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_word_finds_its_neighbours() {
        let known = ["kary", "kautz", "torus", "random", "switch648"];
        for (typed, meant) in
            [("karry", "kary"), ("tours", "torus"), ("Kautz", "kautz"), ("switch", "switch648")]
        {
            assert_eq!(resembling(typed, known.into_iter()).first(), Some(&meant), "{typed}");
        }
        assert!(resembling("zzz", known.into_iter()).is_empty());
        assert!(resembling(&"x".repeat(1 << 20), known.into_iter()).is_empty());
    }
}
