//! Boards: devices that are carried and cabled together. The adapters of a host are one, and the chips of a board of a director.

use std::collections::BTreeMap;

use super::cable_end::CabledDevice;

/// The board of a device by its name, and its number there: `node1` and 3 of `node1 mlx5_3`, `MF0;dir1:CS8500/L16` and 2 of
/// `MF0;dir1:CS8500/L16/U2`.
pub fn board_of(name: &str, is_switch: bool) -> Option<(&str, u16)> {
    let (board, part) = if is_switch { name.rsplit_once('/')? } else { name.rsplit_once(' ')? };
    let digits = part.bytes().rev().take_while(u8::is_ascii_digit).count();
    let number = part[part.len() - digits..].parse().ok()?;
    let is_chip = part.len() == digits + 1 && part.starts_with('U');
    (!board.is_empty() && (is_chip || !is_switch)).then_some((board, number))
}

/// The boards with more than one device.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Boards {
    /// The devices of each board by their numbers. The first device stands for the board.
    members: BTreeMap<CabledDevice, BTreeMap<u16, CabledDevice>>,
    of: BTreeMap<CabledDevice, (CabledDevice, u16)>,
}

impl Boards {
    /// Groups devices by their names; of two with one number on a board, that board is none.
    pub fn new<'n>(devices: impl Iterator<Item = (CabledDevice, &'n str, bool)>) -> Self {
        let mut named: BTreeMap<(&str, bool), Option<BTreeMap<u16, CabledDevice>>> = BTreeMap::new();
        for (device, name, is_switch) in devices {
            let Some((board, number)) = board_of(name, is_switch) else { continue };
            let held = named.entry((board, is_switch)).or_insert_with(|| Some(BTreeMap::new()));
            let is_second = held.as_mut().is_some_and(|held| held.insert(number, device).is_some());
            if is_second {
                *held = None;
            }
        }
        let mut boards = Self::default();
        for members in named.into_values().flatten().filter(|members| members.len() > 1) {
            let Some(first) = members.values().next().copied() else { continue };
            boards.of.extend(members.iter().map(|(number, device)| (*device, (first, *number))));
            boards.members.insert(first, members);
        }
        boards
    }

    /// The first device of the board of a device, where it has others.
    pub fn board(&self, device: CabledDevice) -> Option<CabledDevice> {
        self.of.get(&device).map(|(board, _)| *board)
    }

    pub fn devices(&self, board: CabledDevice) -> impl Iterator<Item = CabledDevice> {
        self.members.get(&board).into_iter().flat_map(|members| members.values().copied())
    }

    /// The device with the same number on the other one of two boards; the device itself where there is none.
    pub fn exchanged(&self, device: CabledDevice, [a, b]: [CabledDevice; 2]) -> CabledDevice {
        let Some((board, number)) = self.of.get(&device) else { return device };
        let other = match *board {
            board if board == a => b,
            board if board == b => a,
            _ => return device,
        };
        self.members.get(&other).and_then(|members| members.get(number)).copied().unwrap_or(device)
    }
}
