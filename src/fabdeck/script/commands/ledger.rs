//! `ledger`.

use clap::Args;

use super::events::{StoreArgs, chosen_store, nothing_stored_words, store_failure};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::field::Field;
use crate::catalogue::json_type::json_type;
use crate::catalogue::query::{Columns, Query};
use crate::catalogue::value::FieldKind;
use crate::catalogue::view::View;
use crate::operations::event_store::ledger_reader::read_ledger;
use crate::operations::ledger::cable_history::{CableHistory, PeriodCounts};
use crate::operations::ledger::history_words::history_words;
use crate::operations::ledger::period::{date_of_day, date_of_time};
use crate::script::answer::{Lines, json_answer};
use crate::script::command_entry::{CommandEntry, CommandFunction};
use crate::script::context::Context;
use crate::script::json_schema::JsonSchema;
use fabdeck_fabric::observe::{PortIdentity, digits_in_groups};
use fabdeck_fabric::{Guid, PortNum};
use jiff::Timestamp;

pub const LEDGER: CommandEntry = CommandEntry::new(
    "ledger",
    "What cables did over the years, repeat offenders first",
    "Lists the cables that `watch` saw go down, count errors or have a problem: on how many of the last 90 days, how often, \
     since when, when last, and what was done. A cable is known by the serial numbers of its modules where devices state \
     them: one that is swapped begins anew, and one that is moved keeps its history. Without them it is known by its two \
     ports. Counts of days are kept for 90 days, of weeks for two years, of years for ten; JSON has them. Days are those of UTC. Errors \
     arrive in the ledger within an hour.",
)
.examples(&["fabdeck ledger", "fabdeck ledger --top 5", "fabdeck ledger --json"])
.runs(&CommandFunction(run))
.json(&[JsonSchema::answer::<LedgerAnswer<'_>>("ledger").without_source()]);

#[derive(Debug, Args)]
pub struct LedgerArgs {
    /// Only the first N cables
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    #[command(flatten)]
    pub store: StoreArgs,
}

json_answer! {
    pub struct LedgerAnswer<'a> {
        /// The name of the store; null where nothing is stored.
        fabric: Option<String>,
        cables: usize,
        rows: Lines<'a, CableObject<'a>>,
    }
}

json_type! {
    struct CableObject<'a> {
        ends: Vec<CableEndObject<'a>>,
        /// False where another cable took its place.
        in_place: bool,
        /// Days with events, of the last 90.
        days_with_events: usize,
        downs: u64,
        /// Errors of both ports, without the times that the link went down.
        errors: u64,
        problems: u64,
        /// The worst one after error correction, where devices state it.
        bit_error_rate: Option<f64>,
        first: String,
        last: String,
        /// The sentence of the problem card.
        history: Option<String>,
        actions: Vec<CableActionObject<'a>>,
        days: Vec<PeriodObject>,
        weeks: Vec<PeriodObject>,
        years: Vec<PeriodObject>,
    }

    struct CableEndObject<'a> {
        guid: Guid,
        port: PortNum,
        name: &'a str,
        serial: Option<&'a str>,
    }

    struct CableActionObject<'a> {
        time: String,
        text: &'a str,
    }

    struct PeriodObject {
        /// The first day of it, or the year.
        begins: String,
        downs: u32,
        errors: u64,
        problems: u32,
        bit_error_rate: Option<f64>,
    }
}

fn time_words(time_ms: i64) -> String {
    Timestamp::from_millisecond(time_ms).unwrap_or_default().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A rate with the digits that were stored of it.
fn rate(rate: f32) -> Option<f64> {
    format!("{rate:e}").parse().ok().filter(|rate| *rate > 0.0)
}

impl PeriodObject {
    fn new(counts: &PeriodCounts, begins: String) -> Self {
        let PeriodCounts { downs, errors, problems, bit_error_rate, .. } = *counts;
        Self { begins, downs, errors, problems, bit_error_rate: rate(bit_error_rate) }
    }
}

impl<'a> CableObject<'a> {
    fn new(cable: &'a CableHistory, now_ms: i64) -> Self {
        let place = &cable.place;
        let end = |at: usize| {
            let (guid, port): PortIdentity = place.ends[at];
            CableEndObject { guid, port, name: &place.names[at], serial: place.serials[at].as_deref() }
        };
        let monday = |week: u32| date_of_day((week * 7).saturating_sub(3));
        Self {
            ends: vec![end(0), end(1)],
            in_place: cable.is_in_place,
            days_with_events: cable.days(now_ms).count(),
            downs: cable.downs,
            errors: cable.errors,
            problems: cable.problems,
            bit_error_rate: cable.bit_error_rate.and_then(rate),
            first: time_words(cable.first_ms),
            last: time_words(cable.last_ms),
            history: history_words(cable, now_ms),
            actions: cable
                .actions
                .iter()
                .map(|action| CableActionObject { time: time_words(action.time_ms), text: &action.text })
                .collect(),
            days: cable.days(now_ms).map(|day| PeriodObject::new(day, date_of_day(day.period))).collect(),
            weeks: cable.weeks().iter().map(|week| PeriodObject::new(week, monday(week.period))).collect(),
            years: cable
                .years()
                .iter()
                .map(|year| PeriodObject::new(year, year.period.to_string()))
                .collect(),
        }
    }
}

/// A cable with its days with events.
type LedgerLine = (CableHistory, u64);

type CableField = Field<LedgerLine, ()>;

const LEDGER_TABLE: View<LedgerLine, ()> = View::new(FIELDS, "no cable has had an event");

static FIELDS: &[CableField] = &[
    CableField::new("cable", "CABLE", FieldKind::Text, "", |(), (cable, _)| cable.place.words().into()),
    CableField::new("days", "DAYS", FieldKind::Number, "", |(), (_, days)| (*days).into()),
    CableField::new("downs", "DOWNS", FieldKind::Number, "", |(), (cable, _)| cable.downs.into()),
    CableField::new("errors", "ERRORS", FieldKind::Number, "", |(), (cable, _)| cable.errors.into()),
    CableField::new("ber", "BER", FieldKind::Text, "", |(), (cable, _)| {
        cable.bit_error_rate.map(|rate| format!("{rate:.0e}")).into()
    })
    .when_known(),
    CableField::new("problems", "PROBLEMS", FieldKind::Number, "", |(), (cable, _)| cable.problems.into()),
    CableField::new("since", "SINCE", FieldKind::Text, "", |(), (cable, _)| {
        date_of_time(cable.first_ms).into()
    })
    .keyword(),
    CableField::new("last", "LAST", FieldKind::Text, "", |(), (cable, _)| date_of_time(cable.last_ms).into())
        .keyword(),
    CableField::new("done", "DONE", FieldKind::Text, "", |(), (cable, _)| {
        cable.actions.last().map(|action| format!("{} {}", date_of_time(action.time_ms), action.text)).into()
    })
    .sentence()
    .when_known(),
];

fn run(context: &mut Context<'_, '_>, args: &LedgerArgs) -> Result<Exit, Failure> {
    let Some(store) = chosen_store(context, &args.store)? else {
        let words = nothing_stored_words(context);
        match context.output.json {
            true => {
                let answer = LedgerAnswer { fabric: None, cables: 0, rows: Lines::of([]) };
                context.write_plain_answer("ledger", answer)?;
            }
            false => writeln!(context.output.out, "{words}")?,
        }
        return Ok(Exit::Done);
    };
    let output = &mut context.output;
    let stored = read_ledger(&store, &mut |line| output.print_message(&line)).map_err(store_failure)?;
    let mut ranked = stored.ledger.ranked(stored.now_ms);
    let cables = ranked.len();
    ranked.truncate(args.top.unwrap_or(usize::MAX));
    if context.output.json {
        let rows = Lines::of(ranked.iter().map(|cable| CableObject::new(cable, stored.now_ms)));
        context.write_plain_answer("ledger", LedgerAnswer { fabric: Some(store.name()), cables, rows })?;
        return Ok(Exit::Done);
    }
    if ranked.is_empty() {
        writeln!(context.output.out, "no cable of {} has had an event so far", store.identity.source)?;
        return Ok(Exit::Done);
    }
    let left = cables - ranked.len();
    let lines: Vec<LedgerLine> =
        ranked.into_iter().map(|cable| (cable.clone(), cable.days(stored.now_ms).count() as u64)).collect();
    let table = LEDGER_TABLE.of(lines);
    let all = Query::default().select(&table, Columns::Shown)?;
    context.output.write_table(&table, all, false)?;
    if left > 0 {
        context.output.print_message(&format!("and {} more (--top)", digits_in_groups(left)));
    }
    Ok(Exit::Done)
}
