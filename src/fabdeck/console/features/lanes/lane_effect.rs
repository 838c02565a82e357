//! The effect of the last move of flows: how long hot-spots and hosts waited before it, and wait now.

use super::move_baseline::MoveBaseline;
use super::waiting_hosts::WaitingHosts;
use crate::console::model::fabric_model::Model;
use crate::operations::watch::watch_verdict::WatchVerdict;
use fabdeck_fabric::observe::PortIdentity;

/// The verdict over the time after flows began to move, with the baseline of that move.
fn compared(known: &Model) -> Option<(&MoveBaseline, &WatchVerdict)> {
    let reading = known.watch.reading.as_deref().filter(|_| !known.watch.has_earlier_verdict())?;
    Some((known.lanes.before_move.as_ref()?, reading))
}

/// The lines about the effect of the last move, once there is a verdict over the time after it.
pub(crate) fn effect_lines(known: &Model) -> Vec<String> {
    let Some((before, now)) = compared(known) else { return Vec::new() };
    let all = WaitingHosts::from_verdict(now);
    let first = format!("waiting before the move: {}; now: {}", before.waiting.words(), all.words());
    std::iter::once(first).chain(before.lines(now)).collect()
}

/// The lines about what became of hot-spots and hosts since the writes of one change.
pub(crate) fn effect_since(known: &Model, before: &MoveBaseline) -> Vec<String> {
    let reading = known.watch.reading.as_deref().filter(|_| !known.watch.has_earlier_verdict());
    reading.map_or_else(Vec::new, |reading| before.lines(reading))
}

/// The longest wait of those that do not send to a hot-spot, before the last move and now, in percent.
pub(crate) fn others_wait(known: &Model) -> Option<[f64; 2]> {
    let (before, now) = compared(known)?;
    before.others_wait(now)
}

/// How long a port waited before the last move and waits now.
pub(crate) fn port_effect(known: &Model, port: PortIdentity) -> Option<String> {
    let (before, now) = compared(known)?;
    Some(before.words(port, now))
}
