//! The server: it owns the simulator, gives each client a seat in it, and lets its time pass as that of the wall does.
//!
//! ```text
//!  accept ──> a reader and a writer for each client
//!  readers ──messages──> owner of the simulator ──queues──> writers
//! ```
//!
//! The owner never waits for a client: what a queue cannot take is dropped, as a fabric does.

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

/// Clients at a time.
pub const CLIENTS_MAX: usize = 64;
/// Batches of datagrams that may wait for the owner; a reader that finds no room waits, and its client with it.
const MESSAGES: usize = 64;
/// Messages that are handled before the owner looks at what is due. All of that is handed out in one go, for it must
/// not become more than comes in.
const MESSAGES_A_TURN: usize = 32;
/// How often the owner looks whether it should stop.
const LOOK_UP: Duration = Duration::from_millis(50);

/// A simulator behind a socket.
#[derive(Debug)]
pub struct Server {
    listener: UnixListener,
    file: SocketFile,
    simulator: Simulator,
}

/// What happened among the clients, for people.
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
    /// Packets cannot follow the time any more.
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

/// What a server did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// Clients that had a seat.
    pub clients: u64,
    /// Datagrams to clients that did not read them.
    pub dropped: u64,
    /// What clients sent.
    pub traffic: Traffic,
    /// How far packets fell behind the time that passed.
    pub behind: Option<Behind>,
}

impl Server {
    pub fn bind(path: &Path, simulator: Simulator) -> Result<Self, ServeError> {
        let (listener, file) = listen(path)?;
        Ok(Self { listener, file, simulator })
    }

    /// Serves until `stop`; then every client finds its stream ended, and the socket's file is gone.
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
            // Nobody is let in any more, then everybody is shown out.
            stop.store(true, Ordering::Relaxed);
            if let Ok(accepting) = accepting {
                let _ = accepting.join();
            }
            drop((closing, messages));
            owner.summary()
        })
    }
}

/// Where clients come in.
struct Desk<'a> {
    listener: UnixListener,
    /// Those whose threads run.
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
                // No descriptors left, most likely: some will come back when clients go.
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
                // The writer is the last to go: with it a place is free.
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

/// Ends every thread of the desk, also when the owner comes to its end by a bug.
struct Closing<'a>(&'a Desk<'a>);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Relaxed);
        self.0.peers().values().for_each(|peer| peer.cut());
    }
}

/// A client that has its place in the fabric.
struct Seated {
    seat: Seat,
    peer: Arc<Peer>,
    dropped: u64,
}

/// The one that holds the simulator.
struct Owner<'a> {
    simulator: Simulator,
    desk: &'a Desk<'a>,
    start: Instant,
    clients: BTreeMap<u64, Seated>,
    /// The client on a seat.
    seats: FxHashMap<Seat, u64>,
    /// Those whose queue got something since the writers were last woken.
    fed: Vec<u64>,
    served: u64,
    dropped: u64,
    /// It was said that packets fell behind.
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

    /// Hands out what is due, and tells how long nothing else will be.
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
            // Who opens and closes a connection may only have asked whether somebody is here.
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
