//! The guard's socket: one line of JSON each way. The kernel says which user asks; the owner's configuration says what
//! that user may ask.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketType, sockopt};

use super::ask::{Answer, Ask, Description, Order, Question, Status, decided};
use super::refusals::Refusals;
use super::rights::{Caller, Rights, refusal};
use crate::journal::Begun;
use crate::system::OpenDoor;

/// Timeout of either end for the other's line.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a guard that is done waits for its callers.
const SEEN_OUT: Duration = Duration::from_secs(1);
/// Number of callers that are served at once, for the owner and root, and for all others. Each has a thread.
const CALLERS_MOST: usize = 64;
/// Longest request in bytes.
const LINE_MOST: u64 = 64 * 1024;
/// Longest answer in bytes: many times the switches of a large fabric.
const ANSWER_MOST: u64 = 64 * 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    /// The request was not sent: no process took it.
    #[error("FD-5651: the guard of the change does not answer: {0}")]
    Silent(std::io::Error),
    /// The request was sent, and its outcome is unknown.
    #[error("FD-5659: the guard of the change was asked and has not answered: {0}")]
    Unanswered(std::io::Error),
    #[error("FD-5652: what answers for the guard is none: {0}")]
    NoGuard(serde_json::Error),
}

/// An open socket of a guard. It ends with the process.
#[derive(Debug)]
pub struct Door {
    /// Callers that were accepted and have no answer yet.
    inside: Arc<Callers>,
    policy: Arc<AccessPolicy>,
}

/// What callers may ask, and where refusals are logged.
#[derive(Debug)]
pub struct AccessPolicy {
    pub begun: Begun,
    /// What users other than the owner and root may ask.
    pub rights: Rights,
    pub refusals: Refusals,
    /// Whether such a user sent a request: that user cannot read in the journal how the change ended.
    pub asked_by_others: AtomicBool,
}

impl Door {
    /// Opens the socket and serves each caller in a thread of its own.
    pub fn open(socket: &Path, orders: Sender<Order>, policy: AccessPolicy) -> std::io::Result<Self> {
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
                    answer(&stream, &orders, &held);
                    drop(slot);
                });
            }
        })?;
        Ok(Self { inside, policy })
    }

    /// Reports the end of the change, as long as users who cannot read the journal may ask again.
    fn report_end(&self, orders: &Receiver<Order>, status: &Status) {
        const REPORTED: Duration = Duration::from_secs(2);
        // A pending change soon has another guard, which answers.
        if status.phase.is_pending() || !self.policy.asked_by_others.load(Ordering::SeqCst) {
            return;
        }
        let since = Instant::now();
        while let Ok(order) = orders.recv_timeout(REPORTED.saturating_sub(since.elapsed())) {
            // The caller may have closed its end.
            let _ = order.reply.send(match order.ask {
                Ask::Status => Answer::Status(status.clone()),
                _ => Answer::Refused { why: decided(&status.id, status.phase) },
            });
        }
    }

    /// Waits for a limited time until every caller has its answer.
    fn see_out(&self) {
        let since = Instant::now();
        while self.inside.count() > 0 && since.elapsed() < SEEN_OUT {
            thread::sleep(Duration::from_millis(1));
        }
        self.policy.refusals.flush();
    }
}

impl OpenDoor for Door {
    fn close(&self, orders: Receiver<Order>, status: &Status) {
        self.report_end(&orders, status);
        drop(orders);
        self.see_out();
    }
}

/// Number of callers that are being served. The owner and root have places of their own, which other users cannot use
/// up.
#[derive(Debug, Default)]
struct Callers {
    own: AtomicUsize,
    others: AtomicUsize,
}

impl Callers {
    fn count(&self) -> usize {
        self.own.load(Ordering::SeqCst) + self.others.load(Ordering::SeqCst)
    }

    fn place(&self, is_other: bool) -> &AtomicUsize {
        if is_other { &self.others } else { &self.own }
    }
}

/// One caller's place, from accepting the connection to its answer.
struct CallerSlot {
    inside: Arc<Callers>,
    is_other: bool,
}

impl CallerSlot {
    /// Takes a place; `None` if there is none.
    fn begin(inside: &Arc<Callers>, stream: &UnixStream) -> Option<Self> {
        let uid = sockopt::socket_peercred(stream).ok()?.uid.as_raw();
        let is_other = uid != own_uid() && uid != 0;
        if inside.place(is_other).load(Ordering::SeqCst) >= CALLERS_MOST {
            return None;
        }
        inside.place(is_other).fetch_add(1, Ordering::SeqCst);
        Some(Self { inside: Arc::clone(inside), is_other })
    }
}

impl Drop for CallerSlot {
    fn drop(&mut self) {
        self.inside.place(self.is_other).fetch_sub(1, Ordering::SeqCst);
    }
}

impl AccessPolicy {
    /// The request in the name of its caller, or the refusal of a caller without the right.
    pub fn admit(&self, ask: Ask, caller: &Caller, owner: u32) -> Result<Ask, Box<Answer>> {
        if caller.uid != owner {
            self.asked_by_others.store(true, Ordering::SeqCst);
        }
        if self.rights.allow(&ask, caller, owner) {
            let user = caller.signature(ask.user()).to_owned();
            return Ok(ask.signed(&user));
        }
        let why = refusal(&ask, caller);
        self.refusals.add(&caller.name, &format!("{}: {why}", ask.word()));
        Err(Box::new(Answer::Refused { why }))
    }
}

/// Reads one request and answers it. A line that is no request gets no answer.
fn answer(stream: &UnixStream, orders: &Sender<Order>, policy: &AccessPolicy) -> Option<()> {
    let caller = Caller::of(stream).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    let mut line = String::new();
    BufReader::new(stream.take(LINE_MOST)).read_line(&mut line).ok()?;
    let question: Question = serde_json::from_str(&line).ok()?;
    let answer = match policy.admit(question.ask(), &caller, own_uid()) {
        Ok(ask) => {
            let (reply, answered) = channel();
            orders.send(Order { ask, reply }).ok()?;
            answered.recv_timeout(PATIENCE).ok()?
        }
        Err(refused) => *refused,
    };
    let mut text = match (question, answer) {
        (Question::Describe, Answer::Status(status)) => {
            serde_json::to_string(&Description::of(&policy.begun, status))
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
pub fn describe(socket: &Path, timeout: Duration) -> Result<Result<Description, String>, DoorError> {
    let text = exchange(socket, &Question::Describe, timeout)?;
    if let Ok(Answer::Refused { why }) = serde_json::from_str(&text) {
        return Ok(Err(why));
    }
    serde_json::from_str(&text).map(Ok).map_err(DoorError::NoGuard)
}

/// Sends a request to the guard behind a socket, with the usual timeout.
pub fn call(socket: &Path, ask: &Ask) -> Result<Answer, DoorError> {
    call_within(socket, ask, PATIENCE)
}

/// Sends a request to the guard behind a socket.
pub fn call_within(socket: &Path, ask: &Ask, patience: Duration) -> Result<Answer, DoorError> {
    let text = exchange(socket, &Question::Ask(ask.clone()), patience)?;
    serde_json::from_str(&text).map_err(DoorError::NoGuard)
}

/// Sends one line and reads one.
fn exchange(socket: &Path, question: &Question, timeout: Duration) -> Result<String, DoorError> {
    // A line that is not sent completely is no request, and the guard does not act on it.
    let asked = || {
        let mut stream = connect(socket, timeout)?;
        stream.set_read_timeout(Some(timeout))?;
        let mut line = serde_json::to_string(question)?;
        line.push('\n');
        stream.write_all(line.as_bytes())?;
        Ok(stream)
    };
    let stream = asked().map_err(DoorError::Silent)?;
    let mut text = String::new();
    BufReader::new(stream.take(ANSWER_MOST)).read_line(&mut text).map_err(DoorError::Unanswered)?;
    if text.is_empty() {
        return Err(DoorError::Unanswered(ErrorKind::UnexpectedEof.into()));
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
