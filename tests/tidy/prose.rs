//! Words that neither a comment, a message nor a page uses: people who are no people, `told` without a teller, and words
//! that were invented for a credit loop and a job class.

use crate::source::{Source, has_word};

const REFUSED: &[&str] =
    &["whoever", "somebody", "nobody", "told", "so many", "circle", "circles", "crowd", "crowds"];

/// How often the comments and texts of a source use refused words.
pub fn in_source(source: &Source) -> usize {
    source.lines.iter().map(|line| count(&prose(&line.full, &line.code))).sum()
}

/// How often a page uses refused words. Blocks of code are pages too: they show what the program prints.
pub fn in_page(text: &str) -> usize {
    text.lines().map(count).sum()
}

fn count(line: &str) -> usize {
    let line = line.to_lowercase();
    REFUSED.iter().filter(|word| has_word(&line, word)).count()
}

/// What the scanner blanked out of a line: its comment and the insides of its texts.
fn prose(full: &str, code: &str) -> String {
    let code = code.chars().chain(std::iter::repeat(' '));
    full.chars().zip(code).map(|(full, code)| if code == ' ' { full } else { ' ' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_words_count_in_prose_alone() {
        let text = concat!(
            "fn told(nobody: u32) {} // The guard retries.\n",
            "// It is tried by who",
            "ever has it.\n",
            "say(\"to",
            "ld to some",
            "body\");\n",
            "/* so ma",
            "ny of them */ let untold = 1;\n",
            "let cir",
            "cle = 1; // Adapters of a cro",
            "wd wait in a cir",
            "cle.\n",
        );
        assert_eq!(in_source(&Source::scan("src/a.rs", text)), 6);
        assert_eq!(in_page(concat!("Who", "ever\nretold and to", "ld\n")), 2);
    }
}
