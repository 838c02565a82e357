//! The linear forwarding table of a simulated switch. In a large tree most switches forward most blocks of LIDs by the
//! same ports, so equal blocks are one piece of memory: the tables of a full subnet would be 188 MB otherwise.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use fabdeck_fabric::{BLOCK_LIDS, NO_PATH};

/// The number of LIDs of a block.
pub const BLOCK_ENTRIES: usize = BLOCK_LIDS as usize;

type Block = [u8; BLOCK_ENTRIES];

/// The egress port for each LID, [`NO_PATH`] for none.
#[derive(Clone, Debug, Default)]
pub struct LinearTable {
    blocks: Vec<Arc<Block>>,
}

impl LinearTable {
    /// The egress port for a LID; none beyond the end of the table.
    pub fn get(&self, lid: usize) -> Option<u8> {
        self.blocks.get(lid / BLOCK_ENTRIES).map(|block| block[lid % BLOCK_ENTRIES])
    }

    /// The egress ports from LID 0 to the end of the table.
    pub fn ports(&self) -> impl Iterator<Item = u8> {
        self.blocks.iter().flat_map(|block| block.iter().copied())
    }

    /// A block of the table; without paths beyond its end.
    pub fn block(&self, number: usize) -> Block {
        self.blocks.get(number).map_or([NO_PATH; BLOCK_ENTRIES], |block| **block)
    }

    /// Overwrites a block, and makes the table longer where needed.
    pub fn set_block(&mut self, number: usize, ports: &Block) {
        if number >= self.blocks.len() {
            self.blocks.resize_with(number + 1, || Arc::new([NO_PATH; BLOCK_ENTRIES]));
        }
        self.blocks[number] = Arc::new(*ports);
    }

    /// Overwrites the port of one LID. False beyond the end of the table.
    pub fn set(&mut self, lid: usize, port: u8) -> bool {
        let block = self.blocks.get_mut(lid / BLOCK_ENTRIES);
        block.map(|block| Arc::make_mut(block)[lid % BLOCK_ENTRIES] = port).is_some()
    }
}

/// Makes tables whose equal blocks are one piece of memory.
#[derive(Default)]
pub struct TableMaker {
    known: FxHashSet<Arc<Block>>,
}

impl TableMaker {
    /// The table with these egress ports, from LID 0 on.
    pub fn make_table(&mut self, ports: &[u8]) -> LinearTable {
        let blocks = ports.chunks(BLOCK_ENTRIES).map(|ports| {
            let mut block = [NO_PATH; BLOCK_ENTRIES];
            block[..ports.len()].copy_from_slice(ports);
            self.shared_block(block)
        });
        LinearTable { blocks: blocks.collect() }
    }

    fn shared_block(&mut self, block: Block) -> Arc<Block> {
        if let Some(known) = self.known.get(&block) {
            return known.clone();
        }
        let shared = Arc::new(block);
        self.known.insert(shared.clone());
        shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_blocks_share_memory_until_one_changes() {
        let ports: Vec<u8> = (0..130).map(|lid| (lid % 64) as u8).collect();
        let mut maker = TableMaker::default();
        let (kept, mut changed) = (maker.make_table(&ports), maker.make_table(&ports));
        assert!(
            Arc::ptr_eq(&kept.blocks[0], &changed.blocks[0]) && Arc::ptr_eq(&kept.blocks[0], &kept.blocks[1])
        );
        assert_eq!((kept.get(129), kept.get(130), kept.get(192)), (Some(1), Some(NO_PATH), None));

        assert!(changed.set(3, 40) && !changed.set(192, 1));
        changed.set_block(4, &[7; BLOCK_ENTRIES]);
        assert_eq!((changed.get(3), changed.get(67), kept.get(3)), (Some(40), Some(3), Some(3)));
        assert_eq!(
            (changed.get(200), changed.get(256), changed.ports().count()),
            (Some(NO_PATH), Some(7), 320)
        );
        assert_eq!((kept.block(9), changed.block(4)), ([NO_PATH; BLOCK_ENTRIES], [7; BLOCK_ENTRIES]));
    }
}
