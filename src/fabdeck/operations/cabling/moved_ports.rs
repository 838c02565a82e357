//! Whole devices exchanged and rows of ports shifted: many cables that are wrong for one reason.
//!
//! ```text
//!   planned          found                 the far ends of the cables stay, and the ports of leaf1 moved by one:
//!   leaf1[1] - h1    leaf1[2] - h1         one finding "ports 1 to 3 of leaf1 are shifted by 1",
//!   leaf1[2] - h2    leaf1[3] - h2         and not three of a wrong port
//!   leaf1[3] - h3    leaf1[4] - h3
//! ```
//!
//! Each wrong cable that was found says of both of its plugs where they should be if the other one is right. Plugs that moved
//! from one device to one device by one distance are a group; the group that explains most cables is taken first.

use std::collections::{BTreeMap, BTreeSet};

use super::boards::Boards;
use super::cable_end::{CableEnd, CableMap, CabledDevice, in_order};

/// Fewer cables than these are named one by one.
pub const LEAST_ROW: usize = 3;

/// The shares of the cables of a device that must be with the other one for both to be exchanged: three of four.
const WHOLE_SHARE: (usize, usize) = (3, 4);

/// What moved as a whole.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum MovedPorts {
    /// The cables of two boards, which these devices stand for, are exchanged.
    ExchangedBoards([CabledDevice; 2]),
    /// The cables of two devices are exchanged, each at the same port.
    Exchanged([CabledDevice; 2]),
    /// The cables of a device are at another one, each at the same port.
    Replaced { planned: CabledDevice, found: CabledDevice },
    /// Neighbouring ports, from the first to the last one of the plan, have their cables some ports further up.
    Shifted { device: CabledDevice, first: u16, last: u16, by: i32 },
    /// Neighbouring ports of one device have their cables at another one.
    Moved { from: CabledDevice, first: u16, last: u16, to: CabledDevice, by: i32 },
}

/// A whole that moved, with the cables that it explains: planned and found, one beside the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MovedGroup {
    pub what: MovedPorts,
    pub cables: Vec<([CableEnd; 2], [CableEnd; 2])>,
}

/// A plug that is not where it should be if the other end of its cable is right.
#[derive(Clone, Copy, Debug)]
struct MovedPlug {
    far: CableEnd,
    from: CableEnd,
    to: CableEnd,
}

/// From a device to a device by a number of ports.
type Move = (CabledDevice, CabledDevice, i32);

/// Takes every whole that moved out of both lists of cables: boards first, then the one with most cables. The cables of
/// exchanged boards and devices count from then on as if they were exchanged back.
pub fn take_moved_groups(planned: &mut CableMap, found: &mut CableMap, boards: &Boards) -> Vec<MovedGroup> {
    let mut groups = Vec::new();
    while let Some(group) = exchanged_boards(planned, found, boards).or_else(|| largest_group(planned, found))
    {
        for (plan, find) in &group.cables {
            planned.remove(plan[0]);
            found.remove(find[0]);
        }
        match group.what {
            MovedPorts::Exchanged([a, b]) => *found = found.renamed(|end| exchange(end, a, b)),
            MovedPorts::ExchangedBoards(pair) => {
                *found = found.renamed(|end| CableEnd { device: boards.exchanged(end.device, pair), ..end });
            }
            _ => {}
        }
        groups.push(group);
    }
    groups
}

fn exchange(end: CableEnd, a: CabledDevice, b: CabledDevice) -> CableEnd {
    let device = match end.device {
        device if device == a => b,
        device if device == b => a,
        device => device,
    };
    CableEnd { device, ..end }
}

fn moved_plugs(planned: &CableMap, found: &CableMap) -> BTreeMap<Move, Vec<MovedPlug>> {
    let mut moves: BTreeMap<Move, Vec<MovedPlug>> = BTreeMap::new();
    for [a, b] in found.cables().filter(|cable| !planned.has(*cable)) {
        for (far, to) in [(a, b), (b, a)] {
            // What is found nowhere else has not moved.
            let Some(from) = planned.peer(far) else { continue };
            let by = i32::from(to.port) - i32::from(from.port);
            moves.entry((from.device, to.device, by)).or_default().push(MovedPlug { far, from, to });
        }
    }
    for plugs in moves.values_mut() {
        plugs.sort_by_key(|plug| plug.from);
    }
    moves
}

fn largest_group(planned: &CableMap, found: &CableMap) -> Option<MovedGroup> {
    let moves = moved_plugs(planned, found);
    let mut best: Option<MovedGroup> = None;
    let mut offer = |group: MovedGroup| {
        let is_better = |held: &MovedGroup| {
            let rank = |group: &MovedGroup| (group.cables.len(), std::cmp::Reverse(group.what));
            rank(&group) > rank(held)
        };
        if group.cables.len() >= LEAST_ROW && best.as_ref().is_none_or(is_better) {
            best = Some(group);
        }
    };
    for ((from, to, by), plugs) in &moves {
        if from != to && *by == 0 {
            exchanged_devices(planned, found, &moves, [*from, *to]).into_iter().for_each(&mut offer);
        }
        if from != to || *by != 0 {
            rows(planned, plugs).into_iter().map(|row| moved_row(&moves, &row, *by)).for_each(&mut offer);
        }
    }
    best
}

/// The cables of the plan that are wrong and are as they are because ends were renamed so.
fn explained(
    planned: &CableMap,
    found: &CableMap,
    devices: impl Iterator<Item = CabledDevice>,
    rename: impl Fn(CableEnd) -> CableEnd,
) -> Vec<([CableEnd; 2], [CableEnd; 2])> {
    let cables: BTreeSet<[CableEnd; 2]> = devices
        .flat_map(|device| planned.of_device(device))
        .map(|(own, peer)| in_order([own, peer]))
        .collect();
    let pairs = cables.into_iter().filter(|cable| !found.has(*cable));
    pairs.map(|cable| (cable, cable.map(&rename))).filter(|(_, now)| found.has(*now)).collect()
}

/// The two boards of which each has the cables of the other one, device by device, with most cables.
fn exchanged_boards(planned: &CableMap, found: &CableMap, boards: &Boards) -> Option<MovedGroup> {
    let moves = moved_plugs(planned, found);
    let pairs: BTreeSet<[CabledDevice; 2]> = moves
        .keys()
        .filter(|(from, to, by)| from != to && *by == 0)
        .filter_map(|(from, to, _)| Some([boards.board(*from)?, boards.board(*to)?]))
        .filter(|[a, b]| a < b)
        .collect();
    let group = |pair: [CabledDevice; 2]| {
        let rename = |end: CableEnd| CableEnd { device: boards.exchanged(end.device, pair), ..end };
        let devices = pair.into_iter().flat_map(|board| boards.devices(board));
        let cables = explained(planned, found, devices, rename);
        let is_whole = |board: CabledDevice| {
            let cabled = boards.devices(board).flat_map(|device| planned.of_device(device));
            let whole = cabled.filter(|(_, peer)| found.peer(*peer).is_some()).count();
            let is_own = |end: &CableEnd| boards.board(end.device) == Some(board);
            let own = cables.iter().filter(|(plan, _)| plan.iter().any(is_own)).count();
            own > 0 && own * WHOLE_SHARE.1 >= whole * WHOLE_SHARE.0
        };
        // One device of a board alone is an exchange of devices.
        let moved: BTreeSet<CabledDevice> = cables
            .iter()
            .flat_map(|(plan, now)| plan.iter().filter(|end| !now.contains(end)))
            .map(|end| end.device)
            .collect();
        let is_board = cables.len() >= LEAST_ROW && moved.len() > 2 && pair.into_iter().all(is_whole);
        is_board.then_some(MovedGroup { what: MovedPorts::ExchangedBoards(pair), cables })
    };
    let groups = pairs.into_iter().filter_map(group);
    groups.max_by_key(|group| (group.cables.len(), std::cmp::Reverse(group.what)))
}

/// Two devices of which each has the cables of the other, or one that has those of another one.
fn exchanged_devices(
    planned: &CableMap,
    found: &CableMap,
    moves: &BTreeMap<Move, Vec<MovedPlug>>,
    [a, b]: [CabledDevice; 2],
) -> Option<MovedGroup> {
    let mutual = moves.contains_key(&(b, a, 0));
    if mutual && b < a {
        // The pair is judged once.
        return None;
    }
    let cables = explained(planned, found, [a, b].into_iter(), |end| exchange(end, a, b));
    let is_whole = |device: CabledDevice| {
        let whole = planned.of_device(device).filter(|(_, peer)| found.peer(*peer).is_some()).count();
        let own = cables.iter().filter(|(plan, _)| plan.iter().any(|end| end.device == device)).count();
        own > 0 && own * WHOLE_SHARE.1 >= whole * WHOLE_SHARE.0
    };
    let has_plan = planned.of_device(b).next().is_some();
    let what = match (mutual, has_plan) {
        (true, _) if is_whole(a) && is_whole(b) => MovedPorts::Exchanged([a, b]),
        (false, false) if is_whole(a) => MovedPorts::Replaced { planned: a, found: b },
        _ => return None,
    };
    Some(MovedGroup { what, cables })
}

/// Splits plugs into rows: no cable of the plan lies between two of a row.
fn rows(planned: &CableMap, plugs: &[MovedPlug]) -> Vec<Vec<MovedPlug>> {
    let Some(first) = plugs.first() else { return Vec::new() };
    let mut row_of = BTreeMap::new();
    for (at, (own, _)) in planned.of_device(first.from.device).enumerate() {
        row_of.insert(own, at);
    }
    let mut rows: Vec<Vec<MovedPlug>> = Vec::new();
    let mut last = None;
    for plug in plugs {
        let at = row_of.get(&plug.from).copied();
        match rows.last_mut() {
            Some(row) if last.is_some() && at == last.map(|last: usize| last + 1) => row.push(*plug),
            _ => rows.push(vec![*plug]),
        }
        last = at;
    }
    rows.retain(|row| row.len() >= LEAST_ROW);
    rows
}

/// A row, with the plugs that took the places that it left: those of a row that went round, or of the other device.
fn moved_row(moves: &BTreeMap<Move, Vec<MovedPlug>>, row: &[MovedPlug], by: i32) -> MovedGroup {
    let (from, to) = (row[0].from.device, row[0].to.device);
    let (first, last) = (row[0].from.port, row[row.len() - 1].from.port);
    let left: BTreeSet<CableEnd> = row.iter().map(|plug| plug.from).collect();
    let taken: BTreeSet<CableEnd> = row.iter().map(|plug| plug.to).collect();
    let mut seen: BTreeSet<CableEnd> = row.iter().map(|plug| plug.far).collect();
    let mut plugs = row.to_vec();
    for ((back_from, back_to, _), others) in moves.range((to, from, i32::MIN)..=(to, from, i32::MAX)) {
        debug_assert!((*back_from, *back_to) == (to, from), "the range holds one pair of devices");
        let returned = others.iter().filter(|plug| {
            taken.contains(&plug.from)
                && !left.contains(&plug.from)
                && left.contains(&plug.to)
                && !taken.contains(&plug.to)
        });
        plugs.extend(returned.filter(|plug| seen.insert(plug.far)));
    }
    let cables = plugs.iter().map(|plug| ([plug.from, plug.far], [plug.to, plug.far])).collect();
    let what = match from == to {
        true => MovedPorts::Shifted { device: from, first, last, by },
        false => MovedPorts::Moved { from, first, last, to, by },
    };
    MovedGroup { what, cables }
}
