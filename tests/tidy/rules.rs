//! The rules that concern a single file.

use crate::source::{Offence, Source, has_word, item_end};

const FILE_LINES: usize = 700;
const FUNCTION_LINES: usize = 70;
const MAIN_LINES: usize = 20;

/// Modules that may contain `unsafe`.
const UNSAFE_FILES: &[&str] = &[
    "src/fabdeck/system/allocator.rs",
    "src/fabdeck/system/descriptors.rs",
    "src/live/umad/kernel_device.rs",
    "src/live/umad/library.rs",
];
/// Modules on low floors that may open files, because several crates open files in the same way.
const OPENING_FILES: &[&str] = &["src/files/regular_file.rs"];

/// Checks the budgets: lines of a file, of a function, and of `main.rs`.
pub fn budgets(source: &Source) -> Vec<Offence> {
    let mut offences = Vec::new();
    if source.lines.len() > FILE_LINES {
        let what = format!("{} lines, more than {FILE_LINES}", source.lines.len());
        offences.push(source.offence(FILE_LINES, what));
    }
    if source.path == "src/fabdeck/main.rs" && source.lines.len() > MAIN_LINES {
        offences.push(source.offence(MAIN_LINES, format!("main.rs has more than {MAIN_LINES} lines")));
    }
    let code: Vec<String> = source.lines.iter().map(|line| line.code.clone()).collect();
    for (at, line) in code.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let length = item_end(&code, at) + 1 - at;
        if length > FUNCTION_LINES {
            offences.push(
                source.offence(at, format!("fn {name} has {length} lines, more than {FUNCTION_LINES}")),
            );
        }
    }
    offences
}

fn function_name(line: &str) -> Option<&str> {
    let at = line.find("fn ").filter(|at| has_word(&line[*at..], "fn") && !ends_in_name(&line[..*at]))?;
    let name = line[at + 3..].trim_start();
    let end = name.find(|c| !crate::source::is_name(c)).unwrap_or(name.len());
    (end > 0).then(|| &name[..end])
}

fn ends_in_name(text: &str) -> bool {
    text.ends_with(crate::source::is_name)
}

/// Checks that `mod.rs` and `lib.rs` only declare and re-export.
pub fn declares_only(source: &Source) -> Vec<Offence> {
    if !(source.path.ends_with("/mod.rs") || source.path.ends_with("/lib.rs")) {
        return Vec::new();
    }
    let code: Vec<String> = source.lines.iter().map(|line| line.code.clone()).collect();
    let mut offences = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let line = without_attributes(code[at].trim());
        if line.is_empty() {
            at += 1;
            continue;
        }
        if line.starts_with("#[") || line.starts_with("#![") {
            // An attribute over several lines ends with its bracket.
            at += code[at..].iter().position(|line| line.trim_end().ends_with(']')).unwrap_or(0) + 1;
            continue;
        }
        let statement = without_visibility(line);
        let declares = statement.starts_with("use ")
            || (statement.starts_with("mod ") && !statement.contains('{'))
            || statement.starts_with("extern crate ");
        if !declares {
            offences.push(source.offence(at, format!("'{statement}' in a file that only declares")));
        }
        at = declaration_end(&code, at) + 1;
    }
    offences
}

fn without_attributes(mut line: &str) -> &str {
    while line.starts_with("#[") || line.starts_with("#![") {
        match line.split_once(']') {
            Some((_, rest)) => line = rest.trim_start(),
            None => return line,
        }
    }
    line
}

fn without_visibility(line: &str) -> &str {
    let Some(rest) = line.strip_prefix("pub") else { return line };
    match rest.strip_prefix('(') {
        Some(rest) => rest.split_once(')').map_or(line, |(_, rest)| rest.trim_start()),
        None => rest.trim_start(),
    }
}

/// A `use` with braces ends at its semicolon; any other declaration at its brace.
fn declaration_end(code: &[String], at: usize) -> usize {
    let is_use = without_visibility(without_attributes(code[at].trim())).starts_with("use ");
    match is_use {
        true => code[at..].iter().position(|line| line.contains(';')).map_or(at, |end| at + end),
        false => item_end(code, at),
    }
}

/// Words that code must not contain.
const REFUSED: &[&str] = &[
    concat!("to", "do!"),
    concat!("unimpl", "emented!"),
    concat!("d", "bg!"),
    concat!("#[ig", "nore"),
    "utils",
];
/// Words that comments must not contain either.
const REFUSED_ANYWHERE: &[&str] = &[concat!("FIX", "ME"), concat!("X", "XX"), concat!("HA", "CK")];
const PRINTING: &[&str] = &["print!", "println!", "eprint!", "eprintln!"];

pub fn words(source: &Source, floor: Option<u8>) -> Vec<Offence> {
    let mut offences = Vec::new();
    if source.path.split(['/', '.']).any(|part| part == "utils") {
        offences.push(source.offence(0, "a file is named for what it does, not 'utils'"));
    }
    for (at, line) in source.lines.iter().enumerate() {
        let in_code = REFUSED.iter().filter(|word| has_word(&line.code, word));
        let anywhere = REFUSED_ANYWHERE.iter().filter(|word| has_word(&line.full, word));
        for word in in_code.chain(anywhere) {
            offences.push(source.offence(at, format!("'{word}'")));
        }
        let silent = floor.is_some_and(|floor| floor < 7) && !line.test;
        for word in PRINTING.iter().filter(|word| silent && has_word(&line.code, word)) {
            offences.push(source.offence(at, format!("'{word}' below the floor that prints")));
        }
    }
    offences
}

const OUTSIDE_WORLD: &[&str] = &[
    "std::fs",
    "std::net",
    "std::process",
    "std::thread",
    "std::env",
    "std::os",
    "io::stdin",
    "io::stdout",
    "io::stderr",
    "File::open",
    "File::create",
];
const WALL_CLOCK: &[&str] = &["SystemTime", "Instant::now", "Timestamp::now", "Zoned::now"];

/// Checks side effects. Floors 0 to 2 have no I/O, thread or clock (except the listed modules), and floor 3 has no
/// wall clock. Only the app uses tokio, and only the listed modules use `unsafe`. Tests are exempt.
pub fn world(source: &Source, floor: Option<u8>) -> Vec<Offence> {
    let mut offences = Vec::new();
    let floor = floor.unwrap_or(u8::MAX);
    let only_values = floor <= 2 && !OPENING_FILES.contains(&source.path.as_str());
    let grouped = grouped_std(source);
    for (at, line) in source.lines.iter().enumerate() {
        let code = line.code.as_str();
        let has = |word: &str| has_word(code, word) || grouped.contains(&(at, word.to_owned()));
        let mut wrong = |what: String| offences.push(source.offence(at, what));
        if has_word(code, "unsafe") && !UNSAFE_FILES.contains(&source.path.as_str()) {
            wrong("'unsafe' outside the module that may have it".to_owned());
        }
        if line.test {
            continue;
        }
        if floor < 8 && has_word(code, "tokio") {
            wrong("tokio below the app".to_owned());
        }
        for word in OUTSIDE_WORLD.iter().filter(|word| only_values && has(word)) {
            wrong(format!("'{word}' on floor {floor}, where values live"));
        }
        for word in WALL_CLOCK.iter().filter(|word| floor <= 3 && has(word)) {
            wrong(format!("'{word}' on floor {floor}, which has no clock"));
        }
    }
    offences
}

/// The first-level modules of `use std::{...}`, as `std::NAME` on their line.
fn grouped_std(source: &Source) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let (mut depth, mut first) = (0usize, true);
    for (at, line) in source.lines.iter().enumerate() {
        let mut code = line.code.as_str();
        if depth == 0 {
            let Some(begin) = code.find("use std::{") else { continue };
            code = &code[begin + "use std::{".len()..];
            (depth, first) = (1, true);
        }
        let mut name = String::new();
        for c in code.chars().chain(['\n']) {
            if depth == 1 && first && crate::source::is_name(c) {
                name.push(c);
                continue;
            }
            if !name.is_empty() {
                found.push((at, format!("std::{}", std::mem::take(&mut name))));
                first = false;
            }
            match c {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                ',' if depth == 1 => first = true,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    found
}

/// Checks that no text of the repository contains a path of a single machine.
pub fn machine_paths(path: &str, text: &str) -> Vec<Offence> {
    const ROOTS: &[&str] = &[concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/wo", "rk/")];
    let mut offences = Vec::new();
    for (at, line) in text.lines().enumerate() {
        for root in ROOTS {
            let begins = |at: usize| {
                let before = line[..at].chars().next_back();
                !before.is_some_and(|c| c.is_alphanumeric() || "._-}~/".contains(c))
            };
            if line.match_indices(root).any(|(at, _)| begins(at)) {
                let what = format!("'{root}': a path of one machine");
                offences.push(Offence { path: path.to_owned(), line: at + 1, what });
            }
        }
    }
    offences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source::scan(path, text)
    }

    #[test]
    fn long_files_and_functions_are_caught() {
        let body = "    x();\n".repeat(FUNCTION_LINES - 2);
        let fits = format!("fn a() {{\n{body}}}\n");
        assert_eq!(budgets(&source("src/a.rs", &fits)), []);
        let long = format!("impl A {{\n    pub fn b(\n        x: u8) {{\n{body}    }}\n}}\n");
        let found = budgets(&source("src/a.rs", &long));
        assert!(found[0].to_string().contains("src/a.rs:2: fn b has 71 lines"), "{found:?}");
        let file = "//\n".repeat(FILE_LINES + 1);
        assert_eq!(budgets(&source("src/a.rs", &file)).len(), 1);
        assert_eq!(budgets(&source("src/fabdeck/main.rs", &"\n".repeat(MAIN_LINES + 1))).len(), 1);
        assert_eq!(budgets(&source("src/fabdeck/main.rs", &"\n".repeat(MAIN_LINES))), []);
    }

    #[test]
    fn braces_in_text_do_not_end_a_function() {
        let body = "    x(\"}\", '}'); // }\n".repeat(FUNCTION_LINES);
        assert_eq!(budgets(&source("src/a.rs", &format!("fn a() {{\n{body}}}\n"))).len(), 1);
    }

    #[test]
    fn a_declaring_file_that_works_is_caught() {
        let clean = "//! Doc.\n\n#![allow(x)]\npub mod a;\npub(crate) mod b;\n#[cfg(test)]\nmod c;\n\
                     pub use a::{\n    One,\n    Two,\n};\nuse b::Three;\n";
        assert_eq!(declares_only(&source("src/r/mod.rs", clean)), []);
        for work in [
            "fn a() {\n    b();\n}",
            "pub struct A;",
            "impl A {\n}",
            "const A: u8 = 1;",
            "mod a {\n fn b() {}\n}",
            "macro_rules! a { () => {} }",
        ] {
            let found = declares_only(&source("src/r/mod.rs", &format!("{clean}{work}\n")));
            assert_eq!(found.len(), 1, "{work}: {found:?}");
        }
        assert_eq!(declares_only(&source("src/r/other.rs", "fn a() {}")), []);
        assert_eq!(declares_only(&source("src/r/lib.rs", "fn a() {}")).len(), 1);
    }

    #[test]
    fn refused_words_are_caught_in_code_and_marks_in_comments() {
        for word in REFUSED.iter().chain(REFUSED_ANYWHERE) {
            let found = words(&source("src/a.rs", &format!("{word}(x)")), Some(1));
            assert_eq!(found.len(), 1, "{word}");
        }
        let mark = format!("// {}: later", REFUSED_ANYWHERE[0]);
        assert_eq!(words(&source("src/a.rs", &mark), Some(1)).len(), 1);
        let word_in_text = format!("// ibsim-utils\nlet a = \"{}\";", REFUSED[0]);
        assert_eq!(words(&source("src/a.rs", &word_in_text), Some(1)), []);
        assert_eq!(words(&source("src/r/utils.rs", ""), Some(1)).len(), 1);
    }

    #[test]
    fn printing_is_caught_below_the_floor_that_prints() {
        let text = "fn a() { println!(\"x\") }\n#[cfg(test)]\nmod t { fn b() { println!() } }";
        assert_eq!(words(&source("src/a.rs", text), Some(6)).len(), 1);
        assert_eq!(words(&source("src/a.rs", text), Some(7)), []);
        assert_eq!(words(&source("tests/a.rs", text), None), []);
    }

    #[test]
    fn the_world_is_caught_where_values_live() {
        for text in [
            "use std::fs;",
            "use std::{fmt, fs};",
            "use std::{\n    fmt::{self, Display},\n    net,\n};",
            "fn a() { std::process::exit(1) }",
            "fn a() { std::thread::spawn(b); }",
            "let now = Instant::now();",
            "use std::time::SystemTime;",
            "let out = io::stdout();",
        ] {
            assert_eq!(world(&source("src/a.rs", text), Some(2)).len(), 1, "{text}");
            assert_eq!(world(&source("src/a.rs", text), Some(4)), [], "{text}");
            let test = format!("#[cfg(test)]\nmod tests {{\n{text}\n}}");
            assert_eq!(world(&source("src/a.rs", &test), Some(2)), [], "{text}");
        }
        assert_eq!(world(&source("src/a.rs", "use std::{fmt::fs, io::Write};"), Some(0)), []);
        assert_eq!(world(&source(OPENING_FILES[0], "use std::fs;"), Some(1)), []);
        assert_eq!(world(&source(OPENING_FILES[0], "let now = Instant::now();"), Some(1)).len(), 1);
        assert_eq!(world(&source("src/a.rs", "let now = SystemTime::now();"), Some(3)).len(), 1);
    }

    #[test]
    fn tokio_and_unsafe_are_caught_outside_their_rooms() {
        assert_eq!(world(&source("src/a.rs", "use tokio::sync;"), Some(7)).len(), 1);
        assert_eq!(world(&source("src/fabdeck/app.rs", "use tokio::sync;"), Some(8)), []);
        assert_eq!(world(&source("src/a.rs", "unsafe { a() }"), Some(8)).len(), 1);
        assert_eq!(world(&source("src/a.rs", "// unsafe\n#![deny(unsafe_code)]"), Some(8)), []);
    }

    #[test]
    fn paths_of_a_machine_are_caught() {
        for root in [concat!("/ho", "me/"), concat!("/wo", "rk/")] {
            assert_eq!(machine_paths("docs/a.md", &format!("see {root}me/x")).len(), 1);
            assert_eq!(machine_paths("docs/a.md", &format!("see src{root}x, ..{root}x")), []);
        }
    }
}
