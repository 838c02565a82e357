//! Splits a line into words as a shell does: spaces separate words, and quotes keep them together.

use fabdeck_fabric::LIST_COMMANDS_HINT;

/// The position of a word, and the word.
type WordAt = (usize, String);

/// Splits a line into words with their positions. A space at the end begins an empty word. A quote without an
/// end extends to the end of the line, because the operator is still typing.
pub fn split_words(text: &str) -> Vec<WordAt> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<WordAt>, None);
    let mut signs = text.char_indices();
    while let Some((at, sign)) = signs.next() {
        match (quote, sign) {
            (None, sign) if sign.is_whitespace() => words.extend(word.take()),
            (Some(open), sign) if open == sign => quote = None,
            (None, '\'' | '"') => {
                quote = Some(sign);
                word.get_or_insert((at, String::new()));
            }
            (None | Some('"'), '\\') => {
                let (_, held) = word.get_or_insert((at, String::new()));
                held.extend(signs.next().map(|(_, sign)| sign));
            }
            (_, sign) => word.get_or_insert((at, String::new())).1.push(sign),
        }
    }
    words.push(word.unwrap_or((text.len(), String::new())));
    words
}

/// An error about a name, rephrased for the console, where commands are not typed.
pub fn rephrase_for_console(problem: &str) -> String {
    problem
        .replace(LIST_COMMANDS_HINT, "Tab completes names while one is typed, and the screen Map lists them")
}

/// Quotes a text where necessary, so that it is one word.
pub fn quote_word(text: &str) -> String {
    let plain = |sign: char| !sign.is_whitespace() && !"'\"\\".contains(sign);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        split_words(text).into_iter().map(|(_, word)| word).collect()
    }

    #[test]
    fn names_with_blanks_are_one_word() {
        assert_eq!(read("a b"), ["a", "b"]);
        assert_eq!(read("\"node01 mlx5_0\" 'b c"), ["node01 mlx5_0", "b c"]);
        assert_eq!(read("a "), ["a", ""]);
        assert_eq!(read(""), [""]);
        assert_eq!(split_words("\"a b\"  c").last(), Some(&(7, "c".to_owned())));
    }

    #[test]
    fn quoted_words_read_back() {
        for text in ["plain", "a b", "it's", "say \"so\"", "back\\slash", "a\\ b"] {
            assert_eq!(read(&quote_word(text)), [text], "{text}");
        }
    }
}
