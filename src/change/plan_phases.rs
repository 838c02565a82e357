//! Updates in five phases (dissertation 5.2.3): hosts leave the base LIDs, tables change for LIDs without traffic, and
//! hosts return. The entries of high LIDs stay throughout.

use serde::{Deserialize, Serialize};

use super::migration::PlanPort;
use super::plan_lanes::from_hex;
use super::writes::{PlanWrite, lids_of};
use fabdeck_fabric::{Lid, ServiceLevel};
use fabdeck_mad::PathNotice;
use fabdeck_mad::access::AttributePart;

/// A port of a host that leaves its base LIDs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PhasedHost {
    #[serde(flatten)]
    pub port: PlanPort,
    /// Number of LIDs of the port, from the first on. The upper half are the high LIDs.
    pub lids: u16,
}

impl PhasedHost {
    /// The high LIDs of the port.
    fn high_lids(&self) -> std::ops::Range<u32> {
        let (first, lids) = (u32::from(self.port.lid), u32::from(self.lids));
        first + lids / 2..first + lids
    }
}

/// The hosts that leave the base LIDs, and the service levels of flows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlanPhases {
    /// The level of flows to base LIDs; below, to high LIDs.
    pub base_level: u8,
    pub high_level: u8,
    /// Whether the change would be safe with flows on base LIDs, where hosts that never answer may have some.
    pub safe_without: Option<bool>,
    pub hosts: Vec<PhasedHost>,
}

impl PlanPhases {
    /// What is wrong with the phases, for these writes.
    pub(super) fn fault(&self, writes: &[PlanWrite]) -> Option<&'static str> {
        let level = |level: u8| ServiceLevel::new(level.into()).is_some();
        if !level(self.base_level) || !level(self.high_level) {
            return Some("a service level is not a number from 0 to 15");
        }
        let lids = |host: &PhasedHost| {
            let most = u32::from(host.port.lid) + u32::from(host.lids);
            host.lids.is_power_of_two()
                && (2..=128).contains(&host.lids)
                && host.port.lid > 0
                && host.port.lid.is_multiple_of(host.lids)
                && most <= u32::from(Lid::MAX) + 1
        };
        if self.hosts.is_empty() || !self.hosts.iter().all(lids) {
            return Some("it names no host, or one without two halves of LIDs");
        }
        if !writes.iter().all(|write| matches!(write.part, AttributePart::Block(_))) {
            return Some("it writes other parts than forwarding tables");
        }
        let all: std::collections::BTreeSet<u32> =
            self.hosts.iter().flat_map(PhasedHost::high_lids).collect();
        let keeps = |write: &PlanWrite| {
            let AttributePart::Block(number) = write.part else { return true };
            let (Some(old), Some(new)) = (from_hex(&write.old), from_hex(&write.new)) else { return false };
            let mut places = lids_of(number).zip(old.iter().zip(&new));
            places.all(|(lid, (old, new))| old == new || !all.contains(&lid))
        };
        (!writes.iter().all(keeps)).then_some("it changes the path to a high LID")
    }

    /// The notice to all hosts: to leave base LIDs, or to return. It lists no hosts, because hosts without an agent so
    /// far may have flows too.
    pub fn notice(&self, number: u32, back: bool) -> Option<PathNotice> {
        let level = if back { self.base_level } else { self.high_level };
        let level = ServiceLevel::new(level.into())?;
        Some(PathNotice { hot_spot: None, level, back, number, hosts: Vec::new() })
    }
}

/// What an update in five phases does if hosts do not say that they left the base LIDs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SilentHostAction {
    /// Stop: nothing is written, and hosts that left return.
    #[default]
    Stop,
    /// Ask again until the window of the change is over, then stop.
    Wait,
    /// Go on if the change would be safe without phases; otherwise stop.
    GoOn,
}

impl SilentHostAction {
    pub(super) fn is_stop(&self) -> bool {
        *self == Self::Stop
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::Guid;

    fn host(lid: u16, lids: u16) -> PhasedHost {
        PhasedHost { port: PlanPort { guid: format!("0x{lid:016x}"), name: format!("h{lid}"), lid }, lids }
    }

    fn phases(hosts: &[(u16, u16)]) -> PlanPhases {
        let hosts = hosts.iter().map(|(lid, lids)| host(*lid, *lids)).collect();
        PlanPhases { base_level: 0, high_level: 1, safe_without: None, hosts }
    }

    #[test]
    fn each_service_level_and_each_host_has_to_be_valid() {
        let right = phases(&[(4, 2), (8, 8)]);
        assert_eq!(right.fault(&[]), None);
        for (base_level, high_level) in [(16, 1), (0, 16)] {
            let wrong = PlanPhases { base_level, high_level, ..right.clone() };
            assert_eq!(wrong.fault(&[]), Some("a service level is not a number from 0 to 15"));
        }
        // No halves, too many LIDs, no LID, LIDs that do not begin at a multiple, LIDs beyond the last one.
        for wrong in [(4, 1), (6, 3), (512, 256), (0, 2), (5, 2), (0xBFFE, 2), (0xBFFF, 2)] {
            let fault = phases(&[(4, 2), wrong]).fault(&[]);
            let is_last = wrong == (0xBFFE, 2);
            assert_eq!(fault.is_none(), is_last, "{wrong:?}: {fault:?}");
        }
        assert!(phases(&[]).fault(&[]).unwrap().contains("names no host"));
        assert!(phases(&[(4, 2), (0xC000, 2)]).fault(&[]).is_some());
    }

    #[test]
    fn only_paths_to_base_lids_may_change() {
        let phases = phases(&[(4, 4)]);
        let block = |lid: usize| {
            let mut new = [0u8; 64];
            new[lid] = 1;
            PlanWrite::for_switch(Guid(1), AttributePart::Block(0), &[0; 64], &new)
        };
        assert_eq!([3, 4, 5, 8].map(|lid| phases.fault(&[block(lid)])), [None; 4]);
        for lid in [6, 7] {
            assert_eq!(phases.fault(&[block(5), block(lid)]), Some("it changes the path to a high LID"));
        }
        let port = PlanWrite::for_switch(Guid(1), AttributePart::Port(1), &[1], &[0]);
        assert_eq!(phases.fault(&[block(5), port]), Some("it writes other parts than forwarding tables"));
    }
}
