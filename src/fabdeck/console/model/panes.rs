//! The panes of a screen. A screen describes how its area is split; where each pane is follows from that, from the
//! borders that the operator moved, and from the zoom. Drawing, pages of rows and borders use the same places.
//!
//! ```text
//! rows ┬ charts
//!      └ rows ┬ problems
//!             └ columns ┬ jobs
//!                       └ events
//! ```

use super::layout::Rect;

/// The main pane of a screen, which has the keys unless the screen says otherwise.
pub const BODY: &str = "body";
/// The pane of the details beside it.
pub const DETAILS: &str = "details";

/// Least columns of a pane beside another one, and least rows of a pane with its border.
pub const LEAST_COLUMNS: u16 = 20;
pub const LEAST_ROWS: u16 = 4;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SplitDirection {
    /// One part left of the other.
    Columns,
    /// One part above the other.
    Rows,
}

/// How an area is split into panes, from the outside in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PaneTree {
    Pane(&'static str),
    Split(Box<PaneSplit>),
}

/// The panes of a screen, below rows that stay when a pane is zoomed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PanePlan {
    pub head_rows: u16,
    pub tree: PaneTree,
}

impl From<PaneTree> for PanePlan {
    fn from(tree: PaneTree) -> Self {
        Self { head_rows: 0, tree }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PaneSplit {
    /// The word of the border; each border of a screen has its own. `None` for a border that does not move.
    pub border: Option<&'static str>,
    pub direction: SplitDirection,
    /// Columns or rows of the first part while the border was not moved.
    pub first: u16,
    /// Least columns or rows of the parts where the border is moved.
    pub least: [u16; 2],
    pub parts: [PaneTree; 2],
}

impl PaneTree {
    /// Two parts beside each other; the first one has this many columns.
    pub fn columns(border: &'static str, first: u16, parts: [Self; 2]) -> Self {
        Self::Split(Box::new(PaneSplit {
            border: Some(border),
            direction: SplitDirection::Columns,
            first,
            least: [LEAST_COLUMNS; 2],
            parts,
        }))
    }

    /// Two parts, one above the other; the first one has this many rows.
    pub fn rows(border: &'static str, first: u16, parts: [Self; 2]) -> Self {
        Self::Split(Box::new(PaneSplit {
            border: Some(border),
            direction: SplitDirection::Rows,
            first,
            least: [LEAST_ROWS; 2],
            parts,
        }))
    }

    /// Two parts, one above the other, with a border that does not move.
    pub fn fixed_rows(first: u16, parts: [Self; 2]) -> Self {
        Self::rows("", first, parts).with_least([0; 2]).without_border()
    }

    /// The split with other least sizes of its parts.
    pub fn with_least(mut self, least: [u16; 2]) -> Self {
        if let Self::Split(split) = &mut self {
            split.least = least;
        }
        self
    }

    fn without_border(mut self) -> Self {
        if let Self::Split(split) = &mut self {
            split.border = None;
        }
        self
    }

    pub fn has(&self, pane: &str) -> bool {
        match self {
            Self::Pane(name) => *name == pane,
            Self::Split(split) => split.parts.iter().any(|part| part.has(pane)),
        }
    }
}

/// A border and the places of its parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlacedBorder {
    pub word: &'static str,
    pub direction: SplitDirection,
    /// Both parts.
    pub area: Rect,
    /// Columns or rows of the first part.
    pub first: u16,
    pub least: [u16; 2],
    /// The panes of both parts, by their places in the list of panes.
    panes: (usize, usize),
}

impl PlacedBorder {
    /// Columns or rows of both parts.
    pub fn length(&self) -> u16 {
        match self.direction {
            SplitDirection::Columns => self.area.width,
            SplitDirection::Rows => self.area.height,
        }
    }

    /// The size of the first part with the border moved to there; both parts keep their least sizes. `None` where they
    /// have no room for them.
    pub fn limited(&self, first: u16) -> Option<u16> {
        limit_first(first, self.length(), self.least)
    }

    /// Whether a cell belongs to the border: the last line of the first part, or the first line of the second one.
    pub fn contains(&self, x: u16, y: u16) -> bool {
        let (at, from) = match self.direction {
            SplitDirection::Columns => (x, self.area.x),
            SplitDirection::Rows => (y, self.area.y),
        };
        let middle = from + self.first;
        self.area.contains(x, y) && (at + 1 == middle || at == middle)
    }
}

fn limit_first(first: u16, length: u16, [first_least, second_least]: [u16; 2]) -> Option<u16> {
    let most = length.checked_sub(second_least)?;
    (first_least <= most).then(|| first.clamp(first_least, most))
}

/// The places of the panes of a screen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PlacedPanes {
    /// The rows above the panes.
    pub head: Rect,
    panes: Vec<(&'static str, Rect)>,
    borders: Vec<PlacedBorder>,
    /// The pane that has all of the area.
    zoomed: Option<&'static str>,
    whole: Rect,
}

impl PlacedPanes {
    /// Places the panes of a plan. `moved` gives the share of the first part, in thousandths, for the word of a border
    /// that the operator moved. A zoomed pane has the whole area, and the others have none.
    pub fn new(
        plan: &PanePlan,
        area: Rect,
        moved: &dyn Fn(&str) -> Option<u16>,
        zoomed: Option<&'static str>,
    ) -> Self {
        let (head, whole) = area.split_rows(plan.head_rows);
        let zoomed = zoomed.filter(|pane| plan.tree.has(pane));
        let mut placed = Self { head, whole, zoomed, ..Self::default() };
        placed.place(&plan.tree, whole, moved);
        placed
    }

    fn place(&mut self, tree: &PaneTree, area: Rect, moved: &dyn Fn(&str) -> Option<u16>) {
        let split = match tree {
            PaneTree::Pane(name) => return self.panes.push((*name, area)),
            PaneTree::Split(split) => split,
        };
        let length = match split.direction {
            SplitDirection::Columns => area.width,
            SplitDirection::Rows => area.height,
        };
        let chosen = split.border.and_then(moved).map(|share| from_share(share, length));
        let chosen = chosen.and_then(|first| limit_first(first, length, split.least));
        let first = chosen.unwrap_or(split.first).min(length);
        let (before, after) = match split.direction {
            SplitDirection::Columns => area.split_columns(first),
            SplitDirection::Rows => area.split_rows(first),
        };
        let from = self.panes.len();
        let [one, other] = &split.parts;
        self.place(one, before, moved);
        self.place(other, after, moved);
        if let Some(word) = split.border {
            let panes = (from, self.panes.len());
            let (direction, least) = (split.direction, split.least);
            self.borders.push(PlacedBorder { word, direction, area, first, least, panes });
        }
    }

    /// The place of a pane; empty for one that is not in sight.
    pub fn area(&self, pane: &str) -> Rect {
        match self.zoomed {
            Some(zoomed) if zoomed == pane => self.whole,
            Some(_) => Rect::default(),
            None => self.placed_area(pane),
        }
    }

    fn placed_area(&self, pane: &str) -> Rect {
        self.panes.iter().find(|(name, _)| *name == pane).map_or(Rect::default(), |(_, area)| *area)
    }

    /// Whether the screen has several panes, zoomed or not.
    pub fn are_several(&self) -> bool {
        self.panes.iter().filter(|(_, area)| !area.is_empty()).count() > 1
    }

    /// The panes that have room, in the order of the screen.
    pub fn names(&self) -> Vec<&'static str> {
        self.panes.iter().filter(|(_, area)| !area.is_empty()).map(|(name, _)| *name).collect()
    }

    pub fn is_zoomed(&self) -> bool {
        self.zoomed.is_some()
    }

    /// The border in this direction that is nearest to a pane; a zoomed pane has none.
    pub fn border_of(&self, pane: &str, direction: SplitDirection) -> Option<&PlacedBorder> {
        let at = self.panes.iter().position(|(name, _)| *name == pane)?;
        let around = |border: &&PlacedBorder| {
            border.direction == direction && (border.panes.0..border.panes.1).contains(&at)
        };
        let borders = self.borders.iter().filter(|_| !self.is_zoomed());
        borders.filter(around).min_by_key(|border| border.panes.1 - border.panes.0)
    }

    /// The border at a cell, the innermost one where several meet.
    pub fn border_at(&self, x: u16, y: u16) -> Option<&PlacedBorder> {
        let borders = self.borders.iter().filter(|_| !self.is_zoomed());
        borders.filter(|border| border.contains(x, y)).min_by_key(|border| border.panes.1 - border.panes.0)
    }

    /// The border with this word.
    pub fn border(&self, word: &str) -> Option<&PlacedBorder> {
        self.borders.iter().find(|border| border.word == word)
    }

    /// The pane at a cell.
    pub fn pane_at(&self, x: u16, y: u16) -> Option<&'static str> {
        match self.zoomed {
            Some(zoomed) => self.whole.contains(x, y).then_some(zoomed),
            None => self.panes.iter().find(|(_, area)| area.contains(x, y)).map(|(name, _)| *name),
        }
    }
}

/// The share of a part in thousandths, and a part of this share.
pub fn to_share(first: u16, length: u16) -> u16 {
    let share = (u32::from(first) * 1000 + u32::from(length) / 2) / u32::from(length.max(1));
    u16::try_from(share).unwrap_or(1000)
}

fn from_share(share: u16, length: u16) -> u16 {
    u16::try_from((u32::from(share) * u32::from(length) + 500) / 1000).unwrap_or(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> PanePlan {
        let lists = PaneTree::columns("lists", 50, [PaneTree::Pane("jobs"), PaneTree::Pane("events")]);
        let below = PaneTree::rows("problems", 20, [PaneTree::Pane("problems"), lists]);
        PaneTree::rows("charts", 10, [PaneTree::Pane("charts"), below]).into()
    }

    const AREA: Rect = Rect { x: 0, y: 2, width: 120, height: 40 };

    #[test]
    fn panes_fill_the_area_wherever_borders_are() {
        for share in (0..=1000).step_by(50) {
            for area in [AREA, Rect::new(0, 2, 17, 9), Rect::new(0, 0, 1, 1), Rect::default()] {
                let placed = PlacedPanes::new(&plan(), area, &|_| Some(share), None);
                let cells: u32 = placed.panes.iter().map(|(_, pane)| cells_of(*pane)).sum();
                assert_eq!(cells, cells_of(area), "{share} {area:?}: {placed:?}");
            }
        }
    }

    fn cells_of(area: Rect) -> u32 {
        u32::from(area.width) * u32::from(area.height)
    }

    #[test]
    fn a_moved_border_keeps_its_place_and_the_least_sizes() {
        let placed = PlacedPanes::new(&plan(), AREA, &|_| None, None);
        assert_eq!(placed.area("problems"), Rect::new(0, 12, 120, 20));
        for length in 1..500 {
            for first in 0..=length {
                assert_eq!(from_share(to_share(first, length), length), first, "{first} of {length}");
            }
        }
        let moved = |word: &str| (word == "lists").then_some(10);
        let placed = PlacedPanes::new(&plan(), AREA, &moved, None);
        assert_eq!(placed.area("jobs").width, LEAST_COLUMNS);
        // Where least sizes have no room, the border is where it is by default.
        let placed = PlacedPanes::new(&plan(), Rect::new(0, 0, 30, 40), &moved, None);
        assert_eq!(placed.area("jobs").width, 30);
    }

    #[test]
    fn a_zoomed_pane_has_all_and_the_nearest_border_is_moved() {
        let placed = PlacedPanes::new(&plan(), AREA, &|_| None, None);
        let border = |pane: &str, direction| placed.border_of(pane, direction).map(|border| border.word);
        assert_eq!(border("jobs", SplitDirection::Columns), Some("lists"));
        assert_eq!(border("jobs", SplitDirection::Rows), Some("problems"));
        assert_eq!(border("charts", SplitDirection::Rows), Some("charts"));
        assert_eq!(border("charts", SplitDirection::Columns), None);
        assert_eq!(placed.border_at(7, 11).map(|border| border.word), Some("charts"));
        assert_eq!(placed.border_at(50, 36).map(|border| border.word), Some("lists"));
        assert_eq!((placed.border_at(7, 20), placed.pane_at(7, 20)), (None, Some("problems")));
        let zoomed = PlacedPanes::new(&plan(), AREA, &|_| None, Some("jobs"));
        assert_eq!((zoomed.area("jobs"), zoomed.area("problems")), (AREA, Rect::default()));
        assert!(zoomed.are_several() && zoomed.border_of("jobs", SplitDirection::Rows).is_none());
        assert_eq!(zoomed.pane_at(7, 20), Some("jobs"));
    }
}
