//! The screen Changes: all changes of the fabric with their results, the last one first. The operator decides
//! about pending changes here.

use super::details::Whole;
use super::screen::{Entered, Screen, ScreenId};
use crate::session::interactive::known::Known;
use crate::session::interactive::state::State;
use crate::session::interactive::table::Table;
use crate::session::{ChangeRow, ChangeRows, Listing, countdown, counted, silent_words};
use fabdeck_change::Phase;
use fabdeck_fabric::Resolved;

#[derive(Clone, Debug, Default)]
pub struct ChangesScreen {
    table: Table,
    rows: Vec<ChangeRow>,
    empty: String,
}

impl ChangesScreen {
    /// The change at the cursor.
    pub fn change(&self) -> Option<&ChangeRow> {
        self.rows.get(self.table.row()?)
    }
}

/// The details of the change at the cursor.
pub fn change_detail(state: &State) -> Option<Whole> {
    let row = state.screens.changes.change().filter(|_| state.screen == ScreenId::Changes)?;
    let seen = &state.known.changes;
    let left = seen.left_ms(row).map(|left| format!("; {} left", countdown(left / 1000)));
    let mut pairs = vec![
        ("state", format!("{}{}", row.state_title(), left.unwrap_or_default())),
        ("what", row.engine.clone()),
        ("id", row.id.clone()),
        ("begun", format!("{} by {}", row.time, row.user)),
        ("source", row.source.clone()),
        ("via", row.via.clone()),
        ("writes", format!("{}, {} settled", row.writes, row.done)),
        ("accepted", if row.accepted.is_empty() { "nothing".to_owned() } else { row.accepted.join(", ") }),
    ];
    pairs.extend(row.deadline.clone().map(|at| ("goes back", format!("{at}, unless confirmed"))));
    pairs.extend(row.ended.clone().map(|at| ("ended", at)));
    pairs.extend(row.why.clone().map(|why| ("because", why)));
    pairs.extend(row.drift.clone().map(|drift| ("drift", drift)));
    pairs.extend(row.comparison.as_ref().map(|found| ("compared", found.words())));
    pairs.extend(row.trouble.clone().map(|trouble| ("trouble", trouble)));
    pairs.extend(row.moves.iter().map(|moved| ("moves", moved.clone())));
    pairs.extend(silent_words(&row.silent).map(|silent| ("agents", silent)));
    pairs.extend(row.left.iter().map(|left| ("left", format!("{}: {}", left.what, left.why))));
    if row.state == Phase::Incomplete {
        let text = "what is left stands in the fabric as it is told above: look at it; u rolls it back again, or \
                    make a new plan";
        pairs.push(("a person", text.to_owned()));
    }
    Some(Whole { title: format!("Change {}", row.number), pairs, ports: Vec::new() })
}

impl Screen for ChangesScreen {
    fn crumbs(&self, _: &Known) -> Vec<String> {
        Vec::new()
    }

    fn table(&self) -> &Table {
        &self.table
    }

    fn table_mut(&mut self) -> &mut Table {
        &mut self.table
    }

    fn listing<'s>(&'s self, known: &'s Known) -> Option<Box<dyn Listing + 's>> {
        Some(Box::new(ChangeRows { rows: &self.rows, now: known.changes.clock(), empty: &self.empty }))
    }

    fn what(&self, _: usize, _: &Known) -> Option<Resolved> {
        None
    }

    fn enter(&mut self, _: &Known) -> Entered {
        match self.change() {
            Some(_) => Entered::Show,
            None => Entered::Nothing("no change was made here"),
        }
    }

    fn can_enter(&self, _: &Known) -> bool {
        self.change().is_some()
    }

    fn has_views(&self, _: &Known) -> bool {
        false
    }

    fn out(&mut self, _: &Known) -> bool {
        false
    }

    fn next_view(&mut self, _: &Known, _: bool) -> Result<(), &'static str> {
        Err("changes are shown in one way only")
    }

    /// Updates the rows. The cursor stays on its change when new ones come before it; on the newest change,
    /// it stays on the newest.
    fn refresh(&mut self, known: &Known) {
        let rows: Vec<ChangeRow> = known.changes.here().cloned().collect();
        let here = self.change().filter(|_| self.table.cursor > 0).map(|row| row.id.clone());
        self.rows = rows;
        let (rows, now) = (&self.rows, known.changes.clock());
        let first = self.table.cursor == 0;
        self.empty = when_empty(known);
        self.table.refresh(&ChangeRows { rows, now, empty: &self.empty });
        match here.and_then(|id| rows.iter().position(|row| row.id == id)) {
            Some(row) => self.table.put_on(row),
            None if first => self.table.to(0),
            None => {}
        }
    }

    fn command(&self, _: &Known) -> Option<String> {
        Some("changes".to_owned())
    }

    fn why_no_command(&self) -> &'static str {
        ": a change of a simulator in this process ends with it, and no other process sees it"
    }

    fn is_printed(&self) -> bool {
        false
    }

    fn when_empty(&self, _: &Known) -> String {
        self.empty.clone()
    }
}

fn when_empty(known: &Known) -> String {
    match known.changes.rows().len() {
        0 => "no change was made here: on What-if (3) p asks the engines, and a applies what the one under the cursor \
              proposes; here a applies a plan from a file"
            .to_owned(),
        some => {
            let some = counted(some, "change", "changes");
            format!("no change was made here; 'fabdeck changes' lists {some} of other fabrics")
        }
    }
}
