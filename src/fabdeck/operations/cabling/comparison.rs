//! The comparison itself: a plan and the cables that are there give differences, the largest that is true first.

use std::collections::{BTreeMap, BTreeSet};

use super::boards::Boards;
use super::cable_end::{CableEnd, CableMap, CabledDevice};
use super::exchanged_cables::{WrongCables, sort_out};
use super::moved_ports::{MovedGroup, take_moved_groups};

/// What the comparison knows of devices.
pub trait DeviceFacts {
    /// Whether a device is a switch; `None` for one that only the plan has.
    fn is_switch(&self, device: CabledDevice) -> Option<bool>;
    /// Whether the fabric has the device.
    fn is_present(&self, device: CabledDevice) -> bool;
    /// The boards with several devices.
    fn boards(&self) -> &Boards;
}

/// A difference between plan and fabric.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CablingDifference {
    /// Many cables that are wrong for one reason.
    Group(MovedGroup),
    /// One cable, or a few that belong together.
    Cables(WrongCables),
    /// A device of the plan that the fabric does not have, with its planned cables.
    MissingDevice(CabledDevice, Vec<[CableEnd; 2]>),
    /// A device that the plan does not name, with its cables to devices that it names.
    ExtraDevice(CabledDevice, Vec<[CableEnd; 2]>),
}

/// The differences, and what was left out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CablingComparison {
    pub differences: Vec<CablingDifference>,
    /// Planned cables that are where they should be.
    pub right: Vec<[CableEnd; 2]>,
    /// Cables that the plan does not cover: of devices that it does not name, or of a kind that it has none of.
    pub uncovered: usize,
}

/// Cables between switches, and others.
fn is_trunk(facts: &impl DeviceFacts, cable: [CableEnd; 2]) -> Option<bool> {
    let [a, b] = cable.map(|end| facts.is_switch(end.device));
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

/// The cables that the plan is about. A plan of trunks alone says nothing of hosts.
fn covered(planned: &CableMap, found: &CableMap, facts: &impl DeviceFacts) -> CableMap {
    let named: BTreeSet<CabledDevice> = planned.cables().flatten().map(|end| end.device).collect();
    let kinds: BTreeSet<Option<bool>> = planned.cables().map(|cable| is_trunk(facts, cable)).collect();
    // A device that is not in the fabric may be of either kind.
    let has_kind = |cable| kinds.contains(&is_trunk(facts, cable)) || kinds.contains(&None);
    let mut covered = CableMap::default();
    for cable in found.cables() {
        let is_planned = cable.iter().any(|end| planned.peer(*end).is_some());
        if is_planned || has_kind(cable) && cable.iter().any(|end| named.contains(&end.device)) {
            covered.insert(cable);
        }
    }
    covered
}

/// Compares a plan with the cables that are there.
pub fn compare_cabling(planned: &CableMap, found: &CableMap, facts: &impl DeviceFacts) -> CablingComparison {
    let covered = covered(planned, found, facts);
    let right = planned.cables().filter(|cable| covered.has(*cable)).collect();
    let uncovered = found.len() - covered.len();
    let (mut wanted, mut there) = (planned.clone(), covered);
    let groups = take_moved_groups(&mut wanted, &mut there, facts.boards());
    let mut differences: Vec<CablingDifference> = groups.into_iter().map(CablingDifference::Group).collect();
    let wrong = sort_out(&wanted, &there);
    differences.extend(by_device(planned, wrong, facts));
    CablingComparison { differences, right, uncovered }
}

/// Puts the cables of a device that is missing as a whole, or is not planned at all, into one difference.
fn by_device(
    planned: &CableMap,
    wrong: Vec<WrongCables>,
    facts: &impl DeviceFacts,
) -> Vec<CablingDifference> {
    let mut missing: BTreeMap<CabledDevice, Vec<[CableEnd; 2]>> = BTreeMap::new();
    let mut extra: BTreeMap<CabledDevice, Vec<[CableEnd; 2]>> = BTreeMap::new();
    let mut single = Vec::new();
    for wrong in wrong {
        let absent = |end: &&CableEnd| !facts.is_present(end.device);
        let unplanned = |end: &&CableEnd| planned.of_device(end.device).next().is_none();
        match &wrong {
            WrongCables::Missing(cable) if cable.iter().any(|end| absent(&end)) => {
                cable.iter().find(absent).into_iter().for_each(|end| {
                    missing.entry(end.device).or_default().push(*cable);
                });
            }
            WrongCables::Extra(cable) if cable.iter().any(|end| unplanned(&end)) => {
                cable.iter().find(unplanned).into_iter().for_each(|end| {
                    extra.entry(end.device).or_default().push(*cable);
                });
            }
            _ => single.push(CablingDifference::Cables(wrong)),
        }
    }
    let missing =
        missing.into_iter().map(|(device, cables)| CablingDifference::MissingDevice(device, cables));
    let extra = extra.into_iter().map(|(device, cables)| CablingDifference::ExtraDevice(device, cables));
    missing.chain(extra).chain(single).collect()
}
