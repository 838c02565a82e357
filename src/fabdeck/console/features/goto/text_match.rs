//! How well a text matches the words of a line: a whole word, the start of a word, the letters in order.

/// Scores of a match, the best first.
pub const EXACT: u16 = 100;
pub const WHOLE_WORD: u16 = 90;
pub const START: u16 = 80;
pub const WORD_START: u16 = 70;
pub const INSIDE: u16 = 50;
/// The score of letters in order without a gap; each gap takes one off.
const LETTERS: u16 = 30;
const LEAST_LETTERS: u16 = 5;
/// With fewer letters than this, letters in order would match nearly everything.
const MIN_LETTERS: usize = 2;
/// Most characters over which the letters of a word are spread, for each of its letters.
const MAX_SPREAD: usize = 3;

/// The words of a line, in lower case.
pub fn line_words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_lowercase).collect()
}

/// The score of a text in lower case; `None` where a word does not match. Without a word, every text matches.
pub fn match_score(text: &str, words: &[String]) -> Option<u16> {
    if let [first, .., last] = words
        && text.starts_with(first.as_str())
        && text.ends_with(last.as_str())
        && text.split_whitespace().eq(words.iter().map(String::as_str))
    {
        return Some(EXACT);
    }
    let mut sum: u32 = 0;
    for word in words {
        sum += u32::from(word_score(text, word)?);
    }
    Some(u16::try_from(sum / words.len().max(1) as u32).unwrap_or(EXACT))
}

fn word_score(text: &str, word: &str) -> Option<u16> {
    if text == word {
        return Some(EXACT);
    }
    let mut best = None;
    for (at, _) in text.match_indices(word) {
        let score = place_score(text, at, at + word.len());
        best = best.max(Some(score));
        if score == WHOLE_WORD {
            break;
        }
    }
    best.or_else(|| letters_score(text, word))
}

/// The score of a match at this place of a text.
fn place_score(text: &str, from: usize, to: usize) -> u16 {
    let starts = from == 0 || is_boundary(text[..from].chars().next_back(), text[from..].chars().next());
    let ends = to == text.len() || !text[to..].starts_with(char::is_alphanumeric);
    match (starts, ends, from) {
        (true, true, _) => WHOLE_WORD,
        (true, false, 0) => START,
        (true, false, _) => WORD_START,
        (false, ..) => INSIDE,
    }
}

/// Whether a word begins between two characters: behind a sign, and where digits follow letters.
fn is_boundary(before: Option<char>, after: Option<char>) -> bool {
    let (Some(before), Some(after)) = (before, after) else { return true };
    !before.is_alphanumeric() || (before.is_alphabetic() && after.is_numeric())
}

/// The score of the letters of a word in order.
fn letters_score(text: &str, word: &str) -> Option<u16> {
    let places = letter_places(text, word)?;
    let gaps = places.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
    let gaps = u16::try_from(gaps).unwrap_or(LETTERS);
    (places.len() >= MIN_LETTERS).then(|| LETTERS.saturating_sub(gaps).max(LEAST_LETTERS))
}

/// The places of the letters of a word in a text, in characters: from the start of a word on, and near to each other.
/// Letters that are spread over a long text would match nearly everything.
fn letter_places(text: &str, word: &str) -> Option<Vec<usize>> {
    let longest = word.chars().count() * MAX_SPREAD;
    let mut before = None;
    for (from, (at, sign)) in text.char_indices().enumerate() {
        if is_boundary(before, Some(sign)) && word.starts_with(sign) {
            let mut signs = text[at..].chars().take(longest).enumerate();
            let place = |wanted| signs.find(|(_, sign)| *sign == wanted).map(|(at, _)| from + at);
            if let Some(places) = word.chars().map(place).collect() {
                return Some(places);
            }
        }
        before = Some(sign);
    }
    None
}

/// The places of the characters of a text that match the words, for the drawing.
pub fn matched_places(text: &str, words: &[String]) -> Vec<usize> {
    // A character whose lower case has another length would shift all places behind it.
    let text: String = text.chars().map(|sign| sign.to_lowercase().next().unwrap_or(sign)).collect();
    let mut places = Vec::new();
    for word in words {
        match best_place(&text, word) {
            Some(from) => {
                let first = text[..from].chars().count();
                places.extend(first..first + word.chars().count());
            }
            None => places.extend(letter_places(&text, word).unwrap_or_default()),
        }
    }
    places.sort_unstable();
    places.dedup();
    places
}

fn best_place(text: &str, word: &str) -> Option<usize> {
    let places = text.match_indices(word).map(|(at, _)| at);
    places.max_by_key(|at| (place_score(text, *at, at + word.len()), std::cmp::Reverse(*at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(text: &str, line: &str) -> Option<u16> {
        match_score(text, &line_words(line))
    }

    #[test]
    fn a_whole_word_comes_before_a_start_and_a_start_before_letters() {
        let scores = ["spine-2", "old spine-2", "spine-21", "my spine-21", "myspine-2", "s-p-i-n-e--2"]
            .map(|text| score(text, "spine-2"));
        let mut sorted = scores;
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(scores, sorted);
        assert!(scores.iter().all(Option::is_some));
        assert_eq!(score("spine", "spine-2"), None);
        assert_eq!(score("node01 mlx5_0", "node01 mlx5_0"), Some(EXACT));
        assert!(score("rack1-leaf[3]", "rack 3").is_some() && score("rack1-leaf", "rack x").is_none());
        assert_eq!(score("anything", ""), Some(0));
        assert_eq!(score("spine", "x"), None, "a single letter is not spread");
        assert_eq!(score("a spotted line", "spine"), Some(LETTERS - 1));
        assert_eq!(score("unspoken lines", "spine"), None, "letters begin where a word does");
        assert_eq!(score("set where a new lane map goes", "swap"), None, "letters are near each other");
    }

    #[test]
    fn matched_characters_are_found_in_any_writing() {
        assert_eq!(matched_places("Spine-2", &line_words("ine")), [2, 3, 4]);
        assert_eq!(matched_places("rack2 spine-2", &line_words("spine 2")), [4, 6, 7, 8, 9, 10]);
        assert_eq!(matched_places("abc", &line_words("ac")), [0, 2]);
        assert_eq!(matched_places("İß", &line_words("ß")), [1]);
        assert!(matched_places("", &line_words("a")).is_empty());
    }
}
