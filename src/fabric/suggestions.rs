//! Hints for mistyped words.

/// The hint of an error message that names similar words, or nothing without any.
pub fn suggest(like: &[&str]) -> String {
    match like {
        [] => String::new(),
        like => format!(" (did you mean {}?)", like.join(" or ")),
    }
}

/// The first 60 characters of a text, for an error message.
pub(crate) fn shorten(text: &str) -> String {
    text.chars().take(60).collect()
}

/// The known words that resemble a mistyped one, nearest first, two at most.
pub fn similar_words<'a>(text: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    const MAX_DISTANCE: usize = 3;
    let text = shorten(text).to_lowercase();
    let mut close: Vec<(usize, &str)> = known
        .filter_map(|word| {
            let starts = text.len() >= 3 && (word.starts_with(&text) || text.starts_with(word));
            let distance = if starts { 1 } else { edit_distance(&text, word) };
            (distance < MAX_DISTANCE && distance < word.len()).then_some((distance, word))
        })
        .collect();
    close.sort_unstable();
    close.truncate(2);
    close.into_iter().map(|(_, word)| word).collect()
}

/// How many letters have to be put in, taken out or replaced (Levenshtein).
fn edit_distance(a: &str, b: &str) -> usize {
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
        for (typed, meant) in [
            ("karry", "kary"),
            ("tours", "torus"),
            ("Kautz", "kautz"),
            ("switch", "switch648"),
            ("ran", "random"),
        ] {
            assert_eq!(similar_words(typed, known.into_iter()).first(), Some(&meant), "{typed}");
        }
        assert!(similar_words("zzz", known.into_iter()).is_empty());
        assert!(similar_words(&"x".repeat(1 << 20), known.into_iter()).is_empty());
    }
}
