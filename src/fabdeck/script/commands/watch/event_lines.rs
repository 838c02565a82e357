//! The events of `watch`, printed one a line.

use std::io::Write;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::operations::service::watch_event::{EventSink, WatchEvent};
use crate::script::json::write_json;
use fabdeck_fabric::observe::escape_unprintable;

#[derive(Serialize)]
struct EventLine<'e> {
    schema: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    #[serde(flatten)]
    event: &'e WatchEvent,
}

/// Prints events to stdout, each at once, because the reader waits for it.
pub struct EventLines<'o> {
    pub out: &'o mut dyn Write,
    pub json: bool,
    /// Whether lines have times.
    pub times: bool,
    /// Why a line could not be written; nothing is written afterwards.
    pub failed: Option<std::io::Error>,
}

impl EventSink for EventLines<'_> {
    fn receive(&mut self, event: &WatchEvent) {
        if self.failed.is_none() {
            self.failed = self.write(event).err();
        }
    }
}

impl EventLines<'_> {
    fn write(&mut self, event: &WatchEvent) -> std::io::Result<()> {
        let time =
            Timestamp::from_millisecond(event.time_ms).unwrap_or_default().to_zoned(TimeZone::system());
        if self.json {
            let time = self.times.then(|| time.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string());
            write_json(&mut *self.out, &EventLine { schema: "fabdeck.event/1", time, event })?;
            writeln!(self.out)?;
        } else {
            if self.times {
                write!(self.out, "{} ", time.strftime("%H:%M:%S"))?;
            }
            let text = escape_unprintable(&event.text);
            writeln!(self.out, "{} {}: {text}", event.severity.word(), event.kind)?;
        }
        self.out.flush()
    }
}
