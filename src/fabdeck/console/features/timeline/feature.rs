//! The actions of the Timeline.

use super::recording_file::save_recording;
use super::{
    annotations, derived_events, draw, frame_requests, moment_compare, operator_log, paused_watch,
    time_navigation, worst_moment,
};
use crate::console::features::completion::open_prompt as begin_line;
use crate::console::features::feature::Feature;
use crate::console::features::preconditions::{can_pause, has_past};
use crate::console::features::screens::ScreenId;
use crate::console::model::action::{ActionGroup, ActionSection, new};
use crate::console::model::prompt::Purpose;
use crate::console::model::state::SessionState;

/// Checks that there is a time to mark: a moment of a recording, or an interval of a watch.
fn has_time(state: &SessionState) -> Result<(), String> {
    match () {
        () if state.known.playback.is_some() => has_past(state),
        () if state.known.watch.can_watch() && state.known.watch.sweeps == 0 => {
            Err("no sweep was read yet".to_owned())
        }
        () if state.known.watch.can_watch() => Ok(()),
        () => has_past(state),
    }
}

pub const FEATURE: Feature = Feature {
    actions: &[ActionGroup {
        section: ActionSection::Time,
        actions: &[
            new(
                "pause",
                &["space"],
                "Play or pause the recording; on a live source, pause and go back in time",
                |state, _| time_navigation::toggle_play(state),
            )
            .on_screen(ScreenId::Timeline)
            .with_precondition(|state| match &state.known.playback {
                Some(playback) if playback.is_returning() => Err(paused_watch::RETURNING_MESSAGE.to_owned()),
                Some(_) => Ok(()),
                None => can_pause(state),
            })
            .prominent(),
            new("slower", &["<"], "Play more slowly", |state, _| time_navigation::change_speed(state, false))
                .belongs_to(&[ScreenId::Timeline])
                .with_precondition(has_past),
            new("faster", &[">"], "Play faster: 1x, 2x, 5x, 10x, 60x, as fast as possible", |state, _| {
                time_navigation::change_speed(state, true)
            })
            .belongs_to(&[ScreenId::Timeline])
            .with_precondition(has_past),
            new("step-back", &["["], "One moment back", |state, _| time_navigation::step_moments(state, -1))
                .belongs_to(&[ScreenId::Timeline])
                .with_precondition(has_past)
                .prominent(),
            new("step", &["]"], "One moment forward", |state, _| time_navigation::step_moments(state, 1))
                .belongs_to(&[ScreenId::Timeline])
                .with_precondition(has_past)
                .prominent(),
            new("step-back-10", &["{"], "Ten moments back", |state, _| {
                time_navigation::step_moments(state, -10)
            })
            .belongs_to(&[ScreenId::Timeline])
            .with_precondition(has_past),
            new("step-10", &["}"], "Ten moments forward", |state, _| {
                time_navigation::step_moments(state, 10)
            })
            .belongs_to(&[ScreenId::Timeline])
            .with_precondition(has_past),
            new("next-event", &["n"], "To the next moment with an event", |state, _| {
                time_navigation::step_event(state, true)
            })
            .belongs_to(&[ScreenId::Timeline])
            .with_precondition(has_past)
            .prominent(),
            new("previous-event", &["N"], "To the previous moment with an event", |state, _| {
                time_navigation::step_event(state, false)
            })
            .belongs_to(&[ScreenId::Timeline])
            .with_precondition(has_past),
            new(
                "worst",
                &["w"],
                "To the worst moment: most critical problems, then lost pairs, wait, errors",
                worst_moment::go_to_worst,
            )
            .on_screen(ScreenId::Timeline)
            .with_precondition(worst_moment::has_interval)
            .prominent(),
            new(
                "at",
                &["@"],
                "To a time: 02:13:40, 2026-11-22T02:13:40Z, or -5m before the end",
                |state, argument| {
                    if argument.is_empty() {
                        begin_line(state, Purpose::Command, "at ");
                        return Vec::new();
                    }
                    time_navigation::seek_time(state, argument)
                },
            )
            .with_argument("[TIME]")
            .belongs_to(&[ScreenId::Timeline])
            .with_precondition(has_past),
            new("bookmark", &["m"], "Set a bookmark at the cursor in time, or remove it", |state, _| {
                annotations::toggle_bookmark(state)
            })
            .belongs_to(&[ScreenId::Timeline])
            .with_precondition(has_time),
            new("next-bookmark", &["'"], "To the next bookmark", |state, _| {
                annotations::step_bookmark(state, true)
            })
            .belongs_to(&[ScreenId::Timeline])
            .with_precondition(has_time),
            new("previous-bookmark", &["\""], "To the previous bookmark", |state, _| {
                annotations::step_bookmark(state, false)
            })
            .belongs_to(&[ScreenId::Timeline])
            .with_precondition(has_time),
            new("note", &["i"], "Add a note at the cursor in time", |state, argument| {
                match argument.trim().is_empty() {
                    true => {
                        begin_line(state, Purpose::Command, "note ");
                        Vec::new()
                    }
                    false => operator_log::add_note(state, argument),
                }
            })
            .with_argument("[TEXT]")
            .belongs_to(&[ScreenId::Timeline])
            .with_precondition(operator_log::can_add_note),
            new(
                "compare",
                &["="],
                "Compare the moment at the cursor with now, or with the moment chosen first",
                |state, _| moment_compare::compare(state),
            )
            .belongs_to(&[ScreenId::Timeline])
            .with_precondition(moment_compare::can_compare)
            .prominent(),
            new(
                "compare-from",
                &["&"],
                "Choose the moment at the cursor as the first to compare",
                |state, _| moment_compare::choose_first(state),
            )
            .belongs_to(&[ScreenId::Timeline])
            .with_precondition(moment_compare::can_compare),
            new(
                "save",
                &[],
                "Write the recording of the watch to a capture: sweeps, events, notes, actions",
                save_recording,
            )
            .with_argument("FILE")
            .with_precondition(|state| match (operator_log::can_add_entry(state), state.known.watch.sweeps) {
                (Ok(()), 0) => Err("no sweep was read yet".to_owned()),
                _ if state.known.watch.recorded && state.known.watch.live == Some(false) => {
                    Err("'fabdeck capture cut' takes parts of this capture".to_owned())
                }
                (ready, _) => ready,
            })
            .writes_file(),
            new("live", &["L"], "Back to live", |state, _| match state.known.chart_cursor.take() {
                Some(_) if state.known.playback.is_none() => Vec::new(),
                _ => paused_watch::return_to_live(state),
            })
            .belongs_to(&[ScreenId::Timeline])
            .with_precondition(|state| match &state.known.playback {
                Some(playback) if playback.is_returning() => Err(paused_watch::RETURNING_MESSAGE.to_owned()),
                Some(playback) if playback.live.is_some() => Ok(()),
                Some(_) => Err("this source is a recording and has no live state".to_owned()),
                None if state.known.chart_cursor.is_some() => Ok(()),
                None if state.known.watch.live == Some(true) => {
                    Err("the screens are live already".to_owned())
                }
                None => Err("this source is not live".to_owned()),
            })
            .prominent(),
        ],
    }],
    rank: 0,
    tick: frame_requests::tick,
    follow: |state| {
        let areas = state.areas();
        if state.known.playback.is_none() {
            state.screens.timeline.refresh_live(&state.known);
        }
        if state.screen == ScreenId::Timeline {
            state.screens.timeline.update_strips(&state.known, &areas);
        }
        let mut effects = annotations::follow(state);
        effects.extend(derived_events::derive_next_part(state));
        effects
    },
    next_wake_ms: frame_requests::next_wake_ms,
    has_own_panes: |_| true,
    draw: draw::draw,
    ..Feature::NEW
};
