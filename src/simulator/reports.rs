//! Reports of traps on their way to subscribers: sent again until somebody says that they came, a few times at most.

use std::collections::BTreeSet;
use std::time::Duration;

use fabdeck_mad::access::{Address, Parcel};
use fabdeck_mad::{Mad, Method, Notice, Repath, Smp, attribute};

use super::simulate::{Event, Simulator};

/// Between two tries, and how many there are.
const AGAIN: Duration = Duration::from_secs(1);
const TRIES: u32 = 4;
/// After which a manager has looked at what changed.
const LOOKS: Duration = Duration::from_millis(100);

/// A report that nobody has answered yet.
#[derive(Clone, Debug)]
pub struct Report {
    /// To the subscriber's LID and queue pair.
    parcel: Parcel,
    left: u32,
}

impl Simulator {
    /// Whoever subscribed is told of what changed.
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

    /// Whoever wants to know of a trap is told of it.
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

    /// A trap came to the manager from somebody: it says so, and passes it on to whoever subscribed.
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

    /// One try.
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

    /// A report came to its subscriber.
    pub(super) fn report_came(&mut self, answer: &Mad) {
        self.reports.remove(&answer.header().transaction.get());
    }
}
