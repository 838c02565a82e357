//! A switch that answers a Set with other bytes than were sent, and another machine that writes behind one that answered well:
//! both read back otherwise, the first is this change's own doing and goes back, the second is left.

use std::time::Duration;

use fabdeck_change::{Left, Phase, Step};
use fabdeck_mad::access::{
    Arrival, Clock, LocalPort, MadPort, Parcel, PortError, ReadPort, Surveyor as _, WritePort,
};
use fabdeck_mad::{Method, SMP_DATA, Smp, attribute};

use super::*;

/// What happens to the Set of a block that holds these bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mishap {
    /// The switch stores another byte, and says so.
    Altered,
    /// It stores what was sent; then somebody else writes there.
    Foreign,
}

struct Struck {
    port: WritePort,
    simulator: SimulatedPort,
    step: Step,
    mishap: Option<Mishap>,
    /// The Set is under way.
    sent: bool,
}

/// What stands there in the end.
fn other_bytes(step: &Step) -> Vec<u8> {
    let mut other = step.new.clone();
    let at = other.iter().position(|byte| *byte != 0xFF).unwrap();
    other[at] = if step.old[at] == 1 || step.new[at] == 1 { 2 } else { 1 };
    assert!(other != step.old && other != step.new);
    other
}

impl Clock for Struck {
    fn now(&self) -> Duration {
        self.port.now()
    }

    fn is_virtual(&self) -> bool {
        self.port.is_virtual()
    }
}

impl MadPort for Struck {
    fn local(&self) -> &LocalPort {
        self.port.local()
    }

    fn send(&mut self, parcel: &Parcel, patience: Duration) -> Result<(), PortError> {
        let mut parcel = parcel.clone();
        let mut smp = Smp(parcel.mad.clone());
        let is_block = smp.0.method() == Method::SET
            && smp.0.header().attribute.get() == attribute::LINEAR_FORWARDING
            && smp.data::<[u8; SMP_DATA]>()[..] == self.step.new;
        match self.mishap {
            Some(Mishap::Altered) if is_block => {
                smp.data_mut::<[u8; SMP_DATA]>().copy_from_slice(&other_bytes(&self.step));
                (parcel.mad, self.mishap) = (smp.0, None);
            }
            Some(Mishap::Foreign) => self.sent |= is_block,
            _ => {}
        }
        self.port.send(&parcel, patience)
    }

    fn receive(&mut self, until: Duration) -> Result<Option<Arrival>, PortError> {
        let arrival = self.port.receive(until)?;
        if std::mem::take(&mut self.sent) {
            self.mishap = None;
            let mut other = actuator(&self.simulator);
            other.look(Wanted::default(), &mut Unwatched).unwrap();
            other.write(&self.step.slot, &other_bytes(&self.step)).unwrap();
        }
        Ok(arrival)
    }
}

/// A plan, the step of it that goes wrong, and hands over a port where it does.
fn struck(mishap: Mishap) -> (SimulatedPort, Plan, Step, LiveActuator) {
    let (simulator, plan) = staged("kary,k=3,n=2", "updn");
    let steps: Vec<Step> = plan.writes.iter().map(|write| write.step().unwrap()).collect();
    // One whose bytes no other step has.
    let of = |step: &&Step| matches!(step.slot.part, Part::Block(_));
    let alone = |step: &&Step| steps.iter().filter(|other| other.new == step.new).count() == 1;
    let step = steps.iter().filter(of).filter(alone).nth(2).unwrap().clone();
    let port = simulator.open(None).unwrap().unlock(&WriteToken::simulation()).unwrap();
    let port =
        Struck { port, simulator: simulator.clone(), step: step.clone(), mishap: Some(mishap), sent: false };
    let port = ReadPort::new(port).unlock(&WriteToken::simulation()).unwrap();
    (simulator, plan, step, LiveActuator::new("sim", port, Policy::default(), Keys::default()))
}

fn applied(mishap: Mishap) -> (SimulatedPort, Step, Told, Tables, Vec<u8>) {
    let (simulator, plan, step, mut hands) = struck(mishap);
    let before = seen(&simulator).tables;
    let mut stage = Stage::new(&simulator, &plan);
    let (_sender, orders) = nobody();
    let told = stage.apply_with(&mut hands, 60, &orders, &SystemClocks, &mut |_| ());
    let bytes = stage.witness.course().bytes.clone();
    (simulator, step, told, before, bytes)
}

#[test]
fn what_a_switch_alters_is_named_as_its_own_doing_and_goes_back() {
    let (simulator, _, told, before, bytes) = applied(Mishap::Altered);
    let why = told.why.unwrap();
    assert!(why.contains("FD-4505") && why.contains("nobody else wrote there"), "{why}");
    assert_eq!((told.phase, told.ended.unwrap().left), (Phase::RolledBack, vec![]));
    assert!(seen(&simulator).tables == before);
    assert!(String::from_utf8_lossy(&bytes).contains("\"record\":\"altered\""));
}

#[test]
fn what_another_machine_writes_behind_a_good_answer_is_named_foreign_and_left() {
    let (simulator, step, told, _, _) = applied(Mishap::Foreign);
    let why = told.why.unwrap();
    assert!(why.contains("FD-5630") && why.contains("somebody else has written there since"), "{why}");
    let what = step.slot.to_string();
    let left = vec![Left { what, why: "somebody else has written there since".into() }];
    // It reads back otherwise too, but is named once.
    assert_eq!((told.phase, told.ended.unwrap().left), (Phase::Incomplete, left));
    let mut hands = actuator(&simulator);
    hands.look(Wanted::default(), &mut Unwatched).unwrap();
    assert_eq!(hands.read(&[step.slot]).remove(0).unwrap(), other_bytes(&step));
}

/// The guard ends right behind the record: the next one knows that these bytes are not somebody else's.
#[test]
fn the_next_guard_knows_what_a_switch_altered() {
    let (simulator, step, _, before, bytes) = applied(Mishap::Altered);
    let text = String::from_utf8(bytes).unwrap();
    let whole = text.split_inclusive('\n').take_while(|line| !line.contains("\"record\":\"returning\""));
    let left: String = whole.collect();
    assert!(left.contains("\"record\":\"altered\""));
    let mut hands = actuator(&simulator);
    hands.look(Wanted::default(), &mut Unwatched).unwrap();
    hands.write(&step.slot, &other_bytes(&step)).unwrap();
    let plan = planned(&simulator_of("kary,k=3,n=2"), "updn", &Faults::default());
    let (_sender, orders) = nobody();
    let told = Stage::new(&simulator, &plan).take_over(left.as_bytes(), &orders).unwrap();
    assert_eq!((told.phase, told.ended.unwrap().left), (Phase::RolledBack, vec![]));
    assert!(seen(&simulator).tables == before);
}

fn simulator_of(name: &str) -> SimulatedPort {
    simulated(&fabric(name))
}
