//! Somebody who makes changes, in a test: what is offered, and how changes stand, is what the test says.

use std::cell::RefCell;
use std::rc::Rc;

use super::fixture::look;
use super::test_session::{ChangerBox, TestSession};
use fabdeck::console::features::changes::dialogue::Dialogue;
use fabdeck::console::model::layout::Size;
use fabdeck::console::model::overlay::Overlay;
use fabdeck::operations::changes::attestations::Attestations;
use fabdeck::operations::changes::change_facts::{ChangeFacts, JobEffects};
use fabdeck::operations::changes::change_row::ChangeRow;
use fabdeck::operations::changes::changer::{
    Acceptance, ChangeOffer, ChangeOverview, Changer, PlanSource, WriteAccess,
};
use fabdeck::operations::changes::job_effects::JobEffect;
use fabdeck::operations::plans::plan_request::WriteMode;
use fabdeck::operations::plans::write_mode_offer::{OtherMode, WriteModeOffer};
use fabdeck_change::{
    Attestation, AttestationVerdict, ChangePhase, ChangeStatus, CutOffReport, DeviceReport, DeviceState,
    GuardRequest, RollbackRemainder, TransientLoss, TransitionReport, UnfailedLoss,
};

/// The clock of the machine when a test begins.
pub const NOW: &str = "2026-11-22T14:00:00Z";
/// Ten minutes later.
pub const DEADLINE: &str = "2026-11-22T14:10:00Z";

/// The question on the screen.
pub fn dialogue(driver: &TestSession) -> Option<&Dialogue> {
    let Some(Overlay::Dialogue(dialogue)) = &driver.state.layer else { return None };
    Some(dialogue)
}

/// A plan that takes spine-2 as failed, and whose writes may close a credit loop.
pub fn facts() -> ChangeFacts {
    let hit = |job: &str, pairs, spared| JobEffect {
        job: job.to_owned(),
        pairs,
        moved: 9,
        spared,
        ..JobEffect::default()
    };
    let way = TransientLoss {
        pairs: 1892,
        writes: 480,
        before: 504,
        worst_broken: 540,
        ordered: "fewest".to_owned(),
        unfailed: Some(UnfailedLoss { pairs: 1980, before: 0, after: 88, worst_broken: 124 }),
        ..TransientLoss::default()
    };
    let ports = ["rack1-leaf[8]", "spine-1[4]", "rack2-leaf[12]", "spine-3[2]"];
    let channel = |at: usize| format!("{} -> {}", ports[at], ports[(at + 1) % ports.len()]);
    ChangeFacts {
        failed: vec!["switch:spine-2".to_owned()],
        taken_down: Vec::new(),
        cut_off: CutOffReport {
            switches: vec!["spine-2".to_owned()],
            aggregation_nodes: vec!["spine-2 SHARP".to_owned()],
            pairs: 88,
            ..CutOffReport::default()
        },
        jobs: Some(JobEffects {
            known: 5,
            hit: vec![hit("83", 90, 23), hit("74", 42, 15), hit("81", 42, 2)],
        }),
        transition: TransitionReport {
            reason: Some("the lanes of the old paths are not known".to_owned()),
            old_lanes: "unknown".to_owned(),
            cycle: Some((0..ports.len()).map(channel).collect()),
            on_the_way: Some(way),
            ..TransitionReport::default()
        },
        weak_links: Vec::new(),
        undo: None,
    }
}

/// What a plan of 480 parts comes to, with so many findings.
pub fn offer(findings: usize) -> ChangeOffer {
    const FINDINGS: [(&str, &str); 3] = [
        (
            "transition",
            "not shown to be safe while traffic flows: old and new paths together close a credit loop",
        ),
        ("unreachable", "36 pairs of hosts have no path though cables join them"),
        ("cycle", "12 channels of lane 0 wait for each other"),
    ];
    let text = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
    ChangeOffer {
        title: "updn".to_owned(),
        source: "sim:demo".to_owned(),
        parts: 480,
        blocks: 480,
        switches: 9,
        adapters: 0,
        moved_pairs: 1204,
        migrations: Vec::new(),
        transition: vec![
            (
                "live".to_owned(),
                "not safe while traffic flows: 12 channels of lane 0 wait for each other".to_owned(),
            ),
            (
                "while written".to_owned(),
                "at the worst 36 pairs have no path and 4 loop, after 112 writes".to_owned(),
            ),
        ],
        facts: facts(),
        mode: WriteModeOffer {
            other: OtherMode::Refused("hosts have one LID a port (LMC 0)".to_owned()),
            ..WriteModeOffer::default()
        },
        undoes_moves: false,
        findings: FINDINGS.iter().cycle().take(findings).map(text).collect(),
        own: false,
        remarks: vec!["a logout may end the guard: systemd is not running here".to_owned()],
        applied: false,
        plan: None,
    }
}

/// A change in a state.
pub fn row(number: u64, state: ChangePhase) -> ChangeRow {
    let back = matches!(state, ChangePhase::RollingBack | ChangePhase::RolledBack | ChangePhase::Incomplete);
    let left = |what: &str, why: &str| RollbackRemainder { what: what.to_owned(), why: why.to_owned() };
    let left = match state {
        ChangePhase::Incomplete => vec![
            left("leaf-1 block 0", "somebody else wrote it since"),
            left("leaf-2 block 0", "does not answer"),
            left("leaf-2 block 1", "does not answer"),
        ],
        _ => Vec::new(),
    };
    ChangeRow {
        id: format!("{number}-abcd"),
        number,
        state,
        time: "2026-11-22T13:59:58Z".to_owned(),
        user: "alice".to_owned(),
        deadline: (state == ChangePhase::Applied).then(|| DEADLINE.to_owned()),
        source: "sim:demo".to_owned(),
        via: "direct".to_owned(),
        engine: "updn".to_owned(),
        writes: 480,
        failed: facts().failed,
        pairs: facts().transition.on_the_way,
        covers_switches: false,
        done: if state == ChangePhase::Applying { 120 } else { 480 },
        accepted: vec!["transition".to_owned()],
        ended: (!state.is_pending()).then(|| "2026-11-22T02:13:00Z".to_owned()),
        why: back.then(|| "it was not confirmed in time".to_owned()),
        left,
        moves: Vec::new(),
        silent: Vec::new(),
        waits: false,
        phase_of_five: None,
        drift: None,
        trouble: None,
        steps: Vec::new(),
        overdue: false,
        comparison: None,
        migrations: Vec::new(),
        undone_by: None,
    }
}

/// What a comparison says of a change.
pub fn attestation(verdict: AttestationVerdict) -> Attestation {
    let (differ, unread) = match verdict {
        AttestationVerdict::NoLongerStands => (3, 0),
        AttestationVerdict::NotKnown => (0, 3),
        AttestationVerdict::Stands | AttestationVerdict::Superseded => (0, 0),
    };
    let state = if unread > 0 { DeviceState::Silent } else { DeviceState::Overwritten };
    let (name, guid) = ("switch leaf-1 (0x1)".to_owned(), "0x0000000000000001".to_owned());
    let device = DeviceReport { name, guid, state, differ, unread, as_before: 1, by: Vec::new() };
    Attestation {
        verdict,
        entries: 480,
        differ,
        unread,
        superseded: 0,
        superseded_by: Vec::new(),
        devices: if differ + unread > 0 { vec![device] } else { Vec::new() },
        manager: Some("node01 (0x2, LID 7)".to_owned()),
        manager_before: None,
    }
}

/// All of them here.
pub fn changes_of_rows(rows: Vec<ChangeRow>, now: &str) -> ChangeOverview {
    let here = rows.iter().map(|row| row.id.clone()).collect();
    ChangeOverview { rows, here, now: now.to_owned(), ..ChangeOverview::default() }
}

/// What the test says, and what was asked.
pub struct Script {
    pub offer: Result<ChangeOffer, String>,
    pub changes: ChangeOverview,
    pub answer: Option<Result<ChangeStatus, String>>,
    pub planned: Vec<String>,
    pub begun: Vec<Acceptance>,
    pub asked: Vec<(String, GuardRequest)>,
    pub polls: usize,
    pub compared: Result<Attestations, String>,
    pub comparisons: usize,
}

#[derive(Clone)]
pub struct FakeChanges(pub Rc<RefCell<Script>>);

impl FakeChanges {
    pub fn new(offer: Result<ChangeOffer, String>, rows: Vec<ChangeRow>) -> Self {
        let script = Script {
            offer,
            changes: changes_of_rows(rows, NOW),
            answer: None,
            planned: Vec::new(),
            begun: Vec::new(),
            asked: Vec::new(),
            polls: 0,
            compared: Ok(Attestations::new()),
            comparisons: 0,
        };
        Self(Rc::new(RefCell::new(script)))
    }

    /// The first change becomes another one at this time.
    pub fn set_first_change(&self, row: ChangeRow, now: &str) {
        let mut script = self.0.borrow_mut();
        let mut rows = std::mem::take(&mut script.changes.rows);
        rows.retain(|other| other.id != row.id);
        rows.insert(0, row);
        script.changes = changes_of_rows(rows, now);
    }

    /// A session on the demo with these changes, which may write.
    pub fn session(&self, writing: WriteAccess) -> TestSession {
        let size = Size { width: 80, height: 24 };
        TestSession::open_changing(look("sim:demo"), ChangerBox(Box::new(self.clone())), writing, size)
    }
}

impl Changer for FakeChanges {
    fn prepare_offer(&mut self, planned: &PlanSource) -> Result<ChangeOffer, String> {
        let what = match planned {
            PlanSource::Proposed(plan) if plan.mode == WriteMode::FivePhases => {
                format!("phased {}", plan.engine)
            }
            PlanSource::Proposed(plan) => format!("proposed {}", plan.engine),
            PlanSource::File(file) => format!("file {}", file.display()),
            PlanSource::Service { service, .. } => format!("{service:?}"),
            PlanSource::Lanes(_) => "lanes".to_owned(),
            PlanSource::Undo { number, .. } => format!("undo {number}"),
        };
        self.0.borrow_mut().planned.push(what);
        let mut offer = self.0.borrow().offer.clone();
        if let (PlanSource::Proposed(plan), Ok(offer)) = (planned, &mut offer) {
            offer.mode.mode = plan.mode;
        }
        offer
    }

    fn begin_change(&mut self, _: &ChangeOffer, acceptance: &Acceptance) -> Result<String, String> {
        self.0.borrow_mut().begun.push(acceptance.clone());
        let number = self.0.borrow().changes.rows.len() as u64 + 1;
        let begun = row(number, ChangePhase::Applying);
        let now = self.0.borrow().changes.now.clone();
        let id = begun.id.clone();
        self.set_first_change(begun, &now);
        Ok(id)
    }

    fn list_changes(&mut self) -> Result<ChangeOverview, String> {
        let mut script = self.0.borrow_mut();
        script.polls += 1;
        Ok(script.changes.clone())
    }

    fn compare_changes(&mut self) -> Result<Attestations, String> {
        let mut script = self.0.borrow_mut();
        script.comparisons += 1;
        script.compared.clone()
    }

    fn ask_guard(&mut self, id: &str, ask: &GuardRequest) -> Result<ChangeStatus, String> {
        let mut script = self.0.borrow_mut();
        script.asked.push((id.to_owned(), ask.clone()));
        script.answer.clone().unwrap_or_else(|| Err("FD-5634: no such change".to_owned()))
    }
}

/// What the guard says of a change.
pub fn status(number: u64, phase: ChangePhase, deadline: Option<&str>) -> ChangeStatus {
    ChangeStatus {
        id: format!("{number}-abcd"),
        phase,
        done: 480,
        writes: 480,
        deadline: deadline.map(str::to_owned),
        why: None,
        left: Vec::new(),
        silent: Vec::new(),
        waits: false,
        phase_of_five: None,
        drift: None,
        trouble: None,
        steps: Vec::new(),
    }
}
