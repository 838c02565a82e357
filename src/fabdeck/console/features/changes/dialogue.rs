//! Questions before an action on the fabric. The focus begins on the button that changes nothing, and each
//! finding is accepted separately.
//!
//! ```text
//! Apply updn to sim:demo?
//! writes     480 parts of 9 switches
//! on the way 36 pairs without a path at the worst
//! [ ] transition: not shown to be safe while traffic flows
//!
//! ▸[ cancel ]  [ apply ]
//! ```

use std::collections::BTreeSet;

use super::changes_model::ChangesModel;
use crate::catalogue::summary::{count_words, device_words};
use crate::console::model::scroll::Scroll;
use crate::operations::changes::change_row::{ChangeRow, countdown, silent_words};
use crate::operations::changes::changer::ChangeOffer;
use crate::operations::check::certificate_text::{wrap_pairs, wrap_text};
use fabdeck_change::ChangePhase;
use fabdeck_fabric::observe::digits_in_groups;

/// The possible windows in seconds. The shortest leaves time to read the result, and the longest is a day.
const WINDOWS: [u64; 12] = [30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400];
const DEFAULT_WINDOW_S: u64 = 600;

/// A question to the operator.
#[derive(Clone, Debug)]
pub enum DialogueQuestion {
    /// Whether to begin a change; `taken` has the accepted findings.
    Apply { offer: Box<ChangeOffer>, taken: BTreeSet<usize>, window_s: u64, line: Option<String> },
    /// Whether to keep a change for good.
    Confirm { id: String },
    /// Whether a change that waits for hosts continues without them.
    GoOn { id: String },
    /// Whether to roll back a change now; `lost` is the reason why this was refused before.
    RollBack { id: String, lost: Option<String> },
    /// Whether to leave although a change ends with this process.
    Leave { number: u64 },
}

/// A place of the focus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DialogueFocus {
    Finding(usize),
    /// The button that changes nothing.
    Stay,
    /// The button that acts.
    Act,
}

#[derive(Clone, Debug)]
pub struct Dialogue {
    pub question: DialogueQuestion,
    focus: DialogueFocus,
    pub scroll: Scroll,
}

/// A row of a dialog, above the buttons.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DialogueRow {
    /// A label and a text; the label is empty where a text continues.
    Pair(String, String),
    /// A row of a finding: its index, whether it is accepted, and a line of its text.
    Finding { at: usize, taken: bool, first: bool, text: String },
}

/// Width of the checkbox before a finding: `[x] `.
pub const CHECKBOX_WIDTH: usize = 4;

impl Dialogue {
    pub fn new(question: DialogueQuestion) -> Self {
        Self { question, focus: DialogueFocus::Stay, scroll: Scroll::default() }
    }

    pub fn apply(offer: Box<ChangeOffer>, line: Option<String>) -> Self {
        Self::new(DialogueQuestion::Apply { offer, taken: BTreeSet::new(), window_s: DEFAULT_WINDOW_S, line })
    }

    pub fn focus(&self) -> DialogueFocus {
        self.focus
    }

    fn focus_order(&self) -> Vec<DialogueFocus> {
        let findings = match &self.question {
            DialogueQuestion::Apply { offer, .. } => offer.findings.len(),
            _ => 0,
        };
        (0..findings).map(DialogueFocus::Finding).chain([DialogueFocus::Stay, DialogueFocus::Act]).collect()
    }

    /// Moves the focus to the next or the previous place, and wraps around at the end.
    pub(super) fn move_focus(&mut self, forward: bool) {
        let stops = self.focus_order();
        let at = stops.iter().position(|stop| *stop == self.focus).unwrap_or(0);
        let step = if forward { 1 } else { stops.len() - 1 };
        self.focus = stops[(at + step) % stops.len()];
    }

    /// Accepts the finding with the focus, or reverses that; returns false where the focus is on no finding.
    pub(super) fn toggle(&mut self) -> bool {
        let (DialogueFocus::Finding(at), DialogueQuestion::Apply { taken, .. }) =
            (self.focus, &mut self.question)
        else {
            return false;
        };
        if !taken.remove(&at) {
            taken.insert(at);
        }
        true
    }

    /// Whether the dialog has a window that can be changed.
    pub fn has_window(&self) -> bool {
        matches!(self.question, DialogueQuestion::Apply { .. })
    }

    pub fn has_findings(&self) -> bool {
        self.focus_order().len() > 2
    }

    /// Number of findings that are not accepted.
    pub fn unacknowledged_count(&self) -> usize {
        match &self.question {
            DialogueQuestion::Apply { offer, taken, .. } => offer.findings.len() - taken.len(),
            _ => 0,
        }
    }

    /// Makes the window longer or shorter; returns false where the dialog has none.
    pub(super) fn change_window(&mut self, longer: bool) -> bool {
        let DialogueQuestion::Apply { window_s, .. } = &mut self.question else { return false };
        let next = match longer {
            true => WINDOWS.iter().find(|window| *window > window_s),
            false => WINDOWS.iter().rev().find(|window| *window < window_s),
        };
        *window_s = next.copied().unwrap_or(*window_s);
        true
    }

    pub fn title(&self, changes: &ChangesModel) -> String {
        let number = |id: &str| changes.row(id).map_or_else(|| id.to_owned(), |row| row.number.to_string());
        match &self.question {
            DialogueQuestion::Apply { offer, .. } => format!("Apply {} to {}?", offer.title, offer.source),
            DialogueQuestion::Confirm { id } => format!("Confirm change {}?", number(id)),
            DialogueQuestion::GoOn { id } => {
                format!("Go on with change {} without hosts that do not answer?", number(id))
            }
            DialogueQuestion::RollBack { id, lost: None } => format!("Roll change {} back?", number(id)),
            DialogueQuestion::RollBack { id, .. } => {
                format!("Roll change {} back though paths are lost?", number(id))
            }
            DialogueQuestion::Leave { number } => format!("Leave while change {number} is pending?"),
        }
    }

    /// The labels of the buttons; the first button changes nothing.
    pub fn buttons(&self) -> [&'static str; 2] {
        match &self.question {
            DialogueQuestion::Apply { .. } => ["cancel", "apply"],
            DialogueQuestion::Confirm { .. } => ["not yet", "confirm"],
            DialogueQuestion::GoOn { .. } => ["wait", "go on"],
            DialogueQuestion::RollBack { lost: None, .. } => ["not now", "roll back"],
            DialogueQuestion::RollBack { .. } => ["leave it", "roll back anyway"],
            DialogueQuestion::Leave { .. } => ["stay", "leave"],
        }
    }

    /// All rows of the dialog, at this width.
    pub fn rows(&self, changes: &ChangesModel, room: usize) -> Vec<DialogueRow> {
        let within = |pairs: &[(&str, String)], room: usize| {
            let rows = wrap_pairs(pairs, room).1.into_iter();
            rows.map(|(label, text)| DialogueRow::Pair(label.to_owned(), text)).collect::<Vec<_>>()
        };
        let pairs = |pairs: &[(&str, String)]| within(pairs, room);
        match &self.question {
            DialogueQuestion::Apply { offer, taken, window_s, .. } => {
                // Both parts leave room for the widest label, so that all labels are in one column.
                let (first, last) = (write_pairs(offer), guard_pairs(offer, *window_s));
                let widest =
                    |pairs: &Pairs<'_>| pairs.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
                let column = widest(&first).max(widest(&last));
                let rest = |pairs: &Pairs<'_>| room.saturating_sub(column - widest(pairs));
                let mut rows = within(&first, rest(&first));
                for (at, (name, text)) in offer.findings.iter().enumerate() {
                    let lines = wrap_text(&format!("{name}: {text}"), room.saturating_sub(CHECKBOX_WIDTH));
                    let taken = taken.contains(&at);
                    let row = |(row, text)| DialogueRow::Finding { at, taken, first: row == 0, text };
                    rows.extend(lines.into_iter().enumerate().map(row));
                }
                rows.extend(within(&last, rest(&last)));
                rows
            }
            DialogueQuestion::Confirm { id } => {
                pairs(&changes.row(id).map_or_else(Vec::new, |row| confirm_pairs(changes, row)))
            }
            DialogueQuestion::GoOn { id } => pairs(&changes.row(id).map_or_else(Vec::new, continue_pairs)),
            DialogueQuestion::RollBack { id, lost } => {
                let row = changes.row(id);
                pairs(&row.map_or_else(Vec::new, |row| roll_back_pairs(changes, row, lost.as_deref())))
            }
            DialogueQuestion::Leave { number } => pairs(&[(
                "change",
                format!(
                    "{number} is made by this process, to a simulator in it: both end with this session. Esc goes \
                     back: then y keeps the change, and u rolls it back"
                ),
            )]),
        }
    }

    /// The first and the last row of the finding with the focus.
    pub(super) fn focused_rows(&self, changes: &ChangesModel, room: usize) -> Option<(usize, usize)> {
        let DialogueFocus::Finding(wanted) = self.focus else { return None };
        let rows = self.rows(changes, room);
        let mut same = rows
            .iter()
            .enumerate()
            .filter(|(_, row)| matches!(row, DialogueRow::Finding { at, .. } if *at == wanted));
        let first = same.next()?.0;
        Some((first, same.next_back().map_or(first, |(last, _)| last)))
    }

    /// The change of the question, where that has to be pending.
    pub(super) fn change_id(&self) -> Option<&str> {
        match &self.question {
            DialogueQuestion::Confirm { id }
            | DialogueQuestion::GoOn { id }
            | DialogueQuestion::RollBack { id, .. } => Some(id),
            DialogueQuestion::Apply { .. } | DialogueQuestion::Leave { .. } => None,
        }
    }
}

type Pairs<'t> = Vec<(&'t str, String)>;

fn write_pairs(offer: &ChangeOffer) -> Pairs<'_> {
    let parts = count_words(offer.parts, "part", "parts");
    let devices = device_words((offer.switches, offer.adapters));
    let mut pairs = vec![("writes", format!("{parts} of {devices}, to {}", offer.source))];
    if offer.moved_pairs > 0 {
        pairs.push(("moves", format!("{} pairs take another path", digits_in_groups(offer.moved_pairs))));
    }
    pairs.extend(offer.migrations.iter().map(|moved| ("moves", moved.clone())));
    pairs.extend(offer.transition.iter().map(|(label, text)| (label.as_str(), text.clone())));
    match offer.findings.len() {
        0 => pairs.push(("findings", "none".to_owned())),
        1 => pairs.push(("findings", "one to acknowledge: Tab goes there, Space acknowledges it".to_owned())),
        some => pairs.push((
            "findings",
            format!("{some}, each to be acknowledged: Tab goes there, Space acknowledges it"),
        )),
    }
    pairs
}

fn guard_pairs(offer: &ChangeOffer, window_s: u64) -> Pairs<'static> {
    let minutes = countdown(window_s);
    let mut pairs = vec![
        ("window", format!("{minutes} from the last write on; + and - change it")),
        ("rollback", "by itself, unless y confirms it by then; u rolls it back at once".to_owned()),
    ];
    pairs.push(match offer.own {
        true => ("ends", "with this session: the simulator and the change are in this process".to_owned()),
        false => {
            ("guard", "a process of its own: it holds the deadline even if this session ends".to_owned())
        }
    });
    pairs.extend(offer.remarks.iter().map(|remark| ("remark", remark.clone())));
    pairs
}

fn change_pairs(row: &ChangeRow) -> Pairs<'static> {
    let writes = count_words(usize::try_from(row.writes).unwrap_or(usize::MAX), "write", "writes");
    [
        ("change", format!("{}, of {}, begun by {}", row.engine, row.source, row.user)),
        ("writes", format!("{writes}, {} settled", row.done)),
    ]
    .into_iter()
    .chain(row.moves.iter().map(|moved| ("moves", moved.clone())))
    .chain(silent_words(&row.silent).map(|silent| ("agents", silent)))
    .collect()
}

fn waiting_pair(changes: &ChangesModel, row: &ChangeRow) -> Option<(&'static str, String)> {
    let left = changes.left_ms(row)?;
    Some(("left", format!("{} until it is rolled back by itself", countdown(left / 1000))))
}

fn confirm_pairs(changes: &ChangesModel, row: &ChangeRow) -> Pairs<'static> {
    let mut pairs = change_pairs(row);
    pairs.extend(waiting_pair(changes, row));
    pairs.push(match &row.drift {
        Some(drift) => ("drift", drift.clone()),
        None => ("drift", "none: nothing of it was overwritten since".to_owned()),
    });
    pairs.push(("then", "it stays: nothing of it is rolled back later".to_owned()));
    pairs
}

fn continue_pairs(row: &ChangeRow) -> Pairs<'static> {
    let mut pairs = change_pairs(row);
    let safe =
        "tables change while their flows may be on base LIDs; that is refused where it is not proved safe";
    pairs.push(("then", safe.to_owned()));
    pairs.push((
        "else",
        "hosts are asked again until the window is over; u ends the change, with nothing written".to_owned(),
    ));
    pairs
}

fn roll_back_pairs(changes: &ChangesModel, row: &ChangeRow, lost: Option<&str>) -> Pairs<'static> {
    let mut pairs = change_pairs(row);
    pairs.extend(waiting_pair(changes, row));
    pairs.extend(row.drift.clone().map(|drift| ("drift", drift)));
    pairs.extend(row.trouble.clone().map(|trouble| ("trouble", trouble)));
    pairs.extend(lost.map(|lost| ("refused", lost.to_owned())));
    let what = match row.state {
        ChangePhase::Applying => "the writes until then are rolled back, the last one first",
        ChangePhase::Incomplete => "the parts that are still as written are restored again",
        _ => "everything that is still as written is restored, the last write first",
    };
    pairs.push(("then", format!("{what}; later writes of other tools stay and are named")));
    pairs
}
