//! The formats that `convert --to` writes, one entry each.

use std::io;

use crate::script::{FormatError, FormatOptions, FormatWriter, FormattedFile, csv};
use crate::session::Snapshot;
use fabdeck_fabric::Routes;
use fabdeck_fabric::observe::Notes;
use fabdeck_files::{
    FileError, fdbs, guids, ibnetdiscover, ibsim, lfts, prometheus, psl, qos_policy, sl2vl, slurm, slvl,
    subnet_lst, writer_output,
};

type FormatResult = Result<FormattedFile, FormatError>;

/// All writers, in the order of the help.
pub static WRITERS: &[FormatWriter] = &[
    writer(ibnetdiscover::ID, "topology as ibnetdiscover prints it", true, |look, _| {
        format_text(ibnetdiscover::write(look.fabric(), look.observation.time.as_deref()))
    }),
    writer(ibsim::ID, "net file of ibsim", true, |look, _| format_text(ibsim::write(look.fabric()))),
    writer(subnet_lst::ID, "links as in opensm-subnet.lst", true, |look, _| {
        let manager = look.observation.subnet_manager.as_ref();
        format_stream(|out| subnet_lst::write(look.fabric(), manager, out))
    }),
    writer(lfts::ID, "forwarding tables as in opensm-lfts.dump", false, |look, _| {
        needs_tables(look, "forwarding tables", |tables| tables.lft.is_some())?;
        format_stream(|out| lfts::write(look.fabric(), &look.observation.tables, out))
    }),
    writer(fdbs::ID, "routes as in opensm.fdbs", false, |look, _| {
        needs_tables(look, "forwarding tables", |tables| tables.lft.is_some())?;
        format_stream(|out| fdbs::write(look.fabric(), &look.observation.tables, out))
    }),
    writer(sl2vl::ID, "lanes as in opensm-sl2vl.dump", false, |look, _| {
        needs_tables(look, "lane tables", |tables| !tables.sl2vl.is_empty())?;
        format_stream(|out| sl2vl::write(look.fabric(), &look.observation.tables, out).map(|()| Notes::new()))
    }),
    writer(slvl::ID, "lanes as ibdiagnet and ibdmchk have them", false, |look, _| {
        needs_tables(look, "lane tables", |tables| !tables.sl2vl.is_empty())?;
        format_stream(|out| slvl::write(look.fabric(), &look.observation.tables, out).map(|()| Notes::new()))
    }),
    writer(psl::ID, "lane of each path of a plan, as ibdmchk takes it", false, |look, _| {
        let routes = needs_lanes(look)?;
        let lines = psl::line_count(look.fabric());
        if lines > psl::MAX_LINES {
            return Err(FormatError {
                code: "FD-7606",
                what: format!("the file would have a line for each path: {lines} lines"),
                hint: format!("ibdmchk is for smaller fabrics; at most {} are written", psl::MAX_LINES),
            });
        }
        format_stream(|out| psl::write(look.fabric(), routes, out))
    }),
    writer(qos_policy::ID, "lanes by destination of a plan, as OpenSM's QoS policy", false, |look, _| {
        let refused = |e: Box<FileError>| FormatError { code: e.code, what: e.what, hint: e.hint };
        let text = qos_policy::write(look.fabric(), needs_lanes(look)?).map_err(refused)?;
        Ok(FormattedFile { bytes: text.into_bytes(), ..FormattedFile::default() })
    }),
    writer(guids::ID, "GUIDs of the switches, one a line", false, |look, _| {
        let switches: Vec<_> = look.fabric().switches().map(|(_, node)| node.guid()).collect();
        format_stream(|out| guids::write(&switches, out).map(|()| Notes::new()))
    }),
    writer("slurm-topology", "Slurm's topology.conf (a tree)", false, |look, options| {
        let rail = options.rail.map(usize::from);
        Ok(formatted(slurm::write(look.fabric(), &look.names, rail)))
    }),
    writer("prometheus", "counters and link states as Prometheus reads them", false, |look, _| {
        let bytes = prometheus::write(look.fabric(), &look.names, &look.observation.counters).into_bytes();
        Ok(FormattedFile { bytes, ..FormattedFile::default() })
    }),
    writer("csv", "every port with its peer, comma-separated", false, |look, options| {
        Ok(FormattedFile { bytes: csv::ports(look, options.raw_cells), ..FormattedFile::default() })
    }),
];

const fn writer(
    id: &'static str,
    title: &'static str,
    topology: bool,
    write: fn(&Snapshot, &FormatOptions) -> FormatResult,
) -> FormatWriter {
    FormatWriter { id, title, topology, write }
}

fn formatted(from: writer_output::WriterOutput) -> FormattedFile {
    FormattedFile { bytes: from.text.into_bytes(), notes: from.notes }
}

fn format_text(answer: Result<writer_output::WriterOutput, Box<FileError>>) -> FormatResult {
    answer.map(formatted).map_err(|e| FormatError { code: e.code, what: e.what, hint: e.hint })
}

/// Runs a streaming writer into memory, so that a file is written only if all of it could be made.
fn format_stream(write: impl FnOnce(&mut dyn io::Write) -> io::Result<Notes>) -> FormatResult {
    let mut bytes = Vec::new();
    let failed = |e: io::Error| FormatError {
        code: "FD-7602",
        what: format!("the file could not be made: {e}"),
        hint: "report this, it is a bug".into(),
    };
    let notes = write(&mut bytes).map_err(failed)?;
    Ok(FormattedFile { bytes, notes })
}

/// Forwarding tables do not hold the lanes of paths; plans do.
fn needs_lanes(look: &Snapshot) -> Result<&Routes, FormatError> {
    look.routes.as_ref().ok_or_else(|| FormatError {
        code: "FD-7605",
        what: "the lanes of the paths are not known".into(),
        hint: "give a plan of 'fabdeck route' beside the files of the fabric".into(),
    })
}

fn needs_tables(
    look: &Snapshot,
    what: &'static str,
    has: impl Fn(&fabdeck_fabric::NodeTables) -> bool,
) -> Result<(), FormatError> {
    if look.observation.tables.nodes.values().any(has) {
        return Ok(());
    }
    Err(FormatError {
        code: "FD-7603",
        what: format!("the source has no {what}"),
        hint: "give the dump of the tables beside the topology, as a second file or in one folder".into(),
    })
}
