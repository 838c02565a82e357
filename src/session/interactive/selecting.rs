//! Which rows of a list are seen, and in which order. Of a list that is too long to be gone through between two frames
//! that is work behind the screen: the rows that were seen stay until the new ones are known.

use std::sync::Arc;

use super::effect::{Job, Selecting};
use super::state::State;
use crate::session::{Columns, Selection};

/// A list of so many rows is gone through behind the screen.
pub const MANY: usize = 20_000;

/// Filters the list of the screen.
pub fn set_filter(state: &mut State, text: String) {
    state.current_mut().0.table_mut().filter = text;
    select(state, false);
}

/// Makes the rows of the screen's list what its filter and its order say; the cursor stays on its row, or goes to the
/// first.
pub fn select(state: &mut State, to_first: bool) {
    // Another screen may wait for rows of its own.
    let title = format!("going through the rows of {}", state.screen.title().title);
    let earlier = state.tasks.running().iter().find(|task| task.title == title).map(|task| task.id);
    if let Some(task) = earlier {
        state.tasks.end(task);
        state.wanted.push(super::effect::Effect::Cancel(task));
    }
    let many = state.many;
    let long = state.current().kept_rows().filter(|rows| rows.count() >= many).cloned();
    if let (Some(rows), Some(look)) = (long, state.known.look.clone()) {
        let query = state.current().table().query();
        // What cannot be read is said at once.
        if query.check(&*rows.listing(&look)).is_ok() {
            let screen = state.screen;
            let job = Job::Select { look, selecting: Selecting { screen, rows, query, to_first } };
            let (_, effect) = state.begin(title, job);
            state.wanted.push(effect);
            return;
        }
    }
    let (screen, known) = state.current_mut();
    let mut table = std::mem::take(screen.table_mut());
    if let Some(listing) = screen.listing(known) {
        table.refresh(&*listing);
    }
    if to_first {
        table.to(0);
    }
    *screen.table_mut() = table;
    screen.filtered(known);
}

/// The rows are known. Those of a list that is another by now are let go.
pub fn selected(state: &mut State, selecting: &Selecting, selection: Selection) {
    let screen = state.screens.get_mut(selecting.screen);
    let same = screen.kept_rows().is_some_and(|rows| Arc::ptr_eq(rows, &selecting.rows));
    let table = screen.table_mut();
    if same {
        table.show_rows(selection, None);
        if selecting.to_first {
            table.to(0);
        }
    }
}

impl Selecting {
    pub fn run(&self, look: &crate::session::Look) -> Selection {
        // It was read before the work began.
        self.query.select(&*self.rows.listing(look), Columns::Shown).unwrap_or_default()
    }
}
