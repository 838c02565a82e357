//! A console compares what was confirmed with the fabric, again and again, and says when it no longer stands.

use fabdeck::console::Depth;
use fabdeck::session::interactive::{
    Attestations, Driver, Effect, Event, Happening, Job, Outcome, Severity, Writing, replay, update, wakes_ms,
};
use fabdeck_change::{Phase, Verdict};

use super::changer::{Fake, attestation, offer, row, standing};
use super::desk::{appearance, frame, text};

/// From one comparison to the next.
const INTERVAL_MS: u64 = 300_000;

fn screen(driver: &Driver) -> String {
    text(&frame(&driver.state, &appearance("mono", Depth::Sixteen)))
}

fn header(driver: &Driver) -> String {
    screen(driver).lines().next().unwrap_or_default().to_owned()
}

/// How often something was said so.
fn said(driver: &Driver, severity: Severity, words: &str) -> usize {
    let all = driver.state.messages.iter();
    all.filter(|message| message.severity == severity && message.text.contains(words)).count()
}

fn comes_to(fake: &Fake, verdict: Verdict) {
    let came = [("7-abcd".to_owned(), attestation(verdict))];
    fake.0.borrow_mut().compared = Ok(came.into_iter().collect());
}

fn comparisons(fake: &Fake) -> usize {
    fake.0.borrow().comparisons
}

#[test]
fn what_no_longer_stands_is_told_once_and_stays_in_the_header_until_it_was_seen() {
    let fake = Fake::new(Ok(offer(0)), vec![row(7, Phase::Confirmed)]);
    comes_to(&fake, Verdict::Stands);
    let mut driver = fake.session(Writing::Simulated);
    assert_eq!(comparisons(&fake), 1, "as soon as it is known that something was confirmed");
    assert_eq!(said(&driver, Severity::Error, "change 7"), 0);
    comes_to(&fake, Verdict::NoLongerStands);
    driver.pass(INTERVAL_MS - 20_000);
    assert_eq!(comparisons(&fake), 1, "a comparison looks at the whole fabric, so it is seldom made");
    for _ in 0..4 {
        driver.pass(INTERVAL_MS / 2);
    }
    assert_eq!(comparisons(&fake), 3);
    let words = "change 7 no longer stands: 3 of 480 entries differ";
    assert_eq!(said(&driver, Severity::Error, words), 1, "said once, and not at each comparison");
    assert_eq!(said(&driver, Severity::Error, "the subnet manager in charge is node01"), 1);
    assert!(header(&driver).contains("change 7 no longer stands: 8"), "{}", header(&driver));
    driver.press("8");
    assert!(screen(&driver).contains("STANDS"), "{}", screen(&driver));
    driver.press("1");
    assert!(!header(&driver).contains("no longer stands"), "{}", header(&driver));
    // What is asked anew of changes leaves in the list what the comparison found.
    driver.pass(10_000);
    driver.press("8 enter");
    assert!(screen(&driver).contains("compared"), "{}", screen(&driver));
    comes_to(&fake, Verdict::Stands);
    driver.pass(INTERVAL_MS);
    assert_eq!(said(&driver, Severity::Said, "again"), 1);
    comes_to(&fake, Verdict::NotKnown);
    driver.pass(INTERVAL_MS);
    assert_eq!(said(&driver, Severity::Warning, "whether change 7 stands is not known"), 1);
    let look = driver.state.look().unwrap().clone();
    let again = replay(&look, driver.events.iter().map(String::as_str)).unwrap();
    let colours = appearance("dark", Depth::True);
    assert_eq!(text(&frame(&again, &colours)), text(&frame(&driver.state, &colours)));
}

#[test]
fn what_is_confirmed_now_is_compared_at_once_and_nothing_else_is() {
    let fake = Fake::new(Ok(offer(0)), vec![row(7, Phase::Applied)]);
    let mut driver = fake.session(Writing::Simulated);
    driver.pass(2 * INTERVAL_MS);
    assert_eq!(comparisons(&fake), 0, "its guard watches what is pending");
    let fake = Fake::new(Ok(offer(0)), vec![row(7, Phase::Applied), row(6, Phase::Confirmed)]);
    let mut driver = fake.session(Writing::Simulated);
    driver.pass(10_000);
    assert_eq!(comparisons(&fake), 1);
    comes_to(&fake, Verdict::NoLongerStands);
    fake.becomes(row(7, Phase::Confirmed), "2026-11-22T14:00:10Z");
    driver.pass(1000);
    assert_eq!((comparisons(&fake), said(&driver, Severity::Error, "change 7 no longer stands")), (2, 1));
    // Another fabric's is left to whoever looks at that, and a recording has no tables of now.
    let elsewhere = Fake::new(Ok(offer(0)), vec![row(7, Phase::Confirmed)]);
    elsewhere.0.borrow_mut().changes.here.clear();
    let mut driver = elsewhere.session(Writing::Simulated);
    driver.pass(2 * INTERVAL_MS);
    let file = Fake::new(Ok(offer(0)), vec![row(7, Phase::Confirmed)]);
    let driver = file.session(Writing::default());
    assert_eq!((comparisons(&elsewhere), comparisons(&file), wakes_ms(&driver.state)), (0, 0, None));
}

#[test]
fn a_comparison_that_fails_is_said_once_and_made_again() {
    let fake = Fake::new(Ok(offer(0)), vec![row(7, Phase::Confirmed)]);
    fake.0.borrow_mut().compared = Err("FD-4202: no adapter".to_owned());
    let mut driver = fake.session(Writing::Simulated);
    driver.pass(INTERVAL_MS);
    driver.pass(INTERVAL_MS);
    assert_eq!(comparisons(&fake), 3);
    assert_eq!(said(&driver, Severity::Warning, "could not be compared"), 1);
    comes_to(&fake, Verdict::NoLongerStands);
    driver.pass(INTERVAL_MS);
    assert_eq!(said(&driver, Severity::Error, "change 7 no longer stands"), 1);
}

/// The comparison that is under way may have read the fabric before the change was confirmed.
#[test]
fn what_is_confirmed_while_a_comparison_is_under_way_is_compared_behind_it() {
    let fake = Fake::new(Ok(offer(0)), vec![row(7, Phase::Applied), row(6, Phase::Confirmed)]);
    let mut driver = fake.session(Writing::Simulated);
    let state = &mut driver.state;
    let at_ms = state.now_ms + INTERVAL_MS + 20_000;
    let begun = |effects: &[Effect], wanted: fn(&Job) -> bool| {
        effects.iter().find_map(|effect| match effect {
            Effect::Begin { task, job } if wanted(job) => Some(*task),
            _ => None,
        })
    };
    let effects = update(state, Event { at_ms, what: Happening::Tick });
    let changes = begun(&effects, |job| matches!(job, Job::Changes)).unwrap();
    let comparison = begun(&effects, |job| matches!(job, Job::Compare)).unwrap();
    let rows = vec![row(7, Phase::Confirmed), row(6, Phase::Confirmed)];
    let finished = |task, outcome| Event { at_ms, what: Happening::Finished { task, outcome } };
    update(state, finished(changes, Outcome::Changes(Ok(standing(rows, "2026-11-22T14:05:00Z")))));
    update(state, finished(comparison, Outcome::Compared(Ok(Attestations::new()))));
    let effects = update(state, Event { at_ms, what: Happening::Tick });
    assert!(begun(&effects, |job| matches!(job, Job::Compare)).is_some(), "{effects:?}");
}
