//! One client at the server: a thread that reads its frames, a thread that writes to it, and a bounded queue before the
//! writer. A client that does not read loses MADs and affects no other client.

use std::io::{ErrorKind, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::SyncSender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::inbox::FrameBuffer;
use super::wire::{DATAGRAM_FRAME, Frame, RefusalReason, encode};
use fabdeck_mad::access::AddressedMad;

/// Number of bytes that may wait for a client: a thousand MADs, besides those in its socket.
const MAX_QUEUE_BYTES: usize = 1024 * DATAGRAM_FRAME;
/// Timeout for the client's hello.
const HELLO_TIMEOUT: Duration = Duration::from_secs(5);
/// How long one write may block before the writer checks for its end.
const WRITE_TIMEOUT: Duration = Duration::from_secs(1);

/// A message from the threads of a client to the owner of the simulator.
#[derive(Debug)]
pub enum PeerMessage {
    Hello {
        client: u64,
        node: Option<String>,
    },
    Datagrams {
        client: u64,
        parcels: Vec<AddressedMad>,
    },
    Left {
        client: u64,
        why: DisconnectReason,
    },
    /// A client was not let in at all.
    Refused {
        why: String,
    },
}

/// How a client ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DisconnectReason {
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
    queue: Mutex<SendQueue>,
    more: Condvar,
}

#[derive(Debug, Default)]
struct SendQueue {
    bytes: Vec<u8>,
    /// Whether nothing may be added to the queue any more.
    ending: bool,
    waiting: bool,
}

impl Peer {
    pub fn new(client: u64, stream: UnixStream) -> std::io::Result<Self> {
        stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
        Ok(Self { client, stream, queue: Mutex::default(), more: Condvar::new() })
    }

    /// Adds a MAD to the queue. False if it is dropped, because the queue is full or the client is ending.
    pub fn push(&self, parcel: &AddressedMad) -> bool {
        let mut queue = self.queue();
        let fits = !queue.ending && queue.bytes.len() + DATAGRAM_FRAME <= MAX_QUEUE_BYTES;
        if fits {
            encode::datagram(parcel, &mut queue.bytes);
        }
        fits
    }

    /// Adds another frame. A client gets two of these at most, so they always fit.
    pub fn push_control(&self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.queue().bytes);
        self.wake_writer();
    }

    /// Lets the writer send what is in the queue.
    pub fn wake_writer(&self) {
        if self.queue().waiting {
            self.more.notify_one();
        }
    }

    /// Ends the connection after what is in the queue.
    pub fn close_after_queue(&self) {
        self.queue().ending = true;
        self.more.notify_one();
    }

    /// Sends a refusal, then ends the connection.
    pub fn refuse(&self, reason: RefusalReason, text: &str) {
        self.push_control(|to| encode::refusal(reason, text, to));
        self.close_after_queue();
    }

    /// Ends the connection now; both threads return at once.
    pub fn close_now(&self) {
        self.close_after_queue();
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Locks the queue. No code panics with the lock held, so a poisoned queue would still be consistent.
    fn queue(&self) -> MutexGuard<'_, SendQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the thread of the writer.
    pub fn run_writer(&self) {
        let mut bytes = Vec::new();
        while self.take_queued(&mut bytes) && self.write_all(&bytes) {
            bytes.clear();
        }
        self.close_now();
    }

    /// Waits for bytes to write and takes all of them. False at the end.
    fn take_queued(&self, bytes: &mut Vec<u8>) -> bool {
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
    fn write_all(&self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            match (&self.stream).write(bytes) {
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(why) if is_timeout(why.kind()) && !self.queue().ending => {}
                Err(_) => return false,
            }
        }
        true
    }

    /// Runs the thread of the reader.
    pub fn run_reader(&self, owner: &SyncSender<PeerMessage>) {
        let why = self.read_frames(owner);
        if let DisconnectReason::Garbage(text) = &why {
            self.refuse(RefusalReason::Protocol, text);
        }
        self.close_after_queue();
        // The owner may have ended already.
        let _ = owner.send(PeerMessage::Left { client: self.client, why });
    }

    fn read_frames(&self, owner: &SyncSender<PeerMessage>) -> DisconnectReason {
        let mut inbox = FrameBuffer::new();
        let node = match self.read_hello(&mut inbox) {
            Ok(node) => node,
            Err(why) => return why,
        };
        let client = self.client;
        if owner.send(PeerMessage::Hello { client, node }).is_err() {
            return DisconnectReason::Closed;
        }
        loop {
            let mut parcels = Vec::new();
            let garbage = loop {
                match inbox.next_frame() {
                    Ok(Some(Frame::Datagram(datagram))) => parcels.push(datagram.to_addressed_mad()),
                    Ok(Some(_)) => {
                        break Some("a client sends nothing but datagrams behind its hello".to_owned());
                    }
                    Ok(None) => break None,
                    Err(garbage) => break Some(garbage.to_string()),
                }
            };
            if !parcels.is_empty() && owner.send(PeerMessage::Datagrams { client, parcels }).is_err() {
                return DisconnectReason::Closed;
            }
            if let Some(garbage) = garbage {
                return DisconnectReason::Garbage(garbage);
            }
            match inbox.fill(&mut &self.stream) {
                Ok(0) => return end_of_stream(&inbox),
                Ok(_) => {}
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(_) => return end_of_stream(&inbox),
            }
        }
    }

    /// The node that the client asks for.
    fn read_hello(&self, inbox: &mut FrameBuffer) -> Result<Option<String>, DisconnectReason> {
        let until = Instant::now() + HELLO_TIMEOUT;
        loop {
            match inbox.next_frame() {
                Ok(Some(Frame::Hello { node })) => {
                    let node = node.map(str::to_owned);
                    return self
                        .stream
                        .set_read_timeout(None)
                        .map(|()| node)
                        .map_err(|_| DisconnectReason::Closed);
                }
                Ok(Some(_)) => {
                    return Err(DisconnectReason::Garbage("a client begins with its hello".to_owned()));
                }
                Err(garbage) => return Err(DisconnectReason::Garbage(garbage.to_string())),
                Ok(None) => {}
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || self.stream.set_read_timeout(Some(left)).is_err() {
                return Err(DisconnectReason::Silent);
            }
            match inbox.fill(&mut &self.stream) {
                Ok(0) => return Err(end_of_stream(inbox)),
                Ok(_) => {}
                Err(why) if why.kind() == ErrorKind::Interrupted || is_timeout(why.kind()) => {}
                Err(_) => return Err(end_of_stream(inbox)),
            }
        }
    }
}

fn end_of_stream(inbox: &FrameBuffer) -> DisconnectReason {
    if inbox.has_partial_frame() { DisconnectReason::Cut } else { DisconnectReason::Closed }
}

pub fn is_timeout(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::sync::{Arc, mpsc};
    use std::thread;

    use super::*;
    use fabdeck_mad::Mad;
    use fabdeck_mad::access::MadAddress;

    fn parcel(lid: u16) -> AddressedMad {
        AddressedMad { mad: Mad::default(), address: MadAddress { lid, queue_pair: 0, service_level: 0 } }
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
            thread::spawn(move || peer.run_writer())
        };
        let kept = (0..100_000u32)
            .filter(|_| {
                let kept = peer.push(&parcel(1));
                peer.wake_writer();
                kept
            })
            .count();
        assert!((1024..20_000).contains(&kept), "{kept}");
        assert!(peer.queue().bytes.len() <= MAX_QUEUE_BYTES);
        peer.close_now();
        writer.join().unwrap();
    }

    #[test]
    fn what_is_in_the_queue_is_written_before_the_end() {
        let (peer, mut theirs) = peer();
        assert!((0..500).all(|lid| peer.push(&parcel(lid))));
        peer.refuse(RefusalReason::Full, "no seat");
        assert!(!peer.push(&parcel(0)));
        let reader = thread::spawn(move || {
            let mut all = Vec::new();
            theirs.read_to_end(&mut all).map(|_| all)
        });
        peer.run_writer();
        let all = reader.join().unwrap().unwrap();
        assert!(all.len() > 500 * DATAGRAM_FRAME && all.ends_with(b"\x07no seat"));
    }

    fn frame_names(bytes: &[u8]) -> Vec<String> {
        let (peer, mut theirs) = peer();
        theirs.write_all(bytes).unwrap();
        theirs.shutdown(Shutdown::Write).unwrap();
        let (sender, owner) = mpsc::sync_channel(16);
        peer.run_reader(&sender);
        let short = |message| match message {
            PeerMessage::Hello { node, .. } => format!("hello {node:?}"),
            PeerMessage::Datagrams { parcels, .. } => format!("{} parcels", parcels.len()),
            PeerMessage::Left { why, .. } => format!("{why:?}"),
            PeerMessage::Refused { why } => why,
        };
        owner.try_iter().map(short).collect()
    }

    #[test]
    fn the_reader_reports_frames_and_the_end() {
        let mut good = Vec::new();
        encode::hello(Some("node01"), &mut good);
        encode::datagram(&parcel(1), &mut good);
        encode::datagram(&parcel(2), &mut good);
        assert_eq!(frame_names(&good), ["hello Some(\"node01\")", "2 parcels", "Closed"]);
        assert_eq!(frame_names(&good[..good.len() - 1]), ["hello Some(\"node01\")", "1 parcels", "Cut"]);
        let garbage = frame_names(&[&good[..], b"GET /"].concat());
        assert!(garbage[1] == "2 parcels" && garbage[2].starts_with("Garbage("), "{garbage:?}");
        assert!(
            frame_names(b"GET / HTTP/1.0\r\n\r\n")[0].starts_with("Garbage(\"a frame begins with 0x47 0x45")
        );
        assert_eq!(frame_names(b""), ["Closed"]);
        let mut twice = Vec::new();
        encode::hello(None, &mut twice);
        encode::hello(None, &mut twice);
        assert!(frame_names(&twice)[1].contains("nothing but datagrams"));
    }
}
