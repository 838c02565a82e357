//! GUIDs in these texts, including those with letters that are not hexadecimal.

use fabdeck_fabric::Guid;

/// A GUID, and whether it was derived from a text that is no GUID.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GuidText {
    pub guid: Guid,
    pub derived: bool,
}

/// The upper 16 bits of derived GUIDs. An EUI-64 with an odd first byte names a group, never a device, so no real GUID
/// has these bits.
const DERIVED: u64 = 0xfdfd << 48;

/// Reads a GUID. Anonymised dumps contain texts such as `ec0d9azz00leaf01`; equal texts give equal GUIDs, so
/// references match. `None` for an empty text.
pub fn read_guid(text: &str) -> Option<GuidText> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    Some(match Guid::from_hex(text) {
        Ok(guid) => GuidText { guid, derived: false },
        Err(_) => GuidText {
            guid: Guid(DERIVED | (fnv1a(without_hex_prefix(text)) & !(0xffff << 48))),
            derived: true,
        },
    })
}

/// Removes `0x` and leading zeros: `0x00zz01` and `zz01` are the same GUID, as with digits.
fn without_hex_prefix(text: &str) -> &str {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    digits.trim_start_matches('0')
}

fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_no_number_always_means_the_same_guid() {
        let one = read_guid("00ec0d9azzleaf01").unwrap();
        assert!(one.derived);
        assert_eq!(one, read_guid("0xEC0D9AzzLEAF01").unwrap());
        assert_ne!(one, read_guid("ec0d9azzleaf02").unwrap());
        assert_eq!(one.guid.0 >> 48, 0xfdfd);
        assert_eq!(read_guid("0x2c9"), Some(GuidText { guid: Guid(0x2c9), derived: false }));
        assert_eq!(read_guid(" "), None);
    }
}
