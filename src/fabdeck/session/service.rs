//! Plans that take a link out of service or bring it back: routes stay, and one switch port is disabled or
//! enabled.

use std::sync::Arc;

use super::lanes::{Sent, lanes_in_force};
use super::weighed::weigh;
use super::whatif::in_force;
use super::written_plan::plan_of;
use super::{Look, Made, Proposal, Took, UnwrittenPlan};
use fabdeck_change::{Plan, Write};
use fabdeck_fabric::{Element, ElementError, Faults, PhysicalState, PortId, PortNum, Resolved};
use fabdeck_mad::access::Part;
use fabdeck_routing::{NoPulse, Problem, Ran, Refusal};

/// The change of a link's service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Service {
    Disable,
    Enable,
}

/// Reason why no such plan is made.
#[derive(Debug, thiserror::Error)]
pub enum UnservedPlan {
    #[error("FD-7996: {0} is no cable and no port of a switch; give link:NAME[PORT] or port:NAME[PORT]")]
    NoPort(String),
    #[error("FD-7997: {0} is {1} already")]
    Already(String, &'static str),
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Plan(#[from] UnwrittenPlan),
}

/// Makes the plan that disables or enables the port of an element. Its certificate counts paths over a
/// disabled link as lost, so a reroute should come first.
pub fn service_plan(
    look: &Look,
    element: Resolved,
    service: Service,
    sent: Sent<'_>,
    made: Made,
) -> Result<Plan, UnservedPlan> {
    let fabric = look.fabric();
    let called = || Element::of(fabric, &look.names, element).to_string();
    let port = switch_port(look, element).ok_or_else(|| UnservedPlan::NoPort(called()))?;
    let disabled = fabric.port(port).facts.physical_state == Some(PhysicalState::Disabled);
    match service {
        Service::Disable if disabled => return Err(UnservedPlan::Already(called(), "disabled")),
        Service::Enable if !disabled => return Err(UnservedPlan::Already(called(), "enabled")),
        _ => {}
    }
    let mut faults = Faults::new();
    if service == Service::Disable {
        faults.mark(fabric.port(port).link.map_or(Resolved::Port(port), Resolved::Link));
    }
    let proposal = as_it_is(look, &faults, sent)?;
    let does = if service == Service::Disable { "disable" } else { "enable" };
    let what = format!("{does} {}, routes as they are", called());
    let mut plan = plan_of(look, &faults, &what, &proposal, sent, made)?;
    let (old, new) = if service == Service::Disable { (1, 0) } else { (0, 1) };
    let at = fabric.port(port);
    let part = Part::Port(at.number.value());
    plan.writes.push(Write::of_switch(fabric.node(at.node).guid(), part, &[old], &[new]));
    Ok(plan)
}

/// Finds the link or port that the text names. A disabled port has no visible cable, so the port of a link
/// name also counts.
pub fn service_element(look: &Look, text: &str) -> Result<Resolved, ElementError> {
    match Element::find(look.fabric(), &look.names, text) {
        Err(ElementError::NoLink { .. }) => {
            let port = format!("port:{}", text.strip_prefix("link:").unwrap_or(text));
            Element::find(look.fabric(), &look.names, &port)
        }
        found => found,
    }
}

/// The switch port that controls a cable: the given port, or the cable's end at a switch.
fn switch_port(look: &Look, element: Resolved) -> Option<PortId> {
    let fabric = look.fabric();
    let of_switch = |port: &PortId| {
        let at = fabric.port(*port);
        fabric.node(at.node).is_switch() && at.number != PortNum::MANAGEMENT
    };
    match element {
        Resolved::Node(_) => None,
        Resolved::Port(port) => Some(port).filter(of_switch).or_else(|| fabric.peer(port).filter(of_switch)),
        Resolved::Link(link) => [fabric.link(link).a, fabric.link(link).b].into_iter().find(of_switch),
    }
}

/// The routes in force in the form of a proposal, on the fabric without the marked elements.
fn as_it_is(look: &Look, faults: &Faults, sent: Sent<'_>) -> Result<Proposal, Refusal> {
    let tables = &look.observation.tables;
    let problem = Problem::new(look.fabric(), faults);
    let mut routes = in_force(look, tables, faults);
    if let (Some(lanes), _) = lanes_in_force(look, &problem, tables, &routes, false, sent) {
        routes.lanes = lanes;
    }
    let weighed = weigh((look, tables), &problem, &routes, (false, sent), &NoPulse)?;
    Ok(Proposal {
        supposed_lanes: None,
        degraded: false,
        routes: Arc::new(routes),
        switches: false,
        report: weighed.report,
        difference: weighed.difference,
        changed_lanes: weighed.changed_lanes,
        transition: weighed.transition,
        remarks: Vec::new(),
        not_used: Vec::new(),
        running: None,
        ran: Ran::default(),
        took: Took::default(),
    })
}
