//! Which of all possible breaks are taken: a sample that depends on their files, functions and kinds alone, so that an edit
//! above a break leaves it in the sample.

use crate::breaks::Break;

/// Takes `count` breaks in the order of the hashes of what `place` says of them, and returns them in the order of their places. A
/// break changes the text of all of its expression, so no break is taken within another one.
pub fn choose(
    found: Vec<(usize, Break)>,
    count: usize,
    is_wanted: impl Fn(&(usize, Break)) -> bool,
    place: impl Fn(&(usize, Break)) -> String,
) -> Vec<(usize, Break)> {
    let mut ordered: Vec<(u64, (usize, Break))> =
        found.into_iter().filter(|one| is_wanted(one)).map(|one| (hash(&place(&one)), one)).collect();
    ordered.sort_by_key(|(hash, (file, one))| (*hash, *file, one.start));
    let mut chosen: Vec<(usize, Break)> = Vec::new();
    for (_, (file, one)) in ordered {
        if chosen.len() == count {
            break;
        }
        let meets = |other: &Break| one.start <= other.end && other.start <= one.end;
        if !chosen.iter().any(|(of, other)| *of == file && meets(other)) {
            chosen.push((file, one));
        }
    }
    chosen.sort_by_key(|(file, one)| (*file, one.start));
    chosen
}

/// FNV-1a, with its bits mixed once more: names differ in few characters.
fn hash(name: &str) -> u64 {
    let hash = name.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3));
    (hash ^ (hash >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}
