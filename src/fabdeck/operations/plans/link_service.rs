//! Plans that take a link out of service or bring it back: routes stay, and one switch port is disabled or
//! enabled.

use super::plan_origin::PlanOrigin;
use super::proposal_plan::{PlanCreationError, make_plan};
use super::tables_proposal::tables_proposal;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::lanes::levels::LevelsInForce;
use fabdeck_change::{Plan, PlanWrite};
use fabdeck_fabric::{Element, ElementError, ElementId, Faults, PhysicalState, PortId, PortNum};
use fabdeck_mad::access::AttributePart;
use fabdeck_routing::EngineRefusal;

/// The change of a link's service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkService {
    Disable,
    Enable,
}

/// Reason why no such plan is made.
#[derive(Debug, thiserror::Error)]
pub enum ServicePlanError {
    #[error("FD-7996: {0} is no cable and no port of a switch; give link:NAME[PORT] or port:NAME[PORT]")]
    NoPort(String),
    #[error("FD-7997: {0} is {1} already")]
    Already(String, &'static str),
    #[error(transparent)]
    Refused(#[from] EngineRefusal),
    #[error(transparent)]
    Plan(#[from] PlanCreationError),
}

/// Makes the plan that disables or enables the port of an element. Its certificate counts paths over a
/// disabled link as lost, so a reroute should come first.
pub fn service_plan(
    look: &Snapshot,
    element: ElementId,
    service: LinkService,
    sent: LevelsInForce<'_>,
    made: PlanOrigin,
) -> Result<Plan, ServicePlanError> {
    let fabric = look.fabric();
    let called = || Element::from_id(fabric, &look.names, element).to_string();
    let port = switch_port(look, element).ok_or_else(|| ServicePlanError::NoPort(called()))?;
    let disabled = fabric.port(port).facts.physical_state == Some(PhysicalState::Disabled);
    match service {
        LinkService::Disable if disabled => return Err(ServicePlanError::Already(called(), "disabled")),
        LinkService::Enable if !disabled => return Err(ServicePlanError::Already(called(), "enabled")),
        _ => {}
    }
    let mut faults = Faults::new();
    if service == LinkService::Disable {
        faults.mark(fabric.port(port).link.map_or(ElementId::Port(port), ElementId::Link));
    }
    let proposal = tables_proposal(look, &look.observation.tables, &faults, sent)?;
    let does = if service == LinkService::Disable { "disable" } else { "enable" };
    let what = format!("{does} {}, routes as they are", called());
    let mut plan = make_plan(look, &faults, &what, &proposal, sent, made)?;
    let (old, new) = if service == LinkService::Disable { (1, 0) } else { (0, 1) };
    let at = fabric.port(port);
    let part = AttributePart::Port(at.number.value());
    plan.writes.push(PlanWrite::for_switch(fabric.node(at.node).guid(), part, &[old], &[new]));
    Ok(plan)
}

/// Finds the link or port that the text names. A disabled port has no visible cable, so the port of a link
/// name also counts.
pub fn find_service_element(look: &Snapshot, text: &str) -> Result<ElementId, ElementError> {
    match Element::find(look.fabric(), &look.names, text) {
        Err(ElementError::NoLink { .. }) => {
            let port = format!("port:{}", text.strip_prefix("link:").unwrap_or(text));
            Element::find(look.fabric(), &look.names, &port)
        }
        found => found,
    }
}

/// The switch port that controls a cable: the given port, or the cable's end at a switch.
fn switch_port(look: &Snapshot, element: ElementId) -> Option<PortId> {
    let fabric = look.fabric();
    let of_switch = |port: &PortId| {
        let at = fabric.port(*port);
        fabric.node(at.node).is_switch() && at.number != PortNum::MANAGEMENT
    };
    match element {
        ElementId::Node(_) => None,
        ElementId::Port(port) => Some(port).filter(of_switch).or_else(|| fabric.peer(port).filter(of_switch)),
        ElementId::Link(link) => [fabric.link(link).a, fabric.link(link).b].into_iter().find(of_switch),
    }
}
