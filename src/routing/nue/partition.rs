//! Destinations into layers: compact blocks of switches, by bisection along the way between two far corners. The
//! dissertation takes a multilevel k-way partition (section 6.2.5); blocks of a torus come out alike.

use crate::line_trees::flat_graph::{FlatGraph, NONE};

/// The layer of every switch (`NONE` for one without destinations), each part of the fabric on its own.
pub fn partition(net: &FlatGraph, weight: &[u32], layers: u32) -> Vec<u32> {
    let mut layer_of = vec![NONE; net.switch_count()];
    for part in 0..net.part_size.len() as u32 {
        let holds = |switch: &u32| net.part[*switch as usize] == part && weight[*switch as usize] > 0;
        let switches: Vec<u32> = (0..net.switch_count() as u32).filter(holds).collect();
        split(net, weight, switches, 0, layers, &mut layer_of);
    }
    layer_of
}

fn split(net: &FlatGraph, weight: &[u32], mut block: Vec<u32>, base: u32, layers: u32, layer_of: &mut [u32]) {
    if layers <= 1 || block.len() <= 1 {
        block.iter().for_each(|switch| layer_of[*switch as usize] = base);
        return;
    }
    sort_along(net, &mut block);
    let low = layers / 2;
    let all: u64 = block.iter().map(|switch| u64::from(weight[*switch as usize])).sum();
    let aim = all * u64::from(low) / u64::from(layers);
    let (mut sum, mut cut) = (0, 0);
    while cut + 1 < block.len() && (cut == 0 || sum + u64::from(weight[block[cut] as usize]) / 2 < aim) {
        sum += u64::from(weight[block[cut] as usize]);
        cut += 1;
    }
    let high = block.split_off(cut);
    split(net, weight, block, base, low, layer_of);
    split(net, weight, high, base + low, layers - low, layer_of);
}

/// Sorts a block by how much nearer one corner is than the one far from it.
fn sort_along(net: &FlatGraph, block: &mut [u32]) {
    let (mut near, mut far, mut queue) = (Vec::new(), Vec::new(), Vec::new());
    let Some(start) = block.first().copied() else { return };
    net.hops(&[start], &mut near, &mut queue);
    let farthest = |hops: &[u32], block: &[u32]| {
        block.iter().copied().max_by_key(|switch| (hops[*switch as usize], std::cmp::Reverse(*switch)))
    };
    let a = farthest(&near, block).unwrap_or(start);
    net.hops(&[a], &mut near, &mut queue);
    let b = farthest(&near, block).unwrap_or(start);
    net.hops(&[b], &mut far, &mut queue);
    block.sort_unstable_by_key(|switch| {
        let at = *switch as usize;
        (i64::from(near[at]) - i64::from(far[at]), *switch)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{Faults, SwitchGraph};

    #[test]
    fn blocks_are_even_and_compact() {
        let fabric = generate(&"torus,dims=8x8".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let net = FlatGraph::new(&SwitchGraph::new(&fabric, &Faults::default()));
        for layers in 1..=8u32 {
            let layer_of = partition(&net, &[1; 64], layers);
            let sizes: Vec<usize> =
                (0..layers).map(|layer| layer_of.iter().filter(|of| **of == layer).count()).collect();
            let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            assert!(*least > 0 && most - least <= 2, "{layers}: {sizes:?}");
        }
        let halves = partition(&net, &[1; 64], 2);
        let cut = (0..net.channel_count())
            .filter(|channel| halves[net.from[*channel] as usize] != halves[net.to[*channel] as usize]);
        // The best cut has 32 channels, an arbitrary one about 128.
        assert!(cut.count() <= 72);
    }

    #[test]
    fn switches_without_destinations_have_no_layer() {
        let fabric = generate(&"torus,dims=4".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let net = FlatGraph::new(&SwitchGraph::new(&fabric, &Faults::default()));
        assert_eq!(partition(&net, &[0, 3, 0, 3], 2).iter().filter(|of| **of == NONE).count(), 2);
        assert_eq!(partition(&net, &[0, 0, 0, 0], 4), [NONE; 4]);
    }
}
