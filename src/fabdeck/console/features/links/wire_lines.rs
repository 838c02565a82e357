//! What both ends of a cable said about the health of the link: the verdict, the module and the bit errors.
//!
//! ```text
//! wire        rack2-leaf[7]: bad, effective bit error rate 1.2e-9 is above 1e-12
//! module      active optical, Acme 980-9I, serial MT1, 71.0 C, RX 310 uW
//! bit errors  raw 3.1e-5, after FEC 1.2e-9, FEC RS(544,514)
//! link        FECN 12 packets, recoveries 3, link downs 1
//! went down   last by the other end, not intended: high bit error rate, trouble: nothing
//! ```

use crate::catalogue::field::Listing;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::views::modules::MODULES;
use crate::console::model::detail_page::DetailLine;
use crate::console::model::fabric_model::Model;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{LinkId, PortId};

/// How many ports were read so far: `link health of 120 of 162 ports read`.
pub fn wire_read_words((read, of): (usize, usize)) -> String {
    format!("link health of {} of {} ports read", digits_in_groups(read), digits_in_groups(of))
}

/// The lines; empty where no end was asked.
pub fn wire_lines(look: &Snapshot, known: &Model, link: LinkId) -> Vec<DetailLine> {
    let link = look.fabric().link(link);
    let is_read = [link.a, link.b].into_iter().any(|port| look.port_wire(port).is_some());
    if let (false, Some(read)) = (is_read, known.watch.wire_read) {
        return vec![("wire", format!("not read yet; {} so far", wire_read_words(read)))];
    }
    [link.a, link.b]
        .into_iter()
        .filter(|port| look.port_wire(*port).is_some())
        .flat_map(|port| port_lines(look, port))
        .collect()
}

fn port_lines(look: &Snapshot, port: PortId) -> Vec<DetailLine> {
    let rows = MODULES.rows(look, vec![port]);
    let cell = |id: &str| -> Option<String> {
        let at = (0..rows.column_count()).find(|at| rows.column(*at).id == id)?;
        let value = rows.cell(0, at);
        let unit = match rows.column(at).unit {
            "" => String::new(),
            unit => format!(" {unit}"),
        };
        (!value.is_missing()).then(|| format!("{}{unit}", value.display_text()))
    };
    let join = |parts: &[(&str, &str)]| -> String {
        let parts = parts.iter().filter_map(|(word, id)| Some(format!("{word}{}", cell(id)?)));
        parts.collect::<Vec<_>>().join(", ")
    };
    let judged = look.wire_judgement(port);
    let why = judged.evidence.first().map_or_else(String::new, |worst| format!(", {}", worst.text));
    let module = [
        ("", "module"),
        ("", "vendor"),
        ("", "part"),
        ("serial ", "serial"),
        ("", "temperature"),
        ("RX ", "rx_power"),
    ];
    let bits = [
        ("raw ", "raw_ber"),
        ("after FEC ", "effective_ber"),
        ("after retransmission ", "symbol_ber"),
        ("FEC ", "fec"),
    ];
    let course = [
        ("FECN ", "fecn"),
        ("BECN ", "becn"),
        ("uncorrectable ", "uncorrectable"),
        ("recoveries ", "recoveries"),
        ("link downs ", "link_downs"),
        ("sent again ", "retries"),
        ("losses ", "retry_losses"),
    ];
    let mut lines = vec![
        ("wire", format!("{}: {}{why}", look.labelled_port_name(port), judged.verdict.word())),
        ("module", join(&module)),
        ("bit errors", join(&bits)),
    ];
    let asked = look.port_wire(port).is_some_and(|said| !said.link_down.is_not_asked());
    lines.extend(Some(("link", join(&course))).filter(|(_, text)| !text.is_empty()));
    lines.extend(asked.then(|| ("went down", join(&[("last ", "last_down"), ("trouble: ", "trouble")]))));
    lines
}
