//! The event loop of the agent. Its port only reads, except for what the agent's token permits.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::agent_state::{AgentState, LaneOfFlows, NoticeOutcome, SlowFlows};
use super::event::{AgentEvent, AgentSummary, NoticeDirection};
use super::flow_lister::{FlowLister, answer};
use super::hook::{HookExit, HookProcess};
use super::rate_limit::TokenBucket;
use super::subscription::{Subscription, SubscriptionEvent};
use fabdeck_fabric::Lid;
use fabdeck_mad::access::{
    AddressedMad, AgentToken, Clock, MadAddress, MadPort, PortError, PortEvent, ReadPort,
};
use fabdeck_mad::{
    Class, FollowStatus, Mad, Method, Notice, NoticeAction, NoticeFilter, PathNotice, attribute, trap,
};

/// How long the loop waits for a MAD; below, while a hook runs.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
const HOOK_POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Number of notices that wait for their turn; more are dropped.
const MAX_QUEUED_NOTICES: usize = 64;
/// Number of MADs that are read before a notice is followed, since a newer one may be among them. Also the number of
/// MADs that are kept while the agent waits for an answer.
const MAX_DATAGRAMS_PER_TURN: usize = 1024;
/// Timeout for the answer of a simulated host, and of the subnet manager at the end.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a running hook has when the agent is to end.
const LAST_HOOK_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the end takes at most: the hook, the subnet manager, and storing the state.
pub const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(13);
/// Number of reports from strangers that are logged in a second; all of them are counted.
const STRANGER_REPORTS_PER_SECOND: u32 = 2;

/// The options of an agent.
#[derive(Clone, Debug, Default)]
pub struct AgentOptions {
    /// The program that moves the flows of this host.
    pub hook: Option<PathBuf>,
    /// The program that lists the open flows of this host.
    pub flows: Option<PathBuf>,
    pub hook_timeout: Duration,
    /// Number of notices a second that are followed.
    pub rate: u32,
    pub dry_run: bool,
    /// The folder for the agent's state.
    pub state: Option<PathBuf>,
    /// The M_Key of the agent's own port, if it has one.
    pub m_key: u64,
    /// How long the agent runs; `None`: until it is to end.
    pub time: Option<Duration>,
}

/// Why an agent cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    #[error("FD-4801: no program moves the flows of this host: name one with --hook, or try --dry-run")]
    NoHook,
    #[error(
        "FD-4802: the file of earlier moves cannot be read ({0}); remove the file, or name another folder with \
         --state-dir"
    )]
    State(std::io::Error),
    #[error("{0}")]
    Port(#[from] PortError),
}

#[derive(Debug)]
pub struct Agent {
    port: ReadPort,
    options: AgentOptions,
    subscription: Subscription,
    bucket: TokenBucket,
    strangers: TokenBucket,
    heard: NoticeFilter,
    works: VecDeque<PathNotice>,
    running: Option<(PathNotice, HookProcess)>,
    /// A notice whose flows drain at a simulated host, and when to ask again.
    draining: Option<(PathNotice, Duration)>,
    /// MADs that arrived while the agent waited for an answer.
    aside: VecDeque<AddressedMad>,
    lister: FlowLister,
    state: AgentState,
    summary: AgentSummary,
    silent_told: bool,
}

type EventSink<'t> = &'t mut dyn FnMut(AgentEvent);

impl Agent {
    pub fn new(mut port: ReadPort, token: AgentToken, options: AgentOptions) -> Result<Self, AgentError> {
        let simulated = port.local_port().simulated;
        if options.hook.is_none() && !options.dry_run && !simulated {
            return Err(AgentError::NoHook);
        }
        port.admit_agent(token);
        let name = port.local_port().guid.map_or_else(|| "port".to_owned(), |guid| guid.to_string());
        let folder = options.state.as_deref().filter(|_| !options.dry_run);
        let kept = AgentState::open(folder, &name).map_err(AgentError::State)?;
        let now = port.now();
        Ok(Self {
            subscription: Subscription::new(port.local_port().manager_lid, port.local_port().lid),
            bucket: TokenBucket::new(options.rate, now),
            strangers: TokenBucket::new(STRANGER_REPORTS_PER_SECOND, now),
            heard: restore_outcomes(kept.outcomes(), now),
            works: VecDeque::new(),
            running: None,
            draining: None,
            aside: VecDeque::new(),
            lister: FlowLister::new(options.flows.clone()),
            state: kept,
            summary: AgentSummary::default(),
            silent_told: false,
            port,
            options,
        })
    }

    /// Runs until `stop` is set or the time is over, then unsubscribes.
    pub fn run(&mut self, stop: &AtomicBool, tell: EventSink<'_>) -> Result<(), AgentError> {
        self.port.accept_reports()?;
        self.port.accept_requests()?;
        let ends = self.options.time.map(|time| self.port.now() + time);
        if !self.state.slow().is_empty() {
            tell(self.slow_lane_event());
        }
        if self.subscription.manager().is_none() {
            tell(AgentEvent::NoManager);
        }
        while !stop.load(Ordering::SeqCst) && ends.is_none_or(|ends| self.port.now() < ends) {
            self.run_turn(tell)?;
        }
        self.unsubscribe(tell)?;
        tell(self.slow_lane_event());
        let traffic = self.port.traffic();
        (self.summary.informs, self.summary.reports_answered) = (traffic.informs, traffic.reports_answered);
        (self.summary.follows_answered, self.summary.flow_sets) =
            (traffic.follows_answered, traffic.flow_sets);
        self.summary.writes = traffic.write_count();
        tell(AgentEvent::Ended { summary: self.summary.clone() });
        Ok(())
    }

    fn slow_lane_event(&self) -> AgentEvent {
        AgentEvent::StillSlow { lids: self.state.slow().keys().copied().collect() }
    }

    fn run_turn(&mut self, tell: EventSink<'_>) -> Result<(), AgentError> {
        let now = self.port.now();
        let (parcels, news) = self.subscription.due(now, self.port.local_port().number, self.options.m_key);
        news.into_iter().for_each(|news| self.report_subscription_event(news, tell));
        for parcel in parcels {
            self.port.send(&parcel, ANSWER_TIMEOUT)?;
        }
        self.drain_port(now, tell)?;
        self.start_next_notice(tell)?;
        self.answer_flow_queries(tell)?;
        let next_is_due = !self.works.is_empty() && self.draining.is_none();
        let turn = match self.running {
            Some(_) => HOOK_POLL_INTERVAL,
            None if self.lister.is_running() => HOOK_POLL_INTERVAL,
            None if next_is_due => Duration::ZERO,
            None => POLL_INTERVAL,
        };
        match self.port.receive(now + turn)? {
            Some(PortEvent::Mad(parcel)) => self.handle_mad(&parcel, tell),
            _ => Ok(()),
        }
    }

    /// Reads everything that has arrived. So an agent that was held up, also by its hook, follows only the newest
    /// notice.
    fn drain_port(&mut self, now: Duration, tell: EventSink<'_>) -> Result<(), AgentError> {
        for _ in 0..MAX_DATAGRAMS_PER_TURN {
            let came = match self.aside.pop_front() {
                Some(parcel) => Some(PortEvent::Mad(parcel)),
                None => self.port.receive(now)?,
            };
            match came {
                Some(PortEvent::Mad(parcel)) => self.handle_mad(&parcel, tell)?,
                Some(PortEvent::Unanswered(_)) => {}
                None => break,
            }
        }
        Ok(())
    }

    fn handle_mad(&mut self, parcel: &AddressedMad, tell: EventSink<'_>) -> Result<(), AgentError> {
        let mad = &parcel.mad;
        match (mad.class(), mad.method(), mad.header().attribute.get()) {
            (Class::SUBNET_ADMINISTRATION, Method::REPORT, attribute::NOTICE) => {
                self.handle_report(parcel, tell)
            }
            (Class::HOST_AGENTS, Method::GET, attribute::FOLLOW) => self.answer_follow_query(parcel),
            (Class::HOST_AGENTS, Method::GET, attribute::HOST_FLOWS) => self.take_flow_query(parcel),
            _ => {
                let news = self.subscription.handle_answer(parcel, self.port.now());
                news.into_iter().for_each(|news| self.report_subscription_event(news, tell));
                Ok(())
            }
        }
    }

    fn report_subscription_event(&mut self, news: SubscriptionEvent, tell: EventSink<'_>) {
        let manager = self.subscription.manager();
        match (news, manager) {
            (SubscriptionEvent::Moved { before }, now) => {
                self.silent_told = false;
                tell(AgentEvent::ManagerMoved { before, now });
            }
            (SubscriptionEvent::Subscribed, Some(manager)) => tell(AgentEvent::Subscribed { manager }),
            (SubscriptionEvent::Refused(status), Some(manager)) => {
                tell(AgentEvent::ManagerRefuses { manager, status })
            }
            (SubscriptionEvent::Silent, Some(manager)) if !std::mem::replace(&mut self.silent_told, true) => {
                tell(AgentEvent::ManagerSilent { manager });
            }
            _ => {}
        }
    }

    /// Takes a report. A report of the subnet manager is answered, and followed if it is new and meant for this host.
    fn handle_report(&mut self, parcel: &AddressedMad, tell: EventSink<'_>) -> Result<(), AgentError> {
        let now = self.port.now();
        if self.subscription.manager().is_none_or(|manager| manager.value() != parcel.address.lid) {
            self.summary.strangers += 1;
            if self.strangers.take_token(now) {
                tell(AgentEvent::Stranger { from: parcel.address.lid });
            }
            return Ok(());
        }
        let mut answer = parcel.clone();
        answer.mad.header_mut().method = Method::REPORT_RESPONSE.0;
        self.port.send(&answer, Duration::ZERO)?;
        let notice = *parcel.mad.record::<Notice>();
        let trap = notice.trap_number.get();
        if !notice.is_generic() || !matches!(trap, trap::REPATH | trap::UNPATH) {
            return Ok(());
        }
        match PathNotice::from_notice(&notice) {
            Some(told) => self.accept_notice(told, now, tell),
            None => tell(AgentEvent::Unreadable { trap }),
        }
        Ok(())
    }

    fn accept_notice(&mut self, told: PathNotice, now: Duration, tell: EventSink<'_>) {
        let about = (&told).into();
        match self.heard.check(&told, self.subscription.own_lid(), now) {
            NoticeAction::NotMeant => return tell(AgentEvent::NotMeant { about }),
            NoticeAction::Known => {
                self.summary.repeated += 1;
                return tell(AgentEvent::Repeated { about });
            }
            NoticeAction::Late => {
                self.summary.superseded += 1;
                return tell(AgentEvent::Superseded { about });
            }
            NoticeAction::New => {}
        }
        // A notice that replaces an older one takes no more of the rate.
        if !self.supersede_older(&told, tell)
            && (self.works.len() >= MAX_QUEUED_NOTICES || !self.bucket.take_token(now))
        {
            self.summary.dropped += 1;
            self.heard.record(&told, FollowStatus::Dropped, 0, now);
            return tell(AgentEvent::Dropped { about });
        }
        self.summary.heard += 1;
        self.heard.record(&told, FollowStatus::UnderWay, 0, now);
        tell(AgentEvent::Heard { about });
        self.works.push_back(told);
    }

    /// Drops older notices about the same LID, which wait for their turn or for flows to drain. Whether there were any.
    fn supersede_older(&mut self, newer: &PathNotice, tell: EventSink<'_>) -> bool {
        let mut gone: Vec<PathNotice> = self
            .draining
            .take_if(|(told, _)| newer.is_superseding(told))
            .into_iter()
            .map(|(told, _)| told)
            .collect();
        for told in std::mem::take(&mut self.works) {
            match newer.is_superseding(&told) {
                true => gone.push(told),
                false => self.works.push_back(told),
            }
        }
        for told in &gone {
            self.summary.superseded += 1;
            tell(AgentEvent::Superseded { about: told.into() });
            self.record_outcome(told, (FollowStatus::Superseded, 0), LaneOfFlows::AsBefore, tell);
        }
        !gone.is_empty()
    }

    /// Answers a query for the status of a notice.
    fn answer_follow_query(&mut self, parcel: &AddressedMad) -> Result<(), AgentError> {
        let mut answer = parcel.clone();
        let asked = *answer.mad.follow_data();
        let (standing, moved) = self.heard.follow_status(asked.key(), self.port.now());
        *answer.mad.follow_data_mut() = asked.with_answer(standing, moved.into());
        answer.mad.header_mut().method = Method::GET_RESPONSE.0;
        Ok(self.port.send(&answer, Duration::ZERO)?)
    }

    /// Takes a query for the open flows of this host.
    fn take_flow_query(&mut self, query: &AddressedMad) -> Result<(), AgentError> {
        if !self.port.local_port().simulated {
            self.lister.add_query(query.clone());
            return Ok(());
        }
        let flows = self.simulated_flows()?;
        match flows {
            Some(flows) => Ok(self.port.send(&answer(query.clone(), &flows), Duration::ZERO)?),
            None => Ok(()),
        }
    }

    fn answer_flow_queries(&mut self, tell: EventSink<'_>) -> Result<(), AgentError> {
        let (answers, trouble) = self.lister.poll(self.port.now());
        for answer in answers {
            self.port.send(&answer, Duration::ZERO)?;
        }
        trouble.into_iter().for_each(|why| tell(AgentEvent::NotListed { why }));
        Ok(())
    }

    /// Starts the next notice, once the hook of the previous one has ended.
    fn start_next_notice(&mut self, tell: EventSink<'_>) -> Result<(), AgentError> {
        if let Some((told, mut running)) = self.running.take() {
            let Some(ended) = running.poll_exit() else {
                self.running = Some((told, running));
                return Ok(());
            };
            return self.handle_hook_exit(&told, ended, tell);
        }
        if let Some((told, due)) = self.draining.take() {
            if self.port.now() >= due {
                return self.follow_notice(&told, tell);
            }
            self.draining = Some((told, due));
            return Ok(());
        }
        let Some(told) = self.works.pop_front() else { return Ok(()) };
        let has_flows = match told.hot_spot {
            Some(hot_spot) => self.has_flows(hot_spot)?,
            None => None,
        };
        let own = self.subscription.own_lid();
        if own.is_none_or(|own| !told.is_addressed(own, has_flows)) {
            tell(AgentEvent::NoFlows { about: (&told).into() });
            // The host has no flows to the LID, so none is on the slow lane.
            let is_gone = told.back && has_flows == Some(false);
            let gone = if is_gone { LaneOfFlows::Fast } else { LaneOfFlows::AsBefore };
            self.record_outcome(&told, (FollowStatus::Nothing, 0), gone, tell);
            return Ok(());
        }
        if self.options.dry_run {
            tell(AgentEvent::WouldMove { about: (&told).into() });
            self.heard.record_outcome(&told, FollowStatus::Rehearsed, 0, self.port.now());
            return Ok(());
        }
        let Some(program) = &self.options.hook else { return self.follow_notice(&told, tell) };
        match HookProcess::start(program, &self.hook_environment(&told), self.options.hook_timeout) {
            Ok(running) => self.running = Some((told, running)),
            Err(error) => self.report_failure(&told, format!("the hook cannot be started: {error}"), tell),
        }
        Ok(())
    }

    /// The variables in the environment of the hook.
    fn hook_environment(&self, told: &PathNotice) -> Vec<(&'static str, String)> {
        let local = self.port.local_port();
        let own = self.subscription.own_lid().map_or(0, |own| own.value());
        vec![
            ("FABDECK_HOT_SPOT_LID", told.hot_spot.map_or_else(String::new, |lid| lid.value().to_string())),
            ("FABDECK_SERVICE_LEVEL", told.level.value().to_string()),
            ("FABDECK_DIRECTION", NoticeDirection::of(told).word().to_owned()),
            ("FABDECK_NUMBER", told.number.to_string()),
            ("FABDECK_LID", own.to_string()),
            ("FABDECK_PORT", local.name.clone()),
            ("FABDECK_PORT_GUID", local.guid.map_or_else(String::new, |guid| guid.to_string())),
        ]
    }

    fn handle_hook_exit(
        &mut self,
        told: &PathNotice,
        ended: HookExit,
        tell: EventSink<'_>,
    ) -> Result<(), AgentError> {
        let HookExit { trouble, said, took } = ended;
        let (number, seconds) = (told.number, took.as_secs_f64());
        tell(AgentEvent::Hook { number, seconds, trouble: trouble.clone(), said });
        match trouble {
            Some(trouble) => self.report_failure(told, format!("the hook: {trouble}"), tell),
            None => self.follow_notice(told, tell)?,
        }
        Ok(())
    }

    fn report_failure(&mut self, told: &PathNotice, why: String, tell: EventSink<'_>) {
        self.summary.failed += 1;
        tell(AgentEvent::Failed { about: told.into(), why });
        self.record_outcome(told, (FollowStatus::Failed, 0), LaneOfFlows::AsBefore, tell);
    }

    /// Ends a notice whose hook is done. The flows of a simulated host move here.
    fn follow_notice(&mut self, told: &PathNotice, tell: EventSink<'_>) -> Result<(), AgentError> {
        let mut flows = None;
        if self.port.local_port().simulated {
            let mad = match told.hot_spot {
                Some(hot_spot) => Mad::move_flows(hot_spot.value(), told.level.value()),
                None => Mad::readdress_flows(!told.back, told.level.value()),
            };
            match self.query_local_host(mad)? {
                Some(answer) if told.hot_spot.is_none() && answer.flow_level().moved.get() > 0 => {
                    self.draining = Some((told.clone(), self.port.now() + POLL_INTERVAL));
                    return Ok(());
                }
                Some(_) if told.hot_spot.is_none() => {}
                Some(answer) => flows = Some(answer.flow_level().moved.get()),
                None => {
                    self.report_failure(told, "the simulated host does not answer".to_owned(), tell);
                    return Ok(());
                }
            }
        }
        self.summary.moved += 1;
        tell(AgentEvent::Moved { about: told.into(), flows, hook: self.options.hook.is_some() });
        let now = match told.hot_spot {
            None => LaneOfFlows::AsBefore,
            Some(_) if told.back => LaneOfFlows::Fast,
            Some(_) => {
                LaneOfFlows::Slow(SlowFlows { service_level: told.level.value(), number: told.number })
            }
        };
        self.record_outcome(told, (FollowStatus::Followed, flows.unwrap_or(0)), now, tell);
        Ok(())
    }

    fn record_outcome(
        &mut self,
        told: &PathNotice,
        (standing, moved): (FollowStatus, u16),
        now: LaneOfFlows,
        tell: EventSink<'_>,
    ) {
        let (number, hot_spot, back, service_level) = told.key();
        let at = jiff::Timestamp::now().as_second();
        let outcome =
            NoticeOutcome { number, hot_spot, back, service_level, standing: standing.code(), moved, at };
        if let Err(error) = self.state.record_outcome(outcome, now) {
            tell(AgentEvent::NotKept { why: error.to_string() });
        }
        self.heard.record_outcome(told, standing, moved, self.port.now());
    }

    /// Whether this host has flows to a LID; `None` for a real host, which cannot tell.
    fn has_flows(&mut self, to: Lid) -> Result<Option<bool>, AgentError> {
        if !self.port.local_port().simulated {
            return Ok(None);
        }
        let flows = self.simulated_flows()?;
        Ok(flows.map(|flows| flows.iter().any(|(lid, _)| *lid == to.value())))
    }

    /// The flows of a simulated host; `None` if it does not answer.
    fn simulated_flows(&mut self) -> Result<Option<Vec<(u16, u8)>>, AgentError> {
        let mut flows = Vec::new();
        loop {
            let asked = Mad::query_flows(flows.len() as u32);
            let Some(answer) = self.query_local_host(asked)? else { return Ok(None) };
            let page = *answer.host_flows();
            flows.extend(page.entries().iter().map(|flow| (flow.lid.get(), flow.level)));
            if page.entries().is_empty() || flows.len() >= usize::from(page.all.get()) {
                return Ok(Some(flows));
            }
        }
    }

    /// Sends a request to the simulated host of this agent.
    fn query_local_host(&mut self, mut mad: Mad) -> Result<Option<Mad>, AgentError> {
        let Some(own) = self.subscription.own_lid() else { return Ok(None) };
        let transaction = self.subscription.next_transaction();
        mad.header_mut().transaction = u64::from(transaction).into();
        let parcel = AddressedMad { address: MadAddress::for_class(own, mad.class()), mad };
        for _ in 0..3 {
            self.port.send(&parcel, ANSWER_TIMEOUT)?;
            let until = self.port.now() + ANSWER_TIMEOUT;
            while let Some(arrival) = self.port.receive(until)? {
                let PortEvent::Mad(came) = arrival else { continue };
                let answers =
                    came.mad.class() == Class::HOST_AGENTS && came.mad.method() == Method::GET_RESPONSE;
                if answers && came.mad.header().transaction.get() as u32 == transaction {
                    return Ok(came.mad.status().is_ok().then_some(came.mad));
                }
                if self.aside.len() < MAX_DATAGRAMS_PER_TURN {
                    self.aside.push_back(came);
                }
            }
        }
        Ok(None)
    }

    /// Waits for a running hook, for a limited time. Notices that wait for their turn fail.
    fn finish_hook(&mut self, tell: EventSink<'_>) -> Result<(), AgentError> {
        let until = self.port.now() + LAST_HOOK_TIMEOUT;
        while let Some((told, mut running)) = self.running.take() {
            if let Some(ended) = running.poll_exit() {
                self.handle_hook_exit(&told, ended, tell)?;
                break;
            }
            let now = self.port.now();
            let came = self.port.receive(now + HOOK_POLL_INTERVAL);
            if now >= until || came.is_err() {
                drop(running);
                let why = "the agent ends and stopped its hook before the hook was done: some of its flows may have moved";
                self.report_failure(&told, why.to_owned(), tell);
                came?;
                break;
            }
            self.running = Some((told, running));
            if let Some(PortEvent::Mad(parcel)) = came? {
                self.handle_mad(&parcel, tell)?;
            }
        }
        let drains = self.draining.take().map(|(told, _)| told);
        for told in drains.into_iter().chain(std::mem::take(&mut self.works)) {
            self.report_failure(&told, "the agent ended before it followed the notice".to_owned(), tell);
        }
        Ok(())
    }

    /// Unsubscribes, and waits a moment for the answers.
    fn unsubscribe(&mut self, tell: EventSink<'_>) -> Result<(), AgentError> {
        self.finish_hook(tell)?;
        let Some(manager) = self.subscription.manager().filter(|_| self.subscription.is_complete()) else {
            return Ok(());
        };
        let farewell = self.subscription.unsubscribe_requests();
        for parcel in &farewell {
            self.port.send(parcel, ANSWER_TIMEOUT)?;
        }
        let mut left = farewell.len();
        let until = self.port.now() + ANSWER_TIMEOUT;
        while let (true, Some(arrival)) = (left > 0, self.port.receive(until)?) {
            let PortEvent::Mad(came) = arrival else { continue };
            let number = came.mad.header().transaction.get() as u32;
            let own = |parcel: &AddressedMad| parcel.mad.header().transaction.get() as u32 == number;
            let answers = came.mad.header().attribute.get() == attribute::INFORM_INFO;
            left -= usize::from(answers && farewell.iter().any(own));
        }
        tell(AgentEvent::Unsubscribed { manager });
        Ok(())
    }
}

/// Restores the answers of an earlier agent to notices, except those that are too old.
fn restore_outcomes(outcomes: &[NoticeOutcome], now: Duration) -> NoticeFilter {
    let (mut heard, today) = (NoticeFilter::default(), jiff::Timestamp::now().as_second());
    for outcome in outcomes {
        let NoticeOutcome { number, hot_spot, back, service_level, standing, moved, at } = *outcome;
        // If the clock was set back, the age is unknown.
        let age = u64::try_from(today.saturating_sub(at)).ok().map(Duration::from_secs);
        if let (Some(age), Some(standing)) = (age, FollowStatus::from_code(standing)) {
            heard.restore((number, hot_spot, back, service_level), (standing, moved), age, now);
        }
    }
    heard
}
