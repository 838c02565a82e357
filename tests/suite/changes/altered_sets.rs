//! A switch that answers a Set with other bytes than were sent, and another machine that writes behind one that answered well:
//! both read back otherwise, the first is this change's own doing and goes back, the second is left.

use std::time::Duration;

use fabdeck_change::{ChangePhase, RollbackRemainder, WriteStep};
use fabdeck_mad::access::{
    AddressedMad, Clock, LocalPort, MadPort, PortError, PortEvent, ReadPort, Surveyor as _, WritePort,
};
use fabdeck_mad::{Method, SMP_DATA, Smp, attribute};

use super::*;

/// What happens to the Set of a block that holds these bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mishap {
    /// The switch stores another byte, and says so.
    Altered,
    /// It stores what was sent; then another tool writes there.
    Foreign,
}

struct AlteringPort {
    port: WritePort,
    simulator: SharedSimulator,
    step: WriteStep,
    mishap: Option<Mishap>,
    /// The Set is under way.
    sent: bool,
}

/// What stands there in the end.
fn other_bytes(step: &WriteStep) -> Vec<u8> {
    let mut other = step.new.clone();
    let at = other.iter().position(|byte| *byte != 0xFF).unwrap();
    other[at] = if step.old[at] == 1 || step.new[at] == 1 { 2 } else { 1 };
    assert!(other != step.old && other != step.new);
    other
}

impl Clock for AlteringPort {
    fn now(&self) -> Duration {
        self.port.now()
    }

    fn is_virtual(&self) -> bool {
        self.port.is_virtual()
    }
}

impl MadPort for AlteringPort {
    fn local_port(&self) -> &LocalPort {
        self.port.local_port()
    }

    fn send(&mut self, parcel: &AddressedMad, patience: Duration) -> Result<(), PortError> {
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

    fn receive(&mut self, until: Duration) -> Result<Option<PortEvent>, PortError> {
        let arrival = self.port.receive(until)?;
        if std::mem::take(&mut self.sent) {
            self.mishap = None;
            let mut other = actuator(&self.simulator);
            other.read_fabric(ReadOptions::default(), &mut NoObserver).unwrap();
            other.write(&self.step.slot, &other_bytes(&self.step)).unwrap();
        }
        Ok(arrival)
    }
}

/// A plan, the step of it that goes wrong, and hands over a port where it does.
fn altering_actuator(mishap: Mishap) -> (SharedSimulator, Plan, WriteStep, LiveActuator) {
    let (simulator, plan) = make_simulator_and_plan("kary,k=3,n=2", "updn");
    let steps: Vec<WriteStep> = plan.writes.iter().map(|write| write.to_step().unwrap()).collect();
    // One whose bytes no other step has.
    let of = |step: &&WriteStep| matches!(step.slot.part, AttributePart::Block(_));
    let alone = |step: &&WriteStep| steps.iter().filter(|other| other.new == step.new).count() == 1;
    let step = steps.iter().filter(of).filter(alone).nth(2).unwrap().clone();
    let port = simulator.open_port(None).unwrap().unlock(&WriteToken::for_simulation()).unwrap();
    let port = AlteringPort {
        port,
        simulator: simulator.clone(),
        step: step.clone(),
        mishap: Some(mishap),
        sent: false,
    };
    let port = ReadPort::new(port).unlock(&WriteToken::for_simulation()).unwrap();
    (simulator, plan, step, LiveActuator::new("sim", port, ExchangePolicy::default(), Keys::default()))
}

fn applied(mishap: Mishap) -> (SharedSimulator, WriteStep, ChangeState, Tables, Vec<u8>) {
    let (simulator, plan, step, mut hands) = altering_actuator(mishap);
    let before = observe_simulator(&simulator).tables;
    let mut stage = Stage::new(&simulator, &plan);
    let (_sender, orders) = order_channel();
    let told = stage.apply_with(&mut hands, 60, &orders, &SystemClocks, &mut |_| ());
    let bytes = stage.witness.course().bytes.clone();
    (simulator, step, told, before, bytes)
}

#[test]
fn what_a_switch_alters_is_named_as_its_own_doing_and_goes_back() {
    let (simulator, _, told, before, bytes) = applied(Mishap::Altered);
    let why = told.why.unwrap();
    assert!(why.contains("FD-4505") && why.contains("no other tool wrote there"), "{why}");
    assert_eq!((told.phase, told.ended.unwrap().left), (ChangePhase::RolledBack, vec![]));
    assert!(observe_simulator(&simulator).tables == before);
    assert!(String::from_utf8_lossy(&bytes).contains("\"record\":\"altered\""));
}

#[test]
fn what_another_machine_writes_behind_a_good_answer_is_named_foreign_and_left() {
    let (simulator, step, told, _, _) = applied(Mishap::Foreign);
    let why = told.why.unwrap();
    assert!(why.contains("FD-5630") && why.contains("another tool has written there since"), "{why}");
    let what = step.slot.to_string();
    let left = vec![RollbackRemainder { what, why: "another tool has written there since".into() }];
    // It reads back otherwise too, but is named once.
    assert_eq!((told.phase, told.ended.unwrap().left), (ChangePhase::Incomplete, left));
    let mut hands = actuator(&simulator);
    hands.read_fabric(ReadOptions::default(), &mut NoObserver).unwrap();
    assert_eq!(hands.read(&[step.slot]).remove(0).unwrap(), other_bytes(&step));
}

/// The guard ends right behind the record: the next one knows that these bytes are not another tool's.
#[test]
fn the_next_guard_knows_what_a_switch_altered() {
    let (simulator, step, _, before, bytes) = applied(Mishap::Altered);
    let text = String::from_utf8(bytes).unwrap();
    let whole = text.split_inclusive('\n').take_while(|line| !line.contains("\"record\":\"returning\""));
    let left: String = whole.collect();
    assert!(left.contains("\"record\":\"altered\""));
    let mut hands = actuator(&simulator);
    hands.read_fabric(ReadOptions::default(), &mut NoObserver).unwrap();
    hands.write(&step.slot, &other_bytes(&step)).unwrap();
    let plan = plan_by_engine(&simulator_of("kary,k=3,n=2"), "updn", &Faults::default());
    let (_sender, orders) = order_channel();
    let told = Stage::new(&simulator, &plan).take_over(left.as_bytes(), &orders).unwrap();
    assert_eq!((told.phase, told.ended.unwrap().left), (ChangePhase::RolledBack, vec![]));
    assert!(observe_simulator(&simulator).tables == before);
}

fn simulator_of(name: &str) -> SharedSimulator {
    simulated(&fabric(name))
}
