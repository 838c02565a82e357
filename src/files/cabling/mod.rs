//! Plans of cabling: `.topo` of ibutils, NDT and P2P sheets, and plain tables. The content decides the form, never the name.
//! A recording of the fabric from a day when it was right is a plan too; `plan_of_fabric` makes it one.

mod fabric_plan;
mod plan;
mod plan_reader;
mod planned_rate;
mod port_text;
mod sheet;
mod sheet_columns;
mod topo;
mod topo_writer;

pub use fabric_plan::{PlanRow, plan_of_fabric, write_sheet};
pub use plan::{CablingPlan, PlanCable, PlanForm, PlannedEnd};
pub use plan_reader::{looks_like, read};
pub use planned_rate::{PlannedRate, lane_gigabits};
pub use port_text::PortText;
pub use topo_writer::{TopoText, write_topo};

#[cfg(test)]
mod tests;
