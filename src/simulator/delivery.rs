//! Routes of packets from one port to another: by the ports in the packet, or by LID through the tables.

use fabdeck_fabric::NO_PATH;
use fabdeck_mad::Smp;

use super::device::PortRef;
use super::simulated_fabric::SimulatedFabric;

/// A route through more switches is a loop.
const MAX_HOPS: u32 = 64;

/// Where a packet arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// The port where the packet came in; port 0 of a switch if it started there.
    pub at: PortRef,
    pub hops: u32,
}

impl SimulatedFabric {
    /// Follows a directed route and writes the return path into the packet. `None`: the packet is lost.
    pub(super) fn follow_route(&self, from: PortRef, smp: &mut Smp) -> Option<Delivery> {
        let route: Vec<u8> = smp.route()?.to_vec();
        let mut at = from;
        for (hop, egress) in route.iter().enumerate() {
            let device = self.device(at.0);
            // An adapter sends through its own port and forwards nothing.
            let allowed = device.is_switch() || (hop == 0 && *egress == from.1);
            let socket = device.port(*egress).filter(|socket| allowed && socket.is_passing_mads())?;
            at = socket.peer?;
            smp.return_path_mut()[hop + 1] = at.1;
            self.device(at.0).port(at.1).filter(|far| far.is_passing_mads())?;
        }
        smp.set_hop_pointer(route.len() as u8 + 1);
        Some(Delivery { at, hops: route.len() as u32 })
    }

    /// Follows the tables to a LID. `None`: the packet is lost.
    pub(super) fn follow_lid(&self, from: PortRef, lid: u16) -> Option<Delivery> {
        let mut at = from;
        for hops in 0..MAX_HOPS {
            let device = self.device(at.0);
            if device.has_lid_at(at.1, lid) {
                return Some(Delivery { at, hops });
            }
            let egress = match device.is_switch() {
                true => device
                    .tables
                    .linear
                    .get(usize::from(lid))
                    .filter(|_| lid <= device.tables.linear_top)
                    .filter(|port| !matches!(*port, 0 | NO_PATH))?,
                false if hops == 0 => from.1,
                false => return None,
            };
            at = device.port(egress).filter(|socket| socket.is_passing_mads())?.peer?;
            self.device(at.0).port(at.1).filter(|far| far.is_passing_mads())?;
        }
        None
    }
}
