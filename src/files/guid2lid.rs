//! LIDs that OpenSM remembers over restarts (`guid2lid`): a port GUID, and the first and last LID of the port.

use rustc_hash::FxHashMap;

use fabdeck_fabric::observe::Notes;
use fabdeck_fabric::{Guid, Lid, Lmc};

use super::FileError;
use super::content::LidFile;
use super::opensm::{
    BAD_SPAN, TWO_OWNERS, bad_line, no_content, note_truncated_line, parse_prefixed_hex, printable_excerpt,
};
use super::text::Input;

pub const ID: &str = "guid2lid";

/// A port that the file lists twice.
const DUPLICATE_GUID: &str = "FN-333";

pub fn looks_like(head: &str) -> bool {
    let mut lines = head.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.next().is_some_and(|line| match split_fields(line) {
        Some((guid, [min, max])) => guid.len() > 2 + 4 && [min, max].iter().all(|lid| lid.len() <= 2 + 4),
        None => false,
    })
}

/// Splits a line into a GUID and two numbers, all with `0x`.
fn split_fields(line: &str) -> Option<(&str, [&str; 2])> {
    let mut words = line.split_whitespace();
    let (guid, min, max) = (words.next()?, words.next()?, words.next()?);
    let fine =
        words.next().is_none() && [guid, min, max].iter().all(|word| parse_prefixed_hex(word).is_some());
    fine.then_some((guid, [min, max]))
}

pub fn read(input: Input<'_>) -> Result<LidFile, Box<FileError>> {
    let mut file = LidFile::default();
    let mut owners: FxHashMap<Lid, Guid> = FxHashMap::default();
    let mut any = false;
    for line in input.lines() {
        let line = line?;
        let text = line.text.trim();
        any |= !text.is_empty();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let place = || input.line_place(line.number);
        let fields = split_fields(text);
        // OpenSM writes LIDs with four digits; a shorter one at the end of the file may be cut.
        if line.unended && fields.is_none_or(|(_, [_, max])| max.len() != 2 + 4) {
            note_truncated_line(&mut file.notes, place(), text);
            continue;
        }
        let wanted = "a GUID with its first and last LID";
        let Some((guid, [min, max])) = fields else { return Err(bad_line(place(), text, wanted)) };
        let guid = parse_prefixed_hex(guid).filter(|guid| *guid != 0).map(Guid);
        let guid = guid.ok_or_else(|| bad_line(place(), text, wanted))?;
        let Some((lid, lmc)) = parse_lid_span(min, max) else {
            let hint = "a port owns 1, 2, 4 to 128 LIDs, the first a multiple of their number, up to 0xbfff";
            return Err(FileError::new(
                BAD_SPAN,
                place(),
                format!("no port can own the LIDs {} to {}", printable_excerpt(min), printable_excerpt(max)),
                hint,
            ));
        };
        if let Some((known, _)) = file.lids.get(&guid) {
            file.notes.add(DUPLICATE_GUID, place(), || {
                format!("port {guid} has LID {known} already; the first counts")
            });
            continue;
        }
        claim_lids(guid, lid, lmc, &mut owners, &mut file.notes, place);
        file.lids.insert(guid, (lid, lmc));
    }
    if !any {
        return Err(no_content(input.name, "LID of a port"));
    }
    Ok(file)
}

fn parse_lid_span(min: &str, max: &str) -> Option<(Lid, Lmc)> {
    let lid = |word: &str| Lid::new(u32::try_from(parse_prefixed_hex(word)?).ok()?);
    let (first, last) = (lid(min)?, lid(max)?);
    let count = u32::from(last.value()).checked_sub(u32::from(first.value()))? + 1;
    let aligned = count.is_power_of_two() && u32::from(first.value()) % count == 0;
    let lmc = Lmc::new(count.trailing_zeros()).filter(|_| aligned)?;
    Some((first, lmc))
}

fn claim_lids(
    guid: Guid,
    lid: Lid,
    lmc: Lmc,
    owners: &mut FxHashMap<Lid, Guid>,
    notes: &mut Notes,
    place: impl Fn() -> fabdeck_fabric::observe::NotePlace,
) {
    for offset in 0..u32::from(lmc.lid_count()) {
        let Some(lid) = Lid::new(u32::from(lid.value()) + offset) else { continue };
        let known = *owners.entry(lid).or_insert(guid);
        if known != guid {
            notes.add(TWO_OWNERS, place(), || format!("LID {lid} belongs to {known} and to {guid}"));
        }
    }
}

#[cfg(test)]
mod tests;
