//! Words in the records, as every tool of the trade prints them.

/// A word of a list of words, where there is one.
pub(super) fn word_of<T: Copy>(
    what: &str,
    word: Option<&str>,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, String> {
    word.map(|word| read(word).ok_or_else(|| format!("'{word}' is no {what}"))).transpose()
}
