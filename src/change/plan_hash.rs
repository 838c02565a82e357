//! The hash of a whole plan, independent of the layout of its file.

/// Hashes a text of JSON without the white space between its tokens, and without the hash that it contains.
pub(super) fn plan_hash(text: &str, own: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    let without = if own.is_empty() { text.to_owned() } else { text.replacen(own, "", 1) };
    let (mut within, mut escaped, mut begun) = (false, false, 0);
    let bytes = without.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if within => escaped = true,
            b'"' => within = !within,
            b' ' | b'\n' | b'\r' | b'\t' if !within => {
                hasher.update(&bytes[begun..at]);
                begun = at + 1;
            }
            _ => {}
        }
    }
    hasher.update(&bytes[begun..]);
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_does_not_count_and_every_word_does() {
        let plain = r#"{"a": "x y\" z", "hash": "77"}"#;
        let hash = plan_hash(plain, "77");
        assert_eq!(plan_hash(&plain.replace(", ", ",\n    "), "77"), hash);
        assert_eq!(plan_hash(&plain.replace("77", ""), ""), hash);
        assert_ne!(plan_hash(&plain.replace("x y", "xy"), "77"), hash);
        assert_ne!(plan_hash(&plain.replace("z", "z "), "77"), hash);
        assert_ne!(plan_hash(plain, ""), hash);
    }
}
