//! Single cables that are wrong. Planned and found cables that differ make chains and rings of ends, in which they take turns:
//!
//! ```text
//!   a ~planned~ b =found= c ~planned~ d =found= a      two cables swapped: exchange the plugs at a and c, or at b and d
//!   a ~planned~ b =found= x                            a plug is in x instead of a
//!   a ~planned~ b                                      missing
//!               b =found= x                            extra
//! ```

use std::collections::BTreeSet;

use super::cable_end::{CableEnd, CableMap};

/// One wrong cable, or several that belong together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WrongCables {
    Missing([CableEnd; 2]),
    Extra([CableEnd; 2]),
    /// The plug that belongs into `planned` is in `found`; the other plug, in `far`, is right.
    Misplaced {
        far: CableEnd,
        planned: CableEnd,
        found: CableEnd,
    },
    /// Cables that went round: the far end `far[i]` is planned to lead to `near[i]` and leads to `near[i + 1]`.
    Swapped {
        far: Vec<CableEnd>,
        near: Vec<CableEnd>,
    },
}

/// The planned and found cables that differ, sorted out.
pub fn sort_out(planned: &CableMap, found: &CableMap) -> Vec<WrongCables> {
    let wrong_plan = |end: CableEnd| planned.peer(end).filter(|peer| !found.has([end, *peer]));
    let wrong_find = |end: CableEnd| found.peer(end).filter(|peer| !planned.has([end, *peer]));
    let ends: BTreeSet<CableEnd> = planned.cables().chain(found.cables()).flatten().collect();
    let mut seen: BTreeSet<CableEnd> = BTreeSet::new();
    let mut wrong = Vec::new();
    // Chains begin where one of both is missing; what is left then are rings.
    let is_start = |end: &CableEnd| wrong_plan(*end).is_some() != wrong_find(*end).is_some();
    let starts = ends.iter().filter(|end| is_start(end));
    let rest = ends.iter().filter(|end| wrong_plan(**end).is_some() && wrong_find(**end).is_some());
    for start in starts.chain(rest) {
        if seen.contains(start) {
            continue;
        }
        let mut chain = vec![*start];
        seen.insert(*start);
        let begins_planned = wrong_plan(*start).is_some();
        let mut turn_planned = begins_planned;
        loop {
            let at = chain[chain.len() - 1];
            let next = if turn_planned { wrong_plan(at) } else { wrong_find(at) };
            let Some(next) = next else {
                wrong.extend(split_chain(&chain, begins_planned));
                break;
            };
            if !seen.insert(next) {
                wrong.push(ring(&chain));
                break;
            }
            chain.push(next);
            turn_planned = !turn_planned;
        }
    }
    wrong
}

/// A ring begins with a planned cable: `near[0] ~ far[0] = near[1] ~ far[1] = ... = near[0]`. Of both ways to see it, the plugs
/// that moved are those that lie closer together.
fn ring(chain: &[CableEnd]) -> WrongCables {
    let near: Vec<CableEnd> = chain.iter().step_by(2).copied().collect();
    let far: Vec<CableEnd> = chain.iter().skip(1).step_by(2).copied().collect();
    let devices = |ends: &[CableEnd]| ends.iter().map(|end| end.device).collect::<BTreeSet<_>>().len();
    if devices(&near) <= devices(&far) {
        return WrongCables::Swapped { far, near };
    }
    // Seen from the other side the order is reversed, so that each end leads to the next one again.
    let turned = |mut ends: Vec<CableEnd>| {
        ends.reverse();
        ends
    };
    WrongCables::Swapped { far: turned(near), near: turned(far) }
}

/// Cuts a chain into plugs that moved. A cable that is left over is missing or extra.
fn split_chain(chain: &[CableEnd], begins_planned: bool) -> Vec<WrongCables> {
    let cables: Vec<[CableEnd; 2]> = chain.windows(2).map(|pair| [pair[0], pair[1]]).collect();
    let is_planned = |at: usize| begins_planned == at.is_multiple_of(2);
    let whole = |at: usize| match is_planned(at) {
        true => WrongCables::Missing(cables[at]),
        false => WrongCables::Extra(cables[at]),
    };
    // Two neighbours share the end that is right.
    let moved = |at: usize| {
        let (before, after) = (chain[at], chain[at + 2]);
        let (planned, found) = if is_planned(at) { (before, after) } else { (after, before) };
        WrongCables::Misplaced { far: chain[at + 1], planned, found }
    };
    if cables.len().is_multiple_of(2) {
        return (0..cables.len()).step_by(2).map(moved).collect();
    }
    // One cable is over. The cut that leaves most plugs at their own device is the likely one.
    let cut = |over: usize| -> Vec<WrongCables> {
        let before = (0..over).step_by(2).map(moved);
        before.chain([whole(over)]).chain((over + 1..cables.len()).step_by(2).map(moved)).collect()
    };
    let at_home = |cut: &[WrongCables]| {
        let stays = |wrong: &&WrongCables| matches!(wrong, WrongCables::Misplaced { planned, found, .. } if planned.device == found.device);
        cut.iter().filter(stays).count()
    };
    let cuts = (0..cables.len()).step_by(2).map(cut);
    cuts.rev().max_by_key(|cut| at_home(cut)).unwrap_or_default()
}
