//! `show`.

use crate::session::{Browse, Look, Summary, endpoint, entries, unplaced_counters};

use super::args::{RowArgs, Show};
use super::context::Context;
use super::reading::write_reading;
use super::rows::HELP;
use super::table::write_pairs;
use super::{Exit, Failure};
use crate::access::Wanted;

pub fn run(context: &mut Context<'_, '_>, show: &Show) -> Result<Exit, Failure> {
    let (view, rows, switch) = match show {
        Show::Fabric => return fabric(context),
        Show::Tables { switch: Some(switch), rows } => (Browse::Entries, rows, Some(switch)),
        Show::Tables { switch: None, rows } => (Browse::Tables, rows, None),
        Show::Switches(rows) => (Browse::Switches, rows, None),
        Show::Hosts(rows) => (Browse::Hosts, rows, None),
        Show::Links(rows) => (Browse::Links, rows, None),
        Show::Ports(rows) => (Browse::Ports, rows, None),
        Show::Counters(rows) => (Browse::Counters, rows, None),
        Show::Lanes(rows) => (Browse::Lanes, rows, None),
    };
    if rows.fields.as_deref() == Some(HELP) {
        context.write_fields(view)?;
        return Ok(Exit::Done);
    }
    let mut look = context.look(wanted(view, rows, &context.globals.filter))?;
    if matches!(view, Browse::Tables | Browse::Entries) {
        context.assume(&mut look)?;
    }
    if view == Browse::Counters {
        let notes = unplaced_counters(&look);
        look.observation.notes.extend(notes);
    }
    match switch {
        Some(switch) => switch_entries(context, &look, switch, rows)?,
        None => browse(context, &look, view, rows)?,
    }
    Ok(context.conclude(&look))
}

/// What a view shows besides nodes, ports and links.
fn wanted(view: Browse, rows: &RowArgs, filters: &[String]) -> Wanted {
    // Multicast tables are many datagrams for one column. Whoever filters or sorts by it needs them as well: without
    // them every row would be left out as if it had no groups.
    let texts = [&rows.fields, &rows.sort].into_iter().flatten().chain(filters);
    let groups = texts.into_iter().any(|text| text.contains("groups"));
    Wanted {
        tables: matches!(view, Browse::Tables | Browse::Entries),
        multicast: view == Browse::Tables && groups,
        lanes: view == Browse::Lanes,
        counters: view == Browse::Counters,
    }
}

fn browse(context: &mut Context<'_, '_>, look: &Look, view: Browse, rows: &RowArgs) -> Result<(), Failure> {
    let Some(listing) = view.listing(look) else { return Ok(()) };
    let query = context.query(rows);
    context.write_rows(view.id(), look, listing.as_ref(), &query, |_| Ok(()))
}

fn switch_entries(
    context: &mut Context<'_, '_>,
    look: &Look,
    switch: &str,
    rows: &RowArgs,
) -> Result<(), Failure> {
    let node = context.among_answers(look, endpoint(look, switch))?.node;
    if !look.fabric().node(node).is_switch() {
        return Err(Failure::usage(format!(
            "FD-7301: '{switch}' is no switch, so it has no forwarding table"
        )));
    }
    let query = context.query(rows);
    let name = look.name(node);
    context.write_rows(Browse::Entries.id(), look, &entries(look, node), &query, |object| {
        object.field("switch", &name)?;
        object.field("guid", &look.fabric().node(node).guid().to_string())
    })
}

fn fabric(context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    context.refuse_filter("show fabric")?;
    let look = context.look(Wanted::default())?;
    write_summary(context, &look)?;
    Ok(context.conclude(&look))
}

/// The subnet manager in JSON.
#[derive(serde::Serialize)]
struct Manager<'a> {
    guid: String,
    state: Option<&'a str>,
}

/// The numbers of a fabric, as pairs or as an object.
pub fn write_summary(context: &mut Context<'_, '_>, look: &Look) -> Result<(), Failure> {
    let summary = Summary::of(look);
    let manager = look.observation.subnet_manager.as_ref();
    if context.output.json {
        let times = !context.globals.no_times;
        let mut object = context.object("fabric", look)?;
        for (key, number) in summary.numbers() {
            object.field(key, &number)?;
        }
        let manager = manager.map(|sm| Manager { guid: sm.guid.to_string(), state: sm.state.as_deref() });
        object.field("subnet_manager", &manager)?;
        write_reading(&mut object, look, times)?;
        return Ok(object.end()?);
    }
    let mut pairs = vec![("source", look.source.clone())];
    if let Some(time) = &look.observation.time {
        pairs.push(("time", time.clone()));
    }
    pairs.push(("switches", summary.switches.to_string()));
    let hosts = match summary.aggregation {
        0 => summary.hosts.to_string(),
        some => format!("{} ({some} of them aggregation nodes of switches)", summary.hosts),
    };
    pairs.push(("hosts", hosts));
    pairs.push(("routers", summary.routers.to_string()));
    let hosts = summary.links - summary.switch_links;
    let links = format!("{} ({} between switches, {hosts} of hosts)", summary.links, summary.switch_links);
    pairs.push(("links", links));
    pairs.push(("ports", format!("{} with a peer", summary.ports)));
    let manager =
        manager.map(|sm| format!("{} {}", sm.guid, sm.state.as_deref().unwrap_or("in a state not told")));
    pairs.push(("subnet manager", manager.unwrap_or_else(|| "not told".to_owned())));
    for (name, number, what) in [
        ("tables", Some(summary.tables.unwrap_or(0)), "of the switches have a known one"),
        ("degraded", summary.degraded_links, "of the links, below what both ends can do"),
        ("down", summary.down_links, "of the links"),
        ("not answering", Some(summary.unanswered), "of the nodes, known by their peer only"),
        ("silent", Some(summary.silent), "without an answer of all that was asked; -v lists what"),
    ] {
        match number {
            Some(0) => {}
            Some(number) => pairs.push((name, format!("{number} {what}"))),
            None => pairs.push((name, "not told".to_owned())),
        }
    }
    Ok(write_pairs(context.output.out, context.output.paint, &pairs)?)
}
