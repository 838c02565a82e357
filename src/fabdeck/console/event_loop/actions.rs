//! The table of actions: everything that a key or a palette word does, once. The keymap, the palette, the
//! help, the footer and `docs/keys.md` are made from it. Actions of a feature are in its folder.

use std::sync::LazyLock;

use super::command_lines::{equivalent_line, line_differences};
use super::mouse_input::switch_mouse;
use super::navigation::{
    move_direction, move_rows, move_to, sort_by, sort_next, step_out, switch_view, toggle_selected,
};
use super::page_rows::page_rows;
use super::{overlays, results, theme_choice};
use crate::catalogue::quantity_words::length_words;
use crate::catalogue::severity::Severity;
use crate::catalogue::summary::count_words;
use crate::console::features::changes::{change_actions, change_requests};
use crate::console::features::completion::{open_prompt as begin_line, open_prompt_over as begin_again};
use crate::console::features::feature_table::features;
use crate::console::features::jobs::running_jobs;
use crate::console::features::paths::path_navigation::ask_end;
use crate::console::features::preconditions::{has_fabric, has_list};
use crate::console::features::row_selection::set_filter;
use crate::console::features::screen::{CursorDirection, EnterResult};
use crate::console::features::screen_change::open_target;
use crate::console::features::screen_table::screen_table;
use crate::console::features::screens::ScreenId;
use crate::console::features::timeline::{derived_events, time_cursor, time_navigation};
use crate::console::features::views::view_line::view_command;
use crate::console::features::whatif::victims_page;
use crate::console::model::action::{Action, ActionGroup, ActionSection, OverlayScope, new};
use crate::console::model::effect::Effect;
use crate::console::model::overlay::{Help, Overlay};
use crate::console::model::prompt::Purpose;
use crate::console::model::scroll::Scroll;
use crate::console::model::state::SessionState;

/// The actions, in the order of the help.
pub static ACTIONS: LazyLock<Vec<Action>> = LazyLock::new(|| {
    let mut groups: Vec<&ActionGroup> = GENERAL.iter().collect();
    groups.extend(features().flat_map(|feature| feature.actions));
    groups.sort_by_key(|group| group.section);
    groups.into_iter().flat_map(|group| group.actions).copied().collect()
});

macro_rules! define_screen_actions {
    ($($id:ident $field:ident $kind:ident $number:literal $title:literal $short:literal $about:literal;)+) => {
        /// The actions that open the screens.
        const SCREEN_ACTIONS: &[Action] = &[$(
            new(concat!("screen-", stringify!($field)), &[stringify!($number)], $about, |state, _| {
                move_to(state, ScreenId::$id)
            })
            .over_screens(OverlayScope::Layers)
        ),+];
    };
}

screen_table!(define_screen_actions);

/// The actions that belong to no feature.
const GENERAL: &[ActionGroup] = &[
    ActionGroup {
        section: ActionSection::Navigation,
        actions: &[
            new("help", &["?"], "Show the keys, and search them", |state, _| {
                overlays::toggle_overlay(state, Overlay::Help(Help::default()))
            })
            .over_screens(OverlayScope::Layers)
            .prominent(),
            new("back", &["q"], "Go back; at the top, leave", |state, _| match step_out(state) {
                true => Vec::new(),
                false if warns_of_history(state) => Vec::new(),
                false => leave_session(state),
            })
            .over_screens(OverlayScope::Lines),
            new("quit", &["ctrl-q"], "Leave the program at once, from anywhere", |state, _| {
                state.prompt = None;
                state.layer = None;
                leave_session(state)
            })
            .over_screens(OverlayScope::Lines),
            new("out", &["esc"], "Go out, or cancel the running task", |state, _| {
                // Esc cancels a task that the status line offers to cancel, before it leaves anything.
                let above = state.prompt.is_some() || state.layer.is_some();
                let unfiltered = state.shown_filter().is_none();
                if !above
                    && unfiltered
                    && state.screen == ScreenId::Timeline
                    && derived_events::stop_deriving(state)
                {
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
                let cancels_first = !above && (state.screen.feature().cancels_first)(state);
                if cancels_first || (!step_out(state) && !state.tasks.running_tasks().is_empty()) {
                    return results::cancel_all(state);
                }
                Vec::new()
            })
            .over_screens(OverlayScope::Lines),
            new("enter", &["enter"], "Go in", |state, _| {
                if state.layer.is_some() {
                    return Vec::new();
                }
                if victims_page::has_keys(state) {
                    return overlays::toggle_overlay(state, Overlay::Details(Scroll::default()));
                }
                let (screen, known) = state.current_mut();
                match screen.enter(known) {
                    EnterResult::Done => state.levels_entered += 1,
                    EnterResult::Show => {
                        return overlays::toggle_overlay(state, Overlay::Details(Scroll::default()));
                    }
                    EnterResult::Nothing(why) => state.log_message(Severity::Info, why),
                    EnterResult::Ask(purpose) => ask_end(state, purpose),
                    EnterResult::ToTime(at_ms) => time_cursor::set_cursor(state, at_ms),
                    EnterResult::ToMoment(place) => return time_navigation::seek_place(state, place),
                    EnterResult::Open(target) => open_target(state, &target),
                }
                Vec::new()
            })
            .over_screens(OverlayScope::Layers)
            .prominent(),
            new("details", &["d"], "Show all details of the row", |state, _| {
                let has_row_page = state.current().current(&state.known).is_some() || victims_page::has_keys(state);
                if state.screen == ScreenId::Whatif && !has_row_page {
                    state.layer = None;
                    return action("enter").map(|enter| (enter.act)(state, "")).unwrap_or_default();
                }
                overlays::toggle_overlay(state, Overlay::Details(Scroll::default()))
            })
            .over_screens(OverlayScope::Layers)
            .with_precondition(has_fabric)
            .prominent(),
            new(
                "palette",
                &[":"],
                "Go to anything: names, problems, actions, jobs, times; or run an action by its word",
                |state, _| {
                    begin_line(state, Purpose::Command, "");
                    Vec::new()
                },
            )
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
        ],
    },
    ActionGroup { section: ActionSection::Navigation, actions: SCREEN_ACTIONS },
    ActionGroup {
        section: ActionSection::Navigation,
        actions: &[
            new("next-view", &["V"], "Switch to the next view", |state, _| switch_view(state, true))
                .over_screens(OverlayScope::Layers)
                .prominent(),
            new("previous-view", &["ctrl-v"], "Switch to the previous view", |state, _| {
                switch_view(state, false)
            })
            .over_screens(OverlayScope::Layers),
            new("up", &["up", "k"], "One row up", |state, _| move_direction(state, CursorDirection::Up))
                .over_screens(OverlayScope::Layers),
            new("down", &["down", "j"], "One row down", |state, _| {
                move_direction(state, CursorDirection::Down)
            })
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
            new("left", &["left", "h"], "Columns to the left; on charts, the cursor in time", |state, _| {
                move_direction(state, CursorDirection::Left)
            })
            .over_screens(OverlayScope::Layers),
            new(
                "right",
                &["right", "l"],
                "Columns to the right; on charts, the cursor in time",
                |state, _| move_direction(state, CursorDirection::Right),
            )
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
        ],
    },
    ActionGroup {
        section: ActionSection::CommandLines,
        actions: &[
            new(
                "copy-line",
                &["c"],
                "Copy the command line that shows or does the same; again, the line that opens this view",
                copy_view_or_line,
            )
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
        ],
    },
    ActionGroup {
        section: ActionSection::Session,
        actions: &[
            new("log", &["M"], "Show the log of messages", |state, _| {
                overlays::toggle_overlay(state, Overlay::Log(Scroll { top: usize::MAX / 4 }))
            })
            .over_screens(OverlayScope::Layers),
            new(
                theme_choice::THEME_ACTION,
                &[],
                "Change the colours of this session; the screen shows a theme while it is picked",
                theme_choice::choose_theme,
            )
            .with_argument("[THEME]"),
            new(
                "mouse",
                &[],
                "Turn the mouse on or off: it clicks, scrolls and drags borders; with Shift, the terminal selects text",
                switch_mouse,
            )
            .with_argument("[on|off]")
            .over_screens(OverlayScope::Lines),
            new("redraw", &["ctrl-l"], "Draw the screen again", |_, _| vec![Effect::Redraw])
                .over_screens(OverlayScope::Lines),
            new("suspend", &["ctrl-z"], "Go to the shell; fg comes back", |_, _| vec![Effect::Suspend])
                .over_screens(OverlayScope::Lines),
        ],
    },
];

/// The action with this word.
pub fn action(id: &str) -> Option<&'static Action> {
    ACTIONS.iter().find(|action| action.id == id)
}

/// Copies the command line that prints what the screen shows. Pressed again on the same view, copies the command line that
/// opens the console there.
fn copy_view_or_line(state: &mut SessionState, _: &str) -> Vec<Effect> {
    let view = view_command(state);
    if state.copied_view.take().as_ref() == Some(&view) {
        state.log_message(Severity::Info, format!("copied the line that opens this view: {view}"));
        return vec![Effect::Copy(view)];
    }
    state.copied_view = Some(view);
    match equivalent_line(state) {
        Some(line) => copy_line(state, line),
        None => {
            let why = state.current().no_command_reason();
            let text = format!("no command line shows this{why}; the key again copies a line that opens it");
            state.log_message(Severity::Warning, text);
            Vec::new()
        }
    }
}

fn copy_line(state: &mut SessionState, line: String) -> Vec<Effect> {
    // The remarks come before the line, because the end of a long line is not visible.
    let remarks = line_differences(state);
    let remarks = if remarks.is_empty() { String::new() } else { format!(" ({})", remarks.join("; ")) };
    state.log_message(Severity::Info, format!("copied{remarks}: {line}"));
    vec![Effect::Copy(line)]
}

/// The length of a watch from which its history is worth a question.
const LONG_WATCH_MS: u64 = 60_000;

/// Warns once that the history of a long watch is in no file; returns whether it did.
fn warns_of_history(state: &mut SessionState) -> bool {
    let watch = &state.known.watch;
    let is_live =
        watch.live == Some(true) || state.known.playback.as_ref().is_some_and(|one| one.live.is_some());
    let watched_ms = state.now_ms.saturating_sub(watch.since_ms);
    let is_worth = is_live && watch.sweeps > 1 && watched_ms >= LONG_WATCH_MS && !state.unsaved.is_saved;
    if !is_worth || state.unsaved.notes > 0 || std::mem::replace(&mut state.unsaved.warned, true) {
        return false;
    }
    let length = length_words(watched_ms);
    let text =
        format!("leave? the key again does; the history of {length} is in no file, :save FILE writes it");
    state.log_message(Severity::Info, text);
    true
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
