//! A Rust source as the rules see it. Comments and the content of literals are blanked out, and each line says
//! whether it belongs to tests.

/// A scanned source file.
#[derive(Debug)]
pub struct Source {
    /// Path from the root of the repository, with `/`.
    pub path: String,
    pub lines: Vec<Line>,
}

#[derive(Debug)]
pub struct Line {
    /// The line as in the file.
    pub full: String,
    /// The line with comments and strings blanked out, so that every word in it is code.
    pub code: String,
    /// Whether the line is in an item under `#[cfg(test)]`, or in a file of tests.
    pub test: bool,
}

/// A broken rule with its place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Offence {
    pub path: String,
    pub line: usize,
    pub what: String,
}

impl std::fmt::Display for Offence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

impl Source {
    pub fn scan(path: &str, text: &str) -> Self {
        let blanked = blank(text);
        let mut code: Vec<String> = blanked.lines().map(str::to_owned).collect();
        let full: Vec<String> = text.lines().map(str::to_owned).collect();
        code.resize(full.len(), String::new());
        let tests = test_lines(&code, path.starts_with("tests/"));
        let lines = full.into_iter().zip(code).zip(tests);
        let lines = lines.map(|((full, code), test)| Line { full, code, test }).collect();
        Self { path: path.to_owned(), lines }
    }

    pub fn offence(&self, index: usize, what: impl Into<String>) -> Offence {
        Offence { path: self.path.clone(), line: index + 1, what: what.into() }
    }

    /// The code as one text with its line ends, for rules about statements.
    pub fn code(&self) -> String {
        self.lines.iter().map(|line| format!("{}\n", line.code)).collect()
    }
}

/// State of the scanner.
enum State {
    Code,
    LineComment,
    /// Block comments nest; the number is the depth.
    BlockComment(usize),
    Text,
    /// A raw string that ends with a quote and this many `#`.
    RawText(usize),
}

/// Replaces comments and the content of literals by blanks, and keeps line ends.
fn blank(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut state = State::Code;
    let mut at = 0;
    while at < chars.len() {
        let step = match state {
            State::Code => in_code(&chars, at, &mut state, &mut out),
            State::LineComment => {
                if chars[at] == '\n' {
                    state = State::Code;
                }
                hide(&chars, at, 1, &mut out)
            }
            State::BlockComment(depth) => in_block_comment(&chars, at, depth, &mut state, &mut out),
            State::Text => in_text(&chars, at, &mut state, &mut out),
            State::RawText(marks) => in_raw_text(&chars, at, marks, &mut state, &mut out),
        };
        at += step;
    }
    out
}

fn hide(chars: &[char], at: usize, count: usize, out: &mut String) -> usize {
    let count = count.min(chars.len() - at);
    out.extend(chars[at..at + count].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
    count
}

fn in_code(chars: &[char], at: usize, state: &mut State, out: &mut String) -> usize {
    let next = chars.get(at + 1).copied();
    let after_name = at > 0 && is_name(chars[at - 1]);
    match chars[at] {
        '/' if next == Some('/') => *state = State::LineComment,
        '/' if next == Some('*') => {
            *state = State::BlockComment(1);
            return hide(chars, at, 2, out);
        }
        '"' => {
            *state = State::Text;
            out.push('"');
            return 1;
        }
        'r' | 'b' if !after_name && raw_marks(chars, at).is_some() => {
            let (opening, marks) = raw_marks(chars, at).unwrap_or_default();
            *state = State::RawText(marks);
            return hide(chars, at, opening, out);
        }
        '\'' => {
            let length = char_literal(chars, at);
            if length > 0 {
                return hide(chars, at, length, out);
            }
            out.push('\'');
            return 1;
        }
        other => {
            out.push(other);
            return 1;
        }
    }
    hide(chars, at, 1, out)
}

/// Length of the opening `r##"` (or `br##"`) and its number of `#`.
fn raw_marks(chars: &[char], at: usize) -> Option<(usize, usize)> {
    let mut here = at;
    if chars[here] == 'b' {
        here += 1;
    }
    if chars.get(here) != Some(&'r') {
        return None;
    }
    let marks = chars[here + 1..].iter().take_while(|c| **c == '#').count();
    let quote = here + 1 + marks;
    (chars.get(quote) == Some(&'"')).then_some((quote + 1 - at, marks))
}

/// Length of a character literal, or 0 if the quote begins a lifetime.
fn char_literal(chars: &[char], at: usize) -> usize {
    match chars.get(at + 1) {
        Some('\\') => {
            // The character after the backslash may itself be a quote.
            let end = chars[at..].iter().skip(3).position(|c| *c == '\'');
            end.map_or(0, |end| end + 4)
        }
        Some(_) if chars.get(at + 2) == Some(&'\'') => 3,
        _ => 0,
    }
}

fn in_block_comment(chars: &[char], at: usize, depth: usize, state: &mut State, out: &mut String) -> usize {
    match (chars[at], chars.get(at + 1)) {
        ('*', Some('/')) => {
            *state = if depth == 1 { State::Code } else { State::BlockComment(depth - 1) };
            hide(chars, at, 2, out)
        }
        ('/', Some('*')) => {
            *state = State::BlockComment(depth + 1);
            hide(chars, at, 2, out)
        }
        _ => hide(chars, at, 1, out),
    }
}

fn in_text(chars: &[char], at: usize, state: &mut State, out: &mut String) -> usize {
    match chars[at] {
        '\\' => hide(chars, at, 2, out),
        '"' => {
            *state = State::Code;
            out.push('"');
            1
        }
        _ => hide(chars, at, 1, out),
    }
}

fn in_raw_text(chars: &[char], at: usize, marks: usize, state: &mut State, out: &mut String) -> usize {
    let closes =
        chars[at] == '"' && chars[at + 1..].iter().take(marks).filter(|c| **c == '#').count() == marks;
    if closes {
        *state = State::Code;
        return hide(chars, at, 1 + marks, out);
    }
    hide(chars, at, 1, out)
}

pub fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether each line is under `#[cfg(test)]`: from the attribute to the end of its item.
fn test_lines(code: &[String], all: bool) -> Vec<bool> {
    let mut tests = vec![all || code.iter().any(|line| line.trim() == "#![cfg(test)]"); code.len()];
    let mut at = 0;
    while at < code.len() {
        if code[at].contains("#[cfg(test)]") {
            let end = item_end(code, at);
            tests[at..=end].fill(true);
            at = end;
        }
        at += 1;
    }
    tests
}

/// The last line of the item that begins at or after a line: its closing brace, or its semicolon.
pub fn item_end(code: &[String], from: usize) -> usize {
    let (mut braces, mut others) = (0usize, 0usize);
    for (at, line) in code.iter().enumerate().skip(from) {
        for c in line.chars() {
            match c {
                '{' => braces += 1,
                '}' => {
                    braces = braces.saturating_sub(1);
                    if braces == 0 {
                        return at;
                    }
                }
                '(' | '[' => others += 1,
                ')' | ']' => others = others.saturating_sub(1),
                ';' if braces == 0 && others == 0 => return at,
                _ => {}
            }
        }
    }
    code.len().saturating_sub(1)
}

/// Whether a line contains a word, without a letter, digit or underscore next to it.
pub fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let begins = !word.starts_with(is_name) || !before.is_some_and(is_name);
        let ends = !word.ends_with(is_name) || !after.is_some_and(is_name);
        begins && ends
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        blank(text)
    }

    #[test]
    fn comments_and_literals_vanish_and_lines_stay() {
        assert_eq!(code("a // b\nc"), "a     \nc");
        assert_eq!(code("a /* x /* y */ z */ b"), format!("a {} b", " ".repeat(17)));
        assert_eq!(code(r#"f("a\"}b", c)"#), format!("f(\"{}\", c)", " ".repeat(5)));
        assert_eq!(code("f(r#\"a\"}\"#, b)"), format!("f({}, b)", " ".repeat(8)));
        assert_eq!(code("x == '{' || y == '\\'' "), "x ==     || y ==      ");
        assert_eq!(code("fn f<'a>(x: &'a str)"), "fn f<'a>(x: &'a str)");
        assert_eq!(code("\"one\ntwo\""), "\"   \n   \"");
    }

    #[test]
    fn test_items_are_known() {
        let text = "fn a() {\n}\n#[cfg(test)]\nmod tests {\n fn b() { }\n}\nfn c() {}\n#[cfg(test)]\nuse x;\nfn d() {}";
        let source = Source::scan("src/a.rs", text);
        let marks: String = source.lines.iter().map(|line| if line.test { 't' } else { '-' }).collect();
        assert_eq!(marks, "--tttt-tt-");
    }

    #[test]
    fn words_are_whole_words() {
        assert!(has_word("use tokio::x", "tokio"));
        assert!(!has_word("use tokiosk::x", "tokio"));
        assert!(!has_word("my_print!(", "print!"));
        assert!(has_word("print!(", "print!"));
    }
}
