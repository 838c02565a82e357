//! What the watch service serves: bodies that are made once a sweep, so that no scrape waits for the fabric.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::service_metrics::{write_fabric_metrics, write_service_metrics};
use crate::operations::service::health_page::{write_health_page, write_waiting_page};
use crate::operations::service::watch_service::{ServiceStatistics, WatchedSweep};
use crate::script::answer::write_object;
use crate::script::commands::health_answer::HealthAnswer;
use crate::script::commands::metrics::rate_gauges;
use crate::script::commands::module_metrics::module_gauges;
use crate::script::commands::sensor_metrics::sensor_gauges;
use crate::script::json::ObjectHead;
use crate::system::http_server::{HttpAnswer, HttpRequest, HttpStatus, Routes};
use fabdeck_files::exporter_names::{Collection, ExporterNames, write_exporter};
use fabdeck_files::open_metrics::open_metrics;
use fabdeck_files::prometheus::{MetricSet, write_as, write_gauges, write_node_gauges};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Above this number of ports the smaller set of metrics is the default.
const MANY_PORTS: usize = 5000;

const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The forms in which metrics are asked for: as text or as OpenMetrics, plain or packed.
const FORMS: usize = 4;

/// The metrics after a sweep, in each form that was asked for.
struct MetricBodies {
    forms: [OnceLock<Arc<[u8]>>; FORMS],
}

impl MetricBodies {
    /// `wanted`: the forms to make at once.
    fn new(text: String, wanted: &[AtomicBool; FORMS]) -> Self {
        let bodies = Self { forms: Default::default() };
        // The cell is new, so it takes the text.
        let _ = bodies.forms[0].set(text.into_bytes().into());
        for (at, wanted) in wanted.iter().enumerate() {
            if wanted.load(Ordering::Relaxed) {
                bodies.form(at & 1 == 1, at & 2 == 2);
            }
        }
        bodies
    }

    fn form(&self, open: bool, gzip: bool) -> Arc<[u8]> {
        let at = usize::from(open) + 2 * usize::from(gzip);
        let cell = &self.forms[at];
        cell.get_or_init(|| match (open, gzip) {
            (_, true) => pack(&self.form(open, false)).into(),
            (true, false) => {
                let text = self.form(false, false);
                open_metrics(&String::from_utf8_lossy(&text)).into_bytes().into()
            }
            // Set from the beginning.
            (false, false) => Vec::new().into(),
        })
        .clone()
    }
}

fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory cannot fail.
    let _ = packer.write_all(bytes);
    packer.finish().unwrap_or_default()
}

/// What is served between two sweeps.
struct PublishedSweep {
    metrics: MetricBodies,
    /// The page and the JSON; `None` where nothing was read.
    page: Arc<[u8]>,
    health: Option<Arc<[u8]>>,
    /// Why the fabric cannot be read; `None` after a sweep.
    trouble: Option<String>,
}

/// The pages of the service.
pub struct Publication {
    current: Mutex<Arc<PublishedSweep>>,
    /// Forms of metrics that were asked for, which are made with each sweep.
    wanted: [AtomicBool; FORMS],
    served: ServedMetrics,
}

/// Which metrics of ports are served.
#[derive(Clone, Copy, Debug)]
pub struct ServedMetrics {
    /// `None`: by the size of the fabric.
    pub set: Option<MetricSet>,
    pub exporter: ExporterNames,
}

impl Publication {
    pub fn new(served: ServedMetrics) -> Self {
        let wanted = Default::default();
        let waiting = PublishedSweep {
            metrics: MetricBodies::new(write_service_metrics(&ServiceStatistics::default(), false), &wanted),
            page: write_waiting_page("The fabric is being read for the first time.").into_bytes().into(),
            health: None,
            trouble: Some("the fabric is being read for the first time".to_owned()),
        };
        Self { current: Mutex::new(Arc::new(waiting)), wanted, served }
    }

    fn lock(&self) -> MutexGuard<'_, Arc<PublishedSweep>> {
        // A publication is replaced as a whole, so a panic elsewhere leaves a whole one.
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn metrics(&self, request: &HttpRequest) -> HttpAnswer {
        let open = request.accept.contains("application/openmetrics-text");
        let at = usize::from(open) + 2 * usize::from(request.accepts_gzip);
        self.wanted[at].store(true, Ordering::Relaxed);
        let current = self.lock().clone();
        HttpAnswer {
            status: HttpStatus::Ok,
            content_type: if open { OPEN_METRICS } else { TEXT },
            gzip: request.accepts_gzip,
            body: current.metrics.form(open, request.accepts_gzip),
        }
    }
}

impl Routes for Publication {
    fn answer(&self, request: &HttpRequest) -> HttpAnswer {
        let body =
            |content_type, body| HttpAnswer { status: HttpStatus::Ok, content_type, gzip: false, body };
        match request.path.as_str() {
            "/metrics" => self.metrics(request),
            "/" => body("text/html; charset=utf-8", self.lock().page.clone()),
            "/health.json" => match self.lock().health.clone() {
                Some(health) => body("application/json", health),
                None => HttpAnswer::text(HttpStatus::Unavailable, "the fabric is not read"),
            },
            "/-/healthy" => HttpAnswer::text(HttpStatus::Ok, "fabdeck is running"),
            "/-/ready" => match &self.lock().trouble {
                None => HttpAnswer::text(HttpStatus::Ok, "fabdeck is ready"),
                Some(why) => HttpAnswer::text(HttpStatus::Unavailable, why),
            },
            _ => HttpAnswer::text(
                HttpStatus::NotFound,
                "there is /, /metrics, /health.json, /-/healthy and /-/ready",
            ),
        }
    }
}

impl Publication {
    pub fn publish(&self, watched: &WatchedSweep<'_>) {
        let published = PublishedSweep {
            metrics: MetricBodies::new(metrics_text(watched, self.served), &self.wanted),
            page: write_health_page(watched, &time_words(watched.time_ms)).into_bytes().into(),
            health: Some(health_json(watched).into()),
            trouble: None,
        };
        *self.lock() = Arc::new(published);
    }

    /// Values of a fabric that cannot be read are no longer served: nothing would show that they are old.
    pub fn publish_failure(&self, why: &str, statistics: &ServiceStatistics) {
        let words = format!("The fabric cannot be read, and is tried again: {why}");
        let published = PublishedSweep {
            metrics: MetricBodies::new(write_service_metrics(statistics, false), &self.wanted),
            page: write_waiting_page(&words).into_bytes().into(),
            health: None,
            trouble: Some(why.to_owned()),
        };
        *self.lock() = Arc::new(published);
    }
}

fn metrics_text(watched: &WatchedSweep<'_>, ServedMetrics { set, exporter }: ServedMetrics) -> String {
    let (look, fabric) = (watched.snapshot, watched.snapshot.fabric());
    let usual = if watched.report.checks.ports > MANY_PORTS { MetricSet::Core } else { MetricSet::All };
    let mut text = write_service_metrics(watched.statistics, true);
    text += &write_fabric_metrics(watched);
    let counters = &watched.sweep.samples;
    text += &write_as(fabric, &look.names, counters, set.unwrap_or(usual), exporter);
    let collection = Collection { counters, seconds: watched.sweep.took.as_secs_f64() };
    text += &write_exporter(fabric, &look.names, exporter, &collection);
    text += &write_gauges(fabric, &look.names, &rate_gauges(watched.rates));
    text += &write_gauges(fabric, &look.names, &module_gauges(look));
    text += &write_node_gauges(fabric, &look.names, &sensor_gauges(look));
    text
}

fn health_json(watched: &WatchedSweep<'_>) -> Vec<u8> {
    let look = watched.snapshot;
    let time = time_words(watched.time_ms);
    let head = ObjectHead {
        schema: "health",
        source: Some(&look.source),
        time: Some(&time),
        assumed: look.assumed,
        partial: look.observation.is_partial(),
        notes: &look.observation.notes,
    };
    let mut json = Vec::new();
    // Writing to memory cannot fail.
    let _ = write_object(&mut json, &head, HealthAnswer::new(watched.report, look, true));
    json
}

/// A time with the offset of this machine.
fn time_words(time_ms: i64) -> String {
    let time = Timestamp::from_millisecond(time_ms).unwrap_or_default().to_zoned(TimeZone::system());
    time.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}
