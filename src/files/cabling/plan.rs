//! A plan of cabling, as a file states it: names of devices and texts of ports, which need a fabric to be understood.

use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_fabric::{Guid, NodeKind, NodePlace};

use super::planned_rate::PlannedRate;
use super::port_text::PortText;

/// The form of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlanForm {
    /// `.topo` of ibutils.
    Topo,
    /// The NDT of UFM: StartDevice, StartPort, EndDevice, EndPort.
    Ndt,
    /// The point-to-point sheet of the Cable Validation Tool and of SuperPODs.
    PointToPoint,
    /// A plain table with both ends of a cable in a line.
    Table,
    /// A dump or capture of the fabric itself.
    Fabric,
}

impl PlanForm {
    pub fn title(self) -> &'static str {
        match self {
            Self::Topo => "topology file of ibutils (.topo)",
            Self::Ndt => "NDT sheet",
            Self::PointToPoint => "point-to-point sheet",
            Self::Table => "table of cables",
            Self::Fabric => "recorded fabric",
        }
    }
}

/// A plan, in the order of its file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CablingPlan {
    pub form: PlanForm,
    pub file: String,
    pub cables: Vec<PlanCable>,
    pub notes: Notes,
}

impl CablingPlan {
    pub(super) fn new(form: PlanForm, file: impl Into<String>) -> Self {
        Self { form, file: file.into(), cables: Vec::new(), notes: Notes::new() }
    }

    /// The place of a line of the plan.
    pub fn line_place(&self, line: Option<u64>) -> NotePlace {
        match line {
            Some(line) => NotePlace::line(&self.file, line),
            None => NotePlace::file(&self.file),
        }
    }
}

/// A cable of a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlanCable {
    pub ends: [PlannedEnd; 2],
    pub rate: PlannedRate,
    /// What is written on the cable.
    pub label: Option<String>,
    /// Its length, as the plan writes it.
    pub length: Option<String>,
    /// Its type, as the plan writes it.
    pub kind: Option<String>,
    /// Where the plan names it; `None` for a recorded fabric.
    pub line: Option<u64>,
}

/// One end of a planned cable.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PlannedEnd {
    /// The device as the plan names it; empty where it gives the GUID alone.
    pub device: String,
    pub guid: Option<Guid>,
    /// The kind of node, which tells a switch from an adapter with the same GUID.
    pub kind: Option<NodeKind>,
    pub port: PortText,
    pub place: NodePlace,
}

impl PlannedEnd {
    /// The device for messages.
    pub fn device_name(&self) -> String {
        match (&*self.device, self.guid) {
            ("", Some(guid)) => guid.to_string(),
            (name, _) => name.to_owned(),
        }
    }

    /// The end for messages: `leaf3[1/2/1]`.
    pub fn name(&self) -> String {
        format!("{}[{}]", self.device_name(), self.port)
    }
}
