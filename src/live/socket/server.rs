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

use super::peer::{DisconnectReason, Peer, PeerMessage, is_timeout};
use super::socket_file::{ServeError, SocketFile, bind_socket};
use super::wire::{RefusalReason, encode};
use crate::simulated_traffic::lag_text;
use fabdeck_mad::access::MadTraffic;
use fabdeck_simulator::{ClientId, RatioShortfall, Simulator};

/// Largest number of clients at a time.
pub const MAX_CLIENTS: usize = 64;
/// Number of batches that may wait for the owner. If there is no room, a reader waits, and its client with it.
const MESSAGE_QUEUE: usize = 64;
/// Number of messages that the owner handles before it delivers what is due. It then delivers everything due, so that
/// no more accumulates than arrives.
const MESSAGES_PER_TURN: usize = 32;
/// How often the owner checks for its end.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// A simulator behind a socket.
#[derive(Debug)]
pub struct Server {
    listener: UnixListener,
    file: SocketFile,
    simulator: Simulator,
}

/// An event among the clients, for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ServerEvent {
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
    Behind(RatioShortfall),
}

impl fmt::Display for ServerEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Joined { client, port } => write!(f, "client {client} sits on {port}"),
            Self::Left { client, how, dropped: 0 } => write!(f, "client {client} {how}"),
            Self::Left { client, how, dropped } => {
                write!(
                    f,
                    "client {client} {how}; {dropped} datagrams for it were dropped because it did not read them"
                )
            }
            Self::Refused { why } => write!(f, "a client was refused: {why}"),
            Self::Behind(behind) => f.write_str(&lag_text(*behind)),
        }
    }
}

/// The counts of a server.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ServerSummary {
    /// Number of clients that were attached.
    pub clients: u64,
    /// Number of MADs to clients that did not read them.
    pub dropped: u64,
    /// The MADs that clients sent.
    pub traffic: MadTraffic,
    /// How far packets fell behind the time.
    pub behind: Option<RatioShortfall>,
}

impl Server {
    pub fn bind(path: &Path, simulator: Simulator) -> Result<Self, ServeError> {
        let (listener, file) = bind_socket(path)?;
        Ok(Self { listener, file, simulator })
    }

    /// Serves until `stop` is set. Then every client finds its stream closed, and the socket file is removed.
    pub fn run(self, stop: &AtomicBool, on_event: &mut dyn FnMut(&ServerEvent)) -> ServerSummary {
        let Self { listener, file, simulator } = self;
        let (sender, messages) = sync_channel(MESSAGE_QUEUE);
        let desk = Acceptor { listener, peers: Mutex::default(), stop };
        thread::scope(|scope| {
            let desk = &desk;
            let closing = StopOnDrop(desk);
            let mut owner = SimulatorOwner::new(simulator, desk, on_event);
            let accepting =
                thread::Builder::new().spawn_scoped(scope, move || desk.accept_clients(scope, &sender));
            if let Err(why) = &accepting {
                owner.emit_event(ServerEvent::Refused { why: format!("no thread can be made: {why}") });
            }
            owner.serve(&messages);
            drop(file);
            // First no more clients are let in, then all are disconnected.
            stop.store(true, Ordering::Relaxed);
            if let Ok(accepting) = accepting {
                let _ = accepting.join();
            }
            drop((closing, messages));
            owner.into_summary()
        })
    }
}

/// Accepts the clients.
struct Acceptor<'a> {
    listener: UnixListener,
    /// The clients whose threads run.
    peers: Mutex<BTreeMap<u64, Arc<Peer>>>,
    stop: &'a AtomicBool,
}

impl Acceptor<'_> {
    fn peers(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Peer>>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept_clients<'s>(&'s self, scope: &'s Scope<'s, '_>, owner: &SyncSender<PeerMessage>) {
        let mut client = 0;
        while !self.stop.load(Ordering::Relaxed) {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    client += 1;
                    self.start_client(scope, owner, client, stream);
                }
                Err(why) if is_timeout(why.kind()) || why.kind() == ErrorKind::Interrupted => {}
                // Most likely no descriptors are left; some are freed when clients end.
                Err(_) => thread::sleep(STOP_CHECK_INTERVAL),
            }
        }
    }

    fn start_client<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        owner: &SyncSender<PeerMessage>,
        client: u64,
        stream: UnixStream,
    ) {
        let Ok(peer) = Peer::new(client, stream).map(Arc::new) else { return };
        if self.peers().len() >= MAX_CLIENTS {
            // A few bytes into a fresh socket never block.
            peer.refuse(
                RefusalReason::Full,
                &format!("it has {MAX_CLIENTS} clients, the most that it serves"),
            );
            peer.run_writer();
            let why = format!("{MAX_CLIENTS} are there already");
            let _ = owner.send(PeerMessage::Refused { why });
            return;
        }
        self.peers().insert(client, Arc::clone(&peer));
        let (reads, reader_owner) = (Arc::clone(&peer), owner.clone());
        let reader = thread::Builder::new().spawn_scoped(scope, move || reads.run_reader(&reader_owner));
        let writes = Arc::clone(&peer);
        let writer = reader.and_then(|_| {
            thread::Builder::new().spawn_scoped(scope, move || {
                writes.run_writer();
                // The writer is the last of the two threads, so its end frees the place.
                self.peers().remove(&client);
            })
        });
        if let Err(why) = writer {
            peer.close_now();
            self.peers().remove(&client);
            let _ = owner.send(PeerMessage::Refused { why: format!("no thread can be made: {why}") });
        }
    }
}

/// Ends all threads of the clients, also if the owner panics.
struct StopOnDrop<'a>(&'a Acceptor<'a>);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Relaxed);
        self.0.peers().values().for_each(|peer| peer.close_now());
    }
}

/// A client that is attached to the fabric.
struct SeatedClient {
    seat: ClientId,
    peer: Arc<Peer>,
    dropped: u64,
}

/// The thread that owns the simulator.
struct SimulatorOwner<'a> {
    simulator: Simulator,
    desk: &'a Acceptor<'a>,
    start: Instant,
    clients: BTreeMap<u64, SeatedClient>,
    /// The client of each seat.
    seats: FxHashMap<ClientId, u64>,
    /// The clients whose queue has grown since the writers were last woken.
    fed: Vec<u64>,
    served: u64,
    dropped: u64,
    /// Whether it was reported that packets fell behind.
    behind: bool,
    on_event: &'a mut dyn FnMut(&ServerEvent),
}

impl<'a> SimulatorOwner<'a> {
    fn new(simulator: Simulator, desk: &'a Acceptor<'a>, on_event: &'a mut dyn FnMut(&ServerEvent)) -> Self {
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

    fn serve(&mut self, messages: &Receiver<PeerMessage>) {
        while !self.desk.stop.load(Ordering::Relaxed) {
            let idle = self.deliver_due();
            match messages.recv_timeout(idle.min(STOP_CHECK_INTERVAL)) {
                Ok(message) => self.handle_message(message),
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return,
            }
            for _ in 1..MESSAGES_PER_TURN {
                match messages.try_recv() {
                    Ok(message) => self.handle_message(message),
                    Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
                }
            }
        }
    }

    /// Delivers what is due. Returns the time until the next delivery.
    fn deliver_due(&mut self) -> Duration {
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
        if let Some(behind) = self.simulator.fabric().ratio_shortfall().filter(|_| !self.behind) {
            self.behind = true;
            self.emit_event(ServerEvent::Behind(behind));
        }
        self.fed.sort_unstable();
        self.fed.dedup();
        for client in self.fed.drain(..) {
            if let Some(seated) = self.clients.get(&client) {
                seated.peer.wake_writer();
            }
        }
        self.simulator
            .next_event_time()
            .map_or(STOP_CHECK_INTERVAL, |due| due.saturating_sub(self.start.elapsed()))
    }

    fn handle_message(&mut self, message: PeerMessage) {
        match message {
            PeerMessage::Datagrams { client, parcels } => {
                let Some(seated) = self.clients.get(&client) else { return };
                let now = self.start.elapsed();
                for parcel in &parcels {
                    self.simulator.send(seated.seat, now, parcel);
                }
            }
            PeerMessage::Hello { client, node } => self.attach_client(client, node.as_deref()),
            PeerMessage::Left { client, why } => self.detach_client(client, why),
            PeerMessage::Refused { why } => self.emit_event(ServerEvent::Refused { why }),
        }
    }

    fn attach_client(&mut self, client: u64, node: Option<&str>) {
        let Some(peer) = self.desk.peers().get(&client).cloned() else { return };
        match self.simulator.attach(node) {
            Ok(seat) => {
                let local = self.simulator.local_port(seat);
                peer.push_control(|to| encode::welcome(&local, to));
                self.seats.insert(seat, client);
                self.clients.insert(client, SeatedClient { seat, peer, dropped: 0 });
                self.served += 1;
                self.emit_event(ServerEvent::Joined { client, port: local.name });
            }
            Err(why) => {
                let why = why.to_string();
                peer.refuse(RefusalReason::Node, &why);
                self.emit_event(ServerEvent::Refused { why });
            }
        }
    }

    fn detach_client(&mut self, client: u64, why: DisconnectReason) {
        let Some(SeatedClient { seat, dropped, .. }) = self.clients.remove(&client) else {
            // A connection without a hello may only have tested whether there is a server.
            let why = match why {
                DisconnectReason::Closed => return,
                DisconnectReason::Cut => "it disconnected during its hello".to_owned(),
                DisconnectReason::Silent => "it sent no hello".to_owned(),
                DisconnectReason::Garbage(what) => what,
            };
            return self.emit_event(ServerEvent::Refused { why });
        };
        self.seats.remove(&seat);
        self.simulator.detach(seat);
        self.dropped += dropped;
        let how = match why {
            DisconnectReason::Closed | DisconnectReason::Silent => "left".to_owned(),
            DisconnectReason::Cut => "disconnected during a frame".to_owned(),
            DisconnectReason::Garbage(what) => format!("was disconnected: {what}"),
        };
        self.emit_event(ServerEvent::Left { client, how, dropped });
    }

    fn emit_event(&mut self, event: ServerEvent) {
        (self.on_event)(&event);
    }

    fn into_summary(self) -> ServerSummary {
        let seated: u64 = self.clients.values().map(|seated| seated.dropped).sum();
        ServerSummary {
            clients: self.served,
            dropped: self.dropped + seated,
            traffic: self.simulator.traffic().clone(),
            behind: self.simulator.fabric().ratio_shortfall(),
        }
    }
}
