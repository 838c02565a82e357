//! Devices that are too hot, and those with a failed fan or power supply. Devices with the same kind of fault are one problem.

use std::collections::{BTreeMap, BTreeSet};

use super::problem::{FabricProblem, HitRole, ProblemCause, ProblemHits, ProblemKind, ProblemSeverity};
use super::problem_list::HealthFacts;
use crate::catalogue::shell_words::quote_for_shell;
use crate::catalogue::summary::count_words;
use fabdeck_fabric::counters::{SensorFault, SensorFaultKind};
use fabdeck_fabric::{ElementId, NodeId};

/// Devices that a title names at most.
const MAX_NAMED: usize = 2;
/// The columns of `show sensors` that have a fault and what belongs to it.
const FIELDS: &str = "node,faults,temperature,limit,fans,power";

/// The faults of one kind that a device has, the worst first.
struct FaultyDevice {
    node: NodeId,
    faults: Vec<String>,
    /// Whether it states all of them itself.
    is_stated: bool,
}

/// The word of a kind in ids.
fn kind_word(kind: SensorFaultKind) -> &'static str {
    match kind {
        SensorFaultKind::HotSensor => "hot-sensor",
        SensorFaultKind::Fan => "fan",
        SensorFaultKind::PowerSupply => "power-supply",
    }
}

/// What several devices have, behind their number.
fn words_of_many(kind: SensorFaultKind) -> &'static str {
    match kind {
        SensorFaultKind::HotSensor => "are too hot",
        SensorFaultKind::Fan => "have a failed fan",
        SensorFaultKind::PowerSupply => "have a failed power supply",
    }
}

fn next_words(kind: SensorFaultKind) -> &'static str {
    match kind {
        SensorFaultKind::HotSensor => {
            "check the air to it, its fans and the room; then read its sensors again"
        }
        SensorFaultKind::Fan => "replace the fan, and watch the temperatures until then",
        SensorFaultKind::PowerSupply => "check the cord and the feed of the power supply; then replace it",
    }
}

/// The filter of `show sensors` that leaves the devices with this kind of fault.
fn sensor_filter(kind: SensorFaultKind) -> &'static str {
    match kind {
        SensorFaultKind::HotSensor => "sensors=hot",
        SensorFaultKind::Fan => "faults~fan",
        SensorFaultKind::PowerSupply => "faults~power",
    }
}

impl HealthFacts<'_> {
    pub(super) fn sensor_problems(&self) -> Vec<FabricProblem> {
        if self.look.observation.wire.devices.is_empty() {
            return Vec::new();
        }
        let mut by_kind: BTreeMap<SensorFaultKind, Vec<FaultyDevice>> = BTreeMap::new();
        for (node, facts) in self.look.fabric().nodes() {
            if !facts.facts.answered {
                continue;
            }
            let mut own: BTreeMap<SensorFaultKind, Vec<SensorFault>> = BTreeMap::new();
            for fault in self.look.sensor_faults(node) {
                own.entry(fault.kind).or_default().push(fault);
            }
            for (kind, faults) in own {
                let is_stated = faults.iter().all(|fault| fault.is_stated);
                let faults = faults.into_iter().map(|fault| fault.text).collect();
                by_kind.entry(kind).or_default().push(FaultyDevice { node, faults, is_stated });
            }
        }
        by_kind.into_iter().map(|(kind, devices)| self.sensor_problem(kind, &devices)).collect()
    }

    fn sensor_problem(&self, kind: SensorFaultKind, devices: &[FaultyDevice]) -> FabricProblem {
        let word = ProblemKind::DeviceHealth.word();
        let fabric = self.look.fabric();
        let (id, title, next) = match devices {
            [device] => {
                let count = match device.faults.len() {
                    1 => String::new(),
                    count => format!(":{count}"),
                };
                let id = format!("{word}:{}:{}{count}", fabric.node(device.node).guid(), kind_word(kind));
                // A switch is drained before it is opened: with routes without it, no traffic crosses it.
                let next = match fabric.node(device.node).is_switch() {
                    true => {
                        let text =
                            format!("preview routes without it, to drain it; then {}", next_words(kind));
                        self.whatif_step(ElementId::Node(device.node), text)
                    }
                    false => self.step(next_words(kind), &self.device_command(device.node)),
                };
                (id, self.title_of_one(device), next)
            }
            _ => {
                // With another number of devices it is another problem: an acknowledgement covers no further device.
                let id = format!("{word}:{}:{}", kind_word(kind), devices.len());
                let filter = sensor_filter(kind);
                let command = format!("show sensors --fields {FIELDS} --filter {}", quote_for_shell(filter));
                (id, self.title_of_many(kind, devices), self.step("list these devices", &command))
            }
        };
        let hosts: BTreeSet<NodeId> =
            devices.iter().flat_map(|device| self.hosts_behind(device.node)).collect();
        let hosts: Vec<NodeId> = hosts.into_iter().collect();
        FabricProblem {
            id,
            kind: ProblemKind::DeviceHealth,
            severity: ProblemSeverity::Warning,
            elements: devices.iter().map(|device| ElementId::Node(device.node)).collect(),
            title,
            cause: self.sensor_cause(kind, devices),
            hits: ProblemHits {
                jobs: self.jobs_of_hosts(&hosts),
                hosts: self.hit_hosts(&hosts, HitRole::Attached),
                paths: None,
            },
            next,
            acknowledged: None,
            worse_since: None,
            history: None,
            sign: None,
        }
    }

    fn title_of_one(&self, device: &FaultyDevice) -> String {
        let more = match device.faults.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        format!("{}: {}{more}", self.look.unique_name(device.node), device.faults[0])
    }

    fn title_of_many(&self, kind: SensorFaultKind, devices: &[FaultyDevice]) -> String {
        let named: Vec<String> =
            devices.iter().take(MAX_NAMED).map(|device| self.title_of_one(device)).collect();
        let more = match devices.len() - named.len() {
            0 => String::new(),
            more => format!("; {more} more"),
        };
        let count = count_words(devices.len(), "device", "devices");
        format!("{count} {}: {}{more}", words_of_many(kind), named.join("; "))
    }

    /// The hosts at a switch, or the host itself.
    fn hosts_behind(&self, node: NodeId) -> Vec<NodeId> {
        if self.look.fabric().node(node).is_switch() { self.hosts_at(node) } else { vec![node] }
    }

    fn sensor_cause(&self, kind: SensorFaultKind, devices: &[FaultyDevice]) -> ProblemCause {
        match kind {
            SensorFaultKind::HotSensor => {}
            _ if !devices.iter().all(|device| device.is_stated) => {
                return ProblemCause::likely("by the speed that the device states; it states no limit");
            }
            _ => return ProblemCause::sure("the device states it"),
        }
        let has_failed_fan = |device: &FaultyDevice| {
            self.look.sensor_faults(device.node).iter().any(|fault| fault.kind == SensorFaultKind::Fan)
        };
        match devices.iter().filter(|device| has_failed_fan(device)).count() {
            0 => ProblemCause::unknown("the air to it, its fans or the room: no fan is known to have failed"),
            failed if failed == devices.len() => ProblemCause::likely("a fan of it has failed"),
            failed => ProblemCause::likely(format!(
                "a fan has failed in {failed} of them; of the others the air, the fans or the room"
            )),
        }
    }

    fn device_command(&self, node: NodeId) -> String {
        let name = self.look.name(node);
        let filter = match self.look.names.nodes_named(name).len() {
            1 => format!("node={name}"),
            _ => format!("guid={}", self.look.fabric().node(node).guid()),
        };
        format!("show sensors --fields {FIELDS} --filter {}", quote_for_shell(&filter))
    }
}
