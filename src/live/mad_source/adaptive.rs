//! Finds out whether switches use adaptive routing. Once a session, each switch of a vendor with this attribute is
//! asked for its capabilities (GeneralInfo). A capable switch is asked whether adaptive routing is on
//! (AdaptiveRoutingInfo).

use rustc_hash::FxHashMap;

use super::discovery_state::{DiscoveredNode, node_id};
use super::get_request::directed_get;
use super::question::{Question, Reply};
use super::reader::{PhaseLog, PortReader};
use super::tables::{switch_nodes, to_silence};
use fabdeck_fabric::observe::AdaptiveRouting;
use fabdeck_fabric::{Fabric, Guid};
use fabdeck_mad::access::SourceError;
use fabdeck_mad::{AdaptiveRoutingInfo, GeneralInfo, MadStatus, Smp, attribute, has_vendor_attributes};

/// The last answer of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AdaptiveAnswer {
    /// The switch has no adaptive routing, and is not asked again.
    Unsupported,
    Off,
    On,
    /// The switch did not answer, and is not asked again: a device may count each query as a violation of its key.
    Silent,
}

/// The answers of a session.
pub type AdaptiveAnswers = FxHashMap<Guid, AdaptiveAnswer>;

/// An unanswered query is sent once more at most, whatever the policy says.
const RETRIES: u32 = 1;

/// The prefix of the names of ibsim's adapters.
const IBSIM: &str = "ibsim";

#[derive(Clone, Copy, Debug)]
enum AdaptiveQuestion {
    /// What the switch can do.
    General(usize),
    /// Whether adaptive routing is on.
    State(usize),
}

/// The switches to ask, in the order of the nodes.
pub fn switches_to_ask(fabric: &Fabric, nodes: &[DiscoveredNode], known: &AdaptiveAnswers) -> Vec<usize> {
    let open = |(at, node): &(usize, &DiscoveredNode)| {
        let vendor = fabric.node(node_id(*at)).facts.vendor_id;
        let settled =
            matches!(known.get(&node.guid), Some(AdaptiveAnswer::Unsupported | AdaptiveAnswer::Silent));
        vendor.is_some_and(has_vendor_attributes) && !settled
    };
    switch_nodes(nodes).filter(open).map(|(at, _)| at).collect()
}

/// Asks these switches. Returns the answer of each.
pub fn ask_adaptive(
    reader: &mut PortReader<'_>,
    nodes: &[DiscoveredNode],
    asked: &[usize],
    known: &AdaptiveAnswers,
) -> Result<Vec<(Guid, AdaptiveAnswer)>, SourceError> {
    // The switches of ibsim know only the specification. They drop other attributes, or pass them to a program at the
    // switch.
    if reader.local_name().starts_with(IBSIM) {
        return Ok(asked.iter().map(|at| (nodes[*at].guid, AdaptiveAnswer::Unsupported)).collect());
    }
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let mut phase = reader.open_phase::<AdaptiveQuestion>("adaptive");
    let retries = phase.exchange.retries().min(RETRIES);
    let first = |at: usize| match known.contains_key(&nodes[at].guid) {
        true => AdaptiveQuestion::State(at),
        false => AdaptiveQuestion::General(at),
    };
    let questions = asked.iter().map(move |at| question(nodes, first(*at), retries));
    phase.exchange.feed(asked.len() as u64, questions);
    let mut answers = Vec::with_capacity(asked.len());
    while let Some((asked, reply)) = phase.next()? {
        let (AdaptiveQuestion::General(at) | AdaptiveQuestion::State(at)) = asked;
        if let Some(answer) = to_answer(asked, &reply) {
            if answer == AdaptiveAnswer::Silent {
                phase.log.silent.push(to_silence(&nodes[at], question_name(asked).to_owned(), &reply));
            }
            answers.push((nodes[at].guid, answer));
        } else {
            phase.exchange.ask(question(nodes, AdaptiveQuestion::State(at), retries));
        }
    }
    phase.end();
    Ok(answers)
}

/// The result of a reply. `None`: the switch can do adaptive routing, and is to be asked whether it is on.
fn to_answer(asked: AdaptiveQuestion, reply: &Reply) -> Option<AdaptiveAnswer> {
    let unsupported = |status: &MadStatus| match asked {
        // A device that knows only other modifiers counts like one without the attribute.
        AdaptiveQuestion::General(_) => status.is_unsupported() || status.is_invalid_field(),
        AdaptiveQuestion::State(_) => status.is_unsupported(),
    };
    match (asked, reply) {
        (AdaptiveQuestion::General(_), Reply::Answer(mad)) => {
            let can = Smp(mad.clone()).data::<GeneralInfo>().has_adaptive_routing();
            (!can).then_some(AdaptiveAnswer::Unsupported)
        }
        (AdaptiveQuestion::State(_), Reply::Answer(mad)) => {
            Some(match Smp(mad.clone()).data::<AdaptiveRoutingInfo>().is_on() {
                true => AdaptiveAnswer::On,
                false => AdaptiveAnswer::Off,
            })
        }
        (_, Reply::Refused(status)) if unsupported(status) => Some(AdaptiveAnswer::Unsupported),
        (_, Reply::Refused(_) | Reply::Silence) => Some(AdaptiveAnswer::Silent),
    }
}

fn question_name(asked: AdaptiveQuestion) -> &'static str {
    match asked {
        AdaptiveQuestion::General(_) => "GeneralInfo",
        AdaptiveQuestion::State(_) => "AdaptiveRoutingInfo",
    }
}

fn question(nodes: &[DiscoveredNode], asked: AdaptiveQuestion, retries: u32) -> Question<AdaptiveQuestion> {
    let (at, attribute, modifier) = match asked {
        AdaptiveQuestion::General(at) => (at, attribute::GENERAL_INFO, GeneralInfo::CAPABILITIES),
        AdaptiveQuestion::State(at) => (at, attribute::ADAPTIVE_ROUTING_INFO, 0),
    };
    let parcel = directed_get(attribute, modifier, &nodes[at].route, nodes[at].m_key.0);
    Question { parcel, target: at as u32, retries, tag: asked }
}

/// The state of adaptive routing in a fabric, by these answers.
pub fn summarize_adaptive(nodes: &[DiscoveredNode], answers: &AdaptiveAnswers) -> Option<AdaptiveRouting> {
    let count = |wanted| {
        let said = switch_nodes(nodes).filter(|(_, node)| answers.get(&node.guid) == Some(&wanted));
        said.count() as u64
    };
    match (count(AdaptiveAnswer::On), count(AdaptiveAnswer::Silent)) {
        (0, 0) => None,
        (0, silent) => Some(AdaptiveRouting::Unknown(silent)),
        (on, _) => Some(AdaptiveRouting::On(on)),
    }
}

/// Notes that forwarding tables may not say the paths.
pub fn note_adaptive(told: &mut PhaseLog, nodes: &[DiscoveredNode], answers: &AdaptiveAnswers) {
    let all = switch_nodes(nodes).count();
    match summarize_adaptive(nodes, answers) {
        None | Some(AdaptiveRouting::Seen) => {}
        Some(AdaptiveRouting::On(on)) => told.note("FN-561", || {
            format!("adaptive routing is on at {on} of {all} switches: forwarding tables do not show the paths")
        }),
        Some(AdaptiveRouting::Unknown(silent)) => told.note_partial("FN-562", || {
            format!(
                "{silent} of {all} switches did not answer whether adaptive routing is on: forwarding tables may not \
                 show the paths"
            )
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_mad::{Class, Mad, Method};

    fn answered(fill: impl FnOnce(&mut Smp)) -> Reply {
        let mut smp = Smp(Mad::new(Class::SUBNET_DIRECTED, Method::GET_RESPONSE, 0, 0));
        fill(&mut smp);
        Reply::Answer(smp.0)
    }

    #[test]
    fn a_switch_without_it_is_off_and_a_silent_one_is_unknown() {
        use AdaptiveAnswer::{Off, On, Silent, Unsupported};
        let refused = |status: u16| Reply::Refused(MadStatus(status));
        for (status, of_general, of_state) in [
            (0x0004, Unsupported, Unsupported),
            (0x0008, Unsupported, Unsupported),
            (0x000C, Unsupported, Unsupported),
            // The switch has the attribute, so its setting remains unknown.
            (0x001C, Unsupported, Silent),
            (0x0001, Silent, Silent),
            (0x0014, Silent, Silent),
        ] {
            assert_eq!(
                to_answer(AdaptiveQuestion::General(0), &refused(status)),
                Some(of_general),
                "{status:#x}"
            );
            assert_eq!(
                to_answer(AdaptiveQuestion::State(0), &refused(status)),
                Some(of_state),
                "{status:#x}"
            );
        }
        assert_eq!(to_answer(AdaptiveQuestion::General(0), &Reply::Silence), Some(Silent));
        let general = |bit| answered(|smp| *smp.data_mut() = GeneralInfo::default().with(bit));
        for (bit, answer) in
            [(0, Some(Unsupported)), (1, None), (2, None), (12, Some(Unsupported)), (34, Some(Unsupported))]
        {
            assert_eq!(to_answer(AdaptiveQuestion::General(0), &general(bit)), answer, "{bit}");
        }
        let state = |on| answered(|smp| *smp.data_mut() = AdaptiveRoutingInfo::new(on));
        assert_eq!(to_answer(AdaptiveQuestion::State(0), &state(true)), Some(On));
        assert_eq!(to_answer(AdaptiveQuestion::State(0), &state(false)), Some(Off));
    }
}
