//! The guard's socket: one line of JSON each way. The kernel says which user asks; the owner's configuration says what
//! that user may ask.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketType, sockopt};

use super::access_policy::AccessPolicy;
use super::access_rights::Caller;
use super::protocol::{
    ChangeDescription, ChangeStatus, GuardAnswer, GuardQuery, GuardRequest, GuardSocketError, QueuedRequest,
    already_decided,
};
use crate::system::traits::ListeningSocket;

/// Timeout of either end for the other's line.
const LINE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a guard that is done waits for its callers.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);
/// Number of callers that are served at once, for the owner and root, and for all others. Each has a thread.
const MAX_CALLERS: usize = 64;
/// Longest request in bytes.
const MAX_REQUEST_BYTES: u64 = 64 * 1024;
/// Longest answer in bytes: many times the switches of a large fabric.
const MAX_ANSWER_BYTES: u64 = 64 * 1024 * 1024;

/// An open socket of a guard. It ends with the process.
#[derive(Debug)]
pub struct GuardSocket {
    /// Callers that were accepted and have no answer yet.
    inside: Arc<Callers>,
    policy: Arc<AccessPolicy>,
}

impl GuardSocket {
    /// Opens the socket and serves each caller in a thread of its own.
    pub fn open(socket: &Path, orders: Sender<QueuedRequest>, policy: AccessPolicy) -> std::io::Result<Self> {
        // A killed guard left the file behind; the lock shows that no other guard lives.
        match std::fs::remove_file(socket) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(socket)?;
        // The rights of the caller decide what it may ask, not the mode.
        fs::set_permissions(socket, Permissions::from_mode(0o666))?;
        let policy = Arc::new(policy);
        let held = Arc::clone(&policy);
        let inside = Arc::new(Callers::default());
        let counted = Arc::clone(&inside);
        thread::Builder::new().name("door".into()).spawn(move || {
            for stream in listener.incoming().flatten() {
                // A caller beyond the limit finds its stream closed, and asks again.
                let Some(slot) = CallerSlot::begin(&counted, &stream) else { continue };
                let (orders, held) = (orders.clone(), Arc::clone(&held));
                // If no thread can start, the caller finds its stream closed.
                let _ = thread::Builder::new().spawn(move || {
                    answer_caller(&stream, &orders, &held);
                    drop(slot);
                });
            }
        })?;
        Ok(Self { inside, policy })
    }

    /// Reports the end of the change, as long as users who cannot read the journal may ask again.
    fn report_end(&self, orders: &Receiver<QueuedRequest>, status: &ChangeStatus) {
        const REPORTED: Duration = Duration::from_secs(2);
        // A pending change soon has another guard, which answers.
        if status.phase.is_pending() || !self.policy.asked_by_others.load(Ordering::SeqCst) {
            return;
        }
        let since = Instant::now();
        while let Ok(order) = orders.recv_timeout(REPORTED.saturating_sub(since.elapsed())) {
            // The caller may have closed its end.
            let _ = order.reply.send(match order.ask {
                GuardRequest::Status => GuardAnswer::Status(status.clone()),
                _ => GuardAnswer::Refused { why: already_decided(&status.id, status.phase) },
            });
        }
    }

    /// Waits for a limited time until every caller has its answer.
    fn drain_callers(&self) {
        let since = Instant::now();
        while self.inside.count() > 0 && since.elapsed() < DRAIN_TIMEOUT {
            thread::sleep(Duration::from_millis(1));
        }
        self.policy.refusals.flush();
    }
}

impl ListeningSocket for GuardSocket {
    fn close(&self, orders: Receiver<QueuedRequest>, status: &ChangeStatus) {
        self.report_end(&orders, status);
        drop(orders);
        self.drain_callers();
    }
}

/// Number of callers of one other user that are served at once, so that one user leaves places to the others.
const MAX_CALLERS_OF_USER: usize = 8;

/// Number of callers that are being served. The owner and root have places of their own, which other users cannot use
/// up.
#[derive(Debug, Default)]
struct Callers {
    own: AtomicUsize,
    others: AtomicUsize,
    /// Callers of each other user.
    by_user: Mutex<BTreeMap<u32, usize>>,
}

impl Callers {
    fn count(&self) -> usize {
        self.own.load(Ordering::SeqCst) + self.others.load(Ordering::SeqCst)
    }

    fn slot_counter(&self, is_other: bool) -> &AtomicUsize {
        if is_other { &self.others } else { &self.own }
    }
}

/// One caller's place, from accepting the connection to its answer.
struct CallerSlot {
    inside: Arc<Callers>,
    /// The caller, where it is neither the owner nor root.
    other: Option<u32>,
}

impl CallerSlot {
    /// Takes a place; `None` if there is none.
    fn begin(inside: &Arc<Callers>, stream: &UnixStream) -> Option<Self> {
        let uid = sockopt::socket_peercred(stream).ok()?.uid.as_raw();
        let other = Some(uid).filter(|uid| *uid != own_uid() && *uid != 0);
        if inside.slot_counter(other.is_some()).load(Ordering::SeqCst) >= MAX_CALLERS {
            return None;
        }
        if let Some(uid) = other {
            let mut by_user = inside.by_user.lock().unwrap_or_else(PoisonError::into_inner);
            let count = by_user.entry(uid).or_default();
            if *count >= MAX_CALLERS_OF_USER {
                return None;
            }
            *count += 1;
        }
        inside.slot_counter(other.is_some()).fetch_add(1, Ordering::SeqCst);
        Some(Self { inside: Arc::clone(inside), other })
    }
}

impl Drop for CallerSlot {
    fn drop(&mut self) {
        self.inside.slot_counter(self.other.is_some()).fetch_sub(1, Ordering::SeqCst);
        if let Some(uid) = self.other {
            let mut by_user = self.inside.by_user.lock().unwrap_or_else(PoisonError::into_inner);
            by_user.entry(uid).and_modify(|count| *count -= 1);
        }
    }
}

/// Reads one request and answers it. A line that is no request gets no answer.
fn answer_caller(stream: &UnixStream, orders: &Sender<QueuedRequest>, policy: &AccessPolicy) -> Option<()> {
    let caller = Caller::of(stream).ok()?;
    stream.set_write_timeout(Some(LINE_TIMEOUT)).ok()?;
    let line = read_line_until(stream, MAX_REQUEST_BYTES, Instant::now() + LINE_TIMEOUT).ok()?;
    let question: GuardQuery = serde_json::from_str(&line).ok()?;
    let answer = match policy.authorize(question.to_request(), &caller, own_uid()) {
        Ok(ask) => {
            let (reply, answered) = channel();
            orders.send(QueuedRequest { ask, reply }).ok()?;
            answered.recv_timeout(LINE_TIMEOUT).ok()?
        }
        Err(refused) => *refused,
    };
    let mut text = match (question, answer) {
        (GuardQuery::Describe, GuardAnswer::Status(status)) => {
            serde_json::to_string(&ChangeDescription::of(&policy.begun, status))
        }
        (_, answer) => serde_json::to_string(&answer),
    }
    .ok()?;
    text.push('\n');
    let mut stream = stream;
    stream.write_all(text.as_bytes()).ok()
}

fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether a process listens at a socket. A stopped or busy guard still listens.
pub fn is_listening(socket: &Path) -> bool {
    const TIMEOUT: Duration = Duration::from_millis(100);
    match connect(socket, TIMEOUT) {
        Ok(_) => true,
        // A guard whose queue of callers is full.
        Err(error) => matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
    }
}

/// Asks the guard behind a socket what its change is; an inner `Err` is the guard's refusal.
pub fn request_description(
    socket: &Path,
    timeout: Duration,
) -> Result<Result<ChangeDescription, String>, GuardSocketError> {
    let text = exchange(socket, &GuardQuery::Describe, timeout)?;
    if let Ok(GuardAnswer::Refused { why }) = serde_json::from_str(&text) {
        return Ok(Err(why));
    }
    serde_json::from_str(&text).map(Ok).map_err(GuardSocketError::NoGuard)
}

/// Sends a request to the guard behind a socket, with the usual timeout.
pub fn send_request(socket: &Path, ask: &GuardRequest) -> Result<GuardAnswer, GuardSocketError> {
    send_request_within(socket, ask, LINE_TIMEOUT)
}

/// Sends a request to the guard behind a socket.
pub fn send_request_within(
    socket: &Path,
    ask: &GuardRequest,
    patience: Duration,
) -> Result<GuardAnswer, GuardSocketError> {
    let text = exchange(socket, &GuardQuery::Ask(ask.clone()), patience)?;
    serde_json::from_str(&text).map_err(GuardSocketError::NoGuard)
}

/// A stream with one deadline for everything that is read. A timeout of the socket begins again with each byte, so a
/// sender of one byte a second could go on for ever.
struct DeadlineStream<'s> {
    stream: &'s UnixStream,
    deadline: Instant,
}

impl Read for DeadlineStream<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(bytes)
    }
}

/// Reads a line of at most `most` bytes until a deadline.
fn read_line_until(stream: &UnixStream, most: u64, deadline: Instant) -> std::io::Result<String> {
    let mut line = String::new();
    BufReader::new(DeadlineStream { stream, deadline }.take(most)).read_line(&mut line)?;
    Ok(line)
}

/// Sends one line and reads one, all within the timeout.
fn exchange(socket: &Path, question: &GuardQuery, timeout: Duration) -> Result<String, GuardSocketError> {
    let deadline = Instant::now() + timeout;
    // A line that is not sent completely is no request, and the guard does not act on it.
    let asked = || {
        let mut stream = connect(socket, timeout)?;
        let mut line = serde_json::to_string(question)?;
        line.push('\n');
        stream.write_all(line.as_bytes())?;
        Ok(stream)
    };
    let stream = asked().map_err(GuardSocketError::Silent)?;
    let text = read_line_until(&stream, MAX_ANSWER_BYTES, deadline).map_err(GuardSocketError::Unanswered)?;
    if text.is_empty() {
        return Err(GuardSocketError::Unanswered(ErrorKind::UnexpectedEof.into()));
    }
    Ok(text)
}

/// Connects within a timeout. Callers queue at a stopped guard, and once the queue is full `connect` itself blocks.
fn connect(socket: &Path, patience: Duration) -> std::io::Result<UnixStream> {
    let address = SocketAddrUnix::new(socket)?;
    let caller = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, net::SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_timeout(&caller, sockopt::Timeout::Send, Some(patience))?;
    net::connect(&caller, &address)?;
    Ok(caller.into())
}

#[cfg(test)]
mod tests {
    use super::super::access_rights::Rights;
    use super::super::refusal_log::RefusalLog;
    use super::*;
    use crate::journal::{BeginRecord, ChangePhase, ChangeState};
    use std::sync::atomic::AtomicBool;

    fn open(socket: &Path) -> (GuardSocket, Receiver<QueuedRequest>) {
        let (sender, orders) = channel();
        let policy = AccessPolicy {
            begun: BeginRecord::default(),
            rights: Rights::default(),
            refusals: RefusalLog::with_trail(None),
            asked_by_others: AtomicBool::new(false),
        };
        (GuardSocket::open(socket, sender, policy).unwrap(), orders)
    }

    #[test]
    fn users_that_cannot_read_the_journal_are_answered_how_the_change_ended() {
        let folder = tempfile::tempdir().unwrap();
        let (socket, _orders) = open(&folder.path().join("a.sock"));
        let ended = ChangeState { phase: ChangePhase::Confirmed, ..ChangeState::new(BeginRecord::default()) };
        let ended = ChangeStatus::of(&ended);
        let answers = || {
            let (sender, orders) = channel();
            let asks = [GuardRequest::Status, GuardRequest::Confirm { user: "ada".to_owned() }];
            let replies = asks.map(|ask| {
                let (reply, answered) = channel();
                sender.send(QueuedRequest { ask, reply }).unwrap();
                answered
            });
            drop(sender);
            socket.report_end(&orders, &ended);
            replies.map(|answered| answered.try_recv().ok())
        };
        assert!(matches!(answers(), [None, None]), "all callers can read it");
        socket.policy.asked_by_others.store(true, Ordering::SeqCst);
        let [Some(GuardAnswer::Status(status)), Some(GuardAnswer::Refused { why })] = answers() else {
            panic!("no answer");
        };
        assert_eq!((status.phase, why), (ChangePhase::Confirmed, already_decided(&ended.id, ended.phase)));
    }

    #[test]
    fn a_guard_that_is_done_waits_for_callers_without_an_answer() {
        let folder = tempfile::tempdir().unwrap();
        let (socket, _orders) = open(&folder.path().join("a.sock"));
        let (stream, _other) = UnixStream::pair().unwrap();
        let slot = CallerSlot::begin(&socket.inside, &stream).unwrap();
        let answered = thread::spawn(move || {
            thread::sleep(Duration::from_millis(30));
            drop(slot);
        });
        socket.drain_callers();
        assert_eq!(socket.inside.count(), 0);
        answered.join().unwrap();
    }
}
