//! What `watch` tells systemd that started it.

use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::binary::{fabdeck, home};

const PATIENCE: Duration = Duration::from_secs(60);

/// The next datagram that begins with these words; others are passed over.
fn wait_for(manager: &UnixDatagram, words: &str) -> String {
    let mut room = [0; 512];
    loop {
        let length = manager.recv(&mut room).unwrap_or_else(|error| panic!("no '{words}': {error}"));
        let text = String::from_utf8_lossy(&room[..length]).into_owned();
        if text.starts_with(words) {
            return text;
        }
    }
}

#[test]
fn a_service_is_ready_after_its_first_reading_and_gives_signs_of_life_until_it_stops() {
    let home = home();
    let path = home.path().join("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    manager.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut service = fabdeck(&home)
        .args(["--source", "sim:demo", "watch", "--serve", "127.0.0.1:0", "--interval", "100ms"])
        .env("NOTIFY_SOCKET", &path)
        .env("WATCHDOG_USEC", "100000")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(service.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let mut room = [0; 512];
    let length = manager.recv(&mut room).unwrap();
    assert_eq!(&room[..length], b"READY=1\n", "the first message");
    wait_for(&manager, "WATCHDOG=1\n");
    let status = wait_for(&manager, "STATUS=");
    assert!(
        status.starts_with("STATUS=1 sweep; ") && status.contains(" ports in the last one; "),
        "{status}"
    );
    assert!(status.ends_with(" problem\n") || status.ends_with(" problems\n"), "{status}");
    wait_for(&manager, "STATUS=2 sweeps; ");
    for _ in 0..3 {
        wait_for(&manager, "WATCHDOG=1\n");
    }
    let asked = Command::new("kill").args(["-TERM", &service.id().to_string()]).status().unwrap();
    assert!(asked.success());
    wait_for(&manager, "STOPPING=1\n");
    assert_eq!(service.wait().unwrap().code(), Some(143));
}
