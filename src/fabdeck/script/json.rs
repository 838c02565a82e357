//! Writes JSON as a stream: keys in the order of the calls, one row a line. No list is held in memory.

use std::io;
use std::io::Write;
use std::num::NonZeroU64;

use serde::Serialize;

use crate::catalogue::field::Listing;
use crate::catalogue::json_type::json_type;
use crate::catalogue::query::Selection;
use crate::catalogue::value_json::write_json_value;
use fabdeck_fabric::observe::{Note, Notes, escape_json};

/// The first keys of every object.
#[derive(Debug)]
pub struct ObjectHead<'a> {
    /// NAME of `fabdeck.NAME/1`.
    pub schema: &'a str,
    pub source: Option<&'a str>,
    pub time: Option<&'a str>,
    /// The engine whose tables are assumed.
    pub assumed: Option<&'a str>,
    pub partial: bool,
    pub notes: &'a Notes,
}

/// An object that is being written.
pub struct Object<'w> {
    out: &'w mut dyn Write,
    empty: bool,
}

impl std::fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Object").field("empty", &self.empty).finish()
    }
}

impl<'w> Object<'w> {
    pub fn begin(out: &'w mut dyn Write, head: &ObjectHead<'_>) -> io::Result<Self> {
        let mut object = Self { out, empty: true };
        object.out.write_all(b"{")?;
        object.field("schema", &format!("fabdeck.{}/1", head.schema))?;
        object.field("source", &head.source)?;
        if let Some(time) = head.time {
            object.field("time", &time)?;
        }
        if let Some(engine) = head.assumed {
            object.field("assumed", &engine)?;
        }
        object.field("partial", &head.partial)?;
        object.list("notes", head.notes.iter().map(NoteObject::from))?;
        Ok(object)
    }

    pub fn field(&mut self, key: &str, value: &impl Serialize) -> io::Result<()> {
        self.key(key)?;
        write_json(&mut *self.out, value)?;
        Ok(())
    }

    /// Writes the fields of a value, one a line.
    pub fn fields(&mut self, value: &impl Serialize) -> io::Result<()> {
        if let serde_json::Value::Object(fields) = serde_json::to_value(value)? {
            for (key, value) in &fields {
                self.field(key, value)?;
            }
        }
        Ok(())
    }

    /// Writes a list with one item a line.
    pub fn list<T: Serialize>(&mut self, key: &str, items: impl Iterator<Item = T>) -> io::Result<()> {
        self.key(key)?;
        let mut lines = ListWriter::begin(self.out)?;
        for item in items {
            lines.line(|line| write_json(line, &item))?;
        }
        lines.end()
    }

    /// Writes the selected rows, each an object with the selected fields.
    pub fn rows(&mut self, key: &str, listing: &dyn Listing, selection: &Selection) -> io::Result<()> {
        self.key(key)?;
        let mut keys = Vec::new();
        for column in &selection.columns {
            keys.push((*column, serde_json::to_string(&listing.column(*column).id)? + ":"));
        }
        let mut lines = ListWriter::begin(self.out)?;
        for row in &selection.rows {
            lines.line(|line| {
                line.push(b'{');
                for (at, (column, key)) in keys.iter().enumerate() {
                    if at > 0 {
                        line.push(b',');
                    }
                    line.extend_from_slice(key.as_bytes());
                    write_json_value(line, &listing.cell(*row, *column))?;
                }
                line.push(b'}');
                Ok(())
            })?;
        }
        lines.end()
    }

    pub fn end(self) -> io::Result<()> {
        self.out.write_all(b"\n}\n")
    }

    fn key(&mut self, key: &str) -> io::Result<()> {
        let comma = if self.empty { "" } else { "," };
        self.empty = false;
        write!(self.out, "{comma}\n  {}: ", serde_json::to_string(key)?)
    }
}

/// The items of a list; one buffer serves every line.
struct ListWriter<'w> {
    out: &'w mut dyn Write,
    line: Vec<u8>,
    empty: bool,
}

impl<'w> ListWriter<'w> {
    fn begin(out: &'w mut dyn Write) -> io::Result<Self> {
        out.write_all(b"[")?;
        Ok(Self { out, line: Vec::new(), empty: true })
    }

    fn line(&mut self, write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> io::Result<()> {
        self.line.clear();
        self.line.extend_from_slice(if self.empty { b"\n    " } else { b",\n    " });
        self.empty = false;
        write(&mut self.line)?;
        self.out.write_all(&self.line)
    }

    fn end(self) -> io::Result<()> {
        self.out.write_all(if self.empty { b"]" } else { b"\n  ]" })
    }
}

/// Writes a value, with all characters escaped that a terminal would interpret.
pub fn write_json<T: Serialize + ?Sized>(mut out: impl Write, value: &T) -> io::Result<()> {
    out.write_all(escape_json(&serde_json::to_string(value)?).as_bytes())
}

json_type! {
    /// A note as JSON object.
    #[derive(Debug)]
    pub struct NoteObject<'a> {
        code: &'a str,
        place: String,
        text: &'a str,
        count: NonZeroU64,
        partial: bool,
    }
}

impl<'a> From<&'a Note> for NoteObject<'a> {
    fn from(note: &'a Note) -> Self {
        let Note { code, text, first, count, partial, .. } = note;
        // A note is about one place at least.
        let count = NonZeroU64::new(*count).unwrap_or(NonZeroU64::MIN);
        Self { code, place: first.to_string(), text, count, partial: *partial }
    }
}
