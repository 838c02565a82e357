//! Reports of traps to subscribers, repeated a few times until they are acknowledged.

use std::collections::BTreeSet;
use std::time::Duration;

use fabdeck_mad::access::{Address, Parcel};
use fabdeck_mad::{Mad, Method, Notice, Repath, Smp, attribute};

use super::simulate::{Event, Simulator};

/// Time between two tries, and number of tries.
const AGAIN: Duration = Duration::from_secs(1);
const TRIES: u32 = 4;
/// Time after which a manager has checked what changed.
const LOOKS: Duration = Duration::from_millis(100);

/// A report that is not acknowledged yet.
#[derive(Clone, Debug)]
pub struct Report {
    /// The datagram, addressed to the subscriber's LID and queue pair.
    parcel: Parcel,
    left: u32,
}

impl Simulator {
    /// Sends subscribers the traps of what changed.
    pub(super) fn tell_subscribers(&mut self) {
        if !self.world.has_notices() {
            return;
        }
        let (said, found) = self.world.take_notices();
        for (notice, after) in said
            .iter()
            .map(|notice| (notice, Duration::ZERO))
            .chain(found.iter().map(|notice| (notice, LOOKS)))
        {
            self.tell_of(notice, after);
        }
    }

    /// Plans reports of a trap to its subscribers.
    fn tell_of(&mut self, notice: &Notice, after: Duration) {
        let wants = self.world.subscribers().iter();
        let wants = wants.filter(|(_, asked)| asked.wants(notice.trap_number.get()));
        let whom: BTreeSet<(u16, u32)> = wants.map(|((lid, queue_pair, _), _)| (*lid, *queue_pair)).collect();
        for (lid, queue_pair) in whom {
            let number = self.next_report;
            self.next_report += 1;
            let mut mad = Mad::administration(Method::REPORT, attribute::NOTICE, 0);
            mad.header_mut().transaction = number.into();
            *mad.record_mut::<Notice>() = *notice;
            let parcel = Parcel { mad, address: Address { lid, queue_pair, service_level: 0 } };
            self.reports.insert(number, Report { parcel, left: TRIES });
            self.plan(self.now + after, Event::Report(number));
        }
    }

    /// Receives a trap at the manager, acknowledges it, and forwards it to subscribers.
    pub(super) fn take_trap(&mut self, trap: &Mad) -> Option<Mad> {
        if self.world.device(self.world.manager.0).silent {
            return None;
        }
        let mut answer = trap.clone();
        answer.header_mut().method = Method::TRAP_REPRESS.0;
        let notice = Smp(trap.clone()).notice();
        self.tell_of(&notice, Duration::ZERO);
        if let Some(told) = Repath::of(&notice) {
            self.tell_agents(&told);
        }
        Some(answer)
    }

    /// Sends a report once, and plans the next try.
    pub(super) fn report(&mut self, number: u64) {
        let Some(report) = self.reports.get_mut(&number) else { return };
        report.left -= 1;
        let (parcel, left) = (report.parcel.clone(), report.left);
        match left {
            0 => drop(self.reports.remove(&number)),
            _ => self.plan(self.now + AGAIN, Event::Report(number)),
        }
        let (manager, lid) = (self.world.manager, parcel.address.lid);
        let Some(arrived) = self.world.follow_lid(manager, lid) else { return };
        let there = self.seats.iter().filter(|(_, plug)| self.world.lid_of(**plug) == lid);
        let seats: Vec<_> = there.map(|(seat, _)| *seat).collect();
        for seat in seats {
            if self.loses(arrived.hops) {
                continue;
            }
            let from = Address { lid: self.world.manager_lid(), ..parcel.address };
            self.send_back(seat, Parcel { mad: parcel.mad.clone(), address: from }, arrived.hops);
        }
    }

    /// Ends a report that its subscriber has acknowledged.
    pub(super) fn report_came(&mut self, answer: &Mad) {
        self.reports.remove(&answer.header().transaction.get());
    }
}
