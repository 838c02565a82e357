//! `watch`.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::event_lines::EventLines;
use super::event_outputs::{JournalEvents, ProgramEvents, SyslogEvents};
use super::page_service::PageService;
use super::publication::{Publication, ServedMetrics};
use crate::catalogue::danger::Danger;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::summary::count_words;
use crate::operations::environment::Env;
use crate::operations::event_store::fabric_store::FabricStore;
use crate::operations::event_store::watch_event::WatchEvent;
use crate::operations::jobs::list_source::JobSource;
use crate::operations::policy::policy_file::Policy;
use crate::operations::record::job_thread::RecordedJobList;
use crate::operations::service::service_store::StoreChoice;
use crate::operations::service::watch_event::EventSink;
use crate::operations::service::watch_service::{
    ServiceStatistics, SweepPublisher, WatchServiceRequest, WatchedSweep, run_watch_service,
};
use crate::operations::webhook::webhook_sender::{WebhookSender, WebhookTimes};
use crate::script::argument_values::duration;
use crate::script::command_entry::{CommandEntry, CommandFunction, OptionUse};
use crate::script::commands::jobs::job_args::RecordJobsArgs;
use crate::script::context::Context;
use crate::script::event_line::EventFormat;
use crate::script::json_schema::JsonSchema;
use crate::system::journal_socket::{JOURNAL_SOCKET, LogSocket, SYSLOG_SOCKET};
use crate::system::service_manager::ServiceManager;
use crate::system::web_access::access_rules::WebAccess;
use fabdeck_files::exporter_names::ExporterNames;
use fabdeck_files::prometheus::MetricSet;

pub const WATCH: CommandEntry = CommandEntry::new(
    "watch",
    "Watch a fabric as a service",
    "Reads all counters every --interval, and prints a line for each event: what changed in the fabric, and problems that \
     began, grew and ended. With --json each line is an object. --serve serves what is known over HTTP: /metrics for Prometheus, with the names of \
     the usual exporters (and OpenMetrics, if the client accepts it), / with the list of problems, /health.json with \
     the JSON of `health`, /-/healthy and /-/ready. A scrape never waits for the fabric: each sweep makes the answers \
     once. A fabric that cannot be read is read again, and nothing old is served meanwhile. Nothing is written to the \
     fabric, unless a --policy says so. The address has to be one of this machine alone (127.0.0.1, ::1), unless --web-config names a file with TLS \
     and passwords. Events and what links did are stored in the state folder, from where `events` and `ledger` list them; one watch of a \
     fabric stores at a time. docs/monitoring has rules of alerts and dashboards.",
)
.needs_fabric()
.danger(Danger::WritesFabric)
.examples(&[
    "fabdeck --source umad watch --serve 127.0.0.1:9315",
    "fabdeck --source umad watch --serve 127.0.0.1:9315 --policy policy.toml",
    "fabdeck --source sim:demo watch --interval 1s --count 5 --json",
    "fabdeck --source sim:demo watch --serve 127.0.0.1:9315 --interval 5s",
    "fabdeck --source umad watch --serve 127.0.0.1:9315 --slurm",
    "fabdeck --source umad watch --serve 0.0.0.0:9315 --web-config /etc/fabdeck/web.yml",
])
.runs(&CommandFunction(run))
.assume(OptionUse::Used)
.traps(OptionUse::Used)
.json(&[JsonSchema::events("event")]);

/// The metrics to serve.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum MetricChoice {
    /// All counters, states and the other ends of cables
    All,
    /// Data, waiting, errors and states
    Core,
}

/// The exporter whose names metrics have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ExporterChoice {
    /// The names that both exporters below have, and states as numbers
    Fabdeck,
    /// Those of treydock/infiniband_exporter too
    Treydock,
    /// Those of SckyzO/infiniband_exporter too; the state of a port is 1 or 0
    Sckyzo,
}

impl From<ExporterChoice> for ExporterNames {
    fn from(choice: ExporterChoice) -> Self {
        match choice {
            ExporterChoice::Fabdeck => Self::Fabdeck,
            ExporterChoice::Treydock => Self::Treydock,
            ExporterChoice::Sckyzo => Self::Sckyzo,
        }
    }
}

/// Whether events are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum StoreWhen {
    /// If the state folder can be written, no other watch stores the events of this fabric, and the fabric is no
    /// simulator of this process
    Auto,
    /// Otherwise the watch is refused
    Yes,
    /// Never
    No,
}

impl From<StoreWhen> for StoreChoice {
    fn from(when: StoreWhen) -> Self {
        match when {
            StoreWhen::Auto => Self::Auto,
            StoreWhen::Yes => Self::Yes,
            StoreWhen::No => Self::No,
        }
    }
}

#[derive(Debug, Args)]
pub struct WatchServiceArgs {
    /// Address and port of the service; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub serve: Option<String>,
    /// Time between two sweeps: 2s, 1m, or seconds without a unit
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration, allow_hyphen_values = true)]
    pub interval: Duration,
    /// Time for which a problem has to be absent until it counts as ended
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = duration, allow_hyphen_values = true)]
    pub recovery: Duration,
    /// Store events for `events`, and what links do for `ledger`, in the state folder
    #[arg(long, value_name = "WHEN", value_enum, default_value = "auto")]
    pub store: StoreWhen,
    /// TLS and passwords of the service: the web configuration file of Prometheus' exporters (docs/monitoring.md). With
    /// TLS and passwords, or certificates of clients, the service may have an address that other machines reach
    #[arg(long, value_name = "FILE", requires = "serve")]
    pub web_config: Option<PathBuf>,
    /// Metrics of ports (default: all, above 5000 ports core)
    #[arg(long, value_name = "SET", value_enum, requires = "serve")]
    pub metrics: Option<MetricChoice>,
    /// Exporter whose names metrics of devices and ports have, so that its dashboards and alerts work
    #[arg(long, value_name = "EXPORTER", value_enum, default_value = "fabdeck")]
    pub names_of: ExporterChoice,
    /// End after N intervals (default: until a signal). The time of a simulator then passes as fast as it is read
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// Propose to take bad links between switches out of use and back, and do so where this file and --allow-write permit
    /// it; drain nodes behind bad cables (docs/monitoring.md). `policy off` stops it at once
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    #[command(flatten)]
    pub outputs: EventOutputArgs,
    #[command(flatten)]
    pub running_jobs: RecordJobsArgs,
}

/// Where events go.
#[derive(Debug, Args)]
pub struct EventOutputArgs {
    /// Send events to the journal of systemd instead of stdout
    #[arg(long)]
    pub journald: bool,
    /// Send events to the syslog daemon (/dev/log) instead of stdout
    #[arg(long)]
    pub syslog: bool,
    /// Run this program for each event, without a shell and one after the other, each for at most 30 s; the event is in
    /// FABDECK_KIND, FABDECK_SEVERITY, FABDECK_TEXT, FABDECK_SUBJECT, FABDECK_ELEMENTS and, as JSON, in FABDECK_EVENT
    #[arg(long, value_name = "PROGRAM")]
    pub exec: Option<PathBuf>,
    /// Post events as JSON to this address (https:// or http://), up to 100 at a time, also those of a time when it did not
    /// answer or the watch did not run. They wait in the store. An address with a secret belongs into the configuration
    #[arg(long, value_name = "URL")]
    pub webhook: Option<String>,
    /// Certificates of the authorities that the webhook's certificate is checked against (default: those of the system)
    #[arg(long, value_name = "FILE")]
    pub webhook_ca: Option<PathBuf>,
}

impl EventOutputArgs {
    /// The outputs besides stdout.
    fn sinks(&self) -> Vec<Box<dyn EventSink>> {
        let mut sinks: Vec<Box<dyn EventSink>> = Vec::new();
        if self.journald {
            sinks.push(Box::new(JournalEvents::new(LogSocket::new(Path::new(JOURNAL_SOCKET)))));
        }
        if self.syslog {
            sinks.push(Box::new(SyslogEvents::new(LogSocket::new(Path::new(SYSLOG_SOCKET)))));
        }
        if let Some(program) = &self.exec {
            sinks.push(Box::new(ProgramEvents::start(program)));
        }
        sinks
    }

    /// The webhook of the options, or that of the configuration. The latter gets no events of a simulator: its readers
    /// would take them for those of their fabric.
    fn webhook_sender(&self, context: &mut Context<'_, '_>) -> Result<Option<WebhookSender>, Failure> {
        let config = &context.config.watch;
        let ca = self.webhook_ca.as_deref().or(config.webhook_ca.as_deref());
        if let Some(url) = &self.webhook {
            return WebhookSender::new(url, ca, WebhookTimes::default()).map(Some);
        }
        if self.webhook_ca.is_some() {
            return Err(Failure::usage("FD-7374: --webhook-ca without --webhook; give the address too"));
        }
        let Some(url) = &config.webhook else { return Ok(None) };
        if context.env().named_source()?.starts_with("sim:") {
            let line = "the webhook of the configuration gets no events of a simulator; --webhook sends them";
            context.output.print_message(line);
            return Ok(None);
        }
        WebhookSender::new(url, ca, WebhookTimes::default()).map(Some)
    }
}

fn run(context: &mut Context<'_, '_>, args: &WatchServiceArgs) -> Result<Exit, Failure> {
    let policy = args.policy.as_deref().map(Policy::load).transpose()?;
    let page_service =
        args.serve.as_deref().map(|text| PageService::open(text, args.web_config.as_deref())).transpose()?;
    let webhook = args.outputs.webhook_sender(context)?;
    let store = match (&webhook, args.store) {
        (None, StoreWhen::Auto) if policy.as_ref().is_some_and(Policy::may_write) => StoreChoice::Yes,
        (None, when) => when.into(),
        (Some(_), StoreWhen::No) => {
            return Err(Failure::usage(
                "FD-7372: a webhook with --store no: events wait in the store until they are delivered; leave --store out",
            ));
        }
        (Some(_), _) => StoreChoice::Yes,
    };
    let request = WatchServiceRequest {
        interval: args.interval,
        count: args.count,
        jobs: args.running_jobs.list().or_else(|| configured_jobs(context)),
        recovery: args.recovery,
        store,
        policy,
    };
    let set = args.metrics.map(|choice| match choice {
        MetricChoice::All => MetricSet::All,
        MetricChoice::Core => MetricSet::Core,
    });
    let served = ServedMetrics { set, exporter: args.names_of.into() };
    let publication = page_service.is_some().then(|| Publication::new(served));
    if let Some(url) = page_service.as_ref().and_then(PageService::url) {
        context.output.print_message(&format!("serving {url}/ and {url}/metrics; stop with Ctrl-C"));
    }
    let format = EventFormat {
        schema: "fabdeck.event/1",
        json: context.output.json,
        times: !context.options.no_times,
    };
    let ends = page_service.is_none().then(|| context.outside.stop());
    let lines = (!args.outputs.journald && !args.outputs.syslog).then(|| EventLines {
        out: context.output.take_stdout(),
        format,
        stop: ends,
        failed: None,
    });
    let mut publisher = WatchPublisher {
        publication: publication.as_ref(),
        access: page_service.as_ref().map(|service| &service.access),
        lines,
        sinks: args.outputs.sinks(),
        webhook,
        env: context.env(),
        manager: ServiceManager::of_process(),
    };
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        if let (Some(service), Some(publication)) = (&page_service, &publication) {
            let stop = &stop;
            scope.spawn(move || service.server.run(stop, publication, &service.access));
        }
        let ended = run_watch_service(&mut context.operation(), &request, &mut publisher);
        publisher.manager.report_stopping();
        stop.store(true, Ordering::SeqCst);
        ended
    })?;
    publisher.finish_outputs().iter().for_each(|message| context.output.print_message(message));
    // A reader that went away ends a watch that has no other output.
    let failed = publisher.lines.and_then(|lines| lines.failed.filter(|_| lines.stop.is_some()));
    failed.map_or(Ok(Exit::Done), |error| Err(error.into()))
}

/// Publishes to the pages of the service, and to the outputs of events.
struct WatchPublisher<'p> {
    publication: Option<&'p Publication>,
    access: Option<&'p WebAccess>,
    lines: Option<EventLines<'p>>,
    sinks: Vec<Box<dyn EventSink>>,
    webhook: Option<WebhookSender>,
    env: Env<'p>,
    manager: ServiceManager,
}

impl WatchPublisher<'_> {
    /// Waits for what the outputs still do, and returns what the user has to know of them.
    fn finish_outputs(&mut self) -> Vec<String> {
        self.sinks.iter_mut().for_each(|sink| sink.finish());
        self.sinks.iter_mut().flat_map(|sink| sink.take_messages()).collect()
    }

    fn pass_on(&mut self, events: &[WatchEvent]) {
        for event in events {
            if let Some(lines) = &mut self.lines {
                lines.receive(event);
            }
            self.sinks.iter_mut().for_each(|sink| sink.receive(event));
        }
    }
}

impl SweepPublisher for WatchPublisher<'_> {
    fn begin(&mut self) {
        self.manager.report_ready();
    }

    fn wait(&mut self) {
        self.manager.report_alive();
    }

    fn publish(&mut self, watched: &WatchedSweep<'_>, events: &[WatchEvent]) {
        self.manager.report_status(&status_line(watched));
        if let Some(publication) = self.publication {
            publication.publish(watched);
        }
        self.pass_on(events);
        if let Some(webhook) = &mut self.webhook {
            let all_stored = watched.statistics.unstored_events == Some(0);
            if !webhook.is_started()
                && let Some(store) = FabricStore::find(self.env, watched.snapshot)
            {
                webhook.start(&store.folder, &store.identity.source, events);
            }
            webhook.receive(events, all_stored);
        }
    }

    fn publish_failure(&mut self, why: &str, statistics: &ServiceStatistics, events: &[WatchEvent]) {
        if let Some(publication) = self.publication {
            publication.publish_failure(why, statistics);
        }
        self.manager.report_status(&format!("the fabric cannot be read: {why}"));
        self.pass_on(events);
        if let Some(webhook) = &mut self.webhook {
            webhook.receive(events, statistics.unstored_events == Some(0));
        }
    }

    fn take_messages(&mut self) -> Vec<String> {
        let mut messages = self.access.map(WebAccess::take_messages).unwrap_or_default();
        messages.extend(self.sinks.iter_mut().flat_map(|sink| sink.take_messages()));
        messages.extend(self.webhook.iter().flat_map(WebhookSender::take_messages));
        messages
    }
}

/// The state of the service in a line, for `systemctl status`.
fn status_line(watched: &WatchedSweep<'_>) -> String {
    let sweeps = usize::try_from(watched.statistics.sweeps).unwrap_or(usize::MAX);
    let sweeps = count_words(sweeps, "sweep", "sweeps");
    let ports = count_words(watched.interval.watched.ports, "port", "ports");
    let problems = count_words(watched.report.problems.len(), "problem", "problems");
    format!("{sweeps}; {ports} in the last one; {problems}")
}

/// The list of jobs of the configuration, if it names one.
fn configured_jobs(context: &Context<'_, '_>) -> Option<RecordedJobList> {
    let source = JobSource::default().or_configured(context.config.jobs.settings.from.as_ref());
    source.is_named().then_some(RecordedJobList { source, interval: None })
}
