//! What is said of a change.

use jiff::Timestamp;

use crate::change::{Begun, Phase, Status, Told};
use crate::script::Exit;

/// A change as JSON has it.
#[derive(serde::Serialize)]
pub struct ChangeRow {
    pub id: String,
    pub number: u64,
    pub state: Phase,
    pub time: String,
    pub user: String,
    pub deadline: Option<String>,
    pub source: String,
    pub via: String,
    pub engine: String,
    pub writes: u64,
    pub why: Option<String>,
    pub left: Vec<crate::change::Left>,
    pub drift: Option<String>,
}

impl ChangeRow {
    pub fn of(told: &Told, drift: Option<String>) -> Self {
        let begun = &told.begun;
        Self {
            id: begun.id.clone(),
            number: begun.number,
            state: told.phase,
            time: begun.time.clone(),
            user: begun.user.clone(),
            deadline: told.deadline.clone().filter(|_| told.phase == Phase::Applied),
            source: begun.source.clone(),
            via: begun.via.clone(),
            engine: begun.engine.clone(),
            writes: begun.writes.len() as u64,
            why: told.why.clone(),
            left: told.ended.as_ref().map(|ended| ended.left.clone()).unwrap_or_default(),
            drift,
        }
    }
}

/// How a command ends that saw a change to this phase.
pub fn exit(phase: Phase) -> Exit {
    match phase {
        Phase::Applying | Phase::Applied | Phase::Confirmed => Exit::Done,
        Phase::RollingBack | Phase::RolledBack => Exit::RolledBack,
        Phase::Incomplete => Exit::RollbackIncomplete,
        Phase::Refused => Exit::Stale,
    }
}

/// The state of a change in words.
pub fn words(status: &Status, now: Timestamp) -> Vec<(&'static str, String)> {
    let mut lines = vec![("change", status.id.clone()), ("state", state(status, now))];
    if let Some(why) = &status.why {
        lines.push(("because", why.clone()));
    }
    if let Some(drift) = &status.drift {
        lines.push(("drift", drift.clone()));
    }
    const SHOWN: usize = 5;
    lines.extend(status.left.iter().take(SHOWN).map(|left| ("left", format!("{}: {}", left.what, left.why))));
    if status.left.len() > SHOWN {
        lines
            .push(("left", format!("{} more; 'fabdeck changes --json' has them", status.left.len() - SHOWN)));
    }
    if status.phase == Phase::Applied {
        let id = &status.id;
        lines.push(("keep it", format!("fabdeck confirm {id}")));
        lines.push(("or", format!("fabdeck rollback {id}; left alone, it is rolled back by itself")));
    }
    lines
}

/// One line while it is under way.
pub fn progress(status: &Status, now: Timestamp) -> String {
    let state = state(status, now);
    match status.phase {
        Phase::Applied => format!("change {} {state}; Ctrl-C leaves it waiting", status.id),
        _ => format!("change {} {state}", status.id),
    }
}

fn state(status: &Status, now: Timestamp) -> String {
    let title = status.phase.title();
    match (status.phase, &status.deadline) {
        (Phase::Applied, Some(deadline)) => format!("{title}; {}", until(deadline, now)),
        (Phase::Applying | Phase::RollingBack, _) => {
            format!("{title}: {} of {} writes", status.done, status.writes)
        }
        _ => title.to_owned(),
    }
}

/// `9m 58s left, until 14:12:03 UTC`.
pub fn until(deadline: &str, now: Timestamp) -> String {
    let Ok(at) = deadline.parse::<Timestamp>() else { return format!("until {deadline}") };
    let left = at.duration_since(now).as_secs().max(0);
    format!("{} left, until {} UTC", span(left), at.strftime("%H:%M:%S"))
}

fn span(seconds: i64) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest}s"),
        (0, _) => format!("{minutes}m {rest}s"),
        _ => format!("{hours}h {minutes}m"),
    }
}

/// Who does this: the name that the system has for the user.
pub fn user() -> String {
    let named = std::env::var("USER").ok().filter(|name| !name.is_empty());
    named.unwrap_or_else(|| format!("uid {}", rustix::process::getuid().as_raw()))
}

/// By which a change is called: it is no secret, and cannot be mistaken for that of another.
pub fn id_of(begun: &Begun) -> String {
    let text = format!("{} {} {} {}", begun.plan, begun.time, begun.pid, begun.user);
    blake3::hash(text.as_bytes()).to_hex()[..8].to_owned()
}
