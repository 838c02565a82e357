//! Where a guard is asked: a socket in the folder of its change, a line of JSON each way.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketType, sockopt};

use super::ask::{Answer, Ask, Order};

/// How long either end waits for the other's line.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a guard that is done waits for its callers.
const SEEN_OUT: Duration = Duration::from_secs(1);
/// A longer line is no request.
const LINE_MOST: u64 = 64 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    /// Nothing was asked: there was nobody to take it.
    #[error("FD-5651: the guard of the change does not answer: {0}")]
    Silent(std::io::Error),
    /// It was asked, and what came of it is not known.
    #[error("FD-5659: the guard of the change was asked and has not answered: {0}")]
    Unanswered(std::io::Error),
    #[error("FD-5652: what answers for the guard is none: {0}")]
    NoGuard(serde_json::Error),
}

/// An open door. It ends with the process.
#[derive(Debug)]
pub struct Door {
    /// Callers that were let in and have no answer yet.
    inside: Arc<AtomicUsize>,
}

impl Door {
    /// Lets everybody in who may open the folder; each has a thread for one question.
    pub fn open(socket: &Path, orders: Sender<Order>) -> std::io::Result<Self> {
        // What a guard left behind that was killed; the lock says that none lives.
        match std::fs::remove_file(socket) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(socket)?;
        let inside = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&inside);
        thread::Builder::new().name("door".into()).spawn(move || {
            for stream in listener.incoming().flatten() {
                let (orders, caller) = (orders.clone(), Caller::enter(&counted));
                // Without a thread to be had the caller finds its stream ended.
                let _ = thread::Builder::new().spawn(move || {
                    answer(&stream, &orders);
                    drop(caller);
                });
            }
        })?;
        Ok(Self { inside })
    }

    /// Whoever was answered has the answer before the process ends.
    pub fn see_out(&self) {
        let since = Instant::now();
        while self.inside.load(Ordering::SeqCst) > 0 && since.elapsed() < SEEN_OUT {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Somebody who was let in.
struct Caller(Arc<AtomicUsize>);

impl Caller {
    fn enter(inside: &Arc<AtomicUsize>) -> Self {
        inside.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(inside))
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// One question, and its answer; what is no question gets none.
fn answer(stream: &UnixStream, orders: &Sender<Order>) -> Option<()> {
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    let mut line = String::new();
    BufReader::new(stream.take(LINE_MOST)).read_line(&mut line).ok()?;
    let ask: Ask = serde_json::from_str(&line).ok()?;
    let (reply, answered) = channel();
    orders.send(Order { ask, reply }).ok()?;
    let answer = answered.recv_timeout(PATIENCE).ok()?;
    let mut text = serde_json::to_string(&answer).ok()?;
    text.push('\n');
    let mut stream = stream;
    stream.write_all(text.as_bytes()).ok()
}

/// Asks the guard behind a socket.
pub fn call(socket: &Path, ask: &Ask) -> Result<Answer, DoorError> {
    call_within(socket, ask, PATIENCE)
}

/// The same, for somebody who has other things to do.
pub fn call_within(socket: &Path, ask: &Ask, patience: Duration) -> Result<Answer, DoorError> {
    // What is not there as a whole line is no question, and nobody acts on it.
    let asked = || {
        let mut stream = knock(socket, patience)?;
        stream.set_read_timeout(Some(patience))?;
        let mut line = serde_json::to_string(ask)?;
        line.push('\n');
        stream.write_all(line.as_bytes())?;
        Ok(stream)
    };
    let stream = asked().map_err(DoorError::Silent)?;
    let mut text = String::new();
    BufReader::new(stream).read_line(&mut text).map_err(DoorError::Unanswered)?;
    if text.is_empty() {
        return Err(DoorError::Unanswered(std::io::ErrorKind::UnexpectedEof.into()));
    }
    serde_json::from_str(&text).map_err(DoorError::NoGuard)
}

/// Before the door of a guard that has stopped callers queue, and the next one waits for a place: no longer than this either.
fn knock(socket: &Path, patience: Duration) -> std::io::Result<UnixStream> {
    let address = SocketAddrUnix::new(socket)?;
    let caller = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, net::SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_timeout(&caller, sockopt::Timeout::Send, Some(patience))?;
    net::connect(&caller, &address)?;
    Ok(caller.into())
}
