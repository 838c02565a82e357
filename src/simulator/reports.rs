//! Reports of traps to subscribers, repeated a few times until they are acknowledged.

use std::collections::BTreeSet;
use std::time::Duration;

use fabdeck_mad::access::{AddressedMad, MadAddress};
use fabdeck_mad::{Mad, Method, Notice, PathNotice, Smp, attribute};

use super::event_loop::{Simulator, SimulatorEvent};
use super::pending_report::PendingReport;

/// Time between two tries, and number of tries.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
const MAX_TRIES: u32 = 4;
/// Time after which a manager has checked what changed.
const MANAGER_DELAY: Duration = Duration::from_millis(100);

impl Simulator {
    /// Sends subscribers the traps of what changed.
    pub(super) fn notify_subscribers(&mut self) {
        if !self.fabric.has_notices() {
            return;
        }
        let (said, found) = self.fabric.take_notices();
        for (notice, after) in said
            .iter()
            .map(|notice| (notice, Duration::ZERO))
            .chain(found.iter().map(|notice| (notice, MANAGER_DELAY)))
        {
            self.queue_reports(notice, after);
        }
    }

    /// Plans reports of a trap to its subscribers.
    fn queue_reports(&mut self, notice: &Notice, after: Duration) {
        let wants = self.fabric.subscribers().iter();
        let wants = wants.filter(|(_, asked)| asked.has_trap(notice.trap_number.get()));
        let whom: BTreeSet<(u16, u32)> = wants.map(|((lid, queue_pair, _), _)| (*lid, *queue_pair)).collect();
        for (lid, queue_pair) in whom {
            let number = self.next_report;
            self.next_report += 1;
            let mut mad = Mad::administration(Method::REPORT, attribute::NOTICE, 0);
            mad.header_mut().transaction = number.into();
            *mad.record_mut::<Notice>() = *notice;
            let parcel = AddressedMad { mad, address: MadAddress { lid, queue_pair, service_level: 0 } };
            self.reports.insert(number, PendingReport { parcel, left: MAX_TRIES });
            self.schedule(self.now + after, SimulatorEvent::Report(number));
        }
    }

    /// Receives a trap at the manager, acknowledges it, and forwards it to subscribers.
    pub(super) fn receive_trap(&mut self, trap: &Mad) -> Option<Mad> {
        if !self.fabric.is_manager_answering() {
            return None;
        }
        let mut answer = trap.clone();
        answer.header_mut().method = Method::TRAP_REPRESS.0;
        let notice = Smp(trap.clone()).notice();
        self.queue_reports(&notice, Duration::ZERO);
        if let Some(told) = PathNotice::from_notice(&notice) {
            self.notify_agents(&told);
        }
        Some(answer)
    }

    /// Sends a report once, and plans the next try.
    pub(super) fn send_report(&mut self, number: u64) {
        let Some(report) = self.reports.get_mut(&number) else { return };
        report.left -= 1;
        let (parcel, left) = (report.parcel.clone(), report.left);
        match left {
            0 => drop(self.reports.remove(&number)),
            _ => self.schedule(self.now + RETRY_INTERVAL, SimulatorEvent::Report(number)),
        }
        let (manager, lid) = (self.fabric.manager, parcel.address.lid);
        let Some(arrived) = self.fabric.follow_lid(manager, lid) else { return };
        let there = self.clients.iter().filter(|(_, plug)| self.fabric.lid_of(**plug) == lid);
        let seats: Vec<_> = there.map(|(seat, _)| *seat).collect();
        for seat in seats {
            if self.is_lost(arrived.hops) {
                continue;
            }
            let from = MadAddress { lid: self.fabric.manager_lid(), ..parcel.address };
            self.send_answer(seat, AddressedMad { mad: parcel.mad.clone(), address: from }, arrived.hops);
        }
    }

    /// Ends a report that its subscriber has acknowledged.
    pub(super) fn acknowledge_report(&mut self, answer: &Mad) {
        self.reports.remove(&answer.header().transaction.get());
    }
}
