//! Somebody who makes changes, in a test: what is offered, and how changes stand, is what the test says.

use std::cell::RefCell;
use std::rc::Rc;

use fabdeck::session::ChangeRow;
use fabdeck::session::interactive::{
    Acceptance, Attestations, ChangeOffer, Changer, Changes, Changing, Driver, Planned, Size, Writing,
};
use fabdeck_change::{Ask, Attestation, DeviceReport, DeviceState, Left, Phase, Status, Verdict};

use super::desk::look;

/// The clock of the machine when a test begins.
pub const NOW: &str = "2026-11-22T14:00:00Z";
/// Ten minutes later.
pub const DEADLINE: &str = "2026-11-22T14:10:00Z";

/// What a plan of 480 parts comes to, with so many findings.
pub fn offer(findings: usize) -> ChangeOffer {
    const FINDINGS: [(&str, &str); 3] = [
        ("transition", "not shown to be safe while traffic flows: old and new paths together close a circle"),
        ("unreachable", "36 pairs of hosts have no path though cables join them"),
        ("cycle", "12 channels of lane 0 wait for each other"),
    ];
    let text = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
    ChangeOffer {
        title: "updn".to_owned(),
        source: "sim:demo".to_owned(),
        parts: 480,
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
                "on the way".to_owned(),
                "at the worst 36 pairs have no path and 4 loop, after 112 writes".to_owned(),
            ),
        ],
        findings: FINDINGS.iter().cycle().take(findings).map(text).collect(),
        own: false,
        remarks: vec!["a logout may end the guard: systemd is not running here".to_owned()],
        applied: false,
        plan: None,
    }
}

/// A change in a state.
pub fn row(number: u64, state: Phase) -> ChangeRow {
    let back = matches!(state, Phase::RollingBack | Phase::RolledBack | Phase::Incomplete);
    let left = |what: &str, why: &str| Left { what: what.to_owned(), why: why.to_owned() };
    let left = match state {
        Phase::Incomplete => vec![
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
        deadline: (state == Phase::Applied).then(|| DEADLINE.to_owned()),
        source: "sim:demo".to_owned(),
        via: "direct".to_owned(),
        engine: "updn".to_owned(),
        writes: 480,
        done: if state == Phase::Applying { 120 } else { 480 },
        accepted: vec!["transition".to_owned()],
        ended: (!state.is_pending()).then(|| "2026-11-22T02:13:00Z".to_owned()),
        why: back.then(|| "nobody confirmed it in time".to_owned()),
        left,
        moves: Vec::new(),
        silent: Vec::new(),
        waits: false,
        phase_of_five: None,
        drift: None,
        trouble: None,
        overdue: false,
        comparison: None,
    }
}

/// What a comparison says of a change.
pub fn attestation(verdict: Verdict) -> Attestation {
    let (differ, unread) = match verdict {
        Verdict::NoLongerStands => (3, 0),
        Verdict::NotKnown => (0, 3),
        Verdict::Stands | Verdict::Superseded => (0, 0),
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
pub fn standing(rows: Vec<ChangeRow>, now: &str) -> Changes {
    let here = rows.iter().map(|row| row.id.clone()).collect();
    Changes { rows, here, now: now.to_owned(), ..Changes::default() }
}

/// What the test says, and what was asked.
pub struct Script {
    pub offer: Result<ChangeOffer, String>,
    pub changes: Changes,
    pub answer: Option<Result<Status, String>>,
    pub planned: Vec<String>,
    pub begun: Vec<Acceptance>,
    pub asked: Vec<(String, Ask)>,
    pub polls: usize,
    pub compared: Result<Attestations, String>,
    pub comparisons: usize,
}

#[derive(Clone)]
pub struct Fake(pub Rc<RefCell<Script>>);

impl Fake {
    pub fn new(offer: Result<ChangeOffer, String>, rows: Vec<ChangeRow>) -> Self {
        let script = Script {
            offer,
            changes: standing(rows, NOW),
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
    pub fn becomes(&self, row: ChangeRow, now: &str) {
        let mut script = self.0.borrow_mut();
        let mut rows = std::mem::take(&mut script.changes.rows);
        rows.retain(|other| other.id != row.id);
        rows.insert(0, row);
        script.changes = standing(rows, now);
    }

    /// A session on the demo with these changes, which may write.
    pub fn session(&self, writing: Writing) -> Driver {
        let size = Size { width: 80, height: 24 };
        Driver::changing(look("sim:demo"), Changing(Box::new(self.clone())), writing, size)
    }
}

impl Changer for Fake {
    fn offer(&mut self, planned: &Planned) -> Result<ChangeOffer, String> {
        let what = match planned {
            Planned::Proposed(plan) => format!("proposed {}", plan.engine),
            Planned::File(file) => format!("file {}", file.display()),
            Planned::Service { service, .. } => format!("{service:?}"),
            Planned::Lanes(_) => "lanes".to_owned(),
        };
        self.0.borrow_mut().planned.push(what);
        self.0.borrow().offer.clone()
    }

    fn begin(&mut self, _: &ChangeOffer, acceptance: &Acceptance) -> Result<String, String> {
        self.0.borrow_mut().begun.push(acceptance.clone());
        let number = self.0.borrow().changes.rows.len() as u64 + 1;
        let begun = row(number, Phase::Applying);
        let now = self.0.borrow().changes.now.clone();
        let id = begun.id.clone();
        self.becomes(begun, &now);
        Ok(id)
    }

    fn changes(&mut self) -> Result<Changes, String> {
        let mut script = self.0.borrow_mut();
        script.polls += 1;
        Ok(script.changes.clone())
    }

    fn compare(&mut self) -> Result<Attestations, String> {
        let mut script = self.0.borrow_mut();
        script.comparisons += 1;
        script.compared.clone()
    }

    fn ask(&mut self, id: &str, ask: &Ask) -> Result<Status, String> {
        let mut script = self.0.borrow_mut();
        script.asked.push((id.to_owned(), ask.clone()));
        script.answer.clone().unwrap_or_else(|| Err("FD-5634: no such change".to_owned()))
    }
}

/// What the guard says of a change.
pub fn status(number: u64, phase: Phase, deadline: Option<&str>) -> Status {
    Status {
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
    }
}
