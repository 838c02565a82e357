//! A field is described once: id, title, unit, kind, meaning and how a row yields it. Tables, filters, sorting and
//! JSON all follow from that description.

use std::borrow::Cow;

use super::{Kind, Look, Value};

/// What is known of a field without any row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The word in `--fields`, `--filter`, `--sort` and the key in JSON.
    pub id: Cow<'static, str>,
    /// The heading of its column.
    pub title: Cow<'static, str>,
    /// `Mbit/s` and the like; empty for plain counts and words.
    pub unit: &'static str,
    pub kind: Kind,
    /// What it means, in one line.
    pub about: Cow<'static, str>,
    /// All texts that a field of texts can hold, where these are known; empty otherwise.
    pub words: &'static [&'static str],
    /// Whether a table shows it when nobody asked for particular fields.
    pub shown: bool,
    /// Whether a table that would not show it does so when some row says yes, or counts something.
    pub when_yes: bool,
    /// Whether a table that would not show it does so when some row has it.
    pub when_known: bool,
    /// Whether it tells two switches of one name apart, and a table shows it where there are such.
    pub tells_apart: bool,
    /// Whether an order by it begins with the largest, where nobody says: of errors and loads these matter.
    pub largest_first: bool,
    /// Whether a console shows it in thousands, millions and so on, for it to have room; what is printed has all digits.
    pub scaled: bool,
    /// Whether a table does without it before it does without others, where a terminal is too narrow for all.
    pub spare: bool,
}

impl Column {
    /// One that a table shows.
    pub const fn new(
        id: Cow<'static, str>,
        title: Cow<'static, str>,
        kind: Kind,
        about: Cow<'static, str>,
    ) -> Self {
        Self {
            id,
            title,
            unit: "",
            kind,
            about,
            words: &[],
            shown: true,
            when_yes: false,
            when_known: false,
            tells_apart: false,
            largest_first: false,
            scaled: false,
            spare: false,
        }
    }
}

/// A field of rows of one type.
#[derive(Clone, Debug)]
pub struct Field<R> {
    pub column: Column,
    pub value: for<'l> fn(&'l Look, R) -> Value<'l>,
}

impl<R> Field<R> {
    pub const fn new(
        id: &'static str,
        title: &'static str,
        kind: Kind,
        about: &'static str,
        value: for<'l> fn(&'l Look, R) -> Value<'l>,
    ) -> Self {
        let (id, title, about) = (Cow::Borrowed(id), Cow::Borrowed(title), Cow::Borrowed(about));
        Self { column: Column::new(id, title, kind, about), value }
    }

    /// Only on request in tables; always in JSON.
    pub const fn on_request(mut self) -> Self {
        self.column.shown = false;
        self
    }

    /// In tables only when some row says yes; always in JSON.
    pub const fn when_yes(mut self) -> Self {
        self.column.shown = false;
        self.column.when_yes = true;
        self
    }

    /// In tables only when some row has it; always in JSON.
    pub const fn when_known(mut self) -> Self {
        self.column.shown = false;
        self.column.when_known = true;
        self
    }

    /// In tables only when two switches bear one name; always in JSON.
    pub const fn when_alike(mut self) -> Self {
        self.column.shown = false;
        self.column.tells_apart = true;
        self
    }

    /// The first to go where a terminal is too narrow.
    pub const fn spare(mut self) -> Self {
        self.column.spare = true;
        self
    }

    /// In thousands, millions and so on where there is little room.
    pub const fn scaled(mut self) -> Self {
        self.column.scaled = true;
        self
    }

    /// Ordered with the largest first.
    pub const fn largest_first(mut self) -> Self {
        self.column.largest_first = true;
        self
    }

    pub const fn words(mut self, words: &'static [&'static str]) -> Self {
        self.column.words = words;
        self
    }

    pub const fn unit(mut self, unit: &'static str) -> Self {
        self.column.unit = unit;
        self
    }
}

/// Rows and columns of any view. A console draws a window of it, a script writes all of it; nothing is copied.
pub trait Listing {
    fn column_count(&self) -> usize;
    fn column(&self, at: usize) -> &Column;
    fn row_count(&self) -> usize;
    /// The value at a row and a column that exist.
    fn cell(&self, row: usize, column: usize) -> Value<'_>;
    /// Another name of a column that goes by none of the ids.
    fn known_as(&self, _name: &str) -> Option<usize> {
        None
    }
    /// Whether rows cannot be told apart without this column: two switches of the fabric bear one name.
    fn tells_apart(&self, _column: usize) -> bool {
        false
    }
    /// Whether a column of nothing but zeros tells a person nothing.
    fn dull_when_zero(&self, _column: usize) -> bool {
        false
    }
    /// What to say when there is no row at all.
    fn when_empty(&self) -> &str;
}

/// Rows of one type under their fields.
#[derive(Debug)]
pub struct Rows<'l, R: Clone + 'static> {
    pub look: &'l Look,
    pub fields: &'static [Field<R>],
    pub rows: Cow<'l, [R]>,
    pub when_empty: &'static str,
}

impl<R: Copy + 'static> Listing for Rows<'_, R> {
    fn column_count(&self) -> usize {
        self.fields.len()
    }

    fn column(&self, at: usize) -> &Column {
        &self.fields[at].column
    }

    fn row_count(&self) -> usize {
        self.rows.len()
    }

    fn cell(&self, row: usize, column: usize) -> Value<'_> {
        (self.fields[column].value)(self.look, self.rows[row])
    }

    fn tells_apart(&self, column: usize) -> bool {
        self.fields[column].column.tells_apart && self.look.names.has_alike_switches()
    }

    fn when_empty(&self) -> &str {
        self.when_empty
    }
}
