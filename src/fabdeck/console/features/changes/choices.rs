//! What can be done with a change now, with its keys; and why nothing can.

use super::change_actions::{can_ask, can_write};
use crate::console::model::state::SessionState;
use crate::operations::changes::change_row::ChangeRow;
use crate::operations::changes::changer::WriteAccess;
use fabdeck_change::ChangePhase;

/// A line about a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChangeChoice {
    pub key: &'static str,
    pub text: String,
    /// Whether it works now.
    pub can: bool,
}

pub fn change_choices(state: &SessionState, row: &ChangeRow) -> Vec<ChangeChoice> {
    let asks = can_ask(state);
    let choice = |key, text: &str| match &asks {
        Ok(()) => ChangeChoice { key, text: text.to_owned(), can: true },
        Err(why) => ChangeChoice { key, text: why.clone(), can: false },
    };
    if !state.known.changes.is_here(row) && state.writing != WriteAccess::Own {
        return vec![ChangeChoice {
            key: "",
            text: "it is a change of another fabric".to_owned(),
            can: false,
        }];
    }
    match row.state {
        _ if row.waits => vec![
            choice("y", "continues without the hosts that did not answer"),
            choice("u", "ends it: nothing was written"),
        ],
        ChangePhase::Applied => vec![
            choice("y", "confirms it, so that it stays: asks first, with its figures"),
            choice("u", "rolls it back at once: asks first"),
            choice("e", "gives it ten minutes more"),
        ],
        ChangePhase::Applying => vec![choice("u", "rolls it back at once: asks first")],
        ChangePhase::RollingBack => vec![ChangeChoice {
            key: "",
            text: "nothing: its guard restores what it wrote, and goes on without this session".to_owned(),
            can: false,
        }],
        ChangePhase::Incomplete => vec![choice("u", "rolls the rest back again; look at these parts first")],
        ChangePhase::Confirmed => vec![match (can_write(state), row.undone_by) {
            (_, Some(by)) => {
                ChangeChoice { key: "", text: format!("nothing: change {by} undid it"), can: false }
            }
            (Ok(()), None) => {
                choice("u", "undoes it: offers the tables of before as a new change, which asks first")
            }
            (Err(why), None) => ChangeChoice { key: "u", text: why, can: false },
        }],
        ChangePhase::RolledBack => vec![ChangeChoice {
            key: "",
            text: "nothing of it is left to undo: p on What-if (6) makes a new proposal".to_owned(),
            can: false,
        }],
        ChangePhase::Refused => vec![ChangeChoice {
            key: "",
            text: "nothing was written: p on What-if (6) makes a new proposal".to_owned(),
            can: false,
        }],
    }
}
