//! Finds out whether switches use adaptive routing. Once a session, each switch of a vendor with this attribute is
//! asked for its capabilities (GeneralInfo). A capable switch is asked whether adaptive routing is on
//! (AdaptiveRoutingInfo).

use rustc_hash::FxHashMap;

use super::discovery::directed;
use super::found::{FoundNode, node_id};
use super::question::{Question, Reply};
use super::reader::{Reader, Told};
use super::tables::{silence, switches};
use fabdeck_fabric::observe::Adaptive;
use fabdeck_fabric::{Fabric, Guid};
use fabdeck_mad::access::SourceError;
use fabdeck_mad::{AdaptiveRoutingInfo, GeneralInfo, Smp, Status, attribute, has_vendor_attributes};

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
enum Asked {
    /// What the switch can do.
    General(usize),
    /// Whether adaptive routing is on.
    State(usize),
}

/// The switches to ask, in the order of the nodes.
pub fn switches_to_ask(fabric: &Fabric, nodes: &[FoundNode], known: &AdaptiveAnswers) -> Vec<usize> {
    let open = |(at, node): &(usize, &FoundNode)| {
        let vendor = fabric.node(node_id(*at)).facts.vendor_id;
        let settled =
            matches!(known.get(&node.guid), Some(AdaptiveAnswer::Unsupported | AdaptiveAnswer::Silent));
        vendor.is_some_and(has_vendor_attributes) && !settled
    };
    switches(nodes).filter(open).map(|(at, _)| at).collect()
}

/// Asks these switches. Returns the answer of each.
pub fn ask_adaptive(
    reader: &mut Reader<'_>,
    nodes: &[FoundNode],
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
    let mut phase = reader.phase::<Asked>("adaptive");
    let retries = phase.exchange.retries().min(RETRIES);
    let first = |at: usize| match known.contains_key(&nodes[at].guid) {
        true => Asked::State(at),
        false => Asked::General(at),
    };
    let questions = asked.iter().map(move |at| question(nodes, first(*at), retries));
    phase.exchange.feed(asked.len() as u64, questions);
    let mut answers = Vec::with_capacity(asked.len());
    while let Some((asked, reply)) = phase.next()? {
        let (Asked::General(at) | Asked::State(at)) = asked;
        if let Some(answer) = answer_of(asked, &reply) {
            if answer == AdaptiveAnswer::Silent {
                phase.told.silent.push(silence(&nodes[at], name(asked).to_owned(), &reply));
            }
            answers.push((nodes[at].guid, answer));
        } else {
            phase.exchange.ask(question(nodes, Asked::State(at), retries));
        }
    }
    phase.end();
    Ok(answers)
}

/// The result of a reply. `None`: the switch can do adaptive routing, and is to be asked whether it is on.
fn answer_of(asked: Asked, reply: &Reply) -> Option<AdaptiveAnswer> {
    let unsupported = |status: &Status| match asked {
        // A device that knows only other modifiers counts like one without the attribute.
        Asked::General(_) => status.is_unsupported() || status.is_invalid_field(),
        Asked::State(_) => status.is_unsupported(),
    };
    match (asked, reply) {
        (Asked::General(_), Reply::Answer(mad)) => {
            let can = Smp(mad.clone()).data::<GeneralInfo>().has_adaptive_routing();
            (!can).then_some(AdaptiveAnswer::Unsupported)
        }
        (Asked::State(_), Reply::Answer(mad)) => {
            Some(match Smp(mad.clone()).data::<AdaptiveRoutingInfo>().is_on() {
                true => AdaptiveAnswer::On,
                false => AdaptiveAnswer::Off,
            })
        }
        (_, Reply::Refused(status)) if unsupported(status) => Some(AdaptiveAnswer::Unsupported),
        (_, Reply::Refused(_) | Reply::Silence) => Some(AdaptiveAnswer::Silent),
    }
}

fn name(asked: Asked) -> &'static str {
    match asked {
        Asked::General(_) => "GeneralInfo",
        Asked::State(_) => "AdaptiveRoutingInfo",
    }
}

fn question(nodes: &[FoundNode], asked: Asked, retries: u32) -> Question<Asked> {
    let (at, attribute, modifier) = match asked {
        Asked::General(at) => (at, attribute::GENERAL_INFO, GeneralInfo::CAPABILITIES),
        Asked::State(at) => (at, attribute::ADAPTIVE_ROUTING_INFO, 0),
    };
    let parcel = directed(attribute, modifier, &nodes[at].route, nodes[at].m_key.0);
    Question { parcel, target: at as u32, retries, tag: asked }
}

/// The state of adaptive routing in a fabric, by these answers.
pub fn adaptive_routing(nodes: &[FoundNode], answers: &AdaptiveAnswers) -> Option<Adaptive> {
    let count = |wanted| {
        let said = switches(nodes).filter(|(_, node)| answers.get(&node.guid) == Some(&wanted));
        said.count() as u64
    };
    match (count(AdaptiveAnswer::On), count(AdaptiveAnswer::Silent)) {
        (0, 0) => None,
        (0, silent) => Some(Adaptive::Unknown(silent)),
        (on, _) => Some(Adaptive::On(on)),
    }
}

/// Notes that forwarding tables may not say the paths.
pub fn note_adaptive(told: &mut Told, nodes: &[FoundNode], answers: &AdaptiveAnswers) {
    let all = switches(nodes).count();
    match adaptive_routing(nodes, answers) {
        None | Some(Adaptive::Seen) => {}
        Some(Adaptive::On(on)) => told.note("FN-561", || {
            format!("adaptive routing is on at {on} of {all} switches: forwarding tables do not tell the paths")
        }),
        Some(Adaptive::Unknown(silent)) => told.note_partial("FN-562", || {
            format!(
                "{silent} of {all} switches did not answer whether adaptive routing is on: forwarding tables may not \
                 tell the paths"
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
    fn a_switch_that_says_no_is_off_and_a_silent_one_is_open() {
        use AdaptiveAnswer::{Off, On, Silent, Unsupported};
        let refused = |status: u16| Reply::Refused(Status(status));
        for (status, of_general, of_state) in [
            (0x0004, Unsupported, Unsupported),
            (0x0008, Unsupported, Unsupported),
            (0x000C, Unsupported, Unsupported),
            // The switch has the attribute, so its setting remains unknown.
            (0x001C, Unsupported, Silent),
            (0x0001, Silent, Silent),
            (0x0014, Silent, Silent),
        ] {
            assert_eq!(answer_of(Asked::General(0), &refused(status)), Some(of_general), "{status:#x}");
            assert_eq!(answer_of(Asked::State(0), &refused(status)), Some(of_state), "{status:#x}");
        }
        assert_eq!(answer_of(Asked::General(0), &Reply::Silence), Some(Silent));
        let general = |bit| answered(|smp| *smp.data_mut() = GeneralInfo::default().with(bit));
        for (bit, answer) in
            [(0, Some(Unsupported)), (1, None), (2, None), (12, Some(Unsupported)), (34, Some(Unsupported))]
        {
            assert_eq!(answer_of(Asked::General(0), &general(bit)), answer, "{bit}");
        }
        let state = |on| answered(|smp| *smp.data_mut() = AdaptiveRoutingInfo::of(on));
        assert_eq!(answer_of(Asked::State(0), &state(true)), Some(On));
        assert_eq!(answer_of(Asked::State(0), &state(false)), Some(Off));
    }
}
