//! OpenSM's `partitions.conf`: the members of partitions. A definition is on one line up to its colon. Its members
//! follow, separated by commas or new lines, up to a semicolon.
//!
//! ```text
//! Default=0x7fff, ipoib : ALL=limited, SELF=full ;   # all ports, the subnet manager's as a full member
//! storage=0x10, defmember=full : 0x00fab10000000001, 0x00fab10000000002=limited ;
//! ```

use std::collections::BTreeMap;

use fabdeck_fabric::observe::NotePlace;
use fabdeck_fabric::{Guid, NodeKind};

use super::FileError;
use super::content::{PartitionFile, PartitionMember, PartitionPorts, PartitionStatement};
use super::opensm::{BAD_LINE, TRUNCATED_SECTION, no_content, note_truncated_line, printable_excerpt};
use super::text::Input;

mod fabric_partitions;

pub const ID: &str = "partitions";

/// An invalid membership, which OpenSM reads as limited.
const UNKNOWN_MEMBERSHIP: &str = "FN-371";
/// A line that OpenSM splits in two because of its length.
const TOO_LONG: &str = "FN-372";
/// A flag that OpenSM does not know.
const UNKNOWN_FLAG: &str = "FN-373";

/// The default partition, without the membership bit.
pub const DEFAULT_KEY: u16 = 0x7fff;
/// Most bytes of a line that OpenSM reads at once, the newline included.
const LINE_BYTES: usize = 4094;
/// Flags with a value that do not concern members.
const GROUP_FLAGS: [&str; 7] = ["mtu", "rate", "scope", "Q_Key", "TClass", "sl", "FlowLabel"];

/// Whether the text begins with a definition. It must have a P_Key or a flag besides its name, because `name: ...`
/// alone may be anything.
pub fn looks_like(head: &str) -> bool {
    let mut lines = head.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let Some((header, members)) = lines.find(|line| !line.is_empty()).and_then(|first| first.split_once(':'))
    else {
        return false;
    };
    let mut words = header.split(',').map(split_token);
    let (name, key) = words.next().unwrap_or_default();
    let flags: Vec<_> = words.collect();
    let fine = |(flag, value): &(&str, Option<&str>)| {
        is_known_flag(flag) || (is_default_flag(flag) && value.is_some())
    };
    let keyed = match key {
        Some(key) => parse_number(key).is_some(),
        None => {
            name == "Default"
                || parse_number(name).is_some_and(|_| name.starts_with("0x"))
                || !flags.is_empty()
        }
    };
    let first = members.split([',', ';']).next().map(split_token).unwrap_or_default().0;
    let plain = first.is_empty() || first == "mgid" || parse_ports(first).is_some();
    keyed && plain && flags.iter().all(fine) && !name.contains(['"', '['])
}

pub fn read(input: Input<'_>) -> Result<PartitionFile, Box<FileError>> {
    let mut draft = PartitionDraft {
        keys: BTreeMap::from([(DEFAULT_KEY, "Default".to_owned())]),
        ..PartitionDraft::default()
    };
    for line in input.lines() {
        let line = line?;
        let place = || input.line_place(line.number);
        if line.text.len() > LINE_BYTES - 1 {
            let bytes = line.text.len();
            draft.file.notes.add(TOO_LONG, place(), || {
                format!(
                    "a line of {bytes} bytes; OpenSM reads {} at a time and cuts it there",
                    LINE_BYTES - 1
                )
            });
        }
        let text = line.text.split('#').next().unwrap_or_default();
        let mut parts = text.split(';').peekable();
        while let Some(part) = parts.next() {
            let ended = parts.peek().is_some();
            // The last word of an incomplete line may be half a GUID.
            let part = match line.unended && !ended && !part.trim().is_empty() {
                true => draft.trim_last_word(part, place()),
                false => part,
            };
            draft.read_part(part, line.number, &place)?;
            if ended {
                draft.open = None;
            }
        }
    }
    if draft.open.is_some() && !draft.half {
        let place = NotePlace::file(input.name);
        draft.file.notes.add_partial(TRUNCATED_SECTION, place, || {
            "the last definition has no ';': the file may be cut; the members before are used".to_owned()
        });
    }
    if draft.file.statements.is_empty() {
        return Err(no_content(input.name, "partition"));
    }
    Ok(draft.file)
}

#[derive(Default)]
struct PartitionDraft {
    file: PartitionFile,
    /// Membership of members without their own, while a definition is open: true is full.
    open: Option<bool>,
    /// Whether the file ends within a line.
    half: bool,
    /// Known P_Keys, each with its first name.
    keys: BTreeMap<u16, String>,
    /// The last P_Key that was assigned.
    made_up: u16,
}

impl PartitionDraft {
    /// Cuts the last word off an incomplete part.
    fn trim_last_word<'t>(&mut self, part: &'t str, place: NotePlace) -> &'t str {
        self.half = true;
        note_truncated_line(&mut self.file.notes, place, part);
        let header = self.open.is_none() && !part.contains(':');
        let end = part.rfind([',', ':']).filter(|_| !header).map_or(0, |at| at + 1);
        part.get(..end).unwrap_or_default()
    }

    fn read_part(
        &mut self,
        part: &str,
        line: u64,
        place: &dyn Fn() -> NotePlace,
    ) -> Result<(), Box<FileError>> {
        if part.trim().is_empty() {
            return Ok(());
        }
        let (default, members) = match self.open {
            Some(default) => (default, part),
            None => {
                let Some((header, members)) = part.split_once(':') else {
                    return Err(bad_statement(place(), part, "a definition 'name=P_Key, flags : members ;'"));
                };
                (self.read_header(header, place)?, members)
            }
        };
        self.open = Some(default);
        for word in members.split(',') {
            let (member, membership) = split_token(word);
            // The rest of the definition is a multicast group with its flags.
            if member == "mgid" {
                break;
            }
            if "NONE".starts_with(member) {
                continue;
            }
            let Some(ports) = parse_ports(member) else {
                return Err(bad_statement(
                    place(),
                    word,
                    "a port GUID (0x...), ALL, ALL_CAS, ALL_SWITCHES, ALL_ROUTERS or SELF",
                ));
            };
            let full = match membership {
                None => default,
                Some(word) => self.read_membership(word, place),
            };
            if let Some(statement) = self.file.statements.last_mut() {
                statement.members.push(PartitionMember { who: ports, full, line });
            }
        }
        Ok(())
    }

    /// Whether a membership is full. `both` reaches the same ports as full. Words may be abbreviated.
    fn read_membership(&mut self, word: &str, place: &dyn Fn() -> NotePlace) -> bool {
        if "full".starts_with(word) || "both".starts_with(word) {
            return true;
        }
        if !"limited".starts_with(word) {
            self.file.notes.add(UNKNOWN_MEMBERSHIP, place(), || {
                format!(
                    "'{}' is neither full, limited nor both; OpenSM reads it as limited",
                    printable_excerpt(word)
                )
            });
        }
        false
    }

    /// Opens a definition; returns whether its members are full by default.
    fn read_header(&mut self, header: &str, place: &dyn Fn() -> NotePlace) -> Result<bool, Box<FileError>> {
        let mut words = header.split(',').map(split_token);
        let (mut name, mut key) = words.next().unwrap_or_default();
        if key.is_none() && name.starts_with(|c: char| c.is_ascii_digit()) {
            (name, key) = ("", Some(name));
        }
        let mut full = false;
        for (flag, value) in words {
            if is_default_flag(flag) {
                full = value.is_some_and(|value| self.read_membership(value, place));
            } else if !is_known_flag(flag) {
                self.file.notes.add(UNKNOWN_FLAG, place(), || {
                    format!("'{}' is no flag of a partition; skipped, as by OpenSM", printable_excerpt(flag))
                });
            }
        }
        let stated = match key {
            None => 0,
            Some(key) => match parse_number(key).and_then(|key| u16::try_from(key).ok()) {
                Some(key) => key & DEFAULT_KEY,
                None => return Err(bad_statement(place(), header, "a P_Key up to 0xffff")),
            },
        };
        let key = match stated {
            0 => self.assign_key(name).ok_or_else(|| {
                bad_statement(place(), header, "one of the 32,766 partitions that can be numbered")
            })?,
            key => key,
        };
        self.keys
            .entry(key)
            .or_insert_with(|| if name.is_empty() { format!("{key:04x}") } else { name.into() });
        self.file.statements.push(PartitionStatement { name: name.to_owned(), key, members: Vec::new() });
        Ok(full)
    }

    /// The P_Key of the partition with this name, or the next free one.
    fn assign_key(&mut self, name: &str) -> Option<u16> {
        if let Some((key, _)) = self.keys.iter().find(|(_, known)| !name.is_empty() && *known == name) {
            return Some(*key);
        }
        let free = (self.made_up + 1..DEFAULT_KEY).find(|key| !self.keys.contains_key(key))?;
        self.made_up = free;
        Some(free)
    }
}

/// Splits `name` or `name = value`, without surrounding blanks.
fn split_token(word: &str) -> (&str, Option<&str>) {
    match word.split_once('=') {
        Some((name, value)) => (name.trim(), Some(value.trim())),
        None => (word.trim(), None),
    }
}

fn is_known_flag(flag: &str) -> bool {
    let shortened = |known: &&str| known.starts_with(flag);
    GROUP_FLAGS.iter().chain(&["ipoib"]).any(shortened) || flag == "indx0"
}

fn is_default_flag(flag: &str) -> bool {
    !is_known_flag(flag) && "defmember".starts_with(flag)
}

/// The ports that a word means. OpenSM accepts abbreviated words, and takes the first match.
fn parse_ports(word: &str) -> Option<PartitionPorts> {
    use PartitionPorts::{All, Manager, Of, Port};
    let words = [
        ("ALL", All),
        ("ALL_CAS", Of(NodeKind::ChannelAdapter)),
        ("ALL_SWITCHES", Of(NodeKind::Switch)),
        ("ALL_ROUTERS", Of(NodeKind::Router)),
        ("SELF", Manager),
    ];
    let known = words.iter().find(|(known, _)| !word.is_empty() && known.starts_with(word));
    known
        .map(|(_, ports)| *ports)
        .or_else(|| parse_number(word).filter(|guid| *guid != 0).map(|guid| Port(Guid(guid))))
}

/// Reads a number as C does: hexadecimal with `0x`, octal with `0`, otherwise decimal.
fn parse_number(word: &str) -> Option<u64> {
    let (digits, radix) = match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None if word.len() > 1 && word.starts_with('0') => (word, 8),
        None => (word, 10),
    };
    let fine = digits.starts_with(|c: char| c.is_ascii_hexdigit());
    fine.then(|| u64::from_str_radix(digits, radix).ok()).flatten()
}

/// The error for a line at which OpenSM drops the whole file, and makes all ports full members of the default
/// partition.
fn bad_statement(place: NotePlace, text: &str, wanted: &str) -> Box<FileError> {
    let what = format!("'{}' is not {wanted}", printable_excerpt(text.trim()));
    let hint = "correct it: OpenSM would drop the whole file and let all ports exchange packets";
    FileError::new(BAD_LINE, place, what, hint)
}

#[cfg(test)]
mod tests;
