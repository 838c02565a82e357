//! Shared parts of texts with counters: reading of values, and of lines that are no counters.

use super::text::Input;
use fabdeck_fabric::PortNum;
use fabdeck_fabric::observe::{Counter, CounterValues, Notes};

/// The value of a counter, as a text has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CounterCell {
    Plain(u64),
    /// The counter is at its maximum, so the true number may be higher.
    Saturated(u64),
    /// A difference that went below zero in the tool; the value is as printed.
    Wrapped(u64),
    /// The value exceeds the counter's field.
    TooWide(u64),
    /// All ones, or all ones but the last: the tool's mark for "no value".
    Sentinel,
    /// `N/A` or an empty cell.
    Absent,
    Unreadable,
}

impl CounterCell {
    pub(super) fn of(counter: &Counter, text: &str) -> Self {
        let text = text.trim();
        if is_absent(text) {
            return Self::Absent;
        }
        let Some(value) = parse_number(text) else { return Self::Unreadable };
        match value {
            0xFFFF_FFFF_FFFF_FFFE | u64::MAX => Self::Sentinel,
            value if value > i64::MAX as u64 => Self::Wrapped(value),
            value if counter.is_saturated(value) => Self::Saturated(value),
            value if counter.bits().is_some_and(|bits| bits < 64 && value >> bits != 0) => {
                Self::TooWide(value)
            }
            value => Self::Plain(value),
        }
    }

    /// The value to store; `None` for a counter without a value.
    pub(super) fn value(self) -> Option<u64> {
        match self {
            Self::Plain(value) | Self::Saturated(value) | Self::Wrapped(value) | Self::TooWide(value) => {
                Some(value)
            }
            Self::Sentinel | Self::Absent | Self::Unreadable => None,
        }
    }

    /// Adds a note unless the value is plain.
    pub(super) fn note(self, counter: &Counter, input: &Input<'_>, line: u64, notes: &mut Notes) {
        let place = || input.line_place(line);
        match self {
            Self::Plain(_) => {}
            Self::Saturated(value) => notes.add("FN-401", place(), || {
                format!("{counter} is at its maximum ({value}): it is saturated and no longer counts")
            }),
            Self::Wrapped(value) => notes.add("FN-402", place(), || {
                format!("{counter} is {value}: the device or the tool counted below zero; it is kept as read")
            }),
            Self::Sentinel => notes.add("FN-403", place(), || {
                format!("{counter} has the mark for 'no value' (all ones): read as unknown")
            }),
            Self::Absent => {
                notes.add("FN-404", place(), || format!("{counter} has no value (N/A): read as unknown"))
            }
            Self::TooWide(value) => notes.add("FN-405", place(), || {
                format!("{counter} is {value}, more than its field can count; kept unchanged")
            }),
            // A vendor's counter may be a fraction or a text; no known counter is missing then.
            Self::Unreadable if counter.bits().is_none() => notes
                .add("FN-406", place(), || format!("the value of {counter} is no whole number; left out")),
            Self::Unreadable => notes.add_partial("FN-406", place(), || {
                format!("the value of {counter} is no whole number; left out")
            }),
        }
    }
}

/// Most counters of a sample; no attribute has more.
const COUNTER_LIMIT: usize = 512;

/// Reads a value into a sample, and adds a note unless the value is plain.
pub(super) fn read_value(
    values: &mut CounterValues,
    counter: Counter,
    text: &str,
    input: &Input<'_>,
    line: u64,
    notes: &mut Notes,
) {
    if values.has(&counter) {
        notes.add("FN-409", input.line_place(line), || {
            format!("{counter} is listed twice for one port; the first value is used")
        });
    } else if values.len() >= COUNTER_LIMIT {
        notes.add_partial("FN-417", input.line_place(line), || {
            format!("more than {COUNTER_LIMIT} counters of one port; the rest is left out")
        });
    } else {
        let reading = CounterCell::of(&counter, text);
        reading.note(&counter, input, line, notes);
        if !matches!(reading, CounterCell::Unreadable) {
            values.insert(counter, reading.value());
        }
    }
}

/// Whether a text is one of the tools' marks for a missing value.
pub(super) fn is_absent(text: &str) -> bool {
    ["", "N/A", "NA", "-", "ERR", "null"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Reads a decimal number, a hexadecimal one after `0x`, or a negative one as its two's complement.
pub(super) fn parse_number(text: &str) -> Option<u64> {
    let digits = |text: &str, radix| {
        let plain = text.bytes().all(|b| b.is_ascii_hexdigit());
        plain.then(|| u64::from_str_radix(text, radix).ok()).flatten()
    };
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return digits(hex, 16);
    }
    match text.strip_prefix('-') {
        Some(below) => digits(below, 10).filter(|n| *n <= 1 << 63).map(u64::wrapping_neg),
        None => digits(text, 10),
    }
}

/// What the counters of a block are of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PortField {
    One(PortNum),
    /// The sum over all ports of the node.
    All,
}

impl PortField {
    pub(super) fn number(self) -> Option<PortNum> {
        match self {
            Self::One(port) => Some(port),
            Self::All => None,
        }
    }
}

/// Reads a port in a heading: a number, or `ALL` (255).
pub(super) fn parse_port(text: &str) -> Option<PortField> {
    if text.eq_ignore_ascii_case("ALL") || text == "255" {
        return Some(PortField::All);
    }
    text.parse::<u32>().ok().and_then(PortNum::new).map(PortField::One)
}

/// Adds a note on a line that is neither heading nor counter. A tool's error makes the reading partial; other text
/// does not.
pub(super) fn note_stray_line(text: &str, input: &Input<'_>, line: u64, notes: &mut Notes) {
    const COMPLAINTS: &[&str] = &["ibwarn", "ibpanic", "iberror", "ibdebug", "query failed", "failed:"];
    let shown = || text.trim().chars().take(80).collect::<String>();
    if COMPLAINTS.iter().any(|word| text.contains(word)) {
        notes.add_partial("FN-413", input.line_place(line), || {
            format!("the tool reported an error: '{}'", shown())
        });
    } else {
        notes.add("FN-407", input.line_place(line), || format!("'{}' is no counter; skipped", shown()));
    }
}

/// Notes a last line without a line end, whose number may be cut.
pub(super) fn note_unended(input: &Input<'_>, line: u64, notes: &mut Notes) {
    notes.add_partial("FN-408", input.line_place(line), || {
        "the file ends within this line, so the line is not used; the file may be cut".to_owned()
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_wild() {
        let wait = Counter::PortXmitWait;
        for (text, expected) in [
            ("2544", CounterCell::Plain(2544)),
            (" 0x10 ", CounterCell::Plain(16)),
            ("4294967295", CounterCell::Saturated(4_294_967_295)),
            ("4294967296", CounterCell::TooWide(4_294_967_296)),
            ("18446744073709551576", CounterCell::Wrapped(18_446_744_073_709_551_576)),
            ("-40", CounterCell::Wrapped(18_446_744_073_709_551_576)),
            ("0xfffffffffffffffe", CounterCell::Sentinel),
            ("18446744073709551615", CounterCell::Sentinel),
            ("-1", CounterCell::Sentinel),
            ("N/A", CounterCell::Absent),
            ("", CounterCell::Absent),
            ("12x", CounterCell::Unreadable),
            ("+12", CounterCell::Unreadable),
            ("0x", CounterCell::Unreadable),
            ("1e3", CounterCell::Unreadable),
            ("99999999999999999999", CounterCell::Unreadable),
            ("-99999999999999999999", CounterCell::Unreadable),
        ] {
            assert_eq!(CounterCell::of(&wait, text), expected, "{text}");
        }
        assert_eq!(CounterCell::of(&Counter::SymbolErrorCounter, "65535"), CounterCell::Saturated(65_535));
        assert_eq!(CounterCell::of(&Counter::PortXmitDataExtended, "65535"), CounterCell::Plain(65_535));
    }

    #[test]
    fn ports() {
        assert_eq!(parse_port("ALL"), Some(PortField::All));
        assert_eq!(parse_port("255"), Some(PortField::All));
        assert_eq!(parse_port("0"), Some(PortField::One(PortNum(0))));
        assert_eq!(parse_port("254"), Some(PortField::One(PortNum(254))));
        for text in ["256", "", "x", "-1"] {
            assert_eq!(parse_port(text), None, "{text}");
        }
    }
}
