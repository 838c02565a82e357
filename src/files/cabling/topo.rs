//! `.topo` of ibutils (ibdm Fabric.cpp, `IBFabric::parseTopology`; man ibdm-topo-file): systems at the margin, their cables
//! below them. A cable may be named at one end or at both.
//!
//! ```text
//! MQM8700 sw01
//!    P2 -4x-50G-> HCA_mlx5_3 host4 mlx5_0/P1
//!    P3 -> MQM8700 sw02 P3
//! ```

use super::plan::{CablingPlan, PlanCable, PlanForm, PlannedEnd};
use super::plan_reader::BAD_LINE;
use super::planned_rate::{PlannedRate, speed_of_lane};
use super::port_text::PortText;
use crate::FileError;
use crate::text::Input;
use fabdeck_fabric::LinkWidth;

/// The text of a line without its remark.
fn statement(line: &str) -> &str {
    line.split_once('#').map_or(line, |(text, _)| text).trim_end()
}

/// A cable begins with a blank; a system stands at the margin.
fn is_cable(line: &str) -> bool {
    line.starts_with([' ', '\t'])
}

pub(super) fn looks_like(head: &str) -> bool {
    let mut lines = head.lines().map(statement).filter(|line| !line.trim().is_empty());
    let is_system = |line: &str| !is_cable(line) && read_system(line).is_some();
    lines.next().is_some_and(is_system) && lines.any(|line| is_cable(line) && read_cable(line).is_ok())
}

/// `SYSTYPE name`, and what its boards are instead of their usual ones.
fn read_system(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let (_, name) = (words.next()?, words.next()?);
    let rest = words.next();
    (rest.is_none_or(|word| word.starts_with("CFG")) && !line.contains(['"', ',', ';', '>'])).then_some(name)
}

/// What a line says of a cable: the port here, the rate, and the device and port there.
struct CableLine<'l> {
    port: &'l str,
    rate: PlannedRate,
    peer: &'l str,
    peer_port: &'l str,
}

fn read_cable(line: &str) -> Result<CableLine<'_>, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [port, arrow, _, peer, peer_port] = words[..] else {
        return Err("a cable is 'PORT -4x-25G-> SYSTEM-TYPE SYSTEM PORT'".to_owned());
    };
    let Some(marks) = arrow.strip_suffix("->").or_else(|| arrow.strip_suffix('>')) else {
        return Err("there is no '->' behind the port".to_owned());
    };
    let mut rate = PlannedRate::default();
    for mark in marks.split('-').filter(|mark| !mark.is_empty()) {
        if let Some(width) = LinkWidth::from_word(mark) {
            rate.width = Some(width);
        } else if let Some(speed) = speed_of_lane(mark) {
            rate.speed = Some(speed);
        } else {
            return Err(format!("'{mark}' is neither a width (4x) nor a speed of a lane (25G)"));
        }
    }
    Ok(CableLine { port, rate, peer, peer_port })
}

pub(super) fn read(input: Input<'_>) -> Result<CablingPlan, Box<FileError>> {
    let mut plan = CablingPlan::new(PlanForm::Topo, input.name);
    let mut system: Option<String> = None;
    for line in input.lines() {
        let line = line?;
        let text = statement(&line.text);
        let place = input.line_place(line.number);
        if text.trim().is_empty() {
            continue;
        }
        if !is_cable(text) {
            system = read_system(text).map(str::to_owned);
            if system.is_none() {
                plan.notes.add_partial(BAD_LINE, place, || {
                    "a system is 'SYSTEM-TYPE NAME': the system and its cables are left out".to_owned()
                });
            }
            continue;
        }
        let cable = match (&system, read_cable(text)) {
            (Some(system), Ok(cable)) => planned_cable(system, &cable, line.number),
            (None, Ok(_)) => {
                plan.notes.add_partial(BAD_LINE, place, || {
                    "a cable without a system before it: the line is left out".to_owned()
                });
                continue;
            }
            (_, Err(what)) => {
                plan.notes.add_partial(BAD_LINE, place, || format!("{what}: the line is left out"));
                continue;
            }
        };
        plan.cables.push(cable);
    }
    Ok(plan)
}

fn planned_cable(system: &str, cable: &CableLine<'_>, line: u64) -> PlanCable {
    let end = |device: &str, port: &str| PlannedEnd {
        device: device.to_owned(),
        port: PortText::parse(port),
        ..PlannedEnd::default()
    };
    PlanCable {
        ends: [end(system, cable.port), end(cable.peer, cable.peer_port)],
        rate: cable.rate,
        label: None,
        length: None,
        kind: None,
        line: Some(line),
    }
}
