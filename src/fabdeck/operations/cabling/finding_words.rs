//! Names and sentences of findings, and the steps of their repair.

use super::boards::board_of;
use super::cable_end::{CableEnd, CabledDevice};
use super::plan_binding::BoundPlan;
use super::present_cables::{node_of, port_of};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use fabdeck_fabric::NodePlace;

/// Most ports that a sentence names one by one.
const MAX_NAMED: usize = 6;

/// Names of ends and devices, as the fabric has them, else as the plan writes them.
#[derive(Clone, Copy, Debug)]
pub struct CablingNames<'n> {
    pub look: &'n Snapshot,
    pub bound: &'n BoundPlan<'n>,
}

impl CablingNames<'_> {
    pub fn device(&self, device: CabledDevice) -> String {
        match (node_of(self.look.fabric(), device), self.bound.missing_device(device)) {
            (Some(node), _) => self.look.unique_name(node).into_owned(),
            (None, Some(missing)) => missing.name.clone(),
            (None, None) => String::new(),
        }
    }

    /// The board that a device stands for.
    pub fn board(&self, device: CabledDevice) -> String {
        let name = self.device(device);
        let board = board_of(&name, self.is_switch(device) == Some(true)).map(|(board, _)| board.to_owned());
        board.unwrap_or(name)
    }

    /// An end: the port with its label, or the name alone of an adapter with one port.
    pub fn end(&self, end: CableEnd) -> String {
        let fabric = self.look.fabric();
        if let Some(node) = node_of(fabric, end.device) {
            let facts = &fabric.node(node).facts;
            return match port_of(fabric, end) {
                _ if !fabric.node(node).is_switch() && facts.port_count == 1 => {
                    self.look.unique_name(node).into_owned()
                }
                Some(port) => self.look.labelled_port_name(port),
                None => format!("{}[{}]", self.look.unique_name(node), end.port),
            };
        }
        let missing = self.bound.missing_device(end.device);
        missing
            .map(|missing| format!("{}[{}]", missing.name, missing.port_text(end.port)))
            .unwrap_or_default()
    }

    pub fn cable(&self, [a, b]: [CableEnd; 2]) -> String {
        // A switch first: that is where the port is looked for.
        let is_switch = |end: CableEnd| self.is_switch(end.device) == Some(true);
        let [a, b] = if is_switch(b) && !is_switch(a) { [b, a] } else { [a, b] };
        format!("{} to {}", self.end(a), self.end(b))
    }

    /// `None` for a device that only the plan has.
    pub fn is_switch(&self, device: CabledDevice) -> Option<bool> {
        let fabric = self.look.fabric();
        node_of(fabric, device).map(|node| fabric.node(node).is_switch())
    }

    /// GUID, or the name of a device that is not there, with the port: the same in every reading.
    pub fn key(&self, end: CableEnd) -> String {
        let fabric = self.look.fabric();
        match node_of(fabric, end.device) {
            Some(node) => format!("{}/{}", fabric.node(node).guid(), end.port),
            None => format!("{}/{}", self.device(end.device).replace(' ', "_"), end.port),
        }
    }

    /// Where an end is: as the plan has it, else as the sheet of labels has it.
    pub fn place(&self, end: CableEnd) -> NodePlace {
        let mut place = self.bound.written_end(end).map(|end| end.place.clone()).unwrap_or_default();
        let node = node_of(self.look.fabric(), end.device);
        if let Some(known) = node.and_then(|node| self.look.names.place(node)) {
            place.fill(known);
        }
        place
    }

    /// Ends by name, the first ones of many.
    pub fn list(&self, ends: impl ExactSizeIterator<Item = CableEnd>) -> String {
        let more = ends.len().saturating_sub(MAX_NAMED);
        let names: Vec<String> = ends.take(MAX_NAMED).map(|end| self.end(end)).collect();
        match more {
            0 => names.join(", "),
            more => format!("{} and {more} more", names.join(", ")),
        }
    }
}

/// `ports 1 to 8`, or `port 3` alone.
pub(super) fn port_range(first: u16, last: u16) -> String {
    if first == last { format!("port {first}") } else { format!("ports {first} to {last}") }
}

/// `by 1 port up`.
pub(super) fn distance_words(by: i32) -> String {
    let way = if by > 0 { "up" } else { "down" };
    format!("by {} {way}", count_words(by.unsigned_abs() as usize, "port", "ports"))
}
