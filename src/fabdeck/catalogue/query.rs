//! Queries: the wanted rows and columns of a listing, and their order.

use std::cmp::Ordering;

use super::field::Listing;
use super::filter::{Filter, FilterError, find_column};
use super::value::Value;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    #[error(transparent)]
    Filter(#[from] FilterError),
    #[error("FD-6005: '{0}' is no order; write FIELD, FIELD:desc or -FIELD")]
    Order(String),
    #[error("FD-6006: no field is named; write ids with commas between, or 'help' for a list")]
    NoFields,
}

/// The default columns of a query that names none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Columns {
    /// The columns that a table shows.
    Shown,
    All,
}

/// A query as the operator typed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    pub filters: Vec<String>,
    /// Ids, separated by commas.
    pub fields: Option<String>,
    /// Fields, separated by commas; `:desc` or a leading `-` reverses the order.
    pub sort: Option<String>,
    pub top: Option<usize>,
    /// Names of the node whose GUID a filter asks for, for rows without a GUID field.
    pub names: Vec<String>,
}

/// The answer to a query: rows and columns as indexes into the listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    pub rows: Vec<usize>,
    pub columns: Vec<usize>,
    /// Number of rows before the filter.
    pub of: usize,
}

impl Query {
    pub fn select(&self, listing: &dyn Listing, default: Columns) -> Result<Selection, QueryError> {
        let named = self.named_columns(listing)?;
        let orders = self.parse_orders(listing)?;
        let mut filter = Filter::default();
        for text in &self.filters {
            filter = filter.and(Filter::parse(text, listing)?);
        }
        let filter = filter.with_bearer_names(&self.names);
        let of = listing.row_count();
        let mut rows: Vec<usize> = (0..of).filter(|row| filter.matches_row(listing, *row)).collect();
        if !orders.is_empty() {
            rows = sort_rows(listing, &rows, &orders);
        }
        rows.truncate(self.top.unwrap_or(usize::MAX));
        let columns = named.unwrap_or_else(|| default_columns(listing, default, &rows, &filter));
        Ok(Selection { rows, columns, of })
    }

    /// Checks that the listing can answer the query.
    pub fn check(&self, listing: &dyn Listing) -> Result<(), QueryError> {
        self.named_columns(listing)?;
        self.parse_orders(listing)?;
        self.filters.iter().try_for_each(|text| Ok(Filter::parse(text, listing).map(drop)?))
    }

    /// The columns that the query names, if it names any.
    pub(crate) fn named_columns(&self, listing: &dyn Listing) -> Result<Option<Vec<usize>>, QueryError> {
        let Some(fields) = &self.fields else { return Ok(None) };
        let mut columns = Vec::new();
        for id in fields.split(',').map(str::trim).filter(|id| !id.is_empty()) {
            let at = find_column(id, listing)?;
            // A field that is named twice appears once, because a JSON object has each key once.
            if !columns.contains(&at) {
                columns.push(at);
            }
        }
        if columns.is_empty() { Err(QueryError::NoFields) } else { Ok(Some(columns)) }
    }

    fn parse_orders(&self, listing: &dyn Listing) -> Result<Vec<SortKey>, QueryError> {
        let keys = self.sort.as_deref().unwrap_or_default().split(',').map(str::trim);
        keys.filter(|key| !key.is_empty()).map(|key| parse_sort_key(key, listing)).collect()
    }
}

/// The columns of a table: those that it always shows, those that say something here, and those that the filter is about.
fn default_columns(listing: &dyn Listing, default: Columns, rows: &[usize], filter: &Filter) -> Vec<usize> {
    let yes = |value| matches!(value, Value::Flag(true) | Value::Number(1..));
    let says_yes = |at| rows.iter().any(|row| yes(listing.cell(*row, at)));
    let known = |at| {
        let unknown = listing.column(at).unknown_words;
        let is_known =
            |value: Value<'_>| !value.is_missing() && !unknown.contains(&value.display_text().as_ref());
        rows.iter().any(|row| is_known(listing.cell(*row, at)))
    };
    let wanted = |at: &usize| {
        let column = listing.column(*at);
        let shown = column.shown
            || listing.is_distinguishing(*at)
            || (column.when_yes && says_yes(*at))
            || (column.when_known && known(*at))
            || filter.is_about(*at);
        default == Columns::All || shown
    };
    (0..listing.column_count()).filter(wanted).collect()
}

#[derive(Clone, Copy)]
struct SortKey {
    column: usize,
    descending: bool,
}

fn parse_sort_key(key: &str, listing: &dyn Listing) -> Result<SortKey, QueryError> {
    let (id, descending) = match (key.strip_prefix('-'), key.rsplit_once(':')) {
        (Some(id), _) => (id, Some(true)),
        (None, Some((id, "desc"))) => (id, Some(true)),
        (None, Some((id, "asc"))) => (id, Some(false)),
        (None, Some(_)) => return Err(QueryError::Order(key.to_owned())),
        (None, None) => (key, None),
    };
    let column = find_column(id, listing)?;
    Ok(SortKey { column, descending: descending.unwrap_or_else(|| listing.column(column).largest_first) })
}

/// Sorts rows. Equal rows keep the order of the listing, which is canonical.
fn sort_rows(listing: &dyn Listing, rows: &[usize], orders: &[SortKey]) -> Vec<usize> {
    let keys = |row: usize| -> Vec<Value<'_>> {
        orders.iter().map(|order| listing.cell(row, order.column)).collect()
    };
    let mut keyed: Vec<(Vec<Value<'_>>, usize)> = rows.iter().map(|row| (keys(*row), *row)).collect();
    keyed.sort_by(|(a, _), (b, _)| {
        let each = a.iter().zip(b).zip(orders);
        each.map(|((a, b), order)| compare(a, b, order.descending))
            .find(|order| *order != Ordering::Equal)
            .unwrap_or(Ordering::Equal)
    });
    keyed.into_iter().map(|(_, row)| row).collect()
}

/// Compares two values for sorting. A missing value comes last in both directions, so it is never at the top.
fn compare(a: &Value<'_>, b: &Value<'_>, descending: bool) -> Ordering {
    if descending && !a.is_missing() && !b.is_missing() { b.compare(a) } else { a.compare(b) }
}
