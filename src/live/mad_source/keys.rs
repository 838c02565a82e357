//! M_Keys from a file: a single key for every port, or `GUID KEY` lines as in OpenSM's guid2mkey. No output contains a
//! key, not even an error about the file.

use std::fmt;
use std::io::Read;
use std::path::Path;

use rustc_hash::FxHashMap;

use fabdeck_fabric::Guid;
use fabdeck_fabric::observe::NotePlace;
use fabdeck_mad::access::SourceError;

/// Longest file in bytes: 250,000 ports with a line each.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// M_Keys by GUID, and a default.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Keys {
    /// The key for every port without a line of its own.
    default: u64,
    by_guid: FxHashMap<Guid, u64>,
}

/// The key that a node has answered to.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct ProvenKey(pub u64);

/// Does not print the key.
impl fmt::Debug for ProvenKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Proven")
    }
}

/// Does not print any key.
impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("any", &self.has_keys()).field("by_guid", &self.by_guid.len()).finish()
    }
}

impl Keys {
    /// One key for every port.
    pub fn single(key: u64) -> Self {
        Self { default: key, by_guid: FxHashMap::default() }
    }

    /// Whether there is any key.
    pub fn has_keys(&self) -> bool {
        self.default != 0 || !self.by_guid.is_empty()
    }

    /// The key for a node or port; without a GUID, the default key.
    pub fn key_for(&self, guid: Option<Guid>) -> u64 {
        guid.and_then(|guid| self.by_guid.get(&guid).copied()).unwrap_or(self.default)
    }

    /// Reads a file; `-` is standard input.
    pub fn load(file: &Path) -> Result<Self, SourceError> {
        let name = file.display().to_string();
        let unreadable = |e: std::io::Error| SourceError::Unreachable {
            code: "FD-5021",
            what: format!("{name}: {e}"),
            hint: "check --mkey-file and the permissions of the file".into(),
        };
        let mut bytes = Vec::new();
        if file == Path::new("-") {
            std::io::stdin().lock().take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        } else {
            let file = std::fs::File::open(file).map_err(unreadable)?;
            file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        }
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(bad_key_file(&name, 1, "the file is too long for a file of keys"));
        }
        // Bytes that are not UTF-8 fail later, as text, with the line.
        Self::read(&name, &String::from_utf8_lossy(&bytes))
    }

    /// Parses the text of such a file; `name` is for messages.
    pub fn read(name: &str, text: &str) -> Result<Self, SourceError> {
        let mut keys = Self::default();
        let mut single = false;
        for (at, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                [] => {}
                [key] => {
                    if std::mem::replace(&mut single, true) {
                        return Err(bad_key_file(name, at + 1, "this is a second key for all ports"));
                    }
                    keys.default =
                        parse_key(key).ok_or_else(|| bad_key_file(name, at + 1, "this is not a key"))?;
                }
                [guid, key] => {
                    let guid = Guid::from_hex(guid)
                        .map_err(|_| bad_key_file(name, at + 1, "the first word is not a GUID"))?;
                    let key = parse_key(key)
                        .ok_or_else(|| bad_key_file(name, at + 1, "the second word is not a key"))?;
                    keys.by_guid.insert(guid, key);
                }
                _ => return Err(bad_key_file(name, at + 1, "there are more than two words")),
            }
        }
        if !single && keys.by_guid.is_empty() {
            return Err(bad_key_file(name, 1, "the file has no key"));
        }
        Ok(keys)
    }
}

/// Parses `0x` and up to 16 hexadecimal digits, or a decimal number.
fn parse_key(word: &str) -> Option<u64> {
    match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        Some(hex) if hex.bytes().all(|b| b.is_ascii_hexdigit()) => u64::from_str_radix(hex, 16).ok(),
        Some(_) => None,
        None => word.bytes().all(|b| b.is_ascii_digit()).then(|| word.parse().ok()).flatten(),
    }
}

fn bad_key_file(name: &str, line: usize, what: &str) -> SourceError {
    SourceError::Input {
        code: "FD-5022",
        place: NotePlace::line(name, line as u64),
        what: what.to_owned(),
        hint: "a file of M_Keys has one key (0x and hexadecimal digits), or lines 'GUID KEY' as OpenSM's guid2mkey".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_key_or_one_for_each_guid() {
        let one = Keys::read("k", "# site\n0xdeadbeef01020304\n").unwrap();
        assert_eq!(
            (one.key_for(None), one.key_for(Some(Guid(1)))),
            (0xdead_beef_0102_0304, 0xdead_beef_0102_0304)
        );
        let several = Keys::read("k", "0x10 0x1\n0x0000000000000020 77\n5 # the others").unwrap();
        assert_eq!(
            [several.key_for(Some(Guid(0x10))), several.key_for(Some(Guid(0x20))), several.key_for(None)],
            [1, 77, 5]
        );
    }

    #[test]
    fn errors_show_no_key() {
        for (text, line) in [
            ("", 1),
            ("# nothing", 1),
            ("0xsecret", 1),
            ("0x1\n0xsecret2", 2),
            ("0x1 0x2 0xsecret3", 1),
            ("secret 0x1", 1),
            ("0x10 +5", 1),
            ("0x11112222333344445 ", 1),
        ] {
            let error = Keys::read("keys", text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("keys:{line}: FD-5022")), "{error}");
            assert!(!error.contains("secret") && !error.contains("2222"), "{error}");
        }
        assert!(!format!("{:?}", Keys::single(0xabc)).contains("abc"));
        assert!(!format!("{:?}", Keys::single(2748)).contains("2748"));
    }
}
