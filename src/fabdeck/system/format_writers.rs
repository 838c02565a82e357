//! The formats that `convert --to` writes, one entry each.

use std::io;

use super::access::{FormatError, FormatOptions, FormatWriter, FormattedFile};
use super::csv;
use crate::catalogue::snapshot::Snapshot;
use fabdeck_fabric::Routes;
use fabdeck_fabric::observe::Notes;
use fabdeck_files::{
    FileError, fdbs, guids, ibnetdiscover, ibsim, lfts, path_bits, prometheus, psl, qos_policy, sl2vl, slurm,
    slvl, subnet_lst, writer_output,
};

type FormatResult = Result<FormattedFile, FormatError>;

/// All writers, in the order of the help.
pub static WRITERS: &[FormatWriter] = &[
    writer(ibnetdiscover::ID, "topology as ibnetdiscover prints it", true, |snapshot, _| {
        format_text(ibnetdiscover::write(snapshot.fabric(), snapshot.observation.time.as_deref()))
    }),
    writer(ibsim::ID, "net file of ibsim", true, |snapshot, _| format_text(ibsim::write(snapshot.fabric()))),
    writer(subnet_lst::ID, "links as in opensm-subnet.lst", true, |snapshot, _| {
        let manager = snapshot.observation.subnet_manager.as_ref();
        format_stream(|out| subnet_lst::write(snapshot.fabric(), manager, out))
    }),
    writer(lfts::ID, "forwarding tables as in opensm-lfts.dump", false, |snapshot, _| {
        needs_tables(snapshot, "forwarding tables", |tables| tables.lft.is_some())?;
        format_stream(|out| lfts::write(snapshot.fabric(), &snapshot.observation.tables, out))
    }),
    writer(fdbs::ID, "routes as in opensm.fdbs", false, |snapshot, _| {
        needs_tables(snapshot, "forwarding tables", |tables| tables.lft.is_some())?;
        format_stream(|out| fdbs::write(snapshot.fabric(), &snapshot.observation.tables, out))
    }),
    writer(sl2vl::ID, "lanes as in opensm-sl2vl.dump", false, |snapshot, _| {
        needs_tables(snapshot, "lane tables", |tables| !tables.sl2vl.is_empty())?;
        format_stream(|out| {
            sl2vl::write(snapshot.fabric(), &snapshot.observation.tables, out).map(|()| Notes::new())
        })
    }),
    writer(slvl::ID, "lanes as ibdiagnet and ibdmchk have them", false, |snapshot, _| {
        needs_tables(snapshot, "lane tables", |tables| !tables.sl2vl.is_empty())?;
        format_stream(|out| {
            slvl::write(snapshot.fabric(), &snapshot.observation.tables, out).map(|()| Notes::new())
        })
    }),
    writer(psl::ID, "lane of each path of a plan, as ibdmchk takes it", false, |snapshot, _| {
        let routes = needs_lanes(snapshot)?;
        let lines = psl::line_count(snapshot.fabric());
        if lines > psl::MAX_LINES {
            return Err(FormatError {
                code: "FD-7606",
                what: format!("the file would have a line for each path: {lines} lines"),
                hint: format!("ibdmchk is for smaller fabrics; at most {} are written", psl::MAX_LINES),
            });
        }
        format_stream(|out| psl::write(snapshot.fabric(), routes, out))
    }),
    writer(qos_policy::ID, "lanes by destination of a plan, as OpenSM's QoS policy", false, |snapshot, _| {
        let refused = |e: Box<FileError>| FormatError { code: e.code, what: e.what, hint: e.hint };
        let text = qos_policy::write(snapshot.fabric(), needs_lanes(snapshot)?).map_err(refused)?;
        Ok(FormattedFile { bytes: text.into_bytes(), ..FormattedFile::default() })
    }),
    writer(path_bits::ID, "which LID each host sends to, for UCX_IB_LID_PATH_BITS", false, |snapshot, _| {
        let fabric = snapshot.fabric();
        if path_bits::max_lmc(fabric).value() == 0 {
            return Err(FormatError {
                code: "FD-7608",
                what: "every port of a host has one LID, so hosts have nothing to choose".into(),
                hint: "set an LMC in the subnet manager (OpenSM: lmc 2); in a simulator add ,lmc=2".into(),
            });
        }
        let bits = snapshot.path_bits();
        let bytes = path_bits::write(fabric, &snapshot.names, &bits).into_bytes();
        Ok(FormattedFile { bytes, ..FormattedFile::default() })
    }),
    writer(guids::ID, "GUIDs of the switches, one a line", false, |snapshot, _| {
        let switches: Vec<_> = snapshot.fabric().switches().map(|(_, node)| node.guid()).collect();
        format_stream(|out| guids::write(&switches, out).map(|()| Notes::new()))
    }),
    writer("slurm-topology", "Slurm's topology.conf (a tree)", false, |snapshot, options| {
        let rail = options.rail.map(usize::from);
        Ok(formatted(slurm::write(snapshot.fabric(), &snapshot.names, rail)))
    }),
    writer(
        "slurm-topology-yaml",
        "Slurm's topology.yaml (trees, and pods as blocks)",
        false,
        |snapshot, options| {
            let rail = options.rail.map(usize::from);
            Ok(formatted(slurm::write_yaml(snapshot.fabric(), &snapshot.names, rail)))
        },
    ),
    writer("prometheus", "counters and link states as Prometheus reads them", false, |snapshot, _| {
        let bytes = prometheus::write(
            snapshot.fabric(),
            &snapshot.names,
            &snapshot.observation.counters,
            prometheus::MetricSet::All,
        )
        .into_bytes();
        Ok(FormattedFile { bytes, ..FormattedFile::default() })
    }),
    writer("csv", "every port with its peer, comma-separated", false, |snapshot, options| {
        Ok(FormattedFile { bytes: csv::ports(snapshot, options.raw_cells), ..FormattedFile::default() })
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
fn needs_lanes(snapshot: &Snapshot) -> Result<&Routes, FormatError> {
    snapshot.routes.as_ref().ok_or_else(|| FormatError {
        code: "FD-7605",
        what: "the lanes of the paths are not known".into(),
        hint: "give a plan of 'fabdeck route' beside the files of the fabric".into(),
    })
}

fn needs_tables(
    snapshot: &Snapshot,
    what: &'static str,
    has: impl Fn(&fabdeck_fabric::NodeTables) -> bool,
) -> Result<(), FormatError> {
    if snapshot.observation.tables.nodes.values().any(has) {
        return Ok(());
    }
    Err(FormatError {
        code: "FD-7603",
        what: format!("the source has no {what}"),
        hint: "give the dump of the tables beside the topology, as a second file or in one folder".into(),
    })
}
