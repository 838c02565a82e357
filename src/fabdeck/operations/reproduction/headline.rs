//! A headline: a table or a figure of a paper, with the function that computes its rows anew.

use std::fmt;

use super::headline_run::{HeadlineRun, HeadlineStop};

/// A table or figure of a paper.
#[derive(Clone, Copy, Debug)]
pub struct Headline {
    /// The name in commands: paper and place, `opt-II`.
    pub id: &'static str,
    /// Where it is in the paper.
    pub place: &'static str,
    /// What it shows, in one line.
    pub shows: &'static str,
    /// The inputs here: names of fabrics, engines, studies, patterns.
    pub inputs: &'static str,
    pub work: HeadlineWork,
}

/// How the rows of a headline come to be.
#[derive(Clone, Copy, Debug)]
pub enum HeadlineWork {
    Rows(fn(&HeadlineRun<'_>) -> HeadlineRows),
    /// The paper's values are those of hardware or logs that only its authors have.
    Impossible(&'static str),
}

pub type HeadlineRows = Result<Vec<HeadlineRow>, HeadlineStop>;

/// A number, or words: an order, a letter of a table, a list.
#[derive(Clone, PartialEq, Debug)]
pub enum HeadlineValue {
    Number(f64),
    Words(String),
}

impl fmt::Display for HeadlineValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(words) => f.write_str(words),
            Self::Number(number) if number.fract() == 0.0 && number.abs() < 1e15 => write!(f, "{number:.0}"),
            // Four significant digits, without an exponent.
            Self::Number(number) => {
                let short = format!("{number:.3e}").parse().unwrap_or(*number);
                write!(f, "{short}")
            }
        }
    }
}

macro_rules! number_values {
    ($($type:ty),+) => {
        $(impl From<$type> for HeadlineValue {
            fn from(number: $type) -> Self {
                Self::Number(number as f64)
            }
        })+
    };
}

number_values!(f64, u64, u32, u8, usize, i64);

impl From<&str> for HeadlineValue {
    fn from(words: &str) -> Self {
        Self::Words(words.to_owned())
    }
}

impl From<String> for HeadlineValue {
    fn from(words: String) -> Self {
        Self::Words(words)
    }
}

/// How the value here has to relate to the paper's.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum HeadlineRelation {
    Equal,
    /// Within this share of the paper's value, in percent.
    Within(f64),
    SameSign,
    /// The same order, written as words: `sftree > lash`.
    SameOrder,
    /// At least this value, whatever the paper's is.
    AtLeast(f64),
    AtMost(f64),
    Between(f64, f64),
    /// Both values are printed, and nothing is claimed.
    Printed,
}

impl fmt::Display for HeadlineRelation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal => f.write_str("equal"),
            Self::Within(percent) => write!(f, "within {percent} %"),
            Self::SameSign => f.write_str("same sign"),
            Self::SameOrder => f.write_str("same order"),
            Self::AtLeast(least) => write!(f, "at least {}", HeadlineValue::from(*least)),
            Self::AtMost(most) => write!(f, "at most {}", HeadlineValue::from(*most)),
            Self::Between(least, most) => {
                write!(f, "{} to {}", HeadlineValue::from(*least), HeadlineValue::from(*most))
            }
            Self::Printed => f.write_str("for reading"),
        }
    }
}

impl HeadlineRelation {
    /// Whether the relation holds; `None` if the values are of kinds that it does not relate.
    fn holds(self, paper: &HeadlineValue, ours: &HeadlineValue) -> Option<bool> {
        use HeadlineValue::Number;
        match (self, paper, ours) {
            (Self::Equal, Number(paper), Number(ours)) => Some((paper - ours).abs() < 1e-9),
            (Self::Equal | Self::SameOrder, paper, ours) => Some(paper == ours),
            (Self::Within(percent), Number(paper), Number(ours)) => {
                Some((ours - paper).abs() <= paper.abs() * percent / 100.0)
            }
            (Self::SameSign, Number(paper), Number(ours)) => {
                Some(paper.partial_cmp(&0.0) == ours.partial_cmp(&0.0))
            }
            (Self::AtLeast(least), _, Number(ours)) => Some(*ours >= least),
            (Self::AtMost(most), _, Number(ours)) => Some(*ours <= most),
            (Self::Between(least, most), _, Number(ours)) => Some((least..=most).contains(ours)),
            (Self::Printed, ..) => Some(true),
            _ => None,
        }
    }
}

/// Whether a row of the paper holds here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RowVerdict {
    Holds,
    Differs,
    /// Both values are printed, and no relation is claimed.
    Printed,
    CannotCompare(String),
}

impl RowVerdict {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Differs => "differs",
            Self::Printed => "printed",
            Self::CannotCompare(_) => "cannot be compared",
        }
    }
}

/// A value of the paper beside ours.
#[derive(Clone, PartialEq, Debug)]
pub struct HeadlineRow {
    pub label: String,
    pub paper: Option<HeadlineValue>,
    pub ours: Option<HeadlineValue>,
    pub relation: HeadlineRelation,
    /// Whether the command ends with findings where the relation does not hold.
    pub must: bool,
    /// What a value is taken over, such as `3 of 10 seeds`.
    pub sample: Option<String>,
    /// Why there is nothing to compare, or why a difference is known and right.
    pub why: Option<String>,
    /// Whether the value here is a time, which differs from run to run.
    pub is_time: bool,
}

impl HeadlineRow {
    /// A row whose relation must hold.
    pub fn must(
        label: impl Into<String>,
        paper: impl Into<HeadlineValue>,
        ours: impl Into<HeadlineValue>,
        relation: HeadlineRelation,
    ) -> Self {
        Self { must: true, ..Self::may(label, paper, ours, relation) }
    }

    /// A row that is compared, and may differ.
    pub fn may(
        label: impl Into<String>,
        paper: impl Into<HeadlineValue>,
        ours: impl Into<HeadlineValue>,
        relation: HeadlineRelation,
    ) -> Self {
        Self {
            label: label.into(),
            paper: Some(paper.into()),
            ours: Some(ours.into()),
            relation,
            must: false,
            sample: None,
            why: None,
            is_time: false,
        }
    }

    /// A row without a value here, or without one in the paper.
    pub fn without(label: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            paper: None,
            ours: None,
            relation: HeadlineRelation::Printed,
            must: false,
            sample: None,
            why: Some(why.into()),
            is_time: false,
        }
    }

    /// A value of the paper to which there is none here.
    pub fn missing(
        label: impl Into<String>,
        paper: impl Into<HeadlineValue>,
        why: impl Into<String>,
    ) -> Self {
        Self { paper: Some(paper.into()), ..Self::without(label, why) }
    }

    #[must_use]
    pub fn over(self, sample: impl Into<String>) -> Self {
        Self { sample: Some(sample.into()), ..self }
    }

    #[must_use]
    pub fn because(self, why: impl Into<String>) -> Self {
        Self { why: Some(why.into()), ..self }
    }

    #[must_use]
    pub fn mark_as_time(self) -> Self {
        Self { is_time: true, ..self }
    }

    pub fn verdict(&self) -> RowVerdict {
        let why = |words: &str| self.why.clone().unwrap_or_else(|| words.to_owned());
        let (Some(paper), Some(ours)) = (&self.paper, &self.ours) else {
            return RowVerdict::CannotCompare(why("there is no value"));
        };
        match self.relation.holds(paper, ours) {
            Some(true) if self.relation == HeadlineRelation::Printed => RowVerdict::Printed,
            Some(true) => RowVerdict::Holds,
            Some(false) => RowVerdict::Differs,
            None => RowVerdict::CannotCompare(why("the values are not of one kind")),
        }
    }
}

/// Values in falling order as words: `a > b = c`. Values within `tolerance` of each other are equal and keep their order.
pub fn order_words(values: &[(&str, f64)], tolerance: f64) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut words = String::new();
    for (at, (name, value)) in sorted.iter().enumerate() {
        if let Some((_, before)) = at.checked_sub(1).and_then(|before| sorted.get(before)) {
            let is_equal = (before - value).abs() <= before.abs() * tolerance;
            words.push_str(if is_equal { " = " } else { " > " });
        }
        words.push_str(name);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(
        paper: impl Into<HeadlineValue>,
        ours: impl Into<HeadlineValue>,
        relation: HeadlineRelation,
    ) -> &'static str {
        HeadlineRow::may("row", paper, ours, relation).verdict().word()
    }

    #[test]
    fn relations_hold_at_their_bounds_and_differ_beyond() {
        use HeadlineRelation::*;
        let cases = [
            (verdict(3u64, 3u64, Equal), "holds"),
            (verdict(3u64, 4u64, Equal), "differs"),
            (verdict(100u64, 95u64, Within(5.0)), "holds"),
            (verdict(100u64, 94u64, Within(5.0)), "differs"),
            (verdict(23.3, 0.1, SameSign), "holds"),
            (verdict(-0.6, 36.7, SameSign), "differs"),
            (verdict("a > b", "a > b", SameOrder), "holds"),
            (verdict("a > b", "b > a", SameOrder), "differs"),
            (verdict("+150 %", 2.0, AtLeast(2.0)), "holds"),
            (verdict("+150 %", 1.99, AtLeast(2.0)), "differs"),
            (verdict("60", 66u64, AtMost(66.0)), "holds"),
            (verdict(1u64, 7u64, Printed), "printed"),
            (verdict("x", 7u64, Within(5.0)), "cannot be compared"),
        ];
        for (at, (found, wanted)) in cases.into_iter().enumerate() {
            assert_eq!(found, wanted, "case {at}");
        }
        assert_eq!(HeadlineRow::missing("row", 1u64, "a log").verdict().word(), "cannot be compared");
    }

    #[test]
    fn values_are_short_and_orders_name_ties() {
        assert_eq!(HeadlineValue::from(0.333_333).to_string(), "0.3333");
        assert_eq!(HeadlineValue::from(12_575u64).to_string(), "12575");
        assert_eq!(HeadlineValue::from(1_234.56).to_string(), "1235");
        assert_eq!(order_words(&[("a", 1.0), ("b", 3.0), ("c", 2.99)], 0.01), "b = c > a");
    }
}
