//! Packets in flight, in one arena, which allocates only when more packets are in flight than ever before.

/// No packet, no queue, no channel.
pub(crate) const NONE: u32 = u32::MAX;

/// The part of a packet that each hop needs: a quarter of a cache line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(align(16))]
pub(crate) struct Packet {
    /// When the header can be forwarded.
    pub ready: u64,
    /// The next packet in the queue.
    pub behind: u32,
    pub lid: u16,
    pub level: u8,
}

/// The part of a packet that only its ends need.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PacketOrigin {
    /// When the packet began to leave its source.
    pub left: u64,
    /// The source, an index of an end.
    pub source: u32,
    /// The flow; `NONE` for patterns without listed flows.
    pub flow: u32,
}

const _: () = assert!(size_of::<Packet>() == 16);

#[derive(Debug, Default)]
pub(crate) struct Packets {
    all: Vec<Packet>,
    origins: Vec<PacketOrigin>,
    /// The cables that each packet has begun to cross; empty in runs that keep no paths.
    paths: Vec<Vec<u32>>,
    keeps_paths: bool,
    free: u32,
    held: u32,
}

impl Packets {
    pub fn new(keeps_paths: bool) -> Self {
        Self { free: NONE, keeps_paths, ..Self::default() }
    }

    /// Number of packets in flight.
    pub fn in_flight(&self) -> u32 {
        self.held
    }

    pub fn allocate(&mut self, packet: Packet, origin: PacketOrigin) -> u32 {
        self.held += 1;
        if self.free == NONE {
            self.all.push(packet);
            self.origins.push(origin);
            if self.keeps_paths {
                self.paths.push(Vec::new());
            }
            return self.all.len() as u32 - 1;
        }
        let id = self.free;
        self.free = self.all[id as usize].behind;
        self.all[id as usize] = packet;
        self.origins[id as usize] = origin;
        if let Some(path) = self.paths.get_mut(id as usize) {
            path.clear();
        }
        id
    }

    pub fn release(&mut self, id: u32) {
        self.held -= 1;
        self.all[id as usize].behind = self.free;
        self.free = id;
    }

    /// Adds a cable to the path of a packet, in runs that keep paths.
    pub fn add_to_path(&mut self, id: u32, channel: u32) {
        if let Some(path) = self.paths.get_mut(id as usize) {
            path.push(channel);
        }
    }

    /// The cables that a packet has begun to cross.
    pub fn path(&self, id: u32) -> &[u32] {
        self.paths.get(id as usize).map_or(&[], Vec::as_slice)
    }

    pub fn get(&self, id: u32) -> &Packet {
        &self.all[id as usize]
    }

    pub fn get_mut(&mut self, id: u32) -> &mut Packet {
        &mut self.all[id as usize]
    }

    pub fn origin(&self, id: u32) -> &PacketOrigin {
        &self.origins[id as usize]
    }

    pub fn origin_mut(&mut self, id: u32) -> &mut PacketOrigin {
        &mut self.origins[id as usize]
    }
}
