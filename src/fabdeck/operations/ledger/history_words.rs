//! The history of a cable as a sentence, for the card of its problem.

use super::cable_history::{CableHistory, PeriodCounts};
use super::period::{PeriodLength, date_of_day, date_of_time, days_in_words};
use crate::catalogue::summary::count_words;

/// Picks a count of a period.
type OfPeriod = fn(&PeriodCounts) -> u64;

/// `went down 14 times in 3 weeks, first on 2026-11-02`: what the cable did in the last 90 days, and how often before. `None`
/// where there is no more than what happens today.
pub fn history_words(cable: &CableHistory, now_ms: i64) -> Option<String> {
    let today = PeriodLength::Day.period_at(now_ms);
    let counts: [(u64, OfPeriod, [&str; 3]); 3] = [
        (cable.downs, |day| day.downs.into(), ["went down", "time", "times"]),
        (cable.errors, |day| day.errors, ["had", "error", "errors"]),
        (cable.problems, |day| day.problems.into(), ["had", "problem", "problems"]),
    ];
    let (sum, of_day, [verb, one, many]) = counts.into_iter().find(|(sum, ..)| *sum > 0)?;
    let days: Vec<&PeriodCounts> = cable.days(now_ms).filter(|day| of_day(day) > 0).collect();
    let number = |count: u64| count_words(usize::try_from(count).unwrap_or(usize::MAX), one, many);
    let Some(first) = days.first() else {
        let (first, last) = (date_of_time(cable.first_ms), date_of_time(cable.last_ms));
        return Some(format!("{verb} {} from {first} to {last}", number(sum)));
    };
    let recent: u64 = days.iter().map(|day| of_day(day)).sum();
    let before = sum.saturating_sub(recent);
    if first.period == today && before == 0 && (verb == "had" || recent == 1) {
        return None;
    }
    let span = days_in_words(today.saturating_sub(first.period));
    let mut words = format!("{verb} {} in {span}, first on {}", number(recent), date_of_day(first.period));
    if before > 0 {
        words += &format!("; {} before, since {}", number(before), date_of_time(cable.first_ms));
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::ledger::cable_history::{CableCounts, CableSighting};
    use crate::operations::ledger::period::DAY_MS;
    use fabdeck_fabric::{Guid, PortNum};

    #[test]
    fn a_history_has_its_span_and_its_first_day() {
        let end = |node| ((Guid(node), PortNum(1)), String::new(), None);
        let day =
            |text: &str| format!("{text}T08:00:00Z").parse::<jiff::Timestamp>().unwrap().as_millisecond();
        let mut cable = CableHistory::new(CableSighting::new(end(1), end(2)), day("2026-11-02"));
        assert_eq!(history_words(&cable, day("2026-11-23")), None);
        let down = CableCounts { downs: [1, 1, 0], ..CableCounts::default() };
        cable.add(&down, day("2026-11-02"));
        assert_eq!(history_words(&cable, day("2026-11-02")), None, "today, and once");
        (0..13).for_each(|more| cable.add(&down, day("2026-11-10") + more * DAY_MS));
        let words = |now: &str| history_words(&cable, day(now)).unwrap();
        assert_eq!(words("2026-11-23"), "went down 14 times in 3 weeks, first on 2026-11-02");
        assert_eq!(
            words("2027-02-01"),
            "went down 13 times in 2 months, first on 2026-11-10; 1 time before, since 2026-11-02"
        );
        assert_eq!(words("2028-01-01"), "went down 14 times from 2026-11-02 to 2026-11-22");
        let mut noisy = CableHistory::new(cable.place.clone(), day("2026-11-02"));
        let errors = CableCounts { errors: 2500, ..CableCounts::default() };
        noisy.add(&errors, day("2026-11-02"));
        assert_eq!(history_words(&noisy, day("2026-11-02")), None);
        assert_eq!(
            history_words(&noisy, day("2026-11-03")).unwrap(),
            "had 2,500 errors in 1 day, first on 2026-11-02"
        );
    }
}
