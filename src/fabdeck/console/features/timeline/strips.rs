//! The strips of the Timeline: a row for each quantity, a cell for each stretch of time. They are made when a reading
//! arrives or the window moves, so a frame only draws them.

use std::sync::Arc;

use ratatui::layout::Rect;

use super::event_rows::{EventKind, EventLane, EventRow};
use super::timeline_panes::TimelinePanes;
use crate::console::drawing::chart::column_of;
use crate::console::features::chart_time::{chart_history, chart_window, latest_ms, round_load};
use crate::console::model::fabric_model::Model;
use crate::operations::health::short_port_name::short_port_name;
use crate::operations::watch::fabric_history::{ColumnSum, FabricHistory, FabricSums, TimeWindow};
use crate::operations::watch::port_values::PortQuantity;
use fabdeck_fabric::observe::PortIdentity;

/// What a strip shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StripQuantity {
    Wait,
    Traffic,
    Errors,
    LostPairs,
    Problems,
}

impl StripQuantity {
    pub const FABRIC: [Self; 5] = [Self::Wait, Self::Traffic, Self::Errors, Self::LostPairs, Self::Problems];

    /// The label of its row; no two begin with the same letter.
    pub fn label(self) -> &'static str {
        match self {
            Self::Wait => "worst wait",
            Self::Traffic => "traffic",
            Self::Errors => "errors",
            Self::LostPairs => "no path",
            Self::Problems => "problems",
        }
    }

    pub fn value(self, sums: &FabricSums) -> Option<f64> {
        match self {
            Self::Wait => sums.worst_wait,
            Self::Traffic => sums.traffic_gbps,
            Self::Errors => sums.errors_per_s,
            Self::LostPairs => sums.lost_pairs,
            Self::Problems => sums.problems(),
        }
    }

    fn column_sum(self) -> ColumnSum {
        if self == Self::Traffic { ColumnSum::Mean } else { ColumnSum::Worst }
    }

    /// The least values of the four steps. Those of traffic are shares of the largest round number.
    pub fn steps(self, top: f64) -> [f64; 4] {
        match self {
            Self::Wait => [1.0, 25.0, 50.0, 75.0],
            Self::Traffic => [0.01, 0.25, 0.5, 0.75].map(|share| share * top),
            // From the first error or pair on.
            Self::Errors | Self::LostPairs => [f64::MIN_POSITIVE, 10.0, 100.0, 1000.0],
            Self::Problems => [1.0, 2.0, 4.0, 8.0],
        }
    }

    /// The step of a value, 0 for next to nothing.
    pub fn step(self, value: f64, top: f64) -> u8 {
        self.steps(top).iter().filter(|least| value >= **least).count() as u8
    }
}

/// A row of steps, `None` where nothing is known.
#[derive(Clone, PartialEq, Debug)]
pub struct Strip {
    pub label: String,
    pub quantity: StripQuantity,
    /// The port of the row; `None` for the whole fabric.
    pub port: Option<PortIdentity>,
    pub steps: Vec<Option<u8>>,
    /// Whether a problem is critical, for each column of problems.
    pub critical: Vec<bool>,
}

/// A cell of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LaneCell {
    Event(EventKind),
    /// A condition lasts.
    Lasting,
}

/// What the strips were made of: the readings, the ranking, the events, the window, and the size.
type StripsKey = (u64, Option<u64>, usize, u64, TimeWindow, TimelinePanes);

#[derive(Clone, Debug, Default)]
pub struct TimelineStrips {
    of: Option<StripsKey>,
    pub window: Option<TimeWindow>,
    pub fabric: Vec<Strip>,
    pub ports: Vec<Strip>,
    /// The lanes of events, a cell for each column.
    pub lanes: Vec<(EventLane, Vec<Option<LaneCell>>)>,
    /// The traffic at the top of its steps.
    pub top_gbps: f64,
}

impl TimelineStrips {
    /// Makes the strips again, where something of them changed. `changed` counts the changes of the events.
    pub fn update(&mut self, known: &Model, panes: &TimelinePanes, events: &[EventRow], changed: u64) {
        let history = chart_history(known);
        let columns = panes.plot_columns();
        let window = chart_window(known, columns);
        let ranked = known.problems.ranked.as_ref().map_or(0, |ranked| Arc::as_ptr(ranked) as usize);
        let of = (latest_ms(known), history.span_ms(), ranked, changed, window, *panes);
        if self.of.replace(of) == Some(of) {
            return;
        }
        let columns = usize::from(columns);
        let most = history.columns(window, columns, ColumnSum::Worst, |sums| sums.traffic_gbps);
        self.top_gbps = round_load(most.into_iter().flatten().fold(0.0, f64::max));
        self.window = Some(window);
        self.fabric = StripQuantity::FABRIC
            .map(|quantity| fabric_strip(history, window, columns, quantity, self.top_gbps))
            .into();
        let worst = worst_ports(history, window, panes.port_rows.into()).into_iter();
        self.ports =
            worst.map(|(port, quantity)| port_strip(known, window, columns, port, quantity)).collect();
        let latest = i64::try_from(latest_ms(known)).unwrap_or(i64::MAX);
        self.lanes = lanes(events, window, columns, latest);
    }
}

fn fabric_strip(
    history: &FabricHistory,
    window: TimeWindow,
    columns: usize,
    quantity: StripQuantity,
    top: f64,
) -> Strip {
    let value: fn(&FabricSums) -> Option<f64> = match quantity {
        StripQuantity::Wait => |sums| StripQuantity::Wait.value(sums),
        StripQuantity::Traffic => |sums| StripQuantity::Traffic.value(sums),
        StripQuantity::Errors => |sums| StripQuantity::Errors.value(sums),
        StripQuantity::LostPairs => |sums| StripQuantity::LostPairs.value(sums),
        StripQuantity::Problems => |sums| StripQuantity::Problems.value(sums),
    };
    let values = history.columns(window, columns, quantity.column_sum(), value);
    let critical = match quantity {
        StripQuantity::Problems => history.columns(window, columns, ColumnSum::Worst, |sums| sums.critical),
        _ => Vec::new(),
    };
    Strip {
        label: quantity.label().to_owned(),
        quantity,
        port: None,
        steps: values.into_iter().map(|value| Some(quantity.step(value?, top))).collect(),
        critical: critical.into_iter().map(|critical| critical.is_some_and(|count| count > 0.0)).collect(),
    }
}

/// The ports that waited longest, and those with most errors (a link that goes down counts as one): at least a third of the
/// rows is theirs where there are that many.
fn worst_ports(
    history: &FabricHistory,
    window: TimeWindow,
    rows: usize,
) -> Vec<(PortIdentity, StripQuantity)> {
    const ERROR_SHARE: usize = 3;
    let of = |quantity| move |port| (port, quantity);
    let waits = history.worst_waits(window, rows);
    let least = if rows > 1 { rows.div_ceil(ERROR_SHARE) } else { usize::from(waits.is_empty()) };
    let errors = history.worst_errors(window, least.max(rows.saturating_sub(waits.len())));
    let waits = waits.into_iter().take(rows.saturating_sub(errors.len())).map(of(StripQuantity::Wait));
    waits.chain(errors.into_iter().map(of(StripQuantity::Errors))).collect()
}

fn port_strip(
    known: &Model,
    window: TimeWindow,
    columns: usize,
    port: PortIdentity,
    quantity: StripQuantity,
) -> Strip {
    let of_port = if quantity == StripQuantity::Errors { PortQuantity::Errors } else { PortQuantity::Wait };
    let values = chart_history(known).port_columns(window, columns, port, of_port);
    let name = known.look.as_ref().and_then(|look| {
        let fabric = look.fabric();
        let node = fabric.node_by_guid(port.0)?;
        Some(short_port_name(look, fabric.port_of(node, port.1)?))
    });
    Strip {
        label: name.unwrap_or_else(|| format!("{}[{}]", port.0, port.1.0)),
        quantity,
        port: Some(port),
        steps: values.into_iter().map(|value| Some(quantity.step(value?, 100.0))).collect(),
        critical: Vec::new(),
    }
}

/// The events of each lane: in each column the worst one, and what lasts between.
fn lanes(
    events: &[EventRow],
    window: TimeWindow,
    columns: usize,
    latest: i64,
) -> Vec<(EventLane, Vec<Option<LaneCell>>)> {
    let column = |at_ms: i64| {
        let plot = Rect { width: u16::try_from(columns).ok().filter(|columns| *columns > 0)?, ..Rect::ZERO };
        Some(usize::from(column_of(plot, window.share(at_ms)?)))
    };
    let end = column(latest).map_or(columns, |last| last + 1);
    let lane = |lane: EventLane| {
        let mut cells: Vec<Option<LaneCell>> = vec![None; columns];
        let (mut lasting, mut since) = (0, 0);
        let fill = |cells: &mut Vec<Option<LaneCell>>, from: usize, to: usize| {
            for cell in cells.iter_mut().take(to).skip(from).filter(|cell| cell.is_none()) {
                *cell = Some(LaneCell::Lasting);
            }
        };
        for event in events.iter().filter(|event| event.lane() == Some(lane)) {
            if event.at_ms > window.to_ms {
                break;
            }
            let here = column(event.at_ms);
            if lasting > 0 {
                fill(&mut cells, since, here.unwrap_or(0));
            }
            lasting = (lasting + event.condition_change()).max(0);
            let Some(here) = here else { continue };
            since = here + 1;
            let worst = match cells[here] {
                Some(LaneCell::Event(kind)) => kind.min(event.kind),
                _ => event.kind,
            };
            cells[here] = Some(LaneCell::Event(worst));
        }
        if lasting > 0 {
            fill(&mut cells, since, end);
        }
        (lane, cells)
    };
    EventLane::ALL.map(lane).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(at_ms: i64, kind: EventKind, label: &'static str) -> EventRow {
        EventRow {
            place: None,
            at: at_ms,
            at_ms,
            time: String::new(),
            kind,
            label,
            by: "watch",
            text: String::new(),
            command: None,
        }
    }

    #[test]
    fn each_quantity_has_four_steps_above_nothing() {
        let steps =
            |quantity: StripQuantity, values: [f64; 6]| values.map(|value| quantity.step(value, 200.0));
        assert_eq!(steps(StripQuantity::Wait, [0.0, 0.9, 1.0, 25.0, 74.0, 100.0]), [0, 0, 1, 2, 3, 4]);
        assert_eq!(steps(StripQuantity::Traffic, [0.0, 1.0, 2.0, 50.0, 100.0, 150.0]), [0, 0, 1, 2, 3, 4]);
        assert_eq!(steps(StripQuantity::Errors, [0.0, 0.001, 9.0, 10.0, 100.0, 1e6]), [0, 1, 1, 2, 3, 4]);
        assert_eq!(steps(StripQuantity::Problems, [0.0, 1.0, 2.0, 4.0, 7.0, 8.0]), [0, 1, 2, 3, 3, 4]);
    }

    #[test]
    fn a_lane_shows_what_lasts_up_to_the_last_reading() {
        let events = [
            event(500, EventKind::Began, "hot-spot"),
            event(4000, EventKind::Over, "hot-spot"),
            event(6000, EventKind::Began, "hot-spot"),
            event(6100, EventKind::Note, "note"),
        ];
        let window = TimeWindow { from_ms: 1000, to_ms: 11_000 };
        let lanes = lanes(&events, window, 10, 8500);
        let text = |lane: EventLane| -> String {
            let (_, cells) = &lanes[lane as usize];
            let sign = |cell: &Option<LaneCell>| match cell {
                None => ' ',
                Some(LaneCell::Lasting) => '=',
                Some(LaneCell::Event(EventKind::Began)) => '^',
                Some(LaneCell::Event(_)) => 'o',
            };
            cells.iter().map(sign).collect()
        };
        assert_eq!(text(EventLane::HotSpots), "==o ^===  ");
        assert_eq!(text(EventLane::Operator), "     o    ");
        assert_eq!(text(EventLane::Cables), "          ");
    }
}
