//! What a feature of the console adds to its event loop: actions, ticks and drawing. Its state is in its screen, and its
//! background tasks are begun by its actions and ticks.

use ratatui::layout::Rect;

use crate::console::drawing::canvas::Canvas;
use crate::console::drawing::{details, list};
use crate::console::model::action::ActionGroup;
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;

/// The part of a frame that a screen draws.
#[derive(Clone, Copy, Debug)]
pub struct BodyAreas {
    /// The inside of the screen's pane. Of a feature with panes of its own, all between tabs and status.
    pub whole: Rect,
    /// The rows above the list, and the rest below them.
    pub head: Rect,
    pub rest: Rect,
    /// The pane beside the list, with its border.
    pub details: Rect,
}

/// A feature. Fields that a feature does not need stay as in [`Feature::NEW`].
pub struct Feature {
    pub actions: &'static [ActionGroup],
    /// Ticks of features run by this number, then in the order of the table. The ids of tasks depend on it, and with
    /// them recorded sessions.
    pub rank: u8,
    /// Handles the passing of time.
    pub tick: fn(&mut SessionState) -> Vec<Effect>,
    /// Begins what the state needs after any event.
    pub follow: fn(&mut SessionState) -> Vec<Effect>,
    /// Time at which the feature needs a tick, even without any other event.
    pub next_wake_ms: fn(&SessionState) -> Option<u64>,
    /// Whether Esc cancels the running tasks before it leaves the screen.
    pub cancels_first: fn(&SessionState) -> bool,
    /// Whether the feature draws its panes itself.
    pub has_own_panes: fn(&SessionState) -> bool,
    pub draw: fn(&mut Canvas<'_>, &BodyAreas, &SessionState),
}

impl Feature {
    /// A feature that shows its list, and acts only when the operator does.
    pub const NEW: Self = Self {
        actions: &[],
        rank: 2,
        tick: |_| Vec::new(),
        follow: |_| Vec::new(),
        next_wake_ms: |_| None,
        cancels_first: |_| false,
        has_own_panes: |_| false,
        draw: |canvas, areas, state| {
            list::draw(canvas, areas.rest, state);
            details::draw(canvas, areas.details, state);
        },
    };
}
