//! `show`.

use super::args::{CounterFormat, ShowAction};
use super::context::Context;
use super::metrics;
use super::read_statistics::write_read_statistics;
use super::row_args::RowArgs;
use super::rows::FIELDS_HELP;
use super::run::unused_assumption_failure;
use super::table::write_pairs;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::field::Listing;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::FabricSummary;
use crate::catalogue::views::counters::{fresh_counters, unplaced_counters};
use crate::catalogue::views::entries::entries;
use crate::catalogue::views::link_users::{link_user_rows, link_users};
use crate::catalogue::views::links::links;
use crate::operations::preview::path_preview::Preview;
use crate::operations::trace::path_trace::parse_endpoint;
use crate::operations::view_id::ViewId;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{Element, ElementId};
use fabdeck_mad::access::ReadOptions;
use fabdeck_routing::NoProgress;

pub fn run(context: &mut Context<'_, '_>, show: &ShowAction) -> Result<Exit, Failure> {
    let (view, rows, named) = match show {
        ShowAction::Fabric => return fabric(context),
        ShowAction::Tables { switch: Some(switch), rows } => (ViewId::Entries, rows, Some(switch)),
        ShowAction::Tables { switch: None, rows } => (ViewId::Tables, rows, None),
        ShowAction::Switches(rows) => (ViewId::Switches, rows, None),
        ShowAction::Hosts(rows) => (ViewId::Hosts, rows, None),
        ShowAction::Links(rows) => (ViewId::Links, rows, None),
        ShowAction::Ports(rows) => (ViewId::Ports, rows, None),
        ShowAction::Users { link, rows } => (ViewId::Users, rows, Some(link)),
        ShowAction::Counters { format: CounterFormat::Prometheus, interval, rows } => {
            return metrics::run(context, rows, *interval);
        }
        ShowAction::Counters { interval: Some(_), .. } => return Err(metrics::row_rates_failure()),
        ShowAction::Counters { rows, .. } => (ViewId::Counters, rows, None),
        ShowAction::Lanes(rows) => (ViewId::Lanes, rows, None),
        ShowAction::Jobs(args) => return super::jobs::show_jobs(context, args),
    };
    if rows.fields.as_deref() == Some(FIELDS_HELP) {
        context.write_fields(view)?;
        return Ok(Exit::Done);
    }
    let wanted = wanted(view, rows, &context.globals.filter);
    let mut snapshot = context.operation().read_snapshot(wanted)?;
    if wanted.tables {
        context.env().assume(&mut snapshot)?;
    } else if context.globals.assume.is_some() {
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

/// Parts of the fabric that a view needs besides nodes, ports and links.
fn wanted(view: ViewId, rows: &RowArgs, filters: &[String]) -> ReadOptions {
    // Multicast tables cost many datagrams for one column, so they are read only if the command uses that column. A
    // filter or an order by it counts too, because without the tables every row would seem to have no groups.
    let links = |word| view == ViewId::Links && uses_field(rows, filters, word);
    ReadOptions {
        tables: matches!(view, ViewId::Tables | ViewId::Entries | ViewId::Users) || links("efi"),
        multicast: view == ViewId::Tables && uses_field(rows, filters, "groups"),
        lanes: view == ViewId::Lanes,
        counters: view == ViewId::Counters || links("errors"),
        ..ReadOptions::default()
    }
}

/// Whether the rows show, sort or filter by a field.
fn uses_field(rows: &RowArgs, filters: &[String], field: &str) -> bool {
    [&rows.fields, &rows.sort].into_iter().flatten().chain(filters).any(|text| text.contains(field))
}

/// Links with the number of paths over each, which needs a walk over all tables.
fn links_with_paths(snapshot: &Snapshot) -> Result<Box<dyn Listing + '_>, Failure> {
    Ok(Box::new(links(snapshot, Some(index_paths(snapshot)?.paths()))))
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
    let element = Element::from_id(snapshot.fabric(), &snapshot.names, ElementId::Link(id)).to_string();
    let query = context.query(rows);
    let rows = link_user_rows(snapshot, index_paths(snapshot)?.paths(), id);
    context.write_rows(ViewId::Users.id(), snapshot, &link_users(snapshot, &rows), &query, |object| {
        object.field("link", &element)
    })
}

fn show_view(
    context: &mut Context<'_, '_>,
    snapshot: &Snapshot,
    view: ViewId,
    rows: &RowArgs,
) -> Result<(), Failure> {
    let listing = match view == ViewId::Links && uses_field(rows, &context.globals.filter, "efi") {
        true => Some(links_with_paths(snapshot)?),
        false => view.listing(snapshot),
    };
    let Some(listing) = listing else { return Ok(()) };
    let query = context.query(rows);
    context.write_rows(view.id(), snapshot, listing.as_ref(), &query, |_| Ok(()))
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
    let name = snapshot.name(node);
    context.write_rows(ViewId::Entries.id(), snapshot, &entries(snapshot, node), &query, |object| {
        object.field("switch", &name)?;
        object.field("guid", &snapshot.fabric().node(node).guid().to_string())
    })
}

fn fabric(context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    context.refuse_filter("show fabric")?;
    let snapshot = context.operation().read_snapshot(ReadOptions::default())?;
    write_summary(context, &snapshot)?;
    Ok(context.conclude(&snapshot))
}

/// JSON of the subnet manager.
#[derive(serde::Serialize)]
struct ManagerObject<'a> {
    guid: String,
    state: Option<&'a str>,
}

/// Prints the numbers of a fabric, as pairs or as an object.
pub fn write_summary(context: &mut Context<'_, '_>, snapshot: &Snapshot) -> Result<(), Failure> {
    let summary = FabricSummary::from_snapshot(snapshot);
    let manager = snapshot.observation.subnet_manager.as_ref();
    if context.output.json {
        let times = !context.globals.no_times;
        let mut object = context.object("fabric", snapshot)?;
        for (key, number) in summary.numbers() {
            object.field(key, &number)?;
        }
        let manager =
            manager.map(|sm| ManagerObject { guid: sm.guid.to_string(), state: sm.state.as_deref() });
        object.field("subnet_manager", &manager)?;
        write_read_statistics(&mut object, snapshot, times)?;
        return Ok(object.end()?);
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
    pairs.push(("ports", format!("{} with a peer", digits_in_groups(summary.ports))));
    let manager =
        manager.map(|sm| format!("{} {}", sm.guid, sm.state.as_deref().unwrap_or("in an unknown state")));
    pairs.push(("subnet manager", manager.unwrap_or_else(|| "unknown".to_owned())));
    for (name, number, what) in [
        ("tables", Some(summary.tables.unwrap_or(0)), "known"),
        ("degraded", summary.degraded_links, "of the links, below what both ends support"),
        ("down", summary.down_links, "of the links"),
        ("not answering", Some(summary.unanswered), "of the nodes: silent, or known only as a peer"),
        ("silent", Some(summary.silent), "requests without an answer; -v lists them"),
    ] {
        match number {
            Some(0) => {}
            Some(number) => pairs.push((name, format!("{} {what}", digits_in_groups(number)))),
            None => pairs.push((name, "unknown".to_owned())),
        }
    }
    Ok(write_pairs(context.output.out, (context.output.paint, context.output.page), &pairs)?)
}
