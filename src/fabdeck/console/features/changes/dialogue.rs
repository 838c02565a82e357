//! Questions before an action on the fabric. The focus begins on the first risk, or else on the button that changes
//! nothing, and each risk is acknowledged separately. `apply_rows` has what the question before a write shows.

use std::collections::BTreeSet;

use super::apply_rows::{ApplyQuestion, apply_details};
use super::changes_model::ChangesModel;
use super::confirm_rows::confirm_rows;
use super::dialogue_row::{DialogueRow, labelled_text};
use crate::catalogue::summary::count_words;
use crate::console::model::fabric_model::Model;
use crate::console::model::scroll::Scroll;
use crate::operations::changes::change_row::{ChangeRow, countdown, silent_words};
use crate::operations::changes::changer::ChangeOffer;
use fabdeck_change::ChangePhase;

/// The possible windows in seconds. The shortest leaves time to read the result, and the longest is a day.
const WINDOWS: [u64; 12] = [30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400];
const DEFAULT_WINDOW_S: u64 = 600;

/// A question to the operator.
#[derive(Clone, Debug)]
pub enum DialogueQuestion {
    /// Whether to begin a change; `taken` has the accepted findings.
    Apply { offer: Box<ChangeOffer>, taken: BTreeSet<usize>, window_s: u64, line: Option<String> },
    /// Whether to confirm a change, so that it stays.
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
    /// Further buttons of the question whether to confirm a change.
    RollBack,
    Extend,
}

#[derive(Clone, Debug)]
pub struct Dialogue {
    pub question: DialogueQuestion,
    focus: DialogueFocus,
    pub scroll: Scroll,
    /// Whether the proofs are shown in place of the question.
    pub details: bool,
}

/// The room of a dialog: the columns of its texts, the rows above its buttons, and whether it is a box.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DialogueRoom {
    pub width: usize,
    pub height: usize,
    pub boxed: bool,
}

impl Dialogue {
    pub fn new(question: DialogueQuestion) -> Self {
        Self { question, focus: DialogueFocus::Stay, scroll: Scroll::default(), details: false }
    }

    /// The question before a write. The focus begins on the first risk, which space acknowledges.
    pub fn apply(offer: Box<ChangeOffer>, line: Option<String>) -> Self {
        let focus = if offer.findings.is_empty() { DialogueFocus::Stay } else { DialogueFocus::Finding(0) };
        let question =
            DialogueQuestion::Apply { offer, taken: BTreeSet::new(), window_s: DEFAULT_WINDOW_S, line };
        Self { focus, ..Self::new(question) }
    }

    pub fn focus(&self) -> DialogueFocus {
        self.focus
    }

    fn focus_order(&self) -> Vec<DialogueFocus> {
        let findings = match &self.question {
            DialogueQuestion::Apply { offer, .. } => offer.findings.len(),
            _ => 0,
        };
        let buttons = self.buttons().into_iter().map(|(focus, _)| focus);
        (0..findings).map(DialogueFocus::Finding).chain(buttons).collect()
    }

    /// Moves the focus to the next or the previous place, and wraps around at the end. It passes over a button that acts
    /// while risks are not acknowledged.
    pub(super) fn move_focus(&mut self, forward: bool) {
        let mut stops = self.focus_order();
        let is_blocked = self.unacknowledged_count() > 0;
        stops.retain(|stop| !is_blocked || *stop != DialogueFocus::Act);
        self.details = false;
        let at = stops.iter().position(|stop| *stop == self.focus).unwrap_or(0);
        let step = if forward { 1 } else { stops.len() - 1 };
        self.focus = stops[(at + step) % stops.len()];
    }

    /// Shows the proofs, or the question again; returns false where there are none.
    pub(super) fn toggle_details(&mut self) -> bool {
        let has_details = self.has_window();
        self.details ^= has_details;
        self.scroll = Scroll::default();
        has_details
    }

    /// Acknowledges the risk with the focus, or reverses that; returns false where the focus is on no finding.
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
        matches!(self.focus_order().first(), Some(DialogueFocus::Finding(_)))
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

    /// What the button that changes nothing leaves as it is.
    pub fn stay_words(&self) -> Option<&'static str> {
        match &self.question {
            DialogueQuestion::Apply { .. } => Some("cancelled: nothing was written"),
            DialogueQuestion::Confirm { .. } => {
                Some("cancelled: the change still waits to be confirmed, and is rolled back at its deadline")
            }
            DialogueQuestion::RollBack { .. } => Some("cancelled: nothing was rolled back"),
            DialogueQuestion::GoOn { .. } | DialogueQuestion::Leave { .. } => None,
        }
    }

    /// The buttons with their labels, on every dialog in one order: the first one changes nothing, and the last one does
    /// what the title asks.
    pub fn buttons(&self) -> Vec<(DialogueFocus, &'static str)> {
        let [stay, act] = match &self.question {
            DialogueQuestion::Apply { .. } => ["Cancel", "Apply"],
            DialogueQuestion::Confirm { .. } => ["Cancel", "Confirm"],
            DialogueQuestion::GoOn { .. } => ["Wait", "Go on"],
            DialogueQuestion::RollBack { lost: None, .. } => ["Cancel", "Roll back"],
            DialogueQuestion::RollBack { .. } => ["Cancel", "Roll back anyway"],
            DialogueQuestion::Leave { .. } => ["Stay", "Leave"],
        };
        let mut buttons = vec![(DialogueFocus::Stay, stay)];
        if matches!(self.question, DialogueQuestion::Confirm { .. }) {
            buttons.extend([(DialogueFocus::Extend, "Extend"), (DialogueFocus::RollBack, "Roll back")]);
        }
        buttons.push((DialogueFocus::Act, act));
        buttons
    }

    /// Moves the focus to a place of the dialog; returns false where it has no such place.
    pub(super) fn focus_on(&mut self, wanted: DialogueFocus) -> bool {
        let has_place = self.focus_order().contains(&wanted);
        if has_place {
            (self.focus, self.details) = (wanted, false);
        }
        has_place
    }

    /// Moves the focus back to the button that changes nothing.
    pub(super) fn focus_on_stay(&mut self) {
        self.focus = DialogueFocus::Stay;
    }

    /// What the question writes to; `None` where it writes nothing.
    pub fn target(&self) -> Option<&'static str> {
        let DialogueQuestion::Apply { offer, .. } = &self.question else { return None };
        Some(if offer.source.starts_with("sim:") { "the simulator" } else { "the fabric" })
    }

    /// All rows of the dialog.
    pub fn rows(&self, known: &Model, room: DialogueRoom) -> Vec<DialogueRow> {
        let changes = &known.changes;
        let pairs = |pairs: &[(&str, String)]| -> Vec<DialogueRow> {
            pairs.iter().flat_map(|(label, text)| labelled_text(label, text, room.width)).collect()
        };
        match &self.question {
            DialogueQuestion::Apply { offer, .. } if self.details => apply_details(offer, room.width),
            DialogueQuestion::Apply { offer, taken, window_s, .. } => {
                let focus = match self.focus {
                    DialogueFocus::Finding(at) => Some(at),
                    _ => None,
                };
                let DialogueRoom { width: room, height, boxed } = room;
                ApplyQuestion { offer, taken, window_s: *window_s, focus, room, height, boxed }.rows()
            }
            DialogueQuestion::Confirm { id } => {
                changes.row(id).map_or_else(Vec::new, |row| confirm_rows(known, row, room))
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
                     back: then y confirms the change, and u rolls it back"
                ),
            )]),
        }
    }

    /// The command line that applies the same plan and accepts the acknowledged risks.
    pub(super) fn command_line(&self) -> Option<String> {
        let DialogueQuestion::Apply { offer, taken, window_s, line } = &self.question else { return None };
        let accepted = accepted_names(taken.iter().filter_map(|at| offer.findings.get(*at)));
        let names =
            if accepted.is_empty() { String::new() } else { format!(" --accept {}", accepted.join(",")) };
        line.as_ref().map(|line| format!("{line}{names} --confirm-within {window_s}s"))
    }

    /// The first and the last row of the risk with the focus.
    pub(super) fn focused_rows(&self, known: &Model, room: DialogueRoom) -> Option<(usize, usize)> {
        let DialogueFocus::Finding(wanted) = self.focus else { return None };
        let rows = self.rows(known, room);
        let mut same = rows
            .iter()
            .enumerate()
            .filter(|(_, row)| matches!(row, DialogueRow::Risk { at, .. } if *at == wanted));
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

/// The names under which findings are accepted. Several findings may have one name.
pub(super) fn accepted_names<'f>(findings: impl Iterator<Item = &'f (String, String)>) -> Vec<String> {
    let mut names: Vec<String> = findings.map(|(name, _)| name.clone()).collect();
    names.sort();
    names.dedup();
    names
}

pub(super) type Pairs<'t> = Vec<(&'t str, String)>;

pub(super) fn change_pairs(row: &ChangeRow) -> Pairs<'static> {
    let writes = count_words(usize::try_from(row.writes).unwrap_or(usize::MAX), "write", "writes");
    [
        ("change", format!("{} of {}, started by {}", row.engine, row.source, row.user)),
        (
            "writes",
            match row.done == row.writes {
                true => format!("{writes}, all {} done", row.done),
                false => format!("{writes}, {} done", row.done),
            },
        ),
    ]
    .into_iter()
    .chain(row.moves.iter().map(|moved| ("moves", moved.clone())))
    .chain(silent_words(&row.silent).map(|silent| ("agents", silent)))
    .collect()
}

pub(super) fn waiting_pair(changes: &ChangesModel, row: &ChangeRow) -> Option<(&'static str, String)> {
    let left = changes.left_ms(row)?;
    Some(("left", format!("{} until it is rolled back by itself", countdown(left / 1000))))
}

fn continue_pairs(row: &ChangeRow) -> Pairs<'static> {
    let mut pairs = change_pairs(row);
    let safe =
        "tables change while their flows may be on base LIDs; that is refused where it is not proved safe";
    pairs.push(("then", safe.to_owned()));
    pairs.push((
        "else",
        "hosts are asked again until the deadline; u ends the change, with nothing written".to_owned(),
    ));
    pairs
}

fn roll_back_pairs(changes: &ChangesModel, row: &ChangeRow, lost: Option<&str>) -> Pairs<'static> {
    let mut pairs = change_pairs(row);
    pairs.extend(waiting_pair(changes, row));
    pairs.extend(row.drift.clone().map(|drift| ("by others", drift)));
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
