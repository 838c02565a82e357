//! Reads the files of one folder or archive into one assembly. A file that cannot be used is noted, and the others are
//! used.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use super::assembly::Assembly;
use super::unknown_format::{is_plan, unknown_format};
use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_files::packed::{self, Limits, TimeLimit, UnpackedFile};
use fabdeck_files::{FileError, capture_format, detect, psl, qos_policy, transcript};
use fabdeck_mad::access::SourceError;

/// The note about a file that is damaged or unreadable.
const LEFT_OUT: &str = "FN-509";
/// The note about files of unknown formats.
const UNKNOWN_FORMAT: &str = "FN-501";

/// The note about plans of fabdeck.
const PLAN_FILES: &str = "FN-504";

/// A text with this many GUIDs describes a fabric, whatever its format.
const MIN_FABRIC_GUIDS: usize = 16;

/// How long unpacking all packed files of a folder or archive may take. Files within the size limits take less, unless
/// they are made to be slow.
pub(super) const UNPACK_TIMEOUT: Duration = Duration::from_secs(120);

pub(super) struct FileSet<'a> {
    /// The folder, or the archive that contains the files.
    name: String,
    assembly: &'a mut Assembly,
    unknown: Vec<String>,
    /// Whether some of the unknown files may describe the fabric.
    telling: bool,
    captures: Vec<String>,
    plans: Vec<String>,
    unpack_until: Instant,
}

impl<'a> FileSet<'a> {
    pub(super) fn new(name: String, assembly: &'a mut Assembly) -> Self {
        let unpack_until = Instant::now() + UNPACK_TIMEOUT;
        let (unknown, captures, plans) = Default::default();
        Self { name, assembly, unknown, telling: false, captures, plans, unpack_until }
    }

    /// Gives each packed file to `each`. Bytes that are not packed are one file.
    pub(super) fn unpack(
        &mut self,
        name: &str,
        bytes: Cow<'_, [u8]>,
        each: &mut dyn FnMut(&mut Self, UnpackedFile<'_>),
    ) {
        let mut notes = Notes::new();
        let until = self.unpack_until;
        let may_go_on = || Instant::now() < until;
        let pace = TimeLimit::new(&may_go_on);
        packed::unpack(name, bytes, Limits::default(), &pace, &mut notes, &mut |file| each(self, file));
        self.assembly.notes.extend(notes);
    }

    /// Reads a file that the user named, which must be of a known format.
    pub(super) fn take_named(
        &mut self,
        name: &str,
        bytes: Result<Cow<'_, [u8]>, Box<FileError>>,
    ) -> Result<(), SourceError> {
        let bytes = bytes?;
        match self.read(name, &bytes)? {
            true => Ok(()),
            false => Err(unknown_format(name, &bytes)),
        }
    }

    /// Reads one file among others. If it cannot be used, a note says so.
    pub(super) fn take_optional(&mut self, name: &str, bytes: Result<Cow<'_, [u8]>, Box<FileError>>) {
        let mut format = None;
        let outcome = bytes.and_then(|bytes| {
            if is_plan(&bytes) {
                self.plans.push(name.to_owned());
                return Ok(());
            }
            format = detect(&bytes).map(|format| format.id);
            if !self.read(name, &bytes)? {
                self.unknown.push(name.to_owned());
                self.telling |= may_hold_fabric_data(&bytes) || is_named_like_dump(name);
            }
            Ok(())
        });
        if let Err(error) = outcome {
            if let Some(format @ (qos_policy::ID | psl::ID)) = format
                && level_format_by_name(name).is_none()
            {
                self.assembly.add_unread_levels(name, format == qos_policy::ID);
            }
            self.leave_out(name, error.into());
        }
    }

    /// Reads a file. Whether its format is known.
    fn read(&mut self, name: &str, bytes: &[u8]) -> Result<bool, Box<FileError>> {
        let mut notes = Notes::new();
        let found = transcript::read(name, bytes, &mut notes)?;
        let Some((format, content)) = found else { return Ok(false) };
        if format.id == capture_format::ID {
            self.captures.push(name.to_owned());
        }
        self.assembly.notes.extend(notes);
        self.assembly.add(name.to_owned(), format, content);
        Ok(true)
    }

    pub(super) fn leave_out(&mut self, name: &str, error: SourceError) {
        let place = match &error {
            SourceError::Input { place, .. } => place.clone(),
            _ => NotePlace::file(name),
        };
        self.assembly.notes.add_partial(LEFT_OUT, place, || {
            let why = match &error {
                SourceError::Input { code, what, hint, .. } => format!("{code}: {what}; {hint}"),
                other => other.to_string(),
            };
            format!("this file is not used, the others are: {why}")
        });
        if let Some(format) = level_format_by_name(name) {
            self.assembly.add_unread_levels(name, format == qos_policy::ID);
        }
        self.assembly.damaged.push(error);
    }

    pub(super) fn finish(self) {
        let Self { name, assembly, unknown, telling, captures, plans, .. } = self;
        note_plans(&name, &plans, &mut assembly.notes);
        if let Some(first) = captures.first()
            && (captures.len() > 1 || *first != name)
        {
            assembly.notes.add("FN-508", NotePlace::file(name.clone()), || {
                let (held, last) = match captures.len() {
                    1 => ("a capture lies".to_owned(), "its last moment is read"),
                    count => (format!("{count} captures lie"), "their last moments are read"),
                };
                let way = if first.contains('!') { "Unpacked, " } else { "" };
                format!("{held} among the files; only {last}. {way}--source {first} shows it over time")
            });
        }
        if !unknown.is_empty() {
            let place = NotePlace::file(name.clone());
            let text = || format!("left out, of no known format: {}", short_list(&name, &unknown));
            match telling {
                true => assembly.notes.add_partial(UNKNOWN_FORMAT, place, text),
                false => assembly.notes.add(UNKNOWN_FORMAT, place, text),
            }
        }
    }
}

/// Whether the name is that of a dump that fabdeck reads: an empty or destroyed one hides what it should tell.
fn is_named_like_dump(name: &str) -> bool {
    const ENDINGS: [&str; 8] =
        [".db_csv", ".ibnetdiscover", ".lst", ".lfts", ".fdbs", ".far", ".slvl", ".psl"];
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Notes plans, which say what would be and not what is.
fn note_plans(folder: &str, plans: &[String], notes: &mut Notes) {
    let Some(first) = plans.first() else { return };
    notes.add(PLAN_FILES, NotePlace::file(folder), || {
        let names = short_list(folder, plans);
        let (what, whose, them) = match plans.len() {
            1 => ("is a plan", "its", "it"),
            _ => ("are plans", "their", "one"),
        };
        let file = if first.contains('!') { "FILE" } else { first };
        format!("{names} {what}: {whose} routes are not in force; 'fabdeck plan show {file}' shows {them}")
    });
}

/// The first names, without the folder or archive.
fn short_list(folder: &str, names: &[String]) -> String {
    const SHOWN: usize = 4;
    let short =
        |name: &String| name.strip_prefix(folder).unwrap_or(name).trim_start_matches(['/', '!']).to_owned();
    let first: Vec<String> = names.iter().take(SHOWN).map(short).collect();
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", first.join(", "))
}

/// The format of a file that sets service levels, by its name, packed or not: OpenSM's usual name of a QoS policy, or a
/// name such as `fabric.psl`.
fn level_format_by_name(name: &str) -> Option<&'static str> {
    let file = name.rsplit(['/', '!']).next().unwrap_or_default();
    let is_policy = file.starts_with("qos-policy");
    let is_path_list = file.split('.').skip(1).any(|part| part.eq_ignore_ascii_case("psl"));
    is_policy.then_some(qos_policy::ID).or(is_path_list.then_some(psl::ID))
}

/// Whether a file of unknown format may describe a part of the fabric: it is binary, or lists many GUIDs. Beside its
/// tables ibdiagnet leaves a dozen signed reports, which repeat their content.
fn may_hold_fabric_data(bytes: &[u8]) -> bool {
    const HEAD: usize = 64 * 1024;
    let head = &bytes[..bytes.len().min(HEAD)];
    if std::str::from_utf8(head).is_err_and(|error| error.error_len().is_some()) || head.contains(&0) {
        return true;
    }
    let head = String::from_utf8_lossy(head);
    let signed = ["IBDIAG", "ibdiagnet", "IBDM", "OpenSM "].iter().any(|tool| head.contains(tool));
    let long = |word: &&str| word.len() >= 16 && word.bytes().all(|b| b.is_ascii_hexdigit());
    let words =
        head.split(|c: char| !c.is_ascii_alphanumeric()).map(|word| word.strip_prefix("0x").unwrap_or(word));
    !signed && words.filter(long).count() >= MIN_FABRIC_GUIDS
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn after_the_time_limit_packed_files_are_left_out() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&vec![b'\n'; 1 << 20]).unwrap();
        let packed = encoder.finish().unwrap();
        for (within, codes) in [(UNPACK_TIMEOUT, [].as_slice()), (Duration::ZERO, &[LEFT_OUT])] {
            let mut assembly = Assembly::new("folder");
            let mut files = FileSet::new("folder".to_owned(), &mut assembly);
            files.unpack_until = Instant::now() + within;
            files.unpack("a.gz", packed.as_slice().into(), &mut |files, file| {
                files.take_optional(&file.name, file.bytes);
            });
            let found: Vec<&str> = assembly.notes.iter().map(|note| note.code).collect();
            assert_eq!(found, codes);
            assert!(assembly.damaged.iter().all(|error| error.to_string().contains("takes too long")));
        }
    }
}
