//! The table of headlines, in the order of the papers.

use super::headline::Headline;
use super::{
    dftree_headlines, domke_jobs, domke_nue, domke_studies, domke_topologies, mlid_headlines, opt_headlines,
    sftree_headlines,
};
use crate::catalogue::failure::Failure;
use fabdeck_fabric::{similar_words, suggest};

/// The lists of headlines, a file each.
const LISTS: [&[Headline]; 8] = [
    sftree_headlines::HEADLINES,
    dftree_headlines::HEADLINES,
    mlid_headlines::HEADLINES,
    opt_headlines::HEADLINES,
    domke_topologies::HEADLINES,
    domke_studies::HEADLINES,
    domke_jobs::HEADLINES,
    domke_nue::HEADLINES,
];

/// All headlines.
pub fn headlines() -> impl Iterator<Item = &'static Headline> + Clone {
    LISTS.into_iter().flatten()
}

/// The headlines with these ids; all without any. The first word of an id, as `opt`, names all headlines of a paper.
pub fn find_headlines(asked: &[String]) -> Result<Vec<&'static Headline>, Failure> {
    let is_named = |headline: &Headline, name: &str| {
        let rest = headline.id.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || (!name.contains('-') && rest.starts_with('-')))
    };
    for name in asked {
        if !headlines().any(|headline| is_named(headline, name)) {
            let meant = suggest(&similar_words(name, headlines().map(|headline| headline.id)));
            let what =
                format!("FD-9460: there is no headline '{name}'{meant}; `reproduce --list` lists them");
            return Err(Failure::usage(what));
        }
    }
    let is_asked =
        |headline: &&Headline| asked.is_empty() || asked.iter().any(|name| is_named(headline, name));
    Ok(headlines().filter(is_asked).collect())
}
