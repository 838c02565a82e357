//! Conditions over the rows of a table: their number, a filter that each fulfils, and aggregates of a field.

use super::guard::Bound;
use crate::catalogue::field::{Column, Listing};
use crate::catalogue::filter::Filter;
use crate::catalogue::query::Query;
use crate::catalogue::summary::count_words;
use crate::catalogue::value::Value;
use crate::operations::view_id::ViewId;

/// How a field of the filtered rows is aggregated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aggregate {
    Sum,
    Least,
    Most,
    Mean,
}

impl Aggregate {
    pub const ALL: &[(&str, Self)] =
        &[("sum", Self::Sum), ("min", Self::Least), ("max", Self::Most), ("mean", Self::Mean)];

    /// `None` if there is no row, or if a row has no value.
    fn of(self, numbers: &[f64]) -> Option<f64> {
        let least = |a: f64, b: f64| a.min(b);
        let most = |a: f64, b: f64| a.max(b);
        let sum: f64 = numbers.iter().sum();
        match self {
            Self::Sum => Some(sum),
            Self::Least => numbers.iter().copied().reduce(least),
            Self::Most => numbers.iter().copied().reduce(most),
            Self::Mean => (!numbers.is_empty()).then(|| sum / numbers.len() as f64),
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub enum RowClaim {
    /// Bounds the number of rows.
    Count(Bound),
    /// Each row passes this filter.
    Every(String),
    /// Bounds an aggregate of all rows: `efi <= 40`.
    Field(Aggregate, String, Bound),
}

/// A condition over the rows of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct RowCondition {
    pub line: usize,
    pub table: ViewId,
    pub filter: String,
    pub claims: Vec<RowClaim>,
}

/// Result of a condition.
#[derive(Clone, PartialEq, Debug)]
pub struct RowResult {
    pub rows: u64,
    /// Claims that do not hold; empty if all do.
    pub wrong: Vec<String>,
}

impl RowCondition {
    /// Whether a listing has the fields and values of the condition.
    pub fn check(&self, listing: &dyn Listing) -> Result<(), String> {
        Filter::parse(&self.filter, listing).map_err(|error| error.to_string())?;
        for claim in &self.claims {
            match claim {
                RowClaim::Count(_) => {}
                RowClaim::Every(filter) => {
                    Filter::parse(filter, listing).map_err(|error| error.to_string())?;
                }
                RowClaim::Field(_, field, _) => {
                    self.column(field, listing)?;
                }
            }
        }
        Ok(())
    }

    /// Checks the fields before any listing exists. Only the source knows the columns of counters, so those pass.
    pub fn check_fields(&self) -> Result<(), String> {
        if self.table.has_source_columns() { Ok(()) } else { self.check(&ColumnHeads(self.table.columns())) }
    }

    /// Whether the condition uses this field.
    pub fn names(&self, field: &str) -> bool {
        let claims = self.claims.iter().filter_map(|claim| match claim {
            RowClaim::Count(_) => None,
            RowClaim::Every(text) | RowClaim::Field(_, text, _) => Some(text),
        });
        claims.chain([&self.filter]).any(|text| text.contains(field))
    }

    fn column(&self, field: &str, listing: &dyn Listing) -> Result<usize, String> {
        let query = Query { fields: Some(field.to_owned()), ..Query::default() };
        let named = query.named_columns(listing).map_err(|error| error.to_string())?;
        named.unwrap_or_default().first().copied().ok_or_else(|| format!("there is no field '{field}'"))
    }

    pub fn judge(&self, listing: &dyn Listing) -> Result<RowResult, String> {
        let filter = Filter::parse(&self.filter, listing).map_err(|error| error.to_string())?;
        let rows: Vec<usize> =
            (0..listing.row_count()).filter(|row| filter.matches_row(listing, *row)).collect();
        let mut wrong = Vec::new();
        for claim in &self.claims {
            match claim {
                RowClaim::Count(bound) if bound.holds(rows.len() as f64) => {}
                RowClaim::Count(_) => wrong.push(format!("found {}", count_words(rows.len(), "row", "rows"))),
                RowClaim::Every(every) => {
                    let every_row = Filter::parse(every, listing).map_err(|error| error.to_string())?;
                    let other = rows.iter().filter(|row| !every_row.matches_row(listing, **row)).count();
                    if other > 0 {
                        wrong.push(format!(
                            "'{every}' is not true for {other} of {}",
                            count_words(rows.len(), "row", "rows")
                        ));
                    }
                }
                RowClaim::Field(aggregate, field, bound) => {
                    let column = self.column(field, listing)?;
                    let numbers: Option<Vec<f64>> =
                        rows.iter().map(|row| number(&listing.cell(*row, column))).collect();
                    let word = word_of(*aggregate);
                    match numbers.as_deref().and_then(|numbers| aggregate.of(numbers)) {
                        Some(found) if bound.holds(found) => {}
                        Some(found) => wrong.push(format!("the {word} of {field} is {found}")),
                        None => wrong.push(format!("the {word} of {field} is not known")),
                    }
                }
            }
        }
        Ok(RowResult { rows: rows.len() as u64, wrong })
    }
}

fn word_of(aggregate: Aggregate) -> &'static str {
    Aggregate::ALL.iter().find(|(_, other)| *other == aggregate).map_or("", |(word, _)| word)
}

fn number(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Number(number) | Value::AtLeast(number) => Some(*number as f64),
        Value::Tenths(tenths) => Some(*tenths as f64 / 10.0),
        Value::Real(number) => Some(number.0),
        Value::Flag(flag) => Some(f64::from(u8::from(*flag))),
        _ => None,
    }
}

/// A listing with columns and no rows.
struct ColumnHeads(Vec<&'static Column>);

impl Listing for ColumnHeads {
    fn column_count(&self) -> usize {
        self.0.len()
    }

    fn column(&self, at: usize) -> &Column {
        self.0[at]
    }

    fn row_count(&self) -> usize {
        0
    }

    fn cell(&self, _: usize, _: usize) -> Value<'_> {
        Value::Missing
    }

    fn empty_text(&self) -> &str {
        ""
    }
}
