//! Where the events of `watch` go besides stdout: the journal of systemd, a syslog daemon, and a program of the site.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::catalogue::summary::count_words;
use crate::operations::event_store::watch_event::{EventSeverity, WatchEvent};
use crate::operations::service::watch_event::EventSink;
use crate::system::journal_socket::{LogSocket, journal_entry, syslog_entry};
use fabdeck_fabric::observe::escape_unprintable;
use fabdeck_live::agent::HookProcess;

/// Most events that wait for the program. Further ones are lost, and counted.
const MAX_WAITING: usize = 1000;
/// Time after which the program is ended.
const PROGRAM_TIMEOUT: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The level of syslog and of the journal.
fn level(severity: EventSeverity) -> u8 {
    match severity {
        EventSeverity::Critical => 2,
        EventSeverity::Warning => 4,
        EventSeverity::Info => 6,
    }
}

fn message(event: &WatchEvent) -> String {
    format!("{}: {}", event.kind, escape_unprintable(&event.text))
}

/// The identity of a kind of event in the journal: the same in every version.
fn message_id(kind: &str) -> String {
    blake3::hash(format!("fabdeck.event/{kind}").as_bytes()).to_hex()[..32].to_owned()
}

/// Says once that an output takes no events, and once that it does again.
#[derive(Debug, Default)]
struct LossReport {
    /// Whether the user knows that it takes none, and how many it did not take since.
    is_reported: bool,
    lost: u64,
    messages: Vec<String>,
}

impl LossReport {
    /// `output` is its name, `outcome` whether it took the event.
    fn note(&mut self, output: &str, outcome: Result<(), String>) {
        match outcome {
            Err(why) => {
                self.lost += 1;
                self.report(output, &why);
            }
            Ok(()) if self.is_reported => {
                let lost = count_words(usize::try_from(self.lost).unwrap_or(usize::MAX), "event", "events");
                self.messages.push(format!("{output} takes events again; {lost} did not reach it"));
                (self.is_reported, self.lost) = (false, 0);
            }
            Ok(()) => self.lost = 0,
        }
    }

    fn report(&mut self, output: &str, why: &str) {
        if !std::mem::replace(&mut self.is_reported, true) {
            let advice = "events do not reach it until that is mended";
            self.messages.push(format!("FD-7375: {output} takes no events: {why}; {advice}"));
        }
    }
}

/// A daemon of this machine that takes events.
#[derive(Debug)]
struct LogDaemon {
    name: &'static str,
    socket: LogSocket,
    losses: LossReport,
}

impl LogDaemon {
    /// A daemon that does not listen is reported at once: nothing else shows where the events go.
    fn new(name: &'static str, socket: LogSocket) -> Self {
        let mut losses = LossReport::default();
        if let Err(error) = socket.probe() {
            losses.report(name, &error.to_string());
        }
        Self { name, socket, losses }
    }

    fn send(&mut self, event: &WatchEvent, entry: &[u8]) {
        let sent = self.socket.send(entry);
        if let Err(error) = &sent {
            tracing::warn!("event {} did not reach {}: {error}", event.number, self.name);
        }
        self.losses.note(self.name, sent.map_err(|error| error.to_string()));
    }
}

/// Sends events to the journal.
#[derive(Debug)]
pub struct JournalEvents(LogDaemon);

impl JournalEvents {
    pub fn new(socket: LogSocket) -> Self {
        Self(LogDaemon::new("the journal", socket))
    }
}

impl EventSink for JournalEvents {
    fn receive(&mut self, event: &WatchEvent) {
        let (level, number) = (level(event.severity).to_string(), event.number.to_string());
        let elements = event.elements.join(" ");
        let entry = journal_entry(&[
            ("MESSAGE", &message(event)),
            ("PRIORITY", &level),
            ("SYSLOG_IDENTIFIER", "fabdeck"),
            ("MESSAGE_ID", &message_id(&event.kind)),
            ("FABDECK_KIND", &event.kind),
            ("FABDECK_SUBJECT", &event.subject),
            ("FABDECK_ELEMENTS", &elements),
            ("FABDECK_NUMBER", &number),
        ]);
        self.0.send(event, &entry);
    }

    fn take_messages(&mut self) -> Vec<String> {
        std::mem::take(&mut self.0.losses.messages)
    }
}

/// Sends events to the syslog daemon.
#[derive(Debug)]
pub struct SyslogEvents(LogDaemon);

impl SyslogEvents {
    pub fn new(socket: LogSocket) -> Self {
        Self(LogDaemon::new("the syslog daemon", socket))
    }
}

impl EventSink for SyslogEvents {
    fn receive(&mut self, event: &WatchEvent) {
        let entry = syslog_entry(level(event.severity), &message(event));
        self.0.send(event, &entry);
    }

    fn take_messages(&mut self) -> Vec<String> {
        std::mem::take(&mut self.0.losses.messages)
    }
}

/// Runs a program for each event, one after the other in a thread of its own, so that it delays no sweep.
#[derive(Debug)]
pub struct ProgramEvents {
    waiting: Option<SyncSender<WatchEvent>>,
    thread: Option<JoinHandle<()>>,
    losses: Arc<Mutex<LossReport>>,
}

impl ProgramEvents {
    pub fn start(program: &Path) -> Self {
        let (waiting, events) = sync_channel(MAX_WAITING);
        let losses = Arc::<Mutex<LossReport>>::default();
        let (program, of_thread) = (program.to_owned(), losses.clone());
        let thread = std::thread::spawn(move || run_for_each(&program, &events, &of_thread));
        Self { waiting: Some(waiting), thread: Some(thread), losses }
    }
}

impl EventSink for ProgramEvents {
    fn receive(&mut self, event: &WatchEvent) {
        let Some(waiting) = &self.waiting else { return };
        if let Err(TrySendError::Full(event)) = waiting.try_send(event.clone()) {
            let why = format!("{MAX_WAITING} wait for it");
            tracing::warn!("event {} is not passed on: {why}", event.number);
            note_loss(&self.losses, Err(why));
        }
    }

    /// Waits for the program that runs, and for those of the events that wait.
    fn finish(&mut self) {
        self.waiting = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    fn take_messages(&mut self) -> Vec<String> {
        std::mem::take(&mut self.losses.lock().unwrap_or_else(PoisonError::into_inner).messages)
    }
}

fn note_loss(losses: &Mutex<LossReport>, outcome: Result<(), String>) {
    losses.lock().unwrap_or_else(PoisonError::into_inner).note("the program of --exec", outcome);
}

impl Drop for ProgramEvents {
    fn drop(&mut self) {
        self.finish();
    }
}

fn run_for_each(program: &Path, events: &Receiver<WatchEvent>, losses: &Mutex<LossReport>) {
    loop {
        match events.recv_timeout(Duration::from_secs(3600)) {
            Ok(event) => {
                let outcome = run_for(program, &event);
                if let Err(why) = &outcome {
                    tracing::warn!("event {}: {}: {why}", event.number, program.display());
                }
                note_loss(losses, outcome);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Runs the program with the fields of an event in its environment.
fn run_for(program: &Path, event: &WatchEvent) -> Result<(), String> {
    let values = [
        ("FABDECK_KIND", event.kind.clone()),
        ("FABDECK_SEVERITY", event.severity.word().to_owned()),
        ("FABDECK_TEXT", event.text.clone()),
        ("FABDECK_SUBJECT", event.subject.clone()),
        ("FABDECK_ELEMENTS", event.elements.join("\n")),
        ("FABDECK_NUMBER", event.number.to_string()),
        ("FABDECK_EVENT", serde_json::to_string(event).unwrap_or_default()),
    ];
    let mut running = HookProcess::start(program, &values, PROGRAM_TIMEOUT)
        .map_err(|error| format!("it cannot be run: {error}"))?;
    let ended = loop {
        match running.poll_exit() {
            Some(ended) => break ended,
            None => std::thread::sleep(POLL_INTERVAL),
        }
    };
    match ended.trouble {
        Some(trouble) => Err(format!("{trouble}: {}", ended.said)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixDatagram;

    fn event(number: u64) -> WatchEvent {
        WatchEvent {
            number,
            time_ms: 0,
            kind: "link-down".to_owned(),
            severity: EventSeverity::Warning,
            text: "a to b".to_owned(),
            subject: String::new(),
            elements: Vec::new(),
        }
    }

    #[test]
    fn a_daemon_that_is_away_is_reported_once_and_its_return_with_what_it_missed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut sink = SyslogEvents::new(LogSocket::new(&path));
        let messages = sink.take_messages();
        assert!(messages.len() == 1 && messages[0].starts_with("FD-7375: the syslog daemon"), "{messages:?}");
        sink.receive(&event(1));
        sink.receive(&event(2));
        assert_eq!(sink.take_messages(), [""; 0]);
        let daemon = UnixDatagram::bind(&path).unwrap();
        sink.receive(&event(3));
        assert_eq!(sink.take_messages(), ["the syslog daemon takes events again; 2 events did not reach it"]);
        let mut entry = [0; 100];
        let length = daemon.recv(&mut entry).unwrap();
        assert!(String::from_utf8_lossy(&entry[..length]).ends_with("link-down: a to b"));
        sink.receive(&event(4));
        assert_eq!(sink.take_messages(), [""; 0]);
    }

    #[test]
    fn a_program_that_cannot_be_run_is_reported_once() {
        let mut sink = ProgramEvents::start(Path::new("/nonexistent/program"));
        sink.receive(&event(1));
        sink.receive(&event(2));
        sink.finish();
        let messages = sink.take_messages();
        assert!(messages.len() == 1 && messages[0].contains("it cannot be run"), "{messages:?}");
    }
}
