//! The ranked list of problems, from one reading of a fabric and the counters of one interval.

use super::problem::{FabricProblem, NextStep};
use crate::catalogue::shell_words::quote_for_shell;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::check::judgement::CertificateReport;
use crate::operations::jobs::job_comparison::JobComparison;
use crate::operations::watch::interval_verdict::IntervalVerdict;
use fabdeck_fabric::observe::FabricEvent;
use fabdeck_fabric::{Element, ElementId, LinkId, PortId};
use fabdeck_routing::analysis::PathIndex;

/// What is known of a fabric when its problems are listed.
#[derive(Clone, Copy)]
pub struct HealthFacts<'h> {
    pub look: &'h Snapshot,
    /// The moment of a capture, as the operator gave it.
    pub at: Option<&'h str>,
    /// The counters of one interval; `None` where they were not compared.
    pub interval: Option<&'h IntervalVerdict>,
    /// What changed during the interval.
    pub news: &'h [FabricEvent],
    /// The certificate of the current tables; `None` without tables.
    pub certificate: Option<&'h CertificateReport>,
    /// The paths under the current tables; `None` without tables.
    pub paths: Option<&'h PathIndex>,
    /// The running jobs; `None` where they are not known.
    pub jobs: Option<&'h JobComparison>,
}

impl HealthFacts<'_> {
    /// All problems, in no order.
    pub(super) fn problems(&self) -> Vec<FabricProblem> {
        let mut all = self.node_problems();
        all.extend(self.table_problems());
        all.extend(self.link_problems());
        all.extend(self.plane_problems());
        all.extend(self.wire_problems());
        all.extend(self.sensor_problems());
        all.extend(self.congestion_problems());
        all.extend(self.cabling_problems());
        all
    }

    /// The name of a link by its ends.
    pub(super) fn link_name(&self, link: LinkId) -> String {
        let ends = self.look.fabric().link(link);
        format!("{} to {}", self.look.labelled_port_name(ends.a), self.look.labelled_port_name(ends.b))
    }

    /// GUID and number of a port, for ids.
    pub(super) fn port_key(&self, port: PortId) -> String {
        let port = self.look.fabric().port(port);
        format!("{}/{}", self.look.fabric().node(port.node).guid(), port.number)
    }

    /// The preview of what is lost and rerouted if an element fails.
    pub(super) fn whatif_step(&self, element: ElementId, text: impl Into<String>) -> NextStep {
        let element = Element::from_id(self.look.fabric(), &self.look.names, element).to_string();
        self.step(text, &format!("whatif --fail {}", quote_for_shell(&element)))
    }

    /// A step whose command reads the same source.
    pub(super) fn step(&self, text: impl Into<String>, command: &str) -> NextStep {
        let source = quote_for_shell(&self.look.source);
        let at = self.at.map(|at| format!("--at {} ", quote_for_shell(at))).unwrap_or_default();
        NextStep { text: text.into(), command: format!("fabdeck --source {source} {at}{command}") }
    }
}
