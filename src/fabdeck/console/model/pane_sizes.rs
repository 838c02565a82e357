//! The borders that the operator moved, and the panes that are zoomed.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::layout::BOX_MIN_SCREEN;
use super::tasks::TaskId;
use crate::console::features::screens::ScreenId;
use fabdeck_fabric::ElementId;

/// Least width of a screen with three columns of panes.
const WIDEST_MIN_SCREEN: u16 = 180;

/// Screens of about the same width. A border that was moved on one of them is there on the others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WidthClass {
    Narrow,
    Wide,
    Widest,
}

impl WidthClass {
    pub fn of(width: u16) -> Self {
        match width {
            WIDEST_MIN_SCREEN.. => Self::Widest,
            BOX_MIN_SCREEN.. => Self::Wide,
            _ => Self::Narrow,
        }
    }
}

/// The place of a border that was moved.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PaneSize {
    /// The word of the screen.
    pub screen: String,
    pub width: WidthClass,
    /// The word of the border.
    pub border: String,
    /// The share of the part before the border, in thousandths.
    pub share: u16,
}

impl PaneSize {
    pub fn is_of(&self, screen: &str, width: WidthClass) -> bool {
        self.screen == screen && self.width == width
    }
}

/// All borders that were moved.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PaneSizes(pub Vec<PaneSize>);

impl PaneSizes {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The share of the part before a border, where it was moved.
    pub fn share(&self, screen: &str, width: WidthClass, border: &str) -> Option<u16> {
        let mut sizes = self.0.iter().filter(|size| size.is_of(screen, width));
        sizes.find(|size| size.border == border).map(|size| size.share)
    }

    pub fn set_share(&mut self, screen: &str, width: WidthClass, border: &str, share: u16) {
        self.0.retain(|size| !size.is_of(screen, width) || size.border != border);
        let (screen, border) = (screen.to_owned(), border.to_owned());
        self.0.push(PaneSize { screen, width, border, share });
    }

    /// Forgets the borders of a screen. Returns whether one was moved.
    pub fn reset(&mut self, screen: &str, width: WidthClass) -> bool {
        let before = self.0.len();
        self.0.retain(|size| !size.is_of(screen, width));
        self.0.len() < before
    }
}

/// What the details of a screen stay on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PinnedDetail {
    Element(ElementId),
    /// A row with details of its own. Its place is `None` while the list does not have it.
    Row {
        key: String,
        row: Option<usize>,
    },
}

/// A border that the mouse moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DraggedBorder {
    pub screen: ScreenId,
    /// The word of the border.
    pub word: &'static str,
    /// Columns or rows from the mouse to the end of the part before the border.
    pub offset: i32,
}

/// The panes of a session.
#[derive(Clone, Debug, Default)]
pub struct PaneState {
    pub sizes: PaneSizes,
    /// The screens whose pane with the keys has the whole body.
    pub zoomed: BTreeSet<ScreenId>,
    /// The panes that were given the keys, where a screen has no rows in them to move.
    pub focused: BTreeMap<ScreenId, &'static str>,
    /// The first visible line of the details while their pane has the keys.
    pub detail_top: usize,
    /// The pinned details.
    pub pins: BTreeMap<ScreenId, PinnedDetail>,
    /// The screens and widths whose sizes are not kept yet.
    pub unkept: BTreeSet<(ScreenId, WidthClass)>,
    /// The border that the mouse moves.
    pub dragged: Option<DraggedBorder>,
    /// The task that keeps sizes.
    pub task: Option<TaskId>,
}
