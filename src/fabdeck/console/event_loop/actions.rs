//! The table of actions: everything that a key or a palette word does, once. The keymap, the palette, the
//! help, the footer and `docs/keys.md` are made from it.

use super::command_lines::{equivalent_line, line_differences, whatif_line};
use super::navigation::{
    move_direction, move_rows, move_to, sort_by, sort_next, step_out, switch_view, toggle_selected,
};
use super::page_rows::page_rows;
use super::preconditions::{can_pause, can_write_plan, has_fabric, has_list, has_past, has_paths};
use super::{overlays, results};
use crate::catalogue::severity::Severity;
use crate::catalogue::summary::count_words;
use crate::console::features::changes::{apply_actions, change_actions, change_requests};
use crate::console::features::completion::{open_prompt as begin_line, open_prompt_over as begin_again};
use crate::console::features::jobs::running_jobs;
use crate::console::features::lanes::slow_lanes;
use crate::console::features::paths::path_navigation::{show_path, show_users};
use crate::console::features::row_selection::set_filter;
use crate::console::features::screen::{CursorDirection, EnterResult};
use crate::console::features::screen_change::open_screen;
use crate::console::features::screens::{SCREENS, ScreenId};
use crate::console::features::snapshot_change;
use crate::console::features::timeline::recording_file::save_recording;
use crate::console::features::timeline::{derived_events, operator_log, paused_watch, time_navigation};
use crate::console::features::whatif::plan_file::write_plan;
use crate::console::features::whatif::{engine_runs, marking};
use crate::console::model::action::{Action, OverlayScope, new};
use crate::console::model::effect::Effect;
use crate::console::model::element_search::find_element;
use crate::console::model::overlay::{Help, Overlay};
use crate::console::model::prompt::Purpose;
use crate::console::model::scroll::Scroll;
use crate::console::model::state::{LoadState, SessionState};
use crate::operations::plans::link_service::LinkService;
use crate::operations::preview::whatif::{drawn_words, mark_random};
use fabdeck_routing::{Engine, find_engine};

/// The actions, in the order of the help.
pub const ACTIONS: &[Action] = &[
    new("help", &["?"], "Show the keys, and search them", |state, _| {
        overlays::toggle_overlay(state, Overlay::Help(Help::default()))
    })
    .over_screens(OverlayScope::Layers)
    .prominent(),
    new("tour", &[], "Take the tour", |state, _| {
        overlays::toggle_overlay(state, Overlay::Tour { page: 0, scroll: Scroll::default() })
    })
    .over_screens(OverlayScope::Layers),
    new("quit", &["q", "ctrl-q"], "Go back; at the top, leave", |state, _| match step_out(state) {
        true => Vec::new(),
        false => leave_session(state),
    })
    .over_screens(OverlayScope::Lines),
    new("out", &["esc", "-"], "Go out, or cancel the running task", |state, _| {
        // Esc cancels a task that the status line offers to cancel, before it leaves anything.
        let above = state.prompt.is_some() || state.layer.is_some();
        let unfiltered = state.current().table().filter.is_empty();
        if !above && unfiltered && state.screen == ScreenId::Timeline && derived_events::stop_deriving(state) {
            return Vec::new();
        }
        if !above && let Some(effect) = change_requests::cancel_offer(state) {
            return vec![effect];
        }
        if !above
            && unfiltered
            && state.screen == ScreenId::Jobs
            && let Some(effect) = running_jobs::cancel_list(state)
        {
            return vec![effect];
        }
        let on_list = match state.screen {
            ScreenId::Whatif => !above && state.screens.whatif.page.is_none(),
            ScreenId::Jobs => !above && unfiltered,
            _ => false,
        };
        if (on_list && state.has_engine_under_way())
            || (!step_out(state) && !state.tasks.running_tasks().is_empty())
        {
            return results::cancel_all(state);
        }
        Vec::new()
    })
    .over_screens(OverlayScope::Lines),
    new("enter", &["enter"], "Go in", |state, _| {
        if state.layer.is_some() {
            overlays::press_enter(state);
            return Vec::new();
        }
        let (screen, known) = state.current_mut();
        match screen.enter(known) {
            EnterResult::Done => {}
            EnterResult::Show => return overlays::toggle_overlay(state, Overlay::Details(Scroll::default())),
            EnterResult::Nothing(why) => state.log_message(Severity::Info, why),
            EnterResult::Ask(purpose) => begin_line(state, purpose, ""),
            EnterResult::ToMoment(place) => return time_navigation::seek_place(state, place),
        }
        Vec::new()
    })
    .over_screens(OverlayScope::Layers)
    .prominent(),
    new("details", &["d"], "Show all details of the row", |state, _| {
        if state.screen == ScreenId::Whatif && state.current().current(&state.known).is_none() {
            state.layer = None;
            return action("enter").map(|enter| (enter.act)(state, "")).unwrap_or_default();
        }
        overlays::toggle_overlay(state, Overlay::Details(Scroll::default()))
    })
    .over_screens(OverlayScope::Layers)
    .with_precondition(has_fabric)
    .prominent(),
    new("palette", &[":"], "Type an action by its word", |state, _| {
        begin_line(state, Purpose::Command, "");
        Vec::new()
    })
    .over_screens(OverlayScope::Layers)
    .prominent(),
    new("filter", &["/"], "Narrow the list: leaf, hosts>10, name~spine, ~spn", |state, argument| {
        match &state.layer {
            Some(Overlay::Help(help)) if argument.is_empty() => {
                let search = help.search.clone();
                begin_again(state, Purpose::Search, search);
            }
            _ if argument.is_empty() => {
                state.layer = None;
                let filter = state.current().table().filter.clone();
                begin_again(state, Purpose::Filter, filter);
            }
            _ => {
                state.layer = None;
                set_filter(state, argument.to_owned());
            }
        }
        Vec::new()
    })
    .with_argument("[CONDITION]")
    .over_screens(OverlayScope::Layers)
    .with_precondition(has_list)
    .prominent(),
    new("screen-1", &["1"], SCREENS[0].about, |state, _| move_to(state, 0))
        .over_screens(OverlayScope::Layers),
    new("screen-2", &["2"], SCREENS[1].about, |state, _| move_to(state, 1))
        .over_screens(OverlayScope::Layers),
    new("screen-3", &["3"], SCREENS[2].about, |state, _| move_to(state, 2))
        .over_screens(OverlayScope::Layers),
    new("screen-4", &["4"], SCREENS[3].about, |state, _| move_to(state, 3))
        .over_screens(OverlayScope::Layers),
    new("screen-5", &["5"], SCREENS[4].about, |state, _| move_to(state, 4))
        .over_screens(OverlayScope::Layers),
    new("screen-6", &["6"], SCREENS[5].about, |state, _| move_to(state, 5))
        .over_screens(OverlayScope::Layers),
    new("screen-7", &["7"], SCREENS[6].about, |state, _| move_to(state, 6))
        .over_screens(OverlayScope::Layers),
    new("screen-8", &["8"], SCREENS[7].about, |state, _| move_to(state, 7))
        .over_screens(OverlayScope::Layers),
    new("screen-9", &["9"], SCREENS[8].about, |state, _| move_to(state, 8))
        .over_screens(OverlayScope::Layers),
    new("next-view", &["tab"], "Switch to the next view", |state, _| switch_view(state, true))
        .over_screens(OverlayScope::Layers)
        .prominent(),
    new("previous-view", &["shift-tab"], "Switch to the previous view", |state, _| switch_view(state, false))
        .over_screens(OverlayScope::Layers),
    new("up", &["up", "k"], "One row up", |state, _| move_direction(state, CursorDirection::Up))
        .over_screens(OverlayScope::Layers),
    new("down", &["down", "j"], "One row down", |state, _| move_direction(state, CursorDirection::Down))
        .over_screens(OverlayScope::Layers),
    new("page-up", &["pgup", "ctrl-b"], "One page up", |state, _| {
        move_rows(state, -(page_rows(state) as isize))
    })
    .over_screens(OverlayScope::Layers),
    new("page-down", &["pgdn", "ctrl-f"], "One page down", |state, _| {
        move_rows(state, page_rows(state) as isize)
    })
    .over_screens(OverlayScope::Layers),
    new("first", &["g", "home"], "The first row", |state, _| move_rows(state, isize::MIN))
        .over_screens(OverlayScope::Layers),
    new("last", &["G", "end"], "The last row", |state, _| move_rows(state, isize::MAX))
        .over_screens(OverlayScope::Layers),
    new("left", &["left", "h"], "Columns to the left", |state, _| {
        move_direction(state, CursorDirection::Left)
    })
    .over_screens(OverlayScope::Layers),
    new("right", &["right", "l"], "Columns to the right", |state, _| {
        move_direction(state, CursorDirection::Right)
    })
    .over_screens(OverlayScope::Layers),
    new("sort", &["s"], "Sort by the next column, or by the named one", |state, argument| {
        match argument.is_empty() {
            true => sort_next(state, false),
            false => sort_by(state, argument),
        }
    })
    .with_argument("[FIELD]")
    .with_precondition(has_list),
    new("reverse", &["S"], "Reverse the order", |state, _| sort_next(state, true))
        .with_precondition(has_list),
    new(
        "select",
        &["space"],
        "Select or deselect the row: f, F and c then act on all selected rows",
        toggle_selected,
    )
    .over_screens(OverlayScope::Layers)
    .with_precondition(has_fabric),
    new("mark", &["f"], "Mark as failed, or remove the mark", |state, argument| {
        let all = match argument.is_empty() {
            true => state.target_elements(),
            false => find_element(state, argument).into_iter().collect(),
        };
        if all.is_empty() && argument.is_empty() {
            state.log_message(
                Severity::Info,
                "put the cursor on a switch, a host, a port or a cable to mark it",
            );
        }
        if all.is_empty() { Vec::new() } else { marking::mark_elements(state, &all) }
    })
    .with_argument("[ELEMENT]")
    .with_precondition(has_fabric)
    .with_line(whatif_line)
    .prominent(),
    new("clear-marks", &["F"], "Remove all marks, or those of the selected rows", |state, _| {
        marking::unmark_elements(state)
    })
    .with_line(whatif_line)
    .with_precondition(|state| match state.known.marks.is_empty() {
        true => Err("nothing is marked".to_owned()),
        false => Ok(()),
    }),
    new("undo", &["z"], "Undo the last change of the marks", |state, _| marking::undo_marks(state))
        .with_line(whatif_line)
        .with_precondition(|state| match state.known.marks_before.is_empty() {
            true => Err("no change of the marks can be undone".to_owned()),
            false => Ok(()),
        }),
    new("random", &[], "Mark a number of random links between switches", mark_random_links)
        .with_argument("COUNT")
        .with_precondition(has_fabric)
        .with_line(whatif_line),
    new(
        "preview",
        &["p"],
        "Route around the marks with every engine; on Jobs, with sar",
        |state, argument| {
            if argument.is_empty() && state.screen == ScreenId::Jobs {
                return running_jobs::ask_sar(state);
            }
            match parse_engines(argument) {
                Ok(asked) => {
                    open_screen(state, ScreenId::Whatif);
                    engine_runs::preview_engines(state, &asked)
                }
                Err(problem) => {
                    state.log_message(Severity::Error, problem);
                    Vec::new()
                }
            }
        },
    )
    .with_argument("[ENGINE,...]")
    .belongs_to(&[ScreenId::Whatif, ScreenId::Jobs])
    .with_precondition(has_fabric)
    .with_line(whatif_line)
    .prominent(),
    new("write-plan", &["w"], "Write the plan of this engine to a file", |state, argument| {
        if !argument.is_empty() {
            return write_plan(state, argument);
        }
        let engine = state.screens.whatif.engine().map_or("reroute", |engine| engine.id);
        let name = state.plan_name(engine);
        begin_line(state, Purpose::PlanFile, name);
        Vec::new()
    })
    .with_argument("[FILE]")
    .on_screen(ScreenId::Whatif)
    .with_precondition(can_write_plan)
    .writes_file()
    .prominent(),
    new("apply", &["a"], "Apply the proposal of this engine, or a plan from a file", apply_actions::apply)
        .with_argument("[FILE]")
        .with_precondition(apply_actions::can_apply)
        .writes_fabric()
        .prominent(),
    new(
        "confirm",
        &["y"],
        "Confirm a change, or continue it without the hosts that it waits for",
        change_actions::confirm,
    )
    .with_argument("[CHANGE]")
    .with_precondition(change_actions::can_confirm)
    .writes_fabric()
    .prominent(),
    new("rollback", &["u"], "Roll a change back at once", change_actions::roll_back)
        .with_argument("[CHANGE]")
        .with_precondition(change_actions::can_decide)
        .writes_fabric()
        .prominent(),
    new("extend", &["e"], "Extend a change by ten minutes, or by the given time", change_actions::extend)
        .with_argument("[TIME]")
        .with_precondition(change_actions::can_extend)
        .writes_fabric()
        .prominent(),
    new("move-back", &["B"], "Move all flows back from the slow lane", slow_lanes::move_back)
        .belongs_to(&[ScreenId::Lanes])
        .with_precondition(slow_lanes::can_move_back)
        .writes_fabric()
        .prominent(),
    new("disable", &[], "Take a link out of service: the port of a switch is disabled", |state, argument| {
        change_actions::set_link_service(state, argument, LinkService::Disable)
    })
    .with_argument("[ELEMENT]")
    .with_precondition(change_actions::can_write)
    .writes_fabric(),
    new("enable", &[], "Bring a link back into service", |state, argument| {
        change_actions::set_link_service(state, argument, LinkService::Enable)
    })
    .with_argument("[ELEMENT]")
    .with_precondition(change_actions::can_write)
    .writes_fabric(),
    new(
        "jobs",
        &[],
        "Name the source of the running jobs: a list in a file, Slurm, or (`usual`) the source that the console began with",
        running_jobs::name_source,
    )
    .with_argument("[FILE|slurm|usual]")
    .belongs_to(&[ScreenId::Jobs]),
    new("trace", &["t"], "Follow a path that begins here", show_path)
        .with_argument("[FROM [TO]]")
        .with_precondition(has_fabric),
    new("users", &["U"], "Show the destinations that are reached over this cable", show_users)
        .with_argument("[NODE[PORT]]")
        .with_precondition(has_paths),
    new("from", &["b"], "Where the path begins", |state, _| open_plan_prompt(state, Purpose::From))
        .on_screen(ScreenId::Paths),
    new("to", &["e"], "Where the path ends", |state, _| open_plan_prompt(state, Purpose::To))
        .on_screen(ScreenId::Paths),
    new("copy-line", &["c"], "Copy the command line that shows or does the same", |state, _| {
        match equivalent_line(state) {
            Some(line) => copy_line(state, line),
            None => {
                let why = state.current().no_command_reason();
                state.log_message(Severity::Warning, format!("no command line shows this{why}"));
                Vec::new()
            }
        }
    })
    .prominent(),
    new(
        "copy-last",
        &["C"],
        "Copy the command line for the last action: marks, engines, a written plan",
        |state, _| match state.last_line.clone() {
            Some(line) => copy_line(state, line),
            None => Vec::new(),
        },
    )
    .with_precondition(|state| match &state.last_line {
        Some(_) => Ok(()),
        None => Err("no action has a command line yet".to_owned()),
    }),
    new("look-again", &["r"], "Read the source again", |state, _| snapshot_change::reload_snapshot(state))
        .with_precondition(|state| match state.loading {
            LoadState::Under(_) => Err("the fabric is being read".to_owned()),
            _ => Ok(()),
        }),
    new("watch", &["W"], "Pause or resume the reading of counters", |state, _| {
        crate::console::features::watch::sweep_cycle::toggle_pause(state)
    })
    .with_precondition(|state| match (state.known.watch.live, state.known.watch.settings.interval_ms) {
        _ if state.known.watch.recorded => {
            Err("the screens show a recording: Space on the Timeline plays it".to_owned())
        }
        (_, 0) => {
            Err("counters are not watched: interval under [watch] in the configuration is 0s".to_owned())
        }
        (Some(false), _) => Err("this source has only one reading of counters".to_owned()),
        (None | Some(true), _) => Ok(()),
    }),
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
        .with_precondition(has_past),
    new("faster", &[">"], "Play faster: 1x, 2x, 5x, 10x, 60x, as fast as possible", |state, _| {
        time_navigation::change_speed(state, true)
    })
    .with_precondition(has_past),
    new("step-back", &["["], "One moment back", |state, _| time_navigation::step_moments(state, -1))
        .with_precondition(has_past)
        .prominent(),
    new("step", &["]"], "One moment forward", |state, _| time_navigation::step_moments(state, 1))
        .with_precondition(has_past)
        .prominent(),
    new("step-back-10", &["{"], "Ten moments back", |state, _| time_navigation::step_moments(state, -10))
        .with_precondition(has_past),
    new("step-10", &["}"], "Ten moments forward", |state, _| time_navigation::step_moments(state, 10))
        .with_precondition(has_past),
    new("next-event", &["n"], "To the next moment with an event", |state, _| {
        time_navigation::step_event(state, true)
    })
    .with_precondition(has_past)
    .prominent(),
    new("previous-event", &["N"], "To the previous moment with an event", |state, _| {
        time_navigation::step_event(state, false)
    })
    .with_precondition(has_past),
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
    .with_precondition(has_past),
    new("bookmark", &["m"], "Set a bookmark at this moment, or remove it", |state, _| {
        time_navigation::toggle_bookmark(state)
    })
    .with_precondition(has_past),
    new("note", &["i"], "Add a note to the recording of the watch", |state, argument| {
        match argument.trim().is_empty() {
            true => {
                begin_line(state, Purpose::Command, "note ");
                Vec::new()
            }
            false => operator_log::add_note(state, argument),
        }
    })
    .with_argument("[TEXT]")
    .with_precondition(operator_log::can_add_entry),
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
    new("live", &["L"], "Back to live", |state, _| paused_watch::return_to_live(state))
        .with_precondition(|state| match &state.known.playback {
            Some(playback) if playback.is_returning() => Err(paused_watch::RETURNING_MESSAGE.to_owned()),
            Some(playback) if playback.live.is_some() => Ok(()),
            Some(_) => Err("this source is a recording and has no live state".to_owned()),
            None if state.known.watch.live == Some(true) => Err("the screens are live already".to_owned()),
            None => Err("this source is not live".to_owned()),
        })
        .prominent(),
    new("log", &["M"], "Show the log of messages", |state, _| {
        overlays::toggle_overlay(state, Overlay::Log(Scroll { top: usize::MAX / 4 }))
    })
    .over_screens(OverlayScope::Layers),
    new("redraw", &["ctrl-l"], "Draw the screen again", |_, _| vec![Effect::Redraw])
        .over_screens(OverlayScope::Lines),
    new("suspend", &["ctrl-z"], "Go to the shell; fg comes back", |_, _| vec![Effect::Suspend])
        .over_screens(OverlayScope::Lines),
];

/// The action with this word.
pub fn action(id: &str) -> Option<&'static Action> {
    ACTIONS.iter().find(|action| action.id == id)
}

/// The engines of a list; all engines for an empty list.
fn parse_engines(list: &str) -> Result<Vec<&'static Engine>, String> {
    if list.is_empty() {
        return Ok(engine_runs::all_engines());
    }
    let unknown = |id: &str| {
        let ids: Vec<&str> = engine_runs::all_engines().iter().map(|engine| engine.id).collect();
        format!("there is no engine '{id}'; engines are {}", ids.join(", "))
    };
    let words = list.split([',', ' ']).filter(|word| !word.is_empty());
    words.map(|id| find_engine(id).ok_or_else(|| unknown(id))).collect()
}

fn copy_line(state: &mut SessionState, line: String) -> Vec<Effect> {
    // The remarks come before the line, because the end of a long line is not visible.
    let remarks = line_differences(state);
    let remarks = if remarks.is_empty() { String::new() } else { format!(" ({})", remarks.join("; ")) };
    state.log_message(Severity::Info, format!("copied{remarks}: {line}"));
    vec![Effect::Copy(line)]
}

/// Leaves the session, unless notes would be lost or a change would end with it. It then warns or asks first.
fn leave_session(state: &mut SessionState) -> Vec<Effect> {
    let notes = state.unsaved.notes;
    if notes > 0 && !std::mem::replace(&mut state.unsaved.warned, true) {
        let notes = count_words(notes, "note is", "notes are");
        let text = format!(":save FILE stores the recording: {notes} in no file yet; the key again leaves");
        state.log_message(Severity::Warning, text);
        return Vec::new();
    }
    if change_actions::ask_if_change_ends(state) {
        return Vec::new();
    }
    state.leaving = true;
    vec![Effect::Leave]
}

fn open_plan_prompt(state: &mut SessionState, purpose: Purpose) -> Vec<Effect> {
    begin_line(state, purpose, "");
    Vec::new()
}

fn mark_random_links(state: &mut SessionState, argument: &str) -> Vec<Effect> {
    let Ok(count) = argument.trim().parse::<usize>() else {
        state.log_message(Severity::Error, "random takes a number of links: random 3");
        return Vec::new();
    };
    let Some(look) = state.known.look.clone() else { return Vec::new() };
    marking::save_marks(state);
    let drawn = mark_random(&look, &mut state.known.marks, count, state.seed);
    state.seed += 1;
    let text = format!("{}; nothing is written to the fabric", drawn_words(drawn, count));
    state.log_message(if drawn < count { Severity::Warning } else { Severity::Info }, text);
    marking::update_after_marking(state)
}
