//! A plan bound to a fabric: its names become nodes and ports, each end once.

use std::collections::BTreeMap;

use super::cable_end::{CableEnd, CableMap, CabledDevice};
use super::plan_port::{PlanPorts, PortMatch};
use crate::catalogue::snapshot::Snapshot;
use fabdeck_files::cabling::{CablingPlan, PlanCable, PlannedEnd, PortText};

/// The first number of ports whose text has none. Only devices that are not in the fabric have such ports.
const FIRST_UNNUMBERED: u16 = 256;

/// A line of the plan that is not compared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlanFault {
    pub line: Option<u64>,
    pub text: String,
}

/// A device that the plan has and the fabric does not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MissingDevice {
    pub name: String,
    /// The texts of its ports without a number.
    ports: Vec<String>,
}

/// The cables of a plan between ends of a fabric.
#[derive(Clone, PartialEq, Debug)]
pub struct BoundPlan<'p> {
    pub plan: &'p CablingPlan,
    pub planned: CableMap,
    /// For each end the cable of the plan, and which of its ends this is.
    written: BTreeMap<CableEnd, (usize, usize)>,
    /// Devices behind the nodes of the fabric.
    pub missing: Vec<MissingDevice>,
    first_missing: u32,
    /// Lines that are not compared.
    pub faults: Vec<PlanFault>,
}

impl<'p> BoundPlan<'p> {
    /// Binds a plan. A line that means no port of a known device, or an end that has a cable already, is a fault and is not
    /// compared; a cable that is named at both of its ends counts once.
    pub fn new(plan: &'p CablingPlan, look: &Snapshot) -> Self {
        let ports = PlanPorts::new(look.fabric(), &look.names);
        let mut bound = Self {
            plan,
            planned: CableMap::default(),
            written: BTreeMap::new(),
            missing: Vec::new(),
            first_missing: look.fabric().nodes().len() as u32,
            faults: Vec::new(),
        };
        let mut missing = BTreeMap::new();
        for (at, cable) in plan.cables.iter().enumerate() {
            let ends = [0, 1].map(|end| bound.bind_end(&ports, &cable.ends[end], &mut missing));
            match ends {
                [Ok(a), Ok(b)] => bound.add(at, cable, [a, b]),
                [Err(text), _] | [_, Err(text)] => bound.faults.push(PlanFault { line: cable.line, text }),
            }
        }
        bound
    }

    fn bind_end(
        &mut self,
        ports: &PlanPorts<'_>,
        end: &PlannedEnd,
        missing: &mut BTreeMap<String, u32>,
    ) -> Result<CableEnd, String> {
        match ports.find(end) {
            PortMatch::Known(node, port) => {
                Ok(CableEnd { device: CabledDevice(node.0), port: u16::from(port) })
            }
            PortMatch::Unclear(why) => Err(why),
            PortMatch::NoDevice => {
                let (name, port) = match &end.port {
                    PortText::Part(part, port) => {
                        (format!("{} {part}", end.device_name()), PortText::Number(*port))
                    }
                    port => (end.device_name(), port.clone()),
                };
                let next = self.first_missing + self.missing.len() as u32;
                let device = *missing.entry(name.to_lowercase()).or_insert(next);
                if device == next {
                    self.missing.push(MissingDevice { name, ports: Vec::new() });
                }
                let known = &mut self.missing[(device - self.first_missing) as usize];
                Ok(CableEnd { device: CabledDevice(device), port: known.port(&port) })
            }
        }
    }

    fn add(&mut self, at: usize, cable: &PlanCable, ends: [CableEnd; 2]) {
        if self.planned.has(ends) {
            return;
        }
        if self.planned.insert(ends) {
            self.written.extend([(ends[0], (at, 0)), (ends[1], (at, 1))]);
            return;
        }
        let taken = ends.iter().zip(&cable.ends).find_map(|(end, written)| {
            let (at, _) = self.written.get(end)?;
            let line = self.plan.cables[*at].line;
            let line = line.map(|line| format!(" in line {line}")).unwrap_or_default();
            Some(format!("{} has another cable{line}, which counts", written.name()))
        });
        let text = taken.unwrap_or_else(|| format!("{} is at both ends of the cable", cable.ends[0].name()));
        self.faults.push(PlanFault { line: cable.line, text });
    }

    /// The cable of the plan that has an end.
    pub fn cable_at(&self, end: CableEnd) -> Option<&'p PlanCable> {
        self.written.get(&end).map(|(at, _)| &self.plan.cables[*at])
    }

    /// What the plan writes of an end of one of its cables.
    pub fn written_end(&self, end: CableEnd) -> Option<&'p PlannedEnd> {
        self.written.get(&end).map(|(at, which)| &self.plan.cables[*at].ends[*which])
    }

    /// The device, where the fabric does not have it.
    pub fn missing_device(&self, device: CabledDevice) -> Option<&MissingDevice> {
        self.missing.get(device.0.checked_sub(self.first_missing)? as usize)
    }
}

impl MissingDevice {
    fn port(&mut self, port: &PortText) -> u16 {
        if let PortText::Number(number) = port {
            return u16::from(*number);
        }
        let text = port.to_string();
        let at = self.ports.iter().position(|own| *own == text).unwrap_or_else(|| {
            self.ports.push(text);
            self.ports.len() - 1
        });
        FIRST_UNNUMBERED.saturating_add(u16::try_from(at).unwrap_or(u16::MAX))
    }

    /// The text of a port.
    pub fn port_text(&self, port: u16) -> String {
        let text = port.checked_sub(FIRST_UNNUMBERED).and_then(|at| self.ports.get(usize::from(at)));
        text.cloned().unwrap_or_else(|| port.to_string())
    }
}
