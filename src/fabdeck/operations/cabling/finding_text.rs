//! Makes findings of differences: the fault, its title, and the steps of its repair.

use super::cable_end::{CableEnd, CabledDevice};
use super::comparison::CablingDifference;
use super::exchanged_cables::WrongCables;
use super::finding::{CableFault, CablingFault, CablingFinding, RepairStep};
use super::finding_words::{CablingNames, distance_words, port_range};
use super::moved_ports::{MovedGroup, MovedPorts};
use super::plan_binding::BoundPlan;
use super::present_cables::PresentCables;
use crate::catalogue::summary::count_words;

/// What findings are made with.
#[derive(Clone, Copy, Debug)]
pub(super) struct FindingWriter<'w> {
    pub names: CablingNames<'w>,
    pub bound: &'w BoundPlan<'w>,
    pub present: &'w PresentCables,
}

type Cable = [CableEnd; 2];

impl FindingWriter<'_> {
    pub(super) fn finding(&self, difference: &CablingDifference) -> CablingFinding {
        match difference {
            CablingDifference::Group(group) => self.moved_group(group),
            CablingDifference::MissingDevice(device, cables) => self.missing_device(*device, cables),
            CablingDifference::ExtraDevice(device, cables) => self.extra_device(*device, cables),
            CablingDifference::Cables(WrongCables::Missing(cable)) => self.missing(*cable),
            CablingDifference::Cables(WrongCables::Extra(cable)) => self.extra(*cable),
            CablingDifference::Cables(WrongCables::Misplaced { far, planned, found }) => {
                self.misplaced(*far, *planned, *found)
            }
            CablingDifference::Cables(WrongCables::Swapped { far, near }) => self.swapped(far, near),
        }
    }

    fn cable_fault(&self, planned: Option<Cable>, found: Option<Cable>) -> CableFault {
        let down = planned.filter(|cable| self.present.down.has(*cable));
        let link = found.or(down).and_then(|cable| self.present.link(cable));
        CableFault { planned, found, link, is_down: down.is_some() }
    }

    pub(super) fn write(
        &self,
        fault: CablingFault,
        title: String,
        steps: Vec<(CableEnd, String)>,
        cables: Vec<CableFault>,
    ) -> CablingFinding {
        let first = cables.first().and_then(|cable| cable.planned.or(cable.found));
        let key = first.map(|[end, _]| self.names.key(end)).unwrap_or_default();
        let steps = steps.into_iter().map(|(at, text)| RepairStep { at, text }).collect();
        CablingFinding { id: format!("{}:{key}", fault.word()), fault, title, steps, cables, moved: None }
    }

    fn moved_group(&self, group: &MovedGroup) -> CablingFinding {
        let device = |device| self.names.device(device);
        let cables: Vec<CableFault> = group
            .cables
            .iter()
            .map(|(planned, found)| self.cable_fault(Some(*planned), Some(*found)))
            .collect();
        let count = count_words(cables.len(), "cable", "cables");
        let here = |device: CabledDevice, port: u16| CableEnd { device, port };
        let (fault, title, steps) = match group.what {
            MovedPorts::ExchangedBoards([a, b]) => {
                let [a_name, b_name] = [a, b].map(|device| self.names.board(device));
                (
                    CablingFault::Exchanged,
                    format!("{a_name} and {b_name} are exchanged: {count}"),
                    vec![(
                        here(a, 0),
                        format!("exchange {a_name} and {b_name}, or their {count}, port by port"),
                    )],
                )
            }
            MovedPorts::Exchanged([a, b]) => (
                CablingFault::Exchanged,
                format!("{} and {} are exchanged: {count}", device(a), device(b)),
                vec![(
                    here(a, 0),
                    format!(
                        "exchange {} and {}, or their {count}: each to the same port of the other one",
                        device(a),
                        device(b)
                    ),
                )],
            ),
            MovedPorts::Replaced { planned, found } => (
                CablingFault::Replaced,
                format!("{} has the cables of {}: {count}", device(found), device(planned)),
                vec![(
                    here(found, 0),
                    format!(
                        "if {} took the place of {}, change the plan; else move its {count} there, each to the same port",
                        device(found),
                        device(planned)
                    ),
                )],
            ),
            MovedPorts::Shifted { device: own, first, last, by } => {
                let ports = port_range(first, last);
                let title = format!("{ports} of {} are shifted {}: {count}", device(own), distance_words(by));
                (CablingFault::Shifted, title, self.plug_steps(group))
            }
            MovedPorts::Moved { from, first, last, to, by } => {
                let ports = port_range(first, last);
                let at = [first, last].map(|port| u16::try_from(i32::from(port) + by).unwrap_or(0));
                let there = port_range(at[0], at[1]);
                let title = format!(
                    "{ports} of {} have their cables at {}, {there}: {count}",
                    device(from),
                    device(to)
                );
                (CablingFault::Moved, title, self.plug_steps(group))
            }
        };
        CablingFinding { moved: Some(group.what), ..self.write(fault, title, steps, cables) }
    }

    /// A step for each plug of a row, in an order in which the port to plug into is free.
    fn plug_steps(&self, group: &MovedGroup) -> Vec<(CableEnd, String)> {
        let mut plugs: Vec<(CableEnd, CableEnd)> = group
            .cables
            .iter()
            .filter_map(|(planned, found)| {
                let from = found.iter().find(|end| !planned.contains(end))?;
                let to = planned.iter().find(|end| !found.contains(end))?;
                Some((*from, *to))
            })
            .collect();
        let is_up = matches!(group.what, MovedPorts::Shifted { by, .. } if by > 0);
        plugs.sort_by_key(|(from, _)| *from);
        if !is_up {
            plugs.reverse();
        }
        let step = |(from, to): (CableEnd, CableEnd)| {
            (from, format!("move the plug in {} to {}", self.names.end(from), self.names.end(to)))
        };
        plugs.into_iter().map(step).collect()
    }

    /// Where the cables of a device end.
    fn far_ends(&self, device: CabledDevice, cables: &[Cable]) -> String {
        let far = cables.iter().filter_map(|cable| cable.iter().find(|end| end.device != device));
        self.names.list(far.copied().collect::<Vec<_>>().into_iter())
    }

    fn missing_device(&self, device: CabledDevice, cables: &[Cable]) -> CablingFinding {
        let name = self.names.device(device);
        let count = count_words(cables.len(), "planned cable", "planned cables");
        let at = self.far_ends(device, cables);
        let title = format!("{name} is not in the fabric: {count}, at {at}");
        let text = format!("look at {name}: its power, its cables, and its name in the plan");
        let first = own_end(device, &cables[0]);
        let faults = cables.iter().map(|cable| self.cable_fault(Some(*cable), None)).collect();
        self.write(CablingFault::MissingDevice, title, vec![(first, text)], faults)
    }

    fn extra_device(&self, device: CabledDevice, cables: &[Cable]) -> CablingFinding {
        let name = self.names.device(device);
        let count = count_words(cables.len(), "cable", "cables");
        let at = self.far_ends(device, cables);
        let title = format!("{name} is not in the plan: {count}, at {at}");
        let text = format!("add {name} to the plan, or unplug it");
        let first = own_end(device, &cables[0]);
        let faults = cables.iter().map(|cable| self.cable_fault(None, Some(*cable))).collect();
        self.write(CablingFault::ExtraDevice, title, vec![(first, text)], faults)
    }

    fn missing(&self, cable: Cable) -> CablingFinding {
        let fault = self.cable_fault(Some(cable), None);
        let name = self.names.cable(cable);
        let (title, text) = match fault.is_down {
            true => (
                format!("{name} is down"),
                "an end reports the state Down: reseat both plugs, then replace the cable".to_owned(),
            ),
            false => (format!("{name} is missing"), format!("connect {name}{}", self.cable_words(cable))),
        };
        self.write(CablingFault::Missing, title, vec![(cable[0], text)], vec![fault])
    }

    /// What the plan says of a cable to fetch: label, length, type and rate.
    fn cable_words(&self, cable: Cable) -> String {
        let Some(planned) = self.bound.cable_at(cable[0]) else { return String::new() };
        let parts = [
            planned.label.as_ref().map(|label| format!("cable {label}")),
            planned.length.as_ref().map(|length| format!("length {length}")),
            planned.kind.clone(),
            Some(planned.rate.words()).filter(|words| !words.is_empty()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    }

    fn extra(&self, cable: Cable) -> CablingFinding {
        let name = self.names.cable(cable);
        let title = format!("{name} is not in the plan");
        let text = format!("unplug {name}, or add it to the plan");
        self.write(
            CablingFault::Extra,
            title,
            vec![(cable[0], text)],
            vec![self.cable_fault(None, Some(cable))],
        )
    }

    fn misplaced(&self, far: CableEnd, planned: CableEnd, found: CableEnd) -> CablingFinding {
        let is_host = self.names.is_switch(far.device) == Some(false);
        let fault = match (planned.device == found.device, is_host) {
            (true, _) => CablingFault::WrongPort,
            (false, true) => CablingFault::OffRail,
            (false, false) => CablingFault::WrongPeer,
        };
        let [far_name, planned_name, found_name] = [far, planned, found].map(|end| self.names.end(end));
        let title = format!("{far_name} leads to {found_name} instead of {planned_name}");
        // The plug goes where another one may be that is wrong too.
        let taken = self.present.found.peer(planned);
        let taken = if taken.is_some() { ", which another wrong cable has to leave first" } else { "" };
        let text = format!("move the plug in {found_name} to {planned_name}{taken}");
        let cable = self.cable_fault(Some([planned, far]), Some([found, far]));
        self.write(fault, title, vec![(found, text)], vec![cable])
    }

    fn swapped(&self, far: &[CableEnd], near: &[CableEnd]) -> CablingFinding {
        let next = |at: usize| near[(at + 1) % near.len()];
        let cables = (0..near.len())
            .map(|at| self.cable_fault(Some([near[at], far[at]]), Some([next(at), far[at]])))
            .collect();
        if let ([a, b], [far_a, far_b]) = (near, far) {
            let [first, second] = [[*a, *far_a], [*b, *far_b]].map(|cable| self.names.cable(cable));
            let title = format!("{first} and {second} are swapped");
            let text = format!("exchange the plugs in {} and {}", self.names.end(*a), self.names.end(*b));
            return self.write(CablingFault::Swapped, title, vec![(*a, text)], cables);
        }
        let title = format!(
            "{} cables are exchanged with each other: {}",
            near.len(),
            self.names.list(near.iter().copied())
        );
        let steps = (0..near.len()).map(|at| {
            let [from, to] = [next(at), near[at]].map(|end| self.names.end(end));
            (next(at), format!("move the plug in {from} to {to}"))
        });
        self.write(CablingFault::Swapped, title, steps.collect(), cables)
    }
}

/// The end of a cable at a device.
fn own_end(device: CabledDevice, cable: &Cable) -> CableEnd {
    cable.iter().find(|end| end.device == device).copied().unwrap_or(cable[0])
}
