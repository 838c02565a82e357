//! The demo fabric: small, with something to find.
//!
//! - Six racks of six hosts under three spines, two cables from each leaf to each spine, HDR, SHARP aggregation nodes.
//! - One of the two cables from rack3-leaf to spine-2 has fallen to 1x.
//! - `storage01` and `storage02` share the last rack: everyone writes there, the hot-spot to be.

use super::plan::{FabricPlan, PlannedHost};
use crate::LinkWidth;

const RACKS: u32 = 6;
const SPINES: u32 = 3;
const TRUNK: u32 = 2;
const STORAGE: usize = 2;

pub fn demo(plan: &mut FabricPlan) {
    let leaves: Vec<u32> = (1..=RACKS).map(|rack| plan.add_switch(format!("rack{rack}-leaf"), 0)).collect();
    let spines: Vec<u32> = (1..=SPINES).map(|spine| plan.add_switch(format!("spine-{spine}"), 1)).collect();
    plan.spread_hosts(&leaves);
    name_hosts(&mut plan.hosts);
    for (rack, leaf) in leaves.iter().enumerate() {
        for (number, spine) in spines.iter().enumerate() {
            for cable in 0..TRUNK {
                plan.add_link(*leaf, *spine);
                if (rack, number, cable) == (2, 1, TRUNK - 1)
                    && let Some(weak) = plan.cables.last_mut()
                {
                    weak.width = LinkWidth::X1;
                }
            }
        }
    }
    plan.notes.push("one cable from rack3-leaf to spine-2 runs at 1x".to_owned());
}

/// The last ones are storage, the first is where people log in, the others are numbered.
fn name_hosts(hosts: &mut [PlannedHost]) {
    let storage_from = hosts.len().saturating_sub(STORAGE).max(1);
    for (number, host) in hosts.iter_mut().enumerate() {
        host.name = match number {
            0 => "login1 mlx5_0".to_owned(),
            _ if number >= storage_from => format!("storage{:02} mlx5_0", number - storage_from + 1),
            _ => format!("node{number:02} mlx5_0"),
        };
    }
}
