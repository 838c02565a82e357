//! Holds a fabric against a plan of its cabling.

use std::collections::BTreeMap;

use super::boards::Boards;
use super::cable_end::{CableEnd, CabledDevice};
use super::comparison::{CablingComparison, DeviceFacts, compare_cabling};
use super::finding::{CableFault, CablingFault, CablingFinding};
use super::finding_text::FindingWriter;
use super::finding_words::CablingNames;
use super::plan_binding::{BoundPlan, PlanFault};
use super::present_cables::{PresentCables, node_of};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use fabdeck_fabric::{Fabric, LinkSpeed, LinkWidth, Node, NodeId};
use fabdeck_files::cabling::{CablingPlan, PlanForm, PlannedRate};

/// From this number on, cables that run below their plan in the same way are one finding.
const MANY_ALIKE: usize = 4;

/// What a plan and a fabric differ in.
#[derive(Clone, PartialEq, Debug)]
pub struct CablingReport<'p> {
    pub bound: BoundPlan<'p>,
    pub findings: Vec<CablingFinding>,
    /// Number of planned cables that are where they should be.
    pub right: usize,
    /// Number of cables that are there and that the plan does not cover.
    pub uncovered: usize,
    /// Number of right cables whose rate the plan or the fabric does not state.
    pub unrated: usize,
}

impl CablingReport<'_> {
    pub fn form(&self) -> PlanForm {
        self.bound.plan.form
    }

    pub fn planned(&self) -> usize {
        self.bound.planned.len()
    }

    /// Lines of the plan that mean no port, and are not compared.
    pub fn faults(&self) -> &[PlanFault] {
        &self.bound.faults
    }
}

struct SnapshotDevices<'f> {
    fabric: &'f Fabric,
    boards: Boards,
}

impl<'f> SnapshotDevices<'f> {
    fn new(look: &'f Snapshot) -> Self {
        let fabric = look.fabric();
        let device = |(id, node): (NodeId, &Node)| (CabledDevice(id.0), look.name(id), node.is_switch());
        Self { fabric, boards: Boards::new(fabric.nodes().map(device)) }
    }
}

impl DeviceFacts for SnapshotDevices<'_> {
    fn is_switch(&self, device: CabledDevice) -> Option<bool> {
        node_of(self.fabric, device).map(|node| self.fabric.node(node).is_switch())
    }

    fn is_present(&self, device: CabledDevice) -> bool {
        node_of(self.fabric, device).is_some()
    }

    fn boards(&self) -> &Boards {
        &self.boards
    }
}

/// Compares the cables of a snapshot with a plan. This one function serves the command, the list of problems and the map.
pub fn check_cabling<'p>(look: &Snapshot, plan: &'p CablingPlan) -> CablingReport<'p> {
    let bound = BoundPlan::new(plan, look);
    let present = PresentCables::new(look);
    let CablingComparison { differences, right, uncovered } =
        compare_cabling(&bound.planned, &present.found, &SnapshotDevices::new(look));
    let writer =
        FindingWriter { names: CablingNames { look, bound: &bound }, bound: &bound, present: &present };
    let mut findings: Vec<CablingFinding> =
        differences.iter().map(|difference| writer.finding(difference)).collect();
    let (slow, unrated) = slow_cables(look, &writer, &right);
    findings.extend(slow);
    findings.sort_by(|a, b| (a.fault, &a.id).cmp(&(b.fault, &b.id)));
    let right = right.len();
    CablingReport { bound, findings, right, uncovered, unrated }
}

type RateInUse = (Option<LinkWidth>, Option<LinkSpeed>);

/// Right cables with fewer lanes or a lower speed than planned, and the number of those that cannot be judged.
fn slow_cables(
    look: &Snapshot,
    writer: &FindingWriter<'_>,
    right: &[[CableEnd; 2]],
) -> (Vec<CablingFinding>, usize) {
    let mut unrated = 0;
    let mut alike: BTreeMap<(CablingFault, PlannedRate, RateInUse), Vec<[CableEnd; 2]>> = BTreeMap::new();
    for cable in right {
        let rate = writer.bound.cable_at(cable[0]).map(|cable| cable.rate).unwrap_or_default();
        let link = writer.present.link(*cable);
        let used = link.map(|link| (look.width_in_use(link), look.speed_in_use(link))).unwrap_or_default();
        if rate.is_unknown() || used == (None, None) {
            unrated += 1;
        } else if rate.is_narrower(used.0, used.1) {
            alike.entry((CablingFault::Narrower, rate, used)).or_default().push(*cable);
        } else if rate.is_slower(used.0, used.1) {
            alike.entry((CablingFault::Slower, rate, used)).or_default().push(*cable);
        }
    }
    let mut findings = Vec::new();
    for ((fault, rate, used), cables) in alike {
        match cables.len() >= MANY_ALIKE {
            true => findings.push(slow_finding(writer, fault, (rate, used), &cables)),
            false => findings
                .extend(cables.iter().map(|cable| slow_finding(writer, fault, (rate, used), &[*cable]))),
        }
    }
    (findings, unrated)
}

fn slow_finding(
    writer: &FindingWriter<'_>,
    fault: CablingFault,
    (rate, (width, speed)): (PlannedRate, RateInUse),
    cables: &[[CableEnd; 2]],
) -> CablingFinding {
    let words = [width.map(LinkWidth::word), speed.map(LinkSpeed::word)];
    let used = words.map(|word| word.unwrap_or("?")).join(" ");
    let what = match cables {
        [cable] => format!("{} runs", writer.names.cable(*cable)),
        _ => format!("{} run", count_words(cables.len(), "cable", "cables")),
    };
    let title = format!("{what} at {used}; planned is {}", rate.words());
    let text = match fault {
        CablingFault::Narrower => "reseat both plugs; if it stays narrow, replace the cable",
        _ => "check the type of the cable and the speed that both ports permit",
    };
    let faults = cables
        .iter()
        .map(|cable| CableFault {
            planned: Some(*cable),
            found: Some(*cable),
            link: writer.present.link(*cable),
            is_down: false,
        })
        .collect();
    let steps = cables.iter().map(|cable| (cable[0], format!("{}: {text}", writer.names.cable(*cable))));
    writer.write(fault, title, steps.collect(), faults)
}
