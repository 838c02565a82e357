//! The agent's subscription to two traps at the port's subnet manager. The agent renews it before the subnet manager
//! forgets it.

use std::time::Duration;

use fabdeck_fabric::{Lid, PortNum};
use fabdeck_mad::access::{AddressedMad, MadAddress};
use fabdeck_mad::{Class, InformInfo, Mad, Method, PortInfo, Smp, attribute, trap};

/// How often the port is asked for its subnet manager.
const PORT_CHECK_INTERVAL: Duration = Duration::from_secs(2);
/// When a subscription is renewed: the subnet manager may have restarted without it.
const RENEW_INTERVAL: Duration = Duration::from_secs(60);
/// Interval between two tries if the subnet manager does not answer.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

const TRAPS: [u16; 2] = [trap::UNPATH, trap::REPATH];

/// The subscription to one of the two traps.
#[derive(Clone, Copy, Debug, Default)]
struct TrapState {
    transaction: u32,
    due: Duration,
    taken: bool,
    unanswered: u32,
}

/// A change of the subscription.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SubscriptionEvent {
    Subscribed,
    Silent,
    Refused(String),
    Moved { before: Option<Lid> },
}

#[derive(Debug, Default)]
pub struct Subscription {
    manager: Option<Lid>,
    own: Option<Lid>,
    halves: [TrapState; 2],
    looked: Option<Duration>,
    /// The transaction of the open query to the agent's own port; 0 for none.
    look: u32,
    next: u32,
}

impl Subscription {
    pub fn new(manager: Option<Lid>, own: Option<Lid>) -> Self {
        Self { manager, own, ..Self::default() }
    }

    pub fn manager(&self) -> Option<Lid> {
        self.manager
    }

    pub fn own_lid(&self) -> Option<Lid> {
        self.own
    }

    pub fn next_transaction(&mut self) -> u32 {
        self.next = self.next.wrapping_add(1).max(1);
        self.next
    }

    /// The MADs that are due, and a change to report.
    pub fn due(
        &mut self,
        now: Duration,
        port: PortNum,
        m_key: u64,
    ) -> (Vec<AddressedMad>, Option<SubscriptionEvent>) {
        let (mut all, mut news) = (Vec::new(), None);
        if self.looked.is_none_or(|looked| now >= looked + PORT_CHECK_INTERVAL) {
            self.looked = Some(now);
            self.look = self.next_transaction();
            all.extend(own_port_query(port, m_key, self.look));
        }
        let Some(manager) = self.manager else { return (all, None) };
        for (at, number) in TRAPS.into_iter().enumerate() {
            if self.halves[at].due > now {
                continue;
            }
            let transaction = self.next_transaction();
            let half = &mut self.halves[at];
            half.unanswered += 1;
            if half.unanswered == 4 {
                news = Some(SubscriptionEvent::Silent);
            }
            (half.due, half.transaction) = (now + RETRY_INTERVAL, transaction);
            all.push(inform_request(manager, number, true, transaction));
        }
        (all, news)
    }

    /// Takes an answer to one of these requests: from the agent's own port by directed route, or from the subnet
    /// manager's LID.
    pub fn handle_answer(&mut self, parcel: &AddressedMad, now: Duration) -> Option<SubscriptionEvent> {
        let mad = &parcel.mad;
        let transaction = mad.header().transaction.get() as u32;
        if mad.method() != Method::GET_RESPONSE || transaction == 0 {
            return None;
        }
        let of_manager = self.manager.is_some_and(|manager| manager.value() == parcel.address.lid);
        match (mad.class(), mad.header().attribute.get()) {
            (Class::SUBNET_DIRECTED, attribute::PORT_INFO)
                if transaction == self.look && mad.status().is_ok() =>
            {
                self.look = 0;
                let info = *Smp(mad.clone()).data::<PortInfo>();
                self.own = Lid::new(info.base_lid.get().into()).or(self.own);
                let told = Lid::new(info.master_sm_lid.get().into());
                if told == self.manager {
                    return None;
                }
                let before = std::mem::replace(&mut self.manager, told);
                self.halves = Default::default();
                Some(SubscriptionEvent::Moved { before })
            }
            (Class::SUBNET_ADMINISTRATION, attribute::INFORM_INFO) if of_manager => {
                let half = self.halves.iter_mut().find(|half| half.transaction == transaction)?;
                half.unanswered = 0;
                half.due = now + RENEW_INTERVAL;
                if !mad.status().is_ok() {
                    half.taken = false;
                    return Some(SubscriptionEvent::Refused(mad.status().to_string()));
                }
                let known = std::mem::replace(&mut half.taken, true);
                (!known && self.is_complete()).then_some(SubscriptionEvent::Subscribed)
            }
            _ => None,
        }
    }

    pub fn is_complete(&self) -> bool {
        self.halves.iter().all(|half| half.taken)
    }

    /// The MADs that end the subscription.
    pub fn unsubscribe_requests(&mut self) -> Vec<AddressedMad> {
        let Some(manager) = self.manager else { return Vec::new() };
        let all = TRAPS.map(|number| inform_request(manager, number, false, self.next_transaction()));
        for (half, parcel) in self.halves.iter_mut().zip(&all) {
            half.transaction = parcel.mad.header().transaction.get() as u32;
        }
        all.into()
    }
}

fn inform_request(manager: Lid, number: u16, subscribe: bool, transaction: u32) -> AddressedMad {
    let mut mad = Mad::administration(Method::SET, attribute::INFORM_INFO, 0);
    *mad.record_mut::<InformInfo>() = InformInfo::single_trap(number, subscribe);
    mad.header_mut().transaction = u64::from(transaction).into();
    AddressedMad { address: MadAddress::for_class(manager, mad.class()), mad }
}

/// A query for the agent's own port: no packet leaves the machine.
fn own_port_query(port: PortNum, m_key: u64, transaction: u32) -> Option<AddressedMad> {
    let mut smp = Smp::directed(Method::GET, attribute::PORT_INFO, port.value().into(), &[]).ok()?;
    smp.set_m_key(m_key);
    smp.0.header_mut().transaction = u64::from(transaction).into();
    Some(AddressedMad { mad: smp.0, address: MadAddress::directed() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subscription() -> (Subscription, Vec<AddressedMad>) {
        let mut subscription = Subscription::new(Lid::new(7), Lid::new(9));
        let (mut asked, _) = subscription.due(Duration::ZERO, PortNum(1), 0);
        asked.iter_mut().for_each(|parcel| parcel.mad.header_mut().method = Method::GET_RESPONSE.0);
        assert_eq!(asked.len(), 3);
        (subscription, asked)
    }

    #[test]
    fn answers_of_other_lids_are_ignored() {
        let (mut subscription, asked) = subscription();
        for parcel in &asked[1..] {
            let mut strange = parcel.clone();
            strange.address.lid = 8;
            assert_eq!(subscription.handle_answer(&strange, Duration::ZERO), None);
            let mut other = parcel.clone();
            other.mad.header_mut().class = Class::HOST_AGENTS.0;
            assert_eq!(subscription.handle_answer(&other, Duration::ZERO), None);
        }
        assert!(!subscription.is_complete());
        assert_eq!(subscription.handle_answer(&asked[1], Duration::ZERO), None);
        assert_eq!(
            subscription.handle_answer(&asked[2], Duration::ZERO),
            Some(SubscriptionEvent::Subscribed)
        );
    }

    #[test]
    fn the_own_port_is_read_once_by_directed_route() {
        let (mut subscription, asked) = subscription();
        let says = |lid: u16, class: Class| {
            let mut parcel = asked[0].clone();
            let mut smp = Smp(parcel.mad);
            smp.data_mut::<PortInfo>().master_sm_lid = lid.into();
            parcel.mad = smp.0;
            parcel.mad.header_mut().class = class.0;
            parcel
        };
        assert_eq!(subscription.handle_answer(&says(8, Class::SUBNET_LID), Duration::ZERO), None);
        let moved = subscription.handle_answer(&says(8, Class::SUBNET_DIRECTED), Duration::ZERO);
        assert_eq!(moved, Some(SubscriptionEvent::Moved { before: Lid::new(7) }));
        assert_eq!(
            subscription.handle_answer(&says(6, Class::SUBNET_DIRECTED), Duration::ZERO),
            None,
            "it is answered"
        );
        assert_eq!(subscription.manager(), Lid::new(8));
    }
}
