//! Lengths of time and large numbers in few characters.

use super::summary::count_words;

/// A length of time: `45 s`, `2 min 51 s`, `3 h 20 min`.
pub fn length_words(ms: u64) -> String {
    let seconds = ms / 1000;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, 0) => format!("{minutes} min"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, 0, _) => format!("{hours} h"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// A number with at most three digits and a letter for thousands: `0.4`, `46`, `101`, `1.2k`.
pub fn short_number(value: f64) -> String {
    match value {
        value if value >= 999_500.0 => format!("{}M", three_digits(value / 1e6)),
        value if value >= 999.5 => format!("{}k", three_digits(value / 1000.0)),
        value => three_digits(value),
    }
}

fn three_digits(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    match value {
        // What is there is not shown as nothing.
        value if value > 0.0 && rounded == 0.0 => "<0.1".to_owned(),
        value if value < 9.95 && rounded.fract() != 0.0 => format!("{rounded:.1}"),
        value => format!("{value:.0}"),
    }
}

/// The paths over both directions of a cable: `80 paths both ways`.
pub fn both_ways_words(paths: usize) -> String {
    format!("{} both ways", count_words(paths, "path", "paths"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_something_is_not_nothing() {
        let numbers = [0.0, 0.01, 0.44, 5.0, 9.96, 359.4, 1000.0, 1234.0, 45_600.0, 2_000_000.0];
        let words = ["0", "<0.1", "0.4", "5", "10", "359", "1k", "1.2k", "46k", "2M"];
        assert_eq!(numbers.map(short_number), words);
        let lengths = [0, 59_999, 60_000, 171_000, 3_600_000, 12_000_000];
        assert_eq!(lengths.map(length_words), ["0 s", "59 s", "1 min", "2 min 51 s", "1 h", "3 h 20 min"]);
    }
}
