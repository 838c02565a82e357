//! Notices of several changes about the same flows: each is followed for what it is, and only the newest counts.

use fabdeck_mad::FollowQuery;
use rustix::process::{Pid, Signal, kill_process};

use super::*;

const SLOW: u8 = 1;

/// To the slow lane or back, as a change of this number tells in one of its rounds.
fn notice(lab: &Lab, (change, round): (u32, u64), back: bool, hosts: &[usize]) -> PathNotice {
    let hosts: Vec<Lid> = hosts.iter().map(|host| lab.lid(*host)).collect();
    let level = ServiceLevel::new(if back { 0 } else { SLOW.into() }).unwrap();
    PathNotice { back, level, ..path_notice(lab.lid(0), PathNotice::notice_number(change, round), &hosts) }
}

/// The answer of a host's agent to a notice, at a host of its own: all ports there receive answers.
fn ask_follow_status(lab: &Lab, host: usize, told: &PathNotice) -> Option<FollowStatus> {
    let mad = Mad::follow_query(FollowQuery::for_notice(told));
    let parcel = AddressedMad { address: MadAddress::for_class(lab.lid(host), mad.class()), mad };
    FollowStatus::from_code(answer(&mut lab.client(3), parcel)?.follow_data().standing)
}

fn wait_until(agent: &Agent, what: impl Fn() -> bool) {
    let begun = Instant::now();
    while !what() {
        assert!(begun.elapsed() < PATIENCE, "{:?}", agent.read_events());
        sleep(Duration::from_millis(10));
    }
}

/// One agent is a process of its own, and the other is the simulator's.
#[test]
fn a_second_change_of_the_same_flow_is_not_taken_for_the_first() {
    let lab = Lab::of("sim:kary,k=3,n=2,traffic=uniform,agents=node5");
    let state = lab.home.path().join("state");
    let args = ["--state-dir", state.to_str().unwrap()];
    let both = [4, 5];
    let levels = || both.map(|host| lab.level(host, 0));
    let whom = both.map(|host| lab.lid(host));
    let [one, back, two] = [((0xA000, 1), false), ((0xA000, 2), true), ((0xB000, 2), false)]
        .map(|(of, back)| notice(&lab, of, back, &both));
    let mut teller = lab.teller();
    let mut tell = |told: &PathNotice| {
        let followed = teller.notify(std::slice::from_ref(told), &whom, SECOND * 5).unwrap();
        assert_eq!(followed, whom, "{told:?}");
    };

    let agent = lab.agent(4, &args);
    tell(&one);
    assert_eq!(levels(), [SLOW; 2]);
    tell(&back);
    assert_eq!(levels(), [0; 2]);
    let (_, sum) = agent.end();
    assert_eq!(sum["moved"], 2);

    let agent = lab.agent(4, &args);
    assert_eq!(
        both.map(|host| ask_follow_status(&lab, host, &back)),
        [Some(FollowStatus::Followed); 2],
        "it is kept"
    );
    assert_eq!(both.map(|host| ask_follow_status(&lab, host, &two)), [Some(FollowStatus::Unheard); 2]);
    assert_eq!(levels(), [0; 2]);
    tell(&two);
    assert_eq!((levels(), agent.count("moved")), ([SLOW; 2], 1));

    // What comes late: of the change before, and of this one's round before.
    let overtaken = notice(&lab, (0xB000, 1), true, &both);
    let mut other = lab.client(2);
    for (at, late) in [&one, &back, &overtaken].into_iter().enumerate() {
        send_trap(&mut other, late);
        wait_until(&agent, || agent.count("superseded") == at + 1);
        assert_eq!(both.map(|host| ask_follow_status(&lab, host, late)), [Some(FollowStatus::Superseded); 2]);
    }
    assert_eq!((levels(), agent.count("moved")), ([SLOW; 2], 1));
    // And its own way back is followed.
    tell(&notice(&lab, (0xB000, 3), true, &both));
    assert_eq!(levels(), [0; 2]);
}

/// What was kept is an answer for ten minutes, however often the agent is started.
#[test]
fn what_was_kept_is_no_answer_once_it_is_old() {
    let lab = Lab::open();
    let state = lab.home.path().join("state");
    let args = ["--state-dir", state.to_str().unwrap()];
    let told = notice(&lab, (0xA000, 1), false, &[4]);
    lab.agent(4, &args).end();
    let guid = lab.client(4).local_port().guid.unwrap();
    let outcome = |at: i64| {
        let (number, hot_spot) = (told.number, told.wire_lid());
        serde_json::json!({ "number": number, "hot_spot": hot_spot, "back": false, "service_level": SLOW,
            "standing": FollowStatus::Followed.code(), "moved": 1, "at": at })
    };
    let now = jiff::Timestamp::now().as_second();
    let without = {
        let mut outcome = outcome(0);
        outcome.as_object_mut().unwrap().remove("at");
        outcome
    };
    let cases = [
        (outcome(now - 300), FollowStatus::Followed),
        (outcome(now - 700), FollowStatus::Unheard),
        (outcome(now + 700), FollowStatus::Unheard),
        (without, FollowStatus::Unheard),
    ];
    for (kept, wanted) in cases {
        let content = serde_json::json!({ "slow": {}, "outcomes": [kept] });
        fs::write(state.join(format!("agent/agent-{guid}.json")), content.to_string()).unwrap();
        let agent = lab.agent(4, &args);
        assert_eq!(ask_follow_status(&lab, 4, &told), Some(wanted), "{kept}");
        agent.end();
    }
    assert_eq!(lab.level(4, 0), 0);
    let _agent = lab.agent(4, &args);
    assert_eq!(lab.teller().notify(&[told], &[lab.lid(4)], SECOND * 5).unwrap(), [lab.lid(4)]);
    assert_eq!(lab.level(4, 0), SLOW);
}

/// Stopped, or with a hook that takes its time: of what came meanwhile the newest of each flow is followed, and more than
/// the rate lets through take no other's place.
#[test]
fn an_agent_that_was_held_up_follows_the_newest_alone() {
    let lab = Lab::open();
    let ran = lab.home.path().join("ran");
    let hook = lab.hook("hook", &format!("echo $FABDECK_NUMBER >> {}; sleep 1", ran.display()));
    let agent = lab.agent(4, &["--rate", "3", "--hook", &hook]);
    let ran = || -> Vec<u32> {
        let text = fs::read_to_string(&ran).unwrap_or_default();
        text.lines().map(|line| line.parse().unwrap()).collect()
    };
    let change = |at: u32, back: bool| notice(&lab, (at * 256, 1), back, &[4]);
    let mut other = lab.client(2);
    let elsewhere = PathNotice { hot_spot: Some(lab.lid(8)), ..change(90, false) };

    let process = Pid::from_child(&agent.child);
    kill_process(process, Signal::STOP).unwrap();
    let all: Vec<PathNotice> = (1..=10).map(|at| change(at, at % 2 == 0)).collect();
    send_trap(&mut other, &elsewhere);
    all.iter().for_each(|told| send_trap(&mut other, told));
    kill_process(process, Signal::CONT).unwrap();
    wait_until(&agent, || agent.count("moved") == 2);
    assert_eq!(ran(), [elsewhere.number, all[9].number], "{:?}", agent.read_events());
    assert_eq!((agent.count("superseded"), agent.count("dropped")), (9, 0));
    assert_eq!(
        [&all[0], &all[8], &all[9]].map(|told| ask_follow_status(&lab, 4, told).unwrap()),
        [FollowStatus::Superseded, FollowStatus::Superseded, FollowStatus::Followed]
    );
    assert_eq!([0, 8].map(|to| lab.level(4, to)), [0, SLOW]);

    // The hook of the first runs to its end; those behind it give way to the last.
    let more: Vec<PathNotice> = (11..=15).map(|at| change(at, at % 2 == 0)).collect();
    sleep(SECOND);
    send_trap(&mut other, &more[0]);
    wait_until(&agent, || ran().len() == 3);
    more[1..].iter().for_each(|told| send_trap(&mut other, told));
    wait_until(&agent, || agent.count("moved") == 4);
    assert_eq!(ran()[2..], [more[0].number, more[4].number]);
    assert_eq!((lab.level(4, 0), agent.count("superseded")), (SLOW, 12));
    assert_eq!(ask_follow_status(&lab, 4, &more[0]), Some(FollowStatus::Superseded));
}
