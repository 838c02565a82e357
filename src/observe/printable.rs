//! Text from a fabric or a file on its way to a terminal, a table, metrics or JSON: names are written by whoever may write a
//! node description, and a control character in one would act where it is shown.

use std::borrow::Cow;

/// Whether a sign is seen as itself. Control characters (C0, C1) are not, nor signs without a shape of their own: marks that
/// turn the direction of what follows, and signs for private use.
pub fn is_printable(sign: char) -> bool {
    let shapeless = matches!(sign, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}')
        || matches!(sign, '\u{E000}'..='\u{F8FF}' | '\u{FEFF}' | '\u{FFF0}'..='\u{FFFF}' | '\u{E0000}'..);
    !sign.is_control() && !shapeless
}

/// The same text with every sign that is not printable written out: `\u{9b}`, `\n`.
pub fn escape_unprintable(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_printable) {
        return text.into();
    }
    let escaped = |sign: char| -> String {
        if is_printable(sign) { sign.to_string() } else { sign.escape_default().to_string() }
    };
    text.chars().map(escaped).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_written_out_and_what_is_seen_stays() {
        assert_eq!(escape_unprintable("node07 mlx5_0, \u{fc}\u{4e2d}"), "node07 mlx5_0, \u{fc}\u{4e2d}");
        assert_eq!(escape_unprintable("a\u{1b}[2J\u{9b}m"), "a\\u{1b}[2J\\u{9b}m");
        assert_eq!(escape_unprintable("a\u{202e}b\u{2066}"), "a\\u{202e}b\\u{2066}");
    }
}
