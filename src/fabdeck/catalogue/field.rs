//! A field is described once: id, title, unit, kind, meaning, and how a row yields its value. Tables,
//! filters, sorting and JSON follow from this description.

use std::borrow::Cow;

use super::snapshot::Snapshot;
use super::value::{FieldKind, Value};

/// What the values of a column are to a reader: it decides how they are written and cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColumnContent {
    #[default]
    Plain,
    /// Digits that are a name and no amount: a LID is written 12345, never 12,345.
    Identifier,
    /// The name of a node. A printed table cuts its middle, because both ends distinguish nodes. Names of elements are
    /// [`Self::Plain`], because they are typed into commands.
    NodeName,
    /// Words that the console never cuts.
    Keyword,
    /// Words that the console never cuts, in a column that is visible on any screen because it shows trouble.
    Status,
    /// The levels of the last sweeps, a digit for each. The console draws them as a strip.
    LevelHistory,
    /// The levels of several things at one time, a digit for each. The console draws them as a strip, each in its colour.
    Levels,
    /// A whole sentence. A printed table wraps it within its column.
    Sentence,
    /// A number that the console draws as a gauge too, as a share of the largest in the list.
    Gauge,
}

/// What a value says of its row. A screen shows it as a colour; the text of the value says the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    Warning,
    Danger,
    LinkDown,
    LinkDegraded,
    Marked,
}

/// Which values of a column have a tone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tones {
    #[default]
    None,
    /// These words, and counts that begin with one of them: `1 down, 2 marked` has the tone of `down`.
    Words(&'static [(&'static str, Tone)]),
    /// Every value but 0.
    NonZero(Tone),
    /// Every count but 0, where the errors of the row's element exceed their threshold.
    OverThreshold,
}

/// The part of a field's description that needs no row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The word in `--fields`, `--filter` and `--sort`, and the key in JSON.
    pub id: Cow<'static, str>,
    /// The heading of the column.
    pub title: Cow<'static, str>,
    /// The unit, such as `Mbit/s`; empty for plain counts and words.
    pub unit: &'static str,
    pub kind: FieldKind,
    /// The meaning of the field, in one line.
    pub about: Cow<'static, str>,
    /// All texts that the field can hold, where these are known; empty otherwise.
    pub words: &'static [&'static str],
    /// Whether a table shows the field by default.
    pub shown: bool,
    /// Whether a table also shows the field when some row has `yes` or a count above zero in it.
    pub when_yes: bool,
    /// Whether a table also shows the field when some row has a value for it.
    pub when_known: bool,
    /// The words that count as no value for `when_known`.
    pub unknown_words: &'static [&'static str],
    /// Whether the field distinguishes switches of one name; a table shows it where a fabric has such
    /// switches.
    pub tells_apart: bool,
    /// Whether sorting by the field starts with the largest value by default, as for errors and loads.
    pub largest_first: bool,
    /// Whether the console shows the field with a unit prefix (k, M, G) to save space; printed tables have
    /// all digits.
    pub scaled: bool,
    /// Whether a table omits this field first where a terminal is too narrow for all fields.
    pub spare: bool,
    /// Whether the console cuts names as far as possible before it hides this field.
    pub outranks_names: bool,
    /// A narrow console hides the column of the lowest rank first; the details show the same values, and the arrow keys
    /// lead to the column. A column without a rank stays.
    pub shed_rank: Option<u8>,
    pub tones: Tones,
    /// Whether the console draws the sign of its tone before a value: colour alone says nothing without colours.
    pub signed: bool,
    pub content: ColumnContent,
    /// The words that tables print for yes and no.
    pub flag_words: [&'static str; 2],
    /// The id of the column with the node, where this one has the number of a port.
    pub port_of: Option<&'static str>,
}

impl Column {
    /// Creates a column that a table shows by default.
    pub const fn new(
        id: Cow<'static, str>,
        title: Cow<'static, str>,
        kind: FieldKind,
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
            unknown_words: &[],
            tells_apart: false,
            largest_first: false,
            scaled: false,
            spare: false,
            outranks_names: false,
            shed_rank: None,
            tones: Tones::None,
            signed: false,
            content: ColumnContent::Plain,
            flag_words: ["yes", "no"],
            port_of: None,
        }
    }

    /// A value of it as a table prints it.
    pub fn in_words<'v>(&self, value: &'v Value<'_>) -> Cow<'v, str> {
        match value {
            Value::Flag(flag) => Cow::Borrowed(self.flag_words[usize::from(!flag)]),
            _ if self.content == ColumnContent::Identifier => value.display_text(),
            _ => value.in_groups(),
        }
    }

    /// The tone of a value. `over_threshold` says whether the errors of the row's element exceed their threshold.
    pub fn tone(&self, value: &Value<'_>, over_threshold: bool) -> Option<Tone> {
        match self.tones {
            Tones::None => None,
            Tones::Words(words) => {
                let text = value.display_text();
                let of = |text: &str| words.iter().find(|(word, _)| *word == text).map(|(_, tone)| *tone);
                of(&text).or_else(|| of(text.split(", ").next()?.split_once(' ')?.1))
            }
            Tones::NonZero(tone) => (!value.is_missing() && value.display_text() != "0").then_some(tone),
            Tones::OverThreshold => {
                (over_threshold && matches!(value, Value::Number(1..))).then_some(Tone::Warning)
            }
        }
    }
}

/// A field of rows of one type. A value needs the row and what all rows share, which mostly is the snapshot.
#[derive(Debug)]
pub struct Field<R, C = Snapshot> {
    pub column: Column,
    pub value: for<'l> fn(&'l C, &'l R) -> Value<'l>,
}

impl<R, C> Field<R, C> {
    pub const fn new(
        id: &'static str,
        title: &'static str,
        kind: FieldKind,
        about: &'static str,
        value: for<'l> fn(&'l C, &'l R) -> Value<'l>,
    ) -> Self {
        let (id, title, about) = (Cow::Borrowed(id), Cow::Borrowed(title), Cow::Borrowed(about));
        Self { column: Column::new(id, title, kind, about), value }
    }

    /// Shows the field in tables only on request; JSON always has it.
    pub const fn on_request(mut self) -> Self {
        self.column.shown = false;
        self
    }

    /// Shows the field in tables only when some row has `yes` in it; JSON always has it.
    pub const fn when_yes(mut self) -> Self {
        self.column.shown = false;
        self.column.when_yes = true;
        self
    }

    /// Shows the field in tables only when some row has a value for it; JSON always has it.
    pub const fn when_known(mut self) -> Self {
        self.column.shown = false;
        self.column.when_known = true;
        self
    }

    /// Shows the field in tables only when some row has another value than these words; JSON always has it.
    pub const fn when_other_than(mut self, words: &'static [&'static str]) -> Self {
        self.column.unknown_words = words;
        self.when_known()
    }

    /// Shows the field in tables only when two switches have one name; JSON always has it.
    pub const fn when_ambiguous(mut self) -> Self {
        self.column.shown = false;
        self.column.tells_apart = true;
        self
    }

    /// Omits the field first where a terminal is too narrow.
    pub const fn spare(mut self) -> Self {
        self.column.spare = true;
        self
    }

    /// Cuts names as far as possible before the console hides the field.
    pub const fn outranks_names(mut self) -> Self {
        self.column.outranks_names = true;
        self
    }

    /// Hides the field on a narrow console, the lowest rank first.
    pub const fn shed(mut self, rank: u8) -> Self {
        self.column.shed_rank = Some(rank);
        self
    }

    /// Gives these words of the field a tone.
    pub const fn toned(mut self, words: &'static [(&'static str, Tone)]) -> Self {
        self.column.tones = Tones::Words(words);
        self
    }

    /// Draws the sign of its tone before a value.
    pub const fn signed(mut self) -> Self {
        self.column.signed = true;
        self
    }

    /// Gives every value but 0 a tone.
    pub const fn toned_above_zero(mut self, tone: Tone) -> Self {
        self.column.tones = Tones::NonZero(tone);
        self
    }

    /// Warns where the errors of the row's element exceed their threshold.
    pub const fn toned_over_threshold(mut self) -> Self {
        self.column.tones = Tones::OverThreshold;
        self
    }

    /// The digits of the field are a name and no amount.
    pub const fn identifier(self) -> Self {
        self.content(ColumnContent::Identifier)
    }

    /// The field is the name of a node.
    pub const fn node_name(self) -> Self {
        self.content(ColumnContent::NodeName)
    }

    /// The words of the field are never cut.
    pub const fn keyword(self) -> Self {
        self.content(ColumnContent::Keyword)
    }

    /// The field shows trouble and is visible on any screen.
    pub const fn status(self) -> Self {
        self.content(ColumnContent::Status)
    }

    /// The field holds the levels of the last sweeps.
    pub const fn level_history(self) -> Self {
        self.content(ColumnContent::LevelHistory)
    }

    /// The field holds the levels of several things.
    pub const fn levels(self) -> Self {
        self.content(ColumnContent::Levels)
    }

    /// The field is a whole sentence.
    pub const fn sentence(self) -> Self {
        self.content(ColumnContent::Sentence)
    }

    /// The console draws the number as a gauge too.
    pub const fn gauge(self) -> Self {
        self.content(ColumnContent::Gauge)
    }

    /// Tables print these words for yes and no.
    pub const fn flag_words(mut self, yes: &'static str, no: &'static str) -> Self {
        self.column.flag_words = [yes, no];
        self
    }

    /// The field is the number of a port of the node in this column.
    pub const fn port_of(mut self, node: &'static str) -> Self {
        self.column.port_of = Some(node);
        self
    }

    const fn content(mut self, content: ColumnContent) -> Self {
        self.column.content = content;
        self
    }

    /// Shows the field with a unit prefix where space is short.
    pub const fn scaled(mut self) -> Self {
        self.column.scaled = true;
        self
    }

    /// Sorts by the field with the largest value first.
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

/// A port as the columns of a listing name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPort {
    /// The name of its node.
    pub node: String,
    pub number: u8,
}

/// Rows and columns of any view. The console draws a window of them and a script writes all of them, without
/// a copy.
pub trait Listing {
    fn column_count(&self) -> usize;
    fn column(&self, at: usize) -> &Column;
    fn row_count(&self) -> usize;
    /// The value in a row and a column; both must exist.
    fn cell(&self, row: usize, column: usize) -> Value<'_>;
    /// The value as the list of a screen shows it: the name of a host without its adapter where it has one.
    fn short_cell(&self, row: usize, column: usize) -> Value<'_> {
        self.cell(row, column)
    }
    /// The column that has this alias.
    fn find_alias(&self, _name: &str) -> Option<usize> {
        None
    }
    /// The port that a text names by its number or label: `leaf0[3]`, `leaf0[1/2/1]`.
    fn find_port(&self, _text: &str) -> Option<ListedPort> {
        None
    }
    /// Whether rows are ambiguous without this column, because two switches of the fabric have one name.
    fn is_distinguishing(&self, _column: usize) -> bool {
        false
    }
    /// Whether a table may hide this column when it holds only zeros.
    fn is_hidden_when_zero(&self, _column: usize) -> bool {
        false
    }
    /// The text to show when there is no row.
    fn empty_text(&self) -> &str;
}
