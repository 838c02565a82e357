//! The events of `watch --webhook`: a thread posts them in batches, and sends again what was not accepted. It delays no sweep.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::event_store::watch_event::WatchEvent;
use crate::operations::webhook::webhook_queue::WebhookQueue;
use crate::system::http_client::{HttpClient, HttpUrl};

/// Most sweeps that wait for the thread. The events of further ones are read from the store.
const MAX_WAITING: usize = 64;

/// Requests that may fail at the end of the watch.
const END_TRIES: u32 = 3;

/// The times of deliveries.
#[derive(Clone, Copy, Debug)]
pub struct WebhookTimes {
    /// For a request as a whole.
    pub request: Duration,
    /// Until a request is repeated for the first time. Each further failure doubles it.
    pub first_retry: Duration,
    pub longest_retry: Duration,
    /// For the request under way and what is left, at the end of the watch.
    pub end: Duration,
}

impl Default for WebhookTimes {
    fn default() -> Self {
        Self {
            request: Duration::from_secs(10),
            first_retry: Duration::from_millis(200),
            longest_retry: Duration::from_secs(300),
            end: Duration::from_secs(5),
        }
    }
}

/// What a request has.
#[derive(Serialize)]
struct WebhookBody<'e> {
    schema: &'static str,
    fabric: &'e str,
    source: &'e str,
    events: Vec<WebhookEvent<'e>>,
}

#[derive(Serialize)]
struct WebhookEvent<'e> {
    id: String,
    time: String,
    #[serde(flatten)]
    event: &'e WatchEvent,
}

/// The events of a sweep.
struct SweepBatch {
    events: Vec<WatchEvent>,
    all_stored: bool,
}

/// What the thread and the watch both know.
#[derive(Debug, Default)]
struct WebhookReports {
    messages: Mutex<Vec<String>>,
    /// The last of all messages, which is not repeated.
    last: Mutex<String>,
    /// The newest event that found no room on the way to the thread.
    left_out: AtomicU64,
}

impl WebhookReports {
    fn add(&self, message: String) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if *last != message {
            tracing::warn!("{message}");
            last.clone_from(&message);
            self.messages.lock().unwrap_or_else(PoisonError::into_inner).push(message);
        }
    }
}

/// Posts events to an address.
#[derive(Debug)]
pub struct WebhookSender {
    client: Arc<HttpClient>,
    /// The address as it was given, which identifies the queue.
    receiver: String,
    times: WebhookTimes,
    reports: Arc<WebhookReports>,
    thread: Option<WebhookThread>,
}

#[derive(Debug)]
struct WebhookThread {
    waiting: SyncSender<SweepBatch>,
    /// Is closed when the thread ends.
    ended: Receiver<()>,
}

impl WebhookSender {
    /// `ca`: the file of the authorities that the receiver's certificate is checked against.
    pub fn new(url: &str, ca: Option<&Path>, times: WebhookTimes) -> Result<Self, Failure> {
        let refused = |why: String| {
            let what = format!("FD-7370: the address of the webhook: {why}; give one as https://HOST/PATH");
            Failure::usage(what)
        };
        let parsed = HttpUrl::parse(url).map_err(refused)?;
        let shown = parsed.to_string();
        let client = HttpClient::new(parsed, ca, times.request).map_err(|why| {
            Failure::new(
                Exit::BadInput,
                format!("FD-7371: the webhook {shown}: its certificate cannot be checked: {why}"),
            )
        })?;
        let (client, reports) = (Arc::new(client), Arc::default());
        Ok(Self { client, receiver: url.to_owned(), times, reports, thread: None })
    }

    /// Whether the queue is open. It is once the fabric, and so its store, is known.
    pub fn is_started(&self) -> bool {
        self.thread.is_some()
    }

    /// Passes events on. `all_stored`: the store has them, and all before them.
    pub fn receive(&mut self, events: &[WatchEvent], all_stored: bool) {
        let Some(thread) = &self.thread else { return };
        let batch = SweepBatch { events: events.to_vec(), all_stored };
        if thread.waiting.try_send(batch).is_err() {
            let newest = events.last().map_or(0, |event| event.number);
            self.reports.left_out.fetch_max(newest, Ordering::SeqCst);
        }
    }

    /// Starts the thread on the store in a folder. `first`: events of the sweep that is the first of this run. What waits from
    /// runs before is sent.
    pub fn start(&mut self, folder: &Path, source: &str, first: &[WatchEvent]) {
        let (source, reports) = (source.to_owned(), self.reports.clone());
        let queue = match WebhookQueue::open(folder, &self.receiver, first, &mut |line| reports.add(line)) {
            Ok(queue) => queue,
            Err(error) => {
                return reports.add(format!("{error}; the webhook gets no events until that is read"));
            }
        };
        let (waiting, inbox) = sync_channel(MAX_WAITING);
        let (end, ended) = sync_channel(0);
        let (client, times) = (self.client.clone(), self.times);
        let mut delivery =
            Delivery { client, source, times, reports, queue, failures: 0, next: Instant::now() };
        let started = std::thread::Builder::new().name("webhook".to_owned()).spawn(move || {
            delivery.run(&inbox);
            drop(end);
        });
        match started {
            Ok(_) => self.thread = Some(WebhookThread { waiting, ended }),
            Err(error) => self.reports.add(format!("no thread can be started for the webhook: {error}")),
        }
    }

    /// What the user has to know, since this was asked last.
    pub fn take_messages(&self) -> Vec<String> {
        std::mem::take(&mut self.reports.messages.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Waits until what is left is delivered, for a bounded time: the name of a host may be looked up for long. What is not
/// delivered is sent by the next watch.
impl Drop for WebhookSender {
    fn drop(&mut self) {
        if let Some(WebhookThread { waiting, ended }) = self.thread.take() {
            drop(waiting);
            let _ = ended.recv_timeout(self.times.end);
        }
    }
}

/// The work of the thread.
struct Delivery {
    client: Arc<HttpClient>,
    source: String,
    times: WebhookTimes,
    reports: Arc<WebhookReports>,
    queue: WebhookQueue,
    /// Requests that failed since the last success.
    failures: u32,
    /// When the next request is due.
    next: Instant,
}

impl Delivery {
    fn run(&mut self, inbox: &Receiver<SweepBatch>) {
        loop {
            let idle = self.queue.is_empty();
            let wait = if idle {
                Duration::from_secs(3600)
            } else {
                self.next.saturating_duration_since(Instant::now())
            };
            match inbox.recv_timeout(wait) {
                Ok(batch) => self.take(batch, inbox),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.end(),
            }
            if !self.queue.is_empty() && Instant::now() >= self.next {
                self.send_next();
            }
        }
    }

    /// Takes what waits.
    fn take(&mut self, batch: SweepBatch, inbox: &Receiver<SweepBatch>) {
        for SweepBatch { events, all_stored } in std::iter::once(batch).chain(inbox.try_iter()) {
            self.queue.push(events, all_stored);
        }
        let left_out = self.reports.left_out.swap(0, Ordering::SeqCst);
        if left_out > 0 {
            self.queue.fall_behind(left_out);
        }
    }

    /// Sends what is left, until the time is over or a request failed a few times.
    fn end(&mut self) {
        let until = Instant::now() + self.times.end;
        let mut tries = END_TRIES;
        while tries > 0 && !self.queue.is_empty() && Instant::now() < until {
            if !self.send_next() {
                tries -= 1;
                std::thread::sleep(self.times.first_retry);
            }
        }
    }

    /// Sends a batch. Returns whether it was accepted.
    fn send_next(&mut self) -> bool {
        let Self { queue, reports, .. } = self;
        let events = queue.next_batch(&mut |line| reports.add(line));
        let Some(last) = events.last().map(|event| event.number) else {
            // What waits is not stored yet.
            self.next = Instant::now() + Duration::from_secs(1);
            return false;
        };
        let result = self.client.post_json(&self.body(&events));
        let url = &self.client.url;
        match result {
            Ok(()) => {
                if let Err(error) = self.queue.confirm(last) {
                    tracing::warn!(
                        "the webhook's progress is not written, so events may come twice: {error}"
                    );
                }
                if std::mem::take(&mut self.failures) > 0 {
                    self.reports.add(format!("the webhook {url} accepts events again"));
                }
                self.next = Instant::now();
                true
            }
            Err(why) => {
                if self.failures == 0 {
                    let line = format!(
                        "FD-7373: the webhook {url} does not accept events: {why}; they wait in the store and are sent again"
                    );
                    self.reports.add(line);
                }
                self.next = Instant::now() + self.pause();
                self.failures = self.failures.saturating_add(1);
                false
            }
        }
    }

    /// Time until a request is repeated: doubled with each failure, and between half and all of that by chance, so that
    /// many watches do not come back at the same time.
    fn pause(&self) -> Duration {
        let doubled = self.times.first_retry.saturating_mul(1 << self.failures.min(20));
        let longest = doubled.min(self.times.longest_retry);
        let chance = RandomState::new().hash_one(self.failures) % 1000;
        longest.mul_f64(0.5 + chance as f64 / 2000.0)
    }

    fn body(&self, events: &[WatchEvent]) -> Vec<u8> {
        let events = events.iter().map(|event| {
            let time =
                Timestamp::from_millisecond(event.time_ms).unwrap_or_default().to_zoned(TimeZone::system());
            let time = time.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
            WebhookEvent { id: self.queue.event_id(event), time, event }
        });
        let fabric = self.queue.fabric();
        let body = WebhookBody {
            schema: "fabdeck.webhook/1",
            fabric: &fabric,
            source: &self.source,
            events: events.collect(),
        };
        // Texts and numbers always have JSON.
        serde_json::to_vec(&body).unwrap_or_default()
    }
}
