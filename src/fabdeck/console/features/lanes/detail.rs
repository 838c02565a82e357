//! The details of a flow or a table.

use super::lane_effect::port_effect;
use super::screen::{LaneView, LanesScreen, follows_words, status_words};
use crate::catalogue::value::rate_in_millions;
use crate::console::model::detail_page::DetailPage;
use crate::console::model::fabric_model::Model;
use crate::operations::lanes::rows::{levels_word, table_status_word};
use crate::operations::lanes::slow_lanes::{LaneSpot, TableStatus};
use crate::operations::watch::port_values::port_identity;

/// The details of the flow or table in a row.
pub fn lane_detail(screen: &LanesScreen, row: usize, known: &Model) -> Option<DetailPage> {
    match screen.view {
        LaneView::Flows => flow_detail(screen, row, known),
        LaneView::Tables => table_detail(screen, row),
    }
}

pub(crate) fn flow_detail(screen: &LanesScreen, row: usize, known: &Model) -> Option<DetailPage> {
    let (spot, flow) = screen.flow_at(row)?;
    let mut pairs = vec![("hot-spot", format!("{} (LID {})", spot.port.name, spot.port.lid))];
    let standing = flow.map_or(spot.standing, |flow| flow.standing);
    pairs.push(("state", status_words(standing).to_owned()));
    pairs.extend(levels_word(spot).map(|levels| ("levels", format!("{levels} (fast to slow)"))));
    pairs.extend(
        spot.congestion.map(|ticks| ("waits", format!("{} ticks/s at its switch", rate_in_millions(ticks)))),
    );
    pairs.extend(spot_effect(screen, spot, known).map(|effect| ("wait", effect)));
    if let Some(flow) = flow {
        pairs.push(("host", format!("{} (LID {})", flow.flow.host.name, flow.flow.host.lid)));
        pairs.push(("follows", follows_words(flow.flow.follows).to_owned()));
        pairs.extend(host_effect(screen, row, known).map(|effect| ("its wait", effect)));
    }
    // The lines below have the adapters of both.
    let short = |name: &str| name.split(' ').next().unwrap_or_default().to_owned();
    let title = match flow {
        Some(flow) => format!("From {} to {}", short(&flow.flow.host.name), short(&spot.port.name)),
        None => format!("To {}", short(&spot.port.name)),
    };
    Some(DetailPage { title, pairs, ports: Vec::new() })
}

/// How long the switch port of a hot-spot waited before the last move, and waits now.
fn spot_effect(screen: &LanesScreen, spot: &LaneSpot, known: &Model) -> Option<String> {
    let fabric = screen.state.as_ref()?.1.fabric();
    port_effect(known, port_identity(fabric, fabric.peer(spot.adapter)?))
}

/// The same of the host of a flow.
fn host_effect(screen: &LanesScreen, row: usize, known: &Model) -> Option<String> {
    let look = &screen.state.as_ref()?.1;
    port_effect(known, port_identity(look.fabric(), screen.port_of_flow(row, look)?))
}

pub(crate) fn table_detail(screen: &LanesScreen, row: usize) -> Option<DetailPage> {
    let (table, (_, look)) = (screen.table_at(row)?, screen.state.as_ref()?);
    let mut pairs =
        vec![("table", table.table.clone()), ("state", table_status_word(&table.standing).to_owned())];
    match &table.standing {
        TableStatus::AsShould => {}
        TableStatus::Differs { held, wanted } => {
            pairs.extend([("in force", held.clone()), ("should be", wanted.clone())]);
        }
        TableStatus::Cannot(why) => pairs.push(("reason", why.clone())),
    }
    Some(DetailPage { title: look.unique_port_name(table.port), pairs, ports: Vec::new() })
}
