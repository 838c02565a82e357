//! What a capture has for a report: the verdict on its moment, the sums over the whole recording until then, and events.

use std::path::Path;
use std::sync::Arc;

use super::fabric_report::{ReportEvent, ReportEvents};
use super::report_readings::ReportReadings;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::query::Query;
use crate::catalogue::severity::Severity;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::operation::Operation;
use crate::operations::progress::StopOnlyProgress;
use crate::operations::replay::changed_words::name_changes;
use crate::operations::replay::event_words::event_words;
use crate::operations::replay::replay_frame::{
    CANCELLED, FrameSource, NoBaseline, OpenedRecording, ReplayFrame, ReplayFrames, SeekRequest,
    SnapshotMaker,
};
use crate::operations::rowset::Rowset;
use crate::operations::watch::fabric_history::{FabricHistory, IntervalSums};
use crate::operations::watch::history_clock::HistoryClock;
use crate::operations::watch::watch_verdict::VerdictRequest;
use fabdeck_fabric::counters::{Thresholds, rates_of_sweeps};
use fabdeck_fabric::observe::Sweep;
use fabdeck_files::capture::{RecordingPlayer, TimeSpec, Timeline, TimelineEntry};
use fabdeck_files::capture_format::ByteSource;
use fabdeck_routing::RouteProgress;

/// Reads a capture up to the moment that the operator named, or to its end.
pub fn read_recording(operation: &mut Operation<'_>, file: &Path) -> Result<ReportReadings, Failure> {
    let stop = operation.listen_to_stop();
    let given = operation.env.given;
    let at = given.reach.at.as_deref().map(TimeSpec::parse).transpose()?;
    let (tape, place) = RecordingPlayer::open(file, at)?;
    let mut tape_of_sums = tape.reopen();
    let mut frames = ReplayFrames::new(tape, place, snapshot_maker(operation)?);
    let progress = StopOnlyProgress(Some(&stop));
    let refused = |why: String| match why.as_str() {
        CANCELLED => Failure::interrupted(),
        _ => {
            Failure::new(Exit::BadInput, format!("FD-7341: {} cannot be reported on: {why}", file.display()))
        }
    };
    let opened = frames.open_recording().map_err(refused)?;
    let Some(OpenedRecording { timeline, scan, .. }) = opened else {
        return Err(refused("no moment was recorded".to_owned()));
    };
    let congestion = given.thresholds.congestion as u64;
    let frame =
        frames.seek_frame(SeekRequest { place, deep: false, congestion }, &progress).map_err(refused)?;
    let history = sums_until(&mut tape_of_sums, &timeline, frame.shown, &progress).map_err(refused)?;
    let mut entries: Vec<TimelineEntry> = timeline.happened.clone();
    let mut done = 0;
    while let Some(scan) = scan.as_ref().filter(|_| done <= frame.shown) {
        let part = scan.derive_part(&given.thresholds, &progress).map_err(refused)?;
        if part.done == done {
            break;
        }
        done = part.done;
        name_changes(&mut entries, &part.changes);
        entries.extend(part.happened);
    }
    entries.retain(|entry| entry.place <= frame.shown);
    Ok(recorded_readings(&frame, &timeline, &entries, history, &given.thresholds))
}

fn recorded_readings(
    frame: &ReplayFrame,
    timeline: &Timeline,
    entries: &[TimelineEntry],
    history: FabricHistory,
    thresholds: &Thresholds,
) -> ReportReadings {
    let now = timeline.times.get(frame.shown).copied().unwrap_or(0);
    let at_ms = i64::try_from(frame.at_ms).unwrap_or(i64::MAX);
    let look = frame.look.clone();
    let reading = frame.before.as_ref().ok().map(|before| {
        let request = VerdictRequest {
            pinned: Vec::new(),
            look: look.clone(),
            first: frame.first.clone(),
            before: before.clone(),
            after: frame.after.clone(),
            thresholds: thresholds.clone(),
            history: frame.history.clone(),
            earlier: None,
            flows: Some(frame.flows.clone()),
            links: (Arc::new(Rowset::links(&look, None)), Query::default()),
            ports: Query::default(),
            at_ms: frame.at_ms,
        };
        Arc::new(request.run())
    });
    let event = |entry: &TimelineEntry| {
        let (label, text, trouble) = event_words(&look, &entry.event);
        ReportEvent {
            at_ms: at_ms.saturating_sub(now.saturating_sub(entry.time)),
            severity: if trouble { Severity::Warning } else { Severity::Info },
            text: format!("{label}: {text}"),
        }
    };
    let events: Vec<ReportEvent> = entries.iter().map(event).collect();
    let count = events.len();
    ReportReadings {
        uncounted: frame.before.as_ref().err().map(|why| baseline_words(*why).to_owned()),
        reading,
        history,
        clock: Some(HistoryClock { at_ms, unix_ms: now, utc_offset_s: timeline.utc_offset_s }),
        read_at: Some(timeline.time_spec_text(now)),
        events: ReportEvents::new(events, count),
        news: frame.after.news.clone(),
        look: Snapshot::clone(&look),
    }
}

/// Why a moment has no verdict.
pub fn baseline_words(why: NoBaseline) -> &'static str {
    match why {
        NoBaseline::First => "this is the first moment of the recording, so there is nothing to compare with",
        NoBaseline::Gap => "nothing was recorded for some time before this moment",
        NoBaseline::Damage => "the moment before cannot be read",
    }
}

/// The sums of every interval up to a moment.
fn sums_until<B: ByteSource>(
    tape: &mut RecordingPlayer<B>,
    timeline: &Timeline,
    last: usize,
    progress: &dyn RouteProgress,
) -> Result<FabricHistory, String> {
    let mut history = FabricHistory::default();
    let (mut before, mut elapsed): (Option<Sweep>, i64) = (None, 0);
    for place in 0..=last {
        if progress.is_cancelled() {
            return Err(CANCELLED.to_owned());
        }
        if let Some(earlier) = place.checked_sub(1) {
            let step = timeline.times[place].saturating_sub(timeline.times[earlier]);
            elapsed = elapsed.saturating_add(step.max(0));
        }
        let after = tape.show_moment(place).is_ok().then(|| tape.sweep());
        if let (Some(before), Some(after), true) = (&before, &after, timeline.is_comparable(place)) {
            let ticks = tape.ticks().clone();
            let fabric = tape.fabric();
            let rates = rates_of_sweeps(fabric, before, after).with_ticks(fabric, &ticks);
            let seconds = after.began.saturating_sub(before.began).as_secs_f64();
            history.push(
                u64::try_from(elapsed).unwrap_or(0),
                seconds,
                &IntervalSums::new(fabric, &rates, &[]),
            );
        }
        before = after;
    }
    Ok(history)
}

/// Makes snapshots of moments, with the names of the operator and the assumed engine.
fn snapshot_maker(operation: &Operation<'_>) -> Result<SnapshotMaker, Failure> {
    let (own, _) = operation.env.operator_names()?;
    let source = operation.env.named_source()?.to_owned();
    let engine = operation.env.given.assume;
    let cabling = operation.env.cabling_plan()?;
    Ok(Arc::new(move |observation| {
        let mut snapshot = Snapshot::new(&source, observation, &own);
        snapshot.cabling_plan.clone_from(&cabling);
        if let Some(engine) = engine {
            let assumed = crate::operations::preview::assume::assume(&mut snapshot, engine);
            assumed.map_err(|refusal| refusal.to_string())?;
        }
        Ok(snapshot)
    }))
}
