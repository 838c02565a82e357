//! Tells systemd what a service does, by the protocol of `sd_notify`: datagrams to the socket that the environment names.

use std::ffi::{OsStr, OsString};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::{Duration, Instant};

/// The service manager that started this process; without one, nothing is sent.
#[derive(Debug, Default)]
pub struct ServiceManager {
    connection: Option<(UnixDatagram, SocketAddr)>,
    /// Longest time between two signs of life.
    watchdog: Option<Duration>,
    last_sign: Option<Instant>,
    is_ready: bool,
}

impl ServiceManager {
    /// The manager of this process.
    pub fn of_process() -> Self {
        Self::of(&|name| std::env::var_os(name), std::process::id())
    }

    fn of(variable: &dyn Fn(&str) -> Option<OsString>, process: u32) -> Self {
        let address = variable("NOTIFY_SOCKET").and_then(|name| socket_address(&name));
        let connection = address.and_then(|address| {
            let socket = UnixDatagram::unbound().ok()?;
            // A manager that reads too slowly holds up no sweep.
            socket.set_nonblocking(true).ok()?;
            Some((socket, address))
        });
        let number = |name: &str| variable(name)?.into_string().ok()?.parse::<u64>().ok();
        let is_own = number("WATCHDOG_PID").is_none_or(|owner| owner == u64::from(process));
        let watchdog = number("WATCHDOG_USEC").filter(|time| *time > 0 && is_own).map(Duration::from_micros);
        Self { connection, watchdog, last_sign: None, is_ready: false }
    }

    fn send(&self, text: &str) {
        if let Some((socket, address)) = &self.connection {
            // A lost datagram is no reason to end: the manager acts on what it misses.
            let _ = socket.send_to_addr(text.as_bytes(), address);
        }
    }

    /// The service has begun its work. Later calls send nothing.
    pub fn report_ready(&mut self) {
        if !std::mem::replace(&mut self.is_ready, true) {
            self.send("READY=1\n");
        }
    }

    /// A line for `systemctl status`.
    pub fn report_status(&self, line: &str) {
        // A line break would begin another field.
        self.send(&format!("STATUS={}\n", line.replace(['\n', '\r'], " ")));
    }

    /// A sign of life, when half the time of the watchdog is over.
    pub fn report_alive(&mut self) {
        let Some(watchdog) = self.watchdog else { return };
        if self.last_sign.is_none_or(|sign| sign.elapsed() >= watchdog / 2) {
            self.send("WATCHDOG=1\n");
            self.last_sign = Some(Instant::now());
        }
    }

    /// The service ends.
    pub fn report_stopping(&self) {
        self.send("STOPPING=1\n");
    }
}

/// The address of a socket: a path, or a name without a file after `@`.
fn socket_address(name: &OsStr) -> Option<SocketAddr> {
    match name.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name).ok(),
        [b'/', ..] => SocketAddr::from_pathname(name).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A manager that listens at a name without a file.
    fn listen(at: &str) -> (UnixDatagram, String) {
        let name = format!("fabdeck-test-{}-{at}", std::process::id());
        let socket = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        socket.set_nonblocking(true).unwrap();
        (socket, format!("@{name}"))
    }

    fn received(socket: &UnixDatagram) -> Vec<String> {
        let mut room = [0; 256];
        let next = || {
            socket.recv(&mut room).ok().map(|length| String::from_utf8_lossy(&room[..length]).into_owned())
        };
        std::iter::from_fn(next).collect()
    }

    fn manager(variables: &[(&str, &str)]) -> ServiceManager {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        ServiceManager::of(&variable, 7)
    }

    #[test]
    fn each_state_is_a_datagram() {
        let (socket, address) = listen("states");
        let mut manager = manager(&[("NOTIFY_SOCKET", &address), ("WATCHDOG_USEC", "60000000")]);
        manager.report_ready();
        manager.report_ready();
        manager.report_status("2 problems\nREADY=1");
        manager.report_alive();
        // Half of the minute is not over.
        manager.report_alive();
        manager.report_stopping();
        let expected = ["READY=1\n", "STATUS=2 problems READY=1\n", "WATCHDOG=1\n", "STOPPING=1\n"];
        assert_eq!(received(&socket), expected);
    }

    #[test]
    fn the_watchdog_of_another_process_gets_no_sign_of_life() {
        let (socket, address) = listen("watchdog");
        for (owner, signs) in [("7", 1), ("8", 0)] {
            let of =
                [("NOTIFY_SOCKET", address.as_str()), ("WATCHDOG_USEC", "1000"), ("WATCHDOG_PID", owner)];
            manager(&of).report_alive();
            assert_eq!(received(&socket).len(), signs, "{owner}");
        }
    }

    #[test]
    fn without_a_manager_nothing_is_sent() {
        for address in ["", "notify", "vsock:2:1"] {
            assert!(manager(&[("NOTIFY_SOCKET", address)]).connection.is_none(), "{address}");
        }
        manager(&[]).report_ready();
    }
}
