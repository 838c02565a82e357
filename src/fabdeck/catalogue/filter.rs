//! Filters: `leaf` (any field contains this text), `speed<EDR`, `name~leaf,degraded=yes`, `~spn` (a shown
//! text has these letters in this order), `leaf0[1/2/1]` (the row is about this port, which has a number or a label).
//! A comma means "and". Double quotes protect commas and operators: `"a=b"` is plain text, `name="rack 1, slot 2"` is
//! one condition.

use std::cmp::Ordering;

use super::field::{Column, ListedPort, Listing};
use super::value::{FieldKind, Value};
use fabdeck_fabric::{Guid, similar_words, suggest};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    #[error("FD-6001: no field is called '{id}' here{meant}; the fields are: {known}")]
    UnknownField { id: String, meant: String, known: String },
    #[error("FD-6002: '{text}' is no value of the field {id}; it holds {holds}")]
    BadValue { id: String, text: String, holds: String },
    #[error("FD-6003: '{0}' opens a quote and does not close it")]
    OpenQuote(String),
    #[error("FD-6004: '{0}' compares with nothing; give a value, or 'none' for unknown values")]
    NoValue(String),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operator {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Holds,
}

/// An operator stands before the shorter operators with which it begins.
const OPERATORS: &[(&str, Operator)] = &[
    ("!=", Operator::Unequal),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("==", Operator::Equal),
    ("=", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::Greater),
    ("~", Operator::Holds),
];

#[derive(Clone, PartialEq, Eq, Debug)]
enum Condition {
    /// Some field contains this text, ignoring case.
    Anywhere(String),
    /// Some field contains this text (possibly part of a GUID), the GUID as fields show it, or a name of the node
    /// with this GUID.
    Bearer { text: String, guid: String, names: Vec<String> },
    /// Some field contains this text, or the row is about this port: a text has its name (`leaf0[3]`), or columns have
    /// its node and its number.
    Port { text: String, name: String, port: ListedPort, columns: Vec<(usize, usize)> },
    /// Some text of a shown column has these letters in this order, ignoring case.
    Letters(String),
    /// The comparison of the field in this column with the value is true.
    Compare { column: usize, sign: Operator, value: Value<'static> },
    /// The text of the field in this column contains this text, ignoring case.
    Within { column: usize, text: String },
}

/// Conditions that must all be true.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filter {
    conditions: Vec<Condition>,
}

impl Filter {
    /// Reads a filter for the fields of a listing.
    pub fn parse(text: &str, listing: &dyn Listing) -> Result<Self, FilterError> {
        let mut conditions = Vec::new();
        for part in split_conditions(text)? {
            let part = part.trim();
            if !part.is_empty() {
                conditions.push(parse_condition(part, listing)?);
            }
        }
        Ok(Self { conditions })
    }

    /// Combines the conditions of both filters.
    pub fn and(mut self, other: Self) -> Self {
        self.conditions.extend(other.conditions);
        self
    }

    /// Adds the names of the node whose GUID the filter asks for, so that rows with the names match too.
    pub fn with_bearer_names(mut self, bearers: &[String]) -> Self {
        for condition in &mut self.conditions {
            if let Condition::Bearer { names, .. } = condition {
                names.extend(bearers.iter().cloned());
            }
        }
        self
    }

    /// Whether a condition names the field in this column.
    pub fn is_about(&self, at: usize) -> bool {
        self.conditions.iter().any(|condition| match condition {
            Condition::Compare { column, .. } | Condition::Within { column, .. } => *column == at,
            Condition::Anywhere(_)
            | Condition::Bearer { .. }
            | Condition::Port { .. }
            | Condition::Letters(_) => false,
        })
    }

    pub fn matches_row(&self, listing: &dyn Listing, row: usize) -> bool {
        self.conditions.iter().all(|condition| condition.matches_row(listing, row))
    }
}

impl Condition {
    fn matches_row(&self, listing: &dyn Listing, row: usize) -> bool {
        match self {
            Self::Anywhere(text) => has_text_anywhere(listing, row, text),
            Self::Port { text, name, port, columns } => {
                let has_both = |(node, number): &(usize, usize)| {
                    listing.cell(row, *number) == Value::Number(port.number.into())
                        && matches!(listing.cell(row, *node), Value::Text(text) if text == port.node.as_str())
                };
                has_text_anywhere(listing, row, text)
                    || columns.iter().any(has_both)
                    || (0..listing.column_count()).any(|at| has_whole_word(&listing.cell(row, at), name))
            }
            Self::Bearer { text, guid, names } => (0..listing.column_count()).any(|column| {
                let cell = listing.cell(row, column);
                contains_text(&cell, text)
                    || contains_text(&cell, guid)
                    || names.iter().any(|name| has_whole_word(&cell, name))
            }),
            Self::Letters(letters) => (0..listing.column_count()).any(|column| {
                let about = listing.column(column);
                let cell = || listing.cell(row, column);
                about.shown && about.kind == FieldKind::Text && has_letters(&cell(), letters)
            }),
            Self::Within { column, text } => contains_text(&listing.cell(row, *column), text),
            Self::Compare { column, sign, value } => compare(&listing.cell(row, *column), *sign, value),
        }
    }
}

/// Whether a field of a row contains a text, which is in lower case.
fn has_text_anywhere(listing: &dyn Listing, row: usize, text: &str) -> bool {
    (0..listing.column_count()).any(|column| contains_text(&listing.cell(row, column), text))
}

/// The columns with the names of nodes and the numbers of their ports, in pairs.
fn port_columns(listing: &dyn Listing) -> Vec<(usize, usize)> {
    let column_of = |id: &str| (0..listing.column_count()).find(|at| listing.column(*at).id == id);
    (0..listing.column_count()).filter_map(|at| Some((column_of(listing.column(at).port_of?)?, at))).collect()
}

/// Whether a value contains a text, which is in lower case.
fn contains_text(value: &Value<'_>, text: &str) -> bool {
    !value.is_missing() && contains_ignoring_case(&value.display_text(), text)
}

/// Whether a text contains another, ignoring case. ASCII is compared without a copy: a list of 100,000 rows
/// has a million texts.
fn contains_ignoring_case(found: &str, text: &str) -> bool {
    if !(found.is_ascii() && text.is_ascii()) {
        return found.to_lowercase().contains(text);
    }
    let text = text.as_bytes();
    text.is_empty() || found.as_bytes().windows(text.len()).any(|part| part.eq_ignore_ascii_case(text))
}

/// Whether a text contains this name as a whole: `node1` is in `node1 mlx5_0[1]`, but not in `node10`.
fn has_whole_word(value: &Value<'_>, name: &str) -> bool {
    let Value::Text(text) = value else { return false };
    let part_of_name = |sign: char| sign.is_alphanumeric() || "-_.".contains(sign);
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        !before.ends_with(part_of_name) && !after.starts_with(part_of_name)
    })
}

/// Parses a GUID in the notations of common tools: `0x2c90300001234` with a leading `0x`, or all 16 digits
/// with or without colons.
pub fn parse_typed_guid(text: &str) -> Option<Guid> {
    let text = text.trim();
    let plain: String = text.chars().filter(|sign| *sign != ':').collect();
    let long =
        plain.len() == 16 && (plain.len() == text.len() || text.split(':').all(|part| part.len() == 4));
    let marked = plain.len() >= 10 && plain.len() == text.len() && plain.to_lowercase().starts_with("0x");
    (long || marked).then(|| Guid::from_hex(&plain).ok())?
}

/// Whether a value has these lower-case letters in this order; other letters may be between them.
fn has_letters(value: &Value<'_>, letters: &str) -> bool {
    if value.is_missing() {
        return false;
    }
    let shown = value.display_text();
    let mut found = shown.chars().flat_map(char::to_lowercase);
    letters.chars().all(|letter| found.any(|sign| sign == letter))
}

/// Compares two values. A missing value is neither above nor below any value, and differs from every other
/// value.
fn compare(found: &Value<'_>, sign: Operator, wanted: &Value<'_>) -> bool {
    let equal = match (found, wanted) {
        // Natural order is for sorting; equality here needs identical texts.
        (Value::Text(a), Value::Text(b)) => a == b,
        _ => found.compare(wanted) == Ordering::Equal,
    };
    match sign {
        Operator::Equal => equal,
        Operator::Unequal => !equal,
        _ if found.is_missing() || wanted.is_missing() => false,
        Operator::Less => found.compare(wanted) == Ordering::Less,
        Operator::LessOrEqual => found.compare(wanted) != Ordering::Greater,
        Operator::Greater => found.compare(wanted) == Ordering::Greater,
        Operator::GreaterOrEqual => found.compare(wanted) != Ordering::Less,
        Operator::Holds => false,
    }
}

/// Splits a filter at commas outside quotes.
fn split_conditions(text: &str) -> Result<Vec<&str>, FilterError> {
    let mut parts = Vec::new();
    let (mut start, mut quoted) = (0, false);
    for (at, sign) in text.char_indices() {
        match sign {
            '"' => quoted = !quoted,
            ',' if !quoted => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    if quoted { Err(FilterError::OpenQuote(text.to_owned())) } else { Ok(parts) }
}

fn parse_condition(part: &str, listing: &dyn Listing) -> Result<Condition, FilterError> {
    if let Some(letters) = part.strip_prefix('~') {
        let letters = unquote(letters.trim()).to_lowercase();
        return match letters.is_empty() {
            true => Err(FilterError::NoValue(part.to_owned())),
            false => Ok(Condition::Letters(letters)),
        };
    }
    let word = part.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
    let (id, rest) = part.split_at(word);
    let sign = OPERATORS.iter().find(|(sign, _)| rest.trim_start().starts_with(sign));
    let (Some((written, sign)), false) = (sign, id.is_empty()) else {
        let typed = unquote(part);
        let text = typed.to_lowercase();
        return Ok(match (parse_typed_guid(&text), listing.find_port(typed)) {
            (Some(guid), _) => Condition::Bearer { text, guid: guid.to_string(), names: Vec::new() },
            (None, Some(port)) => {
                let name = format!("{}[{}]", port.node, port.number);
                Condition::Port { text, name, port, columns: port_columns(listing) }
            }
            (None, None) => Condition::Anywhere(text),
        });
    };
    let text = rest.trim_start()[written.len()..].trim();
    let column = find_column(id, listing)?;
    let about = listing.column(column);
    if text.is_empty() {
        return Err(FilterError::NoValue(part.to_owned()));
    }
    if *sign == Operator::Holds {
        return Ok(Condition::Within { column, text: unquote(text).to_lowercase() });
    }
    if text.eq_ignore_ascii_case("none") {
        return Ok(Condition::Compare { column, sign: *sign, value: Value::Missing });
    }
    let text = unquote(text);
    let value = match (about.words, sign) {
        ([], _)
        | (_, Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual) => {
            about.kind.parse(text)
        }
        (words, _) => words.iter().find(|word| word.eq_ignore_ascii_case(text)).map(|word| Value::text(word)),
    };
    let value = value.ok_or_else(|| bad_value(about, text))?;
    Ok(Condition::Compare { column, sign: *sign, value })
}

/// The index of the column with this id or alias.
pub(crate) fn find_column(id: &str, listing: &dyn Listing) -> Result<usize, FilterError> {
    let ids = || (0..listing.column_count()).map(|at| listing.column(at).id.as_ref());
    let exact = ids().position(|known| known.eq_ignore_ascii_case(id));
    exact.or_else(|| listing.find_alias(id)).ok_or_else(|| FilterError::UnknownField {
        id: id.to_owned(),
        meant: suggest(&similar_words(id, ids())),
        known: ids().collect::<Vec<_>>().join(", "),
    })
}

fn bad_value(column: &Column, text: &str) -> FilterError {
    let words = column.kind.words();
    let holds = match column.kind {
        _ if !words.is_empty() => words.join(", "),
        _ if !column.words.is_empty() => column.words.join(", "),
        FieldKind::Number => "whole numbers".to_owned(),
        FieldKind::Decimal | FieldKind::Real => "numbers".to_owned(),
        FieldKind::Flag => "yes or no".to_owned(),
        kind => kind.title().to_owned(),
    };
    FilterError::BadValue { id: column.id.to_string(), text: text.to_owned(), holds }
}

fn unquote(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}
