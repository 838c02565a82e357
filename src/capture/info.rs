//! What a capture holds, every frame read and checked.

use std::path::Path;

use super::cursor::Store;
use super::disk::{FileBytes, open};
use super::moments::Moments;
use crate::access::SourceError;
use crate::files::capture::{Bytes, Damage, Header, Reader, flags};
use crate::observe::Observation;

#[derive(Debug)]
pub struct Info {
    pub header: Header,
    /// The times of the earliest and the latest sweep, as the recorder's clock showed them.
    pub from: Option<String>,
    pub to: Option<String>,
    pub sweeps: usize,
    /// Sweeps that cannot be shown, because they or what they build upon is damaged.
    pub lost: usize,
    pub frames: usize,
    pub records: u64,
    /// Bytes of the file, and of the lines in it.
    pub bytes: u64,
    pub raw: u64,
    /// Changes of the fabric or its tables, notes and news.
    pub events: usize,
    pub gaps: Vec<(String, String)>,
    /// How often the clock was set back.
    pub set_back: usize,
    pub damage: Vec<Damage>,
    pub ended: bool,
    /// The last moment that can be read.
    pub last: Observation,
}

/// Reads a capture from its beginning to its end.
pub fn examine(path: &Path) -> Result<Info, SourceError> {
    let mut moments = Moments::new(open(path)?);
    let (mut damage, mut lost) = (Vec::<Damage>::new(), 0);
    for at in 0..moments.len() {
        if let Err(found) = moments.read(at) {
            lost += 1;
            if damage.last() != Some(&found) {
                damage.push(found);
            }
        }
    }
    // Notes, news and the end belong to no sweep.
    for slot in 0..moments.reader.index().slots.len() {
        let told = moments.reader.slot(slot).lead;
        if told.flags & (flags::EVENT | flags::END) != 0
            && let Err(found) = moments.reader.lines(slot, flags::EVENT | flags::END)
            && !damage.contains(&found)
        {
            damage.push(found);
        }
    }
    damage.sort_by_key(|found| found.offset);
    moments.reader.show_last()?;
    Ok(told(&moments, damage, lost))
}

fn told(moments: &Moments<FileBytes>, damage: Vec<Damage>, lost: usize) -> Info {
    let reader: &Reader<FileBytes> = &moments.reader;
    let times: Vec<i64> = (0..moments.len()).map(|at| moments.time(at)).collect();
    let gap = |pair: &[i64]| pair[1].saturating_sub(pair[0]) > moments.longest_step();
    let gaps = times.windows(2).filter(|pair| gap(pair));
    let clock = |time: Option<&i64>| time.map(|time| reader.clock(*time));
    let slots = &reader.index().slots;
    Info {
        header: reader.header().clone(),
        from: clock(times.iter().min()),
        to: clock(times.iter().max()),
        sweeps: times.len(),
        lost,
        frames: slots.len(),
        records: slots.iter().map(|slot| u64::from(slot.lead.records)).sum(),
        bytes: reader.bytes().size(),
        raw: slots.iter().map(|slot| u64::from(slot.lead.raw)).sum(),
        events: (0..moments.len()).filter(|at| moments.eventful(*at)).count(),
        gaps: gaps.map(|pair| (reader.clock(pair[0]), reader.clock(pair[1]))).collect(),
        set_back: times.windows(2).filter(|pair| pair[1] < pair[0]).count(),
        damage,
        ended: reader.ended(),
        last: reader.observation(),
    }
}
