//! What goes wrong in a run: which faults a seed draws from, how often, and for how long.

use std::sync::Arc;

use fabdeck_simulator::SimulatorRng;

use super::scheduler::{Event, Pid, State, World};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    Kill,
    Stop,
    End,
    PowerCut,
    SetClock,
    FailDisk,
    Silence,
    Resume,
    WriteEqual,
    WriteOther,
    WriteOld,
    Alter,
    FailSync,
}

const FAULTS: [Fault; 13] = [
    Fault::Kill,
    Fault::Stop,
    Fault::End,
    Fault::PowerCut,
    Fault::SetClock,
    Fault::FailDisk,
    Fault::Silence,
    Fault::Resume,
    Fault::WriteEqual,
    Fault::WriteOther,
    Fault::WriteOld,
    Fault::Alter,
    Fault::FailSync,
];

#[derive(Debug, Default)]
pub struct Chaos {
    faults: Vec<Fault>,
    left: u64,
    /// One in this many steps.
    one_in: u64,
    /// None after this time.
    until_ms: u64,
}

impl Chaos {
    /// Nothing goes wrong by itself.
    pub fn none() -> Self {
        Self::default()
    }

    pub fn draw(dice: &mut SimulatorRng) -> Self {
        let some = 1 + dice.draw_below(FAULTS.len() as u64);
        let faults = (0..some).map(|_| FAULTS[dice.draw_below(FAULTS.len() as u64) as usize]).collect();
        let one_in = [20, 60, 150, 400][dice.draw_below(4) as usize];
        Self { faults, left: dice.draw_below(6), one_in, until_ms: 900_000 }
    }
}

impl State {
    pub fn roll_chaos(&mut self, world: &Arc<World>, me: Pid) {
        let quiet = self.chaos.left == 0 || self.now_ms > super::scheduler::BEGIN_MS + self.chaos.until_ms;
        if quiet || self.dice.draw_below(self.chaos.one_in) != 0 {
            return;
        }
        self.chaos.left -= 1;
        let fault = self.chaos.faults[self.dice.draw_below(self.chaos.faults.len() as u64) as usize];
        let alive: Vec<Pid> = self.processes.keys().copied().filter(|pid| self.is_alive(*pid)).collect();
        let victim = alive[self.dice.draw_below(alive.len() as u64) as usize];
        let host = self.processes[&me].host;
        let long = self.dice.draw_below(60_000);
        match fault {
            Fault::Kill => self.kill(victim, "kill -9"),
            Fault::Stop => self.stop(victim, 1 + 3 * long),
            Fault::End => self.ask_to_end(victim),
            Fault::PowerCut => self.cut_power(host, 1_000 + long),
            Fault::SetClock => {
                let by_ms = (self.dice.draw_below(20 * 3_600_000) as i64) - 10 * 3_600_000;
                self.schedule_after(0, Event::SetClock { host, by_ms });
            }
            Fault::FailDisk => self.schedule_after(0, Event::FailDisk { host, for_ms: long / 3 }),
            Fault::Silence => self.fabric.silent_until_ms = self.now_ms + long,
            Fault::Resume => _ = world.spawn(self, host, super::OWNER, super::programs::Program::Resume),
            // Between a guard's reading and its writing nothing keeps another tool away, and no guard can tell.
            Fault::WriteEqual | Fault::WriteOther | Fault::WriteOld if self.monitor.has_guard(self) => {}
            // OpenSM does not read tables back: what else writes beside it stays, and the driver names it.
            Fault::WriteEqual | Fault::WriteOther | Fault::WriteOld | Fault::Alter
                if self.opensm.is_some() => {}
            Fault::WriteEqual => self.schedule_after(0, Event::WriteEqual { plan: 0 }),
            Fault::WriteOther => self.schedule_after(0, Event::WriteOther { plan: 0 }),
            Fault::WriteOld => self.schedule_after(0, Event::WriteOld { plan: 0 }),
            Fault::Alter => self.fabric.alters_next = true,
            Fault::FailSync => self.schedule_after(0, Event::FailSync { host }),
        }
    }
}
