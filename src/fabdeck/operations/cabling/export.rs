//! The cabling of a fabric as a plan in a file.

use crate::catalogue::snapshot::Snapshot;
use fabdeck_files::cabling::{PlanRow, TopoText, plan_of_fabric, write_sheet, write_topo};

/// The form of a written plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ExportForm {
    #[default]
    Csv,
    Topo,
}

/// A written plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExportedPlan {
    pub text: String,
    pub cables: usize,
    /// Cables that the form cannot express, each with the reason.
    pub left_out: Vec<String>,
}

/// Writes the cables that are up. Read back as a plan of the same fabric, the table gives no finding.
pub fn export_cabling(look: &Snapshot, form: ExportForm) -> ExportedPlan {
    let plan = plan_of_fabric(look.fabric(), &look.names, &look.source);
    if form == ExportForm::Topo {
        let TopoText { text, cables, left_out } = write_topo(&plan);
        return ExportedPlan { text, cables, left_out };
    }
    let labels = |link: usize| {
        let ends = plan.cables[link].ends.iter();
        let mut labels = ends.map(|end| {
            let node = look.fabric().node_of(end.kind?, end.guid?)?;
            let number = end.port.to_string().parse().ok().and_then(fabdeck_fabric::PortNum::new)?;
            look.label(look.fabric().port_of(node, number)?).map(|label| label.text.clone())
        });
        [labels.next().flatten(), labels.next().flatten()]
    };
    let rows = plan.cables.iter().enumerate().map(|(at, cable)| PlanRow { cable, labels: labels(at) });
    ExportedPlan { text: write_sheet(rows), cables: plan.cables.len(), left_out: Vec::new() }
}
