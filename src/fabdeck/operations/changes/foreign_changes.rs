//! Changes in a state folder that this user cannot read. Their guards are asked through sockets, and answer what the
//! owner's configuration permits.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::change_list::ListedChange;
use super::change_row::ChangeRow;
use super::change_store;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::environment::Env;
use fabdeck_change::{
    ChangeDescription, ChangePhase, ChangeStatus, ChangeStore, GuardAnswer, GuardRequest, GuardSocketError,
    is_listening, list_sockets, request_description, send_request, send_request_within,
};

/// Time to wait for the end of a rollback.
const ROLLBACK_TIMEOUT: Duration = Duration::from_secs(60);
/// Time to wait for each guard when a change is named by its number.
const NUMBER_TIMEOUT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Message that changes without a guard are not listed for this user.
pub fn guarded_only_note(home: &ChangeStore) -> String {
    format!(
        "only changes whose guards answer are listed: this user cannot read {}, where a pending change may have lost its guard",
        home.folder().display()
    )
}

/// Lists the changes whose guards answer, and the reasons why others are unknown.
pub fn list(means: Env<'_>, home: &ChangeStore, timeout: Duration) -> (Vec<ListedChange>, Vec<String>) {
    let sockets = match sockets_of(means, home) {
        Ok(sockets) => sockets,
        Err(why) => return (Vec::new(), vec![why]),
    };
    let (mut rows, mut closed) = (Vec::new(), Vec::new());
    for (id, socket) in sockets {
        match request_description(&socket, timeout) {
            Ok(Ok(description)) => rows.push(list_entry(&id, description)),
            Ok(Err(why)) => closed.push(why),
            // The guard ended just now.
            Err(GuardSocketError::Silent(error)) if error.kind() == ErrorKind::NotFound => {}
            Err(_) => closed.push(unknown_reason(home, &format!("the guard of change {id} does not answer"))),
        }
    }
    if rows.is_empty() && closed.is_empty() {
        closed.push(unknown_reason(home, "no guard answers"));
    }
    (rows, closed)
}

/// Sends an order to the guard of a change.
pub fn send_order(
    means: Env<'_>,
    home: &ChangeStore,
    id: &str,
    ask: &GuardRequest,
) -> Result<ChangeStatus, Failure> {
    let refused = |why: String| Failure::new(Exit::Refused, why);
    let socket = socket_of(means, home, id).map_err(refused)?;
    match send_request(&socket, ask) {
        Ok(GuardAnswer::Status(status)) => Ok(status),
        Ok(GuardAnswer::Refused { why }) => Err(refused(why)),
        Err(error @ GuardSocketError::Silent(_)) => {
            Err(refused(format!("{error}; ask the owner of {}", home.folder().display())))
        }
        Err(error) => Err(Failure::new(Exit::Failed, error.to_string())),
    }
}

/// Waits for the end of a rollback as long as its guard answers.
pub fn await_end(means: Env<'_>, home: &ChangeStore, first: ChangeStatus) -> Result<ChangeStatus, Failure> {
    let since = Instant::now();
    let (mut status, id) = (first.clone(), first.id);
    while status.phase.is_pending() && since.elapsed() < ROLLBACK_TIMEOUT {
        std::thread::sleep(POLL_INTERVAL);
        let socket = socket_of(means, home, &id).map_err(|why| Failure::new(Exit::Refused, why))?;
        match send_request_within(&socket, &GuardRequest::Status, ROLLBACK_TIMEOUT) {
            Ok(GuardAnswer::Status(now)) => status = now,
            Ok(GuardAnswer::Refused { .. }) => return Ok(status),
            Err(GuardSocketError::Silent(error)) if is_gone(error.kind()) => {
                let what = format!(
                    "the rollback of change {id} was begun, and its guard has ended; the journal says how it ended, \
                     and only the owner of {} can read it: 'fabdeck changes'",
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
pub fn find(means: Env<'_>, text: &str) -> Option<(ChangeStore, String)> {
    /// Least number of characters of an id that can stand for it.
    const MIN_PREFIX: usize = 4;
    change_store::open_all(means).into_iter().filter(ChangeStore::is_unreadable).find_map(|home| {
        let sockets = sockets_of(means, &home).ok()?;
        let begins = |id: &str| id == text || (text.len() >= MIN_PREFIX && id.starts_with(text));
        let has_number = |socket: &Path| {
            let number: Option<u64> = text.parse().ok().filter(|_| text.len() < MIN_PREFIX);
            number.is_some_and(|number| number_of(socket) == Some(number))
        };
        let mut meant = sockets.iter().filter(|(id, socket)| begins(id) || has_number(socket));
        let (first, other) = (meant.next(), meant.next());
        first.filter(|_| other.is_none()).map(|(id, _)| (home.clone(), id.clone()))
    })
}

/// The number of the change that a guard keeps, if this user may list changes.
fn number_of(socket: &Path) -> Option<u64> {
    let described = request_description(socket, NUMBER_TIMEOUT).ok()?;
    described.ok().map(|description| description.number)
}

/// Message for a folder whose changes are unknown.
pub fn unknown_reason(home: &ChangeStore, why: &str) -> String {
    let folder = home.folder().display();
    format!(
        "FD-7993: {folder}: it is not known whether a change is pending there: this user cannot read the folder, and \
         {why}; ask its owner, or as the owner: fabdeck --state-dir {folder} changes"
    )
}

fn sockets_of(means: Env<'_>, home: &ChangeStore) -> Result<Vec<(String, PathBuf)>, String> {
    let Some(folder) = change_store::socket_folder(means, home.folder()) else {
        return Err(unknown_reason(
            home,
            "its guards listen for its owner alone (socket-dir in the configuration)",
        ));
    };
    list_sockets(&folder, home.folder())
        .map_err(|error| unknown_reason(home, &format!("{} is not used ({error})", folder.display())))
}

fn socket_of(means: Env<'_>, home: &ChangeStore, id: &str) -> Result<PathBuf, String> {
    let found = sockets_of(means, home)?.into_iter().find(|(found, _)| found == id);
    let socket = found.map(|(_, socket)| socket).filter(|socket| is_listening(socket));
    socket.ok_or_else(|| unknown_reason(home, &format!("no guard of change {id} answers")))
}

fn is_gone(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::ConnectionRefused)
}

fn list_entry(id: &str, description: ChangeDescription) -> ListedChange {
    let ChangeDescription { number, time, user, source, via, engine, accepted, switches, simulator, status } =
        description;
    let row = ChangeRow {
        id: id.to_owned(),
        number,
        state: status.phase,
        time,
        user,
        deadline: status.deadline.clone().filter(|_| status.phase == ChangePhase::Applied),
        source,
        via,
        engine,
        writes: status.writes,
        failed: Vec::new(),
        pairs: None,
        covers_switches: false,
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
        steps: status.steps,
        overdue: false,
        comparison: None,
        migrations: Vec::new(),
        undone_by: None,
    };
    ListedChange { row, switches, simulator }
}
