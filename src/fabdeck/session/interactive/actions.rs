//! The table of actions: everything that a key or a palette word does, once. The keymap, the palette, the
//! help, the footer and `docs/keys.md` are made from it.

use super::copying::{equivalent, unlike, whatif_line};
use super::effect::Effect;
use super::following::{trace, users};
use super::key::Key;
use super::keymap::Keymap;
use super::layer::{Help, Layer, Scroll};
use super::messages::Severity;
use super::prompt::Purpose;
use super::ready::{can_pause, can_write_plan, has_fabric, has_list, has_past, has_paths};
use super::saving::{save, write_plan};
use super::screens::{Direction, Entered, SCREENS, ScreenId};
use super::selecting::set_filter;
use super::state::{Loading, State};
use super::typing::{ask as begin_line, ask_again as begin_again};
use super::update::page;
use super::walking::{go_out, lead_to, select, sort, sort_by, step, to, view, walk};
use super::words::{as_here, words};
use super::{changing, entering, forward, layered, running_jobs, slow_lanes, timeline};
use crate::session::{Danger, Service, counted, drawn_words, mark_random};
use fabdeck_fabric::{Element, Resolved};
use fabdeck_routing::{Engine, engine};

/// The screens on which the key of an action works. Its palette word works everywhere, and opens the screen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    Everywhere,
    On(ScreenId),
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Everywhere => f.write_str("every screen"),
            Self::On(screen) => write!(f, "the screen {}", screen.title().title),
        }
    }
}

/// Where else the key of an action works: in overlays, or also in the input line unless it types a character
/// there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Over {
    Nothing,
    Layers,
    Lines,
}

/// The function of an action; its second parameter is the rest of the line.
pub type Act = fn(&mut State, &str) -> Vec<Effect>;

#[derive(Clone, Copy)]
pub struct Action {
    /// The word of the action in the palette and in the configuration.
    pub id: &'static str,
    /// The description in one line, without a full stop.
    pub title: &'static str,
    /// The argument after the word; brackets mark optional parts.
    pub argument: &'static str,
    pub keys: &'static [&'static str],
    pub place: Place,
    /// Screens whose help lists the action first, although it works everywhere.
    pub belongs: &'static [ScreenId],
    pub over: Over,
    pub danger: Danger,
    /// Whether the footer shows it.
    pub prominent: bool,
    /// The reason why the action cannot run now, as an error.
    pub ready: fn(&State) -> Result<(), String>,
    /// The command line for what the action did. For an action that only shows something, the screen has the
    /// command line.
    pub line: Option<fn(&State) -> Option<String>>,
    pub act: Act,
}

impl std::fmt::Debug for Action {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Action").field("id", &self.id).finish_non_exhaustive()
    }
}

const fn of(id: &'static str, keys: &'static [&'static str], title: &'static str, act: Act) -> Action {
    Action {
        id,
        title,
        argument: "",
        keys,
        place: Place::Everywhere,
        belongs: &[],
        over: Over::Nothing,
        danger: Danger::None,
        prominent: false,
        ready: |_| Ok(()),
        line: None,
        act,
    }
}

impl Action {
    /// The key that screens show for the action.
    pub fn first_key(&self, keymap: &Keymap) -> Option<Key> {
        keymap.keys(self).first().copied()
    }

    const fn on(mut self, screen: ScreenId) -> Self {
        self.place = Place::On(screen);
        self
    }

    const fn belongs(mut self, screens: &'static [ScreenId]) -> Self {
        self.belongs = screens;
        self
    }

    const fn over(mut self, over: Over) -> Self {
        self.over = over;
        self
    }

    const fn takes(mut self, argument: &'static str) -> Self {
        self.argument = argument;
        self
    }

    const fn when(mut self, ready: fn(&State) -> Result<(), String>) -> Self {
        self.ready = ready;
        self
    }

    const fn prominent(mut self) -> Self {
        self.prominent = true;
        self
    }

    const fn line(mut self, line: fn(&State) -> Option<String>) -> Self {
        self.line = Some(line);
        self
    }

    const fn writes_fabric(mut self) -> Self {
        self.danger = Danger::WritesFabric;
        self
    }

    const fn writes_file(mut self) -> Self {
        self.danger = Danger::WritesFile;
        self
    }
}

/// The actions, in the order of the help.
pub const ACTIONS: &[Action] = &[
    of("help", &["?"], "Show the keys, and search them", |state, _| {
        layered::toggle(state, Layer::Help(Help::default()))
    })
    .over(Over::Layers)
    .prominent(),
    of("tour", &[], "Take the tour", |state, _| {
        layered::toggle(state, Layer::Tour { page: 0, scroll: Scroll::default() })
    })
    .over(Over::Layers),
    of("quit", &["q", "ctrl-q"], "Go back, and leave at the top", |state, _| match go_out(state) {
        true => Vec::new(),
        false => leave(state),
    })
    .over(Over::Lines),
    of("out", &["esc", "-"], "Go out, cancel what is under way", |state, _| {
        // Esc cancels a task that the status line offers to cancel, before it leaves anything.
        let above = state.prompt.is_some() || state.layer.is_some();
        let unfiltered = state.current().table().filter.is_empty();
        if !above && unfiltered && state.screen == ScreenId::Timeline && timeline::stop_deriving(state) {
            return Vec::new();
        }
        if !above && let Some(effect) = changing::cancel(state) {
            return vec![effect];
        }
        if !above
            && unfiltered
            && state.screen == ScreenId::Jobs
            && let Some(effect) = running_jobs::give_up(state)
        {
            return vec![effect];
        }
        let on_list = match state.screen {
            ScreenId::Whatif => !above && state.screens.whatif.page.is_none(),
            ScreenId::Jobs => !above && unfiltered,
            _ => false,
        };
        if (on_list && state.engines_under_way()) || (!go_out(state) && !state.tasks.running().is_empty()) {
            return forward::cancel_all(state);
        }
        Vec::new()
    })
    .over(Over::Lines),
    of("enter", &["enter"], "Go in", |state, _| {
        if state.layer.is_some() {
            layered::enter(state);
            return Vec::new();
        }
        let (screen, known) = state.current_mut();
        match screen.enter(known) {
            Entered::Done => {}
            Entered::Show => return layered::toggle(state, Layer::Details(Scroll::default())),
            Entered::Nothing(why) => state.say(Severity::Said, why),
            Entered::Ask(purpose) => begin_line(state, purpose, ""),
            Entered::ToMoment(place) => return timeline::to_place(state, place),
        }
        Vec::new()
    })
    .over(Over::Layers)
    .prominent(),
    of("details", &["d"], "Show all of what the cursor is on", |state, _| {
        if state.screen == ScreenId::Whatif && state.current().current(&state.known).is_none() {
            state.layer = None;
            return action("enter").map(|enter| (enter.act)(state, "")).unwrap_or_default();
        }
        layered::toggle(state, Layer::Details(Scroll::default()))
    })
    .over(Over::Layers)
    .when(has_fabric)
    .prominent(),
    of("palette", &[":"], "Type an action by its word", |state, _| {
        begin_line(state, Purpose::Command, "");
        Vec::new()
    })
    .over(Over::Layers)
    .prominent(),
    of("filter", &["/"], "Narrow the list: leaf, hosts>10, name~spine, ~spn", |state, argument| {
        match &state.layer {
            Some(Layer::Help(help)) if argument.is_empty() => {
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
    .takes("[CONDITION]")
    .over(Over::Layers)
    .when(has_list)
    .prominent(),
    of("screen-1", &["1"], SCREENS[0].about, |state, _| to(state, 0)).over(Over::Layers),
    of("screen-2", &["2"], SCREENS[1].about, |state, _| to(state, 1)).over(Over::Layers),
    of("screen-3", &["3"], SCREENS[2].about, |state, _| to(state, 2)).over(Over::Layers),
    of("screen-4", &["4"], SCREENS[3].about, |state, _| to(state, 3)).over(Over::Layers),
    of("screen-5", &["5"], SCREENS[4].about, |state, _| to(state, 4)).over(Over::Layers),
    of("screen-6", &["6"], SCREENS[5].about, |state, _| to(state, 5)).over(Over::Layers),
    of("screen-7", &["7"], SCREENS[6].about, |state, _| to(state, 6)).over(Over::Layers),
    of("screen-8", &["8"], SCREENS[7].about, |state, _| to(state, 7)).over(Over::Layers),
    of("screen-9", &["9"], SCREENS[8].about, |state, _| to(state, 8)).over(Over::Layers),
    of("next-view", &["tab"], "Look at the same things in another way", |state, _| view(state, true))
        .over(Over::Layers)
        .prominent(),
    of("previous-view", &["shift-tab"], "The way before", |state, _| view(state, false)).over(Over::Layers),
    of("up", &["up", "k"], "One row up", |state, _| walk(state, Direction::Up)).over(Over::Layers),
    of("down", &["down", "j"], "One row down", |state, _| walk(state, Direction::Down)).over(Over::Layers),
    of("page-up", &["pgup", "ctrl-b"], "One page up", |state, _| step(state, -(page(state) as isize)))
        .over(Over::Layers),
    of("page-down", &["pgdn", "ctrl-f"], "One page down", |state, _| step(state, page(state) as isize))
        .over(Over::Layers),
    of("first", &["g", "home"], "The first row", |state, _| step(state, isize::MIN)).over(Over::Layers),
    of("last", &["G", "end"], "The last row", |state, _| step(state, isize::MAX)).over(Over::Layers),
    of("left", &["left", "h"], "Columns to the left", |state, _| walk(state, Direction::Left))
        .over(Over::Layers),
    of("right", &["right", "l"], "Columns to the right", |state, _| walk(state, Direction::Right))
        .over(Over::Layers),
    of("sort", &["s"], "Sort by the next column, or by the one that is named", |state, argument| {
        match argument.is_empty() {
            true => sort(state, false),
            false => sort_by(state, argument),
        }
    })
    .takes("[FIELD]")
    .when(has_list),
    of("reverse", &["S"], "Turn the order around", |state, _| sort(state, true)).when(has_list),
    of(
        "select",
        &["space"],
        "Select the row, or let it go: f, F and c then take all that are selected",
        select,
    )
    .over(Over::Layers)
    .when(has_fabric),
    of("mark", &["f"], "Mark as failed, or take the mark away", |state, argument| {
        let all = match argument.is_empty() {
            true => state.meant(),
            false => named(state, argument).into_iter().collect(),
        };
        if all.is_empty() && argument.is_empty() {
            state.say(Severity::Said, "put the cursor on a switch, a host, a port or a cable to mark it");
        }
        if all.is_empty() { Vec::new() } else { forward::mark(state, &all) }
    })
    .takes("[ELEMENT]")
    .when(has_fabric)
    .line(whatif_line)
    .prominent(),
    of("clear-marks", &["F"], "Take all marks away, or those of the rows that are selected", |state, _| {
        forward::unmark(state)
    })
    .line(whatif_line)
    .when(|state| match state.known.marks.is_empty() {
        true => Err("nothing is marked".to_owned()),
        false => Ok(()),
    }),
    of("undo", &["z"], "Take back what was done to the marks last", |state, _| forward::undo(state))
        .line(whatif_line)
        .when(|state| match state.known.marks_before.is_empty() {
            true => Err("the marks are as they were".to_owned()),
            false => Ok(()),
        }),
    of("random", &[], "Mark so many random links between switches", random)
        .takes("COUNT")
        .when(has_fabric)
        .line(whatif_line),
    of(
        "preview",
        &["p"],
        "Let every engine route what is left; on Jobs, sar for the jobs",
        |state, argument| {
            if argument.is_empty() && state.screen == ScreenId::Jobs {
                return running_jobs::ask_sar(state);
            }
            match engines_named(argument) {
                Ok(asked) => {
                    lead_to(state, ScreenId::Whatif);
                    forward::preview(state, &asked)
                }
                Err(problem) => {
                    state.say(Severity::Error, problem);
                    Vec::new()
                }
            }
        },
    )
    .takes("[ENGINE,...]")
    .belongs(&[ScreenId::Whatif, ScreenId::Jobs])
    .when(has_fabric)
    .line(whatif_line)
    .prominent(),
    of("write-plan", &["w"], "Write the plan of this engine into a file", |state, argument| {
        if !argument.is_empty() {
            return write_plan(state, argument);
        }
        let engine = state.screens.whatif.engine().map_or("reroute", |engine| engine.id);
        let name = state.plan_name(engine);
        begin_line(state, Purpose::PlanFile, name);
        Vec::new()
    })
    .takes("[FILE]")
    .on(ScreenId::Whatif)
    .when(can_write_plan)
    .writes_file()
    .prominent(),
    of("apply", &["a"], "Apply what this engine proposes, or a plan from a file", changing::apply)
        .takes("[FILE]")
        .when(changing::can_apply)
        .writes_fabric()
        .prominent(),
    of(
        "confirm",
        &["y"],
        "Keep a change for good, or let it go on without hosts that it waits for",
        changing::confirm,
    )
    .takes("[CHANGE]")
    .when(changing::can_confirm)
    .writes_fabric()
    .prominent(),
    of("rollback", &["u"], "Roll a change back at once", changing::roll_back)
        .takes("[CHANGE]")
        .when(changing::can_decide)
        .writes_fabric()
        .prominent(),
    of("extend", &["e"], "Give a change ten minutes more, or so much", changing::extend)
        .takes("[TIME]")
        .when(changing::can_keep)
        .writes_fabric()
        .prominent(),
    of("move-back", &["B"], "Move all flows back from the slow lane", slow_lanes::move_back)
        .belongs(&[ScreenId::Lanes])
        .when(slow_lanes::can_move_back)
        .writes_fabric()
        .prominent(),
    of("disable", &[], "Take a link out of service: the port of a switch is disabled", |state, argument| {
        changing::serve(state, argument, Service::Disable)
    })
    .takes("[ELEMENT]")
    .when(changing::can_write)
    .writes_fabric(),
    of("enable", &[], "Bring a link back into service", |state, argument| {
        changing::serve(state, argument, Service::Enable)
    })
    .takes("[ELEMENT]")
    .when(changing::can_write)
    .writes_fabric(),
    of(
        "jobs",
        &[],
        "Name who knows which jobs run: a list in a file, Slurm, or whoever did at first",
        running_jobs::name,
    )
    .takes("[FILE|slurm|usual]")
    .belongs(&[ScreenId::Jobs]),
    of("trace", &["t"], "Follow a path that begins here", trace).takes("[FROM [TO]]").when(has_fabric),
    of("users", &["U"], "Show who uses this cable: the destinations that are reached over it", users)
        .takes("[NODE[PORT]]")
        .when(has_paths),
    of("from", &["b"], "Where the path begins", |state, _| ask(state, Purpose::From)).on(ScreenId::Paths),
    of("to", &["e"], "Where the path ends", |state, _| ask(state, Purpose::To)).on(ScreenId::Paths),
    of(
        "copy-line",
        &["c"],
        "Copy the command line that shows or does the same",
        |state, _| match equivalent(state) {
            Some(line) => copied(state, line),
            None => {
                let why = state.current().why_no_command();
                state.say(Severity::Warning, format!("no command line shows this{why}"));
                Vec::new()
            }
        },
    )
    .prominent(),
    of(
        "copy-last",
        &["C"],
        "Copy the command line that does what was done last: marks, engines asked, a plan written",
        |state, _| match state.last_line.clone() {
            Some(line) => copied(state, line),
            None => Vec::new(),
        },
    )
    .when(|state| match &state.last_line {
        Some(_) => Ok(()),
        None => Err("nothing was marked, asked or written yet".to_owned()),
    }),
    of("look-again", &["r"], "Look at the source again", |state, _| forward::look_again(state)).when(
        |state| match state.loading {
            Loading::Under(_) => Err("a look is under way".to_owned()),
            _ => Ok(()),
        },
    ),
    of("watch", &["W"], "Pause the reading of counters, or go on with it", |state, _| {
        super::watch::toggle(state)
    })
    .when(|state| match (state.known.watch.live, state.known.watch.settings.interval_ms) {
        _ if state.known.watch.recorded => {
            Err("what is shown is a replay: Space on the Timeline plays it".to_owned())
        }
        (_, 0) => Err("nobody watches: interval under [watch] in the configuration is 0s".to_owned()),
        (Some(false), _) => Err("this source has one reading of counters only".to_owned()),
        (None | Some(true), _) => Ok(()),
    }),
    of(
        "pause",
        &["space"],
        "Play what was recorded, or stand; on a live source pause and look back",
        |state, _| timeline::play(state),
    )
    .on(ScreenId::Timeline)
    .when(|state| match &state.known.playback {
        Some(playback) if playback.is_returning() => Err(timeline::RETURNING.to_owned()),
        Some(_) => Ok(()),
        None => can_pause(state),
    })
    .prominent(),
    of("slower", &["<"], "Play more slowly", |state, _| timeline::faster(state, false)).when(has_past),
    of("faster", &[">"], "Play faster: 1x, 2x, 5x, 10x, 60x, as fast as possible", |state, _| {
        timeline::faster(state, true)
    })
    .when(has_past),
    of("step-back", &["["], "One moment back", |state, _| timeline::step(state, -1))
        .when(has_past)
        .prominent(),
    of("step", &["]"], "One moment on", |state, _| timeline::step(state, 1)).when(has_past).prominent(),
    of("step-back-10", &["{"], "Ten moments back", |state, _| timeline::step(state, -10)).when(has_past),
    of("step-10", &["}"], "Ten moments on", |state, _| timeline::step(state, 10)).when(has_past),
    of("next-event", &["n"], "To the next moment at which something happened", |state, _| {
        timeline::event(state, true)
    })
    .when(has_past)
    .prominent(),
    of("previous-event", &["N"], "To the one before", |state, _| timeline::event(state, false))
        .when(has_past),
    of(
        "at",
        &["@"],
        "To a time: 02:13:40, 2026-11-22T02:13:40Z, or -5m before the end",
        |state, argument| {
            if argument.is_empty() {
                begin_line(state, Purpose::Command, "at ");
                return Vec::new();
            }
            timeline::at(state, argument)
        },
    )
    .takes("[TIME]")
    .when(has_past),
    of("bookmark", &["m"], "Set a bookmark at this moment, or take it away", |state, _| {
        timeline::bookmark(state)
    })
    .when(has_past),
    of("note", &["i"], "Write a note into what is recorded of the watch", |state, argument| {
        match argument.trim().is_empty() {
            true => {
                begin_line(state, Purpose::Command, "note ");
                Vec::new()
            }
            false => entering::note(state, argument),
        }
    })
    .takes("[TEXT]")
    .when(entering::can_enter),
    of("save", &[], "Write what was watched so far into a capture: sweeps, news, notes, actions", save)
        .takes("FILE")
        .when(|state| match (entering::can_enter(state), state.known.watch.sweeps) {
            (Ok(()), 0) => Err("nothing was swept yet".to_owned()),
            _ if state.known.watch.recorded && state.known.watch.live == Some(false) => {
                Err("'fabdeck capture cut' takes parts of this capture".to_owned())
            }
            (ready, _) => ready,
        })
        .writes_file(),
    of("live", &["L"], "Back to live", |state, _| timeline::back(state))
        .when(|state| match &state.known.playback {
            Some(playback) if playback.is_returning() => Err(timeline::RETURNING.to_owned()),
            Some(playback) if playback.live.is_some() => Ok(()),
            Some(_) => Err("this is a recording, which has nothing live to go back to".to_owned()),
            None if state.known.watch.live == Some(true) => Err("this is live already".to_owned()),
            None => Err("this source is not live".to_owned()),
        })
        .prominent(),
    of("log", &["M"], "Show what was said so far", |state, _| {
        layered::toggle(state, Layer::Log(Scroll { top: usize::MAX / 4 }))
    })
    .over(Over::Layers),
    of("redraw", &["ctrl-l"], "Draw the screen again", |_, _| vec![Effect::Redraw]).over(Over::Lines),
    of("suspend", &["ctrl-z"], "Go to the shell; fg comes back", |_, _| vec![Effect::Suspend])
        .over(Over::Lines),
];

/// The action with this word.
pub fn action(id: &str) -> Option<&'static Action> {
    ACTIONS.iter().find(|action| action.id == id)
}

/// The engines of a list; all engines for an empty list.
fn engines_named(list: &str) -> Result<Vec<&'static Engine>, String> {
    if list.is_empty() {
        return Ok(forward::all_engines());
    }
    let unknown = |id: &str| {
        let ids: Vec<&str> = forward::all_engines().iter().map(|engine| engine.id).collect();
        format!("there is no engine '{id}'; engines are {}", ids.join(", "))
    };
    let words = list.split([',', ' ']).filter(|word| !word.is_empty());
    words.map(|id| engine(id).ok_or_else(|| unknown(id))).collect()
}

fn copied(state: &mut State, line: String) -> Vec<Effect> {
    // The remarks come before the line, because the end of a long line is not visible.
    let remarks = unlike(state);
    let remarks = if remarks.is_empty() { String::new() } else { format!(" ({})", remarks.join("; ")) };
    state.say(Severity::Said, format!("copied{remarks}: {line}"));
    vec![Effect::Copy(line)]
}

/// Leaves the session, unless notes would be lost or a change would end with it. It then warns or asks first.
fn leave(state: &mut State) -> Vec<Effect> {
    let notes = state.unsaved.notes;
    if notes > 0 && !std::mem::replace(&mut state.unsaved.told, true) {
        let notes = counted(notes, "note is", "notes are");
        let text = format!(":save FILE keeps what was watched: {notes} in no file yet; once more leaves");
        state.say(Severity::Warning, text);
        return Vec::new();
    }
    if changing::ends_with_session(state) {
        return Vec::new();
    }
    state.leaving = true;
    vec![Effect::Leave]
}

fn ask(state: &mut State, purpose: Purpose) -> Vec<Effect> {
    begin_line(state, purpose, "");
    Vec::new()
}

pub(super) fn named(state: &mut State, text: &str) -> Option<Resolved> {
    let look = state.known.look.clone()?;
    // A name with spaces may be quoted, but need not be.
    let whole = words(text);
    let text = if let [(_, only)] = whole.as_slice() { only } else { text };
    let found = Element::find(look.fabric(), &look.names, text);
    found.map_err(|error| state.say(Severity::Error, as_here(&error.to_string()))).ok()
}

fn random(state: &mut State, argument: &str) -> Vec<Effect> {
    let Ok(count) = argument.trim().parse::<usize>() else {
        state.say(Severity::Error, "random takes a number of links: random 3");
        return Vec::new();
    };
    let Some(look) = state.known.look.clone() else { return Vec::new() };
    forward::remember(state);
    let drawn = mark_random(&look, &mut state.known.marks, count, state.seed);
    state.seed += 1;
    let said = format!("{}; nothing is touched in the fabric", drawn_words(drawn, count));
    state.say(if drawn < count { Severity::Warning } else { Severity::Said }, said);
    forward::remarked(state)
}
