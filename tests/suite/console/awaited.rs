//! What actions and panes say while they wait for the source, and how far it is.

use std::sync::Arc;

use super::fixture::{appearance, frame, look, text};
use super::test_session::{begun_task, first_task, run_alone};
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::console::drawing::color_depth::ColorDepth;
use fabdeck::console::event_loop::event::{SessionEvent, SessionInput};
use fabdeck::console::event_loop::update::update;
use fabdeck::console::features::map::pair_table::PairTask;
use fabdeck::console::features::map::rank_task::RankTask;
use fabdeck::console::features::snapshot_change::{SnapshotOutcome, SnapshotTask};
use fabdeck::console::model::effect::Effect;
use fabdeck::console::model::key::Key;
use fabdeck::console::model::keymap::Keymap;
use fabdeck::console::model::layout::Size;
use fabdeck::console::model::state::SessionState;
use fabdeck::console::model::tasks::TaskId;
use fabdeck_fabric::observe::Observation;

const SIZE: Size = Size { width: 120, height: 40 };

/// A session, which is the given time old.
struct AgingSession {
    state: SessionState,
    reading: TaskId,
    now_ms: u64,
}

impl AgingSession {
    fn open(source: &str) -> Self {
        let (state, effects) = SessionState::open(source, Keymap::default(), SIZE);
        let (reading, _) = first_task::<SnapshotTask>(&effects);
        Self { state, reading, now_ms: 0 }
    }

    fn feed(&mut self, what: SessionInput) -> Vec<Effect> {
        update(&mut self.state, SessionEvent { at_ms: self.now_ms, what })
    }

    fn press(&mut self, keys: &str) -> Vec<Effect> {
        Key::parse_sequence(keys).into_iter().flat_map(|key| self.feed(SessionInput::Key(key))).collect()
    }

    /// The fabric is known after 4 s, and 6 of 100 parts of its tables after 14 s.
    fn sight(&mut self, whole: &Snapshot) {
        let observation = Observation { fabric: whole.fabric().clone(), ..Observation::default() };
        let look = Arc::new(Snapshot::new("sim:demo", observation, &whole.observation.names));
        let task = self.reading;
        self.now_ms = 4000;
        self.feed(SessionInput::Sighted { task, look });
        self.now_ms = 14_000;
        self.feed(SessionInput::Progress { task, done: 6, of: 100 });
    }

    fn last_message(&self) -> &str {
        self.state.messages.iter().last().map_or("", |message| message.text.as_str())
    }

    fn shown(&self) -> String {
        text(&frame(&self.state, &appearance("dark", ColorDepth::True)))
    }
}

#[test]
fn an_action_says_what_it_waits_for_and_how_far_that_is() {
    let mut session = AgingSession::open("sim:demo");
    session.now_ms = 1000;
    session.feed(SessionInput::Progress { task: session.reading, done: 2, of: 3 });
    session.press(":preview enter");
    assert_eq!(
        session.last_message(),
        "preview: the source is still being read (66 %, 1 s so far)",
        "before the fabric is known"
    );
    session.sight(&look("sim:demo"));
    let awaited = "as soon as the tables are read (6 %, 14 s so far)";
    session.press(":mark space spine-2 enter");
    assert!(
        session.last_message().ends_with(&format!("who is hit is counted {awaited}")),
        "{}",
        session.last_message()
    );
    session.press("6");
    let whatif = session.shown();
    assert!(whatif.contains(&format!("pairs are counted {awaited}")), "{whatif}");
    session.press(":preview enter");
    assert_eq!(session.last_message(), format!("the engines run {awaited}"));
    session.press(":open space map enter");
    assert_eq!(session.last_message(), format!("the view opens {awaited}"));
}

#[test]
fn the_matrix_says_how_many_of_its_paths_were_followed() {
    let whole = Arc::new(look("sim:kary,k=6,n=3"));
    let mut session = AgingSession::open("sim:kary,k=6,n=3");
    session.press("2");
    let (task, outcome) = (session.reading, Box::new(SnapshotOutcome(Ok(whole))));
    let effects = session.feed(SessionInput::Finished { task, outcome });
    let (task, job) = begun_task::<RankTask>(&effects).expect("ranks");
    let effects = session.feed(SessionInput::Finished { task, outcome: run_alone(&*job) });
    let (task, _) = begun_task::<PairTask>(&effects).expect("a table of pairs");
    session.now_ms = 3000;
    session.feed(SessionInput::Progress { task, done: 30, of: 120 });
    let map = session.shown();
    assert!(map.contains("paths being followed (25 %, 3 s so far)"), "{map}");
    // The parts are there at once.
    assert!(map.contains("from pod (row) to pod (column)") && map.contains("worst"), "{map}");
}
