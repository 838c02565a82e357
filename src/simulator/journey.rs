//! Routes of packets from one port to another: by the ports in the packet, or by LID through the tables.

use fabdeck_fabric::NO_PATH;
use fabdeck_mad::Smp;

use super::device::Plug;
use super::world::World;

/// A route through more switches is a loop.
const HOPS_MOST: u32 = 64;

/// Where a packet arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrived {
    /// The port where the packet came in; port 0 of a switch if it started there.
    pub at: Plug,
    pub hops: u32,
}

impl World {
    /// Follows a directed route and writes the return path into the packet. `None`: the packet is lost.
    pub(super) fn follow_route(&self, from: Plug, smp: &mut Smp) -> Option<Arrived> {
        let route: Vec<u8> = smp.route()?.to_vec();
        let mut at = from;
        for (hop, egress) in route.iter().enumerate() {
            let device = self.device(at.0);
            // An adapter sends through its own port and forwards nothing.
            let allowed = device.is_switch() || (hop == 0 && *egress == from.1);
            let socket = device.socket(*egress).filter(|socket| allowed && socket.passes())?;
            at = socket.peer?;
            smp.return_path_mut()[hop + 1] = at.1;
            self.device(at.0).socket(at.1).filter(|far| far.passes())?;
        }
        smp.set_hop_pointer(route.len() as u8 + 1);
        Some(Arrived { at, hops: route.len() as u32 })
    }

    /// Follows the tables to a LID. `None`: the packet is lost.
    pub(super) fn follow_lid(&self, from: Plug, lid: u16) -> Option<Arrived> {
        let mut at = from;
        for hops in 0..HOPS_MOST {
            let device = self.device(at.0);
            if device.owns_at(at.1, lid) {
                return Some(Arrived { at, hops });
            }
            let egress = match device.is_switch() {
                true => device
                    .tables
                    .linear
                    .get(usize::from(lid))
                    .filter(|_| lid <= device.tables.linear_top)
                    .copied()
                    .filter(|port| !matches!(*port, 0 | NO_PATH))?,
                false if hops == 0 => from.1,
                false => return None,
            };
            at = device.socket(egress).filter(|socket| socket.passes())?.peer?;
            self.device(at.0).socket(at.1).filter(|far| far.passes())?;
        }
        None
    }
}
