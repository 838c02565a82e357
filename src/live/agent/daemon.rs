//! The event loop of the agent. Its port only reads, except for what the agent's token permits.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::bucket::Bucket;
use super::hook::{Ended, Running};
use super::kept::{Kept, Outcome, Slow};
use super::subscription::{News, Subscription};
use super::told::{Direction, Summary, Told};
use fabdeck_fabric::Lid;
use fabdeck_mad::access::{Address, AgentToken, Arrival, Clock, MadPort, Parcel, PortError, ReadPort};
use fabdeck_mad::{Class, Coming, Heard, Mad, Method, Notice, Repath, Standing, attribute, trap};

/// How long the loop waits for a MAD; below, while a hook runs.
const TURN: Duration = Duration::from_millis(50);
const TURN_OF_A_HOOK: Duration = Duration::from_millis(10);
/// Number of notices that wait for their turn; more are dropped.
const WAITING_MOST: usize = 64;
/// Number of MADs that are read before a notice is followed, since a newer one may be among them. Also the number of
/// MADs that are kept while the agent waits for an answer.
const CAME_MOST: usize = 1024;
/// Timeout for the answer of a simulated host, and of the subnet manager at the end.
const ANSWERS: Duration = Duration::from_secs(1);
/// How long a running hook has when the agent is to end.
const LAST_HOOK: Duration = Duration::from_secs(10);
/// How long the end takes at most: the hook, the subnet manager, and storing the state.
pub const FAREWELL: Duration = Duration::from_secs(13);
/// Number of reports from strangers that are logged in a second; all of them are counted.
const STRANGERS_TOLD: u32 = 2;

/// The options of an agent.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The program that moves the flows of this host.
    pub hook: Option<PathBuf>,
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
    #[error(
        "FD-4801: nothing would move the flows of this host: name a program with --hook, or try --dry-run"
    )]
    NoHook,
    #[error(
        "FD-4802: what was moved before cannot be read ({0}); remove the file, or name another folder with --state-dir"
    )]
    State(std::io::Error),
    #[error("{0}")]
    Port(#[from] PortError),
}

#[derive(Debug)]
pub struct Agent {
    port: ReadPort,
    options: Options,
    subscription: Subscription,
    bucket: Bucket,
    strangers: Bucket,
    heard: Heard,
    works: VecDeque<Repath>,
    running: Option<(Repath, Running)>,
    /// A notice whose flows drain at a simulated host, and when to ask again.
    draining: Option<(Repath, Duration)>,
    /// MADs that arrived while the agent waited for an answer.
    aside: VecDeque<Parcel>,
    kept: Kept,
    summary: Summary,
    silent_told: bool,
}

type Tell<'t> = &'t mut dyn FnMut(Told);

impl Agent {
    pub fn new(mut port: ReadPort, token: AgentToken, options: Options) -> Result<Self, AgentError> {
        let simulated = port.local().simulated;
        if options.hook.is_none() && !options.dry_run && !simulated {
            return Err(AgentError::NoHook);
        }
        port.admit_agent(token);
        let name = port.local().guid.map_or_else(|| "port".to_owned(), |guid| guid.to_string());
        let folder = options.state.as_deref().filter(|_| !options.dry_run);
        let kept = Kept::open(folder, &name).map_err(AgentError::State)?;
        let now = port.now();
        Ok(Self {
            subscription: Subscription::new(port.local().manager_lid, port.local().lid),
            bucket: Bucket::new(options.rate, now),
            strangers: Bucket::new(STRANGERS_TOLD, now),
            heard: recalled(kept.outcomes(), now),
            works: VecDeque::new(),
            running: None,
            draining: None,
            aside: VecDeque::new(),
            kept,
            summary: Summary::default(),
            silent_told: false,
            port,
            options,
        })
    }

    /// Runs until `stop` is set or the time is over, then unsubscribes.
    pub fn run(&mut self, stop: &AtomicBool, tell: Tell<'_>) -> Result<(), AgentError> {
        self.port.take_reports()?;
        self.port.take_questions()?;
        let ends = self.options.time.map(|time| self.port.now() + time);
        if !self.kept.slow().is_empty() {
            tell(self.still_slow());
        }
        if self.subscription.manager().is_none() {
            tell(Told::NoManager);
        }
        while !stop.load(Ordering::SeqCst) && ends.is_none_or(|ends| self.port.now() < ends) {
            self.turn(tell)?;
        }
        self.leave(tell)?;
        tell(self.still_slow());
        let traffic = self.port.traffic();
        (self.summary.informs, self.summary.reports_answered) = (traffic.informs, traffic.reports_answered);
        (self.summary.follows_answered, self.summary.flow_sets) =
            (traffic.follows_answered, traffic.flow_sets);
        self.summary.writes = traffic.writes();
        tell(Told::Ended { summary: self.summary.clone() });
        Ok(())
    }

    fn still_slow(&self) -> Told {
        Told::StillSlow { lids: self.kept.slow().keys().copied().collect() }
    }

    fn turn(&mut self, tell: Tell<'_>) -> Result<(), AgentError> {
        let now = self.port.now();
        let (parcels, news) = self.subscription.due(now, self.port.local().number, self.options.m_key);
        news.into_iter().for_each(|news| self.tell_news(news, tell));
        for parcel in parcels {
            self.port.send(&parcel, ANSWERS)?;
        }
        self.take_all(now, tell)?;
        self.work(tell)?;
        let next_is_due = !self.works.is_empty() && self.draining.is_none();
        let turn = match self.running {
            Some(_) => TURN_OF_A_HOOK,
            None if next_is_due => Duration::ZERO,
            None => TURN,
        };
        match self.port.receive(now + turn)? {
            Some(Arrival::Mad(parcel)) => self.take(&parcel, tell),
            _ => Ok(()),
        }
    }

    /// Reads everything that has arrived. So an agent that was held up, also by its hook, follows only the newest
    /// notice.
    fn take_all(&mut self, now: Duration, tell: Tell<'_>) -> Result<(), AgentError> {
        for _ in 0..CAME_MOST {
            let came = match self.aside.pop_front() {
                Some(parcel) => Some(Arrival::Mad(parcel)),
                None => self.port.receive(now)?,
            };
            match came {
                Some(Arrival::Mad(parcel)) => self.take(&parcel, tell)?,
                Some(Arrival::Unanswered(_)) => {}
                None => break,
            }
        }
        Ok(())
    }

    fn take(&mut self, parcel: &Parcel, tell: Tell<'_>) -> Result<(), AgentError> {
        let mad = &parcel.mad;
        match (mad.class(), mad.method(), mad.header().attribute.get()) {
            (Class::SUBNET_ADMINISTRATION, Method::REPORT, attribute::NOTICE) => self.report(parcel, tell),
            (Class::HOSTS, Method::GET, attribute::FOLLOW) => self.say_how_far(parcel),
            _ => {
                let news = self.subscription.take(parcel, self.port.now());
                news.into_iter().for_each(|news| self.tell_news(news, tell));
                Ok(())
            }
        }
    }

    fn tell_news(&mut self, news: News, tell: Tell<'_>) {
        let manager = self.subscription.manager();
        match (news, manager) {
            (News::Moved { before }, now) => {
                self.silent_told = false;
                tell(Told::ManagerMoved { before, now });
            }
            (News::Subscribed, Some(manager)) => tell(Told::Subscribed { manager }),
            (News::Refused(status), Some(manager)) => tell(Told::ManagerRefuses { manager, status }),
            (News::Silent, Some(manager)) if !std::mem::replace(&mut self.silent_told, true) => {
                tell(Told::ManagerSilent { manager });
            }
            _ => {}
        }
    }

    /// Takes a report. A report of the subnet manager is answered, and followed if it is new and meant for this host.
    fn report(&mut self, parcel: &Parcel, tell: Tell<'_>) -> Result<(), AgentError> {
        let now = self.port.now();
        if self.subscription.manager().is_none_or(|manager| manager.value() != parcel.address.lid) {
            self.summary.strangers += 1;
            if self.strangers.take(now) {
                tell(Told::Stranger { from: parcel.address.lid });
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
        match Repath::of(&notice) {
            Some(told) => self.heed(told, now, tell),
            None => tell(Told::Unreadable { trap }),
        }
        Ok(())
    }

    fn heed(&mut self, told: Repath, now: Duration, tell: Tell<'_>) {
        let about = (&told).into();
        match self.heard.comes(&told, self.subscription.own(), now) {
            Coming::NotMeant => return tell(Told::NotMeant { about }),
            Coming::Known => {
                self.summary.repeated += 1;
                return tell(Told::Repeated { about });
            }
            Coming::Late => {
                self.summary.superseded += 1;
                return tell(Told::Superseded { about });
            }
            Coming::New => {}
        }
        // A notice that replaces an older one takes no more of the rate.
        if !self.give_way(&told, tell) && (self.works.len() >= WAITING_MOST || !self.bucket.take(now)) {
            self.summary.dropped += 1;
            self.heard.hear(&told, Standing::Dropped, 0, now);
            return tell(Told::Dropped { about });
        }
        self.summary.heard += 1;
        self.heard.hear(&told, Standing::UnderWay, 0, now);
        tell(Told::Heard { about });
        self.works.push_back(told);
    }

    /// Drops older notices about the same LID, which wait for their turn or for flows to drain. Whether there were any.
    fn give_way(&mut self, newer: &Repath, tell: Tell<'_>) -> bool {
        let mut gone: Vec<Repath> = self
            .draining
            .take_if(|(told, _)| newer.supersedes(told))
            .into_iter()
            .map(|(told, _)| told)
            .collect();
        for told in std::mem::take(&mut self.works) {
            match newer.supersedes(&told) {
                true => gone.push(told),
                false => self.works.push_back(told),
            }
        }
        for told in &gone {
            self.summary.superseded += 1;
            tell(Told::Superseded { about: told.into() });
            self.conclude(told, (Standing::Superseded, 0), None, tell);
        }
        !gone.is_empty()
    }

    /// Answers a query for the status of a notice.
    fn say_how_far(&mut self, parcel: &Parcel) -> Result<(), AgentError> {
        let mut answer = parcel.clone();
        let asked = *answer.mad.follows();
        let (standing, moved) = self.heard.standing(asked.key(), self.port.now());
        *answer.mad.follows_mut() = asked.answered(standing, moved.into());
        answer.mad.header_mut().method = Method::GET_RESPONSE.0;
        Ok(self.port.send(&answer, Duration::ZERO)?)
    }

    /// Starts the next notice, once the hook of the previous one has ended.
    fn work(&mut self, tell: Tell<'_>) -> Result<(), AgentError> {
        if let Some((told, mut running)) = self.running.take() {
            let Some(ended) = running.ended() else {
                self.running = Some((told, running));
                return Ok(());
            };
            return self.hook_ended(&told, ended, tell);
        }
        if let Some((told, due)) = self.draining.take() {
            if self.port.now() >= due {
                return self.follow(&told, tell);
            }
            self.draining = Some((told, due));
            return Ok(());
        }
        let Some(told) = self.works.pop_front() else { return Ok(()) };
        let has_flows = match told.hot_spot {
            Some(hot_spot) => self.has_flows(hot_spot)?,
            None => None,
        };
        let own = self.subscription.own();
        if own.is_none_or(|own| !told.asks(own, has_flows)) {
            tell(Told::NoFlows { about: (&told).into() });
            // The host has no flows to the LID, so none is on the slow lane.
            let gone = (told.back && has_flows == Some(false)).then_some(None);
            self.conclude(&told, (Standing::Nothing, 0), gone, tell);
            return Ok(());
        }
        if self.options.dry_run {
            tell(Told::WouldMove { about: (&told).into() });
            self.heard.conclude(&told, Standing::Rehearsed, 0, self.port.now());
            return Ok(());
        }
        let Some(program) = &self.options.hook else { return self.follow(&told, tell) };
        match Running::start(program, &self.values(&told), self.options.hook_timeout) {
            Ok(running) => self.running = Some((told, running)),
            Err(error) => self.fail(&told, format!("the hook cannot be started: {error}"), tell),
        }
        Ok(())
    }

    /// The variables in the environment of the hook.
    fn values(&self, told: &Repath) -> Vec<(&'static str, String)> {
        let local = self.port.local();
        let own = self.subscription.own().map_or(0, |own| own.value());
        vec![
            ("FABDECK_HOT_SPOT_LID", told.hot_spot.map_or_else(String::new, |lid| lid.value().to_string())),
            ("FABDECK_SERVICE_LEVEL", told.level.value().to_string()),
            ("FABDECK_DIRECTION", Direction::of(told).word().to_owned()),
            ("FABDECK_NUMBER", told.number.to_string()),
            ("FABDECK_LID", own.to_string()),
            ("FABDECK_PORT", local.name.clone()),
            ("FABDECK_PORT_GUID", local.guid.map_or_else(String::new, |guid| guid.to_string())),
        ]
    }

    fn hook_ended(&mut self, told: &Repath, ended: Ended, tell: Tell<'_>) -> Result<(), AgentError> {
        let Ended { trouble, said, took } = ended;
        let (number, seconds) = (told.number, took.as_secs_f64());
        tell(Told::Hook { number, seconds, trouble: trouble.clone(), said });
        match trouble {
            Some(trouble) => self.fail(told, format!("the hook: {trouble}"), tell),
            None => self.follow(told, tell)?,
        }
        Ok(())
    }

    fn fail(&mut self, told: &Repath, why: String, tell: Tell<'_>) {
        self.summary.failed += 1;
        tell(Told::Failed { about: told.into(), why });
        self.conclude(told, (Standing::Failed, 0), None, tell);
    }

    /// Ends a notice whose hook is done. The flows of a simulated host move here.
    fn follow(&mut self, told: &Repath, tell: Tell<'_>) -> Result<(), AgentError> {
        let mut flows = None;
        if self.port.local().simulated {
            let mad = match told.hot_spot {
                Some(hot_spot) => Mad::move_flows(hot_spot.value(), told.level.value()),
                None => Mad::turn_flows(!told.back, told.level.value()),
            };
            match self.ask_own(mad)? {
                Some(answer) if told.hot_spot.is_none() && answer.flow_level().moved.get() > 0 => {
                    self.draining = Some((told.clone(), self.port.now() + TURN));
                    return Ok(());
                }
                Some(_) if told.hot_spot.is_none() => {}
                Some(answer) => flows = Some(answer.flow_level().moved.get()),
                None => {
                    self.fail(told, "the simulated host does not answer".to_owned(), tell);
                    return Ok(());
                }
            }
        }
        self.summary.moved += 1;
        tell(Told::Moved { about: told.into(), flows, hook: self.options.hook.is_some() });
        let slow = Slow { service_level: told.level.value(), number: told.number };
        let now = if told.back { None } else { Some(slow) };
        let now = told.hot_spot.map(|_| now);
        self.conclude(told, (Standing::Followed, flows.unwrap_or(0)), now, tell);
        Ok(())
    }

    fn conclude(
        &mut self,
        told: &Repath,
        (standing, moved): (Standing, u16),
        now: Option<Option<Slow>>,
        tell: Tell<'_>,
    ) {
        let (number, hot_spot, back, service_level) = told.key();
        let at = jiff::Timestamp::now().as_second();
        let outcome = Outcome { number, hot_spot, back, service_level, standing: standing.code(), moved, at };
        if let Err(error) = self.kept.note(outcome, now) {
            tell(Told::NotKept { why: error.to_string() });
        }
        self.heard.conclude(told, standing, moved, self.port.now());
    }

    /// Whether this host has flows to a LID; `None` for a real host, which cannot tell.
    fn has_flows(&mut self, to: Lid) -> Result<Option<bool>, AgentError> {
        if !self.port.local().simulated {
            return Ok(None);
        }
        let mut first = 0;
        loop {
            let Some(answer) = self.ask_own(Mad::ask_flows(first))? else { return Ok(None) };
            let page = *answer.host_flows();
            if page.listed().iter().any(|flow| flow.lid.get() == to.value()) {
                return Ok(Some(true));
            }
            first += page.listed().len() as u32;
            if page.listed().is_empty() || first >= page.all.get().into() {
                return Ok(Some(false));
            }
        }
    }

    /// Sends a request to the simulated host of this agent.
    fn ask_own(&mut self, mut mad: Mad) -> Result<Option<Mad>, AgentError> {
        let Some(own) = self.subscription.own() else { return Ok(None) };
        let transaction = self.subscription.transaction();
        mad.header_mut().transaction = u64::from(transaction).into();
        let parcel = Parcel { address: Address::of(own, mad.class()), mad };
        for _ in 0..3 {
            self.port.send(&parcel, ANSWERS)?;
            let until = self.port.now() + ANSWERS;
            while let Some(arrival) = self.port.receive(until)? {
                let Arrival::Mad(came) = arrival else { continue };
                let answers = came.mad.class() == Class::HOSTS && came.mad.method() == Method::GET_RESPONSE;
                if answers && came.mad.header().transaction.get() as u32 == transaction {
                    return Ok(came.mad.status().is_ok().then_some(came.mad));
                }
                if self.aside.len() < CAME_MOST {
                    self.aside.push_back(came);
                }
            }
        }
        Ok(None)
    }

    /// Waits for a running hook, for a limited time. Notices that wait for their turn fail.
    fn settle(&mut self, tell: Tell<'_>) -> Result<(), AgentError> {
        let until = self.port.now() + LAST_HOOK;
        while let Some((told, mut running)) = self.running.take() {
            if let Some(ended) = running.ended() {
                self.hook_ended(&told, ended, tell)?;
                break;
            }
            let now = self.port.now();
            let came = self.port.receive(now + TURN_OF_A_HOOK);
            if now >= until || came.is_err() {
                drop(running);
                let why =
                    "the agent ends, and its hook was ended before it was done: its flows may be half moved";
                self.fail(&told, why.to_owned(), tell);
                came?;
                break;
            }
            self.running = Some((told, running));
            if let Some(Arrival::Mad(parcel)) = came? {
                self.take(&parcel, tell)?;
            }
        }
        let drains = self.draining.take().map(|(told, _)| told);
        for told in drains.into_iter().chain(std::mem::take(&mut self.works)) {
            self.fail(&told, "the agent ends before its turn: not followed".to_owned(), tell);
        }
        Ok(())
    }

    /// Unsubscribes, and waits a moment for the answers.
    fn leave(&mut self, tell: Tell<'_>) -> Result<(), AgentError> {
        self.settle(tell)?;
        let Some(manager) = self.subscription.manager().filter(|_| self.subscription.is_whole()) else {
            return Ok(());
        };
        let farewell = self.subscription.farewell();
        for parcel in &farewell {
            self.port.send(parcel, ANSWERS)?;
        }
        let mut left = farewell.len();
        let until = self.port.now() + ANSWERS;
        while let (true, Some(arrival)) = (left > 0, self.port.receive(until)?) {
            let Arrival::Mad(came) = arrival else { continue };
            let number = came.mad.header().transaction.get() as u32;
            let own = |parcel: &Parcel| parcel.mad.header().transaction.get() as u32 == number;
            let answers = came.mad.header().attribute.get() == attribute::INFORM_INFO;
            left -= usize::from(answers && farewell.iter().any(own));
        }
        tell(Told::Unsubscribed { manager });
        Ok(())
    }
}

/// Restores the answers of an earlier agent to notices, except those that are too old.
fn recalled(outcomes: &[Outcome], now: Duration) -> Heard {
    let (mut heard, today) = (Heard::default(), jiff::Timestamp::now().as_second());
    for outcome in outcomes {
        let Outcome { number, hot_spot, back, service_level, standing, moved, at } = *outcome;
        // If the clock was set back, the age is unknown.
        let age = u64::try_from(today.saturating_sub(at)).ok().map(Duration::from_secs);
        if let (Some(age), Some(standing)) = (age, Standing::of(standing)) {
            heard.recall((number, hot_spot, back, service_level), (standing, moved), age, now);
        }
    }
    heard
}
