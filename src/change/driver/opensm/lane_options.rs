//! The lines of OpenSM's configuration that set the lanes of a plan. OpenSM sets lanes by class of port, not by port.

use std::collections::{BTreeMap, BTreeSet};

use crate::writes::WriteStep;
use fabdeck_fabric::ServiceLevel;
use fabdeck_mad::SlToVl;
use fabdeck_mad::access::{AttributePart, DeviceId};

/// Option names such as `qos_swe_sl2vl`, each with all values that ports of that class are to have.
type LaneOptions = BTreeMap<String, BTreeSet<String>>;

/// The lines for the lanes of a plan. An error if ports of one class need different lanes, which no line can express.
pub fn lane_lines(steps: &[WriteStep]) -> Result<Vec<String>, String> {
    let mut options = LaneOptions::new();
    for step in steps {
        if let Some((option, value)) = lane_option(step) {
            options.entry(option).or_default().insert(value);
        }
    }
    if let Some((option, _)) = options.iter().find(|(_, values)| values.len() > 1) {
        return Err(format!("{option} is one for all ports of its class, and the plan has several"));
    }
    let line = |(option, values): (String, BTreeSet<String>)| {
        values.first().filter(|value| !value.is_empty()).map(|value| format!("{option} {value}"))
    };
    let lines = options.into_iter().filter_map(line);
    Ok(std::iter::once("qos TRUE".to_owned()).chain(lines).collect())
}

fn lane_option(step: &WriteStep) -> Option<(String, String)> {
    let class = |port: u8| match step.slot.at {
        DeviceId::Adapter(_) => "ca",
        DeviceId::Switch(_) if port == 0 => "sw0",
        DeviceId::Switch(_) => "swe",
    };
    match step.slot.part {
        AttributePart::Lanes([_, to]) => {
            let table = SlToVl { pairs: step.new.as_slice().try_into().ok()? }.table();
            let levels = (0..16).filter_map(ServiceLevel::new);
            let lanes: Vec<String> = levels.map(|level| table.lane(level).value().to_string()).collect();
            Some((format!("qos_{}_sl2vl", class(to)), lanes.join(",")))
        }
        AttributePart::Arbitration([port, place]) => {
            let turns = step.new.as_chunks::<2>().0;
            let used = turns.iter().rposition(|turn| turn[1] > 0).map_or(0, |last| last + 1);
            let turns: Vec<String> =
                turns[..used].iter().map(|[lane, weight]| format!("{}:{weight}", lane & 0xF)).collect();
            // Only the first half of each table has a line. Plans have two lanes, which do not need the second half.
            let which = if place <= 2 { "low" } else { "high" };
            (place % 2 == 1).then(|| (format!("qos_{}_vlarb_{which}", class(port)), turns.join(",")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::Guid;
    use fabdeck_mad::access::DeviceAttribute;

    fn step(at: DeviceId, part: AttributePart, begins: &[u8]) -> WriteStep {
        let mut new = vec![0; part.byte_count()];
        new[..begins.len()].copy_from_slice(begins);
        WriteStep { slot: DeviceAttribute { at, part }, old: vec![0; part.byte_count()], new }
    }

    #[test]
    fn lanes_are_lines_by_class_of_port() {
        let (switch, adapter) = (DeviceId::Switch(Guid(1)), DeviceId::Adapter(Guid(2)));
        let mut steps = vec![
            step(switch, AttributePart::Lanes([1, 2]), &[0x01]),
            step(switch, AttributePart::Lanes([2, 1]), &[0x01]),
            step(adapter, AttributePart::Lanes([0, 1]), &[0x01]),
            step(switch, AttributePart::Arbitration([2, 1]), &[0, 64, 1, 8]),
            step(switch, AttributePart::Arbitration([2, 3]), &[]),
        ];
        let zeros = ",0".repeat(14);
        assert_eq!(
            lane_lines(&steps).unwrap(),
            [
                "qos TRUE".to_owned(),
                format!("qos_ca_sl2vl 0,1{zeros}"),
                format!("qos_swe_sl2vl 0,1{zeros}"),
                "qos_swe_vlarb_low 0:64,1:8".to_owned(),
            ]
        );
        steps.push(step(switch, AttributePart::Lanes([3, 1]), &[0x10]));
        assert!(lane_lines(&steps).unwrap_err().contains("qos_swe_sl2vl is one for all ports"));
    }
}
