//! A row of a reproduction: headline, label, the paper's value, ours, relation and verdict.

use super::headline::{Headline, HeadlineRow, RowVerdict};
use crate::catalogue::field::Field;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::View;

/// A row with its verdict, as all forms of the output have it.
#[derive(Clone, PartialEq, Debug)]
pub struct ReproductionRow {
    pub id: &'static str,
    pub place: &'static str,
    pub label: String,
    pub paper: Option<String>,
    pub ours: Option<String>,
    pub relation: String,
    pub verdict: &'static str,
    pub must: bool,
    pub sample: Option<String>,
    pub why: Option<String>,
}

impl ReproductionRow {
    /// `times`: whether values that are times are written.
    pub fn new(headline: &Headline, row: &HeadlineRow, times: bool) -> Self {
        if row.is_time && !times {
            let row = HeadlineRow { ours: None, must: false, ..row.clone() };
            let row = HeadlineRow { why: Some("times are left out".to_owned()), is_time: false, ..row };
            return Self::new(headline, &row, times);
        }
        let verdict = row.verdict();
        let why = match &verdict {
            RowVerdict::CannotCompare(why) => Some(why.clone()),
            _ => row.why.clone(),
        };
        Self {
            id: headline.id,
            place: headline.place,
            label: row.label.clone(),
            paper: row.paper.as_ref().map(ToString::to_string),
            ours: row.ours.as_ref().map(ToString::to_string),
            relation: match row.paper.is_some() && row.ours.is_some() {
                true => row.relation.to_string(),
                false => String::new(),
            },
            verdict: verdict.word(),
            must: row.must,
            sample: row.sample.clone(),
            why,
        }
    }

    /// Whether the row must hold and does not.
    pub fn is_finding(&self) -> bool {
        self.must && !matches!(self.verdict, "holds" | "printed")
    }
}

type ReproductionField = Field<ReproductionRow, ()>;

/// The rows of a reproduction.
pub const REPRODUCTION: View<ReproductionRow, ()> = View::new(FIELDS, "no headline has a row");

/// Fields of a row: id, heading, kind, meaning, value, and what is done to them.
macro_rules! reproduction_fields {
    ($($id:ident $title:literal $kind:ident $about:literal $value:expr $(; $how:ident)?,)+) => {
        &[$(ReproductionField::new(stringify!($id), $title, FieldKind::$kind, $about, $value)$(.$how())?),+]
    };
}

static FIELDS: &[ReproductionField] = reproduction_fields! {
    id "ID" Text "headline, as `reproduce --list` names it" |(), row| Value::text(row.id),
    place "PLACE" Text "where it is in the paper" |(), row| Value::text(row.place); on_request,
    row "ROW" Text "what the values are of" |(), row| Value::text(&row.label),
    paper "PAPER" Text "value of the paper" |(), row| row.paper.as_deref().into(),
    ours "OURS" Text "value computed here" |(), row| row.ours.as_deref().into(),
    relation "RELATION" Text "how the two have to relate" |(), row| Value::text(&row.relation),
    verdict "VERDICT" Text "holds, differs, printed (nothing is claimed), or cannot be compared" |(), row| Value::text(row.verdict),
    must "MUST" Flag "whether the command ends with findings where the row does not hold" |(), row| Value::Flag(row.must),
    sample "SAMPLE" Text "seeds and samples that a value is taken over" |(), row| row.sample.as_deref().into(); when_known,
    why "WHY" Text "why it cannot be compared, or why the difference is known" |(), row| row.why.as_deref().into(); when_known,
};
