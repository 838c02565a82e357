//! Packets in flight, in one arena: nothing is allocated while traffic flows, but for more packets than ever before.

/// No packet, no queue, no channel.
pub(super) const NONE: u32 = u32::MAX;

/// What every hop needs of it: a quarter of a line of the processor's cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(align(16))]
pub(super) struct Packet {
    /// When its header can be forwarded.
    pub ready: u64,
    /// Who stands behind it in its queue.
    pub behind: u32,
    pub lid: u16,
    pub level: u8,
}

/// What only its ends need.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Origin {
    /// When it began to leave its source.
    pub left: u64,
    /// Where it comes from, among the ends.
    pub source: u32,
    /// Of which flow it is; `NONE` where flows are not told apart.
    pub flow: u32,
}

const _: () = assert!(size_of::<Packet>() == 16);

#[derive(Debug, Default)]
pub(super) struct Packets {
    all: Vec<Packet>,
    origins: Vec<Origin>,
    free: u32,
    held: u32,
}

impl Packets {
    pub fn new() -> Self {
        Self { all: Vec::new(), origins: Vec::new(), free: NONE, held: 0 }
    }

    /// How many are in flight.
    pub fn held(&self) -> u32 {
        self.held
    }

    pub fn take(&mut self, packet: Packet, origin: Origin) -> u32 {
        self.held += 1;
        if self.free == NONE {
            self.all.push(packet);
            self.origins.push(origin);
            return self.all.len() as u32 - 1;
        }
        let id = self.free;
        self.free = self.all[id as usize].behind;
        self.all[id as usize] = packet;
        self.origins[id as usize] = origin;
        id
    }

    pub fn give_back(&mut self, id: u32) {
        self.held -= 1;
        self.all[id as usize].behind = self.free;
        self.free = id;
    }

    pub fn get(&self, id: u32) -> &Packet {
        &self.all[id as usize]
    }

    pub fn get_mut(&mut self, id: u32) -> &mut Packet {
        &mut self.all[id as usize]
    }

    pub fn origin(&self, id: u32) -> &Origin {
        &self.origins[id as usize]
    }

    pub fn origin_mut(&mut self, id: u32) -> &mut Origin {
        &mut self.origins[id as usize]
    }
}
