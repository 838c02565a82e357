//! Parses and judges guards: `lost_pairs <= 0`, `edge_forwarding_index.max <= 400`, `deadlock_free`, `not drifted`,
//! `after.hotspots < before.hotspots`.

use super::values::{Found, Values};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sign {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A longer sign stands before its own prefix.
const SIGNS: &[(&str, Sign)] = &[
    ("!=", Sign::Unequal),
    ("<=", Sign::LessOrEqual),
    (">=", Sign::GreaterOrEqual),
    ("==", Sign::Equal),
    ("=", Sign::Equal),
    ("<", Sign::Less),
    (">", Sign::Greater),
];

impl Sign {
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
    pub sign: Sign,
    pub number: f64,
}

impl Bound {
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (written, sign) = SIGNS.iter().find(|(sign, _)| text.starts_with(sign))?;
        let number = text[written.len()..].trim().parse().ok().filter(|number: &f64| number.is_finite())?;
        Some(Self { sign: *sign, number })
    }

    pub fn holds(self, number: f64) -> bool {
        self.sign.holds(number, self.number)
    }
}

#[derive(Clone, PartialEq, Debug)]
enum Right {
    Number(f64),
    Flag(bool),
    /// Another value times a factor: `0.9 * before.hotspots`.
    Name(f64, String),
}

#[derive(Clone, PartialEq, Debug)]
enum Claim {
    Is(String),
    IsNot(String),
    Compare(String, Sign, Right),
}

/// A condition over values of steps.
#[derive(Clone, PartialEq, Debug)]
pub struct Guard {
    pub line: usize,
    /// The guard as written in the runbook.
    pub text: String,
    claim: Claim,
}

/// Result of a guard.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Holds,
    Fails,
    /// A value of the guard is unknown, so the guard does not hold.
    Unknown,
    /// No step has given the values yet.
    NotYet,
    /// The values do not exist in a rehearsal.
    NotRehearsed,
}

impl Verdict {
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
    pub fn stops(self) -> bool {
        matches!(self, Self::Fails | Self::Unknown)
    }
}

impl Guard {
    pub fn parse(line: usize, text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "FD-9209: '{text}' is no guard; write NAME OP NUMBER, NAME OP NAME, NAME OP NUMBER * NAME, NAME or 'not NAME' (<=, >=, ==, !=, <, >)"
            )
        };
        let trimmed = text.trim();
        let at = SIGNS.iter().filter_map(|(sign, _)| trimmed.find(sign)).min();
        let claim = match at {
            None => match trimmed.strip_prefix("not ") {
                Some(name) => Claim::IsNot(name_of(name).ok_or_else(wrong)?),
                None => Claim::Is(name_of(trimmed).ok_or_else(wrong)?),
            },
            Some(at) => {
                let rest = &trimmed[at..];
                let (written, sign) =
                    SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)).ok_or_else(wrong)?;
                let right = rest[written.len()..].trim();
                let right = match (right, right.parse::<f64>()) {
                    ("true" | "yes", _) => Right::Flag(true),
                    ("false" | "no", _) => Right::Flag(false),
                    (_, Ok(number)) if number.is_finite() => Right::Number(number),
                    _ => so_much_of(right).ok_or_else(wrong)?,
                };
                let ordered = !matches!(sign, Sign::Equal | Sign::Unequal);
                if ordered && matches!(right, Right::Flag(_)) {
                    return Err(wrong());
                }
                Claim::Compare(name_of(&trimmed[..at]).ok_or_else(wrong)?, *sign, right)
            }
        };
        Ok(Self { line, text: trimmed.to_owned(), claim })
    }

    /// Names of the values in the guard.
    pub fn names(&self) -> Vec<&str> {
        match &self.claim {
            Claim::Is(name) | Claim::IsNot(name) => vec![name],
            Claim::Compare(left, _, Right::Name(_, right)) => vec![left, right],
            Claim::Compare(left, ..) => vec![left],
        }
    }

    pub fn judge(&self, values: &Values) -> Verdict {
        let found: Option<Vec<Found>> = self.names().into_iter().map(|name| values.get(name)).collect();
        let Some(found) = found else { return Verdict::NotYet };
        if found.contains(&Found::Unrehearsed) {
            return Verdict::NotRehearsed;
        }
        if found.contains(&Found::Unknown) {
            return Verdict::Unknown;
        }
        let holds = match (&self.claim, found.as_slice()) {
            (Claim::Is(_), [found]) => is_true(*found),
            (Claim::IsNot(_), [found]) => !is_true(*found),
            (Claim::Compare(_, sign, Right::Number(right)), [left]) => sign.holds(as_number(*left), *right),
            (Claim::Compare(_, sign, Right::Flag(right)), [left]) => {
                sign.holds(as_number(*left), f64::from(u8::from(*right)))
            }
            (Claim::Compare(_, sign, Right::Name(share, _)), [left, right]) => {
                sign.holds(as_number(*left), share * as_number(*right))
            }
            _ => false,
        };
        if holds { Verdict::Holds } else { Verdict::Fails }
    }

    /// Describes the values of the guard, as far as they are known.
    pub fn found(&self, values: &Values) -> String {
        let each = self.names().into_iter().map(|name| match values.get(name) {
            Some(found) => format!("{name} is {found}"),
            None => format!("{name} is not given yet"),
        });
        each.collect::<Vec<_>>().join(", ")
    }
}

fn so_much_of(text: &str) -> Option<Right> {
    let Some((share, name)) = text.split_once('*') else { return Some(Right::Name(1.0, name_of(text)?)) };
    let share = share.trim().parse().ok().filter(|share: &f64| share.is_finite())?;
    Some(Right::Name(share, name_of(name)?))
}

fn name_of(text: &str) -> Option<String> {
    let text = text.trim();
    let begins = text.starts_with(|sign: char| sign.is_ascii_alphabetic());
    let fits = text.chars().all(|sign| sign.is_ascii_alphanumeric() || "_.-".contains(sign));
    (begins && fits).then(|| text.to_owned())
}

fn is_true(found: Found) -> bool {
    as_number(found) != 0.0
}

/// An unknown value was handled before, so the number is never used.
fn as_number(found: Found) -> f64 {
    match found {
        Found::Number(number) => number,
        Found::Flag(flag) => f64::from(u8::from(flag)),
        Found::Unknown | Found::Unrehearsed => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_are_judged_by_what_was_found() {
        let mut values = Values::default();
        for (name, found) in [
            ("lost_pairs", Found::count(0)),
            ("edge_forwarding_index.max", Found::Number(12.5)),
            ("deadlock_free", Found::Flag(true)),
            ("before.hotspots", Found::count(2)),
            ("after.hotspots", Found::count(1)),
            ("unsaid", Found::Unknown),
            ("later", Found::Unrehearsed),
        ] {
            values.set(name, found);
        }
        for (text, verdict) in [
            ("lost_pairs <= 0", Verdict::Holds),
            ("lost_pairs=0", Verdict::Holds),
            ("lost_pairs > 0", Verdict::Fails),
            ("edge_forwarding_index.max <= 12.5", Verdict::Holds),
            ("edge_forwarding_index.max < 12.5", Verdict::Fails),
            ("deadlock_free", Verdict::Holds),
            ("not deadlock_free", Verdict::Fails),
            ("deadlock_free == true", Verdict::Holds),
            ("deadlock_free != yes", Verdict::Fails),
            ("after.hotspots < before.hotspots", Verdict::Holds),
            ("before.hotspots <= after.hotspots", Verdict::Fails),
            ("after.hotspots <= 0.5 * before.hotspots", Verdict::Holds),
            ("after.hotspots <= 0.49*before.hotspots", Verdict::Fails),
            ("lost_pairs <= 2 * unsaid", Verdict::Unknown),
            ("unsaid", Verdict::Unknown),
            ("not unsaid", Verdict::Unknown),
            ("unsaid <= 3", Verdict::Unknown),
            ("later <= 3", Verdict::NotRehearsed),
            ("other <= 3", Verdict::NotYet),
        ] {
            assert_eq!(Guard::parse(1, text).unwrap().judge(&values), verdict, "{text}");
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
            assert_eq!(Guard::parse(1, wrong).is_ok(), named, "{wrong}");
        }
    }
}
