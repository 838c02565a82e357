//! Times of a history: those of a clock where the source has one, otherwise the time before the last reading.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use serde::{Deserialize, Serialize};

use crate::catalogue::quantity_words::length_words;

/// What a clock showed at a time of the history.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryClock {
    /// A time of the history, in milliseconds.
    pub at_ms: i64,
    /// The same time by the clock, in milliseconds since 1970.
    pub unix_ms: i64,
    pub utc_offset_s: i32,
}

impl HistoryClock {
    /// The time by the clock, in milliseconds since 1970.
    pub fn unix_ms(self, at_ms: i64) -> i64 {
        self.unix_ms.saturating_add(at_ms.saturating_sub(self.at_ms))
    }

    /// The time of the history at a time by the clock.
    pub fn history_ms(self, unix_ms: i64) -> i64 {
        self.at_ms.saturating_add(unix_ms.saturating_sub(self.unix_ms))
    }

    /// Time of day.
    pub fn clock_text(self, at_ms: i64) -> Option<String> {
        self.format(at_ms, "%H:%M:%S")
    }

    /// Time of day without seconds.
    pub fn minute_text(self, at_ms: i64) -> Option<String> {
        self.format(at_ms, "%H:%M")
    }

    fn format(self, at_ms: i64, format: &str) -> Option<String> {
        let unix_ms = self.unix_ms(at_ms);
        let zone = TimeZone::fixed(Offset::from_seconds(self.utc_offset_s).ok()?);
        let time = Timestamp::from_millisecond(unix_ms).ok()?.to_zoned(zone);
        Some(time.strftime(format).to_string())
    }

    /// Date and time with the offset from UTC.
    pub fn date_text(self, at_ms: i64) -> Option<String> {
        self.format(at_ms, "%Y-%m-%d %H:%M:%S %:z")
    }
}

/// A time of the history in words: a time of day, or the time before the last reading.
pub fn time_text(clock: Option<HistoryClock>, at_ms: i64, last_ms: i64) -> String {
    if let Some(text) = clock.and_then(|clock| clock.clock_text(at_ms)) {
        return text;
    }
    match u64::try_from(last_ms.saturating_sub(at_ms)) {
        Ok(0) | Err(_) => "last reading".to_owned(),
        Ok(before) => format!("{} before", length_words(before)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_clock_or_relative_to_the_last_reading() {
        let clock = HistoryClock { at_ms: 60_000, unix_ms: 1_700_000_060_000, utc_offset_s: 3600 };
        assert_eq!(time_text(Some(clock), 0, 60_000), "23:13:20");
        assert_eq!(clock.date_text(0).as_deref(), Some("2023-11-14 23:13:20 +01:00"));
        assert_eq!((clock.unix_ms(0), clock.history_ms(1_700_000_000_000)), (1_700_000_000_000, 0));
        assert_eq!(time_text(None, 0, 61_000), "1 min 1 s before");
        assert_eq!(time_text(None, 61_000, 61_000), "last reading");
    }
}
