//! `capture`.

use std::path::PathBuf;

use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::json_type::json_type;
use crate::catalogue::summary::count_words;
use crate::operations::record::capture_rewrite::StretchRequest;
use crate::script::answer::{Lines, json_answer, write_object};
use crate::script::command_entry::{CommandEntry, CommandFunction};
use crate::script::context::Context;
use crate::script::json::ObjectHead;
use crate::script::json_schema::JsonSchema;
use clap::Args;
use fabdeck_fabric::NodeKind;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_files::capture::{CaptureInfo, examine};

pub const CAPTURE: CommandEntry =
    CommandEntry::new("capture", "Work on captures", "A capture is a file that `record` wrote.");

pub const CAPTURE_INFO: CommandEntry = CommandEntry::new(
    "capture info",
    "What a capture has",
    "The source, the times of begin and end, the number of sweeps, the first notes and bookmarks of operators, gaps without \
     sweeps, and damage with its place. Every frame is read and checked.",
)
.examples(&["fabdeck capture info night.fdcap", "fabdeck capture info night.fdcap --json"])
.runs(&CommandFunction(info))
.json(&[JsonSchema::answer::<CaptureInfoAnswer<'_>>("capture-info")]);

#[derive(Debug, Args)]
pub struct CaptureFileArgs {
    /// A capture that `record` wrote; `-` is stdin
    pub file: PathBuf,
}

/// A stretch of a capture, by its times.
#[derive(Debug, Clone, Default, Args)]
pub struct StretchArgs {
    /// Begin with the first sweep at or after this time, written as for --at; 02:13 means the beginning of that minute
    /// (default: the first sweep)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub from: Option<String>,
    /// End with the last sweep at or before this time; 02:13 means the end of that minute (default: the last sweep)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub to: Option<String>,
}

impl StretchArgs {
    pub fn request(&self) -> StretchRequest<'_> {
        StretchRequest { from: self.from.as_deref(), to: self.to.as_deref() }
    }
}

/// The output file of a capture made from another one.
#[derive(Debug, Clone, Args)]
pub struct OutputFileArgs {
    /// New output file; `-` is stdout
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
}

fn info(context: &mut Context<'_, '_>, args: &CaptureFileArgs) -> Result<Exit, Failure> {
    let file = args.file.as_path();
    let info = examine(file)?;
    let name = file.display().to_string();
    if context.output.json {
        write_json(context, &name, &info)?;
    } else {
        context.output.write_pairs(&lines(&name, &info))?;
    }
    let snapshot = context.env().snapshot_of(&name, info.last)?;
    Ok(context.conclude(&snapshot))
}

fn write_json(context: &mut Context<'_, '_>, name: &str, info: &CaptureInfo) -> Result<(), Failure> {
    let last = &info.last;
    let head = ObjectHead {
        schema: "capture-info",
        source: Some(name),
        time: last.time.as_deref(),
        assumed: None,
        partial: last.is_partial(),
        notes: &last.notes,
    };
    let damage = info.damage.iter();
    let answer = CaptureInfoAnswer {
        format: &info.header.format,
        fabdeck: &info.header.fabdeck,
        recorded: &info.header.source,
        interval_ms: info.header.interval_ms,
        from: info.from.as_deref(),
        to: info.to.as_deref(),
        sweeps: info.sweeps,
        unreadable: info.lost,
        events: info.events,
        noted: info.noted,
        job_lists: info.job_lists,
        job_silences: info.job_silences,
        frames: info.frames,
        records: info.records,
        bytes: info.bytes,
        unpacked: info.raw,
        set_back: info.set_back,
        ended: info.ended,
        first_noted: Lines::of(info.first_noted.iter().map(|(time, words)| NotedObject { time, words })),
        bookmarked: info.bookmarked,
        first_bookmarked: Lines::of(
            info.first_bookmarked.iter().map(|(time, by)| BookmarkObject { time, by }),
        ),
        acknowledged: info.acknowledged,
        first_acknowledged: Lines::of(
            info.first_acknowledged.iter().map(|(time, words)| NotedObject { time, words }),
        ),
        gaps: Lines::of(info.gaps.iter().map(|(from, to)| GapObject { from, to })),
        damage: Lines::of(damage.map(|part| DamageObject {
            offset: part.offset,
            record: part.record,
            what: &part.what,
        })),
    };
    Ok(write_object(context.output.out, &head, answer)?)
}

json_answer! {
    struct CaptureInfoAnswer<'a> {
        format: &'a str,
        fabdeck: &'a str,
        recorded: &'a str,
        interval_ms: u64,
        from: Option<&'a str>,
        to: Option<&'a str>,
        sweeps: usize,
        unreadable: usize,
        events: usize,
        noted: usize,
        job_lists: usize,
        job_silences: usize,
        frames: usize,
        records: u64,
        bytes: u64,
        unpacked: u64,
        set_back: usize,
        ended: bool,
        first_noted: Lines<'a, NotedObject<'a>>,
        bookmarked: usize,
        first_bookmarked: Lines<'a, BookmarkObject<'a>>,
        acknowledged: usize,
        first_acknowledged: Lines<'a, NotedObject<'a>>,
        gaps: Lines<'a, GapObject<'a>>,
        damage: Lines<'a, DamageObject<'a>>,
    }
}

json_type! {
    struct NotedObject<'a> {
        time: &'a str,
        words: &'a str,
    }

    struct BookmarkObject<'a> {
        time: &'a str,
        by: &'a str,
    }

    struct GapObject<'a> {
        from: &'a str,
        to: &'a str,
    }

    struct DamageObject<'a> {
        offset: u64,
        record: u64,
        what: &'a str,
    }
}

fn lines(name: &str, info: &CaptureInfo) -> Vec<(&'static str, String)> {
    let fabric = &info.last.fabric;
    let count = |kind, one, many| count_words(fabric.count(kind), one, many);
    let unknown = || "no sweep".to_owned();
    let size = format!(
        "{} bytes, {} unpacked, in {} records",
        digits_in_groups(info.bytes),
        digits_in_groups(info.raw),
        digits_in_groups(info.records)
    );
    let mut pairs = vec![
        ("capture", format!("{name}, {}, by fabdeck {}", info.header.format, info.header.fabdeck)),
        ("source", info.header.source.clone()),
        (
            "fabric",
            format!(
                "{}, {}, {} at the end",
                count(NodeKind::Switch, "switch", "switches"),
                count(NodeKind::ChannelAdapter, "host", "hosts"),
                count_words(fabric.links().len(), "cable", "cables")
            ),
        ),
        ("from", info.from.clone().unwrap_or_else(unknown)),
        ("to", info.to.clone().unwrap_or_else(unknown)),
        (
            "sweeps",
            format!(
                "{}, one every {} ms; {} with recorded events, verdicts over counters not included",
                digits_in_groups(info.sweeps),
                digits_in_groups(info.header.interval_ms),
                digits_in_groups(info.events)
            ),
        ),
        ("size", size),
    ];
    pairs.extend(note_lines(info));
    if info.job_lists + info.job_silences > 0 {
        let lists = count_words(info.job_lists, "list", "lists");
        let silences = match info.job_silences {
            0 => String::new(),
            times => format!("; {} without an answer", count_words(times, "query", "queries")),
        };
        pairs.push(("jobs", format!("{lists}{silences}")));
    }
    let gaps =
        info.gaps.iter().map(|(from, to)| ("gap", format!("nothing was recorded from {from} to {to}")));
    pairs.extend(gaps);
    if info.set_back > 0 {
        pairs.push(("clock", format!("set back {}", count_words(info.set_back, "time", "times"))));
    }
    pairs.extend(info.damage.iter().map(|damage| ("damage", damage.to_string())));
    if info.lost > 0 {
        pairs.push(("lost", format!("{} cannot be shown", count_words(info.lost, "sweep", "sweeps"))));
    }
    let end = if info.ended { "complete" } else { "missing: cut short, or still being recorded" };
    pairs.push(("end", end.to_owned()));
    pairs
}

/// What operators left in a capture, and the first of it.
fn note_lines(info: &CaptureInfo) -> Vec<(&'static str, String)> {
    let mut pairs = Vec::new();
    if info.noted > 0 {
        pairs.push(("notes", count_words(info.noted, "note of an operator", "notes of operators")));
        pairs.extend(info.first_noted.iter().map(|(time, words)| ("  at", format!("{time} {words}"))));
    }
    if info.noted > info.first_noted.len() {
        let more = info.noted - info.first_noted.len();
        pairs.push(("", format!("and {more} more, on the timeline of the console")));
    }
    if info.bookmarked > 0 {
        pairs.push((
            "bookmarks",
            count_words(info.bookmarked, "bookmark of an operator", "bookmarks of operators"),
        ));
        pairs.extend(info.first_bookmarked.iter().map(|(time, by)| ("  at", format!("{time} by {by}"))));
    }
    if info.bookmarked > info.first_bookmarked.len() {
        let more = info.bookmarked - info.first_bookmarked.len();
        pairs.push(("", format!("and {more} more, on the timeline of the console")));
    }
    if info.acknowledged > 0 {
        let count = count_words(info.acknowledged, "acknowledged problem", "acknowledged problems");
        pairs.push(("acknowledged", count));
        pairs.extend(info.first_acknowledged.iter().map(|(time, words)| ("  at", format!("{time} {words}"))));
    }
    if info.acknowledged > info.first_acknowledged.len() {
        let more = info.acknowledged - info.first_acknowledged.len();
        pairs.push(("", format!("and {more} more, on the timeline of the console")));
    }
    pairs
}
