//! Where the events of `watch` go besides stdout: the journal of systemd, a syslog daemon, and a program of the site.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

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

/// Sends events to the journal.
#[derive(Debug)]
pub struct JournalEvents(pub LogSocket);

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
        report_loss("the journal", event, self.0.send(&entry));
    }
}

/// Sends events to the syslog daemon.
#[derive(Debug)]
pub struct SyslogEvents(pub LogSocket);

impl EventSink for SyslogEvents {
    fn receive(&mut self, event: &WatchEvent) {
        let entry = syslog_entry(level(event.severity), &message(event));
        report_loss("syslog", event, self.0.send(&entry));
    }
}

fn report_loss(place: &str, event: &WatchEvent, sent: std::io::Result<()>) {
    if let Err(error) = sent {
        tracing::warn!("event {} did not reach {place}: {error}", event.number);
    }
}

/// Runs a program for each event, one after the other in a thread of its own, so that it delays no sweep.
#[derive(Debug)]
pub struct ProgramEvents {
    waiting: Option<SyncSender<WatchEvent>>,
    thread: Option<JoinHandle<()>>,
    /// Number of events that did not find room.
    lost: u64,
}

impl ProgramEvents {
    pub fn start(program: &Path) -> Self {
        let (waiting, events) = sync_channel(MAX_WAITING);
        let program = program.to_owned();
        let thread = std::thread::spawn(move || run_for_each(&program, &events));
        Self { waiting: Some(waiting), thread: Some(thread), lost: 0 }
    }
}

impl EventSink for ProgramEvents {
    fn receive(&mut self, event: &WatchEvent) {
        let Some(waiting) = &self.waiting else { return };
        if let Err(TrySendError::Full(event)) = waiting.try_send(event.clone()) {
            self.lost += 1;
            tracing::warn!("event {} is not passed on: {MAX_WAITING} wait for the program", event.number);
        }
    }
}

/// Waits for the program that runs, and for those of the events that wait.
impl Drop for ProgramEvents {
    fn drop(&mut self) {
        self.waiting = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run_for_each(program: &Path, events: &Receiver<WatchEvent>) {
    loop {
        match events.recv_timeout(Duration::from_secs(3600)) {
            Ok(event) => run_for(program, &event),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Runs the program with the fields of an event in its environment.
fn run_for(program: &Path, event: &WatchEvent) {
    let values = [
        ("FABDECK_KIND", event.kind.clone()),
        ("FABDECK_SEVERITY", event.severity.word().to_owned()),
        ("FABDECK_TEXT", event.text.clone()),
        ("FABDECK_SUBJECT", event.subject.clone()),
        ("FABDECK_ELEMENTS", event.elements.join("\n")),
        ("FABDECK_NUMBER", event.number.to_string()),
        ("FABDECK_EVENT", serde_json::to_string(event).unwrap_or_default()),
    ];
    let mut running = match HookProcess::start(program, &values, PROGRAM_TIMEOUT) {
        Ok(running) => running,
        Err(error) => {
            tracing::warn!("event {}: {} cannot be run: {error}", event.number, program.display());
            return;
        }
    };
    let ended = loop {
        match running.poll_exit() {
            Some(ended) => break ended,
            None => std::thread::sleep(POLL_INTERVAL),
        }
    };
    if let Some(trouble) = ended.trouble {
        tracing::warn!("event {}: {}: {trouble}: {}", event.number, program.display(), ended.said);
    }
}
