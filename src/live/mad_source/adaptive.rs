//! Finds out whether switches use adaptive routing. Once a session, each switch of a vendor with this attribute is
//! asked for its capabilities (GeneralInfo). A capable switch is asked whether adaptive routing is on
//! (AdaptiveRoutingInfo), how many private tables it has (PrivateTableInfo) and what selects its lanes (ExtendedNodeInfo):
//! four MADs a switch at most, and three in each later turn, because all three can change. The last two are asked of
//! switches without adaptive routing too, where these have them: linear tables alone may not determine their paths.

use rustc_hash::FxHashMap;

use super::adaptive_tables::KnownAdaptiveTables;
use super::discovery_state::{DiscoveredNode, node_id};
use super::get_request::directed_get;
use super::question::{Question, Reply};
use super::reader::{PhaseLog, PortReader};
use super::tables::{switch_nodes, to_silence};
use fabdeck_fabric::observe::AdaptiveRouting;
use fabdeck_fabric::{AdaptiveSettings, AdaptiveStatement, Fabric, Guid};
use fabdeck_mad::access::SourceError;
use fabdeck_mad::{
    AdaptiveRoutingInfo, ExtendedNodeInfo, GeneralInfo, MadStatus, PrivateTableInfo, Smp, attribute,
    has_vendor_attributes,
};

/// The last answer of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AdaptiveAnswer {
    /// The switch has no adaptive routing, and is not asked again.
    Unsupported,
    /// The switch has it: its settings, and what it can do.
    Stated(AdaptiveSettings, GeneralInfo),
    /// The switch did not answer, and is not asked again: a device may count each query as a violation of its key.
    Silent,
}

impl AdaptiveAnswer {
    fn is_on(&self) -> bool {
        matches!(self, Self::Stated(settings, _) if settings.has_choice())
    }

    fn has_tables(&self) -> bool {
        matches!(self, Self::Stated(settings, _) if settings.needs_tables())
    }

    /// Whether the switch left a question without an answer.
    fn has_silence(&self) -> bool {
        match self {
            Self::Unsupported => false,
            Self::Silent => true,
            Self::Stated(settings, _) => settings.private_tables.is_none() || settings.lane_input.is_none(),
        }
    }

    /// The answer as a property of the switch.
    pub fn statement(&self) -> AdaptiveStatement {
        match self {
            Self::Unsupported => AdaptiveStatement::Absent,
            Self::Silent => AdaptiveStatement::NoAnswer,
            Self::Stated(settings, _) if settings.absent && settings.is_plain() => AdaptiveStatement::Absent,
            Self::Stated(settings, _) => AdaptiveStatement::Stated(*settings),
        }
    }
}

/// The answers of a session.
#[derive(Clone, Debug, Default)]
pub struct AdaptiveAnswers {
    answers: FxHashMap<Guid, AdaptiveAnswer>,
    /// The adaptive tables that were read, with what they belong to.
    pub tables: FxHashMap<Guid, KnownAdaptiveTables>,
}

impl AdaptiveAnswers {
    pub fn get(&self, guid: &Guid) -> Option<&AdaptiveAnswer> {
        self.answers.get(guid)
    }

    pub fn extend(&mut self, answers: impl IntoIterator<Item = (Guid, AdaptiveAnswer)>) {
        self.answers.extend(answers);
    }

    /// Forgets that switches did not answer or refused.
    pub fn forget_silence(&mut self, of: impl Fn(&Guid) -> bool) {
        self.answers.retain(|guid, said| !said.has_silence() || !of(guid));
        self.tables.retain(|guid, known| known.is_read() || !of(guid));
    }
}

/// An unanswered query is sent once more at most, whatever the policy says.
const RETRIES: u32 = 1;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AdaptiveQuestion {
    /// What the switch can do.
    General(usize),
    /// Whether adaptive routing is on.
    State(usize, GeneralInfo),
    /// How many private tables the switch has.
    PrivateTables(usize, GeneralInfo, AdaptiveSettings),
    /// What selects its lanes.
    LaneInput(usize, GeneralInfo, AdaptiveSettings),
}

impl AdaptiveQuestion {
    fn switch(&self) -> usize {
        match self {
            Self::General(at)
            | Self::State(at, _)
            | Self::PrivateTables(at, ..)
            | Self::LaneInput(at, ..) => *at,
        }
    }
}

/// What follows from a reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum NextStep {
    Ask(AdaptiveQuestion),
    Answer(AdaptiveAnswer),
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
    if reader.is_ibsim() {
        return Ok(asked.iter().map(|at| (nodes[*at].guid, AdaptiveAnswer::Unsupported)).collect());
    }
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let mut phase = reader.open_phase::<AdaptiveQuestion>("adaptive");
    let retries = phase.exchange.retries().min(RETRIES);
    let mut answers = Vec::with_capacity(asked.len());
    let mut first = Vec::with_capacity(asked.len());
    for at in asked {
        match first_step(*at, known.get(&nodes[*at].guid)) {
            NextStep::Ask(next) => first.push(next),
            NextStep::Answer(answer) => answers.push((nodes[*at].guid, answer)),
        }
    }
    let count = first.len() as u64;
    phase.exchange.feed(count, first.into_iter().map(move |next| question(nodes, next, retries)));
    while let Some((asked, reply)) = phase.next()? {
        let node = &nodes[asked.switch()];
        if matches!(reply, Reply::Silence) {
            phase.log.silent.push(to_silence(node, question_name(asked).to_owned(), &reply));
        }
        match next_step(asked, &reply, known.get(&node.guid)) {
            NextStep::Answer(answer) => {
                if answer == AdaptiveAnswer::Silent && !matches!(reply, Reply::Silence) {
                    phase.log.silent.push(to_silence(node, question_name(asked).to_owned(), &reply));
                }
                answers.push((node.guid, answer));
            }
            NextStep::Ask(next) => phase.exchange.ask(question(nodes, next, retries)),
        }
    }
    phase.end();
    Ok(answers)
}

/// The first question to a switch. What a switch can do does not change.
fn first_step(at: usize, known: Option<&AdaptiveAnswer>) -> NextStep {
    match known {
        Some(AdaptiveAnswer::Stated(settings, info)) if settings.absent => without_adaptive(at, *info, known),
        Some(AdaptiveAnswer::Stated(_, info)) => NextStep::Ask(AdaptiveQuestion::State(at, *info)),
        _ => NextStep::Ask(AdaptiveQuestion::General(at)),
    }
}

/// The next step at a switch without adaptive routing.
fn without_adaptive(at: usize, info: GeneralInfo, known: Option<&AdaptiveAnswer>) -> NextStep {
    if !info.has(GeneralInfo::PRIVATE_TABLES) && !info.has(GeneralInfo::EXTENDED_NODE_INFO) {
        return NextStep::Answer(AdaptiveAnswer::Unsupported);
    }
    ask_private_tables(at, info, AdaptiveSettings { absent: true, ..AdaptiveSettings::default() }, known)
}

/// The result of a reply, or the next question.
fn next_step(asked: AdaptiveQuestion, reply: &Reply, known: Option<&AdaptiveAnswer>) -> NextStep {
    // A device that knows only other modifiers counts like one without the attribute.
    let refuses = |status: &MadStatus| status.is_unsupported() || status.is_invalid_field();
    match (asked, reply) {
        (AdaptiveQuestion::General(at), Reply::Answer(mad)) => {
            let info = *Smp(mad.clone()).data::<GeneralInfo>();
            match info.has_adaptive_routing() {
                true => NextStep::Ask(AdaptiveQuestion::State(at, info)),
                false => without_adaptive(at, info, known),
            }
        }
        (AdaptiveQuestion::State(at, info), Reply::Answer(mad)) => {
            let settings = Smp(mad.clone()).data::<AdaptiveRoutingInfo>().settings();
            ask_private_tables(at, info, settings, known)
        }
        (AdaptiveQuestion::PrivateTables(at, info, settings), reply) => {
            let private_tables = match reply {
                Reply::Answer(mad) => Some(Smp(mad.clone()).data::<PrivateTableInfo>().tables_in_force()),
                Reply::Refused(status) if refuses(status) => Some(0),
                Reply::Refused(_) | Reply::Silence => None,
            };
            ask_lane_input(at, info, AdaptiveSettings { private_tables, ..settings }, known)
        }
        (AdaptiveQuestion::LaneInput(_, info, settings), reply) => {
            let lane_input = match reply {
                Reply::Answer(mad) => Some(Smp(mad.clone()).data::<ExtendedNodeInfo>().lane_input),
                Reply::Refused(status) if refuses(status) => Some(0),
                Reply::Refused(_) | Reply::Silence => None,
            };
            NextStep::Answer(AdaptiveAnswer::Stated(AdaptiveSettings { lane_input, ..settings }, info))
        }
        (AdaptiveQuestion::General(_), Reply::Refused(status)) if refuses(status) => {
            NextStep::Answer(AdaptiveAnswer::Unsupported)
        }
        (AdaptiveQuestion::State(at, info), Reply::Refused(status)) if status.is_unsupported() => {
            without_adaptive(at, info, known)
        }
        (_, Reply::Refused(_) | Reply::Silence) => NextStep::Answer(AdaptiveAnswer::Silent),
    }
}

/// Asks how many private tables are in force, where the switch has the attribute and did not leave it without an answer
/// before.
fn ask_private_tables(
    at: usize,
    info: GeneralInfo,
    settings: AdaptiveSettings,
    known: Option<&AdaptiveAnswer>,
) -> NextStep {
    let silent =
        matches!(known, Some(AdaptiveAnswer::Stated(AdaptiveSettings { private_tables: None, .. }, _)));
    match info.has(GeneralInfo::PRIVATE_TABLES) {
        true if silent => ask_lane_input(at, info, settings, known),
        true => NextStep::Ask(AdaptiveQuestion::PrivateTables(at, info, settings)),
        false => ask_lane_input(at, info, AdaptiveSettings { private_tables: Some(0), ..settings }, known),
    }
}

/// Asks what selects lanes, where the switch has the attribute and did not leave it without an answer before.
fn ask_lane_input(
    at: usize,
    info: GeneralInfo,
    settings: AdaptiveSettings,
    known: Option<&AdaptiveAnswer>,
) -> NextStep {
    let has_attribute = info.has(GeneralInfo::EXTENDED_NODE_INFO);
    let silent = matches!(known, Some(AdaptiveAnswer::Stated(AdaptiveSettings { lane_input: None, .. }, _)));
    if has_attribute && !silent {
        return NextStep::Ask(AdaptiveQuestion::LaneInput(at, info, settings));
    }
    let lane_input = (!has_attribute).then_some(0);
    NextStep::Answer(AdaptiveAnswer::Stated(AdaptiveSettings { lane_input, ..settings }, info))
}

fn question_name(asked: AdaptiveQuestion) -> &'static str {
    match asked {
        AdaptiveQuestion::General(_) => "GeneralInfo",
        AdaptiveQuestion::State(..) => "AdaptiveRoutingInfo",
        AdaptiveQuestion::PrivateTables(..) => "PrivateTableInfo",
        AdaptiveQuestion::LaneInput(..) => "ExtendedNodeInfo",
    }
}

fn question(nodes: &[DiscoveredNode], asked: AdaptiveQuestion, retries: u32) -> Question<AdaptiveQuestion> {
    let at = asked.switch();
    let (attribute, modifier) = match asked {
        AdaptiveQuestion::General(_) => (attribute::GENERAL_INFO, GeneralInfo::CAPABILITIES),
        AdaptiveQuestion::State(..) => (attribute::ADAPTIVE_ROUTING_INFO, 0),
        AdaptiveQuestion::PrivateTables(..) => (attribute::PRIVATE_TABLE_INFO, 0),
        AdaptiveQuestion::LaneInput(..) => (attribute::EXTENDED_NODE_INFO, 0),
    };
    let parcel = directed_get(attribute, modifier, &nodes[at].route, nodes[at].m_key.0);
    Question { parcel, target: at as u32, retries, tag: asked }
}

/// The state of adaptive routing in a fabric, by these answers.
pub fn summarize_adaptive(nodes: &[DiscoveredNode], answers: &AdaptiveAnswers) -> Option<AdaptiveRouting> {
    let count = |wanted: fn(&AdaptiveAnswer) -> bool| {
        let said = switch_nodes(nodes).filter_map(|(_, node)| answers.get(&node.guid));
        said.filter(|answer| wanted(answer)).count() as u64
    };
    match (count(AdaptiveAnswer::is_on), count(|answer| *answer == AdaptiveAnswer::Silent)) {
        // Private tables decide where packets go, though nothing is adaptive.
        (0, 0) => (count(AdaptiveAnswer::has_tables) > 0).then_some(AdaptiveRouting::Seen),
        (0, silent) => Some(AdaptiveRouting::Unknown(silent)),
        (on, _) => Some(AdaptiveRouting::On(on)),
    }
}

/// Notes what forwarding tables say about the paths where switches route adaptively.
pub fn note_adaptive(told: &mut PhaseLog, nodes: &[DiscoveredNode], answers: &AdaptiveAnswers) {
    let all = switch_nodes(nodes).count();
    match summarize_adaptive(nodes, answers) {
        None | Some(AdaptiveRouting::Seen) => {}
        Some(AdaptiveRouting::On(on)) => told.note("FN-561", || {
            let is_known = |guid: &Guid| answers.tables.get(guid).is_some_and(KnownAdaptiveTables::is_understood);
            let known = switch_nodes(nodes).map(|(_, node)| &node.guid).filter(|guid| {
                answers.get(guid).is_some_and(AdaptiveAnswer::is_on) && is_known(guid)
            });
            format!("adaptive routing is on at {on} of {all} switches: {}", path_words(known.count() as u64, on))
        }),
        Some(AdaptiveRouting::Unknown(silent)) => told.note_partial("FN-562", || {
            format!(
                "{silent} of {all} switches did not answer whether adaptive routing is on: forwarding tables may not \
                 show the paths"
            )
        }),
    }
}

/// What is known of the paths through switches that route adaptively, of which `known` gave their adaptive tables.
fn path_words(known: u64, on: u64) -> String {
    const LINEAR: &str = "linear forwarding tables show one of several ports for a destination";
    match known {
        0 => format!("{LINEAR}, and the adaptive tables are not known"),
        _ if known < on => {
            format!(
                "{LINEAR}; the adaptive tables of {known} of them show all ports, those of {} are not known",
                on - known
            )
        }
        _ => format!("{LINEAR}; the adaptive tables show all of them"),
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

    fn answer_to(asked: AdaptiveQuestion, reply: &Reply) -> Option<AdaptiveAnswer> {
        match next_step(asked, reply, None) {
            NextStep::Answer(answer) => Some(answer),
            NextStep::Ask(_) => None,
        }
    }

    #[test]
    fn the_note_says_whether_adaptive_tables_are_known() {
        for (known, on, words) in [
            (0, 3, "and the adaptive tables are not known"),
            (2, 3, "the adaptive tables of 2 of them show all ports, those of 1 are not known"),
            (3, 3, "; the adaptive tables show all of them"),
        ] {
            assert!(path_words(known, on).ends_with(words), "{}", path_words(known, on));
        }
    }

    #[test]
    fn a_switch_without_it_is_absent_and_a_silent_one_is_unknown() {
        use AdaptiveAnswer::{Silent, Unsupported};
        let refused = |status: u16| Reply::Refused(MadStatus(status));
        let state = AdaptiveQuestion::State(0, GeneralInfo::default());
        for (status, of_general, of_state) in [
            (0x0004, Unsupported, Unsupported),
            (0x0008, Unsupported, Unsupported),
            (0x000C, Unsupported, Unsupported),
            // The switch has the attribute, so its setting remains unknown.
            (0x001C, Unsupported, Silent),
            (0x0001, Silent, Silent),
            (0x0014, Silent, Silent),
        ] {
            let general = answer_to(AdaptiveQuestion::General(0), &refused(status));
            assert_eq!(
                (general, answer_to(state, &refused(status))),
                (Some(of_general), Some(of_state)),
                "{status:#x}"
            );
        }
        assert_eq!(answer_to(AdaptiveQuestion::General(0), &Reply::Silence), Some(Silent));
        let general = |bit| answered(|smp| *smp.data_mut() = GeneralInfo::default().with(bit));
        for (bit, answer) in
            [(0, None), (1, None), (2, None), (13, None), (12, Some(Unsupported)), (34, Some(Unsupported))]
        {
            assert_eq!(answer_to(AdaptiveQuestion::General(0), &general(bit)), answer, "{bit}");
        }
    }

    /// Linear tables do not determine the paths of such a switch, though it has no adaptive routing.
    #[test]
    fn private_tables_and_lanes_count_without_adaptive_routing() {
        let able =
            GeneralInfo::default().with(GeneralInfo::PRIVATE_TABLES).with(GeneralInfo::EXTENDED_NODE_INFO);
        let general = answered(|smp| *smp.data_mut() = able);
        let refused = Reply::Refused(MadStatus(0x000C));
        let absent = AdaptiveSettings { absent: true, ..AdaptiveSettings::default() };
        // One switch says that it does not have it, the other one that it does, and refuses.
        let claimed = able.with(GeneralInfo::ADAPTIVE_ROUTING);
        for (asked, reply, info) in [
            (AdaptiveQuestion::General(0), &general, able),
            (AdaptiveQuestion::State(0, claimed), &refused, claimed),
        ] {
            let next = next_step(asked, reply, None);
            assert_eq!(next, NextStep::Ask(AdaptiveQuestion::PrivateTables(0, info, absent)));
        }
        let tables = |tables, mode| {
            answered(|smp| *smp.data_mut() = PrivateTableInfo { tables, mode, ..Default::default() })
        };
        let lanes = |input| {
            answered(|smp| *smp.data_mut() = ExtendedNodeInfo { lane_input: input, ..Default::default() })
        };
        for (private, lane, word, doubted) in [
            (tables(2, 0), lanes(0), "absent", false),
            (tables(2, 1), lanes(0), "absent", true),
            (tables(2, 0), lanes(1), "absent", true),
            (Reply::Silence, lanes(0), "absent", true),
        ] {
            let NextStep::Ask(next) =
                next_step(AdaptiveQuestion::PrivateTables(0, able, absent), &private, None)
            else {
                panic!("{private:?} ends the questions")
            };
            let answer = answer_to(next, &lane).unwrap();
            let switch = fabdeck_fabric::AdaptiveSwitch::new(answer.statement());
            assert_eq!(
                (switch.state_word(), switch.doubt().is_some()),
                (word, doubted),
                "{private:?} {lane:?}"
            );
            // The capabilities are not asked again, nor is the state of what the switch does not have.
            let expected = match private {
                Reply::Silence => AdaptiveQuestion::LaneInput(0, able, absent),
                _ => AdaptiveQuestion::PrivateTables(0, able, absent),
            };
            assert_eq!(first_step(0, Some(&answer)), NextStep::Ask(expected));
        }
    }

    #[test]
    fn further_attributes_are_asked_where_the_switch_has_them_and_a_refusal_is_no_silence() {
        let state = |on| answered(|smp| *smp.data_mut() = AdaptiveRoutingInfo::new(on));
        let bare = AdaptiveQuestion::State(0, GeneralInfo::default());
        let stated = |on| match answer_to(bare, &state(on)) {
            Some(AdaptiveAnswer::Stated(settings, _)) => settings,
            other => panic!("{other:?}"),
        };
        let known = |settings: AdaptiveSettings| {
            (settings.has_choice(), settings.private_tables, settings.lane_input)
        };
        assert_eq!(
            (known(stated(true)), known(stated(false))),
            ((true, Some(0), Some(0)), (false, Some(0), Some(0)))
        );
        let able =
            GeneralInfo::default().with(GeneralInfo::PRIVATE_TABLES).with(GeneralInfo::EXTENDED_NODE_INFO);
        let settings = AdaptiveRoutingInfo::new(true).settings();
        let next = next_step(AdaptiveQuestion::State(0, able), &state(true), None);
        assert_eq!(next, NextStep::Ask(AdaptiveQuestion::PrivateTables(0, able, settings)));
        let refused = Reply::Refused(MadStatus(0x000C));
        let private = AdaptiveQuestion::PrivateTables(0, able, settings);
        for (reply, private_tables) in [(&refused, Some(0)), (&Reply::Silence, None)] {
            let settings = AdaptiveSettings { private_tables, ..settings };
            assert_eq!(
                next_step(private, reply, None),
                NextStep::Ask(AdaptiveQuestion::LaneInput(0, able, settings))
            );
        }
        let lanes = AdaptiveQuestion::LaneInput(0, able, settings);
        for (reply, lane_input) in [(&refused, Some(0)), (&Reply::Silence, None)] {
            let settings = AdaptiveSettings { lane_input, ..settings };
            assert_eq!(answer_to(lanes, reply), Some(AdaptiveAnswer::Stated(settings, able)));
        }
        // The next time all but the capabilities is asked again.
        let before = AdaptiveSettings { private_tables: Some(2), lane_input: Some(1), ..settings };
        let before = AdaptiveAnswer::Stated(before, able);
        let later = next_step(AdaptiveQuestion::State(0, able), &state(true), Some(&before));
        assert_eq!(later, NextStep::Ask(private));
        let one = answered(|smp| {
            *smp.data_mut() = PrivateTableInfo { tables: 1, mode: 1, ..PrivateTableInfo::default() };
        });
        let settings = AdaptiveSettings { private_tables: Some(1), ..settings };
        let next = NextStep::Ask(AdaptiveQuestion::LaneInput(0, able, settings));
        assert_eq!(next_step(private, &one, Some(&before)), next);
        // What had no answer is not asked again in the session.
        let none = AdaptiveSettings { private_tables: None, lane_input: None, ..settings };
        let silent = AdaptiveAnswer::Stated(none, able);
        let later = next_step(AdaptiveQuestion::State(0, able), &state(true), Some(&silent));
        assert_eq!(later, NextStep::Answer(silent));
        let mut answers = AdaptiveAnswers::default();
        answers.extend([(Guid(1), silent), (Guid(2), before)]);
        answers.forget_silence(|_| true);
        assert_eq!((answers.get(&Guid(1)), answers.get(&Guid(2))), (None, Some(&before)));
    }
}
