//! Words for states, widths and speeds in records, as the common tools print them.

/// Reads a word, if there is one.
pub fn parse_word<T: Copy>(
    what: &str,
    word: Option<&str>,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, String> {
    word.map(|word| read(word).ok_or_else(|| format!("'{word}' is no {what}"))).transpose()
}
