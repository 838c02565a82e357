//! The keys of the pane "Who is hit", and its page: every host and every job with a line of its own.

use super::draw_victims::full_row_count;
use super::whatif_layout::VICTIMS;
use crate::catalogue::summary::count_words;
use crate::console::features::screens::ScreenId;
use crate::console::model::detail_page::{DetailLine, DetailPage};
use crate::console::model::scroll::Scroll;
use crate::console::model::state::SessionState;
use crate::operations::preview::victims::DegradedHost;
use fabdeck_fabric::observe::digits_in_groups;

/// Whether the pane has the keys.
pub fn has_keys(state: &SessionState) -> bool {
    state.screen == ScreenId::Whatif
        && state.screens.whatif.page.is_none()
        && state.focused_pane() == VICTIMS
        && !state.areas().panes.area(VICTIMS).is_empty()
}

/// Moves through the rows of the pane.
pub fn scroll(state: &mut SessionState, by: isize) {
    let areas = state.areas();
    let inside = areas.panes.area(VICTIMS).inside(areas.boxed);
    let rows = full_row_count(state, inside.width);
    let mut scroll = Scroll { top: state.screens.whatif.victims_top };
    scroll.scroll_by(by, rows, usize::from(inside.height));
    state.screens.whatif.victims_top = scroll.top;
}

/// The page of the pane that has the keys.
pub fn victims_page(state: &SessionState) -> Option<DetailPage> {
    let victims = state.screens.whatif.victims().filter(|_| has_keys(state))?;
    let mut pairs: Vec<DetailLine> = Vec::new();
    let more = |count: usize, named: usize| {
        let more = count.saturating_sub(named);
        (more > 0).then(|| format!("and {}", count_words(more, "more host", "more hosts")))
    };
    let cut_off = victims.cut_off.first.iter().cloned();
    let cut_off: Vec<String> =
        cut_off.chain(more(victims.cut_off.count, victims.cut_off.first.len())).collect();
    pairs.extend(lines_or_none("cut off", cut_off, "no host"));
    if let Some(jobs) = &victims.jobs {
        let hosts = |count| count_words(count, "host", "hosts");
        let broken = jobs.first.iter().map(|job| {
            let names = job.cut_off.names(job.cut_off.first.len());
            format!("{} loses {} of {}: {names}", job.job, job.cut_off.count, hosts(job.hosts))
        });
        let losses = state.screens.whatif.job_losses().unwrap_or_default().iter();
        let losses = losses.map(|(job, pairs)| {
            let unit = if *pairs == 1 { "pair has" } else { "pairs have" };
            format!("{job}: {} {unit} no path", digits_in_groups(*pairs))
        });
        let none = format!("none of {} is hit", count_words(jobs.known, "job", "jobs"));
        pairs.extend(lines_or_none("jobs", broken.chain(losses).collect(), &none));
    }
    match &victims.degraded {
        None => pairs.push(("degraded", "not known without tables".to_owned())),
        Some(degraded) => {
            let of =
                degraded.of_senders.map_or_else(String::new, |of| format!(" of {}", digits_in_groups(of)));
            let words = |host: &DegradedHost| format!("{}{of} senders do not reach it", host.words());
            let hosts = degraded.first.iter().map(words);
            let rest = more(degraded.count, degraded.first.len());
            pairs.extend(lines_or_none("degraded", hosts.chain(rest).collect(), "no host"));
        }
    }
    Some(DetailPage { title: "Who is hit until the fabric is rerouted".to_owned(), pairs, ports: Vec::new() })
}

/// Texts below one label.
fn lines_or_none(label: &'static str, texts: Vec<String>, none: &str) -> Vec<DetailLine> {
    let texts = if texts.is_empty() { vec![none.to_owned()] } else { texts };
    texts.into_iter().enumerate().map(|(at, text)| (if at == 0 { label } else { "" }, text)).collect()
}
