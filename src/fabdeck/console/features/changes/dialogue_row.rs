//! The rows of a dialog, above its buttons, and how texts are laid out in them.

use crate::console::drawing::canvas::width;
use crate::console::drawing::theme::Role;
use crate::operations::check::certificate_text::wrap_text;

/// A piece of text with its role.
pub type Piece = (String, Role);

/// Columns of the labels of a dialog, with their sign.
pub const LABEL_WIDTH: usize = 12;

/// Width of the checkbox before a risk: `[x] `.
pub const CHECKBOX_WIDTH: usize = 4;

/// A row of a dialog.
#[derive(Clone, PartialEq, Debug)]
pub enum DialogueRow {
    /// A heading, with a rule through the pane where it is `ruled`, and an amount at its right.
    Heading {
        title: &'static str,
        right: Option<Piece>,
        ruled: bool,
    },
    /// A label and its text; the label is empty where a text continues.
    Labelled {
        sign: DialogueSign,
        label: Piece,
        pieces: Vec<Piece>,
    },
    /// A share of all, with its text.
    Gauge {
        label: &'static str,
        share: f64,
        role: Role,
        text: String,
    },
    /// A row of a risk: its index, whether it is acknowledged, and a line of its text.
    Risk {
        at: usize,
        taken: bool,
        kind: RiskLine,
    },
    /// The upper half of a credit loop, with its channels; the lower half is the next row.
    Loop {
        channels: Vec<String>,
        upper: bool,
    },
    /// Charts of waiting and errors over this number of rows; the further ones are blank rows.
    Charts {
        rows: u16,
    },
    Blank,
}

/// The sign before a label, which says how much it matters without colours too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DialogueSign {
    None,
    Critical,
    Warning,
    Well,
    Unknown,
}

/// What a row of a risk shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RiskLine {
    /// The first line has the checkbox.
    Title(String),
    /// A further line of the title.
    More(String),
    Reason(String),
    /// Channels, each of which waits for the next. A further row `continues` the loop of the row above.
    Chain {
        names: Vec<String>,
        continues: bool,
    },
}

impl DialogueSign {
    pub fn role(self) -> Role {
        match self {
            Self::Critical => Role::Danger,
            Self::Warning => Role::Warning,
            Self::Well => Role::Good,
            Self::None | Self::Unknown => Role::Label,
        }
    }
}

/// The rows of a label and pieces of text. A piece that does not fit in the rest of a row begins the next one.
pub fn labelled(sign: DialogueSign, label: &str, pieces: Vec<Piece>, room: usize) -> Vec<DialogueRow> {
    let room = room.saturating_sub(LABEL_WIDTH + 1).max(1);
    let mut rows: Vec<Vec<Piece>> = vec![Vec::new()];
    let mut used = 0;
    for (text, role) in pieces {
        let wide = usize::from(width(&text));
        if used + wide <= room {
            used += wide;
            rows.last_mut().into_iter().for_each(|row| row.push((text.clone(), role)));
            continue;
        }
        for (at, line) in wrap_text(&text, room).into_iter().enumerate() {
            if at > 0 || used > 0 {
                rows.push(Vec::new());
            }
            used = usize::from(width(&line));
            rows.last_mut().into_iter().for_each(|row| row.push((line.clone(), role)));
        }
    }
    let row = |(at, pieces): (usize, Vec<Piece>)| {
        let (sign, label) = if at == 0 { (sign, label) } else { (DialogueSign::None, "") };
        DialogueRow::Labelled { sign, label: (label.to_owned(), sign.role()), pieces }
    };
    rows.into_iter().enumerate().map(row).collect()
}

/// The rows of a label and a plain text.
pub fn labelled_text(label: &str, text: impl Into<String>, room: usize) -> Vec<DialogueRow> {
    labelled(DialogueSign::None, label, vec![(text.into(), Role::Text)], room)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(rows: &[DialogueRow]) -> Vec<(String, String)> {
        let text = |row: &DialogueRow| match row {
            DialogueRow::Labelled { label, pieces, .. } => {
                (label.0.clone(), pieces.iter().map(|(text, _)| text.as_str()).collect())
            }
            other => (String::new(), format!("{other:?}")),
        };
        rows.iter().map(text).collect()
    }

    #[test]
    fn pieces_stay_whole_and_long_ones_continue() {
        let piece = |text: &str| (text.to_owned(), Role::Text);
        let room = LABEL_WIDTH + 1 + 10;
        let rows = labelled(DialogueSign::None, "jobs", vec![piece("83 loses "), piece("74 waits")], room);
        let pair = |label: &str, text: &str| (label.to_owned(), text.to_owned());
        assert_eq!(texts(&rows), [pair("jobs", "83 loses "), pair("", "74 waits")]);
        let rows = labelled_text("all", "packets under way", room);
        assert_eq!(texts(&rows), [pair("all", "packets"), pair("", "under way")]);
    }
}
