//! The events of `watch` on stdout.

use std::io::Write;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::operations::event_store::watch_event::WatchEvent;
use crate::operations::service::watch_event::EventSink;
use crate::script::event_line::EventFormat;
use crate::system::stop_flag::StopFlag;
use fabdeck_fabric::observe::escape_unprintable;

/// Prints events to stdout.
pub struct EventLines<'o> {
    pub out: &'o mut dyn Write,
    pub format: EventFormat,
    /// Ends the watch when nothing reads the lines; `None` where the watch serves its pages all the same.
    pub stop: Option<StopFlag>,
    /// Why a line could not be written; nothing is written afterwards.
    pub failed: Option<std::io::Error>,
}

impl EventSink for EventLines<'_> {
    fn receive(&mut self, event: &WatchEvent) {
        if self.failed.is_some() {
            return;
        }
        let time =
            Timestamp::from_millisecond(event.time_ms).unwrap_or_default().to_zoned(TimeZone::system());
        let text = escape_unprintable(&event.text);
        let words = format!("{} {}: {text}", event.severity.word(), event.kind);
        self.failed = self.format.write(self.out, &time, event, words).err();
        if let (Some(_), Some(stop)) = (&self.failed, &self.stop) {
            stop.request();
        }
    }
}
