//! A view in words: the screen, then what differs from how it opens.
//!
//! ```text
//! links filter=kind=switch-switch sort=errors:desc at=link:rack2-leaf[7]
//! map view=drawn by=errors at=switch:spine-1
//! paths from=node01 to=node36
//! ```

use crate::console::features::health::health_model::ChartWindow;
use crate::console::features::screens::{SCREENS, ScreenId};
use crate::console::model::line_words::{quote_word, split_words};
use crate::operations::fabric_map::figures::MapQuantity;
use fabdeck_routing::{ENGINES, find_engine};

/// The keys of a view, in the order in which a line has them.
const KEYS: [&str; 10] = ["view", "in", "page", "from", "to", "under", "filter", "sort", "by", "window"];
/// The key of the object under the cursor.
const AT: &str = "at";
/// The one page that a view names.
const CABLE_PAGE: &str = "cable";

/// What a screen shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConsoleView {
    pub screen: ScreenId,
    /// The list or the pane of the screen.
    pub view: Option<String>,
    /// On the Map, the node whose ports are listed.
    pub inside: Option<String>,
    /// On Links, whether the page of the cable is open.
    pub page: bool,
    pub from: Option<String>,
    pub to: Option<String>,
    /// On Paths, the engine whose proposed routes are followed.
    pub under: Option<String>,
    pub filter: Option<String>,
    pub sort: Option<(String, bool)>,
    pub quantity: Option<MapQuantity>,
    pub window: Option<ChartWindow>,
    /// The object under the cursor: an element, or the name of a job, a change or a problem.
    pub at: Option<String>,
}

/// Whether views of a screen have a key.
fn has_key(screen: ScreenId, key: &str) -> bool {
    match key {
        "in" => matches!(screen, ScreenId::Map | ScreenId::Paths),
        "page" => screen == ScreenId::Links,
        "from" | "to" | "under" => screen == ScreenId::Paths,
        "by" => screen == ScreenId::Map,
        "window" => matches!(screen, ScreenId::Health | ScreenId::Links | ScreenId::Timeline),
        _ => KEYS.contains(&key) || key == AT,
    }
}

impl ConsoleView {
    pub fn new(screen: ScreenId) -> Self {
        Self {
            screen,
            view: None,
            inside: None,
            page: false,
            from: None,
            to: None,
            under: None,
            filter: None,
            sort: None,
            quantity: None,
            window: None,
            at: None,
        }
    }

    /// The view as a line.
    pub fn line(&self) -> String {
        let sort =
            self.sort.as_ref().map(|(field, down)| format!("{field}:{}", if *down { "desc" } else { "asc" }));
        let page = self.page.then(|| CABLE_PAGE.to_owned());
        let window = self.window.map(|window| window.words().replace(' ', ""));
        let values = [
            self.view.clone(),
            self.inside.clone(),
            page,
            self.from.clone(),
            self.to.clone(),
            self.under.clone(),
            self.filter.clone(),
            sort,
            self.quantity.map(|quantity| quantity.word().to_owned()),
            window,
        ];
        let keys = KEYS.into_iter().zip(values).chain([(AT, self.at.clone())]);
        let words = keys.filter_map(|(key, value)| Some(format!("{key}={}", value?)));
        let words = words.map(|word| quote_word(&word));
        std::iter::once(self.screen.title().word.to_owned()).chain(words).collect::<Vec<_>>().join(" ")
    }

    /// Reads a line. The error names what there is.
    pub fn parse(line: &str) -> Result<Self, String> {
        let words = split_words(line.trim());
        let mut words = words.into_iter().map(|(_, word)| word);
        let word = words.next().unwrap_or_default();
        let Some(screen) = SCREENS.iter().find(|screen| screen.word == word) else {
            let all: Vec<&str> = SCREENS.iter().map(|screen| screen.word).collect();
            return Err(format!(
                "FD-6330: '{word}' is no screen; a view begins with one of {}",
                all.join(", ")
            ));
        };
        let mut view = Self::new(screen.id);
        for word in words.filter(|word| !word.is_empty()) {
            let (key, value) = word.split_once('=').unwrap_or((&word, ""));
            view.set(key, value)?;
        }
        if view.page && view.at.is_none() {
            return Err(format!(
                "FD-6332: page={CABLE_PAGE} is the page of a cable; name it, as in at=link:leaf1[7]"
            ));
        }
        Ok(view)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        if !has_key(self.screen, key) {
            let keys = KEYS.into_iter().chain([AT]).filter(|key| has_key(self.screen, key));
            let (keys, screen) = (keys.collect::<Vec<_>>().join(", "), self.screen.title().word);
            return Err(format!(
                "FD-6331: a view of {screen} has no '{key}'; it has {keys}, each with =VALUE"
            ));
        }
        let text = Some(value.to_owned());
        match key {
            "view" => self.view = text,
            "in" => self.inside = text,
            "page" if value == CABLE_PAGE => self.page = true,
            "page" => {
                return Err(format!("FD-6332: there is no page '{value}'; links has the page {CABLE_PAGE}"));
            }
            "from" => self.from = text,
            "to" => self.to = text,
            "under" => {
                let all = || ENGINES.iter().map(|engine| engine.id).collect();
                if find_engine(value).is_none() {
                    return Err(unknown_value("engine", value, all()));
                }
                self.under = text;
            }
            "filter" => self.filter = text,
            "sort" => {
                let (field, order) = value.split_once(':').unwrap_or((value, "asc"));
                if !["asc", "desc"].contains(&order) {
                    return Err(format!(
                        "FD-6332: '{order}' is no order; write sort={field}:asc or sort={field}:desc"
                    ));
                }
                self.sort = Some((field.to_owned(), order == "desc"));
            }
            "by" => {
                let found = MapQuantity::ALL.iter().find(|quantity| quantity.word() == value);
                let all = || MapQuantity::ALL.iter().map(|quantity| quantity.word()).collect();
                self.quantity = Some(*found.ok_or_else(|| unknown_value("quantity", value, all()))?);
            }
            "window" => {
                let same = |window: &&ChartWindow| window.words().replace(' ', "") == value;
                let all = || ChartWindow::ALL.iter().map(|window| window.words()).collect();
                self.window = Some(
                    *ChartWindow::ALL
                        .iter()
                        .find(same)
                        .ok_or_else(|| unknown_value("window", value, all()))?,
                );
            }
            _ => self.at = text,
        }
        Ok(())
    }
}

fn unknown_value(what: &str, value: &str, all: Vec<&'static str>) -> String {
    let all: Vec<String> = all.iter().map(|word| word.replace(' ', "")).collect();
    format!("FD-6332: there is no {what} '{value}'; there is {}", all.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_reads_back_and_mistakes_name_what_there_is() {
        for line in [
            "health window=15min",
            "links page=cable filter=kind=switch-switch sort=errors:desc at=link:rack2-leaf[7]",
            r#"hotspots "view=most waiting" "at=port:node 1[1]""#,
            r#"jobs "filter=a \"b\" \\""#,
            "map view=drawn by=paths",
            "paths from=node01 to=node36 under=minhop",
        ] {
            assert_eq!(ConsoleView::parse(line).unwrap().line(), line);
        }
        let error = |line: &str| ConsoleView::parse(line).unwrap_err();
        assert!(error("").contains("health, map, links"), "{}", error(""));
        assert!(error("3 at=x").starts_with("FD-6330"));
        assert!(error("links x=3").contains("it has view, page, filter"), "{}", error("links x=3"));
        assert!(error("map by=heat").contains("wait, load, errors, paths"));
        assert!(error("health window=2min").contains("1min, 5min"));
        assert!(error("map page=cable").starts_with("FD-6331"));
        assert!(error("links page=cable").contains("page=cable is the page of a cable; name it"));
        assert!(error("paths under=best").contains("there is no engine 'best'; there is minhop"));
        assert!(error("links sort=errors:up").contains("sort=errors:desc"));
    }
}
