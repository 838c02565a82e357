//! The table of actions: every thing that a key or a word does, once. The keymap, the palette, the help, the footer and
//! `docs/keys.md` are made from it.

use std::path::PathBuf;

use super::effect::{Effect, Job, PlanFor};
use super::forward;
use super::layer::{Help, Layer, Scroll};
use super::messages::Severity;
use super::prompt::Purpose;
use super::screens::{Entered, SCREENS, ScreenId};
use super::state::{Loading, State, quoted};
use super::update::{ask as begin_line, page, set_filter};
use crate::fabric::{Element, Resolved};
use crate::routing::{Engine, engine};
use crate::session::{Danger, Look, Sent, drawn_words, mark_random};

/// Where its key works. Its word works everywhere, and leads to the screen.
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

/// What an action does, with the rest of its line.
pub type Act = fn(&mut State, &str) -> Vec<Effect>;

#[derive(Clone, Copy)]
pub struct Action {
    /// Its word in the palette and in the configuration.
    pub id: &'static str,
    /// One line, without a full stop.
    pub title: &'static str,
    /// What may follow its word.
    pub argument: &'static str,
    pub keys: &'static [&'static str],
    pub place: Place,
    pub danger: Danger,
    /// Whether the footer shows it.
    pub prominent: bool,
    /// Why it cannot run now.
    pub ready: fn(&State) -> Result<(), String>,
    /// The command line that does the same as what was done; of what is only shown the screen has one.
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
        danger: Danger::None,
        prominent: false,
        ready: |_| Ok(()),
        line: None,
        act,
    }
}

impl Action {
    const fn on(mut self, screen: ScreenId) -> Self {
        self.place = Place::On(screen);
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

    const fn writes_file(mut self) -> Self {
        self.danger = Danger::WritesFile;
        self
    }
}

/// In the order of help.
pub const ACTIONS: &[Action] = &[
    of("help", &["?"], "Show the keys, and search them", |state, _| {
        state.layer = Some(Layer::Help(Help::default()));
        Vec::new()
    })
    .prominent(),
    of("tour", &[], "Take the tour", |state, _| {
        state.layer = Some(Layer::Tour(0));
        Vec::new()
    }),
    of("quit", &["q", "ctrl-q"], "Go back, and leave at the top", |state, _| match go_out(state) {
        true => Vec::new(),
        false => leave(state),
    }),
    of("out", &["esc", "-"], "Go out, cancel what is under way", |state, _| {
        // What the line below offers to cancel is cancelled before anything is left.
        let on_list = state.screen == ScreenId::Whatif && state.screens.whatif.page.is_none();
        if (on_list && state.engines_under_way()) || (!go_out(state) && !state.tasks.running().is_empty()) {
            return forward::cancel_all(state);
        }
        Vec::new()
    }),
    of("enter", &["enter"], "Go in", |state, _| {
        let (screen, known) = state.current_mut();
        match screen.enter(known) {
            Entered::Done => {}
            Entered::Nothing(why) => state.say(Severity::Said, why),
            Entered::Ask(purpose) => begin_line(state, purpose, ""),
        }
        Vec::new()
    }),
    of("details", &["d"], "Show all of what the cursor is on", |state, _| {
        if state.screen == ScreenId::Whatif && state.current().current(&state.known).is_none() {
            return action("enter").map(|enter| (enter.act)(state, "")).unwrap_or_default();
        }
        state.layer = Some(Layer::Details(Scroll::default()));
        Vec::new()
    })
    .when(has_fabric)
    .prominent(),
    of("palette", &[":"], "Type an action by its word", |state, _| {
        begin_line(state, Purpose::Command, "");
        Vec::new()
    })
    .prominent(),
    of("filter", &["/"], "Narrow the list: leaf, hosts>10, name~spine", |state, argument| {
        if argument.is_empty() {
            let filter = state.current().table().filter.clone();
            begin_line(state, Purpose::Filter, filter);
        } else {
            set_filter(state, argument.to_owned());
        }
        Vec::new()
    })
    .takes("CONDITION")
    .when(has_list)
    .prominent(),
    of("screen-1", &["1"], SCREENS[0].about, |state, _| to(state, 0)),
    of("screen-2", &["2"], SCREENS[1].about, |state, _| to(state, 1)),
    of("screen-3", &["3"], SCREENS[2].about, |state, _| to(state, 2)),
    of("screen-4", &["4"], SCREENS[3].about, |state, _| to(state, 3)),
    of("next-view", &["tab"], "Look at the same things in another way", |state, _| view(state, true)),
    of("previous-view", &["shift-tab"], "The way before", |state, _| view(state, false)),
    of("up", &["up", "k"], "One row up", |state, _| step(state, -1)),
    of("down", &["down", "j"], "One row down", |state, _| step(state, 1)),
    of("page-up", &["pgup", "ctrl-b"], "One page up", |state, _| step(state, -(page(state) as isize))),
    of("page-down", &["pgdn", "ctrl-f"], "One page down", |state, _| step(state, page(state) as isize)),
    of("first", &["g", "home"], "The first row", |state, _| step(state, isize::MIN)),
    of("last", &["G", "end"], "The last row", |state, _| step(state, isize::MAX)),
    of("left", &["left", "h"], "Columns to the left", |state, _| columns(state, -1)),
    of("right", &["right", "l"], "Columns to the right", |state, _| columns(state, 1)),
    of("sort", &["s"], "Sort by the next column, or by the one that is named", |state, argument| {
        match argument.is_empty() {
            true => sort(state, false),
            false => sort_by(state, argument),
        }
    })
    .takes("FIELD")
    .when(has_list),
    of("reverse", &["S"], "Turn the order around", |state, _| sort(state, true)).when(has_list),
    of("mark", &["f"], "Mark as failed, or take the mark away", |state, argument| {
        let what = match argument.is_empty() {
            true => state.current().current(&state.known),
            false => named(state, argument),
        };
        if what.is_none() && argument.is_empty() {
            state.say(Severity::Said, "put the cursor on a switch, a host, a port or a cable to mark it");
        }
        what.map(|what| forward::mark(state, what)).unwrap_or_default()
    })
    .takes("ELEMENT")
    .when(has_fabric)
    .line(whatif_line)
    .prominent(),
    of("clear-marks", &["F"], "Take all marks away", |state, _| {
        state.known.marks.clear();
        state.say(Severity::Said, "no element is marked any more");
        forward::remarked(state)
    })
    .line(whatif_line)
    .when(|state| match state.known.marks.is_empty() {
        true => Err("nothing is marked".to_owned()),
        false => Ok(()),
    }),
    of("random", &[], "Mark so many random links between switches", random)
        .takes("COUNT")
        .when(has_fabric)
        .line(whatif_line),
    of("preview", &["p"], "Let every engine route what is left", |state, argument| {
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
    })
    .takes("ENGINE,...")
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
    .takes("FILE")
    .on(ScreenId::Whatif)
    .when(can_write_plan)
    .writes_file()
    .prominent(),
    of("trace", &["t"], "Follow a path that begins here", |state, argument| {
        let begin = match argument.is_empty() {
            true => state.current().current(&state.known).and_then(|what| state.known.element(what)),
            false => argument.split_whitespace().next().map(str::to_owned),
        };
        let Some(begin) = begin else {
            state.say(Severity::Said, "put the cursor on a switch, a host or a port to begin a path there");
            return Vec::new();
        };
        lead_to(state, ScreenId::Paths);
        state.screens.paths.set(Purpose::From, begin, &state.known);
        match argument.split_whitespace().nth(1) {
            Some(end) => state.screens.paths.set(Purpose::To, end.to_owned(), &state.known),
            None => begin_line(state, Purpose::To, ""),
        }
        Vec::new()
    })
    .takes("FROM TO")
    .when(has_fabric),
    of(
        "users",
        &["U"],
        "Show who uses this cable: the destinations that are reached over it",
        |state, argument| {
            let what = match argument.is_empty() {
                true => state.current().current(&state.known),
                false => named(state, argument),
            };
            let fabric = state.look().map(|look| look.fabric());
            let link = match what {
                Some(Resolved::Link(link)) => Some(link),
                Some(Resolved::Port(port)) => fabric.and_then(|fabric| fabric.port(port).link),
                _ => None,
            };
            match link {
                Some(link) => {
                    lead_to(state, ScreenId::Paths);
                    state.screens.paths.show_users(link, &state.known);
                }
                None => state.say(Severity::Said, "put the cursor on a cable, or on a port that has one"),
            }
            Vec::new()
        },
    )
    .takes("NODE[PORT]")
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
                state.say(Severity::Warning, "no command line shows this");
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
    of("look-again", &["r"], "Look at the source again", |state, _| {
        let (task, effect) = state.begin(format!("looking at {}", state.source), Job::Look);
        state.loading = Loading::Under(task);
        vec![effect]
    })
    .when(|state| match state.loading {
        Loading::Under(_) => Err("a look is under way".to_owned()),
        _ => Ok(()),
    }),
    of("log", &["M"], "Show what was said so far", |state, _| {
        state.layer = Some(Layer::Log(Scroll { top: usize::MAX / 4 }));
        Vec::new()
    }),
    of("redraw", &["ctrl-l"], "Draw the screen again", |_, _| vec![Effect::Redraw]),
    of("suspend", &["ctrl-z"], "Go to the shell; fg comes back", |_, _| vec![Effect::Suspend]),
];

/// The action of a word.
pub fn action(id: &str) -> Option<&'static Action> {
    ACTIONS.iter().find(|action| action.id == id)
}

fn has_fabric(state: &State) -> Result<(), String> {
    match (&state.known.look, &state.loading) {
        (Some(_), _) => Ok(()),
        (None, Loading::Failed(_)) => Err("the source could not be read; r looks again".to_owned()),
        (None, _) => Err("the source is still being read".to_owned()),
    }
}

/// What is compared with the tables in force waits for them.
fn has_whole_look(state: &State) -> Result<(), String> {
    has_fabric(state)?;
    match state.loading {
        Loading::Under(_) => Err("the tables are still being read".to_owned()),
        Loading::Failed(_) if !state.known.tables => {
            Err("the tables were not read to the end; r looks again".to_owned())
        }
        _ => Ok(()),
    }
}

/// The engines of a list; all of them when it is empty.
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

fn has_paths(state: &State) -> Result<(), String> {
    has_whole_look(state)?;
    match (&state.known.paths, state.known.tables) {
        (Some(_), _) => Ok(()),
        (None, true) if let Some(why) = &state.known.unindexed => {
            Err(format!("the paths cannot be indexed: {why}"))
        }
        (None, true) => Err("the paths are still being indexed".to_owned()),
        (None, false) => Err("the source has no forwarding tables".to_owned()),
    }
}

fn has_list(state: &State) -> Result<(), String> {
    match state.current().listing(&state.known) {
        Some(_) => Ok(()),
        None => Err("there is no list here".to_owned()),
    }
}

fn can_write_plan(state: &State) -> Result<(), String> {
    has_whole_look(state)?;
    if !state.known.tables {
        return Err(
            "the source has no forwarding tables to compare with; open it with --assume ENGINE".to_owned()
        );
    }
    let Some(engine) = state.screens.whatif.engine() else {
        return Err("put the cursor on an engine".to_owned());
    };
    match state.known.proposal(engine) {
        Some(_) => Ok(()),
        None => Err(format!("{} has no routes for these marks; p asks it", engine.id)),
    }
}

/// A look of the console asks nobody for the lanes in force.
fn as_here(look: &Look) -> &'static str {
    match Sent::unasked(look) {
        Sent::Unknown => " --lanes-in-force unknown",
        _ => "",
    }
}

/// Asks the engines that were asked, over the marks as they are. It asks nobody for lanes either.
fn whatif_line(state: &State) -> Option<String> {
    let asked: Vec<&str> = state.engines().keys().copied().collect();
    let engines = if asked.is_empty() { String::new() } else { format!(" --engine {}", asked.join(",")) };
    Some(state.line(&format!("whatif{}{engines}", state.marks_as_arguments())))
}

/// Writes the plan of an engine into a file.
fn route_line(state: &State, engine: &Engine, file: &str) -> String {
    let marks = state.marks_as_arguments();
    let lanes = state.look().map_or("", |look| as_here(look));
    state.line(&format!("route --engine {}{marks}{lanes} -o {}", engine.id, quoted(file)))
}

fn copied(state: &mut State, line: String) -> Vec<Effect> {
    state.say(Severity::Said, format!("copied: {line}"));
    vec![Effect::Copy(line)]
}

/// Writes the plan of the engine under the cursor.
pub fn write_plan(state: &mut State, file: &str) -> Vec<Effect> {
    let found = state
        .screens
        .whatif
        .engine()
        .and_then(|engine| Some((engine, state.known.proposal(engine)?.clone())));
    let (Some(look), Some((engine, proposal))) = (state.known.look.clone(), found) else {
        state.say(
            Severity::Warning,
            "no plan was written: the engine has no routes for what is there now; p asks it",
        );
        return Vec::new();
    };
    let marks = state.known.marks.clone();
    state.last_line = Some(route_line(state, engine, file));
    for fault in proposal.report.faults() {
        state.say(Severity::Warning, format!("the plan of {} has findings: {fault}", engine.id));
    }
    let plan = Box::new(PlanFor { look, marks, engine: engine.id, proposal });
    vec![state.begin(format!("writing {file}"), Job::Write { plan, to: PathBuf::from(file) }).1]
}

fn leave(state: &mut State) -> Vec<Effect> {
    state.leaving = true;
    vec![Effect::Leave]
}

/// One step out; false at the top.
fn go_out(state: &mut State) -> bool {
    if !state.current().table().filter.is_empty() {
        set_filter(state, String::new());
        return true;
    }
    let (screen, known) = state.current_mut();
    let stepped = screen.out(known);
    if let Some(back) = state.came_from.take() {
        state.screen = back;
        return true;
    }
    if stepped {
        return true;
    }
    let elsewhere = state.screen != ScreenId::Fabric;
    state.screen = ScreenId::Fabric;
    elsewhere
}

/// Leads to a screen that answers a question, and remembers where it was asked.
fn lead_to(state: &mut State, screen: ScreenId) {
    state.came_from = Some(state.screen).filter(|from| *from != screen);
    state.screen = screen;
}

fn to(state: &mut State, at: usize) -> Vec<Effect> {
    state.came_from = None;
    if let Some(screen) = SCREENS.get(at) {
        state.screen = screen.id;
    }
    Vec::new()
}

fn view(state: &mut State, forward: bool) -> Vec<Effect> {
    let (screen, known) = state.current_mut();
    if let Err(why) = screen.next_view(known, forward) {
        state.say(Severity::Said, why);
    }
    Vec::new()
}

fn step(state: &mut State, by: isize) -> Vec<Effect> {
    if state.screen == ScreenId::Whatif && state.screens.whatif.page.is_some() {
        let rows = super::screens::rows_of_page(state);
        let top = &mut state.screens.whatif.top;
        *top = top.saturating_add_signed(by).min(rows.saturating_sub(1));
        return Vec::new();
    }
    state.current_mut().0.table_mut().step(by);
    Vec::new()
}

fn columns(state: &mut State, by: isize) -> Vec<Effect> {
    let (screen, _) = state.current_mut();
    let held = screen.held_columns();
    screen.table_mut().scroll_columns(by, held);
    Vec::new()
}

fn sort_by(state: &mut State, field: &str) -> Vec<Effect> {
    let found = state.current().listing(&state.known).and_then(|listing| {
        let column =
            (0..listing.column_count()).map(|at| listing.column(at)).find(|column| column.id == field)?;
        Some((column.id.to_string(), matches!(column.kind, crate::session::Kind::Number)))
    });
    let Some(order) = found else {
        state.say(Severity::Error, format!("this list has no field '{field}'"));
        return Vec::new();
    };
    state.current_mut().0.table_mut().sort = Some(order);
    let filter = state.current().table().filter.clone();
    set_filter(state, filter);
    state.current_mut().0.table_mut().to(0);
    Vec::new()
}

fn sort(state: &mut State, reverse: bool) -> Vec<Effect> {
    let (screen, known) = state.current_mut();
    let mut table = std::mem::take(screen.table_mut());
    if let Some(listing) = screen.listing(known) {
        if reverse { table.reverse(&*listing) } else { table.sort_by_next(&*listing) }
    }
    let order = table.sort.clone();
    table.to(0);
    *screen.table_mut() = table;
    let said = match order {
        Some((column, true)) => format!("sorted by {column}, largest first"),
        Some((column, false)) => format!("sorted by {column}"),
        None => "in the order of the fabric".to_owned(),
    };
    state.say(Severity::Said, said);
    Vec::new()
}

fn ask(state: &mut State, purpose: Purpose) -> Vec<Effect> {
    begin_line(state, purpose, "");
    Vec::new()
}

fn named(state: &mut State, text: &str) -> Option<Resolved> {
    let look = state.known.look.clone()?;
    let found = Element::find(look.fabric(), &look.names, text);
    found.map_err(|error| state.say(Severity::Error, error.to_string())).ok()
}

fn random(state: &mut State, argument: &str) -> Vec<Effect> {
    let Ok(count) = argument.trim().parse::<usize>() else {
        state.say(Severity::Error, "random takes a number of links: random 3");
        return Vec::new();
    };
    let Some(look) = state.known.look.clone() else { return Vec::new() };
    let drawn = mark_random(&look, &mut state.known.marks, count, state.seed);
    state.seed += 1;
    let said = format!("{}; nothing is touched in the fabric", drawn_words(drawn, count));
    state.say(if drawn < count { Severity::Warning } else { Severity::Said }, said);
    forward::remarked(state)
}

/// The command line that shows what the screen shows.
fn equivalent(state: &State) -> Option<String> {
    if state.screen == ScreenId::Whatif {
        return match state.screens.whatif.page {
            Some(engine) => Some(route_line(state, engine, &state.plan_name(engine.id))),
            None => whatif_line(state),
        };
    }
    let mut line = state.line(&state.current().command(&state.known)?);
    let table = state.current().table();
    // Fields of a list that no command prints are in no line.
    if !state.current().is_printed() {
        return Some(line);
    }
    if !table.filter.is_empty() {
        line.push_str(&format!(" --filter {}", quoted(&table.filter)));
    }
    if let Some((column, down)) = &table.sort {
        line.push_str(&format!(" --sort {column}{}", if *down { ":desc" } else { "" }));
    }
    Some(line)
}
