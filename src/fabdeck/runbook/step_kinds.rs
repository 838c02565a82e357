//! Reads each kind of step with its keys.

use std::time::Duration;

use toml::Spanned;
use toml::de::DeValue;

use super::fields::Fields;
use super::guard::Bound;
use super::row_condition::{Aggregate, RowClaim, RowCondition};
use super::steps::{
    ApplyTask, ExpectTask, JobsTask, ProgramTask, ProposeTask, RouteTask, StepTask, WaitTask,
};
use crate::operations::view_id::ViewId;
use fabdeck_change::SilentHostAction;
use fabdeck_fabric::{similar_words, suggest};
use fabdeck_routing::{ENGINES, LaneDependence, find_engine};

/// The kinds of steps.
pub const KINDS: &[&str] = &[
    "expect", "fail", "unmark", "preview", "route", "disable", "enable", "apply", "wait", "verify",
    "compare", "jobs", "hotspots", "lanes", "confirm", "rollback", "record", "run", "notify",
];

const TEN_MINUTES: Duration = Duration::from_secs(600);
const TEN_SECONDS: Duration = Duration::from_secs(10);
/// Marks a number of lanes that the runbook does not set.
const LANES_UNSET: u32 = 0;

/// Reads the value under the key of a kind.
pub fn task(fields: &mut Fields<'_, '_>, kind: &'static str) -> Option<StepTask> {
    let value = fields.take(kind)?;
    let words = format!("'{kind}' of {}", fields.what);
    match kind {
        "expect" => expect(fields, value, words),
        "fail" => elements(fields, kind, value).map(StepTask::Fail),
        "unmark" if value.get_ref().as_bool() == Some(true) => Some(StepTask::Unmark(Vec::new())),
        "unmark" => elements(fields, kind, value).map(StepTask::Unmark),
        "preview" => fields.subtable(value, words).map(preview),
        "route" => fields.subtable(value, words).and_then(route),
        "disable" => one_text(fields, kind).map(StepTask::Disable),
        "enable" => one_text(fields, kind).map(StepTask::Enable),
        "apply" => fields.subtable(value, words).map(apply),
        "wait" => wait(fields, value, words),
        "verify" => {
            read_true(fields, value, words.clone()).or_else(|| fields.subtable(value, words).map(verify))
        }
        "compare" => is_plain_true(fields, value, words).then_some(StepTask::Compare),
        "jobs" => fields.subtable(value, words).map(jobs),
        "hotspots" => fields.subtable(value, words).map(hotspots),
        "lanes" => fields.subtable(value, words).map(lanes),
        "confirm" => is_plain_true(fields, value, words).then_some(StepTask::Confirm),
        "rollback" => is_plain_true(fields, value, words).then_some(StepTask::Rollback),
        "record" => fields.subtable(value, words).map(record),
        "run" => fields.subtable(value, words).and_then(run),
        _ => notify(fields, value, words),
    }
}

type SpannedValue<'r, 't> = &'r Spanned<DeValue<'t>>;

fn one_text(fields: &mut Fields<'_, '_>, kind: &'static str) -> Option<String> {
    fields.text(kind).map(|(_, text)| text)
}

/// Reads a step without options: `confirm = true`.
fn is_plain_true(fields: &Fields<'_, '_>, value: SpannedValue<'_, '_>, words: String) -> bool {
    let plain = value.get_ref().as_bool() == Some(true);
    if !plain {
        fields.reader.report_fault(fields.reader.line_of(value), format!("FD-9204: {words} has to be true"));
    }
    plain
}

fn read_true(_: &Fields<'_, '_>, value: SpannedValue<'_, '_>, _: String) -> Option<StepTask> {
    (value.get_ref().as_bool() == Some(true)).then(|| StepTask::Verify { accept: Vec::new() })
}

fn elements(fields: &Fields<'_, '_>, kind: &str, value: SpannedValue<'_, '_>) -> Option<Vec<String>> {
    let texts = fields.texts_of(value, kind);
    if texts.is_empty() {
        let line = fields.reader.line_of(value);
        fields.reader.report_fault(line, format!("FD-9205: '{kind}' of {} names no element", fields.what));
    }
    let texts: Vec<String> = texts.into_iter().map(|(_, text)| text).collect();
    (!texts.is_empty()).then_some(texts)
}

fn expect<'r, 't>(fields: &Fields<'r, 't>, value: SpannedValue<'r, 't>, words: String) -> Option<StepTask> {
    if value.get_ref().as_table().is_some() {
        let mut inner = fields.subtable(value, words)?;
        let rows = rows(&mut inner);
        inner.refuse_unknown_keys();
        return rows.map(|rows| StepTask::Expect(ExpectTask::Rows(rows)));
    }
    let texts = fields.texts_of(value, "expect");
    Some(StepTask::Expect(ExpectTask::Values(fields.reader.guards(&texts))))
}

/// Reads `table`, `filter` and the claims about its rows.
fn rows(fields: &mut Fields<'_, '_>) -> Option<RowCondition> {
    let reader = fields.reader;
    let (line, id) = fields.required_text("table");
    let table = table(&id);
    if table.is_none() && !id.is_empty() {
        let ids = || tables().map(ViewId::id);
        let meant = suggest(&similar_words(&id, ids()));
        let names = ids().collect::<Vec<_>>().join(", ");
        reader.report_fault(line, format!("FD-9206: there is no table '{id}'{meant}; there are {names}"));
    }
    let filters: Vec<String> = fields.texts("filter").into_iter().map(|(_, text)| text).collect();
    let mut claims = Vec::new();
    if let Some((line, text)) = fields.text("count") {
        match Bound::parse(&text) {
            Some(bound) => claims.push(RowClaim::Count(bound)),
            None => reader
                .report_fault(line, format!("FD-9206: '{text}' is no count; write OP NUMBER, as in '== 0'")),
        }
    }
    if let Some((_, text)) = fields.text("every") {
        claims.push(RowClaim::Every(text));
    }
    for (key, aggregate) in Aggregate::ALL {
        if let Some((line, text)) = fields.text(key) {
            let words = text.trim().split_once(char::is_whitespace);
            match words.and_then(|(field, bound)| Some((field, Bound::parse(bound)?))) {
                Some((field, bound)) => claims.push(RowClaim::Field(*aggregate, field.to_owned(), bound)),
                None => reader.report_fault(
                    line,
                    format!("FD-9206: '{text}' is no condition; write FIELD OP NUMBER, as in 'efi <= 40'"),
                ),
            }
        }
    }
    if claims.is_empty() && reader.faults().is_empty() {
        let what =
            format!("FD-9205: {} has no condition; give count, every, sum, min, max or mean", fields.what);
        reader.report_fault(fields.line, what);
    }
    let rows = RowCondition { line: fields.line, table: table?, filter: filters.join(","), claims };
    if let Err(what) = rows.check_fields() {
        reader.report_fault(rows.line, format!("FD-9213: {what}"));
    }
    Some(rows)
}

/// The tables that a condition can use.
fn tables() -> impl Iterator<Item = ViewId> {
    ViewId::ALL.iter().copied().filter(|view| view.is_of_snapshot())
}

fn table(id: &str) -> Option<ViewId> {
    tables().find(|table| table.id() == id)
}

fn engine(fields: &Fields<'_, '_>, line: usize, id: &str) {
    if find_engine(id).is_none() {
        let names = || ENGINES.iter().map(|engine| engine.id);
        let meant = suggest(&similar_words(id, names()));
        let names = names().collect::<Vec<_>>().join(", ");
        fields
            .reader
            .report_fault(line, format!("FD-9215: there is no engine '{id}'{meant}; there are {names}"));
    }
}

fn preview(mut fields: Fields<'_, '_>) -> StepTask {
    let engines = fields.texts("engines");
    engines.iter().for_each(|(line, id)| engine(&fields, *line, id));
    fields.refuse_unknown_keys();
    StepTask::Preview { engines: engines.into_iter().map(|(_, id)| id).collect() }
}

fn route(mut fields: Fields<'_, '_>) -> Option<StepTask> {
    let (line, id) = fields.required_text("engine");
    if !id.is_empty() {
        engine(&fields, line, &id);
    }
    let number = fields.number("lanes", LANES_UNSET, 1..=15);
    let lanes = u8::try_from(number).ok().filter(|lanes| u32::from(*lanes) != LANES_UNSET);
    let lanes_by = match fields.text("lanes_by") {
        None => LaneDependence::Pair,
        Some((_, by)) if by == "pair" => LaneDependence::Pair,
        Some((_, by)) if by == "destination" => LaneDependence::Destination,
        Some((line, by)) => {
            let what = format!("FD-9206: 'lanes_by' is '{by}'; write pair or destination");
            fields.reader.report_fault(line, what);
            LaneDependence::Pair
        }
    };
    let plan = fields.path("plan");
    fields.refuse_unknown_keys();
    Some(StepTask::Route(RouteTask { engine: id, lanes, lanes_by, plan }))
}

fn jobs(mut fields: Fields<'_, '_>) -> StepTask {
    let (file, slurm) = (fields.path("file"), fields.flag("slurm"));
    let (squeue, timeout) =
        (fields.path("squeue"), fields.take("timeout").and_then(|_| fields.time("timeout")));
    if file.is_some() == slurm {
        let what = format!("FD-9205: {} needs either 'file' or 'slurm = true'", fields.what);
        fields.reader.report_fault(fields.line, what);
    } else if !slurm && (squeue.is_some() || timeout.is_some()) {
        let what = format!("FD-9205: {}: 'squeue' and 'timeout' need 'slurm = true'", fields.what);
        fields.reader.report_fault(fields.line, what);
    }
    fields.refuse_unknown_keys();
    StepTask::Jobs(JobsTask { file, slurm, squeue, timeout })
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
    let findings = fields.reader.options.findings;
    for (line, name) in &named {
        if !findings.contains(&name.as_str()) {
            let names = findings.join(", ");
            fields
                .reader
                .report_fault(*line, format!("FD-9216: '{name}' is no finding; the findings are {names}"));
        }
    }
    named.into_iter().map(|(_, name)| name).collect()
}

fn apply(mut fields: Fields<'_, '_>) -> StepTask {
    let plan = fields.path("plan");
    let window = fields.text("window");
    let read = fields.reader.options.window;
    let window = window.and_then(|(line, text)| fields.time_of(line, "window", &text, read));
    let opensm = match fields.text("via") {
        None => false,
        Some((_, driver)) if driver == "direct" => false,
        Some((_, driver)) if driver == "opensm" => true,
        Some((line, driver)) => {
            fields.reader.report_fault(line, format!("FD-9206: 'via' is '{driver}'; write direct or opensm"));
            false
        }
    };
    let opensm_conf = fields.path("opensm_conf");
    let opensm_console = fields.text("opensm_console").and_then(|(line, text)| match text.parse() {
        Ok(address) => Some(address),
        Err(_) => {
            fields.reader.report_fault(line, format!("FD-9206: '{text}' is no ADDRESS:PORT"));
            None
        }
    });
    let beside_manager = fields.flag("beside_manager");
    let accept = accepted(&mut fields);
    let unanswered = unanswered(&mut fields);
    fields.refuse_unknown_keys();
    StepTask::Apply(ApplyTask {
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
fn unanswered(fields: &mut Fields<'_, '_>) -> SilentHostAction {
    let Some((line, word)) = fields.text("unanswered") else { return SilentHostAction::default() };
    match word.as_str() {
        "stop" => SilentHostAction::Stop,
        "wait" => SilentHostAction::Wait,
        "go-on" => SilentHostAction::GoOn,
        _ => {
            let why = format!("FD-9206: 'unanswered' is '{word}'; write stop, wait or go-on");
            fields.reader.report_fault(line, why);
            SilentHostAction::default()
        }
    }
}

fn verify(mut fields: Fields<'_, '_>) -> StepTask {
    let accept = accepted(&mut fields);
    fields.refuse_unknown_keys();
    StepTask::Verify { accept }
}

fn wait<'r, 't>(fields: &mut Fields<'r, 't>, value: SpannedValue<'r, 't>, words: String) -> Option<StepTask> {
    if value.get_ref().as_table().is_none() {
        return fields.time("wait").map(|time| StepTask::Wait(WaitTask::Time(time)));
    }
    let mut inner = fields.subtable(value, words.clone())?;
    let every = inner.time("every").unwrap_or(Duration::from_secs(2));
    let timeout = match inner.take("timeout") {
        Some(_) => inner.time("timeout").unwrap_or(TEN_MINUTES),
        None => {
            inner.required_text("timeout");
            TEN_MINUTES
        }
    };
    let wait = match (inner.take("until"), inner.take("file")) {
        (Some(until), None) => {
            let mut below = inner.subtable(until, format!("'until' of {}", fields.what))?;
            let rows = rows(&mut below);
            below.refuse_unknown_keys();
            rows.map(|rows| WaitTask::Until { rows, timeout, every })
        }
        (None, Some(_)) => inner.path("file").map(|file| WaitTask::File { file, timeout, every }),
        _ => {
            fields.reader.report_fault(
                inner.line,
                format!(
                    "FD-9205: {words} needs 'until' or 'file', and not both; for a pause write wait = \"30s\""
                ),
            );
            None
        }
    };
    inner.refuse_unknown_keys();
    wait.map(StepTask::Wait)
}

fn hotspots(mut fields: Fields<'_, '_>) -> StepTask {
    let interval = fields.time("interval").unwrap_or(TEN_SECONDS);
    let count = fields.number("count", 1, 1..=100_000);
    fields.refuse_unknown_keys();
    StepTask::Hotspots { interval, count }
}

fn lanes(mut fields: Fields<'_, '_>) -> StepTask {
    let interval = fields.time("interval").unwrap_or(TEN_SECONDS);
    let count = fields.number("count", 1, 1..=100_000);
    let plan = fields.path("plan");
    fields.refuse_unknown_keys();
    StepTask::Lanes(ProposeTask { interval, count, plan })
}

fn record(mut fields: Fields<'_, '_>) -> StepTask {
    let file = fields.required_text("file").1.into();
    if fields.take("for").is_none() {
        fields.required_text("for");
    }
    let time = fields.time("for").unwrap_or(TEN_SECONDS);
    let interval = fields.time("interval").unwrap_or(Duration::from_secs(1));
    fields.refuse_unknown_keys();
    StepTask::Record { file, time, interval }
}

fn run(mut fields: Fields<'_, '_>) -> Option<StepTask> {
    let program = fields.required_text("program").1;
    let args = fields.texts("args").into_iter().map(|(_, text)| text).collect();
    let timeout = fields.time("timeout").unwrap_or(Duration::from_secs(60));
    let exit = fields.number("exit", 0, 0..=255);
    fields.refuse_unknown_keys();
    Some(StepTask::Run(ProgramTask { program, args, timeout, exit: i32::try_from(exit).unwrap_or(0) }))
}

fn notify<'r, 't>(
    fields: &mut Fields<'r, 't>,
    value: SpannedValue<'r, 't>,
    words: String,
) -> Option<StepTask> {
    if value.get_ref().as_table().is_none() {
        return one_text(fields, "notify").map(|text| StepTask::Notify { text, file: None });
    }
    let mut inner = fields.subtable(value, words)?;
    let text = inner.required_text("text").1;
    let file = inner.path("file");
    inner.refuse_unknown_keys();
    Some(StepTask::Notify { text, file })
}
