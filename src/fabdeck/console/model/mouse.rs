//! The mouse: its events, and what of a frame can be clicked. A frame lists what it drew at which place, and an event has what
//! was there. So a click means what the operator saw, and a replay needs no frame.

use serde::{Deserialize, Serialize};

use super::layout::Rect;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MouseAction {
    /// The left button is pressed, moved while it is pressed, and released.
    Press,
    Drag,
    Release,
    WheelUp,
    WheelDown,
}

/// An event of the mouse at a cell.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MouseInput {
    pub action: MouseAction,
    pub x: u16,
    pub y: u16,
    /// What the frame on the screen has there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<ShownTarget>,
}

/// What a frame has at a cell. The state may have moved on since the frame: then `screen` or `id` differ from what is there now,
/// and a click does nothing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ShownTarget {
    pub target: ClickTarget,
    /// The screen of the frame, by its word.
    pub screen: String,
    /// What the row, the switch, the cable or the cell stood for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// What can be clicked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClickTarget {
    /// The title of a screen, by the word of the screen.
    Screen(String),
    /// A row of the list of the pane there, by its place among the rows that the filter leaves.
    Row(usize),
    /// The heading of a column, by the id of its field.
    Heading(String),
    /// A switch or a cable of the drawn map, by its index in the fabric.
    Switch(u32),
    Cable(u32),
    /// A row and a column of the matrix of the map, or two groups of its ring.
    Cell(usize, usize),
    /// A slice of a torus, by its number.
    Slice(usize),
    /// A time of the charts, in milliseconds of the session.
    Time(i64),
    /// A key of the last row, by the word of its action.
    Key(String),
    /// A button of the dialog with this title, by the word on it.
    Button {
        title: String,
        word: String,
    },
    /// A risk of the dialog with this title, by its place.
    Risk {
        title: String,
        place: usize,
    },
    /// A row of the line that goes to anything, by its place, with its text.
    Found {
        place: usize,
        text: String,
    },
}

/// What of a frame can be clicked.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClickTargets {
    /// Whether the frame lists them: while the mouse is off, nothing is clicked.
    pub is_listed: bool,
    areas: Vec<(Rect, ShownTarget)>,
}

impl ClickTargets {
    pub fn add(&mut self, area: Rect, target: ClickTarget) {
        if self.is_listed && !area.is_empty() {
            self.areas.push((area, ShownTarget { target, screen: String::new(), id: None }));
        }
    }

    /// Names the screen, and what each target stands for; the name may depend on the cell at which the target begins.
    pub fn identify(&mut self, screen: &str, id: impl Fn((u16, u16), &ClickTarget) -> Option<String>) {
        for (area, shown) in &mut self.areas {
            screen.clone_into(&mut shown.screen);
            shown.id = id((area.x, area.y), &shown.target);
        }
    }

    /// Forgets what is behind a dialog.
    pub fn clear(&mut self) {
        self.areas.clear();
    }

    /// What was drawn last at a cell.
    pub fn at(&self, x: u16, y: u16) -> Option<&ShownTarget> {
        self.areas.iter().rev().find(|(area, _)| area.contains(x, y)).map(|(_, shown)| shown)
    }
}
