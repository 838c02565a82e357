//! What the terminal can show.

/// How wide the terminal is. The parser measures it to wrap its help, so it is asked through a help of one-letter words.
/// Their lines are as long as the width or, where that is even, one less; the first begins with a word of two letters
/// and is as long as an even width.
pub fn columns() -> Option<usize> {
    let words = format!("x{}", "x ".repeat(1000));
    let mut probe = clap::Command::new("probe").max_term_width(0).help_template("{about}").about(words);
    let help = probe.render_help().to_string();
    help.lines().map(|line| line.trim_end().len()).max()
}

/// Whether the locale is one of UTF-8; the first of these that says anything decides.
pub fn shows_unicode() -> bool {
    let said = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(said).unwrap_or_default();
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}
