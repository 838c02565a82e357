//! The ground of the terminal, light or dark. The terminal is asked for its colour, and nothing waits for the answer: it
//! comes between the keys, as some keys of its own.

use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

/// Asks for the colour of the ground (OSC 11).
pub const GROUND_QUERY: &str = "\x1b]11;?\x1b\\";

/// What begins like an answer later than this is typed by the operator.
const ANSWER_TIME: Duration = Duration::from_secs(5);
/// Most characters of an answer.
const MAX_ANSWER: usize = 32;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TerminalGround {
    #[default]
    Dark,
    Light,
}

impl TerminalGround {
    /// The ground of an answer: `11;rgb:ffff/ffff/ffff`.
    fn parse(answer: &str) -> Option<Self> {
        let parts = answer.strip_prefix("11;rgb:")?.split('/');
        let share = |part: &str| {
            let most =
                (1u32 << (4 * u32::try_from(part.len()).ok().filter(|len| (1..=4).contains(len))?)) - 1;
            Some(f64::from(u32::from_str_radix(part, 16).ok()?) / f64::from(most))
        };
        let [red, green, blue] = parts.map(share).collect::<Option<Vec<f64>>>()?.try_into().ok()?;
        let light = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        Some(if light > 0.5 { Self::Light } else { Self::Dark })
    }
}

/// What comes of an event of the terminal.
#[derive(Debug, PartialEq)]
pub enum FilteredEvent {
    /// Events for the session; none while an answer may be coming.
    Events(Vec<Event>),
    Ground(TerminalGround),
}

/// Takes the answer out of the keys.
#[derive(Debug)]
pub struct AnswerFilter {
    /// Until when an answer may come.
    until: Instant,
    /// The events of what may be an answer, and its text.
    held: Vec<Event>,
    text: String,
}

impl AnswerFilter {
    /// A filter for an answer that is asked for now.
    pub fn new(now: Instant) -> Self {
        Self { until: now + ANSWER_TIME, held: Vec::new(), text: String::new() }
    }

    pub fn filter(&mut self, event: Event, now: Instant) -> FilteredEvent {
        let key = match &event {
            Event::Key(KeyEvent { code: KeyCode::Char(sign), modifiers, .. }) => Some((*sign, *modifiers)),
            _ => None,
        };
        let expected = match key {
            _ if now > self.until => false,
            Some((']', KeyModifiers::ALT)) => self.held.is_empty(),
            Some(('\\', KeyModifiers::ALT) | ('g', KeyModifiers::CONTROL)) if !self.held.is_empty() => {
                self.held.clear();
                return match TerminalGround::parse(&std::mem::take(&mut self.text)) {
                    Some(ground) => FilteredEvent::Ground(ground),
                    None => FilteredEvent::Events(Vec::new()),
                };
            }
            Some((sign, _)) if !self.held.is_empty() && self.text.len() < MAX_ANSWER => {
                self.text.push(sign);
                sign.is_ascii_hexdigit() || "rgb:;/".contains(sign)
            }
            _ => false,
        };
        self.held.push(event);
        if expected {
            return FilteredEvent::Events(Vec::new());
        }
        self.text.clear();
        FilteredEvent::Events(std::mem::take(&mut self.held))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(sign: char, modifiers: KeyModifiers) -> Event {
        Event::Key(KeyEvent::new(KeyCode::Char(sign), modifiers))
    }

    /// The events of an answer as they come from a terminal.
    fn answer(text: &str, end: Event) -> Vec<Event> {
        let signs = text.chars().map(|sign| key(sign, KeyModifiers::NONE));
        std::iter::once(key(']', KeyModifiers::ALT)).chain(signs).chain([end]).collect()
    }

    fn filtered(
        filter: &mut AnswerFilter,
        events: Vec<Event>,
        now: Instant,
    ) -> (Vec<Event>, Option<TerminalGround>) {
        let (mut passed, mut ground) = (Vec::new(), None);
        for event in events {
            match filter.filter(event, now) {
                FilteredEvent::Events(events) => passed.extend(events),
                FilteredEvent::Ground(found) => ground = Some(found),
            }
        }
        (passed, ground)
    }

    #[test]
    fn an_answer_is_no_key() {
        let now = Instant::now();
        let (string_end, bell) = (key('\\', KeyModifiers::ALT), key('g', KeyModifiers::CONTROL));
        for (text, end, ground) in [
            ("11;rgb:ffff/ffff/eeee", string_end.clone(), Some(TerminalGround::Light)),
            ("11;rgb:1c/1c/1c", bell.clone(), Some(TerminalGround::Dark)),
            ("11;rgb:f/f/f", bell.clone(), Some(TerminalGround::Light)),
            ("11;rgb:fffff/0/0", bell.clone(), None),
            ("11;rgb:12/34", string_end, None),
        ] {
            let mut filter = AnswerFilter::new(now);
            let found = filtered(&mut filter, answer(text, end), now);
            assert_eq!(found, (Vec::new(), ground), "{text}");
            let after = key('j', KeyModifiers::NONE);
            assert_eq!(filtered(&mut filter, vec![after.clone()], now), (vec![after], None));
        }
    }

    #[test]
    fn what_is_typed_stays() {
        let now = Instant::now();
        let typed =
            vec![key(']', KeyModifiers::ALT), key('1', KeyModifiers::NONE), key('x', KeyModifiers::NONE)];
        assert_eq!(filtered(&mut AnswerFilter::new(now), typed.clone(), now), (typed.clone(), None));
        let late = now + ANSWER_TIME + Duration::from_millis(1);
        let mut filter = AnswerFilter::new(now);
        assert_eq!(filter.filter(typed[0].clone(), late), FilteredEvent::Events(vec![typed[0].clone()]));
        // An endless answer is none.
        let long = answer(&"1".repeat(100), key('x', KeyModifiers::NONE));
        assert_eq!(filtered(&mut AnswerFilter::new(now), long.clone(), now).0.len(), long.len());
    }
}
