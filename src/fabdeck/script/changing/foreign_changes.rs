//! Changes in a state folder that this user cannot read. Their guards are asked through sockets, and answer what the
//! owner's configuration permits.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::home;
use super::listed::Listed;
use super::means::Means;
use crate::script::{Exit, Failure};
use crate::session::ChangeRow;
use fabdeck_change::{
    Answer, Ask, Description, DoorError, Home, Phase, Status, call, call_within, describe, is_listening,
    sockets,
};

/// Time to wait for the end of a rollback.
const ROLLBACK_TIMEOUT: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Lists the changes whose guards answer, and the reasons why others are unknown.
pub fn list(means: Means<'_>, home: &Home, timeout: Duration) -> (Vec<Listed>, Vec<String>) {
    let sockets = match sockets_of(means, home) {
        Ok(sockets) => sockets,
        Err(why) => return (Vec::new(), vec![why]),
    };
    let (mut rows, mut closed) = (Vec::new(), Vec::new());
    for (id, socket) in sockets {
        match describe(&socket, timeout) {
            Ok(Ok(description)) => rows.push(listed(&id, description)),
            Ok(Err(why)) => closed.push(why),
            // The guard ended just now.
            Err(DoorError::Silent(error)) if error.kind() == ErrorKind::NotFound => {}
            Err(_) => closed.push(unknown(home, &format!("the guard of change {id} does not answer"))),
        }
    }
    if rows.is_empty() && closed.is_empty() {
        closed.push(unknown(home, "no guard answers"));
    }
    (rows, closed)
}

/// Sends an order to the guard of a change.
pub fn order(means: Means<'_>, home: &Home, id: &str, ask: &Ask) -> Result<Status, Failure> {
    let refused = |why: String| Failure::new(Exit::Refused, why);
    let socket = socket_of(means, home, id).map_err(refused)?;
    match call(&socket, ask) {
        Ok(Answer::Status(status)) => Ok(status),
        Ok(Answer::Refused { why }) => Err(refused(why)),
        Err(error @ DoorError::Silent(_)) => {
            Err(refused(format!("{error}; ask the owner of {}", home.folder().display())))
        }
        Err(error) => Err(Failure::new(Exit::Failed, error.to_string())),
    }
}

/// Waits for the end of a rollback as long as its guard answers.
pub fn await_end(means: Means<'_>, home: &Home, first: Status) -> Result<Status, Failure> {
    let since = Instant::now();
    let (mut status, id) = (first.clone(), first.id);
    while status.phase.is_pending() && since.elapsed() < ROLLBACK_TIMEOUT {
        std::thread::sleep(POLL_INTERVAL);
        let socket = socket_of(means, home, &id).map_err(|why| Failure::new(Exit::Refused, why))?;
        match call_within(&socket, &Ask::Status, ROLLBACK_TIMEOUT) {
            Ok(Answer::Status(now)) => status = now,
            Ok(Answer::Refused { .. }) => return Ok(status),
            Err(DoorError::Silent(error)) if is_gone(error.kind()) => {
                let what = format!(
                    "the rollback of change {id} was begun, and its guard has ended; how it ended stands in the journal, which \
                     only the owner of {} can read: 'fabdeck changes'",
                    home.folder().display()
                );
                return Err(Failure::new(Exit::Failed, what));
            }
            Err(error) => return Err(Failure::new(Exit::Failed, error.to_string())),
        }
    }
    Ok(status)
}

/// Finds the unreadable state folder with a socket for this change, and the full id.
pub fn find(means: Means<'_>, text: &str) -> Option<(Home, String)> {
    /// Least number of characters of an id that can stand for it.
    const PREFIX: usize = 4;
    home::all(means).into_iter().filter(Home::is_closed).find_map(|home| {
        let ids: Vec<String> = sockets_of(means, &home).ok()?.into_iter().map(|(id, _)| id).collect();
        let meant: Vec<&String> =
            ids.iter().filter(|id| *id == text || (text.len() >= PREFIX && id.starts_with(text))).collect();
        match meant.as_slice() {
            [id] => Some((home.clone(), (*id).clone())),
            _ => None,
        }
    })
}

/// Message for a folder whose changes are unknown.
pub fn unknown(home: &Home, why: &str) -> String {
    let folder = home.folder().display();
    format!(
        "FD-7993: {folder}: whether a change is pending there is not known: this user may not look into it, and {why}; ask its \
         owner, or as the owner: sudo fabdeck changes"
    )
}

fn sockets_of(means: Means<'_>, home: &Home) -> Result<Vec<(String, PathBuf)>, String> {
    let Some(folder) = home::socket_folder(means, home.folder()) else {
        return Err(unknown(home, "its guards listen for its owner alone (socket-dir in the configuration)"));
    };
    sockets(&folder).map_err(|error| unknown(home, &format!("{} cannot be read ({error})", folder.display())))
}

fn socket_of(means: Means<'_>, home: &Home, id: &str) -> Result<PathBuf, String> {
    let found = sockets_of(means, home)?.into_iter().find(|(found, _)| found == id);
    let socket = found.map(|(_, socket)| socket).filter(|socket| is_listening(socket));
    socket.ok_or_else(|| unknown(home, &format!("no guard of change {id} answers")))
}

fn is_gone(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::ConnectionRefused)
}

fn listed(id: &str, description: Description) -> Listed {
    let Description { number, time, user, source, via, engine, accepted, switches, simulator, status } =
        description;
    let row = ChangeRow {
        id: id.to_owned(),
        number,
        state: status.phase,
        time,
        user,
        deadline: status.deadline.clone().filter(|_| status.phase == Phase::Applied),
        source,
        via,
        engine,
        writes: status.writes,
        done: status.done,
        accepted,
        ended: None,
        why: status.why,
        left: status.left,
        moves: Vec::new(),
        silent: status.silent,
        waits: status.waits,
        phase_of_five: status.phase_of_five,
        drift: status.drift,
        trouble: status.trouble,
        overdue: false,
        comparison: None,
    };
    Listed { row, switches, simulator }
}
