//! Parses numbers, times and sizes of the command line.

use std::time::Duration;

use crate::catalogue::simulated_time::read_nanoseconds;

pub fn retries(text: &str) -> Result<u32, String> {
    text.parse()
        .ok()
        .filter(|count| *count <= 100)
        .ok_or_else(|| "write a whole number from 0 to 100".to_owned())
}

/// A larger number than any machine has cores is a typing error.
pub fn threads(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|count| (1..=1024).contains(count))
        .ok_or_else(|| "write a whole number from 1 to 1024".to_owned())
}

/// A percentage.
pub fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim().parse().ok();
    let number = number.filter(|number: &f64| (0.0..=100.0).contains(number));
    number.ok_or_else(|| "write a number from 0 to 100".to_owned())
}

/// The time between two files, which may be months.
pub fn seconds(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| *number > 0.0 && number.is_finite());
    number.ok_or_else(|| "write a number of seconds above 0".to_owned())
}

/// The time that a change waits for confirmation, between 30 s and a day.
pub fn window(text: &str) -> Result<Duration, String> {
    let time = long_duration(text)?;
    let fits = (Duration::from_secs(30)..=Duration::from_secs(86_400)).contains(&time);
    fits.then_some(time).ok_or_else(|| "write a time from 30s to 24h".to_owned())
}

/// A time of at most an hour with its unit; without a unit it counts seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    time(text, Duration::from_secs(3600), "write a time of at most 1h")
}

/// A time of at most a year.
pub fn long_duration(text: &str) -> Result<Duration, String> {
    time(text, Duration::from_secs(366 * 86_400), "write a time of at most 366d")
}

fn time(text: &str, most: Duration, too_long: &str) -> Result<Duration, String> {
    let wrong =
        || "write a number and ms, s, m, h or d, as in 500ms; without a unit it counts seconds".to_owned();
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let seconds = match unit {
        "ms" => 0.001,
        "s" | "" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    // A time below a nanosecond is zero and refused; one that does not fit a `Duration` is too long.
    if number < 0.0 {
        return Err("write a time above 0".to_owned());
    }
    let Ok(time) = Duration::try_from_secs_f64(number * seconds) else { return Err(too_long.to_owned()) };
    match time {
        Duration::ZERO => Err("write a time above 0".to_owned()),
        time if time > most => Err(too_long.to_owned()),
        time => Ok(time),
    }
}

/// A number of bytes with its unit; without a unit it counts bytes.
pub fn bytes(text: &str) -> Result<u64, String> {
    const LEAST: f64 = 1e3;
    const MOST: f64 = 1e15;
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let unit = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        _ => f64::NAN,
    };
    let bytes = number.parse::<f64>().map_or(f64::NAN, |number| number * unit);
    match (LEAST..=MOST).contains(&bytes) {
        true => Ok(bytes as u64),
        false => Err("write a number and kB, MB, GB, KiB, MiB or GiB, as in 100MB; at least 1kB".to_owned()),
    }
}

/// Simulated time in nanoseconds.
pub fn moment(text: &str) -> Result<u64, String> {
    const LONGEST: f64 = 1e9;
    match read_nanoseconds(text).filter(|time| (1e3..=LONGEST).contains(time)) {
        Some(time) => Ok(time as u64),
        None => Err("write a number and us, ms or s, as in 500us; from 1us to 1s".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        for (text, millis) in [("500ms", 500), ("2s", 2000), ("1.5", 1500), ("1m", 60_000), ("1h", 3_600_000)]
        {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for wrong in ["", "s", "0", "-1s", "1.1h", "1d", "2 s", "nan", "inf", "9999s", "1w"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn long_times_are_at_most_a_year() {
        for (text, seconds) in
            [("90", 90), ("10m", 600), ("1.5h", 5400), ("2d", 172_800), ("366d", 31_622_400)]
        {
            assert_eq!(long_duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for wrong in ["", "h", "-1h", "0d", "367d", "nanh", "1w"] {
            assert!(long_duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_have_a_unit() {
        for (text, count) in [("100MB", 100_000_000), ("1.5kB", 1500), ("1GiB", 1 << 30), ("5000", 5000)] {
            assert_eq!(bytes(text), Ok(count), "{text}");
        }
        for wrong in ["", "MB", "-1MB", "0", "999", "1TB", "nanMB", "9999999GB"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn moments_have_a_unit_and_an_end() {
        for (text, nanos) in [("1ms", 1_000_000), ("1.5us", 1_500), ("2000ns", 2_000), ("1s", 1_000_000_000)]
        {
            assert_eq!(moment(text), Ok(nanos), "{text}");
        }
        for wrong in ["", "1", "0ms", "-1ms", "2s", "1m", "nanms", "infs", "10ns"] {
            assert!(moment(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_number_of_threads_is_limited() {
        assert_eq!((threads("1"), threads("1024")), (Ok(1), Ok(1024)));
        for wrong in ["", "0", "-1", "1025", "two", "99999999999999999999"] {
            assert!(threads(wrong).is_err(), "{wrong}");
        }
    }
}
