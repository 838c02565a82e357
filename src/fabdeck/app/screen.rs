//! What the terminal can display: its width and its encoding.

/// Width of the terminal in columns. Only the argument parser measures it (to wrap its help), so the function renders
/// a help text of one-letter words. The lines of that text are as long as the width, or one column shorter if the
/// width is even. The first line begins with a word of two letters, so it is as long as an even width.
pub fn columns() -> Option<usize> {
    let words = format!("x{}", "x ".repeat(1000));
    let mut probe = clap::Command::new("probe").max_term_width(0).help_template("{about}").about(words);
    let help = probe.render_help().to_string();
    help.lines().map(|line| line.trim_end().len()).max()
}

/// Whether the locale uses UTF-8; the first of these variables that is not empty decides.
pub fn shows_unicode() -> bool {
    let non_empty_variable = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(non_empty_variable).unwrap_or_default();
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}
