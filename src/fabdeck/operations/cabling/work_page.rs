//! The work list as one HTML page, to be printed or read on a phone between the racks.

use super::work_list::{WorkItem, rack_words};
use crate::catalogue::summary::count_words;
use crate::operations::report::html::HtmlWriter;
use crate::operations::report::page::open_page;

const STYLE: &str = "
.steps{list-style:none;padding:0}
.steps li{display:grid;grid-template-columns:1.6rem minmax(0,1fr);padding:.5rem 0;border-bottom:1px solid var(--rule);break-inside:avoid}
.box{width:1rem;height:1rem;border:2px solid var(--strong);border-radius:.2rem;margin-top:.25rem}
.steps small{display:block;color:var(--dim)}
";

/// The page: a heading for each rack, and a box to tick for each step.
pub fn work_page(source: &str, plan: &str, items: &[WorkItem]) -> String {
    let mut page = HtmlWriter::default();
    open_page(&mut page, &format!("Cabling work list: {source}"), &[STYLE]);
    page.open("header", &[]);
    page.element("h1", &[], "Cabling work list");
    let steps = count_words(items.len(), "step", "steps");
    page.element("p", &[("class", "dim")], &format!("{steps}; fabric {source}, plan {plan}"));
    page.close();
    page.open("main", &[]);
    let mut rack = None;
    for item in items {
        let words = rack_words(&item.place);
        if rack.as_ref() != Some(&words) {
            if rack.is_some() {
                page.close();
                page.close();
            }
            page.open("section", &[]);
            page.element("h2", &[], &words);
            page.open("ul", &[("class", "steps")]);
            rack = Some(words);
        }
        write_item(&mut page, item);
    }
    if rack.is_some() {
        page.close();
        page.close();
    }
    page.close();
    page.open("footer", &[]);
    page.text(concat!("Made by fabdeck ", env!("CARGO_PKG_VERSION"), "."));
    page.finish()
}

fn write_item(page: &mut HtmlWriter, item: &WorkItem) {
    let unit = item.place.unit.as_ref().map(|unit| format!("U {unit}, ")).unwrap_or_default();
    page.open("li", &[]);
    page.element("span", &[("class", "box")], "");
    page.open("div", &[]);
    page.element("b", &[], &format!("{unit}{}", item.device));
    page.open("div", &[]);
    page.text(&item.step);
    page.element("small", &[], &format!("finding {} ({}); {}", item.finding, item.fault, item.routes));
    page.close();
    page.close();
    page.close();
}
