//! A text as one word of a shell command.

/// The text as one word of a shell command.
pub fn quote_for_shell(text: &str) -> String {
    let plain = |sign: char| sign.is_ascii_alphanumeric() || "-_.,:/=@%+".contains(sign);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}
