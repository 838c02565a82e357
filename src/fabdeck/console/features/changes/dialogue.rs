//! Questions before an action on the fabric. The focus begins on the first risk, or else on the button that changes
//! nothing, and each risk is acknowledged separately. `apply_rows` has what the question before a write shows.

use super::apply_rows::{ApplyQuestion, apply_details};
use super::apply_state::ApplyState;
use super::changes_model::ChangesModel;
use super::confirm_rows::confirm_rows;
use super::dialogue_row::{DialogueRow, labelled_text};
use super::roll_back_rows::roll_back_rows;
use crate::catalogue::summary::count_words;
use crate::console::features::lanes::lane_effect::effect_lines;
use crate::console::model::fabric_model::Model;
use crate::console::model::scroll::Scroll;
use crate::operations::changes::change_row::{ChangeRow, countdown, silent_words};

/// A question to the operator.
#[derive(Clone, Debug)]
pub enum DialogueQuestion {
    /// Whether to begin a change.
    Apply(Box<ApplyState>),
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
    pub fn apply(apply: ApplyState) -> Self {
        let is_free = apply.offer.findings.is_empty();
        let focus = if is_free { DialogueFocus::Stay } else { DialogueFocus::Finding(0) };
        Self { focus, ..Self::new(DialogueQuestion::Apply(Box::new(apply))) }
    }

    /// The state of the question whether to begin a change.
    pub fn as_apply(&self) -> Option<&ApplyState> {
        match &self.question {
            DialogueQuestion::Apply(apply) => Some(apply),
            _ => None,
        }
    }

    pub fn focus(&self) -> DialogueFocus {
        self.focus
    }

    fn focus_order(&self) -> Vec<DialogueFocus> {
        let findings = self.as_apply().map_or(0, |apply| apply.offer.findings.len());
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
        let (DialogueFocus::Finding(at), DialogueQuestion::Apply(apply)) = (self.focus, &mut self.question)
        else {
            return false;
        };
        apply.toggle(at);
        true
    }

    /// Whether the dialog has a window that can be changed.
    pub fn has_window(&self) -> bool {
        self.as_apply().is_some()
    }

    pub fn has_findings(&self) -> bool {
        matches!(self.focus_order().first(), Some(DialogueFocus::Finding(_)))
    }

    /// Number of findings that are not accepted.
    pub fn unacknowledged_count(&self) -> usize {
        self.as_apply().map_or(0, ApplyState::unacknowledged_count)
    }

    /// Makes the window longer or shorter; returns false where the dialog has none.
    pub(super) fn change_window(&mut self, longer: bool) -> bool {
        let DialogueQuestion::Apply(apply) = &mut self.question else { return false };
        apply.change_window(longer);
        true
    }

    pub fn title(&self, changes: &ChangesModel) -> String {
        let number = |id: &str| changes.row(id).map_or_else(|| id.to_owned(), |row| row.number.to_string());
        match &self.question {
            DialogueQuestion::Apply(apply) => {
                format!("Apply {} to {}?", apply.offer.title, apply.offer.source)
            }
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
            DialogueQuestion::Apply(_) => Some("cancelled: nothing was written"),
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
            DialogueQuestion::Apply(_) => ["Cancel", "Apply"],
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
        let apply = self.as_apply()?;
        Some(if apply.offer.source.starts_with("sim:") { "the simulator" } else { "the fabric" })
    }

    /// All rows of the dialog.
    pub fn rows(&self, known: &Model, room: DialogueRoom) -> Vec<DialogueRow> {
        let changes = &known.changes;
        let pairs = |pairs: &[(&str, String)]| -> Vec<DialogueRow> {
            pairs.iter().flat_map(|(label, text)| labelled_text(label, text, room.width)).collect()
        };
        match &self.question {
            DialogueQuestion::Apply(apply) if self.details => apply_details(&apply.offer, room.width),
            DialogueQuestion::Apply(apply) => {
                let focus = match self.focus {
                    DialogueFocus::Finding(at) => Some(at),
                    _ => None,
                };
                let is_replanned = changes.offering.is_some();
                let DialogueRoom { width: room, height, boxed } = room;
                let moved_effect = effect_lines(known).into_iter().next();
                let moved_effect = moved_effect.as_deref();
                ApplyQuestion { apply, is_replanned, moved_effect, focus, room, height, boxed }.rows()
            }
            DialogueQuestion::Confirm { id } => {
                changes.row(id).map_or_else(Vec::new, |row| confirm_rows(known, row, room))
            }
            DialogueQuestion::GoOn { id } => pairs(&changes.row(id).map_or_else(Vec::new, continue_pairs)),
            DialogueQuestion::RollBack { id, lost } => {
                let row = changes.row(id);
                row.map_or_else(Vec::new, |row| roll_back_rows(known, row, lost.as_deref(), room))
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
        self.as_apply()?.command_line()
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
            DialogueQuestion::Apply(_) | DialogueQuestion::Leave { .. } => None,
        }
    }
}

pub(super) type Pairs<'t> = Vec<(&'t str, String)>;

pub(super) fn change_pairs(row: &ChangeRow) -> Pairs<'static> {
    let writes = count_words(usize::try_from(row.writes).unwrap_or(usize::MAX), "write", "writes");
    [
        ("change", format!("{} of {}, started by {}", row.engine, row.source, row.user)),
        (
            "writes",
            match row.done == row.writes {
                true if row.writes == 0 && !row.moves.is_empty() => {
                    "none: hosts change the level of their packets".to_owned()
                }
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
