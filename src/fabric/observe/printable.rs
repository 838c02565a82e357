//! Text from a fabric or a file on its way to a terminal, a table, metrics or JSON. Any user of a host can write a node
//! description, and a control character in one would act where it is shown.

use std::borrow::Cow;
use std::fmt::{Display, Write};

/// Whether a character has a visible shape of its own. Control characters (C0, C1), marks that turn the direction
/// of text, and characters for private use have none.
pub fn is_printable(sign: char) -> bool {
    let shapeless = matches!(sign, '\u{61C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}')
        || matches!(sign, '\u{E000}'..='\u{F8FF}' | '\u{FEFF}' | '\u{FFF0}'..='\u{FFFF}' | '\u{E0000}'..);
    !sign.is_control() && !shapeless
}

/// The text with every character that is not printable written out: `\u{9b}`, `\n`.
pub fn escape_unprintable(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_printable) {
        return text.into();
    }
    let escaped = |sign: char| -> String {
        if is_printable(sign) { sign.to_string() } else { sign.escape_default().to_string() }
    };
    text.chars().map(escaped).collect::<String>().into()
}

/// The JSON text with every character in its strings that is not printable escaped. A parser reads the same values.
pub fn escape_json(json: &str) -> Cow<'_, str> {
    // Between strings nothing but line ends lays it out, and within them these are escaped already.
    let is_plain = |sign: char| sign == '\n' || is_printable(sign);
    if json.chars().all(is_plain) {
        return json.into();
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for sign in json.chars() {
        match is_plain(sign) {
            true => escaped.push(sign),
            // Writing to a string cannot fail.
            false => {
                sign.encode_utf16(&mut [0; 2]).iter().for_each(|unit| _ = write!(escaped, "\\u{unit:04x}"))
            }
        }
    }
    escaped.into()
}

/// A number with thousands separators, as screens show amounts: `1,383,204`, `35,600.5`. JSON, CSV and metrics have the
/// digits alone; so have LIDs, ports and other numbers that are names.
pub fn digits_in_groups(number: impl Display) -> String {
    let text = number.to_string();
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, fraction) = text.split_at(end);
    let mut groups = String::with_capacity(text.len() + end / 3);
    for (at, digit) in whole.char_indices() {
        if at > 0 && (end - at).is_multiple_of(3) {
            groups.push(',');
        }
        groups.push(digit);
    }
    groups + fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_thousands_separators() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (99_999, "99,999"), (1_383_204, "1,383,204")]
        {
            assert_eq!(digits_in_groups(number), text);
        }
        assert_eq!(digits_in_groups(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(digits_in_groups(35_600.5), "35,600.5");
        assert_eq!(digits_in_groups(format_args!("{:.3}", 1234.5678)), "1,234.568");
        assert_eq!(digits_in_groups("not told"), "not told");
    }

    #[test]
    fn what_acts_is_written_out_and_what_is_seen_stays() {
        assert_eq!(escape_unprintable("node07 mlx5_0, \u{fc}\u{4e2d}"), "node07 mlx5_0, \u{fc}\u{4e2d}");
        assert_eq!(escape_unprintable("a\u{1b}[2J\u{9b}m"), "a\\u{1b}[2J\\u{9b}m");
        assert_eq!(escape_unprintable("a\u{202e}b\u{2066}\u{61c}"), "a\\u{202e}b\\u{2066}\\u{61c}");
    }

    #[test]
    fn json_says_the_same_to_a_parser() {
        let text = "a\u{9b}31m \u{202e}b \u{7f} \u{fc} \u{10ffff}\n";
        let json = serde_json::to_string(text).unwrap();
        let escaped = escape_json(&json);
        assert_eq!(escaped, "\"a\\u009b31m \\u202eb \\u007f \u{fc} \\udbff\\udfff\\n\"");
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
    }
}
