//! Typed values of fields. The type determines how values are compared, aligned and written.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{Guid, Lid, LinkSpeed, LinkWidth, PhysicalState, PortNum, PortState};

/// The type of a field's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldKind {
    Text,
    Number,
    /// Numbers with one decimal.
    Decimal,
    /// Numbers with as many decimals as they need, and negative ones.
    Real,
    Guid,
    Flag,
    Width,
    Speed,
    State,
    PhysicalState,
}

impl FieldKind {
    pub fn title(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Decimal => "number with a decimal",
            Self::Real => "number with decimals",
            Self::Guid => "GUID",
            Self::Flag => "yes or no",
            Self::Width => "width",
            Self::Speed => "speed",
            Self::State => "state",
            Self::PhysicalState => "physical state",
        }
    }

    /// Whether columns of this kind are aligned at the right.
    pub fn is_right_aligned(self) -> bool {
        matches!(self, Self::Number | Self::Decimal | Self::Real)
    }

    /// The words that a field of this kind can hold, in order; empty for kinds without fixed words.
    pub fn words(self) -> Vec<&'static str> {
        match self {
            Self::Width => LinkWidth::ALL.iter().map(|v| v.word()).collect(),
            Self::Speed => LinkSpeed::ALL.iter().map(|v| v.word()).collect(),
            Self::State => PortState::ALL.iter().map(|v| v.word()).collect(),
            Self::PhysicalState => PhysicalState::ALL.iter().map(|v| v.word()).collect(),
            Self::Text | Self::Number | Self::Decimal | Self::Real | Self::Guid | Self::Flag => Vec::new(),
        }
    }

    /// Parses a value that an operator typed; `None` when the text is no value of this kind.
    pub fn parse(self, text: &str) -> Option<Value<'static>> {
        match self {
            Self::Text => Some(Value::Text(Cow::Owned(text.to_owned()))),
            Self::Number => match text.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16).ok(),
                // As tables show it.
                None if text.contains(',') => {
                    let number = text.replace(',', "").parse::<u64>().ok();
                    number.filter(|number| digits_in_groups(number) == text)
                }
                None => text.parse().ok(),
            }
            .map(Value::Number),
            Self::Decimal => {
                let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
                number.map(Value::tenths)
            }
            Self::Real => {
                let number = text.parse().ok().filter(|number: &f64| number.is_finite());
                number.map(|number| Value::Real(RealNumber(number)))
            }
            Self::Guid => Guid::from_hex(text).ok().map(Value::Guid),
            Self::Flag => match text.to_ascii_lowercase().as_str() {
                "yes" | "true" | "1" => Some(Value::Flag(true)),
                "no" | "false" | "0" => Some(Value::Flag(false)),
                _ => None,
            },
            Self::Width => LinkWidth::from_word(text).map(Value::from),
            Self::Speed => LinkSpeed::from_word(text).map(Value::from),
            Self::State => PortState::from_word(text).map(Value::from),
            Self::PhysicalState => PhysicalState::from_word(text).map(Value::from),
        }
    }
}

/// The value of one field in one row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value<'a> {
    /// The source does not report the value.
    Missing,
    Text(Cow<'a, str>),
    Number(u64),
    /// A counter at its maximum: the true value is this number or more.
    AtLeast(u64),
    /// A number with one decimal, in tenths.
    Tenths(u64),
    Real(RealNumber),
    Guid(Guid),
    Flag(bool),
    /// One of a few words that have an order (`4x`, `EDR`, `Active`).
    Word {
        word: &'static str,
        order: u8,
    },
}

/// A number with decimals. Its order is total, so that rows have one order.
#[derive(Clone, Copy, Debug)]
pub struct RealNumber(pub f64);

impl PartialEq for RealNumber {
    fn eq(&self, other: &Self) -> bool {
        self.0.total_cmp(&other.0).is_eq()
    }
}

impl Eq for RealNumber {}

impl<'a> Value<'a> {
    pub fn text(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    /// A number, rounded to a tenth.
    pub fn tenths(number: f64) -> Self {
        Self::Tenths((number * 10.0).round() as u64)
    }

    /// A count. `u64` is large enough for every count of a fabric.
    pub fn count(count: usize) -> Self {
        Self::Number(count as u64)
    }

    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }

    /// The text of a value: `-` where it is missing, `yes` and `no` for flags.
    pub fn display_text(&self) -> Cow<'_, str> {
        match self {
            Self::Missing => Cow::Borrowed("-"),
            Self::Text(text) => Cow::Borrowed(text),
            Self::Number(number) => Cow::Owned(number.to_string()),
            Self::AtLeast(number) => Cow::Owned(format!(">={number}")),
            Self::Tenths(tenths) => Cow::Owned(format!("{}.{}", tenths / 10, tenths % 10)),
            Self::Real(number) => Cow::Owned(number.0.to_string()),
            Self::Guid(guid) => Cow::Owned(guid.to_string()),
            Self::Flag(flag) => Cow::Borrowed(if *flag { "yes" } else { "no" }),
            Self::Word { word, .. } => Cow::Borrowed(word),
        }
    }

    /// The text of a value with thousands separators.
    pub fn in_groups(&self) -> Cow<'_, str> {
        match self {
            Self::Number(1000..) => Cow::Owned(digits_in_groups(self.display_text())),
            Self::AtLeast(number) => Cow::Owned(format!(">={}", digits_in_groups(number))),
            Self::Tenths(10_000..) => Cow::Owned(digits_in_groups(self.display_text())),
            _ => self.display_text(),
        }
    }

    /// The short text of a value: numbers from 10,000 on have three digits and a unit prefix.
    pub fn scaled(&self) -> Cow<'_, str> {
        if let Self::AtLeast(number) = self {
            return Cow::Owned(format!(">={}", Self::Number(*number).scaled()));
        }
        let Self::Number(number @ 10_000..) = self else { return self.display_text() };
        // The comparison uses the rounded value, so 999,950 is shown as a million.
        let steps = [("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12), ("P", 1e15), ("E", 1e18)];
        let number = *number as f64;
        let fits = |(_, unit): &&(&str, f64)| number / unit < 999.5;
        let (sign, unit) = steps.iter().find(fits).unwrap_or(&steps[5]);
        let part = number / unit;
        let digits = if part < 9.995 { 2 } else { usize::from(part < 99.95) };
        Cow::Owned(format!("{part:.digits$}{sign}"))
    }

    /// The order of two values of one field; a missing value comes last.
    pub fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Missing, Self::Missing) => Ordering::Equal,
            (Self::Missing, _) => Ordering::Greater,
            (_, Self::Missing) => Ordering::Less,
            (Self::Number(a) | Self::AtLeast(a), Self::Number(b) | Self::AtLeast(b))
            | (Self::Tenths(a), Self::Tenths(b)) => a.cmp(b),
            (Self::Real(a), Self::Real(b)) => a.0.total_cmp(&b.0),
            (Self::Guid(a), Self::Guid(b)) => a.cmp(b),
            (Self::Flag(a), Self::Flag(b)) => a.cmp(b),
            (Self::Word { order: a, .. }, Self::Word { order: b, .. }) => a.cmp(b),
            _ => natural_order(&self.display_text(), &other.display_text()),
        }
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.display_text())
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Into::into)
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::text(text)
    }
}

impl From<Guid> for Value<'_> {
    fn from(guid: Guid) -> Self {
        Self::Guid(guid)
    }
}

impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        Self::Real(RealNumber(number))
    }
}

impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

/// Implements `From` for the integer types.
macro_rules! numbers {
    ($($from:ty => $into:expr;)+) => {
        $(impl From<$from> for Value<'_> {
            fn from(value: $from) -> Self {
                Self::Number($into(value))
            }
        })+
    };
}

numbers! {
    u8 => u64::from;
    u16 => u64::from;
    u32 => u64::from;
    u64 => u64::from;
    Lid => |lid: Lid| u64::from(lid.value());
    PortNum => |port: PortNum| u64::from(port.value());
}

/// Implements `From` for enums of words; the order of the words is that of the variants.
macro_rules! ordered_words {
    ($($from:ty),+) => {
        $(impl From<$from> for Value<'_> {
            fn from(value: $from) -> Self {
                Self::Word { word: value.word(), order: value as u8 }
            }
        })+
    };
}

ordered_words!(LinkWidth, LinkSpeed, PortState, PhysicalState);

/// Text order in which numbers within names count as numbers: `leaf2` before `leaf10`.
pub fn natural_order(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a.as_bytes(), b.as_bytes());
    while let (Some(x), Some(y)) = (left.first(), right.first()) {
        let step = if x.is_ascii_digit() && y.is_ascii_digit() {
            let (m, n) = (digits(left), digits(right));
            let (p, q) = (significant(&left[..m]), significant(&right[..n]));
            (left, right) = (&left[m..], &right[n..]);
            p.len().cmp(&q.len()).then_with(|| p.cmp(q))
        } else {
            (left, right) = (&left[1..], &right[1..]);
            x.cmp(y)
        };
        if step != Ordering::Equal {
            return step;
        }
    }
    // `a1` and `a01` compare as equal up to here; plain text order keeps the order total.
    left.len().cmp(&right.len()).then_with(|| a.cmp(b))
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|b| b.is_ascii_digit()).count()
}

fn significant(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|b| **b == b'0').count();
    &digits[zeros..]
}

/// A rate as sentences have it: `900,000`, `45.9 M`, `1,383 M`.
pub fn rate_in_millions(rate: f64) -> String {
    const ALL_DIGITS: f64 = 1e7;
    let millions = rate / 1e6;
    match rate {
        rate if rate < ALL_DIGITS => digits_in_groups(format_args!("{rate:.0}")),
        _ if millions < 99.95 => format!("{millions:.1} M"),
        _ => format!("{} M", digits_in_groups(format_args!("{millions:.0}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaled_amounts_have_three_digits() {
        for (number, text) in [
            (0, "0"),
            (9_999, "9999"),
            (10_000, "10.0k"),
            (99_949, "99.9k"),
            (99_950, "100k"),
            (999_499, "999k"),
            (999_500, "1.00M"),
            (2_906_888_000, "2.91G"),
            (9_996_000_000, "10.0G"),
            (u64::MAX, "18.4E"),
        ] {
            assert_eq!(Value::Number(number).scaled(), text);
        }
        assert_eq!((Value::Missing.scaled(), Value::text("10000").scaled()), ("-".into(), "10000".into()));
    }

    #[test]
    fn amounts_have_thousands_separators() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_383_204, "1,383,204")] {
            assert_eq!(Value::Number(number).in_groups(), text);
        }
        assert_eq!(Value::Tenths(9_999).in_groups(), "999.9");
        assert_eq!(Value::Tenths(12_345_678).in_groups(), "1,234,567.8");
        assert_eq!(Value::AtLeast(4_294_967_295).in_groups(), ">=4,294,967,295");
        assert_eq!(Value::text("1000").in_groups(), "1000");
        assert_eq!(FieldKind::Number.parse("1,383,204"), Some(Value::Number(1_383_204)));
        assert_eq!((FieldKind::Number.parse("1,38"), FieldKind::Number.parse(",383")), (None, None));
    }

    #[test]
    fn rates_of_many_digits_are_in_millions() {
        for (rate, text) in [
            (0.0, "0"),
            (900_000.0, "900,000"),
            (9_999_999.0, "9,999,999"),
            (45_930_000.0, "45.9 M"),
            (227_893_000.0, "228 M"),
            (1_383_204_000.0, "1,383 M"),
        ] {
            assert_eq!(rate_in_millions(rate), text);
        }
    }

    #[test]
    fn a_counter_at_its_maximum_compares_as_a_number() {
        let stuck = Value::AtLeast(4_294_967_295);
        assert_eq!((stuck.display_text(), stuck.scaled()), (">=4294967295".into(), ">=4.29G".into()));
        assert_eq!(stuck.compare(&Value::Number(9_000_000_000)), Ordering::Less);
        assert_eq!(stuck.compare(&Value::Number(5)), Ordering::Greater);
    }

    #[test]
    fn numbers_in_names_count_as_numbers() {
        let mut names = ["leaf10", "leaf2", "leaf", "leaf02", "leaf2b", "a", "leaf2[10]", "leaf2[9]"];
        names.sort_by(|a, b| natural_order(a, b));
        assert_eq!(names, ["a", "leaf", "leaf02", "leaf2", "leaf2[9]", "leaf2[10]", "leaf2b", "leaf10"]);
    }

    #[test]
    fn words_compare_in_their_order() {
        let speed = |word| FieldKind::Speed.parse(word).unwrap();
        assert_eq!(speed("fdr").compare(&speed("EDR")), Ordering::Less);
        assert_eq!(speed("FDR10").compare(&speed("FDR")), Ordering::Less);
        let width = |word| FieldKind::Width.parse(word).unwrap();
        assert_eq!(width("12x").compare(&width("8x")), Ordering::Greater);
        assert_eq!(Value::Missing.compare(&Value::Number(0)), Ordering::Greater);
    }

    #[test]
    fn decimals_have_a_tenth() {
        let decimal = |text| FieldKind::Decimal.parse(text);
        assert_eq!((decimal("77.8"), decimal("77")), (Some(Value::Tenths(778)), Some(Value::Tenths(770))));
        assert_eq!((decimal("-1"), decimal("nan"), decimal("x")), (None, None, None));
        assert_eq!(Value::tenths(99.96).display_text(), "100.0");
        assert_eq!(Value::Tenths(95).compare(&Value::Tenths(778)), Ordering::Less);
    }

    #[test]
    fn every_word_of_a_kind_is_read() {
        for kind in [FieldKind::Width, FieldKind::Speed, FieldKind::State, FieldKind::PhysicalState] {
            for word in kind.words() {
                assert_eq!(kind.parse(word).unwrap().display_text(), word);
            }
        }
        for (kind, text) in [
            (FieldKind::Number, "-1"),
            (FieldKind::Guid, "x"),
            (FieldKind::Flag, "maybe"),
            (FieldKind::Speed, "1"),
        ] {
            assert_eq!(kind.parse(text), None, "{text}");
        }
    }
}
