//! Tests queries over a scripted port.

use super::*;
use fabdeck_fabric::PortNum;
use fabdeck_mad::access::{AddressedMad, Clock, LocalPort, MadAddress};
use fabdeck_mad::{Class, Method, attribute};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The arrivals that a try causes, each after a number of milliseconds.
type Script = Box<dyn FnMut(usize, &AddressedMad) -> Vec<(u64, PortEvent)>>;

struct Scripted {
    now: Duration,
    local: LocalPort,
    /// The time and the MAD of each send.
    sent: Vec<(Duration, AddressedMad)>,
    coming: BTreeMap<(Duration, usize), PortEvent>,
    planned: usize,
    script: Script,
    /// How long the first receive sleeps without a result.
    sleeps: Duration,
}

impl Scripted {
    fn new(script: impl FnMut(usize, &AddressedMad) -> Vec<(u64, PortEvent)> + 'static) -> Self {
        let (name, number) = ("scripted".to_owned(), PortNum(1));
        let local = LocalPort { name, number, guid: None, lid: None, manager_lid: None, simulated: true };
        let (sent, coming) = (Vec::new(), BTreeMap::new());
        let (now, sleeps) = (Duration::ZERO, Duration::ZERO);
        Self { now, local, sent, coming, planned: 0, script: Box::new(script), sleeps }
    }

    fn sent_at(&self) -> Vec<u128> {
        self.sent.iter().map(|(at, _)| at.as_millis()).collect()
    }
}

impl Clock for Scripted {
    fn now(&self) -> Duration {
        self.now
    }
}

impl MadPort for Scripted {
    fn local_port(&self) -> &LocalPort {
        &self.local
    }

    fn send(&mut self, parcel: &AddressedMad, _: Duration) -> Result<(), PortError> {
        for (later, arrival) in (self.script)(self.sent.len(), parcel) {
            self.coming.insert((self.now + Duration::from_millis(later), self.planned), arrival);
            self.planned += 1;
        }
        self.sent.push((self.now, parcel.clone()));
        Ok(())
    }

    fn receive(&mut self, until: Duration) -> Result<Option<PortEvent>, PortError> {
        if !self.sleeps.is_zero() {
            self.now += std::mem::take(&mut self.sleeps);
            return Ok(None);
        }
        let next = self.coming.first_key_value().map(|((at, _), _)| *at).filter(|at| *at <= until);
        self.now = self.now.max(next.unwrap_or(until));
        Ok(next.and_then(|_| self.coming.pop_first()).map(|(_, arrival)| arrival))
    }
}

fn answer(parcel: &AddressedMad) -> PortEvent {
    let mut parcel = parcel.clone();
    parcel.mad.header_mut().method = Method::GET_RESPONSE.0;
    PortEvent::Mad(parcel)
}

fn unanswered(parcel: &AddressedMad) -> PortEvent {
    PortEvent::Unanswered(parcel.mad.header().transaction.get() as u32)
}

fn policy() -> ExchangePolicy {
    ExchangePolicy { timeout: Duration::from_millis(800), ..ExchangePolicy::default() }
}

fn question(target: u32, tag: usize) -> Question<usize> {
    let mad = Mad::new(Class::SUBNET_DIRECTED, Method::GET, attribute::NODE_INFO, tag as u32);
    Question { parcel: AddressedMad { mad, address: MadAddress::directed() }, target, retries: 2, tag }
}

/// Sends queries and waits for all replies. Returns how each query ended, and the phase.
fn run(port: &mut Scripted, policy: ExchangePolicy, targets: &[u32]) -> (Vec<(usize, bool)>, ReadingPhase) {
    let mut exchange = Exchange::new(port, policy, "test", 1);
    for (tag, target) in targets.iter().enumerate() {
        exchange.ask(question(*target, tag));
    }
    let mut replies = Vec::new();
    for _ in 0..100_000 {
        match exchange.next(Duration::from_millis(50)).unwrap() {
            ExchangeEvent::Settled => {
                assert_eq!((exchange.fresh_count, exchange.outstanding), (0, 0), "the window leaks");
                assert!(exchange.by_transaction.is_empty() && exchange.parked.is_empty());
                return (replies, exchange.end().0);
            }
            ExchangeEvent::TurnOver => {}
            ExchangeEvent::Reply(tag, reply) => replies.push((tag, matches!(reply, Reply::Answer(_)))),
        }
    }
    panic!("it hangs: {} of {} settled", replies.len(), targets.len());
}

#[test]
fn no_more_is_on_its_way_than_the_windows_have_room_for() {
    let mut port = Scripted::new(|_, parcel| vec![(10, answer(parcel))]);
    let policy = ExchangePolicy { in_flight: 6, per_node: 2, ..policy() };
    // Forty queries to each of five nodes.
    let targets: Vec<u32> = (0..200).map(|at| at % 5).collect();
    let (replies, phase) = run(&mut port, policy, &targets);
    assert_eq!((replies.len(), phase.in_flight, phase.sent), (200, 6, 200));
    let mut busy = BTreeMap::<(u128, u32), usize>::new();
    for (at, parcel) in &port.sent {
        let target = targets[parcel.mad.header().modifier.get() as usize];
        *busy.entry((at.as_millis(), target)).or_default() += 1;
    }
    assert!(busy.values().all(|count| *count <= 2), "{busy:?}");
    assert_eq!(port.sent_at().last(), Some(&330), "six at a time, ten milliseconds each");
}

#[test]
fn silence_is_retried_and_then_reported() {
    let mut port = Scripted::new(|_, _| Vec::new());
    let (replies, phase) = run(&mut port, policy(), &[1]);
    assert_eq!(replies, [(0, false)]);
    assert_eq!(port.sent_at(), [0, 800, 1600]);
    assert_eq!((phase.sent, phase.repeated, phase.unanswered, phase.answered), (3, 2, 1, 0));
    assert_eq!(phase.took, Duration::from_millis(2400));
    let transactions: std::collections::BTreeSet<u64> =
        port.sent.iter().map(|(_, parcel)| parcel.mad.header().transaction.get()).collect();
    assert!(transactions.len() == 3 && !transactions.contains(&0), "each try has a number of its own");
}

/// A node that was silent before holds nothing up: each try to it ends when it leaves the window. Once it answers it is
/// waited for like any other.
#[test]
fn a_doubted_node_is_waited_for_briefly_until_it_answers() {
    let mut port = Scripted::new(|_, _| Vec::new());
    let mut exchange = Exchange::new(&mut port, policy(), "test", 1);
    exchange.doubt([1]);
    exchange.ask(question(1, 0));
    let mut settled = Vec::new();
    loop {
        match exchange.next(Duration::from_millis(50)).unwrap() {
            ExchangeEvent::Settled => break,
            ExchangeEvent::TurnOver => {}
            ExchangeEvent::Reply(tag, reply) => settled.push((tag, matches!(reply, Reply::Silence))),
        }
    }
    assert_eq!((settled, exchange.outstanding), (vec![(0, true)], 0));
    drop(exchange);
    assert_eq!(port.sent_at(), [0, 100, 200]);
    // The first try is answered, and the second one is waited for.
    let mut port = Scripted::new(|at, parcel| if at == 0 { vec![(10, answer(parcel))] } else { Vec::new() });
    let mut exchange = Exchange::new(&mut port, policy(), "test", 1);
    exchange.doubt([1]);
    exchange.ask(question(1, 0));
    while !matches!(
        exchange.next(Duration::from_millis(50)).unwrap(),
        ExchangeEvent::Reply(0, Reply::Answer(_))
    ) {}
    exchange.ask(question(1, 1));
    while !matches!(exchange.next(Duration::from_millis(50)).unwrap(), ExchangeEvent::Settled) {}
    drop(exchange);
    assert_eq!(port.sent_at(), [0, 10, 810, 1610]);
}

/// A busy device gets as many tries as a silent one; the last busy answer is the reply.
#[test]
fn a_busy_answer_takes_one_of_the_tries() {
    let busy = |parcel: &AddressedMad| {
        let PortEvent::Mad(mut busy) = answer(parcel) else { unreachable!() };
        busy.mad.header_mut().status = 1.into();
        PortEvent::Mad(busy)
    };
    for (busy_tries, is_answered, refused) in [(1, true, 0), (2, true, 0), (3, false, 1)] {
        let reply = move |try_: usize, parcel: &AddressedMad| match try_ < busy_tries {
            true => vec![(10, busy(parcel))],
            false => vec![(10, answer(parcel))],
        };
        let mut port = Scripted::new(reply);
        let (replies, phase) = run(&mut port, policy(), &[1]);
        assert_eq!(replies, [(0, is_answered)], "busy {busy_tries} times");
        assert_eq!((phase.sent, phase.refused), ((busy_tries as u64 + 1).min(3), refused));
    }
}

#[test]
fn arrivals_during_a_pause_are_read_before_a_question_is_given_up() {
    let mut port = Scripted::new(|_, parcel| vec![(10, answer(parcel))]);
    port.sleeps = Duration::from_secs(60);
    let (replies, phase) = run(&mut port, policy(), &[1, 2, 3]);
    assert_eq!((replies.iter().filter(|(_, answered)| *answered).count(), phase.repeated), (3, 0));
}

#[test]
fn a_late_answer_to_the_first_try_is_an_answer() {
    let mut port = Scripted::new(|try_, parcel| vec![(if try_ == 0 { 900 } else { 300 }, answer(parcel))]);
    let (replies, phase) = run(&mut port, policy(), &[1]);
    assert_eq!((replies, phase.answered, phase.repeated), (vec![(0, true)], 1, 1));
    assert_eq!(phase.took, Duration::from_millis(900));
}

#[test]
fn unmatched_answers_count_as_strangers() {
    let mut port = Scripted::new(|_, parcel| {
        let PortEvent::Mad(good) = answer(parcel) else { unreachable!() };
        let mut others = vec![good.clone(); 5];
        others[0].mad.header_mut().attribute = attribute::PORT_INFO.into();
        others[1].mad.header_mut().class = Class::SUBNET_LID.0;
        others[2].mad.header_mut().method = Method::GET.0;
        others[3].mad.header_mut().transaction = 99.into();
        others[4].mad.header_mut().modifier = 77.into();
        let early = others.into_iter().map(|parcel| (1, PortEvent::Mad(parcel)));
        early.chain([(5, PortEvent::Mad(good.clone())), (6, PortEvent::Mad(good))]).collect()
    });
    // The answers of the second node come together with the duplicate for the first one.
    let policy = ExchangePolicy { in_flight: 1, ..policy() };
    let (replies, phase) = run(&mut port, policy, &[1, 2]);
    assert_eq!(replies, [(0, true), (1, true)]);
    assert_eq!((phase.answered, phase.strangers), (2, 11));
}

/// A port that gives up a try is believed: the query is repeated at once, and only once.
#[test]
fn what_the_port_gives_up_is_repeated_at_once() {
    let mut port = Scripted::new(|try_, parcel| match try_ {
        0 => vec![(10, unanswered(parcel)), (10, unanswered(parcel)), (400, unanswered(parcel))],
        _ => vec![(900, unanswered(parcel))],
    });
    let (replies, phase) = run(&mut port, policy(), &[1]);
    assert_eq!(replies, [(0, false)]);
    assert_eq!(port.sent_at(), [0, 10, 810]);
    assert_eq!((phase.sent, phase.unanswered), (3, 1));
}

/// The try is given up while the window is full. The query waits for room, and its old deadline does not count again.
#[test]
fn a_question_that_waits_to_be_repeated_waits_once() {
    let mut port = Scripted::new(|try_, parcel| match try_ {
        0 => vec![(10, unanswered(parcel))],
        // The window opens for the repetition long after the deadline of the first try.
        1 => vec![(2000, answer(parcel))],
        _ => vec![(1, answer(parcel))],
    });
    let policy = ExchangePolicy { in_flight: 1, timeout: Duration::from_secs(60), ..policy() };
    let (mut replies, phase) = run(&mut port, policy, &[1, 2]);
    replies.sort_unstable();
    assert_eq!((replies, phase.sent), (vec![(0, true), (1, true)], 3));
}

#[test]
fn old_questions_leave_the_window_and_not_the_wire() {
    let mut port = Scripted::new(|_, _| Vec::new());
    let policy = ExchangePolicy { in_flight: 2, outstanding: 7, ..policy() };
    let targets: Vec<u32> = (0..20).collect();
    let (replies, phase) = run(&mut port, policy, &targets);
    assert_eq!((replies.len(), phase.in_flight), (20, 2));
    let at = port.sent_at();
    // Two fresh tries at a time, 100 ms each, until seven are outstanding; then the first timeout makes room.
    assert_eq!(at[..9], [0, 0, 100, 100, 200, 200, 300, 800, 800]);
    for end in &at {
        let out = at.iter().filter(|begun| *begun <= end && *end < **begun + 800).count();
        assert!(out <= 7, "{out} outstanding after {end} ms");
    }
}

/// A thousand queries to a dead node cost as little as a few. A node that answers sometimes gets all of them.
#[test]
fn a_silent_node_is_not_asked_forever() {
    let mut port = Scripted::new(|_, _| Vec::new());
    let (replies, phase) = run(&mut port, policy(), &[7; 1000]);
    assert!(replies.len() == 1000 && replies.iter().all(|(_, answered)| !answered));
    assert!(phase.unanswered == 1000 && phase.sent < 200, "{phase:?}");
    assert!(phase.took < Duration::from_secs(3), "{phase:?}");
    let mut port =
        Scripted::new(|try_, parcel| if try_ % 40 == 0 { vec![(1, answer(parcel))] } else { Vec::new() });
    let (_, phase) = run(&mut port, policy(), &[7; 300]);
    assert!(phase.sent > 800, "{phase:?}");
    let mut port = Scripted::new(|_, _| Vec::new());
    let (_, phase) = run(&mut port, ExchangePolicy { retries: 100, ..policy() }, &[7]);
    assert_eq!((phase.sent, phase.unanswered), (3, 1), "a question has the tries of its own");
}

/// The repetitions of a node wait for room while the late answers to their first tries arrive. The queries behind them
/// have to be sent all the same.
#[test]
fn an_answer_to_a_question_that_waits_wakes_the_next_one() {
    let mut port = Scripted::new(|_, parcel| vec![(1000, answer(parcel))]);
    let policy = ExchangePolicy { per_node: 1, in_flight: 4, ..policy() };
    let (replies, _) = run(&mut port, policy, &[7; 30]);
    assert!(replies.len() == 30 && replies.iter().all(|(_, answered)| *answered));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever arrives, each query ends once, in time, and the windows hold.
    #[test]
    fn every_question_ends_once(
        fates in proptest::collection::vec(proptest::collection::vec((0u8..4, 0u64..2000), 0..3), 1..40),
        (in_flight, per_node, outstanding) in (1usize..6, 1usize..4, 1usize..12),
        targets in proptest::collection::vec(0u32..4, 1..40),
    ) {
        let mut port = Scripted::new(move |try_, parcel| {
            let fate = fates[try_ % fates.len()].iter();
            fate.map(|(what, later)| (*later, match what {
                0 => unanswered(parcel),
                1 => PortEvent::Unanswered(*later as u32 % 50),
                _ => answer(parcel),
            })).collect()
        });
        let policy = ExchangePolicy { in_flight, per_node, outstanding, ..policy() };
        let (replies, phase) = run(&mut port, policy, &targets);
        let mut tags: Vec<usize> = replies.iter().map(|(tag, _)| *tag).collect();
        tags.sort_unstable();
        prop_assert_eq!(tags, (0..targets.len()).collect::<Vec<_>>());
        prop_assert!(phase.sent <= 3 * targets.len() as u64 && phase.in_flight <= in_flight.min(outstanding));
    }
}
