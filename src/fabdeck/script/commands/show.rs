//! `show`.

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::{jobs, metrics, module_metrics, sensor_metrics};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::field::Listing;
use crate::catalogue::json_type::json_type;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::FabricSummary;
use crate::catalogue::views::counters::{fresh_counters, unplaced_counters};
use crate::catalogue::views::entries::entries;
use crate::catalogue::views::link_users::{link_user_rows, link_users};
use crate::catalogue::views::links::{LINKS, link_rows};
use crate::operations::event_store::ledger_reader::LedgerCache;
use crate::operations::health::link_history::{add_downs, link_histories};
use crate::operations::operation::OpenSnapshot;
use crate::operations::preview::path_preview::Preview;
use crate::operations::trace::path_trace::parse_endpoint;
use crate::operations::view_id::ViewId;
use crate::script::answer::{Part, json_answer};
use crate::script::argument_values::duration;
use crate::script::command_entry::{CommandEntry, CommandFunction, FilterUse, OptionUse};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use crate::script::option_refusals::unused_assumption_failure;
use crate::script::read_statistics::ReadStatistics;
use crate::script::row_args::RowArgs;
use crate::script::rows::FIELDS_HELP;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{Element, ElementId, Faults, Guid, SwitchGraph};
use fabdeck_mad::access::ReadOptions;
use fabdeck_routing::NoProgress;
use fabdeck_routing::analysis::vertex_connectivity;

pub const SHOW: CommandEntry = CommandEntry::new(
    "show",
    "Browse a fabric",
    "Tables of what the source has, with filters, fields and an order.",
)
.needs_fabric();

pub const SHOW_FABRIC: CommandEntry = CommandEntry::new(
    "show fabric",
    "The fabric in numbers",
    "How many switches, hosts, routers, cables and ports there are, and which subnet manager is in charge.",
)
.needs_fabric()
.examples(&["fabdeck --source sim:demo show fabric", "fabdeck --source site.topo show fabric --json"])
.runs(&CommandFunction(fabric))
.at(OptionUse::Used)
.json(&[JsonSchema::answer::<FabricAnswer<'_>>("fabric")]);

pub const SHOW_SWITCHES: CommandEntry =
    CommandEntry::new("show switches", "The switches", "A row for each switch.")
        .needs_fabric()
        .examples(&["fabdeck --source sim:demo show switches --sort hosts --top 5"])
        .runs(&CommandFunction(show_switches))
        .filter(FilterUse::Rows)
        .at(OptionUse::Used)
        .json(&[JsonSchema::rows::<()>(ViewId::Switches)]);

pub const SHOW_HOSTS: CommandEntry = CommandEntry::new(
    "show hosts",
    "The hosts and where they are attached",
    "A row for each cabled port of a channel adapter, and one for an adapter without a cable.",
)
.needs_fabric()
.examples(&["fabdeck --source sim:demo show hosts --filter switch=rack1-leaf"])
.runs(&CommandFunction(show_hosts))
.filter(FilterUse::Rows)
.at(OptionUse::Used)
.json(&[JsonSchema::rows::<()>(ViewId::Hosts)]);

pub const SHOW_LINKS: CommandEntry =
    CommandEntry::new("show links", "The cables", "A row for each cable, those of hosts included.")
        .needs_fabric()
        .examples(&["fabdeck --source sim:demo show links --filter 'width<4x,kind=switch-switch'"])
        .runs(&CommandFunction(show_links))
        .filter(FilterUse::Rows)
        .at(OptionUse::Used)
        .assume(OptionUse::Used)
        .json(&[JsonSchema::rows::<()>(ViewId::Links)]);

pub const SHOW_PORTS: CommandEntry =
    CommandEntry::new("show ports", "The ports and their peers", "A row for each port in the source.")
        .needs_fabric()
        .examples(&[
            "fabdeck --source sim:demo show ports --filter node=rack1-leaf --fields number,state,peer",
        ])
        .runs(&CommandFunction(show_ports))
        .filter(FilterUse::Rows)
        .at(OptionUse::Used)
        .json(&[JsonSchema::rows::<()>(ViewId::Ports)]);

pub const SHOW_TABLES: CommandEntry = CommandEntry::new(
    "show tables",
    "The forwarding tables",
    "A row for each switch; with a switch named, a row for each LID that its table routes or the fabric owns.",
)
.needs_fabric()
.examples(&["fabdeck --source capture/ show tables", "fabdeck --source capture/ show tables switch:leaf1"])
.runs(&CommandFunction(show_tables))
.filter(FilterUse::Rows)
.at(OptionUse::Used)
.assume(OptionUse::Used)
.json(&[JsonSchema::rows::<()>(ViewId::Tables), JsonSchema::rows::<EntriesAnswer<'_>>(ViewId::Entries)]);

pub const SHOW_USERS: CommandEntry = CommandEntry::new(
    "show users",
    "The destinations over a cable",
    "A row for each destination that is reached over the cable under the tables in force, with the number of \
     hosts that send to it over this cable. A cable to a host has no rows: it carries the paths of that host \
     alone.",
)
.needs_fabric()
.examples(&["fabdeck --source sim:demo show users 'link:rack3-leaf[10]' --sort sources"])
.runs(&CommandFunction(show_users))
.filter(FilterUse::Rows)
.at(OptionUse::Used)
.assume(OptionUse::Used)
.json(&[JsonSchema::rows::<UsersAnswer>(ViewId::Users)]);

pub const SHOW_COUNTERS: CommandEntry = CommandEntry::new(
    "show counters",
    "The counters as they were read",
    "A row for each sample and a column for each counter that some sample has; raw values, no rates. --format \
     prometheus prints all counters and the states of links for node_exporter's textfile collector, under the \
     names of the usual InfiniBand exporter. With --interval the counters are read twice, and rates are added.",
)
.needs_fabric()
.examples(&[
    "fabdeck --source capture/ show counters --sort PortXmitWait --top 10",
    "fabdeck --source sim:kary,k=4,n=2 show counters --format prometheus --interval 10s",
])
.runs(&CommandFunction(show_counters))
.filter(FilterUse::Rows)
.at(OptionUse::Used)
.json(&[JsonSchema::rows::<()>(ViewId::Counters)]);

pub const SHOW_LANES: CommandEntry = CommandEntry::new(
    "show lanes",
    "The virtual lanes of each egress port",
    "A row for each egress port whose SL2VL or arbitration table is known.",
)
.needs_fabric()
.examples(&["fabdeck --source capture/ show lanes --filter uniform=no"])
.runs(&CommandFunction(show_lanes))
.filter(FilterUse::Rows)
.at(OptionUse::Used)
.json(&[JsonSchema::rows::<()>(ViewId::Lanes)]);

pub const SHOW_MODULES: CommandEntry = CommandEntry::new(
    "show modules",
    "The modules and bit errors of cabled ports",
    "A row for each cabled port: the wire verdict (healthy, watch, bad, or not known), the module with its \
     temperature and power, FEC, and bit error rates with the time that they are over (--fields over,evidence). A \
     live source is asked up to five questions a port, by Gets only; of each kind of device one is asked first. \
     'absent', 'did not answer' and 'not understood' say why a value is missing; 'off' is FEC that is off. --format \
     prometheus prints verdicts, bit error rates and values of modules, as far as they were read.",
)
.needs_fabric()
.examples(&[
    "fabdeck --source sim:kary,k=4,n=2,speed=ndr,wire-optics=all show modules --filter wire=bad",
    "fabdeck --source sim:kary,k=2,n=2,speed=ndr,wire=all show modules --format prometheus",
    "fabdeck --source capture/ show modules --sort temperature --top 10",
])
.runs(&CommandFunction(show_modules))
.filter(FilterUse::Rows)
.at(OptionUse::Used)
.json(&[JsonSchema::rows::<()>(ViewId::Modules)]);

pub const SHOW_SENSORS: CommandEntry = CommandEntry::new(
    "show sensors",
    "Temperatures, fans and firmware of switches, and of hosts that answer",
    "A row for each switch, and for each other node that answered: temperature with the device's own limit, fans, \
     firmware, uptime, serial number. A live source is asked up to six questions a node, by Gets only. --format \
     prometheus prints temperatures with their limits, fans, power supplies and uptime, as far as they were read.",
)
.needs_fabric()
.examples(&[
    "fabdeck --source sim:kary,k=4,n=2,wire=all show sensors --sort temperature --top 5",
    "fabdeck --source sim:kary,k=2,n=2,wire=all show sensors --format prometheus",
])
.runs(&CommandFunction(show_sensors))
.filter(FilterUse::Rows)
.at(OptionUse::Used)
.json(&[JsonSchema::rows::<()>(ViewId::Sensors)]);

pub const SHOW_ADAPTIVE: CommandEntry = CommandEntry::new(
    "show adaptive",
    "Adaptive routing of each switch",
    "A row for each switch: whether adaptive routing is on, for which service levels, and whether its tables are known. \
     \"absent\", \"did not answer\" and \"off\" differ: an absent attribute is one that the switch does not have. \
     `check` certifies all choices of the switches whose tables were read.",
)
.needs_fabric()
.examples(&["fabdeck --source sim:kary,k=4,n=2,ar=all show adaptive"])
.runs(&CommandFunction(show_adaptive))
.filter(FilterUse::Rows)
.at(OptionUse::Used)
.json(&[JsonSchema::rows::<()>(ViewId::Adaptive)]);

pub const SHOW_PARTITIONS: CommandEntry = CommandEntry::new(
    "show partitions",
    "The partitions and their members",
    "A row for each member of a partition, by the P_Key tables of ports: full or limited, and whether the switch port on \
     its cable passes its packets. Ports without a known partition come last: \"empty\", \"absent\" and \"did not \
     answer\" differ. A live source is asked one question a port, and further ones for tables of more than 32 entries.",
)
.needs_fabric()
.examples(&[
    "fabdeck --source sim:demo show partitions --filter pkey=0x7fff,member=full",
    "fabdeck --source sim:kary,k=4,n=2,pkeys-enforce=all show partitions --filter at_switch=passes",
])
.runs(&CommandFunction(show_partitions))
.filter(FilterUse::Rows)
.at(OptionUse::Used)
.json(&[JsonSchema::rows::<()>(ViewId::Partitions)]);

pub const SHOW_GROUPS: CommandEntry = CommandEntry::new(
    "show groups",
    "The multicast groups and their members",
    "A row for each member of a multicast group: how it is joined, and whether the forwarding tree leads to it. Groups of \
     IP over InfiniBand have the name of their address. A live source reads multicast tables, and asks the subnet \
     manager for its groups and once for each host port. The manager hides groups of partitions that this host is not \
     in.",
)
.needs_fabric()
.examples(&[
    "fabdeck --source sim:kary,k=2,n=2 show groups",
    "fabdeck --source sim:kary,k=2,n=2 show groups --filter tree=yes --fields group,mgid,node,port,state",
])
.runs(&CommandFunction(show_groups))
.filter(FilterUse::Rows)
.at(OptionUse::Used)
.json(&[JsonSchema::rows::<()>(ViewId::Groups)]);

pub const SHOW_AGGREGATION: CommandEntry = CommandEntry::new(
    "show aggregation",
    "The aggregation nodes (SHARP) and their capabilities",
    "A row for each aggregation node: the switch that it belongs to, and how many trees, groups, jobs and queue pairs it \
     has room for. The capabilities are those of ibdiagnet's table SHARP_AN_INFO; a live source has none. Columns of the \
     table that have no field of their own are in the field \"stated\".",
)
.needs_fabric()
.examples(&["fabdeck --source sim:demo show aggregation", "fabdeck --source capture/ show aggregation --sort jobs"])
.runs(&CommandFunction(show_aggregation))
.filter(FilterUse::Rows)
.at(OptionUse::Used)
.json(&[JsonSchema::rows::<()>(ViewId::Aggregation)]);

pub const SHOW_ROUTERS: CommandEntry = CommandEntry::new(
    "show routers",
    "The routers, and what a file states about them",
    "A row for each router: its LIDs and the switches that it is cabled to. The field \"stated\" has the columns of \
     ibdiagnet's table ROUTERS_INFO by their names, ranges of floating LIDs (FLIDs) among them; a live source has none.",
)
.needs_fabric()
.examples(&["fabdeck --source capture/ show routers"])
.runs(&CommandFunction(show_routers))
.filter(FilterUse::Rows)
.at(OptionUse::Used)
.json(&[JsonSchema::rows::<()>(ViewId::Routers)]);

pub const SHOW_IBDIAGNET: CommandEntry = CommandEntry::new(
    "show ibdiagnet",
    "Rows of ibdiagnet's tables that no other view has",
    "A row for each row of a table of ibdiagnet2.db_csv that no other view has, and for each warning and error that \
     ibdiagnet itself reports. The field \"stated\" has the columns by their names. Tables of keys are never read, and \
     cells that may hold a key or other free text are left out. Only a folder or file of ibdiagnet has rows.",
)
.needs_fabric()
.examples(&[
    "fabdeck --source ibdiagnet2/ show ibdiagnet --filter table=HBF_PORT_COUNTERS",
    "fabdeck --source ibdiagnet2/ show ibdiagnet --filter table~WARNINGS",
])
.runs(&CommandFunction(show_ibdiagnet))
.filter(FilterUse::Rows)
.at(OptionUse::Used)
.json(&[JsonSchema::rows::<()>(ViewId::FileTables)]);

pub const SHOW_JOBS: CommandEntry = CommandEntry::new(
    "show jobs",
    "The running jobs, a row for each",
    "As `jobs`, without the totals over all jobs.",
)
.needs_fabric()
.examples(&["fabdeck --source umad show jobs --slurm --sort max --top 10"])
.runs(&CommandFunction(jobs::show_jobs))
.filter(FilterUse::Rows)
.at(OptionUse::Used)
.assume(OptionUse::Used)
.json(&[JsonSchema::rows::<jobs::JobsAnswer<'_>>(ViewId::Jobs)]);

#[derive(Debug, Args)]
pub struct TableArgs {
    /// Show the entries of this switch: switch:NAME, a name, a GUID or a LID (default: a row for each switch)
    switch: Option<String>,
    #[command(flatten)]
    rows: RowArgs,
}

#[derive(Debug, Args)]
pub struct LinkUserArgs {
    /// The cable whose destinations are listed: link:NAME[PORT], with either end of the cable
    link: String,
    #[command(flatten)]
    rows: RowArgs,
}

#[derive(Debug, Args)]
pub struct CounterArgs {
    /// Rows, or metrics of Prometheus (all counters and states of links) for node_exporter's textfile collector
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = CounterFormat::Rows)]
    format: CounterFormat,
    /// With --format prometheus: read twice with this interval between the readings, and add rates
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    interval: Option<Duration>,
    #[command(flatten)]
    rows: RowArgs,
}

#[derive(Args, Debug, Clone)]
pub struct ModuleArgs {
    /// Rows, or metrics of Prometheus for node_exporter's textfile collector
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = CounterFormat::Rows)]
    format: CounterFormat,
    #[command(flatten)]
    rows: RowArgs,
}

/// How counters are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CounterFormat {
    Rows,
    Prometheus,
}

fn show_switches(context: &mut Context<'_, '_>, rows: &RowArgs) -> Result<Exit, Failure> {
    show_rows(context, ViewId::Switches, rows, None)
}

fn show_hosts(context: &mut Context<'_, '_>, rows: &RowArgs) -> Result<Exit, Failure> {
    show_rows(context, ViewId::Hosts, rows, None)
}

fn show_links(context: &mut Context<'_, '_>, rows: &RowArgs) -> Result<Exit, Failure> {
    show_rows(context, ViewId::Links, rows, None)
}

fn show_ports(context: &mut Context<'_, '_>, rows: &RowArgs) -> Result<Exit, Failure> {
    show_rows(context, ViewId::Ports, rows, None)
}

fn show_lanes(context: &mut Context<'_, '_>, rows: &RowArgs) -> Result<Exit, Failure> {
    show_rows(context, ViewId::Lanes, rows, None)
}

fn show_modules(context: &mut Context<'_, '_>, args: &ModuleArgs) -> Result<Exit, Failure> {
    match args.format {
        CounterFormat::Prometheus => module_metrics::run(context, &args.rows),
        CounterFormat::Rows => show_rows(context, ViewId::Modules, &args.rows, None),
    }
}

fn show_sensors(context: &mut Context<'_, '_>, args: &ModuleArgs) -> Result<Exit, Failure> {
    match args.format {
        CounterFormat::Prometheus => sensor_metrics::run(context, &args.rows),
        CounterFormat::Rows => show_rows(context, ViewId::Sensors, &args.rows, None),
    }
}

fn show_adaptive(context: &mut Context<'_, '_>, rows: &RowArgs) -> Result<Exit, Failure> {
    show_rows(context, ViewId::Adaptive, rows, None)
}

fn show_partitions(context: &mut Context<'_, '_>, rows: &RowArgs) -> Result<Exit, Failure> {
    show_rows(context, ViewId::Partitions, rows, None)
}

fn show_aggregation(context: &mut Context<'_, '_>, rows: &RowArgs) -> Result<Exit, Failure> {
    show_rows(context, ViewId::Aggregation, rows, None)
}

fn show_routers(context: &mut Context<'_, '_>, rows: &RowArgs) -> Result<Exit, Failure> {
    show_rows(context, ViewId::Routers, rows, None)
}

fn show_ibdiagnet(context: &mut Context<'_, '_>, rows: &RowArgs) -> Result<Exit, Failure> {
    show_rows(context, ViewId::FileTables, rows, None)
}

fn show_groups(context: &mut Context<'_, '_>, rows: &RowArgs) -> Result<Exit, Failure> {
    show_rows(context, ViewId::Groups, rows, None)
}

fn show_tables(context: &mut Context<'_, '_>, args: &TableArgs) -> Result<Exit, Failure> {
    let view = if args.switch.is_some() { ViewId::Entries } else { ViewId::Tables };
    show_rows(context, view, &args.rows, args.switch.as_deref())
}

fn show_users(context: &mut Context<'_, '_>, args: &LinkUserArgs) -> Result<Exit, Failure> {
    show_rows(context, ViewId::Users, &args.rows, Some(&args.link))
}

fn show_counters(context: &mut Context<'_, '_>, args: &CounterArgs) -> Result<Exit, Failure> {
    match (args.format, args.interval) {
        (CounterFormat::Prometheus, interval) => metrics::run(context, &args.rows, interval),
        (CounterFormat::Rows, Some(_)) => Err(metrics::row_rates_failure()),
        (CounterFormat::Rows, None) => show_rows(context, ViewId::Counters, &args.rows, None),
    }
}

/// Prints the rows of a view. `Entries` needs the name of a switch, `Users` that of a cable.
fn show_rows(
    context: &mut Context<'_, '_>,
    view: ViewId,
    rows: &RowArgs,
    named: Option<&str>,
) -> Result<Exit, Failure> {
    if rows.fields.as_deref() == Some(FIELDS_HELP) {
        context.write_fields(view)?;
        return Ok(Exit::Done);
    }
    let uses = |field: &str| uses_field(rows, &context.globals.filter, field);
    let (wanted, wire) = (view.read_options(uses), view.wire_options(uses));
    let OpenSnapshot { mut source, mut snapshot } = context.operation().open_snapshot(wanted)?;
    context.operation().read_wire(source.as_mut(), &mut snapshot, wire)?;
    if wanted.tables {
        context.env().assume(&mut snapshot)?;
    } else if context.options.assume.is_some() {
        return Err(unused_assumption_failure());
    }
    if view == ViewId::Counters {
        let notes = unplaced_counters(&snapshot);
        snapshot.observation.notes.extend(notes);
    }
    if wanted.counters {
        let notes = fresh_counters(&snapshot);
        snapshot.observation.notes.extend(notes);
    }
    match named {
        Some(link) if view == ViewId::Users => users_of(context, &snapshot, link, rows)?,
        Some(switch) => switch_entries(context, &snapshot, switch, rows)?,
        None => show_view(context, &snapshot, view, rows)?,
    }
    Ok(context.conclude(&snapshot))
}

/// Whether the rows show, sort or filter by a field.
fn uses_field(rows: &RowArgs, filters: &[String], field: &str) -> bool {
    [&rows.fields, &rows.sort].into_iter().flatten().chain(filters).any(|text| text.contains(field))
}

/// Links, with what the ledger has of each, and with the number of paths over it where that is asked for: it needs a walk
/// over all tables.
fn cables<'s>(
    context: &Context<'_, '_>,
    snapshot: &'s Snapshot,
    rows: &RowArgs,
) -> Result<Box<dyn Listing + 's>, Failure> {
    let needs_paths = ViewId::Links.needs_paths(|field| uses_field(rows, &context.globals.filter, field));
    let index = needs_paths.then(|| index_paths(snapshot)).transpose()?;
    let mut rows = link_rows(snapshot, index.as_ref().map(|index| &**index.paths()));
    if let Some(stored) = LedgerCache::default().find(context.env(), snapshot) {
        add_downs(&mut rows, &link_histories(snapshot, &stored));
    }
    Ok(Box::new(LINKS.rows(snapshot, rows)))
}

fn index_paths(snapshot: &Snapshot) -> Result<Preview, Failure> {
    let failed =
        |refusal| Failure::new(Exit::Failed, format!("FD-7308: the paths cannot be indexed: {refusal}"));
    Preview::new(snapshot, &snapshot.observation.tables, &NoProgress).map_err(failed)
}

fn users_of(
    context: &mut Context<'_, '_>,
    snapshot: &Snapshot,
    link: &str,
    rows: &RowArgs,
) -> Result<(), Failure> {
    let found = Element::find(snapshot.fabric(), &snapshot.names, link);
    let id = match context
        .operation()
        .explain_missing(snapshot, found.map_err(|error| Failure::usage(error.to_string())))?
    {
        ElementId::Link(id) => Some(id),
        ElementId::Port(port) => snapshot.fabric().port(port).link,
        ElementId::Node(_) => None,
    };
    let Some(id) = id else {
        return Err(Failure::usage(format!("FD-7309: '{link}' is not a cable; write link:NAME[PORT]")));
    };
    if !snapshot.observation.tables.has_forwarding() {
        let refusal = Failure::usage(
            "FD-7317: the source has no tables in force, so the paths over a cable are unknown; put a dump of tables beside the \
             topology (opensm-lfts.dump, opensm.fdbs, output of dump_lfts), or assume those of an engine with --assume ENGINE",
        );
        return Err(context.refuse_with_notes(snapshot, refusal));
    }
    context.operation().report_guessed_labels(snapshot, [link]);
    let link = Element::from_id(snapshot.fabric(), &snapshot.names, ElementId::Link(id)).to_string();
    let query = context.query(rows);
    let rows = link_user_rows(snapshot, index_paths(snapshot)?.paths(), id);
    let users = link_users(snapshot, &rows);
    context.write_rows(ViewId::Users.id(), snapshot, &users, &query, UsersAnswer { link })
}

fn show_view(
    context: &mut Context<'_, '_>,
    snapshot: &Snapshot,
    view: ViewId,
    rows: &RowArgs,
) -> Result<(), Failure> {
    let listing = match view {
        ViewId::Links => Some(cables(context, snapshot, rows)?),
        view => view.listing(snapshot),
    };
    let Some(listing) = listing else { return Ok(()) };
    let query = context.query(rows);
    context.write_rows(view.id(), snapshot, listing.as_ref(), &query, ())
}

fn switch_entries(
    context: &mut Context<'_, '_>,
    snapshot: &Snapshot,
    switch: &str,
    rows: &RowArgs,
) -> Result<(), Failure> {
    let node = context.operation().explain_missing(snapshot, parse_endpoint(snapshot, switch))?.node;
    if !snapshot.fabric().node(node).is_switch() {
        return Err(Failure::usage(format!(
            "FD-7310: '{switch}' is not a switch, so it has no forwarding table; name a switch"
        )));
    }
    let query = context.query(rows);
    let answer = EntriesAnswer { switch: snapshot.name(node), guid: snapshot.fabric().node(node).guid() };
    context.write_rows(ViewId::Entries.id(), snapshot, &entries(snapshot, node), &query, answer)
}

fn fabric(context: &mut Context<'_, '_>, (): &()) -> Result<Exit, Failure> {
    let snapshot = context.operation().read_snapshot(ReadOptions::default())?;
    write_summary(context, &snapshot)?;
    Ok(context.conclude(&snapshot))
}

json_type! {
    /// JSON of the subnet manager.
    struct ManagerObject<'a> {
        guid: Guid,
        state: Option<&'a str>,
    }
}

json_answer! {
    struct FabricAnswer<'a> {
        summary: FabricSummary,
        connectivity: Option<u64>,
        subnet_manager: Option<ManagerObject<'a>>,
        statistics: Part<ReadStatistics<'a>>,
    }

    struct EntriesAnswer<'a> {
        switch: &'a str,
        guid: Guid,
    }

    struct UsersAnswer {
        link: String,
    }
}

/// Steps that counting the failures that separate switches may take; larger fabrics have no such number.
const MAX_FLOW_STEPS: u64 = 300_000_000;

fn connectivity_words(connectivity: Option<u32>) -> String {
    match connectivity {
        Some(least) => {
            format!("{}: as many failed switches can separate others, not fewer", digits_in_groups(least))
        }
        None => "not computed: it takes too long on so large a fabric".to_owned(),
    }
}

/// Prints the numbers of a fabric, as pairs or as an object.
pub fn write_summary(context: &mut Context<'_, '_>, snapshot: &Snapshot) -> Result<(), Failure> {
    let summary = FabricSummary::from_snapshot(snapshot);
    let manager = snapshot.observation.subnet_manager.as_ref();
    let connectivity =
        vertex_connectivity(&SwitchGraph::new(snapshot.fabric(), &Faults::default()), MAX_FLOW_STEPS);
    if context.output.json {
        let answer = FabricAnswer {
            summary,
            connectivity: connectivity.map(u64::from),
            subnet_manager: manager.map(|sm| ManagerObject { guid: sm.guid, state: sm.state.as_deref() }),
            statistics: Part(ReadStatistics::new(snapshot, !context.options.no_times)),
        };
        return context.write_answer("fabric", snapshot, answer);
    }
    let mut pairs = vec![("source", snapshot.source.clone())];
    if let Some(time) = &snapshot.observation.time {
        pairs.push(("time", time.clone()));
    }
    pairs.push(("switches", digits_in_groups(summary.switches)));
    let hosts = match summary.aggregation {
        0 => digits_in_groups(summary.hosts),
        some => format!(
            "{} ({} of them aggregation nodes of switches)",
            digits_in_groups(summary.hosts),
            digits_in_groups(some)
        ),
    };
    pairs.push(("hosts", hosts));
    pairs.push(("routers", digits_in_groups(summary.routers)));
    let counts = [summary.links, summary.switch_links, summary.links - summary.switch_links];
    let [links, between_switches, of_hosts] = counts.map(digits_in_groups);
    let links = format!("{links} ({between_switches} between switches, {of_hosts} of hosts)");
    pairs.push(("links", links));
    if summary.switches > 1 {
        pairs.push(("connectivity", connectivity_words(connectivity)));
    }
    pairs.push(("ports", format!("{} with a peer", digits_in_groups(summary.ports))));
    let manager =
        manager.map(|sm| format!("{} {}", sm.guid, sm.state.as_deref().unwrap_or("in an unknown state")));
    pairs.push(("subnet manager", manager.unwrap_or_else(|| "unknown".to_owned())));
    for (name, number, what) in [
        ("tables", Some(summary.tables.unwrap_or(0)), "known"),
        ("degraded", summary.degraded_links, "of the links, below what both ends support"),
        ("down", summary.down_links, "of the links"),
        ("no answer", Some(summary.unanswered), "of the nodes: silent, or known only as a peer"),
        ("silent", Some(summary.silent), "requests without an answer; -v lists them"),
    ] {
        match number {
            Some(0) => {}
            Some(number) => pairs.push((name, format!("{} {what}", digits_in_groups(number)))),
            None => pairs.push((name, "unknown".to_owned())),
        }
    }
    Ok(context.output.write_pairs(&pairs)?)
}
