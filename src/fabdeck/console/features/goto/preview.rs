//! What the preview shows of the row at the cursor.

use super::cost_tasks::cost_lines;
use super::goto_state::{GotoRow, GotoTarget};
use super::map_rows::part_pairs;
use crate::catalogue::summary::count_words;
use crate::console::features::details::ElementDetail;
use crate::console::features::health::card_text::short_number;
use crate::console::features::health::detail::problem_lines;
use crate::console::model::action::{Action, KeyScope};
use crate::console::model::detail_page::DetailLine;
use crate::console::model::state::SessionState;
use fabdeck_fabric::{Element, ElementId, PortId};

/// The load of each cable of a node, in percent, `None` where it is not known.
pub type CableLoads = Vec<Option<u16>>;

/// The content of the preview.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GotoPreview {
    pub title: String,
    pub pairs: Vec<DetailLine>,
    /// The loads of the cables of a switch, in the order of its ports.
    pub loads: CableLoads,
    /// The ports whose traffic a chart shows.
    pub ports: Vec<PortId>,
}

impl GotoPreview {
    /// The preview of a row; `unknown` is the sign of what is not known.
    pub fn of_row(state: &SessionState, row: &GotoRow, unknown: &str) -> Self {
        let title = row.text.clone();
        let pairs = match &row.target {
            GotoTarget::Element(text) => return element_preview(state, text, unknown).unwrap_or_default(),
            GotoTarget::Problem(id) => problem_pairs(state, id),
            GotoTarget::Job(job) => job_pairs(state, job),
            GotoTarget::Change(id) => change_pairs(state, id),
            GotoTarget::MapPart(name) => part_pairs(state, name),
            GotoTarget::Moment { place, time } => moment_pairs(state, *place, *time),
            GotoTarget::Action { id, argument } => action_pairs(state, id, argument),
            GotoTarget::Events => vec![("event", row.about.clone()), ("enter", "shows the log".to_owned())],
            GotoTarget::Line(line) => vec![("enter", format!("runs '{line}' again"))],
            GotoTarget::Completion { line, needs_more } => {
                let does = if *needs_more { "completes the line, which needs more" } else { "runs" };
                vec![("line", line.clone()), ("enter", does.to_owned()), ("about", row.about.clone())]
            }
            GotoTarget::More(group) => vec![("enter", format!("shows all {} of this list", group.title()))],
        };
        Self { title, pairs, ..Self::default() }
    }
}

fn element_preview(state: &SessionState, text: &str, unknown: &str) -> Option<GotoPreview> {
    let look = state.snapshot()?;
    let element: Element = text.parse().ok()?;
    let what = element.resolve(look.fabric(), &look.names).ok()?;
    let detail = ElementDetail(what);
    let mut pairs = detail.lines(&state.known);
    if let ElementId::Node(node) = what {
        let trouble = state.known.health.node(node);
        pairs.push(("problem", if trouble.is_empty() { "none known" } else { trouble }.to_owned()));
    }
    let mut ports = traffic_ports(state, what);
    pairs.extend(traffic_line(state, &ports, unknown));
    pairs.extend(cost_lines(state, text, unknown));
    if let (ElementId::Node(node), true) = (what, ports.is_empty()) {
        let cabled = look.fabric().ports_of(node).filter(|(_, port)| port.peer.is_some());
        ports = cabled.map(|(id, _)| id).collect();
    }
    Some(GotoPreview { title: detail.title(look), pairs, loads: cable_loads(state, what), ports })
}

/// The ports that send the traffic of an element: both ends of a cable, a port and its peer, and of a host with one cable
/// its port and that of the switch. A switch has a load for each cable instead.
fn traffic_ports(state: &SessionState, what: ElementId) -> Vec<PortId> {
    let Some(look) = state.snapshot() else { return Vec::new() };
    let fabric = look.fabric();
    let both = |port: PortId| std::iter::once(port).chain(fabric.port(port).peer).collect();
    match what {
        ElementId::Link(link) => vec![fabric.link(link).a, fabric.link(link).b],
        ElementId::Port(port) => both(port),
        ElementId::Node(node) if fabric.node(node).is_switch() => Vec::new(),
        ElementId::Node(node) => {
            let mut cabled = fabric.ports_of(node).filter(|(_, port)| port.peer.is_some());
            match (cabled.next(), cabled.next()) {
                (Some((port, _)), None) => both(port),
                _ => Vec::new(),
            }
        }
    }
}

/// What goes out of the first of two ports and comes in, during a watch.
fn traffic_line(state: &SessionState, ports: &[PortId], unknown: &str) -> Option<DetailLine> {
    let (Some(reading), [near, far]) = (&state.known.watch.reading, ports) else { return None };
    let sent = |port: &PortId| reading.port_row_of(ElementId::Port(*port)).and_then(|row| row.sent_mbps);
    let words = |mbps: Option<u64>| match mbps {
        Some(mbps) => format!("{} Gb/s", short_number(mbps as f64 / 1000.0)),
        None => format!("{unknown} not known"),
    };
    Some(("traffic", format!("{} out, {} in", words(sent(near)), words(sent(far)))))
}

/// The loads of the cables of a switch; empty without a reading of counters.
fn cable_loads(state: &SessionState, what: ElementId) -> CableLoads {
    let (Some(look), Some(reading), ElementId::Node(node)) =
        (state.snapshot(), &state.known.watch.reading, what)
    else {
        return Vec::new();
    };
    let fabric = look.fabric();
    if !fabric.node(node).is_switch() {
        return Vec::new();
    }
    let used = |port| reading.port_row_of(ElementId::Port(port)).and_then(|row| row.used);
    let of_cable = |port: &fabdeck_fabric::Port| {
        let link = fabric.link(port.link?);
        Some(used(link.a).max(used(link.b)))
    };
    fabric.ports_of(node).filter_map(|(_, port)| of_cable(port)).collect()
}

fn problem_pairs(state: &SessionState, id: &str) -> Vec<DetailLine> {
    let ranked = state.known.problems.ranked.as_ref();
    let problem = ranked.and_then(|ranked| ranked.problems.iter().find(|problem| problem.id == id));
    match (ranked, problem) {
        (Some(ranked), Some(problem)) => problem_lines(problem, ranked.jobs.is_some()),
        _ => vec![("problem", "over: Health has the current ones".to_owned())],
    }
}

fn job_pairs(state: &SessionState, job: &str) -> Vec<DetailLine> {
    let ranked = state.known.problems.ranked.as_ref().and_then(|ranked| ranked.jobs.as_ref());
    let Some(hit) = ranked.and_then(|jobs| jobs.rows.iter().find(|hit| hit.job == job)) else {
        return vec![("hit", "by no problem that is known".to_owned())];
    };
    let numbers: Vec<String> = hit.problems.iter().map(|at| (at + 1).to_string()).collect();
    let worst = hit
        .worst
        .map_or_else(|| "not known".to_owned(), |share| format!("{:.0} % of the time", share * 100.0));
    vec![
        ("hosts", hit.hosts.to_string()),
        ("waiting", hit.waiting.to_string()),
        ("worst wait", worst),
        ("problems", if numbers.is_empty() { "none".to_owned() } else { numbers.join(", ") }),
    ]
}

fn change_pairs(state: &SessionState, id: &str) -> Vec<DetailLine> {
    let Some(row) = state.known.changes.row(id) else {
        return vec![("change", "no longer listed".to_owned())];
    };
    let mut pairs = vec![
        ("state", row.state_title().to_owned()),
        ("what", row.engine.clone()),
        ("id", row.id.clone()),
        ("begun", format!("{} by {}", row.time, row.user)),
        ("writes", row.progress_words()),
    ];
    pairs.extend(row.ended.clone().map(|at| ("ended", at)));
    pairs.extend(row.why.clone().map(|why| ("reason", why)));
    pairs
}

fn moment_pairs(state: &SessionState, place: usize, time: i64) -> Vec<DetailLine> {
    let events = state.screens.timeline.events();
    match events.iter().find(|event| event.at == time && event.place == Some(place)) {
        Some(event) => vec![
            ("time", event.time.clone()),
            ("kind", event.label.to_owned()),
            ("by", event.by.to_owned()),
            ("what", event.text.clone()),
            ("sample", (place + 1).to_string()),
        ],
        None => vec![("time", "no longer in the recording".to_owned())],
    }
}

fn action_pairs(state: &SessionState, id: &str, argument: &str) -> Vec<DetailLine> {
    let Some(action) = state.keymap.find_action(id) else { return Vec::new() };
    let keys: Vec<String> = state.keymap.keys(action).iter().map(ToString::to_string).collect();
    let mut pairs = vec![("does", action.title.to_owned())];
    if let Err(why) = (action.ready)(state) {
        pairs.push(("not now", why));
    }
    pairs.push(("keys", if keys.is_empty() { "none".to_owned() } else { keys.join(" ") }));
    pairs.push(("works on", place_words(action)));
    if !action.argument.is_empty() {
        pairs.push(("takes", action.argument.to_owned()));
    }
    pairs.push(("line", format!(":{id} {argument}").trim_end().to_owned()));
    pairs
}

fn place_words(action: &Action) -> String {
    match action.place {
        KeyScope::Everywhere => "every screen".to_owned(),
        KeyScope::On(screen) => format!("{}, which it opens", screen.title().title),
    }
}

/// The words above the loads of cables.
pub fn loads_title(loads: &CableLoads) -> String {
    format!("load of its {}, %", count_words(loads.len(), "cable", "cables"))
}
