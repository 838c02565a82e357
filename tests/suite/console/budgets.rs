//! What a session sends and how long a frame takes, printed; bytes are the same on every machine and have bounds.
//! `tests/bench console` runs these on the release binary, at the full subnet too.

use std::time::{Duration, Instant};

use super::pty::Session;

/// Without true colours, as many terminals are.
const SIXTEEN: [(&str, &str); 2] = [("TERM", "xterm-16color"), ("COLORTERM", "")];

/// Bytes of whole frames: what a screen sends when it is drawn from nothing.
fn whole_frame(session: &mut Session) -> usize {
    session.quiet();
    let before = session.bytes();
    session.frame_after("\x0c");
    session.bytes() - before
}

/// What the session sends while nothing happens. The clock of the header shows minutes: a minute that would end meanwhile is
/// waited for, with what it draws.
fn sent_while_idle(session: &mut Session, seconds: u64) -> String {
    loop {
        session.quiet();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let into_minute = now.as_secs() % 60;
        if into_minute + seconds + 2 < 60 {
            break;
        }
        std::thread::sleep(Duration::from_secs(61 - into_minute));
    }
    let before = session.bytes();
    std::thread::sleep(Duration::from_secs(seconds));
    session.raw_since(before).escape_ascii().to_string()
}

#[test]
fn a_frame_has_its_bounds() {
    for (colours, variables, bound) in
        [("16 colours", &SIXTEEN[..], 13 * 1024), ("true colours", &[], 24 * 1024)]
    {
        let mut session = Session::open_with(&["--source", "sim:switch648"], variables, 120, 40);
        session.open_map();
        for (screen, key, wanted) in
            [("switches", "2V", "PORTS"), ("Links", "3", "DEGRADED"), ("map", "2VV", "next to nothing")]
        {
            session.press(key);
            session.until(wanted);
            let bytes = whole_frame(&mut session);
            println!("{screen} at 120x40 in {colours}, drawn from nothing: {bytes} bytes");
            assert!(bytes <= bound, "{screen} in {colours}: {bytes} of {bound} bytes");
        }
    }
}

#[test]
fn idle_costs_nothing_and_a_move_little() {
    for (beside, width, bound) in [("with details", 200, 2048), ("without details", 100, 500)] {
        let mut session = Session::open(&["--source", "sim:switch648"], width, 60);
        session.open_map();
        session.press("3/switch-switch\r");
        session.until(", 1,296 in all");
        // A fabric under watch is not idle: the next test has that.
        session.until("live 5 s");
        session.press("W");
        session.until("paused");
        assert_eq!(sent_while_idle(&mut session, 1), "", "an idle screen sends nothing");
        let before = session.bytes();
        session.frame_after("j");
        session.quiet();
        let moved = session.bytes() - before;
        println!("a move of the cursor at {width}x60, {beside}: {moved} bytes; a second of nothing: 0");
        assert!(moved <= bound, "{moved} of {bound} bytes for a move of the cursor, {beside}");
    }
}

/// The demo, its counters read every second, on the screen that shows most of it: what the verdict is about, and every port
/// by what it sends, where nearly all that is seen changes each time.
#[test]
fn watching_sends_what_changed() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("often.toml");
    std::fs::write(&config, "[watch]\ninterval = \"1s\"\n").unwrap();
    let config = config.display().to_string();
    let mut session = Session::open(&["--config", &config, "--source", "sim:demo"], 120, 40);
    session.until("live 1 s");
    for (keys, view, most) in [("4", "hot-spot", 3 * 1024), ("VV", "most data", 4 * 1024)] {
        session.press(keys);
        session.until(view);
        session.until("8 SWEEPS");
        let (before, since) = (session.bytes(), Instant::now());
        std::thread::sleep(Duration::from_secs(5));
        let sent = session.raw_since(before).len() * 1_000 / since.elapsed().as_millis() as usize;
        println!("watching the demo at 1 s, 120x40, {view}: {sent} bytes a second");
        assert!(sent > 0 && sent <= most, "{view}: {sent} bytes a second");
    }
    session.press("W");
    session.until("paused");
    assert_eq!(sent_while_idle(&mut session, 2), "", "who pauses is sent nothing");
}

/// The setting for slow lines: what a watch of 1 s sends on the screens with most charts.
#[test]
fn a_slow_line_is_sent_little() {
    const SECONDS: u64 = 15;
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("slow.toml");
    std::fs::write(&config, "slow-line = true\n[watch]\ninterval = \"1s\"\n").unwrap();
    let config = config.display().to_string();
    let mut session = Session::open(&["--config", &config, "--source", "sim:demo"], 120, 40);
    session.until("live 1 s");
    for (key, screen, wanted) in [("1", "Health", "─ Wait ─"), ("4", "Hot-spots", "hot-spot")] {
        session.press(key);
        session.until(wanted);
        // What belongs to the key is sent at once.
        std::thread::sleep(Duration::from_secs(3));
        let (before, since) = (session.bytes(), Instant::now());
        std::thread::sleep(Duration::from_secs(SECONDS));
        let sent = session.raw_since(before);
        let frames = sent.windows(8).filter(|part| *part == b"\x1b[?2026h").count();
        let rate = sent.len() * 1_000 / since.elapsed().as_millis() as usize;
        println!("watching the demo at 1 s over a slow line, 120x40, {screen}: {rate} bytes a second");
        assert!(rate > 0 && rate <= 3 * 1024, "{screen}: {rate} bytes a second");
        assert!((1..=4).contains(&frames), "{screen}: {frames} frames in {SECONDS} s");
    }
}

/// A change that waits: the time that is left runs down in the header, and nothing else is sent.
#[test]
fn a_window_that_runs_down_sends_little() {
    let mut session = Session::open(&["--source", "sim:demo,traffic=none"], 120, 40);
    session.until("live 5 s");
    session.press("W");
    session.until("paused");
    session.press("6:preview updn\r");
    session.until("clean");
    session.press("/updn\ra");
    session.until("Cancel ]");
    session.press(" \t\t\r");
    session.until("is rolled back at");
    session.press("3");
    session.until("DEGRADED");
    // The look that follows a change, and what rests on it.
    std::thread::sleep(Duration::from_secs(3));
    let before = session.bytes();
    const SECONDS: usize = 5;
    std::thread::sleep(Duration::from_secs(SECONDS as u64));
    let sent = session.raw_since(before).len() / SECONDS;
    println!("a change that waits, 120x40: {sent} bytes a second");
    assert!(sent > 0 && sent < 100, "{sent} bytes a second");
    // A change waits, so the first asks and the second leaves.
    session.press("\x03");
    session.until("Leave while change 1 is pending?");
    session.press("\x03");
    assert_eq!(session.ended(), 130);
}

/// Nothing of this is asserted but that it happens.
/// Threads that compute stand behind the one that draws: at a time of much work, frames come first.
#[test]
fn computing_threads_let_the_screen_go_first() {
    let mut session = Session::open(&["--source", "sim:switch648"], 120, 40);
    session.open_map();
    let (drawing, rest) = session.nice_values();
    let behind = rest.iter().filter(|nice| **nice > drawing).count();
    assert!(behind >= 1, "drawing {drawing}, the rest {rest:?}");
    // What reads keys, writes frames and owns the source keeps its priority.
    assert!(rest.len() > behind, "{rest:?}");
}

#[test]
fn keys_are_answered_at_any_size() {
    let long = std::env::var_os("FABDECK_LONG").is_some_and(|long| long == "1");
    let one = std::env::var("FABDECK_FABRIC").ok();
    let fabrics: &[&str] = match (&one, long) {
        (Some(name), _) => &[name.as_str()],
        (None, true) => &["switch648", "switch3456", "kary,k=18,n=3", "full-subnet"],
        (None, false) => &["switch648"],
    };
    for fabric in fabrics {
        let begun = Instant::now();
        let mut session = Session::open(&["--source", &format!("sim:{fabric}")], 120, 40);
        session.until("2 Map");
        let first = begun.elapsed();
        session.until("switches,");
        let sight = begun.elapsed();
        session.quiet();
        let all = begun.elapsed().saturating_sub(Duration::from_millis(1500));
        session.press("3");
        session.until("DEGRADED");
        let mut took: Vec<Duration> =
            (0..200).map(|at| session.frame_after(if at % 8 == 7 { "\x1b[6~" } else { "j" })).collect();
        took.sort_unstable();
        let ms = |time: Duration| time.as_secs_f64() * 1000.0;
        println!(
            "{fabric}: first frame {:.0} ms, fabric in sight {:.0} ms, all read and indexed {:.0} ms; key to frame {:.1} ms in the middle, {:.1} ms at the 99th of 100",
            ms(first),
            ms(sight),
            ms(all),
            ms(took[100]),
            ms(took[198])
        );
        draw_charts_and_maps(&mut session, fabric);
        go_through_rows(&mut session, fabric);
        go_to_names(&mut session, fabric);
        println!("{fabric}: {} MB of memory at the most", session.peak_memory_mb());
        session.press("qqqq");
        assert_eq!(session.ended(), 0);
    }
}

/// What keys take that draw whole screens of charts or maps: their screens in turns, and another quantity on the map. Each
/// of them changes the screen at once; what is worked out behind it follows.
fn draw_charts_and_maps(session: &mut Session, fabric: &str) {
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    session.quiet();
    // Health, the map, hot-spots and the timeline.
    let keys = ["1", "2", "v", "4", "0", "2", "v"];
    let mut took: Vec<(Duration, &str)> = Vec::new();
    for _ in 0..30 {
        took.extend(keys.iter().map(|key| (session.frame_after(key), *key)));
    }
    took.sort_unstable();
    let slowest: Vec<String> =
        took.iter().rev().take(6).map(|(time, key)| format!("{key} {:.1}", ms(*time))).collect();
    println!(
        "{fabric}: charts and maps, key to frame {:.1} ms in the middle, {:.1} ms at the 99th of 100; the slowest keys: {}",
        ms(took[took.len() / 2].0),
        ms(took[took.len() * 99 / 100 - 1].0),
        slowest.join(", ")
    );
    session.press("3");
    session.until("DEGRADED");
}

/// What keys take while a name is typed into the line that goes to anything, among all names.
fn go_to_names(session: &mut Session, fabric: &str) {
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    session.quiet();
    let opened = session.frame_after(":");
    session.until("of before");
    session.quiet();
    let mut keys: Vec<Duration> =
        "t1234 a-7".chars().map(|sign| session.frame_after(&sign.to_string())).collect();
    session.quiet();
    keys.sort_unstable();
    println!(
        "{fabric}: go to anything opens in {:.1} ms; key to frame {:.1} ms in the middle and {:.1} ms at the most",
        ms(opened),
        ms(keys[keys.len() / 2]),
        ms(keys[keys.len() - 1])
    );
    let before = session.bytes();
    session.press("\x1b");
    session.settled_after(before);
}

/// A filter and an order over the list of links: what keys take while rows are gone through behind the screen, and when
/// those rows are there.
fn go_through_rows(session: &mut Session, fabric: &str) {
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    session.quiet();
    let mut keys: Vec<Duration> =
        "/switch-switch".chars().map(|sign| session.frame_after(&sign.to_string())).collect();
    let typed = Instant::now();
    keys.push(session.frame_after("\r"));
    session.until(" of ");
    let filtered = typed.elapsed();
    session.press("\x1b");
    session.quiet();
    session.press("G");
    session.quiet();
    let begun = Instant::now();
    let sorted = session.frame_after("ss");
    session.until(" 1 of ");
    keys.sort_unstable();
    println!(
        "{fabric}: a filter over all links, key to frame {:.1} ms in the middle and {:.1} ms at the most, its rows {:.0} ms after the last key; sorted, key to frame {:.1} ms, rows after {:.0} ms",
        ms(keys[keys.len() / 2]),
        ms(keys[keys.len() - 1]),
        ms(filtered),
        ms(sorted),
        ms(begun.elapsed())
    );
}
