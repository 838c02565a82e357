//! One client at the server: a thread that reads its frames, a thread that writes to it, and a bounded queue before the
//! writer. A client that does not read loses MADs and affects no other client.

use std::io::{ErrorKind, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::SyncSender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::inbox::Inbox;
use super::wire::{DATAGRAM_FRAME, Frame, Reason, encode};
use fabdeck_mad::access::Parcel;

/// Number of bytes that may wait for a client: a thousand MADs, besides those in its socket.
const QUEUE: usize = 1024 * DATAGRAM_FRAME;
/// Timeout for the client's hello.
const HELLO_WITHIN: Duration = Duration::from_secs(5);
/// How long one write may block before the writer checks for its end.
const WRITE_WITHIN: Duration = Duration::from_secs(1);

/// A message from the threads of a client to the owner of the simulator.
#[derive(Debug)]
pub enum Message {
    Hello {
        client: u64,
        node: Option<String>,
    },
    Parcels {
        client: u64,
        parcels: Vec<Parcel>,
    },
    Left {
        client: u64,
        why: Leave,
    },
    /// A client was not let in at all.
    Refused {
        why: String,
    },
}

/// How a client ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Leave {
    /// It closed the connection between two frames.
    Closed,
    /// It closed the connection, or was ended, within a frame.
    Cut,
    /// It sent no hello.
    Silent,
    /// It sent something that is no MAD frame.
    Garbage(String),
}

#[derive(Debug)]
pub struct Peer {
    pub client: u64,
    stream: UnixStream,
    queue: Mutex<Queue>,
    more: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    bytes: Vec<u8>,
    /// Whether nothing may be added to the queue any more.
    ending: bool,
    waiting: bool,
}

impl Peer {
    pub fn new(client: u64, stream: UnixStream) -> std::io::Result<Self> {
        stream.set_write_timeout(Some(WRITE_WITHIN))?;
        Ok(Self { client, stream, queue: Mutex::default(), more: Condvar::new() })
    }

    /// Adds a MAD to the queue. False if it is dropped, because the queue is full or the client is ending.
    pub fn push(&self, parcel: &Parcel) -> bool {
        let mut queue = self.queue();
        let fits = !queue.ending && queue.bytes.len() + DATAGRAM_FRAME <= QUEUE;
        if fits {
            encode::datagram(parcel, &mut queue.bytes);
        }
        fits
    }

    /// Adds another frame. A client gets two of these at most, so they always fit.
    pub fn talk(&self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.queue().bytes);
        self.wake();
    }

    /// Lets the writer send what is in the queue.
    pub fn wake(&self) {
        if self.queue().waiting {
            self.more.notify_one();
        }
    }

    /// Ends the connection after what is in the queue.
    pub fn end(&self) {
        self.queue().ending = true;
        self.more.notify_one();
    }

    /// Sends a refusal, then ends the connection.
    pub fn refuse(&self, reason: Reason, text: &str) {
        self.talk(|to| encode::refusal(reason, text, to));
        self.end();
    }

    /// Ends the connection now; both threads return at once.
    pub fn cut(&self) {
        self.end();
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Locks the queue. No code panics with the lock held, so a poisoned queue would still be consistent.
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the thread of the writer.
    pub fn write(&self) {
        let mut bytes = Vec::new();
        while self.take(&mut bytes) && self.send(&bytes) {
            bytes.clear();
        }
        self.cut();
    }

    /// Waits for bytes to write and takes all of them. False at the end.
    fn take(&self, bytes: &mut Vec<u8>) -> bool {
        let mut queue = self.queue();
        while queue.bytes.is_empty() && !queue.ending {
            queue.waiting = true;
            queue = self.more.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.waiting = false;
        }
        std::mem::swap(&mut queue.bytes, bytes);
        !bytes.is_empty()
    }

    /// Writes all bytes. False if the client has gone, or does not read and is to end.
    fn send(&self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            match (&self.stream).write(bytes) {
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(why) if is_late(why.kind()) && !self.queue().ending => {}
                Err(_) => return false,
            }
        }
        true
    }

    /// Runs the thread of the reader.
    pub fn read(&self, owner: &SyncSender<Message>) {
        let why = self.listen(owner);
        if let Leave::Garbage(text) = &why {
            self.refuse(Reason::Protocol, text);
        }
        self.end();
        // The owner may have ended already.
        let _ = owner.send(Message::Left { client: self.client, why });
    }

    fn listen(&self, owner: &SyncSender<Message>) -> Leave {
        let mut inbox = Inbox::new();
        let node = match self.hello(&mut inbox) {
            Ok(node) => node,
            Err(why) => return why,
        };
        let client = self.client;
        if owner.send(Message::Hello { client, node }).is_err() {
            return Leave::Closed;
        }
        loop {
            let mut parcels = Vec::new();
            let garbage = loop {
                match inbox.next() {
                    Ok(Some(Frame::Datagram(datagram))) => parcels.push(datagram.parcel()),
                    Ok(Some(_)) => {
                        break Some("a client sends nothing but datagrams behind its hello".to_owned());
                    }
                    Ok(None) => break None,
                    Err(garbage) => break Some(garbage.to_string()),
                }
            };
            if !parcels.is_empty() && owner.send(Message::Parcels { client, parcels }).is_err() {
                return Leave::Closed;
            }
            if let Some(garbage) = garbage {
                return Leave::Garbage(garbage);
            }
            match inbox.fill(&mut &self.stream) {
                Ok(0) => return gone(&inbox),
                Ok(_) => {}
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(_) => return gone(&inbox),
            }
        }
    }

    /// The node that the client asks for.
    fn hello(&self, inbox: &mut Inbox) -> Result<Option<String>, Leave> {
        let until = Instant::now() + HELLO_WITHIN;
        loop {
            match inbox.next() {
                Ok(Some(Frame::Hello { node })) => {
                    let node = node.map(str::to_owned);
                    return self.stream.set_read_timeout(None).map(|()| node).map_err(|_| Leave::Closed);
                }
                Ok(Some(_)) => return Err(Leave::Garbage("a client begins with its hello".to_owned())),
                Err(garbage) => return Err(Leave::Garbage(garbage.to_string())),
                Ok(None) => {}
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || self.stream.set_read_timeout(Some(left)).is_err() {
                return Err(Leave::Silent);
            }
            match inbox.fill(&mut &self.stream) {
                Ok(0) => return Err(gone(inbox)),
                Ok(_) => {}
                Err(why) if why.kind() == ErrorKind::Interrupted || is_late(why.kind()) => {}
                Err(_) => return Err(gone(inbox)),
            }
        }
    }
}

fn gone(inbox: &Inbox) -> Leave {
    if inbox.is_cut() { Leave::Cut } else { Leave::Closed }
}

pub fn is_late(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::sync::{Arc, mpsc};
    use std::thread;

    use super::*;
    use fabdeck_mad::Mad;
    use fabdeck_mad::access::Address;

    fn parcel(lid: u16) -> Parcel {
        Parcel { mad: Mad::default(), address: Address { lid, queue_pair: 0, service_level: 0 } }
    }

    fn peer() -> (Arc<Peer>, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        (Arc::new(Peer::new(7, ours).unwrap()), theirs)
    }

    #[test]
    fn a_client_that_does_not_read_loses_datagrams_and_takes_no_memory() {
        let (peer, _theirs) = peer();
        let writer = {
            let peer = Arc::clone(&peer);
            thread::spawn(move || peer.write())
        };
        let kept = (0..100_000u32)
            .filter(|_| {
                let kept = peer.push(&parcel(1));
                peer.wake();
                kept
            })
            .count();
        assert!((1024..20_000).contains(&kept), "{kept}");
        assert!(peer.queue().bytes.len() <= QUEUE);
        peer.cut();
        writer.join().unwrap();
    }

    #[test]
    fn what_is_in_the_queue_is_written_before_the_end() {
        let (peer, mut theirs) = peer();
        assert!((0..500).all(|lid| peer.push(&parcel(lid))));
        peer.refuse(Reason::Full, "no seat");
        assert!(!peer.push(&parcel(0)));
        let reader = thread::spawn(move || {
            let mut all = Vec::new();
            theirs.read_to_end(&mut all).map(|_| all)
        });
        peer.write();
        let all = reader.join().unwrap().unwrap();
        assert!(all.len() > 500 * DATAGRAM_FRAME && all.ends_with(b"\x07no seat"));
    }

    fn told(bytes: &[u8]) -> Vec<String> {
        let (peer, mut theirs) = peer();
        theirs.write_all(bytes).unwrap();
        theirs.shutdown(Shutdown::Write).unwrap();
        let (sender, owner) = mpsc::sync_channel(16);
        peer.read(&sender);
        let short = |message| match message {
            Message::Hello { node, .. } => format!("hello {node:?}"),
            Message::Parcels { parcels, .. } => format!("{} parcels", parcels.len()),
            Message::Left { why, .. } => format!("{why:?}"),
            Message::Refused { why } => why,
        };
        owner.try_iter().map(short).collect()
    }

    #[test]
    fn the_reader_tells_what_came_and_how_it_ended() {
        let mut good = Vec::new();
        encode::hello(Some("node01"), &mut good);
        encode::datagram(&parcel(1), &mut good);
        encode::datagram(&parcel(2), &mut good);
        assert_eq!(told(&good), ["hello Some(\"node01\")", "2 parcels", "Closed"]);
        assert_eq!(told(&good[..good.len() - 1]), ["hello Some(\"node01\")", "1 parcels", "Cut"]);
        let garbage = told(&[&good[..], b"GET /"].concat());
        assert!(garbage[1] == "2 parcels" && garbage[2].starts_with("Garbage("), "{garbage:?}");
        assert!(told(b"GET / HTTP/1.0\r\n\r\n")[0].starts_with("Garbage(\"a frame begins with 0x47 0x45"));
        assert_eq!(told(b""), ["Closed"]);
        let mut twice = Vec::new();
        encode::hello(None, &mut twice);
        encode::hello(None, &mut twice);
        assert!(told(&twice)[1].contains("nothing but datagrams"));
    }
}
