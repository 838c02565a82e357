//! The server: it owns the simulator, attaches each client to a node, and advances the time of the simulator with the
//! wall clock.
//!
//! ```text
//!  accept ──> a reader and a writer for each client
//!  readers ──messages──> owner of the simulator ──queues──> writers
//! ```
//!
//! The owner never waits for a client: it drops what a queue cannot take, as a fabric does.

use std::collections::BTreeMap;
use std::fmt;
use std::io::ErrorKind;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use super::listen::{ServeError, SocketFile, listen};
use super::peer::{Leave, Message, Peer, is_late};
use super::wire::{Reason, encode};
use crate::carried::behind_words;
use fabdeck_mad::access::Traffic;
use fabdeck_simulator::{Behind, Seat, Simulator};

/// Largest number of clients at a time.
pub const CLIENTS_MAX: usize = 64;
/// Number of batches that may wait for the owner. If there is no room, a reader waits, and its client with it.
const MESSAGES: usize = 64;
/// Number of messages that the owner handles before it delivers what is due. It then delivers everything due, so that
/// no more accumulates than arrives.
const MESSAGES_A_TURN: usize = 32;
/// How often the owner checks for its end.
const LOOK_UP: Duration = Duration::from_millis(50);

/// A simulator behind a socket.
#[derive(Debug)]
pub struct Server {
    listener: UnixListener,
    file: SocketFile,
    simulator: Simulator,
}

/// An event among the clients, for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    Joined {
        client: u64,
        port: String,
    },
    Left {
        client: u64,
        how: String,
        dropped: u64,
    },
    Refused {
        why: String,
    },
    /// Packets no longer keep up with the time.
    Behind(Behind),
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Joined { client, port } => write!(f, "client {client} sits on {port}"),
            Self::Left { client, how, dropped: 0 } => write!(f, "client {client} {how}"),
            Self::Left { client, how, dropped } => {
                write!(
                    f,
                    "client {client} {how}; {dropped} datagrams for it were dropped, for it did not read"
                )
            }
            Self::Refused { why } => write!(f, "a client was refused: {why}"),
            Self::Behind(behind) => f.write_str(&behind_words(*behind)),
        }
    }
}

/// The counts of a server.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// Number of clients that were attached.
    pub clients: u64,
    /// Number of MADs to clients that did not read them.
    pub dropped: u64,
    /// The MADs that clients sent.
    pub traffic: Traffic,
    /// How far packets fell behind the time.
    pub behind: Option<Behind>,
}

impl Server {
    pub fn bind(path: &Path, simulator: Simulator) -> Result<Self, ServeError> {
        let (listener, file) = listen(path)?;
        Ok(Self { listener, file, simulator })
    }

    /// Serves until `stop` is set. Then every client finds its stream closed, and the socket file is removed.
    pub fn run(self, stop: &AtomicBool, on_event: &mut dyn FnMut(&Event)) -> Summary {
        let Self { listener, file, simulator } = self;
        let (sender, messages) = sync_channel(MESSAGES);
        let desk = Desk { listener, peers: Mutex::default(), stop };
        thread::scope(|scope| {
            let desk = &desk;
            let closing = Closing(desk);
            let mut owner = Owner::new(simulator, desk, on_event);
            let accepting = thread::Builder::new().spawn_scoped(scope, move || desk.accept(scope, &sender));
            if let Err(why) = &accepting {
                owner.tell(Event::Refused { why: format!("no thread can be made: {why}") });
            }
            owner.serve(&messages);
            drop(file);
            // First no more clients are let in, then all are disconnected.
            stop.store(true, Ordering::Relaxed);
            if let Ok(accepting) = accepting {
                let _ = accepting.join();
            }
            drop((closing, messages));
            owner.summary()
        })
    }
}

/// Accepts the clients.
struct Desk<'a> {
    listener: UnixListener,
    /// The clients whose threads run.
    peers: Mutex<BTreeMap<u64, Arc<Peer>>>,
    stop: &'a AtomicBool,
}

impl Desk<'_> {
    fn peers(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Peer>>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept<'s>(&'s self, scope: &'s Scope<'s, '_>, owner: &SyncSender<Message>) {
        let mut client = 0;
        while !self.stop.load(Ordering::Relaxed) {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    client += 1;
                    self.welcome(scope, owner, client, stream);
                }
                Err(why) if is_late(why.kind()) || why.kind() == ErrorKind::Interrupted => {}
                // Most likely no descriptors are left; some are freed when clients end.
                Err(_) => thread::sleep(LOOK_UP),
            }
        }
    }

    fn welcome<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        owner: &SyncSender<Message>,
        client: u64,
        stream: UnixStream,
    ) {
        let Ok(peer) = Peer::new(client, stream).map(Arc::new) else { return };
        if self.peers().len() >= CLIENTS_MAX {
            // A few bytes into a fresh socket never block.
            peer.refuse(Reason::Full, &format!("it has {CLIENTS_MAX} clients, which is as many as it takes"));
            peer.write();
            let why = format!("{CLIENTS_MAX} are there already");
            let _ = owner.send(Message::Refused { why });
            return;
        }
        self.peers().insert(client, Arc::clone(&peer));
        let (reads, reader_owner) = (Arc::clone(&peer), owner.clone());
        let reader = thread::Builder::new().spawn_scoped(scope, move || reads.read(&reader_owner));
        let writes = Arc::clone(&peer);
        let writer = reader.and_then(|_| {
            thread::Builder::new().spawn_scoped(scope, move || {
                writes.write();
                // The writer is the last of the two threads, so its end frees the place.
                self.peers().remove(&client);
            })
        });
        if let Err(why) = writer {
            peer.cut();
            self.peers().remove(&client);
            let _ = owner.send(Message::Refused { why: format!("no thread can be made: {why}") });
        }
    }
}

/// Ends all threads of the clients, also if the owner panics.
struct Closing<'a>(&'a Desk<'a>);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Relaxed);
        self.0.peers().values().for_each(|peer| peer.cut());
    }
}

/// A client that is attached to the fabric.
struct Seated {
    seat: Seat,
    peer: Arc<Peer>,
    dropped: u64,
}

/// The thread that owns the simulator.
struct Owner<'a> {
    simulator: Simulator,
    desk: &'a Desk<'a>,
    start: Instant,
    clients: BTreeMap<u64, Seated>,
    /// The client of each seat.
    seats: FxHashMap<Seat, u64>,
    /// The clients whose queue has grown since the writers were last woken.
    fed: Vec<u64>,
    served: u64,
    dropped: u64,
    /// Whether it was reported that packets fell behind.
    behind: bool,
    on_event: &'a mut dyn FnMut(&Event),
}

impl<'a> Owner<'a> {
    fn new(simulator: Simulator, desk: &'a Desk<'a>, on_event: &'a mut dyn FnMut(&Event)) -> Self {
        Self {
            simulator,
            desk,
            start: Instant::now(),
            clients: BTreeMap::new(),
            seats: FxHashMap::default(),
            fed: Vec::new(),
            served: 0,
            dropped: 0,
            behind: false,
            on_event,
        }
    }

    fn serve(&mut self, messages: &Receiver<Message>) {
        while !self.desk.stop.load(Ordering::Relaxed) {
            let idle = self.deliver();
            match messages.recv_timeout(idle.min(LOOK_UP)) {
                Ok(message) => self.hear(message),
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return,
            }
            for _ in 1..MESSAGES_A_TURN {
                match messages.try_recv() {
                    Ok(message) => self.hear(message),
                    Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
                }
            }
        }
    }

    /// Delivers what is due. Returns the time until the next delivery.
    fn deliver(&mut self) -> Duration {
        let now = self.start.elapsed();
        while let Some((_, seat, parcel)) = self.simulator.deliver(now) {
            let Some(client) = self.seats.get(&seat) else { continue };
            let Some(seated) = self.clients.get_mut(client) else { continue };
            if seated.peer.push(&parcel) {
                if self.fed.last() != Some(client) {
                    self.fed.push(*client);
                }
            } else {
                seated.dropped += 1;
            }
        }
        if let Some(behind) = self.simulator.world().behind().filter(|_| !self.behind) {
            self.behind = true;
            self.tell(Event::Behind(behind));
        }
        self.fed.sort_unstable();
        self.fed.dedup();
        for client in self.fed.drain(..) {
            if let Some(seated) = self.clients.get(&client) {
                seated.peer.wake();
            }
        }
        self.simulator.next().map_or(LOOK_UP, |due| due.saturating_sub(self.start.elapsed()))
    }

    fn hear(&mut self, message: Message) {
        match message {
            Message::Parcels { client, parcels } => {
                let Some(seated) = self.clients.get(&client) else { return };
                let now = self.start.elapsed();
                for parcel in &parcels {
                    self.simulator.send(seated.seat, now, parcel);
                }
            }
            Message::Hello { client, node } => self.join(client, node.as_deref()),
            Message::Left { client, why } => self.leave(client, why),
            Message::Refused { why } => self.tell(Event::Refused { why }),
        }
    }

    fn join(&mut self, client: u64, node: Option<&str>) {
        let Some(peer) = self.desk.peers().get(&client).cloned() else { return };
        match self.simulator.attach(node) {
            Ok(seat) => {
                let local = self.simulator.local(seat);
                peer.talk(|to| encode::welcome(&local, to));
                self.seats.insert(seat, client);
                self.clients.insert(client, Seated { seat, peer, dropped: 0 });
                self.served += 1;
                self.tell(Event::Joined { client, port: local.name });
            }
            Err(why) => {
                let why = why.to_string();
                peer.refuse(Reason::Node, &why);
                self.tell(Event::Refused { why });
            }
        }
    }

    fn leave(&mut self, client: u64, why: Leave) {
        let Some(Seated { seat, dropped, .. }) = self.clients.remove(&client) else {
            // A connection without a hello may only have tested whether there is a server.
            let why = match why {
                Leave::Closed => return,
                Leave::Cut => "it went away within its hello".to_owned(),
                Leave::Silent => "it did not say hello".to_owned(),
                Leave::Garbage(what) => what,
            };
            return self.tell(Event::Refused { why });
        };
        self.seats.remove(&seat);
        self.simulator.detach(seat);
        self.dropped += dropped;
        let how = match why {
            Leave::Closed | Leave::Silent => "left".to_owned(),
            Leave::Cut => "went away within a frame".to_owned(),
            Leave::Garbage(what) => format!("was put out: {what}"),
        };
        self.tell(Event::Left { client, how, dropped });
    }

    fn tell(&mut self, event: Event) {
        (self.on_event)(&event);
    }

    fn summary(self) -> Summary {
        let seated: u64 = self.clients.values().map(|seated| seated.dropped).sum();
        Summary {
            clients: self.served,
            dropped: self.dropped + seated,
            traffic: self.simulator.traffic().clone(),
            behind: self.simulator.world().behind(),
        }
    }
}
