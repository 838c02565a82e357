//! The formats, each described once: detection, reading, the list in the docs and the fuzz targets use this
//! description.

use super::content::Content;
use super::file_error::FileError;
use super::text::Input;
use super::{
    cables, capture_format, far, fdbs, guid2lid, guids, ibdiagnet, ibnetdiscover, ibqueryerrors, ibsim,
    ibswinfo, label_sheet, lfts, mlxlink, name_map, net_dump, net_dump_ext, nodes_info, partitions,
    perfquery, pkey, pm, port_report, psl, qos_policy, sl2vl, slvl, subnet_lst,
};

/// One format that can be read.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// The name in `convert --to`, in messages and of the fuzz target.
    pub id: &'static str,
    pub title: &'static str,
    /// Whether the beginning of a file (up to 8 KiB, byte order mark removed) is of this format.
    pub looks_like: fn(&str) -> bool,
    pub read: fn(Input<'_>) -> Result<Content, Box<FileError>>,
}

/// A format whose module has the usual three items: `ID`, `looks_like` and `read`.
macro_rules! format {
    ($module:ident, $title:literal, $content:expr) => {
        Format {
            id: $module::ID,
            title: $title,
            looks_like: $module::looks_like,
            read: |input| $module::read(input).map($content),
        }
    };
}

/// Formats in the order of detection: one with a distinctive beginning stands before one that accepts much. Topologies
/// are sorted by how much they tell: in a folder with several, the first one gives the fabric.
pub const FORMATS: &[Format] = &[
    format!(capture_format, "capture of fabdeck (record)", |seen| Content::Observation(Box::new(seen))),
    format!(far, "adaptive tables of ibdiagnet (far)", Content::Adaptive),
    format!(fdbs, "routes of OpenSM (opensm.fdbs)", Content::Tables),
    format!(lfts, "forwarding tables (opensm-lfts.dump, dump_lfts, ibroute)", Content::Tables),
    format!(sl2vl, "lanes of OpenSM (opensm-sl2vl.dump)", Content::Tables),
    format!(slvl, "lanes of ibdiagnet (slvl)", Content::Tables),
    format!(ibdiagnet, "tables of ibdiagnet (db_csv)", |file| Content::Topology(Box::new(file))),
    format!(ibnetdiscover, "topology of ibnetdiscover", |file| Content::Topology(Box::new(file))),
    format!(subnet_lst, "links of OpenSM (opensm-subnet.lst)", |file| Content::Topology(Box::new(file))),
    format!(ibsim, "net file of ibsim", |file| Content::Topology(Box::new(file))),
    format!(port_report, "port report of ibnetdiscover -p", |file| Content::Topology(Box::new(file))),
    format!(perfquery, "counters of perfquery", Content::Counters),
    format!(ibqueryerrors, "counters of ibqueryerrors", Content::Counters),
    format!(net_dump, "labels of ports of ibdiagnet (net_dump)", Content::Labels),
    format!(net_dump_ext, "bit error rates of ibdiagnet (net_dump_ext)", Content::Wire),
    format!(cables, "modules of ibdiagnet (cables)", Content::Wire),
    format!(pm, "counters of ibdiagnet (pm)", Content::Counters),
    format!(nodes_info, "firmware of ibdiagnet (nodes_info)", Content::Wire),
    format!(pkey, "partitions of ibdiagnet (pkey)", Content::Partitions),
    format!(mlxlink, "a port of mlxlink --json", Content::Wire),
    format!(ibswinfo, "sensors of ibswinfo", Content::Wire),
    format!(psl, "service levels of paths (psl)", Content::Policy),
    format!(guid2lid, "LIDs as OpenSM remembers them (guid2lid)", Content::Lids),
    format!(partitions, "partitions of OpenSM (partitions.conf)", Content::Partitions),
    Format {
        id: qos_policy::ID,
        title: "QoS policy of OpenSM (qos-policy.conf)",
        looks_like: qos_policy::looks_like,
        read: |input| qos_policy::read_policy(input).map(Content::Policy),
    },
    format!(name_map, "names by GUID (node-name-map)", Content::Names),
    format!(label_sheet, "sheet of labels and places (CSV)", Content::Labels),
    format!(guids, "list of GUIDs", Content::Guids),
];

/// Detects the format of a file by its content.
pub fn detect(bytes: &[u8]) -> Option<&'static Format> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(8 * 1024)]);
    FORMATS.iter().find(|format| (format.looks_like)(&head))
}
