//! Reads each kind of step with its keys.

use std::time::Duration;

use toml::Spanned;
use toml::de::DeValue;

use super::book::{Apply, Expected, JobsOf, Program, Propose, Route, Task, Wait};
use super::fields::Fields;
use super::guard::Bound;
use super::rows::{Aggregate, Claim, RowsAre, TABLES};
use crate::session::Browse;
use fabdeck_change::Unanswered;
use fabdeck_fabric::{meant, resembling};
use fabdeck_routing::{ENGINES, LanesBy};

/// The kinds of steps.
pub const KINDS: &[&str] = &[
    "expect", "fail", "unmark", "preview", "route", "disable", "enable", "apply", "wait", "verify",
    "compare", "jobs", "hotspots", "lanes", "confirm", "rollback", "record", "run", "notify",
];

const TEN_MINUTES: Duration = Duration::from_secs(600);
const TEN_SECONDS: Duration = Duration::from_secs(10);
/// Stands for a number of lanes that the runbook does not give.
const UNSAID: u32 = 0;

/// Reads the value under the key of a kind.
pub fn task(fields: &mut Fields<'_, '_>, kind: &'static str) -> Option<Task> {
    let value = fields.take(kind)?;
    let words = format!("'{kind}' of {}", fields.what);
    match kind {
        "expect" => expect(fields, value, words),
        "fail" => elements(fields, kind, value).map(Task::Fail),
        "unmark" if value.get_ref().as_bool() == Some(true) => Some(Task::Unmark(Vec::new())),
        "unmark" => elements(fields, kind, value).map(Task::Unmark),
        "preview" => fields.below(value, words).map(preview),
        "route" => fields.below(value, words).and_then(route),
        "disable" => one_text(fields, kind).map(Task::Disable),
        "enable" => one_text(fields, kind).map(Task::Enable),
        "apply" => fields.below(value, words).map(apply),
        "wait" => wait(fields, value, words),
        "verify" => is_true(fields, value, words.clone()).or_else(|| fields.below(value, words).map(verify)),
        "compare" => plain(fields, value, words).then_some(Task::Compare),
        "jobs" => fields.below(value, words).map(jobs),
        "hotspots" => fields.below(value, words).map(hotspots),
        "lanes" => fields.below(value, words).map(lanes),
        "confirm" => plain(fields, value, words).then_some(Task::Confirm),
        "rollback" => plain(fields, value, words).then_some(Task::Rollback),
        "record" => fields.below(value, words).map(record),
        "run" => fields.below(value, words).and_then(run),
        _ => notify(fields, value, words),
    }
}

type Held<'r, 't> = &'r Spanned<DeValue<'t>>;

fn one_text(fields: &mut Fields<'_, '_>, kind: &'static str) -> Option<String> {
    fields.text(kind).map(|(_, text)| text)
}

/// Reads a step without options: `confirm = true`.
fn plain(fields: &Fields<'_, '_>, value: Held<'_, '_>, words: String) -> bool {
    let plain = value.get_ref().as_bool() == Some(true);
    if !plain {
        fields.reader.fault(fields.reader.line_of(value), format!("FD-9204: {words} is true"));
    }
    plain
}

fn is_true(_: &Fields<'_, '_>, value: Held<'_, '_>, _: String) -> Option<Task> {
    (value.get_ref().as_bool() == Some(true)).then(|| Task::Verify { accept: Vec::new() })
}

fn elements(fields: &Fields<'_, '_>, kind: &str, value: Held<'_, '_>) -> Option<Vec<String>> {
    let texts = fields.texts_of(value, kind);
    if texts.is_empty() {
        let line = fields.reader.line_of(value);
        fields.reader.fault(line, format!("FD-9205: '{kind}' of {} names no element", fields.what));
    }
    let texts: Vec<String> = texts.into_iter().map(|(_, text)| text).collect();
    (!texts.is_empty()).then_some(texts)
}

fn expect<'r, 't>(fields: &Fields<'r, 't>, value: Held<'r, 't>, words: String) -> Option<Task> {
    if value.get_ref().as_table().is_some() {
        let mut inner = fields.below(value, words)?;
        let rows = rows(&mut inner);
        inner.end();
        return rows.map(|rows| Task::Expect(Expected::Rows(rows)));
    }
    let texts = fields.texts_of(value, "expect");
    Some(Task::Expect(Expected::Values(fields.reader.guards(&texts))))
}

/// Reads `table`, `filter` and the claims about its rows.
fn rows(fields: &mut Fields<'_, '_>) -> Option<RowsAre> {
    let reader = fields.reader;
    let (line, id) = fields.needed("table");
    let table = table(&id);
    if table.is_none() && !id.is_empty() {
        let ids = || TABLES.iter().map(|table| table.id());
        let meant = meant(&resembling(&id, ids()));
        let known = ids().collect::<Vec<_>>().join(", ");
        reader.fault(line, format!("FD-9206: there is no table '{id}'{meant}; there are {known}"));
    }
    let filters: Vec<String> = fields.texts("filter").into_iter().map(|(_, text)| text).collect();
    let mut claims = Vec::new();
    if let Some((line, text)) = fields.text("count") {
        match Bound::parse(&text) {
            Some(bound) => claims.push(Claim::Count(bound)),
            None => {
                reader.fault(line, format!("FD-9206: '{text}' is no count; write OP NUMBER, as in '== 0'"))
            }
        }
    }
    if let Some((_, text)) = fields.text("every") {
        claims.push(Claim::Every(text));
    }
    for (key, aggregate) in Aggregate::ALL {
        if let Some((line, text)) = fields.text(key) {
            let words = text.trim().split_once(char::is_whitespace);
            match words.and_then(|(field, bound)| Some((field, Bound::parse(bound)?))) {
                Some((field, bound)) => claims.push(Claim::Field(*aggregate, field.to_owned(), bound)),
                None => reader.fault(
                    line,
                    format!("FD-9206: '{text}' is no condition; write FIELD OP NUMBER, as in 'efi <= 40'"),
                ),
            }
        }
    }
    if claims.is_empty() && reader.faults().is_empty() {
        let what =
            format!("FD-9205: {} asks for nothing; give count, every, sum, min, max or mean", fields.what);
        reader.fault(fields.line, what);
    }
    let rows = RowsAre { line: fields.line, table: table?, filter: filters.join(","), claims };
    if let Err(what) = rows.check_fields() {
        reader.fault(rows.line, format!("FD-9213: {what}"));
    }
    Some(rows)
}

fn table(id: &str) -> Option<Browse> {
    TABLES.iter().copied().find(|table| table.id() == id)
}

fn engine(fields: &Fields<'_, '_>, line: usize, id: &str) {
    if ENGINES.iter().all(|engine| engine.id != id) {
        let known = || ENGINES.iter().map(|engine| engine.id);
        let meant = meant(&resembling(id, known()));
        let known = known().collect::<Vec<_>>().join(", ");
        fields.reader.fault(line, format!("FD-9215: there is no engine '{id}'{meant}; there are {known}"));
    }
}

fn preview(mut fields: Fields<'_, '_>) -> Task {
    let engines = fields.texts("engines");
    engines.iter().for_each(|(line, id)| engine(&fields, *line, id));
    fields.end();
    Task::Preview { engines: engines.into_iter().map(|(_, id)| id).collect() }
}

fn route(mut fields: Fields<'_, '_>) -> Option<Task> {
    let (line, id) = fields.needed("engine");
    if !id.is_empty() {
        engine(&fields, line, &id);
    }
    let said = fields.number("lanes", UNSAID, 1..=15);
    let lanes = u8::try_from(said).ok().filter(|lanes| u32::from(*lanes) != UNSAID);
    let lanes_by = match fields.text("lanes_by") {
        None => LanesBy::Pair,
        Some((_, by)) if by == "pair" => LanesBy::Pair,
        Some((_, by)) if by == "destination" => LanesBy::Destination,
        Some((line, by)) => {
            let what = format!("FD-9206: 'lanes_by': lanes do not go by '{by}'; pair or destination");
            fields.reader.fault(line, what);
            LanesBy::Pair
        }
    };
    let plan = fields.path("plan");
    fields.end();
    Some(Task::Route(Route { engine: id, lanes, lanes_by, plan }))
}

fn jobs(mut fields: Fields<'_, '_>) -> Task {
    let (file, slurm) = (fields.path("file"), fields.flag("slurm"));
    let (squeue, timeout) =
        (fields.path("squeue"), fields.take("timeout").and_then(|_| fields.time("timeout")));
    if file.is_some() == slurm {
        let what = format!("FD-9205: {} has either 'file' or 'slurm = true'", fields.what);
        fields.reader.fault(fields.line, what);
    } else if !slurm && (squeue.is_some() || timeout.is_some()) {
        let what = format!("FD-9205: {}: 'squeue' and 'timeout' are for 'slurm = true'", fields.what);
        fields.reader.fault(fields.line, what);
    }
    fields.end();
    Task::Jobs(JobsOf { file, slurm, squeue, timeout })
}

/// Reads the names of accepted findings.
fn accepted(fields: &mut Fields<'_, '_>) -> Vec<String> {
    // A variable can hold all names, separated by commas.
    let each = |(line, text): (usize, String)| {
        let names: Vec<_> = text.split(',').map(|name| (line, name.trim().to_owned())).collect();
        names
    };
    let named: Vec<(usize, String)> =
        fields.texts("accept").into_iter().flat_map(each).filter(|(_, name)| !name.is_empty()).collect();
    let findings = fields.reader.known.findings;
    for (line, name) in &named {
        if !findings.contains(&name.as_str()) {
            let known = findings.join(", ");
            fields.reader.fault(*line, format!("FD-9216: '{name}' names no finding; they are {known}"));
        }
    }
    named.into_iter().map(|(_, name)| name).collect()
}

fn apply(mut fields: Fields<'_, '_>) -> Task {
    let plan = fields.path("plan");
    let window = fields.text("window");
    let read = fields.reader.known.window;
    let window = window.and_then(|(line, text)| fields.time_of(line, "window", &text, read));
    let opensm = match fields.text("via") {
        None => false,
        Some((_, road)) if road == "direct" => false,
        Some((_, road)) if road == "opensm" => true,
        Some((line, road)) => {
            fields.reader.fault(line, format!("FD-9206: 'via': there is no road '{road}'; direct or opensm"));
            false
        }
    };
    let opensm_conf = fields.path("opensm_conf");
    let opensm_console = fields.text("opensm_console").and_then(|(line, text)| match text.parse() {
        Ok(address) => Some(address),
        Err(_) => {
            fields.reader.fault(line, format!("FD-9206: '{text}' is no ADDRESS:PORT"));
            None
        }
    });
    let beside_manager = fields.flag("beside_manager");
    let accept = accepted(&mut fields);
    let unanswered = unanswered(&mut fields);
    fields.end();
    Task::Apply(Apply {
        plan,
        window: window.unwrap_or(TEN_MINUTES),
        opensm,
        opensm_conf,
        opensm_console,
        beside_manager,
        accept,
        unanswered,
    })
}

/// Reads what to do when hosts do not confirm that they left the base LIDs.
fn unanswered(fields: &mut Fields<'_, '_>) -> Unanswered {
    let Some((line, word)) = fields.text("unanswered") else { return Unanswered::default() };
    match word.as_str() {
        "stop" => Unanswered::Stop,
        "wait" => Unanswered::Wait,
        "go-on" => Unanswered::GoOn,
        _ => {
            let why = format!("FD-9206: 'unanswered': there is no '{word}'; stop, wait or go-on");
            fields.reader.fault(line, why);
            Unanswered::default()
        }
    }
}

fn verify(mut fields: Fields<'_, '_>) -> Task {
    let accept = accepted(&mut fields);
    fields.end();
    Task::Verify { accept }
}

fn wait<'r, 't>(fields: &mut Fields<'r, 't>, value: Held<'r, 't>, words: String) -> Option<Task> {
    if value.get_ref().as_table().is_none() {
        return fields.time("wait").map(|time| Task::Wait(Wait::Time(time)));
    }
    let mut inner = fields.below(value, words.clone())?;
    let every = inner.time("every").unwrap_or(Duration::from_secs(2));
    let timeout = match inner.take("timeout") {
        Some(_) => inner.time("timeout").unwrap_or(TEN_MINUTES),
        None => {
            inner.needed("timeout");
            TEN_MINUTES
        }
    };
    let wait = match (inner.take("until"), inner.take("file")) {
        (Some(until), None) => {
            let mut below = inner.below(until, format!("'until' of {}", fields.what))?;
            let rows = rows(&mut below);
            below.end();
            rows.map(|rows| Wait::Until { rows, timeout, every })
        }
        (None, Some(_)) => inner.path("file").map(|file| Wait::File { file, timeout, every }),
        _ => {
            fields
                .reader
                .fault(inner.line, format!("FD-9205: {words} has either 'until' or 'file', or is a time"));
            None
        }
    };
    inner.end();
    wait.map(Task::Wait)
}

fn hotspots(mut fields: Fields<'_, '_>) -> Task {
    let interval = fields.time("interval").unwrap_or(TEN_SECONDS);
    let count = fields.number("count", 1, 1..=100_000);
    fields.end();
    Task::Hotspots { interval, count }
}

fn lanes(mut fields: Fields<'_, '_>) -> Task {
    let interval = fields.time("interval").unwrap_or(TEN_SECONDS);
    let count = fields.number("count", 1, 1..=100_000);
    let plan = fields.path("plan");
    fields.end();
    Task::Lanes(Propose { interval, count, plan })
}

fn record(mut fields: Fields<'_, '_>) -> Task {
    let file = fields.needed("file").1.into();
    if fields.take("for").is_none() {
        fields.needed("for");
    }
    let time = fields.time("for").unwrap_or(TEN_SECONDS);
    let interval = fields.time("interval").unwrap_or(Duration::from_secs(1));
    fields.end();
    Task::Record { file, time, interval }
}

fn run(mut fields: Fields<'_, '_>) -> Option<Task> {
    let program = fields.needed("program").1;
    let args = fields.texts("args").into_iter().map(|(_, text)| text).collect();
    let timeout = fields.time("timeout").unwrap_or(Duration::from_secs(60));
    let exit = fields.number("exit", 0, 0..=255);
    fields.end();
    Some(Task::Run(Program { program, args, timeout, exit: i32::try_from(exit).unwrap_or(0) }))
}

fn notify<'r, 't>(fields: &mut Fields<'r, 't>, value: Held<'r, 't>, words: String) -> Option<Task> {
    if value.get_ref().as_table().is_none() {
        return one_text(fields, "notify").map(|text| Task::Notify { text, file: None });
    }
    let mut inner = fields.below(value, words)?;
    let text = inner.needed("text").1;
    let file = inner.path("file");
    inner.end();
    Some(Task::Notify { text, file })
}
