//! Times as operators write them: RFC 3339, a time of the capture's day, or a duration before the end.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{Offset, TimeZone};
use jiff::{Span, Timestamp};

use fabdeck_mad::access::SourceError;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TimeWord {
    Moment(Timestamp),
    /// In the time zone of the recorder.
    Local(DateTime),
    OfDay(Time),
    BeforeEnd(i64),
}

/// A time, and the milliseconds after it that the text includes too: 999 for a whole second without a fraction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeSpec {
    word: TimeWord,
    slack: i64,
}

impl TimeSpec {
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        Self::read(text.trim()).ok_or_else(|| SourceError::Name {
            code: "FD-5062",
            what: format!("'{text}' is no time"),
            hint: Self::suggest_form(text.trim()),
        })
    }

    /// The hint of the error message: the intended text, if it is obvious.
    fn suggest_form(text: &str) -> String {
        let of_day = |text: &str| matches!(Self::read(text), Some(Self { word: TimeWord::OfDay(_), .. }));
        let padded = format!("0{text}");
        if of_day(&padded) {
            return format!("hours have two digits: write {padded}");
        }
        let bare = text.get(..text.rfind(['Z', 'z', '+', '-']).unwrap_or(0)).unwrap_or_default();
        if of_day(bare) {
            return format!(
                "a time of day is by the recorder's clock and has no zone: write {bare}, or the date with it, as in \
                 2026-11-22T{text}"
            );
        }
        "write 02:13:40 of the capture's day, 2026-11-22T02:13:40+01:00, or -5m before the end (ms, s, m, h)"
            .to_owned()
    }

    fn read(text: &str) -> Option<Self> {
        if let Some(back) = text.strip_prefix('-') {
            return Some(Self { word: TimeWord::BeforeEnd(to_millis(back)?), slack: 0 });
        }
        let slack = if text.contains('.') { 0 } else { 999 };
        if let Ok(moment) = text.parse::<Timestamp>() {
            return Some(Self { word: TimeWord::Moment(moment), slack });
        }
        if text.contains(['T', ' ']) {
            return Some(Self { word: TimeWord::Local(text.parse().ok()?), slack });
        }
        // The parser would ignore a zone, so a text with one is refused.
        let plain = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.'));
        let clock = plain && text.len() >= 5 && text.as_bytes().get(2) == Some(&b':');
        let slack = if text.len() == 5 { 59_999 } else { slack };
        let time = clock.then(|| text.parse::<Time>().ok()).flatten()?;
        Some(Self { word: TimeWord::OfDay(time), slack })
    }

    /// The last millisecond that the text includes, in a capture with these bounds and this offset from UTC.
    pub fn resolve_within(&self, from: i64, to: i64, utc_offset_s: i32) -> i64 {
        let zone = TimeZone::fixed(Offset::from_seconds(utc_offset_s).unwrap_or(Offset::UTC));
        let at = match self.word {
            TimeWord::Moment(moment) => moment.as_millisecond(),
            TimeWord::BeforeEnd(back) => return to.saturating_sub(back),
            TimeWord::Local(local) => to_utc(local, &zone),
            TimeWord::OfDay(time) => {
                let day = Timestamp::from_millisecond(from).unwrap_or_default().to_zoned(zone.clone()).date();
                let of = |day: Date| to_utc(day.to_datetime(time), &zone);
                // A capture over midnight has the time on its second day.
                let next = day.checked_add(Span::new().days(1)).map_or(i64::MAX, of);
                if of(day).saturating_add(self.slack) < from && next <= to { next } else { of(day) }
            }
        };
        at.saturating_add(self.slack)
    }

    pub fn slack(&self) -> i64 {
        self.slack
    }
}

fn to_utc(local: DateTime, zone: &TimeZone) -> i64 {
    zone.to_timestamp(local).map_or(i64::MAX, Timestamp::as_millisecond)
}

fn to_millis(text: &str) -> Option<i64> {
    let at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(at);
    let unit = match unit {
        "ms" => 1.0,
        "s" => 1e3,
        "m" => 60e3,
        "h" => 3600e3,
        _ => return None,
    };
    let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let millis = number.parse::<f64>().ok().filter(|_| plain)? * unit;
    (millis <= 1e15).then_some(millis as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;
    /// 2026-11-22T00:00:00Z.
    const DAY: i64 = 1_795_305_600_000;

    #[test]
    fn times_are_found_in_the_zone_of_the_recorder() {
        let (from, to) = (DAY + 22 * HOUR, DAY + 26 * HOUR);
        for (text, offset, millis) in [
            ("2026-11-22T23:00:00.5Z", 0, DAY + 23 * HOUR + 500),
            ("2026-11-22T23:00:00Z", 0, DAY + 23 * HOUR + 999),
            ("2026-11-23T00:00:00+01:00", 0, DAY + 23 * HOUR + 999),
            ("2026-11-23T00:00:00", 3600, DAY + 23 * HOUR + 999),
            ("23:30:00", 0, DAY + 23 * HOUR + HOUR / 2 + 999),
            ("23:30", 0, DAY + 23 * HOUR + HOUR / 2 + 59_999),
            ("23:30:00.250", 0, DAY + 23 * HOUR + HOUR / 2 + 250),
            // After midnight the second day counts; if the capture has the time on neither day, the first.
            ("01:00:00", 0, DAY + 25 * HOUR + 999),
            ("12:00:00", 0, DAY + 12 * HOUR + 999),
            ("-5m", 0, DAY + 26 * HOUR - 300_000),
            ("-1.5h", 0, DAY + 26 * HOUR - 5_400_000),
            ("-0s", 0, DAY + 26 * HOUR),
        ] {
            assert_eq!(TimeSpec::parse(text).unwrap().resolve_within(from, to, offset), millis, "{text}");
        }
    }

    #[test]
    fn hints_name_the_likely_form() {
        for (text, meant) in [
            ("9:00:40", "hours have two digits: write 09:00:40"),
            ("9:00", "write 09:00"),
            ("09:00:40Z", "has no zone: write 09:00:40, or the date with it, as in 2026-11-22T09:00:40Z"),
            ("09:00:40+01:00", "write 09:00:40, or the date"),
            ("noon", "write 02:13:40 of"),
            ("29:00:40Z", "write 02:13:40 of"),
        ] {
            let refused = TimeSpec::parse(text).unwrap_err().to_string();
            assert!(refused.contains(meant), "{text}: {refused}");
        }
    }

    #[test]
    fn bad_times_are_refused() {
        for text in [
            "",
            "noon",
            "-",
            "-5",
            "-5d",
            "--5m",
            "5m",
            "25:00:00",
            "1:2",
            "2026-13-01T00:00:00Z",
            "-1e99h",
            "-infs",
        ] {
            let refused = TimeSpec::parse(text).unwrap_err();
            assert!(refused.to_string().contains("FD-5062"), "{text}: {refused}");
        }
    }
}
