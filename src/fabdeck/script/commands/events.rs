//! `events`.

use std::time::Duration;

use clap::Args;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::json_type::json_type;
use crate::operations::event_store::event_query::{EventFilter, EventReader, choose_store};
use crate::operations::event_store::fabric_store::FabricStore;
use crate::operations::event_store::store_error::StoreError;
use crate::operations::event_store::watch_event::WatchEvent;
use crate::script::answer::{Lines, json_answer};
use crate::script::argument_values::long_duration;
use crate::script::command_entry::{CommandEntry, CommandFunction};
use crate::script::context::Context;
use crate::script::event_line::EventFormat;
use crate::script::json_schema::JsonSchema;
use fabdeck_fabric::observe::escape_unprintable;

pub const EVENTS: CommandEntry = CommandEntry::new(
    "events",
    "What happened in a watched fabric",
    "Lists the events that `watch` stored, the newest last: changes of the fabric, problems that began, grew and ended, \
     changes by fabdeck. Numbers go on over restarts of the watch. --follow prints new ones as they come, with --json one \
     object a line as `watch` does, until a signal ends it. The fabric is the one that is stored, or that of --source; \
     --fabric names one of several.",
)
.examples(&[
    "fabdeck events",
    "fabdeck events --since 1d --kind link-down,link-flapped",
    "fabdeck events --top 20 --json",
    "fabdeck events --follow --json",
])
.runs(&CommandFunction(run))
.json(&[JsonSchema::answer::<EventsAnswer<'_>>("events").without_source()]);

/// Time between two looks for new events.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The fabric of a store.
#[derive(Debug, Args)]
pub struct StoreArgs {
    /// The fabric, by the name of its store: the lowest GUID of its switches (default: the one that is stored)
    #[arg(long, value_name = "GUID")]
    pub fabric: Option<String>,
}

#[derive(Debug, Args)]
pub struct EventsArgs {
    /// Only events since a time: 2h, 7d, 2026-11-02, or 2026-11-02T08:00:00Z
    #[arg(long, value_name = "TIME", value_parser = since, allow_hyphen_values = true)]
    pub since: Option<i64>,
    /// Only events of these kinds, separated by commas
    #[arg(long, value_name = "KIND,...", value_delimiter = ',')]
    pub kind: Vec<String>,
    /// Only the newest N events
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// Print new events as they come
    #[arg(long)]
    pub follow: bool,
    #[command(flatten)]
    pub store: StoreArgs,
}

/// A time that lies a while back, or a date or time, in milliseconds since 1970.
fn since(text: &str) -> Result<i64, String> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time.as_millisecond());
    }
    if let Ok(date) = text.parse::<jiff::civil::DateTime>() {
        let time = date.to_zoned(TimeZone::system()).map_err(|error| error.to_string())?;
        return Ok(time.timestamp().as_millisecond());
    }
    let back = long_duration(text)
        .map_err(|_| "write a time back (2h, 7d), a date or a time (2026-11-02T08:00:00Z)".to_owned())?;
    let back = i64::try_from(back.as_millis()).unwrap_or(i64::MAX);
    Ok(Timestamp::now().as_millisecond().saturating_sub(back))
}

json_answer! {
    pub struct EventsAnswer<'a> {
        /// The name of the store; null where nothing is stored.
        fabric: Option<String>,
        rows: Lines<'a, EventObject<'a>>,
    }
}

json_type! {
    struct EventObject<'a> {
        #[serde(skip_serializing_if = "Option::is_none")]
        time: Option<String>,
        #[serde(flatten)]
        event: &'a WatchEvent,
    }
}

fn run(context: &mut Context<'_, '_>, args: &EventsArgs) -> Result<Exit, Failure> {
    let Some(store) = choose_store(context.env(), args.store.fabric.as_deref())? else {
        return write_nothing_stored(context, args);
    };
    let kinds = args.kind.iter().map(|kind| kind.trim().to_owned()).filter(|kind| !kind.is_empty());
    let filter = EventFilter { since_ms: args.since, kinds: kinds.collect() };
    let mut reader = EventReader::new(&store, filter);
    let mut events = read_new(context, &mut reader)?;
    let older = events.len().saturating_sub(args.top.unwrap_or(usize::MAX));
    events.drain(..older);
    if args.follow {
        return follow(context, &mut reader, &events);
    }
    let times = !context.options.no_times;
    if context.output.json {
        let row = |event| EventObject { time: times.then(|| time_words(event)), event };
        let rows = Lines::of(events.iter().map(row));
        context.write_plain_answer("events", EventsAnswer { fabric: Some(store.name()), rows })?;
    } else if events.is_empty() {
        writeln!(context.output.out, "no such event is stored in {}", store.place())?;
    }
    if !context.output.json {
        for event in &events {
            let time = if times {
                format!("{} ", local_time(event).strftime("%Y-%m-%d %H:%M:%S"))
            } else {
                String::new()
            };
            writeln!(context.output.out, "{time}{}", event_words(event))?;
        }
    }
    Ok(Exit::Done)
}

/// Reads events, and prints what is damaged.
fn read_new(context: &mut Context<'_, '_>, reader: &mut EventReader) -> Result<Vec<WatchEvent>, Failure> {
    let output = &mut context.output;
    reader.read_new(&mut |line| output.print_message(&line)).map_err(store_failure)
}

pub(super) fn store_failure(error: StoreError) -> Failure {
    let exit = match error {
        StoreError::Disk { .. } => Exit::Failed,
        StoreError::Taken { .. } => Exit::Refused,
        StoreError::Damaged { .. } | StoreError::Foreign { .. } => Exit::BadInput,
    };
    Failure::new(exit, error.to_string())
}

fn write_nothing_stored(context: &mut Context<'_, '_>, args: &EventsArgs) -> Result<Exit, Failure> {
    let words = nothing_stored_words(context);
    if args.follow {
        return Err(Failure::new(Exit::Failed, format!("FD-7355: {words}")));
    }
    match context.output.json {
        true => context.write_plain_answer("events", EventsAnswer { fabric: None, rows: Lines::of([]) })?,
        false => writeln!(context.output.out, "{words}")?,
    }
    Ok(Exit::Done)
}

/// Where nothing is stored, and how to change that.
pub(super) fn nothing_stored_words(context: &Context<'_, '_>) -> String {
    let folders = context.env().state_folders();
    let folders = folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(" or ");
    format!("no watch has stored events in {folders}; `fabdeck watch` does")
}

fn follow(
    context: &mut Context<'_, '_>,
    reader: &mut EventReader,
    first: &[WatchEvent],
) -> Result<Exit, Failure> {
    let stop = context.outside.stop();
    stop.listen();
    let format = EventFormat {
        schema: "fabdeck.event/1",
        json: context.output.json,
        times: !context.options.no_times,
    };
    let write = |context: &mut Context<'_, '_>, events: &[WatchEvent]| {
        events.iter().try_for_each(|event| {
            format.write(context.output.out, &local_time(event), event, event_words(event))
        })
    };
    write(context, first)?;
    while !stop.is_requested() {
        std::thread::sleep(POLL_INTERVAL);
        let events = read_new(context, reader)?;
        write(context, &events)?;
    }
    Ok(Exit::Done)
}

fn event_words(event: &WatchEvent) -> String {
    format!("{} {}: {}", event.severity.word(), event.kind, escape_unprintable(&event.text))
}

fn local_time(event: &WatchEvent) -> Zoned {
    Timestamp::from_millisecond(event.time_ms).unwrap_or_default().to_zoned(TimeZone::system())
}

fn time_words(event: &WatchEvent) -> String {
    local_time(event).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

/// The store that a command is about.
pub(super) fn chosen_store(
    context: &Context<'_, '_>,
    args: &StoreArgs,
) -> Result<Option<FabricStore>, Failure> {
    choose_store(context.env(), args.fabric.as_deref())
}
