//! Rules for joining wrapped lines again: which lines of a format are complete in themselves and continue no other.

use super::super::csv::read_row;
use super::super::topology_text::{LineKind, classify};
use super::super::{
    fdbs, ibdiagnet, ibnetdiscover, ibqueryerrors, ibsim, lfts, perfquery, port_report, sl2vl, slvl,
    subnet_lst,
};

/// Which lines of some formats are wrapped, and which are whole.
pub(super) struct JoiningRules {
    /// The formats; none for all that have no rules of their own.
    formats: &'static [&'static str],
    /// Whether the second line does not continue the first: it is a line of the format in itself, or the first is
    /// complete.
    separate: fn(&str, &str) -> bool,
    /// Whether the lines are rows of tables, which have a cell for each column.
    pub(super) rows: bool,
}

pub(super) const RULES: [JoiningRules; 10] = [
    rules(&[ibnetdiscover::ID, ibsim::ID], is_topology_line),
    rules(&[lfts::ID], is_lfts_line),
    rules(&[fdbs::ID], |_, next| {
        begins_with(next, &["0x", "#", "LID", "Switch 0x"]) || next.contains("_routes: ")
    }),
    rules(&[sl2vl::ID], is_sl2vl_line),
    rules(&[slvl::ID], is_slvl_line),
    // A row names two ports, and the second one looks like the beginning of a row.
    rules(&[port_report::ID], |line, next| port_report::starts_row(next) && !line.trim_end().ends_with(" -")),
    rules(&[subnet_lst::ID], |_, next| next.starts_with('{') && next.matches(" NodeGUID:").count() == 2),
    rules(&[perfquery::ID], |line, next| perfquery::is_known_line(next) || line.trim_end().ends_with(')')),
    rules(&[ibqueryerrors::ID], |_, next| {
        begins_with(next.trim_start(), &["Errors for ", "Data Counters for ", "GUID ", "#", "Link info:"])
    }),
    JoiningRules { formats: &[ibdiagnet::ID], separate: |_, _| false, rows: true },
];

/// The rules of formats that have none of their own.
pub(super) const OTHER_RULES: JoiningRules =
    rules(&[], |line, next| begins_with(next.trim_start(), &["0x"]) || is_topology_line(line, next));

const fn rules(formats: &'static [&'static str], separate: fn(&str, &str) -> bool) -> JoiningRules {
    JoiningRules { formats, separate, rows: false }
}

impl JoiningRules {
    pub(super) fn covers(&self, format: &str) -> bool {
        match self.formats {
            [] => !RULES.iter().any(|rules| rules.formats.contains(&format)),
            formats => formats.contains(&format),
        }
    }
}

/// The table that the lines of a text belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Table {
    Outside,
    Header,
    Rows { columns: usize },
}

/// Joins the lines of one text.
pub(super) struct LineJoiner<'a> {
    rules: &'a JoiningRules,
    table: Table,
}

impl<'a> LineJoiner<'a> {
    pub(super) fn new(rules: &'a JoiningRules) -> Self {
        Self { rules, table: Table::Outside }
    }

    /// Whether the next line continues this one, which has no room for its first word. `joined` is this line with those
    /// that it continues.
    pub(super) fn continues(&self, joined: &str, line: &str, next: &str, fills_width: bool) -> bool {
        if is_prompt(next) || begins_with(next, &["START_", "END_", "ibwarn:", "ibpanic:", "iberror:"]) {
            return false;
        }
        match (self.rules.rows, self.table) {
            (false, _) => !(self.rules.separate)(line, next),
            (true, Table::Outside) => false,
            // Names of columns are plain words, and rows begin with a name in quotes or a GUID.
            (true, Table::Header) => fills_width && !begins_with(next, &["\"", "0x"]),
            (true, Table::Rows { columns }) => {
                let missing = cell_count(joined).is_none_or(|cells| cells < columns);
                // The last cell may be cut too.
                let in_last_cell = || columns > 1 && cell_count(next) == Some(1);
                fills_width && (missing || in_last_cell())
            }
        }
    }

    /// Whether joining a line proves that it was wrapped. A comment takes up any remark after it.
    pub(super) fn is_proof(&self, joined: &str) -> bool {
        !joined.starts_with('#') || perfquery::looks_like(joined)
    }

    /// Follows the tables of the text over a complete line.
    pub(super) fn end_line(&mut self, joined: &str) {
        self.table = match self.table {
            _ if joined.starts_with("START_") => Table::Header,
            _ if joined.starts_with("END_") => Table::Outside,
            Table::Header if !joined.trim().is_empty() => {
                Table::Rows { columns: cell_count(joined).unwrap_or(0) }
            }
            table => table,
        };
    }
}

fn begins_with(line: &str, words: &[&str]) -> bool {
    words.iter().any(|word| line.starts_with(word))
}

/// Beginnings of the words after a node or a cable. When a line is wrapped before them, they look like a comment.
const TAILS: [&str; 2] = ["# \"", "# lid "];

/// Whether a line holds the words after a node or a cable, and the line before it lacks them.
pub(super) fn is_tail_of(line: &str, next: &str) -> bool {
    let lacks_tail =
        || !line.contains('#') && matches!(classify(line), LineKind::Port(_) | LineKind::Record(..));
    TAILS.iter().any(|tail| next.starts_with(tail)) && lacks_tail()
}

fn is_topology_line(line: &str, next: &str) -> bool {
    !matches!(classify(next), LineKind::Noise | LineKind::ToolError) && !is_tail_of(line, next)
}

fn is_lfts_line(line: &str, next: &str) -> bool {
    let line = line.trim_end();
    // A row ends with the name of the owner, a heading with that of the switch.
    let complete = line.ends_with(['\'', ')', ':']) && !line.ends_with(": '");

    // A LID has four digits, a GUID that was wrapped to the next line has more.
    const LID_LENGTH: usize = 6;
    let row =
        next.starts_with("0x") && next.split_whitespace().next().is_some_and(|lid| lid.len() <= LID_LENGTH);
    let heading = begins_with(next, &["#", "Unicast lids", "Multicast mlids", "Lid ", "Port ", "SubnGet("]);
    complete || row || heading || next.trim_end().ends_with("lids dumped")
}

fn is_sl2vl_line(line: &str, next: &str) -> bool {
    // A heading ends with the name of the node.
    let complete = line.trim_end().ends_with('"') && !line.ends_with(", \"");
    let row = next.starts_with(|c: char| c.is_ascii_digit()) && next.contains(':');
    complete || row || begins_with(next, &["#", "Switch 0x", "Channel Adapter 0x", "Router 0x"])
}

fn is_slvl_line(_: &str, next: &str) -> bool {
    // A byte of lanes has two digits, a GUID has more.
    const LANE_LENGTH: usize = 4;
    let mut words = next.split_whitespace();
    let guid = words.next().is_some_and(|guid| guid.starts_with("0x") && guid.len() > LANE_LENGTH);
    next.starts_with('#') || guid && words.next().is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()))
}

/// Number of cells of a row; `None` within a quoted cell.
fn cell_count(row: &str) -> Option<usize> {
    let mut cells = Vec::new();
    read_row(row, &mut cells).ok().map(|()| cells.len())
}

/// Whether a line is a shell prompt, possibly with a command: `[root@mgmt ~]# ibnetdiscover`, `$ perfquery`.
fn is_prompt(line: &str) -> bool {
    let Some(end) = line.find(['#', '$', '%', '>']) else { return false };
    let (before, after) = (&line[..end], &line[end + 1..]);
    let shell =
        before.contains('@') && !before.contains(['"', '\'']) || before.is_empty() && line.starts_with('$');
    shell && (after.is_empty() || after.starts_with(' '))
}
