//! Events that a command prints one a line while it runs.

use std::fmt::Display;
use std::io::{self, Write};

use jiff::Zoned;
use serde::Serialize;

use super::json::write_json;

/// How events are printed.
#[derive(Clone, Copy, Debug)]
pub struct EventFormat {
    /// The schema of an event, such as `fabdeck.agent/1`.
    pub schema: &'static str,
    pub json: bool,
    /// Whether lines have times.
    pub times: bool,
}

#[derive(Serialize)]
struct EventLine<'e, T> {
    schema: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    #[serde(flatten)]
    event: &'e T,
}

impl EventFormat {
    /// Writes an event as JSON or in words, at once, because the reader waits for it.
    pub fn write<T: Serialize>(
        self,
        out: &mut dyn Write,
        time: &Zoned,
        event: &T,
        words: impl Display,
    ) -> io::Result<()> {
        let Self { schema, json, times } = self;
        if json {
            let time = times.then(|| time.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string());
            write_json(&mut *out, &EventLine { schema, time, event })?;
            writeln!(out)?;
        } else if times {
            writeln!(out, "{} {words}", time.strftime("%H:%M:%S"))?;
        } else {
            writeln!(out, "{words}")?;
        }
        out.flush()
    }
}
