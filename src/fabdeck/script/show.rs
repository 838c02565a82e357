//! `show`.

use crate::session::{
    Browse, Listing, Look, Preview, Summary, digits_in_groups, endpoint, entries, fresh_counters, links,
    unplaced_counters, user_rows, users,
};

use super::args::{CounterFormat, RowArgs, Show};
use super::context::Context;
use super::metrics;
use super::reading::write_reading;
use super::rows::HELP;
use super::run::nothing_assumed;
use super::table::write_pairs;
use super::{Exit, Failure};
use fabdeck_fabric::{Element, Resolved};
use fabdeck_mad::access::Wanted;
use fabdeck_routing::NoPulse;

pub fn run(context: &mut Context<'_, '_>, show: &Show) -> Result<Exit, Failure> {
    let (view, rows, named) = match show {
        Show::Fabric => return fabric(context),
        Show::Tables { switch: Some(switch), rows } => (Browse::Entries, rows, Some(switch)),
        Show::Tables { switch: None, rows } => (Browse::Tables, rows, None),
        Show::Switches(rows) => (Browse::Switches, rows, None),
        Show::Hosts(rows) => (Browse::Hosts, rows, None),
        Show::Links(rows) => (Browse::Links, rows, None),
        Show::Ports(rows) => (Browse::Ports, rows, None),
        Show::Users { link, rows } => (Browse::Users, rows, Some(link)),
        Show::Counters { format: CounterFormat::Prometheus, interval, rows } => {
            return metrics::run(context, rows, *interval);
        }
        Show::Counters { interval: Some(_), .. } => return Err(metrics::rows_have_no_rates()),
        Show::Counters { rows, .. } => (Browse::Counters, rows, None),
        Show::Lanes(rows) => (Browse::Lanes, rows, None),
        Show::Jobs(args) => return super::jobs::rows(context, args),
    };
    if rows.fields.as_deref() == Some(HELP) {
        context.write_fields(view)?;
        return Ok(Exit::Done);
    }
    let wanted = wanted(view, rows, &context.globals.filter);
    let mut look = context.look(wanted)?;
    if wanted.tables {
        context.assume(&mut look)?;
    } else if context.globals.assume.is_some() {
        return Err(nothing_assumed());
    }
    if view == Browse::Counters {
        let notes = unplaced_counters(&look);
        look.observation.notes.extend(notes);
    }
    if wanted.counters {
        let notes = fresh_counters(&look);
        look.observation.notes.extend(notes);
    }
    match named {
        Some(link) if view == Browse::Users => users_of(context, &look, link, rows)?,
        Some(switch) => switch_entries(context, &look, switch, rows)?,
        None => browse(context, &look, view, rows)?,
    }
    Ok(context.conclude(&look))
}

/// Parts of the fabric that a view needs besides nodes, ports and links.
fn wanted(view: Browse, rows: &RowArgs, filters: &[String]) -> Wanted {
    // Multicast tables cost many datagrams for one column. A filter or an order by that column needs them too,
    // because without them every row would seem to have no groups.
    let links = |word| view == Browse::Links && names(rows, filters, word);
    Wanted {
        tables: matches!(view, Browse::Tables | Browse::Entries | Browse::Users) || links("efi"),
        multicast: view == Browse::Tables && names(rows, filters, "groups"),
        lanes: view == Browse::Lanes,
        counters: view == Browse::Counters || links("errors"),
        ..Wanted::default()
    }
}

/// Whether the rows show, sort or filter by a field.
fn names(rows: &RowArgs, filters: &[String], field: &str) -> bool {
    [&rows.fields, &rows.sort].into_iter().flatten().chain(filters).any(|text| text.contains(field))
}

/// Links with the number of paths over each, which needs a walk over all tables.
fn links_with_paths(look: &Look) -> Result<Box<dyn Listing + '_>, Failure> {
    Ok(Box::new(links(look, Some(indexed(look)?.paths()))))
}

fn indexed(look: &Look) -> Result<Preview, Failure> {
    let failed =
        |refusal| Failure::new(Exit::Failed, format!("FD-7308: the paths cannot be indexed: {refusal}"));
    Preview::new(look, &look.observation.tables, &NoPulse).map_err(failed)
}

fn users_of(context: &mut Context<'_, '_>, look: &Look, link: &str, rows: &RowArgs) -> Result<(), Failure> {
    let found = Element::find(look.fabric(), &look.names, link);
    let id = match context.among_answers(look, found.map_err(|error| Failure::usage(error.to_string())))? {
        Resolved::Link(id) => Some(id),
        Resolved::Port(port) => look.fabric().port(port).link,
        Resolved::Node(_) => None,
    };
    let Some(id) = id else {
        return Err(Failure::usage(format!("FD-7309: '{link}' is no cable; write link:NAME[PORT]")));
    };
    let element = Element::of(look.fabric(), &look.names, Resolved::Link(id)).to_string();
    let query = context.query(rows);
    let rows = user_rows(look, indexed(look)?.paths(), id);
    context.write_rows(Browse::Users.id(), look, &users(look, &rows), &query, |object| {
        object.field("link", &element)
    })
}

fn browse(context: &mut Context<'_, '_>, look: &Look, view: Browse, rows: &RowArgs) -> Result<(), Failure> {
    let listing = match view == Browse::Links && names(rows, &context.globals.filter, "efi") {
        true => Some(links_with_paths(look)?),
        false => view.listing(look),
    };
    let Some(listing) = listing else { return Ok(()) };
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
            "FD-7310: '{switch}' is no switch, so it has no forwarding table"
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

/// JSON of the subnet manager.
#[derive(serde::Serialize)]
struct Manager<'a> {
    guid: String,
    state: Option<&'a str>,
}

/// Prints the numbers of a fabric, as pairs or as an object.
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
        manager.map(|sm| format!("{} {}", sm.guid, sm.state.as_deref().unwrap_or("in a state not told")));
    pairs.push(("subnet manager", manager.unwrap_or_else(|| "not told".to_owned())));
    for (name, number, what) in [
        ("tables", Some(summary.tables.unwrap_or(0)), "of the switches have a known one"),
        ("degraded", summary.degraded_links, "of the links, below what both ends can do"),
        ("down", summary.down_links, "of the links"),
        ("not answering", Some(summary.unanswered), "of the nodes: silent, or known by their peer only"),
        ("silent", Some(summary.silent), "without an answer of all that was asked; -v lists what"),
    ] {
        match number {
            Some(0) => {}
            Some(number) => pairs.push((name, format!("{} {what}", digits_in_groups(number)))),
            None => pairs.push((name, "not told".to_owned())),
        }
    }
    Ok(write_pairs(context.output.out, (context.output.paint, context.output.page), &pairs)?)
}
