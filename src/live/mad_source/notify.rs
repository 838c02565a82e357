//! Tells hosts which flows to move. Notices go to the subnet manager as traps, and it forwards them to subscribers.
//! Then the agents of hosts are asked for their status, again and again within the timeout.
//!
//! A subnet manager acknowledges a trap with TrapRepress. Without an acknowledgement it may still have received the
//! trap, so hosts are asked all the same: their answers are the better proof.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use super::exchange_policy::ExchangePolicy;
use fabdeck_fabric::Lid;
use fabdeck_mad::access::{AddressedMad, MadAddress, MadPort, PortError, PortEvent, WriteError};
use fabdeck_mad::{FollowQuery, FollowStatus, Mad, Method, PathNotice, SMP_DATA, Smp, attribute};

/// Interval between two queries to the same host.
const ASK_INTERVAL: Duration = Duration::from_millis(200);
/// The transactions differ from those of snapshots, of Sets and of reading back.
const FIRST_TRANSACTION: u32 = 0x7000_0000;

/// A trap for the subnet manager.
#[derive(Debug)]
struct PendingTrap {
    notice: PathNotice,
    /// The tries that are left, and when the next one is due.
    left: u32,
    due: Duration,
    /// How long the trap counts in the window.
    fresh_until: Duration,
    came: bool,
    /// The queries about the trap, which start after it is sent.
    asked: std::ops::Range<usize>,
}

/// A query to a host for the status of one notice.
#[derive(Debug)]
struct AskedHost {
    host: Lid,
    trap: usize,
    standing: FollowStatus,
    on_way: bool,
}

/// One round of notices.
#[derive(Debug)]
struct NoticeRound<'p, P: MadPort + ?Sized> {
    port: &'p mut P,
    policy: ExchangePolicy,
    manager: Lid,
    traps: Vec<PendingTrap>,
    asked: Vec<AskedHost>,
    questions: QuestionQueue,
    /// What each transaction was for.
    sent: BTreeMap<u32, SentKind>,
    next: u32,
}

/// The queries to send, and when.
#[derive(Debug, Default)]
struct QuestionQueue {
    /// Queries that are due later.
    later: BTreeSet<(Duration, usize)>,
    /// Queries that wait for room in the window.
    ready: VecDeque<usize>,
    on_way: usize,
    /// Number of queries without a final answer.
    open: usize,
    /// Whether some host has received its notice.
    heard: bool,
}

#[derive(Clone, Copy, Debug)]
enum SentKind {
    Trap(usize),
    Question(usize),
}

/// Sends notices, and waits until all of `whom` have given a final answer or the time is over. Returns which of them
/// followed.
pub fn notify_hosts<P: MadPort + ?Sized>(
    port: &mut P,
    manager: Option<Lid>,
    policy: ExchangePolicy,
    notices: &[PathNotice],
    whom: &[Lid],
    patience: Duration,
) -> Result<Vec<Lid>, WriteError> {
    let manager = manager.or(port.local_port().manager_lid).ok_or_else(|| {
        WriteError::Refused(
            "FD-4521: there is no subnet manager that forwards notices to hosts; read the fabric first, or start one".into(),
        )
    })?;
    let now = port.now();
    let tries = policy.retries.saturating_add(1);
    let whom: BTreeSet<Lid> = whom.iter().copied().collect();
    let (mut traps, mut asked) = (Vec::new(), Vec::new());
    for (trap, told) in notices.iter().enumerate() {
        let first = asked.len();
        let ask = |host| AskedHost { host, trap, standing: FollowStatus::Unheard, on_way: false };
        if told.hosts.is_empty() {
            asked.extend(whom.iter().copied().map(ask));
        } else {
            let named: BTreeSet<Lid> = told.hosts.iter().copied().collect();
            asked.extend(named.intersection(&whom).copied().map(ask));
        }
        let (told, asked) = (told.clone(), first..asked.len());
        traps.push(PendingTrap { notice: told, left: tries, due: now, fresh_until: now, came: false, asked });
    }
    let questions = QuestionQueue { open: asked.len(), ..QuestionQueue::default() };
    let next = FIRST_TRANSACTION | notices.first().map_or(0, |told| (told.number & 0xFFFF) << 10);
    let sent = BTreeMap::new();
    let mut herald = NoticeRound { port, policy, manager, traps, asked, questions, sent, next };
    herald.run(now + patience).map_err(|error| WriteError::Gone(error.to_string()))?;
    herald.conclude(&whom)
}

impl<P: MadPort + ?Sized> NoticeRound<'_, P> {
    fn run(&mut self, until: Duration) -> Result<(), PortError> {
        loop {
            let now = self.port.now();
            self.send_traps(now)?;
            self.ask(now, until)?;
            let Some(next) = self.next_due_time(now, until) else { return Ok(()) };
            if let Some(PortEvent::Mad(parcel)) = self.port.receive(next)? {
                self.handle_mad(&parcel);
            }
        }
    }

    /// When the next action is due; `None` at the end. The acknowledgement of the subnet manager no longer matters once
    /// all hosts are done, or the time is over and some host has a notice.
    fn next_due_time(&self, now: Duration, until: Duration) -> Option<Duration> {
        let QuestionQueue { later, open, heard, .. } = &self.questions;
        let asks = *open > 0 && now < until;
        if !asks && *heard {
            return None;
        }
        let unsaid = self.traps.iter().filter(|trap| !trap.came && (trap.left > 0 || trap.due > now));
        // A trap that waits for room goes when another one leaves the window.
        let fresh = self.traps.iter().map(|trap| trap.fresh_until).filter(|fresh| *fresh > now).min();
        let trap = unsaid.map(|trap| if trap.due > now { trap.due } else { fresh.unwrap_or(now) }).min();
        let question = later.first().map(|(due, _)| (*due).min(until)).filter(|_| asks);
        trap.into_iter().chain(question).min()
    }

    /// Sends traps to the subnet manager, as far as the window permits.
    fn send_traps(&mut self, now: Duration) -> Result<(), PortError> {
        let issuer = self.port.local_port().lid.map_or(0, |lid| lid.value());
        let tries = self.policy.retries.saturating_add(1);
        let mut fresh = self.traps.iter().filter(|trap| !trap.came && trap.fresh_until > now).count();
        for at in 0..self.traps.len() {
            let trap = &mut self.traps[at];
            if trap.came || trap.left == 0 || trap.due > now {
                continue;
            }
            if fresh >= self.policy.in_flight.max(1) {
                break;
            }
            fresh += 1;
            if trap.left == tries {
                // The trap goes first, the queries follow.
                self.questions.later.extend(trap.asked.clone().map(|asked| (now + ASK_INTERVAL / 4, asked)));
            }
            (trap.left, trap.due) = (trap.left - 1, now + self.policy.timeout);
            trap.fresh_until = now + self.policy.fresh_time();
            let mad = Smp::trap(&trap.notice.notice(issuer)).0;
            self.send(mad, self.manager, SentKind::Trap(at))?;
        }
        Ok(())
    }

    /// Sends queries to hosts, as far as there is room.
    fn ask(&mut self, now: Duration, until: Duration) -> Result<(), PortError> {
        while let Some(&(due, at)) = self.questions.later.first().filter(|(due, _)| *due <= now) {
            self.questions.later.remove(&(due, at));
            let asked = &mut self.asked[at];
            self.questions.on_way -= usize::from(std::mem::take(&mut asked.on_way));
            if !asked.standing.is_final() {
                self.questions.ready.push_back(at);
            }
        }
        while now < until && self.questions.on_way < self.policy.outstanding.max(1) {
            let Some(at) = self.questions.ready.pop_front() else { break };
            let asked = &mut self.asked[at];
            if asked.standing.is_final() {
                continue;
            }
            asked.on_way = true;
            self.questions.on_way += 1;
            self.questions.later.insert((now + ASK_INTERVAL, at));
            let (host, trap) = (asked.host, asked.trap);
            let mad = Mad::follow_query(FollowQuery::for_notice(&self.traps[trap].notice));
            self.send(mad, host, SentKind::Question(at))?;
        }
        Ok(())
    }

    fn send(&mut self, mut mad: Mad, to: Lid, what: SentKind) -> Result<(), PortError> {
        self.next = self.next.wrapping_add(1).max(FIRST_TRANSACTION);
        mad.header_mut().transaction = u64::from(self.next).into();
        self.sent.insert(self.next, what);
        let address = MadAddress::for_class(to, mad.class());
        self.port.send(&AddressedMad { mad, address }, self.policy.timeout)
    }

    fn handle_mad(&mut self, parcel: &AddressedMad) {
        let mad = &parcel.mad;
        let Some(sent) = self.sent.get(&(mad.header().transaction.get() as u32)) else { return };
        match *sent {
            SentKind::Trap(at) if mad.method() == Method::TRAP_REPRESS => {
                let issuer = self.port.local_port().lid.map_or(0, |lid| lid.value());
                let trap = &mut self.traps[at];
                let said = *Smp(mad.clone()).data::<[u8; SMP_DATA]>();
                trap.came |= said == *Smp::trap(&trap.notice.notice(issuer)).data::<[u8; SMP_DATA]>();
            }
            SentKind::Question(at) if mad.header().attribute.get() == attribute::FOLLOW => {
                let said = mad.follow_data();
                let asked = &mut self.asked[at];
                let meant = self.traps[asked.trap].notice.key() == said.key()
                    && parcel.address.lid == asked.host.value()
                    && mad.method() == Method::GET_RESPONSE
                    && mad.status().is_ok();
                if let Some(standing) = FollowStatus::from_code(said.standing).filter(|_| meant) {
                    self.questions.on_way -= usize::from(std::mem::take(&mut asked.on_way));
                    // A final status stays, and any other status but `Unheard` shows that the notice arrived.
                    if !asked.standing.is_final() {
                        asked.standing = standing;
                        self.questions.open -= usize::from(standing.is_final());
                        self.questions.heard |= standing != FollowStatus::Unheard;
                    }
                }
            }
            _ => {}
        }
    }

    /// The hosts that followed all notices for them.
    fn conclude(self, whom: &BTreeSet<Lid>) -> Result<Vec<Lid>, WriteError> {
        let mut follows: BTreeMap<Lid, bool> = BTreeMap::new();
        for asked in &self.asked {
            *follows.entry(asked.host).or_insert(true) &= asked.standing.is_following();
        }
        // If some traps were acknowledged, hosts may have a notice. If no host is to answer, silence is no error.
        let unheard =
            !self.questions.heard && !self.traps.is_empty() && self.traps.iter().all(|trap| !trap.came);
        if unheard && !whom.is_empty() {
            return Err(WriteError::Silent(format!(
                "FD-4522: the subnet manager at LID {} does not report the notice, and no host has received it",
                self.manager
            )));
        }
        Ok(follows.into_iter().filter(|(_, follows)| *follows).map(|(host, _)| host).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::{PortNum, ServiceLevel};
    use fabdeck_mad::access::{Clock, LocalPort};

    /// A subnet manager and hosts that answer after a millisecond, except the silent ones. It counts what is under way.
    struct Fabric {
        now: Duration,
        local: LocalPort,
        coming: VecDeque<(Duration, AddressedMad)>,
        /// When each host was last queried; below, when traps were sent.
        asked: BTreeMap<u16, Duration>,
        traps: VecDeque<Duration>,
        most: (usize, usize),
        sent: usize,
        silent: fn(u16) -> bool,
    }

    impl Fabric {
        fn new(silent: fn(u16) -> bool) -> Self {
            let (name, number, manager_lid) = ("hosts".to_owned(), PortNum(1), Lid::new(0xBFFF));
            let local = LocalPort { name, number, guid: None, lid: None, manager_lid, simulated: true };
            let (coming, asked, traps) = Default::default();
            Self { now: Duration::ZERO, local, coming, asked, traps, most: (0, 0), sent: 0, silent }
        }

        fn count(&mut self) {
            let now = self.now;
            self.asked.retain(|_, at| *at + ASK_INTERVAL > now);
            self.traps.retain(|at| *at + ExchangePolicy::default().fresh_time() > now);
            self.most = (self.most.0.max(self.asked.len()), self.most.1.max(self.traps.len()));
        }
    }

    impl Clock for Fabric {
        fn now(&self) -> Duration {
            self.now
        }
    }

    impl MadPort for Fabric {
        fn local_port(&self) -> &LocalPort {
            &self.local
        }

        fn send(&mut self, parcel: &AddressedMad, _: Duration) -> Result<(), PortError> {
            self.sent += 1;
            let mut answer = parcel.clone();
            if parcel.mad.header().attribute.get() == attribute::FOLLOW {
                self.asked.insert(parcel.address.lid, self.now);
                *answer.mad.follow_data_mut() =
                    parcel.mad.follow_data().with_answer(FollowStatus::Followed, 1);
                answer.mad.header_mut().method = Method::GET_RESPONSE.0;
            } else {
                self.traps.push_back(self.now);
                answer.mad.header_mut().method = Method::TRAP_REPRESS.0;
            }
            if !(self.silent)(parcel.address.lid) {
                self.coming.push_back((self.now + Duration::from_millis(1), answer));
            }
            // Earlier MADs of this millisecond are still under way.
            if self.sent.is_multiple_of(100) {
                self.count();
            }
            Ok(())
        }

        fn receive(&mut self, until: Duration) -> Result<Option<PortEvent>, PortError> {
            self.count();
            let Some((at, parcel)) = self.coming.pop_front_if(|(at, _)| *at <= until) else {
                self.now = self.now.max(until);
                return Ok(None);
            };
            self.now = self.now.max(at);
            self.asked.remove(&parcel.address.lid);
            if parcel.mad.method() == Method::TRAP_REPRESS {
                self.traps.pop_front();
            }
            Ok(Some(PortEvent::Mad(parcel)))
        }
    }

    /// Sends notices to hosts with LIDs from 1 on. Returns how many followed, the largest numbers under way, and the
    /// duration.
    fn run_notify(hosts: u32, named: bool, silent: fn(u16) -> bool) -> (usize, (usize, usize), Duration) {
        let whom: Vec<Lid> = (1..=hosts).map(|lid| Lid::new(lid).unwrap()).collect();
        let about = |hosts: &[Lid]| PathNotice {
            hot_spot: Lid::new(0xBFFE).filter(|_| named),
            level: ServiceLevel::default(),
            back: false,
            number: 0x1234_5678,
            hosts: hosts.to_vec(),
        };
        let notices: Vec<PathNotice> = match named {
            true => whom.chunks(PathNotice::MAX_HOSTS).map(about).collect(),
            false => vec![about(&[])],
        };
        let mut port = Fabric::new(silent);
        let patience = Duration::from_secs(5);
        let followed =
            notify_hosts(&mut port, None, ExchangePolicy::default(), &notices, &whom, patience).unwrap();
        println!("{hosts} hosts: {} sent, at most {:?} on the way, {:?}", port.sent, port.most, port.now);
        (followed.len(), port.most, port.now)
    }

    #[test]
    fn the_window_bounds_datagrams_in_flight_for_any_number_of_hosts() {
        let ExchangePolicy { outstanding, in_flight, .. } = ExchangePolicy::default();
        for hosts in [648, 10_000, 43_904] {
            let (followed, most, took) = run_notify(hosts, false, |_| false);
            assert_eq!((followed, most), (hosts as usize, (outstanding, 1)));
            assert!(took < Duration::from_secs(1), "{took:?}");
        }
        let (followed, most, took) = run_notify(10_000, true, |_| false);
        assert_eq!((followed, most.1), (10_000, in_flight));
        assert!(most.0 <= outstanding && took < Duration::from_secs(1), "{most:?} {took:?}");
    }

    /// Silent hosts do not delay the queries to others.
    #[test]
    fn hosts_that_answer_are_counted_beside_many_silent_ones() {
        let (followed, most, _) = run_notify(43_904, false, |lid| lid.is_multiple_of(10));
        assert_eq!((followed, most.0), (43_904 - 4_390, ExchangePolicy::default().outstanding));
        let (followed, most, _) = run_notify(700, true, |lid| lid == 0xBFFF);
        assert_eq!((followed, most.1), (700, 31), "a subnet manager without an answer");
    }
}
