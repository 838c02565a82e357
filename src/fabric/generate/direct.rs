//! Networks whose every switch has hosts: meshes, tori, dragonflies, Cascade, Kautz graphs.

use super::plan::FabricPlan;
use super::shape::{CASCADE_COLUMNS, CASCADE_GROUP, CASCADE_ROWS};

/// A mesh, or a torus where the dimensions close (dissertation 3.2.1). Ports: x+ x- y+ y- ..., then hosts; each
/// direction is as many ports wide as links are redundant. A torus of two switches in a dimension has both cables.
pub fn grid(plan: &mut FabricPlan, dims: &[u32], closed: bool) {
    let all: u32 = dims.iter().product();
    let mut at = vec![0; dims.len()];
    for _ in 0..all {
        let name: Vec<String> = at.iter().map(u32::to_string).collect();
        plan.add_switch(format!("sw_{}", name.join("_")), 0);
        next_coordinates(&mut at, dims);
    }
    plan.first_host_port = 2 * dims.len() as u32 * plan.redundancy + 1;
    let switches: Vec<u32> = (0..all).collect();
    plan.spread_hosts(&switches);
    // The last dimension is the fastest: its neighbours are one apart.
    let mut apart = all;
    for (dimension, size) in dims.iter().enumerate() {
        apart /= size;
        let (plus, minus) = (2 * dimension as u32, 2 * dimension as u32 + 1);
        for switch in 0..all {
            let place = switch / apart % size;
            if place + 1 < *size {
                plan.add_link_at((switch, plus), (switch + apart, minus));
            } else if closed {
                plan.add_link_at((switch, plus), (switch - place * apart, minus));
            }
        }
    }
}

/// The next place in reading order.
fn next_coordinates(at: &mut [u32], dims: &[u32]) {
    for (place, size) in at.iter_mut().zip(dims).rev() {
        *place += 1;
        if *place < *size {
            return;
        }
        *place = 0;
    }
}

/// A dragonfly (dissertation 3.2.4): complete graphs within the groups and between them, with as many links per pair
/// of groups as every pair can have.
pub fn dragonfly(plan: &mut FabricPlan, (a, h, g): (u32, u32, u32)) {
    let mut groups = Vec::with_capacity(g as usize);
    for group in 0..g {
        groups.push(plan.add_row(&format!("g{group}s"), a, 0));
    }
    plan.spread_hosts(&groups.concat());
    for group in &groups {
        link_all_pairs(plan, group, 1);
    }
    if g > 1 {
        join_groups(plan, &groups, a * h / (g - 1));
    }
}

/// Cascade (dissertation 3.2.4): groups of 16 x 6 switches, complete along both axes. Table 6.1 counts three links
/// for each pair of a column, as the backplane of the real machine has.
pub fn cascade(plan: &mut FabricPlan, groups: u32, global: u32) {
    let mut all = Vec::with_capacity(groups as usize);
    for group in 0..groups {
        let mut switches = Vec::with_capacity(CASCADE_GROUP as usize);
        for y in 0..CASCADE_ROWS {
            switches.extend(plan.add_row(&format!("g{group}y{y}x"), CASCADE_COLUMNS, 0));
        }
        all.push(switches);
    }
    plan.spread_hosts(&all.concat());
    for group in &all {
        for row in group.chunks(CASCADE_COLUMNS as usize) {
            link_all_pairs(plan, row, 1);
        }
        for x in 0..CASCADE_COLUMNS as usize {
            let column: Vec<u32> = group.iter().skip(x).step_by(CASCADE_COLUMNS as usize).copied().collect();
            link_all_pairs(plan, &column, 3);
        }
    }
    join_groups(plan, &all, global);
}

fn link_all_pairs(plan: &mut FabricPlan, switches: &[u32], times: u32) {
    for (place, a) in switches.iter().enumerate() {
        for b in switches.iter().skip(place + 1) {
            (0..times).for_each(|_| plan.add_link(*a, *b));
        }
    }
}

/// `each` links for every pair of groups; a group's switches take turns.
fn join_groups(plan: &mut FabricPlan, groups: &[Vec<u32>], each: u32) {
    let mut turn = vec![0usize; groups.len()];
    for _ in 0..each {
        for i in 0..groups.len() {
            for j in i + 1..groups.len() {
                let (a, b) = (&groups[i], &groups[j]);
                plan.add_link(a[turn[i] % a.len()], b[turn[j] % b.len()]);
                turn[i] += 1;
                turn[j] += 1;
            }
        }
    }
}

/// A Kautz graph (dissertation 3.2.3), each of its arcs a full-duplex link.
pub fn kautz(plan: &mut FabricPlan, d: u32, k: u32) {
    let all = (d + 1) * d.pow(k - 1);
    let separator = if d < 10 { "" } else { "." };
    let mut words = Vec::with_capacity(all as usize);
    for number in 0..all {
        let word = kautz_word(number, d, k);
        let letters: Vec<String> = word.iter().map(u32::to_string).collect();
        plan.add_switch(format!("k{}", letters.join(separator)), 0);
        words.push(word);
    }
    let switches: Vec<u32> = (0..all).collect();
    plan.spread_hosts(&switches);
    for (number, word) in words.iter().enumerate() {
        let last = word.last().copied().unwrap_or(0);
        for letter in (0..=d).filter(|letter| *letter != last) {
            let next: Vec<u32> = word.iter().skip(1).copied().chain([letter]).collect();
            plan.add_link(number as u32, kautz_number(&next, d));
        }
    }
}

/// The words in their order: d+1 first letters, and d for each that follows, its predecessor left out.
fn kautz_word(number: u32, d: u32, k: u32) -> Vec<u32> {
    let mut word = Vec::with_capacity(k as usize);
    let mut rest = number;
    let mut weight = d.pow(k - 1);
    for _ in 0..k {
        let rank = rest / weight;
        rest %= weight;
        weight = (weight / d).max(1);
        let skipped = word.last().is_some_and(|before| rank >= *before);
        word.push(rank + u32::from(skipped));
    }
    word
}

fn kautz_number(word: &[u32], d: u32) -> u32 {
    let first = word.first().copied().unwrap_or(0);
    let later = word.windows(2).map(|pair| pair[1] - u32::from(pair[1] > pair[0]));
    later.fold(first, |number, rank| number * d + rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kautz_word_has_its_number() {
        for (d, k) in [(1u32, 1), (1, 4), (2, 4), (5, 3), (11, 2)] {
            for number in 0..(d + 1) * d.pow(k - 1) {
                let word = kautz_word(number, d, k);
                assert!(word.windows(2).all(|pair| pair[0] != pair[1]), "{word:?}");
                assert!(word.iter().all(|letter| *letter <= d), "{word:?}");
                assert_eq!(kautz_number(&word, d), number, "{word:?}");
            }
        }
    }
}
