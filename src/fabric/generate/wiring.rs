//! Which port each end of a cable sits on.
//!
//! - Ends that the definition numbers (torus, mesh, m-port n-tree) sit there.
//! - Hosts come next, on the first free ports of their switch, in their order.
//! - The other cables take the first free port at both ends, in the order in which the plan lists them: trees list
//!   from the bottom up, so a switch has hosts, then links down, then links up, then links to its own level.

use super::error::GenerateError;
use super::limits::too_many_ports;
use super::plan::FabricPlan;
use crate::PortNum;

pub struct Wiring {
    pub cables: Vec<(PortNum, PortNum)>,
    /// The switch port behind port 1, and behind port 2, of every host.
    pub hosts: Vec<(PortNum, Option<PortNum>)>,
    /// The ports of every switch: the plan's, or more where a switch needs them.
    pub radix: u8,
}

/// The ports of one switch that are taken.
#[derive(Clone, Copy, Default)]
struct UsedPorts([u64; 4]);

impl UsedPorts {
    /// Takes a port above 0; None when there is no such port. It need not have been free: definitions do not collide.
    fn take(&mut self, port: u32) -> Option<PortNum> {
        let number = PortNum::new(port).filter(|number| *number > PortNum::MANAGEMENT)?;
        self.0[number.index() / 64] |= 1 << (number.index() % 64);
        Some(number)
    }

    fn take_free(&mut self, from: u32) -> Option<PortNum> {
        let free =
            (from..=u32::from(PortNum::MAX)).find(|p| self.0[*p as usize / 64] & (1 << (p % 64)) == 0)?;
        self.take(free)
    }

    fn highest(&self) -> u32 {
        let word = self.0.iter().rposition(|word| *word != 0);
        word.map_or(0, |at| at as u32 * 64 + 63 - self.0[at].leading_zeros())
    }
}

pub fn wire(plan: &FabricPlan) -> Result<Wiring, GenerateError> {
    let mut taken = vec![UsedPorts::default(); plan.switches.len()];
    let full = |switch: u32| too_many_ports(plan.fabric, ports_needed(plan, switch));
    let mut cables = vec![None; plan.cables.len()];
    for (cable, ends) in plan.cables.iter().zip(&mut cables) {
        let Some((a, b)) = cable.ports else { continue };
        let a = taken[cable.a as usize].take(a).ok_or_else(|| full(cable.a))?;
        let b = taken[cable.b as usize].take(b).ok_or_else(|| full(cable.b))?;
        *ends = Some((a, b));
    }
    let mut next = |switch: u32, from| taken[switch as usize].take_free(from).ok_or_else(|| full(switch));
    let mut hosts = Vec::with_capacity(plan.hosts.len());
    for host in &plan.hosts {
        let first = next(host.switch, plan.first_host_port)?;
        let second = host.second.map(|switch| next(switch, plan.first_host_port)).transpose()?;
        hosts.push((first, second));
    }
    let mut wired = Vec::with_capacity(cables.len());
    for (cable, ends) in plan.cables.iter().zip(cables) {
        wired.push(match ends {
            Some(ends) => ends,
            None => (next(cable.a, 1)?, next(cable.b, 1)?),
        });
    }
    let used = taken.iter().map(UsedPorts::highest).max().unwrap_or(0);
    Ok(Wiring { cables: wired, hosts, radix: used.max(plan.radix) as u8 })
}

/// How many ports a switch would need, for the message that says it has too few.
fn ports_needed(plan: &FabricPlan, switch: u32) -> u64 {
    let ends = |cable: &&super::plan::PlannedCable| cable.a == switch || cable.b == switch;
    let cables = plan.cables.iter().filter(ends).count();
    let hosts = plan.hosts.iter().filter(|host| host.switch == switch || host.second == Some(switch)).count();
    (cables + hosts) as u64
}
