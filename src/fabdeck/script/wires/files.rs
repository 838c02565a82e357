//! The formats that `convert --to` writes, one entry each.

use std::io;

use crate::script::{WriteError, WriteOptions, Writer, Written, csv};
use crate::session::Look;
use fabdeck_fabric::Routes;
use fabdeck_fabric::observe::Notes;
use fabdeck_files::{
    FileError, fdbs, guids, ibnetdiscover, ibsim, lfts, prometheus, psl, qos_policy, sl2vl, slurm, slvl,
    subnet_lst, written,
};

type Answer = Result<Written, WriteError>;

/// All writers, in the order of the help.
pub static WRITERS: &[Writer] = &[
    writer(ibnetdiscover::ID, "topology as ibnetdiscover prints it", true, |look, _| {
        text(ibnetdiscover::write(look.fabric(), look.observation.time.as_deref()))
    }),
    writer(ibsim::ID, "net file of ibsim", true, |look, _| text(ibsim::write(look.fabric()))),
    writer(subnet_lst::ID, "links as in opensm-subnet.lst", true, |look, _| {
        let manager = look.observation.subnet_manager.as_ref();
        stream(|out| subnet_lst::write(look.fabric(), manager, out))
    }),
    writer(lfts::ID, "forwarding tables as in opensm-lfts.dump", false, |look, _| {
        needs_tables(look, "forwarding tables", |tables| tables.lft.is_some())?;
        stream(|out| lfts::write(look.fabric(), &look.observation.tables, out))
    }),
    writer(fdbs::ID, "routes as in opensm.fdbs", false, |look, _| {
        needs_tables(look, "forwarding tables", |tables| tables.lft.is_some())?;
        stream(|out| fdbs::write(look.fabric(), &look.observation.tables, out))
    }),
    writer(sl2vl::ID, "lanes as in opensm-sl2vl.dump", false, |look, _| {
        needs_tables(look, "lane tables", |tables| !tables.sl2vl.is_empty())?;
        stream(|out| sl2vl::write(look.fabric(), &look.observation.tables, out).map(|()| Notes::new()))
    }),
    writer(slvl::ID, "lanes as ibdiagnet and ibdmchk have them", false, |look, _| {
        needs_tables(look, "lane tables", |tables| !tables.sl2vl.is_empty())?;
        stream(|out| slvl::write(look.fabric(), &look.observation.tables, out).map(|()| Notes::new()))
    }),
    writer(psl::ID, "lane of each path of a plan, as ibdmchk takes it", false, |look, _| {
        let routes = needs_lanes(look)?;
        let lines = psl::lines(look.fabric());
        if lines > psl::MOST_LINES {
            return Err(WriteError {
                code: "FD-7606",
                what: format!("the file would have a line for each path: {lines} lines"),
                hint: format!("ibdmchk is for smaller fabrics; at most {} are written", psl::MOST_LINES),
            });
        }
        stream(|out| psl::write(look.fabric(), routes, out))
    }),
    writer(qos_policy::ID, "lanes by destination of a plan, as OpenSM's QoS policy", false, |look, _| {
        let refused = |e: Box<FileError>| WriteError { code: e.code, what: e.what, hint: e.hint };
        let text = qos_policy::write(look.fabric(), needs_lanes(look)?).map_err(refused)?;
        Ok(Written { bytes: text.into_bytes(), ..Written::default() })
    }),
    writer(guids::ID, "GUIDs of the switches, one a line", false, |look, _| {
        let switches: Vec<_> = look.fabric().switches().map(|(_, node)| node.guid()).collect();
        stream(|out| guids::write(&switches, out).map(|()| Notes::new()))
    }),
    writer("slurm-topology", "Slurm's topology.conf (a tree)", false, |look, options| {
        let rail = options.rail.map(usize::from);
        Ok(written(slurm::write(look.fabric(), &look.names, rail)))
    }),
    writer("prometheus", "counters and link states as Prometheus reads them", false, |look, _| {
        let bytes = prometheus::write(look.fabric(), &look.names, &look.observation.counters).into_bytes();
        Ok(Written { bytes, ..Written::default() })
    }),
    writer("csv", "every port with its peer, comma-separated", false, |look, options| {
        Ok(Written { bytes: csv::ports(look, options.raw_cells), ..Written::default() })
    }),
];

const fn writer(
    id: &'static str,
    title: &'static str,
    topology: bool,
    write: fn(&Look, &WriteOptions) -> Answer,
) -> Writer {
    Writer { id, title, topology, write }
}

fn written(from: written::Written) -> Written {
    Written { bytes: from.text.into_bytes(), notes: from.notes }
}

fn text(answer: Result<written::Written, Box<FileError>>) -> Answer {
    answer.map(written).map_err(|e| WriteError { code: e.code, what: e.what, hint: e.hint })
}

/// Runs a streaming writer into memory, so that a file is written only if all of it could be made.
fn stream(write: impl FnOnce(&mut dyn io::Write) -> io::Result<Notes>) -> Answer {
    let mut bytes = Vec::new();
    let failed = |e: io::Error| WriteError {
        code: "FD-7602",
        what: format!("the file could not be made: {e}"),
        hint: "report this, it is a bug".into(),
    };
    let notes = write(&mut bytes).map_err(failed)?;
    Ok(Written { bytes, notes })
}

/// Forwarding tables do not hold the lanes of paths; plans do.
fn needs_lanes(look: &Look) -> Result<&Routes, WriteError> {
    look.routes.as_ref().ok_or_else(|| WriteError {
        code: "FD-7605",
        what: "the lanes of the paths are not known".into(),
        hint: "give a plan of 'fabdeck route' beside the files of the fabric".into(),
    })
}

fn needs_tables(
    look: &Look,
    what: &'static str,
    has: impl Fn(&fabdeck_fabric::NodeTables) -> bool,
) -> Result<(), WriteError> {
    if look.observation.tables.nodes.values().any(has) {
        return Ok(());
    }
    Err(WriteError {
        code: "FD-7603",
        what: format!("the source has no {what}"),
        hint: "give the dump of the tables beside the topology, as a second file or in one folder".into(),
    })
}
