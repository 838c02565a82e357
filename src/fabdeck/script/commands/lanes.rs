//! `lanes` and `lanes propose`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::check::{finding_lines, premises};
use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::json_type::{JsonType, Sorted, json_type, json_type_of, words_schema};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::{count_words, device_words};
use crate::catalogue::value::rate_in_millions;
use crate::operations::lanes::lane_choice::LaneChoice;
use crate::operations::lanes::lane_proposal::{
    LaneProposal, ProposalRequest, propose_lanes, read_lane_state,
};
use crate::operations::lanes::migrations::migration_lines;
use crate::operations::lanes::slow_lanes::{
    LaneFlow, LaneSpot, LaneState, LaneStatus, LaneTable, TableStatus,
};
use crate::operations::plans::proposal_plan::plan_text;
use crate::operations::plans::route_plan::findings_warning;
use crate::script::answer::{Lines, Part, json_answer};
use crate::script::argument_values::duration;
use crate::script::command_entry::{CommandEntry, CommandFunction, FilterUse, OptionUse};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use crate::system::output_file;
use clap::Args;
use fabdeck_change::{FollowMode, Plan};
use fabdeck_fabric::{Guid, Lid, ServiceLevel};
use fabdeck_routing::lanes::{MissingEnd, MovedFlows};
use serde::Serialize;

pub const LANES: CommandEntry = CommandEntry::new(
    "lanes",
    "The flows on a slow lane, and the tables on their paths",
    "dFtree moves the traffic to an overloaded host (a hot-spot) to a virtual lane of its own. Listed are the \
     hot-spots of changes in force, and every port on the paths to them whose SL2VL or arbitration table is \
     not what slow lanes need. Such tables end with exit code 2. docs/lanes.md has more.",
)
.needs_fabric()
.examples(&["fabdeck --source sim:demo lanes", "fabdeck --source sim:kary,k=4,n=2 lanes --json"])
.runs(&CommandFunction(show_state))
.at(OptionUse::Used)
.json(&[JsonSchema::answer::<LaneStateAnswer<'_>>("lane-state")]);

pub const LANES_PROPOSE: CommandEntry = CommandEntry::new(
    "lanes propose",
    "Propose flows for a slow lane or back, as a plan",
    "Counters are read twice, as by `hotspots`. Flows of contributors to a hot-spot move to the slow twin of \
     their lane, and new contributors join them. Where an adapter is no longer a hot-spot, its flows move \
     back; victims stay. The plan has the tables that slow lanes need on every path to the hot-spot, the \
     flows, how their hosts follow, and a certificate; routes stay as they are. A plan that is impossible is \
     refused with the port that prevents it. The exit code is 0 with nothing to move, 2 with moves and no -o, \
     and with -o 2 where the plan has findings.",
)
.needs_fabric()
.danger(Danger::WritesFile)
.examples(&[
    "fabdeck --source sim:demo lanes propose --interval 5s",
    "fabdeck --source umad lanes propose -o slow.plan",
    "fabdeck --source umad lanes propose --back -o back.plan",
])
.runs(&CommandFunction(run_propose))
.filter(FilterUse::Refused("lanes"))
.at(OptionUse::Used)
.json(&[JsonSchema::answer::<ProposalAnswer<'_>>("lanes-propose")]);

#[derive(Debug, Args)]
pub struct LanesShowArgs {
    /// How the service levels of the paths in force are determined (default: from path records, unless that takes too
    /// many queries)
    #[arg(long, value_name = "HOW")]
    pub lanes_in_force: Option<LaneChoice>,
    /// Print only the first N of each kind; JSON has all
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
}

#[derive(Debug, Args)]
pub struct ProposeArgs {
    /// New file for the plan; `-` is stdout
    #[arg(short, long, value_name = "PLAN")]
    pub output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Move all flows on slow lanes back to the fast ones, without reading counters
    #[arg(long, conflicts_with_all = ["interval", "count"])]
    pub back: bool,
    /// Interval between two sweeps: 500ms, 2s, or seconds without a unit (default: 10s)
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub interval: Option<Duration>,
    /// Number of intervals to judge; the last one decides what is proposed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub count: u32,
    #[command(flatten)]
    pub shown: LanesShowArgs,
}

fn show_state(context: &mut Context<'_, '_>, shown: &LanesShowArgs) -> Result<Exit, Failure> {
    let (snapshot, state) = read_lane_state(&mut context.operation(), shown.lanes_in_force)?;
    if context.output.json {
        context.write_answer("lane-state", &snapshot, LaneStateAnswer::new(&snapshot, &state))?;
    } else {
        let mut lines = premises(&snapshot);
        lines.extend(state_lines(&snapshot, &state, shown.top));
        if state.spots.is_empty() {
            lines.push(("slow lane", "no flow is on a slow lane".to_owned()));
        }
        context.output.write_pairs(&lines)?;
    }
    let concluded = context.conclude(&snapshot);
    Ok(if has_wrong_tables(&state) { Exit::Findings } else { concluded })
}

/// Whether tables differ from what slow lanes need, or cannot be judged.
fn has_wrong_tables(state: &LaneState) -> bool {
    state.refused.is_some() || state.differing_tables().next().is_some()
}

fn run_propose(context: &mut Context<'_, '_>, asked: &ProposeArgs) -> Result<Exit, Failure> {
    if let Some(output) = &asked.output {
        output_file::refuse_unless_forced(output, asked.force)?;
    }
    let request = ProposalRequest {
        back: asked.back,
        interval: asked.interval,
        count: asked.count,
        lanes_in_force: asked.shown.lanes_in_force,
    };
    let LaneProposal { snapshot, state, plan } = propose_lanes(&mut context.operation(), &request)?;
    let plan = match plan {
        Ok(plan) => plan,
        Err(failure) => {
            context.conclude(&snapshot);
            return Err(failure);
        }
    };
    let file = asked.output.as_deref().filter(|_| plan.is_some());
    if let (Some(file), Some(plan)) = (file, &plan) {
        let text = plan_text(plan).map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
        output_file::write(context.output.out, file, text.as_bytes())?;
    }
    if file.is_none_or(|file| !output_file::is_stdout(file)) {
        write_report(context, &snapshot, &state, plan.as_ref(), file, asked.shown.top)?;
    }
    if let (Some(plan), Some(_)) = (&plan, file) {
        findings_warning(plan).iter().for_each(|line| context.output.print_message(line));
    }
    let concluded = context.conclude(&snapshot);
    let found = match plan {
        Some(plan) => asked.output.is_none() || !plan.findings.is_empty(),
        None => has_wrong_tables(&state),
    };
    Ok(if found { Exit::Findings } else { concluded })
}

fn write_report(
    context: &mut Context<'_, '_>,
    snapshot: &Snapshot,
    state: &LaneState,
    plan: Option<&Plan>,
    file: Option<&Path>,
    most: usize,
) -> Result<(), Failure> {
    let file = file.map(|file| file.display().to_string());
    let findings = plan.map(|plan| plan.findings.clone()).unwrap_or_default();
    let writes = plan.map_or(0, |plan| plan.writes.len());
    if context.output.json {
        let state = Part(LaneStateAnswer::new(snapshot, state));
        let answer = ProposalAnswer { plan: file, writes, findings: &findings, state };
        return context.write_answer("lanes-propose", snapshot, answer);
    }
    let mut lines = premises(snapshot);
    lines.extend(state_lines(snapshot, state, most));
    match plan {
        Some(plan) => {
            let parts = count_words(writes, "part", "parts");
            let written = match writes {
                0 => "nothing: the tables already have what slow lanes need".to_owned(),
                _ => format!("{parts} of {}", device_words(plan.count_targets())),
            };
            if plan.migrations.is_empty() {
                lines.extend(migration_lines(plan));
            }
            lines.push(("writes", written));
            lines.push(("transition", plan.transition.short_verdict()));
            lines.extend(finding_lines(&findings));
            lines.extend(file.map(|file| ("plan", file)));
        }
        None => lines.push(("verdict", "nothing to move".to_owned())),
    }
    Ok(context.output.write_pairs(&lines)?)
}

fn follows_word(follows: FollowMode) -> &'static str {
    match follows {
        FollowMode::Agent => "its agent follows",
        FollowMode::Queries => "no agent",
        FollowMode::Unknown => "agent unknown",
    }
}

fn state_lines(snapshot: &Snapshot, state: &LaneState, most: usize) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let more = |lines: &mut Vec<_>, all: usize| {
        if all > most {
            lines.push(("", format!("and {} more", all - most)));
        }
    };
    for spot in state.spots.iter().take(most) {
        lines.push(("hot-spot", spot_words(spot)));
        let flow = |flow: &LaneFlow| {
            let host = &flow.flow.host;
            let (standing, follows) = (flow.standing.word(), follows_word(flow.flow.follows));
            ("  flow", format!("from {} (LID {}): {standing}; {follows}", host.name, host.lid))
        };
        lines.extend(spot.flows.iter().take(most).map(flow));
        more(&mut lines, spot.flows.len());
    }
    more(&mut lines, state.spots.len());
    for gone in &state.gone {
        lines.push(("gone", moved_flows_text(gone)));
    }
    if !state.tables.is_empty() {
        let differing = state.differing_tables().count();
        let right = state.tables.len() - differing;
        let all = count_words(state.tables.len(), "table", "tables");
        lines.push(("on paths", format!("{all}, {right} as slow lanes need them")));
        lines.extend(
            state.differing_tables().take(most).map(|table| ("  differs", table_words(snapshot, table))),
        );
        more(&mut lines, differing);
    }
    lines.extend(state.refused.iter().map(|why| ("unknown", why.clone())));
    lines
}

fn moved_flows_text(flows: &MovedFlows) -> String {
    let count = count_words(flows.hosts.len(), "flow", "flows");
    let hosts: Vec<String> = flows.hosts.iter().map(ToString::to_string).collect();
    let end = match (flows.gone, hosts.len()) {
        (Some(MissingEnd::Hosts), 1) => "the host",
        (Some(MissingEnd::Hosts), _) => "these hosts",
        _ => "the hot-spot",
    };
    let (from, to) = (hosts.join(", "), flows.hot_spot);
    let verbs = if end == "these hosts" { ["are", "have"] } else { ["is", "has"] };
    format!(
        "{count} from LID {from} to LID {to}: {end} {} no longer in the fabric, or {} another LID now",
        verbs[0], verbs[1]
    )
}

fn spot_words(spot: &LaneSpot) -> String {
    let level = |(fast, slow): &(u8, u8)| format!("level {fast} to level {slow}");
    let levels: Vec<String> = spot.levels.iter().map(level).collect();
    let levels = if levels.is_empty() { String::new() } else { format!(", {}", levels.join(" and ")) };
    let waits = spot
        .congestion
        .map(|ticks| format!("; waits {} ticks/s", rate_in_millions(ticks)))
        .unwrap_or_default();
    format!("{} (LID {}): {}{levels}{waits}", spot.port.name, spot.port.lid, spot.standing.word())
}

fn table_words(snapshot: &Snapshot, table: &LaneTable) -> String {
    let port = snapshot.unique_port_name(table.port);
    match &table.standing {
        TableStatus::AsShould => format!("{port} {}: correct", table.table),
        TableStatus::Differs { held, wanted } => {
            format!("{port} {}: {held}; should be {wanted}", table.table)
        }
        TableStatus::Cannot(why) => why.clone(),
    }
}

json_answer! {
    struct ProposalAnswer<'a> {
        plan: Option<String>,
        writes: usize,
        findings: &'a [String],
        state: Part<LaneStateAnswer<'a>>,
    }

    struct LaneStateAnswer<'a> {
        hot_spots: Lines<'a, Sorted<SpotObject<'a>>>,
        tables: Lines<'a, Sorted<TableObject<'a>>>,
        refused: Option<&'a str>,
        gone: Lines<'a, Sorted<MissingFlows>>,
    }
}

json_type! {
    struct SpotObject<'a> {
        name: &'a str,
        guid: GuidText<'a>,
        lid: u16,
        state: StatusWord,
        ticks_per_second: Option<f64>,
        time_waited: Option<f64>,
        levels: Vec<LevelPair>,
        flows: Vec<FlowObject<'a>>,
    }

    struct LevelPair {
        fast: u8,
        slow: u8,
    }

    struct FlowObject<'a> {
        name: &'a str,
        guid: GuidText<'a>,
        lid: u16,
        state: StatusWord,
        follows: FollowMode,
    }

    struct TableObject<'a> {
        port: String,
        table: &'a str,
        state: TableState,
        held: Option<&'a str>,
        wanted: Option<&'a str>,
        why: Option<&'a str>,
    }

    #[serde(rename_all = "kebab-case")]
    enum TableState {
        AsShould,
        Differs,
        Cannot,
    }

    /// Moved flows with an end that the fabric no longer has.
    struct MissingFlows {
        lid: Lid,
        fast: ServiceLevel,
        slow: ServiceLevel,
        hosts: Vec<Lid>,
        end: Option<MissingEnd>,
    }
}

json_type_of! {
    enum FollowMode { Agent, Queries, Unknown }

    enum MissingEnd { HotSpot, Hosts }
}

/// A GUID that a plan holds as text.
#[derive(Serialize)]
struct GuidText<'a>(&'a str);

impl JsonType for GuidText<'_> {
    fn schema() -> serde_json::Value {
        Guid::schema()
    }
}

/// The word for a status.
#[derive(Serialize)]
struct StatusWord(&'static str);

impl JsonType for StatusWord {
    fn schema() -> serde_json::Value {
        words_schema(LaneStatus::ALL.map(LaneStatus::word))
    }
}

impl<'a> LaneStateAnswer<'a> {
    fn new(snapshot: &'a Snapshot, state: &'a LaneState) -> Self {
        let gone = |gone: &MovedFlows| MissingFlows {
            lid: gone.hot_spot,
            fast: gone.fast,
            slow: gone.slow,
            hosts: gone.hosts.iter().copied().collect(),
            end: gone.gone,
        };
        Self {
            hot_spots: Lines::of(state.spots.iter().map(|spot| Sorted(SpotObject::from(spot)))),
            tables: Lines::of(state.tables.iter().map(|table| Sorted(TableObject::new(snapshot, table)))),
            refused: state.refused.as_deref(),
            gone: Lines::of(state.gone.iter().map(gone).map(Sorted)),
        }
    }
}

impl<'a> From<&'a LaneSpot> for SpotObject<'a> {
    fn from(spot: &'a LaneSpot) -> Self {
        let flow = |flow: &'a LaneFlow| FlowObject {
            name: &flow.flow.host.name,
            guid: GuidText(&flow.flow.host.guid),
            lid: flow.flow.host.lid,
            state: StatusWord(flow.standing.word()),
            follows: flow.flow.follows,
        };
        Self {
            name: &spot.port.name,
            guid: GuidText(&spot.port.guid),
            lid: spot.port.lid,
            state: StatusWord(spot.standing.word()),
            ticks_per_second: spot.congestion,
            time_waited: spot.time_waited,
            levels: spot.levels.iter().map(|(fast, slow)| LevelPair { fast: *fast, slow: *slow }).collect(),
            flows: spot.flows.iter().map(flow).collect(),
        }
    }
}

impl<'a> TableObject<'a> {
    fn new(snapshot: &Snapshot, table: &'a LaneTable) -> Self {
        let (state, held, wanted, why) = match &table.standing {
            TableStatus::AsShould => (TableState::AsShould, None, None, None),
            TableStatus::Differs { held, wanted } => {
                (TableState::Differs, Some(held.as_str()), Some(wanted.as_str()), None)
            }
            TableStatus::Cannot(why) => (TableState::Cannot, None, None, Some(why.as_str())),
        };
        Self { port: snapshot.port_name(table.port), table: &table.table, state, held, wanted, why }
    }
}
