//! Parses and judges guards: `lost_pairs <= 0`, `edge_forwarding_index.max <= 400`, `deadlock_free`, `not drifted`,
//! `after.hotspots < before.hotspots`.
use crate::catalogue::json_type::json_type;

use super::values::{StepValue, Values};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparator {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A longer sign comes before its own prefix.
const COMPARATORS: &[(&str, Comparator)] = &[
    ("!=", Comparator::Unequal),
    ("<=", Comparator::LessOrEqual),
    (">=", Comparator::GreaterOrEqual),
    ("==", Comparator::Equal),
    ("=", Comparator::Equal),
    ("<", Comparator::Less),
    (">", Comparator::Greater),
];

impl Comparator {
    pub fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Self::Equal => left == right,
            Self::Unequal => left != right,
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
        }
    }
}

/// A sign and a number: `<= 4`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bound {
    pub sign: Comparator,
    pub number: f64,
}

impl Bound {
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (written, sign) = COMPARATORS.iter().find(|(sign, _)| text.starts_with(sign))?;
        let number = text[written.len()..].trim().parse().ok().filter(|number: &f64| number.is_finite())?;
        Some(Self { sign: *sign, number })
    }

    pub fn holds(self, number: f64) -> bool {
        self.sign.holds(number, self.number)
    }
}

#[derive(Clone, PartialEq, Debug)]
enum Operand {
    Number(f64),
    Flag(bool),
    /// Another value times a factor: `0.9 * before.hotspots`.
    Name(f64, String),
}

#[derive(Clone, PartialEq, Debug)]
enum GuardCondition {
    Is(String),
    IsNot(String),
    Compare(String, Comparator, Operand),
}

/// A condition over values of steps.
#[derive(Clone, PartialEq, Debug)]
pub struct StepGuard {
    pub line: usize,
    /// The guard as written in the runbook.
    pub text: String,
    claim: GuardCondition,
}

json_type! {
    /// Result of a guard.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    #[serde(rename_all = "kebab-case")]
    pub enum GuardVerdict {
        Holds,
        Fails,
        /// A value of the guard is unknown, so the guard does not hold.
        Unknown,
        /// No step has set the values yet.
        NotYet,
        /// The values do not exist in a rehearsal.
        NotRehearsed,
    }
}

impl GuardVerdict {
    pub fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::Unknown => "is not known to hold",
            Self::NotYet => "is not judged yet",
            Self::NotRehearsed => "is not rehearsed",
        }
    }

    /// Whether this verdict ends the run.
    pub fn is_stopping(self) -> bool {
        matches!(self, Self::Fails | Self::Unknown)
    }
}

impl StepGuard {
    pub fn parse(line: usize, text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "FD-9209: '{text}' is no guard; write NAME OP NUMBER, NAME OP NAME, NAME OP NUMBER * NAME, NAME or 'not NAME' (<=, >=, ==, !=, <, >)"
            )
        };
        let trimmed = text.trim();
        let at = COMPARATORS.iter().filter_map(|(sign, _)| trimmed.find(sign)).min();
        let claim = match at {
            None => match trimmed.strip_prefix("not ") {
                Some(name) => GuardCondition::IsNot(parse_name(name).ok_or_else(wrong)?),
                None => GuardCondition::Is(parse_name(trimmed).ok_or_else(wrong)?),
            },
            Some(at) => {
                let rest = &trimmed[at..];
                let (written, sign) =
                    COMPARATORS.iter().find(|(sign, _)| rest.starts_with(sign)).ok_or_else(wrong)?;
                let right = rest[written.len()..].trim();
                let right = match (right, right.parse::<f64>()) {
                    ("true" | "yes", _) => Operand::Flag(true),
                    ("false" | "no", _) => Operand::Flag(false),
                    (_, Ok(number)) if number.is_finite() => Operand::Number(number),
                    _ => parse_operand(right).ok_or_else(wrong)?,
                };
                let ordered = !matches!(sign, Comparator::Equal | Comparator::Unequal);
                if ordered && matches!(right, Operand::Flag(_)) {
                    return Err(wrong());
                }
                GuardCondition::Compare(parse_name(&trimmed[..at]).ok_or_else(wrong)?, *sign, right)
            }
        };
        Ok(Self { line, text: trimmed.to_owned(), claim })
    }

    /// Names of the values in the guard.
    pub fn names(&self) -> Vec<&str> {
        match &self.claim {
            GuardCondition::Is(name) | GuardCondition::IsNot(name) => vec![name],
            GuardCondition::Compare(left, _, Operand::Name(_, right)) => vec![left, right],
            GuardCondition::Compare(left, ..) => vec![left],
        }
    }

    pub fn judge(&self, values: &Values) -> GuardVerdict {
        let found: Option<Vec<StepValue>> = self.names().into_iter().map(|name| values.get(name)).collect();
        let Some(found) = found else { return GuardVerdict::NotYet };
        if found.contains(&StepValue::Unrehearsed) {
            return GuardVerdict::NotRehearsed;
        }
        if found.contains(&StepValue::Unknown) {
            return GuardVerdict::Unknown;
        }
        let holds = match (&self.claim, found.as_slice()) {
            (GuardCondition::Is(_), [found]) => is_true(*found),
            (GuardCondition::IsNot(_), [found]) => !is_true(*found),
            (GuardCondition::Compare(_, sign, Operand::Number(right)), [left]) => {
                sign.holds(as_number(*left), *right)
            }
            (GuardCondition::Compare(_, sign, Operand::Flag(right)), [left]) => {
                sign.holds(as_number(*left), f64::from(u8::from(*right)))
            }
            (GuardCondition::Compare(_, sign, Operand::Name(share, _)), [left, right]) => {
                sign.holds(as_number(*left), share * as_number(*right))
            }
            _ => false,
        };
        if holds { GuardVerdict::Holds } else { GuardVerdict::Fails }
    }

    /// Describes the values of the guard, as far as they are known.
    pub fn found_text(&self, values: &Values) -> String {
        let each = self.names().into_iter().map(|name| match values.get(name) {
            Some(found) => format!("{name} is {found}"),
            None => format!("{name} has no value yet"),
        });
        each.collect::<Vec<_>>().join(", ")
    }
}

fn parse_operand(text: &str) -> Option<Operand> {
    let Some((share, name)) = text.split_once('*') else {
        return Some(Operand::Name(1.0, parse_name(text)?));
    };
    let share = share.trim().parse().ok().filter(|share: &f64| share.is_finite())?;
    Some(Operand::Name(share, parse_name(name)?))
}

fn parse_name(text: &str) -> Option<String> {
    let text = text.trim();
    let begins = text.starts_with(|sign: char| sign.is_ascii_alphabetic());
    let fits = text.chars().all(|sign| sign.is_ascii_alphanumeric() || "_.-".contains(sign));
    (begins && fits).then(|| text.to_owned())
}

fn is_true(found: StepValue) -> bool {
    as_number(found) != 0.0
}

/// An unknown value was handled before, so the number is never used.
fn as_number(found: StepValue) -> f64 {
    match found {
        StepValue::Number(number) => number,
        StepValue::Flag(flag) => f64::from(u8::from(flag)),
        StepValue::Unknown | StepValue::Unrehearsed => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_are_judged_by_the_values_of_steps() {
        let mut values = Values::default();
        for (name, found) in [
            ("lost_pairs", StepValue::count(0)),
            ("edge_forwarding_index.max", StepValue::Number(12.5)),
            ("deadlock_free", StepValue::Flag(true)),
            ("before.hotspots", StepValue::count(2)),
            ("after.hotspots", StepValue::count(1)),
            ("unread", StepValue::Unknown),
            ("later", StepValue::Unrehearsed),
        ] {
            values.set(name, found);
        }
        for (text, verdict) in [
            ("lost_pairs <= 0", GuardVerdict::Holds),
            ("lost_pairs=0", GuardVerdict::Holds),
            ("lost_pairs > 0", GuardVerdict::Fails),
            ("edge_forwarding_index.max <= 12.5", GuardVerdict::Holds),
            ("edge_forwarding_index.max < 12.5", GuardVerdict::Fails),
            ("deadlock_free", GuardVerdict::Holds),
            ("not deadlock_free", GuardVerdict::Fails),
            ("deadlock_free == true", GuardVerdict::Holds),
            ("deadlock_free != yes", GuardVerdict::Fails),
            ("after.hotspots < before.hotspots", GuardVerdict::Holds),
            ("before.hotspots <= after.hotspots", GuardVerdict::Fails),
            ("after.hotspots <= 0.5 * before.hotspots", GuardVerdict::Holds),
            ("after.hotspots <= 0.49*before.hotspots", GuardVerdict::Fails),
            ("lost_pairs <= 2 * unread", GuardVerdict::Unknown),
            ("unread", GuardVerdict::Unknown),
            ("not unread", GuardVerdict::Unknown),
            ("unread <= 3", GuardVerdict::Unknown),
            ("later <= 3", GuardVerdict::NotRehearsed),
            ("other <= 3", GuardVerdict::NotYet),
        ] {
            assert_eq!(StepGuard::parse(1, text).unwrap().judge(&values), verdict, "{text}");
        }
        for wrong in [
            "",
            "<= 3",
            "a b <= 3",
            "lost_pairs <=",
            "a <= b c",
            "3 <= a",
            "a < true",
            "a < * b",
            "a < x * b",
            "a < 2 * 3",
            "not",
        ] {
            let named = wrong == "not";
            assert_eq!(StepGuard::parse(1, wrong).is_ok(), named, "{wrong}");
        }
    }
}
