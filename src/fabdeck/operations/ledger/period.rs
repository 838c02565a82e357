//! Days, weeks and years of UTC, as numbers that follow each other.

use jiff::Timestamp;
use jiff::tz::TimeZone;

pub const DAY_MS: i64 = 86_400_000;

/// Length of the time for which counts are kept.
const DAYS_KEPT: u32 = 90;
const WEEKS_KEPT: u32 = 104;
const YEARS_KEPT: u32 = 10;

/// 1970-01-01 was a Thursday: a week begins with Monday.
const DAYS_OF_FIRST_WEEK: u32 = 3;

/// A length of time that counts are summed over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PeriodLength {
    Day,
    Week,
    Year,
}

impl PeriodLength {
    pub const ALL: [Self; 3] = [Self::Day, Self::Week, Self::Year];

    /// The number of the period that a time is in. Times before 1970 are in the first one.
    pub fn period_at(self, time_ms: i64) -> u32 {
        let day = u32::try_from(time_ms.div_euclid(DAY_MS)).unwrap_or(0);
        match self {
            Self::Day => day,
            Self::Week => (day + DAYS_OF_FIRST_WEEK) / 7,
            Self::Year => {
                let date = Timestamp::from_millisecond(time_ms).unwrap_or_default().to_zoned(TimeZone::UTC);
                u32::try_from(date.year()).unwrap_or(0)
            }
        }
    }

    /// The oldest period that is kept at a time.
    pub fn oldest_kept(self, now_ms: i64) -> u32 {
        let kept = match self {
            Self::Day => DAYS_KEPT,
            Self::Week => WEEKS_KEPT,
            Self::Year => YEARS_KEPT,
        };
        (self.period_at(now_ms) + 1).saturating_sub(kept)
    }
}

/// The date of a day: `2026-11-02`.
pub fn date_of_day(day: u32) -> String {
    date_of_time(i64::from(day) * DAY_MS)
}

/// The date of a time in UTC.
pub fn date_of_time(time_ms: i64) -> String {
    let time = Timestamp::from_millisecond(time_ms).unwrap_or_default();
    time.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d").to_string()
}

/// A number of days in words: `3 weeks`.
pub fn days_in_words(days: u32) -> String {
    let (number, unit) = match days {
        0..14 => (days.max(1), "day"),
        14..63 => (days / 7, "week"),
        63..730 => (days / 30, "month"),
        _ => (days / 365, "year"),
    };
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_follow_the_calendar() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap().as_millisecond();
        let week = |text: &str| PeriodLength::Week.period_at(at(text));
        assert_eq!(week("2026-11-29T23:59:59Z") + 1, week("2026-11-30T00:00:00Z"), "a Sunday, a Monday");
        let year = |text: &str| PeriodLength::Year.period_at(at(text));
        assert_eq!([year("2026-12-31T23:59:59Z"), year("2027-01-01T00:00:00Z")], [2026, 2027]);
        let day = PeriodLength::Day.period_at(at("2026-11-02T12:00:00Z"));
        assert_eq!(date_of_day(day), "2026-11-02");
        // 90 days with this one.
        assert_eq!(day + 1 - PeriodLength::Day.oldest_kept(at("2026-11-02T12:00:00Z")), 90);
        assert_eq!(PeriodLength::Day.period_at(-5), 0);
    }

    #[test]
    fn days_are_weeks_and_years() {
        let words = [0, 1, 13, 14, 21, 62, 63, 729, 730].map(days_in_words);
        assert_eq!(
            words,
            [
                "1 day",
                "1 day",
                "13 days",
                "2 weeks",
                "3 weeks",
                "8 weeks",
                "2 months",
                "24 months",
                "2 years"
            ]
        );
    }
}
