//! Compares the moment at the cursor with the present, or with a moment that was chosen first. Both are read from the
//! recording in a background task; the list of differences takes the place of the events.

use std::sync::Arc;

use super::annotations::cursor_time;
use crate::catalogue::field::{Field, Listing, Tone};
use crate::catalogue::severity::Severity;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::View;
use crate::console::features::chart_time::chart_clock;
use crate::console::features::screen_change::open_screen;
use crate::console::features::screens::ScreenId;
use crate::console::model::background_task::{BackgroundTask, TaskOutcome, TaskPlace};
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::TaskId;
use crate::operations::replay::moment_comparison::{MomentComparison, compare_moments};
use crate::operations::replay::replay_frame::{FrameSource, SeekRequest};
use fabdeck_fabric::counters::Thresholds;
use fabdeck_files::capture::Timeline;
use fabdeck_routing::RouteProgress;

/// Compares two moments of the recording.
#[derive(Debug)]
pub struct ComparisonTask {
    then_ms: i64,
    /// `None` for the last moment.
    now_ms: Option<i64>,
    /// The recording that is open; `None` where it has to be opened up to the present.
    timeline: Option<Arc<Timeline>>,
    thresholds: Thresholds,
}

impl ComparisonTask {
    fn compare(
        &self,
        recording: &mut dyn FrameSource,
        progress: &dyn RouteProgress,
    ) -> Result<MomentComparison, String> {
        let timeline = match &self.timeline {
            Some(timeline) => timeline.clone(),
            None => {
                recording.open_recording()?.map(|opened| opened.timeline).ok_or("there is no recording")?
            }
        };
        let last = timeline.times.len().checked_sub(1).ok_or("no moment was recorded")?;
        let place = |time: i64| timeline.times.iter().rposition(|own| *own <= time).unwrap_or(0);
        let (then, now) = (place(self.then_ms), self.now_ms.map_or(last, place));
        let congestion = self.thresholds.congestion.max(0.0) as u64;
        let mut seek =
            |place: usize| recording.seek_frame(SeekRequest { place, deep: false, congestion }, progress);
        let (first, second) = (seek(then)?, seek(now)?);
        let time = |place: usize| timeline.times.get(place).copied().unwrap_or(0);
        compare_moments(
            (&first, time(first.shown)),
            (&second, time(second.shown)),
            &self.thresholds,
            progress,
        )
    }
}

impl BackgroundTask for ComparisonTask {
    fn place(&self) -> TaskPlace {
        TaskPlace::SourceThread
    }

    fn is_cancellable(&self) -> bool {
        true
    }

    fn run(
        &self,
        services: &mut dyn TaskServices,
        progress: &dyn RouteProgress,
    ) -> Option<Box<dyn TaskOutcome>> {
        let compared = self.compare(services.recording(), progress).map(Arc::new);
        Some(Box::new(ComparisonOutcome(compared)))
    }
}

#[derive(Debug)]
pub struct ComparisonOutcome(Result<Arc<MomentComparison>, String>);

impl TaskOutcome for ComparisonOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, _: TaskId) -> Vec<Effect> {
        match self.0 {
            Ok(comparison) => {
                state.log_message(Severity::Info, comparison.words());
                state.screens.timeline.show_comparison(comparison);
                state.layer = None;
                open_screen(state, ScreenId::Timeline);
            }
            Err(error) => {
                state.log_message(Severity::Error, format!("the moments cannot be compared: {error}"))
            }
        }
        Vec::new()
    }

    fn digest_text(&self) -> String {
        format!("compared moments {:?}", self.0)
    }
}

/// Checks that there is a recording to compare moments of.
pub fn can_compare(state: &SessionState) -> Result<(), String> {
    let watch = &state.known.watch;
    match () {
        () if state.known.playback.is_some() => crate::console::features::preconditions::has_past(state),
        () if watch.can_watch() && watch.settings.past_bytes == 0 => {
            Err("nothing of this watch is recorded: past_mib under [watch] in the configuration is 0"
                .to_owned())
        }
        () if watch.can_watch() && watch.sweeps < 2 => Err("no two sweeps were read yet".to_owned()),
        () if watch.can_watch() => Ok(()),
        () => crate::console::features::preconditions::has_past(state),
    }
}

/// Chooses the moment at the cursor as the first of a comparison.
pub fn choose_first(state: &mut SessionState) -> Vec<Effect> {
    let Some(at) = cursor_time(&state.known) else {
        state.log_message(Severity::Info, "move the cursor in time first: left and right on a chart");
        return Vec::new();
    };
    state.screens.timeline.compare_from = Some(at);
    let time = clock_text(state, at);
    state.log_message(Severity::Info, format!("{time} is compared with the moment at which = is pressed"));
    Vec::new()
}

/// Begins a comparison: of the moment that was chosen first with that at the cursor, or else of that at the cursor with
/// the last one.
pub fn compare(state: &mut SessionState) -> Vec<Effect> {
    let cursor = cursor_time(&state.known);
    let chosen = state.screens.timeline.compare_from.take();
    let (then_ms, now_ms) = match (chosen, cursor) {
        (Some(first), Some(cursor)) => (first.min(cursor), Some(first.max(cursor))),
        (Some(first), None) => (first, None),
        (None, Some(cursor)) => (cursor, None),
        (None, None) => {
            state.log_message(Severity::Info, "move the cursor in time first: left and right on a chart");
            return Vec::new();
        }
    };
    let playback = state.known.playback.as_ref();
    let last = playback.and_then(|playback| playback.timeline().times.last().copied());
    if now_ms.or(last) == Some(then_ms) {
        let text = "this is the moment to compare with: move the cursor back first";
        state.log_message(Severity::Info, text);
        return Vec::new();
    }
    let timeline = playback.map(|playback| playback.timeline().clone());
    let thresholds = state.known.watch.settings.thresholds.clone();
    let task = ComparisonTask { then_ms, now_ms, timeline, thresholds };
    vec![state.begin("comparing two moments", task).1]
}

fn clock_text(state: &SessionState, at: i64) -> String {
    let clock = chart_clock(&state.known);
    clock.and_then(|clock| clock.clock_text(clock.history_ms(at))).unwrap_or_default()
}

/// The title of a comparison.
pub fn title(state: &SessionState, comparison: &MomentComparison) -> String {
    let now = match state.known.playback {
        None => "now".to_owned(),
        Some(_) => clock_text(state, comparison.now_ms),
    };
    format!("{} against {now}", clock_text(state, comparison.then_ms))
}

type RowField = Field<crate::operations::replay::moment_comparison::DifferenceRow, ()>;

pub const DIFFERENCES: View<crate::operations::replay::moment_comparison::DifferenceRow, ()> =
    View::new(DIFFERENCE_FIELDS, "nothing differs between these moments");

static DIFFERENCE_FIELDS: &[RowField] = &[
    RowField::new(
        "kind",
        "KIND",
        FieldKind::Text,
        "fabric, problem, port, cable, or table of a switch",
        |(), row| row.kind.into(),
    )
    .keyword(),
    RowField::new("change", "CHANGE", FieldKind::Text, "how it differs", |(), row| row.change.into())
        .keyword()
        .toned(&[
            ("new", Tone::Warning),
            ("worse", Tone::Warning),
            ("gone", Tone::Good),
            ("better", Tone::Good),
        ]),
    RowField::new("what", "WHAT", FieldKind::Text, "what differs", |(), row| Value::text(&row.name)),
    RowField::new("then", "THEN", FieldKind::Text, "at the earlier moment", |(), row| Value::text(&row.then)),
    RowField::new("now", "NOW", FieldKind::Text, "at the later moment", |(), row| Value::text(&row.now)),
];

/// The list of the differences.
pub fn listing(comparison: &MomentComparison) -> Box<dyn Listing + '_> {
    Box::new(DIFFERENCES.of(&comparison.rows))
}
