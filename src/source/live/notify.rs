//! Telling hosts which flows to move: notices go to the subnet manager as traps, which passes them on to whoever subscribed;
//! then the agents of hosts are asked how far they are, again and again while there is patience.
//!
//! A manager says that a trap came (TrapRepress). That it says nothing does not mean that it heard nothing, so hosts are
//! asked all the same: who followed is the better witness.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::policy::Policy;
use crate::access::{Address, Arrival, MadPort, Parcel, PortError, WriteError};
use crate::fabric::Lid;
use crate::mad::{Follow, Mad, Method, Repath, SMP_DATA, Smp, Standing, attribute};

/// Between two questions to the same host.
const ASKS: Duration = Duration::from_millis(200);
/// Told from those of looks, of Sets and of what is read back.
const FIRST_TRANSACTION: u32 = 0x7000_0000;

/// A trap on its way to the manager.
#[derive(Debug)]
struct Trap {
    told: Repath,
    /// Tries that are left, and when the next is due.
    left: u32,
    due: Duration,
    came: bool,
}

/// A host that is asked about one notice.
#[derive(Debug)]
struct Asked {
    host: Lid,
    trap: usize,
    due: Duration,
    standing: Standing,
}

/// One round of telling.
#[derive(Debug)]
struct Herald<'p, P: MadPort + ?Sized> {
    port: &'p mut P,
    policy: Policy,
    manager: Lid,
    traps: Vec<Trap>,
    asked: Vec<Asked>,
    /// What each transaction was for.
    sent: BTreeMap<u32, Sent>,
    next: u32,
}

#[derive(Clone, Copy, Debug)]
enum Sent {
    Trap(usize),
    Question(usize),
}

/// Tells hosts, and waits until all of `whom` have said how they are or the time is over; who of them followed.
pub fn notify<P: MadPort + ?Sized>(
    port: &mut P,
    (manager, policy): (Option<Lid>, Policy),
    notices: &[Repath],
    whom: &[Lid],
    patience: Duration,
) -> Result<Vec<Lid>, WriteError> {
    let manager = manager.or(port.local().manager_lid).ok_or_else(|| {
        WriteError::Refused(
            "FD-4521: there is no subnet manager to tell hosts through: look at the fabric first, or start one".into(),
        )
    })?;
    let now = port.now();
    let tries = policy.retries.saturating_add(1);
    let traps = notices.iter().map(|told| Trap { told: told.clone(), left: tries, due: now, came: false });
    let whom: BTreeSet<Lid> = whom.iter().copied().collect();
    let named = |(trap, told): (usize, &Repath)| {
        let hosts = whom.iter().filter(|host| told.names(**host)).copied().collect::<Vec<_>>();
        // The manager is told first.
        hosts.into_iter().map(move |host| Asked {
            host,
            trap,
            due: now + ASKS / 4,
            standing: Standing::Unheard,
        })
    };
    let asked = notices.iter().enumerate().flat_map(named).collect();
    let next = FIRST_TRANSACTION | notices.first().map_or(0, |told| (told.number & 0xFFFF) << 10);
    let traps = traps.collect();
    let mut herald = Herald { port, policy, manager, traps, asked, sent: BTreeMap::new(), next };
    herald.run(now + patience).map_err(|error| WriteError::Gone(error.to_string()))?;
    herald.conclude(&whom)
}

impl<P: MadPort + ?Sized> Herald<'_, P> {
    fn run(&mut self, until: Duration) -> Result<(), PortError> {
        loop {
            let now = self.port.now();
            self.send_due(now, until)?;
            let Some(next) = self.next_due(now, until) else { return Ok(()) };
            if let Some(Arrival::Mad(parcel)) = self.port.receive(next)? {
                self.take(&parcel);
            }
        }
    }

    /// When something is to be done next; `None` when all is settled. Once hosts are done, or the time is over and some have
    /// heard of it, the manager need not say anything any more.
    fn next_due(&self, now: Duration, until: Duration) -> Option<Duration> {
        let open = self.asked.iter().filter(|asked| !asked.standing.is_final() && now < until);
        let open: Vec<Duration> = open.map(|asked| asked.due.min(until)).collect();
        if open.is_empty() && self.heard() {
            return None;
        }
        let unsaid = self.traps.iter().filter(|trap| !trap.came && (trap.left > 0 || trap.due > now));
        unsaid.map(|trap| trap.due).chain(open).min()
    }

    /// Whether some host knows of what it was told.
    fn heard(&self) -> bool {
        self.asked.iter().any(|asked| asked.standing != Standing::Unheard)
    }

    fn send_due(&mut self, now: Duration, until: Duration) -> Result<(), PortError> {
        let issuer = self.port.local().lid.map_or(0, |lid| lid.value());
        for at in 0..self.traps.len() {
            let trap = &mut self.traps[at];
            if trap.came || trap.left == 0 || trap.due > now {
                continue;
            }
            (trap.left, trap.due) = (trap.left - 1, now + self.policy.timeout);
            let mad = Smp::trap(&trap.told.notice(issuer)).0;
            self.send(mad, self.manager, Sent::Trap(at))?;
        }
        for at in 0..self.asked.len() {
            let asked = &mut self.asked[at];
            if asked.standing.is_final() || asked.due > now || now >= until {
                continue;
            }
            asked.due = now + ASKS;
            let (host, trap) = (asked.host, asked.trap);
            let mad = Mad::follow(Follow::about(&self.traps[trap].told));
            self.send(mad, host, Sent::Question(at))?;
        }
        Ok(())
    }

    fn send(&mut self, mut mad: Mad, to: Lid, what: Sent) -> Result<(), PortError> {
        self.next = self.next.wrapping_add(1).max(FIRST_TRANSACTION);
        mad.header_mut().transaction = u64::from(self.next).into();
        self.sent.insert(self.next, what);
        let address = Address::of(to, mad.class());
        self.port.send(&Parcel { mad, address }, self.policy.timeout)
    }

    fn take(&mut self, parcel: &Parcel) {
        let mad = &parcel.mad;
        let Some(sent) = self.sent.get(&(mad.header().transaction.get() as u32)) else { return };
        match *sent {
            Sent::Trap(at) if mad.method() == Method::TRAP_REPRESS => {
                let issuer = self.port.local().lid.map_or(0, |lid| lid.value());
                let trap = &mut self.traps[at];
                let said = *Smp(mad.clone()).data::<[u8; SMP_DATA]>();
                trap.came |= said == *Smp::trap(&trap.told.notice(issuer)).data::<[u8; SMP_DATA]>();
            }
            Sent::Question(at) if mad.header().attribute.get() == attribute::FOLLOW => {
                let said = mad.follows();
                let asked = &mut self.asked[at];
                let meant = self.traps[asked.trap].told.key() == said.key()
                    && parcel.address.lid == asked.host.value()
                    && mad.method() == Method::GET_RESPONSE
                    && mad.status().is_ok();
                if let Some(standing) = Standing::of(said.standing).filter(|_| meant) {
                    // What is over stays so, and whoever is under way has heard of it.
                    asked.standing = if asked.standing.is_final() { asked.standing } else { standing };
                }
            }
            _ => {}
        }
    }

    /// Who followed everything that named it.
    fn conclude(self, whom: &BTreeSet<Lid>) -> Result<Vec<Lid>, WriteError> {
        let follows = |host: &&Lid| {
            let mut own = self.asked.iter().filter(|asked| asked.host == **host).peekable();
            own.peek().is_some() && own.all(|asked| asked.standing.follows())
        };
        // Of what came in part somebody may have heard. Where nobody is to answer, silence keeps nobody from anything.
        let unheard = !self.heard() && !self.traps.is_empty() && self.traps.iter().all(|trap| !trap.came);
        if unheard && !whom.is_empty() {
            return Err(WriteError::Silent(format!(
                "FD-4522: the subnet manager at LID {} does not say that a notice came, and no host has heard of one",
                self.manager
            )));
        }
        Ok(whom.iter().filter(follows).copied().collect())
    }
}
